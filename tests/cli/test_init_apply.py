"""`toryo init` and `toryo apply`: a team as a file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Process, Toryo
from tests.cli.fakes import Machine
from tests.cli.terminals import Terminal
from toryo import chosen_ids, data_directories
from toryo.cli import init_teams, manifest
from toryo.cli.exit_codes import Misuse

TEAM = """\
projects:
  - id: {name}
    name: {name}
    directory: work
    settings: {{language: ja}}
agents:
  - id: {name}.hand
    role: worker
    reports_to: {name}.head
    provider: command
    capabilities: [sawing]
    projects: [{name}]
  - id: {name}.head
    role: manager
    projects: [{name}]
tasks:
  - project: {name}
    title: Second
    parent: Whole
    depends_on: [First]
  - project: {name}
    title: First
    parent: Whole
    assignee: {name}.hand
    context: {{command: ls}}
    acceptance: [{{file: out.txt}}]
  - project: {name}
    title: Whole
    assignee: {name}.head
"""


@pytest.fixture
def team(tmp_path: Path, project: str) -> Path:
    """A file with a team of the test's own."""
    (tmp_path / "work").mkdir()
    file = tmp_path / "toryo.yaml"
    file.write_text(TEAM.format(name=f"{project}.team"))
    return file


def test_without_a_file_the_toryo_yaml_of_this_directory_is_applied(server: Toryo, team: Path) -> None:
    ended = server("apply", cwd=team.parent)
    assert ended.code == 0, ended.err
    assert server("apply", cwd=team.parent).out == "nothing to change\n"


def test_below_a_project_the_toryo_yaml_above_is_named(server: Toryo, team: Path) -> None:
    below = team.parent / "work"
    for words in (("apply",), ("apply", "toryo.yaml")):
        ended = server(*words, cwd=below)
        assert ended.code == 2
        assert f"There is no toryo.yaml here; {team} exists above." in ended.err
        assert f"toryo apply {team}\n" in ended.err
    assert "is a directory" in server("apply", ".", cwd=team.parent).err
    team.unlink()
    assert "toryo.yaml does not exist. Pass the path of a toryo.yaml" in server("apply", cwd=below).err


def test_applying_makes_everything_and_again_changes_nothing(server: Toryo, team: Path) -> None:
    made = server.json("apply", str(team))["changes"]
    kinds = [(each["verb"], each["kind"]) for each in made]
    assert kinds.count(("created", "project")) == 1
    assert kinds.count(("created", "agent")) == 2
    assert kinds.count(("joined", "project")) == 2
    assert kinds.count(("created", "task")) == 3
    assert server.json("apply", str(team))["changes"] == []
    assert server("apply", str(team)).out == "nothing to change\n"


def test_what_is_applied_is_what_the_file_says(server: Toryo, team: Path, project: str, tmp_path: Path) -> None:
    name = f"{project}.team"
    server.json("apply", str(team))
    made = server.json("project", "show", name)
    assert made["project"]["working_directory"] == str(tmp_path / "work")
    assert made["project"]["settings"]["language"] == "ja"
    assert {member["agent_id"] for member in made["members"]} == {f"{name}.hand", f"{name}.head"}
    assert server.json("agent", "show", f"{name}.hand")["agent"]["reports_to"] == f"{name}.head"
    tasks = {task["title"]: task for task in server.json("task", "list", "--project", name)["tasks"]}
    assert tasks["Second"]["dependencies"] == [tasks["First"]["task_id"]]
    assert {tasks[each]["parent_task_id"] for each in ("First", "Second")} == {tasks["Whole"]["task_id"]}
    first = server.json("task", "show", tasks["First"]["task_id"])["task"]
    assert (first["context"], first["acceptance"]) == ({"command": "ls"}, [{"file": "out.txt"}])


def test_only_what_differs_is_changed_and_named(server: Toryo, team: Path, project: str) -> None:
    server.json("apply", str(team))
    text = team.read_text().replace("[sawing]", "[sawing, planing]").replace("language: ja", "language: en")
    team.write_text(text.replace("command: ls", "command: ls -l"))
    changed = {(change["kind"], change["detail"]) for change in server.json("apply", str(team))["changes"]}
    assert changed == {("project", "settings"), ("agent", "capabilities"), ("task", "context")}


def test_an_agent_that_nobody_starts_is_told_its_passkey(server: Toryo, team: Path, project: str) -> None:
    made = {change["id"]: change for change in server.json("apply", str(team))["changes"] if change["kind"] == "agent"}
    assert made[f"{project}.team.head"]["passkey"]
    assert "passkey" not in made[f"{project}.team.hand"]


def test_every_mistake_is_named_with_its_line_and_the_nearest_key(tmp_path: Path) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_text("projects:\n  - id: a\n    nam: b\n    directory: .\nagents:\n  - id: x\n    role: boss\n")
    with pytest.raises(Misuse) as caught:
        manifest.read(file)
    assert f"{file}:3" in caught.value.what
    assert "did you mean name?" in caught.value.what
    assert f"{file}:7" in caught.value.what


def test_a_file_with_a_mistake_changes_nothing(server: Toryo, team: Path, project: str) -> None:
    team.write_text(team.read_text() + "    titel: x\n")
    ended = server("apply", str(team))
    assert (ended.code, ended.out) == (2, "")
    assert "title" in ended.err
    assert server("project", "show", f"{project}.team").code == 4


def test_agents_who_report_in_a_circle_are_a_mistake(server: Toryo, team: Path, project: str) -> None:
    name = f"{project}.team"
    team.write_text(team.read_text().replace("role: manager", f"role: manager\n    reports_to: {name}.hand"))
    ended = server("apply", str(team))
    assert ended.code == 2
    assert "circle" in ended.err


def test_a_dependency_on_a_task_that_is_not_there_is_a_mistake(server: Toryo, team: Path) -> None:
    team.write_text(team.read_text().replace("depends_on: [First]", "depends_on: [Frist]"))
    ended = server("apply", str(team))
    assert ended.code == 2
    assert "Frist" in ended.err


# --- toryo init ------------------------------------------------------------------------------------------------------


def seen(machine: Machine, *words: str) -> dict[str, Any]:
    """What `toryo init --json` answers."""
    ended = machine.toryo("init", "--yes", "--json", *words)
    assert ended.code == 0, ended.err
    return dict(ended.json)


def providers(machine: Machine) -> dict[str, str | None]:
    """Who is started by which program, as the file that was written says."""
    return {agent.id: agent.provider for agent in manifest.read(machine.place / "toryo.yaml").agents}


def settings(machine: Machine) -> dict[str, Any]:
    """Those of the project in the file that was written."""
    return manifest.read(machine.place / "toryo.yaml").projects[0].settings


def test_init_without_agent_programs_writes_a_team_that_runs_commands_and_says_how_to_get_one(machine: Machine) -> None:
    ended = machine.toryo("init")
    assert ended.code == 0
    assert "npm install -g @anthropic-ai/claude-code" in ended.out
    assert (machine.place / ".toryo" / ".gitignore").read_text() == "*\n"
    assert str(machine.home / ".local" / "share" / "toryo" / "projects") in ended.out
    read = manifest.read(machine.place / "toryo.yaml")
    assert (read.projects[0].directory, read.projects[0].name) == (machine.place, "bakery")
    assert providers(machine) == {"runner": "command"}
    assert machine.left() == []


def test_init_makes_a_manager_and_two_workers_of_the_one_program_that_is_logged_in(machine: Machine) -> None:
    machine.install("claude")
    machine.install("codex", logged_in=False)
    machine.install("opencode")
    found = {program["name"]: program for program in seen(machine)["programs"]}
    assert providers(machine) == dict.fromkeys(("lead", "builder", "reviewer"), "claude")
    told = {name: (each["installed"], each["logged_in"]) for name, each in found.items()}
    assert told["claude"] == (True, True)
    assert told["codex"] == (True, False)
    assert told["opencode"] == (True, None)
    assert told["gemini"] == (False, None)
    assert "codex login" in found["codex"]["instruction"]
    assert machine.left() == []


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (["codex", "claude"], ["claude", "codex", "claude"]),
        (["gemini", "claude", "codex"], ["claude", "codex", "gemini"]),
    ],
)
def test_the_workers_are_of_other_programs_where_there_are_several(
    tmp_path: Path, installed: list[str], expected: list[str]
) -> None:
    machine = Machine(tmp_path, {"GEMINI_API_KEY": "k"})
    for name in installed:
        machine.install(name)
    seen(machine)
    assert list(providers(machine).values()) == expected


def test_programs_for_which_the_team_has_no_agent_are_named(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"GEMINI_API_KEY": "k"})
    for name in ("gemini", "claude", "codex", "copilot"):
        machine.install(name)
    ended = machine.toryo("init", "--yes", *(f"--provider={name}" for name in ("claude", "copilot", "codex", "gemini")))
    assert list(providers(machine).values()) == ["claude", "copilot", "codex"]
    assert "not used: gemini." in ended.out


def test_a_program_that_is_named_is_taken_though_its_login_is_missing_and_that_is_said(machine: Machine) -> None:
    machine.install("codex", logged_in=False)
    ended = machine.toryo("init", "--yes", "--provider", "codex")
    assert ended.code == 0
    assert "codex may not be logged in. Run codex login" in ended.out
    assert set(providers(machine).values()) == {"codex"}


@pytest.mark.parametrize(
    ("name", "told"),
    [("claude", "npm install -g @anthropic-ai/claude-code"), ("clod", "Use one of claude, codex")],
)
def test_a_program_that_cannot_work_is_refused_and_nothing_is_written(machine: Machine, name: str, told: str) -> None:
    ended = machine.toryo("init", "--yes", "--provider", name)
    assert ended.code == 2
    assert told in ended.err
    assert list(machine.place.iterdir()) == []


def test_none_and_a_program_together_are_refused_and_said_to_exclude_each_other(machine: Machine) -> None:
    machine.install("claude")
    ended = machine.toryo("init", "--yes", "--provider", "none", "--provider", "claude")
    assert ended.code == 2
    assert "none creates a team without a model and cannot be combined with a program." in ended.err
    assert list(machine.place.iterdir()) == []


def test_where_no_data_directory_can_be_made_no_file_stands_in_the_way_of_the_next_init(nowhere: Toryo) -> None:
    in_the_way = nowhere.home / ".local"
    in_the_way.write_text("")
    (nowhere.home / "place").mkdir()
    failed = nowhere("init", "--yes", "--provider", "none", "--dir", "place")
    assert failed.code != 0 and str(in_the_way) in failed.err
    assert not (nowhere.home / "place" / "toryo.yaml").exists()
    in_the_way.unlink()
    assert nowhere("init", "--yes", "--provider", "none", "--dir", "place").code == 0


def test_a_directory_with_any_name_gets_a_file_that_can_be_read(tmp_path: Path) -> None:
    for name in ("2026", "no", "a: b # c", "日本語", "{x}"):
        machine = Machine(tmp_path / name.encode().hex())
        place = machine.folder / name
        place.mkdir()
        machine.install("claude")
        seen(machine, "--dir", str(place))
        read = manifest.read(place / "toryo.yaml")
        assert read.projects[0].name == name
        assert read.agents[0].projects == [read.projects[0].id]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Küche", "kuche"),
        ("Žluťoučký kůň", "zlutoucky-kun"),
        ("Straße", "strasse"),
        ("Smørrebrød", "smorrebrod"),
        ("ＡＢＣ", "abc"),
        ("My  Project!", "my-project"),
        ("日本語", "project"),
        ("日本語 app", "app"),
        ("...", "project"),
        ("x" * 63 + " y", "x" * 63),
    ],
)
def test_an_id_keeps_the_latin_letters_of_a_name(name: str, expected: str) -> None:
    assert init_teams.id_from(name) == expected
    assert chosen_ids.may_be(expected)


def test_init_says_which_id_the_project_has(machine: Machine) -> None:
    assert seen(machine)["project_id"] == "bakery"
    (machine.place / "toryo.yaml").unlink()
    assert "project bakery" in machine.toryo("init", "--yes").out


def test_what_init_writes_can_be_applied_again_and_again(server: Toryo, machine: Machine, project: str) -> None:
    machine.install("claude")
    place = machine.folder / project
    place.mkdir()
    seen(machine, "--dir", str(place))
    assert server.json("apply", str(place / "toryo.yaml"))["changes"]
    assert server.json("apply", str(place / "toryo.yaml"))["changes"] == []


def test_init_refuses_a_directory_that_is_hardly_meant(machine: Machine) -> None:
    machine.toryo("init", "--yes")
    below = machine.place / "src" / "app"
    below.mkdir(parents=True)
    for place, why in (
        (below, f"is inside another project, {machine.place}"),
        (machine.home, "is your home directory"),
        (Path("/"), "is the root directory"),
    ):
        ended = machine.toryo("init", "--yes", "--dir", str(place))
        assert ended.code == 2, place
        assert why in ended.err
        assert "--dir" in ended.err
        assert not (place / "toryo.yaml").exists()


def test_init_never_overwrites_a_file(machine: Machine) -> None:
    assert machine.toryo("init", "--yes").code == 0
    file = machine.place / "toryo.yaml"
    file.write_text("projects: []\n")
    for words in ((), ("--provider", "none")):
        ended = machine.toryo("init", "--yes", *words)
        assert (ended.code, "already exists" in ended.err) == (2, True)
    assert file.read_text() == "projects: []\n"


def test_init_in_a_clone_makes_the_data_directory_and_keeps_the_file(machine: Machine) -> None:
    file = machine.place / "toryo.yaml"
    file.write_text("projects: []\n")
    assert machine.toryo("init", "--yes", "--provider", "none").code == 2, "another file is wanted"
    ended = machine.toryo("init", "--yes", "--json")
    assert ended.code == 0, ended.err
    place = Path(ended.json["data_dir"])
    assert (place / data_directories.CONFIRMATION).read_text() == f"{machine.place.resolve()}\n"
    assert (machine.place / ".toryo" / data_directories.POINTER).read_text() == f"{place}\n"
    assert file.read_text() == "projects: []\n"


def test_whatever_is_written_tasks_start_when_they_are_ready_and_the_first_one_when_you_say_so(
    machine: Machine,
) -> None:
    machine.install("claude")
    for words in (("--provider", "none"), ("--provider", "claude"), ("--workers", "2")):
        seen(machine, *words)
        file = machine.place / "toryo.yaml"
        assert settings(machine)["start"] == "when_ready"
        assert {task.status for task in manifest.read(file).tasks} <= {"backlog"}, words
        file.unlink()


@pytest.mark.parametrize("words", [("--provider", "none"), ("--provider", "claude"), ("--workers", "2")])
def test_in_a_repository_with_a_commit_each_task_gets_a_worktree(machine: Machine, words: tuple[str, str]) -> None:
    machine.install("claude")
    seen(machine, *words)
    assert "isolation" not in settings(machine), "there is no repository"
    (machine.place / "toryo.yaml").unlink()
    make_repository(machine)
    seen(machine, *words)
    assert settings(machine)["isolation"] == "worktree"


def test_what_is_said_of_checks_and_merges_is_written_for_every_team(machine: Machine) -> None:
    machine.install("claude")
    make_repository(machine)
    for words in (("--provider", "none"), ("--provider", "claude"), ("--workers", "2")):
        seen(machine, *words, "--check", "make test", "--check", 'echo "a: #b" | grep {a}', "--merge", "automatic")
        found = settings(machine)
        assert found["merge_queue"] == "automatic"
        assert found["required_checks"] == [{"command": "make test"}, {"command": 'echo "a: #b" | grep {a}'}]
        (machine.place / "toryo.yaml").unlink()


@pytest.mark.parametrize(
    ("installed", "count", "expected"),
    [
        ([], 3, {"w-1": "command", "w-2": "command", "w-3": "command"}),
        (["claude"], 1, {"w-1": "claude"}),
        (["claude", "codex"], 3, {"w-claude-1": "claude", "w-claude-2": "claude", "w-codex-1": "codex"}),
        (["claude", "codex"], 1, {"w-1": "claude"}),
    ],
)
def test_equal_workers_are_made_of_the_programs_there_are_and_get_no_task(
    machine: Machine, installed: list[str], count: int, expected: dict[str, str]
) -> None:
    for name in installed:
        machine.install(name)
    ended = machine.toryo("init", "--yes", "--workers", str(count))
    assert ended.code == 0, ended.err
    assert providers(machine) == expected
    assert manifest.read(machine.place / "toryo.yaml").tasks == []
    assert "toryo task add TITLE --assignee any" in ended.out
    assert ("not used: codex." in ended.out) is (len(installed) > count)


def test_who_has_more_workers_than_a_coordinator_starts_at_once_is_told_how_all_of_them_work(machine: Machine) -> None:
    assert "toryo up --max-concurrent 8" in machine.toryo("init", "--yes", "--workers", "8").out


@pytest.mark.parametrize(
    ("repository", "words", "told"),
    [
        ("none", ("--workers", "0"), "--workers"),
        ("none", ("--workers", "1000"), "--workers"),
        ("none", ("--check", ""), "--check is empty."),
        ("none", ("--check", *["true", "--check"] * 60, "true"), "at most"),
        ("none", ("--merge", "automatic"), "--merge automatic needs a git worktree for each task."),
        ("none", ("--merge", "manual"), "Run git init there and commit once"),
        ("empty", ("--merge", "automatic"), "has no commit yet. Create a first commit there."),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason_and_nothing_is_written(
    machine: Machine, repository: str, words: tuple[str, ...], told: str
) -> None:
    if repository == "empty":
        subprocess.run(["git", "init", "-q"], cwd=machine.place, check=True, env=machine.environment)
    ended = machine.toryo("init", "--yes", *words)
    assert ended.code == 2
    assert told in ended.err
    assert [path.name for path in machine.place.iterdir() if path.name != ".git"] == []


def test_a_file_that_is_there_is_not_given_other_workers(machine: Machine) -> None:
    (machine.place / "toryo.yaml").write_text("projects: []\n")
    for words in (("--workers", "2"), ("--check", "true"), ("--merge", "manual")):
        assert "already exists" in machine.toryo("init", "--yes", *words).err


@pytest.mark.deep
def test_up_in_a_clone_says_that_the_data_directory_is_not_the_projects_own(machine: Machine) -> None:
    (machine.place / "toryo.yaml").write_text("projects: []\n")
    process = Process("up", "--port", "0", "--no-open", environment=machine.toryo.environment, cwd=machine.place)
    try:
        assert "toryo init" in process.until("not this project's own")
    finally:
        process.end()


# --- at a terminal ---------------------------------------------------------------------------------------------------


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for each in opened:
        each.close()


def make_repository(machine: Machine) -> None:
    """The project's place, with a commit."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "first")):
        subprocess.run(["git", *words], cwd=machine.place, check=True, env=machine.environment)


def opened(terminals: list[Terminal], machine: Machine) -> Terminal:
    terminals.append(Terminal("init", environment=machine.environment, cwd=machine.place))
    return terminals[-1]


def test_at_a_terminal_init_asks_and_asks_again_after_a_bad_answer(terminals: list[Terminal], machine: Machine) -> None:
    machine.install("claude")
    machine.install("codex")
    terminal = opened(terminals, machine)
    terminal.until("Name of the project [bakery]")
    terminal.type("   \n")
    terminal.until("The project needs a name.")
    terminal.type("Old Mill\n")
    terminal.until("[claude codex]: ")
    terminal.type("claude, gemini\n")
    terminal.until("gemini cannot work here")
    terminal.until("[claude codex]: ")
    terminal.type("codex\n")
    assert terminal.ended() == 0
    assert set(providers(machine).values()) == {"codex"}
    assert manifest.read(machine.place / "toryo.yaml").projects[0].id == "old-mill"


def test_in_a_repository_nothing_more_is_asked_and_each_task_gets_a_worktree(
    terminals: list[Terminal], machine: Machine
) -> None:
    machine.install("claude")
    make_repository(machine)
    terminal = opened(terminals, machine)
    for question in ("Name of the project [bakery]: ", "[claude]: "):
        terminal.until(question)
        terminal.type("\n")
    assert terminal.ended() == 0
    assert settings(machine)["isolation"] == "worktree"


# --- and then it works -----------------------------------------------------------------------------------------------


@pytest.fixture
def up(machine: Machine) -> Iterator[Process]:
    """`toryo up` in the project's place, after `toryo init`."""
    machine.install("claude")
    machine.install("codex")
    seen(machine)
    process = Process("up", "--port", "0", environment=machine.environment, cwd=machine.place)
    try:
        process.until("Toryo is up at")
        yield process
    finally:
        process.end()


@pytest.mark.usefixtures("up")
def test_init_up_apply_and_the_first_task_is_done_by_the_programs_that_were_found(machine: Machine) -> None:
    toryo = machine.toryo
    (task,) = [change["id"] for change in toryo.json("apply", "toryo.yaml")["changes"] if change["kind"] == "task"]
    assert toryo.json("task", "show", task)["task"]["status"] == "backlog", "nothing is spent before somebody says so"
    assert toryo("task", "move", task, "in_progress").code == 0
    assert toryo("task", "watch", task).code == 0, toryo("needs").out
    assert (machine.place / "TOUR.md").read_text() == "builder by codex\nreviewer by claude\n"
    assert sorted(path.name for path in machine.place.iterdir()) == [".toryo", "TOUR.md", "toryo.yaml"]
    assert machine.left() == []


@pytest.mark.deep
@pytest.mark.usefixtures("up")
def test_the_same_team_with_worktrees_leaves_its_work_to_be_merged(machine: Machine) -> None:
    toryo, file = machine.toryo, machine.place / "toryo.yaml"
    make_repository(machine)
    file.write_text(file.read_text().replace("# isolation: worktree ", "isolation: worktree "))
    (task,) = [change["id"] for change in toryo.json("apply", "toryo.yaml")["changes"] if change["kind"] == "task"]
    assert toryo("task", "move", task, "in_progress").code == 0
    assert toryo("task", "watch", task).code == 0, toryo("needs").out + toryo("needs").err
    assert not (machine.place / "TOUR.md").exists()
    merged = toryo("task", "merge", task)
    assert merged.code == 0, merged.err
    assert (machine.place / "TOUR.md").read_text() == "builder by codex\nreviewer by claude\n"
