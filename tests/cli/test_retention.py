"""`toryo db prune` and `toryo export events`: what is old is told, exported and deleted, on a running server."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from tests.stories import World
from toryo.domain.times import DAY, SECOND
from toryo.storage.open_database import open_database, upgrade

AGO = 400 * DAY
FACTS = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was used for a day, 400 days ago, and by whose clock nothing has been deleted."""
    path = tmp_path_factory.mktemp("old")
    with open_database(f"sqlite:///{path / 'toryo.db'}") as database:
        upgrade(database)
        world = World(database, now=int(time.time() * 1000) - AGO)
        world.crew(workers=1)
        for _ in range(FACTS):
            world.task("w1")
            process = world.start("w1")
            process.report()
            world.coordinator().exited(process.launch_id)
    return path


@pytest.fixture
def toryo(place: Path, tmp_path: Path) -> Iterator[Toryo]:
    for file in place.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    environment = {
        **clean_environment(tmp_path),
        "TORYO_DATA_DIR": str(tmp_path),
        "TORYO_RETENTION__AUTOMATIC": "false",
    }
    server = Process("server", "--port", "0", environment=environment, cwd=tmp_path)
    server.until("ready")
    yield Toryo(tmp_path, environment)
    server.end()


def test_what_would_be_deleted_is_shown_then_exported_then_deleted(toryo: Toryo, tmp_path: Path) -> None:
    shown = toryo("db", "prune", "--dry-run")
    assert shown.code == 0
    for words in ("180 days", "indefinitely", "TORYO_RETENTION__TASK_DAYS", "does not delete by itself"):
        assert words in shown.out
    due = {each["kind"]: each["due"] for each in toryo.json("db", "prune", "--dry-run")["kinds"]}
    assert (due["tasks"], due["launches"], due["audit"]) == (FACTS, FACTS - 1, 0)

    file = tmp_path / "events.jsonl"
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 200 * DAY / SECOND))
    assert toryo("export", "events", "--until", day, "--output", str(file)).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    exported = [json.loads(line) for line in file.read_text().splitlines()]
    assert exported == [each for each in toryo.json("events", "--after", "0")["events"] if each["at"] < day]
    assert len(exported) > due["events"]

    assert toryo.json("db", "prune")["deleted"] == {kind: many for kind, many in due.items() if many}
    assert toryo("db", "prune").out.strip() == "nothing is older than its period"
    assert toryo.json("task", "list")["tasks"] == []
    read = toryo("events", "--after", "0")
    assert "are not complete" in read.err
    again = toryo("export", "events")
    assert "are not complete" in again.err
    left = [json.loads(line) for line in again.out.splitlines()]
    assert {each["event_id"] for each in exported} > {each["event_id"] for each in left if each["at"] < day}
    assert toryo("db", "check").code == 0


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["events", "--until", "soon"], "is not a date"),
        (["events", "--output", "there.jsonl"], "already exists"),
        (["events", "--output", "nowhere/there.jsonl"], "no directory"),
        (["events", "--json"], "need a file"),
        (["events", "--project", "nobodys"], "nobodys"),
        (["team.yaml", "--until", "2027-01-01"], "applies to events only"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_writes_nothing(
    toryo: Toryo, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "there.jsonl").write_text("mine\n")
    refused = toryo("export", *words)
    assert refused.code in (2, 4)
    assert said in refused.err
    assert (tmp_path / "there.jsonl").read_text() == "mine\n"
    assert not (tmp_path / "team.yaml").exists()
