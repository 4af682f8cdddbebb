"""The clock jumps, its entries come in order, and threads take turns."""

from __future__ import annotations

import pytest

from toryo.simulation.virtual_time import Killed, Thread, Time


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
