"""opencode (`opencode run`, npm opencode-ai): headless, its events as JSON lines.

The prompt goes in on stdin, the configuration in one variable, which counts more than every file and names the
credential's variable. Each step tells its tokens and its money. While opencode tries a service that says no again, and
when it has no MCP server, its events do not say so. Its log does; it is therefore printed too, from
warnings upwards. Found by running 1.18.33.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator.agent_mcp_config import NAME, TOOL_TIME_OUT, mcp_server, over_socket
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.program_output import (
    CUT_OFF,
    PLAIN,
    Called,
    Event,
    NotConnected,
    Note,
    Returned,
    Said,
    Session,
    Troubled,
    Turned,
    Used,
)
from toryo.coordinator.provider import (
    Command,
    Login,
    Metering,
    Needs,
    Own,
    Provider,
    Setting,
    extra_arguments,
    home,
    named_files,
    permissions,
)
from toryo.provider_options import Permissions

CONFIG = "OPENCODE_CONFIG_CONTENT"
_LOOKS = ("read", "glob", "grep", "list", "todowrite", "todoread", f"{NAME}_*")
_PERMISSIONS: Mapping[Permissions, Mapping[str, str]] = {
    Permissions.READ: {"*": "deny", **dict.fromkeys(_LOOKS, "allow")},
    Permissions.EDIT: {"*": "deny", **dict.fromkeys((*_LOOKS, "edit"), "allow")},
    Permissions.FULL: {"*": "allow"},
}
"""The last rule that fits counts."""


def _prepare(setting: Setting) -> Command:
    may = permissions(setting)
    # a project's configuration could add MCP servers and tools that run immediately: only its instructions are used
    own = {} if may is Permissions.FULL else {"instructions": [str(setting.working_directory / "AGENTS.md")]}
    config = {
        **own,
        "mcp": {NAME: _server(setting)},
        "permission": _PERMISSIONS[may],
        "autoupdate": False,
        "share": "disabled",
    }
    argv = (
        *("opencode", "run", "--format", "json", "--print-logs", "--log-level", "WARN"),
        *(("--model", setting.launch.model) if setting.launch.model else ()),
        # without a title, it asks a model for one
        *(("--session", setting.resume) if setting.resume else ("--title", f"Toryo {setting.launch.launch_id}")),
        *extra_arguments(setting),
    )
    env = {
        CONFIG: json.dumps(config, ensure_ascii=False),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        **({"OPENCODE_DISABLE_PROJECT_CONFIG": "1"} if own else {}),
    }
    return Command(argv, env, stdin=setting.prompt)


def _server(setting: Setting) -> dict[str, Any]:
    """As opencode words it; its own limit for a tool, 60 s, is too short for our long waits on a busy machine."""
    entry = mcp_server(setting, "{{env:{}}}")
    how = {"enabled": True, "timeout": TOOL_TIME_OUT * 1000}
    if over_socket(setting):
        return {"type": "local", "command": [entry["command"], *entry["args"]], "environment": entry["env"], **how}
    return {"type": "remote", "url": entry["url"], "headers": entry["headers"], "oauth": False, **how}


# --- what it prints ---------------------------------------------------------------------------------------------------


_CUT = "unknown"
"""Why a step ended that its model's service has not ended, without any tokens: opencode takes the next one at once."""
_NO_SERVER = re.compile(rf'message="server unavailable" key={NAME}\b')
_REFUSED = re.compile(r'message="stream error" .*\berror\.error="(?P<words>(?:[^"\\]|\\.)*)"')


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    part = line.get("part") or {}
    match line.get("type"):
        case "step_start":
            yield Session(str(line["sessionID"]))
        case "text":
            yield Said(part["text"], whole=False)
        case "reasoning":
            yield Note(part["text"])
        case "tool_use":
            yield from _called(part)
        case "step_finish" if part.get("reason") == _CUT and not _used(part).input_tokens:
            yield Troubled(CUT_OFF.words, hasty=True)
        case "step_finish":
            yield Turned()
            yield _used(part)
        case "error":
            yield Session(str(line["sessionID"]))
            yield _troubled(line["error"])
        case None if PLAIN in line:
            yield from _logged(line[PLAIN])


def _logged(line: str) -> Iterable[Event]:
    refused = _REFUSED.search(line)
    if refused:
        yield Troubled(refused["words"])
    if _NO_SERVER.search(line):
        yield NotConnected(f"opencode could not reach the MCP server {NAME}")


def _called(part: dict[str, Any]) -> Iterable[Event]:
    """A tool is reported after it has answered."""
    state = part["state"]
    failed = state.get("status") == "error"
    yield Called(part["tool"], json.dumps(state.get("input"), ensure_ascii=False))
    yield Returned(str(state.get("error" if failed else "output") or ""), failed)


def _used(part: dict[str, Any]) -> Used:
    """Input excludes cached tokens, output excludes reasoning; an unknown price is reported as 0."""
    tokens = part["tokens"]
    cache = tokens.get("cache") or {}
    cached = cache.get("read") or 0
    read = tokens["input"] + cached + (cache.get("write") or 0)
    return Used(read, tokens["output"] + (tokens.get("reasoning") or 0), cached, cost_usd=part.get("cost") or None)


def _troubled(error: dict[str, Any]) -> Troubled:
    data = error.get("data") or {}
    status = data.get("statusCode")
    words = str(data.get("message") or error.get("name") or "")
    after = (data.get("responseHeaders") or {}).get("retry-after")
    seconds = float(after) if after and re.fullmatch(r"\d+(\.\d+)?", str(after)) else None
    return Troubled(words, status if isinstance(status, int) else None, seconds, final=True)


# --- who it is --------------------------------------------------------------------------------------------------------


def _login(environ: Mapping[str, str]) -> Login:
    """Its own list of logins costs half a gigabyte of memory; the file behind it is documented."""
    data = environ.get("XDG_DATA_HOME") or Path(environ.get("HOME") or "/") / ".local" / "share"
    try:
        names = sorted(json.loads(untrusted_files.text(Path(data) / "opencode" / "auth.json")))
    except (OSError, ValueError, TypeError):
        names = []
    if names:
        return Login(True, ", ".join(names))
    keys = [name for name in sorted(_KEYS) if environ.get(name)]
    if keys:
        return Login(True, f"by {keys[0]}")
    return Login(None, "not logged in; its free models and configured providers need no login")


_KEYS = frozenset(
    {
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        *("OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"),
        *("OPENCODE_API_KEY", "GITHUB_TOKEN"),
    }
)


def _needs(environ: Mapping[str, str]) -> Needs:
    """It downloads programs into its cache, and runs them when a person starts it, too: the cache is not shared."""
    user = home(environ)
    data, state = (
        Path(environ.get(name) or user / below) / "opencode"
        for name, below in (("XDG_DATA_HOME", ".local/share"), ("XDG_STATE_HOME", ".local/state"))
    )
    config = Path(environ.get("XDG_CONFIG_HOME") or user / ".config") / "opencode"
    named = named_files(environ, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR")
    own = Own(
        data,
        fixed=("bin", "plugin"),
        logins={"auth.json": ("*.access", "*.refresh", "*.expires")},
        sessions=("opencode.db*", "storage/*"),
    )
    return Needs(
        own=(own, Own(state, copies=("model.json",))),
        reads=(config, user / ".opencode" / "bin", *named),
        made={config / ".gitignore": _IGNORED},  # otherwise it writes one, and exits if it cannot
    )


_IGNORED = "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore\n"
"""What opencode writes beside a configuration."""


PROVIDER = Provider(
    "opencode",
    _prepare,
    judge_model,
    version=("opencode", "--version"),
    env=_KEYS
    | {
        *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_MODELS_URL"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    },
    parse=_parse,
    metering=Metering.EACH_ANSWER,
    tells_cost=True,
    asks_untold=True,
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g opencode-ai",
    log_in="Run opencode auth login, or set the key of a model's service, for example ANTHROPIC_API_KEY.",
    tried="1.18.33",
)
