"""Claude Code against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import SESSION, Bench, Contract, Seen, beginnings, judged, read_all, recorded
from toryo.coordinator.program_output import Reading, Totals
from toryo.coordinator.provider import Exit, Provider
from toryo.failures import Ended, Failure

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def answer(name: str, *content: Mapping[str, Any], output: int = 1) -> str:
    """One line of the stream: a part of the answer of that name."""
    usage = {"input_tokens": 80, "cache_read_input_tokens": 20, "output_tokens": output}
    message = {"id": name, "model": "claude-opus-9", "content": content, "usage": usage}
    return json.dumps({"type": "assistant", "message": message})


def result(**more: Any) -> str:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1, "output_tokens": 5}
    return json.dumps({"type": "result", "usage": usage, "modelUsage": {"claude-opus-9": {}}, **more})


SAYS = {"type": "text", "text": "I shall\nlook."}
CALLS = {"type": "tool_use", "name": "Read", "input": {"file_path": "日本.txt"}}


class TestClaude(Contract):
    name = "claude"
    keys = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"})

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = seen.document("mcp.json")["mcpServers"].items()
        assert name == "toryo"
        return {
            **entry,
            "authorization": entry.get("headers", {}).get("Authorization"),
            "seconds": entry["timeout"] / 1000,
        }

    def test_of_servers_it_has_ours_alone(self, bench: Bench) -> None:
        assert "--strict-mcp-config" in bench.run().argv

    @pytest.mark.parametrize(
        ("permissions", "offered", "withheld"),
        [
            ("read", {"Read"}, {"Write", "Bash"}),
            ("edit", {"Read", "Write"}, {"Bash"}),
            ("full", {"Write", "Bash"}, {""}),
        ],
    )
    def test_what_it_may_not_use_is_neither_offered_nor_allowed(
        self, bench: Bench, permissions: str, offered: set[str], withheld: set[str]
    ) -> None:
        argv = bench.run(provider_options={"permissions": permissions}).argv
        tools, allowed = (argv[argv.index(each) + 1].split(",") for each in ("--tools", "--allowedTools"))
        assert offered <= set(tools)
        assert not withheld & set(tools)
        assert allowed == ["mcp__toryo", *tools]
        assert argv[argv.index("--permission-mode") + 1] == "dontAsk"

    @pytest.mark.parametrize("permissions", ["read", "edit", "full"])
    def test_settings_of_the_project_count_only_for_who_may_run_commands_anyway(
        self, bench: Bench, permissions: str
    ) -> None:
        seen = bench.run(provider_options={"permissions": permissions})
        limited = "--setting-sources" in seen.argv and seen.argv[seen.argv.index("--setting-sources") + 1] == "user"
        assert limited == (permissions != "full")
        assert ("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD" in seen.env) == limited, "CLAUDE.md is read all the same"

    def test_it_neither_updates_itself_nor_reports_home_nor_hides_our_tools(self, bench: Bench) -> None:
        env = bench.run().env
        assert (env["DISABLE_AUTOUPDATER"], env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]) == ("1", "1")
        assert env["ENABLE_TOOL_SEARCH"] == "false"

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30) == [
            "→ mcp__toryo__authenticate {}",
            '← {"success":true,"session_tok',
            '→ mcp__toryo__report_model {"p',
            '← {"success":true,"verified":f',
            "→ mcp__toryo__get_my_task {}",
            '← {"success":true,"has_task":t',
            "→ mcp__toryo__create_tasks_bat",
            '← {"success":true,"local_id_to',
            "→ mcp__toryo__update_task_stat",
            '← {"success":true,"task_id":"t',
            '→ Bash {"command": "mkdir -p /',
            "← (Bash completed with no outp",
            "→ mcp__toryo__update_task_stat",
            '← {"success":true,"task_id":"t',
            "→ mcp__toryo__report_completed",
            '← {"success":true,"action":"ex',
            "I am done.",
            "Σ 900 in · 90 out · $0.0040",
        ]
        assert reading.usage == {
            "input_tokens": 900,
            "output_tokens": 90,
            "cached_tokens": 0,
            "cost_usd": 0.00405,
            "model": "claude-sonnet-4-5",
            "turns": 9,
            "tool_calls": 8,
            "lower_bound": False,
        }
        assert reading.session_id == "00000000-0000-4000-8000-000000000001"
        assert judged(provider, output, exit_code).failure is None

    def test_it_keeps_to_what_is_left_of_the_budget_unless_its_arguments_say_another_limit(self, bench: Bench) -> None:
        limit = "--max-budget-usd"
        argv = bench.run(budget_usd=0.42).argv
        assert argv[argv.index(limit) + 1] == "0.4200"
        assert limit not in bench.run().argv
        own = bench.run(budget_usd=0.42, provider_options={"args": [limit, "7"]}).argv
        assert (own.count(limit), own[own.index(limit) + 1]) == (1, "7")
        earlier: dict[str, Any] = {"program_session": {"id": SESSION, "totals": {"cost_usd": 1.5}}}
        resumed = bench.run(budget_usd=0.42, keeps_context=True, **earlier).argv
        assert resumed[resumed.index(limit) + 1] == "1.9200", "it counts what its session has cost before"

    def test_its_own_limit_of_money_is_a_stop_and_no_failure(self, provider: Provider) -> None:
        assert judged(provider, result(is_error=True, subtype="error_max_budget_usd"), 1).failure is Ended.STOPPED

    def test_its_cost_is_known_while_it_runs_and_never_more_than_it_tells_at_its_end(self, provider: Provider) -> None:
        output, _ = recorded(provider, "success")
        reading, costs = Reading(provider.parse, price=provider.so_far), []
        for line in output.splitlines():
            reading.line(line)
            costs.append((reading.usage or {}).get("cost_usd") or 0.0)
        assert costs == sorted(costs)
        assert sum(each > 0 for each in costs) > len(costs) / 2, "from the first answer on"
        assert 0.5 * costs[-1] < costs[-2] <= costs[-1] == 0.00405

    @pytest.mark.parametrize(
        ("case", "failure", "seconds"),
        [
            ("401", Failure.NOT_LOGGED_IN, None),
            ("404", Failure.MODEL_NOT_AVAILABLE, None),
            ("429", Failure.RATE_LIMITED, None),
            ("500", Failure.SERVICE_FAILED, None),
            ("529", Failure.RATE_LIMITED, None),
        ],
    )
    def test_a_no_of_the_service_is_understood_and_no_work_of_the_models(
        self, provider: Provider, case: str, failure: Failure, seconds: float | None
    ) -> None:
        output, exit_code = recorded(provider, case)
        reading, text = read_all(provider, output)
        verdict = judged(provider, output, exit_code)
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)
        assert reading.usage is None
        assert beginnings(text, 36)[-1] == f"! the model's service returned an error ({case}):"[:36]

    def test_an_answer_that_is_told_in_several_lines_counts_once(self, provider: Provider) -> None:
        lines = [answer("a", SAYS), answer("a", CALLS), answer("a", CALLS, output=9), answer("b", SAYS)]
        reading, text = read_all(provider, "\n".join(lines))
        assert text.splitlines()[:3] == ["I shall", "look.", '→ Read {"file_path": "日本.txt"}']
        assert reading.usage == {
            "input_tokens": 200,
            "output_tokens": 10,
            "cached_tokens": 40,
            "cost_usd": None,
            "model": "claude-opus-9",
            "turns": 2,
            "tool_calls": 2,
            "lower_bound": True,
        }

    def test_the_last_line_replaces_what_was_seen_on_the_way(self, provider: Provider) -> None:
        reading, _ = read_all(provider, "\n".join([answer("a", SAYS), result(total_cost_usd=0.5)]))
        assert reading.usage is not None
        assert (reading.usage["input_tokens"], reading.usage["output_tokens"]) == (10, 5)
        assert (reading.usage["cached_tokens"], reading.usage["lower_bound"]) == (2, False)

    def test_money_is_of_the_whole_session_so_that_only_the_difference_counts(self, provider: Provider) -> None:
        reading = Reading(provider.parse, Totals(cost_usd=0.654))
        reading.line(result(total_cost_usd=0.711))
        assert reading.usage is not None
        assert (reading.usage["cost_usd"], reading.usage["input_tokens"]) == (0.057, 10)
        assert reading.totals["cost_usd"] == 0.711

    @pytest.mark.parametrize(("status", "there"), [("connected", True), ("pending", True), ("failed", False)])
    def test_a_run_without_our_server_is_no_run_although_it_ends_well(
        self, provider: Provider, status: str, there: bool
    ) -> None:
        servers = [{"name": "toryo", "status": status}, {"name": "other", "status": "failed"}]
        begun = json.dumps({"type": "system", "subtype": "init", "session_id": "s", "mcp_servers": servers})
        verdict = judged(provider, f"{begun}\n{result()}", 0)
        assert verdict.failure is (None if there else Failure.COULD_NOT_CONNECT)

    @pytest.mark.parametrize(
        ("words", "failure", "seconds"),
        [
            ("Claude AI usage limit reached|1795352400", Failure.QUOTA, 3600),
            ("You've hit your limit · resets 3pm (UTC)", Failure.QUOTA, 3 * 3600),
            ("You've hit your session limit · resets 9:30pm (Asia/Calcutta)", Failure.QUOTA, 4 * 3600),
            ("You've hit your limit - resets Nov 23, 9pm (Asia/Seoul)/login to switch", Failure.QUOTA, 24 * 3600),
            ("You've hit your limit · resets Nov 24 at 9am (America/Recife)", Failure.QUOTA, 48 * 3600),
            ("5-hour limit reached ∙ resets 2pm", Failure.QUOTA, 2 * 3600),
            ("Claude usage limit reached. Your limit will reset at 2pm (UTC).", Failure.QUOTA, 2 * 3600),
            ("You've hit your monthly spend limit.", Failure.QUOTA, None),
            ("Credit balance is too low", Failure.QUOTA, None),
            ("Invalid API key · Please run /login", Failure.NOT_LOGGED_IN, None),
            ("error_max_turns", Failure.TURN_LIMIT, None),
        ],
    )
    def test_what_it_says_of_its_limits_names_when_to_come_back(
        self, provider: Provider, words: str, failure: Failure, seconds: float | None
    ) -> None:
        reading, _ = read_all(provider, result(is_error=True, result=words))
        verdict = provider.judge(Exit(1, None, "", reading.trouble, now=NOW))
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)

    def test_an_interrupt_is_no_word_of_the_models_service(self, provider: Provider) -> None:
        ended = result(is_error=True, subtype="error_during_execution")
        assert "! stopped retrying: error_during_execution\n" in read_all(provider, ended)[1]

    def test_a_used_up_plan_is_known_while_it_runs(self, provider: Provider) -> None:
        def event(status: str) -> str:
            info = {"status": status, "resetsAt": 1795352400, "rateLimitType": "five_hour"}
            return json.dumps({"type": "rate_limit_event", "rate_limit_info": info})

        warned, _ = read_all(provider, event("allowed_warning"))
        rejected, _ = read_all(provider, event("rejected"))
        assert warned.trouble is None
        verdict = provider.judge(Exit(None, 15, "", rejected.trouble, now=NOW))
        assert (verdict.failure, verdict.reset_seconds, verdict.window) == (Failure.QUOTA, 3600, "5h")

    def test_trouble_that_it_waits_for_is_over_with_the_next_answer(self, provider: Provider) -> None:
        retry = {"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10, "retry_delay_ms": 8200}
        reading, text = read_all(provider, json.dumps({**retry, "error_status": 429, "error": "rate_limit"}))
        assert text == "! the model's service returned an error (429): rate_limit, try 2 of 10; retry in 8.2 s\n"
        assert reading.trouble is not None
        reading.line(answer("a", SAYS))
        assert reading.trouble is None

    # --- its login ----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("says", "ok"),
        [('{"loggedIn": true, "authMethod": "claude.ai"}', True), ('{"loggedIn": false}', False), ("?", None)],
    )
    def test_it_says_itself_whether_it_is_logged_in(
        self, provider: Provider, tmp_path: Path, says: str, ok: bool | None
    ) -> None:
        program = tmp_path / "claude"
        program.write_text(f"#!/bin/sh\n[ \"$*\" = 'auth status' ] && echo '{says}'\n")
        program.chmod(0o755)
        assert provider.login is not None
        assert provider.login({"PATH": f"{tmp_path}:/usr/bin:/bin"}).ok is ok

    def test_a_key_is_a_login(self, provider: Provider) -> None:
        assert provider.login is not None
        assert provider.login({"PATH": "", "ANTHROPIC_API_KEY": "x"}).ok is True
        assert provider.login({"PATH": ""}).ok is None
