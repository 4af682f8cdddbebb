"""The command `toryo`: combines the groups and turns every error into an exit code.

Only Typer is imported at the top, here and in the modules of commands, so that `toryo --help` answers fast.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from toryo.cli import (
    agent_run,
    agents,
    chat,
    conversations,
    database,
    demo,
    doctor,
    empty_values,
    events,
    exit_codes,
    init_apply,
    logs,
    manifest_export,
    mcp,
    needs,
    open_dashboard,
    output,
    people,
    playbooks,
    projects,
    queues,
    sessions,
    tasks,
    tokens,
    trace,
    up_down,
    usage,
    usage_errors,
    usage_lines,
    why,
    worktrees,
)
from toryo.cli.command_context import DataDir, Json, Server, Token, TokenFile, given_before
from toryo.cli.narrowing import narrowed

app = typer.Typer(
    name="toryo",
    help="Run a team of AI agents. You create tasks; Toryo starts an agent when there is work for it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for group in (demo, up_down, open_dashboard, mcp, init_apply):
    group.add(app)
for group in (projects, agents, agent_run, tasks, worktrees, people, tokens, queues, needs, chat, conversations):
    group.add(app)
for group in (playbooks, why, trace, usage, sessions, logs, events, manifest_export, database, doctor):
    group.add(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        import toryo

        typer.echo(f"toryo {toryo.__version__}")
        raise typer.Exit


@app.callback()
def everywhere(
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


@app.command("version", hidden=True)
def version() -> None:
    """Print the version."""
    _print_version(True)


def main(arguments: list[str] | None = None) -> None:
    """Runs one command line and ends the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(_outcome(given))


def _outcome(given: list[str]) -> int:
    try:
        program = typer.main.get_command(narrowed(app, given))
        empty_values.refuse(program)
        usage_lines.plain(program)
        code = program(args=given, prog_name="toryo", standalone_mode=False)
    except typer.TyperException as mistake:
        return _explain_usage(mistake, given)
    except typer.Abort:  # a question was answered with no, or not at all; questions come before changes
        _say("Nothing was changed.")
        return exit_codes.INTERRUPTED
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            output.say("")  # the terminal has shown ^C, and the prompt of the shell begins a line
        return exit_codes.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, a script gets an exit code that means it
        return _explain(error, as_json="--json" in given)
    return code if isinstance(code, int) else exit_codes.DONE


def _explain(error: Exception, *, as_json: bool) -> int:
    failure = exit_codes.of(error)
    if failure is None:
        # A bug in Toryo: the report needs the whole traceback.
        raise error
    _say(output.in_local_time(failure.sentence()))
    if as_json:
        output.document(failure.answer())
    return failure.exit_code


def _explain_usage(mistake: typer.TyperException, given: list[str]) -> int:
    if type(mistake).__name__ == "NoArgsIsHelpError":
        output.say(*mistake.format_message().rstrip().splitlines())
    else:
        program = typer.main.get_command(app)
        words = usage_errors.words(mistake, program, given)
        end = "" if words.endswith((".", "!", "?")) else "."
        path = " ".join(["toryo", *usage_errors.place(program, given)[0]])
        _say(f"{words}{end} See `{path} --help`.")
    return exit_codes.MISUSED


def _say(text: str) -> None:
    """A line per mistake; what is folded within one is unfolded."""
    output.say(*(f"toryo: {' '.join(line.split())}" for line in text.splitlines()))
