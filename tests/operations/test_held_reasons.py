"""Every reason for which work may be held says who lets it go on: none is missing, and none invented."""

from __future__ import annotations

import re
from pathlib import Path

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
