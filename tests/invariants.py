"""What must hold whatever anybody has called: the rules of the specification's page on concepts, asked of the rows.

`broken` reads the whole database and answers every rule that does not hold, in words; nothing here goes through the
operations that are on trial.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tests.stories import World
from toryo.domain.tasks import MOVES, Status
from toryo.storage import schema

Row = Mapping[str, Any]

OPEN = ("backlog", "todo", "in_progress", "blocked")
CLOSED = ("completed", "failed", "cancelled")
MOVED = frozenset(
    f"task.{verb}"
    for verb in (
        "started readied drafted put_back unblocked retried completed failed blocked cancelled".split()  # noqa: SIM905
    )
)


@dataclass
class Rows:
    """Every row, by table; tasks by id as well."""

    tables: dict[str, list[Row]]

    def __post_init__(self) -> None:
        self.tasks = {each["id"]: each for each in self.tables["tasks"]}
        self.children: dict[str, list[Row]] = defaultdict(list)
        for each in self.tasks.values():
            if each["parent_id"] is not None:
                self.children[each["parent_id"]].append(each)
        self.depends_on: dict[str, list[str]] = defaultdict(list)
        for each in self.tables["dependencies"]:
            self.depends_on[each["task_id"]].append(each["depends_on"])
        self.settings = {each["id"]: orjson.loads(each["settings"]) for each in self.tables["projects"]}
        self.agents = {each["id"]: each for each in self.tables["agents"]}

    def __getitem__(self, table: str) -> list[Row]:
        return self.tables[table]

    def above(self, task: Row) -> Iterator[Row]:
        parent = self.tasks.get(task["parent_id"])
        while parent is not None:
            yield parent
            parent = self.tasks.get(parent["parent_id"])

    def is_main(self, task: Row) -> bool:
        parent = self.tasks.get(task["parent_id"])
        return task["assignee_id"] is not None and (parent is None or parent["assignee_id"] != task["assignee_id"])


def read(world: World) -> Rows:
    found = world.rows()
    columns = {table.name: [each.name for each in table.columns] for table in schema.metadata.sorted_tables}
    return Rows({name: [dict(zip(columns[name], row, strict=True)) for row in rows] for name, rows in found.items()})


def broken(world: World) -> list[str]:
    """Every rule that does not hold now, with what breaks it."""
    rows = read(world)
    return [f"{rule.__name__[1:]}: {what}" for rule in RULES for what in rule(rows)]


def hold(world: World) -> None:
    wrong = broken(world)
    assert not wrong, "\n".join(wrong[:20])


# --- trees -----------------------------------------------------------------------------------------------------------


def _a_task_and_its_parent_belong_to_one_tree_of_one_project(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        parent = rows.tasks.get(task["parent_id"])
        if parent is None:
            if task["root_id"] != task["id"] or task["depth"] != 1:
                yield f"root {task['id']}"
        elif (parent["project_id"], parent["root_id"], parent["depth"] + 1) != (
            task["project_id"],
            task["root_id"],
            task["depth"],
        ):
            yield f"{task['id']} below {parent['id']}"


def _dependencies_stay_within_a_project(rows: Rows) -> Iterable[str]:
    for task_id, others in rows.depends_on.items():
        for other in others:
            if rows.tasks[task_id]["project_id"] != rows.tasks[other]["project_id"]:
                yield f"{task_id} -> {other}"


def _nothing_waits_for_itself(rows: Rows) -> Iterable[str]:
    """Over dependencies and parents that wait for their children."""
    state: dict[str, int] = {}

    def waits_for(task_id: str) -> list[str]:
        return [*rows.depends_on[task_id], *(each["id"] for each in rows.children[task_id])]

    for start in rows.tasks:
        stack = [(start, iter(waits_for(start)))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            node, following = stack[-1]
            other = next(following, None)
            if other is None:
                state[node] = 2
                stack.pop()
            elif state.get(other) == 1:
                yield f"{node} -> {other}"
                return
            elif other not in state:
                state[other] = 1
                stack.append((other, iter(waits_for(other))))


def _caps_hold(rows: Rows) -> Iterable[str]:
    for parent_id, children in rows.children.items():
        parent, settings = rows.tasks[parent_id], rows.settings[rows.tasks[parent_id]["project_id"]]
        by_agents = [each for each in children if not _by_person(rows, each)]
        if sum(each["status"] in OPEN for each in by_agents) > settings["open_subtasks"]:
            yield f"{parent_id} has too many open subtasks"
        if len(by_agents) > settings["subtasks_ever"]:
            yield f"{parent_id} has had too many subtasks"
        if len(children) != parent["children_ever"]:
            yield f"{parent_id} counts {parent['children_ever']} subtasks of {len(children)}"
        made = Counter(each["created_by"] for each in by_agents)
        for agent_id, count in made.items():
            if rows.agents[agent_id]["role"] == "worker" and count > settings["worker_subtasks"]:
                yield f"{agent_id} made {count} subtasks below {parent_id}"


def _by_person(rows: Rows, task: Row) -> bool:
    maker = rows.agents.get(task["created_by"])
    return maker is None or maker["kind"] == "human"


def _no_agent_goes_deeper_than_allowed(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["depth"] > rows.settings[task["project_id"]]["tree_depth"] and not _by_person(rows, task):
            yield f"{task['id']} at depth {task['depth']}"


def _requests_stay_within_their_cap(rows: Rows) -> Iterable[str]:
    still_open = Counter(
        (each["project_id"], each["requested_by"])
        for each in rows.tasks.values()
        if each["requested_by"] is not None and each["status"] in OPEN and each["approval"] != "rejected"
    )
    for (project_id, agent_id), count in still_open.items():
        if count > rows.settings[project_id]["open_requests"]:
            yield f"{agent_id} has {count} open requests"


# --- statuses --------------------------------------------------------------------------------------------------------


def _what_is_in_progress_may_be(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] != "in_progress":
            continue
        if task["assignee_id"] is None:
            yield f"{task['id']} has no assignee"
        if task["approval"] != "approved":
            yield f"{task['id']} is {task['approval']}"
        for other in rows.depends_on[task["id"]]:
            if rows.tasks[other]["status"] != "completed":
                yield f"{task['id']} depends on {other}, which is {rows.tasks[other]['status']}"
        for above in rows.above(task):
            if above["status"] in CLOSED:
                yield f"{task['id']} is below {above['id']}, which is {above['status']}"


def _nobody_has_more_main_tasks_in_progress_than_it_may(rows: Rows) -> Iterable[str]:
    busy = Counter(
        (each["project_id"], each["assignee_id"])
        for each in rows.tasks.values()
        if each["status"] == "in_progress" and rows.is_main(each)
    )
    for (project_id, agent_id), count in busy.items():
        if count > rows.agents[agent_id]["max_parallel_tasks"]:
            yield f"{agent_id} has {count} in {project_id}"


def _a_completed_task_has_nothing_open_below_and_a_cancelled_one_neither(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] in OPEN:
            for above in rows.above(task):
                if above["status"] in ("completed", "cancelled"):
                    yield f"{task['id']} is {task['status']} below {above['id']}, which is {above['status']}"


def _what_was_completed_had_passed_its_checks(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["status"] == "completed" and task["has_acceptance"] and task["checks"] != "passed":
            yield f"{task['id']} with checks {task['checks']}"


def _a_block_has_its_cause_and_only_a_block_has_one(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        cause = task["blocked_cause"]
        if task["status"] != "blocked":
            if task["blocked_by"] or cause or task["blocked_from"]:
                yield f"{task['id']} is {task['status']} with a cause"
        elif cause is None:
            if not task["blocked_by"] or not task["blocked_reason"]:
                yield f"{task['id']} is blocked by nobody or for no reason"
        elif rows.tasks[cause]["status"] not in ("blocked", "failed") or cause not in {
            each["id"] for each in rows.above(task)
        }:
            yield f"{task['id']} is blocked because of {cause}, which is {rows.tasks[cause]['status']}"


def _only_a_task_in_progress_waits(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if task["wait"] is not None and task["status"] != "in_progress":
            yield f"{task['id']} is {task['status']} and waits"


def _times_fit_the_status(rows: Rows) -> Iterable[str]:
    for task in rows.tasks.values():
        if (task["completed_at"] is not None) != (task["status"] in CLOSED):
            yield f"{task['id']} is {task['status']}, completed at {task['completed_at']}"
        if task["status"] == "in_progress" and task["started_at"] is None:
            yield f"{task['id']} never started"


# --- launches and sessions -------------------------------------------------------------------------------------------


def _one_live_launch_and_session_per_agent_project_and_purpose(rows: Rows) -> Iterable[str]:
    launches = Counter(_of(each) for each in rows["launches"] if each["state"] in ("ordered", "signed_in"))
    sessions = Counter(_of(each) for each in rows["sessions"] if each["ended_at"] is None)
    for what, count in (*launches.items(), *sessions.items()):
        if count > 1:
            yield f"{what}: {count}"


def _of(row: Row) -> tuple[str, str, str]:
    return row["agent_id"], row["project_id"], row["purpose"]


def _a_session_lives_as_long_as_its_launch(rows: Rows) -> Iterable[str]:
    launches = {each["id"]: each for each in rows["launches"]}
    of_launch = {each["launch_id"]: each for each in rows["sessions"]}
    for session in rows["sessions"]:
        alive = session["ended_at"] is None
        if alive != (launches[session["launch_id"]]["state"] == "signed_in"):
            yield f"session {session['id']} and launch {session['launch_id']}"
    for launch in launches.values():
        if launch["state"] == "signed_in" and launch["id"] not in of_launch:
            yield f"launch {launch['id']} without a session"


def _fences_grow(rows: Rows) -> Iterable[str]:
    fences: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for launch in sorted(rows["launches"], key=lambda each: (each["ordered_at"], each["fence"])):
        fences[_of(launch)].append(launch["fence"])
    for whose, numbers in fences.items():
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{whose}: {numbers}"


# --- the event log ---------------------------------------------------------------------------------------------------


def _the_event_log_tells_every_status(rows: Rows) -> Iterable[str]:
    told: dict[str, str] = {}
    for event in sorted(rows["events"], key=lambda each: each["sequence"]):
        data = orjson.loads(event["data"])
        if event["kind"] == "task.created":
            told[event["task_id"]] = data["status"]
        elif event["kind"] in MOVED:
            if told[event["task_id"]] != data["from"]:
                yield f"{event['kind']} of {event['task_id']} from {data['from']}, it was {told[event['task_id']]}"
            if not _may_go(data):
                yield f"{event['task_id']} went from {data['from']} to {data['to']}"
            told[event["task_id"]] = data["to"]
    for task in rows.tasks.values():
        if told.get(task["id"]) != task["status"]:
            yield f"{task['id']} is {task['status']}, its events say {told.get(task['id'])}"


def _may_go(data: Mapping[str, Any]) -> bool:
    """A move of the table, or what a cascade does and undoes to a draft."""
    before, after = Status(data["from"]), Status(data["to"])
    drafts = {(Status.BACKLOG, Status.BLOCKED), (Status.BLOCKED, Status.BACKLOG)}
    return after in MOVES[before] or (before, after) in drafts


def _every_event_has_an_actor_that_exists(rows: Rows) -> Iterable[str]:
    system = {"system:toryo", "system:coordinator", "system:nobody", "system:schedule"}
    for event in rows["events"]:
        if event["actor_id"] not in rows.agents and event["actor_id"] not in system:
            yield f"{event['kind']} by {event['actor_id']}"


RULES = [
    _a_task_and_its_parent_belong_to_one_tree_of_one_project,
    _dependencies_stay_within_a_project,
    _nothing_waits_for_itself,
    _caps_hold,
    _no_agent_goes_deeper_than_allowed,
    _requests_stay_within_their_cap,
    _what_is_in_progress_may_be,
    _nobody_has_more_main_tasks_in_progress_than_it_may,
    _a_completed_task_has_nothing_open_below_and_a_cancelled_one_neither,
    _what_was_completed_had_passed_its_checks,
    _a_block_has_its_cause_and_only_a_block_has_one,
    _only_a_task_in_progress_waits,
    _times_fit_the_status,
    _one_live_launch_and_session_per_agent_project_and_purpose,
    _a_session_lives_as_long_as_its_launch,
    _fences_grow,
    _the_event_log_tells_every_status,
    _every_event_has_an_actor_that_exists,
]
