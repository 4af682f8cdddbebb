"""What the soak (`soak.py`) calls growth, and how it counts handles. The storm itself is no test: it takes minutes."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.open_handles import ACCEPTED, DATABASE, OTHER, open_handles
from tests.soak import Sample, grown

FLAT = [Sample(at, 100_000 + at % 7, 20 + at % 5, 10 + at % 3, 18) for at in range(30)]


def test_what_goes_up_and_down_has_not_grown() -> None:
    assert grown(FLAT, 12) == []


@pytest.mark.parametrize(("kind", "step"), [("memory", 1000), ("accepted", 1), ("other", 1)])
def test_what_is_a_little_more_in_each_sample_is_told(kind: str, step: int) -> None:
    leaking = [each._replace(**{kind: getattr(each, kind) + step * number}) for number, each in enumerate(FLAT)]
    (told,) = grown(leaking, 12)
    assert told.startswith(f"{kind} grow: ")


def test_connections_to_the_database_may_be_made_late_but_not_be_more_than_the_pools_hold() -> None:
    late = [*FLAT[:25], *(each._replace(database=15) for each in FLAT[25:])]
    assert grown(late, 15) == []
    assert grown(late, 14) == ["15 handles of the database, not 14"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc is Linux's")
def test_handles_are_counted_by_kind(tmp_path: Path) -> None:
    def now() -> dict[str, int]:
        found = open_handles(os.getpid(), {port})
        return {kind: found[kind] - before[kind] for kind in (ACCEPTED, DATABASE, OTHER)}

    with (
        closing(socket.create_server(("127.0.0.1", 0))) as database,
        closing(socket.create_server(("127.0.0.1", 0))) as listening,
    ):
        port = database.getsockname()[1]
        before = open_handles(os.getpid(), {port})
        assert now() == {ACCEPTED: 0, DATABASE: 0, OTHER: 0}
        with closing(socket.create_connection(listening.getsockname())) as client:
            with closing(listening.accept()[0]):
                assert now() == {ACCEPTED: 1, DATABASE: 0, OTHER: 1}, "the client's own end is another one"
            assert now()[OTHER] == 1, client
        with closing(socket.create_connection(("127.0.0.1", port))), (tmp_path / "toryo.db-wal").open("w"):
            assert now()[DATABASE] == 2
        with closing(socket.socketpair()[0]):
            assert now()[OTHER] == 1
