"""A manager with a playbook whose world changes between its look and what it does about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.coordinator.test_conditions import ON_FAILURE, A
from toryo.agents.agent_loop import Session
from toryo.agents.playbook_manager import Manager
from toryo.client import RefusalError
from toryo.formats import playbook_format, yaml_documents

Answer = dict[str, Any]
PLAN = f"tasks:\n  - match: (.*)\n    subtasks:\n      - {A}\n      - {ON_FAILURE}\n"
PLAYBOOK = playbook_format.parse(yaml_documents.read(PLAN, "plan.yaml"))


class Server:
    """Has two subtasks and one worker; refuses every wait, after `meanwhile` has happened."""

    patience_seconds = 0.0

    def __init__(self, meanwhile: Callable[[list[Answer]], None]) -> None:
        self.meanwhile = meanwhile
        self.subtasks: list[Answer] = [
            {"task_id": "t1", "title": "A", "status": "in_progress", "assignee_id": "dev", "attempt": 1},
            {"task_id": "t2", "title": "B", "status": "todo", "assignee_id": "dev", "dependencies": ["t1"]},
        ]
        self.reports: list[Answer] = []
        self.refusal: Answer = {}

    def call(self, tool: str, **arguments: Any) -> Answer:
        match tool:
            case "list_tasks":
                return {"success": True, "tasks": [dict(subtask) for subtask in self.subtasks]}
            case "list_subordinates":
                return {"subordinates": [{"agent_id": "dev", "status": "active", "max_parallel_tasks": 1}]}
            case "select_action":
                self.meanwhile(self.subtasks)
                raise RefusalError("notNow", "Nobody is at work.", data=self.refusal)
            case "create_tasks_batch":
                raise RefusalError("notNow", "The project is paused.", data=self.refusal)
            case "report_completed":
                self.reports.append(arguments)
        return {"success": True}


def waiting(meanwhile: Callable[[list[Answer]], None]) -> Server:
    """After one look of a manager, in which it chose to wait."""
    server = Server(meanwhile)
    at_work(server).look({})
    return server


def at_work(server: Server) -> Manager:
    session = Session(server, {}, "playbook")  # type: ignore[arg-type]
    session.task = {"task_id": "t0", "title": "Do it"}
    return Manager(session, PLAYBOOK)


def test_a_wait_refused_because_a_subtask_has_just_ended_makes_the_manager_look_again() -> None:
    assert waiting(lambda subtasks: subtasks[0].update(status="failed")).reports == []


def test_a_wait_refused_though_nothing_has_changed_is_reported_as_the_end_of_the_plan() -> None:
    (report,) = waiting(lambda _: None).reports
    assert report["result"] == "blocked"
    assert "Nothing can be started, and no one is working" in report["summary"]


@pytest.mark.parametrize("step", [Manager.divide, Manager.look])
def test_a_pause_in_the_middle_of_a_step_makes_the_manager_leave_and_blocks_nothing(
    step: Callable[[Manager, Answer], Answer],
) -> None:
    """The project may be resumed before it has reported: that would be a report about a pause that is over."""
    server = Server(lambda _: None)
    server.refusal = {"action": "exit", "reason": "project_paused"}
    assert step(at_work(server), {})["action"] == "exit"
    assert server.reports == []
