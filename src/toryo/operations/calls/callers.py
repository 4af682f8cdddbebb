"""Callers: the credentials that a call presents (`Credentials`), and the identity they prove (`Caller`).

A `Caller` never comes from an argument; `credential_verification.py` derives it from the credentials.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from toryo.domain.agents import Agent
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Launch
from toryo.domain.people import AccessToken
from toryo.domain.queue import ApiKey
from toryo.domain.sessions import Session
from toryo.domain.times import Millis

ORCHESTRATOR = "orchestrator"
"""The capability (given by people) whose sessions may file tasks for queues."""


class Kind(StrEnum):
    """The kind of caller that a credential proves."""

    NOBODY = "nobody"
    COORDINATOR = "coordinator"
    LAUNCH = "launch"
    """A launch credential whose process is not signed in."""
    SESSION = "session"
    PERSON = "person"
    QUEUE = "queue"
    """An API key: an agent that runs already, or an orchestrator."""
    SERVER = "server"
    """The server itself: chores, and steps of its own within a request (an identity provider's). No credential is."""


class Login(StrEnum):
    """What a person may do: `owner` everything, `member` in the projects they belong to, `viewer` reads."""

    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of a call; each may be missing.

    `bearer` is the token of the `Authorization` header, `session_token` the argument of that name.
    """

    bearer: str | None = None
    session_token: str | None = None
    cookie: str | None = None
    """What a browser is signed in by: good in its cookie, and nowhere else."""
    page: str | None = None
    """The other half: what the page keeps for its origin. A browser sends cookies to other ports, too, this by itself
    to nobody."""
    signed_in_before: str | None = None
    """In place of `cookie`, where somebody signs in: the sign-in that this browser already had."""
    correlation_id: str | None = None
    remote: str | None = None
    browser: str | None = None
    """What the caller's program calls itself (`User-Agent`)."""
    idempotency_key: str | None = None
    """By which a create that is sent again is known (`Idempotency-Key`)."""
    keyless: bool = False
    """Whether the server is open to this request without a credential."""

    @property
    def anonymous(self) -> bool:
        """Whether nothing was brought that could prove anything."""
        return not (self.bearer or self.session_token or self.cookie or self.keyless)


NOTHING_SHOWN: Final = Credentials()


@dataclass(frozen=True, slots=True)
class Caller:
    kind: Kind
    agent: Agent | None = None
    session: Session | None = None
    launch: Launch | None = None
    login: Login | None = None
    coordinator_id: str | None = None
    key: ApiKey | None = None
    sign_in_id: str | None = None
    """Of the browser that calls, if it is one."""
    proved_at: Millis | None = None
    """When its person proved last who they are."""
    access_token: AccessToken | None = None
    """What a person's program showed, if it was one of those that people make."""
    credential: str | None = None
    """The token with which whatever was shown was made, in the end: what this caller makes ends with it."""

    @property
    def project_id(self) -> str | None:
        if self.session is not None:
            return self.session.project_id
        if self.key is not None:
            return self.key.project_id
        return self.launch.project_id if self.launch is not None else None

    @property
    def orchestrates(self) -> bool:
        """Whether it may file tasks for queues."""
        if self.key is not None:
            return self.key.orchestrator
        return self.session is not None and self.agent is not None and ORCHESTRATOR in self.agent.capabilities

    @property
    def is_person(self) -> bool:
        return self.kind is Kind.PERSON

    @property
    def actor_id(self) -> str:
        """Who did it, for the event log."""
        if self.agent is not None:
            return self.agent.id
        if self.key is not None:
            return self.key.agent_id or self.key.id
        return _SYSTEM_ACTORS.get(self.kind, "system:nobody")


_SYSTEM_ACTORS: Final = {Kind.COORDINATOR: "system:coordinator", Kind.SERVER: "system:toryo"}
