"""What a limited network closes of the kernel: every call × architecture, and a real sandbox."""

from __future__ import annotations

import errno
import os
import struct
import sys
from pathlib import Path

import pytest

from tests.coordinator.test_sandbox import Yard
from tests.sandboxes import sandboxed
from toryo.coordinator import closed_calls
from toryo.coordinator.network_limits import Limits

__all__ = ["sandboxed"]

ALLOWED = 0
X86, I386, ARM64, ARM, OTHER = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028, 0xC0000016


def answer(machine: str, architecture: int, number: int, argument: int = 0) -> int:
    """What the kernel would answer to a call: 0, or an error."""
    steps = list(struct.iter_unpack("=HBBI", closed_calls.program(machine)))
    data, at, value = {0: number, 4: architecture, 16: argument}, 0, 0
    while True:
        code, yes, no, operand = steps[at]
        at += 1
        if code == 0x20:
            value = data[operand]
        elif code == 0x06:
            return ALLOWED if operand == 0x7FFF0000 else operand & 0xFFFF
        else:
            at += yes if (value == operand if code == 0x15 else value >= operand) else no


@pytest.mark.parametrize(
    ("machine", "architecture", "socket", "keys"),
    [
        ("x86_64", X86, 41, (248, 249, 250)),
        ("x86_64", I386, 359, (286, 287, 288)),
        ("aarch64", ARM64, 198, (217, 218, 219)),
        ("aarch64", ARM, 281, (309, 310, 311)),
    ],
)
def test_key_rings_and_sockets_to_the_host_of_a_virtual_machine_are_closed_and_nothing_else(
    machine: str, architecture: int, socket: int, keys: tuple[int, ...]
) -> None:
    closed = {number for number in range(600) if answer(machine, architecture, number) != ALLOWED}
    assert closed == {*keys, 425, *([102] if architecture == I386 else [])}
    assert [answer(machine, architecture, each) for each in keys] == [errno.EPERM] * 3
    assert {each for each in range(64) if answer(machine, architecture, socket, each) != ALLOWED} == {40}


def test_numbers_and_architectures_that_are_not_known_are_refused() -> None:
    assert answer("x86_64", X86, 0x40000000 | 41) == errno.ENOSYS
    assert answer("x86_64", OTHER, 1) == errno.ENOSYS
    assert closed_calls.program("riscv64") == b""


CALLS = """
import ctypes, errno, socket, sys
call = ctypes.CDLL(None, use_errno=True).syscall
def said(*words):
    return 0 if call(*words) >= 0 else errno.errorcode[ctypes.get_errno()]
print(said(int(sys.argv[1]), 0, -3, 0), said(425, 0, 0))
try:
    socket.socket(40, socket.SOCK_STREAM)
    print("opened")
except OSError as problem:
    print(errno.errorcode[problem.errno])
socket.socket().close()
print("done")
"""


@pytest.mark.deep
@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="its calls are not known")
def test_a_program_with_a_limited_network_finds_them_closed(tmp_path: Path, sandboxed: None) -> None:
    yard = Yard(tmp_path)
    (yard.project / "calls.py").write_text(CALLS)
    number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    script = f"'{sys.executable}' -I calls.py {number}"
    assert yard.run(script, limits=Limits()).split() == ["EPERM", "ENOSYS", "EAFNOSUPPORT", "done"]
    assert yard.run(script).split()[0] != "EPERM", "only a limited network closes them"
