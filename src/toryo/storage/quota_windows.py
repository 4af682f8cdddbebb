"""The quota windows of accounts, as rows. A use is counted in one statement, so servers at the same time lose none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from toryo.domain.quota_windows import CLOCK_SKEW, Length, Window
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, in_list, offered, upsert

_w = schema.quota_windows
_KEY = ("account", "length")
_ALL_COLUMNS = [column.name for column in _w.columns]
_new = offered(_w)
_is_over: sa.ColumnElement[bool] = sa.or_(
    _w.c.began_at.is_(None),
    _w.c.began_at + _w.c.length_ms <= _new.began_at,
    _w.c.began_at > _new.began_at + CLOCK_SKEW,
)
_used = sa.case((_is_over, _new.used), else_=_w.c.used + _new.used)
_COUNT = upsert(
    _w,
    _ALL_COLUMNS,
    _KEY,
    {
        "used": _used,
        "began_at": sa.case((_is_over, _new.began_at), else_=_w.c.began_at),
        "learnt_limit": sa.case((_w.c.learnt_limit < _used, _used), else_=_w.c.learnt_limit),
    },
)
_LEARN = upsert(_w, _ALL_COLUMNS, _KEY, ["began_at", "learnt_limit", "learnt_at"])
_EDIT = upsert(_w, _ALL_COLUMNS, _KEY, ["set_limit", "learnt_limit", "learnt_at", "reserve", "low_spare"])
_SHOWN = (
    _w.c.account,
    _w.c.length,
    _w.c.began_at,
    _w.c.used,
    _w.c.set_limit,
    _w.c.learnt_limit,
    _w.c.learnt_at,
    _w.c.reserve,
    _w.c.low_spare,
)
_EVERY = Statement(sa.select(*_SHOWN).order_by(_w.c.account))
_OF = Statement(sa.select(*_SHOWN).where(in_list(_w.c.account, "accounts")))
_KEEPING = Statement(sa.select(*_SHOWN).where(sa.or_(_w.c.reserve > 0, _w.c.low_spare)))


class QuotaWindows:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> list[Window]:
        return _windows(self._connection.all(_EVERY))

    def of(self, accounts: Iterable[str]) -> list[Window]:
        return _windows(self._connection.all(_OF, accounts=sorted(set(accounts))))

    @cached_property
    def keeping(self) -> list[Window]:
        """The windows of all accounts that keep something, as they are in this transaction."""
        return _windows(self._connection.all(_KEEPING))

    def count(self, account: str, tokens: int, now: Millis) -> None:
        """Adds to the open windows of an account; a window that is over, or was not there, begins now."""
        self._connection.many(
            _COUNT, [_values(Window(account, length, began_at=now, used=tokens)) for length in Length]
        )
        self._forget()

    def learn(self, window: Window) -> None:
        """When it began, and its limit, from what the provider has said."""
        self._connection.run(_LEARN, **_values(window))
        self._forget()

    def edit(self, windows: Iterable[Window]) -> None:
        """What people set, and forget of what was learnt."""
        self._connection.many(_EDIT, [_values(each) for each in windows])
        self._forget()

    def _forget(self) -> None:
        vars(self).pop("keeping", None)


def _values(window: Window) -> dict[str, Any]:
    return {
        "account": window.account,
        "length": window.length.value,
        "length_ms": window.length.millis,
        "began_at": window.began_at,
        "used": window.used,
        "set_limit": window.set_limit,
        "learnt_limit": window.learnt_limit,
        "learnt_at": window.learnt_at,
        "reserve": window.reserve,
        "low_spare": window.low_spare,
    }


def _windows(rows: Iterable[Any]) -> list[Window]:
    """By account, the shortest first."""
    found = [Window(row[0], Length(row[1]), *row[2:]) for row in rows]
    return sorted(found, key=lambda each: (each.account, each.length.millis))
