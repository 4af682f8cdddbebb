"""Errors of commands: one line on stderr and an exit code.

0 done · 1 the thing asked for failed · 2 wrong usage or configuration · 3 the server cannot be reached · 4 refused ·
5 a person is needed · 130 interrupted. Every message says what is wrong and what to do; codes of refusals are for
scripts (`--json`: `error`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toryo import wrong_values
from toryo.data_directory_trust import Untrusted
from toryo.nearest import nearest

DONE, FAILED, MISUSED, UNREACHABLE, REFUSED, PERSON_NEEDED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class Failure(Exception):
    """What went wrong and what to do; `exit_code` tells scripts which kind of error it was."""

    exit_code = FAILED

    def __init__(self, what: str, instruction: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.instruction = instruction
        self.details = details or {}

    def sentence(self) -> str:
        """What is wrong and what to do, ready to be read."""
        end = "" if self.what.endswith((".", "!", "?")) else "."
        return f"{self.what}{end} {self.instruction}".rstrip()

    def answer(self) -> dict[str, Any]:
        return {**self.details, "success": False, "message": self.what, "instruction": self.instruction}


class Misuse(Failure):
    """Wrong usage or a wrong configuration."""

    exit_code = MISUSED


class ServerAway(Failure):
    """There is no server, or it does not answer."""

    exit_code = UNREACHABLE


class Refused(Failure):
    """The server refused the call."""

    exit_code = REFUSED


def missing_file(file: Path, instruction: str) -> Misuse:
    """Of a file that was named and is not there: the one that was probably meant, else what to do."""
    near = near_file(file)
    return Misuse(f"{file} does not exist.", instruction if near is None else f"Did you mean {near}?")


def near_file(file: Path) -> Path | None:
    """The file beside it whose name is most like the one that was given."""
    try:
        names = [each.name for each in file.expanduser().parent.iterdir() if each.is_file()]
    except OSError:
        return None
    name = nearest(file.name, names)
    return None if name is None else file.with_name(name)


def failure_of(error: BaseException) -> Failure | None:
    """The failure that an error means to the person who typed the command; None if it is a defect of ours."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, Untrusted):
        return Misuse(error.what, error.instruction)
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str) and near_file(Path(error.filename)):
        return missing_file(Path(error.filename), "")
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return Misuse(f"{name}{error.strerror or error}", "Check the path and its permissions.")
    return _of_client(error)


def _of_client(error: BaseException) -> Failure | None:
    # Imported only here: the client brings an HTTP library, which `toryo --help` must not pay for.
    from toryo.client import ProtocolError, RefusalError, Unreachable

    if isinstance(error, Unreachable):
        known = "toryo up" in str(error) or "try again" in str(error)
        return ServerAway(
            str(error), "" if known else "Start a server with `toryo up`, or set its address with --server."
        )
    if isinstance(error, ProtocolError):
        return ServerAway(str(error), "Set the address of a Toryo server with --server.")
    if not isinstance(error, RefusalError):
        return None
    kind = ServerAway if error.code == "unavailable" else Refused
    details = {**error.data, "error": error.code}
    mistakes = error.data.get("errors")
    if mistakes:  # its words are for callers of the operation: which parameters there are helps nobody here
        told = "; ".join(wrong_values.sentence(mistake["parameter"], mistake["problem"]) for mistake in mistakes)
        return kind(told, "", details)
    return kind(error.message, error.instruction, details)
