"""Codex (`codex exec`, npm @openai/codex): headless, its events as JSON lines.

The prompt goes in on stdin, everything else by `-c` words: Codex has no option for a configuration file. The credential
is passed by the name of its variable. Tokens are those of the whole thread, resumed runs included. They come at the end
of a turn; after each answer they stand in the file in which it keeps the thread. There is no cost. Facts were found by
running 0.169.0.
"""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.agents.env_vars import CREDENTIAL
from toryo.coordinator.agent_mcp_config import NAME, TOOL_TIME_OUT, mcp_server, over_socket
from toryo.coordinator.failure_words import judge_model
from toryo.coordinator.program_output import Answering, Called, Event, Note, Returned, Said, Session, Troubled, Used
from toryo.coordinator.program_probe import ask
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
    home,
    permissions,
)
from toryo.failures import Failure
from toryo.provider_options import Permissions

_SANDBOXES: Mapping[Permissions, str] = {
    Permissions.READ: "read-only",
    Permissions.EDIT: "workspace-write",
    Permissions.FULL: "danger-full-access",
}
_QUIET = {"check_for_update_on_startup": False, "analytics.enabled": False, "feedback.enabled": False}
STAND_IN = f"{NAME}_launch"
"""The name of our MCP server if the user's own configuration has one with the usual name."""
STARTUP_TIME_OUT = 60
"""Seconds: a Python bridge on a busy machine needs more than the usual 10."""


def _prepare(setting: Setting) -> Command:
    # Where its own sandbox cannot be made, every command would fail; ours has the same limits to what is written.
    mode = _SANDBOXES[permissions(setting) if setting.own_sandbox else Permissions.FULL]
    settings = {**_server(setting), **_QUIET, "sandbox_mode": mode}
    argv = (
        *("codex", "exec", "--json", "--skip-git-repo-check"),
        *(word for name, value in settings.items() for word in ("-c", f"{name}={_toml(value)}")),
        *(("--model", setting.launch.model) if setting.launch.model else ()),
        *extra_arguments(setting),
        *(("resume", setting.resume) if setting.resume else ()),
        "-",
    )
    return Command(argv, stdin=setting.prompt)


def _server(setting: Setting) -> dict[str, Any]:
    """Without `approve` every call of a tool fails; with `required` nothing starts when the server cannot be had.

    A server of our name in the user's own configuration would be mixed with ours: it is left out, and ours has another.
    """
    how = {
        "required": True,
        "default_tools_approval_mode": "approve",
        "startup_timeout_sec": STARTUP_TIME_OUT,
        "tool_timeout_sec": TOOL_TIME_OUT,
    }
    found = _own_settings(setting.environ).get("mcp_servers")
    taken = NAME in (found if isinstance(found, dict) else {})
    server = STAND_IN if taken else NAME
    ours = {f"mcp_servers.{server}.{name}": value for name, value in {**_way(setting), **how}.items()}
    return {**ours, f"mcp_servers.{NAME}.enabled": False} if taken else ours


def _way(setting: Setting) -> dict[str, Any]:
    entry, named = mcp_server(setting, "{}"), setting.launch.credential is not None
    if over_socket(setting):
        env = {name: value for name, value in entry["env"].items() if name != CREDENTIAL}
        passed = {"env_vars": [CREDENTIAL]} if named else {}
        return {"command": entry["command"], "args": entry["args"], "env": env, **passed}
    return {"url": entry["url"], **({"bearer_token_env_var": CREDENTIAL} if named else {})}


def _toml(value: Any) -> str:
    """Words, numbers and lists of them are written as in JSON; tables are not."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}={_toml(each)}" for name, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


# --- what it prints ---------------------------------------------------------------------------------------------------


def _parse(line: dict[str, Any]) -> Iterable[Event]:
    match line.get("type"):
        case "thread.started":
            yield Session(str(line["thread_id"]))
        case "item.started":
            yield from _begun(line["item"])
        case "item.completed":
            yield from _done(line["item"])
        case "turn.completed":
            yield _used(line["usage"])
        case "thread":
            yield from _so_far(line)
        case "error":
            yield _troubled(line["message"], final=False)
        case "turn.failed":
            yield _troubled(line["error"]["message"], final=True)


def _begun(item: dict[str, Any]) -> Iterable[Event]:
    match item.get("type"):
        case "mcp_tool_call":
            yield Answering()
            yield Called(
                f"{item['server']}.{item['tool']}", json.dumps(item.get("arguments"), ensure_ascii=False), _id(item)
            )
        case "command_execution":
            yield Answering()
            yield Called("shell", item["command"], _id(item))


def _done(item: dict[str, Any]) -> Iterable[Event]:
    match item.get("type"):
        case "agent_message":
            yield from (Answering(), Said(item["text"]))
        case "mcp_tool_call":
            yield Returned(_result(item), item.get("status") == "failed", _id(item))
        case "command_execution":
            yield Returned(item.get("aggregated_output") or "", item.get("exit_code") != 0, _id(item))
        case "file_change":
            changes = " ".join(f"{change['kind']} {change['path']}" for change in item["changes"])
            yield from (
                Answering(),
                Called("patch", changes, _id(item)),
                Returned("", item.get("status") == "failed", _id(item)),
            )
        case "web_search":
            yield from (Answering(), Called("web_search", item.get("query") or "", _id(item)))
        case "reasoning":
            yield Note(item["text"])
        case "error":
            yield Note(item["message"])


def _id(item: dict[str, Any]) -> str:
    return str(item.get("id") or "")


def _result(item: dict[str, Any]) -> str:
    if item.get("error"):
        return str(item["error"].get("message") or "")
    content = (item.get("result") or {}).get("content") or ()
    return " ".join(str(each.get("text") or "") for each in content)


def _used(usage: dict[str, Any]) -> Used:
    """Output counts the reasoning, input what was cached."""
    return Used(usage["input_tokens"], usage["output_tokens"], usage.get("cached_input_tokens") or 0, total=True)


def _so_far(line: dict[str, Any]) -> Iterable[Event]:
    """What `_kept` has found: it changes nothing of what the end of the turn tells."""
    if line.get("model"):
        yield Used(model=line["model"], provisional=True, beside=True, answer="model")
    if line.get("usage"):
        yield replace(_used(line["usage"]), beside=True)


_THREAD = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def _rollout(place: Path, thread: str) -> Path | None:
    """Where it keeps a thread: by the local day on which that began, which is in its id (a UUID of version 7)."""
    if not _THREAD.fullmatch(thread):
        return None
    began = datetime.fromtimestamp(int(thread.replace("-", "")[:12], 16) / 1000, UTC)
    for days in (0, -1, 1):
        folder = place / "sessions" / f"{began + timedelta(days):%Y/%m/%d}"
        found = next(folder.glob(f"rollout-*-{thread}.jsonl"), None)
        if found is not None:
            return found
    return None


_COUNTED = ("input_tokens", "output_tokens", "cached_input_tokens")


def _kept(written: str) -> Iterable[str]:
    """Of what it has written there, the model and the newest sum of tokens: the rest is what the thread said."""
    told: dict[str, Any] = {}
    for line in written.splitlines():
        with contextlib.suppress(AttributeError, KeyError, RecursionError, TypeError, ValueError):
            if '"turn_context"' in line[:_HEAD]:
                told["model"] = str(json.loads(line)["payload"]["model"])
            elif '"token_count"' in line[:_HEAD]:
                usage = json.loads(line)["payload"]["info"]["total_token_usage"]
                told["usage"] = {name: usage.get(name) or 0 for name in _COUNTED}
    if told:
        yield json.dumps({"type": "thread", **told})


_HEAD = 200
"""Characters of a line in which it says what it is."""


def _troubled(message: str, final: bool) -> Troubled:
    """Codex puts the status into its words: "unexpected status 401 Unauthorized", "last status: 429 Too Many …"."""
    status = re.search(r"\bstatus:? (\d{3})\b", message)
    return Troubled(message, int(status.group(1)) if status else None, final=final)


# --- what its end means -----------------------------------------------------------------------------------------------

_NO_SERVER = re.compile(rf"required MCP servers failed to initialize: (?:{NAME}|{STAND_IN}): .*")
_BAD_CONFIG = re.compile(r"Error loading config\.toml: .*(?:\nin `.*)?")


def _judge(end: Exit) -> Verdict:
    """Codex gives up before its first event where our server cannot be had, or its own configuration is wrong."""
    if end.exit_code and end.trouble is None:
        for pattern, failure in ((_NO_SERVER, Failure.COULD_NOT_CONNECT), (_BAD_CONFIG, Failure.BAD_CONFIG)):
            found = pattern.search(end.tail)
            if found:
                words = " ".join(found.group().split())
                if f"`mcp_servers.{NAME}`" in words:  # in the user's configuration, which cannot be overridden
                    words += f". Your own Codex configuration has this server: run codex mcp remove {NAME}."
                return Verdict(failure, words=words)
    return judge_model(end)


def _login(environ: Mapping[str, str]) -> Login:
    if environ.get("CODEX_API_KEY") or environ.get("CODEX_ACCESS_TOKEN"):
        return Login(True, "with a key in the environment")
    named = _own_settings(environ).get("model_provider")
    if named and named != "openai":  # its keys are not part of Codex's login
        return Login(None, f"its configuration uses another model provider, {named}")
    try:
        answer = ask(("codex", "login", "status"), environ)
    except OSError:
        answer = None
    if answer is None or answer.exit_code is None:
        return Login(None, "codex login status does not tell")
    said = (answer.out + answer.err).strip().splitlines()
    return Login(answer.exit_code == 0, said[-1] if said else "")


def _own_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """What cannot be read counts as nothing: Codex says so itself."""
    home = environ.get("CODEX_HOME") or Path(environ.get("HOME") or "/") / ".codex"
    try:
        return tomllib.loads(untrusted_files.text(Path(home) / "config.toml"))
    except (OSError, ValueError, RecursionError):
        return {}


def _needs(environ: Mapping[str, str]) -> Needs:
    place = Path(environ.get("CODEX_HOME") or home(environ) / ".codex")
    own = Own(
        place,
        fixed=(
            *("config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "hooks.json", "plugins"),
            *(".env", "packages"),
        ),
        copies=("models_cache.json",),
        logins={"auth.json": ("tokens.id_token", "tokens.access_token", "tokens.refresh_token", "last_refresh")},
        sessions=("sessions/*", "state_*.sqlite*", "thread_history_*.sqlite*"),
    )
    return Needs(own=(own,))


PROVIDER = Provider(
    "codex",
    _prepare,
    _judge,
    version=("codex", "--version"),
    env=frozenset(
        {
            *("CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_HOME", "CODEX_CA_CERTIFICATE"),
            *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
            *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        }
    ),
    parse=_parse,
    beside=Beside(_rollout, _kept, to_the_end=True),
    metering=Metering.EACH_ANSWER,
    resumes=True,
    login=_login,
    needs=_needs,
    install="npm install -g @openai/codex",
    log_in="Run codex login, or set CODEX_API_KEY.",
    tried="0.169.0",
)
