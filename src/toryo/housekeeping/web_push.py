"""Notices in people's browsers: each is encrypted for the browser and handed to its push service (RFC 8030).

A person may have several browsers. What one of them was told is remembered, so that a retry for another tells it
nothing twice; after a restart it may, under the same tag, which replaces the notification.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from toryo.domain import people
from toryo.domain.notices import Notice
from toryo.domain.push import Subscription, is_served_by
from toryo.domain.times import SECOND, Millis
from toryo.housekeeping.notice_channel import Undelivered
from toryo.operations.calls.dispatch import Dispatcher
from toryo.operations.overview import one_click
from toryo.storage.engine.database import Connection
from toryo.storage.transaction import Transaction

if TYPE_CHECKING:
    import httpx

TIME_LIMIT = 10.0
"""Seconds for each step of a request."""
KEPT_SECONDS = 24 * 3600
"""How long a push service keeps a message for a browser that is off."""
_TITLE, _TEXT = 200, 600
"""Characters that a notification shows at most; the rest is one click away."""
_REMEMBERED = 10_000
_URGENT = frozenset({"approval", "message", "runaway", "test"})
_GONE = (404, 410)


class WebPush:
    """`subject` is the contact for push services. Nothing is sent to other hosts than those of `services`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._subject = dispatcher.settings.notices.push_subject
        self._services = dispatcher.settings.notices.push_services
        self._http: httpx.Client | None = None
        self._told: OrderedDict[tuple[str, str], None] = OrderedDict()

    def send(self, notice: Notice, now: Millis) -> None:
        subscriptions, roles, pem = self._read(notice.person_id, now)
        wrong = ""
        for each in subscriptions:
            if (notice.id, each.id) in self._told or pem is None:
                continue
            may_write = roles.get(each.id) != people.VIEWER
            wrong = self._send_one(notice, each, pem, now, may_write=may_write) or wrong
        if wrong:
            raise Undelivered(wrong)

    def _read(self, person_id: str, now: Millis) -> tuple[list[Subscription], dict[str, str], str | None]:
        """The browsers to tell, the role of each, and the key."""

        def read(connection: Connection) -> tuple[list[Subscription], dict[str, str], str | None]:
            tx = Transaction(connection)
            person = tx.agents.find(person_id)
            if person is None or not person.active:
                return [], {}, None
            own = people.role_of(person, tx.people.account(person_id))
            roles = {name: people.lesser(own, at_most) for name, at_most in tx.push.roles(person_id, now).items()}
            return tx.push.of_person(person_id, now), roles, tx.push.private_key()

        return self._dispatcher.database.read(read)

    def _send_one(self, notice: Notice, to: Subscription, pem: str, now: Millis, *, may_write: bool) -> str | None:
        """Why it did not arrive; None if it did, or if the browser is no longer there."""
        import httpx

        from toryo.housekeeping import push_encryption
        from toryo.operations.people import vapid

        if not is_served_by(to.endpoint, self._services):
            return "the push service is not one that this server may send to"
        if self._http is None:
            self._http = httpx.Client(timeout=TIME_LIMIT, follow_redirects=False)
        body = push_encryption.encrypted(message(notice, may_write=may_write), to.p256dh, to.auth)
        headers = {
            "authorization": vapid.authorization(pem, to.endpoint, self._subject, now // SECOND),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(KEPT_SECONDS),
            "topic": hashlib.sha256(notice.key.encode()).hexdigest()[:32],
            "urgency": "high" if notice.content.get("kind") in _URGENT else "normal",
        }
        try:
            with self._http.stream("POST", to.endpoint, content=body, headers=headers) as answer:
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return f"no connection to the push service ({type(error).__name__})"
        if status in _GONE:
            self._dispatcher.housekeep(lambda call: call.tx.push.drop(to.id))
            return None
        if not 200 <= status < 300:
            return f"the push service answered {status}"
        self._told[notice.id, to.id] = None
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return None

    def close(self) -> None:
        if self._http is not None:
            self._http.close()


def _asked(content: Mapping[str, Any]) -> str:
    """The question as it was asked, if it is a single one: the title has only its beginning."""
    questions: list[Mapping[str, Any]] = content.get("questions") or []
    return str(questions[0]["question"]) if len(questions) == 1 else ""


def message(notice: Notice, *, may_write: bool) -> bytes:
    """What the service worker of the dashboard receives (`web/src/push/worker.ts`): the need, cut to what is shown.

    Where one may not write, nothing is offered. A request is approved from a notification only if all of it is shown.
    """
    content = notice.content
    request: dict[str, Any] | None = content.get("request")
    text: str = content.get("text") or ""
    described: str = request["description"] if request is not None else _asked(content)
    plain = request is None or not (request["commands"] or request["context"] or request["acceptance"])
    shown = f"{text}\n{described}" if described and described not in text else text
    whole = plain and (request is None or bool(request["complete"])) and len(shown) <= _TEXT
    told = {
        "id": notice.id,
        "kind": content.get("kind"),
        "key": content.get("key"),
        "project_id": content.get("project_id"),
        "task_id": content.get("task_id"),
        "agent_id": content.get("agent_id"),
        "title": (content.get("title") or "")[:_TITLE],
        "text": shown[:_TEXT],
        "since": content.get("since"),
        "path": content.get("path", "/"),
        "language": content.get("language", "en"),
        "actions": one_click.requests(content, whole=whole) if may_write else [],
    }
    return orjson.dumps(told)
