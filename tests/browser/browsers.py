"""A real browser that looks at the real dashboard of a real server: Chromium, and for some tests Firefox as well.

`Window` is one signed-in person at one server: pages of it fail a test that leaves an error in the console. Without
the browser or a built dashboard the tests are skipped and say why, or fail where everything is required.

Firefox is the one that people have, unchanged: Playwright speaks WebDriver BiDi with it. What BiDi cannot do yet
(touches, service workers, a page that crashes) is tested in Chromium alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.databases import missing
from tests.scenarios.sites import Site
from toryo.server.dashboard_files import STATIC

WITHIN_MS = 30_000
"""How long a page may take for what a test waits for: a bound for a busy machine, never a pause."""
PATIENT = pytest.mark.timeout(300, method="signal")
"""For the tests of a file: several such waits, one after the other."""
BOTH = pytest.mark.firefox
"""For a test that runs in Firefox, too."""
CHROMIUM, FIREFOX = "chromium", "firefox"
ONLY = "TORYO_TEST_BROWSERS"
"""Names the browsers that run every test of this folder, whatever its marks say: `firefox`, or `chromium,firefox`."""
expect.set_options(timeout=WITHIN_MS)
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
_QUIET = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)


_PROGRAMS = {
    # The first of these is the same browser without its own windows and menus, and takes half as much of the processor.
    CHROMIUM: ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
    FIREFOX: ("firefox-esr", "firefox"),
}
"""What each is called on a PATH; a test run can name another one as TORYO_TEST_CHROMIUM or TORYO_TEST_FIREFOX."""
_CALM: dict[str, str | float | bool] = {
    "browser.cache.disk.enable": False,
    "browser.tabs.unloadOnLowMemory": False,
    "dom.ipc.processCount": 2,
    "dom.ipc.processPrelaunch.enabled": False,
    "ui.prefersReducedMotion": 1,
}
"""Settings of Firefox: few processes, nothing kept ready, and no animation, as Playwright asks of Chromium."""

_TYPED = """Object.defineProperty(window, "__pw_bidiInsertText", {
    get: () => (text) => void document.execCommand("insertText", false, text),
    set: () => undefined,
})"""
"""Playwright's own way to put text into a field of Firefox sets the value in the page, where React takes no notice."""


def program(name: str) -> str:
    """The program of a browser."""
    named = os.environ.get(f"TORYO_TEST_{name.upper()}")
    found = named or next(filter(None, map(shutil.which, _PROGRAMS[name])), None)
    if found is None:
        missing(f"{name.capitalize()} is not on the PATH (Debian: apt-get install {_PROGRAMS[name][0]})")
        raise AssertionError("missing() does not return")
    return found


def built() -> None:
    """The dashboard is there to be looked at."""
    if not (STATIC / "index.html").is_file():
        missing("the dashboard is not built (make web)")


@contextmanager
def browser(name: str = CHROMIUM) -> Iterator[Browser]:
    """One process for many tests: each opens windows of its own in it."""
    found = program(name)
    built()
    with sync_playwright() as playwright:
        yield _launched(playwright, name, found)


def _launched(playwright: Playwright, name: str, program: str) -> Browser:
    if name == FIREFOX:
        return playwright.firefox.launch(
            channel="moz-firefox",
            executable_path=Path(__file__).with_name("firefox.py"),
            env={**os.environ, "TORYO_FIREFOX": program},
            firefox_user_prefs=_CALM,
        )
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return playwright.chromium.launch(executable_path=program, args=[*_QUIET, *as_root])


def is_firefox(context: BrowserContext) -> bool:
    return context.browser is not None and context.browser.browser_type.name == FIREFOX


class Window:
    """A browser window of one person. `errors` are those of the page's console; a good test leaves none."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.errors: list[str] = []
        context.set_default_timeout(WITHIN_MS)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", self._said)

    def page(self, path: str = "/") -> Page:
        """A page of the dashboard at an address of it."""
        page = self.context.new_page()
        page.goto(self.url + path)
        return page

    def tell(self) -> str:
        """What its pages show and what their console said, for a test that has failed."""
        pages = [f"{page.url}:\n{_text(page)}" for page in self.context.pages]
        return "\n\n".join([*pages, "console:", *self.errors])

    def _said(self, message: ConsoleMessage) -> None:
        refused = "Failed to load resource" in message.text  # the page shows what was refused; Chromium notes it, too
        if message.type == "error" and not refused:
            self.errors.append(message.text)


def _text(page: Page) -> str:
    try:
        return page.locator("body").inner_text(timeout=5_000)
    except Error as problem:
        return f"(cannot be read: {problem.message})"


@contextmanager
def window(chrome: Browser, site: Site, **how: Any) -> Iterator[Window]:
    """A window that is signed in as the owner of a site, or as `person_id`, as `login` at most.

    It signs in without a page, which is much quicker; the page's own way is shown in test_signing_in.
    """
    whom = {name: how.pop(name) for name in ("person_id", "login") if name in how}
    with stranger(chrome, site, **how) as shown:
        sign_in(shown.context, site, **whom)
        yield shown


@contextmanager
def stranger(
    chrome: Browser,
    site: Site,
    *,
    language: str = "en",
    theme: str = "light",
    size: dict[str, int] | None = None,
    touch: bool = False,
) -> Iterator[Window]:
    """A window of a browser that nobody has signed in with. Fails where the console had errors."""
    context = chrome.new_context(
        viewport=size or WIDE,  # type: ignore[arg-type]
        locale="ja-JP" if language == "ja" else "en-GB",
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        has_touch=touch,
    )
    if is_firefox(context):
        context.add_init_script(_TYPED)
    shown = Window(context, site.url)
    try:
        yield shown
    except BaseException:
        print(shown.tell(), site.tell(), sep="\n\n")  # noqa: T201 - shown beside the failure
        raise
    finally:
        context.close()
    assert not shown.errors, shown.errors


def sign_in(context: BrowserContext, site: Site, **whom: str) -> None:
    """Gives a context what opening a sign-in link would: the cookie, and the secret of the page."""
    path = str(site.people.rest("POST", "/sign-in-links", whom)["path"])
    page = context.new_page()
    page.goto(f"{site.url}/favicon.svg")  # of the origin, and without the page's scripts
    page.evaluate(_ENTER, path.partition("#")[2])
    page.close()


_ENTER = """async (code) => {
    const headers = { "Content-Type": "application/json", "X-Toryo": localStorage.getItem("toryo.page") ?? "1" };
    const ask = (given) => fetch("/api/v1/sign-in", { method: "POST", headers, body: JSON.stringify(given) });
    const first = await ask({ code });
    const told = await first.json();
    const last = first.status === 409 ? await ask({ code, instead_of: told.instead_of.person_id }) : first;
    if (!last.ok) throw new Error(JSON.stringify(told));
    localStorage.setItem("toryo.page", (last === first ? told : await last.json()).page_secret);
}"""


def rest(page: Page, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
    """What the page itself would be answered: the status and the document."""
    status, document = page.evaluate(_REST, [method, path, body])
    return int(status), document


_REST = """async ([method, path, body]) => {
    const headers = { "Content-Type": "application/json", "X-Toryo": localStorage.getItem("toryo.page") };
    const given = body === null ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`/api/v1${path}`, given);
    return [answer.status, await answer.json()];
}"""


def sign_in_link(site: Site, *words: str) -> str:
    """As `toryo open` prints it."""
    answer = subprocess.run(
        [*_toryo(), "open", "--no-browser", "--json", *words],
        env=site.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    document: dict[str, Any] = json.loads(answer.stdout)
    return str(document["url"])


def _toryo() -> list[str]:
    return [sys.executable, "-m", "toryo"]


def settled(page: Page) -> None:
    """Waits until the view is there: what it reads has come, nothing says that it loads, nothing moves or fades."""
    page.locator("main").wait_for()  # it has no role while something lies over it
    page.wait_for_function(
        """() => {
            const main = document.querySelector("main");
            const loads = document.querySelector("[aria-label=Loading], [aria-label=読み込み中]");
            const moves = document.getAnimations().some(
                (each) => each.playState === "running" && each.effect.getComputedTiming().endTime !== Infinity,
            );
            return main !== null && main.innerText.trim() !== "" && loads === null && !moves;
        }"""
    )


def tap(page: Page, x: float, y: float) -> None:
    """By a finger, or by the mouse where a test has no finger."""
    if is_firefox(page.context):
        page.mouse.click(x, y)
    else:
        page.touchscreen.tap(x, y)


def screenshot(page: Page, path: Path) -> None:
    """The whole window, once nothing moves any more."""
    page.evaluate("document.fonts.ready")
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
