"""What agents write into worktrees and repositories is never run by the Coordinator's git, and never moves its target.

Made from a list: every setting, attribute and file by which git runs a program (`git help config`, `gitattributes`,
`githooks`, `gitmodules`), planted in every place that an agent may be able to write. Each program leaves a mark.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coordinator.test_task_worktrees import PROJECT, job, launch, since
from tests.coordinator.test_worktrees import (
    first,
    kept,
    make,
    nobody,
    of_an_older_toryo,
    place,
    refused,
    repository,
    worked,
)
from tests.repositories import Repository
from toryo.coordinator import task_worktrees, worktrees
from toryo.coordinator.provider import BadConfig
from toryo.coordinator.task_worktrees import Place
from toryo.coordinator.worktrees import Trouble, Worktree, views
from toryo.coordinator.worktrees.launch_repositories import repository_of
from toryo.coordinator.worktrees.repository import formatted

__all__ = ["first", "nobody", "place", "repository"]

_COMMANDS = """
    alias.add alias.commit alias.diff alias.merge alias.rev-parse alias.status alias.worktree browser.x.cmd
    core.alternateRefsCommand core.askPass core.editor core.fsmonitor core.gitProxy core.pager core.sshCommand
    credential.helper credential.https://example.org.helper diff.external diff.x.command diff.x.textconv
    difftool.x.cmd filter.x.clean filter.x.process filter.x.smudge filter.lfs.clean filter.lfs.process
    filter.lfs.smudge gc.recentObjectsHook gpg.openpgp.program gpg.program gpg.ssh.defaultKeyCommand
    gpg.ssh.program gpg.x509.program guitool.x.cmd hook.x.command imap.tunnel instaweb.httpd
    interactive.diffFilter lfs.customtransfer.x.path lfs.extension.x.clean lfs.extension.x.smudge man.x.cmd
    merge.x.driver merge.default mergetool.x.cmd pager.add pager.commit pager.diff pager.log pager.status
    pager.worktree remote.origin.receivepack remote.origin.uploadpack sendemail.sendmailCmd sendemail.toCmd
    sequence.editor trailer.x.cmd trailer.x.command uploadpack.packObjectsHook
"""
COMMANDS = _COMMANDS.split()
"""Settings whose value is a program."""
SWITCHES = {
    "commit.gpgSign": "true",
    "core.untrackedCache": "true",
    "diff.x.cachetextconv": "true",
    "diff.submodule": "diff",
    "extensions.partialClone": "origin",
    "filter.x.required": "true",
    "gc.auto": "1",
    "hook.x.event": "post-checkout",
    "log.showSignature": "true",
    "maintenance.auto": "true",
    "merge.verifySignatures": "true",
    "protocol.allow": "always",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.promisor": "true",
    "status.submoduleSummary": "true",
    "submodule.recurse": "true",
    "submodule.sub.active": "true",
    "tag.gpgSign": "true",
}
"""What makes git use some of these."""
_HOOKS = """
    applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit
    p4-prepare-changelist post-applypatch post-checkout post-commit post-index-change post-merge post-receive
    post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase
    pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update
"""
HOOKS = _HOOKS.split()
ATTRIBUTES = "* filter=x diff=x merge=x\nnew* filter=lfs\n"


class Marks:
    """Programs that say that they were run, and by which name."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir()

    def command(self, name: str) -> str:
        return f"touch {shlex.quote(str(self.place / name.replace('/', '-')))}; cat; exit 1"

    def hooks(self, directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        for each in HOOKS:
            file = directory / each
            file.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(self.place / each))}\nexit 1\n")
            file.chmod(0o755)
        return directory

    @property
    def left(self) -> list[str]:
        return sorted(path.name for path in self.place.iterdir())


def configured(repository: Repository, file: Path, marks: Marks, besides: tuple[str, ...] = ()) -> None:
    """Every setting that runs something, in one configuration."""
    hooks = marks.hooks(marks.place.with_name("hooks-elsewhere"))
    values = {each: marks.command(each) for each in COMMANDS if not each.startswith(besides or ("-",))}
    values |= {each: f"!{value}" for each, value in values.items() if each.startswith("alias.")}
    values |= {**SWITCHES, "core.hooksPath": str(hooks), "submodule.sub.update": f"!{marks.command('submodule')}"}
    values |= {"remote.origin.url": f"ext::sh -c touch% {marks.place}/ext"}
    for name, value in values.items():
        if not name.startswith(besides or ("-",)):
            repository.git("config", "--file", str(file), name, value)


def forged(repository: Repository, directory: Path, marks: Marks) -> Repository:
    """A repository of an agent's own, made of nothing but files, with everything that runs."""
    made = Repository(directory)
    made.commit("forged", a="one\n", new="forged\n")
    configured(repository, directory / ".git" / "config", marks)
    marks.hooks(directory / ".git" / "hooks")
    return made


# --- where agents may write ------------------------------------------------------------------------------------------


def in_the_worktree(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """Files only: what an agent may write that may run nothing itself."""
    for name in (".gitattributes", ".gitconfig", ".lfsconfig", ".gitmodules", "config"):
        configured(repository, worktree.path / name, marks)
    (worktree.path / ".gitattributes").write_text(ATTRIBUTES)
    marks.hooks(worktree.path / "hooks")
    forged(repository, worktree.path / "nested", marks)


def in_a_submodule(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """A commit of another repository in the index, and a repository at its place."""
    inner = forged(repository, worktree.path / "sub", marks)
    (inner.path / ".gitattributes").write_text(ATTRIBUTES)
    entry = f"160000,{_head(inner)},sub"
    repository.git("update-index", "--add", "--cacheinfo", entry, at=worktree.path)
    (worktree.path / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n')
    (inner.path / "a").write_text("changed\n")


def in_a_forged_repository(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """The worktree's `.git` leads to a repository that lies within it."""
    other = forged(repository, worktree.path / "x", marks)
    (other.path / ".gitattributes").write_text(ATTRIBUTES)
    (worktree.path / ".gitattributes").write_text(ATTRIBUTES)
    gitdir = other.path / ".git" / "worktrees" / "w"
    gitdir.mkdir(parents=True)
    (gitdir / "HEAD").write_text(f"ref: refs/heads/{worktree.branch}\n")
    (gitdir / "commondir").write_text("../..\n")
    (gitdir / "gitdir").write_text(f"{worktree.path / '.git'}\n")
    (other.path / ".git" / "refs" / "heads" / "toryo").mkdir()
    (other.path / ".git" / "refs" / "heads" / worktree.branch).write_text(f"{_head(other)}\n")
    (worktree.path / ".git").write_text(f"gitdir: {gitdir}\n")


def in_a_forged_git_directory_of_the_repository(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """The worktree's `.git` leads to a directory within it, which shares everything with the real repository but its
    own `config.worktree`."""
    repository.git("config", "extensions.worktreeConfig", "true")
    gitdir = worktree.path / "w"
    gitdir.mkdir()
    (gitdir / "HEAD").write_text(f"ref: refs/heads/{worktree.branch}\n")
    (gitdir / "commondir").write_text(f"{repository.path / '.git'}\n")
    (gitdir / "gitdir").write_text(f"{worktree.path / '.git'}\n")
    configured(repository, gitdir / "config.worktree", marks)
    (worktree.path / ".gitattributes").write_text(ATTRIBUTES)
    (worktree.path / ".git").write_text(f"gitdir: {gitdir}\n")


def in_the_git_directory_of_the_worktree(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """An agent that may commit may write there."""
    repository.git("config", "extensions.worktreeConfig", "true")
    gitdir = Path(repository.git("rev-parse", "--absolute-git-dir", at=worktree.path))
    (worktree.path / ".gitattributes").write_text(ATTRIBUTES)
    repository.git("update-index", "--fsmonitor", at=worktree.path, code=None)
    configured(repository, gitdir / "config.worktree", marks)
    configured(repository, gitdir / "config", marks)
    marks.hooks(gitdir / "hooks")
    (gitdir / "commondir").write_text(f"{forged(repository, worktree.path / 'x', marks).path / '.git'}\n")


def in_the_repository(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    _in_the_repository(repository, worktree, marks, ())


def in_the_repository_without_filters(repository: Repository, worktree: Worktree, marks: Marks) -> None:
    """A filter there refuses the making of worktrees: all the rest is to be seen, too."""
    _in_the_repository(repository, worktree, marks, ("filter.",))


def _in_the_repository(repository: Repository, worktree: Worktree, marks: Marks, besides: tuple[str, ...]) -> None:
    common = repository.path / ".git"
    marks.hooks(common / "hooks")
    for at in (worktree.path, repository.path):
        (at / ".gitattributes").write_text(ATTRIBUTES)
    repository.git("-c", "core.hooksPath=/dev/null", "add", ".gitattributes")
    repository.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--no-verify", "-m", "attributes")
    (common / "info").mkdir(exist_ok=True)
    (common / "info" / "attributes").write_text(ATTRIBUTES)
    included = common / "more"
    configured(repository, included, marks, besides)
    configured(repository, common / "config", marks, besides)
    repository.git("config", "--file", str(common / "config"), "include.path", str(included))
    repository.git("config", "--file", str(common / "config"), "includeIf.gitdir:/**.path", str(included))
    repository.git(
        "config", "--file", str(common / "config"), "core.attributesFile", str(common / "info" / "attributes")
    )


PLACES = [
    in_the_worktree,
    in_a_submodule,
    in_a_forged_repository,
    in_a_forged_git_directory_of_the_repository,
    in_the_git_directory_of_the_worktree,
    in_the_repository,
    in_the_repository_without_filters,
]


def _head(repository: Repository) -> str:
    return (repository.path / ".git" / "refs" / "heads" / "main").read_text().strip()


# --- nothing of it is run --------------------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("plant", PLACES)
def test_nothing_that_an_agent_plants_is_run_whatever_is_done_with_its_work(repository, place, tmp_path, plant):
    marks = Marks(tmp_path / "marks")
    theirs = worked(repository, place / PROJECT, "t1", a="theirs\n", new1="x\n")
    other = worked(repository, place / PROJECT, "t2", a="ours\n", b="ours\n")
    orders = since(repository, place, "t1")
    (theirs.path / "a").write_text("once more\n")
    (theirs.path / "new2").write_text("x\n")
    plant(repository, theirs, marks)
    worktrees.opened_at(theirs.path)
    assert task_worktrees.run(job(repository, place, "diff", "t2"), place)["done"]
    for do in (
        lambda: worktrees.keep(theirs, "work", "w1"),
        lambda: worktrees.diff(theirs),
        lambda: worktrees.leftovers(place / PROJECT, []),
        lambda: worktrees.bring(other, [theirs.branch]),
        lambda: task_worktrees.make(Place("t3", bases=("t1",), brings=("t2",)), PROJECT, repository.path, place),
        lambda: task_worktrees.keep(theirs, launch()),
        lambda: task_worktrees.run(job(repository, place, "diff"), place),
        lambda: task_worktrees.run(job(repository, place, "merge", order=orders), place),
        lambda: task_worktrees.run(job(repository, place, "merge", "t2", order=since(repository, place, "t2")), place),
        lambda: task_worktrees.run(job(repository, place, "clean"), place),
        lambda: task_worktrees.run(job(repository, place, "discard"), place),
        lambda: task_worktrees.run(job(repository, place, "discard", "t3"), place),
    ):
        with contextlib.suppress(Trouble, BadConfig):
            do()
        assert marks.left == []


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("plant", "run"),
    [
        (in_the_repository, {"core.fsmonitor", "filter.x.process", "post-index-change"}),
        (in_the_git_directory_of_the_worktree, {"core.fsmonitor"}),
        (in_a_forged_repository, {"core.fsmonitor"}),
        (in_a_forged_git_directory_of_the_repository, {"core.fsmonitor"}),
        (in_a_submodule, {"core.fsmonitor"}),
    ],
)
def test_what_is_planted_here_is_what_a_plain_git_would_run(repository, place, tmp_path, plant: Callable, run):
    """Else the test above would prove nothing."""
    marks = Marks(tmp_path / "marks")
    theirs = worked(repository, place / PROJECT, "t1", a="theirs\n")
    plant(repository, theirs, marks)
    (theirs.path / "a").write_text("more\n")
    for at in (theirs.path, repository.path):
        repository.git("status", at=at, code=None)
        repository.git("add", "--all", at=at, code=None)
    assert run & set(marks.left), marks.left


# --- whose repository it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plant", [in_a_forged_repository, in_a_forged_git_directory_of_the_repository])
def test_a_forged_connection_is_told_and_no_work_goes_to_the_repository_that_it_names(
    repository, place, tmp_path, plant
):
    theirs = worked(repository, place / PROJECT, "t1", new="x\n")
    plant(repository, theirs, Marks(tmp_path / "marks"))
    before = repository.state()
    for kind in ("diff", "merge", "clean"):
        said = task_worktrees.run(job(repository, place, kind, order=since(repository, place, "t1")), place)
        assert (said["done"], ".git was removed or replaced" in said["trouble"]) == (False, True)
    assert repository.state() == before
    assert "no longer a worktree" in task_worktrees.keep(theirs, launch())["trouble"]
    assert task_worktrees.run(job(repository, place, "discard"), place)["done"]


def test_a_connection_that_is_no_plain_file_is_not_followed(repository, place, tmp_path):
    for number, put in enumerate((os.mkfifo, lambda git: git.symlink_to(tmp_path / "elsewhere"))):
        worktree = worked(repository, place, f"t{number}", new="x\n")
        (tmp_path / "elsewhere").write_text((worktree.path / ".git").read_text())
        (worktree.path / ".git").unlink()
        put(worktree.path / ".git")
        refused("no longer a worktree", worktrees.keep, worktree, "m", "w1")


def test_a_work_tree_that_the_repositorys_configuration_moves_is_refused(repository, place, tmp_path):
    """Otherwise a merge would write into whatever directory the configuration names."""
    repository.git("config", "core.worktree", str(tmp_path))
    refused("core.worktree", make, repository, place)


def test_work_is_merged_into_the_branch_that_the_person_was_shown(repository, place):
    worktree = worked(repository, place / PROJECT, "t1", new="x\n")
    repository.git("branch", "other")
    shown = since(repository, place, "t1")
    repository.git("config", f"branch.{worktree.branch}.toryo-base", "other")
    said = task_worktrees.run(job(repository, place, "merge", order=shown), place)
    assert [each["into"] for each in said["merged"]] == ["main"]


def test_a_worktree_of_an_older_toryo_is_found_by_its_project_and_its_base_in_the_repository(repository, place):
    worktree = of_an_older_toryo(repository, place / PROJECT)
    kept(worktree)
    (place / PROJECT / ".t1.json").unlink()
    start = repository.git("rev-parse", "main")
    repository.git("config", f"branch.{worktree.branch}.toryo-base", "main")
    repository.git("config", f"branch.{worktree.branch}.toryo-base-commit", start)
    repository.git("checkout", "--quiet", "-b", "elsewhere")
    assert worktrees.opened_at(worktree.path) is None
    said = task_worktrees.run(job(repository, place, "diff"), place)
    assert (said["done"], said["answer"]["base"]) == (True, start)
    assert worktrees.find(repository.path, place / PROJECT, "t1") == worktree


# --- programs of the person ------------------------------------------------------------------------------------------


def test_filters_of_the_persons_own_configuration_run(repository, place):
    repository.commit(__gitattributes="*.big filter=big\n")
    repository.git("config", "--global", "filter.big.clean", "tr a-z A-Z")
    repository.git("config", "--global", "filter.big.smudge", "tr A-Z a-z")
    worktree = make(repository, place)
    (worktree.path / "x.big").write_text("words\n")
    worktrees.keep(worktree, "m", "w1")
    assert repository.git("show", "toryo/t1:x.big") == "WORDS"
    worktrees.merge(worktree, "m")
    assert (repository.path / "x.big").read_text() == "words\n"


def test_a_filter_of_the_repositorys_configuration_alone_is_refused_with_what_to_do(repository, place):
    """Without it a file would be committed as it is: in clear, where the filter encrypts it."""
    repository.git("config", "filter.lfs.clean", "cat")
    words = refused("The filter lfs is configured only in", make, repository, place)
    assert "git lfs install" in words
    assert not list(place.glob("*"))
    repository.git("config", "--global", "filter.lfs.clean", "cat")
    assert make(repository, place).path.is_dir()


def test_programs_are_not_looked_for_in_the_directory_where_agents_write(repository, place, monkeypatch, tmp_path):
    worktree = make(repository, place)
    planted = worktree.path / "clean-it"
    planted.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\ncat\n")
    planted.chmod(0o755)
    repository.git("config", "--global", "filter.x.clean", "clean-it")
    (worktree.path / ".gitattributes").write_text(ATTRIBUTES)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    with contextlib.suppress(Trouble):
        worktrees.keep(worktree, "m", "w1")
    assert not (tmp_path / "ran").exists()


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_the_settings_that_say_how_files_are_kept_are_those_of_the_repository(repository, place):
    (repository.path / ".git" / "info").mkdir(exist_ok=True)
    (repository.path / ".git" / "info" / "exclude").write_text("*.tmp\n")
    repository.git("config", "core.fileMode", "false")
    worktree = make(repository, place)
    (worktree.path / "x.tmp").write_text("x")
    (worktree.path / "a").chmod(0o755)
    assert not worktrees.keep(worktree, "m", "w1").committed


def test_a_setting_of_how_objects_are_named_is_not_the_beginning_of_other_settings():
    evil = {"extensions.objectformat": "sha1\n[core]\n\tfsmonitor = evil"}
    with pytest.raises(Trouble, match=r"extensions\.objectformat is"):
        formatted(evil, Path("/x"))


def test_what_is_no_file_and_what_is_too_large_is_left_out_and_the_rest_is_kept(repository, place):
    worktree = make(repository, place)
    (worktree.path / "a").unlink()
    os.mkfifo(worktree.path / "a")
    os.mkfifo(worktree.path / "pipe")
    with (worktree.path / "huge").open("wb") as huge:
        huge.truncate(2**43)
    (worktree.path / "new").write_text("x\n")
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["new"]
    found = worktrees.keep(worktree, "m", "w1")
    assert (found.committed, found.left_out) == (True, ("a", "huge"))
    assert repository.git("ls-tree", "--name-only", worktree.branch).split() == ["a", "b", "new"]


def test_what_git_prints_is_read_up_to_a_bound(repository, place, monkeypatch):
    from toryo.coordinator.worktrees import git as running

    worktree = make(repository, place)
    for number in range(200):
        (worktree.path / f"file-with-a-long-name-{number}").write_text("x\n")
    monkeypatch.setattr(running, "MOST_OUTPUT", 2_000)
    refused("too many files", worktrees.diff, worktree)


def test_names_of_files_are_shown_as_they_are_and_control_characters_are_not(repository, place):
    worktree = worked(repository, place, **{"日本語.txt": "x\n", "red\x1b[31m": "x\n"})
    patch = worktrees.diff(worktree).patch
    assert "+++ b/日本語.txt\n" in patch
    assert "\x1b" not in patch
    assert '"b/red\\033[31m"' in patch


def test_only_the_exact_name_of_a_branch_is_merged_into(repository, place):
    repository.commit("more", a="two\n")
    worktree = worked(repository, place, new="x\n")
    before = repository.state()
    for name in ("main^", "main~1", "main@{0}", "-D", "--upload-pack=x", "HEAD", "../HEAD", "refs/heads/main"):
        refused("There is no branch", worktrees.merge, worktree, "m", name)
        assert repository.state() == before, name


def test_replaced_commits_are_not_believed(repository, place):
    """Who may write refs could show other changes than are merged."""
    worktree = worked(repository, place, new="x\n")
    repository.git("replace", repository.git("rev-parse", worktree.branch), repository.git("rev-parse", "main"))
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["new"]


def test_nothing_of_how_it_is_done_stays_in_the_repository_or_on_the_disk(repository, place, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    worktree = worked(repository, place, new="x\n")
    worktrees.diff(worktree)
    assert (worktree.path / ".git").read_text() == f"gitdir: {repository_of(worktree.path)}\n"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""
    worktrees.merge(worktree, "m")
    worktrees.remove(worktree)
    assert list(temporary.iterdir()) == []
    files = [each for each in (repository.path / ".git").rglob("*") if each.is_file()]
    assert not [each for each in files if str(temporary).encode() in each.read_bytes()]


# --- who merges ------------------------------------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("known", "signed"),
    [
        ({"name": "Ann Ao", "email": "ann@example.org"}, "Ann Ao <ann@example.org>"),
        ({"name": "Ann <x@y>\n", "email": "ann@example.org>\nEvil <e"}, "Ann x@y <owner@toryo.invalid>"),
        ({}, "owner <owner@toryo.invalid>"),
    ],
)
def test_a_merge_bears_the_name_of_who_asked_for_it(repository, place, known, signed):
    from dataclasses import replace

    worked(repository, place / PROJECT, "t1", new="x\n")
    asked = replace(job(repository, place, "merge", order=since(repository, place, "t1")), **known)
    assert task_worktrees.run(asked, place)["done"]
    assert repository.git("log", "-1", "--format=%an <%ae>|%cn <%ce>") == f"{signed}|{signed}"


@pytest.mark.parametrize("name", ["HEAD", "objects", "refs", "refs/heads/main", "objects/pack", "packed-refs", "logs"])
def test_a_link_to_another_repository_in_place_of_objects_or_branches_is_refused(
    repository: Repository, place: Path, tmp_path: Path, name: str
) -> None:
    other = Repository(tmp_path / "other")
    other.commit("secret", secret="hush\n")
    at = repository.path / ".git" / name
    if at.exists():
        at.rename(tmp_path / "before")
    source = other.path / ".git" / name
    at.symlink_to(source if source.exists() else other.path / ".git" / "HEAD")
    with pytest.raises(Trouble):
        make(repository, place, "tsk_1")
    assert not list(place.rglob("secret"))


@pytest.mark.parametrize("name", ["HEAD", "index", "packed-refs", "info/sparse-checkout"])
def test_a_pipe_for_which_git_would_wait_is_named_at_once(
    repository: Repository, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(views, "LONG", 0.5)
    worktree = make(repository, place)
    pipe = repository_of(worktree.path) / name
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    assert str(pipe) in refused("named pipe", kept, worktree)
    assert worktrees.discard(worktree).commit is None


def test_a_repository_that_was_led_elsewhere_is_refused_and_says_by_what(
    repository: Repository, place: Path, tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other")
    other.commit("secret", secret="hush\n")
    (repository.path / ".git" / "commondir").write_text(f"{other.path}/.git\n")
    with pytest.raises(Trouble, match="commondir"):
        make(repository, place, "tsk_1")


def test_a_commondir_that_names_its_own_directory_changes_nothing(repository: Repository, place: Path) -> None:
    (repository.path / ".git" / "commondir").write_text(".\n")
    assert make(repository, place, "tsk_1").path.is_dir()
