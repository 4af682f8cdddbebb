"""How the real programs get onto this machine: once, whole, or not at all. Nothing is fetched here."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests import once
from tests.clis import programs
from tests.clis.programs import PROGRAMS

pytestmark = pytest.mark.deep


def test_however_many_want_a_program_at_once_it_is_installed_once(tmp_path: Path) -> None:
    made: list[Path] = []
    everybody = threading.Barrier(4)

    def makes(folder: Path) -> None:
        made.append(folder)
        (folder / "whole").touch()

    def wants() -> None:
        everybody.wait(100)
        programs._once(tmp_path / "x-1", makes)

    several = [threading.Thread(target=wants) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join(100)
    assert len(made) == 1
    assert (tmp_path / "x-1" / "whole").exists()


def test_an_installation_that_breaks_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    def breaks(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("the line is down")

    with pytest.raises(OSError, match="the line is down"):
        programs._once(tmp_path / "x-1", breaks)
    assert [path.name for path in tmp_path.iterdir()] == ["x-1.lock"]


def test_a_program_that_npm_cannot_get_is_a_loud_skip_or_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORYO_TEST_CLIS", str(tmp_path))
    monkeypatch.setenv("TORYO_TEST_RUN", str(tmp_path))
    monkeypatch.setattr(programs, "_run", lambda command, environment: "no route to the registry")
    monkeypatch.delenv("TORYO_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"claude-code@.*: no route to the registry"):
        programs.installed("claude")
    monkeypatch.setenv("TORYO_TEST_REQUIRE", "all")
    with pytest.raises(pytest.fail.Exception, match="no route to the registry"):
        programs.installed("claude")


def test_what_npm_could_not_get_is_not_tried_again_in_this_run_for_no_program_and_by_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuses(command: list[str], environment: dict[str, str]) -> str:
        asked.append(command[-1])
        return "no route to the registry"

    monkeypatch.setattr(programs, "_run", refuses)
    monkeypatch.setattr(programs, "node_of", lambda oldest: Path("/usr/bin/node"))
    monkeypatch.setenv("TORYO_TEST_CLIS", str(tmp_path / "clis"))
    monkeypatch.setenv("TORYO_TEST_RUN", str(tmp_path))
    monkeypatch.delenv("TORYO_TEST_REQUIRE", raising=False)
    for name in ("claude", "claude", "codex"):
        with pytest.raises(pytest.skip.Exception, match=rf"{PROGRAMS[name].package}@.*: no route to the registry"):
            programs.installed(name)
    assert len(asked) == 1
    other_run = tmp_path / "other"
    other_run.mkdir()
    monkeypatch.setenv("TORYO_TEST_RUN", str(other_run))
    with pytest.raises(pytest.skip.Exception):
        programs.installed("codex")
    assert len(asked) == 2


def test_however_many_workers_need_what_is_not_there_one_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker opens the lock for itself, as these threads do."""
    monkeypatch.setenv("TORYO_TEST_RUN", str(tmp_path))
    tried: list[int] = []
    answers: list[str | None] = []
    everybody = threading.Barrier(4)

    def fails() -> str:
        tried.append(1)
        return "not there"

    def needs() -> None:
        everybody.wait(100)
        answers.append(once.why_not("it", fails))

    several = [threading.Thread(target=needs) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join(100)
    assert len(tried) == 1
    assert answers == ["not there"] * 4


def test_what_could_be_had_is_had_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORYO_TEST_RUN", str(tmp_path))
    tried: list[int] = []
    for _ in range(2):
        assert once.why_not("it", lambda: tried.append(1)) is None
    assert len(tried) == 2


def test_all_workers_of_a_run_share_one_directory() -> None:
    """The first process makes it, and its workers inherit the name."""
    assert Path(os.environ[once.RUN]).is_dir()


def test_every_program_is_pinned_to_one_version() -> None:
    assert all(program.version.replace(".", "").isdigit() for program in PROGRAMS.values())
