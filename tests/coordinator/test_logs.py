"""Output of agents: read as it grows, cut at lines, masked, passed on until the server has it."""

from __future__ import annotations

import asyncio
import os

import pytest

from toryo.client import RefusalError, Unreachable
from toryo.coordinator import logs
from toryo.coordinator.logs import Log
from toryo.coordinator.secrets import MASK, Mask
from toryo.coordinator.shipping import TRIES_AFTER_THE_END, Shipping


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lau_1.log"


def plain(text: str) -> str:
    return text


def test_whole_lines_are_passed_on_and_a_part_waits_for_its_end(path) -> None:
    log = Log(path, plain)
    assert log.chunk() is None, "there is no file yet"
    path.write_text("one\ntw")
    assert log.chunk() == "one\n"
    assert log.chunk() == "one\n", "the same until it was passed on"
    log.passed_on(4)
    assert log.chunk() is None
    path.write_text("one\ntwo\n")
    assert log.chunk() == "two\n"
    assert log.offset == 4


def test_what_has_no_end_goes_when_nothing_more_will_come_or_when_it_is_long(path) -> None:
    log = Log(path, plain)
    path.write_text("x" * (logs.PARTIAL_LINE + 1))
    assert log.chunk() == "x" * (logs.PARTIAL_LINE + 1)
    log.passed_on(1)
    with path.open("a") as file:
        file.write("end")
    assert log.chunk() is None
    log.ended = True
    assert log.chunk() == "end"


def test_characters_cut_in_the_middle_are_put_together(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "CHUNK", 4)
    path.write_text("棟梁\n")
    log, seen = Log(path, plain), ""
    log.ended = True
    while (text := log.chunk()) is not None:
        seen += text
        log.passed_on(0)
    assert seen == "棟梁\n"


def test_a_file_that_grows_without_end_is_cut_and_its_end_kept(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "KEPT_WHEN_CUT", 8)
    log = Log(path, plain, largest=20)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b"0123456789\n" * 3)
    assert log.chunk() == "0123456789\n" * 3
    log.passed_on(33)
    os.write(descriptor, b"after\n")
    os.close(descriptor)
    assert log.chunk() == "after\n"
    assert path.read_text() == "after\n"
    assert path.with_suffix(".log.1").read_text() == "3456789\n"


def test_the_tail_is_the_end_of_the_text(path) -> None:
    path.write_text("棟" * 5000 + "end")
    assert logs.tail(path, 5) == "棟棟end"
    assert logs.tail(path.with_name("nothing")) == ""


def test_files_of_launches_long_past_are_removed(tmp_path) -> None:
    for name in ("old.log", "new.log", "other.txt"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "old.log", (0, 0))
    os.utime(tmp_path / "other.txt", (0, 0))
    logs.forget_older_than(tmp_path, days=1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new.log", "other.txt"]


def test_secrets_are_masked_the_known_ones_and_what_looks_like_one() -> None:
    mask = Mask(["my-own-secret", None, "short"])
    assert mask("a my-own-secret b") == f"a {MASK} b"
    assert mask("tlc_0123456789abcdefghij and tst_0123456789abcdefghij") == f"{MASK} and {MASK}"
    assert mask("Authorization: Bearer abcdefghijklmnopqrst") == f"Authorization: Bearer {MASK}"
    assert mask("sk-" + "a1" * 12) == MASK
    assert mask("short words, task_0123456789abcdefghij and tsk_1m807hjmv063y stay") == (
        "short words, task_0123456789abcdefghij and tsk_1m807hjmv063y stay"
    )


class Server:
    """Takes chunks, or fails as it is told."""

    def __init__(self) -> None:
        self.text = ""
        self.failing: Exception | None = None
        self.asked = 0

    async def append(self, _: str, offset: int, text: str) -> int:
        self.asked += 1
        if self.failing is not None:
            raise self.failing
        self.text = self.text[:offset] + text
        return len(self.text)


def looks(server: Server, path, *steps) -> Shipping:
    async def go() -> Shipping:
        shipping = Shipping(server.append)
        shipping.add("lau_1", Log(path, plain))
        for step in steps:
            step(shipping)
            await shipping.look()
        return shipping

    return asyncio.run(go())


def test_a_server_that_is_away_gets_the_same_piece_again(path) -> None:
    server = Server()
    server.failing = Unreachable("away", sent=True)
    path.write_text("one\n")

    def back(_: Shipping) -> None:
        server.failing = None
        path.write_text("one\ntwo\n")

    looks(server, path, lambda _: None, back)
    assert server.text == "one\ntwo\n"


def test_after_the_end_a_server_that_stays_away_is_given_up_and_the_file_stays(path) -> None:
    server = Server()
    server.failing = Unreachable("away")
    path.write_text("one\n")
    steps = [lambda shipping: shipping.ended("lau_1")] * (TRIES_AFTER_THE_END + 3)
    looks(server, path, *steps)
    assert server.asked == TRIES_AFTER_THE_END
    assert path.read_text() == "one\n"


def test_a_refusal_is_final(path) -> None:
    server = Server()
    server.failing = RefusalError("launchNotFound", "There is no launch lau_1.")
    path.write_text("one\n")
    looks(server, path, lambda _: None, lambda _: None)
    assert server.asked == 1
