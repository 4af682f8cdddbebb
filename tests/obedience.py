"""Agents that do what they are told: they follow `next` where it rides along, else they ask, until they hear exit.

A worker does its task or its subtasks; a manager assigns what can be started, waits when it may, and gives up a part
(cancels it) that it cannot get going; a chat answers, takes its turns, and reports what was delegated to it. `run`
answers how many calls it took; `crew_works` lets a Coordinator start whoever the server says, until nobody is to be
started and nobody talks any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.stories import Answer, Coordinator, Process, World
from toryo.domain.launches import Purpose

TOO_MANY = 80
"""Calls of one session: whoever needs more is not led anywhere."""

_FINDING = "The door is missing."


class LedNowhere(AssertionError):
    """An obedient agent did not come to an end."""


@dataclass
class Obedient:
    """`subtasks` are the titles it decomposes a task into; `fails` names titles of subtasks that it cannot do."""

    process: Process
    subtasks: tuple[str, ...] = ("First half", "Second half")
    fails: frozenset[str] = frozenset()
    told: list[str] = field(default_factory=list)
    desk: Coordinator | None = None
    """Who runs acceptance checks."""
    judged: Callable[[], Answer] = lambda: {"failures": []}
    """How the next one of them ends."""
    retried: set[str] = field(default_factory=set)
    delegates: str | None = None
    """With whom it has something discussed before it does a task."""
    fails_first: str | None = None
    """The title of a task that it cannot do at the first attempt."""
    finds: bool = False
    """Whether it requests changes where nobody has done so yet."""
    calls: int = 0
    most_calls: int = TOO_MANY
    """Of one session, before it is led nowhere."""

    def run(self) -> int:
        """From authenticate to exit; raises LedNowhere where that takes too many calls."""
        said = self.ask("authenticate")
        while said["action"] != "exit":
            said = self.goes_on(said)
        return self.calls

    def goes_on(self, said: Answer) -> Answer:
        """Does what it was told last; answers what it is told then."""
        if self.calls > self.most_calls:
            raise LedNowhere(f"{self.process.agent_id} after {self.calls} calls: {self.told[-20:]}")
        self.told.append(said["action"])
        return self.do(said)

    def do(self, said: Answer) -> Answer:
        """Carries out one next action; answers the one after it."""
        act: Callable[[Answer], Answer] = getattr(self, f"do_{said['action']}")
        return act(said)

    def ask(self, name: str, /, **arguments: object) -> Answer:
        """Makes the call; answers what comes next: what rode along, what was told, or what is told when asked."""
        self.calls += 1
        outcome = self.process.ask(name, **arguments)
        result = outcome.result
        assert result is not None
        if self.desk is not None and outcome.refused and result["error"] == "notNow" and self._checked(self.desk):
            return self.ask(name, **arguments)
        if name == "get_next_action":
            return result
        if result.get("action") == "exit" and "next" not in result:
            return result
        following: Answer | None = result.get("next")
        if following is None or following["action"] == "get_next_action":
            return self.ask("get_next_action")
        return following

    def _try(self, name: str, /, **arguments: object) -> bool:
        self.calls += 1
        return not self.process.ask(name, **arguments).refused

    def _checked(self, desk: Coordinator) -> bool:
        """Whether checks were waiting to be run."""
        waiting = desk.claim(free_slots=0)["checks"]
        for each in waiting:
            desk.call("report_check_result", check_id=each["check_id"], **self.judged())
        return bool(waiting)

    # --- what every agent is told ------------------------------------------------------------------------------------

    def do_report_model(self, _: Answer) -> Answer:
        return self.ask("report_model", provider="claude", model_id="model-1")

    def do_get_task(self, _: Answer) -> Answer:
        return self.ask("get_my_task")

    def do_get_notifications(self, _: Answer) -> Answer:
        return self.ask("get_notifications")

    def do_report_completion(self, _: Answer) -> Answer:
        return self.ask("report_completed", result="success", summary="all subtasks are done")

    def do_execute_task(self, said: Answer) -> Answer:
        if "submit_review" in said["tools"]:
            if self.finds and _FINDING not in self.process.call("get_my_task")["task"]["description"]:
                return self.ask("submit_review", verdict="request_changes", findings=[{"message": _FINDING}])
            return self.ask("submit_review", verdict="approve")
        if self.fails_first is not None:
            task = self.process.call("get_my_task")["task"]
            if (task["title"], task["attempt"]) == (self.fails_first, 1):
                return self.ask("report_completed", result="failed", summary="cannot now")
        if self.delegates is not None:
            target, self.delegates = self.delegates, None
            if not self.process.call("get_task_conversations")["delegations"]:
                return self.ask("delegate_to_chat_session", target_agent_id=target, purpose="Agree on colours.")
        return self.ask("report_completed", result="success", summary="done")

    def do_wait(self, _: Answer) -> Answer:
        return self._leave()

    def do_wait_for_others(self, _: Answer) -> Answer:
        return self._leave()

    def do_wait_for_answer(self, _: Answer) -> Answer:
        return self._leave()

    def do_wait_for_delegation(self, said: Answer) -> Answer:
        return self._leave() if "logout" in said["tools"] else self.ask("get_next_action")

    def _leave(self) -> Answer:
        self.calls += 1
        self.process.call("logout")
        return {"action": "exit"}

    def do_create_subtasks(self, _: Answer) -> Answer:
        tasks = [{"local_id": subtask, "title": subtask, "description": "x"} for subtask in self.subtasks]
        return self.ask("create_tasks_batch", tasks=tasks)

    # --- a worker's ------------------------------------------------------------------------------------------------

    def do_start_subtask(self, said: Answer) -> Answer:
        return self.ask("update_task_status", task_id=said["subtask"]["task_id"], status="in_progress")

    def do_execute_subtask(self, said: Answer) -> Answer:
        subtask = said["subtask"]
        if subtask["title"] in self.fails:
            return self.ask("update_task_status", task_id=subtask["task_id"], status="blocked", reason="cannot")
        return self.ask("update_task_status", task_id=subtask["task_id"], status="completed")

    def do_resolve_dependency_deadlock(self, _: Answer) -> Answer:
        return self._report_blocked("a deadlock")

    def do_review_and_resolve_blocks(self, said: Answer) -> Answer:
        """Gives what it may lift one more try, if it has not failed at it itself; else reports blocked."""
        for blocked_subtask in said["blocked_subtasks"]:
            if (
                not blocked_subtask["you_may_resolve"]
                or blocked_subtask["title"] in self.fails
                or blocked_subtask["task_id"] in self.retried
            ):
                return self._report_blocked(f"cannot do {blocked_subtask['title']}")
            self.retried.add(blocked_subtask["task_id"])
            following = self.ask("update_task_status", task_id=blocked_subtask["task_id"], status="todo")
        return following

    def _report_blocked(self, why: str) -> Answer:
        return self.ask("report_completed", result="blocked", summary=why)


@dataclass
class ObedientManager(Obedient):
    """Starts what is ready, waits where it may, and adjusts where neither is possible."""

    statuses: dict[str, str] = field(default_factory=dict)
    """Of its subtasks, when it last looked."""
    hopeless: set[str] = field(default_factory=set)
    """What it could not get started in this session."""
    chose_start: bool = False
    """Whether its last choice was start, and nothing was started since."""
    gave_up: bool = False
    """Whether it has tried another way in this session: once is enough."""
    sends_back: int = 0
    """How often it sends the first of its parts back before it reports."""

    def do_create_subtasks(self, said: Answer) -> Answer:
        if "no_available_workers" in said["instruction"]:
            return self._report_blocked("no_available_workers")
        workers = self._workers()
        tasks = [
            {"local_id": subtask, "title": subtask, "description": "x", "assignee_id": workers[number % len(workers)]}
            for number, subtask in enumerate(self.subtasks)
        ]
        return self.ask("create_tasks_batch", tasks=tasks)

    def do_situational_awareness(self, _: Answer) -> Answer:
        """Chooses start if something looks ready, else (or if that was void) wait, else (it is refused) adjust."""
        if not self.chose_start and self._ready():
            self.chose_start = True
            return self.ask("select_action", action="start")
        if not self._try("select_action", action="wait"):
            self._try("select_action", action="adjust")
        return self.ask("get_next_action")

    def do_select_action(self, said: Answer) -> Answer:
        """After a choice that was refused: the one that is named."""
        (named,) = re.findall(r'select_action\("(\w+)"\)', said["instruction"])
        return self.ask("select_action", action=named)

    def do_start(self, said: Answer) -> Answer:
        ready = self._ready()
        self.chose_start = not ready
        for task_id in ready:
            self._start(task_id)
        return self.ask("get_next_action") if ready else self.do_situational_awareness(said)

    def do_adjust(self, _: Answer) -> Answer:
        """Nothing can be started and nobody is at work: gives up what is stuck, and does it another way."""
        self.chose_start = False
        stuck = [each for each in self._look() if each["status"] not in ("completed", "cancelled", "in_progress")]
        for each in stuck:
            if not self._try("cancel_task", task_id=each["task_id"], reason="no way"):
                return self._report_blocked("stuck for good")
        if "completed" not in self.statuses.values():
            return self._another_way()
        return self.ask("get_next_action") if stuck else self._report_blocked("nothing to adjust")

    def do_report_completion(self, said: Answer) -> Answer:
        """Reports, or first sends back what is not good enough."""
        tasks = self._look() if self.sends_back else []
        changes = [each for each in tasks if each["title"].startswith("Changes to: ")]
        done = [each["task_id"] for each in tasks if each["status"] == "completed" and each not in changes]
        wants = done and len(changes) < self.sends_back
        if wants and self._try("request_changes", task_id=done[0], reason="Round it."):
            return self.ask("get_next_action")
        return super().do_report_completion(said)

    def do_review_and_resolve_blocks(self, said: Answer) -> Answer:
        """Gives each stuck part one more try, and cancels what is not its own to lift."""
        for blocked_subtask in said["blocked_subtasks"]:
            retried = self._try("update_task_status", task_id=blocked_subtask["task_id"], status="todo")
            if not retried and not self._try("cancel_task", task_id=blocked_subtask["task_id"], reason="no way"):
                return self._report_blocked("stuck for good")
        return self.ask("get_next_action")

    def _look(self) -> list[Answer]:
        """Its subtasks now."""
        self.calls += 2
        main = self.process.call("get_my_task")["task"]["task_id"]
        tasks: list[Answer] = self.process.call("list_tasks", parent_task_id=main)["tasks"]
        self.statuses = {task["task_id"]: task["status"] for task in tasks}
        return tasks

    def _ready(self) -> list[str]:
        return [each["task_id"] for each in self._look() if self._startable(each)]

    def _startable(self, task: Answer) -> bool:
        done = all(self.statuses.get(dependency, "completed") == "completed" for dependency in task["dependencies"])
        return (
            task["status"] == "todo"
            and done
            and task["approval"] == "approved"
            and task["task_id"] not in self.hopeless
        )

    def _start(self, task_id: str) -> None:
        """With its assignee, else with each worker in turn."""
        for assignee in (None, *self._workers()):
            if assignee is not None and not self._try("assign_task", task_id=task_id, assignee_id=assignee):
                continue
            if self._try("update_task_status", task_id=task_id, status="in_progress"):
                return
        self.hopeless.add(task_id)

    def _workers(self) -> list[str]:
        self.calls += 1
        below = self.process.call("list_subordinates")["subordinates"]
        return [each["agent_id"] for each in below if each["role"] == "worker" and each["status"] == "active"]

    def _another_way(self) -> Answer:
        if self.gave_up:
            return self._report_blocked("no way is left")
        self.gave_up = True
        title = f"Another way {len(self.statuses)}"
        tasks = [{"local_id": "x", "title": title, "description": "x"}]
        made = self._try("create_tasks_batch", tasks=tasks, intent="new")
        return self.ask("get_next_action") if made else self._report_blocked("no room")


@dataclass
class ObedientChat(Obedient):
    """Answers everybody, talks for `turns` turns, then ends the conversation and reports."""

    turns: int = 6
    to_report: dict[str, str] = field(default_factory=dict)
    """Delegations in its hands that it has begun, by id: with whom."""
    said: Answer = field(default_factory=dict)
    """What it was told last."""

    def begin(self) -> None:
        self.said = self.ask("authenticate")

    @property
    def over(self) -> bool:
        return bool(self.said["action"] == "exit")

    @property
    def waits(self) -> bool:
        return bool(self.said["action"] == "wait_for_messages")

    def talk(self) -> bool:
        """Does what it is told until it has to wait or is over; whether it had anything to do."""
        if self.waits:
            self.said = self.ask("get_next_action")
        active = not self.waits
        while not (self.over or self.waits):
            self.said = self.goes_on(self.said)
        return active

    def do_logout(self, _: Answer) -> Answer:
        return self._leave()

    def do_get_pending_messages(self, _: Answer) -> Answer:
        self.calls += 1
        got = self.process.call("get_pending_messages")
        for pending_message in got["pending_messages"]:
            if pending_message["conversation_id"] is None:
                self._try("respond_chat", message_id=pending_message["message_id"], content="Understood.")
        for conversation in got["ended_conversations"]:
            self._report_about(conversation["with_agent_id"])
        for delegation in got["pending_delegations"]:
            self._carry_out(delegation, got["conversations"])
        for conversation in got["conversations"]:
            if conversation["your_turn"]:
                self._take_turn(conversation)
        return self.ask("get_next_action")

    def _carry_out(self, delegation: Answer, conversations: list[Answer]) -> None:
        """To a person: told and reported. To an agent: discussed, unless it was; then reported."""
        target, delegation_id = delegation["target_agent_id"], delegation["delegation_id"]
        if delegation["target_kind"] == "human":
            told = self._try("send_message", target_agent_id=target, content=delegation["purpose"])
            self._report(delegation_id, success=told)
        elif delegation["conversation_id"] is None:
            self.to_report[delegation_id] = target
            opening = {"initial_message": delegation["purpose"], "delegation_id": delegation_id}
            if not self._try("start_conversation", target_agent_id=target, **opening):
                self._report(delegation_id, success=False)
        elif any(conversation["conversation_id"] == delegation["conversation_id"] for conversation in conversations):
            self.to_report[delegation_id] = target
        else:
            self._report(delegation_id, success=True)

    def _take_turn(self, conversation: Answer) -> None:
        opened = conversation["conversation_id"]
        if conversation["turns"] >= self.turns:
            self._try("end_conversation", conversation_id=opened, summary="agreed")
        else:
            self._try("respond_conversation_message", conversation_id=opened, content=f"{conversation['turns']}")

    def _report_about(self, target: str) -> None:
        for delegation_id in [each for each, whom in self.to_report.items() if whom == target]:
            self._report(delegation_id, success=True)

    def _report(self, delegation_id: str, *, success: bool) -> None:
        self.to_report.pop(delegation_id, None)
        self._try("report_delegation_completed", delegation_id=delegation_id, result="agreed", success=success)


def obedient(world: World, launch: Answer, **more: object) -> Obedient:
    """The obedient agent for a launch, by its purpose and role."""
    process = world.process(launch)
    if launch["purpose"] == Purpose.CHAT:
        return ObedientChat(process, **more)  # type: ignore[arg-type]
    role = world.owner.call("show_agent", agent_id=process.agent_id)["agent"]["role"]
    kind = ObedientManager if role == "manager" else Obedient
    return kind(process, **more)  # type: ignore[arg-type]


def crew_works(
    world: World, *agent_ids: str, rounds: int = 60, coordinator: Coordinator | None = None, **more: object
) -> int:
    """A Coordinator starts whoever is to be started (of these agents, else of all), each does what it is told, until
    nobody is and nobody talks; answers how many calls they made. Where all wait, a minute passes."""
    desk = coordinator or world.coordinator()
    crew = _Crew(world, desk, more)
    for _ in range(rounds):
        started = crew.start(list(agent_ids) or None)
        active = crew.talk()
        if not (started or active):
            if not crew.talking:
                return crew.calls
            world.advance(60)
    raise LedNowhere(f"the crew was still being started after {rounds} rounds")


@dataclass
class _Crew:
    """Who works and talks for one Coordinator."""

    world: World
    desk: Coordinator
    more: dict[str, object]
    talking: list[ObedientChat] = field(default_factory=list)
    calls: int = 0

    def start(self, agent_ids: list[str] | None) -> bool:
        """Starts whoever is to be started; who works does it to the end. Whether there was anybody."""
        self.desk.running = [obedient_chat.process.launch_id for obedient_chat in self.talking]
        answer = self.desk.claim(agent_ids=agent_ids, free_chat_slots=10)
        for each in answer["stop"]:
            self._gone(each["launch_id"])
        for launch in answer["start"]:
            agent = obedient(self.world, launch, desk=self.desk, **self.more)
            if isinstance(agent, ObedientChat):
                agent.begin()
                self.talking.append(agent)
            else:
                self.calls += agent.run()
                self.desk.exited(launch["launch_id"], exit_code=0)
        return bool(answer["start"])

    def talk(self) -> bool:
        """Everybody who talks does what there is; whether there was anything."""
        active = [obedient_chat.talk() for obedient_chat in self.talking]
        for obedient_chat in [chat for chat in self.talking if chat.over]:
            self._gone(obedient_chat.process.launch_id)
        return any(active)

    def _gone(self, launch_id: str) -> None:
        for obedient_chat in self.talking:
            if obedient_chat.process.launch_id == launch_id:
                self.calls += obedient_chat.calls
                self.desk.exited(launch_id, exit_code=0)
        self.talking = [obedient_chat for obedient_chat in self.talking if obedient_chat.process.launch_id != launch_id]
