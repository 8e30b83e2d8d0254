"""The recorded hashes of tests/golden, on every compiled module that can run here.

The native tests run the same cases on other executors, layouts, tiles and thread counts; what is
added here are the modules that users load: each instruction set, and CUDA where there is a device.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gpu_envs import native, registration

FOLDER = Path(__file__).parent.parent / "golden"
LEVELS = [level for level in native.runnable_levels() if native._exists(f"_cpu_{level}")]


class Case(NamedTuple):
    id: str
    parameters: dict[str, Any]
    mode: str
    worlds: int
    steps: int
    seed: int
    hashes: tuple[str, str]


def _value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    if text[0].isalpha() or " " in text:
        return text
    return float(text) if "." in text or "e" in text else int(text)


def _read(line: str) -> Case:
    name, parameters, mode, worlds, steps, seed, *hashes = (
        part.strip() for part in line.split("|")
    )
    pairs = [] if parameters == "-" else [pair.split("=") for pair in parameters.split(",")]
    values = {key: _value(text) for key, text in pairs}
    return Case(name, values, mode, int(worlds), int(steps), int(seed), (hashes[0], hashes[1]))


def _cases(folder: Path) -> list[Case]:
    known = {description["id"] for description in registration.environments().values()}
    lines = [
        line for file in sorted(folder.glob("*.txt")) for line in file.read_text().splitlines()
    ]
    cases = [_read(line) for line in lines if line.strip() and not line.startswith("#")]
    # The native tests have environments of their own.
    return [case for case in cases if case.id in known]


CASES = _cases(FOLDER)
LONG = _cases(FOLDER / "long")  # too long for the native tests' slow executors


def _run(module: Any, case: Case, **tuning: Any) -> tuple[str, str]:
    parameters = dict(case.parameters)
    limit = parameters.pop("max_episode_steps", -1)
    simulator = module.Simulator(
        case.id,
        case.worlds,
        autoreset_mode=case.mode,
        max_episode_steps=limit,
        dtype=parameters.pop("dtype", "own"),
        parameters=parameters,
        **tuning,
    )
    hashes = tuple(simulator.golden(case.steps, case.seed))
    simulator.close()
    return hashes


def test_every_environment_has_golden_cases_in_all_modes() -> None:
    for description in registration.environments().values():
        modes = {case.mode for case in CASES if case.id == description["id"]}
        assert modes == {"NextStep", "SameStep", "Disabled"}, description["id"]


@pytest.mark.parametrize("level", LEVELS)
def test_golden_hashes_on_each_instruction_set(level: str) -> None:
    module = importlib.import_module(f"gpu_envs._cpu_{level}")
    assert module.MACHINE == "cpu"
    assert [_run(module, case) for case in CASES] == [case.hashes for case in CASES]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("level", LEVELS)
def test_golden_hashes_after_long_play(level: str, threads: int) -> None:
    module = importlib.import_module(f"gpu_envs._cpu_{level}")
    found = [_run(module, case, threads=threads) for case in LONG]
    assert found == [case.hashes for case in LONG]


@pytest.mark.parametrize("lanes", [1, 8, 32])
def test_golden_hashes_on_cuda(cuda: None, lanes: int) -> None:
    module = native.cuda()

    def run(case: Case) -> tuple[str, str]:
        try:
            return _run(module, case, lanes=lanes)
        except ValueError as problem:
            assert "lanes must be one of" in str(problem)  # compiled for other numbers alone
            return _run(module, case)

    assert [run(case) for case in CASES] == [case.hashes for case in CASES]
    if lanes == 32:
        assert [run(case) for case in LONG] == [case.hashes for case in LONG]


def test_golden_hashes_on_cuda_with_a_kernel_per_stage(cuda: None) -> None:
    module = native.cuda()
    ran = set()
    for case in CASES:
        try:
            found = _run(module, case, schedule="flat")
        except ValueError as problem:
            assert "not built for the flat schedule" in str(problem)
            continue
        ran.add(case.id)
        assert found == case.hashes, case
    assert ran >= {"Flocking-v0", "SwarmTag-v0"}


def test_layouts_are_equal_on_all_machines() -> None:
    modules = [importlib.import_module(f"gpu_envs._cpu_{level}") for level in LEVELS]
    if native.cuda_is_available():
        modules.append(native.cuda())
    for description in registration.environments().values():
        layouts = {
            json.loads(module.Simulator(description["id"], 1).instance)["layout"]
            for module in modules
        }
        assert len(layouts) == 1, description["id"]
