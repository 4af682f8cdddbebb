"""Follows what a file has filed until nothing of it moves any longer: tells each change, and what needs a person."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from toryo.cli import needs, output, tasks
from toryo.cli.command_context import Here
from toryo.cli.run import standing
from toryo.cli.run.standing import Found, Seen, Stand
from toryo.cli.task_following import Event, Following, Lines
from toryo.domain.agents import SYSTEM
from toryo.domain.tasks import CLOSED
from toryo.domain.texts import one_line
from toryo.domain.times import SECOND
from toryo.domain.worktrees import KEPT_WITHIN

PATIENCE_SECONDS = 60.0
"""How long a person is waited for when nothing else goes on, if nobody says how long."""
SETTLES_SECONDS = 1.0
"""How long nothing must move before it counts as that: what has just ended may bring something else."""
LOOKS_EVERY_SECONDS = 0.3
_GOES_WITHOUT_SAYING = frozenset({"todo", "completed", "cancelled"})
"""Nothing is told of what stands so at the beginning."""
QUIET_SECONDS = 20.0
"""How long without an event until it is told what is waited for."""


@dataclass
class Filed(Following):
    """The tasks of a file with what came of them: parts, and tasks that correct their work."""

    ids: set[str] = field(default_factory=set)
    seen: Seen = field(default_factory=lambda: Seen({}))
    stands: dict[str, Stand] = field(default_factory=dict)
    _settled: dict[str, Found] = field(default_factory=dict)
    """The worktrees that are merged or discarded, by task; nothing, if there is none."""
    _leaving: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By launch, the task of a process that has reported and not ended yet, and since when."""

    @property
    def every(self) -> list[Found]:
        """What is followed, in the order in which it was created."""
        found = [task for those in self.tasks.values() for task in those if task["task_id"] in self.ids]
        return sorted(found, key=lambda each: str(each["created_at"]))

    @property
    def whole(self) -> Stand:
        return max(self.stands.values(), default=Stand.DONE)

    def needs(self) -> list[Found]:
        """What needs a person because of what is followed."""
        agents = {each["assignee_id"] for each in self.every if each["status"] not in CLOSED}
        return [
            each
            for each in self.seen.needs
            if (self.ids & standing.about(each) if each["task_id"] is not None else each["agent_id"] in agents)
            or (each["task_id"] is None and each["agent_id"] is None and each["project_id"] in self.tasks)
        ]

    def asked(self) -> dict[str, str]:
        """What a person has to settle, by a key of each: what is off in the projects, then what needs somebody."""
        off = [each for each in self.seen.conditions if each["project_id"] in self.tasks]
        found = {f"{each['project_id']} {each['kind']}": _off(each) for each in off}
        return {**found, **{each["key"]: brief(each) for each in self.needs()}}

    def read(self, here: Here, projects: Iterable[str]) -> None:
        """What stands on the server now, and how each task stands with it."""
        projects = [*projects]
        self.look(here, projects)
        known: dict[str, Found] = {task["task_id"]: task for those in self.tasks.values() for task in those}
        worktrees: dict[str, Found] = {
            each["task_id"]: each
            for project in projects
            for each in here.every(f"/projects/{project}/worktrees", "worktrees", state="open")
        }
        self._grow(known, worktrees)
        for task_id in self.ids - worktrees.keys():
            if known[task_id]["status"] == "completed":
                worktrees[task_id] = self._settled_worktree(here, task_id)
        self.seen = Seen(
            known,
            worktrees,
            here.get("/needs-you")["items"],
            here.get("/conditions")["conditions"],
            self._at_work(here, projects),
            {task_id for task_id in self.ids if self._by_hand(here, known, task_id)},
        )
        self.stands = standing.of(self.seen, self.ids)

    def take(self, events: Iterable[Event]) -> bool:
        """Notes who is just leaving. Whether anything has happened to what is followed."""
        moved = False
        for event in events:
            moved = moved or (event["task_id"] in self.ids and not event["kind"].startswith("decision."))
            if event["kind"] == "launch.exited" and event["data"].get("task_id"):
                self._leaving[event["launch_id"]] = (event["data"]["task_id"], time.monotonic())
            elif event["kind"] == "launch.process_ended":
                self._leaving.pop(event["launch_id"], None)
        return moved

    def _at_work(self, here: Here, projects: list[str]) -> set[str]:
        """The tasks on which a process works, or from which it is just leaving: what it has changed is known only when
        it has ended."""
        live = [
            each for project in projects for each in here.get("/launches", project_id=project, live=True)["launches"]
        ]
        late = time.monotonic() - KEPT_WITHIN / SECOND
        leaving = {task for task, since in self._leaving.values() if since > late}
        return leaving | {each["task_id"] for each in live if each["task_id"] is not None}

    def _grow(self, known: dict[str, Found], worktrees: dict[str, Found]) -> None:
        """With parts, and with the tasks that make changes to what is followed."""
        more = True
        while more:
            asked = (worktrees[each]["changes_requested"] for each in self.ids & worktrees.keys())
            found = {each["task_id"] for each in asked if each is not None}
            found |= {
                each["task_id"]
                for each in known.values()
                if each["parent_task_id"] in self.ids
                or (each["created_by"] == SYSTEM and self.ids.intersection(each["dependencies"]))
            }
            more = not found & known.keys() <= self.ids
            self.ids |= found & known.keys()

    def _settled_worktree(self, here: Here, task_id: str) -> Found:
        from toryo.client import RefusalError

        if task_id not in self._settled:
            self._settled[task_id] = {}
            with suppress(RefusalError):  # it has none
                self._settled[task_id] = here.get(f"/tasks/{task_id}/worktree")["worktree"]
        return self._settled[task_id]

    def _by_hand(self, here: Here, known: dict[str, Found], task_id: str) -> bool:
        """Of what waits for nothing else: whether a person has to start it."""
        task = known[task_id]
        if task["status"] != "todo" or task["agent_type"] is not None:
            return False
        if any(standing.is_open(known.get(each)) for each in task["dependencies"]):
            return False
        found = here.get(f"/tasks/{task_id}")["task"]
        return found["line"] is None and found["review_of"] is None


def until_nothing_moves(
    here: Here, filed: Filed, projects: list[str], wait_seconds: float, say: Callable[[str], None]
) -> None:
    """Returns when everything is done, or nothing goes on by itself; if a person is needed then, after
    `wait_seconds`."""
    lines, told = Lines(filed, say, projects), _Told()
    first, at_rest = True, None
    heard_at = time.monotonic()
    while True:
        filed.read(here, projects)
        for task in filed.every:
            merged = filed.seen.worktrees.get(task["task_id"], {}).get("state") == "merged"
            lines.changed(task, "merged" if merged else None, silent=first and task["status"] in _GOES_WITHOUT_SAYING)
        first = False
        told.needs(lines, filed.asked())
        now = time.monotonic()
        if filed.whole is Stand.DONE:
            if not (events := filed.hear(here, 0)):  # else a process that has reported may be leaving
                return
            filed.take(events)
            continue
        if filed.whole is Stand.MOVES:
            at_rest = None
            if now - heard_at > QUIET_SECONDS:
                told.waits(lines, here, filed)
                heard_at = now
        else:
            at_rest = at_rest or now
            patience = wait_seconds if filed.whole is Stand.PERSON else 0.0
            if now - at_rest >= max(patience, SETTLES_SECONDS):
                return
        if events := filed.hear(here):
            if filed.take(events):
                at_rest, heard_at = None, time.monotonic()
            time.sleep(LOOKS_EVERY_SECONDS)  # what happens in one moment is read together


def brief(need: Found) -> str:
    """What needs a person, and the command that settles it."""
    command = needs.what_settles(need)
    return output.on_one_line(need["title"]) + (f": {output.on_one_line(command)}" if command else "")


def _off(condition: Found) -> str:
    commands = [output.on_one_line(each["command"]) for each in condition["actions"][:1]]
    words = output.in_local_time(output.on_one_line(condition["text"]))
    return " ".join([f"{condition['project_id']}: {words}", *commands])


class _Told:
    """Everything that waits is told once."""

    def __init__(self) -> None:
        self._needs: set[str] = set()
        self._lately: set[str] = set()
        self._waits: list[str] = []

    def needs(self, lines: Lines, found: Mapping[str, str]) -> None:
        """What is still there at the next look: finished work needs a review until the merge queue has taken it."""
        before, self._lately = self._lately, {*found}
        for key, words in found.items():
            if key in before - self._needs:
                self._needs.add(key)
                lines.told(f"? {words}")

    def waits(self, lines: Lines, here: Here, filed: Filed) -> None:
        """What is in progress and what it waits for, if that has changed."""
        open_ = [each for each in filed.every if each["status"] in ("in_progress", "todo")]
        found = [
            f"{one_line(each['title'])}: {line}"
            for each in open_[:3]
            for line in tasks.why(here, here.get(f"/tasks/{each['task_id']}")["task"])[:1]
        ]
        if found != self._waits:
            self._waits = found
            for line in found:
                lines.told(f"· {line}")
