"""The two suites, `make test` and `make test-deep`, and what a test of the first may cost.

A test is one of `make test` unless the mark `deep` stands at it, at its class, its file or its parameter. What costs
more than `CPU` or `WAITING` belongs to `make test-deep`: without the mark it fails, in every run. The few stories that
are worth more are in `STORIES`, with what each may cost. What tests share (a fixture of a file or of the whole run) is
counted for itself, in `SHARED`.

What is proved again for many values is told with the first of them in `make test` (mark `first`), and with the others
in the deep suite.

A story that is told on both databases (tests/databases.py) is told on PostgreSQL in `make test` only if it has the mark
`both`: locks, batches, pages, whatever a database does in its own way. Of the other stories, which run through the same
statements, one in `TWINS` is told there in the deep suite, with its first parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from tests.process_costs import Spent, for_others_too, shared, slowness, spent

TWINS = 3
"""Of so many stories that say nothing about a database, one is told on PostgreSQL, too."""
CPU, WAITING = 2.0, 2.0
"""Seconds. CPU is that of all processes of the test, on an idle machine; waiting is what is left of the clock
(tests/process_costs.py)."""


class Most(NamedTuple):
    """What one story may cost, in seconds."""

    cpu: float
    waiting: float = WAITING


DEAR = ("tests/browser", "tests/clis", "tests/scenarios")
"""Folders whose tests are deep but for those in `STORIES`."""
_BROWSER, _SCENARIOS = "tests/browser/test_stories.py::test_", "tests/scenarios/test_stories.py::test_"
_UP = "tests/cli/test_init_apply.py::test_init_up_apply_and_the_first_task_is_done_by_the_programs_that_were_found"
_MERGED = "tests/cli/test_worktrees.py::test_a_task_is_looked_at_merged_and_is_no_longer_listed"
_PAGE = "tests/documents/test_walks.py::test_every_command_of_a_page_works_as_it_is_shown"
STORIES: dict[str, Most] = {
    f"{_SCENARIOS}a_manager_a_worker_and_what_the_worker_made_of_it_end_completed_at_three_levels": Most(3, 4),
    f"{_SCENARIOS}an_agent_comes_to_answer_a_person_with_its_name": Most(2, 4),
    f"{_SCENARIOS}agents_and_the_server_are_killed_and_every_task_keeps_one_result": Most(3, 4),
    f"{_SCENARIOS}two_agents_work_in_one_repository_and_neither_sees_the_others_half_done_files": Most(3.5, 4),
    f"{_SCENARIOS}removing_a_task_while_a_check_hangs_stops_it_and_the_rest_is_merged": Most(4, 4),
    f"{_SCENARIOS}a_server_that_is_killed_finds_everything_as_it_was": Most(4, 4),
    f"{_SCENARIOS}a_coordinator_that_is_killed_leaves_its_agents_at_work_for_the_next_one": Most(3, 4),
    f"{_SCENARIOS}the_server_starts_on_a_database_of_an_earlier_version_and_a_task_is_completed_there": Most(3, 4),
    f"{_BROWSER}the_link_signs_in_once_and_the_code_does_not_stay_in_the_address": Most(3.5),
    f"{_BROWSER}a_card_is_carried_by_mouse_past_columns_that_say_why_not_is_taken_back_and_carried_by_keys": Most(3.5),
    f"{_BROWSER}a_task_is_filed_followed_while_it_is_worked_on_and_told_something": Most(5, 4),
    f"{_BROWSER}comments_on_lines_are_kept_until_they_are_sent_as_one_message_and_the_answer_is_merged": Most(7.5, 4),
    f"{_BROWSER}an_agent_comes_when_its_panel_is_opened_and_one_process_answers_all": Most(3, 4),
    f"{_BROWSER}a_project_is_paused_goes_on_and_keeps_the_rules_that_two_people_set": Most(3),
    f"{_BROWSER}the_frame_is_seen_before_the_scripts_and_nothing_jumps_when_they_come[wide]": Most(2),
    f"{_BROWSER}axe_finds_nothing_serious_or_moderate_in_a_board_and_what_lies_over_it[light]": Most(7),
    _UP: Most(8, 20),
    _MERGED: Most(4, 10),
    f"{_PAGE}[docs/tutorial.md]": Most(12, 30),
}
"""Tests of whole processes and of a browser that `make test` runs all the same."""

SHARED: dict[str, Most] = {
    "chrome": Most(3),
    "explored": Most(6),  # a share of all small worlds, tests/workflow
    "parsed_suite": Most(10),  # tests/pitfalls/test_testing.py
    "site": Most(3),
    "works": Most(3),
}
"""Fixtures that a file or a run makes once, by name."""

_NOT_SHARED = "function"
_OTHERS = {"postgres_server", "redis_url"}
"""Fixtures of servers that the tests have not started."""
_limited = True
_running: pytest.Item | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unlimited", action="store_true", help="let a test of `make test` cost more than it may")


def pytest_configure(config: pytest.Config) -> None:
    global _limited  # noqa: PLW0603 - one run in a process
    _limited = not config.getoption("unlimited")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    told: set[str] = set()
    kept: list[pytest.Item] = []
    again: list[pytest.Item] = []
    count = Counter[str]()
    for item in items:
        if first := item.get_closest_marker("first"):
            story = item.nodeid.partition("[")[0]
            count[story] += 1
            if count[story] > first.args[0]:
                item.add_marker(pytest.mark.deep)
        if item.get_closest_marker("twin") and not item.get_closest_marker("both"):
            item.add_marker(pytest.mark.deep)
            story = item.nodeid.partition("[")[0]
            (again if story in told or crc32(story.encode()) % TWINS else kept).append(item)
            told.add(story)
        else:
            kept.append(item)
    if again:
        config.hook.pytest_deselected(items=again)
        items[:] = kept


# --- what a test costs -----------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    global _running  # noqa: PLW0603 - one test at a time
    _running = item
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[_BEGAN] = spent()  # each time, if it is run again
    shared.clear()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    if fixturedef.scope == _NOT_SHARED or not _limited:
        return (yield)
    with for_others_too():
        result = yield
    if _running is not None and _running.get_closest_marker("deep") is None:
        cost = shared[-1]
        cost = replace(cost, clock=cost.clock - cost.pressed)  # it may have made a database or a browser wait
        _judge(f"The fixture {fixturedef.argname}", cost, SHARED.get(fixturedef.argname))
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_CALLED] = spent()
    if call.when == "teardown" and report.passed and _limited and item.get_closest_marker("deep") is None:
        now = spent()
        called = item.stash.get(_CALLED, now)
        if now.cpu < called.cpu:
            now = called  # what is shared has ended, and nobody knows any more what it had used
        cost = now.since(item.stash[_BEGAN])
        for each in shared:
            cost = cost.since(each)
        if not _OTHERS.isdisjoint(item.fixturenames) or any(map(item.get_closest_marker, ("postgresql", "redis"))):  # type: ignore[attr-defined]
            cost = replace(cost, clock=cost.clock - cost.pressed)  # their servers queue, too, and nobody counts them
        try:
            _judge("This test", cost, STORIES.get(item.nodeid))
        except AssertionError as too_much:
            report.outcome = "failed"
            report.longrepr = str(too_much)
    return report


_BUSY, _UNKNOWN = 0.8, 3.0
"""Where something queued for a processor for such a share of the test, it may wait for so many times its limit: nobody
knows how long threads queued that have ended meanwhile."""
_BEGAN, _CALLED = pytest.StashKey[Spent](), pytest.StashKey[Spent]()


def _judge(what: str, cost: Spent, most: Most | None) -> None:
    limit = most or Most(CPU, WAITING)
    if most is not None:
        cost = replace(cost, clock=cost.clock - cost.pressed)  # many processes, and nobody counts what has ended
    waiting = limit.waiting * (_UNKNOWN if cost.pressed > _BUSY * cost.clock else 1)
    if cost.waited > waiting or (cost.cpu > limit.cpu and cost.cpu > limit.cpu * _dearer_here(cost)):
        raise AssertionError(
            f"{what} took {cost.cpu:.1f} s of CPU and waited for {cost.waited:.1f} s; in `make test` it may take"
            f" {limit.cpu:g} s and wait for {limit.waiting:g} s. Make it cheaper, or mark it `deep` (tests/suites.py)."
        )


def _dearer_here(cost: Spent) -> float:
    """How much more CPU the same work may have taken than on an idle machine: beside others half of a core is there."""
    return max(slowness(), 1 + min(1.0, cost.pressed / max(cost.clock, 0.001)))
