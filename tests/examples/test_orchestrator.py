"""The orchestrator's example as its README tells it: a real server, four agents and the orchestrator as processes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import commanded
from tests.scenarios.programs import Program
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "orchestrator"
REQUEST = "req-12345"
SCRIPTS = {"planning": "plan.py", "implementation": "implement.py", "testing": "check.py"}

Serve = Callable[..., Program]


@pytest.fixture
def directory(site: Site) -> Path:
    """A copy of the example, and its project."""
    directory = site.directory / "orchestrator"
    shutil.copytree(EXAMPLE, directory, ignore=shutil.ignore_patterns("out"))
    toryo(site, "apply", str(directory / "toryo.yaml"))
    return directory


@pytest.fixture
def serve(site: Site, directory: Path) -> Iterator[Serve]:
    """`serve("planning")`: an agent of that queue with the example's script."""
    started: list[Program] = []

    def made(agent_type: str, *options: str) -> Program:
        script = str(directory / "agents" / SCRIPTS[agent_type])
        words = ["agent", "run", "--project", "auth", "--type", agent_type, *options, "--", sys.executable, script]
        started.append(Program(agent_type, words, site.environment, site.directory).start())
        started[-1].says(f"serves {agent_type}")
        return started[-1]

    yield made
    for each in started:
        each.end()


def toryo(site: Site, *words: str) -> str:
    """Types a command; what it printed. It must succeed."""
    ran = commanded([*words], site.environment, site.directory)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def orchestrated(site: Site, directory: Path, key: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(directory / "orchestrator.py"), "Implement user authentication", REQUEST]
    return _typed(site, words, TORYO_API_KEY=key)


def _typed(site: Site, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**site.environment, **variables}
    return subprocess.run(
        words, env=environment, cwd=site.directory, capture_output=True, text=True, timeout=300, check=False
    )


def orchestrators_key(site: Site) -> str:
    """As the README has it made."""
    made = toryo(site, "token", "add", "--agent", "chief", "--project", "auth", "--orchestrator")
    found = re.search(r"token:?\s+(\S+)", made)
    assert found is not None, made
    return found[1]


def traced(site: Site) -> dict[str, dict[str, Any]]:
    """The tasks of the request's trace, by title; none has parts."""
    trace = json.loads(toryo(site, "trace", REQUEST, "--json"))
    assert trace["correlation_id"] == REQUEST
    return {task["title"]: task for task in trace["tasks"]}


def test_a_request_is_planned_implemented_and_tested_and_its_trace_tells_who_waited_for_whom(
    site: Site, directory: Path, serve: Serve
) -> None:
    for agent_type in SCRIPTS:
        serve(agent_type)
    serve("implementation")
    ran = orchestrated(site, directory, orchestrators_key(site))
    assert ran.returncode == 0, ran.stderr
    assert "subtask-004: {'passed': 3}" in ran.stdout
    assert {path.name for path in (directory / "out" / REQUEST).iterdir()} == {"user.py", "register.py", "login.py"}

    tasks = traced(site)
    assert list(tasks) == [
        "Implement user authentication",
        "Write the User model",
        "Implement /register",
        "Implement /login, which issues a JWT",
        "Test the authentication",
    ]
    assert {task["status"] for task in tasks.values()} == {"completed"}
    assert {site.look(task["task_id"])["correlation_id"] for task in tasks.values()} == {REQUEST}
    planned, model, register, login, tested = tasks.values()
    assert model["created_at"] >= planned["completed_at"]
    assert register["dependencies"] == login["dependencies"] == [model["task_id"]]
    assert set(tested["dependencies"]) == {register["task_id"], login["task_id"]}
    assert min(register["started_at"], login["started_at"]) >= model["completed_at"]
    assert tested["started_at"] >= max(register["completed_at"], login["completed_at"])

    shown = toryo(site, "trace", REQUEST)
    assert shown.startswith(f"request {REQUEST}")
    assert shown.count("✔ completed") == 5
    assert f"after {register['task_id']}, {login['task_id']}" in shown


def test_given_again_the_orchestrator_goes_on_where_it_was_and_files_nothing_twice(
    site: Site, directory: Path, serve: Serve
) -> None:
    key = orchestrators_key(site)
    serve("planning"), serve("implementation")
    words = [str(directory / "orchestrator.py"), "Implement user authentication", REQUEST]
    environment = {**site.environment, "TORYO_API_KEY": key}
    with subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.PIPE, text=True) as first:
        site.until("the third file is written", lambda: len(list((directory / "out").glob("*/*.py"))) == 3)
        site.until("the test is filed", lambda: len(site.tasks("auth")) == 5)
        first.kill()
    before = {each["task_id"] for each in traced(site).values()}
    serve("testing")
    ran = orchestrated(site, directory, key)
    assert ran.returncode == 0, ran.stderr
    tasks = traced(site)
    assert {task["task_id"] for task in tasks.values()} == before
    assert {(task["status"], task["attempt"]) for task in tasks.values()} == {("completed", 1)}


def test_what_waits_for_a_failed_task_is_not_begun_and_the_orchestrator_says_why(
    site: Site, directory: Path, serve: Serve
) -> None:
    (directory / "agents" / "implement.py").write_text("import sys\nsys.exit('no disk')\n")
    for agent_type in SCRIPTS:
        serve(agent_type)
    ran = orchestrated(site, directory, orchestrators_key(site))
    assert ran.returncode == 1
    assert "Write the User model" in ran.stderr
    assert "no disk" in ran.stderr
    statuses = [each["status"] for each in traced(site).values()]
    assert statuses == ["completed", "failed", "todo", "todo", "todo"]
