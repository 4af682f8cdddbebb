"""What is one command without a shell, and which commands allow which."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from toryo import named_commands
from toryo.named_commands import NotOne

COMMANDS = ["pytest", "ruff check", "npm test"]


def allowed(text: str) -> bool:
    try:
        return named_commands.allow(COMMANDS, named_commands.words(text))
    except NotOne:
        return False


@pytest.mark.parametrize(
    "text",
    [
        "pytest",
        "  pytest   -q",
        "pytest tests/test_a.py::test_x[1-2] -k 'a and not b'",
        "'pytest' -k \"it's; fine\"",
        "ruff check --select 'E*' .",
        "npm test -- --watch=false",
    ],
)
def test_a_command_is_allowed_with_any_arguments(text: str) -> None:
    assert allowed(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "''",
            "pytes",
            "pytest2",
            "./pytest",
            "/usr/bin/pytest",
            "Pytest",
            "ruff",
            "ruff format",
            "npm publish",
        ),
        *(
            "npm 'test x'",
            "python -m pytest",
            "sh -c pytest",
            "env pytest",
            "sudo pytest",
            "xargs pytest",
            "'npm test'",
        ),
        *("pytest; rm -rf x", "pytest;rm x", "pytest & rm x", "pytest && rm x", "pytest || rm x", "pytest | sh"),
        *("pytest\nrm x", "pytest\rrm x", "pytest\u2028rm x", "pytest\x00rm", "pytest\trm"),
        *("pytest $(rm x)", 'pytest "$(rm x)"', "pytest `rm x`", 'pytest "`rm x`"', "pytest <(rm x)", "pytest $HOME"),
        *(
            "pytest >x",
            "pytest 2>&1",
            "pytest <x",
            "X=1 pytest",
            "PATH=. pytest",
            "(pytest)",
            "pytest # x",
            "pytest ~/x",
        ),
        *("pytest *.py", "pytest 'x", 'pytest "x', "pytest \\", "$(echo pytest)", "pytest\\\nrm x"),
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert not allowed(text)


@pytest.mark.parametrize("text", ["x" * 201, "", " ", "a; b", "A=1 b", 7, None, ["pytest"], "a\nb", "'", "$SHELL"])
def test_what_cannot_be_a_command_is_none(text: object) -> None:
    assert not named_commands.is_one(text)


def test_a_shell_would_read_the_same_words(tmp_path: Path) -> None:
    """So what is accepted means what a model that thinks of a shell has meant, and hides nothing from who reads it."""
    chance = random.Random(7)
    pieces = [*"ab'\"\\$`;&|<>()*?[]{}#~!=-\n", " ", " ", "x y", "$(a)", "''"]
    texts = {f"cmd {''.join(chance.choices(pieces, k=chance.randint(1, 7)))}" for _ in range(6_000)}
    read: dict[str, list[str]] = {}
    for text in sorted(texts):
        try:
            read[text] = list(named_commands.words(text))[1:]
        except NotOne:
            continue
    assert len(read) > 300
    script = "cmd() { for each; do printf '%s\\0' \"$each\"; done; printf '\\n'; }\n" + "\n".join(read)
    told = subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.split("\n")[:-1] == ["".join(f"{word}\0" for word in words) for words in read.values()]
