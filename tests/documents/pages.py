"""The pages people read, taken apart: links, commands, code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"cli.md", "tools.md", "tables.md", "settings.md", "manifest.md"}


def pages() -> list[Path]:
    """Every Markdown page of the project."""
    below = [each for folder in ("docs", "examples") for each in sorted((ROOT / folder).rglob("*.md"))]
    return [*sorted(ROOT.glob("*.md")), *below]


def written() -> list[Path]:
    """Those that people wrote."""
    return [each for each in pages() if each.name not in GENERATED]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    language: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    """The fenced code blocks of a page."""
    for language, inside in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield Block(language, inside)


def commands(text: str) -> Iterator[str]:
    """Every `toryo …` a reader could type: in shell blocks (continued lines joined) and in the running text."""
    for block in blocks(text):
        if block.language == "sh":
            joined = block.text.replace("\\\n", " ")
            yield from (line.strip() for line in joined.splitlines() if line.strip().startswith("toryo "))
    without_blocks = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`(toryo [^`]+)`", without_blocks):
        yield " ".join(line.split())


def anchors(text: str) -> set[str]:
    """The names by which headings are linked to."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def links(text: str) -> Iterator[str]:
    """Targets of links that stay within the project."""
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            yield target
