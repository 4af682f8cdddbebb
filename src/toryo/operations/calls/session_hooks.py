"""The interface between dispatch and sessions. `sessions/hooks.py` implements it.

It keeps dispatch independent of next actions, guards and mailboxes.
"""

from __future__ import annotations

from typing import Protocol

from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.results import JsonObject


class SessionHooks(Protocol):
    def guard(self, call: Call, operation: Operation) -> None:
        """Raises Refusal for calls that an ended, withdrawn or guarded session may not make.

        A call also confirms that the session has received its last delivery, and this is stored.
        """

    def count(self, call: Call, *, refused: bool, refusal: Refusal | None = None) -> None:
        """Renews the lease, counts the call towards the guards, and trips the one whose limit is reached."""

    def accompany(self, call: Call, operation: Operation, answer: JsonObject) -> JsonObject:
        """The answer with `next`, and the number of waiting notifications."""

    def recorded(self, call: Call, answer: JsonObject) -> JsonObject:
        """The answer with the versions of what its own call has made of the facts: they are numbered when stored."""


@dataclass
class _Installed:
    hooks: SessionHooks | None = None


_INSTALLED = _Installed()


def install(hooks: SessionHooks) -> None:
    _INSTALLED.hooks = hooks


def hooks() -> SessionHooks:
    assert _INSTALLED.hooks is not None, "toryo.operations.calls.groups.load() installs them"
    return _INSTALLED.hooks
