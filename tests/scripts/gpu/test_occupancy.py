"""scripts/gpu/occupancy.py: limits of a GPU, kernels by name, tables; the rest needs a compiler."""

import json
import sys
from dataclasses import replace

import pytest

from gpu_envs.benchmark.points import Case
from gpu_envs.known import registration
from scripts.gpu import occupancy

REPORT = """
ptxas info    : Compiling entry function '{name}' for 'sm_90'
ptxas info    : Function properties for {name}
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers
"""
STEP = (
    "_ZN2ge12phase_kernelIN3own4envs4pond11EnvironmentINS2_4TierILi64EEEEELi0ELi1ELi32ELb1EEEv"
    "NS_6SharedE"
)
FLAT = "_ZN2ge16flat_rows_kernelINS_9FlatStageIN3own4envs4pond11EnvironmentEEEEEvT0_"


@pytest.mark.parametrize(
    ("registers", "threads", "shared", "blocks"),
    # By hand from the limits of compute capability 9.0: 64 warps, 32 blocks, 16,384 registers for
    # each of four schedulers in units of 256 a warp, 228 KiB of which a block pays 1 more.
    [
        (32, 128, 0, 16),
        (33, 128, 0, 12),
        (48, 128, 0, 10),
        (255, 128, 0, 2),
        (168, 128, 0, 3),
        (16, 32, 0, 32),
        (32, 1024, 0, 2),
        (65, 512, 0, 1),
        (32, 128, 100 * 1024, 2),
        (32, 128, 227 * 1024, 1),
        (32, 128, 228 * 1024, 0),
        (32, 64, 10_000, 20),
    ],
)
def test_blocks_that_a_multiprocessor_holds(registers, threads, shared, blocks):
    assert occupancy.GPUS["H200"].resident(registers, threads, shared) == blocks


def test_kernels_are_found_by_their_symbols(tmp_path):
    texts = [REPORT.format(name=STEP, registers=80), REPORT.format(name=FLAT, registers=20)]
    for i, text in enumerate([*texts, REPORT.format(name=FLAT + "x", registers=20)]):
        (tmp_path / f"unit{i}.ptxas.txt").write_text(text)
    functions = occupancy.reports(tmp_path)
    # A symbol counts its back references otherwise than the type alone does.
    alone = "N3own4envs4pond11EnvironmentINS1_4TierILi64EEEEE"
    (key, found), *rest = occupancy.by_kernel(functions).items()
    assert not rest and found.registers == 80
    assert key == (occupancy._plain(alone), 0, 1, 32, True)
    (flat,) = occupancy.flat_kernels("Pond-v0", functions, "pond", occupancy.GPUS["H200"])
    assert (flat.form, flat.registers, flat.spilled, flat.warps) == ("2 alike", 20, 20, 64)
    assert not occupancy.flat_kernels("Pon-v0", functions, "pon", occupancy.GPUS["H200"])


def test_figures_of_before_stand_beside_those_that_changed():
    sizes = (80, 16, 20, 128, 1024, 24, True)
    kernel = occupancy.Kernel("Pond-v0", "", "step", "step", 32, True, *sizes)
    before = {kernel.key: {"registers": 96, "stack": 16, "warps": 20}}
    header, row = occupancy.table([kernel], before)
    shown = dict(zip(header, row, strict=True))
    assert shown["registers"] == "96 -> 80" and shown["warps/SM"] == "20 -> 24"
    assert shown["stack"] == "16" and shown["lanes"] == "32 slab" and shown["runs"] == "yes"


def test_counts_are_those_of_the_same_parameters_and_outputs(tmp_path, monkeypatch):
    monkeypatch.setattr(occupancy, "COUNTED", tmp_path / "instructions.json")
    case = Case("Pond-v0", "cuda", 64, {"frogs": 3})
    assert occupancy.counted(case) is None
    same = {"outputs": "default", "bytes": 9.0}
    counted = [{"parameters": {}, "phases": {"step": 1.0}, **same}]
    counted += [{"parameters": {"frogs": 3}, "phases": {"step": 40.0, "observe": 2.5}, **same}]
    occupancy.COUNTED.write_text(json.dumps({"Pond-v0": counted}))
    assert occupancy.counted(case) == {"issued": 42.5, "bytes": 9.0}
    assert occupancy.counted(replace(case, outputs="lean")) is None
    assert occupancy.counted(Case("Lake-v0", "cuda", 64)) is None


def test_what_is_counted_is_of_environments_that_there_are():
    known = json.loads(occupancy.COUNTED.read_text()) if occupancy.COUNTED.exists() else {}
    assert set(known) <= set(registration.environments())


def test_a_wrong_id_is_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["occupancy.py", "CartPoles"])
    with pytest.raises(SystemExit):
        occupancy.main()
    assert "CartPole" in capsys.readouterr().err


def test_bars_say_what_the_paper_allows(monkeypatch):
    """Twice the instructions, half the steps."""
    rates = []
    for issued in (1e5, 2e5):
        found = {"issued": issued, "bytes": 80.0}
        monkeypatch.setattr(occupancy, "counted", lambda case, found=found: found)
        ((*_, rate, of_wanted),) = occupancy.bars("CartPole-v0", occupancy.GPUS["H200"])
        rates.append(float(rate))
        assert of_wanted.endswith("(issuing)")
    assert rates[0] == pytest.approx(2 * rates[1], rel=0.01)
