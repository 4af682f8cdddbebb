"""What is the same state: every row a decision reads, without ids, texts and the clock.

Times are classes of how long ago or how far ahead; positions in the log are what has happened since. So two states
that are told apart may behave alike, and (rarely: a second before a limit) two that are not may differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson
import sqlalchemy as sa

from tests.exploring.memory import InMemory
from tests.invariants import CLOSED, Row, Rows, place
from toryo.storage import schema
from toryo.storage.engine.statements import Statement

_IDS = re.compile(r"(?:prj|tsk|ses|lau|msg|cnv|dlg|ntf|hnd|evt|err|key|job|mqe|sch|run)_\w+")
_AGES = (5, 45, 59, 90, 119, 299, 599, 1799, 3599, 86_399)
"""Seconds: where something may change."""
_ALL = {table.name: table for table in schema.metadata.sorted_tables if table is not schema.directory}
_READ = {name: Statement(sa.select(table)) for name, table in _ALL.items()}
_NEWER = Statement(sa.select(schema.events).where(schema.events.c.sequence > sa.bindparam("after")))
_COLUMNS = {name: [column.name for column in table.columns] for name, table in _ALL.items()}


class Reader:
    """Every row, each table read again only after it was written."""

    def __init__(self, database: InMemory) -> None:
        self.database = database
        self.kept: dict[str, list[Row]] = {}

    def rows(self) -> Rows:
        connection = self.database.connection
        written, connection.written = connection.written, set()
        if "" in written:
            written = set(_ALL)
        for name in _ALL:
            if name in written or name not in self.kept:
                columns, before = _COLUMNS[name], []
                if name == "events" and self.kept.get(name):  # it only grows
                    before = self.kept[name]
                    found = connection.all(_NEWER, after=before[-1]["sequence"])
                else:
                    found = connection.all(_READ[name])
                self.kept[name] = before + [dict(zip(columns, row, strict=True)) for row in found]
        return Rows(dict(self.kept))


def age(time: int | None, now: int) -> int | None:
    """Classes of times past (0 and more) and ahead (below 0)."""
    if time is None:
        return None
    seconds = (now - time) / 1000
    if seconds >= 0:
        return sum(seconds > each for each in _AGES)
    return -1 - sum(-seconds > each for each in _AGES)


_POSITIONS = ("look_event", "left_event", "stalled_event")
_IN_SESSIONS = ("fetched_event", "choice_event", "told_event", "idle_event")
_CLOSED = ("id", "parent_id", "status", "assignee_id", "attempt", "blocked_by_person")
_TASK = (
    "id", "project_id", "parent_id", "status", "priority", "assignee_id", "agent_type", "created_by",
    "approval", "requested_by", "attempt", "parent_attempt", "children_ever", "worked_attempt", "blocked_by",
    "blocked_by_person", "blocked_by_guard", "blocked_cause", "blocked_from", "blocked_on", "look_dispatchable",
    "unreported_ends", "idle_launches", "has_acceptance", "checks", "moved_session",
)  # fmt: skip
_SESSION = (
    "id", "agent_id", "project_id", "purpose", "task_id", "launch_id", "model_id", "choice", "refused_for_delegation",
    "delegation_waits", "told", "told_times", "refusals", "runaway",
)  # fmt: skip
_LAUNCH = (
    "id", "agent_id", "project_id", "purpose", "task_id", "state", "coordinator_id", "told_to_leave",
    "refused_at_sign_in", "stop_reason", "by_passkey", "takes_slot",
)  # fmt: skip
_CONVERSATION = (
    "id", "low_id", "high_id", "initiator_id", "state", "turns", "max_turns", "turn_of", "delegation_id", "settled",
)  # fmt: skip
_DELEGATION = (
    "id", "agent_id", "task_id", "target_agent_id", "await_result", "status", "attempt", "session_id",
    "conversation_id",
)  # fmt: skip

_ENTRY = ("task_id", "state", "position", "part", "job_id", "sent_back", "removal_by", "trouble", "changes_task_id")


def canonical(rows: Rows, now: int, hands: object, launches: frozenset[str]) -> str:
    """`hands` are the processes as they stand, `launches` theirs."""
    found: list[object] = [hands]

    def take(table: str, columns: tuple[str, ...], *times: str, where: Callable[[Row], Any] = bool) -> None:
        found.append(table)
        found.extend(
            [*(row[column] for column in columns), *(age(row[time], now) for time in times)]
            for row in rows[table]
            if where(row)
        )

    facts = _facts(rows)
    live = {session["id"] for session in rows["sessions"] if session["ended_at"] is None}
    take("projects", ("id", "status", "settings"), "paused_at")
    take("agents", ("id", "role", "reports_to", "status", "provider", "max_parallel_tasks"), "deactivated_at")
    take("memberships", ("project_id", "agent_id"), "removed_at")
    take("cooldowns", ("agent_id", "purpose", "program", "reason", "failures"), "until")
    take("accounts", ("id", "reason"), "until")
    found.append("tasks")
    for task in sorted(rows["tasks"], key=_order):
        if task["status"] in CLOSED:
            found.append([task[name] for name in _CLOSED])
            continue
        news = [_since(facts, task[name], task) for name in _POSITIONS]
        wait = task["wait"] and [part for part in orjson.loads(task["wait"]) if not isinstance(part, int)]
        times = [age(task[name], now) for name in ("moved_at", "not_before", "checked_at")]
        found.append([[task[name] for name in _TASK], news, wait, times])
    waiting = [task for task in sorted(rows["tasks"], key=_order) if task["status"] == "todo"]
    found.append([waiting.index(task) for task in sorted(waiting, key=place)])
    take("dependencies", ("task_id", "depends_on"))
    found.append("sessions")
    for session in rows["sessions"]:
        if session["id"] in live:
            news = [_since(facts, session[name], {"root_id": session["root_id"]}) for name in _IN_SESSIONS]
            times = [age(session[name], now) for name in ("expires_at", "created_at", "heard_at", "fetched_at")]
            counts = [session["idle_calls"] // 50, session["calls"] // 100]
            found.append([[session[name] for name in _SESSION], news, times, counts])
    take(
        "launches", _LAUNCH, "deadline", "seen_at", "stop_since", "ended_at",
        where=lambda each: each["state"] in ("ordered", "signed_in") or each["id"] in launches,
    )  # fmt: skip
    take("claims", ("task_id", "attempt", "agent_id", "launch_id"), "expires_at", where=_is_open)
    take("delegations", _DELEGATION, "created_at")
    take("questions", ("task_id", "agent_id", "alike", "state"))
    take("conversations", _CONVERSATION, "created_at", "last_turn_at", "told_initiator_at", "told_partner_at")
    cursors = {(mailbox["project_id"], mailbox["agent_id"]): mailbox["cursor"] for mailbox in rows["mailboxes"]}
    take(
        "messages", ("kind", "from_agent_id", "to_agent_id", "conversation_id", "used_for"), "created_at",
        where=lambda each: each["sequence"] > cursors.get((each["project_id"], each["to_agent_id"]), 0),
    )  # fmt: skip
    take("mailboxes", ("project_id", "agent_id", "handed_session", "handed_endings"), "waiting_since", "left_at")
    take("viewers", ("agent_id", "person_id"), "seen_at", where=lambda each: each["closed_at"] is None)
    take("notifications", ("agent_id", "purpose", "task_id", "kind", "cause"), where=_undelivered)
    take("handoffs", ("task_id", "to_agent_id"), where=lambda each: each["accepted_at"] is None)
    take("presences", ("agent_id", "agent_type"), "seen_at", "offline_at")
    take(
        "worktree_jobs",
        ("kind", "task_id", "coordinator_id"),
        "taken_at",
        where=lambda each: each["finished_at"] is None,
    )
    take("worktrees", ("task_id", "coordinator_id", "state", "commits", "trouble"))
    take("schedules", ("name", "overlap", "state", "failures", "runs"), "next_at", "buffered")
    take("merge_queues", ("project_id",), "paused_at")
    take("merge_queue_entries", _ENTRY, "retry_at", where=lambda each: _is_newest(rows, each))
    take("checks", ("task_id", "launch_id"), "taken_at", where=lambda each: each["finished_at"] is None)
    spent = spent_today(rows, now)
    found.append([(project["id"], round(spent[project["id"]], 2)) for project in rows["projects"]])
    if used_up(rows, now):
        found.append(now // 3_600_000 % 24)
    return _without_ids(repr(found))


def spent_today(rows: Rows, now: int) -> Counter[str]:
    """Dollars, by project."""
    spent: Counter[str] = Counter()
    for usage in rows["usages"]:
        if usage["day"] == now // 86_400_000:
            spent[usage["project_id"]] += usage["cost_usd"] or 0
    return spent


def used_up(rows: Rows, now: int) -> set[str]:
    """Projects that may spend no more today."""
    spent = spent_today(rows, now)
    budgets = {project["id"]: orjson.loads(project["settings"]).get("budget_per_day") for project in rows["projects"]}
    return {each for each, budget in budgets.items() if budget is not None and spent[each] >= budget}


def _facts(rows: Rows) -> list[Row]:
    """Those after the oldest position that somebody remembers, newest last."""
    positions = [
        each[name]
        for table, names in (("tasks", _POSITIONS), ("sessions", _IN_SESSIONS))
        for each in rows[table]
        for name in names
        if each[name] is not None and (table == "tasks" or each["ended_at"] is None)
    ]
    first, found = min(positions, default=10**15), []
    for event in reversed(rows["events"]):
        if event["sequence"] <= first:
            break
        if event["fact"]:
            found.append(event)
    return found


def _order(task: Row) -> tuple[Any, ...]:
    return task["created_at"], task["ordinal"], task["title"]


def _is_open(row: Row) -> bool:
    return row["ended_at"] is None


def _is_newest(rows: Rows, entry: Row) -> bool:
    return not any(
        other["task_id"] == entry["task_id"] and other["added_at"] > entry["added_at"]
        for other in rows["merge_queue_entries"]
    )


def _undelivered(row: Row) -> bool:
    return row["delivered_at"] is None


def _since(facts: list[Row], position: int | None, task: Row) -> object:
    """What has happened in its tree, or to who is who, since that position; None without one."""
    if position is None:
        return None
    root = task["root_id"]
    return sorted({
        (fact["kind"], fact["task_id"] or "", bool(fact["by_person"]), fact["agent_id"] or "")
        for fact in facts
        if fact["sequence"] > position and fact["root_id"] in (root, "setup")
    })  # fmt: skip


def _without_ids(text: str) -> str:
    """Each id is the number of its first appearance."""
    numbers: dict[str, str] = {}
    return _IDS.sub(lambda found: numbers.setdefault(found[0], f"#{len(numbers)}"), text)
