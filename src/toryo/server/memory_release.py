"""Returns freed memory to the operating system, and spares the collector of cycles what it will not find any in."""

import contextlib
import ctypes
import gc

M_MMAP_THRESHOLD = -3
"""Of mallopt(3)."""
LARGE_BYTES = 128 * 1024
GARBAGE_AFTER = 20_000, 20, 20
"""When the collector looks for cycles (`gc.set_threshold`). A batch of calls makes some ten thousand objects that are
gone with it, and at the default of 700 the collector looks at them again and again: a tenth of a queue cycle's CPU."""


def give_large_back() -> None:
    """Blocks larger than 128 KiB are returned to the operating system when freed.

    glibc raises this threshold up to 32 MiB once a large block was freed, and then keeps memory: large request bodies
    would fragment it permanently. Has no effect where mallopt is missing.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


def collect_rarely() -> None:
    """What exists now lives as long as the server: the collector need never look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_AFTER)
    gc.enable()
