"""What a trace rests on: everything that is known of some tasks, in few reads; and what each of them waited for.

`trace.py` answers with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from toryo.domain import waiting
from toryo.domain.events import Event
from toryo.domain.launches import Check, Launch, Purpose
from toryo.domain.sessions import Session
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.domain.usages import Usage
from toryo.domain.waiting import Course, Span, Waiting
from toryo.domain.worktrees import Worktree
from toryo.operations.calls.call import Call

EVENTS = 200
"""Of each task, the oldest."""
_DECISIONS = 500
"""About each agent."""


class TraceFacts:
    def __init__(self, call: Call, tasks: Sequence[Task]) -> None:
        self._call, self.tasks = call, tasks
        ids = [task.id for task in tasks]
        self.depends_on = call.tx.tasks.depends_on(ids)
        self.details = call.tx.tasks.details_of(ids)
        self.worktrees: dict[str, Worktree] = {each.task_id: each for each in call.tx.worktrees.of(ids)}
        self.launches = _grouped_launches(call.tx.launches.of_tasks(ids))
        self.checks = _grouped_checks(call.tx.launches.checks_of_tasks(ids))
        launch_ids = [launch.id for found in self.launches.values() for launch in found]
        self.used: dict[str, Usage] = call.tx.usages.of_launches(launch_ids)
        self.sessions: dict[str, Session] = {each.launch_id: each for each in call.tx.sessions.of_launches(launch_ids)}
        self.events = {task_id: call.tx.events.after(0, EVENTS, task_id=task_id) for task_id in ids}
        self._decided: dict[tuple[str, str], list[Event]] = {}
        self._waits: dict[str, list[Waiting]] = {}

    @cached_property
    def _tree(self) -> Tree:
        """Every task of the trace with those above it: which of them are main tasks."""
        above = {task.parent_id for task in self.tasks if task.parent_id} - {task.id for task in self.tasks}
        return Tree({task.id: task for task in (*self.tasks, *self._call.tx.tasks.find_all(above))})

    def decisions(self, task: Task) -> list[Event]:
        """What was decided about starting an agent for this task, and what held it while the task waited; in order."""
        agents = dict.fromkeys([*(each.agent_id for each in self.launches[task.id]), *self._assignee(task)])
        found = [each for agent_id in agents for each in self._about(agent_id, task.project_id)]
        over = _over(task)
        held = {each.event for each in self.waits(task)}
        return sorted(
            (
                each
                for each in found
                if each.sequence in held
                or (
                    each.data.get("task_id") == task.id
                    and each.at >= task.created_at
                    and (over is None or each.at <= over)
                )
            ),
            key=lambda each: each.sequence,
        )

    def waits(self, task: Task) -> list[Waiting]:
        if task.id not in self._waits:
            self._waits[task.id] = self._waited(task)
        return self._waits[task.id]

    def _waited(self, task: Task) -> list[Waiting]:
        about = [each for agent_id in self._assignee(task) for each in self._about(agent_id, task.project_id)]
        needed = {each.id: each for each in self._call.tx.tasks.find_all(self.depends_on.get(task.id, []))}
        course = Course(
            task=task,
            events=self.events[task.id],
            work=self._work(task),
            decisions=about,
            needed={task_id: each.completed_at for task_id, each in needed.items()},
            review=self._review(task),
        )
        return waiting.waits_of(course)

    def _assignee(self, task: Task) -> list[str]:
        return [task.assignee_id] if task.assignee_id is not None else []

    def _work(self, task: Task) -> list[Span] | None:
        """Launches and claims. A part of an agent's main task is worked on in launches of that; people have none."""
        launches = [Span(each.ordered_at, each.ended_at) for each in self.launches[task.id] if _for_work(each)]
        claims = [Span(each.claimed_at, each.ended_at) for each in self._call.tx.queues.claims_of_task(task.id)]
        work = sorted([*launches, *claims], key=lambda each: each.since)
        if work:
            return work
        agent = self._call.tx.agents.find(task.assignee_id) if task.assignee_id is not None else None
        return [] if agent is not None and not agent.human and self._tree.is_main(task) else None

    def _review(self, task: Task) -> Span | None:
        """From its completion until its work was merged or discarded."""
        worktree = self.worktrees.get(task.id)
        if worktree is None or not worktree.changed or task.completed_at is None or task.status.value != "completed":
            return None
        return Span(task.completed_at, None if worktree.open else max(task.completed_at, worktree.updated_at))

    def _about(self, agent_id: str, project_id: str) -> list[Event]:
        """The launch decisions about an agent's tasks during the trace, and the last one before it."""
        if (agent_id, project_id) not in self._decided:
            wanted = {"agent_id": agent_id, "project_id": project_id, "kind": "decision.launch"}
            first = min((found[0].sequence for found in self.events.values() if found), default=1)
            events = self._call.tx.events
            before = events.newest(1, before=first, **wanted)
            found = [*before, *events.after(first - 1, _DECISIONS, **wanted)]
            self._decided[agent_id, project_id] = [each for each in found if each.data.get("purpose") == "task"]
        return self._decided[agent_id, project_id]


def _for_work(launch: Launch) -> bool:
    return launch.purpose is Purpose.TASK


def _over(task: Task) -> Millis | None:
    return (task.completed_at or task.moved_at) if task.closed else None


def _grouped_launches(launches: Iterable[Launch]) -> defaultdict[str, list[Launch]]:
    found: defaultdict[str, list[Launch]] = defaultdict(list)
    for each in launches:
        found[each.task_id or ""].append(each)
    return found


def _grouped_checks(checks: Iterable[Check]) -> defaultdict[str, list[Check]]:
    found: defaultdict[str, list[Check]] = defaultdict(list)
    for each in checks:
        found[each.task_id].append(each)
    return found
