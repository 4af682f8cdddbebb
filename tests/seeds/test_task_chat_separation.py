"""Seed 1, タスクセッション・チャットセッション分離設計: every example and promise, under the name of its section."""

# ruff: noqa: N802, PLC2401 - tests bear the names of the sections they hold the code to

from __future__ import annotations

import pytest

from tests.seeds.examples import like, takes
from tests.stories import Answer, Caller, Process, World
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import Grant
from toryo.storage import schema

PURPOSE = "6往復しりとりをしてほしい。最初は「りんご」で。"
WORDS = [
    "りんご",
    "ごりら",
    "らっぱ",
    "ぱんだ",
    "だちょう",
    "うさぎ",
    "ぎんなん",
    "なす",
    "すいか",
    "かもめ",
    "めだか",
    "からす",
]


@pytest.fixture
def ja(world: World) -> World:
    """A Japanese project with two workers."""
    world.project(language="ja", decomposition="never")
    world.worker("worker-a")
    world.worker("worker-b")
    return world


def delegated(world: World, target: str = "worker-b", purpose: str = PURPOSE) -> tuple[Process, Answer]:
    """`worker-a` works on a task and has delegated: its task session, and the answer it got."""
    world.task("worker-a", title="しりとり")
    worker = world.start("worker-a")
    return worker, worker.call("delegate_to_chat_session", target_agent_id=target, purpose=purpose)


# --- 概要: 背景と課題, 解決方針 ---


@pytest.mark.pitfall("F96")
def test_背景と課題_6往復しりとりは途中で止まらず終わる(ja: World):
    """What stopped after two messages: twelve, all with one id, and `end_conversation` is called."""
    worker, answer = delegated(ja)
    a = ja.start_chat("worker-a")
    a.fetch()
    conversation = a.call(
        "start_conversation",
        target_agent_id="worker-b",
        initial_message=WORDS[0],
        purpose="しりとり",
        max_turns=40,
        delegation_id=answer["delegation_id"],
    )["conversation_id"]
    b = ja.start_chat("worker-b")
    for number, word in enumerate(WORDS[1:], 1):
        player = b if number % 2 else a
        assert player.action() == "get_pending_messages"
        player.fetch()
        player.turn(conversation, word)
    a.fetch()
    a.call("end_conversation", conversation_id=conversation)
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="6往復しました")
    (talk,) = worker.call("get_task_conversations")["conversations"]
    assert [message["content"] for message in talk["messages"]] == WORDS
    assert {message["conversation_id"] for message in talk["messages"]} == {conversation}
    b.fetch()
    a.fetch()
    assert worker.call("get_task_conversations")["conversations"][0]["state"] == "ended"
    worker.report()


def test_解決方針_タスクセッションとチャットセッションの責務(ja: World):
    """A chat session does no work, and a task session does not talk."""
    task = ja.task("worker-a")
    worker = ja.start("worker-a")
    ja.open_chat("worker-a")
    chat = ja.start_chat("worker-a")
    chat.refused("report_completed", Code.TASK_SESSION_REQUIRED, result="success", summary="x")
    chat.refused("update_task_status", Code.TASK_SESSION_REQUIRED, task_id=task, status="completed")
    worker.refused("get_pending_messages", Code.CHAT_SESSION_REQUIRED)


# --- 現状のアーキテクチャ: セッション構造 ---


def test_セッション構造_同一エージェントが複数のセッションを独立して保持可能(ja: World):
    ja.task("worker-a")
    ja.start("worker-a")
    ja.open_chat("worker-a")
    ja.start_chat("worker-a")
    sessions = [session for session in ja.sessions() if session["agent_id"] == "worker-a"]
    assert sorted(session["purpose"] for session in sessions) == ["chat", "task"]


# --- 新アーキテクチャ ---


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("start_conversation", {"target_agent_id": "worker-b", "initial_message": "りんご"}),
        ("send_message", {"target_agent_id": "worker-b", "content": "りんご"}),
        ("send_conversation_message", {"conversation_id": "x", "content": "りんご"}),
        ("end_conversation", {"conversation_id": "x"}),
    ],
)
def test_設計原則_1_タスクセッションはメッセージ送信_会話開始が不可(ja: World, name: str, arguments: dict[str, str]):
    ja.task("worker-a")
    refusal = ja.start("worker-a").refused(name, Code.CHAT_SESSION_REQUIRED, **arguments)
    assert "delegate_to_chat_session" in refusal["instruction"]
    assert ja.rows(schema.messages)["messages"] == []


def test_設計原則_2_チャットセッションへ意図を委譲する(ja: World):
    _, answer = delegated(ja)
    (got,) = ja.start_chat("worker-a").fetch()["pending_delegations"]
    assert (got["delegation_id"], got["purpose"]) == (answer["delegation_id"], PURPOSE)


def test_設計原則_3_チャットセッションが実行方法を判断する(ja: World):
    """Nothing is said before the chat session has chosen how."""
    delegated(ja)
    ja.start_chat("worker-a").fetch()
    assert ja.rows(schema.messages)["messages"] == []
    assert ja.owner.call("list_conversations", project_id=ja.project_id)["conversations"] == []


def test_セッション間フロー(ja: World):
    worker, answer = delegated(ja)
    assert worker.action() == "execute_task"  # 依頼を投げたら即座に戻る
    assert ja.why_chat("worker-a") == "start has_pending_purpose"  # 次回スポーン時に処理
    a = ja.start_chat("worker-a")
    a.fetch()
    conversation = a.call(
        "start_conversation",
        target_agent_id="worker-b",
        initial_message="りんご",
        delegation_id=answer["delegation_id"],
    )["conversation_id"]
    b = ja.start_chat("worker-b")
    (invitation,) = b.fetch()["invitations"]  # 会話招待を受信
    assert (invitation["conversation_id"], invitation["from_agent_id"]) == (conversation, "worker-a")
    b.call("respond_conversation_message", conversation_id=conversation, content="ごりら")
    a.fetch()
    a.call("send_conversation_message", conversation_id=conversation, content="らっぱ")
    b.fetch()
    b.call("respond_conversation_message", conversation_id=conversation, content="ぱんだ")
    a.fetch()
    a.call("end_conversation", conversation_id=conversation)
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="終わりました")
    (told,) = worker.call("get_notifications")["notifications"]  # 完了通知をタスクセッションへ
    assert answer["delegation_id"] in told["message"]


@pytest.mark.parametrize(
    ("name", "grant"),
    [
        ("delegate_to_chat_session", Grant.TASK_SESSION),
        ("start_conversation", Grant.CHAT_SESSION),
        ("end_conversation", Grant.CHAT_SESSION),
        ("send_message", Grant.CHAT_SESSION),
        ("send_conversation_message", Grant.CHAT_SESSION),
        ("get_pending_messages", Grant.CHAT_SESSION),
        ("respond_chat", Grant.CHAT_SESSION),
    ],
)
def test_権限変更(ja: World, name: str, grant: Grant):
    assert catalogue()[name].grant is grant
    if grant is Grant.TASK_SESSION:
        ja.open_chat("worker-a")
        asked = {"target_agent_id": "worker-b", "purpose": "x"}
        ja.start_chat("worker-a").refused(name, Code.TASK_SESSION_REQUIRED, **asked)


# --- 新規MCPツール定義: delegate_to_chat_session ---


def test_delegate_to_chat_session(ja: World):
    takes(
        "delegate_to_chat_session",
        {
            "properties": {"target_agent_id": {"type": "string"}, "purpose": {"type": "string"}},
            "required": ["target_agent_id", "purpose"],
        },
    )
    ja.task("worker-a")
    worker = ja.start("worker-a")
    by_token = Caller(ja, None, worker.signed_in["session_token"])  # seed: `session_token`, required
    asked = {"target_agent_id": "worker-b", "purpose": PURPOSE}
    for context in (None, "追加のコンテキスト情報"):
        by_token.call("delegate_to_chat_session", **asked, **({} if context is None else {"context": context}))
    got = ja.start_chat("worker-a").fetch()["pending_delegations"]
    assert [each["context"] for each in got] == [None, "追加のコンテキスト情報"]


def test_delegate_to_chat_session_レスポンス例(ja: World):
    example = {
        "success": True,
        "delegation_id": "dlg_abc123",
        "message": "依頼をチャットセッションに登録しました。次回チャットセッション起動時に処理されます。",
    }
    _, answer = delegated(ja)
    like(example, answer)
    assert answer["delegation_id"].startswith("dlg_")
    assert answer["message"].startswith(str(example["message"]))


# --- データモデル ---


def test_chat_delegations_テーブル():
    wanted = {
        *("id", "agent_id", "project_id", "target_agent_id", "purpose"),
        *("context", "status", "created_at", "processed_at", "result"),
    }
    columns = schema.delegations.columns
    assert wanted <= set(columns.keys())
    assert {name for name in wanted if columns[name].nullable} == {"context", "processed_at", "result"}


@pytest.mark.parametrize(("success", "last"), [(True, "completed"), (False, "failed")])
def test_status_状態遷移(ja: World, success: bool, last: str):
    worker, answer = delegated(ja)

    def status() -> str:
        found: str = worker.call("get_task_conversations")["delegations"][0]["status"]
        return found

    assert status() == "pending"
    a = ja.start_chat("worker-a")
    a.fetch()
    assert status() == "processing"
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result={"x": 1}, success=success)
    assert status() == last


# --- チャットセッションの挙動変更 ---


def test_get_pending_messages_の拡張(ja: World):
    example = {
        "pending_messages": [],
        "pending_delegations": [
            {
                "delegation_id": "dlg_abc123",
                "target_agent_id": "worker-b",
                "purpose": PURPOSE,
                "context": None,
            }
        ],
    }
    _, answer = delegated(ja)
    got = ja.start_chat("worker-a").fetch()
    like(example, got)
    assert {key: got["pending_delegations"][0][key] for key in example["pending_delegations"][0]} == {
        **example["pending_delegations"][0],
        "delegation_id": answer["delegation_id"],
    }


def test_チャットセッションの判断ロジック_1_会話が必要な場合(ja: World):
    """It leads the conversation to its end: until then it is not told to leave."""
    delegated(ja)
    a = ja.start_chat("worker-a")
    got = a.fetch()
    assert "start_conversation" in got["instruction"]
    asked = {"target_agent_id": "worker-b", "initial_message": "りんご"}
    conversation = a.call("start_conversation", **asked)["conversation_id"]
    assert a.action() == "wait_for_messages"
    b = ja.start_chat("worker-b")
    b.fetch()
    b.turn(conversation, "ごりら")
    assert a.action() == "get_pending_messages"


def test_チャットセッションの判断ロジック_2_単発メッセージで済む場合(ja: World):
    """To a person, without an answer."""
    worker, answer = delegated(ja, "owner", "結果は100です、と伝えてください。")
    a = ja.start_chat("worker-a")
    got = a.fetch()
    assert "send_message" in got["instruction"]
    a.call("send_message", target_agent_id="owner", content="結果は100です")
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="伝えました")
    assert [each["content"] for each in ja.thread("worker-a")] == ["結果は100です"]
    worker.report()


@pytest.mark.pitfall("F101")
def test_チャットセッションの判断ロジック_2_エージェントへの一方的な通知(ja: World):
    """Rows 1.40 and 1.41: the instruction names both ways, and a notice needs no turn of the other agent."""
    worker, answer = delegated(ja, "worker-b", "完了したと伝えるだけ")
    a = ja.start_chat("worker-a")
    told = a.fetch()["instruction"]
    assert 'send_message(target_agent_id="worker-b"' in told and "start_conversation" in told
    a.call("send_message", target_agent_id="worker-b", content="完了しました")
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="伝えました")
    worker.report()
    assert ja.why_chat("worker-b") == "start has_pending_purpose"  # like every message
    b = ja.start_chat("worker-b")
    got = b.fetch()
    (notice,) = got["pending_messages"]
    assert (notice["kind"], notice["from_agent_id"], notice["content"]) == ("notice", "worker-a", "完了しました")
    assert "respond_chat" not in got["instruction"] and "start_conversation" in got["instruction"]
    refusal = b.refused("respond_chat", Code.CONVERSATION_REQUIRED, message_id=notice["message_id"], content="了解")
    assert "start_conversation" in refusal["instruction"]
    assert b.action() == "exit"  # no answer is owed


# --- 移行の影響 ---


def test_UC016_AI_to_AI会話_チャットセッション経由(ja: World):
    ja.say("worker-a", "worker-bとしりとりを6往復してください")
    a = ja.start_chat("worker-a")
    a.fetch()
    asked = {"target_agent_id": "worker-b", "initial_message": "りんご", "max_turns": 2}
    conversation = a.call("start_conversation", **asked)["conversation_id"]
    b = ja.start_chat("worker-b")
    b.fetch()
    b.turn(conversation, "ごりら")
    assert [each["reason"] for each in a.fetch()["ended_conversations"]] == ["max_turns"]
    a.call("respond_chat", target_agent_id="owner", content="終わりました")
    assert ja.thread("worker-a")[-1]["content"] == "終わりました"


def test_UC016_B_Manager_Worker会話_チャットセッション経由(world: World):
    world.crew(workers=1, language="ja")
    world.say("boss", "w1と話してください")
    boss = world.start_chat("boss")
    boss.fetch()
    asked = {"target_agent_id": "w1", "initial_message": "調子はどうですか"}
    conversation = boss.call("start_conversation", **asked)["conversation_id"]
    worker = world.start_chat("w1")
    worker.fetch()
    worker.call("end_conversation", conversation_id=conversation, final_message="順調です")
    got = boss.fetch()
    assert [pending_message["content"] for pending_message in got["pending_messages"]] == ["順調です"]
    assert [each["conversation_id"] for each in got["ended_conversations"]] == [conversation]


def test_UC020_タスクベース会話_delegate_to_chat_session使用(ja: World):
    """The task waits for what it has delegated, and is done with its result."""
    worker, answer = delegated(ja)
    worker.refused("report_completed", Code.DELEGATION_OPEN, result="success", summary="早すぎる")
    a = ja.start_chat("worker-a")
    a.fetch()
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="勝ちました")
    assert worker.next()["delegations"][0]["result"] == "勝ちました"
    worker.report()


def test_UC012_メッセージ送信_delegate_to_chat_session使用(ja: World):
    worker, answer = delegated(ja, "owner", "「完了しました」と伝える")
    worker.refused("send_message", Code.CHAT_SESSION_REQUIRED, target_agent_id="owner", content="完了しました")
    a = ja.start_chat("worker-a")
    a.fetch()
    a.call("send_message", target_agent_id="owner", content="完了しました")
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="送信済み")
    (chat,) = ja.owner.call("list_chats", project_id=ja.project_id)["chats"]
    assert (chat["unread"], chat["newest"]["content"]) == (1, "完了しました")


def test_後方互換性_Coordinatorがチャットセッションを生成する(ja: World):
    """A Coordinator that asks one by one, and one that asks for all, both start the chat session."""
    delegated(ja)
    said = ja.coordinator().action("worker-a", purpose="chat")
    assert (said["action"], said["launch"]["purpose"]) == ("start", "chat")


# --- 期待される効果 ---


def test_期待される効果_タスクセッションは依頼を投げるだけでよい(ja: World):
    """Its process may even be gone: the chat session leads the conversation to its end all the same."""
    worker, answer = delegated(ja)
    ja.coordinator().exited(worker.launch_id, error="coordinator_stopped")
    a = ja.start_chat("worker-a")
    a.fetch()
    a.call("report_delegation_completed", delegation_id=answer["delegation_id"], result="勝ちました")
    worker = ja.start("worker-a")
    assert worker.next()["delegations"][0]["result"] == "勝ちました"
