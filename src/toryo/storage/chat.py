"""Messages, mailboxes, conversations, delegations and panels as one aggregate; each has its own module.

This module only combines them to find which chats have work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from toryo.domain.conversations import State
from toryo.domain.panels import Viewer
from toryo.domain.times import Millis
from toryo.storage import schema
from toryo.storage.conversations import CONVERSATIONS, Conversations, is_open, not_settled
from toryo.storage.delegations import Delegations, is_undone
from toryo.storage.engine.statements import Statement, in_list
from toryo.storage.mailboxes import Mailboxes
from toryo.storage.messages import Messages
from toryo.storage.panels import VIEWERS, Panels, is_unclosed

_b, _c, _d, _v = schema.mailboxes, schema.conversations, schema.delegations, schema.viewers
_p = sa.bindparam

_ALL_VIEWERS = Statement(VIEWERS.select().where(is_unclosed, _v.c.seen_at > _p("after")))
_ALL_OPEN = Statement(CONVERSATIONS.select().where(is_open, not_settled).order_by(_c.c.last_turn_at, _c.c.id))
_MAIL_WAITS = Statement(
    sa.select(_b.c.waiting_since, _b.c.agent_id, _b.c.project_id).where(sa.literal_column("newest > cursor"))
)
_DELEGATIONS_WAIT = Statement(
    sa.select(_d.c.created_at, _d.c.agent_id, _d.c.project_id).where(is_undone, _d.c.status == "pending")
)
_LEFT_AT = Statement(
    sa.select(_b.c.project_id, _b.c.agent_id, _b.c.left_at).where(
        in_list(_b.c.project_id, "project_ids"), in_list(_b.c.agent_id, "agent_ids")
    )
)


class Chats(Messages, Mailboxes, Conversations, Delegations, Panels):
    def wanted(self, viewers_heard_after: Millis) -> list[tuple[Millis, str, str, bool]]:
        """Since when, agent, project, and whether a partner waits: for every agent whose chat has work.

        A hint only: the launch decision decides whether a session runs.
        """
        found: dict[tuple[str, str], Millis] = {}
        awaited: set[tuple[str, str]] = set()

        def note(since: Millis, agent_id: str, project_id: str) -> None:
            pair = (agent_id, project_id)
            found[pair] = min(since, found.get(pair, since))

        for row in (*self._connection.all(_MAIL_WAITS), *self._connection.all(_DELEGATIONS_WAIT)):
            note(row[0], row[1], row[2])
        for noun in CONVERSATIONS.nouns(self._connection.all(_ALL_OPEN)):
            invited = noun.state is State.PENDING
            agent_id = noun.partner_id if invited else noun.turn_of
            note(noun.last_turn_at, agent_id, noun.project_id)
            awaited.add((agent_id, noun.project_id))
        for viewer in self._fresh_viewers(viewers_heard_after):
            note(viewer.opened_at, viewer.agent_id, viewer.project_id)
        return sorted((since, *pair, pair in awaited) for pair, since in found.items())

    def _fresh_viewers(self, heard_after: Millis) -> Iterable[Viewer]:
        """Panels opened after the last chat session of their agent ended."""
        open_ = VIEWERS.nouns(self._connection.all(_ALL_VIEWERS, after=heard_after))
        left = self._left_at(open_) if open_ else {}
        return (viewer for viewer in open_ if viewer.opened_at > left.get((viewer.project_id, viewer.agent_id), 0))

    def _left_at(self, viewers: Collection[Viewer]) -> dict[tuple[str, str], Millis]:
        """End of the last chat session by project and agent, for at least these panels."""
        rows = self._connection.all(
            _LEFT_AT,
            project_ids=sorted({viewer.project_id for viewer in viewers}),
            agent_ids=sorted({viewer.agent_id for viewer in viewers}),
        )
        return {(row[0], row[1]): row[2] for row in rows}
