"""When the time of a session or of a launch is over: at its end to the millisecond, and never of what has ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.sessions import End, Session

TIME_IS_OVER = 1_000
SESSION = Session(
    "ses_1",
    "ann",
    "p1",
    Purpose.TASK,
    task_id="t",
    launch_id="lau_1",
    fence=1,
    lease_seconds=1,
    expires_at=TIME_IS_OVER,
    created_at=0,
    last_call_at=0,
    heard_at=0,
    patience=1,
)
LAUNCH = Launch(
    "lau_1",
    "ann",
    "p1",
    Purpose.TASK,
    task_id="t",
    reason="",
    fence=1,
    state=State.ORDERED,
    provider=None,
    model=None,
    coordinator_id=None,
    ordered_at=0,
    deadline=TIME_IS_OVER,
)


@pytest.mark.parametrize("thing", [SESSION, LAUNCH], ids=["session", "launch"])
@pytest.mark.parametrize(("now", "over"), [(TIME_IS_OVER - 1, False), (TIME_IS_OVER, True), (TIME_IS_OVER + 1, True)])
def test_the_time_of_what_is_alive_is_over_at_the_millisecond_that_was_said(
    thing: Session | Launch, now: int, over: bool
) -> None:
    assert thing.ran_out(now) is over


@pytest.mark.parametrize("reason", End)
def test_a_session_that_has_ended_does_not_run_out_whatever_has_ended_it(reason: End) -> None:
    ended = replace(SESSION, ended_at=TIME_IS_OVER - 1, end_reason=reason)
    assert ended.over
    assert not ended.ran_out(TIME_IS_OVER + 1)


@pytest.mark.parametrize("state", sorted({*State} - {State.ORDERED}))
def test_only_a_launch_that_waits_for_its_sign_in_runs_out(state: State) -> None:
    assert not replace(LAUNCH, state=state).ran_out(TIME_IS_OVER + 1)
