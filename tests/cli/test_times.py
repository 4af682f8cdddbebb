"""How times are written for people: one way for an instant, in the time of this place, and one for a duration."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from toryo.cli import main, needs, output
from toryo.cli.exit_codes import Failure
from toryo.cli.why import why_lines


@pytest.fixture(autouse=True)
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_an_instant_has_its_day_and_the_time_of_this_place() -> None:
    assert output.clock("2026-11-23T05:03:07.250Z") == "2026-11-23 14:03"
    assert output.clock("2026-11-23T15:00:00.000Z") == "2026-11-24 00:00"
    assert output.clock(None) == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (120, "2 min"),
        (125, "2 min 5 s"),
        (300, "5 min"),
        (3600, "1 h"),
        (12_034, "3 h 20 min"),
        (90_061, "1 d 1 h"),
        (86_400 + 61, "1 d"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, words: str) -> None:
    assert output.duration(seconds) == words


def test_what_the_server_says_has_its_instants_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    said, local = "Until 2026-11-23T15:00:00.000Z, or sooner.", "Until 2026-11-24 00:00, or sooner."
    assert output.in_local_time(said) == local
    need = {"since": "2026-11-23T05:03:07.250Z", "title": "Wait", "text": said}
    assert needs.need_lines(need) == ["2026-11-23 14:03  Wait", f"  {local}"]
    decision = {"project_id": "p", "purpose": "chat", "action": "hold", "reason": "r", "facts": {}}
    decision["explanation"] = said
    assert why_lines({"agent_id": "a", "decisions": [decision]})[1:] == [f"  {local}"]
    main._explain(Failure(said), as_json=False)
    assert local in capsys.readouterr().err


OWN_WAY = re.compile(r"%H|strftime|[.]\df\} ?s\b|SECONDS[^{}]*\} s\b|\} (minutes|seconds)\b")


def test_no_command_writes_a_time_in_a_way_of_its_own() -> None:
    """But for the seconds that run in the demo's picture, and what a queue's command hands in to the server."""
    for file in sorted(Path(output.__file__).parent.glob("*.py")):
        if file.name not in ("output.py", "task_command.py"):
            assert not OWN_WAY.search(file.read_text()), file
