"""What every command gets: the common options, a client of the server, and the output of answers.

A command is a function whose first parameter is a `Here`; `command` adds --data-dir, --server, --token, --token-file
and --json, so that they work before or after the command's name. Independent of any particular command.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

import typer

from toryo.cli import task_lookup, waiting
from toryo.cli.exit_codes import Misuse, ServerAway

if TYPE_CHECKING:
    from toryo.client import Client

MOST_A_PAGE = 1_000
NULL = object()
"""In the body of a request: the value is removed."""


def option(metavar: str, help: str, *names: str, complete: Callable[..., Any] | None = None, **more: Any) -> Any:
    """An option, called as its parameter is (`depends_on`: `--depends-on`) where no names are given. `metavar` stands
    for its value in the help."""
    return typer.Option(*names, metavar=metavar, help=help, autocompletion=complete, **more)


def flag(help: str, *names: str) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=help)


def argument(metavar: str, help: str, *, complete: Callable[..., Any] | None = None, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete, **more)


DataDir = Annotated[
    Path | None,
    option(
        "DIR",
        "The server's data directory (default: that of the project here or above, otherwise your own).",
        envvar="TORYO_DATA_DIR",
    ),
]
Server = Annotated[
    str | None,
    option(
        "URL", "The server's address (default: the one that runs from the data directory).", envvar="TORYO_SERVER_URL"
    ),
]
T = TypeVar("T")
Token = Annotated[
    str | None,
    option(
        "TOKEN",
        "Your token (default: the one in the data directory). Other users of this machine can read it here:"
        " prefer --token-file or TORYO_TOKEN.",
        envvar="TORYO_TOKEN",
    ),
]
TokenFile = Annotated[Path | None, option("FILE", "A file that contains your token; - reads it from stdin.")]
Json = Annotated[bool, flag("Print one JSON document on stdout and nothing else there.", "--json")]
PRIVATE_NETWORK = "TORYO_PRIVATE_NETWORK"
"""The environment variable that says: the way to the server is encrypted by other means."""
_NOT_SIGNED_IN = frozenset({"authenticationRequired", "invalidCredentials"})
STARTS_WITHIN_SECONDS = 10
"""How long a command waits for a server that is just starting."""
_OPTIONS: dict[str, Any] = {
    "data_dir": DataDir,
    "server": Server,
    "token": Token,
    "token_file": TokenFile,
    "json": Json,
}


@dataclass
class Here:
    """The context of a command: server, identity, and output format."""

    data_dir: Path | None = None
    server: str | None = None
    token: str | None = None
    token_file: Path | None = None
    json: bool = False
    starts_within_seconds: float = STARTS_WITHIN_SECONDS
    """How long a server that is starting is waited for."""
    followed_by: str | None = None
    """The subcommand that comes after this one, for a command that may also stand alone."""

    @cached_property
    def client(self) -> Client:
        """Made when first asked for: a person's client for the server that is named, or that left its address."""
        from toryo.client import Client, server_discovery

        try:
            with waiting.notice("the server, which is starting"):
                found = server_discovery.find(
                    self.server, self.token, self.data_dir, role="owner", wait_seconds=self.starts_within_seconds
                )
            return Client(found.url, found.token)
        except ValueError as error:
            raise Misuse(str(error), "See --server and TORYO_SERVER_URL.") from None

    def look_again(self) -> None:
        """The server was away: it may come back at another address."""
        self.__dict__.pop("client", None)

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        return self._asked("GET", path, params=params)

    def every(self, path: str, key: str, **params: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        found: list[dict[str, Any]] = []
        answer: dict[str, Any] = {"next_cursor": None}
        while "next_cursor" in answer:
            answer = self.get(path, **params, limit=MOST_A_PAGE, cursor=answer["next_cursor"])
            found += answer[key]
        return found

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What is None in the body was not said, and is not sent. `NULL` is sent as null."""
        from orjson import JSONEncodeError

        said = {key: None if each is NULL else each for key, each in (body or {}).items() if each is not None}
        try:
            return self._asked(method, path, json=said)
        except JSONEncodeError:
            raise Misuse("The message is not valid UTF-8.", "Encode the message as UTF-8.") from None

    def file(self, path: str) -> bytes:
        """The bytes at a path that answers with a file."""
        return self._answered(lambda client: client.file(_quoted(path)))

    def _asked(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        waits = more.get("params", {}).get("wait_seconds") or 0
        return self._answered(lambda client: client.rest(method, _quoted(path), **more), waits)

    def _answered(self, ask: Callable[[Client], T], waits: float = 0) -> T:
        """A server that does not know what is asked for may be the wrong one, so the refusal says which one it was."""
        from toryo.client import ProtocolError, RefusalError, Unreachable

        try:
            client = self.client
            with waiting.notice(f"an answer from {client.address}", waits):
                return ask(client)
        except ProtocolError as error:
            raise ServerAway(
                f"{self.client.address}: {error}", "Set the address of a Toryo server with --server."
            ) from None
        except Unreachable as away:
            if "client" not in self.__dict__ or str(self.client.address) in str(away):
                raise
            raise Unreachable(f"{self.client.address}: {away}", sent=away.sent) from None
        except RefusalError as error:
            if error.code in _NOT_SIGNED_IN and "TORYO_LAUNCH_CREDENTIAL" not in os.environ:
                error.instruction = f"{self._where_tokens_come_from()}{self._asked_where()}"
            if error.code.endswith("NotFound"):
                error.instruction = f"{error.instruction}{self._asked_where()}".strip()
            raise

    def _asked_where(self) -> str:
        """Of the server that runs here it goes without saying."""
        return f" (Server: {self.client.address})" if self.server or not self.client.address.local else ""

    def _where_tokens_come_from(self) -> str:
        made = "an owner can create one: toryo token person add NAME"
        if self.client.token is None:
            return f"No token was given. Pass one with --token-file FILE or TORYO_TOKEN; {made}."
        if not (self.token or os.environ.get("TORYO_TOKEN")):  # it is that of the data directory
            return (
                f"This server does not accept the token in the data directory. Pass your own with --token-file; {made}."
            )
        use = "Check --token, --token-file or TORYO_TOKEN"
        if self.client.address.local:
            use += ", or omit it to use the token in the server's data directory"
        return f"{use}; {made}."

    def read_token_file(self) -> None:
        """From here on `token` is what stands in the file, if one was named."""
        if self.token_file is None:
            return
        stdin = str(self.token_file) == "-"
        text = sys.stdin.read() if stdin else self.token_file.expanduser().read_text(errors="replace")
        self.token = text.strip()
        if len(self.token.split()) != 1 or not self.token.isascii():
            what = "stdin" if stdin else str(self.token_file)
            raise Misuse(f"{what} does not contain a token.", "It must contain exactly one token and nothing else.")

    def answer(self, document: Mapping[str, Any], show: Callable[[], None]) -> None:
        """The one result of a command: the document for scripts, or what `show` prints for people."""
        if self.json:
            from toryo.cli import output

            output.document(document)
        else:
            show()


def _quoted(path: str) -> str:
    """Ids are typed by people: a blank or a foreign letter in one must reach the server, which knows no such id."""
    return quote(path, safe="/%", errors="replace")


def command(
    app: typer.Typer, name: str | None = None, *, options: tuple[str, ...] = tuple(_OPTIONS), **settings: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers `function(here, …)` as a command with the options of everywhere, or those of them that are named."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        app.command(name, **settings)(taking(function, options))
        return function

    return register


_TASKS = frozenset({"task", "parent", "depends_on", "no_longer_on", "after_task", "before"})
"""Parameters of commands that name tasks: by id, title, or the end of an id."""


@contextmanager
def refused_as_typed(command: Any) -> Iterator[None]:
    """A refusal of the server names the parameters of its operations; here they have the names that were typed."""
    try:
        yield
    except Exception as refused:
        for mistake in getattr(refused, "data", {}).get("errors") or ():
            mistake["parameter"] = _typed(str(mistake["parameter"]), command)
        raise


def _typed(parameter: str, command: Any) -> str:
    """The option or argument of this command that sets a parameter; the parameter itself where none does."""
    from toryo.deeds import OPTION_OF

    first = re.split(r"[.\[]", parameter, maxsplit=1)[0]
    names = {first, first.removesuffix("_id"), OPTION_OF.get(first, first)}
    found = next((each for each in command.params if each.name.rstrip("_") in names), None)
    if found is None:
        return parameter
    option = max(found.opts, key=len)
    return option if option.startswith("-") else str(found.metavar or found.name.upper()).removesuffix("...")


def given_before(context: typer.Context, **values: Any) -> None:
    """Remembers what was said before the command's name: `toryo --json task list`."""
    context.obj = Here(**values)


def taking(function: Callable[..., None], options: tuple[str, ...] = tuple(_OPTIONS)) -> Callable[..., None]:
    """The function as Typer takes it: its own parameters after the first, and the options that are named."""

    def run(typed: typer.Context, **values: Any) -> None:
        said = {name: values.pop(name) for name in options}
        before = typed.obj if isinstance(typed.obj, Here) else Here()
        here = replace(before, **{name: value for name, value in said.items() if value})
        here.followed_by = typed.invoked_subcommand
        typed.obj = here
        if here.followed_by is None:
            here.read_token_file()
            warn_of_clear_text(here.server)
        for name in _TASKS & values.keys():
            given = values[name]
            if isinstance(given, str):
                values[name] = task_lookup.task(here, given)
            elif given:
                values[name] = [task_lookup.task(here, each) for each in given]
        with refused_as_typed(typed.command):
            function(here, **values)

    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    added = [_parameter(name) for name in options]
    typed = inspect.Parameter("typed", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [typed, *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own), *added]
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def warn_of_clear_text(server: str | None) -> None:
    """Anyone between this machine and a server that is spoken to without TLS can read the token and use it.

    Agents are not told: their Coordinator's operator has been. Nor is anybody whose network is private by other means
    (a VPN, an SSH tunnel) and who has said so.
    """
    if server is None or "TORYO_LAUNCH_CREDENTIAL" in os.environ or os.environ.get(PRIVATE_NETWORK):
        return
    from toryo.cli import output
    from toryo.client import server_address

    with suppress(ValueError):  # what is no address is refused where it is used
        if server_address.parse(server).in_clear:
            output.say(
                f"toryo: warning: the connection to {server} is not encrypted: others on the network can read "
                f"your token. Use https://, or set {PRIVATE_NETWORK}=1 if the network itself is encrypted (VPN)."
            )


def _parameter(name: str) -> inspect.Parameter:
    default = False if name == "json" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=_OPTIONS[name], default=default)
