"""Messages made of content blocks, as Claude Code and Qwen Code print them: extracts the results of tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toryo.coordinator.program_output import Event, Returned


def results(content: Any) -> Iterable[Event]:
    """The tool results among the blocks of a message; ignores all others."""
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_result":
            yield Returned(
                _text(block.get("content")), bool(block.get("is_error")), str(block.get("tool_use_id") or "")
            )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(each.get("text") or "") for each in content)
    return str(content or "")
