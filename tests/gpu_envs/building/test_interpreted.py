"""The target whose kernels are interpreted: its files, its objects, and what never ships."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_envs.building import objects, places, recipes, shipping, toolchain, upkeep
from gpu_envs.building.recipes import Product
from scripts.release import wheel_contents

VARIABLE = "GPU_ENVS_CUDA_RUNTIME"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for products, with nvcc and without settings of the caller."""
    try:
        toolchain.nvcc()
    except toolchain.CannotBuild as problem:
        pytest.skip(f"needs nvcc: {problem}")
    monkeypatch.setenv("GPU_ENVS_BUILD_DIR", str(tmp_path / "build"))
    for name in (VARIABLE, "GPU_ENVS_CUDA_ARCHS", "GPU_ENVS_CUDA_LANES", "GPU_ENVS_CUDA_LINES"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _products(target: str, folder: Path) -> list[Product]:
    header = places.environments()["cartpole"]
    return [
        recipes.engine(target, folder),
        recipes.bindings(target, folder),
        recipes.module("cartpole", header, target, folder, engines=folder),
    ]


@pytest.mark.parametrize(
    ("value", "target"),
    [("", "cuda"), ("driver", "cuda"), ("interpreted", places.PTX), (" Interpreted", places.PTX)],
)
def test_the_variable_chooses_the_target_of_cuda(
    monkeypatch: pytest.MonkeyPatch, value: str, target: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert places.cuda_target() == target


def test_another_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "emulated")
    with pytest.raises(ValueError, match="must be driver or interpreted, got 'emulated'"):
        places.cuda_target()


def test_its_files_are_its_own(folder: Path) -> None:
    files = [places.runtime_file(places.PTX, folder)]
    files += [product.file for product in _products(places.PTX, folder)]
    assert len({*files}) == 4
    assert not {*files} & {product.file for product in _products("cuda", folder)}
    assert all("cuda_ptx" in path.name for path in files)
    built = upkeep._files(places.PTX, ["cartpole"], True)
    assert [path.name for path in built] == [path.name for path in files]


@pytest.mark.parametrize("value", ["", "interpreted"])
def test_it_is_linked_from_the_objects_of_cuda(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Where the variable is not set, `cuda` has no PTX, and only its host code is shared."""
    monkeypatch.setenv(VARIABLE, value)
    pairs = zip(_products("cuda", folder), _products(places.PTX, folder), strict=True)
    differ = {
        one.source.name
        for real, interpreted in pairs
        for one, other in zip(real.objects, interpreted.objects, strict=True)
        if objects._command_key(one) != objects._command_key(other)
    }
    stamps = {"stamp_cuda.cpp", "cartpole_module_cuda.cpp"}
    assert {name for name in differ if not name.endswith(".cu")} == stamps
    assert (differ == stamps) == bool(value)


def test_engine_and_modules_share_one_runtime(folder: Path) -> None:
    runtime = str(toolchain.nvcc().runtime)
    for product in _products("cuda", folder):
        assert (runtime in product.tail) == (product.kind != "bindings")
    for product in _products(places.PTX, folder):
        assert runtime not in product.tail
        needs_it = places.runtime_file(places.PTX, folder) in product.needs
        assert needs_it == (product.kind != "bindings")


def test_the_interpreter_is_compiled_for_this_processor_without_contraction(folder: Path) -> None:
    made = recipes.runtime(places.PTX, folder)
    sources = {job.source for job in made.objects}
    assert sources == {*(places.kernels() / "ptx").rglob("*.cpp")}
    for job in made.objects:
        assert {"-O3", "-ffp-contract=off", f"-I{places.kernels()}"} <= {*job.command}
        assert str(toolchain.nvcc().include) in job.command


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ("90", ["sm_90", "compute_90"]),
        ("ptx", ["compute_90"]),
        ("75;ptx", ["sm_75", "compute_75"]),
        ("ptx;90", ["compute_90", "sm_90"]),
    ],
)
def test_ptx_is_there_and_not_compressed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, given: str, codes: list[str]
) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA_ARCHS", given)
    found = toolchain.nvcc_flags(places.PTX)
    assert [flag.rpartition("=")[2] for flag in found if "gencode" in flag] == codes
    assert "--compress-mode=none" in found and "--compress-mode=size" not in found
    plain = toolchain.nvcc_flags("cuda")
    assert "--compress-mode=size" in plain
    monkeypatch.setenv(VARIABLE, "interpreted")
    assert toolchain.nvcc_flags("cuda") == found


def test_a_wheel_has_nothing_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Product] = []
    monkeypatch.setattr(upkeep, "build", lambda products, **_: made.extend(products))
    monkeypatch.setenv(VARIABLE, "interpreted")
    monkeypatch.setenv("GPU_ENVS_CPU", "v2")
    monkeypatch.setenv("GPU_ENVS_CUDA", "1")
    shipping.fill_package(folder / "package")
    assert {product.target for product in made} == {"cpu_v2", "cuda"}
    assert VARIABLE not in os.environ
    words = {word for product in made for job in product.objects for word in job.command}
    assert "--compress-mode=size" in words and "--compress-mode=none" not in words
    headers = {path.relative_to(folder / "package").parts for path in folder.rglob("*.hpp")}
    assert headers and not any("ptx" in parts for parts in headers)


@pytest.mark.parametrize(
    "name",
    [
        "libgpu_envs_cuda_ptx.so",
        "libcudart_cuda_ptx.so",
        "cartpole.cuda_ptx.so",
        f"_cuda_ptx{places.SUFFIX}",
    ],
)
def test_the_check_of_wheels_finds_a_file_of_it(name: str) -> None:
    foreign = f"gpu_envs/modules/{name} is foreign"
    assert foreign in wheel_contents.problems({f"gpu_envs/modules/{name}"})
    assert (
        wheel_contents.kind_of(f"gpu_envs/modules/{name.replace('_ptx', '')}") or "cudart" in name
    )


def test_an_installed_package_refuses_it_by_name(package, tmp_path: Path) -> None:
    program = "from gpu_envs import Simulator; Simulator('CartPole-v0', 1, device='cuda')"
    ran = package.run(program, **{VARIABLE: "interpreted"})
    assert "GPU_ENVS_CUDA_RUNTIME=interpreted is for a clone of gpu_envs" in ran.stderr
    ran = package.command("build", "--target", places.PTX, str(tmp_path / "a.hpp"))
    assert ran.stderr == (
        "error: cuda_ptx is for tests of gpu_envs: its interpreter is only in a clone\n"
    )
