"""T12: the tokens that Toryo costs the agents: the list of tools and the first prompt at every start, then
the arguments and answers of calls until a task is done.

Agents are obedient scripts (tests/obedience.py) on a dispatcher in this process, with SQLite and a simulated clock.
They do only what they are told, so all figures are the same on every machine. A token counts as four bytes
of compact JSON; an answer is counted once, as the text that a model reads.

    python benchmarks/tokens.py [--subtasks 3] [--minutes 10]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import structlog
import target_figures

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.obedience import Obedient, ObedientChat, crew_works  # noqa: E402 - after the path to the tests' helpers
from tests.stories import Answer, Process, World  # noqa: E402
from toryo.first_prompt import first_words  # noqa: E402
from toryo.operations.calls.callers import Credentials  # noqa: E402
from toryo.operations.calls.dispatch import Outcome  # noqa: E402
from toryo.server import mcp_results  # noqa: E402
from toryo.server.mcp_tools import tool  # noqa: E402
from toryo.storage.open_database import open_database, upgrade  # noqa: E402

PATIENCE = 45
"""Seconds that a waiting call waits at most."""
RENEWED = 15
"""Seconds after which the dashboard says again that the chat is open."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subtasks", type=int, default=3)
    parser.add_argument("--minutes", type=int, default=10, help="that a chat agent is idle")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    print(f"{'bytes / 4 as tokens':<44}{'calls':>8}{'bytes':>9}{'tokens':>9}")
    lists()
    worker("task without subtasks, worker", (), decomposition="never")
    worker(f"task with {given.subtasks} subtasks, worker", tuple(f"Part {n}" for n in range(given.subtasks)))
    manager(given.subtasks)
    chat(given.minutes)


NOTED = {
    "tools/list, worker": "T12 worker",
    "tools/list, manager": "T12 manager",
    "tools/list, chat session": "T12 chat",
}
NOTED_CALLS = {
    "task without subtasks, worker": "T12 calls",
    "task with 3 subtasks, worker": "T12 subtask calls",
    "  one more subtask in a chain": "T12 chain",
}


def row(name: str, size: float | None = None, calls: float | None = None) -> None:
    shown = [f"{calls:.4g}" if calls is not None else ""]
    shown += [f"{size:,.0f}", f"{size / 4:,.0f}"] if size is not None else ["", ""]
    print(f"{name:<44}{shown[0]:>8}{shown[1]:>9}{shown[2]:>9}")
    if name in NOTED and size is not None:
        target_figures.note(NOTED[name], size / 4)
    if name in NOTED_CALLS and calls is not None:
        target_figures.note(NOTED_CALLS[name], calls)


# --- what is counted -------------------------------------------------------------------------------------------------


@dataclass
class Counted:
    """The calls of one agent."""

    calls: int = 0
    size: int = 0
    instructions: list[int] = field(default_factory=list)
    """Bytes of each that was told in a next action."""


class Counting(World):
    """A world that counts what its processes send and read, by agent and purpose."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.counted: dict[tuple[str, str], Counted] = {}
        self._processes: dict[str | None, tuple[str, str]] = {}
        super().__init__(*arguments, **more)

    def process(self, launch: Answer) -> Process:
        self._processes[launch["credential"]] = (launch["agent_id"], launch["purpose"])
        return super().process(launch)

    def perform(self, name: str, arguments: Answer, credentials: Credentials, *, may_wait: bool = False) -> Outcome:
        outcome = super().perform(name, arguments, credentials, may_wait=may_wait)
        who = self._processes.get(credentials.bearer)
        if who is not None and outcome.later is None:
            self._count(self.counted.setdefault(who, Counted()), name, arguments, outcome)
        return outcome

    def _count(self, counted: Counted, name: str, arguments: Answer, outcome: Outcome) -> None:
        counted.calls += 1
        counted.size += len(orjson.dumps({"name": name, "arguments": arguments})) + len(mcp_results.text(outcome))
        result: Any = outcome.result or {}
        told = result if name == "get_next_action" else result.get("next") or {}
        if "instruction" in told:
            counted.instructions.append(len(told["instruction"].encode()))


@contextmanager
def world() -> Iterator[Counting]:
    with tempfile.TemporaryDirectory() as folder, open_database(f"sqlite:///{Path(folder) / 'toryo.db'}") as database:
        upgrade(database)
        yield Counting(database)


# --- rows ------------------------------------------------------------------------------------------------------------


def lists() -> None:
    with world() as here:
        here.crew(1)
        for agent_id in ("boss", "w1"):
            here.task(agent_id)
        here.open_chat("w1")
        keys = {
            name: Credentials(
                bearer=here.owner.call("make_api_key", project_id=here.project_id, orchestrator=may)["token"]
            )
            for name, may in (("queue agent", False), ("orchestrator", True))
        }
        callers = {
            "worker": here.start("w1").credentials,
            "manager": here.start("boss").credentials,
            "chat session": here.start_chat("w1").credentials,
            **keys,
            "without a credential": Credentials(),
        }
        for name, credentials in callers.items():
            row(f"tools/list, {name}", _size(here, credentials))
        row("tools/list, ?toolset=queue", _size(here, Credentials(), "queue"))
    row("first prompt", len(first_words("w1").encode()))


def _size(here: World, credentials: Credentials, toolset: str | None = None) -> int:
    """Bytes of the `tools` of the answer."""
    listed = here.dispatcher.list_tools(credentials, toolset)
    return len(orjson.dumps([tool(each).model_dump(by_alias=True, exclude_none=True, mode="json") for each in listed]))


def worker(name: str, subtasks: tuple[str, ...], **settings: Any) -> None:
    with world() as here:
        here.crew(1, **settings)
        task = here.task("w1")
        crew_works(here, "w1", subtasks=subtasks)
        assert here.status(task) == "completed"
        _tell(name, here.counted["w1", "task"])


def manager(subtasks: int) -> None:
    """Subtasks of as many workers at once, then one after another: the manager is started again after each of these.
    What one more subtask adds does not depend on what the task itself costs."""
    for name, chained in (("at once", False), ("in a chain", True)):
        few, many = _managed(subtasks, chained), _managed(subtasks + 1, chained)
        _tell(f"task with {subtasks} subtasks {name}, manager", few)
        row(f"  one more subtask {name}", many.size - few.size, many.calls - few.calls)


@dataclass
class Manager(Obedient):
    """Looks at its tasks once before each choice, and starts what is ready."""

    chained: bool = False
    ready: list[str] = field(default_factory=list)

    def do_create_subtasks(self, _: Answer) -> Answer:
        self.calls += 1
        below = self.process.call("list_subordinates")["subordinates"]
        tasks = [
            {
                "local_id": title,
                "title": title,
                "description": "x",
                "assignee_id": who["agent_id"],
                "dependencies": [self.subtasks[number - 1]] if self.chained and number else [],
            }
            for number, (title, who) in enumerate(zip(self.subtasks, below, strict=True))
        ]
        return self.ask("create_tasks_batch", tasks=tasks)

    def do_situational_awareness(self, _: Answer) -> Answer:
        self.calls += 1
        tasks = self.process.call("list_tasks")["tasks"]
        done = {each["task_id"] for each in tasks if each["status"] == "completed"}
        self.ready = [
            each["task_id"] for each in tasks if each["status"] == "todo" and done.issuperset(each["dependencies"])
        ]
        return self.ask("select_action", action="start" if self.ready else "wait")

    def do_start(self, _: Answer) -> Answer:
        for each in self.ready[1:]:
            self.process.call("update_task_status", task_id=each, status="in_progress")
        return self.ask("update_task_status", task_id=self.ready[0], status="in_progress")


def _managed(subtasks: int, chained: bool) -> Counted:
    titles = tuple(f"Part {number}" for number in range(subtasks))
    with world() as here:
        here.crew(subtasks, decomposition="never")
        task, desk = here.task("boss"), here.coordinator()
        while started := desk.claim()["start"]:
            for launch in started:
                process = here.process(launch)
                agent = Manager(process, titles, chained=chained) if process.agent_id == "boss" else Obedient(process)
                agent.run()
                desk.exited(launch["launch_id"], exit_code=0)
        assert here.status(task) == "completed"
        return here.counted["boss", "task"]


def chat(minutes: int) -> None:
    """It answers one message, then nobody writes."""
    with world() as here:
        here.crew(1)
        here.open_chat("w1")
        here.say("w1", "Hello")
        agent = ObedientChat(here.start_chat("w1"))
        agent.begin()
        while not agent.waits:
            agent.talk()
        before = here.counted["w1", "chat"]
        calls, size = before.calls, before.size
        _tell("chat, one message answered", before)
        until = here.now + minutes * 60_000
        while here.now < until:
            asked: tuple[str, Answer, Credentials] = ("get_next_action", {}, agent.process.credentials)
            if here.perform(*asked, may_wait=True).later is None:
                raise SystemExit("a chat agent was answered at once, with nothing to do")
            for _ in range(PATIENCE // RENEWED):
                here.advance(RENEWED)
                here.open_chat("w1")
            told = here.perform(*asked).result or {}
            if told["action"] != "wait_for_messages":
                raise SystemExit(f"an idle chat agent was told {told['action']}")
        after = here.counted["w1", "chat"]
        row(f"chat, {minutes} idle minutes", after.size - size, after.calls - calls)


def _tell(name: str, counted: Counted) -> None:
    row(name, counted.size, counted.calls)
    row("  instructions, median", statistics.median(counted.instructions))
    row("  instructions, longest", max(counted.instructions))


if __name__ == "__main__":
    main()
