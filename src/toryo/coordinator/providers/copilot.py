"""GitHub Copilot's command line (`copilot`, npm @github/copilot): headless, its events as JSON lines.

The prompt goes in on stdin, our MCP server by a file that names the credential's variable. Its events tell no tokens:
those it writes as telemetry, one line per call, into a file of the launch's own; what that calls cost are requests of a
subscription, not money. Found by running 1.0.102.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.coordinator.agent_mcp_config import NAME, TOOL_TIME_OUT, mcp_server, over_socket
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.program_output import (
    Asked,
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
    Beside,
    Command,
    Login,
    Metering,
    Needs,
    Own,
    Provider,
    Setting,
    extra_arguments,
    home,
    permissions,
)
from toryo.provider_options import Permissions

MCP_CONFIG = "mcp.json"
TELEMETRY = "telemetry.jsonl"
_PERMISSIONS: Mapping[Permissions, tuple[str, ...]] = {
    Permissions.READ: ("--allow-all-tools", "--deny-tool=shell", "--deny-tool=write"),
    Permissions.EDIT: ("--allow-all-tools", "--deny-tool=shell"),
    Permissions.FULL: ("--allow-all-tools", "--allow-all-paths", "--allow-all-urls"),
}
"""Denied tools override allowed ones. Without all paths, it stays in its directory and the temporary one."""


def _prepare(setting: Setting) -> Command:
    argv = (
        *("copilot", "--output-format", "json", "--no-ask-user", "--disable-client-telemetry"),
        *("--additional-mcp-config", f"@{setting.workspace / MCP_CONFIG}", "--disable-builtin-mcps"),
        *_PERMISSIONS[permissions(setting)],
        *(("--model", setting.launch.model) if setting.launch.model else ()),
        *((f"--resume={setting.resume}",) if setting.resume else ()),
        *extra_arguments(setting),
    )
    env = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_OTEL_FILE_EXPORTER_PATH": str(setting.workspace / TELEMETRY)}
    # the telemetry file is created here, so that only this user can read it
    files = {MCP_CONFIG: json.dumps({"mcpServers": {NAME: _server(setting)}}, indent=2), TELEMETRY: ""}
    return Command(argv, env, files, stdin=setting.prompt)


def _server(setting: Setting) -> dict[str, Any]:
    entry = mcp_server(setting, "${{{}}}")
    kind = {"type": "local"} if over_socket(setting) else {}
    return {**entry, **kind, "tools": ["*"], "timeout": TOOL_TIME_OUT * 1000}


# --- what it prints ---------------------------------------------------------------------------------------------------


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    data = line.get("data") or {}
    match line.get("type"):
        case "session.mcp_servers_loaded":
            yield from _loaded(data["servers"])
        case "assistant.message":
            yield Turned()
            if data.get("content"):
                yield Said(data["content"])
        case "tool.execution_start":
            yield Called(
                data["toolName"],
                json.dumps(data.get("arguments"), ensure_ascii=False),
                str(data.get("toolCallId") or ""),
            )
        case "tool.execution_complete":
            yield _returned(data)
        case "model.call_start" | "model.call_failure" | "session.error":
            yield _asking(line["type"], data)
        case "session.warning":
            yield Note(data["message"])
        case "span":
            yield from _called_model(line)
        case "result":
            yield Session(str(line["sessionId"]))


def _asking(kind: str, data: dict[str, Any]) -> Event:
    if kind == "model.call_start":
        return Asked()
    if kind == "model.call_failure":
        return Troubled(_reason(data), _status(data))
    return Troubled(str(data.get("message") or data.get("errorType") or ""), _status(data), final=True)


def _loaded(servers: Iterable[dict[str, Any]]) -> Iterable[Event]:
    """Not `pending`: that one may still come."""
    for server in servers:
        if server["name"] == NAME and server.get("status") not in ("connected", "pending"):
            yield NotConnected(str(server.get("error") or f"{NAME} is {server.get('status')}"))


def _returned(data: dict[str, Any]) -> Returned:
    call = str(data.get("toolCallId") or "")
    if data.get("success"):
        return Returned(str((data.get("result") or {}).get("content") or ""), id=call)
    return Returned(str((data.get("error") or {}).get("message") or ""), failed=True, id=call)


def _status(data: dict[str, Any]) -> int | None:
    status = data.get("statusCode")
    return status if isinstance(status, int) else None


def _reason(data: dict[str, Any]) -> str:
    """The service's own words; they come as it sent them, JSON in most cases."""
    words = str(data.get("errorMessage") or data.get("failureKind") or "")
    try:
        return str(json.loads(words)["message"])
    except (ValueError, KeyError, TypeError):
        return words


_COUNTED = ("input_tokens", "output_tokens", "cache_read.input_tokens")


_KEPT = (*(f"gen_ai.usage.{each}" for each in _COUNTED), "gen_ai.operation.name", "gen_ai.response.model")


def _spans(written: str) -> Iterable[str]:
    """One line per call of a model, by any agent within the program, while it runs; totals come in separate lines. Of
    each only what counts: the file has much more."""
    for line in written.splitlines():
        try:
            span = json.loads(line)
            told = {name: value for name, value in span["attributes"].items() if name in _KEPT}
            if list(_called_model({"type": span["type"], "attributes": told})):
                yield json.dumps({"type": "span", "attributes": told})
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            continue


def _called_model(span: dict[str, Any]) -> Iterable[Event]:
    told = span.get("attributes") or {}
    if span.get("type") == "span" and told.get("gen_ai.operation.name") == "chat":
        read, written, cached = (told.get(f"gen_ai.usage.{name}") or 0 for name in _COUNTED)
        yield Used(read, written, cached, model=told.get("gen_ai.response.model") or told.get("gen_ai.request.model"))


# --- who it is --------------------------------------------------------------------------------------------------------

_TOKENS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


def _login(environ: Mapping[str, str]) -> Login:
    if environ.get("COPILOT_PROVIDER_BASE_URL"):
        return Login(True, "with a model provider of your own (COPILOT_PROVIDER_BASE_URL)")
    for name in _TOKENS:
        if environ.get(name):
            return Login(True, f"by {name}")
    users = _users(environ)
    if users:
        return Login(True, ", ".join(users))
    return Login(None, "not logged in itself; a login of the GitHub CLI (gh) would work")


def _users(environ: Mapping[str, str]) -> list[str]:
    """Copilot's own list, in JSON with comment lines before it."""
    home = environ.get("COPILOT_HOME") or Path(environ.get("HOME") or "/") / ".copilot"
    try:
        lines = untrusted_files.text(Path(home) / "config.json").splitlines()
        config = json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))
        return [str(each["login"]) for each in config.get("loggedInUsers") or ()]
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return []


def _needs(environ: Mapping[str, str]) -> Needs:
    place = Path(environ.get("COPILOT_HOME") or home(environ) / ".copilot")
    own = Own(
        place,
        fixed=(
            *("settings.json", "lsp-config.json", "copilot-instructions.md", "agents", "skills"),
            *("hooks", "plugins", "installed-plugins", "pkg"),
        ),
        made={"mcp-config.json": '{"mcpServers": {}}\n'},
        copies=("config.json",),
        sessions=("session-state/*", "session-store.db*"),
    )
    return Needs(own=(own,))


PROVIDER = Provider(
    "copilot",
    _prepare,
    judge_model,
    version=("copilot", "--version"),
    env=frozenset(
        {
            *_TOKENS,
            *("COPILOT_HOME", "COPILOT_MODEL", "COPILOT_OFFLINE", "COPILOT_GH_HOST", "GH_HOST"),
            *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY"),
            *("COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_MODEL_ID"),
            *("COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_HEADERS", "COPILOT_PROVIDER_AZURE_API_VERSION"),
            *("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS"),
            *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        }
    ),
    parse=_parse,
    metering=Metering.EACH_ANSWER,
    beside=Beside(TELEMETRY, _spans, to_the_end=True),
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g @github/copilot",
    log_in="Run copilot login, or set COPILOT_GITHUB_TOKEN.",
    tried="1.0.102",
)
