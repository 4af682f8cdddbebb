"""What others have written to a person who has not been shown it, thread by thread."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import deed
from toryo.domain.messages import MessageKind
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import say, together
from toryo.operations.overview.needs.view import BRIEF, View
from toryo.storage.needs import Unread


def threads(view: View) -> Iterator[Need]:
    for unread in view.call.tx.needs.unread(view.people, view.projects):
        if unread.kind is MessageKind.MESSAGE:
            yield _thread(view, unread, Kind.MESSAGE, say("New message from {who}", who=view.name(unread.other_id)))
        elif view.call.tx.chat.mailbox(unread.project_id, unread.other_id).has_undelivered:
            title = say("{who} has not read your message", who=view.name(unread.other_id))
            yield _thread(view, unread, Kind.NOBODY_CAME, title)


def _thread(view: View, unread: Unread, kind: Kind, title: str) -> Need:
    message = view.call.tx.chat.at(unread.project_id, unread.newest)
    many = unread.many > 1 and kind is Kind.MESSAGE
    more = say("({count} new messages; this is the latest)", count=unread.many) if many else ""
    return Need(
        person_id=unread.person_id,
        kind=kind,
        about=f"{unread.project_id} {unread.other_id}",
        title=title,
        text=together((message.content[:BRIEF] if message is not None else "", more)),
        since=unread.since,
        actions=(
            deed("answer" if kind is Kind.MESSAGE else "open", agent_id=unread.other_id, project_id=unread.project_id),
            *([deed("why", agent_id=unread.other_id)] if kind is Kind.NOBODY_CAME else []),
        ),
        project_id=unread.project_id,
        task_id=message.related_task_id if message is not None else None,
        agent_id=unread.other_id,
    )
