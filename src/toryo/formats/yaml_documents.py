"""YAML documents written by people, validated so that each mistake names its line and the nearest valid key.

Used for the Coordinator's file, playbooks and scripts, which define their content as pydantic models.
"""

from __future__ import annotations

import math
import pathlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from toryo import untrusted_files, wrong_values
from toryo.formats import command_templates
from toryo.nearest import nearest

MOST_NODES = 50_000
"""Maximum number of keys and values of a document, with aliases expanded."""
DEEPEST = 50
LONGEST_NUMBER = 100
"""Maximum length of a number or date."""
PARSED_WITHIN = 20.0
"""Time limit in seconds."""
MOST_NAMED = 100
"""Maximum number of names in a hint."""
MOST_MISTAKES = 20
"""Validation stops after this many mistakes; fixing these reveals the rest."""

Path = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
_UNION_MARK = re.compile(r"[\[\]()]|^(str|int|list|dict)$")


@dataclass(frozen=True, slots=True)
class Mistake:
    """`line` and `column` count from 1; None if the document was not text."""

    message: str
    line: int | None = None
    column: int | None = None

    def told(self, source: str) -> str:
        place = "".join(f":{each}" for each in (self.line, self.column) if each is not None)
        return f"{source}{place}: {self.message}"


class Mistakes(Exception):
    """The mistakes of a document, one line of text each: `file.yaml:7: …`."""

    def __init__(self, source: str, found: list[Mistake]) -> None:
        ordered = sorted(found, key=lambda each: each.line or 0)
        super().__init__("\n".join(mistake.told(source) for mistake in ordered))
        self.source = source
        self.found = ordered


@dataclass
class Document:
    """The data of a text (or data read elsewhere), with line numbers."""

    data: Any
    source: str
    lines: dict[Path, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    blocks: dict[Path, int] = field(default_factory=dict)
    """Texts that are written as a literal block (`|`): the line before their first."""

    def line(self, path: Path) -> int | None:
        """The line of the path, or of its nearest parent with a known line."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def inside(self, key: str) -> Document:
        """The value of a key as a document of its own, with its lines."""
        return Document(self.data[key], self.source, self.lines_below((key,)))

    def lines_below(self, path: Path) -> dict[Path, int]:
        """The lines of all paths below a path, relative to it."""
        return {each[len(path) :]: line for each, line in self.lines.items() if each[: len(path)] == path}

    def mistake(self, path: Path, message: str) -> None:
        """Records a mistake; raises Mistakes when there are enough."""
        self.add(Mistake(message, self.line(path)))

    def add(self, mistake: Mistake) -> None:
        self.mistakes.append(mistake)
        if len(self.mistakes) >= MOST_MISTAKES:
            self.fail_if_mistaken()

    def fail_if_mistaken(self) -> None:
        if self.mistakes:
            raise Mistakes(self.source, self.mistakes)


def read(text: str, source: str, above: int | None = 0) -> Document:
    """Parses a YAML text; raises Mistakes if it is invalid, too expensive, or has a duplicate key.

    `above`: how many lines of the source precede the text; None if its lines are not those of the source.
    """
    if len(text) > untrusted_files.LARGEST:
        raise Mistakes(source, [Mistake(f"this is longer than {untrusted_files.LARGEST / 1e6:g} million characters")])
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except yaml.YAMLError as wrong:
        raise Mistakes(source, [_no_yaml(wrong, text, above)]) from wrong
    finally:
        if loader is not None:
            loader.dispose()
    document = Document(data, source)
    if root is not None:
        _note_lines(document, root, (), above or 0)
    if above is None:
        document.lines.clear()
        document.mistakes = [Mistake(mistake.message) for mistake in document.mistakes]
    return document


FileText = Callable[[str], str]
"""The text of a file of the project, by its path. Raises Mistakes."""


def of_option(
    value: Any,
    option: str,
    is_path: Callable[[Any], bool],
    directory: pathlib.Path | FileText,
    within: Document | None = None,
    at: Path = (),
) -> Document:
    """What an agent is given to follow: data, YAML, or the path of a file in the project's directory.

    `within`, `at`: the document where it is written, if that is known, and where in it. Raises Mistakes.
    """
    source = f"provider_options.{option}" if within is None else within.source
    if isinstance(value, Mapping):
        return Document(deepcopy(dict(value)), source, {} if within is None else within.lines_below(at))
    if not isinstance(value, str) or not value.strip():
        words = (
            f"the {option} is missing: write it here as YAML, or enter the path of a file in the project's directory"
        )
        raise Mistakes(source, [Mistake(words, None if within is None else within.line(at))])
    if is_path(value):
        text = text_of(value.strip(), directory) if isinstance(directory, pathlib.Path) else directory(value.strip())
        return read(text, value.strip())
    return read(value, source, 0 if within is None else within.blocks.get(at))


_judged_until: ContextVar[float] = ContextVar("judged_until", default=math.inf)


@contextmanager
def judged_until(moment: float) -> Iterator[None]:
    """Within the block, patterns are refused after this `time.monotonic()`: each may take a second to compile."""
    before = _judged_until.set(moment)
    try:
        yield
    finally:
        _judged_until.reset(before)


def regular(pattern: str, *, or_glob: bool = False) -> str:
    """The pattern, if it is a regular expression (`or_glob`: or a glob, such as *.txt). Raises ValueError."""
    if time.monotonic() > _judged_until.get():
        raise ValueError("checking the patterns of this plan takes too long: use fewer or simpler ones")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as wrong:
        if not (or_glob and _is_glob(pattern)):
            raise ValueError(
                f"this is not a valid regular expression: {wrong}; write \\ before a character that stands for itself,"
                " such as ( [ + *"
            ) from None
    return pattern


def _is_glob(pattern: str) -> bool:
    """Whether it was meant as a glob: its only mistake is a * or ? without an operand."""
    try:
        re.compile(pattern.replace("*", ".*").replace("?", "."))
    except (re.error, OverflowError, RecursionError):
        return False
    return not re.search(r"\\|\(\?", pattern)


def text_of(name: str, directory: pathlib.Path) -> str:
    """The text of a file in that directory; raises Mistakes if it is outside or unreadable."""
    try:
        return untrusted_files.text(directory / name, beneath=directory)
    except OSError as problem:
        raise Mistakes(name, [Mistake(f"{problem.strerror} (looked in {directory})")]) from problem


def of_file(path: pathlib.Path) -> Document:
    """The document of a file that a person named; raises Mistakes, also if it is unreadable."""
    try:
        text = untrusted_files.text(path)
    except OSError as problem:
        raise Mistakes(str(path), [Mistake(problem.strerror or str(problem))]) from problem
    return read(text, str(path))


def checked(document: Document, model: type[Model]) -> Model:
    """The document as the model; raises Mistakes with every mistake found."""
    try:
        value = model.model_validate(document.data if document.data is not None else {})
    except ValidationError as wrong:
        for error in wrong.errors():
            path = _path(error["loc"])
            document.mistake(path, f"{place(path)}{_words(error, model, path)}")
        raise Mistakes(document.source, document.mistakes) from wrong
    document.fail_if_mistaken()
    return value


def with_environment(document: Document, environ: Mapping[str, str]) -> None:
    """Replaces `${NAME}` in every text; a name that is not set, or empty, is a mistake."""
    document.data = _replaced(document, document.data, (), environ)


def every_text(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a nest of lists and mappings, with where it stands."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from every_text(value, (*path, str(key)))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from every_text(value, (*path, number))


def check_commands(document: Document, section: Mapping[str, Any], path: Path) -> None:
    """Notes every command in a section whose `{{…}}` could not be filled in safely."""
    for within, command in command_templates.within(section):
        wrong = command_templates.problem(command)
        if wrong is not None:
            document.mistake((*path, *within), f"{place((*path, *within))}{wrong}")


def hint(name: str, valid: list[str]) -> str:
    """A hint for somebody who mistyped a name."""
    valid = list({each.casefold(): each for each in valid}.values())  # a name and the id made of it are one
    some = valid[:MOST_NAMED]
    found = nearest(name, some)
    more = ", …" if len(valid) > len(some) else "."
    return f"did you mean {found}?" if found else f"valid are: {', '.join(some)}{more}"


def place(path: Path) -> str:
    """`tasks[0].subtasks[1].title: `, to stand before what is wrong there."""
    text = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).lstrip(".")
    return f"{text}: " if text else ""


class _Loader(yaml.SafeLoader):
    """Plain YAML of bounded size and depth. An alias counts as what it stands for, wherever it stands."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._until = time.monotonic() + PARSED_WITHIN
        self._depth = self._nodes = self._characters = 0
        self._anchored: dict[str, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._nodes, self._characters
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self._anchored:
                raise _refused(event, "this contains itself")
            self._count(event, *self._anchored.get(str(event.anchor), (1, 0)))
            return super().compose_node(parent, index)
        self._depth += 1
        self._count(event, 1, len(event.value) if isinstance(event, yaml.ScalarEvent) else 0)
        if self._depth > DEEPEST:
            raise _refused(event, f"this is nested more than {DEEPEST} levels deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self._anchored[event.anchor] = self._nodes - before[0], self._characters - before[1]
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A date or number that is none is a mistake like any other."""
        kind = node.tag.rpartition(":")[2]
        if kind == "binary":
            raise _refused(node, "binary data cannot be used here: write it as a text")
        try:
            if kind in ("int", "float", "timestamp") and len(node.value) > LONGEST_NUMBER:
                raise ValueError
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise _refused(
                node, f"{str(node.value)[:40]!r} is not a valid {kind}: put it in quotes if it is text"
            ) from None

    def _count(self, where: Any, nodes: int, characters: int) -> None:
        self._nodes += nodes
        self._characters += characters
        if self._nodes > MOST_NODES or self._characters > untrusted_files.LARGEST:
            raise _refused(where, "this is too large once its aliases (*name) are expanded")
        if time.monotonic() > self._until:
            raise _refused(where, "reading this takes too long")


def _refused(where: Any, words: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=words, problem_mark=where.start_mark)


def _no_yaml(wrong: yaml.YAMLError, text: str, above: int | None) -> Mistake:
    """What the parser found, in words for the author of the text, at the place to fix."""
    if not isinstance(wrong, yaml.MarkedYAMLError):
        return Mistake("not valid YAML: it contains control characters")
    problem, mark = str(wrong.problem), wrong.problem_mark
    words = next((each for pattern, each in _IN_PLAIN_WORDS if re.search(pattern, problem)), problem)
    if mark is not None and "{shown}" in words:
        words = words.replace("{shown}", repr(text.split("\n")[mark.line].strip()[:40]))
    if wrong.context_mark is not None:
        words = words.replace("{opens}", str(wrong.context_mark.line + 1 + (above or 0)))
    if wrong.context_mark is not None and re.search(r"unexpected end|'<stream end>'", problem):
        mark = wrong.context_mark  # where it begins, not the end of the file
    if above is None or mark is None:
        return Mistake(f"not valid YAML: {words}")
    return Mistake(f"not valid YAML: {words}", mark.line + 1 + above, mark.column + 1)


_IN_PLAIN_WORDS = (
    (r"mapping values are not allowed", "a colon is not expected here: check the indentation, or quote the text"),
    (r"found character '\\t'", "a tab is not allowed here: indent with spaces"),
    (r"found character .* that cannot start", "a value cannot begin with this character: put the text in quotes"),
    (r"expected ',' or '\]'", "the list that starts with [ on line {opens} is not closed: a comma or ] is missing"),
    (r"expected ',' or '\}'", "the mapping that starts with { on line {opens} is not closed: a comma or } is missing"),
    (
        r"expected <block end>",
        "this does not fit the lines above it: check the indentation of {shown} and the quotes around it",
    ),
    (
        r"could not find expected ':'",
        "a colon is missing after this key; for text of several lines, write | after the colon",
    ),
    (r"unexpected end of stream", "this quotation mark is never closed"),
    (r"unexpected document separator", "a text in quotes is not closed before ---"),
    (r"found undefined alias", "there is no anchor (&) with this name: put a text that begins with * in quotes"),
    (r"unhashable key", "a key cannot be a list or a mapping: put {{…}} in quotes"),
    (r"unknown escape character", "inside \"…\", write two backslashes: \\\\, or use '…' instead"),
    (r"constructor for the tag", "words that begin with ! are not supported: put the text in quotes"),
    (r"found another document|but found another", "a second document begins here (---): a file can have only one"),
    (r"sequence entries are not allowed", "a list cannot begin here: put its first - on the next line"),
    (r"expected the node content", "a value is missing, or begins with a character that needs quotes"),
    (r"second occurrence", "the anchor &NAME is already used above"),
    (r"chomping or indentation", "after | or >, the text must begin on the next line"),
    (r"expected '<document start>'", "this is outside the document: remove the line above it"),
    (r"found '<stream end>'", "this is not closed before the end of the file"),
)
"""By what the parser says. The mistakes that this module finds itself are in plain words already."""


def _note_lines(document: Document, node: yaml.Node, path: Path, above: int) -> None:
    line = node.start_mark.line + 1 + above
    document.lines.setdefault(path, line)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner, line = (*path, str(key.value)), key.start_mark.line + 1 + above
            if inner in document.lines:
                document.mistakes.append(Mistake(f"{key.value} is set twice", line))
            document.lines[inner] = line
            _note_lines(document, value, inner, above)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _note_lines(document, value, (*path, number), above)
    elif isinstance(node, yaml.ScalarNode) and node.style == "|":
        document.blocks[path] = line


def _replaced(document: Document, data: Any, path: Path, environ: Mapping[str, str]) -> Any:
    if isinstance(data, str):
        return _substitute(
            data, environ, lambda name: document.mistake(path, f"{name} is not set in the environment, or empty")
        )
    if isinstance(data, dict):
        return {key: _replaced(document, value, (*path, str(key)), environ) for key, value in data.items()}
    if isinstance(data, list):
        return [_replaced(document, value, (*path, number), environ) for number, value in enumerate(data)]
    return data


def _substitute(text: str, environ: Mapping[str, str], missing: Callable[[str], None]) -> str:
    def value(found: re.Match[str]) -> str:
        if not environ.get(found[1]):
            missing(found[1])
        return environ.get(found[1], "")

    return re.sub(r"\$\{(\w+)\}", value, text)


def _path(location: tuple[int | str, ...]) -> Path:
    """Without the marks pydantic adds for the members of a union."""
    return tuple(each for each in location if isinstance(each, int) or not _UNION_MARK.search(each))


def _words(error: Any, model: type[BaseModel], path: Path) -> str:
    if error["type"] == "extra_forbidden":
        return f"there is no such key; {hint(str(path[-1]), _keys(model, path[:-1]))}"
    message = wrong_values.in_words(error)
    if error["type"] == "list_type" and isinstance(error["input"], str):
        message += f", such as [{error['input'][:40]}]"
    return message[:1].lower() + message[1:]


def _keys(model: type[BaseModel], path: Path) -> list[str]:
    """The valid keys of the mapping at a path of the model."""
    for each in path:
        known = model.model_fields.get(each) if isinstance(each, str) else None
        model = (_model_in(known.annotation) if known is not None else None) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model an annotation speaks of: itself, or the one inside `list[…]`, `dict[…]`, `… | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for each in getattr(annotation, "__args__", ()):
        found = _model_in(each)
        if found is not None:
            return found
    return None
