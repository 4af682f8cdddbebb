"""What all calls of a server process share: settings, limits, and in-memory caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields
from typing import Any, Protocol

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND, Millis
from toryo.operations.calls import server_id
from toryo.operations.calls.awake import Awake
from toryo.operations.calls.decision_cache import HoldCache, Waits
from toryo.operations.calls.forecasting import Forecasting
from toryo.operations.calls.full_holders import Full
from toryo.operations.calls.internal_faults import Faults
from toryo.operations.calls.rate_limits import Pace
from toryo.operations.calls.recent_answers import RecentAnswers
from toryo.operations.calls.sign_in_lockout import Tries
from toryo.operations.calls.token_last_use import Uses
from toryo.settings import Settings
from toryo.storage.shared_state import InDatabase, Shared
from toryo.storage.transaction import Transaction
from toryo.workflow.guard_limits import Limits


@dataclass(frozen=True, slots=True)
class Context:
    """Shared by all calls; `holds` … `keys` are caches of this process, correct without being complete."""

    settings: Settings
    limits: Limits
    entropy: Callable[[int], int]
    """Returns an integer with this number of random bits."""
    holds: HoldCache = field(default_factory=HoldCache)
    waits: Waits = field(default_factory=Waits)
    faults: Faults = field(default_factory=Faults)
    talk: TalkLimits = field(default_factory=TalkLimits)
    shared: Callable[[Transaction], Shared] = InDatabase
    """Where shared values are."""
    uses: Uses = field(default_factory=Uses)
    tries: Tries = field(default_factory=Tries)
    keys: Pace = field(default_factory=Pace)
    """How often each API key calls."""
    full: Full = field(default_factory=Full)
    """Which API keys have stored as much as they may."""
    tokens: TokenFiles | None = None
    """The data directory whose tokens are good here."""
    forecasts: Forecasting | None = None
    """Who computes forecasts; None where nobody does."""
    awake: Awake = field(default_factory=Awake)
    """Since when this server has been there without a gap."""
    without_worktrees: dict[str, Millis] = field(default_factory=dict)
    """Projects that give no worktrees and have none open, and when they were changed last."""
    answers: RecentAnswers = field(default_factory=RecentAnswers)
    server_id: server_id.Remembered = field(default_factory=server_id.Remembered)


class TokenFiles(Protocol):
    """The part of a data directory that handles tokens."""

    @property
    def place(self) -> str:
        """Names the directory among those of all servers."""

    def renew(self, name: str) -> str:
        """Puts a new token into the file of that name, and answers it."""


def limits_of(settings: Settings) -> Limits:
    """The guards of the settings (seconds) as decisions take them (milliseconds)."""
    return Limits(**_in_milliseconds(Limits, settings.guards.model_dump()))


def chat_limits_of(settings: Settings) -> TalkLimits:
    """The chat settings (seconds) as the rules about talk take them (milliseconds)."""
    return TalkLimits(**_in_milliseconds(TalkLimits, settings.chat.model_dump()))


def _in_milliseconds(limits: type[Any], given: dict[str, int]) -> dict[str, int]:
    times = {each.name for each in fields(limits) if each.type == "Millis"}
    return {name: value * SECOND if name in times else value for name, value in given.items()}


def pace_of_keys(settings: Settings) -> Pace:
    """A minute's calls at once, then as many as become free."""
    a_minute = settings.auth.key_calls_per_minute
    return Pace(a_minute, 60 / a_minute)
