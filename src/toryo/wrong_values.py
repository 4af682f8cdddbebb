"""Messages for values that do not fit their declaration, by pydantic's error type: which values are accepted.

The sentences follow the name of the value: `port must be a whole number`; so do those of Toryo's own rules for one
value. pydantic itself is not imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toryo.nearest import nearest

_WHOLE = "must be a whole number, such as 10"
_NUMBER = "must be a number, such as 1.5"
_SWITCH = "must be true or false"
_TIME = "must be a date and time, such as 2026-01-31T09:00+09:00"
_DATE = "must be a date, such as 2026-01-31"
_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is unknown",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "does not have the required form ({pattern})",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "model_attributes_type": "must be a mapping of names to values",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "is out of range",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "bool_type": _SWITCH,
    "bool_parsing": _SWITCH,
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "timezone_aware": "must name its time zone, such as 2026-01-31T09:00+09:00",
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "path_type": "must be a path",
    "url_parsing": "must be an address that begins with http:// or https://",
    "url_scheme": "must be an address that begins with {expected_schemes}",
    "none_required": "must be omitted",
    "recursion_loop": "contains itself",
}


KINDS = frozenset(_SENTENCES)
"""The mistakes that pydantic finds and that are told here, as it names them."""
_CHOICES = ("literal_error", "enum")
_PREDICATES = ("is ", "are ", "must ", "has ", "does ", "needs ", "contains ", "cannot ")


def sentence(name: str, problem: str) -> str:
    """What is wrong with what is called `name`: with a problem that goes on after a name, and with one of its own words
    (of a rule about several values, for example)."""
    if not name:
        return problem
    return f"{name} {problem}" if problem.startswith(_PREDICATES) else f"{name}: {problem}"


def kind(error: Mapping[str, Any]) -> str:
    """The type of one of pydantic's errors. Of texts with rules of their own, pydantic counts entries as of a list, and
    calls them values."""
    named: str = error["type"]
    of_text = named in ("too_long", "too_short") and (error.get("ctx") or {}).get("field_type") == "Value"
    return f"string_{named}" if of_text else named


def in_words(error: Mapping[str, Any]) -> str:
    """What is accepted, of one of pydantic's errors."""
    sentence = _SENTENCES.get(kind(error))
    if sentence is None:  # one of our own rules, in its words
        return str(error["msg"]).removeprefix("Value error, ")
    context = {name: _whole(each) for name, each in (error.get("ctx") or {}).items()}
    if context.get("min_length") == 1 or context.get("pattern") == r"\S":
        return "must not be empty"
    if error["type"] in _CHOICES and isinstance(error.get("input"), str):
        near = nearest(error["input"], re.findall(r"'([^']*)'", context["expected"]))
        return sentence.format(**context) + (f"; did you mean {near!r}?" if near is not None else "")
    return sentence.format(**context) if "{" in sentence else sentence


def _whole(value: Any) -> Any:
    """A bound of 1.0 is written as 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
