"""Whatever a program prints, or an agent writes in its name: its output is read to the end, and what was understood of
it can be sent. The lines are those that were recorded, with a hostile value in the place of each of theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.coordinator.providers.contract import STREAMS
from toryo.client import wire
from toryo.coordinator.prices import cost
from toryo.coordinator.program_output import LONGEST_NAME, Event, Reading, Said
from toryo.coordinator.provider import Exit, Provider
from toryo.coordinator.providers import BUILT_IN
from toryo.operations.calls.catalogue import catalogue

PROGRAMS = ("claude", "codex", "copilot", "gemini", "opencode", "qwen")
DEEP = 900
HOSTILE = (
    "null",
    "true",
    "-1",
    "1.5",
    "NaN",
    "-Infinity",
    "1e999",
    "1" + "0" * 400,
    "-9" * 1 + "9" * 300,
    '""',
    '"\\ud800\\u0000\\u001b[2J"',
    '"' + "x" * 3_000 + '"',
    "[]",
    "{}",
    '["a", null, 3]',
    '{"a": {"text": 3}, "type": []}',
    "[" * DEEP + "]" * DEEP,
    '{"content":' * DEEP + "1" + "}" * DEEP,
)


def shapes(name: str) -> list[Any]:
    """One recorded line of each kind, by the names and types in it."""
    found: dict[str, Any] = {}
    for path in sorted((STREAMS / name).glob("*.jsonl")):
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("{"):
                document = json.loads(line)
                found.setdefault(_shape(document), document)
    return list(found.values())


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        kind = value.get("type") if isinstance(value.get("type"), str) else ""
        return f"{kind}{{{','.join(f'{key}:{_shape(each)}' for key, each in sorted(value.items()))}}}"
    if isinstance(value, list):
        return f"[{_shape(value[0])}]" if value else "[]"
    return type(value).__name__


HERE = "\0here"
KINDS = ("type", "subtype", "status", "name")
"""Fields by whose words a line, or a part of it, is of another kind."""
Way = tuple[Any, ...]


def places(value: Any, put: Any = lambda inner: inner, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """The document with a mark in the place of each value within it, one after the other, and the way to that place."""
    yield way, put(HERE)
    if isinstance(value, dict):
        kinds = tuple(value[name] for name in KINDS if isinstance(value.get(name), str))
        for key, each in value.items():
            yield from places(each, lambda inner, key=key: put({**value, key: inner}), (*way, kinds, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], lambda inner: put([inner, *value[1:]]), (*way, "[]"))


def hostile_lines(name: str) -> Iterator[str]:
    """Each place once: what a parser tells lines apart by stands on the way to it."""
    mark = json.dumps(HERE)
    marked = {way: marked for document in shapes(name) for way, marked in places(document)}
    for line in map(json.dumps, marked.values()):
        yield from (line.replace(mark, each) for each in HOSTILE)


def sendable(reading: Reading) -> None:
    """What is told of it is what the server takes."""
    session = None if reading.session_id is None else {"id": reading.session_id, "totals": reading.totals}
    told = {"launch_id": "lau_1", "usage": reading.usage, "program_session": session, "log_tail": "x"}
    sent = json.loads(wire.encoded({name: each for name, each in told.items() if each is not None}))
    catalogue()["report_process_exit"].parameters.model_validate(sent)


@pytest.mark.first(9)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_line_ends_the_reading_and_what_was_understood_can_be_sent(name: str, part: int) -> None:
    provider = BUILT_IN[name]
    lines = list(hostile_lines(name))[part::3]
    assert len(lines) > 150
    whole = Reading(provider.parse, price=partial(cost, provider.name, provider.prices), asked=provider.asks_untold)
    for line in lines:
        alone = Reading(provider.parse, price=partial(cost, provider.name, provider.prices), asked=provider.asks_untold)
        for reading in (alone, whole):
            assert reading.line(line).encode() is not None
        assert len(alone.session_id or "") <= LONGEST_NAME
        sendable(alone)
        judged(provider, alone)
    sendable(whole)
    judged(provider, whole)
    assert "".join(whole.line(json.dumps(shape)) for shape in shapes(name)), "it goes on reading"


def judged(provider: Provider, reading: Reading) -> None:
    verdict = provider.judge(Exit(1, None, reading.plain, reading.trouble, reading.not_connected))
    json.dumps([verdict.failure, verdict.reset_seconds, verdict.words], allow_nan=False)
    if verdict.reset_seconds is not None:
        assert 0 <= verdict.reset_seconds <= 10**9


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{" + '"type":' + "9" * 5_000 + "}", "{\ud800}"])
def test_what_is_hardly_json_is_text(name: str, text: str) -> None:
    reading = Reading(BUILT_IN[name].parse)
    assert text in reading.line(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_tells_in_another_file_is_read_as_far_as_it_can_be(name: str) -> None:
    """Of those that have one: whatever is in it, lines come of it, and these can be read."""
    provider = BUILT_IN[name]
    if provider.beside is None:
        return
    reading = Reading(provider.parse)
    for text in ("", "\x00", *HOSTILE, *list(hostile_lines(name))[:500]):
        for line in provider.beside.lines(text):
            assert isinstance(reading.line(line), str)
    sendable(reading)


def test_a_line_that_cannot_be_read_is_no_sign_of_life() -> None:
    """It is shown as it is, and what the model's service has refused still stands."""
    no_text: Any = 5
    reading = Reading(lambda _: [Said(no_text)])
    assert reading.line("{}") == "{}\n"
    assert reading.signs_of_life == 0


def test_half_a_letter_in_a_line_changes_nothing_else_of_it() -> None:
    found: list[Any] = []

    def parse(line: dict[str, Any]) -> list[Event]:
        found.append(line)
        return []

    Reading(parse).line(r'{"half": "\ud83d", "all": ["\ud83d", 1, null], "in": {"\ud83d": 1.5, "is": true}}')
    assert found == [{"half": "\ufffd", "all": ["\ufffd", 1, None], "in": {"\ufffd": 1.5, "is": True}}]
