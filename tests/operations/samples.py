"""Calls made from declarations: valid-looking arguments for every operation, and mistakes of every kind in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.stories import Answer, Caller, Process, World
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.grants import Grant
from toryo.settings import GuardSettings, Settings
from toryo.storage.schema import metadata

PATIENT = Settings(guards=GuardSettings(refusals=100_000, idle_calls=100_000, calls=1_000_000, same_answers=100_000))
"""Guards that let a test make a thousand mistakes in one session."""

WRONG: dict[str, Any] = {
    "string": {"not": "a text"},
    "integer": "many",
    "number": "many",
    "boolean": "perhaps",
    "array": "one, two",
    "object": "a text",
}
"""A value that is not of the type."""


FORMS = {"create_task": ("title", "description")}
"""What an operation with several forms needs in the one that the samples use."""

COUNTED = ("sessions", "coordinators")
"""Rows that count a refused call, or that somebody was seen."""


def kept(world: World) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that a refused call leaves as it was."""
    return world.rows(*[table for table in metadata.sorted_tables if table.name not in COUNTED])


def untouched(world: World, caller: Caller, name: str, code: str, /, **arguments: Any) -> Answer:
    """The refusal of a call that has changed nothing."""
    before = kept(world)
    refusal = caller.refused(name, code, **arguments)
    assert kept(world) == before
    return refusal


@dataclass
class Cast:
    """Who calls, and the ids of what there is."""

    world: World
    callers: dict[Grant, Caller]
    ids: dict[str, str]

    def caller(self, operation: Operation) -> Caller:
        return self.callers[operation.grant]


def cast(world: World) -> Cast:
    """A manager with a subtask, a worker at work on another, and its chat: in a conversation, with a delegation."""
    world.crew(workers=2)
    main = world.task("boss")
    boss = world.start("boss")
    part, _ = boss.assigned({"Part": "w2", "Other part": "w2"})
    world.task("w1")
    worker = world.start("w1")
    own = worker.batch("Own part")[0]
    handoff = worker.call("create_handoff", task_id=own, summary="x")["handoff_id"]
    chat, said = talk(world, worker)
    queue, key_id = keyed(world)
    view = world.owner.call("save_view", project_id=world.project_id, name="Doors", view="board")["view"]
    callers: dict[Grant, Caller] = {
        Grant.OPEN: world.nobody,
        Grant.COORDINATOR: world.coordinator(),
        Grant.ANY_SESSION: worker,
        Grant.TASK_SESSION: worker,
        Grant.CHAT_SESSION: chat,
        Grant.FILER: worker,
        Grant.SHARER: worker,
        Grant.QUEUE_AGENT: queue,
        Grant.REGISTRAR: queue,
        Grant.LEADING: boss,
        Grant.MANAGER: boss,
        Grant.READER: world.owner,
        Grant.PERSON: world.owner,
        Grant.WRITER: world.owner,
        Grant.OWNER: world.owner,
    }
    ids = {
        "task_id": part,
        "parent_task_id": main,
        "project_id": world.project_id,
        "agent_id": "w2",
        "assignee_id": "w2",
        "to_agent_id": "w2",
        "reports_to": "boss",
        "handoff_id": handoff,
        "launch_id": worker.launch_id,
        "session_id": "ses_none",
        "check_id": "chk_none",
        "coordinator_id": "c1",
        "own_task_id": own,
        "target_agent_id": "w2",
        "with_agent_id": "w1",
        "of_agent_id": "w1",
        "key_id": key_id,
        "view_id": view["view_id"],
        **said,
    }
    return Cast(world, callers, ids)


def keyed(world: World, agent_id: str = "q1") -> tuple[Caller, str]:
    """An orchestrator that runs already and holds a claim of its own queue, by its API key; and that key's id."""
    asked = {"project_id": world.project_id, "types": ["build"], "orchestrator": True}
    made = world.owner.call("make_api_key", **asked)
    caller = Caller(world, made["token"])
    caller.call("register_agent", agent_id=agent_id, agent_type="build")
    caller.call("create_task", agent_type="build", task_description="Build it")
    assert caller.call("poll_tasks", agent_id=agent_id)["result"]
    key_id: str = made["key"]["key_id"]
    return caller, key_id


def talk(world: World, worker: Process, partner: str = "w2") -> tuple[Process, Answer]:
    """The chat of a worker with another one, in which it is its turn; answers it, and the ids of what there is."""
    task_id = worker.call("get_my_task")["task"]["task_id"]
    me = worker.agent_id
    viewer = world.open_chat(me)["viewer_id"]
    message = world.say(me, "/approve\nHow far are you?", related_task_id=task_id)
    asked = {"target_agent_id": partner, "purpose": "Agree on colours.", "await_result": False}
    delegation = worker.call("delegate_to_chat_session", **asked)["delegation_id"]
    chat = world.start_chat(me)
    chat.fetch()
    conversation = chat.call(
        "start_conversation", target_agent_id=partner, initial_message="Which colour?", delegation_id=delegation
    )["conversation_id"]
    other = world.start_chat(partner)
    other.fetch()
    other.turn(conversation, "Blue.")
    chat.fetch()
    for process in (chat, other):
        process.call("get_my_profile")  # what was handed out is confirmed
    return chat, {
        "viewer_id": viewer,
        "message_id": message,
        "delegation_id": delegation,
        "conversation_id": conversation,
        "related_task_id": task_id,
    }


def properties(operation: Operation) -> Mapping[str, Any]:
    found: Mapping[str, Any] = operation.input_schema.get("properties", {})
    return found


def required(operation: Operation) -> list[str]:
    return [*operation.input_schema.get("required", []), *FORMS.get(operation.name, ())]


def forms(operation: Operation, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The ways a value may look, references resolved, null left out."""
    found = []
    for each in schema.get("anyOf", [schema]):
        reference = each.get("$ref")
        form = operation.input_schema["$defs"][reference.rsplit("/", 1)[1]] if reference else each
        if form.get("type") != "null":
            found.append(form)
    return found


def sample(operation: Operation, cast: Cast) -> Answer:
    """Arguments that pass validation: every required parameter, ids of what there is."""
    return {name: value(operation, name, properties(operation)[name], cast) for name in required(operation)}


def value(operation: Operation, name: str, schema: Mapping[str, Any], cast: Cast) -> Any:
    """One valid value of a parameter."""
    if name in cast.ids:
        return cast.ids[name]
    form = forms(operation, schema)[0]
    if "enum" in form:
        return form["enum"][0]
    if form.get("type") == "array":
        items = form.get("items", {})
        return [value(operation, name, items, cast)] if form.get("minItems") else []
    if form.get("type") == "object":
        nested = form.get("properties", {})
        return {each: value(operation, each, nested[each], cast) for each in form.get("required", [])}
    plain: dict[str, Any] = {"string": "/tmp/x", "integer": form.get("minimum", 1), "boolean": True}
    return plain.get(str(form.get("type")), "x")


def texts(operation: Operation) -> list[str]:
    """The parameters that take a text of one's own."""
    return [
        name
        for name, schema in properties(operation).items()
        if any(form.get("type") == "string" and "enum" not in form for form in forms(operation, schema))
    ]


def anything(operation: Operation) -> list[str]:
    """The parameters that take any JSON."""
    return [
        name
        for name, schema in properties(operation).items()
        if all("type" not in form for form in forms(operation, schema))
        or any(form.get("type") == "object" and "properties" not in form for form in forms(operation, schema))
        or name == "artifacts"
    ]


def identifiers(operation: Operation) -> list[str]:
    """The parameters that name something that exists."""
    chosen = {"coordinator_id", "correlation_id", "model_id"}
    return [each for each in properties(operation) if each.endswith("_id") and each not in chosen]


@dataclass(frozen=True)
class Mistake:
    """Arguments with one mistake; `about` is the parameter it is in."""

    kind: str
    about: str
    arguments: Answer


def mistakes(operation: Operation, cast: Cast) -> Iterator[Mistake]:
    """Each required parameter missing, one too many, each of a wrong type, each text too long."""
    good = sample(operation, cast)
    for name in required(operation):
        yield Mistake("missing", name, {key: each for key, each in good.items() if key != name})
    for name in [*properties(operation), "nonsense"]:
        yield Mistake("extra", f"{name}x", {**good, f"{name}x": 1})
    for name, schema in properties(operation).items():
        found = forms(operation, schema)
        types = {str(form.get("type")) for form in found}
        if len(types) == 1 and (wrong := WRONG.get(*types)) is not None:
            yield Mistake("wrong type", name, {**good, name: wrong})
        for form in found:
            if "maxLength" in form:
                yield Mistake("too long", name, {**good, name: "x" * (form["maxLength"] + 1)})
            if "enum" in form:
                yield Mistake("no such choice", name, {**good, name: "nonsense"})


def all_operations() -> list[Operation]:
    """Those that somebody can call: the server's own have no caller (tests/doors)."""
    return list(catalogue().values())
