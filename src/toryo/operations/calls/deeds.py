"""Deeds (`toryo.deeds`) as people are shown them, and who may do them: the catalogue knows what an operation needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toryo.deeds import Blank, Deed
from toryo.domain.wording import constant
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.schemas import NeedAction

_NOT_FOR_VIEWERS = (Grant.WRITER, Grant.OWNER)


def may(login: Login, deed: Deed) -> bool:
    """Whether who is signed in so may call its operation; a deed is not suggested to anybody else."""
    grant = catalogue()[deed.verb.operation].grant
    if login is Login.VIEWER:
        return grant not in _NOT_FOR_VIEWERS
    return login is Login.OWNER or grant is not Grant.OWNER


def as_answer(deeds: Iterable[Deed]) -> list[NeedAction]:
    """What the person has to fill in is no argument yet."""
    return [
        {
            "name": each.name,
            "label": constant(each.verb.label),
            "operation": each.verb.operation,
            "arguments": {**each.verb.given, **{name: it for name, it in each.arguments.items() if not _is_open(it)}},
            "command": each.command,
        }
        for each in deeds
    ]


def _is_open(value: Any) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else (value,)
    return any(isinstance(each, Blank) for each in inner)
