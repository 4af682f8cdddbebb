"""Hashes and verifies passwords (argon2id). Slow on purpose: never call it within a transaction.

argon2 is imported on first use, so that it does not slow down the start of the server.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from toryo.domain import passwords
from toryo.domain.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PASSES, MEMORY_KIB, LANES = 2, 47_104, 1
"""46 MiB and two passes: twice the least that OWASP names; a few tenths of a second on a busy core."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check before the transaction; valid while the stored hash is this one."""

    password_hash: str | None
    fits: bool
    new_hash: str | None = None


def check(password_hash: str | None, password: str) -> Checked:
    """Takes as long where there is no such person, or no password."""
    nobodys = _nobodys()
    fits = _verified(password_hash or nobodys, password)
    return Checked(password_hash, fits and password_hash is not None)


def check_and_hash(password_hash: str | None, old: str | None, new: str) -> Checked:
    """As `check`, with the hash of a new password besides (none for one that is too weak)."""
    fits = old is not None and password_hash is not None and _verified(password_hash, old)
    strong = passwords.SHORTEST_PASSWORD <= len(new) <= passwords.LONGEST_PASSWORD
    return Checked(password_hash, fits, _hasher().hash(new) if strong else None)


def _verified(password_hash: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher().verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


@lru_cache(maxsize=1)
def _nobodys() -> str:
    """Verified where there is no such person, so that asking takes as long."""
    return _hasher().hash("nobody has this password")


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)
