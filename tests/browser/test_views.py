"""Every view of a filled site: no fault that axe calls moderate or worse; the main way by keyboard alone; what
agents did as the views tell it; and that whoever only looks finds nothing to change anything with.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.browser import browsers, filled, pages
from tests.browser.filled import Filled
from tests.databases import missing
from tests.scenarios import programs
from tests.scenarios.sites import Site
from toryo.client import Client

pytestmark = [pytest.mark.deep, browsers.PATIENT]

Theme = Literal["light", "dark"]
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
BAD = ("moderate", "serious", "critical")
RULES: dict[Theme, tuple[str, ...]] = {"light": (), "dark": ("color-contrast",)}
"""All of them; only colours differ between the themes, so the dark one needs no other rule."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A server with something of everything."""
    with Site(tmp_path_factory.mktemp("shop")) as site:
        found = filled.fill(site)
        key = site.people.rest("POST", f"/projects/{filled.PROJECT}/keys", {"name": "colours"})["token"]
        Client(site.url, key, patience_seconds=20).call("set_shared_state", key="door:colour", value="green")
        yield found


def addresses(shop: Filled) -> dict[str, str | re.Pattern[str]]:
    """Every view that there is, with something open in those where something can be, and what its contents say."""
    of = f"/p/{filled.PROJECT}"
    title, names = shop.texts.titles, shop.texts.names
    return {
        "/": title["manual"],
        "/settings": shop.texts.project,
        "/settings?tab=agents": names["hana"],
        "/settings?tab=people": "Owner",
        f"/t/{shop.tasks['search']}": title["search"],
        f"/t/{shop.tasks['release']}?tab=story": title["release"],
        f"{of}/review/{shop.tasks['prices']}": "TAX = 0.19",
        f"{of}/board?task={shop.tasks['manual']}": title["gifts"],
        f"{of}/chat?agent=sora": shop.texts.said[0],
        of: title["manual"],
        f"{of}/board": title["gifts"],
        f"{of}/list": title["gifts"],
        f"{of}/review": title["prices"],
        f"{of}/graph": title["release"],
        f"{of}/timeline": names["ren"],
        f"{of}/team": names["yui"],
        f"{of}/chat": names["sora"],
        f"{of}/sessions": title["search"],
        f"{of}/logs": title["search"],
        f"{of}/audit": re.compile("|".join(names.values())),
        f"{of}/usage": re.compile("Today"),
        f"{of}/state": "door:colour",
    }


OPENED: dict[str, Callable[[Page], None]] = {
    "a new task": lambda page: page.keyboard.press("n"),
    "the palette": lambda page: page.keyboard.press("ControlOrMeta+k"),
    "the keys": lambda page: page.keyboard.press("?"),
    "my menu": lambda page: page.get_by_role("banner").get_by_role("button").last.click(),
}
"""What can lie over every view, and how it is opened."""
BEHIND_A_MENU = re.compile(": (aria-hidden-focus|region|page-has-heading-one|landmark-one-main) ")
"""Radix hides the page behind an open menu from screen readers and keeps the focus inside of the menu, which axe cannot
see; and a menu stands in no landmark."""
ON_A_PHONE = ("", "/board", "/list", "/chat", "/timeline")


@pytest.mark.parametrize("part", [0, 1])  # each within the time of a test
def test_axe_finds_nothing_serious_or_moderate_in_any_view_in_either_theme(
    shop: Filled, chrome: Browser, part: int
) -> None:
    found: list[str] = []
    with browsers.window(chrome, shop.site) as window:
        page = window.context.new_page()
        for path, contents in [*addresses(shop).items()][part::2]:
            page.goto(window.url + path)
            expect(page.get_by_role("main").get_by_text(contents).first).to_be_attached()
            found += in_both_themes(page, path)
    assert found == []


def test_axe_finds_nothing_serious_or_moderate_on_a_phone(shop: Filled, chrome: Browser) -> None:
    found: list[str] = []
    with browsers.window(chrome, shop.site, size=browsers.PHONE, touch=True) as window:
        page = window.context.new_page()
        for view in ON_A_PHONE:
            page.goto(f"{window.url}/p/{filled.PROJECT}{view}")
            found += faults_of(page, f"{view} on a phone")
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("dialog", name="Menu").wait_for()
        found += faults(page)
    assert found == []


def in_both_themes(page: Page, what: str) -> list[str]:
    """The page hears of the other one as it would from the system."""
    found: list[str] = []
    for theme, rules in RULES.items():
        page.emulate_media(color_scheme=theme)
        page.wait_for_function("(it) => getComputedStyle(document.documentElement).colorScheme === it", arg=theme)
        found += faults_of(page, f"{what}, {theme}", *rules)
    page.emulate_media(color_scheme="light")
    return found


def faults_of(page: Page, what: str, *rules: str) -> list[str]:
    if not AXE.is_file():
        missing("axe-core is not installed (make web)")
    browsers.settled(page)
    page.evaluate(AXE.read_text())
    return [f"{what}: {fault}" for fault in faults(page, *rules)]


def faults(page: Page, *rules: str) -> list[str]:
    """What axe calls moderate or worse, with the first place of each; by these rules, if any are named."""
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    run = "options => axe.run(document, options).then(JSON.stringify)"
    answer: dict[str, Any] = json.loads(page.evaluate(run, {"resultTypes": ["violations"], "preload": False, **only}))
    return [told(violation) for violation in answer["violations"] if violation["impact"] in BAD]


def told(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    return f"{violation['id']} ({len(nodes)}): {nodes[0]['html'][:300]} {nodes[0]['failureSummary'][:300]}"


@pytest.mark.pitfall("F128")
def test_the_main_way_needs_no_pointer(shop: Filled, chrome: Browser) -> None:
    """File a task, open it, move it, say something to an agent, leave: by keys alone."""
    with browsers.window(chrome, shop.site) as window:
        page = window.page(f"/p/{filled.PROJECT}/board")
        keys = page.keyboard
        title = f"Count the chairs {secrets.token_hex(3)}"  # where it is tried again, the first one is still there
        expect(page.get_by_role("main").get_by_role("button").filter(has_text=shop.title("gifts"))).to_be_visible()
        keys.press("n")
        expect(page.get_by_role("dialog", name="New task")).to_be_visible()
        expect(page.get_by_role("textbox", name="Title")).to_be_focused()
        keys.type(title)
        keys.press("Enter")
        task = page.get_by_role("dialog", name="Task", exact=True)
        expect(task.get_by_role("heading", name=title)).to_be_visible()
        keys.press("Escape")
        expect(task).to_have_count(0)

        keys.press("/")
        keys.type(title)
        by_tab(page, page.get_by_role("main").get_by_role("button").filter(has_text=title))
        pages.pick_up(page, title, "To do")
        keys.press("ArrowLeft")
        said = page.get_by_role("status").filter(has_text=f"{title} is over Backlog")
        expect(said).to_be_attached()
        keys.press("Space")
        shop.site.until("it is moved", lambda: shop.site.tasks("shop")[title]["status"] == "backlog")

        keys.press("ControlOrMeta+k")
        keys.type("chat")
        keys.press("Enter")
        expect(page.get_by_role("button", name="New chat")).to_be_visible()
        by_tab(page, page.get_by_role("main").get_by_role("button").filter(has_text="Sora").first)
        keys.press("Enter")
        by_tab(page, page.get_by_role("textbox", name="Message to"))
        keys.type("Good evening")
        keys.press("Enter")
        mine = page.get_by_role("article").filter(has_text="You").filter(has_text="Good evening")
        expect(mine.last).to_be_visible()

        by_tab(page, page.get_by_role("banner").get_by_role("button").last)
        keys.press("Enter")
        expect(page.get_by_role("menuitem", name="Sign out")).to_be_visible()
        by_key(page, "ArrowDown", page.get_by_role("menuitem", name="Sign out"))
        keys.press("Enter")
        page.wait_for_url("**/sign-in")


def by_tab(page: Page, wanted: Any) -> None:
    by_key(page, "Tab", wanted)


def by_key(page: Page, key: str, wanted: Any, most: int = 80) -> None:
    """Press it until what is wanted has the focus."""
    expect(wanted).to_be_visible()
    for _ in range(most):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"not reached by {key} {most} times: {wanted}")


def test_whoever_may_only_look_finds_nothing_to_change_anything_with_in_any_view(shop: Filled, chrome: Browser) -> None:
    with browsers.window(chrome, shop.site, login="viewer") as window:
        page = window.context.new_page()
        offered = {}
        for path in addresses(shop):
            page.goto(window.url + path)
            browsers.settled(page)
            offered[path] = pages.deeds(page)
    assert {path: found for path, found in offered.items() if found} == {}


IDS = {
    r"/t/([^/?]+)": "/tasks/{}",
    r"[?&]task=([^&]+)": "/tasks/{}",
    r"/review/([^/?]+)": "/tasks/{}/worktree",
    r"[?&]launch=([^&]+)": "/launches/{}/log",
}
"""Which address tells of what, and where REST has it."""


@pytest.mark.pitfall("F114")
def test_f114_every_id_that_a_view_links_to_is_there(shop: Filled, chrome: Browser) -> None:
    found: set[str] = set()
    with browsers.window(chrome, shop.site) as window:
        page = window.context.new_page()
        for view in ("/", *(f"/p/{filled.PROJECT}/{view}" for view in ("audit", "logs", "sessions", "team"))):
            page.goto(window.url + view)
            browsers.settled(page)
            found |= set(page.evaluate("[...document.querySelectorAll('main a[href]')].map((each) => each.href)"))
    asked = {route.format(name) for link in found for sign, route in IDS.items() for name in re.findall(sign, link)}
    assert len(asked) > 2, found
    for route in sorted(asked):
        shop.site.people.rest("GET", route)


@browsers.BOTH
def test_the_tabs_of_a_task_tell_what_it_prints_hears_changes_and_costs(shop: Filled, chrome: Browser) -> None:
    site, task = shop.site, shop.tasks["search"]
    (launch, *_) = site.launches(task_id=task)
    spent = {"input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.25, "model": "oak-2"}
    coordinator = Client(site.url, site.token("coordinator"), patience_seconds=20)
    coordinator.call("append_log", launch_id=launch["launch_id"], offset=0, text="", usage=spent)
    with browsers.window(chrome, site) as window:
        page = window.page(f"/t/{task}")
        expect(page.get_by_role("heading", name=shop.title("search"), level=2)).to_be_visible()
        opened = page.get_by_role("tabpanel")

        page.get_by_role("button", name="Send instructions").click()
        asked = page.get_by_role("dialog")
        said = f"Umlauts, too, please ({chrome.browser_type.name})."  # each browser looks at the same site
        asked.get_by_role("textbox").fill(said)
        asked.get_by_role("button", name="Send instructions").click()
        page.get_by_role("tab", name="Messages").click()
        expect(opened.get_by_text(said)).to_be_visible()
        page.get_by_role("tab", name="Live log").click()
        expect(opened.get_by_role("log")).to_contain_text(f"{shop.texts.line} 3")
        expect(opened.get_by_text("Running")).to_be_visible()
        page.get_by_role("tab", name="Decisions").click()
        expect(opened.get_by_role("heading", name="Current")).to_be_visible()
        expect(opened.get_by_role("listitem").filter(has_text="Start").first).to_be_visible()
        page.get_by_role("tab", name="Events").click()
        expect(opened.get_by_role("listitem").nth(2)).to_be_visible()
        page.get_by_role("tab", name="Usage").click()
        expect(opened.get_by_role("row").filter(has_text="oak-2")).to_contain_text("$0.25")

        page.goto(f"{window.url}/t/{shop.tasks['prices']}?tab=diff")
        page.get_by_role("button", name="Show changes").click()
        expect(opened.get_by_text("shop/prices.py", exact=True)).to_be_visible()
        expect(opened.get_by_text("TAX = 0.19")).to_be_visible()

        page.goto(f"{window.url}/p/{filled.PROJECT}/usage")
        expect(page.get_by_role("meter", name=shop.texts.project)).to_have_attribute("aria-valuenow", "1")
        page.get_by_role("radio", name="By model").click()
        expect(page.get_by_role("row").filter(has_text="oak-2")).to_contain_text("$0.25")

        page.goto(f"{window.url}/p/{filled.PROJECT}/team")
        page.get_by_role("button", name="Why Kai is or is not running").click()
        expect(page.get_by_role("dialog").get_by_text("It has blocked tasks and none in progress.")).to_be_visible()


def test_what_agents_share_appears_and_changes_without_a_click(shop: Filled, chrome: Browser) -> None:
    key = shop.site.people.rest("POST", f"/projects/{filled.PROJECT}/keys", {"name": "state"})["token"]
    agent = Client(shop.site.url, key, patience_seconds=20)
    with browsers.window(chrome, shop.site) as window:
        page = window.page(f"/p/{filled.PROJECT}/state")
        browsers.settled(page)
        agent.call("set_shared_state", key="orders:schema", value={"columns": ["id", "paid"]})
        value = page.get_by_role("region", name="orders:schema")
        expect(value).to_contain_text('"paid"')
        agent.call("set_shared_state", key="orders:schema", value={"columns": ["id", "sent"]})
        expect(value).to_contain_text("Version 2")
        expect(value).to_contain_text('"sent"')
        page.get_by_role("searchbox", name="Filter by key or value").fill("nothing like it")
        expect(page.get_by_text("No key or value matches the filter")).to_be_visible()


def test_tasks_are_linked_by_drawing_and_a_circle_is_refused_with_its_path(shop: Filled, chrome: Browser) -> None:
    site = shop.site
    if "hall" not in [each["project_id"] for each in site.people.rest("GET", "/projects")["projects"]]:
        site.project("hall")
    first, last = site.file("hall", "Dig"), site.file("hall", "Pour")
    with browsers.window(chrome, site) as window:
        page = window.page("/p/hall/graph")
        draw(page, first, last, page.get_by_text("Dependency added", exact=True))
        site.until("it waits", lambda: site.look(last)["dependencies"] == [first])
        alarm = page.get_by_role("alert")
        draw(page, last, first, alarm.filter(has_text="Circular dependency"))
        expect(alarm.get_by_text(re.compile("Dig → Pour → Dig|Pour → Dig → Pour"))).to_be_visible()
    assert site.look(first)["dependencies"] == []


def draw(page: Page, source: str, target: str, done: Locator) -> None:
    """From dot to dot. The picture may still be moving into its place, or be moved by a drag near its edge: then it is
    fitted again, and tried again."""
    for _ in range(10):
        goal = page.locator(f'.react-flow__node[data-id="{target}"] .react-flow__handle.target')
        goal.hover()  # waits until it stands still
        page.locator(f'.react-flow__node[data-id="{source}"] .react-flow__handle.source').hover()
        page.mouse.down()
        box = goal.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
        page.mouse.up()
        try:
            done.first.wait_for(timeout=3000)
        except TooLate:
            page.get_by_role("button", name="Fit to window").click()
            continue
        return
    raise AssertionError(f"{source} and {target} could not be linked")


def test_a_session_is_ended_by_force_and_its_process_is_gone(shop: Filled, chrome: Browser) -> None:
    site = shop.site
    site.project("quay")
    site.hire("docker", "quay")
    gate = site.gate("quay")
    command = f"echo at work; {gate}"
    task = site.file("quay", "Load", assignee_id="docker", status="in_progress", context={"command": command})
    launch_id = site.until_printed(task, "at work")
    with browsers.window(chrome, site) as window:
        page = window.page("/p/quay/sessions")
        row = page.get_by_role("listitem").filter(has_text="docker")
        expect(row.get_by_role("link", name="Load")).to_be_visible()
        row.get_by_role("button", name="End").click()
        asked = page.get_by_role("dialog", name="End this session?")
        asked.get_by_label("Reason").fill("The quay is closed.")
        asked.get_by_role("button", name="End").click()
        expect(page.get_by_text("Session of docker ended")).to_be_visible()
    for pid in programs.everything_of([site.url], launch_id):
        assert programs.gone(pid, within=30.0)
    gate.open()
    site.until_status(task, "completed")
    assert len(site.launches(task_id=task)) == 2
