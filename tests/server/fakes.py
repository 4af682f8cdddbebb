"""A tiny dispatcher with a catalogue of its own, so that the edge is tested alone: it answers from memory, no database.

The tests of whole calls through the real dispatcher stand in `test_whole_server.py`.
"""

from __future__ import annotations

import asyncio
import base64
import difflib
import threading
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field, ValidationError

from toryo.bus.bus import Subscription, Subscriptions
from toryo.bus.in_process import InProcessBus
from toryo.domain.errors import Code, Refusal
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Later, NoParameters, Operation, Parameters, Route
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Door, Grant
from toryo.operations.calls.together import Held

Answer = dict[str, Any]


class Echo(Parameters):
    text: str = Field(description="Any text.")
    number: int = Field(0, description="Any number.")
    anything: dict[str, Any] | None = Field(None, description="Any JSON.")


class Await(Parameters):
    name: str = Field("bell", description="What to wait for.")
    timeout_seconds: float = Field(45, description="How long to wait.")


class Thing(Parameters):
    thing_id: str = Field(description="Which one.")
    title: str | None = Field(None, description="Its title.")
    tags: list[str] | None = Field(None, description="Its tags.")
    size: int | None = Field(None, description="Its size.")
    version: int | None = Field(None, description="The version last read.")


class Things(Parameters):
    tags: list[str] | None = Field(None, description="Only those with these tags.")
    limit: int = Field(10, description="How many.", ge=1)
    wait_seconds: float = Field(0, description="How long to wait for one.")


class ObservedBus(InProcessBus):
    """A bus whose subscriptions can be waited for."""

    def __init__(self) -> None:
        self._subscriptions = self._observed = _ObservedSubscriptions()

    def topics(self) -> set[str]:
        return set(self._observed._by_topic)

    async def until(self, condition: Callable[[set[str]], bool]) -> None:
        """Returns when the subscribed topics are as wanted."""
        async with asyncio.timeout(10):
            while not condition(self.topics()):
                self._observed.changed.clear()
                await self._observed.changed.wait()


class _ObservedSubscriptions(Subscriptions):
    def __init__(self) -> None:
        super().__init__()
        self.changed = asyncio.Event()

    def add(self, topics: Iterable[str]) -> Subscription:
        added = super().add(topics)
        self.changed.set()
        return added

    def remove(self, subscription: Subscription) -> None:
        super().remove(subscription)
        self.changed.set()


class FakeDispatcher:
    """Performs the operations below; `rung` holds the names that `await_bell` no longer waits for.

    `looked` (for tasks) and `looks_made` (for other threads) tell when it was asked.
    """

    def __init__(self) -> None:
        self.rung: set[str] = set()
        self.looks: list[tuple[str, bool]] = []
        self.looked = asyncio.Event()
        self.looks_made = threading.Semaphore(0)
        self.finished = 0
        self.counted = 0
        """Looks that are calls of their own."""
        self.at: int | None = None
        self.operations: dict[str, Operation] = {}
        self._handlers: dict[str, Callable[[Any, Credentials, bool], Answer | Later]] = {}
        self._declare()

    async def perform_async(
        self,
        name: str,
        arguments: dict[str, Any],
        credentials: Credentials,
        *,
        door: Door,
        may_wait: bool = False,
        again: bool = False,
        held: Held | None = None,
    ) -> Outcome:
        self.counted += not again
        outcome = self._perform(name, arguments, credentials, may_wait)
        self.looks.append((name, may_wait))
        self.looked.set()
        self.looks_made.release()
        await asyncio.sleep(0)  # as the real one, whose answer comes from another thread
        return outcome

    async def as_server(self, step: Any, shown: Any = None, *, reads: bool = False) -> Any:
        raise NotImplementedError

    def _perform(self, name: str, arguments: dict[str, Any], credentials: Credentials, may_wait: bool) -> Outcome:
        operation = self.operations.get(name)
        if operation is None:
            return self._unknown(name)
        given = {key: value for key, value in arguments.items() if key != "session_token"}
        try:
            answer = self._handlers[name](operation.parameters.model_validate(given), credentials, may_wait)
        except ValidationError as error:
            return _refused(Refusal(Code.VALIDATION_ERROR, str(error.errors()[0]["msg"]), "Mend it."), operation)
        except Refusal as refusal:
            return _refused(refusal, operation)
        if isinstance(answer, Later):
            return Outcome(None, refused=False, later=answer, operation=operation)
        return Outcome({"success": True, **answer}, refused=False, later=None, operation=operation)

    async def list_tools_async(self, credentials: Credentials, toolset: str | None = None) -> list[Operation]:
        names = {None: ["health_check", "echo"], "coordinator": ["await_bell"]}.get(toolset, [])
        return [self.operations[name] for name in names]

    async def why_unknown_async(self, credentials: Credentials) -> Refusal | None:
        return None

    def _unknown(self, name: str) -> Outcome:
        near = difflib.get_close_matches(name, self.operations)
        return _refused(Refusal(Code.TOOL_NOT_FOUND, f"No tool {name}.", f"Did you mean {', '.join(near)}?"), None)

    def _declare(self) -> None:
        self._operation("health_check", self._healthy, reads=True)
        self._operation("echo", lambda given, _who, _wait: given.model_dump(), Echo)
        self._operation("whoami", self._whoami)
        self._operation("refuse", self._refuse)
        self._operation("crash", self._crash)
        self._operation("await_bell", self._await_bell, Await, waits=True)
        self._operation("never_answers", lambda *_: Later(frozenset({"x"})), Await, waits=True)
        people: dict[str, Any] = {"tool": False, "grant": Grant.PERSON}
        self._operation("get_thing", self._thing, Thing, route=Route("GET", "/things/{thing_id}"), **people)
        self._operation("edit_thing", self._thing, Thing, route=Route("PATCH", "/things/{thing_id}"), **people)
        file = Route("GET", "/things/{thing_id}/file", file=True)
        self._operation("get_file", self._file, Thing, route=file, **people)
        self._operation("new_thing", self._thing, Thing, route=Route("POST", "/things", 201), **people)
        self._operation("list_things", self._things, Things, route=Route("GET", "/things"), waits=True, **people)
        self._operation("special", self._healthy, route=Route("GET", "/things/special"), **people)
        self._operation("public", self._healthy, route=Route("GET", "/public"))

    def _operation(
        self,
        name: str,
        handler: Callable[[Any, Credentials, bool], Answer | Later],
        parameters: Any = NoParameters,
        grant: Grant = Grant.OPEN,
        **further: Any,
    ) -> None:
        self._handlers[name] = handler
        self.operations[name] = Operation(
            name=name,
            summary=f"Does {name}.",
            grant=grant,
            parameters=parameters,
            result=dict[str, Any],
            handler=lambda _call, _given: {},
            **further,
        )

    @staticmethod
    def _healthy(*_: Any) -> Answer:
        return {"status": "ok"}

    @staticmethod
    def _whoami(_given: Any, who: Credentials, _wait: bool) -> Answer:
        return {"bearer": who.bearer, "correlation_id": who.correlation_id, "remote": who.remote}

    @staticmethod
    def _refuse(*_: Any) -> Answer:
        raise Refusal(Code.TASK_NOT_FOUND, "There is no such task.", "Call list_tasks.", task_id="tsk_x", none=None)

    @staticmethod
    def _crash(*_: Any) -> Answer:
        raise RuntimeError("the secret cause")

    def _await_bell(self, given: Await, _who: Credentials, may_wait: bool) -> Answer | Later:
        if may_wait and given.name not in self.rung:
            return Later(frozenset({f"bell:{given.name}"}), self.at)
        self.finished += 1
        return {"rung": given.name in self.rung}

    @staticmethod
    def _thing(given: Thing, _who: Credentials, _wait: bool) -> Answer:
        if given.thing_id == "missing":
            raise Refusal(Code.TASK_NOT_FOUND, "There is no such thing.", "List them.", thing_id="missing")
        if given.version == 1:
            raise Refusal(Code.CONFLICT, "Somebody else changed it.", "Read it again.", version=2)
        return {"thing": given.model_dump()}

    @staticmethod
    def _file(*_: Any) -> Answer:
        return {"name": "a.txt", "media_type": "text/plain", "content": base64.b64encode(b"what it says").decode()}

    def _things(self, given: Things, _who: Credentials, may_wait: bool) -> Answer | Later:
        if may_wait and "things" not in self.rung:
            return Later(frozenset({"bell:things"}))
        return {"things": [], **given.model_dump()}


def _refused(refusal: Refusal, operation: Operation | None) -> Outcome:
    return Outcome(refusal.answer(), refused=True, later=None, operation=operation)
