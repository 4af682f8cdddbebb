"""What the parameters of a template may be: the same in its file and in the calls that use it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST_PARAMETERS = 50
LONGEST_VALUE = 1_000
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\w[\w-]*$")]
