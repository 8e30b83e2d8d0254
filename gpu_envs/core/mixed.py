"""Several games in one batch: a simulator of each, all of which write into the same arrays.

The worlds of a batch come game by game, in the order of the games. Those of a game are the ones of
a `Simulator` of that game alone with as many worlds: the same bits, whatever stands beside them.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import copies, mixed_parts, resets
from gpu_envs.core.arrays import Wanted
from gpu_envs.core.layout import Layout, Output, size_in_words
from gpu_envs.core.mixed_parts import Games, Part
from gpu_envs.core.mixed_states import MixedStates
from gpu_envs.core.pictures import Picture
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import OUTPUTS, Outputs

_GOLDEN = 0x9E3779B97F4A7C15  # keeps the draws of games apart


class MixedSimulator(MixedStates):
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
        given = mixed_parts.checked_games(games)
        counts = mixed_parts.checked_shares(shares, num_worlds, list(given))
        for own in (keywords, *given.values()):
            if own.get("arrays") == "jax":
                raise ValueError("arrays='jax' is not offered for several games: they share arrays")
        self._make_again = partial(
            type(self), games, num_worlds, shares=shares, name=name, **keywords
        )
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
        self.measure_fields: tuple[Any, ...] = ()
        self.layout = self._common_layout()
        self.own: dict[str, dict[str, Any]] = {part.game: {} for part in self.parts}
        self._kept: dict[bool, Outputs] = {}
        self._placed: dict[tuple[str, bool], dict[str, Any]] = {}  # parts of these
        place = ("cpu", 0)
        self._masks = resets.MaskReader(
            self.num_worlds, self.agents_per_world, place, lambda array: (0, array)
        )

    def _made(
        self, given: Mapping[str, Mapping[str, Any]], counts: Sequence[int], common: dict[str, Any]
    ) -> Iterator[Part]:
        ends = list(accumulate(counts))
        made: list[Simulator] = []
        try:
            for (game, own), count, end in zip(given.items(), counts, ends, strict=True):
                cut = {
                    name: mixed_parts.cut(value, self.num_worlds, slice(end - count, end))
                    for name, value in common.items()
                }
                simulator = Simulator(game, count, **{"reuse": self.reuse, **cut, **own})
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
            "library of arrays": lambda simulator: simulator.arrays,
            "autoreset mode": lambda simulator: simulator.autoreset_mode.value,
            "value of `ends`": lambda simulator: simulator.ends,
            "value of `strict`": lambda simulator: simulator.strict,
            "value of `varies`": lambda simulator: sorted(simulator.varies),
        }
        for part in self.parts[1:]:
            for what, read in alike.items():
                one, other = read(first), read(part.simulator)
                if one != other:
                    self.close()
                    raise ValueError(
                        f"the {what} of {part.game} differs from that of {first.name}: "
                        f"{mixed_parts.shown(other)} against {mixed_parts.shown(one)}"
                    )

    def _common_layout(self) -> Layout:
        """Return the outputs that all games have in one form, for the whole batch."""
        found: dict[str, Output] = {}
        for name in OUTPUTS:
            each = [part.simulator.layout.output(name) for part in self.parts]
            one = each[0]
            if name in mixed_parts.OWN or one is None:
                continue
            forms = [None if other is None else mixed_parts.form(other) for other in each]
            if any(other != forms[0] for other in forms):
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
        self._require_ready("step")
        taken = self._by_row(actions, "actions")
        masks = None if worlds is None else self._checked_mask(worlds)
        results = self._destination(flat, out)
        # A game that will refuse its actions comes first, so that nothing has moved then.
        for part in sorted(self.parts, key=lambda part: self._may_step(part, taken, masks)):
            mask = None if masks is None else part.of(masks, self.num_worlds)
            own = part.of(taken, self.num_worlds)
            place = self._places(part, results, flat)
            with mixed_parts.named(part):
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
        requests = self._options_by_game(resets.checked_options(options))
        if not self.is_ready:
            if any("reset_mask" in request for request in requests):
                raise errors.ResetNeeded("reset_mask: the first reset has to be of all worlds")
            seeds = resets.fresh_seed() if seeds is None else seeds
        results = self._destination(flat, out)
        for part, request in zip(self.parts, requests, strict=True):
            with mixed_parts.named(part):
                part.simulator.require_options(request)
        for part, request in zip(self.parts, requests, strict=True):
            own = seeds[part.worlds] if isinstance(seeds, list) else seeds
            place = self._places(part, results, flat)
            with mixed_parts.named(part):
                done = part.simulator.reset_arrays(own, request, flat, place, stream)
                self._note_own(part, done)
        return self._of_a_reset(results)

    def observe(self, out: Mapping[str, Any] | None = None, *, stream: object = None) -> Outputs:
        """Return the current observation again; arguments as in `step`."""
        return self._presented(self.observe_arrays(False, out, stream))

    def observe_arrays(
        self, flat: bool, out: Mapping[str, Any] | None = None, stream: object = None
    ) -> Outputs:
        """Observe and return all common outputs but those that only a step writes."""
        self._require_ready("observe")
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
        kind = "float32" if form.is_float else "int32"
        actions = self.empty(shape, kind) if out is None else out
        if out is not None:
            self._first.require_array(out, Wanted("out", (kind,), (shape,)))
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
            with mixed_parts.named(part):
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
    def is_ready(self) -> bool:
        """Whether the worlds of all games have begun."""
        return all(part.simulator.is_ready for part in self.parts)

    def report_illegal(self, report: Callable[[int], object] | None) -> None:
        """Call `report` with the number of illegal actions, as `Simulator.report_illegal` does."""
        for part in self.parts:
            part.simulator.report_illegal(report)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._first.is_closed

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        for part in self.parts:
            part.simulator.close()
        self._kept, self._placed = {}, {}

    def __reduce__(self) -> copies.Recipe:
        """Return how to make another one, which is all there is before the first reset."""
        return copies.recipe(self, self._make_again, self.has_begun, self.is_closed)

    def __repr__(self) -> str:
        """Return the games and the size."""
        counts = ", ".join(f"{part.game} {part.simulator.num_worlds}" for part in self.parts)
        return f"<MixedSimulator {self.name}: {counts}>"

    # ---- helpers

    def _destination(self, flat: bool, out: Mapping[str, Any] | None) -> Outputs:
        """Return the arrays of the whole batch that a call writes."""
        given = self._given(out, flat)
        if self.reuse and flat not in self._kept:
            self._kept[flat] = self._fresh(flat, ())
        rest = self._kept[flat] if self.reuse else self._fresh(flat, given)
        return rest._replace(**given)

    def _given(self, out: object, flat: bool) -> dict[str, Any]:
        """Check arrays of the caller; return them by name."""
        if out is None:
            return {}
        if isinstance(out, Outputs):
            out = {name: array for name, array in out._asdict().items() if self._writes(name)}
        if not isinstance(out, Mapping):
            raise TypeError(f"out must be a dict of arrays, got {type(out).__name__}")
        size = size_in_words(self.num_worlds, self.agents_per_world)
        for name, array in out.items():
            output = self.layout.output(name) if name in OUTPUTS else None
            if output is None:
                known = [o.name for o in self.layout.outputs if o is not None]
                raise ValueError(errors.unknown("output in out=", name, known))
            shapes = (output.view(flat),)
            wanted = Wanted(f"out[{name!r}]", (output.type,), shapes, size=size)
            self._first.require_array(array, wanted)
        return dict(out)

    def _writes(self, name: str) -> bool:
        return self.layout.output(name) is not None

    def _require_ready(self, call: str) -> None:
        if self.is_closed:
            self._first.check()  # says so
        if not self.is_ready:
            raise errors.ResetNeeded(f"{self.name}: call reset() before {call}()")

    def _may_step(self, part: Part, taken: Any, masks: Any) -> bool:
        """Whether a game will take its actions, as far as the host knows them."""
        own, space = part.of(taken, self.num_worlds), self.single_action_space
        if not isinstance(own, np.ndarray) or own.dtype.kind not in "iuf":
            return True
        agents = self.agents_per_world
        rows = own.reshape(-1, 1) if own.size == len(own) * agents else own
        try:
            rows = rows.reshape(part.simulator.num_worlds * agents, -1)
        except ValueError:  # of another shape: refused
            return False
        if masks is not None and isinstance(masks, np.ndarray):
            by_world = part.of(masks, self.num_worlds).reshape(part.simulator.num_worlds, -1)[:, 0]
            rows = rows[np.repeat(by_world != 0, agents)]
        low, high = mixed_parts.bounds(space)
        return bool(((rows >= low) & (rows <= high)).all())

    def _checked_mask(self, worlds: Any) -> Any:
        """Return which worlds step, by world or row; refuse rows of a world that differ."""
        mask = self._by_row(worlds, "worlds")
        if isinstance(mask, np.ndarray):
            self._masks.on_host(resets.STEP_MASK, mask)  # refuses
        return mask

    def _fresh(self, flat: bool, but: Any) -> Outputs:
        return Outputs(
            **{
                output.name: self.empty(output.view(flat), output.type)
                for output in self.layout.outputs
                if output is not None and output.name not in but
            }
        )

    def _places(self, part: Part, results: Outputs, flat: bool) -> dict[str, Any]:
        """Return a game's part of each array; for the batch's own arrays always the same one."""
        own = self._kept.get(flat)
        is_own = own is not None and all(map(operator.is_, own, results))
        if is_own and (part.game, flat) in self._placed:
            return self._placed[part.game, flat]
        places = {}
        for output, array in zip(self.layout.outputs, results, strict=True):
            if output is not None:
                by_row = flat and output.per_agent
                places[output.name] = array[part.rows if by_row else part.worlds]
        if is_own:
            self._placed[part.game, flat] = places
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
        array = values
        if not hasattr(values, "shape"):
            array = np.from_dlpack(values) if hasattr(values, "__dlpack__") else np.asarray(values)
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
        for key, mask in masks.items():
            chosen = self._masks.on_host(key, mask)
        requests = []
        for part in self.parts:
            shared = {
                name: mixed_parts.cut(value, self.num_worlds, part.worlds)
                for name, value in common.items()
            }
            request = {**shared, **resets.checked_options(own.get(part.game))}
            if chosen is not None:
                request["reset_mask"] = chosen[part.worlds]
            requests.append(request)
        return requests
