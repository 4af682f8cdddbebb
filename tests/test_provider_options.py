"""Options of agents' programs, made from their declaration: every provider × every option × every way to get it wrong.

Each mistake is refused by the declaration, by the server where it is written, and by a Coordinator before a start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.stories import World, fresh, quiet, world
from toryo import named_commands, provider_options
from toryo.coordinator.config import KNOWN, ProviderConfig
from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig, Command, Setting, refuse_mistakes
from toryo.coordinator.providers import BUILT_IN, configured, custom
from toryo.provider_options import COMMON, DECLARED, EVERY, MOST_FALLBACKS, Given, Kind, Option, Widens

__all__ = ["fresh", "quiet", "world"]

TEMPLATE = "house-model"
"""A provider of a Coordinator's file, which Toryo does not know."""
PROVIDERS = [*DECLARED, TEMPLATE]
RIGHT: Mapping[Kind, Any] = {
    Kind.WORD: "second",
    Kind.TEXT: "Two lines,\nand more.",
    Kind.WORDS: ["gpu"],
    Kind.COMMANDS: ["pytest", "npm test"],
    Kind.DIRECTORY: "/srv/work",
    Kind.PROGRAMS: {"provider": "codex", "model": "gpt-5", "account": "second"},
    Kind.PLAN: {"tasks": []},
    Kind.AMOUNT: 2.5,
    Kind.COUNT: 1_000,
}


def right(option: Option) -> Any:
    return option.values[0] if option.kind is Kind.CHOICE else RIGHT[option.kind]


@dataclass(frozen=True)
class Mistake:
    options: Mapping[str, Any]
    about: str
    """What the refusal must name."""


def mistakes(option: Option) -> Iterator[Mistake]:
    value, name = right(option), option.name
    for typo in {*misspelt(name), name.title(), f" {name}"} - {name}:
        yield Mistake({typo: value}, f"Did you mean {name}?")
    for nonsense in NONSENSE:
        if not _takes(option, nonsense):
            yield Mistake({name: nonsense}, name)
    for word in (each for each in option.values if isinstance(each, str)):
        for spelt in misspelt(word) - set(option.values):
            yield Mistake({name: spelt}, f"Did you mean {word}?")
    if option.kind is Kind.PROGRAMS:
        yield Mistake({name: {"provider": "codex", "modle": "gpt-5"}}, "Did you mean model?")
        yield Mistake({name: {"model": "gpt-5"}}, f"{name}.provider")
        yield Mistake({name: {"provider": "codex", "model": "--yolo"}}, f"{name}.model")
        yield Mistake({name: [{"provider": "codex"}, {"provider": "codex", "acount": "x"}]}, f"{name}[1]")
        yield Mistake({name: [{"provider": "codex"}, "gemini"]}, name)
        yield Mistake({name: [{"provider": "codex"}] * (MOST_FALLBACKS + 1)}, name)
    if option.kind is Kind.COMMANDS:
        for wrong in (
            "",
            " ",
            "pytest; rm -rf x",
            "npm test\nnpm publish",
            "CI=1 pytest",
            "ls >x",
            "echo $(id)",
            "x" * 10_000,
        ):
            yield Mistake({name: ["pytest", wrong]}, f"of {name}[1]. Use the first words of a command (npm test)")
        yield Mistake({name: "pytest"}, f"of {name}. Use a list of at most {named_commands.MOST} commands")
        yield Mistake({name: ["pytest"] * 100}, f"of {name}. Use a list of at most {named_commands.MOST} commands")
        yield Mistake({name: ["pytest"], "permissions": "full"}, "permissions: full allows every command")


NONSENSE: tuple[Any, ...] = (None, 7, 1.5, {}, [], [[]], [None], [["read"]], {"a": {"b": 1}}, "", " ")


def misspelt(word: str) -> set[str]:
    """Cut, doubled, in capitals, with a blank, and with letters that only look the same."""
    lookalike = word.replace("a", "\N{CYRILLIC SMALL LETTER A}").replace(
        "i", "\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}"
    )
    return {word[:-1], word[0] + word, word.upper(), f"{word} ", lookalike}


def _takes(option: Option, value: Any) -> bool:
    """What is no nonsense for this kind: an empty list of words, any mapping as a plan, any amount."""
    if option.kind is Kind.CHOICE:
        return value in option.values
    if option.kind in (Kind.AMOUNT, Kind.COUNT):
        return isinstance(value, int if option.kind is Kind.COUNT else int | float)
    return (option.kind in (Kind.WORDS, Kind.COMMANDS) and value == []) or (
        option.kind is Kind.PLAN and isinstance(value, dict)
    )


def all_mistakes(provider: str) -> list[Mistake]:
    found = [mistake for option in provider_options.options_of(provider) for mistake in mistakes(option)]
    foreign = [each for each in EVERY if each not in provider_options.options_of(provider)]
    return found + [Mistake({each.name: right(each)}, each.name) for each in foreign]


def all_right(provider: str | None, *but: str) -> dict[str, Any]:
    return {option.name: right(option) for option in provider_options.options_of(provider) if option.name not in but}


def setting(provider: str, options: Mapping[str, Any], **more: Any) -> Setting:
    launch = Launch("lau_1", "ann", "prj_1", ai_type=provider, provider_options=dict(options), **more)
    return Setting(launch, Path("/srv/work"), Path("/srv/launch"), "http://127.0.0.1:8765", prompt="Go.")


# --- what is written -------------------------------------------------------------------------------------------------


def test_who_starts_programs_and_who_declares_their_options_know_the_same_providers() -> None:
    assert set(BUILT_IN) == set(DECLARED) == KNOWN


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
def test_what_is_declared_is_taken_alone_and_together(provider: str | None) -> None:
    assert provider_options.check(provider, all_right(provider)) == []
    assert provider_options.check(provider, {}) == []
    for option in provider_options.options_of(provider):
        assert all(not provider_options.check(provider, {option.name: each}) for each in option.values)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_mistake_is_refused_where_it_is_written_and_the_next_step_is_named(world: World, provider: str) -> None:
    world.owner.call("create_agent", id="ann", role="worker", provider=provider)
    before = world.owner.call("show_agent", agent_id="ann")["agent"]
    for mistake in all_mistakes(provider):
        asked = {"provider": provider, "provider_options": mistake.options}
        refused = world.owner.refused("create_agent", "validationError", id="new", role="worker", **asked)
        assert mistake.about in f"{refused['message']} {refused['instruction']}", mistake
        if None not in mistake.options.values():  # null takes an option away that is there
            world.owner.refused("edit_agent", "validationError", agent_id="ann", **asked)
        world.owner.refused("edit_agent", "validationError", agent_id="ann", replace_options=True, **asked)
    assert world.owner.call("show_agent", agent_id="ann")["agent"] == before


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_mistake_is_ever_started_and_it_is_told_in_the_same_words(provider: str) -> None:
    started_by = BUILT_IN.get(provider) or custom.provider(provider, ProviderConfig(cli_command="x"))
    for mistake in all_mistakes(provider):
        with pytest.raises(BadConfig) as refused:
            refuse_mistakes(setting(provider, mistake.options), started_by)
        assert mistake.about in str(refused.value)
        assert all(str(each) in str(refused.value) for each in provider_options.check(provider, mistake.options))
    refuse_mistakes(setting(provider, all_right(provider)), started_by)


@pytest.mark.parametrize("model", ["--yolo", "-c", "a model", "a\nb", " ", "--dangerously-skip-permissions=1"])
def test_a_model_is_never_an_option_of_the_program(world: World, model: str) -> None:
    world.owner.refused("create_agent", "validationError", id="x", role="worker", provider="gemini", model=model)
    with pytest.raises(BadConfig, match="is not a valid value of model"):
        refuse_mistakes(setting("gemini", {}, model=model), BUILT_IN["gemini"])


def test_a_template_of_a_known_name_takes_no_option_that_it_would_not_follow() -> None:
    """Whoever writes `permissions: read` must not get a program that has never heard of it."""
    template = configured({"claude": ProviderConfig(cli_command="claude", cli_args=["-p", "{prompt}"])})["claude"]
    with pytest.raises(BadConfig, match="Provider claude has no option permissions"):
        refuse_mistakes(setting("claude", {"permissions": "read"}), template)
    refuse_mistakes(setting("claude", {"permissions": "edit"}, defaults=["permissions"]), template)
    refuse_mistakes(setting("claude", all_right(TEMPLATE)), template)


# --- what is started -------------------------------------------------------------------------------------------------


LIMITED = [name for name, options in DECLARED.items() if provider_options.limits(name) and options]


def command(provider: str, options: Mapping[str, Any]) -> Command:
    prepared = BUILT_IN[provider].prepare(setting(provider, options))
    return replace(prepared, links={})


@pytest.mark.parametrize("provider", LIMITED)
def test_no_other_option_makes_more_of_a_permission(provider: str) -> None:
    others = all_right(provider, "args", *provider_options.limits(provider))
    [permissions] = (each for each in DECLARED[provider] if each.name == "permissions")
    found = [command(provider, {"permissions": each}) for each in permissions.values]
    assert [command(provider, {"permissions": each, **others}) for each in permissions.values] == found
    assert command(provider, others) == found[0], "where nothing is said: the narrowest"
    assert all(one != other for one, other in pairwise(found))


@pytest.mark.parametrize("role", ["worker", "manager", "owner"])
def test_nobody_has_full_permissions_who_was_not_given_them(world: World, role: str) -> None:
    made = world.owner.call("create_agent", id="ann", role=role, provider="claude")["agent"]
    assert made["provider_options"] == {}
    assert made["effective_options"] == {"permissions": "edit" if role == "worker" else "read"}


def test_a_coordinator_is_told_what_holds_and_what_of_it_nobody_has_said(world: World) -> None:
    project = world.project()
    world.agent("ann", "worker", provider="claude", provider_options={"account": "second"}, projects=[project])
    world.task("ann", project_id=project)
    [launch] = world.coordinator().claim()["start"]
    assert launch["provider_options"] == {"account": "second", "permissions": "edit"}
    assert launch["defaults"] == ["permissions"]


# --- what widens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", LIMITED)
def test_every_step_to_a_wider_value_widens_and_none_back(provider: str) -> None:
    for option in (each for each in DECLARED[provider] if each.widens is Widens.BY_ORDER):
        for at, was in enumerate(option.values):
            for to, now in enumerate(option.values):
                before, after = (Given(provider, {option.name: each}, "worker") for each in (was, now))
                assert bool(provider_options.widened(before, after)) is (to > at), (was, now)


def test_what_takes_a_limit_away_widens() -> None:
    def told(before: Given, after: Given) -> list[str]:
        return provider_options.widened(before, after)

    read = Given("claude", {"permissions": "read"}, "worker")
    assert told(read, replace(read, options={})) == ["permissions: read → edit"]
    assert told(read, replace(read, options={"permissions": "read", "args": ["--yolo"]})) == ["args: none → [--yolo]"]
    assert told(read, replace(read, provider="command", options={})) == [
        "provider: claude → command (not limited by permissions)"
    ]
    assert told(read, replace(read, provider="codex")) == []
    stands_in = {"permissions": "read", "fallback": {"provider": "command"}}
    assert [each.split(":")[0] for each in told(read, replace(read, options=stands_in))] == ["fallback"]
    also = {"permissions": "read", "fallback": [{"provider": "gemini"}, {"provider": "command"}]}
    assert [each.split(":")[0] for each in told(read, replace(read, options=also))] == ["fallback"]
    more = {**also, "fallback": [*also["fallback"], {"provider": "codex"}]}
    assert told(replace(read, options=also), replace(read, options=more)) == []
    assert told(read, replace(read, provider=None, options={})) == [], "nobody starts it"
    limited = {"permissions": "read", "budget_per_day": 1, "tokens_per_day": 9}
    assert told(replace(read, options=limited), read) == ["budget_per_day: 1 → none", "tokens_per_day: 9 → none"]
    assert told(replace(read, options=limited), replace(read, options={**limited, "budget_per_day": 5})) == []
    assert told(read, replace(read, options={**read.options, "unmetered": True})) == ["unmetered: none → true"]


def test_a_command_that_those_of_before_do_not_allow_widens() -> None:
    def told(was: dict[str, Any], now: dict[str, Any]) -> list[str]:
        return provider_options.widened(Given("claude", was, "worker"), Given("claude", now, "worker"))

    pytest_, npm = {"commands": ["pytest"]}, {"commands": ["npm test"]}
    assert told({}, pytest_) == ["commands: none → [pytest]"]
    assert told(pytest_, {"commands": ["pytest", "npm test"]}) == ["commands: [pytest] → [pytest, npm test]"]
    assert told(npm, {"commands": ["npm"]}) == ["commands: [npm test] → [npm]"]
    assert told({"commands": ["npm"]}, {"commands": ["npm test", "npm run lint"]}) == []
    assert told(pytest_, {}) == told(pytest_, {"commands": []}) == []
    assert told({"permissions": "full"}, {"permissions": "edit", **pytest_}) == []
    free, bound = Given("command", {}, "worker"), Given("claude", pytest_, "worker")
    assert provider_options.widened(free, bound) == [], "it was not limited at all"
    assert provider_options.granted(bound) == ["commands: none → [pytest]"]


def test_common_options_limit_nothing_so_that_templates_lose_none() -> None:
    common = {option.name for option in COMMON}
    assert [
        provider
        for provider in PROVIDERS
        if not common <= {option.name for option in provider_options.options_of(provider)}
    ] == []
    assert [provider for provider in PROVIDERS if provider_options.limits(provider) & common] == []


def test_a_switch_is_given_as_a_word_or_as_truth_and_means_the_same():
    for given in ("on", "off", True, False, "model", "allowlist", "open"):
        assert not provider_options.check("claude", {"sandbox_network": given})
    assert [wrong.option for wrong in provider_options.check("claude", {"sandbox_network": "perhaps"})] == [
        "sandbox_network"
    ]
    narrow, wide = Given("claude", {"sandbox_network": "off"}, "worker"), Given("claude", {}, "worker")
    assert provider_options.widened(narrow, wide)
    assert not provider_options.widened(wide, narrow)
    assert not provider_options.widened(narrow, Given("claude", {"sandbox_network": False}, "worker"))


def test_a_list_of_too_many_fallbacks_is_refused_with_how_many_there_may_be() -> None:
    each = {"provider": "gemini"}
    assert provider_options.check("claude", {"fallback": [each] * 10}) == []
    for wrong in ([], [each] * 11):
        [said] = provider_options.check("claude", {"fallback": wrong})
        assert "a list of 1 to 10 of them" in str(said)
