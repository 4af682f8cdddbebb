"""Usage of agents' programs: tokens and money, summed by day, agent, project, task and so on; and today's budgets.

`launches/usage_counting.py` counts it; `workflow/launch_rules.py` applies budgets.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import budgets, usages
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Project, Status
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.storage import usages as usages_kept
from toryo.storage.snapshots import spent_for
from toryo.storage.usages import Row, Sums, Wanted

Group = Literal["day", "agent", "project", "task", "launch", "provider", "model", "purpose"]
MOST_ROWS = 5_000
_COLUMNS: dict[Group, usages_kept.Group] = {
    "day": "day",
    "agent": "agent_id",
    "project": "project_id",
    "task": "task_id",
    "launch": "launch_id",
    "provider": "provider",
    "model": "model",
    "purpose": "purpose",
}


class ShowUsage(Parameters):
    project_id: Id | None = Field(None, description="Only of this project.")
    agent_id: Id | None = Field(None, description="Only of this agent.")
    task_id: Id | None = Field(None, description="Only for this task and everything below it.")
    since: date | None = Field(None, description="The first day, as YYYY-MM-DD. Days are UTC: those of starts.")
    until: date | None = Field(None, description="The last day, as YYYY-MM-DD.")
    days: int | None = Field(None, ge=1, le=3_660, description="How many days to show, including today.")
    by: list[Group] = Field(default_factory=list, max_length=8, description="What the rows are for, in this order.")


class Budget(TypedDict):
    project_id: str
    name: str
    budget_per_day: float | None
    spent_today: float
    tokens_per_day: int | None
    tokens_today: int
    used_up: bool
    day_ends_at: str


class AgentBudget(TypedDict):
    """Of a day, in all of the agent's projects."""

    agent_id: str
    name: str
    budget_per_day: float | None
    spent_today: float
    tokens_per_day: int | None
    tokens_today: int
    used_up: bool
    day_ends_at: str


class TaskBudget(TypedDict):
    """Of an open task and everything below it, in all."""

    task_id: str
    title: str
    budget_usd: float | None
    spent_usd: float
    budget_tokens: int | None
    spent_tokens: int
    used_up: bool


class UsageResult(Result):
    since: str | None
    until: str | None
    by: list[str]
    totals: Sums
    rows: list[Row]
    budgets: list[Budget]
    agent_budgets: list[AgentBudget]
    task_budgets: list[TaskBudget]


@operation(
    "show_usage",
    grant=Grant.PERSON,
    parameters=ShowUsage,
    route=Route("GET", "/usage"),
    tool=False,
    reads=True,
)
def show_usage(call: Call, wanted: ShowUsage) -> UsageResult:
    """What agents have used: tokens, and money where prices are known, in all and by what you name; and the budgets of
    today, and of open tasks. `cost_usd` is null where nothing has a price; `without_price` counts launches that have
    none, `lower_bounds` those that ended before they said how much it was in all."""
    since, until = _days(call, wanted)
    projects = _projects(call, wanted)
    meant = Wanted(
        projects=[project.id for project in projects],
        tasks=_tasks(call, wanted),
        agent_id=call.known_agent(wanted.agent_id).id if wanted.agent_id is not None else None,
        since_day=usages.number_of(since) if since is not None else None,
        until_day=usages.number_of(until) if until is not None else None,
    )
    by = tuple(dict.fromkeys(wanted.by))
    return {
        "success": True,
        "since": since.isoformat() if since is not None else None,
        "until": until.isoformat() if until is not None else None,
        "by": list(by),
        "totals": _in_all(call, meant),
        "rows": _rows(call, by, meant) if by else [],
        "budgets": _budgets(call, projects),
        "agent_budgets": _of_agents(call, projects, wanted),
        "task_budgets": _of_tasks(call, projects, meant.tasks),
    }


def _days(call: Call, wanted: ShowUsage) -> tuple[date | None, date | None]:
    if wanted.days is not None:
        if wanted.since is not None or wanted.until is not None:
            raise _refusal("days cannot be combined with since or until.", "Pass either days, or since and until.")
        today = usages.day_of(call.now)
        return usages.date_of(today - wanted.days + 1), usages.date_of(today)
    if wanted.since is not None and wanted.until is not None and wanted.since > wanted.until:
        said = say("since ({since}) is after until ({until}).", since=wanted.since, until=wanted.until)
        raise _refusal(said, "Pass the first day as since and the last day as until.")
    return wanted.since, wanted.until


def _projects(call: Call, wanted: ShowUsage) -> list[Project]:
    """The one that is named; else all that the caller sees."""
    if wanted.project_id is not None:
        return [call.project(wanted.project_id)]
    return [each for each in call.tx.projects.all() if visibility.sees(call, each.id)]


def _tasks(call: Call, wanted: ShowUsage) -> list[str] | None:
    """The task that is named, and everything below it."""
    if wanted.task_id is None:
        return None
    task = call.task(wanted.task_id)
    if wanted.project_id not in (None, task.project_id):
        said = say(
            "Task {task_id} belongs to another project, {project_id}.", task_id=task.id, project_id=task.project_id
        )
        raise _refusal(said, "Omit project_id, or pass that one.")
    return [task.id, *(descendant.id for descendant in call.tx.tasks.tree(task.root_id).descendants(task))]


def _in_all(call: Call, meant: Wanted) -> Sums:
    [found] = call.tx.usages.sums((), meant, 1)
    return found


def _rows(call: Call, by: tuple[Group, ...], meant: Wanted) -> list[Row]:
    """In the order of `by`; what has no task or model comes last in it."""
    columns = tuple(_COLUMNS[each] for each in by)
    found = call.tx.usages.sums(columns, meant, MOST_ROWS + 1)
    if len(found) > MOST_ROWS:
        said = say("The answer would have more than {most} rows.", most=MOST_ROWS)
        raise _refusal(said, "Ask for fewer days, for one project, agent or task, or remove a part of by.")
    found.sort(
        key=lambda row: [(row[column] is None, "" if row[column] is None else row[column]) for column in columns]
    )
    return _with_titles(call, found) if "task" in by else found


def _with_titles(call: Call, rows: list[Row]) -> list[Row]:
    named = sorted({row["task_id"] for row in rows if row["task_id"] is not None})
    titles = {task.id: task.title for task in call.tx.tasks.find_all(named)}
    for row in rows:
        row["title"] = titles.get(row["task_id"] or "")
    return rows


def _budgets(call: Call, projects: Iterable[Project]) -> list[Budget]:
    here = [project for project in projects if project.status is not Status.ARCHIVED]
    spent = call.tx.usages.spent([project.id for project in here], usages.day_of(call.now))
    return [
        _budget(project, spent.get(project.id, usages.Spent()), iso(usages.end_of_day(call.now))) for project in here
    ]


def _budget(project: Project, today: usages.Spent, ends: str) -> Budget:
    return {
        "project_id": project.id,
        "name": project.name,
        "budget_per_day": project.settings.budget_per_day,
        "spent_today": round(today.usd, 6),
        "tokens_per_day": project.settings.tokens_per_day,
        "tokens_today": today.tokens,
        "used_up": project.settings.used_up_budget(today) is not None,
        "day_ends_at": ends,
    }


def _of_agents(call: Call, projects: Iterable[Project], wanted: ShowUsage) -> list[AgentBudget]:
    """The agents of these projects that have one."""
    ids = {agent_id for project in projects for agent_id in call.tx.agents.members(project.id)}
    found: list[AgentBudget] = []
    for agent in call.tx.agents.find_all(sorted(ids)):
        budget = budgets.of_agent(agent.provider_options)
        if budget.limits and wanted.agent_id in (None, agent.id):
            today = call.tx.usages.spent_by_agent(agent.id, usages.day_of(call.now))
            found.append(
                {
                    "agent_id": agent.id,
                    "name": agent.name,
                    "budget_per_day": budget.usd,
                    "spent_today": round(today.usd, 6),
                    "tokens_per_day": budget.tokens,
                    "tokens_today": today.tokens,
                    "used_up": budget.used_up(today) is not None,
                    "day_ends_at": iso(usages.end_of_day(call.now)),
                }
            )
    return found


def _of_tasks(call: Call, projects: Iterable[Project], tasks: list[str] | None) -> list[TaskBudget]:
    """The open tasks of these projects that have one; `tasks`: of these only."""
    here = {project.id for project in projects}
    found: list[TaskBudget] = []
    for task in call.tx.tasks.budgeted():
        if task.project_id in here and (tasks is None or task.id in tasks):
            spent = spent_for(call.tx, call.tx.tasks.tree(task.root_id), task)
            found.append(
                {
                    "task_id": task.id,
                    "title": task.title,
                    "budget_usd": task.budget_usd,
                    "spent_usd": round(spent.usd, 6),
                    "budget_tokens": task.budget_tokens,
                    "spent_tokens": spent.tokens,
                    "used_up": budgets.of_task(task).used_up(spent) is not None,
                }
            )
    return found


def _refusal(said: str, instruction: str) -> Refusal:
    return Refusal(Code.VALIDATION_ERROR, said, instruction)
