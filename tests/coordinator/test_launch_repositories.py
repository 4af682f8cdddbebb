"""A repository of its own for each worktree: what agents do there never reaches the person's, what git hides there is
seen by every check and view, and what was there before the upgrade goes on.

Generated: every file and every ref of the person's `.git` is attacked from a sandbox; every way in which git hides a
change meets every check and view. Each of these tests is shown to fail where a fault is planted.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.test_sandbox import Yard, git, yard
from tests.coordinator.test_task_worktrees import PROJECT, job, since
from tests.coordinator.test_worktrees import (
    first,
    kept,
    make,
    merged,
    nobody,
    of_an_older_toryo,
    place,
    refused,
    repository,
    worked,
)
from tests.repositories import Repository
from tests.sandboxes import sandboxed
from toryo.coordinator import acceptance_checks, task_worktrees, worktrees
from toryo.coordinator.config import Config
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.coordinator.process_start import Starter
from toryo.coordinator.providers import configured
from toryo.coordinator.sandbox import View, Walled
from toryo.coordinator.workspaces import Workspaces
from toryo.coordinator.worktrees import (
    Trouble,
    Worktree,
    clean_checkouts,
    combining,
    commits_and_diffs,
    moved_bases,
    views,
)
from toryo.coordinator.worktrees.clean_checkouts import check_out
from toryo.coordinator.worktrees.launch_repositories import create, repository_of
from toryo.coordinator.worktrees.repository import one_act, open_checkout
from toryo.output_redaction import Mask

__all__ = ["first", "nobody", "place", "repository", "sandboxed", "yard"]

NAMED = ("-c", "user.name=w1", "-c", "user.email=w1@toryo.invalid")


def files_of(top: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a git directory that is not an object: mode and contents."""
    return {
        str(each.relative_to(top)): (each.lstat().st_mode, b"" if each.is_dir() else each.read_bytes())
        for each in sorted(top.rglob("*"))
        if each.is_dir() or not each.is_symlink()
        if "objects" not in each.relative_to(top).parts[:1]
    }


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def is_the_tasks_own(name: str) -> bool:
    """Its branch with what git notes of it, and the refs that keep what it needs; directories that these are in."""
    own = ("refs/heads/toryo", "logs/refs/heads/toryo", "refs/toryo", "logs/refs/toryo")
    return name.startswith(own) or name in ("logs", "logs/refs", "logs/refs/heads")


# --- the person's repository ------------------------------------------------------------------------------------------


def attack(yard: Yard, **place: Any) -> tuple[set[str], str]:
    """What of the person's repository a program in the sandbox can change: it tries every file, directory and ref."""
    dot = yard.project / ".git"
    for words in (("branch", "other"), ("tag", "v1"), ("stash", "list"), ("pack-refs", "--all")):
        git(yard.project, *words)
    git(yard.project, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(yard.project, "branch", "loose")
    worktree = worktrees.make(yard.project, yard.data / "worktrees" / PROJECT, "tsk_1")
    before, objects = files_of(dot), {each for each in dot.rglob("objects/**/*") if each.is_file()}
    names = [each for each in before if before[each][0] & 0o040000 == 0 or each.count("/") < 2]
    tries = [
        f"echo evil >> '{dot / name}'; mv '{dot / name}' '{dot / name}.moved'; rm -rf '{dot / name}'" for name in names
    ]
    refs = git(yard.project, "for-each-ref", "--format=%(refname)").splitlines()
    tries += [
        f"git --git-dir='{dot}' update-ref {ref} HEAD~0; git --git-dir='{dot}' update-ref -d {ref}" for ref in refs
    ]
    tries += [f"rm -f '{each}'" for each in objects]
    tries += [f"echo evil > '{dot / name}'" for name in ("refs/heads/planted", "new", "hooks/pre-commit", "index.lock")]
    own = (
        "echo a > a; git add a; git commit -qm work; git update-ref refs/heads/main HEAD; git stash list; git tag evil"
    )
    environ = {f"GIT_{who}_{what}": "w1" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    said = yard.run("; ".join([own, *tries]), worktree=worktree.path, directory=worktree.path, environ=environ, **place)
    gone = {str(each.relative_to(dot)) for each in objects if not each.exists()}
    found = changed(before, files_of(dot)) | gone
    assert worktrees.keep(worktree, "m", "w1").commits == 1, said
    assert changed(before, files_of(dot)) - found <= {each for each in files_of(dot) if is_the_tasks_own(each)}
    assert git(yard.project, "show", f"{worktree.branch}:a") == "a"
    return found, said


def test_nothing_in_the_persons_repository_changes_whatever_a_sandboxed_agent_tries(yard: Yard) -> None:
    found, said = attack(yard)
    assert found == set(), said


def test_a_repository_that_could_be_written_would_be_found(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault planted: the sandbox shows it writable, as it did for worktrees of the repository."""
    bind = View.bind

    def bound(self: View, path: Path, *, write: bool) -> None:
        bind(self, path, write=write or path.name == ".git")

    monkeypatch.setattr(View, "bind", bound)
    with contextlib.suppress(AssertionError, Trouble, subprocess.CalledProcessError):
        found, _ = attack(yard)
        assert found == set()
        pytest.fail("nobody noticed")


USUAL = [
    "git stash -q; git stash pop -q",
    "git config user.email evil@example.org; git config core.hooksPath /tmp/x; git config alias.st '!x'",
    "git checkout -q main && git commit -q --allow-empty -m evil",
    "git branch -f main HEAD; git update-ref refs/heads/other HEAD; git tag v2; git branch -D other",
    "git gc -q --prune=now; git reflog expire --expire=now --all; git repack -adq",
    "git worktree add -q ../more; git worktree prune",
    "git remote add evil https://example.org/x.git; git remote rename evil worse; git remote remove worse",
    "git fetch -q . HEAD:refs/heads/fetched; git pull -q . main",
    "git rm -rq --cached .; git reset -q --hard; git clean -fdxq",
    "git notes add -m x; git replace HEAD HEAD~0; git bisect start; git bisect reset -q",
    "echo x > $(git rev-parse --git-path hooks)/pre-commit; echo '*' > $(git rev-parse --git-path info/exclude)",
    "git rebase -q main; git cherry-pick main; git merge -q main; git sparse-checkout set x",
]


@pytest.mark.first(4)
@pytest.mark.parametrize("words", USUAL)
def test_what_agents_usually_do_with_git_stays_in_their_own_repository(repository, place, words) -> None:
    repository.git("branch", "other")
    repository.git("stash", "list")
    (repository.path / "a").write_text("a person's\n")
    repository.git("stash", "--quiet")
    worktree = make(repository, place)
    (worktree.path / "a").write_text("an agent's\n")
    before = files_of(repository.path / ".git")
    environ = {**os.environ, "GIT_AUTHOR_NAME": "w1", "GIT_AUTHOR_EMAIL": "w1@x", "GIT_COMMITTER_NAME": "w1"}
    environ |= {"GIT_COMMITTER_EMAIL": "w1@x"}
    subprocess.run(["/bin/sh", "-c", words], cwd=worktree.path, env=environ, capture_output=True, check=False)
    assert changed(before, files_of(repository.path / ".git")) == set()
    with contextlib.suppress(Trouble):
        kept(worktree)
    assert {each for each in changed(before, files_of(repository.path / ".git")) if not is_the_tasks_own(each)} == set()


def test_a_launch_knows_the_base_branch_the_remotes_and_the_tags_by_name(repository, place) -> None:
    repository.git("remote", "add", "origin", "https://example.org/x/y.git")
    repository.git("remote", "add", "near", "../other.git")
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("tag", "-a", "v1", "-m", "first")
    repository.git("config", "user.email", "ann@example.org")
    worktree = make(repository, place)
    assert repository.git("log", "--format=%s", "main", at=worktree.path) == "first"
    assert repository.git("describe", "origin/main", at=worktree.path) == "v1"
    assert repository.git("remote", "get-url", "origin", at=worktree.path) == "https://example.org/x/y.git"
    assert repository.git("remote", "get-url", "near", at=worktree.path) == str(repository.path.parent / "other.git")
    assert repository.git("config", "--local", "--get", "user.email", at=worktree.path) == "ann@example.org"
    assert kept(worktree).commits == 0
    repository.commit(c="later\n")
    assert make(repository, place) == worktree
    repository.git("merge", "--quiet", "main", at=worktree.path)
    assert (worktree.path / "c").read_text() == "later\n"
    assert worktrees.diff(worktree).files == ()


def test_no_object_is_copied_and_gc_in_the_persons_repository_breaks_no_launch(repository, place) -> None:
    worktree = make(repository, place)
    assert [each for each in (repository_of(worktree.path) / "objects").rglob("*") if len(each.name) == 38] == []
    (worktree.path / "a").write_text("kept\n")
    kept(worktree)
    (worktree.path / "a").write_text("looked at\n")
    worktrees.diff(worktree)
    check_out(worktree, None)
    repository.git("add", "--all", at=worktree.path)
    repository.git("commit", "--quiet", "--amend", "--message=other", "--allow-empty")
    repository.git("branch", "-D", worktree.branch)
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    repository.git("fsck", "--strict", at=worktree.path)
    repository.git("commit", "--quiet", "--message=mine", at=worktree.path)
    assert repository.git("log", "--format=%s", "main", at=worktree.path) == "first"
    assert (kept(worktree).trouble, repository.git("show", "toryo/t1:a")) == ("", "looked at")


def test_what_a_person_commits_to_the_tasks_branch_comes_to_the_next_launch(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", worktree.branch)
    repository.commit("a person's", new="corrected\n")
    repository.git("checkout", "--quiet", "main")
    assert make(repository, place) == worktree
    assert (worktree.path / "new").read_text() == "corrected\n"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""
    assert kept(worktree).trouble == ""


def test_commits_on_both_sides_of_a_tasks_branch_are_told_and_come_together_as_told(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", worktree.branch)
    last = repository.commit("a person's", b="theirs\n")
    repository.git("checkout", "--quiet", "main")
    (worktree.path / "a").write_text("mine\n")
    found = kept(worktree)
    assert f"git merge {last[:10]}" in found.trouble
    repository.git("merge", "--quiet", last[:10], at=worktree.path)
    assert kept(worktree).trouble == ""
    assert merged(worktree).into == "main"


def test_commits_of_an_agent_are_not_lost_where_a_person_has_committed_to_its_branch_as_well(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", worktree.branch)
    repository.commit("a person's", b="theirs\n")
    repository.git("checkout", "--quiet", "main")
    mine = repository.commit("an agent's", at=worktree.path, mine="x\n")
    assert make(repository, place) == worktree
    assert repository.git("rev-parse", "HEAD", at=worktree.path) == mine
    assert (worktree.path / "mine").read_text() == "x\n"


def test_work_is_shown_while_a_person_has_its_branch_checked_out(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", worktree.branch)
    repository.commit("an agent's", at=worktree.path, mine="x\n")
    assert [each.path for each in worktrees.diff(worktree).files] == ["mine", "new"]


def test_an_agent_that_writes_its_history_again_is_followed(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.commit("people's", c="later\n")
    kept(worktree)
    repository.git("rebase", "--quiet", "main", at=worktree.path)
    repository.git("commit", "--quiet", "--amend", "--message=again", at=worktree.path)
    assert [each.path for each in worktrees.diff(worktree).files] == ["new"]
    assert (kept(worktree).trouble, kept(worktree).commits) == ("", 1)
    assert repository.git("log", "--format=%s", worktree.branch).splitlines() == ["again", "people's", "first"]


def test_an_agent_that_has_written_its_history_again_is_followed_from_another_branch_too(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", "-b", "again", at=worktree.path)
    repository.git("commit", "--quiet", "--amend", "--message=again", at=worktree.path)
    repository.git("branch", "--quiet", "--force", worktree.branch, at=worktree.path)
    assert (kept(worktree).trouble, kept(worktree).commits) == ("", 1)
    assert repository.git("log", "--format=%s", worktree.branch).splitlines() == ["again", "first"]
    assert repository.git("symbolic-ref", "--short", "HEAD", at=worktree.path) == worktree.branch


def test_branches_and_stashes_that_exist_nowhere_else_are_named_and_not_removed(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    repository.git("checkout", "--quiet", "-b", "idea", at=worktree.path)
    repository.commit("idea", at=worktree.path, idea="x\n")
    repository.git("checkout", "--quiet", worktree.branch, at=worktree.path)
    (worktree.path / "a").write_text("stashed\n")
    repository.git("stash", "--quiet", at=worktree.path)
    assert kept(worktree).left_out == ("branch idea", "git stash")
    merged(worktree)
    refused("branch idea", worktrees.remove, worktree)
    worktrees.remove(worktree, force=True)
    assert list(place.iterdir()) == []


def _vanished(repository: Repository, place: Path, *, branch: str | None = None) -> tuple[Worktree, str]:
    """A worktree whose directory was removed before what its agent committed there was kept; and that commit."""
    worktree = worked(repository, place, new="x\n")
    if branch is not None:
        repository.git("checkout", "--quiet", "-b", branch, at=worktree.path)
        repository.commit("idea", at=worktree.path, idea="x\n")
        repository.git("checkout", "--quiet", worktree.branch, at=worktree.path)
    commit = repository.commit("late", at=worktree.path, late="x\n")
    shutil.rmtree(worktree.path)
    return worktree, commit


def _refs_with(repository: Repository, commit: str) -> list[str]:
    return repository.git("for-each-ref", "--format=%(refname)", f"--contains={commit}").split()


@pytest.mark.parametrize("begin", ["keep", "remove", "merge"])
def test_commits_of_an_agent_are_not_lost_with_its_directory(repository, place, begin) -> None:
    worktree, commit = _vanished(repository, place)
    if begin == "keep":
        assert kept(worktree).head_commit == commit
    elif begin == "remove":
        refused("commits that are in no other branch", worktrees.remove, worktree)
    merged(worktree)
    worktrees.remove(worktree)
    assert repository.git("merge-base", "--is-ancestor", commit, "main") == ""
    assert list(place.iterdir()) == []


def test_a_discard_tells_the_commits_and_branches_of_a_vanished_directory(repository, place) -> None:
    worktree, commit = _vanished(repository, place, branch="idea")
    found = worktrees.discard(worktree)
    assert found.commit == commit
    assert "gone: branch idea" in found.message


def test_branches_of_a_vanished_directory_are_kept_and_told_where_it_is_made_again(repository, place) -> None:
    worktree, commit = _vanished(repository, place, branch="idea")
    idea = repository.git("--git-dir", str(repository_of(worktree.path)), "rev-parse", "idea")
    (note,) = make(repository, place).notes
    assert repository.git("rev-parse", worktree.branch) == commit
    (ref,) = _refs_with(repository, idea)
    assert f"branch idea ({ref})" in note
    assert make(repository, place).notes == ()


def test_commits_of_a_vanished_directory_are_kept_where_a_person_has_committed_to_its_branch_as_well(
    repository, place
) -> None:
    worktree, commit = _vanished(repository, place)
    repository.git("checkout", "--quiet", worktree.branch)
    persons = repository.commit("a person's", b="theirs\n")
    repository.git("checkout", "--quiet", "main")
    refused("commits that are not on", worktrees.remove, worktree)
    (note,) = make(repository, place).notes
    (ref,) = _refs_with(repository, commit)
    assert f"({ref})" in note
    assert repository.git("rev-parse", worktree.branch) == persons
    repository.git("gc", "--quiet", "--prune=now")
    assert repository.git("cat-file", "-t", commit) == "commit"


# --- what an agent writes into its repository -------------------------------------------------------------------------


def _loose(objects: Path, name: str, kind: str, content: bytes) -> None:
    file = objects / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    if file.exists():
        file.chmod(0o644)
    file.write_bytes(zlib.compress(f"{kind} {len(content)}".encode() + b"\0" + content))


def test_an_object_that_is_not_what_its_name_says_reaches_nobody(repository, place) -> None:
    worktree = make(repository, place)
    shown = hashlib.sha1(b"blob 8\0harmless", usedforsecurity=False).hexdigest()
    (worktree.path / "new").write_text("harmless")
    repository.commit("mine", at=worktree.path)
    _loose(repository_of(worktree.path) / "objects", shown, "blob", b"evil\n")
    refused("cannot be fetched", kept, worktree)
    refused("cannot be fetched", worktrees.diff, worktree)
    assert repository.git("rev-parse", worktree.branch) == worktree.base_commit


@pytest.fixture
def secret(tmp_path: Path) -> Repository:
    other = Repository(tmp_path / "other")
    other.commit("secret", secret="hush\n")
    return other


def _led_by_alternates(own: Path, other: Path) -> None:
    (own / "objects" / "info" / "alternates").write_text(f"{other / 'objects'}\n")


def _led_by_objects(own: Path, other: Path) -> None:
    shutil.rmtree(own / "objects")
    (own / "objects").symlink_to(other / "objects")


def _led_by_refs(own: Path, other: Path) -> None:
    shutil.rmtree(own / "refs" / "heads")
    (own / "refs" / "heads").symlink_to(other / "refs" / "heads")


def _led_by_a_head(own: Path, other: Path) -> None:
    (own / "HEAD").unlink()
    (own / "HEAD").symlink_to(other / "HEAD")


def _led_by_a_commondir(own: Path, other: Path) -> None:
    (own / "commondir").write_text(f"{other}\n")


def _led_by_a_pack(own: Path, other: Path) -> None:
    shutil.rmtree(own / "objects" / "pack")
    (own / "objects" / "pack").symlink_to(other / "objects")


@pytest.mark.parametrize(
    "lead",
    [_led_by_alternates, _led_by_objects, _led_by_refs, _led_by_a_head, _led_by_a_commondir, _led_by_a_pack],
)
def test_the_files_of_another_repository_do_not_come_from_a_launch(repository, place, secret, lead: Callable) -> None:
    """A commit whose tree is that of another repository, which its agent cannot read."""
    worktree = make(repository, place)
    tree, head = secret.git("rev-parse", "HEAD^{tree}"), secret.git("rev-parse", "HEAD")
    own = repository_of(worktree.path)
    text = f"tree {tree}\nparent {worktree.base_commit}\nauthor w <w> 1 +0000\ncommitter w <w> 1 +0000\n\nmine\n"
    name = hashlib.sha1(f"commit {len(text)}\0{text}".encode(), usedforsecurity=False).hexdigest()
    _loose(own / "objects", name, "commit", text.encode())
    (own / "refs" / "heads" / "toryo").mkdir(exist_ok=True)
    (own / "refs" / "heads" / "toryo" / "t1").write_text(f"{name}\n")
    lead(own, secret.path / ".git")
    for do in (lambda: worktrees.diff(worktree), lambda: kept(worktree), lambda: check_out(worktree, 100)):
        with contextlib.suppress(Trouble):
            do()
    for commit in (name, head):
        assert "hush" not in repository.git("show", f"{commit}:secret", code=None)
    assert [each for each in place.rglob("secret") if "hush" in each.read_text()] == []


# --- what git hides ---------------------------------------------------------------------------------------------------

MAKEFILE = "test:\n\tfalse\n"
EASY = "test:\n\ttrue\n"
LIMITS = {"diff": {"forbidden_paths": ["/Makefile", "GNUmakefile"], "max_files": 1}}
CHECKS = ({"command": "make -s test"}, LIMITS)

Hide = Callable[[Repository, Worktree, str], None]


def _plain(repository: Repository, worktree: Worktree, name: str) -> None:
    pass


def _exclude(repository: Repository, worktree: Worktree, name: str) -> None:
    for top in (repository_of(worktree.path), worktree.path / ".git"):
        with contextlib.suppress(OSError):
            (top / "info" / "exclude").write_text(f"{name}\n")


def _excludes_file(repository: Repository, worktree: Worktree, name: str) -> None:
    (worktree.path / "ignored").write_text(f"{name}\nignored\n")
    repository.git("config", "core.excludesFile", str(worktree.path / "ignored"), at=worktree.path)


def _gitignore(repository: Repository, worktree: Worktree, name: str) -> None:
    (worktree.path / ".gitignore").write_text(f"{name}\n.gitignore\n")


def _flag(*flags: str) -> Hide:
    def hide(repository: Repository, worktree: Worktree, name: str) -> None:
        repository.git("add", "--intent-to-add", "--", name, at=worktree.path)
        for flag in flags:
            repository.git("update-index", flag, "--", name, at=worktree.path, code=None)

    hide.__name__ = "-".join(flags).replace("--", "_")
    return hide


def _old_time(repository: Repository, worktree: Worktree, name: str) -> None:
    like = (worktree.path / "a").stat()
    os.utime(worktree.path / name, ns=(like.st_atime_ns, like.st_mtime_ns))


def _settings(repository: Repository, worktree: Worktree, name: str) -> None:
    for each in ("core.trustctime=false", "core.checkStat=minimal", "core.ignoreStat=true", "core.fileMode=false"):
        repository.git("config", *each.split("="), at=worktree.path)
    _old_time(repository, worktree, name)


def _attributes(repository: Repository, worktree: Worktree, name: str) -> None:
    (repository_of(worktree.path) / "info" / "attributes").write_text("* -diff\n")
    (worktree.path / ".gitattributes").write_text("* -diff -text export-ignore\n")


def _moved_base(repository: Repository, worktree: Worktree, name: str) -> None:
    repository.git("add", "--all", at=worktree.path)
    repository.git("commit", "--quiet", "--message=x", at=worktree.path)
    repository.git("update-ref", "refs/heads/main", "HEAD", at=worktree.path)


def _sparse(repository: Repository, worktree: Worktree, name: str) -> None:
    repository.git("sparse-checkout", "set", "--no-cone", "/a", at=worktree.path, code=None)
    (worktree.path / name).write_text(EASY)


def _no_index(repository: Repository, worktree: Worktree, name: str) -> None:
    (repository_of(worktree.path) / "index").write_bytes(b"DIRC no index")


def _replaced(repository: Repository, worktree: Worktree, name: str) -> None:
    repository.git("add", "--all", at=worktree.path)
    repository.git("commit", "--quiet", "--message=x", at=worktree.path)
    repository.git("replace", "HEAD", "HEAD~1", at=worktree.path)


def _another_work_tree(repository: Repository, worktree: Worktree, name: str) -> None:
    empty = worktree.path.parent / "empty"
    empty.mkdir()
    repository.git("config", "core.worktree", str(empty), at=worktree.path)


def _own_index_file(repository: Repository, worktree: Worktree, name: str) -> None:
    shutil.copy2(repository_of(worktree.path) / "index", worktree.path / "index")
    repository.git("add", "--force", "--all", at=worktree.path)
    shutil.copy2(worktree.path / "index", repository_of(worktree.path) / "index")
    (worktree.path / "index").unlink()


WAYS: list[Hide] = [
    _exclude,
    _excludes_file,
    _gitignore,
    _flag("--skip-worktree"),
    _flag("--assume-unchanged"),
    _flag("--fsmonitor-valid"),
    _flag("--split-index", "--assume-unchanged"),
    _flag("--untracked-cache", "--skip-worktree"),
    _old_time,
    _settings,
    _attributes,
    _moved_base,
    _sparse,
    _no_index,
    _replaced,
    _another_work_tree,
    _own_index_file,
]


@pytest.fixture(scope="module")
def made_like(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Repository(tmp_path_factory.mktemp("made") / "project")
    made.commit("first", a="one\n", Makefile=MAKEFILE)
    return made.path


@pytest.fixture
def judged(tmp_path: Path, made_like: Path) -> Repository:
    return Repository(tmp_path / "project", like=made_like)


def _outcome(repository: Repository, place: Path, worktree: Worktree) -> dict[str, Any]:
    """What each check and each view says of it, with what would be merged."""
    order = CheckOrder(
        "chk_1",
        str(repository.path),
        CHECKS,
        project_id=PROJECT,
        worktree=str(worktree.path),
        worktree_task_id="t1",
        worktree_path=str(worktree.path),
    )
    clean = task_worktrees.checked_out(order, place)
    assert clean is not None

    def changes() -> worktrees.Diff:
        assert clean.clean.changes is not None
        return clean.clean.changes

    def wall(argv: Any) -> Walled:
        return Walled(tuple(argv), {"PATH": os.environ["PATH"]})

    evidence = asyncio.run(acceptance_checks.evidence(CHECKS, clean.clean.working_directory, wall, changes, Mask([])))
    shown = task_worktrees.run(job(repository, place, "diff"), place)["answer"]
    touched = task_worktrees.touched_paths(worktree)
    committed = kept(worktree)
    assert committed.trouble == ""
    return {
        "checks": [each.outcome for each in evidence],
        "easy": "true" in repository.git("show", f"{worktree.branch}:{_easy(worktree)}", code=None),
        "shown": {each["path"] for each in shown["files"]} & {"Makefile", "GNUmakefile"},
        "touched": set(touched or ()) & {"Makefile", "GNUmakefile"},
        "unkept": worktrees.unkept(worktree),
    }


def _easy(worktree: Worktree) -> str:
    return "GNUmakefile" if (worktree.path / "GNUmakefile").exists() else "Makefile"


HONEST = {"checks": ["passed", "failed"], "easy": True, "unkept": ""}
UNCHANGED = {"checks": ["failed", "passed"], "easy": False, "shown": set(), "touched": set(), "unkept": ""}


@pytest.mark.parametrize("name", ["Makefile", "GNUmakefile"])
@pytest.mark.first(8)
@pytest.mark.parametrize("hide", [_plain, *WAYS])
def test_a_hidden_change_is_judged_and_shown_as_if_it_were_not_hidden_or_is_not_there(
    judged, place, hide: Hide, name: str
) -> None:
    worktree = make(judged, place / PROJECT)
    (worktree.path / name).write_text(EASY)
    hide(judged, worktree, name)
    try:
        found = _outcome(judged, place, worktree)
    except Trouble:
        return
    honest = {**HONEST, "shown": {name}, "touched": {name}}
    assert found in ([honest] if hide is _plain else [honest, UNCHANGED])


@pytest.mark.parametrize("hide", [_exclude, _flag("--skip-worktree")])
def test_a_view_that_believed_the_agents_index_would_be_found(judged, place, monkeypatch, hide: Hide) -> None:
    """The fault planted: what is checked is the directory itself, and what is shown comes from its index."""

    def believing(home: Any, path: Path, seen: Path) -> Any:
        return worktrees.paths.inside(worktree)

    worktree = make(judged, place / PROJECT)
    name = "GNUmakefile" if hide is _exclude else "Makefile"
    (worktree.path / name).write_text(EASY)
    hide(judged, worktree, name)
    monkeypatch.setattr(views, "looking", believing)
    monkeypatch.setattr(task_worktrees, "checked_out", lambda order, place: None)
    with contextlib.suppress(AssertionError, Trouble):
        found = _outcome(judged, place, worktree)
        assert found == {**HONEST, "shown": {name}, "touched": {name}}
        pytest.fail("nobody noticed")


def test_what_an_agent_added_although_it_is_ignored_and_what_it_does_not_want_checked_out_is_kept(
    repository, place
) -> None:
    repository.commit(__gitignore="*.log\n")
    worktree = make(repository, place)
    repository.git("sparse-checkout", "set", "--no-cone", "/a", at=worktree.path)
    (worktree.path / "wanted.log").write_text("x\n")
    (worktree.path / "other.log").write_text("x\n")
    repository.git("add", "--force", "--sparse", "wanted.log", at=worktree.path)
    (worktree.path / "y").mkdir()
    (worktree.path / "y" / "c").write_text("new\n")
    assert kept(worktree).trouble == ""
    assert repository.git("ls-tree", "-r", "--name-only", worktree.branch).split() == [
        ".gitignore",
        "a",
        "b",
        "wanted.log",
        "y/c",
    ]


@pytest.mark.parametrize("ended", [True, False])
def test_what_an_agent_changes_in_a_file_that_it_did_not_want_checked_out_before_is_kept(
    repository, place, ended
) -> None:
    worktree = make(repository, place)
    repository.git("sparse-checkout", "set", "--no-cone", "/a", at=worktree.path)
    (worktree.path / "a").write_text("two\n")
    assert kept(worktree).files_changed == 1
    if ended:
        repository.git("sparse-checkout", "disable", at=worktree.path)
    (worktree.path / "b").write_text("edited\n")
    assert worktrees.unkept(worktree) != ""
    assert kept(worktree).files_changed == 2
    assert repository.git("show", f"{worktree.branch}:b") == "edited"


def test_what_an_agent_added_and_deleted_again_hides_nothing_else_that_it_added(repository, place) -> None:
    repository.commit(__gitignore="*.log\n")
    worktree = make(repository, place)
    for name in ("1.log", "2.log", "3.log"):
        (worktree.path / name).write_text("x\n")
    repository.git("add", "--force", "1.log", "2.log", "3.log", at=worktree.path)
    (worktree.path / "1.log").unlink()
    assert [each.path for each in worktrees.diff(worktree).files] == ["2.log", "3.log"]


def test_an_old_index_of_an_agent_hides_nothing_and_changes_nothing(repository, place) -> None:
    """As a Coordinator leaves it that was killed before it had written the new one."""
    worktree = make(repository, place)
    index = repository_of(worktree.path) / "index"
    before = index.read_bytes()
    (worktree.path / "new").write_text("x\n")
    head = kept(worktree).head_commit
    index.write_bytes(before)
    assert worktrees.unkept(worktree) == ""
    assert (kept(worktree).head_commit, kept(worktree).committed) == (head, False)


def test_a_clean_checkout_has_what_would_be_merged_and_nothing_else(repository, place) -> None:
    repository.commit(__gitignore="*.log\n")
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x\n")
    (worktree.path / "left.log").write_text("x\n")
    before = repository.git("status", "--porcelain", at=worktree.path)
    found = check_out(worktree, 1000)
    assert sorted(each.name for each in found.working_directory.iterdir()) == [".git", ".gitignore", "a", "b", "new"]
    assert found.changes is not None
    assert [each.path for each in found.changes.files] == ["new"]
    assert repository.git("status", "--porcelain", at=worktree.path) == before
    for name in ("a", "new"):
        (found.top / name).write_text("changed by a check\n")
    (found.top / "left").write_text("x")
    stood = (found.top / "b").stat().st_ctime_ns
    again = check_out(worktree, None)
    assert again.top == found.top
    assert (again.top / "b").stat().st_ctime_ns == stood, "what is there already is not written again"
    assert ((again.top / "a").read_text(), (again.top / "new").read_text()) == ("one\n", "x\n")
    assert not (again.top / "left").exists()
    assert repository.git("status", "--porcelain", at=again.top) == ""
    assert kept(worktree).committed
    merged(worktree)
    worktrees.remove(worktree)
    assert list(place.iterdir()) == []


def _in_a_subdirectory(repository: Repository, place: Path) -> Worktree:
    (repository.path / "inner").mkdir()
    (repository.path / "inner" / "file").write_text("x\n")
    repository.commit(__gitignore="/inner/out\n")
    return worktrees.make(repository.path / "inner", place, "t1")


def test_checks_of_a_project_in_a_subdirectory_run_there(repository, place) -> None:
    worktree = _in_a_subdirectory(repository, place)
    (worktree.working_directory / "new").write_text("x\n")
    clean = check_out(worktree, None)
    assert (clean.working_directory / "new").read_text() == "x\n"
    assert clean_checkouts.ignored_paths(worktree, clean, ["out", "file"]) == {"out"}
    assert clean_checkouts.to_base(worktree, clean) == clean.working_directory


def test_a_link_in_place_of_the_projects_directory_leads_neither_checks_nor_launches_to_where_it_points(
    repository, place
) -> None:
    worktree = _in_a_subdirectory(repository, place)
    shutil.rmtree(worktree.working_directory)
    worktree.working_directory.symlink_to(repository.path / "inner")
    commit = kept(worktree).head_commit
    for words in (
        refused("leads to", check_out, worktree, None),
        refused("leads to", worktrees.make, repository.path / "inner", place, "t1"),
        refused("leads to", combining.check_out, open_checkout(repository.path / "inner"), place / "queue", commit),
    ):
        assert str(repository.path / "inner") in words


def test_of_a_vanished_directory_what_is_committed_is_checked(repository, place) -> None:
    worktree = worked(repository, place, new="x\n")
    shutil.rmtree(worktree.path)
    assert (check_out(worktree, None).top / "new").read_text() == "x\n"


PLAN = "tasks: [{{match: '.*', subtasks: [{{id: a, title: {}}}]}}]\n"

# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plan.yaml", "deep/plan.yaml", "./plan.yaml"])
def test_a_plan_that_another_tasks_agent_has_changed_is_not_followed(repository, place, name) -> None:
    file = Path(name)
    (repository.path / file.parent).mkdir(exist_ok=True)
    (repository.path / file).write_text("people's\n")
    repository.commit("a plan")
    first = make(repository, place, "t1")
    (first.path / file).write_text("evil\n")
    kept(first)
    second = make(repository, place, "t2", first.branch)
    assert (second.path / file).read_text() == "evil\n", "what would be read in the worktree"
    assert worktrees.merged_text(second, name) == "people's\n"
    merged(first)
    assert worktrees.merged_text(second, name) == "evil\n", "people have merged it"


@pytest.mark.parametrize(
    ("provider", "text", "evil"),
    [
        ("playbook", PLAN.format("people"), PLAN.format("evil")),
        ("script", "otherwise: people\n", "otherwise: evil\n"),
    ],
)
def test_an_agent_is_started_with_the_plan_that_people_have_merged(
    repository, place, tmp_path, provider, text, evil
) -> None:
    (repository.path / "plan.yaml").write_text(text)
    repository.commit("a plan")
    worktree = make(repository, place)
    (worktree.path / "plan.yaml").write_text(evil)
    kept(worktree)
    spaces = Workspaces(tmp_path / "spaces")
    starter = Starter(
        Config(), configured(Config().ai_providers), "http://x", "m", tmp_path, spaces, place, dict(os.environ)
    )
    order = Launch("lau_1", "ann", ai_type=provider, provider_options={provider: "plan.yaml"})
    for where, wanted in ((worktree, "people"), (replace(worktree, base_branch="toryo/t1"), "evil")):
        (written,) = starter.prepared(order, where).files.values()
        assert ("people" in written, "evil" in written) == (wanted == "people", wanted == "evil")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "missing.yaml", "link", "deep", ":(top)a"])
def test_a_plan_that_nobody_has_committed_in_the_project_is_refused(repository, place, name) -> None:
    (repository.path / "link").symlink_to("/etc/passwd")
    (repository.path / "deep").mkdir()
    (repository.path / "deep" / "x").write_text("x")
    repository.commit("a link")
    worktree = make(repository, place)
    refused("outside of|There is no file", worktrees.merged_text, worktree, name)


def test_a_plan_outside_of_the_projects_directory_is_refused_although_it_is_in_its_repository(
    repository, place
) -> None:
    (repository.path / "app").mkdir()
    (repository.path / "app" / "x").write_text("x")
    repository.commit()
    worktree = worktrees.make(repository.path / "app", place, "t1")
    assert worktrees.merged_text(worktree, "x") == "x"
    refused("outside of", worktrees.merged_text, worktree, "../a")


# --- a base that nobody has moved -------------------------------------------------------------------------------------


def _commits_there(repository: Repository, environ: dict[str, str]) -> None:
    words = ["git", "commit", "--quiet", "--allow-empty", "--message=evil"]
    subprocess.run(words, cwd=repository.path, env={**os.environ, **environ}, check=True)


def _moves_the_ref(repository: Repository, environ: dict[str, str]) -> None:
    commit = repository.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "evil")
    words = ["git", "update-ref", "refs/heads/main", commit]
    subprocess.run(words, cwd=repository.path, env={**os.environ, **environ}, check=True)


def _writes_the_file(repository: Repository, environ: dict[str, str]) -> None:
    commit = repository.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "evil")
    (repository.path / ".git" / "refs" / "heads" / "main").write_text(f"{commit}\n")


@pytest.mark.first(1)
@pytest.mark.parametrize("move", [_commits_there, _moves_the_ref, _writes_the_file])
def test_a_base_that_an_agent_has_moved_is_told_and_holds_merges_until_a_person_has_looked(
    repository, place, move: Callable
) -> None:
    worktree = worked(repository, place / PROJECT, new="x\n")
    before = repository.git("rev-parse", "main")
    move(repository, worktrees.signing("w1"))
    moved = kept(worktree).moved_base
    assert moved is not None
    assert "main was moved" in moved.words
    assert repository.git("rev-parse", "main") == moved.commit
    refused("main was moved", worktrees.merge, worktree, "m")
    order = since(repository, place, "t1")
    told = task_worktrees.run(job(repository, place, "merge", order=order), place)
    assert "main was moved" in told["trouble"]
    assert (told["moved_base"]["commit"], told["answer"]) == (moved.commit, {"anyway": True})
    assert task_worktrees.run(job(repository, place, "diff"), place)["moved_base"] == told["moved_base"]
    repository.git("update-ref", "refs/toryo/accepted/main", "main")
    assert kept(worktree).moved_base is None
    assert "moved_base" not in task_worktrees.run(job(repository, place, "diff"), place)
    repository.git("update-ref", "-d", "refs/toryo/accepted/main")
    refused("main was moved", worktrees.merge, worktree, "m")
    repository.git("reset", "--quiet", "--hard", before)
    assert kept(worktree).moved_base is None
    assert merged(worktree).into == "main"


@pytest.mark.deep
def test_a_person_merges_onto_the_commit_that_they_were_told_of_and_onto_no_other(repository, place) -> None:
    worked(repository, place / PROJECT, new="x\n")
    _commits_there(repository, worktrees.signing("w1"))

    def merge(**accepts: str) -> dict[str, Any]:
        (first,) = since(repository, place, "t1")
        return task_worktrees.run(job(repository, place, "merge", order=[{**first, **accepts}]), place)

    told = merge()["moved_base"]["commit"]
    assert "main was moved" in merge(accepts="0" * 40)["trouble"]
    _moves_the_ref(repository, worktrees.signing("w1"))
    again = merge(accepts=told)
    assert "main was moved" in again["trouble"], "the second move was not told before"
    assert again["moved_base"]["commit"] != told
    repository.git("reset", "--quiet", "--hard")
    assert merge(accepts=again["moved_base"]["commit"])["done"]


def test_a_person_accepts_the_commit_that_they_were_told_of_and_no_other(repository) -> None:
    checkout = open_checkout(repository.path)
    moved_bases.accept(checkout, "main", "0" * 40, 0)
    _commits_there(repository, worktrees.signing("w1"))
    found = moved_bases.moved_by_nobody(checkout, "main", 0)
    assert found is not None
    moved_bases.accept(checkout, "main", "0" * 40, 0)
    refused("main was moved", moved_bases.refuse, checkout, "main", 0)
    moved_bases.accept(checkout, "main", found.commit, 0)
    moved_bases.refuse(checkout, "main", 0)


def test_a_branch_that_an_agent_has_planted_is_not_the_beginning_of_another_task(repository, place) -> None:
    commit = repository.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "evil")
    words = ["git", "update-ref", "--create-reflog", "refs/heads/toryo/t2", commit]
    subprocess.run(words, cwd=repository.path, env={**os.environ, **worktrees.signing("w1")}, check=True)
    refused("toryo/t2 was moved", make, repository, place, "t2")
    repository.git("branch", "-D", "toryo/t2")
    assert make(repository, place, "t2").base_commit == repository.git("rev-parse", "main")


def test_a_base_that_people_and_toryo_have_moved_holds_nothing(repository, place) -> None:
    works = [worked(repository, place, f"t{number}", **{f"new{number}": "x\n"}) for number in range(3)]
    repository.commit("a person's", a="two\n")
    merged(works[0])
    repository.git("commit", "--quiet", "--amend", "--message=written again", "--allow-empty")
    assert kept(works[1]).trouble == ""
    merged(works[1])
    repository.git("checkout", "--quiet", "--detach")
    merged(works[2])


# --- worktrees of an older Toryo --------------------------------------------------------------------------------------


def test_a_worktree_of_an_older_toryo_goes_on_as_it_is_until_it_is_removed(repository, place) -> None:
    older = of_an_older_toryo(repository, place / PROJECT)
    assert make(repository, place / PROJECT) == older
    assert (older.own, repository_of(older.path).exists()) == (False, False)
    repository.commit("agent's", at=older.path, new="x\n")
    (older.path / "a").write_text("two\n")
    assert [each.path for each in worktrees.diff(older).files] == ["a", "new"]
    assert worktrees.touched(older, 10) == ("a", "new")
    checked = check_out(older, 1000)
    assert (checked.top / "a").read_text() == "two\n"
    found = kept(older)
    assert (found.commits, found.trouble, found.left_out) == (2, "", ())
    assert repository.git("status", "--porcelain", at=older.path) == ""
    assert repository.git("rev-parse", "HEAD", at=older.path) == found.head_commit
    following = make(repository, place / PROJECT, "t2", older.branch)
    assert (following.own, (following.path / "new").read_text()) == (True, "x\n")
    merged(older)
    worktrees.remove(older)
    assert (repository.git("worktree", "list").count("\n"), older.path.exists()) == (0, False)


def test_in_the_sandbox_a_worktree_of_an_older_toryo_still_commits(yard: Yard) -> None:
    path = yard.data / "worktrees" / PROJECT / "t1"
    git(yard.project, "worktree", "add", "--quiet", "-b", "toryo/t1", str(path))
    said = yard.run(
        "echo a > a; git add a; git -c user.name=a -c user.email=a@x commit -qm work", worktree=path, directory=path
    )
    assert git(path, "log", "--format=%s", "-1") == "work", said


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["sha256", "shallow", "worktree", "borrowing"])
def test_a_launch_works_in_every_kind_of_repository(repository, place, tmp_path, kind) -> None:
    given, like = repository, tmp_path / "given"
    if kind == "sha256":
        like.mkdir()
        repository.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256", at=like)
        Repository.commit(given, "first", at=like, a="one\n", b="x\n")
    elif kind == "worktree":
        repository.git("worktree", "add", "--quiet", "-b", "persons", str(like))
    else:
        repository.commit(c="more\n")
        how = ("--depth=1", f"file://{repository.path}") if kind == "shallow" else ("--shared", str(repository.path))
        repository.git("clone", "--quiet", *how, str(like))
    worktree = worktrees.make(like, place, "t1")
    repository.commit("mine", at=worktree.path, new="x\n")
    (worktree.path / "a").write_text("two\n")
    assert [each.path for each in worktrees.diff(worktree).files] == ["a", "new"]
    assert (check_out(worktree, None).top / "a").read_text() == "two\n"
    assert (kept(worktree).commits, kept(worktree).trouble) == (2, "")
    merged(worktree)
    worktrees.remove(worktree)
    assert (like / "new").read_text() == "x\n"
    assert given.git("status", "--porcelain", at=like) == ""


def test_a_repository_is_made_with_nothing_of_the_persons_settings_that_runs(repository, place) -> None:
    for each in ("core.fsmonitor", "alias.st", "remote.origin.uploadpack", "credential.helper", "core.sshCommand"):
        repository.git("config", each, "evil")
    repository.git("config", "user.name", 'a "quoted"\\\nname')
    path = place / "t1"
    path.parent.mkdir()
    create(open_checkout(repository.path), path, repository.git("rev-parse", "HEAD"), "toryo/t1")
    assert "evil" not in (repository_of(path) / "config").read_text()
    assert repository.git("config", "--file", str(repository_of(path) / "config"), "user.name") == 'a "quoted"\\\nname'


def test_what_its_agent_commits_while_its_work_is_kept_stays_on_its_branch(repository, place, monkeypatch):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x\n")
    original = commits_and_diffs.commit_of

    def committing(*given: Any, **named: Any) -> str:
        repository.commit("mine", at=worktree.path, mine="x\n")
        return original(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(commits_and_diffs, "commit_of", committing)
        refused("update-ref failed", worktrees.keep, worktree, "m", "w1")
    assert repository.git("log", "-1", "--format=%s", at=worktree.path) == "mine"
    assert worktrees.keep(worktree, "m", "w1").trouble == ""
    assert {"mine", "new"} <= set(repository.git("ls-tree", "--name-only", worktree.branch).split())


def test_a_branch_whose_name_has_signs_that_end_lines_elsewhere_is_one_branch(repository, place):
    repository.git("checkout", "--quiet", "-b", "main\u2028\u3000two")
    worktree = worked(repository, place, new="x\n")
    assert worktree.base_branch == "main\u2028\u3000two"
    repository.commit("more", a="two\n")
    merged(worktree)
    worktrees.remove(worktree)
    assert repository.git("show", "HEAD:new") == "x"


def test_a_repository_is_opened_once_in_an_act_and_again_in_the_next(repository):
    with one_act():
        with one_act():
            found = open_checkout(repository.path)
        assert open_checkout(repository.path) is found
    assert open_checkout(repository.path) is not found
