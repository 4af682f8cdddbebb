"""Rules with one home: the file that decides each of them, and what a second place that decides it would look like.

A rule that is decided twice is decided differently one day. Where two places must agree because they cannot share
code (SQL, the dashboard, programs that know nothing of the server), a test compares them; those tests are named here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from toryo import failures
from toryo.agents import conditions
from toryo.domain import memories, people
from toryo.domain.messages import LONGEST_MESSAGE
from toryo.domain.quota_windows import MOST_RESERVE
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.tasks import CLOSED
from toryo.domain.times import MINUTE, SECOND
from toryo.domain.worktrees import KEPT_WITHIN
from toryo.operations.calls import context
from toryo.operations.calls.catalogue import catalogue
from toryo.settings import Settings
from toryo.workflow.guard_limits import Limits

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "src" / "toryo"
GENERATED = {"web/src/api/schema.ts"}


class Rule(NamedTuple):
    decides: str
    """A regular expression: text that decides the rule."""
    homes: set[str]


RULES = {
    "a main task was taken from its session": Rule(r'"task_gone"', {"workflow/launch_rules.py"}),
    "a task is closed": Rule(
        r"""['"]completed['"],\s*['"]failed['"],\s*['"]cancelled['"]\s*[)}\]]"""
        r"|COMPLETED,\s*Status\.FAILED,\s*Status\.CANCELLED",
        {
            "domain/tasks.py",
            "agents/conditions.py",  # compared below
            "operations/calls/schemas.py",  # all statuses
            "web/src/api/model.ts",  # compared in test_dashboard_lists.py
        },
    ),
    "a task is a main task": Rule(
        r"assignee_id\.is_distinct_from|parent\w*\.assignee_id\s*!=|assignee_id\s*!=\s*\w*parent",
        # compared in storage/test_aggregates.py; the last asks about parts of others at any depth: another rule
        {"domain/task_tree.py", "storage/tasks.py", "storage/conflict_forecast.py"},
    ),
    "a budget is used up": Rule(
        r"(>=|<=|[<>]) (\w+\.)*budget|\b(spent|cost)[\w.]* (>=|<=|[<>]) (?!0)", {"domain/budgets.py"}
    ),
    "a lease has expired": Rule(
        r"(?<!\.c)\.expires_at (>=|<=|[<>]) |(>=|<=|[<>]) \w+(\.\w+)?\.expires_at",
        {
            "domain/sessions.py",
            "domain/queue.py",
            "domain/people.py",
            "storage/people.py",
            "storage/shared_state_redis.py",
        },
    ),
    "a Coordinator is gone": Rule(r"now - (\w+\.)?last_seen", {"domain/coordinators.py"}),
    "a message is unread": Rule(r"\.sequence > (\w+\.)?seen", {"storage/unread.py"}),
    "who is asked to approve": Rule(r"\.human and \w+\.active and", {"domain/agents.py"}),
    "a worker may divide its task": Rule(
        r"Decomposition\.NEVER|worked_attempt\s*[<>]|delegated and \w+\.parent_id",
        {"domain/creation_rules.py", "domain/tasks.py"},
    ),
    "a task is not below one's main task": Rule(r"not below your main task", {"operations/tasks/below_main_task.py"}),
    "a change is based on an old version": Rule(
        r"\.version != |It has changed since you read it", {"operations/calls/optimistic_concurrency.py"}
    ),
    "a request is repeated": Rule(r"if content != self\.content", {"operations/calls/idempotency.py"}),
    "which queues have an agent": Rule(r"\.polled\(\w+(\.\w+)?\) \|", {"storage/snapshots.py"}),
    "how a result ends a task": Rule(r"failed without a reason", {"operations/queue/task_results.py"}),
    "which first line of a message approves": Rule(
        r"""['"]/approve['"]|\^/approve""",
        {"domain/consent.py", "web/src/views/chat/consent.ts"},  # compared by domain/consent_cases.json
    ),
    "how long a call waits": Rule(r"\ble=45\b|seconds=45\b|WAIT\w* = 45\b", {"long_waits.py"}),
    "pauses double": Rule(r"\b2 ?\*\* ?\(?[a-z]|pause \* 2\b|\*= 2\b", {"backoff.py", "web/src/api/queries.ts"}),
}


def _sources() -> Iterator[tuple[str, str]]:
    """All that is written by hand, by its path; the server's Python from its package on."""
    for path in SERVER.rglob("*.py"):
        name = path.relative_to(SERVER).as_posix()
        if not name.startswith("storage/migrations/"):
            yield name, path.read_text(encoding="utf-8")
    for path in (ROOT / "web" / "src").rglob("*.ts*"):
        name = path.relative_to(ROOT).as_posix()
        if ".test." not in name and name not in GENERATED:
            yield name, path.read_text(encoding="utf-8")


SOURCES = dict(_sources())


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_decides_a_rule_is_written_in_its_home_only(rule: Rule) -> None:
    assert {name for name, text in SOURCES.items() if re.search(rule.decides, text)} == rule.homes


def test_why_a_process_ended_is_written_by_its_name_in_one_file_only() -> None:
    """Other files use the enumeration. Words that also mean something else (a reason of the launch table) are left out;
    the dashboard's words are compared in test_dashboard.py."""
    also = {
        "runaway",
        "silent",
        "unmetered",
        "time_limit",
        "turn_limit",
        "output_flood",
        "stopped",
        "timed_out",
        "quota",
    }
    names = {*failures.Failure, *failures.Ended} - also
    found = {
        (file, node.value)
        for file, text in SOURCES.items()
        if file.endswith(".py") and file != "failures.py" and any(each in text for each in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert found == set()


def test_limits_have_the_same_defaults_for_decisions_and_in_the_settings() -> None:
    assert context.limits_of(Settings()) == Limits()
    assert context.chat_limits_of(Settings()) == TalkLimits()


OF_PAGES: dict[str, tuple[str, list[int]]] = {
    "api/worktrees.ts": (r"const LEAVES_WITHIN = (\d+);", [KEPT_WITHIN // SECOND]),
    "views/chat/composer.tsx": (r"const MOST = (\d+);", [LONGEST_MESSAGE]),
    "views/settings/memory.tsx": (r"maxLength=\{(\d+)\}", [memories.LONGEST_QUERY, memories.LONGEST]),
    "views/settings/words.ts": (r"within (\d+) minutes|(\d+) 分以内", [people.LINK_LIVES // MINUTE] * 2),
    "views/signin/words.ts": (
        r"within (\d+) minutes|リンクは (\d+) 分以内|には、(\d+) 分以内",
        [people.LINK_LIVES // MINUTE, people.LINK_LIVES // MINUTE, people.PROVEN_FOR // MINUTE],
    ),
    "views/usage/quotas.tsx": (r"max=\{(\d+)\}", [MOST_RESERVE]),
}
"""Numbers that pages repeat: where, and what they are on the server, in their order in the file."""


@pytest.mark.parametrize("file", OF_PAGES)
def test_a_number_that_a_page_repeats_is_the_one_of_the_server(file: str) -> None:
    pattern, numbers = OF_PAGES[file]
    found = [next(filter(None, each.groups())) for each in re.finditer(pattern, SOURCES[f"web/src/{file}"])]
    assert list(map(int, found)) == numbers


def test_what_an_operation_is_for_is_said_where_it_is_declared() -> None:
    """No list of operations stands beside the catalogue, but for those that say what to call next."""
    names = catalogue().keys()
    lists = {
        file
        for file, text in SOURCES.items()
        if file.startswith(("operations/", "workflow/", "server/"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Set | ast.Tuple | ast.List)
        and len(node.elts) > 1
        and all(isinstance(each, ast.Constant) and each.value in names for each in node.elts)
    }
    assert lists == {
        "workflow/instructions.py",
        "operations/tasks/batch.py",  # what a batch may contain
        "operations/overview/prompts.py",  # names of prompts
        "server/rest.py",  # what sets and deletes the cookie
    }


def test_agents_without_a_model_know_the_same_closed_statuses() -> None:
    assert set(conditions.CLOSED) == {status.value for status in CLOSED}
