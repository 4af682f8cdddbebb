"""The playbooks and scripts of a toryo.yaml's agents: read with the lines of the file, and held against the team.

What a plan asks for and nobody could do is a mistake here, and not only when a task comes to it: an assignee or a
capability that nobody below the manager has, commands in a project whose managers may write none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toryo.cli.manifest import Agent, Manifest
from toryo.domain.projects import Settings
from toryo.formats import yaml_documents
from toryo.formats.plan_options import FORMATS

_VARIABLE = "{{"

Found = Mapping[str, Any]


def _no_members(_: str) -> set[str]:
    return set()


def _no_settings(_: str) -> Found:
    return {}


@dataclass(frozen=True)
class Team:
    """Who there is, and what projects allow: as the file says, else as the server does (`agents` by id; `members`,
    `settings` of the project that a name means)."""

    manifest: Manifest
    agents: Mapping[str, Found] = field(default_factory=dict)
    members: Callable[[str], set[str]] = _no_members
    settings: Callable[[str], Found] = _no_settings

    def ids(self) -> list[str]:
        return list(dict.fromkeys([*(agent.id for agent in self.manifest.agents), *self.agents]))

    def below(self, agent_id: str) -> list[str]:
        return [each for each in self.ids() if agent_id in self._above(each)]

    def inside(self, project: str) -> set[str]:
        """The agents of a project."""
        own = self.manifest.project_of(project)
        named = {name for name in (project, own and own.id, own and own.name) if name}
        return self.members(project) | {agent.id for agent in self.manifest.agents if named & set(agent.projects)}

    def able(self, agent_id: str) -> Iterable[str]:
        """What an agent is good at."""
        found: Iterable[str] = self._said(agent_id, "capabilities") or ()
        return found

    def setting(self, project: str, name: str) -> Any:
        """None for a project of which nothing is known."""
        own, known = self.manifest.project_of(project), self.settings(project)
        if own is None and not known:
            return None
        return {**Settings().values(), **known, **(own.settings if own is not None else {})}[name]

    def _above(self, agent_id: str) -> Iterator[str]:
        seen: set[str] = set()
        above = self._said(agent_id, "reports_to")
        while above is not None and above not in seen:
            seen.add(above)
            yield above
            above = self._said(above, "reports_to")

    def _said(self, agent_id: str, key: str) -> Any:
        own = next((agent.said() for agent in self.manifest.agents if agent.id == agent_id), {})
        return own[key] if key in own else self.agents.get(agent_id, {}).get(key)


def check(team: Team, *, beside: Path | None = None) -> dict[str, dict[str, Any]]:
    """The playbooks of the file's agents, by agent; what is wrong with any plan is noted in the file's manifest.

    `beside`: where files of plans are looked for if the agent's project has no directory on this machine; None: they
    are not, for the Coordinator that starts the agent has them, and is on another machine.
    """
    found = {}
    for agent in team.manifest.agents:
        given = agent.provider_options.get(agent.provider or "")
        if agent.provider not in FORMATS or (given is None and beside is None):
            continue
        directory = _directory(team.manifest, agent) or beside
        if directory is None and FORMATS[agent.provider].is_path(given):
            continue
        at: yaml_documents.Path = (*agent.where, "provider_options", agent.provider)
        try:
            document = team.manifest.option(given, agent.provider, FORMATS[agent.provider].is_path, directory, at)
            plan = FORMATS[agent.provider].parse(document)
            if agent.provider == "playbook":
                found[agent.id] = plan
                _check_playbook(team, agent, plan, document, at)
            document.fail_if_mistaken()
        except yaml_documents.Mistakes as mistakes:
            team.manifest.take_over(mistakes, f"agent {agent.id}", at)
    return found


def _directory(manifest: Manifest, agent: Agent) -> Path | None:
    named = (manifest.project_of(project) for project in agent.projects)
    return next((project.directory for project in named if project is not None and project.directory.is_dir()), None)


def _check_playbook(
    team: Team, agent: Agent, playbook: Mapping[str, Any], document: yaml_documents.Document, at: yaml_documents.Path
) -> None:
    """A worker does its steps itself; a manager gives them to those below it, in the projects it is in."""
    if agent.role != "manager":
        return
    complete = bool(agent.projects) and not team.manifest.left_out("agents")
    below = team.below(agent.id)
    workers = [each for each in below if any(each in team.inside(project) for project in agent.projects)]
    if not workers and complete:
        fix = f"give workers reports_to: {agent.id} and projects: [{agent.projects[0]}]"
        found = f"no one in project {agent.projects[0]} reports to it, so no one can do its subtasks"
        team.manifest.note(at, f"agent {agent.id}: {found}; {fix}")
    closed = next((each for each in agent.projects if team.setting(each, "commands_from") == "people"), None)
    for where, subtask in _subtasks(playbook):
        problems = [*_misplaced_commands(subtask, closed)]
        if complete:
            problems += _problems(team, agent.id, subtask, workers)
        for key, problem in problems:
            at_key = (*where, *key)
            document.mistake(at_key, f"{yaml_documents.place(at_key)}{problem}")


def _problems(
    team: Team, manager: str, subtask: Mapping[str, Any], workers: list[str]
) -> Iterator[tuple[yaml_documents.Path, str]]:
    """The assignee, and why it cannot do it."""
    assignee, capability = subtask["assignee"], subtask["capability"]
    if assignee is not None and _VARIABLE not in assignee and assignee not in workers:
        if assignee not in team.ids():
            yield (
                ("assignee",),
                f"there is no agent {assignee!r}; {yaml_documents.hint(assignee, workers or team.ids())}",
            )
        elif workers:
            fix = f"give it reports_to: {manager} and the same project, or choose one of: {', '.join(workers)}"
            yield ("assignee",), f"{manager} cannot assign tasks to {assignee}; {fix}"
    known = list(dict.fromkeys(each for one in workers for each in team.able(one)))
    if capability is not None and _VARIABLE not in capability and workers and capability not in known:
        hint = yaml_documents.hint(capability, known) if known else f"add it to the capabilities of {workers[0]}"
        yield ("capability",), f"no worker of {manager} has the capability {capability!r}; {hint}"


def _subtasks(playbook: Mapping[str, Any]) -> Iterator[tuple[yaml_documents.Path, Mapping[str, Any]]]:
    for number, plan in enumerate(playbook["tasks"]):
        for place, subtask in enumerate(plan["subtasks"]):
            yield ("tasks", number, "subtasks", place), subtask


def _misplaced_commands(subtask: Mapping[str, Any], closed: str | None) -> Iterator[tuple[yaml_documents.Path, str]]:
    """`closed`: a project of the manager that takes no commands from managers."""
    if subtask["run"] is not None:
        fix = "set the command as context: {command: …}"
        yield ("run",), f"run is only for the playbook of a worker, because a manager runs no commands itself; {fix}"
    places: list[yaml_documents.Path] = [("context", "command")] if "command" in subtask["context"] else []
    places += [
        ("acceptance", number, "command") for number, each in enumerate(subtask["acceptance"]) if "command" in each
    ]
    fix = "set commands_from: managers in its settings, or describe the work in words"
    for place in places if closed else ():
        yield place, f"project {closed} does not accept commands from managers; {fix}"
