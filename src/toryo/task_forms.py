"""What forms of a task have in common, the parameters of calls and the keys of files, and what the parameters of a
template may be.

`domain/tasks.py` says what a task keeps of it (`Said`). A form has its other fields in a class of their own and names
that one last, so that they come first: `class FileTask(PeoplesForm, _NewTask)`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from toryo.path_patterns import LONGEST_PATTERN, MOST_PATTERNS
from toryo.provider_options import MOST_AMOUNT

Touches = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN)]], Field(max_length=MOST_PATTERNS)
]
"""Patterns of paths as callers give them; `patterns` in `domain/conflict_forecast.py` reads them."""


LONGEST_TIME = 40
Time = Annotated[
    str,
    Field(max_length=LONGEST_TIME, json_schema_extra={"format": "date-time"}),
    BeforeValidator(lambda given: given.isoformat() if isinstance(given, datetime) else given),
]
"""As ISO 8601 with an offset; the server reads it. A file may have it without quotes."""


class TaskForm(BaseModel):
    model_config = ConfigDict(defer_build=True)

    touches: Touches | None = Field(
        None, description="The files that it will change, from the top of the repository, with * and **."
    )
    not_before: Time | None = Field(
        None, description="It does not start by itself before this time: ISO 8601 with an offset; null: at any."
    )


class PeoplesForm(TaskForm):
    budget_usd: float | None = Field(
        None,
        ge=0,
        le=MOST_AMOUNT,
        allow_inf_nan=False,
        description="US dollars that it and its subtasks may cost; null: no limit.",
    )
    budget_tokens: int | None = Field(
        None,
        ge=0,
        le=MOST_AMOUNT,
        description="Tokens, input and output, that it and its subtasks may use; null: no limit.",
    )


MOST_PARAMETERS = 50
LONGEST_VALUE = 1_000
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\w[\w-]*$")]
"""Of a template or of one of its parameters."""
