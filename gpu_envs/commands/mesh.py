"""Writes a mesh that all worlds share, such as a house, into a file: `python -m gpu_envs mesh`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.core import meshes
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import fields
from gpu_envs.terminal import flags

_WRITERS: dict[str, Callable[[meshes.Mesh], bytes]] = {".glb": meshes.glb, ".ply": meshes.ply}


def _parser(described: Sequence[fields.Field]) -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs mesh",
        usage="python -m gpu_envs mesh ID --out FILE [options]",
        allow_abbrev=False,
        description="Write a mesh that all worlds share, such as a house, for other programs; the "
        "environment's own parameters are listed by `mesh ID -h`.",
    )
    add = parser.add_argument
    add("id", metavar="ID", help="such as CartPole-v0")
    add(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="a .glb (y upwards) or a .ply (z upwards)",
    )
    add("--number", type=int, default=0, metavar="N", help="which of them (default 0)")
    flags.add_parameters(parser, described)
    return parser


def _write(chosen: argparse.Namespace, own: dict[str, Any]) -> str:
    writer = _WRITERS.get(chosen.out.suffix.lower())
    if writer is None:
        raise ValueError(f"--out must end in .glb or .ply, got {chosen.out.name!r}")
    with closing(Simulator(chosen.id, 1, device="cpu", **own)) as simulator:
        mesh = meshes.of(simulator, chosen.number)
    chosen.out.write_bytes(writer(mesh))
    corners = mesh.corners.reshape(-1, 3)
    size = " x ".join(f"{extent:.1f}" for extent in corners.max(axis=0) - corners.min(axis=0))
    parts = len(set(mesh.parts.tolist()))
    return f"{len(mesh.corners):,} triangles, {parts} parts, {size} m"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        chosen, own = flags.for_environment(sys.argv[1:] if argv is None else argv, _parser)
        print(f"{chosen.out}: {_write(chosen, own)}")
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
