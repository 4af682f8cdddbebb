"""Templates of task trees: all their tasks are created at once with the values of their parameters, or none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.stories import Answer, World

RELEASE: Answer = {
    "description": "Publish a version",
    "parameters": {"version": {"description": "Such as 1.4.0"}, "branch": {"default": "main"}},
    "tasks": [
        {"title": "Release {{version}}", "assignee": "boss"},
        {
            "title": "Build {{version}}",
            "parent": "Release {{version}}",
            "assignee": "w1",
            "priority": "high",
            "description": "From {{branch}}.",
            "context": {"command": "./build.sh {{branch}}", "tag": "v{{version}}"},
            "acceptance": [{"file": "dist"}],
        },
        {"title": "Publish", "parent": "Release {{version}}", "depends_on": ["Build {{version}}"]},
    ],
}


def save(world: World, content: Answer | None = None, name: str = "release") -> None:
    world.owner.call("save_template", project_id=world.project_id, name=name, definition=content or RELEASE)


def use(world: World, **values: str) -> list[Answer]:
    """The tasks that it has created."""
    made = world.owner.call("use_template", project_id=world.project_id, name="release", values=values)["task_ids"]
    return [dict(world.owner.call("show_task", task_id=each)["task"]) for each in made]


def refused(world: World, code: str, operation: str = "save_template", **given: Any) -> str:
    asked = {"project_id": world.project_id, "name": "release", **given}
    return str(world.owner.refused(operation, code, **asked))


def without(**changes: Any) -> Answer:
    """A template with one task that has these."""
    return {"tasks": [{"title": "Build", **changes}]}


def test_its_tasks_are_a_tree_with_the_values_in_their_place(crew: World) -> None:
    save(crew)
    release, build, publish = use(crew, version="1.4.0")
    assert [each["title"] for each in (release, build, publish)] == ["Release 1.4.0", "Build 1.4.0", "Publish"]
    assert {build["parent_task_id"], publish["parent_task_id"]} == {release["task_id"]}
    assert publish["dependencies"] == [build["task_id"]]
    assert (build["assignee_id"], build["priority"], build["description"]) == ("w1", "high", "From main.")
    assert build["context"] == {"command": "./build.sh main", "tag": "v1.4.0"}
    assert build["acceptance"] == [{"file": "dist"}]
    assert {each["status"] for each in (release, build, publish)} == {"todo"}
    [event] = crew.events("template.used")
    assert event["data"] == {"name": "release", "tasks": 3}


def test_each_use_creates_new_tasks_and_what_was_saved_last_counts(crew: World) -> None:
    save(crew)
    first = use(crew, version="1", branch="next")
    content = copy.deepcopy(RELEASE)
    content["tasks"].pop()
    save(crew, content)
    second = use(crew, version="2")
    assert (len(first), len(second)) == (3, 2)
    assert not {each["task_id"] for each in first} & {each["task_id"] for each in second}
    assert first[1]["description"] == "From next."


def test_names_can_be_in_any_script(crew: World) -> None:
    """A template is named by its file, and a parameter by what people call it."""
    content = {"parameters": {"版": {}}, "tasks": [{"title": "リリース {{版}}"}]}
    save(crew, content, name="リリース")
    asked = {"project_id": crew.project_id, "name": "リリース", "values": {"版": "1.4.0"}}
    [made] = crew.owner.call("use_template", **asked)["task_ids"]
    assert crew.show(made)["title"] == "リリース 1.4.0"


def test_a_value_is_one_word_of_a_command_whatever_it_contains(crew: World) -> None:
    save(crew)
    build = use(crew, version="1", branch="x; rm -rf $HOME")[1]
    assert build["context"]["command"] == "./build.sh 'x; rm -rf $HOME'"


def test_tasks_in_progress_start_their_agents(crew: World) -> None:
    save(crew, without(assignee="w1", status="in_progress"))
    use(crew)
    assert crew.coordinator().starts() == ["w1"]


def test_a_task_that_cannot_be_created_leaves_none_of_them(crew: World) -> None:
    content = copy.deepcopy(RELEASE)
    content["tasks"][2]["assignee"] = "nobody"
    save(crew, content)
    before = crew.rows()["tasks"]
    told = refused(crew, "agentNotFound", "use_template", values={"version": "1"})
    assert "nobody" in told and "“Publish”: " in told
    assert crew.rows()["tasks"] == before


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "needs a value for version"),
        ({"version": "1", "brunch": "x"}, "no parameter brunch"),
        ({"version": 3}, "version"),
        ({"version": ""}, "needs a value for version"),
        ({"version": " "}, "needs a value for version"),
    ],
)
def test_wrong_values_are_refused_and_create_nothing(crew: World, values: Answer, says: str) -> None:
    save(crew, {"parameters": {"version": {}}, "tasks": [{"title": "Release {{version}}"}]})
    assert says in refused(crew, "validationError", "use_template", values=values)
    assert not crew.rows()["tasks"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"tasks": []}, "tasks"),
        (without(title=""), "title"),
        (without(titel="x"), "titel"),
        (without(title="{{version}}"), "is not one of the parameters"),
        (without(description="{{version}}"), "is not one of the parameters"),
        ({"parameters": {"version": {}}, **without(title="{{versoin}}")}, "did you mean version"),
        (without(parent="Plan"), "not the title of a task above it"),
        (without(depends_on=["Build"]), "not the title of a task above it"),
        ({"tasks": [{"title": "Build"}, {"title": "Build"}]}, "two tasks have the title"),
        (without(priority="soon"), "priority"),
        (without(acceptance=[{"wish": 1}]), "acceptance"),
        (without(touches=["../x"]), "pattern of paths"),
        (without(assignee="w1", queue="builds"), "“Build”: A task goes to one of these only: an assignee"),
        (without(status="in_progress"), "“Build”: A task cannot start in progress without an assignee."),
        (
            {
                "tasks": [
                    {"title": "Plan"},
                    {"title": "Build", "depends_on": ["Plan"], "status": "in_progress", "assignee": "w1"},
                ]
            },
            "“Build”: It cannot start in progress, because it depends on tasks that are new, too.",
        ),
        (
            {
                "tasks": [
                    {"title": "Plan"},
                    {"title": "Draw", "parent": "Plan"},
                    {"title": "Build", "parent": "Draw", "depends_on": ["Plan"]},
                ]
            },
            "“Build”: It cannot depend on a task of which it is a part.",
        ),
        ({"parameters": {"x": {}}, **without(context={"command": "{{x}} --help"})}, "command"),
        ({"parameters": {"a b": {}}, **without()}, "a b"),
    ],
)
def test_what_could_never_be_used_is_not_saved(crew: World, content: Answer, says: str) -> None:
    assert says in refused(crew, "validationError", definition=content)
    assert crew.owner.call("show_templates", project_id=crew.project_id)["templates"] == []


def test_too_much_is_refused(crew: World) -> None:
    tasks = [{"title": f"T{number}"} for number in range(201)]
    assert "200" in refused(crew, "validationError", definition={"tasks": tasks})
    save(crew)
    assert "1000" in refused(crew, "tooLarge", "use_template", values={"version": "x" * 1_001})


def test_values_that_grow_beyond_all_bounds_are_refused_before_they_are_filled_in(crew: World) -> None:
    tasks = [{"title": f"T{number}", "description": "{{x}}" * 1_000} for number in range(10)]
    save(crew, {"parameters": {"x": {}}, "tasks": tasks})
    assert "characters" in refused(crew, "validationError", "use_template", values={"x": "x" * 1_000})


def test_an_unknown_template_is_refused_with_the_nearest(crew: World) -> None:
    save(crew)
    assert "release" in refused(crew, "templateNotFound", "use_template", name="relaese")
    crew.owner.call("delete_template", project_id=crew.project_id, name="release")
    refused(crew, "templateNotFound", "show_template")


def test_the_template_of_another_project_is_not_found(crew: World) -> None:
    save(crew)
    other = crew.owner.call("create_project", name="Other", working_directory="/srv/other")["project_id"]
    crew.owner.refused("use_template", "templateNotFound", project_id=other, name="release")


def test_saving_the_same_again_changes_nothing(crew: World) -> None:
    for _ in range(2):
        save(crew)
    assert len(crew.events("template.saved")) == 1


def test_a_project_has_a_bounded_number_of_them(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toryo.domain.task_templates.MOST", 2)
    for each in ("one", "two", "two"):
        save(crew, name=each)
    assert "template delete" in refused(crew, "limitReached", name="three", definition=RELEASE)
