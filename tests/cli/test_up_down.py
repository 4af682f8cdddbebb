"""`toryo server`, `toryo up`, `toryo coordinator`: they say when they are ready, and end in order."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from toryo.cli import child_processes, up_down
from toryo.settings import Settings

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `toryo …` with a data directory of the test's own; whatever is left is ended."""
    environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")}
    started: list[Process] = []

    def run(*words: str, real: bool = False) -> Process:
        started.append(Process(*words, environment=environment, cwd=tmp_path, real=real))
        return started[-1]

    yield run
    for each in started:
        each.end()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_server_says_ready_and_leaves_its_address(start: Start, tmp_path: Path) -> None:
    server = start("server", "--port", "0")
    server.until(f"The data directory is {tmp_path / 'data'}")
    server.until("It starts no agents: run toryo coordinator")
    line = server.until("ready http://")
    left = json.loads((tmp_path / "data" / "server.json").read_text())
    assert line == f"ready {left['url']}"
    assert left["pid"] == server.process.pid
    assert left["data_dir"] == str(tmp_path / "data")
    assert (tmp_path / "data" / "server.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "data" / "owner.token").stat().st_mode & 0o777 == 0o600


def test_the_server_ends_with_130_when_interrupted(start: Start, tmp_path: Path) -> None:
    server = start("server", "--port", "0")
    server.until("ready http://")
    assert server.interrupt() == 130
    assert not (tmp_path / "data" / "server.json").exists()


@pytest.mark.pitfall("F52")
def test_a_second_server_in_one_data_directory_is_a_wrong_configuration(start: Start) -> None:
    start("server", "--port", "0").until("ready http://")
    second = start("server", "--port", "0")
    assert second.process.wait(100) == 2


def test_a_database_that_cannot_be_is_a_wrong_configuration(nowhere: Toryo) -> None:
    ended = nowhere("server", "--port", "0", "--database", "oracle://x")
    assert ended.code == 2
    assert ended.err.startswith("toryo: ")


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_up_brings_a_server_and_a_coordinator_and_takes_both_away(start: Start, tmp_path: Path, *, real: bool) -> None:
    up = start("up", "--port", "0", real=real)
    up.until("Toryo is up at http://")
    up.until("coordinator: ")
    pid = json.loads((tmp_path / "data" / "server.json").read_text())["pid"]
    assert up.interrupt() == 130
    assert not _alive(pid)


@pytest.mark.deep
@pytest.mark.parametrize("words", [("up", "--port", "0"), ("server", "--port", "0")])
def test_down_ends_what_was_stopped_by_ctrl_z(start: Start, words: tuple[str, ...]) -> None:
    stopped = start(*words, real=True)
    stopped.until("http://")
    stopped.process.send_signal(signal.SIGSTOP)
    assert start("down", real=True).process.wait(up_down.LEAVES_WITHIN_SECONDS) == 0
    assert stopped.process.wait(100) == 0


def test_up_ended_by_a_service_manager_ends_well(start: Start) -> None:
    up = start("up", "--port", "0")
    up.until("Toryo is up at http://")
    up.process.terminate()
    assert up.process.wait(100) == 0


def test_up_ends_with_1_if_its_server_dies(start: Start, tmp_path: Path) -> None:
    up = start("up", "--port", "0")
    up.until("Toryo is up at http://")
    pid = json.loads((tmp_path / "data" / "server.json").read_text())["pid"]
    os.kill(pid, 9)
    up.until("The server was ended by signal 9 (SIGKILL), so Toryo has stopped.")
    assert up.process.wait(100) == 1


def test_a_coordinator_with_a_mistaken_file_does_not_start(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("max_concurent: 3\n")
    ended = nowhere("coordinator", "-c", "c.yaml", "--server", "http://127.0.0.1:9", "--token", "tct_x")
    assert ended.code == 2
    assert "c.yaml:1" in ended.err
    assert "max_concurrent" in ended.err


def test_coordinator_check_names_a_missing_program(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("ai_providers: {ghost: {cli_command: no-such-program}}\n")
    ended = nowhere("coordinator", "check", "-c", "c.yaml", "--json")
    assert ended.code == 1
    found = {provider["name"]: provider["ok"] for provider in ended.json["providers"]}
    assert found.items() >= {"command": True, "playbook": True, "script": True, "ghost": False}.items()
    assert nowhere("coordinator", "check").code == 0


def test_coordinator_check_names_the_mistakes_of_a_script(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("answers: [{when: name, answer: Mia}]\n")
    (tmp_path / "bad.yaml").write_text("answers:\n  - {when: name, anser: Mia}\n")
    assert nowhere("coordinator", "check", "--script", "good.yaml").code == 0
    ended = nowhere("coordinator", "check", "--script", "good.yaml", "--script", "bad.yaml")
    assert ended.code == 2
    assert "bad.yaml:2" in ended.err
    assert "did you mean answer?" in ended.err
    assert nowhere("coordinator", "check", "--script", "none.yaml").code == 2


def test_a_script_may_stand_in_a_file_as_options_take_it(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "mia.yaml").write_text("script:\n  answers: [{when: name, answer: Mia}]\n")
    assert nowhere("coordinator", "check", "--script", "mia.yaml").code == 0
    (tmp_path / "mia.yaml").write_text("script:\n  answers:\n    - {when: name, anser: Mia}\n")
    assert "mia.yaml:3" in nowhere("coordinator", "check", "--script", "mia.yaml").err


def test_a_file_says_what_agents_reach_at_most_and_keeps_its_words_of_before(nowhere: Toryo, tmp_path: Path) -> None:
    for word in ("off", "on", "model", "allowlist", "open"):
        (tmp_path / "c.yaml").write_text(f"sandbox_network: {word}\nsandbox: none\n")
        assert nowhere("coordinator", "check", "-c", "c.yaml").code == 0
    (tmp_path / "c.yaml").write_text("sandbox_network: sometimes\n")
    assert "must be off, model, allowlist or open" in nowhere("coordinator", "check", "-c", "c.yaml").err


def test_a_variable_that_is_nearly_a_setting_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TORYO_PROT", "TORYO_TOKEN", "TORYO_SERVER_URL", "TORYO_HOST"):
        monkeypatch.setenv(name, "9000")
    up_down._warn_of_near_names(Settings)
    assert capsys.readouterr().err == "toryo: warning: TORYO_PROT is not a setting. Did you mean TORYO_PORT?\n"


def test_a_coordinator_without_a_server_to_be_found_ends_with_3(nowhere: Toryo) -> None:
    ended = nowhere("coordinator")
    assert ended.code == 3


def test_a_server_that_upgrades_its_database_is_waited_for_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, upgrading = tmp_path / "gate", threading.Event()
    os.mkfifo(gate)

    class Announced(threading.Event):
        """Whoever waits without a limit lets the server go on."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout is None:
                gate.write_text("on")
            return super().wait(timeout)

    server = child_processes.Child("server", [], os.environ, lambda *_: upgrading.set())
    says = f"print({child_processes.UPGRADING!r}, flush=True); open({str(gate)!r}).read(); print('ready http://here')"
    monkeypatch.setattr(server, "_command", [sys.executable, "-c", says])
    monkeypatch.setattr(server, "_announced", Announced())
    monkeypatch.setattr(child_processes, "READY_WITHIN_SECONDS", 0)
    server.start()
    try:
        assert upgrading.wait(100)
        assert server.address() == "http://here"
    finally:
        server.kill()


def test_who_interrupts_the_end_once_more_is_told_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    crew = child_processes.Crew(tmp_path, [], [], {}, lambda *_: None)
    interrupts = iter([KeyboardInterrupt(), None])

    def in_order() -> None:
        if (interrupt := next(interrupts)) is not None:
            raise interrupt

    monkeypatch.setattr(crew, "_stop_in_order", in_order)
    with pytest.raises(KeyboardInterrupt):
        crew.stop()
    assert capsys.readouterr().err.startswith("Stopping the agents immediately. Press ^C again")


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_coordinator_that_a_person_interrupts_says_so_in_its_exit_code(
    start: Start, how: signal.Signals, code: int
) -> None:
    start("server", "--port", "0").until("ready http://")
    coordinator = start("coordinator")
    coordinator.until("connected to http://")
    coordinator.process.send_signal(how)
    assert coordinator.process.wait(100) == code
