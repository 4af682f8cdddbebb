"""The program that would run an agent if it were started now: its own, a fallback, or none during a cooldown.

A failure puts a program of the agent in cooldown; a used-up quota puts its account in cooldown, and so all agents of
that account. A fallback is used only where it can help; if it fails too, the next one is used, and after the last the
agent waits until the first of them can be started again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toryo import failures
from toryo.domain.agents import Program
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Priority
from toryo.domain.times import Millis
from toryo.workflow.snapshot import Cooldown, Snapshot


def choose(s: Snapshot, purpose: Purpose, priority: Priority | None = None) -> Program | None:
    """The first of its programs that can be started; None: in cooldown, or not started by a Coordinator.

    `priority`: that of the task it is for, where what is left of its accounts may be kept for other tasks.
    """
    return next(able(s, purpose, priority), None)


def able(s: Snapshot, purpose: Purpose, priority: Priority | None = None) -> Iterator[Program]:
    """All of its programs that can be started, in their order; `priority` as for `choose`."""
    for program in _programs(s):
        if not hindrances(s, purpose, program) and _kept_until(s, program, priority) is None:
            yield program


def kept_from(s: Snapshot, priority: Priority) -> bool:
    """Whether its accounts are kept for tasks of a higher priority, and nothing else prevents a start."""
    return choose(s, Purpose.TASK) is not None and choose(s, Purpose.TASK, priority) is None


def _kept_until(s: Snapshot, program: Program, priority: Priority | None) -> Millis | None:
    if priority is None:  # what is kept is read only where somebody asks for it
        return None
    kept = s.kept.get(program.account or "")
    return kept.until(priority) if kept is not None else None


def hindrance(s: Snapshot, purpose: Purpose) -> Cooldown | None:
    """What prevents a start of the agent's own program now; of two cooldowns, the longer one."""
    own = s.agent.program if s.agent is not None else None
    return _longest(hindrances(s, purpose, own)) if own is not None else None


def own_cooldown(s: Snapshot, purpose: Purpose) -> Cooldown | None:
    """The failure for which the program that can be started first must wait; None: it waits for its account only, or
    one can be started now."""
    first = first_again(s, purpose)
    return _longest(_failures(s, purpose, first)) if first is not None else None


def first_again(s: Snapshot, purpose: Purpose) -> Program | None:
    """The program that can be started first; of several, the first one. None: no Coordinator starts the agent."""
    return min(_programs(s), key=lambda program: _free_at(s, purpose, program), default=None)


def _longest(cooldowns: Iterable[Cooldown]) -> Cooldown | None:
    return max(cooldowns, key=lambda each: each.until, default=None)


def cooling_down(s: Snapshot, purpose: Purpose) -> bool:
    return bool(_programs(s)) and choose(s, purpose) is None


def until(s: Snapshot, purpose: Purpose, priority: Priority | None = None) -> Millis | None:
    """When the first of its programs can be started again; `priority` as for `choose`."""
    return min((_free_at(s, purpose, program, priority) for program in _programs(s)), default=None)


def _free_at(s: Snapshot, purpose: Purpose, program: Program, priority: Priority | None = None) -> Millis:
    ends = [cooldown.until for cooldown in hindrances(s, purpose, program)]
    return max([*ends, _kept_until(s, program, priority) or 0]) or s.now


def hindrances(s: Snapshot, purpose: Purpose, program: Program) -> list[Cooldown]:
    """The cooldowns that prevent a start of this program of the agent."""
    account = s.accounts.get(program.account or "")
    used_up = [account] if account is not None and s.now < account.until else []
    return [*_failures(s, purpose, program), *used_up]


def _failures(s: Snapshot, purpose: Purpose, program: Program) -> list[Cooldown]:
    """Those for which this program of the agent cannot be started."""
    lasting = (each for each in s.cooldowns.get(purpose, ()) if s.now < each.until)
    here = (each for each in lasting if not s.project_id or each.project_id in (None, s.project_id))
    return [each for each in here if _concerns(each, program, _programs(s))]


def own_used_up(s: Snapshot, purpose: Purpose) -> str | None:
    """The account of its own program, if its used-up quota is what prevents a start of that program."""
    own, held = s.agent.program if s.agent is not None else None, hindrance(s, purpose)
    if own is None or own.account is None or held is None or held != s.accounts.get(own.account):
        return None
    return own.account


def used_up(s: Snapshot) -> list[str]:
    """The accounts of its programs whose quota is used up, that of its own program first."""
    accounts = dict.fromkeys(each.account or "" for each in _programs(s))
    return [name for name in accounts if name in s.accounts and s.now < s.accounts[name].until]


def _concerns(cooldown: Cooldown, program: Program, programs: tuple[Program, ...]) -> bool:
    """Whether a cooldown applies to this program.

    It does for a failure of this program or of an unknown one, and for a failure of one before it that another program
    would repeat. A failure of a fallback does not affect the programs before it, nor does one of a program that the
    agent no longer has.
    """
    if cooldown.program in (None, program.name):
        return True
    before = programs[: programs.index(program)]
    return not _a_fallback_helps(cooldown.reason) and any(each.name == cooldown.program for each in before)


def _programs(s: Snapshot) -> tuple[Program, ...]:
    """Its own program, then its fallbacks."""
    return s.agent.programs if s.agent is not None else ()


def _a_fallback_helps(reason: str) -> bool:
    """Whether a failure concerns one program only. A crash would happen to any program."""
    nature = failures.nature_of(reason)
    return nature is not None and nature.fallback
