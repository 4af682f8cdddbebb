"""Copilot's command line against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import SESSION, Bench, Contract, Seen, beginnings, judged, read_all, recorded
from toryo.coordinator.provider import Provider

RESOURCE = {"resource": {"attributes": {"service.name": "github-copilot", "service.version": "1.0.102"}}}


class TestCopilot(Contract):
    name = "copilot"
    keys = frozenset({"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BASE_URL"})
    resume_words = (f"--resume={SESSION}",)

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = seen.document("mcp.json")["mcpServers"].items()
        assert name == "toryo"
        assert entry["tools"] == ["*"]
        return {
            **entry,
            "authorization": entry.get("headers", {}).get("Authorization"),
            "seconds": entry["timeout"] / 1000,
        }

    def test_its_file_names_the_credentials_variable(self, bench: Bench) -> None:
        assert self.server(bench.run())["authorization"] == "Bearer ${TORYO_LAUNCH_CREDENTIAL}"
        bench.url = "unix:///run/toryo.sock"
        entry = self.server(bench.run())
        assert (entry["type"], entry["env"]["TORYO_LAUNCH_CREDENTIAL"]) == ("local", "${TORYO_LAUNCH_CREDENTIAL}")

    @pytest.mark.parametrize(
        ("permissions", "denied", "everywhere"),
        [("read", ["shell", "write"], False), ("edit", ["shell"], False), ("full", [], True)],
    )
    def test_permissions_deny_its_tools_and_keep_it_in_its_directory(
        self, bench: Bench, permissions: str, denied: list[str], everywhere: bool
    ) -> None:
        argv = bench.run(provider_options={"permissions": permissions}).argv
        assert "--allow-all-tools" in argv, "our tools are asked for by nobody"
        assert [each.removeprefix("--deny-tool=") for each in argv if each.startswith("--deny-tool=")] == denied
        assert ("--allow-all-paths" in argv) is everywhere

    def test_it_neither_updates_itself_nor_reports_home_nor_asks_people(self, bench: Bench) -> None:
        seen = bench.run()
        assert seen.env["COPILOT_AUTO_UPDATE"] == "false"
        assert {"--disable-client-telemetry", "--no-ask-user", "--disable-builtin-mcps"} <= set(seen.argv)

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30)[-7:] == [
            '→ create {"path": "/srv/work/h',
            "← Created file /srv/work/hello",
            '→ toryo-update_task_status {"t',
            '← {"success":true,"task_id":"t',
            '→ toryo-report_completed {"res',
            '← {"success":true,"action":"ex',
            "I am done.",
        ]
        assert reading.usage is not None
        assert (reading.usage["turns"], reading.usage["tool_calls"]) == (9, 8)
        assert reading.session_id == "00000000-0000-4000-8000-000000000351"
        assert judged(provider, output, exit_code).failure is None

    def test_what_it_used_stands_in_its_telemetry_one_line_per_call_of_a_model(
        self, provider: Provider, bench: Bench
    ) -> None:
        seen = bench.run()
        assert Path(seen.env["COPILOT_OTEL_FILE_EXPORTER_PATH"]).name == "telemetry.jsonl"
        lines = [
            call("m", 100, 10, 0),
            agent(300, 40),
            "half a li",
            call("m", 200, 30, 150),
            metric(300),
            '{"type": 7}',
        ]
        assert provider.beside is not None
        assert provider.beside.to_the_end
        reading, text = read_all(provider, "\n".join(provider.beside.lines("\n".join(lines))))
        assert text.splitlines() == ["Σ 100 in · 10 out", "Σ 200 in · 30 out · 150 cached"], "while it runs"
        assert reading.usage is not None
        found = [reading.usage[each] for each in ("input_tokens", "output_tokens", "cached_tokens", "model")]
        assert found == [300, 40, 150, "m"]
        assert reading.usage["cost_usd"] is None, "what it calls cost is counted in requests"

    def test_a_tool_that_was_denied_is_shown_with_its_reason(self, provider: Provider) -> None:
        denied = {"toolCallId": "1", "success": False, "error": {"message": "Permission denied", "code": "denied"}}
        _, text = read_all(provider, json.dumps({"type": "tool.execution_complete", "data": denied}))
        assert text == "✗ Permission denied\n"

    # --- its failures -------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("case", "failure", "seconds"),
        [
            ("429", "rate_limited", None),
            ("529", "rate_limited", None),
            ("401", "not_logged_in", None),
            ("404", "model_not_available", None),
            ("500", "service_failed", None),
        ],
    )
    def test_what_the_real_program_says_of_a_service_that_says_no(
        self, provider: Provider, case: str, failure: str, seconds: float | None
    ) -> None:
        output, _ = recorded(provider, case)
        verdict = judged(provider, output, 1)
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)

    @pytest.mark.parametrize(
        ("words", "failure", "seconds"),
        [
            (
                "Sorry, you've hit a rate limit. Please try again in 15 hours 23 minutes. Please",
                "rate_limited",
                55_380.0,
            ),
            ("Sorry, you have been rate-limited. Please wait 2 minutes before trying again.", "rate_limited", 120.0),
            ("You've reached your weekly rate limit. Please wait for your limit to reset.", "quota", None),
        ],
    )
    def test_its_own_service_names_the_time_in_words(
        self, provider: Provider, words: str, failure: str, seconds: float
    ) -> None:
        data = {"errorType": "rate_limit", "message": words, "statusCode": 429}
        verdict = judged(provider, json.dumps({"type": "session.error", "data": data}), 1)
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)

    def test_while_it_tries_again_there_is_trouble_that_is_not_final(self, provider: Provider) -> None:
        output, _ = recorded(provider, "429")
        lines = [line for line in output.splitlines() if "model.call_failure" in line]
        reading, text = read_all(provider, lines[0])
        assert text == "! the model's service returned an error (429): rate limit exceeded\n"
        assert reading.trouble is not None
        assert not reading.trouble.final

    @pytest.mark.parametrize(
        ("status", "failure"),
        [("connected", None), ("pending", None), ("failed", "could_not_connect"), ("disabled", "could_not_connect")],
    )
    def test_without_our_server_it_could_not_connect_although_it_ends_well(
        self, provider: Provider, status: str, failure: str | None
    ) -> None:
        servers = [{"name": "githubiq", "status": "disabled"}, {"name": "toryo", "status": status}]
        line = json.dumps({"type": "session.mcp_servers_loaded", "data": {"servers": servers}})
        assert judged(provider, line, 0).failure == failure

    @pytest.mark.parametrize(
        ("case", "failure"), [("no_server", "could_not_connect"), ("no_login", "not_logged_in"), ("quota", "quota")]
    )
    def test_the_real_program_without_our_server_a_login_or_a_quota(
        self, provider: Provider, case: str, failure: str
    ) -> None:
        output, exit_code = recorded(provider, case)
        assert judged(provider, output, exit_code, None if exit_code is not None else 9).failure == failure

    # --- its login ----------------------------------------------------------------------------------------------------

    def test_its_login_is_a_token_a_service_of_ones_own_or_a_noted_user(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        assert provider.login is not None
        here = {"HOME": str(tmp_path)}
        assert provider.login(here).ok is None
        assert provider.login({**here, "GH_TOKEN": "t"}).what == "by GH_TOKEN"
        assert provider.login({**here, "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1"}).ok is True
        (tmp_path / ".copilot").mkdir()
        users = {"loggedInUsers": [{"host": "https://github.com", "login": "hana"}]}
        (tmp_path / ".copilot" / "config.json").write_text(f"// managed automatically\n{json.dumps(users, indent=2)}")
        found = provider.login(here)
        assert (found.ok, found.what) == (True, "hana")


def call(model: str, read: int, written: int, cached: int) -> str:
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.response.model": model,
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": written,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "github.copilot.cost": 1.0,
    }
    return json.dumps({"type": "span", "name": f"chat {model}", "attributes": told, **RESOURCE})


def agent(read: int, written: int) -> str:
    """The sum over one agent, which is no call."""
    told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": read}
    told |= {"gen_ai.usage.output_tokens": written}
    return json.dumps({"type": "span", "name": "invoke_agent", "attributes": told, **RESOURCE})


def metric(read: int) -> str:
    points = [{"attributes": {"gen_ai.operation.name": "chat"}, "value": read}]
    return json.dumps({"type": "metric", "name": "gen_ai.client.inference.usage.input_tokens", "dataPoints": points})
