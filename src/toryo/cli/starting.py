"""`toryo init` and `toryo apply`: a team as a file in your project, and the server made to match it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toryo import directories, provider_options
from toryo.cli import output, teams, widening
from toryo.cli.failures import Misuse
from toryo.cli.here import Here, command
from toryo.cli.programs import KNOWN
from toryo.trust import Untrusted

if TYPE_CHECKING:
    from toryo.cli.programs import Program

TEAM = teams.FILE
NONE = "none"
LOOK = "ls -l"


def add(app: typer.Typer) -> None:
    command(app, "init", options=("json",))(init)
    command(app, "apply")(apply)


def init(
    here: Here,
    dir: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where your project is.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take the defaults.")] = False,
    provider: Annotated[
        list[str] | None,
        typer.Option(
            "--provider",
            metavar="NAME",
            help=f"Who works: {', '.join(KNOWN)} (repeat for several), or none (else all that are logged in).",
        ),
    ] = None,
) -> None:
    """Write a toryo.yaml for this directory. With the agent programs found here. Also makes a data directory for its
    server, outside of this one, and .toryo/, which points to it."""
    from toryo.cli import programs

    directory = dir.expanduser().resolve()
    if not directory.is_dir():
        raise Misuse(f"{directory} is no directory.", "Make it, or name another one with --dir.")
    team = directory / TEAM
    if team.exists():
        raise Misuse(f"{team} is already there.", f"Change it, then: toryo apply {TEAM}")
    found = programs.known(os.environ)
    wanted = _wanted(provider or [], found)
    if not here.json:
        _print_found(found)
    ask = sys.stdin.isatty() and not (yes or here.json)
    plan = _asked(directory, wanted, found) if ask else _by_default(directory, wanted, found)
    team.write_text(plan.text(), encoding="utf-8")
    place = _data_directory(directory)
    document = {
        "success": True,
        "file": str(team),
        "data_dir": str(place),
        "providers": list(plan.providers) or ["command"],
        "programs": [each.document() for each in found],
    }
    here.answer(document, lambda: _print_next(team, place, plan, found))


def apply(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A toryo.yaml.")],
    yes: widening.Yes = False,
) -> None:
    """Make everything as a file says. Or nothing, if anything is wrong. Projects, agents, memberships and tasks; of
    these nothing is removed, but an agent's provider_options become those of the file."""
    from toryo.cli import applying, manifest

    if not file.is_file():
        raise Misuse(f"{file} is {_no_file(file)}.", "Name a toryo.yaml, or write one with `toryo init`.")
    wanted = manifest.noted(file)
    applied = applying.apply(here, wanted, yes=yes)
    output.say(*(f"toryo: kept: {each}" for each in applied.kept))
    document = {"success": True, "changes": [each.document() for each in applied.changes], "kept": applied.kept}
    told = [line for each in applied.changes for line in each.told()]
    here.answer(document, lambda: output.done(*(told or ["nothing to change"])))


def _no_file(path: Path) -> str:
    return "a directory" if path.is_dir() else "not there"


# --- who is to work --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """What is to be written. Without providers, an agent that runs commands."""

    name: str
    providers: Sequence[str]
    command: str = LOOK
    isolated: bool = False

    def text(self) -> str:
        if self.providers:
            return teams.of_models(self.name, self.providers, isolated=self.isolated)
        return teams.without_model(self.name, self.command)


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
    if list(names) == [NONE]:
        return []
    there = {each.name: each for each in found}
    for name in names:
        if name not in there:
            near = provider_options.nearest(name, there)
            meant = f"Did you mean {near}? " if near is not None else ""
            raise ValueError(
                f"There is no program {name!r}. {meant}Known are: {', '.join(there)}; or {NONE}, for no model."
            )
        if not there[name].ok:
            raise ValueError(f"{name} cannot work here ({there[name].what}). {there[name].instruction}")
    return list(dict.fromkeys(names))


def _by_default(directory: Path, wanted: Sequence[str] | None, found: Sequence[Program]) -> Plan:
    providers = [each.name for each in found if each.ready] if wanted is None else wanted
    return Plan(_name_of(directory), providers)


def _name_of(directory: Path) -> str:
    return directory.name or "project"


# --- at a terminal ---------------------------------------------------------------------------------------------------


def _asked(directory: Path, wanted: Sequence[str] | None, found: Sequence[Program]) -> Plan:
    """What is answered wrongly is asked again."""
    name = str(typer.prompt("The project's name", default=_name_of(directory), value_proc=_named))
    providers = _ask_for_providers(found) if wanted is None else list(wanted)
    if not providers:
        return Plan(name, [], command=str(typer.prompt("A command to run as the first task", default=LOOK)))
    return Plan(name, providers, isolated=_has_commits(directory) and _ask_for_worktrees())


def _named(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("it needs a name")
    return text.strip()


def _ask_for_providers(found: Sequence[Program]) -> list[str]:
    startable = [each.name for each in found if each.ok]
    if not startable:
        return []
    ready = [each.name for each in found if each.ready]

    def read(text: str) -> list[str]:
        try:
            return _chosen(text.replace(",", " ").split(), found)
        except ValueError as wrong:
            raise typer.BadParameter(str(wrong)) from None

    question = f"Who is to work: one or several of {' '.join(startable)}, or {NONE}"
    chosen: list[str] = typer.prompt(question, default=" ".join(ready) or NONE, value_proc=read)
    return chosen


def _ask_for_worktrees() -> bool:
    return typer.confirm("Give each task a git worktree of its own, to be merged by you?", default=False)


def _has_commits(directory: Path) -> bool:
    """Whether it lies in a git repository of which a worktree could be made."""
    from toryo.coordinator import worktrees

    return worktrees.possible(directory)


# --- what is said ----------------------------------------------------------------------------------------------------


def _print_found(found: Sequence[Program]) -> None:
    for each in found:
        mark = "ready" if each.ready else ("?" if each.ok and each.logged_in is None else "-")
        output.done(f"{mark:<6} {each.name:<9} {each.what}")
        if each.instruction and each.installed:
            output.done(f"{'':<16} → {each.instruction}")


def _data_directory(project: Path) -> Path:
    """That of the project. A pointer that came with a repository, or is out of date, is replaced."""
    try:
        return directories.prepare(project)
    except Untrusted:
        return directories.prepare(project, directories.default_of(project))


def _print_next(team: Path, place: Path, plan: Plan, found: Sequence[Program]) -> None:
    typed = output.program()
    output.done(f"wrote {team}: {_crew(plan)}")
    output.done(f"The server's data will be in {place}")
    for each in found:
        if each.name in plan.providers and not each.ready:
            output.done(f"{each.name} may not be logged in. {each.instruction}")
    if not plan.providers:
        output.done(_how_to_get_a_model(found, typed))
    output.done("Next, here:", f"  {typed} up                # in a terminal of its own", f"  {typed} apply {TEAM}")
    if plan.providers:
        project = teams.id_from(plan.name)
        output.done(f"  {typed} task list --project {project}", f"  {typed} task move TASK in_progress")
        output.done("The last one starts the first task, and from then on it costs tokens.")


def _crew(plan: Plan) -> str:
    if not plan.providers:
        return "an agent that runs commands, without a model"
    return f"a manager and two workers, on {', '.join(teams.crew(plan.providers))}"


def _how_to_get_a_model(found: Sequence[Program], typed: str) -> str:
    """One line: log in to what is there, else install what is not."""
    startable = next((each for each in found if each.ok), None)
    if startable is not None:
        return f"For a team with a model: {typed} init --provider {startable.name} (remove {TEAM} before)."
    return f"For a team with a model, install one, such as: {found[0].instruction}. Then remove {TEAM} and init again."
