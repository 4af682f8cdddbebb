"""`toryo logs`: what an agent's process printed, of one launch or of an agent's newest."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from toryo.cli import completing, output, usage
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
    of: Annotated[
        str,
        typer.Argument(
            metavar="LAUNCH|AGENT", help="A launch, or an agent: its newest launch.", autocompletion=completing.agents
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="And what comes, until the process ends.")] = False,
) -> None:
    """What an agent's process printed."""
    launch = of if of.startswith(LAUNCH) else _newest(here, of)
    if here.json:
        text, last = _rest(here, launch, 0)
        said = {"next_offset": last["next_offset"], "usage": last["launch"]["usage"], "removed": last.get("removed")}
        output.document({"success": True, "launch_id": launch, "text": text, **said})
        return
    text, last = _rest(here, launch, 0)
    output.text(text)
    if follow and not last["ended"]:
        last = _follow(here, launch, last["next_offset"])
    for each in remarks(last):
        output.say(each)


def _follow(here: Here, launch: str, offset: int) -> dict[str, Any]:
    """Until the process has ended and nothing more comes: its last output may arrive after the news of its end."""
    last: dict[str, Any] = {"ended": False, "next_offset": offset}
    while not last["ended"]:
        text, last = _rest(here, launch, last["next_offset"], wait_seconds=WAIT_SECONDS)
        output.text(text)
    quiet = False
    while not quiet:
        time.sleep(LAST_OUTPUT_SECONDS)
        text, last = _rest(here, launch, last["next_offset"])
        output.text(text)
        quiet = not text
    return last


def remarks(last: dict[str, Any]) -> list[str]:
    """What is to be said after the output: that it is not kept any more, and what was used by the end."""
    used = last["launch"]["usage"] if last["ended"] else None
    told = [f"used: {usage.brief(used)}"] if used and "lower_bound" in used else []
    return [*filter(None, [last.get("removed")]), *told]


def _newest(here: Here, agent: str) -> str:
    launches = here.get("/launches", agent_id=agent)["launches"]
    if not launches:
        here.get(f"/agents/{agent}")  # one that is not there is refused, with those that may be meant
        raise Failure(f"{agent} was never started.", f"See why: toryo why {agent}")
    return str(launches[0]["launch_id"])


def _rest(here: Here, launch: str, offset: int, wait_seconds: int | None = None) -> tuple[str, dict[str, Any]]:
    """Everything from an offset on, and the last answer about it; waits only if there is none."""
    parts: list[str] = []
    while True:
        page = here.get(f"/launches/{launch}/log", offset=offset, wait_seconds=wait_seconds)
        parts.append(page["text"])
        if page["next_offset"] == offset or page["ended"]:
            return "".join(parts), page
        offset, wait_seconds = page["next_offset"], None
