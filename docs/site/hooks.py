"""What MkDocs calls when it builds the site: pages are laid out first (stage.py), and the header names the version."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import stage


def on_config(config: Any) -> Any:
    """The header names the version that these pages describe."""
    source = (stage.ROOT / "src" / "toryo" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
    assert found is not None
    config.site_name = f"Toryo {found[1]}"
    return config


def on_pre_build(config: Any) -> None:
    stage.Stage(Path(config.docs_dir)).lay_out()
