"""Tasks that are not started because of the quota of an account: it is used up, or what is left is kept from them.

Of main tasks those that would start now; of queues what is ready, where none of the agents that serve it can be started
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from toryo.domain import usages
from toryo.domain.budgets import Whose
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Priority, Task
from toryo.domain.times import Millis
from toryo.domain.wording import Worded, say
from toryo.operations.calls import fault_isolation
from toryo.operations.overview import main_task_waits
from toryo.operations.overview.home_state import Picture, Place
from toryo.workflow import launch_rules, program_choice
from toryo.workflow.rules import first_match
from toryo.workflow.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Wait:
    """`reason` is one of the launch table; `accounts`: whose quotas it is, empty where it is something else."""

    reason: str
    accounts: tuple[str, ...]
    until: Millis


def about_used_up(accounts: tuple[str, ...]) -> Worded:
    if len(accounts) > 1:
        return say("The quotas of the accounts {accounts} are used up.", accounts=", ".join(accounts))
    return say("The quota of the account {account} is used up.", account=accounts[0])


class QuotaWaits:
    """Of the tasks of a picture."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._places = frozenset(picture.places)
        self._queues: dict[tuple[str, str, Priority], Wait | None] = {}

    def of_project(self, project_id: str) -> Iterator[Wait]:
        """One for each task that waits for a quota."""
        for place, mains in self._picture.main_tasks.items():
            if place[1] == project_id:
                yield from self._of_accounts(self.of_main_task(place, task) for task in mains)
        for (project, _), ready in self._picture.ready_tasks.items():
            if project == project_id:
                yield from self._of_accounts(map(self.of_queue_task, ready))

    def _of_accounts(self, waits: Iterator[Wait | None]) -> Iterator[Wait]:
        return (each for each in waits if each is not None and each.accounts)

    def of_main_task(self, place: Place, task: Task) -> Wait | None:
        """None: it waits for something else, or for nothing."""
        return self._fenced(place, lambda: self._of_main_task(place, task))

    def _fenced(self, place: Place, look: Callable[[], Wait | None]) -> Wait | None:
        """What cannot be decided about one agent hides nothing of the others."""
        call = self._picture.call
        return fault_isolation.fenced(call, "needs", look, None, agent_id=place[0], project_id=place[1], asks=False)

    def _of_main_task(self, place: Place, task: Task) -> Wait | None:
        picture = self._picture
        if place not in self._places or task.id in picture.claims or main_task_waits.runs(picture, place):
            return None
        snapshot = picture.snapshot(place)
        row = first_match(launch_rules.AGENT_ROWS, snapshot)
        if row is not None and row.then.reason != "cooling_down":
            return None
        if main_task_waits.awaited_tasks(picture, place, task) is not None:
            return None
        return _at(snapshot, task) if launch_rules.would_start(snapshot, task) else None

    def of_queue_task(self, task: Task) -> Wait | None:
        """Of a ready one: what ends first. None: an agent of the queue can take it, or it has none."""
        key = (task.project_id, task.agent_type or "", task.priority)
        if key not in self._queues:
            places = [] if self._is_polled(task) else list(self._of(task))
            waits = [self._fenced(each, partial(self._at, each, task)) for each in places]
            known = [each for each in waits if each is not None]
            all_wait = len(known) == len(waits)
            self._queues[key] = min(known, key=lambda each: each.until, default=None) if all_wait else None
        return self._queues[key]

    def _at(self, place: Place, task: Task) -> Wait | None:
        return _at(self._picture.snapshot(place), task)

    def _is_polled(self, task: Task) -> bool:
        online = self._picture.online.values()
        return any((each.project_id, each.agent_type) == (task.project_id, task.agent_type) for each in online)

    def _of(self, task: Task) -> Iterator[Place]:
        """The agents that Coordinators start for its queue."""
        for place in self._picture.places:
            agent = self._picture.agents[place[0]]
            starts = agent.active and agent.managed and not agent.mistakes
            if starts and (place[1], agent.agent_type) == (task.project_id, task.agent_type):
                yield place


def _at(s: Snapshot, task: Task) -> Wait | None:
    """What keeps a process of the agent from being started for this task."""
    if s.budget_used_up:
        return Wait(Whose.PROJECT.value, (), usages.end_of_day(s.now))
    if s.agent_budget_used_up:
        return Wait(Whose.AGENT.value, (), usages.end_of_day(s.now))
    until = program_choice.until(s, Purpose.TASK, task.priority)
    if until is None or until <= s.now:
        return None
    usable = program_choice.choose(s, Purpose.TASK)
    if usable is not None:
        row = first_match(launch_rules.START_ROWS, (s, task))
        accounts = (usable.account,) if usable.account is not None else ()
        return Wait(row.then.reason, accounts, until) if row is not None else None
    for_quota = program_choice.own_used_up(s, Purpose.TASK) is not None
    return Wait("cooling_down", tuple(program_choice.used_up(s)) if for_quota else (), until)
