"""What agents pay for Toryo, counted: lists of tools, first prompts, and the calls of scripted stories.

The agents are obedient scripts (tests/obedience.py) on a dispatcher in this process, with a simulated clock. They do
only what they are told, so all figures are the same on every machine. A token counts as four bytes of compact JSON; an
answer is counted once, as the text that a model reads. Used by the budgets and by benchmarks/tokens.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.obedience import Obedient, ObedientChat, crew_works
from tests.stories import Answer, Process, World
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.dispatch import Outcome
from toryo.server import mcp_results
from toryo.server.mcp_tools import tool

PATIENCE = 45
"""Seconds that a waiting call waits at most."""
RENEWED = 15
"""Seconds after which the dashboard says again that the chat is open."""


@dataclass
class Counted:
    """The calls of one agent."""

    calls: int = 0
    size: int = 0
    starts: int = 0
    instructions: list[int] = field(default_factory=list)
    """Bytes of each that was told in a next action."""

    @property
    def tokens(self) -> int:
        return tokens(self.size)

    def less(self, other: Counted) -> Counted:
        return Counted(self.calls - other.calls, self.size - other.size, self.starts - other.starts)


def tokens(size: int) -> int:
    """Of so many bytes."""
    return -(-size // 4)


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


Worlds = Callable[[], AbstractContextManager[Counting]]
"""Makes an empty one."""


# --- lists of tools --------------------------------------------------------------------------------------------------


def listed(world: World, credentials: Credentials, toolset: str | None = None) -> bytes:
    """The `tools` of the answer of tools/list, without `_meta`: that is for the client, no model is shown it."""
    found = world.dispatcher.list_tools(credentials, toolset)
    told = [tool(each).model_dump(by_alias=True, exclude_none=True, exclude={"meta"}, mode="json") for each in found]
    return orjson.dumps(told)


def lists(here: World) -> dict[str, int]:
    """Bytes of the list of everyone who is shown another one. With worktrees there is more to see."""
    here.crew(3, isolation="worktree")
    here.task("boss")
    here.task("w1", acceptance=[{"command": "make test"}])
    here.task("w2", acceptance=[{"review": {"by": "w3"}}])
    here.open_chat("w1")
    here.start("w2").call("report_completed", result="success", summary="Built.")
    callers = {
        "worker": here.start("w1").credentials,
        "reviewer": here.start("w3").credentials,
        "manager": here.start("boss").credentials,
        "chat session": here.start_chat("w1").credentials,
    }
    here.coordinator().claim(free_slots=0, sandbox=True)
    for name, orchestrates in (("queue agent", False), ("orchestrator", True)):
        key = here.owner.call("make_api_key", project_id=here.project_id, orchestrator=orchestrates)
        callers[name] = Credentials(bearer=key["token"])
    found = {name: len(listed(here, credentials)) for name, credentials in callers.items()}
    return {
        **found,
        "queue toolset": len(listed(here, Credentials(), "queue")),
        "anyone": len(listed(here, Credentials())),
    }


# --- stories ---------------------------------------------------------------------------------------------------------


def worker(worlds: Worlds, subtasks: tuple[str, ...] = (), **settings: Any) -> Counted:
    with worlds() as here:
        here.crew(1, **settings)
        task = here.task("w1")
        crew_works(here, "w1", subtasks=subtasks)
        assert here.status(task) == "completed"
        return here.counted["w1", "task"]


@dataclass
class Manager(Obedient):
    """Looks at its tasks once before each choice, and starts what is ready."""

    chained: bool = False
    flows: bool = False
    """Whether its subtasks start by themselves."""
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
                **({"start": "when_ready"} if self.flows else {}),
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


def manager(worlds: Worlds, subtasks: int, *, chained: bool, flows: bool = False) -> Counted:
    """Subtasks of as many workers at once, or one after another: it is started again after each of these, unless they
    start by themselves (`flows`)."""
    titles = tuple(f"Part {number}" for number in range(subtasks))
    with worlds() as here:
        here.crew(subtasks, decomposition="never")
        task, desk = here.task("boss"), here.coordinator()
        while started := desk.claim()["start"]:
            for launch in started:
                process = here.process(launch)
                boss = process.agent_id == "boss"
                agent = Manager(process, titles, chained=chained, flows=flows) if boss else Obedient(process)
                agent.run()
                desk.exited(launch["launch_id"], exit_code=0)
        assert here.status(task) == "completed"
        counted = here.counted["boss", "task"]
        counted.starts = sum(each["agent_id"] == "boss" for each in here.launches())
        return counted


def chat(worlds: Worlds, minutes: int) -> tuple[Counted, Counted]:
    """It answers one message, then nobody writes."""
    with worlds() as here:
        here.crew(1)
        here.open_chat("w1")
        here.say("w1", "Hello")
        agent = ObedientChat(here.start_chat("w1"))
        agent.begin()
        while not agent.waits:
            agent.talk()
        counted = here.counted["w1", "chat"]
        answered = Counted(counted.calls, counted.size, instructions=[*counted.instructions])
        until = here.now + minutes * 60_000
        while here.now < until:
            asked: tuple[str, Answer, Credentials] = ("get_next_action", {}, agent.process.credentials)
            assert here.perform(*asked, may_wait=True).later is not None, "answered at once, with nothing to do"
            for _ in range(PATIENCE // RENEWED):
                here.advance(RENEWED)
                here.open_chat("w1")
            told = here.perform(*asked).result or {}
            assert told["action"] == "wait_for_messages", told["action"]
        return answered, counted.less(answered)
