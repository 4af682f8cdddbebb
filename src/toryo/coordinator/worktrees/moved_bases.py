"""Whether a branch that work is merged into was moved by nobody: neither by a merge of Toryo nor by a person.

In a sandbox an agent cannot write the person's repository. Without one it can, and a program may write a ref past git.
Git notes in its reflog who moved a branch: agents' programs run with the agent's name (`paths.signing`), and what is
not in the reflog was not moved by git. What is merged on top of such a commit would bring it to people unseen, so
nothing is merged there until a person takes it back or accepts it (`refs/toryo/accepted/BRANCH`).
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from toryo import untrusted_files
from toryo.coordinator.worktrees.git import Trouble
from toryo.coordinator.worktrees.paths import commits_at, contains, readable_name
from toryo.coordinator.worktrees.repository import Checkout

BY_TORYO = "toryo: "
"""How the messages of our own moves begin."""
ACCEPTED = "refs/toryo/accepted"
MOST_READ = 256 * 1024
"""Bytes of a reflog, from its end."""
_LINE = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.*) <([^<>]*)> (\d+) [+-]\d{4}(?:\t(.*))?")


@dataclass(frozen=True, slots=True)
class _Move:
    old: str
    new: str
    name: str
    email: str
    at: int
    message: str

    @property
    def by_an_agent(self) -> bool:
        return self.email.endswith("@toryo.invalid") and not self.message.startswith(BY_TORYO)


@dataclass(frozen=True, slots=True)
class MovedBase:
    """`commit`: to which the branch was moved, and which a person may accept. `words`: what was found, and the next
    step."""

    commit: str
    words: str


class BaseTrouble(Trouble):
    """Nobody has moved the branch that something was to be merged into."""

    def __init__(self, found: MovedBase) -> None:
        super().__init__(found.words)
        self.found = found


def refuse(checkout: Checkout, branch: str, since: float) -> None:
    """Raises BaseTrouble if nobody has moved the branch since this time (seconds since the epoch)."""
    found = moved_by_nobody(checkout, branch, since)
    if found is not None:
        raise BaseTrouble(found)


def accept(checkout: Checkout, branch: str, commit: str, since: float) -> None:
    """A person has looked at what the branch was moved to. What they have not been told of is not accepted with it."""
    found = moved_by_nobody(checkout, branch, since)
    if found is not None and found.commit == commit:
        checkout.git("update-ref", f"{ACCEPTED}/{branch}", commit)


def moved_by_nobody(checkout: Checkout, branch: str, since: float) -> MovedBase | None:
    """None if it was people and Toryo, or if git notes nothing here."""
    moves = _moves(checkout, branch)
    if not moves:
        return None
    ours, theirs = f"refs/heads/{branch}", f"{ACCEPTED}/{branch}"
    found = commits_at(checkout.git, ours, theirs)
    now, accepted = found.get(ours), found.get(theirs)
    if now is None:
        return None
    known = max((number for number, each in enumerate(moves) if each.at < since and not each.by_an_agent), default=-1)
    strange = [(each.old, each.new, each.name) for each in moves[known + 1 :] if each.by_an_agent]
    if moves[-1].new != now:
        strange.append((moves[-1].new, now, ""))
    for old, new, name in strange:
        if not contains(checkout.git, now, new) or (accepted and contains(checkout.git, accepted, new)):
            continue
        who = f"by {readable_name(name)}" if name else "without git"
        where = shlex.quote(str(checkout.top))
        words = (
            f"{branch} was moved from {old[:10]} to {new[:10]} {who}, which was neither a merge of Toryo nor a person. "
            f"Merges into it are on hold until you review the commits: git -C {where} log {old[:10]}..{new[:10]}. "
            f"Then move the branch back, or accept it: git -C {where} update-ref {ACCEPTED}/{shlex.quote(branch)} "
            f"{new[:10]}"
        )
        return MovedBase(new, words)
    return None


def _moves(checkout: Checkout, branch: str) -> list[_Move]:
    try:
        descriptor = untrusted_files.open_regular(
            checkout.common / "logs" / "refs" / "heads" / branch, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        )
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        file.seek(max(0, os.fstat(descriptor).st_size - MOST_READ))
        lines = file.read(MOST_READ).decode(errors="surrogateescape").splitlines()
    found = (_LINE.fullmatch(line) for line in lines)
    return [_Move(each[1], each[2], each[3], each[4], int(each[5]), each[6] or "") for each in found if each]
