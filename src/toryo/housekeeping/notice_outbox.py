"""The outbox of notices: records which people to tell about which needs (`note`), and what was sent (`take`, `sent`,
…).

It is derived from facts: a need without a current notice gets one for each configured channel; a notice whose need is
gone is over. So none is lost or written twice, whatever caused the need. `notice_sending.py` sends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toryo.domain import ids, notices, push
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.needs import Kind, Need
from toryo.domain.notices import QUIET, Channel, Notice
from toryo.domain.projects import Language
from toryo.domain.push import Preferences
from toryo.domain.texts import one_line, printable
from toryo.domain.times import SECOND, Millis, iso
from toryo.domain.wording import Worded
from toryo.operations import translations
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.overview.needs import answers, finding

_LOOKED_AT = 50
"""Notices looked at in one transaction until one is found that still holds."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A need to tell one person by one channel, in which language, and not before when."""

    need: Need
    channel: Channel
    language: Language = Language.ENGLISH
    not_before: Millis = 0

    @property
    def mark(self) -> tuple[str, str, Channel]:
        return (self.need.person_id, self.need.key, self.channel)


def note(call: Call) -> int:
    """How many notices were written."""
    settings = call.context.settings.notices
    reached = call.tx.push.reached(call.now) if settings.push_services else {}
    if not settings.configured and not reached:
        return 0
    call.tx.notices.forget(call.now - notices.KEPT)
    found = finding.needs_of_everybody(call)
    lasting = call.tx.notices.lasting()
    needed = {(each.person_id, each.key) for each in found}
    for notice in lasting:
        tried = notice.key == push.TEST and notice.next_at is not None  # it has no need, and is over when it was sent
        if (notice.person_id, notice.key) not in needed and not tried:
            call.tx.notices.save(notice, notices.over(notice, call.now))
    told = {(notice.person_id, notice.key, notice.channel) for notice in lasting}
    return sum(_add(call, each) for each in _to_tell(call, found, reached) if each.mark not in told)


def count_as_told(call: Call) -> None:
    """Everybody counts as told of what needs them now, by webhook and email: nothing of it is sent later."""
    for need in finding.needs_of_everybody(call):
        for channel in (Channel.WEBHOOK, Channel.EMAIL):
            call.tx.notices.add(
                Notice(
                    id=call.new_id(ids.NOTICE),
                    person_id=need.person_id,
                    key=need.key,
                    channel=channel,
                    content={"person_id": need.person_id},
                    created_at=call.now,
                    next_at=None,
                    sent_at=call.now,
                )
            )


def _to_tell(call: Call, found: Iterable[Need], reached: Mapping[str, Language]) -> Iterator[_Told]:
    """What is told by which channels. A message has time to be seen first."""
    settings = call.context.settings.notices
    preferences = call.tx.push.all_preferences() if reached else {}
    for need in found:
        if need.kind is Kind.MESSAGE and call.now < need.since + settings.message_after * SECOND:
            continue
        if settings.webhook_url is not None:
            yield _Told(need, Channel.WEBHOOK)
        if settings.smtp_url is not None and need.person_id in settings.emails:
            yield _Told(need, Channel.EMAIL)
        language = reached.get(need.person_id)
        wishes = preferences.get(need.person_id) or Preferences(need.person_id)
        if language is not None and wishes.tells(need.kind):
            yield _Told(need, Channel.PUSH, language, push.quiet_until(wishes, call.now) or 0)


def _add(call: Call, told: _Told) -> bool:
    need = told.need
    quiet = QUIET.get(need.kind)
    last = call.tx.notices.last_told(*told.mark) if quiet is not None else None
    if quiet is not None and last is not None and call.now < last + quiet:
        return False
    return call.tx.notices.add(
        Notice(
            id=call.new_id(ids.NOTICE),
            person_id=need.person_id,
            key=need.key,
            channel=told.channel,
            content={"person_id": need.person_id, **_readable(_in(told, answers.need(need, call.now)))}
            | ({"language": told.language.value} if told.channel is Channel.PUSH else {}),
            created_at=call.now,
            next_at=max(call.now, told.not_before),
        )
    )


def _in(told: _Told, shown: schemas.Need) -> schemas.Need:
    """Its sentences in the language of who is told; a browser has buttons instead of commands."""

    def say(text: str) -> str:
        if not isinstance(text, Worded):
            return text
        return translations.translate(text, told.language, page=told.channel is Channel.PUSH)

    actions: list[schemas.NeedAction] = [{**each, "label": say(each["label"])} for each in shown["actions"]]
    return {**shown, "title": say(shown["title"]), "text": say(shown["text"]), "actions": actions}


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
        if person is not None and (
            notice.key == push.TEST or any(need.key == notice.key for need in finding.needs_of(call, person))
        ):
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
