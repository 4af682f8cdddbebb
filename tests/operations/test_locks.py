"""What threads share is touched by whoever holds its lock: looked at directly, since a race shows only now and then."""

from __future__ import annotations

import ast
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import toryo
from toryo.operations.calls.recent_answers import RecentAnswers
from toryo.operations.calls.sign_in_lockout import PASSKEY, Tries, counters
from toryo.operations.calls.together import Together

SOURCES = Path(toryo.__file__).parent
PACKAGES = ("domain", "workflow", "operations", "housekeeping")
_ACCESSES = (
    *("__contains__", "__getitem__", "__setitem__", "__delitem__", "__iter__"),
    *("clear", "get", "items", "keys", "move_to_end", "pop", "popitem", "setdefault", "values"),
)


def watched(kind: type[Any], lock: threading.Lock) -> Any:
    """An empty one, each access to which is an error without the lock."""

    def checking(name: str) -> Callable[..., Any]:
        access = getattr(kind, name)

        def checked(self: Any, *arguments: Any, **named: Any) -> Any:
            assert lock.locked(), f"{name} without the lock"
            return access(self, *arguments, **named)

        return checked

    return type("Watched", (kind,), {name: checking(name) for name in _ACCESSES if hasattr(kind, name)})()


def use_recent_answers() -> None:
    answers = RecentAnswers(most=1)
    answers._kept = watched(OrderedDict, answers._lock)
    free = []

    def find() -> str:
        free.append(not answers._lock.locked())
        return "found"

    assert [answers.of(key, find) for key in ("a", "a", "b")] == ["found"] * 3
    assert free == [True, True], "others wait while an answer is looked for"


def use_tries() -> None:
    tries = Tries()
    tries._counted = watched(OrderedDict, tries._turn)
    of_ann = counters(PASSKEY, "ann", "192.0.2.1")
    for _ in range(5):
        assert tries.locked_until(of_ann, 1_000) is None
        tries.wrong(of_ann, 1_000)
    assert tries.locked_until(of_ann, 1_000) == 61_000
    assert tries.locked(PASSKEY, ["ann"], 1_000) == [("ann", 1_000, 61_000)]
    tries.forgive(PASSKEY, "ann")
    assert tries.locked_until(of_ann, 1_000) is None


def use_together() -> None:
    database: Any = None
    line: Any = None
    together = Together(database, line, lambda _hints: None)
    together._held = watched(dict, together._lock)
    ann, bob = (SimpleNamespace(topics=("queue",), taken=False) for _ in range(2))
    for each in (ann, bob):
        together.hold(each)  # type: ignore[arg-type]
    assert together._adopt("queue", 1) == [ann]
    assert (together.release(ann), together.release(bob)) == (False, True)  # type: ignore[arg-type]


USES = {
    "operations/calls/recent_answers.py": use_recent_answers,
    "operations/calls/sign_in_lockout.py": use_tries,
    "operations/calls/together.py": use_together,
}
"""By the file that makes a lock."""


@pytest.mark.parametrize("file", USES)
def test_what_a_lock_protects_is_touched_with_it_alone(file: str) -> None:
    USES[file]()


def test_every_lock_of_the_rules_and_operations_is_looked_at() -> None:
    found = {
        path.relative_to(SOURCES).as_posix()
        for package in PACKAGES
        for path in (SOURCES / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if {getattr(node, "id", ""), getattr(node, "attr", "")} & {"Lock", "RLock"}
    }
    assert found == USES.keys()
