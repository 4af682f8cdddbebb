"""The definition of an operation, and the list of all operations.

Each is declared once: name, description, parameters, grant, REST route, handler. MCP schemas, OpenAPI, `help`, the
permission table and the reference are derived from it. Handlers are in the modules of the groups.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum, Flag, auto
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

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

from toryo.domain.fast_dataclasses import dataclass
from toryo.operations.calls import fields, listed_parameters, meant_arguments
from toryo.operations.calls.grants import Door, Grant
from toryo.operations.calls.listed_parameters import Form

if TYPE_CHECKING:
    from toryo.domain.times import Millis
    from toryo.operations.calls.call import Call
    from toryo.operations.calls.callers import Caller
    from toryo.operations.calls.context import Context
    from toryo.operations.calls.results import JsonObject
    from toryo.storage.engine.database import Database


MOST_NAMES = 100
"""Names in one object of parameters, known or not; several times as many as any has."""


def _few(given: Any) -> Any:
    """Refuses too many unknown names at once, instead of reporting each as a mistake."""
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
    """Base of every operation's parameters, and of the objects in them: unknown names are refused, what is no line
    where one is wanted, and JSON that is too long."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    _few = model_validator(mode="before")(staticmethod(_few))

    @classmethod
    def names_for(cls, _given: Mapping[str, Any]) -> list[str]:
        """The parameters that may be meant, given these arguments."""
        return list(cls.model_fields)

    @field_validator("*")
    @classmethod
    def _one_line(cls, value: Any, about: ValidationInfo) -> Any:
        if about.field_name in _lines(cls):
            return fields.line(value)
        if about.field_name not in _any_json(cls):
            return value
        if about.context is meant_arguments.AS_MEANT:
            value = meant_arguments.structured(value)
        if about.field_name == "context":
            value = fields.startable(value)
        return fields.short_json(value)


@cache
def _lines(parameters: type[Parameters]) -> frozenset[str]:
    """The fields whose texts are one line each."""
    return frozenset(name for name, field in parameters.model_fields.items() if fields.one_line(field))


@cache
def _any_json(parameters: type[Parameters]) -> frozenset[str]:
    """The fields that take JSON of any shape: each is bounded."""
    return frozenset(name for name, field in parameters.model_fields.items() if fields.any_json(field))


class NoParameters(Parameters):
    pass  # no docstring: it would stand in the schema that every agent is shown


@dataclass(frozen=True, slots=True)
class Later:
    """A handler's answer that there is no result yet: it is called again after a hint on one of `topics`.

    `at` (epoch milliseconds) is when to look again even without a hint (a cooldown ends then, for example).
    Handlers return it only while `call.may_wait`; after the time limit they are asked once more and must answer.
    """

    topics: frozenset[str]
    at: int | None = None


class Audience(Flag):
    """Which programs see a tool in `tools/list`; permissions do not depend on it."""

    NONE = 0
    WORKER = auto()
    MANAGER = auto()
    CHAT = auto()
    ORCHESTRATOR = auto()
    QUEUE = auto()
    """Agents of queues, and who asks for their tools; besides what an API key opens."""
    BY_HAND = auto()
    """Agents without a launch credential: they say who they are. They are shown the tools of all sessions."""
    REVIEWER = auto()
    """Workers whose main task is a review; besides the tools of a worker."""
    DIVIDER = auto()
    """Workers whose main task they may divide: it is no review."""
    DIFFS = auto()
    """Those who judge what others have changed: reviewers and managers, where tasks have worktrees."""
    TRIES_CHECKS = auto()
    """Workers who may run the checks of their task while they work."""
    RUNS_COMMANDS = auto()
    """Agents that may run commands by their names (`provider_options.commands`)."""
    EVERYONE = (
        WORKER
        | MANAGER
        | CHAT
        | ORCHESTRATOR
        | QUEUE
        | BY_HAND
        | REVIEWER
        | DIVIDER
        | DIFFS
        | TRIES_CHECKS
        | RUNS_COMMANDS
    )


class Available(Enum):
    """When a session may call an operation; each value includes those before it."""

    WORKING = auto()
    """While its work is its own."""
    WITHDRAWN = auto()
    """Also when its work was taken away, or its project was paused: it changes nothing."""
    AFTER_THE_END = auto()
    """Also after its end, for the grace time: it reads, or leaves a note."""
    ALWAYS = auto()
    """It answers for itself whatever has become of the session."""


class Proof(Enum):
    """Whether a browser whose person has not signed in lately (`people.PROVEN_FOR`) must prove again who they are.
    Tokens of programs are no browser: they are asked for nothing."""

    NEVER = auto()
    WHERE_WIDER = auto()
    """Where the call makes a credential or widens a right: `Call.new_token`, an event that says `widened`, and a
    handler that asks itself (`Call.prove`)."""
    ALWAYS = auto()


Handler = Callable[["Call", Any], "Mapping[str, Any] | Later"]
"""Its return annotation is the operation's result: a TypedDict, and `Later` where it waits."""

_Handler = TypeVar("_Handler", bound=Handler)
_Options = ParamSpec("_Options")


Beforehand = Callable[["Call", Any], "Callable[[], Any] | None"]
"""Looks (in a transaction that only reads) at what a call needs that takes long, and answers what to do outside of
any transaction; the handler finds the result in `call.prepared`, and looks whether it still holds."""


@dataclass(frozen=True, slots=True)
class Route:
    """The REST route of an operation: `Route("POST", "/projects/{project_id}/tasks", 201)`, below `/api/v1`."""

    method: str
    path: str
    status: int = 200
    file: bool = False
    """Whether the answer is a file: the bytes of `content`, which the handler returns in base64, beside `name` and
    `media_type`."""


Unseen = Callable[["Context", "Database", "Millis"], "JsonObject | None"]
"""Answers a caller without a credential from what the process knows; None: the handler must read."""


FormFor = Callable[["Caller", bool], Form | None]
"""The form in which a caller is shown an operation, None: whole. The flag: tasks that it creates go to a queue."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What is said of an operation where its handler stands."""

    grant: Grant
    parameters: type[BaseModel] = NoParameters
    route: Route | None = None
    tool: bool = True
    """Whether MCP offers it; operations of people are REST and CLI only."""
    reads: bool = False
    """Whether it changes nothing and may run on a reader's connection."""
    counted: bool = True
    """Whether what it stores counts for the key or session that calls (`stored_limits.py`). Not: where it stores a
    fixed amount for what was counted."""
    little: bool = False
    """Whether it reads no more than a few rows, however much there is."""
    unseen: Unseen | None = None
    whole: bool = False
    """Whether its answer contains a whole task or message, which clients must not cut."""
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
    form: Form | None = None
    """As it is shown, if not whole."""
    form_for: FormFor | None = None
    """Where that depends on who is shown it."""
    shown_to: Audience = Audience.NONE
    available: Available = Available.WORKING
    proof: Proof = Proof.NEVER
    instead: Callable[[], Mapping[str, Any]] | None = None
    """What is answered to callers without a session in place of any refusal."""
    refusals_carry: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What refusals say besides, unless they say it themselves."""


@dataclass(frozen=True, kw_only=True)
class Operation(Declared):
    name: str
    summary: str
    result: Any
    handler: Handler
    asks_for: str | None = None
    """What `listed_schema` shows connections that carry no credential: `session_token` or `api_key`."""
    audience: Audience = Audience.EVERYONE
    """Who is shown it now: parameters that are for others are left out."""

    @cached_property
    def doors(self) -> frozenset[Door]:
        """Where a call may come in; elsewhere there is no such operation."""
        declared = {Door.MCP: self.tool, Door.REST: self.route is not None, Door.CONTEXT: self.context}
        return frozenset({Door.OWN, *(door for door, is_open in declared.items() if is_open)})

    @property
    def input_schema(self) -> dict[str, Any]:
        return listed_parameters.whole(self.parameters)

    @property
    def listed_schema(self) -> dict[str, Any]:
        """The parameters as `tools/list` shows them to `audience`."""
        return listed_parameters.listed_schema(self.parameters, self.form, self.audience, self.asks_for)

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it answers, if it does not refuse."""
        return _schema(self.result)

    @property
    def answer_schema(self) -> dict[str, Any]:
        """Whatever it answers: `output_schema`, or a refusal, which `success` tells apart."""
        return _schema_or_refusal(self.result)


@cache
def _schema(result: Any) -> dict[str, Any]:
    return TypeAdapter(result).json_schema(mode="serialization")


@cache
def _schema_or_refusal(result: Any) -> dict[str, Any]:
    done = dict(_schema(result))
    definitions = done.pop("$defs", None)
    done["properties"] = {**done.get("properties", {}), "success": {"const": True}}  # a choice of answers has none
    refusal = {"properties": {"success": {"const": False}, **_REFUSAL}, "required": ["success", *_REFUSAL]}
    either = {"type": "object", "anyOf": [done, refusal]}
    return either if definitions is None else {**either, "$defs": definitions}


_REFUSAL: dict[str, Any] = {
    "error": {"type": "string", "description": "A code."},
    "message": {"type": "string", "description": "What is wrong."},
    "instruction": {"type": "string", "description": "What to do."},
}
"""What every refusal says; most say more."""


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


def _declaring(
    declared: Callable[_Options, Declared],
) -> Callable[Concatenate[str, _Options], Callable[[_Handler], _Handler]]:
    def operation(name: str, /, *_: _Options.args, **options: _Options.kwargs) -> Callable[[_Handler], _Handler]:
        """Declares the decorated handler as the operation `name`; its docstring is what callers are told about it, its
        return annotation what they are answered."""

        def declare(handler: _Handler) -> _Handler:
            summary = " ".join((handler.__doc__ or "").split())
            # What the handler answers once it need not wait.
            hint = get_type_hints(handler)["return"]
            if get_origin(hint) is dict:  # of many calls, by call
                hint = get_args(hint)[1]
            answers = [argument for argument in get_args(hint) or (hint,) if is_typeddict(argument)]
            if not answers:
                raise TypeError(f"{handler.__name__}: the return annotation names no declared type")
            result = functools.reduce(operator.or_, answers)
            said = vars(declared(*_, **options))
            _CATALOGUE.add(Operation(name=name, summary=summary, result=result, handler=handler, **said))
            return handler

        return declare

    return operation


operation = _declaring(Declared)


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


def complete() -> None:
    """Builds what validates the parameters of each operation, which otherwise its first call does."""
    for each in catalogue().values():
        each.parameters.model_rebuild()


def tools() -> Iterable[Operation]:
    """The operations that MCP offers."""
    return (each for each in catalogue().values() if each.tool)
