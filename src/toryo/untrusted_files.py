"""The one way to read a file that others may have written: agents, or the author of a repository.

Never blocks and never reads without limit: only regular files up to a size, opened so that a named pipe or a device
does not block. Problems are an OSError whose `strerror` is written for people. `yaml_documents.py` limits the cost of
parsing YAML. Standard library only, because runners import this.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST = 1_000_000
"""Bytes of a file that somebody writes by hand."""
LARGEST_RECORD = 16_000_000
"""Bytes of a file that a program writes about its own run."""
READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text(
    path: Path, *, largest: int = LARGEST, beneath: Path | None = None, errors: str = "strict", nofollow: bool = False
) -> str:
    """The text of a file (UTF-8, with or without byte order mark); raises OSError.

    `beneath`: the real path lies in this directory, whatever symbolic links say, also when they change meanwhile.
    `nofollow`: a path that is itself a symbolic link is refused.
    """
    found = data(path, largest=largest, beneath=beneath, nofollow=nofollow)
    try:
        return found.decode("utf-8-sig", errors)
    except UnicodeDecodeError as wrong:
        known = "UTF-16 text" if found.startswith(_UTF_16) else f"not text: byte {wrong.start} is not UTF-8"
        raise OSError(errno.EILSEQ, f"This file is {known}; save it as UTF-8", str(path)) from None


def data(path: Path, *, largest: int = LARGEST, beneath: Path | None = None, nofollow: bool = False) -> bytes:
    """The bytes of a file, all of them; raises OSError."""
    flags = READING | (os.O_NOFOLLOW if nofollow else 0)
    descriptor = open_regular(path, flags) if beneath is None else _opened_beneath(path, beneath)
    try:
        return read(descriptor, largest, path)
    finally:
        os.close(descriptor)


def read(descriptor: int, largest: int, path: Path | str) -> bytes:
    """All bytes of an open file; raises OSError if there are more than `largest`."""
    parts, size = [], 0
    while size <= largest and (part := os.read(descriptor, min(1 << 20, largest + 1 - size))):
        parts.append(part)
        size += len(part)
    if size > largest:
        raise OSError(errno.EFBIG, f"This file is larger than {largest / 1e6:g} MB", str(path))
    return b"".join(parts)


def open_regular(path: Path | str, flags: int = READING, *, directory: int | None = None) -> int:
    """A descriptor of a regular file; raises OSError for anything else. The caller closes it."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=directory)
    except ValueError as wrong:
        raise OSError(errno.EINVAL, f"This is not a path: {wrong}", str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "This is not a regular file", str(path))
    return descriptor


def open_own(path: Path, flags: int) -> int:
    """A descriptor of a file that only this user reads, made if it is missing; raises OSError where another thing, or
    a link, is in its place. The caller closes it."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "This is not a regular file", str(path))


def real(path: Path) -> Path:
    """The path without symbolic links; raises OSError, for links that go round in a circle too."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError) as wrong:
        raise OSError(errno.ELOOP, f"This is not a path: {wrong}", str(path)) from None


def _opened_beneath(path: Path, directory: Path) -> int:
    """Goes down from the directory without following a link: the real path has none, unless one was put there now."""
    top = real(directory)
    try:
        *between, name = real(path).relative_to(top).parts
    except ValueError:
        raise OSError(errno.EXDEV, "lies outside the project directory", str(path)) from None
    at = directory_beneath(top, *between)
    try:
        return open_regular(name, READING | os.O_NOFOLLOW, directory=at)
    finally:
        os.close(at)


def directory_beneath(top: Path | int, *names: str) -> int:
    """A descriptor of a directory, gone down to without following a link; raises OSError. The caller closes it."""
    at = os.dup(top) if isinstance(top, int) else os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for each in names:
            inner = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
    except BaseException:
        os.close(at)
        raise
    return at
