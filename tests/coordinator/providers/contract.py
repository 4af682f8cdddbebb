"""What every provider of a model's program must do, whatever the program: one suite, run once per provider.

A test file makes a class of `Contract`, says its provider and what is peculiar to it (where its MCP server is told,
how its model is named), and inherits the rest. The program is a fake one of the same name (`fake_cli.py`), started by
the real Starter in a real process; what the real programs print is played back from `tests/clis/streams/`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toryo.coordinator import logs
from toryo.coordinator.config import Config
from toryo.coordinator.logs import Log
from toryo.coordinator.orders import Launch
from toryo.coordinator.process_start import Resumed, Starter
from toryo.coordinator.program_output import Reading
from toryo.coordinator.provider import BadConfig, Exit, Provider, Setting, Verdict
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.workspaces import STDIN, Workspaces
from toryo.first_prompt import first_words

BOUND = 100.0
STREAMS = Path(__file__).parents[2] / "clis" / "streams"
CREDENTIAL = "tlc_0123456789abcdefghij"
COORDINATORS_OWN = "tct_0123456789abcdefghij"
TCP = "http://127.0.0.1:8765"
SOCKET = "unix:///run/toryo/toryo.sock"
FOREIGN = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1234",
    "GEMINI_CLI": "1",
    "QWEN_CODE": "1",
    "CODEX_SANDBOX": "seatbelt",
    "OPENCODE": "1",
    "TORYO_TOKEN": COORDINATORS_OWN,
    "DATABASE_URL": "postgres://user:hush@localhost/x",
}
"""What a Coordinator that was started from inside an agent may have around it, and no agent may see."""
PROXIES = {"HTTPS_PROXY": "http://proxy:3128", "HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "127.0.0.1"}
HARD_WORDS = 'Say "it\'s" — $HOME `pwd` \\n %PATH% {x} 「日本語」\nA second line.\n\n\tA tab; -- --flag\n'
MODEL = "some-model-1"
SESSION = "0b5f3c1e-6a57-4a53-9d4c-5c2f6a1f0a11"


@dataclass(frozen=True)
class Seen:
    """What the program saw of its start, and what became of its output."""

    argv: list[str]
    env: dict[str, str]
    stdin: str
    cwd: str
    pointed: dict[str, dict[str, str]]
    """The generated files that its arguments and variables lead to: name → text and mode."""
    generated: dict[str, dict[str, str]]
    left: list[Path]
    """What was still there of the launch's directory after the end."""
    text: str
    """What people read."""
    raw: str
    """The file of its output, as it is."""
    reading: Reading
    verdict: Verdict
    goes_on: bool
    """Whether it was known to resume a session."""

    @property
    def prompt(self) -> str:
        """What came by stdin, else the longest argument."""
        return self.stdin or max(self.argv, key=len)

    def document(self, name: str) -> Any:
        return json.loads(self.pointed[name]["text"])

    @property
    def told(self) -> str:
        """All that the program was given but for its environment and what it reads on stdin."""
        files = [each["text"] for name, each in self.generated.items() if name != STDIN]
        return "\n".join([*self.argv, *files])


@dataclass
class Bench:
    """Starts the fake program as a Coordinator would, with its own HOME and working directory."""

    folder: Path
    provider: Provider
    url: str = TCP
    inherited: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("bin", "home", "work"):
            (self.folder / name).mkdir()
        (self.folder / "work" / "README.md").write_text("A project.\n")
        program = self.folder / "bin" / self._name
        source = (Path(__file__).parent / "fake_cli.py").read_text(encoding="utf-8")
        program.write_text(f"#!{Path(sys.executable).resolve()} -IS\n{source}", encoding="utf-8")
        program.chmod(0o755)

    @property
    def _name(self) -> str:
        assert self.provider.version is not None
        return self.provider.version[0]

    def run(
        self,
        *,
        prints: str = "",
        exit_code: int = 0,
        resumed: Resumed | None = None,
        keeps_context: bool = False,
        **launch: Any,
    ) -> Seen:
        """One start to its end. More keywords are those of the launch."""
        plan = {"generated": str(self.folder / "generated"), "prints": prints, "exit_code": exit_code}
        (self.folder / "bin" / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        more = {"ai_type": self.provider.name, "working_directory": str(self.folder / "work"), **launch}
        order = Launch("lau_1", "agt_1", "prj_1", credential=CREDENTIAL, **more)
        return asyncio.run(self._until_over(order, resumed, replace(self.provider, keeps_context=keeps_context)))

    async def _until_over(self, order: Launch, resumed: Resumed | None, provider: Provider) -> Seen:
        starter = self.starter(provider)
        started = starter.start(order, resumed=resumed)
        over = asyncio.Event()
        started.process.watch(asyncio.get_running_loop(), over.set)
        await asyncio.wait_for(over.wait(), BOUND)
        starter.clean_up(order.launch_id)
        path = logs.path_of(starter.logs_in, order.launch_id)
        log = Log(path, started.mask, started.reading)
        reading, text = _read(log)
        process = started.process
        end = Exit(process.exit_code, process.signal, reading.plain, reading.trouble, reading.not_connected)
        raw = path.read_text(encoding="utf-8")
        path.unlink()
        seen = json.loads((self.folder / "bin" / "record.json").read_text(encoding="utf-8"))
        left = sorted((self.folder / "generated").rglob("*"))
        return Seen(
            **seen,
            left=left,
            text=text,
            raw=raw,
            reading=reading,
            verdict=provider.judge(end),
            goes_on=started.goes_on,
        )

    def starter(self, provider: Provider) -> Starter:
        inherited = {
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            **self.inherited,
        }
        config = Config(coordinator_token=COORDINATORS_OWN)
        return Starter(
            config,
            {provider.name: provider},
            self.url,
            "mark",
            self.folder / "logs",
            workspaces=Workspaces(self.folder / "generated"),
            worktrees=self.folder / "worktrees",
            inherited=inherited,
        )

    def setting(self, **environ: str) -> Setting:
        """What the provider is told of a start, without one."""
        order = Launch("lau_1", "agt_1", "prj_1", credential=CREDENTIAL, ai_type=self.provider.name)
        generated = self.folder / "generated" / "lau_1"
        return Setting(order, self.folder / "work", generated, self.url, prompt="Go.", environ=environ)

    def places(self) -> dict[str, str | None]:
        """Everything in HOME and the working directory, with its text."""
        found = [path for name in ("home", "work") for path in (self.folder / name).rglob("*")]
        return {str(path): path.read_text() if path.is_file() else None for path in found}


def _read(log: Log) -> tuple[Reading, str]:
    log.finish()
    text = ""
    while (piece := log.chunk()) is not None:
        text += piece
        log.passed_on(log.offset + len(piece))
    assert log.reading is not None, "a provider of a model's program says how its output is read"
    return log.reading, text


def read_all(provider: Provider, output: str) -> tuple[Reading, str]:
    """An output as it would be read, without a process."""
    reading = Reading(provider.parse, asked=provider.asks_untold)
    return reading, "".join(reading.line(each) for each in output.splitlines())


def beginnings(text: str, length: int = 40) -> list[str]:
    """The start of each line that people read: enough to know it by."""
    return [line[:length] for line in text.splitlines()]


def recorded(provider: Provider, case: str) -> tuple[str, int | None]:
    """What the real program printed then (both outputs, as they arrive in one file), and its exit code."""
    folder = STREAMS / provider.name
    parts = ("jsonl", "stderr") if case == "cut" else ("stderr", "jsonl")  # opencode's log tells what came after
    output = "".join((folder / f"{case}.{part}").read_text(encoding="utf-8") for part in parts)
    return output, json.loads((folder / "exits.json").read_text())[case]


def judged(provider: Provider, output: str, exit_code: int | None, signal: int | None = None) -> Verdict:
    reading, _ = read_all(provider, output)
    return provider.judge(Exit(exit_code, signal, reading.plain, reading.trouble, reading.not_connected))


class Contract:
    """Inherit, and say what is peculiar to the provider."""

    name: ClassVar[str]
    """Of the provider, as in `ai_type`."""
    by_stdin: ClassVar[bool] = True
    """Whether the prompt comes by stdin, so that no list of processes shows it."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """Variables of its service's keys and addresses, which pass."""
    model_words: ClassVar[tuple[str, ...]] = ("--model", MODEL)
    resume_words: ClassVar[tuple[str, ...]] = ("--resume", SESSION)
    already_in_home: ClassVar[tuple[str, ...]] = ()
    """Directories that the program makes for itself at its first start."""
    bridge_inherits: ClassVar[bool] = False
    """Whether what the program starts finds its whole environment, so that the bridge needs none written down."""

    def server(self, seen: Seen) -> Mapping[str, Any]:
        """The entry of our MCP server, wherever it is told: `url` and `authorization` (the header's value or a
        reference), or `command`, `args` and `env`; and `seconds`, how long it waits for a tool."""
        raise NotImplementedError

    # --- what all of them share ---------------------------------------------------------------------------------------

    @pytest.fixture
    def provider(self) -> Provider:
        return BUILT_IN[self.name]

    @pytest.fixture
    def bench(self, tmp_path: Path, provider: Provider) -> Bench:
        inherited = {**FOREIGN, **PROXIES, **{key: f"value of {key}" for key in self.keys}}
        bench = Bench(tmp_path, provider, inherited=inherited)
        for each in self.already_in_home:
            (bench.folder / "home" / each).mkdir(parents=True)
        return bench

    def test_the_prompt_arrives_whole_with_lines_quotes_and_japanese(self, bench: Bench) -> None:
        seen = bench.run(provider_options={"prompt": HARD_WORDS}, language="ja")
        assert seen.prompt == first_words("agt_1", "ja", HARD_WORDS)
        assert bool(seen.stdin) == self.by_stdin

    def test_a_prompt_of_100_kb_arrives_whole(self, bench: Bench) -> None:
        words = "0123456789 \"'日本\n" * 6000
        seen = bench.run(provider_options={"prompt": words})
        assert len(words.encode()) > 100_000
        assert seen.prompt == first_words("agt_1", "en", words)

    def test_the_server_is_told_by_its_address_and_the_name_of_the_credentials_variable(self, bench: Bench) -> None:
        server = self.server(bench.run())
        assert server["url"] == f"{TCP}/mcp"
        assert "TORYO_LAUNCH_CREDENTIAL" in server["authorization"]
        assert server["seconds"] > 45, "our longest answer takes 45 s"

    def test_where_only_a_socket_leads_to_the_server_the_program_starts_the_bridge(self, bench: Bench) -> None:
        bench.url = SOCKET
        seen = bench.run()
        server = self.server(seen)
        assert [server["command"], *server["args"]] == [sys.executable, "-P", "-m", "toryo", "mcp"]
        found = {**(seen.env if self.bridge_inherits else {}), **server.get("env", {})}
        assert found["TORYO_SERVER_URL"] == SOCKET
        assert "TORYO_LAUNCH_CREDENTIAL" in found
        assert server["seconds"] > 45

    @pytest.mark.parametrize("url", [TCP, SOCKET])
    def test_no_secret_stands_anywhere_but_in_its_one_variable(self, bench: Bench, url: str) -> None:
        bench.url = url
        seen = bench.run(prints=f"tell {CREDENTIAL}\n")
        assert CREDENTIAL not in seen.told + seen.stdin
        assert [name for name, value in seen.env.items() if CREDENTIAL in value] == ["TORYO_LAUNCH_CREDENTIAL"]
        assert COORDINATORS_OWN not in seen.told + seen.stdin + json.dumps(seen.env)
        for key in self.keys:
            assert f"value of {key}" not in seen.told
        assert CREDENTIAL not in seen.text, "masked on its way to people"

    def test_its_keys_and_the_proxies_pass_and_nothing_else_of_the_coordinators_environment(self, bench: Bench) -> None:
        seen = bench.run()
        for key in self.keys:
            assert seen.env[key] == f"value of {key}"
        assert {name: seen.env[name] for name in PROXIES} == PROXIES
        assert [name for name in FOREIGN if name in seen.env] == []

    def test_it_works_in_the_projects_directory_and_leaves_it_and_home_as_they_were(self, bench: Bench) -> None:
        before = bench.places()
        seen = bench.run()
        assert seen.cwd == str((bench.folder / "work").resolve())
        assert bench.places() == before

    @pytest.mark.parametrize("url", [TCP, SOCKET])
    def test_generated_files_are_for_this_user_alone_and_gone_afterwards(self, bench: Bench, url: str) -> None:
        bench.url = url
        seen = bench.run()
        assert {each["mode"] for each in seen.generated.values()} <= {"0o600"}
        assert set(seen.generated) - set(seen.pointed) <= {STDIN}, "it is told of every file that is made for it"
        assert seen.left == []

    def test_the_agents_model_is_asked_for(self, bench: Bench) -> None:
        assert _in_order(self.model_words, bench.run(model=MODEL).argv)

    def test_without_a_model_of_its_own_the_agent_gets_the_programs_usual_one(self, bench: Bench) -> None:
        seen = bench.run()
        assert self.model_words[0] not in seen.argv
        assert MODEL not in seen.told

    def test_a_reminder_goes_on_with_the_session_it_had(self, bench: Bench) -> None:
        seen = bench.run(resumed=Resumed(SESSION, HARD_WORDS))
        assert _in_order(self.resume_words, seen.argv)
        assert seen.stdin == HARD_WORDS if self.by_stdin else HARD_WORDS in seen.argv

    def test_a_later_launch_goes_on_with_the_session_only_where_that_is_wanted(self, bench: Bench) -> None:
        earlier: dict[str, Any] = {"program_session": {"id": SESSION, "totals": {}}}
        wanted = bench.run(keeps_context=True, **earlier)
        unwanted = bench.run(keeps_context=False, **earlier)
        assert _in_order(self.resume_words, wanted.argv)
        assert SESSION not in unwanted.told
        assert wanted.prompt == unwanted.prompt == first_words("agt_1", "en")

    def test_each_measure_of_permissions_is_another_command(self, bench: Bench) -> None:
        found = {
            each: self._how(bench.run(provider_options={"permissions": each})) for each in ("read", "edit", "full")
        }
        assert len(set(found.values())) == 3
        assert self._how(bench.run()) == found["read"], "where nobody says more, the narrowest"

    def test_what_its_declaration_does_not_know_is_not_started(self, bench: Bench) -> None:
        with pytest.raises(BadConfig, match=r"agt_1: all is not a valid value of permissions"):
            bench.run(provider_options={"permissions": "all"})
        with pytest.raises(BadConfig, match=r"has no option permissons. Did you mean permissions\?"):
            bench.run(provider_options={"permissons": "read"})
        with pytest.raises(BadConfig, match="is not a valid value of model"):
            bench.run(model="--yolo")
        assert not (bench.folder / "bin" / "record.json").exists()

    def test_arguments_that_toryo_need_not_know_are_passed_on(self, bench: Bench) -> None:
        seen = bench.run(provider_options={"args": ["--some-flag", "with a value"]})
        assert _in_order(("--some-flag", "with a value"), seen.argv)
        with pytest.raises(BadConfig, match="is not a valid value of args"):
            bench.run(provider_options={"args": "--some-flag"})

    def test_what_it_prints_that_nobody_expects_is_shown_as_it_is(self, bench: Bench) -> None:
        lines = ["Traceback (most recent call last)", '{"type":', '["a list"]', "{}}", '{"type": 7', "\x00ff", "0"]
        seen = bench.run(prints="\n".join(lines), exit_code=3)
        assert seen.text.splitlines() == lines
        assert seen.verdict.failure == "crashed"

    def test_events_of_a_kind_it_does_not_know_change_nothing(self, provider: Provider) -> None:
        strange = [{}, {"type": None}, {"type": "news of 2028"}, {"type": ["list"]}, {"kind": "assistant"}]
        reading, _ = read_all(provider, "\n".join(json.dumps(each) for each in strange))
        assert (reading.usage, reading.trouble, reading.not_connected, reading.turns) == (None, None, None, 0)

    def test_any_line_cut_or_changed_in_any_field_raises_nothing(self, provider: Provider) -> None:
        """A format that changed: each field of each known line becomes something else once."""
        for line in sorted(_known_lines(provider)):
            reading, _ = read_all(provider, "\n".join((line[: len(line) // 2], *_changed(json.loads(line)))))
            assert judged(provider, line, 1).failure is not None
            assert reading.turns >= 0

    def test_people_are_told_how_to_get_it_and_how_to_log_in(self, provider: Provider) -> None:
        assert provider.install
        assert provider.log_in.endswith(".")
        assert provider.version is not None
        assert provider.model_cli

    def _how(self, seen: Seen) -> str:
        return seen.told + json.dumps(seen.env)


def _in_order(words: tuple[str, ...], argv: list[str]) -> bool:
    """Whether these words stand in the command one after the other."""
    length = len(words)
    return any(tuple(argv[start : start + length]) == words for start in range(len(argv)))


def _known_lines(provider: Provider) -> set[str]:
    """One recorded line of each kind."""
    kinds = {}
    for path in sorted((STREAMS / provider.name).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("{"):
                found = json.loads(line)
                kinds[str(found.get("type")), str(found.get("subtype"))] = line
    return set(kinds.values())


def _changed(document: Any) -> list[str]:
    """The document as often as it has fields (three levels deep), each time with another one spoilt or missing."""
    return [json.dumps(variant) for variant in _variants(document, 4)]


def _variants(value: Any, depth: int) -> list[Any]:
    found: list[Any] = []
    if depth and isinstance(value, dict):
        for name, inner in value.items():
            rest = {other: each for other, each in value.items() if other != name}
            found += [rest, *({**value, name: variant} for variant in _variants(inner, depth - 1))]
    elif depth and isinstance(value, list):
        found += [[variant, *value[1:]] for inner in value[:1] for variant in _variants(inner, depth - 1)]
    return [*found, None, 7, "words", [], {}, [None], [[]]]


__all__ = ["Bench", "Contract", "Seen", "beginnings", "judged", "read_all", "recorded"]
