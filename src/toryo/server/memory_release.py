"""Returns freed memory to the operating system."""

import contextlib
import ctypes

M_MMAP_THRESHOLD = -3
"""Of mallopt(3)."""
LARGE_BYTES = 128 * 1024


def give_large_back() -> None:
    """Blocks larger than 128 KiB are returned to the operating system when freed.

    glibc raises this threshold up to 32 MiB once a large block was freed, and then keeps memory: large request bodies
    would fragment it permanently. Has no effect where mallopt is missing.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
