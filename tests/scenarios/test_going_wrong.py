"""What cannot work: a missing program, a port in use, a directory that cannot be written, a wrong token, no server.

Whoever asked is told by words and exit code (2 wrong configuration, 3 no server, 4 refused), and all others go on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Toryo
from tests.environments import clean_environment
from tests.scenarios.conftest import ON_POSTGRESQL
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

OBEYS_PERMISSIONS = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: without them root may do what permissions say
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "toryo", *sys.argv[1:]])
"""


@pytest.fixture
def toryo(site: Site) -> Toryo:
    """The command line, with the data directory of the site in its environment."""
    return Toryo(site.directory, site.environment)


@pytest.mark.pitfall("F40")
def test_an_agent_whose_program_is_missing_is_told_of_and_all_others_go_on(site: Site, toryo: Toryo) -> None:
    site.project("yard")
    site.hire("ghost", "yard", provider="ghost")
    site.hire("sawyer", "yard")
    site.coordinator(ai_providers={"ghost": {"cli_command": "no-such-program"}})
    haunted = site.file("yard", "Haunt", assignee_id="ghost", status="in_progress")
    site.until("its start was tried", lambda: site.history.of("launch.process_ended", agent_id="ghost"))
    sawn = site.file("yard", "Saw", assignee_id="sawyer", status="in_progress", context={"command": "true"})
    site.until_status(sawn, "completed")

    tried = site.launches(agent_id="ghost")
    assert {each["exit_error"] for each in tried} == {"command_not_found"}
    site.until_logged(tried[0]["launch_id"], "The command no-such-program was not found")
    assert site.status(haunted) == "in_progress"
    (cooling, *_) = site.history.of("agent.cooling_down", agent_id="ghost")
    assert cooling["data"]["reason"] == "command_not_found"
    assert "In cooldown" in toryo("why", "ghost").out


def test_a_task_for_a_program_that_no_coordinator_has_waits_and_nobody_waits_for_it(site: Site) -> None:
    site.project("yard")
    site.hire("elsewhere", "yard", provider="gemini")
    site.hire("sawyer", "yard")
    waiting = site.file("yard", "Wait", assignee_id="elsewhere", status="in_progress")
    site.coordinator()
    sawn = site.file("yard", "Saw", assignee_id="sawyer", status="in_progress", context={"command": "true"})
    site.until_status(sawn, "completed")
    assert site.status(waiting) == "in_progress"
    assert site.launches(agent_id="elsewhere") == []


def test_a_port_that_is_in_use_is_a_wrong_configuration(site: Site, toryo: Toryo) -> None:
    port = site.url.rpartition(":")[2]
    ended = toryo("server", "--port", port, "--data-dir", str(site.directory / "second"))
    assert ended.code == 2
    assert f"Port {port} on 127.0.0.1 is in use by the Toryo server of the data directory {site.data} " in ended.err
    assert site.people.rest("GET", "/status")["success"]


def test_a_data_directory_that_cannot_be_written_is_a_wrong_configuration(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o500)
    for words in (["server", "--port", "0"], ["coordinator", "--server", "http://127.0.0.1:9", "--token", "tct_x"]):
        ended = _obeying_permissions(tmp_path, *words, "--data-dir", str(data))
        assert ended.code == 2, (words, ended)
        assert str(data) in ended.err
    assert list(data.iterdir()) == []


@pytest.mark.skipif(ON_POSTGRESQL, reason="this is about the file of SQLite")
def test_a_database_that_cannot_be_written_is_a_wrong_configuration(site: Site, tmp_path: Path) -> None:
    assert site.server.leave() == 0
    for name in ("toryo.db", "toryo.db-wal", "toryo.db-shm"):
        (site.data / name).chmod(0o400) if (site.data / name).exists() else None
    ended = _obeying_permissions(tmp_path, "server", "--port", "0", "--data-dir", str(site.data))
    assert ended.code == 2
    assert "toryo.db" in ended.err


@pytest.mark.pitfall("F49")
def test_a_wrong_token_is_refused_and_starts_nothing(site: Site, toryo: Toryo) -> None:
    site.project("yard")
    site.hire("sawyer", "yard")
    task = site.file("yard", "Saw", assignee_id="sawyer", status="in_progress", context={"command": "true"})
    for words in (["task", "list", "--project", "yard"], ["project", "pause", "yard"]):
        ended = toryo(*words, "--token", "tpt_wrong")
        assert ended.code == 4, ended
        assert "This token is unknown." in ended.err

    stranger = site.coordinator("stranger", says="cannot work with the server", coordinator_token="tct_wrong")
    assert site.launches() == []
    site.coordinator()
    site.until_status(task, "completed")
    assert stranger.alive
    assert stranger.said("cannot work with the server") == 1
    assert {launch["coordinator_id"] for launch in site.launches()} == {"coordinator"}


def test_without_a_server_commands_end_with_3_whatever_it_left_behind(site: Site, toryo: Toryo) -> None:
    assert toryo("project", "list").code == 0
    site.server.kill()
    ended = toryo("project", "list")
    assert ended.code == 3
    assert f"No server is running from {site.data}" in ended.err


def _obeying_permissions(home: Path, *words: str) -> Ended:
    """A `toryo …` that may do no more than files permit, even where tests are run by root."""
    found = subprocess.run(
        [sys.executable, "-c", OBEYS_PERMISSIONS, *words],
        env=clean_environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=200,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ended(found.returncode, found.stdout, found.stderr)
