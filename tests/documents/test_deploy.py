"""The files in `deploy/` start what exists, with settings that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import pages
from tests.documents.test_pages import wrong
from toryo.settings import AuthSettings, Settings

DEPLOY = pages.ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def _settings() -> set[str]:
    """The environment variables that are settings of the server."""
    named: dict[str, Any] = {"database": "TORYO_DATABASE_URL", "redis": "TORYO_REDIS_URL"}
    own = {named.get(name, f"TORYO_{name.upper()}") for name in Settings.model_fields}
    return own | {f"TORYO_AUTH__{name.upper()}" for name in AuthSettings.model_fields}


@pytest.mark.parametrize("unit", UNITS, ids=lambda each: each.name)
def test_what_a_unit_starts_exists_with_its_options(unit: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    program, *words = shlex.split(line)
    assert Path(program).name == "toryo"
    assert wrong(shlex.join(["toryo", *words])) is None


def test_the_settings_that_servers_share_exist() -> None:
    names = re.findall(r"^(\w+)=", (DEPLOY / "toryo.env").read_text(), re.MULTILINE)
    assert names
    assert set(names) <= _settings()


def test_the_containers_start_servers_with_settings_that_exist_behind_one_address() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    servers = {name: service for name, service in services.items() if "build" in service}
    for server in servers.values():
        assert set(server["environment"]) <= _settings()
        assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    upstream = set(re.findall(r"server ([\w-]+):8765", (DEPLOY / "nginx.conf").read_text()))
    assert upstream == set(servers)
    names = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["server-1"]["environment"]
    assert all(f"{each}:8765" in names["TORYO_ALLOWED_HOSTS"] for each in upstream)


def test_the_image_starts_a_server() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    (command,) = re.findall(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE)
    assert wrong(shlex.join(["toryo", *yaml.safe_load(command)])) is None
