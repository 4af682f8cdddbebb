"""How the real programs get onto this machine: once, whole, or not at all. Nothing is fetched here."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.clis import programs
from tests.clis.programs import PROGRAMS


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
    for each in several:
        each.start()
    for each in several:
        each.join(100)
    assert len(made) == 1
    assert (tmp_path / "x-1" / "whole").exists()


def test_an_installation_that_breaks_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    def breaks(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("the line is down")

    with pytest.raises(OSError, match="the line is down"):
        programs._once(tmp_path / "x-1", breaks)
    assert [each.name for each in tmp_path.iterdir()] == ["x-1.lock"]


def test_a_program_that_npm_cannot_get_is_a_loud_skip_or_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORYO_TEST_CLIS", str(tmp_path))
    monkeypatch.setattr(programs, "_run", lambda command, environment: "no route to the registry")
    monkeypatch.delenv("TORYO_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"claude-code@.*: no route to the registry"):
        programs.installed("claude")
    monkeypatch.setenv("TORYO_TEST_REQUIRE", "all")
    with pytest.raises(pytest.fail.Exception, match="no route to the registry"):
        programs.installed("claude")


def test_every_program_is_pinned_to_one_version() -> None:
    assert all(each.version.replace(".", "").isdigit() for each in PROGRAMS.values())
