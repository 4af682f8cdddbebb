"""Sentences of the server that name a command of `toryo`: it exists, and is told with all that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer

from toryo.cli import command_line
from toryo.domain.projects import Language
from toryo.translation_catalogues import texts

_COMMAND = re.compile(r"\btoryo ([a-z][a-z-]*(?: (?:--?[a-z-]+|[A-Za-z_{}=0-9…-]+))*)")
_JAPANESE = {text: told for (context, text), told in texts(Language.JAPANESE).items() if not context}
_ROOT: Any = typer.main.get_command(command_line.whole())


def commands() -> list[str]:
    """Every text has Japanese words, so it stands in that list, in both languages."""
    texts = [*_JAPANESE, *_JAPANESE.values()]
    return sorted({found[1] for text in texts for found in _COMMAND.finditer(text)})


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command, and what follows its name."""
    command = _ROOT
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


def arguments(command: Any, words: list[str]) -> Iterator[str]:
    """What stands where arguments do; a plain word is the sentence going on, or one of the command's choices."""
    options = {name: param for param in command.params for name in param.opts}
    choices = {choice for param in command.params for choice in (param.metavar or "").split("|")}
    choices |= {choice for param in command.params for choice in get_args(param.type_descriptor.annotation)}
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            assert word in options, word
            if not options[word].is_flag:
                next(rest)
        elif word.islower() and word not in choices and not word.startswith("{"):
            return
        else:
            yield word


@pytest.mark.parametrize("told", commands())
def test_a_command_that_is_told_exists_and_has_its_arguments(told: str) -> None:
    command, words = resolved(told.split())
    assert command is not _ROOT, f"toryo {told}: there is no such command"
    runs = not getattr(command, "commands", None) or command.invoke_without_command
    assert runs, f"toryo {told} is a group of commands"
    needed = [param.name for param in command.params if param.param_type_name == "argument" and param.required]
    assert len(list(arguments(command, words))) >= len(needed), f"toryo {told} needs {', '.join(needed)}"


def told_in(text: str) -> set[tuple[str, ...]]:
    """The commands of a sentence, each with its arguments and options and without the words that follow it."""
    found = set()
    for each in _COMMAND.finditer(text):
        command, words = resolved(each[1].split())
        name = each[1].split()[: len(each[1].split()) - len(words)]
        options = [word for word in words if word.startswith("-")]
        found.add((*name, *arguments(command, words), *options))
    return found


@pytest.mark.parametrize("english", [text for text in _JAPANESE if _COMMAND.search(text)])
def test_both_languages_tell_the_same_commands_with_the_same_arguments(english: str) -> None:
    assert told_in(_JAPANESE[english]) == told_in(english)


def test_commands_are_found() -> None:
    assert len(commands()) > 30
