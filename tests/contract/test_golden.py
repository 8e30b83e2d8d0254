"""The recorded hashes of tests/golden, on every compiled module that can run here.

The native tests run the same cases on other executors, layouts, tiles and thread counts; what is
added here are the modules that users load: each instruction set that is built, and CUDA where there
is a device.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu_envs.building import places, processor
from gpu_envs.known import levels, native, registration
from scripts.checks import golden_cases
from tests.contract.playing import CASES, LONG, NAMES, Case

OWN = native.cpu_target().removeprefix("cpu_")
RUNNABLE = processor.runnable_levels()
LEVELS = sorted({OWN, *(level for level in levels.built() if level in RUNNABLE)})


def _run(target: str, case: Case, **tuning: Any) -> tuple[str, str]:
    files = native.data_files(target, case.id)
    simulator = native.at(target, case.id).Simulator(
        case.id, case.worlds, data_files=files, **(case.options | tuning)
    )
    # Final observations are cleared where they have to be, and kernels may overlap.
    records, outputs = simulator.golden(case.steps, case.seed, True, golden_cases.IN_A_ROW)
    simulator.close()
    return records, outputs


def test_every_environment_has_golden_cases_in_all_modes() -> None:
    for name in NAMES:
        modes = {case.options["autoreset_mode"] for case in CASES if case.id == name}
        assert modes == {"NextStep", "SameStep", "Disabled"}, name


@pytest.mark.parametrize("level", LEVELS)
def test_golden_hashes_on_each_instruction_set(level: str) -> None:
    assert native.at(f"cpu_{level}").MACHINE == "cpu"
    assert [_run(f"cpu_{level}", case) for case in CASES] == [case.hashes for case in CASES]


@pytest.mark.parametrize("level", LEVELS)
def test_golden_hashes_after_long_play(level: str) -> None:
    """With two threads; that any number gives the same, test_every_environment.py shows."""
    found = [_run(f"cpu_{level}", case, threads=2) for case in LONG]
    assert found == [case.hashes for case in LONG]


def _headers_of(header: Path) -> list[Path]:
    """Return an environment's header with those beside it, its family's if it has one."""
    folder = header.parent.parent if header.parent.name == places.TASKS else header.parent
    return [header] if folder.name == "envs" else [header, *folder.glob("*.hpp")]


@pytest.mark.gpu
@pytest.mark.parametrize("lanes", [1, 8, 32])
def test_golden_hashes_on_cuda(cuda: None, lanes: int) -> None:
    def run(case: Case) -> tuple[str, str]:
        try:
            return _run("cuda", case, lanes=lanes)
        except ValueError as problem:
            assert "lanes must be one of" in str(problem)  # compiled for other numbers alone
            return _run("cuda", case)

    assert [run(case) for case in CASES] == [case.hashes for case in CASES]
    if lanes == 32:
        assert [run(case) for case in LONG] == [case.hashes for case in LONG]


@pytest.mark.gpu
def test_golden_hashes_on_cuda_with_a_kernel_per_stage(cuda: None) -> None:
    stems = {
        stem
        for stem, header in places.environments().items()
        if any(".flat = " in file.read_text() for file in _headers_of(header))
    }
    ran = set()
    for case in CASES:
        try:
            found = _run("cuda", case, schedule="flat")
        except ValueError as problem:
            assert "not built for the flat schedule" in str(problem)
            continue
        ran.add(registration.home(case.id).stem)
        assert found == case.hashes, case
    assert ran == stems


def test_layouts_are_equal_on_all_machines() -> None:
    targets = [f"cpu_{level}" for level in LEVELS]
    if native.cuda_is_available():
        targets.append("cuda")
    for name in NAMES:
        files = native.data_files(targets[0], name)
        made = (native.at(target, name).Simulator(name, 1, data_files=files) for target in targets)
        layouts = {json.loads(simulator.instance)["layout"] for simulator in made}
        assert len(layouts) == 1, name
