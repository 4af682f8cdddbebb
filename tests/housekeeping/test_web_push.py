"""Notifications in browsers: encrypted for each, about what its person wants to be told, until it is signed out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.housekeeping import receivers
from tests.housekeeping.push_browser import PushBrowser, vouched
from tests.housekeeping.receivers import Web
from tests.stories import Answer, Browser, World
from toryo.deeds import VERBS
from toryo.domain import push
from toryo.domain.needs import Kind
from toryo.domain.push import Preferences
from toryo.housekeeping import notice_outbox, push_encryption
from toryo.housekeeping.notice_sending import Sending
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.grants import Grant
from toryo.operations.people import browser_notifications
from toryo.settings import NoticeSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database

HOUR = 3_600_000
START_OF_DAY = 1_800_000_000_000 // (24 * HOUR) * 24 * HOUR


@pytest.fixture
def web() -> Iterator[Web]:
    with receivers.web() as served:
        yield served


@pytest.fixture
def told(fresh: Database, web: Web) -> World:
    """A world with `ann` above the worker `w1`, whose push service is `web`."""
    world = World(fresh, Settings(notices=NoticeSettings(push_services=(host(web),), attempts=3)))
    world.project()
    world.person("ann")
    world.worker("w1", "ann")
    return world


def host(web: Web) -> str:
    return web.url.removeprefix("http://").partition("/")[0]


def signed_in(world: World, person: str = "ann", **more: Any) -> Browser:
    code = world.owner.call("make_sign_in_link", person_id=person, **more)["code"]
    return Browser(world, world.nobody.call("sign_in", code=code))


def subscribed(
    world: World, web: Web, person: str = "ann", name: str = "1", **more: Any
) -> tuple[Browser, PushBrowser]:
    caller, browser = signed_in(world, person, **more), PushBrowser(f"http://{host(web)}/push/{person}{name}")
    caller.call("get_push_key")
    caller.call("subscribe_browser", **browser.subscription)
    return caller, browser


def block(world: World, reason: str = "the key is missing") -> str:
    task = world.task("w1")
    world.start("w1").report("blocked", reason)
    return task


def go(world: World) -> None:
    """One round of housekeeping, and one of sending."""
    world.dispatcher.housekeep(notice_outbox.note)
    sender = Sending(world.dispatcher)
    sender.round()
    sender.close()


# --- what arrives ----------------------------------------------------------------------------------------------------


def test_a_subscribed_browser_is_told_once_and_only_it_can_read_it(told: World, web: Web):
    caller, browser = subscribed(told, web)
    task = block(told)
    go(told)
    go(told)
    (posted,) = web.posted
    assert b"the key is missing" not in posted.body
    said = browser.told(posted)
    assert (said["kind"], said["task_id"], said["language"]) == ("blocked", task, "en")
    assert "the key is missing" in said["text"]
    assert said["actions"] == [
        {
            "name": "unblock",
            "method": "POST",
            "path": f"/api/v1/tasks/{task}/move",
            "body": {"status": "in_progress"},
            "version": None,
            "label": "Unblock",
        }
    ]
    assert posted.headers["content-encoding"] == "aes128gcm"
    public = caller.call("get_push_key")["public_key"]
    claims = vouched(posted, public, f"http://{host(web)}")
    assert claims["sub"].startswith(("mailto:", "https://"))
    assert 0 < claims["exp"] - told.now // 1000 <= 24 * 3600


def test_every_browser_of_a_person_is_told_and_a_retry_repeats_nothing(told: World, web: Web):
    _, first = subscribed(told, web, name="1")
    _, second = subscribed(told, web, name="2")
    block(told)
    told.dispatcher.housekeep(notice_outbox.note)
    sender = Sending(told.dispatcher)
    web.answers[:] = [503, 201]
    sender.round()
    assert len(web.posted) == 2
    told.advance(60)
    sender.round()
    sender.close()
    paths = [each.path for each in web.posted]
    assert sorted(paths) == sorted(["/push/ann1", "/push/ann2", paths[0]])
    for posted in web.posted:
        assert (first if posted.path.endswith("1") else second).told(posted)["kind"] == "blocked"
    assert told.events("notice.sent")


def test_a_browser_that_is_gone_is_forgotten_and_nobody_is_sent_to_it_again(told: World, web: Web):
    caller, _ = subscribed(told, web)
    block(told)
    web.answers[:] = [410]
    go(told)
    assert caller.call("show_notification_settings")["browsers"] == 0
    told.task("ann", title="Pay the bill")
    go(told)
    assert len(web.posted) == 1
    assert not told.events("notice.given_up")


def test_a_redirect_is_not_followed_and_a_push_service_that_fails_is_given_up_in_the_end(told: World, web: Web):
    subscribed(told, web)
    block(told)
    web.answers[:] = [302, 500, 500]
    for _ in range(4):
        go(told)
        told.advance(4000)
    assert [each.path for each in web.posted] == ["/push/ann1"] * 3
    (event,) = told.events("notice.given_up")
    assert event["data"]["channel"] == "push"


def test_who_only_looks_is_offered_nothing_to_do(told: World, web: Web):
    _, browser = subscribed(told, web, login="viewer")
    block(told)
    go(told)
    assert browser.told(web.posted[0])["actions"] == []


def test_a_request_is_approved_from_a_notification_only_if_it_shows_all_of_it(told: World, web: Web):
    _, browser = subscribed(told, web)
    told.task("w1", title="Another")
    worker = told.start("w1")
    worker.call("request_task", title="Paint it", description="Blue.", assignee_id="w1")
    worker.call("request_task", title="Build it", description="x" * 900, assignee_id="w1")
    go(told)
    offered = {said["title"].rpartition(": ")[2]: said["actions"] for said in map(browser.told, web.posted)}
    (approve,) = offered["Paint it"]
    assert (approve["name"], approve["version"]) == ("approve", 1)
    assert offered["Build it"] == []


def test_a_question_of_two_options_is_answered_from_the_notification(told: World, web: Web):
    caller, browser = subscribed(told, web)
    task = told.task("w1")
    worker = told.start("w1")
    worker.call("ask_person", question="Which color for the walls?", options=["Blue", "Red"])
    worker.next()
    go(told)
    said = browser.told(web.posted[0])
    assert "Which color for the walls?" in said["text"]
    assert [(each["label"], each["body"]) for each in said["actions"]] == [
        ("Blue", {"choices": ["Blue"]}),
        ("Red", {"choices": ["Red"]}),
    ]
    path = said["actions"][1]["path"]
    caller.call("answer_question", question_id=path.split("/")[-2], **said["actions"][1]["body"])
    assert told.start("w1").call("get_my_task")["task"]["questions"][0]["answer"] == "Red"
    assert told.status(task) == "in_progress"


@pytest.mark.parametrize(
    "asked",
    [
        {"options": ["Blue", "Red", "Green"]},
        {"options": ["Blue", "x" * 100]},
        {"options": ["Blue", "Red"], "multiple": True},
        {"options": ["Blue", "Red"], "question": "x" * 900},
        {},
    ],
)
def test_what_one_click_does_not_answer_or_show_whole_has_no_buttons(told: World, web: Web, asked: dict[str, Any]):
    _, browser = subscribed(told, web)
    told.task("w1")
    told.start("w1").call("ask_person", **{"question": "Which color?", **asked})
    go(told)
    assert browser.told(web.posted[0])["actions"] == []


def test_a_review_is_not_decided_from_a_notification(told: World, web: Web):
    _, browser = subscribed(told, web)
    told.task("w1", acceptance=[{"review": {}}])
    told.start("w1").report()
    go(told)
    assert browser.told(web.posted[0])["actions"] == []


def test_every_action_of_one_click_is_an_operation_of_people_with_a_route():
    offered = [each for each in VERBS.values() if each.one_click]
    assert {each.name for each in offered} == {"approve", "unblock", "retry", "resume"}
    for verb in offered:
        operation = catalogue()[verb.operation]
        assert operation.grant in (Grant.WRITER, Grant.OWNER)
        assert operation.route is not None


def test_a_japanese_browser_is_told_in_japanese(told: World, web: Web):
    caller, browser = signed_in(told), PushBrowser(f"http://{host(web)}/push/ja")
    caller.call("get_push_key")
    caller.call("subscribe_browser", **browser.subscription, language="ja")
    block(told)
    go(told)
    said = browser.told(web.posted[0])
    assert said["language"] == "ja"
    assert [(each["name"], each["label"]) for each in said["actions"]] == [("unblock", "ブロック解除")]
    assert any("\u3040" <= each <= "\u30ff" for each in said["title"])


def test_a_message_of_any_length_fits_into_what_push_services_take(told: World, web: Web):
    _, browser = subscribed(told, web)
    told.task("w1", title="題" * 300)
    told.start("w1").report("blocked", "理" * 5000)
    go(told)
    (posted,) = web.posted
    assert len(posted.body) <= 4096
    assert browser.told(posted)["text"]


def test_a_test_notification_arrives_although_nothing_needs_anybody(told: World, web: Web):
    caller, browser = subscribed(told, web)
    caller.call("send_test_notification")
    go(told)
    assert browser.told(web.posted[0])["kind"] == push.TEST
    other = signed_in(told, "owner")
    assert "browsers" in other.refused("send_test_notification")["message"]


# --- what one wants to be told ---------------------------------------------------------------------------------------


def test_a_muted_kind_is_not_told_and_the_others_are(told: World, web: Web):
    caller, browser = subscribed(told, web)
    caller.call("edit_notification_settings", muted=["blocked"])
    block(told)
    told.task("ann", title="Pay the bill")
    go(told)
    assert [browser.told(each)["kind"] for each in web.posted] == ["task"]


def test_in_quiet_hours_nothing_is_sent_and_afterwards_what_still_holds(told: World, web: Web):
    caller, browser = subscribed(told, web)
    now = browser_notifications._clock(told.now // 60_000 % 1440)
    end = browser_notifications._clock((told.now // 60_000 + 120) % 1440)
    caller.call("edit_notification_settings", quiet_hours={"begin": now, "end": end}, time_zone="UTC")
    settled = told.task("ann", title="Pay the bill")
    block(told)
    go(told)
    assert web.posted == []
    told.owner.call("move_task", task_id=settled, status="completed")
    told.advance(2 * 3600 + 60)
    go(told)
    assert [browser.told(each)["kind"] for each in web.posted] == ["blocked"]


@pytest.mark.parametrize(
    ("zone", "at", "until"),
    [
        ("UTC", 23, 31),
        ("UTC", 3, 7),
        ("UTC", 7, None),
        ("UTC", 21, None),
        ("Asia/Tokyo", 13, 22),
        ("Asia/Tokyo", 12, None),
    ],
)
def test_quiet_hours_last_over_midnight_in_the_time_zone_of_the_person(zone: str, at: int, until: int | None):
    wishes = Preferences("ann", quiet_from=22 * 60, quiet_to=7 * 60, time_zone=zone)
    found = push.quiet_until(wishes, START_OF_DAY + at * HOUR)
    assert found == (None if until is None else START_OF_DAY + until * HOUR)


def test_quiet_hours_end_by_the_clock_on_the_wall_when_it_is_put_forward():
    """On 28 March 2027 Berlin goes from 2:00 to 3:00: 7:00 is an hour earlier."""
    wishes = Preferences("ann", quiet_from=22 * 60, quiet_to=7 * 60, time_zone="Europe/Berlin")
    evening = 1_806_184_800_000  # 2027-03-27 22:00 UTC, 23:00 in Berlin
    assert push.quiet_until(wishes, evening) == evening + 7 * HOUR


def test_preferences_change_one_by_one_and_what_is_wrong_is_refused(told: World):
    caller = signed_in(told)
    caller.call("edit_notification_settings", muted=["review", "task", "task"])
    caller.call("edit_notification_settings", quiet_hours={"begin": "22:00", "end": "07:30"})
    said = caller.call("edit_notification_settings", time_zone="Europe/Berlin")
    assert said["muted"] == ["review", "task"]
    assert said["quiet_hours"] == {"begin": "22:00", "end": "07:30"}
    assert said["time_zone"] == "Europe/Berlin"
    assert caller.call("edit_notification_settings", quiet_hours=None)["quiet_hours"] is None
    for wrong in (
        {"muted": ["coffee"]},
        {"quiet_hours": {"begin": "25:00", "end": "07:00"}},
        {"quiet_hours": {"begin": "07:00", "end": "07:00"}},
        {"time_zone": "Mars/Olympus"},
    ):
        assert caller.refused("edit_notification_settings", **wrong)["error"] == "validationError"
    assert caller.call("show_notification_settings")["muted"] == ["review", "task"]


def test_every_kind_of_need_can_be_muted():
    names = browser_notifications.KindName.__args__  # type: ignore[attr-defined]
    assert set(names) == {kind.value for kind in Kind}


# --- whose browser it is ---------------------------------------------------------------------------------------------


def test_who_signs_out_is_not_told_any_more(told: World, web: Web):
    caller, _ = subscribed(told, web)
    caller.call("sign_out")
    block(told)
    go(told)
    assert web.posted == []
    assert told.rows(schema.push_subscriptions)["push_subscriptions"] == []


@pytest.mark.parametrize("ended", ["removed", "expired", "signed out by an owner"])
def test_a_sign_in_that_ends_otherwise_ends_its_notifications(told: World, web: Web, ended: str):
    caller, _ = subscribed(told, web)
    if ended == "removed":
        told.owner.call("remove_person", person_id="ann")
    elif ended == "expired":
        told.advance(15 * 24 * 3600)
    else:
        (sign_in,) = caller.call("list_sign_ins")["sign_ins"]
        told.owner.call("end_sign_in", sign_in_id=sign_in["sign_in_id"])
    block(told)
    go(told)
    assert web.posted == []


def test_a_browser_that_another_person_signs_in_with_tells_only_that_person(told: World, web: Web):
    _, browser = subscribed(told, web)
    other = signed_in(told, "owner")
    other.call("subscribe_browser", **browser.subscription)
    told.task("ann", title="Pay the bill")
    go(told)
    assert web.posted == []


def test_a_token_is_no_browser(told: World, web: Web):
    browser = PushBrowser(f"http://{host(web)}/push/1")
    assert "browser" in told.owner.refused("subscribe_browser", **browser.subscription)["message"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:22/push",
        "https://127.0.0.1/push",
        "https://push.services.mozilla.com.example.org/x",
        "https://fcm.googleapis.com@example.org/x",
        "https://fcm.googleapis.com:8443/x",
        "http://fcm.googleapis.com/x",
        "https://evilpush.apple.com.:443/x",
        "file:///etc/passwd",
        "https://[::1]/x",
        "https://[bad/x",
    ],
)
def test_nothing_is_sent_to_what_is_no_push_service(told: World, endpoint: str):
    caller = signed_in(told)
    keys = PushBrowser(endpoint).subscription
    assert "push service" in caller.refused("subscribe_browser", **keys)["message"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc",
        "https://updates.push.services.mozilla.com/wpush/v2/abc",
        "https://web.push.apple.com/abc",
        "https://wns2-par02p.notify.windows.com/w/?token=abc",
    ],
)
def test_the_push_services_of_the_browsers_are_known(endpoint: str):
    assert push.is_served_by(endpoint, push.KNOWN_SERVICES)


@pytest.mark.parametrize("wrong", [{"p256dh": "AAAA"}, {"auth": "AAAA"}, {"auth": "not base64 at all!"}])
def test_keys_that_are_none_are_refused(told: World, web: Web, wrong: dict[str, str]):
    browser = PushBrowser(f"http://{host(web)}/push/1")
    assert (
        signed_in(told).refused("subscribe_browser", **{**browser.subscription, **wrong})["error"] == "validationError"
    )


def test_a_point_that_is_not_on_the_curve_stops_no_other_notification(told: World, web: Web):
    caller = signed_in(told)
    keys = PushBrowser(f"http://{host(web)}/push/bad").subscription
    off = push_encryption.decoded(keys["p256dh"])
    keys["p256dh"] = browser_keys(b"\x04" + bytes(reversed(off[1:])))
    answer: Answer = caller.refused("subscribe_browser", **keys)
    assert answer["error"] == "validationError"


def browser_keys(point: bytes) -> str:
    from toryo.operations.people.vapid import base64url

    return base64url(point)


def test_a_server_may_be_told_to_notify_no_browsers(fresh: Database):
    world = World(fresh, Settings(notices=NoticeSettings(push_services=())))
    world.project()
    assert world.owner.call("show_notification_settings")["possible"] is False
    assert "no notifications" in world.owner.refused("get_push_key")["message"]


def test_the_key_of_a_server_stays_the_same(told: World):
    first, second = signed_in(told).call("get_push_key"), signed_in(told, "owner").call("get_push_key")
    assert first["public_key"] == second["public_key"]
    assert len(push_encryption.decoded(first["public_key"])) == 65


# --- the standard ----------------------------------------------------------------------------------------------------


def test_a_message_is_encrypted_as_the_example_of_the_standard_is():
    """RFC 8291, section 5 and appendix A."""
    own = ec.derive_private_key(
        int.from_bytes(push_encryption.decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big"), ec.SECP256R1()
    )
    body = push_encryption.encrypted(
        b"When I grow up, I want to be a watermelon",
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
        salt=push_encryption.decoded("DGv6ra1nlYgDCS1FRnbzlw"),
        own=own,
    )
    assert body == push_encryption.decoded(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
