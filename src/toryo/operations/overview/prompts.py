"""Prompts for models, made from current data, in the project's language. Changes nothing.

Each operation here is an MCP prompt of the same name, and its parameters are the prompt's arguments. The first prompt
of an agent is in `toryo/first_prompt.py`, which the Coordinator uses too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import Field

from toryo.block_reasons import in_words
from toryo.deeds import TO_SAY, Blank, deed
from toryo.domain.agents import Agent, Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Note
from toryo.domain.projects import Language, Project
from toryo.domain.tasks import Status, Task
from toryo.domain.texts import marked, quoted
from toryo.first_prompt import first_words
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.translation_catalogues import in_language

Thing = TypeVar("Thing")

PROMPTS = ("agent_start", "task_breakdown", "status_report", "handoff")
"""In the order in which they are listed."""
_MOST = 15
"""Lines of one list in a report."""
_LONGEST = 300
"""Characters of one line."""
TEXTS: dict[str, str] = {
    "task_breakdown": """\
Break this task down into subtasks.

{task}

Who can do the work:
{people}

Make 2 to 5 subtasks (one if it is simple). Each is something that one of them can finish in one go. For each say:
a title; a description of what must exist at the end and how to see that it is done; a priority; who does it; which of
the other subtasks must be completed first. What can be done side by side depends on nothing.
{existing}
{do}
""",
    "task_breakdown.session": """\
Create them with ONE call of create_tasks_batch(parent_task_id="{task_id}", tasks=[…]): its dependencies may name the
local_id of other subtasks in the same call. Then call get_next_action.""",
    "task_breakdown.person": """\
Show the list first. When it is agreed, file each: {deed}""",
    "task_breakdown.existing": "There are subtasks already; add what is missing, repeat nothing:\n{subtasks}\n",
    "status_report": """\
Write a status report about the project {name} for people who have two minutes.

How it stands ({status}; tasks: {counts}):

In progress
{in_progress}

Blocked or failed
{stuck}

Completed last
{completed}

Next
{ready}

Say in this order: what was achieved; what is in progress and who does it; what is stuck, why, and who must act; what is
next. At most 200 words. Name tasks by their titles, and say nothing that does not follow from the above or from what
you look up (list_tasks, get_task).
""",
    "handoff": """\
Hand the following task over{to}.

{task}

Notes so far:
{notes}

Write for somebody who knows nothing of it: a summary (what was done, what is true now, where the files are), the
context they need, and what you would do next and avoid.
{do}
""",
    "handoff.session": """\
Then call create_handoff(task_id="{task_id}"{to_argument}, summary=…, context=…, recommendations=…). It informs; the
assignee stays the same.""",
    "handoff.person": "Then put it where the next one reads it: {deed}",
    "to": " to {agent_id}",
    "task": "Task {task_id}: {title}\nStatus: {status}; priority: {priority}; assignee: {assignee}\n{description}",
    "nobody": "nobody",
    "none": "- none",
}


class Prompted(Result):
    description: str
    text: str


def prompt(key: str, language: Language, **facts: Any) -> str:
    """The words of a key in a language, its facts filled in."""
    return in_language(TEXTS[key], language, **facts)


def _prompted(description: str, text: str) -> Prompted:
    return {"success": True, "description": description, "text": text}


# --- at the start ----------------------------------------------------------------------------------------------------


class AgentStart(Parameters):
    agent_id: Id | None = Field(None, description="The agent; default: the one this connection belongs to.")
    project_id: Id | None = Field(None, description="Its project, for the language; default: the connection's.")


@operation("agent_start", grant=Grant.OPEN, parameters=AgentStart, tool=False, context=True, reads=True)
def agent_start(call: Call, wanted: AgentStart) -> Prompted:
    """What a spawned agent is told: sign in, then follow get_next_action until it says exit."""
    started = call.caller.launch is not None
    own = call.agent.id if started else None
    agent_id = own or wanted.agent_id
    if agent_id is None:
        raise Refusal(Code.VALIDATION_ERROR, "Which agent starts?", "Pass it in agent_id.")
    if own is not None and wanted.agent_id not in (None, own):
        raise Refusal(Code.AGENT_NOT_FOUND, f"This connection belongs to {own}.", "Omit agent_id.")
    words = first_words(agent_id, _language_of(call, wanted.project_id).value, by_hand=not started)
    return _prompted(f"First prompt of {agent_id}", words)


def _language_of(call: Call, project_id: str | None) -> Language:
    """The project's language; English for callers who see no project."""
    wanted = project_id or call.caller.project_id
    known = call.caller.project_id is not None or call.caller.is_person
    return call.project(wanted).settings.language if wanted is not None and known else Language.ENGLISH


# --- taking a task apart ---------------------------------------------------------------------------------------------


class TaskBreakdown(Parameters):
    task_id: Id | None = Field(None, description="The task; default: your main task.")


@operation(
    "task_breakdown",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=TaskBreakdown,
    tool=False,
    context=True,
    reads=True,
)
def task_breakdown(call: Call, wanted: TaskBreakdown) -> Prompted:
    """Break a task down into subtasks for those who can do them."""
    task = _task(call, wanted.task_id)
    project = call.project(task.project_id)
    language, tree = project.settings.language, call.tx.tasks.tree(task.root_id)
    subtasks = _lines(tree.children(task), _named, language)
    how = "task_breakdown.session" if call.has_session else "task_breakdown.person"
    text = prompt(
        "task_breakdown",
        language,
        task=_described(call, task, language),
        people=_lines(_people(call, project), _able, language),
        existing=prompt("task_breakdown.existing", language, subtasks=subtasks) if tree.children(task) else "",
        do=prompt(
            how,
            language,
            task_id=task.id,
            deed=deed(
                "create",
                title=Blank("TITLE"),
                project_id=project.id,
                parent_task_id=task.id,
                description=TO_SAY,
                assignee_id=TO_SAY,
                dependencies=[Blank("ID")],
            ),
        ),
    )
    return _prompted(f"Break down: {task.title}", text)


def _people(call: Call, project: Project) -> list[Agent]:
    """The agents that the caller may assign subtasks to: a worker itself, a manager those below, a person all."""
    if call.caller.is_person:
        found = list(call.tx.agents.all())
    else:
        found = call.tx.agents.below(call.agent.id) if call.agent.role is Role.MANAGER else [call.agent]
    members = call.tx.agents.members_among(project.id, [each.id for each in found])
    return [each for each in found if each.id in members and each.active]


def _able(agent: Agent) -> str:
    able = f": {', '.join(agent.capabilities)}" if agent.capabilities else ""
    return f"{agent.id} ({agent.role.value}){able}"


# --- reporting -------------------------------------------------------------------------------------------------------


class StatusReport(Parameters):
    project_id: Id | None = Field(None, description="The project; default: yours.")


@operation(
    "status_report",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=StatusReport,
    tool=False,
    context=True,
    reads=True,
)
def status_report(call: Call, wanted: StatusReport) -> Prompted:
    """Report to people how a project stands."""
    project = call.project(_project_id(call, wanted.project_id))
    language, lists = project.settings.language, call.tx.task_lists
    tasks, closed = lists.current(project.id), lists.closed_counts(project.id)
    text = prompt(
        "status_report",
        language,
        name=project.name,
        status=project.status.value,
        counts=", ".join(f"{status.value} {count}" for status, count in _counts(tasks, closed).items()) or "0",
        in_progress=_lines(_of(tasks, Status.IN_PROGRESS), _assigned, language),
        stuck=_lines(
            [*_of(tasks, Status.BLOCKED), *lists.closed(project.id, Status.FAILED, _MOST)], _hindered, language
        ),
        completed=_completed(call, lists.closed(project.id, Status.COMPLETED, _MOST), language),
        ready=_lines(_of(tasks, Status.TODO), _assigned, language),
    )
    return _prompted(f"Status of {project.name}", text)


def _project_id(call: Call, given: str | None) -> str:
    wanted = given or call.caller.project_id
    if wanted is None:
        raise Refusal(Code.VALIDATION_ERROR, "Which project?", "Pass it in project_id.")
    return wanted


def _counts(tasks: list[Task], closed: Counter[Status]) -> dict[Status, int]:
    counts = closed + Counter(task.status for task in tasks)
    return {status: counts[status] for status in Status if counts[status]}


def _of(tasks: list[Task], *statuses: Status) -> list[Task]:
    return [task for task in tasks if task.status in statuses]


def _completed(call: Call, newest: list[Task], language: Language) -> str:
    details = call.tx.tasks.details_of([task.id for task in newest])
    return _lines(newest, lambda each: f"{each.title}: {details[each.id].summary or each.status.value}", language)


def _assigned(task: Task) -> str:
    return f"{task.title} ({task.assignee_id or task.agent_type or '-'})"


def _hindered(task: Task) -> str:
    return f"{_assigned(task)}: {task.status.value}, {in_words(task.blocked_reason or '-')}"


def _named(task: Task) -> str:
    return f"{task.id} {task.title} ({task.status.value})"


# --- handing over ----------------------------------------------------------------------------------------------------


class HandOver(Parameters):
    task_id: Id | None = Field(None, description="The task; default: your main task.")
    to_agent_id: Id | None = Field(None, description="The recipient; default: the next agent on it.")


@operation(
    "handoff",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=HandOver,
    tool=False,
    context=True,
    reads=True,
)
def handoff(call: Call, wanted: HandOver) -> Prompted:
    """Hand what you know about a task to another agent."""
    task = _task(call, wanted.task_id)
    to = call.known_agent(wanted.to_agent_id).id if wanted.to_agent_id else None
    language = call.project(task.project_id).settings.language
    how = "handoff.session" if call.has_session else "handoff.person"
    text = prompt(
        "handoff",
        language,
        to=prompt("to", language, agent_id=to) if to else "",
        task=_described(call, task, language),
        notes=_lines(call.tx.handovers.notes(task.id), _noted, language),
        do=prompt(
            how,
            language,
            task_id=task.id,
            to_argument=f', to_agent_id="{to}"' if to else "",
            deed=deed("edit", task_id=task.id, description=TO_SAY),
        ),
    )
    return _prompted(f"Hand over: {task.title}", text)


def _noted(note: Note) -> str:
    said = [each for each in (note.progress, note.findings, note.blockers, note.next_steps) if each]
    return f"{note.author_id}: {' / '.join(said)}"


# --- for all of them -------------------------------------------------------------------------------------------------


def _task(call: Call, given: str | None) -> Task:
    own = call.session.task_id if call.has_session else None
    wanted = given or own
    if wanted is None:
        raise Refusal(Code.VALIDATION_ERROR, "Which task?", "Pass it in task_id.")
    return call.task(wanted)


def _described(call: Call, task: Task, language: Language) -> str:
    return prompt(
        "task",
        language,
        task_id=task.id,
        title=quoted(task.title),
        status=task.status.value,
        priority=task.priority.value,
        assignee=task.assignee_id or task.agent_type or prompt("nobody", language),
        description=marked(call.tx.tasks.details(task.id).description),
    )


def _lines(things: Iterable[Thing], line: Callable[[Thing], str], language: Language) -> str:
    found = list(things)
    shown = [f"- {' '.join(line(each).split())[:_LONGEST]}" for each in found[:_MOST]]
    more = [f"- … (+{len(found) - _MOST})"] if len(found) > _MOST else []
    return "\n".join([*shown, *more]) or prompt("none", language)
