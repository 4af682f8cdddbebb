"""What a page says that the code prints, the code prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.documents.pages import ROOT

PAGE = ROOT / "docs" / "how-to" / "sandbox.md"
OF_OTHERS = (
    *("Operation not permitted", "Could not resolve host", "Connection refused", "No such file or directory"),
    *("Read-only file system", "could not write config file", "Device or resource busy"),
)
"""What git, bubblewrap and the system print."""


def texts() -> Iterator[str]:
    """Every text in the source of a Coordinator, and of what it says of sandboxes; `…` for what is put into it."""
    source = ROOT / "src" / "toryo"
    for path in (*(source / "coordinator").glob("*.py"), source / "sandbox_signs.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield "".join(map(_part, node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _part(value: ast.expr) -> str:
    """Names of constants stand for their texts."""
    from toryo.coordinator import sandbox
    from toryo.sandbox_network import FIRST_PORT

    if isinstance(value, ast.Constant):
        return str(value.value)
    name = value.value.id if isinstance(value, ast.FormattedValue) and isinstance(value.value, ast.Name) else ""
    return str(FIRST_PORT) if name == "FIRST_PORT" else str(getattr(sandbox, name, "…")) if name.isupper() else "…"


def quoted(page: str) -> list[str]:
    table = page.partition("| Message | What to do |")[2]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    found = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    return found + re.findall(r"fails with\s+`([^`]+)`", page)


@pytest.fixture(scope="module")
def printed() -> str:
    return "\n".join(texts())


@pytest.mark.parametrize("message", quoted(PAGE.read_text()))
def test_messages_that_the_page_about_the_sandbox_quotes_are_those_that_are_printed(message: str, printed: str) -> None:
    parts = [part.strip() for part in message.split("…") if part.strip(" .:")]
    assert [part for part in parts if part not in OF_OTHERS and part not in printed] == []


def test_there_are_quoted_messages_on_that_page() -> None:
    assert len(quoted(PAGE.read_text())) > 10
