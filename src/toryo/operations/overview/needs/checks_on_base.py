"""Checks that a project requires and that pass for nobody, because they do not before any work."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import TO_SAY, deed
from toryo.domain import acceptance
from toryo.domain.needs import Kind, Need
from toryo.domain.texts import quoted
from toryo.domain.wording import say, together
from toryo.operations.overview.needs.view import View
from toryo.operations.worktrees import base_checks


def failing_checks(view: View) -> Iterator[Need]:
    for project in view.call.tx.projects.all():
        tried = base_checks.failing_checks(project) if project.id in view.projects else None
        if tried is None:
            continue
        said = [
            say(
                "No task passes until that is corrected: in the check, on the machine, or by the task itself (commit "
                "{commit}).",
                commit=tried["base"][:10],
            )
        ]
        for failure in tried["failed"][: acceptance.MOST_SHOWN]:
            said += [say("The check {check} fails:", check=quoted(failure["check"])), acceptance.printed_end(failure)]
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.FAILED,
                about=f"checks {project.id}",
                title=say(
                    "Required checks fail on {branch} itself, before any work: {project}",
                    branch=tried["branch"],
                    project=project.name,
                ),
                text=together(said, "\n"),
                since=tried["at"],
                actions=(deed("correct_project", project_id=project.id, settings={"required_checks": TO_SAY}),),
                project_id=project.id,
            )
