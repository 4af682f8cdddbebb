"""What Coordinators tell of a base branch that neither a person nor Toryo has moved: it stands with the worktrees whose
work would be merged into it, until a look finds it settled.
"""

from __future__ import annotations

from pydantic import Field

from toryo.domain.fast_dataclasses import replace
from toryo.domain.worktrees import Worktree
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Printed


class MovedBase(Parameters):
    commit: Printed = Field(min_length=1, max_length=100, description="To which it was moved.")
    words: Printed = Field(max_length=10_000, description="What was found, and the next step.")


def note_look(call: Call, worktree: Worktree, found: MovedBase | None) -> Worktree:
    """What a look at its base has found; None: nothing is wrong with it. Returns the worktree, which is stored."""
    before, told = worktree.moved_base, None if found is None else found.model_dump()
    if told == before:
        return worktree
    if told is not None and (before is None or before["commit"] != told["commit"]):
        data = {"branch": worktree.base_branch, "commit": told["commit"]}
        call.event("worktree.base_moved", task=call.tx.tasks.find(worktree.task_id), data=data)
    if told is None and before is not None:  # the same is settled for all
        for each in call.tx.worktrees.open():
            if each.base == worktree.base and (each.moved_base or {}).get("commit") == before["commit"]:
                call.tx.worktrees.put(replace(each, moved_base=None))
    after = replace(worktree, moved_base=told)
    call.tx.worktrees.put(after)
    return after
