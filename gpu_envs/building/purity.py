"""Refuses compiled rules that use clocks, random numbers of the system, libm or static state.

A step's result follows from its world and its action, on every machine, in every batch and after a
save. So the symbols of a module's objects are searched for calls and variables, which neither a
macro nor another name can hide. Code that the optimiser removed affects no result; it is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import places, rules, symbols

_CALLS = {  # undefined names, and their replacements
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
        r"syscall|_ZNSt6thread.*|localtime(_r)?|mktime|sysconf|getauxval|get_nprocs(_conf)?"
    ): "it differs from process to process: make it a parameter",
    re.compile(  # not fma: it rounds once, so its bits are equal everywhere, and `ge::fma` calls it
        r"(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p|b)?|pow|cbrt|hypot|fmod|remainder|"
        r"remquo|sqrt|[lt]gamma|erfc?|sincos|fesetround|fesetenv)[fl]?"
    ): rules.NO_LIBM,
}
ALLOWED = "impure"  # as in `// lint: allow impure: a table that is filled once`
_STATE = (
    "it outlives a step, so batches and saves change results: use a column, `constexpr`, or, for "
    f"a table that is filled once, `// lint: allow {ALLOWED}: why` above it"
)
_OURS = re.compile(  # the engine's, the C++ library's, and what compilers add
    r"_ZG[VR](ZN?|N)?K?(2ge|St)|_ZT|_ZZ?NK?(2ge|St)|_ZSt|DW\.ref\.|__dso_handle|.*__nv_|.*cudaFat"
    r"|.*__fatDeviceText|.*__device_stub__|__odr_asan|__gcov|__prof"
)
_IDENTIFIER = re.compile(r"\d+")


def breaches(made: Sequence[tuple[Path, list[str]]]) -> list[str]:
    """Return a line for each forbidden use in an environment's objects.

    Args:
        made: The file of each object, and the names of its headers.
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


def _libm_names(symbol: str) -> list[str]:
    """Return the names by which an author calls a function of libm: `std::sin` becomes `sinf`."""
    plain = symbol[:-1] if symbol[-1] in "fl" and symbol != "erf" else symbol
    return [symbol, plain, *{"sincos": ["sin", "cos"], "exp2": ["pow"]}.get(plain, [])]


def _lines(files: Sequence[Path], symbol: str, why: str) -> Iterator[str]:
    """Yield the places that use a symbol, except those that a comment allows."""
    what = "the variable" if why == _STATE else "the call of"
    lifts = (ALLOWED, "libm") if why == rules.NO_LIBM else (ALLOWED,)
    names = _libm_names(symbol) if why == rules.NO_LIBM else [_spoken(symbol)]
    found = ((name, list(_mentions(files, name))) for name in names)
    name, mentions = next((each for each in found if each[1]), (symbol, []))
    if any(rules.allows(lines, lift, at) for _, at, lines in mentions for lift in lifts):
        return
    if not mentions:
        yield f"GE: {what} `{symbol}`: {why}"
    for file, number, _ in mentions[:1]:
        yield f"{file}:{number}: GE: {what} `{name}`: {why}"


def _mentions(files: Sequence[Path], name: str) -> Iterator[tuple[Path, int, list[str]]]:
    """Yield file, line and all lines of each mention in code; declarations first."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(rules.without_comments(text).splitlines(), start=1):
            if word.search(line):
                found.append((not _declares(line, name), file, number, text.splitlines()))
    for _, file, number, lines in sorted(found, key=lambda mention: mention[0]):
        yield file, number, lines


def _declares(line: str, name: str) -> bool:
    """Whether a line seems to declare a variable: a type stands before its name, no `return`."""
    for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", line):
        before = line[max(0, found.start() - 80) : found.start()]
        word = re.search(r"(\w+)(?:>?[\s*&]+|>)$", before)
        is_type = word is not None and word[1] not in ("return", "throw", "case", "else", "new")
        if is_type and line[found.end() :].lstrip()[:1] in ("", "=", "[", "{", "(", ";"):
            return True
    return False
