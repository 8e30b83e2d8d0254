"""What checks of a wheel and of spills read: they run again where any of it has changed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_envs.building import labels, places, toolchain
from scripts.checks import package_inputs, proofs

ROOT = Path(__file__).parents[3]


class Check:
    """A check that is a function of the list of a small tree; it counts how often it runs."""

    def __init__(self, folder: Path) -> None:
        self.root, self.modules, self._to = folder / "tree", folder / "modules", folder / "listed"
        self._ran = folder / "ran"
        self.modules.mkdir()
        for name in ("gpu_envs/vector.py", "kernels/rules.hpp", "docs/page.md", "setup.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(name)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        for path in (places.engine_file, places.bindings_file):
            self.build(path("cpu_v2", self.modules), "code")
        self.build(places.module_file("ball", "cpu_v2", self.modules), "code")

    @staticmethod
    def build(path: Path, text: str, **said: dict[str, labels.Input]) -> None:
        path.write_text(text)
        labels.attach(path, labels.Label("module", "cpu_v2", "engine", **said))

    def runs(self) -> bool:
        lines = [*package_inputs.sources(self.root), *package_inputs.interpreter()]
        lines += [*package_inputs.compilers(), *package_inputs.modules(["cpu_v2"], self.modules)]
        self._to.write_text("\n".join(lines))
        self._ran.unlink(missing_ok=True)
        assert proofs.run("x", [self._to], ["sh", "-c", f"touch {self._ran}"], anew=False) == 0
        return self._ran.exists()


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(toolchain, "nvcc", lambda: Tool("one"))
    made = Check(tmp_path)
    assert made.runs()
    assert not made.runs()
    return made


class Tool:
    """A CUDA compiler that only has an identity."""

    def __init__(self, identity: str) -> None:
        self.identity = identity


FILES: dict[str, Callable[[Check], object]] = {
    "edited": lambda check: (check.root / "kernels/rules.hpp").write_text("other"),
    "new": lambda check: (check.root / "gpu_envs/more.py").write_text(""),
    "gone": lambda check: (check.root / "gpu_envs/vector.py").unlink(),
    "renamed": lambda check: (check.root / "setup.py").rename(check.root / "set.py"),
    "program": lambda check: (check.root / "setup.py").chmod(0o755),
    "module": lambda check: check.build(check.modules / "ball.cpu_v2.so", "other code"),
    "module more": lambda check: check.build(check.modules / "cube.cpu_v2.so", "code"),
    "engine": lambda check: check.build(places.engine_file("cpu_v2", check.modules), "other"),
    "bindings": lambda check: check.build(places.bindings_file("cpu_v2", check.modules), "other"),
}


@pytest.mark.parametrize("change", FILES)
def test_a_check_runs_again_after_a_change_of_its_files(check: Check, change: str) -> None:
    FILES[change](check)
    assert check.runs()
    assert not check.runs()


def test_a_check_runs_again_with_other_tools(
    check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(toolchain, "nvcc", lambda: Tool("two"))
    assert check.runs()
    monkeypatch.setattr(sys, "version", "3.99")
    assert check.runs()
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [])
    assert check.runs()
    compiler = tmp_path / "g++"
    for version in ("1", "2"):  # of one name and path, and with one answer
        compiler.write_text(f"#!/bin/sh\necho 12 # {version}\n")
        compiler.chmod(0o755)
        monkeypatch.setattr(toolchain, "cxx", lambda: str(compiler))
        assert check.runs()
        assert not check.runs()


def test_what_no_archive_has_changes_nothing(check: Check) -> None:
    (check.root / "docs/page.md").write_text("other")
    (check.root / ".git" / "more").write_text("")
    check.build(check.modules / "ball.cuda.so", "of another target")
    module = check.modules / "ball.cpu_v2.so"
    check.build(module, "code", inputs={"rules.hpp": (7, 7, "read at another time")})
    assert not check.runs()


def test_a_damaged_or_missing_module_is_no_witness(check: Check) -> None:
    module = check.modules / "ball.cpu_v2.so"
    module.write_bytes(b"C" + module.read_bytes()[1:])
    with pytest.raises(labels.Damaged, match=r"ball\.cpu_v2\.so is damaged"):
        check.runs()
    with pytest.raises(toolchain.CannotBuild, match="is not built"):
        list(package_inputs.modules(["cpu_v9"], check.modules))


def test_what_is_built_is_listed_without_the_files_of_the_tree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(toolchain, "nvcc", lambda: Tool("one"))
    monkeypatch.setattr(package_inputs, "modules", lambda targets: [f"module of {targets}"])
    said = {}
    for options in ([], ["--built"]):
        monkeypatch.setattr(sys, "argv", ["package_inputs.py", *options, "cpu_v2"])
        assert package_inputs.main() == 0
        said[bool(options)] = capsys.readouterr().out.splitlines()
    assert said[True][-1] == "module of ['cpu_v2']"
    assert any(line.startswith("compiler ") for line in said[True])
    assert [line for line in said[False] if not line.startswith("file ")] == said[True]
    assert len(said[False]) > len(said[True])


# ---- as make calls it


def make(*words: str, **environment: str) -> str:
    done = subprocess.run(
        ["make", f"PYTHON={sys.executable}", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


REPORT = """\
ptxas info    : Compiling entry function 'kernel' for 'sm_90'
ptxas info    : Function properties for kernel
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""


def test_spills_are_looked_for_again_where_a_report_changed(tmp_path: Path) -> None:
    build, tools = tmp_path / "build", tmp_path / "tools"
    report = build / "cuda" / "x.ptxas.txt"
    report.parent.mkdir(parents=True)
    report.write_text(REPORT)
    tools.mkdir()
    demangler = tools / "cu++filt"
    demangler.write_text("#!/bin/sh\ncat\n")
    demangler.chmod(0o755)

    def spills(*more: str) -> str:
        path = f"{tools}:{os.environ['PATH']}"
        store = str(tmp_path / "store")
        return make("--silent", "spills", f"BUILD={build}", *more, PATH=path, GPU_ENVS_STORE=store)

    passed, proven = "1 functions for sm_90: 0 spill", "spills: proven before"
    assert passed in spills()
    assert proven in spills()
    assert passed in spills("ANEW=--anew")
    demangler.write_text("#!/bin/sh\ncat #\n")
    assert passed in spills()
    (report.parent / "y.ptxas.txt").write_text(REPORT)
    assert "2 functions" in spills()
    report.write_text(REPORT.replace("0 bytes stack", "8 bytes stack"))
    for _ in range(2):  # a failure is not kept
        assert "FAIL" in spills()


def test_spills_read_what_every_environment_allows() -> None:
    said = make("-n", "spills")
    assert "find kernels/envs -name '*.measures.json'" in said
    found = sorted((ROOT / "kernels" / "envs").rglob("*.json"))
    allowing = [path for path in found if "spills" in json.loads(path.read_text())]
    assert allowing
    assert all(path.name.endswith(".measures.json") for path in allowing)


def test_checks_of_packages_believe_what_is_proven_and_check_all_nothing() -> None:
    for target in ("wheel", "release", "dry-run"):  # each has a list of its own
        said = make("-n", target)
        assert f"proofs.py  {target} --reads build/package_inputs_{target}.txt" in said
        assert re.search(rf"package_inputs\.py .*>build/package_inputs_{target}\.txt", said)
    proven = [line for line in make("-n", "check-all").splitlines() if "proofs.py" in line]
    assert len(proven) >= 4
    assert all("proofs.py --anew" in line for line in proven), proven
