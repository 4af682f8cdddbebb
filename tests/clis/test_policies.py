"""The minds: a team of real programs that obey and finish, and what each of those that do not obey does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clis.driving import Driver
from tests.clis.endpoint import Endpoint
from tests.clis.office import Office, Order
from tests.clis.policies import (
    TOO_MANY,
    AtFirst,
    Crew,
    Floods,
    NeverReports,
    ObedientManagerModel,
    ObedientModel,
    Spawns,
    agent_of,
    only_talks,
    writes,
    wrong_tools,
)
from tests.clis.turns import CallTool, Fault, Hang, Policy, Result, Say, Shell, Tool, Turn, WriteFile
from tests.scenarios.programs import gone
from toryo.first_prompt import first_words

pytestmark = pytest.mark.deep

ROUNDS = 6
"""Rounds of starts after which a team of two workers has to be done."""


# --- a team ----------------------------------------------------------------------------------------------------------


@pytest.mark.clis
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.usefixtures("claude_and_codex")
def test_a_manager_and_two_workers_do_a_task_between_them(office: Office, tmp_path: Path) -> None:
    office.hire("boss", "codex", role="manager")
    for name in ("w1", "w2"):
        office.hire(name, "claude", reports_to="boss")
    task = office.file("boss", "Paint the house")
    work = tmp_path / "shared"
    minds: dict[str, Policy] = {name: ObedientModel(writes(work / name, "painted")) for name in ("w1", "w2")}
    with Endpoint(Crew({"boss": ObedientManagerModel(subtasks=("Walls", "Doors")), **minds})) as endpoint:
        rounds = _until_nobody_is_started(office, endpoint, tmp_path)
    assert office.task(task)["status"] == "completed"
    assert {path.name for path in work.iterdir()} == {"w1", "w2"}
    assert rounds[0] == ["boss"]
    assert {name for names in rounds for name in names} == {"boss", "w1", "w2"}


def _until_nobody_is_started(office: Office, endpoint: Endpoint, folder: Path) -> list[list[str]]:
    """Who was started, round by round."""
    rounds: list[list[str]] = []
    while orders := office.orders():
        assert len(rounds) < ROUNDS, rounds
        rounds.append([each.agent_id for each in orders])
        for order in orders:
            _runs(office, endpoint, folder, order)
    return rounds


def _runs(office: Office, endpoint: Endpoint, folder: Path, order: Order) -> None:
    name = "codex" if order.agent_id == "boss" else "claude"
    driver = Driver(name, endpoint, folder / order.agent_id)
    run = driver.run(first_words(order.agent_id), server=office.url, credential=order.credential)
    assert run.exit_code == 0, run.errors
    office.ended(order, 0)


@pytest.mark.clis
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.usefixtures("claude_and_codex")
def test_what_a_program_has_left_running_ends_with_its_run(office: Office, tmp_path: Path) -> None:
    office.worker("w1", "codex")
    told = tmp_path / "pid"
    spawns = Shell(f"setsid sleep 600 >/dev/null 2>&1 & echo $! > {told}")
    with Endpoint(lambda turn: Say("Done.") if turn.fresh else spawns) as endpoint:
        run = Driver("codex", endpoint, tmp_path).run("Go.", server=office.url, credential=office.order().credential)
    assert run.exit_code == 0
    assert gone(int(told.read_text()), within=60)


# --- minds alone -----------------------------------------------------------------------------------------------------


def test_obedience_is_followed_out_of_the_conversation_alone() -> None:
    """The same mind, asked anew at every turn, leads from the sign-in to the goodbye."""
    mind = ObedientModel(lambda task: [[WriteFile("/srv/a", task["title"])], [Shell("make"), Shell("make test")]])
    signed_in = _told("authenticate", "get_task")
    read = Result("get_my_task", {}, "", {"task": {"title": "Roof"}, "next": {"action": "execute_task"}})
    done = [Result(name, {}, "fine") for name in ("Write", "Bash", "Bash")]
    reported = Result("report_completed", {}, "", {"success": True, "action": "exit"})
    conversation = [signed_in, read, *done, reported]
    answers = [mind(_turn(conversation[:length])) for length in (0, 1, 2, 3, 5, 6)]
    assert [type(answer).__name__ for answer in answers] == ["CallTool", "CallTool", "list", "list", "CallTool", "Say"]
    assert answers[:2] == [CallTool("authenticate"), CallTool("get_my_task")]
    assert answers[2:4] == [[WriteFile("/srv/a", "Roof")], [Shell("make"), Shell("make test")]]
    assert answers[4] == CallTool("report_completed", {"result": "success", "summary": "done"})


def test_a_new_prompt_makes_the_obedient_sign_in_again() -> None:
    over = Result("report_completed", {}, "", {"success": True, "action": "exit"})
    assert ObedientModel()(_turn([over], fresh=[])) == CallTool("authenticate")


def test_the_obedient_gives_up_when_it_is_led_nowhere() -> None:
    mind, conversation = ObedientModel(), [_told("get_next_action", "get_task")]
    answers = [mind(_turn(conversation, number=number)) for number in range(1, 200)]
    gave_up = [isinstance(answer, Say) for answer in answers]
    assert gave_up == [False] * TOO_MANY + [True] * (len(answers) - TOO_MANY)


def test_the_one_that_never_reports_does_all_but_that() -> None:
    conversation = [_told("get_my_task", "execute_task")]
    assert isinstance(ObedientModel()(_turn(conversation)), CallTool)
    assert isinstance(NeverReports()(_turn(conversation)), Say)


def test_the_one_with_wrong_tools_never_makes_a_call_that_could_succeed() -> None:
    made = [wrong_tools(_turn([_told("authenticate", "get_task")], number=number)) for number in range(8)]
    calls = {(each.name, json.dumps(each.arguments)) for each in made if isinstance(each, CallTool)}
    assert len(calls) == 4
    assert all(isinstance(each, CallTool) for each in made)


def test_the_talker_calls_nothing() -> None:
    assert isinstance(only_talks(_turn([])), Say)


def test_the_flood_ends_after_so_many_answers() -> None:
    told = [_told("authenticate", "get_task")]
    mind = Floods(characters=1000, times=3)
    answers = [mind(_turn(told, number=number)) for number in (3, 4)]
    assert isinstance(answers[0], list)
    assert isinstance(answers[1], Say)
    assert len(answers[1].text) == 1000


def test_the_one_that_spawns_starts_children_and_then_is_silent() -> None:
    signed_in, spawned = _told("authenticate", "get_task"), Result("Bash", {}, "")
    first, second = (Spawns(30)(_turn(each)) for each in ([signed_in], [signed_in, spawned]))
    assert isinstance(first, Shell)
    assert first.command.count("sleep 30") == 2
    assert isinstance(second, Hang)


def test_a_fault_at_first_is_over_after_its_times() -> None:
    mind = AtFirst(Fault(529), only_talks, times=2)
    assert [isinstance(mind(_turn([])), Fault) for _ in range(4)] == [True, True, False, False]


def test_each_of_a_crew_is_known_by_its_first_words() -> None:
    turn = _turn([], prompt=first_words("boss-7"))
    assert agent_of(turn) == "boss-7"
    assert Crew({"boss-7": only_talks, "w1": wrong_tools})(turn) == only_talks(turn)
    with pytest.raises(LookupError):
        agent_of(_turn([], prompt="Hello."))


def _told(tool: str, action: str) -> Result:
    return Result(tool, {}, "", {"success": True, "next": {"action": action}})


def _turn(results: list[Result], *, number: int = 2, prompt: str = "Go.", fresh: list[Result] | None = None) -> Turn:
    tools = {name: Tool(name, name, ours=True) for name in ("authenticate", "get_next_action")}
    return Turn("anthropic", "m", "", [prompt], tools, results, number, {}, "/", results if fresh is None else fresh)
