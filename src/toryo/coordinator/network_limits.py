"""What one program reaches from its sandbox: the decision (`toryo.sandbox_network`) as the proxy and the entry need it.

Base URLs of a model are looked for in the program's environment, in the options with which it is started, and in the
settings of its own directory, which people write. Never where agents write: in a project, or in a worktree.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from toryo import untrusted_files
from toryo.client import server_address
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.provider import BadConfig, Needs
from toryo.sandbox_network import (
    FIRST_PORT,
    Asked,
    InForce,
    Network,
    Rule,
    Setting,
    base_hosts,
    exactly,
    is_base_variable,
    model_hosts,
    on_loopback,
    plain_host,
    rule,
)

PROXY_PORT = 47113
"""In the sandbox, whose network has nothing else."""
_LOOPBACK = ("127.0.0.1", "::1")
_SETTINGS = ("config.toml", "settings.json", "opencode.json", "opencode.jsonc", "config.json", ".env")
_LARGEST = 256 * 1024
_BASE_KEYS = frozenset({"apibase", "apibaseurl", "baseurl", "chatgptbaseurl", "openaibaseurl"})
"""Settings that are the base URL of a model, in small letters without `_` and `-`."""
_OTHER_SERVICES = frozenset({"mcp", "mcpservers", "otel", "telemetry"})
"""Parts of settings in which a base URL is that of something else, written in the same way."""
_OF_FILE = re.compile(r"\s*(?:export\s+)?(\w+)\s*=\s*[\"']?(https?://[^\s\"']+)[\"']?\s*(?:#.*)?")
_OPTION = re.compile(r"[\w.\"-]*?(?:base[_-]?url|api[_-]?base)(?:=(.*))?", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one launch, or of one command. `listen`: the sockets that are made in the sandbox; none: it has no network at
    all. `spec`: what its proxy is told."""

    listen: tuple[tuple[str, int], ...] = ()
    ports: tuple[int, ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    why: str = ""

    @property
    def entry(self) -> str:
        return json.dumps({"listen": self.listen, "ports": self.ports})

    def around(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of the program: it finds the proxy, and what is in its own network without it."""
        own = {name: value for name, value in env.items() if name not in PROXIES and name.upper() != "ALL_PROXY"}
        if not self.listen:  # what these name is out of reach, and may hold a password
            return own
        own_network = dict.fromkeys(("localhost", *_LOOPBACK, *(host for host, _ in self.listen)))
        proxy, near = f"http://127.0.0.1:{self.listen[0][1]}", ",".join(own_network)
        names = {name: near if name.upper() == "NO_PROXY" else proxy for name in PROXIES}
        return {**own, **names, "NODE_USE_ENV_PROXY": "1"}


@dataclass(frozen=True, slots=True)
class Program:
    """Whose network it is. `machine`: the Coordinator's own environment, for the proxy that this machine needs. `urls`:
    base URLs of its own settings. `logins`: the services that it has a login for."""

    name: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, hash=False)
    machine: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    urls: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    server_url: str = ""
    project_id: str = ""
    agent_id: str = ""


def limits(found: InForce, asked: Asked, program: Program) -> Limits | None:
    """None where everything is open. Raises BadConfig if the program could not reach the server."""
    if not found.limited:
        return None
    hosts, bases = list(found.hosts), list(_server(program.server_url))
    if found.models:
        hosts += model_hosts(program.name, program.environ, program.logins)
        bases += base_hosts(program.environ, program.urls)
    leads = _leads(each for each in map(rule, (*bases, *found.hosts)) if each is not None and on_loopback(each.host))
    taken = {port for _, port in leads}
    ports = tuple(port for port in asked.ports if port not in taken and program.server_url)
    if found.network is Network.OFF and not bases and not ports:
        return Limits(why=why(found, asked, program))
    proxy = next(port for port in range(PROXY_PORT, 65536) if port not in taken and port not in ports)
    listen = (("127.0.0.1", proxy), *leads)
    spec = {
        "hosts": hosts,
        "trusted": [[each.host, each.ports[0]] for text in bases if (each := rule(text)) is not None],
        "leads": [[host, port, to, port] for (host, port), to in leads.items()],
        "ports": ports,
        "why": why(found, asked, program),
        **_upstream(program),
    }
    return Limits(listen, ports, spec, spec["why"])


def why(found: InForce, asked: Asked, program: Program) -> str:
    """What is in force, and how a person allows `{host}`."""
    said = f"Its network is {found.network} ({found.setting})."
    unused = unused_proxy(program.environ, program.machine)
    return " ".join(filter(None, (said, _allowed(found, asked, program), unused)))


def _allowed(found: InForce, asked: Asked, program: Program) -> str:
    if found.setting is Setting.SETUP:
        return f"A person can allow it: {_edit(program, 'setup_network', asked.setup_hosts)}"
    if found.setting is Setting.PROJECT:
        network = "" if found.network is Network.ALLOWLIST else "--set network=allowlist "
        return f"A person can allow it: {_edit(program, 'network_hosts', asked.hosts, network)}"
    if found.setting is Setting.AGENT:
        edit = f"toryo agent edit {program.agent_id or 'AGENT'} --option sandbox_network=allowlist"
        return f"A person can change that: {edit}, and network and network_hosts of the project."
    return "Who runs the Coordinator can change that."


def _edit(program: Program, setting: str, hosts: Iterable[str], more: str = "") -> str:
    listed = json.dumps([*hosts, "{host}"])
    return f"toryo project edit {program.project_id or 'PROJECT'} {more}--set {setting}='{listed}'"


def _server(url: str) -> Iterator[str]:
    """Toryo's own server, unless it is reached by its socket, which is in the sandbox."""
    with contextlib.suppress(ValueError):
        found = server_address.parse(url) if url else None
        if found is not None and found.socket is None:
            if on_loopback(found.host.strip("[]")) and found.port < FIRST_PORT:
                raise BadConfig(
                    f"Toryo's server is at {exactly(found.host, found.port)}. A program with a limited network does "
                    f"not reach a port below {FIRST_PORT} of its own machine. Give the Coordinator another address of "
                    "the server (a higher port, or its name), or set network of the project to open."
                )
            yield exactly(found.host, found.port)


def _leads(near: Iterable[Rule]) -> dict[tuple[str, int], str]:
    """Where a sandbox listens for ports of this machine's loopback, and the host that each leads to. Its two usual
    addresses stand for each other, as the name of both does, unless each is listed with that port."""
    found: dict[tuple[str, int], str] = {}
    pairs = [(each.host, port) for each in near for port in each.ports if port >= FIRST_PORT]
    for host, port in pairs:
        if host != "localhost":
            found[host, port] = host
    for host, port in pairs:
        for other in _LOOPBACK if host in ("localhost", *_LOOPBACK) else ():
            found.setdefault((other, port), host)
    return dict(sorted(found.items(), key=lambda each: each[0][1]))


_OF_MACHINE = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
_OTHER = ("ALL_PROXY", "all_proxy")


def _upstream(program: Program) -> dict[str, Any]:
    """The proxy that this machine needs itself: of the program's environment, which the Coordinator's file can set,
    else of the Coordinator's own."""
    for environ in (program.environ, program.machine):
        for name in _OF_MACHINE:
            parts = _plain_proxy(environ.get(name, ""))
            if parts is not None:
                named = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
                signs = f"Basic {base64.b64encode(named.encode()).decode()}" if parts.username else ""
                upstream = [parts.hostname, parts.port or 80]
                return {"upstream": upstream, "authorization": signs, "direct": _direct(program)}
    return {}


def _direct(program: Program) -> list[str]:
    """The entries of the nearest NO_PROXY."""
    said = (environ.get(name) for environ in (program.environ, program.machine) for name in ("NO_PROXY", "no_proxy"))
    return next(filter(None, said), "").replace(",", " ").lower().split()


def _plain_proxy(url: str) -> SplitResult | None:
    """The only kind that the proxy of a sandbox can ask itself."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme == "http" and parts.hostname and parts.port != 0:
            return parts
    return None


def unused_proxy(*environs: Mapping[str, str]) -> str:
    """A sentence on a proxy that this machine has and that limited networks cannot use; never its URL, which may hold a
    password. Empty if there is none, or one that they use."""
    named = [(name, each[name]) for each in environs for name in (*_OF_MACHINE, *_OTHER) if each.get(name)]
    if not named or any(name in _OF_MACHINE and _plain_proxy(url) is not None for name, url in named):
        return ""
    return f"The proxy in {named[0][0]} is not used: only http:// proxies in HTTPS_PROXY or HTTP_PROXY are supported."


def urls_of(needs: Needs, words: Sequence[str], written: Sequence[Path] = ()) -> tuple[str, ...]:
    """The base URLs in the settings that people have written for a program, and in the options it is started with.

    Nothing counts that lies in one of the `written` directories, in which agents write, or that a link leads to there.
    """
    folders = [*(own.place for own in needs.own), *needs.reads]
    files = [*(folder / name for folder in folders for name in _SETTINGS), *needs.reads]
    found = [*_of_words(words)]
    for path in _of_people(files, written):
        found += _of_settings(path)
    return tuple(dict.fromkeys(found))


def _of_words(words: Sequence[str]) -> Iterator[str]:
    """`--base-url URL`, `--base-url=URL` and `key.base_url=URL`: other URLs may be a part of a prompt."""
    for word, following in pairwise([*words, ""]):
        if (option := _OPTION.fullmatch(word)) is not None:
            value = option[1] if option[1] is not None else following if word.startswith("-") else ""
            if value:
                yield value.strip("\"' ")


def _of_settings(path: Path) -> Iterator[str]:
    """Of a file that cannot be read as what its name says, nothing."""
    text = _text(path)
    with contextlib.suppress(ValueError, RecursionError):
        if path.suffix == ".toml":
            yield from _base_urls(tomllib.loads(text))
        elif path.suffix in (".json", ".jsonc"):
            yield from _base_urls(json.loads(_LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)) or "{}"))
        elif path.name == ".env":
            found = map(_OF_FILE.fullmatch, text.splitlines())
            yield from (each[2] for each in found if each is not None and is_base_variable(each[1]))


def _base_urls(settings: Any) -> Iterator[str]:
    if isinstance(settings, list):
        for each in settings:
            yield from _base_urls(each)
    elif isinstance(settings, dict):
        for name, value in settings.items():
            plain = str(name).lower().replace("_", "").replace("-", "")
            if isinstance(value, str) and (plain in _BASE_KEYS or is_base_variable(str(name))):
                yield value
            elif plain not in _OTHER_SERVICES:
                yield from _base_urls(value)


def logins_of(needs: Needs, written: Sequence[Path] = ()) -> tuple[str, ...]:
    """The names in the logins of a program that asks many services; `written` as for `urls_of`."""
    found: list[str] = []
    for path in _of_people((own.place / "auth.json" for own in needs.own), written):
        with contextlib.suppress(ValueError, RecursionError):
            logins = json.loads(_text(path) or "{}")
            found += logins if isinstance(logins, dict) else ()
    return tuple(found)


def _of_people(paths: Iterable[Path], written: Sequence[Path]) -> Iterator[Path]:
    """Those of which no agent can decide what is read there. A path that cannot be followed is left out."""
    places = [way for each in written for way in _ways(each)]
    for path in paths:
        with contextlib.suppress(OSError):
            if not any(way.is_relative_to(each) for way in _ways(path) for each in places):
                yield path


def _ways(path: Path) -> tuple[Path, Path]:
    """As it is written, and where links lead. Raises OSError."""
    return Path(os.path.abspath(path)), untrusted_files.real(path)  # noqa: PTH100


def _text(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():
            return untrusted_files.text(path, largest=_LARGEST, errors="replace")
    return ""


# --- what was refused -------------------------------------------------------------------------------------------------


def refusals_of(logs: Path, launch_id: str) -> Path:
    """The file in which a launch's proxy notes what it has refused, out of reach of the program: first why, then a host
    in each line. And where the program's ports are reachable (`SERVED`)."""
    return logs / f"{launch_id}.log.refused"


def refusals_of_command() -> Path:
    """A new one, of an acceptance check or a command that sets a directory up. No file is made yet."""
    return Path(tempfile.gettempdir()) / f"toryo-check-{secrets.token_hex(16)}.refused"


MOST_NAMED = 20
LONGEST_NAMED = 300
SERVED = re.compile(r"= (\d{1,5}) (\d{1,5})")
"""A port of the program, and that of this machine at which it is reachable."""


@dataclass(frozen=True, slots=True)
class Refused:
    """`hosts` as the program has asked for them. `words`: what is in force and how a person allows `{host}`; empty
    where that would help none of them."""

    hosts: tuple[str, ...] = ()
    words: str = ""

    @property
    def told(self) -> dict[str, Any] | None:
        """As it is reported: the hosts beside the words."""
        if not self.hosts:
            return None
        named = [each[:LONGEST_NAMED] for each in self.hosts[:MOST_NAMED]]
        return {"hosts": named, "more": len(self.hosts) - len(named), "words": self.words.replace("{host}", "HOST")}

    @property
    def lines(self) -> list[str]:
        """What the log of a launch, or the output of a command, says at its end."""
        if not self.hosts:
            return []
        more = [f"· … and {len(self.hosts) - MOST_NAMED} more"] if len(self.hosts) > MOST_NAMED else []
        lines = ["· The sandbox refused these hosts:", *(f"·   {each}" for each in self.hosts[:MOST_NAMED]), *more]
        if self.words:
            first = next(filter(_is_host, self.hosts))
            host, _, port = first.rpartition(":")
            lines.append(f"· {self.words.replace('{host}', host if port in ('80', '443') else first)}")
        return lines


def refused_hosts(path: Path) -> Refused:
    """What was refused until its end. Removes the file."""
    try:
        reason, *noted = _noted(path)
    except (OSError, ValueError):
        return Refused()
    with contextlib.suppress(OSError):
        path.unlink()
    hosts = tuple(each for each in noted if SERVED.fullmatch(each) is None)
    return Refused(hosts, reason if any(map(_is_host, hosts)) else "")


def served_ports(path: Path) -> dict[str, int]:
    """Where the ports of a program are reachable."""
    with contextlib.suppress(OSError, ValueError):
        found = map(SERVED.fullmatch, _noted(path))
        return {each[1]: int(each[2]) for each in found if each is not None}
    return {}


def _noted(path: Path) -> list[str]:
    return untrusted_files.text(path, largest=_LARGEST, errors="replace").splitlines()


def _is_host(line: str) -> bool:
    """And nothing after it: a reason for which listing it would not help."""
    host, _, port = line.rpartition(":")
    return plain_host(host) is not None and port.isdigit()
