"""`toryo demo`: the main job from nothing, as real processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from tests.sandboxes import sandboxed
from toryo.cli import task_following
from toryo.cli.command_context import Here
from toryo.cli.demo import display, task_watch, verdict
from toryo.cli.demo.answers import Answers
from toryo.cli.demo.stories import STORIES, Happened
from toryo.cli.exit_codes import Failure
from toryo.client import Client
from toryo.coordinator import processes

__all__ = ["sandboxed"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What one demo answers; several tests look at it."""
    home = tmp_path_factory.mktemp("demo")
    ended = Toryo(home, clean_environment(home))("demo", "--quick", "--dir", "crew", "--json")
    assert ended.code == 0, ended.err
    document: dict[str, object] = ended.json
    return document


@pytest.mark.deep
def test_every_story_is_as_promised(told: dict[str, object]) -> None:
    assert told["ok"] is True
    assert [(story["name"], story["ok"], story["wrong"]) for story in told["stories"]] == [  # type: ignore[attr-defined]
        (story.name, True, []) for story in STORIES
    ]


@pytest.mark.deep
def test_every_promised_file_is_there(told: dict[str, object]) -> None:
    made = {Path(file).name for story in told["stories"] for file in story["files"]}  # type: ignore[attr-defined]
    assert made == {name for story in STORIES for name in story.promised}
    assert all(Path(file).is_file() for story in told["stories"] for file in story["files"])  # type: ignore[attr-defined]


@pytest.mark.deep
def test_nobody_was_started_for_nothing(told: dict[str, object]) -> None:
    assert told["idle_starts"] == 0
    assert {start["agent_id"] for start in told["starts"]} == {  # type: ignore[attr-defined]
        "emil", "nora", "yuki", "iris", "theo",
        "lead", "japanese", "chinese", "generator", "calculator", "joiner", "clerk", "merchant",
    }  # fmt: skip


@pytest.mark.deep
def test_its_agents_run_in_the_sandbox_that_people_get(sandboxed: None, tmp_path: Path) -> None:
    demo = Process("demo", "--dir", "crew", environment=clean_environment(tmp_path), cwd=tmp_path)
    seen: set[str] = set()
    while len(seen) < 3:
        demo.until(" s  ")  # whatever has changed
        seen |= _in_sandboxes(tmp_path)
    assert demo.interrupt() == 130
    assert "sandbox: on (bwrap)" in (tmp_path / "crew" / "demo.log").read_text()


@pytest.mark.deep
def test_nothing_of_it_is_left_running(told: dict[str, object]) -> None:
    assert not (_data(Path(str(told["directory"]))) / "server.json").exists()


@pytest.mark.deep
def test_interrupting_puts_everything_away(tmp_path: Path) -> None:
    demo = Process("demo", "--dir", "crew", environment=clean_environment(tmp_path), cwd=tmp_path)
    demo.until("in_progress")
    pid = json.loads((_data(tmp_path / "crew") / "server.json").read_text())["pid"]
    assert demo.interrupt() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.deep
def test_kept_up_it_answers_until_interrupted(tmp_path: Path) -> None:
    demo = Process("demo", "--quick", "--dir", "crew", "--keep", environment=clean_environment(tmp_path), cwd=tmp_path)
    demo.until("keeps running at http://")
    toryo = Toryo(tmp_path / "crew", clean_environment(tmp_path))
    assert len(toryo.json("project", "list")["projects"]) == 5
    refused = Toryo(tmp_path, clean_environment(tmp_path))("demo", "--dir", "crew")
    assert (refused.code, "toryo down" in refused.err) == (2, True)
    assert demo.interrupt() == 130


def _in_sandboxes(home: Path) -> set[str]:
    """The agents that are at work in one."""
    found = set()
    for pid, each in processes.environments():
        with suppress(OSError):
            if each.get("HOME") == str(home) and Path(f"/proc/{pid}/comm").read_text().strip() == processes.SANDBOX:
                found.add(each["AGENT_ID"])
    return found


def _data(directory: Path) -> Path:
    """The data directory that the pointer of a demo's directory names."""
    return Path((directory / ".toryo" / "data-dir").read_text().strip())


def test_a_demo_may_come_again_where_one_was_but_touches_no_directory_of_somebody_else(tmp_path: Path) -> None:
    toryo = Toryo(tmp_path, clean_environment(tmp_path))
    (tmp_path / "mine").mkdir()
    assert toryo("init", "--yes", "--provider", "none", "--dir", "mine").code == 0
    _refuses_and_touches_nothing(toryo, tmp_path / "mine")
    (tmp_path / "old" / ".toryo").mkdir(parents=True)
    (tmp_path / "old" / ".toryo" / "toryo.db").touch()
    _refuses_and_touches_nothing(toryo, tmp_path / "old")
    (tmp_path / "mine" / ".toryo" / "demo").touch()
    _refuses_and_touches_nothing(toryo, tmp_path / "mine")  # somebody's toryo.yaml, whatever the marker says


def _refuses_and_touches_nothing(toryo: Toryo, directory: Path) -> None:
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    ended = toryo("demo", "--dir", str(directory))
    assert (ended.code, ended.err.count("Choose a new or empty directory")) == (2, 1)
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before


@pytest.mark.deep
def test_a_promise_that_is_not_kept_ends_with_1_and_says_which(tmp_path: Path) -> None:
    """Without `sed` the translators' commands fail; the other stories go on, without git nothing is reviewed."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "awk", "sort", "sleep"):
        (programs / name).symlink_to(shutil.which(name) or "")
    environment = {**clean_environment(tmp_path), "PATH": str(programs)}
    ended = Toryo(tmp_path, environment)("demo", "--quick", "--dir", "crew", "--json")
    assert ended.code == 1
    assert "no git" in ended.err
    assert {story["project"]: story["ok"] for story in ended.json["stories"]} == {
        "teahouse": True, "translation": False, "numbers": True, "timber": True, "offer": True,
    }  # fmt: skip
    [translation] = [story for story in ended.json["stories"] if story["project"] == "translation"]
    assert any("sed" in line or "exit code" in line for line in translation["wrong"])


def test_when_the_time_is_up_it_is_said_what_is_stuck_and_why(
    server: Toryo, project: str, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    task = server.json("task", "add", "Wait", "--project", project, "--assignee", agent, "--status", "in_progress")
    here = Here(data_dir=Path(server.environment["TORYO_DATA_DIR"]))
    seen = task_watch.Seen(time.monotonic(), main={project: task["task_id"]}, after=task_following.newest_event(here))
    task_watch.look(here, seen)
    task_watch.until_over(here, seen, limit_seconds=0.1, changed=lambda: None, died=lambda: None)
    assert not seen.over
    display.stuck(here, seen, 0.1)
    said = capsys.readouterr().err
    assert "Wait (in_progress" in said
    assert "--provider NAME" in said


def test_a_process_that_dies_meanwhile_ends_the_demo(server: Toryo, project: str) -> None:
    task = server.json("task", "add", "Wait", "--project", project)
    here = Here(data_dir=Path(server.environment["TORYO_DATA_DIR"]))
    seen = task_watch.Seen(time.monotonic(), main={project: task["task_id"]}, after=task_following.newest_event(here))
    task_watch.look(here, seen)
    with pytest.raises(Failure, match="coordinator exited"):
        task_watch.until_over(
            here, seen, limit_seconds=30, changed=lambda: None, died=lambda: "The coordinator exited with code 1"
        )


def test_a_start_that_only_looked_counts_as_idle(server: Toryo, project: str, agent: str) -> None:
    """Signing in, reading the task and leaving change nothing; a report does."""
    here = Here(data_dir=Path(server.environment["TORYO_DATA_DIR"]))
    since = task_following.newest_event(here)
    passkey = server.json("agent", "passkey", agent)["passkey"]
    task = server.json("task", "add", "Try", "--project", project, "--assignee", agent, "--status", "in_progress")
    seen = task_watch.Seen(time.monotonic(), main={project: task["task_id"]})
    story = replace(STORIES[0], project=project, promised=(), check=lambda _: [])
    for steps in (["logout"], ["report_completed"]):
        with Client(here.client.address.root) as client:
            token = client.call("authenticate", agent_id=agent, passkey=passkey, project_id=project)["session_token"]
            client.call("report_model", session_token=token, provider="none", model_id="none")
            client.call("get_my_task", session_token=token)
            client.call(steps[0], session_token=token, **({} if steps == ["logout"] else {"result": "success"}))
        task_watch.look(here, seen)
        starts = verdict.judge(here, seen, [story], Path(), since).starts
        assert [start.idle for start in starts] == [True, False][: len(starts)]


def test_a_directory_with_other_things_in_it_is_left_alone(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ended = nowhere("demo", "--dir", "mine")
    assert ended.code == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.project)
def test_a_story_of_which_nothing_happened_is_not_as_promised(story, tmp_path: Path) -> None:
    assert story.check(Happened(tmp_path, [], []))


def test_numbers_that_do_not_match_are_noticed(tmp_path: Path) -> None:
    story = next(each for each in STORIES if each.project == "numbers")
    (tmp_path / "seed.txt").write_text("21\n")
    (tmp_path / "result.txt").write_text("43\n")
    assert "result.txt is 43, not twice 21" in story.check(Happened(tmp_path, [], []))


def test_a_demo_whose_agents_cannot_work_here_ends_at_once_with_what_they_say(
    server: Toryo, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Here(data_dir=Path(server.environment["TORYO_DATA_DIR"]))
    answers = {
        "/events": {"last": 7, "events": [{"kind": "agent.cooling_down", "agent_id": "lead"}]},
        "/launches": {"launches": [{"launch_id": "lau_1"}]},
        "/launches/lau_1/log": {"text": "python: error while loading shared libraries: libx.so\n"},
    }
    monkeypatch.setattr(Here, "get", lambda _here, path, **_params: answers[path])
    seen = task_watch.Seen(
        time.monotonic(), {project: [{"task_id": "tsk_1", "status": "todo"}]}, main={project: "tsk_1"}
    )
    with pytest.raises(Failure, match=r"lead cannot work on this machine.*libx\.so"):
        task_watch.until_over(here, seen, limit_seconds=30, changed=lambda: None, died=lambda: None)


@pytest.mark.deep
def test_a_temporary_directory_is_removed_and_it_is_said_how_to_keep_one(tmp_path: Path) -> None:
    places = clean_environment(tmp_path) | {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    ended = Toryo(tmp_path, places)("demo", "--quick")
    assert ended.code == 0, ended.err
    assert "toryo demo --dir DIR" in ended.out.replace("-m toryo", "toryo")
    assert list((tmp_path / "tmp").glob("toryo-demo-*")) == []
    for told in (
        "Iris asks for approval: Order new tea cups. You would press a in the dashboard",
        "Nobody did it: the demo approves it.",
        "Theo asks: Which colour should the sign have, green or blue?",
        "Nobody answered: the demo says 'green'.",
        "The website is ready for your review.",
        "Nobody did it: the demo merges",
    ):
        assert told in ended.err
    assert "It has a task in progress." in ended.out
    assert "has_in_progress_task" not in ended.out


@pytest.mark.deep
def test_what_is_made_is_in_the_branch_once_it_is_merged(told: dict[str, object]) -> None:
    place = Path(str(told["directory"])) / "teahouse"
    shown = subprocess.run(
        ["git", "log", "--format=%s"], cwd=place, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown[-1] == "The tea house before the demo"
    assert len(shown) > 1
    assert (place / "hours.md").read_text().endswith("- Sunday: closed\n")


class _Person:
    """Answers as a server in which these things wait for a person, and keeps what is asked of it."""

    def __init__(self, *needs: Mapping[str, object]) -> None:
        self.needs, self.asked = list(needs), list[str]()

    def get(self, _path: str, **_wanted: object) -> dict[str, object]:
        return {"items": self.needs}

    def send(self, method: str, path: str, body: object = None) -> dict[str, object]:
        self.asked.append(f"{method} {path} {body}")
        return {}


APPROVAL = {"kind": "approval", "task_id": "t1", "agent_id": "iris", "request": {"title": "Order cups", "version": "3"}}
QUESTION = {"kind": "message", "task_id": "t2", "agent_id": "theo", "text": "Green or blue?"}
SIGN = {"task_id": "t2", "title": "Paint the sign", "status": "in_progress", "approval": "approved"}


def _answers(person: _Person, patience: float) -> tuple[Answers, list[str]]:
    told: list[str] = []
    return Answers(cast("Here", person), "teahouse", patience, told.append), told


def test_what_nobody_settles_the_demo_settles_once() -> None:
    person = _Person(APPROVAL, QUESTION)
    answers, told = _answers(person, 0.0)
    for _ in range(2):
        answers.look([SIGN])
    assert person.asked == [
        "POST /tasks/t1/approve {'version': '3'}",
        "POST /projects/teahouse/chats/theo/messages {'content': 'green'}",
    ]
    assert [line.strip().split(":")[0] for line in told] == [
        "Iris asks for approval", "Nobody did it", "Theo asks", "Nobody answered",
    ]  # fmt: skip
    assert answers.by_people == set()


def test_what_a_person_settles_in_time_is_left_to_them() -> None:
    person = _Person(APPROVAL)
    answers, _ = _answers(person, 3600.0)
    answers.look([])
    person.needs = []
    answers.look([])
    assert (person.asked, answers.by_people) == ([], {"approval"})


def test_a_question_that_was_read_and_not_answered_still_waits() -> None:
    person = _Person(QUESTION)
    answers, told = _answers(person, 3600.0)
    answers.look([SIGN])
    person.needs = []
    answers.look([SIGN])
    assert (answers.by_people, answers.over, len(told)) == (set(), False, 1)
    answers.look([{**SIGN, "status": "completed"}])
    assert answers.by_people == {"question"}


@pytest.mark.deep
def test_starts_are_told_in_the_order_in_which_they_were_ordered(told: dict[str, object]) -> None:
    numbers = [start["project_id"] for start in told["starts"]]  # type: ignore[attr-defined]
    assert len(set(numbers[:4])) > 1, "stories run side by side, and so do their starts"
