"""What a browser may do only shortly after its person has signed in: every operation that makes a credential or widens
a right declares it, tokens are never asked, and each way to sign in again is a proof.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stories import Browser, Caller, Refused, World
from toryo.domain.people import PROVEN_FOR
from toryo.domain.times import SECOND
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.catalogue import Operation, Proof, catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.idempotency import SECRETS

PASSWORD = "a few words in a row"
LATER = PROVEN_FOR / SECOND
OF_PEOPLE = (Grant.PERSON, Grant.WRITER, Grant.OWNER)
GIVES = (
    *("call.new_token", "people.put", "agents.set_passkey", "agents.join", "wider_rights.note"),
    *("wider_rights.told_of_login", "credential_revocation.change_role", "credential_revocation.make_known"),
)
"""By which an operation makes a credential or widens a right: its handler, or what that calls in its module."""
GIVES_NOTHING = {
    "resume_agent": "ends a cooldown; says `note` where others widen, through `_save_agent`",
    "deactivate_agent": "takes rights, through `_save_agent`",
    "pause_project": "as above, through `_save_project`",
    "resume_project": "as above",
    "archive_project": "as above",
    "rotate_server_token": "the new one is in a file of the server's machine, and is shown to nobody",
}


PROVED = {each.name for each in catalogue().values() if each.proof is not Proof.NEVER}


def called(handler: Callable[..., Any]) -> Iterator[str]:
    """The names that a handler calls, and those that functions of its module call for it."""
    module, seen, left = inspect.getmodule(handler), set[str](), [handler]
    while left:
        tree = ast.parse(textwrap.dedent(inspect.getsource(left.pop())))
        for call in ast.walk(tree):
            name = ast.unparse(call) if isinstance(call, ast.Attribute | ast.Name) else ""
            if isinstance(call, ast.Constant) and call.value in PROVED:  # asked for within this one
                yield "call.new_token"
            if name in seen:
                continue
            seen.add(name)
            yield name
            own = getattr(module, name, None)
            if inspect.isfunction(own) and own.__module__ == handler.__module__:
                left.append(own)


def gives(operation: Operation) -> bool:
    """Whether it answers a secret, or calls what gives one or a right."""
    answered = set(operation.output_schema.get("properties", {}))
    return bool(answered & SECRETS) or any(name.endswith(GIVES) for name in called(operation.handler))


EVERY = [each for each in catalogue().values() if each.grant in OF_PEOPLE]


def test_every_operation_of_people_that_gives_a_credential_or_a_right_declares_that_it_is_proved() -> None:
    given = {each.name for each in EVERY if gives(each) and not each.reads}
    declared = {each.name for each in EVERY if each.proof is not Proof.NEVER}
    assert given - declared == GIVES_NOTHING.keys() & given
    assert GIVES_NOTHING.keys() <= {each.name for each in EVERY} - declared
    assert declared >= {"make_access_token", "make_api_key", "add_person", "set_password", "make_sign_in_link"}


def test_nobody_but_people_is_asked() -> None:
    assert [each.name for each in catalogue().values() if each.proof is not Proof.NEVER and each not in EVERY] == []


@pytest.fixture
def house(world: World) -> World:
    world.project()
    world.worker("w1")
    world.owner.call("set_password", person_id="owner", password=PASSWORD)
    world.owner.call("add_person", person_id="ann", login="viewer")
    return world


def browser(world: World, **link: str) -> Browser:
    return Browser(world, world.nobody.call("sign_in", code=world.owner.call("make_sign_in_link", **link)["code"]))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each.name, marks=pytest.mark.deep if each.name == "start_demo" else ())
        for each in EVERY
        if each.proof is Proof.ALWAYS
    ],
)
def test_ten_minutes_after_a_sign_in_it_is_refused_before_anything_is_looked_at(house: World, name: str) -> None:
    left_open = browser(house)

    def asked(caller: Caller) -> bool:
        return (caller.ask(name).result or {}).get("error") == "proofRequired"

    assert not asked(left_open)
    house.advance(LATER - 1)
    assert not asked(left_open)
    house.advance(1)
    assert asked(left_open)
    assert not asked(house.owner)


WIDER: list[tuple[str, dict[str, Any]]] = [
    ("create_agent", {"id": "new", "role": "worker"}),
    ("edit_agent", {"agent_id": "w1", "role": "manager"}),
    ("activate_agent", {"agent_id": "gone"}),
    ("create_project", {"name": "x", "working_directory": "/srv/x", "settings": {"merge_queue": "automatic"}}),
    ("edit_project", {"settings": {"merge_queue": "automatic"}}),
    ("add_member", {"agent_id": "ann"}),
    ("change_person", {"person_id": "ann", "login": "member"}),
    ("change_person", {"person_id": "ann", "email": "a@example.org"}),
]
NOT_WIDER: list[tuple[str, dict[str, Any]]] = [
    ("create_agent", {"id": "new", "role": "worker", "preview": True}),
    ("edit_agent", {"agent_id": "w1", "name": "Will"}),
    ("edit_agent", {"agent_id": "w1", "role": "manager", "preview": True}),
    ("activate_agent", {"agent_id": "w1"}),
    ("create_project", {"name": "x", "working_directory": "/srv/x"}),
    ("edit_project", {"name": "y"}),
    ("add_member", {"agent_id": "w1"}),
    ("change_person", {"person_id": "ann", "name": "Ann"}),
]


def whole(world: World, name: str, given: dict[str, Any]) -> dict[str, Any]:
    of_project = name in ("edit_project", "add_member")
    return {**given, "project_id": world.project_id} if of_project else given


def test_every_operation_that_is_asked_only_where_it_widens_is_tried_both_ways() -> None:
    declared = {each.name for each in EVERY if each.proof is Proof.WHERE_WIDER}
    assert {name for name, _ in WIDER} == {name for name, _ in NOT_WIDER} == declared


@pytest.mark.parametrize(("name", "given"), WIDER)
def test_what_widens_a_right_is_refused_to_a_browser_of_long_ago_and_changes_nothing(
    house: World, name: str, given: dict[str, Any]
) -> None:
    house.owner.call("create_agent", id="gone", role="worker", kind="human")
    house.owner.call("deactivate_agent", agent_id="gone")
    left_open = browser(house)
    house.advance(LATER)
    before = house.owner.call("server_status")["last_event"]
    left_open.refused(name, "proofRequired", **whole(house, name, given))
    assert house.owner.call("server_status")["last_event"] == before
    house.owner.call(name, **whole(house, name, given))


@pytest.mark.parametrize(("name", "given"), NOT_WIDER)
def test_the_same_operation_is_not_asked_where_it_widens_nothing(
    house: World, name: str, given: dict[str, Any]
) -> None:
    left_open = browser(house)
    house.advance(LATER)
    assert left_open.call(name, **whole(house, name, given))


# --- proving ---------------------------------------------------------------------------------------------------------


def enter(world: World, tab: Browser, **how: str) -> dict[str, Any]:
    """As the page of this browser does it."""
    shown = Credentials(signed_in_before=tab.bearer, page=tab.page)
    outcome = world.perform("sign_in", how, shown)
    if outcome.refused:
        raise Refused("sign_in", outcome.result or {})
    return outcome.result or {}


@pytest.mark.parametrize("way", ["password", "link"])
def test_a_password_and_a_new_link_prove_it_again_and_the_browser_stays_signed_in(house: World, way: str) -> None:
    tab = browser(house)
    house.advance(LATER)
    how = (
        {"person_id": "owner", "password": PASSWORD}
        if way == "password"
        else {"code": house.owner.call("make_sign_in_link")["code"]}
    )
    answer = enter(house, tab, **how)
    assert (answer["browser_token"], answer["page_secret"]) == (tab.bearer, tab.page), "other tabs go on"
    assert tab.call("make_access_token", name="ci")
    house.advance(LATER)
    tab.refused("make_access_token", "proofRequired", name="ci")


def test_a_wrong_password_and_somebody_elses_prove_nothing(house: World) -> None:
    tab = browser(house)
    house.owner.call("set_password", person_id="ann", password=PASSWORD + "!")
    house.advance(LATER)
    with pytest.raises(Refused):
        enter(house, tab, person_id="owner", password="guessed")
    with pytest.raises(Refused):
        enter(house, tab, code="guessed")
    tab.refused("make_access_token", "proofRequired", name="ci")
    enter(house, tab, person_id="ann", password=PASSWORD + "!")
    tab.refused("make_access_token", "authenticationRequired", name="ci")


def test_a_link_that_a_browser_has_made_is_no_newer_proof_than_that_browsers_own(house: World) -> None:
    tab = browser(house)
    house.advance(LATER - 60)
    code = tab.call("make_sign_in_link")["code"]
    other = Browser(house, house.nobody.call("sign_in", code=code))
    assert other.call("make_access_token", name="ci")
    house.advance(60)
    other.refused("make_access_token", "proofRequired", name="ci")


def test_proving_again_does_not_keep_a_browser_signed_in_for_longer_than_its_way_in_allows(house: World) -> None:
    token = house.owner.call("make_access_token", name="short", days=1)["token"]
    tab = Browser(house, house.nobody.call("sign_in", code=Caller(house, token).call("make_sign_in_link")["code"]))
    house.advance(3600)
    enter(house, tab, person_id="owner", password=PASSWORD)
    house.advance(24 * 3600)
    tab.refused("who_am_i", "authenticationRequired")


# --- who is signed in ------------------------------------------------------------------------------------------------


def test_a_link_of_somebody_else_asks_before_it_signs_anybody_out(house: World) -> None:
    tab = browser(house)
    code = house.owner.call("make_sign_in_link", person_id="ann")["code"]
    with pytest.raises(Refused) as asked:
        enter(house, tab, code=code)
    assert asked.value.answer["person"]["person_id"] == "ann"
    assert asked.value.answer["instead_of"]["person_id"] == "owner"
    assert tab.call("who_am_i")["person_id"] == "owner"
    with pytest.raises(Refused):
        enter(house, tab, code=code, instead_of="ann")
    new = Browser(house, enter(house, tab, code=code, instead_of="owner"))
    assert new.call("who_am_i")["person_id"] == "ann"
    tab.refused("who_am_i", "authenticationRequired")


@pytest.mark.parametrize("lost", ["cookie", "page"])
def test_half_of_a_sign_in_ends_none(house: World, lost: str) -> None:
    """Who has got the cookie alone cannot sign its browser out either."""
    tab = browser(house)
    half = Credentials(
        signed_in_before=None if lost == "cookie" else tab.bearer, page=None if lost == "page" else "tps_x"
    )
    code = house.owner.call("make_sign_in_link", person_id="ann")["code"]
    assert not house.perform("sign_in", {"code": code}, half).refused
    assert tab.call("who_am_i")["person_id"] == "owner"
