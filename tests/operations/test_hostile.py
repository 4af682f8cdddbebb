"""Disobedience is harmless: agents that call anything, in any order, over many sessions and kills, break no rule.

Afterwards the people clear up what only people may, an obedient crew takes over, and it comes to an end. Each run is
seeded; a failing one is repeated by its seed.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import orjson
import pytest

from tests.invariants import hold
from tests.obedience import crew_works
from tests.operations.samples import PATIENT
from tests.stories import Answer, Caller, Process, World, seeds
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.settings import Settings
from toryo.storage.engine.database import Database
from toryo.storage.schema import conversations

pytestmark = pytest.mark.deep

STATUSES = ["todo", "in_progress", "completed", "failed", "blocked", "cancelled", "backlog", "pending", "done"]
AGENTS = ["boss", "lead", "w1", "w2", "w3"]
TITLES = [f"Part {number}" for number in range(12)]
_SEEN = re.compile(rb'"(conversation_id|delegation_id|message_id|viewer_id)":"([^"]+)"')


class Chaos:
    """A world in which everybody does anything: `step` is one more act of somebody."""

    def __init__(self, world: World, seed: int, *, people: bool = True) -> None:
        self.world = world
        self.dice = random.Random(seed)
        self.people = people
        world.crew(workers=0, commands_from="managers")
        world.worker("w1", "boss", max_parallel_tasks=2)
        world.manager("lead", "boss")
        world.worker("w2", "lead")
        world.worker("w3", "lead")
        self.mains = [world.task("boss", title="Main"), world.task("w1", title="Side", acceptance=[{"file": "x"}])]
        world.person("lena")
        other = world.project(name="Elsewhere")
        self.elsewhere = world.owner.call("file_task", project_id=other, title="Not yours")["task_id"]
        self.coordinator = world.coordinator()
        self.processes: list[Process] = []
        self.seen: dict[str, deque[str]] = defaultdict(lambda: deque(["none"], maxlen=12))
        """Ids that anybody was answered with lately, by kind."""
        self.alone = True

    def run(self, steps: int) -> None:
        for number in range(steps):
            self.step()
            if number % 250 == 249:
                hold(self.world)
        hold(self.world)

    def step(self) -> None:
        roll = self.dice.random()
        if roll < 0.08 or not self.processes:
            self.claim()
        elif roll < 0.13:
            self.time_passes()
        elif roll < 0.17 and self.people:
            self.somebody_acts()
        elif roll < 0.20:
            self.kill()
        else:
            self.call(self.dice.choice(self.processes[-6:]))

    # --- what happens ------------------------------------------------------------------------------------------------

    def claim(self) -> None:
        self.coordinator.running = [each.launch_id for each in self.processes[-6:]]
        slots: Answer = {"free_slots": self.dice.randint(0, 5), "free_chat_slots": self.dice.randint(0, 4)}
        answer = self.coordinator.claim(**slots)
        started = [self.world.process(each) for each in answer["start"]]
        for each in started:
            if self.alone and self.dice.random() < 0.5:
                self.agrees(each)
        self.processes += started
        for check in answer["checks"]:
            failures = self.dice.choice([[], [{"check": "x", "message": "no"}]])
            self.coordinator.call("report_check_result", check_id=check["check_id"], failures=failures)
        if self.dice.random() < 0.3:
            launch = self.coordinator.action(self.dice.choice(AGENTS)).get("launch")
            self.processes += [self.world.process(launch)] if launch else []

    def agrees(self, process: Process) -> None:
        """Who is started and signs in at once comes in for that purpose, and has something to do."""
        said = process.sign_in()
        assert said["purpose"] == process.launch["purpose"]
        process.call("report_model", provider="claude", model_id="m")
        assert process.next()["action"] not in ("exit", "wait"), process.next()

    def time_passes(self) -> None:
        self.world.advance(self.dice.choice([1, 5, 30, 91, 130, 4000]))
        if self.dice.random() < 0.5:
            self.world.housekeep()

    def kill(self) -> None:
        ends: list[Answer] = [
            {"exit_code": 0},
            {"exit_code": 1},
            {"signal": 9, "error": "killed"},
            {"error": "quota", "quota_reset_seconds": 20},
            {"error": "stopped"},
        ]
        launch_id = self.dice.choice(self.processes).launch_id
        self.coordinator.call("report_process_exit", launch_id=launch_id, **self.dice.choice(ends))

    def somebody_acts(self) -> None:
        task, owner, dice = self.task_id(), self.world.owner, self.dice
        project = {"project_id": self.world.project_id}
        agent = dice.choice(AGENTS)
        act: Callable[[], Any] = dice.choice(
            [
                lambda: owner.ask("move_task", task_id=task, status=dice.choice(STATUSES), reason="so"),
                lambda: owner.ask("move_task", task_id=task, status="in_progress"),
                lambda: owner.ask("edit_task", task_id=task, assignee_id=dice.choice([*AGENTS, None])),
                lambda: owner.ask("edit_task", task_id=task, priority="high", add_dependencies=[self.task_id()]),
                lambda: owner.ask("edit_task", task_id=task, acceptance=dice.choice([[], [{"file": "y"}]])),
                lambda: owner.ask("file_task", title="By hand", parent_task_id=task, assignee_id=agent, **project),
                lambda: owner.ask("pause_project", **project),
                lambda: owner.ask("resume_project", **project),
                lambda: owner.ask("deactivate_agent", agent_id=agent),
                lambda: owner.ask("activate_agent", agent_id=agent),
                lambda: owner.ask("remove_member", agent_id=agent, **project),
                lambda: owner.ask("add_member", agent_id=agent, **project),
                lambda: owner.ask(dice.choice(["approve_task", "reject_task"]), task_id=task),
                lambda: owner.ask("confirm_checks", task_id=task, passed=dice.random() < 0.5),
                self._end_somebody,
                self.put_right,
                *[self._somebody_talks] * 6,
            ]
        )
        act()

    def _somebody_talks(self) -> None:
        dice, owner = self.dice, self.world.owner
        here = {"project_id": self.world.project_id, "agent_id": dice.choice([*AGENTS, "lena"])}
        content = dice.choice(["Hello.", "/approve\nBuild it", "Thanks."])
        acts: list[tuple[str, Answer]] = [
            ("send_chat_message", {**here, "content": content}),
            ("send_chat_message", {**here, "content": content, "as_person": "lena"}),
            ("open_chat", here),
            ("open_chat", {**here, "viewer_id": self.known("viewer_id"), "seen": dice.randint(0, 50)}),
            ("close_chat", here),
            ("read_chat", {**here, "limit": 5}),
            ("stop_conversation", {"conversation_id": self.known("conversation_id")}),
            ("steer_task", {"task_id": self.task_id(), "text": content}),
        ]
        name, arguments = dice.choice(acts)
        self.note(owner.ask(name, **arguments))

    def note(self, outcome: Outcome) -> None:
        """Remembers the ids of an answer."""
        for kind, found in _SEEN.findall(orjson.dumps(outcome.result)):
            self.seen[kind.decode()].append(found.decode())

    def known(self, kind: str) -> str:
        """An id of that kind that somebody has seen (or none has)."""
        return self.dice.choice(self.seen[kind])

    def _end_somebody(self) -> None:
        sessions = self.world.sessions()
        if sessions:
            self.world.owner.ask("end_session", session_id=self.dice.choice(sessions)["session_id"])

    def put_right(self) -> None:
        """What people do once they see it: everybody is employed, the project goes on."""
        owner, project = self.world.owner, {"project_id": self.world.project_id}
        owner.ask("resume_project", **project)
        for agent in AGENTS:
            owner.ask("activate_agent", agent_id=agent)
            owner.ask("add_member", agent_id=agent, **project)

    # --- what agents call -------------------------------------------------------------------------------------------

    def call(self, process: Process) -> None:
        talks = process.launch["purpose"] == "chat" and self.dice.random() < 0.8
        name, make = self.dice.choice(TALKS if talks else CALLS)
        caller: Caller = process
        if self.dice.random() < 0.03:  # with a token of somebody else, on its own connection or on none
            stolen = self.dice.choice(self.processes).signed_in.get("session_token")
            caller = Caller(self.world, self.dice.choice([process.bearer, None]), stolen)
        arguments = make(self)
        outcome = self.world.perform(name, arguments, caller.credentials, may_wait=self.dice.random() < 0.2)
        self.note(outcome)
        if name == "authenticate" and outcome.result is not None and not outcome.refused and caller is process:
            process.signed_in = outcome.result

    def task_id(self) -> str:
        if self.dice.random() < 0.05:
            other: str = self.dice.choice([self.elsewhere, "tsk_nowhere", "", "x" * 65])
            return other
        tasks = self.world.owner.call("list_project_tasks", project_id=self.world.project_id)["tasks"]
        chosen: str = self.dice.choice(tasks)["task_id"]
        return chosen

    def passkey(self) -> Answer:
        agent = self.dice.choice(AGENTS)
        return {"agent_id": agent, "passkey": self.dice.choice([self.world.passkeys[agent], "pk_wrong"])}

    def draft(self) -> Answer:
        dice = self.dice
        made: Answer = {"title": dice.choice(TITLES), "description": "x"}
        if dice.random() < 0.4:
            made["assignee_id"] = dice.choice([*AGENTS, "nobody"])
        if dice.random() < 0.2:
            made["dependencies"] = [self.task_id()]
        if dice.random() < 0.1:
            made["acceptance"] = [dice.choice([{"file": "x"}, {"command": "make"}])]
        return made

    def partner(self) -> str:
        chosen: str = self.dice.choice([*AGENTS, *AGENTS, "owner", "lena", "nobody"])
        return chosen

    def conversation(self) -> Answer:
        asked: Answer = {
            "target_agent_id": self.partner(),
            "initial_message": "x",
            "max_turns": self.dice.choice([2, 4, 40]),
        }
        return {**asked, "delegation_id": self.known("delegation_id")} if self.dice.random() < 0.5 else asked

    def delegation(self) -> Answer:
        awaited = self.dice.random() < 0.5
        return {"target_agent_id": self.partner(), "purpose": "x", "await_result": awaited}

    def batch(self) -> Answer:
        drafts = [{"local_id": str(number), **self.draft()} for number in range(self.dice.randint(1, 7))]
        if len(drafts) > 1 and self.dice.random() < 0.3:
            drafts[0]["dependencies"] = [drafts[-1]["local_id"]]
        asked: Answer = {"tasks": drafts}
        if self.dice.random() < 0.7:
            asked["intent"] = self.dice.choice(["new", "refine", "replace"])
        if self.dice.random() < 0.2:
            asked["idempotency_key"] = self.dice.choice(["a", "b"])
        if self.dice.random() < 0.3:
            asked["parent_task_id"] = self.task_id()
        return asked


class Gossip(Chaos):
    """The same, but they mostly talk: panels stay open, who is started signs in, and little time passes."""

    def step(self) -> None:
        roll = self.dice.random()
        if roll < 0.10 or not self.processes:
            self.claim()
        elif roll < 0.14:
            self.time_passes()
        elif roll < 0.20:
            self._somebody_talks()
        elif roll < 0.21:
            self.kill()
        else:
            self.call(self.dice.choice(self.talking() or self.processes[-6:]))

    def claim(self) -> None:
        self.coordinator.running = [each.launch_id for each in self.processes]
        answer = self.coordinator.claim(free_slots=2, free_chat_slots=5)
        over = {each["launch_id"] for each in answer["stop"]}
        self.processes = [each for each in self.processes if each.launch_id not in over]
        for each in answer["start"]:
            self.processes.append(self.world.process(each))
            self.processes[-1].ask("authenticate")

    def talking(self) -> list[Process]:
        """Those of chats, more often than not."""
        chats = [process for process in self.processes if process.launch["purpose"] == "chat"]
        return chats if self.dice.random() < 0.8 else []

    def time_passes(self) -> None:
        self.world.advance(self.dice.choice([1, 5, 20, 40, 80, 310]))
        for agent in AGENTS if self.dice.random() < 0.7 else ():
            self.note(self.world.owner.ask("open_chat", project_id=self.world.project_id, agent_id=agent))
        self.world.housekeep()


Make = Callable[[Chaos], Answer]
OFTEN: list[tuple[str, Make]] = [
    ("authenticate", lambda c: {}),
    ("report_model", lambda c: {"provider": "claude", "model_id": "m"}),
    ("get_my_task", lambda c: {}),
    ("get_next_action", lambda c: {}),
    ("create_task", lambda c: {**c.draft(), "intent": c.dice.choice(["new", "replace"])}),
    ("create_tasks_batch", lambda c: c.batch()),
    ("update_task_status", lambda c: {"task_id": c.task_id(), "status": c.dice.choice(STATUSES), "reason": "so"}),
    ("update_task_status", lambda c: {"task_id": c.task_id(), "status": "in_progress"}),
    ("select_action", lambda c: {"action": c.dice.choice(["start", "adjust", "wait"])}),
    ("assign_task", lambda c: {"task_id": c.task_id(), "assignee_id": c.dice.choice([*AGENTS, None])}),
]
SELDOM: list[tuple[str, Make]] = [
    ("create_task", lambda c: {**c.draft(), "parent_task_id": c.task_id()}),
    ("report_completed", lambda c: {"result": c.dice.choice(["success", "failed", "blocked"]), "summary": "x"}),
    ("report_execution_complete", lambda c: {"result": "success"}),
    ("logout", lambda c: {}),
    ("authenticate", lambda c: c.passkey()),
    ("cancel_task", lambda c: {"task_id": c.task_id(), "reason": "so"}),
    ("block_task", lambda c: {"task_id": c.task_id(), "reason": "so"}),
    ("update_task", lambda c: {"task_id": c.task_id(), "title": c.dice.choice(TITLES)}),
    ("update_task_dependencies", lambda c: {"task_id": c.task_id(), "add_dependencies": [c.task_id(), c.task_id()]}),
    ("update_task_dependencies", lambda c: {"task_id": c.task_id(), "remove_dependencies": [c.task_id()]}),
    ("request_task", lambda c: {"title": c.dice.choice(TITLES), "assignee_id": c.dice.choice(AGENTS)}),
    *[("delegate_to_chat_session", lambda c: c.delegation())] * 3,
    ("get_task_conversations", lambda c: {}),
    ("save_progress", lambda c: {"progress": "x"}),
    ("create_handoff", lambda c: {"task_id": c.task_id(), "summary": "x"}),
    ("accept_handoff", lambda c: {"handoff_id": "hnd_none"}),
    ("get_notifications", lambda c: {}),
    ("list_tasks", lambda c: {}),
    ("get_task", lambda c: {"task_id": c.task_id()}),
    ("get_recent_completions", lambda c: {}),
    ("list_subordinates", lambda c: {}),
    ("help", lambda c: {}),
    ("get_agent_action", lambda c: {"agent_id": "w1"}),
    ("move_task", lambda c: {"task_id": c.task_id(), "status": "completed"}),
    ("edit_project", lambda c: {"project_id": c.world.project_id, "settings": {"worker_subtasks": 99}}),
]
TALKS: list[tuple[str, Make]] = [
    ("authenticate", lambda c: {}),
    ("report_model", lambda c: {"provider": "claude", "model_id": "m"}),
    ("get_next_action", lambda c: {}),
    *[("get_pending_messages", lambda c: {})] * 3,
    ("respond_chat", lambda c: {"message_id": c.known("message_id"), "content": "x"}),
    ("respond_chat", lambda c: {"target_agent_id": c.partner(), "content": "x"}),
    ("send_message", lambda c: {"target_agent_id": c.partner(), "content": "x", "related_task_id": c.task_id()}),
    ("send_message", lambda c: {"target_agent_id": c.partner(), "content": "x"}),
    *[("start_conversation", lambda c: c.conversation())] * 2,
    *[("send_conversation_message", lambda c: {"conversation_id": c.known("conversation_id"), "content": "x"})] * 3,
    *[("respond_conversation_message", lambda c: {"conversation_id": c.known("conversation_id"), "content": "x"})] * 2,
    ("end_conversation", lambda c: {"conversation_id": c.known("conversation_id")}),
    ("end_conversation", lambda c: {"conversation_id": c.known("conversation_id"), "final_message": "x"}),
    *[("report_delegation_completed", lambda c: {"delegation_id": c.known("delegation_id"), "result": "x"})] * 2,
    (
        "report_delegation_completed",
        lambda c: {"delegation_id": c.known("delegation_id"), "result": 1, "success": False},
    ),
    ("notify_task_session", lambda c: {"message": "x"}),
    ("notify_task_session", lambda c: {"message": "x", "task_id": c.task_id()}),
    (
        "request_task",
        lambda c: {"title": "By chat", "assignee_id": c.dice.choice(AGENTS), "message_id": c.known("message_id")},
    ),
    ("logout", lambda c: {}),
]
CALLS = [*OFTEN * 3, *SELDOM, *TALKS[3::3]]


def chaos_then_order(world: World, seed: int, steps: int, *, people: bool = True) -> None:
    chaos = Chaos(world, seed, people=people)
    chaos.run(steps)
    comes_to_an_end(chaos)


def comes_to_an_end(chaos: Chaos) -> None:
    """People clear up, an obedient crew takes over, and the main tasks are done."""
    world = chaos.world
    clear_up(chaos)
    crew_works(world)
    hold(world)
    unfinished = {main: world.status(main) for main in chaos.mains if world.status(main) not in ENDED}
    assert not unfinished, {each: (status, world.why("boss"), world.why("w1")) for each, status in unfinished.items()}


ENDED = ("completed", "blocked", "cancelled")
"""Where an obedient crew may leave a main task: done, or reported blocked with a reason; or people had cancelled it."""


def clear_up(chaos: Chaos) -> None:
    """People see the mess: everybody is employed, nothing runs, and what is open at the root goes on."""
    world = chaos.world
    chaos.put_right()
    for session in world.sessions():
        world.owner.call("end_session", session_id=session["session_id"])
    world.advance(5000)
    world.housekeep()
    for agent in AGENTS:
        world.owner.call("activate_agent", agent_id=agent)
        world.owner.call("edit_agent", agent_id=agent, max_parallel_tasks=50)
    for main in chaos.mains:
        world.owner.ask("edit_task", task_id=main, acceptance=[])
        world.owner.ask("approve_task", task_id=main)
        world.owner.ask("edit_task", task_id=main, remove_dependencies=world.show(main)["dependencies"])
        for status in ("todo", "in_progress"):
            world.owner.ask("move_task", task_id=main, status=status, reason="go on")
        holder = world.show(main)["assignee_id"]
        if holder is None:
            world.owner.ask("edit_task", task_id=main, assignee_id="boss")
            world.owner.ask("move_task", task_id=main, status="in_progress")


@pytest.mark.parametrize("seed", seeds(0))
def test_after_a_thousand_random_calls_no_rule_is_broken_and_an_obedient_crew_takes_over(fresh: Database, seed: int):
    world = World(fresh, Settings(), seed=seed)
    chaos_then_order(world, seed, 1000 if world.dialect == "sqlite" else 250)


@pytest.mark.parametrize("seed", seeds(10))
def test_where_no_guard_stops_them_they_break_no_rule_either(fresh: Database, seed: int):
    world = World(fresh, PATIENT, seed=seed)
    chaos_then_order(world, seed, 1000 if world.dialect == "sqlite" else 250)


@pytest.mark.parametrize("seed", seeds(20))
def test_without_any_person_they_cannot_make_more_than_the_caps_allow(fresh: Database, seed: int):
    world = World(fresh, PATIENT, seed=seed)
    chaos = Chaos(world, seed, people=False)
    chaos.run(1000 if world.dialect == "sqlite" else 250)
    tasks = world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]
    assert all(task["status"] != "in_progress" or task["assignee_id"] for task in tasks)


@pytest.mark.parametrize("seed", seeds(40))
def test_agents_that_talk_of_anything_in_any_order_break_no_rule_and_the_work_is_done(fresh: Database, seed: int):
    world = World(fresh, PATIENT, seed=seed)
    gossip = Gossip(world, seed)
    gossip.run(1000 if world.dialect == "sqlite" else 300)
    assert world.rows(conversations)["conversations"]
    comes_to_an_end(gossip)


@pytest.mark.parametrize("kind", [Chaos, Gossip])
@pytest.mark.parametrize("seed", seeds(30, usual=1))
def test_many_at_once_break_no_rule_either(fresh: Database, seed: int, kind: type[Chaos]):
    """Eight at a time, on sessions that they share, while a Coordinator claims and people act."""
    world = World(fresh, PATIENT, seed=seed)
    chaos = kind(world, seed)
    chaos.run(120)

    def goes_on(number: int) -> None:
        mine = copy(chaos)
        mine.alone = False
        mine.dice = random.Random(seed * 100 + number)
        for _ in range(60 if world.dialect == "sqlite" else 30):
            mine.step()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(goes_on, range(8)))
    hold(world)


def test_strangers_who_call_everything_change_nothing(world: World):
    world.crew(workers=1)
    task = world.task("w1")
    before = world.rows()
    dice = random.Random(1)
    for _ in range(300):
        name, _make = dice.choice(CALLS)
        if name in ("authenticate", "help", "logout"):
            continue
        bearer = dice.choice([None, "tlc_none", "tst_none", "tct_none", "nonsense", ""])
        outcome = world.perform(
            name, {"task_id": task}, Credentials(bearer=bearer, session_token=dice.choice([None, "x"]))
        )
        assert outcome.refused
    assert world.rows() == before
