"""Signing in: with the link that `toryo open` prints, ten times over, with a password, and what guessing leads to."""

from __future__ import annotations

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
