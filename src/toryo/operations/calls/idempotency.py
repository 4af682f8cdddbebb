"""The same create once: a request that is sent again with its `Idempotency-Key` is answered as the first time.

Keys are each person's own, and each operation's; they are forgotten after a day (`housekeeping/keys.py`). What is
secret in an answer is not kept: it was shown once.
"""

from __future__ import annotations

from typing import Any

import orjson

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Operation
from toryo.operations.calls.identity import digest

CREATED = 201
SCOPE = "rest "
SECRETS = frozenset({"passkey", "token", "code"})


def applies(operation: Operation) -> bool:
    """Creates take a key."""
    return operation.route is not None and operation.route.method == "POST" and operation.route.status == CREATED


def carried_out(
    call: Call, operation: Operation, parameters: Any, arguments: dict[str, Any], key: str | None
) -> dict[str, Any] | Later:
    """What the operation answers; with a key that was used before, what it answered then. Raises Refusal."""
    if key is None or call.caller.agent is None or not applies(operation):
        return operation.handler(call, parameters)
    who, scope = call.caller.agent.id, f"{SCOPE}{operation.name}"
    content = digest(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode())
    before = call.tx.keeping.batch(who, scope, key)
    if before is not None:
        return _again(before, content, key)
    result = operation.handler(call, parameters)
    if isinstance(result, dict) and result.get("success") is not False:
        shown = {name: value for name, value in result.items() if name not in SECRETS}
        kept = {"answer": shown, "secrets": sorted(result.keys() & SECRETS)}
        call.tx.keeping.remember_batch(who, scope, key, content, kept, call.now)
    return result


def _again(before: tuple[str, Any], content: str, key: str) -> dict[str, Any]:
    if before[0] != content:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The Idempotency-Key {key} was used before, with another content.", key=key[:40]),
            "Send another key for another request; the same one only with what was sent the first time.",
        )
    answer: dict[str, Any] = before[1]["answer"]
    if before[1]["secrets"]:
        made = ", ".join(f"{name} {value}" for name, value in answer.items() if name.endswith("_id") and value)
        raise Refusal(
            Code.CONFLICT,
            say(
                "This was done already{made}; its {secret} was shown once.",
                made=f" ({made})" if made else "",
                secret=before[1]["secrets"][0],
            ),
            "If it did not arrive, make another one with another key, and take back or renew this one.",
        )
    return answer
