"""The server: MCP, REST and waiting at the edge; `app.py` builds and runs everything."""

from __future__ import annotations

import sys


def _load_structlog_without_rich() -> None:
    """structlog imports rich where it is installed, to draw tracebacks. The server's log is JSON lines: it needs no
    rich, which takes as long to load as structlog itself.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment] # how Python is told that a module cannot be imported
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]


_load_structlog_without_rich()
