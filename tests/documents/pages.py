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


def japanese() -> list[Path]:
    """Those that tell in Japanese what an English one beside them tells."""
    return [each for each in written() if each.name.endswith(".ja.md")]


def english(path: Path) -> Path:
    """The page that a Japanese one follows."""
    return path.with_name(path.name.replace(".ja.md", ".md"))


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


def uncommented(block: Block) -> list[str]:
    """What a machine would read of a block: its lines without comments, and without the spaces before these."""
    if block.language not in {"sh", "yaml"}:
        return block.text.splitlines()
    lines = (re.sub(r"(^|\s+)# .*$", "", each) for each in block.text.splitlines())
    return [each.rstrip() for each in lines if each.strip()]


def is_picture(block: Block) -> bool:
    """A drawing has words in it, not commands."""
    return not block.language and "┌" in block.text


def running(text: str) -> list[str]:
    """The lines outside of blocks."""
    return [each.strip() for each in _without_blocks(text).splitlines()]


def levels(text: str) -> list[int]:
    """How deep each heading stands, in their order."""
    return [len(each) for each in re.findall(r"^(#+) ", _without_blocks(text), re.MULTILINE)]


def commands(text: str) -> Iterator[str]:
    """Every `toryo …` a reader could type: in shell blocks (continued lines joined) and in the running text."""
    for block in blocks(text):
        if block.language == "sh":
            joined = block.text.replace("\\\n", " ")
            yield from (line.strip() for line in joined.splitlines() if line.strip().startswith("toryo "))
    for line in re.findall(r"`(toryo [^`]+)`", _without_blocks(text)):
        yield " ".join(line.split())


def anchors(text: str) -> set[str]:
    """The names by which headings are linked to."""
    headings = re.findall(r"^#+ (.+)$", _without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def links(text: str) -> Iterator[str]:
    """Targets of links that stay within the project."""
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            yield target


def _without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
