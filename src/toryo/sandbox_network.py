"""What of the network an agent's program may reach from its sandbox: the decision, the hosts, and how they are written.

The server shows what is in force, a Coordinator enforces it (`coordinator/network_proxy.py`): both import this module.
No I/O.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Network(StrEnum):
    """From narrow to wide. In each of them the program reaches the server of Toryo."""

    OFF = "off"
    MODEL = "model"
    """The service of its model."""
    ALLOWLIST = "allowlist"
    """That, and the hosts that the project lists."""
    OPEN = "open"
    """What its Coordinator reaches, the services of this machine too."""


WIDTH = {each: number for number, each in enumerate(Network)}
WORDS: Mapping[Any, str] = {True: "open", False: "off", "on": "open"}
"""How the switch of before is still written."""


class Setting(StrEnum):
    """Where the narrowest word stands: there a person widens it."""

    PROJECT = "network of the project"
    AGENT = "sandbox_network of the agent's provider_options"
    COORDINATOR = "sandbox_network of the Coordinator's file"
    SETUP = "setup_network of the project"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a project says, as a Coordinator is told it."""

    network: Network = Network.OPEN
    hosts: tuple[str, ...] = ()
    """What `allowlist` adds."""
    setup_hosts: tuple[str, ...] = ()
    """What the commands that set a worktree up reach, and nothing else; empty: what the agent does."""
    ports: tuple[int, ...] = ()
    """Ports of its program that are reachable on its Coordinator's machine."""

    @staticmethod
    def read(given: Any) -> Asked:
        """From an order; open for a server that does not say. Of nonsense, nothing is allowed."""
        if given is None:
            return Asked()
        found: Mapping[str, Any] = given if isinstance(given, Mapping) else {"network": "off"}
        texts = {name: found.get(name) for name in ("hosts", "setup_hosts", "ports")}
        listed = {name: value if isinstance(value, (list, tuple)) else () for name, value in texts.items()}
        return Asked(
            word(found.get("network", "open")) or Network.OFF,
            tuple(map(str, listed["hosts"])),
            tuple(map(str, listed["setup_hosts"])),
            tuple(each for each in listed["ports"] if is_port(each)),
        )


@dataclass(frozen=True, slots=True)
class InForce:
    """`network`, and the setting that says so. `models`: whether the hosts of the model are reachable. `hosts`: what
    else is."""

    network: Network
    setting: Setting
    models: bool = False
    hosts: tuple[str, ...] = ()

    @property
    def limited(self) -> bool:
        return self.network is not Network.OPEN


def in_force(asked: Asked, agent: Any = None, file: Network = Network.OPEN, *, setup: bool = False) -> InForce:
    """The narrowest of what the project, the agent (`sandbox_network`, None: nothing) and the Coordinator's file say.

    `setup`: for the commands that set a worktree up. A list of their own counts instead of the project's and the
    agent's word; only the file, which belongs to the machine, narrows it.
    """
    if setup and asked.setup_hosts:
        if WIDTH[file] < WIDTH[Network.ALLOWLIST]:
            return InForce(file, Setting.COORDINATOR, file is Network.MODEL)
        return InForce(Network.ALLOWLIST, Setting.SETUP, hosts=asked.setup_hosts)
    agents = Network.OPEN if agent is None else word(agent) or Network.OFF
    said = ((asked.network, Setting.PROJECT), (agents, Setting.AGENT), (file, Setting.COORDINATOR))
    network, setting = min(said, key=lambda each: WIDTH[each[0]])
    listed = asked.hosts if network is Network.ALLOWLIST else ()
    return InForce(network, setting, network in (Network.MODEL, Network.ALLOWLIST), listed)


def word(given: Any) -> Network | None:
    """The word that a value is, or stands for; None for anything else. 1 is not true."""
    plain = WORDS.get(given, given) if isinstance(given, (bool, str)) else None
    return Network(plain) if plain in list(Network) else None


def is_port(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= 65535


# --- hosts -----------------------------------------------------------------------------------------------------------

USUAL_PORTS = (80, 443)
LONGEST_HOST = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")


@dataclass(frozen=True, slots=True)
class Rule:
    """Hosts that are reachable: a name, an address, or `*.name` for all names below it."""

    host: str
    ports: tuple[int, ...] = USUAL_PORTS

    def admits(self, host: str, port: int) -> bool:
        """`host` as `plain_host` answers it."""
        below = self.host.startswith("*.") and host.endswith(self.host[1:]) and host != self.host[2:]
        return port in self.ports and (host == self.host or below)

    @property
    def written(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.ports == USUAL_PORTS else f"{host}:{self.ports[0]}"


def rule(text: str) -> Rule | None:
    """`example.org`, `*.example.org`, `10.0.0.5:5000` or `[fd00::5]:443`; None for anything else."""
    host, port = split(text)
    wild = host.startswith("*.")
    plain = plain_host(host.removeprefix("*."))
    if plain is None or (wild and (address(plain) is not None or "." not in plain)):
        return None
    if port is not None and not (_PORT.fullmatch(port) and is_port(int(port))):
        return None
    return Rule(f"*.{plain}" if wild else plain, (int(port),) if port is not None else USUAL_PORTS)


def split(text: str) -> tuple[str, str | None]:
    """A host and its port, as written; the brackets of an address stay."""
    if text.startswith("["):
        host, bracket, rest = text.partition("]")
        return host + bracket, rest[1:] if rest.startswith(":") else (rest or None)
    host, colon, port = text.partition(":")
    return host, port if colon else None


def plain_host(text: str) -> str | None:
    """A host as it is compared: in small letters, an address in its one usual form, without brackets.

    None for everything that is neither a name nor an address in that form: other spellings of an address (`2130706433`,
    `0x7f.1`, `[::ffff:127.0.0.1]`) would be read in another way by somebody else.
    """
    if text.startswith("[") and text.endswith("]"):
        found = address(text[1:-1])
        return str(found) if isinstance(found, ipaddress.IPv6Address) and str(found) == text[1:-1].lower() else None
    name = text.lower().removesuffix(".")
    if address(name) is not None:
        return name if "." in name and ":" not in name else None
    labels = name.split(".")
    if not name.isascii() or len(name) > LONGEST_HOST or _NUMBER.fullmatch(labels[-1]):
        return None
    return name if all(map(_LABEL.fullmatch, labels)) else None


def address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = isinstance(found, ipaddress.IPv6Address) and (found.ipv4_mapped is not None or found.scope_id is not None)
    return None if mapped else found


def is_public(text: str) -> bool:
    """Whether an address belongs to the internet: no loopback, private, link-local or reserved one, nor one that only
    carries such an address (IPv4 in IPv6)."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
        inner = found.ipv4_mapped or found.sixtofour
        if inner is not None:
            return is_public(str(inner))
        if found.teredo is not None:
            return False
    return found.is_global and not found.is_multicast and not any(found in each for each in _NOT_PUBLIC)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            *("192.0.0.0/24", "fec0::/10"),
            "168.63.129.16/32",  # the host of a virtual machine, at one provider
            *("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48"),  # carry an IPv4 address, for networks of their own
        ),
    )
)
"""What `is_global`, which is another one in each Python, calls public or may call so."""


def goes_directly(host: str, port: int, without: Iterable[str]) -> bool:
    """Whether a host (as `plain_host` answers it) is reached without this machine's own proxy: one of this machine or
    of a private network, or one that an entry of NO_PROXY names. These are, in small letters: `*`, a name and all below
    it, `*.name`, an address, a network (`10.0.0.0/8`); each but `*` and a network also with a `:port`."""
    at = address(host)
    near = host == "localhost" or host.endswith(".localhost") or (at is not None and not is_public(host))
    return near or any(_names(each, host, at, port) for each in without)


def _names(entry: str, host: str, at: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: int) -> bool:
    if entry == "*":
        return True
    if at is not None:
        try:
            if at in ipaddress.ip_network(entry.strip("[]"), strict=False):
                return True
        except ValueError:
            pass
    name, number = split(entry)
    name = name.strip("[]").removeprefix("*").strip(".")
    return bool(name) and number in (None, str(port)) and (host == name or (at is None and host.endswith(f".{name}")))


# --- the services of models -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Service:
    """The hosts of one program's model, from its published documentation. `api`: what it asks. `login`: where it renews
    its login. `telemetry` and downloads are no part of it, so they are not reachable."""

    api: tuple[str, ...] = ()
    login: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        return (*self.api, *self.login)


_OPENAI = ("api.openai.com",)
_ANTHROPIC = ("api.anthropic.com",)
_GOOGLE = ("generativelanguage.googleapis.com",)
_ALIBABA = (
    *("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
    *("coding.dashscope.aliyuncs.com", "coding-intl.dashscope.aliyuncs.com"),
)
SERVICES: Mapping[str, Service] = {
    "claude": Service(_ANTHROPIC, ("platform.claude.com", "console.anthropic.com", "claude.ai")),
    "codex": Service((*_OPENAI, "chatgpt.com"), ("auth.openai.com",)),
    "copilot": Service(("api.githubcopilot.com", "*.githubcopilot.com"), ("api.github.com",)),
    "gemini": Service((*_GOOGLE, "cloudcode-pa.googleapis.com"), ("oauth2.googleapis.com", "accounts.google.com")),
    "opencode": Service(("opencode.ai", "models.dev")),
    "qwen": Service((*_ALIBABA, "portal.qwen.ai"), ("chat.qwen.ai",)),
}
"""By program. A program that is not here has only the hosts that its environment names."""

BY_VARIABLE: Mapping[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": _ANTHROPIC,
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "DASHSCOPE_API_KEY": _ALIBABA,
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "GEMINI_API_KEY": _GOOGLE,
    "GOOGLE_GENERATIVE_AI_API_KEY": _GOOGLE,
    "GROQ_API_KEY": ("api.groq.com",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "MOONSHOT_API_KEY": ("api.moonshot.ai", "api.moonshot.cn"),
    "OPENAI_API_KEY": _OPENAI,
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz",),
    "XAI_API_KEY": ("api.x.ai",),
    "ZHIPU_API_KEY": ("open.bigmodel.cn", "api.z.ai"),
}
"""For programs that ask many services: what a key in their environment is for."""
BY_LOGIN: Mapping[str, tuple[str, ...]] = {
    "anthropic": (*_ANTHROPIC, "console.anthropic.com", "platform.claude.com"),
    "deepseek": ("api.deepseek.com",),
    "github-copilot": ("api.githubcopilot.com", "*.githubcopilot.com", "api.github.com"),
    "google": _GOOGLE,
    "groq": ("api.groq.com",),
    "mistral": ("api.mistral.ai",),
    "moonshotai": ("api.moonshot.ai",),
    "openai": (*_OPENAI, "chatgpt.com", "auth.openai.com"),
    "opencode": ("opencode.ai",),
    "openrouter": ("openrouter.ai",),
    "xai": ("api.x.ai",),
    "zai": ("api.z.ai",),
}
"""The same, by the name of a login in opencode's auth.json."""
_AWS, _VERTEX = "CLAUDE_CODE_USE_BEDROCK", ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_GENAI_USE_VERTEXAI")
_VERTEX_REGIONS = ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION")
_GITHUB = ("COPILOT_GH_HOST", "GH_HOST")
_BASE = re.compile(r".*(?:_BASE_URL|_API_BASE|_MODELS_URL)|CODE_ASSIST_ENDPOINT|AZURE_.*_ENDPOINT")
_MANY = frozenset({"opencode", "qwen"})


def model_hosts(program: str, environ: Mapping[str, str], logins: Iterable[str] = ()) -> tuple[str, ...]:
    """The hosts of a program's model, as rules are written. `logins`: the services that it has a login for, if it asks
    many."""
    found = list(SERVICES.get(program, Service()).hosts)
    if program in _MANY:
        found += [host for name, hosts in BY_VARIABLE.items() if environ.get(name) for host in hosts]
        found += [host for name in logins for host in BY_LOGIN.get(name, ())]
    region = environ.get("AWS_REGION", "")
    if environ.get(_AWS) and _LABEL.fullmatch(region):
        found += [f"{each}.{region}.amazonaws.com" for each in ("bedrock-runtime", "bedrock", "sts", "oidc")]
    if any(environ.get(each) for each in _VERTEX):
        places = filter(_LABEL.fullmatch, (environ.get(each, "") for each in _VERTEX_REGIONS))
        found += [f"{each}-aiplatform.googleapis.com" for each in places]
        found += ["aiplatform.googleapis.com", "oauth2.googleapis.com"]
    if program == "copilot":
        found += [each for name in _GITHUB if (own := plain_host(environ.get(name, ""))) for each in (own, f"*.{own}")]
    return tuple(dict.fromkeys(found))


def base_hosts(environ: Mapping[str, str], urls: Iterable[str] = ()) -> tuple[str, ...]:
    """What base URLs in a program's environment, and `urls` of its own settings, name: exactly one port of each."""
    named = (value for name, value in environ.items() if is_base_variable(name))
    return tuple(dict.fromkeys(host for url in (*named, *urls) if (host := host_of(url)) is not None))


def is_base_variable(name: str) -> bool:
    """Whether a variable of this name is the base URL of a model."""
    return _BASE.fullmatch(name) is not None


def host_of(url: str) -> str | None:
    """The rule for what a URL names: its host, with exactly its port."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return None
    host, port = split(re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2])
    given = rule(f"{host}:{port or (443 if scheme.lower() == 'https' else 80)}")
    return exactly(given.host, given.ports[0]) if given is not None else None


FIRST_PORT = 1024
"""Below it only root listens: a sandbox cannot lead to such a port of its machine's loopback."""


def on_loopback(host: str) -> bool:
    """Whether a host (as `plain_host` answers it) is the machine itself, which a program reaches without its proxy."""
    at = address(host)
    return host == "localhost" or (at is not None and at.is_loopback)


def is_led_to(given: Rule) -> bool:
    """Whether what is listed can be reached: of the loopback, one port at which a sandbox can listen itself."""
    return not on_loopback(given.host) or all(port >= FIRST_PORT for port in given.ports)


def exactly(host: str, port: int) -> str:
    """The rule for one port of a host."""
    return f"{f'[{host}]' if ':' in host else host}:{port}"
