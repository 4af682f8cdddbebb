"""Web push as rows: subscriptions of browsers, people's preferences, and the key that identifies this installation."""

from __future__ import annotations

import sqlalchemy as sa

from toryo.domain.projects import Language
from toryo.domain.push import Preferences, Subscription
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement, insert_or_ignore, upsert
from toryo.storage.rows import Rows

_t, _pref, _key, _s, _a = (
    schema.push_subscriptions,
    schema.notification_preferences,
    schema.push_keys,
    schema.sign_ins,
    schema.agents,
)
_p = sa.bindparam

SUBSCRIPTIONS = Rows(Subscription, _t)
PREFERENCES = Rows(Preferences, _pref)
_live = sa.and_(_s.c.id == _t.c.sign_in_id, _s.c.ended_at.is_(None), _s.c.expires_at > _p("now"))
_ADD = Statement(sa.insert(_t), columns=SUBSCRIPTIONS.names)
_DROP = Statement(sa.delete(_t).where(_t.c.id == _p("id")))
_DROP_OF_SIGN_IN = Statement(sa.delete(_t).where(_t.c.sign_in_id == _p("sign_in_id")))
_DROP_ENDPOINT = Statement(sa.delete(_t).where(_t.c.endpoint == _p("endpoint")))
_OF_PERSON = Statement(
    sa.select(*SUBSCRIPTIONS.columns)
    .select_from(_t.join(_s, _live))
    .where(_t.c.person_id == _p("person_id"))
    .order_by(_t.c.created_at.desc(), _t.c.id)
)
_ROLES = Statement(
    sa.select(_t.c.id, _s.c.at_most).select_from(_t.join(_s, _live)).where(_t.c.person_id == _p("person_id"))
)
_REACHED = Statement(
    sa.select(_t.c.person_id, _t.c.language).select_from(_t.join(_s, _live)).order_by(_t.c.person_id, _t.c.created_at)
)
_FORGET = Statement(
    sa.delete(_t).where(
        ~sa.exists().where(_s.c.id == _t.c.sign_in_id, _s.c.ended_at.is_(None), _s.c.expires_at > _p("now"))
    )
)
_PREFERENCES = Statement(PREFERENCES.select().where(_pref.c.person_id == _p("person_id")))
_ALL_PREFERENCES = Statement(PREFERENCES.select())
_PUT = upsert(_pref, PREFERENCES.names, ["person_id"], [name for name in PREFERENCES.names if name != "person_id"])
_KEY = Statement(sa.select(_key.c.private_key).where(_key.c.id == 1))
_ADD_KEY = insert_or_ignore(_key, ["id", "private_key", "created_at"], key=["id"])


class Push:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def subscribe(self, subscription: Subscription) -> None:
        """A browser has one subscription: an earlier one of the sign-in, or of this endpoint, is replaced."""
        self.unsubscribe(subscription.sign_in_id)
        self._connection.run(_DROP_ENDPOINT, endpoint=subscription.endpoint)
        self._connection.run(_ADD, **SUBSCRIPTIONS.values(subscription))

    def unsubscribe(self, sign_in_id: str) -> bool:
        return self._connection.run(_DROP_OF_SIGN_IN, sign_in_id=sign_in_id) > 0

    def drop(self, subscription_id: str) -> None:
        self._connection.run(_DROP, id=subscription_id)

    def forget(self, now: Millis) -> None:
        """Deletes the subscriptions of sign-ins that are over."""
        self._connection.run(_FORGET, now=now)

    def of_person(self, person_id: str, now: Millis) -> list[Subscription]:
        """Those of sign-ins that are live, newest first."""
        return SUBSCRIPTIONS.nouns(self._connection.all(_OF_PERSON, person_id=person_id, now=now))

    def roles(self, person_id: str, now: Millis) -> dict[str, str]:
        """By subscription: the highest role of the browser that made it."""
        return dict(self._connection.all(_ROLES, person_id=person_id, now=now))

    def reached(self, now: Millis) -> dict[str, Language]:
        """Everyone who can be reached by push, with the language of their newest browser."""
        return {person: Language(language) for person, language in self._connection.all(_REACHED, now=now)}

    def preferences(self, person_id: str) -> Preferences:
        """Those that the person has set, or the defaults."""
        found = PREFERENCES.one(self._connection.one(_PREFERENCES, person_id=person_id))
        return found if found is not None else Preferences(person_id)

    def all_preferences(self) -> dict[str, Preferences]:
        return {each.person_id: each for each in PREFERENCES.nouns(self._connection.all(_ALL_PREFERENCES))}

    def put(self, preferences: Preferences) -> None:
        self._connection.run(_PUT, **PREFERENCES.values(preferences))

    def private_key(self) -> str | None:
        """The VAPID key of this installation as PEM; None before it is first needed."""
        found: str | None = self._connection.value(_KEY)
        return found

    def add_private_key(self, pem: str, now: Millis) -> None:
        """Keeps the key; one that another server has added first stays."""
        self._connection.run(_ADD_KEY, id=1, private_key=pem, created_at=now)
