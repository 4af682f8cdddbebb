"""What every command shares: exit codes, where messages go, how fast help is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import toryo
from tests.cli.conftest import Toryo
from toryo import process_locks
from toryo.cli.command_context import PRIVATE_NETWORK, warn_of_clear_text

HEAVY = {"httpx", "mcp", "orjson", "pydantic", "rich", "sqlalchemy", "starlette", "uvicorn", "yaml"}


def _loaded_by(*words: str) -> set[str]:
    script = f"import sys; from toryo.cli.main import main\ntry: main({[*words]!r})\nfinally: print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ended.stdout.splitlines()[-1].split())


def test_help_loads_nothing_heavy() -> None:
    """So that it is there at once: the target is 120 ms, most of it Python and Typer."""
    loaded = _loaded_by("--help")
    assert HEAVY.isdisjoint(loaded)
    assert {"toryo.cli.tasks", "toryo.cli.output"}.isdisjoint(loaded)


def test_a_command_loads_no_other_commands() -> None:
    loaded = _loaded_by("why", "--help")
    assert "toryo.cli.why" in loaded
    assert {"toryo.cli.people", "toryo.cli.database"}.isdisjoint(loaded)


def test_help_is_an_answer_and_no_mistake(nowhere: Toryo) -> None:
    ended = nowhere("--help")
    assert (ended.code, ended.err) == (0, "")
    assert "demo" in ended.out


@pytest.mark.parametrize(
    "words",
    [
        ("frobnicate",),
        ("task", "list", "--frobnicate"),
        ("task", "add", "Title", "--project", "p", "--priority", "whatever"),
        ("task", "add", "Title", "--project", "p", "--context", "{"),
        ("task", "edit", "tsk_1"),
        ("project", "add", "name", "--dir", ".", "--set", "language"),
        ("apply", "missing.yaml"),
        ("server", "--port", "70000"),
        ("task", "list", "--project", "p", "--server", "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_one_line_that_says_what_to_do(nowhere: Toryo, words: tuple[str, ...]) -> None:
    ended = nowhere(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("toryo: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("--server", "http://127.0.0.1:9")], ids=["none known", "nobody there"])
def test_no_server_ends_with_3_and_says_how_to_start_one(nowhere: Toryo, words: tuple[str, ...]) -> None:
    ended = nowhere("project", "list", *words)
    assert (ended.code, ended.out) == (3, "")
    assert "toryo up" in ended.err


def test_a_failure_is_one_json_document_where_json_was_asked_for(nowhere: Toryo) -> None:
    ended = nowhere("project", "list", "--json")
    assert ended.code == 3
    assert ended.json["success"] is False
    assert ended.err.startswith("toryo: ")


def test_a_refusal_ends_with_4_and_says_what_is_wrong_in_words_and_its_code_to_scripts(server: Toryo) -> None:
    ended = server("task", "show", "tsk_missing", "--json")
    assert ended.code == 4
    assert ended.json["error"] == "taskNotFound"
    assert ended.json["instruction"]
    assert "taskNotFound" not in ended.err
    assert ended.err.startswith(f"toryo: {ended.json['message']}")
    assert ended.json["instruction"] in ended.err


def test_a_wrong_token_is_a_refusal(server: Toryo) -> None:
    ended = server("project", "list", "--token", "tpt_wrong", "--json")
    assert (ended.code, ended.json["error"]) == (4, "invalidCredentials")


def test_options_of_everywhere_may_stand_before_the_command(server: Toryo) -> None:
    assert server("--json", "project", "list").json == server("project", "list", "--json").json


def test_inside_an_agent_the_owners_token_is_not_read(server: Toryo) -> None:
    """A launch credential is the only credential where there is one, and it opens nothing of people's."""
    ended = server("project", "list", "--json", TORYO_LAUNCH_CREDENTIAL="tlc_of_some_agent")
    assert ended.code == 4


def test_the_data_directory_is_the_one_here_if_there_is_one(server: Toryo, tmp_path: Path) -> None:
    """`.toryo/` of an older Toryo, in the working directory or above, unless another one is named."""
    (tmp_path / ".toryo").mkdir(mode=0o700)
    lock = process_locks.hold(tmp_path / ".toryo" / process_locks.SERVER_LOCK)
    assert lock is not None
    for name in ("server.json", "owner.token"):
        shutil.copy(Path(server.environment["TORYO_DATA_DIR"]) / name, tmp_path / ".toryo" / name)
    below = tmp_path / "src" / "lib"
    below.mkdir(parents=True)
    for path in (tmp_path, below):
        ended = server("project", "list", "--json", cwd=path, TORYO_DATA_DIR="")
        assert (ended.code, ended.json["success"]) == (0, True)
    os.close(lock)


def test_the_version_is_told(nowhere: Toryo) -> None:
    ended = nowhere("--version")
    assert (ended.code, ended.out) == (0, f"toryo {toryo.__version__}\n")


def test_what_is_not_found_is_told_with_the_server_that_was_asked(server: Toryo) -> None:
    url = json.loads((Path(server.environment["TORYO_DATA_DIR"]) / "server.json").read_text())["url"]
    assert f"(Server: {url})" in server("--server", url, "project", "show", "nothing-of-that-name").err


def test_a_token_may_stand_in_a_file_in_place_of_the_arguments(server: Toryo, tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text((Path(server.environment["TORYO_DATA_DIR"]) / "owner.token").read_text())
    bad.write_text("two words\n")
    assert server("project", "list", "--token-file", str(good), TORYO_TOKEN="tpt_wrong").code == 0
    assert server("project", "list", "--token-file", "-", typed=good.read_text(), TORYO_TOKEN="tpt_wrong").code == 0
    assert server("project", "list", "--token-file", str(bad)).code == 2


@pytest.mark.parametrize(
    ("url", "warns"),
    [
        ("http://toryo.invalid:1", True),
        ("https://toryo.invalid:1", False),
        ("http://127.0.0.1:1", False),
        ("http://localhost:1", False),
        ("unix:///nowhere/toryo.sock", False),
    ],
)
def test_a_token_that_would_travel_unencrypted_is_warned_of(
    url: str, warns: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORYO_LAUNCH_CREDENTIAL", raising=False)
    monkeypatch.delenv(PRIVATE_NETWORK, raising=False)
    warn_of_clear_text(url)
    assert ("not encrypted" in capsys.readouterr().err) is warns


def test_the_warning_is_off_where_the_network_itself_is_encrypted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORYO_LAUNCH_CREDENTIAL", raising=False)
    monkeypatch.setenv(PRIVATE_NETWORK, "1")
    warn_of_clear_text("http://toryo.invalid:1")
    assert capsys.readouterr().err == ""
