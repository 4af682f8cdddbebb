"""What one launch or command may reach: this machine's proxy, base URLs of settings, and ports of the loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.sandboxes import sandboxed
from toryo.coordinator import network_limits, sandbox
from toryo.coordinator.config import Config
from toryo.coordinator.network_limits import Limits, Program
from toryo.coordinator.network_proxy import NO_HOST, OF_PRIVATE, Policy
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.coordinator.process_start import Starter
from toryo.coordinator.provider import BadConfig, Needs, Own
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.sandbox import Found, Mode, Sandbox
from toryo.coordinator.workspaces import Workspaces
from toryo.sandbox_network import Asked, Network, goes_directly, in_force

__all__ = ["sandboxed"]

PROXY = {"HTTPS_PROXY": "http://me:hush@gate.example:3128", "NO_PROXY": "near.example"}


def limits(asked: Asked, **more: Any) -> Limits:
    program = Program(**{"name": "claude", "server_url": "http://127.0.0.1:8765", "project_id": "prj_1", **more})
    found = network_limits.limits(in_force(asked), asked, program)
    assert found is not None
    return found


# --- this machine's own proxy -----------------------------------------------------------------------------------------


def by_upstream(found: Limits, host: str, port: int = 443) -> bool:
    return Policy.read(found.spec).by_upstream(host, port)


def test_every_launch_goes_by_the_proxy_of_its_machine_whatever_its_program_is_passed() -> None:
    found = limits(Asked(Network.MODEL), machine=PROXY)
    assert found.spec["upstream"] == ["gate.example", 3128]
    assert by_upstream(found, "api.anthropic.com")
    assert not by_upstream(found, "near.example")
    own = limits(Asked(Network.MODEL), machine=PROXY, environ={"https_proxy": "http://own.example"})
    assert own.spec["upstream"] == ["own.example", 80], "the Coordinator's file sets another one for its program"


def test_a_server_and_a_gateway_on_the_internet_are_reached_by_it_and_those_nearby_are_not() -> None:
    environ = {"ANTHROPIC_BASE_URL": "https://gate.example/v1", "A_BASE_URL": "http://10.0.0.7:8000"}
    found = limits(Asked(Network.MODEL), machine=PROXY, environ=environ, server_url="https://toryo.example")
    assert by_upstream(found, "gate.example")
    assert by_upstream(found, "toryo.example")
    assert not by_upstream(found, "10.0.0.7", 8000)
    assert not by_upstream(found, "localhost")


@pytest.mark.parametrize(
    ("entry", "host", "directly"),
    [
        ("*", "a.example", True),
        ("corp", "git.corp", True),
        (".corp", "git.corp", True),
        ("*.corp", "git.corp", True),
        ("*.corp", "gitcorp", False),
        ("corp:443", "git.corp", True),
        ("corp:8443", "git.corp", False),
        ("93.184.0.0/16", "93.184.216.34", True),
        ("93.185.0.0/16", "93.184.216.34", False),
        ("93.184.216.34", "93.184.216.34", True),
        ("2606:2800::/32", "2606:2800:220:1::1", True),
        ("[2606:2800:220:1::1]:443", "2606:2800:220:1::1", True),
        ("34", "93.184.216.34", False),
        ("10.0.0.0/99", "a.example", False),
        ("x", "10.1.2.3", True),
        ("x", "app.localhost", True),
    ],
)
def test_no_proxy_names_hosts_domains_addresses_and_networks(entry: str, host: str, *, directly: bool) -> None:
    assert goes_directly(host, 443, [entry]) is directly


@pytest.mark.parametrize(
    "environ",
    [
        {"ALL_PROXY": "socks5://me:hush@gate.example:1080"},
        {"all_proxy": "http://me:hush@gate.example:3128"},
        {"HTTPS_PROXY": "https://me:hush@gate.example"},
        {"http_proxy": "socks5h://me:hush@gate.example"},
    ],
)
def test_a_proxy_of_another_kind_is_named_at_the_start_and_in_each_refusal_without_its_password(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "looked_for", lambda _: Found("/usr/bin/bwrap"))
    found = limits(Asked(Network.MODEL), machine=environ)
    told = Sandbox(Mode.AUTO, inherited=environ).told
    assert "upstream" not in found.spec
    for said in (told, found.why):
        assert f"The proxy in {next(iter(environ))} is not used" in said
        assert "hush" not in said
    assert told.startswith(sandbox.ON)
    usable = {**environ, "HTTP_PROXY": "http://gate.example"}
    assert (
        "is not used" not in Sandbox(Mode.AUTO, inherited=usable).told + limits(Asked(Network.OFF), machine=usable).why
    )


def test_a_program_without_any_network_finds_no_proxy_and_no_password_of_one() -> None:
    found = limits(Asked(Network.OFF), server_url="unix:///run/toryo.sock")
    assert found.around({**PROXY, "all_proxy": "socks5://me:hush@x", "A": "1"}) == {"A": "1"}


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starter:
    monkeypatch.setattr(sandbox, "looked_for", lambda _: Found("/usr/bin/bwrap"))
    return _starter(tmp_path, {**PROXY, "PATH": os.environ["PATH"]})


def _starter(folder: Path, inherited: Mapping[str, str]) -> Starter:
    spaces, walls = Workspaces(folder), Sandbox(Mode.BWRAP, inherited=inherited)
    server = "http://127.0.0.1:1024"
    return Starter(Config(), BUILT_IN, server, "m", folder, spaces, folder / "worktrees", inherited, sandbox=walls)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What sandboxes are asked for; none is made."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(Sandbox, "around", lambda *_, **more: found.append(more))
    return found


@pytest.mark.parametrize("setup", [True, False])
def test_checks_and_set_up_commands_go_by_the_proxy_of_the_machine(
    starter: Starter, tmp_path: Path, given: list[dict[str, Any]], *, setup: bool
) -> None:
    network = {"network": "allowlist", "hosts": ["a.example"], "setup_hosts": ["b.example"]}
    order = CheckOrder("chk_1", str(tmp_path), (), "ann", "prj_1", ai_type="claude", network=network)
    starter.check_walled(order, tmp_path, setup=setup)(("true",))
    assert given[0]["limits"].spec["upstream"] == ["gate.example", 3128]


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_programs_of_every_provider_go_by_the_proxy_of_the_machine(
    starter: Starter, tmp_path: Path, given: list[dict[str, Any]], name: str
) -> None:
    launch = Launch("lau_1", "ann", "prj_1", ai_type=name, network={"network": "model"})
    env = starter._environment(launch, starter.providers[name], None)
    starter._walled(launch, ("true",), env, Needs(), {}, tmp_path, None, tmp_path, read_only=False)
    assert given[0]["limits"].spec["upstream"] == ["gate.example", 3128]


# --- base URLs of settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["project", "worktrees/of-another"])
@pytest.mark.parametrize("linked", [True, False])
def test_settings_in_a_directory_that_agents_write_open_no_host(
    starter: Starter, tmp_path: Path, given: list[dict[str, Any]], folder: str, *, linked: bool
) -> None:
    theirs, mine, project = tmp_path / folder / ".codex", tmp_path / "home" / ".codex", tmp_path / "project"
    for place in (theirs, mine, project):
        place.mkdir(parents=True, exist_ok=True)
    settings = {"config.toml": 'base_url = "http://127.0.0.1:5432"', "auth.json": '{"openrouter": {}}'}
    for name, text in settings.items():
        (theirs / name).write_text(text)
        (mine / name).symlink_to(theirs / name)
    launch = Launch("lau_1", "ann", "prj_1", ai_type="opencode", network={"network": "model"})
    needs = Needs((Own(mine if linked else theirs),))
    starter._walled(launch, ("true",), {}, needs, {}, project, None, tmp_path / "space", read_only=False)
    assert "openrouter.ai" not in given[0]["limits"].spec["hosts"]
    assert ["127.0.0.1", 5432] not in given[0]["limits"].spec["trusted"]


SETTINGS = {
    "config.toml": """
        openai_base_url = "http://a.example"
        # base_url = "http://no-1.example"
        note = "base_url = 'http://no-2.example'"
        [model_providers.x]
        base_url = "http://b.example"
        [profiles.y]
        chatgpt_base_url = "http://c.example"
        [otel]
        exporter = { otlp-http = { endpoint = "http://no-3.example", base_url = "http://no-4.example" } }
        [mcp_servers.z.env]
        Z_BASE_URL = "http://no-5.example"
    """,
    "settings.json": """{
        // "baseUrl": "http://no-6.example",
        /* "baseUrl": "http://no-7.example" */
        "telemetry": {"otlpEndpoint": "http://no-8.example", "baseUrl": "http://no-9.example"},
        "endpoint": "http://no-10.example",
        "model": {"baseUrl": "http://d.example/a//b"}, "apiBase": "http://e.example",
        "env": {"ANTHROPIC_BASE_URL": "http://f.example"},
        "provider": [{"options": {"baseURL": "http://g.example",}}],
    }""",
    "config.json": '{"baseUrl": "http://no-11.example"',
    ".env": "export OPENAI_BASE_URL='http://h.example' # x\n#A_BASE_URL=http://no-12.example\nB_URL=http://no-13.example\n",
}


def test_settings_are_read_as_what_they_are_and_only_base_urls_of_models_count(tmp_path: Path) -> None:
    for name, text in SETTINGS.items():
        (tmp_path / name).write_text(text)
    found = network_limits.urls_of(Needs((Own(tmp_path),)), ())
    hosts = [f"http://{each}.example" for each in "abcdefgh"]
    assert sorted(each.removesuffix("/a//b") for each in found) == hosts


def test_deep_settings_stop_no_start(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("[" * 100_000)
    (tmp_path / "config.toml").write_text("a = " + "[" * 20_000)
    assert network_limits.urls_of(Needs((Own(tmp_path),)), ()) == ()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--append-system-prompt", "read https://github.com/o/r first"), ()),
        (("--append-system-prompt", "https://github.com"), ()),
        (("--prompt", "set base_url=https://github.com"), ()),
        (("base_url", "https://github.com"), ()),
        (("--openai-base-url", "http://a.example/v1"), ("http://a.example/v1",)),
        (("--base-url=http://a.example",), ("http://a.example",)),
        (("-c", 'model_providers.x.base_url="http://a.example"'), ("http://a.example",)),
        (("-c", 'model_providers."x".base_url=http://a.example'), ("http://a.example",)),
        (("--api-base", "http://a.example"), ("http://a.example",)),
    ],
)
def test_of_a_programs_words_only_the_values_of_its_options_for_a_base_url_count(
    words: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert network_limits.urls_of(Needs(), words) == found


# --- where a sandbox has no network of its own ------------------------------------------------------------------------

_WHY = "bwrap: Creating new namespace failed: No space left on device"


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.BWRAP])
def test_a_limited_network_that_cannot_be_made_is_refused_by_the_name_of_its_setting_and_an_open_one_is_not(
    mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_failure", lambda _, *, limited: _WHY if limited else "")
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/usr/bin/bwrap")
    inherited = {"PATH": str(tmp_path)}
    found = Sandbox(mode, inherited=inherited)
    assert found.wanted(Launch("lau_1", "ann"))
    assert found.needed()
    assert found.told.startswith(sandbox.ON)
    assert f"a sandbox cannot have a network of its own: {_WHY}" in found.told
    words = r"The network is model \(network of the project\), but .*No space left.*max_net_namespaces.*set it to open"
    with pytest.raises(BadConfig, match=words):
        found.wanted(Launch("lau_1", "ann", network={"network": "model"}))
    with pytest.raises(BadConfig, match="sandbox_network of the Coordinator's file"):
        Sandbox(mode, network=Network.MODEL, inherited=inherited).needed()
    order = CheckOrder("chk_1", str(tmp_path), (), "ann", "prj_1", network={"setup_hosts": ["a.example"]})
    wall = _starter(tmp_path, inherited).check_walled(order, tmp_path, setup=True)
    with pytest.raises(BadConfig, match="setup_network of the project"):
        wall(("true",))


@pytest.mark.deep
def test_a_machine_that_forbids_network_namespaces_is_found_out(sandboxed: None) -> None:
    ask = "import os; from toryo.coordinator import sandbox; print(sandbox.looked_for(os.environ))"
    script = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$0" -c "$1"'
    words = ["unshare", "--user", "--map-root-user", "/bin/sh", "-c", script, sys.executable, ask]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if "max_net_namespaces" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"cannot be forbidden here: {done.stderr}")
    assert "program='/usr/bin/bwrap'" in done.stdout, done.stdout + done.stderr
    assert "why_open='bwrap: " in done.stdout


# --- what was refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "advised"),
    [
        ([f"intra.example:443{OF_PRIVATE}"], None),
        ([NO_HOST], None),
        ([f"intra.example:443{OF_PRIVATE}", NO_HOST, "a.example:8443", "b.example:443"], "a.example:8443"),
        (["b.example:443"], "b.example"),
    ],
)
def test_only_a_host_that_can_be_allowed_is_advised_to_be(
    tmp_path: Path, hosts: list[str], advised: str | None
) -> None:
    path = tmp_path / "refused"
    path.write_text("\n".join(["Allow {host}", *hosts, ""]))
    lines = network_limits.refused_hosts(path).lines
    assert lines[1 : len(hosts) + 1] == [f"·   {each}" for each in hosts]
    assert lines[len(hosts) + 1 :] == ([f"· Allow {advised}"] if advised else [])


# --- ports of this machine --------------------------------------------------------------------------------------------


def test_each_loopback_address_and_port_leads_to_the_one_that_is_listed() -> None:
    hosts = ("127.0.0.1:5432", "127.0.0.2:5432", "[::1]:6000", "127.0.0.1:6000", "localhost:7000", "127.0.0.3:8000")
    found = limits(Asked(Network.ALLOWLIST, hosts), server_url="unix:///run/toryo.sock")
    leads = {(host, port): to for host, port, to, same in found.spec["leads"] if same == port}
    assert leads == {
        ("127.0.0.1", 5432): "127.0.0.1",
        ("::1", 5432): "127.0.0.1",
        ("127.0.0.2", 5432): "127.0.0.2",
        ("127.0.0.1", 6000): "127.0.0.1",
        ("::1", 6000): "::1",
        ("127.0.0.1", 7000): "localhost",
        ("::1", 7000): "localhost",
        ("127.0.0.3", 8000): "127.0.0.3",
    }
    assert {(host, port) for host, port in found.listen[1:]} == set(leads)
    assert found.around({})["NO_PROXY"] == "localhost,127.0.0.1,::1,127.0.0.2,127.0.0.3"


def test_the_proxy_takes_no_port_that_the_program_shows() -> None:
    found = limits(Asked(Network.MODEL, ports=(network_limits.PROXY_PORT,)))
    assert found.ports == (network_limits.PROXY_PORT,)
    assert found.listen[0] != ("127.0.0.1", network_limits.PROXY_PORT)


@pytest.mark.parametrize("url", ["http://127.0.0.1", "http://localhost:80", "https://127.0.0.1"])
def test_a_server_that_the_program_could_not_reach_is_said_before_its_start(url: str) -> None:
    with pytest.raises(BadConfig, match="port below 1024"):
        limits(Asked(Network.MODEL), server_url=url)
