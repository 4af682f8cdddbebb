"""Whether output shows that the sandbox may be why something failed, and the line that then follows it.

A program says only that a file is missing or read-only. Nothing here looks at this machine: an agent that reads the
line learns nothing about what it cannot see.
"""

from __future__ import annotations

import re
from pathlib import Path

MAYBE = (
    "· This ran in a sandbox: what is outside its task's directory is hidden or read-only there, and with permissions: "
    "read the project is read-only too. Who runs the Coordinator can show a path with sandbox_read or sandbox_write in "
    "its file (docs/how-to/sandbox.md in Toryo's source)."
)
LOOKED_AT = 16_000
"""Characters at the end of an output."""
_READ_ONLY = re.compile(
    r"read-only file system|\bEROFS\b|\[Errno 30\]|os error 30\b|読み込み専用ファイルシステム", re.IGNORECASE
)
_MISSING = re.compile(
    r"no such file or directory|\bENOENT\b|directory nonexistent|os error 2\b|: not found$|"
    r"そのようなファイルやディレクトリはありません",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?<![\w.:/*-])/(?!(?:bin|dev|etc|lib\w*|opt|proc|sbin|usr)\b)[\w.~+-]|(?<![\w.])\.\./")
"""The beginning of an absolute path, but for the system's own, which every sandbox shows; or a path that leads up."""


def sign_lines(output: str, directory: Path | None) -> list[str]:
    """The line, if something was read-only, or a file outside of this directory was missing (None: that is no sign)."""
    return [MAYBE] if _READ_ONLY.search(output) or (directory and _missing(output, str(directory))) else []


def _missing(output: str, directory: str) -> bool:
    said = (line.replace(directory, ".") for line in output.splitlines() if _MISSING.search(line))
    return any(map(_PATH.search, said))
