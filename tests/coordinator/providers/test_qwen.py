"""Qwen Code against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import MODEL, Bench, Contract, Seen, beginnings, judged, read_all, recorded
from toryo.coordinator.program_output import Reading, Totals
from toryo.coordinator.provider import FINE, Exit, Provider
from toryo.failures import Failure

SAYS = {"type": "text", "text": "I shall\nlook."}
CALLS = {"type": "tool_use", "name": "glob", "input": {"pattern": "日*"}}
THINKS = {"type": "thinking", "thinking": "hm"}
RETURNS = {"type": "tool_result", "content": [{"type": "text", "text": "nothing"}], "is_error": True}


def answer(*content: Mapping[str, Any], **usage: int) -> str:
    return json.dumps({"type": "assistant", "message": {"model": "qwen-9", "content": content, "usage": usage}})


def results(*content: Mapping[str, Any]) -> str:
    return json.dumps({"type": "user", "message": {"content": content}})


def result(read: int, written: int, **more: Any) -> str:
    usage = {"input_tokens": read, "output_tokens": written, "cache_read_input_tokens": 1}
    return json.dumps({"type": "result", "usage": usage, **more})


def telemetry(event: str, **facts: Any) -> str:
    """One event as it writes them."""
    attributes = {"session.id": "s1", "event.name": f"qwen-code.{event}", "model": "m", **facts}
    return json.dumps({"attributes": attributes, "_hrTime": [1, 2]}, indent=2) + "\n"


class TestQwen(Contract):
    name = "qwen"
    keys = frozenset({"OPENAI_API_KEY", "OPENAI_BASE_URL", "DASHSCOPE_API_KEY"})

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = seen.document("qwen.json")["mcpServers"].items()
        assert name == "toryo"
        assert entry["trust"] is True, "else its tools are refused where nobody can be asked"
        return {
            **entry,
            "url": entry.get("httpUrl"),
            "authorization": entry.get("headers", {}).get("Authorization"),
            "seconds": entry["timeout"] / 1000,
        }

    @pytest.mark.parametrize("permissions", ["read", "edit", "full"])
    def test_hooks_of_the_project_run_only_for_who_may_run_commands_anyway(
        self, bench: Bench, permissions: str
    ) -> None:
        settings = bench.run(provider_options={"permissions": permissions}).document("qwen.json")
        assert settings.get("disableAllHooks", False) == (permissions != "full")

    def test_its_settings_override_the_users(self, bench: Bench) -> None:
        seen = bench.run()
        assert Path(seen.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).name == "qwen.json"
        settings = seen.document("qwen.json")
        assert settings["general"] == {"enableAutoUpdate": False}
        assert settings["privacy"] == {"usageStatisticsEnabled": False}
        assert settings["security"] == {"folderTrust": {"enabled": False}}
        assert settings["tools"] == {"toolSearch": {"enabled": False}}

    def test_a_key_counts_as_a_login_only_with_a_model_beside_it(self, bench: Bench) -> None:
        assert bench.run(model=MODEL).env["OPENAI_MODEL"] == MODEL
        assert "OPENAI_MODEL" not in bench.run().env

    @pytest.mark.parametrize(("permissions", "mode"), [("read", "default"), ("edit", "auto-edit"), ("full", "yolo")])
    def test_permissions_are_its_approval_modes(self, bench: Bench, permissions: str, mode: str) -> None:
        argv = bench.run(provider_options={"permissions": permissions}).argv
        assert argv[argv.index("--approval-mode") + 1] == mode
        assert argv[argv.index("--allowed-mcp-server-names") + 1] == "toryo"

    # --- what it tells elsewhere --------------------------------------------------------------------------------------

    def test_its_silent_tries_are_read_from_its_telemetry_as_lines_of_its_output(self, provider: Provider) -> None:
        assert provider.beside is not None
        retry = telemetry("api_retry", error_message='429 rate "limit" exceeded', status_code=429, retry_delay_ms=5000)
        response = telemetry("api_response", status_code=200, duration_ms=3)
        reading, text = read_all(provider, "\n".join(provider.beside.lines(response + retry + retry)))
        assert text == '! the model\'s service returned an error (429): 429 rate "limit" exceeded; retry in 5 s\n'
        assert reading.trouble is not None
        assert (reading.trouble.status, reading.trouble.retry_seconds) == (429, 5.0)
        assert list(provider.beside.lines(retry + response)) == [], "it was answered then"
        assert list(provider.beside.lines("half of a docum")) == []

    def test_a_try_whose_message_has_braces_is_read(self, provider: Provider) -> None:
        assert provider.beside is not None
        retry = telemetry("api_retry", error_message='429 {"error":{"code":1}} }', status_code=429, retry_delay_ms=5000)
        reading, _ = read_all(provider, "\n".join(provider.beside.lines(retry)))
        assert reading.trouble is not None
        assert reading.trouble.words == '429 {"error":{"code":1}} }'

    @pytest.mark.parametrize(
        "facts",
        [
            {"error_message": "no", "status_code": 429},
            {"error_message": ["no"], "status_code": "429", "retry_delay_ms": "soon"},
            {"error_message": "no", "status_code": True, "retry_delay_ms": 10**400},
            {"error_message": "no", "status_code": 429, "retry_delay_ms": float("inf")},
            {"error_message": "n" * 20_000, "status_code": 429, "retry_delay_ms": -5},
        ],
    )
    def test_a_try_that_is_told_in_another_way_counts_as_far_as_it_is_understood(
        self, provider: Provider, facts: dict[str, Any]
    ) -> None:
        assert provider.beside is not None
        reading, text = read_all(provider, "\n".join(provider.beside.lines(telemetry("api_retry", **facts))))
        assert reading.trouble is not None
        assert reading.trouble.retry_seconds == 0
        assert reading.trouble.status in {429, None}
        assert len(text) < 3000

    def test_what_nobody_understands_in_its_telemetry_leaves_the_last_try_that_is_whole(
        self, provider: Provider
    ) -> None:
        assert provider.beside is not None
        retry = telemetry("api_retry", error_message="no", status_code=429, retry_delay_ms=5000)
        deep = '"event.name": "qwen-code.api_retry",\n "error_message": ' + "[" * 20_000 + ",\n}"
        assert list(provider.beside.lines(deep)) == []
        assert len(list(provider.beside.lines(retry + deep))) == 1

    def test_it_asks_a_service_that_says_no_seven_times_and_not_four_times_as_often(self, bench: Bench) -> None:
        settings = bench.run().document("qwen.json")
        assert settings["model"]["generationConfig"]["maxRetries"] == 0
        assert (settings["telemetry"]["target"], settings["telemetry"]["logPrompts"]) == ("local", False)

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30)[-18:] == [
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
            '→ write_file {"file_path": "/s',
            "← Successfully created and wro",
            "→ mcp__toryo__update_task_stat",
            '← {"success":true,"task_id":"t',
            "→ mcp__toryo__report_completed",
            '← {"success":true,"action":"ex',
            "I am done.",
            "Σ 900 in · 90 out",
        ]
        assert reading.usage == {
            "input_tokens": 900,
            "output_tokens": 90,
            "cached_tokens": 0,
            "cost_usd": None,
            "model": "scripted-1",
            "turns": 9,
            "tool_calls": 8,
            "lower_bound": False,
        }
        assert reading.session_id == "00000000-0000-4000-8000-000000000001"
        assert judged(provider, output, exit_code).failure is None

    @pytest.mark.parametrize(("case", "failure"), [("401", "not_logged_in"), ("404", "model_not_available")])
    def test_a_no_of_the_service_is_understood_and_no_work_of_the_models(
        self, provider: Provider, case: str, failure: str
    ) -> None:
        output, exit_code = recorded(provider, case)
        reading, text = read_all(provider, output)
        assert judged(provider, output, exit_code).failure == failure
        assert reading.usage is None
        assert beginnings(text, 36)[-1] == f"! the model's service returned an error ({case}): ["[:36]
        assert [line for line in text.splitlines() if line.startswith("[API")] == [], "told once"

    def test_an_end_without_failure_whose_last_answer_has_no_tokens_was_cut_off(self, provider: Provider) -> None:
        call = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {}}
        called = answer(call, input_tokens=100, output_tokens=10)
        cut = answer({"type": "text", "text": "I will"}, input_tokens=0, output_tokens=0)
        whole = answer({"type": "text", "text": "Yes"}, input_tokens=9, output_tokens=1)
        end = result(100, 10)
        assert judged(provider, f"{called}\n{cut}\n{end}", 0).failure is Failure.SERVICE_FAILED
        assert judged(provider, f"{called}\n{cut}\n{whole}\n{end}", 0).failure is None, "it was asked again"
        assert judged(provider, f"{cut}\n{end}", 0).failure is None, "this service tells no tokens"

    @pytest.mark.parametrize(
        ("words", "failure", "seconds"),
        [
            ("[API Error: 429 rate limit exceeded]", Failure.RATE_LIMITED, None),
            ("[API Error: 429 Free allocated quota exceeded.]", Failure.QUOTA, None),
            ("Qwen OAuth quota exceeded: Your free daily quota has been reached.", Failure.QUOTA, None),
            ("[API Error: 500 internal server error]", Failure.SERVICE_FAILED, None),
        ],
    )
    def test_its_last_words_are_understood(
        self, provider: Provider, words: str, failure: Failure, seconds: float | None
    ) -> None:
        verdict = judged(provider, result(0, 0, is_error=True, error={"message": words}), 1)
        assert (verdict.failure, verdict.reset_seconds, verdict.words) == (failure, seconds, words)

    def test_words_and_calls_of_one_answer_are_one_turn_with_one_usage(self, provider: Provider) -> None:
        told = [
            answer(THINKS, SAYS, input_tokens=0, output_tokens=0),
            answer(CALLS, CALLS, input_tokens=100, output_tokens=10, cache_read_input_tokens=20),
            results(RETURNS, RETURNS),
            answer(SAYS, input_tokens=110, output_tokens=5),
        ]
        reading, text = read_all(provider, "\n".join(told))
        assert text.splitlines()[:4] == ["I shall", "look.", *['→ glob {"pattern": "日*"}'] * 2]
        assert text.splitlines()[4] == "✗ nothing"
        assert reading.usage == {
            "input_tokens": 210,
            "output_tokens": 15,
            "cached_tokens": 20,
            "cost_usd": None,
            "model": "qwen-9",
            "turns": 2,
            "tool_calls": 2,
            "lower_bound": True,
        }

    def test_tokens_are_of_the_whole_session_so_that_only_the_difference_counts(self, provider: Provider) -> None:
        reading = Reading(provider.parse, Totals(input_tokens=100, output_tokens=10, cached_tokens=1))
        reading.line(answer(SAYS, input_tokens=100, output_tokens=10))
        reading.line(result(200, 20))
        assert reading.usage is not None
        found = [reading.usage[each] for each in ("input_tokens", "output_tokens", "cached_tokens")]
        assert found == [100, 10, 0]
        assert reading.totals["input_tokens"] == 200

    def test_while_it_waits_for_its_service_it_is_limited(self, provider: Provider) -> None:
        """Printed by the real program after half a minute of silence."""
        data = {"reason": "retry", "attempt": 1, "maxRetries": 10, "delayMs": 60000}
        reading, text = read_all(provider, json.dumps({"type": "system", "subtype": "retry", "data": data}))
        assert text == "! the model's service returned an error: rate limit, try 1 of 10; retry in 60 s\n"
        verdict = provider.judge(Exit(None, 15, "", reading.trouble))
        assert (verdict.failure, verdict.reset_seconds) == (Failure.RATE_LIMITED, None)
        reading.line(answer(SAYS))
        assert reading.trouble is None

    @pytest.mark.parametrize(("status", "there"), [("connected", True), ("disconnected", False)])
    def test_a_run_without_our_server_is_no_run_although_it_ends_well(
        self, provider: Provider, status: str, there: bool
    ) -> None:
        servers = [{"name": "toryo", "status": status}]
        begun = json.dumps({"type": "system", "subtype": "init", "session_id": "s", "mcp_servers": servers})
        verdict = judged(provider, f"{begun}\n{result(1, 1)}", 0)
        assert verdict.failure is (None if there else Failure.COULD_NOT_CONNECT)

    def test_one_that_repeated_itself_has_left_and_has_not_failed(self, provider: Provider) -> None:
        """Printed by the real program, always at the fifth equal call in a row: a chat agent that waits makes those."""
        words = "Loop detection halted the run (consecutive_identical_tool_calls: the model repeated the same tool call"
        ended = {"type": "result", "subtype": "error_during_execution", "is_error": True, "error": {"message": words}}
        assert judged(provider, json.dumps(ended), 1) is FINE
        ended["error"] = {"message": "Loops are bad."}
        assert judged(provider, json.dumps(ended), 1).failure is Failure.CRASHED

    # --- its login ----------------------------------------------------------------------------------------------------

    def test_whether_it_is_logged_in_is_told_without_starting_it(self, provider: Provider, tmp_path: Path) -> None:
        home, at_home = tmp_path / ".qwen", {"HOME": str(tmp_path)}
        assert provider.login is not None
        assert provider.login(at_home).ok is False
        assert provider.login({**at_home, "OPENAI_API_KEY": "x"}).ok is True
        home.mkdir()
        (home / "settings.json").write_text('{"security": {"auth": {"selectedType": "openai"}}}')
        assert provider.login(at_home).ok is None
        (home / "settings.json").write_text("no JSON")
        (home / ".env").write_text("OPENAI_API_KEY=x")
        assert provider.login(at_home).ok is None
