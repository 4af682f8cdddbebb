"""Carries out a manifest: makes or changes projects, agents, memberships and tasks until they are as it says.

Idempotent: what is already so is left alone, and nothing is ever removed. A task is known by its project, its place
(the task it is a part of, or none) and its title; of several, those that people filed come before those of agents.
All or nothing: what the file refers to is looked up first, then everything is sent in one request, which the server
carries out in one transaction. Whatever is refused is named with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from toryo import provider_options
from toryo.cli import exit_codes, manifest_plans, manifest_starts, projects, task_lookup, wider_rights
from toryo.cli import manifest as files
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Failure, Refused, ServerAway
from toryo.cli.manifest import Agent, Manifest, Project, Task, by_project
from toryo.cli.manifest_starts import Waiting
from toryo.domain.projects import Settings, widened
from toryo.formats import yaml_documents

OPEN = frozenset({"backlog", "todo", "in_progress", "blocked"})

Found = dict[str, Any]
"""A thing as the server shows it."""


@dataclass(frozen=True)
class Change:
    """One change: `created`, `updated` or `joined`, what, and for an agent without a program its passkey."""

    verb: str
    kind: str
    id: str
    detail: str = ""
    passkey: str | None = None
    changes: Sequence[str] = ()
    """`key: old → new`."""

    def told(self) -> list[str]:
        detail = f" ({self.detail})" if self.detail and not self.changes else ""
        passkey = f" passkey {self.passkey}" if self.passkey else ""
        return [f"{self.verb} {self.kind} {self.id}{detail}{passkey}", *(f"  {change}" for change in self.changes)]

    def document(self) -> dict[str, Any]:
        return {key: each for key, each in asdict(self).items() if each}


@dataclass(frozen=True)
class Known:
    """A task of the file, and the one on the server that it means, if there is one. The ids are those by which later
    changes mean it and its project."""

    task: Task
    found: Found | None
    task_id: str
    project_id: str


@dataclass(frozen=True)
class Applied:
    """What was done, and what the server has and the file does not, or no longer, say: that is left alone. `tasks`:
    those of the file, each with its project; `waiting`: what does not start by itself."""

    changes: list[Change]
    kept: list[str]
    tasks: dict[str, str]
    waiting: list[Waiting]


@dataclass(frozen=True)
class Prepared:
    """A file without mistakes, held against what the server has: nothing is changed yet.

    `wider`: the rights that agents would get beside those that they have, and new agents and projects beside those of
    which nothing is said.
    """

    here: Here
    manifest: Manifest
    wider: list[str]
    _plan: _Plan
    _there: _There

    @property
    def changes(self) -> list[Change]:
        """What would be done. What the server names has no id yet."""
        return self._plan.intended

    @property
    def kept(self) -> list[str]:
        return _kept(self.manifest, self._there)

    @property
    def tasks(self) -> list[Known]:
        return self._plan.tasks

    @property
    def waiting(self) -> list[Waiting]:
        """What does not start by itself."""
        team, people = self._there.team(self.manifest), self._there.people | _people(self.manifest)
        named = [(each.task, each.found) for each in self.tasks]
        return manifest_starts.waiting(named, lambda project: str(team.setting(project, "start")), people)

    def project_id(self, name: str) -> str | None:
        """The id on the server of a project that the file names; None: it is still to be created."""
        found = self._there.project(self.manifest, name)
        return None if found is None else str(found["project_id"])

    def carry_out(self) -> Applied:
        """All of it, or nothing."""
        answers = _carried_out(self.here, self.manifest, self._plan)

        def id_of(meant: str, kind: str) -> str:
            return str(answers[int(meant[1:])][kind]) if meant[0] == "@" else meant

        changes = [told(answer) for told, answer in zip(self._plan.tellers, answers, strict=True)]
        tasks = {id_of(each.task_id, "task_id"): id_of(each.project_id, "project_id") for each in self._plan.tasks}
        return Applied(changes, self.kept, tasks, self.waiting)


def apply(here: Here, manifest: Manifest, *, yes: bool = False) -> Applied:
    """Everything the manifest says, or nothing of it.

    Asks for confirmation before anything is changed if agents would get more rights than they have; new agents and
    projects, than those of which nothing is said.
    """
    ready = prepared(here, manifest, yes=yes)
    wider_rights.confirm(here, ready.wider, "This file")
    return ready.carry_out()


def prepared(here: Here, manifest: Manifest, *, yes: bool = False) -> Prepared:
    """Holds the manifest against the server. Raises Misuse for its mistakes. `yes`: `wider` is not asked for, and
    directories may be missing here."""
    there = _looked_up(here, manifest)
    for project in manifest.projects:
        known = there.projects.get(project.id or project.name)
        same = known is not None and known["working_directory"] == str(project.directory)
        wrong = None if yes or same else projects.directory_problem(here, project.directory)
        if wrong is not None:
            manifest.mistake(
                project, "directory", message=f"{wrong} (if the directory is on another machine, add --yes)"
            )
    _refuse_mistakes(manifest, there)
    wider = [] if yes else _widened(here, manifest, there)
    manifest.fail_if_mistaken()
    plan = _Plan()
    for project in manifest.projects:
        projects.warn_of_directory(here, project.id or project.name, project.directory, project.settings)
        _plan_project(plan, project, there)
    agents = files.agents_in_order(manifest.agents)
    for agent in agents:
        _plan_agent(plan, agent, there)
    for agent in agents:
        _plan_memberships(plan, agent, manifest, there)
    for tasks in by_project(manifest):
        _plan_tasks(plan, tasks, manifest, here, there)
    return Prepared(here, manifest, wider, plan, there)


def _looked_up(here: Here, manifest: Manifest) -> _There:
    """What the server has. Where it does not answer, the mistakes of the file itself are told at least."""
    from toryo.client import ProtocolError, RefusalError, Unreachable

    try:
        return _There.of(here, manifest)
    except (ProtocolError, RefusalError, Unreachable, Failure):
        manifest_plans.check(manifest_plans.Team(manifest))
        manifest.fail_if_mistaken()
        raise


# --- what is there already -------------------------------------------------------------------------------------------


@dataclass
class _There:
    """What the server has of what the file speaks of. Projects by id and by name, members and tasks by project id."""

    projects: dict[str, Found]
    agents: dict[str, Found]
    members: dict[str, set[str]]
    tasks: dict[str, dict[str, list[Found]]]

    @classmethod
    def of(cls, here: Here, manifest: Manifest) -> _There:
        found = here.get("/projects")["projects"]
        projects = {**{each["name"]: each for each in found}, **{each["project_id"]: each for each in found}}
        agents = {agent["agent_id"]: agent for agent in here.get("/agents")["agents"]}
        there = cls(projects, agents, {}, {})
        for project in filter(None, (there.project(manifest, each) for each in _joined(manifest))):
            members = here.get(f"/projects/{project['project_id']}/members")["agents"]
            there.members[project["project_id"]] = {member["agent_id"] for member in members}
        for project in filter(None, (there.project(manifest, each[0].project) for each in by_project(manifest))):
            tasks = there.tasks[project["project_id"]] = {}
            for task in here.every(f"/projects/{project['project_id']}/tasks", "tasks"):
                tasks.setdefault(task["title"], []).append(task)
        return there

    def project(self, manifest: Manifest, name: str) -> Found | None:
        """The one that a name in the file means: by the file's own entry, or by its id or name on the server."""
        own = manifest.project_of(name)
        return self.projects.get(name) if own is None else self.same(own)

    def same(self, project: Project) -> Found | None:
        key, wanted = ("project_id", project.id) if project.id else ("name", project.name)
        return next((each for each in self.projects.values() if each[key] == wanted), None)

    def team(self, manifest: Manifest) -> manifest_plans.Team:
        """The agents and projects of the file and the server together."""

        def members(name: str) -> set[str]:
            found = self.project(manifest, name)
            return self.members.get(found["project_id"], set()) if found is not None else set()

        def settings(name: str) -> Found:
            found = self.project(manifest, name)
            return found["settings"] if found is not None else {}

        return manifest_plans.Team(manifest, self.agents, members, settings)

    def known(self, manifest: Manifest, name: str) -> dict[str, list[Found]]:
        """The tasks of a project, by title."""
        project = self.project(manifest, name)
        return self.tasks.get(project["project_id"], {}) if project is not None else {}

    @property
    def people(self) -> set[str]:
        return {agent["agent_id"] for agent in self.agents.values() if agent["kind"] == "human"}

    def likely(self, tasks: Sequence[Found]) -> list[Found]:
        """Those that people filed, if there are any; else all."""
        people = self.people
        return [task for task in tasks if task["created_by"] in people] or list(tasks)

    def candidates(self, manifest: Manifest, tasks: Sequence[Task]) -> dict[str, list[Found]]:
        """By title, the tasks that may be meant: by an entry of the file those at its place, else those anywhere."""
        known = self.known(manifest, tasks[0].project)
        found = {title: self.likely(each) for title, each in known.items()}
        for task in files.tasks_in_order(tasks):
            parents = found.get(task.parent) if task.parent is not None else None
            if parents is None:
                place = task.parent  # none, or an id
            elif parents:
                place = _meant(parents)["task_id"]
            else:
                found[task.title] = []  # its parent is made now
                continue
            found[task.title] = self.likely(
                [each for each in known.get(task.title, []) if each["parent_task_id"] == place]
            )
        return found


def _people(manifest: Manifest) -> set[str]:
    return {agent.id for agent in manifest.agents if agent.kind == "human"}


def _joined(manifest: Manifest) -> dict[str, None]:
    return dict.fromkeys(name for agent in manifest.agents for name in agent.projects)


# --- what refers to nothing ------------------------------------------------------------------------------------------


def _refuse_mistakes(manifest: Manifest, there: _There) -> None:
    """All that is wrong with the file: what it names and nobody has, its plans, and what was noted before. Each with
    its line. Raises Misuse."""
    agents = [*there.agents, *(each.id for each in manifest.agents), *manifest.left_out("agents")]
    projects = [*there.projects, *(name for each in manifest.projects for name in (each.id, each.name) if name)]
    projects += manifest.left_out("projects")
    for agent in manifest.agents:
        if agent.reports_to is not None:
            _refuse_unknown(manifest, agent, "reports_to", agent.reports_to, agents, "agent")
        for name in agent.projects:
            _refuse_unknown(manifest, agent, "projects", name, projects, "project")
    for tasks in by_project(manifest):
        try:
            candidates = there.candidates(manifest, tasks)
        except files.Circle:
            candidates = there.known(manifest, tasks[0].project)  # the circle is noted as a mistake
        for task in tasks:
            _refuse_unknown(manifest, task, "project", task.project, projects, "project")
            if task.assignee is not None and not task_lookup.is_anyone(task.assignee):
                _refuse_unknown(manifest, task, "assignee", task.assignee, agents, "agent")
            _refuse_unknown_tasks(manifest, task, tasks, candidates)
    manifest_plans.check(there.team(manifest))
    manifest.fail_if_mistaken()


def _refuse_unknown_tasks(
    manifest: Manifest, task: Task, tasks: Sequence[Task], known: Mapping[str, list[Found]]
) -> None:
    own = [*(each.title for each in tasks), *manifest.left_out("tasks")]
    for key, titles in (("parent", [task.parent]), ("depends_on", task.depends_on)):
        for title in titles:
            if title is None or title in own or title.startswith("tsk_"):
                continue
            if len(_open(known.get(title, []))) > 1:
                _mistake_of_doubles(manifest, task, key, title, known)
            elif title not in known:
                _refuse_unknown(manifest, task, key, title, [*own, *known], "task")
    if len(_open(known.get(task.title, []))) > 1:
        _mistake_of_doubles(manifest, task, "title", task.title, known)


def _mistake_of_doubles(manifest: Manifest, task: Task, key: str, title: str, known: Mapping[str, list[Found]]) -> None:
    several = _open(known[title])
    words = f"several open tasks of this project on the server have the title {title!r}: {task_lookup.listed(several)}"
    rename = f"toryo task edit {several[-1]['task_id']} --title TITLE"
    manifest.mistake(task, key, message=f"{words}; rename one of them there, for example: {rename}")


def _refuse_unknown(
    manifest: Manifest, entry: Agent | Task, key: str, name: str, known: Iterable[str], what: str
) -> None:
    names = list(dict.fromkeys(known))
    if name not in names:
        hint = yaml_documents.hint(name, names) if names else "there are none yet."
        manifest.mistake(entry, key, message=f"there is no {what} {name!r}; {hint}")


def _open(tasks: Iterable[Found]) -> list[Found]:
    return [task for task in tasks if task["status"] in OPEN]


# --- what widens -----------------------------------------------------------------------------------------------------


def _widened(here: Here, manifest: Manifest, there: _There) -> list[str]:
    """What the file widens, each with its project or agent; a provider that looks misspelt is noted as a mistake. Only
    what decides about rights is looked at: what else it says may refer to things that it makes itself."""
    found: list[str] = []
    for agent in manifest.agents:
        said = {key: each for key, each in agent.said().items() if key in _DECIDE_RIGHTS}
        known = there.agents.get(agent.id)
        if known is None:
            method, path, body = "POST", "/agents", {"id": agent.id, "name": agent.name, **said}
        elif different := _different(said, known):
            method, path, body = "PATCH", f"/agents/{agent.id}", {**different, **_whole(different)}
        else:
            continue
        with _located(manifest, agent):
            wider, misspelt = wider_rights.preview(here, path, body, method)
        found += [f"{agent.id}: {each}" for each in wider]
        for each in misspelt:
            manifest.mistake(agent, "provider", message=f"agent {agent.id}: {each} ({wider_rights.LATER})")
    for project in (each for each in manifest.projects if each.settings):
        known = there.same(project)
        method, path, body = "POST", "/projects", _made(project)
        if known is not None:
            method, path, body = "PATCH", f"/projects/{known['project_id']}", {"settings": project.settings}
        with _located(manifest, project):
            wider, _ = wider_rights.preview(here, path, body, method)
        found += [
            f"{known['project_id'] if known is not None else project.id or project.name}: {each}" for each in wider
        ]
    return found


_DECIDE_RIGHTS = frozenset({"kind", "role", "provider", "model", "provider_options"})


# --- the plan
# -----------------------------------------------------------------------------------------------------------


@dataclass
class _Plan:
    """The changes as the server takes them, each with the entry of the file that asks for it and how it is told."""

    steps: list[tuple[dict[str, Any], Project | Agent | Task]] = field(default_factory=list)
    intended: list[Change] = field(default_factory=list)
    tellers: list[Callable[[Found], Change]] = field(default_factory=list)
    tasks: list[Known] = field(default_factory=list)
    """Those of the file."""
    projects: dict[yaml_documents.Path, str] = field(default_factory=dict)
    """What is made: by where it stands in the file, the id by which later changes mean it."""

    def project(self, manifest: Manifest, name: str, there: _There) -> str:
        """The id of the project that a name in the file means: one on the server, or one that is made."""
        found = there.project(manifest, name)
        if found is not None:
            return str(found["project_id"])
        own = manifest.project_of(name)
        assert own is not None  # else it was refused as a mistake
        return self.projects[own.where]

    def add(
        self,
        entry: Project | Agent | Task,
        operation: str,
        arguments: Mapping[str, Any],
        change: Change,
        told: Callable[[Found], dict[str, Any]] = lambda _: {},
    ) -> str:
        """The id by which later changes mean what this one makes. `told`: what only the answer says of the change."""
        self.steps.append(({"operation": operation, "arguments": dict(arguments)}, entry))
        self.intended.append(change)
        self.tellers.append(lambda answer: replace(change, **told(answer)))
        return f"@{len(self.steps) - 1}"


def _made(project: Project) -> Found:
    """As the server takes it."""
    return {**project.said("directory"), "working_directory": str(project.directory)}


def _plan_project(plan: _Plan, project: Project, there: _There) -> None:
    wanted = _made(project)
    found = there.same(project)
    if found is None:
        made = Change("created", "project", project.id or project.name)
        plan.projects[project.where] = plan.add(
            project, "create_project", wanted, made, lambda answer: {"id": answer["project_id"]}
        )
    else:
        _patch(plan, project, "project", found["project_id"], wanted, found)


def _plan_agent(plan: _Plan, agent: Agent, there: _There) -> None:
    wanted = agent.said("projects")
    if agent.id in there.agents:
        wanted = {key: each for key, each in wanted.items() if key not in ("id", "kind")}
        _patch(plan, agent, "agent", agent.id, wanted, there.agents[agent.id])
        return

    def told(answer: Found) -> dict[str, Any]:
        permissions = answer["agent"]["effective_options"].get("permissions")
        remark = f"permissions: {permissions}" if permissions else ""
        return {"detail": remark, "passkey": None if agent.provider else answer["passkey"]}

    body = {key: each for key, each in wanted.items() if each is not None}
    plan.add(agent, "create_agent", body, Change("created", "agent", agent.id), told)


def _plan_memberships(plan: _Plan, agent: Agent, manifest: Manifest, there: _There) -> None:
    for name in agent.projects:
        project = plan.project(manifest, name, there)
        if agent.id in there.members.get(project, ()):
            continue
        body = {"project_id": project, "agent_id": agent.id}
        joined = Change("joined", "project", name, agent.id)
        plan.add(agent, "add_member", body, joined, lambda answer: {"id": answer["project_id"]})


def _plan_tasks(plan: _Plan, tasks: Sequence[Task], manifest: Manifest, here: Here, there: _There) -> None:
    project = plan.project(manifest, tasks[0].project, there)
    known = there.candidates(manifest, tasks)
    ids = {title: _meant(each)["task_id"] for title, each in known.items() if each}
    for task in files.tasks_in_order(tasks):
        body = task.said("project", "assignee", "parent", "depends_on")
        body["assignee_id"] = task.assignee
        body["parent_task_id"] = ids.get(task.parent, task.parent) if task.parent else None
        body["dependencies"] = [ids.get(title, title) for title in task.depends_on] or None
        wanted = {key: each for key, each in body.items() if each is not None}
        if not known[task.title]:
            made = Change("created", "task", "", task.title)
            filed = {"project_id": project, **wanted}
            ids[task.title] = plan.add(task, "file_task", filed, made, lambda answer: {"id": answer["task_id"]})
            plan.tasks.append(Known(task, None, ids[task.title], project))
            continue
        one = _meant(known[task.title])
        if one["status"] in OPEN:
            # Where a task stands is the business of those who work on it; a file says only where it begins.
            fixed = ("status", "parent_task_id", "dependencies", "not_before")
            wanted = {key: each for key, each in wanted.items() if key not in fixed}
            # Only the task itself shows its context and its checks; the list is brief.
            one = here.get(f"/tasks/{one['task_id']}")["task"]
            if task.assignee is not None and task_lookup.is_for(one, task.assignee):
                del wanted["assignee_id"]
            _patch(plan, task, "task", one["task_id"], wanted, one)
        plan.tasks.append(Known(task, one, str(one["task_id"]), project))


def _meant(tasks: Sequence[Found]) -> Found:
    """Of several with one title the open one."""
    return next(iter(_open(tasks)), tasks[-1])


def _patch(
    plan: _Plan, entry: Project | Agent | Task, kind: str, id: str, wanted: Mapping[str, Any], found: Found
) -> None:
    """What differs, if anything does."""
    different = _different(wanted, found)
    if not different:
        return

    before = {key: _mentioned(key, value, found.get(key)) for key, value in different.items()}
    change = Change("updated", kind, id, ", ".join(different), changes=provider_options.changes(before, different))
    arguments = {f"{kind}_id": id, **different, **_whole(different)}
    plan.add(
        entry, f"edit_{kind}", {key: argument for key, argument in arguments.items() if argument is not None}, change
    )


def _different(wanted: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """What is not there yet as it is wanted. Options of a provider are all that the file says, and no others."""
    return {
        key: value
        for key, value in wanted.items()
        if key != "id" and not (value == found[key] if key in _WHOLE else _equal(value, found.get(key)))
    }


_WHOLE = ("provider_options",)


def _whole(different: Mapping[str, Any]) -> dict[str, Any]:
    return {"replace_options": True} if "provider_options" in different else {}


def _mentioned(key: str, wanted: Any, found: Any) -> Any:
    """Of a mapping only what the file names: the rest stays as it is."""
    if key in _WHOLE or not (isinstance(wanted, dict) and isinstance(found, dict)):
        return found
    return {name: each for name, each in found.items() if name in wanted}


def _equal(wanted: Any, found: Any) -> bool:
    """A mapping is as wanted if every key it names is: settings that the file does not mention keep their values."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(_equal(value, found.get(key)) for key, value in wanted.items())
    if isinstance(wanted, bool) and isinstance(found, str):
        wanted = "on" if wanted else "off"  # as YAML reads these words
    if wanted == "urgent":
        wanted = "critical"
    return bool(wanted == found)


# --- doing it --------------------------------------------------------------------------------------------------------


def _carried_out(here: Here, manifest: Manifest, plan: _Plan) -> list[Found]:
    """What the server has answered to each change."""
    from toryo.client import RefusalError, Unreachable

    if not plan.steps:
        return []
    try:
        answer = here.send("POST", "/changes", {"changes": [step for step, _ in plan.steps]})
    except RefusalError as refusal:
        number = refusal.data.get("change")
        if not isinstance(number, int):
            refusal.instruction = f"{refusal.instruction} {manifest.after}".rstrip()
            raise
        raise _refused(manifest, plan.steps[number][1], refusal) from None
    except Unreachable as away:
        if not away.sent:
            raise
        raise ServerAway(
            str(away),
            "The file may have been applied completely or not at all. Apply it again: what already exists is not "
            "changed.",
        ) from None
    for result, (_, entry) in zip(answer["results"], plan.steps, strict=True):
        wider_rights.warn(result, f"{manifest.place(entry)}: ")
    return list(answer["results"])


@contextmanager
def _located(manifest: Manifest, entry: Project | Agent | Task) -> Iterator[None]:
    """A refusal names the line of what it refuses."""
    from toryo.client import RefusalError

    try:
        yield
    except RefusalError as refusal:
        raise _refused(manifest, entry, refusal) from None


def _refused(manifest: Manifest, entry: Project | Agent | Task, refusal: Any) -> Refused:
    found = exit_codes.failure_of(refusal)
    assert found is not None
    return Refused(
        f"{manifest.place(entry)}: {found.what}", f"{found.instruction} {manifest.after}".strip(), found.details
    )


# --- what stays ------------------------------------------------------------------------------------------------------


def _kept(manifest: Manifest, there: _There) -> list[str]:
    """What the server has and the file does not say: perhaps it was taken out of the file, which changes nothing."""
    found = []
    defaults = Settings().values()
    for project in manifest.projects:
        known = there.same(project) or {"settings": {}}
        settings = Settings().changed(known["settings"])
        for name, value in known["settings"].items():
            if name not in project.settings and value != defaults.get(name):
                yes = " --yes" if widened(settings, settings.changed({name: defaults.get(name)})) else ""
                reset = f"toryo project edit {known['project_id']} --set {name}={_typed(defaults.get(name))}{yes}"
                words = f"project {known['project_id']}: {name} is {_typed(value)} on the server, but not in the file."
                found.append(f"{words} To reset it: {reset}")
    for agent in manifest.agents:
        stays = [each for each in _OF_AGENTS if there.agents.get(agent.id, {}).get(each) and each not in agent.said()]
        if stays:
            words = f"agent {agent.id}: {', '.join(stays)} are set on the server, but not in the file."
            found.append(f"{words} See: toryo agent show {agent.id}")
    return found


_OF_AGENTS = ("reports_to", "model", "system_prompt", "agent_type", "capabilities", "provider_options")


def _typed(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
