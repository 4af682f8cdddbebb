"""Up to which instant what is old is deleted."""

from __future__ import annotations

from toryo.domain.retention import PERIOD_OF, Kind, cutoffs
from toryo.domain.times import DAY

NOW = 1_000 * DAY


def test_every_kind_has_a_period_and_is_old_after_its_days() -> None:
    days = {name: number for number, name in enumerate(sorted(set(PERIOD_OF.values())), start=1)}
    assert cutoffs(days, NOW) == {kind: NOW - days[PERIOD_OF[kind]] * DAY for kind in Kind}


def test_zero_days_mean_indefinitely_and_no_instant_is_before_the_first() -> None:
    days = dict.fromkeys(PERIOD_OF.values(), 0)
    assert set(cutoffs(days, NOW).values()) == {0}
    assert cutoffs({**days, "task_days": 2_000}, NOW)[Kind.TASKS] == 0
