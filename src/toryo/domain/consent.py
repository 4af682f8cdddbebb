"""Consent in a chat: which message of a person approves the task that is requested because of it (`/approve`), and when
it lapses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toryo.domain.times import HOUR, Millis

ASKS_WITHIN: Millis = 24 * HOUR
"""A message older than this asks for nothing any more."""
APPROVES_WITHIN: Millis = HOUR
"""A message older than this approves nothing any more."""

_APPROVE = "/approve"
_OF_OLD = frozenset({"@@", "\uff20\uff20"})
_OF_A_PATCH = re.compile(r"@@|\*\*\* |[+-](?! \S)")
"""The beginning of a line of a patch; `- ` and a word is an item of a list."""


def consents(content: str) -> bool:
    """Whether a person's message approves what is requested because of it: its first line is a marker and nothing else.

    Only there: what is pasted (a diff, a quotation, somebody's comment) comes after words of one's own. A marker alone
    says not what is wanted, and approves nothing; `@@` above what may be a patch is a part of that.
    """
    first, *wanted = content.split("\n")
    if not any(each.strip() for each in wanted):
        return False
    return first.rstrip() == _APPROVE or (first.rstrip() in _OF_OLD and not _is_patch(wanted))


def _is_patch(lines: Sequence[str]) -> bool:
    """Something is put in the place of something, or a line is no item of a list: in doubt, it is a patch."""
    both = {line[0] for line in lines if line} >= {"+", "-"}
    return both or any(_OF_A_PATCH.match(line) for line in lines)
