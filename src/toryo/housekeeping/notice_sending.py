"""Sends notices in a thread of its own: nothing waits for it, and no transaction stays open meanwhile.

A notice is leased in one transaction, sent outside of any, and its outcome is stored in another. If the server dies in
between, it is sent again when the lease is over: at least once, always with the same id.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

import structlog

from toryo.domain.notices import Channel, Notice
from toryo.housekeeping import notice_outbox
from toryo.housekeeping.notice_channel import Sender, Undelivered
from toryo.operations.calls.dispatch import Dispatcher
from toryo.storage.engine.database import Connection
from toryo.storage.transaction import Transaction

LOOKS_EVERY = 5.0
"""Seconds between looks at what is due."""

_log = structlog.get_logger("toryo.notices")


def senders(dispatcher: Dispatcher) -> dict[Channel, Sender]:
    """Those that are configured."""
    # Imported only here: most servers send nothing, and need neither an HTTP client nor SMTP.
    settings = dispatcher.settings.notices
    found: dict[Channel, Sender] = {}
    if settings.push_services:
        from toryo.housekeeping.web_push import WebPush

        found[Channel.PUSH] = WebPush(dispatcher)
    if settings.webhook_url is not None:
        from toryo.housekeeping.webhook import Webhook

        found[Channel.WEBHOOK] = Webhook(settings)
    if settings.smtp_url is not None:
        from toryo.housekeeping.mail import Mail

        found[Channel.EMAIL] = Mail(settings)
    return found


class Sending:
    """Sends due notices by the configured channels; without a channel there is no thread."""

    def __init__(self, dispatcher: Dispatcher, by: Mapping[Channel, Sender] | None = None) -> None:
        self._dispatcher = dispatcher
        self._by = senders(dispatcher) if by is None else by
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="toryo-notices", daemon=True)

    def start(self) -> None:
        if self._by:
            self._thread.start()

    def close(self) -> None:
        """What is being sent has ten seconds to arrive; else the next server sends it again."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        for sender in self._by.values():
            sender.close()

    def round(self) -> None:
        """Everything that is due; a channel that fails has the rest of its round off."""
        for channel, sender in self._by.items():
            try:
                while not self._closing.is_set() and self._one(channel, sender):
                    pass
            except Exception as error:  # noqa: BLE001 - a database that is away must not end the sending for good
                _log.warning("sending_failed", channel=channel.value, error=str(error))

    def _one(self, channel: Channel, sender: Sender) -> bool:
        """Sends one notice; True if it arrived, so that the next may be tried."""
        notice = self._taken(channel)
        if notice is None:
            return False
        try:
            sender.send(notice, self._dispatcher.clock())
        except Exception as error:  # noqa: BLE001 - whatever it is: it counts, and other notices are tried later
            self._failed(notice, str(error) if isinstance(error, Undelivered) else type(error).__name__)
            return False
        self._dispatcher.housekeep(lambda call: notice_outbox.sent(call, notice))
        _log.info("notice_sent", notice_id=notice.id, channel=channel.value, person=notice.person_id)
        return True

    def _taken(self, channel: Channel) -> Notice | None:
        """A look costs no lock: that is taken only where something is due."""
        now = self._dispatcher.clock()

        def due(connection: Connection) -> bool:
            return bool(Transaction(connection).notices.due(channel, now, 1))

        if not self._dispatcher.database.read(due):
            return None
        taken: Notice | None = self._dispatcher.housekeep(lambda call: notice_outbox.take(call, channel))
        return taken

    def _failed(self, notice: Notice, error: str) -> None:
        after: Notice | None = self._dispatcher.housekeep(lambda call: notice_outbox.failed(call, notice, error))
        given_up = after is not None and after.given_up_at is not None
        _log.warning(
            "notice_given_up" if given_up else "notice_not_sent",
            notice_id=notice.id,
            channel=notice.channel.value,
            person=notice.person_id,
            attempt=notice.attempts,
            error=error,
        )

    def _run(self) -> None:
        while not self._closing.wait(LOOKS_EVERY):
            self.round()
