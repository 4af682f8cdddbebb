"""Delegations with their lease."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.things import NOW
from toryo.domain import delegations
from toryo.domain.delegations import Delegation, DelegationStatus
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND

LIMITS = TalkLimits()
LATER = NOW + SECOND


def wish(**fields: Any) -> Delegation:
    """ann's task session wants something said to bob."""
    given: dict[str, Any] = {
        "id": "dlg",
        "project_id": "prj",
        "agent_id": "ann",
        "task_id": "job",
        "root_id": "main",
        "target_agent_id": "bob",
        "purpose": "Ask for the key.",
        "context": {"door": "red"},
        "await_result": True,
        "status": DelegationStatus.PENDING,
        "created_at": NOW,
    }
    return Delegation(**{**given, **fields})


TAKEN = delegations.taken(wish(), "ses_1", NOW)


def test_who_fetches_it_has_it_in_hand() -> None:
    taken = delegations.taken(wish(), "ses_1", LATER)
    assert (taken.status, taken.session_id, taken.processed_at) == (DelegationStatus.PROCESSING, "ses_1", LATER)
    assert (taken.open, taken.parked, taken.attempt) == (True, False, 1)


def test_one_that_is_parked_stays_in_processing_without_a_lease_and_costs_no_attempt() -> None:
    parked = delegations.parked(TAKEN)
    assert (parked.status, parked.session_id, parked.attempt) == (DelegationStatus.PROCESSING, None, 1)
    assert (parked.open, parked.parked) == (True, True)


def test_what_it_was_parked_for_has_come_so_it_is_handed_out_again_without_an_attempt() -> None:
    back = delegations.handed_back(delegations.parked(TAKEN))
    assert (back.status, back.parked, back.attempt) == (DelegationStatus.PENDING, False, 1)
    again = delegations.taken(back, "ses_2", LATER)
    assert (again.session_id, again.processed_at) == ("ses_2", NOW), "since when it is worked on does not begin anew"


def test_a_lost_session_costs_an_attempt_and_after_the_last_it_has_failed() -> None:
    delegation, attempts = wish(), []
    while delegation.open:
        attempts.append(delegation.attempt)
        delegation = delegations.lost(delegations.taken(delegation, "ses", NOW), LATER, LIMITS)
        assert delegation.session_id is None
    assert attempts == [1, 2, 3]
    assert (delegation.status, delegation.ended_at) == (DelegationStatus.FAILED, LATER)
    assert "3 attempts" in delegation.result


def test_how_many_attempts_there_are_is_a_limit() -> None:
    assert delegations.lost(TAKEN, NOW, TalkLimits(delegation_attempts=1)).status is DelegationStatus.FAILED
    assert delegations.lost(TAKEN, NOW, TalkLimits(delegation_attempts=2)).status is DelegationStatus.PENDING


@pytest.mark.parametrize(
    ("act", "status"),
    [(delegations.completed, DelegationStatus.COMPLETED), (delegations.failed, DelegationStatus.FAILED)],
)
def test_one_that_is_over_keeps_its_result_and_nobody_has_it_in_hand(act: Any, status: DelegationStatus) -> None:
    for before in (wish(), TAKEN, delegations.parked(TAKEN)):
        over = act(before, {"key": "under the mat"}, LATER)
        assert (over.status, over.result, over.ended_at) == (status, {"key": "under the mat"}, LATER)
        assert (over.session_id, over.open, over.parked) == (None, False, False)
