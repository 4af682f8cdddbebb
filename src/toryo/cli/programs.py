"""Which programs could run agents on this machine: those the Coordinator would start, and those it could be told of."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toryo.coordinator.config import Config

KNOWN = ("claude", "gemini", "codex", "opencode", "copilot", "qwen")
"""Programs that speak MCP and are often there."""

ANSWERS_WITHIN_SECONDS = 20


@dataclass(frozen=True)
class Program:
    """One provider, whether it can be started here, and what was seen."""

    name: str
    ok: bool
    what: str


def tried(config: Config) -> list[Program]:
    """Every provider of a configuration; each program is asked for its version."""
    from toryo.coordinator.providers import configured

    return [_tried(name, each.version) for name, each in sorted(configured(config.ai_providers).items())]


def on_path() -> list[str]:
    """The known programs that are there."""
    return [name for name in KNOWN if shutil.which(name)]


def _tried(name: str, version: tuple[str, ...] | None) -> Program:
    if version is None:
        return Program(name, True, "built in")
    try:
        answer = subprocess.run(
            version,
            capture_output=True,
            text=True,
            timeout=ANSWERS_WITHIN_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError:
        return Program(name, False, f"{version[0]} is not on PATH")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Program(name, False, f"{' '.join(version)}: {error}")
    said = (answer.stdout.strip() or answer.stderr.strip()).splitlines()
    return Program(name, answer.returncode == 0, said[0] if said else f"exit code {answer.returncode}")
