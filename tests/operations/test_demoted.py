"""A person's rights have one source, their account: who was an owner and is none any more is asked nothing that only
owners are, in whichever way they lost it; who became one is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.invariants import hold
from tests.operations.test_rights import ISSUER, forget_own_role, vouch
from tests.stories import World
from toryo.domain.agents import approvers
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.settings import AuthSettings, Settings
from toryo.storage.engine.database import Database

ADDRESS = "ann@example.org"


def by_an_owner(world: World, login: str) -> None:
    world.owner.call("change_person", person_id="ann", login=login)


def with_a_password(world: World, login: str) -> None:
    world.owner.call("set_password", person_id="ann", password="correct horse battery", login=login)


def by_the_identity_provider(world: World, login: str) -> None:
    world.owner.call("change_person", person_id="ann", email=ADDRESS)
    world.database.write(lambda connection: forget_own_role(connection, "ann"))
    assert vouch(world, issuer=ISSUER, subject="7", email=ADDRESS, login=login)["success"]


WAYS: dict[str, Callable[[World, str], None]] = {
    "by an owner": by_an_owner,
    "with a password": with_a_password,
    "by the identity provider": by_the_identity_provider,
}


@pytest.fixture
def house(database: Database, quick_passwords: None, quiet: None) -> World:
    """`ann` has an account; `w1` has nobody above it, so that owners are asked for it."""
    auth = AuthSettings(oidc_issuer=ISSUER, oidc_client_id="toryo", oidc_role_claim="groups")
    world = World(database, Settings(auth=auth))
    world.project(decomposition="never")
    world.worker("w1")
    world.owner.call("add_person", person_id="ann", login="member")
    return world


def seen(world: World) -> dict[str, Any]:
    """Whatever the readers of a person's role make of ann."""
    found: dict[str, Any] = {}

    def look(call: Call) -> None:
        agents = {each.id: each for each in call.tx.agents.all()}
        ann = agents["ann"]
        found["asked about"] = visibility.asked_about(call, ann)
        found["asked to approve"] = "ann" in [each.id for each in approvers("w1", agents, {}, lambda _: True)]

    world.dispatcher.housekeep(look)
    needs = world.owner.call("needs_you", as_person="ann")["items"]
    found["needs"] = sorted(each["kind"] for each in needs)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_who_was_an_owner_is_asked_what_one_who_never_was_is_asked(house: World, way: str) -> None:
    house.task("w1", status="todo")
    blocked = house.task("w1")
    house.move(blocked, "blocked", "no paint")
    never = seen(house)

    house.owner.call("change_person", person_id="ann", login="owner")
    hold(house)
    assert seen(house) != never
    WAYS[way](house, "member")
    hold(house)
    assert seen(house) == never


@pytest.mark.parametrize("way", WAYS)
def test_who_becomes_an_owner_is_asked_as_one(house: World, way: str) -> None:
    WAYS[way](house, "owner")
    hold(house)
    assert seen(house)["asked about"] is None
    assert seen(house)["asked to approve"]
