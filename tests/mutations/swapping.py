"""Plants a fault in what is already imported: the functions of its file get the code of the changed text.

A forked process need then import neither Toryo nor the tests, which takes longer than most of the tests. It works for a
fault within a function that runs after the import; for any other, `planting.Tree` is imported instead.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutations.mutator import Fault

Names = dict[tuple[str, int], CodeType]


def functions(below: Path) -> list[FunctionType]:
    """All that were imported from the files below this directory."""
    prefix = f"{below}{os.sep}"
    gc.unfreeze()
    objects = gc.get_objects()
    gc.freeze()
    return [each for each in objects if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(prefix)]


def planted(fault: Fault, path: Path, imported: Iterable[FunctionType]) -> bool:
    """Whether it is in; nothing has changed if not. `path` is the file that was imported."""
    source = path.read_text(encoding="utf-8")
    before, after = _codes(source, path), _codes(fault.planted(source), path)
    changed = {name for name, code in before.items() if name in after and _meaning(code) != _meaning(after[name])}
    found: defaultdict[tuple[str, int], list[FunctionType]] = defaultdict(list)
    names = {(code.co_qualname, code.co_firstlineno): name for name, code in before.items() if name in changed}
    for each in imported:
        if each.__code__.co_filename == str(path):
            name = names.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
            if name is not None:
                found[name].append(each)
    outermost = {name for name in changed if not any(name[0].startswith(f"{other[0]}.<locals>.") for other in changed)}
    if not outermost or not all(_fits(found[name], after[name]) for name in outermost):
        return False
    for name in changed:  # also what a function has made of its parts before now
        for function in found[name]:
            if _fits([function], after[name]):
                function.__code__ = after[name]
    return True


def _fits(functions: list[FunctionType], code: CodeType) -> bool:
    return bool(functions) and all(each.__code__.co_freevars == code.co_freevars for each in functions)


def _codes(source: str, path: Path) -> Names:
    """By qualified name, and which one of that name it is in its file. Only of functions, not of bodies of classes."""
    counts: defaultdict[str, int] = defaultdict(int)
    found: Names = {}
    for code in _inner(compile(source, str(path), "exec", dont_inherit=True)):
        if code.co_flags & 0x2:  # CO_NEWLOCALS: a function
            found[code.co_qualname, counts[code.co_qualname]] = code
            counts[code.co_qualname] += 1
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inner(each)


def _meaning(code: CodeType) -> tuple[object, ...]:
    """What it does, wherever it stands."""
    constants = tuple(
        _meaning(each) if isinstance(each, CodeType) else (type(each), repr(each)) for each in code.co_consts
    )
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants
