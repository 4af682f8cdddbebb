"""Who looks elsewhere is called: the tab counts what waits, and a notification arrives that is answered by one click.

The browser's own push service is not reachable from a test: the page subscribes at one of the test's, which decrypts
what the server sends and hands it to the service worker as the browser would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Worker, expect

from tests.browser import browsers
from tests.housekeeping import receivers
from tests.housekeeping.push_browser import PushBrowser
from tests.housekeeping.receivers import Web
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

_PAGE = """(() => {
    const given = GIVEN;
    let current = null;
    Object.defineProperty(Notification, "permission", { get: () => "granted" });
    Notification.requestPermission = async () => "granted";
    PushManager.prototype.getSubscription = async () => current;
    PushManager.prototype.subscribe = async (options) => {
        const keys = { p256dh: given.p256dh, auth: given.auth };
        const unsubscribe = async () => { current = null; return true; };
        const toJSON = () => ({ endpoint: given.endpoint, keys });
        current = { endpoint: given.endpoint, options, toJSON, unsubscribe };
        return current;
    };
})()"""
_WORKER = """() => {
    self.shown = new Map();
    self.registration.showNotification = async (title, options) => void self.shown.set(options.tag, {
        title, ...options, close: () => self.shown.delete(options.tag),
    });
}"""
_HAPPENS = """async ([kind, more]) => {
    const waits = [];
    const notification = self.shown.get(more.tag);
    const event = Object.assign(new Event(kind), {
        ...more, notification, data: { json: () => more.told }, waitUntil: (promise) => waits.push(promise),
    });
    self.dispatchEvent(event);
    await Promise.all(waits);
}"""
"""What Chromium without windows lacks: the permission, and notifications that are shown."""


@pytest.fixture
def service() -> Iterator[Web]:
    with receivers.web() as served:
        yield served


@pytest.fixture
def told(tmp_path: Path, service: Web) -> Iterator[Site]:
    """A server that may notify browsers through the test's push service."""
    host = service.url.removeprefix("http://").partition("/")[0]
    with Site(tmp_path, TORYO_NOTICES__PUSH_SERVICES=host) as found:
        found.project("desk")
        found.hire("writer", "desk")
        yield found


def settings(page: Page) -> Page:
    page.get_by_role("navigation", name="Settings").get_by_role("button", name="Account").click()
    return page


def worker_of(page: Page) -> Worker:
    """The service worker of the page, whose notifications are kept in a list."""
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    worker = page.context.service_workers[0]
    if not worker.evaluate("() => 'shown' in self"):
        worker.evaluate(_WORKER)
    return worker


def deliver(page: Page, told: dict[str, Any]) -> None:
    """Gives the service worker a message as the browser does that was handed it by its push service."""
    worker_of(page).evaluate(_HAPPENS, ["push", {"told": told}])


def click(page: Page, tag: str, action: str) -> None:
    worker_of(page).evaluate(_HAPPENS, ["notificationclick", {"tag": tag, "action": action}])


def shown(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = worker_of(page).evaluate(
        "() => [...self.shown.values()].map(({ close, ...rest }) => rest)"
    )
    return found


def fail(site: Site, title: str) -> str:
    """A task whose command fails: its person decides."""
    task = site.file("desk", title, assignee_id="writer", context={"command": "exit 3"})
    site.move(task, "in_progress")
    return task


def test_a_failure_calls_the_person_who_retries_it_from_the_notification(
    chrome: Browser, told: Site, service: Web
) -> None:
    told.coordinator()
    browser = PushBrowser(f"http://{service.url.removeprefix('http://').partition('/')[0]}/push/1")
    with browsers.window(chrome, told) as window:
        window.context.add_init_script(_PAGE.replace("GIVEN", json.dumps(browser.subscription)))
        page = settings(window.page("/settings"))
        page.get_by_role("button", name="Notify me in this browser").click()
        expect(page.get_by_text("This browser notifies you when you are needed")).to_be_visible()

        page.get_by_role("button", name="Send a test notification").click()
        assert browser.told(service.arrived.get(timeout=30))["kind"] == "test"

        task = fail(told, "Weigh the beam")
        said = browser.told(service.arrived.get(timeout=60))
        assert (said["kind"], said["task_id"]) == ("failed", task)
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        expect(page.locator("link[rel=icon]")).to_have_attribute("href", "/favicon-waiting.svg")

        deliver(page, said)
        (notification,) = shown(page)
        assert "Weigh the beam" in notification["title"]
        assert notification["actions"] == [{"action": "retry", "title": "Retry"}]
        click(page, notification["tag"], "retry")
        (answer,) = shown(page)
        assert answer["title"] == "Retried"
        assert told.status(task) != "failed"

        page.get_by_role("button", name="Stop notifications here").click()
        expect(page.get_by_text("Get a notification in this browser")).to_be_visible()


def test_what_another_has_settled_meanwhile_is_refused_in_words(chrome: Browser, told: Site, service: Web) -> None:
    told.coordinator()
    browser = PushBrowser(f"http://{service.url.removeprefix('http://').partition('/')[0]}/push/2")
    with browsers.window(chrome, told) as window:
        window.context.add_init_script(_PAGE.replace("GIVEN", json.dumps(browser.subscription)))
        page = settings(window.page("/settings"))
        page.get_by_role("button", name="Notify me in this browser").click()
        task = fail(told, "Plane the door")
        said = browser.told(service.arrived.get(timeout=60))
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        told.move(task, "cancelled", "not needed")
        expect(page).not_to_have_title(re.compile(r"^\("))
        expect(page.locator("link[rel=icon]")).to_have_attribute("href", "/favicon.svg")
        deliver(page, said)
        click(page, said["key"], "retry")
        (answer,) = shown(page)
        assert answer["title"] == "This did not work"
        assert "Plane the door" in answer["body"]


@browsers.BOTH
def test_kinds_and_quiet_hours_are_kept_and_a_blocked_page_says_what_to_do(chrome: Browser, told: Site) -> None:
    with browsers.window(chrome, told) as window:
        page = settings(window.page("/settings"))
        page.get_by_role("checkbox", name="Review", exact=True).click()
        expect(page.get_by_role("checkbox", name="Review", exact=True)).not_to_be_checked()
        page.get_by_role("checkbox", name="Quiet hours").click()
        page.get_by_label("From", exact=True).fill("21:30")
        expect(page.get_by_text("During quiet hours")).to_be_visible()
        page.reload()
        settings(page)
        expect(page.get_by_role("checkbox", name="Review", exact=True)).not_to_be_checked()
        expect(page.get_by_label("From", exact=True)).to_have_value("21:30")
        expect(page.get_by_label("To", exact=True)).to_have_value("07:00")
    answer = told.people.rest("GET", "/notification-settings")
    assert answer["muted"] == ["review"]
    assert answer["quiet_hours"] == {"begin": "21:30", "end": "07:00"}


def test_the_dashboard_can_be_installed_as_an_app(chrome: Browser, told: Site) -> None:
    with browsers.window(chrome, told) as window:
        page = window.page("/")
        answer = page.request.get(f"{told.url}/manifest.webmanifest")
        assert answer.headers["content-type"].startswith("application/manifest+json")
        manifest = answer.json()
        assert (manifest["display"], manifest["scope"]) == ("standalone", "/")
        for icon in manifest["icons"]:
            assert page.request.get(told.url + icon["src"]).headers["content-type"] == icon["type"]
        expect(page.locator("link[rel=manifest]")).to_have_attribute("href", "/manifest.webmanifest")
        expect(page.locator("link[rel=apple-touch-icon]")).to_have_attribute("href", "/apple-touch-icon.png")
