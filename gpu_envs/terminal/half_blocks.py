"""Pictures as lines of a terminal: two pixels in a character, one above the other.

The upper half block has the colour of its upper pixel, and behind it that of the lower one. A
terminal without colours gets shades, a character for both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import numpy as np

from gpu_envs.known.fields import Field
from gpu_envs.terminal import console

Pixels = np.ndarray[Any, Any]  # uint8 of shape (rows, columns, 3)

TRUE, INDEXED, NONE = "24 bits", "256 colours", "shades"
_BLOCK, _RESET = "\u2580", "\x1b[0m"
_SHADES = np.array(list(" .:-=+*#%@"))
# The 256 colours that terminals agree on: a cube of 6 x 6 x 6, and 24 greys after it.
_CUBE = np.array([0, 95, 135, 175, 215, 255])
_GREYS = np.arange(8, 248, 10)
_FIRST_OF_CUBE, _FIRST_GREY = 16, 232


def colors(stream: TextIO) -> str:
    """Return the colours of a stream, from the terminal's variables; blocks also need UTF-8."""
    try:
        _BLOCK.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return NONE
    if not console.shows_colors(stream):
        return NONE
    known = os.environ.get("COLORTERM") in ("truecolor", "24bit")
    return TRUE if known or os.environ.get("TERM", "").endswith("-direct") else INDEXED


# ---- from what an agent observes to pixels


def pixels(observation: Any, layers: Sequence[Field], channels_last: bool) -> Pixels:
    """Return an observation as a picture: its colours, or else its first layer in greys."""
    names = [layer.name for layer in layers]
    chosen = "rgb" if "rgb" in names else names[0]
    layer = np.asarray(observation[chosen] if isinstance(observation, dict) else observation)
    image = layer if channels_last else np.moveaxis(layer, 0, -1)
    return image if chosen == "rgb" else _greys(image[..., 0])


def _greys(layer: Pixels) -> Pixels:
    """Scale values to greys, from black for the least to white for the greatest."""
    values = np.where(np.isfinite(layer), layer, 0).astype(np.float64)
    low, high = values.min(), values.max()
    grey = np.round(255 * (values - low) / max(high - low, 1e-9)).astype(np.uint8)
    return np.repeat(grey[..., np.newaxis], 3, axis=-1)


def size_within(rows: int, columns: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the largest even rows and columns with the proportions of `shape` within limits."""
    wide = shape[1] / shape[0]
    width = min(columns, int(rows * wide))
    height = min(rows, int(width / wide + 0.5))
    return max(2, height - height % 2), max(1, width)


def fitted(picture: Pixels, rows: int, columns: int) -> Pixels:
    """Scale a picture to the limits by repeating or dropping whole pixels."""
    height, width = picture.shape[:2]
    if height <= rows and width <= columns:
        times = max(1, min(rows // height, columns // width))
        return picture.repeat(times, axis=0).repeat(times, axis=1)
    room = size_within(rows, columns, (height, width))
    chosen = (np.arange(n) * whole // n for n, whole in zip(room, (height, width), strict=True))
    return picture[np.ix_(*chosen)]


# ---- from pixels to text


def lines(picture: Pixels, depth: str) -> list[str]:
    """Return the lines of a picture; a last row without a partner has black below."""
    if len(picture) % 2:
        picture = np.concatenate([picture, np.zeros_like(picture[:1])])
    if depth == NONE:
        return _shades(picture)
    codes = _codes(picture) if depth == TRUE else _nearest(picture)
    spell = _true if depth == TRUE else _indexed
    spelt = {code: spell(code) for code in np.unique(codes).tolist()}
    pairs = zip(codes[::2].tolist(), codes[1::2].tolist(), strict=True)
    return [_line(upper, lower, spelt) for upper, lower in pairs]


def _line(upper: Sequence[int], lower: Sequence[int], spelt: Mapping[int, str]) -> str:
    """Join blocks into a line, with escapes only where colours change."""
    parts, ink, paper = [], -1, -1
    for above, below in zip(upper, lower, strict=True):
        if above != ink:
            parts.append(f"\x1b[38;{spelt[above]}m")
        if below != paper:
            parts.append(f"\x1b[48;{spelt[below]}m")
        ink, paper = above, below
        parts.append(_BLOCK)
    return "".join(parts) + _RESET


def _codes(picture: Pixels) -> Any:
    wide = picture.astype(np.int64)
    return wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]


def _true(code: int) -> str:
    return f"2;{code >> 16};{code >> 8 & 255};{code & 255}"


def _indexed(code: int) -> str:
    return f"5;{code}"


def _nearest(picture: Pixels) -> Any:
    """The number of the nearest colour to each pixel, in the cube or among the greys."""
    wide = picture.astype(np.int64)
    level = np.abs(wide[..., np.newaxis] - _CUBE).argmin(-1)
    grey = np.abs(wide.mean(-1)[..., np.newaxis] - _GREYS).argmin(-1)
    far_cube = ((_CUBE[level] - wide) ** 2).sum(-1)
    far_grey = ((_GREYS[grey][..., np.newaxis] - wide) ** 2).sum(-1)
    cube = _FIRST_OF_CUBE + level @ np.array([36, 6, 1])
    return np.where(far_grey < far_cube, _FIRST_GREY + grey, cube)


def _shades(picture: Pixels) -> list[str]:
    light = picture @ np.array([0.299, 0.587, 0.114])  # perceived brightness (ITU-R BT.601)
    both = (light[::2] + light[1::2]) / 2
    shade = (both * len(_SHADES) / 256).astype(np.int64)
    return ["".join(row) for row in _SHADES[shade]]
