"""Templates of task trees, as they are stored. `formats/task_templates.py` says what one may contain."""

from __future__ import annotations

from typing import Annotated, Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import Key, ProjectId
from toryo.domain.times import Millis

MOST = 100
"""Templates of one project."""


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    project_id: Annotated[ProjectId, Key]
    name: Annotated[str, Key]
    content: dict[str, Any]
    changed_by: str
    changed_at: Millis
