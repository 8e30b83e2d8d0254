"""Gymnasium's vector interface over worlds of several games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpu_envs.core import copies, options, pictures
from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.core.mixed_parts import Games
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces import attributes, vector
from gpu_envs.faces.infos import parts_by_name
from gpu_envs.faces.vector import Infos, VectorEnv
from gpu_envs.known import registration


@options.documented(but=("ends", "roles"))
class MixedVectorEnv(VectorEnv):
    """A batch of worlds of several games, which are observed and played alike.

    Worlds come game by game, in the order of the games; those of a game are the ones of a
    `VectorEnv` of that game alone. `infos["game"]` has the number of each row's game, and
    `infos["by_game"]` what one game alone writes: its `state`, its `reward_parts`. `games` has each
    game's simulator by id, for columns, parameters and saves of one.

    Args:
        games: Ids, or a dict of each id's own keywords.
        num_envs: How many worlds in all.
        shares: How many worlds each game has, in their order; None for equal numbers, one more for
            the first ones where they do not divide.
        name: What messages call it.
        ends: As in `VectorEnv`.
        render_mode: As in `VectorEnv`, of all games.
        render_size: As in `VectorEnv`.
        render_view: As in `VectorEnv`.
        infos: "nested", or "rows", which has no `by_game`.
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **keywords: Parameters that every game knows.
    """

    simulator: MixedSimulator  # type: ignore[assignment]  # of several games

    def __init__(
        self,
        games: Games,
        num_envs: int = 1,
        *,
        shares: Sequence[int] | None = None,
        name: str = "mixed",
        ends: str = "world",
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
        render_view: str | None = None,
        infos: str = "nested",
        **keywords: Any,
    ) -> None:
        vector.require_infos(infos)
        drawn: dict[str, Any] = {"render_mode": render_mode, "render_view": render_view}
        own: dict[str, Any] = {"shares": shares, "name": name, "ends": ends, **keywords}
        self._make_again: Any = partial(
            type(self), games, num_envs, infos=infos, render_size=render_size, **drawn, **own
        )
        style = pictures.Style.of(render_size, render_view)
        mixed = MixedSimulator(games, num_envs, **own)
        self.role = None
        try:
            self._adopt(mixed, _description(mixed), infos, render_mode, style)
        except BaseException:
            mixed.close()
            raise
        self._game = mixed.empty((self.num_envs,), "int32")
        for number, part in enumerate(mixed.parts):
            self._game[part.rows] = number
        if isinstance(self._game, np.ndarray):
            self._game.flags.writeable = False
        names = {f["name"] for game in mixed.games for f in registration.find(game)["parameters"]}
        self._guarded = name, frozenset(n for n in names if not hasattr(self, n))

    @property
    def games(self) -> Mapping[str, Simulator]:
        """Each game's simulator, by its id."""
        return self.simulator.games

    def step(
        self,
        actions: Any,
        *,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: object = None,
    ) -> tuple[Any, Any, Any, Any, Infos]:
        """Run one step of every world, or of some; arguments as in `VectorEnv.step`."""
        *seen, infos = super().step(actions, out=out, stream=stream, worlds=worlds)
        obs, reward, terminated, truncated = seen
        return obs, reward, terminated, truncated, self._with_games(infos)

    def _begun(self, results: Any) -> tuple[Any, Infos]:
        obs, infos = super()._begun(results)
        return obs, self._with_games(infos)

    def _with_games(self, infos: Infos) -> Infos:
        infos["game"] = self._game
        if self._has_row_infos:
            return infos
        infos["by_game"] = shown = {}
        for part in self.simulator.parts:
            own = dict(self.simulator.own[part.game])
            if (parts := own.pop("reward_parts", None)) is not None:
                own["reward_parts"] = parts_by_name(parts, part.simulator.reward_fields)
            if (measures := own.pop("measures", None)) is not None:
                own |= parts_by_name(measures, part.simulator.measure_fields)
            shown[part.game] = own
        return infos

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of this environment, or a parameter that all games have, per row."""
        if self._is_parameter(name) and not hasattr(self, name):
            values = [one.get(f"world.{name}")[:, 0] for one in self.games.values()]
            return tuple(np.concatenate(values).repeat(self.agents_per_world).tolist())
        return (getattr(self, name),) * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:
        """Set a parameter that every game knows, or an attribute of Gymnasium's base class.

        A list has a value per row or world, of an attribute equal for all.
        """
        if self._is_parameter(name):
            values = attributes.by_world(values, self.num_envs, self.num_worlds)
            self.simulator.set_parameters(**{name: values})
            return
        if not attributes.is_of_base(self, name):
            raise AttributeError(self._refusal(name))
        values = attributes.of_all_rows(values, self.num_envs)
        attributes.assign_of_base(self, _description(self.simulator), name, values)

    def _is_parameter(self, name: object) -> bool:
        return all(attributes.is_parameter(game, name) for game in self.games)

    def _refusal(self, name: str) -> str:
        if name not in self._guarded[1]:
            return f"{self.simulator.name} has no attribute {name!r} to be set"
        return (
            f"{name!r} cannot be set as an attribute: call set_parameters({name}=...), or that of "
            "one game, env.games[ID].set_parameters"
        )

    def set_parameters(self, *, worlds: Sequence[int] | None = None, **values: Any) -> None:
        """Change parameters that every game knows; `games` has those of one."""
        self.simulator.set_parameters(worlds=worlds, **values)

    def get(self, column: str) -> Any:
        """Refuse: columns are those of a game."""
        raise TypeError(f"{column!r}: columns are those of a game: env.games[ID].get(...)")

    def set(self, column: str, values: object, worlds: Sequence[int] | None = None) -> None:
        """Refuse: columns are those of a game."""
        raise TypeError(f"{column!r}: columns are those of a game: env.games[ID].set(...)")

    def __reduce__(self) -> copies.Recipe:
        """Return a function and its arguments that make another one; refused after a reset."""
        simulator = self.simulator
        return copies.recipe(self, self._make_again, simulator.has_begun, simulator.is_closed)

    def __repr__(self) -> str:
        """Return name, size and device."""
        counts = ", ".join(f"{game} {one.num_worlds}" for game, one in self.games.items())
        return f"<MixedVectorEnv {self.simulator.name}: {counts} worlds on {self.device}>"


def _description(mixed: MixedSimulator) -> dict[str, Any]:
    """Return what is said of pictures, of the games together."""
    each = [registration.find(game) for game in mixed.games]
    first = dict(each[0])
    first["id"] = mixed.name
    for key in ("text", "scene"):
        first[key] = all(one.get(key) for one in each)
    return first
