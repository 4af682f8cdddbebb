"""The dashboard has words, in both languages, for every code that the server gives reasons with: no code is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toryo import block_reasons
from toryo.domain.people import How
from toryo.domain.sessions import End
from toryo.failures import Ended, Failure
from toryo.operations.calls.callers import Login
from toryo.operations.launches import reason_texts
from toryo.operations.sessions import guards
from toryo.workflow import launch_rules, reasons

VIEWS = Path(__file__).parents[2] / "web" / "src" / "views"


def keys(view: str, name: str) -> dict[str, set[str]]:
    """The keys of one object of a view's words, by language."""
    english, japanese = (VIEWS / view / "words.ts").read_text(encoding="utf-8").split("export const ja")
    found = {}
    for language, words in (("en", english), ("ja", japanese)):
        (body,) = re.findall(rf"^  {name}: {{$(.*?)^  }},$", words, re.MULTILINE | re.DOTALL)
        found[language] = set(re.findall(r"^    (\w+):", body, re.MULTILINE))
    return found


def launch_reasons() -> set[str]:
    rows = [*(row for _, table in launch_rules.TASK_TABLE for row in table), *launch_rules.CHAT_ROWS]
    return {row.then.reason for row in rows}


def guard_names() -> set[str]:
    source = Path(str(guards.__file__)).read_text(encoding="utf-8")
    return {*re.findall(r'\("([a-z_]+)", session\.', source), "restless"}


REASONS = {
    *launch_reasons(),
    *(each.code for each in reasons.OF_AGENTS if each.words),
    *reason_texts.STEPS,
    *block_reasons.WORDS,
    *guard_names(),
    *(str(each.value) for states in (Failure, Ended, End, How, Login) for each in states),
}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_reason_in_the_audit_log_has_words(language: str) -> None:
    assert {"has_in_progress_task", "same_answer", "quota", "told_to_exit"} <= REASONS
    assert sorted(REASONS - keys("audit", "said")[language]) == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_end_of_a_launch_has_words(language: str) -> None:
    assert sorted({str(each.value) for each in (*Failure, *Ended)} - keys("logs", "failure")[language]) == []
    stops = {row.then.reason for _, table in launch_rules.TASK_TABLE for row in table if row.then.action == "stop"}
    ends = {*(str(each.value) for each in End), *stops}
    assert sorted(ends - keys("logs", "end")[language]) == []
