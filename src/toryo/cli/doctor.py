"""`toryo doctor`: what is there, what is missing, and what to do about it; one finding per line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import typer

import toryo
from toryo.cli import output
from toryo.cli.failures import FAILED, of
from toryo.cli.here import Here, command

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """`needed`: without it nothing works; what is not needed is only said."""

    name: str
    ok: bool
    what: str
    instruction: str = ""
    needed: bool = True


def add(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)


def doctor(here: Here) -> None:
    """What is there, what is missing, and what to do about it."""
    findings = [*_of_machine(here), *_of_server(here), *_of_providers()]
    ok = all(each.ok for each in findings if each.needed)
    document: dict[str, Any] = {"success": ok, "findings": [asdict(each) for each in findings]}
    here.answer(document, lambda: _print(findings))
    if not ok:
        raise typer.Exit(FAILED)


def _of_machine(here: Here) -> Iterator[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    good = sys.version_info >= OLDEST_PYTHON
    yield Finding("python", good, version, "" if good else "Toryo needs Python 3.11 or newer.")
    yield Finding("toryo", True, toryo.__version__)
    yield _data_directory(here)


def _data_directory(here: Here) -> Finding:
    from toryo.directories import data_dir

    place = data_dir(here.data_dir)
    nearest = next(each for each in (place, *place.parents) if each.exists())
    if nearest == place and not place.is_dir():
        return Finding("data directory", False, f"{place} is a file", "Name a directory with --data-dir.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("data directory", False, f"{nearest} cannot be written", "Name another one with --data-dir.")
    return Finding("data directory", True, f"{place}" + ("" if nearest == place else " (made when first needed)"))


def _of_server(here: Here) -> Iterator[Finding]:
    try:
        status = here.get("/status")
    except Exception as error:
        failure = of(error)
        if failure is None:
            raise
        yield Finding("server", False, failure.what, failure.instruction)
        return
    yield from _of_status(here.client.address, status)


def _of_status(address: object, status: dict[str, Any]) -> Iterator[Finding]:
    same = status["version"] == toryo.__version__
    yield Finding(
        "server",
        True,
        f"{address}, version {status['version']}",
        "" if same else f"This command is version {toryo.__version__}: use the same on both sides.",
    )
    yield Finding("database", True, str(status["database"]))
    coordinators = status.get("coordinators", [])
    yield Finding(
        "coordinators",
        bool(coordinators),
        ", ".join(_coordinator(each) for each in coordinators) or "none has called lately",
        "" if coordinators else "Agents are started by one: toryo coordinator (or toryo up, which brings one).",
        needed=False,
    )


def _coordinator(each: Any) -> str:
    return str(each.get("coordinator_id", each)) if isinstance(each, dict) else str(each)


def _of_providers() -> Iterator[Finding]:
    from toryo.cli import programs
    from toryo.coordinator.config import Config

    for each in programs.tried(Config()):
        yield Finding(f"provider {each.name}", each.ok, each.what)
    found = programs.on_path()
    yield Finding(
        "programs on PATH",
        bool(found),
        ", ".join(found) or f"none of {', '.join(programs.KNOWN)}",
        "Name one in a coordinator_config.yaml: docs/how-to.md, Give an agent a model." if found else "",
        needed=False,
    )


def _print(findings: list[Finding]) -> None:
    for each in findings:
        mark = "ok" if each.ok else ("missing" if each.needed else "-")
        output.done(f"{mark:<8} {each.name:<18} {each.what}")
        if each.instruction:
            output.done(f"{'':<27} → {each.instruction}")
