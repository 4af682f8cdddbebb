"""Where operations are declared: each module in the list of groups, and none needs another (what they share stands
below them)."""

from __future__ import annotations

import ast
from pathlib import Path

from toryo import operations
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.groups import GROUPS

ROOT = Path(operations.__file__).parent


def declaring() -> set[str]:
    return {operation.handler.__module__.removeprefix("toryo.operations.") for operation in catalogue().values()}


def imported(module: str) -> set[str]:
    """What a module of operations imports of the others."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toryo.operations."):
            package = (node.module or "").removeprefix("toryo.operations.")
            found |= {package, *(f"{package}.{name.name}" for name in node.names)}
    return found


def test_every_module_that_declares_operations_is_a_group_and_every_group_declares_some() -> None:
    others = {"sessions.deprecated_tools"}  # its operations are those of other groups
    assert declaring() - others == set(GROUPS) - others


def test_no_group_of_operations_imports_another() -> None:
    groups = declaring()
    assert {group: imported(group) & groups - {group} for group in groups if imported(group) & groups - {group}} == {}


def test_the_path_of_calls_knows_no_operation_by_its_name() -> None:
    """What is peculiar to one stands in its declaration."""
    texts = {
        path.stem: {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and str(node.value) in names
        }
        for names in [catalogue().keys()]
        for path in (ROOT / "calls").glob("*.py")
        for tree in [ast.parse(path.read_text(encoding="utf-8"))]
    }
    assert {module: found for module, found in texts.items() if found} == {}
