"""A story in which every tool is called once as it is meant, on a real dispatcher and an empty SQLite database.

docs/generate.py prints these calls and their answers as the examples of the reference; they are compared with the
reference whenever it is checked. Clock and randomness are those of the story, so every telling is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog

from tests.stories import Answer, Caller, Coordinator, Process, World
from toryo.storage.open_database import open_database, upgrade


@dataclass(frozen=True)
class Example:
    arguments: Answer
    answer: Answer


@dataclass
class Story:
    world: World
    examples: dict[str, Example] = field(default_factory=dict)

    def show(self, caller: Caller, name: str, /, **arguments: Any) -> Answer:
        """A call that is an example."""
        assert name not in self.examples, f"{name} has an example"
        answer = caller.call(name, **arguments)
        self.examples[name] = Example(arguments, answer)
        return answer


def examples() -> dict[str, Example]:
    """An example of every tool, by its name."""
    usual = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        with TemporaryDirectory() as folder, open_database(f"sqlite:///{Path(folder) / 'toryo.db'}") as database:
            upgrade(database)
            story = Story(World(database))
            _tell(story)
            return story.examples
    finally:
        structlog.configure(**usual)


def _tell(story: Story) -> None:
    world = story.world
    world.project(name="Web shop", project_id="shop", isolation="worktree")
    world.manager("mia", name="Mia")
    world.worker("ben", "mia", name="Ben", capabilities=["python"])
    world.worker("eva", "mia", name="Eva", capabilities=["design"])
    main = world.task("mia", title="Add a search page", description="Customers search by name.")
    story.show(world.nobody, "health_check")
    story.show(world.nobody, "help", tool_name="report_model")
    machine = world.coordinator("machine-1")
    mia = _manager_plans(story, machine, main)
    ben = _worker_works(story, machine)
    _chat_talks(story, ben)
    _worker_reports(story, machine, ben)
    (index,) = story.show(mia, "get_recent_completions", limit=5)["completions"]
    story.show(mia, "request_changes", task_id=index["task_id"], reason="The numbers are missing.")
    _reviewer_reviews(story, machine)
    _queue_works(story)
    _coordinator_reports(story, machine)


def _manager_plans(story: Story, machine: Coordinator, main: str) -> Process:
    world = story.world
    story.show(machine, "list_managed_agents")
    story.show(machine, "should_start", agent_id="mia")
    story.show(machine, "get_agent_action", agent_id="ben", project_id="shop")
    (launch,) = story.show(machine, "claim_starts", coordinator_id="machine-1", free_slots=4, running=[])["start"]
    mia = world.process(launch)
    story.show(mia, "authenticate")
    story.show(mia, "report_model", provider="claude", model_id="model-1")
    story.show(mia, "get_next_action")
    story.show(mia, "get_my_task")
    story.show(mia, "get_my_profile")
    story.show(mia, "get_project")
    story.show(mia, "list_team", role="worker")
    story.show(mia, "list_subordinates")
    story.show(mia, "get_subordinate_profile", agent_id="ben")
    index = {"local_id": "index", "title": "Build the index", "description": "From products.csv.", "assignee_id": "ben"}
    page = {"local_id": "page", "title": "Draw the page", "description": "One field.", "dependencies": ["index"]}
    made = story.show(mia, "create_tasks_batch", tasks=[index, page])["local_id_to_real_id"]
    more = {"title": "Write the help", "description": "One paragraph.", "priority": "low", "intent": "new"}
    helping = story.show(mia, "create_task", **more)["task_id"]
    story.show(mia, "assign_task", task_id=made["page"], assignee_id="eva")
    story.show(mia, "update_task", task_id=made["page"], description="One field and a list of hits.")
    story.show(mia, "update_task_dependencies", task_id=helping, add_dependencies=[made["page"]])
    story.show(mia, "block_task", task_id=helping, reason="The texts are not decided.")
    story.show(mia, "cancel_task", task_id=helping, reason="The page explains itself.")
    story.show(mia, "list_tasks", parent_task_id=main)
    story.show(mia, "get_task", task_id=made["index"])
    mia.call("get_next_action")
    story.show(mia, "select_action", action="start", reason="The index can be built now.")
    story.show(mia, "update_task_status", task_id=made["index"], status="in_progress")
    world.owner.call("edit_task", task_id=main, description="Customers search by name and by number.")
    story.show(mia, "get_notifications")
    return mia


def _started(world: World, machine: Coordinator, agent_id: str) -> Process:
    (launch,) = machine.claim(agent_ids=[agent_id], free_slots=1)["start"]
    process = world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    return process


def _worker_works(story: Story, machine: Coordinator) -> Process:
    world = story.world
    ben = _started(world, machine, "ben")
    task = ben.call("get_my_task")["task"]["task_id"]
    story.show(ben, "save_progress", progress="The index has all names.", next_steps="Add the numbers.")
    story.show(ben, "request_task", title="Check the colors", assignee_id="eva", description="Enough contrast?")
    story.show(ben, "set_shared_state", key="index/path", value="build/index.json", ttl=3600)
    story.show(ben, "get_shared_state", key="index/path")
    asked = {"target_agent_id": "eva", "purpose": "Ask which fields the list shows.", "await_result": True}
    story.show(ben, "delegate_to_chat_session", **asked)
    options = {"options": ["By name", "By number"], "default": "By name", "deadline_minutes": 240}
    asked_person = story.show(ben, "ask_person", question="How is the list sorted?", **options)["question_id"]
    world.owner.call("answer_question", question_id=asked_person, choices=["By number"])
    story.show(ben, "remember", text="The list is sorted by number: customers ask by number on the telephone.")
    story.show(ben, "recall", query="sort list")
    story.show(ben, "create_handoff", task_id=task, summary="The index is built.", recommendations="Test it.")
    return ben


def _chat_talks(story: Story, ben: Process) -> None:
    world = story.world
    world.open_chat("ben")
    message = world.say("ben", "How far are you?")
    chat = world.start_chat("ben")
    waiting = story.show(chat, "get_pending_messages", timeout_seconds=0)
    delegation = waiting["pending_delegations"][0]["delegation_id"]
    story.show(chat, "respond_chat", message_id=message, content="The index is built; the page is next.")
    story.show(chat, "send_message", target_agent_id="owner", content="I need nothing from you.")
    asked = {"initial_message": "Which fields does the list show?", "purpose": "Fields", "delegation_id": delegation}
    talk = story.show(chat, "start_conversation", target_agent_id="eva", **asked)["conversation_id"]
    other = world.start_chat("eva")
    other.fetch()
    answered = {"conversation_id": talk, "content": "Name and price."}
    story.show(other, "respond_conversation_message", **answered)
    chat.fetch()
    story.show(chat, "send_conversation_message", conversation_id=talk, content="Thank you.")
    story.show(chat, "end_conversation", conversation_id=talk, summary="Name and price.")
    story.show(chat, "report_delegation_completed", delegation_id=delegation, result="Name and price.")
    story.show(chat, "notify_task_session", message="Eva has answered.")
    story.show(ben, "get_task_conversations")
    story.show(chat, "logout")


def _worker_reports(story: Story, machine: Coordinator, ben: Process) -> None:
    world = story.world
    about = {"launch_id": ben.launch_id, "path": "/srv/shop-index", "directory": "/srv/house"}
    git = {"branch": "toryo/index", "base_commit": "1f0c2d4", "head_commit": "9ab34e1", "commits": 1}
    story.show(machine, "report_worktree", **about, **git, files_changed=2, insertions=40)
    story.show(machine, "append_log", launch_id=ben.launch_id, offset=0, text="412 products indexed\n")
    story.show(ben, "report_completed", result="success", summary="412 products are in the index.")
    story.show(machine, "report_process_exit", launch_id=ben.launch_id, exit_code=0)
    world.task("eva", title="A banner", description="For the sale.")
    eva = _started(world, machine, "eva")
    task = eva.call("get_my_task")["task"]["task_id"]
    handoff = eva.call("create_handoff", task_id=task, summary="The drawing is half done.")
    eva.call("logout")
    eva = _started(world, machine, "eva")
    story.show(eva, "accept_handoff", handoff_id=handoff["handoff_id"])
    eva.call("report_completed", result="blocked", summary="The logo is missing.")


def _checks_are_tried(story: Story, machine: Coordinator, leo: Process) -> None:
    asked = story.world.perform("run_check", {}, leo.credentials, may_wait=True)
    assert asked.later is not None
    (job,) = machine.claim(free_slots=0, sandbox=True)["worktree_jobs"]
    found = {"check": "pytest", "outcome": "failed", "exit_code": 1, "seconds": 2.1, "output": "1 failed, 41 passed"}
    machine.call("report_worktree_job", job_id=job["job_id"], done=True, evidence=[found])
    story.show(leo, "run_check")
    story.world.owner.call("edit_agent", agent_id="leo", provider_options={"commands": ["pytest", "npm test"]})
    tests = {"command": "pytest tests/test_prices.py -q"}
    assert story.world.perform("run_command", tests, leo.credentials, may_wait=True).later is not None
    (job,) = machine.claim(free_slots=0, sandbox=True)["worktree_jobs"]
    ran = {"check": "pytest", "outcome": "failed", "exit_code": 1, "output": "E  assert 1.05 == 1.1\n1 failed"}
    machine.call("report_worktree_job", job_id=job["job_id"], done=True, evidence=[ran])
    story.show(leo, "run_command", **tests)


def _reviewer_reviews(story: Story, machine: Coordinator) -> None:
    world = story.world
    world.worker("leo", name="Leo")
    priced = world.task("leo", title="Round the prices", acceptance=[{"review": {"by": "mara"}}])
    world.worker("mara", name="Mara")
    leo = _started(world, machine, "leo")
    leo.call("get_my_task")
    about = {"launch_id": leo.launch_id, "path": "/srv/shop-prices", "directory": "/srv/shop-prices"}
    git = {"branch": "toryo/prices", "base_commit": "1f0c2d4", "head_commit": "9ab34e1", "commits": 1}
    machine.call("report_worktree", **about, **git, files_changed=1, insertions=1, deletions=1)
    world.owner.call("edit_task", task_id=priced, acceptance=[{"command": "pytest"}, {"review": {"by": "mara"}}])
    _checks_are_tried(story, machine, leo)
    world.owner.call("edit_task", task_id=priced, acceptance=[{"review": {"by": "mara"}}])
    leo.call("report_completed", result="success", summary="All prices are rounded.")
    machine.exited(leo.launch_id, exit_code=0)
    mara = _started(world, machine, "mara")
    _diff_is_read(story, machine, mara)
    found = {"file": "prices.py", "line": 12, "severity": "high", "message": "Taxes are not rounded."}
    story.show(mara, "submit_review", verdict="request_changes", findings=[found])


def _diff_is_read(story: Story, machine: Coordinator, mara: Process) -> None:
    world = story.world
    asked = world.perform("get_diff", {}, mara.credentials, may_wait=True)
    assert asked.later is not None
    (job,) = machine.claim(free_slots=0)["worktree_jobs"]
    patch = (
        "diff --git a/prices.py b/prices.py\n--- a/prices.py\n+++ b/prices.py\n@@ -12 +12 @@\n"
        "-    return price * (1 + tax)\n+    return round(price, 2) * (1 + tax)\n"
    )
    file = {"path": "prices.py", "old_path": None, "status": "modified", "insertions": 1, "deletions": 1}
    answer = {"patch": patch, "files": [{**file, "binary": False}], "files_in_all": 1, "truncated": False}
    git = {"head": "9ab34e1", "base": "1f0c2d4"}
    machine.call("report_worktree_job", job_id=job["job_id"], done=True, answer={**answer, **git})
    story.show(mara, "get_diff")


def _queue_works(story: Story) -> None:
    world = story.world
    asked = {"project_id": "shop", "types": ["images"], "orchestrator": True}
    runner = Caller(world, world.owner.call("make_api_key", **asked)["token"])
    story.show(runner, "register_agent", agent_id="resizer", agent_type="images", capabilities=["webp"])
    runner.call("create_task", agent_type="images", task_description="Make small pictures.")
    (task,) = story.show(runner, "poll_tasks", agent_id="resizer", max_tasks=1)["result"]
    story.show(runner, "heartbeat", agent_id="resizer")
    story.show(runner, "list_agents", agent_type="images")
    done = {"task_id": task["task_id"], "status": "completed", "result": {"pictures": 412}}
    story.show(runner, "submit_result", **done, attempt=1)
    story.show(runner, "get_task_status", task_id=task["task_id"])
    webp, icon = (
        {"agent_type": "images", "task_description": text} for text in ("Make WebP pictures.", "Draw the icon.")
    )
    made = story.show(runner, "create_queue_tasks", tasks=[webp, icon], idempotency_key="shop pictures")["task_ids"]
    runner.call("poll_tasks", agent_id="resizer", max_tasks=2)
    results = [
        {"task_id": made[0], "status": "completed"},
        {"task_id": made[1], "status": "failed", "error": "No font."},
    ]
    story.show(runner, "submit_results", results=results)
    story.show(runner, "unregister_agent", agent_id="resizer")


def _coordinator_reports(story: Story, machine: Coordinator) -> None:
    world = story.world
    task = world.task("eva", title="A poster", acceptance=[{"file": "poster.svg"}])
    eva = _started(world, machine, "eva")
    world.perform("report_completed", {"result": "success", "summary": "done"}, eva.credentials, may_wait=True)
    (check,) = machine.claim(free_slots=0)["checks"]
    picture = {"place": 0, "name": "shots/poster.png", "size": 8, "content": "iVBORw0KGgo="}
    story.show(machine, "store_artifact", check_id=check["check_id"], **picture)
    failure = {"check": "poster.svg", "message": "There is no such file."}
    story.show(machine, "report_check_result", check_id=check["check_id"], failures=[failure])
    about = {"launch_id": eva.launch_id, "path": "/srv/shop-poster", "directory": "/srv/house"}
    machine.call("report_worktree", **about, branch="toryo/poster", base_commit="1f0c2d4", head_commit="77aa01c")
    job = world.owner.call("diff_task", task_id=task)["job_id"]
    machine.claim(free_slots=0)
    lines = {"insertions": 1, "deletions": 0, "binary": False}
    poster = {"path": "poster.svg", "old_path": None, "status": "added", **lines}
    diff = {"patch": "diff --git a/poster.svg b/poster.svg", "files": [poster], "files_in_all": 1, "truncated": False}
    diff |= {"head": "77aa01c", "base": "1f0c2d4"}
    story.show(machine, "report_worktree_job", job_id=job, done=True, answer=diff)
    story.show(machine, "report_disk", coordinator_id="machine-1", logs_bytes=1_048_576, worktrees_bytes=52_428_800)
    story.show(machine, "report_login", provider="claude", account="second")
