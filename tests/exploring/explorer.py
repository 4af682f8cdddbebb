"""One or two disturbances at every step of an obedient run; then everybody obeys until nothing moves, and is judged.

A history is a sequence of disturbances that changed something, each at its step. What comes of it is run until nothing
moves or until a state that was run before: from there on everything would be the same.

`exhaust` leaves no order to the crew: it tries every sequence of steps and disturbances up to a depth, and chance
beyond. How a story that fails is made shorter stands in `shrinking.py`.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import orjson
import pytest

from tests import stories
from tests.exploring.crew import Crew, LedNowhere
from tests.exploring.disturbances import Disturbance, all_of
from tests.exploring.memory import InMemory
from tests.exploring.scenes import crew_of
from tests.exploring.states import used_up
from tests.invariants import CLOSED, OPEN, RULES, Row, Rows
from tests.operations.test_people_between import standstills
from tests.stories import Answer
from toryo.operations.calls import call_log
from toryo.storage.open_database import upgrade

ROUNDS = 250
SECONDS = 0.02
"""Of the disturbances that may follow another, this share is tried where any is."""
ACTS = 4
"""How often people do what is theirs, before everything must be over."""
JUMPS = (1, 70, 400, 4000, 90_000)
"""Seconds that pass while nothing moves, before it is believed that nothing will."""


class NoStoryError(Exception):
    """A story cannot be told: what it names is not there at that step, or changes nothing."""


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
    crews: list[Crew] = field(default_factory=list)
    """Who was explored."""
    start: int = 0
    """Of the undisturbed run: the step from which on nothing is left to its order."""
    progress: Callable[[Explorer], None] = lambda _: None

    def explore(self, *, share: float = 1.0, second: float = 0.0, inside: float = 0.0) -> None:
        """`share` of all single disturbances; after each of these, `second` of those that may follow at later steps;
        `inside`: of those between the calls of one step."""
        with self.database.moment():
            crew = crew_of(self.scene, self.database)
            self.crews.append(crew)
            with crew.moment():
                self._follow(crew, (), 0.0)
            for number, _ in enumerate(self._steps(crew)):
                self._disturbed(crew, (), number, share, second)
                if inside:
                    self._inside(crew, number, inside)
                if self.over:
                    return

    def exhaust(self, depth: int, *, start: int = 0, beyond: int = 0, steps_only: bool = False) -> int:
        """Every sequence of up to `depth` choices from the undisturbed run's step `start` on; answers the depth up to
        which there was time for all of them.

        A choice is a step of one Coordinator, process or queue agent, or a disturbance (not with `steps_only`).
        After each the rules are held against the rows; from each new state everybody obeys until nothing moves. From
        each of the deepest, `beyond` more choices are left to chance first. A state is not entered twice.
        """
        with self.database.moment():
            crew = crew_of(self.scene, self.database)
            self.crews.append(crew)
            if not _forward(self._steps(crew), start):
                raise NoStoryError(f"the undisturbed run has no step {start}")
            self.start = start
            for level in range(1, depth + 1):
                entered = {self._here(crew): level + 1}
                self._deepen(crew, (), level, entered, beyond if level == depth else 0, steps_only)
                if self.over:
                    return level - 1
                self.counts["depth"] = level
            return depth

    def _deepen(
        self, crew: Crew, story: tuple[str, ...], left: int, entered: dict[int, int], beyond: int, steps_only: bool
    ) -> None:
        """`entered`: with how many choices left a state was gone on from, in this level."""
        for name, act in list(self._choices(crew, steps_only)):
            if self.over:
                return
            told = self._and(story, name)
            with crew.moment():
                if not self._chosen(crew, told, name, act):
                    continue
                here = self._here(crew)
                if entered.get(here, 0) >= left:
                    continue
                entered[here] = left
                if left > 1:
                    self._deepen(crew, told, left - 1, entered, beyond, steps_only)
                    continue
                self.counts["histories"] += 1
                if beyond:
                    told = self._wanders(crew, told, beyond, steps_only)
                if not crew.faults:
                    self._follow(crew, told, 0.0)
            self.progress(self)

    def _choices(self, crew: Crew, steps_only: bool) -> Iterator[Disturbance]:
        yield from crew.moves()
        if not steps_only:
            yield from (each for each in all_of(crew) if re.search(self.only, each[0]) is not None)

    def _wanders(self, crew: Crew, story: tuple[str, ...], choices: int, steps_only: bool) -> tuple[str, ...]:
        for _ in range(choices):
            name, act = self.dice.choice(list(self._choices(crew, steps_only)))
            told = self._and(story, name)
            if self._chosen(crew, told, name, act):
                story = told
            if crew.faults:
                break
        return story

    def _chosen(self, crew: Crew, story: tuple[str, ...], name: str, act: Callable[[Crew], bool]) -> bool:
        """Whether it changed anything, and left everything as it must be."""
        faults = len(crew.faults)
        try:
            if not _acts(crew, name, act):
                self.counts["refused"] += 1
                return False
            self._hold(crew)
        except Exception as error:  # noqa: BLE001 - whatever the product raises is a fault of it
            crew.faults.append(repr(error))
        self.counts["choices"] += 1
        for fault in crew.faults[faults:]:
            self._fault(crew, story, fault)
        return len(crew.faults) == faults

    def line(self) -> str:
        told = {**self.counts, "states": len(self.seen), "faults": sum(self.kinds.values())}
        return f"{self.scene}: " + ", ".join(f"{count} {name}" for name, count in told.items())

    @property
    def claimed(self) -> int:
        """How often Coordinators have asked, in what was explored."""
        return sum(crew.claimed for crew in self.crews)

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
        """Everybody obeys until nothing happens any more, however much time passes; then people do what is theirs.

        Says None before each round, and after each step whether it moved anything.
        """
        quiet = acted = 0
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
            if quiet == 0 and self._raises(crew):
                continue
            if quiet == len(JUMPS):
                judge_rest(crew)
                if crew.faults or acted == ACTS or not self._people_act(crew):
                    return
                acted, quiet = acted + 1, 0
                continue
            crew.passes(JUMPS[quiet])
            quiet += 1
        self._fault(crew, story, "the crew was started again and again")

    def _raises(self, crew: Crew) -> bool:
        """Where nothing moves because a budget is used up, somebody is told; whether it is raised."""
        rows = crew.reader.rows()
        spent = used_up(rows, crew.world.now)
        if not spent:
            return False
        needs = _needs(crew)
        told = {need["project_id"] for need in needs if need["kind"] == "budget_used_up"} & spent
        crew.faults += [f"nobody is told that {each} has no money left" for each in sorted(waiting(rows, spent) - told)]
        crew.patience -= bool(told)
        for project_id in sorted(told) if crew.patience == 0 else ():
            crew.world.owner.call("edit_project", project_id=project_id, settings={"budget_per_day": None})
        return bool(told) and crew.patience == 0

    def _people_act(self, crew: Crew) -> bool:
        """They resume what is paused, give money where there is none at all, and do their own tasks; what is to be
        reviewed they merge, or discard if that was hindered."""
        rows, owner = crew.reader.rows(), crew.world.owner
        rested = [project["id"] for project in rows["projects"] if project["status"] != "active"]
        for project_id in rested:
            owner.call("resume_project", project_id=project_id)
        for project_id in (spent := sorted(used_up(rows, crew.world.now))):
            owner.call("edit_project", project_id=project_id, settings={"budget_per_day": None})
        reviews_left = [need for need in _needs(crew) if need["kind"] == "question" and need["questions"][0]["review"]]
        asked = {each["question_id"]: each["options"][0] for need in reviews_left for each in need["questions"]}
        for question_id, good in asked.items():
            owner.ask("answer_question", question_id=question_id, choices=[good])  # the one before may have settled it
        if asked:
            return True
        if not crew.people_work:
            return bool(rested or spent)
        mine = [task for task in rows.tasks.values() if (task["status"], task["assignee_id"]) == ("in_progress", "ann")]
        done = [owner.ask("move_task", task_id=each["id"], status="completed") for each in mine]
        trouble = {worktree["task_id"]: worktree["trouble"] for worktree in rows["worktrees"]}
        reviews = dict.fromkeys(need["task_id"] for need in _needs(crew) if need["kind"] == "review")
        done += [
            owner.ask("discard_task_work" if trouble[review] else "merge_task", task_id=review) for review in reviews
        ]
        return bool(rested or spent) or not all(outcome.refused for outcome in done)

    def replay(self, *story: str) -> list[str]:
        """Tells a history again (`STEP: DISTURBANCE`, the second's step counted from the first); answers its log."""
        log, faults = self.told(*story)
        return [*log, *faults]

    def told(self, *story: str) -> tuple[list[str], list[str]]:
        """Like `replay`: the log and the faults. Raises NoStoryError if a disturbance is not there, or is refused."""
        with self.database.moment():
            crew = crew_of(self.scene, self.database)
            runs: Iterator[bool | None] = iter(self._steps(crew))
            try:
                for each in story:
                    step, _, name = each.partition(": ")
                    if not _forward(runs, int(step)):
                        raise NoStoryError(each)
                    choices = {**dict(all_of(crew)), **dict(crew.moves())}
                    if name not in choices:
                        raise NoStoryError(each)
                    crew.log.append(f"--- {name}")
                    if not _acts(crew, name, choices[name]):
                        raise NoStoryError(each)
                    self._hold(crew)
                    runs = iter(self._run(crew, story))
                for _ in runs:
                    self._hold(crew)
            except NoStoryError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the product raises is a fault of it
                crew.faults.append(repr(error))
            return list(crew.log), list(crew.faults)

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
        except Exception as error:  # noqa: BLE001 - as above
            how = "ends"
            crew.faults.append(repr(error))
        self.counts[how] += 1
        for fault in crew.faults:
            self._fault(crew, story, fault)

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
        return self.seen.setdefault(self._here(crew), run) != run

    def _here(self, crew: Crew) -> int:
        return hash((crew.state(), bool(crew.crashes)))

    def _and(self, story: tuple[str, ...], name: str) -> tuple[str, ...]:
        """Choices follow one another without a step of the crew between them."""
        return (*story, f"{0 if story else self.start}: {name}")

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
        kind = kind_of(what)
        self.kinds[kind] += 1
        if self.kinds[kind] <= 5:
            self.faults.append(Fault((self.scene, *story), what, list(crew.log)))


def _forward(steps: Iterator[object], step: int) -> bool:
    """To the moment before that step, counted from 0; whether there is one."""
    return sum(1 for _ in islice(steps, step + 1)) == step + 1


def _acts(crew: Crew, name: str, act: Callable[[Crew], bool]) -> bool:
    """Whether a choice counts: a disturbance that was not refused, or a step of the crew, whatever it did."""
    if name in dict(crew.moves()):
        act(crew)
        return True
    crew.acts += 1
    return act(crew)


def faults_of(scene: str, *story: str) -> list[str]:
    """What is found in one story, which is told in a database of its own."""
    with cheaply():
        database = InMemory()
        upgrade(database)
        try:
            return Explorer(scene, database).told(*story)[1]
        finally:
            database.close()


@contextmanager
def cheaply() -> Iterator[None]:
    """Without a log line per call, and without holding every answer to its schema: other stories do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_log, "write", lambda *_: None)
        patch.setattr(stories, "hold_to_promise", lambda *_: None)
        yield


def judge_rest(crew: Crew) -> None:
    """What must hold where nothing moves any more, before people act."""
    if not any(project["status"] != "active" for project in crew.reader.rows()["projects"]):
        crew.faults += standstills(crew.world)
        crew.faults += [
            *processes_left(crew),
            *talk_left(crew),
            *jobs_left(crew),
            *merges_left(crew),
            *times_left(crew),
            *unheard(crew),
            *work_left(crew),
        ]


def waiting(rows: Rows, projects: set[str]) -> set[str]:
    """Of these projects: where somebody could work now, if it might cost anything."""
    able = _able(rows)
    served = {(project_id, rows.agents[agent_id]["agent_type"]) for project_id, agent_id in able}
    return {
        task["project_id"]
        for task in rows.tasks.values()
        if task["project_id"] in projects
        and (_at_work(task, able) or _ready(rows, task, served))
        and not any(above["status"] in CLOSED for above in rows.above(task))
    }


def _at_work(task: Row, able: set[tuple[str, str]]) -> bool:
    mine = (task["project_id"], task["assignee_id"]) in able
    return task["status"] == "in_progress" and task["wait"] is None and mine


def _ready(rows: Rows, task: Row, served: set[tuple[str, str]]) -> bool:
    """A queue's, which rests after no attempt."""
    return (
        task["status"] == "todo"
        and task["agent_type"] is not None
        and (task["project_id"], task["agent_type"]) in served
        and task["not_before"] is None
        and _may_start(rows, task)
    )


def _may_start(rows: Rows, task: Row) -> bool:
    others = [rows.tasks[each] for each in rows.depends_on[task["id"]]]
    return task["approval"] == "approved" and all(other["status"] == "completed" for other in others)


def _able(rows: Rows) -> set[tuple[str, str]]:
    """Whom a Coordinator may start, by project."""
    able = {agent["id"] for agent in rows["agents"] if agent["status"] == "active" and agent["provider"] is not None}
    active = {project["id"] for project in rows["projects"] if project["status"] == "active"}
    return {
        (membership["project_id"], membership["agent_id"])
        for membership in rows["memberships"]
        if membership["removed_at"] is None and membership["agent_id"] in able and membership["project_id"] in active
    }


def jobs_left(crew: Crew) -> Iterator[str]:
    for job in crew.reader.rows()["worktree_jobs"]:
        if job["finished_at"] is None:
            yield f"nobody is told what became of a worktree job: {job['kind']}"


def merges_left(crew: Crew) -> Iterator[str]:
    """Whatever waits in a merge queue that nobody has paused waits for something that a person is told of: the task
    itself, one before it, one whose work it has, or something in the tree of such a task."""
    rows = crew.reader.rows()
    stopped = {queue["project_id"] for queue in rows["merge_queues"] if queue["paused_at"]}
    stopped |= used_up(rows, crew.world.now)
    told = {need["task_id"] for need in _needs(crew)}
    for project in rows["projects"]:
        if project["id"] in stopped:
            continue
        shown = crew.world.owner.call("show_merge_queue", project_id=project["id"])["merge_queue"]
        for entry in shown["entries"]:
            awaited = {*entry["waits_for"], *_built_on(rows, entry["task_id"]), entry["task_id"]}
            lanes = {
                (each["coordinator_id"], each["target"]) for each in shown["entries"] if each["task_id"] in awaited
            }
            others = [each["task_id"] for each in shown["entries"] if (each["coordinator_id"], each["target"]) in lanes]
            roots = {rows.tasks[each]["root_id"] for each in awaited}
            if not told & {*others, *awaited} and not roots & {rows.tasks[each]["root_id"] for each in told if each}:
                yield f"nobody is told why {entry['title']} stays {entry['state']} in the merge queue"


def _built_on(rows: Rows, task_id: str) -> Iterator[str]:
    for other in rows.depends_on[task_id]:
        yield other
        yield from _built_on(rows, other)


def times_left(crew: Crew) -> Iterator[str]:
    """No time of a schedule that runs has passed, and nothing that it keeps for later waits where nobody is at work."""
    rows = crew.reader.rows()
    active = {project["id"] for project in rows["projects"] if project["status"] == "active"}
    for schedule in rows["schedules"]:
        if schedule["state"] != "active" or schedule["project_id"] not in active:
            continue
        if schedule["next_at"] is not None and schedule["next_at"] <= crew.world.now:
            yield f"the time of {schedule['name']} has passed, and nothing has come of it"
        if schedule["buffered"] is not None and all(task["status"] in CLOSED for task in rows.tasks.values()):
            yield f"what {schedule['name']} keeps for later is never begun"


def work_left(crew: Crew) -> Iterator[str]:
    """Whatever was kept of a completed task, and neither merged nor discarded, is for somebody to review; except what a
    reviewer has changed, which belongs to nobody."""
    rows = crew.reader.rows()
    kept = {
        event["task_id"]
        for event in rows["events"]
        if event["kind"] == "worktree.changed" and orjson.loads(event["data"]).get("commits")
    }
    needs = _needs(crew)
    told = {need["task_id"] for need in needs if need["kind"] in ("review", "merge_queue")}
    told |= _changed_meanwhile(rows, {need["task_id"] for need in needs})
    told |= {each["task_id"] for each in rows["merge_queue_entries"] if each["state"] in ("queued", "checking")}
    for worktree in rows["worktrees"]:
        task = rows.tasks[worktree["task_id"]]
        above = [task, *rows.above(task)]
        done = worktree["state"] == "open" and task["id"] in kept and task["status"] == "completed"
        done = done and task["review_of"] is None
        if done and not any(_by_agent(rows, one) for one in above) and not told & {one["id"] for one in above}:
            yield f"nobody is asked to review {task['title']}"
        if worktree["state"] != "open" and task["id"] in told:
            yield f"somebody is asked to review {task['title']}, which is {worktree['state']}"


def _changed_meanwhile(rows: Rows, told: set[str]) -> set[str]:
    """Work to which an open task makes changes; a person is told that this, or what it is a part of, does not go on."""
    changes = [each for each in rows.tasks.values() if each["status"] in OPEN]
    changes = [each for each in changes if told & {each["id"], *(above["id"] for above in rows.above(each))}]
    named = [orjson.loads(each["context"] or "null") for each in changes]
    return {context["changes_to"] for context in named if isinstance(context, dict) and "changes_to" in context}


def _by_agent(rows: Rows, task: Row) -> bool:
    return bool(task["status"] == "in_progress" and rows.agents[task["assignee_id"]]["kind"] == "ai")


def _needs(crew: Crew) -> list[Answer]:
    """Of all people."""
    owner = crew.world.owner
    return [*owner.call("needs_you")["items"], *owner.call("needs_you", as_person="ann")["items"]]


def unheard(crew: Crew) -> Iterator[str]:
    """A manager that waits, and can be started, knows what is stuck below it, and what it could start there."""
    rows = crew.reader.rows()
    able, broke = _able(rows), used_up(rows, crew.world.now)
    for main in rows.tasks.values():
        whose = main["project_id"], main["assignee_id"]
        if main["status"] != "in_progress" or main["wait"] is None or whose not in able or main["project_id"] in broke:
            continue
        if rows.agents[main["assignee_id"]]["role"] != "manager" or _others_on(rows, main):
            continue
        below = {each["id"]: each for each in _below(rows, main)}
        for event in rows["events"]:
            stuck = below.get(event["task_id"] or "")
            if (
                event["kind"] in ("task.blocked", "task.failed")
                and event["sequence"] > (main["look_event"] or 0)
                and event["agent_id"] != main["assignee_id"]
                and stuck is not None
                and stuck["status"] in ("blocked", "failed")
            ):
                yield f"{main['assignee_id']} is never told that {stuck['title']} is {stuck['status']}"
        seen = orjson.loads(main["look_dispatchable"] or "[]")
        for each in rows.children[main["id"]]:
            if each["id"] not in seen and _could_start(rows, each, able):
                yield f"{main['assignee_id']} is never told that {each['title']} could be started"


def _others_on(rows: Rows, task: Row) -> bool:
    return any(session["ended_at"] is None and session["task_id"] == task["id"] for session in rows["sessions"])


def _below(rows: Rows, task: Row) -> Iterator[Row]:
    for each in rows.children[task["id"]]:
        yield each
        yield from _below(rows, each)


def _could_start(rows: Rows, task: Row, able: set[tuple[str, str]]) -> bool:
    """Of somebody who has nothing else to do."""
    idle = not any(
        each["status"] == "in_progress" and each["assignee_id"] == task["assignee_id"] for each in rows.tasks.values()
    )
    return (
        task["status"] == "todo"
        and task["agent_type"] is None
        and _may_start(rows, task)
        and (task["project_id"], task["assignee_id"]) in able
        and idle
    )


def processes_left(crew: Crew) -> Iterator[str]:
    """Where nothing moves any more, a day later, no launch and no session is live."""
    rows = crew.reader.rows()
    for launch in rows["launches"]:
        if launch["state"] in ("ordered", "signed_in"):
            yield f"a launch of {launch['agent_id']} for {launch['purpose']} is {launch['state']} for ever"
    for session in rows["sessions"]:
        if session["ended_at"] is None:
            yield f"a {session['purpose']} session of {session['agent_id']} lives for ever"


def talk_left(crew: Crew) -> Iterator[str]:
    """Then nothing is left to be said either, by agents that can be started."""
    rows = crew.reader.rows()
    able = {agent["id"] for agent in rows["agents"] if agent["status"] == "active" and agent["provider"] is not None}
    there = {
        (membership["project_id"], membership["agent_id"])
        for membership in rows["memberships"]
        if membership["removed_at"] is None and membership["agent_id"] in able
    }
    for delegation in rows["delegations"]:
        if (
            delegation["status"] in ("pending", "processing")
            and (delegation["project_id"], delegation["agent_id"]) in there
        ):
            who = f"{delegation['agent_id']} to {delegation['target_agent_id']}"
            yield f"a delegation of {who} is {delegation['status']} for ever"
    for conversation in rows["conversations"]:
        if conversation["state"] != "ended" and conversation["state"] != "expired":
            who = f"{conversation['low_id']} and {conversation['high_id']}"
            yield f"a conversation of {who} is {conversation['state']} for ever"
    cursors = {(mailbox["project_id"], mailbox["agent_id"]): mailbox["cursor"] for mailbox in rows["mailboxes"]}
    over = {conversation["id"] for conversation in rows["conversations"]}
    for message in rows["messages"]:
        unread = message["sequence"] > cursors.get((message["project_id"], message["to_agent_id"]), 0)
        if (
            unread
            and message["kind"] == "message"
            and (message["project_id"], message["to_agent_id"]) in there
            and message["conversation_id"] not in over
        ):
            yield f"nobody delivers what {message['from_agent_id']} wrote to {message['to_agent_id']}"


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


def kind_of(what: str) -> str:
    """The same for faults of one kind."""
    words = [part for part in what.replace("“", " “").split() if "_" not in part or part.isidentifier()]
    return " ".join(word for word in words[:9] if not word.startswith(("tsk_", "ses_", "lau_", "“", "#")))
