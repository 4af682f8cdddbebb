"""Classifies the end of a program by its exit code, the responses of the model's service, and the words it printed.

The service's response takes precedence over the last words of the output, and these over the exit code. Words overrule
a status only if it is ambiguous (`_MAY_MEAN_MORE`), or if they name a quota. The output of a program that exited with 0
is not searched, because agents write about limits and logins, too. The order of `_WORDS` matters: "weekly rate limit"
is a quota and must come before "rate limit". `reset_times.py` reads the end of a quota.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from toryo.coordinator import reset_times
from toryo.coordinator.program_output import Troubled, Window
from toryo.coordinator.provider import FINE, Exit, Verdict
from toryo.failures import NATURES, Failure

RUNNER_EXITS: Mapping[int, Failure] = {
    69: Failure.COULD_NOT_CONNECT,
    77: Failure.COULD_NOT_CONNECT,
    78: Failure.BAD_CONFIG,
}
"""Exit codes of Toryo's own runners (sysexits.h: unavailable, no permission, configuration)."""


def judge_runner(end: Exit) -> Verdict:
    """For programs whose exit code says everything; their output comes from other programs."""
    if end.signal is not None:
        return Verdict(Failure.KILLED if end.signal in _FROM_OUTSIDE else Failure.CRASHED)
    return FINE if not end.exit_code else Verdict(RUNNER_EXITS.get(end.exit_code, Failure.CRASHED))


def judge_by_words(end: Exit) -> Verdict:
    """For model CLIs: explains a failed end by the last output."""
    if end.exit_code == 0:
        return FINE
    return _by_words(end.tail, end.now) or judge_runner(end)


def judge_model(end: Exit) -> Verdict:
    """For programs whose stream says what the model's service answered: that counts before any words.

    An end without failure proves nothing about the work; only the server knows about that.
    """
    if end.trouble is not None and (end.trouble.final or end.exit_code or end.signal is not None):
        return judge_trouble(end.trouble, end.now)
    if end.exit_code == 0:
        return FINE if end.not_connected is None else Verdict(Failure.COULD_NOT_CONNECT, words=end.not_connected)
    return judge_by_words(end)


def judge_trouble(trouble: Troubled, now: datetime | None = None) -> Verdict:
    """What a refusal of the service means: by its text, if that says more than its status.

    A time in the text comes first, then the time that came with the status. A program that still tries names its own
    pause: that counts only where it is longer than the usual one.
    """
    if trouble.limited:
        return _used_up(trouble, now)
    spoken = _by_words(trouble.words, now) or FINE
    failed = trouble.status is not None and trouble.status >= 500
    by_status = _BY_STATUS.get(trouble.status or 0, Failure.SERVICE_FAILED if failed else None)
    known = trouble.status in _NO_CAPACITY and spoken.failure is Failure.SERVICE_FAILED
    if spoken.failure is not None and not known and (by_status in _MAY_MEAN_MORE or spoken.failure is Failure.QUOTA):
        failure = spoken.failure
    else:
        failure = by_status or _without_status(trouble)
    if not isinstance(failure, Failure) or failure not in _LASTING:
        return Verdict(failure, words=trouble.words)
    told = trouble.retry_seconds
    if told is not None and not trouble.final and told <= (NATURES[failure].usual_pause or 0):
        told = None
    window = _window(trouble.words) if failure is Failure.QUOTA else None
    longest = WINDOW_SECONDS.get(window) if window is not None else None
    seconds = spoken.reset_seconds or reset_times.first_time(trouble.words, now, longest) or told
    return Verdict(failure, seconds and reset_times.within(seconds, longest), window, trouble.words)


def _used_up(trouble: Troubled, now: datetime | None) -> Verdict:
    """A quota of which the service has told the end and the window as data: no words are searched for them."""
    longest = WINDOW_SECONDS.get(trouble.window) if trouble.window is not None else None
    seconds = None
    if trouble.resets_at is not None and now is not None:
        seconds = reset_times.within(max(reset_times.SOON, trouble.resets_at - now.timestamp()), longest)
    return Verdict(Failure.QUOTA, seconds, trouble.window, trouble.words)


def _by_words(text: str, now: datetime | None = None) -> Verdict | None:
    """The meaning of the first known words, with the time that they (or words close to them) name."""
    for pattern, failure in _WORDS:
        found = pattern.search(text)
        if found:
            near = text[found.start() : found.end() + NEARBY]
            named = reset_times.total(found.groupdict())
            window = (
                _window(text[max(0, found.start() - _BEFORE) : found.end() + NEARBY]) if failure is _QUOTA else None
            )
            longest = WINDOW_SECONDS.get(window) if window is not None else None
            if named is None and failure in _LASTING:
                named = reset_times.first_time(near, now, longest)
            return Verdict(failure, named and reset_times.within(named, longest), window)
    return None


def _window(text: str) -> Window | None:
    """The quota that a message names; None for none, and for several."""
    named = [window for window, pattern in _WINDOWS.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else None


def judge_unsigned(end: Exit, *, silent: bool) -> Verdict:
    """Why a program that was ended had not signed in: by what its model's service had said. `silent`: it said nothing
    to a program that has asked."""
    if end.trouble is not None:
        return judge_trouble(end.trouble, end.now)
    if silent and end.not_connected is None:
        return Verdict(Failure.SERVICE_FAILED, words="Its model's service did not answer.")
    return Verdict(Failure.COULD_NOT_CONNECT, words=end.not_connected or "")


def time_will_not_mend(trouble: Troubled) -> bool:
    """Whether trying again has no effect: someone has to act, or the wait is long."""
    return judge_trouble(trouble).failure in (Failure.NOT_LOGGED_IN, Failure.MODEL_NOT_AVAILABLE, Failure.QUOTA)


def _without_status(trouble: Troubled) -> Failure:
    if _FORBIDDEN.search(trouble.words):
        return Failure.NOT_LOGGED_IN
    unreached = not trouble.final or _UNREACHED.search(trouble.words)  # it retries: it got no answer
    return Failure.SERVICE_FAILED if unreached else Failure.CRASHED


def session_is_lost(verdict: Verdict, printed: str, *, resumed: bool) -> bool:
    """Whether a program's session cannot be resumed, or only to the same end: it is too long, or not there. One that
    was resumed and crashed is not tried again either: with a new one, it may work."""
    crashed = verdict.failure is Failure.CRASHED and resumed
    return verdict.failure is not None and (crashed or bool(_LOST.search(f"{verdict.words}\n{printed}")))


_LOST = re.compile(
    r"(?:prompt|input|request|conversation|context) is too (?:long|large)|context[_ ]length|maximum context"
    r"|context window|input token count|too many tokens|token limit exceeded|ran out of room"
    r"|no (?:conversation|session|thread|rollout)s? (?:was )?found|(?:session|thread|conversation) (?:was )?not found"
    r"|invalid session|session (?:id|identifier) .{0,60}(?:invalid|not found)|error resuming",
    re.IGNORECASE,
)
"""Why a session is of no use: what the programs and services say."""

_BY_STATUS: Mapping[int, Failure] = {
    401: Failure.NOT_LOGGED_IN,
    402: Failure.QUOTA,
    403: Failure.NOT_LOGGED_IN,
    404: Failure.MODEL_NOT_AVAILABLE,
    429: Failure.RATE_LIMITED,
    503: Failure.RATE_LIMITED,  # the services mean: no capacity at the moment
    529: Failure.RATE_LIMITED,
}

_NO_CAPACITY = (503, 529)
_UNREACHED = re.compile(
    r"experiencing high demand|error sending request|stream (?:disconnected|closed|ended|error)|network error"
    r"|connect(?:ion)? to .* failed|fetch failed|socket hang up|cannot connect|unable to connect|premature close"
    r"|connection (?:error|refused|reset|closed|was closed|lost)|(?:socket|other side) (?:connection )?(?:was )?closed"
    r"|ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|ETIMEDOUT|EPIPE|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|UND_ERR_"
    r"|timed? ?out|terminated|no answer|(?:empty|malformed|invalid) (?:or malformed )?(?:response|stream)"
    r"|in JSON at position|incomplete JSON|JSON parsing failed|failed to get response from the AI model"
    r"|without a finish reason|missing finish_reason|error (?:decoding|reading) (?:a |response )?body"
    r"|end of file before|mid-response|was cut in the middle|incomplete response returned"
    r"|bad gateway|gateway time-?out",
    re.IGNORECASE,
)
"""The messages of programs about a failed model service, or a connection to it that was cut, without a status."""
_FORBIDDEN = re.compile(r"permission[ _]denied|\bforbidden\b|\bunauthorized\b", re.IGNORECASE)
"""What a service says with 401 and 403, where a program tells its words alone."""
_MAY_MEAN_MORE = (None, Failure.RATE_LIMITED, Failure.SERVICE_FAILED)
"""What a status says, where words may say it better."""

_FROM_OUTSIDE = frozenset({1, 2, 9, 15})
"""HUP, INT, KILL, TERM: ended from outside; any other signal is a fault of the program."""

NEARBY = 400
"""Characters after known words in which a time is taken to belong to them."""
_BEFORE = 40
"""Characters before known words in which the name of a quota is."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_QUOTA = Failure.QUOTA
_LASTING = (Failure.QUOTA, Failure.RATE_LIMITED)
"""Refusals that end by themselves, at a time that the service knows."""


def _limit_of(number: str, unit: str) -> str:
    """ "5-hour limit", "five_hour", "5 hour quota"; not "in 5 hours", which is a time."""
    return rf"\b(?:{number})(?:[-_]{unit}|[ -]?{unit}s?\s+(?:usage |rate )?(?:limit|quota|window))"


_WINDOWS: Mapping[Window, re.Pattern[str]] = {
    "5h": _pattern(rf"{_limit_of('5|five', 'h(?:ou)?r')}|\bsession limit"),
    "day": _pattern(rf"{_limit_of('24|twenty-four', 'h(?:ou)?r')}|\bdaily\b|\bper day\b"),
    "week": _pattern(rf"{_limit_of('7|seven', 'day')}|\bweekly\b|\bper week\b"),
}
WINDOW_SECONDS: Mapping[Window, float] = {"5h": 5 * 3600.0, "day": 86400.0, "week": 7 * 86400.0}
"""How long each lasts: none is waited for any longer, whatever is named."""
_WORDS: tuple[tuple[re.Pattern[str], Failure], ...] = (
    (_pattern(r"quota will reset after " + reset_times.DURATION), _QUOTA),
    (_pattern(r"TerminalQuotaError"), _QUOTA),
    (_pattern(r"not your usage limit"), Failure.RATE_LIMITED),
    (_pattern(r"no capacity|at capacity|capacity (?:is )?unavailable"), Failure.SERVICE_FAILED),
    (
        _pattern(r"MODEL_CAPACITY_EX(?:HAUSTED|CEEDED)|capacity exceeded|exhausted your capacity"),
        Failure.SERVICE_FAILED,
    ),
    (_pattern(r"(?:has|have) disabled (?:API key authentication|Claude subscription)"), Failure.NOT_LOGGED_IN),
    (_pattern(r"retry[- ]after:?\s*(?P<s>\d+(?:\.\d+)?)"), Failure.RATE_LIMITED),
    (_pattern(r"quota\b.{0,40}\bexhausted|exhausted\b.{0,40}\bquota"), _QUOTA),
    (_pattern(r"hit your (?:[\w'-]+ ){0,3}limit|limit reached\||\b(?:hour|weekly|session) limit reached"), _QUOTA),
    (_pattern(r"credit balance is too low|quota (?:exceeded|has been reached)"), _QUOTA),
    (
        _pattern(r"(?:hit|reached) your (?:[\w-]+ ){0,2}limit|usage limit (?:has been )?reached|hit your spend cap"),
        _QUOTA,
    ),
    (_pattern(r"(?:weekly|global|monthly) (?:rate|usage) limit|free usage exceeded|insufficient_quota"), _QUOTA),
    (_pattern(r"out of (?:[\w-]+ ){0,2}(?:credits|usage|quota)\b|insufficient balance|usage not included"), _QUOTA),
    (_pattern(r"requires usage credits|usage limit is set to \$?0|doesn.t include extra usage"), _QUOTA),
    (_pattern(r"INSUFFICIENT_G1_CREDITS|no (?:remaining )?quota\b|premium request allowance"), _QUOTA),
    (_pattern(r"your ChatGPT plan, upgrade|spend(?:ing)? limit (?:has been )?reached"), _QUOTA),
    (_pattern(r"exceeded (?:your|the)\b.{0,30}\bquota"), _QUOTA),
    (_pattern(r"RateLimitError|rate[- ]limit|too many requests|throttl(?:ed|ing)"), Failure.RATE_LIMITED),
    (_pattern(r"\boverloaded\b|experiencing high demand"), Failure.SERVICE_FAILED),
    (_pattern(r"not logged in|please (?:log ?in|run /login)|401 Unauthorized"), Failure.NOT_LOGGED_IN),
    (
        _pattern(r"(?:sign|log) ?in again|re-?authenticate|token (?:revoked|could not be refreshed)"),
        Failure.NOT_LOGGED_IN,
    ),
    (_pattern(r"(?:session|login|token|credentials) (?:has |have )?expired|invalid_grant"), Failure.NOT_LOGGED_IN),
    (_pattern(r"authentication (?:failed|is missing)|failed to authenticate|consent could not"), Failure.NOT_LOGGED_IN),
    (_pattern(r"no auth type is selected|set an auth method|login reached its time limit"), Failure.NOT_LOGGED_IN),
    (_pattern(r"OAuth free tier (?:was|has been) discontinued"), Failure.NOT_LOGGED_IN),
    (_pattern(r"invalid api key|api key not valid|api_key_invalid"), Failure.NOT_LOGGED_IN),
    (_pattern(r"no authentication information|missing environment variable: \W*\w*KEY"), Failure.NOT_LOGGED_IN),
    (
        _pattern(r"models?\b.{0,80}(?:not (?:found|available|supported|exist)|requires a newer version)"),
        Failure.MODEL_NOT_AVAILABLE,
    ),
)
"""The first match wins."""
