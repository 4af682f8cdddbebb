"""Codex against the contract, and what is peculiar to it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.providers.contract import (
    CREDENTIAL,
    MODEL,
    SESSION,
    Bench,
    Contract,
    Seen,
    beginnings,
    judged,
    read_all,
    recorded,
)
from toryo.coordinator.process_start import Resumed
from toryo.coordinator.program_output import Reading, Totals
from toryo.coordinator.provider import Exit, Provider

NOW = datetime(2026, 9, 26, 14, 5, tzinfo=UTC)


def settings(seen: Seen) -> dict[str, Any]:
    """What its `-c` words say, read as Codex reads them."""
    words = [value for flag, value in zip(seen.argv, seen.argv[1:], strict=False) if flag == "-c"]
    return tomllib.loads("\n".join(words))


class TestCodex(Contract):
    name = "codex"
    keys = frozenset({"CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"})
    resume_words = ("resume", SESSION, "-")

    def server(self, seen: Seen) -> Mapping[str, Any]:
        [(name, entry)] = settings(seen)["mcp_servers"].items()
        assert name == "toryo"
        passed = {env_var: seen.env[env_var] for env_var in entry.get("env_vars", [])}
        return {
            **entry,
            "authorization": entry.get("bearer_token_env_var"),
            "env": {**entry.get("env", {}), **passed},
            "seconds": entry["tool_timeout_sec"],
        }

    def test_its_tools_need_no_approval_and_nothing_starts_without_the_server(self, bench: Bench) -> None:
        entry = settings(bench.run())["mcp_servers"]["toryo"]
        assert (entry["default_tools_approval_mode"], entry["required"]) == ("approve", True)

    @pytest.mark.parametrize("own", ['command = "toryo"\nargs = ["mcp"]', 'url = "http://127.0.0.1:8765/mcp"'])
    @pytest.mark.parametrize("url", ["http://127.0.0.1:8765", "unix:///run/toryo.sock"])
    def test_a_server_of_our_name_in_the_users_own_configuration_is_left_out_and_never_mixed_with_ours(
        self, bench: Bench, own: str, url: str
    ) -> None:
        """Codex refuses a server with both an address and a command, whichever file says which."""
        bench.url = url
        (bench.folder / "home" / ".codex").mkdir()
        (bench.folder / "home" / ".codex" / "config.toml").write_text(f"[mcp_servers.toryo]\n{own}\n")
        bench.inherited = {name: value for name, value in bench.inherited.items() if name != "CODEX_HOME"}
        servers = settings(bench.run())["mcp_servers"]
        assert servers["toryo"] == {"enabled": False}
        assert sorted(servers) == ["toryo", "toryo_launch"]
        assert servers["toryo_launch"]["required"] is True

    def test_the_bridge_is_handed_the_credential_by_name(self, bench: Bench) -> None:
        bench.url = "unix:///run/toryo.sock"
        entry = settings(bench.run())["mcp_servers"]["toryo"]
        assert entry["env_vars"] == ["TORYO_LAUNCH_CREDENTIAL"]
        assert CREDENTIAL not in json.dumps(entry)

    def test_nothing_is_written_for_it_but_its_prompt(self, bench: Bench) -> None:
        assert list(bench.run().generated) == ["stdin.txt"]

    @pytest.mark.parametrize(
        ("permissions", "sandbox"),
        [("read", "read-only"), ("edit", "workspace-write"), ("full", "danger-full-access")],
    )
    def test_permissions_are_its_sandboxes_resumed_or_not(self, bench: Bench, permissions: str, sandbox: str) -> None:
        for resumed in (None, Resumed(SESSION, "Go on.")):
            seen = bench.run(provider_options={"permissions": permissions}, resumed=resumed)
            assert settings(seen)["sandbox_mode"] == sandbox

    def test_it_neither_looks_for_updates_nor_reports_home(self, bench: Bench) -> None:
        told = settings(bench.run())
        assert told["check_for_update_on_startup"] is False
        assert told["analytics"] == told["feedback"] == {"enabled": False}

    def test_options_come_before_the_word_for_stdin(self, bench: Bench) -> None:
        seen = bench.run(model=MODEL, provider_options={"args": ["--profile", "mine"]})
        assert (seen.argv[0], seen.argv[-1]) == ("exec", "-")

    # --- its stream ---------------------------------------------------------------------------------------------------

    def test_a_run_of_the_real_program_reads_like_this(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "success")
        reading, text = read_all(provider, output)
        assert beginnings(text, 30)[-10:] == [
            '→ toryo.update_task_status {"t',
            '← {"success":true,"task_id":"t',
            "→ shell /bin/bash -lc 'mkdir -",
            "←",
            '→ toryo.update_task_status {"t',
            '← {"success":true,"task_id":"t',
            '→ toryo.report_completed {"res',
            '← {"success":true,"action":"ex',
            "I am done.",
            "Σ 900 in · 90 out",
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
        assert reading.session_id == "00000000-0000-4000-8000-000000000001"
        assert judged(provider, output, exit_code).failure is None

    def test_what_a_run_that_was_ended_has_used_is_not_known_and_not_zero(self, provider: Provider) -> None:
        output, _ = recorded(provider, "success")
        cut = "\n".join(line for line in output.splitlines() if "turn.completed" not in line)
        usage = read_all(provider, cut)[0].usage
        assert usage is not None
        assert (usage["turns"], usage["input_tokens"], usage["lower_bound"]) == (9, 0, True)

    def test_tokens_are_those_of_the_thread_so_that_only_the_difference_counts(self, provider: Provider) -> None:
        reading = Reading(provider.parse, Totals(input_tokens=1000, output_tokens=100, cached_tokens=500))
        reading.line(turn_completed(1300, 150, 600))
        reading.line(turn_completed(1400, 160, 600))
        assert reading.usage is not None
        found = [reading.usage[name] for name in ("input_tokens", "output_tokens", "cached_tokens")]
        assert found == [400, 60, 100]
        assert reading.totals["input_tokens"] == 1400

    def test_a_resumed_run_of_the_real_program_has_used_what_it_added(self, provider: Provider) -> None:
        reading = Reading(provider.parse, Totals(input_tokens=100, output_tokens=10))
        for line in recorded(provider, "resumed")[0].splitlines():
            reading.line(line)
        assert reading.usage is not None
        assert (reading.usage["input_tokens"], reading.usage["output_tokens"]) == (100, 10)

    def test_what_belongs_to_one_answer_counts_as_one(self, provider: Provider) -> None:
        said = {"type": "agent_message", "text": "I shall look."}
        lines = [
            event("item.completed", said),
            *(event("item.started", call(each)) for each in ("1", "2")),
            *(event("item.completed", call(each)) for each in ("1", "2")),
            event("item.completed", said),
            turn_completed(1, 1, 0),
            event("item.completed", said),
        ]
        reading, _ = read_all(provider, "\n".join(lines))
        assert reading.turns == 3, "words with two calls, last words, and words of a resumed run"
        assert reading.tool_calls == 2

    def test_changes_of_files_searches_and_failures_are_shown(self, provider: Provider) -> None:
        changes = [{"path": "a.py", "kind": "update"}, {"path": "b.py", "kind": "add"}]
        failed = {**call("1"), "status": "failed", "result": None, "error": {"message": "requires approval"}}
        lines = [
            event("item.completed", {"type": "file_change", "changes": changes, "status": "completed"}),
            event("item.completed", {"type": "web_search", "query": "toryo"}),
            event("item.completed", {"type": "command_execution", "aggregated_output": "no such", "exit_code": 1}),
            event("item.completed", failed),
            event("item.completed", {"type": "reasoning", "text": "**Thinking** about it"}),
        ]
        _, text = read_all(provider, "\n".join(lines))
        assert text.splitlines() == [
            "→ patch update a.py add b.py",
            "←",
            "→ web_search toryo",
            "✗ no such",
            "✗ requires approval",
            "· **Thinking** about it",
        ]

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
        verdict = judged(provider, *recorded(provider, case))
        assert (verdict.failure, verdict.reset_seconds) == (failure, seconds)

    @pytest.mark.parametrize(
        ("words", "seconds"),
        [
            ("You've hit your usage limit. Upgrade to Pro (https://x.y), or try again in 3 hours 5 minutes.", 11_100.0),
            ("You’ve hit your usage limit. Try again at 8:04 PM.", 21_540.0),
            (
                "You’ve hit your usage limit. Visit x.y for more, or try again at Sep 27th, 2026 2:05 PM.",
                86_400.0,
            ),
            ("You’ve hit your usage limit for gpt-9. Switch to another model now, or try again at 3:05 PM.", 3_600.0),
            (
                "You've hit your usage limit. To get more access, ask your admin or try again later.",
                None,
            ),
            ("Quota exceeded. You exceeded your current quota, check your plan.", None),
        ],
    )
    def test_a_spent_subscription_is_a_quota_until_the_time_it_names(
        self, provider: Provider, words: str, seconds: float | None
    ) -> None:
        output = f"{json.dumps({'type': 'error', 'message': words})}\n{json.dumps(failed_turn(words))}"
        reading, text = read_all(provider, output)
        verdict = provider.judge(Exit(1, None, reading.plain, reading.trouble, now=NOW))
        assert (verdict.failure, verdict.reset_seconds) == ("quota", seconds)
        assert len(text.splitlines()) == 1, "it is given twice, and shown once"

    def test_the_time_the_real_program_names_is_of_the_clock(self, provider: Provider) -> None:
        output, exit_code = recorded(provider, "quota")
        reading, _ = read_all(provider, output)
        recorded_at = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)
        verdict = provider.judge(Exit(exit_code, None, reading.plain, reading.trouble, now=recorded_at))
        assert (verdict.failure, verdict.reset_seconds) == ("quota", 22 * 60.0)

    @pytest.mark.parametrize(("case", "failure"), [("no_server", "could_not_connect"), ("no_login", "not_logged_in")])
    def test_the_real_program_without_our_server_or_without_a_key(
        self, provider: Provider, case: str, failure: str
    ) -> None:
        assert judged(provider, *recorded(provider, case)).failure == failure

    def test_while_it_tries_again_there_is_trouble_and_a_word_of_the_model_ends_it(self, provider: Provider) -> None:
        again = {"type": "error", "message": "Reconnecting... 1/5 (unexpected status 503 Service Unavailable: x)"}
        reading, _ = read_all(provider, json.dumps(again))
        assert reading.trouble is not None
        assert (reading.trouble.status, reading.trouble.final) == (503, False)
        reading.line(event("item.completed", {"type": "agent_message", "text": "Here I am."}))
        assert reading.trouble is None

    def test_a_mistake_in_its_own_configuration_is_one(self, provider: Provider) -> None:
        verdict = judged(provider, "Error loading config.toml: unknown configuration field `nonsense`\n", 1)
        assert (verdict.failure, "nonsense" in verdict.words) == ("bad_config", True)

    def test_our_server_in_a_persons_own_configuration_is_named_with_the_way_out(self, provider: Provider) -> None:
        said = "Error loading config.toml: url is not supported for stdio\nin `mcp_servers.toryo`\n"
        verdict = judged(provider, said, 1)
        assert verdict.failure == "bad_config"
        assert verdict.words.endswith("run codex mcp remove toryo.")

    # --- its login ----------------------------------------------------------------------------------------------------

    def test_a_key_or_what_codex_says_of_itself_is_its_login(self, provider: Provider, tmp_path: Path) -> None:
        assert provider.login is not None
        here = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        assert provider.login({**here, "CODEX_API_KEY": "k"}).ok is True
        assert provider.login(here).ok is None, "no program, no answer"
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex" / "config.toml").write_text('model_provider = "house"\n')
        assert "house" in provider.login(here).what

    @pytest.mark.parametrize(("exit_code", "ok"), [(0, True), (1, False)])
    def test_codex_login_status_decides(self, provider: Provider, bench: Bench, exit_code: int, ok: bool) -> None:
        bench.run(prints="Logged in using ChatGPT\n", exit_code=exit_code)
        assert provider.login is not None
        found = provider.login({"HOME": str(bench.folder / "home"), "PATH": f"{bench.folder / 'bin'}:/usr/bin:/bin"})
        assert (found.ok, found.what) == (ok, "Logged in using ChatGPT")
        assert json.loads((bench.folder / "bin" / "record.json").read_text())["argv"] == ["login", "status"]


def event(kind: str, item: dict[str, Any]) -> str:
    return json.dumps({"type": kind, "item": {"id": "item_1", **item}})


def call(name: str) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": "yes"}]}
    return {"type": "mcp_tool_call", "id": name, "server": "toryo", "tool": "get_my_task", "result": result}


def turn_completed(read: int, written: int, cached: int) -> str:
    usage = {
        "input_tokens": read,
        "output_tokens": written,
        "cached_input_tokens": cached,
        "reasoning_output_tokens": 7,
    }
    return json.dumps({"type": "turn.completed", "usage": usage})


def failed_turn(words: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": words}}
