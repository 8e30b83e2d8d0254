"""What rules may not say, for lint of a source tree and for `build` of a header elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

LIBM = re.compile(
    r"#\s*include\s*<(?:cmath|math\.h|tgmath\.h)>|"
    r"\bstd::(?:a?(?:sin|cos|tan)h?|atan2|exp\w*|log\w*|pow|cbrt|hypot|sqrt|fma|fmod|remainder|"
    r"l?l?round|l?l?rint|nearbyint|floor|ceil|trunc|fmin|fmax|lerp|[lt]gamma|erfc?)\s*[(<;]|"
    r"(?<![\w.:>])(?:a?(?:sin|cos|tan)h?|atan2|exp2?|log\d*|pow|hypot|sqrt|fma)f\s*\("
)
NO_LIBM = "use engine/maths/math.hpp, whose bits are equal everywhere"
ALLOW = re.compile(r"lint: allow ([\w-]+): \S+")

_SILENT = re.compile(  # comments and literals
    r"//[^\n]*|/\*.*?\*/|R\"(?P<d>[^(\s]*)\(.*?\)(?P=d)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def without_comments(text: str, keep_literals: bool = False) -> str:
    """C++ text with comments and the insides of literals blanked; lines stay where they are."""

    def blank(found: re.Match[str]) -> str:
        whole = found.group()
        if whole[0] in "\"'R":
            return whole if keep_literals else '"' + re.sub(r"[^\n]", " ", whole[1:-1]) + '"'
        return re.sub(r"[^\n]", " ", whole)

    def keep_includes(found: re.Match[str]) -> str:
        start = text.rfind("\n", 0, found.start()) + 1
        is_include = text[start : found.start()].lstrip().startswith("#include")
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
        path = waiting.pop().resolve()
        if path in found or not path.is_file():
            continue  # the engine's, or one that the compiler will miss
        found[path] = None
        names = _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))
        waiting += [path.parent / name for name in reversed(names)]
    return list(found)


def breaches(header: Path) -> list[str]:
    """Return what the rules of a header say that would differ between machines."""
    said = []
    for path in headers_of(header):
        text = path.read_text(encoding="utf-8", errors="replace")
        for line, words in occurrences(text, LIBM):
            if not allows(text.splitlines(), "libm", line):
                said.append(f"{path}:{line}: GE: `{words}`: {NO_LIBM}")
    return said
