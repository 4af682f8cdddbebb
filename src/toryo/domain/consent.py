"""Consent in a chat: which message of a person approves the task that is requested because of it (`/approve`), and when
it expires.

Whose message may be used, and that it is used once, is in `operations/tasks/request_tools.py`. The dashboard says of
what is typed whether it approves (web/src/views/chat/consent.ts); tests/domain/consent_cases.json has messages that
both must read alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toryo.domain.times import HOUR, Millis

ASKS_WITHIN: Millis = 24 * HOUR
"""A task can be requested because of a message up to this age."""
APPROVES_WITHIN: Millis = HOUR
"""A message approves a task up to this age."""

MARKER = "/approve"
_OF_OLD = frozenset({"@@", "\uff20\uff20"})
_OF_A_PATCH = re.compile(r"@@|\*\*\* |[+-](?! \S)")
"""The beginning of a line of a patch; `- ` before a word is a list item."""


def approves(content: str, age: Millis, *, has_context: bool) -> bool:
    """Whether a message approves the task that is requested because of it. A context never is approved by words: its
    values end up in commands, so a person has to see it."""
    return age <= APPROVES_WITHIN and not has_context and consents(content)


def consents(content: str) -> bool:
    """Whether a person's message approves what is requested because of it: its first line is a marker and nothing else.

    Later lines do not count: pasted text (a diff, a quotation, another person's comment) follows the person's own
    words. A marker without other text requests nothing and so approves nothing; `@@` above a possible patch is part of
    the patch.
    """
    first, *wanted = content.split("\n")
    if not any(each.strip() for each in wanted):
        return False
    return first.rstrip() == MARKER or (first.rstrip() in _OF_OLD and not _is_patch(wanted))


def _is_patch(lines: Sequence[str]) -> bool:
    """Whether a line replaces another, or a line is not a list item. In doubt, it is a patch."""
    both = {line[0] for line in lines if line} >= {"+", "-"}
    return both or any(_OF_A_PATCH.match(line) for line in lines)
