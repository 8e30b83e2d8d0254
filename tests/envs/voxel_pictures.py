"""What pictures of voxel games show: colours in any light, solids, and where they are seen."""

from __future__ import annotations

import numpy as np
from voxel_worlds import Array, Playground

LAYERS = {"observation": "rgb+segmentation"}
BAR = (0x1A, 0x65, 0x74)
NAVY = (0x2C, 0x3E, 0x50)
AGENTS = (0xFFDD3C, 0x3BB372, 0x2EB5D0, 0xFFB400, 0xD468EE, 0x222222, 0xFF0000)


def rgb_of(colour: int) -> Array:
    return np.array([colour >> 16, colour >> 8 & 255, colour & 255], float)


def layers(place: Playground, agent: int = 0) -> tuple[Array, Array]:
    """Colours (rows, columns, 3) and solids of a picture, without the row of the bar."""
    obs = place.last.obs
    return np.moveaxis(obs["rgb"][0, agent], 0, -1)[:-1], obs["segmentation"][0, agent, 0, :-1]


def solids_of(place: Playground, agent: int = 0) -> set[int]:
    """The solids that an agent sees; 0: nothing."""
    return set(layers(place, agent)[1].ravel().tolist())


def is_shaded(pixels: Array, colour: Array) -> bool:
    """Whether nearly all pixels are multiples of a colour: the rest may have a highlight."""
    pixels = pixels.reshape(-1, 3).astype(float)
    light = pixels @ colour / (colour @ colour)
    off = np.abs(pixels - light[:, np.newaxis] * colour).max(axis=1)
    return bool(len(pixels) > 0 and (off <= 1.5).mean() > 0.9 and (light > 0.3).all())


def bounds(solids: Array, solid: int) -> Array:
    """First and last row and column in which a solid is seen."""
    seen = np.argwhere(solids == solid)
    return np.concatenate([seen.min(axis=0), seen.max(axis=0)])
