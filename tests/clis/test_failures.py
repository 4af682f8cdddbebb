"""What goes wrong with real agent programs, through the whole product: a quota that is used up, a Coordinator that is
killed while three of them work, and models that do not do what they are told. Only the model is scripted.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.clis.crews import TIME_TO_TELL, Books, Gathering, ModelSite
from tests.clis.policies import (
    AtFirst,
    Crew,
    Floods,
    NeverReports,
    ObedientModel,
    only_talks,
    writes,
    wrong_tools,
)
from tests.clis.turns import Answer, CallTool, Fault, Garbage, Hang, Policy, Shell, Turn
from tests.scenarios import programs
from toryo.block_reasons import in_words

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, method="signal")]

GEMINI = "gemini-2.5-pro"

# --- a quota ---------------------------------------------------------------------------------------------------------

NAMED = 4
"""Seconds after which the quota comes back, as the message says."""
_LIMITED = {"code": "rate_limit_exceeded", "message": f"Rate limit reached. Please try again in {NAMED}s."}
_FAILED = {"type": "response.failed", "response": {"id": "r", "error": _LIMITED}}
USED_UP: Mapping[str, Answer] = {
    "claude": Fault(429, f"You've hit your usage limit. Try again in {NAMED} seconds."),
    "codex": Garbage(f"event: response.failed\ndata: {json.dumps(_FAILED)}\n\n"),
}
"""A quota of the account, and a limit of one model's: as the services word them, but for how soon they are over."""
TOLD = {
    "claude": "the quota of the account claude is used up",
    "codex": "its model's service reported too many requests",
}


def test_a_used_up_quota_is_waited_for_as_long_as_it_says_and_a_tenth_more_and_nothing_starts_between(
    tmp_path: Path,
) -> None:
    minds: dict[str, Policy] = {name: AtFirst(no, ObedientModel(), times=1) for name, no in USED_UP.items()}
    with ModelSite(tmp_path, Crew(minds), tuple(USED_UP)) as house:
        house.project("house")
        tasks = {name: _has_a_task(house, name) for name in USED_UP}
        house.coordinator()

        for name in USED_UP:
            _is_told_how_long(house, name)
        for task_id in tasks.values():
            house.until_status(task_id, "completed")
        house.until_idle()
        for name in USED_UP:
            launches, waits = house.launches(agent_id=name), _waits(house, name)
            assert [_until(each) - _moment(each["at"]) for each in waits] == [timedelta(seconds=NAMED) * 1.1]
            assert len(launches) == 2, "one that was refused, and one that did the work"
            late = [
                (_moment(after["ordered_at"]) - _until(wait)).total_seconds()
                for wait, after in zip(waits, launches[1:], strict=True)
            ]
            assert all(0 <= each < 2 for each in late), "not before, and soon after"


def _is_told_how_long(house: ModelSite, name: str) -> None:
    def cools_down() -> dict[str, Any] | None:
        found = house.why(name)
        return found if found["reason"] == "cooling_down" else None

    why = house.until(f"toryo why {name} tells that it waits", cools_down)
    assert why["action"] == "hold"
    assert 0 <= why["seconds_left"] <= NAMED
    assert TOLD[name] in why["explanation"]
    assert _moment(why["until"]) in [_until(wait) for wait in _waits(house, name)]


def _has_a_task(house: ModelSite, name: str) -> str:
    house.hire(name, "house", provider=name, model=GEMINI if name == "gemini" else None)
    return house.file("house", "Build", assignee_id=name, status="in_progress")


def _waits(house: ModelSite, agent_id: str) -> list[dict[str, Any]]:
    """What was decided about this agent, or the account it uses."""
    return house.history.of("account.used_up", "agent.cooling_down", agent_id=agent_id)


def _until(wait: dict[str, Any]) -> datetime:
    return _moment(wait["data"]["until"])


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# --- a key that is refused -------------------------------------------------------------------------------------------


def test_a_refused_key_is_told_while_the_program_tries_again_and_another_one_stands_in(tmp_path: Path) -> None:
    """Claude Code would try for minutes. Codex has a server of our name in its own configuration, as mcp-clients.md
    has it."""
    works = ObedientModel(writes(tmp_path / "projects" / "house" / "made.txt", "made"))

    def refuses(turn: Turn) -> Answer:
        return Fault(401) if turn.api == "anthropic" else works(turn)

    with ModelSite(tmp_path, refuses, ("claude", "codex"), **TIME_TO_TELL) as house:
        del house.environment["CLAUDE_CODE_MAX_RETRIES"]
        with (tmp_path / ".codex" / "config.toml").open("a") as config:
            config.write('\n[mcp_servers.toryo]\ncommand = "toryo"\nargs = ["mcp"]\n')
        house.project("house")
        options = {"permissions": "full", "fallback": {"provider": "codex"}}
        house.hire("ann", "house", provider="claude", provider_options=options)
        task_id = house.file("house", "Build", assignee_id="ann", status="in_progress")
        house.coordinator()
        house.until_status(task_id, "completed")
        house.until_idle()
        refused, done = house.history.of("launch.process_ended")
        assert refused["data"]["error"].startswith("not_logged_in: authentication_failed")
        assert done["data"]["error"] is None
        (cooled,) = house.history.of("agent.cooling_down")
        assert cooled["data"]["reason"] == "not_logged_in"


# --- a Coordinator that is killed ------------------------------------------------------------------------------------


def test_a_new_coordinator_adopts_three_programs_in_the_middle_of_a_turn_and_nothing_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    home = tmp_path / "projects" / "house"
    at_work = Gathering(3)
    workers = {name: ObedientModel(writes(home / f"{name}.txt", name)) for name in ("claude", "gemini", "codex")}
    books = Books(Crew({name: at_work.held(mind) for name, mind in workers.items()}))
    with ModelSite(tmp_path, books, tuple(workers), **TIME_TO_TELL) as house:
        house.project("house")
        tasks = [_has_a_task(house, name) for name in workers]
        first = house.coordinator()
        at_work.wait()
        before = {agent.launch_id: agent.pid for agent in house.agents()}
        first.kill()
        second = house.coordinator()
        assert second.pid != first.pid
        for launch_id in before:
            second.says(f"adopted {launch_id}")
        assert {agent.launch_id: agent.pid for agent in house.agents()} == before
        at_work.opened.set()
        for task_id in tasks:
            house.until_status(task_id, "completed")
        house.until_idle()

        assert {path.name: path.read_text() for path in home.iterdir()} == {f"{name}.txt": name for name in workers}
        launches = {launch["agent_id"]: launch["launch_id"] for launch in house.launches()}
        assert sorted(launches.values()) == sorted(before), "nobody was started twice"
        assert len(house.launches()) == len(before)
        for name, launch_id in launches.items():
            used, log = house.used(launch_id), house.log(launch_id)
            assert [(used["input_tokens"], used["output_tokens"], used["cached_tokens"])] == books.tokens(name)
            for tool in ("authenticate", "get_my_task", "report_completed"):
                assert sum(line.startswith("→") and tool in line for line in log.splitlines()) == 1, log


# --- who does not do what it is told ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wrong:
    """A model that goes wrong, the limits under which it does so, and what becomes of it and of its task."""

    mind: Policy
    failure: str | None
    """For which its agent cools down; None: for none, its task is blocked at once."""
    blocked: str | None = None
    """Why its task is blocked; None: it is not, the agent is started again when it has cooled down."""
    program: str = "claude"
    limits: Mapping[str, float] = field(default_factory=dict, hash=False)
    guards: Mapping[str, int] = field(default_factory=dict, hash=False)


def signed_in(mind: Policy) -> Policy:
    return lambda turn: mind(turn) if turn.results else CallTool("authenticate")


@dataclass
class Clings:
    """Signs in, starts children that stay (one of them in a session of its own), and then asks for ever the same."""

    child: str = field(default_factory=lambda: f"tail -s {random.randint(10**5, 10**7)} -f /dev/null")
    """No other process of the machine has these words. (Claude Code refuses to sleep.)"""
    children: set[int] = field(default_factory=set)

    def __call__(self, turn: Turn) -> Answer:
        if not turn.results:
            return CallTool("authenticate")
        if len(turn.results) == 1:
            return Shell(f"setsid {self.child} >/dev/null 2>&1 & {self.child} >/dev/null 2>&1 &")
        self.children |= set(_running(self.child))
        return CallTool("get_my_task")


def _running(command: str) -> Iterator[int]:
    words = [part.encode() for part in command.split()]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().split(b"\0")[:-1] == words:
                yield int(path.parent.name)


def silent(turn: Turn) -> Answer:
    return Hang()


WRONG = {
    "calls wrong tools and never signs in": Wrong(wrong_tools, "turn_limit", limits={"max_turns": 6}),
    "calls wrong tools": Wrong(signed_in(wrong_tools), "runaway", "no_progress", "codex", guards={"REFUSALS": 4}),
    "floods its output": Wrong(Floods(), "output_flood", "no_progress", limits={"max_output_mb": 0.3}),
    "starts children that stay": Wrong(Clings(), "turn_limit", "no_progress", limits={"max_turns": 6}),
    "starts them by codex": Wrong(Clings(), "turn_limit", "no_progress", "codex", limits={"max_turns": 6}),
    "is silent": Wrong(silent, "timed_out", program="codex", limits={"time_limit": 3}),
    "only talks": Wrong(only_talks, "could_not_connect"),
    "never reports": Wrong(NeverReports(), None, "agent_left_without_reporting", "codex"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_model_that_goes_wrong_is_stopped_with_all_it_started_and_somebody_else_can_take_its_task(
    tmp_path: Path, case: Wrong
) -> None:
    """Its agent cools down for long where it would be started again, else shortly: its task is blocked after that."""
    guards = {"COOLDOWN": 1 if case.blocked else 600, "LONGEST_COOLDOWN": 600, "IDLE_LAUNCHES": 1, "UNREPORTED_ENDS": 1}
    settings = {f"TORYO_GUARDS__{name}": str(value) for name, value in {**guards, **case.guards}.items()}
    with ModelSite(
        tmp_path, Crew({"wrong": case.mind, "right": ObedientModel()}), ("claude", "codex"), **settings
    ) as house:
        house.project("house")
        house.hire("wrong", "house", provider=case.program)
        task_id = house.file("house", "Build", assignee_id="wrong", status="in_progress")
        house.coordinator(ai_providers={case.program: dict(case.limits)})
        _is_stopped(house, case)
        if case.blocked is not None:
            _is_blocked(house, task_id, case.blocked)
        else:
            _cools_down(house, str(case.failure))
        _is_taken_over(house, task_id)
        assert len(house.launches(agent_id="wrong")) == 1


def _is_taken_over(house: ModelSite, task_id: str) -> None:
    house.hire("right", "house", provider="codex")
    house.move(task_id, "todo")
    house.people.rest("PATCH", f"/tasks/{task_id}", {"assignee_id": "right"})
    house.move(task_id, "in_progress")
    house.until_status(task_id, "completed")
    assert [each["actor_id"] for each in house.history.of("task.completed", task_id=task_id)] == ["right"]


def _is_stopped(house: ModelSite, case: Wrong) -> None:
    house.until("its process has ended", lambda: house.history.of("launch.process_ended", agent_id="wrong"))
    assert programs.everything_of([house.url]) == []
    if isinstance(case.mind, Clings):
        assert case.mind.children, "they were there"
        assert all(programs.gone(child, within=60) for child in case.mind.children)
    cooled = house.history.of("agent.cooling_down", agent_id="wrong")
    assert [each["data"]["reason"] for each in cooled] == ([case.failure] if case.failure else [])


def _is_blocked(house: ModelSite, task_id: str, reason: str) -> None:
    house.until_status(task_id, "blocked")
    assert house.look(task_id)["blocked_reason"] == reason
    assert in_words(reason) in " ".join(house.toryo("task", "show", task_id).split())
    assert house.why("wrong")["reason"] == "blocked_without_in_progress"
    waiting = house.people.rest("GET", "/needs-you")["items"]
    assert task_id in [each.get("task_id") for each in waiting], "a person is told"


def _cools_down(house: ModelSite, failure: str) -> None:
    why = house.why("wrong")
    assert (why["reason"], why["facts"]["cooldown"]) == ("cooling_down", failure)
    assert 500 < why["seconds_left"] <= 600
    assert "In cooldown because" in why["explanation"]
