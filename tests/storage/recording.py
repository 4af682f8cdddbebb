"""Records a database as this version of Toryo leaves it, with work of every kind under way:

    python -m tests.storage.recording > tests/storage/released/version_7.jsonl

`released/` has such files for every version of the schema from 26 on, the oldest that is upgraded: the lines of a
backup, written by the code of that time. Record the present version before you write the next step; the tests ask for
the file as soon as there is one. A part that needs a later version comes with the step.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog

from tests.stories import Answer, Caller, Process, World
from toryo.domain import webhooks
from toryo.operations.schedules import deliveries
from toryo.storage import backup
from toryo.storage.open_database import open_database, upgrade

PROJECT = "prj_house"
OWNERS_PASSWORD = "correct horse battery"
KEY_NAME = "mill-1"


def tell(world: World) -> None:
    """Tasks in every status, agents at work, and whatever else the version knows."""
    world.project(project_id=PROJECT)
    _crew(world)
    _tree(world)
    _statuses(world)
    parts = [
        *(_talk, _queue, _programs, _people, _views, _questions, _schedules, _memories, _merge_queue, _reviews),
        *(_webhooks, _touches, _quotas, _templates, _after, _weaving, _artifacts, _standing_in, _places),
    ]
    for part in parts:
        part(world)
    world.housekeep()


def _crew(world: World) -> None:
    world.manager("boss")
    for name in ("w1", "w2", "w3"):
        world.worker(name, "boss", max_parallel_tasks=2)
    for name in ("asking", "failing", "resting"):
        world.worker(name)
    world.agent("lena", "manager", kind="human", provider=None)


def _tree(world: World) -> None:
    """A manager whose first part is done, whose second is under way, and whose third waits for that."""
    world.task("boss", title="Build a house", description="With a roof.\nAnd a door.")
    boss = world.start("boss")
    first, second, third = boss.assigned({"Walls": "w1", "Roof": "w2", "Door": "w3"})
    boss.call("update_task_dependencies", task_id=third, add_dependencies=[second])
    boss.begin(first, second)
    boss.wait()
    worker = world.start("w1")
    worker.call("save_progress", progress="Bricks are red.")
    worker.call("create_handoff", task_id=first, summary="half done", context={"wall": 2})
    worker.report()
    worker.call("logout")
    _exited(world, worker)
    other = world.start("w2")
    half, _ = other.batch("Beams", "Tiles")
    other.set(half, "in_progress")


def _statuses(world: World) -> None:
    world.task("w3", status="backlog", title="Paint")
    waiting = world.task("w3", status="todo", title="Fence", acceptance=[{"command": "test -e fence"}])
    world.task("w3", status="todo", title="Gate", dependencies=[waiting])
    stuck = world.task("failing", title="Well")
    world.move(stuck, "blocked", "no water")
    gone = world.task("failing", title="Pond")
    world.move(gone, "cancelled", "no room")
    failed = world.task("failing", title="Bridge")
    process = world.start("failing")
    process.report("failed", "the river is too wide")
    assert world.status(failed) in ("failed", "blocked")
    _exited(world, process, exit_code=1)
    world.task("resting", title="Garden")
    resting = world.start("resting")
    resting.call("logout")
    world.coordinator().exited(resting.launch_id, exit_code=75, error="quota_exceeded")
    world.task("asking", title="Cellar")
    asking = world.start("asking")
    asking.call("request_task", title="Dig", description="Deep.", assignee_id="w1")


def _exited(world: World, process: Process, exit_code: int = 0) -> None:
    world.coordinator().exited(process.launch_id, exit_code=exit_code)


def _talk(world: World) -> None:
    """One conversation under way, one message that nobody has fetched, and an open chat."""
    world.worker("ann")
    world.worker("ben")
    world.say("ann", "Hello.")
    ann = world.start_chat("ann")
    (told,) = ann.fetch()["pending_messages"]
    ann.call("respond_chat", message_id=told["message_id"], content="Good morning.")
    opened = ann.call("start_conversation", target_agent_id="ben", initial_message="ringo")["conversation_id"]
    ben = world.start_chat("ben")
    ben.fetch()
    ben.turn(opened, "gorilla")
    world.say("w3", "Which colour has the door?")
    world.open_chat("w3")
    world.task("ann", title="Agree on colours")
    at_work = world.start("ann")
    at_work.call("delegate_to_chat_session", target_agent_id="ben", purpose="Agree on colours.")


def _queue(world: World) -> None:
    """A queue with a completed task, a claimed one, one that waits, and a shared value."""
    chief = world.owner.call("make_api_key", project_id=PROJECT, agent_id="chief", orchestrator=True)["token"]
    mill = world.owner.call("make_api_key", project_id=PROJECT, agent_id=KEY_NAME, types=["milling"])["token"]
    orchestrator, miller = Caller(world, chief), Caller(world, mill)
    for number in range(3):
        asked = {"agent_type": "milling", "task_description": f"Grind {number}", "idempotency_key": f"grind {number}"}
        orchestrator.call("create_task", **asked)
    miller.call("register_agent", agent_id=KEY_NAME, agent_type="milling")
    for done in (True, False):
        found = miller.call("poll_tasks", agent_id=KEY_NAME)["result"][0]
        if done:
            miller.call("submit_result", task_id=found["task_id"], status="completed", result={"flour": 3})
    orchestrator.call("set_shared_state", key="mill:grain", value=["rye"])


def _programs(world: World) -> None:
    """A worktree with changes, what people ask of it, and what a program has used."""
    world.worker("carver")
    task = world.task("carver", title="Carve")
    process = world.start("carver")
    desk = world.coordinator()
    place = {"path": "/srv/worktrees/carve", "directory": "/srv/house", "branch": "toryo/carve"}
    desk.call(
        "report_worktree",
        launch_id=process.launch_id,
        **place,
        base_branch="main",
        base_commit="a" * 40,
        head_commit="b" * 40,
        commits=1,
        files_changed=2,
        insertions=30,
        deletions=4,
    )
    process.report()
    process.call("logout")
    used = {"input_tokens": 1200, "output_tokens": 300, "model_id": "model-1"}
    desk.exited(process.launch_id, exit_code=0, usage=used, program_session={"id": "s-1"})
    world.owner.ask("merge_task", task_id=task)


def _people(world: World) -> None:
    world.owner.call("set_password", person_id="owner", password=OWNERS_PASSWORD)
    world.owner.call("make_access_token", name="script")
    world.owner.call("make_sign_in_link")
    world.owner.call("add_person", person_id="mia", login="member", projects=[PROJECT])


def _views(world: World) -> None:
    shared = {"name": "Stuck", "view": "board", "q": "status:blocked", "by": "agent", "everybody": True}
    for view in (shared, {"name": "Mine", "view": "graph"}):
        world.owner.call("save_view", project_id=PROJECT, **view)


def _questions(world: World) -> None:
    """One that waits for an answer, and one that was answered."""
    for name in ("curious", "told"):
        world.worker(name)
        world.task(name, title=f"Paint the house ({name})")
        agent = world.start(name)
        more = {"options": ["Red", "Blue"], "default": "Blue", "deadline_minutes": 60 * 24 * 30}
        asked = agent.call("ask_person", question=f"Which colour does {name} take?", **more)["question_id"]
        if name == "told":
            world.owner.call("answer_question", question_id=asked, choices=["Red"], text="A dark one.")


def _schedules(world: World) -> None:
    """One that runs every hour, whose first task is open, one that a person has paused, and one that has stopped."""
    asked = {"project_id": PROJECT, "title": "Look at {date}"}
    world.owner.call("add_schedule", **asked, name="Hourly", every_seconds=3600, overlap="buffer_one")
    paused = world.owner.call("add_schedule", **asked, name="Daily", cron="0 9 * * *", time_zone="Europe/Berlin")
    world.owner.call("pause_schedule", schedule_id=paused["schedule"]["schedule_id"], reason="Holidays")
    failing = world.owner.call("add_schedule", **asked, name="Failing", every_seconds=60, max_failures=1)
    ran = world.owner.call("run_schedule", schedule_id=failing["schedule"]["schedule_id"])
    world.move(ran["task_id"], "cancelled", "Enough")
    ran = world.owner.call("run_schedule", schedule_id=failing["schedule"]["schedule_id"])
    world.owner.call("edit_task", task_id=ran["task_id"], assignee_id="lena")
    world.move(ran["task_id"], "in_progress")
    world.move(ran["task_id"], "failed", "It broke")
    world.advance(3 * 3600)


def _webhooks(world: World) -> None:
    """One with a task and what it has ignored, one that is paused, and one that has stopped."""
    asked = {"project_id": PROJECT, "title": "Triage {{ body.title }}"}
    made = world.owner.call("add_webhook", **asked, name="Issues", events=["issues"])
    world.owner.call("add_webhook", **asked, name="Pushes")
    failing = world.owner.call("add_webhook", **asked, name="Failing", max_failures=1)
    paused = world.owner.call("add_webhook", **asked, name="Paused")["webhook"]["webhook_id"]
    world.owner.call("pause_webhook", webhook_id=paused, reason="Holidays")
    for webhook, event, body in ((made, "issues", {"title": "Rain"}), (made, "push", {}), (failing, "issues", {})):
        deliver(world, webhook, event, body)


def deliver(world: World, made: Answer, event: str, body: Any) -> None:
    raw = json.dumps(body).encode()
    request = deliveries.Request(
        webhook_id=made["webhook"]["webhook_id"],
        signature=webhooks.signature(made["secret"], raw),
        delivery=f"delivery of {event}",
        event=event,
        media_type="application/json",
        body=raw,
    )
    asyncio.run(world.dispatcher.as_server(partial(deliveries.receive, request=request)))


def _memories(world: World) -> None:
    """One of an agent, one that a person has pinned, and what a completed task has reported."""
    world.worker("learned")
    world.task("learned", title="Learn the way to the cellar")
    agent = world.start("learned")
    agent.call("remember", text="The cellar door opens to the left.")
    agent.report(summary="The cellar is behind the kitchen.")
    world.owner.call("add_memory", project_id=PROJECT, text="Speak softly after ten.", pinned=True)


def _merge_queue(world: World) -> None:
    """Work that waits in the merge queue, which is paused."""
    world.worker("roofer")
    task = world.task("roofer", title="Roof")
    process = world.start("roofer")
    desk = world.coordinator()
    place = {"path": "/srv/worktrees/roof", "directory": "/srv/worktrees/roof", "branch": "toryo/roof"}
    figures = {"head_commit": "d" * 40, "commits": 1, "files_changed": 1, "insertions": 5}
    base = {"base_branch": "main", "base_commit": "c" * 40}
    desk.call("report_worktree", launch_id=process.launch_id, **place, **base, **figures)
    process.report()
    process.call("logout")
    desk.exited(process.launch_id, exit_code=0)
    world.owner.call("edit_project", project_id=PROJECT, settings={"merge_queue": "manual"})
    world.owner.call("pause_merge_queue", project_id=PROJECT)
    world.owner.call("add_to_merge_queue", task_id=task)


def _reviews(world: World) -> None:
    """Work that an agent reviews, and work that a person has approved."""
    for name in ("turner", "critic"):
        world.worker(name)
    approved = world.task("turner", title="Turn the post", acceptance=[{"review": {}}])
    world.start("turner").report()
    asked = world.owner.call("list_questions", project_id=PROJECT, task_id=approved)["questions"]
    world.owner.call("answer_question", question_id=asked[0]["question_id"], choices=["Approve"])
    world.task("turner", title="Turn the knob", acceptance=[{"review": {"by": "critic"}}])
    world.start("turner").report()


def _touches(world: World) -> None:
    """Work that says which files it touches."""
    world.task("w1", title="Paint the shed", status="todo", touches=["shed/**"])


def _weaving(world: World) -> None:
    """A program under way whose launch knows its account."""
    world.worker("dyer", provider_options={"account": "vats"})
    world.task("dyer", title="Dye the curtain")
    world.start("dyer").call("save_progress", progress="The vat is warm.")


def _quotas(world: World) -> None:
    """An account with limits and a reserve, one of which was learnt."""
    world.worker("weaver", provider_options={"account": "looms"})
    world.owner.call("edit_quota", account="looms", limit_5h=2_000_000, reserve=20)
    world.task("weaver", title="Weave the curtain")
    process = world.start("weaver")
    process.report()
    usage = {"input_tokens": 1_000, "cached_tokens": 0, "output_tokens": 200}
    world.coordinator().exited(process.launch_id, exit_code=1, error="quota", quota_reset_seconds=90_000, usage=usage)


def _templates(world: World) -> None:
    """A template that was used."""
    content = {"parameters": {"room": {"default": "hall"}}, "tasks": [{"title": "Sweep the {{room}}"}]}
    world.owner.call("save_template", project_id=PROJECT, name="sweep", definition=content)
    world.owner.call("use_template", project_id=PROJECT, name="sweep", values={"room": "attic"})


def _after(world: World) -> None:
    """A schedule that comes when a task is completed."""
    first = world.task("w1", title="Oil the gate", status="todo")
    asked = {"name": "Paint", "title": "Paint the gate", "after_task_id": first}
    world.owner.call("add_schedule", project_id=PROJECT, **asked)


def _places(world: World) -> None:
    """A line in which a person has given a task its place, and one waits for its time."""
    world.worker("tiler")
    asked = {"status": "todo", "start": "when_ready"}
    _, second, third = (world.task("tiler", title=title, **asked) for title in ("Floor", "Walls", "Stairs"))
    world.owner.call("move_task", task_id=third, before_task_id=second)
    world.task("tiler", title="Terrace", not_before="2031-05-01T09:00:00Z", **asked)


def _artifacts(world: World) -> None:
    """A check that has left a file."""
    world.worker("glazier")
    world.task("glazier", title="Glaze the door", acceptance=[{"command": "make photo", "artifacts": ["*.txt"]}])
    process = world.start("glazier")
    asked = {"result": "success", "summary": "done"}
    world.perform("report_completed", asked, process.credentials, may_wait=True)
    desk = world.coordinator()
    (check,) = desk.claim(free_slots=0)["checks"]
    name = {"check_id": check["check_id"], "place": 0, "name": "out/light.txt"}
    stored = desk.call("store_artifact", **name, size=5, content="bGlnaHQ=")
    found = {"check": "make photo", "outcome": "passed", "artifacts": [stored["artifact_id"]], "left_out": ["No more."]}
    desk.call("report_check_result", check_id=check["check_id"], failures=[], results=[found])
    process.report()


def _standing_in(world: World) -> None:
    """An agent of which two programs are in cooldown."""
    world.worker("plumber", provider_options={"fallback": {"provider": "gemini"}})
    world.task("plumber", title="Lay the pipes")
    for error in ("not_logged_in", "rate_limited"):
        (launch,) = world.coordinator().claim(agent_ids=["plumber"])["start"]
        world.coordinator().exited(launch["launch_id"], exit_code=1, error=error)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with TemporaryDirectory() as directory:
        with open_database(f"sqlite:///{directory}/toryo.db") as database:
            upgrade(database)
            tell(World(database))
            backup.backup(database, Path(directory) / "file")
        sys.stdout.buffer.write(gzip.decompress((Path(directory) / "file").read_bytes()))


if __name__ == "__main__":
    main()
