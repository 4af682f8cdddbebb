"""What a sandbox with a limited network closes of the kernel, as a filter of system calls (seccomp).

A network namespace does not contain everything by which data leaves: `AF_VSOCK` leads from a virtual machine to its
host, and the key rings of a user are shared by all processes of it. `io_uring` makes sockets that no filter sees. The
other architecture that a kernel runs, and other numbers for the same calls, are covered too.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_AF_VSOCK = 40
_IO_URING_SETUP = 425
_X32 = 0x40000000


@dataclass(frozen=True, slots=True)
class _Calls:
    """`keys`: add_key, request_key, keyctl. `many`: socketcall, whose arguments a filter does not see; programs use
    `socket` where it is missing."""

    architecture: int
    socket: int
    keys: tuple[int, int, int]
    many: int | None = None


_OF_MACHINE: Mapping[str, Sequence[_Calls]] = {
    "x86_64": (_Calls(0xC000003E, 41, (248, 249, 250)), _Calls(0x40000003, 359, (286, 287, 288), 102)),
    "aarch64": (_Calls(0xC00000B7, 198, (217, 218, 219)), _Calls(0x40000028, 281, (309, 310, 311))),
}


def program(machine: str | None = None) -> bytes:
    """The filter as the kernel reads it (`struct sock_filter`); empty for a machine whose calls are not known here."""
    known = _OF_MACHINE.get(machine or os.uname().machine, ())
    parts = b"".join(map(_part, known))
    return parts + _refuse(errno.ENOSYS) if parts else b""


def _part(calls: _Calls) -> bytes:
    refused = {**dict.fromkeys(calls.keys, errno.EPERM), _IO_URING_SETUP: errno.ENOSYS}
    if calls.many is not None:
        refused[calls.many] = errno.ENOSYS
    body = [
        _step(_LOAD, _NUMBER),
        *(_step(_AT_LEAST, _X32, past=1), _refuse(errno.ENOSYS)),
        *(step for number, why in refused.items() for step in (_step(_EQUAL, number, past=1), _refuse(why))),
        *(_step(_EQUAL, calls.socket, past=3), _step(_LOAD, _FIRST_ARGUMENT)),
        *(_step(_EQUAL, _AF_VSOCK, past=1), _refuse(errno.EAFNOSUPPORT)),
        _step(_RETURN, _ALLOW),
    ]
    first = (_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, calls.architecture, past=len(body)))
    return b"".join((*first, *body))


def _step(code: int, value: int, *, past: int = 0) -> bytes:
    """`past`: how many steps are left out if a comparison is not true."""
    return struct.pack("=HBBI", code, 0, past, value)


def _refuse(why: int) -> bytes:
    return _step(_RETURN, _REFUSE | why)
