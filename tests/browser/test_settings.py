"""Setting up by clicking: agents, API keys, access tokens, people, passwords, the rules of a project; what is secret
is shown once, and whoever is no owner changes none of it.
"""

from __future__ import annotations

import http.client
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import browsers, pages
from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PASSWORD = "a beam of oak, a beam of pine"


def tab(window: browsers.Window, name: str) -> Page:
    page = window.page("/settings")
    page.get_by_role("navigation", name="Settings").get_by_role("button", name=name).click()
    expect(page.get_by_role("heading", name=name, level=2, exact=True)).to_be_visible()
    return page


def shown_once(page: Page, title: str) -> str:
    """The secret of a dialog that says that nobody can read it again; leaves it."""
    once = page.get_by_role("dialog", name=title)
    expect(once).to_contain_text("Shown only once")
    secret = once.locator("code").inner_text()
    once.get_by_role("button", name="Done").click()
    expect(page.get_by_text(secret)).to_have_count(0)
    return secret


def row(page: Page, words: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has_text=words)


@pytest.mark.pitfall("F120")
def test_f120_an_agent_is_made_changed_and_switched_off_and_its_passkey_is_seen_once(
    chrome: Browser, site: Site
) -> None:
    site.project("shed")
    with browsers.window(chrome, site) as window:
        page = tab(window, "Agents")
        page.get_by_role("button", name="New agent").click()
        dialog = page.get_by_role("dialog", name="New agent")
        dialog.get_by_label("Name", exact=True).fill("Joiner")
        dialog.get_by_role("radio", name="Runs on its own").check(force=True)  # its card is what one sees
        dialog.get_by_text("More options", exact=True).click()
        dialog.get_by_label("ID", exact=True).fill("joiner")
        dialog.get_by_role("button", name="Create agent").click()
        first = shown_once(page, "Passkey")

        page.get_by_role("main").get_by_role("button").filter(has_text="Joiner").click()
        sheet = page.get_by_role("dialog", name="Joiner")
        sheet.get_by_label("Name", exact=True).fill("Jo the joiner")
        sheet.get_by_label("Parallel tasks").fill("3")
        fallback = sheet.get_by_label("Fallback programs")
        fallback.fill("claude (second")
        expect(sheet.get_by_text("Not a program: claude (second")).to_be_visible()
        expect(sheet.get_by_role("button", name="Save")).to_be_disabled()
        fallback.fill("claude (second)\ngemini gemini-2.5-flash")
        sheet.get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog", name="Jo the joiner")).to_be_visible()
        sheet = page.get_by_role("dialog", name="Jo the joiner")
        sheet.get_by_role("button", name="Renew passkey").click()
        page.get_by_role("dialog", name="Renew the passkey of").get_by_role("button", name="Renew passkey").click()
        second = shown_once(page, "Passkey")
        assert first != second

        sheet.get_by_role("button", name="Deactivate").click()
        expect(sheet.get_by_role("button", name="Activate")).to_be_visible()
        sheet.get_by_role("button", name="Close").click()
        expect(page.get_by_role("button").filter(has_text="Jo the joiner")).to_contain_text("Inactive")
        (agent,) = (each for each in site.people.rest("GET", "/agents")["agents"] if each["agent_id"] == "joiner")
        assert (agent["name"], agent["max_parallel_tasks"], agent["status"]) == ("Jo the joiner", 3, "inactive")
        second_account, other = {"provider": "claude", "account": "second"}, "gemini-2.5-flash"
        assert agent["provider_options"]["fallback"] == [second_account, {"provider": "gemini", "model": other}]

        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
        for path in ("/settings?tab=agents", "/p/shed/audit"):
            page.goto(window.url + path)
            browsers.settled(page)
            kept += page.content()
        assert first not in kept
        assert second not in kept
    assert nowhere(site.data, first, second)


def nowhere(data: Path, *secrets: str) -> bool:
    """Not in a byte of a server's directory: database, logs, whatever there is."""
    files = [path for path in data.rglob("*") if path.is_file()]
    assert files
    return not any(secret.encode() in path.read_bytes() for path in files for secret in secrets)


def test_a_key_and_a_token_open_what_they_are_for_until_they_are_revoked(chrome: Browser, site: Site) -> None:
    site.project("gate")
    with browsers.window(chrome, site) as window:
        page = tab(window, "API keys")
        page.get_by_label("Project", exact=True).select_option("gate")
        page.get_by_role("button", name="New API key").click()
        dialog = page.get_by_role("dialog", name="New API key")
        dialog.get_by_label("Purpose").fill("The sawmill")
        dialog.get_by_label("Queues", exact=True).fill("saw, plane")
        dialog.get_by_role("button", name="Create key").click()
        key = shown_once(page, "API key created")
        expect(row(page, "The sawmill")).to_contain_text("saw, plane")
        assert Client(site.url, key).call("register_agent", agent_id="mill", agent_type="saw")["success"]
        row(page, "The sawmill").get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog", name="Revoke The sawmill?").get_by_role("button", name="Revoke").click()
        expect(row(page, "The sawmill")).to_contain_text("Revoked")

        page = tab(window, "Account")
        page.get_by_role("button", name="New token").click()
        dialog = page.get_by_role("dialog", name="New token")
        dialog.get_by_label("Purpose").fill("A script")
        dialog.get_by_role("button", name="Create token").click()
        token = shown_once(page, "Access token created")
        assert Client(site.url, token).rest("GET", "/me")["person_id"] == "owner"
        row(page, "A script").get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog", name="Revoke A script?").get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("dialog")).to_have_count(0)  # it hides the rows until that is done
        expect(row(page, "A script")).to_have_count(0)
    assert [answer_to(site, secret) for secret in (key, token)] == [401, 401]
    assert nowhere(site.data, key, token)


def answer_to(site: Site, bearer: str) -> int:
    """What REST says to a bearer."""
    connection = http.client.HTTPConnection(site.url.removeprefix("http://"), timeout=30)
    connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {bearer}"})
    return connection.getresponse().status


def test_a_person_is_added_gets_a_password_comes_in_and_is_removed(chrome: Browser, site: Site) -> None:
    with browsers.window(chrome, site) as window, browsers.stranger(chrome, site) as door:
        page = tab(window, "People")
        page.get_by_role("button", name="Add person").click()
        dialog = page.get_by_role("dialog", name="Add person")
        dialog.get_by_label("ID", exact=True).fill("mika")
        dialog.get_by_label("Name").fill("Mika Tanaka")
        dialog.get_by_label("Access").select_option("member")
        dialog.get_by_role("button", name="Add", exact=True).click()
        expect(row(page, "Mika Tanaka")).to_be_visible()
        row(page, "Mika Tanaka").get_by_role("button", name="Password").click()
        dialog = page.get_by_role("dialog", name="Password for Mika Tanaka")
        dialog.get_by_label("New password").fill(PASSWORD)
        dialog.get_by_role("button", name="Set password").click()
        expect(row(page, "Mika Tanaka")).to_contain_text("password")

        hers = door.page("/settings?tab=me")
        hers.get_by_label("User ID").fill("mika")
        hers.get_by_label("Password").fill(PASSWORD)
        hers.get_by_role("button", name="Sign in").click()
        expect(hers.get_by_text("Signed in as Mika Tanaka")).to_be_visible()
        hers.get_by_label("Current password").fill(PASSWORD)
        hers.get_by_label("New password").fill(PASSWORD[::-1])
        hers.get_by_role("button", name="Set password").click()
        expect(hers.get_by_text("Password set")).to_be_visible()

        row(page, "Mika Tanaka").get_by_role("button", name="Remove").click()
        page.get_by_role("dialog", name="Remove Mika Tanaka?").get_by_role("button", name="Remove").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(row(page, "Mika Tanaka")).to_have_count(0)
        hers.reload()
        expect(hers.get_by_role("heading", name="Sign in to Toryo")).to_be_visible()
    assert nowhere(site.data, PASSWORD, PASSWORD[::-1])


@pytest.mark.parametrize("size", [browsers.WIDE, browsers.PHONE], ids=["wide", "phone"])
def test_a_message_covers_no_button_of_the_sheet_that_it_is_about(
    chrome: Browser, site: Site, size: dict[str, int]
) -> None:
    name = f"shelf-{size['width']}"
    site.project(name)
    with browsers.window(chrome, site, size=size) as window:
        page = window.page(f"/settings?tab=projects&q={name}")
        sheet = page.get_by_role("dialog", name=name)
        sheet.get_by_label("Description").fill("For books.")
        sheet.get_by_role("button", name="Save").click()
        said = page.get_by_role("status").filter(has_text="Saved")
        expect(said).to_be_visible()
        for button in ("Save", "Archive", "Pause"):
            wanted = sheet.get_by_role("button", name=button, exact=True)
            wanted.scroll_into_view_if_needed()
            assert not overlap(wanted, said), button


def overlap(one: Locator, other: Locator) -> bool:
    a, b = one.bounding_box(), other.bounding_box()
    assert a is not None
    assert b is not None
    beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
    return not beside and a["y"] < b["y"] + b["height"] and b["y"] < a["y"] + a["height"]


@pytest.mark.pitfall("F121")
def test_f121_whoever_is_no_owner_changes_no_settings(chrome: Browser, site: Site) -> None:
    site.project("vault")
    site.hire("teller", "vault")
    for login in ("member", "viewer"):
        with browsers.window(chrome, site, login=login) as window:
            offered = {}
            for name in ("projects", "agents", "machines", "keys", "people"):
                page = window.page(f"/settings?tab={name}")
                browsers.settled(page)
                offered[name] = pages.deeds(page)
            assert {name: found for name, found in offered.items() if found} == {}
            page.goto(f"{window.url}/settings?tab=projects&q=vault")
            for method, path, body in (
                ("PATCH", "/projects/vault", {"name": "mine"}),
                ("POST", "/agents", {"id": "mine"}),
                ("POST", "/agents/teller/passkey", {}),
                ("POST", "/people", {"person_id": "mine", "login": "owner"}),
                ("POST", "/projects/vault/keys", {}),
            ):
                assert browsers.rest(page, method, path, body)[0] == 403, path
    assert site.people.rest("GET", "/projects/vault")["project"]["name"] == "vault"
