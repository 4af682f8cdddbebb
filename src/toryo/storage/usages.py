"""Usage per launch, as rows that are updated as it grows; and sums of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Launch
from toryo.domain.times import Millis
from toryo.domain.usages import Spent, Usage, date_of, day_of
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list, upsert

_u, _r = schema.usages, schema.usage_days
_p = sa.bindparam

_NAMES = [column.name for column in _u.columns]
_PUT = upsert(_u, _NAMES, ["launch_id"], [each for each in _NAMES if each != "launch_id"])
_USED = (
    _u.c.input_tokens,
    _u.c.cached_tokens,
    _u.c.output_tokens,
    _u.c.cost_usd,
    _u.c.turns,
    _u.c.tool_calls,
    _u.c.model,
    _u.c.lower_bound,
)
_ONE = Statement(sa.select(*_USED).where(_u.c.launch_id == _p("launch_id")))
_MANY = Statement(sa.select(_u.c.launch_id, *_USED).where(in_list(_u.c.launch_id, "launch_ids")))
_SPENT = (sa.func.sum(_u.c.input_tokens + _u.c.output_tokens), sa.func.sum(_u.c.cost_usd))
_SPENT_BY_PROJECT = Statement(
    sa.select(_u.c.project_id, *_SPENT)
    .where(in_list(_u.c.project_id, "projects"), _u.c.day == _p("day"))
    .group_by(_u.c.project_id)
)
_SPENT_BY_AGENT = Statement(sa.select(*_SPENT).where(_u.c.agent_id == _p("agent_id"), _u.c.day == _p("day")))
_LAST_OF_DAY = Statement(
    sa.select(sa.func.max(_u.c.updated_at)).where(_u.c.project_id == _p("project_id"), _u.c.day == _p("day"))
)
Group = Literal["day", "project_id", "agent_id", "task_id", "provider", "model", "purpose", "launch_id"]
"""What sums can be grouped by."""
KEYS = ("project_id", "day", "agent_id", "task_id", "purpose", "provider", "model")
"""What the sums of deleted launches are kept by."""
_COUNTS = ("input_tokens", "cached_tokens", "output_tokens")
RAW = (*_COUNTS, "cost_usd", "turns", "tool_calls", "lower_bound")
SUMS = ("launches", *_COUNTS, "cost_usd", "turns", "tool_calls", "without_price", "lower_bounds")
_OF_LAUNCH = {
    "launches": sa.literal(1),
    **{name: _u.c[name] for name in (*_COUNTS, "cost_usd", "turns", "tool_calls")},
    "without_price": sa.case((_u.c.cost_usd.is_(None), 1), else_=0),
    "lower_bounds": sa.case((_u.c.lower_bound, 1), else_=0),
}
"""What a launch adds to each sum."""


class Sums(TypedDict):
    """Total usage of some launches. `without_price`: launches without a cost; `lower_bounds`: launches with partial
    usage.
    """

    launches: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    turns: int
    tool_calls: int
    cost_usd: float | None
    without_price: int
    lower_bounds: int


class Row(Sums):
    """A sum with the values of its groups."""

    day: NotRequired[str]
    agent_id: NotRequired[str]
    project_id: NotRequired[str]
    task_id: NotRequired[str | None]
    title: NotRequired[str | None]
    """Of the task, if it is still there."""
    launch_id: NotRequired[str | None]
    provider: NotRequired[str | None]
    model: NotRequired[str | None]
    purpose: NotRequired[str]


def _clauses(table: sa.Table, given: tuple[str, ...]) -> list[sa.ColumnElement[bool]]:
    clauses = {
        "projects": in_list(table.c.project_id, "projects"),
        "tasks": in_list(table.c.task_id, "tasks"),
        "agent_id": table.c.agent_id == _p("agent_id"),
        "since_day": table.c.day >= _p("since_day"),
        "until_day": table.c.day <= _p("until_day"),
    }
    return [clauses[name] for name in given]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters of a sum; both days are included."""

    projects: list[str] | None = None
    tasks: list[str] | None = None
    agent_id: str | None = None
    since_day: int | None = None
    until_day: int | None = None

    def given(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


class Usages:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, launch: Launch, usage: Usage, now: Millis) -> None:
        """Replaces the stored usage of this launch."""
        self._connection.run(
            _PUT,
            launch_id=launch.id,
            project_id=launch.project_id,
            agent_id=launch.agent_id,
            task_id=launch.task_id,
            purpose=launch.purpose.value,
            provider=launch.provider,
            model=usage.model or launch.model,
            day=day_of(launch.ordered_at),
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            turns=usage.turns,
            tool_calls=usage.tool_calls,
            lower_bound=usage.lower_bound,
            updated_at=now,
        )

    def of_launch(self, launch_id: str) -> Usage | None:
        row: Any = self._connection.one(_ONE, launch_id=launch_id)
        return None if row is None else Usage(*row)

    def of_launches(self, launch_ids: Iterable[str]) -> dict[str, Usage]:
        """By launch; those whose programs have told nothing are missing."""
        rows: list[Any] = self._connection.all(_MANY, launch_ids=list(launch_ids))
        return {row[0]: Usage(*row[1:]) for row in rows}

    def spent_by(self, project_id: str, day: int) -> Spent:
        return self.spent([project_id], day).get(project_id, Spent())

    def spent_by_agent(self, agent_id: str, day: int) -> Spent:
        """In all of its projects, on a day."""
        return _spent(self._connection.one(_SPENT_BY_AGENT, agent_id=agent_id, day=day))

    def spent_on(self, task_ids: list[str]) -> Spent:
        """For these tasks, on all days: of launches that are kept, and of those that are not."""
        [found] = self.sums((), Wanted(tasks=task_ids), 1)
        return Spent(found["input_tokens"] + found["output_tokens"], found["cost_usd"] or 0.0)

    def spent(self, projects: list[str], day: int) -> dict[str, Spent]:
        """By project, on a day; those that have used nothing are missing."""
        rows: list[Any] = self._connection.all(_SPENT_BY_PROJECT, projects=projects, day=day)
        return {row[0]: _spent(row[1:]) for row in rows}

    def used_up_at(self, project_id: str, day: int) -> Millis | None:
        """When usage of that day was last recorded."""
        found = self._connection.value(_LAST_OF_DAY, project_id=project_id, day=day)
        return None if found is None else int(found)

    def sums(self, by: tuple[Group, ...], wanted: Wanted, most: int) -> list[Row]:
        """One sum for each combination of the groups, unordered, at most `most`; without groups one row."""
        given = wanted.given()
        rows = self._connection.all(_summing(by, tuple(given)), most=most, **given)
        return [_summed(by, row) for row in rows]


def _spent(row: Any) -> Spent:
    """Both databases return null for a sum of no rows."""
    return Spent(int(row[0] or 0), float(row[1] or 0))


@lru_cache(maxsize=256)
def _summing(by: tuple[Group, ...], given: tuple[str, ...]) -> Statement:
    """Of the launches that are there and the sums of those that are not."""
    launches = sa.select(
        *(_u.c[name] for name in by), *(value.label(name) for name, value in _OF_LAUNCH.items())
    ).where(*_clauses(_u, given))
    days = sa.select(*(_of_day(name) for name in by), *(_r.c[name] for name in SUMS)).where(*_clauses(_r, given))
    both = sa.union_all(launches, days).subquery("both")
    statement = sa.select(*(both.c[name] for name in by), *(sa.func.sum(both.c[name]).label(name) for name in SUMS))
    if by:
        statement = statement.group_by(*(both.c[name] for name in by))
    return Statement(statement.limit(_p("most", type_=sa.Integer)))


def _of_day(name: Group) -> sa.ColumnElement[Any]:
    """As a launch says it: nothing instead of an empty text, and no launch by name."""
    if name == "launch_id":
        return sa.cast(sa.null(), sa.Text).label(name)
    return (sa.func.nullif(_r.c[name], "") if name in ("task_id", "provider", "model") else _r.c[name]).label(name)


def summed_launch(row: Any) -> dict[str, Any]:
    """What `KEYS` and `RAW` of a launch add to the sums that are kept."""
    keys = {name: "" if value is None else value for name, value in zip(KEYS, row[: len(KEYS)], strict=True)}
    raw = dict(zip(RAW, row[len(KEYS) :], strict=True))
    lower_bound, cost = bool(raw.pop("lower_bound")), raw["cost_usd"]
    return {**keys, **raw, "launches": 1, "without_price": int(cost is None), "lower_bounds": int(lower_bound)}


def _summed(by: tuple[Group, ...], row: Any) -> Row:
    """PostgreSQL returns sums of integers as decimals, and both databases null for a sum of no rows."""
    sums = dict(zip(SUMS, row[len(by) :], strict=True))
    cost = sums.pop("cost_usd")
    whole = {name: int(each or 0) for name, each in sums.items()}
    money = None if cost is None else round(float(cost), 6)
    keys = {name: date_of(each).isoformat() if name == "day" else each for name, each in zip(by, row, strict=False)}
    summed: Any = {**keys, **whole, "cost_usd": money}
    found: Row = summed
    return found
