"""`toryo agent run`: serves a queue with a command. `task_command.py` runs it once per task."""

from __future__ import annotations

import logging
import os
import shutil
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse

Type = Annotated[str, option("TYPE", "The queue to serve.")]
Id = Annotated[str | None, option("ID", "The agent's id; reuse it to continue with its tasks (default: a new one).")]
Project = Annotated[str | None, option("PRJ", "The project of the key that is created without --key.")]
MaxTasks = Annotated[int, option("N", "How many tasks to do at a time.", min=1, max=50)]
Key = Annotated[
    str | None,
    option("KEY", "Its API key (default: a temporary one, created with the owner's token).", envvar="TORYO_API_KEY"),
]
Capabilities = Annotated[list[str] | None, option("WORD", "What it is good at; repeatable.")]
Words = Annotated[list[str], argument("CMD...", "The command, and its arguments.")]


def add_to_agents(group: typer.Typer) -> None:
    command(group, "run", context_settings={"allow_interspersed_args": False})(run)


def run(
    here: Here,
    cmd: Words,
    type: Type,
    id: Id = None,
    project: Project = None,
    max_tasks: MaxTasks = 1,
    key: Key = None,
    capability: Capabilities = None,
) -> None:
    """Run a command for each task of a queue, until ^C. The command gets the task as JSON on stdin; its output is the
    result, and exit code 75 requests another attempt. ^C or SIGTERM finishes the current task first."""
    from toryo.cli.task_command import TaskCommand
    from toryo.client import QueueAgent

    if shutil.which(cmd[0]) is None:
        raise Misuse(f"The program {cmd[0]} was not found.", "Pass a program on PATH, or its path, after --.")
    _log(as_json=here.json)
    with TaskCommand(cmd, os.environ, secret=(key, here.token)) as work:
        QueueAgent(
            work,
            agent_type=type,
            agent_id=id,
            server=here.server,
            token=here.token,
            data_dir=here.data_dir,
            key=key,
            project=project,
            capabilities=capability or [],
            max_tasks=max_tasks,
        ).run()


def _log(*, as_json: bool) -> None:
    """What the agent does, a line each: on stderr for people, on stdout as JSON for scripts."""
    logger = logging.getLogger("toryo.agent")
    logger.handlers = [_JsonLines() if as_json else _Lines()]
    logger.setLevel(logging.INFO)
    logger.propagate = False


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        output.say(*record.getMessage().splitlines())


class _JsonLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        told: dict[str, Any] = getattr(record, "toryo", {})
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        output.line({"timestamp": moment.replace("+00:00", "Z"), "level": record.levelname.lower(), **told})
