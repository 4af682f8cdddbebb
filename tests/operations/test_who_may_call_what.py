"""Each kind of caller may call the operations of its grants, and no others: a table, beside every operation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.makers import NOW, agent, launch, session
from toryo.domain.agents import Role
from toryo.domain.errors import Refusal
from toryo.domain.launches import Purpose
from toryo.domain.queue import ApiKey
from toryo.operations.calls.callers import ORCHESTRATOR, Caller, Kind, Login
from toryo.operations.calls.catalogue import Operation, catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.permissions import is_allowed, refuse

WORKER = agent("w1", capabilities=())
MANAGER = agent("boss", role=Role.MANAGER, capabilities=())
CONDUCTOR = agent("q1", capabilities=(ORCHESTRATOR,))
AT_WORK = session("ses_1", "lau_1", purpose=Purpose.TASK)
CHATTING = session("ses_2", "lau_2", purpose=Purpose.CHAT)
KEY = ApiKey("key_1", "prj_1", "CI", "q1", (), orchestrator=False, tools=(), created_by="owner", created_at=NOW)

CALLERS = {
    "nobody": Caller(Kind.NOBODY),
    "a Coordinator": Caller(Kind.COORDINATOR, coordinator_id="c1"),
    "a process that has not signed in": Caller(Kind.LAUNCH, agent=MANAGER, launch=launch("lau_1", fence=1)),
    "a worker at work": Caller(Kind.SESSION, agent=WORKER, session=AT_WORK),
    "a manager at work": Caller(Kind.SESSION, agent=MANAGER, session=AT_WORK),
    "a session whose agent is gone": Caller(Kind.SESSION, session=AT_WORK),
    "a worker's chat": Caller(Kind.SESSION, agent=WORKER, session=CHATTING),
    "a manager's chat": Caller(Kind.SESSION, agent=MANAGER, session=CHATTING),
    "an orchestrator at work": Caller(Kind.SESSION, agent=CONDUCTOR, session=AT_WORK),
    "an agent's key": Caller(Kind.QUEUE, key=KEY),
    "an orchestrator's key": Caller(Kind.QUEUE, key=replace(KEY, orchestrator=True)),
    "a viewer": Caller(Kind.PERSON, agent=WORKER, login=Login.VIEWER),
    "a member": Caller(Kind.PERSON, agent=MANAGER, login=Login.MEMBER),
    "an owner": Caller(Kind.PERSON, agent=MANAGER, login=Login.OWNER),
    "the server itself": Caller(Kind.SERVER),
}
_ANY_SESSION = {Grant.ANY_SESSION, Grant.SHARER, Grant.READER}
_AT_WORK = {*_ANY_SESSION, Grant.TASK_SESSION, Grant.LEADING, Grant.FILER}
_KEY = {Grant.QUEUE_AGENT, Grant.SHARER, Grant.REGISTRAR}
_VIEWER = {Grant.READER, Grant.PERSON}
MAY: dict[str, set[Grant]] = {
    "nobody": {Grant.REGISTRAR},
    "a Coordinator": {Grant.COORDINATOR},
    "a process that has not signed in": set(),
    "a worker at work": _AT_WORK,
    "a manager at work": {*_AT_WORK, Grant.MANAGER},
    "a session whose agent is gone": _AT_WORK,
    "a worker's chat": {*_ANY_SESSION, Grant.CHAT_SESSION},
    "a manager's chat": {*_ANY_SESSION, Grant.CHAT_SESSION},
    "an orchestrator at work": {*_AT_WORK, Grant.QUEUE_AGENT},
    "an agent's key": _KEY,
    "an orchestrator's key": {*_KEY, Grant.FILER},
    "a viewer": _VIEWER,
    "a member": {*_VIEWER, Grant.WRITER},
    "an owner": {*_VIEWER, Grant.WRITER, Grant.OWNER},
    "the server itself": set(),
}
"""Beside what is open to everybody."""


@pytest.mark.parametrize("who", CALLERS)
def test_a_caller_may_call_the_operations_of_its_grants_and_no_others(who: str) -> None:
    may = {*MAY[who], Grant.OPEN}
    assert {each.name: each.grant for each in catalogue().values() if is_allowed(each, CALLERS[who])} == {
        each.name: each.grant for each in catalogue().values() if each.grant in may
    }


def test_the_table_leaves_out_no_grant() -> None:
    assert {each.grant for each in catalogue().values()} <= {
        Grant.OPEN,
        *(one for each in MAY.values() for one in each),
    }


def test_a_key_that_was_made_for_some_tools_calls_no_others() -> None:
    limited = Caller(Kind.QUEUE, key=replace(KEY, orchestrator=True, tools=("poll_tasks", "create_project")))
    keyed = [each for each in catalogue().values() if each.grant in {*_KEY, Grant.FILER}]
    assert {each.name for each in keyed if is_allowed(each, limited)} == {"poll_tasks"}
    assert not is_allowed(catalogue()["create_project"], limited), "what is not for keys is not for this one"


@pytest.mark.parametrize("who", CALLERS)
def test_whoever_may_not_is_told_what_to_do_and_who_is_signed_in_is_not_told_to_sign_in(who: str) -> None:
    told = {
        str(refused(each, CALLERS[who]).instruction)
        for each in catalogue().values()
        if not is_allowed(each, CALLERS[who])
    }
    assert "" not in told
    signed_in = CALLERS[who].session is not None or CALLERS[who].is_person
    assert not signed_in or not [each for each in told if "authenticate" in each]


def refused(operation: Operation, caller: Caller) -> Refusal:
    with pytest.raises(Refusal) as found:
        refuse(operation, caller)
    return found.value
