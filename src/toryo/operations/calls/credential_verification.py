"""Authentication: the caller that a credential proves.

Tokens are random and carry their kind as a prefix; only their hash is stored.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from toryo import secret_patterns
from toryo.deeds import terminal
from toryo.domain import people
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.people import SignIn
from toryo.domain.queue import ApiKey
from toryo.domain.times import Millis
from toryo.domain.wording import say
from toryo.operations.calls.callers import Caller, Credentials, Kind, Login
from toryo.storage.transaction import Transaction

COORDINATOR, PERSON, LAUNCH = secret_patterns.COORDINATOR, secret_patterns.PERSON, secret_patterns.LAUNCH
SESSION, QUEUE = secret_patterns.SESSION, secret_patterns.QUEUE
BROWSER, PAGE = secret_patterns.BROWSER, secret_patterns.PAGE


END_PROCESS = "End this process; the Coordinator starts a new one when there is work."
"""The instruction to a process whose session is unknown or has ended."""


def digest(token: str) -> str:
    """What is stored of a token; any text has one, half characters too."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


class TwoCallers(Refusal):
    """The connection and the session token prove different callers."""

    def __init__(self) -> None:
        super().__init__(
            Code.SESSION_TOKEN_INVALID,
            "The connection's credential and session_token belong to different sessions.",
            "Omit session_token: the connection already identifies you.",
        )


def identify(tx: Transaction, credentials: Credentials, now: Millis, *, forgiving: bool = False) -> Caller:
    """The caller that the credentials prove. Raises Refusal for an unknown token, or for two that disagree.

    `forgiving`: for operations that are open to everyone, an unknown session_token counts as none. A client that signs
    in again may still send the old one, because some clients keep it in the header.
    """
    if forgiving:
        credentials = _without_unknown(tx, credentials)
    by_argument = _by_argument(tx, credentials)
    if credentials.bearer is None and credentials.cookie is not None:
        return _by_browser(tx, credentials, now)
    if credentials.bearer is None:
        return by_argument or Caller(Kind.NOBODY)
    by_header = _by_bearer(tx, credentials.bearer, now)
    if by_argument is None:
        return by_header
    if by_header.kind in (Kind.SESSION, Kind.LAUNCH) and not _same(by_header, by_argument):
        raise TwoCallers
    return by_argument


def good_until(tx: Transaction, person: Caller) -> Millis | None:
    """When the browser's sign-in or the token by which a person calls runs out; None: never."""
    if person.access_token is not None:
        return person.access_token.expires_at
    sign_in = tx.people.sign_in(person.sign_in_id) if person.sign_in_id is not None else None
    return sign_in.expires_at if sign_in is not None else None


def _without_unknown(tx: Transaction, shown: Credentials) -> Credentials:
    """The same, without session tokens that are not known here."""

    def known(token: str | None) -> str | None:
        stale = token is not None and token.startswith(SESSION) and tx.sessions.by_token(digest(token)) is None
        return None if stale else token

    argument = shown.session_token
    if argument is not None and tx.sessions.by_token(digest(argument)) is None:
        argument = None
    return replace(shown, bearer=known(shown.bearer), session_token=argument)


def _by_argument(tx: Transaction, shown: Credentials) -> Caller | None:
    if not shown.session_token:
        return None
    found = _of_session(tx, shown.session_token)
    if found is None and shown.bearer is not None and shown.bearer.startswith((LAUNCH, SESSION)):
        raise Refusal(
            Code.SESSION_TOKEN_INVALID,
            "This session_token is unknown.",
            "Omit session_token: the connection already identifies you.",
        )
    return found or _by_session_token(tx, shown.session_token)


def _same(one: Caller, other: Caller) -> bool:
    return one.launch is not None and other.launch is not None and one.launch.id == other.launch.id


def _by_bearer(tx: Transaction, token: str, now: Millis) -> Caller:
    if token.startswith(SESSION):
        return _by_session_token(tx, token)
    if token.startswith(LAUNCH):
        return _by_launch(tx, token)
    if token.startswith(QUEUE):
        return _by_key(tx, token)
    found = tx.tokens.find(digest(token)) if token.startswith((COORDINATOR, PERSON)) else None
    if found is None:
        return _by_access_token(tx, token, now)
    kind, agent_id, login = found
    if kind == "coordinator":
        return Caller(Kind.COORDINATOR)
    person = tx.agents.find(agent_id or "")
    return Caller(Kind.PERSON, agent=person, login=Login(login or "viewer"), credential=digest(token))


def _by_launch(tx: Transaction, token: str) -> Caller:
    launch = tx.launches.by_credential(digest(token))
    if launch is None:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This launch credential is unknown.",
            END_PROCESS,
            action="exit",
        )
    agent = tx.agents.find(launch.agent_id)
    session = None if launch.by_passkey else tx.sessions.of_launch(launch.id)
    return Caller(Kind.SESSION if session else Kind.LAUNCH, agent=agent, session=session, launch=launch)


def role_of(tx: Transaction, person: Agent) -> Login:
    """What this person may do."""
    return Login(people.role_of(person, tx.people.account(person.id)))


def at_most(tx: Transaction, person: Agent, most: str) -> Login:
    """What a browser or token of this person may do: their role of now, and no more than was given to it."""
    return Login(people.lesser(most, role_of(tx, person)))


def _by_access_token(tx: Transaction, token: str, now: Millis) -> Caller:
    found = tx.people.token_by_hash(digest(token)) if token.startswith(PERSON) else None
    person = tx.agents.find(found.agent_id) if found is not None and found.live(now) else None
    if found is None or person is None or not person.active:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This token is unknown.",
            "Use a token of this server. An owner can make a new one.",
        )
    login = at_most(tx, person, found.at_most)
    return Caller(Kind.PERSON, agent=person, login=login, access_token=found, credential=found.id)


def sign_in_of(tx: Transaction, cookie: str | None, page: str | None, now: Millis) -> SignIn | None:
    """The sign-in of a browser that shows both halves of it."""
    found = tx.people.by_token(digest(cookie)) if cookie and page else None
    if found is None or not hmac.compare_digest(found.page_hash, digest(page or "")):
        return None
    return found if found.live(now) else None


def _by_browser(tx: Transaction, shown: Credentials, now: Millis) -> Caller:
    found = sign_in_of(tx, shown.cookie, shown.page, now)
    person = tx.agents.find(found.agent_id) if found is not None else None
    if found is None or person is None or not person.active:
        raise Refusal(
            Code.AUTHENTICATION_REQUIRED,
            "This browser is not signed in.",
            say("Sign in again{open:: … prints a sign-in link}.", open=terminal("open")),
            signed_out=True,
        )
    return Caller(
        Kind.PERSON,
        agent=person,
        login=at_most(tx, person, found.at_most),
        sign_in_id=found.id,
        proved_at=found.proved_at,
        credential=found.made_with,
    )


def _by_key(tx: Transaction, token: str) -> Caller:
    key = tx.queues.key_by_hash(digest(token))
    agent = tx.agents.find(key.agent_id) if key is not None and key.agent_id else None
    membership = tx.agents.membership(key.project_id, agent.id) if key is not None and agent is not None else None
    return holder_of(key, agent, membership)


class KnownKeys:
    """In which projects API keys are, by their hashes: it never changes. So the project is locked before anything is
    read."""

    MOST = 10_000

    def __init__(self) -> None:
        self.projects: dict[str, str] = {}

    def project_of(self, bearer: str | None) -> str | None:
        return self.projects.get(digest(bearer)) if bearer is not None and bearer.startswith(QUEUE) else None

    def learn(self, projects: Mapping[str, str]) -> None:
        if len(self.projects) > self.MOST:
            self.projects = {}
        self.projects.update(projects)


def holder_of(key: ApiKey | None, agent: Agent | None, membership: tuple[Millis, Millis | None] | None) -> Caller:
    """Who holds an API key, from what is stored of it. Raises Refusal."""
    if key is None or key.revoked_at is not None:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This API key is unknown or was revoked.",
            "Ask the person who gave it to you for a new one.",
        )
    # Active, and never removed from the project: who registers for the first time is no member yet.
    if agent is not None and not (agent.active and (membership is None or membership[1] is None)):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{agent_id} is inactive, or no longer a member of this key's project.", agent_id=agent.id),
            "Ask the person who gave you this key: an owner must activate the agent or add it to the project.",
        )
    return Caller(Kind.QUEUE, agent=agent, key=key)


def _by_session_token(tx: Transaction, token: str) -> Caller:
    found = _of_session(tx, token)
    if found is None:
        raise Refusal(
            Code.SESSION_TOKEN_INVALID,
            "This session_token is unknown.",
            "Sign in again: call authenticate(agent_id, passkey) without session_token, then use the token it returns.",
        )
    return found


def _of_session(tx: Transaction, token: str) -> Caller | None:
    session = tx.sessions.by_token(digest(token))
    if session is None:
        return None
    agent, launch = tx.agents.find(session.agent_id), tx.launches.find(session.launch_id)
    return Caller(Kind.SESSION, agent=agent, session=session, launch=launch)
