"""A simulation executes nothing and reaches nothing: whatever its file names, and whatever the environment says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.environments import clean_environment

WATCHED = """\
import json, sys

seen = []
KINDS = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.",
         "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostby")
sys.addaudithook(lambda event, arguments: event.startswith(KINDS) and seen.append([event, repr(arguments)]))
from toryo.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    print(json.dumps({"code": ended.code, "seen": seen}), file=sys.stderr)
"""
"""Runs `toryo`, and says on its last line which processes and connections were attempted."""


def _team(directory: Path) -> dict[str, Any]:
    """Everything that a real run would execute leaves a file behind."""

    def touch(name: str) -> str:
        return f"touch {directory / name}.canary"

    plan = {
        "tasks": [
            {
                "match": "*",
                "subtasks": [
                    {"id": "a", "title": "Dig", "assignee": "hand", "context": {"command": touch("context")}},
                    {"id": "b", "title": "Write", "assignee": "writer", "acceptance": [{"command": touch("accepted")}]},
                ],
            }
        ]
    }
    steps = {"tasks": [{"match": "*", "subtasks": [{"id": "s", "title": "Step", "run": touch("step")}]}]}
    rules = {"tasks": [{"match": ".*", "run": touch("script")}]}
    agents: list[dict[str, Any]] = [
        {"id": "lead", "role": "manager", "provider": "playbook", "provider_options": {"playbook": plan}},
        {"id": "hand", "provider": "command"},
        {"id": "writer", "provider": "claude"},
        {"id": "stepper", "provider": "playbook", "provider_options": {"playbook": steps}},
        {"id": "actor", "provider": "script", "provider_options": {"script": rules}},
    ]
    tasks: list[tuple[str, str, dict[str, Any]]] = [
        ("Build", "lead", {}),
        ("Step by step", "stepper", {}),
        ("Act", "actor", {}),
    ]
    tasks.append(("Checked", "hand", {"acceptance": [{"command": touch("checked")}, {"file": "x"}]}))
    return {
        "projects": [
            {
                "id": "house",
                "name": "House",
                "directory": str(directory),
                "settings": {"commands_from": "managers", "isolation": "worktree"},
            }
        ],
        "agents": [
            {
                "role": "worker",
                "projects": ["house"],
                **({"reports_to": "lead"} if each["id"] != "lead" else {}),
                **each,
            }
            for each in agents
        ],
        "tasks": [
            {"project": "house", "title": title, "assignee": agent, "status": "in_progress", **more}
            for title, agent, more in tasks
        ],
    }


@pytest.mark.deep
@pytest.mark.parametrize("kept", [False, True])
def test_no_command_runs_and_no_connection_is_opened(tmp_path: Path, *, kept: bool) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    file = tmp_path / "toryo.yaml"
    file.write_text(yaml.safe_dump(_team(project)))
    environment = {
        **clean_environment(tmp_path),
        "TORYO_SERVER": "http://127.0.0.1:9",
        "TORYO_NOTICES__WEBHOOK_URL": "http://127.0.0.1:9/",
        "TORYO_NOTICES__SMTP_URL": "smtp://127.0.0.1:9",
        "TORYO_NOTICES__EMAILS": '{"owner": "owner@example.invalid"}',
        "TORYO_DATABASE": "postgresql://127.0.0.1:9/none",
        "TORYO_SESSION__LEASE": "not a number",
    }
    keep = ["--keep", str(tmp_path / "kept")] if kept else []

    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, "simulate", str(file), "--json", *keep],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    said = json.loads(ran.stderr.splitlines()[-1])
    assert said == {"code": 0, "seen": []}, ran.stderr
    [run] = json.loads(ran.stdout)["runs"]
    assert run["tasks"]["completed"] >= len(_team(project)["tasks"]), run["unfinished"]
    assert not list(tmp_path.rglob("*.canary"))
    assert sorted(each.name for each in project.iterdir()) == [".git"]


def test_the_watch_of_this_test_sees_a_process_and_a_connection() -> None:
    tried = "import subprocess, socket\nsubprocess.run(['true'])\nsocket.socket().connect_ex(('127.0.0.1', 9))\n"
    watching = WATCHED.partition("from toryo")[0] + tried + "print(json.dumps([each for each, _ in seen]))"

    ran = subprocess.run([sys.executable, "-c", watching], capture_output=True, text=True, check=True)

    assert {"subprocess.Popen", "socket.connect"} <= set(json.loads(ran.stdout))
