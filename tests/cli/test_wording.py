"""The words that people read, wherever they stand in the command line, the Coordinator and the agents: terms of other
tools, and no document that an installed Toryo does not bring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import toryo
from toryo.cli import command_line, events, text_layout

HOME = Path(toryo.__file__).parent
STIFF = re.compile(
    r"\b(shall|whom|anew|thereof|hitherto|lest|stands (above|below|within|behind|outside)|(is|are) to be|said twice"
    r"|taken away|ended by itself|so long; |the newest so many|wants it|Say which|Name what)\b"
)


def _read_by_people(file: Path) -> Iterator[tuple[int, str]]:
    """Texts of several words that are not comments on the code."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


FILES = [path for package in ("cli", "coordinator", "agents") for path in sorted((HOME / package).rglob("*.py"))]


@pytest.mark.parametrize("file", FILES, ids=lambda each: str(each.relative_to(HOME)))
def test_sentences_are_plain_and_name_no_document_that_is_not_installed(file: Path) -> None:
    for line, text in _read_by_people(file):
        assert not STIFF.search(text), (line, text)
        for named in re.finditer(r"docs/\S+\.md(.*)", text):
            assert named[1].startswith(" in Toryo's source"), (line, text)


NO_VERB = re.compile(
    r"(An?|All|Any|Each|Every|How|In|It|Its|No|One|Some|That|The|These|This|Those|To|What|When|Where|Which|Who|Why|Your?)\b"
    r"|\w{3,}(ing|ed|[^s]s)\b"
)
"""With which the help of a command does not begin: it says what the command does, in the imperative."""


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    below = {name: each for name, each in getattr(command, "commands", {}).items() if not each.hidden}
    if path and (not below or command.invoke_without_command):
        yield " ".join(path), command
    for name, each in below.items():
        yield from _leaves(each, (*path, name))


COMMANDS = dict(_leaves(typer.main.get_command(command_line.whole())))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_what_it_does_and_explains_each_of_its_words(name: str) -> None:
    command = COMMANDS[name]
    first, _, _ = " ".join(command.help.split()).partition(". ")
    assert first[0].isupper(), first
    assert not NO_VERB.match(first), first
    assert len(first) <= 100, first
    for param in command.params:
        if param.hidden or param.name in ("help", "install_completion", "show_completion"):
            continue
        told = param.help or ""
        assert len(told.split()) >= 3, (param.opts, told)
        assert told[0].isupper(), (param.opts, told)
        assert not re.match(r"(Only|Where|Whose|Who|And|Or|Also|Those|With) ", told), (param.opts, told)


def test_an_event_is_folded_so_that_a_name_stays_beside_its_value() -> None:
    data = {"from": "todo", "to": "in_progress", "reason": "the oven is hot now", "rule": 'a "quoted" word', "n": 1}
    event = {"sequence": 7, "at": 0, "kind": "task.moved", "actor_id": "baker", "task_id": "tsk_1", "data": data}
    told = events.event_line(event)
    assert 'from=todo to=in_progress reason="the oven is hot now" rule="a \\"quoted\\" word" n=1' in told
    for room in range(40, 120):
        lines = text_layout.folded(told, room)
        for name in data:
            assert sum(bool(re.search(rf"\b{name}=\S", line)) for line in lines) == 1
