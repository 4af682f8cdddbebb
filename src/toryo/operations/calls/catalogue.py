"""What an operation is, and the one list of all of them.

Declared once: name, words, parameters, grant, REST route, handler. MCP schemas, OpenAPI, `help`, the permission
table and the reference are derived from it. Handlers stand in the group files.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import is_typeddict

from toryo.operations.calls import fields
from toryo.operations.calls.grants import Door, Grant

if TYPE_CHECKING:
    from toryo.operations.calls.call import Call
    from toryo.operations.calls.callers import Caller


MOST_NAMES = 100
"""Names in one object of parameters, known or not; several times as many as any has."""


def _few(given: Any) -> Any:
    """Refuses so many names at once, before each of them can become a mistake of its own."""
    if isinstance(given, dict) and len(given) > MOST_NAMES:
        raise PydanticCustomError(
            "too_many_names",
            "has {given} names, and {most} are the most",
            {"given": len(given), "most": MOST_NAMES},
        )
    return given


_Named = TypeVar("_Named")
FewNames = Annotated[_Named, BeforeValidator(_few)]
"""An object with names of the caller's choice whose values are looked at."""


class Parameters(BaseModel):
    """Base of every operation's parameters, and of the objects in them: unknown names are refused, and what is no line
    where one is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _few = model_validator(mode="before")(staticmethod(_few))

    @classmethod
    def names_for(cls, _given: Mapping[str, Any]) -> list[str]:
        """The parameters that whoever has given these may mean."""
        return list(cls.model_fields)

    @field_validator("*")
    @classmethod
    def _one_line(cls, value: Any, about: ValidationInfo) -> Any:
        return fields.line(value) if about.field_name in _lines(cls) else value


@cache
def _lines(parameters: type[Parameters]) -> frozenset[str]:
    """The fields whose texts are one line each."""
    return frozenset(name for name, field in parameters.model_fields.items() if fields.one_line(field))


class NoParameters(Parameters):
    pass  # no docstring: it would stand in the schema that every agent is shown


@dataclass(frozen=True, slots=True)
class Later:
    """A handler's answer to a caller who may wait: nothing to say yet, look again at a hint on one of `topics`.

    `at` (epoch milliseconds) is when to look again even without a hint (a cooldown ends then, for example).
    Handlers return it only while `call.may_wait`; after the time limit they are asked once more and must answer.
    """

    topics: frozenset[str]
    at: int | None = None


class Audience(Flag):
    """Which programs `tools/list` shows a tool to; others that may call it can do so all the same."""

    NONE = 0
    WORKER = auto()
    MANAGER = auto()
    CHAT = auto()
    ORCHESTRATOR = auto()
    QUEUE = auto()
    """Agents of queues, and who asks for their tools; besides what an API key opens."""


class Available(Enum):
    """When a session may call an operation; each includes those before it."""

    WORKING = auto()
    """While its work is its own."""
    WITHDRAWN = auto()
    """Also when its work was taken away, or its project was paused: it changes nothing."""
    AFTER_THE_END = auto()
    """Also after its end, for the grace time: it reads, or leaves a note."""
    ALWAYS = auto()
    """It answers for itself whatever has become of the session."""


Handler = Callable[["Call", Any], "Mapping[str, Any] | Later"]
"""Its return annotation is the operation's result: a TypedDict, and `Later` where it waits."""

_Declared = TypeVar("_Declared", bound=Handler)


Beforehand = Callable[["Call", Any], "Callable[[], Any] | None"]
"""Looks (in a transaction that only reads) at what a call needs that takes long, and answers what to do outside of
any transaction; the handler finds the result in `call.prepared`, and looks whether it still holds."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where REST finds the operation: `Route("POST", "/projects/{project_id}/tasks", 201)`, below `/api/v1`."""

    method: str
    path: str
    status: int = 200


@dataclass(frozen=True)
class Form:
    """How an operation is shown to one kind of caller: without the parameters that mean nothing to it.

    What is not shown is taken all the same. `words` are descriptions in place of those that are for others.
    """

    without: frozenset[str]
    required: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    summary: str = ""
    """In place of the operation's own, where that is for several."""

    def of(self, schema: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = self._lessened(schema)
        if self.required:
            shown = {**shown, "required": list(self.required)}
        defined = shown.get("$defs", {})
        shown = {key: value for key, value in shown.items() if key != "$defs"}
        kept: dict[str, Any] = {}
        while new := {name: defined[name] for name in _named({**shown, "$defs": kept}) if name not in kept}:
            kept |= new
        return {**shown, "$defs": kept} if kept else shown

    def _lessened(self, schema: Any, *, at: str = "") -> Any:
        if isinstance(schema, list):
            return [self._lessened(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        kept = {
            name: self._lessened(each, at=name)
            for name, each in schema.items()
            if not (at == "properties" and name in self.without)
        }
        if at == "properties":
            told = {name: {**kept[name], "description": text} for name, text in self.words.items() if name in kept}
            kept |= told
        return kept


FormFor = Callable[["Caller", bool], Form | None]
"""The form in which a caller is shown an operation, None: whole. The flag: tasks that it creates go to a queue."""


@dataclass(frozen=True)
class Operation:
    name: str
    summary: str
    grant: Grant
    parameters: type[BaseModel]
    result: Any
    handler: Handler
    route: Route | None = None
    tool: bool = True
    """Whether MCP offers it; operations of people are REST and CLI only."""
    reads: bool = False
    """Whether it changes nothing and may run on a reader's connection."""
    waits: bool = False
    """Whether the handler may answer `Later`; its parameters then have `timeout_seconds` or `wait_seconds`."""
    leads: bool = False
    """Whether answers and refusals carry `next`: what `get_next_action` would say now."""
    bare: str | None = None
    """The key whose value alone is the text of the answer, where the tool's protocol says so."""
    listed: bool = True
    """Whether `tools/list` shows it to those who may call it; `help` names the rest."""
    beforehand: Beforehand | None = None
    context: bool = False
    """Whether it stands behind an MCP resource or prompt."""
    asks_for: str | None = None
    """What `listed_schema` shows connections that carry no credential: `session_token` or `api_key`."""
    form: Form | None = None
    """As it is shown, if not whole."""
    form_for: FormFor | None = None
    """Where that depends on who is shown it."""
    shown_to: Audience = Audience.NONE
    available: Available = Available.WORKING
    instead: Callable[[], Mapping[str, Any]] | None = None
    """What is answered to callers without a session in place of any refusal."""
    refusals_carry: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What refusals say besides, unless they say it themselves."""

    @cached_property
    def doors(self) -> frozenset[Door]:
        """Where a call may come in; elsewhere there is no such operation."""
        declared = {Door.MCP: self.tool, Door.REST: self.route is not None, Door.CONTEXT: self.context}
        return frozenset({Door.OWN, *(door for door, is_open in declared.items() if is_open)})

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return _closed(self.parameters.model_json_schema(by_alias=True))

    @cached_property
    def listed_schema(self) -> dict[str, Any]:
        """The parameters as `tools/list` shows them: every agent pays for these words at every start.

        Left out: the longest lengths (a refusal names them), and that an optional parameter may be null.
        """
        brief: dict[str, Any] = _brief(self.input_schema)
        brief = self.form.of(brief) if self.form is not None else brief
        if self.asks_for:
            told = "The token that authenticate returned." if self.asks_for == "session_token" else "Your API key."
            token = {"type": "string", "description": told}
            brief = {**brief, "properties": {**brief.get("properties", {}), self.asks_for: token}}
        return brief

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return TypeAdapter(self.result).json_schema(mode="serialization")


@dataclass
class _Catalogue:
    operations: dict[str, Operation] = field(default_factory=dict)
    loading: bool = False

    def add(self, operation: Operation) -> None:
        if operation.name in self.operations:
            raise ValueError(f"two operations are called {operation.name}")
        if operation.doors == {Door.OWN}:
            raise ValueError(f"{operation.name}: no client can reach it; what only the server does is no operation")
        self.operations[operation.name] = operation


_CATALOGUE = _Catalogue()


def operation(
    name: str,
    *,
    grant: Grant,
    parameters: type[BaseModel] = NoParameters,
    route: Route | None = None,
    tool: bool = True,
    reads: bool = False,
    waits: bool = False,
    leads: bool = False,
    listed: bool = True,
    bare: str | None = None,
    beforehand: Beforehand | None = None,
    context: bool = False,
    form: Form | None = None,
    form_for: FormFor | None = None,
    shown_to: Audience = Audience.NONE,
    available: Available = Available.WORKING,
    instead: Callable[[], Mapping[str, Any]] | None = None,
    refusals_carry: Mapping[str, Any] | None = None,
) -> Callable[[_Declared], _Declared]:
    """Declares the decorated handler as the operation `name`; its docstring is what callers are told about it, its
    return annotation what they are answered."""

    def declare(handler: _Declared) -> _Declared:
        summary = " ".join((handler.__doc__ or "").split())
        # What the handler answers once it need not wait.
        hint = get_type_hints(handler)["return"]
        answers = [argument for argument in get_args(hint) or (hint,) if is_typeddict(argument)]
        if not answers:
            raise TypeError(f"{handler.__name__}: the return annotation names no declared type")
        _CATALOGUE.add(
            Operation(
                name,
                summary,
                grant,
                parameters,
                functools.reduce(operator.or_, answers),
                handler,
                route,
                tool,
                reads,
                waits,
                leads,
                bare,
                listed,
                beforehand,
                context,
                form=form,
                form_for=form_for,
                shown_to=shown_to,
                available=available,
                instead=instead,
                refusals_carry=refusals_carry or {},
            )
        )
        return handler

    return declare


def declare(operation: Operation) -> None:
    """For what another operation is made of."""
    _CATALOGUE.add(operation)


def catalogue() -> dict[str, Operation]:
    """Every operation by name, in the order of declaration."""
    if not _CATALOGUE.loading:
        _CATALOGUE.loading = True
        from toryo.operations.calls import groups

        groups.load()
    return _CATALOGUE.operations


def tools() -> Iterable[Operation]:
    """The operations that MCP offers."""
    return (each for each in catalogue().values() if each.tool)


_COSTLY = frozenset({"maxLength", "maxItems", "minLength", "pattern", "additionalProperties", "default"})


def _brief(schema: Any, *, at: str = "") -> Any:
    if isinstance(schema, list):
        return [_brief(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if at in {"properties", "$defs"}:
        return {name: _brief(each) for name, each in schema.items()}
    others = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(others) == 1 and schema.get("default", ...) is None:
        schema = {**{key: value for key, value in schema.items() if key != "anyOf"}, **others[0]}
    kept = {key: value for key, value in schema.items() if key not in _COSTLY or not _worthless(key, value)}
    return {key: _choices(value) if key == "enum" else _brief(value, at=key) for key, value in kept.items()}


_ALSO_TAKEN = {"pending": "todo", "done": "completed", "urgent": "critical"}
"""Other names of the same choice: taken, and not worth a token."""


def _choices(values: list[Any]) -> list[Any]:
    return [each for each in values if _ALSO_TAKEN.get(each) not in values]


def _named(schema: Any) -> Iterable[str]:
    """The definitions that a schema refers to."""
    if isinstance(schema, list):
        return [name for each in schema for name in _named(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if isinstance(schema.get("$ref"), str) else []
    return [*own, *(name for each in schema.values() for name in _named(each))]


def _worthless(key: str, value: Any) -> bool:
    """Defaults that say something stay."""
    return key != "default" or value in (None, [], "", {})


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles pydantic adds: they cost every agent tokens and say nothing."""
    if isinstance(schema, dict):
        return {
            key: _closed(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str)) and not (key == "description" and value == "")
        }
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    return schema
