"""People's browsers, tokens, one-time links and accounts, and pending sign-ins at the identity provider, as rows."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.people import AccessToken, Account, Link, SignIn
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.directory_memory import remembered
from toryo.storage.engine.statements import Statement, upsert
from toryo.storage.rows import Rows, update_by_id

_s, _l, _a, _t, _o = schema.sign_ins, schema.sign_in_links, schema.people, schema.access_tokens, schema.departures
_p = sa.bindparam

SIGN_INS = Rows(SignIn, _s)
ACCOUNTS = Rows(Account, _a)
TOKENS = Rows(AccessToken, _t)
LINKS = Rows(Link, _l)
_ONE = Statement(SIGN_INS.select().where(_s.c.id == _p("id")))
_BY_TOKEN = Statement(SIGN_INS.select().where(_s.c.token_hash == _p("token_hash")))
_OF = Statement(
    SIGN_INS.select().where(_s.c.agent_id == _p("agent_id"), _s.c.ended_at.is_(None)).order_by(_s.c.created_at.desc())
)
_ADD = Statement(sa.insert(_s), columns=[*SIGN_INS.names, "token_hash"])
_FORGET_SIGN_INS = Statement(sa.delete(_s).where(sa.or_(_s.c.expires_at < _p("before"), _s.c.ended_at < _p("before"))))
_ADD_LINK = Statement(sa.insert(_l), columns=[*LINKS.names, "code_hash"])
_LINK = Statement(LINKS.select().where(_l.c.code_hash == _p("code_hash"), _l.c.used_at.is_(None)))
_USE = Statement(
    sa.update(_l).where(_l.c.code_hash == _p("this_hash"), _l.c.used_at.is_(None)).values(used_at=_p("now"))
)
_FORGET_LINKS = Statement(sa.delete(_l).where(_l.c.expires_at < _p("before")))
_DROP_LINKS = Statement(sa.delete(_l).where(_l.c.agent_id == _p("agent_id")))
_DROP_LINKS_BY = Statement(sa.delete(_l).where(_l.c.made_by == _p("agent_id")))
_DROP_LINKS_WITH = Statement(sa.delete(_l).where(_l.c.made_with == _p("made_with")))
_MADE_BY = Statement(SIGN_INS.select().where(_s.c.made_by == _p("made_by"), _s.c.ended_at.is_(None)))
_MADE_WITH = Statement(SIGN_INS.select().where(_s.c.made_with == _p("made_with"), _s.c.ended_at.is_(None)))
_ACCOUNT = Statement(ACCOUNTS.select().where(_a.c.agent_id == _p("agent_id")))
_BY_SUBJECT = Statement(ACCOUNTS.select().where(_a.c.subject == _p("subject")))
_ACCOUNTS = Statement(ACCOUNTS.select().order_by(_a.c.agent_id))
_PUT = upsert(_a, ACCOUNTS.names, ["agent_id"], [name for name in ACCOUNTS.names if name != "agent_id"])
_DROP = Statement(sa.delete(_a).where(_a.c.agent_id == _p("agent_id")))
_ADD_TOKEN = Statement(sa.insert(_t), columns=[*TOKENS.names, "token_hash"])
_TOKEN = Statement(TOKENS.select().where(_t.c.id == _p("id")))
_TOKEN_BY_HASH = Statement(TOKENS.select().where(_t.c.token_hash == _p("token_hash")))
_TOKENS_OF = Statement(
    TOKENS.select().where(_t.c.agent_id == _p("agent_id"), _t.c.revoked_at.is_(None)).order_by(_t.c.created_at.desc())
)
_TOKENS_MADE_BY = Statement(TOKENS.select().where(_t.c.made_by == _p("made_by"), _t.c.revoked_at.is_(None)))
_TOKENS_MADE_WITH = Statement(TOKENS.select().where(_t.c.made_with == _p("made_with"), _t.c.revoked_at.is_(None)))
_DEPART = Statement(sa.insert(_o), columns=["state_hash", "expires_at"])
_RETURN = Statement(sa.delete(_o).where(_o.c.state_hash == _p("state_hash"), _o.c.expires_at > _p("now")))
_FORGET_DEPARTURES = Statement(sa.delete(_o).where(_o.c.expires_at <= _p("now")))


class People:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # --- browsers ----------------------------------------------------------------------------------------------------

    def sign_in(self, sign_in_id: str) -> SignIn | None:
        return SIGN_INS.one(self._connection.one(_ONE, id=sign_in_id))

    @remembered
    def by_token(self, token_hash: str) -> SignIn | None:
        return SIGN_INS.one(self._connection.one(_BY_TOKEN, token_hash=token_hash))

    def sign_ins_of(self, agent_id: str) -> list[SignIn]:
        """Sign-ins that have not ended, newest first."""
        return SIGN_INS.nouns(self._connection.all(_OF, agent_id=agent_id))

    def sign_ins_made_by(self, agent_id: str) -> list[SignIn]:
        """Sign-ins through this person's links that have not ended."""
        return SIGN_INS.nouns(self._connection.all(_MADE_BY, made_by=agent_id))

    def sign_ins_made_with(self, credential: str) -> list[SignIn]:
        return SIGN_INS.nouns(self._connection.all(_MADE_WITH, made_with=credential))

    def add(self, sign_in: SignIn, token_hash: str) -> None:
        self._connection.run(_ADD, **SIGN_INS.values(sign_in), token_hash=token_hash)

    def proved(self, sign_in: SignIn) -> None:
        """Its person has proved again who they are."""
        values = {"proved_at": sign_in.proved_at, "expires_at": sign_in.expires_at}
        self._connection.run(update_by_id(_s, tuple(values)), this_id=sign_in.id, **values)

    def end(self, sign_in: SignIn, now: Millis) -> None:
        self._connection.run(update_by_id(_s, ("ended_at",)), this_id=sign_in.id, ended_at=now)

    def forget_sign_ins(self, before: Millis) -> None:
        self._connection.run(_FORGET_SIGN_INS, before=before)

    # --- one-time links ----------------------------------------------------------------------------------------------

    def add_link(self, link: Link, code_hash: str) -> None:
        self._connection.run(_ADD_LINK, **LINKS.values(link), code_hash=code_hash)

    def link(self, code_hash: str, now: Millis) -> Link | None:
        """None if it is unknown, expired or already used."""
        found = LINKS.one(self._connection.one(_LINK, code_hash=code_hash))
        return found if found is not None and now < found.expires_at else None

    def use_link(self, code_hash: str, now: Millis) -> bool:
        """Marks the link as used; False if somebody was faster."""
        return self._connection.run(_USE, this_hash=code_hash, now=now) > 0

    def forget_links(self, before: Millis) -> None:
        self._connection.run(_FORGET_LINKS, before=before)

    def drop_links(self, agent_id: str) -> None:
        """Deletes the links that sign this person in."""
        self._connection.run(_DROP_LINKS, agent_id=agent_id)

    def drop_links_made_by(self, agent_id: str) -> None:
        """Deletes the links that this person made, for any person."""
        self._connection.run(_DROP_LINKS_BY, agent_id=agent_id)

    def drop_links_made_with(self, credential: str) -> None:
        self._connection.run(_DROP_LINKS_WITH, made_with=credential)

    # --- accounts ----------------------------------------------------------------------------------------------------

    @remembered
    def account(self, agent_id: str) -> Account | None:
        return ACCOUNTS.one(self._connection.one(_ACCOUNT, agent_id=agent_id))

    def by_subject(self, subject: str) -> Account | None:
        return ACCOUNTS.one(self._connection.one(_BY_SUBJECT, subject=subject))

    @remembered
    def accounts(self) -> tuple[Account, ...]:
        return tuple(ACCOUNTS.nouns(self._connection.all(_ACCOUNTS)))

    def put(self, account: Account) -> None:
        self._connection.run(_PUT, **ACCOUNTS.values(account))

    def drop(self, agent_id: str) -> bool:
        return self._connection.run(_DROP, agent_id=agent_id) > 0

    # --- access tokens -----------------------------------------------------------------------------------------------

    def add_token(self, token: AccessToken, token_hash: str) -> None:
        self._connection.run(_ADD_TOKEN, **TOKENS.values(token), token_hash=token_hash)

    def token(self, token_id: str) -> AccessToken | None:
        return TOKENS.one(self._connection.one(_TOKEN, id=token_id))

    @remembered
    def token_by_hash(self, token_hash: str) -> AccessToken | None:
        return TOKENS.one(self._connection.one(_TOKEN_BY_HASH, token_hash=token_hash))

    def tokens_of(self, agent_id: str) -> list[AccessToken]:
        """Tokens that are not revoked, newest first."""
        return TOKENS.nouns(self._connection.all(_TOKENS_OF, agent_id=agent_id))

    def tokens_made_by(self, agent_id: str) -> list[AccessToken]:
        """Tokens that this person made, for any person, and that are not revoked."""
        return TOKENS.nouns(self._connection.all(_TOKENS_MADE_BY, made_by=agent_id))

    def tokens_made_with(self, credential: str) -> list[AccessToken]:
        return TOKENS.nouns(self._connection.all(_TOKENS_MADE_WITH, made_with=credential))

    def revoke(self, token_id: str, now: Millis) -> None:
        self._connection.run(update_by_id(_t, ("revoked_at",)), this_id=token_id, revoked_at=now)

    def used(self, token_id: str, day: int) -> None:
        self._connection.run(update_by_id(_t, ("used_on",)), this_id=token_id, used_on=day)

    # --- the identity provider ---------------------------------------------------------------------------------------

    def depart(self, state_hash: str, expires_at: Millis) -> None:
        """Stores the state of a sign-in that starts at the identity provider."""
        self._connection.run(_DEPART, state_hash=state_hash, expires_at=expires_at)

    def come_back(self, state_hash: str, now: Millis) -> bool:
        """Uses up a state; False if it is unknown or expired."""
        return self._connection.run(_RETURN, state_hash=state_hash, now=now) > 0

    def forget_departures(self, now: Millis) -> None:
        self._connection.run(_FORGET_DEPARTURES, now=now)
