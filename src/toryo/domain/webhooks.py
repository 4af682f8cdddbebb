"""Webhooks: tasks that are created when another program sends a signed request. Which requests count, and the texts of
their tasks. Pure.

What schedules have, too, is in `sources.py`. The signature and the headers are those of GitHub's webhooks.
`operations/schedules/webhook_rest.py` is what people do, `operations/schedules/deliveries.py` what happens when a
request comes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.shape import To
from toryo.domain.sources import Entry, Source
from toryo.domain.texts import one_line, several_lines

AT_ONCE, THEN_EVERY_SECONDS = 60, 1.0
"""Signed requests that a webhook may receive at once, and the seconds until one more is allowed."""
MOST_EVENTS = 50
LONGEST_EVENT = 100
LONGEST_KEY = 200
LONGEST_IN_TITLE, LONGEST_IN_TEXT = 200, 10_000
"""Characters of one value that comes from outside."""
PING = "ping"
"""What GitHub sends when a webhook is created. It creates no task, unless the webhook asks for it by name."""


class Outcome(StrEnum):
    """What became of a delivery."""

    CREATED = "created"
    IGNORED = "ignored"
    """Its event is not one of the webhook's, or the webhook is not active."""
    REFUSED = "refused"
    """The task could not be created; `reason` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Source):
    secret: str
    events: tuple[str, ...]
    """The events that create a task; empty: all."""
    tasks: int = 0
    """Tasks created so far."""

    def wants(self, event: str | None) -> bool:
        return event in self.events if self.events else event != PING


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Entry):
    """What became of one request."""

    webhook_id: Annotated[str, To("webhooks")]
    key: str
    """What names the delivery among those of its webhook."""
    event: str | None
    outcome: Outcome
    waits: bool = False
    """Its task starts as soon as its assignee has room for it."""

    @property
    def source_id(self) -> str:
        return self.webhook_id


def signature(secret: str, body: bytes) -> str:
    """As GitHub writes it: `sha256=` and the HMAC of the body in hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signed(secret: str, body: bytes, given: str) -> bool:
    """In a time that does not depend on what was given."""
    return hmac.compare_digest(signature(secret, body).encode(), given.encode("utf-8", "replace"))


# --- texts -----------------------------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_PATH = re.compile(r"event|body(?:\.[\w-]+)*")
_INDEX = re.compile(r"[0-9]{1,9}")
_OPENED, _CLOSED = "<external>", "</external>"
_TAG = re.compile(r"<(?=/?\s*external)", re.IGNORECASE)


class Missing(ValueError):
    """The body does not have what a placeholder names."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def not_a_placeholder(text: str) -> str | None:
    """The first `{{ … }}` that names nothing."""
    paths = (found[1].strip() for found in _PLACEHOLDER.finditer(text))
    return next((path for path in paths if not _PATH.fullmatch(path)), None)


def has_placeholders(text: str) -> bool:
    return _PLACEHOLDER.search(text) is not None


def title_of(template: str, values: Mapping[str, Any], longest: int) -> str:
    """The title of a task. Raises Missing. Empty where the values are."""
    return _cut(one_line(_filled(template, values, lambda value: _cut(one_line(value), LONGEST_IN_TITLE))), longest)


def description_of(template: str, values: Mapping[str, Any], longest: int) -> str:
    """The description of a task, with each value from outside in tags that it cannot close. Raises Missing."""

    def marked(value: str) -> str:
        inner = _TAG.sub("‹", _cut(several_lines(value), LONGEST_IN_TEXT))
        return f"{_OPENED}{inner}{_CLOSED}"

    text = _filled(template, values, marked)
    if len(text) <= longest:
        return text
    cut = text[: longest - len(_CLOSED) - 1]
    return f"{cut}…{_CLOSED if cut.rfind(_OPENED) > cut.rfind(_CLOSED) else ''}"


def _filled(template: str, values: Mapping[str, Any], written: Callable[[str], str]) -> str:
    return _PLACEHOLDER.sub(lambda found: written(_text(_value(values, found[1].strip()))), template)


def _value(values: Mapping[str, Any], path: str) -> Any:
    """What a path like `body.commits.0.message` names; a number counts the entries of a list from 0."""
    value: Any = values
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            raise Missing(path)
    return value


def _text(value: Any) -> str:
    """A text as it is, null as nothing, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
