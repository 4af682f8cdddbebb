"""What a server gives back to the machine."""

import contextlib
import ctypes

M_MMAP_THRESHOLD = -3
"""Of mallopt(3)."""
LARGE_BYTES = 128 * 1024


def give_large_back() -> None:
    """Whatever is larger than 128 KiB goes back to the machine once it is freed.

    glibc raises that bound to 32 MiB as soon as something large was freed, and keeps what is freed later: large bodies
    of strangers would leave holes that stay. Without effect where there is no mallopt.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
