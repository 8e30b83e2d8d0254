"""A tree of one source and one header, and the object that is made of them."""

from __future__ import annotations

from pathlib import Path

from gpu_envs.building import objects, toolchain
from gpu_envs.building.objects import Compile


def small_tree(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "a.cpp").write_text('#include "a.hpp"\nint a() { return kA; }\n')
    (root / "a.hpp").write_text("constexpr int kA = 1;\n")
    return root


def job_of(root: Path, kept: Path, *flags: str) -> Compile:
    return Compile(
        command=(toolchain.cxx(), "-O1", f"-I{root}", *flags),
        source=root / "a.cpp",
        object=root / "out" / "a.o",
        compiler="a compiler",
        root=root,
        stores=(kept,),
        system=toolchain.known(toolchain.cxx()).system,
    )


def made_object(job: Compile) -> Path:
    status, printed, _ = objects.make(job)
    assert status == 0, printed
    return found_object(job)


def found_object(job: Compile) -> Path:
    found = objects.stored(job)
    assert found is not None
    return found[0]
