"""Finds the instruction sets that this processor runs, before any engine is loaded.

Run as a program it prints them for CMake, best last.
"""

from __future__ import annotations

import platform

# What each level needs beyond the one before, as /proc/cpuinfo spells it.
NEEDED = {
    "v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
LEVELS = ("v4", "v3", "v2", "generic")  # best first


def _flags() -> set[str]:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


def runnable_levels() -> tuple[str, ...]:
    """Instruction sets this processor can run, best first."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ("generic",)
    flags = _flags()
    if not flags:  # no /proc: v2 is what every 64-bit x86 processor since 2009 has
        return ("v2", "generic")
    levels = ["generic"]
    for level in ("v2", "v3", "v4"):
        if not NEEDED[level] <= flags:
            break
        levels.insert(0, level)
    return tuple(levels)


if __name__ == "__main__":
    print(";".join(reversed(runnable_levels())))
