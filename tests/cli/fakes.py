"""A machine for tests of `toryo init` and `toryo doctor`: an empty home, and a PATH with fake agent programs."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.conftest import Toryo
from tests.environments import BECOMES_PYTHON, PACKAGES, clean_environment

TOOLS = ("sh", "env", "git", "ls")
"""Of the real machine, and nothing else: it may have real agent programs."""
LOGINS = {
    "claude": ((0, '{"loggedIn": true, "authMethod": "claude.ai"}'), (1, '{"loggedIn": false, "authMethod": "none"}')),
    "codex": ((0, "Logged in using ChatGPT\n"), (1, "Not logged in\n")),
}
"""How those that are asked say that they are logged in, and that they are not."""
FAKE = Path(__file__).with_name("fake_agent.py")
SAYS = {"claude": "{} (Claude Code)\n", "codex": "codex-cli {}\n"}


@dataclass(frozen=True)
class Machine:
    """`folder` has the home, the programs, the temporary directory and the project's `place`."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (self.home, self.bin, self.temporary, self.place):
            path.mkdir(parents=True)
        for name in TOOLS:
            found = shutil.which(name)
            if found:
                (self.bin / name).symlink_to(found)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def place(self) -> Path:
        return self.folder / "bakery"

    def install(
        self, name: str, *, says: tuple[int, str] | None = None, logged_in: bool = True, **otherwise: Any
    ) -> Path:
        """A program that works; or it `says` another version, or does `otherwise` as `fake_agent.main` has it."""
        login = LOGINS.get(name, ((0, ""), (0, "")))[0 if logged_in else 1]
        version = says or (0, SAYS.get(name, "{}\n").format("99.0.0"))
        plan = {"version": version, "login": login, "hangs": False, **otherwise}
        # What it is made of lies beside it, as an installation does: its sandbox shows no tests of Toryo's.
        (self.bin / "fake_agent.py").write_bytes(FAKE.read_bytes())
        text = f"{BECOMES_PYTHON}import json, sys\nsys.path.append({str(PACKAGES)!r})\n"
        text += f"from fake_agent import main\nsys.exit(main(json.loads({json.dumps(plan)!r})))\n"
        return self.put(name, text)

    def put(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    @property
    def environment(self) -> dict[str, str]:
        """No key of the real machine's is in it."""
        kept = {
            name: each for name, each in clean_environment(self.home).items() if not name.endswith(("_KEY", "_TOKEN"))
        }
        return {**kept, "PATH": str(self.bin), "TMPDIR": str(self.temporary), **self.variables}

    @property
    def toryo(self) -> Toryo:
        """Typed in the project's place."""
        return Toryo(self.place, self.environment)

    def left(self) -> list[str]:
        """What is in the home and among the temporary files, but for the servers' data."""
        own = self.home / ".local" / "share" / "toryo"
        # os.walk goes on where a launch's own directory is removed meanwhile
        walked = [each for folder in (self.home, self.temporary) for each in os.walk(folder)]
        found = [Path(at, name) for at, folders, files in walked for name in (*folders, *files)]
        return [str(path) for path in found if not (path.is_relative_to(own) or own.is_relative_to(path))]
