"""Webhooks in the dashboard: made with a secret that is seen once, what came, and one that has stopped on a phone."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT, PHONE
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "depot"


@pytest.fixture(scope="module")
def depot(site: Site) -> Site:
    site.project(PROJECT)
    site.hire("guard", PROJECT, name="Gus")
    return site


@pytest.fixture
def page(chrome: Browser, depot: Site) -> Iterator[Page]:
    with browsers.window(chrome, depot) as window:
        yield window.page("/settings?tab=webhooks")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has_text=name).first


def send(url: str, secret: str, body: Any, delivery: str) -> int:
    raw = json.dumps(body).encode()
    code = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    headers = {"x-hub-signature-256": f"sha256={code}", "x-github-event": "issues", "x-github-delivery": delivery}
    return httpx.post(url, content=raw, headers=headers, timeout=60).status_code


def test_one_is_made_shows_its_secret_once_and_what_it_has_received(page: Page, depot: Site) -> None:
    expect(page.get_by_text("No webhooks yet")).to_be_visible()
    page.get_by_role("button", name="New webhook").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("Issues")
    form.get_by_label("Events").fill("issues, push")
    form.get_by_label("Title").fill("Triage {{ issue.title }}")
    form.get_by_role("button", name="Create webhook").click()
    expect(form.get_by_text("must have no placeholder issue.title")).to_be_visible()
    form.get_by_label("Title").fill("Triage {{ body.issue.title }}")
    form.get_by_role("button", name="Create webhook").click()
    shown = page.get_by_role("dialog").get_by_text("whsec_")
    expect(shown.first).to_be_visible()
    secret = shown.first.inner_text().strip()
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    expect(page.get_by_text(secret)).to_have_count(0)

    made = row(page, "Issues")
    [stored] = depot.people.rest("GET", f"/projects/{PROJECT}/webhooks")["webhooks"]
    url = f"{depot.url}{stored['path']}"
    expect(made.get_by_text(url)).to_be_visible()
    assert stored["events"] == ["issues", "push"]
    assert send(url, secret, {"issue": {"title": "It rains"}}, "1") == 201
    expect(made.get_by_role("button", name="To do")).to_be_visible()
    assert send(url, secret, {}, "2") == 422
    made.get_by_role("button", name="Deliveries").click()
    expect(made.get_by_text("The body has no body.issue.title").first).to_be_visible()

    made.get_by_role("button", name="Pause").click()
    expect(made.get_by_text("Paused", exact=True)).to_be_visible()
    made.get_by_role("button", name="Rotate secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate secret").click()
    expect(page.get_by_role("dialog").get_by_text("whsec_").first).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    made.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No webhooks yet")).to_be_visible()


def test_one_that_has_stopped_is_told_and_resumed_on_a_phone_in_japanese_in_the_dark(
    chrome: Browser, depot: Site
) -> None:
    asked = {"name": "Failing", "title": "Triage {{ body.issue.title }}", "max_failures": 1}
    made = depot.people.rest("POST", f"/projects/{PROJECT}/webhooks", asked)
    assert send(f"{depot.url}{made['webhook']['path']}", made["secret"], {}, "1") == 422
    with browsers.window(chrome, depot, language="ja", size=PHONE, touch=True) as window:
        page = window.page(f"/p/{PROJECT}")
        page.emulate_media(color_scheme="dark")
        need = page.get_by_role("listitem").filter(has_text="Webhook 停止").first
        expect(need).to_be_visible()
        page.goto(f"{window.url}/settings?tab=webhooks&q={PROJECT}")
        failing = row(page, "Failing")
        expect(failing.get_by_text("停止: 1 件の配信が失敗しました。")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        failing.get_by_role("button", name="再開").click()
        expect(failing.get_by_text("有効", exact=True)).to_be_visible()
