"""Cooldowns: after a failure a program of an agent is not started until a stored time; a success clears them.

`workflow/program_choice.py` decides which of the agent's programs can run in the meantime. The first and the longest
cooldown are in `workflow/guard_limits.py`, the usual pause after a failure that names no time in `failures.py`.
"""

from __future__ import annotations

from toryo import backoff, failures
from toryo.domain import quota_windows
from toryo.domain.agents import Agent, Program
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.quota_windows import Length
from toryo.domain.times import SECOND, Millis
from toryo.failures import Failure
from toryo.operations.calls.call import WORK, Call
from toryo.workflow import program_choice
from toryo.workflow.snapshot import Cooldown, Snapshot


@dataclass(frozen=True, slots=True)
class QuotaMessage:
    """What the message of a refusal names: seconds until requests are accepted again, and the window that is used up.
    None: it does not say so."""

    seconds: int | None = None
    window: Length | None = None


def after_exit(call: Call, launch: Launch, error: str | None, told: QuotaMessage, *, failed: bool) -> Millis | None:
    """A failure cools the agent down; an end that was ordered, or that the agent was told to make, does not."""
    never_signed_in = launch.signed_in_at is None
    reason = failures.class_of(error) or _unnamed(never_signed_in)
    refused = told.seconds is not None or reason in (Failure.RATE_LIMITED, Failure.QUOTA)
    ordered = failures.was_ordered(error) or (launch.told_to_leave and not refused)
    if ordered or not (failed or never_signed_in or refused):
        return None
    if refused and reason != Failure.RATE_LIMITED:
        reason = Failure.QUOTA.value
    account = launch.account if reason == Failure.QUOTA else None
    explained = None
    if launch.state is State.EXPIRED:  # The agent is already in cooldown for it.
        explained = _explain_missing(
            call, launch, reason, told.seconds or _usual_pause(reason) if account is None else None
        )
    if account is not None:
        return _cool_account(call, account, reason, told, launch.agent_id)
    if launch.state is State.EXPIRED:
        return explained
    project_id = launch.project_id if reason in _OF_PROJECT else None
    return cool(call, launch.agent_id, launch.purpose, reason, told.seconds, program_of(launch), project_id)


_REFUSED_AGAIN = 12
"""First cooldowns for an account whose messages name times that are too short: it is tried six times in an hour."""


def _unnamed(never_signed_in: bool) -> str:
    """The class of a failure of which its Coordinator tells none."""
    return (Failure.COULD_NOT_CONNECT if never_signed_in else Failure.CRASHED).value


def cool(
    call: Call,
    agent_id: str,
    purpose: Purpose,
    reason: str,
    seconds: int | None,
    program: str | None = None,
    project_id: str | None = None,
) -> Millis | None:
    """A failed start or run: the program is not started until a moment that the server knows; answers that moment.

    `Limits.cooldown`, doubling to `Limits.longest_cooldown` (`workflow/guard_limits.py`), or longer if a quota message
    names more `seconds`, or more is usual for the failure, with a margin (`_with_margin`): whatever a program says, it
    starts at most six times in an hour of failures. `program` names the one that failed; None: any would. Each has its
    own end and its own count. One that the agent no longer has is not started anyway. `project_id`: whose fault it was,
    and where alone it is not started.
    """
    if program is not None and program not in _programs(call, agent_id):
        return None
    limits = call.context.limits
    before = _of_program(call, agent_id, purpose, program, project_id)
    times = before.failures + 1 if before is not None else 1
    seconds = seconds or _usual_pause(reason)
    wait = max(backoff.pause(times, limits.cooldown, limits.longest_cooldown), _with_margin(call, seconds or 0))
    cooldown = Cooldown(call.now + wait, reason, times, program, project_id)
    _begin(call, agent_id, purpose, cooldown)
    return cooldown.until


def _of_program(
    call: Call, agent_id: str, purpose: Purpose, program: str | None, project_id: str | None = None
) -> Cooldown | None:
    found = call.tx.agents.cooldowns(agent_id).get(purpose, ())
    return next((each for each in found if (each.program, each.project_id) == (program, project_id)), None)


def _begin(call: Call, agent_id: str, purpose: Purpose, cooldown: Cooldown) -> None:
    call.tx.agents.cool(agent_id, purpose, cooldown)
    call.event(
        "agent.cooling_down",
        agent_id=agent_id,
        data={
            "purpose": purpose.value,
            "reason": cooldown.reason,
            "until": cooldown.until,
            "failures": cooldown.failures,
            "program": cooldown.program,
        },
    )
    call.tx.hint(WORK)


def _cool_account(call: Call, account: str, reason: str, told: QuotaMessage, agent_id: str) -> int:
    """The quota of an account is used up: nobody who works on it is started until a moment that the server knows.

    For the seconds that the message names, with a margin as for `cool`, or what is usual. Of several messages the one
    that says longest counts: they may speak of different limits (of the hour, of the week). At least as long as after
    any first failure, and for `_REFUSED_AGAIN` if the last time that was named has just passed and did not help.
    """
    least, before = call.context.limits.cooldown, call.tx.agents.accounts([account]).get(account)
    again = _REFUSED_AGAIN * least
    if before is not None and call.now - again < before[0] <= call.now:
        least = again
    wait = max(least, _with_margin(call, told.seconds or _usual_pause(reason) or 0))
    call.tx.agents.cool_account(account, call.now + wait, reason)
    until, _ = call.tx.agents.accounts([account])[account]
    _learn_limit(call, account, told)
    call.event("account.used_up", agent_id=agent_id, data={"account": account, "reason": reason, "until": until})
    call.tx.hint(WORK)
    return until


def _learn_limit(call: Call, account: str, told: QuotaMessage) -> None:
    """What an account had used in a window when it was refused is what it may use; the message says when that ends.

    Not if it could use more before, not long ago: then it was also used elsewhere this time.
    """
    if told.seconds is None:
        return
    windows, left = call.tx.quota_windows.of([account]), told.seconds * SECOND
    length = quota_windows.used_up(windows, left, told.window, call.now)
    window = next((each for each in windows if each.length is length), None)
    used = window.used_now(call.now) if window is not None else 0
    if window is None or used == 0:
        return
    window = replace(window, began_at=call.now + left - window.length.millis)
    if used >= (window.learnt(call.now) or 0):
        window = replace(window, learnt_limit=used, learnt_at=call.now)
    call.tx.quota_windows.learn(window)


def _explain_missing(call: Call, launch: Launch, reason: str, seconds: int | None) -> int | None:
    """Why nobody has signed in for a launch that has expired: known when its process has ended, and no new failure."""
    found = _of_program(call, launch.agent_id, launch.purpose, program_of(launch))
    if found is None or found.until <= call.now or found.reason != Failure.COULD_NOT_CONNECT:
        return None
    if reason == found.reason:
        return found.until
    until = call.now + _with_margin(call, seconds) if seconds is not None else found.until
    _begin(call, launch.agent_id, launch.purpose, replace(found, until=until, reason=reason))
    return until


def _usual_pause(reason: str) -> int | None:
    """Seconds where the message names none."""
    nature = failures.nature_of(reason)
    return nature.usual_pause if nature is not None else None


def _with_margin(call: Call, seconds: int) -> Millis:
    """How long to wait where a message names seconds: a little longer, but not by much."""
    margin = seconds * 10 * call.context.limits.quota_margin_percent
    return seconds * SECOND + min(margin, _LONGEST_MARGIN)


_LONGEST_MARGIN: Millis = 180 * SECOND
"""Clocks differ by seconds. What is more than that is quota that is paid for, and not used."""


def clear(call: Call, agent_id: str, purpose: Purpose, launch: Launch | None) -> None:
    """A success clears the failures of its program, and those that are over of the programs after it.

    It does not prove that a program before it can be used again: if that fails again, it waits longer than before. Nor
    does it prove that people have done what they must for another program alone.
    """
    found = call.tx.agents.cooldowns(agent_id).get(purpose, ())
    if not found:
        return
    ran, names = program_of(launch), _programs(call, agent_id)
    after = names[names.index(ran) + 1 :] if ran in names else []

    def cleared(each: Cooldown) -> bool:
        if each.project_id is not None and (launch is None or each.project_id != launch.project_id):
            return False
        if each.program in (None, ran):
            return True
        nature = failures.nature_of(each.reason)
        its_own = nature is not None and nature.people is not None and nature.fallback
        return each.until <= call.now and each.program in after and not its_own

    call.tx.agents.warm(agent_id, purpose, [each for each in found if cleared(each)])


def _programs(call: Call, agent_id: str) -> list[str]:
    """The names of an agent's programs, in their order."""
    agent = call.tx.agents.find(agent_id)
    return [program.name for program in agent.programs] if agent is not None else []


def after_edit(call: Call, agent: Agent) -> None:
    """What people correct in an agent was corrected: the next start shows whether that was enough. Nothing is kept of
    a program that it no longer has."""
    names = {program.name for program in agent.programs}
    for purpose, found in call.tx.agents.cooldowns(agent.id).items():
        gone = [each for each in found if each.program is not None and each.program not in names]
        call.tx.agents.warm(agent.id, purpose, [*gone, *(each for each in found if each.reason in _OF_AGENT)])


def project_edited(call: Call, agent_id: str) -> None:
    """The same for what people correct in a project, of one of its agents."""
    for purpose, found in call.tx.agents.cooldowns(agent_id).items():
        call.tx.agents.warm(agent_id, purpose, [each for each in found if each.reason in _OF_PROJECT])


_OF_AGENT = frozenset(failure.value for failure, nature in failures.NATURES.items() if nature.correct)
_OF_PROJECT = frozenset(failure.value for failure, nature in failures.NATURES.items() if nature.correct_project)
"""Failures that a change of an agent, or of a project, corrects."""


def program_of(launch: Launch | None) -> str | None:
    """The name of the program that a launch was for."""
    ran = ran_by(launch)
    return ran.name if ran is not None else None


def ran_by(launch: Launch | None) -> Program | None:
    """The program that a launch was for; None: it was for none, or there was no launch."""
    if launch is None or launch.provider is None:
        return None
    return Program(launch.provider, launch.model, launch.account)


def is_hindered(snapshot: Snapshot, launch: Launch) -> bool:
    """Whether the program of a launch is in cooldown now because another agent has used up its account."""
    ran = program_of(launch)
    programs_of = snapshot.agent.programs if snapshot.agent is not None else ()
    return any(
        program_choice.hindrances(snapshot, launch.purpose, program) for program in programs_of if program.name == ran
    )
