"""The dashboard: time to the first usable view, smoothness of a board and a list of 5,000 tasks, delay of an event, and
bytes sent.

A server and a real Chromium on this machine; each result is printed beside its target. Wall times grow with other
load, so the load and the CPU of the page's main thread are printed, too. A measurement that would take longer than
--within gets fewer rounds, and says so.

    python benchmarks/pages.py [--tasks 1000] [--many 5000] [--events 50] [--rounds 5] [--within 90]
"""

from __future__ import annotations

import argparse
import gzip
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, CDPSession, Page  # noqa: E402 - after the path to the tests' helpers

from tests.browser import browsers  # noqa: E402
from tests.scenarios.sites import Site  # noqa: E402
from toryo.domain.tasks import Approval, Details, Priority, Status, Task  # noqa: E402
from toryo.server.dashboard_files import STATIC  # noqa: E402
from toryo.storage.engine.database import Connection  # noqa: E402
from toryo.storage.open_database import open_database  # noqa: E402
from toryo.storage.transaction import Transaction  # noqa: E402

FIRST_VIEW_MS, LONG_TASK_MS, LATENCY_MS = 1000, 100, 200
WIDE: Any = browsers.WIDE
STEPS = 120
"""So many frames of scrolling, each by STEP_PX: some eight cards a frame and column, as a hand that hurries."""
STEP_PX = 400
FEW = 20
"""So many events are timed however long it takes."""
WORDS = ("Mend", "the hinge of the garden door", "and oil it", "before the winter comes and everything is frozen again")

# In the page before its own scripts: when `wanted` is on the screen, and which tasks of the main thread were long.
WATCH = """(wanted) => {
    window.longTasks = [];
    new PerformanceObserver((seen) => seen.getEntries().forEach((each) => window.longTasks.push(each.duration)))
        .observe({ type: "longtask", buffered: true });
    window.largest = 0;
    new PerformanceObserver((seen) => seen.getEntries().forEach((each) => (window.largest = each.startTime)))
        .observe({ type: "largest-contentful-paint", buffered: true });
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
    window.shown = (text) => new Promise((done) => {
        const there = () => document.querySelector("main")?.textContent.includes(text);
        const look = () => there() && (stop.disconnect(), drawn().then((at) => done(performance.timeOrigin + at)));
        const stop = new MutationObserver(look);
        stop.observe(document, { childList: true, subtree: true, characterData: true });
        look();
    });
    window.usable = wanted === null ? null : window.shown(wanted).then((at) => at - performance.timeOrigin);
}"""
OPENED = """async () => {
    const usable = await window.usable;
    const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const blocked = window.longTasks.reduce((sum, each) => sum + each - 50, 0);
    return { usable, painted, largest: window.largest, blocked };
}"""
SCROLL = """async ([steps, px]) => {
    const all = [...document.querySelectorAll("main *")];
    const scrolled = all.filter((each) => each.scrollHeight > each.clientHeight + 2000 && each.clientHeight > 200);
    for (let step = 0; step < steps; step++) {
        for (const each of scrolled) each.scrollTop += px;
        await new Promise(requestAnimationFrame);
    }
    return scrolled.length;
}"""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--tasks", type=int, default=1000, help="open tasks where the first view is measured")
    asked.add_argument("--many", type=int, default=5000, help="tasks of the board and the list that are scrolled")
    asked.add_argument("--events", type=int, default=50)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--within", type=float, default=90, help="seconds after which nothing is repeated any more")
    given = asked.parse_args()
    _sizes()
    with (
        tempfile.TemporaryDirectory(prefix="toryo-pages-") as place,
        Site(Path(place)) as site,
        browsers.browser() as chrome,
    ):
        run = Run(chrome, site, given.rounds, given.within)
        fill(site, "some", given.tasks)
        run.first_views(given.tasks)
        fill(site, "many", given.many)
        run.scrolled(given.many)
        run.updated(given.many, given.events)
        run.latency("some", given.tasks, given.events)
        run.latency("many", given.many, given.events)


def _say(what: str, measured: str, target: str = "") -> None:
    sys.stdout.write(f"{what:<54} {measured:<52} {'target ' + target if target else ''}".rstrip() + "\n")
    sys.stdout.flush()


# --- what is sent ----------------------------------------------------------------------------------------------------


def _sizes() -> None:
    """Of scripts and styles, packed as the server packs them."""
    files = {each.name: each.read_bytes() for each in STATIC.rglob("*") if each.suffix in (".js", ".css")}
    packed = {name: len(gzip.compress(body, 6)) for name, body in files.items()}
    index = (STATIC / "index.html").read_text()
    first = sum(size for name, size in packed.items() if name in index)
    raw = sum(len(body) for name, body in files.items() if name in index)
    _say("in every first view, gzip", f"{first / 1000:.0f} kB ({raw / 1000:.0f} kB unpacked)")
    for name in sorted(packed, key=lambda each: -packed[each])[:12]:
        _say(f"    {re.sub(r'-[^-]{8}(?=[.])', '', name)}", f"{packed[name] / 1000:.1f} kB{' *' * (name in index)}")
    _say(f"in all views, gzip ({len(files)} files; * in every first view)", f"{sum(packed.values()) / 1000:.0f} kB")


# --- what is looked at -----------------------------------------------------------------------------------------------


def fill(site: Site, project: str, count: int) -> None:
    """Backlog and to do in turns, titles of one to three lines, every tenth urgent. In one transaction and past the
    server: how fast tasks are filed is not the question here."""
    site.project(project)
    agent, now = site.hire(f"worker-{project}", project), int(time.time() * 1000)

    def task(number: int) -> Task:
        task_id, at = f"{project}-{number}", now + number
        title = f"Task {number} of {project}: {' '.join(WORDS[: 1 + number % len(WORDS)])}"
        status = (Status.BACKLOG, Status.TODO)[number % 2]
        priority = Priority.HIGH if number % 10 == 0 else Priority.MEDIUM
        place = (task_id, project, task_id, None, 1, 0)
        return Task(*place, title, status, priority, agent, None, "owner", Approval.APPROVED, at, at, at)

    def add(connection: Connection) -> None:
        for number in range(count):
            Transaction(connection).tasks.add(task(number), Details())

    with open_database(f"sqlite:///{site.data / 'toryo.db'}", exclusive=False) as database:
        database.write(add)


# --- measuring -------------------------------------------------------------------------------------------------------


class Run:
    """Every page has its own window and shares only the sign-in with others."""

    def __init__(self, chrome: Browser, site: Site, rounds: int, within: float) -> None:
        self._chrome, self._site, self._rounds = chrome, site, rounds
        self._until = time.monotonic() + within
        with browsers.window(chrome, site) as window:
            self._signed_in: Any = window.context.storage_state()

    def first_views(self, count: int) -> None:
        for path, usable in (("/", "Queue"), ("/p/some/board", "of some"), ("/p/some/list", "of some")):
            found = self._several(partial(self._opened, path, usable))
            said = _middle([each["usable"] for each in found], "ms")
            _say(f"first view usable, {count} tasks, nothing cached: {path}", said, f"{FIRST_VIEW_MS} ms")
            names = {"painted": "first paint", "largest": "largest", "blocked": "blocked", "cpu": "CPU"}
            more = (f"{words} {statistics.median(each[key] for each in found):.0f}" for key, words in names.items())
            _say("", f"{', '.join(more)} ms")

    def scrolled(self, count: int) -> None:
        for view in ("board", "list"):
            found = self._several(partial(self._scrolled, view))
            longest, over = max(each["longest"] for each in found), int(sum(each["over"] for each in found))
            told = _long(over, longest, len(found))
            _say(f"{view} of {count} tasks, {STEPS} frames of scrolling, long tasks", told, "none")
            _say("", f"CPU per frame {_middle([each['cpu'] / STEPS for each in found], 'ms', 1)}")

    def updated(self, count: int, events: int) -> None:
        """New tasks and changed ones in turns, as fast as one caller can."""
        for view in ("board", "list"):
            with self.page(f"/p/many/{view}", "of many") as (page, metrics):
                last = f"Update {events - 1} of {view}"
                page.evaluate("(last) => void (window.seen = window.shown(last))", last)
                first = self._site.file("many", f"First of {view}", status="todo", priority="critical")
                before = _start(page, metrics)
                for number in range(events):
                    if number % 2:
                        self._site.people.rest("PATCH", f"/tasks/{first}", {"title": f"Update {number} of {view}"})
                    else:
                        self._site.file("many", f"New {number}", status="backlog")
                page.evaluate("window.seen")
                _say(
                    f"{view} of {count} tasks, {events} updates, long tasks",
                    _ended(page, metrics, before, events),
                    "none",
                )

    def latency(self, project: str, count: int, events: int) -> float:
        """From just before the call that changes a task to when the new title is drawn, one after the other: p95."""
        task = self._site.file(project, f"Before all in {project}", status="todo", priority="critical")
        with self.page(f"/p/{project}/board", "Before all") as (page, _):
            taken: list[float] = []
            for number in range(events):
                if len(taken) >= FEW and time.monotonic() > self._until:
                    break
                page.evaluate("(title) => void (window.seen = window.shown(title))", f"Event number {number};")
                begin = time.time() * 1000
                self._site.people.rest("PATCH", f"/tasks/{task}", {"title": f"Event number {number};"})
                taken.append(page.evaluate("window.seen") - begin)
        said = f"p50 {statistics.median(taken):.0f} ms, p95 {_p95(taken):.0f} ms"
        _say(f"event to screen, board of {count} tasks, {len(taken)} events", said, f"p95 {LATENCY_MS} ms")
        return _p95(taken)

    def _several(self, measure: Callable[[], dict[str, float]]) -> list[dict[str, float]]:
        """At least once, then as often as is asked and the time lets."""
        found = [measure()]
        while len(found) < self._rounds and time.monotonic() < self._until:
            found.append(measure())
        return found

    def _opened(self, path: str, usable: str) -> dict[str, float]:
        with self.page(path, usable) as (page, metrics):
            return {**page.evaluate(OPENED), "cpu": _cpu(metrics)}

    def _scrolled(self, view: str) -> dict[str, float]:
        with self.page(f"/p/many/{view}", "of many") as (page, metrics):
            before = _start(page, metrics)
            assert page.evaluate(SCROLL, [STEPS, STEP_PX]) > 0, f"nothing in the {view} can be scrolled"
            found = page.evaluate("window.longTasks")
            over = sum(each > LONG_TASK_MS for each in found)
            return {"longest": max(found, default=0), "over": over, "cpu": _cpu(metrics) - before}

    @contextmanager
    def page(
        self, path: str, usable: str, *, connection: tuple[int, int] | None = None
    ) -> Iterator[tuple[Page, CDPSession]]:
        """A page that shows these words in its view, over a connection with so many ms of latency and bytes per s."""
        context = self._chrome.new_context(viewport=WIDE, storage_state=self._signed_in, locale="en-GB")
        try:
            context.set_default_timeout(browsers.WITHIN_MS)
            page = context.new_page()
            metrics = context.new_cdp_session(page)
            metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
            if connection is not None:
                latency, bytes_per_s = connection
                how = {"latency": latency, "downloadThroughput": bytes_per_s, "uploadThroughput": bytes_per_s}
                metrics.send("Network.enable")
                metrics.send("Network.emulateNetworkConditions", {"offline": False, **how})
            page.add_init_script(f"({WATCH})({usable!r})")
            page.goto(self._site.url + path, wait_until="commit")
            page.evaluate("window.usable")
            yield page, metrics
        finally:
            context.close()


def _cpu(metrics: CDPSession) -> float:
    """Milliseconds of CPU of the page's main thread until now."""
    found = {metric["name"]: metric["value"] for metric in metrics.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"] * 1000)


def _start(page: Page, metrics: CDPSession) -> float:
    page.evaluate("window.longTasks.splice(0)")
    return _cpu(metrics)


def _ended(page: Page, metrics: CDPSession, before: float, events: int) -> str:
    found: list[float] = page.evaluate("window.longTasks")
    over = sum(each > LONG_TASK_MS for each in found)
    return f"{_long(over, max(found, default=0))}; CPU {(_cpu(metrics) - before) / events:.0f} ms each"


def _long(over: int, longest: float, rounds: int = 1) -> str:
    times = f" in {rounds} rounds" if rounds > 1 else ""
    return f"{over} over {LONG_TASK_MS} ms{times}, longest {longest:.0f} ms"


def _middle(found: list[float], unit: str, digits: int = 0) -> str:
    low, high = min(found), max(found)
    return f"{statistics.median(found):.{digits}f} {unit} ({low:.{digits}f}-{high:.{digits}f}, {len(found)} rounds)"


def _p95(taken: Iterable[float]) -> float:
    ordered = sorted(taken)
    return ordered[max(0, round(len(ordered) * 0.95) - 1)]


if __name__ == "__main__":
    main()
