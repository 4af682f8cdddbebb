"""What is asked on an event loop is answered as what a thread asks: done, mistaken, and undone."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import orjson
import pytest

from tests.databases import empty
from tests.operations.samples import PATIENT, all_operations, cast, sample
from tests.operations.test_rolled_back import refused_at_the_end
from tests.stories import Answer, World, hold_to_promise
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.grants import Grant
from toryo.storage.engine.database import Database


class OnALoop(World):
    """A world in which every call is made on an event loop."""

    def perform(self, name: str, arguments: Answer, credentials: Credentials, *, may_wait: bool = False) -> Outcome:
        self.now += self.tick
        asked = self.dispatcher.perform_async(name, arguments, credentials, may_wait=may_wait)
        outcome = asyncio.run(asked)
        hold_to_promise(name, outcome)
        self._hold_no_fault()
        return outcome


def ways() -> list[Operation]:
    """Of the operations that are carried out alike one, and all that are carried out in a special way."""
    found: dict[Any, Operation] = {}
    for each in all_operations():
        special = [each.beforehand, each.unseen, each.instead, each.little or None]
        found.setdefault((each.grant, each.reads, each.name if any(special) else ""), each)
    found.pop((Grant.OWNER, False, "prune"))  # it deletes as much as there is time for
    return [*found.values()]


def answers(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Without numbers: those of events go on, and so does the size of the file."""
    people = cast(world)
    told: dict[str, Any] = {}

    def ask(how: str, caller: Any, name: str, arguments: Answer) -> None:
        outcome = caller.ask(name, **arguments)
        words = re.sub(r"\d+", "#", orjson.dumps(outcome.result).decode())
        told[f"{name} {how}"] = (words, outcome.refused, outcome.later is not None)
        assert outcome.operation is not None

    for operation in ways():
        caller, right = people.caller(operation), sample(operation, people)
        monkeypatch.setitem(catalogue(), operation.name, refused_at_the_end(operation, {}))
        ask("refused in the end", caller, operation.name, right)
        monkeypatch.setitem(catalogue(), operation.name, operation)
        ask("with nonsense", caller, operation.name, {**right, "nonsense": 1})
        ask("of a stranger", world.nobody, operation.name, right)
        ask("done", caller, operation.name, right)
    ask("of no such name", world.owner, "paint_the_door", {})
    ask("of no such name by a stranger", world.nobody, "paint_the_door", {})
    return told


def test_both_ways_to_ask_give_the_same_answers_and_hints(
    database: Database, monkeypatch: pytest.MonkeyPatch, quick_passwords: None, quiet: None
) -> None:
    world = World(database, PATIENT)
    told, hints = answers(world, monkeypatch), world.hints
    empty(database)
    again = OnALoop(database, PATIENT)
    differing = {name: (told[name], each) for name, each in answers(again, monkeypatch).items() if each != told[name]}
    assert differing == {}
    assert again.hints == hints
    assert {refused for _, refused, _ in told.values()} == {True, False}
