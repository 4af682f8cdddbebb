"""Messages made of blocks, as Claude Code and Qwen Code print them: what tools have answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toryo.coordinator.program_output import Event, Returned


def results(content: Any) -> Iterable[Event]:
    """The tools' answers among the blocks of a message; whatever else it holds is passed over."""
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_result":
            yield Returned(_text(block.get("content")), bool(block.get("is_error")))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(each.get("text") or "") for each in content)
    return str(content or "")
