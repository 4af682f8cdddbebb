"""A broken plan is refused in the same words wherever it is written: in a toryo.yaml that is applied or checked, and by
the server where an agent's options are."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Toryo
from tests.stories import World, fresh, quiet, world
from toryo.formats.plan_options import FORMATS

__all__ = ["fresh", "quiet", "world"]

STEP = "subtasks: [{id: a, title: A}]"
BROKEN = {
    "a key that there is not": ("playbook", f"tasks:\n  - {STEP}\n    retries: 1\n", 3),
    "no subtasks": ("playbook", "tasks:\n  - match: x\n", 2),
    "a value of the wrong type": ("playbook", f"tasks:\n  - {STEP}\n    variables: [a]\n", 3),
    "a pattern that is none": ("playbook", f"tasks:\n  - {STEP}\n    match: (\n", 3),
    "a subtask that there is not": (
        "playbook",
        "tasks:\n  - subtasks:\n      - {id: a, title: A, depends_on: [b]}\n",
        3,
    ),
    "two ways to assign": (
        "playbook",
        "tasks:\n  - subtasks:\n      - {id: a, title: A, assignee: w, capability: c}\n",
        3,
    ),
    "a variable that there is not": ("playbook", 'tasks:\n  - subtasks:\n      - {id: a, title: "{{b}}"}\n', 3),
    "a value that chooses what runs": (
        "playbook",
        'tasks:\n  - subtasks:\n      - {id: a, title: A, run: "{{title}}"}\n',
        3,
    ),
    "an answer that does nothing": ("script", "answers:\n  - when: hello\n", 2),
    "a behaviour that there is not": ("script", "behave: [rde]\n", 1),
    "an unknown key of a script": ("script", "answers:\n  - when: hello\n    anser: Hi\n", 3),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plan_is_refused_in_the_same_words_wherever_it_is_written(
    world: World, nowhere: Toryo, tmp_path: Path, kind: str
) -> None:
    provider, plan, line = BROKEN[kind]
    file = tmp_path / "toryo.yaml"
    options = f"    provider: {provider}\n    provider_options:\n      {provider}: |\n"
    head = f"agents:\n  - id: ann\n    role: worker\n{options}"
    file.write_text(head + textwrap.indent(plan, " " * 8))
    above = len(head.splitlines())
    words = _refused_by_server(world, provider, plan)[0].removeprefix(f"provider_options.{provider}:{line}: ")
    for ended in (nowhere("apply", str(file)), nowhere("playbook", "check", str(file))):
        assert ended.code == 2
        assert f"toryo.yaml:{above + line}: agent ann: {words}" in ended.err
    data = yaml.safe_load(plan)
    assert _refused_by_server(world, provider, data) == [f"provider_options.{provider}: {words}"]


def _refused_by_server(world: World, provider: str, plan: Any) -> list[str]:
    """What is wrong, told alike to whoever makes an agent and to whoever changes one."""
    asked = {"provider": provider, "provider_options": {provider: plan}}
    made = world.owner.refused("create_agent", "validationError", id="new", role="worker", **asked)
    if not any(agent["agent_id"] == "old" for agent in world.owner.call("list_agents_of_server")["agents"]):
        world.owner.call("create_agent", id="old", role="worker")
    changed = world.owner.refused("edit_agent", "validationError", agent_id="old", **asked)
    assert changed["message"] == made["message"]
    before, after = f"A provider option is invalid ({provider}): ", " Correct it and send the request again."
    assert made["message"].startswith(before)
    return [mistake.removeprefix(before).removesuffix(after) for mistake in made["mistakes"]]


@pytest.mark.parametrize("provider", FORMATS)
def test_a_plan_in_a_file_is_left_to_the_coordinator_that_has_the_file(world: World, provider: str) -> None:
    options = {provider: "plans/plan.yaml"}
    world.owner.call("create_agent", id="ann", role="worker", provider=provider, provider_options=options)


def test_whom_a_plan_names_may_come_later(world: World) -> None:
    plan = {"tasks": [{"subtasks": [{"id": "a", "title": "A", "assignee": "later"}]}]}
    options = {"playbook": plan}
    world.owner.call("create_agent", id="ann", role="manager", provider="playbook", provider_options=options)


def test_a_name_can_be_changed_whatever_plan_an_older_toryo_has_stored(world: World) -> None:
    world.owner.call("create_agent", id="ann", role="worker", provider="playbook")
    with pytest.MonkeyPatch.context() as older:
        older.setattr("toryo.formats.plan_options.FORMATS", {})
        world.owner.call("edit_agent", agent_id="ann", provider_options={"playbook": {"tsks": []}})
    world.owner.call("edit_agent", agent_id="ann", name="Ann")


def test_binary_data_in_a_plan_is_refused_like_any_mistake(world: World) -> None:
    (told,) = _refused_by_server(world, "playbook", f"tasks:\n  - {STEP}\n    variables: {{x: !!binary /w==}}\n")
    assert "binary data cannot be used here" in told
