"""`toryo usage`, and what `toryo logs` says at the end, against a real server; the test is the Coordinator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import logs, output, usage
from toryo.client import Client, server_discovery

SPENT = {
    "input_tokens": 1_234_567,
    "cached_tokens": 1_000_000,
    "output_tokens": 4_321,
    "cost_usd": 1.5,
    "turns": 12,
    "tool_calls": 34,
    "model": "sonnet",
}


@dataclass(frozen=True)
class Team:
    """A project of the test's own, whose agents are started by the test."""

    toryo: Toryo
    project: str

    def ran(self, agent: str, spent: dict[str, Any] | None) -> tuple[str, str]:
        """A launch of a new agent that has printed something, told this, and ended; and its task."""
        agent = f"{self.project}.{agent}"
        self.toryo.json("agent", "add", agent, "--role", "worker", "--provider", "claude", "--project", self.project)
        task = self.toryo.json(
            "task", "add", "Build", "--project", self.project, "--assignee", agent, "--status", "in_progress"
        )["task_id"]
        place = server_discovery.find(None, None, self.toryo.home / "data", role="coordinator", environ={})
        with Client(place.url, place.token) as coordinator:
            asked = {"coordinator_id": self.project, "free_slots": 1, "running": [], "agent_ids": [agent]}
            (launch,) = coordinator.call("claim_starts", **asked)["start"]
            named = {"launch_id": launch["launch_id"]}
            coordinator.call("append_log", **named, offset=0, text="hammering\n")
            coordinator.call("report_process_exit", **named, exit_code=0, usage=spent)
        return launch["launch_id"], task


@pytest.fixture
def team(server: Toryo, project: str) -> Team:
    return Team(server, project)


def test_a_table_shows_days_and_agents_with_separators_dollars_and_a_total(team: Team) -> None:
    team.ran("ann", SPENT)
    team.ran("ben", {**SPENT, "cost_usd": 0.25})
    heads, *lines = team.toryo("usage", "--project", team.project).out.splitlines()
    assert heads.split() == ["DAY", "AGENT", "LAUNCHES", "INPUT", "CACHED", "OUTPUT", "COST"]
    assert [line.split()[1:] for line in lines] == [
        [f"{team.project}.ann", "1", "1,234,567", "1,000,000", "4,321", "$1.50"],
        [f"{team.project}.ben", "1", "1,234,567", "1,000,000", "4,321", "$0.25"],
        ["2", "2,469,134", "2,000,000", "8,642", "$1.75"],
    ]
    assert lines[-1].startswith("total")


def test_columns_are_those_that_are_named_in_their_order(team: Team) -> None:
    team.ran("ann", SPENT)
    heads, line = team.toryo("usage", "--project", team.project, "--by", "model, purpose").out.splitlines()
    assert heads.split()[:2] == ["MODEL", "PURPOSE"]
    assert line.split()[:3] == ["sonnet", "task", "1"]


def test_a_script_gets_the_whole_document(team: Team) -> None:
    _, task = team.ran("ann", SPENT)
    answer = team.toryo.json("usage", "--task", task, "--by", "task")
    assert (answer["since"], answer["totals"]["cost_usd"]) == (None, 1.5)
    assert [(row["task_id"], row["title"]) for row in answer["rows"]] == [(task, "Build")]
    heads, line, *_ = team.toryo("usage", "--task", task, "--by", "task").out.splitlines()
    assert (heads.split()[:3], line.split()[:3]) == (["TASK", "TITLE", "LAUNCHES"], [task, "Build", "1"])
    assert team.toryo.json("usage", "--project", team.project, "--days", "3")["totals"]["input_tokens"] == 1_234_567


def test_what_is_without_price_or_unfinished_is_marked_and_explained(team: Team) -> None:
    team.ran("ann", {**SPENT, "lower_bound": True})
    team.ran("ben", {**SPENT, "cost_usd": None})
    shown = team.toryo("usage", "--project", team.project)
    ann, ben, total = shown.out.splitlines()[1:4]
    assert ann.split()[-3:] == ["≥", "4,321", "$1.50"]
    assert ben.split()[-2:] == ["4,321", "–"]
    assert total.split()[-3:] == ["≥", "8,642", "$1.50+"]
    assert "1 launch has no price" in shown.err
    assert "1 launch ended before reporting totals" in shown.err


def test_the_budgets_of_agents_and_of_open_tasks_are_told_below_too(team: Team) -> None:
    _, task = team.ran("ann", SPENT)
    ann = f"{team.project}.ann"
    team.toryo.json("agent", "edit", ann, "--option", "budget_per_day=2000")
    limits = ("--budget", "1.5", "--budget-tokens", "90000000")
    team.toryo("task", "edit", task, *limits)
    assert "nothing was changed" in team.toryo("task", "edit", task, *limits).out
    told = team.toryo("usage", "--project", team.project).out.splitlines()
    assert any(line.startswith(f"{ann} ({ann}): $1.50 of $2,000.00 spent today; the day ends at") for line in told)
    assert told[-1] == (
        f"Build ({task}): $1.50 of $1.50 and 1,238,888 of 90,000,000 tokens spent; used up, raise it: "
        f"toryo task edit {task} --budget N"
    )
    team.toryo("task", "edit", task, "--budget", "2", "--budget-tokens", "1000")
    assert team.toryo("usage", "--project", team.project).out.endswith(f"toryo task edit {task} --budget-tokens N\n")
    team.toryo("task", "edit", task, *limits)
    team.toryo("task", "edit", task, "--clear", "budget")
    assert "used up" not in team.toryo("usage", "--project", team.project).out


def test_the_budget_of_today_is_told_below(team: Team) -> None:
    team.toryo.json("project", "edit", team.project, "--set", "budget_per_day=2000")
    team.ran("ann", SPENT)
    shown = team.toryo("usage", "--project", team.project).out.splitlines()[-1]
    assert f"({team.project}): $1.50 of $2,000.00 spent today; the day ends at " in shown
    team.toryo.json("project", "edit", team.project, "--set", "budget_per_day=1")
    assert "; used up, continues at " in team.toryo("usage", "--project", team.project).out


def test_where_nothing_was_used_that_is_said(team: Team) -> None:
    shown = team.toryo("usage", "--project", team.project, "--since", "2020-01-01", "--until", "2020-01-02")
    assert (shown.code, shown.out) == (0, "")
    assert "No usage recorded from 2020-01-01 to 2020-01-02." in shown.err
    assert "on 2020-01-01." in team.toryo("usage", "--since", "2020-01-01", "--until", "2020-01-01").err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--by", "day,week"), 2, "'week'"),
        (("--by", ","), 2, "--by is empty"),
        (("--days", "0"), 2, "--days"),
        (("--days", "3", "--since", "2020-01-01"), 4, "Pass either days"),
        (("--since", "monday"), 4, "since"),
        (("--task", "tsk_none"), 4, "tsk_none"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(
    server: Toryo, words: tuple[str, ...], code: int, told: str
) -> None:
    ended = server("usage", *words)
    assert ended.code == code
    assert told in ended.err


def test_logs_end_with_what_the_launch_has_used_beside_its_output(team: Team) -> None:
    launch, _ = team.ran("ann", SPENT)
    for words in (("logs", launch), ("logs", f"{team.project}.ann", "--follow")):
        shown = team.toryo(*words)
        assert shown.out == "hammering\n"
        named = f"Showing the newest launch {launch} of {team.project}.ann with claude, for "
        assert (words[1] == launch) is not shown.err.startswith(named)
        assert shown.err.endswith(
            "used: 1,234,567 tokens in (1,000,000 of them cached), 4,321 out, 12 turns, 34 tool calls, $1.50, sonnet\n"
        )
    document = team.toryo.json("logs", launch)
    assert (document["text"], document["usage"]["output_tokens"]) == ("hammering\n", 4_321)


def test_logs_of_a_launch_that_told_nothing_end_with_its_output(team: Team) -> None:
    launch, _ = team.ran("ann", None)
    shown = team.toryo("logs", launch)
    assert (shown.out, shown.err) == ("hammering\n", "")


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0, "$0.00"), (0.00037, "$0.0004"), (0.05, "$0.0500"), (0.1, "$0.10"), (1.239, "$1.24"), (12345.6, "$12,345.60")],
)
def test_money_is_shown_to_the_cent_and_little_money_more_exactly(dollars: float, text: str) -> None:
    assert usage.money(dollars) == text


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ({"exit_code": 0}, ""),
        ({"exit_error": "stopped"}, ", because it was told to stop"),
        (
            {"exit_signal": 9, "exit_error": "killed: out of memory"},
            " by signal 9 (SIGKILL), because its process was killed: out of memory",
        ),
        ({"exit_code": 3, "exit_error": "crashed"}, " with exit code 3, because its process failed"),
        ({"exit_code": 1}, " with exit code 1"),
    ],
)
def test_logs_of_a_launch_that_did_not_end_well_say_how_it_ended(ends: dict[str, Any], told: str) -> None:
    launch = {"usage": None, "ended_at": "2026-01-31T09:00:00Z", **ends}
    said = logs.remarks({"ended": True, "launch": launch})
    assert said == ([f"ended {output.clock(launch['ended_at'])}{told}"] if told else [])
    assert logs.remarks({"ended": False, "launch": {**launch, "ended_at": None}}) == []


def test_output_that_was_removed_is_told_before_what_was_used() -> None:
    spent = {**SPENT, "lower_bound": True}
    told = logs.remarks({"ended": True, "removed": "It was removed.", "launch": {"usage": spent}})
    assert told[0] == "It was removed."
    assert told[1].startswith("used: at least 1,234,567 tokens in")
    assert logs.remarks({"ended": False, "launch": {"usage": spent}}) == []


def test_tokens_that_a_program_has_not_told_are_not_zero() -> None:
    used = {**SPENT, "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "lower_bound": True, "cost_usd": None}
    assert usage.brief(used) == "tokens unknown, 12 turns, 34 tool calls, no price set, sonnet"
    row = {**used, "launches": 1, "lower_bounds": 1, "without_price": 1}
    assert usage._sums(row) == ["1", "–", "–", "–", "–"]


@pytest.mark.parametrize(
    ("launches", "shown"),
    [
        ([("chat", False), ("task", False)], 1),
        ([("chat", True), ("task", False)], 1),
        ([("task", True), ("chat", False)], 1),
        ([("task", True), ("task", True)], 0),
        ([("task", False), ("task", True), ("chat", False)], 0),
    ],
)
def test_of_an_agents_launches_what_runs_comes_first_and_work_before_talk(
    launches: list[tuple[str, bool]], shown: int
) -> None:
    """The newest stands first among those that are given."""
    given = [{"purpose": purpose, "ended_at": "2026-01-01" if ended else None} for purpose, ended in launches]
    assert logs.in_order(given)[0] is given[shown]
