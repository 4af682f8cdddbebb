"""Every option of an agent's program (`provider_options`): name, values, default, and which providers accept it.

Declared here once. The server refuses invalid options when they are written, and a Coordinator refuses to start the
agent with the same words; widening (`wider`), the reference and the tests read the same tables. Both sides import this
module, so it imports neither. The effect of an option is in the provider's module in `coordinator/providers/`.

To add an option: one `Option` in `COMMON`, or in a group that the providers concerned name in `DECLARED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from toryo import named_commands, sandbox_network
from toryo.nearest import nearest
from toryo.sandbox_network import Network

Value = str | bool
MOST_AMOUNT = 10**15
"""US dollars, or tokens."""


class Kind(StrEnum):
    """What a value must be; `_CHECKS` has the check of each."""

    CHOICE = "choice"
    """One of `Option.values`, of the same type and in the same case."""
    WORD = "word"
    TEXT = "text"
    WORDS = "words"
    COMMANDS = "commands"
    """A list; `named_commands.py` says what each may be."""
    DIRECTORY = "directory"
    PROGRAMS = "programs"
    PLAN = "plan"
    AMOUNT = "amount"
    """A number from 0."""
    COUNT = "count"
    """A whole one."""


class Widens(StrEnum):
    """Which changes of an option widen an agent's rights."""

    NEVER = "never"
    BY_ORDER = "by_order"
    """A value further right in `Option.values`."""
    BY_PROVIDER = "by_provider"
    """A program without an option that limits the agent's own."""
    BY_COMMAND = "by_command"
    """A command that those of before do not allow."""
    ANY = "any"
    """Every new value; not its removal."""
    REMOVAL = "removal"
    """Its removal, of an option that limits."""


class Permissions(StrEnum):
    """What an agent's program may do by itself, beside Toryo's tools. From narrow to wide."""

    READ = "read"
    EDIT = "edit"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Option:
    """`values` (of a choice) stand from narrow to wide. `default`: what holds where nothing is said (None: nothing);
    `default_by_role` where that depends on the agent's role."""

    name: str
    kind: Kind
    about: str
    possible: str
    values: tuple[Value, ...] = ()
    also: Mapping[Any, Value] = field(default_factory=dict, hash=False)
    """Words of before, and what they stand for."""
    default: Value | None = None
    default_by_role: Mapping[str, Value] = field(default_factory=dict, hash=False)
    widens: Widens = Widens.NEVER

    def default_of(self, role: str | None) -> Value | None:
        return self.default_by_role.get(role or "", self.default)


@dataclass(frozen=True, slots=True)
class Said:
    """An English sentence with its template and facts, so that the server can translate it."""

    template: str
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.template.format(**self.facts)


@dataclass(frozen=True, slots=True)
class Wrong:
    """One mistake: what is wrong, and what to write instead."""

    option: str
    what: Said
    instruction: Said

    def __str__(self) -> str:
        return f"{self.what} {self.instruction}"


def say(template: str, **facts: str) -> Said:
    return Said(template, facts)


# --- the declaration -------------------------------------------------------------------------------------------------


MOST_FALLBACKS = 10
LONGEST_NAME = 200
"""Characters of the name of a provider, a model or an account."""
SANDBOX_NETWORK = Option(
    "sandbox_network",
    Kind.CHOICE,
    "What it reaches from its sandbox, if that is less than its project allows: off (only the server; without a "
    "sandbox the agent is not started), model (also its model's service), allowlist (also the project's "
    "network_hosts), open.",
    "off, model, allowlist or open",
    values=tuple(each.value for each in Network),
    also=sandbox_network.WORDS,
    widens=Widens.BY_ORDER,
)
UNMETERED = Option(
    "unmetered",
    Kind.CHOICE,
    "true: it is also started where no budget can limit it, because its program does not report what it spends.",
    "true",
    values=(True,),
    widens=Widens.ANY,
)
COMMON: tuple[Option, ...] = (
    Option(
        "labels",
        Kind.WORDS,
        "The agent is started only by Coordinators that have all of these labels.",
        'a list: ["gpu"]',
    ),
    Option(
        "account",
        Kind.WORD,
        "The account whose quota it uses. When the quota is used up, all agents of the account wait.",
        f"the account's name, at most {LONGEST_NAME} characters",
    ),
    Option(
        "fallback",
        Kind.PROGRAMS,
        "The program that is used while its own cannot run, or a list of them; the first that can run is used.",
        "a mapping with its provider, and model or account if needed (provider: claude, account: second), or a list of "
        f"1 to {MOST_FALLBACKS} of them",
        widens=Widens.BY_PROVIDER,
    ),
    Option(
        "working_directory",
        Kind.DIRECTORY,
        "The directory it works in, instead of the project's.",
        "an absolute path",
        widens=Widens.ANY,
    ),
    Option("prompt", Kind.TEXT, "Text that is added to its first prompt.", "a text"),
    Option(
        "sandbox",
        Kind.CHOICE,
        "bwrap: it is started only in a sandbox. auto: as its Coordinator is configured.",
        "bwrap or auto",
        values=("bwrap", "auto"),
        widens=Widens.BY_ORDER,
    ),
    SANDBOX_NETWORK,
    Option(
        "budget_per_day",
        Kind.AMOUNT,
        "What it may spend in a day, in US dollars, in all of its projects.",
        "a number from 0",
        widens=Widens.REMOVAL,
    ),
    Option(
        "tokens_per_day",
        Kind.COUNT,
        "The same in tokens, input and output.",
        "a whole number from 0",
        widens=Widens.REMOVAL,
    ),
    UNMETERED,
)
"""Options of every provider."""

PERMISSIONS = Option(
    "permissions",
    Kind.CHOICE,
    "What its program may do without asking: read (read files), edit (also change files), full (also run commands).",
    "read, edit or full",
    values=tuple(Permission.value for Permission in Permissions),
    default=Permissions.READ.value,
    default_by_role={"worker": Permissions.EDIT.value},
    widens=Widens.BY_ORDER,
)
COMMANDS = Option(
    "commands",
    Kind.COMMANDS,
    "Commands that it may run with the tool run_command, beside read or edit: each with any further arguments, without "
    "a shell, in a sandbox only.",
    f"a list of at most {named_commands.MOST} commands: [pytest, npm test]",
    widens=Widens.BY_COMMAND,
)
_ARGS = Option(
    "args",
    Kind.WORDS,
    "Further arguments of its program. They can override every limit above.",
    'a list of words: ["--verbose"]',
    widens=Widens.ANY,
)
_MODEL_PROGRAM = (PERMISSIONS, COMMANDS, _ARGS)
_PLAYBOOK = Option("playbook", Kind.PLAN, "The plan it follows.", "a plan, or the path of a file in the project")
_SCRIPT = Option("script", Kind.PLAN, "The rules for its answers.", "rules, or the path of a file in the project")

DECLARED: Mapping[str, tuple[Option, ...]] = {
    "claude": (*_MODEL_PROGRAM, *COMMON),
    "codex": (*_MODEL_PROGRAM, *COMMON),
    "command": COMMON,
    "copilot": (*_MODEL_PROGRAM, *COMMON),
    "gemini": (*_MODEL_PROGRAM, *COMMON),
    "opencode": (*_MODEL_PROGRAM, *COMMON),
    "playbook": (_PLAYBOOK, *COMMON),
    "qwen": (*_MODEL_PROGRAM, *COMMON),
    "script": (_SCRIPT, *COMMON),
}
"""The providers that Toryo knows how to start, and what each takes. A template of a Coordinator's file takes COMMON."""

EVERY: tuple[Option, ...] = tuple({option.name: option for options in DECLARED.values() for option in options}.values())
TEXTS = frozenset(option.name for option in EVERY if option.kind in (Kind.WORD, Kind.TEXT, Kind.DIRECTORY))
"""Options whose values are texts."""
_PROGRAM_KEYS = ("provider", "model", "account")


def options_of(provider: str | None) -> tuple[Option, ...]:
    """The options of a provider; of nobody's agent, every one: they wait for a provider."""
    return EVERY if provider is None else DECLARED.get(provider, COMMON)


def effective(provider: str | None, options: Mapping[str, Any], role: str | None) -> dict[str, Any]:
    """What holds of every option that has a value or a default."""
    found = {option.name: options.get(option.name, option.default_of(role)) for option in options_of(provider)}
    return {name: value for name, value in found.items() if value is not None}


def changes_files(provider: str | None, options: Mapping[str, Any]) -> bool:
    """Whether its program can be asked to change files in a way that nobody has written down for it: an agent with a
    model that may. What other programs may do is known only where they are set up."""
    if provider in (None, "command", "playbook"):
        return False
    return bool(options.get(PERMISSIONS.name) != Permissions.READ)


_OWN_SANDBOX = frozenset({"codex"})
"""Programs that run commands with every permission: with less than full in a sandbox of their own, in which git can
read and cannot commit."""


def runs_commands(provider: str | None, options: Mapping[str, Any]) -> bool:
    """Whether the program of an agent with these options (`effective`) has a shell. What a program may do that Toryo
    does not know stands in the template of a Coordinator's file: it is taken to have one."""
    if provider is None or provider not in DECLARED:
        return True
    return provider in _OWN_SANDBOX or options.get(PERMISSIONS.name) == Permissions.FULL


def commands(options: Mapping[str, Any]) -> list[str]:
    """The commands that an agent with these options may run without a shell; what cannot be one allows nothing."""
    given = options.get(COMMANDS.name)
    return [each for each in given if named_commands.is_one(each)] if isinstance(given, list) else []


# --- what is wrong ---------------------------------------------------------------------------------------------------


def check(provider: str | None, options: Mapping[str, Any], declared: tuple[Option, ...] | None = None) -> list[Wrong]:
    """Every mistake in the options of an agent of this provider; `declared`: what it takes, if not what stands here."""
    known = {option.name: option for option in (options_of(provider) if declared is None else declared)}
    found: list[Wrong] = []
    for name, value in options.items():
        found += _wrong_values(known[name], value) if name in known else [_unknown(provider, name, list(known))]
    if options.get(COMMANDS.name) and options.get(PERMISSIONS.name) == Permissions.FULL:
        found.append(_LIMITS_NOTHING)
    return found


_LIMITS_NOTHING = Wrong(
    COMMANDS.name,
    say("permissions: full allows every command, so commands limits nothing."),
    say("Set permissions to read or edit, or omit commands."),
)


def _unknown(provider: str | None, name: str, names: list[str]) -> Wrong:
    """The mistake of a name that this provider has no option for."""
    if provider is None:
        what = say("There is no option {name} in provider_options.", name=wrong_value(name))
    else:
        what = say("Provider {provider} has no option {name}.", provider=wrong_value(provider), name=wrong_value(name))
    of_others = provider is not None and nearest(name, (option.name for option in EVERY if option.name not in names))
    return Wrong(name, what, _of_template(provider or "", names) if of_others else _instead(name, names))


def _of_template(provider: str, names: list[str]) -> Said:
    """An option of providers that Toryo knows how to start, for one that is not started so."""
    valid, near = ", ".join(names), nearest(provider, DECLARED)
    if provider in DECLARED and names != [option.name for option in COMMON]:
        return say("Use one of: {names}.", names=valid)
    if provider not in DECLARED and near is not None:
        return say(
            "Did you mean the provider {nearest}? A provider that Toryo does not know is started with a template "
            "of a Coordinator's file, which says what the program may do. Use one of: {names}.",
            nearest=near,
            names=valid,
        )
    return say(
        "What the program may do is set where it is started: in the template of a Coordinator's file, or in its "
        "task. Use one of: {names}.",
        names=valid,
    )


def _instead(name: str, names: list[str]) -> Said:
    near, valid = nearest(name, names), ", ".join(names)
    if near is None:
        return say("Use one of: {names}.", names=valid)
    return say("Did you mean {nearest}? Use one of: {names}.", nearest=near, names=valid)


def check_model(model: str | None) -> list[Wrong]:
    """The model stands among a program's arguments: one that looks like an option would be one."""
    return [] if model is None or _is_model(model) else [_impossible("model", model, "the name of a model")]


def unknown_provider(name: str, reported: Iterable[str] = ()) -> Said | None:
    """What to say of a provider that neither Toryo nor a Coordinator (`reported`) knows; None: it is known."""
    known = sorted({*DECLARED, *reported})
    if name in known:
        return None
    near, names = nearest(name, known), ", ".join(known)
    if near is not None:
        return say(
            "No Coordinator has the provider {provider}, so the agent cannot start. Did you mean {nearest}? "
            "Use one of: {names}.",
            provider=wrong_value(name),
            nearest=near,
            names=names,
        )
    return say(
        "No Coordinator has the provider {provider}, so the agent cannot start. Add its program under "
        "ai_providers of a Coordinator's file, or use one of: {names}.",
        provider=wrong_value(name),
        names=names,
    )


def wrong_value(given: Any) -> str:
    """A wrong value as it stands in a sentence: brief, and letters that only look like others told apart."""
    text = given if isinstance(given, str) and given.isidentifier() and given.isascii() else ascii(given)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


_BRIEF = 80


def _impossible(name: str, given: Any, possible: str) -> Wrong:
    return Wrong(
        name,
        say("{given} is not a valid value of {name}.", given=wrong_value(given), name=name),
        say("Use {possible}, or omit it.", possible=possible),
    )


def _wrong_values(option: Option, given: Any) -> Iterator[Wrong]:
    if option.kind is Kind.PROGRAMS and isinstance(given, Mapping):
        yield from _wrong_program(option.name, option.possible, given)
    elif option.kind is Kind.PROGRAMS and programs(given) and len(given) <= MOST_FALLBACKS:
        for number, each in enumerate(given):
            yield from _wrong_program(f"{option.name}[{number}]", option.possible, each)
    elif option.kind is Kind.COMMANDS and _are_few(given):
        for number, each in enumerate(given):
            if not named_commands.is_one(each):
                yield _impossible(f"{option.name}[{number}]", each, _COMMAND)
    elif not _CHECKS[option.kind](option, given):
        yield _impossible_choice(option, given) or _impossible(option.name, given, option.possible)


_COMMAND = (
    f"the first words of a command (npm test), at most {named_commands.LONGEST} characters, without operators, "
    "variables and wildcards of a shell"
)


def _are_few(given: Any) -> bool:
    return isinstance(given, list) and len(given) <= named_commands.MOST


def _impossible_choice(option: Option, given: Any) -> Wrong | None:
    words = [each for each in option.values if isinstance(each, str)]
    near = nearest(given, words) if isinstance(given, str) else None
    if near is None:
        return None
    instead = say("Did you mean {nearest}? Use one of: {names}.", nearest=near, names=", ".join(words))
    return Wrong(
        option.name, say("{given} is not a valid value of {name}.", given=wrong_value(given), name=option.name), instead
    )


def _wrong_program(option: str, possible: str, given: Mapping[str, Any]) -> Iterator[Wrong]:
    for name in given:
        if name not in _PROGRAM_KEYS:
            what = say("{option} has no key {name}.", option=option, name=wrong_value(name))
            yield Wrong(f"{option}.{name}", what, _instead(name, list(_PROGRAM_KEYS)))
    if "provider" not in given:
        what = say("{name} is missing.", name=f"{option}.provider")
        yield Wrong(f"{option}.provider", what, say("Use {possible}, or omit it.", possible=possible))
    elif not _is_name(given["provider"]):
        yield _impossible(f"{option}.provider", given.get("provider"), possible)
    if "model" in given and not _is_model(given["model"]):
        yield _impossible(f"{option}.model", given["model"], "the name of a model")
    if "account" in given and not _is_name(given["account"]):
        yield _impossible(
            f"{option}.account", given["account"], f"the account's name, at most {LONGEST_NAME} characters"
        )


def programs(given: Any) -> tuple[Mapping[str, Any], ...]:
    """The programs that an option of that kind names, in order: of one mapping, or of a list; of nonsense, none."""
    each = given if isinstance(given, list) else [given]
    return tuple(each) if all(isinstance(one, Mapping) for one in each) else ()


def _is_word(given: Any) -> bool:
    return isinstance(given, str) and bool(given.strip()) and given.isprintable()


def _is_name(given: Any) -> bool:
    """Short enough for the keys of a database."""
    return _is_word(given) and len(given) <= LONGEST_NAME


def _is_model(given: Any) -> bool:
    return _is_name(given) and not given.startswith("-") and " " not in given


def _is_plan(given: Any) -> bool:
    return isinstance(given, Mapping) or (isinstance(given, str) and bool(given.strip()))


def _are_words(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) and each for each in given)


def is_amount(given: Any, *, whole: bool = False) -> bool:
    """Whether a value is an amount of a budget: a number from 0, of tokens a whole one."""
    number = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= MOST_AMOUNT
    return number and (not whole or given == int(given))


def plain(option: Option, given: Any) -> Any:
    """The value as it is declared, of a word that stands for it: on and off are words in JSON, and not in YAML."""
    return option.also.get(given, given) if isinstance(given, (bool, str)) else given


def _is_choice(option: Option, given: Any) -> bool:
    """Of the same type, too: 1 is not true."""
    given = plain(option, given)
    return any(isinstance(given, bool) is isinstance(each, bool) and given == each for each in option.values)


_CHECKS: Mapping[Kind, Callable[[Option, Any], bool]] = {
    Kind.CHOICE: _is_choice,
    Kind.WORD: lambda _, given: _is_name(given),
    Kind.TEXT: lambda _, given: isinstance(given, str) and bool(given.strip()),
    Kind.WORDS: lambda _, given: _are_words(given),
    Kind.DIRECTORY: lambda _, given: _is_word(given) and given.startswith(("/", "~")),
    Kind.COMMANDS: lambda *_: False,
    Kind.PROGRAMS: lambda *_: False,
    Kind.PLAN: lambda _, given: _is_plan(given),
    Kind.AMOUNT: lambda _, given: is_amount(given),
    Kind.COUNT: lambda _, given: is_amount(given, whole=True),
}


# --- what widens rights ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs for the rights of an agent's program. An agent without a provider is not started and has none."""

    provider: str | None
    options: Mapping[str, Any]
    role: str


def widened(before: Given, after: Given) -> list[str]:
    """Every change by which an agent may do more than before, as `name: before → after`; for all readers the same."""
    if after.provider is None:
        return []
    if before.provider is None:
        return [_provider_set(after.provider), *granted(after)]
    return _wider(before, after)


def granted(given: Given) -> list[str]:
    """What the options of an agent that had no provider grant beyond the defaults. Options that were stored while it
    had none granted nothing, so they do not count as what it had before."""
    return _wider(Given(None, {}, given.role), given)


def _provider_set(provider: str) -> str:
    change, missing = _change("provider", None, provider), sorted({PERMISSIONS.name} - limits(provider))
    return f"{change} (not limited by {', '.join(missing)})" if missing else change


def _wider(before: Given, after: Given) -> list[str]:
    found = [_unlimited("provider", before.provider, before.provider, after.provider)]
    for option in options_of(after.provider):
        was, now = before.options.get(option.name), after.options.get(option.name)
        if option.widens is Widens.BY_ORDER:
            found.append(_further(option, before, after))
        elif option.widens is Widens.BY_COMMAND:
            found.append(_more_commands(option, before, after))
        elif option.widens in (Widens.ANY, Widens.REMOVAL) and _is_wider(option, was, now):
            found.append(_change(option.name, was, now))
        elif option.widens is Widens.BY_PROVIDER and now != was:
            new = [each.get("provider") for each in programs(now) if each not in programs(was)]
            found += [_unlimited(option.name, after.provider, was, each) for each in new]
    return [each for each in found if each is not None]


def _is_wider(option: Option, was: Any, now: Any) -> bool:
    return (was is not None and now is None) if option.widens is Widens.REMOVAL else bool(now and now != was)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Everything that is another value than before, as `name: before → after`; of what has parts, the parts."""
    return list(_differences("", before, after))


def _differences(name: str, was: Any, now: Any) -> Iterator[str]:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*was, *now)):
            yield from _differences(f"{name}.{key}" if name else str(key), was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, parts in enumerate(zip(was, now, strict=True)):
            yield from _differences(f"{name}[{number}]", *parts)
    elif was != now:
        yield _change(name, was, now)


def limits(provider: str | None) -> frozenset[str]:
    """The options by which a program of this provider, and not every one, is limited."""
    declared = [option for option in DECLARED.get(provider or "", ()) if option not in COMMON]
    return frozenset(option.name for option in declared if option.widens is Widens.BY_ORDER)


def _unlimited(name: str, limited: str | None, was: Any, now: Any) -> str | None:
    lost = sorted(limits(limited) - limits(now)) if now != was else []
    return f"{_change(name, was, now)} (not limited by {', '.join(lost)})" if lost else None


def _further(option: Option, before: Given, after: Given) -> str | None:
    """By what holds: where nothing is said, or nonsense (which does not start), that is the default."""
    if before.provider is not None and option not in COMMON and option.name not in limits(before.provider):
        return None  # that program was not limited at all
    was, now = (_place(option, each) for each in (before, after))
    return _change(option.name, option.values[was], option.values[now]) if now > was else None


def _more_commands(option: Option, before: Given, after: Given) -> str | None:
    if before.provider is not None and PERMISSIONS.name not in limits(before.provider):
        return None  # that program was not limited at all
    if before.options.get(PERMISSIONS.name) == Permissions.FULL:
        return None
    was, now = commands(before.options), commands(after.options)
    new = [each for each in now if not named_commands.allow(was, named_commands.words(each))]
    return _change(option.name, was or None, now) if new else None


def _place(option: Option, given: Given) -> int:
    value = plain(option, given.options.get(option.name))
    stands = value if _is_choice(option, value) else option.default_of(given.role)
    if stands is None:  # nothing holds: the widest
        return len(option.values) - 1
    return option.values.index(stands) if stands in option.values else 0


def _change(name: str, was: Any, now: Any) -> str:
    return f"{name}: {_as_in_file(was)} → {_as_in_file(now)}"


def _as_in_file(value: Any) -> str:
    """As a toryo.yaml has it, in brief."""
    told = " ".join(_flow(value).split())
    return told if len(told) <= _BRIEF else f"{told[:_BRIEF]}…"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
