"""Sentences that keep what they were made of, so that they can be said in another language."""

from __future__ import annotations

from toryo.deeds import deed
from toryo.domain.wording import Worded, constant, renamed, say, together

TOLD = say("Task {task_id} is {status}.", task_id="tsk_1", status="failed")


def test_a_sentence_keeps_its_template_and_its_facts() -> None:
    assert TOLD == "Task tsk_1 is failed."
    assert (TOLD.template, TOLD.facts) == ("Task {task_id} is {status}.", {"task_id": "tsk_1", "status": "failed"})


def test_a_text_without_facts_may_have_braces() -> None:
    assert (say("{}"), say("{}").template, say("{}").facts) == ("{}", "{}", {})


def test_a_constant_is_its_own_template_and_a_sentence_stays_what_it_is() -> None:
    assert constant(TOLD) is TOLD
    plain = constant("Stop.")
    assert isinstance(plain, Worded)
    assert (plain, plain.template, plain.facts) == ("Stop.", "Stop.", {})


def test_sentences_are_joined_without_the_empty_ones() -> None:
    both = together(("", TOLD, "Stop."), "\n")
    assert both == "Task tsk_1 is failed.\nStop."
    assert (both.parts, both.by) == ((TOLD, "Stop."), "\n")


def test_names_are_replaced_in_the_sentence_in_its_facts_and_in_its_parts() -> None:
    other = renamed(together((TOLD, "See tsk_1.")), {"tsk_1": "one"})
    assert isinstance(other, Worded)
    assert other == "Task one is failed. See one."
    first = other.parts[0]
    assert isinstance(first, Worded)
    assert first.facts == {"task_id": "one", "status": "failed"}
    assert renamed("See tsk_1.", {"tsk_1": "one"}) == "See one."


def test_a_name_is_replaced_in_what_is_suggested_as_it_is() -> None:
    free = deed("free", task_id="tsk_1", remove_dependencies=["tsk_2", "tsk_3"])
    said = renamed(say("Free it{deed:: …}.", deed=free), {"tsk_1": "“Build it”", "tsk_2": "“Plan”"})
    assert isinstance(said, Worded)
    assert said == "Free it: toryo task edit “Build it” --no-longer-on “Plan” --no-longer-on tsk_3."
    assert said.template.format(**said.facts) == said
