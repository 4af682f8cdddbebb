"""`toryo doctor` and `toryo coordinator check`: what is said of programs that are ready, and of those that are not."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import sandboxes
from tests.cli.conftest import Ended, Process, Toryo
from tests.cli.fakes import Machine
from tests.client.fake_server import BOUND
from tests.clis.programs import PROGRAMS
from tests.repositories import Repository
from toryo.cli import agent_programs, doctor
from toryo.coordinator import program_probe, sandbox
from toryo.coordinator.providers import BUILT_IN

TRIED = BUILT_IN["claude"].tried


def seen(machine: Machine, name: str) -> agent_programs.Program:
    """What is found out about one program."""
    (found,) = agent_programs.programs_of([BUILT_IN[name]], machine.environment)
    return found


# --- programs --------------------------------------------------------------------------------------------------------


def test_a_program_that_is_there_and_logged_in_is_ready(machine: Machine) -> None:
    machine.install("claude")
    found = seen(machine, "claude")
    assert (found.ready, found.version, found.instruction) == (True, "99.0.0", "")
    assert "logged in (claude.ai)" in found.what


def test_a_program_that_is_not_logged_in_says_how(machine: Machine) -> None:
    machine.install("codex", logged_in=False)
    found = seen(machine, "codex")
    assert (found.ready, found.ok, found.logged_in) == (False, True, False)
    assert found.instruction == BUILT_IN["codex"].log_in


def test_a_program_that_is_missing_names_the_command_that_installs_it_and_node_where_npm_is_missing(
    machine: Machine,
) -> None:
    found = seen(machine, "gemini")
    assert (found.ok, found.installed) == (False, False)
    assert found.instruction == "Install Node.js 20 or newer; then: npm install -g @google/gemini-cli"
    machine.put("npm", "#!/bin/sh\n")
    assert seen(machine, "gemini").instruction == "npm install -g @google/gemini-cli"


def test_a_program_for_node_without_node_says_so(machine: Machine) -> None:
    machine.put("codex", "#!/usr/bin/env node\nconsole.log('codex-cli 1.0.0')\n")
    found = seen(machine, "codex")
    assert (found.ok, found.installed) == (False, True)
    assert "node is not on PATH" in found.what
    assert "Node.js 20" in found.instruction


@pytest.mark.parametrize(
    ("says", "what", "version"),
    [
        ((0, "1.0.9 (Claude Code)\n"), "1.0.9, older than the tested version", "1.0.9"),
        ((0, "\x1b[31mA newer\x07 program\n"), "unknown version ([31mA newer program)", None),
        ((0, ""), "unknown version (prints nothing)", None),
    ],
)
def test_a_version_that_was_not_tried_is_told_with_the_one_that_was(
    machine: Machine, says: tuple[int, str], what: str, version: str | None
) -> None:
    machine.install("claude", says=says)
    found = seen(machine, "claude")
    assert found.what.startswith(what)
    assert (found.ok, found.version) == (True, version)
    assert TRIED in found.instruction


def test_a_version_that_npm_has_chosen_for_an_old_node_is_not_advised_to_be_installed_again(machine: Machine) -> None:
    """On Node 20, `npm install -g` installs again what is there."""
    machine.install("codex", says=(0, "codex-cli 0.0.1\n"))
    machine.put("node", "#!/bin/sh\necho v20.20.2\n")
    assert "first a newer Node.js (this is 20.20.2): npm install -g" in seen(machine, "codex").instruction


@pytest.mark.parametrize("answer", [(1, "Traceback: out of cheese\n"), (139, "")])
def test_a_program_that_crashes_cannot_be_started_and_its_words_are_told(
    machine: Machine, answer: tuple[int, str]
) -> None:
    machine.install("claude", says=answer)
    found = seen(machine, "claude")
    assert (found.ok, found.ready) == (False, False)
    assert f"exit code {answer[0]}" in found.what
    assert answer[1].strip() in found.what
    assert "by hand to see why: claude --version" in found.instruction


def test_what_cannot_be_executed_at_all_is_told(machine: Machine) -> None:
    machine.put("claude", "no program\n").write_bytes(b"\x7fELF rubbish")
    found = seen(machine, "claude")
    assert (found.ok, found.installed) == (False, True)
    assert "cannot be started" in found.what


def test_a_login_that_answers_rubbish_cannot_be_told(machine: Machine) -> None:
    machine.install("claude", login=[0, '["no"]'])
    found = seen(machine, "claude")
    assert (found.ok, found.logged_in, found.ready) == (True, None, False)


def test_programs_that_hang_are_given_up_at_once_and_nothing_of_them_goes_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_probe, "WITHIN", 1.0)
    for name in agent_programs.KNOWN:
        machine.install(name, hangs=True)
    before = time.monotonic()
    found = agent_programs.model_programs(machine.environment)
    assert time.monotonic() - before < 10
    assert [program.ok for program in found] == [False] * len(agent_programs.KNOWN)
    assert all("does not answer within 1 s" in program.what for program in found)
    until = time.monotonic() + BOUND
    while left := running(machine.bin):  # what was killed is gone when it has had its turn
        assert time.monotonic() < until, left


def running(folder: Path) -> list[str]:
    """Processes whose environment has this folder as their PATH."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and path.name != str(os.getpid()):
            try:
                if f"PATH={folder}\0".encode() in (path / "environ").read_bytes():
                    found.append((path / "cmdline").read_text())
            except OSError:
                continue
    return found


def test_only_what_an_agent_would_see_counts_as_a_login(tmp_path: Path) -> None:
    """A key that the provider does not pass on is no login."""
    machine = Machine(tmp_path, {"GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
    machine.install("gemini")
    machine.install("qwen")
    assert seen(machine, "gemini").logged_in is True
    assert seen(machine, "qwen").logged_in is False


def test_the_versions_that_are_said_to_be_tried_are_those_of_the_tests_with_real_programs() -> None:
    assert {name: BUILT_IN[name].tried for name in agent_programs.KNOWN} == {
        name: program.version for name, program in PROGRAMS.items()
    }


# --- toryo coordinator check -----------------------------------------------------------------------------------------


def test_check_says_of_a_named_program_whether_it_is_logged_in(machine: Machine) -> None:
    machine.install("codex", logged_in=False)
    (machine.place / "c.yaml").write_text("ai_providers: {codex: {}}\n")
    ended = machine.toryo("coordinator", "check", "-c", "c.yaml")
    assert ended.code == 0
    assert "not logged in" in ended.out
    assert "Run codex login" in ended.out


def test_check_says_of_each_account_whether_it_is_logged_in(machine: Machine) -> None:
    machine.install("claude", logged_in=False)
    text = "ai_providers: {claude: {accounts: {second: {env: {ANTHROPIC_API_KEY: key-of-second}}}}}\n"
    (machine.place / "c.yaml").write_text(text)
    told = machine.toryo("coordinator", "check", "-c", "c.yaml", "--json").json["providers"]
    logins = {each["name"]: each["logged_in"] for each in told if "claude" in each["name"]}
    assert logins == {"claude": False, "claude (second)": True}
    assert "key-of-second" not in machine.toryo("coordinator", "check", "-c", "c.yaml").out


def test_check_fails_for_an_account_with_which_the_program_does_not_start(machine: Machine) -> None:
    program = machine.install("claude")
    program.write_text('#!/bin/sh\n[ -z "$ANTHROPIC_API_KEY" ] || exit 3\necho 2.1.330\n')
    text = "ai_providers: {claude: {accounts: {second: {env: {ANTHROPIC_API_KEY: key-of-second}}}}}\n"
    (machine.place / "c.yaml").write_text(text)
    ended = machine.toryo("coordinator", "check", "-c", "c.yaml", "--json")
    told = {each["name"]: each["ok"] for each in ended.json["providers"] if "claude" in each["name"]}
    assert (told, ended.code) == ({"claude": True, "claude (second)": False}, 1)


def test_check_refuses_an_account_that_would_use_the_login_of_this_machine(machine: Machine) -> None:
    (machine.place / "c.yaml").write_text(
        "ai_providers: {claude: {accounts: {second: {env: {CLAUDE_CONFG_DIR: /s}}}}}\n"
    )
    ended = machine.toryo("coordinator", "check", "-c", "c.yaml")
    assert ended.code == 2
    assert "did you mean CLAUDE_CONFIG_DIR?" in ended.err


def test_check_says_how_to_log_in_to_an_account(machine: Machine) -> None:
    machine.install("claude", logged_in=False)
    accounts = "{second: {env: {CLAUDE_CONFIG_DIR: /none}}}"
    (machine.place / "c.yaml").write_text(f"ai_providers: {{claude: {{accounts: {accounts}}}}}\n")
    told = machine.toryo("coordinator", "check", "-c", "c.yaml").out
    assert "In the environment of this account (CLAUDE_CONFIG_DIR): run claude once and log in" in told


def test_check_asks_the_program_that_the_file_names(machine: Machine) -> None:
    elsewhere = machine.home / "elsewhere" / "claude"
    elsewhere.parent.mkdir()
    for each in (machine.install("claude"), machine.bin / "fake_agent.py"):
        each.rename(elsewhere.with_name(each.name))
    machine.install("claude", logged_in=False)
    (machine.place / "c.yaml").write_text(f"ai_providers: {{claude: {{cli_command: {elsewhere}}}}}\n")
    told = machine.toryo("coordinator", "check", "-c", "c.yaml", "--json").json["providers"]
    assert [each["logged_in"] for each in told if each["name"] == "claude"] == [True]


def test_check_fails_for_a_named_program_that_is_missing_and_not_for_others(machine: Machine) -> None:
    machine.install("codex", says=(1, ""))
    (machine.place / "c.yaml").write_text("ai_providers: {claude: {}}\n")
    ended = machine.toryo("coordinator", "check", "-c", "c.yaml", "--json")
    assert ended.code == 1
    told = {provider["name"]: provider["ok"] for provider in ended.json["providers"]}
    assert (told["claude"], told["codex"], told["command"]) == (False, False, True)
    assert "gemini" not in told
    (machine.place / "c.yaml").write_text("ai_providers: {command: {}}\n")
    assert machine.toryo("coordinator", "check", "-c", "c.yaml").code == 0


# --- toryo doctor ----------------------------------------------------------------------------------------------------

TEAM = """\
projects:
  - {{id: bakery, name: bakery, directory: ., settings: {{isolation: {isolation}}}}}
  - {{id: mill, name: mill, directory: {mill}}}
agents:
  - {{id: ann, role: worker, provider: {provider}, projects: [bakery]}}
"""


@pytest.fixture
def working(machine: Machine) -> Iterator[Machine]:
    """With a server and a Coordinator, in the project's place."""
    with at_work(machine):
        yield machine


@contextlib.contextmanager
def at_work(machine: Machine) -> Iterator[None]:
    """What is installed by now is what the Coordinator offers; later installed programs it sees within a minute."""
    (machine.place / ".toryo").mkdir()
    process = Process("up", "--port", "0", environment=machine.environment, cwd=machine.place)
    try:
        process.until("connected to http://")
        yield
    finally:
        process.end()


def diagnosed(machine: Machine, **team: str) -> tuple[Ended, dict[str, dict[str, Any]]]:
    """What doctor says of such a team, by name. A `mill` of its own has been deleted since it was added."""
    said = {"isolation": "none", "mill": ".", "provider": "command", **team}
    (machine.place / "toryo.yaml").write_text(TEAM.format(**said))
    mill = machine.place / said["mill"]
    mill.mkdir(exist_ok=True)
    assert machine.toryo("apply", "--yes", "toryo.yaml").code == 0
    if said["mill"] != ".":
        mill.rmdir()
    ended = machine.toryo("doctor", "--json")
    return ended, {finding["name"]: finding for finding in json.loads(ended.out)["findings"]}


def test_doctor_is_content_with_a_team_that_has_what_it_needs(machine: Machine) -> None:
    machine.install("claude")
    machine.place.rmdir()
    Repository(machine.place).commit(a="one\n")
    hook = machine.place / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with at_work(machine):
        ended, found = diagnosed(machine, provider="claude", isolation="worktree")
    assert ended.code == 0, found
    assert found["hooks of bakery"]["what"].startswith("pre-commit of the repository: do not run")
    assert found["claude"]["ok"]
    assert found["coordinators"]["ok"]
    assert found["sandbox"]["ok"] is found["network"]["ok"] is sandboxes.works(machine.environment)
    assert (found["gemini"]["ok"], found["gemini"]["needed"]) == (False, False)
    assert "B in" in found["logs"]["what"]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("installed", "instruction"),
    [
        (None, "npm install -g @openai/codex"),
        ({"logged_in": False}, "Run codex login"),
        ({"says": (1, "")}, "codex --version"),
    ],
)
def test_what_an_agent_needs_and_does_not_have_is_missing(
    working: Machine, installed: dict[str, Any] | None, instruction: str
) -> None:
    if installed is not None:
        working.install("codex", **installed)
    ended, found = diagnosed(working, provider="codex")
    assert ended.code == 1
    assert (found["codex"]["ok"], found["codex"]["needed"]) == (False, True)
    assert "used by ann" in found["codex"]["what"]
    assert instruction in found["codex"]["instruction"]


def test_programs_are_looked_for_on_the_path_of_the_coordinator_that_starts_them(machine: Machine) -> None:
    """It was started by another shell, which does not find what this one finds."""
    own, elsewhere = machine.environment["PATH"], machine.bin.with_name("elsewhere")
    elsewhere.mkdir()
    machine.install("claude").rename(elsewhere / "claude")
    with at_work(machine):
        machine.variables["PATH"] = f"{elsewhere}{os.pathsep}{own}"
        ended, found = diagnosed(machine, provider="claude")
    assert ended.code == 1
    assert (found["claude"]["ok"], found["claude"]["needed"]) == (False, True)
    assert "not of this shell: " in found["PATH"]["what"] and own in found["PATH"]["what"]
    assert doctor._places({}) == [doctor.Place(os.environ["PATH"])]


def test_an_agent_whose_provider_no_coordinator_offers_is_named(working: Machine) -> None:
    ended, found = diagnosed(working, provider="oracle")
    assert ended.code == 1
    assert "ann" in found["provider oracle"]["what"]
    assert "ai_providers" in found["provider oracle"]["instruction"]


def test_a_directory_that_is_not_here_and_git_that_is_missing_are_told_with_the_project(working: Machine) -> None:
    (working.bin / "git").unlink()
    ended, found = diagnosed(working, isolation="worktree", mill="nowhere")
    assert ended.code == 1
    assert "git is not on PATH" in found["project bakery"]["what"]
    assert "does not exist on this machine" in found["project mill"]["what"]
    assert "toryo project edit mill --dir PATH" in found["project mill"]["instruction"]


def test_without_a_server_doctor_says_all_that_it_can_about_the_programs(machine: Machine) -> None:
    machine.install("claude")
    ended = machine.toryo("doctor")
    assert ended.code == 1
    assert "toryo up" in ended.out
    assert "ok       claude" in ended.out
    assert "then: npm install -g opencode-ai" in ended.out
    assert machine.left() == []


def test_every_finding_is_one_line_and_so_is_what_to_do(nowhere: Toryo) -> None:
    found = json.loads(nowhere("doctor", "--json").out)["findings"]
    assert [each for each in found if "\n" in each["what"] + each["instruction"]] == []
    assert [each["name"] for each in found if not each["ok"] and not each["instruction"]] == []


def test_it_says_that_agents_run_without_a_sandbox_and_what_each_may_do(machine: Machine) -> None:
    machine.variables["TORYO_SANDBOX"] = "none"
    with at_work(machine):
        _, found = diagnosed(machine, provider="claude")
        assert "sandbox: off" in machine.toryo("coordinator", "check").out
        assert machine.toryo("agent", "edit", "ann", "--option", "commands=[pytest]", "--yes").code == 0
        named = machine.toryo("doctor").out
    assert "ann: edit (default) + pytest" in named and "not run without a sandbox, but named for ann" in named
    assert "it is switched off" in found["sandbox"]["what"]
    assert "bubblewrap" in found["sandbox"]["instruction"]
    assert (found["sandbox"]["ok"], found["sandbox"]["needed"]) == (False, False)
    assert "ann" in found["permissions"]["what"]
    assert "not enforced without a sandbox" in found["network"]["what"]
    assert ": model" in found["network"]["what"]
    assert (found["network"]["ok"], found["network"]["needed"]) == (False, False)


def test_it_says_that_a_sandbox_cannot_limit_the_network_and_what_allows_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox, "looked_for", lambda _: sandbox.Found("/usr/bin/bwrap", why_open="bwrap: no space"))
    monkeypatch.delenv("TORYO_SANDBOX", raising=False)
    (found,) = doctor._of_sandbox(doctor.Team(), {})
    assert "bwrap: no space" in found.what
    assert not found.ok
    assert "max_net_namespaces" in found.instruction


# --- a data directory that is gone -----------------------------------------------------------------------------------


def test_where_the_data_of_a_project_was_deleted_doctor_still_says_everything_else(nowhere: Toryo) -> None:
    place = nowhere.home / "place"
    place.mkdir()
    data = Path(json.loads(nowhere("init", "--yes", "--provider", "none", "--json", cwd=place).out)["data_dir"])
    shutil.rmtree(data)
    ended = nowhere("doctor", cwd=place)
    assert (ended.code, ended.err) == (1, "")
    assert "missing  data directory" in ended.out and "If it was deleted" in ended.out
    assert "sandbox" in ended.out and "claude" in ended.out


def test_of_a_server_whose_database_was_deleted_doctor_says_so_and_what_to_do(fresh_server: Toryo) -> None:
    data = Path(fresh_server.environment["TORYO_DATA_DIR"])
    address = json.loads((data / "server.json").read_bytes())["url"]
    token = (data / "owner.token").read_text().strip()
    for each in data.glob("toryo.db*"):
        each.rename(each.with_name(f"kept-{each.name}"))
    ended = fresh_server("--server", address, "--token", token, "doctor")
    for each in data.glob("kept-*"):
        each.rename(each.with_name(each.name.removeprefix("kept-")))
    assert ended.code == 1
    assert "missing  server" in ended.out and "toryo.db was deleted, moved or replaced" in ended.out
    assert "start it again" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("says", "offers"),
    [
        ({"providers": ["claude", "gemini"]}, ["claude", "gemini"]),
        (
            {"providers": ["claude", "gemini"], "accounts": {"claude": ["claude", "second"], "gemini": ["ours"]}},
            ["claude", "claude (second)", "gemini (ours)"],
        ),
        ({"providers": [], "accounts": {}}, ["any provider"]),
    ],
)
def test_a_coordinator_is_shown_with_what_it_can_start(says: dict[str, Any], offers: list[str]) -> None:
    coordinator = {"coordinator_id": "shed", "disk": None, **says}
    [finding] = doctor._of_coordinators(doctor.Team(coordinators=[coordinator]), [])
    assert finding.what == f"shed: {', '.join(offers)}"
