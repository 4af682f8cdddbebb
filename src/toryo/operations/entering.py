"""People come in and leave: one-time links, passwords, identity providers; who is signed in where.

Agents never come in here. Who there is, and as what, stands in `accounts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

import toryo
from toryo.domain import ids, people
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.people import Account, How, SignIn
from toryo.domain.times import HOUR, iso
from toryo.domain.wording import constant, say
from toryo.operations import nouns, passwords, roles
from toryo.operations.call import Call
from toryo.operations.catalogue import NoParameters, Parameters, Route, operation
from toryo.operations.identity import BROWSER, digest
from toryo.operations.paging import Page, Paged, cut
from toryo.operations.passwords import Checked
from toryo.operations.permissions import Grant, Login
from toryo.operations.results import Result

Id = Annotated[str, Field(min_length=1, max_length=64)]
Role = Literal["owner", "member", "viewer"]


class Myself(Result):
    person_id: str
    name: str
    login: str
    version: str
    signed_in_by: str | None


@operation(
    "who_am_i",
    grant=Grant.PERSON,
    result=Myself,
    route=Route("GET", "/me"),
    tool=False,
    reads=True,
)
def who_am_i(call: Call, _: NoParameters) -> dict[str, Any]:
    """Who is signed in here, and as what."""
    person, login = call.agent, call.caller.login
    sign_in = call.tx.people.sign_in(call.caller.sign_in_id) if call.caller.sign_in_id else None
    return {
        "success": True,
        "person_id": person.id,
        "name": person.name,
        "login": (login or Login.VIEWER).value,
        "version": toryo.__version__,
        "signed_in_by": sign_in.how.value if sign_in is not None else None,
    }


# --- coming in -------------------------------------------------------------------------------------------------------


class MakeLink(Parameters):
    person_id: Id | None = Field(None, description="For whom, if not for you; owners only.")
    login: Role | None = Field(None, description="As what at most: owner, member or viewer. Default: as they are.")


class LinkMade(Result):
    code: str
    path: str
    expires_at: str


@operation(
    "make_sign_in_link",
    grant=Grant.PERSON,
    parameters=MakeLink,
    result=LinkMade,
    route=Route("POST", "/sign-in-links", 201),
    tool=False,
)
def make_sign_in_link(call: Call, wanted: MakeLink) -> dict[str, Any]:
    """Make a link that signs a browser in, once, within ten minutes."""
    person = _for_whom(call, wanted.person_id)
    own = people.OWNER if person.id != call.agent.id else roles.of_caller(call).value
    role = roles.capped(call, person, wanted.login or own)
    code = call.new_token("")
    expires_at = call.now + people.LINK_LIVES
    call.tx.people.add_link(digest(code), person.id, wanted.login or own, expires_at)
    call.event("person.link_made", agent_id=person.id, data={"login": role})
    return {"success": True, "code": code, "path": f"/sign-in#{code}", "expires_at": iso(expires_at)}


def _for_whom(call: Call, person_id: str | None) -> Agent:
    if person_id is None or person_id == call.agent.id:
        return call.agent
    if call.caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Links for others are made by owners.",
            "Leave person_id out, or ask an owner of this server.",
        )
    person = roles.person(call, person_id)
    if not person.active:
        raise _inactive(person)
    return person


class SignInWith(Parameters):
    code: str | None = Field(None, min_length=1, max_length=200, description="From a link.")
    person_id: Id | None = Field(None, description="Who you are.")
    password: SecretStr | None = Field(None, max_length=people.LONGEST_PASSWORD, description="Your password.")


class SignedIn(Result):
    person_id: str
    name: str
    login: str
    expires_at: str
    browser_token: str


def _look_at_password(call: Call, wanted: SignInWith) -> Callable[[], Checked] | None:
    """The password is verified outside of the transaction; not at all while somebody is locked out."""
    if wanted.code is not None or wanted.person_id is None or wanted.password is None or _locked(call, wanted):
        return None
    account, password = call.tx.people.account(wanted.person_id), wanted.password.get_secret_value()
    return partial(passwords.check, account.password_hash if account is not None else None, password)


@operation(
    "sign_in",
    grant=Grant.OPEN,
    parameters=SignInWith,
    result=SignedIn,
    route=Route("POST", "/sign-in"),
    tool=False,
    beforehand=_look_at_password,
)
def sign_in(call: Call, wanted: SignInWith) -> dict[str, Any]:
    """Sign this browser in, with the code of a link, or a person's id and password."""
    if wanted.code is not None:
        return _with_code(call, wanted.code)
    if wanted.person_id is None or wanted.password is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "Neither a code nor a person's id and password were given.",
            "Open the link that toryo open prints, or send person_id and password.",
        )
    if call.context.settings.auth.people == "tokens":
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Nobody signs in to this server with a password.",
            "Get a link: toryo open, with your token. (Its owner has set TORYO_AUTH__PEOPLE=tokens.)",
        )
    return _with_password(call, wanted, wanted.person_id)


def _with_code(call: Call, code: str) -> dict[str, Any]:
    found = call.tx.people.use_link(digest(code), call.now)
    if found is None:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This link is not valid: it opens once, within ten minutes.",
            "Get another one: toryo open.",
        )
    return _signed_in(call, call.known_agent(found[0]), found[1], How.LINK)


def _with_password(call: Call, wanted: SignInWith, person_id: str) -> dict[str, Any]:
    """What is answered, and how fast, is the same whether or not there is such a person."""
    _refuse_locked(call, wanted)
    checked: Checked | None = call.prepared
    person, account = call.tx.agents.find(person_id), call.tx.people.account(person_id)
    fits = checked is not None and checked.fits and account is not None
    if not fits or account is None or person is None or account.password_hash != (checked and checked.password_hash):
        return _wrong(call, wanted, person)
    if not person.active:
        return _wrong(call, wanted, person)
    call.tx.agents.forgive(f"password:{person.id}")
    return _signed_in(call, person, people.OWNER, How.PASSWORD)


def _counters(call: Call, wanted: SignInWith) -> list[tuple[str, int]]:
    """Where wrong passwords are counted, and how many are too many there."""
    of_person = (f"password:{wanted.person_id}", people.TRIES)
    return [of_person, (f"address:{call.remote}", people.TRIES_OF_ADDRESS)] if call.remote else [of_person]


def _locked(call: Call, wanted: SignInWith) -> int | None:
    """Until when."""
    found = (call.tx.agents.failures(name) for name, _ in _counters(call, wanted))
    return max((each[2] for each in found if each and each[2] is not None and call.now < each[2]), default=None)


def _refuse_locked(call: Call, wanted: SignInWith) -> None:
    until = _locked(call, wanted)
    if until is not None:
        raise Refusal(
            Code.RATE_LIMITED,
            "Too many wrong passwords: signing in with one is locked for a while.",
            say("Try again at {time}, or ask an owner for a link (toryo person link ID).", time=iso(until)),
        )


def _wrong(call: Call, wanted: SignInWith, person: Agent | None) -> dict[str, Any]:
    """Answered like a refusal, and not raised: what is counted must stay."""
    call.tx.lock_everything()
    counted = [_count(call, name, most) for name, most in _counters(call, wanted)]
    data = {"failures": counted[0][0], "locked": any(locked for _, locked in counted), "remote": call.remote}
    call.event("person.refused", agent_id=person.id if person is not None else None, data=data)
    return Refusal(
        Code.INVALID_CREDENTIALS,
        "Person and password do not fit together.",
        "Try again, or ask an owner for a link (toryo person link ID).",
    ).answer()


def _count(call: Call, name: str, most: int) -> tuple[int, bool]:
    first, before, _ = call.tx.agents.failures(name) or (call.now, 0, None)
    if call.now - first > HOUR:
        first, before = call.now, 0
    locked = call.now + people.LOCKED_FOR if before + 1 >= most else None
    call.tx.agents.fail(name, first, 0 if locked else before + 1, locked)
    return before + 1, locked is not None


def _inactive(person: Agent) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        say("{person_id} is inactive.", person_id=person.id),
        "Ask an owner of this server (toryo agent activate).",
    )


def _signed_in(call: Call, person: Agent, at_most: str, how: How) -> dict[str, Any]:
    """Always a new token: nobody can have put one there before."""
    if not person.active:
        raise _inactive(person)
    _end_earlier(call)
    token = call.new_token(BROWSER)
    made = SignIn(
        id=call.new_id(ids.SIGN_IN),
        agent_id=person.id,
        at_most=at_most,
        how=how,
        created_at=call.now,
        expires_at=call.now + people.SIGN_IN_LIVES,
        browser=call.browser[:300] if call.browser else None,
    )
    call.tx.people.add(made, digest(token))
    login = roles.capped(call, person, at_most)
    call.event("person.signed_in", agent_id=person.id, data={"how": how.value, "login": login})
    return {
        "success": True,
        "person_id": person.id,
        "name": person.name,
        "login": login,
        "expires_at": iso(made.expires_at),
        "browser_token": token,
    }


def _end_earlier(call: Call) -> None:
    """A browser is signed in once: whoever signs in anew with it leaves nothing behind that opens a door."""
    before = call.tx.people.by_token(digest(call.signed_in_before)) if call.signed_in_before else None
    if before is not None and before.live(call.now):
        _end(call, before)


def _end(call: Call, sign_in: SignIn) -> None:
    call.tx.people.end(sign_in, call.now)
    call.event("person.signed_out", agent_id=sign_in.agent_id)


# --- with an identity provider ---------------------------------------------------------------------------------------


class Ways(Result):
    password: bool
    provider: str | None


@operation("ways_to_sign_in", grant=Grant.OPEN, result=Ways, route=Route("GET", "/sign-in"), tool=False, reads=True)
def ways_to_sign_in(call: Call, _: NoParameters) -> dict[str, Any]:
    """How people may sign in here: with a password, with an identity provider (its host); a link is always a way."""
    auth = call.context.settings.auth
    provider = urlsplit(auth.oidc_issuer).netloc if auth.oidc_issuer else None
    return {"success": True, "password": auth.people == "accounts", "provider": provider}


class Departure(Parameters):
    state: str = Field(min_length=1, max_length=200, description="With which the browser comes back.")


class Departed(Result):
    pass


@operation("leave_for_provider", grant=Grant.OPEN, parameters=Departure, result=Departed, tool=False)
def leave_for_provider(call: Call, wanted: Departure) -> dict[str, Any]:
    """A browser goes to the identity provider. Only the server itself calls this: no door leads here.

    Who comes back from there brings no strict cookie along, so what the browser was signed in by ends here.
    """
    _end_earlier(call)
    call.tx.people.depart(digest(wanted.state), call.now + people.LEAVING_LIVES)
    return {"success": True}


@operation("come_back_from_provider", grant=Grant.OPEN, parameters=Departure, result=Departed, tool=False)
def come_back_from_provider(call: Call, wanted: Departure) -> dict[str, Any]:
    """It comes back, once. As above, no door leads here."""
    if not call.tx.people.come_back(digest(wanted.state), call.now):
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This way back from the identity provider is not open (any more): it opens once, within ten minutes.",
            "Sign in again.",
        )
    return {"success": True}


class Vouched(Parameters):
    """Who somebody is, as a verified id_token says."""

    issuer: str = Field(max_length=1000, description="Who says so.")
    subject: str = Field(min_length=1, max_length=1000, description="Its name for the person.")
    email: str | None = Field(None, max_length=320, description="Their verified address.")
    name: str | None = Field(None, max_length=200, description="What they are called.")
    login: Role | None = Field(None, description="The role that the provider gives.")


@operation("sign_in_vouched", grant=Grant.OPEN, parameters=Vouched, result=SignedIn, tool=False)
def sign_in_vouched(call: Call, wanted: Vouched) -> dict[str, Any]:
    """Sign in whom the identity provider vouches for. As above, no door leads here."""
    call.tx.lock_everything()
    account = _known_to_provider(call, wanted) or _newcomer(call, wanted)
    if wanted.login is not None and wanted.login != account.login:
        account = replace(account, login=wanted.login, changed_at=call.now)
        call.tx.people.put(account)
        roles.renewed(call, call.known_agent(account.agent_id))
        call.event("person.changed", agent_id=account.agent_id, data={"login": wanted.login})
    return _signed_in(call, call.known_agent(account.agent_id), people.OWNER, How.OIDC)


def _known_to_provider(call: Call, wanted: Vouched) -> Account | None:
    """By the provider's own name for them; at first by the address that an owner has given."""
    subject = f"{wanted.issuer}#{wanted.subject}"
    account = call.tx.people.by_subject(subject)
    if account is None and wanted.email:
        expected = call.tx.people.by_subject(roles.mailto(wanted.email))
        if expected is not None:
            account = replace(expected, subject=subject, changed_at=call.now)
            call.tx.people.put(account)
    return account


def _newcomer(call: Call, wanted: Vouched) -> Account:
    """Somebody whom nobody has added: made with the role of the provider, or that of the settings."""
    default = call.context.settings.auth.oidc_default_role
    login = wanted.login or (default if default != "none" else None)
    if login is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{who} may not sign in here yet.", who=wanted.email or wanted.name or constant("You")),
            "Ask an owner of this server: toryo person add ID --role member --email ADDRESS.",
        )
    person = roles.make_person(call, _free_id(call, wanted), wanted.name, login)
    account = Account(person.id, login, subject=f"{wanted.issuer}#{wanted.subject}", changed_at=call.now)
    call.tx.people.put(account)
    return account


def _free_id(call: Call, wanted: Vouched) -> str:
    """From their address or name; never that of somebody who is there: names prove nothing."""
    told = (wanted.email or wanted.name or "").partition("@")[0].lower()
    base = re.sub(r"[^a-z0-9._-]+", "-", told).strip("-._")[:50] or "person"
    candidates = [base, *(f"{base}-{number}" for number in range(2, 100))]
    return next((each for each in candidates if call.tx.agents.find(each) is None), call.new_id(ids.AGENT))


# --- leaving ---------------------------------------------------------------------------------------------------------


class SignedOut(Result):
    ended: int


@operation(
    "sign_out",
    grant=Grant.PERSON,
    result=SignedOut,
    route=Route("POST", "/sign-out"),
    tool=False,
)
def sign_out(call: Call, _: NoParameters) -> dict[str, Any]:
    """This browser is not signed in any more; what it was signed in by opens nothing from now on."""
    found = call.tx.people.sign_in(call.caller.sign_in_id) if call.caller.sign_in_id else None
    if found is not None and found.ended_at is None:
        _end(call, found)
    return {"success": True, "ended": int(found is not None)}


class SignIns(Page):
    sign_ins: list[nouns.SignIn]


@operation(
    "list_sign_ins",
    grant=Grant.PERSON,
    parameters=Paged,
    result=SignIns,
    route=Route("GET", "/sign-ins"),
    tool=False,
    reads=True,
)
def list_sign_ins(call: Call, wanted: Paged) -> dict[str, Any]:
    """Your browsers that are signed in."""
    live = [each for each in call.tx.people.sign_ins_of(call.agent.id) if each.live(call.now)]
    found, more = cut(live, wanted, lambda each: each.id)
    return {"success": True, "sign_ins": [_shown(call, each) for each in found], **more}


def _shown(call: Call, each: SignIn) -> dict[str, Any]:
    return {
        "sign_in_id": each.id,
        "login": roles.capped(call, call.agent, each.at_most),
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
    result=SignedOut,
    route=Route("DELETE", "/sign-ins/{sign_in_id}"),
    tool=False,
)
def end_sign_in(call: Call, wanted: OneSignIn) -> dict[str, Any]:
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
        _end(call, found)
    return {"success": True, "ended": int(found.ended_at is None)}
