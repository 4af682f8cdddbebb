"""What the programs' own sources can say when they fail, beside what was recorded of them: by program and answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from toryo.coordinator.failure_words import judge_by_words, judge_trouble, session_is_lost
from toryo.coordinator.program_output import Answering, Called, Reading, Returned, Troubled
from toryo.coordinator.provider import FINE, Exit, Verdict
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.reset_times import SOON
from toryo.coordinator.stop_escalation import Bounds, Output, overstepped
from toryo.failures import Failure

LOGIN, QUOTA, RATE = Failure.NOT_LOGGED_IN, Failure.QUOTA, Failure.RATE_LIMITED
SERVICE, MODEL = Failure.SERVICE_FAILED, Failure.MODEL_NOT_AVAILABLE
NOW = datetime(2027, 1, 15, 4, 51, tzinfo=UTC)
_REFRESH = "Your access token could not be refreshed"
SAID = [
    ("claude", "Not logged in · Please run /login", LOGIN),
    ("claude", "Login expired · Please run /login", LOGIN),
    ("claude", "OAuth token revoked · Please run /login", LOGIN),
    ("claude", "Login reached its time limit · Please run /login", LOGIN),
    ("claude", "Failed to authenticate: OAuth session expired and could not be refreshed", LOGIN),
    ("claude", "Your organization has disabled API key authentication · Run /login to sign in", LOGIN),
    ("claude", "Your organization has disabled Claude subscription access for Claude Code · Use an API key", LOGIN),
    ("claude", "Session expired. Please run /login to sign in again.", LOGIN),
    ("claude", "Credit balance is too low", QUOTA),
    ("claude", "You're out of extra usage · resets 3pm (UTC)", QUOTA),
    ("claude", "You\u2019re out of usage credits.", QUOTA),
    ("claude", "Your organization is out of usage credits.", QUOTA),
    ("claude", "You've hit your session limit · resets 9am (UTC)", QUOTA),
    ("claude", "You've hit your Opus limit · resets Jan 20, 9am (UTC)", QUOTA),
    ("claude", "You've hit your channel's monthly spend limit.", QUOTA),
    ("claude", "You\u2019ve hit your monthly spend limit.", QUOTA),
    ("claude", "Your group's usage limit is set to $0", QUOTA),
    ("claude", "Your seat type doesn't include extra usage", QUOTA),
    ("claude", "Fable 5 requires usage credits", QUOTA),
    ("claude", "API Error: Server is temporarily limiting requests (not your usage limit)", RATE),
    ("claude", "API Error: Overloaded", SERVICE),
    ("codex", f"{_REFRESH} because your refresh token has expired. Please log out and sign in again.", LOGIN),
    ("codex", f"{_REFRESH} because your refresh token was already used. Please log out and sign in again.", LOGIN),
    ("codex", f"{_REFRESH} because your refresh token was revoked. Please log out and sign in again.", LOGIN),
    ("codex", f"{_REFRESH} because you have since logged out or signed in to another account.", LOGIN),
    ("codex", "Your authentication session could not be refreshed automatically. Please sign in again.", LOGIN),
    ("codex", "You've hit your usage limit. Upgrade to Plus to continue using Codex", QUOTA),
    ("codex", "You've reached your usage limit. Increase your limits to continue using codex.", QUOTA),
    ("codex", "You've reached your workspace credit limit", QUOTA),
    ("codex", "Your workspace is out of credits. Add credits to continue.", QUOTA),
    ("codex", "You hit your spend cap set in your workspace. Increase your spend cap to continue.", QUOTA),
    ("codex", "Quota exceeded. Check your plan and billing details.", QUOTA),
    ("codex", "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", QUOTA),
    ("codex", "Rate limit reached for gpt-9 on tokens per min. Please try again in 1.2s.", RATE),
    ("codex", "Selected model is at capacity. Please try a different model.", SERVICE),
    ("codex", "Policy-restricted capacity is unavailable. Please try again later.", SERVICE),
    ("codex", "Flex capacity unavailable.", SERVICE),
    ("codex", "We're currently experiencing high demand, which may cause temporary errors.", SERVICE),
    ("codex", "stream disconnected before completion: stream closed before response.completed", SERVICE),
    ("codex", "The 'gpt-9' model is not supported when using Codex with a ChatGPT account.", MODEL),
    ("codex", "The 'gpt-9' model requires a newer version of Codex.", MODEL),
    ("gemini", "No capacity available for model gemini-3-pro on the server", SERVICE),
    ("gemini", "MODEL_CAPACITY_EXHAUSTED", SERVICE),
    ("gemini", "You have exhausted your capacity on this model.", SERVICE),
    ("gemini", "You have exhausted your capacity on this model. Your quota will reset after 2h5m.", QUOTA),
    ("gemini", "You have exhausted your daily quota on this model.", QUOTA),
    ("gemini", "INSUFFICIENT_G1_CREDITS_BALANCE", QUOTA),
    ("gemini", "We are currently experiencing high demand.", SERVICE),
    ("gemini", "Please set an Auth method in your /home/u/.gemini/settings.json", LOGIN),
    ("gemini", "Authentication consent could not be obtained.", LOGIN),
    ("gemini", "invalid_grant", LOGIN),
    ("gemini", "[API Error: Incomplete JSON segment at the end]", SERVICE),
    ("qwen", "No auth type is selected. Please configure an auth type before running in non-interactive mode.", LOGIN),
    ("qwen", "Qwen OAuth credentials expired. Please use /auth to re-authenticate with qwen-oauth.", LOGIN),
    ("qwen", "Refresh token expired or invalid. Please use '/auth' to re-authenticate.", LOGIN),
    ("qwen", "Failed to obtain valid Qwen access token. Please re-authenticate.", LOGIN),
    ("qwen", "Qwen OAuth free tier was discontinued on 2026-04-15. Run /auth to switch.", LOGIN),
    ("qwen", "Quota exhausted: free allocated quota exceeded", QUOTA),
    ("qwen", "[API Error: Model stream ended without a finish reason.]", SERVICE),
    ("qwen", "[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]", SERVICE),
    ("opencode", "Free usage exceeded, subscribe to Go", QUOTA),
    ("opencode", "Monthly usage limit reached", QUOTA),
    ("opencode", "Insufficient balance", QUOTA),
    ("opencode", "Provider is overloaded", SERVICE),
    ("opencode", "Too Many Requests", RATE),
    ("opencode", "Cannot connect to API: The socket connection was closed unexpectedly.", SERVICE),
    ("opencode", "SSE read timed out", SERVICE),
    ("opencode", "Authentication is missing or has expired. Run `opencode auth login x` to re-authenticate.", LOGIN),
    ("opencode", "OAuth token has expired and no refresh token is available", LOGIN),
    ("copilot", "No authentication information found.", LOGIN),
    ("copilot", "Authentication failed (Request ID: 1)", LOGIN),
    ("copilot", "You have no quota (Request ID: 1)", QUOTA),
    ("copilot", "You have exceeded your premium request allowance.", QUOTA),
    ("copilot", "Sorry, you've hit a rate limit that restricts the number of model requests.", RATE),
    ("copilot", "Sorry, you have reached your weekly rate limit.", QUOTA),
    ("copilot", "Failed to finalize chat-completions stream: missing finish_reason for choice 0", SERVICE),
]


@pytest.mark.parametrize(("program", "words", "failure"), SAID)
def test_what_a_program_can_say_of_its_service_is_understood(program: str, words: str, failure: Failure) -> None:
    """As the last event of its output, and (but for a failed service, of which no words are sought) as its log."""
    judged = BUILT_IN[program].judge(Exit(1, None, "", Troubled(words, final=True), now=NOW))
    assert judged.failure is failure
    if failure is not SERVICE:
        assert judge_by_words(Exit(1, None, f"Error: {words}\n", now=NOW)).failure is failure


@pytest.mark.parametrize("words", ["Prompt is too long", "the task says: log in first", "assertion failed"])
def test_what_says_nothing_of_a_service_is_a_crash(words: str) -> None:
    assert judge_trouble(Troubled(words, final=True), NOW).failure is Failure.CRASHED


def rejected(**more: object) -> str:
    known = {"status": "rejected", "resetsAt": int(NOW.timestamp()) + 7200, "rateLimitType": "five_hour", **more}
    words = ", ".join(
        f'"{name}": {f"{value!r}".lower() if isinstance(value, bool) else value!r}' for name, value in known.items()
    )
    return f'{{"type": "rate_limit_event", "rate_limit_info": {{{words}}}}}'.replace("'", '"')


END = '{"type": "result", "is_error": true, "result": "You\'ve hit your limit · resets 4:49am (UTC)"}'


def of_claude(*lines: str) -> tuple[Failure | None, float | None, str | None]:
    reading = Reading(BUILT_IN["claude"].parse)
    for line in lines:
        reading.line(line)
    verdict = BUILT_IN["claude"].judge(Exit(1, None, reading.plain, reading.trouble, now=NOW))
    assert verdict.failure is None or isinstance(verdict.failure, Failure)
    return verdict.failure, verdict.reset_seconds, verdict.window


def test_what_claude_code_tells_of_a_used_up_quota_as_data_counts_before_the_words_at_its_end() -> None:
    assert of_claude(rejected(), END) == (QUOTA, 7200, "5h")
    assert of_claude(rejected(rateLimitType="seven_day_opus"), END) == (QUOTA, 7200, "week")
    assert of_claude(rejected()) == (QUOTA, 7200, "5h"), "it was killed"


def test_no_window_is_waited_for_longer_than_it_lasts() -> None:
    assert of_claude(rejected(resetsAt=int(NOW.timestamp()) + 26 * 3600), END) == (QUOTA, 5 * 3600, "5h")
    assert of_claude(rejected(resetsAt=int(NOW.timestamp()) - 5), END) == (QUOTA, SOON, "5h")
    said = "Your 5-hour limit is used up: usage limit reached, resets at 1:00 AM (UTC)"
    assert judge_trouble(Troubled(said, final=True), NOW).reset_seconds == SOON, "it has passed"


def test_a_time_that_has_just_passed_means_soon() -> None:
    assert of_claude(END) == (QUOTA, SOON, None)


def test_extra_usage_that_is_paid_for_is_no_used_up_quota() -> None:
    assert of_claude(rejected(isUsingOverage=True), '{"type": "result"}')[0] is not QUOTA


@pytest.mark.parametrize(
    "words",
    [
        "Prompt is too long",
        "No conversation found with session ID: 0b5f",
        "Codex ran out of room in the model's context window. Start a new thread",
        "no rollout found for thread id 0b5f",
        "The input token count (1200000) exceeds the maximum number of tokens allowed",
        "This model's maximum context length is 128000 tokens.",
        "Session not found: ses_1",
    ],
)
def test_a_session_that_cannot_be_resumed_is_dropped_at_once(words: str) -> None:
    assert session_is_lost(Verdict(Failure.CRASHED, words=words), "", resumed=False)
    assert session_is_lost(Verdict(Failure.SERVICE_FAILED), f"Error: {words}", resumed=True)


def test_a_session_is_kept_unless_it_may_be_the_cause() -> None:
    assert not session_is_lost(FINE, "Prompt is too long", resumed=True)
    assert not session_is_lost(Verdict(Failure.CRASHED, words="boom"), "", resumed=False)
    assert not session_is_lost(Verdict(Failure.RATE_LIMITED, words="try again in 5 minutes"), "", resumed=True)
    assert session_is_lost(Verdict(Failure.CRASHED, words="boom"), "", resumed=True), "a new one may work"


def test_answers_that_bring_nothing_new_are_counted_whatever_is_called_in_turn() -> None:
    reading = Reading(lambda line: [])
    for number in range(15):
        reading.also([Answering(), Called("next", "{}"), Returned(f"wait {number} s")])
        reading.also([Answering(), Called("list"), Returned("[]")])
    assert reading.idle_turns == 28, "but for the first of each"
    reading.also([Answering(), Called("edit", "a file"), Returned("done")])
    assert reading.idle_turns == 0
    assert overstepped(Output(1, 28, idle_turns=28), Bounds(10, 1.0), 0.0) is None
    assert overstepped(Output(1, 30, idle_turns=30), Bounds(10, 1.0), 0.0) == "no_progress"
