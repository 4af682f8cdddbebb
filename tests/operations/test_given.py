"""What callers say of a task arrives at it: a field that a form has and the domain has not, or has as another type,
fails here."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from toryo.domain.creation_rules import Draft
from toryo.domain.tasks import Details, Priority, Said, Task
from toryo.operations.tasks import create_tools, edit_tools, given, mutations, request_tools, rest
from toryo.operations.tasks.queue_tasks import Wanted
from toryo.task_forms import PeoplesForm

PLACE = {"project_id", "task_id", "parent_task_id", "status", "intent", "message_id", "version"}
"""Where a task stands, and what else a call says: the operation itself takes these."""
FORMS = [
    (create_tools.BatchTask, Draft, set()),
    (create_tools.CreateTask, Draft, create_tools._QUEUE_FORM - {"agent_type"}),
    (create_tools.CreateTask, Wanted, create_tools._OWN_FORM),
    (create_tools.QueueTask, Wanted, set()),
    (request_tools.RequestTask, Draft, set()),
    (rest.FileTask, Draft, set()),
    (edit_tools.UpdateTask, Draft, set()),
    (rest.EditTask, Draft, {"add_dependencies", "remove_dependencies"}),
]
SAMPLES = {
    "start": "when_ready",
    "not_before": "2027-01-31T09:30+01:00",
    "priority": "urgent",
    "dependencies": ["tsk_1"],
    "acceptance": [edit_tools.UpdateTask(task_id="tsk_1")],
    "touches": ["src/"],
    "pool": given.GivenPool(capabilities=["python"]),
}


def plain(hint: Any) -> Any:
    """A type without its marks, and without None."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    return plain(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


@pytest.mark.parametrize(("form", "noun", "others"), FORMS, ids=lambda each: getattr(each, "__name__", ""))
def test_each_field_of_a_form_is_one_of_the_domain_and_of_its_type(
    form: type[BaseModel], noun: type[Any], others: set[str]
) -> None:
    said = get_type_hints(form, include_extras=True)
    kept = get_type_hints(noun)
    fields = form.model_fields.keys() - PLACE - others
    assert fields <= kept.keys()
    assert {name: plain(said[name]) for name in fields - given.READ.keys()} == {
        name: plain(kept[name]) for name in fields - given.READ.keys()
    }


def test_what_is_written_in_another_way_than_kept_is_read_as_the_type_that_the_domain_has() -> None:
    kept = get_type_hints(Draft)
    for name, read in given.READ.items():
        kinds = get_args(kept[name]) if type(None) in get_args(kept[name]) else (get_origin(kept[name]) or kept[name],)
        assert isinstance(read(SAMPLES[name]), kinds)
    assert given.READ["priority"]("urgent") is Priority.CRITICAL


def test_what_can_be_said_in_every_form_is_kept_by_a_task_and_by_its_draft() -> None:
    assert PeoplesForm.model_fields.keys() < {each.name for each in fields(Said)}


def test_all_that_a_draft_says_arrives_at_its_task() -> None:
    assert Draft.__dataclass_fields__.keys() - {"local_id", "dependencies"} <= {
        *Task.__dataclass_fields__,
        *Details.__dataclass_fields__,
    }
    assert {"title", *mutations._OF_DRAFT, "description", "context", "acceptance", "local_id", "dependencies"} == {
        *Draft.__dataclass_fields__
    }


def test_an_edit_says_of_a_task_and_of_its_details_what_its_form_says_and_not_who_does_it() -> None:
    said = {"task_id": "tsk_1", "title": "Paint", "description": "Red.", "assignee_id": "w1", "version": 1}
    assert given.edit(rest.EditTask(**said)) == {"title": "Paint", "description": "Red."}


def test_null_changes_nothing_but_what_it_clears() -> None:
    asked = rest.EditTask(task_id="tsk_1", title=None, touches=None, budget_usd=None, priority="urgent")
    assert given.edit(asked) == {"priority": Priority.CRITICAL, "budget_usd": None}
