"""How agents behave: a table of small classes. A behaviour may do something before a step, and changes how work ends.

`obedient` is what all others differ from. What a behaviour calls goes to the real server, which refuses, warns, stops
and puts in cooldown as it would.
"""

from __future__ import annotations

import random
from typing import Protocol

from toryo.agents.agent_loop import Over, Session
from toryo.agents.shell import Ran


class Program(Protocol):
    """What a behaviour may use of the program that has it (`programs.py`)."""

    session: Session
    dice: random.Random

    def minutes(self) -> float:
        """How long the work takes, drawn from its distribution."""

    def work(self, minutes: float) -> None:
        """Lets time pass."""

    def ended(self) -> Ran:
        """How the work ends, by the share of failures."""


class Crashed(BaseException):
    """The process ends with exit code 1 in the middle of what it does."""


class Obedient:
    """Does what it is told, in the time that was given."""

    share = 0.0
    """In which part of its launches an agent behaves like this, if the file does not say."""
    pace = 1.0
    """How many times as long it works and thinks."""
    failed_checks: float | None = None
    """The part of acceptance checks that fail; None: as the file says."""

    def step(self, program: Program) -> None:
        """Before it follows an instruction to divide, execute or supervise."""

    def work(self, program: Program) -> Ran:
        program.work(program.minutes())
        return program.ended()


class Slow(Obedient):
    """Takes three times as long."""

    share = 1.0
    pace = 3.0


class Looping(Obedient):
    """Asks for its next action again and again instead of doing it."""

    share = 0.3

    def step(self, program: Program) -> None:
        for _ in range(60):
            if program.session.try_to("get_next_action").get("action") == "exit":
                raise Over


class Lying(Obedient):
    """Reports success after a tenth of the time. Only acceptance checks find out."""

    share = 0.3
    failed_checks = 1.0

    def work(self, program: Program) -> Ran:
        program.work(program.minutes() / 10)
        return Ran("done")


class OverEager(Obedient):
    """Reads everything, saves its progress at every turn, and tries to do the work of others."""

    share = 1.0

    def step(self, program: Program) -> None:
        for tool in ("get_my_task", "get_my_profile", "get_notifications", "help"):
            program.session.try_to(tool)
        tasks = program.session.try_to("list_tasks").get("tasks") or ()
        program.session.try_to("save_progress", progress=f"{len(tasks)} tasks read")
        for task in list(tasks)[:2]:
            if task.get("assignee_id") != program.session.agent_id:
                program.session.try_to("update_task_status", task_id=task["task_id"], status="in_progress")


class Forgetful(Obedient):
    """Does the work, and ends its process without a report."""

    share = 0.3

    def work(self, program: Program) -> Ran:
        program.work(program.minutes())
        raise Over


class Crashing(Obedient):
    """Crashes somewhere in its work."""

    share = 0.3

    def work(self, program: Program) -> Ran:
        program.work(program.minutes() * program.dice.random())
        raise Crashed


class Hostile(Obedient):
    """Calls anything, about any task and as anybody, before it works."""

    share = 0.5

    def step(self, program: Program) -> None:
        call, dice = program.session.try_to, program.dice
        tasks = [each["task_id"] for each in call("list_tasks").get("tasks") or ()] or ["tsk_none"]
        for _ in range(dice.randint(4, 12)):
            task_id = dice.choice(tasks)
            tool, arguments = dice.choice(
                [
                    (
                        "update_task_status",
                        {"task_id": task_id, "status": dice.choice(["completed", "failed", "todo"])},
                    ),
                    ("cancel_task", {"task_id": task_id, "reason": "no"}),
                    ("assign_task", {"task_id": task_id, "assignee_id": program.session.agent_id}),
                    ("update_task_dependencies", {"task_id": task_id, "add_dependencies": tasks[:3]}),
                    ("create_tasks_batch", {"tasks": [_subtask(number) for number in range(dice.randint(1, 40))]}),
                    ("send_message", {"target_agent_id": "owner", "content": "x" * 5_000}),
                    ("claim_starts", {"coordinator_id": "mine", "free_slots": 5}),
                    ("save_progress", {"progress": "\x00" * 10}),
                    ("report_completed", {"result": "perfect", "summary": ""}),
                    ("authenticate", {"agent_id": "owner", "passkey": "guess"}),
                    ("drop_all_tables", {}),
                ]
            )
            call(tool, **arguments)


def _subtask(number: int) -> dict[str, str]:
    return {"local_id": f"x{number}", "title": f"Unwanted {number}", "description": "x"}


BEHAVIOURS: dict[str, type[Obedient]] = {
    "obedient": Obedient,
    "slow": Slow,
    "looping": Looping,
    "lying": Lying,
    "over-eager": OverEager,
    "forgetful": Forgetful,
    "crashing": Crashing,
    "hostile": Hostile,
}
