"""`toryo usage`: what agents have used, in tokens and money, by day and agent or whatever is named; and the budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, command, option
from toryo.cli.exit_codes import Misuse

GROUPS = ("day", "agent", "project", "task", "launch", "provider", "model", "purpose")
DAYS = 7
"""What is shown where nothing is said about when; of one task, all of it."""
TITLE = "title"
"""Stands beside the id of a task."""
_IDS = frozenset({"agent", "project", "task", "launch"})


def add(app: typer.Typer) -> None:
    command(app, "usage")(usage)


def usage(
    here: Here,
    project: Annotated[str | None, option("PRJ", "Limit to this project.")] = None,
    agent: Annotated[str | None, option("AGENT", "Limit to this agent.")] = None,
    task: Annotated[str | None, option("TASK", "Limit to this task and everything below it.")] = None,
    days: Annotated[int | None, option("N", "The last N days (default: 7; with --task: all days).", min=1)] = None,
    since: Annotated[str | None, option("DAY", "The first day, for example 2027-01-15.")] = None,
    until: Annotated[str | None, option("DAY", "The last day.")] = None,
    by: Annotated[str, option("NAME,…", f"Group by one or more of {', '.join(GROUPS)}.")] = "day,agent",
) -> None:
    """Show token usage and cost. Cost is shown where prices are known. Days are UTC."""
    when = since is not None or until is not None or task is not None
    names = [part.strip() for part in by.split(",") if part.strip()]
    unknown = [name for name in names if name not in GROUPS]
    if unknown or not names:
        said = f"Cannot group by {unknown[0]!r}." if unknown else "--by is empty."
        raise Misuse(said, f"Use one or more of {', '.join(GROUPS)}, separated by commas.")
    answer = here.get(
        "/usage",
        project_id=project,
        agent_id=agent,
        task_id=task,
        since=since,
        until=until,
        days=DAYS if days is None and not when else days,
        by=names,
    )
    here.answer(answer, lambda: _print(answer))


def brief(used: Mapping[str, Any]) -> str:
    """What one launch has used, on one line."""
    cached = f" ({used['cached_tokens']:,} of them cached)" if used["cached_tokens"] else ""
    unknown = used["lower_bound"] and not (used["input_tokens"] or used["output_tokens"])
    tokens = [f"{used['input_tokens']:,} tokens in{cached}", f"{used['output_tokens']:,} out"]
    parts = ["tokens unknown"] if unknown else tokens
    parts += [f"{used[name]:,} {words}" for name, words in _COUNTED if used[name]]
    parts.append("no price set" if used["cost_usd"] is None else money(used["cost_usd"]))
    parts += [str(used["model"])] if used["model"] else []
    return ("at least " if used["lower_bound"] and not unknown else "") + ", ".join(parts)


def money(dollars: float) -> str:
    """To the cent; less than ten cents to the hundredth of one."""
    return f"${dollars:,.2f}" if dollars >= 0.1 or dollars == 0 else f"${dollars:.4f}"


_COUNTED = (("turns", "turns"), ("tool_calls", "tool calls"))


def _print(answer: Mapping[str, Any]) -> None:
    rows, totals = answer["rows"], answer["totals"]
    if not rows:
        output.say(f"No usage recorded{_when(answer)}.")
    else:
        by = answer["by"]
        numbers = ("LAUNCHES", "INPUT", "CACHED", "OUTPUT", "COST")
        by = [shown for each in by for shown in ((each, TITLE) if each == "task" else (each,))]
        body = [(*(_name(row, each) for each in by), *_sums(row)) for row in rows]
        if len(rows) > 1:
            body.append(("total", *[""] * (len(by) - 1), *_sums(totals)))
        right = range(len(by), len(by) + len(numbers))
        columns = (*(each.upper() for each in by), *numbers)
        output.table(columns, body, empty="", right=right, total=len(rows) > 1)
        for remark in _remarks(totals):
            output.say(remark)
    for budget in (*answer["budgets"], *answer.get("agent_budgets", ())):
        spent = _spent(
            (budget["spent_today"], budget["budget_per_day"]), (budget["tokens_today"], budget["tokens_per_day"])
        )
        if spent:
            # `House (prj_…): $1.25 of $5.00 spent today; the day ends at 2026-11-24 01:00`.
            ends = output.clock(budget["day_ends_at"])
            after = f"used up, continues at {ends}" if budget["used_up"] else f"the day ends at {ends}"
            whose = budget.get("project_id") or budget["agent_id"]
            output.done(f"{budget['name']} ({whose}): {spent} spent today; {after}")
    for budget in answer.get("task_budgets", ()):
        usd, tokens = (budget["spent_usd"], budget["budget_usd"]), (budget["spent_tokens"], budget["budget_tokens"])
        spent = _spent(usd, tokens)
        raised = "--budget" if usd[1] is not None and usd[0] >= usd[1] else "--budget-tokens"
        after = f"; used up, raise it: toryo task edit {budget['task_id']} {raised} N" if budget["used_up"] else ""
        output.done(f"{budget['title']} ({budget['task_id']}): {spent} spent{after}")


def _spent(usd: tuple[float, float | None], tokens: tuple[int, int | None]) -> str:
    """Of what there is a budget for; each with its limit."""
    parts = [f"{money(usd[0])} of {money(usd[1])}"] if usd[1] is not None else []
    return " and ".join([*parts, *([f"{tokens[0]:,} of {tokens[1]:,} tokens"] if tokens[1] is not None else [])])


def _name(row: Mapping[str, Any], group: str) -> str:
    found = row[f"{group}_id" if group in _IDS else group]
    return "–" if found is None else str(found)


def _sums(row: Mapping[str, Any]) -> list[str]:
    """`≥`: a launch ended before it said all; `–`: it said nothing; `+`: something has no price."""
    least = "≥ " if row["lower_bounds"] else ""
    cost = "–" if row["cost_usd"] is None else money(row["cost_usd"]) + ("+" if row["without_price"] else "")
    counts = (row["input_tokens"], row["cached_tokens"], row["output_tokens"])
    if least and not any(counts):
        return [f"{row['launches']:,}", "–", "–", "–", cost]
    return [f"{row['launches']:,}", *(f"{count:,}" for count in counts[:-1]), f"{least}{counts[-1]:,}", cost]


def _remarks(totals: Mapping[str, Any]) -> list[str]:
    found = []
    if totals["without_price"]:
        those = _launches(totals["without_price"])
        has = "has" if totals["without_price"] == 1 else "have"
        found.append(f"{those} {has} no price (set prices: in the Coordinator's file): not in COST, nor in budgets.")
    if totals["lower_bounds"]:
        found.append(
            f"{_launches(totals['lower_bounds'])} ended before reporting totals, so these figures are minimums (≥)."
        )
    return found


def _launches(count: int) -> str:
    return f"{count:,} launch" if count == 1 else f"{count:,} launches"


def _when(answer: Mapping[str, Any]) -> str:
    since, until = answer["since"], answer["until"]
    if since and since == until:
        return f" on {since}"
    return (f" from {since}" if since else "") + (f" to {until}" if until else "")
