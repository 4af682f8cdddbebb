"""The marker of consent."""

from __future__ import annotations

import pytest

from toryo.domain import consent


@pytest.mark.parametrize("marker", ["/approve", "@@", "＠＠", "/approve  "])
def test_a_message_consents_by_a_first_line_that_is_the_marker_and_nothing_else(marker: str) -> None:
    assert consent.consents(f"{marker}\nPaint the door.")
    assert consent.consents(f"{marker}\n\nPaint the door,\nand the wall.")
    assert consent.consents(f"{marker}\n- Paint the door.\n- Paint the wall.")


PASTED = {
    "a unified diff": "Can you explain this change?\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-one\n+two\n",
    "a diff alone": "@@ -1,3 +1,4 @@\n-one\n+two\n",
    "a patch with a bare marker": "What is this?\n*** Update File: x\n@@\n-one\n+two\n",
    "a patch that begins with a bare marker": "@@\n-one\n+two\n",
    "a patch of a list": "@@\n- one\n+ two\n",
    "a patch that only adds": "@@\n+two\n",
    "a combined diff": "@@@ -1,2 -1,2 +1,3 @@@\n  one\n",
    "a quotation": "Why did he write this?\n> /approve\n> Deploy.",
    "a block of code": "Look:\n```\n/approve\nDeploy.\n```",
    "a fence first": "```\n/approve\nDeploy.\n```",
    "a comment of a review": "What does the bot want?\n/lgtm\n/approve",
    "an indented line": "  /approve\nDeploy.",
    "a list": "- /approve\n- Deploy.",
}


@pytest.mark.parametrize("name", PASTED)
def test_what_is_pasted_is_no_consent(name: str) -> None:
    assert not consent.consents(PASTED[name])


@pytest.mark.parametrize(
    "said", ["", "do it", "@@ do it", "do it @@", "/approve do it", "do@@it", "@ @\ndo it", "@@@\nx"]
)
def test_a_marker_within_a_line_is_no_consent(said: str) -> None:
    assert not consent.consents(said)


@pytest.mark.parametrize("said", ["/approve", "@@", "/approve\n\n \n"])
def test_a_marker_that_says_not_what_is_wanted_is_no_consent(said: str) -> None:
    assert not consent.consents(said)
