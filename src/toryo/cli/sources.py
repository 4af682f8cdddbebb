"""What `toryo schedule` and `toryo webhook` have in common: both are sources, which create tasks by themselves. When
they do is said in `schedules.py` and `webhooks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from toryo.cli import edits, output, projects, shell_completion
from toryo.cli.command_context import Here, argument, option
from toryo.cli.exit_codes import Misuse
from toryo.domain.sources import USUAL_FAILURES
from toryo.domain.texts import one_line

SHOWN_OF_HISTORY = 10

Name = Annotated[str, argument("NAME", "What it is called.")]
NEW_NAME = option("NAME", "Its new name.")
NEW_TITLE = option("TEXT", "The new title of its tasks.")
OfProject = Annotated[str | None, option("PRJ", "Limit to this project.", complete=shell_completion.projects)]
Reason = Annotated[str | None, option("TEXT", "The reason, for others to see.")]
MaxFailures = Annotated[
    int | None, option("N", f"Failures in a row that stop it (default: {USUAL_FAILURES}); 0: none do.")
]
Item = dict[str, Any]
"""A schedule or a webhook, as the server shows it, or one entry of its history."""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Source:
    """One of the two kinds, `schedule` or `webhook`, with the prefix of its ids."""

    kind: str
    prefix: str
    then: Callable[[Item], str] | None = None
    """What is said of one that goes on."""

    def every(self, here: Here, project: str | None) -> list[Item]:
        names = [project] if project else projects.active(here)
        return [each for name in names for each in here.get(f"/projects/{name}/{self.kind}s")[f"{self.kind}s"]]

    def path(self, here: Here, given: str, act: str = "") -> str:
        return f"/{self.kind}s/{self._id(here, given)}{act}"

    def _id(self, here: Here, given: str) -> str:
        """The id of what was typed: an id, or the name of one."""
        if given.startswith(self.prefix):
            return given
        named = [self.id_of(each) for each in self.every(here, None) if each["name"].casefold() == given.casefold()]
        if len(named) > 1:
            raise Misuse(f"Several {self.kind}s are called {given!r}: {', '.join(named)}.", "Give the id of one.")
        return named[0] if named else given

    def id_of(self, item: Item) -> str:
        return str(item[f"{self.kind}_id"])

    def add(self, here: Here, body: dict[str, Any]) -> dict[str, Any]:
        """The answer; what is printed of it differs."""
        project = body.pop("project_id", None)
        return here.send("POST", f"/projects/{project or projects.only(here)}/{self.kind}s", body)

    def print_all(
        self, here: Here, project: str | None, headings: Sequence[str], row: Callable[[Item], Row], empty: str
    ) -> None:
        found = self.every(here, project)
        rows = [(self.id_of(each), each["name"], each["state"], *row(each)) for each in found]
        here.answer(
            {"success": True, f"{self.kind}s": found},
            lambda: output.table(("ID", "NAME", "STATE", *headings), rows, empty=empty),
        )

    def show(self, here: Here, given: str, history: str, printed: Callable[[Item, list[dict[str, Any]]], None]) -> None:
        """`history`: what became of it, the last part of its path."""
        answer = here.get(self.path(here, given))
        item = answer[self.kind]
        found = here.get(f"/{self.kind}s/{self.id_of(item)}/{history}", limit=SHOWN_OF_HISTORY)[history]
        here.answer({**answer, history: found}, lambda: printed(item, found))

    def edit(self, here: Here, given: str, clear: Iterable[str] | None, body: dict[str, Any]) -> None:
        body = edits.changes(self.kind, body, clear)
        path = self.path(here, given)
        before = here.get(path)[self.kind]
        answer = here.send("PATCH", path, body)
        after = answer[self.kind]
        name = path.rpartition("/")[2]
        here.answer(answer, lambda: output.done(f"{edits.edit_line(name, before, after)}{self._then(after)}"))

    def pause(self, here: Here, given: str, reason: str | None) -> None:
        answer = here.send("POST", self.path(here, given, "/pause"), {"reason": reason})
        here.answer(answer, lambda: output.done(f"paused {self.id_of(answer[self.kind])}"))

    def resume(self, here: Here, given: str) -> None:
        answer = here.send("POST", self.path(here, given, "/resume"))
        item = answer[self.kind]
        here.answer(answer, lambda: output.done(f"resumed {self.id_of(item)}{self._then(item)}"))

    def delete(self, here: Here, given: str) -> None:
        answer = here.send("DELETE", self.path(here, given))
        here.answer(answer, lambda: output.done(f"deleted {self.id_of(answer)}; its tasks stay"))

    def _then(self, item: Item) -> str:
        return self.then(item) if self.then is not None else ""

    def print(self, item: Item, trigger: Mapping[str, Any], policies: Mapping[str, Any], tasks: int) -> None:
        """`trigger`: when it creates tasks; `tasks`: how many it has created."""
        task = item["task"]
        output.fields(
            {
                f"{self.kind}_id": self.id_of(item),
                "name": item["name"],
                "project": item["project_id"],
                "state": item["state"] + (f": {one_line(item['reason'])}" if item["reason"] else ""),
                **trigger,
                "task": task["title"],
                "description": task["description"],
                "for": task["assignee_id"] or (f"queue {task['agent_type']}" if task["agent_type"] else "nobody"),
                "priority": task["priority"],
                "begins in": task["status"],
                "context": task["context"],
                "acceptance": task["acceptance"],
                **policies,
                "max failures": str(item["max_failures"] or "none"),
                "failures in a row": item["failures"] or None,
                "runs as": item["runs_as"],
                "tasks created": tasks,
            }
        )
