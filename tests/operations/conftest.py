"""Fixtures of the story kit."""

from collections.abc import Iterator

import pytest

from tests.operations import project_locks
from tests.operations.talkers import pair
from tests.stories import crew, fresh, quiet, world
from toryo.operations.people import password_hashing

__all__ = ["crew", "fresh", "pair", "quiet", "world"]


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests to which the cost of a password is no matter."""
    monkeypatch.setattr(password_hashing, "MEMORY_KIB", 8)
    monkeypatch.setattr(password_hashing, "PASSES", 1)
    for each in (password_hashing._hasher, password_hashing._nobodys):
        each.cache_clear()


@pytest.fixture(autouse=True)
def locked() -> Iterator[None]:
    with project_locks.watched() as missing:
        yield
    assert missing == []
