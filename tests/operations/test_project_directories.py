"""A project whose directory is missing is refused where the server can see that; elsewhere a Coordinator finds out."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.stories import World

HERE = f"{socket.gethostname()}-1a2b3c"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "house").mkdir()
    return tmp_path


def test_one_that_does_not_exist_is_refused_with_what_to_do(world: World, place: Path) -> None:
    world.coordinator(HERE).claim()
    before = world.rows()
    missing = str(place / "huose")
    refused = world.owner.refused("create_project", "validationError", name="House", working_directory=missing)
    assert refused["message"] == f"The working directory {missing} does not exist."
    assert "Create the directory" in refused["instruction"]
    assert world.rows() == before
    made = world.owner.call("create_project", name="House", working_directory=str(place / "house"))
    refused = world.owner.refused(
        "edit_project", "validationError", project_id=made["project_id"], working_directory=missing
    )
    assert "does not exist" in refused["message"]


def test_a_file_is_no_directory(world: World, place: Path) -> None:
    world.coordinator(HERE).claim()
    (place / "notes.txt").touch()
    refused = world.owner.refused(
        "create_project", "validationError", name="Notes", working_directory=str(place / "notes.txt")
    )
    assert "is not a directory" in refused["message"]


@pytest.mark.parametrize("machines", [[], ["vm-1-1a2b3c"], [HERE, "vm-1-1a2b3c"]])
def test_one_that_may_be_on_another_machine_is_taken(world: World, place: Path, machines: list[str]) -> None:
    for each in machines:
        world.coordinator(each).claim()
    world.owner.call("create_project", name="House", working_directory=str(place / "elsewhere"))


def test_a_server_that_is_shown_nothing_of_the_homes_says_nothing_about_them(world: World, place: Path) -> None:
    """As a service with ProtectHome: the directory above is empty."""
    world.coordinator(HERE).claim()
    (place / "home").mkdir()
    world.owner.call("create_project", name="House", working_directory=str(place / "home" / "mika" / "house"))
