"""A command that is built alone is the same as among all others, and the list of commands says what they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from toryo.cli import command_line


def _lines(command: Any, *names: str) -> Iterator[list[str]]:
    yield [*names]
    for name, below in getattr(command, "commands", {}).items():
        yield from _lines(below, *names, name)


def _help(program: Any, names: list[str]) -> str:
    for name in names:
        program = program.commands[name]
    return str(program.get_help(program.make_context(names[-1] if names else "toryo", [], resilient_parsing=True)))


def _needed(*given: str) -> Any:
    return typer.main.get_command(command_line.needed(given))


PROGRAM: Any = typer.main.get_command(command_line.whole())


def test_each_command_alone_is_what_it_is_among_all() -> None:
    for line in list(_lines(PROGRAM))[1:]:
        alone = _needed(*line, "--help")
        assert _help(alone, line) == _help(PROGRAM, line)
        assert [param.opts for param in alone.params] == [param.opts for param in PROGRAM.params]


@pytest.mark.parametrize("given", [[], ["nonsense"], ["--json", "task"], ["version"]])
def test_where_no_command_is_named_all_are_there(given: list[str]) -> None:
    assert list(_lines(_needed(*given))) == list(_lines(PROGRAM))


def test_of_a_group_only_the_command_that_is_named_is_built() -> None:
    assert list(_lines(_needed("task", "list", "--json"))) == [[], ["task"], ["task", "list"]]


def test_what_a_group_has_is_there_where_it_is_asked_for_help() -> None:
    assert list(_needed("task", "--help").commands["task"].commands) == list(PROGRAM.commands["task"].commands)


def test_the_list_of_commands_is_the_help_of_all_of_them() -> None:
    assert _help(command_line.listing(), []) == _help(PROGRAM, [])
