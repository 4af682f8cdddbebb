"""`toryo logs`: what an agent's process printed, of one launch or of an agent's newest."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from toryo.cli.failures import Failure
from toryo.cli.here import Here, command

LAUNCH = "lau_"
LIVE = frozenset({"ordered", "signed_in"})
LOOK_AGAIN_SECONDS = 1


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
        text, offset = _rest(here, launch, 0)
        from toryo.cli import output

        output.document({"success": True, "launch_id": launch, "text": text, "next_offset": offset})
        return
    offset = _print_from(here, launch, 0)
    while follow and _live(here, launch):
        _wait(here)
        offset = _print_from(here, launch, offset)


def _newest(here: Here, agent: str) -> str:
    launches = here.get("/launches", agent_id=agent)["launches"]
    if not launches:
        raise Failure(f"{agent} was never started.", f"See why: toryo why {agent}")
    newest: dict[str, Any] = max(launches, key=lambda each: each["ordered_at"])
    return str(newest["launch_id"])


def _rest(here: Here, launch: str, offset: int) -> tuple[str, int]:
    """Everything from an offset on, and where it ends."""
    parts: list[str] = []
    while True:
        page = here.get(f"/launches/{launch}/log", offset=offset)
        parts.append(page["text"])
        if page["next_offset"] == offset:
            return "".join(parts), offset
        offset = page["next_offset"]


def _print_from(here: Here, launch: str, offset: int) -> int:
    text, offset = _rest(here, launch, offset)
    sys.stdout.write(text)
    sys.stdout.flush()
    return offset


def _live(here: Here, launch: str) -> bool:
    launches = here.get("/launches")["launches"]
    return any(each["launch_id"] == launch and each["state"] in LIVE for each in launches)


def _wait(here: Here) -> None:
    """Output makes no event, so this waits for one only as long as a person would before looking again."""
    last = here.get("/events", limit=1)["last"]
    here.get("/events", after=last, wait_seconds=LOOK_AGAIN_SECONDS)
