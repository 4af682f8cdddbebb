"""What a person does on the dashboard, said once: in words that a screen reader would hear, never by classes."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

COLUMNS = ("Backlog", "To do", "In progress", "Blocked", "Completed", "Failed", "Cancelled")


def column(page: Page, status: str) -> Locator:
    return page.get_by_role("main").get_by_role("group", name=status, exact=True)


def card(page: Page, title: str, status: str | None = None) -> Locator:
    """The card of a task, in a column if one is named."""
    place = page.get_by_role("main") if status is None else column(page, status)
    return place.get_by_role("button").filter(has_text=re.compile(f"^{re.escape(title)}"))


def drawn(page: Page, title: str, status: str) -> Locator:
    """A card that stays where it is: the first ones are drawn again once what draws those that are seen is loaded."""
    found = card(page, title, status)
    expect(found).to_have_css("position", "absolute")
    return found


def pick_up(page: Page, title: str, of: str) -> None:
    """Picks up the card that has the focus; the arrow keys are heard afterwards."""
    page.keyboard.press("Space")
    told = page.get_by_role("status").filter(has_text=title)
    expect(
        told.filter(has_text=f"{title} is over {of}").or_(told.filter(has_text=f"Picked up {title}"))
    ).to_be_visible()
    page.evaluate("() => new Promise((after) => setTimeout(after))")  # dnd-kit listens from a timer of its own


def carry(page: Page, title: str, *, of: str, to: str) -> None:
    """Carries a card from column to column by keyboard: the person's move on the board."""
    card(page, title, of).focus()
    pick_up(page, title, of)
    start, end = COLUMNS.index(of), COLUMNS.index(to)
    step = 1 if end > start else -1
    for place in range(start + step, end + step, step):
        page.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
        expect(carried_over(page, title, COLUMNS[place])).to_be_attached()
    page.keyboard.press("Space")


def carried_over(page: Page, title: str, column: str) -> Locator:
    """What the board announces once the carried card is over a column."""
    return page.get_by_role("status").filter(has_text=f"{title} is over {column}")


def toast(page: Page, words: str | re.Pattern[str]) -> Locator:
    """What was refused, in the server's words."""
    return page.get_by_role("alert").filter(has_text=words)


def live(page: Page, words: str = "Live") -> Locator:
    return page.get_by_role("banner").get_by_role("status").filter(has_text=words)


VERBS = (
    "Activate|Actions for|Add|Apply|Approve|Archive|Assign|Block|Cancel|Comment on|Complete|Confirm|Create|Deactivate|"
    "Delete|Discard|Edit|End|Fail|Increase|Mark as|Merge|Message|Move|New|Pause|Reassign|Reject|Remove|"
    "Renew|Reply|Request|Requeue|Resend|Resume|Retry|Revoke|Save|Send|Set|Start|Unblock"
)
"""How the names of controls begin that change something."""
_CONTROLS = """(verbs) => {
    const wanted = new RegExp(`^(${verbs})(\\W|$)`);
    const all = document.querySelectorAll(
        "main :is(button, [role=button], input, textarea, select), " +
        "[role=dialog] :is(button, input, textarea, select), [role=menuitem], .react-flow__handle.connectable"
    );
    const named = (each) => (each.ariaLabel ?? each.labels?.[0]?.innerText ?? each.innerText ?? "").trim();
    const field = (each) => /^(INPUT|TEXTAREA|SELECT)$/.test(each.tagName) && each.closest("[role=dialog]") !== null;
    return [...all]
        .filter((each) => each.checkVisibility() && !each.disabled && !each.closest("fieldset:disabled"))
        .filter((each) => !each.matches("[data-card], [data-file]"))
        .filter((each) => named(each) !== "Save view") // everybody may save views of their own
        .filter((each) => wanted.test(named(each)) || field(each) || each.matches(".react-flow__handle"))
        .map((each) => named(each).split("\\n")[0] || each.className || each.tagName);
}"""


def deeds(page: Page) -> list[str]:
    """What the page offers to change something with: names of buttons, fields of dialogs, dots to draw links from."""
    return sorted(set(page.evaluate(_CONTROLS, VERBS)))
