"""Worktrees: a directory and branch per task on one Coordinator's machine; and worktree jobs that people order for
them.

The Coordinator has the files; here is what it has reported, and which jobs there are. Whether a task's files may be
merged, discarded or worked in just now, and what is said if not, is in `operations/worktrees/worktree_locks.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from typing_extensions import TypedDict

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import Key, ProjectId, TaskId
from toryo.domain.times import DAY, MINUTE, SECOND, Millis

LOOK_EVERY: Millis = MINUTE
"""How often an open pull request is looked at; with many of them more seldom."""
LOOK_APART: Millis = 2 * SECOND
"""What each open pull request of a Coordinator adds to that: services limit how often they are asked."""
LOOK_SELDOM: Millis = 30 * MINUTE
"""How often one is looked at after many looks that have settled nothing; and one that was closed."""
UNSEEN_AFTER: Millis = 15 * MINUTE
"""A person is told if a pull request could not be looked at for this long."""
LOST_AFTER: Millis = 15 * MINUTE
"""A worktree job that was taken this long ago is handed out again."""
KEPT_WITHIN: Millis = 30 * SECOND
"""A session may be over while its process still exits and its Coordinator commits its work. A Coordinator that does not
report the exit within this time counts as dead, and nothing more will come.
"""
CLEAN_AFTER: Millis = DAY
"""How long a closed task's directory is kept for its files that git ignores."""


def look_after(others: int, in_vain: int) -> Millis:
    """How long after the last look a pull request is looked at again. `others`: how many its Coordinator looks at;
    `in_vain`: how many looks, one after the other, have settled nothing."""
    usual = max(LOOK_EVERY, others * LOOK_APART)
    return min(usual << min(in_vain, 10), max(usual, LOOK_SELDOM))


class State(StrEnum):
    OPEN = "open"
    MERGED = "merged"
    DISCARDED = "discarded"


class Kind(StrEnum):
    """The kinds of worktree jobs."""

    DIFF = "diff"
    MERGE = "merge"
    DISCARD = "discard"
    CLEAN = "clean"
    """Ordered by Toryo itself: removes a worktree whose contents all exist elsewhere too."""
    QUEUE_MERGE = "queue_merge"
    """Ordered by the merge queue: merges a batch if the required checks pass on the combined result."""
    MERGE_SUBTASKS = "merge_subtasks"
    """Ordered by Toryo itself before success counts: merges the work of subtasks into the worktree of their task."""
    CHECKS = "checks"
    """Asked by an agent: runs the checks of its task on its work so far. What they find counts for nothing."""
    BASE_CHECKS = "base_checks"
    """Ordered by Toryo itself: runs the commands that a project requires on the commit that a task begins with."""
    COMMAND = "command"
    """Asked by an agent: runs one of its commands where it works, which may have no worktree."""
    PULL_REQUEST = "pull_request"
    """Ordered by a person: pushes the branch and opens a pull request. Ordered again by Toryo while that is open: looks
    whether it was merged."""


class Review(StrEnum):
    """How open work with changes stands with the people who review it."""

    TO_REVIEW = "to_review"
    CHANGES_REQUESTED = "changes_requested"
    WITH_PARENT = "with_parent"
    """It is reviewed with the completed task that it is a part of."""
    IN_MERGE_QUEUE = "in_merge_queue"
    """It waits to be merged."""
    IN_PULL_REQUEST = "in_pull_request"
    """Its pull request is open."""
    LEFT_TO_AGENT = "left_to_agent"
    """An agent at work above decides about it."""
    AT_WORK = "at_work"
    """Its task is not completed."""


LOOKS = frozenset({Kind.DIFF, Kind.CHECKS, Kind.BASE_CHECKS, Kind.COMMAND})
"""Those of which nobody need be told: they change nothing, or what their agent is working on."""
CHANGES_FILES = frozenset(Kind) - LOOKS


class Brought(TypedDict, total=False):
    """What has become of the work of a subtask in the worktree of its task."""

    head: str | None
    """The last commit of the subtask's work that this is about; it is out of date if there is another one by now."""
    files: list[str]
    """Where it conflicts."""
    others: list[str]
    """The subtasks on the other side of the conflict; none: the task's own work."""
    trouble: str | None
    """What else prevented the merge."""
    solver: str | None
    """The task that resolves the conflict, or was the last to."""
    tries: int
    """How many such tasks there were."""


OWN = "own"
TRIES = 2
"""How many tasks in a row are to resolve the same conflict before a person is asked."""


def out_of_tree(found: Brought) -> bool:
    """Whether the work could not be merged."""
    return bool(found.get("files") or found.get("trouble"))


@dataclass(frozen=True, slots=True)
class Worktree:
    task_id: Annotated[TaskId, Key]
    project_id: ProjectId
    coordinator_id: str
    path: str
    directory: str
    """The project's own directory within it."""
    branch: str
    base_branch: str | None
    base_commit: str
    head_commit: str | None
    commits: int
    files_changed: int
    insertions: int
    deletions: int
    state: State
    merged_commit: str | None
    merged_into: str | None
    trouble: str | None
    """What prevented keeping or merging it, and the next step; None: nothing."""
    created_at: Millis
    updated_at: Millis
    moved_base: dict[str, str] | None = None
    """The base branch was moved by neither a person nor Toryo: to which `commit`, and what to do, in `words`."""
    subtasks: dict[str, Brought] | None = None
    """What has become of the work of subtasks in it, by their ids; OWN: of the conflicts that its task has to resolve.
    """

    def holds(self, part: Worktree) -> bool:
        """Whether the work of a subtask is in it, as far as that was reported."""
        found = (self.subtasks or {}).get(part.task_id)
        return found is not None and not out_of_tree(found) and found.get("head") == part.head_commit

    @property
    def open(self) -> bool:
        return self.state is State.OPEN

    @property
    def keeps_others_waiting(self) -> bool:
        """Whether who waits until the work is merged waits for it: it is not, or never will be."""
        unseen = self.head_commit is None
        return self.changed or unseen if self.open else self.discarded

    @property
    def discarded(self) -> bool:
        """Whether its changes are gone; a directory without any goes by itself."""
        return self.state is State.DISCARDED and self.changed

    @property
    def kept(self) -> bool:
        """Whether it was merged and is still there, because of what is nowhere else."""
        return self.state is State.MERGED and self.trouble is not None

    @property
    def base(self) -> tuple[str, str, str | None]:
        """The branch that it would be merged into, and where that is."""
        return self.project_id, self.coordinator_id, self.base_branch

    @property
    def told_trouble(self) -> str | None:
        """What people are told that prevents a merge."""
        return self.trouble or (self.moved_base["words"] if self.moved_base is not None else None)

    @property
    def changed(self) -> bool:
        """Whether it holds work that its base does not have."""
        return self.commits > 0 or self.files_changed > 0 or self.trouble is not None


@dataclass(frozen=True, slots=True)
class WorktreeJob:
    id: str
    kind: Kind
    task_id: TaskId
    project_id: ProjectId
    coordinator_id: str
    asked_by: str
    options: dict[str, Any] | None
    created_at: Millis
    taken_at: Millis | None = None
    finished_at: Millis | None = None
    done: bool | None = None
    answer: dict[str, Any] | None = None

    @property
    def over(self) -> bool:
        return self.finished_at is not None

    @property
    def given_up(self) -> bool:
        """Whether the job is abandoned because its Coordinator has not called for long; a late report still counts."""
        return self.over and bool((self.answer or {}).get("given_up"))

    @property
    def pull_request(self) -> dict[str, Any] | None:
        """What was told last of the pull request that this job has opened: `url`, `state` and where it is."""
        found: dict[str, Any] | None = (self.answer or {}).get("pull_request")
        return found

    @property
    def is_open(self) -> bool:
        """Whether its pull request was open when it was last looked at."""
        return (self.pull_request or {}).get("state") == "open"

    @property
    def is_closed(self) -> bool:
        """Whether its pull request was closed without being merged when it was last looked at."""
        return (self.pull_request or {}).get("state") == "closed"

    def has_opened(self, work: Worktree) -> bool:
        """Whether its pull request is open and has all of this work: nothing was added since it was ordered."""
        heads = (self.options or {}).get("heads") or {}
        same = heads.get(work.task_id, work.head_commit) == work.head_commit
        return self.is_open and self.coordinator_id == work.coordinator_id and same

    @property
    def looks(self) -> bool:
        """Whether it only looks at a pull request that is open already."""
        return "look" in (self.options or {})

    @property
    def looks_in_vain(self) -> int:
        """How many looks at its pull request, one after the other, have settled nothing."""
        return int((self.options or {}).get("looks_in_vain", 0))

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks whose files it concerns."""
        return frozenset({self.task_id, *(each["task_id"] for each in (self.options or {}).get("order", ()))})

    @property
    def about(self) -> frozenset[str]:
        """The tasks whose files it concerns, and the one that people have asked for: that may have no files itself."""
        asked_for = (self.options or {}).get("asked_for")
        return self.tasks if asked_for is None else self.tasks | {asked_for}

    def lost(self, now: Millis) -> bool:
        """Whether no Coordinator took it, or the one that did has not answered for long."""
        return self.taken_at is None or now - self.taken_at >= LOST_AFTER
