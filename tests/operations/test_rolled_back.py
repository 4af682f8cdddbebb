"""A refusal comes after a rollback: it names nothing that the refused call would have made. For every operation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.operations.samples import PATIENT, all_operations, cast, sample, untouched
from tests.stories import World
from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.storage.engine.database import Database


def refused_at_the_end(operation: Operation, made: dict[str, str]) -> Operation:
    """The operation, as if something were wrong when all of it is done; the refusal names all that it knows."""

    def handler(call: Call, parameters: Any) -> Any:
        result = operation.handler(call, parameters)
        made.update(call.made)
        ids = list(call.made)
        everything = say("{answer} and {ids}", answer=orjson.dumps(result, default=str).decode(), ids=", ".join(ids))
        details: dict[str, Any] = {"one": ids[0], "all": ids, "entries": [{"id": each} for each in ids]} if ids else {}
        raise Refusal(Code.CONFLICT, everything, "Look again at " + ", ".join(ids), **details, kept="x")

    return replace(operation, handler=handler)


def test_a_refusal_names_nothing_that_was_rolled_back(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(database, PATIENT)
    people = cast(world)
    creates: set[str] = set()
    for operation in all_operations():
        made: dict[str, str] = {}
        monkeypatch.setitem(catalogue(), operation.name, refused_at_the_end(operation, made))
        answer = people.caller(operation).ask(operation.name, **sample(operation, people)).result or {}
        monkeypatch.setitem(catalogue(), operation.name, operation)
        if not made:
            continue
        assert answer["error"] == "conflict", operation.name
        assert answer["kept"] == "x"
        creates.add(operation.name)
        told = orjson.dumps({key: each for key, each in answer.items() if key != "next"}).decode()
        assert not [each for each in made if each in told], operation.name
    assert creates >= {
        "file_task",
        "create_tasks_batch",
        "create_task",
        "make_access_token",
        "delegate_to_chat_session",
    }
    assert creates >= {"create_project", "make_api_key", "accept_handoff"}


def test_a_task_that_cannot_begin_is_named_by_its_title(database: Database) -> None:
    world = World(database)
    world.crew(workers=1)
    asked = {"project_id": world.project_id, "title": "Paint the door", "status": "in_progress"}
    first = world.owner.call("file_task", **{**asked, "title": "First", "status": "todo"})["task_id"]
    refusal = untouched(
        world, world.owner, "file_task", "dependencyNotMet", assignee_id="w1", dependencies=[first], **asked
    )
    assert refusal["message"].startswith("Task “Paint the door” depends on tasks that are not completed: ")
    assert refusal["instruction"] == "Nothing was created. Create the task in todo, and start it when that is resolved."
    assert "task_id" not in refusal
    assert refusal["waiting_for"] == [first]
    refusal = untouched(world, world.owner, "file_task", "invalidTransition", **asked)
    assert refusal["message"] == "A task cannot start in progress without an assignee."
    assert "task_id" not in refusal
