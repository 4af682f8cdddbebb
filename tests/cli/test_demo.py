"""`toryo demo`: the main job from nothing, as real processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Process, Toryo, clean_environment
from toryo.cli.demo.stories import STORIES, Happened


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What one demo answers; several tests look at it."""
    home = tmp_path_factory.mktemp("demo")
    ended = Toryo(home, clean_environment(home))("demo", "--dir", "crew", "--json")
    assert ended.code == 0, ended.err
    document: dict[str, object] = ended.json
    return document


@pytest.mark.timeout(120)
def test_every_story_is_as_promised(told: dict[str, object]) -> None:
    assert told["ok"] is True
    assert [(each["name"], each["ok"], each["wrong"]) for each in told["stories"]] == [  # type: ignore[attr-defined]
        (each.name, True, []) for each in STORIES
    ]


def test_every_promised_file_is_there(told: dict[str, object]) -> None:
    made = {Path(file).name for each in told["stories"] for file in each["files"]}  # type: ignore[attr-defined]
    assert made == {name for each in STORIES for name in each.promised}
    assert all(Path(file).is_file() for each in told["stories"] for file in each["files"])  # type: ignore[attr-defined]


def test_nobody_was_started_for_nothing(told: dict[str, object]) -> None:
    assert told["idle_starts"] == 0
    assert {each["agent_id"] for each in told["starts"]} == {  # type: ignore[attr-defined]
        "lead", "japanese", "chinese", "generator", "calculator", "joiner",
    }  # fmt: skip


def test_nothing_of_it_is_left_running(told: dict[str, object]) -> None:
    assert not (Path(str(told["directory"])) / ".toryo" / "server.json").exists()


@pytest.mark.timeout(120)
def test_interrupting_puts_everything_away(tmp_path: Path) -> None:
    demo = Process("demo", "--dir", "crew", environment=clean_environment(tmp_path), cwd=tmp_path)
    demo.until("in_progress")
    pid = json.loads((tmp_path / "crew" / ".toryo" / "server.json").read_text())["pid"]
    assert demo.interrupt() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.timeout(120)
def test_kept_up_it_answers_until_interrupted(tmp_path: Path) -> None:
    demo = Process("demo", "--dir", "crew", "--keep", environment=clean_environment(tmp_path), cwd=tmp_path)
    demo.until("stays up at http://")
    toryo = Toryo(tmp_path, {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "crew" / ".toryo")})
    assert len(toryo.json("project", "list")["projects"]) == 3
    assert demo.interrupt() == 130


def test_a_directory_with_other_things_in_it_is_left_alone(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ended = nowhere("demo", "--dir", "mine")
    assert ended.code == 2
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.project)
def test_a_story_of_which_nothing_happened_is_not_as_promised(story, tmp_path: Path) -> None:
    assert story.check(Happened(tmp_path, [], []))


def test_numbers_that_do_not_match_are_noticed(tmp_path: Path) -> None:
    story = next(each for each in STORIES if each.project == "numbers")
    (tmp_path / "seed.txt").write_text("21\n")
    (tmp_path / "result.txt").write_text("43\n")
    assert "result.txt is 43, not twice 21" in story.check(Happened(tmp_path, [], []))
