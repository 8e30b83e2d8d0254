"""Instructions that some lane has executed: merged over processes, explained and shown.

A module's kernels are merged by name, their instructions by place: all processes have read the same
PTX. A kernel that nobody has asked for is not in a report with its instructions; how many it has is
counted in the text, which lies uncompressed in the module.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.ptx.interpreter import Kernel

ROOT = Path(__file__).resolve().parents[2]
_TREE = re.compile(r"^.*?/(?=(kernels|tests|examples)/)")  # an object may be of another clone
_KERNEL = re.compile(
    r"_ZN2ge12phase_kernelI(?P<type>.+?)Li(?P<graph>\d+)ELi(?P<launch>\d+)ELi(?P<lanes>\d+)"
    r"ELb(?P<slab>[01])EEEv"
)
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(")
_INSTRUCTION = re.compile(r"^\s*(@!?%p\d+\s+)?[a-z][a-z0-9_]*(?:[.;]|\s+\$)", re.MULTILINE)

Place = tuple[str, str]  # object and kernel
Row = tuple[str, str]  # source line and opcode
Way = tuple[int, int]  # the place that a branch leads to, or -1; whether the next one can follow


@dataclass
class Counted:
    """The instructions of a kernel, and which of them were executed."""

    rows: list[Row] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    done: bytearray = field(default_factory=bytearray)
    unread: int = 0  # instructions of a kernel that nobody asked for

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows) or self.unread

    @property
    def executed(self) -> int:
        """How many were executed."""
        return sum(self.done)

    def missing(self) -> Iterator[tuple[Row, list[Row]]]:
        """Yield those that were not, each with the executed ones that lead to it.

        None leads into a function that was never called.
        """
        leads: dict[int, list[Row]] = {k: [] for k, done in enumerate(self.done) if not done}
        for place, done in enumerate(self.done):
            for behind in self._behind(place) if done else ():
                leads[behind].append(self.rows[place])
        for place, rows in leads.items():
            yield self.rows[place], rows

    def _behind(self, place: int) -> set[int]:
        """Return the places that one leads to over such as were not executed."""
        found: set[int] = set()
        left = [place]
        while left:
            place = left.pop()
            target, goes_on = self.ways[place]
            following = (target, place + 1 if goes_on and place + 1 < len(self.rows) else -1)
            new = {k for k in following if k >= 0 and not self.done[k]} - found
            found |= new
            left += new
        return found


@dataclass
class Reached:
    """What was executed of all kernels."""

    kernels: dict[Place, Counted] = field(default_factory=dict)

    def add(self, other: Reached) -> None:
        """Take in what another process has executed."""
        for place, theirs in other.kernels.items():
            ours = self.kernels.setdefault(place, Counted())
            ours.unread = ours.unread or theirs.unread
            if not theirs.rows:
                continue
            if not ours.rows:
                ours.rows, ours.ways = theirs.rows, theirs.ways
                ours.done = bytearray(theirs.done)
                continue
            if len(ours.rows) != len(theirs.rows):
                raise ValueError(f"{place} was compiled again between two runs")
            ours.done = bytearray(a | b for a, b in zip(ours.done, theirs.done, strict=True))

    def summary(self) -> str:
        """Return the share of all instructions in words."""
        total = sum(each.total for each in self.kernels.values())
        done = sum(each.executed for each in self.kernels.values())
        return f"{percent(done, total):.1f} % of {total}"

    def as_json(self) -> list[Any]:
        """Return what `read` reads."""
        return [
            [*place, each.rows, each.ways, each.done.hex(), each.unread]
            for place, each in sorted(self.kernels.items())
        ]


def percent(part: int, whole: int) -> float:
    """Return a share; of nothing all."""
    return 100.0 * part / whole if whole else 100.0


def read(held: Iterable[Sequence[Any]]) -> Reached:
    """Return what `as_json` has written."""
    found = Reached()
    for object_name, kernel, rows, ways, done, unread in held:
        found.kernels[object_name, kernel] = Counted(
            [(source, opcode) for source, opcode in rows],
            [(target, goes_on) for target, goes_on in ways],
            bytearray.fromhex(done),
            unread,
        )
    return found


def of_report(kernels: Iterable[Kernel]) -> Reached:
    """Return what a process has executed, from its report."""
    found = Reached()
    for kernel in kernels:
        counted = found.kernels.setdefault((kernel.object, kernel.name), Counted())
        for rows in kernel.functions.values():
            first = len(counted.rows)
            for row in rows:
                counted.rows.append((_TREE.sub("", row.source), row.opcode))
                counted.ways.append((first + row.target - 1 if row.target else -1, row.goes_on))
                counted.done.append(row.lanes > 0)
    return found


def of_files(files: Iterable[Path]) -> Reached:
    """Return the kernels of modules, with nothing executed."""
    found = Reached()
    for file in files:
        sizes = sizes_of(file.read_bytes().decode("latin-1"))
        found.kernels |= {(file.name, name): Counted(unread=size) for name, size in sizes.items()}
    return found


def sizes_of(text: str) -> dict[str, int]:
    """Return how many instructions the entries have whose PTX is in a text."""
    found = {}
    for entry in _ENTRY.finditer(text):
        body = text[entry.end() : text.find("\n}", entry.end())]
        found[entry[1]] = len(_INSTRUCTION.findall(body))
    return found


# ---- reasons


@dataclass
class Reason:
    """Why no simulator reaches some instructions.

    A row has it if all that is given matches: the module, the kernel's name, the file, the text of
    the source line, the opcode; and `behind`, the text of the source line of each executed branch
    that is never taken to it.
    """

    why: str
    module: str = ""
    kernel: str = ""
    file: str = ""
    line: str = ""
    opcode: str = ""
    behind: str = ""
    used: int = 0

    def is_of(self, module: str, kernel: str) -> bool:
        """Whether it can be the reason of rows of a kernel."""
        return bool(re.search(self.module, module) and re.search(self.kernel, kernel))

    def holds(self, row: Row, leads: Sequence[Row]) -> bool:
        """Whether it is the reason of a row of such a kernel, to which these lead."""
        source, opcode = row
        return bool(
            re.search(self.file, source.rpartition(":")[0])
            and re.search(self.opcode, opcode)
            and (not self.line or re.search(self.line, _text_at(source)))
            and (not self.behind or self._is_behind(leads))
        )

    def _is_behind(self, leads: Sequence[Row]) -> bool:
        return bool(leads) and all(re.search(self.behind, _text_at(lead[0])) for lead in leads)

    @property
    def is_of_rows(self) -> bool:
        """Whether it explains single rows, not a whole kernel."""
        return bool(self.file or self.line or self.opcode or self.behind)


_sources: dict[str, list[str]] = {}


def _text_at(source: str) -> str:
    file, _, number = source.rpartition(":")
    return _text_of(file, int(number or 0))


def _text_of(file: str, number: int) -> str:
    if file not in _sources:
        path = ROOT / file
        _sources[file] = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    lines = _sources[file]
    return lines[number - 1] if 0 < number <= len(lines) else ""


def read_reasons(file: Path) -> list[Reason]:
    """Return the reasons of a file."""
    return [Reason(**each) for each in json.loads(file.read_text(encoding="utf-8"))]


def explained(
    module: str, kernel: str, counted: Counted, reasons: Sequence[Reason]
) -> tuple[int, list[Row]]:
    """Return how many missing instructions have a reason, and those that have none."""
    known, without = 0, []
    of_kernel = [each for each in reasons if each.is_of(module, kernel)]
    # A reason of single rows explains nothing in a kernel that has not run at all.
    of_rows = [each for each in of_kernel if counted.executed or not each.is_of_rows]
    for row, leads in counted.missing():
        reason = next((each for each in of_rows if each.holds(row, leads)), None)
        if reason is None:
            without.append(row)
        else:
            reason.used += 1
            known += 1
    of_all = [each for each in of_kernel if not each.is_of_rows]
    if not counted.rows and of_all:
        known = counted.unread
        of_all[0].used += 1
    return known, without


def judge(
    whole: Reached, reasons: Sequence[Reason], of_a_kernel: float, of_all: float, *, is_all: bool
) -> list[str]:
    """Return what is missed: kernels below their share, all below theirs, reasons of nothing."""
    problems, done, total = [], 0, 0
    shown = names([kernel for _, kernel in whole.kernels])
    for (object_name, kernel), counted in sorted(whole.kernels.items()):
        known, _ = explained(object_name, shown[kernel], counted, reasons)
        done, total = done + counted.executed + known, total + counted.total
        share = percent(counted.executed + known, counted.total)
        if share < of_a_kernel:
            problems.append(f"{object_name} {shown[kernel]}: {share:.1f} % of {of_a_kernel:.0f}")
    if percent(done, total) < of_all:
        problems.append(f"all kernels: {percent(done, total):.1f} % of {of_all:.0f}")
    unused = [reason for reason in reasons if not reason.used] if is_all else []
    problems += [f"a reason that matches nothing: {reason}" for reason in unused]
    return problems


# ---- what is shown


def names(mangled: Sequence[str]) -> dict[str, str]:
    """Return short readable names of kernels."""
    types: dict[str, int] = {}
    found: dict[str, str] = {}
    for name in sorted(set(mangled)):
        if m := _KERNEL.match(name):
            plain = re.sub(r"S[0-9A-Z]*_", "S_", m["type"])
            form = types.setdefault(plain, len(types))
            graph = ("step", "reset")[int(m["graph"])]
            slab = ", slab" if m["slab"] == "1" else ""
            found[name] = f"{graph} {m['launch']}, {m['lanes']} lanes{slab}, form {form}"
    others = [name for name in sorted(set(mangled)) if name not in found]
    tool = shutil.which("cu++filt") or shutil.which("c++filt")
    if tool and others:
        text = "\n".join(others)
        said = subprocess.run([tool], input=text, text=True, capture_output=True, check=True)
        found |= dict(zip(others, map(_short, said.stdout.splitlines()), strict=True))
    return {name: found.get(name, name) for name in mangled}


def _short(name: str) -> str:
    name = re.sub(r"gpu_envs::|ge::|void |\(anonymous namespace\)::|<unnamed>::", "", name)
    return name if len(name) <= 150 else f"{name[:100]} .. {name[-40:]}"


def table(recorded: Reached, whole: Reached, reasons: Sequence[Reason], lines: int) -> str:
    """Return kernels with their shares, and the source lines that were not reached, by module.

    Args:
        recorded: What recorded runs have executed.
        whole: What all runs have.
        reasons: Why some instructions cannot be.
        lines: How many source lines of each module are shown.
    """
    shown, said, of_all = names([kernel for _, kernel in whole.kernels]), [], _Sum()
    modules: dict[str, list[tuple[str, Counted, Counted]]] = defaultdict(list)
    for (object_name, kernel), counted in sorted(whole.kernels.items()):
        before = recorded.kernels.get((object_name, kernel), Counted())
        modules[object_name].append((shown[kernel], before, counted))
    for module, kernels in modules.items():
        of_module, missing = _Sum(), defaultdict[str, list[str]](list)
        said.append(f"\n{module}: recorded runs, all runs, explained")
        for name, before, counted in kernels:
            known, without = explained(module, name, counted, reasons)
            one = _Sum(before.executed, counted.executed, known, counted.total)
            of_module.add(one)
            note = "" if counted.rows else " (never asked for)"
            said.append(f"  {one}  {name}{note}")
            for source, opcode in without:
                missing[source].append(opcode)
        said.append(f"  {of_module}  all of {module}")
        of_all.add(of_module)
        said += _lines(missing, lines)
    return "\n".join([*said, f"\n  {of_all}  all kernels"])


@dataclass
class _Sum:
    before: int = 0
    executed: int = 0
    known: int = 0
    total: int = 0

    def add(self, other: _Sum) -> None:
        self.before, self.executed = self.before + other.before, self.executed + other.executed
        self.known, self.total = self.known + other.known, self.total + other.total

    def __str__(self) -> str:
        parts = (self.before, self.executed, self.executed + self.known)
        shares = " ".join(f"{percent(part, self.total):6.1f}" for part in parts)
        return f"{shares} % of {self.total:7}"


def _lines(missing: dict[str, list[str]], most: int) -> list[str]:
    said = []
    for source, opcodes in sorted(missing.items(), key=lambda item: -len(item[1]))[:most]:
        file, _, number = source.rpartition(":")
        text = _text_of(file, int(number or 0)).strip()[:70]
        shown = " ".join(f"{count} {opcode}" for opcode, count in Counter(opcodes).most_common(2))
        place = source or "no source line"
        said.append(f"      {len(opcodes):6} not reached: {place}  {text}  ({shown})")
    return said
