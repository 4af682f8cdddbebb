"""Failures, reminders and several Coordinators with a real server and real processes: what people see in the end."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.coordinator.teams import Team, coordinating
from tests.coordinator.test_supervision import FAKE, PROGRAM
from toryo.coordinator.provider import Command, Provider, Setting

pytestmark = pytest.mark.deep

SIGNS_IN = """
from toryo.client import Client
server = Client(os.environ["TORYO_SERVER_URL"], os.environ["TORYO_LAUNCH_CREDENTIAL"])
"""
AT_WORK = SIGNS_IN + 'server.call("authenticate"); server.call("report_model", provider="fake", model_id="fake-1")\n'
DONE = 'server.call("get_my_task"); server.call("report_completed", result="success", summary={summary!r})\n'
DOES_IT = AT_WORK + DONE


def prepare(setting: Setting) -> Command:
    """What a program does stands in its agent's prompt: that option every agent may have."""
    script = PROGRAM + str(setting.options["prompt"])
    return Command((sys.executable, "-c", script, setting.resume or "", setting.prompt if setting.resume else ""))


def named(*names: str) -> dict[str, Provider]:
    """Programs of these names."""
    return {name: replace(FAKE, name=name, prepare=prepare) for name in names}


def hired(team: Team, agent: str, provider: str, script: str, **options: Any) -> str:
    return team.hire(agent, provider, provider_options={"prompt": script, **options})


def why(team: Team, agent: str) -> dict[str, Any]:
    decisions = team.client.rest("GET", f"/agents/{agent}/why")["decisions"]
    return next(dict(decision) for decision in decisions if decision["purpose"] == "task")


def test_two_coordinators_with_different_programs_and_labels_share_one_project(quiet: Team, tmp_path) -> None:
    place = tmp_path / "data"
    one = hired(quiet, "one", "alpha", DOES_IT.format(summary="by alpha"))
    two = hired(quiet, "two", "beta", DOES_IT.format(summary="by beta"))
    big = hired(quiet, "big", "alpha", DOES_IT.format(summary="on the big one"), labels=["big"])
    tasks = [quiet.file(f"For {each}", each) for each in (one, two, big)]
    with (
        coordinating(place, named("alpha"), coordinator_id="here"),
        coordinating(place, named("alpha", "beta"), coordinator_id="there", labels=["big"], agents={two: {}, big: {}}),
    ):
        assert [quiet.closed(task)["status"] for task in tasks] == ["completed"] * 3
        ran = {agent: quiet.launches(agent)[0]["coordinator_id"] for agent in (one, two, big)}
        assert ran == {one: "here", two: "there", big: "there"}
        seen = {each["coordinator_id"]: each for each in quiet.client.rest("GET", "/status")["coordinators"]}
        assert (seen["here"]["providers"], seen["here"]["agents"]) == (["alpha"], None)
        assert (seen["there"]["labels"], seen["there"]["agents"]) == (["big"], [big, two])


def test_a_program_that_leaves_without_a_report_is_reminded_and_finishes_its_task(quiet: Team, tmp_path) -> None:
    script = (
        f'if not resumed:\n    tell(session="s-1")\n    tell(said="I am done.")\n{indented(AT_WORK)}'
        f"else:\n    tell(said=prompt)\n{indented(SIGNS_IN + DONE.format(summary='after ' + 'a reminder'))}"
    )
    agent = hired(quiet, "one", "alpha", script)
    task = quiet.file("Do it", agent)
    with coordinating(tmp_path / "data", named("alpha")):
        assert quiet.closed(task)["status"] == "completed"
        (launch,) = quiet.launches(agent)
        look = lambda: quiet.client.rest("GET", f"/launches/{launch['launch_id']}/log")  # noqa: E731
        # The last output may come after the news of the end.
        read = quiet.until(look, lambda found: found["ended"] and "You stopped without a report" in found["text"])
    assert read["text"].count("I am done.") == 1
    kinds = [event["kind"] for event in quiet.client.rest("GET", "/events", params={"agent_id": agent})["events"]]
    assert kinds.count("launch.ordered") == kinds.count("launch.reminded") == 1


def indented(script: str) -> str:
    return "".join(f"    {line}\n" for line in script.strip().splitlines())


def test_what_a_guard_stopped_is_named_where_people_ask_why_and_another_stands_in_for_a_quota(
    quiet: Team, tmp_path
) -> None:
    turns = hired(quiet, "turns", "alpha", AT_WORK + "for n in range(9): tell(turn=n)\nrest()")
    no = json.dumps({"troubled": {"words": "quota will reset after 5m0s", "status": 429, "final": True}})
    spent = f"print({no!r}, flush=True)\nsys.exit(1)\n"
    either = f"if os.environ['TORYO_PROVIDER'] == 'beta':\n{indented(spent)}else:\n"
    either += indented(DOES_IT.format(summary="stood in"))
    quota = hired(quiet, "quota", "beta", either, fallback={"provider": "gamma"})
    stopped, helped = quiet.file("Endless", turns), quiet.file("Short", quota)
    programs = {**named("beta", "gamma"), "alpha": replace(FAKE, name="alpha", prepare=prepare, max_turns=5)}
    with coordinating(tmp_path / "data", programs):
        assert quiet.closed(helped)["status"] == "completed"
        said = quiet.until(lambda: why(quiet, turns), lambda found: found["reason"] == "cooling_down")
    assert said["facts"]["cooldown"] == "turn_limit"
    assert "the limit of answers per run" in said["explanation"]
    assert quiet.task(stopped)["status"] == "in_progress"
    assert [launch["ai_type"] for launch in quiet.launches(quota)] == ["gamma", "beta"]


def used(team: Team) -> dict[str, int]:
    """The tokens of five hours, by account."""
    quotas = team.client.rest("GET", "/quotas")["quotas"]
    return {each["account"]: each["windows"][0]["used"] for each in quotas if each["account"] in ("first", "second")}


def test_of_two_accounts_one_runs_dry_and_the_work_goes_on_with_the_other_but_for_what_is_urgent(
    quiet: Team, tmp_path
) -> None:
    """Each launch uses 1,000 tokens of 3,000, of which a third is kept. The provider refuses the fourth."""
    no = json.dumps({"troubled": {"words": "quota will reset after 5m0s", "status": 429, "final": True}})
    use = 'tell(used={"input_tokens": 900, "output_tokens": 100})\n'
    counted = tmp_path / "counted"
    counted.mkdir()
    counts = f"import pathlib\nn = pathlib.Path({str(counted / 'launches')!r})\n"
    counts += "k = int(n.read_text()) + 1 if n.exists() else 1\n"
    refuses = f"n.write_text(str(k))\nif k > 3:\n    print({no!r}, flush=True)\n    sys.exit(1)\n"
    script = (
        "if os.environ['TORYO_PROVIDER'] == 'alpha':\n"
        + indented(counts + refuses)
        + use
        + DOES_IT.format(summary="done")
        + "server.call('logout')\n"
    )
    account = {"account": "first", "fallback": {"provider": "beta", "account": "second"}}
    agent = hired(quiet, "one", "alpha", script, **account)
    quiet.client.rest("PATCH", "/quotas/first", {"limit_5h": 3_000, "reserve": 34})
    kinds = ("low", "low", "low", "critical", "critical")
    with coordinating(tmp_path / "data", named("alpha", "beta"), sandbox_write=[counted]):
        for number, priority in enumerate(kinds, 1):
            task = quiet.file(f"Of {priority} priority", agent, priority=priority)
            assert quiet.closed(task)["status"] == "completed"
            quiet.until(lambda: used(quiet), lambda found, many=number: sum(found.values()) == many * 1_000)
        first = quiet.client.rest("GET", "/quotas/first")["quota"]
    ran = [launch["ai_type"] for launch in reversed(quiet.launches(agent))]
    assert ran == ["alpha", "alpha", "beta", "alpha", "alpha", "beta"]
    assert first["usable_at"] is not None
    assert (first["windows"][0]["used"], used(quiet)["second"]) == (3_000, 2_000)
    starts = quiet.client.rest("GET", "/events", params={"agent_id": agent, "kind": "launch.ordered"})["events"]
    assert len(starts) == len(kinds) + 1, "one more, which was refused"


HOUSE = """
import os, pathlib, sys
account = os.environ.get("HOUSE_LOGIN", "first")
with open("ran", "a") as file:
    file.write(account + " " + os.environ.get("HOUSE_KEY", "no key") + chr(10))
print("the key is " + os.environ.get("HOUSE_API_KEY", "none"), flush=True)
if account == "first" or pathlib.Path("dry").exists():
    print("quota will reset after 5m0s", flush=True)
    sys.exit(1)
"""
"""A program whose login is in its environment. That of its first account is used up; that of the others, where there is
a file `dry`."""


def test_another_account_of_the_same_provider_takes_over_for_one_agent_and_after_it_the_next_of_its_list(
    quiet: Team, tmp_path
) -> None:
    program = tmp_path / "house.py"
    program.write_text(HOUSE + SIGNS_IN + AT_WORK.replace(SIGNS_IN, "") + DONE.format(summary="done"))
    house = {
        "cli_command": sys.executable,
        "cli_args": [str(program), "{prompt}"],
        "env": {"HOUSE_KEY": "key-of-first"},
    }
    spare = {"cli_command": sys.executable, "cli_args": [str(program), "{prompt}"], "env": {"HOUSE_LOGIN": "spare"}}
    fallback = [{"provider": "house", "account": "second"}, {"provider": "spare"}]
    agent = quiet.hire("one", "house", provider_options={"fallback": fallback})
    ran = lambda: (quiet.directory / "ran").read_text().splitlines()  # noqa: E731
    without = {"house": house}
    with coordinating(tmp_path / "data", coordinator_id="here", ai_providers=without):
        task = quiet.file("With nobody to take over", agent)
        quiet.until(lambda: why(quiet, agent), lambda found: found["facts"].get("no_coordinator") == "no_account")
        assert ran() == ["first key-of-first"], "nobody is started for nothing"
    accounts = {"second": {"env": {"HOUSE_LOGIN": "second", "HOUSE_API_KEY": "key-of-the-second"}}}
    both = {"house": {**house, "accounts": accounts}, "spare": {**spare, "accounts": {}}}
    with coordinating(tmp_path / "data", coordinator_id="here", ai_providers=both):
        assert quiet.closed(task)["status"] == "completed"
        assert ran()[1:] == ["second no key"], "no login of another account is passed on"
        (quiet.directory / "dry").touch()
        other = quiet.file("Where the second is dry, too", agent)
        quiet.until(lambda: why(quiet, agent), lambda found: found["reason"] == "cooling_down")
        (quiet.directory / "dry").unlink()
        quiet.client.rest("POST", f"/agents/{agent}/resume")
        assert quiet.closed(other)["status"] == "completed"
        newest = quiet.launches(agent)[0]["launch_id"]
        look = lambda: quiet.client.rest("GET", f"/launches/{newest}/log")  # noqa: E731
        read = quiet.until(look, lambda found: found["ended"] and "the key is" in found["text"])
        assert "key-of-the-second" not in read["text"], "its log hides it"
    assert [launch["account"] for launch in quiet.launches(agent)][-2:] == ["second", "house"]
    assert [line.split()[0] for line in ran()] == ["first", "second", "second", "spare", "first", "second"]
