"""The page about the dashboard names its views and its keys as they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.documents import pages
from toryo.domain.sessions import End
from toryo.failures import Ended, Failure

WEB = pages.ROOT / "web" / "src"
PAGE = (pages.ROOT / "docs" / "how-to" / "dashboard.md").read_text(encoding="utf-8")
SPELLED = {"↓": "ArrowDown", "↑": "ArrowUp", "←": "ArrowLeft", "→": "ArrowRight", "⌫": "Backspace"}
OF_THE_BROWSER = {"⌘K", "Ctrl K"}
"""Heard with a modifier, so not among the plain keys."""


def _rows(heading: str) -> dict[str, str]:
    """The first table below a heading, without its head."""
    _, _, below = PAGE.partition(f"\n## {heading}\n")
    table = below.partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \| (.+) \|$", table, re.MULTILINE)
    return dict(rows[1:])


def _words(file: Path, of: str) -> dict[str, str]:
    """One group of words in English: what is written of it first."""
    (words, *_) = re.findall(rf"\b{of}: \{{(.*?)\}}", file.read_text(encoding="utf-8"), re.DOTALL)
    return dict(re.findall(r'(\w+): "([^"]+)"', words))


def _names() -> dict[str, str]:
    """What each view is called, by its folder."""
    return {**_words(WEB / "i18n" / "en.ts", "nav"), "task": "Task"}


def _in_the_menu() -> list[str]:
    return re.findall(r'view\("(\w+)", \w+\)', (WEB / "app" / "views.ts").read_text(encoding="utf-8"))


def _heard(folder: Path) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*.ts*") if ".test." not in path.name)
    return {key for text in texts for key in re.findall(r'\{\s*key: "([^"]+)",\s*words: ', text)}


def _declared() -> dict[str, set[str]]:
    """Keys that stand in a list of their own: those that lead to views, and those of a task's acts."""
    views, acts = ((WEB / "app" / name).read_text(encoding="utf-8") for name in ("views.ts", "task-acts.ts"))
    _, _, listed = views.partition("const KEYS = {")
    to_views = {f"g {key}" for key in re.findall(r'\w+: "(.)"', listed.partition("}")[0])}
    assert len(to_views) == len(_in_the_menu())
    return {"Everywhere": to_views, "Task": set(re.findall(r'key: "(\w+)"', acts))}


def _named(row: str) -> set[str]:
    return {SPELLED.get(each, each) for each in re.findall(r"`([^`]+)`", row)} - OF_THE_BROWSER


def test_every_view_of_the_menu_is_explained_in_its_order_under_its_name() -> None:
    names = _names()
    assert list(_rows("The views of a project")) == [names[each] for each in _in_the_menu()]


def test_every_tab_of_the_settings_is_explained() -> None:
    assert list(_rows("Settings")) == list(_words(WEB / "views" / "settings" / "words.ts", "tabs").values())


@pytest.mark.parametrize("where", _rows("By keyboard"))
def test_the_keys_named_for_a_view_are_those_that_it_hears(where: str) -> None:
    folders = {"Everywhere": WEB / "app", **{name: WEB / "views" / view for view, name in _names().items()}}
    assert _named(_rows("By keyboard")[where]) == _heard(folders[where]) | _declared().get(where, set())


def test_every_view_that_hears_keys_is_named() -> None:
    names = _names()
    hearing = {names[path.name] for path in (WEB / "views").iterdir() if path.name in names and _heard(path)}
    assert set(_rows("By keyboard")) == {"Everywhere", *hearing}


# --- the audit view ---------------------------------------------------------------------------------------------------

AUDIT = WEB / "views" / "audit" / "words.ts"


def _written() -> set[str]:
    """The kinds of events that the code writes by name."""
    found = set()
    for file in (pages.ROOT / "src" / "toryo").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if ".event(" in text else ():
            match node:
                case ast.Call(func=ast.Attribute(attr="event"), args=[ast.Constant(value=str(kind)), *_]):
                    found.add(kind)
    return found


def test_the_audit_view_has_words_for_every_event_that_is_written() -> None:
    written = _written()
    assert len(written) > 60
    said = {name for name, _ in re.findall(r'^    (\w+): "([^"]+)"', AUDIT.read_text(encoding="utf-8"), re.MULTILINE)}
    assert {each.replace(".", "_") for each in written} - said == set()


LOGS = WEB / "views" / "logs" / "words.ts"


def test_there_are_words_for_every_reason_why_a_process_ended() -> None:
    assert {*Failure, *Ended} - _words(AUDIT, "said").keys() == set()
    assert {*Failure, *Ended} - _words(LOGS, "failure").keys() == set()


def test_the_audit_view_has_words_for_every_end_of_a_session() -> None:
    assert {end.value for end in End} - _words(AUDIT, "said").keys() == set()
