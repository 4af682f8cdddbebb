"""The data directory: private, held by one server, tokens made once, `server.json` there only while it serves."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import orjson
import pytest

from toryo.process_locks import SERVER_FILE
from toryo.server import app
from toryo.server.data_directory_setup import COORDINATOR_TOKEN, OWNER_TOKEN, DataDirectory
from toryo.server.http_errors import ConfigurationError
from toryo.settings import AuthSettings, Settings


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_paths_of_the_settings_begin_at_home_as_in_a_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings(socket=Path("~/toryo.sock"), data_dir=Path("~/data"))
    assert (settings.socket, settings.directory()) == (tmp_path / "toryo.sock", tmp_path / "data")


def test_tokens_are_made_once_and_for_this_user_alone(tmp_path: Path) -> None:
    held = DataDirectory.hold(tmp_path / "data")
    coordinator, owner = held.token(COORDINATOR_TOKEN), held.token(OWNER_TOKEN)
    assert coordinator.startswith("tct_")
    assert owner.startswith("tpt_")
    assert (held.token(COORDINATOR_TOKEN), held.token(OWNER_TOKEN)) == (coordinator, owner)
    assert mode(tmp_path / "data") == 0o700
    assert {mode(tmp_path / "data" / name) for name in (COORDINATOR_TOKEN, OWNER_TOKEN)} == {0o600}
    held.release()


def test_a_directory_of_another_user_who_shares_it_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as of_another_user:
        of_another_user.setattr(Path, "chmod", refused)
        held = DataDirectory.hold(tmp_path / "data")
    held.release()


def test_a_token_file_that_everybody_may_read_is_closed(tmp_path: Path) -> None:
    held = DataDirectory.hold(tmp_path)
    held.token(OWNER_TOKEN)
    (tmp_path / OWNER_TOKEN).chmod(0o644)
    held.token(OWNER_TOKEN)
    assert mode(tmp_path / OWNER_TOKEN) == 0o600
    held.release()


@pytest.mark.parametrize("content", [b"", b"tct_wrong_kind_of_token_for_a_person", b"tpt_short", b"\xff\xfe"])
def test_a_damaged_token_file_is_named_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    held = DataDirectory.hold(tmp_path)
    (tmp_path / OWNER_TOKEN).write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        held.token(OWNER_TOKEN)
    assert caught.value.instruction
    held.release()


def test_a_directory_whose_id_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    held = DataDirectory.hold(tmp_path)
    (tmp_path / "directory.id").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path))):
        _ = held.place
    held.release()


def test_only_a_directory_called_toryo_hides_itself_from_git(tmp_path: Path) -> None:
    for name, hidden in ((".toryo", True), ("data", False)):
        DataDirectory.hold(tmp_path / name).release()
        assert (tmp_path / name / ".gitignore").exists() is hidden
    assert (tmp_path / ".toryo" / ".gitignore").read_text() == "*\n"


def test_a_second_server_is_refused_and_told_where_the_first_is(tmp_path: Path) -> None:
    first = DataDirectory.hold(tmp_path)
    first.announce({"url": "http://127.0.0.1:8765", "socket": None, "pid": os.getpid(), "version": "1"})
    with pytest.raises(ConfigurationError, match=r"http://127\.0\.0\.1:8765"):
        DataDirectory.hold(tmp_path)
    first.release()
    DataDirectory.hold(tmp_path).release()


def test_server_json_is_whole_private_and_gone_afterwards(tmp_path: Path) -> None:
    held = DataDirectory.hold(tmp_path)
    held.announce({"url": "a"})
    held.announce({"url": "b"})
    assert orjson.loads((tmp_path / SERVER_FILE).read_bytes()) == {"url": "b"}
    assert mode(tmp_path / SERVER_FILE) == 0o600
    held.release()
    assert not (tmp_path / SERVER_FILE).exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".server")] == []


def test_what_a_killed_server_has_written_about_itself_is_gone_when_the_next_one_starts(tmp_path: Path) -> None:
    (tmp_path / SERVER_FILE).write_text('{"url": "http://127.0.0.1:8765"}')
    held = DataDirectory.hold(tmp_path)
    assert not (tmp_path / SERVER_FILE).exists()
    held.release()


def test_a_directory_that_cannot_be_used_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigurationError) as caught:
            DataDirectory.hold(path)
        assert str(path) in caught.value.message
        assert "--data-dir" in caught.value.instruction


def test_a_new_token_takes_the_place_of_the_old_one_in_its_file(tmp_path: Path) -> None:
    held = DataDirectory.hold(tmp_path)
    before, place = held.token(OWNER_TOKEN), held.place
    new = held.renew(OWNER_TOKEN)
    assert new != before
    assert new.startswith("tpt_")
    assert held.token(OWNER_TOKEN) == new
    assert (tmp_path / OWNER_TOKEN).stat().st_mode & 0o777 == 0o600
    assert held.place == place
    held.release()


@pytest.mark.parametrize("mode", ["local", "open"])
@pytest.mark.parametrize("more", [{"host": "0.0.0.0"}, {"trusted_proxies": ("127.0.0.1",)}])
def test_a_server_that_others_reach_does_not_start_where_agents_register_without_a_key(
    tmp_path: Path, more: dict[str, Any], mode: Any
) -> None:
    auth = AuthSettings(mode=mode, people="tokens")
    with pytest.raises(ConfigurationError, match="every caller can register"):
        app.build(Settings(port=0, data_dir=tmp_path, auth=auth, **more))


def test_a_server_whose_directory_was_deleted_leaves_the_next_ones_files_alone(tmp_path: Path) -> None:
    place = tmp_path / "data"
    first = DataDirectory.hold(place)
    place.rename(tmp_path / "gone")
    second = DataDirectory.hold(place)
    second.announce({"url": "http://127.0.0.1:1", "pid": 1})
    first.release()
    assert (place / "server.json").exists()
    second.release()
    assert not (place / "server.json").exists()
