"""The providers this Coordinator can start: one file each, one value each. This file only knows which there are.

To add one:

1. Write one file with one value, `PROVIDER`, and list it below.
   - `prepare` returns what to execute: arguments, environment, files of the launch's own directory. Secrets are named
     there as variables, never written out.
   - `parse` translates one line of the program's output into events of `coordinator/program_output.py`.
   - `beside` names a file in which the program writes more while it runs.
   - `judge` says what its end means; `judge_model` in `coordinator/failure_words.py` is enough for most programs.
   - `login` finds out whether it is logged in, without spending a token.
   - `needs` is what it finds of the home in the sandbox: an allow-list. Run it with a hostile model
     (tests/clis/test_sandboxed.py), see what it writes into its own directory, and add that to the inventory in
     tests/coordinator/test_program_homes.py.
2. Record its real output. Name it in tests/clis/programs.py and tests/clis/presets.py; then
   `python -m tests.clis.recording PROGRAM` writes tests/clis/streams/PROGRAM/. Never write these files by hand.
3. Add its test in tests/coordinator/providers/: a subclass of `Contract` that says only what is special about it.
4. Declare its options in `provider_options.py`: server and Coordinator refuse everything else. Read what limits a
   program (`permissions`) with `permissions(setting)`, never from the options directly.
5. Add a section and a column to docs/how-to/agent-clis.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from toryo.coordinator.config import ProviderConfig
from toryo.coordinator.environment import PROXIES
from toryo.coordinator.prices import Prices
from toryo.coordinator.provider import BadConfig, Command, Provider, Setting
from toryo.coordinator.providers import (
    claude,
    codex,
    command,
    copilot,
    custom,
    gemini,
    opencode,
    playbook,
    qwen,
    script,
)
from toryo.formats.yaml_documents import hint
from toryo.output_redaction import names_secret

BUILT_IN: Mapping[str, Provider] = {
    each.name: each
    for each in (
        claude.PROVIDER,
        codex.PROVIDER,
        command.PROVIDER,
        copilot.PROVIDER,
        gemini.PROVIDER,
        opencode.PROVIDER,
        playbook.PROVIDER,
        qwen.PROVIDER,
        script.PROVIDER,
    )
}


def configured(sections: Mapping[str, ProviderConfig]) -> dict[str, Provider]:
    """The built-in providers and those of the file; raises BadConfig for an account that selects no login.

    A section with a built-in name changes that provider: a different program, more arguments. A section with another
    name, or with placeholders for the prompt or the MCP configuration in its arguments, is a template of its own.
    """
    found = dict(BUILT_IN)
    for name, section in sections.items():
        by_template = name not in found or any(each in word for word in section.cli_args for each in _PLACES)
        base = custom.provider(name, section) if by_template else _changed(found[name], section)
        _refuse_own_login(base, section)
        found[name] = _adjusted(base, section)
    return found


_PLACES = ("{prompt}", "{mcp_config}")


def _changed(provider: Provider, section: ProviderConfig) -> Provider:
    program, more = section.cli_command, tuple(section.cli_args)
    if program is None and not more:
        return provider

    def prepare(setting: Setting) -> Command:
        command = provider.prepare(setting)
        return replace(command, argv=(program or command.argv[0], *command.argv[1:], *more))

    version = (program or provider.version[0], *provider.version[1:]) if provider.version is not None else None
    return replace(provider, prepare=prepare, version=version)


def _refuse_own_login(base: Provider, section: ProviderConfig) -> None:
    """Raises BadConfig for a further account of which no variable selects a login: it would use this machine's own.

    What a program of the file's own, or a template, makes of a variable is not known here.
    """
    if base.login is None or section.cli_command is not None:
        return
    selecting = sorted(base.env - PROXIES)
    for account, login in section.accounts.items():
        if not any(value.strip() and _selects(name, selecting) for name, value in login.env.items()):
            raise BadConfig(
                f"ai_providers.{base.name}.accounts.{account}.env selects no login of {base.name}, so the account "
                f"would use this machine's own: {hint(next(iter(login.env)), selecting)}"
            )


def _selects(variable: str, known: Collection[str]) -> bool:
    """Whether a variable may select a login; a key may be of any service that the program's own settings name."""
    return variable in known or variable == "HOME" or variable.startswith("XDG_") or names_secret(variable)


def _adjusted(base: Provider, section: ProviderConfig) -> Provider:
    names, values = _environment(section)
    prices = {model: Prices(price.input, price.output, price.cached) for model, price in section.prices.items()}
    return replace(
        base,
        env=base.env | names,
        settings=values,
        account=section.own_account(base.name),
        accounts={name: account.env for name, account in section.accounts.items()},
        time_limit=section.time_limit,
        max_turns=section.max_turns,
        max_output=round(section.max_output_mb * 1024 * 1024),
        patience=section.patience,
        keeps_context=section.resume,
        prices=prices,
    )


def _environment(section: ProviderConfig) -> tuple[frozenset[str], dict[str, str]]:
    if isinstance(section.env, dict):
        return frozenset(), section.env
    return frozenset(section.env), {}
