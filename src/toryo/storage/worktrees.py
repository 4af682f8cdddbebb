"""Worktrees and worktree jobs, as rows."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from toryo.domain.times import Millis
from toryo.domain.worktrees import Kind, State, Worktree, WorktreeJob
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, by_index, in_list, upsert
from toryo.storage.rows import Rows, update_by_id
from toryo.storage.tasks import CAN_START

_w, _e, _t, _d = schema.worktrees, schema.worktree_jobs, schema.tasks, schema.dependencies
_p = sa.bindparam

WORKTREES = Rows(Worktree, _w)
WORKTREE_JOBS = Rows(WorktreeJob, _e)
_NEVER: Millis = 2**53
_PUT = upsert(_w, WORKTREES.names, ["task_id"], [name for name in WORKTREES.names if name != "task_id"])
_OF = Statement(WORKTREES.select().where(in_list(_w.c.task_id, "ids")).order_by(_w.c.created_at, _w.c.task_id))
_OF_PROJECT: dict[State | None, Statement] = {
    state: Statement(
        by_index(WORKTREES.select(), _w, "worktrees_open" if state is State.OPEN else "worktrees_created")
        .where(_w.c.project_id == _p("project_id"), *([] if state is None else [_w.c.state == state.value]))
        .where(_w.c.created_at <= _p("at"), sa.or_(_w.c.created_at < _p("at"), _w.c.task_id < _p("id")))
        .order_by(_w.c.created_at.desc(), _w.c.task_id.desc())
        .limit(_p("most", type_=sa.Integer))
    )
    for state in (None, *State)
}
_OPEN = Statement(
    by_index(WORKTREES.select(), _w, "worktrees_open")
    .where(_w.c.state == "open")
    .order_by(_w.c.created_at, _w.c.task_id)
)
_roots = sa.select(_t.c.root_id).where(in_list(_t.c.id, "ids"))
_PULL_REQUESTS = Statement(
    WORKTREE_JOBS.select()
    .where(_e.c.task_id.in_(sa.select(_t.c.id).where(_t.c.root_id.in_(_roots))))
    .where(_e.c.kind == Kind.PULL_REQUEST.value)
    .order_by(_e.c.created_at, _e.c.id)
)
"""Of whole trees: what contains the work of a task may be a job of any other task there."""
_WORKTREE_JOB = Statement(WORKTREE_JOBS.select().where(_e.c.id == _p("id")))
_ADD = Statement(sa.insert(_e), columns=WORKTREE_JOBS.names)
_WAITING = Statement(
    WORKTREE_JOBS.select()
    .where(_e.c.coordinator_id == _p("coordinator_id"), _e.c.finished_at.is_(None))
    .order_by(_e.c.created_at, _e.c.id)
)
_answered = (_e.c.task_id == _p("task_id"), _e.c.kind == _p("kind"), _e.c.finished_at.is_not(None))
_newest = sa.select(_e.c.id).where(*_answered).order_by(_e.c.created_at.desc(), _e.c.id.desc())
_FORGET = Statement(sa.delete(_e).where(*_answered, _e.c.id.not_in(_newest.limit(_p("most", type_=sa.Integer)))))
_NEWEST = Statement(
    WORKTREE_JOBS.select()
    .where(_e.c.task_id == _p("task_id"), _e.c.kind == _p("kind"), _e.c.asked_by == _p("asked_by"))
    .order_by(_e.c.created_at.desc(), _e.c.id.desc())
    .limit(_p("most", type_=sa.Integer))
)
_NEVER_MERGED = Statement(
    sa.select(_t.c.id, _w.c.task_id)
    .select_from(_w)
    .join(_d, _d.c.depends_on == _w.c.task_id)
    .join(_t, _t.c.id == _d.c.task_id)
    .where(_w.c.project_id == _p("project_id"), _w.c.state == State.DISCARDED.value)
    .where(sa.or_(_w.c.commits > 0, _w.c.files_changed > 0))
    .where(CAN_START)
    .order_by(_t.c.id, _w.c.task_id)
    .limit(_p("most", type_=sa.Integer))
)
_UNFINISHED = Statement(WORKTREE_JOBS.select().where(_e.c.finished_at.is_(None)).order_by(_e.c.created_at, _e.c.id))


class Worktrees:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, task_id: str) -> Worktree | None:
        return next(iter(self.of([task_id])), None)

    def of(self, task_ids: Iterable[str]) -> list[Worktree]:
        """Worktrees of these tasks, oldest first; tasks without one are missing."""
        return WORKTREES.nouns(self._connection.all(_OF, ids=list(task_ids)))

    def of_project(
        self, project_id: str, most: int, before: tuple[Millis, str] | None = None, state: State | None = None
    ) -> list[Worktree]:
        """Newest first; `before`: only those before the one that was created then and belongs to this task."""
        at, task_id = before or (_NEVER, "")
        asked = {"project_id": project_id, "at": at, "id": task_id, "most": most}
        return WORKTREES.nouns(self._connection.all(_OF_PROJECT[state], **asked))

    def never_merged(self, project_id: str, most: int) -> list[tuple[str, str]]:
        """Tasks in `todo` that nothing else keeps, each with a task that it depends on and whose work was discarded."""
        rows = self._connection.all(_NEVER_MERGED, project_id=project_id, most=most)
        return [(row[0], row[1]) for row in rows]

    def open(self) -> list[Worktree]:
        """Worktrees that still use disk space."""
        return WORKTREES.nouns(self._connection.all(_OPEN))

    def put(self, worktree: Worktree) -> None:
        self._connection.run(_PUT, **WORKTREES.values(worktree))

    def job(self, job_id: str) -> WorktreeJob | None:
        return WORKTREE_JOBS.one(self._connection.one(_WORKTREE_JOB, id=job_id))

    def add_job(self, job: WorktreeJob) -> None:
        self._connection.run(_ADD, **WORKTREE_JOBS.values(job))

    def save_job(self, before: WorktreeJob, after: WorktreeJob) -> None:
        changes = WORKTREE_JOBS.changes(before, after)
        if changes:
            self._connection.run(update_by_id(_e, tuple(changes)), this_id=after.id, **changes)

    def pull_requests(self, task_ids: Iterable[str]) -> dict[str, WorktreeJob]:
        """For each of these tasks the job that has opened the pull request with its work; of several the newest."""
        ids = frozenset(task_ids)
        found = WORKTREE_JOBS.nouns(self._connection.all(_PULL_REQUESTS, ids=sorted(ids)))
        opened = [job for job in found if job.pull_request is not None]
        return {task_id: job for job in opened for task_id in job.about & ids}

    def jobs_for(self, coordinator_id: str) -> list[WorktreeJob]:
        """Unfinished jobs, oldest first."""
        return WORKTREE_JOBS.nouns(self._connection.all(_WAITING, coordinator_id=coordinator_id))

    def forget(self, kind: Kind, task_id: str, most: int) -> None:
        """Deletes all answered jobs of this kind about a task but the newest ones."""
        self._connection.run(_FORGET, kind=kind.value, task_id=task_id, most=most)

    def newest(self, kind: Kind, task_id: str, asked_by: str) -> WorktreeJob | None:
        """What was asked last by them."""
        return next(iter(self.recent(kind, task_id, asked_by, 1)), None)

    def recent(self, kind: Kind, task_id: str, asked_by: str, most: int) -> list[WorktreeJob]:
        """What was asked by them, the last first."""
        asked = {"kind": kind.value, "task_id": task_id, "asked_by": asked_by, "most": most}
        return WORKTREE_JOBS.nouns(self._connection.all(_NEWEST, **asked))

    def unfinished(self) -> list[WorktreeJob]:
        """Unfinished jobs of all Coordinators, oldest first."""
        return WORKTREE_JOBS.nouns(self._connection.all(_UNFINISHED))
