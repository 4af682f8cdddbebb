"""The six real agent programs against the scripted endpoint and a real Toryo server: a task done, a session resumed,
a model that refuses. What this shows of the endpoint alone, without any program, is in `test_apis.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clis.driving import Driver, Run, session_of
from tests.clis.endpoint import Endpoint
from tests.clis.office import Office
from tests.clis.policies import GOODBYE, AtFirst, NeverReports, ObedientModel, writes
from tests.clis.presets import TOKENS
from tests.clis.turns import Fault, Say, Turn
from toryo.first_prompt import first_words

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, func_only=True)]

ASKS = "Which word was it?"


def test_a_program_does_its_task_and_reports_it_and_its_session_is_resumed_with_a_new_prompt(
    name: str, office: Office, tmp_path: Path
) -> None:
    made = tmp_path / "work" / "hello.txt"
    task = office.worker("w1", name)
    order = office.order()
    works = ObedientModel(writes(made, "hello"), summary="said hello")
    with Endpoint(lambda turn: _remembers(turn) if ASKS in turn.prompt else works(turn)) as endpoint:
        driver = Driver(name, endpoint, tmp_path)
        run = driver.run(f"{first_words('w1')}\nThe word is crane.", server=office.url, credential=order.credential)
        told, used = _tokens_told(name, run, tmp_path / "files"), endpoint.usage
        office.ended(order, 0)
        office.file("w1", "Once more")
        next_order = office.order()
        again = driver.run(ASKS, server=office.url, credential=next_order.credential, session=session_of(name, run))
    assert run.exit_code == 0, run.errors
    assert made.read_text() == "hello"
    assert (office.task(task)["status"], office.task(task)["summary"]) == ("completed", "said hello")
    assert GOODBYE in run.output
    assert told == (used.input, used.output)
    _kept_to_itself(endpoint)
    written = "".join(path.read_text() for path in _files(tmp_path / "work", tmp_path / "files"))
    assert [each for each in (order, next_order) if each.credential in written] == []
    assert "It was crane." in again.output, again.errors
    assert session_of(name, again) == session_of(name, run)


@pytest.mark.parametrize("name", ["claude", "gemini", "codex"], indirect=True)
def test_a_program_that_is_told_to_come_later_does_and_goes_on(name: str, office: Office, tmp_path: Path) -> None:
    task = office.worker("w1", name)
    mind = AtFirst(Fault(429, retry_after=1), ObedientModel())
    with Endpoint(mind) as endpoint:
        run = _started(Driver(name, endpoint, tmp_path), office)
    assert run.exit_code == 0, run.errors
    assert office.task(task)["status"] == "completed"
    if name == "claude":
        told = [event for event in run.events if event.get("subtype") == "api_retry"]
        assert [each["error_status"] for each in told] == [429]


@pytest.mark.parametrize("name", ["claude", "codex"], indirect=True)
def test_a_program_that_never_reports_ends_well_and_its_task_is_still_open(
    name: str, office: Office, tmp_path: Path
) -> None:
    """Why an exit code proves nothing about the work."""
    made = tmp_path / "work" / "hello.txt"
    task = office.worker("w1", name)
    with Endpoint(NeverReports(writes(made, "hello"))) as endpoint:
        run = _started(Driver(name, endpoint, tmp_path), office)
    assert (run.exit_code, made.read_text()) == (0, "hello")
    assert office.task(task)["status"] == "in_progress"


@pytest.mark.parametrize(("name", "exit_code"), [("claude", 1), ("gemini", 429 % 256), ("codex", 1)], indirect=["name"])
def test_a_program_that_is_told_so_for_ever_gives_up_and_says_why(
    name: str, exit_code: int, office: Office, tmp_path: Path
) -> None:
    task = office.worker("w1", name)
    with Endpoint(lambda turn: Fault(429, retry_after=1)) as endpoint:
        run = _started(Driver(name, endpoint, tmp_path), office)
    assert run.exit_code == exit_code
    assert _refused(name, run.events[-1]), run.events[-1]
    assert office.task(task)["status"] == "in_progress"


def _tokens_told(name: str, run: Run, files: Path) -> tuple[int, int]:
    """Input and output, as the program itself says them."""
    if name == "copilot":
        spans = [json.loads(line) for line in (files / TOKENS).read_text().splitlines()]
        told = next(span["attributes"] for span in spans if span["name"] == "invoke_agent")
        return told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]
    if name == "opencode":
        steps = [event["part"]["tokens"] for event in run.events if event["type"] == "step_finish"]
        return sum(step["input"] for step in steps), sum(step["output"] for step in steps)
    last = run.events[-1]["stats" if name == "gemini" else "usage"]
    return last["input_tokens"], last["output_tokens"]


def _refused(name: str, last: dict[str, Any]) -> bool:
    """What its last line says about a refusal."""
    if name == "claude":
        return bool(last["is_error"]) and last["api_error_status"] == 429
    if name == "gemini":
        return bool(last["status"] == "error")
    return last["type"] == "turn.failed" and "429" in last["error"]["message"]


def _started(driver: Driver, office: Office) -> Run:
    return driver.run(first_words("w1"), server=office.url, credential=office.order().credential)


def _remembers(turn: Turn) -> Say:
    """Answers the second prompt out of the first."""
    return Say("It was crane." if any("crane" in each for each in turn.prompts) else "I do not know.")


def _kept_to_itself(endpoint: Endpoint) -> None:
    """Nothing was asked of anybody but the endpoint; opencode cannot be kept from looking for a plugin of its own."""
    assert [stray for stray in endpoint.strays if not stray.startswith("registry.")] == []
    assert endpoint.unknown == []


def _files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]
