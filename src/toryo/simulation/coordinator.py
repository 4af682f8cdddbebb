"""A Coordinator of a simulation: the real plan (`coordinator/reconcile.py`), carried out with simulated programs.

As the real loop: one waiting claim; no new one before all exits are reported; a claim without a slot is abandoned when
there is one. Nothing is lost on the way, so nothing is repeated; worktrees are made at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from toryo.coordinator import orders, reconcile
from toryo.coordinator.claim_pacing import Pace
from toryo.coordinator.launch_state import Seen, Stage, State, Stop
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import CheckOrder, Launch, Orders, WorktreeJob
from toryo.coordinator.reconcile import Plan
from toryo.failures import Ended
from toryo.operations.calls.call import WORK
from toryo.simulation.programs import Program
from toryo.simulation.virtual_time import Timer
from toryo.simulation.world import COORDINATOR_TOKEN, Answer, Wait, World

WAITS_SECONDS = 80
"""How long a claim waits. A real one waits less (`long_waits.py`) and is then repeated only to renew leases: that
changes nothing here, where leases are longer.
"""
LOOKS_AGAIN_SECONDS = 400
"""How long a claim goes on waiting without a look if nothing has changed: shorter than leases, which a look renews."""
JOB_SECONDS = 5.0
"""How long a job for a worktree takes."""
HEAD = "c1"
"""The last commit of every branch."""


@dataclass
class Entry:
    launch: Launch
    since: float
    program: Program | None = None
    stop: Stop | None = None
    stage: Stage = Stage.NONE
    signalled_at: float = 0.0

    def seen(self) -> Seen:
        running = State.GONE if self.program is not None and self.program.over else State.RUNNING
        state = State.WAITING if self.program is None else running
        return Seen(self.launch, state, self.since, self.stop, self.stage, self.signalled_at)


class Coordinator:
    """`begin` makes the program of a launch. `fails_check`, `check_seconds`: whether an acceptance check of it fails,
    and how long that takes.
    """

    def __init__(
        self,
        world: World,
        limits: Limits,
        begin: Callable[[Launch], Program],
        fails_check: Callable[[CheckOrder], bool],
        check_seconds: Callable[[CheckOrder], float],
        settles: float,
    ) -> None:
        self._world, self._limits, self._begin = world, limits, begin
        self._fails_check, self._check_seconds = fails_check, check_seconds
        self._settles = settles
        """Seconds after a hint until the server is asked: what happens meanwhile is answered together."""
        self.entries: dict[str, Entry] = {}
        self._ended: dict[str, None] = {}
        self._pace = Pace(1.0)
        self._claim: Wait | None = None
        self._asked: dict[str, Any] = {}
        self._asked_at = 0.0
        self._until = 0
        self._next_due: int | None = None
        self._looked_at = 0
        self._seen_work, self._seen_slots = -1, 0
        """What was the case at the last answer: without a change since, the same answer would be empty."""
        self._checking: set[str] = set()
        self._jobs: set[str] = set()
        self._timer: Timer | None = None
        self._news = False
        self._orders: Orders | None = None

    def start(self) -> None:
        self._turn()

    # --- one turn ----------------------------------------------------------------------------------------------------

    def news(self) -> None:
        """Something has happened: a turn follows."""
        if not self._news:
            self._news = True
            self._world.time.after(0.0, self._turn)

    def _turn(self) -> None:
        self._news = False
        if self._timer is not None:
            self._timer.cancel()
        now = self._world.time.seconds
        given, self._orders = self._orders, None
        seen = [entry.seen() for entry in self.entries.values()]
        plan = reconcile.plan(seen, given or orders.NONE, self._limits, now, ended=self._ended)
        news = not plan.does_nothing
        self._act(plan, now)
        if given is not None:
            for check in given.checks:
                news = True
                self._checking.add(check.check_id)
                self._world.time.after(self._check_seconds(check), partial(self._checked, check))
            for job in given.worktree_jobs:
                news = True
                self._jobs.add(job.job_id)
                self._world.time.after(JOB_SECONDS, partial(self._done, job))
            self._pace.answered(now, took=now - self._asked_at, news=news)
        self._ask(plan, now)
        moments = [] if plan.look_again_at is None else [plan.look_again_at]
        if self._claim is None:
            moments.append(self._pace.ask_at)
        if moments:
            self._timer = self._world.time.after(max(0.0, min(moments) - now), self._turn)

    def _act(self, plan: Plan, now: float) -> None:
        for launch_id, stop in plan.stop:
            self.entries[launch_id].stop = stop
        for launch_id, stage in plan.signal:
            entry = self.entries[launch_id]
            entry.stage, entry.signalled_at = stage, now
            assert entry.program is not None
            (entry.program.kill if stage is Stage.KILL else entry.program.interrupt)()
        for launch_id in plan.reap:
            self._reap(self.entries.pop(launch_id))
            self._ended[launch_id] = None
        for launch_id in plan.drop:
            self.entries.pop(launch_id, None)
            self._ended[launch_id] = None
            self._world.call("report_process_exit", COORDINATOR_TOKEN, launch_id=launch_id, error=Ended.STOPPED.value)
        for launch in (*plan.start, *plan.keep):
            self.entries.setdefault(launch.launch_id, Entry(launch, now))
        for launch in plan.start:
            entry = self.entries[launch.launch_id]
            entry.since = now
            self._worktree(launch, **_said(subtasks=_brought(_workspace(launch, "brings")) or None))
            entry.program = self._begin(launch)

    def _reap(self, entry: Entry) -> None:
        program = entry.program
        assert program is not None
        self._worktree(entry.launch, head_commit=HEAD, commits=1, files_changed=1)
        self.print(program)
        stopped = entry.stage is not Stage.NONE
        error = Ended.STOPPED.value if stopped else program.error
        if error is None and program.exit_code not in (0, None):
            error = f"crashed: exit code {program.exit_code}"
        self._world.call(
            "report_process_exit",
            COORDINATOR_TOKEN,
            launch_id=entry.launch.launch_id,
            **_said(
                exit_code=program.exit_code,
                signal=program.signal,
                error=error,
                usage=program.usage(),
                log_tail="\n".join(program.lines[-20:]) or None,
            ),
        )

    def print(self, program: Program) -> None:
        """What the program has printed since, and used so far."""
        text = "".join(f"{line}\n" for line in program.lines[program.printed :])
        program.printed = len(program.lines)
        if text or program.usage():
            self._world.call(
                "append_log",
                COORDINATOR_TOKEN,
                launch_id=program.launch.launch_id,
                offset=program.offset,
                text=text,
                **_said(usage=program.usage()),
            )
            program.offset += len(text)

    def _worktree(self, launch: Launch, **figures: Any) -> None:
        name = _workspace(launch, "name")
        if name:
            place = f"/simulated/{name}"
            self._world.call(
                "report_worktree",
                COORDINATOR_TOKEN,
                launch_id=launch.launch_id,
                path=place,
                directory=place,
                branch=f"toryo/{name}",
                base_branch="main",
                base_commit="c0",
                **figures,
            )

    def _checked(self, check: CheckOrder) -> None:
        self._checking.discard(check.check_id)
        failures = [{"check": str(each), "message": "failed (simulated)"} for each in check.checks[:1]]
        self._world.call(
            "report_check_result",
            COORDINATOR_TOKEN,
            check_id=check.check_id,
            failures=failures if self._fails_check(check) else [],
        )
        self.news()

    def _done(self, job: WorktreeJob) -> None:
        self._jobs.discard(job.job_id)
        order = job.options.get("order", ())
        merged = [
            {"task_id": each["task_id"], "commit": "m1", "into": each["into"]} for each in order if "into" in each
        ]
        gone = [job.task_id] if job.kind in ("discard", "clean") else []
        brought = _brought(job.options.get("subtasks"))
        self._world.call(
            "report_worktree_job",
            COORDINATOR_TOKEN,
            job_id=job.job_id,
            done=True,
            merged=merged,
            gone=gone,
            **_said(answer={"subtasks": brought} if brought else None),
        )
        self.news()

    def stop(self) -> None:
        """Ends all programs, as a Coordinator that is shut down."""
        for entry in list(self.entries.values()):
            if entry.program is not None:
                entry.stage = Stage.KILL
                entry.program.kill()
                self._reap(entry)
            else:
                self._world.call(
                    "report_process_exit",
                    COORDINATOR_TOKEN,
                    launch_id=entry.launch.launch_id,
                    error=Ended.STOPPED.value,
                )
        self.entries.clear()

    # --- asking the server -------------------------------------------------------------------------------------------

    def _ask(self, plan: Plan, now: float) -> None:
        if self._claim is not None:
            if plan.free_slots > 0 and self._asked["free_slots"] == 0:
                self._claim.cancel()  # it would not start anything
                self._claim = None
            elif plan.free_chat_slots > 0 and self._asked["free_chat_slots"] == 0:
                self._claim.cancel()
                self._claim = None
            else:
                return
        if now < self._pace.ask_at:
            return
        self._asked = {
            "coordinator_id": "simulated",
            "free_slots": plan.free_slots,
            "free_chat_slots": plan.free_chat_slots,
            "running": list(self.entries),
            "checking": sorted(self._checking),
            "worktree_jobs": sorted(self._jobs),
        }
        self._asked_at = now
        self._until = self._world.time.now + WAITS_SECONDS * 1000
        if self._world.work == self._seen_work and plan.free_slots <= self._seen_slots:
            self._world.unmade_claims += 1
            self._claim = self._world.wait((WORK, "checks"), self._look, self._until, self._settles)
            return
        # As after a hint: what happens within this time is answered together.
        self._claim = self._world.wait((), self._look, self._world.time.now + round(self._settles * 1000))

    def _look_or_wait_on(self) -> None:
        """After a hint, or when the claim has waited for long: then a look would find what the last one has found."""
        world = self._world
        due = self._next_due is not None and world.time.now >= self._next_due
        long_ago = world.time.now - self._looked_at > LOOKS_AGAIN_SECONDS * 1000
        isolated = any(_workspace(entry.launch, "name") for entry in self.entries.values())
        if due or long_ago or isolated or world.work != self._seen_work or self._claim_hinted:
            self._look()
            return
        world.unmade_claims += 1
        self._until = world.time.now + WAITS_SECONDS * 1000
        until = self._until if self._next_due is None else min(self._until, self._next_due)
        self._claim = world.wait((WORK, "checks"), self._look_or_wait_on, until, self._settles)

    @property
    def _claim_hinted(self) -> bool:
        return self._claim is not None and self._claim.hinted

    def _look(self) -> None:
        """One look for the claim that waits."""
        self._claim = None
        world = self._world
        world.claims += 1
        may_wait = world.time.now < self._until
        outcome = world.perform("claim_starts", self._asked, COORDINATOR_TOKEN, may_wait=may_wait)
        if outcome.later is not None:
            at = outcome.later.at
            until = self._until if at is None else min(self._until, max(at, world.time.now + 50))
            self._next_due, self._looked_at = at, world.time.now
            self._remember([])
            self._claim = world.wait(outcome.later.topics, self._look_or_wait_on, until, self._settles)
            return
        answer: Answer = outcome.result or {}
        assert not outcome.refused, answer
        self._remember(answer["start"])
        self._orders = orders.read(answer)
        self.news()

    def _remember(self, started: list[Any]) -> None:
        """What was the case at this look. If slots were left, nobody waited for one: more slots change nothing."""
        self._seen_work = self._world.work
        asked = self._asked["free_slots"]
        slots = sum(each["purpose"] == "task" for each in started)
        self._seen_slots = asked if slots >= asked else self._limits.max_concurrent


def _workspace(launch: Launch, what: str) -> Any:
    """Of its worktree, if it has one of its own."""
    workspace = launch.workspace if isinstance(launch.workspace, dict) else {}
    return workspace.get(what)


def _brought(subtasks: Any) -> list[dict[str, str]]:
    """In a simulation nothing conflicts."""
    return [{"task_id": each, "commit": HEAD} for each in subtasks or ()]


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
