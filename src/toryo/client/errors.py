"""Errors of the client: refused, unreachable, or not a Toryo server."""

from __future__ import annotations

from typing import Any


class RefusalError(Exception):
    """The server refused the call and said what to do instead; nothing has changed.

    `data` is the whole answer (further keys: ids, possible moves, `next`).
    """

    def __init__(self, code: str, message: str, instruction: str = "", data: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message} {instruction}".rstrip())
        self.code = code
        self.message = message
        self.instruction = instruction
        self.data = data or {}


class Unreachable(Exception):
    """The server cannot be reached, or its answer was lost.

    `sent` says whether it may have read the request: then only a call that may be made twice is sent again.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class ProtocolError(Exception):
    """The address is not a Toryo server, or the request is for something that does not exist."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code
