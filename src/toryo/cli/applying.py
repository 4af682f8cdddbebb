"""Carries out a manifest: makes or changes projects, agents, memberships and tasks until they are as it says.

Idempotent: what is already so is left alone, and nothing is ever removed. A task is known by its project and title.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from toryo.cli import widening
from toryo.cli.failures import Misuse
from toryo.cli.here import Here
from toryo.cli.manifest import Agent, Manifest, Project, Task

Entry = TypeVar("Entry", Agent, Task)
OPEN = frozenset({"backlog", "todo", "in_progress", "blocked"})


@dataclass(frozen=True)
class Change:
    """One thing that was done: `made`, `changed` or `joined`, what, and for an agent without a program its passkey."""

    verb: str
    kind: str
    id: str
    detail: str = ""
    passkey: str | None = None

    def told(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        passkey = f" passkey {self.passkey}" if self.passkey else ""
        return f"{self.verb} {self.kind} {self.id}{detail}{passkey}"

    def document(self) -> dict[str, str]:
        return {key: each for key, each in asdict(self).items() if each}


def apply(here: Here, manifest: Manifest, *, yes: bool = False) -> list[Change]:
    """Everything the manifest says, in an order in which each thing finds what it refers to.

    Asks for confirmation before anything is changed if agents that are there already would get more rights.
    """
    if not yes:
        widening.confirm(here, _widened(here, manifest), "This file")
    agents = _ordered(manifest.agents, lambda each: each.id, lambda each: [each.reports_to], "reports_to")
    changes, ids = _apply_projects(here, manifest.projects)
    changes += _apply_agents(here, agents)
    changes += _apply_memberships(here, agents, ids)
    for project in dict.fromkeys(each.project for each in manifest.tasks):
        tasks = [each for each in manifest.tasks if each.project == project]
        changes += _apply_tasks(here, ids.get(project, project), tasks)
    return changes


def _widened(here: Here, manifest: Manifest) -> list[str]:
    """What the file widens, each with its project or agent. Only what decides about rights is looked at: what else it
    says may refer to things that it makes itself."""
    found: list[str] = []
    agents = {each["agent_id"]: each for each in here.get("/agents")["agents"]}
    for agent in manifest.agents:
        said = {key: each for key, each in agent.said().items() if key in ("role", "provider", "provider_options")}
        if agent.id in agents and (different := _different(said, agents[agent.id])):
            body = {**different, **_whole(different)}
            found += [f"{agent.id}: {each}" for each in widening.widened(here, f"/agents/{agent.id}", body)]
    projects = here.get("/projects")["projects"]
    for project in manifest.projects:
        there = next((each for each in projects if _same(project, each)), None)
        if there is not None and project.settings:
            path, body = f"/projects/{there['project_id']}", {"settings": project.settings}
            found += [f"{there['project_id']}: {each}" for each in widening.widened(here, path, body)]
    return found


def _apply_projects(here: Here, projects: Iterable[Project]) -> tuple[list[Change], dict[str, str]]:
    """The changes, and the id of each project by its id and by its name."""
    changes: list[Change] = []
    there = here.get("/projects")["projects"]
    ids = {each["name"]: each["project_id"] for each in there}
    for project in projects:
        wanted = {**project.said("directory"), "working_directory": str(project.directory)}
        found = next((each for each in there if _same(project, each)), None)
        if found is None:
            made = here.send("POST", "/projects", wanted)["project"]
            changes.append(Change("made", "project", made["project_id"]))
        else:
            made = found
            changes += _patch(here, "project", f"/projects/{made['project_id']}", made["project_id"], wanted, found)
        ids[project.name] = made["project_id"]
    return changes, ids


def _same(project: Project, found: dict[str, Any]) -> bool:
    return bool(project.id == found["project_id"] if project.id else project.name == found["name"])


def _apply_agents(here: Here, agents: Iterable[Agent]) -> list[Change]:
    changes: list[Change] = []
    there = {each["agent_id"]: each for each in here.get("/agents")["agents"]}
    for agent in agents:
        wanted = agent.said("projects")
        if agent.id in there:
            unchangeable = ("id", "kind")
            wanted = {key: each for key, each in wanted.items() if key not in unchangeable}
            changes += _patch(here, "agent", f"/agents/{agent.id}", agent.id, wanted, there[agent.id])
        else:
            answer = here.send("POST", "/agents", wanted)
            widening.warn(answer)
            passkey = None if agent.provider else answer["passkey"]
            changes.append(Change("made", "agent", agent.id, _may(answer["agent"]), passkey=passkey))
    return changes


def _may(agent: dict[str, Any]) -> str:
    permissions = agent["effective_options"].get("permissions")
    return f"permissions: {permissions}" if permissions else ""


def _apply_memberships(here: Here, agents: Iterable[Agent], ids: dict[str, str]) -> list[Change]:
    changes: list[Change] = []
    members: dict[str, set[str]] = {}
    for agent in agents:
        for name in agent.projects:
            project = ids.get(name, name)
            if project not in members:
                found = here.get(f"/projects/{project}/members")["agents"]
                members[project] = {each["agent_id"] for each in found}
            if agent.id not in members[project]:
                here.send("POST", f"/projects/{project}/members/{agent.id}")
                changes.append(Change("joined", "project", project, agent.id))
    return changes


def _apply_tasks(here: Here, project: str, tasks: Sequence[Task]) -> list[Change]:
    changes: list[Change] = []
    there = {each["title"]: each for each in here.get(f"/projects/{project}/tasks")["tasks"]}
    ids = {title: each["task_id"] for title, each in there.items()}
    for task in _ordered(tasks, lambda each: each.title, lambda each: [each.parent, *each.depends_on], "tasks"):
        wanted = _wanted(task, ids)
        found = there.get(task.title)
        if found is None:
            answer = here.send("POST", f"/projects/{project}/tasks", wanted)
            ids[task.title] = answer["task_id"]
            changes.append(Change("made", "task", answer["task_id"], task.title))
        elif found["status"] in OPEN:
            # Where a task stands is the business of those who work on it; a file says only where it begins.
            fixed = ("status", "parent_task_id", "dependencies")
            wanted = {key: each for key, each in wanted.items() if key not in fixed}
            path = f"/tasks/{found['task_id']}"
            # Only the task itself shows its context and its checks; the list is brief.
            changes += _patch(here, "task", path, found["task_id"], wanted, here.get(path)["task"])
    return changes


def _wanted(task: Task, ids: dict[str, str]) -> dict[str, Any]:
    body = task.said("project", "assignee", "parent", "depends_on")
    body["assignee_id"] = task.assignee
    body["parent_task_id"] = _id_of(task, task.parent, ids) if task.parent else None
    body["dependencies"] = [_id_of(task, title, ids) for title in task.depends_on] or None
    return {key: each for key, each in body.items() if each is not None}


def _id_of(task: Task, title: str, ids: dict[str, str]) -> str:
    if title.startswith("tsk_"):
        return title
    if title not in ids:
        raise Misuse(f"The task {task.title!r} names {title!r}, and there is no such task.", "Use the title of a task.")
    return ids[title]


def _patch(here: Here, kind: str, path: str, id: str, wanted: dict[str, Any], found: dict[str, Any]) -> list[Change]:
    """Sends what differs, if anything does."""
    different = _different(wanted, found)
    if not different:
        return []
    answer = here.send("PATCH", path, {**different, **_whole(different)})
    widening.warn(answer)
    return [Change("changed", kind, id, "; ".join([", ".join(different), *answer.get("changes", ())]))]


def _different(wanted: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What is not there yet as it is wanted. Options of a provider are all that the file says, and no others."""
    return {
        key: value
        for key, value in wanted.items()
        if key != "id" and not (value == found[key] if key in _WHOLE else _equal(value, found.get(key)))
    }


_WHOLE = ("provider_options",)


def _whole(different: dict[str, Any]) -> dict[str, Any]:
    return {"replace_options": True} if "provider_options" in different else {}


def _equal(wanted: Any, found: Any) -> bool:
    """A mapping is as wanted if every key it names is: settings that the file does not mention keep their values."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(_equal(value, found.get(key)) for key, value in wanted.items())
    if wanted == "urgent":
        wanted = "critical"
    return bool(wanted == found)


def _ordered(
    entries: Sequence[Entry], name: Callable[[Entry], str], needs: Callable[[Entry], Iterable[str | None]], what: str
) -> list[Entry]:
    """Each after those of the file that it refers to."""
    by_name = {name(each): each for each in entries}
    graph = {name(each): [other for other in needs(each) if other in by_name] for each in entries}
    try:
        return [by_name[each] for each in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        raise Misuse(f"The {what} go round in a circle: {' → '.join(error.args[1])}.", "Nothing was changed.") from None
