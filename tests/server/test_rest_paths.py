"""Which endpoint a path of REST names."""

from __future__ import annotations

import pytest

from toryo.server.rest_paths import Paths

KNOWN = ("/tasks", "/tasks/{task_id}", "/tasks/mine", "/tasks/{task_id}/move", "/{kind}/{id}/move", "/a/{b}/c/{d}")


@pytest.fixture
def paths() -> Paths[str]:
    found = Paths[str]()
    for path in KNOWN:
        found.add(path, path)
    return found


@pytest.mark.parametrize(
    ("asked", "found", "parameters"),
    [
        ("/tasks", "/tasks", {}),
        ("/tasks/7", "/tasks/{task_id}", {"task_id": "7"}),
        ("/tasks/mine", "/tasks/mine", {}),
        ("/tasks/7/move", "/tasks/{task_id}/move", {"task_id": "7"}),
        ("/agents/7/move", "/{kind}/{id}/move", {"kind": "agents", "id": "7"}),
        ("/a/1/c/%2F", "/a/{b}/c/{d}", {"b": "1", "d": "%2F"}),
    ],
)
def test_the_path_with_the_fewest_parameters_is_found(
    paths: Paths[str], asked: str, found: str, parameters: dict[str, str]
) -> None:
    assert paths.find(asked) == (found, parameters)


@pytest.mark.parametrize("asked", ["", "/", "tasks", "/tasks/", "/tasks//move", "/tasks/7/moves", "/tasks/7/move/8"])
def test_nothing_else_is_found(paths: Paths[str], asked: str) -> None:
    assert paths.find(asked) is None
