"""What an acceptance check may say, wherever it is written: a task's own, and those that a project requires.

`operations/tasks/acceptance_checks.py` declares the same for callers, with these limits; Coordinators run them. What
both have to know of a command (its time, its retries, how much of its output is kept) is in `check_limits.py`, of the
files that it leaves in `artifact_limits.py`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from toryo import artifact_limits
from toryo.check_limits import MOST_RETRIES
from toryo.domain.errors import Code, Refusal
from toryo.domain.review_checks import LONGEST_RUBRIC, MOST_ROUNDS
from toryo.domain.tasks import (
    AcceptanceCheck,
    CheckEvidence,
    CheckFailure,
    CheckOutcome,
    Checks,
    DiffLimits,
    ReviewTerms,
)
from toryo.domain.texts import marked, quoted, several_lines
from toryo.domain.times import HOUR, MINUTE, Millis
from toryo.domain.wording import Worded, constant, say, together
from toryo.nearest import nearest

MOST = 20
"""Checks of one task or project."""
PATIENCE: Millis = 3 * MINUTE
"""How long a report waits for its checks until its agent leaves. Each wait is an answer of its model; what is checked
then completes the task without it."""
TRIED_AGAIN_AFTER: Millis = HOUR
"""How long after commands that a project requires have failed on what tasks begin with they are tried there again, if
that is the same commit."""
LONGEST_FILE = 1_000
LONGEST_COMMAND = 20_000
LONGEST_SECONDS = 3_600
MOST_WORDS = 1_000
MOST_PATHS = 100
MOST_CHANGED = 10_000_000
LONGEST_OUTPUT = 10_000
"""Characters of a check's output that are kept as evidence."""

MOST_SHOWN, LAST_LINES, WIDEST = 3, 3, 160
"""Failures, lines of each and characters of a line that people are told in brief; the task itself has all of it."""

_EXAMPLE = '[{"command": "make test"}, {"file": "README.md"}, {"review": {"by": "reviewer"}}]'

_LIST = re.compile(r'\[\s*\{|\["')
"""How a list begins that no shell command begins with."""

Read = Callable[[Any, int, str], Any]
"""Takes a value, the place of its check and its name; raises Refusal."""


def required_checks(value: Any) -> tuple[AcceptanceCheck, ...]:
    """The checks that a project requires, from JSON. Nothing, "" and "none" are no checks; another text is JSON, or a
    check per line. Raises Refusal for what is no check, and says which and why.
    """
    if value in (None, "", "none"):
        return ()
    given = _read(value) if isinstance(value, str) else value
    if isinstance(given, Mapping):
        given = [given]
    if not isinstance(given, Sequence):
        raise _wrong(say("They must be a list."))
    if len(given) > MOST:
        raise _wrong(say("There are {count}; at most {most} are possible.", count=len(given), most=MOST))
    return tuple(read(each, place) for place, each in enumerate(given, 1))


def _read(text: str) -> Any:
    """A list as JSON, or a check per line: an object as JSON, or else a command. A command may begin as a list does:
    `[ -f README.md ]`. What can only be a broken list is none."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError as wrong:
            if _LIST.match(text.lstrip()):
                raise _wrong(say("They are not a valid JSON list: {problem}.", problem=str(wrong))) from None
    lines = [line.strip() for line in text.splitlines()]
    return [_line(line, place) for place, line in enumerate(filter(None, lines), 1)]


def _line(line: str, place: int) -> Any:
    if not line.startswith("{"):
        return {"command": line}
    try:
        return json.loads(line)
    except ValueError:
        raise _wrong(say("Check {place} is not a valid JSON object.", place=place)) from None


def read(given: Any, place: int) -> AcceptanceCheck:
    """One check, the `place`th of a list. Raises Refusal for what is none."""
    check = {"command": given} if isinstance(given, str) else given
    found = cast("AcceptanceCheck", _read_keys(check, place, _KEYS, say("Check {place}", place=place)))
    kinds = [each for each in _KINDS if each in found]
    if len(kinds) != 1:
        raise _wrong(say("Check {place} needs exactly one of: {kinds}.", place=place, kinds=", ".join(_KINDS)))
    for name in ("timeout_seconds", "retries", "artifacts"):
        if name in found and kinds != ["command"]:
            raise _wrong(say("In check {place}, {name} belongs to a command.", place=place, name=name))
    return found


def _diff(given: Any, place: int, _: str) -> DiffLimits:
    found = _read_keys(given, place, _LIMITS, say("In check {place}, diff", place=place))
    if not found:
        names = ", ".join(_LIMITS)
        raise _wrong(
            say("In check {place}, diff limits nothing. Use at least one of: {names}.", place=place, names=names)
        )
    return cast("DiffLimits", found)


def _review(given: Any, place: int, _: str) -> ReviewTerms:
    terms = {"by": given} if isinstance(given, str) else given
    return cast("ReviewTerms", _read_keys(terms, place, _TERMS, say("In check {place}, review", place=place)))


def _read_keys(given: Any, place: int, known: Mapping[str, Read], what: str) -> dict[str, Any]:
    """What the readers make of an object; null counts as not given."""
    if not isinstance(given, Mapping):
        raise _wrong(say("{what} is not an object.", what=what))
    for name in given:
        if name not in known:
            raise _unknown(str(name), list(known), place)
    return {name: read(given[name], place, name) for name, read in known.items() if given.get(name) is not None}


def _command(value: Any, place: int, name: str) -> str | list[str]:
    if isinstance(value, str):
        return _text(value, place, name)
    if isinstance(value, Sequence) and 0 < len(value) <= MOST_WORDS:
        return [word if word == "" else _text(word, place, name) for word in value]
    raise _wrong(say("In check {place}, the command is neither a text nor a list of words.", place=place))


def _patterns(value: Any, place: int, name: str) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not 0 < len(value) <= MOST_PATHS:
        raise _wrong(say("In check {place}, {name} is not a list of patterns.", place=place, name=name))
    return [_text(each, place, name) for each in value]


def _artifacts(value: Any, place: int, name: str) -> list[str]:
    found = _patterns(value, place, name)
    if len(found) > artifact_limits.MOST_PATTERNS:
        raise _wrong(
            say(
                "In check {place}, {name} has {count} patterns; at most {most} are possible.",
                place=place,
                name=name,
                count=len(found),
                most=artifact_limits.MOST_PATTERNS,
            )
        )
    for each in found:
        if not artifact_limits.may_be_pattern(each):
            raise _leaves(each, place)
    return found


def refuse_outside(check: AcceptanceCheck, place: int) -> None:
    """Raises Refusal for a file that can never be found. Not of what is stored: earlier versions accepted it."""
    if leaves_directory(check.get("file", "")):
        raise _leaves(check["file"], place)


def leaves_directory(path: str) -> bool:
    """Whether a relative path can only lie outside of the directory in which it is looked for. An absolute one may lie
    inside."""
    return posixpath.normpath(path).split("/")[0] == ".."


def _leaves(path: str, place: int) -> Refusal:
    return _wrong(say("In check {place}, {pattern!r} leaves the working directory.", place=place, pattern=path))


def _text(value: Any, place: int, name: str) -> str:
    most = {"command": LONGEST_COMMAND, "rubric": LONGEST_RUBRIC}.get(name, LONGEST_FILE)
    fit = isinstance(value, str) and value.strip() and len(value) <= most and several_lines(value) == value
    if not fit:
        raise _wrong(
            say("In check {place}, {name} is not a text of 1 to {most} characters.", place=place, name=name, most=most)
        )
    return str(value)


def _flag(value: Any, place: int, name: str) -> bool:
    if value is not True:
        raise _wrong(say("In check {place}, {name} must be true, or left out.", place=place, name=name))
    return value


def _whole(least: int, most: int) -> Read:
    def read(value: Any, place: int, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _wrong(
                say(
                    "In check {place}, {name} is not a whole number from {least} to {most}.",
                    place=place,
                    name=name,
                    least=least,
                    most=most,
                )
            )
        return value

    return read


_LIMITS: dict[str, Read] = {
    "max_files": _whole(0, MOST_CHANGED),
    "max_lines": _whole(0, MOST_CHANGED),
    "forbidden_paths": _patterns,
    "forbid_secrets": _flag,
}
_TERMS: dict[str, Read] = {"by": _text, "rubric": _text, "rounds": _whole(1, MOST_ROUNDS)}
_KINDS = ("file", "command", "diff", "review")
_KEYS: dict[str, Read] = {
    "file": _text,
    "command": _command,
    "diff": _diff,
    "review": _review,
    "timeout_seconds": _whole(1, LONGEST_SECONDS),
    "retries": _whole(0, MOST_RETRIES),
    "artifacts": _artifacts,
}


def _unknown(name: str, known: Sequence[str], place: int) -> Refusal:
    near = nearest(name, known)
    return Refusal(
        Code.VALIDATION_ERROR,
        say("Check {place} has an unknown key {name!r}.", place=place, name=name),
        say("Did you mean {nearest}? Use one of: {names}.", nearest=near, names=", ".join(known))
        if near
        else say("Use one of: {names}.", names=", ".join(known)),
    )


def _wrong(why: str) -> Refusal:
    return Refusal(
        Code.VALIDATION_ERROR,
        say("The checks are not valid. {why}", why=why),
        say("Example: {example}.", example=_EXAMPLE),
    )


def evidence_of_failures(failures: Sequence[CheckFailure]) -> list[CheckEvidence]:
    """Evidence where only failures were reported, as an older Coordinator or a person does."""
    return [
        {
            "check": failure["check"],
            "outcome": CheckOutcome.FAILED.value,
            "runs": 1,
            "seconds": 0.0,
            "exit_code": None,
            "output": failure["message"],
        }
        for failure in failures
    ]


def failures_in_brief(state: str, failures: Sequence[CheckFailure]) -> Worded:
    """For people: the checks that the last report has failed, each with the end of what it printed; "" if none did.
    `state`: of the checks of the task."""
    failed = failures[:MOST_SHOWN] if state == Checks.FAILED else ()
    parts: list[Worded] = []
    for each in failed:
        parts += [say("Its last report failed the check {check}.", check=quoted(each["check"])), printed_end(each)]
    return together(parts, "\n")


def printed_end(failure: CheckFailure) -> Worded:
    """The end of what a failed check printed, marked as somebody's words."""
    lines = [line[:WIDEST] for line in failure["message"].splitlines() if line.strip()]
    return constant(marked("\n".join(lines[-LAST_LINES:])))
