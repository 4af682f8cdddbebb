"""A crew at work: Coordinators, processes, people, one clock; it steps, and goes back to where it stood.

Every process is one of `tests/obedience.py` and does what it is told, one instruction at a step. What is judged here is
what can be seen of one step: a refused call that was told to be made, a start for nothing, calls without end.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson
import sqlalchemy as sa

from tests.exploring.memory import InMemory
from tests.exploring.states import Reader, canonical, used_up
from tests.obedience import LedNowhere, Obedient, ObedientChat, ObedientManager
from tests.stories import Answer, Caller, Coordinator, Process, Refused, World
from toryo.operations.calls.dispatch import Outcome
from toryo.storage import schema
from toryo.storage.engine.statements import Statement

ASK = {"action": "get_next_action"}
"""What a process does that was not told anything: it asks."""
IDLE = frozenset(
    {
        *("report_model", "get_task", "get_notifications"),
        *("wait", "wait_for_answer", "wait_for_others", "wait_for_delegation"),
    }
)
PROBES = frozenset(
    {"select_action", "assign_task", "cancel_task", "update_task_status", "create_tasks_batch", "request_changes"}
)
"""What an obedient manager just tries."""
EXPECTED = frozenset({"delegationOpen", "checksFailed"})
"""What may be refused to whoever does what it was told: then it is told to wait, or what to mend."""
SAME_REFUSAL = 4
"""The same call refused so often in one session: it is led in a circle."""
PUNISHED = ("guard.blocked", "session.runaway", "agent.cooling_down")
WORKTREE_JOBS = ("meets a conflict", "finds nothing there")
"""What hinders a worktree job."""
BATCHES = ("fails the checks", "finds the target broken", "meets a conflict", "cannot move the target")
"""What a batch of the merge queue comes to."""
LATER = ("checks are still running", "is being merged into your worktree")
"""Where a call that may not wait is told to come again."""
FAILED_CHECK = {"check": "make", "outcome": "failed", "runs": 1, "seconds": 1.0, "exit_code": 2, "output": "red"}
UNABLE = {**FAILED_CHECK, "outcome": "error", "exit_code": 127, "output": "make: not found"}
CHECKS: dict[str, Answer] = {
    "fails": {"failures": [{"check": "make", "message": "red"}], "results": [FAILED_CHECK]},
    "cannot run": {"failures": [], "results": [UNABLE]},
}
"""How an acceptance check ends that does not pass."""
KILLED = "its Coordinator is killed before that is kept"
NO_WORKTREE = "can make no worktree"
_STATE = ("told", "retried", "fails", "statuses", "hopeless", "to_report")


_NEWEST = Statement(sa.select(sa.func.max(schema.events.c.sequence)))


def _later(refusal: Answer) -> bool:
    return any(words in refusal["message"] for words in LATER)


class Hand(Process):
    """A process that remembers what it was refused, and where something may happen before a call."""

    crew: Crew
    refused_calls: list[tuple[str, Answer]]

    def ask(self, name: str, /, **arguments: Any) -> Outcome:
        self.crew.before_call()
        outcome = super().ask(name, **arguments)
        if self.crew.repeats:
            super().ask(name, **arguments)
        if outcome.refused and outcome.result is not None:
            self.refused_calls.append((name, outcome.result))
        return outcome


@dataclass
class Working:
    agent: Obedient
    desk: str
    said: Answer
    """What it was told last."""
    seen: int
    """How much others had done by then."""
    born: int
    circles: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seen_by_desk: bool = True
    cost: float = 0.0
    """Dollars that its program has told of."""
    trouble: str | None = None
    """Why its Coordinator cannot keep what it has changed."""

    def copied(self) -> Working:
        agent = copy.copy(self.agent)
        for name in _STATE:
            if hasattr(agent, name):
                setattr(agent, name, copy.copy(getattr(agent, name)))
        return replace(self, agent=agent, circles=self.circles.copy())


@dataclass
class Desk:
    """A Coordinator with so many slots; `answers` is false for one that was killed."""

    caller: Coordinator
    slots: int = 10
    chats: int = 10
    alive: bool = True
    looked: tuple[object, ...] = ()
    """What was the case when it claimed last."""
    luck: str = ""
    """What happens to the next worktree job, or at the next start: a word of `WORKTREE_JOBS`, or `no worktree`."""
    check: str = ""
    """What happens to the next acceptance check: a word of `CHECKS`."""
    worktree_jobs: dict[str, tuple[Answer, int]] = field(default_factory=dict)
    """What it is about, and until when."""

    def copied(self) -> Desk:
        return replace(self, worktree_jobs=dict(self.worktree_jobs))


class Crew:
    """Steps are deterministic: what happens depends on the state alone."""

    def __init__(self, database: InMemory) -> None:
        self.database = database
        self.world = World(database)
        self.reader = Reader(database)
        self.desks: dict[str, Desk] = {}
        self.working: dict[str, Working] = {}
        self.pollers: dict[str, Caller] = {}
        self.delegates: dict[str, str] = {}
        """With whom an agent has something discussed."""
        self.acts = 0
        """What others than the obedient have done."""
        self.crashes = 0
        """Processes that ended in a way that punishes their agent."""
        self.faults: list[str] = []
        self.log: list[str] = []
        self.steps = 0
        self.judged = 0
        """The newest event that was judged."""
        self.turn = 0
        self.repeats = False
        self.claimed = 0
        """How often Coordinators have asked what to do, in all that was explored."""
        self.price = 0.0
        """Dollars that each call of an agent costs."""
        self.turns = 2
        """After how many turns agents end a conversation."""
        self.patience = 6
        """How often a person is told that a budget is used up, until it is raised; before, it goes on at midnight."""
        self.fails: dict[str, str] = {}
        """What an agent cannot do at the first attempt."""
        self.sends_back = 0
        """How often each manager sends its first part back."""
        self.finds = False
        """Whether reviewers find something at first."""
        self.hands_over = False
        """Whether agents may leave notes to the next session of their task, and take them."""
        self.people_work = False
        """Whether people do their own tasks, once everybody waits for them."""
        self.interrupt: tuple[int, Callable[[], object]] | None = None
        """Before which call of a step others act, and how."""
        self.calls = 0

    # --- going back --------------------------------------------------------------------------------------------------

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Whatever happens inside has not happened afterwards."""
        context, entropy = self.world.dispatcher.context, self.world.dispatcher.context.entropy.__self__  # type: ignore[attr-defined]
        kept = {name: getattr(self, name) for name in ("acts", "crashes", "judged", "turn", "calls", "patience")}
        working = {name: each.copied() for name, each in self.working.items()}
        desks = {name: (desk.copied(), list(desk.caller.running)) for name, desk in self.desks.items()}
        pollers, faults, log = dict(self.pollers), len(self.faults), len(self.log)
        now, dice, holds = self.world.now, entropy.getstate(), dict(context.holds._kept)
        buckets, tables = context.keys._buckets.copy(), dict(self.reader.kept)
        self.reader.rows()
        tables = dict(self.reader.kept)
        with self.database.moment():
            try:
                yield
            finally:
                for name, value in kept.items():
                    setattr(self, name, value)
                self.working, self.pollers = working, pollers
                self.desks = {name: each for name, (each, _) in desks.items()}
                for name, (_, running) in desks.items():
                    self.desks[name].caller.running = running
                del self.faults[faults:], self.log[log:]
                self.world.now = now
                self.world.hints.clear()
                entropy.setstate(dice)
                context.holds._kept = holds
                context.keys._buckets = buckets
        self.reader.kept = tables
        self.database.connection.written.clear()

    def state(self) -> str:
        """The same for all that is the same from here on."""
        hands = sorted(self._hand(launch_id, each) for launch_id, each in self.working.items())
        desks = [
            (name, desk.alive, desk.slots, desk.luck, desk.check, list(desk.worktree_jobs))
            for name, desk in self.desks.items()
        ]
        others = desks, sorted(self.pollers), self.patience
        rows = self.reader.rows()
        return canonical(rows, self.world.now, (hands, others), frozenset(self.working))

    def _hand(self, launch_id: str, one: Working) -> tuple[Any, ...]:
        agent, fresh = one.agent, one.born == self.acts
        mind: object = None
        if isinstance(agent, ObedientManager):
            mind = agent.chose_start, agent.gave_up, sorted(agent.hopeless)
        elif isinstance(agent, ObedientChat):
            mind = sorted(agent.to_report)
        return (
            agent.process.agent_id,
            launch_id,
            one.said["action"],
            one.seen == self.acts,
            fresh and set(agent.told) <= IDLE,
            one.seen_by_desk,
            one.desk,
            agent.calls // 20,
            agent.delegates,
            sorted(agent.retried),
            mind,
            one.trouble,
            sorted(one.circles.items()),
        )

    # --- steps -------------------------------------------------------------------------------------------------------

    def before_call(self) -> None:
        self.calls += 1
        if self.interrupt is not None and self.calls == self.interrupt[0]:
            _, act = self.interrupt
            self.interrupt = None
            act()

    def round(self) -> Iterator[bool]:
        """One claim of each Coordinator, then one step of each process; says after each whether anything moved."""
        for name in list(self.desks):
            yield self.claims(name)
        for launch_id in list(self.working):
            if launch_id in self.working:
                yield self.goes_on(launch_id)
        for name in list(self.pollers):
            yield self.polls(name)

    def moves(self) -> Iterator[tuple[str, Callable[[Crew], bool]]]:
        """Every single step that the crew can take now, in whichever order: one of them is one choice of a schedule."""
        for name, desk in self.desks.items():
            if desk.alive:
                yield f"{name} claims", partial(Crew.claims, name=name)
        known: Counter[str] = Counter()
        for launch_id, one in self.working.items():
            name = f"{one.agent.process.agent_id}'s {one.agent.process.launch['purpose']} process goes on"
            known[name] += 1
            again = f" ({known[name]})" if known[name] > 1 else ""
            yield f"{name}{again}", partial(Crew.goes_on, launch_id=launch_id)
        for name in self.pollers:
            yield f"{name} polls", partial(Crew.polls, name=name)

    def claims(self, name: str) -> bool:
        """A Coordinator starts and stops what it is told to; whether anything was started."""
        desk = self.desks[name]
        if not desk.alive:
            return False
        now = (self.newest(), self.world.now // 5000, frozenset(self.working), self.acts)
        if desk.looked == now:
            return False  # it would be told the same again
        desk.looked = now
        mine = [each for each in self.working.values() if each.desk == name]
        busy = sum(not isinstance(each.agent, ObedientChat) for each in mine)
        self.looks(name)
        self.claimed += 1
        answer = desk.caller.claim(
            free_slots=max(0, desk.slots - busy),
            free_chat_slots=max(0, desk.chats - len(mine) + busy),
            worktree_jobs=list(desk.worktree_jobs),
        )
        for each in answer["stop"]:
            if each["grace_seconds"] == 0:
                self.gone(each["launch_id"], error="stopped")
        for check in answer["checks"]:
            desk.caller.call("report_check_result", check_id=check["check_id"], **self.judges(name))
        for each in answer["worktree_jobs"]:
            self.takes(name, each)
        if not desk.alive:
            return True
        done = self.does_jobs(name, answer["stop_worktree_jobs"])
        for launch in answer["start"]:
            self.begins(name, launch)
        return bool(answer["start"] or answer["checks"] or answer["worktree_jobs"] or done)

    def judges(self, name: str) -> Answer:
        """How the next acceptance check of a Coordinator ends."""
        desk = self.desks[name]
        luck, desk.check = desk.check, ""
        return CHECKS.get(luck, {"failures": []})

    def does_jobs(self, name: str, stopped: list[str]) -> bool:
        """Those that are due, unless they are to be left; whether there were any."""
        desk = self.desks[name]
        for each in stopped:
            self.stops_batch(name, each)
        due = [job for job, until in desk.worktree_jobs.values() if until <= self.world.now]
        for job in due:
            self.job(name, job)
        return bool(due)

    def newest(self) -> int:
        """The newest event's number."""
        found: int | None = self.database.connection.value(_NEWEST)
        return found or 0

    def looks(self, name: str) -> None:
        """A Coordinator looks which of its processes run."""
        mine = [each for each in self.working.values() if each.desk == name and each.seen_by_desk]
        self.desks[name].caller.running = [each.agent.process.launch_id for each in mine]

    def takes(self, name: str, job: Answer) -> None:
        """It may be slow, or dead before it has told the outcome."""
        desk = self.desks[name]
        self.judge_worktree_job(job)
        if desk.luck in ("is about it when it starts anew", "is killed about it"):
            if desk.luck == "is killed about it":
                self.killed(name)
            desk.luck = ""
            return  # what it does not name in its next claim is handed out to it again
        desk.worktree_jobs[job["job_id"]] = job, self.world.now
        if desk.luck == "is slow":
            desk.worktree_jobs[job["job_id"]] = job, self.world.now + 300_000
            desk.luck = ""

    def job(self, name: str, job: Answer) -> None:
        """Done as a Coordinator does it, if it has the files; or hindered by what they are."""
        desk = self.desks[name]
        del desk.worktree_jobs[job["job_id"]]
        order = job["options"].get("order", [])
        merged = [
            {"task_id": each["task_id"], "commit": "m1", "into": each["into"]} for each in order if "into" in each
        ]
        told: Answer = {"done": True, "merged": merged, "gone": []}
        if job["kind"] == "merge_subtasks":
            told["answer"] = {"subtasks": [{"task_id": each, "commit": "m1"} for each in job["options"]["subtasks"]]}
        if job["kind"] in ("discard", "clean"):
            told["gone"] = [job["task_id"]]
        if job["kind"] == "clean" and self.has_commits(job["task_id"]):
            told = {"done": False, "merged": [], "gone": [], "task_id": job["task_id"], "trouble": "it has commits"}
        if job["kind"] == "queue_merge":
            told = self.merged_batch(desk, job, merged)
        elif desk.luck in WORKTREE_JOBS:
            last = order[-1]["task_id"] if order else job["task_id"]
            gone = [last] if desk.luck == "finds nothing there" else []
            told = {"done": False, "merged": merged[:-1], "gone": gone, "task_id": last, "trouble": desk.luck}
            desk.luck = ""
        self.log.append(f"{desk.caller.id} does {job['kind']}: {told.get('trouble')}")
        for _ in range(1 + self.repeats):
            desk.caller.call("report_worktree_job", job_id=job["job_id"], **told)

    def has_commits(self, task_id: str) -> bool:
        worktrees = self.reader.rows()["worktrees"]
        return any(each["task_id"] == task_id and each["commits"] for each in worktrees)

    def merged_batch(self, desk: Desk, job: Answer, merged: list[Answer]) -> Answer:
        """What is told of a batch of the merge queue: all of it is merged, or what the luck of the Coordinator is."""
        luck, entries = desk.luck, job["options"]["entries"]
        queue: Answer = {"result": "merged", "base": "b1"}
        told: Answer = {"done": True, "merged": merged, "gone": [], "queue": queue}
        if luck not in (*BATCHES, *WORKTREE_JOBS):
            return told
        desk.luck = ""
        told |= {"done": False, "merged": []}
        if luck == "meets a conflict":
            queue |= {"result": "nothing", "conflicts": [{"entry_id": entries[0]["entry_id"], "files": ["a"]}]}
        elif luck == "finds nothing there":
            queue["result"], told["gone"] = "nothing", [each["task_id"] for each in entries[0]["order"]]
        elif luck == "fails the checks":
            queue |= {"result": "failed", "evidence": [FAILED_CHECK]}
        else:
            queue["result"] = "target_broken" if luck == "finds the target broken" else "prevented"
            queue["evidence"] = [FAILED_CHECK] if queue["result"] == "target_broken" else []
            told["trouble"] = luck
        return told

    def stops_batch(self, name: str, job_id: str) -> None:
        """A batch that is no longer wanted is left as it is, and that is told."""
        desk = self.desks[name]
        if desk.alive and desk.worktree_jobs.pop(job_id, None) is not None:
            told = {"done": False, "merged": [], "gone": [], "queue": {"result": "prevented", "base": "b1"}}
            desk.caller.call("report_worktree_job", job_id=job_id, **told)

    def killed(self, name: str) -> None:
        """A Coordinator, and with it its processes; another comes on another machine."""
        self.crashes += 1
        self.working = {each: one for each, one in self.working.items() if one.desk != name}
        desk = self.desks[name]
        desk.alive, desk.caller.running, desk.worktree_jobs = False, [], {}
        self.desks[f"{name}b"] = Desk(self.world.coordinator(f"{name}b"))

    def judge_worktree_job(self, job: Answer) -> None:
        """Toryo itself has nothing removed that a person might want. Of an archived project all worktrees are tried."""
        rows = self.reader.rows()
        (work,) = [worktree for worktree in rows["worktrees"] if worktree["task_id"] == job["task_id"]]
        archived = any(each["id"] == work["project_id"] and each["status"] == "archived" for each in rows["projects"])
        if job["kind"] == "clean" and (work["trouble"] or (work["commits"] and not archived)):
            self.faults.append(f"the work of {job['task_id']} is to be cleaned away")

    def begins(self, desk: str, launch: Answer) -> None:
        self.log.append(f"{desk} starts {launch['agent_id']} for {launch['purpose']}")
        self.judge_start(launch)
        isolated = bool(launch.get("workspace", {}).get("name"))
        if isolated and self.desks[desk].luck == NO_WORKTREE:
            self.desks[desk].luck = ""
            self.desks[desk].caller.exited(launch["launch_id"], error="bad_worktree: A worktree cannot be made.")
            return
        process = Hand(self.world, launch)
        process.crew, process.refused_calls = self, []
        chief = launch["agent_id"] in ("boss", "director")
        kind = ObedientChat if launch["purpose"] == "chat" else ObedientManager if chief else Obedient
        agent = kind(process, delegates=self.delegates.get(launch["agent_id"]))
        agent.fails_first = self.fails.get(launch["agent_id"])
        agent.finds = self.finds
        if isinstance(agent, ObedientManager):
            agent.sends_back = self.sends_back
        agent.desk, agent.judged = self.desks[desk].caller, partial(self.judges, desk)
        if isinstance(agent, ObedientChat):
            agent.turns, agent.most_calls = self.turns, 20 * max(self.turns, 4)
        self.working[launch["launch_id"]] = Working(agent, desk, {"action": "_sign_in"}, self.acts, self.acts)
        if isolated:
            self.worktree(desk, launch)

    def judge_start(self, launch: Answer) -> None:
        """Nobody is started on a task on which another's session lives, whose files are being moved, or for which
        there is no money left today."""
        rows = self.reader.rows()
        row = next(each for each in rows["launches"] if each["id"] == launch["launch_id"])
        task_id, now = row["task_id"], self.world.now
        if launch["purpose"] == "task" and row["project_id"] in used_up(rows, now):
            self.faults.append(f"{launch['agent_id']} was started although the budget is used up")
        for job in rows["worktree_jobs"]:
            if job["finished_at"] is None and job["kind"] != "diff" and launch.get("workspace", {}).get("name"):
                order = orjson.loads(job["options"] or "{}").get("order", [])
                if task_id in (job["task_id"], *(one["task_id"] for one in order)):
                    self.faults.append(f"{launch['agent_id']} was started on files that are being moved")
        for session in rows["sessions"]:
            theirs = session["purpose"] == "task" == launch["purpose"] and session["agent_id"] != launch["agent_id"]
            if theirs and session["ended_at"] is None and session["task_id"] == task_id is not None:
                self.faults.append(f"{launch['agent_id']} was started on what {session['agent_id']} still works on")

    def worktree(self, desk: str, launch: Answer, **figures: Any) -> None:
        name = launch["workspace"]["name"]
        said = {"path": f"/w/{name}", "directory": f"/w/{name}", "branch": f"toryo/{name}", "base_branch": "main"}
        told = {**said, **figures, "launch_id": launch["launch_id"], "base_commit": "b0"}
        self.desks[desk].caller.call("report_worktree", **told)

    def goes_on(self, launch_id: str) -> bool:
        """One step of a process; whether it had anything to do."""
        one = self.working[launch_id]
        process, told = one.agent.process, one.said
        assert isinstance(process, Hand)
        action = told["action"]
        if action == "exit":
            self.leaves(launch_id, one)
            return True
        self.spends(launch_id, self.price)
        undisturbed = one.seen == self.acts or action in ("get_next_action", "_sign_in")
        process.refused_calls, self.calls = [], 0
        self.looks(one.desk)  # for the claim in which it runs its checks
        try:
            one.said = self.does(one, told)
        except Refused as refused:
            process.refused_calls.append((str(refused).split()[0], refused.answer))
            one.said = ASK
        if launch_id not in self.working:
            return True  # it was ended in the middle of this
        if "action" not in one.said:  # its token is another process's by now: it ends
            self.leaves(launch_id, one)
            return True
        one.seen = self.acts if self.calls and self.interrupt is None else one.seen
        self.log.append(f"{process.agent_id}: {action} -> {one.said['action']}")
        self.judge_refusals(one, action, undisturbed=undisturbed)
        if one.said["action"] == "exit":
            self.leaves(launch_id, one)
        if process.refused_calls and all(_later(each) for _, each in process.refused_calls):
            return False  # time passes where it would wait
        return bool(action != "wait_for_messages" or one.said["action"] != action)

    def spends(self, launch_id: str, dollars: float) -> None:
        one = self.working[launch_id]
        one.cost += dollars
        desk = self.desks[one.desk]
        if dollars and desk.alive:
            desk.caller.call("append_log", launch_id=launch_id, offset=0, text="", usage={"cost_usd": one.cost})

    def does(self, one: Working, told: Answer) -> Answer:
        if told["action"] == "_sign_in":
            return one.agent.ask("authenticate")
        if told["action"] in ("wait_for_messages", "get_next_action"):
            return one.agent.ask("get_next_action")
        return one.agent.goes_on(told)

    def judge_refusals(self, one: Working, action: str, *, undisturbed: bool) -> None:
        process = one.agent.process
        assert isinstance(process, Hand)
        tries = isinstance(one.agent, ObedientManager)
        wrong = [
            (name, each)
            for name, each in process.refused_calls
            if each.get("action") != "exit" and each.get("code", each["error"]) not in EXPECTED
            if not _later(each)
            if not (tries and name in PROBES) and not isinstance(one.agent, ObedientChat)
            if name != "delegate_to_chat_session"
        ]
        if undisturbed and wrong and one.seen == self.acts:
            said = [(name, each.get("code", each["error"]), each["message"]) for name, each in wrong]
            self.faults.append(f"{process.agent_id} did what it was told ({action}) and was refused: {said}")
        for name, each in process.refused_calls:
            if _later(each):
                continue
            key = (action, name, str(each.get("code", each["error"])))
            one.circles[key] += 1
            if one.circles[key] == SAME_REFUSAL and not isinstance(one.agent, ObedientManager):
                self.faults.append(f"{process.agent_id} goes in a circle: {key}")

    def leaves(self, launch_id: str, one: Working) -> None:
        agent = one.agent
        broke = one.said.get("reason") == "budget_exhausted"  # others have spent it since
        if one.born == self.acts and set(agent.told) <= IDLE and "get_task" in agent.told and not broke:
            self.faults.append(f"{agent.process.agent_id} was started for nothing: {agent.told}")
        self.last_words(one)
        if one.trouble == KILLED:
            self.killed(one.desk)
            return
        launch = agent.process.launch
        if launch.get("workspace", {}).get("name") and self.desks[one.desk].alive:
            work = 0 if isinstance(agent, ObedientManager) else 1
            self.worktree(one.desk, launch, head_commit="h1", commits=work, files_changed=work, trouble=one.trouble)
        self.gone(launch_id, exit_code=0)

    def last_words(self, one: Working) -> None:
        """Who is sent out because there is no money left may still say where it is, and log out."""
        if one.said.get("reason") != "budget_exhausted" or one.seen != self.acts:
            return
        for name, arguments in (("save_progress", {"progress": "half"}), ("logout", {})):
            outcome = one.agent.process.ask(name, **arguments)
            if outcome.refused:
                self.faults.append(f"{one.agent.process.agent_id} was refused its last words: {name} {outcome.result}")

    def gone(self, launch_id: str, **how: Any) -> None:
        one = self.working.pop(launch_id, None)
        desk = self.desks[one.desk if one is not None else next(iter(self.desks))]
        if desk.alive:
            desk.caller.exited(launch_id, **how)

    def polls(self, name: str) -> bool:
        """A queue agent fetches, and submits what it has fetched."""
        caller = self.pollers[name]
        got = caller.ask("poll_tasks", agent_id=name)
        if got.refused or got.result is None:
            return False
        for each in got.result["result"]:
            told = (
                {"task_id": each["task_id"], "attempt": each["attempt"]}
                if "attempt" in each
                else {"task_id": each["task_id"]}
            )
            if caller.ask("submit_result", **told, status="completed", result={"done": True}).refused:
                caller.ask("submit_result", **told, status="failed", error="cannot be finished")
        return bool(got.result["result"])

    def passes(self, seconds: float) -> None:
        self.world.advance(seconds)
        for name in list(self.pollers):
            self.polls(name)  # it has asked all the time
        self.world.housekeep()

    # --- what is punished --------------------------------------------------------------------------------------------

    def judge_events(self) -> None:
        """What an obedient agent must never meet."""
        events = self.reader.rows()["events"]
        fresh = [event for event in events if event["sequence"] > self.judged]
        self.judged = max((event["sequence"] for event in events), default=0)
        for each in fresh:
            if each["kind"] not in PUNISHED and not (each["kind"] == "claim.lost" and '"lost"' in each["data"]):
                continue
            if self.crashes:  # what is punished may be that
                continue
            freed = sum(
                one["kind"] in ("task.unblocked", "task.retried")
                and one["task_id"] == each["task_id"]
                and not one["by_person"]
                for one in events
            )
            if freed < 3:  # else its manager has it tried again and again: what the guard is for
                self.faults.append(f"punished: {each['kind']} of {each['agent_id']}: {each['data']}")


__all__ = ["ASK", "Crew", "Desk", "Hand", "LedNowhere", "Working"]
