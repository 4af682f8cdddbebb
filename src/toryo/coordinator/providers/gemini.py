"""Gemini CLI (`gemini`, npm @google/gemini-cli): headless, its events as JSON lines.

The prompt goes in on stdin. It takes settings from its home alone (or from root), so each launch has its own home,
by the variable that is documented for it: with settings that hold the user's own and ours, and links to all else, so
that the login and the sessions stay where they are. The last line says what this run used, the file of its session what
each answer did. When the model's service
refuses, the exit code is the HTTP status modulo 256. Facts were found by running version 0.61.0.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator.agent_mcp_config import NAME, mcp_server_of_gemini
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.program_output import (
    PLAIN,
    Answering,
    Called,
    Event,
    Note,
    Piece,
    Returned,
    Session,
    Troubled,
    Used,
)
from toryo.coordinator.provider import (
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
    named_files,
    permissions,
)
from toryo.failures import Failure
from toryo.provider_options import Permissions

HOME = ".gemini"
SETTINGS = "settings.json"
_KEPT = ("tmp", "history")
"""Where it keeps its sessions."""
_APPROVAL: Mapping[Permissions, str] = {
    Permissions.READ: "default",  # tools that need a confirmation are not offered: no person is there to answer
    Permissions.EDIT: "auto_edit",
    Permissions.FULL: "yolo",
}
_QUIET: Mapping[str, Mapping[str, Any]] = {
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "maxAttempts": 4,  # instead of 10: about a minute, then the account is visibly in cooldown
    },
    "model": {"disableLoopDetection": True},  # waiting repeats the same call; our own guards end loops
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"folderTrust": {"enabled": False}},
}


def _prepare(setting: Setting) -> Command:
    argv = (
        *("gemini", "--output-format", "stream-json", "--skip-trust"),
        *("--approval-mode", _APPROVAL[permissions(setting)], "--allowed-mcp-server-names", NAME),
        *(("--model", setting.launch.model) if setting.launch.model else ()),
        *(("--resume", setting.resume) if setting.resume else ()),
        *extra_arguments(setting),
    )
    env = {
        "GEMINI_CLI_HOME": str(setting.workspace),
        "TMPDIR": str(setting.workspace),  # after a failed request it writes whole conversations there, readable by all
        "GEMINI_CLI_NO_RELAUNCH": "true",  # one process instead of two
    }
    home = _home(setting.environ)
    files = {f"{HOME}/{SETTINGS}": json.dumps(_settings(setting, home), indent=2, ensure_ascii=False)}
    there = [path.name for path in home.iterdir()] if home.is_dir() else []
    links = {f"{HOME}/{name}": home / name for name in (*_KEPT, *there) if name != SETTINGS}
    return Command(argv, env, files, links, stdin=setting.prompt)


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or "~").expanduser() / HOME


def _settings(setting: Setting, home: Path) -> dict[str, Any]:
    """The user's, with ours over them: of servers only our own."""
    settings = _own_settings(home)
    for name, ours in _QUIET.items():
        theirs = settings.get(name)
        settings[name] = {**(theirs if isinstance(theirs, dict) else {}), **ours}
    settings["security"] = {"auth": _auth(setting.environ), **settings["security"]}
    return {**settings, "mcpServers": {NAME: mcp_server_of_gemini(setting)}}


def _own_settings(home: Path) -> dict[str, Any]:
    """What cannot be read counts as nothing: it says so itself where a person starts it."""
    try:
        found = json.loads(untrusted_files.text(home / SETTINGS))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _auth(environ: Mapping[str, str]) -> dict[str, str]:
    """The login if the user has chosen none: with the service's address set, the key alone does not select one."""
    if environ.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return {"selectedType": "vertex-ai"}
    return {"selectedType": "gemini-api-key"} if environ.get("GEMINI_API_KEY") else {}


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    """It tells its words in pieces only, and nothing of where an answer begins."""
    match line.get("type"):
        case "init":
            yield Session(str(line["session_id"]))
            yield Used(model=line.get("model"), provisional=True)
        case "message" if line.get("role") == "assistant":
            yield Answering()
            yield Piece(line["content"])
        case "tool_use":
            yield Answering()
            yield Called(
                line["tool_name"],
                json.dumps(line.get("parameters"), ensure_ascii=False),
                str(line.get("tool_id") or ""),
            )
        case "tool_result":
            failed = line.get("status") == "error"
            yield Returned(
                str((line["error"]["message"] if failed else line.get("output")) or ""),
                failed,
                str(line.get("tool_id") or ""),
            )
        case "session":
            yield _answered(line)
        case "error":
            yield Note(line["message"])
        case "result":
            yield from _ended(line)
        case None if PLAIN in line:
            yield from _tries_again(line[PLAIN])


_FAILED = re.compile(
    r"Attempt \d+ failed(?: with status (?P<status>\d{3}))?[.:] (?:.*_ApiError: )?(?P<words>.*)"
    r"|(?P<later>Suggested retry after .*)"
)


def _tries_again(line: str) -> Iterable[Event]:
    """While it tries again, its events say nothing."""
    failed = _FAILED.match(line)
    if failed:
        yield Troubled(failed["words"] or failed["later"], int(failed["status"]) if failed["status"] else None)


def _ended(line: dict[str, Any]) -> Iterable[Event]:
    stats = line.get("stats") or {}
    read, written = stats.get("input_tokens") or 0, stats.get("output_tokens") or 0
    thought = max(0, (stats.get("total_tokens") or 0) - read - written)  # counted only in the total
    yield Used(read, written + thought, stats.get("cached") or 0, model=_model(stats.get("models") or {}))
    if line.get("status") == "error":
        words = str(line["error"]["message"])
        code = re.search(r'"code":\s*(\d{3})\b', words)
        yield Troubled(words, int(code[1]) if code else None, final=True)


def _answered(line: dict[str, Any]) -> Used:
    """What `_kept` has found: the last line replaces it."""
    read, written, cached, total = (int(line["tokens"].get(name) or 0) for name in _COUNTED)
    thought = max(0, total - read - written)
    return Used(
        read, written + thought, cached, model=line.get("model"), provisional=True, answer=line["id"], beside=True
    )


_COUNTED = ("input", "output", "cached", "total")


def _chat(place: Path, session: str) -> Path | None:
    """Where it keeps a session: below the name that it has given to the project."""
    name = re.match(r"[0-9a-f]{8}\b", session)
    return next(place.glob(f"tmp/*/chats/session-*-{name[0]}.jsonl"), None) if name else None


def _kept(written: str) -> Iterable[str]:
    """Of what it has written there, the tokens of each answer. An answer is written again with what its tools gave."""
    for line in written.splitlines():
        with contextlib.suppress(AttributeError, KeyError, RecursionError, TypeError, ValueError):
            message = json.loads(line) if '"tokens"' in line else {}
            if message.get("type") == "gemini":
                tokens = {name: message["tokens"].get(name) or 0 for name in _COUNTED}
                told = {"id": str(message["id"]), "model": message.get("model"), "tokens": tokens}
                yield json.dumps({"type": "session", **told})


def _model(models: Mapping[str, Any]) -> str | None:
    """The one that did most of it: smaller ones do side work."""
    return max(models, key=lambda name: models[name].get("total_tokens") or 0, default=None)


_UNREACHED = "MCP issues detected"
"""Of servers, only ours is allowed."""
_OWN_EXITS: Mapping[int, Failure] = {41: Failure.NOT_LOGGED_IN, 52: Failure.BAD_CONFIG, 53: Failure.TURN_LIMIT}
_STATUSES = {status % 256: status for status in (400, 401, 403, 404, 429, 499, 500, 502, 503, 504, 529)}
_ERRORS = {"TerminalQuotaError": 402, "ModelNotFoundError": 404}
"""Error classes for messages without a status, and the status that each corresponds to."""


def _judge(end: Exit) -> Verdict:
    own = _OWN_EXITS.get(end.exit_code or 0)
    if own is not None:
        return Verdict(own, words=end.trouble.words if end.trouble else "")
    if end.exit_code == 0 and end.trouble is None and _UNREACHED in end.tail:
        end = replace(end, not_connected=f"Gemini CLI could not reach the MCP server {NAME}")
    if end.trouble is not None:
        named = (status for name, status in _ERRORS.items() if f"{name}:" in end.tail)
        status = next(named, _STATUSES.get(end.exit_code or 0)) or end.trouble.status
        end = replace(end, trouble=replace(end.trouble, status=status))
    return judge_model(end)


def _login(environ: Mapping[str, str]) -> Login:
    """Its login may be in the system's key ring: then only the kind of login is known."""
    if environ.get("GEMINI_API_KEY") or environ.get("GOOGLE_API_KEY"):
        return Login(True, "with a key in the environment")
    place = _home(environ)
    if (place / "oauth_creds.json").is_file():
        return Login(True, "with a Google account")
    if (place / ".env").is_file() and (place / ".env").stat().st_size:
        return Login(None, f"{place / '.env'} may contain a key")
    try:
        return Login(None, f"set up for {_own_settings(place)['security']['auth']['selectedType']}")
    except (KeyError, TypeError):
        return Login(False, "no key, and never logged in")


def _needs(environ: Mapping[str, str]) -> Needs:
    """What the links in the launch's own home lead to; its settings are written out there."""
    place = _home(environ)
    own = Own(
        place,
        fixed=(SETTINGS, "GEMINI.md", "commands", "extensions", "hooks", "skills", "agents", "policies", ".env"),
        copies=("google_accounts.json", "gemini-credentials.json", "installation_id", "projects.json"),
        logins={"oauth_creds.json": ("access_token", "refresh_token", "id_token", "expiry_date")},
        sessions=("tmp/*/chats/*", "tmp/*/.project_root", "history/*/.project_root"),
    )
    return Needs(own=(own,), reads=named_files(environ, "GOOGLE_APPLICATION_CREDENTIALS"))


PROVIDER = Provider(
    "gemini",
    _prepare,
    _judge,
    version=("gemini", "--version"),
    env=PROXIES
    | {
        *("GEMINI_API_KEY", "GEMINI_MODEL", "GEMINI_CLI_HOME", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
        *("GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        *("GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_API_VERSION", "CODE_ASSIST_ENDPOINT"),
    },
    parse=_parse,
    beside=Beside(_chat, _kept, to_the_end=True),
    metering=Metering.EACH_ANSWER,
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g @google/gemini-cli",
    log_in="Run gemini once and log in, or set GEMINI_API_KEY.",
    tried="0.61.0",
)
