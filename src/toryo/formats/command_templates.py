"""Commands with `{{name}}` placeholders: where a value may be placed, and how it is inserted. Pure.

A value may come from an agent, so it is data: it reaches the program as (part of) one argument, whatever it contains. A
shell text gets each value as a quoted word, a list gets it unchanged. That is safe only where the shell reads a plain
word and where the value does not select the program; elsewhere a placeholder is refused when the document is loaded.
`within` lists the keys that hold commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

VARIABLE = re.compile(r"\{\{\s*(\w[\w.-]*)\s*\}\}")
CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
"""Characters that no value may contain: control characters except tab and line feed, and unpaired surrogates."""

LONGEST = 4000
"""Maximum length of a command with placeholders; longer ones should be scripts."""

Path = tuple[str | int, ...]
Value = Callable[[str], Any]

_RESERVED = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_ASSIGNMENT = r"[A-Za-z_]\w*="
_STARTERS = r"builtin|command|doas|env|exec|ionice|nice|nohup|setsid|stdbuf|sudo|time|timeout|unbuffer|xargs"
"""Programs that run the program named in their arguments. Patterns are texts here, compiled when they are needed:
runners import this, and most of them fill nothing in."""
_STARTERS_OWN = r"-.*|[A-Za-z_]\w*=.*|[\d.]+[smhd]?"
_EVALUATORS = r"\.|alias|eval|expect|let|make|parallel|read|source|ssh|su|trap|unset|watch"
"""Programs that treat any argument as a command, or as an expression that may run one."""
_CODE_FOLLOWS = r"-\w*c"
_RUNS_ANYTHING = r"expect|make|parallel|ssh|su|watch"
"""The evaluators that can be started by another program."""
_DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
"""Builtins that may get a value, but not a name that comes from one."""
_INTERPRETERS = (
    r"(?:a|ba|da|fi|k|mk|pwsh|tc|z|c)?sh|busybox|python[\d.]*|perl[\d.]*|ruby[\d.]*|node(?:js)?|deno|bun|php[\d.]*|lua[\d.]*"
    r"|[gmn]?awk|g?sed|tclsh|osascript"
)
"""Programs whose first operand is a program: it must be written out."""
_BEFORE, _AFTER = r"[\w./=-]*", re.compile(r"[\w./\s;-]|\Z")
_NUMBER = r"-\d+(?:\.\d+)?"


class Unfit(Exception):
    """A value that cannot be filled into a command; `str()` says which and why."""


class _Hole(NamedTuple):
    """A placeholder of a command: its position in the text, and its context."""

    start: int
    end: int
    name: str
    among_words: bool = False
    """Nothing beside it gives a value without special characters a meaning, as in `{{n}}>file` or `~{{name}}`."""
    begins: bool = False
    """Whether it is the beginning of an argument."""
    after_options: bool = False
    """Whether `--` precedes it, so that it cannot be read as an option."""


class _Misplaced(Exception):
    pass


def within(section: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Every command of a subtask (or of a script's task), with its path."""
    if section.get("run") is not None:
        yield ("run",), section["run"]
    context = section.get("context")
    if isinstance(context, Mapping) and context.get("command") is not None:
        yield ("context", "command"), context["command"]
    checks = section.get("acceptance")
    for number, check in enumerate(checks if isinstance(checks, Sequence) else ()):
        if isinstance(check, Mapping) and check.get("command") is not None:
            yield ("acceptance", number, "command"), check["command"]


def problem(command: Any) -> str | None:
    """What is wrong with a command template; None if it can be filled."""
    try:
        if len(str(command)) > LONGEST and (told := _too_long(command)):
            return told
        if isinstance(command, str):
            _holes(command)
        elif isinstance(command, list) and command and all(isinstance(each, str) for each in command):
            for number, each in enumerate(command):
                _holes_of_argument(each, command[:number])
        else:
            return "a command must be a text for the shell, or a list of texts: the program and its arguments"
    except _Misplaced as wrong:
        return str(wrong)
    return None


def _too_long(command: Any) -> str | None:
    from toryo import argument_limits  # runners fill many short commands in, and pay for each module

    size = argument_limits.too_long(command)
    most = argument_limits.LONGEST
    return None if size is None else f"it has {size} bytes, and a program takes {most} in one argument: use a script"


def fill(command: Any, value: Value) -> str | list[str]:
    """The command with every value in its place; raises Unfit."""
    wrong = problem(command)
    if wrong is not None:
        raise Unfit(wrong)
    if isinstance(command, str):
        return _put(command, _holes(command), value, _quoted)
    return [_put(each, _holes_of_argument(each, command[:n]), value, _as_it_is) for n, each in enumerate(command)]


def _put(text: str, holes: Sequence[_Hole], value: Value, write: Callable[[_Hole, str], str]) -> str:
    parts, at = [], 0
    for hole in holes:
        parts += [text[at : hole.start], write(hole, _text(hole, value(hole.name)))]
        at = hole.end
    return "".join([*parts, text[at:]])


def _quoted(hole: _Hole, text: str) -> str:
    quoted = shlex.quote(text)
    return quoted if hole.among_words or quoted != text else f"'{text}'"


def _as_it_is(_: _Hole, text: str) -> str:
    return text


def _text(hole: _Hole, value: Any) -> str:
    """The value as the text of an argument."""
    if isinstance(value, (list, Mapping)):
        kind = "a list" if isinstance(value, list) else "a mapping"
        raise Unfit(
            f"{{{{{hole.name}}}}} is {kind}, but a command takes a single value. Use for_each, or a part of it."
        )
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    if re.search(CONTROL, text):
        raise Unfit(f"The value of {{{{{hole.name}}}}} contains control characters: {text[:80]!r}.")
    if hole.begins and not hole.after_options and text.startswith("-") and not re.fullmatch(_NUMBER, text):
        raise Unfit(
            f"The value of {{{{{hole.name}}}}} begins with a hyphen, which programs read as an option: "
            f"{text[:80]!r}. Use another value. If the program supports it, write -- before the placeholder."
        )
    return text


# --- where the placeholders of a text stand ---------------------------------------------------------------------------


def _holes_of_argument(text: str, before: Sequence[str]) -> list[_Hole]:
    """The placeholders of one list argument."""
    found = []
    for each in VARIABLE.finditer(text):
        _refuse_running(each[0], before, text[: each.start()])
        begins = each.start() == 0
        found.append(_Hole(each.start(), each.end(), each[1], begins=begins, after_options="--" in before))
    return found


def _holes(text: str) -> list[_Hole]:
    """The placeholders of a shell text; raises _Misplaced. A text without placeholders is not parsed."""
    if not VARIABLE.search(text):
        return []
    if len(text) > LONGEST:
        raise _Misplaced(f"a command with {{{{…}}}} can have {LONGEST} characters at most: move it into a script")
    return _Shell(text).holes()


_WHOLE: Mapping[str, tuple[str, str]] = {
    "'": ("single quotes", r"'[^']*'"),
    '"': ("double quotes", r'"(?:[^"\\`$]|\\(?s:.)|\$(?![({\[])|\$\{\w+\})*"'),
    "$": ("a substitution", r"\$(?=\((?!\())|\$\{#?\w+\}|\$(?![({\['\"])"),
    "\\": ("a backslash", r"\\(?!\{\{)(?s:.)"),
    "`": ("a backquote", r"(?!)"),
}
"""What the shell reads as a unit, by its first character, in its simple forms."""


class _Shell:
    """Parses a text like a POSIX shell, in its simple forms; refuses everything else.

    Refused on purpose, although parts of it could be parsed: here documents, backquotes, arithmetic, and substitutions
    within double quotes. The simple forms mean the same in every shell that may be /bin/sh.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._word: str | None = None
        self._words: list[str] = []
        """The words of the current simple command, without redirections."""
        self._outer: list[list[str]] = []
        self._redirected = False

    def holes(self) -> list[_Hole]:
        found = []
        while self._at < len(self._text):
            hole = VARIABLE.match(self._text, self._at)
            if hole is not None:
                found.append(self._hole(hole))
            else:
                self._plain(self._text[self._at])
        return found

    def _hole(self, found: re.Match[str]) -> _Hole:
        word = self._word or ""
        if word.endswith("$"):
            raise _Misplaced(f"remove the $ before {found[0]}")
        if self._words or not self._redirected:
            _refuse_running(found[0], self._words, word)
        begins = self._word is None and not self._redirected
        among_words = bool(re.fullmatch(_BEFORE, word)) and bool(_AFTER.match(self._text, found.end()))
        self._word, self._at = word + found[0], found.end()
        return _Hole(found.start(), found.end(), found[1], among_words, begins, "--" in self._words)

    def _plain(self, char: str) -> None:
        if char in " \t":
            self._end_word()
            self._at += 1
        elif self._text.startswith("\\\n", self._at):
            self._at += 2
        elif char in "\n;|&()":
            self._operator(char)
        elif char in "<>":
            self._redirection()
        elif char == "#" and self._word is None:
            self._skip_comment()
        elif char in _WHOLE:
            self._take(*_WHOLE[char])
        else:
            self._word, self._at = (self._word or "") + char, self._at + 1

    def _take(self, what: str, pattern: str) -> None:
        """Reads a unit of the shell's syntax in which no value may be placed."""
        found = re.compile(pattern).match(self._text, self._at)
        if found is None:
            raise _Misplaced(
                f"a command with {{{{…}}}} must be simple, but it contains {what}: "
                f"{self._text[self._at :][:40]!r}. Move that into a script, and pass the values to the script as "
                "arguments"
            )
        inside = VARIABLE.search(found[0])
        if inside is not None:
            raise _Misplaced(f"{inside[0]} is inside {what}: values are quoted automatically, so write it outside")
        self._word, self._at = (self._word or "") + found[0], found.end()

    def _skip_comment(self) -> None:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        inside = VARIABLE.search(self._text, self._at, end)
        if inside is not None:
            raise _Misplaced(f"{inside[0]} is in a comment: remove it")
        self._at = end

    def _operator(self, char: str) -> None:
        self._end_word()
        if self._text.startswith("((", self._at):
            raise _Misplaced("a command with {{…}} cannot contain arithmetic: move it into a script")
        if char == "(":
            self._outer.append(self._words)
            self._words = []
        elif char == ")":
            self._words = [*self._outer.pop(), "$()"] if self._outer else []
        else:
            self._words = []
        self._at += 1

    def _redirection(self) -> None:
        if self._text.startswith("<<", self._at):
            raise _Misplaced(
                "a command with {{…}} cannot contain a here document: move it into a script, or use printf "
                "'%s\\n' {{…}}"
            )
        if self._word is not None and self._word.isdecimal():
            self._word = None
        self._end_word()
        while self._text[self._at : self._at + 1] in ("<", ">", "&", "|"):
            self._at += 1
        self._redirected = True

    def _end_word(self) -> None:
        if self._word is None:
            return
        if self._word == "[[":
            raise _Misplaced("a command with {{…}} cannot contain [[ …: write [ … ]")
        if not self._redirected:
            self._words.append(self._word)
        self._word, self._redirected = None, False


def _refuse_running(hole: str, words: Sequence[str], prefix: str) -> None:
    """Refuses a value that would select the program. `words` precede it, `prefix` is in the same word."""
    rest, starts = list(words), any(re.fullmatch(_STARTERS, _named(word)) for word in words)
    while rest and (rest[0] in _RESERVED or re.match(_ASSIGNMENT, rest[0]) or re.fullmatch(_STARTERS, _named(rest[0]))):
        starter = re.fullmatch(_STARTERS, _named(rest.pop(0)))
        while starter and rest and re.fullmatch(_STARTERS_OWN, rest[0]):
            rest.pop(0)
    if not rest and not re.match(_ASSIGNMENT, prefix):
        raise _Misplaced(f"{hole} would choose the program to run: write the name of the program instead")
    program = _named(rest[0]) if rest else ""
    inner = next((_named(each) for each in rest if re.fullmatch(_RUNS_ANYTHING, _named(each))), "") if starts else ""
    evaluates = re.fullmatch(_EVALUATORS, program) or (program in _DECLARING and not re.match(_ASSIGNMENT, prefix))
    if evaluates or inner:
        raise _Misplaced(
            f"{hole} is passed to {program if evaluates else inner}, which would run it as a command: write a "
            "script that checks the value, and pass the value as an argument"
        )
    found = _interpreter(words)
    if found:
        raise _Misplaced(
            f"{hole} would become part of a command that {found} runs: write a script, and pass the value as an "
            "argument"
        )


def _interpreter(words: Sequence[str]) -> str:
    """The interpreter that would run the next word as a program, whatever starts it and with which options."""
    for at in range(len(words) - 1, -1, -1):
        if re.fullmatch(_INTERPRETERS, _named(words[at])):
            return "" if _is_name_of_script(words, at) else _named(words[at])
        if not words[at].startswith("-"):
            break
    return ""


def _is_name_of_script(words: Sequence[str], at: int) -> bool:
    """Whether the word is `$0` of an inline script before it: `sh -c 'echo "$1"' sh {{x}}`."""
    if at < 3 or not re.fullmatch(_CODE_FOLLOWS, words[at - 2]):
        return False
    return _interpreter(words[: at - 1]) != ""


def _named(word: str) -> str:
    """The name of the program that a word refers to."""
    return word.strip("'\"").lstrip("\\").rpartition("/")[2]
