"""The clock jumps, its entries come in order, and threads take turns."""

from __future__ import annotations

import pytest

from toryo.simulation.virtual_time import MOST_AT_ONE_MOMENT, Killed, StandsStill, Thread, Time


def test_entries_come_in_the_order_of_their_moments_and_those_of_one_moment_as_they_were_made() -> None:
    time, seen = Time(1_000), []
    for seconds, name in ((2.0, "c"), (1.0, "a"), (1.0, "b")):
        time.after(seconds, lambda name=name: seen.append((name, time.now)))  # type: ignore[misc]

    time.run(10_000, lambda: False)

    assert seen == [("a", 2_000), ("b", 2_000), ("c", 3_000)]


def test_what_is_cancelled_or_after_the_end_does_not_come() -> None:
    time, seen = Time(0), []
    time.after(1.0, lambda: seen.append("cancelled")).cancel()
    time.after(9.0, lambda: seen.append("too late"))

    time.run(5_000, lambda: False)

    assert (seen, time.now) == ([], 0)


def test_a_thread_that_sleeps_goes_on_at_its_moment_and_no_two_run_at_once() -> None:
    time = Time(0)
    seen: list[tuple[str, int]] = []

    def sleeper(name: str, seconds: float) -> Thread:
        def work() -> None:
            for _ in range(2):
                time.after(seconds, thread.resume)
                thread.pause()
                seen.append((name, time.now))

        thread = Thread(name, work)
        time.after(0.0, thread.resume)
        return thread

    threads = [sleeper("slow", 3.0), sleeper("quick", 1.0)]
    time.run(100_000, lambda: False)

    assert seen == [("quick", 1_000), ("quick", 2_000), ("slow", 3_000), ("slow", 6_000)]
    assert all(thread.over for thread in threads)


def test_a_killed_thread_ends_and_a_fault_of_its_code_is_not_swallowed() -> None:
    def work() -> None:
        killed.pause()

    killed = Thread("killed", work)
    killed.resume()
    killed.resume(Killed())
    assert killed.over

    def wrong() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Thread("wrong", wrong).resume()


@pytest.mark.parametrize("seconds", [1e-9, 0.0004, 0.0005, 0.001])
def test_time_passes_in_a_wait_however_short_it_is(seconds: float) -> None:
    time, seen = Time(1_000), []
    time.after(seconds, lambda: seen.append(time.now))

    time.run(10_000, lambda: False)

    assert seen == [1_001]


def test_what_goes_round_without_time_passing_ends_with_an_error() -> None:
    time = Time(0)

    def again() -> None:
        time.after(0.0, again)

    time.after(5.0, again)

    with pytest.raises(StandsStill, match=r"stands still at 5\.0 s"):
        time.run(10_000, lambda: False)


def test_many_entries_of_one_moment_are_carried_out_and_a_later_one_begins_a_new_count() -> None:
    time, seen = Time(0), []
    for moment in (1, 2):
        for _ in range(MOST_AT_ONE_MOMENT - 1):
            time.at(moment, lambda: seen.append(time.now))

    time.run(10, lambda: False)

    assert len(seen) == 2 * (MOST_AT_ONE_MOMENT - 1)
