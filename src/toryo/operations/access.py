"""Access tokens: what a person's programs show. Named, with a role of their own, shown once, revoked at any time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from toryo.domain import ids, people
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.people import AccessToken
from toryo.domain.times import DAY, SECOND, iso, iso_or_none
from toryo.domain.wording import say
from toryo.operations import roles
from toryo.operations.call import Call
from toryo.operations.catalogue import Parameters, Route, operation
from toryo.operations.identity import PERSON, digest
from toryo.operations.paging import Page, Paged, cut
from toryo.operations.permissions import Grant, Login
from toryo.operations.results import Result

Id = Annotated[str, Field(min_length=1, max_length=64)]
Role = Literal["owner", "member", "viewer"]
MOST = 100
"""Tokens of one person at a time."""


class MakeToken(Parameters):
    name: str = Field(min_length=1, max_length=100, pattern=r"\S", description="What it is for.")
    login: Role | None = Field(None, description="What it may do at most. Default: as much as you here.")
    days: int | None = Field(None, ge=1, le=3650, description="How long it is good; default: until it is revoked.")
    person_id: Id | None = Field(None, description="Whose, if not yours; owners only.")


class TokenMade(Result):
    token: str
    access_token: dict[str, Any]


@operation(
    "make_access_token",
    grant=Grant.PERSON,
    parameters=MakeToken,
    result=TokenMade,
    route=Route("POST", "/access-tokens", 201),
    tool=False,
)
def make_access_token(call: Call, wanted: MakeToken) -> dict[str, Any]:
    """Make a token for a program of yours. It is shown once."""
    person = _whose(call, wanted.person_id)
    own = roles.of_caller(call).value if person.id == call.agent.id else roles.capped(call, person, people.OWNER)
    at_most = wanted.login or own
    _refuse_more(person, at_most, own)
    if sum(each.live(call.now) for each in call.tx.people.tokens_of(person.id)) >= MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("{person_id} has {most} tokens.", person_id=person.id, most=MOST),
            "Revoke some: toryo token person revoke ID.",
        )
    made = AccessToken(
        id=call.new_id(ids.ACCESS_TOKEN),
        agent_id=person.id,
        name=wanted.name.strip(),
        at_most=at_most,
        created_at=call.now,
        expires_at=call.now + wanted.days * DAY if wanted.days is not None else None,
    )
    token = call.new_token(PERSON)
    call.tx.people.add_token(made, digest(token))
    call.event("person.token_made", agent_id=person.id, data={"token_id": made.id, "name": made.name, "login": at_most})
    return {"success": True, "token": token, "access_token": _shown(call, person, made)}


def _whose(call: Call, person_id: str | None) -> Agent:
    if person_id is None or person_id == call.agent.id:
        return call.agent
    if call.caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Tokens of others are for owners.",
            "Leave person_id out, or ask an owner of this server.",
        )
    return roles.person(call, person_id)


def _refuse_more(person: Agent, at_most: str, own: str) -> None:
    if people.is_above(at_most, own):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say(
                "A token of {person_id} may be {own} at most: nobody gives more than they have.",
                person_id=person.id,
                own=own,
            ),
            say("Make it with --role {own} or less.", own=own),
        )


def _shown(call: Call, person: Agent, token: AccessToken) -> dict[str, Any]:
    used = datetime.fromtimestamp(token.used_on * DAY / SECOND, UTC).date() if token.used_on is not None else None
    return {
        "token_id": token.id,
        "person_id": token.agent_id,
        "name": token.name,
        "login": roles.capped(call, person, token.at_most),
        "created_at": iso(token.created_at),
        "expires_at": iso_or_none(token.expires_at),
        "last_used_on": used.isoformat() if used is not None else None,
        "this_one": call.caller.access_token is not None and call.caller.access_token.id == token.id,
    }


class WhoseTokens(Paged):
    person_id: Id | None = Field(None, description="Whose, if not yours; owners only.")


class AccessTokens(Page):
    access_tokens: list[dict[str, Any]]


@operation(
    "list_access_tokens",
    grant=Grant.PERSON,
    parameters=WhoseTokens,
    result=AccessTokens,
    route=Route("GET", "/access-tokens"),
    tool=False,
    reads=True,
)
def list_access_tokens(call: Call, wanted: WhoseTokens) -> dict[str, Any]:
    """The tokens of a person that are good, without their secrets."""
    person = _whose(call, wanted.person_id)
    good = [each for each in call.tx.people.tokens_of(person.id) if each.live(call.now)]
    found, more = cut(good, wanted, lambda each: each.id)
    return {"success": True, "access_tokens": [_shown(call, person, each) for each in found], **more}


class OneToken(Parameters):
    token_id: Id = Field(description="Which one.")


class TokenRevoked(Result):
    token_id: str


@operation(
    "revoke_access_token",
    grant=Grant.PERSON,
    parameters=OneToken,
    result=TokenRevoked,
    route=Route("DELETE", "/access-tokens/{token_id}"),
    tool=False,
)
def revoke_access_token(call: Call, wanted: OneToken) -> dict[str, Any]:
    """Make a token worthless: one of yours, or as an owner anybody's."""
    found = call.tx.people.token(wanted.token_id)
    mine = found is not None and (found.agent_id == call.agent.id or call.caller.login is Login.OWNER)
    if found is None or not mine:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no access token {token_id}.", token_id=wanted.token_id),
            "toryo token person list has the ids of yours.",
        )
    if found.revoked_at is None:
        call.tx.people.revoke(found.id, call.now)
        call.event("person.token_revoked", agent_id=found.agent_id, data={"token_id": found.id, "name": found.name})
    return {"success": True, "token_id": found.id}
