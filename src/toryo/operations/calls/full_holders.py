"""Who has reached a limit of what is stored a moment ago (`stored_limits.py`): a cache of this process."""

from __future__ import annotations

from collections import OrderedDict

from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.times import Millis

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Full:
    until: Millis
    bytes: int
    """What was too much; a call of the same operation that stores less is looked at."""
    refusal: Refusal


class Full:
    """Who has reached a limit a moment ago: they are refused before anything is done. Of this process."""

    def __init__(self) -> None:
        self._full: OrderedDict[tuple[str, str, str], _Full] = OrderedDict()
        """By project, holder and operation."""

    @property
    def anybody(self) -> bool:
        return bool(self._full)

    def note(self, what: tuple[str, str, str], until: Millis, size: int, refusal: Refusal) -> None:
        self._full.pop(what, None)
        self._full[what] = _Full(until, size, refusal)
        if len(self._full) > _REMEMBERED:
            self._full.popitem(last=False)

    def refusal(self, what: tuple[str, str, str], now: Millis, size: int) -> Refusal | None:
        found = self._full.get(what)
        return found.refusal if found is not None and now < found.until and size >= found.bytes else None
