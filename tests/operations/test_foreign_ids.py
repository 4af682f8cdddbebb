"""Whatever an operation is told by id: the id of another project's thing is answered like one that nobody has.

Made from the declarations: every parameter that holds an id (by its name, or because it is as long as an id) says here
what it names; a new one that does not fails the first test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from tests.operations.samples import PATIENT, Cast, all_operations, cast, kept, keyed, sample, talk, value
from tests.stories import Answer, Caller, World
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import Grant
from toryo.storage.engine.database import Database

NAMES = re.compile(r"(^|_)ids?$")
LENGTH_OF_AN_ID = 64

KINDS: dict[str, str] = {
    **dict.fromkeys(("task_id", "parent_task_id", "related_task_id", "tree_of", "dependencies"), "task"),
    "task_ids": "task",
    **dict.fromkeys(("before", "before_task_id"), "task"),
    **dict.fromkeys(("add_dependencies", "remove_dependencies"), "task"),
    **dict.fromkeys(("project_id", "projects"), "project"),
    **dict.fromkeys(
        ("agent_id", "assignee_id", "to_agent_id", "target_agent_id", "with_agent_id", "of_agent_id", "reports_to"),
        "agent",
    ),
    **dict.fromkeys(("actor_id", "agent_ids", "as_person", "to"), "agent"),
    "person_id": "person",
    "launch_id": "launch",
    "running": "launch",
    "session_id": "session",
    "handoff_id": "handoff",
    "message_id": "message",
    "delegation_id": "delegation",
    "conversation_id": "conversation",
    "viewer_id": "viewer",
    "key_id": "key",
    "token_id": "token",
    "sign_in_id": "sign_in",
    "check_id": "check",
    **dict.fromkeys(("artifact_id", "artifacts"), "artifact"),
    "checking": "check",
    "job_id": "worktree_job",
    "job_ids": "worktree_job",
    "view_id": "view",
    "question_id": "question",
    "after_task_id": "task",
    "schedule_id": "schedule",
    "webhook_id": "webhook",
    "memory_id": "memory",
    "worktree_jobs": "worktree_job",
    "correlation_id": "correlation",
}
"""What a parameter of that name names."""
NO_IDS = {
    "id": "chosen by whoever creates it",
    "local_id": "within one call",
    "coordinator_id": "what a Coordinator calls itself",
    "model_id": "of a model",
    "seen": "an etag",
    "gone": "a branch",
    "time_zone": "of the world",
    "entry_id": "of the batch of a worktree job, in its Coordinator's report",
    "left_out": "entries of that batch",
    "others": "subtasks, in a Coordinator's report: those of other projects are left out",
    "tool": "a call",
    "instead_of": "who is signed in in this browser, to be compared",
    "server_id": "which database a Coordinator was started for",
}
NOT_TRIED = {
    "check": "Coordinators only, who serve every project",
    "artifact": "one exists only where a Coordinator ran a check: tests/operations/test_artifacts.py",
    "worktree_job": "one exists only where a Coordinator works on a worktree: tests/operations/test_worktrees.py",
}
EXEMPT = {
    ("register_agent", "agent_id"): "an id is one agent's on the whole server: a new agent needs one that is free",
    (
        "authenticate",
        "agent_id",
    ): "with the wrong passkey every id is answered alike: tests/operations/test_agent_sign_in",
    ("sign_in", "person_id"): "with the wrong password every id is answered alike: tests/operations/test_accounts",
    ("create_task", "correlation_id"): "chosen by the caller",
    ("create_queue_tasks", "correlation_id"): "chosen by the caller",
}
ALL_SEEING = frozenset({Grant.COORDINATOR, Grant.OWNER})
"""Whoever may call these sees every project; others are refused before any id is looked at."""


def parameters(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Every parameter, nested ones, too, by name; and whether its values are as long as ids."""
    for name, declared in schema.get("properties", {}).items():
        forms = [*declared.get("anyOf", [declared])]
        forms += [form["items"] for form in forms if "items" in form]
        forms = [definitions[form["$ref"].rsplit("/", 1)[1]] if "$ref" in form else form for form in forms]
        yield name, any(form.get("maxLength") == LENGTH_OF_AN_ID for form in forms)
        for form in forms:
            yield from parameters(form, definitions)


def ids_of(operation: Operation) -> set[str]:
    schema = operation.input_schema
    found = parameters(schema, schema.get("$defs", {}))
    return {name for name, as_long in found if as_long or NAMES.search(name)}


def test_every_parameter_that_holds_an_id_says_what_it_names():
    unknown = {
        (operation.name, name)
        for operation in all_operations()
        for name in ids_of(operation)
        if name not in KINDS | NO_IDS
    }
    assert not unknown, "add them to KINDS, or to NO_IDS with a reason"


def elsewhere(world: World) -> dict[str, str]:
    """The same things in another project, by kind."""
    here, world.project_id = world.project_id, world.project(name="Elsewhere")
    for each in ("far", "farther"):
        world.worker(each, projects=[world.project_id])
    task = world.task("far")
    worker = world.start("far")
    own = worker.batch("Own part far away")[0]
    handoff = worker.call("create_handoff", task_id=own, summary="x")["handoff_id"]
    _, said = talk(world, worker, "farther")
    _, key = keyed(world, "far-queue")
    world.owner.call("add_person", person_id="pat", login="member", projects=[world.project_id])
    (launch,) = [each for each in world.launches(agent_id="far") if each["purpose"] == "task"]
    (session,) = [each for each in world.sessions() if each["launch_id"] == launch["launch_id"]]
    token = world.owner.call("make_access_token", name="x", person_id="pat")["access_token"]["token_id"]
    world.nobody.call("sign_in", code=world.owner.call("make_sign_in_link", person_id="pat")["code"])
    (sign_in,) = [row for row in world.rows()["sign_ins"] if "pat" in row]
    asked = {"project_id": world.project_id, "name": "Far", "view": "board", "q": "wall", "everybody": True}
    found = {
        "view": world.owner.call("save_view", **asked)["view"]["view_id"],
        "memory": worker.call("remember", text="Far away it rains.")["memory_id"],
        "webhook": world.owner.call("add_webhook", project_id=world.project_id, name="Far", title="Far")["webhook"][
            "webhook_id"
        ],
        "schedule": world.owner.call(
            "add_schedule", project_id=world.project_id, name="Far", title="Far", cron="@daily"
        )["schedule"]["schedule_id"],
        "question": worker.call("ask_person", question="Which?")["question_id"],
        "task": task,
        "project": world.project_id,
        "agent": "far",
        "person": "pat",
        "launch": launch["launch_id"],
        "session": session["session_id"],
        "handoff": handoff,
        "key": key,
        "token": token,
        "sign_in": next(each for each in sign_in if isinstance(each, str) and each.startswith("sgn_")),
        "correlation": world.show(task)["correlation_id"],
        **{kind: said[f"{kind}_id"] for kind in ("message", "delegation", "conversation", "viewer")},
    }
    world.project_id = here
    return found


@pytest.fixture
def there(fresh: Database) -> tuple[Cast, dict[str, str], dict[Grant, list[Caller]]]:
    here = cast(World(fresh, PATIENT))
    world = here.world
    foreign = elsewhere(world)
    world.owner.call("add_person", person_id="ann", login="member", projects=[world.project_id])
    member = Caller(world, world.owner.call("make_access_token", name="x", person_id="ann")["token"])
    people = {Grant.PERSON, Grant.WRITER, Grant.READER}
    callers = {
        grant: [member if grant in people else here.callers[grant]] for grant in here.callers if grant not in ALL_SEEING
    }
    callers[Grant.READER].append(here.callers[Grant.TASK_SESSION])
    for keyed_too in (Grant.FILER, Grant.SHARER):
        callers[keyed_too].append(here.callers[Grant.QUEUE_AGENT])
    return here, foreign, callers


Tried = tuple[str, str, Answer, Answer]
"""A parameter, what it names, and the arguments with the id of something elsewhere and with nobody's."""


def calls(operation: Operation, here: Cast, foreign: dict[str, str]) -> Iterator[Tried]:
    """For each parameter that holds an id, also within the objects of a list (`tasks` of a batch)."""
    good = sample(operation, here)
    for name, declared in operation.input_schema.get("properties", {}).items():
        if _is_tried(operation, name):
            theirs, nobodys = _both(name, declared, foreign)
            yield name, KINDS[name], {**good, name: theirs}, {**good, name: nobodys}
        items = declared.get("items", {})
        if "$ref" not in items:
            continue
        form = operation.input_schema["$defs"][items["$ref"].rsplit("/", 1)[1]]
        filled = {each: value(operation, each, form["properties"][each], here) for each in form.get("required", [])}
        for inner, about in form["properties"].items():
            if _is_tried(operation, inner):
                theirs, nobodys = ([{**filled, inner: each}] for each in _both(inner, about, foreign))
                yield f"{name}.{inner}", KINDS[inner], {**good, name: theirs}, {**good, name: nobodys}


def _is_tried(operation: Operation, name: str) -> bool:
    kind = KINDS.get(name)
    exempt = kind is None or kind in NOT_TRIED or (operation.name, name) in EXEMPT
    return not exempt and name in ids_of(operation)


def _both(name: str, declared: Mapping[str, Any], foreign: dict[str, str]) -> tuple[Any, Any]:
    theirs = foreign[KINDS[name]]
    nobodys = _nobodys(theirs)
    return ([theirs], [nobodys]) if "array" in str(declared) else (theirs, nobodys)


def _nobodys(identifier: str) -> str:
    """An id of the same form that nobody has."""
    return identifier[:-4] + "zzzz" if len(identifier) > 12 else f"no-{identifier}"


def said(outcome: Any, identifier: str) -> str:
    """The answer without the id itself, and without what counts calls."""
    result = {key: each for key, each in (outcome.result or {}).items() if key not in ("next", "notifications_pending")}
    told = orjson.dumps(result, option=orjson.OPT_SORT_KEYS).decode().replace(identifier, "ID")
    return _MADE.sub("…", told)


_MADE = re.compile(r"\b[a-z]{3}_[0-9a-z]{15,}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Ids and instants that a call has made."""


def of_project(rows: Mapping[str, list[tuple[Any, ...]]], project_id: str) -> list[tuple[str, tuple[Any, ...]]]:
    return [(name, row) for name, found in rows.items() for row in found if project_id in row]


def test_the_id_of_another_projects_thing_is_answered_like_one_that_nobody_has(
    there: tuple[Cast, dict[str, str], dict[Grant, list[Caller]]],
):
    here, foreign, callers = there
    tried, told = 0, []
    for operation in all_operations():
        for caller in callers.get(operation.grant, []):
            for name, kind, theirs, nobodys in calls(operation, here, foreign):
                if kind == "person":  # people see one another: they add, ask and talk about each other
                    continue
                before = kept(here.world)
                outcomes = [caller.ask(operation.name, **asked) for asked in (theirs, nobodys)]
                ids = (foreign[kind], _nobodys(foreign[kind]))
                answers = [said(outcome, each) for outcome, each in zip(outcomes, ids, strict=True)]
                tried += 1
                if answers[0] != answers[1]:
                    told.append(f"{operation.name}({name}): {answers[0]} / {answers[1]}")
                after, what = kept(here.world), f"{operation.name}({name}) has changed something"
                assert of_project(after, foreign["project"]) == of_project(before, foreign["project"]), what
                assert after == before or not all(each.refused for each in outcomes), what
    assert not told, "\n".join(told)
    assert tried > 100
