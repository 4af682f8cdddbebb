"""What an acceptance check may say: every key with its least, its most and what is beyond them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.things import refused
from toryo import artifact_limits
from toryo.domain import acceptance
from toryo.domain.errors import Code


def diff(**limits: Any) -> dict[str, Any]:
    return {"diff": limits}


def review(**terms: Any) -> dict[str, Any]:
    return {"review": terms}


def run(**more: Any) -> dict[str, Any]:
    return {"command": "make", **more}


PATTERNS = artifact_limits.MOST_PATTERNS


@pytest.mark.parametrize(
    "check",
    [
        {"file": "f" * 1_000},
        {"command": "c" * 20_000},
        {"command": "a\n\tb"},
        {"command": ["w"] * 1_000},
        {"command": ["", "c" * 20_000]},
        run(timeout_seconds=1),
        run(timeout_seconds=3_600),
        run(retries=0),
        run(retries=5),
        run(artifacts=["out/*.png"] * PATTERNS),
        diff(max_files=0, max_lines=0),
        diff(max_files=10_000_000, max_lines=10_000_000),
        diff(forbidden_paths=["p" * 1_000] * 100),
        diff(forbid_secrets=True),
        review(),
        review(by="b" * 1_000),
        review(rubric="r" * 4_000),
        review(rounds=1),
        review(rounds=20),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_check_may_say_the_least_and_the_most(check: dict[str, Any]) -> None:
    assert acceptance.read(check, 1) == check
    assert acceptance.required_checks([check, check]) == (check, check)
    assert acceptance.required_checks(check) == (check,)


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"file": "f" * 1_001}, "1000 characters"),
        ({"file": " "}, "file is not a text"),
        ({"file": "a\r\nb"}, "file is not a text"),
        ({"command": "c" * 20_001}, "20000 characters"),
        ({"command": ["w"] * 1_001}, "neither a text nor a list"),
        ({"command": ["a", " "]}, "command is not a text"),
        ({"command": 7}, "neither a text nor a list"),
        (run(timeout_seconds=0), "from 1 to 3600"),
        (run(timeout_seconds=3_601), "from 1 to 3600"),
        (run(timeout_seconds=1.5), "from 1 to 3600"),
        (run(retries=-1), "from 0 to 5"),
        (run(retries=6), "from 0 to 5"),
        (run(artifacts=[]), "artifacts is not a list"),
        (run(artifacts="*.png"), "artifacts is not a list"),
        (run(artifacts=["*.png"] * (PATTERNS + 1)), f"at most {PATTERNS}"),
        (run(artifacts=["../*.png"]), "leaves the working directory"),
        ({"file": "a", "artifacts": ["b"]}, "artifacts belongs to a command"),
        ({"file": "a", "timeout_seconds": 7}, "timeout_seconds belongs to a command"),
        (diff(max_files=-1), "from 0 to 10000000"),
        (diff(max_files=10_000_001), "from 0 to 10000000"),
        (diff(max_lines=-1), "from 0 to 10000000"),
        (diff(max_lines=10_000_001), "from 0 to 10000000"),
        (diff(max_lines=True), "from 0 to 10000000"),
        (diff(forbidden_paths=["p"] * 101), "not a list of patterns"),
        (diff(forbidden_paths=["p" * 1_001]), "1000 characters"),
        (review(rubric="r" * 4_001), "4000 characters"),
        (review(rounds=0), "from 1 to 20"),
        (review(rounds=21), "from 1 to 20"),
        ({"review": 7}, "review is not an object"),
        ({"file": None}, "exactly one of"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_what_is_beyond_that_is_refused_with_its_place(check: dict[str, Any], told: str) -> None:
    refusal = refused(Code.VALIDATION_ERROR, acceptance.read, check, 3)
    assert told in refusal.message
    assert "heck 3" in refusal.message
    assert "Example: " in refusal.instruction


def test_a_text_is_a_command_a_reviewer_is_a_name_and_null_is_left_out() -> None:
    assert acceptance.read("make", 1) == {"command": "make"}
    assert acceptance.read({"review": "bob"}, 1) == review(by="bob")
    given = {"file": None, "command": "make", "retries": None}
    assert acceptance.read(given, 1) == {"command": "make"}
    assert acceptance.read(diff(max_files=1, max_lines=None), 1) == diff(max_files=1)


@pytest.mark.parametrize("nothing", [None, "", "none", [], ()])
def test_nothing_is_no_checks(nothing: Any) -> None:
    assert acceptance.required_checks(nothing) == ()


def test_there_are_at_most_twenty_checks() -> None:
    assert len(acceptance.required_checks(["make"] * 20)) == 20
    assert "There are 21" in refused(Code.VALIDATION_ERROR, acceptance.required_checks, ["make"] * 21).message


@pytest.mark.parametrize(
    ("known", "told"), [("retrys", "Did you mean retries? "), ("zzzzzzzz", "Use one of: file, command")]
)
def test_an_unknown_key_is_answered_with_the_nearest_or_all(known: str, told: str) -> None:
    refusal = refused(Code.VALIDATION_ERROR, acceptance.read, run(**{known: 1}), 2)
    assert refusal.instruction.startswith(told)
    assert "Use one of: file, command" in refusal.instruction
    assert f"Check 2 has an unknown key '{known}'" in refusal.message


@pytest.mark.parametrize(
    ("path", "leaves"),
    [
        ("..", True),
        ("../a", True),
        ("a/../../b", True),
        ("./..", True),
        ("a/..", False),
        ("..a", False),
        ("a/../b", False),
        ("/../a", False),
        ("/a", False),
        ("", False),
    ],
)
def test_a_relative_path_leaves_its_directory_upwards_alone(path: str, *, leaves: bool) -> None:
    assert acceptance.leaves_directory(path) is leaves
    if leaves:
        told = refused(Code.VALIDATION_ERROR, acceptance.refuse_outside, {"file": path}, 2).message
        assert f"In check 2, '{path}' leaves" in told
    else:
        acceptance.refuse_outside({"file": path}, 2)


def test_a_command_is_nowhere_outside() -> None:
    acceptance.refuse_outside({"command": "../make"}, 1)


def test_of_a_failure_that_was_told_alone_one_run_is_evidence() -> None:
    assert acceptance.evidence_of_failures([{"check": "make", "message": "red"}]) == [
        {"check": "make", "outcome": "failed", "runs": 1, "seconds": 0.0, "exit_code": None, "output": "red"}
    ]
