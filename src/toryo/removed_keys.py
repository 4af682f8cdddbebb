"""Keys of configurations that went: of a Coordinator's file, and environment variables of the server (`TORYO_…`).

A configuration that still has one is accepted with a warning: nobody is stopped for what once was right. After six
months its line here may be deleted. No date stops anything by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple


class Removed(NamedTuple):
    since: date
    why: str

    @property
    def warns_until(self) -> date:
        return self.since + timedelta(days=183)


REMOVED = {
    "error_protection": Removed(date(2026, 11, 30), "The server decides how long an agent waits after a failure."),
}


def among(keys: Iterable[str]) -> dict[str, str]:
    """Those of the keys that went, each with its warning."""
    return {
        key: f"{key} no longer has an effect. {REMOVED[key].why} Remove it: it is accepted until "
        f"{REMOVED[key].warns_until.isoformat()}."
        for key in sorted(REMOVED.keys() & set(keys))
    }
