"""Patterns that rules may not contain, for lint of a source tree and `build` of other headers."""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

LIBM = re.compile(
    r"#\s*include\s*<(?:cmath|math\.h|tgmath\.h)>|"
    r"\bstd::(?:a?(?:sin|cos|tan)h?|atan2|exp\w*|log\w*|pow|cbrt|hypot|sqrt|fma|fmod|remainder|"
    r"l?l?round|l?l?rint|nearbyint|floor|ceil|trunc|fmin|fmax|lerp|[lt]gamma|erfc?)\s*[(<;]|"
    r"(?<![\w.:>])(?:a?(?:sin|cos|tan)h?|atan2|exp2?|log\d*|pow|hypot|sqrt|fma)f\s*\("
)
NO_LIBM = "use engine/maths/math.hpp, whose bits are equal everywhere"
STEERED = re.compile(
    r"#\s*pragma\s+(?:(?:GCC|clang)\s+(?:optimize|target|fp)|STDC)\b|\b_Pragma\b|"
    r"__attribute__\s*\(\(\s*_*(?:optimize|target)|\[\[\s*gnu::(?:optimize|target)|"
    r"\b_*(?:builtin_ia32_)?rd(?:tscp?|pmc|pid|rand\w*|seed\w*)\b|\b_mm_setcsr\b|\b_MM_SET_\w+|"
    r"\b(?:__asm__|__asm|asm)\b"
)
NOT_STEERED = "bits are equal on every machine, which this changes or reads"
ALLOW = re.compile(r"lint: allow ([\w-]+): \S+")

_SILENT = re.compile(  # comments and literals
    # An unterminated one reaches to the end of the file, or each start would rescan all of it.
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|R\"(?P<d>[^()\\\s]{0,16})\((?:.*?)(?:\)(?P=d)\"|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<(/[^>]+)>)')
_LARGEST = 16 << 20  # bytes of a header
_MOST = 20  # most lines of problems of a header
_ENDLESS = (Path("/dev"), Path("/proc"), Path("/sys"))  # endless or changing
_FILES = Path("/dev/shm")  # but here are files as everywhere else


def without_comments(text: str, keep_literals: bool = False) -> str:
    """C++ text with comments and the insides of literals blanked; lines stay where they are."""

    def blank(found: re.Match[str]) -> str:
        whole = found.group()
        if whole[0] in "\"'R":
            return whole if keep_literals else '"' + re.sub(r"[^\n]", " ", whole[1:-1]) + '"'
        return re.sub(r"[^\n]", " ", whole)

    def keep_includes(found: re.Match[str]) -> str:
        # A line may be as long as the file, so only its end is looked at.
        before = text[max(0, found.start() - 80) : found.start()].rpartition("\n")[2]
        is_include = before.lstrip().startswith("#include")
        return found.group() if is_include else blank(found)

    return _SILENT.sub(keep_includes, text)


def allows(lines: list[str], rule: str, line: int) -> bool:
    """Whether a comment on a 1-based line, or on the one above, lifts a rule there."""
    return any(rule in ALLOW.findall(text) for text in lines[max(0, line - 2) : line])


def occurrences(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield line and words of each line of code on which a pattern occurs."""
    for number, line in enumerate(without_comments(text).splitlines(), start=1):
        if found := pattern.search(line):
            yield number, found.group().strip()


def headers_of(header: Path) -> list[Path]:
    """Return a header, and what it includes from beside itself, in the order of their reading."""
    waiting, found = [header], dict[Path, None]()
    while waiting:
        path = _real(waiting.pop())
        if path in found or unreadable(path):
            continue  # the engine's, one that the compiler will miss, or one that is refused
        found[path] = None
        waiting += [included for _, included in reversed(list(_includes(path)))]
    return list(found)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # a link to itself stays as it is


def _includes(path: Path) -> Iterator[tuple[int, Path]]:
    """Yield line and path of each file that a header names from beside itself, or wholly."""
    text = without_comments(path.read_text(encoding="utf-8", errors="replace"))
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _INCLUDE.match(line):
            yield number, path.parent / (found[1] or found[2])


def unreadable(path: Path) -> str:
    """Return why a file may not be read, such as a device without an end; "" if it may."""
    try:
        status = path.stat()
    except (OSError, ValueError) as problem:
        return str(getattr(problem, "strerror", problem))
    is_endless = any(map(path.is_relative_to, _ENDLESS)) and not path.is_relative_to(_FILES)
    if not stat.S_ISREG(status.st_mode) or is_endless:
        return "it is not a regular file"
    if status.st_size > _LARGEST:
        return f"it has more than {_LARGEST >> 20} MiB"
    return ""


def breaches(header: Path) -> list[str]:
    """Return the lines of a header that might not end, or might differ between machines."""
    if why := unreadable(header):
        return [f"{header}: GE: {why}"]
    return list(itertools.islice(_said(headers_of(header)), _MOST))


def _said(headers: list[Path]) -> Iterator[str]:
    for path in headers:
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        for line, included in _includes(path):
            if included.exists() and (why := unreadable(_real(included))):
                yield f"{path}:{line}: GE: `{included}` is included, but {why}"
        for rule, pattern, why in (("libm", LIBM, NO_LIBM), ("impure", STEERED, NOT_STEERED)):
            for line, words in occurrences(text, pattern):
                if not allows(lines, rule, line):
                    yield f"{path}:{line}: GE: `{words}`: {why}"
