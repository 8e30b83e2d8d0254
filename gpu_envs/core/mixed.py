"""Several games in one batch: a simulator of each, all of which write into the same arrays.

The worlds of a batch come game by game, in the order of the games. Those of a game are the ones of
a `Simulator` of that game alone with as many worlds: the same bits, whatever stands beside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import gymnasium
import numpy as np

from gpu_envs import errors
from gpu_envs.core import columns, mixed_saves, options, resets
from gpu_envs.core.layout import Layout, Output
from gpu_envs.core.pictures import Picture
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import OUTPUTS, Outputs

_GOLDEN = 0x9E3779B97F4A7C15  # keeps the draws of games apart

Games = Mapping[str, Mapping[str, Any]] | Sequence[str]


@dataclass(frozen=True)
class Part:
    """One game, and which part of the batch it is."""

    game: str
    simulator: Simulator
    worlds: slice
    rows: slice

    def of(self, array: Any, all_worlds: int) -> Any:
        """Return this game's part of an array by world or by row."""
        return array[self.worlds if len(array) == all_worlds else self.rows]


class MixedSimulator:
    """A batch of worlds of several games, which are observed and played alike.

    What one game alone writes, such as its state and its rewards in parts, is in `own`, by game;
    `games` has each game's simulator, for its columns, its parameters and its text.

    Args:
        games: Ids, or a dict of each id's own keywords.
        num_worlds: How many worlds in all.
        shares: How many worlds each game has, in their order; None for equal numbers, one more for
            the first ones where they do not divide.
        name: What messages call it.
        **keywords: Options of `Simulator` and parameters, which each game gets; `arrays="jax"` and
            `roles="split"` are not offered.
    """

    def __init__(
        self,
        games: Games,
        num_worlds: int,
        *,
        shares: Sequence[int] | None = None,
        name: str = "mixed",
        **keywords: Any,
    ) -> None:
        given = _checked_games(games)
        counts = _checked_shares(shares, num_worlds, list(given))
        if keywords.get("arrays") == "jax":
            raise ValueError("arrays='jax' is not possible for several games: they share arrays")
        self.name = name
        self.reuse = errors.flag(keywords.pop("reuse", False), "reuse")
        self.num_worlds = sum(counts)
        self.parts = tuple(self._made(given, counts, keywords))
        first = self._first = self.parts[0].simulator
        self.games = {part.game: part.simulator for part in self.parts}
        self._require_alike()
        self.agents_per_world, self.agent_names = first.agents_per_world, first.agent_names[:]
        self.single_observation_space = first.single_observation_space
        self.single_action_space = first.single_action_space
        self.observation_fields, self.action_fields = first.observation_fields, first.action_fields
        self.views, self.kinds = first.views, first.kinds
        self.device, self.arrays, self.ends = first.device, first.arrays, first.ends
        self.observation = first.observation
        self.autoreset_mode = first.autoreset_mode
        self.reward_fields: tuple[Any, ...] = ()  # each game has its own
        self.layout = self._common_layout()
        self.own: dict[str, dict[str, Any]] = {part.game: {} for part in self.parts}
        self._kept: dict[bool, Outputs] = {}

    def _made(
        self, given: Mapping[str, Mapping[str, Any]], counts: Sequence[int], common: dict[str, Any]
    ) -> Iterator[Part]:
        ends = list(accumulate(counts))
        made: list[Simulator] = []
        try:
            for (game, own), count, end in zip(given.items(), counts, ends, strict=True):
                simulator = Simulator(game, count, **{**common, **own})
                made.append(simulator)
                if not simulator.kinds.is_one or simulator.kinds.is_split:
                    raise ValueError(f"{simulator.name} has roles: several games have one kind")
                agents = simulator.agents_per_world
                rows = slice((end - count) * agents, end * agents)
                yield Part(simulator.name, simulator, slice(end - count, end), rows)
        except BaseException:
            for simulator in made:
                simulator.close()
            raise

    def _require_alike(self) -> None:
        """Refuse games whose agents see or act differently from the first one's."""
        first = self._first
        alike: dict[str, Callable[[Simulator], Any]] = {
            "observation space": lambda simulator: simulator.single_observation_space,
            "action space": lambda simulator: simulator.single_action_space,
            "number of agents": lambda simulator: simulator.agents_per_world,
            "device": lambda simulator: simulator.device,
        }
        for part in self.parts[1:]:
            for what, read in alike.items():
                one, other = read(first), read(part.simulator)
                if one != other:
                    self.close()
                    raise ValueError(
                        f"the {what} of {part.game} differs from that of {first.name}: "
                        f"{_shown(other)} against {_shown(one)}"
                    )

    def _common_layout(self) -> Layout:
        """Return the outputs that all games have in one form, for the whole batch."""
        found: dict[str, Output] = {}
        for name in OUTPUTS:
            each = [part.simulator.layout.output(name) for part in self.parts]
            one = each[0]
            if one is None or any(other is None or _form(other) != _form(one) for other in each):
                continue
            shape = (self.num_worlds, *one.shape[1:])
            head = (self.num_worlds * self.agents_per_world,) if one.per_agent else shape[:1]
            rows = (*head, *one.rows[1:])
            nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(one.type).itemsize
            found[name] = dataclasses.replace(one, shape=shape, rows=rows, nbytes=nbytes)
        return Layout(self.num_worlds, self.agents_per_world, Outputs(**found), (0, 0))

    # ---- the calls of every loop

    def step(
        self,
        actions: Any,
        *,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: Any = None,
    ) -> Outputs:
        """Run one step of every world, or of some; arguments as `Simulator.step` has them."""
        return self._presented(self.step_arrays(actions, False, out, stream, worlds))

    def step_arrays(
        self,
        actions: Any,
        flat: bool,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: Any = None,
    ) -> Outputs:
        """Step and return all outputs that games have in common; flat ones have a row per agent."""
        taken = self._by_row(actions, "actions")
        masks = None if worlds is None else self._by_row(worlds, "worlds")
        results = self._destination(flat, out)
        for part in self.parts:
            mask = None if masks is None else part.of(masks, self.num_worlds)
            own = part.of(taken, self.num_worlds)
            place = self._places(part, results, flat)
            self._note_own(part, part.simulator.step_arrays(own, flat, place, stream, mask))
        return results

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        mask: Any = None,
        options: Mapping[str, Any] | None = None,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
    ) -> Outputs:
        """Begin new episodes in all worlds, or in those of `mask`; the whole batch comes back.

        Args:
            seed: An int, which every game gets, or a list with one per world; None continues the
                random streams.
            mask: Bool per world, or per row with the rows of a world equal.
            options: Options that every game knows, and those of one under its id, as a dict.
            out: As in `step`.
            stream: As in `step`.
        """
        request = dict(resets.checked_options(options))
        if mask is not None:
            request["reset_mask"] = mask
        return self._presented(self.reset_arrays(seed, request, False, out, stream))

    def reset_arrays(
        self,
        seed: object,
        options: Mapping[str, Any] | None,
        flat: bool,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
    ) -> Outputs:
        """Reset as `reset` does, with the mask among the options."""
        seeds = resets.checked_seed(seed, self.num_worlds)
        if seeds is None and not self.has_begun:
            seeds = resets.fresh_seed()
        requests = self._options_by_game(resets.checked_options(options))
        results = self._destination(flat, out)
        for part, request in zip(self.parts, requests, strict=True):
            own = seeds[part.worlds] if isinstance(seeds, list) else seeds
            place = self._places(part, results, flat)
            self._note_own(part, part.simulator.reset_arrays(own, request, flat, place, stream))
        return self._of_a_reset(results)

    def observe(self, out: Mapping[str, Any] | None = None, *, stream: object = None) -> Outputs:
        """Return the current observation again; arguments as in `step`."""
        return self._presented(self.observe_arrays(False, out, stream))

    def observe_arrays(
        self, flat: bool, out: Mapping[str, Any] | None = None, stream: object = None
    ) -> Outputs:
        """Observe and return all common outputs but those that only a step writes."""
        results = self._destination(flat, out)
        for part in self.parts:
            place = self._places(part, results, flat)
            self._note_own(part, part.simulator.observe_arrays(flat, place, stream))
        return self._of_a_reset(results)

    def sample_actions(
        self, mask: Any = None, *, seed: int = 0, out: Any = None, stream: object = None
    ) -> Any:
        """Draw a uniformly random action for every agent; arguments as `Simulator` has them."""
        whole = errors.whole(seed, "seed", 0, resets.SEED_LIMIT - 1)
        form = self._first.kinds.action_form
        shape = (self.num_worlds, *form.drawn_shape[1:])
        actions = out
        if out is None:
            actions = self.empty(shape, "float32" if form.is_float else "int32")
        for number, part in enumerate(self.parts):
            part.simulator.sample_actions(
                None if mask is None else part.of(mask, self.num_worlds),
                seed=(whole + number * _GOLDEN) % resets.SEED_LIMIT,
                out=part.of(actions, self.num_worlds),
                stream=stream,
            )
        return actions

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Return an array of the games' library on their machine, not filled."""
        return self._first.empty(shape, kind)

    # ---- the state of the worlds

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
        for part, numbers in chosen:
            own = {name: self._values_of(part, value, listed) for name, value in values.items()}
            part.simulator.set_parameters(worlds=numbers, **own)

    def _values_of(self, part: Part, value: Any, listed: Sequence[int] | None) -> Any:
        """Return a game's values of a parameter that was given by world."""
        if not hasattr(value, "__len__") or isinstance(value, str):
            return value
        numbers = range(self.num_worlds) if listed is None else listed
        if len(value) != len(numbers):
            raise ValueError(
                f"values must have one entry per world, {len(numbers)}, got {len(value)}"
            )
        array = np.asarray(value)
        return array[[k for k, world in enumerate(numbers) if self.part_of(world) is part]]

    # ---- what is said of it

    @property
    def instance(self) -> dict[str, Any]:
        """What a description of one simulator says, of all of them: the parameters of all."""
        each = [part.simulator.instance for part in self.parts]
        names = [{field["name"] for field in one["parameters"]} for one in each]
        common = set.intersection(*names)
        fields = [field for field in each[0]["parameters"] if field["name"] in common]
        return {"id": self.name, "turns": False, "parameters": fields}

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that have one value in all games."""
        first, *rest = [part.simulator.parameters for part in self.parts]
        return {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in rest)
        }

    @property
    def varies(self) -> tuple[str, ...]:
        """Names of the parameters of which each world has a value of its own."""
        return self._first.varies

    @property
    def max_episode_steps(self) -> int:
        """The longest time limit of a game, 0 where one has none."""
        limits = [part.simulator.max_episode_steps for part in self.parts]
        return max(limits) if all(limits) else 0

    # ---- which game is where, and what went wrong

    @property
    def game_of_world(self) -> np.ndarray[Any, Any]:
        """The number of each world's game, in the order of `games`."""
        counts = [part.simulator.num_worlds for part in self.parts]
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    def part_of(self, world: int) -> Part:
        """Return the game of a world."""
        number = errors.whole(world, "world", 0, self.num_worlds - 1)
        return next(part for part in self.parts if number < part.worlds.stop)

    def text(self, world: int = 0, viewer: int = -1) -> str:
        """Return one world as text; arguments as `Simulator.text` has them."""
        part = self.part_of(world)
        return part.simulator.text(world - part.worlds.start, viewer)

    def render(self, world: int = 0, **how: Any) -> Picture:
        """Return a picture of one world; arguments as `Simulator.render` has them."""
        part = self.part_of(world)
        return part.simulator.render(world - part.worlds.start, **how)

    def check(self) -> None:
        """Raise what went wrong in any game since the last check."""
        for part in self.parts:
            part.simulator.check()

    @property
    def np_random_seed(self) -> int | tuple[int, ...] | None:
        """The seed of the last seeded reset."""
        seeds = [part.simulator.np_random_seed for part in self.parts]
        if isinstance(seeds[0], tuple):
            return tuple(seed for each in seeds if isinstance(each, tuple) for seed in each)
        return seeds[0]

    @property
    def memory_bytes(self) -> int:
        """Bytes held by all games."""
        return sum(part.simulator.memory_bytes for part in self.parts)

    @property
    def has_begun(self) -> bool:
        """Whether anything was done to the worlds that another batch would have to repeat."""
        return any(part.simulator.has_begun for part in self.parts)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._first.is_closed

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        for part in self.parts:
            part.simulator.close()
        self._kept = {}

    def __repr__(self) -> str:
        """Return the games and the size."""
        counts = ", ".join(f"{part.game} {part.simulator.num_worlds}" for part in self.parts)
        return f"<MixedSimulator {self.name}: {counts}>"

    # ---- helpers

    def _destination(self, flat: bool, out: Mapping[str, Any] | None) -> Outputs:
        """Return the arrays of the whole batch that a call writes."""
        if self.is_closed:
            self._first.check()  # says so
        given = dict(out or {})
        for name in given:
            if name not in OUTPUTS or self.layout.output(name) is None:
                known = [o.name for o in self.layout.outputs if o is not None]
                raise ValueError(errors.unknown("output in out=", name, known))
        if self.reuse and flat not in self._kept:
            self._kept[flat] = self._fresh(flat, ())
        rest = self._kept[flat] if self.reuse else self._fresh(flat, given)
        return rest._replace(**given)

    def _fresh(self, flat: bool, but: Any) -> Outputs:
        return Outputs(
            **{
                output.name: self.empty(output.view(flat), output.type)
                for output in self.layout.outputs
                if output is not None and output.name not in but
            }
        )

    def _places(self, part: Part, results: Outputs, flat: bool) -> dict[str, Any]:
        """Return a game's part of each array."""
        places = {}
        for output, array in zip(self.layout.outputs, results, strict=True):
            if output is not None:
                by_row = flat and output.per_agent
                places[output.name] = array[part.rows if by_row else part.worlds]
        return places

    def _note_own(self, part: Part, results: Outputs) -> None:
        """Keep what this game alone writes."""
        common = self.layout.outputs
        self.own[part.game] = {
            name: array
            for name, one, array in zip(OUTPUTS, common, results, strict=True)
            if one is None and array is not None
        }

    def _of_a_reset(self, results: Outputs) -> Outputs:
        each = zip(self.layout.outputs, results, strict=True)
        return Outputs(*(None if o is None or o.by_a_step else array for o, array in each))

    def _presented(self, results: Outputs) -> Outputs:
        if self.views is None:
            return results
        return results._replace(
            obs=self.views.observed(results), final_obs=self.views.last(results)
        )

    def _by_row(self, values: Any, what: str) -> Any:
        """Return values by world or by row as something that can be cut into parts."""
        array = values if hasattr(values, "shape") else np.asarray(values)
        rows = self.num_worlds * self.agents_per_world
        if len(array.shape) == 0 or array.shape[0] not in (self.num_worlds, rows):
            raise ValueError(
                f"{what} must have an entry per world ({self.num_worlds}) or row ({rows}), got "
                f"shape {tuple(array.shape)}"
            )
        return array

    def _options_by_game(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the options of a reset, game by game."""
        masks = {key: given[key] for key in resets.MASKS if given.get(key) is not None}
        own = {key: value for key, value in given.items() if key in self.games}
        common = {k: v for k, v in given.items() if k not in own and k not in resets.MASKS}
        if len(masks) > 1:
            raise ValueError("options must have 'reset_mask' or its alias 'env_idx', got both")
        chosen: Any = None
        if "env_idx" in masks:
            chosen = np.zeros(self.num_worlds * self.agents_per_world, bool)
            chosen[np.asarray(masks["env_idx"])] = True
        elif masks:
            chosen = self._by_row(masks["reset_mask"], "reset_mask")
        requests = []
        for part in self.parts:
            request = {**common, **resets.checked_options(own.get(part.game))}
            if chosen is not None:
                request["reset_mask"] = part.of(chosen, self.num_worlds)
            requests.append(request)
        return requests

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


def _form(output: Output) -> tuple[Any, ...]:
    """Return what has to be alike in all games."""
    return output.type, output.shape[1:], output.per_agent, output.by_a_step, output.where_ended


def _shown(value: Any) -> str:
    """Return a value in a few words; of a space of numbers not all of their bounds."""
    if isinstance(value, gymnasium.spaces.Box):
        return f"Box of shape {value.shape}, {value.dtype}"
    return str(value)


def _checked_games(games: Games) -> dict[str, Mapping[str, Any]]:
    if isinstance(games, str) or not isinstance(games, Mapping | Sequence):
        raise TypeError(f"games must be ids, or a dict of them, got {errors.shown(games)}")
    given = dict(games) if isinstance(games, Mapping) else {game: {} for game in games}
    if len(given) < len(games) or not given:
        raise ValueError(f"games must be one id or more, each once, got {errors.shown(games)}")
    return given


def _checked_shares(
    shares: Sequence[int] | None, num_worlds: object, games: Sequence[str]
) -> list[int]:
    count = errors.whole(num_worlds, "num_worlds", len(games), options.WORLD_LIMIT)
    if shares is None:
        each, more = divmod(count, len(games))
        return [each + (number < more) for number in range(len(games))]
    counts = [errors.whole(share, "shares", 1, options.WORLD_LIMIT) for share in shares]
    if len(counts) != len(games) or sum(counts) != count:
        raise ValueError(
            f"shares must have a number of worlds for each of {len(games)} games, {count} in all, "
            f"got {counts}"
        )
    return counts
