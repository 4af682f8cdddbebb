"""The outbox of notices: records which people to tell about which needs (`note`), and what was sent (`take`, `sent`,
…).

It is derived from facts: a need without a current notice gets one for each configured channel; a notice whose need is
gone is over. So none is lost or written twice, whatever caused the need. `notice_sending.py` sends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toryo.domain import ids, notices
from toryo.domain.needs import Kind, Need
from toryo.domain.notices import QUIET, Channel, Notice
from toryo.domain.texts import one_line, printable
from toryo.domain.times import SECOND, iso
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.overview import needs

_LOOKED_AT = 50
"""Notices looked at in one transaction until one is found that still holds."""


def note(call: Call) -> int:
    """How many notices were written."""
    if not call.context.settings.notices.configured:
        return 0
    call.tx.notices.forget(call.now - notices.KEPT)
    found = needs.of_everybody(call)
    lasting = call.tx.notices.lasting()
    needed = {(each.person_id, each.key) for each in found}
    for notice in lasting:
        if (notice.person_id, notice.key) not in needed:
            call.tx.notices.save(notice, notices.over(notice, call.now))
    told = {(notice.person_id, notice.key, notice.channel) for notice in lasting}
    new = ((need, channel) for need, channel in _to_tell(call, found) if (*_about(need), channel) not in told)
    return sum(_add(call, need, channel) for need, channel in new)


def _about(need: Need) -> tuple[str, str]:
    return (need.person_id, need.key)


def _to_tell(call: Call, found: Iterable[Need]) -> Iterator[tuple[Need, Channel]]:
    """What is told by which channels. A message has time to be seen first."""
    settings = call.context.settings.notices
    for need in found:
        if need.kind is Kind.MESSAGE and call.now < need.since + settings.message_after * SECOND:
            continue
        if settings.webhook_url is not None:
            yield need, Channel.WEBHOOK
        if settings.smtp_url is not None and need.person_id in settings.emails:
            yield need, Channel.EMAIL


def _add(call: Call, need: Need, channel: Channel) -> bool:
    quiet = QUIET.get(need.kind)
    last = call.tx.notices.last_told(*_about(need), channel) if quiet is not None else None
    if quiet is not None and last is not None and call.now < last + quiet:
        return False
    return call.tx.notices.add(
        Notice(
            id=call.new_id(ids.NOTICE),
            person_id=need.person_id,
            key=need.key,
            channel=channel,
            content={"person_id": need.person_id, **_readable(needs.shown(need))},
            created_at=call.now,
            next_at=call.now,
        )
    )


def _readable(shown: schemas.Need) -> schemas.Need:
    """Safe for external channels: agents have written much of the text."""
    request = shown["request"]
    if request is not None:
        request = {**request, "title": one_line(request["title"]), "description": printable(request["description"])}
    return {**shown, "title": one_line(shown["title"]), "text": printable(shown["text"]), "request": request}


# --- sending ---------------------------------------------------------------------------------------------------------


def take(call: Call, channel: Channel) -> Notice | None:
    """The longest due notice of a channel that somebody still needs; for a while it is the taker's alone."""
    for notice in call.tx.notices.due(channel, call.now, _LOOKED_AT):
        person = call.tx.agents.find(notice.person_id)
        if person is not None and any(need.key == notice.key for need in needs.of(call, person)):
            mine = notices.taken(notice, call.now)
            call.tx.notices.save(notice, mine)
            return mine
        call.tx.notices.save(notice, notices.over(notice, call.now))
    return None


def sent(call: Call, notice: Notice) -> None:
    """It has arrived."""
    before = call.tx.notices.find(notice.id)
    if before is not None:
        call.tx.notices.save(before, notices.sent(before, call.now))
        _tell(call, before, "notice.sent")


def failed(call: Call, notice: Notice, error: str) -> Notice | None:
    """Records a failed attempt: retried later, or abandoned with an event. Returns the updated notice."""
    before = call.tx.notices.find(notice.id)
    if before is None or before.over_at is not None:
        return before
    after = notices.failed(before, error, call.now, call.context.settings.notices.attempts)
    call.tx.notices.save(before, after)
    if after.given_up_at is not None:
        _tell(call, after, "notice.given_up", error=error)
    return after


def _tell(call: Call, notice: Notice, kind: str, **more: str) -> None:
    content = notice.content
    call.event(
        kind,
        project_id=content.get("project_id"),
        agent_id=content.get("agent_id"),
        data={
            "notice_id": notice.id,
            "person": notice.person_id,
            "channel": notice.channel.value,
            "about": notice.key,
            "needed_since": content.get("since"),
            "noted_at": iso(notice.created_at),
            "attempts": notice.attempts,
            **more,
        },
    )
