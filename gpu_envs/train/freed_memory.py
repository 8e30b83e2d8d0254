"""What the C library does with the memory that tensors of the last update have left."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # numbers of mallopt's options
_LARGE = 2**30  # bytes; larger blocks and larger ends of the heap go back to the system


def keep() -> bool:
    """Keep it for the tensors of the next update, and return whether that was possible.

    By default glibc returns large blocks to the system at once, which hands them out again page by
    page, each filled with zeros: a tenth or more of the time of an update with pictures.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # another C library
        return False
    return all(mallopt(option, _LARGE) == 1 for option in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))
