"""Runs tests against one fault: in a forked process, with a copy of src/toryo before the real one on its path.

Nothing in the checkout is changed. Processes that the tests start import the copy, which has the fault. The forked
process itself has imported Toryo and the tests already (`imported`), and is given the fault as in `swapping.py`; or its
parent has imported the libraries and nothing of Toryo, and it imports the copy, too.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from tests.mutations import bounds, swapping
from tests.mutations.lines import Lines, Marks, Noted, Noting, bits
from tests.mutations.mutator import Fault

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "toryo"
BUILD = ROOT / "build" / "mutations"
LIBRARIES = ("httpx", "hypothesis.strategies", "pydantic", "sqlalchemy", "starlette.applications", "yaml")
OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "--no-header", "--unlimited")
SUITE = ("-m", "not deep")
"""What `make test` runs."""
_HANGS = "timeout=100"
"""Seconds after which a test has found a fault."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None)


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
    """Arguments and plugins of pytest with which it runs these, in this order."""
    return [*dict.fromkeys(_file_of(test) for test in ids)], [Chosen(ids)]


def _file_of(test: str) -> str:
    return test.split("::", maxsplit=1)[0]


class Tree:
    """A copy of src/toryo in which one fault after the other is planted. `close` removes it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tree-", dir=BUILD))
        self.package = self.path / "toryo"
        shutil.copytree(SOURCES, self.package, ignore=shutil.ignore_patterns("static", "__pycache__"))
        if (SOURCES / "server" / "static").exists():
            (self.package / "server" / "static").symlink_to(SOURCES / "server" / "static")
        shutil.copyfile(bounds.__file__, self.path / "sitecustomize.py")

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
    tree: Tree,
    imported: Sequence[FunctionType] | None,
    fault: Fault | None,
    arguments: Sequence[str],
    plugins: Sequence[object],
    log: Path,
    seconds: float,
) -> int | None:
    """pytest's exit code in a process of its own, which has ended with all that it started; None: it took too long.

    `imported` are the functions that this process has imported (`collect`); the fault is planted in these, and the code
    is `NOT_IN` if it cannot be. Without a fault, the same is run as it is.
    """

    def tests() -> int:
        if fault is not None and imported is not None:
            path = SOURCES / fault.file
            if not swapping.planted(fault, path, imported):
                return NOT_IN
        return int(pytest.main([*OPTIONS, "-o", _HANGS, *arguments], plugins=plugins))

    with nullcontext() if fault is None else tree.planted(fault):
        return in_a_process(tree, tests, log, seconds)


def collect(folders: Sequence[str], log: Path) -> list[FunctionType]:
    """Imports all tests of these folders, and with them Toryo, into this process: the functions that came."""
    written, errors = os.dup(1), os.dup(2)
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        pytest.main([*OPTIONS, "--collect-only", *SUITE, *test_files(folders)])
        sys.stdout.flush()
    finally:
        os.dup2(written, 1)
        os.dup2(errors, 2)
    return swapping.functions(SOURCES)


def side_by_side(works: Sequence[Callable[[], object]]) -> None:
    """Each in a process of its own, which inherits what the tests leave behind. Raises SystemExit if one fails."""

    def job(work: Callable[[], object]) -> None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        work()

    children = [_begin(None, partial(job, work), None) for work in works]
    try:
        ends = [os.waitpid(child, 0)[1] for child in children]
    finally:
        for child in children:
            _kill(child)
    if any(ends):
        raise SystemExit("A process that planted faults has failed: see above")


def in_a_process(tree: Tree | None, work: Callable[[], object], log: Path, seconds: float) -> int | None:
    before = _children()
    child = _begin(tree, work, log)
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
        while left := _children() - before:  # in a process group of their own: a server, an agent's program
            for each in left:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(each, signal.SIGKILL)
                    os.waitpid(each, 0)
    return None if late.is_set() else os.waitstatus_to_exitcode(status)


def _begin(tree: Tree | None, work: Callable[[], object], log: Path | None) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _be_the_child(tree, work, log)
    with suppress(ProcessLookupError, PermissionError):  # the child does the same: whoever comes first
        os.setpgid(child, child)
    return child


def _children() -> set[int]:
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _be_the_child(tree: Tree | None, work: Callable[[], object], log: Path | None) -> None:
    """Ends with the number that `work` returns, or 0."""
    code = 70
    try:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
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
            began = bounds.began(os.getpid()) or 0
            os.environ[bounds.BEGAN] = str(began)
            bounds.hold(began)
        code = int(work() or 0)  # type: ignore[call-overload]
    except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as a second parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


# Which test runs which line


def lines(folders: Sequence[str], jobs: int, say: Callable[[str], None]) -> Lines:
    """By test. Files that have not changed since, and whose tests all passed, are not run again. A test that fails
    without a fault is left out: it finds none."""
    kept = BUILD / "lines.json.gz"
    state = _digest([*sorted(SOURCES.rglob("*.py")), Path(__file__).with_name("lines.py")])
    known: dict[str, dict[str, Any]] = {}
    if kept.exists():
        read = json.loads(gzip.decompress(kept.read_bytes()))
        known = read["files"] if read["sources"] == state else {}
    wanted = {file: _digest([ROOT / file, *_shared_with(file)]) for file in test_files(folders)}
    stale = [file for file, digest in wanted.items() if known.get(file, {}).get("digest") != digest]
    if stale:
        say(f"Noting which lines the tests of {len(stale)} files run ...")
        noted, failing = _noted(stale, jobs)
        for test in failing:
            say(f"  {test} fails without a fault: it is left out")
        not_green = {_file_of(test) for test in failing}
        for file in stale:
            known[file] = {"digest": "" if file in not_green else wanted[file], "tests": noted[file]}
        text = json.dumps({"sources": state, "files": known})
        kept.write_bytes(gzip.compress(text.encode(), compresslevel=3))
    same: dict[tuple[str, int], tuple[str, int]] = {}
    """Many tests run the same lines of a file."""
    return {
        test: Noted(dict(same.setdefault((each, run), (each, run)) for each, run in found.items()), cpu)
        for file in wanted
        for test, (found, cpu) in known[file]["tests"].items()
    }


def _shared_with(file: str) -> list[Path]:
    """What tests of this file may use besides: a fixture that changes can make a test fail without any fault."""
    folder = (ROOT / file).parent
    return sorted(each for place in {ROOT / "tests", folder} for each in place.glob("*.py") if each.name[:5] != "test_")


def _noted(files: Sequence[str], jobs: int) -> tuple[dict[str, Lines], list[str]]:
    """By file, and which tests did not pass."""
    by_file: dict[str, Lines] = {file: {} for file in files}
    failing: list[str] = []
    with tempfile.TemporaryDirectory(dir=BUILD) as place:
        written = [Path(place, str(number)) for number in range(min(jobs, len(files)))]  # without a file: all of them
        side_by_side([partial(_note, files[number::jobs], to) for number, to in enumerate(written)])
        for each in written:
            passing, others = json.loads(each.read_text())
            failing += others
            for test, found in passing.items():
                by_file[_file_of(test)][test] = Noted(*found)
    return by_file, failing


def _note(files: Sequence[str], written: Path) -> None:
    tree = Tree()
    noting = Noting(Marks(tree.package))

    def tests() -> int:
        code = int(
            pytest.main([*OPTIONS, "-o", "timeout_method=signal", "-o", _HANGS, *SUITE, *files], plugins=[noting])
        )
        passing = {test: found for test, found in noting.lines.items() if test not in noting.failing}
        written.write_text(json.dumps([passing, sorted(noting.failing)]))
        return code

    log = BUILD / f"lines-{written.name}.log"
    try:
        code = in_a_process(tree, tests, log, 12 * 3600)
    finally:
        tree.close()
    if code not in (0, 1, 5) or not written.exists():
        raise SystemExit(f"The tests did not come to their end ({code}): see {log}")


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


# Which tests are run for a fault


def tests_for(fault: Fault, noted: Lines, cpu: float) -> list[str]:
    """Those that run its line, then the others of their files; the files that name it, or are named after it, first.
    Together they take so many seconds of a processor, or less.

    For a line of the top of a file, and for one that no test was seen to run, all that run anything of its file (or
    simply all): what is imported, or kept from an earlier call, is run where nobody sees it. And for the top, those of
    its package in files that name it: they may look at nothing but its constants.
    """
    its = bits(fault.line, fault.line + fault.old.count("\n"))
    runs = [test for test, each in noted.items() if each.lines.get(fault.file, 0) & its]
    if not runs or not fault.within:
        runs = [test for test, each in noted.items() if fault.file in each.lines] or [*noted]
    if not fault.within:
        stem, folder = Path(fault.file).stem, f"tests/{fault.package}/"
        runs += [test for test in noted if test.startswith(folder) and stem in _words_of(_file_of(test))]
    tests = _ordered(fault, [*dict.fromkeys(runs)], noted)
    together = list(accumulate(noted[test].cpu for test in tests))
    return tests[: bisect_right(together, cpu)]


@cache
def _words_of(file: str) -> frozenset[str]:
    """The names in a file of tests: which modules it imports, for one."""
    path = ROOT / file
    return frozenset(re.findall(r"\w+", path.read_text(encoding="utf-8"))) if path.exists() else frozenset()


def _ordered(fault: Fault, chosen: Sequence[str], noted: Lines) -> list[str]:
    """First a few of each file, then all of them, then what else is in these files (what its tests share was perhaps
    made by another one)."""
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    for test in chosen:
        by_file[_file_of(test)].append(test)
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
    others = [test for test in noted if test not in taken and _file_of(test) in within]
    return [*first, *rest, *others]


def _spread(tests: Sequence[str], most: int) -> Sequence[str]:
    """A few of them: the many cases of one test are alike."""
    return tests[:: -(-len(tests) // most)]
