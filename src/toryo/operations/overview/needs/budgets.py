"""Budgets of projects, agents and tasks that are used up while work waits."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain import budgets, usages
from toryo.domain.needs import Kind, Need
from toryo.domain.projects import Project
from toryo.domain.tasks import Start, Task
from toryo.domain.texts import quoted
from toryo.domain.times import DAY, Millis, iso
from toryo.domain.wording import Worded, constant, say
from toryo.operations.overview.needs.view import View
from toryo.storage.snapshots import spent_for, used_up_by_agent


def of_projects(view: View) -> Iterator[Need]:
    """Projects whose budget of today is used up while work is waiting."""
    call, today = view.call, usages.day_of(view.now)
    mine = (each for each in call.tx.projects.all() if each.id in view.projects)
    limited = [each for each in mine if each.active and each.settings.has_budget]
    if not limited:
        return
    spent = call.tx.usages.spent([each.id for each in limited], today)
    # Projects with tasks in progress, or with a ready queue task for an agent that Toryo starts.
    tx = view.call.tx
    ready = {(project_id, queue) for project_id, queue, _ in tx.queues.ready_types(view.now)}
    served = {project_id for project_id, queue, _ in tx.agents.serving() if (project_id, queue) in ready}
    started: dict[str, Millis] = {}
    for (_, project_id), (since, _) in tx.tasks.at_work().items():
        started[project_id] = min(since, started.get(project_id, since))
    waiting = served | started.keys()
    for project in limited:
        settings, used = project.settings, spent.get(project.id, usages.Spent())
        used_up = settings.used_up_budget(used) if project.id in waiting else None
        if used_up is not None:
            spent_of = (
                say("${cost:,.2f} of ${budget:,.2f}", cost=used.usd, budget=settings.budget_per_day)
                if used_up == "budget_per_day"
                else say("{tokens:,} of {budget:,} tokens", tokens=used.tokens, budget=settings.tokens_per_day)
            )
            yield from _used_up(view, project, used_up, spent_of, started.get(project.id, 0))


def _used_up(view: View, project: Project, name: str, spent: Worded, waiting_since: Millis) -> Iterator[Need]:
    """Of the setting `name`. Since both hold: the budget is used up (one of nothing is, from midnight on), and work
    waits.
    """
    today = usages.day_of(view.now)
    used_up = view.call.tx.usages.used_up_at(project.id, today) or today * DAY
    for person_id in view.judges(None, project.id):
        yield Need(
            person_id=person_id,
            kind=Kind.BUDGET_USED_UP,
            about=f"{project.id} {usages.date_of(today)}",
            title=say("Today's budget of {project} is used up: {spent}", project=project.name, spent=spent),
            text=say(
                "No task of this project is worked on until {time}, or until the budget is raised.",
                time=iso(usages.end_of_day(view.now)),
            ),
            since=max(used_up, waiting_since),
            actions=(
                deed("raise", project_id=project.id, settings={name: TO_SAY}),
                deed("usage", project_id=project.id, days=1, by=("agent", "task")),
            ),
            project_id=project.id,
        )


def of_agents(view: View) -> Iterator[Need]:
    """Agents whose own budget of today is used up while a task of theirs is in progress."""
    limited = [each for each in view.agents.values() if each.active and budgets.of_agent(each.provider_options).limits]
    if not limited:
        return
    since: dict[str, Millis] = {}
    for (agent_id, project_id), (at, _) in view.call.tx.tasks.at_work().items():
        if project_id in view.projects:
            since[agent_id] = min(at, since.get(agent_id, at))
    for agent in (each for each in limited if each.id in since):
        name = used_up_by_agent(view.call.tx, agent, view.now)
        if name is None:
            continue
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.BUDGET_USED_UP,
                about=f"{agent.id} {usages.date_of(usages.day_of(view.now))}",
                title=say("Today's budget of {agent} is used up", agent=agent.name),
                text=say(
                    "This agent works on no task until {time}, or until the budget is raised.",
                    time=iso(usages.end_of_day(view.now)),
                ),
                since=max(since[agent.id], usages.day_of(view.now) * DAY),
                actions=(
                    deed("raise_agent", agent_id=agent.id, provider_options={name: TO_SAY}),
                    deed("usage", days=1, by=("agent", "task")),
                ),
                agent_id=agent.id,
            )


def _waits(task: Task, of_project: Start) -> bool:
    """Whether it is an agent's turn: it has begun, or waits in line for no other task."""
    in_line = task.in_line(of_project) and not task.dependencies_left
    return task.assignee_id is not None and (task.in_progress or in_line)


def of_tasks(view: View) -> Iterator[Need]:
    """Tasks whose budget is used up while an agent has them, or a subtask, in progress, or only the budget keeps these
    in line."""
    tx = view.call.tx
    for task in tx.tasks.budgeted():
        project = tx.projects.find(task.project_id) if task.project_id in view.projects else None
        if project is None or not project.active:
            continue
        tree = tx.tasks.tree(task.root_id)
        waiting = [each for each in (task, *tree.descendants(task)) if _waits(each, project.settings.start)]
        name = budgets.of_task(task).used_up(spent_for(tx, tree, task)) if waiting else None
        if name is None:
            continue
        for person_id in view.judges(None, task.project_id):
            yield Need(
                person_id=person_id,
                kind=Kind.BUDGET_USED_UP,
                about=task.id,
                title=say("The budget of {title} is used up", title=quoted(task.title)),
                text=constant("No agent works on this task or its subtasks until the budget is raised."),
                since=max(each.moved_at for each in waiting),
                actions=(
                    deed("raise_task", task_id=task.id, **{f"budget_{name}": TO_SAY}),
                    deed("usage", task_id=task.id, by="agent"),
                ),
                task_id=task.id,
                project_id=task.project_id,
            )
