"""Every reason for which work may be held says who lets it go on: none is missing, and none invented."""

from __future__ import annotations

import re
from pathlib import Path

from toryo.domain.conditions import Condition
from toryo.domain.coordinators import LACKS
from toryo.domain.needs import Kind
from toryo.domain.task_readiness import StartBlocker
from toryo.operations.launches import placement, reason_texts
from toryo.operations.overview import held_reasons, needs, queue_status
from toryo.operations.overview.held_reasons import Moves
from toryo.operations.worktrees import worktree_locks
from toryo.workflow import launch_rules


def _written_in(module: object, pattern: str) -> set[str]:
    return set(re.findall(pattern, Path(str(vars(module)["__file__"])).read_text(encoding="utf-8")))


def reasons() -> set[str]:
    """The union of all declarations."""
    rows = [row for _, table in launch_rules.TASK_TABLE for row in table]
    return {
        *StartBlocker,
        *queue_status._RELEASED_BY,
        *queue_status.OF_AGENTS,
        *_written_in(queue_status, r'_Hold\("([a-z_]+)"'),
        *reason_texts.WORDS,
        *(rule.then.reason for rule in (*rows, *launch_rules.CHAT_ROWS)),
        *LACKS,
        *_written_in(placement, r'PlacementProblem\(\s*"([a-z_]+)"'),
        *_written_in(worktree_locks, r'FileConflict\("([a-z_]+)"'),
    }


def test_every_reason_moves_by_itself_or_is_a_need_or_a_condition_of_the_project() -> None:
    assert reasons() == set(held_reasons.RELEASE)


SILENT = {
    "already_running": "it is worked on, and guards end what runs too long",
    "start_pending": "a start that is not carried out within seconds is given up",
    "cooling_down": "a used-up account is a condition; what time does not help, a need; every other cooldown ends",
    "handing_over": "the other session ends with its grace period",
    "may_conflict": "an agent works on the other task; what holds that one is told",
    "waiting_for_workers": "an agent works on a subtask, or will; what holds that one is told",
    "in_review": "the reviewer's task is held like any other; what a person reviews is a question",
    "checking": "a Coordinator runs them; where there is none, that is a condition",
    "waiting_for_delegation": "a delegation that nobody takes up or ends is told, or expires",
    "no_in_progress_task": "the agent has nothing to do",
    "no_chat_work": "the agent has nothing to do",
}
"""What a launch decision holds with while Overview may say that all goes on: why that is never for long, or right."""


def test_what_a_launch_decision_holds_with_is_told_on_overview_or_never_lasts() -> None:
    rows = [row for _, table in launch_rules.TASK_TABLE for row in table] + list(launch_rules.CHAT_ROWS)
    holds = {row.then.reason for row in rows if row.then.action is launch_rules.Action.HOLD}
    told = {reason for reason in holds if isinstance(held_reasons.RELEASE[reason], Kind | Condition)}
    assert {"reserve_kept", "no_spare_quota", "budget_exhausted"} <= told
    assert holds - told == set(SILENT)


def test_the_declarations_are_found() -> None:
    assert {"blocked", "resting", "no_agent_for_queue", "none", "no_provider", "files_busy", "dependency"} <= reasons()


def test_every_kind_of_need_in_the_table_has_a_source() -> None:
    written = Path(str(needs.__file__)).read_text(encoding="utf-8")
    kinds = {each for each in held_reasons.RELEASE.values() if isinstance(each, Kind)}
    assert [kind for kind in kinds if f"Kind.{kind.name}" not in written] == []


def test_what_a_row_of_the_launch_tables_starts_moves_by_itself() -> None:
    rows = [row for _, table in launch_rules.TASK_TABLE for row in table]
    starts = {row.then.reason for row in rows if row.then.action is launch_rules.Action.START}
    assert {held_reasons.RELEASE[reason] for reason in starts} == {Moves.BY_ITSELF}
