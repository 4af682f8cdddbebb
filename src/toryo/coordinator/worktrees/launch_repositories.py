"""The repository that a worktree has of its own, so that its agent never writes to the person's: how it is made, what
it knows of the person's, and how its commits come from there.

Beside the worktree `NAME` are `.repositories/NAME`, its git directory, in which the agent writes, and `.seen/NAME`, in
which it does not: the index and the HEAD by which the Coordinator tells what has changed. The objects of the person's
repository are shared (`objects/info/alternates`) and never copied; refs below `refs/toryo` keep `git gc` from removing
those that a worktree needs. Branch, remotes and tags are there by name.

Nothing that an agent can write there is configuration for the Coordinator's git. Commits are fetched, which computes
their names again, from a repository that has one ref and our own settings; whatever is shown, checked or merged is then
read from the person's repository.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toryo.coordinator.worktrees.git import LONG, Answer, Git, Trouble
from toryo.coordinator.worktrees.repository import SETTINGS, Checkout, beside, connect, content, files_only, formatted

REPOSITORIES = ".repositories"
SEEN = ".seen"
HELD = "refs/toryo/held"
"""Refs in the person's repository, for each worktree, to what it needs of it."""
KNOWN = ("refs/remotes", "refs/tags")
"""What a worktree's repository knows beside the branches that it is told."""
_NAMES = re.compile(r"remote\..+\.(url|pushurl|fetch)|branch\..+\.(remote|merge)|user\.(name|email)")
"""Settings that are copied for the agent, and for people who work there: names and addresses, no programs."""
_ALTERNATES = Path("objects/info/alternates")
_SPARSE = "info/sparse-checkout"


def repository_of(path: Path) -> Path:
    """The git directory of the worktree at this path, if it has one of its own."""
    return path.parent / REPOSITORIES / path.name


def seen_of(path: Path) -> Path:
    return path.parent / SEEN / path.name


def git_of(checkout: Checkout, path: Path) -> Git:
    """Git in the worktree, as its agent has left it. For what the agent says; not for what is believed."""
    directory = repository_of(path)
    git = beside(checkout, directory, path)
    _lead(directory, checkout)
    return git if path.is_dir() else Git(directory, git.variables, git.needs)


# --- making -----------------------------------------------------------------------------------------------------------


def create(checkout: Checkout, path: Path, commit: str, branch: str | None, branches: Sequence[str] = ()) -> None:
    """The files of a commit in an empty place, and a repository of their own: on a branch, or on none. It knows these
    other branches."""
    _cleared(seen_of(path))
    begin(checkout, path, commit, branch, branches)
    fill(checkout, path, commit)


def begin(checkout: Checkout, path: Path, commit: str, branch: str | None = None, branches: Sequence[str] = ()) -> None:
    """A repository without files, in place of an earlier one."""
    directory, seen = repository_of(path), seen_of(path)
    _cleared(directory)
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks", "logs"):
        (directory / name).mkdir(parents=True)
    (seen / "info").mkdir(parents=True, exist_ok=True)
    (directory / "config").write_text(_configured(checkout))
    (directory / "HEAD").write_text(f"ref: refs/heads/{branch}\n" if branch else f"{commit}\n")
    refs = _refs(checkout.git, branches) | ({f"refs/heads/{branch}": commit} if branch else {})
    lines = ["# pack-refs with: sorted ", *(f"{refs[name]} {name}" for name in sorted(refs, key=os.fsencode))]
    (directory / "packed-refs").write_bytes(os.fsencode("\n".join([*lines, ""])))
    for source, target, name in (
        (checkout.common, directory, "shallow"),
        (checkout.common, directory, "info/exclude"),
        (checkout.directory, directory, _SPARSE),
        (checkout.directory, seen, _SPARSE),
    ):
        with contextlib.suppress(FileNotFoundError):
            (target / name).write_bytes(content(source / name))
    _lead(directory, checkout)


def fill(checkout: Checkout, path: Path, commit: str, *, clean: bool = False) -> None:
    """Brings the files to a commit; only those that differ are written. `clean`: and removes what is not in it."""
    directory, seen = repository_of(path), seen_of(path)
    if path.is_symlink():
        path.unlink()
    (seen / "index.lock").unlink(missing_ok=True)  # of a Coordinator that was killed
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    connect(path, directory)
    (seen / "HEAD").write_text(f"{commit}\n")
    git = looking(checkout, path, seen).having(GIT_OBJECT_DIRECTORY=str(directory / "objects"))
    git("reset", "--hard", "--quiet", seconds=LONG)
    if clean:
        git("clean", "-ffdxq", seconds=LONG)
    shutil.copy2(seen / "index", directory / "index")


def looking(checkout: Checkout, path: Path, seen: Path) -> Git:
    """Git in the worktree by another HEAD and another index than its agent's, with the person's branches."""
    (seen / "commondir").write_text(f"{checkout.common}\n")  # git reads refs where this says
    variables = {"GIT_DIR": str(seen), "GIT_WORK_TREE": str(path), "GIT_INDEX_FILE": str(seen / "index")}
    return Git(path, {**checkout.git.variables, **variables}, checkout.git.needs)


def _configured(checkout: Checkout) -> str:
    lines = formatted(files_only(checkout.config), checkout.common)
    lines += ["[core]", "\tlogAllRefUpdates = true"]
    for key, value in checkout.config.items():
        if key in SETTINGS or _NAMES.fullmatch(key):
            section, _, rest = key.partition(".")
            middle, _, name = rest.rpartition(".")
            lines.append(f"[{section} {_quoted(middle)}]" if middle else f"[{section}]")
            lines.append(f"\t{name} = {_quoted(_reached(checkout, key, value))}")
    return "\n".join([*lines, ""])


def _reached(checkout: Checkout, key: str, value: str) -> str:
    """The address of a remote may be relative to the person's checkout."""
    relative = key.endswith("url") and value.startswith(("./", "../"))
    return os.path.normpath((checkout.main or checkout.top) / value) if relative else value


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + plain.replace("\n", "\\n").replace("\t", "\\t") + '"'


def _lead(directory: Path, checkout: Checkout) -> None:
    """To the person's objects, and to no others."""
    wanted, file = os.fsencode(f"{checkout.common / 'objects'}\n"), directory / _ALTERNATES
    with contextlib.suppress(OSError):
        if content(file) == wanted:
            return
    file.parent.mkdir(exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=".alternates-", dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(wanted)
    Path(draft).replace(file)


def _refs(git: Git, branches: Sequence[str]) -> dict[str, str]:
    wanted = [*KNOWN, *(f"refs/heads/{each}" for each in branches)]
    lines = git("for-each-ref", "--format=%(objectname) %(refname)", *wanted).split("\n")  # no other ends of lines
    return {name: commit for commit, _, name in (line.partition(" ") for line in lines if line)}


def _cleared(directory: Path) -> None:
    if directory.is_symlink():
        directory.unlink()
    elif directory.exists():
        shutil.rmtree(directory)


# --- going on ---------------------------------------------------------------------------------------------------------


def refresh(checkout: Checkout, there: Git, branches: Sequence[str]) -> None:
    """Tells the worktree's repository what the person's has now. A branch to which the agent has committed stays."""
    wanted, known = _refs(checkout.git, branches), _refs(there, branches)
    orders = []
    for name, commit in wanted.items():
        old = known.get(name)
        if old == commit or (old and name.startswith("refs/heads/") and not _contains(checkout.git, commit, old)):
            continue
        orders.append(f"update {name} {commit}")
    if orders:
        there.ask("update-ref", "--stdin", given="\n".join([*orders, ""]))


def _contains(git: Git, whole: str, part: str) -> bool:
    return git.holds("merge-base", "--is-ancestor", part, whole)


def held(path: Path) -> str:
    return f"{HELD}/{path.name}"


def hold(path: Path, commits: Mapping[str, str]) -> list[str]:
    """What `git update-ref --stdin` is told, so that the person's repository keeps these commits for the worktree."""
    return [f"update {held(path)}/{name} {commit}" for name, commit in commits.items()]


def let_go(checkout: Checkout, *paths: Path) -> None:
    """Removes everything of the repositories of worktrees, but not their branches."""
    for path in paths:
        for each in (repository_of(path), seen_of(path)):
            _cleared(each)
        for each in (path.parent / REPOSITORIES, path.parent / SEEN):
            with contextlib.suppress(OSError):
                each.rmdir()
    names = checkout.git("for-each-ref", "--format=delete %(refname)", *sorted({held(path) for path in paths}))
    if names:
        checkout.git("update-ref", "--stdin", given=f"{names}\n")


# --- its commits ------------------------------------------------------------------------------------------------------


def fetch(checkout: Checkout, path: Path, commit: str, known: str | None) -> None:
    """Brings a commit of the worktree's repository, with all that it needs, to the person's. Moves no ref. `known`:
    what both have. Raises Trouble if something is missing, or is not what its name says."""
    answer = fetch_answer(checkout, repository_of(path) / "objects", commit, known)
    if answer.code != 0:
        words = " ".join(answer.errors.split())[:1000]
        raise Trouble(
            f"The commit {commit[:10]} in {path} cannot be fetched from there: {words}. Its files are still in that "
            "directory. Run git fsck there, or move what you need into a new worktree."
        )


def fetch_answer(checkout: Checkout, objects: Path, commit: str, known: str | None = None) -> Answer:
    """Git's answer to a fetch of this commit from these objects."""
    with tempfile.TemporaryDirectory(prefix="toryo-offered-") as place:
        offered = Path(place)
        (offered / "refs" / "heads").mkdir(parents=True)
        (offered / "objects").symlink_to(objects)
        (offered / "HEAD").write_text("ref: refs/heads/offered\n")
        (offered / "refs" / "heads" / "offered").write_text(f"{commit}\n")
        unread = ["[core]", "\tcommitGraph = false", "\tmultiPackIndex = false"]
        (offered / "config").write_text(
            "\n".join([*formatted(files_only(checkout.config), checkout.common), *unread, ""])
        )
        if (checkout.common / "shallow").exists():
            (offered / "shallow").symlink_to(checkout.common / "shallow")
        kinds = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        tips = (f"--negotiation-tip={known}",) if known else ()
        git = checkout.git.having(GIT_ALLOW_PROTOCOL="file")
        answer = git.ask("fetch", "--quiet", *kinds, *tips, "--", str(offered), "refs/heads/offered", seconds=LONG)
        return replace(answer, errors=answer.errors.replace(str(offered), str(objects.parent)))


def unknown_refs(checkout: Checkout, there: Git, known: Collection[str | None]) -> dict[str, str]:
    """The refs in the worktree's repository (branches, tags, stashes, notes …) whose objects the person's does not
    have, and these. What was fetched there from elsewhere is there. `known`: what the person's has."""
    lines = there("for-each-ref", "--format=%(objectname) %(refname)").split("\n")
    tips = [line.partition(" ")[::2] for line in lines if not line.partition(" ")[2].startswith("refs/remotes/")]
    asked = "".join(f"{commit}\n" for commit, _ in tips if commit not in known)
    answers = checkout.git("cat-file", "--batch-check", given=asked).splitlines() if asked else []
    missing = {answer.split()[0] for answer in answers if answer.endswith(" missing")}
    return {name: commit for commit, name in tips if commit in missing}


def said(ref: str) -> str:
    if ref == "refs/stash":
        return "git stash"
    kinds = {"refs/heads/": "branch", "refs/tags/": "tag"}
    return next((f"{kind} {ref.removeprefix(start)}" for start, kind in kinds.items() if ref.startswith(start)), ref)
