"""The Coordinator's file: every key of the seed, and mistakes that name their line and the nearest valid key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from toryo.coordinator import config
from toryo.coordinator.config import KNOWN, Config, Mistakes, load, parse
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.provider import BadConfig
from toryo.coordinator.providers import BUILT_IN, configured
from toryo.settings import Settings

SEED = """\
polling_interval: 10  # seconds
max_concurrent: 3
mcp_socket_path: ~/Library/Application Support/AIAgentPM/mcp.sock
coordinator_token: ${COORDINATOR_TOKEN}
ai_providers:
  claude:
    cli_command: claude
    cli_args: ["--dangerously-skip-permissions"]
  gemini:
    cli_command: gemini-cli
    cli_args: ["--project", "my-project"]
agents:
  agt_developer:
    passkey: ${DEV_PASSKEY}
    working_directory: ~/projects/myapp
  agt_reviewer:
    passkey: plain
error_protection:
  default_cooldown_seconds: 60
  max_cooldown_seconds: 3600
  quota_margin_percent: 10
log_directory: ~/logs
isolation: none
"""
ENVIRON = {"COORDINATOR_TOKEN": "tct_1", "DEV_PASSKEY": "secret"}


def mistakes(text: str, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(Mistakes) as caught:
        parse(text, "coordinator_config.yaml", environ or {})
    return str(caught.value)


def test_every_key_of_the_seed_is_read() -> None:
    config = parse(SEED, "file", ENVIRON)
    assert (config.polling_interval, config.max_concurrent, config.chat_slots) == (10, 3, 3)
    assert config.server == f"unix://{Path.home()}/Library/Application Support/AIAgentPM/mcp.sock"
    assert config.coordinator_token == "tct_1"
    assert config.ai_providers["gemini"].cli_args == ["--project", "my-project"]
    assert config.agent("agt_developer").passkey == "secret"
    assert config.agent("agt_developer").working_directory == str(Path.home() / "projects/myapp")
    assert config.log_directory == Path.home() / "logs"


def test_without_a_file_the_defaults_hold_and_every_agent_may_be_started() -> None:
    config = Config()
    assert (config.polling_interval, config.max_concurrent, config.agents, config.server) == (10, 3, None, None)
    assert config.agent("anybody").working_directory is None
    assert parse("", "empty", {}) == config


def test_a_mistyped_key_names_its_line_and_the_nearest_one() -> None:
    assert mistakes("polling_interval: 1\nmax_concurent: 3\n") == (
        "coordinator_config.yaml:2: max_concurent: there is no such key; did you mean max_concurrent?"
    )
    found = mistakes("ai_providers:\n  claude:\n    cli_command: claude\n    cli_arg: []\n")
    assert found == (
        "coordinator_config.yaml:4: ai_providers.claude.cli_arg: there is no such key; did you mean cli_args?"
    )


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    lines = mistakes("max_concurrent: none\npolling_interval: -1\nagents:\n  a: {passkey: ''}\n").splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "2", "4"]
    assert "greater than 0" in lines[1]
    assert "is empty" in lines[2]


def test_a_name_that_is_not_in_the_environment_is_a_mistake() -> None:
    for environ in ({}, {"NOWHERE": ""}):
        assert mistakes("coordinator_token: x${NOWHERE}y\n", environ) == (
            "coordinator_config.yaml:1: NOWHERE is not set in the environment, or empty"
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_concurrent: [1\n", "not valid YAML: the list that starts with [ on line 1 is not closed"),
        ("max_concurrent: 1\nmax_concurrent: 2\n", "2: max_concurrent is set twice"),
        ("- a\n", "must be a mapping of names to values"),
        ("coordinator_token: ''\n", "coordinator_token: must not be empty"),
        ("mcp_socket_path: ' '\n", "mcp_socket_path: must not be empty"),
        ("server_url: localhost\n", "use http://HOST:PORT"),
        ("server_url: http://a\nmcp_socket_path: /b\n", "cannot be combined"),
        ("ai_providers:\n  clod: {cli_args: [x]}\n", "2: ai_providers.clod: cli_command is missing"),
    ],
)
def test_what_cannot_be_is_said_with_its_reason(text, words) -> None:
    assert words in mistakes(text)


def test_chats_have_as_many_slots_as_tasks_unless_the_file_says_otherwise() -> None:
    assert parse("max_concurrent: 5\n", "file", {}).chat_slots == 5
    assert parse("max_concurrent: 5\nmax_chat: 2\n", "file", {}).chat_slots == 2
    assert parse("max_chat: 0\n", "file", {}).chat_slots == 0


def test_a_file_is_read_from_its_path(tmp_path) -> None:
    (tmp_path / "c.yaml").write_text("max_concurrent: 0\n")
    with pytest.raises(Mistakes, match=r"c\.yaml:1: max_concurrent"):
        load(tmp_path / "c.yaml")


def test_the_providers_that_need_no_program_are_always_there_and_may_be_given_limits() -> None:
    assert set(BUILT_IN) == KNOWN
    text = "ai_providers:\n  command: {time_limit: 5, env: [PATH, FOO]}\n  mine: {cli_command: mine, env: {A: b}}\n"
    found = configured(parse(text, "file", {}).ai_providers)
    assert set(found) == {*BUILT_IN, "mine"}
    assert found["command"].time_limit == 5
    assert found["command"].env == {"PATH", "FOO"}
    assert found["mine"].settings == {"A": "b"}
    assert found["mine"].version == ("mine", "--version")


def test_an_empty_sandbox_is_a_mistake_and_not_a_choice() -> None:
    assert "use auto, bwrap or none" in mistakes("sandbox:\n")


ACCOUNTS = """\
ai_providers:
  claude:
    env: {ANTHROPIC_API_KEY: key-of-first}
    accounts:
      second: {env: {CLAUDE_CONFIG_DIR: /srv/second}}
  gemini: {account: ours}
  codex: {}
"""


def test_a_further_account_has_an_environment_of_its_own_and_no_login_of_another() -> None:
    config = parse(ACCOUNTS, "file", {})
    told = [(each["provider"], each["account"]) for each in config.accounts]
    assert told == [("claude", "claude"), ("claude", "second"), ("gemini", "ours")]
    found = configured(config.ai_providers)
    claude = found["claude"]
    for own in (None, "claude"):
        assert claude.for_account(own) is claude
    second = claude.for_account("second")
    assert second.settings == {"CLAUDE_CONFIG_DIR": "/srv/second"}
    assert second.env == PROXIES
    assert [each.name for each in claude.logins] == ["claude", "claude (second)"]
    assert [each.name for each in found["gemini"].logins] == ["gemini (ours)"]
    assert [each.name for each in found["codex"].logins] == ["codex"]
    assert found["codex"].for_account("whatever") is found["codex"], "its one login is whatever account is asked for"


def test_a_home_directory_is_written_in_an_environment_as_in_a_shell(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    text = (
        "ai_providers: {claude: {env: {A: ~/a, B: a~/b}, accounts: {second: {env: {CLAUDE_CONFIG_DIR: ~/.second}}}}}\n"
    )
    found = configured(parse(text, "file", {}).ai_providers)["claude"]
    assert found.settings == {"A": "/home/me/a", "B": "a~/b"}
    assert found.for_account("second").settings == {"CLAUDE_CONFIG_DIR": "/home/me/.second"}


def test_a_program_and_its_arguments_are_found_in_the_home_as_in_a_shell(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    text = "ai_providers: {mine: {cli_command: ~/bin/mine, cli_args: [--config, ~/mine.toml, '$1', --x=~/y]}}\n"
    section = parse(text, "file", {}).ai_providers["mine"]
    assert (section.cli_command, section.cli_args) == (
        "/home/me/bin/mine",
        ["--config", "/home/me/mine.toml", "$1", "--x=~/y"],
    )
    assert "write ${HOME}" in mistakes("ai_providers: {mine: {cli_command: $HOME/bin/mine}}\n")


@pytest.mark.parametrize(("provider", "account"), [("claude", "third"), ("gemini", "gemini")])
def test_an_account_that_the_file_does_not_have_starts_nothing(provider: str, account: str) -> None:
    found = configured(parse(ACCOUNTS, "file", {}).ai_providers)
    with pytest.raises(BadConfig, match=f"no account '{account}' of {provider}") as refused:
        found[provider].for_account(account)
    assert f"ai_providers.{provider}.accounts.{account}" in str(refused.value)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("accounts: {second: {env: {}}}", "accounts.second.env"),
        ("accounts: {second: {}}", "accounts.second.env"),
        ("accounts: {second: {env: [KEY]}}", "accounts.second.env"),
        ("accounts: {claude: {env: {A: b}}}", "claude is the account of this machine's own login"),
        ("account: second, accounts: {second: {env: {A: b}}}", "second is the account of this machine's own login"),
        ("account: ''", "account"),
        ("accounts: {'': {env: {A: b}}}", "'' is not a valid account name"),
        ("accounts: {' second': {env: {A: b}}}", "' second' is not a valid account name"),
        ('accounts: {"se\\ncond": {env: {A: b}}}', "is not a valid account name"),
        (f"accounts: {{{'x' * 201}: {{env: {{A: b}}}}}}", "is not a valid account name"),
        (f"account: {'x' * 201}", "ai_providers.claude.account: "),
        ("accounts: {second: {env: {A: b}}, third: {env: {A: b}}}", "second and third have the same env"),
        (
            "accounts: {second: {env: {CLAUDE_CONFIG_DIR: .second}}}",
            "second: CLAUDE_CONFIG_DIR must be an absolute path",
        ),
        ("accounts: {second: {env: {HOME: '~'}}}", "second: HOME must be an absolute path"),
        ("account: 'first, second'", "ai_providers.claude.account: this is one account"),
    ],
)
def test_an_account_that_cannot_be_told_from_the_own_one_is_a_mistake(section: str, said: str) -> None:
    assert said in mistakes(f"ai_providers:\n  claude: {{{section}}}\n")


@pytest.mark.parametrize(
    "env", ["{CLAUDE_CONFG_DIR: /srv/second}", "{CLAUDE_CODE_OAUTH_TOKEN: ' '}", "{HTTP_PROXY: p}"]
)
def test_an_account_of_which_nothing_selects_a_login_is_refused_since_it_would_use_the_own_one(env: str) -> None:
    config = parse(f"ai_providers: {{claude: {{accounts: {{second: {{env: {env}}}}}}}}}\n", "file", {})
    with pytest.raises(BadConfig, match=r"ai_providers\.claude\.accounts\.second\.env selects no login of claude"):
        configured(config.ai_providers)


@pytest.mark.parametrize(
    ("provider", "env"),
    [
        ("opencode", "{TOGETHER_API_KEY: key}"),
        ("opencode", "{XDG_DATA_HOME: /srv/second}"),
        ("codex", "{AZURE_OPENAI_API_KEY: key}"),
        ("claude", "{AWS_PROFILE: second}"),
        ("gemini", "{HOME: /srv/second}"),
    ],
)
def test_every_way_to_select_a_login_makes_an_account(provider: str, env: str) -> None:
    config = parse(f"ai_providers: {{{provider}: {{accounts: {{second: {{env: {env}}}}}}}}}\n", "file", {})
    assert list(configured(config.ai_providers)[provider].accounts) == ["second"]


def test_what_a_program_of_the_file_makes_of_a_variable_is_its_own_affair() -> None:
    accounts = "accounts: {second: {env: {PROFILE: b}}}"
    text = f"ai_providers: {{claude: {{cli_command: mine, {accounts}}}, other: {{cli_command: other, {accounts}}}}}\n"
    found = configured(parse(text, "file", {}).ai_providers)
    assert [found[name].accounts for name in ("claude", "other")] == [{"second": {"PROFILE": "b"}}] * 2


def test_a_further_account_goes_through_the_proxy_of_its_provider() -> None:
    env = "{HTTPS_PROXY: 'http://proxy:8', ANTHROPIC_API_KEY: key-of-first}"
    second = "{env: {CLAUDE_CONFIG_DIR: /srv/second}}"
    third = "{env: {CLAUDE_CONFIG_DIR: /srv/third, HTTPS_PROXY: 'http://other:8'}}"
    text = f"ai_providers: {{claude: {{env: {env}, accounts: {{second: {second}, third: {third}}}}}}}"
    claude = configured(parse(text, "file", {}).ai_providers)["claude"]
    assert claude.for_account("second").settings == {
        "HTTPS_PROXY": "http://proxy:8",
        "CLAUDE_CONFIG_DIR": "/srv/second",
    }
    assert claude.for_account("third").settings["HTTPS_PROXY"] == "http://other:8"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ai_providers:\n  claude:\n  accounts: {second: {env: {A: b}}}\n",
            "3: ai_providers.accounts: this belongs to",
        ),
        ("accounts: {second: {env: {A: b}}}\n", "1: accounts: this belongs to one provider"),
        ("claude: {accounts: {second: {env: {A: b}}}}\n", "1: claude: this is a provider: write it below ai_providers"),
    ],
)
def test_a_key_of_a_provider_at_another_level_is_told_where_it_belongs_and_nothing_else(text: str, said: str) -> None:
    [told] = mistakes(text).splitlines()
    assert f"coordinator_config.yaml:{said}" in told


def test_a_provider_of_the_file_may_have_the_name_of_a_setting() -> None:
    assert parse("ai_providers: {resume: {cli_command: x}}\n", "file", {}).ai_providers["resume"].cli_command == "x"


@pytest.mark.parametrize("value", ["$KEY", "$HOME/.second"])
def test_a_variable_without_braces_in_an_environment_is_a_mistake_and_not_a_login(value: str) -> None:
    name = value.partition("/")[0].lstrip("$")
    for place in ("env: {A: %s}", "accounts: {second: {env: {A: %s}}}"):
        told = mistakes(f"ai_providers: {{claude: {{{place % value}}}}}\n", {"KEY": "k", "HOME": "/home/me"})
        assert f"env.A: ${name} is not replaced: write ${{{name}}}" in told


def test_a_misspelt_provider_is_told_the_nearest_one() -> None:
    assert "cluade: cli_command is missing. Did you mean claude?" in mistakes(
        "ai_providers: {cluade: {resume: true}}\n"
    )
    assert "Enter the name of its program." in mistakes("ai_providers: {house: {resume: true}}\n")


def test_how_to_log_in_to_a_further_account_names_its_environment_and_not_its_values() -> None:
    second = configured(parse(ACCOUNTS, "file", {}).ai_providers)["claude"].logins[1]
    assert second.log_in.startswith("In the environment of this account (CLAUDE_CONFIG_DIR): run claude once")
    assert "/srv/second" not in second.log_in


def sections(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A section of the file, and all below it."""
    yield model
    for field in model.model_fields.values():
        for each in re.findall(r"\w+", str(field.annotation)):
            below = getattr(config, each, None)
            if isinstance(below, type) and issubclass(below, BaseModel) and below is not model:
                yield from sections(below)


def test_every_key_of_the_file_says_what_it_means_for_its_page_of_the_reference() -> None:
    found = [(model, name, field) for model in sections(Config) for name, field in model.model_fields.items()]
    assert {model.__name__ for model, _, _ in found} >= {"Config", "ProviderConfig", "AccountConfig", "Price"}
    unsaid = [f"{model.__name__}.{name}" for model, name, field in found if not field.description]
    assert unsaid == []


def test_a_key_that_was_removed_stops_nobody_and_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert parse("error_protection:\n  anything: [1]\nmax_concurrent: 7\n", "file", {}).max_concurrent == 7
    assert "error_protection no longer has an effect. The server decides" in caplog.text


def test_a_group_of_the_servers_settings_names_the_variables_of_the_server() -> None:
    """Row 2.63: seed 2 has the lifetimes of sessions in this file."""
    with pytest.raises(Mistakes) as raised:
        parse("session:\n  default_timeout: 3600\n  max_timeout: 86400\n", "coordinator_config.yaml")
    for name in ("TORYO_SESSION__DEFAULT_TIMEOUT", "TORYO_SESSION__MAX_TIMEOUT"):
        assert name in str(raised.value)


def test_every_group_of_the_servers_settings_is_known_as_such() -> None:
    fields = Settings.model_fields.items()
    groups = {
        name for name, each in fields if isinstance(each.annotation, type) and issubclass(each.annotation, BaseModel)
    }
    assert groups == config.OF_SERVER


@pytest.mark.parametrize("option", ["--dangerously-skip-permissions", "--yolo", "-y", "--approval-mode=yolo"])
def test_an_argument_that_gives_less_than_it_promises_is_known(option: str) -> None:
    """Row 2.35."""
    assert config.without_effect(["--project", "x", option]) == option
    assert config.without_effect(["--project", "x", "--yolo-mode"]) is None
