"""People come in: links that open once, passwords and their lock-out, browsers, tokens, roles that count at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.stories import Answer, Browser, Caller, World
from toryo.domain.people import SIGN_IN_LIVES
from toryo.domain.times import DAY, SECOND
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.credential_verification import digest
from toryo.operations.calls.sign_in_lockout import OF_ADDRESS, OF_NAME
from toryo.operations.calls.sign_in_lockout import PASSWORD as BY_PASSWORD
from toryo.operations.people import password_hashing
from toryo.settings import AuthSettings, Settings
from toryo.storage.engine.database import Database

GOOD, OTHER = "a few words in a row", "some quite different words"


pytestmark = pytest.mark.usefixtures("quick_passwords")


@pytest.fixture
def house(world: World) -> World:
    """Its owner, a member `ann` of its project with a password, a viewer `vic`."""
    world.project()
    world.owner.call("add_person", person_id="ann", login="member", name="Ann", projects=[world.project_id])
    world.owner.call("add_person", person_id="vic", login="viewer")
    world.owner.call("set_password", person_id="ann", password=GOOD)
    return world


def link(who: Caller, **asked: Any) -> str:
    code: str = who.call("make_sign_in_link", **asked)["code"]
    return code


def browser(world: World, code: str) -> Browser:
    return Browser(world, world.nobody.call("sign_in", code=code))


def as_person(world: World, person_id: str) -> Browser:
    return browser(world, link(world.owner, person_id=person_id))


def try_password(world: World, person_id: str, password: str, remote: str | None = None) -> Answer:
    asked = {"person_id": person_id, "password": password}
    return world.perform("sign_in", asked, Credentials(remote=remote)).result or {}


# --- links -----------------------------------------------------------------------------------------------------------


def test_a_link_signs_a_browser_in_once(house: World):
    code = link(house.owner)
    me = browser(house, code).call("who_am_i")
    assert (me["person_id"], me["login"], me["signed_in_by"]) == ("owner", "owner", "link")
    assert "once" in house.nobody.refused("sign_in", "invalidCredentials", code=code)["message"]


def test_of_many_that_open_a_link_at_the_same_time_one_comes_in(house: World):
    code = link(house.owner)
    results = at_once(12, lambda _: house.dispatcher.perform("sign_in", {"code": code}, Credentials()).refused)
    assert sorted(results) == [False] + [True] * 11


def test_a_link_is_worth_nothing_after_ten_minutes(house: World):
    early, late = link(house.owner), link(house.owner)
    house.advance(590)
    browser(house, early)
    house.advance(20)
    house.nobody.refused("sign_in", "invalidCredentials", code=late)


def test_links_for_others_are_made_by_owners_only(house: World):
    ann = as_person(house, "ann")
    assert ann.call("who_am_i")["login"] == "member"
    ann.refused("make_sign_in_link", "permissionDenied", person_id="owner")
    ann.refused("make_sign_in_link", "permissionDenied", person_id="vic")
    assert browser(house, link(ann)).call("who_am_i")["person_id"] == "ann"


def test_a_link_never_makes_more_of_somebody_and_may_make_less(house: World):
    ann = as_person(house, "ann")
    ann.refused("make_sign_in_link", "permissionDenied", login="owner")
    made = link(house.owner, person_id="ann", login="owner")
    assert browser(house, made).call("who_am_i")["login"] == "member"
    looking = browser(house, link(house.owner, login="viewer"))
    assert looking.call("who_am_i")["login"] == "viewer"
    assert browser(house, link(looking)).call("who_am_i")["login"] == "viewer", "nor does a link made there"


def test_nobody_signs_in_as_a_program_a_stranger_or_somebody_inactive(house: World):
    house.worker("w1")
    house.owner.refused("make_sign_in_link", "validationError", person_id="w1")
    house.owner.refused("make_sign_in_link", "agentNotFound", person_id="ghost")
    code = link(house.owner, person_id="ann")
    house.owner.call("deactivate_agent", agent_id="ann")
    house.owner.refused("make_sign_in_link", "permissionDenied", person_id="ann")
    house.nobody.refused("sign_in", "invalidCredentials", code=code)
    assert try_password(house, "ann", GOOD)["error"] == "invalidCredentials"


def test_no_secret_stands_in_the_database_or_among_the_events(house: World):
    code = link(house.owner)
    token = house.nobody.call("sign_in", code=code)["browser_token"]
    made = house.owner.call("make_access_token", name="x")["token"]
    try_password(house, "ann", GOOD)
    kept = repr(house.rows())
    assert all(digest(each) in kept for each in (token, made)), "what is kept of them was read"
    for secret in (code, token, made, GOOD):
        assert secret not in kept


# --- browsers --------------------------------------------------------------------------------------------------------


def test_every_sign_in_is_a_new_browser_and_what_was_signed_out_stays_out(house: World):
    one, two = as_person(house, "ann"), as_person(house, "ann")
    assert one.bearer != two.bearer
    one.call("sign_out")
    one.refused("who_am_i", "authenticationRequired")
    assert two.call("who_am_i")["person_id"] == "ann"


def test_what_a_cookie_holds_is_worth_nothing_as_a_bearer(house: World):
    ann = as_person(house, "ann")
    Caller(house, ann.bearer).refused("who_am_i", "invalidCredentials")


def test_a_browser_is_signed_in_for_fourteen_days_and_not_longer(house: World):
    ann = as_person(house, "ann")
    house.advance(SIGN_IN_LIVES / SECOND - 60)
    assert ann.call("who_am_i")
    house.advance(61)
    ann.refused("who_am_i", "authenticationRequired")


def test_somebody_deactivated_is_out_at_once_and_a_role_counts_at_once(house: World):
    ann, program = as_person(house, "ann"), Caller(house, None)
    program.bearer = ann.call("make_access_token", name="mine")["token"]
    house.owner.call("change_person", person_id="ann", login="viewer")
    for who in (ann, program):
        assert who.call("who_am_i")["login"] == "viewer"
        who.refused("file_task", "permissionDenied", project_id=house.project_id, title="x")
    house.owner.call("change_person", person_id="ann", login="owner")
    assert ann.call("who_am_i")["login"] == "owner"
    assert program.call("who_am_i")["login"] == "member", "a token stays what it was made as"
    house.owner.call("deactivate_agent", agent_id="ann")
    ann.refused("who_am_i", "authenticationRequired")
    program.refused("who_am_i", "invalidCredentials")


def test_the_first_owner_stays_active_with_every_token(house: World):
    """Whoever holds the data directory is it: being deactivated would only take its tokens away."""
    house.owner.call("make_access_token", name="ci")
    refusal = house.owner.refused("deactivate_agent", "permissionDenied", agent_id="owner")
    assert "cannot be deactivated" in refusal["message"]
    assert [access_token["name"] for access_token in house.owner.call("list_access_tokens")["access_tokens"]] == ["ci"]


def test_people_see_and_end_their_own_browsers_and_owners_those_of_all(house: World):
    one, two, vic = as_person(house, "ann"), as_person(house, "ann"), as_person(house, "vic")
    listed = one.call("list_sign_ins")["sign_ins"]
    assert [each["this_one"] for each in listed] == [False, True]
    one.call("end_sign_in", sign_in_id=listed[0]["sign_in_id"])
    two.refused("who_am_i", "authenticationRequired")
    (of_vic,) = vic.call("list_sign_ins")["sign_ins"]
    one.refused("end_sign_in", "sessionNotFound", sign_in_id=of_vic["sign_in_id"])
    house.owner.call("end_sign_in", sign_in_id=of_vic["sign_in_id"])
    vic.refused("who_am_i", "authenticationRequired")


def test_what_is_long_over_is_forgotten(house: World):
    ann = as_person(house, "ann")
    ann.call("sign_out")
    try_password(house, "ghost", GOOD, "192.0.2.1")
    house.advance(31 * DAY / SECOND)
    house.housekeep()
    rows = house.rows()
    assert rows["sign_ins"] == rows["sign_in_links"] == []


# --- passwords -------------------------------------------------------------------------------------------------------


def test_who_knows_the_password_comes_in_and_who_does_not_learns_nothing(house: World):
    assert try_password(house, "ann", GOOD)["login"] == "member"
    answers = [try_password(house, person, OTHER) for person in ("ann", "vic", "ghost")]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["error"] == "invalidCredentials"


def test_ten_wrong_passwords_lock_out_whoever_it_is_for_a_quarter_of_an_hour(house: World):
    said = {}
    for person in ("ann", "ghost"):
        for _ in range(OF_NAME[BY_PASSWORD].most):
            assert try_password(house, person, OTHER)["error"] == "invalidCredentials"
        said[person] = try_password(house, person, GOOD)["error"]
    assert said == {"ann": "rateLimited", "ghost": "rateLimited"}, "which says nothing about who exists"
    assert [event["data"]["locked"] for event in house.events("person.refused")][OF_NAME[BY_PASSWORD].most - 1]
    assert as_person(house, "ann").call("who_am_i"), "a link goes on working"
    house.advance(OF_NAME[BY_PASSWORD].locked_for / SECOND)
    assert try_password(house, "ann", GOOD)["person_id"] == "ann"


def test_wrong_passwords_in_a_row_are_counted_and_a_right_one_begins_anew(house: World):
    for _ in range(3):
        for _ in range(OF_NAME[BY_PASSWORD].most - 1):
            try_password(house, "ann", OTHER)
        assert try_password(house, "ann", GOOD)["person_id"] == "ann"


def test_one_address_that_tries_many_people_is_locked_out_and_others_are_not(house: World):
    for number in range(OF_ADDRESS[BY_PASSWORD].most):
        try_password(house, f"person-{number}", OTHER, "192.0.2.1")
    assert try_password(house, "ann", GOOD, "192.0.2.1")["error"] == "rateLimited"
    assert try_password(house, "ann", GOOD, "192.0.2.2")["person_id"] == "ann"


def test_wrong_passwords_from_one_address_lock_nobody_out_elsewhere(house: World):
    for _ in range(OF_NAME[BY_PASSWORD].most):
        try_password(house, "ann", OTHER, "192.0.2.1")
    assert try_password(house, "ann", GOOD, "192.0.2.1")["error"] == "rateLimited"
    assert try_password(house, "ann", GOOD, "192.0.2.2")["person_id"] == "ann"


def test_wrong_passwords_for_people_who_do_not_exist_leave_nothing_behind(house: World):
    before = house.rows()
    for number in range(20):
        try_password(house, f"ghost-{number}", OTHER, "192.0.2.1")
    assert house.rows() == before


def test_wrong_passwords_at_the_same_time_are_all_counted(house: World):
    asked = {"person_id": "ann", "password": OTHER}
    at_once(OF_NAME[BY_PASSWORD].most, lambda _: house.dispatcher.perform("sign_in", asked, Credentials()).refused)
    assert try_password(house, "ann", GOOD)["error"] == "rateLimited"


def test_a_password_is_set_by_its_person_with_the_old_one_and_by_owners_without(house: World):
    ann, elsewhere = as_person(house, "ann"), as_person(house, "ann")
    ann.refused("set_password", "invalidCredentials", person_id="ann", password=OTHER)
    ann.refused("set_password", "invalidCredentials", person_id="ann", password=OTHER, old_password="x" * 12)
    ann.refused("set_password", "permissionDenied", person_id="vic", password=OTHER)
    ann.refused("set_password", "permissionDenied", person_id="ann", password=OTHER, old_password=GOOD, login="owner")
    ann.refused("set_password", "validationError", person_id="ann", password="short", old_password=GOOD)
    ann.call("set_password", person_id="ann", password=OTHER, old_password=GOOD)
    assert ann.call("who_am_i"), "this browser stays"
    elsewhere.refused("who_am_i", "authenticationRequired")
    assert try_password(house, "ann", GOOD)["error"] == "invalidCredentials"
    house.owner.call("set_password", person_id="ann", password=GOOD)
    ann.refused("who_am_i", "authenticationRequired")
    assert try_password(house, "ann", GOOD)["person_id"] == "ann"


def test_what_is_worth_less_than_its_person_cannot_set_the_persons_password(house: World):
    looking = browser(house, link(house.owner, login="viewer"))
    looking.refused("set_password", "permissionDenied", person_id="owner", password=OTHER)
    weak = Caller(house, as_person(house, "ann").call("make_access_token", name="x", login="viewer")["token"])
    weak.refused("set_password", "permissionDenied", person_id="ann", password=OTHER, old_password=GOOD)


def test_where_only_tokens_count_no_password_does(database: Database):
    world = World(database, Settings(auth=AuthSettings(people="tokens")))
    world.owner.call("set_password", person_id="owner", password=GOOD)
    assert try_password(world, "owner", GOOD)["error"] == "permissionDenied"
    assert browser(world, link(world.owner)).call("who_am_i")["login"] == "owner"


def test_verifying_a_password_holds_nobody_up_who_writes(house: World, monkeypatch: pytest.MonkeyPatch):
    """The writer is free while a password is verified: another write is done in the middle of it."""
    written = []

    def check(_hash: str | None, _password: str) -> password_hashing.Checked:
        written.append(house.dispatcher.perform("create_project", asked, house.owner.credentials).refused)
        return password_hashing.Checked(None, fits=False)

    asked = {"name": "Meanwhile", "working_directory": "/srv/meanwhile"}
    monkeypatch.setattr(password_hashing, "check", check)
    assert try_password(house, "ann", GOOD)["error"] == "invalidCredentials"
    assert written == [False]


def test_a_password_that_changes_while_it_is_verified_does_not_sign_in(house: World, monkeypatch: pytest.MonkeyPatch):
    verify = password_hashing.check

    def check(password_hash: str | None, password: str) -> password_hashing.Checked:
        checked = verify(password_hash, password)
        asked = {"person_id": "ann", "password": OTHER}
        house.dispatcher.perform("set_password", asked, house.owner.credentials)
        return checked

    monkeypatch.setattr(password_hashing, "check", check)
    assert try_password(house, "ann", GOOD)["error"] == "invalidCredentials"


def test_a_password_costs_a_thief_memory_and_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    password_hashing._hasher.cache_clear()
    hashed = password_hashing.check_and_hash(None, None, GOOD).new_hash
    assert hashed is not None
    assert hashed.startswith(f"$argon2id$v=19$m={password_hashing.MEMORY_KIB},t={password_hashing.PASSES},")
    assert password_hashing.MEMORY_KIB >= 46 * 1024


# --- who there is ----------------------------------------------------------------------------------------------------


def test_owners_see_how_people_sign_in_and_others_only_who_there_is(house: World):
    as_person(house, "ann")
    (ann,) = [person for person in house.owner.call("list_people")["people"] if person["person_id"] == "ann"]
    assert (ann["login"], ann["password"], ann["browsers"], ann["projects"]) == ("member", True, 1, [house.project_id])
    others = {person["person_id"]: set(person) for person in as_person(house, "vic").call("list_people")["people"]}
    assert set(others) == {"owner", "ann", "vic"}
    assert others["ann"] == {"person_id", "name", "login", "active", "version"}


def test_only_owners_add_change_and_remove_people(house: World):
    ann = as_person(house, "ann")
    ann.refused("add_person", "permissionDenied", person_id="bea", login="owner")
    ann.refused("change_person", "permissionDenied", person_id="ann", login="owner")
    ann.refused("remove_person", "permissionDenied", person_id="vic")


def test_ids_and_addresses_are_of_one_person_each(house: World):
    taken = house.owner.refused("add_person", "conflict", person_id="ann", login="viewer")
    assert "Person ann already exists" in taken["message"]
    assert "toryo person edit ann --role ROLE" in taken["instruction"]
    house.owner.refused("add_person", "validationError", person_id="Not An Id", login="viewer")
    house.owner.refused("add_person", "projectNotFound", person_id="bea", login="member", projects=["prj_x"])
    house.owner.call("change_person", person_id="ann", email="Ann@example.org")
    refusal = house.owner.refused("add_person", "conflict", person_id="bea", login="viewer", email="ann@example.org")
    assert refusal["existing_id"] == "ann"
    assert "bea" not in {person["person_id"] for person in house.owner.call("list_people")["people"]}


def test_an_address_is_cleared_by_null_and_free_for_somebody_else(house: World):
    house.owner.call("change_person", person_id="ann", email="ann@example.org")
    house.owner.call("change_person", person_id="ann", name="Ann")
    assert _address(house, "ann") == "ann@example.org"
    house.owner.call("change_person", person_id="ann", email=None)
    assert _address(house, "ann") is None
    house.owner.call("add_person", person_id="bea", login="viewer", email="ann@example.org")


def _address(house: World, person_id: str) -> str | None:
    shown = {person["person_id"]: person for person in house.owner.call("list_people")["people"]}
    found: str | None = shown[person_id]["email"]
    return found


def test_an_id_that_an_agent_or_somebody_removed_has_is_refused_with_what_exists(house: World):
    house.worker("bob")
    taken = house.owner.refused("add_person", "conflict", person_id="bob", login="viewer")
    assert "Agent bob already exists" in taken["message"]
    assert taken["instruction"].endswith("toryo agent edit bob")
    also = house.owner.refused("create_agent", "conflict", id="vic", name="Vic", role="worker")
    assert "Person vic already exists" in also["message"]
    house.owner.call("remove_person", person_id="vic")
    gone = house.owner.refused("add_person", "conflict", person_id="vic", login="viewer")
    assert "who was removed" in gone["message"]
    assert gone["instruction"].endswith("toryo agent activate vic")


def test_who_is_removed_has_no_way_in_left(house: World):
    ann, code = as_person(house, "ann"), link(house.owner, person_id="ann")
    program = Caller(house, ann.call("make_access_token", name="mine")["token"])
    gone = house.owner.call("remove_person", person_id="ann")
    assert (gone["signed_out"], gone["tokens_revoked"]) == (1, 1)
    ann.refused("who_am_i")
    program.refused("who_am_i")
    house.nobody.refused("sign_in", None, code=code)
    assert try_password(house, "ann", GOOD)["error"] == "invalidCredentials"
    assert "ann" not in {person["person_id"] for person in house.owner.call("list_people")["people"]}


def test_there_is_always_the_owner_whose_token_lies_in_the_data_directory(house: World):
    house.owner.refused("remove_person", "permissionDenied", person_id="owner")
    house.owner.refused("change_person", "permissionDenied", person_id="owner", login="viewer")
    house.owner.refused("set_password", "permissionDenied", person_id="owner", password=GOOD, login="member")


# --- access tokens ---------------------------------------------------------------------------------------------------


def test_a_token_is_named_shown_once_and_worth_nothing_when_revoked(house: World):
    ann = as_person(house, "ann")
    made = ann.call("make_access_token", name="nightly")
    program = Caller(house, made["token"])
    assert program.call("who_am_i")["person_id"] == "ann"
    (listed,) = ann.call("list_access_tokens")["access_tokens"]
    assert (listed["name"], listed["login"]) == ("nightly", "member")
    assert made["token"] not in repr(listed)
    ann.call("revoke_access_token", token_id=listed["token_id"])
    program.refused("who_am_i", "invalidCredentials")
    assert ann.call("list_access_tokens")["access_tokens"] == []


def test_a_token_may_do_no_more_than_who_makes_it(house: World):
    ann, vic = as_person(house, "ann"), as_person(house, "vic")
    ann.refused("make_access_token", "permissionDenied", name="x", login="owner")
    vic.refused("make_access_token", "permissionDenied", name="x", login="member")
    house.owner.refused("make_access_token", "permissionDenied", name="x", login="owner", person_id="ann")
    weak = Caller(house, ann.call("make_access_token", name="x", login="viewer")["token"])
    weak.refused("make_access_token", "permissionDenied", name="y", login="member")
    assert weak.call("who_am_i")["login"] == "viewer"
    weak.refused("file_task", "permissionDenied", project_id=house.project_id, title="x")


def test_a_token_ends_on_its_day(house: World):
    program = Caller(house, house.owner.call("make_access_token", name="x", days=7)["token"])
    house.advance(7 * DAY / SECOND - 60)
    assert program.call("who_am_i")
    house.advance(61)
    program.refused("who_am_i", "invalidCredentials")


def test_tokens_of_others_are_for_owners(house: World):
    ann, vic = as_person(house, "ann"), as_person(house, "vic")
    made = ann.call("make_access_token", name="x")["access_token"]
    vic.refused("list_access_tokens", "permissionDenied", person_id="ann")
    vic.refused("make_access_token", "permissionDenied", person_id="ann", name="x")
    vic.refused("revoke_access_token", "validationError", token_id=made["token_id"])
    assert house.owner.call("list_access_tokens", person_id="ann")["access_tokens"][0]["name"] == "x"
    house.owner.call("revoke_access_token", token_id=made["token_id"])


def test_the_day_of_the_last_use_is_known_and_costs_no_write_per_call(house: World):
    program = Caller(house, house.owner.call("make_access_token", name="x")["token"])
    program.call("who_am_i")
    assert house.owner.call("list_access_tokens")["access_tokens"][0]["last_used_on"] is None
    house.housekeep()
    (listed,) = house.owner.call("list_access_tokens")["access_tokens"]
    assert listed["last_used_on"] == house.iso()[:10]


def at_once(many: int, what: Callable[[int], Any]) -> list[Any]:
    """The results of so many calls that begin together."""
    ready, results = threading.Barrier(many), [None] * many

    def run(number: int) -> None:
        ready.wait(100)
        results[number] = what(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    return results


# --- several owners at once ------------------------------------------------------------------------------------------


def seen(world: World, person_id: str) -> int:
    people = world.owner.call("list_people")["people"]
    version: int = next(person["version"] for person in people if person["person_id"] == person_id)
    return version


def test_who_changes_a_person_that_was_changed_meanwhile_is_told(house: World) -> None:
    first = seen(house, "ann")
    house.owner.call("change_person", person_id="ann", login="viewer", version=first)
    refused = house.owner.refused("change_person", "conflict", person_id="ann", login="owner", version=first)
    assert refused["version"] == seen(house, "ann") > first
    assert next(
        person["login"] for person in house.owner.call("list_people")["people"] if person["person_id"] == "ann"
    ) == ("viewer")


def test_whatever_changes_a_person_gives_them_another_version(house: World) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("change_person", {"name": "Anna"}),
        ("change_person", {"email": "ann@example.org"}),
        ("change_person", {"login": "viewer"}),
        ("set_password", {"password": OTHER, "login": "member"}),
        ("edit_agent", {"agent_id": "ann", "name": "Ann"}),
    ]
    versions = [seen(house, "ann")]
    for name, asked in changes:
        house.owner.call(name, **{**({} if name == "edit_agent" else {"person_id": "ann"}), **asked})
        versions.append(seen(house, "ann"))
    assert versions == sorted(set(versions))


def test_who_is_no_owner_any_more_by_a_password_loses_what_they_made_for_others(house: World):
    house.owner.call("change_person", person_id="ann", login="owner")
    program = Caller(house, as_person(house, "ann").call("make_access_token", name="vics", person_id="vic")["token"])
    program.call("list_projects")
    house.owner.call("set_password", person_id="ann", password=OTHER, login="member")
    program.refused("list_projects", "invalidCredentials")
