"""What people read in the browser names no command and no code of a state, in both languages."""

from __future__ import annotations

from enum import Enum

import pytest

from docs import translations as upkeep
from toryo import translation_catalogues
from toryo.deeds import Blank, deed
from toryo.domain.errors import Refusal
from toryo.domain.projects import Language
from toryo.domain.tasks import Status
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations import page_wording
from toryo.operations.calls import validation
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.translations import context_of, translated

EN, JA = Language.ENGLISH, Language.JAPANESE


def on_page(text: Worded, language: Language = EN) -> str:
    return translated(text, language, page=True)


@pytest.mark.parametrize("language", Language)
def test_no_sentence_on_a_page_has_a_command(language: Language) -> None:
    known = [key for key in translation_catalogues.texts(JA) if not key[0]]
    said = {text: page_wording.template(text, "", language) for _, text in known}

    assert [text for text in said if page_wording.COMMAND.search(text)]
    assert {text: told for text, told in said.items() if page_wording.COMMAND.search(told)} == {}


def test_what_a_page_says_instead_is_of_a_sentence_that_is_said() -> None:
    known = {text for context, text in translation_catalogues.texts(JA) if not context}
    assert [text for text in page_wording.INSTEAD if text not in known] == []
    assert [text for text in page_wording.INSTEAD.values() if text and text not in known] == []


def test_what_a_page_says_instead_has_no_other_facts() -> None:
    both = page_wording.INSTEAD.items()
    assert [text for text, told in both if not upkeep.fields(told) <= upkeep.fields(text)] == []


@pytest.mark.parametrize("states", upkeep.STATES)
@pytest.mark.parametrize("language", Language)
def test_every_state_is_a_word(states: type[Enum], language: Language) -> None:
    context = context_of(states)
    said = [page_wording.state(context, str(each.value), language) for each in states]
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
    assert translated(assign, JA) == "先に担当者を割り当ててください: toryo task edit tsk_2 --assignee AGENT"


def test_what_only_a_terminal_shows_leaves_no_gap() -> None:
    told = together(
        (constant("The agent is inactive."), say("{deed:Activate it: …}", deed=deed("activate", agent_id="a")))
    )
    assert on_page(told) == "The agent is inactive."
    for language in Language:
        assert on_page(constant("List them: toryo agent list."), language) == ""
        assert on_page(together((constant("List them: toryo agent list."), "")), language) == ""


def test_a_state_within_a_sentence_is_in_words() -> None:
    told = say("Task {task_id} is {status}.", task_id="tsk_1", status=Status.IN_PROGRESS)
    assert told == "Task tsk_1 is in_progress."
    assert on_page(told) == "Task tsk_1 is in progress."


def test_what_people_and_agents_have_written_stays_as_it_is() -> None:
    theirs = constant("Run it by hand: toryo task list")
    assert on_page(theirs) == on_page(theirs, JA) == theirs
    assert on_page(say("{who}: {reason}", who="Ada", reason="use (toryo task list)")) == "Ada: use (toryo task list)"


def test_the_command_line_is_still_told_commands() -> None:
    told = say("Approve it first: toryo task approve {task_id}.", task_id="tsk_1")
    assert translated(told, EN) == told


def test_wrong_values_are_told_without_the_names_of_a_call() -> None:
    refused = validation.parameters_of(catalogue()["edit_quota"], {"account": "a", "reserve": 95, "limit_5h": 0})
    assert isinstance(refused, Refusal)

    said = on_page(refused.message)
    assert said == "limit_5h: must be at least 1; reserve: must be at most 90."
    assert on_page(refused.message, JA) == "limit_5h: 1 以上にしてください、reserve: 90 以下にしてください。"
    assert on_page(refused.instruction) == on_page(refused.instruction, JA) == ""
