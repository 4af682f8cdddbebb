"""Shared values: the interface, and its implementation in the database (Redis: `shared_state_redis.py`).

tests/storage/test_shared_state.py runs the same tests on every implementation.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.domain.queue import Entry
from toryo.domain.times import Millis
from toryo.domain.wording import say
from toryo.storage.transaction import Transaction


class Quota(NamedTuple):
    """Limits of the live values of a project."""

    bytes: int
    entries: int


QUOTA = Quota(bytes=32 * 1024 * 1024, entries=10_000)


class Shared(Protocol):
    def get(self, project_id: str, key: str) -> Entry | None:
        """The last value set, expired or not; None if there never was one, or it expired long ago."""

    def put(
        self,
        project_id: str,
        key: str,
        value: Any,
        by: str,
        now: Millis,
        ttl: Millis,
        expected: int | None,
        *,
        once: str = "",
        quota: Quota = QUOTA,
    ) -> Entry:
        """Sets the value and increments its version. Raises Refusal: `conflict` if the version differs from `expected`,
        `limitReached` if the project's values would exceed the quota and grow.

        `once` identifies the call: a transaction's work may run again, and then the value is already set.
        """

    def all(self, project_id: str) -> list[Entry]:
        """Ordered by key, at most 1,000."""


def too_many(quota: Quota) -> Refusal:
    return Refusal(
        Code.LIMIT_REACHED,
        say(
            "The shared values of this project would exceed {bytes:,} bytes or {entries:,} values.",
            bytes=quota.bytes,
            entries=quota.entries,
        ),
        "Delete values that are no longer needed (set them with ttl 1), or store large ones in files and share "
        "their paths.",
        limit=quota.bytes,
    )


def conflict(key: str, version: int, expected: int) -> Refusal:
    return Refusal(
        Code.CONFLICT,
        say("{key} has version {version}, not {expected}.", key=key, version=version, expected=expected),
        "Read it again (get_shared_state) and repeat your change with the new value.",
        key=key,
        version=version,
    )


class InDatabase:
    """Shared values in the call's transaction, under the project's lock."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, project_id: str, key: str) -> Entry | None:
        return self._tx.queues.entry(project_id, key)

    def put(
        self,
        project_id: str,
        key: str,
        value: Any,
        by: str,
        now: Millis,
        ttl: Millis,
        expected: int | None,
        *,
        once: str = "",  # noqa: ARG002 - what a transaction has not committed was not done
        quota: Quota = QUOTA,
    ) -> Entry:
        before = self._tx.queues.entry(project_id, key)
        present = before.version if before is not None and not before.expired(now) else 0
        if expected is not None and expected != present:
            raise conflict(key, present, expected)
        others, taken = self._tx.queues.entries_beside(project_id, key, now)
        size = len(orjson.dumps(value))
        was = len(orjson.dumps(before.value)) if before is not None and present else 0
        if (not was and others >= quota.entries) or (size > was and taken + size > quota.bytes):
            raise too_many(quota)
        version = (before.version if before is not None else 0) + 1
        entry = Entry(project_id, key, value, version, now, by, now + ttl)
        self._tx.queues.save_entry(entry)
        return entry

    def all(self, project_id: str) -> list[Entry]:
        return self._tx.queues.entries(project_id)
