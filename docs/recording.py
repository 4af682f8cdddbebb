"""A recording of the dashboard while the demo runs, as an animated picture: docs/pictures/dashboard.webp.

    python docs/recording.py [--into docs/pictures] [--language ja]

A server and a Coordinator are started for it and ended. A person presses *Start demo*, looks at the views, approves,
answers, reviews and merges. Playwright's own recording needs a program that is not a part of Chromium; so pictures are
taken one after the other, and of each only the part that has changed is kept, drawn by Chromium itself.
"""

from __future__ import annotations

import argparse
import base64
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, Route  # noqa: E402 - after the path to the tests' helpers

from tests.browser import browsers  # noqa: E402
from tests.scenarios.sites import Site  # noqa: E402
from toryo.demo_team import JOBS  # noqa: E402

SIZE = {"width": 1200, "height": 750}
BETWEEN_MS = 500
QUALITY = 0.55
HOLD_MS = 4000
"""How long the end is shown before the recording begins again."""
LONGEST_MS = 60_000
"""A recording that took longer is played faster."""
LARGEST = 1_500_000
"""Bytes of a file that may be committed."""
PROJECT = "teahouse"


@dataclass(frozen=True)
class Frame:
    """A part of the picture that changes: where it is, and as a WebP file of its own. Even places only."""

    x: int
    y: int
    width: int
    height: int
    webp: bytes
    milliseconds: int


@dataclass
class Recorder:
    """Takes pictures of a page, each with the time until the next one; equal ones are one."""

    page: Page
    pictures: list[tuple[float, bytes]] = field(default_factory=list)

    def look(self) -> None:
        taken = self.page.screenshot(animations="disabled")
        if not self.pictures or self.pictures[-1][1] != taken:
            self.pictures.append((time.monotonic(), taken))

    def hold(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.look()
        while time.monotonic() < until:
            self.page.wait_for_timeout(BETWEEN_MS)
            self.look()

    def until(self, shown: Any) -> None:
        """Holds until something is there."""
        while not shown.is_visible():
            self.hold(BETWEEN_MS / 1000)

    def frames(self, drawing: Page) -> Iterator[Frame]:
        before: bytes | None = None
        ends = [*(at for at, _ in self.pictures[1:]), self.pictures[-1][0] + HOLD_MS / 1000]
        for (begin, taken), end in zip(self.pictures, ends, strict=True):
            given = [None if each is None else base64.b64encode(each).decode() for each in (before, taken)]
            part = drawing.evaluate(_CHANGED, [*given, QUALITY])
            before = taken
            box = {name: part[name] for name in ("x", "y", "width", "height")}
            yield Frame(**box, webp=base64.b64decode(part["data"]), milliseconds=round((end - begin) * 1000))


_CHANGED = """async ([before, after, quality]) => {
    const bitmap = async (text) => {
        const answer = await fetch(`data:image/png;base64,${text}`);
        return createImageBitmap(await answer.blob());
    };
    const pixels = (image) => {
        const canvas = new OffscreenCanvas(image.width, image.height);
        const drawn = canvas.getContext("2d");
        drawn.drawImage(image, 0, 0);
        return new Uint32Array(drawn.getImageData(0, 0, image.width, image.height).data.buffer);
    };
    const image = await bitmap(after);
    let [left, top, right, bottom] = [0, 0, image.width, image.height];
    if (before !== null) {
        const [one, other] = [pixels(await bitmap(before)), pixels(image)];
        [left, top, right, bottom] = [image.width, image.height, 0, 0];
        for (let at = 0; at < other.length; at++) {
            if (one[at] === other[at]) continue;
            const [x, y] = [at % image.width, Math.floor(at / image.width)];
            left = Math.min(left, x);
            right = Math.max(right, x + 1);
            top = Math.min(top, y);
            bottom = Math.max(bottom, y + 1);
        }
    }
    [left, top] = [left - (left % 2), top - (top % 2)];
    const [width, height] = [Math.max(1, right - left), Math.max(1, bottom - top)];
    const part = new OffscreenCanvas(width, height);
    part.getContext("2d", { alpha: false }).drawImage(image, -left, -top);
    const blob = await part.convertToBlob({ type: "image/webp", quality });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return { x: left, y: top, width, height, data: btoa(text) };
}"""


# --- an animated WebP ------------------------------------------------------------------------------------------------


def animated(frames: Sequence[Frame]) -> bytes:
    """One file of all frames, which begins again at its end. The first covers the whole picture."""
    wide, high = frames[0].width, frames[0].height
    header = struct.pack("<B3x", 2) + _three(wide - 1) + _three(high - 1)  # 2: an animation
    parts = [_chunk(b"VP8X", header), _chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))]
    for frame in frames:
        numbers = (frame.x // 2, frame.y // 2, frame.width - 1, frame.height - 1, frame.milliseconds)
        place = b"".join(map(_three, numbers)) + b"\x02"  # 2: it covers what was there
        parts.append(_chunk(b"ANMF", place + _picture(frame.webp)))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _three(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _picture(webp: bytes) -> bytes:
    """What a frame needs of a still picture: its pixels. Raises ValueError for what is none."""
    at, found = 12, b""
    while webp[:4] == b"RIFF" and at < len(webp):
        name, size = webp[at : at + 4], struct.unpack_from("<I", webp, at + 4)[0]
        if name in (b"ALPH", b"VP8 ", b"VP8L"):
            found += _chunk(name, webp[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    if not found:
        raise ValueError("this is not a WebP picture")
    return found


# --- what is recorded ------------------------------------------------------------------------------------------------


WORDS = {
    "en": {"start": "Start demo", "approve": "Approve", "review": "Approve and merge", "merge": "Merge"},
    "ja": {"start": "デモを開始", "approve": "承認", "review": "承認してマージ", "merge": "マージ"},
}
"""What the buttons are called."""


def tour(film: Recorder, url: str, site: Site, words: Mapping[str, str]) -> None:
    page, of = film.page, f"{url}/p/{PROJECT}"
    main = page.get_by_role("main")

    def show(path: str, seconds: float) -> None:
        page.goto(f"{of}{path}")
        browsers.settled(page)
        film.hold(seconds)

    page.goto(url)
    browsers.settled(page)
    film.hold(2)
    page.get_by_role("button", name=words["start"]).click()
    film.until(main.get_by_text("Order new tea cups").first)
    film.hold(4)
    main.get_by_role("button", name=words["approve"], exact=True).first.click()
    film.hold(2)
    site.move(site.tasks(PROJECT)["Order new tea cups"]["task_id"], "in_progress")
    show("/board", 7)
    show("/graph", 5)
    show(f"/logs?launch={_launch_of(site, 'Write the menu')}", 7)
    show("/chat?agent=theo", 1)
    film.until(main.get_by_text("green or blue").last)
    main.get_by_role("textbox").last.fill("Green, please.")
    film.hold(1)
    page.keyboard.press("Enter")
    film.hold(4)
    show("/timeline", 6)
    show("/usage", 3)
    site_task = site.tasks(PROJECT)[JOBS[PROJECT].title]["task_id"]
    site.until_status(site_task, "completed")
    show("", 4)
    show(f"/review/{site_task}", 6)
    page.get_by_role("button", name=words["review"]).click()
    film.hold(2)
    page.get_by_role("dialog").get_by_role("button", name=words["merge"], exact=True).click()
    film.hold(3)


def _launch_of(site: Site, title: str) -> str:
    task = site.until(f"{title} is there", lambda: site.tasks(PROJECT).get(title))["task_id"]
    launches = site.until(f"{title} is worked on", lambda: site.launches(task_id=task))
    return str(launches[0]["launch_id"])


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--into", type=Path, default=ROOT / "docs" / "pictures")
    asked.add_argument("--language", choices=sorted(WORDS), default="en")
    given = asked.parse_args()
    with browsers.browser() as chrome:
        frames = recorded(chrome, given.language)
    file = given.into / ("dashboard.webp" if given.language == "en" else f"dashboard-{given.language}.webp")
    file.parent.mkdir(parents=True, exist_ok=True)
    size = file.write_bytes(animated(frames))
    seconds = sum(frame.milliseconds for frame in frames) / 1000
    sys.stdout.write(f"{file}: {size / 1000:.0f} kB, {seconds:.0f} s, {len(frames)} pictures\n")
    if size > LARGEST:
        sys.stdout.write(f"It is larger than {LARGEST / 1_000_000} MB: do not commit it.\n")


def recorded(chrome: Browser, language: str) -> list[Frame]:
    with tempfile.TemporaryDirectory(prefix="toryo-recording-") as place, Site(Path(place)) as site:
        site.coordinator()
        with browsers.window(chrome, site, language=language, size=SIZE) as window:
            film = Recorder(window.context.new_page())
            film.page.route("**/api/v1/demo", _without_this_machine)
            tour(film, window.url, site, WORDS[language])
        drawing = chrome.new_page()
        try:
            return in_time(list(film.frames(drawing)))
        finally:
            drawing.close()


def _without_this_machine(route: Route) -> None:
    """A picture shows no directory of the machine that has drawn it."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "directory": "…/data/demo"})


def in_time(frames: Sequence[Frame]) -> list[Frame]:
    faster = min(1.0, LONGEST_MS / sum(frame.milliseconds for frame in frames))
    return [replace(frame, milliseconds=round(frame.milliseconds * faster)) for frame in frames]


if __name__ == "__main__":
    main()
