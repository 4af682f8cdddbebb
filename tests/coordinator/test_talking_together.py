"""Agents without a model that talk with people and with each other: real server, Coordinator and processes."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest

from tests.coordinator.teams import Team, coordinating
from toryo.coordinator.config import AgentConfig

WORDS = ["ringo", "gorira", "rappa", "panda", "dango", "gohan", "nasu", "suika", "kasa", "sakura", "rajio", "origami"]
CHAIN = dict(itertools.pairwise(WORDS))


def talker(team: Team, name: str, script: dict[str, Any], **more: Any) -> str:
    return team.hire(name, "script", provider_options={"script": script}, reports_to="owner", **more)


def player(team: Team, name: str, **more: Any) -> str:
    game = {"about": r"shiritori, (?P<rounds>\d+) rounds", "rounds": "{{rounds}}", "opening": "ringo", "replies": CHAIN}
    ask = {
        "when": r"play shiritori with (?P<partner>\S+) for (?P<rounds>\d+) rounds",
        "answer": "I ask {{partner}}.",
        "start": {
            "target_agent_id": "{{partner}}",
            "about": "shiritori, {{rounds}} rounds",
            "report": "{{partner}} said {{last}} last.",
        },
    }
    return talker(team, name, {"answers": [ask], "conversations": [{**game, **more}]})


def test_an_agent_answers_a_person_with_its_name(team, coordinator) -> None:
    mia = talker(team, "mia", {"answers": [{"when": "name", "answer": "I am {{agent_name}}."}]})
    team.write(mia, "What is your name?")
    assert team.said_by(mia) == [f"I am {mia}."]


@pytest.mark.parametrize("provider", ["command", "playbook"])
def test_an_agent_without_a_script_says_what_it_is(team, coordinator, provider) -> None:
    plan = {"playbook": {"tasks": [{"subtasks": [{"id": "a", "title": "A"}]}]}}
    who = team.hire("w", provider, reports_to="owner", provider_options=plan if provider == "playbook" else {})
    team.write(who, "Hello?")
    [said] = team.said_by(who)
    assert "an agent without a model" in said


def test_while_a_person_looks_the_same_process_answers_everything_and_then_it_leaves(team, coordinator) -> None:
    mia = talker(team, "mia", {"otherwise": "You said {{text}}."})
    path = f"/projects/{team.name}/chats/{mia}"
    team.client.rest("POST", f"{path}/open", {})
    for number in range(1, 4):
        team.write(mia, f"{number}")
        assert team.said_by(mia, number)[-1] == f"You said {number}."
    [launch] = team.launches(mia)
    assert (launch["purpose"], launch["exit_code"]) == ("chat", None)
    team.client.rest("POST", f"{path}/close", {})
    [launch] = team.until(lambda: team.launches(mia), lambda found: found[0]["exit_code"] is not None)
    assert (launch["exit_code"], launch["exit_error"]) == (0, None)


def test_an_agent_talks_while_it_works(team, coordinator) -> None:
    mia = talker(team, "mia", {"otherwise": "I am busy."})
    os.mkfifo(team.directory / "go")
    task_id = team.file("Work", mia, context={"command": "read line < go"})
    team.until(lambda: team.launches(mia), bool)
    team.write(mia, "How is it going?")
    assert team.said_by(mia) == ["I am busy."]
    assert team.task(task_id)["status"] == "in_progress"
    (team.directory / "go").write_text("go\n")
    assert team.closed(task_id)["status"] == "completed"
    assert {launch["purpose"] for launch in team.launches(mia)} == {"task", "chat"}
    team.write(mia, "And now?")
    assert team.said_by(mia, 2)[-1] == "I am busy."


def test_two_agents_play_as_long_as_a_person_wants_and_the_person_is_told(team, coordinator) -> None:
    bob = player(team, "bob")
    ann = player(team, "ann")
    team.write(ann, f"Please play shiritori with {bob} for 6 rounds")
    assert team.said_by(ann, 2) == [f"I ask {bob}.", f"{bob} said origami last."]
    conversation = team.conversation_over()
    assert (conversation["turns"], conversation["reason"]) == (12, "max_turns")
    said = team.thread(ann, bob)
    assert [each["content"] for each in said] == WORDS
    assert [each["from_agent_id"] for each in said] == [ann, bob] * 6
    assert {each["conversation_id"] for each in said} == {conversation["conversation_id"]}
    assert not team.thread(bob), "it was not asked"


def test_a_task_has_a_conversation_held_and_ends_with_its_result(team, coordinator) -> None:
    bob, ann = player(team, "bob"), player(team, "ann")
    context = {"delegate": {"target_agent_id": bob, "purpose": "shiritori, 6 rounds"}}
    task = team.closed(team.file("Play", ann, context=context))
    assert (task["status"], task["summary"]) == ("completed", f"{bob}: origami")
    assert team.conversation_over()["turns"] == 12


def test_a_command_is_run_with_what_another_agent_answered(team, coordinator) -> None:
    bob = talker(team, "bob", {"conversations": [{"about": "6 x 7", "replies": ["42"], "ends": "invited"}]})
    ann = team.hire("ann", "command", reports_to="owner")
    delegate = {"target_agent_id": bob, "purpose": "What is 6 x 7?"}
    context = {"delegate": delegate, "command": "echo $TORYO_DELEGATION_RESULT > answer"}
    assert team.closed(team.file("Ask", ann, context=context))["status"] == "completed"
    assert (team.directory / "answer").read_text() == "42\n"


def test_a_task_says_something_to_a_person_word_for_word(team, coordinator) -> None:
    ann = team.hire("ann", "command", reports_to="owner")
    text = "The roof is tight: 100 %.\nCome and see."
    task = team.closed(team.file("Tell", ann, context={"delegate": {"target_agent_id": "owner", "purpose": text}}))
    assert task["status"] == "completed"
    assert team.said_by(ann) == [text]


def test_what_one_agent_tells_another_is_passed_on_to_a_person(team, coordinator) -> None:
    passed_on = {"about": "", "tell": {"target_agent_id": "owner", "text": "{{from_id}} says: {{text}}"}}
    bob = talker(team, "bob", {"conversations": [passed_on]})
    ann = team.hire("ann", "command", reports_to="owner")
    team.file("Tell", ann, context={"delegate": {"target_agent_id": bob, "purpose": "The result is 100"}})
    assert team.said_by(bob) == [f"{ann} says: The result is 100"]


def test_a_persons_answer_is_the_result_of_a_task(team, coordinator) -> None:
    ann = talker(team, "ann", {"delegations": [{"about": "ask", "say": "Shall I?", "await_answer": True}]})
    task_id = team.file("Ask", ann, context={"delegate": {"target_agent_id": "owner", "purpose": "ask"}})
    assert team.said_by(ann) == ["Shall I?"]
    team.write(ann, "Do it.")
    assert team.closed(task_id)["summary"] == "owner: Do it."


def test_a_task_is_requested_by_writing_to_an_agent(team, coordinator) -> None:
    request = {"title": "{{what}}", "answer": "{{task_id}} is {{approval}}."}
    mia = talker(team, "mia", {"answers": [{"when": "please (?P<what>.+)", "request": request}]})
    team.write(mia, "@@\nplease sweep")
    [said] = team.said_by(mia)
    assert said.endswith(" is approved.")
    task = team.task(said.split()[0])
    assert (task["title"], task["assignee_id"]) == ("sweep", mia)
    assert task["status"] != "backlog", "the message was the approval, and an approved task starts"


def test_a_partner_that_crashes_goes_on_where_it_was(team, coordinator) -> None:
    """It gets six messages: the first process dies at the fourth, which the next one gets again."""
    bob, ann = player(team, "bob"), player(team, "ann")
    options = {"script": {"conversations": [{"about": "shiritori", "replies": CHAIN}], "behave": {"crash_after": 4}}}
    team.client.rest("PATCH", f"/agents/{bob}", {"provider_options": options})
    team.write(ann, f"Please play shiritori with {bob} for 6 rounds")
    team.until(lambda: team.launches(bob), lambda found: found and found[0]["exit_error"] == "killed")
    team.client.rest("POST", f"/agents/{bob}/activate", {})
    assert team.said_by(ann, 2)[-1] == f"{bob} said origami last."
    assert [each["content"] for each in team.thread(ann, bob)] == WORDS


def test_a_partner_that_leaves_in_the_middle_is_started_again_for_its_turn(team, coordinator) -> None:
    bob, ann = player(team, "bob"), player(team, "ann")
    options = {"script": {"conversations": [{"about": "shiritori", "replies": CHAIN}], "behave": {"exit_after": 3}}}
    team.client.rest("PATCH", f"/agents/{bob}", {"provider_options": options})
    team.write(ann, f"Please play shiritori with {bob} for 6 rounds")
    assert team.said_by(ann, 2)[-1] == f"{bob} said origami last."
    assert [each["content"] for each in team.thread(ann, bob)] == WORDS
    assert len(team.launches(bob)) > 1


@pytest.mark.deep
def test_an_endless_pair_is_ended_by_the_limit(team, coordinator) -> None:
    script = {"conversations": [{"about": "", "otherwise": "And?"}], "behave": "endless"}
    bob, ann = (talker(team, name, script) for name in ("bob", "ann"))
    team.file("Talk", ann, context={"delegate": {"target_agent_id": bob, "purpose": "Talk", "await_result": False}})
    conversation = team.conversation_over()
    assert (conversation["turns"], conversation["reason"]) == (20, "max_turns")


@pytest.mark.first(1)
@pytest.mark.parametrize("behave", ["rude", "ignores_turns", "floods"])
def test_turns_alternate_however_badly_one_behaves(team, coordinator, behave) -> None:
    polite = {"conversations": [{"about": "", "otherwise": "Yes?", "rounds": 3}]}
    ann = talker(team, "ann", polite)
    bob = talker(team, "bob", {**polite, "behave": behave})
    team.file("Talk", ann, context={"delegate": {"target_agent_id": bob, "purpose": "Talk"}})
    assert team.conversation_over()["turns"] == 6
    assert [each["from_agent_id"] for each in team.thread(ann, bob)] == [ann, bob] * 3


@pytest.mark.deep
def test_two_partners_fit_where_there_is_one_slot_for_chats_and_a_task_holds_the_other(quiet, tmp_path) -> None:
    team, data = quiet, tmp_path / "data"
    bob, ann = player(team, "bob"), player(team, "ann")
    delegate = {"target_agent_id": bob, "purpose": "shiritori, 6 rounds"}
    context = {"delegate": delegate, "command": "echo $TORYO_DELEGATION_RESULT"}
    with coordinating(data, max_concurrent=1, max_chat=1):
        task = team.closed(team.file("Play", ann, context=context))
    assert (task["status"], task["summary"]) == ("completed", "origami")


def test_what_was_asked_before_everybody_left_is_answered_to_those_who_come_after(quiet, tmp_path) -> None:
    team, data = quiet, tmp_path / "data"
    ann = talker(team, "ann", {"delegations": [{"about": "ask", "say": "Shall I?", "await_answer": True}]})
    with coordinating(data):
        task_id = team.file("Ask", ann, context={"delegate": {"target_agent_id": "owner", "purpose": "ask"}})
        assert team.said_by(ann) == ["Shall I?"]
    with coordinating(data):
        team.write(ann, "Do it.")
        task = team.closed(task_id)
    assert (task["status"], task["summary"]) == ("completed", "owner: Do it.")
    assert team.said_by(ann) == ["Shall I?"], "it has asked once"


@pytest.mark.deep
def test_a_conversation_is_held_though_whoever_began_it_left_before_its_partner_came(quiet, tmp_path) -> None:
    team, data = quiet, tmp_path / "data"
    bob, ann = player(team, "bob"), player(team, "ann")
    with coordinating(data, agents={ann: AgentConfig()}):
        team.write(ann, f"Please play shiritori with {bob} for 6 rounds")
        team.until(team.conversations, bool)
    with coordinating(data):
        assert team.said_by(ann, 2)[-1] == f"{bob} said origami last."
    assert [each["content"] for each in team.thread(ann, bob)] == WORDS
    assert len(team.launches(ann)) > 1
