"""`toryo simulate`: what it prints, keeps, compares, takes from a recorded run, and refuses."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from toryo.cli import main

TEAM = """\
projects:
  - {id: house, name: House, directory: .}
agents:
  - {id: mason, role: worker, provider: claude, projects: [house]}
  - {id: painter, role: worker, provider: claude, projects: [house]}
tasks:
  - {project: house, title: Wall, assignee: mason, status: in_progress}
simulation:
  hours: 4
  agents:
    mason: {minutes: 30, tokens: {start: 1000, call: 0, minute: 100}, dollars_per_million: 10}
  arrivals:
    - {title: "Room {n}", project: house, assignee: painter, count: 3, every_minutes: 20}
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    file = tmp_path / "house.yaml"
    file.write_text(TEAM)
    return file


def typed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main.main(["simulate", *map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def document(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, object]]:
    code, out, err = typed(capsys, *words, "--json")
    assert code == 0, err
    found: list[dict[str, object]] = json.loads(out)["runs"]
    return found


def test_people_are_told_figures_and_a_row_for_each_agent(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, team)

    lines = {line[:24].strip(): line[24:].strip() for line in out.splitlines()}
    assert code == 0
    assert lines["tasks completed"] == "4"
    assert lines["starts"] == "4"
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith(("mason", "painter"))}
    assert rows["mason"].startswith("#")
    assert set(rows["painter"]) == {"#", "."}


def test_scripts_get_tokens_and_money_as_the_file_says(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = document(capsys, team)

    mason = run["agents"]["mason"]  # type: ignore[index]
    assert (mason["starts"], mason["tokens"]) == (1, 1000 + 30 * 100)
    assert mason["dollars"] == pytest.approx(0.04)
    assert run["tasks"] == {"completed": 4, "failed": 0, "cancelled": 0, "open": 0, "not_due": 0}


@pytest.mark.deep
def test_two_files_are_compared_side_by_side(team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = tmp_path / "slow.yaml"
    slow.write_text(TEAM.replace("minutes: 30", "minutes: 90"))

    first, second = document(capsys, team, slow)

    assert (first["name"], second["name"]) == ("house", "slow")
    assert second["hours"] > first["hours"]  # type: ignore[operator]


@pytest.mark.deep
def test_a_kept_run_is_a_data_directory_whose_times_another_simulation_takes(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    document(capsys, team, "--keep", kept)
    with closing(sqlite3.connect(kept / "toryo.db")) as database:
        assert database.execute("SELECT count(*) FROM tasks WHERE status = 'completed'").fetchone() == (4,)

    other = tmp_path / "other.yaml"
    other.write_text(TEAM.partition("simulation:")[0])
    (guessed,), (known,) = document(capsys, other), document(capsys, other, "--from", kept)

    assert known["agents"]["mason"]["running_minutes"] == pytest.approx(30.3, abs=0.5)  # type: ignore[index]
    assert guessed["agents"]["mason"]["running_minutes"] != pytest.approx(30.3, abs=0.5)  # type: ignore[index]
    assert known["agents"]["mason"]["tokens"] == 1000 + 30 * 100  # type: ignore[index]
    code, _, err = typed(capsys, team, "--keep", kept)
    assert (code, "already contains a database" in err) == (2, True)


def test_a_file_of_events_is_a_recorded_run_too(team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tmp_path / "events.jsonl"
    lines = [
        ("launch.ordered", "2026-11-23T10:00:00Z", {"purpose": "task"}),
        ("task.fetched", "2026-11-23T10:00:05Z", {}),
        ("task.completed", "2026-11-23T10:50:05Z", {}),
    ]
    events.write_text(
        "".join(
            json.dumps(
                {"kind": kind, "at": at, "agent_id": "painter", "actor_id": "painter", "launch_id": "l", "data": data}
            )
            + "\n"
            for kind, at, data in lines
        )
    )
    (run,) = document(capsys, team, "--from", events)
    assert run["agents"]["painter"]["running_minutes"] == pytest.approx(150.9, abs=1)  # type: ignore[index]


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[1]",
        b"\xc3(",
        b"[" * 100_000,
        b'{"kind": "a", "at": "yesterday", "agent_id": "a", "launch_id": "l", "data": {}}',
        b'{"kind": "a", "at": "2026-01-01T00:00:00Z", "agent_id": ["a"], "launch_id": "l", "data": {}}',
        b'{"kind": "a", "at": "2026-01-01T00:00:00Z", "agent_id": "a", "launch_id": "l", "data": null}',
        b'{"kind": 3, "at": 5, "agent_id": "a", "launch_id": "l", "data": {}}',
    ],
    ids=lambda line: line[:40].decode(errors="replace"),
)
def test_what_is_not_an_event_is_named_with_its_line(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_bytes(b'{"kind": "a", "at": "2026-01-01T00:00:00Z", "agent_id": null, "data": {}}\n' + line + b"\n")

    code, _, err = typed(capsys, team, "--from", events)

    assert (code, f"{events}:2: this is not an event." in err) == (2, True)


@pytest.mark.deep
def test_a_run_without_projects_tasks_or_agents_can_be_kept_and_taken(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing, kept = tmp_path / "nothing.yaml", tmp_path / "kept"
    nothing.write_text("agents: []\n")
    document(capsys, nothing, "--keep", kept)

    assert document(capsys, team, "--from", kept) == document(capsys, team)


@pytest.mark.parametrize(
    ("wrong", "line", "words"),
    [
        (("mason: {minutes", "masn: {minutes"), 11, "there is no agent 'masn'; did you mean mason?"),
        (
            ("assignee: painter, count", "assignee: paintr, count"),
            13,
            "there is no agent 'paintr'; did you mean painter?",
        ),
        (("minutes: 30,", "minuts: 30,"), 11, "did you mean minutes?"),
        (("minutes: 30,", "minutes: {mean: 1, min: 2, max: 3},"), 11, "use one of: mean"),
        (("{minutes: 30,", "{behaviour: crashin, minutes: 30,"), 11, "crashing"),
    ],
)
def test_a_mistake_in_the_section_names_its_line_and_the_nearest_word(
    team: Path, capsys: pytest.CaptureFixture[str], wrong: tuple[str, str], line: int, words: str
) -> None:
    team.write_text(TEAM.replace(*wrong))

    code, _, err = typed(capsys, team)

    assert code == 2
    assert f"{team}:{line}: " in err
    assert words in err


def test_a_database_that_cannot_be_read_is_a_mistake_not_a_fault(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "toryo.db").write_text("no database, but long enough to be taken for one")
    code, _, err = typed(capsys, team, "--from", tmp_path)
    assert code == 2
    assert f"{tmp_path / 'toryo.db'} cannot be read" in err


def test_a_missing_file_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = typed(capsys, tmp_path / "none.yaml")
    assert (code, "none.yaml" in err) == (2, True)


def figures(out: str) -> dict[str, str]:
    """The lines of the report, by their names."""
    return {name.strip(): value for name, _, value in (line.rpartition("  ") for line in out.splitlines())}


@pytest.mark.deep
def test_tasks_that_are_due_after_the_end_are_mentioned(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team.write_text(TEAM.replace("every_minutes: 20", "at_minutes: 200, every_minutes: 30"))

    assert document(capsys, team)[0]["tasks"] == {
        "completed": 3,
        "failed": 0,
        "cancelled": 0,
        "open": 0,
        "not_due": 1,
    }
    _, out, _ = typed(capsys, team)
    assert figures(out)["tasks due after the end"] == "1"
    assert figures(out)["ended because"] == "its hours are over"


def test_a_file_without_tasks_says_so(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team.write_text(TEAM.partition("tasks:")[0])

    _, out, _ = typed(capsys, team)

    assert "there are no tasks (add tasks: or simulation.arrivals:)" in out
    assert "all tasks are done" not in out


def test_open_tasks_at_the_end_of_a_short_run_are_not_called_done(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team.write_text(
        TEAM.partition("simulation:")[0].replace("status: in_progress", "status: todo") + "simulation: {hours: 0.5}\n"
    )

    [run] = document(capsys, team)

    assert (run["ended"], run["unfinished"]) == (
        "hours",
        [{"status": "todo", "reason": "Nobody has started it.", "tasks": 1, "example": "Wall"}],
    )


def test_a_task_that_nobody_who_is_free_could_do_is_not_one_that_somebody_forgot_to_start(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TEAM.partition("simulation:")[0].replace("assignee: mason", 'assignee: "any:joinery"')
    team.write_text(text + "simulation: {hours: 0.5}\n")

    [run] = document(capsys, team)

    unfinished = run["unfinished"]
    assert isinstance(unfinished, list)
    assert [each["reason"] for each in unfinished] == ["Nobody who could do it is free."]


def test_an_agent_that_crashes_at_once_and_takes_no_time_for_anything_comes_to_an_end(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    never = "{minutes: {samples: [0]}, start_seconds: 0, call_seconds: 0, behaviour: crashing, share: 1}"
    team.write_text(TEAM.partition("simulation:")[0] + f"simulation: {{hours: 4, defaults: {never}}}\n")

    _, out, _ = typed(capsys, team)

    assert "“Wall” (blocked): Its agent was started several times and made no progress." in out


def test_too_many_subtasks_for_the_project_are_named_as_the_reason(
    team: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team.write_text(
        TEAM.partition("simulation:")[0]
        .replace("role: worker", "role: manager", 1)
        .replace("painter, role: worker", "painter, role: worker, reports_to: mason")
        + "simulation: {defaults: {subtasks: 30}}\n"
    )

    _, out, _ = typed(capsys, team)

    assert "Not completed:\n  “Wall” (blocked): " in out
    assert "up to 20 subtasks" in out


def test_tasks_with_the_same_reason_are_told_together(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team.write_text(TEAM.replace("agents:\n    mason", "agents:\n    painter: {failures: 1}\n    mason"))

    _, out, _ = typed(capsys, team)

    assert "  3 failed, such as “Room 1”: It did not work (simulated).\n" in out


@pytest.mark.parametrize(
    ("wrong", "line", "words"),
    [
        (
            ("provider: claude, projects: [house]}\ntasks", "provider: claude}\ntasks"),
            13,
            "arrivals[0].assignee: painter is not a member of the project house; add it to projects of the agent",
        ),
        (
            ("mason, role: worker, provider: claude, projects: [house]", "mason, role: worker, provider: claude"),
            7,
            "tasks[0].assignee: mason is not a member of the project house; add it to projects of the agent",
        ),
        (('"Room {n}"', '"  "'), 13, "simulation.arrivals[0].title: must not be empty"),
        (("Room {n}", "Room\\0 {n}"), 13, "simulation.arrivals[0]: file_task: a text contains a NUL"),
        (("minutes: 30", "minutes: quick"), 11, "simulation.agents.mason.minutes: must be a number, such as 12, or"),
        (("hours: 4", "hours: .inf"), 9, "simulation.hours: must be a number, such as 1.5"),
        (("hours: 4", "hours: 4: 5"), 9, "not valid YAML"),
    ],
)
def test_a_mistake_names_its_line_and_says_nothing_of_a_server_that_is_not_there(
    team: Path, capsys: pytest.CaptureFixture[str], wrong: tuple[str, str], line: int, words: str
) -> None:
    team.write_text(TEAM.replace(*wrong))

    code, out, err = typed(capsys, team)

    assert (code, out) == (2, "")
    assert f"{team}:{line}:" in err
    assert words in err
    assert "Nothing was changed" not in err
    assert "toryo agent edit" not in err


def test_the_figures_are_those_that_the_server_shows_of_the_kept_run(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team.write_text(TEAM.replace("hours: 4", "hours: 0.5"))  # painter is at work at its end
    kept = tmp_path / "kept"

    [run] = document(capsys, team, "--keep", kept)

    with closing(sqlite3.connect(kept / "toryo.db")) as database:
        [booked] = database.execute("SELECT sum(input_tokens + output_tokens), round(sum(cost_usd), 2) FROM usages")
        [starts] = database.execute("SELECT count(*) FROM launches")
        [completed] = database.execute("SELECT count(*) FROM tasks WHERE status = 'completed'")
        [open_] = database.execute("SELECT count(*) FROM launches WHERE exit_reported_at IS NULL")
    assert (run["tokens"]["total"], run["dollars"]) == booked  # type: ignore[index]
    assert run["starts"]["total"] == starts[0]  # type: ignore[index]
    assert run["tasks"]["completed"] == completed[0]  # type: ignore[index]
    assert open_[0] == 0


def test_a_kept_database_can_be_read_by_its_user_only(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o755)

    typed(capsys, team, "--keep", kept)

    assert [each.name for each in kept.iterdir()] == ["toryo.db"]
    assert (kept / "toryo.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.deep
def test_the_same_seed_prints_the_same(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team.write_text(TEAM.replace("minutes: 30,", "minutes: {mean: 30, spread: 1}, failures: 0.3,"))

    team.write_text(team.read_text().replace("hours: 4", "hours: 1"))
    first, again, other = (document(capsys, team, "--seed", seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.deep
def test_the_run_does_not_depend_on_the_process_that_plays_it(team: Path) -> None:
    team.write_text(TEAM.replace("minutes: 30,", "behaviour: crashing, minutes: {mean: 30, spread: 1},"))

    def played(hashing: str) -> bytes:
        words = [sys.executable, "-m", "toryo", "simulate", str(team), "--json"]
        return subprocess.run(
            words, env={**os.environ, "PYTHONHASHSEED": hashing}, capture_output=True, check=True
        ).stdout

    assert played("1") == played("2")


@pytest.mark.deep
def test_what_cannot_be_written_is_a_mistake(team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "file"
    place.write_text("")

    code, _, err = typed(capsys, team, "--keep", place)

    assert (code, str(place) in err, "Traceback" in err) == (2, True, False)
