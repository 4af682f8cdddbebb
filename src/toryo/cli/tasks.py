"""`toryo task …`: create, show and move tasks. The server decides which moves are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import typer

from toryo.block_reasons import in_words
from toryo.cli import (
    artifacts,
    clearing,
    edits,
    logs,
    merge_queue,
    needs,
    output,
    project_lookup,
    shell_completion,
    task_lookup,
    terminal_questions,
    worktrees,
)
from toryo.cli.command_context import MOST_A_PAGE, Here, argument, command, flag, option
from toryo.cli.exit_codes import FAILED, Misuse, Refused
from toryo.cli.from_operations import Passing, Read, sends
from toryo.cli.reconnecting import following
from toryo.cli.task_options import WORK, AgentType, Assignee, Description, Priority, Project, instant
from toryo.cli.text_layout import Cell
from toryo.domain.tasks import CLOSED
from toryo.domain.texts import one_line

group = typer.Typer(help="Create, watch, edit and merge tasks.", no_args_is_help=True, rich_markup_mode=None)

NEXT_SESSION = "the next session of this task"
"""Who gets what is said about a task that no one works on now, as the server writes it."""
LOOK_AGAIN_SECONDS = 20
CLOSED_SHOWN_SECONDS = 86_400
REASON_SHOWN = 500
"""Characters of a failure's reason that are shown while it is followed."""
_NAMED = 8
"""How many agents are listed as possible assignees."""

Id = Annotated[str, shell_completion.TASK]
Reason = Annotated[str | None, option("TEXT", "The reason; the agent that works on the task receives it.")]
_WORK = {
    **WORK,
    "touches": Annotated[
        list[str] | None, option("GLOB", "Files that it will change, such as 'src/api/**'; repeatable.")
    ],
    "start": Annotated[
        Literal["when_ready", "manual"] | None,
        option(
            "when_ready|manual",
            "How it starts in todo: by Toryo as soon as it is ready, or by hand (default: the project's setting).",
        ),
    ],
    "not_before": Read(
        lambda given: given and instant("--not-before", given),
        not_before=Annotated[
            str | None, option("TIME", "It does not start by itself before this time, such as '2027-01-31 09:30'.")
        ],
    ),
    "budget_usd": Annotated[float | None, option("USD", "US dollars that it and its subtasks may cost.", min=0)],
    "budget_tokens": Annotated[int | None, option("N", "Tokens that it and its subtasks may use.", min=0)],
}
"""What is sent of a task's work when it is created, and when it is edited."""
STATUSES = "One of backlog, todo (or pending), in_progress, blocked, completed (or done), failed or cancelled."
Status = Literal["backlog", "todo", "pending", "in_progress", "blocked", "completed", "done", "failed", "cancelled"]


def add(app: typer.Typer) -> None:
    worktrees.add_to_tasks(group)
    command(group, "artifacts")(artifacts.artifacts)
    app.add_typer(group, name="task")


@command(group, "add")
@sends(
    "file_task",
    title=Annotated[str, argument("TITLE", "What to do, in a few words.")],
    project_id=Project,
    description=Description,
    assignee_id=Assignee,
    agent_type=AgentType,
    priority=Priority,
    dependencies=Annotated[list[str] | None, option("TASK", "A task that must be completed first; repeatable.")],
    parent_task_id=option("TASK", "Its parent task."),
    status=Annotated[
        Literal["backlog", "todo", "in_progress"] | None,
        option("backlog|todo|in_progress", "Its initial status (default: todo); in_progress starts the assignee."),
    ],
    **_WORK,
)
def add_task(here: Here, body: dict[str, Any]) -> None:
    """Create a task."""
    project = body.pop("project_id", None) or project_lookup.only(here)
    answer = here.send("POST", f"/projects/{project}/tasks", body)
    created = f"created {answer['task_id']} ({answer['task']['status']})"
    here.answer(answer, lambda: output.done(created, *_line(answer)))
    if not (here.json or body.keys() & {"assignee_id", "agent_type"}):
        output.say(*_how_to_assign(here, answer["task"]))


def _line(answer: dict[str, Any]) -> list[str]:
    """What a task in line waits for."""
    line = answer["task"].get("line")
    return [output.in_local_time(line["message"])] if line else []


def _how_to_assign(here: Here, task: dict[str, Any]) -> list[str]:
    """What comes next for a task that nobody has."""
    project = task["project_id"]
    members = here.get(f"/projects/{project}/members")["agents"]
    can = [member["agent_id"] for member in members if member["kind"] == "ai" and member["status"] == "active"]
    if not can:
        make = f"toryo agent add ID --role worker --provider NAME --project {project}"
        return [f"It has no assignee, and no agent belongs to {project} yet. Add one: {make}"]
    told = ", ".join(can[:_NAMED]) + (f" and {len(can) - _NAMED} more" if len(can) > _NAMED else "")
    return [
        f"It has no assignee. You can assign it to {told}:",
        f"  toryo task edit {task['task_id']} --assignee {can[0] if len(can) == 1 else 'AGENT'}",
        f"  toryo task move {task['task_id']} in_progress",
    ]


@command(group, "list")
def list_tasks(
    here: Here,
    project: Annotated[str | None, option("PRJ", "Limit to this project.", complete=shell_completion.projects)] = None,
    status: Annotated[Status | None, option("STATUS", STATUSES)] = None,
    assignee: Assignee = None,
    parent: Annotated[str | None, option("TASK", "Limit to the subtasks of this task.")] = None,
    all_: Annotated[bool, flag("Include tasks that were closed more than a day ago.", "--all")] = False,
) -> None:
    """List the tasks of a project, or of all projects. Subtasks are indented below their parent tasks."""
    names = [project] if project else project_lookup.active(here)
    anyone = assignee if assignee is not None and task_lookup.is_anyone(assignee) else None
    only = {"status": status, "assignee_id": assignee if anyone is None else None, "parent_task_id": parent}
    if not all_ and not status and not parent:
        only["closed_since"] = _a_day_ago()
    found = [task for name in names for task in here.every(f"/projects/{name}/tasks", "tasks", **only)]
    if anyone is not None:
        found = [task for task in found if task_lookup.waits_for(task, anyone)]
    elif not found and assignee is not None:
        here.get(f"/agents/{assignee}")  # one that is not there is refused, with those that may be meant
    shown = _of_today(found) if "closed_since" in only else found
    here.answer(
        {"success": True, "tasks": shown},
        lambda: _print_list(
            shown,
            older=_has_older(here, names, only, len(shown)),
            several=len(names) > 1,
            limited=bool(status or assignee or parent),
        ),
    )


@command(group, "show")
def show_task(here: Here, task: Id) -> None:
    """Show a task with its subtasks."""
    answer = here.get(f"/tasks/{task}")
    parts = here.every(f"/projects/{answer['task']['project_id']}/tasks", "tasks", parent_task_id=task)

    def told() -> None:
        _print_task(answer["task"], parts)
        if lines := network(here, answer["task"]["task_id"]):
            output.done("", *lines)

    here.answer({**answer, "subtasks": parts}, told)


@command(group, "watch")
def watch_task(here: Here, task: Id) -> None:
    """Follow a task until it is closed. Says why it waits, and why it failed. The exit code is 0 only if it was
    completed."""
    seen: dict[str, str] = {}
    said: list[str] = []
    after = here.get("/status")["last_event"]
    here = following(here)
    show = output.say if here.json else output.done
    while True:
        found = here.get(f"/tasks/{task}")["task"]
        tree = _below(found, _tree(here, found))
        for each in (*tree[1:], *tree[:1]) if found["status"] in CLOSED else tree:  # what is over ends after its parts
            if seen.get(each["task_id"]) != each["status"]:
                seen[each["task_id"]] = each["status"]
                words = f"{output.MARKS.get(each['status'], ' ')} {each['status']:<11} {each['title']}"
                who = f"  ({each['assignee_id']})" if each.get("assignee_id") else ""
                show(words + who)
                if each["status"] == "failed":
                    show(*(f"  {line}" for line in _why_it_failed(here, each["task_id"])))
        if found["status"] in CLOSED:
            break
        waits = _why_nothing_moves(here, found, tree)
        changed = here.get("/events", after=after, limit=1, project_id=found["project_id"])["events"]
        if waits != said and not changed:  # else it was asked about what is over by now
            said = waits
            show(*(f"  {each}" for each in said))
        heard = here.get("/events", after=after, wait_seconds=LOOK_AGAIN_SECONDS, project_id=found["project_id"])
        after = heard["last"]
    if found["status"] == "failed":
        show(*(f"  {line}" for line in _after_a_failure(found)))
    if here.json:
        output.document({"success": found["status"] == "completed", "task": found, "tasks": tree})
    if found["status"] != "completed":
        raise typer.Exit(FAILED)


@command(group, "move")
def move_task(
    here: Here,
    task: Id,
    status: Annotated[Status | None, argument("STATUS", STATUSES)] = None,
    reason: Reason = None,
    before: Annotated[
        str | None,
        option("TASK", "Its place in line: directly before this task.", complete=shell_completion.tasks),
    ] = None,
) -> None:
    """Change a task's status, or its place in line (--before). Without either, prints the possible statuses."""
    if status is None and before is None:
        raise _without_status(here.get(f"/tasks/{task}")["task"])
    _move(here, task, status, reason, before)


@command(group, "edit")
@sends(
    "edit_task",
    title=option("TEXT", "Its new title."),
    description=Description,
    priority=Priority,
    assignee_id=Assignee,
    **_WORK,
    add_dependencies=Annotated[
        list[str] | None, option("TASK", "Another task that must be completed first; repeatable.")
    ],
    remove_dependencies=Annotated[list[str] | None, option("TASK", "A task that it no longer waits for; repeatable.")],
)
def edit_task(here: Here, task: Id, body: dict[str, Any], clear: clearing.OfTask = None) -> None:
    """Change the text, assignee or dependencies of a task."""
    body = edits.changes("task", body, clear)
    before = here.get(f"/tasks/{task}")["task"]
    answer = here.send("PATCH", f"/tasks/{task}", body)
    here.answer(answer, lambda: output.done(edits.edit_line(task, before, answer["task"])))


@command(group, "retry")
def retry_task(here: Here, task: Id, reason: Reason = None) -> None:
    """Retry a failed task. Starts it; if it cannot start yet, it is left in todo, with the reason."""
    found = here.get(f"/tasks/{task}")["task"]
    if found["status"] != "failed":
        closed = found["status"] in CLOSED
        instead = ["Create a new task: toryo task add TITLE"] if closed else _how_to_start(here, task)
        raise Refused(
            f"Only failed tasks can be retried; {task} is {found['status']}.",
            "" if found["status"] == "in_progress" else " ".join(instead),
            {"error": "invalidTransition"},
        )
    answer = here.send("POST", f"/tasks/{task}/move", {"status": "todo", "reason": reason})
    moves = here.get(f"/tasks/{task}/moves")["moves"]
    if not found.get("agent_type") and any(each["status"] == "in_progress" and each["allowed"] for each in moves):
        started = here.send("POST", f"/tasks/{task}/move", {"status": "in_progress"})
        answer = {**started, "previous_status": answer["previous_status"]}
    here.answer(answer, lambda: output.done(_moved(answer), *_what_starts_it(here, found, answer)))


@command(group, "cancel")
def cancel_task(here: Here, task: Id, reason: Reason = None) -> None:
    """Cancel a task and its open subtasks."""
    found = here.get(f"/tasks/{task}")["task"]
    if found["status"] == "cancelled":
        answer = {"success": True, "task_id": task, "previous_status": "cancelled", "new_status": "cancelled"}
        here.answer(answer, lambda: output.done(f"{task} is already cancelled; nothing was changed"))
        return
    if found["status"] == "completed":
        raise Refused(f"{task} is completed, so it cannot be cancelled.", "", {"error": "invalidTransition"})
    _move(here, task, "cancelled", reason)


@command(group, "approve")
def approve_task(
    here: Here,
    task: Id,
    yes: Annotated[bool, flag("Do not ask for confirmation.", "--yes")] = False,
    approve_only: Annotated[bool, flag("Leave it in the backlog, to start it later.", "--approve-only")] = False,
) -> None:
    """Approve a requested task; it then starts. Shows the task and asks for confirmation; approves only what was
    shown."""
    shown = here.get(f"/tasks/{task}")["task"]
    if shown["approval"] == "approved":
        words = f"{shown['task_id']} does not need approval; it is {shown['status']}"
        here.answer({"success": True, "task_id": shown["task_id"], "task": shown}, lambda: output.done(words))
        return
    output.say(f"{shown['task_id']}  {shown['title']}", *(f"  {each}" for each in needs.request_lines(_request(shown))))
    if not yes:
        unasked = Misuse("Cannot ask for confirmation: not a terminal.", "Use --yes.")
        terminal_questions.confirm(here, "Approve this?", unasked=unasked)
    body = {"version": shown["version"], **({"approve_only": True} if approve_only else {})}
    answer = here.send("POST", f"/tasks/{task}/approve", body)
    here.answer(answer, lambda: output.done(f"approved {task} ({answer['task']['status']})", *_line(answer)))
    waits = answer["task"]["status"] in ("backlog", "todo") and not answer["task"]["agent_type"]
    if not here.json and waits and not _line(answer):
        output.say("It is approved, but not started.", *_how_to_start(here, task))


def _request(task: dict[str, Any]) -> dict[str, Any]:
    """The whole of a task, in the form in which requests are shown."""
    from toryo.domain.needs import request_from

    texts = ("title", "description", "context", "acceptance")
    facts = ("assignee_id", "created_by", "requested_by", "version")
    return asdict(request_from(**{name: task[name] for name in (*texts, *facts)}))


_one = Passing(group, "/tasks/{task_id}", task_id=Id)
_one.says("reject", "POST /reject", "Reject a requested task.", "rejected {task_id}", reason=Reason)
_one.says(
    "confirm",
    "POST /checks/confirm",
    "Confirm acceptance checks by hand. For tasks that no Coordinator can check.",
    "confirmed the checks of {task_id}",
    passed=(Annotated[bool, flag("Whether they passed (default: --passed).", "--passed/--not-passed")], True),
)


@_one.prints("steer", "POST /steer", text=Annotated[str, argument("TEXT", "What it should know or do.")])
def _print_steered(answer: Mapping[str, Any]) -> None:
    """Send a message to the agent that works on a task. If none does now, the next session gets it. An agent without a
    model (command, playbook) does not act on it; the answer says so."""
    told = f"Sent to {answer['delivered_to']}."
    if answer["delivered_to"] == NEXT_SESSION:
        told = "Saved. The next session of this task reads it first."
    output.done(*answer.get("warnings", [told]))


def _without_status(task: dict[str, Any]) -> Misuse:
    from toryo.domain.moves import MOVES
    from toryo.domain.tasks import Status as Stage

    possible = [status.value for status in MOVES[Stage(task["status"])]]
    if not possible:
        return Misuse(
            f"{task['task_id']} is {task['status']}, which is final.", "Create a new task: toryo task add TITLE"
        )
    return Misuse(
        f"Choose the new status: {task['task_id']} is {task['status']} and can go to {', '.join(possible)}.",
        f"Example: toryo task move {task['task_id']} {possible[0]}",
    )


def _move(here: Here, task: str, status: str | None, reason: str | None, before: str | None = None) -> None:
    other = here.get(f"/tasks/{before}")["task"] if before is not None else None
    wanted = {"status": status, "reason": reason, "before_task_id": other and other["task_id"]}
    answer = here.send("POST", f"/tasks/{task}/move", {name: each for name, each in wanted.items() if each is not None})
    moved = [_moved(answer)] if status is not None or other is None else []
    placed = [f"{answer['task_id']} is before “{one_line(other['title'])}”", *_line(answer)] if other else []
    here.answer(answer, lambda: output.done(*moved, *placed))


def _moved(answer: dict[str, Any]) -> str:
    return f"{answer['task_id']}: {answer['previous_status']} → {answer['new_status']}"


def _what_starts_it(here: Here, task: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Of a task that a retry did not start."""
    if answer["new_status"] != "todo":
        return []
    if task.get("agent_type"):
        return ["It is in its queue again: an agent that polls, or is started for it, takes it."]
    return _how_to_start(here, answer["task_id"])


def _tree(here: Here, task: dict[str, Any]) -> list[dict[str, Any]]:
    return here.every(f"/projects/{task['project_id']}/tasks", "tasks", tree_of=task["task_id"])


def _below(task: dict[str, Any], tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The task and everything under it, parts directly below what they are parts of."""
    parts = [each for each in tasks if each.get("parent_task_id") == task["task_id"]]
    return [task, *(below for part in parts for below in _below(part, tasks))]


def _why_nothing_moves(here: Here, task: dict[str, Any], tree: list[dict[str, Any]]) -> list[str]:
    """What each of them waits for; empty where somebody is at work, or about to be."""
    if task["status"] == "todo" and task.get("review_of"):
        return [f"It is a review. It starts by itself as soon as {task['assignee_id']} can do it."]
    if (line := task.get("line")) is not None:
        return [output.in_local_time(line["message"])]
    if task["status"] != "in_progress":
        blocked = in_words(task.get("blocked_reason") or "")
        reason = _RESTS.get(task["status"], f"It is {task['status']}{f': {blocked}' if blocked else '.'}")
        from toryo.domain import acceptance

        failed = acceptance.failures_in_brief(task.get("checks", ""), task.get("check_failures") or ())
        return [reason, *failed.splitlines(), *_how_to_start(here, task["task_id"])]
    decided = list(_decisions(here, task, tree))
    return [] if any(_moves(decision) for _, decision in decided) else _in_words(here, decided, tree)


def _decisions(here: Here, task: dict[str, Any], tree: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is decided about each agent that has something of it in progress."""
    at_work = (each["assignee_id"] for each in tree if each["status"] == "in_progress" and each.get("assignee_id"))
    for agent in dict.fromkeys(at_work):
        for decision in here.get(f"/agents/{agent}/why", project_id=task["project_id"])["decisions"]:
            if decision["purpose"] == "task":
                yield agent, decision


def _in_words(here: Here, decided: Iterable[tuple[str, dict[str, Any]]], tree: list[dict[str, Any]]) -> list[str]:
    return [
        line for agent, decision in decided for line in f"{agent}: {_explanation(here, decision, tree)}".split("\n")
    ]


def _explanation(here: Here, decision: dict[str, Any], tree: list[dict[str, Any]]) -> str:
    """The explanation; of a decision about another task of the agent, which one that is."""
    explained = output.in_local_time(decision["explanation"])
    about = decision["task_id"] or decision["facts"].get("at_work_on")
    if about is None or about in {each["task_id"] for each in tree}:
        return explained
    other = f"“{one_line(here.get(f'/tasks/{about}')['task']['title'])}” ({about})"
    if _moves(decision):
        return f"It works on {other}, or is being started for it. This task waits until that ends."
    return f"About {other}: {explained}"


def why(here: Here, task: dict[str, Any]) -> list[str]:
    """What a task waits for, or who works on it; of one that is over, how it ended."""
    task_id, error = task["task_id"], task.get("error")
    if task["status"] in CLOSED:
        if task["status"] == "failed":
            return ["It failed.", *_why_it_failed(here, task_id), *_after_a_failure(task)]
        merging = _in_merge_queue(here, task) if task["status"] == "completed" else []
        return [f"It is {task['status']}{f': {in_words(error)}' if error else '.'}", *merging]
    whole = _tree(here, task)
    tree = _below(task, whole)
    conflicts = [one_line(each["message"]) for each in task.get("unmerged") or ()]
    conflicts += [_conflict(each) for each in task.get("may_conflict_with") or ()]
    if task["status"] != "in_progress":
        return [*_why_nothing_moves(here, task, tree), *conflicts]
    checking = ["Its checks are running."] if task.get("checks") == "running" else []
    decided = _in_words(here, _decisions(here, task, tree), whole)
    return [*checking, *(decided or [f"It is in progress. See who works on it: toryo task show {task_id}"]), *conflicts]


def network(here: Here, task_id: str) -> list[str]:
    """What is known of the network of its newest launch."""
    launches = here.get("/launches", task_id=task_id, limit=1)["launches"]
    return [line for each in launches for line in logs.network(each)]


def _conflict(each: dict[str, Any]) -> str:
    held = ", so it is held back" if each["holds"] else ""
    return f"It {each['message']}{held}: {each['title']}"


def _in_merge_queue(here: Here, task: dict[str, Any]) -> list[str]:
    """Where its work stands in the merge queue, if it was ever there."""
    queue = here.get(f"/projects/{task['project_id']}/merge-queue")["merge_queue"]
    found = [each for each in (*queue["entries"], *queue["ended"]) if each["task_id"] == task["task_id"]]
    if not found:
        return []
    entry, many = found[0], len(queue["entries"])
    place = f", place {entry['place']} of {many}" if entry["place"] else ""
    said = [f"Merge queue{place}: {merge_queue.state(entry)}.", *([entry["message"]] if entry["message"] else [])]
    if queue["paused_at"] and entry["place"]:
        said.append(f"The queue is paused. Continue: toryo merge-queue resume --project {task['project_id']}")
    if entry["waits_for"]:
        said.append(f"It builds on work that is not merged yet: {', '.join(entry['waits_for'])}")
    return said


_RESTS = {"backlog": "It is in the backlog.", "todo": "It is todo, and no one has started it."}


def _why_it_failed(here: Here, task: str) -> list[str]:
    """In the words of the report: their beginning, and where all of them are."""
    words = in_words((here.get(f"/tasks/{task}")["task"]["error"] or "No reason was given.").strip())
    more = [f"… See all of it: toryo task show {task}"] if len(words) > REASON_SHOWN else []
    return [*(line for line in words[:REASON_SHOWN].splitlines() if line.strip()), *more]


def _after_a_failure(task: dict[str, Any]) -> list[str]:
    """What can be done then."""
    task_id = task["task_id"]
    if task["agent_type"]:
        return [f"To retry it: toryo queue requeue {task_id}"]
    return [f"To retry it: toryo task retry {task_id}", f"To see the output: toryo logs {task_id}"]


def _moves(decision: dict[str, Any]) -> bool:
    """Whether its agent works, or is started without anybody doing anything."""
    starts = decision["action"] == "start" and not {"no_coordinator", "held"} & decision["facts"].keys()
    return starts or decision["reason"] in ("already_running", "start_pending")


def _how_to_start(here: Here, task: str) -> list[str]:
    """The command that does, after what has to change first; or why it would be refused."""
    answer = here.get(f"/tasks/{task}/moves")
    move = next((each for each in answer["moves"] if each["status"] == "in_progress"), None)
    if move is not None and not move["allowed"]:
        return [f"It cannot start yet: {move['reason']} {move['instruction']}"]
    first = answer["first"]
    told = [first["text"], *(f"First: {action['command']}" for action in first["actions"][:1])] if first else []
    return [*told, f"To {'unblock' if first else 'start'} it: toryo task move {task} in_progress"]


def _of_today(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without trees whose root was closed more than a day ago."""
    parts: dict[str | None, list[dict[str, Any]]] = {}
    for task in tasks:
        parts.setdefault(task.get("parent_task_id"), []).append(task)
    ids = {task["task_id"] for task in tasks}
    kept = [task for task in tasks if task.get("parent_task_id") not in ids and not _long_closed(task)]
    for each in kept:  # grows as it goes
        kept += parts.get(each["task_id"], [])
    known = {each["task_id"] for each in kept}
    return [task for task in tasks if task["task_id"] in known]


def _long_closed(task: dict[str, Any]) -> bool:
    since = output.seconds_since(task.get("completed_at") or task.get("updated_at"))
    return task["status"] in CLOSED and since is not None and since > CLOSED_SHOWN_SECONDS


def _a_day_ago() -> str:
    return (datetime.now(UTC) - timedelta(seconds=CLOSED_SHOWN_SECONDS)).isoformat()


def _has_older(here: Here, names: list[str], only: dict[str, Any], many: int) -> bool:
    """Whether there are more tasks than those that were shown because they are open or were closed lately."""
    if "closed_since" not in only:
        return False
    wanted = {**only, "closed_since": None, "limit": min(many + 1, MOST_A_PAGE)}
    return sum(len(here.get(f"/projects/{name}/tasks", **wanted)["tasks"]) for name in names) > many


def _print_list(tasks: list[dict[str, Any]], *, older: bool, several: bool, limited: bool) -> None:
    """`limited`: to some of the tasks, so that an empty list does not say that there are none."""
    if limited and not tasks:
        output.say("No such tasks.")
    else:
        _print_tasks(tasks, several=several)
    if older:
        output.say("Tasks closed more than a day ago are not shown: toryo task list --all")


def _print_tasks(tasks: list[dict[str, Any]], *, several: bool = False) -> None:
    """`several`: of more than one project, which is named then."""
    ids = {task["task_id"] for task in tasks}
    roots = [task for task in tasks if task.get("parent_task_id") not in ids]
    rows = [row for root in roots for row in _rows(root, tasks, 0, several=several)]
    columns = ("ID", "STATUS", "PRIORITY", "ASSIGNEE", *(("PROJECT",) if several else ()), "TITLE")
    output.table(columns, rows, empty="No tasks yet. Add one: toryo task add TITLE --project PRJ")


def _rows(task: dict[str, Any], tasks: list[dict[str, Any]], depth: int, *, several: bool) -> list[tuple[Any, ...]]:
    own = (
        task["task_id"],
        _status(task),
        task["priority"],
        task_lookup.whose(task),
        *((task["project_id"],) if several else ()),
        "  " * depth + task["title"],
    )
    parts = [each for each in tasks if each.get("parent_task_id") == task["task_id"]]
    return [own, *(row for part in parts for row in _rows(part, tasks, depth + 1, several=several))]


_NOT_APPROVED = {"pending_approval": ", needs approval", "rejected": ", rejected"}


def _status(task: dict[str, Any]) -> Cell:
    """With what there is to say beside it: whether it is approved, and how far its work has come."""
    beside = _NOT_APPROVED.get(task.get("approval", ""), "")
    work = ", in review" if task.get("in_review") else ", merged" if task.get("merged") else ""
    return output.status(task["status"], beside or work)


def _print_checks(results: list[dict[str, Any]]) -> None:
    """How each acceptance check ended; of a failure what was found, and the end of what was printed."""
    rows = [(each["outcome"], _run_time(each["seconds"]), each["runs"], each["check"]) for each in results]
    output.table(("RESULT", "TIME", "RUNS", "CHECK"), rows, empty="No checks have run.")
    failed = [each for each in results if each["outcome"] in ("failed", "error") and each["output"]]
    for each in failed:
        heading = [f"{one_line(each['check'])}:"] if len(failed) > 1 else []  # the table names a single one
        output.done("", *heading, *(f"  {line}" for line in each["output"].split("\n")))


def _print_files(task: str, results: list[dict[str, Any]]) -> None:
    """How many files the checks have left, and which are missing."""
    files = sum(len(each.get("artifacts") or ()) for each in results)
    if files:
        kept = "1 file kept" if files == 1 else f"{files} files kept"
        output.done("", f"{kept}. List them: toryo task artifacts {task}")
    for each in results:
        if each.get("left_out"):
            output.done("", f"{each['check']}: about its files:", *each["left_out"])


def _run_time(seconds: float) -> str:
    """A check is never said to have taken no time."""
    return output.duration(seconds) if seconds >= 0.05 else f"<{output.duration(0.1)}"


_OF_AN_ATTEMPT = ("result", "summary", "error", "next_steps", "artifacts", "checks", "check_failures", "check_results")
"""What a task that is done again still has from the time before."""


def _of_review(task: dict[str, Any]) -> str:
    who = f", {task['assignee_id']}" if task["assignee_id"] else ""
    return f"{task['title']} ({task['task_id']}, {task['status']}{who})"


def _print_task(task: dict[str, Any], parts: list[dict[str, Any]]) -> None:
    apart = {"id", "status", "version", "subtasks", "check_failures", "check_results", "pool", "in_review", "merged"}
    if not task.get("check_results"):
        apart.discard("check_failures")  # judged by a person, or by a Coordinator of an earlier version
    over = task["status"] in ("backlog", "todo", "in_progress") and task.get("checks") != "running"
    shown = {
        f"last {key}" if over and key in _OF_AN_ATTEMPT else key.removesuffix("_id"): each
        for key, each in task.items()
        if key not in apart
    }
    shown["assignee"] = task_lookup.whose(task)
    if (changes := task.get("changes_requested")) is not None:
        shown["changes_requested"] = f"{changes['title']} ({changes['task_id']}, {changes['status']})"
    if (reviewed := task.get("review_of")) is not None:
        shown["review_of"] = _of_review(reviewed)
    for name, reason in shown.items():
        if name in ("blocked_reason", "error", "last error") and isinstance(reason, str):
            shown[name] = in_words(reason)
    shown["reviews"] = [_of_review(each) for each in task.get("reviews") or ()]
    if (opened := task.get("pull_request")) is not None:
        shown["pull_request"] = f"{opened['url']} ({opened['state']})"
    shown["may_conflict_with"] = [
        f"{each['message']} ({each['title']})" for each in task.get("may_conflict_with") or ()
    ]
    shown["unmerged"] = [one_line(each["message"]) for each in task.get("unmerged") or ()]
    output.fields({"status": _status(task), **shown})
    if task.get("check_results"):
        output.done("")
        _print_checks(task["check_results"])
        _print_files(task["id"], task["check_results"])
    if parts:
        output.done("")
        _print_tasks(parts)
