"""A create that is sent again with its key is done once, and answered as the first time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Caller, World, hold_to_promise
from toryo.formats import plan_options
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.idempotency import SECRETS, applies
from toryo.storage import schema

pytestmark = [pytest.mark.both, pytest.mark.crew(workers=1)]


def send(world: World, key: str | None, name: str, caller: Caller | None = None, /, **arguments: Any) -> Outcome:
    bearer = (caller or world.owner).bearer
    return world.perform(name, arguments, Credentials(bearer=bearer, idempotency_key=key))


def file(world: World, key: str | None, title: str = "Paint", caller: Caller | None = None) -> Outcome:
    return send(world, key, "file_task", caller, project_id=world.project_id, title=title)


def titles(world: World) -> list[str]:
    return [task["title"] for task in world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]]


def test_the_same_create_with_the_same_key_is_done_once_and_answered_as_the_first_time(crew: World):
    first = file(crew, "k1")
    crew.advance(3600)
    again = file(crew, "k1")
    assert not again.refused
    assert again.result == first.result
    hold_to_promise("file_task", again)
    assert titles(crew) == ["Paint"]


def test_without_a_key_and_with_another_one_it_is_done_again(crew: World):
    for key in (None, None, "k1", "k2"):
        assert not file(crew, key).refused
    assert titles(crew) == ["Paint"] * 4


def test_the_same_key_for_another_content_is_refused_with_words(crew: World):
    file(crew, "k1")
    refused = file(crew, "k1", "Build")
    assert refused.refused and refused.result is not None
    assert refused.result["error"] == "conflict"
    assert "k1" in refused.result["message"] and "new key" in refused.result["instruction"]
    assert titles(crew) == ["Paint"]


def test_a_key_is_each_persons_and_each_operations_own(crew: World):
    zoe = crew.member("zoe")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="zoe")
    assert not file(crew, "k1").refused
    assert not file(crew, "k1", caller=zoe).refused
    made = send(crew, "k1", "create_project", name="Other", working_directory="/srv/other")
    assert not made.refused
    assert titles(crew) == ["Paint", "Paint"]


def test_what_was_refused_may_be_sent_again_with_its_key(crew: World):
    refused = send(crew, "k1", "file_task", project_id=crew.project_id, title="Paint", assignee_id="nobody")
    assert refused.refused
    assert not file(crew, "k1").refused


def test_a_secret_is_not_kept_so_that_sending_its_create_again_is_refused_and_makes_nothing(crew: World):
    asked = {"id": "new", "role": "worker"}
    passkey = (send(crew, "k1", "create_agent", **asked).result or {})["passkey"]
    refused = send(crew, "k1", "create_agent", **asked)
    assert refused.refused and refused.result is not None
    assert refused.result["error"] == "conflict"
    assert "agent_id new" in refused.result["message"]
    assert passkey not in repr(crew.rows())


def test_no_create_answers_a_secret_under_another_name():
    creates = [operation for operation in catalogue().values() if applies(operation)]
    names = {name for create in creates for name in create.output_schema["properties"]}
    assert len(creates) > 5
    assert {each for each in names if any(word in each for word in ("token", "passkey", "code", "secret"))} <= {
        *SECRETS,
        "access_token",  # what there is to say of one, without itself
    }


def test_a_key_of_a_person_is_forgotten_after_a_day_and_no_sooner(crew: World):
    first = file(crew, "k1")
    crew.advance(23 * 3600)
    crew.housekeep()
    assert file(crew, "k1").result == first.result
    crew.advance(2 * 3600)
    crew.housekeep()
    assert crew.rows(schema.batches) == {"batches": []}
    assert not file(crew, "k1", "Another").refused
    assert titles(crew) == ["Paint", "Another"]


def test_a_batch_of_an_agent_is_remembered_for_the_weeks_that_a_quota_may_take(crew: World):
    crew.task("boss", title="House")
    boss = crew.start("boss")
    boss.batch("Wall", idempotency_key="k1")
    crew.advance(8 * 86_400)
    crew.housekeep()
    assert len(crew.rows(schema.batches)["batches"]) == 1
    crew.advance(23 * 86_400)
    crew.housekeep()
    assert crew.rows(schema.batches)["batches"] == []


def test_a_key_means_nothing_where_nothing_is_created(crew: World):
    task = (file(crew, "k1").result or {})["task_id"]
    assert not send(crew, "k9", "move_task", task_id=task, status="backlog").refused
    assert not send(crew, "k9", "move_task", task_id=task, status="todo").refused


def test_a_preview_with_a_key_leaves_the_key_for_the_change_itself(crew: World):
    agent = {"id": "ada", "role": "worker", "provider": "command"}
    seen = send(crew, "k1", "create_agent", preview=True, **agent)
    assert not seen.refused
    assert "passkey" not in (seen.result or {})
    assert not any(each["agent_id"] == "ada" for each in crew.owner.call("list_agents_of_server")["agents"])

    made = send(crew, "k1", "create_agent", **agent)

    assert not made.refused
    assert (made.result or {})["agent_id"] == "ada"


def test_what_takes_long_is_judged_before_the_transaction_of_whoever_brings_a_plan():
    changing = [
        operation for operation in catalogue().values() if "provider_options" in operation.parameters.model_fields
    ]
    assert {operation.name for operation in changing} >= {"create_agent", "edit_agent"}
    assert [operation.name for operation in changing if operation.beforehand is None] == []


BRINGS = {"create_agent": {"id": "new", "role": "worker"}, "edit_agent": {"agent_id": "w1"}}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    "name",
    [operation.name for operation in catalogue().values() if "provider_options" in operation.parameters.model_fields],
)
def test_plans_are_judged_outside_of_any_transaction_alone_and_among_several_changes(
    crew: World, name: str, at_once: bool, monkeypatch: pytest.MonkeyPatch
):
    brought = {**BRINGS[name], "provider": "playbook", "provider_options": {"playbook": {"tasks": []}}}
    judge, within, judged = plan_options.mistakes, [], []

    def inside(run: Any) -> Any:
        def counted(work: Any) -> Any:
            within.append(work)
            try:
                return run(work)
            finally:
                within.pop()

        return counted

    def look(options: dict[str, Any]) -> Any:
        judged.append(len(within))
        return judge(options)

    for each in ("read", "write"):
        monkeypatch.setattr(crew.database, each, inside(getattr(crew.database, each)))
    monkeypatch.setattr(plan_options, "mistakes", look)
    wanted = ("apply_changes", {"changes": [{"operation": name, "arguments": brought}]}) if at_once else (name, brought)
    refused = crew.owner.refused(wanted[0], "validationError", **wanted[1])
    assert "A provider option is invalid (playbook)" in refused["message"]
    assert judged == [0]
