"""What a program may reach: which word counts, which hosts a program's model has, and how hosts are read."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from toryo import provider_options, sandbox_network
from toryo.sandbox_network import (
    Asked,
    InForce,
    Network,
    Setting,
    base_hosts,
    host_of,
    in_force,
    is_public,
    model_hosts,
)

OFF, MODEL, ALLOWLIST, OPEN = Network
HOSTS, OWN = ("a.example",), ("registry.example",)


@pytest.mark.parametrize(("project", "agent", "file"), list(product(Network, (None, *Network), Network)))
def test_the_narrowest_word_counts_and_names_its_setting(
    project: Network, agent: Network | None, file: Network
) -> None:
    found = in_force(Asked(project, HOSTS), agent, file)
    said = {Setting.PROJECT: project, Setting.AGENT: agent or OPEN, Setting.COORDINATOR: file}
    assert found.network is min(said.values(), key=list(Network).index)
    assert said[found.setting] is found.network
    assert found.models is (found.network in (MODEL, ALLOWLIST))
    assert found.hosts == (HOSTS if found.network is ALLOWLIST else ())
    assert found.limited is (found.network is not OPEN)


@pytest.mark.parametrize(
    ("asked", "agent", "file", "expected"),
    [
        (Asked(MODEL, HOSTS, OWN), None, OPEN, InForce(ALLOWLIST, Setting.SETUP, hosts=OWN)),
        (Asked(OPEN, HOSTS, OWN), None, OPEN, InForce(ALLOWLIST, Setting.SETUP, hosts=OWN)),
        (Asked(OFF, HOSTS, OWN), "off", ALLOWLIST, InForce(ALLOWLIST, Setting.SETUP, hosts=OWN)),
        (Asked(OPEN, HOSTS, OWN), None, MODEL, InForce(MODEL, Setting.COORDINATOR, models=True)),
        (Asked(OPEN, HOSTS, OWN), None, OFF, InForce(OFF, Setting.COORDINATOR)),
        (Asked(ALLOWLIST, HOSTS), None, OPEN, InForce(ALLOWLIST, Setting.PROJECT, models=True, hosts=HOSTS)),
        (Asked(OPEN), "off", OPEN, InForce(OFF, Setting.AGENT)),
    ],
)
def test_set_up_commands_reach_their_own_list_alone_and_only_the_machines_file_narrows_it(
    asked: Asked, agent: Any, file: Network, expected: InForce
) -> None:
    assert in_force(asked, agent, file, setup=True) == expected


@pytest.mark.parametrize(
    ("given", "network"),
    [
        (None, OPEN),
        (True, OPEN),
        ("on", OPEN),
        (False, OFF),
        ("off", OFF),
        ("model", MODEL),
        ("perhaps", OFF),
        (1, OFF),
        ([], OFF),
    ],
)
def test_words_of_before_keep_their_meaning_and_nonsense_allows_nothing(given: Any, network: Network) -> None:
    assert in_force(Asked(), given).network is network


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (None, Asked()),
        ({}, Asked()),
        ({"network": "model", "hosts": ["a"], "ports": [3000, True, "x"]}, Asked(MODEL, ("a",), (), (3000,))),
        ({"network": "newer"}, Asked(OFF)),
        ({"network": "model", "hosts": 3}, Asked(MODEL)),
        ("model", Asked(OFF)),
    ],
)
def test_an_order_of_an_older_server_is_open_and_of_one_that_is_not_understood_nothing_is(
    given: Any, asked: Asked
) -> None:
    assert Asked.read(given) == asked


@pytest.mark.parametrize(
    ("written", "host", "port", "admitted"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("example.org", "example.org", 22, False),
        ("example.org", "www.example.org", 443, False),
        ("*.example.org", "www.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "badexample.org", 443, False),
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("10.0.0.5:5000", "10.0.0.5", 5000, True),
    ],
)
def test_a_rule_admits_its_host_at_its_ports(written: str, host: str, port: int, *, admitted: bool) -> None:
    rule = sandbox_network.rule(written)
    assert rule is not None
    assert rule.admits(host, port) is admitted


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        *(
            (each, None)
            for each in ("2130706433", "0x7f000001", "127.1", "0177.0.0.1", "0x7f.0.0.1", "127.0.0.01", "1")
        ),
        *((each, None) for each in ("[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "::1", "[fe80::1%lo]", "[127.0.0.1]")),
        *(
            (each, None)
            for each in ("", ".", "a..b", "-a.example", "a b", "ä.example", "a/b", "a@b", "/run/x.sock", "*")
        ),
        ("a" * 64 + ".example", None),
        (".".join(["a" * 60] * 5), None),
    ],
)
def test_a_host_has_one_spelling_and_no_other_is_one(text: str, host: str | None) -> None:
    assert sandbox_network.plain_host(text) == host


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        *(
            (each, False)
            for each in ("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0")
        ),
        *(
            (each, False)
            for each in ("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00::1")
        ),
        *(
            (each, False)
            for each in ("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::1", "ff02::1", "x")
        ),
        *((each, False) for each in ("::7f00:1", "::5db8:d822", "::ffff:0:7f00:1", "64:ff9b:1::7f00:1", "fec0::1")),
        *((each, False) for each in ("192.0.0.8", "192.0.0.9", "168.63.129.16", "64:ff9b::a83f:8110")),
        *((each, True) for each in ("64:ff9b::5db8:d822", "168.63.129.17", "192.0.1.1")),
    ],
)
def test_an_address_that_only_carries_one_of_this_machine_is_not_public(address: str, *, public: bool) -> None:
    assert is_public(address) is public


def test_every_program_that_asks_a_model_has_its_service_and_no_place_where_anybody_can_store_things() -> None:
    models = {name for name, options in provider_options.DECLARED.items() if provider_options.PERMISSIONS in options}
    assert set(sandbox_network.SERVICES) == models
    lists = [each.hosts for each in sandbox_network.SERVICES.values()]
    lists += [*sandbox_network.BY_VARIABLE.values(), *sandbox_network.BY_LOGIN.values()]
    every = {host for hosts in lists for host in hosts}
    assert [host for host in every if sandbox_network.rule(host) is None] == []
    wide = {"github.com", "raw.githubusercontent.com", "storage.googleapis.com", "*.googleapis.com", "*.amazonaws.com"}
    assert not every & wide


def test_a_base_url_counts_with_exactly_its_port() -> None:
    environ = {
        "ANTHROPIC_BASE_URL": "http://localhost:4000/v1",
        "OPENAI_BASE_URL": "https://user:key@gate.example/v1?x#y",
        "OTHER_URL": "https://other.example",
        "X_API_BASE": "unix:///run/x",
    }
    assert base_hosts(environ, ["http://127.0.0.1:11434"]) == ("localhost:4000", "gate.example:443", "127.0.0.1:11434")
    assert host_of("http://[::1]:8080/") == "[::1]:8080"
    assert host_of("http://2130706433/") is None


def test_what_a_program_asks_follows_its_keys_and_its_cloud() -> None:
    assert "openrouter.ai" in model_hosts("opencode", {"OPENROUTER_API_KEY": "k"})
    assert "openrouter.ai" not in model_hosts("claude", {"OPENROUTER_API_KEY": "k"})
    cloud = model_hosts("claude", {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"})
    assert "bedrock-runtime.eu-west-1.amazonaws.com" in cloud
    assert model_hosts("claude", {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "*"}) == model_hosts("claude", {})
    assert "eu-aiplatform.googleapis.com" in model_hosts(
        "claude", {"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "eu"}
    )
    assert model_hosts("copilot", {"GH_HOST": "house.ghe.com"})[-2:] == ("house.ghe.com", "*.house.ghe.com")
    assert model_hosts("command", {"OPENAI_API_KEY": "k"}) == ()
