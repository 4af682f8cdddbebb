"""The format of scripts: what is valid, and what is said of what is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toryo.formats import script_format, yaml_documents
from toryo.formats.script_format import Mistakes

GUIDE = Path(__file__).parents[2] / "docs" / "contributing" / "scripted-agents.md"


def read(text: str):
    return script_format.parse(yaml_documents.read(text, "script.yaml"))


def test_an_empty_script_is_an_honest_sentence_and_good_behaviour() -> None:
    script = read("{}")
    assert "an agent without a model" in script["otherwise"]
    assert (script["answers"], script["conversations"], script["delegations"], script["tasks"]) == ([], [], [], [])
    assert not any(script["behave"].values())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("answer: []\n", 1, "answer: there is no such key; did you mean answers?"),
        ("answers:\n  - {when: x, anser: y}\n", 2, "did you mean answer?"),
        ("answers:\n  - {when: x}\n", 2, "the rule does nothing: add answer, start, request, tell or notify"),
        ("answers:\n  - {answer: x}\n", 2, "answers[0].when: is missing"),
        ("answers:\n  - when: '('\n    answer: x\n", 2, "not a valid regular expression"),
        ("answers:\n  - when: (?P<what>.)\n    answer: '{{wat}}'\n", 3, "no variable 'wat' here; did you mean what?"),
        ("answers:\n  - {when: x, start: {about: y}}\n", 2, "start.target_agent_id: is missing"),
        ("answers:\n  - {when: x, answer: '{{task_id}}'}\n", 2, "there is no variable 'task_id' here"),
        ("conversations:\n  - about: x\n    ends: both\n", 3, "'limit', 'starter' or 'invited'"),
        ("conversations:\n  - about: x\n    replies:\n      (.)a: '{{2}}'\n", 4, "there is no variable '2' here"),
        ("conversations:\n  - about: x\n    tell: {to: ann}\n", 3, "tell.to: there is no such key"),
        ("delegations:\n  - {about: x, say: '{{last}}'}\n", 2, "there is no variable 'last' here"),
        ("tasks:\n  - match: x\n    delegate: {target_agent_id: b}\n", 3, "purpose: is missing"),
        ("behave: silnt\n", 1, "behave.silnt: there is no such key; did you mean silent?"),
        ("behave: {crash_after: 0}\n", 1, "must be at least 1"),
    ],
)
def test_a_mistake_names_its_line_and_what_would_be_right(text, line, words) -> None:
    with pytest.raises(Mistakes) as caught:
        read(text)
    assert str(caught.value).startswith(f"script.yaml:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("behave", "named"),
    [("rude", ["rude"]), ("[rude, floods]", ["rude", "floods"]), ("{silent: true}", ["silent"])],
)
def test_bad_behaviour_is_a_name_a_list_or_a_mapping(behave, named) -> None:
    assert [name for name, value in read(f"behave: {behave}")["behave"].items() if value] == named


def test_what_is_known_only_at_the_end_of_a_conversation_may_stand_in_its_report() -> None:
    read("answers: [{when: x, start: {target_agent_id: b, about: y, report: '{{last}} {{reason}} {{from}}'}}]")
    read("delegations: [{about: x, result: '{{last}} of {{purpose}}'}]")
    read("answers: [{when: x, request: {title: y, answer: '{{task_id}} {{approval}}', refused: '{{problem}}'}}]")
    read("tasks: [{match: '(.+)', run: 'echo {{1}} {{context.file}} {{title}}'}]")


def test_a_script_is_a_mapping_or_text_or_a_file_of_the_project(tmp_path) -> None:
    (tmp_path / "talk.yaml").write_text("otherwise: Hm.\n")
    expected = script_format.read({"otherwise": "Hm."}, tmp_path)
    for value in ("talk.yaml", "otherwise: Hm.", "otherwise: Hm.\n", '{"otherwise": "Hm."}'):
        assert script_format.read(value, tmp_path) == expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "the script is missing"),
        ("nothing.yaml", "No such file or directory"),
        ("../talk.yaml", "outside the project directory"),
        ({"answers": [{"when": "x"}]}, "the rule does nothing"),
    ],
)
def test_a_script_that_cannot_be_had_says_why(tmp_path, value, words) -> None:
    with pytest.raises(Mistakes, match=words):
        script_format.read(value, tmp_path)


def test_the_guide_names_every_key_variable_and_misbehaviour() -> None:
    words = set(re.findall(r"\w+", GUIDE.read_text()))
    keys = {name for section in script_format.Section.__subclasses__() for name in section.model_fields}
    known = {name for names in script_format.KNOWN.values() for name in names}
    assert keys | known <= words
