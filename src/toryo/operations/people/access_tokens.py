"""Access tokens of people's programs: named, with a role, shown once, revocable.

Also the tokens in files of data directories, which belong to the first owner and the Coordinators.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import Blank, deed, terminal
from toryo.domain import ids, people
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.people import AccessToken
from toryo.domain.times import DAY, SECOND, Millis, iso, iso_or_none
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.credential_verification import PERSON, digest
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.directory import person_roles
from toryo.operations.people import credential_revocation
from toryo.storage.tokens import FileToken

Role = Literal["owner", "member", "viewer"]


class MakeToken(Parameters):
    name: str = Field(min_length=1, max_length=100, pattern=r"\S", description="What it is for.")
    login: Role | None = Field(None, description="What it may do at most. Default: as much as you here.")
    days: int | None = Field(None, ge=1, le=3650, description="How long it is good; default: until it is revoked.")
    person_id: Id | None = Field(None, description="Whose, if not yours; owners only.")


class ShownToken(TypedDict):
    """A token without its secret. `login`: what it may do, which is no more than its person may."""

    token_id: str
    person_id: str
    name: str
    login: Login
    created_at: str
    expires_at: str | None
    last_used_on: str | None
    this_one: bool


class TokenMade(Result):
    token: str
    access_token: ShownToken


@operation(
    "make_access_token",
    grant=Grant.PERSON,
    parameters=MakeToken,
    route=Route("POST", "/access-tokens", 201),
    tool=False,
    proof=Proof.ALWAYS,
)
def make_access_token(call: Call, wanted: MakeToken) -> TokenMade:
    """Make a token for a program of yours. It is shown once.

    A token that is made with another one is good no longer than that one, and is revoked with it.
    """
    person = _whose(call, wanted.person_id)
    mine = person.id == call.agent.id
    own = (person_roles.of_caller(call) if mine else person_roles.capped_role(call, person, people.OWNER)).value
    at_most = wanted.login or own
    person_roles.refuse_more(person, at_most, own)
    if sum(each.live(call.now) for each in call.tx.people.tokens_of(person.id)) >= people.MOST_TOKENS:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("{person_id} has {most} tokens.", person_id=person.id, most=people.MOST_TOKENS),
            say("Revoke some{deed:: …}.", deed=deed("revoke_access_token", token_id=Blank("ID"))),
        )
    made = AccessToken(
        id=call.new_id(ids.ACCESS_TOKEN),
        agent_id=person.id,
        name=wanted.name.strip(),
        at_most=at_most,
        created_at=call.now,
        expires_at=_until(call, wanted.days),
        made_by=call.agent.id,
        made_with=call.caller.credential,
    )
    token = call.new_token(PERSON)
    call.tx.people.add_token(made, digest(token))
    call.event("person.token_made", agent_id=person.id, data={"token_id": made.id, "name": made.name, "login": at_most})
    return {"success": True, "token": token, "access_token": _as_answer(call, person, made)}


def _whose(call: Call, person_id: str | None) -> Agent:
    if person_id is None or person_id == call.agent.id:
        return call.agent
    if call.caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only owners can manage the tokens of others.",
            "Omit person_id, or ask an owner of this server.",
        )
    return person_roles.person(call, person_id)


def _until(call: Call, days: int | None) -> Millis | None:
    """As long as is wanted, and no longer than what it is made with."""
    return (
        credential_revocation.good_until(call)
        if days is None
        else credential_revocation.capped_end(call, call.now + days * DAY)
    )


def _as_answer(call: Call, person: Agent, token: AccessToken) -> ShownToken:
    used = datetime.fromtimestamp(token.used_on * DAY / SECOND, UTC).date() if token.used_on is not None else None
    return {
        "token_id": token.id,
        "person_id": token.agent_id,
        "name": token.name,
        "login": person_roles.capped_role(call, person, token.at_most),
        "created_at": iso(token.created_at),
        "expires_at": iso_or_none(token.expires_at),
        "last_used_on": used.isoformat() if used is not None else None,
        "this_one": call.caller.access_token is not None and call.caller.access_token.id == token.id,
    }


class WhoseTokens(Paged):
    person_id: Id | None = Field(None, description="Whose, if not yours; owners only.")


class AccessTokens(Page):
    access_tokens: list[ShownToken]


@operation(
    "list_access_tokens",
    grant=Grant.PERSON,
    parameters=WhoseTokens,
    route=Route("GET", "/access-tokens"),
    tool=False,
    reads=True,
)
def list_access_tokens(call: Call, wanted: WhoseTokens) -> AccessTokens:
    """The tokens of a person that are good, without their secrets."""
    person = _whose(call, wanted.person_id)
    good = [token for token in call.tx.people.tokens_of(person.id) if token.live(call.now)]
    found, more = cut(good, wanted, lambda each: each.id)
    answer: AccessTokens = {"success": True, "access_tokens": [_as_answer(call, person, each) for each in found]}
    return paged(answer, more)


class OneToken(Parameters):
    token_id: Id = Field(description="Which one.")


class TokenRevoked(Result):
    token_id: str


@operation(
    "revoke_access_token",
    grant=Grant.PERSON,
    parameters=OneToken,
    route=Route("DELETE", "/access-tokens/{token_id}"),
    tool=False,
)
def revoke_access_token(call: Call, wanted: OneToken) -> TokenRevoked:
    """Revoke a token, one of yours or (as an owner) anybody's, and what was made with it."""
    found = call.tx.people.token(wanted.token_id)
    mine = found is not None and (found.agent_id == call.agent.id or call.caller.login is Login.OWNER)
    if found is None or not mine:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no access token {token_id}.", token_id=wanted.token_id),
            say("{deed:List yours for their ids: …}", deed=deed("list_access_tokens")),
        )
    if found.revoked_at is None:
        credential_revocation.revoke(call, found)
    return {"success": True, "token_id": found.id}


# --- of data directories ---------------------------------------------------------------------------------------------

_FILES = {"owner": credential_revocation.OWNER, "coordinator": credential_revocation.COORDINATOR}


class ServerToken(TypedDict):
    """A token in a file of a data directory. `this_server`: whether that is this server's."""

    token_id: str
    kind: str
    file: str
    directory_id: str | None
    this_server: bool
    created_at: str


class ServerTokens(Page):
    server_tokens: list[ServerToken]


@operation(
    "list_server_tokens",
    grant=Grant.OWNER,
    parameters=Paged,
    route=Route("GET", "/server-tokens"),
    tool=False,
    reads=True,
)
def list_server_tokens(call: Call, wanted: Paged) -> ServerTokens:
    """The tokens in the files of data directories that are good, without their secrets."""
    found, more = cut(call.tx.tokens.all(), wanted, lambda each: each.id)
    answer: ServerTokens = {"success": True, "server_tokens": [_of_directory(call, each) for each in found]}
    return paged(answer, more)


def _of_directory(call: Call, token: FileToken) -> ServerToken:
    return {
        "token_id": token.id,
        "kind": token.kind,
        "file": token.name,
        "directory_id": token.place,
        "this_server": _is_here(call, token),
        "created_at": iso(token.created_at),
    }


def _is_here(call: Call, token: FileToken) -> bool:
    return call.context.tokens is not None and token.place == call.context.tokens.place


class RotateToken(Parameters):
    which: Literal["owner", "coordinator"] = Field(description="Which of the data directory's two tokens.")


class TokenRotated(Result):
    file: str
    signed_out: int
    tokens_revoked: int


@operation(
    "rotate_server_token",
    grant=Grant.OWNER,
    parameters=RotateToken,
    route=Route("POST", "/server-tokens/{which}/rotate"),
    tool=False,
)
def rotate_server_token(call: Call, wanted: RotateToken) -> TokenRotated:
    """Put a new token into the file of this server's data directory.

    The old one is revoked, and so is everything that was made with it: browsers that opened its links, access tokens.
    """
    call.tx.lock_everything()
    file, files = _FILES[wanted.which], call.context.tokens
    if files is None:
        raise Refusal(
            Code.NOT_NOW,
            "This server has no data directory.",
            say(
                "{server:Start it with …, and call this again.|Start the server, and try again.}",
                server=terminal("server"),
            ),
        )
    before = [each for each in call.tx.tokens.all() if each.name == file and each.place == files.place]
    lost = sum(
        (credential_revocation.revoke_of_directory(call, each) for each in before), credential_revocation.Ended()
    )
    credential_revocation.make_known(call, file, files.renew(file))
    return {
        "success": True,
        "file": file,
        "signed_out": lost.browsers,
        "tokens_revoked": lost.tokens,
    }


@operation(
    "revoke_server_token",
    grant=Grant.OWNER,
    parameters=OneToken,
    route=Route("DELETE", "/server-tokens/{token_id}"),
    tool=False,
)
def revoke_server_token(call: Call, wanted: OneToken) -> TokenRevoked:
    """Revoke a token of another data directory, one that is gone for example, and what was made with it."""
    call.tx.lock_everything()
    found = next((each for each in call.tx.tokens.all() if each.id == wanted.token_id), None)
    if found is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no server token {token_id}.", token_id=wanted.token_id),
            say("{deed:List the server tokens for their ids: …}", deed=deed("list_server_tokens")),
        )
    if _is_here(call, found):
        raise Refusal(
            Code.NOT_NOW,
            say("It is stored in {file} of the server's data directory and cannot be revoked here.", file=found.name),
            say(
                "{deed:Replace it: …|Replace it with a new one}{other_deed:, or …}.",
                deed=deed("rotate_server_token", which="owner"),
                other_deed=deed("rotate_server_token", which="coordinator"),
            ),
        )
    credential_revocation.revoke_of_directory(call, found)
    return {"success": True, "token_id": found.id}
