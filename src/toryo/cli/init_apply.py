"""`toryo init` and `toryo apply`: a team as a file in a project, and applying it to the server."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from toryo import data_directories
from toryo.chosen_ids import MOST_REPLICAS
from toryo.cli import init_teams, manifest_file, output, terminal_questions, wider_rights
from toryo.cli.agent_programs import KNOWN
from toryo.cli.command_context import Here, command, flag, option
from toryo.cli.exit_codes import Misuse
from toryo.data_directory_trust import Untrusted
from toryo.nearest import nearest
from toryo.usual_slots import USUAL_SLOTS

if TYPE_CHECKING:
    from toryo.cli.agent_programs import Program

TEAM = init_teams.FILE
NONE = "none"
LOOK = "ls -l"
ELSEWHERE = "Nothing was written. Change into a directory for the project, or choose one with --dir."


def add(app: typer.Typer) -> None:
    command(app, "init", options=("json",))(init)
    command(app, "apply")(apply)


def init(
    here: Here,
    dir: Annotated[Path, option("DIR", "The directory of your project.")] = Path(),
    yes: Annotated[bool, flag("Ask nothing; take the defaults.", "--yes", "-y")] = False,
    provider: Annotated[
        list[str] | None,
        option(
            "NAME",
            f"The program that runs the agents: {', '.join(KNOWN)} (repeat for several), or none (default: all"
            " that are logged in).",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option(
            "N",
            "Create N equal workers and no first task, instead of a manager and two workers.",
            min=1,
            max=MOST_REPLICAS,
        ),
    ] = None,
    check: Annotated[
        list[str] | None, option("CMD", "A command that must succeed before a task is completed; repeatable.")
    ] = None,
    merge: Annotated[
        Literal["automatic", "manual"] | None,
        option("automatic|manual", "Merge finished work in a queue: all of it, or what you add (default: no queue)."),
    ] = None,
) -> None:
    """Create a toryo.yaml for this directory. It uses the agent programs that are installed; in a git repository, each
    task gets a worktree. Also creates a data directory outside of this one, and .toryo/, which refers to it; in a clone
    that has a toryo.yaml, only these."""
    from toryo.cli import agent_programs

    directory = dir.expanduser().resolve()
    if not directory.is_dir():
        raise Misuse(f"{directory} is not a directory.", "Create it, or choose another one with --dir.")
    team = directory / TEAM
    asked_for = provider or workers or check or merge
    if team.exists() and (asked_for or data_directories.project_directory(directory) == directory):
        raise Misuse(f"{team} already exists.", f"Edit it, then run: toryo apply {TEAM}")
    rules = _rules(directory, check or [], merge)
    ask = terminal_questions.possible(here) and not yes
    if sys.stderr.isatty() and not here.json:
        output.say("Looking for agent programs and their logins ...")
    found = agent_programs.model_programs(os.environ)
    wanted = _wanted(provider or [], found)
    doubt = _doubt(directory)
    if doubt and not (ask and terminal_questions.yes(f"{doubt} Continue?")):
        raise Misuse(doubt, ELSEWHERE)
    if team.exists():
        _keep(here, team)
        return
    if not here.json:
        _print_found(found)
    crew = _asked(directory, wanted, found, workers) if ask else _by_default(directory, wanted, found)
    plan = Plan(crew.name, crew.providers, crew.command, workers, rules)
    place = _data_directory(directory)
    team.write_text(plan.text(), encoding="utf-8")
    document = {
        "success": True,
        "file": str(team),
        "project_id": init_teams.id_from(plan.name),
        "data_dir": str(place),
        "providers": plan.crew or ["command"],
        "programs": [program.document() for program in found],
    }
    here.answer(document, lambda: _print_next(team, place, plan, found))


def _keep(here: Here, team: Path) -> None:
    """A clone has the file, but not the data directory that everyone has for themselves."""
    place = _data_directory(team.parent)
    document = {
        "success": True,
        "file": str(team),
        "project_id": None,
        "data_dir": str(place),
        "providers": [],
        "programs": [],
    }
    here.answer(document, lambda: output.done(f"{shlex.quote(str(team))} is unchanged", *_stored(place), *_next()))


def _doubt(directory: Path) -> str:
    """Why a project is hardly meant to be here; empty if it may be."""
    unusual = {Path("/"): "the root directory", Path.home().resolve(): "your home directory"}
    if directory in unusual:
        return f"{directory} is {unusual[directory]}, not the directory of a project."
    above = next((parent for parent in directory.parents if parent not in unusual and _is_project(parent)), None)
    return f"{directory} is inside another project, {above}." if above is not None else ""


def _is_project(directory: Path) -> bool:
    return (directory / TEAM).is_file() or data_directories.project_directory(directory) == directory


def apply(
    here: Here,
    file: manifest_file.File = Path(TEAM),
    values: manifest_file.Values = None,
    yes: wider_rights.YesOfAgents = False,
) -> None:
    """Create or update everything in a toryo.yaml. Projects, agents, memberships and tasks; if anything is wrong,
    nothing is changed. Nothing is removed, but an agent's provider_options are replaced. To see first what would be
    done: toryo plan."""
    from toryo.cli import manifest_apply, manifest_starts

    wanted = manifest_file.noted(file, values, "apply")
    applied = manifest_apply.apply(here, wanted, yes=yes)
    output.say(*(f"toryo: unchanged: {each}" for each in applied.kept))
    document = {
        "success": True,
        "changes": [change.document() for change in applied.changes],
        "kept": applied.kept,
        "waiting": [each.document() for each in applied.waiting],
    }
    told = [line for change in applied.changes for line in change.told()]
    here.answer(document, lambda: output.done(*(told or ["nothing to change"])))
    if not here.json:
        output.say(*manifest_starts.told(applied.waiting))


# --- who is to work --------------------------------------------------------------------------------------------------


class Crew(NamedTuple):
    """Who is to work. Without providers, agents that run commands; `command` is that of the first task."""

    name: str
    providers: Sequence[str]
    command: str = LOOK


@dataclass(frozen=True)
class Plan:
    """The file to write."""

    name: str
    providers: Sequence[str]
    command: str = LOOK
    workers: int | None = None
    """How many equal ones; None: the team with a manager, or one agent that runs commands."""
    rules: init_teams.Rules = field(default_factory=init_teams.Rules)

    @property
    def agents(self) -> int:
        return self.workers or init_teams.AGENTS

    @property
    def crew(self) -> list[str]:
        """The providers that get an agent."""
        return init_teams.crew(self.providers, self.agents)

    def text(self) -> str:
        if self.workers is not None:
            return init_teams.of_equals(self.name, self.providers, self.workers, self.rules)
        if self.providers:
            return init_teams.of_models(self.name, self.providers, self.rules)
        return init_teams.without_model(self.name, self.command, self.rules)


def _rules(directory: Path, checks: Sequence[str], merge: str | None) -> init_teams.Rules:
    """How the work is kept apart, checked and merged. Raises Misuse for what is not possible here."""
    from toryo.coordinator import worktrees
    from toryo.domain.errors import Refusal
    from toryo.domain.projects import Settings

    trouble = worktrees.trouble(directory)
    if trouble and merge is not None:
        raise Misuse(f"--merge {merge} needs a git worktree for each task. {trouble}", "Nothing was written.")
    try:
        Settings().changed({"required_checks": [{"command": each} for each in checks]})
    except Refusal as refusal:
        raise Misuse(f"--check: {refusal.message}", refusal.instruction) from None
    return init_teams.Rules(not trouble, merge, checks)


def _wanted(named: Sequence[str], found: Sequence[Program]) -> list[str] | None:
    """The providers that were named; None if none was. Raises Misuse for one that cannot work here."""
    if not named:
        return None
    try:
        return _chosen(named, found)
    except ValueError as wrong:
        raise Misuse(str(wrong), "Nothing was written.") from None


def _chosen(names: Sequence[str], found: Sequence[Program]) -> list[str]:
    """Each once; `none` stands alone. Raises ValueError, which says what there is to choose or to do."""
    if set(names) == {NONE}:
        return []
    if NONE in names:
        raise ValueError(f"{NONE} creates a team without a model and cannot be combined with a program.")
    there = {program.name: program for program in found}
    for name in names:
        if name not in there:
            near = nearest(name, there)
            meant = f"Did you mean {near}? " if near is not None else ""
            raise ValueError(
                f"There is no program {name!r}. {meant}Use one of {', '.join(there)}, or {NONE} for a team "
                "without a model."
            )
        if not there[name].ok:
            raise ValueError(f"{name} cannot work here ({there[name].what}). {there[name].instruction}")
    return list(dict.fromkeys(names))


def _by_default(directory: Path, wanted: Sequence[str] | None, found: Sequence[Program]) -> Crew:
    providers = [program.name for program in found if program.ready] if wanted is None else wanted
    return Crew(_name_of(directory), providers)


def _name_of(directory: Path) -> str:
    return directory.name or "project"


# --- at a terminal ---------------------------------------------------------------------------------------------------


def _asked(directory: Path, wanted: Sequence[str] | None, found: Sequence[Program], workers: int | None) -> Crew:
    """What is answered wrongly is asked again."""
    name = terminal_questions.answer("Name of the project", _name_of(directory), _named)
    providers = _ask_for_providers(found, workers or init_teams.AGENTS) if wanted is None else list(wanted)
    if providers or workers is not None:
        return Crew(name, providers)
    return Crew(name, [], terminal_questions.answer("Command to run as the first task", LOOK))


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError("The project needs a name.")
    return text.strip()


def _ask_for_providers(found: Sequence[Program], most: int) -> list[str]:
    startable = [program.name for program in found if program.ok]
    if not startable:
        return []
    ready = [program.name for program in found if program.ready]

    def read(text: str) -> list[str]:
        return _chosen(text.replace(",", " ").split(), found)

    agents = f"the {most} agents" if most > 1 else "the agent"
    question = f"Which programs should run {agents}? Up to {most} of {' '.join(startable)}, or {NONE}"
    chosen: list[str] = terminal_questions.answer(question, " ".join(init_teams.crew(ready, most)) or NONE, read)
    return chosen


# --- what is said ----------------------------------------------------------------------------------------------------


def _print_found(found: Sequence[Program]) -> None:
    for program in found:
        mark = "ready" if program.ready else ("?" if program.ok and program.logged_in is None else "-")
        output.done(f"{mark:<6} {program.name:<9} {program.what}")
        if program.instruction and program.installed:
            output.done(f"{'':<16} → {program.instruction}")


def _data_directory(project: Path) -> Path:
    """That of the project. A pointer that came with a repository, or is out of date, is replaced."""
    try:
        return data_directories.prepare(project)
    except Untrusted:
        return data_directories.prepare(project, data_directories.default_of(project))


def _print_next(team: Path, place: Path, plan: Plan, found: Sequence[Program]) -> None:
    typed = output.program()
    output.done(f"created {shlex.quote(str(team))}: project {init_teams.id_from(plan.name)}, {_crew(plan)}")
    output.done(*_stored(place))
    if left_out := init_teams.left_out(plan.providers, plan.agents):
        output.done(f"not used: {', '.join(left_out)}. To use one, change `provider` of an agent in {TEAM}")
    for each in found:
        if each.name in plan.crew and not each.ready:
            output.done(f"{each.name} may not be logged in. {each.instruction}")
    if not plan.providers:
        output.done(_how_to_get_a_model(found, typed))
    output.done(*_next(plan.workers or 1, confirmed=plan.rules.merge == "automatic"))
    project = init_teams.id_from(plan.name)
    if plan.workers is not None:
        more = "" if plan.providers else """ --context '{"command": "…"}'"""
        output.done(f"  {typed} task add TITLE --assignee any{more}")
    else:
        output.done(f"  {typed} task list --project {project}", f"  {typed} task move TASK in_progress")
    if plan.rules.isolated:
        output.done(f"Each task has a git worktree of its own. {_merging(plan.rules.merge, typed)}")
    if plan.providers:
        starts = "starts a task" if plan.workers is not None else "starts the first task"
        output.done(f"The last command {starts}. From then on it costs tokens.")


def _merging(merge: str | None, typed: str) -> str:
    if merge == "automatic":
        return "What is finished and passes its checks is merged by itself."
    how = "merge-queue add TASK" if merge else "task merge TASK"
    return f"To merge the work of a finished task: {typed} {how}"


def _stored(place: Path) -> list[str]:
    return [f"The server's data will be stored in {shlex.quote(str(place))}"]


def _next(agents: int = 1, *, confirmed: bool = False) -> list[str]:
    """`confirmed`: what `apply` would ask about was typed just now."""
    typed = output.program()
    up = f"up --max-concurrent {agents}" if agents > USUAL_SLOTS else "up"
    return [
        "Next, in this directory:",
        f"  {f'{typed} {up}':<22}  # in another terminal",
        f"  {typed} apply {TEAM}{' --yes' if confirmed else ''}",
    ]


def _crew(plan: Plan) -> str:
    if plan.workers is not None:
        workers = "1 worker" if plan.workers == 1 else f"{plan.workers} workers"
        return (
            f"{workers} with {', '.join(plan.crew)}" if plan.crew else f"{workers} that run commands, without a model"
        )
    if not plan.providers:
        return "one agent that runs commands, without a model"
    return f"a manager and two workers with {', '.join(plan.crew)}"


def _how_to_get_a_model(found: Sequence[Program], typed: str) -> str:
    """One line: log in to what is there, else install what is not."""
    startable = next((program for program in found if program.ok), None)
    if startable is not None:
        return f"To create a team with a model instead: {typed} init --provider {startable.name} (remove {TEAM} first)"
    return (
        f"To create a team with a model instead, install a program, for example: {found[0].instruction}. Then "
        f"remove {TEAM} and run init again."
    )
