"""How often a warp executes each block of machine code, from counts of its source lines.

A compiler inlines, unrolls and leaves out calls, so a count belongs to a chain of lines, and a
block takes the number that most of its instructions can have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.gpu.sass import Block, Chain, ancestors, classes_of, dominators, loops_of

Counts = Mapping[Chain, set[float]]


class Counted:
    """Counts by chain, also for chains of which a compiler left out calls."""

    def __init__(self, counts: Counts) -> None:
        """Index chains by their innermost line."""
        self._counts = counts
        self._found: dict[Chain, set[float]] = dict(counts)
        self._by_line = defaultdict[str, list[Chain]](list)
        for chain in counts:
            if chain:
                self._by_line[chain[0]].append(chain)

    def of(self, chain: Chain) -> set[float]:
        """Return what is known of a line inlined so, or else of whoever called it."""
        if chain not in self._found:
            longer = [known for known in self._by_line.get(chain[0], ()) if _leads(known, chain)]
            numbers = set[float]().union(*(self._counts[known] for known in longer))
            self._found[chain] = numbers or (self.of(chain[1:]) if len(chain) > 1 else set())
        return self._found[chain]


def _leads(long: Chain, short: Chain) -> bool:
    """Whether a chain becomes the other one where calls are left out."""
    rest = iter(long)
    return all(frame in rest for frame in short)


def unrolled(names: Counter[str]) -> set[int]:
    """Return by how many times a line with these opcodes may have been unrolled."""
    total = sum(names.values())
    return {
        m
        for m in range(1, max(names.values()) + 1)
        if sum(n for n in names.values() if n % m == 0) >= 0.8 * total
    }


@dataclass
class Group:
    """Blocks that run equally often."""

    names: dict[Chain, Counter[str]]
    number: float = 0.0
    unrolled: int = 1


def _loop_unrolled(body: Sequence[Group]) -> int:
    """Return by how many times the body of a loop was unrolled, if nearly all of it was."""
    names = defaultdict[Chain, Counter[str]](Counter)
    for group in body:
        for chain, opcodes in group.names.items():
            names[chain].update(opcodes)
    size = sum(opcodes.total() for opcodes in names.values())
    for by in (16, 8, 4, 2):
        if sum(o.total() for o in names.values() if by in unrolled(o)) >= 0.85 * size:
            return by
    return 1


def _vote(group: Group, counts: Counted, most: float) -> bool:
    """Settle on the number that most instructions can have; False where nothing is known.

    Of those that are as good the largest. A line that runs somewhere is not taken as one that
    never does: places that only their stage tells apart share their counts.
    """
    votes = Counter[float]()
    for chain, opcodes in group.names.items():
        values: dict[float, float] = {}
        for m in sorted(unrolled(opcodes) if group.unrolled == 1 else (group.unrolled,)):
            known = counts.of(chain)
            for count in known - {0.0} or known:
                values.setdefault(round(count / m, 4), 1.0 if m == group.unrolled else 0.9)
        for value, weight in values.items():
            if value <= most * 1.001:
                votes[value] += weight * opcodes.total()  # type: ignore[assignment]
    if not votes:
        return False
    best = max(votes.values())
    group.number = max(v for v, n in votes.items() if n >= 0.97 * best)
    return True


def executions(blocks: Sequence[Block], roots: Sequence[int], counts: Counts) -> list[Group]:
    """Return for each block the group that knows how often a warp executes it."""
    above = dominators([block.next for block in blocks], roots)
    inner, known = loops_of(blocks, above), Counted(counts)
    same = classes_of(blocks, above, inner)
    groups: dict[int, Group] = {}
    for k, first in enumerate(same):
        if above[k] != -2:
            group = groups.setdefault(first, Group(defaultdict(Counter)))
            for one in blocks[k].instructions:
                group.names[one.chain][one.opcode] += 1
    for head in set(inner) - {-1}:
        body = [k for k in groups if inner[k] == head]
        by = _loop_unrolled([groups[k] for k in body])
        for k in body:
            groups[k].unrolled = by
    depth = {k: sum(1 for _ in ancestors(above, k)) for k in groups}
    for k in sorted(groups, key=lambda k: depth[k]):
        # A block runs at most as often as the one through which the same loop leads to it.
        most = float("inf")
        for up in list(ancestors(above, k))[1:]:
            if inner[up] == inner[k] and groups[same[up]].number:
                most = groups[same[up]].number
                break
        if k == 0:
            groups[k].number = 1.0
        elif not _vote(groups[k], known, most):
            groups[k].number = groups[same[above[k]]].number if above[k] >= 0 else 0.0
    never = Group({})
    return [groups[first] if above[k] != -2 else never for k, first in enumerate(same)]
