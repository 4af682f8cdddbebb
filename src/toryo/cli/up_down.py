"""`toryo up`, `toryo server`, `toryo coordinator`: the processes that run until somebody ends them; `toryo down`."""

from __future__ import annotations

import gc
import os
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo import data_directories, process_locks, removed_keys, wrong_values
from toryo.cli import open_dashboard, output, waiting
from toryo.cli.command_context import Here, command, flag, option, taking, warn_of_clear_text
from toryo.cli.exit_codes import FAILED, Failure, Misuse, ServerAway
from toryo.cli.parent_watch import EndsWithStdin, heed_parent
from toryo.nearest import nearest
from toryo.usual_slots import USUAL_SLOTS

if TYPE_CHECKING:
    from toryo.cli.agent_programs import Program
    from toryo.coordinator.config import Config

coordinators = typer.Typer(
    help="Start and watch the agents' processes on this machine.", invoke_without_command=True, rich_markup_mode=None
)

Host = Annotated[str | None, option("HOST", "The address to listen on (default: 127.0.0.1).")]
Port = Annotated[
    int | None, option("PORT", "The port to listen on (default: 8765); 0 picks a free one.", min=0, max=65535)
]
Socket = Annotated[Path | None, option("PATH", "A Unix socket to listen on as well.")]
DatabaseUrl = Annotated[
    str | None, option("URL", "The database, sqlite:///… or postgresql://… (default: toryo.db in the data directory).")
]
RedisUrl = Annotated[
    str | None, option("URL", "Redis for hints between servers and for shared values, redis://… (default: none).")
]
ConfigFile = Annotated[
    Path | None, option("FILE", "The Coordinator's configuration, a coordinator_config.yaml.", "--config", "-c")
]
MaxConcurrent = Annotated[
    int | None, option("N", f"How many agents to run at a time (default: {USUAL_SLOTS}, or the value in FILE).", min=1)
]

LEAVES_WITHIN_SECONDS = 60
"""How long `toryo down` waits for each: longer than a Coordinator and its server take in order."""


def add(app: typer.Typer) -> None:
    command(app, "up", options=("data_dir",))(up)
    command(app, "down", options=("data_dir", "json"))(down)
    command(app, "server", options=("data_dir",))(server)
    coordinators.callback()(taking(coordinator, options=("data_dir", "server", "token", "token_file")))
    command(coordinators, "check", options=("json",))(check)
    app.add_typer(coordinators, name="coordinator")


def up(
    here: Here,
    port: Port = None,
    host: Host = None,
    database: DatabaseUrl = None,
    redis: RedisUrl = None,
    max_concurrent: MaxConcurrent = None,
    config: ConfigFile = None,
    no_open: Annotated[bool, flag("Do not open the dashboard; print the link only.", "--no-open")] = False,
) -> None:
    """Start a server, its dashboard and a Coordinator. Prints a sign-in link. ^C stops everything: first the
    Coordinator with its agents, then the server."""
    from toryo.cli.child_processes import Crew, Terminated, heed_terminate

    serving = _arguments({"--host": host, "--port": port, "--database": database, "--redis": redis})
    if config is not None:
        _configured(config, {})  # a mistake in it is told before anything starts
    starting = _arguments({"--max-concurrent": max_concurrent, "--config": config and config.absolute()})
    place = data_directories.prepared(here.data_dir)
    output.say(f"The data directory is {shlex.quote(str(place))}")
    if here.data_dir is None and Path("toryo.yaml").is_file() and data_directories.project_directory() is None:
        output.say("It is not this project's own. To create that: toryo down, then toryo init")
    if place.name == data_directories.MARK:
        output.say(
            "It is next to the agents' files and contains your token. To move it: toryo down, then toryo db move"
        )
    heed_terminate()
    try:
        with Crew(place, serving, starting, os.environ, _hear) as crew:
            output.say(f"Toryo is up at {crew.address}; press ^C to stop it.")
            try:
                open_dashboard.invite(Here(data_dir=place, server=crew.address), place, open_it=not no_open)
                ended = crew.wait()
            except KeyboardInterrupt:
                _say_ending()
                raise
    except Terminated:
        return
    raise Failure(
        f"{ended}, so Toryo has stopped.",
        "Its last output above says why. Start again: toryo up. Tasks in progress then continue.",
    )


def _say_ending() -> None:
    with suppress(OSError):  # where the terminal was closed, nobody hears it
        output.say(
            "Stopping the Coordinator with its agents, then the server. Press ^C again to stop the agents immediately."
        )


def down(here: Here) -> None:
    """Stop the server, its Coordinators and their agents. Applies to everything that runs from this data directory;
    exit code 3 if nothing does."""
    from toryo.client import server_discovery

    place = data_directories.data_dir(here.data_dir)
    stopped = stop(place)
    if not stopped:
        told = server_discovery.described(place, here.data_dir)
        raise ServerAway(
            f"No Toryo process is running from the data directory {told}.",
            "Choose another data directory with --data-dir.",
        )
    document = {
        "success": True,
        "data_dir": str(place),
        "stopped": [{"name": holder.name, "pid": holder.pid} for holder in stopped],
    }
    told = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in stopped)
    here.answer(document, lambda: output.done(f"stopped {told}; data directory {place}"))


def stop(place: Path) -> list[process_locks.Holder]:
    """Ends everything that runs from a data directory; what it was. Raises Failure for what does not end."""
    stopped: list[process_locks.Holder] = []
    while (each := next(process_locks.holders(place), None)) is not None:
        _end(each)
        stopped.append(each)
    return stopped


def _end(holder: process_locks.Holder) -> None:
    if not holder.pid:
        raise Failure(f"{holder.lock} is held by a process of an older Toryo.", "End that process by hand.")
    with suppress(ProcessLookupError):
        os.kill(holder.pid, signal.SIGTERM)
        os.kill(holder.pid, signal.SIGCONT)  # one that was stopped by ^Z hears nothing else before it goes on
    with waiting.notice(f"the {holder.name} (pid {holder.pid}) to end"):
        released = process_locks.wait_until_released(holder.lock, LEAVES_WITHIN_SECONDS)
    if not released:
        raise Failure(
            f"The {holder.name} (pid {holder.pid}) has not stopped within {output.duration(LEAVES_WITHIN_SECONDS)}.",
            f"Wait and try again, or kill it: kill -9 {holder.pid}",
        )


def server(
    here: Here,
    host: Host = None,
    port: Port = None,
    socket: Socket = None,
    database: DatabaseUrl = None,
    redis: RedisUrl = None,
    ends_with_stdin: EndsWithStdin = False,
) -> None:
    """Start the server alone, until ^C. It is ready when it prints `ready http://…` on stderr."""
    heed_parent(ends_with_stdin, LEAVES_WITHIN_SECONDS)
    gc.disable()  # until the server is ready, which enables it again
    from toryo.server import app
    from toryo.server.http_errors import ConfigurationError

    place = data_directories.prepared(here.data_dir)
    settings = _settings(host=host, port=port, socket=socket, data_dir=place, database=database, redis=redis)

    def opened() -> None:
        if not ends_with_stdin:  # else `toryo up` says what there is to say
            output.say(f"The data directory is {shlex.quote(str(place))}")
            output.say("Press ^C to stop this server. It starts no agents: run toryo coordinator in another terminal.")

    try:
        app.run(settings, opened)
    except ConfigurationError as error:
        raise Misuse(error.message, error.instruction) from None


def coordinator(
    here: Here,
    config: ConfigFile = None,
    max_concurrent: MaxConcurrent = None,
    id: Annotated[str | None, option("NAME", "The Coordinator's name (default: the name of the machine).")] = None,
    ends_with_stdin: EndsWithStdin = False,
) -> None:
    """Start and watch the agents' processes on this machine, until ^C. Without a file every agent may be started."""
    if here.followed_by is not None:
        return
    heed_parent(ends_with_stdin, LEAVES_WITHIN_SECONDS)
    from toryo.coordinator.main import main

    given = {
        "max_concurrent": max_concurrent,
        "coordinator_id": id,
        "server_url": here.server,
        "coordinator_token": here.token,
    }
    configuration = _configured(config, given)
    data_directories.prepared(here.data_dir)
    if here.server is None:
        warn_of_clear_text(configuration.server_url)
    file = config and config.absolute()
    named = here.token_file and here.token_file.expanduser().absolute()
    named = named if named is not None and named.is_file() else None  # stdin and pipes cannot be read again
    raise typer.Exit(main(configuration, data_dir=here.data_dir, config_file=file, token_file=named))


def check(
    here: Here,
    config: ConfigFile = None,
    script: Annotated[list[Path] | None, option("FILE", "Check this script of an agent, too; repeatable.")] = None,
) -> None:
    """Check a coordinator_config.yaml, or a script. Lists the programs that are missing or not logged in."""
    _check_scripts(script or [])
    configuration = _configured(config, {})
    programs = _programs(configuration)
    named = {program.name for provider in configuration.ai_providers for program in programs[provider]}
    found = [each for several in programs.values() for each in several if each.installed or each.name in named]
    ok = all(program.ok for program in found if program.name in named)
    sandbox = _sandbox(configuration)
    from toryo.coordinator.config import KNOWN, NO_EFFECT, without_effect

    def say() -> None:
        output.table(("PROVIDER", "", "PROGRAM"), map(_row, found), empty="")
        output.done(sandbox)
        for name, section in configuration.ai_providers.items():
            if name in KNOWN and (option := without_effect(section.cli_args)) is not None:
                output.done(f"{name}: {NO_EFFECT.format(option=option, permissions='read, if nothing is set')}")

    here.answer({"success": ok, "providers": [program.document() for program in found], "sandbox": sandbox}, say)
    if not ok:
        raise typer.Exit(FAILED)


def _programs(config: Config) -> dict[str, list[Program]]:
    """By provider, its program with each of its logins."""
    from toryo.cli import agent_programs
    from toryo.coordinator.providers import configured

    every = configured(config.ai_providers)
    logins = [(name, login) for name in sorted(every) for login in every[name].logins]
    seen = agent_programs.programs_of((login for _, login in logins), os.environ)
    found: dict[str, list[Program]] = {}
    for (name, _), program in zip(logins, seen, strict=True):
        found.setdefault(name, []).append(program)
    return found


def _sandbox(config: Config) -> str:
    from toryo.coordinator import sandbox
    from toryo.coordinator.provider import BadConfig

    try:
        mode = sandbox.default_mode(config.sandbox, os.environ)
    except BadConfig as wrong:
        raise Misuse(str(wrong), "Nothing was started.") from None
    return sandbox.Sandbox(mode, network=config.sandbox_network, inherited=os.environ).told


def _row(found: Program) -> tuple[str, str, str]:
    what = f"{found.what} → {found.instruction}" if found.instruction else found.what
    return found.name, "ok" if found.ok else "missing", what


def _check_scripts(files: list[Path]) -> None:
    from toryo.formats import script_format, yaml_documents

    for file in files:
        try:
            document = yaml_documents.of_file(file)
            wrapped = isinstance(document.data, dict) and list(document.data) == ["script"]  # as --options takes it
            script_format.parse(document.inside("script") if wrapped else document)
        except script_format.Mistakes as mistakes:
            raise Misuse(str(mistakes), "See docs/contributing/scripted-agents.md in Toryo's source.") from None


def _hear(name: str, line: str) -> None:
    output.say(line if line.startswith("toryo: ") else f"{name}: {line}")


def _arguments(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() if value is not None for word in (name, str(value))]


def _configured(file: Path | None, given: dict[str, Any]) -> Config:
    """The Coordinator's configuration: the file's, if there is one, and what was said here."""
    from toryo.coordinator import config
    from toryo.coordinator.provider import BadConfig
    from toryo.coordinator.providers import configured

    try:
        read = config.Config() if file is None else config.load(file)
        configured(read.ai_providers)
        said = {name: value for name, value in given.items() if value is not None}
        if "server_url" in said:
            said["mcp_socket_path"] = None
        return config.Config.model_validate({**read.model_dump(exclude_unset=True), **said})
    except (config.Mistakes, BadConfig) as mistakes:
        raise Misuse(str(mistakes), "Nothing was started.") from None
    except ValueError as error:
        raise Misuse(f"The configuration is invalid: {error}", "Nothing was started.") from None


def _warn_of_near_names(settings: Any) -> None:
    """A variable that is nearly called as a setting was meant to be one."""
    known = {f"TORYO_{name}".upper() for name in settings.model_fields} | {"TORYO_DATABASE_URL", "TORYO_REDIS_URL"}
    for name in sorted(os.environ):
        near = nearest(name, known - {name}, close=0.85) if name.startswith("TORYO_") else None
        if near and name not in known and "__" not in name:
            output.say(f"toryo: warning: {name} is not a setting. Did you mean {near}?")


def _settings(**given: Any) -> Any:
    """The server's settings: what was said here, else the environment, else the defaults."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from toryo.settings import Settings

    for name, warning in removed_keys.among(os.environ).items():
        del os.environ[name]
        output.say(f"toryo: warning: {warning}")
    _warn_of_near_names(Settings)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        told = wrong_values.sentence(f"The setting {name}", wrong_values.in_words(first))
        raise Misuse(f"{told}.", "See docs/reference/settings.md in Toryo's source.") from None
    except SettingsError as error:  # a text that should be JSON; which one is said, and not what stands in it
        raise Misuse(f"A setting is invalid: {error}.", "See docs/reference/settings.md in Toryo's source.") from None
