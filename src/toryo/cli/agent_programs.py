"""Detects the agent programs on this machine and whether they are ready: installed, of a known version, logged in.

Uses no tokens and sends nothing: each program is asked for its version, and its provider knows how to detect a login.
All are asked in parallel with a timeout. Used by `init`, `doctor` and `coordinator check`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toryo.cli import output

if TYPE_CHECKING:
    from toryo.coordinator.provider import Provider

KNOWN = ("claude", "codex", "gemini", "qwen", "opencode", "copilot")
"""Programs of models that Toryo can start, in the order in which they are offered."""

LONGEST = 100
NODE = "Install Node.js 20 or newer; then: "


@dataclass(frozen=True)
class Program:
    """One provider and the state of its program. `ok`: it can be started; `instruction`: what to do."""

    name: str
    ok: bool
    what: str
    instruction: str = ""
    installed: bool = True
    version: str | None = None
    logged_in: bool | None = None
    """None: it cannot be told without asking the model's service."""

    @property
    def ready(self) -> bool:
        return self.ok and self.logged_in is True

    def document(self) -> dict[str, Any]:
        return asdict(self)


def model_programs(environ: Mapping[str, str]) -> list[Program]:
    """The programs of models, each looked for on the PATH."""
    from toryo.coordinator.providers import BUILT_IN

    return programs_of((BUILT_IN[name] for name in KNOWN), environ)


def programs_of(providers: Iterable[Provider], environ: Mapping[str, str]) -> list[Program]:
    """Each provider's program, in the environment that an agent would have; asked all at once."""
    every = list(providers)
    with ThreadPoolExecutor(max_workers=max(1, len(every))) as several:
        return list(several.map(lambda each: _seen(each, _agents_own(each, environ)), every))


def _agents_own(provider: Provider, environ: Mapping[str, str]) -> dict[str, str]:
    from toryo.coordinator.environment import allowed_variables

    return {**allowed_variables(environ, provider.env), **provider.settings}


def _seen(provider: Provider, environ: Mapping[str, str]) -> Program:
    if provider.version is None:
        return Program(provider.name, True, "built in")
    path = shutil.which(provider.version[0], path=environ.get("PATH"))
    if path is None:
        return _not_there(provider, environ)
    found = _answering(provider, provider.version, path, environ)
    return _with_login(provider, found, _first(path, environ)) if found.ok else found


def _first(path: str, environ: Mapping[str, str]) -> dict[str, str]:
    """So that this very program is asked for its login, wherever the configuration has it."""
    return {**environ, "PATH": os.pathsep.join((str(Path(path).parent), environ.get("PATH", "")))}


def _not_there(provider: Provider, environ: Mapping[str, str]) -> Program:
    program = provider.version[0] if provider.version else provider.name
    by_npm = provider.install.startswith("npm ") and not shutil.which("npm", path=environ.get("PATH"))
    what = f"not installed: {program} is not on PATH"
    instruction = (
        NODE if by_npm else ""
    ) + provider.install or f"Install it, or correct cli_command of {provider.name}."
    return Program(provider.name, False, what, instruction, installed=False)


def _answering(provider: Provider, words: tuple[str, ...], path: str, environ: Mapping[str, str]) -> Program:
    """Whether it starts at all, and which version it says it is."""
    from toryo.coordinator import program_probe

    again = f"Run it by hand to see why: {' '.join(words)}" + (
        f"; reinstall it: {provider.install}" if provider.install else ""
    )
    try:
        answer = program_probe.ask(words, environ)
    except OSError as error:
        return Program(provider.name, False, f"{path} cannot be started: {error.strerror}", again)
    if answer.exit_code == 0:
        return _of_version(provider, answer.out or answer.err, environ)
    if _is_for_node(Path(path)) and not shutil.which("node", path=environ.get("PATH")):
        return Program(provider.name, False, "it needs Node.js, but node is not on PATH", f"{NODE}{' '.join(words)}")
    how = f"does not answer within {output.duration(program_probe.WITHIN)}"
    if answer.exit_code is not None:
        how = f"ends with exit code {answer.exit_code}: {_plain(answer.said)}".removesuffix(": ")
    return Program(provider.name, False, f"{' '.join(words)} {how}", again)


def _of_version(provider: Provider, said: str, environ: Mapping[str, str]) -> Program:
    line = _plain(next((each for each in said.splitlines() if each.strip()), "prints nothing"))
    if not provider.tried:
        return Program(provider.name, True, line)
    found = re.search(r"\d+(?:\.\d+)+", said)
    if found is None:
        instruction = f"Tested with {provider.tried}. To reinstall it: {provider.install}"
        return Program(provider.name, True, f"unknown version ({line})", instruction)
    version = found[0]
    if _numbers(version) < _numbers(provider.tried):
        instruction = f"Tested with {provider.tried}. If it fails, {_newer(provider, environ)}"
        return Program(provider.name, True, f"{version}, older than the tested version", instruction, version=version)
    return Program(provider.name, True, version, version=version)


def _newer(provider: Provider, environ: Mapping[str, str]) -> str:
    """How to get a newer version. npm installs the newest one that runs on the Node.js that is there."""
    from toryo.coordinator import program_probe

    if provider.install.startswith("npm ") and shutil.which("node", path=environ.get("PATH")):
        with contextlib.suppress(OSError):
            node = program_probe.ask(("node", "--version"), environ).said
            if re.fullmatch(r"v\d+(?:\.\d+)*", node):
                return f"install it again, first a newer Node.js (this is {node[1:]}): {provider.install}"
    return f"reinstall it: {provider.install}"


def _with_login(provider: Provider, found: Program, environ: Mapping[str, str]) -> Program:
    if provider.login is None:
        return found
    login = provider.login(environ)
    how = {True: "logged in", False: "not logged in", None: "login status unknown"}[login.ok]
    told = f"{found.what}, {how}" + (f" ({_plain(login.what)})" if login.what not in ("", "none") else "")
    instructions = [found.instruction, "" if login.ok else provider.log_in]
    return replace(found, what=told, logged_in=login.ok, instruction=" ".join(each for each in instructions if each))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _is_for_node(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"node" in first


def _plain(text: str) -> str:
    """What a program said, harmless to a terminal and short."""
    words = "".join(each if each.isprintable() else " " for each in text).split()
    return " ".join(words)[:LONGEST]
