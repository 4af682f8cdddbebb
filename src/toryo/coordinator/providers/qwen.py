"""Qwen Code (`qwen`, npm @qwen-code/qwen-code): headless, its events as JSON lines. It came from Gemini CLI.

The prompt goes in on stdin. Everything else is in a settings file that its own variable names and that overrides the
user's; the login stays where it is. Its last line says what the whole session used, runs before included. Facts:
found by running version 0.24.4.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator import content_blocks
from toryo.coordinator.agent_mcp_config import NAME, mcp_server_of_gemini
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.program_output import Answering, Called, Event, NotConnected, Said, Session, Troubled, Used
from toryo.coordinator.provider import (
    FINE,
    Beside,
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
from toryo.provider_options import Permissions

SETTINGS = "qwen.json"
TELEMETRY = "telemetry.json"
"""The only message that says that it retries a service which refused."""
_APPROVAL: Mapping[Permissions, str] = {
    Permissions.READ: "default",  # a call that needs a confirmation is refused: no person is there to answer
    Permissions.EDIT: "auto-edit",
    Permissions.FULL: "yolo",
}
_QUIET = {
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": True, "target": "local", "logPrompts": False},
    "security": {"folderTrust": {"enabled": False}},
    "tools": {"toolSearch": {"enabled": False}},  # otherwise our tools are hidden behind a search
    "model": {
        "generationConfig": {"maxRetries": 0}
    },  # for each of its own seven attempts; without this, 28 requests without output
}


def _prepare(setting: Setting) -> Command:
    model = setting.launch.model
    argv = (
        *("qwen", "--output-format", "stream-json", "--approval-mode", _APPROVAL[permissions(setting)]),
        *("--allowed-mcp-server-names", NAME),
        *(("--model", model) if model else ()),
        *(("--resume", setting.resume) if setting.resume else ()),
        *extra_arguments(setting),
    )
    env = {
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(setting.workspace / SETTINGS),
        "QWEN_CODE_NO_RELAUNCH": "1",  # one process instead of two
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        "QWEN_TELEMETRY_OUTFILE": str(setting.workspace / TELEMETRY),
        **({"OPENAI_MODEL": model} if model else {}),  # without it, a key in the environment is not taken for a login
    }
    hooks = {} if permissions(setting) is Permissions.FULL else {"disableAllHooks": True}  # a project may define some
    settings = {**_QUIET, **hooks, "mcpServers": {NAME: mcp_server_of_gemini(setting)}}
    # the telemetry file is created here, so that only this user can read it
    return Command(argv, env, {SETTINGS: json.dumps(settings, indent=2), TELEMETRY: ""}, stdin=setting.prompt)


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    match line.get("type"), line.get("subtype"):
        case "system", "init":
            yield from _begun(line)
        case "system", "retry":
            data = line["data"]
            words = data.get("message") or f"rate limit, try {data.get('attempt')} of {data.get('maxRetries')}"
            yield Troubled(words, data.get("status"), retry_seconds=(_number(data.get("delayMs")) or 0) / 1000)
        case "assistant", _:
            yield from _answered(line["message"])
        case "user", _:
            yield from content_blocks.results(line["message"].get("content"))
        case "result", _:
            yield from _ended(line)


_TRIED = re.compile(r'"event\.name": "qwen-code\.api_(retry|response)",')
_LONGEST_EVENT = 32 * 1024
_EVENTS_TRIED = 8
"""From the end, until one is whole: the agent can write there too."""
_LONGEST_MESSAGE = 2000


def _tries_again(written: str) -> Iterable[str]:
    """The last try, unless an answer has followed, as the line in which Qwen Code tells of its later tries."""
    last = deque(_TRIED.finditer(written), maxlen=_EVENTS_TRIED)
    while last and (event := last.pop())[1] == "retry":
        facts = _rest_of_object(written[event.end() : event.end() + _LONGEST_EVENT])
        if facts is not None:
            message = facts.get("error_message")
            data = {
                "message": message[:_LONGEST_MESSAGE] if isinstance(message, str) else None,
                "status": _number(facts.get("status_code")),
                "delayMs": _number(facts.get("retry_delay_ms")) or 0,
            }
            yield json.dumps({"type": "system", "subtype": "retry", "data": data})
            return


def _rest_of_object(text: str) -> dict[str, Any] | None:
    """What follows within the object that has begun before; None if it is incomplete, or not JSON."""
    try:
        found, _ = json.JSONDecoder().raw_decode("{" + text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _number(value: Any) -> int | float | None:
    """A number that can be counted with; None for anything else."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known and 0 <= value < _LARGEST_NUMBER else None


_LARGEST_NUMBER = 1e12


def _begun(line: dict[str, Any]) -> Iterable[Event]:
    yield Session(str(line["session_id"]))
    for server in line.get("mcp_servers") or ():
        if server.get("name") == NAME and server.get("status") == "disconnected":
            yield NotConnected(f"Qwen Code could not reach the MCP server {NAME}")


def _answered(message: dict[str, Any]) -> Iterable[Event]:
    """Text and calls of one answer come in separate lines; only the last one has the usage of the answer."""
    blocks = message.get("content") or ()
    usage = _used(message.get("usage") or {}, message.get("model"), provisional=True)
    if not usage.input_tokens and any(_OWN_WORDS.search(str(block.get("text") or "")) for block in blocks):
        return  # its own text, after what had come of an answer; the last line repeats it
    yield Answering()
    for block in blocks:
        if block.get("type") == "text":
            yield Said(block["text"])
        elif block.get("type") == "tool_use":
            yield Called(block["name"], json.dumps(block.get("input"), ensure_ascii=False), str(block.get("id") or ""))
    yield replace(usage, ends=True)


def _ended(line: dict[str, Any]) -> Iterable[Event]:
    yield _used(line.get("usage") or {}, None, total=True)
    if line.get("is_error"):
        error = line.get("error") or {}
        words = str(error.get("message") or line.get("result") or line.get("subtype") or "")
        status = re.match(re.escape(_API_ERROR) + r" (\d{3})\b", words)
        yield Troubled(words, int(status[1]) if status else None, final=True, own=words.startswith(_REPEATED))


_API_ERROR = "[API Error:"
_OWN_WORDS = re.compile(re.escape(_API_ERROR) + r"[^\n]*\]\s*\Z")
_REPEATED = "Loop detection halted the run"
"""It ends itself, always, at the fifth equal call in a row."""


def _judge(end: Exit) -> Verdict:
    """One that repeated itself has left, and has not failed: who waits for messages, as we tell it to, does just that.

    Whether it left too early the server knows: a worker is reminded of its report, in the session it had.
    """
    repeated = end.trouble is not None and end.trouble.words.startswith(_REPEATED)
    return FINE if repeated else judge_model(end)


def _used(usage: Mapping[str, Any], model: str | None, *, total: bool = False, provisional: bool = False) -> Used:
    return Used(
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        usage.get("cache_read_input_tokens") or 0,
        model=model,
        total=total,
        provisional=provisional,
    )


_KEYS = frozenset({"OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"})


def _login(environ: Mapping[str, str]) -> Login:
    """Its settings may also contain keys, in several forms; then only the kind of login is known."""
    if any(environ.get(each) for each in _KEYS):
        return Login(True, "with a key in the environment")
    place = Path(environ.get("QWEN_HOME") or Path(environ.get("HOME") or "~").expanduser() / ".qwen")
    if (place / ".env").is_file() and (place / ".env").stat().st_size:
        return Login(None, f"{place / '.env'} may contain a key")
    try:
        kind = json.loads(untrusted_files.text(place / "settings.json"))["security"]["auth"]["selectedType"]
        return Login(None, f"set up for {kind}")
    except (OSError, ValueError, KeyError, TypeError):
        return Login(False, "no key, and never configured")


def _needs(environ: Mapping[str, str]) -> Needs:
    place = Path(environ.get("QWEN_HOME") or home(environ) / ".qwen")
    own = Own(
        place,
        fixed=("settings.json", "QWEN.md", "commands", "extensions", "hooks", "skills", "agents", ".env"),
        copies=("installation_id",),
        logins={"oauth_creds.json": ("access_token", "refresh_token", "expiry_date")},
        sessions=("projects/*", "tmp/*/chats/*"),
    )
    return Needs(own=(own,))


PROVIDER = Provider(
    "qwen",
    _prepare,
    _judge,
    version=("qwen", "--version"),
    env=PROXIES | _KEYS | {"OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_MODEL", "QWEN_HOME", "QWEN_CODE_API_TIMEOUT_MS"},
    parse=_parse,
    metering=Metering.EACH_ANSWER,
    beside=Beside(TELEMETRY, _tries_again),
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g @qwen-code/qwen-code",
    log_in="Set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL, or run qwen once and choose with /auth.",
    tried="0.24.4",
)
