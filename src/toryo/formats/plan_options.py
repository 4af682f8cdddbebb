"""The plans in an agent's options: which option holds one, and the mistakes in plans that are written inline.

A plan in a file of the project is validated where the file is: by `toryo apply`, or by the Coordinator that starts the
agent. Whether the team can carry out a plan is not checked, because the team may change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toryo.formats import playbook_format, script_format, yaml_documents

FORMATS = {"playbook": playbook_format, "script": script_format}
"""The format of each provider whose agents follow a plan; the option has the same name."""

JUDGED_WITHIN = 5.0
"""Time limit in seconds for all plans of an agent."""


def mistakes(
    options: Mapping[str, Any], within: yaml_documents.Document | None = None
) -> Iterator[tuple[str, yaml_documents.Mistakes]]:
    """The options whose plan has mistakes, with these. `within`: the document that the options were read from."""
    until = time.monotonic() + JUDGED_WITHIN
    for name, plans in FORMATS.items():
        given = options.get(name)
        if not isinstance(given, (str, Mapping)) or plans.is_path(given):
            continue
        written = within if within is not None and within.data.get(name) is given else None
        try:
            with yaml_documents.judged_until(until):
                plans.parse(yaml_documents.of_option(given, name, plans.is_path, Path(), written, (name,)))
        except yaml_documents.Mistakes as found:
            yield name, found
