"""HTTP errors: status codes and problem details (RFC 9457) of refusals.

The rule that refuses words the refusal; here it only gets its HTTP form. `ConfigurationError`: the server cannot start.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say


class ConfigurationError(Exception):
    """The server cannot start as it is configured: `message` says what is wrong, `instruction` what to do."""

    def __init__(self, message: str, instruction: str) -> None:
        super().__init__(message)
        self.message = message
        self.instruction = instruction


_STATUS: dict[str, int] = {
    Code.AUTHENTICATION_REQUIRED: 401,
    Code.INVALID_CREDENTIALS: 401,
    Code.SESSION_TOKEN_INVALID: 401,
    Code.SESSION_EXPIRED: 401,
    Code.PERMISSION_DENIED: 403,
    Code.PROOF_REQUIRED: 403,
    Code.MANAGER_REQUIRED: 403,
    Code.COORDINATOR_REQUIRED: 403,
    Code.CHAT_SESSION_REQUIRED: 403,
    Code.TASK_SESSION_REQUIRED: 403,
    Code.TOO_LARGE: 413,
    Code.VALIDATION_ERROR: 422,
    Code.RATE_LIMITED: 429,
    Code.LOCKED: 429,
    Code.UNAVAILABLE: 503,
}
_STANDARD = frozenset({"success", "error", "message", "instruction"})


def status_of(code: str) -> int:
    """The HTTP status of a refusal: 404 for every `…NotFound`, 409 for a rule that says no."""
    if code.endswith("NotFound"):
        return 404
    return _STATUS.get(code, 409)


def problem(result: dict[str, Any], status: int | None = None) -> tuple[int, dict[str, Any]]:
    """A refusal's result as (status, problem details); its further keys are kept beside the standard ones."""
    code = str(result.get("code") or result.get("error") or Code.UNAVAILABLE.value)
    status = status or status_of(code)
    details = {key: value for key, value in result.items() if key not in _STANDARD}
    return status, {
        **details,
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": result.get("message") or result.get("error", ""),
        "code": code,
        "instruction": result.get("instruction", ""),
    }


def too_large(limit: int) -> Refusal:
    return Refusal(
        Code.TOO_LARGE,
        say("The request is larger than {limit:,} bytes.", limit=limit),
        "Send less: store large texts in files of the working directory and send their names.",
        limit=limit,
    )


def refusal_of_encoding(encoding: str) -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR,
        say("The body is compressed (Content-Encoding: {encoding}), which is not accepted.", encoding=encoding[:40]),
        "Send it as it is, without Content-Encoding.",
    )


def too_many_values(most: int) -> Refusal:
    return Refusal(
        Code.TOO_LARGE,
        say("The request contains more than {most:,} values.", most=most),
        "Send less: store large data in files of the working directory and send their names.",
        limit=most,
    )


def crash_answer(operation: str) -> Refusal:
    """The answer to a caller after a bug in the server; the log has the cause."""
    return Refusal(
        Code.UNAVAILABLE,
        say("{operation} failed because of an internal error of the server.", operation=operation),
        "Try again. If it fails again, show this message to a person: the cause is in the server's log.",
    )
