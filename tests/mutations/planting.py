"""Runs tests against one fault: a forked process, with a copy of src/toryo before the real one on its path.

Nothing in the checkout is changed. The parent has imported the libraries, and nothing of Toryo, so that a process costs
the imports of Toryo and of the tests alone.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

import pytest

from tests.fast import FOLDERS
from tests.mutations import swapping
from tests.mutations.lines import Lines, Noting
from tests.mutations.mutator import Fault

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "toryo"
BUILD = ROOT / "build" / "mutations"
LIBRARIES = ("httpx", "hypothesis.strategies", "pydantic", "sqlalchemy", "starlette.applications", "yaml")
OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "--no-header")


def test_files(folders: Sequence[str]) -> list[str]:
    """Of these folders of tests/, as paths within the checkout."""
    return sorted(
        path.relative_to(ROOT).as_posix() for name in folders for path in (ROOT / "tests" / name).rglob("test_*.py")
    )


_OF_A_FILE, _OF_ITS_OWN = 5, 30
"""So many tests of a file come before the rest of them; of a file that names the module, so many."""


class Chosen:
    """A pytest plugin that runs these tests of the collected ones, in this order."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._at = {each: at for at, each in enumerate(ids)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in self._at])
        items[:] = sorted((each for each in items if each.nodeid in self._at), key=lambda each: self._at[each.nodeid])


def those(ids: Sequence[str]) -> tuple[list[str], list[object]]:
    """Arguments and plugins of pytest with which it runs these of the fast tests, in this order."""
    return ["--fast", *dict.fromkeys(test.split("::", maxsplit=1)[0] for test in ids)], [Chosen(ids)]


class Tree:
    """A copy of src/toryo in which one fault after the other is planted."""

    def __init__(self) -> None:
        self.path = BUILD / f"tree-{os.getpid()}"
        self.package = self.path / "toryo"
        shutil.copytree(SOURCES, self.package, ignore=shutil.ignore_patterns("static", "__pycache__"))
        if (SOURCES / "server" / "static").exists():
            (self.package / "server" / "static").symlink_to(SOURCES / "server" / "static")

    def close(self) -> None:
        shutil.rmtree(self.path)

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        source = (SOURCES / fault.file).read_text(encoding="utf-8")
        try:
            self._write(fault.file, fault.planted(source))
            yield
        finally:
            self._write(fault.file, source)

    def _write(self, file: str, text: str) -> None:
        """Without what was compiled: its time, in seconds, and its size can be those of the text before."""
        path = self.package / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()


def import_libraries() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)


NOT_IN = 71
"""The exit code of a process in which the fault could not be planted."""


def run(
    tree: Tree | None,
    fault: Fault | None,
    arguments: Sequence[str],
    plugins: Sequence[object],
    log: Path,
    seconds: float,
) -> int | None:
    """pytest's exit code in a process of its own, which has ended with all that it started; None: it took too long.

    Without a tree, the fault is planted in what this process has imported (`collect`); `NOT_IN` if it cannot be.
    Without a fault, the same is run as it is.
    """

    def tests() -> int:
        if tree is None and fault is not None and not swapping.planted(fault, SOURCES / fault.file):
            return NOT_IN
        return int(pytest.main([*OPTIONS, *arguments], plugins=plugins))

    with tree.planted(fault) if tree is not None and fault is not None else nullcontext():
        return in_a_process(tree, tests, log, seconds)


def collect(log: Path) -> None:
    """Imports all fast tests, and with them Toryo, into this process. `Tree` is of no use from here on."""
    written, errors = os.dup(1), os.dup(2)
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        pytest.main([*OPTIONS, "--fast", "--collect-only", *test_files(FOLDERS)])
        sys.stdout.flush()
    finally:
        os.dup2(written, 1)
        os.dup2(errors, 2)


def in_a_process(tree: Tree | None, work: Callable[[], int], log: Path | None, seconds: float) -> int | None:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _be_the_child(tree, work, log)
    with suppress(ProcessLookupError, PermissionError):  # the child does the same: whoever comes first
        os.setpgid(child, child)
    late = threading.Event()

    def kill() -> None:
        late.set()
        _kill(child)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        _, status = os.waitpid(child, 0)
    finally:
        timer.cancel()
        _kill(child)
    return None if late.is_set() else os.waitstatus_to_exitcode(status)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _be_the_child(tree: Tree | None, work: Callable[[], int], log: Path | None) -> None:
    code = 70
    try:
        with suppress(PermissionError):
            os.setpgid(0, 0)
        if log is not None:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
        os.chdir(ROOT)
        if tree is not None:
            sys.path.insert(0, str(tree.path))
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(tree.path), os.environ.get("PYTHONPATH"))))
        code = work()
    except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as a second parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


# Which test runs which line


def lines(tree: Tree, say: Callable[[str], None]) -> Lines:
    """By test, as `lines.py` notes them. Files that have not changed since, and whose tests all passed, are not run
    again. A test that fails without a fault is left out: it finds none."""
    kept = BUILD / "lines.json"
    state = _digest(sorted(SOURCES.rglob("*.py")))
    known: dict[str, dict[str, object]] = {}
    if kept.exists():
        read = json.loads(kept.read_text())
        known = read["files"] if read["sources"] == state else {}
    wanted = {file: _digest([ROOT / file, *_shared_with(file)]) for file in test_files(FOLDERS)}
    stale = [file for file, digest in wanted.items() if known.get(file, {}).get("digest") != digest]
    if stale:
        say(f"Noting which lines the tests of {len(stale)} files run ...")
        noted, failing = _noted(tree, stale)
        for test in failing:
            say(f"  {test} fails without a fault: it is left out")
        not_green = {test.split("::", maxsplit=1)[0] for test in failing}
        for file, found in noted.items():
            known[file] = {"digest": "" if file in not_green else wanted[file], "tests": found}
        kept.write_text(json.dumps({"sources": state, "files": {file: known[file] for file in wanted}}))
    result: Lines = {}
    for file in wanted:
        result.update(known[file]["tests"])  # type: ignore[call-overload]
    return result


def _shared_with(file: str) -> list[Path]:
    """What tests of this file may use besides: a fixture that changes can make a test fail without any fault."""
    folder = (ROOT / file).parent
    return sorted(each for place in {ROOT / "tests", folder} for each in place.glob("*.py") if each.name[:5] != "test_")


def _noted(tree: Tree, files: Sequence[str]) -> tuple[dict[str, Lines], list[str]]:
    """By file, and which tests did not pass."""
    written = BUILD / f"noted-{os.getpid()}.json"

    def tests() -> int:
        noting = Noting(tree.package)
        code = int(pytest.main([*OPTIONS, "--fast", *files], plugins=[noting]))
        passing = {test: found for test, found in noting.lines.items() if test not in noting.failing}
        written.write_text(json.dumps([passing, sorted(noting.failing)]))
        return code

    code = in_a_process(tree, tests, BUILD / "lines.log", 3600)
    if not written.exists():
        raise SystemExit(f"The tests could not be run ({code}): see {BUILD / 'lines.log'}")
    by_file: dict[str, Lines] = {file: {} for file in files}
    passing, failing = json.loads(written.read_text())
    for test, found in passing.items():
        by_file[test.split("::", maxsplit=1)[0]][test] = found
    written.unlink()
    return by_file, failing


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


# Which tests are run for a fault


def tests_for(fault: Fault, noted: Lines) -> list[str]:
    """Those that run its line, then the others of their files; the files that name it, or are named after it, first.

    For a line of the top of a file, and for one that no test was seen to run, all that run anything of its file (or
    simply all): what is imported, or kept from an earlier call, is run where nobody sees it.
    """
    last = fault.line + fault.old.count("\n")
    runs = [test for test, files in noted.items() if _within(files.get(fault.file, ()), fault.line, last)]
    if not runs or not fault.within:
        runs = [test for test, files in noted.items() if fault.file in files] or [*noted]
    return _ordered(fault, runs, noted)


@cache
def _words_of(file: str) -> frozenset[str]:
    """The names in a file of tests: which modules it imports, for one."""
    path = ROOT / file
    return frozenset(re.findall(r"\w+", path.read_text(encoding="utf-8"))) if path.exists() else frozenset()


def _within(lines_run: Sequence[int], first: int, last: int) -> bool:
    return any(first <= line <= last for line in lines_run)


def _ordered(fault: Fault, chosen: Sequence[str], noted: Lines) -> list[str]:
    """First a few of each file, then all of them, then what else is in these files (what its tests share was perhaps
    made by another one)."""
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    for test in chosen:
        by_file[test.split("::", maxsplit=1)[0]].append(test)
    words = set(fault.file.removesuffix(".py").replace("/", "_").split("_"))
    stem = fault.file.removesuffix(".py").rpartition("/")[2]

    def own(file: str) -> bool:
        return stem in _words_of(file)

    def rank(file: str) -> tuple[bool, int, int]:
        shared = words & set(file.removesuffix(".py").replace("/", "_").split("_"))
        return not own(file), -len(shared), -len(by_file[file])

    files = sorted(by_file, key=rank)
    first = [test for file in files for test in _spread(by_file[file], _OF_ITS_OWN if own(file) else _OF_A_FILE)]
    taken = set(first)
    rest = [test for file in files for test in by_file[file] if test not in taken]
    taken.update(rest)
    within = set(files)
    others = [test for test in noted if test not in taken and test.split("::", maxsplit=1)[0] in within]
    return [*first, *rest, *others]


def _spread(tests: Sequence[str], most: int) -> Sequence[str]:
    """A few of them: the many cases of one test are alike."""
    return tests[:: -(-len(tests) // most)]
