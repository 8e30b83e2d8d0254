"""Gymnasium's single-environment interface over a batch of one world.

For checks, play and code that wants `gymnasium.make`; a batch is what the package is for. The
native simulator is made when it is first needed, so that an environment can be constructed before a
process forks.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space

from gpu_envs import errors
from gpu_envs.core import actions, copies, options, pictures, resets
from gpu_envs.core.parameters import for_one_agent
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces import attributes
from gpu_envs.faces.infos import Infos, at_ends, infos_of, parts_by_name
from gpu_envs.faces.states import States
from gpu_envs.known import native, registration
from gpu_envs.known.outputs import LAYERS, Outputs
from gpu_envs.players import ego_rows, role_rows


@options.documented(but=("device", "roles", *options.OF_BATCHES))
class Env(States, attributes.Guarded, gymnasium.Env[Any, Any]):
    """One world with one agent; NumPy observations, Python scalars, no autoreset.

    Parameters that count the agents have to leave one: `agent_count=1`; or `role=` names a role
    that one agent has, or `agent=` an agent, and `others=` says who plays the rest. A time limit
    longer than the environment's own needs `max_episode_steps` here: `gymnasium.make` keeps that
    argument to itself and can only shorten it.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        render_mode: None, "ansi" where it describes a text, or "rgb_array" where it describes a
            scene.
        render_size: Rows and columns of a picture; None for the environment's own.
        render_view: "perspective", "top", "both", "top:<number>", "agent:<number>"; None for the
            environment's own.
        device: "cpu" (the default), "cuda", "cuda:<n>", or "auto": a GPU when there is one.
        role: As in `VectorEnv`; the role of one agent.
        agent: As in `VectorEnv`.
        others: As in `VectorEnv`.
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **keywords: The environment's own parameters (`python -m gpu_envs info ID`).
    """

    # On the class, where `gymnasium.make` looks for it, and copied to each instance.
    metadata = {"render_modes": [pictures.TEXT_MODE, pictures.MODE], "render_fps": 50}  # noqa: RUF012 - as the base class has it

    def __init__(
        self,
        name: str,
        *,
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
        render_view: str | None = None,
        device: str = "cpu",
        role: str | None = None,
        agent: str | None = None,
        others: Any = None,
        **keywords: Any,
    ) -> None:
        own: dict[str, Any] = {
            "render_mode": render_mode,
            "render_size": render_size,
            "render_view": render_view,
            "device": device,
            "role": role,
            "agent": agent,
            "others": others,
        }
        self._make_again = partial(type(self), name, **own, **keywords)
        if device == "cpu":  # elsewhere nothing is touched yet: a process may fork first
            native.prepare(device, name)
        description = registration.find(name)
        self.name: str = description["id"]
        self.metadata = pictures.metadata(description, device)
        modes = self.metadata["render_modes"]
        self.render_mode = pictures.checked_mode(render_mode, modes, description)
        self._style = pictures.Style.of(render_size, render_view)
        self.device = device
        self._made: Simulator | role_rows.RoleRows | None = None
        self._is_closed = False
        errors.refuse(options.OF_BATCHES, keywords, "a single environment: use make_vec")
        chosen = {k: v for k, v in keywords.items() if k not in options.KEYWORDS}
        self._role, self._agent, self._others, self._keywords = role, agent, others, keywords
        if role is None and agent is None:
            role_rows.refuse_role_options(others, keywords)
            self._keywords = keywords | for_one_agent(description, chosen)
        elif device == "cpu":  # how many have a role only the simulator knows
            self._rows()
        self._guard(self.name)

    @property
    def simulator(self) -> Simulator:
        """The simulator, made on first use."""
        return role_rows.simulator_of(self._rows())

    def _rows(self) -> Simulator | role_rows.RoleRows:
        """Return the object to step and reset, made on first use: a simulator, or a role's rows."""
        if self._is_closed:
            raise RuntimeError(f"{self.name} is closed: make a new one")
        if self._made is None:
            keywords: dict[str, Any] = {
                "device": self.device,
                "arrays": "numpy" if self.device == "cpu" else "torch",
                "threads": 1,
                "autoreset_mode": "Disabled",
                **self._keywords,
            }
            if self._role is None and self._agent is None:
                self._made = Simulator(self.name, 1, **keywords)
            else:
                self._made = ego_rows.make_single_row(
                    self.name, self._role, self._agent, self._others, keywords
                )
        return self._made

    @cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]  # settable, as cached
        """Space of an observation."""
        return self._rows().single_observation_space

    @cached_property
    def action_space(self) -> Space[Any]:  # type: ignore[override]  # settable, as cached
        """Space of an action."""
        return self._rows().single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode.

        Args:
            seed: A Python int in [0, 2^64); None continues the random stream.
            options: The environment's own options, for this call only, and parameters that can
                change, which stay.
        """
        if isinstance(seed, list | tuple):
            raise TypeError(f"seed must be a Python int, got {seed!r}")
        resets.checked_seed(seed, 1)
        if seed is None and self.simulator.np_random_seed is None:
            seed = resets.fresh_seed()
        super().reset(seed=seed)
        results = self._rows().reset_arrays(seed, options, True)
        return self._observation(results), self._common_info(results)

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """Return observation and info again, as `reset` does; of use after a load or a change."""
        results = self._rows().observe_arrays(True)
        return self._observation(results), self._common_info(results)

    def _states(self) -> Simulator | role_rows.RoleRows:
        return self._rows()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Run one step.

        Args:
            action: An element of `action_space`.
        """
        if action is None:
            raise TypeError(f"action must be an element of {self.action_space}, got None")
        batch = actions.as_array(action)[np.newaxis]
        results = self._rows().step_arrays(batch, True)
        info = self._common_info(results)
        if results.reward_parts is not None:
            parts = parts_by_name(results.reward_parts[0], self._rows().reward_fields)
            info["reward_parts"] = {name: part.tolist() for name, part in parts.items()}
        info |= {name: getattr(results, name)[0].tolist() for name in self._infos.of_steps}
        if results.ended[0]:
            total, length = results.episode_return[0], results.episode_length[0]
            info["episode_stats"] = {"r": float(total), "l": int(length)}
            measures = self._rows().measure_fields
            ends = at_ends(self._infos.of_ends, lambda n: getattr(results, n)[0], measures)
            info |= {name: array.tolist() for name, array in ends.items()}
        reward, terminated = float(results.reward[0]), bool(results.terminated[0])
        truncated = bool(results.truncated[0])
        if isinstance(self._made, role_rows.RoleRows) and not terminated:
            truncated |= self._made.is_over
        return self._observation(results), reward, terminated, truncated, info

    def _observation(self, results: Outputs) -> Any:
        pairs = ((name, getattr(results, name)) for name in LAYERS)
        row = Outputs(**{name: _host_copy(rows[0]) for name, rows in pairs if rows is not None})
        views = self._rows().views
        if views is None:
            return row.obs
        return {name: np.asarray(view) for name, view in views.observed(row).items()}

    def _common_info(self, results: Outputs) -> dict[str, Any]:
        return {name: _host_copy(getattr(results, name)[0]) for name in self._infos.always}

    @cached_property
    def _infos(self) -> Infos:
        rows = self._rows()
        return infos_of(self.simulator.layout, role_rows.hidden_outputs(rows))

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, or a parameter that can change."""
        value = attributes.read(self, self.name, name)
        return value[0].item() if attributes.is_read(self, self.name, name) else value

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set a parameter that can change, or an attribute of Gymnasium's base class.

        Names of other parameters, of options and columns are refused, and so are unknown ones with
        `force`: the message says what sets them. Without it a wrapper may keep an attribute of its
        own.
        """
        if (
            not errors.flag(force, "force")
            and not hasattr(self, name)
            and not attributes.is_own(self.name, name)
        ):
            return False
        attributes.assign(self, self.name, name, value)
        return True

    def render(self) -> Any:
        """Return a picture, uint8 (rows, columns, 3), or a text; without a mode, warn."""
        if self.render_mode is None:
            modes = self.metadata["render_modes"]
            pictures.warn_without_mode(self.name, modes, "gymnasium.make")
            return None
        if self.render_mode == pictures.TEXT_MODE:
            return self.simulator.text()
        return self.simulator.render(0, **self._style.keywords())

    def close(self) -> None:
        """Release the simulator; a second call does nothing."""
        self._is_closed = True
        if self._made is not None:
            role_rows.simulator_of(self._made).close()

    def __reduce__(self) -> copies.Recipe:
        """Return a function and its arguments that make another one; refused after a reset."""
        has_begun = self._made is not None and role_rows.simulator_of(self._made).has_begun
        return copies.recipe(self, self._make_again, has_begun, self._is_closed)

    def __repr__(self) -> str:
        """Return the name."""
        return f"<Env {self.name}>"


def _host_copy(row: Any) -> np.ndarray[Any, Any]:
    if hasattr(row, "cpu"):
        row = row.cpu().numpy()
    return np.array(row)
