"""How each kind of program is started, what its exits mean, and the words it reads first."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from toryo.coordinator.config import ProviderConfig
from toryo.coordinator.failure_words import judge_by_words, judge_runner
from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig, Exit, Setting
from toryo.coordinator.providers import BUILT_IN, custom
from toryo.failures import Failure
from toryo.first_prompt import first_words


def setting(tmp_path: Path, **more) -> Setting:
    launch = Launch("lau_1", "agt_1", "prj_1", credential="tlc_secret", model="opus", **more)
    prompt = first_words(launch.agent_id, launch.language, launch.provider_options.get("prompt", ""))
    return Setting(launch, tmp_path, tmp_path / "workspace", "http://127.0.0.1:8765", max_turns=7, prompt=prompt)


def template(tmp_path: Path, section: ProviderConfig, **more):
    return custom.provider("claude", section).prepare(setting(tmp_path, **more))


def test_a_program_is_called_what_its_provider_is_unless_the_file_names_it(tmp_path) -> None:
    assert template(tmp_path, ProviderConfig(cli_command="mine")).argv[0] == "mine"
    assert template(tmp_path, ProviderConfig()).argv[0] == "claude"


@pytest.mark.pitfall("F46")
def test_the_template_of_the_seed_is_the_program_its_arguments_and_the_prompt(tmp_path) -> None:
    section = ProviderConfig(cli_command="claude", cli_args=["--dangerously-skip-permissions"])
    command = template(tmp_path, section)
    *head, flag, prompt = command.argv
    assert head == ["claude", "--dangerously-skip-permissions", "--model", "opus"]
    assert flag == "-p"
    assert "agt_1" in prompt
    assert "\n" in prompt, "complete, with its lines"
    assert "tlc_secret" not in " ".join(command.argv)


@pytest.mark.pitfall("F17")
def test_a_template_may_name_where_everything_goes(tmp_path) -> None:
    args = ["run", "{prompt}", "-m", "{model}", "--mcp={mcp_config}", "--turns", "{max_turns}", "{working_directory}"]
    command = template(tmp_path, ProviderConfig(cli_command="x", cli_args=args), language="ja")
    assert command.argv[2].startswith("あなたはエージェント agt_1")
    assert command.argv[3:] == ("-m", "opus", f"--mcp={tmp_path}/workspace/mcp.json", "--turns", "7", str(tmp_path))


def test_the_mcp_configuration_carries_the_credential_as_a_header(tmp_path) -> None:
    command = template(tmp_path, ProviderConfig(cli_command="x"))
    [server] = json.loads(command.files["mcp.json"])["mcpServers"].values()
    assert server == {
        "type": "http",
        "url": "http://127.0.0.1:8765/mcp",
        "headers": {"Authorization": "Bearer tlc_secret"},
    }


def test_where_only_a_unix_socket_leads_to_the_server_the_program_starts_the_bridge(tmp_path) -> None:
    over_a_socket = replace(setting(tmp_path), server_url="unix:///run/toryo.sock")
    command = custom.provider("claude", ProviderConfig(cli_command="x")).prepare(over_a_socket)
    [server] = json.loads(command.files["mcp.json"])["mcpServers"].values()
    assert (server["command"], server["args"]) == (sys.executable, ["-P", "-m", "toryo", "mcp"])
    assert server["env"]["TORYO_SERVER_URL"] == "unix:///run/toryo.sock"
    assert server["env"]["TORYO_LAUNCH_CREDENTIAL"] == "tlc_secret"
    assert "tlc_secret" not in " ".join(command.argv)


def test_the_runners_do_not_let_files_of_the_project_into_themselves(tmp_path) -> None:
    argv = BUILT_IN["command"].prepare(setting(tmp_path)).argv
    assert argv[1:] == ("-P", "-u", "-m", "toryo.agents.command")


def test_a_playbook_is_checked_before_anything_starts(tmp_path) -> None:
    good = {"playbook": {"tasks": [{"match": "x", "subtasks": [{"id": "a", "title": "A"}]}]}}
    command = BUILT_IN["playbook"].prepare(setting(tmp_path, provider_options=good))
    assert json.loads(command.files["playbook.json"])["tasks"][0]["subtasks"][0]["priority"] == "medium"
    assert command.argv[-1] == str(tmp_path / "workspace" / "playbook.json")
    with pytest.raises(BadConfig, match="playbook of agent agt_1 has mistakes"):
        BUILT_IN["playbook"].prepare(setting(tmp_path))


def test_a_script_is_checked_before_anything_starts(tmp_path) -> None:
    good = {"script": {"answers": [{"when": "name", "answer": "{{agent_name}}"}]}}
    command = BUILT_IN["script"].prepare(setting(tmp_path, provider_options=good))
    assert json.loads(command.files["script.json"])["answers"][0]["answer"] == "{{agent_name}}"
    assert command.argv[1:-1] == ("-P", "-u", "-m", "toryo.agents.script", "--file")
    bad = {"script": "answers:\n  - {when: name, anser: x}\n"}
    with pytest.raises(BadConfig, match=r"script of agent agt_1 has mistakes:\n.*script:2: .*did you mean answer\?"):
        BUILT_IN["script"].prepare(setting(tmp_path, provider_options=bad))


@pytest.mark.parametrize(
    ("exit_code", "signal", "failure"),
    [
        (0, None, None),
        (1, None, Failure.CRASHED),
        (69, None, Failure.COULD_NOT_CONNECT),
        (77, None, Failure.COULD_NOT_CONNECT),
        (78, None, Failure.BAD_CONFIG),
        (None, 11, Failure.CRASHED),
        (None, 9, Failure.KILLED),
        (None, 15, Failure.KILLED),
    ],
)
def test_a_runner_says_by_its_exit_alone_what_happened(exit_code, signal, failure) -> None:
    """Its output is other programs' words: a test suite may well print `rate limit`."""
    assert judge_runner(Exit(exit_code, signal, "RateLimitError: quota exhausted")).failure is failure


@pytest.mark.parametrize(
    ("tail", "window"),
    [
        ("5-hour limit reached ∙ resets 2pm", "5h"),
        ("You've hit your session limit · resets 3:30am", "5h"),
        ("usage limit reached (five_hour), resets at ?", "5h"),
        ("You have exceeded the 5 hour usage quota.", "5h"),
        ("You have exhausted your daily quota on this model.", "day"),
        ("quota exceeded: 1000 requests per day", "day"),
        ("Weekly limit reached ∙ resets Monday", "week"),
        ("usage limit reached (seven_day), resets at ?", "week"),
        ("You've hit your usage limit. Try again in 5 hours 11 minutes.", None),
        ("You've hit your usage limit. Try again in 7 days.", None),
        ("You've hit your usage limit: see your daily and weekly limits.", None),
        ("RateLimitError: too many requests per day", None),
    ],
)
def test_a_message_says_which_quota_is_used_up(tail: str, window: str | None) -> None:
    assert judge_by_words(Exit(1, None, tail)).window == window


@pytest.mark.pitfall("F24")
@pytest.mark.parametrize(
    ("tail", "failure", "seconds"),
    [
        ("Error: quota will reset after 22m55s", Failure.QUOTA, 22 * 60 + 55),
        ("your quota will reset after 1h 2m", Failure.QUOTA, 3720),
        ("quota will reset after 45s.", Failure.QUOTA, 45),
        ("429: retry after 120", Failure.RATE_LIMITED, 120),
        ("Retry-After: 7.5", Failure.RATE_LIMITED, 7.5),
        ("TerminalQuotaError", Failure.QUOTA, None),
        ("RateLimitError", Failure.RATE_LIMITED, None),
        ("exceeded the Rate Limit", Failure.RATE_LIMITED, None),
        ("the quota of this account is exhausted", Failure.QUOTA, None),
        ("Please log in with `claude login`", Failure.NOT_LOGGED_IN, None),
        ("model opus-9 not found", Failure.MODEL_NOT_AVAILABLE, None),
        ("Traceback …", Failure.CRASHED, None),
    ],
)
def test_a_model_program_that_failed_is_understood_by_its_last_words(tail, failure, seconds) -> None:
    verdict = judge_by_words(Exit(1, None, tail))
    assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)
    assert judge_by_words(Exit(0, None, tail)).failure is None, "a success that talks of quotas is a success"


@pytest.mark.pitfall("F122")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_first_words_are_the_fixed_protocol_and_then_the_projects_own(language) -> None:
    words = first_words("agt_1", language, "Prefer small commits.")
    assert words.startswith(first_words("agt_1", language))
    for name in ("authenticate", "system_prompt", "get_next_action", "exit"):
        assert name in words
    assert words.endswith("\nPrefer small commits.\n")
    assert "passkey" not in words


def test_an_unknown_language_reads_english() -> None:
    assert first_words("a", "tlh") == first_words("a", "en")
