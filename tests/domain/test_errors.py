"""Refusals: what their details tell once what a call had created is gone again."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.domain.errors import Code, Refusal

MADE = {"tsk_new": "Walls"}


@pytest.mark.parametrize(
    ("detail", "kept"),
    [
        ("tsk_new", None),
        ("tsk_old", "tsk_old"),
        (["tsk_new", "tsk_old", 3], ["tsk_old", 3]),
        ({"task_id": "tsk_new", "title": "Walls"}, None),
        ({"task_id": "tsk_old", "title": "Roof"}, {"task_id": "tsk_old", "title": "Roof"}),
        ({"count": 2, "of": ["tsk_new"]}, {"count": 2, "of": ["tsk_new"]}),
        ([{"task_id": "tsk_new"}, {"task_id": "tsk_old"}], [{"task_id": "tsk_old"}]),
        (4, 4),
    ],
)
def test_a_detail_about_what_was_not_created_after_all_is_left_out(detail: Any, kept: Any) -> None:
    told = Refusal(Code.NOT_NOW, "No.", "Wait.", about=detail).without(MADE).details
    assert told == ({} if kept is None else {"about": kept})
