"""What came of a run: tasks, merges, files, cost, and the time beside that of the longest chain; and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toryo.cli import output, task_graph
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import DONE, FAILED, PERSON_NEEDED
from toryo.cli.run.follow import Filed
from toryo.cli.run.standing import Found, Stand
from toryo.domain.texts import one_line

OUTCOMES = {"done": DONE, "failed": FAILED, "person_needed": PERSON_NEEDED}
CHAIN_SHOWN = 5


@dataclass(frozen=True)
class Summary:
    """`used` are the tokens and the money, as far as programs have told them."""

    filed: Filed
    needs: list[Found]
    used: Mapping[str, Any]

    @property
    def outcome(self) -> str:
        """What has failed comes before what waits for a person."""
        stands = self.filed.stands.values()
        if all(each is Stand.DONE for each in stands):
            return "done"
        return "failed" if Stand.FAILED in stands else "person_needed"

    @property
    def exit_code(self) -> int:
        return OUTCOMES[self.outcome]

    @property
    def completed(self) -> list[Found]:
        return [each for each in self.filed.every if each["status"] == "completed"]

    @property
    def merged(self) -> list[Found]:
        """The worktrees whose work is in their branch."""
        return [each for each in self._worktrees if each.get("state") == "merged"]

    @property
    def _worktrees(self) -> list[Found]:
        return [self.filed.seen.worktrees.get(each["task_id"], {}) for each in self.filed.every]

    def changed(self, what: str) -> int:
        """The sum over all worktrees: `files_changed`, `insertions`, `deletions`."""
        return sum(each.get(what) or 0 for each in self._worktrees)

    @property
    def seconds(self) -> float:
        """From the first task's creation to the last one's end, or merge."""
        ends = [each["completed_at"] for each in self.completed] + [each["updated_at"] for each in self.merged]
        begins = [each["created_at"] for each in self.filed.every]
        return _between(min(begins), max(ends)) if ends else 0.0

    @property
    def chain(self) -> task_graph.Graph:
        """The longest chain of tasks, by the seconds that each took from its start to its end."""
        known = {each["task_id"]: each for each in self.filed.every}
        before = {each["task_id"]: each["dependencies"] for each in self.filed.every}
        return task_graph.of(before, lambda task_id: _taken(known[task_id]))

    def title(self, task_id: str) -> str:
        return str(self.filed.seen.tasks[task_id]["title"])

    def document(self) -> dict[str, Any]:
        """For scripts."""
        chain = self.chain
        return {
            "success": self.outcome == "done",
            "outcome": self.outcome,
            "tasks": [
                {
                    "task_id": each["task_id"],
                    "title": each["title"],
                    "project_id": each["project_id"],
                    "assignee_id": each["assignee_id"],
                    "status": each["status"],
                    "stand": self.filed.stands[each["task_id"]].name.lower(),
                    "merged_commit": self.filed.seen.worktrees.get(each["task_id"], {}).get("merged_commit"),
                }
                for each in self.filed.every
            ],
            "merged": len(self.merged),
            **{what: self.changed(what) for what in ("files_changed", "insertions", "deletions")},
            **self.used,
            "seconds": round(self.seconds, 2),
            "critical_path_seconds": round(chain.length, 2),
            "critical_path": chain.chain,
            "needs": self.needs,
        }

    def told(self) -> Iterator[str]:
        every, completed = len(self.filed.every), len(self.completed)
        mark = output.MARKS["completed" if self.outcome == "done" else "failed" if self.outcome == "failed" else "todo"]
        into = sorted({each["merged_into"] or "" for each in self.merged})
        merged = f", {len(self.merged)} merged into {', '.join(into)}" if self.merged else ""
        yield f"{mark} {completed} of {every} tasks completed{merged}"
        if any(self._worktrees):
            changes = f"+{self.changed('insertions')} −{self.changed('deletions')}"
            yield f"  files  {self.changed('files_changed')} changed ({changes})"
        yield f"  cost   {self._cost()}"
        if self.seconds:
            yield self._time()
        yield from self._unfinished()

    def _time(self) -> str:
        chain = self.chain
        path = [f"“{one_line(self.title(each))}”" for each in chain.chain]
        shown = " → ".join(path if len(path) <= CHAIN_SHOWN else [*path[:2], "…", *path[-2:]])
        return (
            f"  time   {output.duration(self.seconds)}; the longest chain took {output.duration(chain.length)}: {shown}"
        )

    def _cost(self) -> str:
        tokens = (self.used["input_tokens"] or 0) + (self.used["output_tokens"] or 0)
        if not tokens and not self.used["cost_usd"]:
            return "none was reported"
        money = "no price is known" if self.used["cost_usd"] is None else f"${self.used['cost_usd']:.2f}"
        return f"{money}, {tokens:,} tokens"

    def _unfinished(self) -> Iterator[str]:
        """What has failed and what needs a person, each with the command for it."""
        needed = {each["task_id"] for each in self.needs}
        for each in self.filed.every:
            stand, status = self.filed.stands[each["task_id"]], each["status"]
            if stand in (Stand.FAILED, Stand.PERSON) and each["task_id"] not in needed:
                yield f"{output.MARKS.get(status, ' ')} {status:<11} {one_line(each['title'])}  ({each['task_id']})"
        if asked := self.filed.asked():
            yield "Needs a person:"
        yield from (f"  {words}" for words in asked.values())
        if self.outcome != "done":
            yield f"Why a task waits: {output.program()} why TASK"


def of(here: Here, filed: Filed) -> Summary:
    """Reads what was used."""
    used: dict[str, Any] = {"cost_usd": None, "input_tokens": 0, "output_tokens": 0}
    for project in filed.tasks:
        rows = here.get("/usage", project_id=project, by=["task"], since=_since(filed))["rows"]
        for row in (each for each in rows if each["task_id"] in filed.ids):
            used = {name: _sum(value, row[name]) for name, value in used.items()}
    return Summary(filed, filed.needs(), used)


def _sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else (one or 0) + other


def _since(filed: Filed) -> str | None:
    """The day of the first task."""
    return min((str(each["created_at"])[:10] for each in filed.every), default=None)


def _taken(task: Found) -> float:
    return _between(task["started_at"], task["completed_at"]) if task["started_at"] and task["completed_at"] else 0.0


def _between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
