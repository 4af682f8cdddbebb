"""Claude Code (`claude`, npm @anthropic-ai/claude-code): headless, its events as JSON lines.

The prompt goes in on stdin, our MCP server by a file that names the credential's variable and does not hold it. What a
run used is in its last line: tokens of this run, money of the whole session. Facts were found by
running version 2.1.330.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toryo.coordinator import content_blocks
from toryo.coordinator.agent_mcp_config import NAME, TOOL_TIME_OUT, mcp_server
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.prices import Prices
from toryo.coordinator.program_output import (
    Called,
    Event,
    NotConnected,
    Said,
    Session,
    Totals,
    Troubled,
    Turned,
    Used,
    Window,
)
from toryo.coordinator.program_probe import ask
from toryo.coordinator.provider import (
    Command,
    Exit,
    Login,
    Metering,
    Needs,
    Own,
    Provider,
    Setting,
    Verdict,
    extra_arguments,
    home,
    permissions,
)
from toryo.failures import Ended, Failure
from toryo.provider_options import Permissions

MCP_CONFIG = "mcp.json"
_LOOKS = ("Read", "Glob", "Grep", "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate")
_EDITS = (*_LOOKS, "Edit", "Write", "NotebookEdit")
_TOOLS: Mapping[Permissions, tuple[str, ...]] = {
    Permissions.READ: _LOOKS,
    Permissions.EDIT: _EDITS,
    Permissions.FULL: (
        *(*_EDITS, "Bash", "BashOutput", "KillShell", "Monitor", "TaskStop"),
        *("Agent", "Task", "Skill", "WebFetch", "WebSearch"),
    ),
}
"""By the names of this and of earlier versions: what it does not know it passes over."""
_USERS_SETTINGS = ("--setting-sources", "user")
"""Settings of the project name commands (hooks, apiKeyHelper) that run without any model, and headless it trusts all.
CLAUDE.md would go with them: so it is read as that of a directory that was added."""
_INSTRUCTIONS = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",  # otherwise our tools are hidden behind a search: one more answer for each
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": str(TOOL_TIME_OUT * 1000),
}


def _prepare(setting: Setting) -> Command:
    server = {**mcp_server(setting, "${{{}}}"), "timeout": TOOL_TIME_OUT * 1000}
    may = permissions(setting)
    tools = _TOOLS[may]
    argv = (
        *("claude", "--print", "--output-format", "stream-json", "--verbose"),
        *("--mcp-config", str(setting.workspace / MCP_CONFIG), "--strict-mcp-config"),
        *("--tools", ",".join(tools)),  # tools that it would refuse are not offered
        *("--permission-mode", "dontAsk", "--allowedTools", ",".join((f"mcp__{NAME}", *tools))),
        *(() if may is Permissions.FULL else (*_USERS_SETTINGS, "--add-dir", str(setting.working_directory))),
        *(("--model", setting.launch.model) if setting.launch.model else ()),
        *(("--resume", setting.resume) if setting.resume else ()),
        *_own_limit(setting),
        *extra_arguments(setting),
    )
    files = {MCP_CONFIG: json.dumps({"mcpServers": {NAME: server}}, indent=2)}
    return Command(argv, _QUIET | (_INSTRUCTIONS if may is not Permissions.FULL else {}), files, stdin=setting.prompt)


def _own_limit(setting: Setting) -> tuple[str, ...]:
    """What is left of the budget: after each answer it looks itself, by the price that it tells only at its end. What a
    resumed session has cost before counts for it, too."""
    left = setting.launch.budget_usd
    if left is None or _LIMIT in extra_arguments(setting):
        return ()
    before = Totals.read(setting.launch.program_session.get("totals")).cost_usd if setting.resume else 0.0
    return (_LIMIT, f"{math.ceil((left + before) * 10_000) / 10_000:.4f}")


_LIMIT = "--max-budget-usd"
_PRICES: Mapping[str, Prices] = {"haiku": Prices(1, 5, 0.1), "opus": Prices(4, 20, 0.4)}
_OTHERS = Prices(3, 15, 0.3)


def _so_far(model: str | None, read: int, written: int, cached: int) -> float:
    """What a run has cost at least, by list prices of its family; its last line tells exactly."""
    family = next((each for name, each in _PRICES.items() if name in (model or "")), _OTHERS)
    return round(family.of(read, written, cached), 6)


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    match line.get("type"), line.get("subtype"):
        case "system", "init":
            yield from _begun(line)
        case "system", "api_retry":
            status, seconds = line.get("error_status"), float(line.get("retry_delay_ms") or 0) / 1000
            words = f"{line.get('error') or 'no answer'}, try {line.get('attempt')} of {line.get('max_retries')}"
            yield Troubled(words, status if isinstance(status, int) else None, seconds)
        case "rate_limit_event", _:
            yield from _limited(line["rate_limit_info"])
        case "assistant", _:
            yield from _answered(line["message"])
        case "user", _:
            yield from content_blocks.results(line["message"].get("content"))
        case "result", _:
            yield from _ended(line)


def _begun(line: dict[str, Any]) -> Iterable[Event]:
    yield Session(str(line["session_id"]))
    for server in line.get("mcp_servers") or ():
        if server.get("name") == NAME and server.get("status") not in ("connected", "pending"):
            yield NotConnected(f"Claude Code could not reach the MCP server {NAME}: {server.get('status')}")


def _limited(limit: dict[str, Any]) -> Iterable[Event]:
    """Of an account with a plan; also reported while the plan still has quota left, and where extra usage is paid."""
    if limit.get("status") == "rejected" and not limit.get("isUsingOverage"):
        at, kind = limit.get("resetsAt"), str(limit.get("rateLimitType") or "")
        when = datetime.fromtimestamp(at, UTC).isoformat() if at else "?"
        yield Troubled(
            f"usage limit reached ({kind or 'of the account'}), resets at {when}",
            429,
            limited=True,
            resets_at=float(at) if at else None,
            window=next((window for begin, window in _LIMITS.items() if kind.startswith(begin)), None),
        )


_LIMITS: Mapping[str, Window] = {"five_hour": "5h", "seven_day": "week"}


def _answered(message: dict[str, Any]) -> Iterable[Event]:
    """One block of an answer. Each block is a separate line with the usage at the start of the answer."""
    if message.get("model") == _ITS_OWN_WORDS:
        return  # the last line repeats them
    usage, answer = message.get("usage") or {}, str(message["id"])
    yield Turned(answer)
    yield Used(
        _input(usage),
        usage.get("output_tokens") or 0,
        _cached(usage),
        model=message.get("model"),
        provisional=True,
        answer=answer,
    )
    for block in message.get("content") or ():
        if block.get("type") == "text":
            yield Said(block["text"])
        elif block.get("type") == "tool_use":
            yield Called(block["name"], json.dumps(block.get("input"), ensure_ascii=False), str(block.get("id") or ""))


_ITS_OWN_WORDS = "<synthetic>"


def _ended(line: dict[str, Any]) -> Iterable[Event]:
    usage = line.get("usage") or {}
    model = next(iter(line.get("modelUsage") or {}), None)
    yield Used(
        _input(usage),
        usage.get("output_tokens") or 0,
        _cached(usage),
        cost_usd=line.get("total_cost_usd"),
        model=model,
        total_cost=True,
    )
    if line.get("is_error"):
        status, kind = line.get("api_error_status"), str(line.get("subtype") or "")
        words = str(line.get("result") or kind)
        yield Troubled(
            words, status if isinstance(status, int) else None, final=True, own=kind.startswith("error_") and not status
        )


def _input(usage: Mapping[str, Any]) -> int:
    return sum(
        usage.get(name) or 0 for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )


def _cached(usage: Mapping[str, Any]) -> int:
    return usage.get("cache_read_input_tokens") or 0


_MAX_TURNS = "error_max_turns"
"""Reported without a text if the arguments have `--max-turns`."""
_MAX_BUDGET = "error_max_budget_usd"
"""The same for its own limit of money."""


def _judge(end: Exit) -> Verdict:
    if end.trouble is not None and end.trouble.words == _MAX_TURNS:
        return Verdict(Failure.TURN_LIMIT, words=_MAX_TURNS)
    if end.trouble is not None and end.trouble.words == _MAX_BUDGET:
        return Verdict(Ended.STOPPED, words=_MAX_BUDGET)
    return judge_model(end)


def _login(environ: Mapping[str, str]) -> Login:
    if any(environ.get(each) for each in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")):
        return Login(True, "with a key in the environment")
    try:
        answer = ask(("claude", "auth", "status"), environ)
        found = json.loads(answer.out)
        return Login(bool(found["loggedIn"]), str(found.get("authMethod") or ""))
    except (OSError, ValueError, KeyError, TypeError):
        return Login(None, "claude auth status does not tell")


def _needs(environ: Mapping[str, str]) -> Needs:
    """`.claude.json` names MCP servers that start with the program; it is copied if it is beside the other files."""
    user = home(environ)
    place = Path(environ.get("CLAUDE_CONFIG_DIR") or user / ".claude")
    copies = {} if environ.get("CLAUDE_CONFIG_DIR") else {user / ".claude.json": user / ".claude.json"}
    own = Own(
        place,
        fixed=(
            *("settings.json", "settings.local.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "hooks"),
            *("rules", "local", "output-styles"),
        ),
        copies=(".claude.json",),
        logins={".credentials.json": tuple(f"claudeAiOauth.{each}" for each in _RENEWED)},
        sessions=("projects/*",),
    )
    return Needs(own=(own,), reads=(user / ".local" / "share" / "claude",), copies=copies)


_RENEWED = ("accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt")


PROVIDER = Provider(
    "claude",
    _prepare,
    _judge,
    version=("claude", "--version"),
    env=PROXIES
    | {
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES"),
        *("CLAUDE_CODE_USE_BEDROCK", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
        *("CLAUDE_CODE_USE_VERTEX", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"),
    },
    parse=_parse,
    metering=Metering.EACH_ANSWER,
    tells_cost=True,
    so_far=_so_far,
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g @anthropic-ai/claude-code",
    log_in="Run claude once and log in, or set ANTHROPIC_API_KEY.",
    tried="2.1.330",
)
