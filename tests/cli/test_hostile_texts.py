"""Every command of the tree, against a server whose every text is hostile: nothing of it reaches the terminal.

The answers are made from the declared results of the operations, and the command lines from the commands themselves:
a new command, or a new field, is tried without a word here.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer.main
import yaml

import toryo
from toryo.cli import command_line, output
from toryo.cli.main import _outcome
from toryo.client import Client
from toryo.operations.calls.catalogue import Operation, catalogue

HOSTILE = (
    "Nice\x1b]0;TITLE\x1b\\\x1b[2J\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\\x1b]52;c;cm0gLXJmIH4=\x07"
    "\x9b31m\x9d0;T\x9c\u202eesrever\u202c\u2066\u200b\ufeff\U000e0041"
    "\r● completed FORGED\nFORGED\x85FORGED\u2028FORGED"
    "\x0bFORGED\x0cFORGED\r\nFORGED\ttab\x08\x08\x7f[bold]markup[/bold]"
)
NO_ANSWER_OF_THE_SERVER = {
    "they start servers, agents or programs": (
        "server",
        "coordinator",
        "up",
        "down",
        "demo",
        "init",
        "mcp",
        "agent run",
    ),
    "they look at this machine": ("doctor", "coordinator check", "playbook check", "version"),
    "they read a file": ("apply", "import", "plan", "run", "simulate", "template add"),
    "they open a database": ("db upgrade", "db backup", "db restore", "db check", "db move"),
    "they ask for words": ("chat", "person password"),
}
SKIPPED = {name for names in NO_ANSWER_OF_THE_SERVER.values() for name in names}
BESIDES = {
    "task add": ["--project", "x"],
    "task edit": ["--title", "x"],
    "task diff": ["--stat"],  # a patch itself is printed to the letter where no terminal is: programs take it
    "agent edit": ["--name", "x"],
    "project edit": ["--name", "x"],
    "person edit": ["--name", "x"],
    "schedule edit": ["--name", "x"],
    "webhook edit": ["--name", "x"],
    "quota edit": ["--reserve", "20"],
    "open": ["--no-browser"],
    "chats show": ["--project", "x"],
}
"""What a command wants, though none of its parameters must be given."""


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    group = typer.main.get_command(command_line.whole()) if group is None else group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield " ".join((*path, name)), command


TRIED = {name: each for name, each in commands() if name not in SKIPPED}


def line_of(name: str, command: Any, folder: Path) -> list[str]:
    """The command with everything that it needs."""
    words = name.split()
    for param in command.params:
        if not param.required:
            continue
        kind = param.type_descriptor.annotation
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        value = (
            str(folder)
            if param.name == "dir"
            else str(folder / "file")
            if kind is Path
            else "1"
            if kind is int
            else str((*choices, "x")[0])
        )
        words += [value] if param.param_type_name == "argument" else [param.opts[0], value]
    flags = {opt for param in command.params for opt in param.opts}
    return [*words, *(["--yes"] if "--yes" in flags else []), *BESIDES.get(name, [])]


class Answer(dict[str, Any]):
    """What is not declared may come along: it is as hostile as the rest."""

    def __missing__(self, key: str) -> Any:
        if key == "files":
            return [Answer(insertions=1, deletions=1)]
        return 1 if key.endswith(("_ms", "_seconds")) else moment_or_words(key)


yaml.SafeDumper.add_representer(Answer, lambda dumper, answer: dumper.represent_dict(answer))


def moment_or_words(name: str) -> str:
    moment = name.endswith("_at") or name in ("at", "since", "until", "last_seen", "deadline")
    return "2027-01-15T08:00:00.000Z" if moment else HOSTILE


def sample(schema: dict[str, Any], defs: dict[str, Any], name: str = "") -> Any:
    """A value of this shape; every text is the hostile one, moments are moments."""
    if "$ref" in schema:
        of = schema["$ref"].rpartition("/")[2]
        return sample(defs[of], {each: defs[each] for each in defs if each != of}, name)
    if name in ("reports_to", "parent_task_id"):  # a tree has no circles
        return None
    if "enum" in schema:
        return "completed" if "completed" in schema["enum"] else schema["enum"][-1]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], defs, name)
    if schema.get("type") == "object":
        return with_fields(schema, defs)
    if schema.get("type") == "array":
        items = schema.get("items", {})
        ends = "$ref" in items and items["$ref"].rpartition("/")[2] not in defs  # nothing like itself below it
        return [] if ends else [sample(items, defs, name) for _ in range(2)]
    plain = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
    return schema.get("const", plain.get(schema.get("type", ""), moment_or_words(name)))


def with_fields(schema: dict[str, Any], defs: dict[str, Any]) -> Answer:
    found = Answer((each, sample(value, defs, each)) for each, value in schema.get("properties", {}).items())
    more = schema.get("additionalProperties")
    if not found and more is not False:
        found[HOSTILE] = sample(more, defs) if isinstance(more, dict) else HOSTILE
    return found


class EvilServer:
    """Answers as declared, and says the worst in every text."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rest(self, method: str, path: str, json: Any = None, params: Any = None) -> dict[str, Any]:
        fitting = [each for each in catalogue().values() if fits(each, method, path)]
        operation = max(fitting, key=lambda each: len(re.findall(r"/\w", each.route.path)) if each.route else 0)
        self.asked.append(operation.name)
        schema = operation.output_schema
        answer: dict[str, Any] = sample(schema, schema.get("$defs", {}))
        if operation.name == "read_log":
            answer["next_offset"] = 0
        if operation.name == "read_events" and params and params.get("after", 0) > 0:
            answer |= {"events": [], "last": params["after"]}
        answer.pop("next_cursor", None)
        if "more" in answer:  # or it would be asked for ever
            answer["more"] = False
        return answer


def fits(operation: Operation, method: str, path: str) -> bool:
    if operation.route is None or operation.route.method != method:
        return False
    return re.fullmatch(re.sub(r"\{\w+\}", ".+", operation.route.path), path, re.DOTALL) is not None


def steering(printed: str) -> list[str]:
    """The characters that are neither shown nor a line's end."""
    return sorted(
        {f"U+{ord(each):04X}" for each in printed if each not in LINES and unicodedata.category(each) in HIDDEN}
    )


LINES = ("\n", "\t")
HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> EvilServer:
    evil = EvilServer()
    monkeypatch.setattr(Client, "rest", lambda _client, *given, **named: evil.rest(*given, **named))
    monkeypatch.setattr(Client, "has", lambda *_: True)
    return evil


def run(words: list[str], json_wanted: bool) -> None:
    there = ["--server", "http://127.0.0.1:9", "--token", "x", *(["--json"] if json_wanted else [])]
    output.console.cache_clear()
    output.messages.cache_clear()
    _outcome([*words, *there])


@pytest.mark.parametrize("name", TRIED)
def test_no_text_of_the_server_steers_the_terminal_or_begins_a_line(
    name: str, server: EvilServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(line_of(name, TRIED[name], tmp_path), json_wanted=False)
    printed = capsys.readouterr()
    assert server.asked, "it asked the server nothing"
    assert (steering(printed.out), steering(printed.err)) == ([], [])
    forged = [part for part in (printed.out + printed.err).split("\n") if part.startswith(("FORGED", "● completed"))]
    assert forged == [] or name == "logs", "lines of a log are its program's"


@pytest.mark.parametrize("name", TRIED)
def test_a_document_is_exact_and_has_such_characters_as_escapes(
    name: str, server: EvilServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(line_of(name, TRIED[name], tmp_path), json_wanted=True)
    printed = capsys.readouterr()
    assert (steering(printed.out), steering(printed.err)) == ([], [])
    text = json.dumps([json.loads(printed.out)]) if printed.out.strip() else ""
    assert "FORGED" not in text or json.dumps(HOSTILE)[1:-1] in text


def test_every_command_is_tried_or_left_out_for_a_reason() -> None:
    assert {name for name, _ in commands()} >= SKIPPED


def test_a_program_keeps_its_colours_where_somebody_looks_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    output.text("\x1b[31mred\x1b[0m \x1b[2J\x1b]0;T\x07 10%\r20%\r\nnext")
    assert terminal.getvalue() == "\x1b[31mred\x1b[0m \ufffd[2J\ufffd]0;T\ufffd 10%\n20%\nnext\x1b[0m"


PRINTS_ELSEWHERE = {
    "output.py": "the one place",
    "command_line.py": "the version",
    "chat_terminal.py": "the line that is being typed; what is shown above it is made printable there",
    "chat.py": "flushes",
    "mcp.py": "speaks a protocol",
    "task_command.py": "passes on what the command of this very person prints",
}


def test_the_command_line_prints_in_one_place() -> None:
    folder = Path(toryo.__file__).parent / "cli"
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            stream = isinstance(node, ast.Attribute) and node.attr in ("write", "writelines", "buffer")
            if stream and ast.unparse(node).startswith(("sys.stdout", "sys.stderr")):
                found.add(path.name)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "typer.echo", "typer.secho"):
                found.add(path.name)
    assert found <= set(PRINTS_ELSEWHERE)
