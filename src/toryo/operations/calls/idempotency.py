"""Idempotency: a request repeated with its idempotency key gets the stored answer.

REST creates take an `Idempotency-Key` header, some tools an `idempotency_key`. A key belongs to a caller and a scope
(an operation, a main task, a project); people's keys are kept for a day, agents' for 30
(`housekeeping/old_idempotency_keys.py`). The same key with other content is refused on every path. Secrets in an answer
are not stored: they are shown only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Operation
from toryo.operations.calls.credential_verification import digest
from toryo.operations.calls.results import JsonObject
from toryo.storage.idempotency_keys import Key

CREATED = 201
SCOPE = "rest "
SECRETS = frozenset({"passkey", "token", "code", "secret", "page_secret"})


@dataclass(frozen=True, slots=True)
class Once:
    """A caller's key within a scope, and the content that was sent with it."""

    who: str
    scope: str
    key: str | None
    content: str
    """A digest."""

    @staticmethod
    def of(who: str, scope: str, key: str | None, content: Any) -> Once:
        """`content` is plain JSON data."""
        kept = digest(orjson.dumps(content, option=orjson.OPT_SORT_KEYS, default=str).decode()) if key else ""
        return Once(who, scope, key, kept)

    def before(self, call: Call, **known: Callable[[Any], Any]) -> Any | None:
        """What was remembered for the key; None: it is new. Raises Refusal if it stood for other content.

        `known` makes further keys of the refusal out of what was remembered.
        """
        return self.among(call.tx.idempotency_keys.find(self.stored), **known)

    @property
    def stored(self) -> list[Key]:
        """The key as it is stored, if there is one."""
        return [(self.who, self.scope, self.key)] if self.key is not None else []

    def among(self, used: Mapping[Key, tuple[str, Any]], **known: Callable[[Any], Any]) -> Any | None:
        """As `before`, with the keys that were found."""
        found = next((used[key] for key in self.stored if key in used), None)
        if found is None:
            return None
        content, kept = found
        if content != self.content:
            raise Refusal(
                Code.CONFLICT,
                say("The idempotency key {key} was already used for a different request.", key=(self.key or "")[:40]),
                "Use a new key for a new request.",
                **{name: told(kept) for name, told in known.items()},
            )
        return kept

    def remember(self, call: Call, kept: Any) -> None:
        """`kept` is plain JSON data, from which the answer can be made again."""
        call.tx.idempotency_keys.remember([(key, self.content, kept, call.now) for key in self.stored])


def applies(operation: Operation) -> bool:
    """Creates take the header."""
    return operation.route is not None and operation.route.method == "POST" and operation.route.status == CREATED


def carried_out(
    call: Call, operation: Operation, parameters: Any, arguments: dict[str, Any], key: str | None
) -> JsonObject | Later:
    """What the operation answers; with a key that was used before, what it answered then. Raises Refusal."""
    looks_only = getattr(parameters, "preview", False)
    if key is None or looks_only or call.caller.agent is None or not applies(operation):
        return _plain(operation.handler(call, parameters))
    once = Once.of(call.caller.agent.id, f"{SCOPE}{operation.name}", key, arguments)
    before = once.before(call)
    if before is not None:
        return _again(before)
    result = _plain(operation.handler(call, parameters))
    if not isinstance(result, Later) and result.get("success") is not False:
        shown = {name: value for name, value in result.items() if name not in SECRETS}
        once.remember(call, {"answer": shown, "secrets": sorted(result.keys() & SECRETS)})
    return result


def _plain(answer: Mapping[str, Any] | Later) -> JsonObject | Later:
    """A handler's answer, of whatever type, as something that keys are added to on its way."""
    return answer if isinstance(answer, Later) else dict(answer)


def _again(before: JsonObject) -> JsonObject:
    answer: JsonObject = before["answer"]
    if before["secrets"]:
        made = ", ".join(f"{name} {value}" for name, value in answer.items() if name.endswith("_id") and value)
        raise Refusal(
            Code.CONFLICT,
            say(
                "This request was already carried out{made}. Its {secret} was shown once and is not shown again.",
                made=f" ({made})" if made else "",
                secret=before["secrets"][0],
            ),
            "If you did not receive it, create another one with a new idempotency key, and revoke or renew this one.",
        )
    return answer
