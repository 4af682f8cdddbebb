"""What a person does in the demo, and what the demo does for them if nobody comes: approve, answer, merge.

Each is told when it comes up, with the command for it. Somebody at the dashboard of `toryo demo --keep` may be faster;
what they have decided is left as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toryo.cli import output, worktrees
from toryo.cli.command_context import Here
from toryo.client import RefusalError
from toryo.demo_team import JOBS
from toryo.domain.texts import one_line

APPROVAL, QUESTION, REVIEW = "approval", "question", "review"
ANSWER = "green"
MERGE_SECONDS = 60.0

Need = Mapping[str, Any]


@dataclass
class _Waits:
    """Something that waits for a person, since when on the clock that only goes forward."""

    since: float
    done: bool = False


@dataclass
class Answers:
    """Looks again and again at what needs a person in one project. `told` gets a line for people."""

    here: Here
    project: str
    patience: float
    """Seconds after which the demo does it itself."""
    told: Callable[[str], None]
    expected: set[str] = field(default_factory=lambda: {APPROVAL, QUESTION, REVIEW})
    """What has not come up yet."""
    by_people: set[str] = field(default_factory=set)
    """What somebody else has decided."""
    _waits: dict[tuple[str, str], _Waits] = field(default_factory=dict)
    _questions: dict[str, Need] = field(default_factory=dict)
    """By the task that waits for an answer."""

    @property
    def over(self) -> bool:
        return not self.expected and not self._waits

    def look(self, tasks: Iterable[Need]) -> None:
        found = dict(self._found(tasks))
        for key in [key for key in self._waits if key not in found]:
            if not self._waits.pop(key).done:
                self.by_people.add(key[0])
        for key, need in found.items():
            kind = key[0]
            if key not in self._waits:
                self._waits[key] = _Waits(time.monotonic())
                self.expected.discard(kind)
                self.told(_waiting(kind, need))
            waits = self._waits[key]
            if not waits.done and time.monotonic() - waits.since >= self.patience:
                with suppress(RefusalError):  # somebody was faster, or an agent is just leaving: the next look tells
                    self._settle(kind, need)
                    waits.done = True

    def _found(self, tasks: Iterable[Need]) -> Iterable[tuple[tuple[str, str], Need]]:
        needs = self.here.get("/needs-you", project_id=self.project)["items"]
        for need in needs:
            kind = {"approval": APPROVAL, "review": REVIEW}.get(need["kind"])
            if kind is not None:
                yield (kind, need["task_id"]), need
        for task in tasks:
            id_, status = task["task_id"], task["status"]
            if task["title"] in JOBS[self.project].also and status == "in_progress":
                for need in needs:
                    if (need["kind"], need["task_id"]) == ("message", id_):
                        self._questions[id_] = need
                if id_ in self._questions:  # until it is answered, not only until it is read
                    yield (QUESTION, id_), self._questions[id_]

    def _settle(self, kind: str, need: Need) -> None:
        task = need["task_id"]
        match kind:
            case "approval":
                self.here.send("POST", f"/tasks/{task}/approve", {"version": need["request"]["version"]})
                self.told("  Nobody did it: the demo approves it.")
            case "question":
                path = f"/projects/{self.project}/chats/{need['agent_id']}/messages"
                self.here.send("POST", path, {"content": ANSWER})
                self.told(f"  Nobody answered: the demo says {ANSWER!r}.")
            case "review":
                merged = worktrees.merge_all(self.here, task, MERGE_SECONDS)
                self.told(f"  Nobody did it: the demo merges {len(merged)} worktrees.")


def _waiting(kind: str, need: Need) -> str:
    toryo, task = output.program(), need["task_id"]
    match kind:
        case "approval":
            said = f"Iris asks for approval: {one_line(need['request']['title'])}."
            return f"{said} You would press a in the dashboard, or run: {toryo} task approve {task}"
        case "question":
            said = f"Theo asks: {one_line(need['text'])}"
            return f"{said} You would answer in its chat, or run: {toryo} chat {need['agent_id']}"
        case _:
            said = "The website is ready for your review."
            return f"{said} You would press a in the dashboard, or run: {toryo} task merge {task}"
