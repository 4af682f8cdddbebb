"""Evaluates `when:` of subtasks: whether a condition holds, and what follows for the other subtasks. Pure.

A subtask named in a condition comes first, as with `depends_on`, but need not succeed. When it has ended, the condition
holds (the subtask continues) or not (the subtask is left out, and those that depend on it continue without it). A
failure that another subtask handles (`status: failed`) does not fail the plan, and subtasks that need the failed one
are left out. `playbook_session.py` carries this out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

CLOSED = ("completed", "failed", "cancelled")
RESULTS = {"success": "completed", "failed": "failed"}


class Standing(NamedTuple):
    """The state of a subtask. `over`: it has ended and will not be retried."""

    title: str
    status: str
    over: bool = False
    summary: str = ""
    waits_for: frozenset[str] = frozenset()


Standings = Mapping[str, Standing]
"""By the id that the plan gives each subtask."""


class OfSubtask(NamedTuple):
    """How another subtask ended."""

    subtask: str
    statuses: tuple[str, ...] = CLOSED
    summary_matches: str | None = None

    def against(self, standings: Standings) -> str | None:
        """Why it does not hold; None if it does. To be asked when that subtask is over."""
        other = standings[self.subtask]
        if other.status not in self.statuses:
            return f"“{other.title}” is {other.status}, not {' or '.join(self.statuses)}"
        if self.summary_matches is not None and not re.search(self.summary_matches, other.summary):
            return f"the summary of “{other.title}” does not match /{self.summary_matches}/"
        return None

    def words(self) -> str:
        said = [] if self.statuses == CLOSED else [f"is {' or '.join(self.statuses)}"]
        if self.summary_matches is not None:
            said.append(f"has a summary like /{self.summary_matches}/")
        return f"{self.subtask} {' and '.join(said) or 'has ended'}"

    @property
    def provides(self) -> bool:
        """It was planned for a failure: it would not hold after a success."""
        return "failed" in self.statuses and "completed" not in self.statuses


class OfVariable(NamedTuple):
    """The value of a variable for this task. `named` is its name in the plan."""

    named: str
    value: str
    equals: str | None = None
    not_equals: str | None = None
    matches: str | None = None

    def against(self, _: Standings) -> str | None:
        if self.equals is not None and self.value != self.equals:
            return f"{self.named} is {self.value!r}, not {self.equals!r}"
        if self.not_equals is not None and self.value == self.not_equals:
            return f"{self.named} is {self.value!r}"
        if self.matches is not None and not re.search(self.matches, self.value):
            return f"{self.named} is {self.value!r}, which does not match /{self.matches}/"
        return None

    def words(self) -> str:
        wanted = [f"is {self.equals!r}"] if self.equals is not None else []
        wanted += [f"is not {self.not_equals!r}"] if self.not_equals is not None else []
        wanted += [f"matches /{self.matches}/"] if self.matches is not None else []
        return f"{self.named} ({self.value!r}) {' and '.join(wanted)}"


Condition = OfSubtask | OfVariable


class Conditional(Protocol):
    """The parts of a step that matter here."""

    @property
    def id(self) -> str: ...
    @property
    def depends_on(self) -> tuple[str, ...]: ...
    @property
    def when(self) -> tuple[Condition, ...]: ...


class LeaveOut(NamedTuple):
    """Cancel it, with the reason."""

    id: str
    reason: str


class GoOn(NamedTuple):
    """It no longer waits for these subtasks."""

    id: str
    without: tuple[str, ...]


Decision = LeaveOut | GoOn


def condition_of(raw: Mapping[str, Any], named: str) -> Condition:
    """A condition of a checked plan, its variables filled in; `named` is its variable as it was written."""
    if raw.get("variable") is not None:
        how = {name: None if raw[name] is None else text(raw[name]) for name in ("equals", "not_equals", "matches")}
        return OfVariable(named, text(raw["variable"]), **how)
    statuses: tuple[str, ...] = CLOSED
    if raw.get("result"):
        statuses = (RESULTS[raw["result"]],)
    elif raw.get("status"):
        statuses = CLOSED if "closed" in raw["status"] else tuple(raw["status"])
    return OfSubtask(raw["subtask"], statuses, raw.get("summary_matches"))


def text(value: Any) -> str:
    """As it would be written in YAML: conditions compare words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def named_in(step: Conditional) -> tuple[str, ...]:
    """The subtasks that its conditions are about."""
    return tuple(dict.fromkeys(each.subtask for each in step.when if isinstance(each, OfSubtask)))


def comes_after(step: Conditional) -> tuple[str, ...]:
    """All that must have ended before it: what it depends on, and what its conditions name."""
    return tuple(dict.fromkeys((*step.depends_on, *named_in(step))))


def in_words(step: Conditional) -> str:
    return " and ".join(each.words() for each in step.when)


class Situation:
    """The steps of a plan and the state of each."""

    def __init__(self, steps: Sequence[Conditional], standings: Standings) -> None:
        self.steps = steps
        self.standings = standings
        self._by_id = {step.id: step for step in steps}

    def decided(self, step: Conditional) -> bool:
        """Whether everything that its conditions name is closed."""
        return all(each in self.standings and self.standings[each].over for each in named_in(step))

    def against(self, step: Conditional) -> str | None:
        """Why it is not needed; None if it is, or if that is not known yet."""
        if not self.decided(step):
            return None
        return next((why for each in step.when if (why := each.against(self.standings)) is not None), None)

    def holds(self, step: Conditional) -> bool:
        return self.decided(step) and self.against(step) is None

    def provided_for(self, step_id: str) -> bool:
        """It failed for good, and the plan has a subtask for just that, which is not left out."""
        it = self.standings.get(step_id)
        return it is not None and it.status == "failed" and it.over and any(self._taken_care_of_by(step_id))

    def left_out(self, step_id: str) -> str | None:
        """Why the condition left out a cancelled subtask; None if it was cancelled for another reason."""
        step, it = self._by_id.get(step_id), self.standings.get(step_id)
        return self.against(step) if step is not None and it is not None and it.status == "cancelled" else None

    def in_vain(self, step_id: str) -> str | None:
        """Why a subtask cannot be done although the plan continues: a task that it needs failed, as the plan allows."""
        step = self._by_id.get(step_id)
        if step is None:
            return None
        for dependency in step.depends_on:
            if dependency in named_in(step) or dependency not in self.standings:
                continue
            if self.provided_for(dependency):
                return f"it needs “{self.standings[dependency].title}”, which failed"
            if (
                self.standings[dependency].status == "cancelled"
                and not self.left_out(dependency)
                and self.in_vain(dependency)
            ):
                return f"it needs “{self.standings[dependency].title}”, which was left out"
        return None

    def decisions(self) -> Iterator[Decision]:
        """What follows now for those that have not begun; nothing once all of it was carried out."""
        for step in self.steps:
            it = self.standings.get(step.id)
            if it is None or it.status != "todo":
                continue
            why = self.against(step) or self.in_vain(step.id)
            if why is not None:
                yield LeaveOut(step.id, why)
            elif without := tuple(other for other in sorted(it.waits_for) if self._may_be_missing(step, other)):
                yield GoOn(step.id, without)

    def _taken_care_of_by(self, step_id: str) -> Iterator[bool]:
        for step in self.steps:
            it = self.standings.get(step.id)
            planned = [each for each in step.when if isinstance(each, OfSubtask) and each.subtask == step_id]
            if it is not None and it.status != "cancelled" and any(condition.provides for condition in planned):
                yield self.holds(step)

    def _may_be_missing(self, step: Conditional, other: str) -> bool:
        if other in named_in(step):
            return self.holds(step) and self.standings[other].status != "completed"
        return self.left_out(other) is not None
