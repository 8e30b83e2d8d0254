"""The check of PTX: how it finds PTX in files, what it lets pass, and faults of real kernels."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from gpu_envs.building import places, toolchain
from scripts.checks import ptx_lint
from scripts.checks.ptx_lint import Allowance, Read, Wrong

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
CLEAN = (
    HEAD
    + ".visible .entry clean(.param .u64 p)\n{\n.reg .b32 r<4>;\nadd.s32 r1, r2, r3;\nret;\n}\n"
)
LOOP = HEAD + ".visible .entry lost()\n{\nagain:\nbra.uni again;\n}\n"

# A fault for each rule, as C++ that nvcc compiles.
PLANTED = """
int of_the_host(int x);
inline int host_rule(int x) { return of_the_host(x); }
template <class T> __host__ __device__ int rule(T x) { return host_rule(x); }
__global__ void calls_the_host(int* x, int n) { for (int k = 0; k < n; ++k) x[k] = rule(x[k]); }
__global__ void nothing() {}
__global__ void goes_on(int* x) { for (;;) x[0] += 1; }
__global__ void divides(float* x) { x[0] = __fdividef(x[1], x[2]); }
__global__ void contracts(float* x) { x[0] = x[1] * x[2] + x[3]; }
__global__ void fuses(float* x) { x[0] = __fmaf_rn(x[1], x[2], x[3]); }
__global__ void keeps(int* x) {
  int a[64];
  for (int k = 0; k < 64; ++k) a[k] = x[3 * k];
  x[0] = a[x[1] & 63];
}
__device__ __attribute__((noinline)) int helper(int x) { return x * x + clock(); }
__global__ void calls(int* x, int n) { for (int k = 0; k < n; ++k) x[k] = helper(x[k]); }
__global__ void clean(float* x, int n) { for (int k = 0; k < n; ++k) x[k] *= x[k + n]; }
"""


def fat(*parts: tuple[int, bytes, int]) -> bytes:
    """A fat binary: kind, content and flags of each part."""
    made = b""
    for kind, content, flags in parts:
        content += b"\0" * (-len(content) % 8)
        head = struct.pack("<HHIQ", kind, 0x101, 64, len(content))
        made += head + b"\0" * 24 + struct.pack("<Q", flags) + b"\0" * 16 + content
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(made)) + made


def reads(*lines: str) -> list[Read]:
    words = [line.split("\t") for line in ("module\t1\t10", *lines)]
    return [Read(Path("a.cuda_ptx.so"), words)]


def test_ptx_is_found_in_objects(tmp_path: Path) -> None:
    file = tmp_path / "a.cuda_ptx.so"
    first = fat((2, b"machine code", 0x8000), (1, b"one", 0x11))
    file.write_bytes(b"\x7fELF" + b"\1" * 60 + first + b"\2" * 16 + fat((1, b"two", 0x11)))
    assert ptx_lint.texts_of(file) == ["one", "two"]
    plain = tmp_path / "a.ptx"
    plain.write_text("text")
    assert ptx_lint.texts_of(plain) == ["text"]
    file.write_bytes(b"\x7fELF, without kernels")
    assert ptx_lint.texts_of(file) == []


def test_what_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.so"
    for flags in (0x2011, 0x8011):
        file.write_bytes(b"\x7fELF" + b"\1" * 60 + fat((1, b"squeezed", flags)))
        with pytest.raises(Wrong, match="compressed: build with --compress-mode=none"):
            ptx_lint.texts_of(file)
    file.write_bytes(b"\x7fELF" + b"\1" * 60 + fat((2, b"machine code", 0)))
    with pytest.raises(Wrong, match="no PTX, only machine code"):
        ptx_lint.texts_of(file)
    file.write_bytes(b"text")
    with pytest.raises(Wrong, match="neither an object nor PTX"):
        ptx_lint.texts_of(file)


@pytest.mark.parametrize("cut", range(1, 100, 7))
def test_an_object_that_is_cut_off_fails_without_a_crash(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "a.so"
    file.write_bytes((b"\x7fELF" + b"\1" * 60 + fat((1, b"one" * 9, 0x11)))[:-cut])
    assert ptx_lint.texts_of(file) == []


def test_allowances_need_a_reason() -> None:
    text = "# comment\n\nlocal | hide_seek | has a reason\nempty | ^(a|b)$ | c | d\n"
    assert ptx_lint.allowances(text) == [
        Allowance("local", "hide_seek", "has a reason"),
        Allowance("empty", "^(a|b)$", "c | d"),
    ]
    for line in ("local | hide_seek", "local | x | ", "loops | x | a reason"):
        with pytest.raises(Wrong, match="line 2 is not"):
            ptx_lint.allowances(f"# comment\n{line}\n")


def test_the_list_of_allowances_can_be_read() -> None:
    listed = ptx_lint.allowances(ptx_lint.ALLOWED.read_text())
    assert {one.rule for one in listed} <= {"empty", "local", "loop-call"}
    assert all(re.compile(one.pattern) for one in listed)
    assert len({(one.rule, one.pattern) for one in listed}) == len(listed)


def test_allowed_findings_pass_and_idle_allowances_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = reads("local\t_Z4seekv\t0\t\tdepot: 8 bytes", "local\t_Z3runv\t0\t\tdepot: 4 bytes")
    both = [Allowance("local", "seek", "a"), Allowance("local", "run", "b")]
    assert ptx_lint.lint(found, both, whole=True) == 0
    assert capsys.readouterr().out == ""
    assert ptx_lint.lint(found, both[:1], whole=True) == 1
    assert capsys.readouterr().out == "a.cuda_ptx.so: local: depot: 4 bytes\n  in run()\n"
    # An allowance is of one rule.
    assert ptx_lint.lint(reads("loop-call\t_Z4seekv\t7\tx.hpp:3\tf"), both, whole=False) == 1
    assert "loop-call: f, PTX line 7, x.hpp:3\n  in seek()" in capsys.readouterr().out
    assert ptx_lint.lint(reads(), both, whole=True) == 2
    assert "nothing needs `local | seek`" in capsys.readouterr().out
    assert ptx_lint.lint(reads(), both, whole=False) == 0


def test_what_is_unknown_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    one = "unknown\t_Z3runv\t7\t\ttanh.approx.f32: unknown opcode"
    more = "unknown\t_Z3runv\t0\t\tPTX line 9: mov.u32: unknown register %envreg1"
    again = more.replace("line 9", "line 12")
    known = "register\t%tid.x\t3"
    found = reads(one, known, more) + reads(one, again, "call\tvprintf\t2")
    assert ptx_lint.unknown(found, {"cudaMallocAsync": "a.so"}) == 4
    said = capsys.readouterr().out
    assert said.count("tanh.approx.f32") == said.count("%envreg1") == 1
    assert "a.so: unknown: cudaMallocAsync of CUDA's runtime" in said
    assert "a call of a function without a body\n  in vprintf" in said
    ptx_lint.inventory(found)
    assert "1 registers, 3 times\n          3 %tid.x" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_functions_of_the_runtime_are_found_in_objects(tmp_path: Path) -> None:
    source, made = tmp_path / "a.cpp", tmp_path / "a.o"
    source.write_text(
        'extern "C" { int cudaMalloc(); int cudaNew(); int __cudaRegisterNew(); int cudart(); }\n'
        "int all() { return cudaMalloc() + cudaNew() + __cudaRegisterNew() + cudart(); }\n"
    )
    subprocess.run(["g++", "-c", str(source), "-o", str(made)], check=True)
    found = ptx_lint.missing_symbols([made, tmp_path / "b.ptx"], {"cudaMalloc"})
    assert found == {"cudaNew": "a.o", "__cudaRegisterNew": "a.o"}


def test_allowances_must_be_needed_where_all_modules_are_read() -> None:
    every = [places.module_file(s, "cuda_ptx") for s in places.environments()]
    assert ptx_lint.is_whole([*every, Path("more.so")])
    assert not ptx_lint.is_whole(every[1:])


@pytest.fixture(scope="module")
def library() -> ptx_lint.Library:
    """The interpreter, which is built with CUDA's headers."""
    try:
        toolchain.nvcc()
    except toolchain.CannotBuild as problem:
        pytest.skip(f"needs nvcc: {problem}")
    return ptx_lint.Library.built()


def test_a_file_is_checked_from_the_command_line(
    library: ptx_lint.Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean, loop, other = (tmp_path / name for name in ("clean.ptx", "loop.ptx", "other.ptx"))
    clean.write_text(CLEAN), loop.write_text(LOOP), other.write_text("what is this")
    assert ptx_lint.main([str(clean)]) == 0
    assert "1 kernels, 9 lines" in capsys.readouterr().out
    assert ptx_lint.main([str(clean), str(loop)]) == 1
    assert "loop.ptx: endless: bra.uni, PTX line 7\n  in lost" in capsys.readouterr().out
    assert ptx_lint.main([str(other)]) == 2
    assert "other.ptx: PTX line 1: unknown directive" in capsys.readouterr().out
    assert ptx_lint.main(["--inventory", str(clean)]) == 0
    assert "1 add.s32" in capsys.readouterr().out


def test_faults_that_nvcc_compiles_are_named(library: ptx_lint.Library, tmp_path: Path) -> None:
    """Each rule names its kernel, and no rule another one."""
    source = tmp_path / "planted.cu"
    source.write_text(PLANTED)
    command = [str(toolchain.nvcc().path), "-std=c++20", "-O3", "-arch=compute_90", "-ptx"]

    def named(*flags: str) -> dict[str, set[str]]:
        made = tmp_path / "planted.ptx"
        subprocess.run(
            [*command, *flags, str(source), "-o", str(made)], check=True, capture_output=True
        )
        found: dict[str, set[str]] = {}
        for one in Read(made, library.lines("lint", made.read_text())).findings():
            name = ptx_lint.plain_names([one.function])[one.function].partition("(")[0]
            found.setdefault(one.rule, set()).add(name)
        return found

    ours = {
        "endless": {"goes_on"},
        "empty": {"nothing", "calls_the_host"},  # nvcc takes what calls it for unreachable
        "approximate": {"divides"},
        "fma": {"fuses"},
        "local": {"keeps"},
        "loop-call": {"calls"},
    }
    assert named("--fmad=false") == ours
    # Without that flag nvcc contracts, or leaves it to ptxas.
    assert named() == {**ours, "fma": {"fuses", "contracts"}, "rounding": {"clean"}}
    assert named("--fmad=false", "-use_fast_math")["approximate"] > {"divides"}
