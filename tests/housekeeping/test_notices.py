"""Notices: whoever is needed is told outside, once, if it is configured; and not if they have seen it meanwhile.

The receivers are real servers on this machine.
"""

from __future__ import annotations

import hmac
import os
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from pydantic import SecretStr, ValidationError

from tests.housekeeping import receivers
from tests.housekeeping.receivers import Mails, Posted, Web
from tests.operations.test_queue import filed, key
from tests.stories import World
from toryo.domain.notices import Channel, Notice
from toryo.domain.times import MINUTE, SECOND, parse
from toryo.housekeeping import mail, notice_outbox, notice_sending
from toryo.housekeeping.notice_sending import Sending
from toryo.server import app
from toryo.settings import NoticeSettings, SessionSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database
from toryo.storage.notices import Notices
from toryo.storage.transaction import Transaction

SECRET = "a secret that nobody says aloud"


@pytest.fixture
def web() -> Iterator[Web]:
    with receivers.web() as served:
        yield served


@pytest.fixture
def mails() -> Iterator[Mails]:
    with receivers.mails() as taken:
        yield taken


def told_by(database: Database, notice: dict[str, Any]) -> World:
    """A world with `ann`, a person, above the worker `w1`, and these settings of notices."""
    world = World(database, Settings(notices=NoticeSettings(**notice)))
    world.project()
    world.person("ann")
    world.worker("w1", "ann")
    return world


@pytest.fixture
def hooked(fresh: Database, web: Web) -> World:
    return told_by(fresh, {"webhook_url": SecretStr(web.url), "webhook_secret": SecretStr(SECRET), "attempts": 3})


def by_mail(mails: Mails, **more: Any) -> dict[str, Any]:
    url = SecretStr(f"smtp://127.0.0.1:{mails.port}")
    return {"smtp_url": url, "smtp_from": "Toryo <toryo@example.org>", "emails": {"ann": "ann@example.org"}, **more}


def go(world: World) -> None:
    """One round of housekeeping, and one of sending."""
    world.dispatcher.housekeep(notice_outbox.note)
    sender = Sending(world.dispatcher)
    sender.round()
    sender.close()


def block(world: World, reason: str = "the key is missing") -> str:
    """`w1` reports its task blocked: that needs ann."""
    task = world.task("w1")
    world.start("w1").report("blocked", reason)
    return task


def write(world: World, content: str = "Which colour?") -> None:
    """`w1` writes to ann."""
    world.say("w1", "Ask away.", as_person="ann")
    chat = world.start_chat("w1")
    chat.fetch()
    chat.call("respond_chat", target_agent_id="ann", content=content)
    chat.call("logout")


def see(world: World) -> None:
    """Ann's panel shows what `w1` has written."""
    asked = {"project_id": world.project_id, "agent_id": "w1", "as_person": "ann"}
    world.owner.call("open_chat", **asked, seen=world.owner.call("read_chat", **asked)["last"])


def rows(world: World) -> int:
    return len(world.rows(schema.notices)["notices"])


# --- once ------------------------------------------------------------------------------------------------------------


def test_who_is_needed_is_told_once_with_what_can_be_done(hooked: World, web: Web):
    task = block(hooked)
    for _ in range(3):
        go(hooked)
        hooked.advance(600)
    (posted,) = web.posted
    said = posted.said
    assert (said["person_id"], said["kind"], said["task_id"], said["attempt"]) == ("ann", "blocked", task, 1)
    assert "the key is missing" in said["text"]
    (unblock,) = (each for each in said["actions"] if each["name"] == "unblock")
    assert unblock == {
        "name": "unblock",
        "label": "Unblock",
        "operation": "move_task",
        "arguments": {"status": "in_progress", "task_id": task},
        "command": f"toryo task move {task} in_progress",
    }
    assert said["id"] == posted.headers["webhook-id"]
    (event,) = hooked.events("notice.sent")
    assert (event["data"]["notice_id"], event["data"]["person"]) == (said["id"], "ann")


def test_everything_that_needs_a_person_is_told(hooked: World, web: Web):
    block(hooked)
    write(hooked)
    hooked.task("ann", title="Pay the bill")
    hooked.task("w1", title="Another")
    hooked.start("w1").call("request_task", title="Paint it", assignee_id="w1")
    hooked.advance(61)
    go(hooked)
    listed = {item["key"] for item in hooked.owner.call("needs_you", as_person="ann")["items"]}
    assert {each.said["key"] for each in web.posted} == listed
    assert {"approval", "blocked", "message", "task"} <= {kind for _, kind in web.told}


def test_a_queue_that_nobody_serves_is_told_once_however_many_tasks_wait(hooked: World, web: Web):
    orchestrator = key(hooked, "chief", orchestrator=True)
    tasks = [filed(orchestrator, f"Plan {number}") for number in range(20)]
    hooked.advance(121)
    go(hooked)
    hooked.move(tasks[0], "cancelled", "not needed")
    filed(orchestrator, "One more")
    hooked.advance(121)
    go(hooked)
    assert [orjson.loads(each.body)["title"] for each in web.posted] == ["Stuck: Plan 0 and 19 more"]


def test_a_receiver_can_check_that_it_comes_from_here(hooked: World, web: Web):
    """As Standard Webhooks describe it."""
    block(hooked)
    go(hooked)
    (posted,) = web.posted
    assert posted.headers["webhook-signature"] == signed(SECRET.encode(), posted)
    stamp = int(posted.headers["webhook-timestamp"]) * SECOND
    assert abs(stamp - hooked.now) < MINUTE


def signed(key: bytes, posted: Posted) -> str:
    stamped = f"{posted.headers['webhook-id']}.{posted.headers['webhook-timestamp']}.".encode() + posted.body
    return f"v1,{b64encode(hmac.new(key, stamped, sha256).digest()).decode()}"


def test_a_secret_as_libraries_write_it_is_read_as_they_do(fresh: Database, web: Web):
    secret = "whsec_" + b64encode(b"twenty-four random bytes").decode()
    world = told_by(fresh, {"webhook_url": SecretStr(web.url), "webhook_secret": SecretStr(secret)})
    block(world)
    go(world)
    key = b64decode(secret.removeprefix("whsec_"))
    assert web.posted[0].headers["webhook-signature"] == signed(key, web.posted[0])


def test_without_a_secret_nothing_is_signed(fresh: Database, web: Web):
    world = told_by(fresh, {"webhook_url": SecretStr(web.url)})
    block(world)
    go(world)
    assert "webhook-signature" not in web.posted[0].headers


def test_what_was_mended_and_happens_again_is_told_again(hooked: World, web: Web):
    task = block(hooked)
    go(hooked)
    hooked.move(task, "in_progress")
    go(hooked)
    hooked.start("w1").report("blocked", "the key is gone again")
    go(hooked)
    first, second = web.posted
    assert first.said["key"] == second.said["key"]
    assert first.said["id"] != second.said["id"]


def test_guessing_at_a_passkey_does_not_tell_people_again_and_again(hooked: World, web: Web):
    def guess() -> None:
        for _ in range(5):
            hooked.nobody.refused("authenticate", agent_id="w1", passkey="guessed")
        go(hooked)
        hooked.advance(61)
        go(hooked)

    for _ in range(4):
        guess()
    assert web.told == [("ann", "sign_in_locked")]
    hooked.advance(3600)
    guess()
    assert len(web.posted) == 2


def test_two_servers_on_one_database_tell_it_once(hooked: World, web: Web):
    """Both look at the same time; while one sends, the other finds nothing to send."""
    block(hooked)
    hooked.dispatcher.housekeep(notice_outbox.note)
    other = Sending(hooked.dispatcher)
    web.meanwhile = other.round
    Sending(hooked.dispatcher).round()
    assert len(web.posted) == 1


def test_while_one_is_sent_others_write_to_the_database(hooked: World, web: Web):
    """A receiver that is slow holds up nobody."""
    block(hooked)
    web.meanwhile = lambda: hooked.task("w1", title="Meanwhile", status="todo")
    go(hooked)
    tasks = hooked.owner.call("list_project_tasks", project_id=hooked.project_id)["tasks"]
    assert "Meanwhile" in [each["title"] for each in tasks]
    assert len(web.posted) == 1


@pytest.mark.parametrize("dashboard", ["https://toryo.example.org", "https://example.org/toryo/"])
def test_with_the_address_of_the_dashboard_it_links_to_what_to_settle(
    fresh: Database, web: Web, mails: Mails, dashboard: str
):
    world = told_by(fresh, by_mail(mails, webhook_url=SecretStr(web.url), dashboard_url=dashboard))
    task = block(world)
    go(world)
    address = f"{dashboard.rstrip('/')}/t/{task}"
    assert [each.said["url"] for each in web.posted] == [address]
    ((_, _, message),) = mails.got
    assert f"In the dashboard:\n  {address}\n" in message.get_content().replace("\r", "")


def test_without_the_address_of_the_dashboard_there_is_no_link(fresh: Database, web: Web, mails: Mails):
    world = told_by(fresh, by_mail(mails, webhook_url=SecretStr(web.url)))
    block(world)
    go(world)
    assert web.posted[0].said["url"] is None
    assert "In the dashboard" not in mails.got[0][2].get_content()


# --- again -----------------------------------------------------------------------------------------------------------


def test_after_a_failure_it_is_tried_again_later_with_the_same_id(hooked: World, web: Web):
    web.answers = [500]
    block(hooked)
    go(hooked)
    go(hooked)
    assert len(web.posted) == 1
    hooked.advance(30)
    go(hooked)
    go(hooked)
    first, second = (each.said for each in web.posted)
    assert first["id"] == second["id"]
    assert (first["attempt"], second["attempt"]) == (1, 2)
    assert len(hooked.events("notice.sent")) == 1


def test_waits_double_and_at_last_it_is_given_up_and_said(hooked: World, web: Web, monkeypatch: pytest.MonkeyPatch):
    lines = logged(monkeypatch)
    web.answers = [500, 404, 302, 500]
    block(hooked)
    came = []
    for wait in (0, 29, 1, 59, 1, 3600, 86_400):
        hooked.advance(wait)
        go(hooked)
        came.append(len(web.posted))
    assert came == [1, 1, 2, 2, 3, 3, 3]
    assert [each.said["attempt"] for each in web.posted] == [1, 2, 3]
    (event,) = hooked.events("notice.given_up")
    assert (event["data"]["error"], event["data"]["attempts"]) == ("the webhook answered 302", 3)
    assert [name for name, _ in lines] == ["notice_not_sent", "notice_not_sent", "notice_given_up"]


def logged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What the sender logs from here on."""
    lines: list[tuple[str, dict[str, Any]]] = []

    class Log:
        def info(self, name: str, **more: Any) -> None:
            lines.append((name, more))

        warning = info

    monkeypatch.setattr(notice_sending, "_log", Log())
    return lines


def test_a_receiver_that_is_not_there_is_tried_again_and_no_secret_is_logged_or_stored(
    fresh: Database, monkeypatch: pytest.MonkeyPatch
):
    lines = logged(monkeypatch)
    url = f"http://user:hush-hush@127.0.0.1:{receivers.closed_port()}/hook?key=hush-hush"
    world = told_by(fresh, {"webhook_url": SecretStr(url), "webhook_secret": SecretStr("hush-hush")})
    block(world)
    go(world)
    ((name, line),) = lines
    assert (name, line["error"]) == ("notice_not_sent", "no connection to the webhook (ConnectError)")
    assert "hush" not in repr(lines)
    assert "hush" not in repr(world.rows())


def test_a_failure_of_one_channel_does_not_keep_the_other_from_its_turn(fresh: Database, web: Web, mails: Mails):
    web.answers = [500]
    world = told_by(fresh, by_mail(mails, webhook_url=SecretStr(web.url)))
    block(world)
    go(world)
    go(world)
    assert (len(web.posted), len(mails.got)) == (1, 1)


def test_one_that_fails_does_not_keep_the_next_ones_from_theirs(hooked: World, web: Web):
    web.answers = [500]
    block(hooked)
    hooked.task("ann", title="Pay the bill")
    go(hooked)
    go(hooked)
    assert sorted(kind for _, kind in web.told) == ["blocked", "task"]
    hooked.advance(30)
    go(hooked)
    assert len(web.posted) == 3


def test_a_defect_in_sending_counts_as_a_failure_and_tells_no_secret(hooked: World):
    class Broken:
        def send(self, notice: Notice, now: int) -> None:
            raise RuntimeError(SECRET)

        def close(self) -> None:
            """Nothing."""

    block(hooked)
    hooked.dispatcher.housekeep(notice_outbox.note)
    for _ in range(3):
        Sending(hooked.dispatcher, {Channel.WEBHOOK: Broken()}).round()
        hooked.advance(3600)
    (event,) = hooked.events("notice.given_up")
    assert event["data"]["error"] == "RuntimeError"


# --- restarts --------------------------------------------------------------------------------------------------------


def test_a_server_that_dies_before_it_has_sent_leaves_it_to_the_next_one(hooked: World, web: Web):
    block(hooked)
    hooked.dispatcher.housekeep(notice_outbox.note)
    taken = hooked.dispatcher.housekeep(lambda call: notice_outbox.take(call, Channel.WEBHOOK))
    go(hooked)
    assert web.posted == []
    assert taken is not None
    hooked.advance(301)
    go(hooked)
    assert [each.said["id"] for each in web.posted] == [taken.id]


def test_a_server_that_dies_after_it_has_sent_sends_again_with_the_same_id(
    hooked: World, web: Web, monkeypatch: pytest.MonkeyPatch
):
    def dies(*_: object) -> None:
        raise SystemExit

    block(hooked)
    hooked.dispatcher.housekeep(notice_outbox.note)
    with monkeypatch.context() as patched:
        patched.setattr(notice_outbox, "sent", dies)
        with pytest.raises(SystemExit):
            Sending(hooked.dispatcher).round()
    hooked.advance(301)
    go(hooked)
    first, second = web.posted
    assert first.said["id"] == second.said["id"]
    hooked.advance(3600)
    go(hooked)
    assert len(web.posted) == 2


# --- not -------------------------------------------------------------------------------------------------------------


def test_a_message_has_time_to_be_seen_first(hooked: World, web: Web):
    write(hooked)
    go(hooked)
    assert web.posted == []
    hooked.advance(61)
    go(hooked)
    assert web.told == [("ann", "message")]
    assert web.posted[0].said["text"] == "Which colour?"


def test_a_message_that_was_seen_meanwhile_is_not_told(hooked: World, web: Web):
    write(hooked)
    see(hooked)
    hooked.advance(61)
    go(hooked)
    assert web.posted == []
    write(hooked, "And the door?")
    hooked.advance(61)
    go(hooked)
    assert [each.said["text"] for each in web.posted] == ["And the door?"]


@pytest.mark.parametrize("when", ["before it is sent", "before it is tried again"])
def test_a_message_that_is_seen_at_the_last_moment_is_not_told(hooked: World, web: Web, when: str):
    write(hooked)
    hooked.advance(61)
    hooked.dispatcher.housekeep(notice_outbox.note)
    if when == "before it is tried again":
        web.answers = [500]
        Sending(hooked.dispatcher).round()
        hooked.advance(31)
    see(hooked)
    before = len(web.posted)
    Sending(hooked.dispatcher).round()
    hooked.advance(3600)
    go(hooked)
    assert len(web.posted) == before


def test_what_is_over_waits_for_nobody_any_more(hooked: World):
    write(hooked)
    hooked.advance(61)
    hooked.dispatcher.housekeep(notice_outbox.note)
    due = hooked.dispatcher.database.read(lambda connection: Notices(connection).due(Channel.WEBHOOK, hooked.now, 10))
    assert [notice.key.split()[0] for notice in due] == ["message"]
    see(hooked)
    hooked.dispatcher.housekeep(notice_outbox.note)
    later = hooked.now + 86_400_000
    assert hooked.dispatcher.database.read(lambda each: Notices(each).due(Channel.WEBHOOK, later, 10)) == []


def test_further_messages_of_a_thread_that_was_told_are_not_told_one_by_one(hooked: World, web: Web):
    write(hooked, "One")
    hooked.advance(61)
    go(hooked)
    write(hooked, "Two")
    hooked.advance(61)
    go(hooked)
    assert len(web.posted) == 1
    see(hooked)
    go(hooked)
    write(hooked, "Three")
    hooked.advance(61)
    go(hooked)
    assert [each.said["text"] for each in web.posted] == ["One", "Three"]


def test_where_nothing_is_configured_nothing_is_written_and_nothing_runs(fresh: Database):
    world = told_by(fresh, {"push_services": ()})
    block(world)
    go(world)
    assert rows(world) == 0
    idle = Sending(world.dispatcher)
    idle.start()
    assert not idle._thread.is_alive()


def test_what_is_over_is_forgotten_after_a_month(hooked: World):
    task = block(hooked)
    go(hooked)
    hooked.move(task, "cancelled", "not needed")
    go(hooked)
    assert rows(hooked) == 1
    hooked.advance(30 * 86_400)
    go(hooked)
    assert rows(hooked) == 0


# --- e-mail ----------------------------------------------------------------------------------------------------------


def test_who_has_an_address_gets_an_e_mail_and_nobody_else(fresh: Database, mails: Mails):
    world = told_by(fresh, by_mail(mails))
    task = block(world, "the key\nis missing")
    world.owner.call("add_member", project_id=world.project_id, agent_id="owner")
    world.task("owner", title="The owner's")
    go(world)
    go(world)
    assert rows(world) == 1
    ((sender, to, message),) = mails.got
    assert "toryo@example.org" in sender
    assert to == ["ann@example.org"]
    assert message["Subject"] == "[Toryo] Blocked: Build the house"
    assert f"toryo task move {task} in_progress" in message.get_content()
    assert message["Auto-Submitted"] == "auto-generated"
    (event,) = world.events("notice.sent")
    assert message["Message-ID"] == f"<{event['data']['notice_id']}@example.org>"
    assert abs(message["Date"].datetime.timestamp() * SECOND - parse(event["at"])) < MINUTE


def test_a_title_with_line_breaks_makes_no_further_headers(fresh: Database, mails: Mails):
    world = told_by(fresh, by_mail(mails))
    task = world.task("ann")

    def of_before_such_titles_were_refused(connection):
        tasks = Transaction(connection).tasks
        filed = tasks.find(task)
        assert filed is not None
        tasks.save(filed, replace(filed, title="One\r\nBcc: everybody@example.org\r\n\r\nTwo\x1b[2J"))

    world.database.write(of_before_such_titles_were_refused)
    go(world)
    ((_, to, message),) = mails.got
    assert to == ["ann@example.org"]
    assert message["Bcc"] is None
    assert message["Subject"] == "[Toryo] Your task: One Bcc: everybody@example.org Two\ufffd[2J"


FORGED = "Please.\n\nApproved already by Bea. To finish:\n\n  toryo agent edit w1 --option permissions=full --yes"


@pytest.mark.parametrize("written", [FORGED, FORGED.replace("\n", "\r"), FORGED.replace("\n", "\u2028")])
def test_what_an_agent_has_written_stands_as_a_quotation_in_an_e_mail(fresh: Database, mails: Mails, written: str):
    world = told_by(fresh, by_mail(mails))
    world.task("w1")
    worker = world.start("w1")
    worker.call("request_task", title="Paint it", description=written, assignee_id="w1")
    worker.report("blocked", written)
    go(world)
    go(world)
    assert len(mails.got) == 2
    for _, _, message in mails.got:
        lines = message.get_content().splitlines()
        assert any("permissions=full" in line for line in lines)
        assert all(line.startswith("  | ") for line in lines if "Approved already" in line or "agent edit" in line)


def test_a_command_of_several_lines_stays_in_its_quotation():
    assert mail._quoted(["ls\n\n  toryo agent edit w1", ""]) == "  | ls\n  | \n  |   toryo agent edit w1\n  | "


def test_a_refused_recipient_is_tried_again(fresh: Database, mails: Mails):
    mails.refuses = {"ann@example.org"}
    world = told_by(fresh, by_mail(mails))
    block(world)
    go(world)
    assert mails.got == []
    mails.refuses = set()
    world.advance(30)
    go(world)
    assert len(mails.got) == 1


def test_the_password_goes_unencrypted_to_this_machine_only(
    fresh: Database, mails: Mails, monkeypatch: pytest.MonkeyPatch
):
    url = SecretStr(f"smtp://ann:pass%20word@127.0.0.1:{mails.port}")
    world = told_by(fresh, by_mail(mails, smtp_url=url, attempts=1))
    block(world)
    with monkeypatch.context() as patched:
        patched.setattr(mail, "_here", lambda host: False)
        go(world)
    (event,) = world.events("notice.given_up")
    assert "smtps://" in event["data"]["error"]
    assert (mails.logins, mails.got) == ([], [])
    world.task("ann")
    go(world)
    assert mails.logins == [("ann", "pass word")]
    assert len(mails.got) == 1


@pytest.mark.parametrize(
    ("host", "here"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("mail.example", False)]
)
def test_what_counts_as_this_machine(host: str, here: bool):
    assert mail._here(host) is here


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "complains"),
    [
        ({"webhook_url": "htps://hush-hush"}, "http://HOST or https://HOST"),
        ({"webhook_url": "hush-hush"}, "http://HOST or https://HOST"),
        ({"webhook_url": "http:///hush-hush"}, "http://HOST or https://HOST"),
        ({"webhook_url": "http://host:hush-hush/"}, "http://HOST or https://HOST"),
        ({"webhook_secret": "hush-hush"}, "webhook_url"),
        ({"dashboard_url": "toryo.example.org"}, "http://HOST or https://HOST"),
        ({"dashboard_url": "https://me:hush-hush@toryo.example.org"}, "an address alone"),
        ({"dashboard_url": "https://toryo.example.org/?token=hush-hush"}, "an address alone"),
        ({"smtp_url": "http://hush-hush", "smtp_from": "a@b", "emails": {"ann": "a@b"}}, "smtp://HOST or smtps://HOST"),
        ({"smtp_url": "smtp://hush-hush"}, "smtp_from"),
        ({"smtp_url": "smtp://hush-hush", "smtp_from": "a@b"}, "emails"),
        (
            {"smtp_url": "smtp://hush-hush", "smtp_from": "nobody", "emails": {"ann": "a@b"}},
            "'nobody' is not an e-mail",
        ),
        ({"smtp_url": "smtp://hush-hush", "smtp_from": "a@b", "emails": "ann"}, "is not an e-mail"),
        ({"emails": "ann=ann@example.org"}, "smtp_url"),
    ],
)
def test_a_mistake_in_the_settings_is_named_without_telling_secrets(given: dict[str, Any], complains: str):
    with pytest.raises(ValidationError) as refused:
        NoticeSettings(**given)
    assert complains in refused.value.errors()[0]["msg"]
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "form", ["ann=ann@example.org, ben.b=ben@example.org", '{"ann": "ann@example.org", "ben.b": "ben@example.org"}']
)
def test_addresses_are_named_in_one_variable(form: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TORYO_NOTICES__SMTP_URL", "smtps://mail.example.org")
    monkeypatch.setenv("TORYO_NOTICES__SMTP_FROM", "toryo@example.org")
    monkeypatch.setenv("TORYO_NOTICES__EMAILS", form)
    assert Settings().notices.emails == {"ann": "ann@example.org", "ben.b": "ben@example.org"}


@pytest.mark.deep
def test_a_server_with_a_wrong_url_says_so_and_does_not_start(tmp_path: Path):
    environment = {**os.environ, "TORYO_NOTICES__WEBHOOK_URL": "hook.example.org/hush-hush"}
    command = [sys.executable, "-m", "toryo", "server", "--port", "0", "--data-dir", str(tmp_path)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 2
    assert "notices.webhook_url" in ended.stderr
    assert "http://HOST or https://HOST" in ended.stderr
    assert "hush" not in ended.stderr + ended.stdout


def test_a_running_server_tells_by_itself(tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(notice_sending, "LOOKS_EVERY", 0.02)
    settings = Settings(
        port=0,
        data_dir=tmp_path,
        session=SessionSettings(cleanup_interval=1),
        notices=NoticeSettings(webhook_url=SecretStr(web.url)),
    )
    with app.run_in_thread(settings) as running:
        token = (tmp_path / "owner.token").read_text().strip()
        with httpx.Client(base_url=f"{running.url}/api/v1", headers={"authorization": f"Bearer {token}"}) as people:
            project = people.post("/projects", json={"name": "House", "working_directory": "/srv"}).json()["project_id"]
            people.post(f"/projects/{project}/members/owner").raise_for_status()
            filed = {"title": "Mine", "assignee_id": "owner", "status": "in_progress"}
            people.post(f"/projects/{project}/tasks", json=filed).raise_for_status()
        assert web.arrived.get(timeout=100).said["kind"] == "task"
    assert "hush" not in (tmp_path / "logs" / "server.log").read_text()
