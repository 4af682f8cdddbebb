"""Seed 4, エージェント間通信プロトコル定義: every example and promise, under the name of its section."""

# ruff: noqa: N802, PLC2401 - tests bear the names of the sections they hold the code to

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from tests.operations.test_queue import claimed, key, poller
from tests.pitfalls.kit import log_lines
from tests.seeds.examples import like
from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code
from toryo.server import mcp_results

PLAN = "ユーザー認証機能の実装計画を作成してください。FastAPI + PostgreSQL を使用します。"
CREATE: Answer = {
    "agent_type": "planning",
    "task_description": PLAN,
    "context": {
        "project_path": "c:\\Users\\zeroz\\my-project",
        "tech_stack": ["Python", "FastAPI", "PostgreSQL", "React"],
        "requirements": ["ユーザー登録機能", "ログイン機能 (JWT認証)", "パスワードリセット機能"],
    },
    "dependencies": [],
}
RESULT: Answer = {
    "execution_plan": {
        "plan_id": "plan-12345",
        "tasks": [
            {
                "task_id": "subtask-001",
                "description": "User モデルの作成 (SQLAlchemy)",
                "agent_type": "implementation",
                "estimated_time": "2h",
                "dependencies": [],
            },
            {
                "task_id": "subtask-002",
                "description": "/register エンドポイントの実装",
                "agent_type": "implementation",
                "estimated_time": "3h",
                "dependencies": ["subtask-001"],
            },
            {
                "task_id": "subtask-003",
                "description": "/login エンドポイントの実装 (JWT発行)",
                "agent_type": "implementation",
                "estimated_time": "3h",
                "dependencies": ["subtask-001"],
            },
            {
                "task_id": "subtask-004",
                "description": "認証テストの作成",
                "agent_type": "testing",
                "estimated_time": "4h",
                "dependencies": ["subtask-002", "subtask-003"],
            },
        ],
    },
    "risk_assessment": "- データベースマイグレーションの失敗リスク: 事前にバックアップを推奨\n"
    "- JWT秘密鍵の管理: 環境変数で管理すること",
    "recommendations": "- パスワードハッシュ化には bcrypt を使用\n- レート制限を追加してブルートフォース攻撃を防止",
}
SCHEMA = {"tables": {"users": {"columns": ["id", "email", "password_hash", "created_at"]}}}
CAPABILITIES = ["task_decomposition", "dependency_analysis", "risk_assessment"]
CIRCLE = "タスクの依存関係に循環参照が検出されました"


@dataclass
class Protocol:
    world: World
    orchestrator: Caller
    agent: Caller
    agent_id: str = "planning-agent-001"

    def create(self, **more: Any) -> Answer:
        return self.orchestrator.call("create_task", **{**CREATE, **more})

    def poll(self, **more: Any) -> list[Answer]:
        return claimed(self.agent, self.agent_id, **more)

    def status(self, task_id: str) -> Answer:
        return self.orchestrator.call("get_task_status", task_id=task_id)


@pytest.fixture
def protocol(world: World) -> Protocol:
    """An orchestrator and a registered planning agent."""
    world.project(language="ja")
    return Protocol(world, key(world, "orchestrator-001", orchestrator=True), poller(world, "planning-agent-001"))


# --- 1. 通信パターン ---


def test_1_1_Orchestratorからサブエージェントへ(protocol: Protocol):
    task = protocol.create()["task_id"]  # create_task
    (got,) = protocol.poll()  # poll_tasks
    assert got["task_id"] == task
    protocol.agent.call("submit_result", task_id=task, status="completed", result=RESULT)  # submit_result
    done = protocol.status(task)  # get_task_status
    assert (done["status"], done["result"]) == ("completed", RESULT)


def test_1_2_サブエージェント間の間接通信(protocol: Protocol):
    """Agent A keeps a value, agent B reads it."""
    protocol.agent.call("set_shared_state", key="project:database_schema", value=SCHEMA, ttl=7200)
    other = poller(protocol.world, "implementation-agent-001", "implementation")
    assert other.call("get_shared_state", key="project:database_schema")["value"] == SCHEMA


# --- 2. メッセージフォーマット ---


def test_2_1_タスク作成メッセージ(protocol: Protocol):
    example: Answer = {
        "task_id": "task-1705401234567-abc123",
        "agent_type": "planning",
        "status": "pending",
        "created_at": "2025-01-16T10:00:34.567Z",
        "updated_at": "2025-01-16T10:00:34.567Z",
        "assigned_agent_id": None,
        "task_description": "ユーザー認証機能の実装計画を作成してください...",
        "context": {},
        "dependencies": [],
        "result": None,
        "error": None,
    }
    made = protocol.create()
    like(example, made)
    for name in ("agent_type", "task_description", "context", "dependencies"):
        assert made[name] == CREATE[name]
    assert made["status"] == "pending"
    assert made["created_at"].endswith("Z")


def test_2_2_タスク取得メッセージ(protocol: Protocol):
    example: list[Answer] = [
        {
            "task_id": "task-1705401234567-abc123",
            "agent_type": "planning",
            "status": "in_progress",
            "assigned_agent_id": "planning-agent-001",
            "task_description": "...",
            "context": {},
        }
    ]
    protocol.create()
    got = protocol.poll(max_tasks=1)
    like(example, got)
    assert (got[0]["status"], got[0]["assigned_agent_id"]) == ("in_progress", "planning-agent-001")
    assert got[0]["context"] == CREATE["context"]
    assert protocol.poll(max_tasks=1) == []


def test_2_2_タスク取得メッセージ_応答は配列そのもの(protocol: Protocol):
    """The text of the answer is the bare array; what is structured must be an object, and a refusal is one, too."""
    protocol.create()
    asked: Answer = {"agent_id": protocol.agent_id, "max_tasks": 1}
    for wanted in (1, 0):
        outcome = protocol.world.perform("poll_tasks", asked, protocol.agent.credentials)
        assert outcome.result is not None
        told = orjson.loads(mcp_results.response(mcp_results.Call(b"7", "poll_tasks", asked, False), outcome, b"{}"))[
            "result"
        ]
        assert told["content"][0]["text"].encode() == mcp_results.text(outcome)
        assert (
            orjson.loads(mcp_results.text(outcome)) == told["structuredContent"]["result"] == outcome.result["result"]
        )
        assert len(outcome.result["result"]) == wanted
    refused = protocol.world.perform("poll_tasks", {**asked, "max_tasks": 0}, protocol.agent.credentials)
    assert orjson.loads(mcp_results.text(refused))["error"] == "validationError"


def test_2_3_結果報告メッセージ(protocol: Protocol):
    task = protocol.create()["task_id"]
    protocol.poll()
    answer = protocol.agent.call("submit_result", task_id=task, status="completed", result=RESULT)
    assert (answer["task_id"], answer["status"], answer["result"]) == (task, "completed", RESULT)


def test_2_3_結果報告メッセージ_失敗時(protocol: Protocol):
    task = protocol.create()["task_id"]
    protocol.poll()
    protocol.agent.call("submit_result", task_id=task, status="failed", error=CIRCLE)
    assert (protocol.status(task)["status"], protocol.status(task)["error"]) == ("failed", CIRCLE)


def test_2_4_共有ステート操作(protocol: Protocol):
    saved = protocol.agent.call("set_shared_state", key="project:database_schema", value=SCHEMA, ttl=7200)
    assert saved["version"] == 1
    got = protocol.agent.call("get_shared_state", key="project:database_schema")
    assert (got["value"], got["version"], got["expires_at"]) == (SCHEMA, 1, saved["expires_at"])
    protocol.world.advance(7199)
    assert protocol.agent.call("get_shared_state", key="project:database_schema")["found"] is True
    protocol.world.advance(1)
    late = protocol.agent.call("get_shared_state", key="project:database_schema")
    assert (late["found"], late["expired"], "value" in late) == (False, True, False)


# --- 3. エージェントライフサイクル ---


def test_3_1_起動シーケンス_エージェント登録(world: World):
    world.project()
    agent = key(world)
    answer = agent.call(
        "register_agent", agent_id="planning-agent-001", agent_type="planning", capabilities=CAPABILITIES
    )
    assert (answer["agent_id"], answer["agent_type"]) == ("planning-agent-001", "planning")
    assert answer["capabilities"] == CAPABILITIES
    (shown,) = agent.call("list_agents")["agents"]
    assert (shown["agent_id"], shown["status"]) == ("planning-agent-001", "online")


def test_3_1_起動シーケンス_ポーリングループとタスク実行(protocol: Protocol):
    """Every five seconds, for a quarter of an hour, and nothing but polls: it stays online and gets what comes."""
    done = []
    for second in range(0, 900, 5):
        if second % 300 == 0:
            protocol.create()
        tasks = protocol.poll(max_tasks=1)
        if len(tasks) > 0:
            protocol.agent.call("submit_result", task_id=tasks[0]["task_id"], status="completed", result="x")
            done.append(tasks[0]["task_id"])
        protocol.world.advance(5)
        protocol.world.housekeep()
    assert len(done) == 3
    assert protocol.world.events("agent.offline") == []


def test_3_1_起動シーケンス_心拍のないエージェントは長いタスクを失わない(protocol: Protocol):
    """The agents of this document send no heartbeat: half an hour's work is handed in all the same."""
    task = protocol.create()["task_id"]
    protocol.poll()
    for _ in range(59):
        protocol.world.advance(30)
        protocol.world.housekeep()
    protocol.agent.call("submit_result", task_id=task, status="completed", result=RESULT)
    assert protocol.status(task)["attempt"] == 1


def test_3_2_シャットダウンシーケンス(protocol: Protocol):
    task = protocol.create()["task_id"]
    protocol.poll()
    protocol.agent.call("submit_result", task_id=task, status="completed")  # 1. 現在実行中のタスクを完了
    left = protocol.agent.call("unregister_agent", agent_id=protocol.agent_id)  # 2. "offline" に更新
    assert left["released"] == []
    (shown,) = protocol.orchestrator.call("list_agents", agent_type="planning")["agents"]
    assert shown["status"] == "offline"


def test_3_2_去ったエージェントは再び登録するまで_offline(protocol: Protocol):
    """A poll that was still on its way does not bring it back; registering does."""
    protocol.agent.call("unregister_agent", agent_id=protocol.agent_id)
    for name in ("poll_tasks", "heartbeat"):
        refusal = protocol.agent.refused(name, Code.NOT_NOW, agent_id=protocol.agent_id)
        assert "register_agent" in refusal["instruction"]
    assert protocol.agent.call("unregister_agent", agent_id=protocol.agent_id)["released"] == []
    (shown,) = protocol.orchestrator.call("list_agents")["agents"]
    assert shown["status"] == "offline"
    protocol.agent.call("register_agent", agent_id=protocol.agent_id, agent_type="planning")
    task = protocol.create()["task_id"]
    assert [each["task_id"] for each in protocol.poll()] == [task]


# --- 4. エラーハンドリング ---


def test_4_1_タスク実行失敗(protocol: Protocol):
    """Failed means failed: nobody else gets it."""
    task = protocol.create()["task_id"]
    protocol.poll()
    asked = {"task_id": task, "status": "failed", "error": "ZeroDivisionError: division by zero"}
    answer = protocol.agent.call("submit_result", **asked)
    assert (answer["status"], answer["error"], answer["result"]) == ("failed", asked["error"], None)
    protocol.world.advance(3600)
    assert protocol.poll() == []


# --- 5. セキュリティ ---


def test_5_1_認証(world: World):
    """The extension is what is done: `api_key` in the arguments, and without one no registration."""
    world.project()
    made = world.owner.call("make_api_key", project_id=world.project_id)
    asked = {"agent_id": "planning-agent-001", "agent_type": "planning"}
    world.nobody.refused("register_agent", Code.AUTHENTICATION_REQUIRED, **asked)
    world.nobody.refused("register_agent", Code.INVALID_CREDENTIALS, **asked, api_key="sk-agent-xxxxxxxxxxxxxxxx")
    world.nobody.call("register_agent", **asked, api_key=made["token"])
    assert world.nobody.call("poll_tasks", agent_id="planning-agent-001", api_key=made["token"])["result"] == []


def test_5_2_認可_使用可能なツールを制限(protocol: Protocol):
    reader = key(protocol.world, "reader", tools=["get_task_status"])
    reader.call("get_task_status", task_id=protocol.create()["task_id"])
    reader.refused("list_agents", Code.PERMISSION_DENIED)


def test_5_2_認可_Orchestratorのみがcreate_taskを呼び出せる(protocol: Protocol):
    protocol.agent.refused("create_task", Code.PERMISSION_DENIED, **CREATE)
    protocol.create()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_task", {**CREATE, "agent_type": 5}),
        ("create_task", {**CREATE, "dependencies": "none"}),
        ("create_task", {"task_description": PLAN}),
        ("create_task", {**CREATE, "unknown": 1}),
    ],
)
def test_5_3_データ検証(protocol: Protocol, name: str, arguments: Answer):
    before = protocol.world.rows()
    protocol.orchestrator.refused(name, Code.VALIDATION_ERROR, **arguments)
    assert protocol.world.rows() == before


# --- 6. パフォーマンス最適化 ---


def test_6_1_ポーリング最適化(protocol: Protocol):
    """Push is the default: a poll that waits is hinted by the task; and the hint for other programs has its id."""
    waiting = protocol.world.perform(
        "poll_tasks", {"agent_id": protocol.agent_id, "wait_seconds": 45}, protocol.agent.credentials, may_wait=True
    )
    assert waiting.later is not None
    protocol.world.hints.clear()
    task = protocol.create()["task_id"]
    hints = frozenset().union(*protocol.world.hints)
    assert waiting.later.topics & hints
    assert f"ready:planning:{task}" in hints  # on Redis: publish('task:planning', task_id)


def test_6_2_バッチ処理(protocol: Protocol):
    agent = poller(protocol.world, "implementation-agent-001", "implementation")
    tasks = [protocol.create(agent_type="implementation")["task_id"] for _ in range(4)]
    got = claimed(agent, "implementation-agent-001", max_tasks=3)
    assert [each["task_id"] for each in got] == tasks[:3]


# --- 7. 監視とデバッグ ---


def test_7_1_ログフォーマット(protocol: Protocol, monkeypatch: pytest.MonkeyPatch):
    """`timestamp` is put on every line by whoever writes it (tests/server); the rest is the line's own."""
    example = {
        "level": "info",
        "agent_id": "planning-agent-001",
        "event": "task_completed",
        "task_id": "task-1705401234567-abc123",
        "duration_ms": 12345.0,
        "metadata": {},
    }
    task = protocol.create(correlation_id="req-12345")["task_id"]
    protocol.poll()
    lines = log_lines(monkeypatch, logging.INFO)
    protocol.agent.call("submit_result", task_id=task, status="completed", result=RESULT)
    (line,) = lines
    like(example, line)
    assert (line["agent_id"], line["task_id"], line["correlation_id"]) == (protocol.agent_id, task, "req-12345")
    assert line["metadata"]["tool"] == "submit_result"


def test_7_2_トレーシング(protocol: Protocol):
    root = protocol.create(correlation_id="req-12345")
    child = protocol.create(correlation_id="req-12345", parent_task_id=root["task_id"])
    assert (root["correlation_id"], root["parent_task_id"]) == ("req-12345", None)
    assert (child["correlation_id"], child["parent_task_id"]) == ("req-12345", root["task_id"])
    (tree,) = protocol.world.owner.call("show_trace", correlation_id="req-12345")["tasks"]
    assert [task["task_id"] for task in tree["tasks"]] == [child["task_id"]]


def test_7_2_親タスクは来歴であり_親の完了を妨げない(protocol: Protocol):
    """Row 4.17: `parent_task_id` may be open or closed, and the planner's result is accepted all the same."""
    plan = protocol.create(correlation_id="req-12345")["task_id"]
    protocol.poll()
    early = protocol.create(agent_type="implementation", parent_task_id=plan)
    done = protocol.agent.call("submit_result", task_id=plan, status="completed", result=RESULT)
    assert done["status"] == "completed"
    late = protocol.create(agent_type="implementation", parent_task_id=plan)
    assert {each["parent_task_id"] for each in (early, late)} == {plan}
    assert {each["correlation_id"] for each in (early, late)} == {"req-12345"}
    assert protocol.status(early["task_id"])["status"] == "pending"
    (tree,) = protocol.world.owner.call("show_trace", correlation_id="req-12345")["tasks"]
    assert [task["task_id"] for task in tree["tasks"]] == [early["task_id"], late["task_id"]]


# --- 8. 実装例 ---


def test_8_1_Orchestratorの使用例(protocol: Protocol):
    """The plan's subtasks become tasks of other types, each with what it waits for."""
    task = protocol.create()["task_id"]
    protocol.poll()
    assert protocol.status(task)["status"] == "in_progress"  # get_task_status で定期的に状態をチェック
    protocol.agent.call("submit_result", task_id=task, status="completed", result=RESULT)
    made: dict[str, str] = {}
    for each in protocol.status(task)["result"]["execution_plan"]["tasks"]:  # 次のタスクを作成
        made[each["task_id"]] = protocol.create(
            agent_type=each["agent_type"],
            task_description=each["description"],
            dependencies=[made[one] for one in each["dependencies"]],
        )["task_id"]
    builder = poller(protocol.world, "implementation-agent-001", "implementation")
    tester = poller(protocol.world, "testing-agent-001", "testing")
    for wanted in (["subtask-001"], ["subtask-002", "subtask-003"]):
        assert claimed(tester, "testing-agent-001") == []
        got = claimed(builder, "implementation-agent-001", max_tasks=3)
        assert [each["task_id"] for each in got] == [made[each] for each in wanted]
        for each in got:
            builder.call("submit_result", task_id=each["task_id"], status="completed")
    (last,) = claimed(tester, "testing-agent-001")
    assert last["task_id"] == made["subtask-004"]


# --- 9. トラブルシューティング ---


def test_9_1_タスクが取得できない_エージェントが登録されていない(protocol: Protocol):
    protocol.create()
    stranger = key(protocol.world, "planning-agent-002")
    refusal = stranger.refused("poll_tasks", Code.NOT_NOW, agent_id="planning-agent-002")
    assert "register_agent" in refusal["instruction"]
    assert [agent["agent_id"] for agent in stranger.call("list_agents")["agents"]] == [protocol.agent_id]


def test_9_1_タスクが取得できない_間違ったagent_type(protocol: Protocol):
    task = protocol.create(agent_type="plannning")["task_id"]
    assert protocol.poll() == []
    assert protocol.status(task)["no_agent"] is True
    assert [agent["agent_type"] for agent in protocol.orchestrator.call("list_agents")["agents"]] == ["planning"]
