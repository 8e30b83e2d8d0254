"""Gymnasium's vector interface over one simulator: a learner per agent, rows world-major.

`num_envs` asks for worlds; the environment's own `num_envs` counts rows = worlds x agents, and
everything it returns has that many. Every info key `k` has its mask `_k`, except `action_mask`,
`agent_active`, `reward_parts` and `state`, which are valid everywhere (`state` has one row per
world). With `infos="rows"` every entry is one array with a row per row, for tools that know nothing
else; last observations of several layers stay a dict of such arrays.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Space
from gymnasium.utils import seeding
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space

from gpu_envs import errors
from gpu_envs.core import copies, layout, options, pictures
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces import attributes, jitted
from gpu_envs.faces.infos import at_ends, infos_of, parts_by_name
from gpu_envs.faces.states import States
from gpu_envs.known import registration
from gpu_envs.known.outputs import Outputs
from gpu_envs.players import ego_rows, role_rows

Infos = dict[str, Any]
_NESTED = ("episode_stats", "_episode_stats", "reward_parts")
_BY_ROW = ("render", "get_attr", "call")  # methods that return a tuple of rows


def require_infos(infos: object) -> None:
    """Refuse a bad value of `infos`."""
    if not isinstance(infos, str) or infos not in ("nested", "rows"):
        raise ValueError(f"infos must be 'nested' or 'rows', got {infos!r}")


if TYPE_CHECKING:
    _Base = GymnasiumVectorEnv[Any, Any, Any]
else:  # before Gymnasium 1.0 the class takes no type arguments
    _Base = GymnasiumVectorEnv


@options.documented(but=("ends", "roles"))
class VectorEnv(States, attributes.Guarded, _Base):
    """A batch of worlds of one environment.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        ends: "world": the rows of a world are flagged in one step, when the world is over, so that
            no row goes from one episode to the next without a flag; a row whose agent ended earlier
            shows zeros and reward 0 until then, and is terminated. "agent": a row is flagged once,
            in the step in which its own agent ends.
        render_mode: None, "ansi" where the environment describes a text (on the CPU), or
            "rgb_array" where it describes a scene: `render` returns a text or a picture per row,
            the rows of a world sharing one.
        render_size: Rows and columns of a picture; None for the environment's own.
        render_view: "perspective", "top", "both", "top:<number>", "agent:<number>"; None for the
            environment's own.
        infos: "nested", or "rows", where `state` is repeated for the agents of a world, and
            `episode_return`, `episode_length` and `reward_<part>` stand in the place of
            `episode_stats` and `reward_parts`; `final_info` alone holds arrays of its own, the
            fields of the last observations too.
        role: Name of one role, whose agents alone have rows here; None for all agents.
        agent: Name of one agent, which alone has rows here, one in each world; "drawn": another
            agent in each episode. Where agents take turns, a step lasts until its next turn.
        others: Who plays the other roles, or agents: "random" (the default; among legal actions),
            "noop", "trained", "scripted", a file of policies, a callable `others(role, obs, mask)`
            that returns actions of shape (worlds, n), a list of these, from which each world draws
            at each reset, or a dict of these by role, or with `agent` by agent too, with callables
            `f(obs, mask)`.
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **keywords: The environment's own parameters (`python -m gpu_envs info ID`).
    """

    # What Gymnasium before 1.0 sets in a constructor that would make the batched spaces.
    closed = False
    is_vector_env = True
    viewer = None
    _np_random_seed: int | None = None
    simulator: Simulator

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        *,
        ends: str = "world",
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
        render_view: str | None = None,
        infos: str = "nested",
        role: str | None = None,
        agent: str | None = None,
        others: Any = None,
        **keywords: Any,
    ) -> None:
        require_infos(infos)
        drawn: dict[str, Any] = {
            "render_mode": render_mode,
            "render_size": render_size,
            "render_view": render_view,
            "role": role,
            "agent": agent,
            "others": others,
        }
        keywords["ends"] = ends
        self._make_again = partial(type(self), name, num_envs, infos=infos, **drawn, **keywords)
        style = pictures.Style.of(render_size, render_view)
        worlds = errors.whole(num_envs, "num_envs", 1, options.WORLD_LIMIT)
        rows: Simulator | role_rows.RoleRows
        if role is None and agent is None:
            role_rows.refuse_role_options(others, keywords)
            rows = Simulator(name, worlds, **keywords)
            self.role = None
        else:
            rows = ego_rows.make_rows(name, worlds, role, agent, others, keywords)
            self.role = rows.role
        self._adopt(rows, registration.find(name), infos, render_mode, style)
        self._guard(self.simulator.name)

    def _adopt(
        self,
        rows: Any,
        description: Mapping[str, Any],
        infos: str,
        render_mode: str | None,
        style: pictures.Style,
    ) -> None:
        """Take over a simulator, or what shows a part of its rows."""
        self._has_row_infos, self._style = infos == "rows", style
        self.simulator = simulator = role_rows.simulator_of(rows)
        self.num_worlds: int = simulator.num_worlds
        self.agents_per_world: int = rows.agents_per_world
        self.agent_names = rows.agent_names[:]
        self.num_envs = self.num_worlds * self.agents_per_world
        self.single_observation_space = rows.single_observation_space
        self.single_action_space = rows.single_action_space
        self.autoreset_mode = simulator.autoreset_mode
        self.device = simulator.device
        self.metadata = pictures.metadata(description, simulator.device)
        self.metadata["autoreset_mode"] = simulator.autoreset_mode
        modes = self.metadata["render_modes"]
        self.render_mode = pictures.checked_mode(render_mode, modes, description)
        self._rows: Simulator | role_rows.RoleRows = rows
        self._step_arrays, self._reset_arrays = rows.step_arrays, rows.reset_arrays
        self._views = rows.views
        self.infos_shown = infos_of(simulator.layout, role_rows.hidden_outputs(rows))
        self._reward_fields = rows.reward_fields
        self._measure_fields = rows.measure_fields
        has_parts = simulator.layout.output("reward_parts") is not None
        self._has_more_infos = self._has_row_infos or has_parts or any(self.infos_shown)
        many = self.agents_per_world > 1
        written = [output for output in simulator.layout.outputs if output is not None]
        self._repeated = [o.name for o in written if many and not o.per_agent]
        self._is_same_step = simulator.autoreset_mode is AutoresetMode.SAME_STEP
        self._made: dict[str, weakref.ref[Any]] = {}

    # Batched spaces hold two bounds per row and element, so they are made when first asked for.

    @cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]  # settable, as cached
        """Space of the whole batch of observations."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> Space[Any]:  # type: ignore[override]  # settable, as cached
        """Space of the whole batch of actions."""
        return batch_space(self.single_action_space, self.num_envs)

    def step(
        self,
        actions: Any,
        *,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
        worlds: object = None,
    ) -> tuple[Any, Any, Any, Any, Infos]:
        """Run one step of every world, or of some.

        Args:
            actions: One per row; anything that speaks DLPack, or a list.
            out: Arrays to write into by output name (`obs`, `reward`, `terminated`, `truncated`,
                `final_obs`, ...), shaped by rows; outputs that are not named are fresh.
            stream: CUDA stream to enqueue on; default the array library's current one. It waits for
                the current stream first, and that one for it afterwards.
            worlds: Which worlds step, a bool or uint8 per world or row; None for all. The others
                stay as they are, and their actions may be anything (`Simulator.step`).

        Returns:
            Observations, rewards, terminations, truncations and infos.
        """
        results = self._step_arrays(actions, True, out, stream, worlds)
        # Half the time of reading them by name.
        obs, reward, terminated, truncated, final_obs, ended, returns, lengths = results[:8]
        infos: Infos = {}
        if self._views is not None:
            obs, final_obs = self._views.observed(results), self._views.last(results)
        if returns is not None:
            infos = {"episode_stats": {"r": returns, "l": lengths}, "_episode_stats": ended}
            if self._is_same_step:
                infos["final_info"] = {"episode": {"r": returns, "l": lengths}, "_episode": ended}
                infos["_final_info"] = ended
        if final_obs is not None:
            infos["final_obs"] = final_obs
            infos["_final_obs"] = ended
        if self._has_more_infos:
            infos = self._with_more(infos, results)
        return obs, reward, terminated, truncated, infos

    def _with_more(self, infos: Infos, results: Outputs) -> Infos:
        """Add the infos that not every environment has, and give all the form asked for."""
        ends = functools.partial(getattr, results)
        for name, array in at_ends(self.infos_shown.of_ends, ends, self._measure_fields).items():
            marked = {name: array, f"_{name}": results.ended}
            infos.update(marked)
            if "final_info" in infos:
                infos["final_info"].update(marked)
        for name in self.infos_shown.of_steps + self.infos_shown.always:
            infos[name] = getattr(results, name)
        if (parts := results.reward_parts) is not None:
            infos["reward_parts"] = parts_by_name(parts, self._reward_fields)
        return self._by_row(infos) if self._has_row_infos else infos

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
        out: Mapping[str, Any] | None = None,
        stream: object = None,
    ) -> tuple[Any, Infos]:
        """Begin new episodes in all worlds, or in those of `options["reset_mask"]`.

        Args:
            seed: An int for the batch, or a list with one per world; None continues the random
                streams.
            options: `reset_mask` (bool per world or row; `env_idx` with row numbers is accepted
                too), the environment's own options, and parameters that can change, which stay;
                read, never changed.
            out: As in `step`.
            stream: As in `step`.

        Returns:
            Observations of the whole batch, and infos.
        """
        results = self._reset_arrays(seed, options, True, out, stream)
        self._note_seed()
        return self._begun(results)

    def observe(self) -> tuple[Any, Infos]:
        """Return observations and infos again, as `reset` does; of use after a load or a change."""
        return self._begun(self._rows.observe_arrays(True))

    def _begun(self, results: Outputs) -> tuple[Any, Infos]:
        obs = results.obs if self._views is None else self._views.observed(results)
        infos = {name: getattr(results, name) for name in self.infos_shown.always}
        return obs, self._by_row(infos) if self._has_row_infos else infos

    def xla(self) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
        """Return a handle, and functions `reset` and `step` for use inside `jax.jit` (docs/jit.md).

        `handle, (obs, reward, terminated, truncated, infos) = step(handle, actions)` and
        `handle, (obs, infos) = reset(handle, seed=None, mask=None)` are pure functions to JAX: the
        handle stands for the worlds, and each is good for one call. After a step in Python, ask
        again.
        """
        found = self._programs("xla()", jitted.Jitted)
        return found.handle(), found.reset, found.step

    def compiled(self) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
        """Return a token, and functions `reset` and `step` for use inside `torch.compile`.

        `token, (obs, reward, terminated, truncated, infos) = step(token, actions)` and
        `token, (obs, infos) = reset(token, seed=None, mask=None)` are operators to torch: the token
        stands for the worlds, and each call changes it (docs/compile.md). After a step in Python,
        ask again.
        """
        if (arrays := self.simulator.arrays) != "torch":
            raise ValueError(
                f"compiled() needs arrays='torch', and this environment has arrays={arrays!r}: "
                "pass arrays='torch' to make_vec"
            )
        from gpu_envs.faces import compiled  # needs torch, which others do without

        found = self._programs("compiled()", compiled.Compiled)
        return found.token(), found.reset, found.step

    def _programs(self, call: str, make: Callable[..., Any]) -> Any:
        """Return the calls that programs make; the same ones while somebody has them."""
        known = self._made.get(call)
        found = None if known is None else known()
        if found is None:
            if type(self).step is not VectorEnv.step:
                raise ValueError(f"{call} is of gpu_envs.make_vec: {type(self)} has its own step")
            if not isinstance(self._rows, Simulator):
                raise ValueError(
                    f"{call} needs all agents of one environment, without role=, agent= and "
                    "others=, whose players are in Python"
                )
            found = make(self._rows, partial(_told, self), self._begun)
            self._made[call] = weakref.ref(found)  # it has this environment, not the reverse
        return found

    def _states(self) -> Simulator | role_rows.RoleRows:
        return self._rows

    def _by_row(self, infos: Infos) -> Infos:
        """Flatten infos: no infos within infos, and a row of each world's values per agent."""
        flat = {name: info for name, info in infos.items() if name not in _NESTED}
        for name in self._repeated:
            if (array := infos.get(name)) is not None:
                is_torch = self.simulator.arrays == "torch"
                repeat = array.repeat_interleave if is_torch else array.repeat
                flat[name] = repeat(self.agents_per_world, 0)
        if (stats := infos.get("episode_stats")) is not None:
            for name, key in (("episode_return", "r"), ("episode_length", "l")):
                flat[name], flat[f"_{name}"] = stats[key], infos["_episode_stats"]
        if isinstance(final := infos.get("final_obs"), dict):  # where TorchRL looks for fields
            flat["final_info"] = {**infos.get("final_info", {}), **final}
            flat["_final_info"] = infos["_final_obs"]
        parts = infos.get("reward_parts", {})
        for name, part in parts.items():
            flat[f"reward_{name}"] = part
        return flat

    def _note_seed(self) -> None:
        """Keep Gymnasium's generator in step with the seed of the last seeded reset."""
        seed: Any = self.simulator.np_random_seed
        if seed != self._np_random_seed:
            first = seed[0] if isinstance(seed, tuple) else seed
            self._np_random, _ = seeding.np_random(first)
            self._np_random_seed = seed

    def check(self) -> None:
        """Raise for faults in the worlds since the last check."""
        self.simulator.check()

    def render(self) -> tuple[pictures.Picture | str, ...] | None:
        """Return a picture per row, uint8 (rows, columns, 3), or a text per row.

        Without a mode: None, and a warning.
        """
        if self.render_mode is None:
            modes = self.metadata["render_modes"]
            pictures.warn_without_mode(self.simulator.name, modes, "gymnasium.make_vec")
            return None
        worlds, look, how = range(self.num_worlds), self.simulator, self._style.keywords()
        drawn: list[pictures.Picture | str]
        if self.render_mode == pictures.TEXT_MODE:
            drawn = [look.text(world) for world in worlds]
        else:
            drawn = [look.render(world, **how) for world in worlds]
        return tuple(picture for picture in drawn for _ in range(self.agents_per_world))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of this environment, or read an attribute.

        Returns:
            The result once per row; what `render`, `get_attr` and `call` return, row by row.
        """
        value = getattr(self, name)
        if callable(value):
            value = value(*args, **kwargs)
        elif args or kwargs:
            raise TypeError(f"{name!r} is not a method of {self.simulator.name}: pass no arguments")
        if name in _BY_ROW and value is not None:
            return tuple(value)
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of this environment, or a parameter that can change, per row."""
        value = attributes.read(self, self.simulator.name, name)
        if attributes.is_read(self, self.simulator.name, name):
            return tuple(np.repeat(value, self.agents_per_world).tolist())
        return (value,) * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:
        """Set a parameter that can change, or an attribute of Gymnasium's base class.

        All others are refused: other rules and the state are not attributes, and the message names
        what sets them. A list or tuple has a value per row: of a parameter equal for the rows of a
        world, of other attributes equal for all.
        """
        if attributes.is_parameter(self.simulator.name, name):
            values = attributes.by_world(values, self.num_envs, self.num_worlds)
        else:
            values = attributes.of_all_rows(values, self.num_envs)
        attributes.assign(self, self.simulator.name, name, values)

    def close_extras(self, **kwargs: Any) -> None:
        """Release the simulator."""
        # Gymnasium before 1.3 closes from its destructor, even after a failed constructor.
        if "simulator" in vars(self):
            self.simulator.close()

    def __reduce__(self) -> copies.Recipe:
        """Return a function and its arguments that make another one; refused after a reset."""
        simulator = self.simulator
        return copies.recipe(self, self._make_again, simulator.has_begun, simulator.is_closed)

    def __repr__(self) -> str:
        """Return name, size and device."""
        size = layout.size_in_words(self.num_worlds, self.agents_per_world)
        name = self.simulator.name + (f" as {self.role.name}" if self.role else "")
        return f"<VectorEnv {name}: {size} on {self.device}>"


class _Stepped:
    """An environment that a program has stepped: all but its arrays are those of `env`."""

    def __init__(self, env: VectorEnv, results: Outputs) -> None:
        self._env, self._step_arrays = env, lambda *_: results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def _told(env: VectorEnv, results: Outputs) -> Any:
    """Return the outputs of a step as `step` does, which so has no function between."""
    return VectorEnv.step(_Stepped(env, results), None)  # type: ignore[arg-type]
