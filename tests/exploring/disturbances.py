"""Everything that others can do to an obedient crew at one moment: people, processes, Coordinators, time, talk, queues.

`all_of` answers them with their names, in which tasks stand by title, so that the same story is told in the same words.
A disturbance answers whether it changed anything: what was refused is no history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

from tests.exploring.crew import ASK, BATCHES, CHECKS, KILLED, NO_WORKTREE, WORKTREE_JOBS, Crew, Desk, Hand, Working
from tests.invariants import OPEN, Row, Rows
from tests.obedience import ObedientChat, ObedientManager
from tests.stories import Answer
from toryo.domain.times import iso

Disturbance = tuple[str, Callable[[Crew], bool]]
STATUSES = ["todo", "in_progress", "completed", "failed", "blocked", "cancelled", "backlog"]
MOST_ABOUT_TASKS = 12
"""Tasks that people do something about: the newest."""
ENDS: dict[str, Answer] = {
    "crashes": {"exit_code": 1, "error": "crashed: oh"},
    "uses up its quota": {"exit_code": 1, "error": "quota: resets", "quota_reset_seconds": 600},
    "takes too long": {"exit_code": 1, "error": "timed_out"},
    "leaves without a word": {"exit_code": 0},
    "ends with its Coordinator": {"error": "coordinator_stopped"},
}

KEPT: dict[str, Answer] = {
    "all but the reserve": {"reserve": 50},
    "more than passes": {"low_priority": "spare", "limit_day": 2_000},
}
"""What is kept of an account's quota from tasks that are not urgent."""
SETTINGS: dict[str, tuple[object, ...]] = {
    "budget_per_day": (0, 0.1, None),
    "retry_attempts": (1, 5),
    "isolation": ("none", "worktree"),
}


def all_of(crew: Crew) -> Iterator[Disturbance]:
    rows = crew.reader.rows()
    yield from _about_tasks(crew, rows)
    yield from _about_questions(crew, rows)
    yield from _about_projects(rows)
    yield from _about_agents(rows)
    yield from _about_processes(crew)
    yield from _about_coordinators(crew)
    yield from _about_talk(crew, rows)
    yield from _about_queues_and_files(crew, rows)
    yield from _about_merge_queues(crew, rows)
    yield from _about_schedules(rows)
    for seconds in (61, 125, 700, 4000):
        yield f"{seconds} s pass", partial(_time, seconds=seconds, seen=True)
        yield f"{seconds} s pass in which nobody hears of a process", partial(_time, seconds=seconds, seen=False)


# --- people ----------------------------------------------------------------------------------------------------------


def asks(name: str, **arguments: Any) -> Callable[[Crew], bool]:
    return lambda crew: not crew.world.owner.ask(name, **arguments).refused


def _about_tasks(crew: Crew, rows: Rows) -> Iterator[Disturbance]:
    tasks = sorted(rows.tasks.values(), key=lambda each: (each["created_at"], each["ordinal"], each["title"]))
    for number, task in enumerate(tasks[-MOST_ABOUT_TASKS:]):
        name, key = f"{task['title']} ({number})", {"task_id": task["id"]}
        for status in STATUSES:
            if status != task["status"]:
                yield f"moves {name} to {status}", asks("move_task", **key, status=status, reason="so")
        if task["status"] == "failed":
            yield f"puts {name} in its queue again", asks("requeue_task", **key)
        if task["status"] in OPEN:
            yield from _about_open_task(rows, tasks[-MOST_ABOUT_TASKS:], task, name)


def _about_open_task(rows: Rows, tasks: list[Row], task: Row, name: str) -> Iterator[Disturbance]:
    key = {"task_id": task["id"]}
    workers = [agent["id"] for agent in rows["agents"] if agent["kind"] == "ai" and agent["role"] != "owner"]
    if task["approval"] == "pending_approval":
        yield f"approves {name}", asks("approve_task", **key)
    yield f"rejects {name}", asks("reject_task", **key, reason="no")
    for assignee in (*workers, "ann"):
        if assignee != task["assignee_id"]:
            yield f"gives {name} to {assignee}", asks("edit_task", **key, assignee_id=assignee)
    for whose, status in (("w1", "in_progress"), ("w2", "todo"), ("boss", "todo"), ("ann", "todo"), (None, "todo")):
        filed = {"project_id": task["project_id"], "title": f"Below {task['title']}", "parent_task_id": task["id"]}
        if whose in rows.agents or whose is None:
            more = {**filed, "status": status, **({} if whose is None else {"assignee_id": whose})}
            yield f"files below {name} for {whose}, {status}", asks("file_task", **more)
    for other in tasks:
        if other is not task:
            yield f"lets {name} depend on {other['title']}", asks("edit_task", **key, add_dependencies=[other["id"]])
    for other_id in rows.depends_on[task["id"]]:
        free = asks("edit_task", **key, remove_dependencies=[other_id])
        yield f"frees {name} of {rows.tasks[other_id]['title']}", free
    yield from _about_its_line(tasks, task, name)
    yield f"edits {name}", asks("edit_task", **key, description="Otherwise", priority="critical")
    yield f"wants {name} reviewed by w2", asks("edit_task", **key, acceptance=[{"review": {"by": "w2"}}])
    yield f"wants {name} checked", asks("edit_task", **key, acceptance=[{"command": "true"}])
    yield f"steers {name}", asks("steer_task", **key, text="Mind the roof.")


def _about_its_line(tasks: list[Row], task: Row, name: str) -> Iterator[Disturbance]:
    for other in tasks:
        if (task["status"], other["status"]) == ("todo", "todo") and other is not task:
            put = asks("move_task", task_id=task["id"], before_task_id=other["id"])
            yield f"puts {name} before {other['title']}", put
    yield f"lets {name} wait for 5 minutes", partial(_waits, task_id=task["id"], seconds=300)


def _waits(crew: Crew, task_id: str, seconds: int) -> bool:
    return asks("edit_task", task_id=task_id, not_before=iso(crew.world.now + seconds * 1000))(crew)


def _about_projects(rows: Rows) -> Iterator[Disturbance]:
    for project in rows["projects"]:
        what = "pause_project" if project["status"] == "active" else "resume_project"
        yield f"{what} {project['name']}", asks(what, project_id=project["id"])
        if project["status"] != "archived":
            yield f"archive_project {project['name']}", asks("archive_project", project_id=project["id"])
        for setting, values in SETTINGS.items():
            for value in values:
                name = f"{setting} of {project['name']}: {value}"
                yield name, asks("edit_project", project_id=project["id"], settings={setting: value})


def _about_agents(rows: Rows) -> Iterator[Disturbance]:
    members = {
        (membership["agent_id"], membership["project_id"])
        for membership in rows["memberships"]
        if membership["removed_at"] is None
    }
    for agent in rows["agents"]:
        agent_id = agent["id"]
        if agent["kind"] != "ai":
            continue
        for name in ("deactivate_agent",) if agent["status"] == "active" else ("activate_agent",):
            yield f"{name} {agent_id}", asks(name, agent_id=agent_id)
        for project in rows["projects"]:
            name = "remove_member" if (agent_id, project["id"]) in members else "add_member"
            yield f"{name} {agent_id}", asks(name, agent_id=agent_id, project_id=project["id"])
        yield f"resumes {agent_id}", asks("resume_agent", agent_id=agent_id)
        provider = None if agent["provider"] else "claude"
        yield f"provider of {agent_id}: {provider}", asks("edit_agent", agent_id=agent_id, provider=provider)
        for most in {2, 3} - {agent["max_parallel_tasks"]}:
            yield (
                f"parallel tasks of {agent_id}: {most}",
                asks("edit_agent", agent_id=agent_id, max_parallel_tasks=most),
            )
    for session in rows["sessions"]:
        if session["ended_at"] is None:
            name = f"ends the {session['purpose']} session of {session['agent_id']}"
            yield name, partial(_ends_session, session_id=session["id"])


def _ends_session(crew: Crew, session_id: str) -> bool:
    return not crew.world.owner.ask("end_session", session_id=session_id).refused


# --- processes -------------------------------------------------------------------------------------------------------


def _about_processes(crew: Crew) -> Iterator[Disturbance]:
    for launch_id, one in crew.working.items():
        name = f"{one.agent.process.agent_id}'s {one.agent.process.launch['purpose']} process"
        for what, how in ENDS.items():
            yield f"{name} {what}", partial(_ends, launch_id=launch_id, how=how)
        for raises in (False, True):
            after = ", which is raised" if raises else ""
            yield f"{name} uses up the budget{after}", partial(_spends, launch_id=launch_id, raises=raises)
        for what, given in KEPT.items():
            yield f"{name} uses up its quota: {what}", partial(_uses_quota, launch_id=launch_id, given=given)
        yield f"{name} ends having used up the budget", partial(_spends_at_last, launch_id=launch_id)
        if one.agent.process.launch.get("workspace", {}).get("name"):
            for trouble in ("too large", KILLED):
                yield f"{name} will leave work: {trouble}", partial(_leaves, launch_id=launch_id, trouble=trouble)
        yield f"{name} vanishes", partial(_vanishes, launch_id=launch_id)
        yield f"{name} is forgotten", partial(_forgotten, launch_id=launch_id)
        yield f"{name} says everything twice in its next step", partial(_repeats, launch_id=launch_id)
        yield f"{name} loses the answer", partial(_loses, launch_id=launch_id)
        yield f"{name} signs in again", partial(_does, launch_id=launch_id, name="authenticate", arguments={})
        if one.said["action"] == "_sign_in" or isinstance(one.agent, ObedientChat):
            continue
        if crew.hands_over:
            yield f"{name} hands over", partial(_hands_over, launch_id=launch_id)
            yield f"{name} takes over", partial(_takes_over, launch_id=launch_id)
        for call, arguments in _OTHERWISE:
            label = f"{name}: {call} {' '.join(str(argument) for argument in arguments.values())}"
            yield label, partial(_does, launch_id=launch_id, name=call, arguments=arguments)
        yield from _sends_back(crew, name, launch_id)


def _sends_back(crew: Crew, name: str, launch_id: str) -> Iterator[Disturbance]:
    """A manager: whatever is done, its own or not, corrected already or not."""
    rows = crew.reader.rows().tasks.values() if isinstance(crew.working[launch_id].agent, ObedientManager) else ()
    done = [each for each in rows if each["status"] == "completed"]
    done.sort(key=lambda each: (each["created_at"], each["ordinal"], each["title"]))
    for number, task in enumerate(done[-MOST_ABOUT_TASKS:]):
        arguments = {"task_id": task["id"], "reason": "Round it."}
        label = f"{name}: sends back {task['title']} ({number})"
        yield label, partial(_does, launch_id=launch_id, name="request_changes", arguments=arguments)


_OTHERWISE: list[tuple[str, Answer]] = [
    ("report_completed", {"result": "success", "summary": "done"}),
    ("report_completed", {"result": "failed", "summary": "cannot"}),
    ("report_completed", {"result": "blocked", "summary": "cannot now"}),
    ("delegate_to_chat_session", {"target_agent_id": "w2", "purpose": "Agree on colours."}),
    ("delegate_to_chat_session", {"target_agent_id": "w1", "purpose": "Agree on doors."}),
    ("delegate_to_chat_session", {"target_agent_id": "ann", "purpose": "Ask ann."}),
    ("delegate_to_chat_session", {"target_agent_id": "boss", "purpose": "Tell boss.", "await_result": False}),
    ("ask_person", {"question": "Which colour?", "options": ["Blue", "Red"]}),
    ("request_task", {"title": "Wanted", "assignee_id": "w1"}),
    ("request_task", {"title": "Wanted of boss", "assignee_id": "boss"}),
    ("create_tasks_batch", {"tasks": [{"local_id": "x", "title": "Late", "description": "x"}], "intent": "new"}),
    ("create_tasks_batch", {
        "tasks": [{"local_id": "x", "title": "Instead", "description": "x", "assignee_id": "w2"}], "intent": "replace",
    }),
    ("submit_review", {"verdict": "approve"}),
    ("submit_review", {"verdict": "request_changes", "summary": "Otherwise."}),
    ("select_action", {"action": "start"}),
    ("select_action", {"action": "wait"}),
    ("select_action", {"action": "adjust"}),
    ("get_next_action", {}),
    ("get_my_task", {}),
    ("save_progress", {"progress": "half"}),
    ("logout", {}),
]  # fmt: skip
"""What an agent may do although it was told something else."""


def _ends(crew: Crew, launch_id: str, how: Answer) -> bool:
    crew.crashes += how.get("error") != "coordinator_stopped"
    crew.gone(launch_id, **how)
    return True


def _limited(crew: Crew, launch_id: str) -> float:
    """The budget of its project; one that has none gets one."""
    row = next(launch for launch in crew.reader.rows()["launches"] if launch["id"] == launch_id)
    project = crew.world.owner.call("show_project", project_id=row["project_id"])["project"]
    budget = project["settings"]["budget_per_day"]
    if budget is None:
        budget = 5.0
        settings = {"budget_per_day": budget}
        crew.world.owner.call("edit_project", project_id=row["project_id"], settings=settings)
    return float(budget)


def _spends(crew: Crew, launch_id: str, *, raises: bool) -> bool:
    """In the middle of its task; a person who is told of it raises the budget, or it goes on the next day."""
    crew.patience = 1 if raises else crew.patience
    crew.spends(launch_id, _limited(crew, launch_id))
    return True


def _spends_at_last(crew: Crew, launch_id: str) -> bool:
    """It is known only once it has left, without a word."""
    cost = crew.working[launch_id].cost + _limited(crew, launch_id)
    crew.crashes += 1
    crew.gone(launch_id, exit_code=0, usage={"cost_usd": cost})
    return True


def _uses_quota(crew: Crew, launch_id: str, given: Answer) -> bool:
    """What is left of its account is kept until the window ends, or until as much of it has passed."""
    desk = crew.desks[crew.working[launch_id].desk]
    if not desk.alive or crew.world.owner.ask("edit_quota", account="claude", limit_5h=1_000, **given).refused:
        return False
    usage = {"input_tokens": 700, "output_tokens": 50}
    desk.caller.call("append_log", launch_id=launch_id, offset=0, text="", usage=usage)
    return True


def _leaves(crew: Crew, launch_id: str, trouble: str) -> bool:
    crew.working[launch_id].trouble = trouble
    return True


def _vanishes(crew: Crew, launch_id: str) -> bool:
    crew.crashes += 1
    crew.working.pop(launch_id)
    return True


def _forgotten(crew: Crew, launch_id: str) -> bool:
    crew.working[launch_id].seen_by_desk = False
    return True


def _repeats(crew: Crew, launch_id: str) -> bool:
    crew.repeats = True
    try:
        crew.goes_on(launch_id)
    finally:
        crew.repeats = False
    return True


def _loses(crew: Crew, launch_id: str) -> bool:
    """It carries out a step, and never hears the answer."""
    crew.goes_on(launch_id)
    one = crew.working.get(launch_id)
    if one is None:
        return False
    one.said = ASK if one.said["action"] != "_sign_in" else one.said
    return True


def _does(crew: Crew, launch_id: str, name: str, arguments: Answer) -> bool:
    one: Working = crew.working[launch_id]
    process = one.agent.process
    assert isinstance(process, Hand)
    outcome = process.world.perform(name, arguments, process.credentials)
    if outcome.refused or outcome.result is None:
        return False
    if name in ("logout", "report_completed", "submit_review"):
        crew.crashes += name == "logout"
        crew.leaves(launch_id, one)
    elif "next" in outcome.result and one.said["action"] != "_sign_in":
        one.said = outcome.result["next"] if outcome.result["next"]["action"] != "get_next_action" else ASK
    elif name == "get_next_action":
        one.said = outcome.result
        one.seen = crew.acts
    return True


def _task_of(crew: Crew, launch_id: str) -> str | None:
    task_id: str | None = next(each for each in crew.reader.rows()["launches"] if each["id"] == launch_id)["task_id"]
    return task_id


def _hands_over(crew: Crew, launch_id: str) -> bool:
    told = {"task_id": _task_of(crew, launch_id), "summary": "Half is done."}
    return _does(crew, launch_id, "create_handoff", told)


def _takes_over(crew: Crew, launch_id: str) -> bool:
    """The newest notes of its task that nobody has taken."""
    task_id = _task_of(crew, launch_id)
    left = [
        each["id"]
        for each in crew.reader.rows()["handoffs"]
        if each["task_id"] == task_id and each["accepted_at"] is None
    ]
    return bool(left) and _does(crew, launch_id, "accept_handoff", {"handoff_id": left[-1]})


# --- Coordinators ----------------------------------------------------------------------------------------------------


def _about_coordinators(crew: Crew) -> Iterator[Disturbance]:
    for name in crew.desks:
        yield f"the answer of a claim of {name} is lost", partial(_lost_claim, name=name)
        yield f"{name} starts anew without its processes", partial(_anew, name=name)
        yield f"{name} and its processes are killed, another comes", partial(_killed, name=name)
        yield f"{name} {NO_WORKTREE}", partial(_luck, name=name, luck=NO_WORKTREE)
        if any(task["has_acceptance"] for task in crew.reader.rows()["tasks"]):
            for how in CHECKS:
                yield f"the next check of {name} {how}", partial(_checks, name=name, how=how)
        for slots in (1, 2):
            yield f"{name} has {slots} slots", partial(_slots, name=name, slots=slots)
    yield "a second Coordinator", partial(_second, slots=1)
    for agent_id in ("boss", "w1", "w2"):
        yield f"get_agent_action {agent_id}", partial(_asked, agent_id=agent_id)
        yield f"{agent_id} is started by hand", partial(_by_hand, agent_id=agent_id)
    yield "housekeeping", _housekeeps


def _housekeeps(crew: Crew) -> bool:
    crew.world.housekeep()
    return True


def _lost_claim(crew: Crew, name: str) -> bool:
    desk = crew.desks[name]
    crew.looks(name)
    return bool(desk.alive and desk.caller.claim(free_slots=desk.slots)["start"])


def _anew(crew: Crew, name: str) -> bool:
    """Its processes go on, unseen."""
    crew.crashes += 1
    for one in crew.working.values():
        one.seen_by_desk = one.seen_by_desk and one.desk != name
    crew.desks[name].caller.running, crew.desks[name].worktree_jobs = [], {}
    return True


def _killed(crew: Crew, name: str) -> bool:
    crew.killed(name)
    return True


def _luck(crew: Crew, name: str, luck: str) -> bool:
    crew.crashes += luck == NO_WORKTREE
    crew.desks[name].luck = luck
    return True


def _checks(crew: Crew, name: str, how: str) -> bool:
    crew.desks[name].check = how
    return True


def _slots(crew: Crew, name: str, slots: int) -> bool:
    crew.desks[name].slots = slots
    return True


def _second(crew: Crew, slots: int) -> bool:
    name = f"other{len(crew.desks)}"
    crew.desks = {name: Desk(crew.world.coordinator(name), slots=slots), **crew.desks}
    return True


def _asked(crew: Crew, agent_id: str) -> bool:
    """A launch on the order of an older client; its process runs."""
    name, desk = next(iter(crew.desks.items()))
    said = desk.caller.ask("get_agent_action", agent_id=agent_id).result
    if said is None or said.get("action") != "start" or "launch" not in said:
        return False
    crew.begins(name, said["launch"])
    crew.working[said["launch"]["launch_id"]].seen_by_desk = False
    return True


def _by_hand(crew: Crew, agent_id: str) -> bool:
    """A person starts the agent's program: it signs in by passkey."""
    passkey = crew.world.passkeys[agent_id]
    said = crew.world.nobody.ask("authenticate", agent_id=agent_id, passkey=passkey).result
    if said is None or not said["success"]:
        return False
    session = next(each for each in reversed(crew.reader.rows()["sessions"]) if each["agent_id"] == agent_id)
    launch = {"launch_id": session["launch_id"], "agent_id": agent_id, "purpose": said["purpose"], "credential": None}
    crew.begins(next(iter(crew.desks)), launch)
    one = crew.working[session["launch_id"]]
    one.agent.process.session_token, one.said, one.seen_by_desk = said["session_token"], ASK, False
    return True


def _time(crew: Crew, seconds: int, *, seen: bool) -> bool:
    unsigned = any(one.said["action"] == "_sign_in" for one in crew.working.values())
    crew.crashes += not seen or seconds >= 1800 or (seconds >= 120 and unsigned)  # what that costs is no fault
    if seen:
        left = seconds
        while left > 0:
            crew.world.advance(min(left, 60))
            left -= 60
            for name in crew.pollers:
                crew.polls(name)
            for name, desk in crew.desks.items():
                if desk.alive:
                    crew.looks(name)
                    desk.caller.claim(free_slots=0)
    else:
        crew.world.advance(seconds)
    crew.world.housekeep()
    return True


# --- talk, queues, files ---------------------------------------------------------------------------------------------


def _about_talk(crew: Crew, rows: Rows) -> Iterator[Disturbance]:
    place = {"project_id": crew.world.project_id}
    for agent_id in ("boss", "w1"):
        whose = {**place, "agent_id": agent_id}
        yield f"writes to {agent_id}", asks("send_chat_message", **whose, content="How is it going?")
        yield f"opens the chat of {agent_id}", asks("open_chat", **whose)
        yield f"closes the chat of {agent_id}", asks("close_chat", **whose)
    for conversation in rows["conversations"]:
        if conversation["ended_at"] is None:
            yield (
                f"stops what {conversation['low_id']} and {conversation['high_id']} discuss",
                asks("stop_conversation", conversation_id=conversation["id"]),
            )
    for one in crew.working.values():
        if isinstance(one.agent, ObedientChat) and one.said["action"] != "_sign_in":
            for name, arguments in _TALK:
                label = f"{one.agent.process.agent_id}'s chat: {name} {arguments.get('target_agent_id', '')}"
                yield label, partial(_does, launch_id=one.agent.process.launch_id, name=name, arguments=arguments)
    for delegation in rows["delegations"]:
        if delegation["status"] == "processing":
            for success in (True, False):
                yield (
                    f"{delegation['agent_id']}'s chat reports {success}",
                    partial(_reports, agent_id=delegation["agent_id"], delegation_id=delegation["id"], success=success),
                )


def _about_questions(_crew: Crew, rows: Rows) -> Iterator[Disturbance]:
    for question in rows["questions"]:
        if question["state"] == "open":
            asked = {"question_id": question["id"]}
            if question["check_id"] is not None:
                work = rows.tasks[question["task_id"]]["title"]
                good, bad = orjson.loads(question["options"])
                yield f"{good} of {work}", asks("answer_question", **asked, choices=[good])
                yield f"{bad} of {work}", asks("answer_question", **asked, choices=[bad], text="Paint it.")
                for passed in (True, False):
                    judged = {"task_id": question["task_id"], "passed": passed}
                    yield f"judges {work} by hand: {passed}", asks("confirm_checks", **judged)
                continue
            yield f"answers {question['agent_id']}", asks("answer_question", **asked, choices=["Red"])
            yield f"withdraws what {question['agent_id']} asks", asks("withdraw_question", **asked)


_TALK: list[tuple[str, Answer]] = [
    ("start_conversation", {"target_agent_id": "w2", "initial_message": "Shall we?"}),
    ("start_conversation", {"target_agent_id": "boss", "initial_message": "Shall we?"}),
    ("send_message", {"target_agent_id": "ann", "content": "Done soon."}),
    ("get_pending_messages", {}),
    ("notify_task_session", {"message": "Mind the colour."}),
]


def _reports(crew: Crew, agent_id: str, delegation_id: str, *, success: bool) -> bool:
    arguments = {"delegation_id": delegation_id, "result": "agreed", "success": success}
    return any(
        not one.agent.process.world.perform(
            "report_delegation_completed", arguments, one.agent.process.credentials
        ).refused
        for one in crew.working.values()
        if one.agent.process.agent_id == agent_id and isinstance(one.agent, ObedientChat)
    )


def _about_queues_and_files(crew: Crew, rows: Rows) -> Iterator[Disturbance]:
    for agent_id in crew.pollers:
        yield f"{agent_id} polls and is gone", partial(_polls_and_goes, agent_id=agent_id)
    served = {agent["agent_type"] for agent in rows["agents"] if agent["agent_type"]}
    for agent_type in sorted(served):
        yield f"files for {agent_type}", partial(_files_for, agent_type=agent_type)
        yield f"files for {agent_type}, with no money left", partial(_files_for, agent_type=agent_type, budget=0)
    for worktree in rows["worktrees"]:
        if worktree["state"] != "open":
            continue
        title, key = rows.tasks[worktree["task_id"]]["title"], {"task_id": worktree["task_id"]}
        for name in ("merge_task", "discard_task_work", "diff_task"):
            yield f"{name} {title}", asks(name, **key)
            for luck in (*WORKTREE_JOBS, "is slow", "is about it when it starts anew", "is killed about it"):
                label = f"{name} {title}: its Coordinator {luck}"
                yield label, partial(_asks_in_vain, name=name, key=key, desk=worktree["coordinator_id"], luck=luck)
        yield f"merge_task {title} --only", asks("merge_task", **key, below=False)


def _about_merge_queues(crew: Crew, rows: Rows) -> Iterator[Disturbance]:
    for project in rows["projects"]:
        mode = orjson.loads(project["settings"]).get("merge_queue", "off")
        if mode == "off" and not rows["merge_queue_entries"]:
            continue
        name, key = project["name"], {"project_id": project["id"]}
        paused = any(each["project_id"] == project["id"] and each["paused_at"] for each in rows["merge_queues"])
        what = "resume_merge_queue" if paused else "pause_merge_queue"
        yield f"{what} {name}", asks(what, **key)
        for other in sorted({"off", "manual", "automatic"} - {mode}):
            yield f"merge_queue of {name}: {other}", asks("edit_project", **key, settings={"merge_queue": other})
        for desk in crew.desks:
            for luck in (*BATCHES, "is slow", "is about it when it starts anew", "is killed about it"):
                yield f"the next batch of {desk} {luck}", partial(_luck, name=desk, luck=luck)
        for worktree in rows["worktrees"]:
            task = rows.tasks[worktree["task_id"]]
            if task["project_id"] == project["id"] and task["status"] == "completed":
                yield from _about_finished_work(task)


def _about_finished_work(task: Row) -> Iterator[Disturbance]:
    about = {"task_id": task["id"]}
    for name in ("add_to_merge_queue", "remove_from_merge_queue", "move_in_merge_queue"):
        yield f"{name} {task['title']}", asks(name, **about)
    yield f"requests changes to {task['title']}", asks("request_task_changes", **about, text="Round it.")


def _about_schedules(rows: Rows) -> Iterator[Disturbance]:
    for schedule in rows["schedules"]:
        key = {"schedule_id": schedule["id"]}
        for name in ("pause_schedule", "resume_schedule", "run_schedule", "delete_schedule"):
            yield f"{name} {schedule['name']}", asks(name, **key)
        for overlap in ("buffer_one", "skip", "allow_all", "cancel_other"):
            if overlap != schedule["overlap"]:
                yield f"overlap of {schedule['name']}: {overlap}", asks("edit_schedule", **key, overlap=overlap)
        yield f"catches up nothing of {schedule['name']}", asks("edit_schedule", **key, catch_up_seconds=0)
        for agent_id in ("w1", "w2"):
            yield f"gives {schedule['name']} to {agent_id}", asks("edit_schedule", **key, assignee_id=agent_id)


def _files_for(crew: Crew, agent_type: str, budget: float | None = None) -> bool:
    owner, place = crew.world.owner, {"project_id": crew.world.project_id}
    if budget is not None:
        owner.call("edit_project", **place, settings={"budget_per_day": budget})
    return not owner.ask("file_task", **place, title="For a queue", agent_type=agent_type, status="todo").refused


def _asks_in_vain(crew: Crew, name: str, key: Answer, desk: str, luck: str) -> bool:
    if crew.world.owner.ask(name, **key).refused or desk not in crew.desks:
        return False
    return _luck(crew, desk, luck)


def _polls_and_goes(crew: Crew, agent_id: str) -> bool:
    caller = crew.pollers.pop(agent_id)
    crew.crashes += 1
    got = caller.ask("poll_tasks", agent_id=agent_id)
    return not got.refused
