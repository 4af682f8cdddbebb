"""Commands from declarations: which parameters of an operation a command sends, and the option that sets each.

A command that only passes on is declared whole (`Passing`); `sends` gives a command that does more the body of its
request. What an operation takes is declared at the server, which takes too long to load here: a test compares the two.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Any, get_args

import typer
from typer.models import ParameterInfo

from toryo.cli import output, project_lookup
from toryo.cli.clearing import option_of
from toryo.cli.command_context import Here, command

Command = Callable[..., None]
Print = Callable[[Mapping[str, Any]], None]
SENT: list[tuple[str, Mapping[str, Any]]] = []
"""Of each declaration that was loaded: the operation, or method and path, and its parameters."""


class Read:
    """A parameter that a function reads from one option or several."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function, self.options = function, options


def sends(operation: str, **parameters: Any) -> Callable[[Command], Command]:
    """The command has an option for each parameter, at the place of its own parameter `body`, in which it gets those
    that were given. An option without a type is an optional text; one with a default is a pair."""
    SENT.append((operation, parameters))
    return lambda function: _taking(function, parameters)


def _taking(function: Command, parameters: Mapping[str, Any]) -> Command:
    reads = {name: each if isinstance(each, Read) else _as_typed(name, each) for name, each in parameters.items()}

    def run(here: Here, /, **values: Any) -> None:
        body = {name: each.function(*map(values.pop, each.options)) for name, each in reads.items()}
        function(here, **values, body={name: value for name, value in body.items() if value is not None})

    here, *own = inspect.signature(function, eval_str=True).parameters.values()
    at = [each.name for each in own].index("body")
    own[at : at + 1] = [_option(*each) for read in reads.values() for each in read.options.items()]
    whole = [here, *(each.replace(kind=each.KEYWORD_ONLY) for each in own)]
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__signature__ = inspect.Signature(whole)  # type: ignore[attr-defined]
    return run


def _as_typed(name: str, option: Any) -> Read:
    return Read(lambda value: value, **{option_of(name): option})


def _option(name: str, declared: Any) -> inspect.Parameter:
    """What was not given is None, a flag too."""
    annotation, *default = declared if isinstance(declared, tuple) else (declared,)
    if isinstance(annotation, ParameterInfo):
        annotation = Annotated[str | None, annotation]
    if not default and (annotation.__origin__ is bool or NoneType in get_args(annotation.__origin__)):
        default = [None]
    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    return parameter.replace(default=default[0]) if default else parameter


class Passing:
    """Commands of a group that send one request each, to the same path or below it, and print the answer with what was
    typed.

    A route is the method and what follows the path. A parameter that is no option is sent as it is; a project that is
    not given is the only one.
    """

    def __init__(self, group: typer.Typer, path: str, **parameters: Any) -> None:
        self._group, self._path, self._parameters = group, path, parameters

    def says(self, name: str, route: str, help: str, sentence: str, /, **parameters: Any) -> None:
        """A command that prints one sentence."""
        self._add(name, route, help, lambda answer: output.done(sentence.format_map(answer)), parameters)

    def prints(self, name: str, route: str, /, **parameters: Any) -> Callable[[Print], Print]:
        """A command that prints what the function does; its docstring is the help."""

        def add(function: Print) -> Print:
            self._add(name, route, function.__doc__, function, parameters)
            return function

        return add

    def _add(self, name: str, route: str, help: str | None, show: Print, more: Mapping[str, Any]) -> None:
        method, _, below = route.partition(" ")
        path, parameters = self._path + below, {**self._parameters, **more}
        typed = {name: each for name, each in parameters.items() if _is_typed(each)}

        def run(here: Here, body: dict[str, Any]) -> None:
            given = {**parameters, **dict.fromkeys(typed), **body}
            if "{project_id}" in path and given["project_id"] is None:
                given["project_id"] = project_lookup.only(here)
            at, rest = path.format_map(given), {name: each for name, each in given.items() if f"{{{name}}}" not in path}
            answer = here.get(at, **rest) if method == "GET" else here.send(method, at, rest)
            here.answer(answer, lambda: show(ChainMap(given, answer)))

        SENT.append((f"{method} {path}", parameters))
        run.__doc__ = help
        command(self._group, name)(_taking(run, typed))


def _is_typed(parameter: Any) -> bool:
    return isinstance(parameter, Read | ParameterInfo | tuple) or hasattr(parameter, "__metadata__")
