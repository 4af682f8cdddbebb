"""Pagination: `limit` and `cursor` in, `next_cursor` out. Cursors are opaque and stay valid while data changes.

A cursor names the last item shown, so that no item is repeated and no existing one is skipped.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, Self, TypeVar

import orjson
from pydantic import Field

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls.catalogue import Audience, Parameters
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import Result

Item = TypeVar("Item")
LONGEST = 1_000


class Paged(Parameters):
    """Base of the parameters of lists that grow."""

    limit: int | None = Field(
        None,
        ge=1,
        le=LONGEST,
        description="Page size; more with next_cursor.",
        json_schema_extra=listed_for(Audience.NONE),
    )
    cursor: str | None = Field(
        None, max_length=500, description="next_cursor of the previous page.", json_schema_extra=PLAIN
    )

    def at_most(self, usual: int) -> Self:
        """The same, with this limit where none was given: for what would be too much at once."""
        return self if self.limit is not None else self.model_copy(update={"limit": usual})


class Page(Result):
    """Base of their results. `next_cursor` is there as long as there is more."""

    next_cursor: NotRequired[str]


APage = TypeVar("APage", bound=Page)


def paged(answer: APage, cursor: str | None) -> APage:
    """The answer, with the cursor of the next page if there is one."""
    if cursor is not None:
        answer["next_cursor"] = cursor
    return answer


def cursor_of(*key: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def key_of(cursor: str | None, *kinds: type) -> list[Any] | None:
    """What `cursor_of` was given; None without a cursor. Raises Refusal for what is none of this list."""
    if cursor is None:
        return None
    try:
        key = orjson.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error):
        key = None
    if not isinstance(key, list) or [type(each) for each in key] != list(kinds):
        raise not_a_cursor(cursor)
    return key


def not_a_cursor(cursor: str) -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR,
        say("cursor: {cursor!r} is not a cursor of this list.", cursor=cursor[:40]),
        "Pass next_cursor of the previous page unchanged; omit it for the first page.",
    )


def cut(items: Sequence[Item], wanted: Paged, key: Callable[[Item], str]) -> tuple[list[Item], str | None]:
    """A page of a list that is read whole, and the cursor of the next one where there is more.

    The cursor holds the name of the last item, and its place for the case that it is gone meanwhile.
    """
    first = key_of(wanted.cursor, int, str)
    start = 0
    if first is not None:
        place = next((at for at, item in enumerate(items) if key(item) == first[1]), None)
        start = place + 1 if place is not None else max(0, first[0] - 1)
    end = len(items) if wanted.limit is None else start + wanted.limit
    shown = list(items[start:end])
    return shown, cursor_of(end, key(shown[-1])) if shown and end < len(items) else None
