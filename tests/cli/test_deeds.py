"""Deeds: what is suggested is an operation with its arguments, and its command line sends exactly that request."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import toryo
from tests.documents.test_pages import wrong as mistake_in
from toryo import deeds
from toryo.cli.command_context import Here
from toryo.cli.command_line import needed
from toryo.deeds import VERBS, Blank, Deed, deed
from toryo.operations.calls.catalogue import catalogue
from toryo.workflow.reasons import REASONS

SOURCE = Path(toryo.__file__).parent
SAMPLES: Mapping[str, Any] = {
    "anyway": True,
    "by": ("agent", "task"),
    "capabilities": ["plans"],
    "max_parallel_tasks": 2,
    "priority": "high",
    "start": "when_ready",
    "status": "in_progress",
    "dependencies": ["tsk_7"],
    "login": "member",
    "which": "owner",
    "context": {"command": "make 'it'"},
    "days": 1,
    "projects": ["prj_1"],
    "provider_options": {"model": "x"},
    "remove_dependencies": ["tsk_8", "tsk_9"],
    "reserve": 20,
    "role": "worker",
    "settings": {"isolation": "none"},
    "task_id": "tsk_1",
    "text": "Take the “blue” one, & no other",
    "budget_usd": 2.5,
    "budget_tokens": 100,
    "low_priority": "any",
}
"""Arguments that are no short word."""
TO_EDIT = [(verb, frozenset({f"{verb.removeprefix('edit_')}_id"})) for verb in ("edit_schedule", "edit_webhook")]
TO_EDIT += [("edit", frozenset({"task_id"}))]
"""Of which the person chooses what to change."""
FOLDED = {"list_dead_letters", "list"}
"""That stand in a table of `operations/overview/needs/finding.py`."""
NOT_AT_ONCE = {
    "answer": "a chat goes on until it is left",
    "answer_question": "the question is shown first",
    "approve": "all that is approved is shown first",
    "decide": "the question is shown first",
    "discard": "it is confirmed first",
    "log": "the launch is looked up first",
    "machines": "`toryo doctor` looks at this machine, too",
    "open": "a chat goes on until it is left",
    "serve": "it starts an agent's program",
}
"""Commands that do more than send the request."""
ALSO = {
    ("correct", frozenset({"agent_id", "provider_options"})),
    ("correct_project", frozenset({"project_id", "settings"})),
    ("edit_quota", frozenset({"account", "low_priority"})),
    ("edit_quota", frozenset({"account", "reserve"})),
    ("raise_task", frozenset({"budget_tokens", "task_id"})),
    ("raise_task", frozenset({"budget_usd", "task_id"})),
}
"""Whose arguments are handed over together: `**`."""

ONLY_AT_A_TERMINAL = ("data_directories.py: ", "settings.py: ")
"""What is printed before there is a server, and what the reference says of a setting."""


def written() -> Iterator[tuple[str, frozenset[str]]]:
    """The deeds in the source: the verb, and the names of its arguments."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "deed(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deed" and node.args:
                names = frozenset(str(each.arg) for each in node.keywords)
                for verb in re.findall(r"'(\w+)'", ast.unparse(node.args[0])):
                    if verb in VERBS:
                        yield verb, names


WRITTEN = sorted(
    {each for each in written() if "None" not in each[1]} | ALSO, key=lambda each: (each[0], sorted(each[1]))
)


def sample(verb: str, names: frozenset[str]) -> Deed:
    return deed(verb, **{name: SAMPLES.get(name, f"{name.removesuffix('_id')}1") for name in sorted(names)})


def test_every_verb_is_suggested_somewhere_or_is_one_of_a_folded_list() -> None:
    assert {verb for verb, _ in written()} | {each.verb for each in REASONS.values() if each.verb} | FOLDED == set(
        VERBS
    )


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_an_operation_that_takes_what_it_gives(verb: str) -> None:
    it = VERBS[verb]
    parameters = set(catalogue()[it.operation].parameters.model_fields)
    assert {*it.given, *re.findall(r"{(\w+)}", it.command)} <= parameters


@pytest.mark.parametrize(("verb", "names"), WRITTEN)
def test_a_deed_gives_what_its_operation_takes(verb: str, names: frozenset[str]) -> None:
    assert names <= set(catalogue()[VERBS[verb].operation].parameters.model_fields)
    assert mistake_in(sample(verb, names).command) is None


class _Sent(Exception):
    """The request of the operation was sent."""


@pytest.mark.parametrize(
    ("verb", "names"), [each for each in WRITTEN if each[0] not in NOT_AT_ONCE and each not in TO_EDIT]
)
def test_the_command_of_a_deed_sends_the_request_of_its_operation(verb: str, names: frozenset[str]) -> None:
    it = sample(verb, names)
    route = catalogue()[it.verb.operation].route
    assert route is not None
    path = route.path.format(**{"project_id": "project1", **it.arguments, "status": "todo"})
    sent: list[tuple[str, str]] = []

    def asked(_here: Here, method: str, to: str, **more: Any) -> dict[str, Any]:
        sent.append((method, to))
        if (method, to) == (route.method, path):
            body = {**(more.get("json") or {}), **(more.get("params") or {})}
            raise _Sent({name: body.get(name) for name in (*it.verb.given, *names) if f"{{{name}}}" not in route.path})
        return _Anything(projects=[_Anything(project_id="project1", status="active")])

    words = _words(it.command)
    with patch.object(Here, "_asked", asked), pytest.raises(_Sent) as found:
        needed(words)(words, standalone_mode=False)
    (body,) = found.value.args
    for name, value in body.items():
        wanted = it.verb.given.get(name, it.arguments.get(name))
        assert _plain(value) == _plain(wanted), (name, sent)


class _Anything(dict[str, Any]):
    """An answer in which nothing is missing."""

    def __missing__(self, key: str) -> Any:
        return "failed" if key == "status" else _Anything() if key in ("task", "agent", "project", "quota") else []


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _words(command: str) -> list[str]:
    return shlex.split(command)[1:]


SUGGESTING = ("bus", "domain", "housekeeping", "operations", "server", "storage", "workflow")
"""Packages whose sentences are read by people at a terminal, on pages, and by agents."""


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for path in [*SOURCE.glob("*.py"), *(each for package in SUGGESTING for each in (SOURCE / package).rglob("*.py"))]:
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_a_command_stands_in_a_sentence_as_a_deed_or_as_one_of_the_terminal() -> None:
    told = []
    for file, module in _sources():
        nodes = [*ast.walk(module)]
        described = {node.value for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            text = getattr(node, "value", "") if isinstance(node, ast.Constant) and node not in described else ""
            if isinstance(text, str) and re.search(r"\btoryo [a-z]", text) and not re.fullmatch(r"toryo \w+", text):
                told.append(f"{file}: {text}")
    assert [each for each in told if not each.startswith(ONLY_AT_A_TERMINAL)] == []


TERMINAL = sorted(
    {
        str(ast.literal_eval(node.args[0]))
        for _, module in _sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "terminal"
    }
)


@pytest.mark.parametrize("command", TERMINAL)
def test_what_only_the_terminal_can_do_is_a_command_and_no_deed(command: str) -> None:
    assert mistake_in(f"toryo {command}") is None
    words = " ".join(word for word in command.split() if not word.startswith("-"))
    assert [each.name for each in VERBS.values() if each.command.split(" {")[0] == words] == []


def test_a_value_of_somebody_elses_choice_stays_one_word() -> None:
    said = deed("edit_quota", account="my; rm -r /", reserve=Blank("PERCENT")).command
    assert said == "toryo quota edit 'my; rm -r /' --reserve PERCENT"


def test_what_is_left_to_the_person_stands_as_it_is() -> None:
    assert deed("cancel", task_id="tsk_1", reason=deeds.TO_SAY).command == "toryo task cancel tsk_1 --reason …"


def test_what_is_none_is_left_out() -> None:
    assert deed("usage", project_id=None, days=1).command == "toryo usage --days 1"
