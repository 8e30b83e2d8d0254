"""Which instruction sets a processor runs."""

from __future__ import annotations

import platform
import re

import pytest

from gpu_envs.building import flags, places, processor

V2 = processor.NEEDED["v2"]
V3 = V2 | processor.NEEDED["v3"]
V4 = V3 | processor.NEEDED["v4"]


@pytest.mark.parametrize(
    ("found", "levels"),
    [
        (V4, ("v4", "v3", "v2", "generic")),
        (V4 - {"avx512vl"}, ("v3", "v2", "generic")),
        (V4 - {"fma"}, ("v2", "generic")),  # a gap: nothing above it counts
        (V2, ("v2", "generic")),
        (set(), ("v2", "generic")),
    ],
)
def test_levels_follow_the_processor_flags(
    monkeypatch: pytest.MonkeyPatch, found: set[str], levels: tuple[str, ...]
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(processor, "_flags", lambda: found)
    assert processor.runnable_levels() == levels


def test_other_processors_run_the_generic_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert processor.runnable_levels() == ("generic",)


def test_the_list_of_flags_and_the_processor_know_the_same_levels() -> None:
    known = flags.read(places.kernels() / "flags.txt")
    named = {match[1] for name in known if (match := re.fullmatch(r"level (\w+)", name))}
    assert named == set(processor.LEVELS)
