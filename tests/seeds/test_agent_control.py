"""Seed 0, MCP Agent Control Analysis: the order of the start decision, the actions, and UC006."""

# ruff: noqa: N802, PLC2401 - tests bear the names of the sections they hold the code to

from __future__ import annotations

import pytest

from tests.stories import World
from toryo.operations.calls.catalogue import catalogue

# --- get_agent_action（Coordinator用）: 判断ロジック（順序） ---


def test_判断ロジックの順序(crew: World):
    """Every hindrance holds at once; lifted one by one, each gives way to the next, and at last it starts."""
    coordinator = crew.coordinator()
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    boss.begin(part)
    boss.wait()
    other = crew.task("boss", title="Blocked one", status="todo")
    crew.move(other, "blocked", "no stone")
    crew.move(main, "blocked", "no plan")
    crew.owner.call("remove_member", project_id=crew.project_id, agent_id="boss")
    crew.owner.call("pause_project", project_id=crew.project_id)
    # 1. project.status == .paused → hold (project_paused)
    assert coordinator.reason("boss", project_id=crew.project_id) == "hold project_paused"
    crew.owner.call("resume_project", project_id=crew.project_id)
    # 2. isAgentAssignedToProject == false → hold (agent_not_assigned)
    assert coordinator.reason("boss", project_id=crew.project_id) == "hold agent_not_assigned"
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="boss")
    # 3. blockedタスクあり かつ in_progressなし → hold (blocked_without_in_progress)
    assert coordinator.reason("boss") == "hold blocked_without_in_progress"
    crew.move(main, "in_progress")
    # (unblocking it started it anew: its worker goes on below it, and it is started for its own task)
    launch = coordinator.action("boss")
    assert (launch["action"], launch["reason"]) == ("start", "has_in_progress_task")
    process = crew.process(launch["launch"])
    # 4. 有効期限内のセッションあり → hold (already_running)
    assert coordinator.reason("boss") == "hold start_pending"
    process.sign_in()
    assert coordinator.reason("boss") == "hold already_running"
    process.call("report_model", provider="claude", model_id="m")
    process.call("get_my_task")
    process.wait()
    # 5. まだWorkerが実行中 → hold (waiting_for_workers)
    assert coordinator.reason("boss") == "hold waiting_for_workers"
    crew.start("w1").report("blocked", summary="no bricks")
    # 5. worker_blocked → start (worker_blocked)
    launch = coordinator.action("boss")
    assert (launch["action"], launch["reason"]) == ("start", "worker_blocked")


def test_返却値_start_hold_stop(crew: World):
    coordinator = crew.coordinator()
    task = crew.task("w1")
    assert coordinator.reason("w1") == "start has_in_progress_task"
    assert coordinator.reason("w2") == "hold no_in_progress_task"
    crew.advance(121)
    launch = coordinator.action("w1")["launch"]
    crew.process(launch).sign_in()
    crew.move(task, "cancelled", "not needed")
    assert coordinator.reason("w1") == "hold already_running"
    crew.advance(61)
    assert coordinator.reason("w1") == "stop task_withdrawn"


def test_Manager待機状態_handled_blocked(crew: World):
    """A block that the manager has seen and left open does not start it again."""
    crew.task("boss")
    boss = crew.start("boss")
    one, two = boss.assigned({"Walls": "w1", "Roof": "w2"})
    boss.begin(one, two)
    boss.wait()
    crew.start("w1").report("blocked", summary="no bricks")
    boss = crew.start("boss")
    boss.wait()
    assert crew.coordinator().reason("boss") == "hold handled_blocked"
    crew.start("w2").report("blocked", summary="no tiles")
    assert crew.coordinator().reason("boss") == "start worker_blocked"


def test_Manager待機状態_全Worker完了(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    boss.begin(*boss.assigned({"Walls": "w1", "Roof": "w2"}))
    boss.wait()
    crew.start("w1").report()
    assert crew.coordinator().reason("boss") == "hold waiting_for_workers"
    crew.start("w2").report()
    assert crew.coordinator().reason("boss") == "start workers_finished"


def test_in_progressタスクチェック_なし(crew: World):
    crew.task("w1", status="todo")
    assert crew.coordinator().reason("w1") == "hold no_in_progress_task"


# --- get_next_action（Agent Instance用）: 返却されるアクション一覧 ---


def test_返却されるアクション一覧_Worker(crew: World):
    """Each action in turn, and the call that it names takes the worker to the next."""
    crew.task("w1")
    worker = crew.started("w1")
    assert worker.sign_in()["next"]["action"] == "report_model"
    assert worker.action() == "report_model"
    worker.call("report_model", provider="claude", model_id="model-1")
    assert worker.action() == "get_task"
    worker.call("get_my_task")
    assert worker.action() == "create_subtasks"
    one, two = worker.batch("Walls", "Roof")
    started = worker.next()
    assert (started["action"], started["subtask"]["task_id"]) == ("start_subtask", one)
    worker.set(one, "in_progress")
    assert worker.next()["progress"] == {"done": 0, "total": 2}
    assert worker.action() == "execute_subtask"
    worker.set(one, "completed")
    worker.set(two, "in_progress")
    worker.set(two, "blocked", "no tiles")
    blocked = worker.next()
    assert (blocked["action"], blocked["blocked_subtasks"][0]["you_may_resolve"]) == ("review_and_resolve_blocks", True)
    worker.set(two, "todo")
    worker.set(two, "in_progress")
    worker.set(two, "completed")
    assert worker.action() == "report_completion"
    worker.report()
    assert worker.action() == "exit"


def test_返却されるアクション一覧_Manager(crew: World):
    """`delegate` is now `start`, `exit` is now `wait`; help still knows the old names."""
    crew.task("boss")
    boss = crew.start("boss")
    assert boss.action() == "create_subtasks"
    (part,) = boss.assigned({"Walls": "w1"})
    assert boss.action() == "situational_awareness"
    boss.call("select_action", action="start")
    assert boss.action() == "start"
    boss.set(part, "in_progress")
    boss.next()
    boss.call("select_action", action="wait")
    assert boss.action() == "wait"
    boss.call("logout")
    for old, now in (("exit", "wait"), ("delegate", "start"), ("needs_assignment", "start")):
        assert now in crew.nobody.call("help", tool_name=old)["message"]


@pytest.mark.parametrize(
    "tool",
    [
        "report_model",
        "get_my_task",
        "create_task",
        "update_task_status",
        "assign_task",
        "logout",
        "report_completed",
        "get_agent_action",
        "get_next_action",
        "authenticate",
    ],
)
def test_次に呼ぶべきAPI(tool: str):
    assert catalogue()[tool].tool


def test_Managerは何もせず待つことはできない(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    boss.next()
    refusal = boss.refused("select_action", "notNow", action="wait")
    assert refusal["alternatives"] == ["start", "adjust"]
    assert part in refusal["instruction"]


# --- UC006失敗の根本原因分析 ---


def test_UC006_失敗パターンは起こらない(crew: World):
    """The JA worker: create_task over and over. Five are made, the rest is refused and led on, and all is done."""
    main = crew.task("w1")
    worker = crew.start("w1")
    assert worker.action() == "create_subtasks"
    outcomes = [worker.ask("create_task", title=f"翻訳 {number}", description="x") for number in range(20)]
    assert [outcome.refused for outcome in outcomes] == [False] * 5 + [True] * 15
    for outcome in outcomes[5:]:
        assert outcome.result is not None
        assert outcome.result["error"] in ("tooManySubtasks", "notNow")
        assert "get_next_action" in outcome.result["instruction"]
        assert outcome.result["next"]["action"] == "start_subtask"
    assert worker.action() == "start_subtask"
    assert len(worker.call("list_tasks", parent_task_id=main)["tasks"]) == 5
    while (said := worker.next())["action"] != "report_completion":
        worker.set(said["subtask"]["task_id"], "in_progress" if said["action"] == "start_subtask" else "completed")
    worker.report()
    assert crew.status(main) == "completed"


def test_UC006_一つ作れば_create_subtasks_は終わる(crew: World):
    """phaseの不整合: the phase follows from the facts, so the next answer is never create_subtasks again."""
    crew.task("w1")
    worker = crew.start("w1")
    worker.batch("Only one")
    assert worker.action() == "start_subtask"
    worker.call("get_my_task")
    worker.call("save_progress", progress="workflow:task_fetched")
    assert worker.action() == "start_subtask"


def test_UC006_始めた後は追加できない(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")
    refusal = worker.refused("create_task", "notNow", title="Two", description="x")
    assert "get_next_action" in refusal["instruction"]
    assert refusal["next"]["action"] == "execute_subtask"


def test_UC006_サブタスクはさらに分解されない(crew: World):
    """A self-made subtask is executed; nothing can be created below it."""
    crew.task("w1")
    worker = crew.start("w1")
    (one,) = worker.batch("One")
    worker.set(one, "in_progress")
    said = worker.next()
    assert (said["action"], said["subtask"]["task_id"]) == ("execute_subtask", one)
    worker.refused("create_task", "permissionDenied", title="Deeper", description="x", parent_task_id=one)


def test_ログ強化_各next_actionは変わるたびに記録される(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    worker.next()
    worker.next()
    (one,) = worker.batch("One")
    worker.next()
    told = [event["data"]["action"] for event in crew.events("decision.next_action")]
    assert told == ["create_subtasks", "start_subtask"]
    assert crew.show(one)["created_by"] == "w1"


def test_アクション一覧_create_subtasks_は_create_task_N回でもよい(crew: World):
    """Row 0.48: tool calls in parallel lose none of them; the same plan sent again still creates nothing."""
    crew.task("boss")
    boss = crew.start("boss")
    assert boss.action() == "create_subtasks"
    for title in ("Walls", "Roof", "Paint"):
        boss.call("create_task", title=title, description="x", assignee_id="w1")
    boss.refused("create_task", "duplicateSubtask", title="Roof", description="x")
    plan = [{"local_id": "a", "title": "A", "description": "x"}]
    refusal = boss.refused("create_tasks_batch", "duplicateSubtask", tasks=plan)
    assert "intent: new" in refusal["instruction"]
    boss.begin(boss.call("list_tasks")["tasks"][0]["task_id"])
    boss.refused("create_task", "duplicateSubtask", title="Garden", description="x")


def test_UC020_会話が要るサブタスクの指示は委譲を挙げる(world: World):
    """The third of the worst instructions: a worker played both sides itself."""
    world.project(decomposition="never")
    world.worker("worker-a")
    world.task("worker-a", title="Play six rounds with worker-b")
    told = world.start("worker-a").next()
    assert "delegate_to_chat_session" in told["instruction"] and "delegate_to_chat_session" in told["tools"]
