"""How the services say that an account has used up what it may use: answers with 429 that differ from a rate limit.

Written after what the programs look for in them; each makes a text of its own of it, or goes on trying.
"""

from __future__ import annotations

import json
import time

from tests.clis.turns import Fault

COMES_BACK_IN = 1375
"""Seconds: 22 min 55 s."""
_GOOGLE = "type.googleapis.com/google.rpc."


def quota(name: str) -> Fault:
    """As the service of this program words it."""
    return {"claude": _anthropic, "gemini": _google, "codex": _chatgpt}.get(name, _openai)()


def _anthropic() -> Fault:
    headers = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(_comes_back_at()),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-overage-status": "rejected",
    }
    words = "This request would exceed your account's rate limit. Please try again later."
    return Fault(429, words, retry_after=COMES_BACK_IN, headers=headers)


def _google() -> Fault:
    per_day = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50"}
    details = [
        {"@type": f"{_GOOGLE}QuotaFailure", "violations": [per_day]},
        {"@type": f"{_GOOGLE}RetryInfo", "retryDelay": f"{COMES_BACK_IN}s"},
    ]
    error = {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED"}
    return Fault(429, body=json.dumps({"error": {**error, "details": details}}))


def _chatgpt() -> Fault:
    error = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus"}
    until = {"resets_at": _comes_back_at(), "resets_in_seconds": COMES_BACK_IN}
    return Fault(429, body=json.dumps({"error": {**error, **until}}))


def _openai() -> Fault:
    words = "You exceeded your current quota, please check your plan and billing details."
    code = "insufficient_quota"
    return Fault(429, body=json.dumps({"error": {"message": words, "type": code, "param": None, "code": code}}))


def _comes_back_at() -> int:
    return int(time.time()) + COMES_BACK_IN
