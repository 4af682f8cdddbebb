"""Failures of an agent's programs in any order, against an oracle that follows docs/how-to/failures-and-quotas.md.

After every step, what is started next and what people are told must be what the oracle says. The oracle shares no code
with the product.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.databases import empty
from tests.operations.test_programs import at_work, end, not_started, offering, told
from tests.stories import Answer, World, seeds
from toryo.domain.times import parse
from toryo.storage.engine.database import Database

AGENT = "w1"
PROGRAMS = {
    "claude": {"provider": "claude"},
    "claude (second)": {"provider": "claude", "account": "second"},
    "claude haiku": {"provider": "claude", "model": "haiku"},
    "gemini": {"provider": "gemini"},
}
ACCOUNTS = {"claude": "claude", "claude (second)": "second", "claude haiku": "claude", "gemini": "gemini"}
NAMES = list(PROGRAMS)
FALLBACK = [PROGRAMS[name] for name in NAMES[1:]]
HAVING = offering("claude", "second")

HELPS = {"quota", "rate_limited", "service_failed", "not_logged_in", "model_not_available", "command_not_found"}
"""After these a fallback starts at once."""
PEOPLE = {"not_logged_in", "model_not_available", "command_not_found", "bad_config"}
"""Only people can help."""
CORRECTED = {"model_not_available", "bad_config"}
"""Any change of the agent's options may have corrected these."""
USUAL = {"quota": 1800, "rate_limited": 300}
"""Seconds, if the message names no time."""


def waits(named: int | None) -> int:
    """Milliseconds for the seconds that a message names: 10 % more, at most three minutes."""
    return (named or 0) * 1000 + min((named or 0) * 100, 180_000)


@dataclass
class Oracle:
    """What the documentation says: by program its end, reason and count; by account its end."""

    ends: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    accounts: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def fails(self, name: str, reason: str, seconds: int | None, now: int) -> None:
        named = seconds or USUAL.get(reason)
        if reason == "quota":
            account = ACCOUNTS[name]
            before = self.accounts.get(account, 0)
            least = 720_000 if now - 720_000 < before <= now else 60_000
            self.accounts[account] = max(before, now + max(least, waits(named)))
            self.broken.discard(name)
            return
        count = self.ends[name][2] + 1 if name in self.ends else 1
        wait = max(waits(named), min(60_000 * 2 ** (count - 1), 3_600_000))
        self.ends[name] = (now + wait, reason, count)
        self.broken.discard(name)
        if reason in PEOPLE:
            self.broken.add(name)

    def succeeds(self, name: str, now: int) -> None:
        self.ends.pop(name, None)
        for later in NAMES[NAMES.index(name) + 1 :]:
            until, reason, _ = self.ends.get(later, (now + 1, "", 0))
            if until <= now and reason not in PEOPLE:
                del self.ends[later]

    def resumed(self) -> None:
        self.ends, self.accounts, self.broken = {}, {}, set()

    def edited(self, *gone: str) -> None:
        """What people may have corrected counts as corrected; programs that were taken away are forgotten."""
        corrected = {name for name, (_, reason, _) in self.ends.items() if reason in CORRECTED}
        for name in corrected.union(gone):
            self.ends.pop(name, None)
            self.broken.discard(name)

    def failures_of(self, name: str, now: int) -> list[int]:
        """Ends of the failures for which it must wait: its own, and those before it that it would repeat."""
        found = []
        for each in NAMES[: NAMES.index(name) + 1]:
            until, reason, _ = self.ends.get(each, (0, "", 0))
            if until > now and (each == name or reason not in HELPS):
                found.append(until)
        return found

    def free_at(self, name: str, now: int) -> int:
        return max([now, *self.failures_of(name, now), self.accounts.get(ACCOUNTS[name], 0)])

    def next(self, now: int) -> tuple[str | None, int]:
        """What is started now; if nothing, when something is."""
        free = {name: self.free_at(name, now) for name in NAMES}
        return next((name for name in NAMES if free[name] <= now), None), min(free.values())

    def listed(self, now: int) -> list[int]:
        """The end of its own cooldown on the home page."""
        if self.next(now)[0] is not None:
            return []
        first = min(NAMES, key=lambda name: self.free_at(name, now))
        return [max(found)] if (found := self.failures_of(first, now)) else []


class History:
    def __init__(self, world: World) -> None:
        self.world, self.oracle, self.steps = world, Oracle(), list[str]()
        world.crew(workers=1)
        self.set(prompt="Hello", fallback=FALLBACK)
        self.task = world.task(AGENT)

    def set(self, **options: Any) -> None:
        self.world.owner.call("edit_agent", agent_id=AGENT, provider_options=options)

    def begin(self) -> Answer | None:
        """The launch that is handed out now: of the program that the oracle says, or none."""
        started = self.world.coordinator().claim(agent_ids=[AGENT], **HAVING)["start"]
        expected, _ = self.oracle.next(self.world.now)
        assert [_named(each) for each in started] == ([expected] if expected else []), self.steps
        return dict(started[0]) if started else None

    def new_task(self) -> None:
        """So that no guard blocks the task because of its many starts."""
        if self.world.status(self.task) == "in_progress":
            self.world.owner.call("move_task", task_id=self.task, status="cancelled")
        self.task = self.world.task(AGENT)

    def fail(self, reason: str, seconds: int | None = None, *, signed_in: bool = False) -> None:
        if (launch := self.begin()) is None:
            return
        name = _named(launch)
        if signed_in:
            at_work(self.world, launch)
            self.oracle.broken.discard(name)
        end(self.world, launch, reason, seconds)
        self.oracle.fails(name, reason, seconds, self.world.now)
        self.new_task()

    def time_out(self, reason: str) -> None:
        """Nobody signs in within 120 s; then its process ends and says why."""
        if (launch := self.begin()) is None:
            return
        name = _named(launch)
        self.world.advance(121)
        self.world.coordinator().claim(running=[launch["launch_id"]], free_slots=0, **HAVING)
        expired = self.world.now
        self.oracle.fails(name, "could_not_connect", None, expired)
        count = self.oracle.ends[name][2]
        end(self.world, launch, reason)
        if reason == "quota":
            self.oracle.ends[name] = (self.oracle.ends[name][0], "quota", count)
            self.oracle.fails(name, "quota", None, self.world.now)
        elif reason == "rate_limited":
            self.oracle.ends[name] = (self.world.now + 330_000, reason, count)
        elif reason != "could_not_connect":
            self.oracle.ends[name] = (self.oracle.ends[name][0], reason, count)
            self.oracle.broken |= {name} & ({name} if reason in PEOPLE else set())

    def stop(self) -> None:
        if (launch := self.begin()) is not None:
            at_work(self.world, launch)
            self.oracle.broken.discard(_named(launch))
            end(self.world, launch, "stopped", signal=15)
            self.new_task()

    def succeed(self) -> None:
        if (launch := self.begin()) is not None:
            at_work(self.world, launch).report()
            self.oracle.broken.discard(_named(launch))
            self.oracle.succeeds(_named(launch), self.world.now)
            self.new_task()

    def resume(self) -> None:
        self.world.owner.call("resume_agent", agent_id=AGENT)
        self.oracle.resumed()

    def edit(self) -> None:
        self.set(prompt=f"Hello {len(self.steps)}")
        self.oracle.edited()

    def replace_fallbacks(self) -> None:
        """And put them back: nothing is known of them then."""
        self.set(fallback=FALLBACK[:1])
        self.set(fallback=FALLBACK)
        self.oracle.edited(*NAMES[2:])

    def wait(self) -> None:
        """Until the next program may be started, or for ten minutes."""
        name, at = self.oracle.next(self.world.now)
        self.world.now = at if name is None else self.world.now + 600_000

    def take(self, step: str) -> None:
        self.steps.append(step)
        STEPS[step](self)
        self.check()

    def check(self) -> None:
        """What is said to people and Coordinators, before anything is started."""
        world, story = self.world, self.steps
        world.coordinator().claim(free_slots=0, **HAVING)
        said = told(world, AGENT)
        name, at = self.oracle.next(world.now)
        if name is None:
            assert (said["reason"], parse(said["until"])) == ("cooling_down", at), story
            first = min(NAMES, key=lambda each: self.oracle.free_at(each, world.now))
            assert said["facts"].get("first_again", NAMES[0]) == first, story
            assert ("automatically with" in said["explanation"]) == (first != NAMES[0]), story
        else:
            assert (said["action"], said["until"]) == ("start", None), story
            assert said["facts"].get("stands_in", NAMES[0]) == name, story
        asked = world.coordinator("simple").call("should_start", agent_id=AGENT)
        name, _ = self.oracle.next(world.now)
        here = name is not None and ACCOUNTS[name] != "second"  # who asks so has one login
        assert asked.get("ai_type") == (PROGRAMS[name or ""]["provider"] if here else None), story
        shown = world.owner.call("show_agent", agent_id=AGENT)["cooldowns"]
        held = {each["program"] or each["what"].removeprefix("account "): parse(each["until"]) for each in shown}
        of_accounts = [each for each in shown if each["what"].startswith("account ")]
        assert len(of_accounts) == sum(until > world.now for until in self.oracle.accounts.values()), story
        failed = {each["program"]: parse(each["until"]) for each in shown if each["what"] == "task"}
        lasting = {each: until for each, (until, *_) in self.oracle.ends.items() if until > world.now}
        assert failed == lasting, (story, held)
        fuel = world.owner.call("show_overview")["fuel"]["cooldowns"]
        own = [parse(each["until"]) for each in fuel if each["kind"] == "agent"]
        assert own == self.oracle.listed(world.now), story
        broken = sorted(AGENT if each == NAMES[0] else each for each in self.oracle.broken)
        assert not_started(world) == broken, story


def _named(launch: Answer) -> str:
    asked = (launch["ai_type"], launch["model"], launch["account"])
    return next(
        name for name, each in PROGRAMS.items() if asked == (each["provider"], each.get("model"), ACCOUNTS[name])
    )


def _steps() -> Iterator[tuple[str, Callable[[History], None]]]:
    def failing(reason: str, *more: Any, **how: Any) -> Callable[[History], None]:
        return lambda history: history.fail(reason, *more, **how)

    for reason in ("crashed", "not_logged_in", "bad_config", "model_not_available", "service_failed"):
        yield reason, failing(reason)
    for reason in ("quota", "rate_limited"):
        yield reason, failing(reason)
        yield f"{reason} for 20 minutes", failing(reason, 1200)
    for reason in ("crashed", "not_logged_in", "quota"):
        yield f"{reason} at work", failing(reason, signed_in=True)
    for reason in ("could_not_connect", "rate_limited", "quota", "not_logged_in"):
        yield f"does not sign in: {reason}", lambda history, reason=reason: history.time_out(reason)  # type: ignore[misc]
    yield "stopped", History.stop
    yield "success", History.succeed
    yield "resume", History.resume
    yield "edit", History.edit
    yield "other fallbacks", History.replace_fallbacks
    yield "wait", History.wait


STEPS: dict[str, Callable[[History], None]] = dict(_steps())


@pytest.fixture
def history(kept_sqlite: Database, quiet: None) -> History:
    """`resume` begins the next history of a test. The rules are the same on each database, SQLite is the fastest."""
    empty(kept_sqlite)
    return History(World(kept_sqlite))


BRIEF = ("crashed", "not_logged_in", "quota", "rate_limited for 20 minutes", "success", "wait")


@pytest.mark.parametrize("more", [1, pytest.param(2, marks=pytest.mark.deep)])
@pytest.mark.parametrize("first", BRIEF)
def test_every_short_history_leads_to_the_program_and_the_words_that_the_documentation_promises(
    history: History, first: str, more: int
) -> None:
    for rest in itertools.product(BRIEF, repeat=more):
        history.steps.clear()
        for step in ("resume", first, *rest):
            history.take(step)


@pytest.mark.parametrize("seed", seeds(0, 3))
def test_any_long_history_leads_to_the_program_and_the_words_that_the_documentation_promises(
    history: History, seed: int
) -> None:
    chance = random.Random(seed)
    history.steps.clear()
    history.take("resume")
    for _ in range(40):
        history.take(chance.choice(["wait", *STEPS]))
