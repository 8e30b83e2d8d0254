"""The state of a mixed batch: saves, copies and parameters, each game by its own simulator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import columns, mixed_saves
from gpu_envs.core.mixed_parts import Part, named


class MixedStates:
    """The part of `MixedSimulator` that reads and writes what the worlds hold."""

    num_worlds: int
    parts: tuple[Part, ...]

    def save(self, worlds: object = None) -> bytes:
        """Return the state of worlds, game by game; loads on any machine.

        Args:
            worlds: Their numbers, in the order in which they are saved within each game; None for
                all.
        """
        saves = {
            part.game: part.simulator.save(chosen)
            for part, chosen in self._chosen(worlds, "worlds")
        }
        return mixed_saves.joined(saves)

    def load(self, data: bytes, worlds: object = None) -> None:
        """Continue from a save of the same games, or refuse it before anything is written.

        Args:
            data: What `save` returned.
            worlds: Numbers of the worlds that are written, as many of each game as the save has.
        """
        saves = mixed_saves.split(data)
        chosen = list(self._chosen(worlds, "worlds"))
        if [part.game for part, _ in chosen] != list(saves):
            asked = ", ".join(part.game for part, _ in chosen)
            raise ValueError(f"load: the save has worlds of {', '.join(saves)}, not of {asked}")
        before: list[tuple[Part, bytes]] = []
        try:
            for part, numbers in chosen:
                kept = part.simulator.save() if part.simulator.is_ready else b""
                part.simulator.load(saves[part.game], numbers)
                before.append((part, kept))
        except BaseException:
            for part, kept in before:
                if kept:
                    part.simulator.load(kept)
            raise

    def copy_worlds(self, src: object, dst: object, *, reseed: bool = False) -> None:
        """Copy worlds over others of their game; arguments as `Simulator.copy_worlds` has them."""
        source = columns.world_numbers(src, "src", self.num_worlds)
        destination = columns.world_numbers(dst, "dst", self.num_worlds)
        if len(source) == 1:
            source *= len(destination)
        if len(source) != len(destination):
            raise ValueError(f"dst must be as long as src ({len(source)}), got {len(destination)}")
        if len(set(destination)) < len(destination) or set(source) & set(destination):
            raise ValueError("dst must name each world once, and none of src")
        pairs: dict[str, tuple[Part, list[int], list[int]]] = {}
        for a, b in zip(source, destination, strict=True):
            one, other = self.part_of(a), self.part_of(b)
            if one is not other:
                raise ValueError(f"world {a} is of {one.game} and world {b} of {other.game}")
            _, froms, tos = pairs.setdefault(one.game, (one, [], []))
            froms.append(a - one.worlds.start)
            tos.append(b - one.worlds.start)
        for part, froms, tos in pairs.values():
            part.simulator.copy_worlds(froms, tos, reseed=reseed)

    def set_parameters(self, *, worlds: Sequence[int] | None = None, **values: Any) -> None:
        """Change parameters of every game, which all know them; `games` has those of one.

        Args:
            worlds: Numbers of the worlds that are changed; None for all.
            **values: Parameters by name: a number, or an array with one per world.
        """
        for part in self.parts:
            part.simulator.require_changeable(values)
        chosen = list(self._chosen(worlds, "worlds"))
        listed = (
            None if worlds is None else columns.world_numbers(worlds, "worlds", self.num_worlds)
        )
        own = [
            {name: self._values_of(part, value, listed) for name, value in values.items()}
            for part, _ in chosen
        ]
        # A game that will refuse its values comes first, so that nothing has changed then.
        order = sorted(range(len(chosen)), key=lambda k: chosen[k][0].simulator.may_take(own[k]))
        for k in order:
            part, numbers = chosen[k]
            with named(part):
                part.simulator.set_parameters(worlds=numbers, **own[k])

    def _values_of(self, part: Part, value: Any, listed: Sequence[int] | None) -> Any:
        """Return a game's values of a parameter that was given by world."""
        if len(getattr(value, "shape", (1,))) == 0:
            return value.item()
        if not hasattr(value, "__len__") or isinstance(value, str):
            return value
        numbers = range(self.num_worlds) if listed is None else listed
        if len(value) != len(numbers):
            raise ValueError(
                f"values must have one entry per world, {len(numbers)}, got {len(value)}"
            )
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        return array[[k for k, world in enumerate(numbers) if self.part_of(world) is part]]

    def part_of(self, world: int) -> Part:
        """Return the game of a world."""
        number = errors.whole(world, "world", 0, self.num_worlds - 1)
        return next(part for part in self.parts if number < part.worlds.stop)

    def _chosen(self, worlds: object, what: str) -> Iterator[tuple[Part, list[int] | None]]:
        """Yield each game that has worlds among those that are named, and their numbers in it."""
        if worlds is None:
            yield from ((part, None) for part in self.parts)
            return
        numbers = columns.world_numbers(worlds, what, self.num_worlds)
        for part in self.parts:
            own = [n - part.worlds.start for n in numbers if self.part_of(n) is part]
            if own:
                yield part, own
