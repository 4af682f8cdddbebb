"""What can be cleared of an agent, a project, a task and a person: each field, and the value that it has then.

The server accepts these values, and `--clear` of the command line sends them. One that is not listed here is never
empty, or has its own way: `provider_options` has `--option KEY=` and `--replace-options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from toryo.domain.tasks import Said

CLEARED: Mapping[str, Mapping[str, Any]] = {
    "edit_agent": {
        "model": None,
        "provider": None,
        "reports_to": None,
        "agent_type": None,
        "system_prompt": "",
        "capabilities": [],
    },
    "edit_project": {
        "description": "",
        "settings": {
            "budget_per_day": None,
            "tokens_per_day": None,
            "required_checks": [],
            "worktree_setup": [],
            "worktree_copy": [],
            "network_hosts": [],
            "setup_network": [],
            "ports": [],
        },
    },
    "edit_task": {
        "assignee_id": None,
        "description": "",
        "context": {},
        "acceptance": [],
        **{each.name: [] if each.default == () else each.default for each in fields(Said)},
    },
    "edit_schedule": {"assignee_id": None, "agent_type": None, "description": "", "context": {}, "acceptance": []},
    "edit_webhook": {
        "events": [],
        "assignee_id": None,
        "agent_type": None,
        "description": "",
        "context": {},
        "acceptance": [],
    },
    "edit_quota": {"limit_5h": None, "limit_day": None, "limit_week": None},
    "change_person": {"email": None},
    "edit_saved_view": {},
    "edit_memory": {},
    "edit_notification_settings": {"quiet_hours": None, "muted": []},
}
"""By operation. Of `settings` each one by its own name."""


def nullable(operation: str) -> frozenset[str]:
    """The fields that null clears. In all others null means: not given."""
    return frozenset(name for name, value in CLEARED[operation].items() if value is None)
