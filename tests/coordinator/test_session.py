"""A runner as a process of its own against a scripted server: polite, patient, and never in a circle."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.client.fake_server import BOUND, FakeServer, Refused

COMMAND = "toryo.agents.command"


def run(server_url: str, *, module: str = COMMAND, arguments: tuple[str, ...] = (), **env: str):
    """The finished process of a runner that was started with a launch credential."""
    argv = [sys.executable, "-P", "-u", "-m", module, *arguments]
    known = {"PATH": os.environ["PATH"], "TORYO_SERVER_URL": server_url, "TORYO_LAUNCH_ID": "lau_1"}
    env = {**known, "TORYO_LAUNCH_CREDENTIAL": "tlc_1", **env}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=BOUND, check=False)


@pytest.fixture
def led(server: FakeServer) -> FakeServer:
    """A server that greets, and lets everybody leave."""
    server.on("authenticate", {"session_token": "tst_1", "next": {"action": "get_next_action"}})
    server.on("logout", {})
    server.on("save_progress", {})
    return server


def tools(server: FakeServer) -> list[str]:
    return [call.tool for call in server.calls]


def test_it_signs_in_with_its_launch_credential_and_follows_what_rides_along(led: FakeServer) -> None:
    led.on("authenticate", {"next": {"action": "report_model"}})
    led.on("report_model", {"next": {"action": "get_task"}})
    led.on("get_my_task", {"task": {"context": {"command": "echo hi"}}, "next": {"action": "execute_task"}})
    led.on("report_completed", {"action": "exit"})
    done = run(led.url)
    assert done.returncode == 0
    assert tools(led) == ["authenticate", "report_model", "get_my_task", "report_completed"]
    assert led.calls[0].arguments == {}
    assert led.calls[0].token == "tlc_1"
    assert led.calls[1].arguments == {"provider": "command", "model_id": "command"}
    assert led.calls[3].arguments == {"result": "success", "summary": "hi"}


def test_without_a_credential_it_signs_in_with_id_and_passkey(led: FakeServer) -> None:
    led.on("get_next_action", {"action": "exit"})
    run(led.url, TORYO_LAUNCH_CREDENTIAL="", AGENT_ID="a", AGENT_PASSKEY="k", PROJECT_ID="p")
    assert led.calls[0].arguments == {"agent_id": "a", "passkey": "k", "project_id": "p"}
    assert led.calls[0].token is None
    assert led.calls[1].arguments["session_token"] == "tst_1"


def test_a_refusal_is_printed_and_what_it_advises_is_done(led: FakeServer) -> None:
    def no(_):
        raise Refused("notNow", "Not now.", "Read your task first.", next={"action": "exit"})

    led.on("get_next_action", {"action": "report_model"})
    led.on("report_model", no)
    done = run(led.url)
    assert "error: Not now.\nRead your task first.\n" in done.stdout
    assert (done.returncode, tools(led)[-1]) == (0, "logout")


def test_an_action_it_does_not_know_three_times_is_enough(led: FakeServer) -> None:
    led.on("get_next_action", {"action": "juggle", "state_version": 7})
    done = run(led.url)
    assert done.returncode == 0
    assert tools(led).count("get_next_action") <= 5
    assert tools(led)[-2:] == ["save_progress", "logout"]
    assert "keeps answering juggle" in led.seen("save_progress")[0].arguments["progress"]


def test_the_same_advice_without_any_change_is_not_followed_for_ever(led: FakeServer) -> None:
    led.on("get_next_action", {"action": "get_notifications", "state_version": 7})
    led.on("get_notifications", {"notifications": [{"message": "look"}]})
    done = run(led.url)
    assert "notice: look" in done.stdout
    assert tools(led).count("get_notifications") == 3
    assert tools(led)[-1] == "logout"


@pytest.mark.parametrize("action", ["exit", "wait", "wait_for_others", "logout"])
def test_when_told_to_leave_it_leaves(led: FakeServer, action: str) -> None:
    led.on("get_next_action", {"action": action})
    assert run(led.url).returncode == 0
    assert tools(led) == ["authenticate", "get_next_action", "logout"]


def test_a_wait_is_asked_for_again_as_often_as_it_is_told(led: FakeServer) -> None:
    waits = iter([{"action": "wait_for_delegation", "state_version": 1}] * 6 + [{"action": "exit"}])
    led.on("get_next_action", lambda _: {"success": True, **next(waits)})
    assert run(led.url).returncode == 0
    assert tools(led).count("get_next_action") == 7


def test_a_report_that_is_still_being_checked_is_repeated_as_it_was(led: FakeServer) -> None:
    answers = iter([Refused("notNow", "The acceptance checks are still running."), None])

    def report(_):
        no = next(answers)
        if no is not None:
            raise no
        return {"success": True, "action": "exit"}

    led.on("get_next_action", {"action": "execute_task"})
    led.on("report_completed", report)
    assert run(led.url).returncode == 0
    first, second = led.seen("report_completed")
    assert first.arguments == second.arguments


@pytest.mark.pitfall("F7")
def test_a_refused_sign_in_ends_it_with_its_own_exit_code(led: FakeServer) -> None:
    led.on("authenticate", lambda _: {"success": False, "error": "Agent already running", "code": "alreadyRunning"})
    done = run(led.url)
    assert done.returncode == 77
    assert "error: Agent already running" in done.stdout
    assert tools(led) == ["authenticate"]


def test_what_is_no_toryo_server_ends_it_with_its_own_exit_code(led: FakeServer) -> None:
    led.raw = (200, "text/html", b"<html>")
    assert run(led.url).returncode == 69


def test_an_answer_that_was_lost_is_asked_for_again(led: FakeServer) -> None:
    led.drop_next = 1
    led.on("get_next_action", {"action": "exit"})
    assert run(led.url).returncode == 0


def test_a_playbook_that_cannot_be_read_ends_its_runner_before_it_signs_in(led: FakeServer, tmp_path) -> None:
    (tmp_path / "plan.yaml").write_text("task: []\n")
    module = "toryo.agents.playbook"
    done = run(led.url, module=module, arguments=("--file", str(tmp_path / "plan.yaml")))
    assert done.returncode == 78
    assert "plan.yaml:1: task: there is no such key; did you mean tasks?" in done.stdout
    assert not led.calls
