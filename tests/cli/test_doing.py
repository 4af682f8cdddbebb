"""What an agent does now, as `toryo sessions` says it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from toryo.cli.sessions import doing


def told_ago(seconds: float, **more: Any) -> dict[str, Any]:
    since = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
    return {"kind": "called", "tool": "Bash", "text": "pytest -q", "since": since, **more}


@pytest.mark.parametrize(
    ("seconds", "more", "shown"),
    [
        (12.2, {}, "→ Bash pytest -q · 12 s"),
        (600, {"kind": "failed"}, "✗ Bash pytest -q · silent for 10 min"),
        (20, {"kind": "said", "tool": None, "text": "I look."}, "I look. · 20 s"),
    ],
)
def test_it_is_a_call_or_words_with_their_age_and_a_long_silence_is_said(
    seconds: float, more: dict[str, Any], shown: str
) -> None:
    """The age may have grown while this runs."""
    words, _, age = (doing(told_ago(seconds, **more)) or "").rpartition("·")
    expected, _, wanted = shown.rpartition("·")
    assert words == expected
    assert age.startswith(" silent for") == wanted.startswith(" silent for")


def test_of_an_agent_of_which_nothing_is_told_nothing_is_said() -> None:
    assert not doing(None)
