"""Where clients look for the server and for their credential."""

from __future__ import annotations

import json
import os
import threading
from contextlib import ExitStack

import pytest

from toryo import process_locks
from toryo.client import Unreachable, server_discovery


@pytest.fixture
def place(tmp_path):
    """A data directory while a server runs from it."""
    lock = process_locks.hold(tmp_path / process_locks.SERVER_LOCK)
    assert lock is not None
    (tmp_path / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:4711", "socket": None, "pid": 1}))
    (tmp_path / "owner.token").write_text("tpt_owner\n")
    (tmp_path / "coordinator.token").write_text("tct_coordinator\n")
    yield tmp_path
    os.close(lock)


def test_a_running_server_and_the_owners_token_are_found_in_the_data_directory(place) -> None:
    assert server_discovery.find(data_dir=place, environ={}) == server_discovery.Found(
        "http://127.0.0.1:4711", "tpt_owner"
    )


def test_a_coordinator_finds_its_own_token(place) -> None:
    assert server_discovery.find(data_dir=place, role="coordinator", environ={}).token == "tct_coordinator"


def test_the_environment_names_the_data_directory(place) -> None:
    assert server_discovery.find(environ={"TORYO_DATA_DIR": str(place)}).token == "tpt_owner"


def test_arguments_win_over_the_environment_and_that_over_files(place) -> None:
    env = {"TORYO_SERVER_URL": "http://localhost:1", "TORYO_TOKEN": "tpt_env", "TORYO_DATA_DIR": str(place)}
    assert server_discovery.find("http://localhost:2", "tpt_arg", environ=env) == server_discovery.Found(
        "http://localhost:2", "tpt_arg"
    )
    assert server_discovery.find(environ=env) == server_discovery.Found("http://localhost:1", "tpt_env")


@pytest.mark.parametrize("name", ["server", "token", "data_dir"])
def test_an_empty_argument_is_refused_and_never_means_that_none_was_given(place, name) -> None:
    given = {"data_dir": place, name: ""}
    with pytest.raises(ValueError, match=f"{name} is empty"):
        server_discovery.find(**given, environ={})
    unset = {"TORYO_SERVER_URL": "", "TORYO_TOKEN": "", "TORYO_DATA_DIR": "", "TORYO_LAUNCH_CREDENTIAL": ""}
    assert server_discovery.find(data_dir=place, environ=unset).token == "tpt_owner"


def test_inside_an_agent_its_launch_credential_is_the_only_one(place) -> None:
    env = {"TORYO_LAUNCH_CREDENTIAL": "tlc_1", "TORYO_DATA_DIR": str(place), "TORYO_TOKEN": "tpt_env"}
    assert server_discovery.find(token="tpt_arg", environ=env).token == "tlc_1"
    assert server_discovery.find(environ={**env, "TORYO_SERVER_URL": "http://h:1"}) == server_discovery.Found(
        "http://h:1", "tlc_1"
    )


def test_a_token_file_is_never_shown_to_a_stranger_elsewhere(place, monkeypatch) -> None:
    monkeypatch.chdir(place)
    place.joinpath(".toryo").mkdir(mode=0o700)
    for name in ("owner.token", "server.json", process_locks.SERVER_LOCK):
        (place / name).rename(place / ".toryo" / name).chmod(0o600)
    assert server_discovery.find("https://elsewhere.example", environ={}).token is None
    assert server_discovery.find("http://localhost:9", environ={}).token == "tpt_owner"
    assert server_discovery.find("http://127.0.0.1:4711/", environ={}).token == "tpt_owner"


def test_where_no_server_runs_the_message_says_how_to_start_or_name_one(tmp_path) -> None:
    with pytest.raises(Unreachable, match=r"toryo up.*--server.*--data-dir"):
        server_discovery.find(data_dir=tmp_path, environ={})


def test_a_server_without_a_token_file_is_still_found(place) -> None:
    (place / "owner.token").unlink()
    assert server_discovery.find(data_dir=place, environ={}).token is None


def test_a_server_that_was_killed_is_not_taken_for_one_that_runs(tmp_path) -> None:
    (tmp_path / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:4711"}))
    (tmp_path / "owner.token").write_text("tpt_owner\n")
    with pytest.raises(Unreachable, match="No server is running"):
        server_discovery.find(data_dir=tmp_path, environ={})


@pytest.fixture(params=[process_locks.UP_LOCK, process_locks.SERVER_LOCK])
def starting(tmp_path, request):
    """A data directory whose server has not yet written where it is."""
    lock = process_locks.hold(tmp_path / request.param)
    assert lock is not None
    with ExitStack() as process:
        process.callback(os.close, lock)
        yield process


def test_a_server_that_is_starting_is_waited_for(tmp_path, starting, monkeypatch) -> None:
    looks = iter([None, None, {"url": "http://127.0.0.1:4711"}])
    monkeypatch.setattr(process_locks, "server", lambda _: next(looks))
    assert server_discovery.find(data_dir=tmp_path, environ={}, wait_seconds=60).url == "http://127.0.0.1:4711"


def test_a_server_that_takes_longer_to_start_is_named_with_its_process(tmp_path, starting) -> None:
    with pytest.raises(Unreachable, match=rf"toryo \w+ \(pid {os.getpid()}\) is starting or stopping.*Try again"):
        server_discovery.find(data_dir=tmp_path, environ={}, wait_seconds=0)


def test_nobody_waits_for_a_server_whose_process_has_ended(tmp_path, starting) -> None:
    threading.Timer(0, starting.close).start()
    with pytest.raises(Unreachable, match="No server is running"):
        server_discovery.find(data_dir=tmp_path, environ={}, wait_seconds=3600)
