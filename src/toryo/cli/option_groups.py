"""Options that several commands have, as one dataclass: its fields are the options, in their order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """A command `function(here, …)` whose parameters that are dataclasses stand for the fields of these."""
    here, *own = inspect.signature(function, eval_str=True).parameters.values()
    groups: dict[str, Any] = {each.name: each.annotation for each in own if is_dataclass(each.annotation)}
    options = [here]
    for each in own:
        group = inspect.signature(groups[each.name], eval_str=True) if each.name in groups else None
        options += [each] if group is None else group.parameters.values()

    @wraps(function)
    def run(here: Any, **values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(here, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    run.__signature__ = inspect.Signature([each.replace(kind=keyword) for each in options])  # type: ignore[attr-defined]
    return run
