"""Commands side by side, and what is said of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpu_envs.building import jobs, toolchain
from gpu_envs.building.objects import Compile


def _job(root: Path, name: str, text: str, weight: int = 0) -> Compile:
    source = root / f"{name}.cpp"
    source.write_text(text)
    return Compile(
        command=(toolchain.cxx(), "-std=c++20", "-O0"),
        source=source,
        object=root / "out" / f"{name}.o",
        compiler="a compiler",
        root=root,
        stores=(root / "store",),
        weight=weight,
    )


def test_objects_are_made_once_and_the_line_says_so(tmp_path: Path, capfd) -> None:
    wanted = [_job(tmp_path, "a", "int a;\n"), _job(tmp_path, "b", "int b;\n", weight=1)]
    made = jobs.run(wanted, "two")
    first = capfd.readouterr().err.splitlines()
    assert first[0] == "gpu_envs: building two (2 files)"
    assert first[1].startswith("gpu_envs: built two in ")
    assert all(made[job][0].exists() for job in wanted)
    assert jobs.run(wanted, "two") == made
    assert capfd.readouterr().err == ""


def test_a_long_build_says_where_it_is(tmp_path: Path, capfd, monkeypatch) -> None:
    """Where lines are not written over, as in a log."""
    jobs.run([_job(tmp_path, "a", "int a;\n")], "one")
    assert "0 of 1" not in capfd.readouterr().err
    monkeypatch.setattr(jobs, "_LINE_EVERY", 0.0)
    jobs.run([_job(tmp_path, "b", "int b;\n")], "one")
    assert capfd.readouterr().err.splitlines()[1].startswith("gpu_envs: building 0 of 1, 0 s")


def test_a_failure_says_the_engines_rule_first_and_names_the_line(tmp_path: Path) -> None:
    text = '\nint broken = "x";\nstatic_assert(false, "GE: a rule is broken");\n'
    job = _job(tmp_path, "a", text)
    with pytest.raises(toolchain.CannotBuild) as caught:
        jobs.run([job], "one")
    lines = str(caught.value).splitlines()
    assert lines[0] == f"compiling {job.source} failed:"
    assert "GE: a rule is broken" in lines[1]
    assert any("a.cpp:2:" in line for line in lines[2:])
    assert "a.cpp:3:" in lines[1]
    assert (tmp_path / "out" / "a.log").exists()


def test_a_function_of_the_host_in_a_rule_is_named_with_the_remedy(tmp_path: Path) -> None:
    job = _job(tmp_path, "a", "")
    said = (
        'a.hpp(126): error #20014-D: calling a __host__ function("ge::far_off(double)") from a '
        '__host__ __device__ function("ge::feel") is not allowed\n'
    )
    lines = jobs._failure(job, said).splitlines()
    assert lines[1].endswith("ge::far_off(double) is a function of the host that a rule calls: "
                             "mark it GE_FN")  # fmt: skip
    assert "a.hpp(126)" in lines[2]


HOST_ONLY = """
namespace far { inline int off(int x) { return x + 1; } }
template <class T> __host__ __device__ T feel(T x) { return far::off(x); }
__global__ void step(int* x) { *x = feel(*x); }
"""


def test_nvcc_refuses_a_function_of_the_host_in_a_rule(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA_ARCHS", "ptx")
    monkeypatch.delenv("CXXFLAGS", raising=False)  # as a user builds
    try:
        command = (toolchain.nvcc().path, *toolchain.nvcc_flags())
    except toolchain.CannotBuild as problem:
        pytest.skip(f"needs nvcc: {problem}")
    job = _job(tmp_path, "a", HOST_ONLY)
    job.source.rename(tmp_path / "a.cu")
    job = dataclasses.replace(job, source=tmp_path / "a.cu", command=command)
    with pytest.raises(toolchain.CannotBuild) as caught:
        jobs.run([job], "one")
    lines = str(caught.value).splitlines()
    said = "GE: far::off is a function of the host that a rule calls: mark it GE_FN"
    assert lines[1] == said and "a.cu(3): error" in lines[2]


def test_a_long_failure_is_cut_and_says_where_the_rest_is(tmp_path: Path) -> None:
    job = _job(tmp_path, "a", "\n".join(f'int v{k} = "x";' for k in range(60)))
    with pytest.raises(toolchain.CannotBuild) as caught:
        jobs.run([job], "one")
    lines = str(caught.value).splitlines()
    assert len(lines) < 50
    assert lines[-1].endswith(f"lines: {job.object.with_suffix('.log')})")
