"""`toryo run`, `toryo plan`, and what the file says for both: parameters, and what does not start by itself. The whole
story with real processes is tests/scenarios/test_run.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import manifest, manifest_starts, plan, run
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Misuse
from toryo.cli.run import background, follow, standing
from toryo.cli.run.background import Supported
from toryo.cli.run.summary import Summary
from toryo.client import Client

Perform = Callable[..., Summary]


@pytest.fixture
def perform(server: Toryo, monkeypatch: pytest.MonkeyPatch) -> Perform:
    """Runs a file as the command does, with the server that is there and no Coordinator; nothing is waited for."""
    monkeypatch.setattr(follow, "SETTLES_SECONDS", 0.0)
    place = Path(server.environment["TORYO_DATA_DIR"])
    here, there = Here(data_dir=place), Supported(data_dir=place)
    return lambda file: run._performed(here, there, manifest.noted(file), 0.0, yes=True)


@pytest.fixture
def file(tmp_path: Path, project: str, agent: str) -> Callable[..., Path]:
    """A file with tasks of the test's own project and agent, each with the keys that are given."""

    def write(**tasks: str) -> Path:
        entries = [
            f"  - {{project: {project}, assignee: {agent}, title: {title}, {more}}}" for title, more in tasks.items()
        ]
        path = tmp_path / "toryo.yaml"
        path.write_text("\n".join(["tasks:", *entries]) + "\n", "utf-8")
        return path

    return write


def ended(owner: Client, project: str, **by_title: str) -> None:
    """Tasks end as a person may end them."""
    for task in owner.rest("GET", f"/projects/{project}/tasks")["tasks"]:
        if task["title"] in by_title:
            body = {"status": by_title[task["title"]], "reason": "because"}
            owner.rest("POST", f"/tasks/{task['task_id']}/move", body)


# --- how it ends -----------------------------------------------------------------------------------------------------


def test_when_all_is_done_it_ends_with_0_and_files_nothing_twice(
    perform: Perform,
    file: Callable[..., Path],
    server: Toryo,
    owner: Client,
    project: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = file(Bake="status: in_progress", Sell="depends_on: [Bake]")
    server("apply", str(path))
    ended(owner, project, Bake="completed")
    ended(owner, project, Sell="in_progress")
    ended(owner, project, Sell="completed")
    capsys.readouterr()
    found = perform(path)
    assert (found.outcome, found.exit_code, len(found.completed)) == ("done", 0, 2)
    assert "0 tasks created, 2 were there already" in capsys.readouterr().out
    assert [found.title(each) for each in found.chain.chain] == ["Bake", "Sell"]
    assert "✔ 2 of 2 tasks completed" in "\n".join(found.told())


def test_what_only_a_person_starts_ends_with_5_and_says_how(
    perform: Perform, file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = perform(file(Bake="priority: high", Sell="depends_on: [Bake]"))
    assert (found.outcome, found.exit_code) == ("person_needed", 5)
    said = capsys.readouterr().out
    assert "2 tasks do not start by themselves: “Bake”, “Sell” start when you start them." in said
    assert "start: when_ready" in said


@pytest.mark.parametrize("status", ["failed", "blocked", "cancelled"])
def test_what_failed_or_is_blocked_ends_with_1_with_what_waits_for_it(
    status: str, perform: Perform, file: Callable[..., Path], server: Toryo, owner: Client, project: str
) -> None:
    path = file(Bake="status: in_progress", Sell="depends_on: [Bake], start: when_ready")
    server("apply", str(path))
    ended(owner, project, Bake=status)
    found = perform(path)
    assert (found.outcome, found.exit_code) == ("failed", 1)
    assert [each["stand"] for each in found.document()["tasks"]] == ["failed", "failed"]
    assert "0 of 2 tasks completed" in "\n".join(found.told())


def test_in_a_paused_project_it_ends_with_5_and_says_how_it_goes_on(
    perform: Perform, file: Callable[..., Path], owner: Client, project: str
) -> None:
    owner.rest("POST", f"/projects/{project}/pause")
    found = perform(file(Bake="start: when_ready"))
    assert found.exit_code == 5
    assert f"toryo project resume {project}" in "\n".join(found.told())


def test_what_is_left_for_later_ends_with_5(perform: Perform, file: Callable[..., Path]) -> None:
    assert perform(file(Bake="status: backlog")).exit_code == 5


def test_other_tasks_of_the_project_are_not_waited_for(
    perform: Perform, file: Callable[..., Path], server: Toryo, owner: Client, project: str
) -> None:
    owner.rest("POST", f"/projects/{project}/tasks", {"title": "Of somebody else"})
    path = file(Bake="status: in_progress")
    server("apply", str(path))
    ended(owner, project, Bake="completed")
    found = perform(path)
    assert (found.exit_code, len(found.filed.every)) == (0, 1)


def test_the_document_has_everything_that_people_are_told(perform: Perform, file: Callable[..., Path]) -> None:
    document = perform(file(Bake="status: backlog")).document()
    assert {"success", "outcome", "tasks", "merged", "files_changed", "seconds", "critical_path_seconds", "needs"} <= (
        document.keys()
    )
    assert (document["success"], document["outcome"], document["cost_usd"]) == (False, "person_needed", None)


def test_a_file_without_tasks_is_refused_before_anything_is_started(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "toryo.yaml").write_text("projects: []\n")
    found = nowhere("run")
    assert (found.code, "has no tasks" in found.err) == (2, True)
    assert not (tmp_path / ".local").exists()


def test_a_mistake_in_the_file_ends_with_2_and_its_line(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "toryo.yaml").write_text("tasks:\n  - {project: shop, titel: Bake}\n")
    for command in ("run", "plan"):
        found = nowhere(command)
        assert (found.code, "toryo.yaml:2" in found.err) == (2, True)


def test_a_named_server_that_is_away_ends_with_3(nowhere: Toryo, tmp_path: Path, file: Callable[..., Path]) -> None:
    file(Bake="priority: high")
    for command in ("run", "plan"):
        assert nowhere(command, "--server", "http://127.0.0.1:9", cwd=tmp_path).code == 3


def test_a_server_that_somebody_else_has_started_is_not_stopped(tmp_path: Path) -> None:
    there = background.Background(tmp_path)
    (tmp_path / background.MARK).write_text("123\n")
    (tmp_path / "up.lock").write_text("124\n")
    assert not there.own
    (tmp_path / "up.lock").write_text("123\n")
    assert there.own


# --- parameters ------------------------------------------------------------------------------------------------------

RELEASE = """\
parameters:
  version: {description: Such as 1.4.0}
  branch: {default: main}
projects:
  - {name: Shop, directory: .}
tasks:
  - project: Shop
    title: Build {{version}}
    context: {command: "echo {{branch}}"}
  - project: Shop
    title: Publish {{version}}
    depends_on: ["Build {{version}}"]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "release.yaml"
    path.write_text(text, "utf-8")
    return path


def test_parameters_stand_in_every_text_of_a_task_and_in_commands_as_one_word(tmp_path: Path) -> None:
    tasks = manifest.read(written(tmp_path, RELEASE), {"version": "1.4.0", "branch": "a; rm -rf /"}).tasks
    assert [each.title for each in tasks] == ["Build 1.4.0", "Publish 1.4.0"]
    assert tasks[1].depends_on == ["Build 1.4.0"]
    assert tasks[0].context == {"command": "echo 'a; rm -rf /'"}


@pytest.mark.parametrize(
    ("text", "values", "told"),
    [
        (RELEASE, {}, "release.yaml:2: version has no value: add --set version=VALUE"),
        (RELEASE, {"version": "1", "brunch": "x"}, "there is no parameter 'brunch'; did you mean branch?"),
        (RELEASE.replace("{{branch}}", "{{brunch}}"), {"version": "1"}, "is not one of the parameters"),
        ("tasks: []\n", {"version": "1"}, "this file has none"),
    ],
)
def test_a_parameter_that_is_missing_or_unknown_is_a_mistake_with_its_line(
    text: str, values: dict[str, str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(Misuse) as refused:
        manifest.read(written(tmp_path, text), values)
    assert told in str(refused.value)


def test_braces_of_a_file_without_parameters_stay(tmp_path: Path) -> None:
    text = "projects: [{name: Shop, directory: .}]\ntasks: [{project: Shop, title: 'Explain {{braces}}'}]\n"
    assert manifest.read(written(tmp_path, text)).tasks[0].title == "Explain {{braces}}"


def test_apply_takes_the_values_of_parameters(server: Toryo, project: str, tmp_path: Path) -> None:
    path = written(tmp_path, RELEASE.replace("Shop", project).replace("projects:\n", "agents: []\n").replace(
        f"  - {{name: {project}, directory: .}}\n", ""
    ))  # fmt: skip
    assert "(Build 2.0)" in server("apply", str(path), "--set", "version=2.0").out
    assert server("apply", str(path), "--set", "version=2.0", "--set", "version=3").code == 2


# --- what does not start by itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "there", "setting", "expected"),
    [
        ({"assignee": "w1"}, None, "when_ready", None),
        ({"assignee": "w1"}, None, "manual", "manual"),
        ({"assignee": "w1", "start": "when_ready"}, None, "manual", None),
        ({"assignee": "w1", "start": "manual"}, None, "when_ready", "manual"),
        ({"assignee": "w1", "status": "in_progress"}, None, "manual", None),
        ({"assignee": "w1", "status": "backlog"}, None, "when_ready", "backlog"),
        ({}, None, "when_ready", "unassigned"),
        ({"assignee": "ann"}, None, "when_ready", "person"),
        ({"assignee": "any:python"}, None, "manual", None),
        ({}, {"status": "todo", "assignee_id": "w1", "start": "manual"}, "when_ready", "manual"),
        ({}, {"status": "todo", "assignee_id": "w1", "start": None}, "when_ready", None),
        ({}, {"status": "completed", "assignee_id": None}, "manual", None),
        ({}, {"status": "in_progress", "assignee_id": "w1"}, "manual", None),
        ({}, {"status": "todo", "assignee_id": None, "agent_type": "build"}, "manual", None),
    ],
)
def test_why_a_task_does_not_start_by_itself(
    keys: dict[str, Any], there: dict[str, Any] | None, setting: str, expected: str | None
) -> None:
    task = manifest.Task(project="shop", title="Bake", **keys)
    found = manifest_starts.waiting([(task, there)], lambda _: setting, {"ann"})
    assert [each.reason for each in found] == ([] if expected is None else [expected])


def test_many_are_told_in_one_line_each_kind() -> None:
    tasks = [manifest.Task(project="shop", title=f"Bake {each}", assignee="w1") for each in range(5)]
    told = list(manifest_starts.told(manifest_starts.waiting([(each, None) for each in tasks], lambda _: "manual", ())))
    assert told[0] == (
        "5 tasks do not start by themselves: “Bake 0”, “Bake 1”, “Bake 2” and 2 more start when you start them."
    )
    assert "start: when_ready" in told[-1]


# --- the plan --------------------------------------------------------------------------------------------------------

CHAINS = """\
projects:
  - {id: shop, name: Shop, directory: ., settings: {start: when_ready}}
agents:
  - {id: w1, role: worker, provider: command, projects: [shop]}
  - {id: w2, role: worker, provider: command, projects: [shop]}
tasks:
  - {project: shop, title: A1, assignee: w1, context: {command: ls}}
  - {project: shop, title: A2, assignee: w2, depends_on: [A1], context: {command: ls}}
  - {project: shop, title: B1, assignee: w2, context: {command: ls}}
  - {project: shop, title: Think, status: backlog, assignee: w1, context: {command: ls}}
simulation:
  defaults: {minutes: 10, start_seconds: 0, call_seconds: 0}
"""


@pytest.fixture
def one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "RUNS", 1)


def test_a_plan_needs_no_server_and_starts_none(one_run: None, nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "toryo.yaml").write_text(CHAINS)
    ended = nowhere("plan")
    assert ended.code == 0, ended.err
    for told in (
        "Would create project shop, 2 agents (w1, w2), 4 tasks",
        "4 tasks in 2 steps, at most 3 at once:",
        "The longest chain: A1 → A2",
        "w2 (command): 2 tasks",
        "1 task does not start by itself: “Think” is in the backlog.",
        "Estimate: ",
        "w1, w2: as the file says (simulation)",
    ):
        assert told in ended.out, told
    assert not (tmp_path / ".local").exists()


def test_the_estimate_is_that_of_the_simulator(one_run: None, nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "toryo.yaml").write_text(CHAINS)
    found = nowhere.json("plan")
    assert (found["width"], found["critical_path"], found["max_concurrent"]) == (3, ["A1", "A2"], 3)
    assert 20 <= 60 * found["estimate"]["hours"]["middle"] <= 21, "two tasks of ten minutes, one after the other"


@pytest.mark.deep
def test_of_a_file_that_is_applied_only_what_differs_would_change(
    one_run: None, server: Toryo, file: Callable[..., Path], owner: Client, project: str
) -> None:
    path = file(Bake="status: in_progress", Sell="depends_on: [Bake]")
    before = server("plan", str(path))
    assert "Would create 2 tasks" in before.out
    newest = owner.rest("GET", "/status")["last_event"]
    assert owner.rest("GET", f"/projects/{project}/tasks")["tasks"] == []
    assert server("apply", str(path)).code == 0
    ended(owner, project, Bake="completed")
    found = server.json("plan", str(path))
    assert (found["changes"], found["open_tasks"], found["critical_path"]) == ([], 1, ["Sell"])
    assert newest < owner.rest("GET", "/status")["last_event"], "only apply has changed anything"


def test_who_types_dry_run_is_told_of_plan(nowhere: Toryo) -> None:
    ended = nowhere("apply", "--dry-run")
    assert (ended.code, "toryo plan" in ended.err) == (2, True)


def test_of_a_log_that_months_have_made_long_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / background.LOG
    with log.open("wb") as file:
        file.truncate(2**31)
        file.seek(0, 2)
        file.write(b"\nthe disk is full\n")
    assert background._last(log, 0)[-1] == "the disk is full"
    assert background._last(log, 2**31) == ["", "the disk is full"]


def test_what_needs_a_person_for_several_tasks_at_once_holds_each_of_them() -> None:
    """One cause is one need, which names the others: a check that cannot run, for instance."""
    common: dict[str, Any] = {
        "project_id": "p",
        "assignee_id": "w",
        "parent_task_id": None,
        "dependencies": [],
        "status": "in_progress",
    }
    tasks = {name: {"task_id": name, **common} for name in ("a", "b", "c")}
    need = {"kind": "question", "task_id": "a", "also": ["b"], "agent_id": "w", "project_id": "p"}
    assert standing.of(standing.Seen(tasks, needs=[need]), tasks) == {
        "a": standing.Stand.PERSON,
        "b": standing.Stand.PERSON,
        "c": standing.Stand.MOVES,
    }
