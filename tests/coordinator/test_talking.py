"""A chat session of an agent without a model against a scripted server: everything that comes is dealt with once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_server import BOUND, Call, FakeServer, Refused
from tests.coordinator.test_session import COMMAND, run, tools
from toryo.formats import script_format, yaml_documents

SCRIPT = "toryo.agents.script"
TALK = frozenset(
    {
        *("respond_chat", "send_message", "start_conversation", "send_conversation_message", "end_conversation"),
        *("report_delegation_completed", "notify_task_session", "request_task"),
    }
)


class Chat:
    """Hands out what it is given, one hand-out after the other; then the chat is closed."""

    def __init__(self, server: FakeServer, *hand_outs: dict[str, Any]) -> None:
        self._server = server
        self._left = list(hand_outs)
        self.conversations = 0
        server.on("authenticate", {"purpose": "chat", "agent_id": "me", "agent_name": "Mia", "project_id": "prj"})
        server.on("get_next_action", lambda _: {"success": True, **self._next()})
        server.on("get_pending_messages", lambda _: {"success": True, **self._left.pop(0)})
        for tool in ("logout", "save_progress", *TALK):
            server.on(tool, {})
        server.on("start_conversation", self._start)

    def _next(self) -> dict[str, Any]:
        action = "get_pending_messages" if self._left else "exit"
        return {"action": action, "state_version": 7}

    def _start(self, _: Call) -> dict[str, Any]:
        self.conversations += 1
        return {"success": True, "conversation_id": f"cnv_{self.conversations}", "state": "pending", "created": True}

    def said(self) -> list[tuple[str, dict[str, Any]]]:
        """What the agent did, without fetching and asking."""
        return [(call.tool, call.arguments) for call in self._server.calls if call.tool in TALK]


def talk(server: FakeServer, tmp_path: Path, script: str, *hand_outs: dict[str, Any]) -> Chat:
    """The chat after the agent with this script has had all of it."""
    chat = Chat(server, *hand_outs)
    done = run_script(server, tmp_path, script)
    assert done.returncode == 0, done.stdout + done.stderr
    return chat


def run_script(server: FakeServer, tmp_path: Path, script: str):
    checked = script_format.parse(yaml_documents.read(script, "script.yaml"))
    (tmp_path / "script.json").write_text(json.dumps(checked))
    return run(server.url, module=SCRIPT, arguments=("--file", str(tmp_path / "script.json")))


def message(content: str, sender: str = "ann", **more: Any) -> dict[str, Any]:
    kind = "ai" if more.get("conversation_id") else "human"
    return {
        "message_id": f"msg_{content}",
        "from_agent_id": sender,
        "from_name": sender.title(),
        "from_kind": kind,
        "content": content,
        "conversation_id": None,
        **more,
    }


def person(*contents: str) -> dict[str, Any]:
    return {"pending_messages": [message(content) for content in contents]}


def turn(content: str, turns: int, purpose: str, **more: Any) -> dict[str, Any]:
    """A hand-out in which a partner has said something, and it is this agent's turn."""
    standing: dict[str, Any] = {
        "conversation_id": "cnv_1",
        "with_agent_id": "bob",
        "purpose": purpose,
        "state": "active",
    }
    standing |= {"your_turn": True, "turns": turns, "max_turns": 20, **more}
    return {"pending_messages": [message(content, "bob", conversation_id="cnv_1")], "conversations": [standing]}


def delegation(purpose: str, target: str = "ann", kind: str = "human", **more: Any) -> dict[str, Any]:
    return {
        "pending_delegations": [
            {
                "delegation_id": "dlg_1",
                "task_id": "tsk_1",
                "target_agent_id": target,
                "target_kind": kind,
                "purpose": purpose,
                "conversation_id": None,
                **more,
            }
        ]
    }


def ended(reason: str = "ended_by_participant", **more: Any) -> dict[str, Any]:
    one = {"conversation_id": "cnv_1", "with_agent_id": "bob", "ended_by": "bob", "reason": reason, **more}
    return {"ended_conversations": [one]}


# --- every runner ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["command", "playbook"])
def test_an_agent_without_rules_tells_a_person_honestly_what_it_is(server, tmp_path, kind) -> None:
    chat = Chat(server, person("hi"), person("and now?"))
    plan = {"tasks": [{"match": "x", "subtasks": [{"id": "a", "title": "A"}]}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    arguments = ("--file", str(tmp_path / "plan.json")) if kind == "playbook" else ()
    done = run(server.url, module=f"toryo.agents.{kind}", arguments=arguments)
    assert done.returncode == 0
    assert [tool for tool, _ in chat.said()] == ["respond_chat", "respond_chat"]
    _, first = chat.said()[0]
    assert first["message_id"] == "msg_hi"
    assert "I am Mia, an agent without a model" in first["content"]
    assert tools(server)[-1] == "logout"
    assert "Ann: hi" in done.stdout


def test_a_chat_that_is_told_to_wait_waits_as_long_as_it_is_told(server, tmp_path) -> None:
    chat = Chat(server)
    waits = iter([*["wait_for_messages"] * 8, "get_notifications", "wait_for_messages", "report_model", "exit"])
    server.on("get_next_action", lambda _: {"success": True, "action": next(waits), "state_version": 1})
    server.on("get_notifications", {"notifications": []})
    server.on("report_model", {"verified": True})
    assert run_script(server, tmp_path, "{}").returncode == 0
    assert not chat.said()
    assert "save_progress" not in tools(server)
    waited = [each.arguments for each in server.seen("get_next_action")[1:9]]
    assert waited == [{"timeout_seconds": 45}] * 8


def test_a_chat_that_gets_on_is_not_taken_for_one_that_goes_in_circles(server, tmp_path) -> None:
    """The state of the tasks stands still all the while."""
    chat = talk(server, tmp_path, "{}", *[person(f"hi {number}") for number in range(9)])
    assert len(chat.said()) == 9


def test_a_chat_that_can_do_nothing_about_what_it_is_told_leaves(server, tmp_path) -> None:
    Chat(server)
    server.on("get_next_action", {"action": "get_pending_messages", "state_version": 7})
    server.on("get_pending_messages", {"pending_messages": []})
    assert run_script(server, tmp_path, "{}").returncode == 0
    assert tools(server).count("get_pending_messages") == 3
    assert tools(server)[-1] == "logout"


def test_a_message_that_may_have_been_said_is_not_said_again_when_its_answer_is_lost(server, tmp_path) -> None:
    def lose(call: Call) -> dict[str, Any]:
        server.drop_next = 1
        return {"success": True, **person("hi")}

    chat = Chat(server)
    server.on("get_next_action", {"action": "get_pending_messages"})
    server.on("get_pending_messages", lose)
    assert run_script(server, tmp_path, "{}").returncode == 69
    assert not chat.said()


# --- people ----------------------------------------------------------------------------------------------------------

NAMED = """
answers:
  - {when: what is your name, answer: "I am {{agent_name}}, {{from}}."}
  - {when: 'repeat (?P<what>\\w+)', answer: "{{what}} {{what}}"}
otherwise: "You said {{text}}."
"""


def test_a_person_gets_the_answer_of_the_first_rule_that_fits(server, tmp_path) -> None:
    chat = talk(server, tmp_path, NAMED, person("Hello. What is your NAME?", "repeat after", "oh"))
    assert [each["content"] for _, each in chat.said()] == ["I am Mia, Ann.", "after after", "You said oh."]


def test_a_rule_may_say_that_nothing_is_answered(server, tmp_path) -> None:
    assert not talk(server, tmp_path, "otherwise: null", person("hi")).said()


REQUEST = """
answers:
  - when: please (?P<what>.+)
    request: {title: "{{what}}", answer: "{{task_id}} is {{approval}}", refused: "No: {{problem}}"}
"""


def test_a_task_is_asked_for_with_the_message_of_the_person_who_wants_it(server, tmp_path) -> None:
    chat = Chat(server, person("@@\nplease sweep"))
    server.on("request_task", {"task_id": "tsk_1", "approval": "pending_approval"})
    run_script(server, tmp_path, REQUEST)
    (_, asked), (_, answered) = chat.said()
    assert asked["message_id"] == "msg_@@\nplease sweep"
    assert (asked["title"], asked["assignee_id"], asked["description"]) == ("sweep", "me", "@@\nplease sweep")
    assert answered["content"] == "tsk_1 is pending approval"


def test_a_task_that_is_refused_is_told_with_its_reason(server, tmp_path) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("permissionDenied", "You may not.")

    chat = Chat(server, person("please sweep"))
    server.on("request_task", no)
    run_script(server, tmp_path, REQUEST)
    assert chat.said()[-1][1]["content"] == "No: You may not."


def test_what_a_person_says_is_passed_on_to_whom_the_rule_names(server, tmp_path) -> None:
    script = 'answers: [{when: (.+), tell: {target_agent_id: cid, text: "{{from}}: {{1}}"}, notify: "{{text}}"}]'
    chat = talk(server, tmp_path, script, person("stop"))
    assert chat.said() == [
        ("send_message", {"target_agent_id": "cid", "content": "Ann: stop"}),
        ("notify_task_session", {"message": "stop"}),
    ]


# --- conversations ---------------------------------------------------------------------------------------------------

GAME = """
answers:
  - when: play shiritori with (?P<partner>\\w+) for (?P<rounds>\\d+)
    answer: "I ask {{partner}}."
    start:
      target_agent_id: "{{partner}}"
      about: "shiritori, {{rounds}} rounds"
      report: "{{partner}} said {{last}} last, and I {{summary}} ({{rounds}} rounds)."
conversations:
  - about: shiritori, (?P<rounds>\\d+) rounds
    rounds: "{{rounds}}"
    opening: ringo
    replies: {gorira: rappa, panda: dango, "koara|.*ra": rakuda}
    otherwise: I give up
"""


def test_a_conversation_that_a_person_wants_is_begun_with_room_for_its_rounds_and_told_at_its_end(
    server, tmp_path
) -> None:
    about = "shiritori, 6 rounds (asked of me by ann)"
    chat = talk(
        server,
        tmp_path,
        GAME,
        person("Please play shiritori with bob for 6 rounds"),
        turn("gorira", 2, about),
        {**turn("panda", 4, about), "ended_conversations": []},
        {"pending_messages": [message("go", "bob", conversation_id="cnv_1")], **ended("max_turns", summary="played")},
    )
    assert chat.said() == [
        (
            "start_conversation",
            {"target_agent_id": "bob", "initial_message": "ringo", "purpose": about, "max_turns": 12},
        ),
        ("respond_chat", {"message_id": "msg_Please play shiritori with bob for 6 rounds", "content": "I ask bob."}),
        ("send_conversation_message", {"conversation_id": "cnv_1", "content": "rappa"}),
        ("send_conversation_message", {"conversation_id": "cnv_1", "content": "dango"}),
        ("send_message", {"target_agent_id": "ann", "content": "bob said go last, and I played (6 rounds)."}),
    ]


def test_only_the_agent_that_was_asked_tells_the_person_of_the_end(server, tmp_path) -> None:
    about = "shiritori, 6 rounds (asked of bob by ann)"
    chat = talk(server, tmp_path, GAME, turn("gorira", 1, about), ended("max_turns", purpose=about))
    assert [tool for tool, _ in chat.said()] == ["send_conversation_message"]


def test_a_conversation_that_cannot_be_begun_is_told_with_the_reason_and_nothing_else(server, tmp_path) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("permissionDenied", "bob is not a member.")

    chat = Chat(server, person("play shiritori with bob for 6"))
    server.on("start_conversation", no)
    run_script(server, tmp_path, GAME)
    said = [each["content"] for tool, each in chat.said() if tool == "respond_chat"]
    assert said == ["I could not start that conversation: bob is not a member."]


def test_an_agent_started_anew_goes_on_with_a_conversation_and_tells_its_end(server, tmp_path) -> None:
    """It knows of it only what the server says, and what was said before."""
    about = "shiritori, 6 rounds (asked of me by ann)"
    again = turn("gorira", 2, about)
    again = {**again, "pending_messages": [], "context_messages": again["pending_messages"]}
    chat = talk(server, tmp_path, GAME, again, ended("max_turns"))
    assert [(tool, each.get("target_agent_id")) for tool, each in chat.said()] == [
        ("send_conversation_message", None),
        ("send_message", "ann"),
    ]
    assert chat.said()[0][1]["content"] == "rappa"
    assert chat.said()[1][1]["content"].startswith("bob said gorira last")


@pytest.mark.parametrize(
    ("rules", "turns", "last", "expected"),
    [
        ("replies: [a, b]", 1, "x", ["send a"]),
        ("replies: [a, b]", 2, "x", ["send a"]),
        ("replies: [a, b]", 4, "x", ["send b"]),
        ("replies: [a, b]", 5, "x", ["end"]),
        ("replies: [a], otherwise: more", 5, "x", ["send more"]),
        ("replies: {x: y}, final: bye", 3, "z", ["end bye"]),
        ("replies: {(.)x: '{{1}}!'}", 3, "ax", ["send a!"]),
        ("rounds: 2, ends: starter, otherwise: o, final: bye", 2, "x", ["send o"]),
        ("rounds: 2, ends: starter, otherwise: o, final: bye", 4, "x", ["end bye"]),
        ("rounds: 2, ends: starter, otherwise: o", 3, "x", ["send o"]),
        ("rounds: 2, ends: invited, otherwise: o, final: bye", 3, "x", ["send o", "end bye"]),
        ("rounds: 2, ends: invited, otherwise: o", 1, "x", ["send o"]),
    ],
)
def test_what_is_said_follows_from_the_turn_and_what_was_said_last(
    server, tmp_path, rules, turns, last, expected
) -> None:
    chat = talk(server, tmp_path, f"conversations: [{{about: game, {rules}}}]", turn(last, turns, "a game"))
    done = {"send_conversation_message": "send", "end_conversation": "end"}
    said = [
        f"{done[tool]} {each.get('content') or each.get('final_message') or ''}".strip() for tool, each in chat.said()
    ]
    assert said == expected


def test_whoever_is_asked_without_a_rule_answers_once_and_ends_it(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "otherwise: No idea.", turn("hello?", 1, "a chat"))
    assert [tool for tool, _ in chat.said()] == ["send_conversation_message", "end_conversation"]
    assert chat.said()[0][1]["content"] == "No idea."


def test_what_a_partner_says_is_told_to_a_person_where_the_rule_wants_it(server, tmp_path) -> None:
    script = 'conversations: [{about: "", tell: {target_agent_id: ann, text: "{{from_id}} says {{text}}"}}]'
    chat = talk(server, tmp_path, script, turn("The result is 100", 1, "the result"))
    assert chat.said()[0] == ("send_message", {"target_agent_id": "ann", "content": "bob says The result is 100"})


def test_where_it_is_not_its_turn_it_says_nothing(server, tmp_path) -> None:
    assert not talk(server, tmp_path, GAME, turn("gorira", 2, "shiritori, 6 rounds", your_turn=False)).said()


def test_what_was_too_much_for_a_minute_is_said_when_there_is_room_again(server, tmp_path) -> None:
    def limited(_: Call) -> dict[str, Any]:
        if len(server.seen("send_conversation_message")) == 1:
            raise Refused("rateLimited", retry_after=0.01)
        return {"success": True}

    chat = Chat(server, turn("a", 1, "x"))
    server.on("send_conversation_message", limited)
    run_script(server, tmp_path, "conversations: [{about: x, otherwise: o}]")
    assert [each["content"] for _, each in chat.said()] == ["o", "o"]


def test_a_turn_that_is_refused_again_and_again_is_given_up(server, tmp_path) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("permissionDenied")

    chat = Chat(server)
    server.on("get_next_action", {"action": "get_pending_messages", "state_version": 7})
    mine = turn("a", 1, "x")
    server.on("get_pending_messages", {**mine, "context_messages": mine["pending_messages"], "pending_messages": []})
    server.on("send_conversation_message", no)
    assert run_script(server, tmp_path, "conversations: [{about: x, otherwise: o}]").returncode == 0
    assert len(chat.said()) == 3
    assert tools(server)[-1] == "logout"


# --- leaving ---------------------------------------------------------------------------------------------------------


def start(server: FakeServer) -> subprocess.Popen[bytes]:
    """A command agent's process that has been started and not waited for."""
    env = {"PATH": os.environ["PATH"], "TORYO_SERVER_URL": server.url, "TORYO_LAUNCH_CREDENTIAL": "tlc_1"}
    argv = [sys.executable, "-P", "-u", "-m", COMMAND]
    return subprocess.Popen(argv, env={**env, "TORYO_LAUNCH_ID": "lau_1"}, stdout=subprocess.DEVNULL)


def test_a_chat_that_is_told_to_stop_logs_out_so_that_the_next_one_goes_on_at_once(server, tmp_path) -> None:
    Chat(server)
    asked = threading.Event()

    def wait(_: Call) -> dict[str, Any]:
        asked.wait(BOUND)
        return {"success": True, "action": "wait_for_messages"}

    server.on("get_next_action", wait)
    process = start(server)
    try:
        server.waiting_for("get_next_action")
        process.send_signal(signal.SIGTERM)
        server.waiting_for("logout")
        assert process.wait(BOUND) == 130
    finally:
        asked.set()
        process.kill()
    assert not server.seen("save_progress"), "there is nothing to note"


def test_a_chat_that_is_told_to_stop_first_deals_with_what_it_has_fetched(server) -> None:
    Chat(server, person("one", "two", "three"))
    told = threading.Event()

    def wait_for_the_signal(_: Call) -> dict[str, Any]:
        told.wait(BOUND)
        return {"success": True}

    server.on("respond_chat", wait_for_the_signal)
    process = start(server)
    try:
        server.waiting_for("respond_chat")
        process.send_signal(signal.SIGTERM)
        told.set()
        assert process.wait(BOUND) == 130
    finally:
        told.set()
        process.kill()
    assert len(server.seen("respond_chat")) == 3
    assert tools(server)[-1] == "logout"


# --- delegations -----------------------------------------------------------------------------------------------------


def test_what_is_to_be_said_to_a_person_is_said_as_it_is_and_reported(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "{}", delegation("Dinner is ready."))
    assert chat.said() == [
        ("send_message", {"target_agent_id": "ann", "content": "Dinner is ready.", "related_task_id": "tsk_1"}),
        ("report_delegation_completed", {"delegation_id": "dlg_1", "result": "delivered to ann", "success": True}),
    ]


def test_what_was_said_before_the_crash_is_not_said_again(server, tmp_path) -> None:
    before = message("Dinner is ready.", "me", to_agent_id="ann", related_task_id="tsk_1")
    again = {**delegation("Dinner is ready.", attempt=2), "context_messages": [before]}
    assert [tool for tool, _ in talk(server, tmp_path, "{}", again).said()] == ["report_delegation_completed"]


def test_what_was_said_for_another_task_is_said_again(server, tmp_path) -> None:
    before = message("Dinner is ready.", "me", to_agent_id="ann", related_task_id="tsk_0")
    today = {**delegation("Dinner is ready."), "context_messages": [before]}
    said = talk(server, tmp_path, "{}", today).said()
    assert [tool for tool, _ in said] == ["send_message", "report_delegation_completed"]


def test_what_an_agent_is_to_be_asked_begins_a_conversation_and_its_last_answer_is_the_result(server, tmp_path) -> None:
    chat = talk(
        server,
        tmp_path,
        "{}",
        delegation("What is 6 x 7?", "bob", "ai"),
        turn("42", 2, "What is 6 x 7?", delegation_id="dlg_1"),
        ended(delegation_id="dlg_1"),
    )
    assert chat.said() == [
        (
            "start_conversation",
            {
                "target_agent_id": "bob",
                "initial_message": "What is 6 x 7?",
                "purpose": "What is 6 x 7?",
                "max_turns": 4,
                "delegation_id": "dlg_1",
            },
        ),
        ("end_conversation", {"conversation_id": "cnv_1", "summary": "42"}),
        ("report_delegation_completed", {"delegation_id": "dlg_1", "result": "42", "success": True}),
    ]


def test_a_delegation_is_begun_by_the_rule_of_the_conversation_that_fits_its_purpose(server, tmp_path) -> None:
    rule = (
        "{about: '(?P<n>\\d+)往復しりとり.*「(?P<first>.+?)」', rounds: '{{n}}', opening: '{{first}}', ends: starter}"
    )
    purpose = "6往復しりとりをしてほしい。最初は「りんご」で。"
    chat = talk(server, tmp_path, f"conversations: [{rule}]", delegation(purpose, "bob", "ai"))
    [(_, started)] = chat.said()
    assert (started["initial_message"], started["purpose"], started["max_turns"]) == ("りんご", purpose, 14)


def test_a_conversation_to_which_nobody_came_fails_its_delegation(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "{}", delegation("Play", "bob", "ai"), ended("nobody_came", delegation_id="dlg_1"))
    _, reported = chat.said()[-1]
    assert reported["success"] is False
    assert "nobody_came" in reported["result"]


def test_a_delegation_whose_conversation_goes_on_already_begins_no_second_one(server, tmp_path) -> None:
    assert not talk(server, tmp_path, "{}", delegation("Play", "bob", "ai", conversation_id="cnv_1", attempt=2)).said()


def test_a_delegation_waits_until_another_conversation_with_its_target_is_over(server, tmp_path) -> None:
    chat = Chat(server, delegation("Play", "bob", "ai"), ended())
    created = iter([False, True])
    server.on("start_conversation", lambda _: {"success": True, "conversation_id": "cnv_1", "created": next(created)})
    run_script(server, tmp_path, "{}")
    assert [tool for tool, _ in chat.said()] == ["start_conversation", "start_conversation"]


@pytest.mark.parametrize(("kind", "tool"), [("human", "send_message"), ("ai", "start_conversation")])
def test_what_cannot_be_said_is_reported_as_failed(server, tmp_path, kind, tool) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("agentNotFound", "There is no such agent.")

    chat = Chat(server, delegation("Hi", kind=kind))
    server.on(tool, no)
    run_script(server, tmp_path, "{}")
    assert chat.said()[-1][1] == {"delegation_id": "dlg_1", "result": "There is no such agent.", "success": False}


AWAIT = "delegations: [{about: ask, say: 'Shall I {{context}}?', await_answer: true}]\notherwise: Pardon?"


def test_a_persons_answer_is_the_result_where_it_is_awaited(server, tmp_path) -> None:
    chat = talk(server, tmp_path, AWAIT, delegation("ask ann", context="paint"), person("yes"))
    assert chat.said() == [
        ("send_message", {"target_agent_id": "ann", "content": "Shall I paint?", "related_task_id": "tsk_1"}),
        ("report_delegation_completed", {"delegation_id": "dlg_1", "result": "yes", "success": True}),
    ]


def test_a_persons_answer_that_comes_to_another_process_is_the_result_too(server, tmp_path) -> None:
    asked = message("Shall I paint?", "me", to_agent_id="ann", related_task_id="tsk_1")
    again = {**delegation("ask ann", context="paint"), **person("yes"), "context_messages": [asked]}
    chat = talk(server, tmp_path, AWAIT, again)
    assert [(tool, each["result"]) for tool, each in chat.said()] == [("report_delegation_completed", "yes")]


def test_a_rule_may_have_a_delegation_fail(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "delegations: [{about: x, fail: No.}]", delegation("x"))
    assert [each for _, each in chat.said()] == [{"delegation_id": "dlg_1", "result": "No.", "success": False}]


# --- bad behaviour ---------------------------------------------------------------------------------------------------


def test_a_silent_one_fetches_and_never_answers(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "behave: silent", person("hi"))
    assert not chat.said()


def test_an_endless_one_ends_nothing(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "behave: endless\notherwise: null", turn("a", 2, "x"), turn("b", 3, "x"))
    assert [tool for tool, _ in chat.said()] == ["send_conversation_message"] * 2


def test_a_rude_one_speaks_twice_and_without_a_conversation_and_cares_for_no_refusal(server, tmp_path) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("notYourTurn")

    chat = Chat(server, turn("a", 1, "x"))
    server.on("send_conversation_message", no)
    server.on("send_message", no)
    assert run_script(server, tmp_path, "behave: rude\nconversations: [{about: x, otherwise: o}]").returncode == 0
    assert [tool for tool, _ in chat.said()] == ["send_conversation_message"] * 2 + ["send_message"]


def test_one_that_ignores_turns_speaks_when_it_is_not_its_own(server, tmp_path) -> None:
    script = "behave: ignores_turns\nconversations: [{about: x, otherwise: o}]"
    chat = talk(server, tmp_path, script, turn("a", 2, "x", your_turn=False))
    assert [tool for tool, _ in chat.said()] == ["send_conversation_message"]


def test_one_that_floods_says_everything_forty_times(server, tmp_path) -> None:
    chat = talk(server, tmp_path, "behave: floods", person("hi"))
    assert [tool for tool, _ in chat.said()] == ["respond_chat"] * 40


def test_one_may_crash_at_a_message_and_what_comes_again_does_not_count(server, tmp_path) -> None:
    again = {"pending_messages": [message("one", redelivered=True)]}
    chat = Chat(server, again, person("two"), person("three"))
    assert run_script(server, tmp_path, "behave: {crash_after: 2}").returncode == -9
    assert len(chat.said()) == 2


def test_one_may_leave_at_a_message(server, tmp_path) -> None:
    chat = Chat(server, person("one"), person("two"), person("three"))
    assert run_script(server, tmp_path, "behave: {exit_after: 2}").returncode == 0
    assert len(chat.said()) == 1
    assert tools(server)[-2:] == ["get_pending_messages", "logout"]
