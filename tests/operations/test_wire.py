"""An answer about an entity says of each field what the field is: a key and a field with different types fail here, and
so does a new field that nobody has decided to tell or to keep back."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

import pytest

from toryo.domain.tasks import Details, Task
from toryo.operations.calls import schemas
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.wire import PAIRS, Pair, wire

catalogue()  # read now: all answers are declared

KEPT_BACK = {
    "Agent": "deactivated_at",
    "ApiKey": "",
    "Conversation": "high_id low_id settled told_initiator_at told_partner_at",
    "Delegation": "agent_id context conversation_id project_id root_id session_id task_id",
    "merge_queue.Entry": "conflict position reason trouble",
    "Event": "fact root_id",
    "Handoff": "accepted_by",
    "Launch": "by_passkey doing_at exit_reported_at nudged_at program_session refused_at_sign_in seen_at stop_reason "
    "stop_since takes_slot told_to_leave",
    "Memory": "alike",
    "Message": "project_id thread used_for watched",
    "Notification": "agent_id delivered_at project_id purpose session_id",
    "Project": "checks_tried",
    "Question": "alike check_id",
    "SavedView": "created_at",
    "Usage": "",
    "Waiting": "",
    "Worktree": "moved_base subtasks",
    "WorktreeJob": "coordinator_id options taken_at",
}
"""By entity, the fields that no answer about it tells."""
OF_TASK = (
    "blocked_by_guard blocked_by_person blocked_from blocked_on check_id checked_at children_ever dependencies_left "
    "depth has_acceptance idle_launches left_at left_event line_at line_rank look_dispatchable look_event max_attempts "
    "moved_at moved_from moved_session open_questions ordinal origin_id parent_attempt parent_id "
    "questions_ever root_id stalled_event timeout_seconds unreported_ends wait worked_attempt"
)
"""Those of a task, whose answers are put together of several entities."""


def parts(hint: Any) -> tuple[set[Any], bool]:
    """Its types but None, and whether it may be None."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return {each for each in kinds if each is not NoneType}, NoneType in kinds


def told(noun: type[Any], name: str) -> tuple[set[Any], bool]:
    """What an answer says of a field: its types, and whether it may be null."""
    found = getattr(noun, name, None)
    declares = next((each for each in noun.__mro__ if name in vars(each).get("__annotations__", ())), noun)
    of = found.fget if isinstance(found, property) else declares
    hint = get_type_hints(of)["return" if isinstance(found, property) else name]
    written = str((of.__annotations__)["return" if isinstance(found, property) else name])
    kinds, null = parts(hint)
    if written.startswith("Millis"):
        return {str}, null
    return {as_told(kind) for kind in kinds}, null


def as_told(kind: Any) -> Any:
    if get_origin(kind) is tuple:
        return list[get_args(kind)[0]]  # type: ignore[misc]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return frozenset(each.value for each in kind)
    return kind


def said(hint: Any) -> tuple[set[Any], bool]:
    kinds, null = parts(hint)
    return {frozenset(get_args(kind)) if get_origin(kind) is Literal else kind for kind in kinds}, null


def is_said(of_field: tuple[set[Any], bool], of_key: tuple[set[Any], bool]) -> bool:
    """Whether a key promises what the field holds. `Any` and `str` promise less of a dict and of an enum."""
    (held, may_be_null), (promised, null_is_promised) = of_field, of_key
    if Any in promised:
        return True
    vague = {str if isinstance(each, frozenset) else each for each in held}
    return may_be_null == null_is_promised and promised in (held, vague)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.answer.__name__)
def test_each_key_has_the_type_of_its_field(pair: Pair) -> None:
    promised = get_type_hints(pair.answer)
    whole = get_type_hints(pair.answer, include_extras=True)
    always = [key for key, hint in whole.items() if get_origin(hint) is not NotRequired]
    names = {key: pair.own.get(key, key) for key in always if key not in pair.later}
    wrong = {
        key: (told(pair.noun, name), said(promised[key]))
        for key, name in names.items()
        if isinstance(name, str) and not is_said(told(pair.noun, name), said(promised[key]))
    }
    assert wrong == {}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.answer.__name__)
def test_what_is_told_in_another_way_is_a_key_of_the_answer(pair: Pair) -> None:
    assert {*pair.own, *pair.later} <= {*pair.answer.__annotations__}


@pytest.mark.parametrize("name", KEPT_BACK)
def test_each_field_is_told_or_kept_back_on_purpose(name: str) -> None:
    of_it = [each for each in PAIRS if f"{each.noun.__module__}.{each.noun.__name__}".endswith(f".{name}")]
    names = {name for each in of_it for key in each.answer.__annotations__ for name in (key, each.own.get(key))}
    assert {each.name for each in fields(of_it[0].noun)} - names == {*KEPT_BACK[name].split()}


def test_each_field_of_a_task_is_told_to_people_or_kept_back_on_purpose() -> None:
    names = {each.name for noun in (Task, Details) for each in fields(noun)}
    assert names - {*schemas.PersonsTask.__annotations__} == {*OF_TASK.split()}


def test_a_key_without_a_field_is_refused_when_it_is_declared() -> None:
    pair = next(iter(PAIRS))
    with pytest.raises(TypeError, match="has no field nothing"):
        wire(pair.noun, pair.answer, **{next(iter(pair.answer.__annotations__)): "nothing"})
    assert PAIRS.pop().noun is pair.noun
