"""The log: JSON lines in a rotated file, warnings in words on stderr, libraries included."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import structlog

from toryo.server import server_log


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before = root.handlers, root.level
    file = server_log.configure(tmp_path, "info")
    yield tmp_path / "server.log"
    file.close()
    root.handlers, root.level = before
    structlog.reset_defaults()


def read(path: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_a_line_is_one_json_object_with_its_time(lines: Path) -> None:
    structlog.get_logger().info("tool_call", agent_id="a", duration_ms=1.5, metadata={"path": Path("/x")})
    (line,) = read(lines)
    assert line["event"] == "tool_call"
    assert line["level"] == "info"
    assert line["agent_id"] == "a"
    assert str(line["timestamp"]).endswith("Z")


def test_only_warnings_are_shown_to_people(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud", pid=7)
    structlog.get_logger().debug("kept to itself")
    assert capsys.readouterr().err == "warning: loud pid=7\n"
    assert [line["event"] for line in read(lines)] == ["quiet", "loud"]


def test_an_error_keeps_its_traceback_in_the_file_and_shows_its_cause(
    lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError("no good")
    except ValueError as error:
        structlog.get_logger().error("call_failed", exc_info=error)
    (line,) = read(lines)
    assert "Traceback" in str(line["traceback"])
    assert capsys.readouterr().err == "error: call_failed ValueError: no good\n"


def test_libraries_are_heard_from_warnings_on(lines: Path) -> None:
    logging.getLogger("uvicorn.error").info("chatter")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    (line,) = read(lines)
    assert (line["event"], line["logger"]) == ("Invalid HTTP request received.", "uvicorn.error")


def test_what_went_wrong_within_a_library_is_in_the_file_too(lines: Path) -> None:
    try:
        raise ValueError("no good")
    except ValueError:
        logging.getLogger("asyncio").exception("Task failed.")
    (line,) = read(lines)
    assert str(line["traceback"]).endswith("ValueError: no good\n")


def test_a_line_is_kept_though_nobody_reads_what_people_are_shown(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "w") as nobody:
        monkeypatch.setattr(sys, "stderr", nobody)
        structlog.get_logger().warning("loud")
    monkeypatch.undo()
    assert [line["event"] for line in read(lines)] == ["loud"]


@pytest.mark.pitfall("F53")
def test_a_file_that_has_grown_is_put_aside_and_the_oldest_forgotten(tmp_path: Path) -> None:
    file = server_log.RotatingFile(tmp_path / "server.log", largest=100, kept=3)
    for number in range(20):
        file.write(b"%02d " % number + b"x" * 60 + b"\n")
    file.close()
    file.write(b"after the end\n")
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["server.log", "server.log.1", "server.log.2", "server.log.3"]
    assert (tmp_path / "server.log.1").read_bytes().startswith(b"18 ")
