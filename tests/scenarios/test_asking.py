"""An agent asks a person, leaves, and is started once more with the answer: with a server, a Coordinator and the
command line as real processes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.programs import Program
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

ASK = {"question": "Which colour?", "options": ["Blue", "Red"]}
PAINTS = {"ask": ASK, "command": 'echo "$TORYO_ANSWER" > colour.txt; cat colour.txt'}


def typed(site: Site, *words: str) -> str:
    """What a command of a person's prints."""
    program = Program("toryo", [*words, "--server", site.url], site.environment, site.directory).start()
    assert program.ended_with() == 0, program.lines
    return "\n".join(program.lines)


def until_asked(site: Site, many: int = 1) -> list[dict[str, Any]]:
    """The open questions, once there are so many and nobody is at work any more."""
    site.until(f"{many} questions are asked", lambda: len(site.history.of("question.asked")) == many or None)
    site.until_idle()
    return [each["data"] for each in site.history.of("question.asked")]


def test_it_leaves_and_is_started_once_more_with_what_a_person_has_answered(site: Site) -> None:
    directory = site.project("house", commands_from="managers")
    site.hire("painter", "house")
    site.coordinator()
    task = site.file("house", "Paint", assignee_id="painter", status="in_progress", context=PAINTS)
    [asked] = until_asked(site)
    assert site.status(task) == "in_progress"
    assert not (directory / "colour.txt").exists()

    question = asked["question_id"]
    assert f"toryo answer {question}" in typed(site, "needs")
    assert "Which colour?" in typed(site, "answer", question)
    assert f"answered {question}: Red" in typed(site, "answer", question, "2")
    site.until_status(task, "completed")
    site.until_idle()

    assert (directory / "colour.txt").read_text() == "Red\n"
    assert len(site.history.starts(agent_id="painter")) == 2
    assert site.history.idle_starts() == []
    assert "answered by owner: Red" in typed(site, "answers")


def test_the_next_one_that_asks_the_same_is_told_the_answer_and_nobody_is_asked(site: Site) -> None:
    site.project("house", commands_from="managers")
    site.hire("painter", "house")
    site.hire("joiner", "house")
    site.coordinator()
    first = site.file("house", "Paint", assignee_id="painter", status="in_progress", context=PAINTS)
    [asked] = until_asked(site)
    typed(site, "answer", asked["question_id"], "blue")
    site.until_status(first, "completed")

    second = site.file("house", "Paint the door", assignee_id="joiner", status="in_progress", context=PAINTS)
    site.until_status(second, "completed")
    site.until_idle()
    assert len(site.history.of("question.asked")) == 1
    assert len(site.history.starts(agent_id="joiner")) == 1
    assert site.look(second)["summary"].strip() == "Blue"


def test_a_question_that_a_person_withdraws_lets_it_go_on(site: Site) -> None:
    site.project("house", commands_from="managers")
    site.hire("painter", "house")
    site.coordinator()
    task = site.file("house", "Paint", assignee_id="painter", status="in_progress", context=PAINTS)
    [asked] = until_asked(site)
    assert "withdrew" in typed(site, "answer", asked["question_id"], "--withdraw", "--reason", "As you like")
    site.until_status(task, "completed")
    site.until_idle()
    assert len(site.history.starts(agent_id="painter")) == 2
    assert site.history.idle_starts() == []
