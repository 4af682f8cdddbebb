"""Texts of agents in a browser, under the dashboard's real content security policy: read and coloured in workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import browsers
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, browsers.PATIENT]

PLAN = """# The plan

Look at [the manual](https://example.org/manual), **then**:

1. read it
2. write it

- [x] done
- [ ] to do

| Name | Price |
|---|--:|
| Nails | 3.20 |

> Said before.

```python
def total(prices):
    return sum(prices)  # rounded later
```

<script>document.title = "taken"</script>
![a pixel](https://example.org/pixel.png)
[a trap](javascript:document.title='taken')
"""
SLOW = "a " + "*_" * 29_000
"""Stars that take a parser minutes."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("texts")) as site:
        site.project("house")
        site.hire("ann", "house")
        yield site


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_description_is_drawn_with_its_code_in_colours_and_nothing_in_it_runs(
    texts: Site, chrome: Browser, theme: str
) -> None:
    task = texts.file("house", "Plan", description=PLAN, assignee_id="ann")
    with browsers.window(chrome, texts, theme=theme) as window:
        asked: list[str] = []
        window.context.on("request", lambda request: asked.append(request.url))
        page = window.page(f"/t/{task}")
        expect(page.get_by_role("heading", name="The plan")).to_be_visible()
        expect(page.get_by_role("cell", name="3.20")).to_be_visible()
        expect(page.get_by_role("checkbox", disabled=True).first).to_be_checked()
        plain = page.get_by_text("return", exact=True).locator("xpath=..").evaluate("e => getComputedStyle(e).color")
        expect(page.get_by_text("return", exact=True)).not_to_have_css("color", plain)
        expect(page.get_by_text("document.title")).to_be_visible()
        expect(page.get_by_role("link", name="a pixel")).to_have_attribute("rel", "noreferrer noopener nofollow")
        expect(page.get_by_role("link", name="a trap")).to_have_count(0)
        assert "taken" not in page.title()
        assert [url for url in asked if "example.org" in url] == []


def test_a_page_goes_on_while_a_text_is_read_that_was_made_to_take_long(texts: Site, chrome: Browser) -> None:
    task = texts.file("house", "Slow", description=SLOW[:20_000], assignee_id="ann")
    with browsers.window(chrome, texts) as window:
        page = window.page(f"/t/{task}")
        expect(page.get_by_text("*_*_*_*_").first).to_be_visible()
        page.get_by_role("tab", name="Log").click()
        expect(page.get_by_role("tab", name="Log", selected=True)).to_be_visible()


def test_the_first_page_loads_nothing_that_only_texts_need(texts: Site, chrome: Browser) -> None:
    with browsers.window(chrome, texts) as window:
        asked: list[str] = []
        window.context.on("request", lambda request: asked.append(request.url))
        page = window.page("/p/house/board")
        browsers.settled(page)
        assert [url for url in asked if "/markdown" in url or "/worker" in url] == []
