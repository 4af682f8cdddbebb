"""The command `toryo`: runs a command line and turns every error into an exit code.

Only Typer is imported at the top, here and in the modules of commands, so that `toryo --help` answers fast.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from toryo.cli import command_line, exit_codes


def main(arguments: list[str] | None = None) -> None:
    """Runs one command line and ends the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(_outcome(given))


def _outcome(given: list[str]) -> int:
    try:
        code = _built(given)(args=given, prog_name="toryo", standalone_mode=False)
    except typer.TyperException as mistake:
        return _explain_usage(mistake, given)
    except typer.Abort:  # a question was answered with no, or not at all; questions come before changes
        _say("Nothing was changed.")
        return exit_codes.INTERRUPTED
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            from toryo.cli import output

            output.say("")  # the terminal has shown ^C, and the prompt of the shell begins a line
        return exit_codes.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, a script gets an exit code that means it
        return _explain(error, as_json="--json" in given)
    return code if isinstance(code, int) else exit_codes.DONE


def _built(given: list[str]) -> Any:
    if set(given) <= {"--help", "-h", "--version"} and "_TORYO_COMPLETE" not in os.environ:
        return command_line.listing()
    from toryo.cli import empty_values, usage_lines

    built = typer.main.get_command(command_line.needed(given))
    empty_values.refuse(built)
    usage_lines.plain(built)
    return built


def _explain(error: Exception, *, as_json: bool) -> int:
    from toryo.cli import output

    failure = exit_codes.failure_of(error)
    if failure is None:
        # A bug in Toryo: the report needs the whole traceback.
        raise error
    _say(output.in_local_time(failure.sentence()))
    if as_json:
        try:
            output.document(failure.answer())
            sys.stdout.flush()
        except BrokenPipeError:  # its reader has gone: what is in the buffer must not be written again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return failure.exit_code


def _explain_usage(mistake: typer.TyperException, given: list[str]) -> int:
    if type(mistake).__name__ == "NoArgsIsHelpError":
        from toryo.cli import output

        output.say(*mistake.format_message().rstrip().splitlines())
    else:
        from toryo.cli import usage_errors

        whole = typer.main.get_command(command_line.whole())
        words = usage_errors.words(mistake, whole, given)
        end = "" if words.endswith((".", "!", "?")) else "."
        path = " ".join(["toryo", *usage_errors.place(whole, given)[0]])
        _say(f"{words}{end} See `{path} --help`.")
    return exit_codes.MISUSED


def _say(text: str) -> None:
    """A line per mistake; what is folded within one is unfolded."""
    from toryo.cli import output

    output.say(*(f"toryo: {' '.join(line.split())}" for line in text.splitlines()))
