"""What every model API has to be able to do here: read a request as a Turn, write an answer down, word an error."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from tests.clis.turns import Fault, Turn
from tests.clis.wiring import WireReply

Body = Mapping[str, Any]
WORDS = {
    401: "invalid api key",
    403: "permission denied",
    404: "model not found",
    429: "rate limit exceeded",
    500: "internal server error",
    529: "overloaded",
}
"""What a fault says that was given no words."""


class Api(ABC):
    name: str

    @abstractmethod
    def serves(self, path: str) -> bool:
        """Whether a POST to this path asks the model for an answer."""

    @abstractmethod
    def turn(self, path: str, body: Body, headers: Mapping[str, str]) -> Turn:
        """The request in neutral words."""

    @abstractmethod
    def streams(self, path: str, body: Body) -> bool:
        """Whether the answer is to come as server-sent events."""

    @abstractmethod
    def events(self, reply: WireReply) -> Iterator[str]:
        """The server-sent events of an answer."""

    @abstractmethod
    def whole(self, reply: WireReply) -> Body:
        """The answer as one document."""

    @abstractmethod
    def error(self, fault: Fault) -> Body:
        """The document of an error."""


def event(data: Body, name: str | None = None) -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n"


def words(fault: Fault) -> str:
    return fault.message or WORDS.get(fault.status, "error")


def texts(content: Any) -> str:
    """The text of a message: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)
