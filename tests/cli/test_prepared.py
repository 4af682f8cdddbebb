"""What `prepared` starts is what `python -m toryo` would be: the other tests of commands trust in that."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests import in_process, prepared
from tests.cli.conftest import ENDS_WITHIN, Toryo, started
from tests.environments import clean_environment
from tests.scenarios.programs import Program


@pytest.mark.parametrize(
    ("words", "typed", "code"),
    [
        (["project", "list", "--json"], "", 0),
        (["frobnicate"], "", 2),
        (["project", "list", "--server", "http://127.0.0.1:9"], "", 3),
        (["chat", "ミア", "--project", "nowhere"], "one\ntwo\n", 4),
    ],
    ids=["answered", "mistyped", "no server", "refused"],
)
def test_a_prepared_command_ends_and_prints_as_one_that_is_started(
    server: Toryo, tmp_path: Path, words: list[str], typed: str, code: int
) -> None:
    ends = [run(words, server.environment, tmp_path, typed, ENDS_WITHIN) for run in (prepared.run, started)]
    ends.append(in_process.run(words, server.environment, tmp_path, typed))
    first, second, third = [(end.returncode, end.stdout, end.stderr) for end in ends]
    assert first == second == third
    assert first[0] == code


@pytest.mark.deep
def test_a_server_that_is_forked_is_killed_and_ends_as_one_that_is_started(tmp_path: Path) -> None:
    environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")}
    words = ("server", "--port", "0")
    programs = [Program(f"server-{real}", words, environment, tmp_path, real=real) for real in (False, True)]
    for program in programs:
        program.start().says("ready http://")
        program.kill()
        assert (program.alive, program.ended_with()) == (False, -9)
    for program in programs:
        program.start().says("ready http://")
        assert (program.leave(signal.SIGINT), program.alive) == (130, False)
    forked, started = programs
    assert [line.partition("http://")[0] for line in forked.lines] == [
        line.partition("http://")[0].replace("server-True", "server-False") for line in started.lines
    ]


def test_a_command_that_goes_on_is_ended_and_that_is_an_error(server: Toryo, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        prepared.run(["events", "--follow"], server.environment, tmp_path, "", 1)
