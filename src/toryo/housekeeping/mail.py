"""Notices by e-mail, over SMTP: `smtps://` is encrypted from the start, `smtp://` as soon as the server offers it."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from toryo.domain.notices import Notice
from toryo.domain.texts import one_line, printable
from toryo.domain.times import SECOND, Millis
from toryo.housekeeping.notice_channel import Undelivered, address_of
from toryo.settings import NoticeSettings

TIME_LIMIT = 10.0
"""Seconds for each step of the dialogue."""


class Mail:
    """One connection for each message: there are few, and none stays open."""

    def __init__(self, settings: NoticeSettings) -> None:
        assert settings.smtp_url is not None
        self._server = urlsplit(settings.smtp_url.get_secret_value())
        self._from = settings.smtp_from or ""
        self._addresses = settings.emails
        self._dashboard = settings.dashboard_url

    def send(self, notice: Notice, now: Millis) -> None:
        address = self._addresses.get(notice.person_id)
        if address is None:
            raise Undelivered(f"{notice.person_id} no longer has an e-mail address (TORYO_NOTICES__EMAILS)")
        message = email(notice, self._from, address, now, self._dashboard)
        try:
            smtp = _connected(self._server)
            try:
                smtp.send_message(message)
            finally:
                smtp.close()  # no QUIT: what was taken is taken, whatever would be answered to it
        except smtplib.SMTPResponseException as error:
            raise Undelivered(f"the mail server answered {error.smtp_code}") from None
        except smtplib.SMTPRecipientsRefused:
            raise Undelivered("the mail server rejected the recipient") from None
        except (OSError, smtplib.SMTPException) as error:
            raise Undelivered(f"no connection to the mail server ({type(error).__name__})") from None

    def close(self) -> None:
        """Nothing is open."""


def email(notice: Notice, sender: str, to: str, now: Millis, dashboard: str | None = None) -> EmailMessage:
    """The message; its Message-ID is the notice's id, so that a mailbox sees what came twice."""
    content = notice.content
    message = EmailMessage()
    message["From"], message["To"] = sender, to
    message["Subject"] = one_line(f"[Toryo] {content['title']}")
    message["Date"] = format_datetime(datetime.fromtimestamp(now / SECOND, UTC))
    message["Message-ID"] = f"<{notice.id}@{parseaddr(sender)[1].rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    todo = "\n".join(f"  {action['command']}" for action in content["actions"])
    where = f"Project {content['project_id']}, since" if content["project_id"] else "Since"
    parts = [
        _quoted(content["text"].splitlines()),
        *_asked(content.get("request")),
        todo,
        *_linked(address_of(notice, dashboard)),
        f"{where} {content['since']}.",
    ]
    message.set_content(printable("\n\n".join(parts)) + "\n")
    return message


def _linked(address: str | None) -> list[str]:
    return [] if address is None else [f"In the dashboard:\n  {address}"]


def _asked(request: dict[str, Any] | None) -> Iterator[str]:
    """The text to approve, every line marked as a quotation."""
    if request is None:
        return
    for name in ("title", "description", "context", "commands", "acceptance"):
        said = request[name]
        lines = said if isinstance(said, (list, tuple)) else (said or "").splitlines()
        if lines:
            yield f"{name.capitalize()}:\n{_quoted(lines)}"
    if not request["complete"]:
        yield "The text is longer than shown here. Read all of it before you approve."


def _quoted(texts: Iterable[str]) -> str:
    """Texts that agents or people may have written, every line marked, so that none reads as Toryo's own."""
    return "\n".join(f"  | {line}" for text in texts for line in text.splitlines() or [""])


def _connected(server: SplitResult) -> smtplib.SMTP:
    host, context = server.hostname or "", ssl.create_default_context()
    if server.scheme == "smtps":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(host, server.port or 465, timeout=TIME_LIMIT, context=context)
    else:
        smtp = smtplib.SMTP(host, server.port or 587, timeout=TIME_LIMIT)
    try:
        _introduce(smtp, server, context)
    except BaseException:
        smtp.close()
        raise
    return smtp


def _introduce(smtp: smtplib.SMTP, server: SplitResult, context: ssl.SSLContext) -> None:
    smtp.ehlo()
    encrypted = server.scheme == "smtps"
    if not encrypted and smtp.has_extn("starttls"):
        smtp.starttls(context=context)
        smtp.ehlo()
        encrypted = True
    if server.username is None:
        return
    if not encrypted and not _here(server.hostname or ""):
        raise Undelivered(
            "the mail server does not offer encryption, and the password is never sent unencrypted; use smtps://"
        )
    smtp.login(unquote(server.username), unquote(server.password or ""))


def _here(host: str) -> bool:
    """Whether it is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
