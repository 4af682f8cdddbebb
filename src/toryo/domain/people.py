"""How people sign in: with a one-time link, a password, or an identity provider; and what their tokens may at most.

A person's role stands in one place (their account); links, browsers and tokens may be worth less, never more. What a
role opens stands elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from toryo.domain.agents import Agent, Role
from toryo.domain.times import DAY, MINUTE, Millis

LINK_LIVES: Millis = 10 * MINUTE
SIGN_IN_LIVES: Millis = 14 * DAY
"""A browser is signed in for so long, whatever it does; then it signs in again."""
LEAVING_LIVES: Millis = 10 * MINUTE
"""Whoever went to the identity provider comes back within so long."""
KEPT_FOR: Millis = 30 * DAY
"""Sign-ins that are over are remembered for so long."""

OWNER, MEMBER, VIEWER = "owner", "member", "viewer"
MAILTO = "mailto:"
"""Begins a `subject` that is only an address."""
_RANKS = {VIEWER: 0, MEMBER: 1, OWNER: 2}


class How(StrEnum):
    LINK = "link"
    PASSWORD = "password"  # noqa: S105 - the name of a way, not a secret
    OIDC = "oidc"


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser of one person."""

    id: str
    agent_id: str
    at_most: str
    """What the browser may do: the person's role, but never more than this one."""
    how: How
    created_at: Millis
    expires_at: Millis
    ended_at: Millis | None = None
    browser: str | None = None
    """What it calls itself (User-Agent)."""
    made_by: str | None = None
    """The person who made the link that it opened."""
    made_with: str | None = None
    """The token at the bottom of that link: the browser is signed out with it."""

    def live(self, now: Millis) -> bool:
        return self.ended_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Account:
    """`login` is the person's role: owner, member or viewer.

    `subject` is how an identity provider knows the person, or (`mailto:…`) the address by which it will at first.
    """

    agent_id: str
    login: str
    own_login: str | None = None
    """The role that an owner gave; without one, whatever the person may do is the identity provider's to say."""
    password_hash: str | None = None
    subject: str | None = None
    email: str | None = None
    """The address that an owner or, verified, the identity provider has given. Merges bear it."""
    changed_at: Millis = 0

    def without_address(self) -> Account:
        """Whoever an identity provider knows by more than the address is still known to it."""
        by_address = self.subject is not None and self.subject.startswith(MAILTO)
        return replace(self, email=None, subject=None if by_address else self.subject)


@dataclass(frozen=True, slots=True)
class Link:
    """Signs a browser in, once."""

    agent_id: str
    at_most: str
    expires_at: Millis
    made_by: str | None = None
    made_with: str | None = None
    """As of `SignIn`."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a person's program shows; `used_on` is the day (since 1970) on which it was last seen."""

    id: str
    agent_id: str
    name: str
    at_most: str
    created_at: Millis
    expires_at: Millis | None = None
    used_on: int | None = None
    revoked_at: Millis | None = None
    made_by: str | None = None
    """The person who made it: perhaps an owner, for somebody else."""
    made_with: str | None = None
    """The token with which it was made: it is revoked with it, and good no longer than it."""

    def live(self, now: Millis) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def role_of(person: Agent, account: Account | None) -> str:
    """As the account says; without one, who was made an owner is one, and everybody else a member."""
    if account is not None:
        return account.login
    return OWNER if person.role is Role.OWNER else MEMBER


def lesser(one: str, other: str) -> str:
    return min(one, other, key=_RANKS.__getitem__)


def is_above(one: str, other: str) -> bool:
    return _RANKS[one] > _RANKS[other]
