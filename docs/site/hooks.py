"""What MkDocs calls when it builds the site: pages are laid out first (stage.py), and the header names the version."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import stage
import versions


def on_config(config: Any) -> Any:
    """The header names the version that these pages describe."""
    config.site_name = f"Toryo {versions.current()}"
    return config


def on_pre_build(config: Any) -> None:
    stage.Stage(Path(config.docs_dir)).lay_out()
