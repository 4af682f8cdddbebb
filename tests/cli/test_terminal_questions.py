"""What a person at a terminal is asked: every question takes the same answers, and ends the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import toryo.cli
from tests.cli.conftest import Toryo
from tests.cli.fakes import Machine
from tests.cli.terminals import Terminal

CODE = Path(toryo.cli.__file__).parent


@pytest.fixture
def opened() -> Iterator[Callable[..., Terminal]]:
    terminals: list[Terminal] = []

    def start(toryo: Toryo | Machine, *words: str) -> Terminal:
        cwd = toryo.place if isinstance(toryo, Machine) else toryo.home
        terminals.append(Terminal(*words, environment=toryo.environment, cwd=cwd))
        return terminals[-1]

    yield start
    for terminal in terminals:
        with suppress(OSError):
            terminal.close()


def test_only_one_module_asks_questions() -> None:
    asks = re.compile(r"typer\.(confirm|prompt)\(|getpass\.getpass\(")
    asking = {path.name for path in CODE.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))}
    assert asking == {"terminal_questions.py"}


WIDENS = ("agent", "edit", "{agent}", "--provider", "claude", "--option", "permissions=full")


def test_an_answer_that_is_neither_yes_nor_no_is_told_what_can_be_typed(
    server: Toryo, agent: str, opened: Callable[..., Terminal]
) -> None:
    terminal = opened(server, *(each.format(agent=agent) for each in WIDENS))
    terminal.until("[y/N]: ")
    terminal.type("maybe\n")
    terminal.until("Type y or yes, n or no")
    terminal.until("[y/N]: ")
    terminal.type("YES\n")
    assert terminal.ended() == 0
    assert "permissions: none → full" in terminal.text


@pytest.mark.parametrize("key", ["\x03\n", "\x04"], ids=["^C", "^D"])
def test_a_question_that_is_left_ends_with_a_line_of_its_own(
    server: Toryo, agent: str, person: str, machine: Machine, opened: Callable[..., Terminal], key: str
) -> None:
    for toryo_, words, question in (
        (server, [each.format(agent=agent) for each in WIDENS], "[y/N]: "),
        (server, ["person", "password", person], "New password: "),
        (machine, ["init"], "Name of the project [bakery]: "),
    ):
        terminal = opened(toryo_, *words)
        terminal.until(question)
        terminal.type(key)  # a ^C that comes before the reading begins is heard when that ends: therefore the newline
        assert terminal.ended() == 130
        assert terminal.text.endswith("\r\ntoryo: Nothing was changed.\r\n"), terminal.text


@pytest.fixture
def person(server: Toryo, agent: str) -> str:
    name = f"{agent}-person"
    server.json("person", "add", name, "--role", "member")
    return name
