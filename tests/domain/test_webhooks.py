"""Webhooks: which requests count, and what their texts become in a task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import NOW
from toryo.domain import webhooks
from toryo.domain.fast_dataclasses import replace
from toryo.domain.webhooks import Missing, Webhook

HOOK = Webhook(
    id="whk",
    project_id="prj",
    name="Push",
    secret="secret",
    events=(),
    failures_allowed=3,
    task={},
    runs_as="hana",
    login="owner",
    created_at=NOW,
)


@pytest.mark.parametrize(
    ("events", "event", "wanted"),
    [
        ((), "push", True),
        ((), None, True),
        ((), "ping", False),
        (("push",), "push", True),
        (("push",), "pull", False),
        (("push",), None, False),
        (("ping",), "ping", True),
    ],
)
def test_a_webhook_wants_its_events_or_all_but_a_ping(
    events: tuple[str, ...], event: str | None, *, wanted: bool
) -> None:
    assert replace(HOOK, events=events).wants(event) is wanted


def test_a_request_is_signed_by_who_knows_the_secret_for_this_body_alone() -> None:
    signed = webhooks.signature("It's a Secret to Everybody", b"Hello, World!")
    assert signed == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"  # GitHub's own example
    assert webhooks.is_signed("It's a Secret to Everybody", b"Hello, World!", signed)
    for wrong in ((("other", b"Hello, World!"), signed), (("It's a Secret to Everybody", b"Hello"), signed)):
        assert not webhooks.is_signed(*wrong[0], wrong[1])
    assert not webhooks.is_signed("It's a Secret to Everybody", b"Hello, World!", "sha256=ü\ud800")


# --- placeholders ----------------------------------------------------------------------------------------------------

VALUES: dict[str, Any] = {
    "event": "push",
    "body": {
        "ref": "main",
        "n": 7,
        "no": None,
        "yes": True,
        "odd-key_1": "é",
        "list": ["a", {"b": "c"}],
        "map": {"0": "zero", "é": 1},
    },
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("event", "push"),
        ("body.ref", "main"),
        ("body.n", "7"),
        ("body.no", ""),
        ("body.yes", "true"),
        ("body.odd-key_1", "é"),
        ("body.list.0", "a"),
        ("body.list.000000000", "a"),
        ("body.list.1.b", "c"),
        ("body.list", '["a", {"b": "c"}]'),
        ("body.map", '{"0": "zero", "é": 1}'),
        ("body.map.0", "zero"),
    ],
)
def test_a_placeholder_is_filled_with_what_it_names(path: str, text: str) -> None:
    for spaced in (f"{{{{{path}}}}}", f"{{{{ {path} }}}}"):
        assert webhooks.not_a_placeholder(spaced) is None
        assert webhooks.has_placeholders(spaced)
        assert webhooks.title_of(f"<{spaced}>", VALUES, 100) == f"<{text}>"
        assert webhooks.description_of(f"<{spaced}>", VALUES, 100) == f"<<external>{text}</external>>"


@pytest.mark.parametrize(
    "path",
    [
        "body.x",
        "body.list.2",
        "body.list.0000000000",
        "body.list.-1",
        "body.list.x",
        "body.list.²",
        "body.ref.0",
        "body.n.0",
    ],
)
def test_what_the_body_does_not_have_is_missed_by_its_path(path: str) -> None:
    with pytest.raises(Missing) as missed:
        webhooks.title_of(f"{{{{{path}}}}}", VALUES, 100)
    assert missed.value.path == path
    with pytest.raises(Missing):
        webhooks.description_of(f"{{{{{path}}}}}", VALUES, 100)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("no {braces} { { event } }", None),
        ("{{ event }} {{ body.a.0 }}", None),
        ("{{ event }} {{ title }} {{ x }}", "title"),
        ("{{ body. }}", "body."),
        ("{{ events }}", "events"),
        ("{{}}", ""),
    ],
)
def test_what_names_nothing_is_no_placeholder(text: str, first: str | None) -> None:
    assert webhooks.not_a_placeholder(text) == first
    assert webhooks.has_placeholders(text) is ("{{ event" in text or first is not None)


# --- how long, and of whom -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 199 + "…")])
def test_a_value_in_a_title_is_cut_by_itself(length: int, shown: str) -> None:
    assert webhooks.title_of("{{event}}!", {"event": "x" * length}, 500) == f"{shown}!"


def test_a_title_is_one_line_and_cut_at_its_longest() -> None:
    assert webhooks.title_of("a\n{{event}}", {"event": "b\nc"}, 5) == "a b c"
    assert webhooks.title_of("a\n{{event}}", {"event": "b\nc"}, 4) == "a b…"
    assert webhooks.title_of("{{event}}", {"event": " \n"}, 4) == ""


@pytest.mark.parametrize(("length", "shown"), [(10_000, "x" * 10_000), (10_001, "x" * 9_999 + "…")])
def test_a_value_in_a_description_is_cut_by_itself(length: int, shown: str) -> None:
    found = webhooks.description_of("{{event}}!", {"event": "x" * length}, 50_000)
    assert found == f"<external>{shown}</external>!"


def test_a_description_is_cut_at_its_longest_and_what_comes_from_outside_stays_marked() -> None:
    values = {"event": "a" * 20}
    whole = f"See <external>{'a' * 20}</external> and then what follows it."
    template = "See {{event}} and then what follows it."
    assert webhooks.description_of(template, values, len(whole)) == whole
    assert webhooks.description_of(template, values, len(whole) - 1) == whole[: len(whole) - 13] + "\u2026"
    assert webhooks.description_of(template, values, 30) == f"See <external>{'a' * 4}…</external>"


@pytest.mark.parametrize("tag", ["</external>", "<external>", "</EXTERNAL>", "< external>", "</ external"])
def test_a_value_cannot_close_its_tag(tag: str) -> None:
    found = webhooks.description_of("{{event}}", {"event": f"a{tag}b"}, 100)
    assert found == f"<external>a‹{tag[1:]}b</external>"
    assert found.lower().count("</external>") == 1


@given(st.text(max_size=60), st.text(max_size=40), st.integers(30, 120))
def test_whatever_is_sent_a_description_is_short_enough_and_every_tag_is_closed(
    before: str, value: str, longest: int
) -> None:
    template = before.replace("{", "").replace("<", "") + "{{event}} and more"
    found = webhooks.description_of(template, {"event": value}, longest)
    assert len(found) <= longest
    assert found.count("<external>") <= found.count("</external>") <= 1
    assert len(webhooks.title_of(template, {"event": value}, longest)) <= longest
