"""What people are told, in Japanese: a sentence for each English one, with its facts; and how it is put together."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic_core._pydantic_core import list_all_errors

import toryo
from toryo.domain.tasks import Status
from toryo.domain.wording import constant, say, together
from toryo.failures import NATURES
from toryo.operations import japanese
from toryo.operations.launches import explanations
from toryo.operations.overview import needs, queue_status
from toryo.workflow import launch

SOURCE = Path(toryo.__file__).parent
PROGRAMS = ("agents/", "cli/", "client/", "coordinator/")
READ_BY_AGENTS = {
    "domain/chat.py",
    "domain/creating.py",
    "operations/tasks/acceptance.py",
    "operations/tasks/descendants.py",
    "operations/chat/tools.py",
    "operations/queue/claims.py",
    "operations/messaging/conversations.py",
    "operations/messaging/delegations.py",
    "operations/launches/claim_starts.py",
    "operations/launches/check_results.py",
    "operations/launches/exits.py",
    "operations/launches/reported.py",
    "operations/chat/delegations.py",
    "operations/worktrees/jobs.py",
    "operations/sessions/guards.py",
    "operations/tasks/manager_tools.py",
    "operations/overview/prompts.py",
    "operations/queue/tools.py",
    "operations/tasks/queued.py",
    "operations/overview/resources.py",
    "operations/tasks/requests.py",
    "operations/queue/shared_state.py",
    "operations/sessions/sign_in.py",
    "operations/tasks/tools.py",
    "operations/sessions/work.py",
    "operations/sessions/handoffs.py",
    "operations/sessions/notes.py",
    "storage/redis_shared.py",
    "storage/shared.py",
}
READ_BY_PROGRAMMERS = {
    "operations/calls/identity.py",
    "operations/overview/health.py",
    "operations/calls/permissions.py",
    "server/event_stream.py",
    "server/rest.py",
    "server/sdk.py",
}
"""Files whose refusals a person does not meet by clicking: theirs may stay English."""
_REFUSING = {"Refusal", "_invalid", "_refusal"}


@cache
def _calls() -> tuple[tuple[str, ast.Call], ...]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        here = path.relative_to(SOURCE).as_posix()
        if not here.startswith(PROGRAMS):
            found += [(here, each) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    return tuple(found)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", "")


def _texts(node: ast.expr) -> Iterator[ast.expr]:
    """Both of a choice, else the one."""
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        yield node


def _for_people() -> dict[str, str]:
    """Every sentence that is written for people, and where."""
    found: dict[str, str] = {}
    for here, call in _calls():
        if here in READ_BY_AGENTS | READ_BY_PROGRAMMERS or here.startswith(PROGRAMS):
            continue
        asked = call.args[:1] if _name(call) in ("say", "constant") else call.args if _name(call) in _REFUSING else []
        for each in (text for argument in asked for text in _texts(argument)):
            found[str(each.value) if isinstance(each, ast.Constant) else ast.unparse(each)] = here
    return found


def _tables() -> dict[str, str]:
    """Sentences that stand in tables, and where."""
    tables = {
        "explaining": [explanations._WORDS, explanations._STEPS],
        "needs": [needs._GUARDS],
        "holding": [queue_status._OF_AGENTS],
    }
    found = {text: where for where, them in tables.items() for table in them for text in table.values()}
    natures = (text for each in NATURES.values() for text in (each.words, each.people, each.guarded))
    found |= dict.fromkeys((text for text in natures if text is not None), "failures")
    words = [each.words for each in (*launch.AGENT_ROWS, *launch.OTHERWISE_ROWS, *launch.CHAT_ROWS)]
    words += [each.words for each in launch.MAIN_TASK_ROWS]
    return found | dict.fromkeys(words, "launch")


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_sentence_for_people_has_japanese_words() -> None:
    missing = {text: where for text, where in (_for_people() | _tables()).items() if text not in japanese.TEXTS}

    assert not missing


@pytest.mark.slow
def test_no_japanese_words_are_left_of_sentences_that_are_gone() -> None:
    english = {
        each.value
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "japanese"
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    gone = [each for each in japanese.TEXTS if each not in english and not each.startswith("pydantic ")]

    assert not gone


def test_the_japanese_names_no_fact_that_the_english_does_not() -> None:
    sentences = {each: said for each, said in japanese.TEXTS.items() if not each.startswith("pydantic ")}

    assert not {each: said for each, said in sentences.items() if not _fields(said) <= _fields(each)}


def _own_mistakes() -> dict[str, set[str]]:
    """The kinds of mistakes in values that Toryo adds to pydantic's, and their facts."""
    errors = [
        each
        for path in SOURCE.rglob("*.py")
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "PydanticCustomError"
    ]
    texts = [[arg.value for arg in each.args if isinstance(arg, ast.Constant)] for each in errors]
    return {str(kind): _fields(str(said)) for kind, said in texts}


def test_mistakes_in_values_of_our_own_are_told_in_japanese() -> None:
    assert not [kind for kind in _own_mistakes() if f"pydantic {kind}" not in japanese.TEXTS]


@pytest.mark.slow
def test_mistakes_in_values_are_told_with_what_pydantic_says_of_them() -> None:
    known: dict[str, set[str]] = {
        str(each["type"]): set(each.get("example_context") or ()) for each in list_all_errors()
    } | _own_mistakes()
    said = {
        each.removeprefix("pydantic "): text for each, text in japanese.TEXTS.items() if each.startswith("pydantic ")
    }

    assert not {kind: text for kind, text in said.items() if not _fields(text) <= known[kind]}


def test_states_and_sentences_within_a_sentence_are_japanese_too_and_names_stay() -> None:
    names = together((say("“{title}” ({status})", title="Build", status=Status.FAILED), constant("You")), ", ")
    told = say("The completion of {names}.", names=names)

    assert told == "The completion of “Build” (failed), You."
    assert japanese.said(told) == "「Build」（失敗）、あなた の完了。"


def test_what_has_no_japanese_words_stays_as_it_is() -> None:
    assert japanese.said(constant("Printed by a program: {}")) == "Printed by a program: {}"
    assert japanese.said(say("It fell over {times} times.", times=3)) == "It fell over 3 times."


def test_a_sentence_that_was_cut_or_added_to_is_an_ordinary_text() -> None:
    assert type(say("The task is {to} already.", to="todo")[:8]) is str
