"""Notices by webhook: a signed POST of JSON, as Standard Webhooks (standardwebhooks.com) describe it.

The signature is the HMAC-SHA256 of `id.timestamp.body`, in base64, in the header `webhook-signature` as `v1,…`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import httpx
import orjson

import toryo
from toryo.domain.notices import Notice
from toryo.domain.times import SECOND, Millis
from toryo.housekeeping.notice_channel import Undelivered, address_of
from toryo.settings import NoticeSettings

TIME_LIMIT = 10.0
"""Seconds for each step of a request."""
_WELL_KNOWN = "whsec_"


class Webhook:
    """Any answer but 2xx is a failure; redirects are not followed, as they may lead anywhere."""

    def __init__(self, settings: NoticeSettings) -> None:
        assert settings.webhook_url is not None
        self._url = settings.webhook_url.get_secret_value()
        self._key = key_of(settings.webhook_secret.get_secret_value()) if settings.webhook_secret is not None else None
        self._dashboard = settings.dashboard_url
        self._http = httpx.Client(timeout=TIME_LIMIT, follow_redirects=False)

    def send(self, notice: Notice, now: Millis) -> None:
        url = address_of(notice, self._dashboard)
        body = orjson.dumps({"id": notice.id, "attempt": notice.attempts, **notice.content, "url": url})
        try:
            with self._http.stream("POST", self._url, content=body, headers=self._headers(notice, body, now)) as answer:
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Undelivered(f"no connection to the webhook ({type(error).__name__})") from None
        if not 200 <= status < 300:
            raise Undelivered(f"the webhook answered {status}")

    def _headers(self, notice: Notice, body: bytes, now: Millis) -> dict[str, str]:
        stamp = str(now // SECOND)
        headers = {
            "content-type": "application/json",
            "user-agent": f"toryo/{toryo.__version__}",
            "webhook-id": notice.id,
            "webhook-timestamp": stamp,
        }
        if self._key is not None:
            headers["webhook-signature"] = signature(self._key, notice.id, stamp, body)
        return headers

    def close(self) -> None:
        self._http.close()


def signature(key: bytes, notice_id: str, stamp: str, body: bytes) -> str:
    signed = hmac.new(key, f"{notice_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


def key_of(secret: str) -> bytes:
    """`whsec_…` is base64, as libraries for Standard Webhooks take it; any other text stands for itself."""
    if secret.startswith(_WELL_KNOWN):
        try:
            return base64.b64decode(secret.removeprefix(_WELL_KNOWN), validate=True)
        except binascii.Error:
            return secret.encode()
    return secret.encode()
