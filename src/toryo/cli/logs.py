"""`toryo logs`: what an agent's process printed, of one launch or of an agent's newest."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from toryo.cli.failures import Failure
from toryo.cli.here import Here, command

LAUNCH = "lau_"
WAIT_SECONDS = 20
"""How long one look waits at the server while following."""
LAST_OUTPUT_SECONDS = 1.0
"""How long the last output may take to reach the server."""


def add(app: typer.Typer) -> None:
    command(app, "logs")(logs)


def logs(
    here: Here,
    of: Annotated[str, typer.Argument(metavar="LAUNCH|AGENT", help="A launch, or an agent: its newest launch.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="And what comes, until the process ends.")] = False,
) -> None:
    """What an agent's process printed."""
    launch = of if of.startswith(LAUNCH) else _newest(here, of)
    if here.json:
        from toryo.cli import output

        text, offset, _ = _rest(here, launch, 0)
        output.document({"success": True, "launch_id": launch, "text": text, "next_offset": offset})
        return
    text, offset, ended = _rest(here, launch, 0)
    _print(text)
    if follow and not ended:
        _follow(here, launch, offset)


def _follow(here: Here, launch: str, offset: int) -> None:
    """Until the process has ended and nothing more comes: its last output may arrive after the news of its end."""
    ended = False
    while not ended:
        text, offset, ended = _rest(here, launch, offset, wait_seconds=WAIT_SECONDS)
        _print(text)
    quiet = False
    while not quiet:
        time.sleep(LAST_OUTPUT_SECONDS)
        text, offset, _ = _rest(here, launch, offset)
        _print(text)
        quiet = not text


def _newest(here: Here, agent: str) -> str:
    launches = here.get("/launches", agent_id=agent)["launches"]
    if not launches:
        raise Failure(f"{agent} was never started.", f"See why: toryo why {agent}")
    return str(launches[0]["launch_id"])


def _rest(here: Here, launch: str, offset: int, wait_seconds: int | None = None) -> tuple[str, int, bool]:
    """Everything from an offset on, where it ends, and whether the process has ended; waits only if there is none."""
    parts: list[str] = []
    while True:
        page = here.get(f"/launches/{launch}/log", offset=offset, wait_seconds=wait_seconds)
        parts.append(page["text"])
        if page["next_offset"] == offset or page["ended"]:
            return "".join(parts), page["next_offset"], page["ended"]
        offset, wait_seconds = page["next_offset"], None


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
