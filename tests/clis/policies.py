"""Minds for the scripted endpoint: agents that do what Toryo says, and agents that do not.

An obedient mind keeps nothing between two turns: all that it knows it reads from the conversation, as a model does. So
one policy leads any number of processes at once, and one that is killed and started again goes on as it should.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clis.turns import Answer, CallTool, Hang, Part, Policy, Result, Say, Shell, Turn, WriteFile

Said = Mapping[str, Any]
Work = Callable[[Said], Sequence[Sequence[Part]]]
"""From a task (as get_my_task showed it, or a subtask as the instruction named it) to the steps of doing it; the parts
of one step are one answer."""

GOODBYE = "I am done."
TOO_MANY = 80
"""Answers after which an obedient agent gives up: whoever needs more is not led anywhere."""
EXITS = frozenset({"exit", "logout"})
_OVER = frozenset({"completed", "cancelled"})


def writes(path: Path | str, text: str) -> Work:
    """Work that is one file; the path is absolute: not all programs take another."""
    return lambda task: [[WriteFile(str(path), text)]]


def nothing(task: Said) -> Sequence[Sequence[Part]]:
    """Work that is done by saying so."""
    return []


# --- those who obey --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """The last thing Toryo told it to do, and what it has done since."""

    said: Said
    since: Sequence[Result]

    def answer_of(self, tool: str) -> Said | None:
        """What a tool has answered since."""
        return next((result.data for result in reversed(self.since) if result.name == tool and result.data), None)

    def refused(self, tool: str) -> bool:
        return any(result.name == tool and result.refused for result in self.since)


@dataclass(frozen=True)
class ObedientModel:
    """A worker: signs in, asks what is next, and does that. `work` does a task or a subtask."""

    work: Work = nothing
    summary: str = "done"
    subtasks: tuple[str, ...] = ("All of it",)

    def __call__(self, turn: Turn) -> Answer:
        if not turn.fresh:
            return CallTool("authenticate")
        told = _told(turn.results)
        if turn.number > TOO_MANY or _left(turn) or (told and told.said["action"] in EXITS):
            return Say(GOODBYE)
        if told is None:
            return CallTool("get_next_action")
        act: Callable[[Turn, Told], Answer] | None = getattr(self, f"do_{told.said['action']}", None)
        return act(turn, told) if act else CallTool("get_next_action")

    def do_report_model(self, turn: Turn, told: Told) -> Answer:
        """Its provider as the instruction has it; a model has no other way to know."""
        named = re.search(r'provider="([^"]+)"', str(told.said.get("instruction", "")))
        provider = named[1] if named else turn.api
        return CallTool("report_model", {"provider": provider, "model_id": turn.model or "scripted"})

    def do_get_task(self, turn: Turn, told: Told) -> Answer:
        return CallTool("get_my_task")

    def do_get_notifications(self, turn: Turn, told: Told) -> Answer:
        return CallTool("get_notifications")

    def do_execute_task(self, turn: Turn, told: Told) -> Answer:
        return next_step(self.work(task_of(turn)), told.since) or reports("success", self.summary)

    def do_create_subtasks(self, turn: Turn, told: Told) -> Answer:
        return CallTool("create_tasks_batch", {"tasks": self._parts()})

    def do_start_subtask(self, turn: Turn, told: Told) -> Answer:
        return _moves(told.said["subtask"], "in_progress")

    def do_execute_subtask(self, turn: Turn, told: Told) -> Answer:
        subtask = told.said["subtask"]
        return next_step(self.work(subtask), told.since) or _moves(subtask, "completed")

    def do_report_completion(self, turn: Turn, told: Told) -> Answer:
        return reports("success", self.summary)

    def do_review_and_resolve_blocks(self, turn: Turn, told: Told) -> Answer:
        return reports("blocked", "something is stuck")

    def do_resolve_dependency_deadlock(self, turn: Turn, told: Told) -> Answer:
        return reports("blocked", "a deadlock")

    def do_wait(self, turn: Turn, told: Told) -> Answer:
        return CallTool("logout")

    do_wait_for_others = do_wait

    def _parts(self) -> list[dict[str, Any]]:
        return [
            {"local_id": f"s{number}", "title": subtask, "description": subtask}
            for number, subtask in enumerate(self.subtasks)
        ]


@dataclass(frozen=True)
class ObedientManagerModel(ObedientModel):
    """Divides its task among its workers in turn, starts what is ready (all of it in one answer), and waits."""

    subtasks: tuple[str, ...] = ("First half", "Second half")

    def do_create_subtasks(self, turn: Turn, told: Told) -> Answer:
        there = told.answer_of("list_subordinates")
        if there is None:
            return CallTool("list_subordinates")
        workers = [subordinate["agent_id"] for subordinate in there["subordinates"] if subordinate["role"] == "worker"]
        if not workers:
            return reports("blocked", "no_available_workers")
        given = [{**part, "assignee_id": workers[n % len(workers)]} for n, part in enumerate(self._parts())]
        return CallTool("create_tasks_batch", {"tasks": given})

    def do_situational_awareness(self, turn: Turn, told: Told) -> Answer:
        seen = told.answer_of("list_tasks")
        if seen is None:
            return _looks(turn)
        if _ready(seen) and not told.refused("select_action"):
            return CallTool("select_action", {"action": "start"})
        refused = sum(result.name == "select_action" and result.refused for result in told.since)
        return CallTool("select_action", {"action": "wait" if refused == 0 else "adjust"})

    def do_start(self, turn: Turn, told: Told) -> Answer:
        seen = told.answer_of("list_tasks")
        if seen is None:
            return _looks(turn)
        starts: list[Part] = [_moves(each, "in_progress") for each in _ready(seen)]
        return starts if starts and not told.answer_of("update_task_status") else CallTool("get_next_action")

    def do_adjust(self, turn: Turn, told: Told) -> Answer:
        return reports("blocked", "nothing can be started")


def _told(results: Sequence[Result]) -> Told | None:
    """Where nothing rides along (or what does is "ask"), there is nothing it was told."""
    for index in range(len(results) - 1, -1, -1):
        said = _telling(results[index])
        if said is not None:
            return None if said["action"] == "get_next_action" else Told(said, results[index + 1 :])
    return None


def _telling(result: Result) -> Said | None:
    data = result.data or {}
    following = data.get("next")
    if isinstance(following, dict) and "action" in following:
        return following
    return data if result.name in _TELLING and "action" in data else None


_TELLING = frozenset({"authenticate", "get_next_action", "report_completed", "logout"})


def _left(turn: Turn) -> bool:
    return any(result.name == "logout" and not result.refused for result in turn.fresh)


def next_step(steps: Sequence[Sequence[Part]], done: Sequence[Result]) -> list[Part]:
    """The first step whose results are not all there."""
    left = len(done)
    for step in steps:
        if left < len(step):
            return list(step)
        left -= len(step)
    return []


def _moves(task: Said, status: str) -> CallTool:
    return CallTool("update_task_status", {"task_id": task["task_id"], "status": status})


def reports(result: str, summary: str) -> CallTool:
    return CallTool("report_completed", {"result": result, "summary": summary})


def task_of(turn: Turn) -> Said:
    """Its main task, as it has read it."""
    found = [result.data for result in turn.results if result.name == "get_my_task" and result.data]
    task: Said = found[-1].get("task", {}) if found else {}
    return task


def _looks(turn: Turn) -> CallTool:
    return CallTool("list_tasks", {"parent_task_id": task_of(turn)["task_id"]})


def _ready(seen: Said) -> list[Said]:
    """The subtasks that can be started."""
    over = {task["task_id"] for task in seen["tasks"] if task["status"] in _OVER}
    return [task for task in seen["tasks"] if task["status"] == "todo" and set(task["dependencies"]) <= over]


# --- those who do not ------------------------------------------------------------------------------------------------


def wrong_tools(turn: Turn) -> Answer:
    """For ever: tools that are not there, and tools that are with arguments that they do not take."""
    wrong = (
        CallTool("become_administrator", {"now": True}),
        CallTool("report_completed", {"result": "splendid"}),
        CallTool("update_task_status", {"task_id": "tsk_of_nobody", "status": "completed"}),
        CallTool("authenticate", {"agent_id": 7}),
    )
    return wrong[turn.number % len(wrong)]


def only_talks(turn: Turn) -> Answer:
    """It has understood everything, and calls nothing."""
    return Say("I have understood what is to be done, and I shall do it now.")


@dataclass(frozen=True)
class NeverReports(ObedientModel):
    """Does all of its work, and leaves with a friendly word where it is to report."""

    def __call__(self, turn: Turn) -> Answer:
        answer = super().__call__(turn)
        reports = isinstance(answer, CallTool) and answer.name == "report_completed"
        return Say("All is done, thank you.") if reports else answer


@dataclass(frozen=True)
class Insists(ObedientModel):
    """Reports success, and wherever a check refuses that, does the next of `further` and reports success again."""

    further: Sequence[Sequence[Sequence[Part]]] = ()

    def do_execute_task(self, turn: Turn, told: Told) -> Answer:
        reported = sum(result.name == "report_completed" for result in turn.results)
        if reported == 0:
            return super().do_execute_task(turn, told)
        if reported > len(self.further):
            return reports("failed", "nothing was left to try")
        return next_step(self.further[reported - 1], told.since) or reports("success", self.summary)


@dataclass(frozen=True)
class Floods:
    """Signs in, then says a long text with every answer, so many times."""

    characters: int = 200_000
    times: int = 5

    def __call__(self, turn: Turn) -> Answer:
        if not turn.fresh:
            return CallTool("authenticate")
        text = ("la " * self.characters)[: self.characters]
        return [Say(text), CallTool("get_next_action")] if turn.number <= self.times else Say(text)


@dataclass(frozen=True)
class Spawns:
    """Signs in, starts children that do not end (one in a session of its own), then is silent for ever."""

    seconds: int = 600

    def __call__(self, turn: Turn) -> Answer:
        if not turn.fresh:
            return CallTool("authenticate")
        children = f"sleep {self.seconds} >/dev/null 2>&1 & setsid sleep {self.seconds} >/dev/null 2>&1 &"
        return Shell(children) if turn.fresh[-1].name == "authenticate" else Hang()


# --- several minds ---------------------------------------------------------------------------------------------------


@dataclass
class AtFirst:
    """The first so many turns are answered with a fault, of whichever process; then comes another mind."""

    fault: Answer
    then: Policy
    times: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, turn: Turn) -> Answer:
        with self._lock:
            self.times -= 1
            faulty = self.times >= 0
        return self.fault if faulty else self.then(turn)


@dataclass(frozen=True)
class Crew:
    """To each agent its own mind: who it is stands in the first words."""

    minds: Mapping[str, Policy]

    def __call__(self, turn: Turn) -> Answer:
        return self.minds[agent_of(turn)](turn)


def agent_of(turn: Turn) -> str:
    """The agent whose first words (in English) are in the prompt; raises LookupError."""
    for prompt in reversed(turn.prompts):
        found = re.search(r"You are the agent (\S+)\. ", prompt)
        if found:
            return found[1]
    raise LookupError(f"no agent's first words: {turn.prompt[:200]!r}")
