"""`toryo task artifacts`: lists what checks have left, and saves it nowhere else than asked, over nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from toryo.cli import artifacts
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Failure, Misuse

CHECK = 'mkdir -p shots; echo one > shots/a.txt; echo two > report.html; printf x > "--odd name"'


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Toryo, str]]:
    """A task whose check has left files; with a real server and Coordinator."""
    home = tmp_path_factory.mktemp("studio")
    (home / "project").mkdir()
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    up = Process("up", "--port", "0", environment=environment, cwd=home)
    try:
        up.until("Toryo is up at http://")
        toryo = Toryo(home, environment)
        required = json.dumps([{"command": CHECK, "artifacts": ["shots/**", "*.html", "--odd*"]}])
        words = ("--id", "studio", "--dir", str(home / "project"), "--set", f"required_checks={required}")
        toryo.json("project", "add", "studio", *words)
        toryo.json("agent", "add", "hand", "--role", "worker", "--provider", "command", "--project", "studio")
        words = ("--project", "studio", "--assignee", "hand", "--status", "in_progress")
        task = str(toryo.json("task", "add", "Paint", *words, "--context", '{"command": "true"}')["task_id"])
        assert toryo("task", "watch", task).code == 0
        yield toryo, task
    finally:
        up.end()


def test_the_files_of_a_task_are_listed(done: tuple[Toryo, str]) -> None:
    toryo, task = done
    told = toryo("task", "artifacts", task)
    assert told.code == 0
    assert [line.split()[-1] for line in told.out.splitlines()] == ["FILE", "name", "report.html", "shots/a.txt"]
    assert "4 B" in told.out
    assert "3 files kept" in toryo("task", "show", task).out


def test_they_are_saved_once_and_replaced_only_when_asked(done: tuple[Toryo, str], tmp_path: Path) -> None:
    toryo, task = done
    into = tmp_path / "new" / "evidence"
    names = ["--odd name", "report.html", "shots/a.txt"]
    saved = toryo.json("task", "artifacts", task, "--save", str(into))["saved"]
    assert saved == [str(into / each) for each in names]
    assert [(into / each).read_text() for each in names] == ["x", "two\n", "one\n"]
    (into / "report.html").write_text("mine")
    again = toryo("task", "artifacts", task, "--save", str(into))
    assert (again.code, again.out) == (2, "")
    assert "report.html" in again.err
    assert (into / "report.html").read_text() == "mine"
    assert toryo("task", "artifacts", task, "--save", str(into), "--force").code == 0
    assert (into / "report.html").read_text() == "two\n"


def test_force_alone_and_a_task_that_there_is_not_are_refused(done: tuple[Toryo, str], tmp_path: Path) -> None:
    toryo, task = done
    assert toryo("task", "artifacts", task, "--force").code == 2
    unknown = toryo("task", "artifacts", "tsk_none", "--save", str(tmp_path / "none"))
    assert unknown.code == 4
    assert not (tmp_path / "none").exists()


# --- what a server may answer ----------------------------------------------------------------------------------------


class Server:
    """As `Here`, with files of these names; each has its own name as its content."""

    json = True

    def __init__(self, *names: str) -> None:
        self.files = [
            {"artifact_id": str(number), "name": name, "check_id": "chk_1", "created_at": "2026-11-23T14:03:00Z"}
            for number, name in enumerate(names)
        ]
        self.results: list[dict[str, Any]] = [{"artifacts": self.files}]

    def every(self, _path: str, _key: str) -> list[dict[str, Any]]:
        return self.files

    def get(self, _path: str) -> dict[str, Any]:
        return {"task": {"check_results": self.results}}

    def file(self, path: str) -> bytes:
        return str(self.files[int(path.rpartition("/")[2])]["name"]).encode()

    def answer(self, document: Any, show: Any) -> None:
        self.saved, self.earlier = document["saved"], document["earlier_run"]
        show()


def save(directory: Path, *names: str, force: bool = False) -> list[str]:
    server = Server(*names)
    artifacts.artifacts(cast("Here", server), "tsk_1", directory, force)
    return [str(Path(each).relative_to(directory)) for each in server.saved]


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "a//b", ".", "", "a\nb", "a\\b"])
def test_no_name_leads_out_of_the_directory(tmp_path: Path, name: str) -> None:
    with pytest.raises(Failure, match="cannot be written"):
        save(tmp_path / "into", "good", name)
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("force", [False, True])
def test_a_link_in_the_directory_is_not_followed(tmp_path: Path, force: bool) -> None:
    into, outside = tmp_path / "into", tmp_path / "outside"
    into.mkdir()
    outside.mkdir()
    (into / "shots").symlink_to(outside)
    with pytest.raises(Failure, match="cannot be written"):
        save(into, "shots/a", force=force)
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_names_is_not(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    into = tmp_path / "into"
    into.mkdir()
    (into / "a").symlink_to(tmp_path / "mine")
    with pytest.raises(Misuse, match="already has a;"):
        save(into, "a")
    save(into, "a", force=True)
    assert ((into / "a").read_text(), (tmp_path / "mine").read_text()) == ("a", "mine")


def test_files_of_two_checks_with_one_name_are_both_saved(tmp_path: Path) -> None:
    assert save(tmp_path, "out/a.txt", "out/a.txt", "out/A.txt") == ["out/a.txt", "out/a-2.txt", "out/A-3.txt"]


@pytest.mark.parametrize(
    ("left", "saved"),
    [
        (["report", "report/index.html"], ["report-2", "report/index.html"]),
        (["report/index.html", "report"], ["report/index.html", "report-2"]),
        (["Report", "report/a", "report-2/b"], ["Report-3", "report/a", "report-2/b"]),
        (["a/b.html", "a/b.html/c"], ["a/b-2.html", "a/b.html/c"]),
    ],
)
def test_a_file_that_has_the_name_of_a_directory_gets_another_one(
    tmp_path: Path, left: list[str], saved: list[str]
) -> None:
    assert save(tmp_path, *left) == saved
    assert [(tmp_path / each).read_text() for each in saved] == left


def test_a_task_without_files_writes_nothing(tmp_path: Path) -> None:
    assert save(tmp_path / "into") == []
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    ("results", "earlier"),
    [
        ([{"check": "make test", "left_out": ["No file matches *.png."]}], True),
        ([{"check": "make test"}, {"check": "make lint", "artifacts": [{"artifact_id": "0"}]}], False),
        ([], False),  # the checks are running
    ],
)
def test_files_of_an_earlier_run_are_saved_with_the_words_that_the_last_one_left_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], results: list[dict[str, Any]], earlier: bool
) -> None:
    server = Server("a.png")
    server.results = results
    artifacts.artifacts(cast("Here", server), "tsk_1", tmp_path, False)
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'a.png'}\n"
    assert server.earlier is earlier
    assert ("The last run of the checks left no files. These are of the run of 2026-11-2" in told.err) is earlier


def test_they_are_deleted_one_by_one(done: tuple[Toryo, str], tmp_path: Path) -> None:
    toryo, task = done
    first, *others = [each["artifact_id"] for each in toryo.json("task", "artifacts", task)["artifacts"]]
    both = toryo("task", "artifacts", task, "--save", str(tmp_path / "none"), "--delete", first)
    assert (both.code, (tmp_path / "none").exists()) == (2, False)
    assert toryo("task", "artifacts", task, "--delete", first, "--delete", "art_none").code == 4
    assert len(toryo.json("task", "artifacts", task)["artifacts"]) == 1 + len(others), "nothing is deleted then"
    assert toryo("task", "artifacts", task, "--delete", first, "--delete", first).out == f"deleted {first}\n"
    assert [each["artifact_id"] for each in toryo.json("task", "artifacts", task)["artifacts"]] == others
    again = toryo("task", "artifacts", task, "--delete", first)
    assert again.code == 4
    assert f"toryo task artifacts {task}" in again.err
