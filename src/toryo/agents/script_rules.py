"""What a scripted agent replies to a message, by the rules of its script. Pure.

Takes scripts in their validated form (`script_format.py`). `chat_session.py` sends the replies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toryo.agents.plan_choice import fits
from toryo.formats.command_templates import VARIABLE

Rule = Mapping[str, Any]
Facts = Mapping[str, Any]

FEWEST_TURNS, MOST_TURNS, USUAL_TURNS = 2, 40, 20
TURNS_WITHOUT_RULE = 4
"""What one says, what the other answers, and room for the end."""
_ASKED = re.compile(r" \(asked of (\S+) by (\S+)\)$")


class Standing(NamedTuple):
    """A conversation in which it is this agent's turn. `last` is the partner's last message."""

    purpose: str
    turns: int
    last: str = ""

    @property
    def began_here(self) -> bool:
        """Turns alternate: the one that comes after an even number of them said the first."""
        return self.turns % 2 == 0

    @property
    def said(self) -> int:
        """How many messages this agent has said in it."""
        return self.turns // 2


class Move(NamedTuple):
    """An agent's turn: a message, the end of the conversation, or both."""

    text: str | None
    ends: bool = False
    final: str | None = None
    summary: str | None = None


def plain(otherwise: str) -> dict[str, Any]:
    """A script without rules: the same sentence for everyone."""
    return {"answers": [], "otherwise": otherwise, "conversations": [], "delegations": []}


def rule_for(rules: Sequence[Rule], key: str, text: str) -> tuple[Rule, dict[str, str]] | None:
    """The first rule whose pattern is found in the text, and the groups it found."""
    for rule in rules:
        found = re.search(rule[key], text, re.IGNORECASE | re.DOTALL)
        if found is not None:
            numbered = {str(number): value or "" for number, value in enumerate(found.groups(), 1)}
            return rule, numbered | {name: value or "" for name, value in found.groupdict().items()}
    return None


def fill(text: str, facts: Facts) -> str:
    """The text with every `{{name}}` filled in; what is not known is left empty."""
    return VARIABLE.sub(lambda found: _text(value(found[1], facts)), text)


def move(script: Rule, standing: Standing, facts: Facts) -> Move:
    """What to do in a conversation whose turn it is: by the rule that fits its purpose, else briefly."""
    found = rule_for(script["conversations"], "about", standing.purpose)
    if found is None:
        return _brief(script, standing, facts)
    rule, groups = found
    facts = {**facts, **groups}
    final, summary = (fill(rule[name], facts) if rule.get(name) else None for name in ("final", "summary"))
    end = Move(None, True, final, summary)
    number = _number(rule.get("rounds"), facts)
    if rule["ends"] == "starter" and number is not None and standing.began_here and standing.said >= number:
        return end
    text = _reply(rule, standing, facts)
    if text is None:
        return end
    last = rule["ends"] == "invited" and not standing.began_here and standing.said + 1 == number
    return Move(text, True, final, summary) if last else Move(text)


def first_message(script: Rule, purpose: str, facts: Facts) -> str:
    """The first message of a conversation with this purpose."""
    found = rule_for(script["conversations"], "about", purpose)
    text = fill(found[0]["opening"], {**facts, **found[1]}) if found and found[0].get("opening") else ""
    return text or purpose


def turns_for(script: Rule, purpose: str, facts: Facts, rounds: object = None) -> int:
    """The turn limit of a conversation with this purpose: both sides' messages, and one each for the end."""
    found = rule_for(script["conversations"], "about", purpose)
    rule, groups = found or ({}, {})
    number = _number(rounds if rounds is not None else rule.get("rounds"), {**facts, **groups})
    if number is None:
        return USUAL_TURNS if found else TURNS_WITHOUT_RULE
    turns = 2 * number + (0 if rule.get("ends", "limit") == "limit" else 2)
    return max(FEWEST_TURNS, min(turns, MOST_TURNS))


def conversation_purpose(about: str, agent_id: str, person_id: str) -> str:
    """The purpose of a conversation that a person wants: it says so, and an agent that starts again reads it there."""
    return f"{about} (asked of {agent_id} by {person_id})"


def who_asked(purpose: str, agent_id: str) -> str | None:
    """The person who asked this agent (and not its partner) for a conversation."""
    found = _ASKED.search(purpose)
    return found[2] if found and found[1] == agent_id else None


def _brief(script: Rule, standing: Standing, facts: Facts) -> Move:
    """The one that began has its answer; the one that was asked gives one."""
    if standing.began_here:
        return Move(None, True, summary=standing.last or None)
    text = script.get("otherwise")
    return Move(fill(text, facts) if text else None, True)


def _reply(rule: Rule, standing: Standing, facts: Facts) -> str | None:
    """The next reply of a list (after the opening), or the answer to the last message."""
    replies = rule["replies"]
    if isinstance(replies, Mapping):
        for pattern, reply in replies.items():
            groups = fits(pattern, standing.last.strip())
            if groups is not None:
                return fill(reply, {**facts, **groups})
    else:
        number = standing.said - 1 if standing.began_here else standing.said
        if 0 <= number < len(replies):
            return fill(replies[number], facts)
    return fill(rule["otherwise"], facts) if rule.get("otherwise") else None


def _number(value: object, facts: Facts) -> int | None:
    text = fill(str(value), facts) if value is not None else ""
    return int(text) if text.isdecimal() else None


def value(name: str, facts: Facts) -> Any:
    """The value of a name; None if the name is unknown."""
    at: Any = facts
    for part in [name] if name in facts else name.split("."):
        at = at.get(part) if isinstance(at, Mapping) else None
    return at


def _text(known: Any) -> str:
    return "" if known is None else str(known)
