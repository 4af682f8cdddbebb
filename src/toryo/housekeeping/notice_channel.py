"""The interface of a notification channel: implemented by `webhook.py` and `mail.py`, used by `notice_sending.py`."""

from __future__ import annotations

from typing import Protocol

from toryo.domain.notices import Notice
from toryo.domain.times import Millis


class Undelivered(Exception):
    """Sending failed; `str()` gives the reason, without secrets."""


def address_of(notice: Notice, dashboard: str | None) -> str | None:
    """Where the need is settled. `dashboard`: where people open it (`TORYO_NOTICES__DASHBOARD_URL`)."""
    path = notice.content.get("path")
    return None if dashboard is None or path is None else dashboard + path


class Sender(Protocol):
    """A channel. `send` returns when the other side has accepted the notice; raises Undelivered."""

    def send(self, notice: Notice, now: Millis) -> None: ...

    def close(self) -> None: ...
