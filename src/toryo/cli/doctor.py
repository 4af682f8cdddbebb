"""`toryo doctor`: what is present, what is missing, and what to do; one line per finding and one per instruction.

Checks the machine, the server and the team in its database. agent_programs.py checks the agents' programs.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import toryo
from toryo import data_directories
from toryo.cli import output
from toryo.cli.command_context import Here, command
from toryo.cli.exit_codes import FAILED, failure_of
from toryo.data_directory_trust import Untrusted

if TYPE_CHECKING:
    from toryo.coordinator.identity_lock import Word

OLDEST_PYTHON = (3, 11)
LATELY = 60
"""Seconds within which a Coordinator that runs has called: its longest call (`long_waits.py`) is shorter."""
SCARCE = 1_000_000_000
"""Bytes free on a disk that is nearly full."""
MOST_FILES = 200_000
"""Files that are measured at most."""
MOST_NAMES = 8
JUDGING_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit")
BESIDE = 28
"""Where what is found stands, beside what was looked at."""


@dataclass(frozen=True)
class Finding:
    """`needed`: something that is configured does not work without it; others are for information."""

    name: str
    ok: bool
    what: str
    instruction: str = ""
    needed: bool = True


@dataclass(frozen=True)
class Team:
    """What the server knows: providers of the agents, directories of projects, and Coordinators."""

    agents: Sequence[Mapping[str, Any]] = ()
    projects: Sequence[Mapping[str, Any]] = ()
    coordinators: Sequence[Mapping[str, Any]] = ()
    local: bool = True
    """Whether agents are (or would be) started on this machine: only then it must have what they need."""

    def users(self, provider: str) -> list[str]:
        return [agent["agent_id"] for agent in self.agents if agent["provider"] == provider]


@dataclass(frozen=True)
class Place:
    """Where programs are looked for: on the PATH of the Coordinators `of`; "": of this shell."""

    path: str
    of: str = ""

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "PATH": self.path}


def add(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)


def doctor(here: Here) -> None:
    """Check the installation. Lists what is missing, and how to fix it."""
    of_server = list(_of_server(here))
    team = _team(here) if all(finding.ok for finding in of_server) else Team()
    words = _words(here, team)
    places = _places(words)
    findings = [
        *_of_machine(here),
        *of_server,
        *_of_coordinators(team, of_server),
        *_of_sandbox(team, words),
        *_of_path(places),
        *_of_team(team, places),
        *_of_programs(team, places),
    ]
    ok = all(finding.ok for finding in findings if finding.needed)
    document: dict[str, Any] = {"success": ok, "findings": [asdict(finding) for finding in findings]}
    here.answer(document, lambda: _print(findings))
    if not ok:
        raise typer.Exit(FAILED)


# --- this machine ----------------------------------------------------------------------------------------------------


def _of_machine(here: Here) -> Iterator[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    good = sys.version_info >= OLDEST_PYTHON
    yield Finding("python", good, version, "" if good else "Toryo needs Python 3.11 or newer.")
    yield Finding("toryo", True, toryo.__version__)
    yield _dashboard()
    try:
        place = data_directories.data_dir(here.data_dir)
    except Untrusted as untrusted:
        yield Finding("data directory", False, untrusted.what, untrusted.instruction)
        return
    yield _data_directory(place)
    yield _disk(place)
    for folder in (place / "logs", data_directories.work_dir(place) / "worktrees"):
        if folder.is_dir():
            yield Finding(folder.name, True, f"{_size(folder)} in {folder}")


def _dashboard() -> Finding:
    from toryo.server.dashboard_files import NOT_BUILT, is_built

    what, _, instruction = NOT_BUILT.partition(". ")
    return Finding(
        "dashboard", is_built(), "built" if is_built() else what, "" if is_built() else instruction, needed=False
    )


def _data_directory(place: Path) -> Finding:
    nearest = _nearest(place)
    if nearest == place and not place.is_dir():
        return Finding("data directory", False, f"{place} is a file", "Choose a directory with --data-dir.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("data directory", False, f"{nearest} is not writable", "Choose another one with --data-dir.")
    if place.name == data_directories.MARK:
        what = f"{place} is inside a directory where agents work, so agents could read owner.token"
        instruction = "Move it: toryo down, then toryo db move"
        return Finding("data directory", False, what, instruction, needed=False)
    return Finding("data directory", True, f"{place}" + ("" if nearest == place else " (created when first needed)"))


def _disk(place: Path) -> Finding:
    free = shutil.disk_usage(_nearest(place)).free
    enough = free >= SCARCE
    instruction = "" if enough else "Free some space. Logs, worktrees and the database grow there."
    return Finding("disk", enough, f"{_bytes(free)} free", instruction, needed=False)


def _nearest(place: Path) -> Path:
    return next(path for path in (place, *place.parents) if path.exists())


def _size(folder: Path) -> str:
    total, files = 0, 0
    for at, _, names in os.walk(folder):
        for name in names:
            total += _length(Path(at, name))
        files += len(names)
        if files > MOST_FILES:
            return f"more than {_bytes(total)}"
    return _bytes(total)


def _length(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0  # it was removed meanwhile


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


# --- the server and who starts agents --------------------------------------------------------------------------------


def _of_server(here: Here) -> Iterator[Finding]:
    try:
        status = here.get("/status")
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        what, _, further = failure.what.partition(". ")
        yield Finding("server", False, what, failure.instruction or further)
        return
    same = status["version"] == toryo.__version__
    yield Finding(
        "server",
        True,
        f"{here.client.address}, version {status['version']}",
        "" if same else f"This command has version {toryo.__version__}. Use the same version on both sides.",
    )
    size = status.get("database_bytes")  # an older server does not tell
    if status.get("auth_mode") == "open":
        yield Finding(
            "keys",
            False,
            "TORYO_AUTH__MODE=open: every program of your user can create, take and finish queue tasks without a key",
            "Only for trying it out. Otherwise remove TORYO_AUTH__MODE, and make keys: toryo token add --project PRJ",
            needed=False,
        )
    yield Finding("database", True, f"{status['database']}{f', {_bytes(size)}' if size is not None else ''}")


def _taken(disk: dict[str, Any] | None) -> str:
    if disk is None:
        return ""
    least = "" if disk["complete"] else "at least "
    return f" ({least}{_bytes(disk['logs_bytes'])} of logs, {_bytes(disk['worktrees_bytes'])} of worktrees)"


def _team(here: Here) -> Team:
    """Agents that may be started: agents without a provider and those who were deactivated need nothing."""
    from toryo.coordinator.identity_lock import LONGEST_HOST

    agents = [agent for agent in here.get("/agents")["agents"] if agent["provider"] and agent["status"] == "active"]
    projects = [project for project in here.get("/projects")["projects"] if project["status"] == "active"]
    known = here.get("/status").get("coordinators", [])
    coordinators = [each for each in known if each["seconds_ago"] <= LATELY]
    host = socket.gethostname()[:LONGEST_HOST]
    local = not coordinators or any(str(each["coordinator_id"]).startswith(host) for each in coordinators)
    return Team(agents, projects, coordinators, local)


def _of_coordinators(team: Team, of_server: Sequence[Finding]) -> Iterator[Finding]:
    if not all(finding.ok for finding in of_server):
        return
    there = [
        f"{coordinator['coordinator_id']}: {', '.join(_offered(coordinator))}{_taken(coordinator.get('disk'))}"
        for coordinator in team.coordinators
    ]
    yield Finding(
        "coordinators",
        bool(there),
        "; ".join(there) or "none has connected recently",
        "" if there else "A Coordinator starts the agents: toryo coordinator (or toryo up, which includes one).",
        needed=False,
    )


def _offered(coordinator: Mapping[str, Any]) -> list[str]:
    """Its providers; of those whose accounts its file names, each account."""
    from toryo.domain.agents import Program

    accounts = coordinator.get("accounts", {})
    return [
        Program(name, None, account).name for name in coordinator["providers"] for account in accounts.get(name, [name])
    ] or ["any provider"]


def _words(here: Here, team: Team) -> Mapping[str, Word]:
    """What the Coordinators have written that run here."""
    from toryo.coordinator import identity_lock

    running = {each["coordinator_id"] for each in team.coordinators}
    words: Mapping[str, Word] = {}
    with suppress(Untrusted):  # `_of_machine` says so
        words = identity_lock.left_words(data_directories.data_dir(here.data_dir))
    return {name: word for name, word in sorted(words.items()) if name in running}


def _places(words: Mapping[str, Word]) -> list[Place]:
    """Each PATH of a Coordinator that runs here; without one, that of this shell: one that is started here has it."""
    paths: dict[str, list[str]] = {}
    for name, word in words.items():
        if word.path is not None:
            paths.setdefault(word.path, []).append(name)
    return [Place(path, ", ".join(names)) for path, names in paths.items()] or [Place(_own_path())]


def _own_path() -> str:
    return os.environ.get("PATH", os.defpath)


def _of_path(places: Sequence[Place]) -> Iterator[Finding]:
    """Which PATH the programs below are looked for on."""
    for place in places:
        what = f"of {place.of}" if place.of else "of this shell; no Coordinator that runs here has reported its own"
        elsewhere = f", not of this shell: {place.path}" if place.path != _own_path() else ""
        yield Finding("PATH", True, f"{what}{elsewhere}")


def _of_sandbox(team: Team, words: Mapping[str, Word]) -> Iterator[Finding]:
    """What stands between agents' programs and this machine: as the Coordinators that run here have told it, else as
    one that is started here would do it."""
    from toryo.coordinator import sandbox
    from toryo.coordinator.provider import BadConfig

    told = {name: word.sandbox for name, word in words.items()}
    if not told and team.local:
        try:
            mode = sandbox.default_mode(None, os.environ)
            told = {"": sandbox.Sandbox(mode, inherited=os.environ).told}
        except BadConfig as wrong:
            told = {"": f"sandbox: off ({wrong})"}
    for name, word in sorted(told.items()):
        on = word.startswith(sandbox.ON)
        what = word.removeprefix("sandbox: ") + (f"; reported by {name}" if name else "")
        limits = sandbox.NOT_MADE not in word
        advice = sandbox.ADVICE if not on else "" if limits else f"{sandbox.ALLOW_NETWORKS}."
        yield Finding("sandbox", on and limits, what, advice, needed=False)
    on = all(word.startswith(sandbox.ON) for word in told.values())
    yield from _of_network(team, on=on)
    named = [agent["agent_id"] for agent in team.agents if agent["effective_options"].get("commands")]
    if named and not on:
        what = f"not run without a sandbox, but named for {', '.join(named)}"
        instruction = "Install bubblewrap (Linux), or give them permissions: full, which limits nothing here."
        yield Finding("commands", False, what, instruction, needed=False)


def _of_network(team: Team, *, on: bool) -> Iterator[Finding]:
    """What programs reach from their sandboxes, by project; without a sandbox that is not enforced."""
    said = ", ".join(f"{each['project_id']}: {each['settings'].get('network', 'open')}" for each in team.projects)
    if said and on:
        yield Finding("network", True, said)
    elif said:
        what = f"not enforced without a sandbox ({said}): agents' programs reach every host, and every port here"
        instruction = "Install bubblewrap (Linux), or run the Coordinator in a virtual machine with its own firewall."
        yield Finding("network", False, what, instruction, needed=False)


# --- the team --------------------------------------------------------------------------------------------------------


def _of_team(team: Team, places: Sequence[Place]) -> Iterator[Finding]:
    yield from _unoffered(team)
    yield from _rights(team)
    git = all(shutil.which("git", path=place.path) for place in places)
    for project in team.projects:
        yield from _of_project(project, team, git=git)


def _unoffered(team: Team) -> Iterator[Finding]:
    """Agents that no Coordinator that has called could start."""
    if not team.coordinators:
        return
    offered = {name for coordinator in team.coordinators for name in coordinator["providers"]}
    for name in sorted({agent["provider"] for agent in team.agents} - offered):
        what = f"no Coordinator has it, but these agents use it: {', '.join(team.users(name))}"
        instruction = (
            "Add its program under ai_providers in the file of `toryo coordinator -c FILE`, or give the agents "
            "another provider: toryo agent edit AGENT --provider NAME"
        )
        yield Finding(f"provider {name}", False, what, instruction)


def _rights(team: Team) -> Iterator[Finding]:
    """What agents' programs may do by themselves, and whose options keep them from being started."""
    told = []
    for agent in team.agents:
        permissions = agent["effective_options"].get("permissions")
        if permissions:
            by_default = "" if "permissions" in agent["provider_options"] else " (default)"
            walled = ", sandbox required" if agent["effective_options"].get("sandbox") == "bwrap" else ""
            commands = "".join(f" + {each}" for each in agent["effective_options"].get("commands") or ())
            told.append(f"{agent['agent_id']}: {permissions}{by_default}{commands}{walled}")
        if agent["mistakes"]:
            instruction = f"Correct it: toryo agent edit {agent['agent_id']} --option NAME=VALUE"
            yield Finding(f"agent {agent['agent_id']}", False, " ".join(agent["mistakes"]), instruction)
    if told:
        yield Finding("permissions", True, ", ".join(told))


def _of_project(project: Mapping[str, Any], team: Team, *, git: bool) -> Iterator[Finding]:
    name, place = project["project_id"], Path(project["working_directory"])
    if not place.is_dir():
        instruction = f"Create it, or choose another: toryo project edit {name} --dir PATH"
        what = f"{place} does not exist on this machine"
        yield Finding(f"project {name}", False, what, instruction, needed=team.local)
    if project["settings"].get("isolation") == "worktree" and not git:
        instruction = f"Install git, or switch worktrees off: toryo project edit {name} --set isolation=none"
        yield Finding(f"project {name}", False, "uses worktrees, but git is not on PATH", instruction, team.local)
    elif project["settings"].get("isolation") == "worktree" and place.is_dir():
        from toryo.coordinator import worktrees

        if trouble := worktrees.trouble(place):
            what = f"uses worktrees, but none can be created in {place}"
            yield Finding(f"project {name}", False, what, trouble, needed=team.local)
        elif hooks := _hooks(place):
            what = f"{', '.join(hooks)} of the repository: do not run for commits in the worktrees of tasks"
            instruction = (
                f"To have checked there what they check: toryo project edit {name} --set required_checks=COMMAND"
            )
            yield Finding(f"hooks of {name}", False, what, instruction, needed=False)


def _hooks(place: Path) -> list[str]:
    """The hooks of a repository that judge a commit. Git only says where they are."""
    words = ("git", "rev-parse", "--git-path", "hooks")
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(words, cwd=place, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        return [each for each in JUDGING_HOOKS if os.access(place / said / each, os.X_OK)]
    return []


# --- programs that could run agents ----------------------------------------------------------------------------------


def _of_programs(team: Team, places: Sequence[Place]) -> Iterator[Finding]:
    from toryo.cli import agent_programs

    for place in places:
        of = f"; on the PATH of {place.of}" if len(places) > 1 else ""
        for program in agent_programs.model_programs(place.environ):
            users = team.users(program.name)
            well = program.ok and program.logged_in is not False
            used = f"; used by {', '.join(users)}" if users and not well else ""
            needed = bool(users) and team.local
            yield Finding(program.name, well, f"{program.what}{used}{of}", program.instruction, needed)


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        mark = "ok" if finding.ok else ("missing" if finding.needed else "-")
        output.done(f"{mark:<8} {finding.name:<18} {finding.what}", indent=BESIDE)
        if finding.instruction:
            output.done(f"{'':<{BESIDE - 1}} → {finding.instruction}")
