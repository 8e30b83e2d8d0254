"""Triangle meshes among the assets of a simulator, as files that other programs read.

An environment whose worlds share meshes has them in three arrays of `Simulator.assets()`:
`triangles` with corners a, b, c, `skins` with a colour for each corner and the part that a triangle
belongs to, and one with a row for each mesh, which says where its triangles begin and how many
there are.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_envs import errors

if TYPE_CHECKING:
    from gpu_envs.core.simulator import Simulator

Array = np.ndarray[Any, Any]

_FLOAT, _WORD = 5126, 5123  # component types of glTF
_NEEDED = {"triangles", "triangle_count"}


class Mesh(NamedTuple):
    """Triangles with colours, z upwards."""

    corners: Array  # float32 (triangles, 3, 3) [m]
    colours: Array  # uint8 (triangles, 3, 3): red, green, blue as displays show them
    parts: Array  # uint16 (triangles,)


def count(simulator: Simulator) -> int:
    """Return how many meshes all worlds share."""
    return len(_list(simulator.assets(), simulator.name))


def of(simulator: Simulator, number: int) -> Mesh:
    """Return one of the meshes that all worlds share."""
    assets = simulator.assets()
    rows = _list(assets, simulator.name)
    row = rows[errors.whole(number, "number", 0, len(rows) - 1)]
    chosen = slice(row["triangles"], row["triangles"] + row["triangle_count"])
    triangles, skins = assets["triangles"][chosen], assets["skins"][chosen]
    corners = np.stack([triangles[name] for name in "abc"], axis=1)
    words = np.stack([skins[name] for name in "abc"], axis=1)
    colours = np.stack([words >> 16 & 255, words >> 8 & 255, words & 255], axis=-1)
    return Mesh(corners, colours.astype(np.uint8), skins["part"])


def _list(assets: dict[str, Array], name: str) -> Array:
    for array in assets.values():
        if set(array.dtype.names or ()) >= _NEEDED and {"triangles", "skins"} <= set(assets):
            return array
    raise ValueError(f"{name} has no meshes that worlds share")


def ply(mesh: Mesh) -> bytes:
    """Return a mesh as a binary PLY with a colour for each vertex, z upwards."""
    vertices = 3 * len(mesh.corners)
    head = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {vertices}\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\n"
        f"element face {len(mesh.corners)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    rows = np.zeros(vertices, [("at", "<f4", 3), ("colour", "u1", 3)])
    rows["at"] = mesh.corners.reshape(-1, 3)
    rows["colour"] = mesh.colours.reshape(-1, 3)
    faces = np.zeros(len(mesh.corners), [("count", "u1"), ("vertices", "<i4", 3)])
    faces["count"] = 3
    faces["vertices"] = np.arange(vertices).reshape(-1, 3)
    return head.encode() + rows.tobytes() + faces.tobytes()


def glb(mesh: Mesh) -> bytes:
    """Return a mesh as binary glTF 2.0: y upwards, a material for each part, unlit."""
    order = np.argsort(mesh.parts, kind="stable")
    parts, starts = np.unique(mesh.parts[order], return_index=True)
    ends = [*starts[1:], len(order)]
    x, y, z = np.moveaxis(mesh.corners[order], -1, 0)
    corners = np.stack([x, z, -y], axis=-1).astype("<f4")
    shares = mesh.colours[order] / 255.0
    # Colours of vertices are linear in glTF.
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    levels = np.round(linear * 65535).astype("<u2")
    wide = np.concatenate([levels, np.full_like(levels[..., :1], 65535)], axis=-1)
    blob = corners.tobytes() + wide.tobytes()
    accessors, primitives = [], []
    for k, (first, end) in enumerate(zip(starts, ends, strict=True)):
        own = corners[first:end].reshape(-1, 3)
        accessors += [
            {
                "bufferView": 0,
                "byteOffset": int(first) * 36,
                "componentType": _FLOAT,
                "count": len(own),
                "type": "VEC3",
                "min": own.min(axis=0).tolist(),
                "max": own.max(axis=0).tolist(),
            },
            {
                "bufferView": 1,
                "byteOffset": int(first) * 24,
                "componentType": _WORD,
                "normalized": True,
                "count": len(own),
                "type": "VEC4",
            },
        ]
        attributes = {"POSITION": 2 * k, "COLOR_0": 2 * k + 1}
        primitives.append({"attributes": attributes, "material": k, "mode": 4})
    view = {"buffer": 0, "target": 34962}  # of vertices
    text = {
        "asset": {"version": "2.0", "generator": "gpu_envs"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "materials": [
            {
                "name": f"part_{part}",
                "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
                "extensions": {"KHR_materials_unlit": {}},
            }
            for part in parts.tolist()
        ],
        "accessors": accessors,
        "bufferViews": [
            {"byteOffset": 0, "byteLength": corners.nbytes, "byteStride": 12, **view},
            {"byteOffset": corners.nbytes, "byteLength": wide.nbytes, "byteStride": 8, **view},
        ],
        "buffers": [{"byteLength": len(blob)}],
    }
    chunk = json.dumps(text, separators=(",", ":")).encode()
    chunk += b" " * (-len(chunk) % 4)
    blob += bytes(-len(blob) % 4)
    size = 12 + 8 + len(chunk) + 8 + len(blob)
    return b"".join(
        [
            struct.pack("<4sII", b"glTF", 2, size),
            struct.pack("<I4s", len(chunk), b"JSON"),
            chunk,
            struct.pack("<I4s", len(blob), b"BIN\0"),
            blob,
        ]
    )
