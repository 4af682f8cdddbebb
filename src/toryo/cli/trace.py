"""`toryo trace ID`: one request as a tree of tasks, with who had each of them, for how long, and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import quote

import typer

from toryo.cli import output, shell_completion, task_lookup
from toryo.cli.command_context import Here, argument, command, flag
from toryo.domain.texts import one_line


def add(app: typer.Typer) -> None:
    command(app, "trace")(trace)


def trace(
    here: Here,
    id: Annotated[
        str,
        argument(
            "ID",
            "The request's correlation id, or one of its tasks: its id, its title, or the end of its id.",
            complete=shell_completion.tasks,
        ),
    ],
    events: Annotated[bool, flag("Include the events of each task.", "--events")] = False,
) -> None:
    """Show everything that a request caused, as a tree."""
    from toryo.client import RefusalError

    try:
        answer = here.get(f"/traces/{quote(id, safe='')}")
    except RefusalError:  # a correlation id may be any text, so it comes before a title
        task = task_lookup.task(here, id)
        if task == id:
            raise
        answer = here.get(f"/traces/{task}")
    here.answer(answer, lambda: output.done(*tree_lines(answer, events=events)))


def tree_lines(answer: dict[str, Any], *, events: bool = False) -> list[str]:
    """The tree as lines."""
    head = f"request {answer['correlation_id']}  (trace {answer['trace_id']})"
    took = answer["duration_ms"]
    lasted = "still open" if took is None else output.duration(took / 1000)
    lines = [head, f"{output.clock(answer['started_at'])}, {lasted}{_cost(answer['usage'])}"]
    for task in answer["tasks"]:
        lines.extend(_branch(task, 0, events=events))
    return lines


def _cost(usage: dict[str, Any]) -> str:
    if not usage["launches"]:
        return ""
    tokens = usage["input_tokens"] + usage["output_tokens"]
    return f", {usage['launches']} launches, {tokens:,} tokens{_money(usage['cost_usd'])}"


def _money(dollars: float | None) -> str:
    return "" if dollars is None else f", ${dollars:.2f}"


def _branch(task: dict[str, Any], depth: int, *, events: bool) -> Iterator[str]:
    edge = "  " * depth
    who = task_lookup.whose(task) or task["agent_type"] or "nobody"
    took = "" if task["duration_ms"] is None else f"  {output.duration(task['duration_ms'] / 1000)}"
    mark = output.MARKS.get(task["status"], " ")
    yield f"{edge}{mark} {task['status']:<11} {task['title']}  ({who}){took}  {task['task_id']}"
    if task["dependencies"]:
        yield f"{edge}    after {', '.join(task['dependencies'])}"
    for launch in task["launches"]:
        end = launch["end_reason"] or launch["state"]
        yield f"{edge}    launch by {launch['agent_id']}: {end}{_money((launch['usage'] or {}).get('cost_usd'))}"
    for check in task["checks"]:
        yield f"{edge}    checks at {output.clock(check['created_at'])}: {_check_line(check)}"
    for attempt in task["attempts"][:-1]:
        yield f"{edge}    attempt {attempt['attempt']} by {attempt['agent_id']}: {attempt['end_reason'] or 'running'}"
    for conversation in task["conversations"]:
        with_whom = f"{conversation['with']}: {conversation['turns']} turns, {conversation['state']}"
        yield f"{edge}    conversation with {with_whom} ({conversation['conversation_id']})"
    for event in task["events"] if events else ():
        yield f"{edge}    {output.clock(event['at'])}  {event['kind']} by {event['actor_id']}"
    for part in task["tasks"]:
        yield from _branch(part, depth + 1, events=events)


def _check_line(check: dict[str, Any]) -> str:
    """What one run of the checks found."""
    if check["passed"] is None:
        return "not ended"
    named = {
        outcome: "; ".join(one_line(each["check"]) for each in check["evidence"] if each["outcome"] == outcome)
        for outcome in ("failed", "flaky", "error")
    }
    failed = named["failed"] or "; ".join(one_line(each["check"]) for each in check["failures"])
    flaky = f" (flaky: {named['flaky']})" if named["flaky"] else ""
    error = f"cannot run: {named['error']}" if named["error"] else ""
    failing = "; ".join(filter(None, (f"failed: {failed}" if failed else "", error)))
    return f"{'passed' if check['passed'] else failing or 'failed'}{flaky}"
