"""Pictures of worlds: which environments have them, their options, and worlds of a GPU."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import logger

from gpu_envs import errors
from gpu_envs.known import native

MODE = "rgb_array"
TEXT_MODE = "ansi"
Picture = np.ndarray[Any, np.dtype[np.uint8]]
Readings = np.ndarray[Any, np.dtype[np.float32]]  # (readings, numbers)


def modes(
    description: Mapping[str, Any], device: str, texts: Sequence[str] = (TEXT_MODE,)
) -> list[str]:
    """Return the render modes that an environment has: of its text, which is the host's, and scene.

    Args:
        description: What the environment says of itself.
        device: Where its worlds are.
        texts: The modes that a text gives.
    """
    has_text = bool(description.get("text")) and device == "cpu"
    return [*(texts if has_text else ()), *([MODE] if description.get("scene") else [])]


def metadata(description: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return what Gymnasium wants to know of an environment's pictures."""
    fps = description.get("render_fps", 50)
    return {"render_modes": modes(description, device), "render_fps": fps}


def checked_mode(mode: Any, modes: Sequence[str], description: Mapping[str, Any]) -> str | None:
    """Return `mode` if it is one of `modes` or None, which always is valid."""
    if mode is None or (isinstance(mode, str) and mode in modes):
        return mode
    name, why = description["id"], ""
    if isinstance(mode, str) and mode == TEXT_MODE:
        why = f"{name} has no text{' on this device' if description.get('text') else ''}; "
    elif MODE not in modes:
        why = f"{name} has no pictures; "
    listed, close = ", ".join(["None", *map(repr, modes)]), errors.suggestion(mode, modes)
    raise ValueError(f"{why}render_mode of {name} must be one of: {listed}; got {mode!r}{close}")


def lack(description: Mapping[str, Any]) -> str:
    """Return in words that an environment has no pictures, and what it has instead."""
    name = description["id"]
    if not description.get("text"):
        return f"{name} has no pictures"
    return f"{name} has no pictures, but is text: `python -m gpu_envs play {name}`"


def warn_without_mode(name: str, listed: Sequence[str], maker: str) -> None:
    """Warn, as Gymnasium's environments do, who calls `render` and chose no mode."""
    mode = MODE if MODE in listed else next(iter(listed), None)
    how = f'{maker}("gpu_envs/{name}", render_mode="{mode}")' if mode else "it has none"
    logger.warn(f"render() of {name} needs a render mode: {how}", stacklevel=3)


def checked_size(size: Any, name: str = "size") -> tuple[int, int] | None:
    """Return rows and columns as ints, or None; the native code knows the limits."""
    if size is None:
        return None
    try:
        rows, columns = map(operator.index, size)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{name} must be (rows, columns), got {size!r}") from problem
    limit, what = 2**31 - 1, f"{name}: rows and columns"
    return errors.whole(rows, what, 1, limit), errors.whole(columns, what, 1, limit)


def checked_view(view: object, name: str = "view") -> str | None:
    """Return the name of a view, or None; the native code knows the names."""
    if view is not None and not isinstance(view, str):
        raise TypeError(f"{name} must be a str or None, got {view!r}")
    if view is not None and not view.isascii():  # what native text can hold
        raise ValueError(f"{name} must be the name of a view, got {view!r}")
    return view


@dataclass(frozen=True)
class Style:
    """How an environment's `render` draws: what its keywords said."""

    size: tuple[int, int] | None = None
    view: str | None = None

    @classmethod
    def of(cls, size: Any, view: Any) -> Style:
        """Check the keywords `render_size` and `render_view`."""
        return cls(checked_size(size, "render_size"), checked_view(view, "render_view"))

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of `Simulator.render`."""
        return {"size": self.size, "view": self.view}


class Traces:
    """What charts said, by world: a scene knows only what is now.

    A reading is the episode, the step, and a number for each curve.
    """

    def __init__(self) -> None:
        self._kept: dict[int, list[list[float]]] = {}

    def add(self, world: int, reading: list[float]) -> Readings:
        """Keep a reading; return those of its episode so far.

        Where a world went back in time, or to another episode, what was kept is forgotten.
        """
        if not reading:
            return np.empty((0, 0), np.float32)
        kept = self._kept.setdefault(world, [])
        if kept and (kept[-1][0] != reading[0] or kept[-1][1] > reading[1]):
            kept.clear()
        elif kept and kept[-1][1] == reading[1]:
            kept.pop()
        kept.append(reading)
        return np.asarray(kept, np.float32)

    def copy(self, sources: Sequence[int], destinations: Sequence[int]) -> None:
        """Let worlds that became copies have the past of what they are copies of."""
        copied = [list(self._kept.get(world, ())) for world in sources]
        self._kept.update(zip(destinations, copied, strict=True))

    def clear(self, worlds: Sequence[int] | None = None) -> None:
        """Forget the past of some worlds; None: of all."""
        for world in list(self._kept) if worlds is None else worlds:
            self._kept.pop(world, None)


class Mirror:
    """One world of a simulator that host code cannot look into, in host memory.

    Args:
        name: Id of the environment.
        parameters: As the simulator resolved them.
        max_episode_steps: Its time limit, 0 for none.
        layout: Of its records.
        varies: Names of the parameters that its records have.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        max_episode_steps: int,
        layout: str,
        varies: Sequence[str] = (),
    ) -> None:
        self._native: Any = native.make(
            "cpu",
            name,
            1,
            threads=1,
            parameters=dict(parameters),
            max_episode_steps=max_episode_steps,
            varies=tuple(varies),
        )
        if json.loads(self._native.instance)["layout"] != layout:  # built again since then
            raise RuntimeError(f"the header of {name} has changed since its load: restart Python")

    def show(self, source: Any, world: int) -> Any:
        """Take over a world of another native simulator; return the one that has it as world 0."""
        self._native.write_records(0, source.read_records(world, 1))
        return self._native

    def close(self) -> None:
        """Release it."""
        self._native.close()
