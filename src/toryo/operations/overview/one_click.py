"""The deeds of a need that a notification offers as buttons: those that take one request and no words.

A notice is stored as people are shown it: the verb of each deed names its operation, the catalogue its route.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from typing_extensions import TypedDict

from toryo.deeds import VERBS
from toryo.operations.calls.catalogue import catalogue

MOST_BUTTONS = 2
"""That browsers show in a notification."""
LONGEST_LABEL = 60


class Request(TypedDict):
    """`version`: the version that is meant (`If-Match`); any other is a conflict."""

    name: str
    method: str
    path: str
    body: dict[str, Any]
    version: int | None
    label: str
    """What the button says."""


def requests(need: Mapping[str, Any], *, whole: bool) -> list[Request]:
    """Those of a need as people are shown it, in its order. `whole`: all that would be approved is shown."""
    found = []
    for action in need.get("actions") or ():
        name, verb = action["name"], VERBS.get(action["name"])
        if verb is None or not verb.one_click or (name == "approve" and not whole):
            continue
        route = catalogue()[verb.operation].route
        assert route is not None
        known = {**need, **action.get("arguments", {})}  # a notice of an earlier version has none
        ids = {part: known.get(part) for part in re.findall(r"{(\w+)}", route.path)}
        if None in ids.values():
            continue
        path = route.path.format(**{part: quote(str(value), safe="") for part, value in ids.items()})
        version = (need.get("request") or {}).get("version") if name == "approve" else None
        found.append(
            Request(
                name=name,
                method=route.method,
                path=f"/api/v1{path}",
                body=dict(verb.given),
                version=version,
                label=action.get("label") or verb.label,
            )
        )
    return [*found, *_answers(need, whole=whole)]


def _answers(need: Mapping[str, Any], *, whole: bool) -> list[Request]:
    """One for each option, where choosing it is the whole answer. A review is decided where the work can be seen."""
    questions: list[Mapping[str, Any]] = need.get("questions") or []
    if len(questions) != 1 or not whole:
        return []
    (question,) = questions
    options = question["options"]
    fits = len(options) <= MOST_BUTTONS and all(len(option) <= LONGEST_LABEL for option in options)
    if question["multiple"] or question["review"] or not fits:
        return []
    route = catalogue()["answer_question"].route
    assert route is not None
    path = route.path.format(question_id=quote(str(question["question_id"]), safe=""))
    return [
        Request(
            name=f"answer_{place}",
            method=route.method,
            path=f"/api/v1{path}",
            body={"choices": [option]},
            version=None,
            label=option,
        )
        for place, option in enumerate(options, 1)
    ]
