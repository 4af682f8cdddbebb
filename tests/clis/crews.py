"""Teams of real agent programs, through the whole product: server, Coordinator and programs are real processes, found
and configured as a user does it, and one scripted endpoint is the model of them all.

What the tests with such teams share: the house they work in, minds that meet or are held at their work, books of what
every launch has cost, and somebody who looks at every process while a model is asked. What is asserted stands in
`test_team.py` and `test_failures.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tests.clis import programs as clis
from tests.clis.endpoint import Endpoint
from tests.clis.policies import ObedientManagerModel, Told, agent_of
from tests.clis.turns import Answer, CallTool, Policy, Reply, Shell, Slow, Turn, Usage, WriteFile
from tests.clis.wiring import as_reply
from tests.scenarios import programs
from tests.scenarios.sites import WITHIN, Site
from toryo import first_prompt
from toryo.agents.env_vars import CREDENTIAL, SERVER_URL
from toryo.coordinator import processes
from toryo.domain.times import SECOND
from toryo.workflow.guard_limits import Limits

MODEL = "scripted-1"
"""What programs ask for whose agent names no model, where they need to be told one."""
HARMLESS = frozenset({"registry.npmjs.org:443"})
"""opencode looks for its plugin there; where it is not reached, nothing is lost."""
TIME_TO_TELL = {"TORYO_GUARDS__STOP_GRACE": str(Limits().stop_grace // SECOND)}
"""For a program that has reported, and says in its last words what it has used: it is not hurried out. As long as a
server that nobody has told otherwise gives it."""
GATHERED_WITHIN = 300.0
"""Seconds: several programs on Node start at once, on a machine that may do other things."""
KEYS = {name: f"key-that-only-{name}-may-see" for name in clis.PROGRAMS}


class ModelSite(Site):
    """A site in whose Coordinator's environment the programs are found, and everything they need to be at work."""

    def __init__(self, directory: Path, policy: Policy, names: Sequence[str], **settings: Any) -> None:
        super().__init__(directory, **settings)
        self.endpoint = Endpoint(policy)
        self.environment |= self.endpoint.proxying() | _search_path(names, self.environment["PATH"])
        for each in names:
            self.environment |= _SET_UP[each](self.endpoint.url, directory)

    def __enter__(self) -> Self:
        self.endpoint.__enter__()
        return super().__enter__()

    def hire(
        self, agent_id: str, /, *projects: str, role: str = "worker", provider: str | None = "command", **more: Any
    ) -> str:
        """An agent that may run commands, unless its options say otherwise."""
        more.setdefault("provider_options", {"permissions": "full"})
        return super().hire(agent_id, *projects, role=role, provider=provider, **more)

    def __exit__(self, *problem: object) -> None:
        """In order: who leaves takes along what it has started, and nobody wanted to leave this machine."""
        try:
            if any(problem):
                print(self.tell())  # noqa: T201 - shown beside the failure
            else:
                self._take_down()
        finally:
            self.close()
            self.endpoint.__exit__()

    def _take_down(self) -> None:
        for program in self.coordinators:
            if program.alive:
                assert program.leave() == 0
        assert programs.everything_of([self.url]) == []
        strays = set(self.endpoint.strays) - HARMLESS
        assert not strays, f"wanted to leave this machine: {strays}"
        assert not self.endpoint.unknown, f"asked for what no model's service has: {self.endpoint.unknown}"

    def toryo(self, *words: str) -> str:
        """What a command prints, as a person types it on this machine."""
        done = subprocess.run(
            [*programs.TORYO, *words],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def why(self, agent_id: str) -> dict[str, Any]:
        """The decision about its tasks, as `toryo why --json` tells it."""
        decisions = json.loads(self.toryo("why", agent_id, "--json"))["decisions"]
        found: dict[str, Any] = next(decision for decision in decisions if decision["purpose"] == "task")
        return found

    def log(self, launch_id: str) -> str:
        """All of it; not before its end."""
        path, read = f"/launches/{launch_id}/log", ""

        def rest() -> bool:
            nonlocal read
            answer = self.people.rest("GET", path, params={"offset": len(read), "wait_seconds": 1})
            read += answer["text"]
            return bool(answer["ended"])

        self.until(f"the log of {launch_id} has ended", rest)
        return read

    def used(self, launch_id: str) -> dict[str, Any]:
        """What was recorded of a launch."""
        rows = self.people.rest("GET", "/usage", params={"by": "launch"})["rows"]
        found: dict[str, Any] = next(row for row in rows if row["launch_id"] == launch_id)
        return found


def _search_path(names: Sequence[str], path: str) -> dict[str, str]:
    return {"PATH": os.pathsep.join([*(clis.installed(each).path for each in names), path])}


# --- how each is set up, as its user does it --------------------------------------------------------------------------


def _claude(url: str, home: Path) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEYS["claude"], "CLAUDE_CODE_MAX_RETRIES": "0"}


def _gemini(url: str, home: Path) -> dict[str, str]:
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEYS["gemini"]}


def _codex(url: str, home: Path) -> dict[str, str]:
    own = {
        "name": "scripted",
        "base_url": f"{url}/v1",
        "env_key": "CODEX_API_KEY",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    lines = [
        f'model = "{MODEL}"',
        'model_provider = "scripted"',
        "features = { plugins = false, apps = false }",  # else it asks other services for them at every start
        "[model_providers.scripted]",
        *(f"{name} = {json.dumps(value)}" for name, value in own.items()),
    ]
    _write(home / ".codex" / "config.toml", "\n".join(lines))
    return {"CODEX_API_KEY": KEYS["codex"]}


def _opencode(url: str, home: Path) -> dict[str, str]:
    options = {"baseURL": f"{url}/v1", "apiKey": "{env:OPENCODE_API_KEY}"}
    models: dict[str, Any] = {MODEL: {}, "scripted-2": {}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": models}
    config = {"provider": {"scripted": provider}, "model": f"scripted/{MODEL}"}
    _write(home / ".config" / "opencode" / "opencode.json", json.dumps(config))
    return {"OPENCODE_API_KEY": KEYS["opencode"], "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _copilot(url: str, home: Path) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": KEYS["copilot"],
        "COPILOT_MODEL": MODEL,
    }


def _qwen(url: str, home: Path) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    }
    _write(home / ".qwen" / "settings.json", json.dumps(settings))
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEYS["qwen"], "OPENAI_MODEL": MODEL}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)


def set_up(name: str, url: str, home: Path) -> dict[str, str]:
    """Its configuration in this home, and the variables it needs beside that: as patient as it usually is."""
    found = _SET_UP[name](url, home)
    config = home / ".codex" / "config.toml"
    if config.exists():
        config.write_text("".join(each for each in config.open() if "_max_retries" not in each))
    return {each: value for each, value in found.items() if each != "CLAUDE_CODE_MAX_RETRIES"}


_SET_UP: Mapping[str, Callable[[str, Path], dict[str, str]]] = {
    "claude": _claude,
    "gemini": _gemini,
    "codex": _codex,
    "opencode": _opencode,
    "copilot": _copilot,
    "qwen": _qwen,
}


# --- minds ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Editor(ObedientManagerModel):
    """A manager who gives each part of its task to the worker that can do it."""

    parts: Mapping[str, str] = field(default_factory=dict)
    """By capability, the title of the part that needs it."""

    def do_create_subtasks(self, turn: Turn, told: Told) -> Answer:
        there = told.answer_of("list_subordinates")
        if there is None:
            return CallTool("list_subordinates")
        who = {
            can: subordinate["agent_id"] for subordinate in there["subordinates"] for can in subordinate["capabilities"]
        }
        tasks = [
            {"local_id": can, "title": title, "description": title, "assignee_id": who[can]}
            for can, title in self.parts.items()
        ]
        return CallTool("create_tasks_batch", {"tasks": tasks})


@dataclass
class Gathering:
    """Who comes to its own work (a file, a command) is held in the middle of that turn, until `opened`."""

    expected: int
    opened: threading.Event = field(default_factory=threading.Event)
    complete: threading.Event = field(default_factory=threading.Event)
    came: set[str] = field(default_factory=set)

    def held(self, mind: Policy) -> Policy:
        def held(turn: Turn) -> Answer:
            answer = mind(turn)
            if not _works(answer):
                return answer
            self.came.add(agent_of(turn))
            if len(self.came) >= self.expected:
                self.complete.set()
            return Slow(self.opened, answer)

        return held

    def wait(self) -> None:
        assert self.complete.wait(GATHERED_WITHIN), f"only {self.came} have come"


def meeting(number: int) -> Gathering:
    """Nobody works before all of them are there, and then all of them at once."""
    both = threading.Event()
    return Gathering(number, both, both)


def _works(answer: Answer) -> bool:
    return isinstance(answer, list) and any(isinstance(each, WriteFile | Shell) for each in answer)


def reminded(before: Policy, then: Policy) -> Policy:
    """One mind until it is reminded of its report, and another one from there."""

    def heeds(turn: Turn) -> Answer:
        reminder = first_prompt.reminder(agent_of(turn), "en").strip()
        return (then if any(reminder in prompt for prompt in turn.prompts) else before)(turn)

    return heeds


# --- what they cost ---------------------------------------------------------------------------------------------------


@dataclass
class Books:
    """Asks a mind, and lets each of its answers cost something that no other costs."""

    mind: Policy
    spent: dict[str, list[Usage]] = field(default_factory=lambda: defaultdict(list))
    """By agent, in the order of its launches: whoever begins a conversation is a new one."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _answers: int = 0

    def __call__(self, turn: Turn) -> Answer:
        return self._priced(turn, self.mind(turn))

    def tokens(self, agent_id: str) -> list[tuple[int, int, int]]:
        """Read, written and cached, of each of its launches."""
        return [(usage.input, usage.output, usage.cached) for usage in self.spent[agent_id]]

    def _priced(self, turn: Turn, answer: Answer) -> Answer:
        if isinstance(answer, Slow):
            return Slow(answer.until, self._priced(turn, answer.then))
        if not isinstance(answer, CallTool | WriteFile | Shell | list) and not hasattr(answer, "text"):
            return answer
        return Reply(as_reply(answer).parts, self._entered(turn))

    def _entered(self, turn: Turn) -> Usage:
        with self._lock:
            self._answers += 1
            cost = Usage(1000 + 3 * self._answers, 10 + self._answers, 7 * self._answers)
            launches = self.spent[agent_of(turn)]
            if turn.number == 1:
                launches.append(Usage(0, 0, 0))
            launches[-1] = _sum(launches[-1], cost)
        return cost


def _sum(one: Usage, other: Usage) -> Usage:
    return replace(
        one, input=one.input + other.input, output=one.output + other.output, cached=one.cached + other.cached
    )


# --- who looks --------------------------------------------------------------------------------------------------------


@dataclass
class Lookout:
    """Looks, whenever a model is asked (so its program runs), at the words of every process of the machine, at the
    launches' credentials, and at the files that were generated for them."""

    mind: Policy
    generated_in: Path
    server_url: str = ""
    """Whose launches are meant: other tests may run beside this one."""
    words: set[bytes] = field(default_factory=set)
    credentials: set[str] = field(default_factory=set)
    generated: dict[Path, bytes] = field(default_factory=dict)

    def __call__(self, turn: Turn) -> Answer:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                self.words.add(path.read_bytes())
        ours = [each for _, each in processes.environments() if each.get(SERVER_URL) == self.server_url]
        self.credentials |= {each[CREDENTIAL] for each in ours}
        self.generated |= dict(contents(self.generated_in))
        return self.mind(turn)


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file below a folder; what is gone before it could be read is passed over."""
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()
