"""`POST /hooks/{id}`: where other programs send what creates tasks. A request has no credential but its signature.

Requests that are not signed are refused alike, whether there is such a webhook or not, and slowed down by address;
only signed ones come further, and are slowed down by webhook. So nobody can use up what a webhook may receive without
its secret.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toryo.domain.errors import Code, Refusal
from toryo.domain.times import SECOND, Millis
from toryo.domain.webhooks import AT_ONCE, LONGEST_EVENT, LONGEST_KEY, THEN_EVERY_SECONDS
from toryo.domain.wording import Worded, say
from toryo.operations.calls.rate_limits import Pace
from toryo.operations.schedules import deliveries
from toryo.server import rest_answers
from toryo.server.long_polling import Waiting
from toryo.server.request_bodies import Bodies

_LONGEST_ID = 64
_DELIVERY = ("x-github-delivery", "idempotency-key")


class Hooks:
    def __init__(self, waiting: Waiting, max_body: int, now: Callable[[], Millis]) -> None:
        self._waiting = waiting
        self._bodies = Bodies(max_body)
        self._now = now
        self._strangers = Pace()
        self._webhooks = Pace(AT_ONCE, THEN_EVERY_SECONDS)

    def route(self) -> Route:
        return Route("/hooks/{webhook_id}", self._receive, methods=["POST"])

    async def _receive(self, request: Request) -> Response:
        body = await self._bodies.read(request.receive, dict(request.scope["headers"]))
        asked = deliveries.Request(
            webhook_id=request.path_params["webhook_id"][:_LONGEST_ID],
            signature=request.headers.get("x-hub-signature-256", "").strip(),
            delivery=next((found for name in _DELIVERY if (found := _header(request, name, LONGEST_KEY))), None),
            event=_header(request, "x-github-event", LONGEST_EVENT),
            media_type=request.headers.get("content-type", "").partition(";")[0].strip().lower(),
            body=body,
        )
        now = self._now() / SECOND
        if not await self._waiting.as_server(partial(deliveries.is_signed, request=asked), reads=True):
            address = request.client.host if request.client is not None else "unix"
            _refuse_haste(self._strangers.wait_seconds_at(address, now), say("Too many requests without a signature."))
            raise deliveries.not_signed()
        _refuse_haste(self._webhooks.wait_seconds(asked.webhook_id, now), say("Too many deliveries to one webhook."))
        answer = await self._waiting.as_server(partial(deliveries.receive, request=asked))
        if isinstance(answer, Refusal):
            return rest_answers.problem(request, answer.answer())
        return rest_answers.json(request, answer, 201 if answer["outcome"] == "created" else 200)


def _header(request: Request, name: str, longest: int) -> str | None:
    """What it says, in visible characters. Raises Refusal if that is longer."""
    given = request.headers.get(name, "").strip().strip('"')
    if not given:
        return None
    if len(given) > longest or not (given.isascii() and given.isprintable()):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The header {name} is invalid.", name=name),
            say("Send at most {longest} printable characters.", longest=longest),
        )
    return given


def _refuse_haste(seconds: float, message: Worded) -> None:
    if seconds:
        wait = math.ceil(seconds)
        instruction = say("Wait {seconds} seconds, then try again.", seconds=wait)
        raise Refusal(Code.RATE_LIMITED, message, instruction, retry_after=wait)
