"""Panels: a person's view of an agent's chat. While one is open, its agent's chat session is kept."""

from __future__ import annotations

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import AgentId, ProjectId
from toryo.domain.times import Millis


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person's open panel on an agent's chat; it expires when the browser stops reporting."""

    id: str
    project_id: ProjectId
    agent_id: AgentId
    person_id: AgentId
    opened_at: Millis
    seen_at: Millis
    closed_at: Millis | None = None
