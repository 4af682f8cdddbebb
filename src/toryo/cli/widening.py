"""Changes that grant agents or people more rights ask for confirmation first: `--yes` in scripts.

What widens is decided by the server, which is asked by the same request with `preview`. Nothing here knows a rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.failures import Misuse
from toryo.cli.here import Here

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation if this grants more rights.")]


def patch(here: Here, path: str, body: Mapping[str, Any], *, yes: bool) -> dict[str, Any]:
    """Sends the change; asks first if it grants more rights. Raises Misuse where nobody can be asked."""
    if not yes:
        confirm(here, widened(here, path, body))
    answer = here.send("PATCH", path, body)
    warn(answer)
    return answer


def widened(here: Here, path: str, body: Mapping[str, Any]) -> list[str]:
    return list(here.send("PATCH", path, {**body, "preview": True}).get("widened", ()))


def confirm(here: Here, found: Iterable[str], about: str = "This") -> None:
    """Lets it pass if nothing is widened, or somebody says yes."""
    words = "; ".join(found)
    if not words:
        return
    if here.json or not sys.stdin.isatty():
        raise Misuse(f"{about} grants more rights: {words}.", "Nothing was changed. Use --yes to confirm.")
    typer.confirm(f"{about} grants more rights: {words}. Continue?", abort=True, err=True)


def warn(answer: Mapping[str, Any]) -> None:
    """What the server has accepted and will not work as it stands."""
    for each in answer.get("warnings", ()):
        output.say(f"toryo: warning: {each}")


def of_role(before: str | None, after: str) -> list[str]:
    """A person's role that is worth more than the one before; of somebody unknown the server says so."""
    ranks = ("viewer", "member", "owner")
    wider = before in ranks and ranks.index(after) > ranks.index(str(before))
    return [f"role: {before} → {after}"] if wider else []
