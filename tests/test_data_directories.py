"""Where the data directory is, and which pointers are believed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toryo import data_directories, process_locks
from toryo.data_directories import data_dir, prepared
from toryo.data_directory_trust import Untrusted


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data directory for Toryo; nothing of this machine decides."""
    monkeypatch.delenv("TORYO_DATA_DIR", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "toryo"


@pytest.fixture
def project(tmp_path: Path, users: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "work" / "bakery"
    made.mkdir(parents=True)
    monkeypatch.chdir(made)
    return made


def test_a_project_has_a_private_data_directory_outside_of_itself(project: Path, users: Path) -> None:
    place = data_directories.prepare(project)
    assert place.is_relative_to(users / "projects")
    assert not place.is_relative_to(project)
    assert {path.stat().st_mode & 0o777 for path in (place, place.parent, project / ".toryo")} == {0o700}
    assert data_directories.prepare(project) == data_directories.data_dir() == place


def test_what_stands_in_the_project_is_no_secret_and_not_for_git(project: Path) -> None:
    place = data_directories.prepare(project)
    left = {path.name: path.read_text() for path in (project / ".toryo").iterdir()}
    assert left == {".gitignore": "*\n", "data-dir": f"{place}\n"}


def test_the_directories_that_agents_work_in_are_not_below_the_data(project: Path, users: Path) -> None:
    for place in (data_directories.prepare(project), users / "data"):
        assert not data_directories.work_dir(place).is_relative_to(place)
    assert data_directories.work_dir(project / "named") == project / "named"


def test_it_is_found_from_below_the_project_as_git_finds_a_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = data_directories.prepare(project)
    (project / "src" / "lib").mkdir(parents=True)
    monkeypatch.chdir(project / "src" / "lib")
    assert data_directories.data_dir() == place


def test_projects_of_one_name_have_different_data(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / project.name
    other.mkdir(parents=True)
    assert data_directories.prepare(other) != data_directories.prepare(project)


@pytest.mark.parametrize("name", ["パン屋", "a b'c", "..hidden", "x" * 200])
def test_any_name_of_a_project_gives_a_directory_below_projects(name: str, tmp_path: Path, users: Path) -> None:
    made = tmp_path / name
    made.mkdir()
    assert data_directories.prepare(made).parent.parent == users / "projects"


def test_outside_of_projects_the_users_own_is_taken_as_before_where_it_has_data(project: Path, users: Path) -> None:
    assert data_directories.data_dir() == data_directories.prepared() == users / "data"
    users.mkdir(parents=True)
    (users / "toryo.db").touch()
    assert data_directories.data_dir() == users


def test_a_directory_that_is_named_wins_over_everything(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_directories.prepare(project)
    monkeypatch.setenv("TORYO_DATA_DIR", "/from/environment")
    assert data_directories.data_dir() == data_directories.prepared() == Path("/from/environment")
    assert data_directories.data_dir("/said") == Path("/said")


def test_an_empty_mark_is_enough_for_a_project_to_get_its_own_data(project: Path) -> None:
    (project / ".toryo").mkdir()
    assert data_directories.data_dir() == data_directories.prepared() == data_directories.default_of(project)
    assert (project / ".toryo" / "data-dir").is_file()


@pytest.mark.parametrize("file", ["toryo.db", "owner.token", "server.json", "server.lock"])
def test_data_that_an_older_toryo_keeps_in_the_project_is_still_used(project: Path, file: str) -> None:
    (project / ".toryo").mkdir(mode=0o700)
    (project / ".toryo" / file).touch(mode=0o600)
    assert data_directories.data_dir() == data_directories.prepared() == project / ".toryo"


# --- pointers that came from elsewhere -------------------------------------------------------------------------------


def _pointing(project: Path, place: Path | str) -> None:
    (project / ".toryo").mkdir(exist_ok=True)
    (project / ".toryo" / "data-dir").write_text(f"{place}\n")


def _refused(words: str) -> None:
    for ask in (data_directories.data_dir, data_directories.prepared):
        with pytest.raises(Untrusted) as caught:
            ask()
        assert words in caught.value.what
        assert re.search("remove (it|the file)", caught.value.instruction)


def test_a_pointer_to_the_data_of_another_project_is_refused(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _pointing(project, data_directories.prepare(other))
    _refused(f"it belongs to {other}")


def test_a_pointer_into_a_cloned_repository_is_refused(project: Path) -> None:
    place = project / "data"
    place.mkdir(mode=0o755)
    (place / "project-directory").write_text(f"{project}\n")
    (place / "owner.token").write_text("tpt_known_to_its_author")
    _pointing(project, place)
    _refused("other users can access it")


def test_a_pointer_to_a_directory_that_names_no_project_is_refused(project: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    _pointing(project, private)
    _refused("it belongs to no project")


@pytest.mark.parametrize("target", ["", "data", "../../share", "/nowhere/at/all", "/etc/passwd", "/dev/zero", "a\x00b"])
def test_a_pointer_to_no_directory_is_refused(project: Path, target: str) -> None:
    _pointing(project, target)
    _refused("refers to the data directory")


def test_a_pointer_that_is_no_plain_file_is_not_followed(project: Path) -> None:
    (project / ".toryo").mkdir()
    pointer = project / ".toryo" / "data-dir"
    data_directories.point(project, data_directories.prepare(project.parent))  # a pointer that would be good
    pointer.rename(project / "good")
    for make in (
        lambda: pointer.symlink_to("/dev/zero"),
        lambda: pointer.symlink_to(project / "good"),
        lambda: os.mkfifo(pointer),
    ):
        make()
        _refused("refers to the data directory")
        pointer.unlink()


def test_what_a_pointer_says_does_not_reach_the_terminal_as_escapes(project: Path) -> None:
    _pointing(project, "/tmp/\x1b]0;title\x07")
    with pytest.raises(Untrusted) as caught:
        data_directories.data_dir()
    assert str(caught.value).isprintable()


def test_a_pointer_through_a_symbolic_link_is_refused(project: Path, tmp_path: Path) -> None:
    place = data_directories.prepare(project)
    link = tmp_path / "link"
    link.symlink_to(place)
    _pointing(project, link)
    _refused("not the full path of a directory")


def test_data_of_a_moved_project_is_not_taken_silently_for_its_own_nor_forgotten(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = data_directories.prepare(project)
    moved = project.rename(project.with_name("moved"))
    monkeypatch.chdir(moved)
    with pytest.raises(Untrusted) as caught:
        data_directories.data_dir()
    assert f"toryo db move --data-dir {place}" in caught.value.instruction


@pytest.fixture
def running(project: Path) -> Iterator[Path]:
    """A project's data directory with a server, this process, that runs from it."""
    place = data_directories.prepare(project)
    (place / process_locks.SERVER_FILE).write_text(json.dumps({"url": "http://127.0.0.1:1", "data_dir": str(place)}))
    lock = process_locks.hold(place / process_locks.SERVER_LOCK)
    assert lock is not None
    yield place
    os.close(lock)


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not tell open files")


def _asked_for(project: Path, place: Path) -> Iterator[Untrusted]:
    """What is answered wherever the missing directory is asked for: with its pointer, without, and by name."""
    for ask in (data_dir, prepared, lambda: data_dir(place), lambda: prepared(place)):
        with pytest.raises(Untrusted) as caught:
            ask()
        yield caught.value
    (project / ".toryo" / "data-dir").unlink()
    for ask in (data_dir, prepared):
        with pytest.raises(Untrusted) as caught:
            ask()
        yield caught.value
    assert not place.exists()


@needs_proc
def test_data_that_was_moved_while_a_server_runs_from_it_is_named_with_that_server_and_where_it_is(
    project: Path, running: Path
) -> None:
    moved = running.rename(running.with_name("away"))
    for refused in _asked_for(project, running):
        assert f"{running} was moved to {moved} while the server (pid {os.getpid()}) was using it" in refused.what
        assert f"kill {os.getpid()}" in refused.instruction
        assert "mv " not in refused.instruction


@needs_proc
def test_data_that_was_deleted_while_a_server_runs_from_it_is_named_with_that_server(
    project: Path, running: Path
) -> None:
    shutil.rmtree(running)
    for refused in _asked_for(project, running):
        assert f"{running} was deleted while the server (pid {os.getpid()}) was using it" in refused.what
        assert f"kill {os.getpid()}" in refused.instruction


@needs_proc
@pytest.mark.parametrize("spoil", ["mode", "token", "pid", "one", "fifo", "directory", "link", "deep", "not held"])
def test_a_directory_that_only_looks_like_the_moved_one_is_not_believed(
    project: Path, running: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = running.rename(running.with_name("away"))
    assert moved / process_locks.SERVER_LOCK in [each.lock for each in data_directories.left_open()]
    file, lock = moved / process_locks.SERVER_FILE, moved / process_locks.SERVER_LOCK
    match spoil:
        case "mode":
            moved.chmod(0o755)
        case "token":
            (moved / "owner.token").touch(mode=0o644)
        case "pid":
            lock.write_text(f"{os.getppid()}\n")
        case "one":
            lock.write_text("1\n")
        case "fifo":
            file.unlink()
            os.mkfifo(file)
        case "directory":
            file.unlink()
            file.mkdir()
        case "link":
            file.symlink_to(file.rename(moved / "other"))
        case "deep":
            file.write_text("[" * 60_000)
        case "not held":
            monkeypatch.setattr(process_locks, "_is_locked", lambda _: False)
    assert data_dir(running) == running


@needs_proc
def test_a_moved_directory_that_a_repository_brought_is_not_believed(running: Path) -> None:
    moved = running.rename(running.with_name("away"))
    for command in (("init", "-q"), ("add", "-f", "away/server.json")):
        subprocess.run(["git", *command], cwd=moved.parent, check=True)
    assert data_dir(running) == running


@pytest.mark.parametrize("number", ["0", "-1", "-1234", "99999999999", "x", ""])
def test_a_process_id_that_would_signal_more_than_one_process_is_none(tmp_path: Path, number: str) -> None:
    file = tmp_path / "up.lock"
    file.write_text(f"{number}\n")
    assert process_locks.pid_in(file) == 0


def test_a_lock_that_is_no_regular_file_is_neither_held_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / process_locks.UP_LOCK)
    (tmp_path / process_locks.SERVER_LOCK).mkdir()
    assert list(process_locks.holders(tmp_path)) == []
    assert process_locks.pid_in(tmp_path / process_locks.UP_LOCK) == 0


def test_data_that_was_moved_and_that_nobody_uses_is_used_again_where_it_is(project: Path) -> None:
    place = data_directories.prepare(project)
    moved = place.rename(place.with_name("away"))
    with pytest.raises(Untrusted) as caught:
        data_dir()
    assert "which does not exist" in caught.value.what
    assert f"cd {project} && toryo db move --data-dir DIR" in caught.value.instruction
    data_directories.point(project, moved)
    assert data_dir() == moved


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_the_mark_of_another_user_decides_nothing(project: Path, users: Path) -> None:
    (project / ".toryo").mkdir()
    (project / ".toryo" / "server.json").write_text('{"url": "http://127.0.0.1:1"}')
    os.chown(project / ".toryo", 65534, 65534)
    assert data_directories.data_dir() == users / "data"


@pytest.mark.parametrize("commanded", [data_dir, prepared])
def test_a_mark_that_is_a_link_is_refused_and_nothing_is_written_where_it_leads(
    project: Path, tmp_path: Path, commanded: Callable[[], Path]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".gitignore").write_text("mine")
    (project / ".toryo").symlink_to(elsewhere)
    with pytest.raises(Untrusted, match="symbolic link"):
        commanded()
    assert (elsewhere / ".gitignore").read_text() == "mine"
    assert [path.name for path in elsewhere.iterdir()] == [".gitignore"]
