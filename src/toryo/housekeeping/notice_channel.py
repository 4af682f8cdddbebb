"""What a way out of the house promises: `webhook.py` and `mail.py` are such, `notice_sending.py` uses them."""

from __future__ import annotations

from typing import Protocol

from toryo.domain.notices import Notice
from toryo.domain.times import Millis


class Undelivered(Exception):
    """It could not be sent; `str()` says why, without any secret."""


class Sender(Protocol):
    """One way out. `send` answers when the other side has taken it; raises Undelivered."""

    def send(self, notice: Notice, now: Millis) -> None: ...

    def close(self) -> None: ...
