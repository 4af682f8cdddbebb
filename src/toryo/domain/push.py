"""Web push: which browsers a person is notified in, about what, and at which hours.

A browser's subscription belongs to the sign-in that made it, and ends with it. Preferences are the person's: they hold
for every browser.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import urlsplit

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.needs import Kind
from toryo.domain.projects import Language
from toryo.domain.shape import AgentId, Key, To
from toryo.domain.times import SECOND, Millis

KNOWN_SERVICES = (
    "fcm.googleapis.com",
    "*.push.services.mozilla.com",
    "*.push.apple.com",
    "*.notify.windows.com",
)
"""Push services of the browsers: Chrome, Edge and others; Firefox; Safari; Edge on Windows."""
TEST = "test"
"""The kind of a notification that a person sends to try it."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where one browser is notified, as the Push API states it. `p256dh` and `auth` are base64url."""

    id: str
    person_id: AgentId
    sign_in_id: Annotated[str, To("sign_ins")]
    endpoint: str
    p256dh: str
    auth: str
    language: Language
    created_at: Millis


@dataclass(frozen=True, slots=True)
class Preferences:
    """`muted`: kinds of needs that are not told. Quiet hours are minutes after midnight; from 22:00 to 07:00 they last
    over midnight.
    """

    person_id: Annotated[AgentId, Key]
    muted: tuple[str, ...] = ()
    quiet_from: int | None = None
    quiet_to: int | None = None
    time_zone: str = "UTC"

    def tells(self, kind: Kind) -> bool:
        return kind.value not in self.muted


def quiet_until(preferences: Preferences, now: Millis) -> Millis | None:
    """When the quiet hours end in which `now` lies; None outside of them."""
    begin, end = preferences.quiet_from, preferences.quiet_to
    if begin is None or end is None:
        return None
    from zoneinfo import ZoneInfo  # read only where somebody has quiet hours

    zone = ZoneInfo(preferences.time_zone)
    here = datetime.fromtimestamp(now / SECOND, UTC).astimezone(zone)
    minute = here.hour * 60 + here.minute
    inside = begin <= minute < end if begin <= end else minute >= begin or minute < end
    if not inside:
        return None
    day = here.date() + timedelta(days=1 if minute >= end else 0)
    ends = datetime(day.year, day.month, day.day, end // 60, end % 60, tzinfo=zone)
    return max(now + 1, int(ends.timestamp()) * SECOND)


def is_served_by(endpoint: str, services: tuple[str, ...]) -> bool:
    """Whether an endpoint belongs to one of these push services: nothing is ever sent anywhere else.

    A service is a host, `*.` and a domain, or `host:port`. Endpoints are https; http only on this machine, for a
    service with a port.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return False
    if parts.username is not None:  # it is "" before a password alone
        return False
    if parts.scheme == "http":
        return host in ("127.0.0.1", "localhost") and f"{host}:{port}" in services
    if parts.scheme != "https":
        return False
    if port not in (None, 443):
        return f"{host}:{port}" in services
    return any(host == each or (each.startswith("*.") and host.endswith(each[1:])) for each in services)
