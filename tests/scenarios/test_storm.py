"""Everything is killed at random, again and again, while work goes on; then it is calm, and everything gets completed.

`TORYO_TEST_SEED` names the seed (it decides what is killed when; what that hits is chance all the same), and
`TORYO_TEST_STORM_SECONDS` how long the storm lasts: 12 seconds by default, 120 are for those who have time.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter

import pytest

from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site

SECONDS = float(os.environ.get("TORYO_TEST_STORM_SECONDS", "12"))
SEED = int(os.environ.get("TORYO_TEST_SEED", "17"))
CALM_WITHIN = 200.0
STORIES_AT_ONCE = 2
WORKERS = 3
PARTS = {"one": [], "two": [], "three": ["one"], "four": ["two", "three"]}
"""Of each story, with what each part depends on."""
VICTIMS = ["worker"] * 4 + ["manager"] * 3 + ["coordinator"] * 2 + ["server"] * 2
LONGEST_LULL = 1.5

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS + 2 * CALM_WITHIN, method="signal")]


def test_whatever_is_killed_and_whenever_everything_is_completed_once(build: Build) -> None:
    # A guard gives up on tasks whose launches make no progress; here that is nobody's fault, however often it happens.
    # Who is killed while no Coordinator sees it is missed when its lease is over.
    settings = {"TORYO_GUARDS__IDLE_LAUNCHES": "1000", "TORYO_SESSION__LEASE": "10"}
    storm = Storm(build(**settings), random.Random(SEED))
    storm.rage(SECONDS)
    storm.calm_down()

    site, history = storm.site, storm.site.history
    print(f"seed {SEED}: {len(storm.stories)} stories, killed {dict(storm.killed)}")  # noqa: T201 - for who looks
    tasks = site.tasks("storm")
    assert {task["status"] for task in tasks.values()} == {"completed"}
    assert len(tasks) == len(storm.stories) * (1 + len(PARTS))
    assert history.completed_twice() == []
    assert history.double_launches() == []
    assert history.of("task.blocked", "task.failed") == []
    assert history.lost() == []
    parts = [start for start in history.starts() if start["agent_id"] != "lead"]
    lost = history.of("session.ended", reason="lease_expired")
    assert len(parts) <= len(storm.stories) * len(PARTS) + storm.killed["worker"] + len(lost)


class Storm:
    """Files one story after the other, and kills something every now and then."""

    def __init__(self, site: Site, chance: random.Random) -> None:
        self.site = site
        self.chance = chance
        self.killed: Counter[str] = Counter()
        self.stories: list[str] = []
        """Main tasks."""
        site.project("storm", commands_from="managers")
        site.lead("lead", "storm", plans=[_plan()], max_parallel_tasks=STORIES_AT_ONCE)
        for number in range(WORKERS):
            site.hire(f"hand-{number}", "storm", reports_to="lead")
        site.coordinator()

    def rage(self, seconds: float) -> None:
        """For so long, and until somebody was killed every five seconds of it, however slow everything is."""
        over = time.monotonic() + seconds
        while time.monotonic() < over or self.killed.total() < seconds / 5:
            self._keep_busy()
            self._kill(self.chance.choice(VICTIMS))
            self._lull(self.chance.uniform(0, LONGEST_LULL))

    def calm_down(self) -> None:
        self.site.until("all stories are completed", lambda: not self._open(), CALM_WITHIN)
        self.site.until("nobody is at work", lambda: not self.site.sessions() and not self.site.agents())

    def _keep_busy(self) -> None:
        while len(self._open()) < STORIES_AT_ONCE:
            title = f"Story {len(self.stories)}"
            self.stories.append(self.site.file("storm", title, assignee_id="lead", status="in_progress"))

    def _open(self) -> list[str]:
        done = {each["task_id"] for each in self.site.history.of("task.completed")}
        return [story for story in self.stories if story not in done]

    def _lull(self, seconds: float) -> None:
        """Work goes on for so long."""
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            self.site.history.read(wait_seconds=1)

    def _kill(self, what: str) -> None:
        if what in ("server", "coordinator"):
            self.killed[what] += 1
            (coordinator,) = self.site.coordinators
            if what == "server":
                self.site.server.kill()
                self.site.serve()
            else:
                coordinator.kill()
                coordinator.start().says("connected to")
            return
        running = [agent for agent in self.site.agents() if (agent.agent_id == "lead") == (what == "manager")]
        if running:
            self.killed[what] += 1
            self.chance.choice(running).kill()


def _plan() -> dict[str, object]:
    parts = [
        {
            "id": name,
            "title": f"Part {name} of {{{{title}}}}",
            "depends_on": depends_on,
            "context": {"command": f"sleep 0.4; echo {{{{title}}}} >> {name}", "outputs": [name]},
        }
        for name, depends_on in PARTS.items()
    ]
    return {"match": "Story .*", "subtasks": parts}
