"""The files that a Coordinator collects after a check: those that match, and nothing that an agent smuggles in; and how
they are sent.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from toryo import artifact_limits, untrusted_files
from toryo.client import RefusalError, Unreachable
from toryo.coordinator import acceptance_checks, artifact_uploads, artifacts
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.artifacts import Collected, File, Place, Room
from toryo.coordinator.sandbox import Walled
from toryo.output_redaction import Mask

SECRET = "sk-" + "a1B2" * 8


WRITTEN = 1_000_000_000.0


def write(directory: Path, *names: str, content: bytes = b"x", at: float = WRITTEN) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (at, at))


def collected(
    directory: Path,
    *patterns: str,
    within: Path | None = None,
    room: Room | None = None,
    secret: str = "",
    began: float = 0.0,
) -> Collected:
    return artifacts.collect(patterns, began, Place(directory, within), Mask([secret]), room or Room())


def names(found: Collected) -> list[str]:
    return [each.name for each in found.files]


def told(found: Collected) -> str:
    return " ".join(found.left_out)


def test_files_that_match_are_collected_by_their_names(tmp_path: Path) -> None:
    write(tmp_path, "report/b.html", "report/a.html", "report/deep/c.html", "a.png", "out/b.png", "other.txt")
    assert names(collected(tmp_path, "report/*.html")) == ["report/a.html", "report/b.html"]
    assert names(collected(tmp_path, "*.png", "./report/**/c.html")) == ["a.png", "out/b.png", "report/deep/c.html"]
    assert names(collected(tmp_path, "report")) == ["report/a.html", "report/b.html", "report/deep/c.html"]
    assert told(collected(tmp_path, "*.png", "*.gif")) == "No file matches *.gif."


def test_a_check_reports_what_its_command_left_whether_it_passed_or_not(tmp_path: Path) -> None:
    def wall(argv: Any) -> Walled:
        return Walled(tuple(argv), {"PATH": os.environ["PATH"]})

    def collect(patterns: Sequence[str], began: float) -> Collected:
        return artifacts.collect(patterns, began, Place(tmp_path), Mask([]), Room())

    def run(*checks: dict[str, Any]) -> list[Evidence]:
        return asyncio.run(acceptance_checks.evidence(checks, tmp_path, wall, _no_changes, Mask([]), collect))

    write(tmp_path, "before.txt")
    passed, failed, other = run(
        {"command": "echo 1 > one.txt", "artifacts": ["one.txt", "before.txt"]},
        {"command": "echo 2 > two.txt; exit 1", "artifacts": ["two.txt"], "retries": 1},
        {"command": "echo 3 > three.txt"},
    )
    assert (passed.outcome, passed.files) == ("passed", (File("before.txt", b"x"), File("one.txt", b"1\n")))
    assert passed.left_out == ("Kept, but older than the run of the command: before.txt.",)
    assert failed.left_out == ()
    assert (failed.outcome, failed.runs, failed.files) == ("failed", 2, (File("two.txt", b"2\n"),))
    assert other.files == ()


def _no_changes() -> Any:
    raise AssertionError("nothing asks for changes")


def test_texts_are_masked_and_other_files_stay_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", content=f"hush-hush {SECRET} é".encode())
    write(tmp_path, "b.bin", content=b"\xff hush-hush")
    write(tmp_path, "c.bin", content=b"\0 hush-hush")
    text, *binaries = (each.content for each in collected(tmp_path, "*.*", secret="hush-hush").files)
    assert text == "******** ******** é".encode()
    assert binaries == [b"\xff hush-hush", b"\0 hush-hush"]


def test_masking_a_large_text_holds_nothing_else_up_and_misses_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD\n" * 3000 + "-----END RSA PRIVATE KEY-----"
    line = "what a program prints\n"
    text = line * (artifacts.PORTION // len(line) - 1) + key + "\n" + line * 20_000 + SECRET
    write(tmp_path, "a.log", content=text.encode())
    longest: list[int] = []
    mask = Mask.__call__

    def measured(self: Mask, part: str) -> str:
        longest.append(len(part))
        return mask(self, part)

    monkeypatch.setattr(Mask, "__call__", measured)
    (file,) = collected(tmp_path, "*.log").files
    assert file.content.decode() == text.replace(key, "********").replace(SECRET, "********")
    assert max(longest) < 2 * artifacts.PORTION


def test_what_does_not_fit_is_not_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.txt", "b.txt", content=b"x" * 10)
    masked: list[str] = []

    def noted(_: Mask, text: str) -> str:
        masked.append(text)
        return text

    monkeypatch.setattr(Mask, "__call__", noted)
    assert names(collected(tmp_path, "*.txt", room=Room(10))) == ["a.txt"]
    assert masked.count("x" * 10) == 1


# --- what an agent may have put there --------------------------------------------------------------------------------


def test_nothing_is_reached_through_a_link(tmp_path: Path) -> None:
    outside, directory = tmp_path / "outside", tmp_path / "work"
    write(outside, "secret.png")
    write(directory, "a.png")
    (directory / "file.png").symlink_to(outside / "secret.png")
    (directory / "shots").symlink_to(outside)
    found = collected(directory, "*.png", "shots/*.png", "shots/**")
    assert names(found) == ["a.png"]
    assert "file.png is left out." in told(found)
    assert "No file matches shots/*.png." in told(found)


def test_a_link_to_a_file_inside_is_not_followed_either(tmp_path: Path) -> None:
    write(tmp_path, "a.txt")
    (tmp_path / "b.png").symlink_to("a.txt")
    assert collected(tmp_path, "b.png").files == ()


@pytest.mark.parametrize("pattern", ["../*.png", "/../a.png", "a/../../a.png", "..", "../../**"])
def test_no_pattern_leads_out_of_the_directory(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "a.png", "work/b.png")
    assert collected(tmp_path / "work", pattern).files == ()


def test_a_directory_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    """The project's directory within the worktree is the agent's to replace."""
    write(tmp_path, "secret/a.png", "worktree/b.png")
    (tmp_path / "worktree" / "app").symlink_to(tmp_path / "secret")
    found = collected(tmp_path / "worktree" / "app", "*.png", within=tmp_path / "worktree")
    assert found.files == ()
    assert "cannot be collected" in told(found)


def test_a_directory_that_is_gone_or_elsewhere_is_said(tmp_path: Path) -> None:
    assert "cannot be collected" in told(collected(tmp_path / "none", "*"))
    write(tmp_path, "a/b", "c/d")
    assert "not in its worktree" in told(collected(tmp_path / "a", "*", within=tmp_path / "c"))


@pytest.mark.parametrize("at", ["_enter", "_content"])
def test_a_directory_that_is_replaced_while_it_is_looked_at_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    write(tmp_path, "outside/a.png", "work/shots/a.png")
    shots = tmp_path / "work" / "shots"
    step = getattr(artifacts._Taking, at)

    def swapped(self: Any, *given: Any) -> Any:
        (shots / "a.png").unlink()
        shots.rmdir()
        shots.symlink_to(tmp_path / "outside")
        return step(self, *given)

    monkeypatch.setattr(artifacts._Taking, at, swapped)
    assert collected(tmp_path / "work", "shots/*.png").files == ()


def test_pipes_and_devices_do_not_hold_it_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    write(tmp_path, "b.png")
    found = collected(tmp_path, "*.png")
    assert names(found) == ["b.png"]
    assert "a.png is left out. This is not a regular file." in told(found)


def test_a_huge_file_is_left_out_without_being_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "huge.bin").open("wb") as huge:
        huge.truncate(1 << 40)
    write(tmp_path, "small.bin")
    found = collected(tmp_path, "*.bin")
    assert names(found) == ["small.bin"]
    assert "huge.bin is left out. A file can have 2 MB." in told(found)


def test_files_that_do_not_fit_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        with (tmp_path / f"{number}.bin").open("wb") as each:
            each.truncate(artifact_limits.LARGEST + number % 2)
    reads: list[int] = []
    read, grown = untrusted_files.read, [b""]

    def counted(*given: Any) -> bytes:
        reads.append(1)
        return grown[0] or read(*given)

    monkeypatch.setattr(untrusted_files, "read", counted)
    assert len(collected(tmp_path, "*.bin").files) == 2
    assert len(reads) == 2
    reads.clear()
    grown[0] = b"x" * 6_000_000  # they grow while they are looked at
    assert collected(tmp_path, "*.bin").files == ()
    assert len(reads) == artifacts.MOST_READ


def test_a_name_that_holds_a_secret_is_neither_stored_nor_told(tmp_path: Path) -> None:
    write(tmp_path, f"{SECRET}.txt")
    found = collected(tmp_path, "*.txt")
    assert found.files == ()
    assert SECRET not in told(found)


def test_a_check_leaves_at_most_ten_files_and_says_how_many_more_there_are(tmp_path: Path) -> None:
    write(tmp_path, *(f"{number:03}.txt" for number in range(50)))
    found = collected(tmp_path, "*.txt")
    assert names(found) == [f"{number:03}.txt" for number in range(10)]
    assert found.left_out[0] == "010.txt is one file too many: a check can leave 10."
    assert "27 more are left out." in told(found)
    assert len(found.left_out) <= artifact_limits.MOST_LEFT_OUT


def test_the_newest_files_are_kept_where_more_match_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(30):
        write(tmp_path, f"shots/day-{day:02}.png", at=WRITTEN + 60 * day)
    newest = [f"shots/day-{day}.png" for day in range(20, 30)]
    found = collected(tmp_path, "*.png", began=WRITTEN + 60 * 22)
    assert names(found) == newest
    assert "older than the run of the command: shots/day-20.png, shots/day-21.png." in told(found)
    monkeypatch.setattr(artifacts, "MOST_CANDIDATES", 12)
    few = collected(tmp_path, "*.png")
    assert names(few) == newest
    assert few.left_out[1:] == (
        "shots/day-18.png is one file too many: a check can leave 10.",
        "18 more are left out.",
    )


@pytest.mark.deep
def test_the_files_of_one_check_and_of_all_checks_have_a_size_together(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c", content=b"x" * artifact_limits.LARGEST)
    room = Room()
    assert names(collected(tmp_path, "a", "b", "c", room=room)) == ["a", "b"]
    assert "5 MB" in told(collected(tmp_path, "a", "b", "c", room=room))
    assert "20 MB" in told(collected(tmp_path, "a", "b", room=Room(artifact_limits.LARGEST)))


def test_an_expensive_pattern_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"{'a' * 200}/{'a' * 200}{number}" for number in range(50)))
    monkeypatch.setattr(artifacts, "MOST_STEPS", 100_000)
    found = collected(tmp_path, *(["*a" * 300] * 5))
    assert found.files == ()
    assert found.left_out == ("There are too many files to compare with these patterns. Name their directory.",)


def test_more_files_than_can_be_looked_at_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"many/{number}" for number in range(30)), "shots/a.png")
    monkeypatch.setattr(artifacts, "MOST_ENTRIES", 20)
    assert "Name their directory." in told(collected(tmp_path, "*.png"))
    assert names(collected(tmp_path, "shots/*.png")) == ["shots/a.png"]


def test_directories_within_directories_end_somewhere(tmp_path: Path) -> None:
    deep = "/".join(["d"] * (artifacts.DEEPEST + 5))
    write(tmp_path, f"{deep}/a.png", "d/b.png")
    assert names(collected(tmp_path, "*.png")) == ["d/b.png"]


def test_names_that_cannot_be_shown_are_left_out_and_told_without_them(tmp_path: Path) -> None:
    write(tmp_path, "a\n.txt", "b\u202e.txt", "c.txt")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_bytes(b"x")
    found = collected(tmp_path, "*.txt")
    assert names(found) == ["c.txt"]
    assert len(found.left_out) == 3
    assert told(found).isprintable()


SHOWN_NAMES = ["Screenshot 9.41.00\u202fAM.png", "全角\u3000空白.png", "👩\u200d💻.png", "葛\U000e0100.png"]


def test_names_as_people_and_systems_give_them_are_stored(tmp_path: Path) -> None:
    write(tmp_path, *SHOWN_NAMES)
    found = collected(tmp_path, "*.png")
    assert (sorted(names(found)), found.left_out) == (sorted(SHOWN_NAMES), ())


def test_what_git_keeps_is_no_artifact(tmp_path: Path) -> None:
    write(tmp_path, ".git/config", "config")
    assert names(collected(tmp_path, "config", ".git/*")) == ["config"]


def test_where_a_worktree_says_what_it_belongs_to_is_no_artifact(tmp_path: Path) -> None:
    write(tmp_path, ".git", "a.txt")
    assert names(collected(tmp_path, "**")) == ["a.txt"]


# --- sending ---------------------------------------------------------------------------------------------------------


class Server:
    """A server that answers as it is told: `no(name, try)` raises."""

    def __init__(self, no: Callable[[str, int], Exception | None]) -> None:
        self._no = no
        self.tries: list[str] = []
        self.reported: list[tuple[list[Evidence], list[list[str]]]] = []
        self.away = 0

    async def store_artifact(self, _check_id: str, place: int, name: str, _content: bytes) -> str:
        self.tries.append(name)
        if (problem := self._no(name, self.tries.count(name))) is not None:
            raise problem
        return f"art_{place}_{name}"

    async def report_check(
        self, _check_id: str, evidence: Sequence[Evidence], stored: Sequence[Sequence[str]] = ()
    ) -> None:
        self.reported.append((list(evidence), [list(each) for each in stored]))
        if self.away:
            self.away -= 1
            raise Unreachable("away")


def sent(server: Server, *, times: Sequence[float] = (0.0,), leaving: bool = False) -> None:
    """Tells until it is done; the clock shows these times, then the last one."""
    left = list(times)
    evidence = [
        Evidence("one", "passed", 1.0, files=(File("a", b"1"), File("b", b"2"))),
        Evidence("two", "failed", 1.0, files=(File("c", b"3"),), left_out=("d",)),
    ]

    def clock() -> float:
        return left.pop(0) if len(left) > 1 else left[0]

    async def until_told() -> None:
        result = artifact_uploads.Result("chk_1", evidence, server, lambda: leaving, clock)
        for _ in range(20):
            try:
                return await result.tell()
            except (Unreachable, RefusalError):
                continue
        raise AssertionError("it never came to an end")

    asyncio.run(until_told())


def test_files_are_sent_before_the_result_and_once_although_the_result_is_repeated() -> None:
    server = Server(lambda _name, _tries: None)
    server.away = 2
    sent(server)
    assert server.tries == ["a", "b", "c"]
    assert [stored for _, stored in server.reported] == [[["art_0_a", "art_0_b"], ["art_1_c"]]] * 3


def test_a_file_waits_for_a_server_that_is_away() -> None:
    server = Server(lambda name, tries: Unreachable("away") if name == "b" and tries < 3 else None)
    sent(server)
    assert server.tries == ["a", "b", "b", "b", "c"]
    assert server.reported[0][1] == [["art_0_a", "art_0_b"], ["art_1_c"]]


def test_a_file_that_never_arrives_does_not_hold_up_the_result() -> None:
    server = Server(lambda name, _tries: Unreachable("cut off") if name == "b" else None)
    sent(server, times=[0.0, 1.0, 2.0, artifact_uploads.WITHIN])
    ((evidence, stored),) = server.reported
    assert stored == [["art_0_a"], ["art_1_c"]]
    assert evidence[0].left_out == ("b is not stored: the server was not reached (cut off).",)
    assert [each.outcome for each in evidence] == ["passed", "failed"]


@pytest.mark.parametrize("code", ["validationError", "toolNotFound", "tooLarge"])
def test_a_file_that_the_server_refuses_is_left_out_at_once(code: str) -> None:
    server = Server(lambda name, _tries: RefusalError(code, "No.") if name == "c" else None)
    sent(server)
    ((evidence, stored),) = server.reported
    assert (server.tries, stored) == (["a", "b", "c"], [["art_0_a", "art_0_b"], []])
    assert evidence[1].left_out[0].startswith("c is not stored: the server did not take it (")
    assert evidence[1].left_out[1] == "d"


def test_a_coordinator_that_stops_reports_the_result_without_waiting_for_files() -> None:
    server = Server(lambda _name, _tries: Unreachable("away"))
    sent(server, leaving=True)
    assert server.reported[0][1] == [[], []]
