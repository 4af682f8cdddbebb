"""People's accounts: roles and passwords. Managed by owners."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Literal, NotRequired

from pydantic import Field, SecretStr
from typing_extensions import TypedDict

from toryo.deeds import Blank, deed, terminal
from toryo.domain import ids, passwords, people
from toryo.domain.agents import OWNER_ID, Agent, Status
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.people import Account
from toryo.domain.wording import say
from toryo.operations.calls import sign_in_lockout
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.fields import Id, Name
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.optimistic_concurrency import refuse_stale
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.directory import person_roles, wider_rights
from toryo.operations.launches import agent_dismissal
from toryo.operations.people import credential_revocation, password_hashing
from toryo.operations.people.password_hashing import Checked

Role = Literal["owner", "member", "viewer"]
Email = Annotated[str, Field(min_length=3, max_length=320, pattern=r"^[^@\s]+@[^@\s]+$")]


class Person(TypedDict):
    """Everybody sees who there is; the rest, how they sign in, is shown to owners and themselves."""

    person_id: str
    name: str
    login: Login
    active: bool
    version: int
    projects: NotRequired[list[str]]
    password: NotRequired[bool]
    provider: NotRequired[bool]
    email: NotRequired[str | None]
    browsers: NotRequired[int]
    tokens: NotRequired[int]


class PersonResult(Result):
    person: Person


def _as_answer(call: Call, person: Agent) -> Person:
    account = call.tx.people.account(person.id)
    shown: Person = {
        "person_id": person.id,
        "name": person.name,
        "login": Login(people.role_of(person, account)),
        "active": person.active,
        "version": person.version,
    }
    if call.caller.login is not Login.OWNER and person.id != call.agent.id:
        return shown
    subject = account.subject if account is not None else None
    return {
        **shown,
        "projects": list(call.tx.agents.projects_of(person.id)),
        "password": account is not None and account.password_hash is not None,
        "provider": subject is not None and not subject.startswith(people.MAILTO),
        "email": account.email if account is not None else None,
        "browsers": sum(sign_in.live(call.now) for sign_in in call.tx.people.sign_ins_of(person.id)),
        "tokens": sum(token.live(call.now) for token in call.tx.people.tokens_of(person.id)),
    }


class People(Page):
    people: list[Person]


@operation(
    "list_people",
    grant=Grant.PERSON,
    parameters=Paged,
    route=Route("GET", "/people"),
    tool=False,
    reads=True,
)
def list_people(call: Call, wanted: Paged) -> People:
    """The people of this server, and what they may do."""
    everybody = [each for each in call.tx.agents.all() if each.human and each.active]
    found, more = cut(everybody, wanted, lambda each: each.id)
    answer: People = {"success": True, "people": [_as_answer(call, each) for each in found]}
    return paged(answer, more)


class AddPerson(Parameters):
    person_id: Id = Field(description="Their id: 1-64 of a-z 0-9 . _ -")
    login: Role = Field(description="owner: everything; member: in their projects; viewer: reads.")
    name: Name | None = Field(None, description="What they are called; default: the id.")
    email: Email | None = Field(None, description="By which they are known at their first sign-in with a provider.")
    projects: list[Id] = Field(default_factory=list, max_length=200, description="The projects they belong to.")


@operation(
    "add_person",
    grant=Grant.OWNER,
    parameters=AddPerson,
    route=Route("POST", "/people", 201),
    tool=False,
    proof=Proof.ALWAYS,
)
def add_person(call: Call, wanted: AddPerson) -> PersonResult:
    """Add somebody. They sign in with a link, a password that you give them, or an identity provider."""
    call.tx.lock_everything()
    person_id = ids.chosen(wanted.person_id)
    if (existing := call.tx.agents.find(person_id)) is not None:
        raise person_roles.id_taken(existing)
    for each in wanted.projects:
        call.project(each)
    person = person_roles.make_person(call, person_id, wanted.name, wanted.login)
    _put(call, Account(person.id, wanted.login, own_login=wanted.login), wanted.email)
    for each in wanted.projects:
        call.tx.agents.join(each, person.id, call.now)
        call.event("project.member_added", project_id=each, agent_id=person.id)
    call.event("person.added", agent_id=person.id, data={"login": wanted.login})
    call.tx.hint(WORK)
    return {"success": True, "person": _as_answer(call, person)}


def _put(call: Call, account: Account, email: str | None) -> None:
    """Stores it; two people cannot be known by the same address."""
    subject = person_roles.mailto(email) if email is not None else account.subject
    other = call.tx.people.by_subject(subject) if subject is not None else None
    if other is not None and other.agent_id != account.agent_id:
        raise Refusal(
            Code.CONFLICT,
            say("{agent_id} already has this e-mail address.", agent_id=other.agent_id),
            say(
                "Choose another address, or change theirs first{deed:: …|.}",
                deed=deed("change_person", person_id=Blank("ID"), email=Blank("ADDRESS")),
            ),
            existing_id=other.agent_id,
        )
    address = people.address(email) if email is not None else account.email
    call.tx.people.put(replace(account, subject=subject, email=address, changed_at=call.now))


class ChangePerson(Parameters):
    person_id: Id = Field(description="Who.")
    login: Role | None = Field(None, description="What they may do from now on.")
    name: Name | None = Field(None, description="What they are called.")
    email: Email | None = Field(
        None, description="By which a provider knows them, from their next sign-in on; null: none."
    )
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")


@operation(
    "change_person",
    grant=Grant.OWNER,
    parameters=ChangePerson,
    route=Route("PATCH", "/people/{person_id}"),
    tool=False,
    proof=Proof.WHERE_WIDER,
)
def change_person(call: Call, wanted: ChangePerson) -> PersonResult:
    """Change what a person may do, at once and everywhere they are signed in, or what they are called."""
    if wanted.email is not None:
        call.prove()  # who has that address at the identity provider is this person from now on
    call.tx.lock_everything()
    person = person_roles.person(call, wanted.person_id)
    refuse_stale(wanted.version, person.version)
    before = call.tx.people.account(person.id)
    login = wanted.login or people.role_of(person, before)
    _keep_first_owner(person, login)
    account = before or Account(person.id, login, own_login=login)
    if wanted.email is None and "email" in wanted.model_fields_set:
        account = account.without_address()
    _put(call, replace(account, login=login, own_login=wanted.login or account.own_login), wanted.email)
    credential_revocation.lose_ownership(call, person.id, people.role_of(person, before), login)
    person = person_roles.renewed(call, person, name=(wanted.name or person.name).strip())
    call.event(
        "person.changed", agent_id=person.id, data=wider_rights.told_of_login(people.role_of(person, before), login)
    )
    return {"success": True, "person": _as_answer(call, person)}


def _keep_first_owner(person: Agent, login: str | None) -> None:
    if person.id == OWNER_ID and login != people.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{owner} must stay an owner: it is the owner of the data directory.", owner=OWNER_ID),
            say(
                "For people who need fewer rights, add others{deed:: …|.}",
                deed=deed("invite", person_id=Blank("ID"), login="member"),
            ),
        )


class OnePerson(Parameters):
    person_id: Id = Field(description="Who.")


class Removed(Result):
    person_id: str
    signed_out: int
    tokens_revoked: int


@operation(
    "remove_person",
    grant=Grant.OWNER,
    parameters=OnePerson,
    route=Route("DELETE", "/people/{person_id}"),
    tool=False,
)
def remove_person(call: Call, wanted: OnePerson) -> Removed:
    """Remove a person: their browsers, tokens, links and password stop working. Their history stays."""
    call.tx.lock_everything()
    person = person_roles.person(call, wanted.person_id)
    _keep_first_owner(person, None)
    lost = credential_revocation.end_all(call, person.id)
    call.tx.people.drop(person.id)
    if person.active:
        ended = replace(person, status=Status.INACTIVE, deactivated_at=call.now, updated_at=call.now)
        call.tx.agents.save(person, replace(ended, version=person.version + 1))
        call.event("agent.deactivated", agent_id=person.id, data={"fields": []})
    agent_dismissal.dismiss(call, person)
    call.event("person.removed", agent_id=person.id)
    call.tx.hint(WORK)
    return {
        "success": True,
        "person_id": person.id,
        "signed_out": lost.browsers,
        "tokens_revoked": lost.tokens,
    }


# --- passwords -------------------------------------------------------------------------------------------------------


class SetPassword(Parameters):
    person_id: Id = Field(description="Whose.")
    password: SecretStr = Field(max_length=passwords.LONGEST_PASSWORD, description="The new one.")
    old_password: SecretStr | None = Field(
        None, max_length=passwords.LONGEST_PASSWORD, description="The present one, if it is yours and you have one."
    )
    login: Role | None = Field(None, description="What they may do from now on; owners only.")


class PasswordSet(Result):
    person_id: str
    login: Login
    signed_out: int


def _look_at_password(call: Call, wanted: SetPassword) -> Callable[[], Checked] | None:
    """Hashed outside of the transaction. Who may not is refused before anything is worked out."""
    _refuse_foreign(call, wanted)
    account = call.tx.people.account(wanted.person_id)
    old = wanted.old_password.get_secret_value() if wanted.old_password is not None else None
    present = account.password_hash if account is not None else None
    return partial(password_hashing.check_and_hash, present, old, wanted.password.get_secret_value())


@operation(
    "set_password",
    grant=Grant.PERSON,
    parameters=SetPassword,
    route=Route("PUT", "/people/{person_id}/password"),
    tool=False,
    proof=Proof.ALWAYS,
    beforehand=_look_at_password,
)
def set_password(call: Call, wanted: SetPassword) -> PasswordSet:
    """Give a person a password: yourself, or as an owner anybody. Their other browsers are signed out."""
    call.tx.lock_everything()
    _refuse_foreign(call, wanted)
    person = person_roles.person(call, wanted.person_id)
    passwords.refuse_weak(wanted.password.get_secret_value())
    before = call.tx.people.account(person.id)
    if call.prepared is None or call.prepared.password_hash != (before.password_hash if before is not None else None):
        raise Refusal(
            Code.CONFLICT, "Someone else set this password at the same time.", "Check it, and set it again if needed."
        )
    checked = call.prepared
    # Another user of the same browser must not take the account over; the server's own token may.
    mine = person.id == call.agent.id and (call.caller.sign_in_id is not None or call.caller.access_token is not None)
    if mine and before is not None and before.password_hash is not None and not checked.fits:
        raise Refusal(Code.INVALID_CREDENTIALS, "The current password is incorrect.", "Pass it as old_password.")
    login = wanted.login or people.role_of(person, before)
    _keep_first_owner(person, login)
    account = before or Account(person.id, login, own_login=login)
    own = wanted.login or account.own_login
    call.tx.people.put(
        replace(account, login=login, own_login=own, password_hash=checked.new_hash, changed_at=call.now)
    )
    person_roles.renewed(call, person)
    call.context.tries.forgive(sign_in_lockout.PASSWORD, person.id)
    signed_out = credential_revocation.end_sign_ins(call, person.id, call.caller.sign_in_id).browsers
    credential_revocation.lose_ownership(call, person.id, people.role_of(person, before), login)
    told = wider_rights.told_of_login(people.role_of(person, before), login)
    call.event("person.password_set", agent_id=person.id, data=told)
    return {"success": True, "person_id": person.id, "login": Login(login), "signed_out": signed_out}


def _refuse_foreign(call: Call, wanted: SetPassword) -> None:
    """A browser or token that is worth less than its person must not make itself worth more."""
    owner = call.caller.login is Login.OWNER
    if not owner and (wanted.person_id != call.agent.id or wanted.login is not None):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only owners can set the passwords and roles of others.",
            "Set your own by omitting login, or ask an owner of this server.",
        )
    if not owner and not person_roles.is_whole(call):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say(
                "You are signed in as {role}, with fewer rights than your account has.",
                role=person_roles.of_caller(call),
            ),
            say("Sign in with your full rights{open: (…)}, then set it.", open=terminal("open")),
        )


def somebody_can_sign_in(call: Call) -> bool:
    """Whether there is a way in that needs nothing of the server's machine: a password, or an identity provider."""
    if call.context.settings.auth.oidc_issuer is not None:
        return True
    with_password = [account.agent_id for account in call.tx.people.accounts() if account.password_hash is not None]
    return any(agent.active for agent in call.tx.agents.find_all(with_password))
