"""A page in Japanese says what the English one beside it says: the same commands, examples, links and headings."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.documents import pages
from tests.documents.pages import Block

PAGES = pages.japanese()
_RESTS = ("。", "、", ":")


def drifted(japanese: str, english: str) -> list[str]:
    """Lines of blocks that only one of two pages has: `<` the first, `>` the second; comments and pictures aside."""
    ours, theirs = _shown(japanese), _shown(english)
    extra = [f"< {line}" for line in (Counter(ours) - Counter(theirs)).elements()]
    missing = [f"> {line}" for line in (Counter(theirs) - Counter(ours)).elements()]
    return extra + missing or [f"order: {one}" for one, other in zip(ours, theirs, strict=True) if one != other]


def _shown(text: str) -> list[str]:
    return [line for block in pages.blocks(text) if not pages.is_picture(block) for line in _lines(block)]


def _lines(block: Block) -> list[str]:
    return [f"```{block.language}", *pages.uncommented(block)]


def _targets(page: Path) -> list[Path]:
    """The files that a page links to, each as its English form; without the same page in the other language."""
    files = [_file(page, link) for link in pages.links(page.read_text(encoding="utf-8"))]
    return sorted(path for path in files if path != pages.english(page))


def _file(page: Path, target: str) -> Path:
    path, _, _ = target.partition("#")
    if path.endswith(".webp"):
        path = path.replace("-ja-", "-en-")  # a screenshot in the page's language
    return pages.english((page.parent / path).resolve() if path else page)


def test_the_first_pages_are_there_in_japanese() -> None:
    assert {pages.name(path) for path in PAGES} >= {
        "README.ja.md",
        "docs/tutorial.ja.md",
        "docs/tutorial/first-team-claude.ja.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_it_has_the_blocks_of_the_english_page_in_the_same_order(page: Path) -> None:
    english = pages.english(page).read_text(encoding="utf-8")
    assert drifted(page.read_text(encoding="utf-8"), english) == []


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_it_has_the_headings_of_the_english_page_one_by_one(page: Path) -> None:
    english = pages.english(page).read_text(encoding="utf-8")
    assert pages.levels(page.read_text(encoding="utf-8")) == pages.levels(english)


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_it_leads_where_the_english_page_leads(page: Path) -> None:
    assert _targets(page) == _targets(pages.english(page))


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_it_leads_to_japanese_pages_where_there_are_some(page: Path) -> None:
    others = [page.parent / link.partition("#")[0] for link in pages.links(page.read_text(encoding="utf-8"))]
    translated = {pages.english(each) for each in PAGES} - {pages.english(page)}
    assert [pages.name(other.resolve()) for other in others if other.resolve() in translated] == []


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_each_of_the_two_leads_to_the_other(page: Path) -> None:
    english = pages.english(page)
    assert english.name in pages.links(page.read_text(encoding="utf-8"))
    assert page.name in pages.links(english.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_its_lines_break_where_the_space_that_a_browser_makes_of_it_does_no_harm(page: Path) -> None:
    lines = pages.running(page.read_text(encoding="utf-8"))
    torn = [one for one, other in pairwise(lines) if one and not one.endswith(_RESTS) and _goes_on(other)]
    assert torn == []


def _goes_on(line: str) -> bool:
    """It belongs to the paragraph of the line before."""
    return line != "" and not line.startswith(("#", "|", "- "))


def test_a_command_that_only_one_of_them_has_would_be_noticed() -> None:
    english = "```sh\ntoryo up      # until ^C\ntoryo open\n```\n"
    assert drifted("```sh\ntoryo up   # ^C で終了\ntoryo open\n```\n", english) == []
    assert drifted("```sh\ntoryo up\n```\n", english) == ["> toryo open"]
    assert drifted("```sh\ntoryo open\ntoryo up\n```\n", english) == ["order: toryo open", "order: toryo up"]
    assert drifted("```yaml\ntoryo up\ntoryo open\n```\n", english) == ["< ```yaml", "> ```sh"]


def test_a_picture_may_have_words_of_its_own() -> None:
    assert drifted("```\n┌ サーバー ┐\n```\n", "```\n┌ server ┐\n```\n") == []
