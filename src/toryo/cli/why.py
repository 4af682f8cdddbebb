"""`toryo why`: why an agent runs or not, from the rules that decided it; why a task does not move."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toryo.cli import logs, output, shell_completion, task_lookup, tasks
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.domain.texts import one_line


def add(app: typer.Typer) -> None:
    command(app, "why")(why)


def why(
    here: Here,
    of: Annotated[
        str,
        argument(
            "AGENT|TASK",
            "The agent's id; or a task's id, its title, or the end of its id.",
            complete=shell_completion.agents,
        ),
    ],
    project: Annotated[str | None, option("PRJ", "Limit to this project.")] = None,
    verbose: Annotated[
        bool, flag("Show which launch rule decided, and the codes of the decision.", "--verbose", "-v")
    ] = False,
) -> None:
    """Explain why an agent is not running, or why a task waits. Also says what to do about it; --json has the facts."""
    from toryo.client import RefusalError

    try:
        answer = here.get(f"/agents/{of}/why", project_id=project)
    except RefusalError as unknown:
        if unknown.code != "agentNotFound":
            raise
        task_id = task_lookup.task(here, of)
        if not task_id.startswith(task_lookup.PREFIX):
            logs.refuse_unknown(here, of)
        _of_task(here, here.get(f"/tasks/{task_id}")["task"])
        return
    here.answer(answer, lambda: output.done(*(why_lines(answer, verbose=verbose) or [f"{of} belongs to no project."])))


def _of_task(here: Here, task: dict[str, Any]) -> None:
    lines = [*tasks.why(here, task), *tasks.network(here, task["task_id"])]
    head = f"{output.MARKS.get(task['status'], ' ')} {task['task_id']} {task['status']}  {task['title']}"
    document = {"success": True, "task_id": task["task_id"], "task": task, "explanation": lines}
    here.answer(document, lambda: output.done(head, *(f"  {each}" for each in lines)))


_STATES = {"cooling_down": "in cooldown", "already_running": "running", "start_pending": "starting"}
_ACTIONS = {"start": "starting", "stop": "stopping", "hold": "not running"}


def _state(decision: dict[str, Any]) -> str:
    if "no_coordinator" in decision["facts"]:
        return "cannot start"
    return _STATES.get(decision["reason"]) or _ACTIONS.get(decision["action"], decision["action"])


def why_lines(answer: dict[str, Any], *, verbose: bool = False) -> list[str]:
    """One paragraph per project and purpose, as lines; `verbose`: with the rule, and the codes that scripts read."""
    lines: list[str] = []
    for decision in answer["decisions"]:
        until = f" until {output.clock(decision['until'])}" if decision.get("until") else ""
        since = f" since {output.clock(decision['since'])}" if decision.get("since") else ""
        head = f"{answer['agent_id']} in {decision['project_id']} ({decision['purpose']}): {_state(decision)}"
        lines.append(head + since + until)
        lines += [f"  {line}" for line in output.in_local_time(decision["explanation"]).split("\n")]
        if verbose:
            rule = f"Launch rule {decision['row']}: {decision['rule']}"
            lines.append(f"  {rule} ({decision['action']} {decision['reason']})")
        lines += [f"  {line}" for line in logs.network(decision)]
    for each in answer.get("merging", ()):
        lines += [f"{each['task_id']}  {one_line(each['title'])}", f"  {each['message']}"]
    for each in answer.get("may_conflict", ()):
        lines += [f"{each['task_id']}  {one_line(each['title'])}", f"  It {each['message']}"]
    for each in answer.get("unmerged", ()):
        lines += [f"{each['task_id']}  {one_line(each['title'])}", f"  {one_line(each['message'])}"]
    return lines
