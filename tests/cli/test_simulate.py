"""`toryo simulate`: what it prints, keeps, compares, takes from a recorded run, and refuses."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

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
    assert run["tasks"] == {"completed": 4, "failed": 0, "cancelled": 0, "open": 0}


def test_two_files_are_compared_side_by_side_and_in_one_picture(
    team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = tmp_path / "slow.yaml"
    slow.write_text(TEAM.replace("minutes: 30", "minutes: 90"))
    picture = tmp_path / "both.svg"

    first, second = document(capsys, team, slow, "--gantt", picture)

    assert (first["name"], second["name"]) == ("house", "slow")
    assert second["hours"] > first["hours"]  # type: ignore[operator]
    titles = [each.text for each in ET.parse(picture).iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 8
    assert str(titles[0]).startswith("Wall: 30.")


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

    events.write_text("{}\n")
    code, _, err = typed(capsys, team, "--from", events)
    assert (code, f"{events}:1: this is not an event." in err) == (2, True)


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
