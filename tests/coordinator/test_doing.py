"""What an agent does now, read from its output: the newest sign, short, without secrets, and told rarely."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from toryo.coordinator import doing, log_shipper
from toryo.coordinator.doing import Doing
from toryo.coordinator.log_shipper import LogShipper
from toryo.coordinator.logs import Log
from toryo.coordinator.program_output import Called, Event, Piece, Reading, Returned, Said, Turned
from toryo.output_redaction import MASK, Mask

SECRET = "hunter2-hunter2-hunter2"


def after(*events: Event, mask: Any = str) -> Doing | None:
    reading = Reading(lambda _: events, mask=mask)
    reading.line("{}")
    return reading.doing


@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        ("Bash", {"description": "Run the tests", "command": "pytest -q"}, ("Bash", "pytest -q")),
        ("mcp__toryo__update_task_status", {"task_id": "tsk_1"}, ("update_task_status", "tsk_1")),
        ("mcp_toryo_get_my_task", {}, ("get_my_task", "")),
        ("toryo.report_completed", {"summary": "Done."}, ("report_completed", "Done.")),
        ("toryo_get_my_task", {}, ("get_my_task", "")),
        ("Read", {"limit": 3, "file_path": "src/a.py"}, ("Read", "src/a.py")),
        ("shell", ["ls"], ("shell", "['ls']")),
        ("unknown", {"odd": 1, "words": "some words"}, ("unknown", "some words")),
        ("local_shell", {"command": ["git", "log"]}, ("local_shell", "git log")),
    ],
)
def test_a_call_is_its_tool_and_what_says_most(tool: str, arguments: Any, shown: tuple[str, str]) -> None:
    assert after(Called(tool, json.dumps(arguments))) == Doing("called", shown[1], shown[0])


def test_the_newest_sign_counts() -> None:
    call = Called("Bash", '{"command": "make"}')
    assert after(Said("I look.\nThen I build."), call) == Doing("called", "make", "Bash")
    assert after(call, Returned("ok")) == Doing("returned", "make", "Bash")
    assert after(call, Returned("no", failed=True)) == Doing("failed", "make", "Bash")
    assert after(call, Turned(), Said("It is built.\n")) == Doing("said", "It is built.")
    assert after(Piece("It is b"), Piece("uilt.\nNow")) == Doing("said", "It is built.")


def test_it_is_one_line_of_at_most_80_letters_without_what_terminals_are_told() -> None:
    found = doing.of_output("\x1b[1;31mred\x1b[0m\x1b]0;title\x07 and\tmore\r\n\n")
    assert found == Doing("printed", "red and more")
    long = doing.of_output("棟" * 500)
    assert long is not None
    assert (len(long.text), long.text[-1]) == (doing.LONGEST, "…")


def test_a_secret_is_hidden_before_it_is_cut() -> None:
    mask = Mask([SECRET])
    command = f"{'x' * 70} {SECRET}"
    for found in (
        after(Called("Bash", json.dumps({"command": command})), mask=mask),
        after(Said(command), mask=mask),
        after(Piece(f"{command}\n"), mask=mask),
    ):
        assert found is not None
        assert "hunter2" not in found.text


def test_of_plain_output_the_last_whole_line_is_shown_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "lau_1.log"
    path.write_text(f"one\nkey {SECRET}\nhunter2-hun")
    log = Log(path, Mask([SECRET]))
    log.read()
    assert log.doing == Doing("printed", f"key {MASK}")
    seen = log.doing
    with path.open("a") as file:
        file.write("ter2-hunter2")
    log.read()
    assert log.doing == seen, "the line is not over"
    assert log.doing is not seen, "but it lives"


class Server:
    def __init__(self) -> None:
        self.told: list[Any] = []
        self.text = ""

    async def append(self, _: str, offset: int, text: str, usage: object = None, news: Any = None) -> int:
        self.text = self.text[:offset] + text
        if "doing" in news:
            self.told.append(news["doing"]["text"])
        return len(self.text)


def test_it_is_told_with_the_output_when_it_changes_and_not_more_often_than_every_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("toryo.coordinator.log_shipper.time.monotonic", lambda: clock[0])
    path = tmp_path / "lau_1.log"
    server = Server()

    async def story() -> None:
        shipping = LogShipper(server.append)
        shipping.add("lau_1", Log(path, str))
        path.write_text("one\n")
        await shipping.look()
        assert server.told == ["one"]
        await shipping.look()
        with path.open("a") as file:
            file.write("two\n")
        clock[0] += 1
        await shipping.look()
        assert (server.text, server.told) == ("one\ntwo\n", ["one"])
        clock[0] += log_shipper.DOING_EVERY
        await shipping.look()
        assert server.told == ["one", "two"], "with no output, too: it is the newest"
        clock[0] += 60
        await shipping.look()
        assert server.told == ["one", "two"]

    asyncio.run(story())
