"""What states and roles are called in Japanese: the same names as on the dashboard (web/src/i18n/ja.ts)."""

from __future__ import annotations

from enum import Enum

from toryo.domain.agents import Role
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.tasks import Approval, Status
from toryo.domain.worktrees import Kind
from toryo.operations.calls.callers import Login

_NAMES: dict[type[Enum], dict[str, str]] = {
    Status: {
        "backlog": "バックログ",
        "todo": "未着手",
        "in_progress": "進行中",
        "blocked": "ブロック",
        "completed": "完了",
        "failed": "失敗",
        "cancelled": "中止",
    },
    ProjectStatus: {"active": "稼働中", "paused": "一時停止中", "archived": "アーカイブ済み"},
    Approval: {"approved": "承認済み", "pending_approval": "承認待ち", "rejected": "却下済み"},
    Role: {"owner": "オーナー", "manager": "マネージャー", "worker": "ワーカー"},
    Login: {"owner": "オーナー", "member": "メンバー", "viewer": "閲覧者"},
    Kind: {"diff": "差分の取得", "merge": "マージ", "discard": "破棄"},
}


def of(state: Enum) -> str:
    """Its name; where it has none, the word of the wire."""
    return _NAMES.get(type(state), {}).get(str(state.value), str(state.value))
