"""Seed 2, Phase 4: Coordinator + Agent アーキテクチャ: every example of its API, under the name of its section."""

# ruff: noqa: N802, PLC2401 - tests bear the names of the sections they hold the code to

from __future__ import annotations

import pytest

from tests.seeds.examples import like, takes
from tests.stories import Answer, Process, World
from toryo.settings import SessionSettings


@pytest.fixture
def crew(world: World) -> World:
    """A project with one worker, a developer with a system prompt."""
    world.project(language="ja")
    world.worker("agt_frontend", name="frontend-dev", system_prompt="あなたはフロントエンド開発者です...")
    return world


def by_hand(world: World, agent_id: str, **more: str) -> Answer:
    """Somebody starts the agent with its passkey, as the architecture document's prompt says."""
    return world.nobody.call("authenticate", agent_id=agent_id, passkey=world.passkeys[agent_id], **more)


# --- MCP API設計: Coordinator向けAPI ---


def test_health_check(crew: World):
    answer = crew.nobody.call("health_check")
    like({"status": "ok", "version": "1.0.0", "timestamp": "2025-01-06T10:00:00Z"}, answer)
    assert answer["status"] == "ok"
    assert crew.coordinator().call("health_check")["status"] == "ok"


def test_list_managed_agents(crew: World):
    crew.worker("agt_backend")
    crew.worker("agt_retired")
    crew.agent("lena", "owner", kind="human", provider=None)
    crew.owner.call("deactivate_agent", agent_id="agt_retired")
    answer = crew.coordinator().call("list_managed_agents")
    assert answer == {"success": True, "agents": [{"agent_id": "agt_frontend"}, {"agent_id": "agt_backend"}]}


def test_should_start(crew: World):
    takes("should_start", {"properties": {"agent_id": {"type": "string"}}, "required": ["agent_id"]})
    coordinator = crew.coordinator()
    assert coordinator.call("should_start", agent_id="agt_frontend") == {"success": True, "should_start": False}
    crew.task("agt_frontend")
    answer = coordinator.call("should_start", agent_id="agt_frontend")
    assert answer == {"success": True, "should_start": True, "ai_type": "claude"}
    assert crew.launches() == []
    crew.start("agt_frontend")
    assert coordinator.call("should_start", agent_id="agt_frontend") == {"success": True, "should_start": False}


def test_should_start_の実装ロジック_エージェントが存在しない(crew: World):
    answer = crew.coordinator().call("should_start", agent_id="agt_nobody")
    assert answer == {"success": True, "should_start": False}


# --- Agent向けAPI ---


def test_authenticate(crew: World):
    takes(
        "authenticate", {"properties": {"agent_id": {"type": "string"}, "passkey": {"type": "string"}}, "required": []}
    )
    crew.task("agt_frontend")
    answer = by_hand(crew, "agt_frontend")
    like(
        {
            "success": True,
            "session_token": "sess_xxxxx",
            "expires_in": 3600,
            "agent_name": "frontend-dev",
            "system_prompt": "あなたはフロントエンド開発者です...",
            "instruction": "get_my_task を呼び出してタスク詳細を取得してください",
        },
        answer,
    )
    assert answer["expires_in"] == 3600
    assert answer["agent_name"] == "frontend-dev"
    assert answer["system_prompt"] == "あなたはフロントエンド開発者です..."
    assert "get_next_action" in answer["instruction"]


def test_authenticate_認証失敗時(crew: World):
    crew.task("agt_frontend")
    for agent_id, passkey in (("agt_frontend", "pk_wrong"), ("agt_nobody", "pk_wrong")):
        answer = crew.nobody.refused("authenticate", "invalidCredentials", agent_id=agent_id, passkey=passkey)
        assert (answer["success"], answer["error"]) == (False, "Invalid agent_id or passkey")
        assert answer["action"] == "exit"


def test_get_my_task(crew: World):
    task = crew.task("agt_frontend", title="機能実装", description="ログイン画面のUIを実装する", context={"色": "青"})
    process = crew.start("agt_frontend")
    process.call("save_progress", progress="半分")
    process.call("create_handoff", task_id=task, summary="あとは色だけ")
    answer = process.call("get_my_task")
    like(
        {
            "success": True,
            "has_task": True,
            "task": {
                "task_id": "tsk_xxx",
                "title": "機能実装",
                "description": "ログイン画面のUIを実装する",
                "working_directory": "/path/to/project",
                "context": {},
                "handoff": {},
            },
            "instruction": "タスクを完了したら report_completed を呼び出してください",
        },
        answer,
    )
    shown = answer["task"]
    assert (shown["task_id"], shown["title"]) == (task, "機能実装")
    assert shown["description"] == "ログイン画面のUIを実装する"
    assert shown["working_directory"] == "/srv/house"
    assert (shown["context"]["色"], shown["context"]["previous"]["progress"]) == ("青", "半分")
    assert shown["handoff"]["summary"] == "あとは色だけ"
    assert "タスクを完了したら report_completed を呼び出してください" in answer["instruction"]


def test_get_my_task_読み直しても何も変わらない(crew: World):
    crew.task("agt_frontend")
    process = crew.start("agt_frontend")
    first = process.call("get_my_task")
    before = crew.events()
    assert process.call("get_my_task")["task"] == first["task"]
    assert crew.events() == before


def test_report_completed(crew: World):
    takes(
        "report_completed",
        {
            "properties": {
                "result": {"type": "string", "enum": ["success", "failed", "blocked"]},
                "summary": {"type": "string"},
                "next_steps": {"type": "string"},
            },
            "required": ["result"],
        },
    )
    task = crew.task("agt_frontend")
    process = crew.start("agt_frontend")
    answer = process.call("report_completed", result="success", summary="画面ができた", next_steps="公開する")
    like({"success": True, "instruction": "タスクが完了しました。セッションを終了します。"}, answer)
    assert answer["action"] == "exit"
    shown = crew.show(task)
    assert (shown["status"], shown["summary"], shown["next_steps"]) == ("completed", "画面ができた", "公開する")
    assert crew.sessions() == []


@pytest.mark.parametrize(("result", "status"), [("success", "completed"), ("failed", "failed"), ("blocked", "blocked")])
def test_report_completed_result(crew: World, result: str, status: str):
    task = crew.task("agt_frontend")
    crew.start("agt_frontend").report(result, summary="理由")
    assert crew.status(task) == status


# --- 冪等性と実行状態管理 ---


def test_実行状態の遷移(crew: World):
    """idle → running → idle, by a report, and by the time-out."""
    coordinator = crew.coordinator()
    crew.task("agt_frontend")
    assert coordinator.reason("agt_frontend").startswith("start")
    token = by_hand(crew, "agt_frontend")["session_token"]
    assert coordinator.reason("agt_frontend") == "hold already_running"
    crew.nobody.call("report_completed", result="failed", summary="x", session_token=token)
    assert coordinator.reason("agt_frontend") == "hold no_in_progress_task"

    crew.task("agt_frontend")
    by_hand(crew, "agt_frontend")
    assert coordinator.reason("agt_frontend") == "hold already_running"
    crew.advance(3601)
    assert coordinator.reason("agt_frontend").startswith("start")


def test_冪等性の確保(crew: World):
    """Both Coordinators are told true; the second process that signs in is refused and told to exit."""
    crew.task("agt_frontend")
    one, two = crew.coordinator("a"), crew.coordinator("b")
    assert one.call("should_start", agent_id="agt_frontend")["should_start"] is True
    assert two.call("should_start", agent_id="agt_frontend")["should_start"] is True
    by_hand(crew, "agt_frontend")
    answer = crew.nobody.refused(
        "authenticate", "alreadyRunning", agent_id="agt_frontend", passkey=crew.passkeys["agt_frontend"]
    )
    assert (answer["error"], answer["action"]) == ("Agent already running", "exit")
    assert len(crew.sessions()) == 1
    assert two.call("should_start", agent_id="agt_frontend")["should_start"] is False


def test_リカバリーメカニズム_正常終了(crew: World):
    crew.task("agt_frontend")
    crew.start("agt_frontend").report()
    assert crew.sessions() == []


def test_リカバリーメカニズム_エージェントクラッシュ(crew: World):
    """Nobody reports the end: the time-out clears it, also for a Coordinator that only asks should_start."""
    crew.task("agt_frontend")
    by_hand(crew, "agt_frontend")
    coordinator = crew.coordinator()
    crew.advance(3590)
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is False
    crew.advance(20)
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is True


def test_リカバリーメカニズム_手動介入(crew: World):
    crew.task("agt_frontend")
    token = by_hand(crew, "agt_frontend")["session_token"]
    (session,) = crew.sessions()
    crew.owner.call("end_session", session_id=session["session_id"], reason="手動")
    assert crew.sessions() == []
    crew.nobody.refused("list_tasks", None, session_token=token, status="nonsense")
    crew.nobody.refused("save_progress", "sessionExpired", session_token=_later(crew, token), progress="x")
    assert crew.coordinator().call("should_start", agent_id="agt_frontend")["should_start"] is True


def _later(world: World, token: str) -> str:
    world.advance(61)
    return token


def test_タイムアウト設定():
    settings = SessionSettings()
    assert (settings.default_timeout, settings.max_timeout, settings.cleanup_interval) == (3600, 86400, 300)


# --- 各コンポーネントの知識範囲 ---


def test_Coordinatorはタスクの内容を知らない(crew: World):
    crew.task("agt_frontend", title="秘密の題名", description="秘密の説明")
    coordinator = crew.coordinator()
    for answer in (
        coordinator.call("should_start", agent_id="agt_frontend"),
        coordinator.call("list_managed_agents"),
        coordinator.action("agt_frontend"),
        coordinator.claim(),
    ):
        assert "秘密" not in str(answer)
        assert "tsk_" not in str(answer)


def test_CoordinatorはタスクのAPIを呼べない(crew: World):
    task = crew.task("agt_frontend")
    coordinator = crew.coordinator()
    for name, arguments in (("get_my_task", {}), ("get_task", {"task_id": task}), ("list_tasks", {})):
        assert coordinator.refused(name, "authenticationRequired", **arguments)["instruction"]
    coordinator.refused("show_task", "authenticationRequired", task_id=task)


def test_Agentは他のエージェントやCoordinatorのAPIを知らない(crew: World):
    crew.task("agt_frontend")
    process = crew.start("agt_frontend")
    for name, arguments in (
        ("list_managed_agents", {}),
        ("should_start", {"agent_id": "agt_frontend"}),
        ("get_agent_action", {"agent_id": "agt_frontend"}),
        ("claim_starts", {"coordinator_id": "x", "free_slots": 1}),
        ("report_process_exit", {"launch_id": process.launch_id}),
    ):
        process.refused(name, "coordinatorRequired", **arguments)
    process.refused("list_agents_of_server", "authenticationRequired")


def test_system_promptは認証時にDBから渡される(crew: World):
    """役割変更がアプリで完結: the next sign-in has the new one."""
    crew.task("agt_frontend")
    process = crew.started("agt_frontend")
    crew.owner.call("edit_agent", agent_id="agt_frontend", system_prompt="あなたは棟梁です")
    assert process.sign_in()["system_prompt"] == "あなたは棟梁です"


# --- フロー図: エージェント実行フロー（正常系） ---


def test_エージェント実行フロー_正常系(crew: World):
    coordinator = crew.coordinator()
    first = crew.task("agt_frontend", title="一つ目")
    assert coordinator.call("health_check")["status"] == "ok"
    assert {"agent_id": "agt_frontend"} in coordinator.call("list_managed_agents")["agents"]
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is True
    token = by_hand(crew, "agt_frontend")["session_token"]
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is False
    agent = crew.nobody
    assert agent.call("get_my_task", session_token=token)["task"]["task_id"] == first
    assert agent.call("report_completed", session_token=token, result="success")["success"] is True
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is False
    crew.task("agt_frontend", title="次のタスク")
    assert coordinator.call("should_start", agent_id="agt_frontend")["should_start"] is True


# --- 後方互換性 ---


def test_非推奨となるAPI(crew: World):
    """The old names still answer, and say what to call instead."""
    task = crew.task("agt_frontend")
    process: Process = crew.start("agt_frontend")
    old = process.call("get_pending_tasks")
    assert old["task"]["task_id"] == task
    assert "get_my_task" in old["deprecated"]
    assert "get_my_task" in process.call("report_execution_start", task_id=task)["deprecated"]
    done = process.call("report_execution_complete", result="success", summary="x")
    assert "report_completed" in done["deprecated"]
    assert process.call("report_execution_complete", result="success", summary="x") == done
    for each in (old, done):  # 旧APIは6ヶ月間維持, マイグレーションガイド
        assert "six months" in each["deprecated"] and "docs/how-to/migration.md" in each["deprecated"]
    assert process.call("get_pending_tasks")["task"]["task_id"] == task
    assert crew.status(task) == "completed"


@pytest.mark.parametrize("name", ["list_managed_agents", "should_start"])
def test_Coordinator向けAPIに資格情報がなければCoordinatorのトークンを案内する(crew: World, name: str):
    """Row 2.29: whoever writes the seed's loop was sent to authenticate, which is for agents."""
    arguments = {"agent_id": "agt_frontend"} if name == "should_start" else {}
    refusal = crew.nobody.refused(name, "coordinatorRequired", **arguments)
    assert "Coordinator's token" in refusal["instruction"] and "authenticate" not in refusal["instruction"]
