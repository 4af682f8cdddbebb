"""What a person's message has to say to approve a task, as the dashboard reads it, too
(web/src/views/chat/consent.test.ts); how long it does; and what it never approves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toryo.domain import consent

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("consent_cases.json").read_text())
SAID = "/approve\nPaint the door."


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_message_consents_by_a_first_line_that_is_the_marker_and_says_what_is_wanted(case: dict[str, Any]) -> None:
    assert consent.consents(case["message"]) is case["consents"]


def test_a_message_approves_for_an_hour_what_has_no_context() -> None:
    hour = consent.APPROVES_WITHIN
    assert consent.approves(SAID, hour, has_context=False)
    assert not consent.approves(SAID, hour + 1, has_context=False)
    assert not consent.approves(SAID, 0, has_context=True)
    assert not consent.approves("Paint the door.", 0, has_context=False)
