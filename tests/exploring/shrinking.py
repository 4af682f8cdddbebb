"""The shortest story of a fault, and the test that tells it.

A story is made shorter by delta debugging (Zeller: ddmin): parts of it are left out for as long as a fault of the same
kind is still found; then each of what is left happens as early as it still does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from tests.exploring.explorer import Explorer, NoStoryError, kind_of
from tests.exploring.memory import InMemory

Story = tuple[str, ...]
EARLIEST = 12
"""How many steps are tried for each disturbance, from the first on, before its own is kept."""


def shrunk(scene: str, story: Story, what: str, database: InMemory) -> Story:
    """The story of a fault (`what` was found) without what does not matter. The story itself if it is not found again:
    exploring knows a state by its classes of times, a retelling has the times themselves."""
    kind = kind_of(what)
    known: dict[Story, bool] = {}

    def fails(shorter: Story) -> bool:
        if shorter not in known:
            known[shorter] = _found(scene, shorter, kind, database)
        return known[shorter]

    if not fails(story):
        return story
    shorter = ddmin(story, fails)
    for number in range(len(shorter)):
        shorter = next(each for each in _earlier(shorter, number) if fails(each))
    return shorter


def ddmin(story: Story, fails: Callable[[Story], bool]) -> Story:
    """A part of a failing story that fails, and of which nothing can be left out. `fails(())` may be true."""
    if fails(()):
        return ()
    parts = 2
    while len(story) >= 2:
        size = -(-len(story) // parts)
        rests = [without(story, range(first, min(first + size, len(story)))) for first in range(0, len(story), size)]
        smaller = next((each for each in rests if fails(each)), None)
        if smaller is not None:
            story, parts = smaller, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(story))
    return story


def without(story: Story, gone: Sequence[int]) -> Story:
    """What is left happens at the step at which it happened: the steps before what is left out are added to it."""
    kept, waited = [], 0
    for number, each in enumerate(story):
        step, _, name = each.partition(": ")
        if number in gone:
            waited += int(step)
            continue
        kept.append(f"{int(step) + waited}: {name}")
        waited = 0
    return tuple(kept)


def _earlier(story: Story, number: int) -> Iterator[Story]:
    """The story with one disturbance at each earlier step, and last of all as it is."""
    step, _, name = story[number].partition(": ")
    for earlier in range(min(int(step), EARLIEST)):
        yield (*story[:number], f"{earlier}: {name}", *story[number + 1 :])
    yield story


def _found(scene: str, story: Story, kind: str, database: InMemory) -> bool:
    try:
        _, faults = Explorer(scene, database).told(*story)
    except NoStoryError:
        return False
    return any(kind_of(each) == kind for each in faults)


def as_test(scene: str, story: Story, what: str) -> str:
    """A test for tests/operations/test_histories.py, which imports `faults_of` from tests.exploring.explorer."""
    words = re.sub(r"[^a-z0-9]+", "_", " ".join(each.partition(": ")[2].lower() for each in story)).strip("_")
    name = f"test_{scene}_ends_well_although_{words}" if words else f"test_{scene}_ends_well"
    told = "".join(f"        {json.dumps(each, ensure_ascii=False)},\n" for each in (scene, *story))
    found = re.sub(r"\b(?:[a-z]{3})_\w{6,}", "…", what).replace('"', "'").replace("\\", "")
    return (
        f"def {name[:100].rstrip('_')}() -> None:\n"
        f'    """Found: {found[:90].rstrip()}."""\n'
        f"    faults = faults_of(\n{told}    )\n"
        "    assert faults == []\n"
    )
