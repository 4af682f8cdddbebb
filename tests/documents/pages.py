"""The pages people read, taken apart: links, commands, code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {
    "cli.md",
    "tools.md",
    "api.md",
    "tables.md",
    "settings.md",
    "manifest.md",
    "coordinator.md",
    "reliability.md",
}


def pages() -> list[Path]:
    """Every Markdown page of the project."""
    below = [path for folder in ("docs", "examples") for path in sorted((ROOT / folder).rglob("*.md"))]
    return [*sorted(ROOT.glob("*.md")), *below]


def written() -> list[Path]:
    """Those that people wrote."""
    return [page for page in pages() if page.name not in GENERATED]


def japanese() -> list[Path]:
    """Those that tell in Japanese what an English one beside them tells."""
    return [path for path in written() if path.name.endswith(".ja.md")]


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


def printed(text: str) -> dict[str, str]:
    """By a block of commands, the block right below it that shows what they print."""
    return dict(re.findall(rf"^```sh\n({_INSIDE})```\n\n```\n({_INSIDE})```$", text, re.MULTILINE))


def differs(shown: str, printed: str) -> str:
    """The first lines shown that were not printed; empty if all were, in this order, and nothing between them. Ids,
    times and the numbers of events are anybody's. `…` stands for whatever was left out: of a line, or as a line for
    several. What `task watch` has seen on the way depends on when it looked, so only what it ends with is compared."""
    lines = [_masked(each) for each in printed.splitlines() if not _PASSES.match(each)]
    at, anywhere = 0, False
    for line in shown.splitlines():
        if _PASSES.match(line):
            continue
        if line == "…":
            anywhere = True
            continue
        wanted = re.compile(".*".join(map(re.escape, _masked(line).split("…"))))
        while anywhere and at < len(lines) and not wanted.fullmatch(lines[at]):
            at += 1
        if at >= len(lines) or not wanted.fullmatch(lines[at]):
            return f"{line!r} is shown, {lines[at : at + 3]} was printed"
        at, anywhere = at + 1, False
    return "" if anywhere or at == len(lines) else f"also printed: {lines[at : at + 3]}"


_INSIDE = r"(?:(?!```).*\n)*"
_PASSES = re.compile(r"[○◐] (todo|in_progress) ")


def _masked(line: str) -> str:
    """Ids as long as they were: columns stand below one another."""
    line = re.sub(r"\b(tsk|lau)_\w+", lambda found: found[1] + "_" * (len(found[0]) - 3), line.rstrip())
    line = re.sub(r"^ +\d+  (?=\d{4}-)", "     0  ", line)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "0000-00-00 00:00", line)


def uncommented(block: Block) -> list[str]:
    """What a machine would read of a block: its lines without comments, and without the spaces before these."""
    if block.language not in {"sh", "yaml"}:
        return block.text.splitlines()
    lines = (re.sub(r"(^|\s+)# .*$", "", line) for line in block.text.splitlines())
    return [line.rstrip() for line in lines if line.strip()]


def is_picture(block: Block) -> bool:
    """A drawing has words in it, not commands."""
    return not block.language and "┌" in block.text


def running(text: str) -> list[str]:
    """The lines outside of blocks."""
    return [line.strip() for line in _without_blocks(text).splitlines()]


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
    """The names by which headings are linked to, and those that a page keeps from earlier headings."""
    outside = _without_blocks(text)
    headings = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    kept = re.findall(r'^<a id="([\w-]+)"></a>$', outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(kept)


def links(text: str) -> Iterator[str]:
    """Targets of links that stay within the project."""
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            yield target


def _without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
