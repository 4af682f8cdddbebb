"""Faults that change nothing anybody could see, and why: they count neither as caught nor as survivors."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutations.mutator import Fault


@dataclass(frozen=True)
class Equivalent:
    """All faults of this kind in this function whose piece contains `piece`, and then `becomes`."""

    file: str
    function: str
    kind: str
    piece: str
    becomes: str
    reason: str

    def covers(self, fault: Fault) -> bool:
        where = (self.file, self.function, self.kind) == (fault.file, fault.function, fault.kind)
        return where and self.piece in fault.old and self.becomes in fault.new


EQUIVALENT: tuple[Equivalent, ...] = ()


def reason(fault: Fault) -> str:
    """Empty if it is not known to be equivalent."""
    return next((each.reason for each in EQUIVALENT if each.covers(fault)), "")
