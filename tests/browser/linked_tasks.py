"""A project of five thousand open tasks, four fifths of them linked: for the graph, in tests and in benchmarks."""

from __future__ import annotations

from collections.abc import Iterator

from tests.scenarios.sites import Site

PARTS, TREES, LOOSE = 10, 8, 100
"""Each part is filed at once: trees of fifty tasks, and tasks without links."""
LINKED, ALL = PARTS * TREES * 50, PARTS * (TREES * 50 + LOOSE)


def fill(site: Site, project: str) -> None:
    site.project(project)
    for part in range(PARTS):
        changes = [{"operation": "file_task", "arguments": each} for each in _part(project, part)]
        site.people.rest("POST", "/changes", {"changes": changes})


def _part(project: str, part: int) -> Iterator[dict[str, object]]:
    """In each tree seven chains of seven tasks, and what all of them are done for."""
    at = 0
    for tree in range(TREES):
        root = at
        yield {"project_id": project, "title": f"Goal {part}.{tree}", "status": "todo"}
        for number in range(49):
            at += 1
            before = [] if number % 7 == 0 else [f"@{at - 1}"]
            title = f"Step {part}.{tree}.{number}"
            yield {"project_id": project, "title": title, "parent_task_id": f"@{root}", "dependencies": before}
        at += 1
    for number in range(LOOSE):
        yield {"project_id": project, "title": f"Alone {part}.{number}", "status": "todo"}
