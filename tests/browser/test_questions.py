"""What agents ask is answered in the dashboard: by one click or key, or as one form; also on a phone, in Japanese."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import browsers
from tests.browser.browsers import PATIENT
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, PATIENT]
PROJECT = "yard"


@pytest.fixture(scope="module")
def yard(site: Site) -> Site:
    site.project(PROJECT, commands_from="managers")
    site.hire("painter", PROJECT, name="Paula", max_parallel_tasks=9)
    site.coordinator()
    return site


@pytest.fixture
def page(chrome: Browser, yard: Site) -> Iterator[Page]:
    with browsers.window(chrome, yard) as window:
        yield window.page(f"/p/{PROJECT}")


def asked(yard: Site, title: str, *questions: dict[str, Any]) -> str:
    """A task about which its agent has asked these; it has left."""
    command = 'echo "$TORYO_ANSWERS"'
    context = {"ask": list(questions), "command": command}
    task = yard.file(PROJECT, title, assignee_id="painter", status="in_progress", context=context)
    yard.until("it has asked", lambda: len(yard.history.of("question.asked", task_id=task)) == len(questions) or None)
    yard.until_idle()
    return task


def test_one_click_answers_and_so_does_a_key(yard: Site, page: Page) -> None:
    walls = asked(yard, "Walls", {"question": "Which color for the walls?", "options": ["Blue", "Red"]})
    row = page.get_by_role("listitem").filter(has_text="Which color for the walls?").first
    row.click(position={"x": 5, "y": 5})
    row.get_by_role("button", name="Red").click()
    yard.until_status(walls, "completed")
    assert '"answer": "Red"' in yard.look(walls)["summary"]
    expect(page.get_by_text("Which color for the walls?")).to_have_count(0)

    doors = asked(yard, "Doors", {"question": "Which color for the doors?", "options": ["Oak", "White"]})
    expect(page.get_by_role("group", name="Which color for the doors?")).to_be_visible()
    page.keyboard.press("2")
    yard.until_status(doors, "completed")
    assert '"answer": "White"' in yard.look(doors)["summary"]


def test_all_questions_of_a_task_are_one_form_whose_draft_is_kept(yard: Site, page: Page) -> None:
    roof = asked(
        yard,
        "Roof",
        {"question": "Which tiles?", "options": ["Clay", "Slate"], "free_text": False},
        {"question": "Which extras?", "options": ["Window", "Chimney", "Solar"], "multiple": True},
        {"question": "By when?"},
    )
    page.goto(page.url.replace(f"/p/{PROJECT}", f"/t/{roof}"))
    form = page.get_by_role("region", name="Questions")
    form.get_by_role("radio", name="Slate").check()
    form.get_by_role("checkbox", name="Window").check()
    form.get_by_role("checkbox", name="Solar").check()
    send = form.get_by_role("button", name="Send answers")
    expect(send).to_be_disabled()
    page.reload()
    expect(form.get_by_role("radio", name="Slate")).to_be_checked()
    expect(form.get_by_role("checkbox", name="Solar")).to_be_checked()
    form.get_by_role("group", name="By when?").get_by_role("textbox").fill("Before winter")
    send.click()
    yard.until_status(roof, "completed")
    said = yard.look(roof)["summary"]
    assert "Slate" in said and "Window; Solar" in said and "Before winter" in said


def test_a_question_is_withdrawn_after_a_confirmation(yard: Site, page: Page) -> None:
    attic = asked(yard, "Attic", {"question": "Which lamp?", "options": ["Large", "Small"]})
    page.goto(page.url.replace(f"/p/{PROJECT}", f"/t/{attic}"))
    page.get_by_role("region", name="Questions").get_by_role("button", name="Withdraw").click()
    page.get_by_role("alertdialog").or_(page.get_by_role("dialog")).get_by_role("button", name="Withdraw").click()
    yard.until_status(attic, "completed")


def test_on_a_phone_the_form_fits_and_a_viewer_reads_it(yard: Site, chrome: Browser) -> None:
    long = "A very long option that has to be wrapped, because a phone is narrow: " + "paint" * 12
    fence = asked(yard, "Fence", {"question": "Which fence, " + "really " * 20 + "?", "options": [long, "None"]})
    with browsers.window(chrome, yard, login="viewer", size=browsers.PHONE) as other:
        there = other.page(f"/t/{fence}")
        form = there.get_by_role("region", name="Questions")
        expect(form.get_by_text("You can read this question")).to_be_visible()
        expect(form.get_by_role("button")).to_have_count(0)
    with browsers.window(chrome, yard, size=browsers.PHONE, language="ja") as phone:
        there = phone.page(f"/t/{fence}")
        wrapped = there.get_by_role("region", name="質問").get_by_role("button", name="A very long option")
        expect(wrapped).to_be_visible()
        assert wrapped.evaluate("each => each.scrollWidth <= each.clientWidth")
        option = there.get_by_role("region", name="質問").get_by_role("button", name="None")
        expect(option).to_be_visible()
        assert there.evaluate("document.documentElement.scrollWidth") <= 390
        box = option.bounding_box()
        assert box is not None and box["height"] >= 40
        option.click()
        yard.until_status(fence, "completed")


def test_a_question_is_answered_in_the_chat_with_its_agent_and_nobody_elses_is_shown_there(
    yard: Site, chrome: Browser
) -> None:
    yard.hire("planter", PROJECT, name="Pia")
    other = {"ask": [{"question": "Which tree?", "options": ["Oak", "Elm"]}], "command": 'echo "$TORYO_ANSWERS"'}
    tree = yard.file(PROJECT, "Tree", assignee_id="planter", status="in_progress", context=other)
    yard.until("it has asked", lambda: yard.history.of("question.asked", task_id=tree) or None)
    roof = asked(yard, "Roof", {"question": "Which color for the roof?", "options": ["Black", "Brown"]})
    with browsers.window(chrome, yard) as window:
        page = window.page(f"/p/{PROJECT}/chat?agent=painter")
        form = page.get_by_role("region", name="Questions of this agent")
        expect(form.get_by_role("group", name="Which color for the roof?")).to_be_visible()
        expect(form.get_by_role("group")).to_have_count(1)
        form.get_by_role("button", name="Brown").click()
        yard.until_status(roof, "completed")
        expect(form).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_review_is_decided_on_a_phone_and_changes_are_requested_only_with_words(
    yard: Site, chrome: Browser, language: str
) -> None:
    approve, changes, field = {
        "en": ("Approve", "Request changes", "What has to change"),
        "ja": ("Approve", "Request changes", "変更が必要な点"),
    }[language]
    task = yard.file(
        PROJECT,
        f"Fence {language}",
        assignee_id="painter",
        status="in_progress",
        context={"command": "true"},
        acceptance=[{"review": {"rubric": "Is the fence straight?"}}],
    )
    yard.until("a review is asked for", lambda: yard.history.of("review.requested", task_id=task) or None)
    yard.until_idle()
    with browsers.window(chrome, yard, language=language, size=browsers.PHONE, touch=True) as window:
        page = window.page(f"/t/{task}")
        expect(page.get_by_text("Is the fence straight?").first).to_be_visible()
        expect(page.get_by_role("button", name=changes)).to_be_disabled()
        page.get_by_label(field).fill("Set the third post upright.")
        page.get_by_role("button", name=changes).click()
        yard.until("it is reviewed again", lambda: len(yard.history.of("review.requested", task_id=task)) == 2 or None)
        yard.until_idle()
        page.get_by_role("button", name=approve).click()
        yard.until_status(task, "completed")
