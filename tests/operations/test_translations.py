"""How a sentence is put together in Japanese. That each text, for people or agents, has a translation is what
`make check` asks."""

from __future__ import annotations

from pathlib import Path

import polib
import pytest
from pydantic_core._pydantic_core import list_all_errors

from docs import translations as upkeep
from toryo import translation_catalogues, wrong_values
from toryo.domain.projects import Language
from toryo.domain.tasks import Status
from toryo.domain.wording import constant, say, together
from toryo.operations.translations import translate
from toryo.workflow import chat_rules, launch_rules, manager_rules, next_action, worker_rules

JA = Language.JAPANESE


@pytest.mark.deep
def test_every_text_is_translated_with_its_facts_and_none_is_left_that_is_gone() -> None:
    assert upkeep.problems() == []


@pytest.mark.deep
def test_a_translator_is_told_what_is_missing_gone_or_names_other_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = polib.pofile(str(translation_catalogues.catalogue_file(JA)))
    missing, wrong = [entry for entry in catalogue if not entry.msgctxt and "{task_id}" in entry.msgid][:2]
    missing.msgstr, wrong.msgstr = "", "タスク {no_such_fact}"
    catalogue.append(polib.POEntry(msgid="Nobody says this.", msgstr="誰も言いません。"))
    (tmp_path / "ja" / "LC_MESSAGES").mkdir(parents=True)
    catalogue.save(str(tmp_path / "ja" / "LC_MESSAGES" / "toryo.po"))
    monkeypatch.setattr(translation_catalogues, "LOCALE", tmp_path)
    translation_catalogues.texts.cache_clear()
    try:
        told = upkeep.problems()
    finally:
        translation_catalogues.texts.cache_clear()

    assert len(told) == 3
    assert any("not translated" in line and line.endswith(missing.msgid) for line in told)
    assert any("names other facts" in line and line.endswith(wrong.msgid) for line in told)
    assert any("no longer said: Nobody says this." in line for line in told)


@pytest.mark.deep
def test_mistakes_in_values_are_told_with_what_pydantic_says_of_them() -> None:
    known: dict[str, set[str]] = {
        str(error["type"]): set(error.get("example_context") or ()) for error in list_all_errors()
    } | upkeep.own_mistakes()
    told = {kind: text for (context, kind), text in translation_catalogues.texts(JA).items() if context == "pydantic"}

    assert (wrong_values.KINDS & known.keys()) - told.keys() == set()
    assert not {kind: text for kind, text in told.items() if not upkeep.fields(text) <= known[kind]}


def test_states_and_sentences_within_a_sentence_are_japanese_too_and_names_stay() -> None:
    names = together((say("“{title}” ({status})", title="Build", status=Status.FAILED), constant("You")), ", ")
    told = say("{names} must be completed.", names=names)

    assert told == "“Build” (failed), You must be completed."
    assert translate(told, JA) == "「Build」（失敗）、このアカウントの完了。"
    assert translate(told, Language.ENGLISH) == told


def test_the_condition_of_every_rule_is_japanese_too() -> None:
    launches = [rule.words for _, rows in launch_rules.TASK_TABLE for rule in rows]
    tasks = [rule.words for rule in (*worker_rules.WORKER_ROWS, *manager_rules.MANAGER_ROWS)]
    chats = [*(rule.words for rule in launch_rules.CHAT_ROWS), *(rule.words for rule in chat_rules.CHAT_ROWS)]
    words = [*launches, *tasks, *chats, *(rule.words for rule in next_action.FIRST_ROWS)]

    assert [each for each in words if translate(constant(each), JA) == each] == []


def test_a_sentence_that_is_taken_as_a_constant_keeps_its_facts_and_its_japanese_words() -> None:
    told = say("Task {task_id} is {status}.", task_id="tsk_1", status=Status.FAILED)

    assert translate(constant(told), JA) == translate(told, JA) != told


def test_what_has_no_japanese_words_stays_as_it_is() -> None:
    assert translate(constant("Printed by a program: {}"), JA) == "Printed by a program: {}"
    assert translate(say("It fell over {times} times.", times=3), JA) == "It fell over 3 times."


def test_a_sentence_that_was_cut_or_added_to_is_an_ordinary_text() -> None:
    assert type(say("The task is {to} already.", to="todo")[:8]) is str


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mia", "mia が空に hana へ渡した"),
        ("花", "花が空に hana へ渡した"),
        ("2 号", "2 号が空に hana へ渡した"),
    ],
)
def test_a_name_in_japanese_has_no_space_beside_japanese_words(name: str, told: str) -> None:
    template = "{giver} が {taker} に {other} へ渡した"
    assert translation_catalogues.fill(template, {"giver": name, "taker": "空", "other": "hana"}) == told


def test_a_fact_keeps_its_own_spaces_and_its_format() -> None:
    facts = {"title": "東京 大阪", "count": 12000, "value": "x"}
    told = translation_catalogues.fill("タスク {title} を {count:,} 回、{value!r} で", facts)
    assert told == "タスク東京 大阪を 12,000 回、'x' で"
