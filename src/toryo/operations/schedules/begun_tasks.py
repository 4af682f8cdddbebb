"""Creates tasks that begin by themselves, with the rights of a person: by `file_task`, as they would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from toryo.domain.errors import Refusal
from toryo.operations.calls import permissions
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Later, catalogue
from toryo.operations.calls.credential_verification import at_most
from toryo.operations.calls.validation import parameters_of


@contextmanager
def with_the_rights_of(
    call: Call, person_id: str, login: str, project_id: str, not_active: Callable[[str], Refusal]
) -> Iterator[None]:
    """Within it the caller is that person, with no more than that role. Raises Refusal if they may create no tasks in
    the project, and `not_active` if they are not active.
    """
    person = call.tx.agents.find(person_id)
    if person is None or not person.active:
        raise not_active(person_id)
    before, call.caller = call.caller, Caller(Kind.PERSON, agent=person, login=at_most(call.tx, person, login))
    try:
        permissions.refuse(catalogue()["file_task"], call.caller)
        call.project(project_id)  # they may have left it
        yield
    finally:
        call.caller = before


def create(call: Call, project_id: str, task: Mapping[str, Any]) -> str:
    """The id of the task. Raises Refusal."""
    filing = catalogue()["file_task"]
    parameters = parameters_of(filing, {**task, "project_id": project_id})
    if isinstance(parameters, Refusal):
        raise parameters
    answer = filing.handler(call, parameters)
    assert not isinstance(answer, Later)
    task_id: str = answer["task_id"]
    return task_id
