"""Addresses of resources: each kind leads to its operation, whatever its id is made of; nothing else leads anywhere."""

from __future__ import annotations

import pytest

from toryo.operations.calls.catalogue import catalogue
from toryo.server.resource_uris import KINDS, reading


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("of", ["tsk_1", "a/b", "漢字", "a b?c#d", "%2F"])
def test_an_address_leads_to_the_operation_that_reads_it(kind, of: str) -> None:
    found = reading(kind.uri(of))
    assert found is not None
    assert (found.operation, found.arguments) == (kind.operation, {kind.parameter: of})


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_the_operation_exists_reads_waits_and_takes_the_id(kind) -> None:
    operation = catalogue()[kind.operation]
    assert operation.reads
    assert operation.waits
    assert not operation.tool
    assert {kind.parameter, "seen", "wait_seconds"} == set(operation.parameters.model_fields)


@pytest.mark.parametrize(
    "uri", ["", "toryo://task/", "toryo://task/a/b", "toryo://project/a", "https://task/a", "toryo://agent//inbox", "x"]
)
def test_anything_else_leads_nowhere(uri: str) -> None:
    assert reading(uri) is None
