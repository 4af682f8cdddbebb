"""What a person is told who does something wrong: what happened, why, and what to do. Exit code 2 for misuse, 3 where
there is no server, 4 for what the server refuses; one line, and never a traceback."""

from __future__ import annotations

import errno
import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Toryo
from toryo import data_directories, process_locks
from toryo.coordinator.provider import Exit
from toryo.server import listeners


@pytest.fixture
def stranger() -> Iterator[str]:
    """A web server that is not Toryo."""
    other = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{other.server_port}"
    other.shutdown()
    other.server_close()


def test_in_a_directory_without_a_project_it_says_so(nowhere: Toryo) -> None:
    file = nowhere.home / "toryo.yaml"
    file.write_text("projects: []\n")
    for words in (("task", "list"), ("down",), ("apply", str(file)), ("events",)):
        ended = nowhere(*words)
        assert ended.code == 3
        assert "(there is no .toryo/ here or above). " in ended.err, words
        assert len(ended.err.split(". ")) == 2, "what is wrong, and what to do"
    assert "there is no .toryo/" not in nowhere("--data-dir", str(nowhere.home / "x"), "task", "list").err


def test_what_is_no_toryo_server_is_named_with_its_address(nowhere: Toryo, stranger: str) -> None:
    ended = nowhere("--server", stranger, "--token", "x", "task", "list")
    assert ended.code == 3
    assert f"{stranger}: " in ended.err
    assert "Toryo server" in ended.err


def test_a_token_that_is_not_known_is_answered_with_where_to_get_one(server: Toryo) -> None:
    url = json.loads((server.home / "data" / "server.json").read_bytes())["url"]
    ended = server("--token", "nonsense", "task", "list")
    assert ended.code == 4
    assert "This token is unknown." in ended.err
    assert "Check --token, --token-file or TORYO_TOKEN, or omit it" in ended.err
    assert "toryo token person add" in ended.err
    assert "(Server:" not in ended.err
    assert "(Server: http://" in server("--token", "nonsense", "--server", url, "task", "list").err


def test_who_gives_no_token_is_told_where_one_comes_from(server: Toryo, nowhere: Toryo) -> None:
    url = json.loads((server.home / "data" / "server.json").read_bytes())["url"]
    ended = nowhere("--server", url, "task", "list")
    assert ended.code == 4
    assert "No token was given." in ended.err
    for source in ("--token-file FILE", "TORYO_TOKEN", "toryo token person add"):
        assert source in ended.err
    other = nowhere.home / "other"
    other.mkdir()
    (other / "owner.token").write_text("tpt_other\n")
    assert (
        "This server does not accept the token in the data directory"
        in nowhere("--server", url, "--data-dir", str(other), "task", "list").err
    )


def test_a_token_that_is_empty_is_refused_wherever_it_comes_from_but_for_the_environment(
    server: Toryo, tmp_path: Path
) -> None:
    """Else a script whose variable is not set acts as the owner of the data directory."""
    file = tmp_path / "token"
    for text in ("", "\n", "two words\n", "\udcff\udcfe"):
        file.write_text(text, errors="surrogateescape")
        ended = server("--token-file", str(file), "task", "list")
        assert (ended.code, ended.out) == (2, "")
        assert (
            ended.err
            == f"toryo: {file} does not contain a token. It must contain exactly one token and nothing else.\n"
        )
    assert server("task", "list", "--token-file", "-").err.startswith("toryo: stdin does not contain a token.")
    for words in (("--token", "", "task", "list"), ("task", "list", "--token", " ")):
        ended = server(*words)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("toryo: --token is empty. Enter a value, or omit it.")
    assert server("task", "list", "--token", "", "--json").json["success"] is False
    assert server("task", "list", TORYO_TOKEN="", TORYO_SERVER_URL="").code == 0


def test_a_project_in_a_directory_that_is_not_there_is_refused(server: Toryo, project: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    file = tmp_path / "toryo.yaml"
    file.write_text("projects:\n  - id: gone\n    name: Gone\n    directory: gone\n")
    for words in (
        ("project", "add", "Gone", "--dir", str(gone)),
        ("project", "edit", project, "--dir", str(gone)),
        ("apply", str(file)),
    ):
        ended = server(*words)
        assert ended.code == 2, words
        assert f"{gone} is missing" in ended.err
    assert "toryo.yaml:4" in ended.err
    file.write_text("")
    assert "is not a directory" in server("project", "add", "Gone", "--dir", str(file)).err


@pytest.mark.parametrize(
    "words", [("up", "--port", "0"), ("server", "--port", "0"), ("down",), ("task", "list"), ("coordinator",)]
)
def test_a_data_directory_that_is_a_file_is_called_one(nowhere: Toryo, words: tuple[str, ...]) -> None:
    file = nowhere.home / "file"
    file.write_text("")
    ended = nowhere(*words, "--data-dir", str(file))
    assert (ended.code, ended.out) == (2, "")
    assert (
        ended.err
        == f"toryo: {file} is a file, not a directory. Choose a directory with --data-dir or TORYO_DATA_DIR.\n"
    )


def test_a_port_of_our_own_server_is_named_with_its_data_directory_and_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: str
) -> None:
    port = int(stranger.rpartition(":")[2])  # no server of this machine has it
    place = tmp_path / "my data"
    place.mkdir()
    (place / "server.json").write_text(json.dumps({"url": stranger}))
    monkeypatch.setattr(data_directories, "every", lambda: [tmp_path / "none", place])
    in_use = OSError(errno.EADDRINUSE, "in use")
    killed = listeners._cannot_listen("127.0.0.1", port, in_use)
    assert killed.message == f"Port {port} on 127.0.0.1 is already in use by another program."
    lock = process_locks.hold(place / process_locks.SERVER_LOCK)
    assert lock is not None
    try:
        told = listeners._cannot_listen("127.0.0.1", port, in_use)
        other = listeners._cannot_listen("127.0.0.1", 0, in_use)
    finally:
        os.close(lock)
    assert f"the Toryo server of the data directory {place} (pid {os.getpid()})" in told.message
    assert f"toryo down --data-dir '{place}'" in told.instruction
    assert "by another program" in other.message


def test_what_a_killed_server_has_left_behind_names_nobody(nowhere: Toryo, stranger: str) -> None:
    """Another program has its port since: it is not the Toryo that is to be stopped, and is sent no token."""
    place = nowhere.home / ".local" / "share" / "toryo" / "data"
    for words in (("up",), ("server",)):
        place.mkdir(parents=True, exist_ok=True)
        (place / "server.json").write_text(json.dumps({"url": stranger}))
        asked = nowhere("task", "list")
        assert asked.code == 3
        assert "No server is running" in asked.err
        ended = nowhere(*words, "--port", stranger.rpartition(":")[2])
        assert ended.code == 2
        assert "is already in use by another program. Choose another port with --port" in ended.err
        assert "toryo down" not in ended.err


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (Exit(0, None), "with exit code 0"),
        (Exit(None, 9), "by signal 9 (SIGKILL)"),
        (Exit(None, 99), "by signal 99"),
        (Exit(None, None), "(exit code unknown)"),
    ],
)
def test_how_a_process_ended_is_told_in_words(end: Exit, told: str) -> None:
    assert end.told == told


MISUSED: dict[tuple[str, ...], str] = {
    ("init", "--provider", "cluade"): "There is no program 'cluade'. Did you mean claude? Use one of ",
    ("task", "add"): "Missing argument 'TITLE'. See `toryo task add --help`.",
    (
        "agent",
        "add",
        "x",
    ): "Missing option '--role'. Choose from: worker, manager, owner. See `toryo agent add --help`.",
    ("events", "--after", "x"): ". See `toryo events --help`.",
    ("task", "list", "--status", "finished"): "--status: 'finished' is not known. Use one of: backlog, todo, ",
    ("up", "--port", "99999"): "--port must be at most 65535 (given: 99999). See",
    ("playbook", "check", "nofile"): "nofile does not exist. Pass the path of a playbook or of a toryo.yaml.",
}


@pytest.mark.parametrize("words", MISUSED)
def test_misuse_is_one_line_that_says_what_to_do(nowhere: Toryo, words: tuple[str, ...]) -> None:
    ended = nowhere(*words)
    assert (ended.code, ended.out) == (2, "") or words[0] == "init"
    assert MISUSED[words] in ended.err
    assert len(ended.err.splitlines()) == 1


REFUSED: dict[tuple[str, ...], str] = {
    ("task", "add", "x", "--depends-on", "nope"): "is not a task of this project. List them: toryo task list",
    ("task", "add", "x", "--status", "in_progress"): "A task cannot start in progress without an assignee.",
    ("task", "add", "x", "--assignee", "nope"): "There is no agent nope.",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_refusal_is_one_line_that_says_what_to_do(server: Toryo, project: str, words: tuple[str, ...]) -> None:
    ended = server(*words, "--project", project)
    assert (ended.code, ended.out) == (4, "")
    assert REFUSED[words] in ended.err
    assert len(ended.err.splitlines()) == 1
    assert server.json("task", "list", "--project", project)["tasks"] == []


@pytest.mark.parametrize(
    "words", [("events", "--project", "nope"), ("events", "--agent", "nope"), ("logs", "lau_nope")]
)
def test_what_is_not_there_is_refused_and_not_answered_with_nothing(server: Toryo, words: tuple[str, ...]) -> None:
    ended = server(*words)
    assert (ended.code, ended.out) == (4, "")
    assert "There is no" in ended.err
