"""What programs used: counted once, summed for who may see it; and budgets, which stop work and let it go on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, Caller, Process, World
from toryo.domain.times import DAY, iso
from toryo.operations.calls.catalogue import Later
from toryo.storage import schema

TODAY, TOMORROW = "2027-01-15", "2027-01-16"
MIDNIGHT = f"{TOMORROW}T00:00:00.000Z"
NONSENSE = {
    "input_tokens": -5,
    "cached_tokens": "many",
    "output_tokens": 1e30,
    "cost_usd": float("nan"),
    "turns": 2**60,
    "tool_calls": True,
    "model": "m\0",
    "lower_bound": "perhaps",
    "a\0": {"deep": [None]},
}


pytestmark = pytest.mark.crew(workers=3)


def used(cost: float | None = None, **more: Any) -> Answer:
    return {"input_tokens": 1000, "cached_tokens": 400, "output_tokens": 50, "cost_usd": cost, "model": "m1", **more}


def told(world: World, process: Process, usage: Answer, text: str = "so far\n") -> None:
    """While the program runs."""
    end = world.owner.call("read_launch_log", launch_id=process.launch_id)["next_offset"]
    world.coordinator().call("append_log", launch_id=process.launch_id, offset=end, text=text, usage=usage)


def ran(world: World, agent_id: str, usage: Answer, **more: Any) -> Process:
    """A launch of an agent (with a task of its own, where it has none) that has ended and told this."""
    if not more.pop("has_task", False):
        world.task(agent_id, **more)
    process = world.start(agent_id)
    process.report()
    world.coordinator().exited(process.launch_id, exit_code=0, usage=usage)
    return process


def spent(world: World, caller: Caller | None = None, /, **wanted: Any) -> Answer:
    return (caller or world.owner).call("show_usage", **wanted)


def rows(world: World, *by: str, **wanted: Any) -> list[tuple[Any, ...]]:
    """What the rows are for, and their input tokens."""
    found = spent(world, by=list(by), **wanted)["rows"]
    names = [f"{each}_id" if each in ("agent", "project", "task", "launch") else each for each in by]
    return [(*(each[name] for name in names), each["input_tokens"]) for each in found]


def stored(world: World) -> list[tuple[Any, ...]]:
    return world.rows(schema.usages)["usages"]


# --- sums ------------------------------------------------------------------------------------------------------------


def test_where_nothing_was_used_everything_is_nought_and_money_is_unknown(crew: World):
    answer = spent(crew)
    assert answer["rows"] == []
    assert answer["totals"] == {
        "launches": 0, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "cost_usd": None, "turns": 0,
        "tool_calls": 0, "without_price": 0, "lower_bounds": 0,
    }  # fmt: skip


def test_totals_add_up_what_every_launch_has_used(crew: World):
    ran(crew, "w1", used(0.5, turns=3, tool_calls=7))
    ran(crew, "w2", used(0.25, turns=1, lower_bound=True))
    ran(crew, "w3", used(None))
    assert spent(crew)["totals"] == {
        "launches": 3, "input_tokens": 3000, "cached_tokens": 1200, "output_tokens": 150, "cost_usd": 0.75, "turns": 4,
        "tool_calls": 7, "without_price": 1, "lower_bounds": 1,
    }  # fmt: skip


def test_money_is_null_where_nothing_has_a_price_and_nought_where_it_costs_nothing(crew: World):
    ran(crew, "w1", used(None))
    ran(crew, "w2", used(0.0))
    found = {row["agent_id"]: row["cost_usd"] for row in spent(crew, by=["agent"])["rows"]}
    assert found == {"w1": None, "w2": 0.0}


def test_rows_stand_for_what_was_named_in_its_order(crew: World):
    first = ran(crew, "w2", used(1.0, input_tokens=1))
    crew.advance(DAY // 1000)
    second = ran(crew, "w1", used(1.0, input_tokens=2, model="m2"))
    third = ran(crew, "w2", used(1.0, input_tokens=4))
    assert rows(crew, "day", "agent") == [(TODAY, "w2", 1), (TOMORROW, "w1", 2), (TOMORROW, "w2", 4)]
    assert rows(crew, "agent", "day") == [("w1", TOMORROW, 2), ("w2", TODAY, 1), ("w2", TOMORROW, 4)]
    assert rows(crew, "model") == [("m1", 5), ("m2", 2)]
    assert rows(crew, "provider", "purpose") == [("claude", "task", 7)]
    assert rows(crew, "project") == [(crew.project_id, 7)]
    assert rows(crew, "launch") == [(first.launch_id, 1), (second.launch_id, 2), (third.launch_id, 4)]
    assert spent(crew, by=["agent", "agent"])["by"] == ["agent"]


def test_what_has_no_task_comes_last(crew: World):
    crew.say("w1", "Hello?")
    chat = crew.start_chat("w1")
    told(crew, chat, used(0.1, input_tokens=8))
    main = crew.task("w2")
    ran(crew, "w2", used(0.1, input_tokens=3), has_task=True)
    assert rows(crew, "purpose") == [("chat", 8), ("task", 3)]
    assert rows(crew, "task") == [(main, 3), (None, 8)]


def test_a_model_that_its_program_does_not_tell_is_the_one_it_was_started_with(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", model="opus")
    ran(crew, "w1", used(model=None))
    assert rows(crew, "model") == [("opus", 1000)]


def test_a_task_counts_with_everything_below_it_and_nothing_beside_it(crew: World):
    main = crew.task("boss")
    boss = crew.start("boss")
    (part, _) = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part)
    told(crew, boss, used(1.0, input_tokens=1))
    told(crew, crew.start("w1"), used(1.0, input_tokens=2))
    ran(crew, "w3", used(1.0, input_tokens=4))
    assert spent(crew, task_id=main)["totals"]["input_tokens"] == 3
    assert spent(crew, task_id=part)["totals"]["input_tokens"] == 2
    assert rows(crew, "task", task_id=main) == sorted([(main, 1), (part, 2)])


def test_only_the_days_that_are_asked_for_count_both_included(crew: World):
    ran(crew, "w1", used(input_tokens=1))
    crew.advance(DAY // 1000)
    ran(crew, "w1", used(input_tokens=2))
    crew.advance(DAY // 1000)
    ran(crew, "w1", used(input_tokens=4))
    asked: list[tuple[Answer, int]] = [
        ({}, 7),
        ({"days": 1}, 4),
        ({"days": 2}, 6),
        ({"since": TOMORROW}, 6),
        ({"until": TOMORROW}, 3),
        ({"since": TODAY, "until": TODAY}, 1),
        ({"since": "2030-01-01"}, 0),
        ({"until": "1969-12-31"}, 0),
    ]
    assert [(each, spent(crew, **each)["totals"]["input_tokens"]) for each, _ in asked] == asked
    assert [spent(crew, days=2)[each] for each in ("since", "until")] == [TOMORROW, "2027-01-17"]


def test_a_day_is_the_one_on_which_the_launch_was_started(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    crew.advance(DAY // 1000)
    told(crew, process, used(3.0))
    assert rows(crew, "day") == [(TODAY, 1000)]


def test_only_the_agent_and_the_project_that_are_asked_for_count(crew: World):
    other = crew.project(name="Garden")
    crew.owner.call("add_member", agent_id="w3", project_id=other)
    ran(crew, "w1", used(input_tokens=1))
    ran(crew, "w3", used(input_tokens=2))
    crew.owner.call("file_task", project_id=other, title="Dig", status="in_progress", assignee_id="w3")
    ran(crew, "w3", used(input_tokens=4), has_task=True)
    assert spent(crew, agent_id="w3")["totals"]["input_tokens"] == 6
    assert spent(crew, project_id=other)["totals"]["input_tokens"] == 4
    assert spent(crew, project_id=crew.project_id, agent_id="w3")["totals"]["input_tokens"] == 2


# --- who sees it, and what is refused --------------------------------------------------------------------------------


def test_a_member_sees_the_projects_it_belongs_to_and_no_other(crew: World):
    other = crew.project(name="Garden")
    ran(crew, "w1", used(1.0))
    mia = crew.member("mia")
    assert spent(crew, mia)["totals"]["launches"] == 0
    assert spent(crew, mia)["budgets"] == []
    crew.owner.call("add_member", agent_id="mia", project_id=crew.project_id)
    assert spent(crew, mia, by=["project"])["rows"][0]["project_id"] == crew.project_id
    assert [budget["project_id"] for budget in spent(crew, mia)["budgets"]] == [crew.project_id]
    mia.refused("show_usage", "projectNotFound", project_id=other)


def test_a_member_is_not_told_of_tasks_elsewhere(crew: World):
    task = crew.task("w1")
    crew.member("mia").refused("show_usage", "taskNotFound", task_id=task)


def test_agents_are_not_shown_what_is_spent(crew: World):
    crew.task("w1")
    crew.start("w1").refused("show_usage")


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ({"agent_id": "nobody"}, "agentNotFound", "nobody"),
        ({"project_id": "prj_none"}, "projectNotFound", "prj_none"),
        ({"task_id": "tsk_none"}, "taskNotFound", "tsk_none"),
        ({"since": TOMORROW, "until": TODAY}, "validationError", "is after until"),
        ({"days": 3, "since": TODAY}, "validationError", "Pass either"),
        ({"days": 3, "until": TODAY}, "validationError", "Pass either"),
        ({"days": 0}, "validationError", "days"),
        ({"since": "yesterday"}, "validationError", "since"),
        ({"until": "2027-02-30"}, "validationError", "until"),
        ({"by": ["week"]}, "validationError", "'day', 'agent'"),
        ({"by": "day"}, "validationError", "by"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(crew: World, asked: Answer, code: str, words: str):
    refusal = crew.owner.refused("show_usage", code, **asked)
    assert words in f"{refusal['message']} {refusal['instruction']}"


def test_a_task_of_another_project_is_refused_and_its_own_one_named(crew: World):
    task, other = crew.task("w1"), crew.project(name="Garden")
    refusal = crew.owner.refused("show_usage", "validationError", task_id=task, project_id=other)
    assert crew.project_id in refusal["message"]


def test_more_rows_than_anybody_reads_are_refused_and_not_cut(crew: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toryo.operations.overview.usage.MOST_ROWS", 1)
    ran(crew, "w1", used())
    assert len(spent(crew, by=["launch"])["rows"]) == 1
    ran(crew, "w2", used())
    assert "fewer days" in crew.owner.refused("show_usage", "validationError", by=["launch"])["instruction"]
    assert spent(crew)["totals"]["launches"] == 2


# --- counted once, and nothing that cannot be ------------------------------------------------------------------------


def test_what_is_told_on_the_way_and_at_the_end_counts_once(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told(crew, process, used(0.1, output_tokens=10, lower_bound=True))
    told(crew, process, used(0.2, output_tokens=20, lower_bound=True))
    assert spent(crew)["totals"]["lower_bounds"] == 1
    for _ in range(2):
        crew.coordinator().exited(process.launch_id, usage=used(0.3, output_tokens=30))
    totals = spent(crew)["totals"]
    assert (totals["launches"], totals["output_tokens"], totals["cost_usd"]) == (1, 30, 0.3)
    assert totals["lower_bounds"] == 0


def test_who_adopts_a_program_and_reads_it_from_its_start_takes_nothing_back(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told(crew, process, used(0.9, output_tokens=90, turns=9))
    adopter = crew.coordinator("c2")
    crew.advance(95)
    adopter.claim(running=[process.launch_id])
    adopter.call("append_log", launch_id=process.launch_id, offset=0, text="", usage=used(0.1, output_tokens=10))
    totals = spent(crew)["totals"]
    assert (totals["launches"], totals["output_tokens"], totals["turns"], totals["cost_usd"]) == (1, 90, 9, 0.9)


def test_an_exit_that_tells_nothing_leaves_what_was_told_before(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told(crew, process, used(0.9))
    crew.coordinator().exited(process.launch_id, signal=9)
    assert spent(crew)["totals"]["cost_usd"] == 0.9


def test_a_launch_that_is_reminded_and_goes_on_counts_once(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told_to_go_on = crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(0.5), resumable=True)
    assert "reminder" in told_to_go_on
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(0.75), resumable=True)
    totals = spent(crew)["totals"]
    assert (totals["launches"], totals["cost_usd"]) == (1, 0.75)


def test_after_its_exit_nothing_is_counted_for_a_launch(crew: World):
    process = ran(crew, "w1", used(0.5))
    before = stored(crew)
    told(crew, process, used(99.0), text="late\n")
    crew.coordinator().exited(process.launch_id, usage=used(99.0))
    assert stored(crew) == before


def test_nonsense_neither_hinders_the_report_of_an_exit_nor_is_stored(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told(crew, process, NONSENSE)
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=NONSENSE)
    assert stored(crew) == []
    read = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert (read["ended"], read["launch"]["usage"]) == (True, None)
    assert "deep" not in repr(crew.rows(schema.launches))


@pytest.mark.parametrize("cost", [-1, 1e30, float("inf"), float("nan"), "9", True, None])
def test_what_is_sound_counts_although_its_price_is_nonsense(crew: World, cost: Any):
    ran(crew, "w1", {**NONSENSE, "input_tokens": 7, "cost_usd": cost})
    totals = spent(crew)["totals"]
    assert (totals["input_tokens"], totals["output_tokens"], totals["turns"]) == (7, 0, 0)
    assert (totals["cost_usd"], totals["without_price"], totals["lower_bounds"]) == (None, 1, 0)


def test_the_same_told_again_writes_nothing(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    told(crew, process, used(0.5))
    before = stored(crew)
    crew.advance(60)
    told(crew, process, used(0.5))
    assert stored(crew) == before


def test_a_launch_is_shown_with_what_it_has_used(crew: World):
    process = ran(crew, "w1", used(0.5, turns=2, tool_calls=1))
    shown = crew.owner.call("read_launch_log", launch_id=process.launch_id)["launch"]["usage"]
    assert shown == {**used(0.5, turns=2, tool_calls=1), "lower_bound": False}


# --- budgets ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def frugal(world: World) -> World:
    """One dollar a day; `w1` and `w2` have a task in progress, and `w1` works."""
    world.crew(workers=2, budget_per_day=1)
    world.task("w1")
    world.task("w2")
    return world


def up(world: World) -> list[Answer]:
    return world.events("project.budget_used_up")


@pytest.fixture
def spender(frugal: World) -> Process:
    return frugal.start("w1")


def test_below_the_budget_everybody_works_and_starts(frugal: World, spender: Process):
    told(frugal, spender, used(0.99))
    coordinator = frugal.coordinator()
    coordinator.running = [spender.launch_id]
    answer = coordinator.claim()
    assert (answer["stop"], [each["agent_id"] for each in answer["start"]]) == ([], ["w2"])
    assert up(frugal) == []


@pytest.mark.parametrize("cost", [1.0, 1.5])
def test_a_used_up_budget_stops_who_works_and_starts_nobody(frugal: World, spender: Process, cost: float):
    told(frugal, spender, used(cost))
    coordinator = frugal.coordinator()
    coordinator.running = [spender.launch_id]
    answer = coordinator.claim()
    assert [(each["launch_id"], each["reason"]) for each in answer["stop"]] == [(spender.launch_id, "budget_exhausted")]
    assert answer["start"] == []
    assert (frugal.why("w1"), frugal.why("w2")) == ("hold budget_exhausted", "hold budget_exhausted")


def test_a_start_for_a_task_is_told_what_is_left_of_the_budget(frugal: World, spender: Process):
    coordinator = frugal.coordinator()
    (launch,) = coordinator.claim(agent_ids=["w2"])["start"]
    assert launch["budget_usd"] == 1
    coordinator.exited(launch["launch_id"], error="service_failed", usage=used(0.4))
    frugal.advance(61)
    (launch,) = coordinator.claim(agent_ids=["w2"])["start"]
    assert launch["budget_usd"] == 0.6
    coordinator.exited(launch["launch_id"], error="stopped")
    frugal.owner.call("edit_project", project_id=frugal.project_id, settings={"budget_per_day": None})
    (launch,) = coordinator.claim(agent_ids=["w2"])["start"]
    assert launch["budget_usd"] is None


def test_who_asks_what_to_do_next_is_told_to_leave(frugal: World, spender: Process):
    told(frugal, spender, used(1.0))
    said = spender.next()
    assert (said["action"], said["reason"]) == ("exit", "budget_exhausted")


def test_who_was_stopped_for_the_budget_neither_cools_down_nor_loses_its_task(frugal: World, spender: Process):
    told(frugal, spender, used(1.0))
    coordinator = frugal.coordinator()
    coordinator.running = [spender.launch_id]
    coordinator.claim()
    ended = coordinator.exited(spender.launch_id, signal=15, exit_code=143, usage=used(1.0))
    assert ended["cooling_down_until"] is None
    assert frugal.why("w1") == "hold budget_exhausted"
    assert frugal.status(frugal.launches(agent_id="w1")[0]["task_id"]) == "in_progress"


def test_what_is_told_with_an_exit_uses_up_a_budget_too(frugal: World, spender: Process):
    frugal.coordinator().exited(spender.launch_id, exit_code=0, usage=used(2.0))
    assert frugal.coordinator().claim()["start"] == []
    assert len(up(frugal)) == 1


def test_who_leaves_with_a_used_up_budget_is_not_reminded_to_go_on(frugal: World, spender: Process):
    ended = frugal.coordinator().exited(spender.launch_id, exit_code=0, usage=used(2.0), resumable=True)
    assert "reminder" not in ended


def test_what_has_no_price_uses_up_no_budget(frugal: World, spender: Process):
    told(frugal, spender, used(None, input_tokens=10**9))
    assert frugal.coordinator().starts() == ["w2"]
    assert spent(frugal)["budgets"][0]["spent_today"] == 0


def test_the_budget_of_one_project_is_not_anothers(frugal: World, spender: Process):
    other = frugal.project(name="Garden", budget_per_day=1)
    frugal.owner.call("add_member", agent_id="w2", project_id=other)
    frugal.owner.call("file_task", project_id=other, title="Dig", status="in_progress", assignee_id="w2")
    told(frugal, spender, used(5.0))
    (start,) = frugal.coordinator().claim()["start"]
    assert (start["agent_id"], start["project_id"]) == ("w2", other)


def test_chat_goes_on_with_a_used_up_budget_and_counts(frugal: World, spender: Process):
    told(frugal, spender, used(1.0))
    frugal.say("w2", "How are you?")
    chat = frugal.start_chat("w2")
    assert [pending_message["content"] for pending_message in chat.fetch()["pending_messages"]] == ["How are you?"]
    told(frugal, chat, used(0.25))
    coordinator = frugal.coordinator()
    coordinator.running = [chat.launch_id]
    assert coordinator.claim()["stop"] == []
    assert spent(frugal)["budgets"][0]["spent_today"] == 1.25


def test_it_is_told_once_a_day_that_the_budget_is_used_up(frugal: World, spender: Process):
    told(frugal, spender, used(0.5))
    frugal.hints.clear()
    told(frugal, spender, used(1.0))
    assert any("work" in hint for hint in frugal.hints)
    told(frugal, spender, used(1.5))
    told(frugal, spender, used(0.2))
    told(frugal, spender, used(1.5))
    frugal.coordinator().exited(spender.launch_id, usage=used(3.0))
    assert [each["data"] for each in up(frugal)] == [{"budget_per_day": 1.0}]
    frugal.advance(DAY // 1000)
    told(frugal, frugal.start("w1"), used(1.0))
    assert len(up(frugal)) == 2


def test_what_a_launch_of_yesterday_uses_is_yesterdays(frugal: World, spender: Process):
    frugal.advance(DAY // 1000)
    told(frugal, spender, used(7.0))
    assert up(frugal) == []
    assert frugal.coordinator().starts(running=[spender.launch_id]) == ["w2"]


def test_why_says_until_when_and_what_to_do(frugal: World, spender: Process):
    told(frugal, spender, used(1.0))
    (decision,) = (each for each in frugal.owner.call("why", agent_id="w2")["decisions"] if each["purpose"] == "task")
    assert (decision["reason"], decision["until"]) == ("budget_exhausted", MIDNIGHT)
    assert "budget_per_day" in decision["explanation"]


def waits(world: World) -> Later:
    """What a claim answers that finds nothing to do."""
    coordinator = world.coordinator()
    asked = {"coordinator_id": coordinator.id, "free_slots": 5, "running": []}
    outcome = world.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert outcome.later is not None, outcome
    return outcome.later


def test_the_next_day_goes_on_by_itself(frugal: World, spender: Process):
    """A claim that waits looks again at midnight, and everybody is started."""
    frugal.coordinator().exited(spender.launch_id, exit_code=0, usage=used(1.0))
    later = waits(frugal)
    assert later.at is not None
    assert iso(later.at) == MIDNIGHT
    frugal.now = later.at - 2 * frugal.tick
    assert frugal.coordinator().claim()["start"] == []
    frugal.now = later.at
    assert sorted(frugal.coordinator().starts()) == ["w1", "w2"]


def test_a_budget_that_is_raised_starts_them_at_once(frugal: World, spender: Process):
    frugal.coordinator().exited(spender.launch_id, exit_code=0, usage=used(1.0))
    assert frugal.coordinator().starts() == []
    frugal.hints.clear()
    frugal.owner.call("edit_project", project_id=frugal.project_id, settings={"budget_per_day": 2})
    assert any("work" in hint for hint in frugal.hints)
    assert "w2" in frugal.coordinator().starts()


def test_a_budget_that_is_lowered_below_what_is_spent_stops_them(frugal: World, spender: Process):
    told(frugal, spender, used(0.75))
    frugal.owner.call("edit_project", project_id=frugal.project_id, settings={"budget_per_day": 0.5})
    coordinator = frugal.coordinator()
    coordinator.running = [spender.launch_id]
    assert [each["reason"] for each in coordinator.claim()["stop"]] == ["budget_exhausted"]


def test_budgets_are_shown_with_what_is_spent_today_and_when_the_day_ends(frugal: World, spender: Process):
    garden = frugal.project(name="Garden")
    told(frugal, spender, used(1.25))
    house = {"project_id": frugal.project_id, "name": "House", "budget_per_day": 1.0, "spent_today": 1.25}
    tokens = {"tokens_per_day": None, "used_up": False, "day_ends_at": MIDNIGHT}
    free = {"project_id": garden, "name": "Garden", "budget_per_day": None, "spent_today": 0}
    assert sorted(spent(frugal)["budgets"], key=lambda each: str(each["name"])) == [
        {**free, **tokens, "tokens_today": 0},
        {**house, **tokens, "tokens_today": 1050, "used_up": True},
    ]
    assert [budget["name"] for budget in spent(frugal, project_id=garden)["budgets"]] == ["Garden"]
    frugal.advance(DAY // 1000)
    assert [budget["spent_today"] for budget in spent(frugal, project_id=frugal.project_id)["budgets"]] == [0]


def test_a_budget_in_tokens_limits_what_has_no_price(world: World):
    world.crew(workers=2, tokens_per_day=1000)
    world.task("w1")
    world.task("w2")
    process = world.start("w1")
    told(world, process, used(None, input_tokens=600, output_tokens=399, cached_tokens=500))
    assert (up(world), needed(world)) == ([], [])
    told(world, process, used(None, input_tokens=600, output_tokens=400, cached_tokens=500))
    coordinator = world.coordinator()
    coordinator.running = [process.launch_id]
    answer = coordinator.claim()
    assert (answer["start"], [each["reason"] for each in answer["stop"]]) == ([], ["budget_exhausted"])
    assert [each["data"] for each in up(world)] == [{"tokens_per_day": 1000}]
    (item,) = needed(world)
    assert "1,000 of 1,000 tokens" in item["title"]
    assert [each["command"] for each in item["actions"] if each["name"] == "raise"] == [
        f"toryo project edit {world.project_id} --set tokens_per_day=…"
    ]
    (told_of,) = world.owner.call("show_conditions", project_id=world.project_id)["conditions"]
    assert told_of["text"] == "Today's budget of 1,000 tokens is used up. 2 tasks wait."
    (budget,) = spent(world)["budgets"]
    assert (budget["tokens_today"], budget["tokens_per_day"], budget["used_up"]) == (1000, 1000, True)
    world.owner.call("edit_project", project_id=world.project_id, settings={"tokens_per_day": None})
    assert "w2" in world.coordinator().starts()


@pytest.mark.parametrize(
    ("usage", "up_by"),
    [
        (used(0.5, input_tokens=900, output_tokens=99), None),
        (used(1.0, input_tokens=1, output_tokens=1), "budget_per_day"),
        (used(0.5, input_tokens=1000), "tokens_per_day"),
    ],
)
def test_of_two_budgets_the_one_that_is_used_up_first_counts(world: World, usage: Answer, up_by: str | None):
    world.crew(workers=1, budget_per_day=1, tokens_per_day=1000)
    world.task("w1")
    told(world, world.start("w1"), usage)
    assert [list(each["data"]) for each in up(world)] == ([] if up_by is None else [[up_by]])


def needed(world: World) -> list[Answer]:
    items = world.owner.call("needs_you")["items"]
    return [item for item in items if item["kind"] == "budget_used_up"]


def test_people_are_told_of_a_used_up_budget_while_work_waits_for_it(frugal: World, spender: Process):
    told(frugal, spender, used(0.99))
    assert needed(frugal) == []
    told(frugal, spender, used(1.0))
    at = frugal.iso()
    (item,) = needed(frugal)
    assert (item["project_id"], item["since"]) == (frugal.project_id, at)
    assert "$1.00 of $1.00" in item["title"]
    assert MIDNIGHT in item["text"]
    frugal.owner.call("edit_project", project_id=frugal.project_id, settings={"budget_per_day": 2})
    assert needed(frugal) == []


def test_nobody_is_told_of_a_used_up_budget_where_nothing_waits(world: World):
    world.crew(workers=1, budget_per_day=1)
    ran(world, "w1", used(2.0))
    assert needed(world) == []
    world.advance(600)
    world.task("w1")
    at = world.iso()
    world.advance(600)
    (item,) = needed(world)
    assert item["since"] == at
    world.owner.call("pause_project", project_id=world.project_id)
    assert needed(world) == []


def test_a_budget_of_nothing_needs_people_since_work_waits_for_it_and_not_since_midnight(world: World):
    world.crew(workers=1, budget_per_day=0)
    world.task("w1")
    at = world.iso()
    world.advance(600)
    (item,) = needed(world)
    assert item["since"] == at
