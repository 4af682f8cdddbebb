"""Signing in: with the link that `toryo open` prints, ten times over, with a password, and what guessing leads to; what
other ports of the host get of it, and who asks before somebody else is signed in.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.scenarios.sites import Site
from toryo.operations.calls import sign_in_lockout

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PASSWORD = "a beam of oak, a beam of pine"


@pytest.mark.pitfall("F112")
def test_f112_ten_sign_ins_of_a_browser_are_one_and_no_work_of_agents(chrome: Browser, site: Site) -> None:
    site.project("yard")
    site.hire("mason", "yard")
    before = len(site.people.rest("GET", "/sign-ins")["sign_ins"])
    with browsers.stranger(chrome, site) as window:
        for _ in range(10):
            browsers.sign_in(window.context, site)
        page = window.page("/p/yard/sessions")
        expect(page.get_by_text("No agents are signed in")).to_be_visible()
        expect(page.get_by_text("This browser")).to_have_count(1)
        assert len(window.context.cookies()) == 1
        assert len(site.people.rest("GET", "/sign-ins")["sign_ins"]) == before + 1
    assert site.sessions() == []
    assert site.launches() == []


@pytest.mark.pitfall("F121")
def test_f121_wrong_passwords_in_a_row_lock_the_door_even_for_the_right_one(chrome: Browser, site: Site) -> None:
    site.people.rest("POST", "/people", {"person_id": "guard", "login": "member"})
    site.people.rest("PUT", "/people/guard/password", {"password": PASSWORD})
    with browsers.stranger(chrome, site) as window:
        page = window.page("/")
        for tried in [
            *(f"guess number {each}" for each in range(sign_in_lockout.OF_NAME[sign_in_lockout.PASSWORD].most)),
            PASSWORD,
        ]:
            page.get_by_label("User ID").fill("guard")
            page.get_by_label("Password").fill(tried)
            with page.expect_response("**/api/v1/sign-in") as answered:
                page.get_by_role("button", name="Sign in").click()
            assert not answered.value.ok
        expect(page.get_by_role("alert")).to_contain_text("Too many wrong passwords")
        expect(page.get_by_role("alert")).to_contain_text("ask an owner for a sign-in link")
        browsers.sign_in(window.context, site, person_id="guard")
        page.goto(site.url)
        expect(page.get_by_role("navigation")).to_be_visible()
    events = site.people.rest("GET", "/events", params={"kind": "person."})["events"]
    assert PASSWORD not in str(events)


# --- another port of the same host ----------------------------------------------------------------------------------


@contextmanager
def neighbour(host: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """What an agent serves at another port: its address, and the headers of each request that a browser sends there."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>app</title>Your app works")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer((host, 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://{host}:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        server.server_close()


@browsers.BOTH
def test_what_a_browser_sends_to_another_port_of_the_host_opens_nothing_here(chrome: Browser, site: Site) -> None:
    """Cookies have no port. What all operations answer to one alone is tried in tests/doors and tests/server."""
    host = site.url.removeprefix("http://").partition(":")[0]
    with browsers.stranger(chrome, site) as window, neighbour(host) as (address, heard):
        page = window.context.new_page()
        page.goto(browsers.sign_in_link(site))
        expect(page.get_by_role("navigation")).to_be_visible()
        secret = str(page.evaluate("localStorage.getItem('toryo.page')"))
        cookies = window.context.cookies()
        assert {each["name"] for each in cookies} == {f"toryo-{site.url.rpartition(':')[2]}"}
        for each in cookies:
            page.goto(address + each["path"])
            expect(page.get_by_text("Your app works")).to_be_visible()
        assert page.evaluate("localStorage.length") == 0
        for each in cookies:
            assert f"{each['name']}={each['value']}" in heard[0]["cookie"], "or this proves nothing"
        assert secret not in str(heard)
        for sent in heard:
            replayed = {name: value for name, value in sent.items() if name not in ("host", "connection")}
            for more in ({}, {"x-toryo": "1"}, {"accept": "text/event-stream"}, {"sec-fetch-site": "same-origin"}):
                for path in ("/me", "/events/stream", "/events", "/people"):
                    answer = httpx.get(f"{site.url}/api/v1{path}", headers={**replayed, **more})
                    assert answer.status_code == 401, (path, more)
        whole = {"cookie": heard[0]["cookie"], "x-toryo": secret}
        assert httpx.get(f"{site.url}/api/v1/me", headers=whole).json()["person_id"] == "owner"


def test_a_browser_that_has_lost_its_half_is_at_the_door_which_says_so(chrome: Browser, site: Site) -> None:
    """As every browser is after the upgrade to a version that asks for it."""
    with browsers.stranger(chrome, site) as window:
        browsers.sign_in(window.context, site)
        page = window.page("/")
        expect(page.get_by_role("navigation")).to_be_visible()
        page.evaluate("localStorage.removeItem('toryo.page')")
        page.reload()
        expect(page.get_by_text("You were signed out.")).to_be_visible()


# --- who is signed in -----------------------------------------------------------------------------------------------


def test_opening_a_link_of_somebody_else_asks_who_one_wants_to_be(chrome: Browser, site: Site) -> None:
    site.people.rest("POST", "/people", {"person_id": "mem", "login": "member", "name": "Mem"})
    with browsers.stranger(chrome, site) as window:
        browsers.sign_in(window.context, site)
        page = window.page("/")
        expect(page.get_by_role("navigation")).to_be_visible()
        path = str(site.people.rest("POST", "/sign-in-links", {"person_id": "mem"})["path"])
        for answer, person in (("Stay signed in as", "owner"), ("Sign in as Mem", "mem")):
            page = window.page(path)
            expect(page.get_by_text("Sign in as Mem?")).to_be_visible()
            page.get_by_role("button", name=answer).click()
            expect(page.get_by_role("navigation")).to_be_visible()
            assert browsers.rest(page, "GET", "/me")[1]["person_id"] == person


def test_who_signed_in_long_ago_proves_it_in_place_and_what_was_asked_for_is_done(chrome: Browser, site: Site) -> None:
    site.people.rest("PUT", "/people/owner/password", {"password": PASSWORD})
    with browsers.stranger(chrome, site) as window:
        page = window.page("/settings?tab=me")
        page.get_by_label("User ID").fill("owner")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="New token")).to_be_visible()
        _was_long_ago(site)
        for made, way in enumerate(("password", "toryo open"), 1):
            page.get_by_role("button", name="New token").click()
            page.get_by_role("dialog").get_by_role("textbox").first.fill(f"by {way}")
            page.get_by_role("button", name="Create token").click()
            dialog = page.get_by_role("dialog", name="Confirm that it is you")
            expect(dialog).to_be_visible()
            if way == "password":
                dialog.get_by_label("Password").fill(PASSWORD)
                dialog.get_by_role("button", name="Sign in").click()
            else:
                tab = window.context.new_page()
                tab.goto(browsers.sign_in_link(site))
            expect(dialog).to_have_count(0)
            expect(page.get_by_role("dialog")).to_contain_text("tpt_")
            assert len(site.people.rest("GET", "/access-tokens")["access_tokens"]) == made
            page.keyboard.press("Escape")
            _was_long_ago(site)


def _was_long_ago(site: Site) -> None:
    """As if every browser had signed in an hour before."""
    with sqlite3.connect(site.data / "toryo.db", timeout=60) as database:
        database.execute("UPDATE sign_ins SET proved_at = 0")
