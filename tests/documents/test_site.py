"""The documentation site: every page has its place in it, its links lead somewhere, and it loads nothing from outside.

What these tests read are declarations (mkdocs.yml, docs/site); the site itself is built by one test, where its packages
are installed.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

import toryo
from tests.databases import missing
from tests.documents import pages
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import catalogue

ROOT = pages.ROOT
FIGURES = sorted((ROOT / "docs" / "figures").glob("*.svg"))
LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")
"""What a browser would load from another machine. A link that somebody clicks is none."""


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without calling the Python functions that it names."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, suffix, _node: suffix)


@cache
def site() -> Any:
    return yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)


@cache
def stage() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "site" / "stage.py"))


def entries(below: Any) -> Iterator[tuple[str, str]]:
    """Every page of the navigation: its title and its place."""
    for entry in below:
        for title, inside in entry.items():
            if isinstance(inside, str):
                yield title, inside
            else:
                yield from entries(inside)


def titles(below: Any) -> Iterator[str]:
    for entry in below:
        for title, inside in entry.items():
            yield title
            if not isinstance(inside, str):
                yield from titles(inside)


def i18n() -> Any:
    (plugin,) = [each["i18n"] for each in site()["plugins"] if "i18n" in each]
    return plugin


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page() -> None:
    places = {place for place in stage()["sources"]().values() if not place.endswith(".ja.md")}
    named = [place for _, place in entries(site()["nav"])]
    assert sorted(named) == sorted(places)


def test_every_page_from_outside_of_docs_exists() -> None:
    assert [path for path in stage()["FROM_OUTSIDE"] if not (ROOT / path).is_file()] == []


def test_every_title_of_the_navigation_has_a_japanese_one_and_no_other_is_translated() -> None:
    (japanese,) = [each for each in i18n()["languages"] if each["locale"] == "ja"]
    assert set(japanese["nav_translations"]) == set(titles(site()["nav"]))


def test_the_theme_loads_nothing_from_outside() -> None:
    settings = site()
    assert settings["theme"]["font"] is False
    assert "polyfills" not in settings["extra"] and "analytics" not in settings["extra"]
    loaded = [*settings.get("extra_css", ()), *settings.get("extra_javascript", ())]
    assert [each for each in loaded if "//" in str(each)] == []
    assert "//" not in (ROOT / "docs" / "site" / "site.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", pages.pages(), ids=pages.name)
def test_no_page_needs_a_script_from_outside_to_be_drawn(page: Path) -> None:
    assert "mermaid" not in {block.language for block in pages.blocks(page.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda path: path.stem)
def test_a_figure_is_readable_in_light_and_dark_and_is_shown_on_a_page(figure: Path) -> None:
    text = figure.read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "prefers-color-scheme:dark" in text
    assert "<title>" in text
    assert not re.search(r'(fill|stroke)="#', text), "colors are variables"
    shown = [page for page in pages.written() if f"figures/{figure.name})" in page.read_text(encoding="utf-8")]
    assert shown


def test_links_are_turned_into_those_of_the_site(tmp_path: Path) -> None:
    laid_out = stage()["Stage"](tmp_path)
    link = laid_out._target
    assert link("../README.md", "docs/why.md", "why.md") == "index.md"
    assert link("../../examples/orchestrator/README.md#start", "docs/how-to/x.md", "how-to/x.md") == (
        "../examples/orchestrator.md#start"
    )
    assert link("how-to/dashboard.md", "docs/tutorial.ja.md", "tutorial.ja.md") == "how-to/dashboard.md"
    assert link("tutorial.ja.md", "docs/index.ja.md", "index.ja.md") == "tutorial.md"
    assert link("docs/why.md", "AGENTS.md", "contributing/code.md") == "../why.md"
    assert link("https://example.org/a.md", "docs/why.md", "why.md") == "https://example.org/a.md"
    assert link("../deploy/nginx.conf", "docs/why.md", "why.md") == "source/deploy/nginx_conf.txt"
    assert (tmp_path / "source/deploy/nginx_conf.txt").read_text(encoding="utf-8-sig").strip()


def test_a_list_below_a_paragraph_stays_a_list() -> None:
    roomy = stage()["_with_room_for_lists"]
    assert roomy("Two things:\n- one\n  and more\n- two\n") == "Two things:\n\n- one\n  and more\n- two\n"
    assert roomy("1. one\n2. two\n") == "1. one\n2. two\n"


def test_a_japanese_heading_can_be_reached_by_the_name_of_the_english_one(tmp_path: Path) -> None:
    shown = stage()["Stage"](tmp_path).page("docs/architecture.ja.md", "architecture.ja.md")
    assert '## <a id="one-call"></a>1 回の呼び出し' in shown


def test_lines_of_japanese_are_joined_without_a_space(tmp_path: Path) -> None:
    prose = stage()["Stage"](tmp_path)._prose
    text = "待ちません。\n次に動きます、\n  そして終わります。\n`toryo why` と\n`toryo up`。\n\n別の段落。\n- 項目。\n"
    shown = "待ちません。次に動きます、そして終わります。`toryo why` と\n`toryo up`。\n\n別の段落。\n\n- 項目。\n"
    assert prose(text, "docs/index.ja.md", "index.ja.md") == shown


def test_codes_and_tools_that_the_concepts_name_exist() -> None:
    concepts = [ROOT / "docs" / "architecture.md", *sorted((ROOT / "docs" / "concepts").glob("*.md"))]
    named = {name for page in concepts for name in re.findall(r"`([a-z]+(?:[A-Z][a-z]+)+)`", page.read_text("utf-8"))}
    assert named
    assert named <= {code.value for code in Code}
    called = {name for page in concepts for name in re.findall(r"`([a-z_]+)\(", page.read_text("utf-8"))}
    assert called <= set(catalogue())


def test_a_lost_link_fails_the_build() -> None:
    """MkDocs counts no warning that it does not print."""
    (command,) = re.findall(r"^\t.*MKDOCS\) build .*$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "--strict" in command
    assert "--quiet" not in command


def test_versions_are_listed_newest_first_and_the_start_page_leads_to_the_newest(tmp_path: Path) -> None:
    versions = runpy.run_path(str(ROOT / "docs" / "site" / "versions.py"))
    with pytest.raises(ValueError, match="holds no version"):
        versions["index"](tmp_path)
    for name in ("0.9.1", "0.10.0", "0.2.0", "assets"):
        (tmp_path / name).mkdir()
    versions["index"](tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [each["version"] for each in listed] == ["0.10.0", "0.9.1", "0.2.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()
    for name in ("0.11.0.dev9", "0.11.0.dev40", "0.10.0.dev30"):
        (tmp_path / name).mkdir()
    versions["index"](tmp_path)
    listed = [each["version"] for each in json.loads((tmp_path / "versions.json").read_text())]
    assert listed == ["0.11.0.dev40", "0.11.0.dev9", "0.10.0", "0.10.0.dev30", "0.9.1", "0.2.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text(), "the newest that was released"
    assert site()["extra"]["version"] == {"provider": "mike"}
    assert versions["current"]() == toryo.__version__


@pytest.mark.deep
def test_the_site_is_built_in_both_languages_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    """`make site`, without fetching its packages: strict, so a lost link fails."""
    mkdocs = ROOT / ".venv-docs" / "bin" / "mkdocs"
    if not mkdocs.exists():
        missing("The site's packages are not installed: make site")
    source, built = tmp_path / "source", tmp_path / "built"
    source.mkdir()
    text = re.sub(r"^watch: .*\n", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = text.replace("docs_dir: build/site-source", f"docs_dir: {source}")
    text = text.replace("site_dir: build/site", f"site_dir: {built}")
    text = text.replace("hooks: [docs/site/hooks.py]", f"hooks: [{ROOT / 'docs/site/hooks.py'}]")
    (tmp_path / "mkdocs.yml").write_text(text, encoding="utf-8")
    ran = subprocess.run(
        [mkdocs, "build", "--strict", "--config-file", tmp_path / "mkdocs.yml"],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    html = {path.relative_to(built).as_posix(): path.read_text(encoding="utf-8") for path in built.rglob("*.html")}
    assert {"index.html", "ja/index.html", "reference/api.html", "ja/concepts/launch.html"} <= set(html)
    assert '<html lang="ja"' in html["ja/index.html"]
    assert [name for name, text in html.items() if LOADED.search(text)] == []
    styles = [
        path for path in built.rglob("*.css") if re.search(r"url\([\"']?(?:https?:)?//|@import", path.read_text())
    ]
    assert styles == []
