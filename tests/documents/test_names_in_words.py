"""Files that are named in docstrings, comments and documents are there."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
READ = [
    each for each in FILES if each.startswith(("src/", "docs/", "AGENTS", "README")) and each.endswith((".py", ".md"))
]
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md))`")
OF_OTHERS = {
    "AGENTS.md",  # in people's own projects
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
}


@cache
def there(name: str) -> bool:
    return name in OF_OTHERS or any(each == name or each.endswith(f"/{name}") for each in FILES)


@pytest.mark.parametrize("file", READ)
def test_files_that_are_named_exist(file: str) -> None:
    path = ROOT / file
    missing = [name for name in NAMED.findall(path.read_text(encoding="utf-8")) if not there(name)]
    assert [name for name in missing if not (path.parent / name).exists()] == []
