"""Launches, their logs, and the acceptance checks that Coordinators run for them, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from toryo.domain.agents import Program
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Check, Launch, Purpose
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list, insert_or_ignore, upsert
from toryo.storage.engine.unit_of_work import Target
from toryo.storage.rows import Rows, update_by_id
from toryo.storage.tables import from_json

_t, _l, _k, _d = schema.launches, schema.logs, schema.checks, schema.decisions
_p = sa.bindparam


ROWS = Rows(Launch, _t)
_LAUNCH = Target(_t)
_LIVE = ("ordered", "signed_in")
_ONE = Statement(ROWS.select().where(_t.c.id == _p("id")))
_MANY = Statement(ROWS.select().where(in_list(_t.c.id, "ids")))
_BY_CREDENTIAL = Statement(ROWS.select().where(_t.c.credential_hash == _p("credential_hash")))
_is_live = _t.c.state.in_([sa.literal_column(f"'{each}'") for each in _LIVE])
_SAID = Statement(
    sa.select(_d.c.said, _d.c.since).where(
        _d.c.agent_id == _p("agent_id"), _d.c.project_id == _p("project_id"), _d.c.purpose == _p("purpose")
    )
)
_SAY = upsert(
    _d,
    ["agent_id", "project_id", "purpose", "said", "since"],
    ["agent_id", "project_id", "purpose"],
    ["said", "since"],
)
_LIVE_OF = Statement(
    ROWS.select().where(_t.c.agent_id == _p("agent_id"), _t.c.project_id == _p("project_id"), _is_live)
)
_LIVE_OF_AGENT = Statement(
    ROWS.select().where(_t.c.agent_id == _p("agent_id"), _is_live).order_by(_t.c.ordered_at, _t.c.id)
)
_WITH_PROGRAM = Statement(
    ROWS.select()
    .where(
        _t.c.agent_id == _p("agent_id"),
        _t.c.provider == _p("provider"),
        sa.func.coalesce(_t.c.model, "") == _p("model"),
        sa.func.coalesce(_t.c.account, "") == _p("account"),
        sa.or_(_t.c.signed_in_at.is_not(None), _t.c.exit_error.is_not(None)),
    )
    .order_by(_t.c.id.desc())
    .limit(20)
)
_DOING_SINCE = Statement(ROWS.select().where(_is_live, _t.c.doing_at > _p("after")).order_by(_t.c.doing_at, _t.c.id))
_ALL_LIVE = Statement(ROWS.select().where(_is_live).order_by(_t.c.ordered_at, _t.c.id))
_ORDERED_BY = Statement(
    ROWS.select()
    .where(_t.c.coordinator_id == _p("coordinator_id"), _is_live, _t.c.state == "ordered")
    .order_by(_t.c.ordered_at, _t.c.id)
)
_ordered = sa.and_(_is_live, _t.c.state == "ordered")
_OVERDUE = Statement(ROWS.select().where(_ordered, _t.c.deadline <= _p("now")).order_by(_t.c.ordered_at, _t.c.id))
_NEXT_DEADLINE = Statement(sa.select(sa.func.min(_t.c.deadline)).where(_ordered, _t.c.deadline > _p("now")))
_HAVE_ONE = Statement(sa.select(_t.c.agent_id, _t.c.project_id).where(_is_live, _t.c.purpose == _p("purpose")))
_PROJECTS_OF = Statement(sa.select(_t.c.project_id).where(in_list(_t.c.id, "ids")).distinct())
_FENCE = Statement(
    sa.select(sa.func.max(_t.c.fence)).where(
        _t.c.agent_id == _p("agent_id"), _t.c.project_id == _p("project_id"), _t.c.purpose == _p("purpose")
    )
)
_LAST_OF_TASK = Statement(
    ROWS.select().where(_t.c.task_id == _p("task_id")).order_by(_t.c.ordered_at.desc(), _t.c.id.desc()).limit(1)
)
_newer = _t.alias("newer")
_LAST_STARTS = Statement(
    sa.select(_t.c.agent_id, sa.func.max(_t.c.ordered_at))
    .where(
        in_list(_t.c.agent_id, "agent_ids"),
        _t.c.project_id == _p("project_id"),
        _t.c.purpose == "task",
        _t.c.fence
        == sa.select(sa.func.max(_newer.c.fence))
        .where(_newer.c.agent_id == _t.c.agent_id, _newer.c.project_id == _t.c.project_id, _newer.c.purpose == "task")
        .scalar_subquery(),
    )
    .group_by(_t.c.agent_id)
)
_LAST_OF_TASKS = Statement(
    ROWS.select().where(
        in_list(_t.c.task_id, "task_ids"),
        _t.c.id
        == sa.select(_newer.c.id)
        .where(_newer.c.task_id == _t.c.task_id)
        .order_by(_newer.c.ordered_at.desc(), _newer.c.id.desc())
        .limit(1)
        .scalar_subquery(),
    )
)
_IN_WORKTREES = Statement(
    ROWS.select()
    .where(
        in_list(_t.c.task_id, "task_ids"),
        _t.c.purpose == "task",
        sa.or_(_is_live, sa.and_(_t.c.exit_reported_at.is_(None), _t.c.ended_at >= _p("since"))),
        sa.or_(_is_live, _t.c.coordinator_id.is_not(None)),
    )
    .order_by(_t.c.ordered_at, _t.c.id)
)
_LEFT_BEHIND = Statement(
    sa.select(_t.c.program_session)
    .where(
        _t.c.task_id == _p("task_id"),
        _t.c.agent_id == _p("agent_id"),
        _t.c.purpose == _p("purpose"),
        _t.c.provider == _p("provider"),
        sa.func.coalesce(_t.c.account, _t.c.provider) == _p("account"),
        _t.c.coordinator_id == _p("coordinator_id"),
        _t.c.exit_reported_at.is_not(None),
    )
    .order_by(_t.c.fence.desc())
    .limit(1)
)
_ADD = insert_or_ignore(_t, [*ROWS.names, "credential_hash"])
_SEEN = Statement(
    sa.update(_t).where(in_list(_t.c.id, "ids"), _is_live).values(seen_at=_p("now"), coordinator_id=_p("coordinator"))
)
_LOG_END = Statement(sa.select(sa.func.max(_l.c.start + _l.c.length)).where(_l.c.launch_id == _p("launch_id")))
_LOG = Statement(
    sa.select(_l.c.start, _l.c.text, _l.c.at)
    .where(_l.c.launch_id == _p("launch_id"), _l.c.start + _l.c.length > _p("after"))
    .order_by(_l.c.start)
)
_ADD_LOG = Statement(sa.insert(_l), columns=["launch_id", "start", "length", "text", "at"])
_LEAVE_OUT_LOG = Statement(
    sa.delete(_l).where(
        _l.c.launch_id == _p("launch_id"), _l.c.start >= _p("begin"), _l.c.start + _l.c.length <= _p("end")
    )
)
_LOGS_OF_OLD = Statement(
    sa.select(_l.c.launch_id)
    .join(_t, _t.c.id == _l.c.launch_id)
    .where(_l.c.launch_id < _p("before"), sa.not_(_is_live))
    .distinct()
    .order_by(_l.c.launch_id)
    .limit(_p("most", type_=sa.Integer))
)
_DELETE_LOGS = Statement(sa.delete(_l).where(in_list(_l.c.launch_id, "ids")))
_TAIL = Statement(sa.select(_t.c.log_tail, _t.c.usage).where(_t.c.id == _p("id")))


CHECKS = Rows(Check, _k)
_CHECK = Statement(CHECKS.select().where(_k.c.id == _p("id")))
_CHECKS_WAITING = Statement(CHECKS.select().where(_k.c.finished_at.is_(None)).order_by(_k.c.created_at, _k.c.id))
_CHECKS_OF_TASKS = Statement(
    CHECKS.select().where(in_list(_k.c.task_id, "task_ids")).order_by(_k.c.created_at, _k.c.id)
)
_OF_TASKS = Statement(ROWS.select().where(in_list(_t.c.task_id, "task_ids")).order_by(_t.c.ordered_at, _t.c.id))
_ADD_CHECK = Statement(sa.insert(_k), columns=CHECKS.names)


_PAGE = {
    "projects": in_list(_t.c.project_id, "projects"),
    "project_id": _t.c.project_id == _p("project_id"),
    "agent_id": _t.c.agent_id == _p("agent_id"),
    "task_id": _t.c.task_id == _p("task_id"),
    "since": sa.or_(_t.c.ended_at.is_(None), _t.c.ended_at >= _p("since")),
    "not_before": _t.c.ordered_at >= _p("not_before"),
    "until": _t.c.ordered_at < _p("until"),
    "after": _t.c.id < _p("after"),
    "live": _is_live,
}


@lru_cache(maxsize=64)
def _paging(names: tuple[str, ...]) -> Statement:
    """Ordered by id, which begins with the time of the order."""
    found = ROWS.select().where(*(_PAGE[name] for name in names)).order_by(_t.c.id.desc())
    return Statement(found.limit(_p("limit", type_=sa.Integer)))


class _Known:
    """Launches as their rows are or will be."""

    tables = frozenset({_t.name})

    def __init__(self) -> None:
        self.launches: dict[str, Launch] = {}


class Launches:
    """Each launch is read once and written once in a transaction: see `engine/unit_of_work.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def _known(self) -> dict[str, Launch]:
        return self._connection.unit.known(_Known).launches

    def _kept(self, rows: Iterable[Any]) -> list[Launch]:
        launches = ROWS.nouns(rows)
        known = self._known
        return [known.setdefault(launch.id, launch) for launch in launches]

    def _first(self, rows: Iterable[Any]) -> Launch | None:
        return next(iter(self._kept(rows)), None)

    def last_decision(self, agent_id: str, project_id: str, purpose: str) -> tuple[str, Millis] | None:
        """The last recorded decision, and since when."""
        row: Any = self._connection.one(_SAID, agent_id=agent_id, project_id=project_id, purpose=purpose)
        return None if row is None else (row[0], row[1])

    def remember_decision(self, agent_id: str, project_id: str, purpose: str, said: str, since: Millis) -> None:
        self._connection.run(_SAY, agent_id=agent_id, project_id=project_id, purpose=purpose, said=said, since=since)

    def find(self, launch_id: str) -> Launch | None:
        return self._known.get(launch_id) or self._first(self._connection.all(_ONE, id=launch_id))

    def find_all(self, launch_ids: Iterable[str]) -> list[Launch]:
        return self._kept(self._connection.all(_MANY, ids=list(launch_ids)))

    def by_credential(self, credential_hash: str) -> Launch | None:
        return self._first(self._connection.all(_BY_CREDENTIAL, credential_hash=credential_hash))

    def live_of(self, project_id: str, agent_id: str) -> dict[Purpose, Launch]:
        rows = self._connection.all(_LIVE_OF, project_id=project_id, agent_id=agent_id)
        return {launch.purpose: launch for launch in self._kept(rows)}

    def live_of_agent(self, agent_id: str) -> list[Launch]:
        """In all projects, oldest order first."""
        return self._kept(self._connection.all(_LIVE_OF_AGENT, agent_id=agent_id))

    def with_program(self, agent_id: str, program: Program) -> list[Launch]:
        """The newest launches of an agent with this program that have signed in or whose end was explained."""
        asked = {"provider": program.provider, "model": program.model or "", "account": program.account or ""}
        return self._kept(self._connection.all(_WITH_PROGRAM, agent_id=agent_id, **asked))

    def live(self) -> list[Launch]:
        return self._kept(self._connection.all(_ALL_LIVE))

    def have_one(self, purpose: Purpose) -> set[tuple[str, str]]:
        """Agent and project of every live launch of this purpose."""
        return {(row[0], row[1]) for row in self._connection.all(_HAVE_ONE, purpose=purpose.value)}

    def doing_since(self, after: Millis) -> list[Launch]:
        """Live launches of which something new was stored after this time."""
        return self._kept(self._connection.all(_DOING_SINCE, after=after))

    def overdue(self, now: Millis) -> list[Launch]:
        """Ordered launches whose sign-in time is over."""
        return self._kept(self._connection.all(_OVERDUE, now=now))

    def next_deadline(self, now: Millis) -> Millis | None:
        """The next sign-in deadline of an ordered launch."""
        found = self._connection.value(_NEXT_DEADLINE, now=now)
        return None if found is None else int(found)

    def projects_of(self, launch_ids: Iterable[str]) -> set[str]:
        return {row[0] for row in self._connection.all(_PROJECTS_OF, ids=list(launch_ids))}

    def in_worktrees(self, task_ids: Iterable[str], since: Millis) -> list[Launch]:
        """Launches on these tasks: live ones, and those ended since `since` without a reported process exit."""
        return self._kept(self._connection.all(_IN_WORKTREES, task_ids=list(task_ids), since=since))

    def ordered_by(self, coordinator_id: str) -> list[Launch]:
        return self._kept(self._connection.all(_ORDERED_BY, coordinator_id=coordinator_id))

    def next_fence(self, agent_id: str, project_id: str, purpose: Purpose) -> int:
        newest = self._connection.value(_FENCE, agent_id=agent_id, project_id=project_id, purpose=purpose.value)
        return int(newest or 0) + 1

    def session_left_behind(self, launch: Launch) -> Any:
        """The program session id of the previous launch on the same task, machine and account.

        None if that launch reported none, for example because it could not resume an older one: the next one starts
        fresh.
        """
        if launch.task_id is None or launch.coordinator_id is None:
            return None
        row: Any = self._connection.one(
            _LEFT_BEHIND,
            task_id=launch.task_id,
            agent_id=launch.agent_id,
            purpose=launch.purpose.value,
            provider=launch.provider,
            account=launch.account or launch.provider,
            coordinator_id=launch.coordinator_id,
        )
        return None if row is None else from_json(row[0])

    def last_of_task(self, task_id: str) -> Launch | None:
        return self._first(self._connection.all(_LAST_OF_TASK, task_id=task_id))

    def last_of_tasks(self, task_ids: Iterable[str]) -> dict[str, Launch]:
        """The newest launch of each of these tasks that has one."""
        found = self._kept(self._connection.all(_LAST_OF_TASKS, task_ids=list(task_ids)))
        return {launch.task_id: launch for launch in found if launch.task_id is not None}

    def last_starts(self, project_id: str, agent_ids: Iterable[str]) -> dict[str, Millis]:
        """When each of these agents was last started for a task of the project, if it ever was."""
        rows = self._connection.all(_LAST_STARTS, project_id=project_id, agent_ids=list(agent_ids))
        return {row[0]: row[1] for row in rows}

    def of_tasks(self, task_ids: Iterable[str]) -> list[Launch]:
        """Every launch for these main tasks, oldest first."""
        return self._kept(self._connection.all(_OF_TASKS, task_ids=list(task_ids)))

    def add(self, launch: Launch, credential_hash: str) -> bool:
        """Adds the launch; False if a live one of the same agent, project and purpose exists."""
        return self._connection.run(_ADD, **ROWS.values(launch), credential_hash=credential_hash) == 1

    def renew_credential(self, launch_id: str, credential_hash: str) -> None:
        self._connection.unit.change(_LAUNCH, (launch_id,), {"credential_hash": credential_hash})

    def save(self, before: Launch, after: Launch) -> None:
        changes = ROWS.changes(before, after)
        if not changes:
            return
        self._connection.unit.change(_LAUNCH, (after.id,), changes)
        known = self._known
        if after.id in known:
            # Only what differs: `before` may be older than what is known.
            written: Any = {name: getattr(after, name) for name in changes}
            known[after.id] = replace(known[after.id], **written)

    def seen(self, launch_ids: Iterable[str], coordinator_id: str, now: Millis) -> None:
        ids = list(launch_ids)
        if ids:
            self._connection.run(_SEEN, ids=ids, now=now, coordinator=coordinator_id)

    def listed(self, limit: int = 500, **wanted: str | None) -> list[Launch]:
        """Newest first; keys of `wanted`: project_id, agent_id, task_id."""
        given = {name: value for name, value in wanted.items() if value is not None}
        return self._kept(self._connection.all(_paging(tuple(given)), limit=limit, **given))

    def page(self, limit: int, **wanted: Any) -> list[Launch]:
        """Newest first. Keys of `wanted`: projects (a list), agent_id, task_id; since and until (alive at some time
        between; none ordered before not_before); after (the id of the last one shown); live (True).
        """
        given = {name: value for name, value in wanted.items() if value is not None}
        names = tuple(given)
        given.pop("live", None)
        return self._kept(self._connection.all(_paging(names), limit=limit, **given))

    def record_exit(self, launch_id: str, log_tail: str | None) -> None:
        self._connection.unit.change(_LAUNCH, (launch_id,), {"log_tail": log_tail})

    def exit_record(self, launch_id: str) -> tuple[str | None, Any]:
        """The tail of its log, and its usage as stored before the table of usages existed."""
        row: Any = self._connection.one(_TAIL, id=launch_id)
        return (None, None) if row is None else (row[0], from_json(row[1]))

    def log_end(self, launch_id: str) -> int:
        """How many characters of its output are stored."""
        return int(self._connection.value(_LOG_END, launch_id=launch_id) or 0)

    def append_log(self, launch_id: str, start: int, text: str, at: Millis | None = None) -> None:
        self._connection.run(_ADD_LOG, launch_id=launch_id, start=start, length=len(text), text=text, at=at)

    def leave_out_log(self, launch_id: str, begin: int, end: int) -> None:
        """Deletes the pieces that lie between these offsets: those after them keep theirs."""
        self._connection.run(_LEAVE_OUT_LOG, launch_id=launch_id, begin=begin, end=end)

    def log(self, launch_id: str, after: int) -> list[tuple[int, str, Millis | None]]:
        """The pieces that reach beyond this offset: where each begins, its text, and when it came, if that is known."""
        return [(row[0], row[1], row[2]) for row in self._connection.all(_LOG, launch_id=launch_id, after=after)]

    def delete_logs(self, before: str, most: int) -> int:
        """Deletes logs of at most `most` ended launches whose ids (ordered by time) come before this one."""
        over = [row[0] for row in self._connection.all(_LOGS_OF_OLD, before=before, most=most)]
        if over:
            self._connection.run(_DELETE_LOGS, ids=over)
        return len(over)

    def check(self, check_id: str) -> Check | None:
        return CHECKS.one(self._connection.one(_CHECK, id=check_id))

    def checks_of_tasks(self, task_ids: Iterable[str]) -> list[Check]:
        """Oldest first."""
        return CHECKS.nouns(self._connection.all(_CHECKS_OF_TASKS, task_ids=list(task_ids)))

    def checks_waiting(self) -> list[Check]:
        return CHECKS.nouns(self._connection.all(_CHECKS_WAITING))

    def add_check(self, check: Check) -> None:
        self._connection.run(_ADD_CHECK, **CHECKS.values(check))

    def save_check(self, before: Check, after: Check) -> None:
        changes = CHECKS.changes(before, after)
        if changes:
            self._connection.run(update_by_id(_k, tuple(changes)), this_id=after.id, **changes)
