"""What people read in the browser names no command and no code of a state, in both languages."""

from __future__ import annotations

import re
from enum import Enum

import pytest

from docs import translations as upkeep
from toryo import translation_catalogues
from toryo.deeds import Blank, Word, deed, terminal
from toryo.domain.errors import Refusal
from toryo.domain.projects import Language
from toryo.domain.tasks import Status
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls import validation
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.translations import translate

EN, JA = Language.ENGLISH, Language.JAPANESE


def on_page(text: Worded, language: Language = EN) -> str:
    return translate(text, language, page=True)


_KNOWN = [(text, told) for (context, text), told in translation_catalogues.texts(JA).items() if not context]
_TYPED = re.compile(r"{(\w+):[^}]*[…|]")


def test_no_sentence_writes_a_command_out_in_any_language() -> None:
    assert [text for both in _KNOWN for text in both if re.search(r"\btoryo [a-z]", text)] == []


@pytest.mark.parametrize("text", [text for text, _ in _KNOWN if _TYPED.search(text)])
def test_a_sentence_with_a_command_is_whole_on_a_page_without_it_or_is_left_out_in_both_languages(text: str) -> None:
    typed = {name: Word("toryo x") for name in _TYPED.findall(text)}
    said = [
        on_page(Worded(text, text, {**dict.fromkeys(upkeep.fields(text), 1), **typed}), language)
        for language in Language
    ]
    assert bool(said[0]) == bool(said[1]), said
    assert [each for each in said if re.search(r"toryo x|…|^ | $|  |[:：]$", each)] == []


@pytest.mark.parametrize("states", upkeep.STATES)
@pytest.mark.parametrize("language", Language)
def test_every_state_is_a_word(states: type[Enum], language: Language) -> None:
    said = [on_page(say("{state}", state=each), language) for each in states]
    assert [each for each in said if "_" in each or each == "todo"] == []


def test_a_command_at_the_end_or_in_brackets_is_left_out_in_both_languages() -> None:
    again = deed("retry", task_id="tsk_1")
    free = deed("free", task_id="tsk_2", remove_dependencies=["tsk_1"])
    retry = say("Retry it{retry_deed: (…)}, or remove the dependency{deed: (…)}.", retry_deed=again, deed=free)
    assign = say("Assign it first{deed:: …}.", deed=deed("assign", task_id="tsk_2", assignee_id=Blank("AGENT")))

    assert on_page(retry) == "Retry it, or remove the dependency."
    assert on_page(retry, JA) == "再試行するか、依存関係を削除してください。"
    assert on_page(assign) == "Assign it first."
    assert on_page(assign, JA) == "先に担当者を割り当ててください。"
    assert assign == "Assign it first: toryo task edit tsk_2 --assignee AGENT."
    assert translate(assign, JA) == "先に担当者を割り当ててください: toryo task edit tsk_2 --assignee AGENT"


def test_what_only_a_terminal_shows_leaves_no_gap() -> None:
    told = together(
        (constant("The agent is inactive."), say("{deed:Activate it: …}", deed=deed("activate", agent_id="a")))
    )
    assert on_page(told) == "The agent is inactive."
    listed = say("{deed:List them: ….}", deed=deed("agents"))
    assert listed == "List them: toryo agent list."
    for language in Language:
        assert on_page(listed, language) == on_page(together((listed, "")), language) == ""


def test_a_state_within_a_sentence_is_in_words() -> None:
    told = say("Task {task_id} is {status}.", task_id="tsk_1", status=Status.IN_PROGRESS)
    assert told == "Task tsk_1 is in_progress."
    assert on_page(told) == "Task tsk_1 is in progress."


def test_what_people_and_agents_have_written_stays_as_it_is() -> None:
    theirs = constant("Run it by hand: toryo task list")
    assert on_page(theirs) == on_page(theirs, JA) == theirs
    assert on_page(say("{who}: {reason}", who="Ada", reason="use (toryo task list)")) == "Ada: use (toryo task list)"


def test_what_only_the_command_line_can_do_stands_in_a_sentence_in_the_same_way() -> None:
    told = say("Sign in again{open:: … prints a sign-in link}.", open=terminal("open"))
    assert told == translate(told, EN) == "Sign in again: toryo open prints a sign-in link."
    assert on_page(told) == "Sign in again."


def test_wrong_values_are_told_without_the_names_of_a_call() -> None:
    refused = validation.parameters_of(catalogue()["edit_quota"], {"account": "a", "reserve": 95, "limit_5h": 0})
    assert isinstance(refused, Refusal)

    said = on_page(refused.message)
    assert said == "limit_5h: must be at least 1; reserve: must be at most 90."
    assert on_page(refused.message, JA) == "limit_5h: 1 以上にしてください、reserve: 90 以下にしてください。"
    assert on_page(refused.instruction) == on_page(refused.instruction, JA) == ""
