"""The dashboard as it looks: every view of a filled server, in two languages, light and dark, wide and on a phone.

    python docs/screenshots.py [VIEW …] [--theme light] [--size wide] [--into docs/screenshots]

Without names every view is drawn, and without options in every way. `overview --theme light --size wide` draws the two
pictures that are committed. A server, a Coordinator and scripted agents are started for it
(`tests/browser/filled.py`) and ended.
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page  # noqa: E402 - after the path to the tests' helpers

from tests.browser import browsers, filled  # noqa: E402
from tests.browser.filled import Filled  # noqa: E402
from tests.scenarios.sites import Site  # noqa: E402
from toryo.client import Client  # noqa: E402

LANGUAGES = ("en", "ja")
THEMES = ("light", "dark")
SIZES = {"wide": browsers.WIDE, "phone": browsers.PHONE}
STILL_FOR_MS = 700
QUALITY = 90
"""Of the WebP files: letters stay sharp, and a picture takes some 30 kB."""


@dataclass(frozen=True)
class Look:
    language: str
    theme: str
    size: str


def views(shop: Filled) -> dict[str, str]:
    of = f"/p/{filled.PROJECT}"
    plain = ("board", "list", "graph", "timeline", "team", "sessions", "audit", "usage", "state")
    return {
        "signin": "/sign-in",
        "overview": "/",
        "task": f"{of}/board?task={shop.tasks['search']}",
        "review": f"{of}/review/{shop.tasks['prices']}",
        "chat": f"{of}/chat?agent=sora",
        "logs": f"{of}/logs?launch={shop.site.launches(task_id=shop.tasks['search'])[0]['launch_id']}",
        "settings": "/settings",
        **{name: f"{of}/{name}" for name in plain},
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("view", nargs="*", help="only these views, e.g. overview board")
    asked.add_argument("--into", type=Path, default=ROOT / "docs" / "screenshots")
    asked.add_argument("--theme", choices=THEMES, help="only this theme")
    asked.add_argument("--size", choices=sorted(SIZES), help="only this size")
    given = asked.parse_args()
    themes = [given.theme] if given.theme else THEMES
    sizes = [given.size] if given.size else SIZES
    written = 0
    with browsers.browser() as chrome:
        for language in LANGUAGES:
            looks = [Look(language, theme, size) for theme in themes for size in sizes]
            written += _of(chrome, language, looks, given.into, given.view)
    sys.stdout.write(f"{written / 1_000_000:.1f} MB in {given.into}\n")


def _of(chrome: Browser, language: str, looks: Sequence[Look], into: Path, only: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="toryo-screenshots-") as place, Site(Path(place)) as site:
        shop = filled.fill(site, language)
        _figures(shop)
        wanted = {name: path for name, path in views(shop).items() if not only or name in only}
        return sum(_shots(chrome, shop, wanted, look, into) for look in looks)


def _figures(shop: Filled) -> None:
    """What programs with a model would have told of themselves, and values that agents share: scripts have neither."""
    coordinator = Client(shop.site.url, shop.site.token("coordinator"), patience_seconds=20)
    for number, name in enumerate(("prices", "search", "pages", "broken"), 3):
        (launch, *_) = shop.site.launches(task_id=shop.tasks[name])
        offset = shop.site.people.rest("GET", f"/launches/{launch['launch_id']}/log")["next_offset"]
        used = {"input_tokens": 41_300 * number, "output_tokens": 2_650 * number, "cost_usd": 0.37 * number}
        used["cached_tokens"] = 30_100 * number
        coordinator.call(
            "append_log", launch_id=launch["launch_id"], offset=offset, text="", usage={**used, "model": "oak-2"}
        )
    key = shop.site.people.rest("POST", f"/projects/{filled.PROJECT}/keys", {"name": "shop"})["token"]
    agent = Client(shop.site.url, key, patience_seconds=20)
    agent.call("set_shared_state", key="prices:currency", value="EUR")
    agent.call("set_shared_state", key="orders:schema", value={"columns": ["id", "paid_at", "sum"], "unit": "cent"})


def _shots(chrome: Browser, shop: Filled, wanted: Mapping[str, str], look: Look, into: Path) -> int:
    how: dict[str, Any] = {"language": look.language, "theme": look.theme, "size": SIZES[look.size]}
    written = 0
    for knows, opened in ((False, browsers.stranger), (True, browsers.window)):
        with opened(chrome, shop.site, **how) as window:
            page = window.context.new_page()
            for name, path in wanted.items():
                if (name != "signin") is knows:
                    page.goto(window.url + path)
                    if name == "task":
                        page.get_by_role("dialog").get_by_role("tablist").wait_for()
                    written += _shot(page, into / f"{name}-{look.language}-{look.theme}-{look.size}.webp")
    return written


def _shot(page: Page, file: Path) -> int:
    browsers.settled(page)
    page.wait_for_timeout(STILL_FOR_MS)  # views read some things after they stand
    page.evaluate("document.fonts.ready")
    file.parent.mkdir(parents=True, exist_ok=True)
    drawn = page.context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
    )  # Playwright's own knows PNG and JPEG only
    return file.write_bytes(base64.b64decode(drawn["data"]))


if __name__ == "__main__":
    main()
