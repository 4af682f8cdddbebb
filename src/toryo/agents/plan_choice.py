"""Selects the plan for a task and fills in its variables. Pure, and without the code that validates playbooks."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toryo.agents import conditions
from toryo.agents.conditions import Condition
from toryo.formats import command_templates
from toryo.formats.command_templates import VARIABLE, Unfit
from toryo.formats.plan_patterns import FACTS, compile_pattern


class Step(NamedTuple):
    """One subtask with its variables filled in."""

    id: str
    title: str
    description: str
    depends_on: tuple[str, ...]
    priority: str
    retry: int
    assignee: str | None = None
    capability: str | None = None
    context: Mapping[str, Any] | None = None
    acceptance: Sequence[Mapping[str, Any]] = ()
    touches: Sequence[str] = ()
    run: str | list[str] | None = None
    timeout_seconds: float | None = None
    when: tuple[Condition, ...] = ()


class NoPlan(Exception):
    """The playbook has no plan for a task, or an incomplete one; `str()` says what is missing."""


def plan_for(playbook: Mapping[str, Any], task: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps for this task: of the first plan whose pattern fits its title. Raises NoPlan."""
    title = str(task.get("title") or "")
    for plan in playbook["tasks"]:
        groups = fits(plan["match"], title)
        if groups is not None:
            return _steps(plan, _variables(plan, task, groups))
    patterns = ", ".join(f"'{each['match']}'" for each in playbook["tasks"])
    raise NoPlan(f"The playbook has no plan for the title {title!r}; it has plans for {patterns}.")


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Each after what must have ended before it; else as written (a checked playbook has no circles)."""
    done: dict[str, Step] = {}
    while len(done) < len(steps):
        ready = [step for step in steps if step.id not in done and set(conditions.comes_after(step)) <= set(done)]
        done.update({step.id: step for step in ready or steps})
    return list(done.values())


def fits(pattern: str, title: str) -> dict[str, str] | None:
    """The groups of the match (by name and number); None if the pattern matches in no form (text, RE, glob)."""
    if pattern == title:
        return {}
    regular = compile_pattern(pattern)
    found = regular.fullmatch(title) if regular else None
    if found is not None:
        numbered = {str(number): value or "" for number, value in enumerate(found.groups(), 1)}
        return numbered | {name: value or "" for name, value in found.groupdict().items()}
    return {} if fnmatch.fnmatchcase(title, pattern) else None


def fill(value: Any, variables: Mapping[str, Any]) -> Any:
    """Every `{{name}}` in a nest of texts replaced; a text that is nothing but one keeps the variable's type.

    Not for commands: see `command_templates.fill`.
    """
    if isinstance(value, str):
        whole = VARIABLE.fullmatch(value.strip())
        if whole:
            return _value(whole[1], variables)
        return VARIABLE.sub(lambda found: str(_value(found[1], variables)), value)
    if isinstance(value, Mapping):
        return {key: fill(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [fill(each, variables) for each in value]
    return value


def _variables(plan: Mapping[str, Any], task: Mapping[str, Any], groups: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {name: task.get(name) or "" for name in FACTS} | dict(groups)
    context = task.get("context")
    found["context"] = context if isinstance(context, Mapping) else {}
    for name, value in plan["variables"].items():
        found[name] = fill(value, found)
    return found


def _steps(plan: Mapping[str, Any], variables: Mapping[str, Any]) -> tuple[Step, ...]:
    lists = {subtask["id"]: _items(subtask, variables) for subtask in plan["subtasks"]}
    made = _Made({subtask["id"]: subtask.get("for_each") for subtask in plan["subtasks"]}, lists)
    steps = [
        _step(raw, plan["retry"], {**variables, "item": item}, made, number)
        for raw in plan["subtasks"]
        for number, item in enumerate(lists[raw["id"]], 1)
    ]
    if not steps:
        raise NoPlan("The plan creates no subtasks for this task: its lists are empty.")
    return tuple(steps)


def _items(raw: Mapping[str, Any], variables: Mapping[str, Any]) -> list[Any]:
    """What a subtask is made for, each thing once; nothing but one None without `for_each`."""
    if raw.get("for_each") is None:
        return [None]
    found = fill(raw["for_each"], variables)
    if not isinstance(found, list):
        raise NoPlan(f"for_each of {raw['id']} needs a list, but this task has {found!r}.")
    return [each for number, each in enumerate(found) if each not in found[:number]]


class _Made(NamedTuple):
    """Which subtasks are made for the things of a list, and the ids that they get."""

    written: Mapping[str, Any]
    lists: Mapping[str, list[Any]]

    def id(self, name: str, number: int) -> str:
        return name if self.written.get(name) is None else f"{name}-{number}"

    def ids(self, name: str, asker: str, number: int) -> list[str]:
        """Those a subtask means by a name: the one for the same thing, where both are made for the same list."""
        if self.written.get(name) == self.written[asker]:
            return [self.id(name, number)]
        return [self.id(name, each) for each in range(1, len(self.lists[name]) + 1)]


def _step(raw: Mapping[str, Any], retry: int, variables: Mapping[str, Any], made: _Made, number: int) -> Step:
    apart = ("id", "depends_on", "when", "for_each")
    each = fill({name: value for name, value in raw.items() if name not in apart}, variables)
    _fill_commands(each, raw, variables)
    texts = {name: str(each[name]) for name in ("title", "description", "priority")}
    return Step(
        id=made.id(raw["id"], number),
        depends_on=tuple(other for name in raw["depends_on"] for other in made.ids(name, raw["id"], number)),
        retry=retry if raw["retry"] is None else raw["retry"],
        assignee=each["assignee"] or None,
        capability=each["capability"] or None,
        context=each["context"] or None,
        acceptance=tuple(each["acceptance"]),
        touches=tuple(map(str, each["touches"])),
        run=each["run"],
        timeout_seconds=each["timeout_seconds"],
        when=tuple(_condition(one, variables, made, number) for one in raw.get("when") or ()),
        **texts,
    )


def _fill_commands(subtask: dict[str, Any], raw: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Commands are filled in their own way: as texts they would be the value's, not the plan's."""
    for path, command in command_templates.within(raw):
        at: Any = subtask
        for part in path[:-1]:
            at = at[part]
        try:
            at[path[-1]] = command_templates.fill(command, lambda name: _value(name, variables))
        except Unfit as wrong:
            raise NoPlan(f"{'.'.join(map(str, path))} of {raw['id']}: {wrong}") from None


def _condition(raw: Mapping[str, Any], variables: Mapping[str, Any], made: _Made, number: int) -> Condition:
    literal = {name: raw.get(name) for name in ("status", "result")}
    subtask = made.id(raw["subtask"], number) if raw.get("subtask") is not None else None
    return conditions.condition_of({**fill(raw, variables), **literal, "subtask": subtask}, str(raw.get("variable")))


def _value(name: str, variables: Mapping[str, Any]) -> Any:
    at: Any = variables
    for part in [name] if name in variables else name.split("."):
        if not isinstance(at, Mapping) or part not in at:
            raise NoPlan(f"The plan needs {{{{{name}}}}}, but this task has no such value.")
        at = at[part]
    return at
