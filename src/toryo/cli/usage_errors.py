"""Messages for invalid command lines, with the command that was probably meant."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from toryo import wrong_values
from toryo.nearest import nearest

INSTEAD = {
    "ls ps all": "list",
    "get describe inspect view info cat read": "show, list",
    "rm remove delete del destroy drop": "remove, archive, cancel, deactivate, revoke",
    "new create insert register": "add, init",
    "update set modify change patch configure": "edit",
    "rename": "edit --name NAME, edit --title TITLE",
    "assign reassign": "edit --assignee AGENT",
    "prioritize priority": "edit --priority 50",
    "start run serve begin": "up, activate, resume",
    "restart rerun redo": "retry, resume, up",
    "stop kill halt quit shutdown": "down, pause, deactivate, cancel",
    "pause suspend disable": "pause, deactivate",
    "unpause enable": "resume, activate",
    "log tail": "logs",
    "health coordinators": "doctor",
    "close done finish complete block": "move, cancel",
    "comment message tell": "steer, chat",
    "reply respond": "answer, steer, chat",
    "say send attach exec ask": "chat",
    "login ui dashboard web browse": "open",
    "deploy sync": "apply",
    "dump save": "export, backup",
    "load": "import, restore",
    "migrate": "upgrade",
    "history audit": "events",
    "cost costs billing tokens": "usage",
    "validate lint verify": "check",
}
"""Words of other programs, and the commands that do it here, the best first; only those that exist are suggested."""
_NOUNS = {
    "people user member": "person",
    "issue ticket job": "task",
    "worker manager bot": "agent",
    "key secret": "token",
    "repo": "project",
}
THERE = {"coordinator list": "doctor", "coordinator start": "coordinator", "status": "task list, needs, doctor"}
_OF_OTHERS = {word for each in (*INSTEAD, *THERE) for word in each.split()}
"""Of which a near miss counts as well, where nothing that exists is like what was typed."""
OPTIONS = {
    "-o --output --format -j": "--json",
    "-w --watch": "--follow",
    "-p": "--project",
    "--body": "--description",
    "--assign --agent --to": "--assignee",
    "--force --confirm": "--yes",
}
COMMANDS_INSTEAD = {"apply --dry-run": "plan", "apply --diff": "plan", "run --dry-run": "plan", "run --detach": "apply"}
"""Options of other programs that are commands here."""
_NEAR = 0.75
_SUGGESTED = 3


def words(mistake: typer.TyperException, program: Any, given: Sequence[str]) -> str:
    """One or two sentences, without a hint to --help."""
    path, rest = place(program, given)
    command = _below(program, path)
    message = " ".join(mistake.format_message().split())
    parameter = getattr(mistake, "param", None)
    if hasattr(mistake, "possibilities"):
        return _unknown_option(str(getattr(mistake, "option_name", "")), command, path)
    if message.startswith("No such command "):
        return _unknown_command(rest, path, program)
    if message.startswith("Got unexpected extra argument"):
        return _too_many(message.rpartition("(")[2].rstrip(".)"), command, path, program)
    if message.endswith(" requires an argument."):
        return _without_value(message.split("'")[1], command, path)
    if parameter is not None and message.startswith("Invalid value"):
        return _wrong_value(mistake, parameter, message)
    return message


def place(program: Any, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the command that a line begins with, and the words after it. Its options are passed over."""
    path: list[str] = []
    left = list(given)
    while left:
        command = _below(program, path)
        word = left.pop(0)
        if word in getattr(command, "commands", {}):
            path.append(word)
        elif not word.startswith("-"):
            return path, [word, *left]
        elif (
            "=" not in word and any(word in option.opts and not option.is_flag for option in _options(command)) and left
        ):
            left.pop(0)
    return path, left


def meant(words: Sequence[str], path: Sequence[str], program: Any) -> list[str]:
    """The command lines that somebody may have meant whose word after a path is no command.

    That of the same group with a like name, or one that does the same; else a command that has this last word anywhere.
    What other programs write the other way round (`get tasks`), or in the plural, is looked for in its group.
    """
    typed, *after = [word.lower() for word in words[:2]]
    there = THERE.get(" ".join([*path, typed]))
    if there is not None:
        return [f"toryo {part}" for part in there.split(", ")]
    groups = {name for name, below in program.commands.items() if getattr(below, "commands", {})}
    if not path and after and _noun(after[0]) in groups:
        return meant([typed], [_noun(after[0])], program) or [f"toryo {_noun(after[0])} --help"]
    if not path and typed not in groups and _noun(typed) in groups:
        path, typed = [_noun(typed)], after[0] if after else "list"
    lines = list(_lines(program))
    here = [line for line in lines if line[:-1] == list(path)]
    found = [each for each in here if each[-1] == typed] or _like(typed, here, program)
    if not found and not (path and typed == "list"):
        general = [line for line in lines if len(line) == 1] if path else lines
        found = [each for each in general if each[-1] == typed] or _like(typed, general, program)
    if not found and "list" in (typed, *_same(typed, INSTEAD)) and _below(program, path).invoke_without_command:
        found = [list(path)]
    told = list(dict.fromkeys(_written(each, program) for each in found))
    if not told and (near := nearest(typed, _OF_OTHERS - {typed}, close=_NEAR)) is not None:
        return meant([near, *after], path, program)
    return told[:_SUGGESTED]


def _like(typed: str, lines: list[list[str]], program: Any) -> list[list[str]]:
    near = nearest(typed, (each[-1] for each in lines), close=_NEAR)
    found = [[*each] for each in lines if each[-1] == near]
    for phrase in _same(typed, INSTEAD):
        name, *option = phrase.split()
        for line in lines:
            command = _below(program, line)
            if line[-1] == name and (not option or any(option[0] in param.opts for param in command.params)):
                found.append([*line, *option])
    return found


def _same(typed: str, table: dict[str, str]) -> list[str]:
    told = next((instead for those, instead in table.items() if typed in those.split()), None)
    return told.split(", ") if told is not None else []


def _written(line: Sequence[str], program: Any) -> str:
    """A command line with the arguments that it needs, before the options that are named."""
    path = place(program, line)[0]
    needed = [
        argument.metavar or argument.name.upper() for argument in _arguments(_below(program, path)) if argument.required
    ]
    return " ".join(["toryo", *path, *needed, *line[len(path) :]])


def _unknown_command(rest: Sequence[str], path: Sequence[str], program: Any) -> str:
    found = " or ".join(f"`{each}`" for each in meant(rest, path, program))
    every = ", ".join(line[-1] for line in _lines(program) if line[:-1] == list(path))
    then = f" Did you mean {found}?" if found else f" Its commands: {every}." if path else ""
    return f"`{_named(path)}` has no command {rest[0]!r}.{then}"


def _unknown_option(option: str, command: Any, path: Sequence[str]) -> str:
    known = {name: each for each in _options(command) for name in each.opts}
    if (instead := COMMANDS_INSTEAD.get(" ".join([*path, option]))) is not None:
        return f"`{_named(path)}` has no option {option}. Use `toryo {instead}`."
    same = [each for each in _same(option, OPTIONS) if each in known]
    near = same[0] if same else nearest(option, known, close=_NEAR)
    below = any(option in each.opts for line in _lines(command) for each in _options(_below(command, line)))
    after = f" Put {option} after the name of the command." if below else ""
    return f"`{_named(path)}` has no option {option}." + (f" Did you mean {near}?" if near else after)


def _too_many(extra: str, command: Any, path: Sequence[str], program: Any) -> str:
    """Often a text without quotes, or a verb that another program would want here."""
    arguments = [argument.metavar or argument.name.upper() for argument in _arguments(command)]
    told = f"`{_named(path)}` takes "
    if arguments:
        return f"{told}only {' '.join(arguments)}, but also got {extra!r}. Put text with spaces in quotes."
    tops = [line for line in _lines(program) if len(line) == 1 and line != list(path)]
    found = [_written(each, program) for each in _like(extra, tops, program)]
    return f"{told}no arguments, but got {extra!r}." + (f" Did you mean `{found[0]}`?" if found else "")


def _without_value(option: str, command: Any, path: Sequence[str]) -> str:
    needed = next((each.metavar for each in _options(command) if option in each.opts), None)
    return f"`{_named(path)}`: {option} needs a value: {option} {needed or 'VALUE'}."


def _wrong_value(mistake: BaseException, parameter: Any, message: str) -> str:
    name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.name.upper()
    # by name: pydantic is not loaded for a command line without mistakes
    invalid: Any = next((cause for cause in _causes(mistake) if type(cause).__name__ == "ValidationError"), None)
    if invalid is None:
        return f"{name}: {_choice(message.partition(': ')[2])}"
    first = invalid.errors(include_url=False)[0]
    if first["type"] == "value_error":
        return f"{name}: {_choice(wrong_values.in_words(first))}"
    return f"{name} {wrong_values.in_words(first)} (given: {shlex.quote(str(first['input'])[:100])})"


def _choice(message: str) -> str:
    given, isnt, known = message.partition(" is not one of ")
    if not isnt:
        return message
    names = known.rstrip(".").replace("'", "")
    near = nearest(given.strip("'"), names.split(", "))
    meant = f" Did you mean {near}?" if near is not None else ""
    return f"{given} is not known.{meant} Use one of: {names}."


def _named(path: Sequence[str]) -> str:
    return " ".join(["toryo", *path])


def _noun(word: str) -> str:
    """The group of commands that a word of another program stands for, and what is written in the plural."""
    one = word.removesuffix("s")
    return next((ours for theirs, ours in _NOUNS.items() if one in theirs.split()), one)


def _below(program: Any, path: Iterable[str]) -> Any:
    for name in path:
        program = program.commands[name]
    return program


def _options(command: Any) -> list[Any]:
    return [param for param in command.params if param.opts[0].startswith("-")]


def _arguments(command: Any) -> list[Any]:
    return [param for param in command.params if not param.opts[0].startswith("-")]


def _lines(command: Any, path: tuple[str, ...] = ()) -> Iterator[list[str]]:
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield [*path, name]
            yield from _lines(below, (*path, name))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
