"""Where the data directory is, when nobody says otherwise. Light: every command asks, and few need the settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_dir(given: Path | str | None = None) -> Path:
    """`given`, else `TORYO_DATA_DIR`, else `.toryo/` here if it exists, else the user's own data directory."""
    chosen = given or os.environ.get("TORYO_DATA_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    here = Path(".toryo").absolute()
    return here if here.is_dir() else _user_data_dir()


def _user_data_dir() -> Path:
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "toryo"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "toryo"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "toryo"
