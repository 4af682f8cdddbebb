"""How each program is started by hand against a Toryo server and a model endpoint: argv, environment, files, stdin.

These are the tests' own, beside the providers of the Coordinator: they show that the endpoint is what the programs
need, and they say what was found out about each. The bearer token stands in one variable of the environment and
nowhere else: files and arguments name that variable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clis.turns import SERVER

TOKEN = "TORYO_LAUNCH_CREDENTIAL"
KEY = "sk-dummy"
MODEL = "scripted-1"
TOKENS = "otel.jsonl"
"""Where Copilot writes the tokens it has used: its output does not tell."""


@dataclass(frozen=True)
class Place:
    """What a preset needs to know. `folder` is for generated files; `tools` whether it may use its own tools."""

    mcp_url: str
    endpoint_url: str
    folder: Path
    session: str | None = None
    """A session to go on with."""

    def file(self, name: str) -> str:
        return str(self.folder / name)


@dataclass(frozen=True)
class Start:
    """Words after the executable; all of these programs read the prompt from stdin."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    files: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def write(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))


def claude(place: Place) -> Start:
    server = {"type": "http", "url": place.mcp_url, "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"}}
    words = ("-p", "--mcp-config", place.file("mcp.json"), "--strict-mcp-config")
    allowed = ("--tools", "Write,Bash", "--allowedTools", f"mcp__{SERVER},Write,Bash", "--permission-mode", "dontAsk")
    output = ("--output-format", "stream-json", "--verbose", "--bare", "--model", "claude-sonnet-4-5")
    again = ("--resume", place.session) if place.session else ()
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": place.endpoint_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }
    return Start((*words, *allowed, *output, *again), env, {"mcp.json": {"mcpServers": {SERVER: server}}})


def gemini(place: Place) -> Start:
    """Its detection of loops would end a run, with exit code 0, at the fifth equal call in a row: whoever waits by
    `get_next_action` makes those.
    """
    server = {"httpUrl": place.mcp_url, "headers": {"Authorization": f"Bearer ${TOKEN}"}, "trust": True}
    settings = {
        "mcpServers": {SERVER: {**server, "timeout": 600_000}},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"disableLoopDetection": True},
    }
    env = {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": place.endpoint_url,
        "GEMINI_CLI_HOME": place.file("gemini"),
        "GEMINI_CLI_NO_RELAUNCH": "1",
    }
    again = ("--resume", place.session) if place.session else ()
    words = ("-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "--output-format", "stream-json", *again)
    return Start(words, env, {"gemini/.gemini/settings.json": settings})


def codex(place: Place) -> Start:
    settings = {
        f"mcp_servers.{SERVER}.url": place.mcp_url,
        f"mcp_servers.{SERVER}.bearer_token_env_var": TOKEN,
        f"mcp_servers.{SERVER}.default_tools_approval_mode": "approve",
        f"mcp_servers.{SERVER}.required": True,
        "model": MODEL,
        "model_provider": "scripted",
        "model_providers.scripted.name": "scripted",
        "model_providers.scripted.base_url": f"{place.endpoint_url}/v1",
        "model_providers.scripted.env_key": "CODEX_API_KEY",
        "model_providers.scripted.wire_api": "responses",
        "model_providers.scripted.request_max_retries": 1,
        "model_providers.scripted.stream_max_retries": 1,
        "features.plugins": False,
        "features.apps": False,
        "analytics.enabled": False,
    }
    given = [word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")]
    again = ("resume", place.session) if place.session else ()
    words = ("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", *given, *again, "-")
    return Start(words, {"CODEX_API_KEY": KEY})


def opencode(place: Place) -> Start:
    server = {"type": "remote", "url": place.mcp_url, "headers": {"Authorization": f"Bearer {{env:{TOKEN}}}"}}
    options = {"baseURL": f"{place.endpoint_url}/v1", "apiKey": "{env:SCRIPTED_API_KEY}"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": {MODEL: {}}}
    settings = {
        "mcp": {SERVER: {**server, "oauth": False, "enabled": True, "timeout": 90_000}},
        "permission": {"*": "allow"},
        "autoupdate": False,
        "share": "disabled",
        "provider": {"scripted": provider},
        "model": f"scripted/{MODEL}",
    }
    env = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "SCRIPTED_API_KEY": KEY,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }
    again = ("--session", place.session) if place.session else ()
    return Start(("run", "--format", "json", "--title", "by hand", *again), env)


def copilot(place: Place) -> Start:
    header = {"Authorization": f"Bearer ${{{TOKEN}}}"}
    server = {"type": "http", "url": place.mcp_url, "headers": header, "tools": ["*"]}
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{place.endpoint_url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": MODEL,
        "COPILOT_OTEL_FILE_EXPORTER_PATH": place.file(TOKENS),
    }
    words = ("--allow-all-tools", "--disable-builtin-mcps", "--output-format", "json")
    config = ("--additional-mcp-config", f"@{place.file('mcp.json')}")
    again = (f"--resume={place.session}",) if place.session else ()
    return Start((*words, *config, *again), env, {"mcp.json": {"mcpServers": {SERVER: server}}})


def qwen(place: Place) -> Start:
    server = {"httpUrl": place.mcp_url, "headers": {"Authorization": f"Bearer ${TOKEN}"}, "trust": True}
    settings = {
        "mcpServers": {SERVER: {**server, "timeout": 600_000}},
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "tools": {"toolSearch": {"enabled": False}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    }
    env = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{place.endpoint_url}/v1",
        "OPENAI_MODEL": MODEL,
        "QWEN_CODE_NO_RELAUNCH": "1",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": place.file("qwen.json"),
    }
    again = ("--resume", place.session) if place.session else ()
    return Start(("--yolo", "--output-format", "stream-json", *again), env, {"qwen.json": settings})


PRESETS: Mapping[str, Callable[[Place], Start]] = {
    "claude": claude,
    "gemini": gemini,
    "codex": codex,
    "opencode": opencode,
    "copilot": copilot,
    "qwen": qwen,
}
