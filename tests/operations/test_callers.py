"""Who calls, as far as it can be said without looking into the database."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.operations.calls.callers import NOTHING_SHOWN, Credentials


@pytest.mark.parametrize("shown", ["bearer", "session_token", "cookie"])
def test_whoever_shows_anything_that_could_prove_something_is_not_anonymous(shown: str) -> None:
    given: dict[str, Any] = {shown: "x"}
    assert not Credentials(**given).anonymous
    empty: dict[str, Any] = {shown: ""}
    assert Credentials(**empty).anonymous


def test_an_address_and_a_program_prove_nothing() -> None:
    assert NOTHING_SHOWN.anonymous
    assert Credentials(remote="192.0.2.1", browser="curl", correlation_id="x", idempotency_key="y").anonymous
