"""Identifiers: a prefix and a random, time-ordered part. Time and randomness are arguments."""

from __future__ import annotations

from functools import lru_cache

from toryo import chosen_ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import Millis
from toryo.domain.wording import say

PROJECT, AGENT, TASK, SESSION, LAUNCH = "prj", "agt", "tsk", "ses", "lau"
HANDOFF, NOTIFICATION, EVENT, NOTE, CHECK = "hnd", "ntf", "evt", "nte", "chk"
KEY, ARTIFACT = "key", "art"
MESSAGE, CONVERSATION, DELEGATION, VIEWER = "msg", "cnv", "dlg", "vwr"
NOTICE = "ntc"
WORKTREE_JOB = "job"
SIGN_IN, ACCESS_TOKEN = "sgn", "pat"
PUSH_SUBSCRIPTION = "psh"
SAVED_VIEW = "svw"
QUESTION = "qst"
SCHEDULE, SCHEDULE_RUN = "sch", "run"
WEBHOOK, DELIVERY = "whk", "dlv"
MEMORY = "mem"
QUEUE_ENTRY = "mqe"

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def make(prefix: str, now: Millis, randomness: int) -> str:
    """`tsk_` + 9 characters of time + 10 of randomness (50 bits); later ids sort later."""
    return f"{prefix}_{_time(now)}{_digits(randomness, 10)}"


def chosen(identifier: str) -> str:
    """An id that a user has chosen for an agent or a project. Raises Refusal for an invalid one."""
    if not chosen_ids.may_be(identifier):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{identifier!r} is not a valid id.", identifier=identifier),
            "Use 1 to 64 characters: a-z, 0-9, dot, underscore, hyphen. Begin with a letter or digit.",
        )
    if identifier == chosen_ids.ANY:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{identifier} stands for anyone who is free, where an assignee is written.", identifier=identifier),
            "Choose another id.",
        )
    return identifier


_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


@lru_cache(maxsize=64)
def _time(now: Millis) -> str:
    """Cached: a batch of calls makes hundreds of ids in a millisecond."""
    return _digits(now, 9)


def _digits(number: int, width: int) -> str:
    """In base 32, two digits at a time."""
    out = ""
    for _ in range(width // 2):
        out = _PAIRS[number & 1023] + out
        number >>= 10
    return _ALPHABET[number & 31] + out if width % 2 else out
