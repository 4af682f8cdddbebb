"""When output is followed by the line that it came from a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from toryo import sandbox_signs
from toryo.agents import env_vars, shell

PROJECT = Path("/home/棚 の上/shop")

READ_ONLY = (
    "sh: 1: cannot create /usr/made: Read-only file system",
    "OSError: [Errno 30] Read-only file system: '/usr/made'",
    "Error: EROFS: read-only file system, open '/usr/made'",
    "touch: '/usr/made' に touch できません: 読み込み専用ファイルシステムです",
)
HIDDEN = (
    "cat: /home/me/prices: No such file or directory",
    "sh: 1: cannot create /srv/made/it: Directory nonexistent",
    "sh: 1: cannot create ../other/made: Directory nonexistent",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/prices'",
    "Error: ENOENT: no such file or directory, open '/tmp/prices'",
    "sh: 1: /home/me/bin/tool: not found",
    "cat: /home/me/値段: そのようなファイルやディレクトリはありません",
)
OF_ITS_OWN = (
    "",
    "all is well in /home/me",
    "cat: prices: No such file or directory",
    "cat: deep/prices: No such file or directory",
    "cat: prices../a: No such file or directory",
    f"cat: {PROJECT}/prices: No such file or directory",
    "cat: /usr/share/prices: No such file or directory",
    "sh: 1: pytest: not found",
    "https://example.org/prices: not found",
)


@pytest.mark.parametrize("output", READ_ONLY)
def test_what_is_read_only_is_a_sign_in_every_output(output: str) -> None:
    assert sandbox_signs.sign_lines(f"a\n{output}\nb\n", PROJECT) == [sandbox_signs.MAYBE]
    assert sandbox_signs.sign_lines(output, None) == [sandbox_signs.MAYBE]


@pytest.mark.parametrize("output", HIDDEN)
def test_a_missing_file_outside_of_the_tasks_directory_is_a_sign_where_programs_print_plainly(output: str) -> None:
    assert sandbox_signs.sign_lines(f"a\n{output}\nb\n", PROJECT) == [sandbox_signs.MAYBE]
    assert sandbox_signs.sign_lines(output, None) == []


@pytest.mark.parametrize("output", OF_ITS_OWN)
def test_everything_else_is_none(output: str) -> None:
    assert sandbox_signs.sign_lines(output, PROJECT) == []


@pytest.mark.parametrize(
    ("command", "environ", "told"),
    [
        ("echo Read-only file system; exit 1", {env_vars.SANDBOXED: "1"}, True),
        ("echo Read-only file system; exit 1", {}, False),
        ("echo Read-only file system", {env_vars.SANDBOXED: "1"}, False),
        ("echo no wood; exit 1", {env_vars.SANDBOXED: "1"}, False),
    ],
)
def test_the_report_of_a_command_that_failed_in_a_sandbox_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, environ: dict[str, str], told: bool
) -> None:
    monkeypatch.delenv(env_vars.SANDBOXED, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    reported = shell.run(command, tmp_path, {"PATH": "/usr/bin:/bin"}).words()
    assert (reported.splitlines()[-1] == sandbox_signs.MAYBE) is told, reported
