"""Fixtures of the story kit."""

import pytest

from tests.operations.talkers import pair
from tests.stories import crew, fresh, quiet, world
from toryo.operations.people import passwords

__all__ = ["crew", "fresh", "pair", "quiet", "world"]


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests to which the cost of a password is no matter."""
    monkeypatch.setattr(passwords, "MEMORY_KIB", 8)
    monkeypatch.setattr(passwords, "PASSES", 1)
    for each in (passwords._hasher, passwords._nobodys):
        each.cache_clear()
