"""`toryo playbook check`: validates a plan and shows the subtasks it would create. Needs no server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Failure, Misuse, missing_file

group = typer.Typer(help="Check a playbook without a server.", no_args_is_help=True, rich_markup_mode=None)


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="playbook")


@command(group, "check", options=("json",))
def check(
    here: Here,
    file: Annotated[Path, argument("FILE", "A playbook, or a toryo.yaml with playbooks in it.")],
    title: Annotated[str | None, option("TITLE", "Show what a task with this title would become.")] = None,
    context: Annotated[str | None, option("JSON", "That task's context, for {{context.…}}.")] = None,
    agent: Annotated[str | None, option("AGENT", "In a toryo.yaml: only this agent's playbook.")] = None,
) -> None:
    """Check a playbook, and show what it would do with a task. Mistakes are listed with their lines."""
    found = _playbooks(file, agent)
    if title is None:
        plans = [_plan(who, task) for who, playbook in found.items() for task in playbook["tasks"]]
        here.answer({"success": True, "plans": plans}, lambda: _show_plans(plans))
        return
    subtasks = _subtasks(list(found.values()), {"title": title, "context": _context(context)})
    here.answer({"success": True, "title": title, "subtasks": subtasks}, lambda: _show_subtasks(subtasks))


def _playbooks(file: Path, agent: str | None) -> dict[str, dict[str, Any]]:
    """The checked playbooks of a file, by agent; a playbook of its own stands under its file's name."""
    from toryo.formats import playbook_format, yaml_documents

    if not file.is_file():
        raise missing_file(file, "Pass the path of a playbook or of a toryo.yaml.")
    try:
        document = yaml_documents.of_file(file)
        if not (isinstance(document.data, dict) and "agents" in document.data):
            return {file.name: playbook_format.parse(document)}
        return _of_team(file, agent)
    except yaml_documents.Mistakes as mistakes:
        raise Misuse(str(mistakes)) from None


def _of_team(file: Path, agent: str | None) -> dict[str, dict[str, Any]]:
    """Held against the team of the file, too: who does what, and what its projects allow."""
    from toryo.cli import manifest, manifest_plans

    team = manifest.noted(file)
    planned = [each.id for each in team.agents if each.provider == "playbook"]
    found = manifest_plans.check(manifest_plans.Team(team), beside=file.resolve().parent)
    team.fail_if_mistaken()
    if not planned:
        raise Misuse(
            f"{file} has no agent with the provider playbook.",
            "Pass the path of a playbook, or of a toryo.yaml that has one.",
        )
    if agent is not None and agent not in planned:
        raise Misuse(
            f"{file} has no agent {agent} with the provider playbook.",
            f"It has: {', '.join(planned)} (choose with --agent).",
        )
    return {name: each for name, each in found.items() if agent in (None, name)}


def _context(given: str | None) -> dict[str, Any]:
    try:
        found = json.loads(given or "{}")
    except ValueError:
        raise Misuse("--context is not valid JSON.", 'For example: --context \'{"kind": "minor"}\'') from None
    if not isinstance(found, dict):
        raise Misuse("--context must be a JSON object.", 'For example: --context \'{"kind": "minor"}\'')
    return found


def _plan(who: str, plan: dict[str, Any]) -> dict[str, Any]:
    return {"playbook": who, "match": plan["match"], "subtasks": [subtask["id"] for subtask in plan["subtasks"]]}


def _subtasks(found: list[dict[str, Any]], task: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the first plan that fits; raises Failure where none does, or one needs what the task does not have."""
    from toryo.agents import plan_choice

    everything = {"tasks": [plan for playbook in found for plan in playbook["tasks"]]}
    try:
        return [
            _subtask(step)
            for step in plan_choice.in_order(plan_choice.plan_for(everything, {"task_id": "tsk_0", **task}))
        ]
    except plan_choice.NoPlan as none:
        raise Failure(str(none), "A task like this would be reported as blocked, with this text.") from None


def _subtask(step: Any) -> dict[str, Any]:
    from toryo.agents import conditions

    known = {
        "id": step.id,
        "title": step.title,
        "description": step.description,
        "assignee": step.assignee,
        "capability": step.capability,
        "depends_on": list(step.depends_on),
        "when": conditions.in_words(step),
        "left_out": conditions.Situation([step], {}).against(step),
        "priority": step.priority,
        "retry": step.retry,
        "context": step.context,
        "acceptance": list(step.acceptance),
        "touches": list(step.touches),
        "run": step.run,
        "timeout_seconds": step.timeout_seconds,
    }
    return {name: each for name, each in known.items() if each not in (None, "", [], {})}


def _show_plans(plans: list[dict[str, Any]]) -> None:
    rows = [(plan["playbook"], plan["match"], ", ".join(plan["subtasks"])) for plan in plans]
    output.table(("PLAYBOOK", "TITLES", "SUBTASKS"), rows, empty="There are no plans.")


def _show_subtasks(subtasks: list[dict[str, Any]]) -> None:
    rows = [
        (subtask["id"], subtask["title"], _who(subtask), ", ".join(subtask.get("depends_on", ())), _how(subtask))
        for subtask in subtasks
    ]
    output.table(("ID", "TITLE", "WHO", "AFTER", "HOW"), rows, empty="There are no subtasks.")


def _who(subtask: dict[str, Any]) -> str:
    able = f"able: {subtask['capability']}" if "capability" in subtask else "any free worker"
    return str(subtask.get("assignee") or able)


def _how(subtask: dict[str, Any]) -> str:
    command = subtask.get("run") or subtask.get("context", {}).get("command", "")
    words = [command if isinstance(command, str) else " ".join(map(str, command))]
    if "left_out" in subtask:
        return f"left out: {subtask['left_out']}"
    words += [f"(when {subtask['when']})"] if "when" in subtask else []
    words += [f"(retried up to {subtask['retry']} times)"] if subtask.get("retry") else []
    return " ".join(word for word in words if word)
