"""The plan as a pure function: what is seen, what was ordered, limits and now; doing nothing is tested, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toryo.coordinator.launch_state import Seen, Stage, State, Stop
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import NONE, Launch, Orders, StopOrder
from toryo.coordinator.reconcile import Plan, plan
from toryo.domain.launches import SIGN_IN_WITHIN
from toryo.domain.times import SECOND

LIMITS = Limits(max_concurrent=2, max_chat=1, terminate_after=10, kill_after=5, leftovers_for=2, start_within=100)


def launch(name: str, *, agent: str | None = None, purpose: str = "task", takes_slot: bool = True) -> Launch:
    return Launch(name, agent or f"agent-of-{name}", "prj", purpose, "command", takes_slot=takes_slot)


def running(name: str, *, since: float = 0.0, **more) -> Seen:
    return Seen(launch(name), State.RUNNING, since, **more)


def test_nothing_seen_and_nothing_ordered_is_nothing_to_do() -> None:
    assert plan([], NONE, LIMITS, 7) == Plan(free_slots=2, free_chat_slots=1)
    assert plan([], NONE, LIMITS, 7).does_nothing


def test_processes_that_run_are_left_alone_for_ever() -> None:
    for now in (0, 1e3, 1e9):
        found = plan([running("a"), running("b")], NONE, LIMITS, now)
        assert found.does_nothing
        assert found.look_again_at is None


def test_what_is_ordered_is_started_and_takes_a_slot() -> None:
    found = plan([], Orders((launch("a"),)), LIMITS, 7)
    assert [each.launch_id for each in found.start] == ["a"]
    assert (found.free_slots, found.free_chat_slots) == (1, 1)


def test_the_same_launch_handed_out_twice_is_started_once() -> None:
    """The answer was lost, or came again while the process was being started, ran, or had ended."""
    again = Orders((launch("a"), launch("a")))
    assert [each.launch_id for each in plan([], again, LIMITS, 7).start] == ["a"]
    assert not plan([running("a")], again, LIMITS, 7).start
    assert not plan([Seen(launch("a"), State.GONE, 0)], again, LIMITS, 7).start
    assert not plan([], again, LIMITS, 7, ended={"a"}).start


def test_what_has_no_slot_is_kept_and_started_when_there_is_one_the_longest_waiting_first() -> None:
    busy = [running("a"), running("b")]
    found = plan(busy, Orders((launch("c"),)), LIMITS, 7)
    assert not found.start
    assert [each.launch_id for each in found.keep] == ["c"]
    waiting = [Seen(launch("d"), State.WAITING, 9), Seen(launch("c"), State.WAITING, 7)]
    found = plan([running("a"), *waiting], NONE, LIMITS, 10)
    assert [each.launch_id for each in found.start] == ["c"]
    assert found.free_slots == 0


@pytest.mark.pitfall("F39")
def test_chats_have_slots_of_their_own_and_some_need_none() -> None:
    busy = [running("a"), running("b")]
    chats = (launch("c", purpose="chat"), launch("d", purpose="chat"), launch("e", purpose="chat", takes_slot=False))
    found = plan(busy, Orders(chats), LIMITS, 7)
    assert [each.launch_id for each in found.start] == ["c", "e"]
    assert (found.free_slots, found.free_chat_slots) == (0, 0)


def test_a_chat_that_takes_no_slot_leaves_every_slot_to_others() -> None:
    partner = Seen(launch("p", purpose="chat", takes_slot=False), State.RUNNING, 0)
    found = plan([partner], Orders((launch("c", purpose="chat"), launch("a"), launch("b"))), LIMITS, 7)
    assert [each.launch_id for each in found.start] == ["c", "a", "b"]
    assert (found.free_slots, found.free_chat_slots) == (0, 0)


def test_a_chat_that_takes_no_slot_still_waits_for_the_process_before_it() -> None:
    before = Seen(launch("a", agent="x", purpose="chat"), State.LEADERLESS, 0, stage=Stage.KILL, signalled_at=0)
    found = plan([before], Orders((launch("b", agent="x", purpose="chat", takes_slot=False),)), LIMITS, 1)
    assert not found.start
    assert [each.launch_id for each in found.keep] == ["b"]


def test_an_agent_may_have_a_task_and_a_chat_process_but_no_second_one_of_a_purpose() -> None:
    first = Seen(launch("a", agent="x"), State.RUNNING, 0)
    both = Orders((launch("b", agent="x"), launch("c", agent="x", purpose="chat")))
    found = plan([first], both, LIMITS, 7)
    assert [each.launch_id for each in found.start] == ["c"]
    assert [each.launch_id for each in found.keep] == ["b"]
    gone = replace(first, state=State.GONE)
    assert [each.launch_id for each in plan([gone], both, LIMITS, 7).start] == ["b", "c"]


def test_an_order_that_waited_too_long_is_dropped_before_the_server_gives_it_up() -> None:
    waiting = [running("a"), running("b"), Seen(launch("c"), State.WAITING, 7)]
    assert plan(waiting, NONE, LIMITS, 106).look_again_at == 107
    found = plan(waiting, NONE, LIMITS, 107)
    assert found.drop == ("c",)
    assert not found.start
    assert Limits().start_within * SECOND < SIGN_IN_WITHIN


def test_a_stop_is_a_grace_then_an_interrupt_then_terminate_then_kill() -> None:
    found = plan([running("a")], Orders(stop=(StopOrder("a", "task_withdrawn", 60),)), LIMITS, 100)
    assert found.stop == (("a", Stop(100, 60, "task_withdrawn")),)
    assert not found.signal
    assert found.look_again_at == 160
    stopping = running("a", stop=Stop(100, 60))
    assert plan([stopping], NONE, LIMITS, 160).signal == (("a", Stage.INTERRUPT),)
    assert plan([stopping], NONE, LIMITS, 160).look_again_at == 170, "the next step follows by itself"
    told = replace(stopping, stage=Stage.INTERRUPT, signalled_at=160)
    assert plan([told], NONE, LIMITS, 169).does_nothing
    assert plan([told], NONE, LIMITS, 169).look_again_at == 170
    assert plan([told], NONE, LIMITS, 170).signal == (("a", Stage.TERMINATE),)
    told = replace(stopping, stage=Stage.TERMINATE, signalled_at=170)
    assert plan([told], NONE, LIMITS, 175).signal == (("a", Stage.KILL),)
    told = replace(stopping, stage=Stage.KILL, signalled_at=175)
    assert plan([told], NONE, LIMITS, 176).does_nothing
    assert plan([told], NONE, LIMITS, 180).signal == (("a", Stage.KILL),), "as long as anything is there"


def test_without_grace_the_interrupt_is_sent_at_once() -> None:
    found = plan([running("a")], Orders(stop=(StopOrder("a", "runaway"),)), LIMITS, 100)
    assert found.signal == (("a", Stage.INTERRUPT),)


def test_a_repeated_stop_does_not_begin_its_grace_anew_but_a_sooner_one_counts() -> None:
    stopping = running("a", stop=Stop(100, 60, "project_paused"))
    assert plan([stopping], Orders(stop=(StopOrder("a", "project_paused", 60),)), LIMITS, 130).does_nothing
    found = plan([stopping], Orders(stop=(StopOrder("a", "runaway", 0),)), LIMITS, 130)
    assert found.stop == (("a", Stop(130, 0, "runaway")),)


def test_a_stop_for_a_process_that_is_not_here_is_nothing_to_do() -> None:
    assert plan([], Orders(stop=(StopOrder("a"),)), LIMITS, 1).does_nothing


def test_an_order_that_is_told_to_stop_before_it_was_started_is_dropped() -> None:
    waiting = Seen(launch("a"), State.WAITING, 0)
    assert plan([waiting], Orders(stop=(StopOrder("a"),)), LIMITS, 1).drop == ("a",)


def test_what_a_process_left_behind_in_its_group_is_ended_without_grace() -> None:
    left = Seen(launch("a"), State.LEADERLESS, 50)
    assert plan([left], NONE, LIMITS, 50).signal == (("a", Stage.TERMINATE),)
    told = replace(left, stage=Stage.TERMINATE, signalled_at=50)
    assert plan([told], NONE, LIMITS, 51).does_nothing
    assert plan([told], NONE, LIMITS, 52).signal == (("a", Stage.KILL),)


def test_what_is_left_behind_still_holds_its_slot_and_its_seat() -> None:
    left = Seen(launch("a", agent="x"), State.LEADERLESS, 50, stage=Stage.KILL, signalled_at=50)
    found = plan([left], Orders((launch("b", agent="x"),)), LIMITS, 50)
    assert not found.start
    assert found.free_slots == 0


def test_what_is_gone_is_reaped_and_its_slot_is_free() -> None:
    found = plan([Seen(launch("a"), State.GONE, 0), running("b")], NONE, LIMITS, 7)
    assert found.reap == ("a",)
    assert found.free_slots == 1


def test_who_leaves_starts_nobody_and_tells_everybody_to_leave() -> None:
    seen = [running("a"), running("b", stop=Stop(90, 300)), Seen(launch("c"), State.WAITING, 99)]
    found = plan(seen, Orders((launch("d"),)), replace(LIMITS, leaving_since=100), 100)
    assert not found.start
    assert set(found.drop) == {"c", "d"}
    assert found.signal == (("a", Stage.INTERRUPT), ("b", Stage.INTERRUPT))


@pytest.mark.parametrize("seen", [[], [running("a")], [running("a", stop=Stop(0, 60))]])
def test_asking_twice_with_the_same_facts_gives_the_same_plan(seen) -> None:
    given = Orders((launch("z"),), (StopOrder("a", "x", 5),))
    assert plan(seen, given, LIMITS, 30) == plan(seen, given, LIMITS, 30)
