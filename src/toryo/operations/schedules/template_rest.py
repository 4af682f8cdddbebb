"""Templates of task trees: people save them, and create all of their tasks at once, with values for the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import Blank, deed
from toryo.domain import task_templates
from toryo.domain.conflict_forecast import patterns
from toryo.domain.errors import Code, Refusal
from toryo.domain.task_templates import TaskTemplate
from toryo.domain.tasks import Status
from toryo.domain.texts import one_line, quoted, several_lines
from toryo.domain.times import iso
from toryo.domain.wording import constant, say
from toryo.nearest import nearest
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, catalogue, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.validation import parameters_of
from toryo.operations.schedules import begun_tasks
from toryo.operations.tasks import assignees
from toryo.template_limits import LONGEST_VALUE, MOST_PARAMETERS, Name

if TYPE_CHECKING:
    from toryo.formats.task_templates import Template, TemplateTask

LONGEST_REASON = 2_000
"""Characters of what is wrong with a template."""


class TemplateParameter(TypedDict):
    name: str
    description: str
    default: str | None


class ShownTemplate(TypedDict):
    """`tasks`: titles of what it creates. A parameter without a default needs a value."""

    name: str
    project_id: str
    description: str
    parameters: list[TemplateParameter]
    tasks: list[str]
    changed_by: str
    changed_at: str


class TemplatesResult(Result):
    templates: list[ShownTemplate]


class OneTemplate(Result):
    """`definition` is what was saved."""

    template: ShownTemplate
    definition: dict[str, Any]


class DeletedTemplate(Result):
    name: str


class CreatedTasks(Result):
    """In the order of the template."""

    task_ids: list[str]


class OfProject(Parameters):
    project_id: Id = Field(description="The project.")


class OneOf(OfProject):
    name: Name = Field(description="The name of the template.")


class SaveTemplate(OneOf):
    definition: dict[str, Any] = Field(description="Its parameters and tasks, in the form of a template file.")


class UseTemplate(OneOf):
    values: dict[Name, Annotated[str, Field(max_length=LONGEST_VALUE)]] = Field(
        default_factory=dict, max_length=MOST_PARAMETERS, description="Values of its parameters, by name."
    )


@operation(
    "show_templates",
    grant=Grant.PERSON,
    parameters=OfProject,
    route=Route("GET", "/projects/{project_id}/templates"),
    tool=False,
    reads=True,
)
def show_templates(call: Call, wanted: OfProject) -> TemplatesResult:
    """The templates of a project, by name."""
    project = call.project(wanted.project_id)
    return {"success": True, "templates": [_as_answer(each) for each in call.tx.task_templates.of_project(project.id)]}


@operation(
    "show_template",
    grant=Grant.PERSON,
    parameters=OneOf,
    route=Route("GET", "/projects/{project_id}/templates/{name}"),
    tool=False,
    reads=True,
)
def show_template(call: Call, wanted: OneOf) -> OneTemplate:
    """One template, with all that it says."""
    return _one(_known(call, wanted))


@operation(
    "save_template",
    grant=Grant.WRITER,
    parameters=SaveTemplate,
    route=Route("PUT", "/projects/{project_id}/templates/{name}"),
    tool=False,
)
def save_template(call: Call, wanted: SaveTemplate) -> OneTemplate:
    """Save a template under its name, in place of one that is there. Nothing is created until somebody uses it."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    template = _checked(project.id, wanted.definition)
    before = call.tx.task_templates.find(project.id, wanted.name)
    if before is None and len(call.tx.task_templates.of_project(project.id)) >= task_templates.MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("A project can have {most} templates.", most=task_templates.MOST),
            say("Delete one that nobody uses{deed:: …|.}", deed=deed("delete_template", name=Blank("NAME"))),
        )
    content = template.model_dump(exclude_defaults=True)
    if before is not None and before.content == content:
        return _one(before)
    after = TaskTemplate(project.id, wanted.name, content, call.actor.id, call.now)
    call.tx.task_templates.put(after)
    call.event("template.saved", project_id=project.id, data={"name": after.name})
    return _one(after)


@operation(
    "use_template",
    grant=Grant.WRITER,
    parameters=UseTemplate,
    route=Route("POST", "/projects/{project_id}/templates/{name}/use", 201),
    tool=False,
)
def use_template(call: Call, wanted: UseTemplate) -> CreatedTasks:
    """Create the tasks of a template, all or none, with values for its parameters."""
    from toryo.formats import command_templates
    from toryo.formats.task_templates import fill

    call.enter(wanted.project_id)
    found = _known(call, wanted)
    template = _read(found)
    _refuse_values(found.name, template, wanted.values)
    try:
        tasks = fill(template, wanted.values)
    except command_templates.Unfit as unfit:
        raise Refusal(
            Code.VALIDATION_ERROR, say("A value does not fit: {why}", why=str(unfit)), "Use another value."
        ) from None
    ids: dict[str, str] = {}
    for before, task in zip(template.tasks, tasks, strict=True):
        parent = ids[before.parent] if before.parent is not None else None
        after = [ids[title] for title in before.depends_on]
        try:
            ids[before.title] = begun_tasks.create(call, found.project_id, _arguments(task, parent, after))
        except Refusal as refusal:
            raise _of_task(refusal, task["title"]) from None
    made = list(ids.values())
    call.event("template.used", project_id=found.project_id, data={"name": found.name, "tasks": len(made)})
    return {"success": True, "task_ids": made}


@operation(
    "delete_template",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("DELETE", "/projects/{project_id}/templates/{name}"),
    tool=False,
)
def delete_template(call: Call, wanted: OneOf) -> DeletedTemplate:
    """Delete a template. The tasks that it has created stay."""
    call.enter(wanted.project_id)
    found = _known(call, wanted)
    call.tx.task_templates.drop(found.project_id, found.name)
    call.event("template.deleted", project_id=found.project_id, data={"name": found.name})
    return {"success": True, "name": found.name}


def _read(stored: TaskTemplate) -> Template:
    from toryo.formats.task_templates import Template  # not before somebody uses templates: a server starts without it

    return Template.model_validate(stored.content)


def _known(call: Call, wanted: OneOf) -> TaskTemplate:
    project = call.project(wanted.project_id)
    found = call.tx.task_templates.find(project.id, wanted.name)
    if found is not None:
        return found
    names = [each.name for each in call.tx.task_templates.of_project(project.id)]
    near = nearest(wanted.name, names)
    raise Refusal(
        Code.TEMPLATE_NOT_FOUND,
        say("The project has no template {name}.", name=wanted.name),
        say("Did you mean {names}?", names=near) if near else say("{deed:List them: …}", deed=deed("list_templates")),
    )


def _checked(project_id: str, content: dict[str, Any]) -> Template:
    """Raises Refusal for what would be refused of every use, also by the rules for a task of people's own."""
    from toryo.formats import yaml_documents
    from toryo.formats.task_templates import Template

    try:
        template = yaml_documents.checked(yaml_documents.Document(content, "definition"), Template)
    except yaml_documents.Mistakes as mistakes:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The template is not valid. {why}", why=str(mistakes)[:LONGEST_REASON]),
            "Correct it, and save it again. The form: docs/how-to/templates.md",
        ) from None
    for task in template.tasks:
        given = _arguments(task.model_dump(), None, [])
        found = parameters_of(catalogue()["file_task"], {**given, "project_id": project_id})
        if isinstance(found, Refusal):
            raise _of_task(found, task.title)
        patterns(task.touches)
        try:
            assignees.refuse_both(task.assignee, task.queue)
            assignees.refuse_nobody(Status(task.status), task.assignee)
        except Refusal as refusal:
            raise _hopeless(task, refusal.message) from None
        _refuse_waiting_for_others(template, task)
    return template


def _refuse_waiting_for_others(template: Template, task: TemplateTask) -> None:
    """Raises Refusal for a task that could never be created or begin among the others."""
    parents = {each.title: each.parent for each in template.tasks}
    above = parents[task.title]
    while above is not None and above not in task.depends_on:
        above = parents[above]
    if task.status == "in_progress" and task.depends_on:
        raise _hopeless(task, constant("It cannot start in progress, because it depends on tasks that are new, too."))
    if above is not None:
        raise _hopeless(task, constant("It cannot depend on a task of which it is a part."))


def _hopeless(task: TemplateTask, why: str) -> Refusal:
    return _of_task(Refusal(Code.VALIDATION_ERROR, why, "Correct it, and save the template again."), task.title)


def _of_task(refusal: Refusal, title: str) -> Refusal:
    """The refusal, which says of which task."""
    told = say("{title}: {why}", title=quoted(title), why=refusal.message)
    return Refusal(refusal.code, told, refusal.instruction, **{**refusal.details, "title": title})


def _refuse_values(name: str, template: Template, values: dict[str, str]) -> None:
    unknown = next((each for each in values if each not in template.parameters), None)
    known = ", ".join(template.parameters)
    if unknown is not None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The template {name} has no parameter {parameter}.", name=name, parameter=unknown),
            say("Its parameters: {names}.", names=known) if known else "Omit it: the template has no parameters.",
        )
    lacking = [
        each for each, one in template.parameters.items() if one.default is None and not values.get(each, "").strip()
    ]
    if lacking:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The template {name} needs a value for {parameters}.", name=name, parameters=", ".join(lacking)),
            say("Pass it in values, on the command line with --set {parameter}=VALUE.", parameter=lacking[0]),
        )


_NAMES = {"assignee": "assignee_id", "queue": "agent_type", "parent": "parent_task_id", "depends_on": "dependencies"}
"""What a template file calls differently."""


def _arguments(task: dict[str, Any], parent: str | None, after: list[str]) -> dict[str, Any]:
    """What `file_task` takes."""
    return {_NAMES.get(name, name): value for name, value in {**task, "parent": parent, "depends_on": after}.items()}


def _as_answer(each: TaskTemplate) -> ShownTemplate:
    content = each.content  # was checked when it was saved
    return {
        "name": each.name,
        "project_id": each.project_id,
        "description": several_lines(content.get("description", "")),
        "parameters": [
            {"name": name, "description": one_line(one.get("description", "")), "default": one.get("default")}
            for name, one in content.get("parameters", {}).items()
        ],
        "tasks": [one_line(task["title"]) for task in content["tasks"]],
        "changed_by": each.changed_by,
        "changed_at": iso(each.changed_at),
    }


def _one(template: TaskTemplate) -> OneTemplate:
    return {"success": True, "template": _as_answer(template), "definition": template.content}
