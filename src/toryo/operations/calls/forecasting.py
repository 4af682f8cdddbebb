"""What a server knows of the forecasts of its projects, and how one is started. `server/forecasts.py` computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import MINUTE, Millis

State = Literal["waiting", "running", "done", "failed"]
GOOD_FOR: Millis = 10 * MINUTE
"""A forecast that is not older is answered again, unless another one is asked for."""


@dataclass(frozen=True, slots=True)
class Forecasted:
    """The newest forecast of a project: how far it is and, once one was done, what it says."""

    state: State
    max_concurrent: int
    started_at: Millis
    ended_at: Millis | None = None
    reason: str | None = None
    """Why it failed."""
    found: Mapping[str, Any] | None = None
    """What was computed last, perhaps by an earlier one."""
    found_at: Millis | None = None
    found_with: int | None = None
    """With how many processes at a time that was."""

    @property
    def under_way(self) -> bool:
        return self.state in ("waiting", "running")

    def answers(self, max_concurrent: int, now: Millis) -> bool:
        """Whether it is still good for somebody who asks for one with these processes."""
        return (
            self.state == "done"
            and self.max_concurrent == max_concurrent
            and self.found_at is not None
            and now - self.found_at < GOOD_FOR
        )


class Forecasting(Protocol):
    """Computes forecasts outside of the server's process, one at a time. Nothing of it outlives the server."""

    def of(self, project_id: str) -> Forecasted | None:
        """None: there was none since the server's start."""

    def start(self, project_id: str, max_concurrent: int) -> None:
        """Begins one, unless one of this project is under way."""
