"""scripts/gpu/bundle.py: for which machine a bundle is, and what a bare one does with it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_envs.building import places, processor, toolchain
from scripts.gpu import bundle as gpu_bundle

ROOT = Path(__file__).resolve().parents[3]
GPU = {"architecture": 90, "cuda": "13.0"}
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A bundle for this Python, tree and GPU, without environments; returns what changes it."""
    monkeypatch.setattr(gpu_bundle, "FOLDER", tmp_path / "bundle")
    monkeypatch.setattr(gpu_bundle, "STAMP", tmp_path / "bundle" / "bundle.json")
    monkeypatch.setattr(gpu_bundle, "SITE", tmp_path / "site")
    monkeypatch.setattr(places, "MODULES", tmp_path / "modules")
    monkeypatch.setenv("GPU_ENVS_CPU", "")
    monkeypatch.setenv("PYTHONPATH", "before")
    for folder in ("modules", "wheels"):
        (tmp_path / "bundle" / folder).mkdir(parents=True)
    stamp = {"python": HERE, "bindings": [f"_cuda{places.SUFFIX}"], "environments": []}
    stamp |= {"engine": places.engine_hash(), "level": processor.runnable_levels()[-1]}
    stamp |= {"architecture": 90, "cuda": 13}

    def change(**how):
        gpu_bundle.STAMP.write_text(json.dumps(stamp | how))

    change()
    return change


def test_a_bundle_for_this_machine_is_taken_and_said_so(bundle, monkeypatch):
    monkeypatch.delenv("GPU_ENVS_CPU")
    made = gpu_bundle.FOLDER / "modules" / "some.cuda.so"
    made.write_bytes(b"compiled")
    assert gpu_bundle.problems(GPU) == []
    line = gpu_bundle.take(GPU)
    assert f"Python {HERE}, sm_90" in line and "nothing is compiled" in line
    assert (places.MODULES / "some.cuda.so").read_bytes() == b"compiled"
    assert os.environ["GPU_ENVS_CPU"] == processor.runnable_levels()[-1]


@pytest.mark.parametrize(
    ("how", "gpu", "said"),
    [
        ({"python": "2.9", "bindings": ["_cuda.cpython-29.so"]}, GPU, "for Python 2.9, this is"),
        ({"engine": "0123"}, GPU, "its engine is 0123, that of this tree"),
        ({"level": "v9"}, GPU, "a processor of level v9"),
        ({}, GPU | {"architecture": 80}, "it is for sm_90, this is sm_80"),
        ({}, GPU | {"cuda": "12.8"}, "needs a driver of CUDA 13, this one is of 12.8"),
        ({"environments": ["cartpole"]}, GPU, "cartpole.cuda.so is older than its sources"),
    ],
)
def test_a_bundle_for_something_else_is_left_and_the_first_line_says_why(bundle, how, gpu, said):
    bundle(**how)
    line = gpu_bundle.take(gpu)
    assert line.startswith("bundle: not used") and said in line and "built here" in line
    assert not places.MODULES.exists()


def test_without_a_bundle_it_is_said_what_makes_one(bundle):
    gpu_bundle.STAMP.unlink()
    assert "scripts/gpu/bundle makes it" in gpu_bundle.take(GPU)


def test_wheels_of_missing_packages_alone_are_unpacked_for_children(bundle, monkeypatch):
    monkeypatch.setitem(gpu_bundle.WHEELS, "not_there", "not-there")
    for name in ("not_there", "gymnasium"):
        program = (
            f"import zipfile, sys; zipfile.ZipFile(sys.argv[1], 'w').writestr('{name}.py', '')"
        )
        file = gpu_bundle.FOLDER / "wheels" / f"{name}-1-py3-none-any.whl"
        subprocess.run([sys.executable, "-c", program, str(file)], check=True)
    assert "; not_there from wheels" in gpu_bundle.take(GPU)
    assert [path.name for path in gpu_bundle.SITE.iterdir()] == ["not_there.py"]
    assert os.environ["PYTHONPATH"] == f"{gpu_bundle.SITE}{os.pathsep}before"


def test_a_python_that_is_not_there_is_asked_for_by_name():
    with pytest.raises(
        toolchain.CannotBuild, match=r"no Python 3\.99 .*apt install python3\.99-dev"
    ):
        gpu_bundle.find_python("3.99")


def test_names_are_ids_or_stems():
    for name in ("TagGrid-v0", "TagGrid", "tag_grid"):
        assert gpu_bundle._stem(name) == "tag_grid"
    with pytest.raises(SystemExit, match="no environment is called Chess"):
        gpu_bundle._stem("Chess")


@pytest.mark.slow
def test_a_bare_machine_runs_the_check_from_a_bundle_without_a_compiler(tmp_path):
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    make = [sys.executable, "scripts/gpu/bundle.py", "CartPole", "--python", HERE]
    subprocess.run(make, cwd=tmp_path, check=True)
    shutil.rmtree(tmp_path / "build")
    assert not (tmp_path / "gpu_envs" / "modules").exists()
    bare = {"PATH": "/nonexistent", "HOME": str(tmp_path), "OUT": str(tmp_path / "out")}
    check = ["scripts/gpu/check.py", "--dry-run", "--only", "build,golden,bars"]
    done = subprocess.run(
        [sys.executable, *check],
        cwd=tmp_path,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is compiled" in done.stdout.splitlines()[0]
    assert "environments CartPole-v0" in done.stdout
    assert not (tmp_path / "build").exists()
