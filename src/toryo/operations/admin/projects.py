"""Managing projects: create, edit, pause, resume, archive. REST and CLI; not MCP tools."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NotRequired

from pydantic import Field

from toryo.deeds import LEFT_OUT
from toryo.domain import acceptance, coordinators, ids, projects
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.handover import INTERRUPT, PAUSED, Notification
from toryo.domain.launches import Purpose
from toryo.domain.projects import MergeQueue, Project, Settings
from toryo.domain.tasks import Start
from toryo.domain.wording import constant, say
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.fields import Id, Name, Text
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.optimistic_concurrency import refuse_stale
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.directory import wider_rights
from toryo.operations.launches import cooldowns
from toryo.operations.messaging import notifications
from toryo.operations.tasks import lines, questions
from toryo.operations.worktrees import merge_queue, refused_removals, worktree_locks


class ProjectResult(Result):
    project_id: str
    project: schemas.Project
    widened: NotRequired[list[str]]


class ProjectsResult(Page):
    projects: list[schemas.Project]


class CreateProject(Parameters):
    name: Name = Field(description="Its name.")
    working_directory: str = Field(
        min_length=1, max_length=4_000, description="Where its agents work: an absolute path."
    )
    description: Text = Field("", description="The description.")
    id: Id | None = Field(None, description="An id of your own choice.")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Project settings that differ from the defaults."
    )
    preview: bool = Field(False, description="Dry run: create nothing; return what widens rights.")


def _look(call: Call, wanted: CreateProject | EditProject) -> Callable[[], str | None] | None:
    """What is wrong with the directory; of one that may be on another machine nothing is known here. The file
    system may be slow, so it is looked at outside of the transaction."""
    here = [each for each in call.tx.coordinators.all() if not coordinators.is_gone(each.seen_at, call.now)]
    if wanted.working_directory is None or not here or not all(_is_ours(each.id) for each in here):
        return None
    return partial(_missing, Path(_directory(wanted.working_directory)))


def _is_ours(coordinator_id: str) -> bool:
    """Whether a Coordinator is on this machine, by the id that it gives itself (`coordinator/identity_lock.py`)."""
    return re.fullmatch(rf"{re.escape(socket.gethostname())}-[0-9a-f]{{6}}", coordinator_id) is not None


def _missing(directory: Path) -> str | None:
    """A service may not be shown the home directories: where nothing is seen, nothing is said."""
    try:
        if directory.is_dir():
            return None
        if directory.exists():
            return "file"
        above = next(each for each in directory.parents if each.is_dir())
        return "missing" if any(above.iterdir()) else None
    except OSError:
        return None


def _refuse_missing(call: Call, path: str | None) -> None:
    if call.prepared is not None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The working directory {path} does not exist.", path=path)
            if call.prepared == "missing"
            else say("The working directory {path} is not a directory.", path=path),
            "Create the directory on the machine where the Coordinator runs, or choose another one.",
        )


@operation(
    "create_project",
    grant=Grant.OWNER,
    parameters=CreateProject,
    route=Route("POST", "/projects", 201),
    tool=False,
    proof=Proof.WHERE_WIDER,
    beforehand=_look,
)
def create_project(call: Call, wanted: CreateProject) -> ProjectResult:
    """Create a project."""
    _refuse_missing(call, wanted.working_directory)
    call.tx.lock_everything()
    project_id = ids.chosen(wanted.id) if wanted.id else call.new_id(ids.PROJECT, wanted.name)
    if call.tx.projects.find(project_id) is not None:
        raise Refusal(
            Code.CONFLICT,
            say("Project {project_id} already exists.", project_id=project_id),
            "Choose another id, or edit the existing project.",
            existing_id=project_id,
        )
    project = Project(
        id=project_id,
        name=wanted.name.strip(),
        description=wanted.description,
        status=projects.Status.ACTIVE,
        working_directory=_directory(wanted.working_directory),
        settings=_settings(Settings(), wanted.settings),
        created_at=call.now,
        updated_at=call.now,
    )
    widened = projects.widened(Settings(), project.settings)
    if wanted.preview:
        return {**_project(project), **wider_rights.note(widened)}
    call.tx.projects.add(project)
    worktree_locks.made_without(call, project)
    call.event("project.created", project_id=project.id, data={"name": project.name, **wider_rights.note(widened)})
    return _project(project)


def _project(project: Project) -> ProjectResult:
    return {"success": True, "project_id": project.id, "project": rendering.project(project)}


def _directory(path: str) -> str:
    """Absolute, `~` expanded; whether it exists is the Coordinator's to see: it may be another machine's."""
    try:
        expanded = Path(path).expanduser()
    except RuntimeError:  # the home directory of somebody who does not exist here
        expanded = Path(path)
    if not expanded.is_absolute():
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The working directory {path!r} is not an absolute path.", path=path),
            "Give the full path, starting with / or ~.",
        )
    return os.path.normpath(expanded)  # without touching a file system that may not be this machine's


@operation(
    "list_projects",
    grant=Grant.PERSON,
    parameters=Paged,
    route=Route("GET", "/projects"),
    tool=False,
    reads=True,
)
def list_projects(call: Call, wanted: Paged) -> ProjectsResult:
    """The projects you may see."""
    visible = [each for each in call.tx.projects.all() if visibility.sees(call, each.id)]
    found, more = cut(visible, wanted, lambda each: each.id)
    answer: ProjectsResult = {"success": True, "projects": [rendering.project(each) for each in found]}
    return paged(answer, more)


class OneProject(Parameters):
    project_id: Id = Field(description="The project.")


@operation(
    "show_project",
    grant=Grant.PERSON,
    parameters=OneProject,
    route=Route("GET", "/projects/{project_id}"),
    tool=False,
    reads=True,
)
def show_project(call: Call, wanted: OneProject) -> ProjectResult:
    """One project, with its settings."""
    return _project(call.project(wanted.project_id))


class EditProject(OneProject):
    name: Name | None = Field(None, description="New name.")
    description: Text | None = Field(None, description="New description.")
    working_directory: str | None = Field(None, min_length=1, max_length=4_000, description="New directory.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings to change.")
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")
    preview: bool = Field(False, description="Dry run: change nothing; return the changes, and what widens rights.")


@operation(
    "edit_project",
    grant=Grant.OWNER,
    parameters=EditProject,
    route=Route("PATCH", "/projects/{project_id}"),
    tool=False,
    proof=Proof.WHERE_WIDER,
    beforehand=_look,
)
def edit_project(call: Call, wanted: EditProject) -> ProjectResult:
    """Change a project's name, description, directory or settings."""
    call.enter(wanted.project_id)
    _refuse_missing(call, wanted.working_directory)
    project = call.project(wanted.project_id)
    refuse_stale(wanted.version, project.version)
    changed = replace(
        project,
        name=wanted.name.strip() if wanted.name else project.name,
        description=project.description if wanted.description is None else wanted.description,
        working_directory=_directory(wanted.working_directory)
        if wanted.working_directory
        else project.working_directory,
        settings=_settings(project.settings, wanted.settings),
    )
    widened = projects.widened(project.settings, changed.settings)
    if wanted.preview:
        at_once = [*_merged_at_once(call, project, changed), *_started_at_once(call, project, changed)]
        return {**_project(changed), **wider_rights.note([*widened, *at_once])}
    return {**_save_project(call, project, changed, "project.edited", widened), **wider_rights.note(widened)}


def _merged_at_once(call: Call, before: Project, after: Project) -> list[str]:
    """What a merge queue that becomes automatic would find: also work that was left there on purpose."""
    turned_on = before.settings.merge_queue is not after.settings.merge_queue is MergeQueue.AUTOMATIC
    found = [task.id for task, _ in merge_queue.finished_work(call, before)] if turned_on else []
    if not found:
        return []
    named = ", ".join(found[:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
    return [
        say("completed work that is then merged at once: {count} tasks ({task_ids})", count=len(found), task_ids=named)
    ]


def _started_at_once(call: Call, before: Project, after: Project) -> list[str]:
    """What begins if tasks start when they are ready from now on: also what was left in todo on purpose."""
    if before.settings.start is after.settings.start or after.settings.start is not Start.WHEN_READY:
        return []
    found = lines.ready_without_a_word(call, before.id)
    if not found:
        return []
    named = ", ".join(found[:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
    return [
        say("tasks that are then started, one after the other: {count} ({task_ids})", count=len(found), task_ids=named)
    ]


_MOST_NAMED = 10


def _settings(before: Settings, given: dict[str, Any]) -> Settings:
    after = before.changed(given)
    if "required_checks" in given:
        for place, check in enumerate(after.required_checks, 1):
            acceptance.refuse_outside(check, place)
    return after


def _place(project: Project) -> tuple[object, ...]:
    """What decides on the place in which programs are started: a start that failed because of it is tried again."""
    settings = project.settings
    network = (settings.network, settings.network_hosts, settings.setup_network)
    return project.working_directory, settings.isolation, settings.tree_setup, network


def _save_project(
    call: Call, before: Project, after: Project, kind: str, widened: list[str] | None = None
) -> ProjectResult:
    if after == before:
        return _project(before)
    if _place(before) != _place(after):
        for agent_id in call.tx.agents.members(after.id):
            cooldowns.project_edited(call, agent_id)
    stored = replace(after, updated_at=call.now, version=before.version + 1)
    call.tx.projects.save(before, stored)
    call.event(kind, project_id=stored.id, data={"status": stored.status.value, **wider_rights.note(widened or [])})
    if _of_merge_queue(before) != _of_merge_queue(stored):
        merge_queue.advance(call, stored.id, even_off=True)
    if stored.active:
        lines.go_on_in(call, stored.id)
    call.tx.hint(WORK, f"project:{stored.id}", f"project-status:{stored.id}")
    return _project(stored)


def _of_merge_queue(project: Project) -> tuple[object, ...]:
    """What decides whether and how its merge queue goes on."""
    settings = project.settings
    return (project.status, settings.merge_queue, settings.merge_batch_size, settings.required_checks)


@operation(
    "pause_project",
    grant=Grant.WRITER,
    parameters=OneProject,
    route=Route("POST", "/projects/{project_id}/pause"),
    tool=False,
)
def pause_project(call: Call, wanted: OneProject) -> ProjectResult:
    """Pause a project: nobody is started for its tasks, who works on one is told to leave. Tasks stay as they are,
    chats go on."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.status is projects.Status.ARCHIVED:
        raise _illegal(project, "paused")
    if project.status is projects.Status.PAUSED:
        return _project(project)
    _interrupt_everybody(call, project)
    return _save_project(
        call, project, replace(project, status=projects.Status.PAUSED, paused_at=call.now), "project.paused"
    )


@operation(
    "resume_project",
    grant=Grant.WRITER,
    parameters=OneProject,
    route=Route("POST", "/projects/{project_id}/resume"),
    tool=False,
)
def resume_project(call: Call, wanted: OneProject) -> ProjectResult:
    """Let a paused (or archived) project go on; its agents are started again for what is in progress."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.active:
        return _project(project)
    for agent_id, _ in call.tx.sessions.signed_in(project.id):
        for session in call.tx.sessions.live_of(project.id, agent_id).values():
            call.tx.handovers.drop_interrupts(session.id, of_pause=True)
            if session.purpose is Purpose.TASK and session.task_id is not None:
                task = call.tx.tasks.find(session.task_id)
                assert task is not None
                told = "The project has resumed: continue with your task. Call get_next_action."
                notifications.notify(call, task, session.agent_id, session.id, "status_change", told)
    refused_removals.forget(call, project)
    resumed = replace(project, status=projects.Status.ACTIVE, paused_at=None)
    return _save_project(call, project, resumed, "project.resumed")


@operation(
    "archive_project",
    grant=Grant.OWNER,
    parameters=OneProject,
    route=Route("POST", "/projects/{project_id}/archive"),
    tool=False,
)
def archive_project(call: Call, wanted: OneProject) -> ProjectResult:
    """Archive a project: nothing starts in it, and everything stays readable."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.status is projects.Status.ARCHIVED:
        return _project(project)
    _interrupt_everybody(call, project)
    questions.withdraw_in(call, project.id, "project_archived")
    archived = replace(project, status=projects.Status.ARCHIVED, paused_at=project.paused_at or call.now)
    return _save_project(call, project, archived, "project.archived")


def _illegal(project: Project, wanted: str) -> Refusal:
    return Refusal(
        Code.INVALID_TRANSITION,
        say(
            "Project {project_id} is {status} and cannot be {wanted}.",
            project_id=project.id,
            status=project.status,
            wanted=constant(wanted),
        ),
        say("Resume the project first{deed:: …}.", deed=LEFT_OUT),
        current_status=project.status.value,
    )


def _interrupt_everybody(call: Call, project: Project) -> None:
    for agent_id, task_id in call.tx.sessions.signed_in(project.id):
        for purpose, session in call.tx.sessions.live_of(project.id, agent_id).items():
            if session.task_id != task_id:
                continue
            call.tx.handovers.notify(
                Notification(
                    id=call.new_id(ids.NOTIFICATION),
                    project_id=project.id,
                    agent_id=agent_id,
                    purpose=purpose,
                    session_id=session.id,
                    task_id=task_id,
                    kind=INTERRUPT,
                    message="The project was paused. Leave your work as it is, and call get_next_action.",
                    cause=PAUSED,
                    created_at=call.now,
                )
            )
