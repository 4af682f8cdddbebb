"""Writes `streams/` anew: what the real programs print when a run goes well, and when their model refuses.

`python -m tests.clis.recording [PROGRAM[/CASE]…]`, after a version in `programs.py` has changed. Parsers are tested
against these files, so they hold what was really printed, but for what belongs to one machine or one moment: paths,
ports, ids, tokens and times are replaced, each by the same word wherever it stood. `exits.json` has the exit codes;
null is one that had to be killed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.clis import crews
from tests.clis.driving import NOWHERE, Driver, Run, session_of
from tests.clis.endpoint import Endpoint
from tests.clis.office import Office
from tests.clis.policies import ObedientModel, writes
from tests.clis.presets import KEY, PRESETS, TOKENS, Place, Start
from tests.clis.programs import PROGRAMS
from tests.clis.quotas import quota
from tests.clis.turns import Answer, CallTool, Cut, Fault, Garbage, Hang, Policy, Say, Turn
from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import Setting
from toryo.coordinator.providers import BUILT_IN
from toryo.first_prompt import first_words

STREAMS = Path(__file__).parent / "streams"
FAULTS = {
    "429": Fault(429, retry_after=2),
    "401": Fault(401),
    "404": Fault(404, "model scripted-1 not found"),
    "500": Fault(500),
    "529": Fault(529),
}
ANSWERS: dict[str, Answer | None] = {
    "401": Fault(401),
    "403": Fault(403),
    "429": Fault(429, retry_after=90),
    "500": Fault(500),
    "garbage": Garbage(),
    "silence": Hang(),
    "nobody": None,
}
"""What a model's service may answer from the first request on; None: nobody is there."""
FIRST = 20.0
"""Seconds of a start that are recorded."""
MODELS = {"gemini": "gemini-2.5-pro"}
Preset = Callable[[Place], Start]
Case = Callable[[str, Path], Run]
MOST_CUTS = 12
"""Answers that are cut off, before none comes: some programs ask again at once, without end."""
WITHIN = 30.0
"""Seconds after which a program that still tries again is ended; what it said until then is recorded."""


def record(name: str, cases: Iterable[str]) -> None:
    """These cases of one program; the others stay as they are."""
    folder = STREAMS / name
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "exits.json"
    exits: dict[str, int | None] = json.loads(kept.read_text()) if kept.exists() else {}
    for case in cases:
        with tempfile.TemporaryDirectory() as directory:
            done = CASES[case](name, Path(directory))
            (folder / f"{case}.jsonl").write_text(neutral(done.output, directory))
            (folder / f"{case}.stderr").write_text(neutral(done.errors, directory))
            _keep_tokens(Path(directory) / "files" / TOKENS, folder / f"{case}.otel", directory)
            if case == "success":
                _keep_session(name, done, Path(directory), folder / f"{case}.session")
        exits[case] = done.exit_code
        ordered = {each: exits[each] for each in CASES if each in exits}
        kept.write_text(json.dumps(ordered, indent=1) + "\n")


def _keep_tokens(written: Path, kept: Path, directory: str) -> None:
    """What Copilot writes beside its output: all spans, and of the metrics only that there are some."""
    if written.exists():
        lines = written.read_text().splitlines(keepends=True)
        spans = [line for line in lines if line.startswith('{"type":"span"')]
        kept.write_text(neutral("".join([*spans, *lines[-1:]]), directory))


PLACES = {"codex": "home/.codex", "gemini": "files/gemini/.gemini"}
"""The own directories of programs that keep there what each answer used."""
_OF_SESSIONS = ('"turn_context"', '"token_count"', '"tokens"')


def _keep_session(name: str, done: Run, directory: Path, kept: Path) -> None:
    """Of the file in which a program keeps its session, the lines that tell its model and what an answer used."""
    beside = BUILT_IN[name].beside
    if name in PLACES and beside is not None and not isinstance(beside.file, str):
        written = beside.file(directory / PLACES[name], session_of(name, done))
        assert written is not None, f"{name} keeps its sessions elsewhere now"
        lines = written.read_text().splitlines(keepends=True)
        meant = [line for line in lines if any(word in line for word in _OF_SESSIONS)]
        kept.write_text(neutral("".join(meant), str(directory)))


def _success(name: str, directory: Path) -> Run:
    with Office(directory / "server") as office, Endpoint(_mind(directory)) as endpoint:
        office.worker("w1", name)
        order = office.order()
        driver = Driver(name, endpoint, directory)
        return driver.run(first_words("w1"), server=office.url, credential=order.credential)


def _mind(directory: Path) -> Policy:
    return ObedientModel(writes(directory / "work" / "hello.txt", "hello"))


def _refused(case: str) -> Case:
    return lambda name, directory: _faulty(Driver(name, Endpoint(lambda turn: FAULTS[case]), directory))


def _no_login(name: str, directory: Path) -> Run:
    """Started with no key at all (opencode, which starts without: its model does not let it in)."""
    return _faulty(Driver(name, Endpoint(lambda turn: Fault(401)), directory, _without_keys(PRESETS[name])))


def _quota(name: str, directory: Path) -> Run:
    """The account has used up what it may use, for 22 min 55 s, as each service words it."""
    preset = _by_subscription if name == "claude" else PRESETS[name]
    return _faulty(Driver(name, Endpoint(lambda turn: quota(name)), directory, preset))


def _faulty(driver: Driver, within: float = WITHIN) -> Run:
    with Office(driver.folder / "server") as office, driver.endpoint:
        office.worker("w1", driver.name)
        order = office.order()
        return driver.run(first_words("w1"), server=office.url, credential=order.credential, within=within)


def _without_keys(preset: Preset) -> Preset:
    def bare(place: Place) -> Start:
        start = preset(place)
        kept = {name: value for name, value in start.env.items() if value != KEY and not _of_copilots_provider(name)}
        return replace(start, env=kept)

    return bare


def _of_copilots_provider(name: str) -> bool:
    return name.startswith("COPILOT_PROVIDER_") or name in ("COPILOT_OFFLINE", "COPILOT_MODEL")


def _by_subscription(place: Place) -> Start:
    """Claude Code names limits of an account only to those who are signed in, not to those with a key."""
    start = PRESETS["claude"](place)
    env = {name: value for name, value in start.env.items() if name != "ANTHROPIC_API_KEY"}
    words = tuple(word for word in start.words if word != "--bare")
    return replace(start, words=words, env={**env, "CLAUDE_CODE_OAUTH_TOKEN": KEY})


def _starting(answer: Answer | None) -> Case:
    """Started as Toryo starts it, with its usual patience: what it says in the first seconds. None: nobody is there."""

    def case(name: str, directory: Path) -> Run:
        endpoint = Endpoint(lambda turn: answer or Hang())
        driver = Driver(name, endpoint, directory, _as_launched(name, NOWHERE if answer is None else endpoint.url))
        run = _faulty(driver, FIRST)
        beside = BUILT_IN[name].beside
        told: Iterable[str] = ()
        if beside is not None and isinstance(beside.file, str) and (directory / "files" / beside.file).exists():
            told = beside.lines((directory / "files" / beside.file).read_text())
        return replace(run, output=run.output + "".join(f"{each}\n" for each in told))

    return case


def _as_launched(name: str, url: str) -> Preset:
    def launched(place: Place) -> Start:
        login = crews.set_up(name, url, place.folder.parent / "home")
        launch = Launch("lau_1", "w1", ai_type=name, credential="-", model=MODELS.get(name))
        environ = {"HOME": str(place.folder.parent / "home"), **login}
        server = place.mcp_url.removesuffix("/mcp")
        work = place.folder.parent / "work"
        command = BUILT_IN[name].prepare(Setting(launch, work, place.folder, server, environ=environ))
        for each, text in command.files.items():
            path = place.folder / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Start(command.argv[1:], {**login, **command.env})

    return launched


def _talked(name: str, directory: Path) -> Run:
    return _talks(name, directory)[0]


def _resumed(name: str, directory: Path) -> Run:
    return _talks(name, directory)[1]


def _talks(name: str, directory: Path) -> tuple[Run, Run]:
    """One answer of the model, then another one in the same session."""
    with Office(directory / "server") as office, Endpoint(lambda turn: Say("Understood.")) as endpoint:
        office.worker("w1", name)
        driver, credential = Driver(name, endpoint, directory), office.order().credential
        first = driver.run("Hello.", server=office.url, credential=credential)
        session = session_of(name, first)
        return first, driver.run("Go on.", server=office.url, credential=credential, session=session)


def _no_server(name: str, directory: Path) -> Run:
    """The MCP server is not there, the model is."""
    with Endpoint(lambda turn: Say("Understood.")) as endpoint:
        return Driver(name, endpoint, directory).run("Hello.")


def _cut(*, told: bool) -> Case:
    """As Toryo starts it: after a first call of a tool, the connection ends within each answer."""

    def case(name: str, directory: Path) -> Run:
        cuts = iter([Cut(told)] * MOST_CUTS)

        def policy(turn: Turn) -> Answer:
            return next(cuts, Hang()) if turn.results else CallTool("help")

        endpoint = Endpoint(policy)
        return _faulty(Driver(name, endpoint, directory, _as_launched(name, endpoint.url)), WITHIN)

    return case


CASES: dict[str, Case] = {
    "success": _success,
    "talked": _talked,
    "resumed": _resumed,
    "no_server": _no_server,
    "no_login": _no_login,
    "quota": _quota,
    **{each: _refused(each) for each in FAULTS},
    "cut": _cut(told=True),
    "cut_quietly": _cut(told=False),
    **{f"starting_{each}": _starting(answer) for each, answer in ANSWERS.items()},
}


# --- nothing of one machine or one moment ----------------------------------------------------------------------------

_IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b(?:tst|tlt|tsk|lch|ses|prt|msg|toolu|req)_[0-9A-Za-z]{8,}\b"
    r"|\b[0-9a-f]{32,}\b"
)
_TIMES = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:[-.]\d+)?Z?")
_DATES = re.compile(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
_MOMENTS = re.compile(r"\b1[6-9]\d{11}\b")
_SECONDS = re.compile(r"\b1[6-9]\d{8}\b")
_CLOCK = re.compile(r"\b\d{1,2}:\d\d( ?[AP]M| ?[ap]m)\b")
_PORTS = re.compile(r"(127\.0\.0\.1:|\"server\.port\":)\d+")


def neutral(text: str, directory: str) -> str:
    """It is 2027-01-15 08:00 UTC, and quotas come back 22 min 55 s later. Ids keep their shape and stay apart."""
    seen: dict[str, str] = {}
    numbers = count(1)

    def other(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], _shaped(found[0], next(numbers)))

    for path, word in _paths(directory).items():
        text = text.replace(path, word)
    text = _CLOCK.sub(lambda found: "8:22" + found[1][:-2] + ("AM" if found[1].isupper() else "am"), text)
    text = _SECONDS.sub("1800001375", text)
    text = _DATES.sub("Fri, 15 Jan 2027 08:00:00 GMT", text)
    text = _PORTS.sub(r"\g<1>8080", _MOMENTS.sub("1800000000000", _TIMES.sub("2027-01-15T08:00:00.000Z", text)))
    return _IDS.sub(other, text)


def _paths(directory: str) -> dict[str, str]:
    """The longest first; some programs make names out of paths."""
    known = {str(program.folder): f"/opt/{program.name}" for program in PROGRAMS.values()}
    resolved = {
        str(program.folder.resolve()): f"/opt/{program.name}"
        for program in PROGRAMS.values()
        if program.folder.exists()
    }
    return {directory: "/srv", directory.replace("/", "-"): "-srv", directory.lstrip("/"): "srv", **known, **resolved}


def _shaped(found: str, number: int) -> str:
    if "_" in found:
        prefix, _, rest = found.partition("_")
        return f"{prefix}_{number:0{len(rest)}d}"
    return f"00000000-0000-4000-8000-{number:012d}" if "-" in found else f"{number:0{len(found)}x}"


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PROGRAMS:
        program, _, one = wanted.partition("/")
        record(program, [one] if one else CASES)
