"""Changes that widen the rights of agents or people ask for confirmation first (`--yes` in scripts). So does a provider
that looks misspelt, with which the agent would never start.

The server decides what widens rights and which providers exist; it gets the same request with `preview`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from toryo.cli import output, terminal_questions
from toryo.cli.command_context import Here, flag
from toryo.cli.exit_codes import Misuse

Yes = Annotated[bool, flag("Do not ask for confirmation if this grants more rights.", "--yes", "-y")]
YesOfAgents = Annotated[
    bool,
    flag(
        "Do not ask for confirmation if this grants more rights, and accept a provider or account that looks misspelt.",
        "--yes",
        "-y",
    ),
]
MEANT = "Did you mean"
"""Stands in the server's words where it knows a name that is like the one that was given."""
LATER = "if a Coordinator will have it, add --yes"


def patch(here: Here, path: str, body: Mapping[str, Any], *, yes: bool) -> dict[str, Any]:
    return send(here, "PATCH", path, body, yes=yes)


def send(here: Here, method: str, path: str, body: Mapping[str, Any], *, yes: bool) -> dict[str, Any]:
    """Sends the change; asks first if it grants more rights. Raises Misuse where nobody can be asked, and for a
    provider or account that looks misspelt."""
    if not yes:
        widened, misspelt = preview(here, path, body, method)
        if misspelt:
            raise Misuse(" ".join(misspelt), f"Nothing was changed; {LATER}.")
        confirm(here, widened)
    answer = here.send(method, path, body)
    warn(answer)
    return answer


def preview(here: Here, path: str, body: Mapping[str, Any], method: str = "PATCH") -> tuple[list[str], list[str]]:
    """What the change widens, and what it names that looks misspelt. Of a provider that nobody knows and that is like
    no other, the server only warns: its Coordinator may come later."""
    answer = here.send(method, path, {**body, "preview": True})
    names = {"provider", "provider_options"} & body.keys()  # what an edit does not touch is not its mistake
    misspelt = [each for each in answer.get("warnings", ()) if names and MEANT in each]
    return list(answer.get("widened", ())), misspelt


def confirm(here: Here, found: Iterable[str], about: str = "This") -> None:
    """Lets it pass if nothing is widened, or somebody says yes."""
    words = "; ".join(found)
    if not words:
        return
    told = f"{about} grants more rights: {words}."
    unasked = Misuse(told, "Nothing was changed. Use --yes to confirm.")
    terminal_questions.confirm(here, f"{told} Continue?", unasked=unasked)


def warn(answer: Mapping[str, Any], place: str = "") -> None:
    """What the server has accepted and will not work as it is; `place` is where to correct it."""
    for warning in answer.get("warnings", ()):
        output.say(f"toryo: warning: {place}{warning}")


def of_role(before: str | None, after: str) -> list[str]:
    """A person's role that is worth more than the one before; of somebody unknown the server says so."""
    ranks = ("viewer", "member", "owner")
    wider = before in ranks and ranks.index(after) > ranks.index(str(before))
    return [f"role: {before} → {after}"] if wider else []
