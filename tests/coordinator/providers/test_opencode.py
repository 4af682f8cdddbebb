"""opencode against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import SESSION, Bench, Contract, Seen, beginnings, judged, read_all, recorded
from toryo.coordinator.agent_mcp_config import TOOL_TIME_OUT
from toryo.coordinator.failure_words import judge_trouble
from toryo.coordinator.provider import Exit, Provider

AGAIN = (
    "timestamp=2026-11-22T06:34:54.014Z level=ERROR run=1034f540"
    ' message="stream error" providerID=scripted modelID=scripted-1 session.id=ses_1 small=false agent=build'
    ' mode=primary error.error="AI_APICallError: rate limit exceeded, try again in 2 hours"'
)
NO_SERVER = (
    'timestamp=2026-11-22T06:34:09.559Z level=WARN run=39e02eb0 message="server unavailable" key=toryo type=remote'
    " status=failed"
)
"""Lines of its log, as 1.18.33 printed them."""


def config(seen: Seen) -> Any:
    return json.loads(seen.env["OPENCODE_CONFIG_CONTENT"])


class TestOpencode(Contract):
    name = "opencode"
    keys = frozenset({"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_CONFIG"})
    resume_words = ("--session", SESSION)

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = config(seen)["mcp"].items()
        assert name == "toryo"
        command, *args = entry.get("command") or [None]
        return {
            **entry,
            "authorization": entry.get("headers", {}).get("Authorization"),
            "command": command,
            "args": args,
            "env": entry.get("environment", {}),
            "seconds": entry["timeout"] / 1000,
        }

    def test_answers_that_are_cut_off_again_and_again_are_trouble_and_no_work(self, provider: Provider) -> None:
        reading, _ = read_all(provider, recorded(provider, "cut_quietly")[0])
        assert (reading.turns, reading.tool_calls) == (1, 1), "before the first of them"
        assert reading.trouble is not None
        assert reading.trouble.hasty, "it pays for each"

    @pytest.mark.parametrize("permissions", ["read", "edit", "full"])
    def test_configuration_of_the_project_counts_only_for_who_may_run_commands_anyway(
        self, bench: Bench, permissions: str
    ) -> None:
        env = bench.run(provider_options={"permissions": permissions}).env
        assert (env.get("OPENCODE_DISABLE_PROJECT_CONFIG") == "1") == (permissions != "full")

    def test_the_credential_is_named_as_opencode_names_variables(self, bench: Bench) -> None:
        assert self.server(bench.run())["authorization"] == "Bearer {env:TORYO_LAUNCH_CREDENTIAL}"
        bench.url = "unix:///run/toryo.sock"
        assert self.server(bench.run())["env"]["TORYO_LAUNCH_CREDENTIAL"] == "{env:TORYO_LAUNCH_CREDENTIAL}"

    def test_it_is_told_in_milliseconds_how_long_it_waits_for_a_tool(self, bench: Bench) -> None:
        assert config(bench.run())["mcp"]["toryo"]["timeout"] == TOOL_TIME_OUT * 1000

    def test_no_browser_opens_to_sign_in_at_our_server(self, bench: Bench) -> None:
        assert config(bench.run())["mcp"]["toryo"]["oauth"] is False

    @pytest.mark.parametrize(
        ("permissions", "edit", "bash"),
        [("read", "deny", "deny"), ("edit", "allow", "deny"), ("full", "allow", "allow")],
    )
    def test_permissions_say_what_it_may_do_beside_our_tools(
        self, bench: Bench, permissions: str, edit: str, bash: str
    ) -> None:
        rules = config(bench.run(provider_options={"permissions": permissions}))["permission"]
        assert next(iter(rules)) == "*", "the last rule that fits counts, so that what fits all comes first"
        found = [rules.get(each, rules["*"]) for each in ("edit", "bash", "read", "toryo_*")]
        assert found == [edit, bash, "allow", "allow"]

    def test_it_neither_updates_itself_nor_shares_nor_fetches_programs(self, bench: Bench) -> None:
        seen = bench.run()
        assert (config(seen)["autoupdate"], config(seen)["share"]) == (False, "disabled")
        assert seen.env["OPENCODE_DISABLE_AUTOUPDATE"] == seen.env["OPENCODE_DISABLE_LSP_DOWNLOAD"] == "1"

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30)[-11:] == [
            '→ write {"filePath": "/srv/wor',
            "← Wrote file successfully.",
            "Σ 100 in · 10 out",
            '→ toryo_update_task_status {"t',
            '← {"success":true,"task_id":"t',
            "Σ 100 in · 10 out",
            '→ toryo_report_completed {"res',
            '← {"success":true,"action":"ex',
            "Σ 100 in · 10 out",
            "I am done.",
            "Σ 100 in · 10 out",
        ]
        assert reading.usage == {
            "input_tokens": 900,
            "output_tokens": 90,
            "cached_tokens": 0,
            "cost_usd": None,
            "model": None,
            "turns": 9,
            "tool_calls": 8,
            "lower_bound": False,
        }
        assert reading.session_id == "ses_00000000000000000000000001"
        assert judged(provider, output, exit_code).failure is None

    def test_each_step_adds_its_tokens_and_its_money(self, provider: Provider) -> None:
        reading, _ = read_all(provider, "\n".join((step(60, 10, 0.25), step(60, 10, 0.5))))
        assert reading.usage is not None
        assert reading.usage["input_tokens"] == 2 * (60 + 40 + 7), "what was cached was read, too"
        assert reading.usage["output_tokens"] == 2 * (10 + 3), "what was thought was written, too"
        assert (reading.usage["cached_tokens"], reading.usage["cost_usd"]) == (80, 0.75)

    def test_a_price_that_is_not_known_is_not_taken_for_free(self, provider: Provider) -> None:
        reading, _ = read_all(provider, step(60, 10, 0))
        assert reading.usage is not None
        assert reading.usage["cost_usd"] is None

    def test_a_tool_that_failed_is_shown_with_its_reason(self, provider: Provider) -> None:
        state = {"status": "error", "input": {"command": "make"}, "error": "The user rejected permission"}
        line = json.dumps({"type": "tool_use", "sessionID": "s", "part": {"tool": "bash", "state": state}})
        _, text = read_all(provider, line)
        assert text.splitlines() == ['→ bash {"command": "make"}', "✗ The user rejected permission"]

    # --- its failures -------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("case", "failure", "seconds"),
        [("429", "rate_limited", 2.0), ("401", "not_logged_in", None), ("404", "model_not_available", None)],
    )
    def test_what_the_real_program_says_of_a_service_that_says_no(
        self, provider: Provider, case: str, failure: str, seconds: float | None
    ) -> None:
        output, exit_code = recorded(provider, case)
        verdict = judged(provider, output, exit_code)
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)
        assert read_all(provider, output)[0].session_id == "ses_00000000000000000000000001"

    @pytest.mark.parametrize(
        ("words", "seconds"),
        [
            ("weekly usage limit reached. It will reset in 5 days 10 hours.", 468_000.0),
            ("Free usage exceeded, subscribe to Go", None),
            ("The usage limit has been reached", None),
            ("You have exceeded the 5-hour usage quota.", None),
        ],
    )
    def test_a_spent_quota_is_told_from_a_moment_too_many(
        self, provider: Provider, words: str, seconds: float | None
    ) -> None:
        data = {"message": words, "statusCode": 429, "isRetryable": True}
        line = json.dumps({"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}})
        verdict = judged(provider, line, 1)
        assert (verdict.failure, verdict.reset_seconds) == ("quota", seconds)

    def test_a_service_that_says_no_again_and_again_is_heard_from_its_log(self, provider: Provider) -> None:
        """Its events are silent about it: without the log nobody would lose patience."""
        reading, text = read_all(provider, AGAIN)
        assert text == AGAIN + "\n"
        assert reading.trouble is not None
        assert not reading.trouble.final
        verdict = judge_trouble(reading.trouble)
        assert (verdict.failure, verdict.reset_seconds) == ("rate_limited", 7200.0)
        reading.line(step(1, 1, 0))
        assert reading.trouble is None

    def test_without_our_server_it_could_not_connect_although_it_ends_well(self, provider: Provider) -> None:
        reading, text = read_all(provider, f"{NO_SERVER}\n{step(1, 1, 0)}")
        verdict = provider.judge(Exit(0, None, reading.plain, reading.trouble, reading.not_connected))
        assert verdict.failure == "could_not_connect"
        assert text == NO_SERVER + "\nΣ 48 in · 4 out · 40 cached\n"

    def test_another_server_that_is_away_is_no_matter_of_ours(self, provider: Provider) -> None:
        assert judged(provider, NO_SERVER.replace("key=toryo", "key=jira"), 0).failure is None

    def test_no_model_is_asked_for_a_title(self, bench: Bench) -> None:
        assert "--title" in bench.run().argv

    def test_its_log_is_printed_for_that(self, bench: Bench) -> None:
        assert bench.run().argv[3:6] == ["--print-logs", "--log-level", "WARN"]

    # --- its login ----------------------------------------------------------------------------------------------------

    def test_its_login_is_its_file_or_a_key(self, provider: Provider, tmp_path: Path) -> None:
        assert provider.login is not None
        here = {"HOME": str(tmp_path)}
        assert provider.login(here).ok is None, "some of its models are free"
        assert provider.login({**here, "ANTHROPIC_API_KEY": "k"}).ok is True
        data = tmp_path / ".local" / "share" / "opencode"
        data.mkdir(parents=True)
        (data / "auth.json").write_text('{"anthropic": {"type": "oauth", "access": "hush"}}')
        found = provider.login(here)
        assert (found.ok, found.what) == (True, "anthropic")


def step(read: int, written: int, cost: float) -> str:
    tokens = {"input": read, "output": written, "reasoning": 3, "cache": {"read": 40, "write": 7}}
    return json.dumps({"type": "step_finish", "sessionID": "s", "part": {"tokens": tokens, "cost": cost}})
