"""How much there is to translate, and to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polib
import pytest

from tests.browser import browsers
from tests.budgets.ceilings import hold

ROOT = Path(__file__).parents[2]
ROWS = {
    "catalogue": ["sentences of the server in Japanese"],
    "dashboard": ["lines of words of the dashboard, both languages"],
    "wheel": ["bytes of the wheel"],
}


@pytest.mark.parametrize("name", ["catalogue"])
def test_a_catalogue_has_no_more_sentences_than_it_may(name: str) -> None:
    hold(ROWS[name], len(polib.pofile(str(ROOT / "src/toryo/locale/ja/LC_MESSAGES/toryo.po"))))


@pytest.mark.parametrize("name", ["dashboard"])
def test_the_dashboard_has_no_more_lines_of_words_than_it_may(name: str) -> None:
    files = [*(ROOT / "web/src").rglob("words.ts"), *(ROOT / "web/src/i18n" / each for each in ("en.ts", "ja.ts"))]
    hold(ROWS[name], sum(len(each.read_text().splitlines()) for each in files))


@pytest.mark.parametrize("name", ["wheel"])
def test_a_wheel_is_no_larger_than_it_may_be(name: str, tmp_path: Path) -> None:
    browsers.built()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    [wheel] = tmp_path.glob("*.whl")
    hold(ROWS[name], wheel.stat().st_size)
