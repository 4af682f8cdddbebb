"""Gemini CLI against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import Bench, Contract, Seen, beginnings, judged, read_all, recorded
from toryo.coordinator.provider import Provider
from toryo.failures import Failure

INIT = {"type": "init", "session_id": "s", "model": "auto-gemini-3"}
CALLS = {"type": "tool_use", "tool_name": "glob", "parameters": {"pattern": "日*"}}
RETURNS = {"type": "tool_result", "status": "success", "output": "nothing"}


def says(piece: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": piece, "delta": True}


def lines(*events: Mapping[str, Any]) -> str:
    return "\n".join(json.dumps(event) for event in events)


def failed(words: str) -> str:
    return lines({"type": "result", "status": "error", "error": {"type": "unknown", "message": words}, "stats": {}})


class TestGemini(Contract):
    name = "gemini"
    keys = frozenset({"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"})
    already_in_home = (".gemini/tmp", ".gemini/history")

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = seen.document("settings.json")["mcpServers"].items()
        assert name == "toryo"
        assert entry["trust"] is True, "else its tools are not offered where nobody can be asked"
        return {
            **entry,
            "url": entry.get("httpUrl"),
            "authorization": entry.get("headers", {}).get("Authorization"),
            "seconds": entry["timeout"] / 1000,
        }

    @pytest.mark.parametrize(
        ("line", "status"), [("Attempt 1 failed with status 429. x", 429), ("Attempt 1 failed. x", None)]
    )
    def test_a_failed_try_tells_the_status_if_it_names_one(
        self, provider: Provider, line: str, status: int | None
    ) -> None:
        reading, _ = read_all(provider, line)
        assert reading.trouble is not None
        assert (reading.trouble.status, reading.trouble.words) == (status, "x")

    # --- its home -----------------------------------------------------------------------------------------------------

    def test_its_home_is_the_launchs_own_where_settings_of_users_are_read(self, bench: Bench) -> None:
        seen = bench.run()
        assert Path(seen.env["GEMINI_CLI_HOME"]) == bench.folder / "generated" / "lau_1"
        assert list(seen.pointed) == ["settings.json", "stdin.txt"]

    def test_its_reports_of_errors_are_gone_with_the_launch(self, bench: Bench) -> None:
        assert Path(bench.run().env["TMPDIR"]) == bench.folder / "generated" / "lau_1"

    def test_the_users_settings_hold_except_for_servers_and_for_what_must_be(self, bench: Bench) -> None:
        own = {
            "ui": {"theme": "日本"},
            "security": {"auth": {"selectedType": "oauth-personal"}},
            "privacy": {"usageStatisticsEnabled": True},
            "telemetry": "a mistake",
            "mcpServers": {"other": {"command": "x"}},
        }
        home = bench.folder / "home" / ".gemini"
        (home / "settings.json").write_text(json.dumps(own), encoding="utf-8")
        settings = bench.run().document("settings.json")
        assert settings["ui"] == {"theme": "日本"}
        assert settings["security"] == {"auth": {"selectedType": "oauth-personal"}, "folderTrust": {"enabled": False}}
        assert settings["privacy"] == {"usageStatisticsEnabled": False}
        assert settings["model"]["disableLoopDetection"] is True
        assert settings["telemetry"] == {"enabled": False}
        assert settings["general"]["enableAutoUpdate"] is False
        assert list(settings["mcpServers"]) == ["toryo"]

    def test_its_login_and_its_sessions_are_the_users(self, bench: Bench) -> None:
        home = bench.folder / "home" / ".gemini"
        (home / "oauth_creds.json").write_text("login")
        command = bench.provider.prepare(bench.setting(HOME=str(bench.folder / "home")))
        links = {name: str(path) for name, path in command.links.items()}
        assert links == {f".gemini/{each}": str(home / each) for each in ("tmp", "history", "oauth_creds.json")}
        bench.run()
        assert (home / "oauth_creds.json").read_text() == "login", "links are removed, not what they lead to"

    def test_where_it_was_never_started_its_sessions_get_their_place(self, bench: Bench) -> None:
        home = bench.folder / "home" / ".gemini"
        for path in (home / "tmp", home / "history", home):
            path.rmdir()
        bench.run()
        assert sorted(path.name for path in home.iterdir()) == ["history", "tmp"]

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            ({"GEMINI_API_KEY": "x"}, {"selectedType": "gemini-api-key"}),
            ({"GEMINI_API_KEY": "x", "GOOGLE_GENAI_USE_VERTEXAI": "true"}, {"selectedType": "vertex-ai"}),
            ({}, {}),
        ],
    )
    def test_a_key_is_used_where_no_login_was_chosen(self, bench: Bench, given: dict[str, str], kind: Any) -> None:
        bench.inherited = given
        assert bench.run().document("settings.json")["security"]["auth"] == kind

    @pytest.mark.parametrize(("permissions", "mode"), [("read", "default"), ("edit", "auto_edit"), ("full", "yolo")])
    def test_permissions_are_its_approval_modes(self, bench: Bench, permissions: str, mode: str) -> None:
        argv = bench.run(provider_options={"permissions": permissions}).argv
        assert argv[argv.index("--approval-mode") + 1] == mode
        assert argv[argv.index("--allowed-mcp-server-names") + 1] == "toryo"
        assert "--skip-trust" in argv

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30)[-18:] == [
            "→ mcp_toryo_authenticate {}",
            '← {"success":true,"session_tok',
            '→ mcp_toryo_report_model {"pro',
            '← {"success":true,"verified":t',
            "→ mcp_toryo_get_my_task {}",
            '← {"success":true,"has_task":t',
            "→ mcp_toryo_create_tasks_batch",
            '← {"success":true,"local_id_to',
            "→ mcp_toryo_update_task_status",
            '← {"success":true,"task_id":"t',
            '→ write_file {"file_path": "/s',
            "←",
            "→ mcp_toryo_update_task_status",
            '← {"success":true,"task_id":"t',
            "→ mcp_toryo_report_completed {",
            '← {"success":true,"action":"ex',
            "I am done.",
            "Σ 900 in · 90 out",
        ]
        assert reading.usage == {
            "input_tokens": 900,
            "output_tokens": 90,
            "cached_tokens": 0,
            "cost_usd": None,
            "model": "gemini-2.5-pro",
            "turns": 9,
            "tool_calls": 8,
            "lower_bound": False,
        }
        assert reading.session_id == "00000000-0000-4000-8000-000000000001"
        assert judged(provider, output, exit_code).failure is None

    @pytest.mark.parametrize(
        ("case", "failure", "seconds"),
        [
            ("401", Failure.NOT_LOGGED_IN, None),
            ("404", Failure.MODEL_NOT_AVAILABLE, None),
            ("429", Failure.RATE_LIMITED, 2),
            ("500", Failure.SERVICE_FAILED, None),
            ("529", Failure.RATE_LIMITED, None),
        ],
    )
    def test_a_no_of_the_service_is_understood(
        self, provider: Provider, case: str, failure: Failure, seconds: float | None
    ) -> None:
        output, exit_code = recorded(provider, case)
        verdict = judged(provider, output, exit_code)
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)

    def test_pieces_become_whole_lines_and_one_answer_is_one_turn(self, provider: Provider) -> None:
        told = (
            INIT,
            says("I sh"),
            says("all\nlo"),
            says("ok."),
            CALLS,
            CALLS,
            RETURNS,
            RETURNS,
            says("Do"),
            says("ne"),
        )
        reading, text = read_all(provider, lines(*told))
        assert text.splitlines() == ["I shall", "look.", *['→ glob {"pattern": "日*"}'] * 2, *["← nothing"] * 2]
        assert (reading.turns, reading.tool_calls, reading.model) == (2, 2, "auto-gemini-3")
        assert reading.rest() == "Done\n", "told when the output is over"

    def test_results_that_come_in_another_order_than_their_calls_say_whose_they_are(self, provider: Provider) -> None:
        calls = [{**CALLS, "tool_id": each} for each in ("one", "two")]
        results = [{**RETURNS, "tool_id": each, "output": each} for each in ("two", "one")]
        _, text = read_all(provider, lines(INIT, *calls, *results))
        assert text.splitlines()[2:] == ["←2 two", "← one"]

    def test_words_that_its_end_has_cut_off_are_told(self, bench: Bench) -> None:
        assert bench.run(prints=lines(INIT, says("I sh"), says("all")), exit_code=1).text == "I shall\n"

    def test_what_it_thought_counts_as_written(self, provider: Provider) -> None:
        models = {"small": {"total_tokens": 9}, "large": {"total_tokens": 151}}
        stats = {"total_tokens": 160, "input_tokens": 100, "output_tokens": 20, "cached": 30, "models": models}
        reading, _ = read_all(provider, lines(INIT, {"type": "result", "status": "success", "stats": stats}))
        assert reading.usage is not None
        assert [reading.usage[each] for each in ("input_tokens", "output_tokens", "cached_tokens")] == [100, 60, 30]
        assert reading.usage["model"] == "large"

    @pytest.mark.parametrize(
        ("words", "printed", "exit_code", "failure", "seconds"),
        [
            ("You have exhausted your capacity. Your quota will reset after 22m55s.", "", 173, Failure.QUOTA, 1375),
            ("You have exhausted your daily quota on this model.", "", 173, Failure.QUOTA, None),
            ("Please retry in 17.5s.", "", 173, Failure.RATE_LIMITED, 17.5),
            ("No capacity.", "TerminalQuotaError: No capacity.", 173, Failure.QUOTA, None),
            ("Requested entity was not found.", "ModelNotFoundError: Requested", 1, Failure.MODEL_NOT_AVAILABLE, None),
            ("API key not valid. Please pass a valid API key.", "", 144, Failure.NOT_LOGGED_IN, None),
            ("The model is overloaded.", "", 247, Failure.RATE_LIMITED, None),
            ("Something else", "", 1, Failure.CRASHED, None),
            ("Please set an Auth method", "", 41, Failure.NOT_LOGGED_IN, None),
            ("Reached max session turns", "", 53, Failure.TURN_LIMIT, None),
        ],
    )
    def test_its_exit_code_and_its_errors_names_say_what_its_words_do_not(
        self, provider: Provider, words: str, printed: str, exit_code: int, failure: Failure, seconds: float | None
    ) -> None:
        verdict = judged(provider, f"{printed}\n{failed(words)}", exit_code)
        assert (verdict.failure, verdict.reset_seconds, verdict.words) == (failure, seconds, words)

    def test_a_run_without_our_server_is_no_run_although_it_ends_well(self, provider: Provider) -> None:
        output = "MCP issues detected. Run /mcp list for status.\n" + lines(INIT, says("ok"))
        assert judged(provider, output, 0).failure is Failure.COULD_NOT_CONNECT
        assert judged(provider, lines(INIT, says("ok")), 0).failure is None

    def test_a_warning_is_a_note(self, provider: Provider) -> None:
        warning = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}
        assert read_all(provider, lines(warning))[1] == "· Loop detected, stopping execution\n"

    # --- its login ----------------------------------------------------------------------------------------------------

    def test_whether_it_is_logged_in_is_told_without_starting_it(self, provider: Provider, tmp_path: Path) -> None:
        home, at_home = tmp_path / ".gemini", {"HOME": str(tmp_path)}
        assert provider.login is not None
        assert provider.login(at_home).ok is False
        assert provider.login({**at_home, "GEMINI_API_KEY": "x"}).ok is True
        home.mkdir()
        (home / "settings.json").write_text('{"security": {"auth": {"selectedType": "vertex-ai"}}}')
        assert provider.login(at_home).ok is None
        assert "vertex-ai" in provider.login(at_home).what
        (home / "oauth_creds.json").write_text("{}")
        assert provider.login(at_home).ok is True
