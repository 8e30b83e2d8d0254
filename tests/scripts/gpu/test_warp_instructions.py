"""scripts/gpu/warp_instructions.py reads what nvdisasm prints and puts counts to its blocks."""

from collections import Counter

import pytest

from scripts.gpu import executions, sass
from scripts.gpu import warp_instructions as warps

FILE = f"{sass.ROOT}/kernels/envs/game.hpp"
TEXT = """
.text._Z4stepv:
	//## File "{file}", line 1
        /*0000*/                   MOV R1, R2 ;
	//## File "{file}", line 2
        /*0010*/                   ISETP.NE.AND P0, PT, R1, RZ, PT ;
        /*0020*/              @!P0 BRA `(.L_x_1) ;
.L_x_0:
	//## File "{file}", line 3 inlined at "{file}", line 2
	//## File "{file}", line 2
        /*0030*/                   FADD R3, R3, R4 ;
        /*0040*/                   LDG.E R4, desc[UR6][R4.64] ;
	//## File "{file}", line 2
        /*0050*/               @P0 BRA `(.L_x_0) ;
.L_x_1:
	//## File "{file}", line 4
        /*0060*/                   STG.E desc[UR6][R4.64], R3 ;
        /*0070*/                   EXIT ;
.L_x_2:
        /*0080*/                   BRA `(.L_x_2) ;
""".replace("{file}", FILE)


def _line(*numbers):
    return tuple(f"envs/game.hpp:{number}" for number in numbers)


@pytest.fixture
def blocks():
    [(name, lines)] = sass.kernels(TEXT.splitlines()[1:])
    assert name == "_Z4stepv"
    return sass.blocks_of(lines)


def test_blocks_have_their_lines_and_ways_on(blocks):
    found, roots = blocks
    assert roots == [0]
    assert [len(block.instructions) for block in found[:4]] == [3, 3, 2, 1]
    assert [sorted(block.next) for block in found[:3]] == [[1, 2], [1, 2], []]
    assert found[1].instructions[0].chain == _line(3, 2)
    assert found[1].instructions[2].chain == _line(2)


def test_a_loop_is_found_and_what_nothing_reaches_is_not(blocks):
    found, roots = blocks
    above = sass.dominators([block.next for block in found], roots)
    assert above[:4] == [-1, 0, 0, -2]
    assert sass.loops_of(found, above)[:3] == [-1, 1, -1]
    assert sass.classes_of(found, above, [-1, 1, -1, -1])[:3] == [0, 1, 0]


def test_counts_become_instructions(blocks):
    counts = {_line(1): {1.0}, _line(2): {1.0, 7.0}, _line(3, 2): {7.0}, _line(4): {1.0}}
    launch = warps.Launch("", 0, "step", 32, 1.0, counts, {c: max(n) for c, n in counts.items()})
    lines = TEXT.splitlines()[2:]
    made = warps.estimate(lines, launch)
    assert made.lines["envs/game.hpp:3"] == pytest.approx(14)
    assert made.lines["envs/game.hpp:4"] == pytest.approx(3, abs=1)


def test_a_body_that_was_unrolled_runs_less_often():
    names = {_line(3): Counter(FADD=4, LDG=4), _line(4): Counter(STG=4)}
    assert executions.unrolled(names[_line(3)]) == {1, 2, 4}
    assert executions.unrolled(Counter(FADD=4, LDG=3)) == {1}
    group = executions.Group(names)
    group.unrolled = executions._loop_unrolled([group])
    assert group.unrolled == 4
    counts = executions.Counted({_line(3): {20.0}, _line(4): {20.0}})
    assert executions._vote(group, counts, float("inf"))
    assert group.number == 5.0


def test_calls_that_a_compiler_left_out_are_found():
    counts = executions.Counted({_line(1, 2, 3): {6.0}, _line(5): {2.0}})
    assert counts.of(_line(1, 3)) == {6.0}
    assert counts.of(_line(9, 5)) == {2.0}
    assert counts.of(_line(9)) == set()


def test_addresses_belong_to_the_counter_before_them():
    text = """
0000000000001000 <step>:
    1000:\tcall   20 <__sanitizer_cov_trace_pc>
    1005:\tmov    %eax,%ebx
    1007:\tcall   20 <__sanitizer_cov_trace_pc>
    100c:\tret
"""
    [pairs] = warps.places_of(text.splitlines()).values()
    assert pairs == [(0x1005, 0x1005), (0x100C, 0x100C)]
