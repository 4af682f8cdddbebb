"""A task that wants something said to others: delegated once, waited for, and its result put to use."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_server import Call, FakeServer, Refused
from tests.coordinator.test_session import COMMAND, run
from tests.coordinator.test_talking import SCRIPT
from toryo.agents.agent_loop import Over, Session
from toryo.agents.command import CommandRunner
from toryo.client import Client
from toryo.formats import script_format, yaml_documents

ASK = {"target_agent_id": "bob", "purpose": "Ask Bob"}


class Task:
    """One task at a server that remembers what was delegated; `answers` are the results, one for each look at it."""

    def __init__(self, server: FakeServer, context: dict[str, Any] | None = None, title: str = "Do it") -> None:
        self._server = server
        self.task = {"task_id": "tsk_1", "title": title, "context": context or {}}
        self.delegations: list[dict[str, Any]] = []
        self.looks_until_answered = 1
        self.refused = 0
        self.waited = 0
        self.result = "42"
        server.on("authenticate", {"purpose": "task", "agent_id": "me", "next": {"action": "get_task"}})
        server.on("get_my_task", lambda _: self._look())
        server.on("get_next_action", lambda call: {"success": True, **self._next(call)})
        server.on("delegate_to_chat_session", self._delegate)
        server.on("get_task_conversations", lambda _: self._wait())
        server.on("report_completed", self._report)
        server.on("logout", {})

    def _look(self) -> dict[str, Any]:
        self.looks_until_answered -= 1
        if self.looks_until_answered < 0:
            self.answer()
        return {
            "success": True,
            "task": self.task,
            "delegations": [dict(delegation) for delegation in self.delegations],
        }

    def answer(self) -> None:
        for delegation in self.delegations:
            delegation.update(status="completed", result=self.result)

    def _wait(self) -> dict[str, Any]:
        """The server waits, and answers when its patience is over."""
        self.waited += 1
        return {"success": True, "delegations": [], "conversations": []}

    def _next(self, call: Call) -> dict[str, Any]:
        if self.waited and any(delegation["status"] == "pending" for delegation in self.delegations):
            self.answer()
            return {"action": "wait_for_delegation"}
        return {"action": "execute_task"}

    def _delegate(self, call: Call) -> dict[str, Any]:
        known = {name: call.arguments[name] for name in ("target_agent_id", "purpose")}
        made = {"delegation_id": f"dlg_{len(self.delegations) + 1}", "status": "pending", "result": None, **known}
        self.delegations.append(made)
        return {"success": True, "delegation_id": made["delegation_id"], "message": "soon"}

    def _report(self, call: Call) -> dict[str, Any]:
        if call.arguments["result"] == "success" and any(
            delegation["status"] == "pending" for delegation in self.delegations
        ):
            self.refused += 1
            raise Refused("delegationOpen", next={"action": "get_next_action"})
        return {"success": True, "action": "exit"}

    @property
    def reported(self) -> dict[str, Any]:
        return self._server.seen("report_completed")[-1].arguments

    def delegated(self) -> list[dict[str, Any]]:
        return [call.arguments for call in self._server.seen("delegate_to_chat_session")]


def test_a_command_finds_what_others_have_answered_in_its_environment(server, tmp_path) -> None:
    task = Task(server, {"delegate": ASK, "command": 'echo "$TORYO_DELEGATION_RESULT; $TORYO_DELEGATION_RESULTS"'})
    assert run(server.url).returncode == 0
    assert task.delegated() == [ASK]
    first, _, everything = task.reported["summary"].partition("; ")
    assert first == "42"
    assert json.loads(everything) == [{"delegation_id": "dlg_1", "status": "completed", "result": "42", **ASK}]
    assert task.reported["result"] == "success"


def test_what_is_too_long_for_an_environment_is_in_a_file_only(server) -> None:
    """A program is not started with more than 128 kB in one variable."""
    look = 'wc -c < "$TORYO_DELEGATION_RESULT_FILE"; env | grep -c "^TORYO_DELEGATION_RESULT[S]*="; true'
    task = Task(server, {"delegate": ASK, "command": look})
    task.result = "五" * 50_000
    assert run(server.url).returncode == 0
    assert task.reported["summary"].split() == ["150000", "0"]


def test_a_command_without_delegations_finds_nothing_of_the_kind(server) -> None:
    task = Task(server, {"command": "env | grep -c TORYO_DELEGATION; true"})
    run(server.url)
    assert task.reported["summary"] == "0"


def test_without_a_command_the_answers_are_the_summary_when_all_of_them_are_there(server) -> None:
    """Nothing is reported before: it might be accepted a moment after the last look, without the answer."""
    task = Task(server, {"delegate": [ASK, {**ASK, "target_agent_id": "cid", "context": "c", "await_result": True}]})
    task.looks_until_answered = 3
    assert run(server.url).returncode == 0
    assert (task.refused, task.waited) == (0, 1)
    assert task.reported == {"result": "success", "summary": "bob: 42\ncid: 42"}
    assert len(task.delegated()) == 2


def test_what_was_delegated_before_a_restart_is_not_delegated_again(server) -> None:
    task = Task(server, {"delegate": ASK})
    task.delegations = [{"delegation_id": "dlg_1", "status": "pending", "result": None, **ASK}]
    run(server.url)
    assert not task.delegated()
    assert task.reported["summary"] == "bob: 42"


def test_what_is_not_awaited_is_not_waited_for(server) -> None:
    task = Task(server, {"delegate": {**ASK, "await_result": False}, "command": "echo done"})
    task.looks_until_answered = 99
    server.on("report_completed", {"action": "exit"})
    run(server.url)
    assert task.reported == {"result": "success", "summary": "done"}
    assert (len(server.seen("get_my_task")), task.waited) == (1, 0)


def test_what_may_not_be_delegated_blocks_the_task_with_the_reason(server) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("agentNotFound", "There is no agent bob.")

    task = Task(server, {"delegate": ASK})
    server.on("delegate_to_chat_session", no)
    run(server.url)
    assert task.reported == {"result": "blocked", "summary": "This could not be delegated: There is no agent bob."}


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ({"ask": {"question": "Which color?", "option": ["Blue"]}}, "an unknown key 'option'. Did you mean options?"),
        ({"ask": {"question": "Which color?", "deadline": 5}}, "an unknown key 'deadline'. Did you mean deadline_minu"),
        ({"ask": {"questoin": "Which color?"}}, "an unknown key 'questoin'. Did you mean question?"),
        ({"ask": ["Which color?"]}, "neither an object nor a list of objects. Give question."),
        ({"ask": {"options": ["Blue"]}}, "`ask` in its context has no question."),
        ({"delegate": {**ASK, "target": "bob"}}, "an unknown key 'target'. Use some of: target_agent_id, "),
        ({"delegate": {"purpose": "Ask Bob"}}, "`delegate` in its context has no target_agent_id."),
    ],
)
def test_a_misspelt_wish_of_a_task_is_told_and_its_command_does_not_run_without_it(server, context, told) -> None:
    task = Task(server, {**context, "command": "echo ran"})
    server.on("ask_person", {"success": True, "question_id": "qst_1", "answered_before": None})
    run(server.url)
    assert task.reported["result"] == "blocked"
    assert told in task.reported["summary"]
    assert not server.seen("ask_person") + server.seen("delegate_to_chat_session")


def test_an_awaited_delegation_that_failed_fails_a_task_that_is_nothing_else(server) -> None:
    task = Task(server, {"delegate": ASK})
    task.delegations = [{"delegation_id": "dlg_1", "status": "failed", "result": "nobody_came", **ASK}]
    task.answer = lambda: None  # type: ignore[method-assign]
    run(server.url)
    assert task.reported == {"result": "failed", "summary": "bob: failed: nobody_came"}


@pytest.mark.parametrize("context", [{}, {"command": "echo the task's"}])
def test_a_script_delegates_and_runs_by_the_title_of_the_task(server: FakeServer, tmp_path: Path, context) -> None:
    task = Task(server, context, title="Play with bob")
    script = """
tasks:
  - match: Play with (?P<who>.+)
    delegate: {target_agent_id: "{{who}}", purpose: "shiritori for {{task_id}}"}
    run: echo {{who}} "says $TORYO_DELEGATION_RESULT"
"""
    (tmp_path / "s.json").write_text(json.dumps(script_format.parse(yaml_documents.read(script, "s"))))
    run(server.url, module=SCRIPT, arguments=("--file", str(tmp_path / "s.json")))
    assert [(each["target_agent_id"], each["purpose"]) for each in task.delegated()] == [("bob", "shiritori for tsk_1")]
    assert task.reported["summary"] == "bob says 42"


def test_an_agent_with_a_script_does_other_tasks_as_the_command_agent_does(server, tmp_path) -> None:
    for module in (COMMAND, SCRIPT):
        task = Task(server, {"command": "echo hi"})
        (tmp_path / "s.json").write_text(json.dumps(script_format.parse(yaml_documents.read("{}", "s"))))
        arguments = ("--file", str(tmp_path / "s.json")) if module == SCRIPT else ()
        run(server.url, module=module, arguments=arguments)
        assert task.reported == {"result": "success", "summary": "hi"}


def test_whoever_waits_for_an_answer_hears_that_its_task_was_withdrawn(server) -> None:
    task = Task(server, {"delegate": ASK, "command": "echo never"})
    task.looks_until_answered = 99
    look, actions = task._look, iter([{}, {}, {"next": {"action": "get_notifications"}}, {}])
    server.on("get_my_task", lambda _: {**look(), **next(actions)})
    server.on("get_notifications", {"notifications": [{"message": "withdrawn"}], "next": {"action": "exit"}})
    assert "notice: withdrawn" in run(server.url).stdout
    assert server.seen("report_completed") == []


@pytest.mark.parametrize(("command", "summary"), [("echo $TORYO_DELEGATION_RESULT", "42"), (None, "bob: 42")])
def test_where_an_answer_takes_long_the_server_waits_and_then_all_is_done(server, command, summary) -> None:
    """It waits once here; from then on `get_next_action` does, which may end this process: nothing is told early."""
    task = Task(server, {"delegate": ASK, "command": command})
    task.looks_until_answered = 99
    session = Session(Client(server.url, "tlc_1"), {"TORYO_LAUNCH_CREDENTIAL": "tlc_1"}, "command")
    with pytest.raises(Over):
        CommandRunner(session, dict(os.environ)).work()
    assert (task.refused, task.waited) == (0, 1)
    assert [call.tool for call in server.calls].count("report_completed") == 1
    assert task.reported["summary"] == summary
