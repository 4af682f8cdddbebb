"""`toryo up`, `toryo server`, `toryo coordinator`: the processes that run until somebody ends them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.failures import Failure, Misuse
from toryo.cli.here import Here, command

coordinators = typer.Typer(
    help="Start and watch the agents' processes on this machine.", invoke_without_command=True, rich_markup_mode=None
)

Host = Annotated[str | None, typer.Option("--host", metavar="HOST", help="Where to listen (127.0.0.1).")]
Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Where to listen (8765); 0 picks one.")
]
Socket = Annotated[Path | None, typer.Option("--socket", metavar="PATH", help="Also listen on this Unix socket.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="sqlite:///… or postgresql://… (toryo.db in the data directory)."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="Its coordinator_config.yaml.")]
MaxConcurrent = Annotated[
    int | None, typer.Option("--max-concurrent", min=1, metavar="N", help="How many processes at a time.")
]


def add(app: typer.Typer) -> None:
    command(app, "up", options=("data_dir",))(up)
    command(app, "server", options=("data_dir",))(server)
    app.add_typer(coordinators, name="coordinator")


def up(
    here: Here,
    port: Port = None,
    host: Host = None,
    database: DatabaseUrl = None,
    max_concurrent: MaxConcurrent = None,
    _no_open: Annotated[bool, typer.Option("--no-open", hidden=True)] = False,
) -> None:
    """A server and a Coordinator, until ^C. They end in order: the Coordinator and its agents first."""
    from toryo.cli.processes import Crew

    data = _arguments({"--data-dir": here.data_dir})
    serving = _arguments({"--host": host, "--port": port, "--database": database})
    starting = _arguments({"--max-concurrent": max_concurrent})
    signal.signal(signal.SIGTERM, _leave)
    with Crew([*data, *serving], [*data, *starting], os.environ, _hear) as crew:
        output.say(f"Toryo is up at {crew.address}; ^C ends it.")
        name = crew.wait()
    raise Failure(f"The {name} has ended by itself, so Toryo is down.", "What it printed last stands above.")


def server(
    here: Here,
    host: Host = None,
    port: Port = None,
    socket: Socket = None,
    database: DatabaseUrl = None,
) -> None:
    """The server alone. It is ready when it prints `ready http://…` on stderr."""
    from toryo.server import app

    app.run(_settings(host=host, port=port, socket=socket, data_dir=here.data_dir, database=database))


def _hear(name: str, line: str) -> None:
    output.say(f"{name}: {line}")


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)


def _arguments(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() if value is not None for word in (name, str(value))]


def _settings(**given: Any) -> Any:
    """The server's settings: what was said here, else the environment, else the defaults."""
    from pydantic import ValidationError

    from toryo.settings import Settings

    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise Misuse(f"The setting {name} is wrong: {first['msg']}.", "See docs/reference/settings.md.") from None
