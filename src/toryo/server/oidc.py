"""`/sign-in/oidc`: a browser goes to the identity provider, and comes back to `/sign-in/oidc/callback` signed in.

How the provider is asked and believed stands in `provider.py`; who may come in as what, in the operations.
"""

from __future__ import annotations

import hmac
import html
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import structlog

from toryo.domain import people
from toryo.domain.times import SECOND
from toryo.operations.calls.callers import SERVER_ITSELF, Credentials
from toryo.operations.calls.grants import Door
from toryo.server import bodies, errors, identity
from toryo.server.bodies import Scope, Send
from toryo.server.departing import Departure
from toryo.server.pages import GUARDS
from toryo.server.waiting import Waiting
from toryo.settings import AuthSettings

if TYPE_CHECKING:
    from toryo.server.identity_provider import Provider

PATH = "/sign-in/oidc"
CALLBACK = f"{PATH}/callback"
_LONGEST = 4096
_log = structlog.get_logger("toryo.sign_in")


class OidcEndpoint:
    """The ASGI application behind PATH; what it needs to talk to the provider is loaded when somebody comes."""

    def __init__(self, auth: AuthSettings) -> None:
        self._auth = auth
        self._provider: Provider | None = None

    async def __call__(self, scope: Scope, waiting: Waiting, send: Send) -> None:
        from toryo.server.identity_provider import Untrusted

        if scope["method"] != "GET":
            await bodies.send_text(send, 405, "Open this address in a browser.\n")
            return
        headers = dict(scope["headers"])
        try:
            if scope["path"] == PATH:
                await self._leave(scope, headers, waiting, send)
            elif scope["path"] == CALLBACK:
                await self._come_back(scope, headers, waiting, send)
            else:
                await _say(send, 404, "There is nothing here.", "Sign in again.")
        except Untrusted as reason:
            _log.warning("sign_in_refused", reason=str(reason), stranger=True)
            await _say(
                send, 401, f"You could not be signed in: {reason}.", "Try again, or ask an owner of this server."
            )

    async def _leave(self, scope: Scope, headers: Mapping[bytes, bytes], waiting: Waiting, send: Send) -> None:
        departure = Departure(secrets.token_urlsafe(32))
        address = await self._at_work().address(departure, _callback(headers, scope))
        who = Credentials(signed_in_before=identity.browser_token(headers, scope), proof=SERVER_ITSELF)
        outcome = await waiting.answer("leave_for_provider", {"state": departure.state}, who, Door.OWN)
        if outcome.refused:
            await _refuse(send, outcome.result or {})
            return
        cookie = _kept(departure.secret, scope)
        await _redirect(send, address, cookie)

    async def _come_back(self, scope: Scope, headers: Mapping[bytes, bytes], waiting: Waiting, send: Send) -> None:
        from toryo.server.identity_provider import Untrusted

        said = _query(scope)
        departure = Departure(identity.from_cookie(headers, _cookie_name(scope)) or "")
        if not departure.secret or not hmac.compare_digest(said.get("state", "").encode(), departure.state.encode()):
            raise Untrusted("this is not the browser that began to sign in, or that was too long ago")
        server = Credentials(proof=SERVER_ITSELF)
        outcome = await waiting.answer("come_back_from_provider", {"state": departure.state}, server, Door.OWN)
        if outcome.refused:
            await _refuse(send, outcome.result or {})
            return
        if "code" not in said:
            raise Untrusted(f"the provider says {said.get('error', 'nothing')[:100]}")
        person = await self._at_work().vouch(said["code"], departure, _callback(headers, scope))
        told = {"issuer": person.issuer, "subject": person.subject, "email": person.email, "name": person.name}
        shown = identity.credentials(headers, scope)
        who = Credentials(remote=shown.remote, browser=shown.browser, proof=SERVER_ITSELF)
        outcome = await waiting.answer("sign_in_vouched", {**told, "login": person.role}, who, Door.OWN)
        if outcome.refused:
            await _refuse(send, outcome.result or {})
            return
        token = (outcome.result or {})["browser_token"]
        await _redirect(send, "/", identity.signed_in(token, headers, scope), _kept(None, scope))

    def _at_work(self) -> Provider:
        if self._provider is None:
            from toryo.server.identity_provider import Provider

            self._provider = Provider(self._auth)
        return self._provider


def _callback(headers: Mapping[bytes, bytes], scope: Scope) -> str:
    """Our own address as the browser knows it; `hosts` has seen to it that it is one of ours."""
    return f"{scope.get('scheme', 'http')}://{headers.get(b'host', b'').decode('latin-1')}{CALLBACK}"


def _cookie_name(scope: Scope) -> bytes:
    return b"__Secure-toryo-leaving" if scope.get("scheme") == "https" else b"toryo-leaving"


def _kept(secret: str | None, scope: Scope) -> tuple[bytes, bytes]:
    """Lax: the provider sends the browser back, and a stricter cookie would stay at home."""
    secure, seconds = scope.get("scheme") == "https", people.LEAVING_LIVES // SECOND
    return identity.set_cookie(
        _cookie_name(scope), secret, secure=secure, seconds=seconds, path=PATH.encode(), lax=True
    )


def _query(scope: Scope) -> dict[str, str]:
    query = scope.get("query_string", b"").decode("latin-1")
    return dict(parse_qsl(query[:_LONGEST], keep_blank_values=True))


async def _redirect(send: Send, address: str, *cookies: tuple[bytes, bytes]) -> None:
    extra = ((b"location", address.encode()), (b"cache-control", b"no-store"), *GUARDS, *cookies)
    await bodies.send_json(send, 303, b"", b"text/plain", extra)


async def _refuse(send: Send, result: dict[str, Any]) -> None:
    status, document = errors.problem(result)
    await _say(send, status, str(document["detail"]), str(document["instruction"]))


async def _say(send: Send, status: int, what: str, then: str) -> None:
    """A page for a person, without a script: it may say what strangers have sent, and shows it as text."""
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Toryo</title><main><h1>Toryo</h1><p>{html.escape(what)}<p>{html.escape(then)}"
        '<p><a href="/sign-in">Sign in</a></main>'
    )
    await bodies.send_json(send, status, page.encode(), b"text/html; charset=utf-8", (*GUARDS, _NO_STORE))


_NO_STORE = (b"cache-control", b"no-store")
