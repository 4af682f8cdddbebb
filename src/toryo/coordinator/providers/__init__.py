"""The providers this Coordinator can start: one file each, one value each. This file only knows which there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toryo.coordinator.config import ProviderConfig
from toryo.coordinator.provider import Provider
from toryo.coordinator.providers import command, custom, playbook, script

BUILT_IN: Mapping[str, Provider] = {each.name: each for each in (command.PROVIDER, playbook.PROVIDER, script.PROVIDER)}


def configured(sections: Mapping[str, ProviderConfig]) -> dict[str, Provider]:
    """The built-in providers and those of the file; an entry with a `cli_command` is started by that template."""
    found = dict(BUILT_IN)
    for name, section in sections.items():
        base = custom.provider(name, section) if section.cli_command else found[name]
        names, values = _environment(section)
        found[name] = replace(
            base, env=base.env | names, settings=values, time_limit=section.time_limit, max_turns=section.max_turns
        )
    return found


def _environment(section: ProviderConfig) -> tuple[frozenset[str], dict[str, str]]:
    if isinstance(section.env, dict):
        return frozenset(), section.env
    return frozenset(section.env), {}
