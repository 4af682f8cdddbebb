"""Which program would run an agent if it were started now: its own, the one that stands in, or none for a while.

A failure cools the agent down; a used-up quota cools its account down, and with it everybody who works on that. The
one that stands in is asked only where it can help; when it fails too, the agent waits.
"""

from __future__ import annotations

from toryo import failures
from toryo.domain.agents import Program
from toryo.domain.launches import Purpose
from toryo.domain.times import Millis
from toryo.workflow.snapshot import Cooldown, Snapshot


def chosen(s: Snapshot, purpose: Purpose) -> Program | None:
    """The first of its programs that nothing hinders; None: it cools down (or nobody starts it)."""
    return next((program for program in _programs(s) if not hindrances(s, purpose, program)), None)


def hindrance(s: Snapshot, purpose: Purpose) -> Cooldown | None:
    """What keeps an agent's own program from being started now; of two, what lasts longer."""
    own = s.agent.program if s.agent is not None else None
    found = hindrances(s, purpose, own) if own is not None else []
    return max(found, key=lambda each: each.until, default=None)


def cooling_down(s: Snapshot, purpose: Purpose) -> bool:
    return bool(_programs(s)) and chosen(s, purpose) is None


def until(s: Snapshot, purpose: Purpose) -> Millis | None:
    """When something can be started again: by its own program, or by the one that stands in."""
    ends = [
        max((cooldown.until for cooldown in hindrances(s, purpose, program)), default=s.now) for program in _programs(s)
    ]
    return min(ends, default=None)


def hindrances(s: Snapshot, purpose: Purpose, program: Program) -> list[Cooldown]:
    """What keeps this one of the agent's programs from being started now."""
    row = s.cooldowns.get(purpose)
    account = s.accounts.get(program.account) if program.account is not None else None
    concerns = row if row is not None and _concerns(row, program, _programs(s)) else None
    return [cooldown for cooldown in (concerns, account) if cooldown is not None and s.now < cooldown.until]


def _concerns(row: Cooldown, program: Program, programs: tuple[Program, ...]) -> bool:
    """Whether a failure speaks against starting this program.

    Its own failure does; so does one of no certain program, and one of the agent's own program that another would not
    mend. Not one of the stand-in against the own one, nor one of a program that the agent has no longer.
    """
    if row.program in (None, program.name):
        return True
    return row.program == programs[0].name and not _a_fallback_helps(row.reason)


def _programs(s: Snapshot) -> tuple[Program, ...]:
    """Its own, then the one that stands in."""
    return s.agent.programs if s.agent is not None else ()


def _a_fallback_helps(reason: str) -> bool:
    """A crash says nothing against a program that would not be said against another."""
    nature = failures.nature_of(reason)
    return nature is not None and nature.fallback
