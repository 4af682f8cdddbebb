"""The recorded streams: there for every program and case, and with nothing in them of the machine they were made on."""

from __future__ import annotations

import json
import re

import pytest

from tests.clis.programs import PROGRAMS
from tests.clis.recording import CASES, STREAMS, neutral

pytestmark = pytest.mark.deep

_PERSONAL = re.compile(
    r"(?<!/srv)(?<!/\$bunfs)/(?:home|root|Users|tmp)/|127\.0\.0\.1:(?!8080)\d|[0-9a-f]{8}-[0-9a-f]{4}-(?!4000-8000)"
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_case_of_a_program_is_recorded_with_how_it_ended(name: str) -> None:
    ends = json.loads((STREAMS / name / "exits.json").read_text())
    assert set(ends) == set(CASES)
    assert ends["success"] == 0
    assert ends["401"] != 0
    for case in CASES:
        lines = (STREAMS / name / f"{case}.jsonl").read_text().splitlines()
        assert all(isinstance(json.loads(line), dict) for line in lines)


def test_nothing_of_a_machine_or_a_moment_is_recorded() -> None:
    files = [path for path in STREAMS.rglob("*") if path.is_file()]
    assert files
    assert {str(path): found[0] for path in files if (found := _PERSONAL.search(path.read_text()))} == {}


def test_the_same_id_is_the_same_word_wherever_it_stands() -> None:
    first, second = "0198f0c1-aaaa-7bbb-8ccc-0123456789ab", "0198f0c1-aaaa-7bbb-8ccc-0123456789ac"
    told = neutral(f"{first} {second} {first} /srv/x/home at 127.0.0.1:39217, 2026-11-22T06:20:22.123Z", "/srv/x")
    one, two, again, *rest = told.split()
    assert one == again != two
    assert " ".join(rest) == "/srv/home at 127.0.0.1:8080, 2027-01-15T08:00:00.000Z"
