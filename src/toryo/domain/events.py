"""Events: what happened, who did it, to what. Append-only, written in the transaction that caused them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import Key
from toryo.domain.times import Millis

SETUP = "setup"
"""Replaces the tree id in events about agents and projects, which may affect decisions about any tree."""

_OF_SETUP = ("agent.", "project.")


def of_setup(kind: str) -> bool:
    return kind.startswith(_OF_SETUP)


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is `<thing>.<verb>`; `fact` says whether it changes what decisions about the tree read.

    `sequence` is assigned on storing: a reader that remembers the last one misses nothing.
    """

    id: str
    at: Millis
    actor_id: str
    by_person: bool
    kind: str
    fact: bool = False
    project_id: str | None = None
    root_id: str | None = None
    task_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    launch_id: str | None = None
    correlation_id: str | None = None
    data: dict[str, Any] = field(default_factory=dict, hash=False)
    sequence: Annotated[int, Key] = 0
