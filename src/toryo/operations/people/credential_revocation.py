"""Revocation of people's credentials: one or all of a person, always with everything that was created with them.

`calls/credential_verification.py` defines what a credential proves; `launches/end_of_session.py` ends agents' sessions.
"""

from __future__ import annotations

from toryo.domain import people
from toryo.domain.agents import OWNER_ID, Agent, Kind, Role, Status
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.people import AccessToken, Account, SignIn
from toryo.domain.times import Millis
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.calls.credential_verification import digest
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.directory import person_roles, wider_rights
from toryo.storage.tokens import FileToken

COORDINATOR, OWNER = "coordinator.token", "owner.token"
"""The files of a data directory that hold tokens."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Numbers of revoked credentials."""

    browsers: int = 0
    tokens: int = 0

    def __add__(self, other: Ended) -> Ended:
        return Ended(self.browsers + other.browsers, self.tokens + other.tokens)


def good_until(call: Call) -> Millis | None:
    """When what the caller has shown ends at the latest: what is made with it is good no longer. None: never."""
    token = call.caller.access_token
    if token is None and call.caller.credential is not None:
        token = call.tx.people.token(call.caller.credential)
    return token.expires_at if token is not None else None


def capped_end(call: Call, until: Millis) -> Millis:
    """The instant, or the end of what the caller has shown."""
    limit = good_until(call)
    return until if limit is None else min(until, limit)


def end_sign_in(call: Call, sign_in: SignIn) -> Ended:
    """A browser is signed out, and no longer notified.

    Tokens that its person made there stay: they are listed, and revoked by themselves.
    """
    call.tx.people.end(sign_in, call.now)
    call.tx.push.unsubscribe(sign_in.id)
    call.event("person.signed_out", agent_id=sign_in.agent_id)
    call.tx.hint(RIGHTS)
    return Ended(browsers=1)


def end_sign_ins(call: Call, person_id: str, but: str | None = None) -> Ended:
    """All browsers of a person but one, and the links that would sign in another one of theirs, or of others."""
    ended = Ended()
    for sign_in in call.tx.people.sign_ins_of(person_id):
        if sign_in.id != but:
            ended += end_sign_in(call, sign_in)
    drop_links(call, person_id)
    return ended


def drop_links(call: Call, person_id: str) -> None:
    """Those that nobody has opened yet: theirs, and those that they made for others."""
    call.tx.people.drop_links(person_id)
    call.tx.people.drop_links_made_by(person_id)


def revoke(call: Call, token: AccessToken) -> Ended:
    """A token, and what was made with it."""
    call.tx.people.revoke(token.id, call.now)
    data = {"token_id": token.id, "name": token.name}
    call.event("person.token_revoked", agent_id=token.agent_id, data=data)
    return Ended(tokens=1) + _end_made_with(call, token.id)


def revoke_of_directory(call: Call, token: FileToken) -> Ended:
    """A token of a data directory, and what was made with it."""
    call.tx.tokens.revoke(token.hash, call.now)
    call.event("server.token_revoked", data={"token_id": token.id, "name": token.name})
    return Ended(tokens=1) + _end_made_with(call, token.hash)


def change_role(call: Call, account: Account, login: str) -> None:
    """A person may do less or more from now on: their browsers and tokens follow, what they made as an owner ends."""
    before = call.tx.people.account(account.agent_id)
    call.tx.people.put(replace(account, login=login, changed_at=call.now))
    person = person_roles.renewed(call, call.known_agent(account.agent_id))
    call.event(
        "person.changed", agent_id=person.id, data=wider_rights.told_of_login(people.role_of(person, before), login)
    )
    lose_ownership(call, person.id, people.role_of(person, before), login)


def lose_ownership(call: Call, person_id: str, before: str, after: str) -> None:
    """Ends what a person has created for others as an owner, once they are no longer one."""
    if before == people.OWNER and after != people.OWNER:
        end_made_for_others(call, person_id)
    if people.is_above(before, after):
        call.tx.hint(RIGHTS)


def make_known(call: Call, file: str, token: str) -> None:
    """The token that stands in a file of this server's data directory is good, and no other that stood there."""
    if call.context.tokens is not None and call.tx.tokens.was_revoked(digest(token)):
        token = call.context.tokens.renew(file)
    place = call.context.tokens.place if call.context.tokens is not None else None
    if file == OWNER:
        call.tx.tokens.add(digest(token), "person", file, call.now, OWNER_ID, people.OWNER, place)
    else:
        call.tx.tokens.add(digest(token), "coordinator", file, call.now, place=place)
    for known in call.tx.tokens.all():
        if known.name == file and known.place in (None, place) and known.hash != digest(token):
            revoke_of_directory(call, known)


def _end_made_with(call: Call, credential: str) -> Ended:
    call.tx.people.drop_links_made_with(credential)
    call.tx.hint(RIGHTS)
    ended = Ended()
    for browser in call.tx.people.sign_ins_made_with(credential):
        ended += end_sign_in(call, browser)
    for token in call.tx.people.tokens_made_with(credential):
        ended += revoke(call, token)
    return ended


def end_all(call: Call, person_id: str) -> Ended:
    """Every browser, token and link of a person, and those that they made for others."""
    ended = end_sign_ins(call, person_id)
    for token in call.tx.people.tokens_of(person_id):
        if _still_good(call, token):
            ended += revoke(call, token)
    return ended + end_made_for_others(call, person_id)


def end_made_for_others(call: Call, person_id: str) -> Ended:
    """What a person made for others as an owner: the links and tokens may be in their own hands."""
    call.tx.people.drop_links_made_by(person_id)
    call.tx.hint(RIGHTS)
    ended = Ended()
    for browser in call.tx.people.sign_ins_made_by(person_id):
        if browser.agent_id != person_id:
            ended += end_sign_in(call, browser)
    for token in call.tx.people.tokens_made_by(person_id):
        if token.agent_id != person_id and _still_good(call, token):
            ended += revoke(call, token)
    return ended


def _still_good(call: Call, token: AccessToken) -> bool:
    """Not revoked a moment ago, with the one that it was made with."""
    found = call.tx.people.token(token.id)
    return found is not None and found.revoked_at is None


def bootstrap(dispatcher: Dispatcher, coordinator_token: str, owner_token: str) -> None:
    """Makes the two tokens of a data directory known, and the person who owns the server. Repeatable.

    Other tokens of this directory are revoked: they have stood in its files before. A token that was revoked before is
    not good again because its file is back: the file gets a new one.
    """

    def work(call: Call) -> None:
        if call.tx.agents.find(OWNER_ID) is None:
            call.tx.agents.add(_owner(call.now), None)
        make_known(call, COORDINATOR, coordinator_token)
        make_known(call, OWNER, owner_token)

    dispatcher.housekeep(work)


def _owner(now: Millis) -> Agent:
    return Agent(
        id=OWNER_ID,
        name="Owner",
        kind=Kind.HUMAN,
        role=Role.OWNER,
        reports_to=None,
        status=Status.ACTIVE,
        provider=None,
        model=None,
        agent_type=None,
        capabilities=(),
        max_parallel_tasks=1,
        system_prompt="",
        provider_options={},
        created_at=now,
        updated_at=now,
    )
