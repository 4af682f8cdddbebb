"""Sign-in and sign-out of people: one-time links, passwords, identity providers; and their list of browsers.

Not for agents. How long links and sign-ins last is in `domain/people.py`. Accounts and roles are in `accounts.py`;
`provider_accounts.py` selects or creates the account for a sign-in with an identity provider.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

import toryo
from toryo.deeds import LEFT_OUT, Blank, deed, terminal
from toryo.domain import ids, passwords, people
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.people import How, Link, SignIn
from toryo.domain.times import HOUR, Millis, iso
from toryo.domain.wording import say
from toryo.operations.calls import schemas, sign_in_lockout
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import NoParameters, Parameters, Proof, Route, operation
from toryo.operations.calls.credential_verification import BROWSER, PAGE, digest, sign_in_of
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Refused, Result
from toryo.operations.directory import person_roles
from toryo.operations.people import credential_revocation, password_hashing, provider_accounts
from toryo.operations.people.password_hashing import Checked

Role = Literal["owner", "member", "viewer"]


class Myself(Result):
    person_id: str
    name: str
    login: Login
    version: str
    signed_in_by: str | None
    last_event: int


@operation(
    "who_am_i",
    grant=Grant.PERSON,
    route=Route("GET", "/me"),
    tool=False,
    reads=True,
)
def who_am_i(call: Call, _: NoParameters) -> Myself:
    """Who is signed in here, and as what; and the newest event, after which an event stream can begin."""
    person, login = call.agent, call.caller.login
    sign_in = call.tx.people.sign_in(call.caller.sign_in_id) if call.caller.sign_in_id else None
    return {
        "success": True,
        "person_id": person.id,
        "name": person.name,
        "login": login or Login.VIEWER,
        "version": toryo.__version__,
        "signed_in_by": sign_in.how.value if sign_in is not None else None,
        "last_event": call.tx.events.last(),
    }


# --- coming in -------------------------------------------------------------------------------------------------------


class MakeLink(Parameters):
    person_id: Id | None = Field(None, description="The person, if not you; owners only.")
    login: Role | None = Field(None, description="As what at most: owner, member or viewer. Default: as they are.")


class LinkMade(Result):
    code: str
    path: str
    expires_at: str


@operation(
    "make_sign_in_link",
    grant=Grant.PERSON,
    parameters=MakeLink,
    route=Route("POST", "/sign-in-links", 201),
    tool=False,
    proof=Proof.ALWAYS,
)
def make_sign_in_link(call: Call, wanted: MakeLink) -> LinkMade:
    """Make a link that signs a browser in, once, within ten minutes."""
    person = _for_whom(call, wanted.person_id)
    own = person_roles.of_caller(call).value
    at_most = wanted.login or own
    person_roles.refuse_more(person, at_most, own)
    code = call.new_token("")
    made = Link(
        agent_id=person.id,
        at_most=at_most,
        expires_at=credential_revocation.capped_end(call, call.now + people.LINK_LIVES),
        made_by=call.agent.id,
        made_with=call.caller.credential,
        proved_at=call.caller.proved_at,
    )
    call.tx.people.add_link(made, digest(code))
    call.event("person.link_made", agent_id=person.id, data={"login": person_roles.capped_role(call, person, at_most)})
    return {"success": True, "code": code, "path": f"/sign-in#{code}", "expires_at": iso(made.expires_at)}


def _for_whom(call: Call, person_id: str | None) -> Agent:
    if person_id is None or person_id == call.agent.id:
        return call.agent
    if call.caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only owners can make sign-in links for others.",
            "Omit person_id, or ask an owner of this server.",
        )
    person = person_roles.person(call, person_id)
    if not person.active:
        raise _inactive(person)
    return person


class SignInWith(Parameters):
    code: str | None = Field(None, min_length=1, max_length=200, description="From a link.")
    instead_of: Id | None = Field(
        None, description="With a code: the person who is signed in here and wants to be signed out, if it is another."
    )
    person_id: Id | None = Field(None, description="Who you are.")
    password: SecretStr | None = Field(None, max_length=passwords.LONGEST_PASSWORD, description="Your password.")


class SignedIn(Result):
    person_id: str
    name: str
    login: Login
    expires_at: str
    browser_token: str
    page_secret: str


def _look_at_password(call: Call, wanted: SignInWith) -> Callable[[], Checked] | None:
    """The password is verified outside of the transaction; not at all while somebody is locked out."""
    if wanted.code is not None or wanted.person_id is None or wanted.password is None or _locked(call, wanted):
        return None
    account, password = call.tx.people.account(wanted.person_id), wanted.password.get_secret_value()
    return partial(password_hashing.check, account.password_hash if account is not None else None, password)


@operation(
    "sign_in",
    grant=Grant.OPEN,
    parameters=SignInWith,
    route=Route("POST", "/sign-in"),
    tool=False,
    beforehand=_look_at_password,
)
def sign_in(call: Call, wanted: SignInWith) -> SignedIn | Refused:
    """Sign this browser in, with the code of a link, or a person's id and password."""
    if wanted.code is not None:
        return _with_code(call, wanted.code, wanted.instead_of)
    if wanted.person_id is None or wanted.password is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A sign-in code, or a person's id and password, is required.",
            say(
                "{open:Open the link that … prints, or send person_id and password.|Open a sign-in link, or use a "
                "password.}",
                open=terminal("open"),
            ),
        )
    if call.context.settings.auth.people == "tokens":
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Passwords are switched off on this server (TORYO_AUTH__PEOPLE=tokens).",
            say("Sign in with a link{open:: run … with your token}.", open=terminal("open")),
        )
    return _with_password(call, wanted, wanted.person_id)


def _with_code(call: Call, code: str, instead_of: str | None) -> SignedIn:
    found = call.tx.people.link(digest(code), call.now)
    if found is None:
        raise _used()
    person = call.known_agent(found.agent_id)
    _refuse_unasked(call, person, instead_of)
    if not call.tx.people.use_link(digest(code), call.now):
        raise _used()
    return _signed_in(call, person, found.at_most, found.how, found)


def _used() -> Refusal:
    return Refusal(
        Code.INVALID_CREDENTIALS,
        "This sign-in link is not valid. A link works once, for ten minutes.",
        say("{open:Get a new one: …|Get a new link.}", open=terminal("open")),
    )


def _refuse_unasked(call: Call, person: Agent, instead_of: str | None) -> None:
    """Who opens a link may not have chosen to: another page or a text of somebody else can hold it."""
    before = _before(call)
    if before is None or before.agent_id in (person.id, instead_of):
        return
    present = call.known_agent(before.agent_id)
    raise Refusal(
        Code.CONFLICT,
        say(
            "This link signs in {person_id}, but this browser is signed in as {present}.",
            person_id=person.id,
            present=present.id,
        ),
        say("To sign in as {person_id} anyway, send instead_of={present}.", person_id=person.id, present=present.id),
        person={"person_id": person.id, "name": person.name},
        instead_of={"person_id": present.id, "name": present.name},
    )


def _with_password(call: Call, wanted: SignInWith, person_id: str) -> SignedIn | Refused:
    """What is answered, and how fast, is the same whether or not there is such a person."""
    _refuse_locked(call, wanted)
    checked: Checked | None = call.prepared
    person, account = call.tx.agents.find(person_id), call.tx.people.account(person_id)
    fits = checked is not None and checked.fits and account is not None
    if not fits or account is None or person is None or account.password_hash != (checked and checked.password_hash):
        return _wrong(call, wanted, person)
    if not person.active:
        return _wrong(call, wanted, person)
    call.context.tries.forgive(sign_in_lockout.PASSWORD, person.id, call.remote or "")
    return _signed_in(call, person, people.OWNER, How.PASSWORD)


def _counters(call: Call, wanted: SignInWith) -> dict[sign_in_lockout.Counter, sign_in_lockout.Rule]:
    """Where wrong passwords are counted, whether or not there is such a person."""
    return sign_in_lockout.counters(sign_in_lockout.PASSWORD, wanted.person_id or "", call.remote)


def _locked(call: Call, wanted: SignInWith) -> int | None:
    """Until when."""
    return call.context.tries.locked_until(_counters(call, wanted), call.now)


def _refuse_locked(call: Call, wanted: SignInWith) -> None:
    until = _locked(call, wanted)
    if until is not None:
        raise Refusal(
            Code.RATE_LIMITED,
            "Too many wrong passwords: sign-in with a password is locked for a while.",
            say(
                "Try again at {time}, or ask an owner for a sign-in link{deed: (…)}.",
                time=iso(until),
                deed=deed("make_sign_in_link", person_id=Blank("ID")),
            ),
        )


def _wrong(call: Call, wanted: SignInWith, person: Agent | None) -> Refused:
    """Answered like a refusal, and not raised: what has happened must stay. Who does not exist leaves no trace."""
    failures, locked = call.context.tries.wrong(_counters(call, wanted), call.now)
    if person is not None:
        data = {"failures": failures, "locked": locked, "remote": call.remote}
        call.event("person.refused", agent_id=person.id, data=data)
    refusal = Refusal(
        Code.INVALID_CREDENTIALS,
        "Wrong user id or password.",
        say(
            "Try again, or ask an owner for a sign-in link{deed: (…)}.",
            deed=deed("make_sign_in_link", person_id=Blank("ID")),
        ),
    )
    return Refused(refusal.answer())


def _inactive(person: Agent) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        say("{person_id} is inactive.", person_id=person.id),
        say("Ask an owner of this server to activate it{deed: (…)}.", deed=deed("activate", agent_id=Blank("ID"))),
    )


def _signed_in(call: Call, person: Agent, at_most: str, how: How, link: Link | None = None) -> SignedIn:
    """A new token and secret, which nobody can have put there before; or, of a browser that has shown both of this very
    person, the same ones: other tabs go on, and the person has proved again who they are.
    """
    if not person.active:
        raise _inactive(person)
    before = _before(call)
    proved_at = call.now if link is None or link.proved_at is None else link.proved_at
    if before is not None and (before.agent_id, before.at_most) == (person.id, at_most):
        until = _until(call, how, link) if _alike(before, how, link) else 0
        return _proved_again(call, person, before, proved_at, until)
    if before is not None:
        credential_revocation.end_sign_in(call, before)
    token, secret = call.new_token(BROWSER), call.new_token(PAGE)
    made = SignIn(
        id=call.new_id(ids.SIGN_IN),
        agent_id=person.id,
        at_most=at_most,
        how=how,
        created_at=call.now,
        expires_at=_until(call, how, link),
        browser=call.browser,
        made_by=link.made_by if link is not None else None,
        made_with=link.made_with if link is not None else None,
        page_hash=digest(secret),
        proved_at=proved_at,
    )
    call.tx.people.add(made, digest(token))
    login = person_roles.capped_role(call, person, at_most)
    call.event("person.signed_in", agent_id=person.id, data={"how": how.value, "login": login})
    return _answer(call, person, made, token, secret)


def _alike(before: SignIn, how: How, link: Link | None) -> bool:
    """Whether the browser was signed in by the same: only then does it stay so for longer."""
    return (before.how, before.made_with) == (how, link.made_with if link is not None else None)


def _proved_again(call: Call, person: Agent, before: SignIn, proved_at: Millis, until: Millis) -> SignedIn:
    now = replace(before, proved_at=max(before.proved_at, proved_at), expires_at=max(before.expires_at, until))
    call.tx.people.proved(now)
    call.event("person.proved", agent_id=person.id)
    return _answer(call, person, now, call.signed_in_before or "", call.page or "")


def _answer(call: Call, person: Agent, sign_in: SignIn, token: str, secret: str) -> SignedIn:
    return {
        "success": True,
        "person_id": person.id,
        "name": person.name,
        "login": person_roles.capped_role(call, person, sign_in.at_most),
        "expires_at": iso(sign_in.expires_at),
        "browser_token": token,
        "page_secret": secret,
    }


def _until(call: Call, how: How, link: Link | None) -> Millis:
    """When the sign-in ends: earlier after an identity provider, so that it is asked again; and after a link no later
    than the token with which the link was made.
    """
    if how is How.OIDC:
        return call.now + call.context.settings.auth.oidc_sign_in_hours * HOUR
    until = call.now + people.SIGN_IN_LIVES
    token = call.tx.people.token(link.made_with) if link is not None and link.made_with is not None else None
    return min(until, token.expires_at) if token is not None and token.expires_at is not None else until


def _before(call: Call) -> SignIn | None:
    """What the browser is signed in by until now."""
    return sign_in_of(call.tx, call.signed_in_before, call.page, call.now)


# --- with an identity provider ---------------------------------------------------------------------------------------


class Ways(Result):
    password: bool
    provider: str | None


@operation("ways_to_sign_in", grant=Grant.OPEN, route=Route("GET", "/sign-in"), tool=False, reads=True)
def ways_to_sign_in(call: Call, _: NoParameters) -> Ways:
    """How people may sign in here: with a password, with an identity provider (its host); a link is always a way."""
    auth = call.context.settings.auth
    provider = urlsplit(auth.oidc_issuer).netloc if auth.oidc_issuer else None
    return {"success": True, "password": auth.people == "accounts", "provider": provider}


def leave_for_provider(call: Call, state: str) -> None:
    """A browser leaves for the identity provider, and comes back with `state`."""
    call.tx.people.depart(digest(state), call.now + people.LEAVING_LIVES)


def come_back_from_provider(call: Call, state: str) -> None:
    """A browser comes back from the identity provider, once."""
    if not call.tx.people.come_back(digest(state), call.now):
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This sign-in has expired or was already used. It works once, for ten minutes.",
            say("Sign in again{open:: … prints a sign-in link}.", open=LEFT_OUT),
        )


class Arrived(Result):
    person_id: str
    code: str


def arrive(call: Call, wanted: provider_accounts.Vouched, page: str) -> Arrived | Refused:
    """The code with which the page signs in the person that the identity provider has confirmed.

    It is worth something only together with `page`, which the page that left has kept: the browser can be led here with
    the answer for somebody else.
    """
    if wanted.issuer != call.context.settings.auth.oidc_issuer:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "The sign-in was not started with the identity provider of this server.",
            say("Sign in again{open:: … prints a sign-in link}.", open=LEFT_OUT),
        )
    call.tx.lock_everything()
    account = provider_accounts.known_account(call, wanted) or provider_accounts.newcomer(call, wanted)
    login = provider_accounts.role_now(call, wanted, account)
    if login is None:
        # Nothing of what they have signed in with or made opens anything. Answered, not raised: this must stay.
        person = call.known_agent(account.agent_id)
        credential_revocation.change_role(call, replace(account, password_hash=None), people.VIEWER)
        credential_revocation.end_all(call, person.id)
        call.event("person.refused", agent_id=person.id, data={"reason": "no_role_at_provider", "remote": call.remote})
        return Refused(provider_accounts.not_yet(wanted).answer())
    if login != account.login:
        credential_revocation.change_role(call, account, login)
    code = call.new_token("")
    made = Link(
        agent_id=account.agent_id,
        at_most=people.OWNER,
        expires_at=call.now + people.ARRIVING_LIVES,
        how=How.OIDC,
        proved_at=min(wanted.signed_in_at or 0, call.now),
    )
    call.tx.people.add_link(made, digest(f"{page}.{code}"))
    return {"success": True, "person_id": account.agent_id, "code": code}


# --- leaving ---------------------------------------------------------------------------------------------------------


class SignedOut(Result):
    ended: int


@operation(
    "sign_out",
    grant=Grant.PERSON,
    route=Route("POST", "/sign-out"),
    tool=False,
)
def sign_out(call: Call, _: NoParameters) -> SignedOut:
    """Sign out this browser. Its session stops working."""
    found = call.tx.people.sign_in(call.caller.sign_in_id) if call.caller.sign_in_id else None
    if found is not None and found.ended_at is None:
        credential_revocation.end_sign_in(call, found)
        call.tx.people.drop_links(call.agent.id)
    return {"success": True, "ended": int(found is not None)}


class SignIns(Page):
    sign_ins: list[schemas.SignIn]


@operation(
    "list_sign_ins",
    grant=Grant.PERSON,
    parameters=Paged,
    route=Route("GET", "/sign-ins"),
    tool=False,
    reads=True,
)
def list_sign_ins(call: Call, wanted: Paged) -> SignIns:
    """Your browsers that are signed in."""
    live = [each for each in call.tx.people.sign_ins_of(call.agent.id) if each.live(call.now)]
    found, more = cut(live, wanted, lambda each: each.id)
    answer: SignIns = {"success": True, "sign_ins": [_as_answer(call, each) for each in found]}
    return paged(answer, more)


def _as_answer(call: Call, each: SignIn) -> schemas.SignIn:
    return {
        "sign_in_id": each.id,
        "login": person_roles.capped_role(call, call.agent, each.at_most),
        "how": each.how.value,
        "browser": each.browser,
        "created_at": iso(each.created_at),
        "expires_at": iso(each.expires_at),
        "this_one": each.id == call.caller.sign_in_id,
    }


class OneSignIn(Parameters):
    sign_in_id: Id = Field(description="Which one.")


@operation(
    "end_sign_in",
    grant=Grant.PERSON,
    parameters=OneSignIn,
    route=Route("DELETE", "/sign-ins/{sign_in_id}"),
    tool=False,
)
def end_sign_in(call: Call, wanted: OneSignIn) -> SignedOut:
    """Sign one of your browsers out (owners: anybody's)."""
    found = call.tx.people.sign_in(wanted.sign_in_id)
    mine = found is not None and (found.agent_id == call.agent.id or call.caller.login is Login.OWNER)
    if found is None or not mine:
        raise Refusal(
            Code.SESSION_NOT_FOUND,
            say("There is no sign-in {sign_in_id}.", sign_in_id=wanted.sign_in_id),
            "List yours for their ids.",
        )
    if found.ended_at is None:
        credential_revocation.end_sign_in(call, found)
        credential_revocation.drop_links(call, found.agent_id)
    return {"success": True, "ended": int(found.ended_at is None)}
