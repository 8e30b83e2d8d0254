"""What compiled rules may not use: clocks, random numbers of the system, libm, and static state.

A step's result follows from its world and its action, on every machine, in every batch and after a
save. So a module's objects are asked what they call and which variables they keep: neither a macro
nor another name hides either. What the optimiser has removed is in no result, and is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import places, rules, symbols

_CALLS = {  # undefined names, and what to do instead
    re.compile(
        r"time|clock(_gettime|_getres)?|gettimeofday|timespec_get|ftime|times|getrusage|"
        r"_ZNSt6chrono3_V2.*"
    ): "time outside of the world differs from run to run: count steps in a column",
    re.compile(
        r"s?rand|rand_r|s?random(_r)?|[delmnj]?rand48|seed48|arc4random\w*|getrandom|getentropy|"
        r"_ZNSt13random_device.*"
    ): "it differs from run to run: use engine/random, whose numbers follow from the seed",
    re.compile(
        r"(secure_)?getenv|getpid|getppid|gettid|pthread_self|sched_getcpu|gethostname|uname|"
        r"syscall|_ZNSt6thread.*"
    ): "it differs from process to process: make it a parameter",
    re.compile(
        r"(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p|b)?|pow|cbrt|hypot|fmod|remainder|"
        r"remquo|sqrt|fma|[lt]gamma|erfc?|sincos|fesetround|fesetenv)[fl]?"
    ): rules.NO_LIBM,
}
ALLOWED = "impure"  # as in `// lint: allow impure: a table that is filled once`
_STATE = "it outlives a step, so batches and saves change results: use a column, or `constexpr`"
_OURS = re.compile(  # the engine's, the C++ library's, and what compilers add
    r"_ZG[VR](ZN?|N)?K?(2ge|St)|_ZT|_ZZ?NK?(2ge|St)|_ZSt|DW\.ref\.|__dso_handle|.*__nv_|.*cudaFat"
    r"|.*__fatDeviceText|.*__device_stub__|__odr_asan|__gcov|__prof"
)
_IDENTIFIER = re.compile(r"\d+")


def breaches(made: Sequence[tuple[Path, list[str]]]) -> list[str]:
    """Return a line for each thing that an environment's objects may not use.

    Args:
        made: Of each object its file, and the names of the headers it was made of.
    """
    found: dict[str, None] = {}
    for path, headers in made:
        files = [file for name in headers if _is_an_authors(file := Path(places.input_path(name)))]
        known = symbols.read(path)
        for symbol, why in _wrong(known):
            found |= dict.fromkeys(_lines(files, symbol, why))
    return list(found)


def _wrong(known: symbols.Symbols) -> Iterator[tuple[str, str]]:
    for symbol in known.undefined:
        for pattern, why in _CALLS.items():
            if pattern.fullmatch(symbol):
                yield symbol, why
    for symbol in known.changeable:
        if not _OURS.match(symbol) and not symbol.startswith("_ZGV"):
            yield symbol, _STATE


def _is_an_authors(file: Path) -> bool:
    kernels = places.kernels()
    return not file.is_relative_to(kernels) or file.is_relative_to(kernels / "envs")


def _spoken(symbol: str) -> str:
    """Return the last name in a symbol that its author wrote, such as `n` of `_ZZ5countvE1n`."""
    if not symbol.startswith("_Z"):
        return symbol
    known = re.search(r"(system|steady)_clock|random_device", symbol)
    if known:
        return known[0]
    last = symbol
    at = 0
    while number := _IDENTIFIER.search(symbol, at):
        size = int(number[0][:4])
        name = symbol[number.end() : number.end() + size]
        is_name = bool(size) and len(name) == size and name.isidentifier()
        if is_name and name != "cxx11":
            last = name
        at = number.end() + (size if is_name else 0)
    return last


def _lines(files: Sequence[Path], symbol: str, why: str) -> Iterator[str]:
    """Yield where a symbol is written, or that it is used; nothing where a comment allows it."""
    name = _spoken(symbol)
    what = "the variable" if why == _STATE else "the call of"
    mentions = list(_mentions(files, name))
    if any(rules.allows(lines, ALLOWED, number) for _, number, lines in mentions):
        return
    if not mentions:
        yield f"GE: {what} `{symbol}`: {why}"
    for file, number, _ in mentions[:1]:
        yield f"{file}:{number}: GE: {what} `{name}`: {why}"


def _mentions(files: Sequence[Path], name: str) -> Iterator[tuple[Path, int, list[str]]]:
    """Yield file, line and all lines of each mention in code; declarations of state first."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(rules.without_comments(text).splitlines(), start=1):
            if word.search(line):
                is_declared = bool(re.search(r"\b(static|thread_local|inline|extern)\b", line))
                found.append((not is_declared, file, number, text.splitlines()))
    for _, file, number, lines in sorted(found, key=lambda mention: mention[0]):
        yield file, number, lines
