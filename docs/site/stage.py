"""Lays out the folder from which MkDocs builds the site: the pages of docs/, and some from outside of it.

The pages are written for readers of the repository, where every relative link leads to a file. Here links are turned
into those of the site, and drawings are put into their pages, so that they follow the page's light and dark mode.
mkdocs.yml says where pages stand in the navigation.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import figures

ROOT = Path(__file__).resolve().parents[2]
FROM_OUTSIDE = {
    "CHANGELOG.md": "versions.md",
    "AGENTS.md": "contributing/code.md",
    "SECURITY.md": "contributing/vulnerabilities.md",
    "benchmarks/README.md": "contributing/benchmarks.md",
    "examples/nightly-maintenance/README.md": "examples/nightly-maintenance.md",
    "examples/orchestrator/README.md": "examples/orchestrator.md",
    "examples/release-checklist/README.md": "examples/release-checklist.md",
    "examples/translate-a-folder/README.md": "examples/translate-a-folder.md",
}
"""Pages outside of docs/, and where they stand in the site."""
INSTEAD = {"README.md": "index.md", "README.ja.md": "index.md", "docs": "index.md", "examples": "how-to.md"}
"""What the site has no page of, and the page to which a link to it leads."""
PICTURES = ("*.svg", "*.webp", "*.png")

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_OTHER_LANGUAGE = re.compile(r"^\[(?:日本語|English)\]\([^)]*\)\n+", re.MULTILINE)
_BROKEN_LINE = re.compile(
    r"(?<=[ぁ-んァ-ヶー一-龥。、）」])\n *(?=[ぁ-んァ-ヶ一-龥「（])|(?<=[。、）」])\n *(?=(?!```|\d+\. )[A-Za-z0-9`\[])"
)
"""Where a line ends within Japanese text: a browser would show a space there."""
_HEADING = re.compile(r"^(#+ )(.+)$", re.MULTILINE)
_ITEM = re.compile(r"(?:[-*] |\d+\. )")


def sources() -> dict[str, str]:
    """Every page of the site by its place in the repository."""
    own = {posixpath.join("docs", name): name for name in _below(ROOT / "docs", "*.md")}
    return {**own, **FROM_OUTSIDE}


def _below(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob(pattern))


class Stage:
    """Writes what has changed, and nothing else: `mkdocs serve` builds again after each write."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.places = sources()
        self.written: set[Path] = set()

    def lay_out(self) -> None:
        for source, place in self.places.items():
            self.write(place, self.page(source, place).encode())
        for pattern in PICTURES:
            for name in _below(ROOT / "docs", pattern):
                self.write(name, (ROOT / "docs" / name).read_bytes())
        style = (ROOT / "docs" / "site" / "site.css").read_text(encoding="utf-8")
        self.write("assets/site.css", (style + figures.IN_PAGE).encode())
        for path in self.target.rglob("*"):
            if path.is_file() and path not in self.written:
                path.unlink()

    def write(self, place: str, content: bytes) -> None:
        path = self.target / place
        self.written.add(path)
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def page(self, source: str, place: str) -> str:
        """The page as MkDocs reads it. The site has its own switch of languages."""
        text = _OTHER_LANGUAGE.sub("", (ROOT / source).read_text(encoding="utf-8"), count=1)
        anchors: list[str] = []
        if source.endswith(".ja.md"):
            english = (ROOT / source.replace(".ja.md", ".md")).read_text(encoding="utf-8")
            anchors = [_anchor(found[2]) for part in _parts(english)[::2] for found in _HEADING.finditer(part)]
        parts = _parts(text)
        parts[::2] = [self._prose(_with_anchors(part, anchors), source, place) for part in parts[::2]]
        return "".join(parts)

    def _prose(self, text: str, source: str, place: str) -> str:
        text = _PICTURE.sub(lambda found: self._picture(found, source, place), text)
        text = _LINK.sub(lambda found: f"[{found[1]}]({self._target(found[2], source, place)})", text)
        return _with_room_for_lists(_BROKEN_LINE.sub("", text))

    def _picture(self, found: re.Match[str], source: str, place: str) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
        if not file.endswith(".svg"):
            return f"![{found[1]}]({_relative(file.removeprefix('docs/'), place)})"
        drawing = re.sub(r"<style>.*?</style>\n", "", (ROOT / file).read_text(encoding="utf-8"), flags=re.DOTALL)
        return f'<figure class="drawing" data-search-exclude>\n{drawing.strip()}\n</figure>'

    def _target(self, target: str, source: str, place: str) -> str:
        """A link as the site has it. A file that is no page is copied beside the pages, as text."""
        if "://" in target or target.startswith(("#", "mailto:")):
            return target
        path, hash_sign, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        there = INSTEAD.get(file) or self.places.get(file)
        if there is None and (ROOT / file).is_file():  # a name with two dots would be taken for one with a language
            there = file.removeprefix("docs/") if file.endswith(".webp") else f"source/{file.replace('.', '_')}.txt"
            self.write(there, b"\xef\xbb\xbf" + (ROOT / file).read_bytes())  # the mark tells browsers that it is UTF-8
        if there is None:
            return target
        return _relative(re.sub(r"\.ja\.md$", ".md", there), place) + hash_sign + anchor


def _parts(text: str) -> list[str]:
    """Prose and blocks of code, by turns."""
    return re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)


def _anchor(heading: str) -> str:
    """How links name a heading, as GitHub does it, and mkdocs.yml says for the site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _with_anchors(text: str, anchors: list[str]) -> str:
    """A Japanese page's headings can be reached by the names of the English ones, too: pages that are not translated
    lead to them. Takes the names it uses out of `anchors`; other pages have none."""
    if not anchors:
        return text
    return _HEADING.sub(lambda found: f'{found[1]}<a id="{anchors.pop(0)}"></a>{found[2]}', text)


def _relative(there: str, place: str) -> str:
    return os.path.relpath(there, posixpath.dirname(place) or ".").replace(os.sep, "/")


def _with_room_for_lists(text: str) -> str:
    """A blank line before each list: GitHub needs none after a paragraph, Python-Markdown does."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        before = lines[-1] if lines else "\n"
        if _ITEM.match(line) and before.strip() and not _ITEM.match(before) and not before.startswith(" "):
            lines.append("\n")
        lines.append(line)
    return "".join(lines)
