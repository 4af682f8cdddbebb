"""A chat process is killed, or talks as it should not: what was said is delivered, what was delegated is finished by
the next one or told as failed, the task goes on, and nobody is started again and again.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from tests.scenarios import chats
from tests.scenarios.chats import Chat
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

ASKS = {"delegations": [{"about": "paint", "say": "Shall I paint it?", "await_answer": True}]}
"""Asks a person, and has the answer as result."""


@pytest.mark.pitfall("F8")
@pytest.mark.parametrize(("killed", "survives"), [("chat", "task"), ("task", "chat")])
def test_killing_one_process_of_an_agent_leaves_its_other_one_as_it_was(site: Site, killed: str, survives: str) -> None:
    site.project("house")
    gate = site.gate()
    chats.talker(site, "mia", "house", script={"otherwise": "I hear you.", "tasks": [{"run": f"echo at work; {gate}"}]})
    task = site.file("house", "Sweep", assignee_id="mia", status="in_progress")
    chat = Chat(site, "house", "mia")
    chat.open()
    site.coordinator()
    chat.say("Hello")
    chat.answers(1)
    site.until_printed(task, "at work")
    victim, other = (chats.process_of(site, "mia", purpose) for purpose in (killed, survives))

    victim.kill()
    site.until("its end is reported", lambda: site.history.of("launch.process_ended", launch_id=victim.launch_id))
    chat.say("Are you there?")
    assert chat.answers(2) == ["I hear you."] * 2
    assert not other.gone(0)
    if killed == "task":
        site.until_printed(task, "at work", start=2)
    gate.open()
    site.until_status(task, "completed")
    assert chats.launches_by_purpose(site) == {("mia", killed): 2, ("mia", survives): 1}
    assert [launch["exit_error"] for launch in site.launches() if launch["launch_id"] == victim.launch_id] == ["killed"]


@pytest.mark.pitfall("F103")
def test_of_25_messages_each_is_answered_once_and_in_order_across_kills(site_on_each: Site) -> None:
    """The agent's first process dies when it gets its 13th message, with up to 20 of them unanswered in its hands."""
    site = site_on_each
    site.project("desk")
    people = [chats.person(site, name, "desk") for name in ("una", "dua")]
    script = {"otherwise": "{{from_id}} {{text}}", "behave": {"crash_after": 13}}
    chats.talker(site, "mia", "desk", script=script)
    threads = [Chat(site, "desk", "mia", each) for each in people]
    site.coordinator()
    counts = dict(zip(people, (13, 12), strict=True))
    writers = [threading.Thread(target=_write, args=(site, each, counts[each])) for each in people]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    for chat, (name, count) in zip(threads, counts.items(), strict=True):
        assert chat.answers(count) == [f"{name} {number}" for number in range(count)]
    site.until_idle()
    for chat, (name, count) in zip(threads, counts.items(), strict=True):
        assert chat.answers(count) == [f"{name} {number}" for number in range(count)], "and none of them again"

    launches = site.launches(agent_id="mia")
    killed = [launch["launch_id"] for launch in launches if launch["exit_error"] == "killed"]
    assert len(killed) == 1
    assert len(launches) >= 2
    handed_out = _handed_out(site)
    told = [each["sequence"] for chat in threads for each in chat.thread() if each["to_agent_id"] == "mia"]
    last_of_killed = handed_out[killed[0]][-1]
    times = Counter(sequence for spans in handed_out.values() for span in spans for sequence in span)
    assert {each: times[each] for each in told} == {each: 2 if each in last_of_killed else 1 for each in told}


@pytest.mark.pitfall("F102")
def test_what_a_killed_chat_process_had_in_hand_is_finished_by_the_next_one(site: Site) -> None:
    site.project("house")
    chats.talker(site, "ann", "house", script=ASKS)
    context = {"delegate": {"target_agent_id": "owner", "purpose": "paint"}}
    task = site.file("house", "Ask", assignee_id="ann", status="in_progress", context=context)
    site.coordinator()
    chat = Chat(site, "house", "ann")
    assert chat.answers(1) == ["Shall I paint it?"]
    first = chats.process_of(site, "ann")

    first.kill()
    chats.process_of(site, "ann", after=first)
    site.until("it is in hand again", lambda: len(site.history.of("delegation.processing", task_id=task)) == 2)
    chat.say("Yes, in blue.")
    site.until_status(task, "completed")
    site.until_idle()
    assert site.look(task)["summary"] == "owner: Yes, in blue."
    assert chat.answers(1) == ["Shall I paint it?"], "it is asked once"
    assert [each["data"]["attempt"] for each in site.history.of("delegation.processing")] == [1, 2]
    assert chats.launches_by_purpose(site) == {("ann", "task"): 1, ("ann", "chat"): 2}


@pytest.mark.pitfall("F102")
def test_after_three_lost_chat_processes_a_task_is_told_and_goes_on_without(site: Site) -> None:
    site.project("house")
    chats.talker(site, "ann", "house", script=ASKS)
    delegate = {"target_agent_id": "owner", "purpose": "paint"}
    command = 'echo "painted without: $TORYO_DELEGATION_RESULT"'
    task = site.file("house", "Ask", assignee_id="ann", status="in_progress",
                     context={"delegate": delegate, "command": command})  # fmt: skip
    site.coordinator()
    victim = None
    for attempt in (1, 2, 3):
        victim = chats.process_of(site, "ann", after=victim)
        site.until("it has it in hand", lambda: len(site.history.of("delegation.processing")) == attempt)  # noqa: B023
        victim.kill()

    site.until_status(task, "completed")
    site.until_idle()
    assert site.look(task)["summary"] == "painted without: no chat session finished it in 3 attempts"
    assert len(site.history.of("delegation.failed", task_id=task)) == 1
    assert chats.launches_by_purpose(site) == {("ann", "task"): 1, ("ann", "chat"): 3}


# --- bad behaviour ---------------------------------------------------------------------------------------------------


def test_however_badly_one_of_two_talks_their_conversation_ends_at_its_limit(site: Site) -> None:
    behaviours = {"rude": "rude", "deaf": "ignores_turns", "endless": "endless", "flood": "floods",
                  "crash": {"crash_after": 2}}  # fmt: skip
    for project_id, behave in behaviours.items():
        _pair(site, project_id, behave)
    site.coordinator()
    tasks = {behaviour: _ask(site, behaviour) for behaviour in behaviours}
    for project_id, task in tasks.items():
        site.until_status(task, "completed")
        conversation = chats.until_conversation(site, project_id)
        assert (conversation["turns"], conversation["reason"]) == (6, "max_turns"), project_id
        said = chats.said_in(site, conversation)
        assert [each["from_agent_id"] for each in said] == [f"{project_id}-ann", f"{project_id}-bob"] * 3
        assert site.look(task)["summary"] == "heard: Yes?"
    person = Chat(site, "flood", "flood-bob")
    before = _chat_launches(site, "flood-bob")
    person.say("Hello?")
    assert len(person.answers(30)) == 30
    site.until_idle()

    assert len(person.answers(30)) == 30, "no more within a minute"
    assert _chat_launches(site, "flood-bob") == before + 1
    assert before <= 3, "each process that is stopped has taken a turn"
    assert {
        behaviour: _chat_launches(site, f"{behaviour}-bob") for behaviour in behaviours if behaviour != "flood"
    } == {
        "rude": 1,
        "deaf": 1,
        "endless": 1,
        "crash": 2,
    }
    assert {_chat_launches(site, f"{behaviour}-ann") for behaviour in behaviours} == {1}
    _nobody_is_started_any_more(site)


def test_whoever_never_answers_or_always_dies_holds_no_task_up(build: Build) -> None:
    site = build(TORYO_CHAT__SILENCE="8")
    _pair(site, "silent", "silent")
    _pair(site, "crash", {"crash_after": 1}, rounds=2)
    site.coordinator()
    tasks = {each: _ask(site, each) for each in ("silent", "crash")}
    for task in tasks.values():
        site.until_status(task, "completed")
    silent, crash = (chats.until_conversation(site, each) for each in tasks)
    site.until_idle()

    assert (silent["turns"], silent["reason"], silent["ended_by"]) == (1, "idle", None)
    assert site.look(tasks["silent"])["summary"].startswith("heard: The conversation with silent-bob has ended: idle")
    assert crash["reason"] in ("max_turns", "idle")
    assert _chat_launches(site, "silent-bob") == 1
    assert 2 <= _chat_launches(site, "crash-bob") <= 3, "one for each message of its partner, and one that answers"
    assert {_chat_launches(site, f"{each}-ann") for each in tasks} == {1}
    _nobody_is_started_any_more(site)


def _pair(site: Site, project_id: str, behave: Any, rounds: int = 3) -> None:
    """A project with an agent that asks as it should, and one that does not answer so."""
    site.project(project_id)
    polite = {"conversations": [{"about": "", "otherwise": "Yes?", "rounds": rounds}]}
    chats.talker(site, f"{project_id}-ann", project_id, script=polite)
    chats.talker(site, f"{project_id}-bob", project_id, script={**polite, "behave": behave})


def _ask(site: Site, project_id: str) -> str:
    context = {
        "delegate": {"target_agent_id": f"{project_id}-bob", "purpose": "Talk"},
        "command": 'echo "heard: $TORYO_DELEGATION_RESULT"',
    }
    return site.file(project_id, "Ask", assignee_id=f"{project_id}-ann", status="in_progress", context=context)


def _chat_launches(site: Site, agent_id: str) -> int:
    return chats.launches_by_purpose(site, agent_id=agent_id)[agent_id, "chat"]


def _nobody_is_started_any_more(site: Site) -> None:
    """Not even after somebody else came and went."""
    before = len(site.launches())
    site.project("elsewhere")
    chats.talker(site, "bystander", "elsewhere")
    chat = Chat(site, "elsewhere", "bystander")
    chat.say("Hello")
    chat.answers(1)
    site.until_idle()
    assert len(site.launches()) == before + 1


def _write(site: Site, person_id: str, count: int) -> None:
    chat = Chat(site, "desk", "mia", person_id)
    for number in range(count):
        chat.say(str(number))


def _handed_out(site: Site) -> dict[str, list[range]]:
    """The spans of messages that each launch was handed out, one after the other."""
    found: dict[str, list[range]] = {}
    for each in site.history.of("message.delivered"):
        data: dict[str, Any] = each["data"]
        found.setdefault(each["launch_id"], []).append(range(data["from"], data["to"] + 1))
    return found
