"""What a start loads: a server and a command are ready soon because they load only what they need then."""

from __future__ import annotations

import subprocess
import sys

import pytest

SERVER = "import toryo.server.app\nfrom toryo.operations.calls.catalogue import catalogue\ncatalogue()\n"
HELP = """
import sys
import toryo.__main__ as entry
sys.argv = ['toryo', '--help']
try: entry.main()
except SystemExit: pass
"""
LATER = {
    SERVER: (
        *(
            "mcp",
            "mcp_types",
            "httpx",
            "psycopg",
            "redis",
            "smtplib",
            "cryptography",
            "opentelemetry",
        ),
        *("toryo.server.mcp_sdk", "toryo.server.oidc", "toryo.server.metrics", "toryo.server.telemetry"),
        *("toryo.housekeeping.mail", "toryo.housekeeping.webhook", "toryo.formats", "yaml", "toryo.cli", "typer"),
        *("toryo.storage.backup", "toryo.storage.upgrade_backups", "toryo.bus.remote"),
    ),
    HELP: (
        *("pydantic", "sqlalchemy", "structlog", "mcp", "httpx", "yaml", "rich", "asyncio", "starlette", "uvicorn"),
        *("toryo.server", "toryo.operations", "toryo.storage", "toryo.coordinator", "toryo.client", "toryo.settings"),
    ),
}


def loaded(code: str) -> set[str]:
    shown = "\nprint('loaded:', *sys.modules)"
    command = [sys.executable, "-c", f"{code}\nimport sys{shown}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return set(done.stdout.rpartition("loaded: ")[2].split())


@pytest.mark.deep
@pytest.mark.parametrize("code", LATER, ids=["server", "help"])
def test_what_is_needed_later_is_loaded_later(code: str) -> None:
    found = loaded(code)
    assert found & set(LATER[code]) == set()


@pytest.mark.deep
def test_what_validates_parameters_is_built_once_the_server_answers() -> None:
    code = SERVER + (
        "from toryo.operations.calls import catalogue as module\n"
        "def built(): return [each.parameters.__pydantic_complete__ for each in catalogue().values()]\n"
        "assert not all(built())\n"
        "module.complete()\n"
        "assert all(built())\n"
    )
    assert "toryo.operations.calls.catalogue" in loaded(code)
