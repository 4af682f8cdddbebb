"""How people sign in: with a one-time link, a password, or an identity provider; and the limits of their tokens.

A person's role is stored once, in their account; links, browsers and tokens may have a lower one, never a higher one.
`operations/calls/permissions.py` says what a role allows.
"""

from __future__ import annotations

import string
from enum import StrEnum
from typing import Annotated

from toryo.domain.agents import Agent, Role
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.shape import AgentId, Key
from toryo.domain.times import DAY, MINUTE, Millis

LINK_LIVES: Millis = 10 * MINUTE
SIGN_IN_LIVES: Millis = 14 * DAY
"""A browser stays signed in for this long, regardless of activity."""
LEAVING_LIVES: Millis = 10 * MINUTE
"""The time for signing in at the identity provider."""
ARRIVING_LIVES: Millis = 2 * MINUTE
"""The time for the page to sign in with what the way back from there has brought."""
PROVEN_FOR: Millis = 10 * MINUTE
"""How long after its person has proved who they are a browser may make credentials and widen rights."""
KEPT_FOR: Millis = 30 * DAY
"""How long sign-ins that are over are kept."""
MOST_TOKENS = 100
"""Of one person at a time."""

OWNER, MEMBER, VIEWER = "owner", "member", "viewer"
MAILTO = "mailto:"
"""Begins a `subject` that is only an address."""
_RANKS = {VIEWER: 0, MEMBER: 1, OWNER: 2}


class How(StrEnum):
    LINK = "link"
    PASSWORD = "password"  # noqa: S105 - the name of a way, not a secret
    OIDC = "oidc"


_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def address(email: str) -> str:
    """As an e-mail address is stored and compared. Letters beyond ASCII stay: the sign for kelvin would become a k."""
    return email.strip().translate(_LOWER)


@dataclass(frozen=True, slots=True)
class SignIn:
    """One signed-in browser of a person."""

    id: str
    agent_id: AgentId
    at_most: str
    """The highest role of this browser; the person's own role applies if it is lower."""
    how: How
    created_at: Millis
    expires_at: Millis
    ended_at: Millis | None = None
    browser: str | None = None
    """The browser's User-Agent."""
    made_by: str | None = None
    """The person who made the sign-in link."""
    made_with: str | None = None
    """The token with which that link was made; revoking it signs the browser out."""
    page_hash: str = ""
    """Of the secret in the storage of the page's origin: a browser sends its cookie to every port of the host by
    itself, and this to nobody. Empty (before there were any): nothing fits."""
    proved_at: Millis = 0
    """When the person proved last who they are: gave a password, opened a link, signed in at the provider."""

    def live(self, now: Millis) -> bool:
        return self.ended_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Account:
    """`login` is the person's role: owner, member or viewer.

    `subject` identifies the person at the identity provider; before the first sign-in it is their address (`mailto:…`).
    """

    agent_id: Annotated[AgentId, Key]
    login: str
    own_login: str | None = None
    """The role that an owner set; None: the identity provider decides."""
    email: str | None = None
    """An address set by an owner or verified by the identity provider. Merges are committed with it."""
    password_hash: str | None = None
    subject: str | None = None
    changed_at: Millis = 0

    def without_address(self) -> Account:
        """Without its e-mail address; a sign-in with the identity provider by other means still works."""
        by_address = self.subject is not None and self.subject.startswith(MAILTO)
        return replace(self, email=None, subject=None if by_address else self.subject)


@dataclass(frozen=True, slots=True)
class Link:
    """A one-time sign-in link for a browser."""

    agent_id: AgentId
    at_most: str
    expires_at: Millis
    made_by: str | None = None
    made_with: str | None = None
    """As of `SignIn`."""
    how: How = How.LINK
    """`OIDC`: what the way back from the identity provider has brought, for the page that left for it."""
    proved_at: Millis | None = None
    """When who made it proved who they are, if a browser made it; None: it proves by itself."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The credential of a person's program; `used_on` is the day (since 1970) of its last use."""

    id: str
    agent_id: AgentId
    name: str
    at_most: str
    created_at: Millis
    expires_at: Millis | None = None
    used_on: int | None = None
    revoked_at: Millis | None = None
    made_by: str | None = None
    """The person who made it; may be an owner who made it for another person."""
    made_with: str | None = None
    """The token with which it was made: revoked together with it, and never valid for longer."""

    def live(self, now: Millis) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def role_of(person: Agent, account: Account | None) -> str:
    """The account's role; without an account, owners by setup are owners and all others members."""
    if account is not None:
        return account.login
    return OWNER if person.role is Role.OWNER else MEMBER


def lesser(one: str, other: str) -> str:
    return min(one, other, key=_RANKS.__getitem__)


def is_above(one: str, other: str) -> bool:
    return _RANKS[one] > _RANKS[other]
