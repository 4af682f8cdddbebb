"""What checks have left, and pull requests, on a wide screen and on a phone: nothing is cut off, nothing moves the page
sideways, and nothing is too small for a finger.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT, PHONE, WIDE
from tests.pull_request_services import Service, with_only
from tests.scenarios.sites import Site
from tests.scenarios.test_worktrees import SiteRepository

pytestmark = [pytest.mark.deep, PATIENT]
LONG = "checkout-page-after-the-step-that-failed-on-the-small-screen-2026-11-28T14-48-35-attempt-2"
LOOKS = [("en", "light"), ("ja", "dark")]
SIZES = [pytest.param(WIDE, id="wide"), pytest.param(PHONE, id="phone")]


def picture(path: Path, width: int, height: int) -> None:
    """A PNG with stripes."""
    rows = b"".join(b"\0" + bytes((60, 90 + 60 * (row // 40 % 2), 160)) * width for row in range(height))
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def evidence(place: Path) -> str:
    """A command that leaves ten files: pictures of every form, and what browsers only save."""
    shots = place / "shots"
    for name, width, height in (
        (LONG, 2880, 1800),
        ("tall", 390, 6000),
        ("wide", 6000, 200),
        ("dot", 1, 1),
        ("b", 400, 300),
    ):
        picture(shots / f"{name}.png", width, height)
    names = (
        f"{LONG}.html",
        "report.html",
        "日本語の長い名前のレポート－支払い画面の確認結果.txt",
        "log.txt",
        "junit.xml",
    )
    for name in names:
        (shots / name).write_text("one\n" * 2000)
    return f"rm -rf shots; cp -R '{shots}' shots; find shots -type f -exec touch {{}} +; echo 12 passed"


class Place(NamedTuple):
    site: Site
    failed: str
    reviewed: str
    opened: str


@pytest.fixture(scope="module")
def place(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A task whose check has failed, one that waits for a review, and one with a pull request."""
    base = tmp_path_factory.mktemp("evidence")
    (base / "gitconfig").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(base / "gitconfig"))
        left = evidence(site.signals / "made")
        wrong = "echo 'AssertionError: the total is 12.10, not 12.00, in " + "x" * 200 + "'"
        check = f"{left}; test ! -e bad || {{ {wrong}; exit 1; }}"
        required = [{"command": check, "artifacts": ["shots/**", "*.gif"]}, {"command": "true"}]
        shop = SiteRepository(site, "shop", pull_requests="open", required_checks=required)
        shop.commit(__gitignore="/shots/\n")
        service = Service(base / "service", shop, "https://github.com/shop/till.git", "gh")
        with_only(patch, service.bin)
        site.environment |= {name: os.environ[name] for name in ("PATH", "GIT_CONFIG_GLOBAL")}
        site.hire("ann", "shop", name="Ann")
        site.hire("ben", "shop", name="Ben")
        site.coordinator()
        failed = shop.order("ben", "Fail the check", "touch bad")
        opened = shop.order(
            "ann", "Round every price that the invoice shows, also those of the parts", "echo new > new.txt"
        )
        site.until_status(opened, "completed")
        site.until_status(failed, "failed")
        site.until_idle()
        shop.done(opened, "merge")
        reviewed = shop.order("ann", "Wait for the review", "echo more > more.txt")
        site.until_status(reviewed, "completed")
        site.until_idle()
        yield Place(site, failed, reviewed, opened)


def all_open(page: Page) -> None:
    """Every part of the page that can be opened is open, and every picture is there."""
    browsers.settled(page)
    page.evaluate(
        """() => {
            for (const each of document.querySelectorAll("main details")) each.open = true;
            for (const each of document.images) each.loading = "eager";
        }"""
    )
    page.wait_for_function("() => [...document.images].every((each) => each.complete)")


def cut_off(page: Page) -> list[str]:
    """Buttons and links of the page whose words have no room, and what reaches out of the window."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main button, main a, [role=dialog] button, main pre, main img")]
            .filter((each) => each.offsetParent !== null && !each.closest("nav, .overflow-x-auto, [role=tablist]"))
            .filter((each) => {
                const box = each.getBoundingClientRect();
                const words = each.matches("button") && each.scrollWidth > each.clientWidth + 1;
                return words || box.left < -1 || box.right > innerWidth + 1;
            })
            .map((each) => each.outerHTML.slice(0, 200))"""
    )
    return found


def too_small(page: Page) -> list[str]:
    """Links to files, pull requests and what can be opened that a finger would miss."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main a[download], main a[target=_blank], main li summary")]
            .filter((each) => each.offsetParent !== null && each.getBoundingClientRect().height < 36)
            .map((each) => each.outerHTML.slice(0, 200))"""
    )
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("language", "theme"), LOOKS)
def test_nothing_is_cut_off_or_too_small(
    place: Place, chrome: Browser, size: dict[str, int], language: str, theme: str, tmp_path: Path
) -> None:
    pages = {
        "failed": f"/t/{place.failed}",
        "task": f"/t/{place.opened}",
        "reviews": "/p/shop/review",
        "review": f"/p/shop/review/{place.reviewed}",
        "pull-request": f"/p/shop/review/{place.opened}",
    }
    with browsers.window(chrome, place.site, size=size, touch=size is PHONE, language=language, theme=theme) as window:
        for name, path in pages.items():
            page = window.page(path)
            all_open(page)
            browsers.screenshot(page, tmp_path / f"{name}.png")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= size["width"], name
            assert cut_off(page) == [], name
            if size is PHONE:
                assert too_small(page) == [], name
            page.close()


def test_the_pictures_of_a_check_have_one_size_and_come_before_the_downloads(place: Place, chrome: Browser) -> None:
    with browsers.window(chrome, place.site) as window:
        page = window.page(f"/t/{place.opened}")
        all_open(page)
        pictures = page.get_by_role("main").locator("li img")
        boxes = [each.bounding_box() for each in pictures.all()]
        assert len(boxes) == 5
        assert len({(round(box["width"]), round(box["height"])) for box in boxes if box is not None}) == 1
        downloads = page.get_by_role("main").locator("a[download]")
        expect(downloads).to_have_count(5)
        drawn = "[...document.querySelectorAll('main li img')].every((each) => each.naturalWidth > 0)"
        page.wait_for_function(drawn)
        with page.expect_download() as saved:
            downloads.first.click()
        named = Path(downloads.first.inner_text().strip()).name
        assert (saved.value.suggested_filename, saved.value.path().stat().st_size > 0) == (named, True)
        last, first = boxes[-1], downloads.first.bounding_box()
        assert last is not None and first is not None
        assert last["y"] + last["height"] <= first["y"]


@pytest.mark.parametrize(
    ("language", "size", "name", "delete"),
    [
        pytest.param("en", WIDE, "shots/report.html", "Delete {}", id="wide"),
        pytest.param("ja", PHONE, "shots/dot.png", "{} を削除", id="phone-ja"),
    ],
)
def test_an_owner_deletes_a_file_and_the_check_says_who_did(
    place: Place, chrome: Browser, language: str, size: dict[str, int], name: str, delete: str
) -> None:
    with browsers.window(chrome, place.site, size=size, touch=size is PHONE, language=language) as window:
        page = window.page(f"/t/{place.failed}")
        all_open(page)
        file = page.get_by_role("link", name=name)
        button = page.get_by_role("button", name=delete.format(name))
        box = button.bounding_box()
        assert box is not None and box["width"] >= (36 if size is PHONE else 24)
        button.click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
        button.press("Enter")
        dialog.locator("button[type=submit]").click()
        expect(dialog).to_have_count(0)
        expect(file).to_have_count(0)
        all_open(page)
        expect(page.get_by_role("main").get_by_text(f"{name} was deleted by Owner.")).to_be_visible()
        expect(page.get_by_role("main")).not_to_contain_text(delete.format(name))
    left = [
        file["name"] for each in place.site.look(place.failed)["check_results"] for file in each.get("artifacts", [])
    ]
    assert name not in left
    assert "shots/log.txt" in left


def test_an_open_pull_request_is_updated_and_not_opened_again(place: Place, chrome: Browser) -> None:
    with browsers.window(chrome, place.site) as window:
        page = window.page(f"/p/shop/review/{place.opened}")
        page.get_by_role("button", name="Update pull request").click()
        expect(page.get_by_role("dialog", name="Update pull request")).to_be_visible()
        page.goto(f"{window.url}/p/shop/review/{place.reviewed}")
        expect(page.get_by_role("button", name="Approve and open pull request")).to_be_visible()
