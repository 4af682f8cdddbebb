"""Which test finds a fault: the first one that fails with it and passes without it, after the same tests.

Each failure is looked at again without the fault. A test that fails then as well (another one before it has left
something behind, a fixture has changed, the machine is slow) is no catch: it is left out from then on, and the others
are tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import FunctionType

from tests.mutations import planting
from tests.mutations.mutator import Fault

NEAREST = 60
"""Tests that are tried before the files of the others are read at all."""
NOT_PLANTED = "not planted"
TOO_LONG = "took too long"


class Trials:
    """With a tree, and what this process has imported if it has (`planting.collect`)."""

    def __init__(
        self,
        tree: planting.Tree,
        imported: Sequence[FunctionType] | None,
        seconds: float,
        say: Callable[[str], None],
    ) -> None:
        self._tree = tree
        self._imported = imported
        self._seconds = seconds
        self._say = say
        self._log = planting.BUILD / f"last-{os.getpid()}.log"
        self._unfit: set[str] = set()
        """Tests that failed without any fault."""

    def caught_by(self, fault: Fault, ids: Sequence[str]) -> str:
        """The test, or what went wrong before one could fail; empty if all of these tests passed."""
        for some in (ids[:NEAREST], ids[NEAREST:]):
            by = self._first(fault, some)
            if by:
                return by
        return ""

    def caught_by_files(self, fault: Fault, files: Sequence[str]) -> str:
        """The same for files of deep tests. Each is run by itself, as `make test-deep` has them share nothing."""
        for file in files:
            failed, _ = self._failed(fault, [file], [])
            if not failed:
                continue
            without, _ = self._failed(None, [file], [])
            if not without:
                return failed
            self._say(f"  {file} does not pass without a fault either: no catch  [{without}]")
        return ""

    def _first(self, fault: Fault, ids: Sequence[str]) -> str:
        while left := [each for each in ids if each not in self._unfit]:
            failed, planted = self._failed(fault, *planting.those(left))
            if not planted:
                return NOT_PLANTED
            if not failed:
                return ""
            tried = left[: left.index(failed) + 1] if failed in left else left
            without, _ = self._failed(None, *planting.those(tried))
            if not without:
                return failed
            of_it = {each for each in left if each == without or each.startswith(f"{without}::")}
            if not of_it:
                self._say(f"  these tests do not pass without the fault either: no catch  [{without}]")
                return ""
            self._say(f"  {without} fails without a fault: it is left out")
            self._unfit |= of_it
        return ""

    def _failed(self, fault: Fault | None, arguments: Sequence[str], plugins: Sequence[object]) -> tuple[str, bool]:
        """What failed first, or what went wrong; whether the fault was planted."""
        code = planting.run(self._tree, self._imported, fault, ["-x", *arguments], plugins, self._log, self._seconds)
        if code is None:
            return TOO_LONG, True
        if code == planting.NOT_IN:
            return "", False
        return ("" if code in (0, 5) else self._first_failure() or f"exit {code}"), True

    def _first_failure(self) -> str:
        for line in reversed(self._log.read_text(errors="replace").splitlines()):
            if line.startswith(("FAILED ", "ERROR ")):
                return line.split(" - ", maxsplit=1)[0].split(" ", maxsplit=1)[1]
        return ""
