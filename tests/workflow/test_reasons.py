"""Every reason for which work may be held has its row, which says who lets it go on: none is missing, none invented."""

from __future__ import annotations

import re
from pathlib import Path

from toryo.domain.conditions import Condition
from toryo.domain.coordinators import LACKS
from toryo.domain.needs import Kind
from toryo.domain.task_readiness import StartBlocker
from toryo.operations.calls import fault_isolation
from toryo.operations.launches import placement, reason_texts
from toryo.operations.overview import agent_diagnosis, needs, queue_status
from toryo.operations.worktrees import worktree_locks
from toryo.workflow import launch_rules, line_rules
from toryo.workflow.reasons import REASONS, Advice, Moves, Reason


def _written_in(module: object, pattern: str) -> set[str]:
    return set(re.findall(pattern, Path(str(vars(module)["__file__"])).read_text(encoding="utf-8")))


def reasons() -> set[str]:
    """The union of all declarations."""
    rows = [row for _, table in launch_rules.TASK_TABLE for row in table]
    return {
        *StartBlocker,
        *_written_in(queue_status, r'_Hold\("([a-z_]+)"'),
        *_written_in(reason_texts, r'sentence\("([a-z_]+)"'),
        fault_isolation.REASON,
        *(rule.then.reason for rule in (*rows, *launch_rules.CHAT_ROWS, *line_rules.LINE_ROWS)),
        *LACKS,
        *_written_in(placement, r'PlacementProblem\(\s*"([a-z_]+)"'),
        *_written_in(worktree_locks, r'FileConflict\("([a-z_]+)"'),
    }


def test_every_reason_has_a_row_and_every_row_a_reason() -> None:
    assert reasons() == set(REASONS)


def test_what_is_looked_up_for_a_reason_can_be_found() -> None:
    assert agent_diagnosis._ADVICE.keys() == set(Advice) == {each.advice for each in REASONS.values() if each.advice}


def test_a_task_that_cannot_start_says_what_releases_it_from_its_row_or_from_its_facts() -> None:
    default = Reason("x", Moves.BY_ITSELF).released_by
    from_rows = {each for each in StartBlocker if REASONS[each].released_by != default}
    assert from_rows | queue_status._BY_FACTS.keys() == set(StartBlocker)
    assert not from_rows & queue_status._BY_FACTS.keys()


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
    told = {reason for reason in holds if isinstance(REASONS[reason].lets_go, Kind | Condition)}
    assert {"reserve_kept", "no_spare_quota", "budget_exhausted"} <= told
    assert holds - told == set(SILENT)


def test_the_declarations_are_found() -> None:
    assert {"blocked", "resting", "no_agent_for_queue", "none", "no_provider", "files_busy", "dependency"} <= reasons()


def test_every_kind_of_need_in_the_table_has_a_source() -> None:
    written = "".join(each.read_text(encoding="utf-8") for each in Path(needs.__path__[0]).glob("*.py"))
    kinds = {each.lets_go for each in REASONS.values() if isinstance(each.lets_go, Kind)}
    assert [kind for kind in kinds if f"Kind.{kind.name}" not in written] == []


def test_what_a_row_of_the_launch_tables_starts_moves_by_itself() -> None:
    rows = [row for _, table in launch_rules.TASK_TABLE for row in table]
    starts = {row.then.reason for row in rows if row.then.action is launch_rules.Action.START}
    assert {REASONS[reason].lets_go for reason in starts} == {Moves.BY_ITSELF}
