"""How agents note what others should know about the project, and find it. What people do is in `rest.py`."""

from __future__ import annotations

from pydantic import Field

from toryo.domain import memories
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import HOUR
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Parameters, operation
from toryo.operations.calls.fields import Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import Result, Said
from toryo.operations.memory import finding, writing
from toryo.operations.memory.finding import FoundText
from toryo.operations.translations import words

USUAL = 5


class Remember(Parameters):
    text: Lines = Field(
        min_length=1,
        max_length=memories.LONGEST,
        pattern=r"\S",
        description="One fact, with what is needed to understand it.",
        json_schema_extra=PLAIN,
    )


class Remembered(Said):
    """`known`: whether the project has this memory already; then `memory_id` is that one."""

    memory_id: str
    known: bool


@operation(
    "remember",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.ANY_SESSION,
    parameters=Remember,
)
def remember(call: Call, wanted: Remember) -> Remembered:
    """Note a lasting fact about the project for all agents."""
    project_id = call.session.project_id
    call.enter(project_id)
    before = writing.same_memory(call, project_id, wanted.text)
    if before is None:
        _refuse_too_many(call, project_id)
    memory = before or writing.add(call, project_id, wanted.text, task_id=call.session.task_id)
    told = words("remember.known" if before is not None else "remember", call.language)
    return {"success": True, "memory_id": memory.id, "known": before is not None, "message": told}


def _refuse_too_many(call: Call, project_id: str) -> None:
    lately = call.tx.memories.count_by(project_id, call.agent.id, call.now - HOUR)
    if lately >= memories.MOST_AN_HOUR:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("You have added {count} memories within an hour, the maximum.", count=lately),
            "Continue with your task; put what is left into your report.",
            limit=memories.MOST_AN_HOUR,
        )


class Recall(Parameters):
    query: Lines = Field(
        min_length=1,
        max_length=memories.LONGEST_QUERY,
        pattern=r"\S",
        description="Words to look for.",
        json_schema_extra=PLAIN,
    )
    limit: int = Field(USUAL, ge=1, le=20, description="How many at most.", json_schema_extra=listed_for(Audience.NONE))


class Recalled(Result):
    found: list[FoundText]
    message: str


@operation(
    "recall",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.ANY_SESSION,
    parameters=Recall,
    reads=True,
)
def recall(call: Call, wanted: Recall) -> Recalled:
    """Search the project's memories, finished tasks, handoffs and your conversations."""
    found = finding.find(call, call.session.project_id, wanted.query, wanted.limit)
    told = words("recall" if found else "recall.nothing", call.language)
    return {"success": True, "found": found, "message": told}
