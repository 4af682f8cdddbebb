"""Every answer of a server that a test runs in its own process is what its operation declares, and nothing else.

Answers of dispatchers without a server are held to that by `World.perform` (tests/stories.py).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

_broken: list[str] = []


@pytest.fixture(scope="session", autouse=True)
def served_answers() -> Iterator[None]:
    from toryo.server.long_polling import Waiting  # every way into a server comes by here

    original = Waiting.answer

    async def answer(waiting: Waiting, name: str, *given: Any, **more: Any) -> Any:
        outcome = await original(waiting, name, *given, **more)
        _hold(name, outcome)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Waiting, "answer", answer)
        yield


def _hold(name: str, outcome: Any) -> None:
    """Raises nothing: the server would answer that it has failed, which some tests do not read."""
    from tests.stories import hold_to_promise

    if outcome.operation is None or not outcome.operation.handler.__module__.startswith("toryo."):
        return  # answered by the test itself
    try:
        hold_to_promise(name, outcome)
    except AssertionError as broken:
        _broken.append(str(broken))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    yield
    if _broken:
        told = "\n".join(_broken)
        _broken.clear()
        pytest.fail(f"A server answered what it does not declare:\n{told}", pytrace=False)
