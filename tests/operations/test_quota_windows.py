"""Quota windows: what accounts use is counted, limits are set or learnt, and the reserve is kept for urgent work."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, World
from toryo.domain.times import parse

HOUR = 3600
pytestmark = pytest.mark.crew(workers=3)


def uses(world: World, agent_id: str, tokens: int, **ends: Any) -> str:
    """A launch of an agent that uses so many tokens; its task."""
    task = world.task(agent_id, priority="critical")
    process = world.start(agent_id)
    usage = {"input_tokens": tokens - 50, "cached_tokens": 0, "output_tokens": 50}
    if not ends:
        process.report()
    world.coordinator().exited(process.launch_id, **{"exit_code": 0, **ends}, usage=usage)
    if ends:
        world.move(task, "cancelled", "not now")
    return task


def quota(world: World, account: str = "claude") -> Answer:
    return dict(world.owner.call("show_quota", account=account)["quota"])


def window(world: World, length: str = "5h", account: str = "claude") -> Answer:
    [found] = (each for each in quota(world, account)["windows"] if each["length"] == length)
    return dict(found)


def limit(world: World, account: str = "claude", **given: Any) -> None:
    world.owner.call("edit_quota", account=account, **given)


def decision(world: World, agent_id: str) -> Answer:
    decisions = world.owner.call("why", agent_id=agent_id)["decisions"]
    return next(dict(each) for each in decisions if each["purpose"] == "task")


# --- counting --------------------------------------------------------------------------------------------------------


def test_a_window_begins_with_the_first_use_and_ends_after_its_length(crew: World) -> None:
    assert (window(crew)["used"], window(crew)["ends_at"]) == (0, None)
    uses(crew, "w1", 1_000)
    ends = parse(window(crew)["ends_at"])
    crew.advance(4 * HOUR)
    uses(crew, "w2", 500)
    assert (window(crew)["used"], parse(window(crew)["ends_at"])) == (1_500, ends)
    crew.now = ends
    assert (window(crew)["used"], window(crew)["ends_at"]) == (0, None)
    assert (window(crew, "day")["used"], window(crew, "week")["used"]) == (1_500, 1_500)
    uses(crew, "w1", 200)
    assert window(crew)["used"] == 200
    assert parse(window(crew)["ends_at"]) > ends


def test_reports_of_one_launch_are_counted_once(crew: World) -> None:
    crew.task("w1")
    process = crew.start("w1")
    for tokens in (100, 250, 250):
        usage = {"input_tokens": tokens, "cached_tokens": 0, "output_tokens": 0}
        end = crew.owner.call("read_launch_log", launch_id=process.launch_id)["next_offset"]
        crew.coordinator().call("append_log", launch_id=process.launch_id, offset=end, text="…\n", usage=usage)
    crew.coordinator().exited(process.launch_id, exit_code=0, usage={**usage, "output_tokens": 7})
    assert window(crew)["used"] == 257


def test_accounts_are_counted_apart_and_programs_without_one_not_at_all(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w2", provider_options={"account": "second"})
    crew.owner.call("edit_agent", agent_id="w3", provider="command")
    for each, tokens in (("w1", 100), ("w2", 200), ("w3", 400)):
        uses(crew, each, tokens)
    found = {each["account"]: each for each in crew.owner.call("show_quotas")["quotas"]}
    used = {name: each["windows"][0]["used"] for name, each in found.items()}
    assert used == {"claude": 100, "second": 200}
    assert found["second"]["agents"] == ["w2"]
    assert found["second"]["providers"] == ["claude"]


# --- limits ----------------------------------------------------------------------------------------------------------


def refused(world: World, agent_id: str, tokens: int, **message: Any) -> None:
    """A launch that the provider ends with a refusal."""
    uses(world, agent_id, tokens, exit_code=1, error="quota", **message)


@pytest.mark.parametrize(
    ("message", "length"),
    [
        pytest.param({"quota_reset_seconds": 9 * HOUR // 2}, "5h", id="when the window of five hours was to end"),
        pytest.param({"quota_reset_seconds": 47 * HOUR // 2 - 1_000}, "day", id="when that of the day was to end"),
        pytest.param({"quota_reset_seconds": 90 * HOUR}, "week", id="later than a day ends"),
        pytest.param({"quota_reset_seconds": 2 * HOUR, "quota_window": "week"}, "week", id="the message names it"),
        pytest.param({"quota_reset_seconds": 60, "quota_window": "5h"}, "5h", id="named, and nearly over"),
    ],
)
def test_a_refusal_teaches_the_limit_and_the_end_of_the_window_that_it_means(
    crew: World, message: Answer, length: str
) -> None:
    uses(crew, "w1", 1_000)
    crew.advance(HOUR / 2)
    refused(crew, "w1", 500, **message)
    found = window(crew, length)
    assert (found["limit"], found["learnt"], found["used"]) == (1_500, True, 1_500)
    assert abs(parse(found["ends_at"]) - crew.now - message["quota_reset_seconds"] * 1000) < 5_000
    others = [each for each in quota(crew)["windows"] if each["length"] != length]
    assert [each["limit"] for each in others] == [None, None]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({}, id="no time"),
        pytest.param({"quota_reset_seconds": 0}, id="no time left"),
        pytest.param({"quota_reset_seconds": 300}, id="a few minutes: too many requests"),
        pytest.param({"quota_reset_seconds": 2 * HOUR}, id="any of the three, and none ends then"),
        pytest.param({"quota_reset_seconds": 10 * HOUR}, id="the day or the week, and none ends then"),
        pytest.param({"quota_reset_seconds": 10 * HOUR, "quota_window": "5h"}, id="a contradiction"),
    ],
)
def test_a_refusal_of_which_the_window_is_not_certain_teaches_nothing(crew: World, message: Answer) -> None:
    uses(crew, "w1", 1_000)
    before = [each["ends_at"] for each in quota(crew)["windows"]]
    crew.advance(HOUR / 2)
    refused(crew, "w1", 500, **message)
    assert [each["limit"] for each in quota(crew)["windows"]] == [None, None, None]
    assert [each["ends_at"] for each in quota(crew)["windows"]] == before
    assert quota(crew)["usable_at"] is not None


def test_what_a_person_has_set_counts_more_than_what_was_learnt_and_clearing_forgets_both(crew: World) -> None:
    refused(crew, "w1", 1_000, quota_reset_seconds=HOUR, quota_window="5h")
    assert (window(crew)["limit"], window(crew)["learnt"]) == (1_000, True)
    limit(crew, limit_5h=5_000)
    assert (window(crew)["limit"], window(crew)["learnt"]) == (5_000, False)
    limit(crew, limit_day=9_000)
    assert (window(crew)["limit"], window(crew, "day")["limit"]) == (5_000, 9_000)
    limit(crew, limit_5h=None)
    assert (window(crew)["limit"], window(crew)["learnt"]) == (None, False)


def test_a_learnt_limit_that_is_too_low_is_raised_by_use_and_forgotten_after_two_weeks(crew: World) -> None:
    refused(crew, "w1", 1_000, quota_reset_seconds=HOUR, quota_window="5h")
    crew.advance(6 * HOUR)
    uses(crew, "w1", 1_400)
    assert (window(crew)["limit"], window(crew)["learnt"], window(crew)["runs_dry_at"]) == (1_400, True, None)
    crew.advance(14 * 24 * HOUR)
    assert (window(crew)["limit"], window(crew)["learnt"]) == (None, False)


def test_a_refusal_after_less_use_does_not_lower_what_was_learnt(crew: World) -> None:
    refused(crew, "w1", 1_000, quota_reset_seconds=HOUR, quota_window="5h")
    crew.advance(6 * HOUR)
    refused(crew, "w1", 100, quota_reset_seconds=HOUR, quota_window="5h")  # the rest was used elsewhere
    assert (window(crew)["limit"], window(crew)["used"]) == (1_000, 100)
    assert abs(parse(window(crew)["ends_at"]) - crew.now - HOUR * 1000) < 5_000
    crew.advance(14 * 24 * HOUR)
    refused(crew, "w1", 100, quota_reset_seconds=HOUR, quota_window="5h")
    assert window(crew)["limit"] == 100


@pytest.mark.parametrize("kept", [{"reserve": 20}, {"low_priority": "spare"}])
def test_a_learnt_limit_that_use_has_disproved_holds_nothing_back(crew: World, kept: dict[str, Any]) -> None:
    limit(crew, **kept)
    refused(crew, "w1", 1_000, quota_reset_seconds=HOUR, quota_window="week")
    crew.advance(6 * HOUR)
    uses(crew, "w1", 900)
    crew.task("w1", priority="low")
    assert crew.why("w1").startswith("hold")
    uses(crew, "w2", 500)
    assert window(crew, "week")["limit"] == 1_400
    assert crew.coordinator().starts() == ["w1"]


def test_usage_and_refusals_belong_to_the_account_that_the_launch_was_started_with(crew: World) -> None:
    task = crew.task("w1", priority="critical")
    process = crew.start("w1")
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"account": "second"})
    usage = {"input_tokens": 700, "cached_tokens": 0, "output_tokens": 0}
    crew.coordinator().exited(process.launch_id, exit_code=1, error="quota", usage=usage)
    assert (window(crew, account="claude")["used"], window(crew, account="second")["used"]) == (700, 0)
    assert quota(crew, "claude")["usable_at"] is not None
    assert quota(crew, "second")["usable_at"] is None
    assert crew.coordinator().starts() == ["w1"]
    assert crew.status(task) == "in_progress"


def test_a_window_that_a_wrong_clock_began_far_ahead_is_over_when_the_clock_is_right(crew: World) -> None:
    right = crew.now
    limit(crew, limit_5h=1_000, reserve=20)
    crew.advance(400 * 24 * HOUR)
    uses(crew, "w1", 900)
    crew.now = right
    assert (window(crew)["used"], window(crew)["reserve_kept"]) == (0, False)
    uses(crew, "w2", 300)
    assert window(crew)["used"] == 300


def test_it_says_when_the_account_runs_dry_at_this_pace(crew: World) -> None:
    limit(crew, limit_5h=4_000, limit_week=10_000_000)
    uses(crew, "w1", 1_000)
    assert window(crew)["runs_dry_at"] is None  # after a moment, the pace says nothing
    crew.advance(HOUR)
    assert abs(parse(window(crew)["runs_dry_at"]) - crew.now - 3 * HOUR * 1000) < 60_000
    assert window(crew, "week")["runs_dry_at"] is None


# --- the reserve -----------------------------------------------------------------------------------------------------


def keeps_its_reserve(world: World) -> None:
    limit(world, limit_5h=1_000, reserve=20)
    uses(world, "w1", 800)
    assert window(world)["reserve_kept"] is True


def test_ordinary_work_waits_for_the_end_of_the_window_and_urgent_work_starts(crew: World) -> None:
    keeps_its_reserve(crew)
    low, high = crew.task("w1", priority="medium"), crew.task("w2", priority="high")
    said = decision(crew, "w1")
    assert (said["action"], said["reason"], said["until"]) == ("hold", "reserve_kept", window(crew)["ends_at"])
    assert "toryo quota edit" in said["explanation"]
    assert crew.coordinator().starts() == ["w2"]
    crew.owner.call("edit_task", task_id=low, priority="critical")
    assert "w1" in crew.coordinator().starts()
    assert crew.status(high) == "in_progress"


def test_below_the_reserve_everything_starts_and_at_the_end_of_the_window_again(crew: World) -> None:
    limit(crew, limit_5h=1_000, reserve=20)
    uses(crew, "w1", 799)
    crew.task("w1", priority="low")
    assert crew.why("w1").startswith("start")
    uses(crew, "w2", 50)
    assert crew.why("w1") == "hold reserve_kept"
    crew.now = parse(window(crew)["ends_at"])
    assert crew.coordinator().starts() == ["w1"]


def test_a_waiting_claim_wakes_when_the_window_ends(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.task("w1")
    ends = parse(window(crew)["ends_at"])
    coordinator = crew.coordinator()
    asked = {"coordinator_id": "c1", "free_slots": 3, "running": [], "timeout_seconds": 50_000}
    crew.now = ends - 10_000
    waits = crew.perform("claim_starts", {**asked, "timeout_seconds": 45}, coordinator.credentials, may_wait=True)
    assert waits.later is not None
    assert waits.later.at == ends


def test_lowering_the_reserve_starts_what_waited(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.task("w1")
    assert crew.coordinator().starts() == []
    limit(crew, reserve=10)
    assert crew.coordinator().starts() == ["w1"]


def test_the_fallback_stands_in_for_ordinary_work_and_not_for_urgent(crew: World) -> None:
    keeps_its_reserve(crew)
    for each in ("w1", "w2"):
        crew.owner.call("edit_agent", agent_id=each, provider_options={"fallback": {"provider": "gemini"}})
    crew.task("w1", priority="low")
    crew.task("w2", priority="critical")
    said = decision(crew, "w1")
    assert said["action"] == "start"
    assert said["facts"]["stands_in"] == "gemini"
    assert "gemini is used instead, because the rest of the quota of the account claude is kept" in said["explanation"]
    started = {each["agent_id"]: each["ai_type"] for each in crew.coordinator().claim(free_slots=3)["start"]}
    assert started == {"w1": "gemini", "w2": "claude"}


def test_a_queue_gives_ordinary_work_to_nobody_whose_reserve_is_kept(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.owner.call("edit_agent", agent_id="w3", agent_type="mill")
    ordinary = crew.owner.call("file_task", project_id=crew.project_id, title="Grind", agent_type="mill", status="todo")
    assert crew.coordinator().starts() == []
    assert (decision(crew, "w3")["row"], decision(crew, "w3")["reason"]) == ("16", "reserve_kept")
    assert decision(crew, "w3")["until"] == window(crew)["ends_at"]
    crew.owner.call("edit_task", task_id=ordinary["task_id"], priority="high")
    assert crew.coordinator().starts() == ["w3"]


def test_urgent_work_of_a_queue_comes_before_ordinary_work_that_is_held(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.owner.call("edit_agent", agent_id="w3", agent_type="mill")
    filed = {"project_id": crew.project_id, "agent_type": "mill", "status": "todo"}
    crew.owner.call("file_task", title="Grind", priority="low", **filed)
    urgent = crew.owner.call("file_task", title="Grind now", priority="high", **filed)["task_id"]
    assert crew.coordinator().starts() == ["w3"]
    assert crew.status(urgent) == "in_progress"


def test_a_queue_task_says_which_program_stands_in_for_it(crew: World) -> None:
    keeps_its_reserve(crew)
    options = {"fallback": {"provider": "gemini"}}
    crew.owner.call("edit_agent", agent_id="w3", agent_type="mill", provider_options=options)
    crew.owner.call("file_task", project_id=crew.project_id, title="Grind", agent_type="mill", status="todo")
    said = decision(crew, "w3")
    assert (said["action"], said["facts"]["kept_of"], said["facts"]["stands_in"]) == ("start", "claude", "gemini")


def test_who_waits_for_something_else_is_not_said_to_wait_for_the_reserve(crew: World) -> None:
    crew.task("boss", priority="medium")
    boss = crew.start("boss")
    crew.person("lena", "boss")
    [part] = boss.assigned({"Ask around": "lena"})
    boss.begin(part)
    boss.wait()
    keeps_its_reserve(crew)
    assert crew.why("boss") == "hold waiting_for_person"
    crew.move(part, "done")
    assert crew.why("boss") == "hold reserve_kept"


def test_held_work_starts_when_its_first_program_is_free_not_when_its_reserve_ends(crew: World) -> None:
    """The fallback is in cooldown for longer than the reserve is kept."""
    keeps_its_reserve(crew)
    crew.owner.call("edit_agent", agent_id="w2", provider="gemini")
    refused(crew, "w2", 100, quota_reset_seconds=3 * 24 * HOUR)
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": {"provider": "gemini"}})
    crew.task("w1", priority="low")
    assert decision(crew, "w1")["until"] == window(crew)["ends_at"]
    refused(crew, "w3", 100, quota_reset_seconds=4 * 24 * HOUR)
    assert decision(crew, "w1")["until"] == quota(crew, "gemini")["usable_at"]


def test_a_person_starts_by_hand_what_the_reserve_holds(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.task("w1", priority="low")
    assert crew.why("w1") == "hold reserve_kept"
    signed_in = crew.nobody.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])
    assert signed_in["session_token"]


def test_the_command_that_helps_names_the_account(crew: World) -> None:
    keeps_its_reserve(crew)
    crew.task("w1", priority="low")
    assert "toryo quota edit claude --reserve" in decision(crew, "w1")["explanation"]


def test_who_runs_already_is_not_stopped_and_chats_go_on(crew: World) -> None:
    limit(crew, limit_5h=1_000, reserve=20)
    crew.task("w1", priority="low")
    process = crew.start("w1")
    uses(crew, "w2", 900)
    assert process.next()["action"] not in ("exit", "logout")
    crew.say("w2", "What is left?")
    assert crew.why_chat("w2").startswith("start")


def test_without_a_reserve_a_used_up_window_stops_nobody(crew: World) -> None:
    limit(crew, limit_5h=1_000)
    uses(crew, "w1", 5_000)
    crew.task("w1", priority="low")
    assert crew.why("w1").startswith("start")


# --- quota to spare --------------------------------------------------------------------------------------------------


def spares(world: World) -> None:
    """An hour after its window began, an account has used half of what five hours allow."""
    limit(world, limit_5h=1_000, low_priority="spare")
    uses(world, "w1", 500)
    world.advance(HOUR)


def test_tasks_of_low_priority_start_when_as_much_of_the_window_has_passed_as_is_used(crew: World) -> None:
    spares(crew)
    crew.task("w1", priority="low")
    crew.task("w2", priority="medium")
    said, spare_at = decision(crew, "w1"), window(crew)["spare_at"]
    assert (said["action"], said["reason"], said["row"], said["until"]) == ("hold", "no_spare_quota", "17", spare_at)
    assert "toryo quota edit claude --low-priority any" in said["explanation"]
    began = parse(window(crew)["ends_at"]) - 5 * HOUR * 1000
    assert parse(spare_at) == began + HOUR * 2500
    assert crew.coordinator().starts() == ["w2"]
    crew.now = parse(spare_at) - 1_000
    assert crew.why("w1") == "hold no_spare_quota"
    crew.now += 2_000
    assert "w1" in crew.coordinator().starts()
    assert window(crew)["spare_at"] is None


def test_a_waiting_claim_wakes_when_there_is_quota_to_spare(crew: World) -> None:
    spares(crew)
    crew.task("w1", priority="low")
    spare_at = parse(window(crew)["spare_at"])
    coordinator = crew.coordinator()
    asked = {"coordinator_id": "c1", "free_slots": 3, "running": [], "timeout_seconds": 45}
    crew.now = spare_at - 10_000
    waits = crew.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert waits.later is not None
    assert waits.later.at is not None
    assert abs(waits.later.at - spare_at) <= 1_000


def test_low_priority_leaves_the_reserve_and_waits_for_the_slowest_window(crew: World) -> None:
    limit(crew, limit_5h=1_000, limit_day=1_250, reserve=20, low_priority="spare")
    uses(crew, "w1", 500)
    crew.task("w2", priority="low")
    began = parse(window(crew)["ends_at"]) - 5 * HOUR * 1000
    assert parse(window(crew)["spare_at"]) == began + 5 * HOUR * 1000 * 500 // 800
    assert parse(decision(crew, "w2")["until"]) == began + 24 * HOUR * 1000 // 2


def test_without_a_limit_or_an_open_window_low_priority_starts(crew: World) -> None:
    limit(crew, low_priority="spare")
    crew.task("w1", priority="low")
    assert crew.why("w1").startswith("start")
    uses(crew, "w2", 900)
    assert crew.why("w1").startswith("start")
    limit(crew, limit_5h=1_000)
    assert crew.why("w1") == "hold no_spare_quota"
    limit(crew, low_priority="any")
    assert crew.why("w1").startswith("start")


def test_a_fallback_with_another_account_takes_low_priority_meanwhile(crew: World) -> None:
    spares(crew)
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": {"provider": "gemini"}})
    crew.task("w1", priority="low")
    [started] = crew.coordinator().claim()["start"]
    assert (started["agent_id"], started["ai_type"]) == ("w1", "gemini")


# --- who may what ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"limit_5h": 0},
        {"limit_week": 10**13},
        {"reserve": 91},
        {"reserve": -1},
        {"limit_day": "much"},
        {"low_priority": "never"},
    ],
)
def test_impossible_values_are_refused_and_change_nothing(crew: World, given: Answer) -> None:
    before = quota(crew)
    crew.owner.refused("edit_quota", "validationError", account="claude", **given)
    assert quota(crew) == before


def test_an_unknown_account_is_refused_with_those_that_there_are(crew: World) -> None:
    refused = crew.owner.refused("edit_quota", "validationError", account="claud", reserve=10)
    assert "claude" in str(refused)


def test_an_edit_leaves_what_it_does_not_name(crew: World) -> None:
    limit(crew, limit_5h=1_000, limit_day=5_000, reserve=20)
    limit(crew, limit_5h=2_000)
    limit(crew, reserve=None, low_priority=None)
    limit(crew, low_priority="spare")
    found = quota(crew)
    assert (found["limit_5h"], found["limit_day"], found["limit_week"], found["reserve"]) == (2_000, 5_000, None, 20)
    assert found["low_priority"] == "spare"


def test_a_change_is_told_once(crew: World) -> None:
    for _ in range(2):
        limit(crew, limit_5h=1_000, reserve=20)
    [event] = crew.events("account.quota_edited")
    assert event["data"] == {"account": "claude", "limit_5h": 1_000, "reserve": 20}
