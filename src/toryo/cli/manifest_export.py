"""`toryo export` and `toryo import`: a server's teams and open tasks as a toryo.yaml, and back. The event history is
exported by `event_export.py`.

Exports what people would write by hand: projects, agents, memberships, and open tasks. `toryo db backup` also keeps
history, results and tokens.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import output, task_lookup, wider_rights
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.domain.tasks import CLOSED

_AGENT = ("name", "kind", "role", "reports_to", "provider", "model", "agent_type", "capabilities", "system_prompt")
_PLAIN = {"kind": "ai", "capabilities": [], "system_prompt": "", "max_parallel_tasks": 1, "provider_options": {}}
"""Values that go without saying."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
"""Values that say nothing."""
EVENTS = "events"
"""Instead of a file: the event history. A file of that name is written as ./events."""
_OWNER = "owner"
"""The person that every server has: made by the server, not by a file."""


def add(app: typer.Typer) -> None:
    command(app, "export")(export)
    command(app, "import")(import_)


def export(
    here: Here,
    file: Annotated[Path, argument("FILE", "The YAML file to write; or `events` for the event history.")],
    until: Annotated[str | None, option("DAY", "Limit `events` to those before this day (UTC) or time.")] = None,
    project: Annotated[str | None, option("PRJ", "Limit `events` to this project.")] = None,
    output_file: Annotated[Path | None, option("FILE", "The file for `events` (default: stdout).", "--output")] = None,
    force: Annotated[bool, flag("Overwrite an existing file.", "--force")] = False,
) -> None:
    """Export projects, agents and open tasks to a file. `toryo apply` and `toryo import` read it.
    `toryo export events` exports the event history as JSON Lines: one event per line, oldest first."""
    from toryo.cli.exit_codes import Misuse

    if str(file) == EVENTS:
        from toryo.cli import event_export

        event_export.export(here, output_file, until, project, force=force)
        return
    given = {"--until": until, "--project": project, "--output": output_file}
    for name, value in given.items():
        if value is not None:
            raise Misuse(f"{name} applies to events only.", f"Use it as in: toryo export {EVENTS} {name} …")
    if file.exists() and not force:
        raise Misuse(f"{file} already exists.", "Choose another file, or overwrite it with --force.")
    manifest = whole(here)
    _write(file, _yaml(manifest))
    counts = {name: len(entries) for name, entries in manifest.items()}
    told = ", ".join(f"{many} {name}" for name, many in counts.items())
    here.answer({"success": True, "file": str(file), **counts}, lambda: output.done(f"{file}: {told}"))


def _write(file: Path, text: str) -> None:
    """For this user's eyes only: what agents are told and given stands in it."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w", -1, "utf-8") as out:
        os.fchmod(out.fileno(), 0o600)
        out.write(text)


def import_(
    here: Here,
    file: Annotated[Path, argument("FILE", "The file that `toryo export` wrote.")],
    yes: wider_rights.YesOfAgents = False,
) -> None:
    """Import an exported file. What already exists is kept or updated."""
    from toryo.cli.init_apply import apply

    apply(here, file, yes=yes)


def _yaml(manifest: dict[str, Any]) -> str:
    import yaml

    head = "# Written by `toryo export`; read by `toryo import` and `toryo apply`.\n"
    return head + yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=100)


def whole(here: Here, project_id: str | None = None, *, live: bool = False) -> dict[str, Any]:
    """Everything as a toryo.yaml has it; of one project only itself, its members and its open tasks.

    `live`: what is in progress stays so; otherwise its status is `todo`, since nobody works on it where it is imported.
    """
    projects = [each for each in here.get("/projects")["projects"] if project_id in (None, each["id"])]
    members = {project["id"]: _members(here, project["id"]) for project in projects}
    agents = [agent for agent in here.get("/agents")["agents"] if agent["agent_id"] != _OWNER]
    tasks = [task for project in projects for task in _tasks(here, project["id"], live=live)]
    if project_id is not None:
        agents = [agent for agent in agents if agent["agent_id"] in members.get(project_id, ())]
    return {
        "projects": [_project(project) for project in projects],
        "agents": [_agent(each, members) for each in _superiors_first(agents)],
        "tasks": tasks,
    }


def _members(here: Here, project_id: str) -> set[str]:
    return {agent["agent_id"] for agent in here.get(f"/projects/{project_id}/members")["agents"]}


def _project(each: dict[str, Any]) -> dict[str, Any]:
    entry = {"id": each["id"], "name": each["name"], "directory": each["working_directory"]}
    if each["description"]:
        entry["description"] = each["description"]
    return {**entry, "settings": each["settings"]}


def _agent(each: dict[str, Any], members: dict[str, set[str]]) -> dict[str, Any]:
    said = {name: each[name] for name in (*_AGENT, "max_parallel_tasks", "provider_options")}
    kept = {name: value for name, value in said.items() if value is not None and _PLAIN.get(name, ...) != value}
    projects = [project for project, ids in members.items() if each["agent_id"] in ids]
    return {"id": each["agent_id"], **kept, "projects": projects}


def _superiors_first(agents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A file is read from the top: a superior must come before its reports."""
    by_id = {agent["agent_id"]: agent for agent in agents}

    def depth(each: dict[str, Any]) -> int:
        above = by_id.get(each["reports_to"] or "")
        return 0 if above is None else depth(above) + 1

    return sorted(agents, key=depth)


def _tasks(here: Here, project_id: str, *, live: bool) -> list[dict[str, Any]]:
    open_tasks = [
        task
        for task in here.every(f"/projects/{project_id}/tasks", "tasks", closed_since=datetime.now(UTC).isoformat())
        if task["status"] not in CLOSED and task["agent_type"] is None
    ]
    titles = _titles(open_tasks)
    details = {open_task["id"]: here.get(f"/tasks/{open_task['id']}")["task"] for open_task in open_tasks}
    # Stable: what was filed at once stays in the server's order.
    ordered = sorted(open_tasks, key=lambda each: (_depth(each, details), each["created_at"]))
    return [_task(details[each["id"]], titles, project_id, live=live) for each in ordered]


def _depth(each: dict[str, Any], known: dict[str, dict[str, Any]]) -> int:
    above = known.get(each["parent_task_id"] or "")
    return 0 if above is None else _depth(above, known) + 1


def _titles(tasks: list[dict[str, Any]]) -> dict[str, str]:
    """A title per task, made different where two are the same: within a file it says which task is meant."""
    seen: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for task in tasks:
        seen[task["title"]] += 1
        many = seen[task["title"]]
        titles[task["id"]] = task["title"] if many == 1 else f"{task['title']} ({many})"
    return titles


def _task(each: dict[str, Any], titles: dict[str, str], project_id: str, *, live: bool) -> dict[str, Any]:
    from toryo.cli.manifest import Task

    kept = {"backlog", "todo", "in_progress"} if live else {"backlog", "todo"}
    status = each["status"] if each["status"] in kept else "todo"
    entry: dict[str, Any] = {"project": project_id, "title": titles[each["id"]], "status": status}
    said = {
        **{name: each[name] for name in Task.model_fields if name in each and name not in entry},
        "assignee": task_lookup.whose(each),
        "priority": None if each["priority"] == "medium" else each["priority"],
        "parent": titles.get(each["parent_task_id"] or ""),
        "depends_on": [titles[other] for other in each["dependencies"] if other in titles],
    }
    return {**entry, **{name: value for name, value in said.items() if value not in _NOTHING}}
