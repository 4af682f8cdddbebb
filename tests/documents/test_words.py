"""Everything that people and agents read keeps to the words of docs/contributing/words.md."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polib
import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "contributing" / "words.md"
CATALOGUE = ROOT / "src" / "toryo" / "locale" / "ja" / "LC_MESSAGES" / "toryo.po"
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龥]")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`')
QUOTED_OR_COMMENT = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/""",
    re.DOTALL,
)
Line = tuple[str, str]
"""Where a text stands ("path:line"), and the text."""


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the guide, without its head."""
    section = GUIDE.read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


@cache
def refused(language: str) -> dict[str, str]:
    """The expressions that a language's texts must not hold, each with what to write instead."""
    if language == "ja":
        terms = [(row[4], row[1]) for row in rows("Terms")]
    else:
        terms = [(row[3], row[0]) for row in rows("Terms")] + [
            (row[0], row[1]) for row in rows("Turns that are refused")
        ]
    return {term.strip(): instead for listed, instead in terms for term in listed.split(",") if term.strip()}


def misspelt(texts: Iterator[Line], language: str) -> list[str]:
    found = []
    for where, text in texts:
        for term, instead in refused(language).items():
            pattern = term if language == "ja" else rf"\b(?:{term})\b"
            if said := re.search(pattern, text, re.IGNORECASE):
                found.append(f"{where}: {said.group()!r}: write {instead}. … {text.strip()[:160]!r}")
    return found


def without_code(text: str) -> str:
    return re.sub(r"`[^`]+`", "`…`", text)


def sources(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts)


def strings(paths: list[Path]) -> Iterator[Line]:
    """Texts with a blank in Python sources: messages and help, and the docstrings that become help or descriptions."""
    for path in paths:
        tree = ast.parse(path.read_text())
        internal = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)} - _shown(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or node in internal:
                continue
            if isinstance(node.value, str) and " " in node.value:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def notes(paths: list[Path]) -> Iterator[Line]:
    """Docstrings and comments in Python sources, without code in them; adjacent lines are joined."""
    yield from ((where, without_code(text)) for where, text in _notes(paths))


def _notes(paths: list[Path]) -> Iterator[Line]:
    for path in paths:
        source = path.read_text()
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.value.split())
        first, last, block = 0, 0, ""
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type != tokenize.COMMENT:
                continue
            number, said = token.start[0], token.string.lstrip("# ")
            if block and number == last + 1:
                last, block = number, f"{block} {said}"
                continue
            if block:
                yield f"{path.relative_to(ROOT)}:{first}", block
            first, last, block = number, number, said
        if block:
            yield f"{path.relative_to(ROOT)}:{first}", block


def _shown(tree: ast.Module) -> set[ast.expr]:
    """The docstrings that callers read: those of operations and commands."""
    return {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
        and any("operation" in ast.unparse(by) or "command" in ast.unparse(by) for by in node.decorator_list)
    }


def pages(language: str) -> Iterator[Line]:
    """The prose of all pages of a language, without code, and without the guide, which names what it refuses."""
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]):
        if path == GUIDE or path.name.endswith(".ja.md") != (language == "ja") or path.name == "CHANGELOG.md":
            continue
        code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code ^= line.lstrip().startswith("```")
            if not code:
                yield f"{path.relative_to(ROOT)}:{number}", without_code(line)


def dashboard(language: str) -> Iterator[Line]:
    for path in sorted((ROOT / "web" / "src").rglob("*.ts*")):
        if ("words" not in path.name and path.parent.name != "i18n") or ".test." in path.name:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for text in QUOTED.findall(line):
                if bool(JAPANESE.search(text)) == (language == "ja"):
                    yield f"{path.relative_to(ROOT)}:{number}", text


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each comment in TypeScript; adjacent `//` lines are one comment."""
    last, first, block = 0, 0, ""
    for found in QUOTED_OR_COMMENT.finditer(source):
        if found["quoted"] is not None:
            continue
        number = source.count("\n", 0, found.start()) + 1
        text = found["line"] if found["line"] is not None else re.sub(r"\n\s*\*", "\n", found["block"]).strip("*")
        text = " ".join(text.split())
        if block and found["line"] is not None and number == last + 1:
            last, block = number, f"{block} {text}"
            continue
        if block:
            yield first, block
        first, last, block = number, number, text
    if block:
        yield first, block


def dashboard_notes() -> Iterator[Line]:
    """The comments of the dashboard's sources. api/schema.ts is generated from docstrings that `notes` reads."""
    for path in sorted((ROOT / "web" / "src").rglob("*.ts*")):
        if path.name == "schema.ts":
            continue
        for number, text in comments(path.read_text()):
            yield f"{path.relative_to(ROOT)}:{number}", without_code(text)


def catalogue() -> Iterator[Line]:
    for entry in polib.pofile(str(CATALOGUE)):
        yield f"{CATALOGUE.relative_to(ROOT)}:{entry.linenum}", entry.msgstr


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        pytest.param(lambda: strings(sources("src/toryo")), "en", id="python", marks=pytest.mark.deep),
        pytest.param(
            lambda: notes(sources("src/toryo")), "en", id="python docstrings and comments", marks=pytest.mark.deep
        ),
        pytest.param(lambda: pages("en"), "en", id="pages"),
        pytest.param(lambda: dashboard("en"), "en", id="dashboard"),
        pytest.param(dashboard_notes, "en", id="dashboard comments"),
        pytest.param(catalogue, "ja", id="catalogue in Japanese"),
        pytest.param(lambda: pages("ja"), "ja", id="pages in Japanese"),
        pytest.param(lambda: dashboard("ja"), "ja", id="dashboard in Japanese"),
    ],
)
def test_texts_keep_to_the_words_of_the_guide(texts, language):
    read = list(texts())
    assert len(read) > 100
    assert not misspelt(iter(read), language)


def test_every_row_of_the_guide_has_all_cells_and_its_expressions_are_valid():
    assert {len(row) for row in rows("Terms")} == {5}
    assert {len(row) for row in rows("Turns that are refused")} == {2}
    for language in ("en", "ja"):
        for term in refused(language):
            re.compile(term)


def test_a_refused_word_is_found_and_what_only_holds_its_letters_is_not():
    assert misspelt(iter([("here:1", "Whom do you answer?")]), "en")
    assert misspelt(iter([("here:1", "作業ツリーを作る")]), "ja")
    assert not misspelt(iter([("here:1", "Recommended: amend the commit, then plantain.")]), "en")


def test_no_preferred_term_is_refused():
    for language, column in (("en", 0), ("ja", 1)):
        assert not misspelt(iter([(row[0], row[column]) for row in rows("Terms")]), language)


def test_comments_of_typescript_are_read_and_addresses_in_strings_are_not():
    source = """const a = "https://example.org"; // first
    // and second
    const b = `http://x/${'/* no */'}`;
    /** A block
     *  of two lines. */
    const c = 'it\\'s // no';"""
    assert list(comments(source)) == [(1, "first and second"), (4, "A block of two lines.")]
