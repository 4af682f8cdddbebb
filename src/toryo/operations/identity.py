"""Who calls: what the presented credential proves.

Tokens are random, their prefix says what they are, and only their hash is kept.
"""

from __future__ import annotations

import hashlib

from toryo.domain.errors import Code, Refusal
from toryo.operations.permissions import Caller, Credentials, Kind, Login
from toryo.storage.transaction import Transaction

COORDINATOR, PERSON, LAUNCH, SESSION, QUEUE = "tct_", "tpt_", "tlc_", "tst_", "tqk_"


def digest(token: str) -> str:
    """What is stored of a token; any text has one, half characters too."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def identify(tx: Transaction, credentials: Credentials) -> Caller:
    """The caller that the credentials prove. Raises Refusal for a token that is not known, or two that disagree."""
    by_argument = _by_session_token(tx, credentials.session_token) if credentials.session_token else None
    if credentials.bearer is None:
        return by_argument or Caller(Kind.NOBODY)
    by_header = _by_bearer(tx, credentials.bearer)
    if by_argument is None:
        return by_header
    if by_header.kind in (Kind.SESSION, Kind.LAUNCH) and not _same(by_header, by_argument):
        raise Refusal(
            Code.SESSION_TOKEN_INVALID,
            "The connection's credential and session_token belong to different sessions.",
            "Leave session_token out: the connection is known already.",
        )
    return by_argument


def _same(one: Caller, other: Caller) -> bool:
    return one.launch is not None and other.launch is not None and one.launch.id == other.launch.id


def _by_bearer(tx: Transaction, token: str) -> Caller:
    if token.startswith(SESSION):
        return _by_session_token(tx, token)
    if token.startswith(LAUNCH):
        return _by_launch(tx, token)
    if token.startswith(QUEUE):
        return _by_key(tx, token)
    found = tx.keeping.token(digest(token))
    if found is None or not token.startswith((COORDINATOR, PERSON)):
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This token is not known here.",
            "Use a token of this server: owner.token or coordinator.token in its data directory.",
        )
    kind, agent_id, login = found
    if kind == "coordinator":
        return Caller(Kind.COORDINATOR)
    return Caller(Kind.PERSON, agent=tx.agents.find(agent_id or ""), login=Login(login or "viewer"))


def _by_launch(tx: Transaction, token: str) -> Caller:
    launch = tx.launches.by_credential(digest(token))
    if launch is None:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This launch credential is not known here.",
            "End this process; the Coordinator starts a new one when there is work.",
            action="exit",
        )
    agent = tx.agents.find(launch.agent_id)
    session = None if launch.by_passkey else tx.sessions.of_launch(launch.id)
    return Caller(Kind.SESSION if session else Kind.LAUNCH, agent=agent, session=session, launch=launch)


def _by_key(tx: Transaction, token: str) -> Caller:
    key = tx.queues.key_by_hash(digest(token))
    if key is None or key.revoked_at is not None:
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            "This API key is not known here, or was revoked.",
            "Ask a person for a new one: toryo token add --agent ID --project PRJ.",
        )
    return Caller(Kind.QUEUE, agent=tx.agents.find(key.agent_id) if key.agent_id else None, key=key)


def _by_session_token(tx: Transaction, token: str) -> Caller:
    session = tx.sessions.by_token(digest(token))
    if session is None:
        raise Refusal(
            Code.SESSION_TOKEN_INVALID,
            "This session_token is not known here.",
            "Call authenticate for a new one; if you were told to exit, end this process.",
        )
    agent, launch = tx.agents.find(session.agent_id), tx.launches.find(session.launch_id)
    return Caller(Kind.SESSION, agent=agent, session=session, launch=launch)
