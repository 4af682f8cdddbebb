"""A question that `ask_person` has stored is also shown to the person at the MCP client (elicitation), while the call
waits.

Only where the connection shows a person's token and the client has said in its handshake that it can ask: the answer is
then given as that person, by the operation that takes everyone's answers. An agent's credential alone answers nothing.
The first answer counts; without an answer the question stays open, and the call is answered as it always is.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Mapping
from typing import Any

import orjson

from toryo.domain.errors import Code
from toryo.domain.questions import LONGEST_ANSWER
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls.callers import Credentials, Login
from toryo.operations.calls.grants import Door
from toryo.secret_patterns import PERSON
from toryo.server import mcp_fast_path, mcp_progress, mcp_results, request_bodies, sse
from toryo.server.long_polling import Waiting
from toryo.server.mcp_results import Call
from toryo.server.mcp_streams import Session, Streams
from toryo.server.request_bodies import Send

TOOL = "ask_person"
WAITS_WITH_PROGRESS_SECONDS = 600.0
"""Where the client hears of progress."""
MOST_TIMES = 3
"""How often one call asks: again where what was answered is no answer to the question."""
_LISTS_SINCE = b"2025-11-25"
"""The protocol version in which a form has lists to choose several from."""
_VERSION = b"mcp-protocol-version"

Shown = Mapping[str, Any]
Said = dict[str, Any]


class Elicitation:
    def __init__(self, waiting: Waiting, streams: Streams) -> None:
        self._waiting, self._streams = waiting, streams

    def asking(self, call: Call, headers: Mapping[bytes, bytes], shown: Credentials) -> Session | None:
        """The session in which the person can be asked; None: this call is answered like any other."""
        if call.name != TOOL or call.modern or not (shown.bearer or "").startswith(PERSON):
            return None
        session = self._streams.session(headers, shown)
        events = mcp_fast_path.accepts_events(headers.get(b"accept", b""))
        return session if session is not None and session.elicits and events else None

    async def answer(
        self, call: Call, session: Session, headers: Mapping[bytes, bytes], person: Credentials, send: Send
    ) -> None:
        outcome = await self._waiting.answer(call.name, call.arguments, person, Door.MCP)
        question = await self._for_this_person((outcome.result or {}).get("question_id"), person)
        if question is None:
            await request_bodies.send_json(send, 200, mcp_results.response(call, outcome, b"{}"))
            return
        await sse.begin(send)
        lists = headers.get(_VERSION, b"") >= _LISTS_SINCE
        until = asyncio.get_running_loop().time() + _patience(call)
        wrong = ""
        for _ in range(MOST_TIMES):
            said = await self._asked(
                session, question, form(question, lists=lists, wrong=wrong), call, until, person, send
            )
            given = answer_of(question, said) if said is not None else None
            if given is None:
                break
            given = {**given, "question_id": question["question_id"]}
            taken = await self._waiting.answer("answer_question", given, person, Door.OWN)
            refusal = taken.result or {}
            if not taken.refused or refusal.get("error") != Code.VALIDATION_ERROR:
                break
            wrong = f"{refusal['message']} {refusal['instruction']}"
        question = await self._question(question["question_id"], person)
        if question is not None and question["state"] == "answered":
            # Asked again, it answers what a person has answered, and what follows.
            repeated = {name: value for name, value in call.arguments.items() if name != "ask_again"}
            outcome = await self._waiting.answer(call.name, repeated, person, Door.MCP)
        await sse.write(send, sse.event(mcp_results.response(call, outcome, b"{}")))
        await sse.end(send)

    # --- the question ------------------------------------------------------------------------------------------------

    async def _for_this_person(self, question_id: str | None, person: Credentials) -> Shown | None:
        """The question, if it is open, and theirs to answer."""
        question = await self._question(question_id, person) if question_id is not None else None
        if question is None or question["state"] != "open":
            return None
        me = await self._waiting.answer("who_am_i", {}, person, Door.OWN)
        if me.refused or me.result is None or me.result["login"] == Login.VIEWER:
            return None
        return question if question["to"] in (None, me.result["person_id"]) else None

    async def _question(self, question_id: str, person: Credentials) -> Shown | None:
        outcome = await self._waiting.answer("show_question", {"question_id": question_id}, person, Door.OWN)
        found: Shown | None = None if outcome.refused else (outcome.result or {}).get("question")
        return found

    # --- the request to the client -----------------------------------------------------------------------------------

    async def _asked(
        self,
        session: Session,
        question: Shown,
        form: Mapping[str, Any],
        call: Call,
        until: float,
        person: Credentials,
        send: Send,
    ) -> Said | None:
        """What the client answers; None if it does not in time, or the question ended in another way."""
        request_id = f"ask-{secrets.token_urlsafe(18)}"
        reply: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        session.asked[request_id] = reply
        try:
            await _write(send, {"id": request_id, "method": "elicitation/create", "params": form})
            said = await self._heard(reply, question, call, until, person, send)
        finally:
            del session.asked[request_id]
        if said is None:
            params = {"requestId": request_id, "reason": "No answer is needed any longer."}
            await _write(send, {"method": "notifications/cancelled", "params": params})
        return said

    async def _heard(
        self,
        reply: asyncio.Future[Said],
        question: Shown,
        call: Call,
        until: float,
        person: Credentials,
        send: Send,
    ) -> Said | None:
        loop = asyncio.get_running_loop()
        told = loop.time()
        async with self._waiting.listen({f"project:{question['project_id']}"}) as hints:
            while True:
                current = await self._question(question["question_id"], person)
                left = until - loop.time()
                if current is None or current["state"] != "open" or self._waiting.stopping or left <= 0:
                    return reply.result() if reply.done() else None
                next_told = told + mcp_progress.EVERY
                hint = asyncio.create_task(hints.wait(max(0.0, min(left, next_told - loop.time()))))
                either: list[asyncio.Future[Any]] = [reply, hint]
                try:
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    hint.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await hint
                if reply.done():
                    return reply.result()
                if loop.time() >= next_told:  # not at every hint: a busy project has many
                    told = loop.time()
                    await sse.write(send, _still_waiting(call.progress, _patience(call) - (until - told)))


def _patience(call: Call) -> float:
    return LONGEST_WAIT_SECONDS if call.progress is None else WAITS_WITH_PROGRESS_SECONDS


async def _write(send: Send, message: Mapping[str, Any]) -> None:
    await sse.write(send, sse.event(orjson.dumps({"jsonrpc": "2.0", **message})))


def _still_waiting(token: bytes | None, seconds: float) -> bytes:
    return sse.PING if token is None else mcp_progress.notification(token, seconds)


# --- the form ---------------------------------------------------------------------------------------------------------


def form(question: Shown, *, lists: bool, wrong: str = "") -> dict[str, Any]:
    """The parameters of `elicitation/create`. `lists`: whether the client knows lists to choose several from. `wrong`:
    why what was answered before is no answer."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    options = question["options"]
    if question["multiple"] and not lists:
        properties |= {f"choice_{number}": {"type": "boolean", "title": each} for number, each in enumerate(options)}
    elif options and question["multiple"]:
        items = {"type": "string", "enum": options}
        properties["choices"] = {"type": "array", "title": "Answer", "items": items, "uniqueItems": True}
    elif options:
        properties["choice"] = {"type": "string", "title": "Answer", "enum": options}
    if options and not question["free_text"]:
        required += [name for name in ("choice", "choices") if name in properties]
    if question["free_text"]:
        title = "Or in your own words" if options else "Answer"
        properties["text"] = {"type": "string", "title": title, "maxLength": LONGEST_ANSWER}
        required += [] if options else ["text"]
    schema = {"type": "object", "properties": properties, "required": required}
    message = f"{wrong}\n\n{question['question']}" if wrong else question["question"]
    return {"message": message, "requestedSchema": schema}


def answer_of(question: Shown, said: Said) -> dict[str, Any] | None:
    """What was answered, as `answer_question` takes it, which decides whether it fits; None: nothing was."""
    result = said.get("result")
    if not isinstance(result, dict) or result.get("action") != "accept":
        return None
    content = result.get("content")
    if not isinstance(content, dict):
        return None
    choices = [each for number, each in enumerate(question["options"]) if content.get(f"choice_{number}") is True]
    chosen, several, text = content.get("choice"), content.get("choices"), content.get("text")
    choices += [chosen] if isinstance(chosen, str) and chosen else []
    choices += several if isinstance(several, list) else []
    return {"choices": choices, "text": text if isinstance(text, str) and text.strip() else None}


def can_ask(initialize: Mapping[str, Any]) -> bool:
    """Whether the client of this handshake can ask its person with a form."""
    params = initialize.get("params")
    capabilities = params.get("capabilities") if isinstance(params, dict) else None
    found = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(found, dict) and (not found or isinstance(found.get("form"), dict))
