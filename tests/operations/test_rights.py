"""Whoever loses a right loses it everywhere at once: browsers, links, tokens and what was made with them, sessions, API
keys, and calls that wait. A table of (right taken away) x (place where it was used).

Every operation that takes something away stands in the table, or is exempt with a reason.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from tests.stories import Browser, Caller, Following, World
from toryo.domain.errors import Refusal
from toryo.domain.people import OWNER
from toryo.domain.times import DAY, SECOND, iso
from toryo.operations.calls.call import RIGHTS
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.people import browser_sign_in, credential_revocation, provider_accounts
from toryo.operations.people.credential_revocation import bootstrap
from toryo.settings import AuthSettings, Settings
from toryo.storage.engine.database import Database
from toryo.storage.transaction import Transaction

PASSWORD = "a few words in a row"
ISSUER = "https://id.example.org"


pytestmark = pytest.mark.usefixtures("quick_passwords")


def opened(world: World, code: str) -> Browser:
    return Browser(world, world.nobody.call("sign_in", code=code))


def waits(caller: Caller) -> bool:
    """Whether a call that waits for news goes on waiting (and would be told them)."""
    last = caller.world.owner.call("read_events", newest=True, limit=1)["last"]
    asked = {"after": last, "wait_seconds": 30}
    return caller.world.perform("read_events", asked, caller.credentials, may_wait=True).later is not None


# --- people ----------------------------------------------------------------------------------------------------------


@dataclass
class Household:
    """An owner `ann`, everything that she is signed in with or has made, and how to see whether it still opens."""

    world: World
    things: dict[str, Any] = field(default_factory=dict)

    def opens(self, place: str) -> bool:
        thing = self.things[place]
        if place.startswith("wait"):
            return waits(thing)
        if "link" in place:
            return not self.world.nobody.ask("sign_in", code=thing).refused
        return not thing.ask("who_am_i").refused

    @property
    def open(self) -> set[str]:
        """Links are looked at last: opening one uses it up."""
        return {thing for thing in sorted(self.things, key=lambda thing: "link" in thing) if self.opens(thing)}


def household(world: World) -> Household:
    world.project()
    world.owner.call("add_person", person_id="ann", login="owner", projects=[world.project_id])
    world.owner.call("add_person", person_id="vic", login="viewer")

    def link(who: Caller, **asked: Any) -> str:
        code: str = who.call("make_sign_in_link", **asked)["code"]
        return code

    def token(who: Caller, **asked: Any) -> Caller:
        return Caller(world, who.call("make_access_token", name="x", **asked)["token"])

    browser = opened(world, link(world.owner, person_id="ann"))
    parent = token(browser, days=1)
    things: dict[str, Any] = {
        "browser": browser,
        "link of the browser": link(browser),
        "token": parent,
        "wait of the token": parent,
        "token of the token": token(parent),
        "token of the token of the token": token(token(parent)),
        "link of the token": link(parent),
        "browser of the token": opened(world, link(parent)),
        "token of the browser of the token": token(opened(world, link(parent))),
        "token for vic": token(browser, person_id="vic"),
        "link for vic": link(browser, person_id="vic"),
        "browser for vic": opened(world, link(browser, person_id="vic")),
    }
    found = Household(world, things)
    assert all(found.opens(thing) for thing in things if "link" not in thing), "everything opens before"
    return found


FOR_VIC = {"token for vic", "link for vic", "browser for vic"}
OF_TOKEN = {
    *("token", "wait of the token", "token of the token", "token of the token of the token"),
    *("link of the token", "browser of the token", "token of the browser of the token"),
}
OF_BROWSER = {"browser", "link of the browser"}
EVERYTHING = FOR_VIC | OF_TOKEN | OF_BROWSER
LINKS = {each for each in EVERYTHING if "link" in each}
BROWSERS = {"browser", "browser of the token"}


def _own_token(world: World, house: Household) -> str:
    tokens = house.things["token"].call("list_access_tokens")["access_tokens"]
    (found,) = [token["token_id"] for token in tokens if token["this_one"]]
    return str(found)


def _this_browser(house: Household) -> str:
    listed = house.things["browser"].call("list_sign_ins")["sign_ins"]
    (found,) = [each["sign_in_id"] for each in listed if each["this_one"]]
    return str(found)


def _set_password(world: World, house: Household) -> None:
    world.owner.call("set_password", person_id="ann", password=PASSWORD)


def _vouched_without_a_role(world: World, house: Household) -> None:
    """She comes back from the identity provider, and is in none of its groups any more."""
    person = {"issuer": ISSUER, "subject": "7", "email": "ann@example.org"}
    vouch(world, **person, login="owner")
    world.database.write(lambda connection: forget_own_role(connection, "ann"))
    assert vouch(world, **person)["success"] is False


PEOPLE: dict[str, tuple[Callable[[World, Household], object], set[str]]] = {
    "remove_person": (lambda w, h: w.owner.call("remove_person", person_id="ann"), EVERYTHING),
    "deactivate_agent": (lambda w, h: w.owner.call("deactivate_agent", agent_id="ann"), EVERYTHING),
    "revoke_access_token": (lambda w, h: w.owner.call("revoke_access_token", token_id=_own_token(w, h)), OF_TOKEN),
    "a token's last day": (lambda w, h: w.advance(DAY / SECOND), OF_TOKEN | LINKS),
    "end_sign_in": (lambda w, h: w.owner.call("end_sign_in", sign_in_id=_this_browser(h)), {"browser", *LINKS}),
    "sign_out": (lambda w, h: h.things["browser"].call("sign_out"), OF_BROWSER | {"link of the token"}),
    "set_password": (_set_password, BROWSERS | LINKS),
    "change_person": (lambda w, h: w.owner.call("change_person", person_id="ann", login="member"), FOR_VIC | LINKS),
    "a role that the provider takes away": (_vouched_without_a_role, EVERYTHING),
}


@pytest.mark.parametrize("taken", PEOPLE)
def test_what_a_person_loses_is_lost_wherever_it_was_used(fresh: Database, taken: str):
    settings = Settings(auth=AuthSettings(oidc_issuer=ISSUER, oidc_client_id="toryo", oidc_role_claim="groups"))
    world = World(fresh, settings)
    house = household(world)
    world.owner.call("change_person", person_id="ann", email="ann@example.org")
    take, lost = PEOPLE[taken]
    shown = {place: thing.credentials for place, thing in house.things.items() if "link" not in place}
    following = Following(world, shown.values())
    take(world, house)
    still = following.read()
    assert {place for place in shown if shown[place] in still} == shown.keys() - lost
    assert house.open == EVERYTHING - lost


def test_who_is_no_owner_any_more_is_none_anywhere(world: World):
    house = household(world)
    world.owner.call("change_person", person_id="ann", login="viewer")
    for place in OF_TOKEN | OF_BROWSER:
        if "link" not in place and "wait" not in place:
            house.things[place].refused("add_person", "permissionDenied", person_id="bob", login="viewer")
            house.things[place].refused("pause_project", "permissionDenied", project_id=world.project_id)


def test_a_new_token_in_the_data_directory_ends_the_old_one_and_what_was_made_with_it(fresh: Database):
    world = World(fresh)
    world.project()
    made = Caller(world, world.owner.call("make_access_token", name="x")["token"])
    browser = opened(world, world.owner.call("make_sign_in_link")["code"])
    unopened = world.owner.call("make_sign_in_link")["code"]
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_another_owner")
    for caller in (world.owner, made):
        caller.refused("who_am_i", "invalidCredentials")
    browser.refused("who_am_i", "authenticationRequired")
    world.nobody.refused("sign_in", "invalidCredentials", code=unopened)
    assert Caller(world, "tpt_another_owner").call("who_am_i")["login"] == OWNER


class Files:
    """A data directory that numbers its new tokens."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.made = 0

    def renew(self, name: str) -> str:
        self.made += 1
        prefix = "tpt" if name == credential_revocation.OWNER else "tct"
        return f"{prefix}_{self.place}_{self.made}"


def with_files(world: World, place: str = "here") -> Files:
    files = Files(place)
    world.dispatcher.context = _with(world.dispatcher.context, files)
    return files


def _with(context: Any, files: Files) -> Any:
    return replace(context, tokens=files)


@pytest.mark.parametrize(("which", "kind"), [("owner", "tpt"), ("coordinator", "tct")])
def test_a_rotated_token_is_refused_and_the_new_one_is_good(fresh: Database, which: str, kind: str):
    world = World(fresh)
    with_files(world)
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_owner")
    world.owner.call("rotate_server_token", which=which)
    old, new = Caller(world, f"{kind}_{which}"), Caller(world, f"{kind}_here_1")
    name = "who_am_i" if which == "owner" else "list_managed_agents"
    old.refused(name, "invalidCredentials")
    assert new.call(name)["success"]


OURS = ("tct_coordinator", "tpt_owner")


@pytest.mark.parametrize("which", ["owner", "coordinator"])
def test_a_rotation_leaves_the_other_token_and_those_of_other_servers_as_they_are(fresh: Database, which: str):
    world = World(fresh)
    for place, tokens in (("here", OURS), ("there", ("tct_there", "tpt_there")), ("here", OURS)):
        with_files(world, place)
        bootstrap(world.dispatcher, *tokens)
    world.owner.call("rotate_server_token", which=which)
    kept = {"tpt_there": "who_am_i", "tct_there": "list_managed_agents"}
    kept |= {OURS[0]: "list_managed_agents"} if which == "owner" else {OURS[1]: "who_am_i"}
    assert all(Caller(world, token).call(name)["success"] for token, name in kept.items())


def test_a_revoked_token_whose_file_comes_back_gives_way_to_a_new_one(fresh: Database):
    world = World(fresh)
    files = with_files(world)
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_owner")
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_second")
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_owner")
    world.owner.refused("who_am_i", "invalidCredentials")
    assert files.made == 1
    assert Caller(world, "tpt_here_1").call("who_am_i")["login"] == OWNER


def test_servers_that_share_a_database_have_tokens_of_their_own_which_owners_list_and_revoke(fresh: Database):
    world = World(fresh)
    with_files(world, "here")
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_owner")
    with_files(world, "there")
    bootstrap(world.dispatcher, "tct_there", "tpt_there")
    with_files(world, "here")
    bootstrap(world.dispatcher, "tct_coordinator", "tpt_owner")
    other = Caller(world, "tpt_there")
    assert other.call("who_am_i")["login"] == OWNER
    listed = world.owner.call("list_server_tokens")["server_tokens"]
    assert {(each["file"], each["this_server"]) for each in listed} == {
        (file, here) for file in ("owner.token", "coordinator.token") for here in (True, False)
    }
    assert not any("tpt_" in str(each) or "tct_" in str(each) for each in listed)
    ids = {(each["file"], each["this_server"]): each["token_id"] for each in listed}
    world.owner.refused("revoke_server_token", "notNow", token_id=ids["owner.token", True])
    world.owner.call("revoke_server_token", token_id=ids["owner.token", False])
    other.refused("who_am_i", "invalidCredentials")


# --- what makes more than it is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["viewer", "member"])
def test_a_viewers_link_is_worth_no_more_than_a_viewer(world: World, role: str):
    """A token or browser of an owner that is worth less makes no link or token that is worth more."""
    token = Caller(world, world.owner.call("make_access_token", name="wall", login=role)["token"])
    browser = opened(world, world.owner.call("make_sign_in_link", login=role)["code"])
    for each in (token, browser):
        for more in ("owner", *(["member"] if role == "viewer" else [])):
            each.refused("make_sign_in_link", "permissionDenied", login=more)
            each.refused("make_access_token", "permissionDenied", name="x", login=more)
        for made in (
            opened(world, each.call("make_sign_in_link")["code"]),
            Caller(world, each.call("make_access_token", name="x")["token"]),
        ):
            assert made.call("who_am_i")["login"] == role
            made.refused("add_person", "permissionDenied", person_id="bob", login="owner")


def test_a_token_that_ends_makes_nothing_that_lasts_longer(world: World):
    ends = world.now + DAY
    token = Caller(world, world.owner.call("make_access_token", name="x", days=1)["token"])
    for asked in ({}, {"days": 30}):
        made = token.call("make_access_token", name="y", **asked)["access_token"]
        assert made["expires_at"] <= iso(ends + 1_000)
    world.advance(DAY / SECOND - 300)
    assert token.call("make_sign_in_link")["expires_at"] <= iso(ends + 1_000)
    browser = opened(world, token.call("make_sign_in_link")["code"])
    child = Caller(world, browser.call("make_access_token", name="z", days=30)["token"])
    world.advance(301)
    browser.refused("who_am_i", "authenticationRequired")
    child.refused("who_am_i", "invalidCredentials")


# --- agents ----------------------------------------------------------------------------------------------------------


@dataclass
class Place:
    """Where an agent is at work, and calls that show whether it still is: none of them may succeed afterwards."""

    caller: Caller
    calls: tuple[tuple[str, dict[str, Any]], ...]


IN_SESSION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("save_progress", {"progress": "still here"}),
    ("get_my_task", {}),
    ("list_tasks", {}),
    ("set_shared_state", {"key": "k", "value": 1}),
    ("get_shared_state", {"key": "k"}),
    ("authenticate", {}),
)


def crew(world: World) -> dict[str, Place]:
    """`w1` by its Coordinator, `w2` by its passkey, `q1` by an API key; each at work."""
    world.crew(workers=2)
    for each in ("w1", "w2"):
        world.task(each)
    process = world.start("w1")
    asked = {"agent_id": "w2", "passkey": world.passkeys["w2"]}
    by_hand = Caller(world, None, world.nobody.call("authenticate", **asked)["session_token"])
    key = world.owner.call("make_api_key", project_id=world.project_id, orchestrator=True)
    program = Caller(world, key["token"])
    program.call("register_agent", agent_id="q1", agent_type="build")
    program.call("create_task", agent_type="build", task_description="Build it")
    (claimed,) = program.call("poll_tasks", agent_id="q1")["result"]
    in_queue = (
        ("poll_tasks", {"agent_id": "q1"}),
        ("heartbeat", {"agent_id": "q1"}),
        ("submit_result", {"task_id": claimed["task_id"], "status": "completed"}),
        ("get_task_status", {"task_id": claimed["task_id"]}),
        ("register_agent", {"agent_id": "q1", "agent_type": "build"}),
        ("create_task", {"agent_type": "build", "task_description": "More"}),
        ("set_shared_state", {"key": "k", "value": 1}),
    )
    world.owner.call("add_member", project_id=world.project_id, agent_id="q1")
    return {
        "w1": Place(process, IN_SESSION),
        "w2": Place(by_hand, IN_SESSION),
        "q1": Place(program, in_queue),
    }


def _key_of(world: World, agent_id: str) -> str:
    keys = world.owner.call("list_api_keys", project_id=world.project_id)["keys"]
    (found,) = [key["key_id"] for key in keys if key["agent_id"] == agent_id]
    return str(found)


def _remove(world: World, agent_id: str) -> None:
    world.owner.call("remove_member", project_id=world.project_id, agent_id=agent_id)


def _end(world: World, agent_id: str) -> None:
    (found,) = [session["session_id"] for session in world.sessions() if session["agent_id"] == agent_id]
    world.owner.call("end_session", session_id=found)
    world.advance(61)  # until then it reads, and leaves notes


def _exited(world: World) -> None:
    (launch,) = [each["launch_id"] for each in world.launches(agent_id="w1")]
    world.coordinator().call("report_process_exit", launch_id=launch, exit_code=0)
    world.advance(61)


def _deactivate(world: World, agent_id: str) -> None:
    world.owner.call("deactivate_agent", agent_id=agent_id)


AGENTS: dict[tuple[str, str], Callable[[World], object]] = {
    **{("remove_member", each): partial(_remove, agent_id=each) for each in ("w1", "w2", "q1")},
    **{("deactivate_agent", each): partial(_deactivate, agent_id=each) for each in ("w1", "w2", "q1")},
    **{("end_session", each): partial(_end, agent_id=each) for each in ("w1", "w2")},
    ("renew_passkey", "w2"): lambda w: w.owner.call("renew_passkey", agent_id="w2"),
    ("revoke_api_key", "q1"): lambda w: w.owner.call("revoke_api_key", key_id=_key_of(w, "q1")),
    ("report_process_exit", "w1"): _exited,
}


@pytest.mark.parametrize(("taken", "agent_id"), AGENTS)
def test_what_an_agent_loses_is_lost_wherever_it_works(world: World, taken: str, agent_id: str):
    places = crew(world)
    place = places[agent_id]
    for name, arguments in place.calls[:2]:
        assert not place.caller.ask(name, **arguments).refused, f"{name} works before"
    AGENTS[taken, agent_id](world)
    for name, arguments in place.calls:
        place.caller.refused(name, None, **arguments)
    if agent_id != "q1":
        task = next(launch for launch in world.launches(agent_id=agent_id))["task_id"]
        before = world.show(task)
        place.caller.ask("report_completed", result="success", summary="done by nobody")
        assert world.show(task) == before, "its task stays as it was"
        assert place.caller.call("get_next_action")["action"] == "exit"
    untouched = [each for name, each in places.items() if name != agent_id]
    for other in untouched:
        name, arguments = other.calls[0]
        assert not other.caller.ask(name, **arguments).refused, "others go on"


def test_what_somebody_who_is_dismissed_had_claimed_goes_back_at_once(world: World):
    crew(world)
    (task,) = [each for each in world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]
               if each.get("agent_type") == "build"]  # fmt: skip
    assert world.status(task["task_id"]) == "in_progress"
    world.owner.call("deactivate_agent", agent_id="q1")
    assert world.status(task["task_id"]) == "todo"


def test_a_new_passkey_ends_no_process_that_a_coordinator_has_started(world: World):
    places = crew(world)
    world.owner.call("renew_passkey", agent_id="w1")
    assert places["w1"].caller.call("save_progress", progress="still here")["success"]


# --- every operation that takes something away -----------------------------------------------------------------------

TAKES = re.compile(
    r"^(revoke|remove|deactivate|disable|renew|rotate|end|sign_out|set_password|change|archive|pause"
    r"|close|stop|discard|cancel|unregister|logout|delete|reject|restore|forget|expel|demote|report_process_exit)"
)
EXEMPT = {
    "delete_saved_view": "no right depends on it",
    "rotate_server_token": "test_a_rotated_token_is_refused_and_the_new_one_is_good",
    "revoke_server_token": "test_servers_that_share_a_database_have_tokens_of_their_own_which_owners_list_and_revoke",
    "archive_project": "rests a project; takes nobody's right to it away",
    "delete_artifact": "no right depends on it",
    "delete_memory": "no right depends on it",
    "pause_webhook": "rests a webhook",
    "rotate_webhook_secret": "test_the_secret_is_shown_once_and_a_new_one_makes_the_old_one_worthless",
    "delete_webhook": "its tasks stay; its secret is worth nothing from then on: tests/operations/test_webhooks.py",
    "pause_schedule": "rests a schedule",
    "delete_template": "the tasks that it has created stay",
    "delete_schedule": "its tasks stay; no credential rests on it",
    "pause_project": "rests a project; takes nobody's right to it away",
    "logout": "the caller's own session, which has left by itself",
    "unregister_agent": "the caller's own presence; its key stays good",
    "cancel_task": "changes a task; no credential rests on it (withdrawn work: tests/operations/test_withdrawn.py)",
    "reject_task": "changes a task",
    "discard_task_work": "removes a worktree",
    "remove_from_merge_queue": "changes what is merged; no right depends on it",
    "pause_merge_queue": "rests a queue; takes nobody's right to it away",
    "remove_demo": "removes the demo's project",
    "close_chat": "closes a panel",
    "stop_conversation": "ends talk between agents",
    "end_conversation": "ends talk between agents",
}


def test_every_operation_that_takes_something_away_is_in_the_table_or_exempt():
    named = {each for each in catalogue() if TAKES.match(each)}
    tested = {*PEOPLE, *(taken for taken, _ in AGENTS)} & set(catalogue())
    assert named - tested == EXEMPT.keys(), "put it into the table, or say why not"
    assert tested <= named


# --- whoever waits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", sorted(each for each in PEOPLE if each != "a token's last day"))
def test_whoever_waits_is_woken_when_a_right_is_taken_away(fresh: Database, taken: str):
    """The hint makes every call that waits look again, and its caller is asked for anew at that look."""
    settings = Settings(auth=AuthSettings(oidc_issuer=ISSUER, oidc_client_id="toryo", oidc_role_claim="groups"))
    world = World(fresh, settings)
    house = household(world)
    world.owner.call("change_person", person_id="ann", email="ann@example.org")
    world.hints.clear()
    PEOPLE[taken][0](world, house)
    assert any(RIGHTS in hint for hint in world.hints)


@pytest.mark.parametrize(("taken", "agent_id"), [each for each in AGENTS if "report" not in each[0]])
def test_agents_that_wait_are_woken_when_a_right_is_taken_away(world: World, taken: str, agent_id: str):
    crew(world)
    world.hints.clear()
    AGENTS[taken, agent_id](world)
    assert any(RIGHTS in hint for hint in world.hints)


# --- the identity provider -------------------------------------------------------------------------------------------


def vouch(world: World, **person: Any) -> dict[str, Any]:
    who = provider_accounts.Vouched(**person)
    step = partial(browser_sign_in.arrive, wanted=who, page="kept")
    try:
        answer: Any = asyncio.run(world.dispatcher.as_server(step))
    except Refusal as refusal:
        answer = refusal.answer()
    return dict(answer) if "code" not in answer else world.nobody.call("sign_in", code=f"kept.{answer['code']}")


def forget_own_role(connection: Any, person_id: str) -> None:
    """As if the provider alone had ever given a role."""
    people = Transaction(connection).people
    account = people.account(person_id)
    assert account is not None
    people.put(replace(account, own_login=None))


@pytest.fixture
def provided(fresh: Database) -> World:
    auth = AuthSettings(oidc_issuer=ISSUER, oidc_client_id="toryo", oidc_role_claim="groups")
    return World(fresh, Settings(auth=auth))


def test_who_loses_every_role_at_the_provider_is_out(provided: World):
    person = {"issuer": ISSUER, "subject": "7", "name": "Mia"}
    browser = Browser(provided, vouch(provided, **person, login="owner"))
    assert browser.call("who_am_i")["login"] == "owner"
    browser.refused("make_access_token", "proofRequired", name="x")  # the provider has not said when it asked them
    now = int(time.time() * SECOND) * 2  # no later than now
    browser = Browser(provided, vouch(provided, **person, login="owner", signed_in_at=now))
    token = Caller(provided, browser.call("make_access_token", name="x")["token"])
    provided.owner.call("set_password", person_id="mia", password=PASSWORD)
    assert vouch(provided, **person)["error"] == "permissionDenied"
    browser.refused("who_am_i")
    token.refused("who_am_i")
    provided.nobody.refused("sign_in", "invalidCredentials", person_id="mia", password=PASSWORD)
    assert vouch(provided, **person, login="member")["login"] == "member", "and who has one again comes in again"


def test_who_loses_a_role_at_the_provider_has_what_an_owner_gave_them(provided: World):
    provided.owner.call("add_person", person_id="ann", login="viewer", email="ann@example.org")
    person = {"issuer": ISSUER, "subject": "8", "email": "ann@example.org"}
    assert vouch(provided, **person, login="owner")["login"] == "owner"
    assert vouch(provided, **person)["login"] == "viewer"
    provided.owner.call("change_person", person_id="ann", login="member")
    assert vouch(provided, **person)["login"] == "member"


def test_the_address_of_a_person_is_kept_and_is_the_providers_newest(provided: World):
    def address(person_id: str) -> str | None:
        shown = provided.owner.call("list_people")["people"]
        found: str | None = next(each["email"] for each in shown if each["person_id"] == person_id)
        return found

    provided.owner.call("add_person", person_id="ann", login="viewer", email="Ann@example.org")
    person = {"issuer": ISSUER, "subject": "8", "login": "member"}
    vouch(provided, **person, email="ann@example.org")
    assert address("ann") == "ann@example.org"
    vouch(provided, **person, email="ann.ao@example.org")
    assert address("ann") == "ann.ao@example.org"
    vouch(provided, **person)
    assert address("ann") == "ann.ao@example.org", "one that is not verified takes none away"
    vouch(provided, issuer=ISSUER, subject="9", login="member", email="bob@example.org")
    assert address("bob") == "bob@example.org"


def test_without_a_claim_for_roles_the_provider_takes_none_away(fresh: Database):
    world = World(
        fresh, Settings(auth=AuthSettings(oidc_issuer=ISSUER, oidc_client_id="t", oidc_default_role="member"))
    )
    person = {"issuer": ISSUER, "subject": "9", "name": "Mia"}
    assert vouch(world, **person)["login"] == "member"
    world.owner.call("change_person", person_id="mia", login="owner")
    assert vouch(world, **person)["login"] == "owner"


def test_a_browser_that_came_from_the_provider_asks_it_again_after_a_day(provided: World):
    person = {"issuer": ISSUER, "subject": "7", "name": "Mia"}
    browser = Browser(provided, vouch(provided, **person, login="member"))
    provided.advance(24 * 3600)
    browser.refused("who_am_i", "authenticationRequired")


@pytest.mark.parametrize("role", ["member", "viewer", None])
def test_the_first_owner_stays_one_whatever_the_provider_says(provided: World, role: str | None):
    provided.owner.call("change_person", person_id="owner", email="owner@example.org")
    provided.database.write(lambda connection: forget_own_role(connection, "owner"))
    person = {"issuer": ISSUER, "subject": "1", "email": "owner@example.org"}
    answer = vouch(provided, **person, **({"login": role} if role else {}))
    assert answer["login"] == "owner"
    assert provided.owner.call("who_am_i")["login"] == "owner"


def test_a_role_that_the_provider_widens_stands_in_the_events(provided: World):
    person = {"issuer": ISSUER, "subject": "7", "name": "Mia"}
    for login in ("viewer", "owner"):
        vouch(provided, **person, login=login)
    assert [event["data"].get("widened") for event in provided.events("person.changed")] == [["role: viewer → owner"]]
