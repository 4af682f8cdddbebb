"""What the type of a field does not say about how its noun is stored, as marks: `Annotated[str, Key]`.

`storage/tables.py` makes the columns of a noun from its fields, and reads these marks.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple


class Key:
    """Part of what identifies a noun; without such a field, that is its `id`."""


class Small:
    """A number below two thousand million; an enum with this mark is stored as its rank."""


class Filled:
    """A tuple that is stored as an empty list where it is empty, and never as null."""


class To(NamedTuple):
    """The id of a row that is in this table: the database refuses any other."""

    table: str


ProjectId = Annotated[str, To("projects")]
AgentId = Annotated[str, To("agents")]
TaskId = Annotated[str, To("tasks")]
LaunchId = Annotated[str, To("launches")]
"""An id that is a plain text may be of something that is gone, or that has no row."""
