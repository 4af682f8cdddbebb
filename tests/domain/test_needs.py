"""What a person is asked: a request exactly as it would be carried out, and the order of what is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from toryo.domain.needs import Kind, Need, Request, request_from


def asked(**given: Any) -> Request:
    what: dict[str, Any] = {
        "title": "Paint",
        "description": "The door",
        "context": None,
        "acceptance": [],
        "assignee_id": "ann",
        "created_by": "boss",
        "requested_by": None,
        "version": 3,
    }
    return request_from(**{**what, **given})


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("make test", "make test"),
        ("make  test", '"make  test"'),
        ("make\ttest", '"make\\ttest"'),
        ("rm -rf /\nmake test", '"rm -rf /\\nmake test"'),
        (["make", "test"], '["make", "test"]'),
        (7, "7"),
    ],
)
def test_a_command_is_shown_as_it_is_where_nothing_of_it_is_hidden_and_as_json_otherwise(
    command: Any, shown: str
) -> None:
    assert asked(context={"command": command}).commands == (shown,)
    request = asked(acceptance=[{"command": command, "timeout": 5}])
    assert (request.commands, request.acceptance) == ((shown,), (shown,))


def test_what_is_checked_without_a_command_is_no_command() -> None:
    request = asked(context={"colour": "red"}, acceptance=[{"text": "It is dry"}, {"command": "make test"}])
    assert request.commands == ("make test",)
    assert request.acceptance == ('{"text": "It is dry"}', "make test")
    assert request.context == '{"colour": "red"}'
    assert asked(context=["command"]).commands == ()
    assert asked().context is None


@pytest.mark.parametrize(("by", "shown"), [(None, None), ("boss", None), ("ann", "ann")])
def test_who_asked_is_named_where_another_one_has_created_it(by: str | None, shown: str | None) -> None:
    assert asked(requested_by=by).asked_for == shown


@pytest.mark.parametrize(
    "part",
    [
        {"description": "123456"},
        {"context": "1234"},
        {"context": {"command": "123456"}},
        {"acceptance": [{"command": "123456"}]},
        {"acceptance": [{"t": 1234567}]},
    ],
)
def test_each_part_that_is_longer_than_what_a_list_shows_is_cut_and_then_it_is_not_complete(
    part: dict[str, Any],
) -> None:
    cut = asked(**{"description": "", **part}, shown=5)
    assert not cut.complete
    texts = [cut.description, cut.context or "", *cut.commands, *cut.acceptance]
    assert max(len(each) for each in texts) == 5
    assert asked(**{"description": "", **part}).complete


def test_what_is_just_as_long_as_a_list_shows_is_complete() -> None:
    request = asked(description="12345", context=123, acceptance=[{"command": "12345"}], shown=5)
    assert request.complete
    assert (request.description, request.acceptance, request.commands) == ("12345", ("12345",), ("12345",))


def test_the_most_urgent_kind_comes_first_and_of_one_kind_the_newest() -> None:
    old = Need("hana", Kind.TASK, "tsk_1", "Paint", "", 5, ())
    new, urgent = replace(old, about="tsk_2", since=6), replace(old, kind=Kind.APPROVAL, since=1)
    assert sorted([old, new, urgent], key=lambda need: need.order) == [urgent, new, old]
    assert [each.key for each in (old, urgent)] == ["task tsk_1", "approval tsk_1"]
