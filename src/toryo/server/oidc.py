"""`POST /sign-in/oidc` begins a sign-in at the identity provider; `/sign-in/oidc/callback` is the way back from there.

Both are open to everybody, and change nothing of who is signed in. The way back leads to `/sign-in#provider.CODE`,
where the page that left signs in with the code and with what it has kept. A fragment is sent to nobody.

`identity_provider.py` talks to the provider and checks its answers; operations decide who may sign in.
"""

from __future__ import annotations

import hmac
import html
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from toryo.domain import people
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import SECOND
from toryo.domain.wording import say
from toryo.operations.calls.callers import Credentials
from toryo.operations.people import browser_sign_in
from toryo.server import http_errors, request_credentials, rest_answers
from toryo.server.dashboard_files import GUARDS
from toryo.server.long_polling import Waiting
from toryo.server.oidc_state import OidcState
from toryo.server.sign_in_pace import SignInPace
from toryo.settings import AuthSettings

if TYPE_CHECKING:
    from toryo.server.identity_provider import Provider

PATH = "/sign-in/oidc"
CALLBACK = f"{PATH}/callback"
ARRIVED = "provider."
"""Begins a code that the page completes with what it has kept."""
_LONGEST = 4096
_Step = Callable[[Waiting, Request], Awaitable[Response]]
_log = structlog.get_logger("toryo.sign_in")


class OidcEndpoint:
    """The endpoints at PATH; the OpenID client is loaded on first use."""

    def __init__(self, auth: AuthSettings) -> None:
        self._auth = auth
        self._provider: Provider | None = None

    def routes(self, waiting: Waiting, pace: SignInPace) -> list[BaseRoute]:
        """`pace` limits the rate of attempts."""
        steps = {PATH: ("POST", self._leave), CALLBACK: ("GET", self._come_back)}
        return [
            Route(path, partial(self._answer, method, step, waiting, pace), methods=[method])
            for path, (method, step) in steps.items()
        ]

    async def _answer(self, method: str, step: _Step, waiting: Waiting, pace: SignInPace, request: Request) -> Response:
        from toryo.server.identity_provider import Untrusted

        if request.method != method:
            raise HTTPException(405, headers={"Allow": method})
        pace.count(request)
        try:
            return await step(waiting, request)
        except Refusal as refusal:
            if method == "POST":
                raise  # a page's script reads it
            return _refused(refusal.answer())
        except Untrusted as reason:
            _log.warning("sign_in_refused", reason=str(reason), stranger=True)
            if method == "POST":
                told = say("Sign-in failed: {reason}.", reason=str(reason))
                raise Refusal(Code.UNAVAILABLE, told, "Try again, or ask an owner of this server.") from None
            return _page(401, f"Sign-in failed: {reason}.", "Try again, or ask an owner of this server.")

    async def _leave(self, waiting: Waiting, request: Request) -> Response:
        """`address`: where the page goes from here, `page`: what it keeps until it is back."""
        request_credentials.refuse_others(request)
        departure = OidcState.begin(again=request.query_params.get("again") == "true")
        address = await self._at_work().address(departure, _callback(request))
        await waiting.as_server(partial(browser_sign_in.leave_for_provider, state=departure.state))
        response = rest_answers.json(request, {"address": address, "page": departure.page})
        response.headers["cache-control"] = "no-store"
        _keep(response, request, departure.secret)
        return response

    async def _come_back(self, waiting: Waiting, request: Request) -> Response:
        from toryo.server.identity_provider import Untrusted

        query = request.scope.get("query_string", b"").decode("latin-1")
        said = dict(parse_qsl(query[:_LONGEST], keep_blank_values=True))
        departure = OidcState(request_credentials.cookie(request, _cookie_name(request)) or "")
        if not departure.secret or not hmac.compare_digest(said.get("state", "").encode(), departure.state.encode()):
            raise Untrusted("the sign-in was started in another browser or has expired")
        await waiting.as_server(partial(browser_sign_in.come_back_from_provider, state=departure.state))
        if "code" not in said:
            raise Untrusted(f"the identity provider returned the error {said.get('error', 'nothing')[:100]}")
        person = await self._at_work().vouch(said["code"], departure, _callback(request))
        shown = request_credentials.credentials(dict(request.scope["headers"]), request.scope)
        who = Credentials(remote=shown.remote, browser=shown.browser)
        arrive = partial(browser_sign_in.arrive, wanted=person, page=departure.page)
        result = await waiting.as_server(arrive, who)
        if result["success"] is False:
            return _refused(dict(result))
        _log.info("vouched_for", person_id=result["person_id"], provider=person.issuer)
        response = _redirect(f"/sign-in#{ARRIVED}{result['code']}")
        _keep(response, request, None)
        return response

    def _at_work(self) -> Provider:
        if self._provider is None:
            from toryo.server.identity_provider import Provider

            self._provider = Provider(self._auth)
        return self._provider


def _callback(request: Request) -> str:
    """The callback URL as the browser sees this server; `hosts` has checked the host name."""
    return f"{request.scope.get('scheme', 'http')}://{request.headers.get('host', '')}{CALLBACK}"


def _cookie_name(request: Request) -> str:
    return "__Secure-toryo-leaving" if request_credentials.is_https(request) else "toryo-leaving"


def _keep(response: Response, request: Request, secret: str | None) -> None:
    """Lax: the provider redirects the browser here, and a strict cookie would not be sent."""
    seconds = people.LEAVING_LIVES // SECOND
    request_credentials.set_cookie(
        response, request, _cookie_name(request), secret, seconds=seconds, path=PATH, same_site="lax"
    )


def _redirect(address: str) -> Response:
    return Response(status_code=303, headers={**GUARDS, "location": address})


def _refused(result: dict[str, Any]) -> Response:
    status, document = http_errors.problem(result)
    _log.warning("sign_in_refused", reason=document["code"], stranger=True)
    return _page(status, str(document["detail"]), str(document["instruction"]))


def _page(status: int, what: str, then: str) -> Response:
    """A page for people, without scripts; shows untrusted input as text."""
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Toryo</title><main><h1>Toryo</h1><p>{html.escape(what)}<p>{html.escape(then)}"
        '<p><a href="/sign-in">Sign in</a></main>'
    )
    return HTMLResponse(page, status, GUARDS)
