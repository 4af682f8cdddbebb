"""Each example as a reader runs it: its own copy, applied to a real server, carried out by real processes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import commanded
from tests.environments import clean_environment
from tests.scenarios.sites import Site

pytestmark = pytest.mark.timeout(600, method="signal")

EXAMPLES = Path(__file__).parents[2] / "examples"
ENDS_WITHIN = 300.0
CLOSED = ("completed", "failed", "cancelled", "blocked")


def toryo(site: Site, *words: str) -> str:
    """Types a command; what it printed. It must succeed."""
    ran = commanded([*words], site.environment, site.directory)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def begun(site: Site, name: str) -> Path:
    """A copy of an example, applied, with a Coordinator at work; its directory."""
    directory = site.directory / name
    shutil.copytree(EXAMPLES / name, directory, ignore=shutil.ignore_patterns("out"))
    toryo(site, "apply", "--yes", str(directory / "toryo.yaml"))
    assert not (directory / "out").exists(), "nobody is at work yet"
    site.coordinator()
    return directory


def ended(site: Site, project: str, title: str) -> dict[str, str]:
    """Waits until a task has come to its end, well; how its subtasks ended, by title."""
    task_id = site.tasks(project)[title]["task_id"]
    site.until_status(task_id, *CLOSED, within=ENDS_WITHIN)
    assert site.status(task_id) == "completed", site.look(task_id)
    site.until_idle(ENDS_WITHIN)
    assert site.history.idle_starts() == []
    below = site.people.rest("GET", f"/projects/{project}/tasks", params={"parent_task_id": task_id})["tasks"]
    return {each["title"]: each["status"] for each in below}


@pytest.mark.deep
def test_a_release_has_notes_and_a_patch_is_built_without_them(site: Site) -> None:
    directory = begun(site, "release-checklist")
    assert set(ended(site, "release", "Release 1.3.0").values()) == {"completed"}
    assert (directory / "out" / "NOTES.md").read_text().startswith("# Greeter 1.3.0")
    assert (directory / "out" / "greeter-1.3.0.tar").exists()

    (directory / "out" / "NOTES.md").unlink()
    site.file("release", "Release 1.3.1", assignee_id="release-lead", status="in_progress")
    endings = ended(site, "release", "Release 1.3.1")
    assert endings.pop("Write the release notes of 1.3.1") == "cancelled"
    assert set(endings.values()) == {"completed"}
    assert (directory / "out" / "VERSION").read_text() == "1.3.1\n"
    assert (directory / "out" / "CHANGELOG.md").read_text().startswith("## 1.3.1\n")
    assert (directory / "out" / "greeter-1.3.1.tar").exists()
    assert not (directory / "out" / "NOTES.md").exists()


@pytest.mark.deep
def test_a_night_is_repaired_only_when_the_check_failed_and_is_reported_either_way(site: Site) -> None:
    directory = begun(site, "nightly-maintenance")
    full = ended(site, "nightly", "Nightly maintenance")
    assert full.pop("Nightly maintenance: check the disk") == "failed"
    assert set(full.values()) == {"completed"}
    assert site.tasks("nightly")["Nightly maintenance: back up"]["attempt"] == 2
    assert not (directory / "out" / "data" / "old.txt").exists()
    assert (directory / "out" / "report.txt").read_text() == "files: 2\nbytes: 1006\n"
    summary = site.look(site.tasks("nightly")["Nightly maintenance"]["task_id"])["summary"]
    assert "check the disk failed, which the plan allows: The command ended with exit code 1." in summary

    title = "Nightly maintenance, Tuesday"
    site.file("nightly", title, assignee_id="keeper", status="in_progress", context={"limit_kb": 1000})
    roomy = ended(site, "nightly", title)
    assert roomy.pop(f"{title}: make room") == "cancelled"
    assert set(roomy.values()) == {"completed"}
    assert (directory / "out" / "report.txt").read_text() == "files: 2\nbytes: 200006\n"
    assert (
        f"make room was left out: “{title}: check the disk” is completed, not failed"
        in site.look(site.tasks("nightly")[title]["task_id"])["summary"]
    )


@pytest.mark.deep
def test_each_file_of_a_list_is_translated_by_both_specialists(site: Site) -> None:
    directory = begun(site, "translate-a-folder")
    endings = ended(site, "translating", "Translate the folder")
    assert len(endings) == 5
    assert set(endings.values()) == {"completed"}
    out = directory / "out"
    assert (out / "de" / "morning.txt").read_text() == "guten Morgen\ndas Brot ist warm\n"
    assert (out / "fr" / "evening.txt").read_text() == "bon soir\nle logis est calme\n"
    assert (out / "CONTENTS.txt").read_text().split() == [
        "de/evening.txt",
        "de/morning.txt",
        "fr/evening.txt",
        "fr/morning.txt",
    ]
    done_by = {task["title"]: task["assignee_id"] for task in site.tasks("translating").values()}
    assert done_by["Translate morning.txt into German"] == "into-german"
    assert done_by["Translate evening.txt into French"] == "into-french"


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/playbook.yaml")))
def test_an_example_says_what_it_does_and_its_plan_is_right(name: str, tmp_path: Path) -> None:
    ran = commanded(["playbook", "check", str(EXAMPLES / name / "toryo.yaml")], clean_environment(tmp_path), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"toryo apply examples/{name}/toryo.yaml" in (EXAMPLES / name / "README.md").read_text()
