"""Output of agents: read as it grows, cut at lines, masked, passed on until the server has it."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from toryo import output_redaction, secret_patterns
from toryo.client import RefusalError, Unreachable
from toryo.coordinator import logs
from toryo.coordinator.log_shipper import TRIES_AFTER_THE_END, LogShipper
from toryo.coordinator.logs import Log
from toryo.output_redaction import MASK, Mask


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


@pytest.mark.pitfall("F120")
def test_secrets_are_masked_the_known_ones_and_what_looks_like_one() -> None:
    mask = Mask(["my-own-secret", None, "short"])
    assert mask("a my-own-secret b") == f"a {MASK} b"
    assert mask("tlc_0123456789abcdefghij and tst_0123456789abcdefghij") == f"{MASK} and {MASK}"
    assert mask("Authorization: Bearer abcdefghijklmnopqrst") == f"Authorization: Bearer {MASK}"
    assert mask("sk-" + "a1" * 12) == MASK
    assert mask("short words, task_0123456789abcdefghij and tsk_1m807hjmv063y stay") == (
        "short words, task_0123456789abcdefghij and tsk_1m807hjmv063y stay"
    )


FOREIGN = [
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "xapp-1-A0123456789-abcdef",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "ghs_0123456789abcdefghijABCDEFGHIJ",
    "github_pat_11ABCDEFG0123456789_abcdefghij",
    "glpat-0123456789abcdefghij",
    "sk-ant-api03-0123456789abcdefghij",
    "sk_live_0123456789abcdefghij",
    "AIzaSyA0123456789abcdefghijABCDEFGHIJ",
    "npm_0123456789abcdefghijABCDEFGHIJKLMN",
    "hf_0123456789abcdefghijABCDEFGHIJ",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
]
KEY = "-----BEGIN RSA PRIVATE KEY-----" + "\nMIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL" * 8
KEY_END = "\nMIIEpAIB==\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize("prefix", secret_patterns.PREFIXES)
def test_whatever_toryo_mints_is_masked(prefix) -> None:
    token = prefix + "0123456789abcdef" * 3
    for text in ("{}", "key={} and", '"{}"', "({})", "MY_{}", "https://host/#{}", "-{}-"):
        assert "0123456789" not in Mask([])(text.format(token))


def test_no_token_is_minted_with_a_prefix_of_its_own() -> None:
    """`secret_patterns.py` names them all: else the next one would not be masked."""
    source = Path(logs.__file__).parents[1]
    for file in source.rglob("*.py"):
        for call in re.findall(r"call\.new_token\((.*?)\)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r'(secret_patterns\.)?[A-Z]+|""', call), f"{file.name}: new_token({call})"
        if file.name != "secret_patterns.py":
            written = re.findall(r"[\"'](?:t[a-z]{2}|pk)_[\"']", file.read_text(encoding="utf-8"))
            assert not set(written) & {f'"{each}"' for each in secret_patterns.PREFIXES}, file.name


@pytest.mark.parametrize("secret", FOREIGN)
def test_what_looks_like_somebody_elses_token_is_masked(secret) -> None:
    assert Mask([])(f"key={secret}, and so on") == f"key={MASK}, and so on"


def test_a_key_of_several_lines_is_masked_also_where_it_comes_in_pieces(tmp_path) -> None:
    assert Mask([])(f"a\n{KEY}{KEY_END}b") == f"a\n{MASK}\nb"
    path, output = logs.create(tmp_path, "lch_1")
    log, sent = Log(path, Mask([])), []

    def pass_on() -> None:
        while (piece := log.chunk()) is not None:
            sent.append(piece)
            log.passed_on(log.offset + len(piece))

    for line in f"before\n{KEY}{KEY_END}after\n".splitlines(keepends=True):
        os.write(output, line.encode())
        pass_on()
    log.finish()
    pass_on()
    os.close(output)
    assert "".join(sent) == f"before\n{MASK}\nafter\n"
    assert log.tail == f"before\n{MASK}\nafter\n"


def test_the_end_of_an_output_does_not_begin_within_a_secret(tmp_path) -> None:
    path, output = logs.create(tmp_path, "lch_1")
    os.write(output, b"tpt_" + b"0123456789abcdef" * 3 + b"\n" + b"x" * (logs.TAIL - 10))
    os.close(output)
    log = Log(path, Mask([]))
    log.finish()
    assert "cdef" not in log.tail


def test_a_text_that_only_speaks_of_keys_is_passed_on_and_stays(tmp_path) -> None:
    words = 'if "-----BEGIN PRIVATE KEY-----" in text: # find it\n'
    assert Mask([])(words) == words
    path, output = logs.create(tmp_path, "lch_1")
    os.write(output, words.encode())
    os.close(output)
    assert Log(path, Mask([])).chunk() == words


def test_secrets_in_an_environment_are_known_by_their_names_and_in_addresses_not_by_their_length() -> None:
    environment = {
        "COPILOT_MODEL": "a-model-with-a-long-name",
        "GEMINI_API_KEY": "gemini-key-value",
        "ANTHROPIC_AUTH_TOKEN": "auth-token-value",
        "DB_PASSWORD": "hunter2-hunter2",
        "GIT_AUTHOR_NAME": "Somebody Or Other",
        "MY_PAT": "personal-access-value",
        "HTTPS_PROXY": "http://user:p%40ssword9@proxy.example:8080",
        "INDEX_URL": "https://glpat-0123456789@index.example/simple",
        "BASE_URL": "https://models.example/v1",
    }
    mask = Mask(output_redaction.among(environment))
    shown = {name: mask(f"{name} is {value}.") for name, value in environment.items()}
    hidden = {name for name, said in shown.items() if said == f"{name} is {MASK}."}
    assert hidden == {"GEMINI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "DB_PASSWORD", "MY_PAT"}
    assert shown["HTTPS_PROXY"] == f"HTTPS_PROXY is http://user:{MASK}@proxy.example:8080."
    assert shown["INDEX_URL"] == f"INDEX_URL is https://{MASK}@index.example/simple."
    whole = {"COPILOT_MODEL", "GIT_AUTHOR_NAME", "BASE_URL"}
    assert all(shown[name] == f"{name} is {environment[name]}." for name in whole)
    assert mask("it said p@ssword9") == f"it said {MASK}"


class Server:
    """Takes chunks, or fails as it is told."""

    def __init__(self) -> None:
        self.text = ""
        self.failing: Exception | None = None
        self.asked = 0

    async def append(self, _: str, offset: int, text: str, usage: object = None, news: object = None) -> int:
        self.asked += 1
        if self.failing is not None:
            raise self.failing
        self.text = self.text[:offset] + text
        return len(self.text)


def looks(server: Server, path, *steps) -> LogShipper:
    async def go() -> LogShipper:
        shipping = LogShipper(server.append)
        shipping.add("lau_1", Log(path, plain))
        for step in steps:
            step(shipping)
            await shipping.look()
        return shipping

    return asyncio.run(go())


def test_an_output_whose_look_fails_is_told_once_and_all_others_are_still_seen(path, caplog) -> None:
    seen: list[str] = []

    def look(launch_id: str, _: Log) -> None:
        seen.append(launch_id)
        if launch_id == "lau_bad":
            raise KeyError("retry_delay_ms")

    async def go() -> None:
        enough = asyncio.Event()

        def counted(launch_id: str, log: Log) -> None:
            if seen.count("lau_good") >= 5:
                enough.set()
            look(launch_id, log)

        shipping = LogShipper(Server().append, counted, look_every=0.01)
        path.write_text("one\n")
        shipping.add("lau_bad", Log(path, plain))
        shipping.add("lau_good", Log(path, plain))
        running = asyncio.create_task(shipping.run())
        await asyncio.wait_for(enough.wait(), 10)
        assert not running.done()
        running.cancel()

    asyncio.run(go())
    assert seen.count("lau_good") >= 5
    assert [record.getMessage() for record in caplog.records] == ["opening the output of lau_bad"]


def test_an_output_that_cannot_be_read_keeps_no_other_from_the_server_and_is_given_up_at_its_end(tmp_path) -> None:
    def unreadable(_: str) -> str:
        raise RecursionError

    async def go() -> None:
        server = Server()
        shipping = LogShipper(server.append)
        for name, mask in (("bad", unreadable), ("good", plain)):
            (tmp_path / name).write_text("one\n")
            shipping.add(name, Log(tmp_path / name, mask))
        await shipping.look()
        assert server.text == "one\n"
        shipping.ended("bad")
        for _ in range(TRIES_AFTER_THE_END):
            await shipping.look()
        assert shipping.ended("bad") is None

    asyncio.run(go())


@pytest.mark.pitfall("F43")
def test_a_server_that_is_away_gets_the_same_piece_again(path) -> None:
    server = Server()
    server.failing = Unreachable("away", sent=True)
    path.write_text("one\n")

    def back(_: LogShipper) -> None:
        server.failing = None
        path.write_text("one\ntwo\n")

    looks(server, path, lambda _: None, back)
    assert server.text == "one\ntwo\n"


@pytest.mark.pitfall("F43")
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


def test_however_much_there_is_it_goes_in_pieces_that_a_server_takes(path) -> None:
    lines = "".join(f"line {number} of many\n" for number in range(40_000))
    path.write_text(lines)
    log, sizes, seen = Log(path, plain), [], ""
    log.finish()
    while (text := log.chunk()) is not None:
        sizes.append(len(text))
        seen += text
        assert text.endswith("\n")
        log.passed_on(len(seen))
    assert seen == lines
    assert max(sizes) <= logs.LONGEST_PIECE


def test_a_line_longer_than_a_piece_goes_in_several(path) -> None:
    path.write_text("x" * (2 * logs.LONGEST_PIECE + 7) + "\nend\n")
    log, sizes = Log(path, plain), []
    log.finish()
    while (text := log.chunk()) is not None:
        sizes.append(len(text))
        log.passed_on(sum(sizes))
    assert sizes == [logs.LONGEST_PIECE, logs.LONGEST_PIECE, 12]


def test_of_a_flood_only_the_end_is_read_after_it_has_ended(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_REST", 1000)
    path.write_text("x" * 9 + "\n" + "0123456\n" * 1000)
    log = Log(path, plain)
    log.finish()
    text = log.chunk() or ""
    assert "… 7010 bytes of output were omitted here …" in text
    left = path.read_text()
    assert left == "0123456\n" * 125, "nobody looks for secrets in the rest: it is not kept"
    assert text.endswith("0123456\n" * 100)
    assert len(text) < 1200
    assert log.size == 8010


def test_of_a_flood_without_an_end_of_a_line_no_more_is_left_out_than_was_looked_through(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_REST", 100)
    monkeypatch.setattr(logs, "UNDECIDED", 10)
    path.write_text("x" * 900 + "y" * 100)
    log = Log(path, plain)
    log.finish()
    assert path.read_text() == "y" * 91


def test_of_a_flood_without_lines_no_part_of_a_secret_is_left_where_it_was_cut(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_REST", 10_000)
    secret = "toryo-secret-1234567890"
    half = secret[9:]
    path.write_text("x" * 50_000 + secret + "y" * (10_000 - len(half)))
    log = Log(path, Mask([secret]))
    log.finish()
    assert half not in path.read_text()
    assert half not in (log.chunk() or "")


def test_an_output_that_its_program_made_long_without_writing_costs_no_time_and_no_disk(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_REST", 100_000)
    secret = "toryo-secret-1234567890"
    path.write_text("begin\n")
    log = Log(path, Mask([secret]))
    log.read()
    with path.open("r+b") as file:
        file.truncate(2**28)
        file.seek(0, os.SEEK_END)
        file.write(f"\n{secret}\nend\n".encode())
    log.read()
    log.finish()
    assert path.stat().st_size < 1_200_000
    assert log.size > 2**28
    assert secret.encode() not in path.read_bytes()
    seen = ""
    while (text := log.chunk()) is not None:
        seen += text
        log.passed_on(len(seen))
    assert seen.startswith("begin\n")
    assert "bytes of output were omitted here" in seen
    assert seen.endswith("end\n")


def test_how_much_was_printed_is_known_while_a_server_is_away_and_nothing_more_is_read(path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "HELD_BACK", 10)
    path.write_text("x" * 100_000 + "\n")
    log = Log(path, plain)
    for _ in range(3):
        log.read()
    path.write_text("x" * 900_000 + "\n")
    log.read()
    assert log.size == 900_001


def test_what_the_server_has_is_cut_off_over_many_pieces_and_the_rest_follows(path) -> None:
    """Another Coordinator has passed it on: only the server knows how far it came."""
    lines = "".join(f"{number}\n" for number in range(60_000))
    path.write_text(lines)
    have, log = lines[:222_222], Log(path, plain)
    log.finish()
    while (text := log.chunk()) is not None:
        if log.offset <= len(have):
            have += text[len(have) - log.offset :]
        log.passed_on(len(have))
    assert have == lines


def test_an_output_that_has_not_grown_is_not_opened_again(path, monkeypatch) -> None:
    """There may be a thousand of them, and each is looked at twice a second."""
    opened: list[Log] = []
    more = Log._more

    def counted(log: Log) -> bytes:
        opened.append(log)
        return more(log)

    monkeypatch.setattr(Log, "_more", counted)
    log = Log(path, plain)
    path.write_text("one\n")
    for _ in range(3):
        log.read()
    assert len(opened) == 1
    path.write_text("one\ntwo\nthr")
    log.read()
    log.finish()
    assert log.chunk() == "one\ntwo\nthr"


def test_outputs_that_are_added_while_others_are_there_are_looked_at_with_them(tmp_path) -> None:
    """A look for each would look at all of them each time: a thousand starts, half a million looks."""
    looks: list[int] = []

    class Counting(LogShipper):
        async def look(self) -> None:
            looks.append(len(self._shipments))
            await super().look()

    async def go() -> None:
        async def append(*_) -> int:
            return 0

        shipping = Counting(append, look_every=1000)
        running = asyncio.create_task(shipping.run())
        await asyncio.sleep(0)
        for number in range(5):
            shipping.add(f"lau_{number}", Log(tmp_path / f"{number}.log", plain))
            for _ in range(10):
                await asyncio.sleep(0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(go())
    assert len(looks) <= 2, "when it begins, and when the first has come"


# --- the file itself -------------------------------------------------------------------------------------------------

LAUNCH = secret_patterns.LAUNCH + "0123456789abcdef" * 3
KNOWN = "correct horse battery staple"


@pytest.mark.parametrize("secret", [LAUNCH, KNOWN, *FOREIGN])
def test_secrets_are_covered_in_the_file_in_their_place_and_what_is_sent_is_as_ever(tmp_path, secret) -> None:
    path, output = logs.create(tmp_path, "lch_1")
    written = f"before {secret} after\nnext: 棟梁\n".encode()
    os.write(output, written)
    log = Log(path, Mask([KNOWN]))
    assert log.chunk() == f"before {MASK} after\nnext: 棟梁\n"
    kept = path.read_bytes()
    assert secret.encode() not in kept
    assert secret[-6:].encode() not in kept
    assert len(kept) == len(written)
    assert kept.endswith(" after\nnext: 棟梁\n".encode())
    again = Log(path, Mask([KNOWN]))  # of a Coordinator that starts anew: it counts on the same characters
    assert again.chunk() == f"before {MASK} after\nnext: 棟梁\n"
    assert logs.tail(path) == f"before {MASK} after\nnext: 棟梁\n"


@pytest.mark.parametrize("secret", [LAUNCH, KNOWN])
@pytest.mark.parametrize("chunk", [1, 7, 10, 1_000])
def test_a_secret_that_comes_in_pieces_is_covered_as_a_whole(tmp_path, monkeypatch, secret, chunk) -> None:
    monkeypatch.setattr(logs, "CHUNK", chunk)
    path, output = logs.create(tmp_path, "lch_1")
    log, sent = Log(path, Mask([KNOWN])), ""
    for at in range(0, len(secret), 5):
        os.write(output, (" key=" if at == 0 else "").encode() + secret[at : at + 5].encode())
        for _ in range(40):
            log.read()
        assert secret[at : at + 5] not in (log.chunk() or "")
    os.write(output, b".\n")
    log.ended = True
    while (text := log.chunk()) is not None:
        sent += text
        log.passed_on(log.offset + len(text))
    assert sent == f" key={MASK}.\n"
    assert path.read_text().replace(output_redaction.FILLER, "") == sent
    assert not any(secret[at : at + 5] in path.read_text() for at in range(4, len(secret) - 5))


def test_a_file_is_covered_also_while_nothing_can_be_sent(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "HELD_BACK", 10)
    path, output = logs.create(tmp_path, "lch_1")
    log = Log(path, Mask([]))
    os.write(output, b"much that waits\n")
    log.read()
    os.write(output, f"token {LAUNCH}\n".encode())
    log.read()
    assert LAUNCH not in path.read_text()
    assert log.chunk() == "much that waits\n"
    log.passed_on(log.offset + 16)
    assert log.chunk() == f"token {MASK}\n"


def test_what_is_kept_of_a_file_that_was_cut_is_covered_too(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs, "KEPT_WHEN_CUT", 150)
    path, output = logs.create(tmp_path, "lch_1")
    log = Log(path, Mask([]), largest=20)
    os.write(output, f"first {LAUNCH} then\n".encode() * 3)
    assert log.chunk() == f"first {MASK} then\n" * 3
    assert path.read_bytes() == b""
    assert LAUNCH not in path.with_suffix(".log.1").read_text()


def test_covering_twice_changes_nothing_more() -> None:
    mask = Mask([KNOWN])
    for secret in (LAUNCH, KNOWN, *FOREIGN, f"{KEY}{KEY_END}"):
        once = mask.covered(f"a {secret} b".encode())
        assert mask.covered(once) == once
        assert len(once) == len(f"a {secret} b")
