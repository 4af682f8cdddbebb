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
from tests.scenarios.stories import NO_BLAME, PARTS, Stories, rules_broken

SECONDS = float(os.environ.get("TORYO_TEST_STORM_SECONDS", "12"))
SEED = int(os.environ.get("TORYO_TEST_SEED", "17"))
CALM_WITHIN = 200.0
STORIES_AT_ONCE = 2
WORKERS = 3
VICTIMS = ["worker"] * 4 + ["manager"] * 3 + ["coordinator"] * 2 + ["server"] * 2
LONGEST_LULL = 1.5

pytestmark = [pytest.mark.deep, pytest.mark.timeout(SECONDS + 2 * CALM_WITHIN, method="signal")]


def test_whatever_is_killed_and_whenever_everything_is_completed_once(build: Build) -> None:
    storm = Storm(build(**NO_BLAME), random.Random(SEED))
    storm.rage(SECONDS)
    storm.stories.calm_down(CALM_WITHIN)

    history, told = storm.site.history, len(storm.stories.told)
    print(f"seed {SEED}: {told} stories, killed {dict(storm.killed)}")  # noqa: T201 - for who looks
    assert storm.stories.promises_broken() == []
    assert rules_broken(storm.site.database) == []
    parts = [start for start in history.starts() if start["agent_id"] != "lead"]
    lost = history.of("session.ended", reason="lease_expired")
    assert len(parts) <= told * len(PARTS) + storm.killed["worker"] + len(lost)


class Storm:
    """Kills something every now and then while stories are told."""

    def __init__(self, site: Site, chance: random.Random) -> None:
        self.site = site
        self.chance = chance
        self.killed: Counter[str] = Counter()
        self.stories = Stories(site, workers=WORKERS, at_once=STORIES_AT_ONCE)
        site.coordinator()

    def rage(self, seconds: float) -> None:
        """For so long, and until somebody was killed every five seconds of it, however slow everything is."""
        over = time.monotonic() + seconds
        while time.monotonic() < over or self.killed.total() < seconds / 5:
            self.stories.keep_busy()
            self._kill(self.chance.choice(VICTIMS))
            self._lull(self.chance.uniform(0, LONGEST_LULL))

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
