"""Writes pictures to files: .png by itself, .gif with pillow, .mp4 with imageio-ffmpeg."""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from gpu_envs.core.pictures import Picture
from gpu_envs.known import extras

FORMATS = (".mp4", ".gif", ".png")
_NEEDED = {".mp4": ("imageio_ffmpeg", "imageio-ffmpeg"), ".gif": ("PIL.Image", "pillow")}


class Film(Protocol):
    """Takes pictures one by one."""

    def __call__(self, picture: Picture) -> None:
        """Add a picture."""


def png(picture: Picture) -> bytes:
    """Return a PNG file."""
    rows, columns, _ = picture.shape
    # Each row begins with the number of its filter: 0 for none.
    lines = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">2I5B", columns, rows, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def check(path: Path, size: tuple[int, int]) -> Any:
    """Raise where a file could not be written; return the library that writes it."""
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise ValueError(f"--out must end in {', '.join(FORMATS)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"--out: there is no folder {str(path.parent)!r}")
    if kind == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise ValueError(f"the size of an .mp4 must be even, got {size[1]}x{size[0]}")
    if kind not in _NEEDED:
        return None
    module, package = _NEEDED[kind]
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ImportError(extras.needs(f"an {kind}", package, "render")) from problem


@contextmanager
def film(path: Path, size: tuple[int, int], fps: float) -> Iterator[Film]:
    """Open an .mp4 or .gif; what is added is a picture of `size` (rows, columns)."""
    library = check(path, size)
    if path.suffix.lower() == ".gif":
        pictures: list[Any] = []
        yield lambda picture: pictures.append(library.fromarray(picture))
        milliseconds = max(20, round(1000 / fps))
        rest = pictures[1:]
        pictures[0].save(path, save_all=True, append_images=rest, duration=milliseconds, loop=0)
        return
    writer = library.write_frames(
        str(path),
        size[::-1],
        fps=fps,
        macro_block_size=2,
        quality=None,
        output_params=["-crf", "18", "-movflags", "+faststart"],
    )
    writer.send(None)
    try:
        yield lambda picture: writer.send(picture.tobytes())
    finally:
        writer.close()
