"""`--clear NAME` of the commands that edit something: removes what was set. What can be cleared is one table, in
`domain/clearable_fields.py`; here are the names by which people know it, those of the options that set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from toryo.cli.command_context import NULL, option
from toryo.cli.exit_codes import Misuse
from toryo.deeds import OPTION_OF
from toryo.domain import clearable_fields
from toryo.nearest import nearest

OPERATIONS = {
    "agent": "edit_agent",
    "project": "edit_project",
    "task": "edit_task",
    "person": "change_person",
    "schedule": "edit_schedule",
    "webhook": "edit_webhook",
    "quota": "edit_quota",
}
"""By the group of commands: what its `edit` calls."""


def option_of(parameter: str) -> str:
    """The name of the option that sets a parameter, with underscores."""
    return OPTION_OF.get(parameter, parameter.removesuffix("_id"))


def fields(kind: str) -> dict[str, dict[str, Any]]:
    """By the name that is typed: what is sent to clear it."""
    found: dict[str, dict[str, Any]] = {}
    for field, value in clearable_fields.CLEARED[OPERATIONS[kind]].items():
        if isinstance(value, dict) and value:
            found |= {name: {field: {name: each}} for name, each in value.items()}
        else:
            found[option_of(field).replace("_", "-")] = {field: NULL if value is None else value}
    return found


def _option(kind: str) -> Any:
    names = list(fields(kind))
    told = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return option("NAME", f"Clear its {told}; repeatable.", "--clear", complete=_completion(names))


def _completion(names: Iterable[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


OfAgent = Annotated[list[str] | None, _option("agent")]
OfProject = Annotated[list[str] | None, _option("project")]
OfTask = Annotated[list[str] | None, _option("task")]
OfSchedule = Annotated[list[str] | None, _option("schedule")]
OfWebhook = Annotated[list[str] | None, _option("webhook")]
OfQuota = Annotated[list[str] | None, _option("quota")]
OfPerson = Annotated[list[str] | None, _option("person")]


def cleared(kind: str, names: Iterable[str] | None, body: dict[str, Any]) -> dict[str, Any]:
    """The body with what is cleared. Raises Misuse for what cannot be, and for what is set in the same command."""
    known, whole = fields(kind), dict(body)
    for name in names or ():
        if name not in known:
            near = nearest(name, known)
            meant = f" Did you mean {near}?" if near is not None else ""
            raise Misuse(f"--clear: {name!r} cannot be cleared.{meant}", f"Use one of: {', '.join(known)}.")
        for field, value in known[name].items():
            given = whole.get(field)
            if isinstance(given, dict) and isinstance(value, dict) and not given.keys() & value.keys():
                whole[field] = {**given, **value}
            elif given is None or given == value:
                whole[field] = value
            else:
                raise Misuse(f"--clear {name} contradicts the value given for it.", "Give only one of the two.")
    return whole


def hint(kind: str | None, option: str) -> str | None:
    """How to remove what an option sets, for who has given an empty value."""
    name = option.removeprefix("--")
    return f"--clear {name}" if kind in OPERATIONS and name in fields(kind) else None
