"""Which server this is: the same for every server on one database, over restarts and at any address.

It is derived from when the database was first used, so there is nothing to keep. It is no secret and proves nothing:
it lets a Coordinator that finds another server at a familiar address say so, and leave it alone.
"""

from __future__ import annotations

from toryo.domain.agents import OWNER_ID
from toryo.domain.fast_dataclasses import dataclass
from toryo.operations.calls.credential_verification import digest
from toryo.storage.transaction import Transaction


def of(tx: Transaction) -> str:
    owner = tx.agents.find(OWNER_ID)
    return "" if owner is None else f"srv_{digest(f'server of {owner.created_at}')[:16]}"


@dataclass
class Remembered:
    """The id, once it was read: it never changes."""

    value: str = ""
