"""Nothing that a person reads in the browser is a code: no id, no name of a state or a reason, no instant as a program
writes it, no command where there is a button. What is looked for comes from the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route
from playwright.sync_api import TimeoutError as TooLate

from tests.browser import browsers, filled
from tests.browser.filled import Filled
from tests.browser.texts import TEXTS
from tests.raw_words import RAW, raw
from tests.scenarios.sites import Site
from toryo.client import Client, RefusalError
from toryo.deeds import VERBS
from toryo.domain import needs

pytestmark = [pytest.mark.deep, browsers.PATIENT]

ELSEWHERE = {
    "[data-how-to]": "a command that needs a shell, to be copied",
    "[role=log]": "what a program has printed",
    "[data-branch]": "a branch of git has the name that git knows",
}
"""Where it may stand, and why."""
_TEXTS = """(elsewhere) => {
    const hidden = [...document.querySelectorAll(elsewhere)].map((each) => [each, each.style.display]);
    for (const [each] of hidden) each.style.display = "none";
    const shown = (each) => each.checkVisibility() && each.closest(elsewhere) === null;
    const told = [...document.querySelectorAll("[title], [aria-label], option")]
        .filter(shown)
        .flatMap((each) => [each.title, each.ariaLabel, each.tagName === "OPTION" ? each.innerText : ""]);
    const text = [document.title, document.body.innerText, ...told.filter(Boolean)].join("\\n");
    for (const [each, display] of hidden) each.style.display = display;
    return text;
}"""

VIEWS = ("board", "list", "review", "graph", "timeline", "team", "chat", "sessions", "logs", "audit", "usage", "state")
SETTINGS = ("projects", "agents", "machines", "retention", "keys", "people", "me")
OF_A_TASK = ("overview", "log", "messages", "diff", "decisions", "events", "usage")


@pytest.fixture(scope="module", params=["en", "ja"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A busy project, and needs of many kinds: tasks that wait, were refused, failed or block each other."""
    with Site(tmp_path_factory.mktemp("words")) as site:
        found = filled.fill(site, request.param)
        _trouble(site, request.param)
        _result(found)
        yield found


def _trouble(site: Site, language: str) -> None:
    site.project("yard", language=language, stall_seconds=1)
    site.hire("mute", "yard", provider="claude")
    site.file("yard", "Sweep", assignee_id="mute", status="in_progress")
    first = site.file("yard", "Dig")
    site.file("yard", "Pour", dependencies=[first])
    site.move(first, "cancelled", "No hole.")
    site.file("yard", "Wait", agent_type="nowhere")
    site.people.rest("POST", "/projects/yard/members/owner")
    site.file("yard", "Sign", assignee_id="owner", status="in_progress")
    site.project("broke", language=language, budget_per_day=0)
    site.hire("spender", "broke")
    site.file("broke", "Spend", assignee_id="spender", status="in_progress")
    site.project("asleep", language=language)
    site.people.rest("POST", "/projects/asleep/pause")
    guesser = Client(site.url, None, patience_seconds=20)
    for _ in range(6):
        with suppress(RefusalError):
            guesser.call("authenticate", agent_id="kai", passkey="wrong", project_id=filled.PROJECT)


def _result(found: Filled) -> None:
    """A task of a queue that ended with JSON."""
    site = found.site
    key = site.people.rest("POST", f"/projects/{filled.PROJECT}/keys", {"name": "words"})["token"]
    agent = Client(site.url, key, patience_seconds=20)
    found.tasks["counted"] = site.file(filled.PROJECT, "Count", agent_type="counter")
    agent.call("register_agent", agent_id="counter-1", agent_type="counter")
    agent.call("poll_tasks", agent_id="counter-1")
    agent.call(
        "submit_result",
        task_id=found.tasks["counted"],
        agent_id="counter-1",
        status="completed",
        result={"items": 3, "checked": True},
    )


def _talk(shop: Filled) -> Iterator[str]:
    yield f"{OF}/review/{shop.tasks['prices']}"
    yield f"{OF}/timeline?trace={shop.tasks['release']}"
    yield from (f"{OF}/chat?agent={name}" for name in ("sora", "hana", "kai"))


OF = f"/p/{filled.PROJECT}"
AREAS: dict[str, Callable[[Filled], Iterable[str]]] = {
    "views": lambda _: ("/", OF, *(f"{OF}/{view}" for view in VIEWS)),
    "other projects": lambda _: (f"/p/{each}/{view}" for each in ("yard", "broke", "asleep") for view in ("", "team")),
    "settings": lambda _: (f"/settings?tab={tab}" for tab in SETTINGS),
    "a completed task": lambda shop: (f"/t/{shop.tasks['prices']}?tab={tab}" for tab in OF_A_TASK),
    "a blocked task": lambda shop: (f"/t/{shop.tasks['manual']}?tab={tab}" for tab in OF_A_TASK),
    "tasks": lambda shop: (f"/t/{shop.tasks[name]}" for name in ("release", "photos", "broken", "counted")),
    "talk": _talk,
}
"""Parts of the dashboard, each within the time of a test."""


@pytest.mark.parametrize("area", AREAS)
def test_no_view_shows_what_only_programs_read(shop: Filled, chrome: Browser, area: str) -> None:
    language = "ja" if shop.texts is TEXTS["ja"] else "en"
    found: list[str] = []
    with browsers.window(chrome, shop.site, language=language) as window:
        page = window.context.new_page()
        for path in AREAS[area](shop):
            page.goto(window.url + path)
            if "?trace=" in path:  # a dialog lies over the view
                page.locator("[role=dialog] li").first.wait_for()
            else:
                browsers.settled(page)
            found += [f"{path}: {each}" for each in raw(_text(page))]
            found += [f"{path} with “{name}”: {each}" for name, each in _opened(page)]
    assert found == []


def _opened(page: Page) -> Iterator[tuple[str, str]]:
    """What is found in what one opens on a page: each row of what needs a person, why an agent runs or not."""
    rows = page.get_by_role("main").locator("li[aria-current]")
    for place in range(min(rows.count(), 14)):
        rows.nth(place).dispatch_event("pointerdown")
        yield from (("row", each) for each in raw(_text(page)))
    whys = page.get_by_role("main").get_by_role("button", name=re.compile("^Why|理由"))
    for place in range(min(whys.count(), 4)):
        whys.nth(place).click()
        page.locator("[role=dialog] :is(article, section)").first.wait_for()
        yield from (("why", each) for each in raw(_text(page)))
        page.keyboard.press("Escape")


def _text(page: Page) -> str:
    """What is shown once what the page reads about it has come: a task that a text names, the words of a rule."""
    elsewhere = ",".join(ELSEWHERE)
    with suppress(TooLate):
        page.wait_for_function(
            f"([elsewhere, patterns]) => !patterns.some((each) => new RegExp(each).test(({_TEXTS})(elsewhere)))",
            arg=[elsewhere, list(RAW.values())],
            timeout=5_000,
        )
    return str(page.evaluate(_TEXTS, elsewhere))


def test_every_kind_of_need_and_every_action_has_words(shop: Filled, chrome: Browser) -> None:
    language = "ja" if shop.texts is TEXTS["ja"] else "en"
    task, agent = shop.tasks["manual"], "kai"

    def add(route: Route) -> None:
        answer = route.fetch()
        told: dict[str, Any] = answer.json()
        told["needs"] = [_need(kind, task, agent) for kind in needs.Kind]
        route.fulfill(response=answer, json=told)

    with browsers.window(chrome, shop.site, language=language) as window:
        page = window.context.new_page()
        page.route("**/api/v1/overview*", add)
        page.goto(window.url)
        browsers.settled(page)
        rows = page.get_by_role("main").locator("li[aria-current]")
        found = [each for _, each in _opened(page)]
        assert rows.count() >= 12
        for name in ("More actions", "その他の操作"):
            for place in range(page.get_by_role("button", name=name).count()):
                page.get_by_role("button", name=name).nth(place).click()
                found += raw(_text(page))
                page.keyboard.press("Escape")
    assert found == []


def _need(kind: needs.Kind, task: str, agent: str) -> dict[str, Any]:
    """One with all that such a text can hold, and with every action that there is."""
    actions = [
        {
            "name": verb.name,
            "label": verb.label,
            "operation": verb.operation,
            "arguments": {"task_id": task, **verb.given},
            "command": f"toryo {verb.name} {task}",
        }
        for verb in VERBS.values()
        if verb.name != "discard"
    ]
    return {
        "kind": kind.value,
        "key": f"{kind.value} {task}",
        "project_id": filled.PROJECT,
        "task_id": task,
        "agent_id": agent,
        "title": f"{kind.value.replace('_', ' ')}: manual",
        "text": f"Task {task} waits until 2031-01-01T00:00:00.000Z.",
        "since": "2026-01-01T00:00:00Z",
        "actions": actions,
        "request": None,
        "questions": [_question(task, agent)] if kind is needs.Kind.QUESTION else [],
        "blocks": 0,
    }


def _question(task: str, agent: str) -> dict[str, Any]:
    return {
        "question_id": "qst_1m8cm9npm4w041wjwzf",
        "project_id": filled.PROJECT,
        "task_id": task,
        "agent_id": agent,
        "question": "Which paper?",
        "options": ["Thin", "Thick"],
        "multiple": False,
        "free_text": True,
        "default": "Thin",
        "deadline": "2031-01-01T00:00:00Z",
        "overdue": False,
        "to": None,
        "state": "open",
        "asked_at": "2026-01-01T00:00:00Z",
        "choices": [],
        "text": None,
        "ended_by": None,
        "ended_at": None,
        "reason": None,
    }


def test_what_is_looked_for_is_found() -> None:
    shown = "Task tsk_0kx7b2m3n4p5q6r7s8 is in_progress since 2031-01-01T00:00:00Z: toryo task list"
    assert [each.partition(":")[0] for each in raw(shown)] == list(RAW)
    assert raw("The task is in progress: see the list of Toryo. A key_word, tsk_1.") == []
