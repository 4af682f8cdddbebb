"""Pushing a task's branch to the remote of its base branch, and fetching that base branch again once it was merged
there.

The only part of Toryo's git that uses the network. Agents may have written the repository's configuration: the address
of the remote is read from it as data, and must be an https or ssh address. How it is reached (`core.sshCommand`,
credential helpers, `url.*.insteadOf`, proxies) comes from the configuration of the user alone, and no hook runs.
Nothing is ever forced, and only the task's own branch is pushed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from toryo.coordinator.worktrees.creating import alone
from toryo.coordinator.worktrees.git import Answer, Git, Trouble
from toryo.coordinator.worktrees.merging import moved, refuse_loss
from toryo.coordinator.worktrees.paths import contains, tip
from toryo.coordinator.worktrees.repository import Checkout, content

HEADS = "refs/heads/"
USUAL = "origin"
NOTE = ".pull-requests"
TIME_LIMIT = 600.0
"""Seconds for what goes over the network."""
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_SCP = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^:]+)")


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository elsewhere, and the branch there that work is merged into."""

    name: str
    host: str
    path: str
    """Owner and name of the repository."""
    branch: str
    url: str = field(repr=False)
    """May contain a password: it is never shown."""

    def __str__(self) -> str:
        return f"{self.host}/{self.path}"

    @property
    def tracked(self) -> str:
        """Where the repository here notes what the branch there was last."""
        return f"refs/remotes/{self.name}/{self.branch}"


def remote_of(checkout: Checkout, base: str) -> Remote:
    """The upstream of a branch; without one, the branch of that name at `origin`. Raises Trouble if there is none."""
    config = checkout.config
    name, branch = config.get(f"branch.{base}.remote", ""), base
    upstream = config.get(f"branch.{base}.merge", "")
    if name in ("", "."):
        name = USUAL
    elif upstream.startswith(HEADS):
        branch = upstream.removeprefix(HEADS)
    url = config.get(f"remote.{name}.pushurl") or config.get(f"remote.{name}.url")
    if url is None:
        raise Trouble(
            f"{checkout.top} has no remote {name}, so no pull request can be opened. Add it: git remote add "
            f"{shlex.quote(name)} ADDRESS. Or merge locally: set the project's pull_requests to off."
        )
    found = _place(url)
    remote = Remote(name, *found, branch, url) if found is not None else None
    if remote is None or not all(
        checkout.git.holds("check-ref-format", each) for each in (remote.tracked, HEADS + branch)
    ):
        raise Trouble(
            f"The remote {name} of {checkout.top} has no https or ssh address of a repository at GitHub or GitLab. "
            f"Set it: git remote set-url {shlex.quote(name)} https://HOST/OWNER/REPOSITORY.git"
        )
    return remote


def _place(url: str) -> tuple[str, str] | None:
    """Host, and owner with name, of a repository."""
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
            host += f":{parts.port}" if parts.scheme == "https" and parts.port else ""
        except ValueError:
            return None
        if parts.scheme not in ("https", "ssh") or parts.query or parts.fragment:
            return None
    elif (found := _SCP.fullmatch(url)) is not None:
        host, path = found["host"], found["path"]
    else:
        return None
    path = path.strip("/").removesuffix(".git")
    names = path.split("/")
    if not _HOST.fullmatch(host) or len(names) < 2 or not all(_PART.fullmatch(each) for each in names):
        return None
    return host.lower(), path


def refuse_other(remote: Remote, directory: Path) -> None:
    """Raises Trouble if this project's branches went to another repository before: agents that can write to `.git` can
    change the address of a remote. The first one is noted beside the worktrees."""
    note = directory / NOTE
    try:
        before = content(note).decode(errors="replace").strip()
    except FileNotFoundError:
        before = ""
    if before == str(remote):
        return
    if before:
        raise Trouble(
            f"The remote {remote.name} is {remote} now, but its pull requests went to {before}. If an agent "
            f"changed it, restore it: git remote set-url {shlex.quote(remote.name)} ADDRESS. If you did, remove {note}."
        )
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = note.with_name(f"{NOTE}.new")
    draft.write_text(f"{remote}\n")
    draft.replace(note)


def push(checkout: Checkout, remote: Remote, branch: str, commit: str | None) -> None:
    """Pushes a branch as it was when it was looked at: at this commit. Raises Trouble if there is none, or if the
    remote does not take it."""
    if branch == remote.branch:
        raise Trouble(f"{branch} is the branch to merge into. Toryo never pushes to it.")
    if commit is None:
        raise Trouble(f"The branch {branch} was deleted. Restore it: git branch {shlex.quote(branch)} COMMIT")
    kinds = ("--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed", "--no-mirror")
    answer = _online(checkout).ask(
        "push", "--quiet", *kinds, "--", remote.url, f"{commit}:{HEADS}{branch}", seconds=TIME_LIMIT
    )
    if answer.code != 0:
        raise Trouble(
            f"{branch} was not pushed to {remote}: {_in_words(answer, remote)} The branch is still here. Fix that, try "
            f"it as the user that runs the Coordinator (git push {shlex.quote(remote.name)} {shlex.quote(branch)}, in "
            f"{checkout.top}), then open the pull request again."
        )
    checkout.git.ask("update-ref", f"refs/remotes/{remote.name}/{branch}", commit)


def fetch(checkout: Checkout, remote: Remote) -> str:
    """The newest commit of the branch there. Raises Trouble."""
    kinds = ("--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head")
    refs = f"+{HEADS}{remote.branch}:{remote.tracked}"
    answer = _online(checkout).ask("fetch", "--quiet", *kinds, "--", remote.url, refs, seconds=TIME_LIMIT)
    if answer.code != 0:
        raise Trouble(f"{remote.branch} could not be fetched from {remote}: {_in_words(answer, remote)}")
    return checkout.git("rev-parse", "--verify", f"{remote.tracked}^{{commit}}")


def fetch_objects(checkout: Checkout, remote: Remote, ref: str) -> None:
    """Fetches what is there under this name, and names it nowhere. Raises Trouble."""
    kinds = ("--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head")
    answer = _online(checkout).ask("fetch", "--quiet", *kinds, "--", remote.url, ref, seconds=TIME_LIMIT)
    if answer.code != 0:
        raise Trouble(f"{ref} could not be fetched from {remote}: {_in_words(answer, remote)}")


def forward(checkout: Checkout, base: str, commit: str, directory: Path) -> None:
    """Moves the branch here forward to what the remote has. Raises Trouble, and changes nothing, if it cannot."""
    with alone(directory):
        old = tip(checkout.git, base)
        if old is None or contains(checkout.git, old, commit):
            return
        if not contains(checkout.git, commit, old):
            raise Trouble(f"{base} in {checkout.top} has commits that its remote does not have.")
        refuse_loss(checkout, base, old, commit)
        if not moved(checkout, base, commit, old):
            raise Trouble(f"{base} in {checkout.top} was changed just now.")


def _online(checkout: Checkout) -> Git:
    return checkout.git.online()


def _in_words(answer: Answer, remote: Remote) -> str:
    words = " ".join(line.removeprefix("remote:").strip() for line in answer.errors.splitlines() if line.strip())
    return f"{words.replace(remote.url, str(remote))[:1000] or 'git printed no error message'}."
