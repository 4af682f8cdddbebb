"""Hostile agents on a machine as it is set up by default: they look for the owner's token, the database and what
belongs to other agents, and find nothing. Real processes; skipped, loudly, where there can be no sandbox.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostility import AGENT, HIDES, LOOKED, PROJECT, Grounds
from tests.sandboxes import sandboxed
from tests.scenarios.sites import Site
from toryo import sandbox_signs
from toryo.coordinator.config import KNOWN

pytestmark = pytest.mark.deep

__all__ = ["sandboxed"]

MODEL_PROGRAMS = sorted(KNOWN - {"command", "playbook", "script"})


@pytest.fixture
def site(tmp_path: Path, sandboxed: None) -> Iterator[Site]:
    with Site(tmp_path) as made:
        yield made


def thief(site: Site) -> str:
    """A shell command: prints what it could read of the data directory, wherever that is, and of the processes."""
    data = site.data
    return (
        f"cat {data}/owner.token {data}/coordinator.token {data}/toryo.db {data}/server.json {data}/workspaces/*/*"
        f" {data}/logs/* {site.directory}/*.yaml; grep -asz TORYO_TOKEN /proc/[0-9]*/environ; ls -A {data}; true"
    )


def stolen(site: Site, text: str) -> list[str]:
    known = [site.token("owner"), site.token("coordinator"), "SQLite format", "polling_interval"]
    return [each for each in known if each in text]


def run_as(site: Site, name: str, provider: str, context: dict[str, Any] | None = None, **agent: Any) -> str:
    """What an agent's program printed at a task of its own."""
    site.hire(name, "house", provider=provider, **agent)
    site.file("house", "Steal", assignee_id=name, status="in_progress", **({"context": context} if context else {}))
    look = lambda: site.people.rest("GET", "/launches", params={"agent_id": name})["launches"]  # noqa: E731
    launch_id = site.until(f"{name} is started", look)[0]["launch_id"]
    path, read = f"/launches/{launch_id}/log", ""

    def rest() -> bool:
        nonlocal read
        answer = site.people.rest("GET", path, params={"offset": len(read), "wait_seconds": 1})
        read += answer["text"]
        return bool(answer["ended"])

    site.until(f"the log of {launch_id} has ended", rest)
    return read


def test_a_command_agent_finds_no_token_no_database_and_no_other_agent(site: Site) -> None:
    site.project("house")
    program = site.coordinator()
    assert any("sandbox: on (bwrap)" in line for line in program.lines)
    said = run_as(site, "thief", "command", {"command": f"{thief(site)}; echo looked"})
    assert "looked" in said
    assert "No such file" in said
    assert stolen(site, said) == []


def test_a_playbook_finds_no_token_no_database_and_no_other_agent(site: Site) -> None:
    site.project("house")
    site.coordinator()
    plan = {"playbook": {"tasks": [{"subtasks": [{"id": "a", "title": "Look", "run": f"{thief(site)}; echo looked"}]}]}}
    said = run_as(site, "thief", "playbook", provider_options=plan)
    assert "looked" in said
    assert stolen(site, said) == []


def test_a_script_finds_no_token_no_database_and_no_other_agent(site: Site) -> None:
    site.project("house")
    site.coordinator()
    rules = {"script": {"tasks": [{"run": f"{thief(site)}; echo looked"}]}}
    said = run_as(site, "thief", "script", provider_options=rules)
    assert "looked" in said
    assert stolen(site, said) == []


def test_a_stand_in_for_each_model_program_finds_nothing_either(site: Site) -> None:
    site.project("house")
    evil = site.directory / "evil.py"
    evil.write_text(f"import subprocess\nsubprocess.run({json.dumps(f'{thief(site)}; echo looked')}, shell=True)\n")
    section = {"cli_command": sys.executable, "cli_args": ["-P", str(evil), "{prompt}"]}
    names = [*MODEL_PROGRAMS, "anything"]
    site.coordinator(ai_providers=dict.fromkeys(names, section))
    for name in names:
        said = run_as(site, f"thief-{name}", name)
        assert "looked" in said, name
        assert stolen(site, said) == [], name


def test_the_same_thief_succeeds_where_the_sandbox_is_switched_off(site: Site) -> None:
    """What the other tests have looked for is really there."""
    site.project("house")
    site.coordinator(sandbox="none")
    said = run_as(site, "thief", "command", {"command": f"cat {site.data}/toryo.db | head -c 20; ls {site.data}"})
    assert "SQLite format" in said


def test_an_acceptance_check_runs_what_an_agent_wrote_and_finds_nothing(site: Site) -> None:
    home = site.project("house")
    site.coordinator()
    site.hire("thief", "house")
    check = {"command": f"cat {site.data}/owner.token > stolen; cat {site.data}/toryo.db >> stolen; true"}
    task = site.file(
        "house",
        "Steal",
        assignee_id="thief",
        status="in_progress",
        context={"command": "true"},
        acceptance=[check],
    )
    site.until_status(task, "completed")
    assert (home / "stolen").read_text(errors="replace") == ""


def test_work_that_writes_outside_of_its_project_fails_with_the_setting_and_succeeds_with_it(site: Site) -> None:
    site.project("house")
    shared = site.directory / "shared"
    shared.mkdir()
    coordinator = site.coordinator()
    site.hire("ann", "house")
    works: dict[str, Any] = {
        "work": {"context": {"command": f"echo mine > {shared}/made"}},
        "check": {"context": {"command": "true"}, "acceptance": [{"command": f"echo mine > {shared}/checked"}]},
    }
    for name, work in works.items():
        task = site.file("house", name, assignee_id="ann", status="in_progress", **work)
        site.until_status(task, "failed")
        told = site.people.rest("GET", f"/traces/{task}")
        assert sandbox_signs.MAYBE in json.dumps(told, ensure_ascii=False), told
    site.until_idle()
    first = site.launches(agent_id="ann")[0]["launch_id"]
    site.until_logged(first, sandbox_signs.MAYBE)
    assert list(shared.iterdir()) == []

    coordinator.leave()
    site.coordinator("wider", sandbox_write=[shared])
    for name, work in works.items():
        task = site.file("house", f"{name} again", assignee_id="ann", status="in_progress", **work)
        site.until_status(task, "completed")
    assert sorted(path.name for path in shared.iterdir()) == ["checked", "made"]


@pytest.mark.deep
def test_a_program_renews_its_login_is_resumed_in_its_session_and_leaves_nothing_else(site: Site) -> None:
    own, program = site.directory / ".codex", site.directory / "codex"
    own.mkdir()
    login = {"tokens": {"access_token": "a1", "account_id": "me"}, "last_refresh": "then"}
    (own / "auth.json").write_text(json.dumps(login))
    renewed = {"tokens": {"access_token": "a2", "account_id": "me"}, "last_refresh": "now"}
    lines = (
        "#!/bin/sh",
        "cat ~/.codex/sessions/said && echo went on with $* && grep -q a2 ~/.codex/auth.json && echo logged in",
        "echo evil >~/.codex/evil; mkdir -p ~/.codex/sessions; echo said >~/.codex/sessions/said",
        f"echo '{json.dumps(renewed)}' >~/.codex/new && mv ~/.codex/new ~/.codex/auth.json",
        """echo '{"type":"thread.started","thread_id":"session-1"}'""",
    )
    program.write_text("\n".join(lines))
    program.chmod(0o755)
    site.project("house")
    site.coordinator(ai_providers={"codex": {"cli_command": str(program), "resume": True}})
    site.hire("worker", "house", provider="codex")
    site.file("house", "Build", assignee_id="worker", status="in_progress")
    told = lambda: "".join(path.read_text() for path in (site.data / "logs").glob("lau_*.log"))  # noqa: E731
    site.until("it went on", lambda: "logged in" in told())
    assert "resume session-1" in told()
    site.until("the login is renewed", lambda: json.loads((own / "auth.json").read_text()) == renewed)
    assert [path.name for path in own.rglob("*")] == ["auth.json"]


def test_a_program_still_reaches_the_server_after_its_coordinator_was_killed(site: Site) -> None:
    """Its proxy belongs to the launch. The next Coordinator tells what that has refused, too."""
    home = site.project("house")
    first = site.coordinator()
    site.hire("ann", "house")
    look = "curl -sS -m 9 https://evil.example/ >/dev/null 2>&1"
    command = f"touch ready; while [ ! -e go ]; do sleep 0.1; done; {look}; true"
    task = site.file("house", "Work", assignee_id="ann", status="in_progress", context={"command": command})
    site.until("its program runs", (home / "ready").exists)
    first.kill()
    site.coordinator()
    (home / "go").touch()
    site.until(f"{task} is completed", lambda: site.status(task) == "completed")
    (launch,) = site.people.rest("GET", "/launches", params={"agent_id": "ann"})["launches"]
    log = f"/launches/{launch['launch_id']}/log"
    site.until("its log names it", lambda: "·   evil.example:443" in site.people.rest("GET", log)["text"])


# --- everything that a hostile agent may try --------------------------------------------------------------------------


def hostile(grounds: Grounds) -> str:
    """What a command was told that has tried everything, and shown its page to a person."""
    site = grounds.site
    site.coordinator()
    site.hire(AGENT, PROJECT)
    grounds.prepare()
    once = f"test -e loot.txt || {{ {grounds.script()}}} >loot.txt 2>&1"
    task = grounds.start(context={"command": once})
    site.until("a person has looked at the page", grounds.visited)
    site.until_status(task, "failed")
    site.until_idle()
    (launch,) = site.launches(task_id=task)
    told = (grounds.tree / "loot.txt").read_text(errors="replace")
    assert LOOKED in told
    log = site.people.rest("GET", f"/launches/{launch['launch_id']}/log")["text"]
    return told + str(log)


def test_nothing_that_a_hostile_command_tries_has_an_effect(tmp_path: Path, sandboxed: None) -> None:
    with Site(tmp_path, sandbox="bwrap", real=True) as site, Grounds(site) as grounds:
        told = hostile(grounds)
        assert grounds.effects(told) == set()
        assert grounds.refused(told)


def test_all_of_it_has_its_effect_where_the_sandbox_is_switched_off(tmp_path: Path) -> None:
    """Else the test above would prove nothing."""
    with Site(tmp_path, real=True, sandbox="none") as site, Grounds(site, sandboxed=False) as grounds:
        found = grounds.effects(hostile(grounds))
        assert grounds.expected() - found == set()


def test_no_check_is_passed_by_hiding_whatever_its_command_hides(tmp_path: Path, sandboxed: None) -> None:
    with Site(tmp_path, sandbox="bwrap") as site, Grounds(site) as grounds:
        site.coordinator()
        site.hire(AGENT, PROJECT, max_parallel_tasks=len(HIDES))
        grounds.prepare()
        hide = ["sh", "-c", grounds.hiding(), "hide"]
        tasks = {grounds.start(title=name, context={"command": [*hide, name]}): name for name in HIDES}
        for task in tasks:
            site.until_status(task, "failed")
        found = site.history.of("task.checks_failed")
        assert {tasks[each["task_id"]] for each in found} == set(HIDES)
        assert [each for each in found if not grounds.caught(each, tasks[each["task_id"]])] == []
        site.until_idle()
        collected = {name: grounds.collected(task) for task, name in tasks.items()}
        assert LOOKED in collected["checked"]
        assert grounds.effects("".join(collected.values())) == set()
