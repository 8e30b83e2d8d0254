"""What `doctor` says of machines that lack this or that."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.building import places, toolchain
from gpu_envs.commands import doctor
from gpu_envs.known import extras, levels, native

ROOT = Path(__file__).resolve().parents[3]


def line_of(said: str, part: str) -> tuple[str, str]:
    """Return the one line with these words, and the one below."""
    lines = said.splitlines()
    (number,) = [i for i, line in enumerate(lines) if part in line]
    return lines[number].strip(), lines[number + 1].strip()


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gpu_envs {gpu_envs.__version__}\n"


def test_a_machine_on_which_tests_run_is_usable(capsys: pytest.CaptureFixture[str]) -> None:
    gpu_envs.Simulator("Micro-v0", 1, device="cpu").close()
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    level = native.cpu_target().removeprefix("cpu_")
    assert line_of(said, "used: ")[0].startswith(f"ok  used: {level}, ")
    assert re.search(rf"ok  cpu_{level}, ready: .*\bmicro\b", said)
    assert re.search(r"ok  numpy \d", said) and "environments run here" in said


def test_modules_are_told_by_their_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = native.cpu_target()
    gpu_envs.Simulator("Micro-v0", 1, device="cpu").close()
    real = places.module_file
    damaged = tmp_path / "hanabi.so"
    shutil.copy(real("micro", target), damaged)
    with damaged.open("r+b") as file:
        file.write(b"nonsense")

    def changed(stem: str, of: str, folder: Path = places.MODULES) -> Path:
        elsewhere = {"hanabi": damaged, "tag_grid": tmp_path / "nothing.so"}
        return elsewhere.get(stem) or real("micro", of, folder)

    monkeypatch.setattr(places, "module_file", changed)
    said, usable = doctor.text()
    assert usable
    what, remedy = line_of(said, f"{target}, damaged: hanabi")
    assert what.startswith("-") and "python -m gpu_envs build" in remedy
    what, remedy = line_of(said, f"{target}, not built: tag_grid")
    assert what.startswith("-") and "python -m gpu_envs build" in remedy


def test_what_is_missing_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise toolchain.CannotBuild("a C++ compiler is needed")

    missing = ("torch", "skrl")
    version_of = doctor.version_of
    monkeypatch.setattr(
        doctor, "version_of", lambda *n: None if n[0] in missing else version_of(*n)
    )
    monkeypatch.setattr(toolchain, "cxx", none)
    said, _ = doctor.text()
    assert line_of(said, "C++: a C++ compiler is needed")[0].startswith("-")
    assert line_of(said, "torch is not installed")[1] == extras.command("train")
    assert line_of(said, "skrl is not installed")[1] == extras.library_command("skrl")
    monkeypatch.setattr(levels, "built", lambda: ())
    said, usable = doctor.text()
    assert line_of(said, "C++: a C++ compiler is needed")[0].startswith("!!") and not usable


def test_a_driver_without_an_engine_is_told_what_to_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200, 580.1, 143771 MiB, 9.0'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("GPU_ENVS_CUDA", raising=False)
    monkeypatch.setattr(places, "settings", dict)
    monkeypatch.setattr(places, "engine_file", lambda *_: tmp_path / "none.so")
    monkeypatch.setattr(toolchain, "driver_answers", lambda: True)
    said = "\n".join(map(str, doctor._cuda()))
    assert "cuda:0: NVIDIA H200, 143771 MiB, compute capability 9.0, driver 580.1" in said
    assert "no engine for CUDA is ready" in said and "make cuda" in said
    monkeypatch.setenv("GPU_ENVS_CUDA", "0")
    monkeypatch.setattr(places, "settle_cuda", lambda: "0")
    assert "GPU_ENVS_CUDA=auto" in "\n".join(map(str, doctor._cuda()))


def test_interpreted_kernels_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "driver_answers", lambda: False)
    monkeypatch.setenv("GPU_ENVS_CUDA_RUNTIME", "interpreted")
    assert "device='cuda' interprets PTX on the CPU" in "\n".join(map(str, doctor._cuda()))
    (tmp_path / "engine.so").touch()
    monkeypatch.setattr(places, "engine_file", lambda target: tmp_path / "engine.so")
    monkeypatch.setattr(places, "runtime_file", lambda target: tmp_path / "none.so")
    said = "\n".join(map(str, doctor._modules()))
    assert re.search(r"cuda_ptx, not built: .*interpreter.* --target cuda_ptx", said)


def test_extras_bring_what_is_said_of_them() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    lists = dict(re.findall(r"^([a-z]+) = \[(.*?)\]$", project, re.MULTILINE))
    for name, (_, extra) in doctor.OPTIONAL.items():
        assert not extra or re.search(rf'"{name}(\[\w+\])?>', lists[extra])
    assert all(f'"{name}>' in lists["dependencies"] for name in doctor.NEEDED)
