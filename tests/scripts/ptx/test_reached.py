"""What was reached of kernels: merged, explained, judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.ptx import reached
from scripts.ptx.interpreter import Kernel, Row
from scripts.ptx.reached import Counted, Reached, Reason

CLONE = "/a/" + "kernels/engine/rows.hpp:"
PTX = """
.visible .entry _Z4stepv(
.param .u32 a
)
{
.reg .pred %p<2>;
ld.param.u32 %r1, [a];
@%p1 bra $L__BB0_2;
	{ // callseq 1, 0
call.uni
_Z5otherv,
(
param0
);
	} // callseq 1
$L__BB0_2:
ret;

}
.visible .entry _Z5resetv()
{
ret;

}
"""


def _kernel(name: str, lanes: list[int]) -> Kernel:
    rows = [
        Row(line, f"{CLONE}{line}", "add.s32", "integer", 1, n, 0, 0, 0, 0, 1)
        for line, n in enumerate(lanes, 1)
    ]
    return Kernel(name, "a.so", 64, 0, 0, 1, 1, 32, {name: rows})


def _merged(*runs: list[int]) -> Reached:
    whole = Reached({("a.so", "k"): Counted(unread=9)})
    for lanes in runs:
        whole.add(reached.of_report([_kernel("k", lanes)]))
    return whole


def test_an_instruction_counts_that_any_process_has_executed() -> None:
    counted = _merged([32, 0, 0, 0], [0, 0, 5, 0]).kernels["a.so", "k"]
    assert (counted.executed, counted.total) == (2, 4)
    assert [row[0] for row, _ in counted.missing()] == [
        "kernels/engine/rows.hpp:2",
        "kernels/engine/rows.hpp:4",
    ]


def test_a_module_that_was_compiled_between_two_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="compiled again"):
        _merged([1, 1], [1, 1, 1])


def test_kernels_that_nobody_asked_for_count_by_their_text(tmp_path: Path) -> None:
    module = tmp_path / "a.so"
    module.write_bytes(b"\x7fELF\xff" + PTX.encode() + b"\0\xfe")
    found = reached.of_files([module])
    sizes = {kernel: each.total for (_, kernel), each in found.kernels.items()}
    assert sizes == {"_Z4stepv": 4, "_Z5resetv": 1}
    assert reached.judge(found, [], 90, 95, is_all=True)[-1] == "all kernels: 0.0 % of 95"


def test_what_is_kept_is_read_again() -> None:
    whole = _merged([32, 0, 0, 1])
    assert reached.read(whole.as_json()) == whole


def test_a_reason_explains_the_lines_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reached._sources, "kernels/engine/rows.hpp", ["a", "b", "if (bad)", "d"])
    whole = _merged([1, 1, 0, 0])
    assert reached.judge(whole, [], 90, 95, is_all=True) == [
        "a.so k: 50.0 % of 90",
        "all kernels: 50.0 % of 95",
    ]
    reasons = [
        Reason("no run is bad", file="rows.hpp", line=r"if \(bad\)"),
        Reason("the kernel's end", kernel="^k$", line="^d$"),
    ]
    assert reached.judge(whole, reasons, 90, 95, is_all=True) == []


def test_a_reason_explains_what_lies_behind_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["a", "if (never)", "c", "d", "e"]
    monkeypatch.setitem(reached._sources, "kernels/engine/rows.hpp", lines)
    whole = _merged([1, 1, 0, 1, 0])
    reason = Reason("it never is", behind=r"if \(never\)")
    assert reached.explained("a.so", "k", whole.kernels["a.so", "k"], [reason]) == (
        1,
        [("kernels/engine/rows.hpp:5", "add.s32")],
    )
    other = Reason("it never is", module="^b", behind=r"if \(never\)")
    assert reached.explained("a.so", "k", whole.kernels["a.so", "k"], [other])[0] == 0


def test_a_branch_leads_to_where_it_goes_not_to_what_stands_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["if (never)", "end", "sunk", "of_another", "never called"]
    monkeypatch.setitem(reached._sources, "kernels/engine/rows.hpp", lines)
    whole = _merged([1, 1, 0, 0, 0])
    counted = whole.kernels["a.so", "k"]
    counted.ways = [(2, 1), (-1, 0), (3, 1), (-1, 0), (-1, 0)]
    assert [len(leads) for _, leads in counted.missing()] == [1, 1, 0]
    assert [leads[0][0][-1] for _, leads in counted.missing() if leads] == ["1", "1"]
    reason = Reason("it never is", behind=r"if \(never\)")
    assert reached.explained("a.so", "k", counted, [reason])[0] == 2
    counted.ways[1] = (3, 0)  # a second way to it, for which there is no reason
    assert reached.explained("a.so", "k", counted, [reason])[0] == 1


def test_a_reason_that_matches_nothing_is_an_error() -> None:
    reason = Reason("there was one", file="gone.hpp")
    whole = _merged([1, 1])
    [problem] = reached.judge(whole, [reason], 90, 95, is_all=True)
    assert "matches nothing" in problem and "gone.hpp" in problem
    assert reached.judge(whole, [reason], 90, 95, is_all=False) == []


def test_the_table_has_shares_before_and_after_and_the_lines_left() -> None:
    whole, recorded = _merged([1, 0, 1, 1], [0, 0, 1, 1]), _merged([0, 0, 1, 1])
    said = reached.table(recorded, whole, [], 5)
    assert "50.0   75.0   75.0 % of       4  k" in said
    assert "1 not reached: kernels/engine/rows.hpp:2" in said


def test_the_names_of_kernels_are_short() -> None:
    mangled = "_ZN2ge12phase_kernelIN8gpu_envs4envs1a3EnvELi1ELi2ELi8ELb1EEEvNS_6SharedE"
    assert reached.names([mangled])[mangled] == "reset 2, 8 lanes, slab, form 0"


def test_the_shipped_reasons_can_be_read() -> None:
    file = Path(reached.__file__).with_name("unreached.json")
    for reason in reached.read_reasons(file):
        assert reason.why and (reason.module or reason.kernel or reason.is_of_rows)
