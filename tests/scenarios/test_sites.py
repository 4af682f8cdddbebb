"""What every scenario relies on when it waits for something and then asks the history."""

from __future__ import annotations

import pytest

from tests.scenarios.sites import Site

pytestmark = pytest.mark.deep


def test_what_happens_while_a_condition_is_looked_at_is_in_the_history_afterwards(site: Site) -> None:
    site.project("house")
    task_id = site.until("a task is filed", lambda: site.file("house", "Build"))
    assert [each["actor_id"] for each in site.history.of("task.created", task_id=task_id)] == ["owner"]
