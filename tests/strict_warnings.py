"""Warnings as errors, but for those that a test expects."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def warnings_are_errors(but: Iterable[str]) -> Iterator[None]:
    """Raise every warning, save those whose message begins with one of these patterns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in but:
            warnings.filterwarnings("ignore", message=message)
        yield
