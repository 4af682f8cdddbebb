"""The demo's team on this server: one call creates its projects, agents and tasks, another removes them.

Both run the operations that people use, in one transaction. The demo's projects are recognised by their directory:
`demo/` within the directory for agents (`data_directories.work_dir`). The files are created there on the server's
machine, where `toryo up` also runs its Coordinator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from toryo import data_directories, demo_team
from toryo.deeds import terminal
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Project, Status
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import NoParameters, Parameters, Proof, Route, catalogue, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import placement

DIRECTORY = "demo"
PUT_AWAY = "The demo was removed."


class Demo(Result):
    """`waits_for` says why nobody works on it yet, and what to type; null: somebody can. The directories are told to
    owners: of the demo's files, and the data directory that commands on this machine need (`--data-dir`)."""

    here: bool
    directory: str
    data_directory: str
    projects: list[str]
    waits_for: str | None


class StartDemo(Parameters):
    pause: float = Field(
        demo_team.PAUSE, ge=0, le=30, description="Seconds between two steps of an agent: so that people can watch."
    )


class DemoStarted(Demo):
    tasks: list[str]


class DemoRemoved(Result):
    projects: list[str]
    agents: list[str]


@operation("show_demo", grant=Grant.PERSON, route=Route("GET", "/demo"), tool=False, reads=True)
def show_demo(call: Call, _: NoParameters) -> Demo:
    """Whether the demo's team is on this server."""
    return _as_answer(call)


def _as_answer(call: Call) -> Demo:
    here = [
        project.id
        for project in _projects(call)
        if project.status is not Status.ARCHIVED and visibility.sees(call, project.id)
    ]
    owns = call.caller.login is Login.OWNER
    return {
        "success": True,
        "here": bool(here),
        "directory": str(_directory(call)) if owns else "",
        "data_directory": str(call.context.settings.directory()) if owns else "",
        "projects": here,
        "waits_for": _waits_for(call) if here else None,
    }


def _waits_for(call: Call) -> Worded | None:
    """What keeps the Coordinators that are here from starting one of the team; the first thing that does."""
    coordinators = call.tx.coordinators.all()
    for agent in _agents(call):
        obstacle = placement.obstacle(agent, agent.programs[0], coordinators, call.now) if agent.programs else None
        if obstacle is not None:
            unstarted = say("No Coordinator can start {agent_id}: {why}", agent_id=agent.id, why=obstacle.words)
            return together((unstarted, obstacle.remedy))
    return None


# --- starting --------------------------------------------------------------------------------------------------------


def _look(call: Call, _: StartDemo) -> Callable[[], bool | str]:
    """The files are laid out outside of the transaction, and not at all where the call will be refused."""
    _refuse_taken(call)
    return partial(_lay_out, _directory(call))


def _lay_out(directory: Path) -> bool | str:
    """Whether its tasks can have worktrees; what went wrong, in words."""
    try:
        return demo_team.lay_out(directory)
    except OSError as error:
        return f"{error.filename or directory}: {error.strerror}"


@operation(
    "start_demo",
    grant=Grant.OWNER,
    parameters=StartDemo,
    route=Route("POST", "/demo", 201),
    tool=False,
    proof=Proof.ALWAYS,  # it creates agents
    beforehand=_look,
)
def start_demo(call: Call, wanted: StartDemo) -> DemoStarted:
    """See a team at work here: makes the five projects of the demo with their agents and tasks; no model, no key."""
    call.tx.lock_everything()
    _refuse_taken(call)
    if not isinstance(call.prepared, bool):
        raise Refusal(
            Code.UNAVAILABLE,
            say(
                "The demo's files cannot be created: {why}.",
                why=call.prepared or constant("the demo was removed at the same time"),
            ),
            "Make sure that the server can write to its data directory, then try again.",
        )
    worktrees, call.prepared = call.prepared, None  # nothing is prepared for what is asked below
    team = demo_team.team(worktrees=worktrees)
    for each in team["projects"]:
        _make_project(call, each)
    for agent in team["agents"]:
        if call.tx.agents.find(agent["id"]) is not None:
            _ask(call, "activate_agent", agent_id=agent["id"])
        else:
            _ask(call, "create_agent", **agent)
    return {
        **_as_answer(call),
        "tasks": [each for job in demo_team.JOBS.values() for each in _begin(call, job, wanted.pause)],
    }


def _begin(call: Call, job: demo_team.Job, pause: float) -> list[str]:
    """What a person does at the beginning of a job: files its tasks, and writes to agents."""
    for agent, text in job.says.items():
        _ask(call, "send_chat_message", project_id=job.project, agent_id=agent, content=text)
    wanted = job.tasks(call.agent.id, pause)
    return [_ask(call, "file_task", project_id=job.project, **each)["task_id"] for each in wanted]


def _make_project(call: Call, said: dict[str, Any]) -> None:
    if call.tx.projects.find(said["id"]) is not None:  # put away before
        _ask(call, "resume_project", project_id=said["id"])
        return
    wanted = {name: value for name, value in said.items() if name != "directory"}
    _ask(call, "create_project", **wanted, working_directory=str(_directory(call) / said["directory"]))


def _refuse_taken(call: Call) -> None:
    """Raises Refusal if the demo exists already, or if its names belong to other projects or agents."""
    here = _as_answer(call)["projects"]
    if here:
        raise Refusal(
            Code.CONFLICT,
            "The demo is already on this server.",
            "Open its projects, or remove it first (Overview: Remove demo; DELETE /api/v1/demo).",
            projects=here,
        )
    foreign = [project.id for project in _called(call) if not _is_ours(call, project)]
    foreign += [agent.id for agent in _named(call) if not _is_of_demo(call, agent)]
    if foreign:
        raise Refusal(
            Code.CONFLICT,
            say("The demo needs ids that are already in use: {names}.", names=", ".join(foreign)),
            say("Run the demo on a separate server{demo:: …|.}", demo=terminal("demo --keep")),
            taken=foreign,
        )


# --- putting away ----------------------------------------------------------------------------------------------------


@operation("remove_demo", grant=Grant.OWNER, route=Route("DELETE", "/demo"), tool=False)
def remove_demo(call: Call, _: NoParameters) -> DemoRemoved:
    """Put the demo away: its open tasks are cancelled, its projects archived, its agents deactivated."""
    call.tx.lock_everything()
    projects = [each for each in _projects(call) if each.status is not Status.ARCHIVED]
    if not projects:
        raise Refusal(
            Code.PROJECT_NOT_FOUND,
            "The demo is not on this server.",
            "Nothing to remove. Start the demo on the Overview, or with POST /api/v1/demo.",
        )
    agents = [each for each in _agents(call) if each.active]
    for project in projects:
        for task in call.tx.task_lists.current(project.id):
            if task.parent_id is None and task.open:
                _ask(call, "move_task", task_id=task.id, status="cancelled", reason=PUT_AWAY)
        _ask(call, "archive_project", project_id=project.id)
    for agent in reversed(agents):
        _ask(call, "deactivate_agent", agent_id=agent.id)
    return {"success": True, "projects": [each.id for each in projects], "agents": [each.id for each in agents]}


# --- what is the demo's ----------------------------------------------------------------------------------------------


def _directory(call: Call) -> Path:
    return data_directories.work_dir(call.context.settings.directory()) / DIRECTORY


def _called(call: Call) -> list[Project]:
    """The projects that are called as one of the demo's."""
    found = (call.tx.projects.find(each) for each in demo_team.JOBS)
    return [project for project in found if project is not None]


def _is_ours(call: Call, project: Project) -> bool:
    return project.working_directory == str(_directory(call) / project.id)


def _projects(call: Call) -> list[Project]:
    return [project for project in _called(call) if _is_ours(call, project)]


def _named(call: Call) -> list[Agent]:
    """The agents that are called as one of the demo's, superiors first."""
    return sorted(call.tx.agents.find_all(demo_team.MEMBERS), key=lambda each: demo_team.MEMBERS.index(each.id))


def _is_of_demo(call: Call, agent: Agent) -> bool:
    """Whether it belongs to projects of the demo, and to no other."""
    belongs, ours = set(call.tx.agents.projects_of(agent.id)), {project.id for project in _projects(call)}
    return bool(belongs) and belongs <= ours


def _agents(call: Call) -> list[Agent]:
    return [agent for agent in _named(call) if _is_of_demo(call, agent)]


def _ask(call: Call, name: str, /, **arguments: Any) -> dict[str, Any]:
    """What the operation answers, as if the caller had asked for it; in this transaction."""
    asked = catalogue()[name]
    answered = asked.handler(call, asked.parameters(**arguments))
    assert isinstance(answered, dict)
    return answered
