"""The server of a simulation: the real operations on a database in memory, with the virtual clock.

No HTTP and no long polling of the server's edge: a call that waits is looked at again after a hint about its topics, as
`server/long_polling.py` does.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog

from toryo.client import ProtocolError, RefusalError
from toryo.domain.times import Millis
from toryo.housekeeping.runner import CHORES
from toryo.operations.calls import call_log
from toryo.operations.calls.call import RIGHTS, WORK
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.dispatch import Dispatcher, Outcome
from toryo.operations.calls.grants import Door
from toryo.operations.people.credential_revocation import bootstrap
from toryo.settings import SessionSettings, Settings
from toryo.simulation.virtual_time import Time, Timer
from toryo.storage.engine.in_memory import InMemory
from toryo.storage.open_database import upgrade

Answer = dict[str, Any]
COORDINATOR_TOKEN, OWNER_TOKEN = "tct_simulation", "tpt_simulation"
HOUSEKEEPING_SECONDS = 300
"""Between two rounds of the server's chores. A real server has one every 30 seconds, which finds the same, sooner."""


class _Unconfigured(Settings):
    """A server without a configuration: what is in the environment is for a real one."""

    @classmethod
    def settings_customise_sources(  # type: ignore[override]
        cls, *_: Any, init_settings: Any, **__: Any
    ) -> tuple[Any, ...]:
        return (init_settings,)


SETTINGS = _Unconfigured(session=SessionSettings(lease=600))
"""Coordinators do not die here, so leases need not be renewed as often."""
SIGNING_IN = frozenset({"authenticate", "report_model", "get_my_task"})
"""Calls after which a Coordinator has nothing to start or to stop, so that it is not woken."""


class World:
    """`calls` counts what agents called, by agent and tool; `refusals` those of them that were refused."""

    def __init__(self, begins_at: Millis, seed: int, copied_from: Path | None = None) -> None:
        """`copied_from`: an SQLite file whose contents it begins with. Raises DatabaseUnavailable."""
        self.time = Time(begins_at)
        self.database = InMemory(copied_from)
        upgrade(self.database)
        self.calls: Counter[tuple[str, str]] = Counter()
        self.refusals: Counter[tuple[str, str]] = Counter()
        self.claims, self.unmade_claims = 0, 0
        """Looks of Coordinators for something to do; and those that were not made, since nothing had changed."""
        self.changes = 0
        """How many hints were published: what stands still has not changed."""
        self.work = 0
        """How many of them were about work to start or to stop."""
        self._signing_in = False
        self._waiting: dict[str, list[Wait]] = defaultdict(list)
        entropy = random.Random(seed).getrandbits  # noqa: S311 - nobody guesses the secrets of a simulation
        self.dispatcher = Dispatcher(self.database, SETTINGS, lambda: self.time.now, entropy, self._publish)
        bootstrap(self.dispatcher, COORDINATOR_TOKEN, OWNER_TOKEN)
        self.time.after(HOUSEKEEPING_SECONDS, self._housekeep)
        self._routes = [each for each in catalogue().values() if each.route is not None]

    # --- calls -----------------------------------------------------------------------------------------------------

    def perform_for_program(self, tool: str, arguments: Answer, bearer: str | None, *, may_wait: bool) -> Outcome:
        self._signing_in = tool in SIGNING_IN
        try:
            return self.perform(tool, arguments, bearer, may_wait=may_wait)
        finally:
            self._signing_in = False

    def perform(
        self, tool: str, arguments: Answer, bearer: str | None, *, door: Door = Door.MCP, may_wait: bool = False
    ) -> Outcome:
        return self.dispatcher.perform(tool, arguments, Credentials(bearer=bearer), door=door, may_wait=may_wait)

    def call(self, tool: str, bearer: str, /, **arguments: Any) -> Answer:
        """The answer. Raises RefusalError."""
        return result_of(self.perform(tool, arguments, bearer, door=Door.OWN))

    def owner(self, operation: str, /, **arguments: Any) -> Answer:
        return self.call(operation, OWNER_TOKEN, **arguments)

    def rest(self, method: str, path: str, json: Any = None, params: Mapping[str, Any] | None = None) -> Answer:
        """As `Client.rest`, as the owner. Raises RefusalError or ProtocolError."""
        operation, named = self._routed(method, path)
        given = {name: value for name, value in (params or {}).items() if value is not None}
        return result_of(self.perform(operation.name, {**given, **(json or {}), **named}, OWNER_TOKEN, door=Door.OWN))

    def _routed(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        words = path.strip("/").split("/")
        found: list[tuple[int, Operation, dict[str, str]]] = []
        for operation in self._routes:
            assert operation.route is not None
            pattern = operation.route.path.strip("/").split("/")
            if operation.route.method != method or len(pattern) != len(words):
                continue
            named = {each[1:-1]: word for each, word in zip(pattern, words, strict=True) if each.startswith("{")}
            if all(each == word or each.startswith("{") for each, word in zip(pattern, words, strict=True)):
                found.append((len(named), operation, named))
        if not found:
            raise ProtocolError(f"There is no {method} {path}.", 404)
        _, operation, named = min(found, key=lambda each: each[0])
        return operation, named

    # --- hints -----------------------------------------------------------------------------------------------------

    def wait(self, topics: Iterable[str], wake: Callable[[], None], until: Millis | None, settles: float = 0.0) -> Wait:
        """`wake` is called once: `settles` seconds after the next hint about a topic, or at the moment `until`."""
        waiting = Wait(self.time, frozenset({*topics, RIGHTS}), wake, settles)
        for topic in waiting.topics:
            self._waiting[topic].append(waiting)
        if until is not None:
            waiting.timer = self.time.at(until, waiting.end)
        return waiting

    def _publish(self, hinted: Iterable[str]) -> None:
        topics = frozenset(hinted)
        self.changes += 1
        if WORK in topics and not self._signing_in:
            self.work += 1
        for topic in topics:
            if self._signing_in and topic == WORK:
                continue
            waiting = self._waiting.get(topic)
            if waiting:
                for each in waiting:
                    each.hint()
                self._waiting[topic] = [each for each in waiting if not each.over and not each.hinted]

    # --- time ------------------------------------------------------------------------------------------------------

    def _housekeep(self) -> None:
        for _, chore in CHORES:
            self.dispatcher.housekeep(chore)
        self.time.after(HOUSEKEEPING_SECONDS, self._housekeep)

    def close(self) -> None:
        self.database.close()


class Wait:
    def __init__(self, time: Time, topics: frozenset[str], wake: Callable[[], None], settles: float) -> None:
        self._time = time
        self.topics = topics
        self._wake = wake
        self._settles = settles
        self.timer: Timer | None = None
        self.hinted = self.over = False

    def hint(self) -> None:
        if not self.hinted and not self.over:
            self.hinted = True
            if self.timer is not None:
                self.timer.cancel()
            self.timer = self._time.after(self._settles, self.end)

    def end(self) -> None:
        if not self.over:
            self.cancel()
            self._wake()

    def cancel(self) -> None:
        self.over = True
        if self.timer is not None:
            self.timer.cancel()


def result_of(outcome: Outcome) -> Answer:
    """The result. Raises RefusalError, as a client does."""
    result = outcome.result
    assert result is not None
    if outcome.refused:
        code = str(result.get("code") or result.get("error"))
        raise RefusalError(code, str(result.get("message") or ""), str(result.get("instruction") or ""), dict(result))
    return result


@contextmanager
def quiet() -> Iterator[None]:
    """No line of the server's log for each call."""
    before = call_log.calls
    call_log.calls = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        yield
    finally:
        call_log.calls = before
