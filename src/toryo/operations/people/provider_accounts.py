"""The accounts of people who sign in with an identity provider: the one they have, the one that is made for a newcomer
at the first sign-in, and the role that it gives now.

The sign-in itself is in `browser_sign_in.py`; accounts that owners make are in `accounts.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toryo import chosen_ids
from toryo.deeds import Blank, deed
from toryo.domain import ids, people
from toryo.domain.agents import OWNER_ID
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.people import Account
from toryo.domain.times import Millis
from toryo.domain.wording import constant, say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.directory import person_roles


class Vouched(Parameters):
    """Who somebody is, as a verified id_token says: strangers' words, judged as those of any caller."""

    issuer: str = Field(max_length=1000)
    subject: str = Field(min_length=1, max_length=1000)
    """The provider's name for the person."""
    email: str | None = Field(None, max_length=320)
    """Their verified address."""
    name: str | None = Field(None, max_length=200)
    login: Literal["owner", "member", "viewer"] | None = None
    """The role that the provider gives."""
    signed_in_at: Millis | None = None
    """When they gave the provider their password, or whatever it asks for; None: it does not say."""


def known_account(call: Call, wanted: Vouched) -> Account | None:
    """By the provider's own name for them; at first by the address that an owner has given."""
    subject = f"{wanted.issuer}#{wanted.subject}"
    account = call.tx.people.by_subject(subject)
    if account is None and wanted.email:
        account = call.tx.people.by_subject(person_roles.mailto(wanted.email))
    if account is None:
        return None
    current = replace(account, subject=subject, email=wanted.email or account.email)
    if current != account:
        call.tx.people.put(replace(current, changed_at=call.now))
    return current


def newcomer(call: Call, wanted: Vouched) -> Account:
    """Creates an account for an unknown person, with the provider's role or the default of the settings."""
    default = call.context.settings.auth.oidc_default_role
    login = wanted.login or (default if default != "none" else None)
    if login is None:
        raise not_yet(wanted)
    person = person_roles.make_person(call, _free_id(call, wanted), wanted.name, login)
    account = Account(
        person.id, login, subject=f"{wanted.issuer}#{wanted.subject}", email=wanted.email, changed_at=call.now
    )
    call.tx.people.put(account)
    return account


_LONGEST_BASE = 50
"""Characters of an id to which a number may be added."""


def _free_id(call: Call, wanted: Vouched) -> str:
    """From their address or name; never that of somebody who is there: names prove nothing."""
    told = (wanted.email or wanted.name or "").partition("@")[0]
    base = chosen_ids.made_of(told, "person", _LONGEST_BASE)
    candidates = [base, *(f"{base}-{number}" for number in range(2, 100))]
    return next(
        (candidate for candidate in candidates if call.tx.agents.find(candidate) is None), call.new_id(ids.AGENT)
    )


def role_now(call: Call, wanted: Vouched, account: Account) -> str | None:
    """The role from the provider; if it gives this person none, the role that an owner set, or the default.

    None: the provider has withdrawn the role and no owner has set one. The first owner always stays an owner, because
    access to the data directory gives that role anyway.
    """
    auth = call.context.settings.auth
    if account.agent_id == OWNER_ID:
        return people.OWNER
    if wanted.login is not None:
        return wanted.login
    if auth.oidc_role_claim is None:
        return account.login
    default = auth.oidc_default_role
    return account.own_login or (default if default != "none" else None)


def not_yet(wanted: Vouched) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        say("{who} is not allowed to sign in here.", who=wanted.email or wanted.name or constant("You")),
        say(
            "Ask for a role at your identity provider, or ask an owner of this server to add you{deed:: …|.}",
            deed=deed("invite", person_id=Blank("ID"), login="member", email=Blank("ADDRESS")),
        ),
    )
