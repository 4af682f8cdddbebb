"""Which data directory is used without being named: only one that is this user's alone and came with no repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Toryo
from tests.environments import clean_environment
from toryo import data_directories, process_locks
from toryo.client import Unreachable, server_discovery
from toryo.data_directories import data_dir
from toryo.data_directory_trust import DATA, Untrusted, check_trusted


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TORYO_DATA_DIR", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def data(project: Path) -> Path:
    """As a server leaves it."""
    place = project / ".toryo"
    place.mkdir(mode=0o700)
    for each in DATA:
        (place / each).touch(mode=0o600)
    (place / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:1"}))
    return place


def git(at: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=P", "-c", "user.email=p@example.org", *words], cwd=at, check=True)


def refused(words: str) -> Untrusted:
    with pytest.raises(Untrusted, match=words) as raised:
        data_dir()
    assert raised.value.instruction
    return raised.value


def test_a_data_directory_that_toryo_made_here_is_used(data: Path):
    assert data_dir() == data
    git(data.parent, "init", "--quiet")
    assert data_dir() == data


def test_a_directory_that_nobody_has_used_is_anybodys(project: Path):
    (project / ".toryo").mkdir(mode=0o755)
    assert check_trusted(project / ".toryo") == project / ".toryo"


@pytest.mark.parametrize("each", DATA)
@pytest.mark.parametrize("below", [False, True])
def test_a_data_directory_of_which_anything_is_in_git_is_refused_whatever_its_mode(
    data: Path, each: str, *, below: bool
):
    top = data.parent.parent if below else data.parent
    git(top, "init", "--quiet")
    git(data.parent, "add", "--force", f".toryo/{each}")
    assert "emove it" in refused("come with a git repository").instruction


def test_a_clone_with_a_data_directory_is_refused(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    git(data.parent, "init", "--quiet")
    git(data.parent, "add", "--force", ".toryo")
    git(data.parent, "commit", "--quiet", "-m", "x")
    before = os.umask(0o077)
    try:
        git(tmp_path, "clone", "--quiet", str(data.parent), "clone")
    finally:
        os.umask(before)
    monkeypatch.chdir(tmp_path / "clone")
    refused("come with a git repository")
    with pytest.raises(Untrusted):
        server_discovery.find(environ={"TORYO_TOKEN": "tpt_mine"})


def plant(place: Path, *, pointer: bool) -> Path:
    """As an agent can write it: a data directory with a server of its own, or a pointer to one that confirms it."""
    data = place / (".else" if pointer else ".toryo")
    data.mkdir(mode=0o700, parents=True)
    (data / "owner.token").touch(mode=0o600)
    (data / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:1"}))
    if pointer:
        data_directories.point(place, data)
    return data


@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("kind", ["in a worktree", "below a worktree", "below a project"])
def test_what_an_agent_may_have_made_where_it_works_is_refused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, *, pointer: bool
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    data_directories.prepare(project)
    at = project / "part"
    if "worktree" in kind:
        git(project, "init", "--quiet")
        git(project, "commit", "--quiet", "--allow-empty", "-m", "x")
        worktree = tmp_path / "home" / "worktrees" / "p" / "t"
        git(project, "worktree", "add", "--quiet", str(worktree))
        at = worktree / "part" if "below" in kind else worktree
    planted = plant(at, pointer=pointer)
    monkeypatch.chdir(at)
    assert f"--data-dir {planted}" in refused("one of them may have created it").instruction
    with pytest.raises(Untrusted):
        data_directories.prepared()
    with pytest.raises(Untrusted):
        server_discovery.find(environ={"TORYO_TOKEN": "tpt_mine"})


def test_a_project_in_another_one_that_a_person_has_made_is_used(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    data_directories.prepare(project)
    (project / "part").mkdir()
    monkeypatch.chdir(project / "part")
    assert data_directories.prepare(project / "part") == data_dir() == data_directories.default_of(project / "part")


@pytest.mark.deep
def test_nothing_starts_in_a_clone_with_a_data_directory(data: Path):
    git(data.parent, "init", "--quiet")
    git(data.parent, "add", "--force", ".toryo")
    for words in (("up", "--no-open"), ("server",), ("coordinator",), ("project", "list"), ("doctor",)):
        ended = Toryo(data.parent, {**clean_environment(data.parent), "TORYO_TOKEN": "tpt_mine"})(*words)
        assert ended.code in (1, 2), (words, ended)
        assert "come with a git repository" in ended.err + ended.out
    assert sorted(path.name for path in data.iterdir()) == sorted(DATA)


def test_asking_git_runs_nothing_that_the_repository_names(data: Path, tmp_path: Path):
    git(data.parent, "init", "--quiet")
    git(data.parent, "add", "--force", ".toryo")
    for name in ("core.fsmonitor", "filter.x.clean", "core.pager", "pager.ls-files", "alias.ls-files"):
        git(data.parent, "config", name, f"touch '{tmp_path}/ran'")
    (data.parent / ".gitattributes").write_text("* filter=x\n")
    refused("come with a git repository")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "mode"), [("", 0o755), ("", 0o750), ("owner.token", 0o644), ("coordinator.token", 0o640)]
)
def test_what_others_can_use_is_refused_with_the_command_that_mends_it(data: Path, name: str, mode: int):
    (data / name).chmod(mode)
    assert f"chmod {'600' if name else '700'} {data / name}" in refused("Other users can access").instruction


def test_a_token_that_is_no_file_is_refused(data: Path, tmp_path: Path):
    (data / "owner.token").unlink()
    (data / "owner.token").symlink_to(tmp_path / "elsewhere")
    refused("owner.token")


def test_what_belongs_to_another_user_is_not_used(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert data_dir() != data
    with pytest.raises(Untrusted, match="belongs to another user"):
        check_trusted(data)


def test_a_data_directory_that_is_named_is_used(data: Path, monkeypatch: pytest.MonkeyPatch):
    data.chmod(0o755)
    assert data_dir(data) == data
    monkeypatch.setenv("TORYO_DATA_DIR", str(data))
    assert data_dir() == data


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("http://127.0.0.1:1", True),
        ("http://localhost:1", True),
        ("unix:///tmp/t.sock", True),
        ("https://evil.example", False),
        ("http://192.0.2.1:8765", False),
    ],
)
def test_a_token_goes_to_a_server_that_only_a_file_names_if_that_is_on_this_machine(
    data: Path, url: str, *, goes: bool
):
    (data / "server.json").write_text(json.dumps({"url": url}))
    lock = process_locks.hold(data / process_locks.SERVER_LOCK)
    assert lock is not None
    for environ in ({"TORYO_TOKEN": "tpt_mine"}, {"TORYO_LAUNCH_CREDENTIAL": "tlc_mine"}):
        if goes:
            assert server_discovery.find(environ=environ).token in environ.values()
        else:
            with pytest.raises(Unreachable, match=r"your token is not sent.*--server"):
                server_discovery.find(environ=environ)
        assert server_discovery.find(environ={**environ, "TORYO_SERVER_URL": url}).token in environ.values()
    named = server_discovery.find(data_dir=data, environ={"TORYO_TOKEN": "tpt_mine"})
    assert (named.url, named.token) == (url, "tpt_mine")
    os.close(lock)


def test_the_directory_itself_is_given_back(data: Path):
    assert check_trusted(data) == data


@pytest.mark.parametrize("broken", ["config", "HEAD"])
def test_a_data_directory_in_a_repository_that_git_cannot_read_is_not_trusted(data: Path, broken: str):
    git(data.parent, "init", "--quiet")
    (data.parent / ".git" / broken).write_text("[no")
    refused("git")
