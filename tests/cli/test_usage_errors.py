"""A command line that cannot be read is answered in Toryo's words, for each option and each command there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel, ValidationError

import toryo
from toryo import wrong_values
from toryo.cli import command_line, empty_values, up_down, usage_errors
from toryo.cli.exit_codes import Misuse
from toryo.cli.main import main
from toryo.nearest import nearest

LIBRARY = ("Input should", "valid ", "unable to parse", " should have", "Invalid value", "permitted")
PROGRAM = typer.main.get_command(command_line.whole())


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


RUN = [(path, command) for path, command in _commands(PROGRAM) if not getattr(command, "commands", {})]
OPTIONS = [
    (path, param) for path, command in _commands(PROGRAM) for param in command.params if param.opts[0].startswith("-")
]
TYPED = [
    (path, each.opts[0])
    for path, each in OPTIONS
    if not each.is_flag and re.search("int|float|datetime", str(each.type_descriptor.annotation))
]
VALUED = [(path, each.opts[0]) for path, each in OPTIONS if not each.is_flag]
FREE_TEXTS = {
    *("chat --send", "sessions --reason", "project add --description", "project edit --description"),
    *("agent add --prompt", "agent edit --prompt", "token add --name", "task add --description", "task edit --title"),
    *("task edit --description", "task move --reason", "task retry --reason", "task cancel --reason"),
    *("task reject --reason", "task steer TEXT", "task merge --message", "task request-changes TEXT"),
    *("answer --text", "answer --reason", "memory add TEXT", "memory replace TEXT"),
    *("webhook add --title", "webhook add --description"),
    *("webhook edit --title", "webhook edit --description", "webhook pause --reason"),
    *("schedule add --title", "schedule add --description"),
    *("schedule edit --title", "schedule edit --description", "schedule pause --reason"),
}
"""What a person writes: the server says what must not be empty, and an empty description or prompt removes the text."""
WORDS_OF_OTHERS = {"agent run CMD..."}
"""`agent run --type T -- grep ""`: an argument of that program."""


@pytest.fixture(autouse=True)
def _built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.main.get_command", lambda _: PROGRAM)


def _named(each: object) -> str | None:
    return " ".join(each) if isinstance(each, tuple) else None


def _models() -> list[type[BaseModel]]:
    from toryo.cli import manifest
    from toryo.operations.calls.catalogue import catalogue
    from toryo.settings import Settings

    file = (manifest.Project, manifest.Agent, manifest.Task)
    return [*dict.fromkeys(operation.parameters for operation in catalogue().values()), *file, Settings]


def _told(line: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(line)
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert not [each for each in LIBRARY if each in told], told
    return told


@pytest.mark.parametrize(("path", "option"), TYPED, ids=_named)
def test_a_value_of_a_wrong_type_is_answered_with_what_is_accepted(
    path: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search(r"must be .*, such as .* \(given: wrong\)\.", _told([*path, f"{option}=wrong"], capsys))


@pytest.mark.parametrize(("path", "option"), VALUED, ids=_named)
def test_an_option_without_its_value_is_answered_with_its_command(
    path: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"`{' '.join(['toryo', *path])}`: {option} needs a value: {option} " in _told([*path, option], capsys)


def _values() -> Iterator[tuple[str, list[str], str]]:
    """Each option and argument of each command that has a value: its name, the words before it, and how it is told."""
    for path, command in _commands(PROGRAM):
        before: list[str] = []
        for param in command.params:
            option = max(param.opts, key=len)
            if not option.startswith("-"):
                yield " ".join([*path, param.metavar]), [*path, *before], param.metavar.removesuffix("...")
                choices = param.type_descriptor.choices
                before.append(choices[0] if choices else "x")
            elif not param.is_flag:
                yield " ".join([*path, option]), [*path, option], option


VALUES = {name: (words, told) for name, words, told in _values() if "-completion" not in name}


@pytest.mark.parametrize("name", sorted(VALUES.keys() - FREE_TEXTS - WORDS_OF_OTHERS))
def test_an_empty_value_is_refused_and_never_means_that_none_was_given(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, told = VALUES[name]
    empty = ("", "  ")[len(name) % 2]
    assert _told([*words, empty], capsys).startswith(f"toryo: {told} is empty. Enter a value")


def test_what_may_be_empty_is_a_text_that_somebody_writes() -> None:
    assert VALUES.keys() >= FREE_TEXTS | WORDS_OF_OTHERS
    found = {
        " ".join([*path, max(param.opts, key=len) if param.opts[0].startswith("-") else param.metavar])
        for path, command in _commands(PROGRAM)
        for param in command.params
        if param.metavar in empty_values.MAY_BE_EMPTY
    }
    assert found == FREE_TEXTS | WORDS_OF_OTHERS


@pytest.mark.parametrize(("path", "command"), RUN, ids=_named)
def test_a_word_too_many_is_answered_with_the_words_that_are_accepted(
    path: tuple[str, ...], command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    if any(param.nargs != 1 for param in command.params):
        return
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    told = _told([*path, *["x"] * len(arguments), "bogus"], capsys)
    assert f"`{' '.join(['toryo', *path])}` takes " in told or "Missing option" in told or "Use one of: " in told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("up --bogus", "`toryo up` has no option --bogus. See"),
        ("up --port abc", "--port must be a whole number, such as 10 (given: abc)."),
        ("up --prot 1", "Did you mean --port?"),
        ("task list -o json", "Did you mean --json?"),
        ("task add x --assign a", "Did you mean --assignee?"),
        ("init --force", "Did you mean --yes?"),
        ("events -w", "Did you mean --follow?"),
        ("--project x task list", "Put --project after the name of the command."),
        ("task add bake a cake", "takes only TITLE, but also got 'a cake'. Put text with spaces in quotes."),
        ("server stop", "`toryo server` takes no arguments, but got 'stop'. Did you mean `toryo down`?"),
        ("worktrees list", "`toryo worktrees` takes no arguments, but got 'list'."),
        ("chat owner --send", "`toryo chat`: --send needs a value: --send TEXT."),
        ("playbook foo", "`toryo playbook` has no command 'foo'. Its commands: check."),
    ],
)
def test_a_mistake_is_told_with_what_to_type_instead(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in _told(line.split(), capsys)


GUESSES = {
    "retry tsk_1": "toryo task retry TASK",
    "task assign tsk_1 a": "toryo task edit TASK --assignee AGENT",
    "task ls": "toryo task list",
    "task ps": "toryo task list",
    "task get": "toryo task show TASK",
    "task describe tsk_1": "toryo task show TASK",
    "task create x": "toryo task add TITLE",
    "task new x": "toryo task add TITLE",
    "task delete tsk_1": "toryo task cancel TASK",
    "task rm tsk_1": "toryo task cancel TASK",
    "task close tsk_1": "toryo task move TASK",
    "task done tsk_1": "toryo task move TASK",
    "task stop tsk_1": "toryo task cancel TASK",
    "task restart tsk_1": "toryo task retry TASK",
    "task comment tsk_1 x": "toryo task steer TASK TEXT",
    "task rename tsk_1 x": "toryo task edit TASK --title TITLE",
    "task logs tsk_1": "toryo logs AGENT|TASK|LAUNCH",
    "task lsit": "toryo task list",
    "tasks": "toryo task list",
    "tasks list": "toryo task list",
    "get tasks": "toryo task list",
    "list agents": "toryo agent list",
    "describe task tsk_1": "toryo task show TASK",
    "delete agent x": "toryo agent deactivate AGENT",
    "agents ls": "toryo agent list",
    "agent remove x": "toryo agent deactivate AGENT",
    "agent delete x": "toryo agent deactivate AGENT",
    "agent stop x": "toryo agent deactivate AGENT",
    "agent start x": "toryo agent activate AGENT",
    "agent restart x": "toryo agent resume AGENT",
    "agent rename x": "toryo agent edit AGENT --name NAME",
    "agent logs x": "toryo logs AGENT|TASK|LAUNCH",
    "agent chat x": "toryo chat AGENT",
    "agent create x": "toryo agent add ID",
    "project rm x": "toryo project archive PROJECT",
    "project update x": "toryo project edit PROJECT",
    "project get x": "toryo project show PROJECT",
    "project stop x": "toryo project pause PROJECT",
    "project start x": "toryo project resume PROJECT",
    "person delete x": "toryo person remove ID",
    "people": "toryo person list",
    "token rm x": "toryo token revoke ID",
    "token create": "toryo token add",
    "coordinator list": "toryo doctor",
    "coordinator start": "toryo coordinator",
    "coordinator stop": "toryo down",
    "chats list": "toryo chats",
    "conversations ls": "toryo conversations",
    "start": "toryo up",
    "stop": "toryo down",
    "restart": "toryo up",
    "ps": "toryo task list",
    "status": "toryo task list` or `toryo needs` or `toryo doctor",
    "statsu": "toryo task list` or `toryo needs` or `toryo doctor",
    "stauts": "toryo task list` or `toryo needs` or `toryo doctor",
    "strat": "toryo up",
    "histroy": "toryo events",
    "task delte tsk_1": "toryo task cancel TASK",
    "backup x": "toryo db backup FILE",
    "migrate": "toryo db upgrade",
    "validate x": "toryo playbook check FILE",
    "approve tsk_1": "toryo task approve TASK",
    "merge tsk_1": "toryo task merge TASK",
    "log x": "toryo logs AGENT|TASK|LAUNCH",
    "login": "toryo open",
    "deploy": "toryo apply",
    "history": "toryo events",
    "cost": "toryo usage",
    "issue list": "toryo task list",
    "user add x": "toryo person add ID",
    "new": "toryo init",
}


@pytest.mark.parametrize("typed", GUESSES)
def test_a_word_of_another_program_is_answered_with_the_command_that_does_it(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told(typed.split(), capsys)
    assert f"`{GUESSES[typed]}`" in told.partition("Did you mean ")[2], told


def test_every_command_that_is_suggested_exists() -> None:
    names = {path[-1] for path, _ in _commands(PROGRAM) if path}
    words = [phrase for told in usage_errors.INSTEAD.values() for phrase in told.split(", ")]
    assert {word.split()[0] for word in words} <= names
    options = {name for _, option in OPTIONS for name in option.opts}
    assert {word.split()[1] for word in words if " " in word} | set(usage_errors.OPTIONS.values()) <= options
    paths = {" ".join(path) for path, _ in _commands(PROGRAM)}
    assert {part for told in usage_errors.THERE.values() for part in told.split(", ")} <= paths


@pytest.mark.parametrize(
    ("given", "meant"),
    [("clod", "claude"), ("cluade", "claude"), ("codx", "codex"), ("gemni", "gemini"), ("zzz", None)],
)
def test_a_program_is_looked_for_by_the_beginning_of_its_name(given: str, meant: str | None) -> None:
    from toryo.provider_options import DECLARED

    assert nearest(given, DECLARED) == meant


def test_a_setting_that_does_not_exist_is_answered_with_the_nearest(server: Any, tmp_path: Path) -> None:
    ended = server("project", "add", "x", "--dir", str(tmp_path), "--set", "comands_from=people")
    assert (ended.code, "Did you mean commands_from?" in ended.err) == (4, True)


def test_a_title_that_is_nearly_one_is_answered_with_the_task(server: Any, project: str) -> None:
    task = server.json("task", "add", f"Sweep the yard of {project}", "--project", project)["task_id"]
    for words in (("task", "show"), ("task", "move"), ("logs",)):
        ended = server(*words, f"Sweeep the yard of {project}")
        assert ended.code == 4
        assert f"Did you mean {task}" in ended.err


@pytest.mark.parametrize("title", ["", "   "])
def test_an_empty_title_is_refused_in_plain_words(title: str, server: Any, project: str) -> None:
    task = server.json("task", "add", "Sweep", "--project", project)["task_id"]
    assert "title must not be empty." in server("task", "edit", task, "--title", title).err


def test_a_day_that_is_none_is_answered_with_an_example(server: Any) -> None:
    assert "since must be a date, such as 2026-01-31." in server("usage", "--since", "yesterday").err


@pytest.mark.parametrize("model", _models(), ids=lambda each: each.__name__)
def test_values_of_every_declared_kind_have_a_sentence_of_their_own(model: type[BaseModel]) -> None:
    """A text, a number, a list and a mapping for each parameter of each operation, and nothing at all."""
    wrongs: list[Any] = ["", "wrong", -1.5, [[]], {"x": {}}, None]
    for wrong in wrongs:
        try:
            model.model_validate(dict.fromkeys(model.model_fields, wrong))
        except ValidationError as invalid:
            for error in invalid.errors():
                told = wrong_values.in_words(error)
                assert told and not [words for words in LIBRARY if words in told], (error["type"], told)


def _own_rules() -> Iterator[tuple[str, bool, str]]:
    """Where a rule of ours is broken, whether the rule is about one value, and how what is said of it begins."""
    for file in sorted(Path(toryo.__file__).parent.rglob("*.py")):
        for function in ast.walk(ast.parse(file.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            marks = {ast.unparse(each).partition("(")[0] for each in function.decorator_list}
            for raised in (each.exc for each in ast.walk(function) if isinstance(each, ast.Raise)):
                if not isinstance(raised, ast.Call):
                    continue
                name = ast.unparse(raised.func)
                if name == "PydanticCustomError" or (name == "ValueError" and marks & {"field_validator"}):
                    yield f"{file.name}:{raised.lineno}", True, _beginning(raised.args[name != "ValueError"])
                elif name == "ValueError" and "model_validator" in marks:
                    yield f"{file.name}:{raised.lineno}", False, _beginning(raised.args[0])


def _beginning(words: ast.expr) -> str:
    first = words.values[0] if isinstance(words, ast.JoinedStr) else words
    return str(first.value) if isinstance(first, ast.Constant) else ""


@pytest.mark.deep
def test_what_is_said_of_a_value_makes_one_sentence_with_its_name() -> None:
    """A rule of one value goes on after its name, one of several values follows a colon; none begins a new sentence."""
    rules = list(_own_rules())
    assert len(rules) > 15
    for where, of_one_value, words in rules:
        said = wrong_values.sentence("port", words)
        assert not re.match(r"(?:[Ii]t|[Tt]his)\b|[A-Z]", words), (where, said)
        if of_one_value and words and not words.startswith(("a check", "each check", "{told}")):  # sentences
            assert said == f"port {words}", (where, said)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "NOTICES__WEBHOOK_URL",
            "ftp://x",
            "notices.webhook_url must be a URL that begins with http://HOST or https://HOST",
        ),
        ("AUTH__OIDC_ISSUER", "http://x", "auth.oidc_issuer must be a URL that begins with https://HOST"),
        ("NOTICES__SMTP_FROM", "a@example.org", "notices: smtp_from and emails need smtp_url (the mail server)"),
        ("NOTICES__EMAILS", "{", "notices.emails must be NAME=VALUE,NAME=VALUE, or a JSON object"),
        (
            "TRUSTED_PROXIES",
            "here",
            "trusted_proxies must be unix, or addresses or networks such as 10.0.0.0/8, not 'here'",
        ),
        ("PORT", "x", "port must be a whole number, such as 10"),
    ],
)
def test_a_mistaken_setting_is_told_in_one_sentence(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"TORYO_{name}", value)
    with pytest.raises(Misuse) as refused:
        up_down._settings()
    assert refused.value.what == f"The setting {said}."


def test_a_title_of_two_lines_is_refused_in_one_sentence(server: Any, project: str) -> None:
    told = server("task", "add", "One\ntwo", "--project", project).err
    assert told == "toryo: TITLE must be one line of visible characters, but contains U+000A.\n"
