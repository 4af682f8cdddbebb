"""The limits of the domain, each with its number: to change one, change it here too, and where docs/ names it.

And what a new entity counts from, where it is not told.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from pathlib import Path

from toryo import domain
from toryo.domain.times import DAY, HOUR, MINUTE, SECOND

LIMITS: dict[str, dict[str, int]] = {
    "acceptance": {
        "MOST": 20,
        "PATIENCE": 3 * MINUTE,
        "TRIED_AGAIN_AFTER": HOUR,
        "LONGEST_FILE": 1_000,
        "LONGEST_COMMAND": 20_000,
        "LONGEST_SECONDS": 3_600,
        "MOST_WORDS": 1_000,
        "MOST_PATHS": 100,
        "MOST_CHANGED": 10_000_000,
        "LONGEST_OUTPUT": 10_000,
        "MOST_SHOWN": 3,
        "LAST_LINES": 3,
        "WIDEST": 160,
    },
    "conflict_forecast": {
        "MOST_TOUCHED": 500,
        "MOST_OTHERS": 200,
        "MOST_SHOWN": 5,
        "MOST_STEPS": 300_000,
        "LONGEST_TOLD": 100,
    },
    "consent": {"ASKS_WITHIN": DAY, "APPROVES_WITHIN": HOUR},
    "conversations": {"FEWEST_TURNS": 2, "MOST_TURNS": 40, "USUAL_TURNS": 20},
    "coordinators": {"GONE_AFTER": 90 * SECOND},
    "creation_rules": {"DEEPEST": 50},
    "launches": {"SIGN_IN_WITHIN": 2 * MINUTE, "KEPT_OF_BEGIN": 1_000_000, "KEPT_OF_END": 1_000_000},
    "memories": {
        "LONGEST": 2_000,
        "MOST": 1_000,
        "MOST_PINNED": 20,
        "MOST_AN_HOUR": 20,
        "LONGEST_QUERY": 1_000,
        "MOST_TERMS": 4_000,
        "MOST_OF_REPORT": 1_000,
        "MOST_WANTED": 300,
        "LONGEST_TERM": 40,
        "MOST_ROWS": 10_000,
        "OFFERED": 600,
        "SHOWN": 600,
        "FITS": 2,
    },
    "merge_queue": {
        "SENT_BACK_AT_MOST": 2,
        "RETRY_AFTER": MINUTE,
        "RETRY_CHECKS_AFTER": 15 * MINUTE,
        "MOST": 500,
        "MOST_IN_BATCH": 50,
    },
    "messages": {"LONGEST_MESSAGE": 4_000, "HANDED_OUT_AT_ONCE": 20},
    "needs": {"FAILED_WITHIN": 30 * DAY, "FAILED_IN_A_ROW": 3, "SHOWN": 2_000},
    "notices": {"TAKEN_FOR": 5 * MINUTE, "FIRST_RETRY": 30 * SECOND, "LONGEST_RETRY": HOUR, "KEPT": 30 * DAY},
    "passwords": {"SHORTEST_PASSWORD": 10, "LONGEST_PASSWORD": 1_000},
    "people": {
        "LINK_LIVES": 10 * MINUTE,
        "SIGN_IN_LIVES": 14 * DAY,
        "LEAVING_LIVES": 10 * MINUTE,
        "ARRIVING_LIVES": 2 * MINUTE,
        "PROVEN_FOR": 10 * MINUTE,
        "KEPT_FOR": 30 * DAY,
        "MOST_TOKENS": 100,
    },
    "projects": {"MOST_LINES": 20, "MOST_HOSTS": 100, "MOST_PORTS": 20},
    "questions": {
        "LONGEST_QUESTION": 4_000,
        "LONGEST_ANSWER": 10_000,
        "LONGEST_OPTION": 200,
        "MOST_OPTIONS": 12,
        "MOST_OPEN": 10,
        "MOST_EVER": 100,
        "LONGEST_DEADLINE": 129_600,
    },
    "queue": {
        "CLAIMED_AT_ONCE": 50,
        "CREATED_AT_ONCE": 200,
        "LONGEST_CLAIM": DAY,
        "OFFLINE_AFTER": 90 * SECOND,
        "HEARTBEAT_SECONDS": 30,
        "TIMEOUT_SECONDS": 1_800,
        "MAX_ATTEMPTS": 3,
    },
    "quota_windows": {"MOST_TOKENS": 10**12, "MOST_RESERVE": 90, "LEARNT_FOR": 14 * DAY, "CLOCK_SKEW": 5 * MINUTE},
    "requested_changes": {"SENT_BACK_AT_MOST": 2},
    "retention": {"WAITS": 14 * DAY},
    "review_checks": {
        "ROUNDS": 3,
        "MOST_ROUNDS": 20,
        "LONGEST_RUBRIC": 4_000,
        "MOST_FINDINGS": 100,
        "LONGEST_MESSAGE": 2_000,
        "LONGEST_PATH": 1_000,
        "LONGEST_TOLD": 9_000,
    },
    "saved_views": {"MOST": 50},
    "schedules": {
        "LONGEST_CRON": 100,
        "SHORTEST_INTERVAL": 60,
        "LONGEST_INTERVAL": 31_622_400,
        "USUAL_CATCH_UP": 86_400,
        "LONGEST_CATCH_UP": 604_800,
        "MOST_AT_ONCE": 50,
        "LATE": 5 * MINUTE,
    },
    "sources": {"MOST": 100, "USUAL_FAILURES": 3, "MOST_ENTRIES": 100},
    "talk_limits": {
        "MESSAGE_WINDOW": MINUTE,
        "CONVERSATION_WINDOW": HOUR,
        "NOTICES_PER_HOUR": 5,
        "NOTICE_WINDOW": HOUR,
    },
    "task_templates": {"MOST": 100},
    "tasks": {"LINE_STEP": 2**32},
    "times": {"SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000},
    "webhooks": {
        "AT_ONCE": 60,
        "MOST_EVENTS": 50,
        "LONGEST_EVENT": 100,
        "LONGEST_KEY": 200,
        "LONGEST_IN_TITLE": 200,
        "LONGEST_IN_TEXT": 10_000,
    },
    "worktrees": {
        "TRIES": 2,
        "LOOK_EVERY": MINUTE,
        "LOOK_APART": 2 * SECOND,
        "LOOK_SELDOM": 30 * MINUTE,
        "UNSEEN_AFTER": 15 * MINUTE,
        "LOST_AFTER": 15 * MINUTE,
        "KEPT_WITHIN": 30 * SECOND,
        "CLEAN_AFTER": DAY,
    },
}


def test_the_limits_are_the_specified_ones_and_none_is_missing_here() -> None:
    found: dict[str, dict[str, int]] = {}
    for path in sorted(Path(str(domain.__file__)).parent.glob("*.py")):
        module = importlib.import_module(f"toryo.domain.{path.stem}")
        for name in _assigned(ast.parse(path.read_text(encoding="utf-8"))):
            if not name.startswith("_") and type(value := getattr(module, name)) is int:
                found.setdefault(path.stem, {})[name] = value
    assert found == LIMITS


def _assigned(module: ast.Module) -> list[str]:
    """What a file names at its top."""
    targets = [each for node in module.body if isinstance(node, ast.Assign) for each in node.targets]
    targets += [node.target for node in module.body if isinstance(node, ast.AnnAssign)]
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


COUNT_FROM: dict[str, object] = {
    "agents.Agent.version": 1,
    "delegations.Delegation.attempt": 1,
    "launches.Launch.takes_slot": True,
    "projects.Project.version": 1,
    "schedules.Run.times": 1,
    "sources.Entry.times": 1,
    "tasks.Task.attempt": 1,
    "tasks.Task.parent_attempt": 1,
    "tasks.Task.version": 1,
    "webhooks.Delivery.times": 1,
}
HAVE_TESTS_OF_THEIR_OWN = ("Settings", "TalkLimits")


def test_what_a_new_entity_is_not_told_is_none_or_false_but_for_these() -> None:
    found: dict[str, object] = {}
    for path in sorted(Path(str(domain.__file__)).parent.glob("*.py")):
        module = importlib.import_module(f"toryo.domain.{path.stem}")
        for name, kind in inspect.getmembers(module, dataclasses.is_dataclass):
            if kind.__module__ == module.__name__ and name not in HAVE_TESTS_OF_THEIR_OWN:
                defaults = {field.name: field.default for field in dataclasses.fields(kind)}
                found |= {f"{path.stem}.{name}.{field}": each for field, each in defaults.items() if _counts(each)}
    assert found == COUNT_FROM


def _counts(default: object) -> bool:
    return isinstance(default, int) and default != 0
