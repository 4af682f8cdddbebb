"""On a terminal of 80 columns: tables fit, and long lines are folded between words."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from toryo.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def narrow(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(output, "console", lambda: Console(file=terminal, width=80, color_system=None))
    return terminal


def test_a_table_with_long_cells_fits_and_its_ids_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    task = "tsk_1m8361gbe8md4mb4pap"
    output.table(("ID", "TITLE", "WHO", "HOW"), [(task, "A long title " * 6, "ben", "make all " * 9)], empty="")
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert task in lines[1]


def test_a_long_line_is_folded_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    output.folded("  12  task.created  " + "some words " * 20, 8)
    first, *rest = terminal.getvalue().splitlines()
    assert all(len(each) <= 80 and each.startswith("        ") for each in rest)
    assert first.endswith(("some", "words"))
