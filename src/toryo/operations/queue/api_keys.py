"""API keys of queue agents: people create, list and revoke them. REST and CLI."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toryo.deeds import Blank, deed
from toryo.domain import ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.queue import ApiKey
from toryo.domain.wording import say
from toryo.operations.calls import did_you_mean, schemas, visibility
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.credential_verification import QUEUE, digest
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.queue import claims as queue_claims

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


class MakeKey(Parameters):
    project_id: Id = Field(description="The project.")
    agent_id: Id | None = Field(None, description="Whose it is; without one, the first agent that registers with it.")
    types: list[Name] = Field(default_factory=list, max_length=50, description="The queues it may serve; none: any.")
    orchestrator: bool = Field(False, description="Whether it may file tasks for queues.")
    tools: list[Name] = Field(default_factory=list, max_length=50, description="The tools it may call; none: all.")
    name: str | None = Field(None, min_length=1, max_length=200, description="What it is for.")


class KeyMade(Result):
    token: str
    key: schemas.Key
    agent_id: str | None


@operation(
    "make_api_key",
    grant=Grant.OWNER,
    parameters=MakeKey,
    route=Route("POST", "/projects/{project_id}/keys", 201),
    tool=False,
    proof=Proof.ALWAYS,
)
def make_api_key(call: Call, wanted: MakeKey) -> KeyMade:
    """Make an API key for an agent that runs already. It is shown once."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if wanted.agent_id is not None:
        queue_claims.self_driven(call, ids.chosen(wanted.agent_id))
    key = ApiKey(
        id=call.new_id(ids.KEY),
        project_id=project.id,
        name=wanted.name or wanted.agent_id or "queue agent",
        agent_id=wanted.agent_id,
        types=tuple(wanted.types),
        orchestrator=wanted.orchestrator,
        tools=tuple(wanted.tools),
        created_by=call.actor.id,
        created_at=call.now,
    )
    token = call.new_token(QUEUE)
    call.tx.queues.add_key(key, digest(token))
    call.event("key.made", project_id=project.id, agent_id=key.agent_id, data={**_shown(key)})
    return {"success": True, "token": token, "agent_id": key.agent_id, "key": _shown(key)}


_shown = wire(ApiKey, schemas.Key, key_id="id")


class ListKeys(Paged):
    project_id: Id = Field(description="The project.")


class Keys(Page):
    keys: list[schemas.Key]


@operation(
    "list_api_keys",
    grant=Grant.PERSON,
    parameters=ListKeys,
    route=Route("GET", "/projects/{project_id}/keys"),
    tool=False,
    reads=True,
)
def list_api_keys(call: Call, wanted: ListKeys) -> Keys:
    """The API keys of a project, without their secrets."""
    project = call.project(wanted.project_id)
    found, more = cut(call.tx.queues.keys(project.id), wanted, lambda each: each.id)
    answer: Keys = {"success": True, "keys": [_shown(each) for each in found]}
    return paged(answer, more)


class OneKey(Parameters):
    key_id: Id = Field(description="The key.")


class KeyRevoked(Result):
    key: schemas.Key


@operation(
    "revoke_api_key",
    grant=Grant.OWNER,
    parameters=OneKey,
    route=Route("POST", "/keys/{key_id}/revoke"),
    tool=False,
)
def revoke_api_key(call: Call, wanted: OneKey) -> KeyRevoked:
    """Make a key worthless. Claims of its agent go back when their time is over."""
    key = call.tx.queues.key(wanted.key_id)
    if key is None or not visibility.sees(call, key.project_id):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no API key {key_id}.", key_id=wanted.key_id),
            did_you_mean.hint(
                wanted.key_id,
                (
                    (each.id, each.name)
                    for project in call.tx.projects.all()
                    if visibility.sees(call, project.id)
                    for each in call.tx.queues.keys(project.id)
                ),
                say(
                    "{deed:List the keys of a project for their ids: …}",
                    deed=deed("list_api_keys", project_id=Blank("PRJ")),
                ),
            ),
            key_id=wanted.key_id,
        )
    call.enter(key.project_id)
    revoked = key if key.revoked_at is not None else replace(key, revoked_at=call.now)
    call.tx.queues.save_key(key, revoked)
    call.tx.hint(RIGHTS)
    call.event("key.revoked", project_id=key.project_id, agent_id=key.agent_id, data={"key_id": key.id})
    return {"success": True, "key": _shown(revoked)}
