"""What a benchmark hands to `report.py`: one line of JSON per figure, into the file that the report names.

Nothing is written if a benchmark runs by itself; it prints its own tables in any case.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson

FILE = "TORYO_BENCH_FIGURES"


def note(row: str, value: float, told: str = "", floor: float | None = None) -> None:
    """`row` is the row's name in `report.TARGETS`, `value` is in the row's unit; `told`: the figures behind a ratio."""
    if path := os.environ.get(FILE):
        with Path(path).open("ab") as file:
            file.write(orjson.dumps({"row": row, "value": value, "told": told, "floor": floor}) + b"\n")
