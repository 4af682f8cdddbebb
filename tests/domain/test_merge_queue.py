"""The rules of the merge queue: which entries are checked together next, and what a report makes of each of them."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any

import pytest

from toryo.domain import merge_queue
from toryo.domain.fast_dataclasses import replace
from toryo.domain.merge_queue import Conflict, Entry, State, Verdict
from toryo.domain.tasks import CheckEvidence

PARTS = ("left", "right")


FAILED: CheckEvidence = {
    "check": "make",
    "outcome": "failed",
    "runs": 1,
    "seconds": 1.0,
    "exit_code": 2,
    "output": "x",
}


def entry(name: str, position: int | None = None, **more: Any) -> Entry:
    place = ord(name[0]) if position is None else position
    base = Entry(f"e-{name}", "prj", name, "c1", "main", place, State.QUEUED, "lena", 0)
    return replace(base, **more)


def queue(names: str) -> list[Entry]:
    return [entry(name) for name in names]


def free(_: Entry) -> Collection[str] | None:
    return ()


def names(entries: list[Entry]) -> str:
    return "".join(each.task_id for each in entries)


def batch(entries: list[Entry], size: int = 3, ready=free, now: int = 0) -> str:
    return names(merge_queue.next_batch(entries, size, ready, now))


def settled(entries: list[Entry], told: Verdict, now: int = 1) -> dict[str, Entry]:
    return {each.task_id: each for each in merge_queue.settled(entries, told, PARTS, now)}


# --- what is next ----------------------------------------------------------------------------------------------------


def test_the_first_entries_are_checked_together_in_their_order():
    assert batch(list(reversed(queue("abcd")))) == "abc"


def test_nothing_is_sent_while_a_batch_is_being_checked():
    assert batch([entry("a", state=State.CHECKING), entry("b")]) == ""


def test_a_half_of_a_failed_batch_is_a_batch_of_its_own():
    waiting = [entry("a", part="x"), entry("b", part="x"), entry("c", part="y"), entry("d")]
    assert batch(waiting, 5) == "ab"
    assert batch(waiting[2:], 5) == "c"


def test_what_is_not_ready_is_passed_over_and_holds_up_nobody():
    assert batch(queue("abc"), ready=lambda each: None if each.task_id == "a" else ()) == "bc"


def test_work_that_builds_on_other_work_is_merged_after_it_or_together_with_it():
    needs = {"a": ["b"], "c": ["b"]}
    assert batch(queue("abc"), ready=lambda each: needs.get(each.task_id, ())) == "bc"


def test_what_could_not_be_merged_is_tried_again_after_its_time_and_nothing_passes_it():
    waiting = [entry("a", retry_at=10), entry("b")]
    assert batch(waiting, now=9) == ""
    assert batch(waiting, now=10) == "ab"


def test_what_has_to_wait_ends_a_batch_that_has_begun():
    assert batch([entry("a"), entry("b", retry_at=10), entry("c")], now=9) == "a"
    assert batch([entry("a"), entry("b", retry_at=10), entry("c")], now=10) == "abc"
    unready = {"a": None}
    assert batch([entry("a", retry_at=10), entry("b")], ready=lambda each: unready.get(each.task_id, ()), now=9) == "b"


def test_a_batch_is_no_larger_than_it_may_be():
    assert [batch(queue("abcd"), size) for size in (1, 2, 4, 5)] == ["a", "ab", "abcd", "abcd"]


def test_an_empty_queue_has_no_batch():
    assert batch([]) == ""


# --- what becomes of a batch -----------------------------------------------------------------------------------------


def test_the_last_rule_always_applies():
    assert settled(queue("a"), Verdict({}, {}))["a"].state is State.QUEUED


def test_a_batch_that_passed_is_merged():
    found = settled(queue("ab"), Verdict({"e-a": "c1", "e-b": "c2"}, {}, base="b0"))
    assert {name: (each.state, each.merged_commit, each.ended_at) for name, each in found.items()} == {
        "a": (State.MERGED, "c1", 1),
        "b": (State.MERGED, "c2", 1),
    }


def test_a_batch_that_failed_is_divided_and_nobody_is_accused():
    found = settled(queue("abc"), Verdict({}, {}, failed=True))
    assert {name: (each.state, each.part) for name, each in found.items()} == {
        "a": (State.QUEUED, "left"),
        "b": (State.QUEUED, "left"),
        "c": (State.QUEUED, "right"),
    }


def test_an_entry_that_failed_alone_is_the_culprit_and_keeps_the_evidence():
    found = settled(queue("a"), Verdict({}, {}, failed=True, evidence=(FAILED,)))["a"]
    assert (found.state, found.evidence) == (State.FAILED, (FAILED,))
    assert merge_queue.goes_to_agent(found)


def test_one_entry_that_was_checked_is_the_culprit_even_if_others_were_left_out():
    told = Verdict({}, {"e-b": Conflict(("f",), ())}, left_out=["e-c"], failed=True)
    found = settled(queue("abc"), told)
    assert [found[each].state for each in "abc"] == [State.FAILED, State.CONFLICT, State.QUEUED]


def test_what_was_merged_is_merged_even_if_a_person_has_removed_it_meanwhile():
    removed = entry("a", removal_by="lena")
    assert settled([removed], Verdict({"e-a": "c"}, {}))["a"].state is State.MERGED
    found = settled([removed], Verdict({}, {}, failed=True))["a"]
    assert (found.state, found.ended_by) == (State.REMOVED, "lena")


def test_an_obstacle_that_is_nobodys_fault_lets_everything_wait():
    found = settled(queue("ab"), Verdict({}, {}, trouble="dirty"), now=100)
    assert {(each.state, each.trouble, each.retry_at) for each in found.values()} == {
        (State.QUEUED, "dirty", 100 + merge_queue.RETRY_AFTER)
    }
    broken = settled(queue("a"), Verdict({}, {}, trouble="red", evidence=(FAILED,)), now=100)["a"]
    assert broken.retry_at == 100 + merge_queue.RETRY_CHECKS_AFTER


def test_work_that_cannot_be_merged_as_it_is_goes_to_a_person_at_once():
    found = settled(queue("a"), Verdict({}, {}, unfit={"e-a": "in the middle of a rebase"}))["a"]
    assert (found.state, found.reason) == (State.FAILED, "in the middle of a rebase")
    assert not merge_queue.goes_to_agent(found)


NOT_ENDED = {"merged_commit": None, "conflict": None, "ended_at": None, "ended_by": None, "reason": None}
OTHERS = ({"commit": "c9", "subject": "Other", "task_id": None},)
BECOMES: dict[str, tuple[Verdict, dict[str, Any], dict[str, Any]]] = {
    "merged": (Verdict({"e-a": "c1"}, {}), {}, {"merged_commit": "c1", "evidence": (FAILED,), "ended_at": 7}),
    "removed meanwhile": (
        Verdict({}, {}),
        {"removal_by": "lena", "reason": "Not now."},
        {"ended_at": 7, "ended_by": "lena", "reason": "Not now."},
    ),
    "nothing left": (Verdict({}, {}, gone=["e-a"]), {}, {"ended_at": 7}),
    "in conflict": (
        Verdict({}, {"e-a": Conflict(("f", "g"), OTHERS)}),
        {},
        {"conflict": {"files": ["f", "g"], "others": [*OTHERS]}, "ended_at": 7},
    ),
    "unfit": (Verdict({}, {}, unfit={"e-a": "rebasing"}), {}, {"reason": "rebasing", "ended_at": 7}),
    "failed alone": (Verdict({}, {}, failed=True), {}, {"evidence": (FAILED,), "ended_at": 7}),
    "hindered": (
        Verdict({}, {}, trouble="dirty"),
        {},
        {**NOT_ENDED, "trouble": "dirty", "retry_at": 7 + merge_queue.RETRY_CHECKS_AFTER, "evidence": (FAILED,)},
    ),
    "not checked to the end": (Verdict({}, {}), {"evidence": (FAILED, FAILED)}, {"evidence": (FAILED, FAILED)}),
}
"""What a report makes of an entry that is checked alone, and had been hindered before: the fields that change."""


@pytest.mark.parametrize("case", BECOMES)
@pytest.mark.parametrize("base", [None, "b2"])
def test_of_an_entry_that_was_checked_nothing_else_is_known_afterwards(case: str, base: str | None):
    told, before, fields = BECOMES[case]
    first = entry("a", state=State.CHECKING, trouble="dirty", retry_at=3, base_commit="b1", part="x", **before)
    after = settled([first], replace(told, base=base, evidence=(FAILED,)), now=7)["a"]
    expected = {**NOT_ENDED, "evidence": (), "trouble": None, "retry_at": None, "base_commit": base or "b1", **fields}
    assert after == replace(first, state=after.state, **expected)
    assert after.waits is (after.ended_at is None)


def test_a_batch_that_is_divided_keeps_the_evidence_and_its_first_half_is_not_the_smaller_one():
    for many, left in ((2, "a"), (3, "ab"), (4, "ab"), (5, "abc")):
        found = settled(queue("abcde"[:many]), Verdict({}, {}, failed=True, evidence=(FAILED,))).values()
        assert "".join(each.task_id for each in found if each.part == "left") == left
        assert all((each.evidence, each.ended_at) == ((FAILED,), None) for each in found)


@pytest.mark.parametrize("state", State)
def test_what_came_back_is_for_people_until_a_task_corrects_it(state: State):
    assert entry("a", state=state).for_people is (state in (State.FAILED, State.CONFLICT))
    assert not entry("a", state=state, changes_task_id="t").for_people
    assert merge_queue.goes_to_agent(entry("a", state=state)) is (state in (State.FAILED, State.CONFLICT))


@pytest.mark.parametrize(("sent_back", "goes"), [(0, True), (1, True), (2, False), (9, False)])
def test_an_agent_is_asked_to_correct_its_work_twice_and_then_a_person_decides(sent_back: int, goes: bool):
    assert merge_queue.goes_to_agent(entry("a", state=State.CONFLICT, sent_back=sent_back)) is goes


@pytest.mark.parametrize("seed", range(200))
def test_whatever_fails_everything_else_is_merged_in_order_and_only_culprits_come_back(seed: int):
    """A world in which some work is bad, and some is bad only together with other work."""
    chance = random.Random(seed)
    waiting = queue("abcdefghij"[: chance.randint(1, 10)])
    bad = {each.task_id for each in waiting if chance.random() < 0.2}
    pairs = [tuple(chance.sample([each.task_id for each in waiting], 2)) for _ in range(2)] if len(waiting) > 1 else []
    size, merged, returned, checks = chance.randint(1, 5), "", set(), 0
    while waiting:
        checks += 1
        assert checks < 100, "the queue goes in a circle"
        now = merge_queue.next_batch(waiting, size, free, 0)
        whole = set(merged) | {each.task_id for each in now}
        failed = bool(whole & bad) or any(set(pair) <= whole for pair in pairs)
        told = Verdict({} if failed else {each.id: "c" for each in now}, {}, failed=failed)
        after = merge_queue.settled(now, told, (f"{checks}.1", f"{checks}.2"), 0)
        merged += "".join(each.task_id for each in after if each.state is State.MERGED)
        returned |= {each.task_id for each in after if each.state is State.FAILED}
        ids = {each.id for each in now}
        waiting = [each for each in [*(w for w in waiting if w.id not in ids), *after] if each.waits]
    assert list(merged) == sorted(merged)
    assert bad <= returned
    for task in returned - bad:
        assert any(task in pair and set(pair) - {task} <= set(merged) for pair in pairs), "somebody was accused wrongly"


# --- what people change ----------------------------------------------------------------------------------------------


def order(entries: list[Entry], changed: list[Entry]) -> str:
    now = {each.id: each for each in entries} | {each.id: each for each in changed}
    return names(merge_queue.in_order(now.values()))


@pytest.mark.parametrize(
    ("who", "before", "becomes"),
    [
        ("c", "a", "cabd"),
        ("a", None, "bcda"),
        ("a", "d", "bcad"),
        ("b", "c", "abcd"),
        ("d", None, "abcd"),
        ("a", "a", "abcd"),
    ],
)
def test_an_entry_is_put_before_another_or_at_the_end(who: str, before: str | None, becomes: str):
    waiting = queue("abcd")
    found = {each.task_id: each for each in waiting}
    assert order(waiting, merge_queue.moved(waiting, found[who], found.get(before or ""))) == becomes


def test_an_entry_that_is_moved_leaves_its_half():
    waiting = [entry("a", part="x"), entry("b", part="x"), entry("c")]
    changed = merge_queue.moved(waiting, waiting[0], None)
    assert {each.task_id: each.part for each in changed} == {"a": None, "b": "x", "c": None}


def test_moves_keep_the_places_that_there_are():
    waiting = [entry(name, position=7 * place) for place, name in enumerate("abcd")]
    changed = merge_queue.moved(waiting, waiting[3], waiting[0])
    assert sorted(each.position for each in changed) == [0, 7, 14, 21]
