"""Commands that wait (`--follow`, `task watch`, `task merge`) survive a restart of the server: they wait until it is
back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any

from toryo.cli import output
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import ServerAway

GIVE_UP_SECONDS = 300
LOOK_EVERY_SECONDS = 1.0


def following(here: Here) -> Patient:
    """The same server, asked patiently; what was said before counts."""
    return Patient(**{field.name: getattr(here, field.name) for field in fields(here)})


@dataclass
class Patient(Here):
    patience: float = GIVE_UP_SECONDS
    """Seconds for which the server may be away at a time."""

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        """Raises ServerAway if the server stays away for too long."""
        give_up: float | None = None
        while True:
            try:
                answer = super().get(path, **params)
            except Exception as error:
                if not _is_away(error):
                    raise
                if give_up is None:
                    give_up = time.monotonic() + self.patience
                    long = output.duration(self.patience)
                    output.say(f"The server does not answer. Waiting up to {long}; ^C stops waiting.")
                if time.monotonic() >= give_up:
                    raise ServerAway(
                        f"The server has not answered for {output.duration(self.patience)}.",
                        "Start it with `toryo up`, then repeat this command.",
                    ) from error
            else:
                if give_up is not None:
                    output.say("The server answers again.")
                return answer
            self.look_again()
            time.sleep(LOOK_EVERY_SECONDS)


def _is_away(error: Exception) -> bool:
    from toryo.client import RefusalError, Unreachable

    return isinstance(error, (Unreachable, ServerAway)) or (
        isinstance(error, RefusalError) and error.code == "unavailable"
    )
