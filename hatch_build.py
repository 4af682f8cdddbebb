"""Building a wheel: one without the dashboard is refused, because nobody would notice before they open it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = "src/toryo/server/static/index.html"
WITHOUT = "TORYO_BUILD_WITHOUT_DASHBOARD"


class DashboardHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatch passes it
        """Raises RuntimeError for a wheel that lacks the dashboard; an editable install is a checkout, `make web` adds
        it there. With TORYO_BUILD_WITHOUT_DASHBOARD=1 (a server for agents and REST only) it is built all the same."""
        if version == "editable" or os.environ.get(WITHOUT) == "1" or Path(self.root, PAGES).is_file():
            return
        message = f"The dashboard is not built. Run `make web` first, or set {WITHOUT}=1 to build without it."
        raise RuntimeError(message)
