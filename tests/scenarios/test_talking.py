"""People talk with agents: an agent comes when it is written to (UC009), answers and stays as long as a panel is open
(UC014, UC015), asks for tasks in a person's name (UC017, UC018), and works and talks at the same time (UC019). A
task that rests keeps nobody from talking.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.cli.conftest import Toryo
from tests.scenarios import chats
from tests.scenarios.chats import Chat
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site
from toryo.client import RefusalError

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

GONE_WITHIN = 40.0
"""Seconds from the cause until a process is gone: the grace of these sites, and the way there."""
CLERK = {
    "answers": [{"when": r"please (?P<what>.+)", "request": {"title": "{{what}}"}}],
    "tasks": [{"run": "echo swept"}],
}
"""Asks for the tasks that people want, and does them."""


@pytest.mark.pitfall("F32")
def test_one_process_answers_all_and_leaves_when_the_panel_is_closed(site: Site) -> None:
    site.project("desk")
    chats.talker(site, "mia", "desk")
    site.coordinator()
    chat = Chat(site, "desk", "mia")
    assert chat.close() == 0, "nothing was open, and that is no harm"
    chat.open()
    chat.until("connected")
    first = chats.process_of(site, "mia")
    for number, word in enumerate(("one", "two", "three"), 1):
        chat.say(word)
        assert chat.answers(number)[-1] == f"{word}, you say?"
        assert [session["launch_id"] for session in site.sessions()] == [first.launch_id]
    chat.open()
    assert chat.state() == "connected"

    assert chat.close() == 1
    assert first.gone(GONE_WITHIN)
    chat.until("disconnected")
    site.until_idle()
    (launch,) = site.launches()
    assert (launch["exit_code"], launch["exit_signal"], launch["exit_error"]) == (0, None, None)
    assert chat.close() == 0

    chat.open()
    chat.until("connected")
    again = chats.process_of(site, "mia")
    assert again.launch_id != first.launch_id
    assert [each["content"] for each in Chat(site, "desk", "mia").thread()] == [
        each["content"] for each in chat.thread()
    ]
    assert len(chat.thread()) == 6
    chat.say("four")
    assert chat.answers(4)[-1] == "four, you say?"
    assert chats.launches_by_purpose(site) == {("mia", "chat"): 2}


def test_a_panel_that_is_closed_before_the_agent_has_come_starts_nobody(site: Site) -> None:
    site.project("desk")
    chats.talker(site, "mia", "desk")
    chats.talker(site, "bystander", "desk")
    chat = Chat(site, "desk", "mia")
    chat.open()
    assert chat.state() == "disconnected"  # no Coordinator is there that could start it
    assert chat.close() == 1
    assert chat.state() == "disconnected"

    site.coordinator()
    other = Chat(site, "desk", "bystander")
    other.say("Hello")
    other.answers(1)
    assert site.launches(agent_id="mia") == []


@pytest.mark.pitfall("F107")
def test_whoever_writes_to_an_agent_that_cannot_sign_in_is_told_once_and_nobody_else(build: Build) -> None:
    site = build(TORYO_CHAT__START_TIMEOUT="6")
    site.project("desk")
    chats.person(site, "una", "desk")
    site.hire("mute", "desk", provider="mute")
    chats.talker(site, "mia", "desk")
    site.coordinator(ai_providers={"mute": {"cli_command": "true"}})
    answered, first, second = Chat(site, "desk", "mia"), Chat(site, "desk", "mute"), Chat(site, "desk", "mute", "una")
    answered.open()
    answered.until("connected")
    answered.say("Are you there?")
    assert answered.answers(1) == ["Are you there?, you say?"]
    first.say("Are you there?")
    assert first.told() == []

    site.until("somebody is told", lambda: site.history.of("message.nobody_came"))
    second.say("Hello?")
    site.until("the other one is told, rounds later", lambda: site.history.of("message.nobody_came", **{"from": "una"}))
    for chat, said in ((first, "Are you there?"), (second, "Hello?")):
        (told,) = chat.told()
        assert "mute has not read your message yet" in told
        assert [each["content"] for each in chat.thread()] == [said, told]
    assert answered.told() == []
    assert len(site.history.of("message.nobody_came")) == 2


def test_a_status_change_reaches_an_agent_that_waits_for_an_answer(build: Build) -> None:
    site = build(TORYO_GUARDS__STOP_GRACE="60")
    site.project("shop")
    ask = {"delegations": [{"about": "paint", "say": "Shall I paint it?", "await_answer": True}]}
    chats.talker(site, "ann", "shop", script=ask)
    context = {"delegate": {"target_agent_id": "owner", "purpose": "paint"}}
    task = site.file("shop", "Ask", assignee_id="ann", status="in_progress", context=context)
    site.coordinator()
    chat = Chat(site, "shop", "ann")
    assert chat.answers(1) == ["Shall I paint it?"]
    worker = chats.process_of(site, "ann", "task")
    site.until_printed(task, "delegated: paint")

    site.move(task, "blocked", "not this colour")
    assert worker.gone(GONE_WITHIN)
    site.until_logged(worker.launch_id, "not this colour")
    site.until("its end is reported", lambda: site.launches(task_id=task)[0]["exit_code"] == 0)
    assert site.launches(task_id=task)[0]["exit_signal"] is None
    assert site.status(task) == "blocked"
    site.history.read()
    assert [each["data"]["kinds"] for each in site.history.of("notification.delivered")] == [["interrupt"]]

    chat.say("Yes, in blue.")
    site.until("the answer is reported", lambda: site.history.of("delegation.completed", task_id=task))
    assert len(site.launches(task_id=task)) == 1
    site.move(task, "in_progress")
    site.until_status(task, "completed")
    assert site.look(task)["summary"] == "owner: Yes, in blue."
    assert chat.answers(1) == ["Shall I paint it?"]


def test_what_a_person_asks_for_waits_for_whoever_stands_above_the_agent(site: Site) -> None:
    site.project("house")
    chats.person(site, "boss", "house")
    chats.person(site, "guest", "house")
    chats.talker(site, "mia", "house", script=CLERK, reports_to="boss")
    toryo = Toryo(site.directory, site.environment)
    site.coordinator()
    guest, boss = Chat(site, "house", "mia", "guest"), Chat(site, "house", "mia", "boss")
    assert site.tasks("house") == {}

    guest.say("@@\nplease sweep")
    guest.say("please dance")
    guest.answers(2)
    wanted = site.tasks("house")
    swept, danced = wanted["sweep"], wanted["dance"]
    for each in (swept, danced):
        assert (each["approval"], each["status"], each["assignee_id"]) == ("pending_approval", "backlog", "mia")
        assert (each["created_by"], each["requested_by"], each["approved_by"]) == ("mia", "guest", None)
    assert len(boss.told()) == 2
    with pytest.raises(RefusalError, match="approv"):
        site.move(swept["task_id"], "in_progress")

    assert toryo("task", "approve", swept["task_id"], "--yes").code == 0
    assert toryo("task", "reject", danced["task_id"], "--reason", "no music").code == 0
    approvals = {title: task["approval"] for title, task in site.tasks("house").items()}
    assert approvals == {"sweep": "approved", "dance": "rejected"}
    (rejected,) = site.until("the rejection is told", lambda: site.history.of("task.rejected"))
    assert (rejected["task_id"], rejected["data"]["reason"]) == (danced["task_id"], "no music")
    with pytest.raises(RefusalError, match="reject"):
        site.move(danced["task_id"], "in_progress")

    site.until_status(swept["task_id"], "completed")
    assert site.look(swept["task_id"])["summary"] == "swept"
    assert site.launches(task_id=danced["task_id"]) == []


def test_what_a_superior_asks_for_with_the_marker_is_approved_at_once(site: Site) -> None:
    site.project("house")
    chats.person(site, "boss", "house")
    chats.talker(site, "mia", "house", script=CLERK, reports_to="boss")
    site.coordinator()
    boss = Chat(site, "house", "mia", "boss")

    boss.say("/approve\nplease sweep")
    boss.say("please dance")
    boss.answers(2)
    tasks = site.tasks("house")
    assert {title: task["approval"] for title, task in tasks.items()} == {
        "sweep": "approved",
        "dance": "pending_approval",
    }
    assert (tasks["sweep"]["created_by"], tasks["sweep"]["approved_by"]) == ("mia", "boss")
    consented, asked = boss.told()
    assert "sweep" in consented and "your message approved it" in consented
    assert "dance" in asked
    site.until_status(tasks["sweep"]["task_id"], "completed")


def test_an_agent_talks_while_it_works_and_afterwards(site: Site) -> None:
    site.project("house")
    gate = site.gate()
    script = {**CLERK, "otherwise": "I hear you.", "tasks": [{"run": f"echo at work; {gate}; echo swept"}]}
    chats.talker(site, "mia", "house", script=script)
    site.coordinator()
    chat = Chat(site, "house", "mia")
    chat.open()
    chat.say("/approve\nplease sweep")
    chat.answers(1)
    task = site.tasks("house")["sweep"]
    assert (task["approval"], task["status"]) == ("approved", "in_progress")

    working = site.until_printed(task["task_id"], "at work")
    chat.say("How is it going?")
    assert chat.answers(2)[-1] == "I hear you."
    talking = chats.process_of(site, "mia", "chat")
    assert {session["launch_id"]: session["purpose"] for session in site.sessions()} == {
        working: "task",
        talking.launch_id: "chat",
    }
    assert {agent.launch_id for agent in site.agents()} == {working, talking.launch_id}
    gate.open()
    site.until_status(task["task_id"], "completed")
    chat.say("Are you still there?")
    assert len(chat.answers(3)) == 3
    chat.until("connected")
    assert [session["launch_id"] for session in site.sessions()] == [talking.launch_id]
    assert chats.launches_by_purpose(site) == {("mia", "chat"): 1, ("mia", "task"): 1}


@pytest.mark.pitfall("F36")
def test_whoever_waits_is_blocked_or_rests_answers_and_works_no_more_for_that(site: Site) -> None:
    site.project("house", commands_from="managers")
    site.project("yard")
    gate = site.gate()
    part = {"id": "part", "title": "Part", "assignee": "worker", "context": {"command": f"echo at work; {gate}"}}
    site.lead("lead", "house", plans=[{"match": "Build", "subtasks": [part]}])
    site.hire("worker", "house", reports_to="lead")
    chats.talker(site, "stuck", "house")
    chats.talker(site, "rester", "yard")
    site.coordinator()
    build = site.file("house", "Build", assignee_id="lead", status="in_progress")
    blocked = site.file("house", "Stuck", assignee_id="stuck", status="in_progress")
    site.until_status(blocked, "blocked")
    rests = site.file("yard", "Rest", assignee_id="rester", status="in_progress", context={"command": f"{gate}"})
    chats.process_of(site, "rester", "task")
    site.people.rest("POST", "/projects/yard/pause")
    site.until("the manager waits", lambda: site.history.of("task.waiting", task_id=build))
    site.until("only the worker is at work", lambda: [session["agent_id"] for session in site.sessions()] == ["worker"])
    before = Counter({who: times for who, times in chats.launches_by_purpose(site).items() if who[1] == "task"})

    for agent_id, project_id in (("lead", "house"), ("stuck", "house"), ("rester", "yard")):
        chat = Chat(site, project_id, agent_id)
        chat.say("How are you?")
        assert len(chat.answers(1)) == 1
    after = chats.launches_by_purpose(site)
    assert after - before == {("lead", "chat"): 1, ("stuck", "chat"): 1, ("rester", "chat"): 1}
    assert (site.status(build), site.status(blocked), site.status(rests)) == ("in_progress", "blocked", "in_progress")
