"""One or two disturbances at every step of an obedient run; then everybody obeys until nothing moves, and is judged.

A history is a sequence of disturbances that changed something, each at its step. What comes of it is run until nothing
moves or until a state that was run before: from there on everything would be the same.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests import stories
from tests.exploring.crew import Crew, LedNowhere
from tests.exploring.disturbances import Disturbance, all_of
from tests.exploring.memory import InMemory
from tests.exploring.scenes import crew_of
from tests.invariants import RULES
from tests.operations.test_people_between import standstills
from toryo.operations.calls import call_log

ROUNDS = 150
SECONDS = 0.02
"""Of the disturbances that may follow another, this share is tried where any is."""
JUMPS = (1, 70, 400, 4000, 90_000)
"""Seconds that pass while nothing moves, before it is believed that nothing will."""


@dataclass
class Fault:
    story: tuple[str, ...]
    what: str
    log: list[str]

    def __str__(self) -> str:
        return f"{' | '.join(self.story)}\n    {self.what}"


@dataclass
class Explorer:
    scene: str
    database: InMemory
    dice: random.Random = field(default_factory=lambda: random.Random(0))
    seen: dict[int, int] = field(default_factory=dict)
    """What was run to its end or is being run, and by which run first."""
    runs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    until: float = float("inf")
    most: int = 10**9
    only: str = ""
    """Of the disturbances: those in whose names this pattern is found."""
    stops: bool = False
    """At the first fault."""
    progress: Callable[[Explorer], None] = lambda _: None

    def explore(self, *, share: float = 1.0, second: float = 0.0, inside: float = 0.0) -> None:
        """`share` of all single disturbances; after each of these, `second` of those that may follow at later steps;
        `inside`: of those between the calls of one step."""
        with self.database.moment():
            crew = crew_of(self.scene, self.database)
            with crew.moment():
                self._follow(crew, (), 0.0)
            for number, _ in enumerate(self._steps(crew)):
                self._disturbed(crew, (), number, share, second)
                if inside:
                    self._inside(crew, number, inside)
                if self.over:
                    return

    def line(self) -> str:
        told = {**self.counts, "states": len(self.seen), "faults": sum(self.kinds.values())}
        return f"{self.scene}: " + ", ".join(f"{count} {name}" for name, count in told.items())

    @property
    def over(self) -> bool:
        found = self.stops and bool(self.faults)
        return found or time.monotonic() > self.until or self.counts["histories"] >= self.most

    def _steps(self, crew: Crew) -> Iterator[None]:
        """The undisturbed run: before each step, and once nothing moves any more."""
        for moved in self._run(crew, ()):
            if moved or moved is None:
                yield

    def _run(self, crew: Crew, story: tuple[str, ...]) -> Iterator[bool | None]:
        """Everybody obeys until nothing happens any more, however much time passes; paused projects are resumed.

        Says None before each round, and after each step whether it moved anything.
        """
        quiet, resumed = 0, False
        for _ in range(ROUNDS):
            active = False
            yield None
            for moved in crew.round():
                active = active or moved
                self.counts["steps"] += 1
                yield moved
            if active:
                quiet = 0
                continue
            if quiet == len(JUMPS):
                if resumed or not self._resumes(crew):
                    return
                resumed, quiet = True, 0
                continue
            crew.passes(JUMPS[quiet])
            quiet += 1
        self._fault(crew, story, "the crew was started again and again")

    def _resumes(self, crew: Crew) -> bool:
        rested = [each["id"] for each in crew.reader.rows()["projects"] if each["status"] == "paused"]
        for project_id in rested:
            crew.world.owner.call("resume_project", project_id=project_id)
        return bool(rested)

    def replay(self, *story: str) -> list[str]:
        """Tells a history again (`STEP: DISTURBANCE`, the second's step counted from the first); answers its log."""
        with self.database.moment():
            crew = crew_of(self.scene, self.database)
            runs: Iterator[bool | None] = iter(self._steps(crew))
            for each in story:
                step, _, name = each.partition(": ")
                for _ in range(int(step) + 1):
                    next(runs)
                crew.acts += 1
                crew.log.append(f"--- {name}")
                dict(all_of(crew))[name](crew)
                self._hold(crew)
                runs = iter(self._run(crew, story))
            for _ in runs:
                self._hold(crew)
            return [*crew.log, *crew.faults, *standstills(crew.world)]

    # --- one moment --------------------------------------------------------------------------------------------------

    def _disturbed(self, crew: Crew, story: tuple[str, ...], step: int, share: float, second: float) -> None:
        for each in list(all_of(crew)):
            if re.search(self.only, each[0]) is None or (share < 1 and self.dice.random() >= share):
                continue
            if self.over:
                return
            self._one(crew, story, step, each, second)

    def _one(self, crew: Crew, story: tuple[str, ...], step: int, disturbance: Disturbance, second: float) -> None:
        name, act = disturbance
        told = (*story, f"{step}: {name}")
        with crew.moment():
            crew.acts += 1
            crew.log.append(f"--- {name}")
            try:
                if not act(crew):
                    self.counts["refused"] += 1
                    return
            except Exception as error:  # noqa: BLE001 - whatever the product raises is a fault of it
                self._fault(crew, told, repr(error))
                return
            self.counts["histories"] += 1
            self._follow(crew, told, second)
        self.progress(self)

    def _follow(self, crew: Crew, story: tuple[str, ...], second: float) -> None:
        """Until nothing moves, or what moves is known; then it is judged."""
        try:
            how = self._until_known(crew, story, second)
            if how == "ends" and not crew.faults:
                crew.faults += standstills(crew.world)
                crew.faults += [*processes_left(crew), *talk_left(crew)]
        except Exception as error:  # noqa: BLE001 - as above
            how = "ends"
            crew.faults.append(repr(error))
        self.counts[how] += 1
        for each in crew.faults:
            self._fault(crew, story, each)

    def _until_known(self, crew: Crew, story: tuple[str, ...], second: float) -> str:
        self.runs += 1
        run = self.runs
        if self._known(crew, run) and not second:
            return "converged at once"
        self._hold(crew)
        for number, moved in enumerate(self._run(crew, story)):
            if moved is not None and run > 1:
                continue  # the undisturbed run is remembered step by step, the others round by round
            known = self._known(crew, run)
            if not known:
                self._hold(crew)
            if crew.faults:
                return "ends"
            if second and self.dice.random() < second:
                self._disturbed(crew, story, number, SECONDS, 0.0)
            if known:
                return "converged"
            if self.over:
                return "left"
        return "ends"

    def _known(self, crew: Crew, run: int) -> bool:
        """Whether another run has been here."""
        return self.seen.setdefault(hash((crew.state(), bool(crew.crashes))), run) != run

    def _hold(self, crew: Crew) -> None:
        """Every rule of the rows, and no punishment."""
        rows = crew.reader.rows()
        if crew.judged == rows["events"][-1]["sequence"] and not crew.acts:
            return
        crew.judge_events()
        for rule in RULES:
            crew.faults += [f"{rule.__name__[1:]}: {what}" for what in rule(rows)]

    def _inside(self, crew: Crew, step: int, share: float) -> None:
        """The next step of each process, with something in between its calls."""
        for launch_id, one in list(crew.working.items()):
            name = one.agent.process.agent_id
            with crew.moment():
                crew.calls = 0
                try:
                    crew.goes_on(launch_id)
                except (AssertionError, LedNowhere):
                    continue
                calls = crew.calls
            for call in range(2, calls + 1):
                for label, act in list(all_of(crew)):
                    if self.over:
                        return
                    if self.dice.random() < share:
                        self._one(
                            crew, (), step, (f"in call {call} of {name}: {label}", _within(launch_id, call, act)), 0
                        )

    def _fault(self, crew: Crew, story: tuple[str, ...], what: str) -> None:
        kind = _kind(what)
        self.kinds[kind] += 1
        if self.kinds[kind] <= 5:
            self.faults.append(Fault((self.scene, *story), what, list(crew.log)))


@contextmanager
def cheaply() -> Iterator[None]:
    """Without a log line per call, and without holding every answer to its schema: other stories do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_log, "write", lambda *_: None)
        patch.setattr(stories, "hold_to_promise", lambda *_: None)
        yield


def processes_left(crew: Crew) -> Iterator[str]:
    """Where nothing moves any more, a day later, no launch and no session is live."""
    rows = crew.reader.rows()
    for each in rows["launches"]:
        if each["state"] in ("ordered", "signed_in"):
            yield f"a launch of {each['agent_id']} for {each['purpose']} is {each['state']} for ever"
    for each in rows["sessions"]:
        if each["ended_at"] is None:
            yield f"a {each['purpose']} session of {each['agent_id']} lives for ever"


def talk_left(crew: Crew) -> Iterator[str]:
    """Then nothing is left to be said either, by agents that can be started."""
    rows = crew.reader.rows()
    able = {each["id"] for each in rows["agents"] if each["status"] == "active" and each["provider"] is not None}
    there = {
        (each["project_id"], each["agent_id"])
        for each in rows["memberships"]
        if each["removed_at"] is None and each["agent_id"] in able
    }
    for each in rows["delegations"]:
        if each["status"] in ("pending", "processing") and (each["project_id"], each["agent_id"]) in there:
            yield f"a delegation of {each['agent_id']} to {each['target_agent_id']} is {each['status']} for ever"
    for each in rows["conversations"]:
        if each["state"] != "ended" and each["state"] != "expired":
            yield f"a conversation of {each['low_id']} and {each['high_id']} is {each['state']} for ever"
    cursors = {(each["project_id"], each["agent_id"]): each["cursor"] for each in rows["mailboxes"]}
    over = {each["id"] for each in rows["conversations"]}
    for each in rows["messages"]:
        unread = each["sequence"] > cursors.get((each["project_id"], each["to_agent_id"]), 0)
        if (
            unread
            and each["kind"] == "message"
            and (each["project_id"], each["to_agent_id"]) in there
            and each["conversation_id"] not in over
        ):
            yield f"nobody delivers what {each['from_agent_id']} wrote to {each['to_agent_id']}"


def _within(launch_id: str, call: int, act: Callable[[Crew], bool]) -> Callable[[Crew], bool]:
    def disturbed(crew: Crew) -> bool:
        done: list[bool] = []
        crew.interrupt = (call, lambda: done.append(act(crew)))
        try:
            crew.goes_on(launch_id)
        finally:
            crew.interrupt = None
        return any(done)

    return disturbed


def _kind(what: str) -> str:
    """The same for faults of one kind."""
    words = [each for each in what.replace("“", " “").split() if "_" not in each or each.isidentifier()]
    return " ".join(each for each in words[:9] if not each.startswith(("tsk_", "ses_", "lau_", "“", "#")))
