"""Reads the machine code that nvdisasm prints: instructions, their lines, ways between them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Chain = tuple[str, ...]  # "file:line", the innermost first


@dataclass
class Instruction:
    """One line of nvdisasm."""

    text: str  # without predicate
    predicate: str
    chain: Chain

    @property
    def opcode(self) -> str:
        """Its name, with what stands behind dots."""
        return self.text.split(" ", 1)[0]


@dataclass
class Block:
    """Instructions that run one after the other, and where control goes from there."""

    instructions: list[Instruction] = field(default_factory=list)
    next: list[int] = field(default_factory=list)


_FRAME = re.compile(r'File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?')
_LABEL = re.compile(r"^(\.L_\w+|\$[^:]+):")
_CODE = re.compile(r"^\s+/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@(!?U?P\w+)\s+)?([A-Z][^;]*?)\s*;")
_TARGET = re.compile(r"`\(([^)]+)\)")


def short(file: str) -> str:
    """Return a file by its name below kernels/, if it is of this tree."""
    path = os.path.normpath(file)
    return path.rpartition("/kernels/")[2] if path.startswith(str(ROOT)) else path


def kernels(text: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the mangled name and the lines of each kernel that nvdisasm printed."""
    name, lines = "", list[str]()
    for line in text:
        if line.startswith("//-----") or line.startswith("\t.section"):
            if name:
                yield name, lines
            name, lines = "", []
        elif line.startswith(".text.") and line.rstrip().endswith(":"):
            name = line.strip()[6:-1]
        elif name:
            lines.append(line)
    if name:
        yield name, lines


def blocks_of(lines: Iterable[str]) -> tuple[list[Block], list[int]]:
    """Return the basic blocks of a kernel, and those where it and its functions begin."""
    blocks, labels, frames = [Block()], dict[str, int](), list[str]()
    chain: Chain = ()
    jumps: list[tuple[int, str]] = []
    called: list[str] = []
    falls: dict[int, bool] = {}  # into the next one
    for line in lines:
        if found := _FRAME.search(line):
            if not frames:
                frames = [f"{short(found[1])}:{found[2]}"]
            if found[3]:
                frames.append(f"{short(found[3])}:{found[4]}")
            chain = tuple(frames)
            continue
        if label := _LABEL.match(line):
            if blocks[-1].instructions:
                blocks.append(Block())
            labels[label[1]] = len(blocks) - 1
            continue
        code = _CODE.match(line)
        if not code:
            continue
        frames = []
        one = Instruction(code[2], code[1] or "", chain)
        here = len(blocks) - 1
        blocks[here].instructions.append(one)
        name = one.opcode.split(".")[0]
        target = _TARGET.search(one.text)
        ends = name in ("BRA", "EXIT", "RET", "BRX", "JMP", "BREAK", "UBRA")
        if name == "CALL" and target:
            called.append(target[1])
        if ends:
            if target and not one.opcode.startswith("BRA.DIV"):
                jumps.append((here, target[1]))
            operand = one.text[len(one.opcode) :].partition("`")[0]
            falls[here] = (
                bool(one.predicate)
                or name == "BREAK"
                or "P" in operand
                or (one.opcode.startswith("BRA.DIV"))
            )
            blocks.append(Block())
    for k in range(len(blocks) - 1):
        if falls.get(k, True):
            blocks[k].next.append(k + 1)
    for k, target_name in jumps:
        if target_name in labels:
            blocks[k].next.append(labels[target_name])
    return blocks, [0, *sorted({labels[name] for name in called if name in labels})]


# ---- the graph of blocks


def dominators(next_of: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Return the immediate dominator of each node, -1 for roots and -2 for what none reaches."""
    top = len(next_of)
    edges = [*next_of, list(roots)]
    order, seen, stack = list[int](), {top}, [(top, iter(edges[top]))]
    while stack:
        node, rest = stack[-1]
        step = next((n for n in rest if n not in seen), None)
        if step is None:
            order.append(stack.pop()[0])
        else:
            seen.add(step)
            stack.append((step, iter(edges[step])))
    number = {node: k for k, node in enumerate(order)}
    before = defaultdict[int, list[int]](list)
    for node in order:
        for n in edges[node]:
            before[n].append(node)
    above = {top: top}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            new = -1
            for other in before[node]:
                if other not in above:
                    continue
                if new < 0:
                    new = other
                    continue
                a, b = new, other
                while a != b:
                    while number[a] < number[b]:
                        a = above[a]
                    while number[b] < number[a]:
                        b = above[b]
                new = a
            if above.get(node) != new:
                above[node], changed = new, True
    return [-2 if k not in above else -1 if above[k] == top else above[k] for k in range(top)]


def ancestors(above: Sequence[int], node: int) -> Iterator[int]:
    """Yield a node and all that dominate it, the closest first."""
    while node >= 0:
        yield node
        node = above[node]


def loops_of(blocks: Sequence[Block], above: Sequence[int]) -> list[int]:
    """Return the header of the innermost natural loop of each block, or -1."""
    before = defaultdict[int, list[int]](list)
    for k, block in enumerate(blocks):
        for n in block.next:
            before[n].append(k)
    bodies: dict[int, set[int]] = {}
    for k, block in enumerate(blocks):
        for head in block.next:
            if above[k] == -2 or head not in ancestors(above, k):
                continue
            body = bodies.setdefault(head, {head})
            stack = [k]
            while stack:
                node = stack.pop()
                if node not in body and above[node] != -2:
                    body.add(node)
                    stack += before[node]
    inner = [-1] * len(blocks)
    for head, body in sorted(bodies.items(), key=lambda item: -len(item[1])):
        for node in body:
            inner[node] = head
    return inner


def classes_of(blocks: Sequence[Block], above: Sequence[int], inner: Sequence[int]) -> list[int]:
    """Return for each block the first one that runs exactly as often."""
    back: list[list[int]] = [[] for _ in blocks]
    for k, block in enumerate(blocks):
        for n in block.next:
            back[n].append(k)
    ends = [k for k, block in enumerate(blocks) if not block.next]
    below = dominators(back, ends)
    same = list(range(len(blocks)))
    for k in range(len(blocks)):
        if above[k] == -2:
            continue
        for other in ancestors(above, above[k]):
            if inner[other] == inner[k] and k in ancestors(below, below[other]):
                same[k] = other if same[other] == other else same[other]
                break
    return same
