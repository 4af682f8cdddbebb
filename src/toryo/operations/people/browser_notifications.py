"""Notifications in a person's browsers (web push): about what, at which hours, and in which browsers.

`housekeeping/notice_outbox.py` says when there is one, `housekeeping/web_push.py` sends it.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache
from typing import Annotated, Literal, get_args
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from toryo.deeds import terminal
from toryo.domain import ids, push
from toryo.domain.errors import Code, Refusal
from toryo.domain.needs import Kind
from toryo.domain.notices import Channel, Notice
from toryo.domain.projects import Language
from toryo.domain.push import Preferences, Subscription
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Parameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

Clock = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
"""A time of day, `22:00`."""
KindName = Literal[
    "approval",
    "question",
    "blocked_by_guard",
    "runaway",
    "blocked",
    "message",
    "nobody_came",
    "delegation_failed",
    "failed",
    "dead_letter",
    "merge_queue",
    "stuck",
    "stalled",
    "schedule_stopped",
    "webhook_stopped",
    "budget_used_up",
    "agent_cannot_start",
    "sign_in_locked",
    "review",
    "task",
]


@cache
def _time_zones() -> set[str]:
    return available_timezones() | {"UTC"}


def _time_zone(name: str) -> str:
    if name not in _time_zones():
        raise PydanticCustomError("time_zone", "must be the name of a time zone, such as Europe/Berlin")
    return name


def _key_of(length: int, begins: bytes = b"") -> AfterValidator:
    """A key of that many bytes, in base64url without padding, as browsers give it."""

    def check(text: str) -> str:
        try:
            key = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != length or not key.startswith(begins):
            raise PydanticCustomError("push_key", "must be a key of {length} bytes in base64url", {"length": length})
        return text

    return AfterValidator(check)


class QuietHours(TypedDict):
    """`begin` and `end` are times of day in the person's time zone."""

    begin: str
    end: str


class NotificationSettings(Result):
    """`muted`: kinds that are not told. `this_browser`: whether the browser that asks is notified. `browsers`: how many
    of the person's are. `possible`: whether this server sends to browsers at all.
    """

    possible: bool
    muted: list[KindName]
    quiet_hours: QuietHours | None
    time_zone: str
    this_browser: bool
    browsers: int


@operation(
    "show_notification_settings",
    grant=Grant.PERSON,
    route=Route("GET", "/notification-settings"),
    tool=False,
    reads=True,
)
def show_notification_settings(call: Call, _: NoParameters) -> NotificationSettings:
    """What you are notified about in your browsers, when, and whether this browser is one of them."""
    return _as_answer(call, call.tx.push.preferences(call.agent.id))


def _as_answer(call: Call, preferences: Preferences) -> NotificationSettings:
    mine = call.tx.push.of_person(call.agent.id, call.now)
    hours = preferences.quiet_from, preferences.quiet_to
    return {
        "success": True,
        "possible": bool(call.context.settings.notices.push_services),
        "muted": sorted(kind for kind in get_args(KindName) if kind in preferences.muted),
        "quiet_hours": (
            {"begin": _clock(hours[0]), "end": _clock(hours[1])}
            if hours[0] is not None and hours[1] is not None
            else None
        ),
        "time_zone": preferences.time_zone,
        "this_browser": any(each.sign_in_id == call.caller.sign_in_id for each in mine),
        "browsers": len(mine),
    }


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _minute(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


class QuietHoursWanted(Parameters):
    begin: Clock = Field(description="When they begin, HH:MM.")
    end: Clock = Field(description="When they end, HH:MM; earlier than begin: on the next day.")


class EditNotificationSettings(Parameters):
    muted: list[KindName] | None = Field(None, max_length=len(Kind), description="Kinds of needs that are not told.")
    quiet_hours: QuietHoursWanted | None = Field(
        None, description="Hours in which nothing is sent: it is sent when they end, if it still holds; null: none."
    )
    time_zone: Annotated[str, AfterValidator(_time_zone)] | None = Field(
        None, max_length=60, description="Time zone of the quiet hours, such as Europe/Berlin."
    )


@operation(
    "edit_notification_settings",
    grant=Grant.PERSON,
    parameters=EditNotificationSettings,
    route=Route("PATCH", "/notification-settings"),
    tool=False,
)
def edit_notification_settings(call: Call, wanted: EditNotificationSettings) -> NotificationSettings:
    """Change what you are notified about in your browsers, and when. What is left out stays."""
    before = call.tx.push.preferences(call.agent.id)
    begin, end = before.quiet_from, before.quiet_to
    if "quiet_hours" in wanted.model_fields_set:
        hours = wanted.quiet_hours
        begin, end = (None, None) if hours is None else (_minute(hours.begin), _minute(hours.end))
        if begin is not None and begin == end:
            raise Refusal(
                Code.VALIDATION_ERROR,
                "Quiet hours must not begin and end at the same time.",
                "To be notified of nothing, mute every kind.",
            )
    after = Preferences(
        person_id=call.agent.id,
        muted=tuple(sorted(set(wanted.muted))) if wanted.muted is not None else before.muted,
        quiet_from=begin,
        quiet_to=end,
        time_zone=wanted.time_zone or before.time_zone,
    )
    call.tx.push.put(after)
    return _as_answer(call, after)


class PushKey(Result):
    """`public_key` is what a browser wants as `applicationServerKey`, in base64url."""

    public_key: str


@operation(
    "get_push_key",
    grant=Grant.PERSON,
    route=Route("POST", "/push-key"),
    tool=False,
)
def get_push_key(call: Call, _: NoParameters) -> PushKey:
    """The public key of this server for push services (VAPID). It is made when it is first asked for."""
    from toryo.operations.people import vapid  # the library of its curve is read only where somebody is notified

    _refuse_impossible(call)
    pem = call.tx.push.private_key()
    if pem is None:
        call.tx.push.add_private_key(vapid.new_key(call.context.entropy(320)), call.now)
        pem = call.tx.push.private_key()
        assert pem is not None
    return {"success": True, "public_key": vapid.public_key(pem)}


def _refuse_impossible(call: Call) -> None:
    if not call.context.settings.notices.push_services:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "This server sends no notifications to browsers.",
            "An administrator can allow them with TORYO_NOTICES__PUSH_SERVICES.",
        )


class SubscribeBrowser(Parameters):
    endpoint: str = Field(min_length=1, max_length=2_000, description="URL of the browser's push service.")
    p256dh: Annotated[str, _key_of(65, b"\x04")] = Field(max_length=100, description="The browser's public key.")
    auth: Annotated[str, _key_of(16)] = Field(max_length=100, description="The browser's secret.")
    language: Literal["en", "ja"] = Field("en", description="In which language it is notified.")


@operation(
    "subscribe_browser",
    grant=Grant.PERSON,
    parameters=SubscribeBrowser,
    route=Route("PUT", "/push-subscription"),
    tool=False,
)
def subscribe_browser(call: Call, wanted: SubscribeBrowser) -> NotificationSettings:
    """Notify this browser, until it is signed out."""
    _refuse_impossible(call)
    sign_in_id = _signed_in(call)
    if not push.is_served_by(wanted.endpoint, call.context.settings.notices.push_services):
        raise Refusal(
            Code.VALIDATION_ERROR,
            "The endpoint does not belong to a push service that this server may send to.",
            "An administrator can add its host to TORYO_NOTICES__PUSH_SERVICES.",
        )
    from toryo.operations.people import vapid

    if not vapid.is_public_key(wanted.p256dh):
        raise Refusal(Code.VALIDATION_ERROR, "p256dh is not a key on the curve P-256.", "Send the key of the browser.")
    made = Subscription(
        id=call.new_id(ids.PUSH_SUBSCRIPTION),
        person_id=call.agent.id,
        sign_in_id=sign_in_id,
        endpoint=wanted.endpoint,
        p256dh=wanted.p256dh,
        auth=wanted.auth,
        language=Language(wanted.language),
        created_at=call.now,
    )
    call.tx.push.subscribe(made)
    return _as_answer(call, call.tx.push.preferences(call.agent.id))


def _signed_in(call: Call) -> str:
    if call.caller.sign_in_id is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only a browser that is signed in can be notified; this call was made with a token.",
            say(
                "Sign in with a browser{open: (…)}, and turn on notifications there: Settings, Account.",
                open=terminal("open"),
            ),
        )
    return call.caller.sign_in_id


@operation(
    "unsubscribe_browser",
    grant=Grant.PERSON,
    route=Route("DELETE", "/push-subscription"),
    tool=False,
)
def unsubscribe_browser(call: Call, _: NoParameters) -> NotificationSettings:
    """Stop notifying this browser."""
    call.tx.push.unsubscribe(_signed_in(call))
    return _as_answer(call, call.tx.push.preferences(call.agent.id))


class TestQueued(Result):
    notice_id: str


@operation(
    "send_test_notification",
    grant=Grant.PERSON,
    route=Route("POST", "/push-subscription/test", 202),
    tool=False,
)
def send_test_notification(call: Call, _: NoParameters) -> TestQueued:
    """Send a notification to all of your browsers that are notified, to see whether it arrives."""
    if not call.tx.push.of_person(call.agent.id, call.now):
        raise Refusal(
            Code.VALIDATION_ERROR,
            "None of your browsers is notified.",
            "Turn on notifications in this browser first.",
        )
    made = Notice(
        id=call.new_id(ids.NOTICE),
        person_id=call.agent.id,
        key=push.TEST,
        channel=Channel.PUSH,
        content={"kind": push.TEST, "key": push.TEST, "since": iso(call.now)},
        created_at=call.now,
        next_at=call.now,
    )
    if not call.tx.notices.add(made):
        raise Refusal(
            Code.RATE_LIMITED, "A test notification was sent within the last minute.", "Wait for it, then try again."
        )
    return {"success": True, "notice_id": made.id}
