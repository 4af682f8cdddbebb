"""On a terminal of 80 columns: no word is broken and no line is longer, but for a word that is longer than the line.

Every command of the tree is tried, with long English and Japanese names in every text of the server: a new command, or
a new field, is tried without a word here.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli import test_hostile_texts as every_command
from tests.cli.test_hostile_texts import TRIED, EvilServer, line_of, run
from toryo.cli import init_apply, output, text_layout
from toryo.cli.text_layout import Cell
from toryo.client import Client
from toryo.coordinator.providers import BUILT_IN

LONG = (
    "Incomprehensiveness of the counterrevolutionary 棟梁の（たいへん長い）コーディネーターの名前、その一。 and"
    " uncharacteristically overcomplicated institutionalizations"
)
WORDS = [part for part in LONG.split() if len(part) > 12 and part.isascii()] + ["コーディネーター"]
PROGRAMS_OWN = {"logs", "task diff"}
"""What a program printed is shown as it printed it."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def getvalue(self) -> str:
        """Without its colours."""
        return re.sub("\x1b\\[[0-9;]*m", "", super().getvalue())


def narrow(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """From here on: pytest sets streams of its own between a fixture and its test."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    output.console.cache_clear()
    output.messages.cache_clear()
    return terminal


def too_long(printed: str) -> list[str]:
    """Lines that do not fit, though they have blanks at which they could have been folded."""
    return [
        line for line in printed.splitlines() if text_layout.width(line) > 80 and len(text_layout.folded(line, 80)) > 1
    ]


def broken(printed: str) -> list[str]:
    """Words of which a beginning or an end stands somewhere without the rest."""
    return [
        each for each in WORDS if {printed.count(each[:7]), printed.count(each[-7:])} - {printed.count(each)} != set()
    ]


@pytest.mark.parametrize("name", sorted(TRIED.keys() - PROGRAMS_OWN))
def test_no_command_breaks_a_word_or_prints_beyond_the_terminal(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = narrow(monkeypatch)
    evil = EvilServer()
    monkeypatch.setattr(Client, "rest", lambda _client, *given, **named: evil.rest(*given, **named))
    monkeypatch.setattr(Client, "has", lambda *_: True)
    monkeypatch.setattr(every_command, "HOSTILE", LONG)
    run(line_of(name, TRIED[name], tmp_path), json_wanted=False)
    printed = terminal.getvalue().replace(str(tmp_path), "")
    assert (too_long(printed), broken(printed)) == ([], [])


def test_a_table_with_long_cells_fits_and_its_ids_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    task = "tsk_1m8361gbe8md4mb4pap"
    output.table(("ID", "TITLE", "WHO", "HOW"), [(task, "A long title " * 6, "ben", "make all " * 9)], empty="")
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert task in lines[1]


def test_what_has_no_room_beside_the_others_stands_below_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    row = ("tsk_1m8361gbe8md4mb4pap", "a-worker-with-quite-a-long-name", "a-project-of-theirs", "  A part of a title")
    output.table(("ID", "WHO", "PROJECT", "TITLE"), [row], empty="")
    head, below, first, *rest = terminal.getvalue().splitlines()
    assert (head.split(), below) == (["ID", "WHO", "PROJECT"], "    TITLE")
    assert (first.split(), rest) == (list(row[:3]), ["      A part of a title"])


def test_numbers_end_below_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    output.table(("DAY", "INPUT"), [("a", "1"), ("b", "1,000")], empty="", right=[1])
    assert terminal.getvalue().splitlines()[1:] == ["a        1", "b    1,000"]


def test_a_folded_cell_goes_on_below_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    output.fields({"name": "some words " * 20})
    first, *rest = terminal.getvalue().splitlines()
    assert first.startswith("name  some words")
    assert rest != []
    assert all(each.startswith(("      some", "      words")) for each in rest)


def test_what_has_parts_is_shown_as_a_file_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    output.fields({"context": {"command": "ls", "outputs": ["a", "b"]}, "members": ["ann", "ben"]})
    assert terminal.getvalue().splitlines() == [
        *("context  command: ls", "         outputs:", "         - a", "         - b"),
        "members  ann, ben",
    ]


def test_a_long_line_is_folded_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    output.done("  12  task.created  " + "some words " * 20, indent=8)
    first, *rest = terminal.getvalue().splitlines()
    assert all(len(each) <= 80 and each.startswith("        ") for each in rest)
    assert first.endswith(("some", "words"))


@pytest.mark.parametrize(
    ("line", "room", "lines"),
    [
        ("日本語の文は、どこでも折り返せる。", 10, ["日本語の文", "  は、どこ", "  でも折り", "  返せる。"]),
        ("彼は「サーバー」を見る", 14, ["彼は", "  「サーバー」", "  を見る"]),
        (
            "short /a/path/that/is/longer/than/the/line end",
            20,
            ["short", "  /a/path/that/is/longer/than/the/line", "  end"],
        ),
        ("look at /srv/パン屋/の/中/です now", 20, ["look at", "  /srv/パン屋/の/中/です", "  now"]),
        ("a  b   c", 80, ["a  b   c"]),
        ("", 80, [""]),
    ],
)
def test_a_line_ends_where_a_reader_expects_it(line: str, room: int, lines: list[str]) -> None:
    assert text_layout.folded(line, room) == lines


COPIED = [
    *sorted({provider.install for provider in BUILT_IN.values() if provider.install}),
    "toryo task add TITLE --project bakery --assignee runner --status in_progress",
    """toryo task edit tsk_1m8361gbe8md4mb4pap --context '{"command": "…"}'""",
    "toryo db move --data-dir '/home/ann/My Projects/bakery'",
    "/home/ann/toryo/.venv/bin/toryo apply toryo.yaml",
    "/usr/bin/python3 -m toryo down --data-dir /srv/data",
    "kill -9 4711",
    "/home/ann/.local/share/toryo/projects/bakery-0123456789/data",
    "'/home/ann/My Projects/bakery/toryo.yaml'",
]


@pytest.mark.parametrize("copied", COPIED)
@pytest.mark.parametrize(
    "written", ["To do it: {}. Then go on", "install one, such as {}; or another", "`{}` (or not)"]
)
def test_what_is_to_be_copied_stands_on_one_line_however_narrow_the_terminal(copied: str, written: str) -> None:
    for room in range(20, 100):
        lines = text_layout.folded(f"  {written.format(copied)} " + "with many more words " * 9, room)
        assert any(copied in line for line in lines), (room, lines)
        assert not any(text_layout.width(line) > room for line in lines if copied not in line), (room, lines)


def test_paths_that_init_names_stand_on_one_line_though_they_have_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    team = Path("/home/ann/My Projects/the bakery around the corner/toryo.yaml")
    init_apply._print_next(team, Path("/srv/all the data/that there is"), init_apply.Plan("bakery", ["claude"]), [])
    printed = terminal.getvalue().splitlines()
    assert any(f"'{team}'" in each for each in printed), printed
    assert any("'/srv/all the data/that there is'" in each for each in printed), printed


def test_the_words_around_a_command_are_folded_as_ever() -> None:
    for prose in (
        "toryo doctor says what is missing, and much more than that",
        "toryo: warning: it is not there at all",
    ):
        assert all(text_layout.width(each) <= 30 for each in text_layout.folded(prose, 30)), prose


def test_a_folded_command_means_the_same_to_a_shell() -> None:
    command = "toryo task add 'Write it all down,  twice' --project \"my project\" --description 'It is \"so\"'"
    folded = text_layout.command(command, 40)
    assert len(folded) > 1
    typed = "toryo() { printf '%s\\n' toryo \"$@\"; }\n" + "\n".join(folded)
    heard = subprocess.run(["sh", "-c", typed], capture_output=True, text=True, check=True).stdout
    assert heard.splitlines() == shlex.split(command)


TEXTS = st.lists(
    st.sampled_from(["a", "words", "w" * 30, "https://example.org/" + "x" * 70, "", "one\ntwo"]), max_size=4
)


@given(rows=st.lists(st.lists(TEXTS.map(" ".join), min_size=3, max_size=3), max_size=3), room=st.integers(20, 120))
@pytest.mark.parametrize("headings", [("ID", "TITLE", "WHY"), ()])
def test_a_table_with_and_without_headings_has_every_word_at_every_width(
    headings: tuple[str, ...], rows: list[list[str]], room: int
) -> None:
    if not headings and not rows:
        return
    lines = text_layout.table(headings, [[Cell(each) for each in row] for row in rows], room)
    printed = "".join(cell.text for line in lines for cell in line)
    assert all(word in printed for row in rows for word in " ".join(row).split())


def test_where_nobody_looks_nothing_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)
    output.console.cache_clear()
    output.done("some words " * 20)
    output.commands("toryo " + "word " * 30)
    output.table(("ID", "TITLE"), [("a", Cell("some words " * 20, "red"))], empty="")
    assert len(pipe.getvalue().splitlines()) == 4
