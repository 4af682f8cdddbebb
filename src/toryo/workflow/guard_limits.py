"""Limits of guards, grace times and cooldowns: the defaults of the server's settings.

The guards themselves and the budget are rows of `launch_rules.py`; each project has its own budget
(`domain/projects.py`).
"""

from __future__ import annotations

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import SECOND, Millis


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of guards and grace times. Times are milliseconds."""

    stop_grace: Millis = 60 * SECOND
    pause_grace: Millis = 300 * SECOND
    same_answers: int = 25
    refusals: int = 20
    idle_calls: int = 300
    calls: int = 2_000
    moves_of_one_task: int = 20
    silence: Millis = 1_800 * SECOND
    run_time: Millis = 86_400 * SECOND
    idle_launches: int = 5
    unreported_ends: int = 3
    cooldown: Millis = 60 * SECOND
    longest_cooldown: Millis = 3_600 * SECOND
    quota_margin_percent: int = 10
