"""The command line as Typer knows it, or the part of it that a command line needs.

`COMMANDS` says in which module each command is: only that one is imported, since all of them take longer to load than
most commands run, and Typer takes long to build them. `toryo --help` loads none of them.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, cast

import typer
import typer.core
from typer.main import get_command, get_command_name
from typer.models import CommandInfo

from toryo.cli.command_context import DataDir, Json, Server, Token, TokenFile, given_before

COMMANDS = {
    "demo": ("demo", "Run a demo team, for about a minute."),
    "up": ("up_down", "Start a server, its dashboard and a Coordinator."),
    "down": ("up_down", "Stop the server, its Coordinators and their agents."),
    "server": ("up_down", "Start the server alone, until ^C."),
    "open": ("open_dashboard", "Open the dashboard in a browser."),
    "mcp": ("mcp", "Connect an MCP client over stdin and stdout."),
    "init": ("init_apply", "Create a toryo.yaml for this directory."),
    "apply": ("init_apply", "Create or update everything in a toryo.yaml."),
    "plan": ("plan", "Show what applying a toryo.yaml would do."),
    "run": ("run", "Apply a toryo.yaml, and follow its tasks to their end."),
    "forecast": ("forecast", "Forecast when open tasks will be done, at what cost."),
    "simulate": ("simulate", "Simulate a team without starting a program."),
    "worktrees": ("worktrees", "List the worktrees of tasks."),
    "needs": ("needs", "List what needs your attention."),
    "answer": ("questions", "Answer a question of an agent."),
    "answers": ("questions", "List what agents have asked, with the answers."),
    "chat": ("chat", "Chat with an agent."),
    "why": ("why", "Explain why an agent is not running, or why a task waits."),
    "trace": ("trace", "Show everything that a request caused, as a tree."),
    "usage": ("usage", "Show token usage and cost."),
    "sessions": ("sessions", "List active agent sessions, or end one."),
    "logs": ("logs", "Show the output of an agent's process."),
    "events": ("events", "Show the event history."),
    "export": ("manifest_export", "Export projects, agents and open tasks to a file."),
    "import": ("manifest_export", "Import an exported file."),
    "doctor": ("doctor", "Check the installation."),
    "coordinator": ("up_down", "Start and watch the agents' processes on this machine."),
    "project": ("projects", "Create, edit, pause and archive projects."),
    "agent": ("agents", "Create and edit agents."),
    "task": ("tasks", "Create, watch, edit and merge tasks."),
    "person": ("people", "Manage the people who can sign in."),
    "token": ("tokens", "Manage API keys and access tokens."),
    "merge-queue": ("merge_queue", "List, order and pause what waits to be merged."),
    "queue": ("queues", "List queue agents, and requeue failed tasks."),
    "chats": ("conversations", "List your threads, and those of agents below you."),
    "conversations": ("conversations", "List what agents say to each other."),
    "schedule": ("schedules", "Create tasks at certain times, such as every night."),
    "webhook": ("webhooks", "Create tasks from the requests of programs such as GitHub."),
    "quota": ("quotas", "List quota windows, and set limits and reserves."),
    "template": ("templates", "Create trees of tasks again and again, from templates."),
    "memory": ("memory", "List, search and correct what agents know about projects."),
    "playbook": ("playbooks", "Check a playbook without a server."),
    "db": ("database", "Upgrade, back up, restore, check or prune the database."),
}
"""In the order of `toryo --help`: where a command is, and its line there, which is the first sentence of its help."""


@cache
def whole() -> typer.Typer:
    """With every command."""
    return _with(dict.fromkeys(module for module, _ in COMMANDS.values()))


def needed(given: Sequence[str]) -> typer.Typer:
    """With the one command that the first words name, or with all where they name none."""
    if given and given[0] in COMMANDS:
        return _narrowed(_with([COMMANDS[given[0]][0]]), given)
    return whole()


def listing() -> typer.core.TyperGroup:
    """For `toryo --help`: the options of everywhere, and each command by its name and line alone."""
    program = cast("typer.core.TyperGroup", get_command(_with([])))
    for name, (_, line) in COMMANDS.items():
        program.add_command(typer.core.TyperCommand(name, help=line))
    return program


def _with(modules: Collection[str]) -> typer.Typer:
    """With the commands of these modules."""
    app = typer.Typer(
        name="toryo",
        help="Run a team of AI agents. You create tasks; Toryo starts an agent when there is work for it.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_everywhere)
    for module in modules:
        part = _part(module)
        app.registered_commands += part.registered_commands
        app.registered_groups += part.registered_groups
    app.command("version", hidden=True)(_version)
    return app


@cache
def _part(module: str) -> typer.Typer:
    """What a module adds; it is asked once, because some of them add to groups of their own."""
    part = typer.Typer()
    import_module(f"toryo.cli.{module}").add(part)
    return part


def _narrowed(app: typer.Typer, given: Sequence[str]) -> typer.Typer:
    if not given:
        return app
    commands = [each for each in app.registered_commands if _name(each) == given[0]]
    groups = [each for each in app.registered_groups if each.name == given[0]]
    if len(commands) + len(groups) != 1:
        return app
    narrow = copy.copy(app)
    narrow.registered_commands = commands
    narrow.registered_groups = [copy.copy(each) for each in groups]
    for each in narrow.registered_groups:
        if each.typer_instance is not None:
            each.typer_instance = _narrowed(each.typer_instance, given[1:])
    return narrow


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(getattr(command.callback, "__name__", ""))


def _print_version(wanted: bool) -> None:
    if wanted:
        import toryo

        typer.echo(f"toryo {toryo.__version__}")
        raise typer.Exit


def _everywhere(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    data_dir: DataDir = None,
    server: Server = None,
    token: Token = None,
    token_file: TokenFile = None,
    json: Json = False,
) -> None:
    given_before(context, data_dir=data_dir, server=server, token=token, token_file=token_file, json=json)


def _version() -> None:
    """Print the version."""
    _print_version(True)
