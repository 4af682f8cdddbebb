"""The environment that tests start programs in."""

import os
import sys
from pathlib import Path

import toryo

PACKAGES = Path(toryo.__file__).resolve().parents[1]
"""Where the Toryo under test lies, which may be a copy: a sandbox shows no other."""


def clean_environment(home: Path | None = None) -> dict[str, str]:
    """No variable of the machine's that speaks of Toryo, of pytest or of homes decides what a test sees: agents'
    programs run in the sandbox that people get, where the machine can make one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORYO_", "XDG_", "PYTEST"))}
    kept |= {"NO_COLOR": "1", "COLUMNS": "100"}
    return kept if home is None else {**kept, "HOME": str(home)}


BECOMES_PYTHON = f"#!/bin/sh\n''':'\nexec \"{sys.executable}\" \"$0\" \"$@\"\n'''\n"
"""How a program in Python begins wherever its interpreter is: after `#!` no path may have a space."""
