"""The dashboard at its limits: bytes of scripts per view, a slow connection, many tabs, the delay of an event, and long
tasks of the main thread with thousands of tasks.

A server and a real Chromium on this machine. Bytes, requests and connections are the same on every machine; times grow
with other load. Smoothness of scrolling and the CPU of updates are measured by `pages.py`.

    python benchmarks/dashboard.py [--many 5000] [--events 40] [--tabs 20] [--rounds 3] [--looks 3]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import target_figures
from pages import ROOT, Run, fill  # which also leads to the tests' helpers
from playwright.sync_api import Browser, Page

from tests.browser import browsers, linked_tasks
from tests.browser.first_files import first_files
from tests.browser.pages import live
from tests.scenarios.sites import Site

VIEWS = {
    "home": ("/p/many", "Queue"),
    "board": ("/p/many/board", "of many"),
    "list": ("/p/many/list", "of many"),
    "timeline": ("/p/many/timeline", "worker-many"),
    "team": ("/p/many/team", "worker-many"),
    "audit": ("/p/many/audit", "worker-many"),
    "graph": ("/p/linked/graph", "Goal"),
}
"""By folder: the address, and words that are there once the view is. The graph's project has 5,000 tasks, 4,000 of them
linked, whatever `--many` says."""
FIRST = ("board", "home", "list")
LATENCY_MS, BYTES_PER_S = 400, 50_000
LONG_MS = 100


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--many", type=int, default=5000, help="tasks of the project where long tasks are counted")
    asked.add_argument("--events", type=int, default=40)
    asked.add_argument("--tabs", type=int, default=20)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--looks", type=int, default=3, help="how often each view is opened to count long tasks")
    given = asked.parse_args()
    sizes()
    with (
        tempfile.TemporaryDirectory(prefix="toryo-dashboard-") as place,
        Site(Path(place)) as site,
        browsers.browser() as chrome,
    ):
        fill(site, "few", 40)
        run = Run(chrome, site, given.rounds, within=120)
        slow(run, given.rounds)
        many_tabs(chrome, site, given.tabs)
        fill(site, "many", given.many)
        linked_tasks.fill(site, "linked")
        long_tasks(run, given.many, given.looks)
        for _ in range(given.rounds):
            taken = run.latency("many", given.many, given.events // given.rounds)
            target_figures.note("T16 event", taken, f"{given.events // given.rounds} events, {given.many:,} tasks")


def say(what: str, *columns: str) -> None:
    sys.stdout.write(f"{what:<42}{''.join(f'{each:>14}' for each in columns)}\n")
    sys.stdout.flush()


def sizes() -> None:
    say("scripts of a first view, gzip", "bytes, en", "bytes, ja", "scripts")
    folders = sorted(each.parent.name for each in (ROOT / "web/src/views").glob("*/index.tsx"))
    for view in folders:
        found = {language: first_files(view, language) for language in ("en", "ja")}
        total = {language: sum(each.values()) for language, each in found.items()}
        say(f"  {view}", f"{total['en']:,}", f"{total['ja']:,}", str(len(found["en"])))
        if view in FIRST:
            target_figures.note(f"T16 {view}", max(total.values()) / 1000)


def slow(run: Run, rounds: int) -> None:
    """First paint, frame and board, nothing cached."""
    found = [_slowly(run) for _ in range(rounds)]
    painted, ready = (statistics.median(each[place] for each in found) / 1000 for place in (0, 1))
    how = f"{LATENCY_MS} ms, {BYTES_PER_S // 1000} kB/s"
    say(f"slow connection ({how})", "frame, s", "board, s")
    say(f"  medians of {rounds}", f"{painted:.2f}", f"{ready:.2f}")
    for frame, board in found:
        target_figures.note("T16 frame", frame / 1000, how)
        target_figures.note("T16 slow board", board / 1000, how)


def _slowly(run: Run) -> tuple[float, float]:
    with run.page("/p/few/board", "of few", connection=(LATENCY_MS, BYTES_PER_S)) as (page, _):
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return float(painted), float(page.evaluate("window.usable"))


def many_tabs(chrome: Browser, site: Site, count: int) -> None:
    """All of one browser, one after the other: each is there before the next one is opened."""
    with browsers.window(chrome, site) as window:
        asked: list[str] = []
        window.context.on("request", lambda one: asked.append(one.url))
        begin, longest, tabs = time.monotonic(), 0.0, []
        for _ in range(count):
            opened = time.monotonic()
            tabs.append(window.page("/p/few/board"))
            _is_there(tabs[-1])
            longest = max(longest, time.monotonic() - opened)
        whole = time.monotonic() - begin
        open_now, streams = _connections(site), sum("/events/stream" in each for each in asked)
    data = sum("/api/" in each for each in asked)
    say(f"{count} tabs of a board", "all, s", "longest, s", "of data", "streams", "connections")
    say("  all are live", f"{whole:.1f}", f"{longest:.2f}", str(data), str(streams), str(open_now))
    target_figures.note("T16 tabs", open_now, f"{count} tabs, {data} requests for data, {streams} for streams")


def _is_there(page: Page) -> None:
    page.get_by_role("main").get_by_text("of few").first.wait_for()
    live(page).wait_for()


def _connections(site: Site) -> int:
    """Established ones of the server, as the kernel lists them."""
    port = f":{int(site.url.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(port) and row[3] == "01" for row in rows)


def long_tasks(run: Run, count: int, rounds: int) -> None:
    """From the navigation until nothing has happened for a second."""
    say(f"{count:,} tasks: main thread", "over 100 ms", "longest, ms", "ready, ms")
    over, longest = [0] * rounds, 0.0
    for view, (path, words) in VIEWS.items():
        found = [_watched(run, path, words) for _ in range(rounds)]
        counts = [sum(each > LONG_MS for each in tasks) for tasks, _ in found]
        worst = max((each for tasks, _ in found for each in tasks), default=0)
        ready = statistics.median(each for _, each in found)
        say(f"  {view}", f"{statistics.median(counts):g}", f"{worst:.0f}", f"{ready:.0f}")
        if view == "graph":
            for _, each in found:
                target_figures.note("T16 graph", each, f"{linked_tasks.ALL:,} tasks")
        over, longest = [sum(both) for both in zip(over, counts, strict=True)], max(longest, worst)
    for each in over:
        target_figures.note("T16 long tasks", each, f"longest {longest:.0f} ms, {len(VIEWS)} views, {count:,} tasks")


_QUIET = """new Promise((told) => {
    const happened = () => window.longTasks.length + performance.getEntriesByType("resource").length;
    const look = (before) => setTimeout(() => {
        if (happened() === before) told(window.longTasks);
        else look(happened());
    }, 1000);
    look(happened());
})"""
"""The network is never idle: the page reads a stream of events."""


def _watched(run: Run, path: str, words: str) -> tuple[list[float], float]:
    with run.page(path, words) as (page, _):
        found: Any = page.evaluate(_QUIET)
        return found, float(page.evaluate("window.usable"))


if __name__ == "__main__":
    main()
