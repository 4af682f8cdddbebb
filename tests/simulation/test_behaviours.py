"""Each behaviour has its effect on the real server, and none breaks a rule of the rows (the fixture `play` looks)."""

from __future__ import annotations

import pytest

from tests.simulation.conftest import Play, team
from toryo.simulation.behaviours import BEHAVIOURS

pytestmark = pytest.mark.deep


def behaving(behaviour: str, share: float = 1.0, **more: object) -> dict[str, object]:
    return {"w1": {"behaviour": behaviour, "share": share, **more}}


def test_an_obedient_team_completes_everything_without_a_refusal_a_guard_or_an_idle_start(play: Play) -> None:
    _, found = play(team())

    said = found.document
    assert said["ended"] == "done"
    assert said["tasks"] == {"completed": 8, "failed": 0, "cancelled": 0, "open": 0, "not_due": 0}
    assert (said["calls"]["refused"], said["guards"], said["starts"]["idle"]) == (0, {}, 0)
    assert said["starts"]["by_role"]["worker"] == 6


def test_the_same_seed_gives_the_same_run_and_another_one_another(play: Play) -> None:
    chance = team(defaults={"minutes": {"mean": 10, "spread": 1.0}, "failures": 0.2})

    def figures(seed: int) -> dict[str, object]:
        return play(chance, seed=seed)[1].document

    once = figures(1)
    assert figures(1) == once
    assert figures(2) != once | {"seed": 2}


def test_a_slow_agent_takes_three_times_as_long(play: Play) -> None:
    usual, slow = play(team(1, tasks=1)), play(team(1, tasks=1, agents=behaving("slow")))

    def minutes(played: object) -> float:
        return played[1].document["agents"]["w1"]["running_minutes"]  # type: ignore[index,no-any-return]

    assert minutes(slow) == pytest.approx(3 * minutes(usual), rel=0.05)


def test_a_crashing_agent_is_put_in_cooldown_and_its_tasks_wait_for_that(play: Play) -> None:
    _, found = play(team(1, agents=behaving("crashing", 0.5)))

    assert found.document["guards"]["cooldown"] > 0
    assert found.document["waiting_minutes"]["cooldown"] > 0
    assert any(bar.ended_badly for bar in found.bars)


def test_a_forgetful_agent_leaves_without_a_report_and_is_started_again(play: Play) -> None:
    usual = play(team())[1].document
    _, found = play(team(agents=behaving("forgetful", 0.5)))

    assert found.document["ends"].get("process_exited", 0) + found.document["ends"].get("logged_out", 0) > 0
    assert found.document["agents"]["w1"]["starts"] > usual["agents"]["w1"]["starts"]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_manager_may_behave_in_every_way(play: Play, behaviour: str) -> None:
    run, found = play(team(agents={"lead": {"behaviour": behaviour, "share": 0.5}}, hours=6))

    assert found.document["starts"]["by_role"]["manager"] > 0
    assert run.ended in ("done", "hours", "standstill")
