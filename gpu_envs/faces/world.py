"""One world with named agents: NumPy observations, Python scalars, no autoreset.

The common part of the two PettingZoo forms, `parallel` and `turns`: spaces, actions and their
legality, resets, state, text and closing. Each form decides which agents act in a step.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Space, spaces

from gpu_envs import errors
from gpu_envs.core import actions as action_reading
from gpu_envs.core import copies, options, pictures, resets
from gpu_envs.core.action_forms import takes_bools
from gpu_envs.core.simulator import Simulator
from gpu_envs.faces import attributes
from gpu_envs.faces.agent_spaces import AgentSpaces, observed, role_of_each_agent
from gpu_envs.faces.infos import at_ends, infos_of, parts_by_name
from gpu_envs.faces.states import States
from gpu_envs.known import native, registration
from gpu_envs.known.outputs import LAYERS, Outputs
from gpu_envs.terminal import console

NDArray = np.ndarray[Any, Any]
ILLEGAL = ("replace", "terminate", "raise")
ILLEGAL_REWARD = -1.0  # as PettingZoo's TerminateIllegalWrapper is used by its own games
_TEXT_MODES = (pictures.TEXT_MODE, "human")


@options.documented(but=("device", "ends", "roles", *options.OF_BATCHES))
class World(States, AgentSpaces):
    """One world of any environment.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        device: "cpu" (the default), "cuda", "cuda:<n>", or "auto": a GPU when there is one.
        illegal: What follows an action that the mask forbids: "replace" plays the lowest legal one
            in its place and counts it (`check`), "terminate" ends the game, with reward -1 for who
            did it and 0 for the others, "raise" raises ValueError before anything moves.
        max_cycles: PettingZoo's name for `max_episode_steps`.
        render_mode: None, "ansi" (`render` returns text), "human" (every step prints it), or
            "rgb_array" (`render` returns a picture), as far as the environment has them.
        render_size: Rows and columns of a picture; None for the environment's own.
        render_view: "perspective", "top", "both", "top:<number>", "agent:<number>"; None for the
            environment's own.
        ends: "agent" lets an agent leave in the step of its own end; "world" keeps every agent,
            with zeros after its end, until the world is over.
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **keywords: The environment's own parameters (`python -m gpu_envs info ID`).
    """

    def __init__(
        self,
        name: str,
        *,
        device: str = "cpu",
        illegal: str = "replace",
        max_cycles: int | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
        render_view: str | None = None,
        **keywords: Any,
    ) -> None:
        native.prepare(device, name)
        self.description = registration.find(name)
        self.name: str = self.description["id"]
        self._recipe = {
            "device": device,
            "illegal": illegal,
            "render_mode": render_mode,
            "render_size": render_size,
            "render_view": render_view,
            **keywords,
        }
        if max_cycles is not None:
            limits = max_cycles, keywords.get("max_episode_steps")
            max_cycles, other = map(options.step_limit, limits, ("max_cycles", "max_episode_steps"))
            if other not in (-1, max_cycles):
                raise TypeError("max_cycles and max_episode_steps are the same: pass one of them")
            keywords["max_episode_steps"] = max_cycles
            self._recipe |= {"max_episode_steps": max_cycles}
        # `strict` is checked after the step's results are stored, not within the step.
        self._is_strict = errors.flag(keywords.pop("strict", False), "strict")
        self.metadata = _metadata(self.description, device)
        modes = self.metadata["render_modes"]
        self.render_mode = pictures.checked_mode(render_mode, modes, self.description)
        self._style = pictures.Style.of(render_size, render_view)
        self.simulator = _simulator(self.name, device, keywords)
        if self._is_strict:
            self.simulator.report_illegal(None)
        self.max_cycles = self.simulator.max_episode_steps
        self.possible_agents = self.simulator.named_agents()
        self.agents: list[str] = []
        self._role_of = role_of_each_agent(self.simulator)
        self._has_mask = any(role.has_mask for role in self._role_of)
        self.illegal = _checked_illegal(illegal, self.name, self._has_mask)
        self._read_agents()

    def _read_agents(self) -> None:
        """Build the spaces, and what every step uses."""
        # A space for each agent: they are seeded one by one.
        pairs = list(zip(self.possible_agents, self._role_of, strict=True))
        self.observation_spaces = {agent: observed(role) for agent, role in pairs}
        self.action_spaces = {agent: deepcopy(role.action_space) for agent, role in pairs}
        self._number_of = {agent: i for i, agent in enumerate(self.possible_agents)}
        # By the number of an agent, since every step asks for all.
        self._masked = [role.has_mask for role in self._role_of]
        idle = {role.name: _idle(role.action_space) for role in self.simulator.roles}
        self._idle = [idle[role.name] for role in self._role_of]
        self._kinds = [
            "iufb" if takes_bools(role.action_fields) else "iuf" for role in self._role_of
        ]
        # The masks, and who acts next, are infos in a form of their own.
        shown = ("action_mask", "agent_active", "state")
        layout = self.simulator.layout
        self._infos = infos_of(layout, but=shown)
        self._of_agents = {o.name for o in layout.outputs if o is not None and o.per_agent}
        self._rows: dict[str, Any] = {}  # of the one world; by agent where agents have any
        # Copies that nobody else can write to: what is legal, and the state where it is the rows.
        self._mask: Sequence[NDArray] | None = None
        self._state: NDArray | None = None

    # State and spaces

    def state(self) -> NDArray:
        """Return the state of the world; where it has none, the observations of all agents.

        Of pictures with several layers those are the first one.
        """
        self._require_reset("state")
        assert self._state is not None  # since the reset
        return np.array(self._state)

    # The world's last outputs, by the number of an agent

    def _observation(self, agent: int) -> Any:
        row = Outputs(**{n: self._rows[n][agent] for n in LAYERS if n in self._rows})
        views, shown = self._role_of[agent].views, row.obs
        if views is not None:
            shown = {key: np.asarray(view) for key, view in views.observed(row).items()}
        if not self._masked[agent]:
            return shown
        return {"observation": shown, "action_mask": self._rows["action_mask"][agent]}

    def _info(self, agent: int) -> dict[str, Any]:
        rows, info = self._rows, {}
        if self._masked[agent]:
            info["action_mask"] = rows["action_mask"][agent]
        if self.description.get("turns"):
            info["agent_active"] = bool(rows["agent_active"][agent])
        if "reward_parts" in rows:
            described = self._role_of[agent].reward_fields
            parts = parts_by_name(rows["reward_parts"][agent], described)
            info["reward_parts"] = {name: part.tolist() for name, part in parts.items()}
        for name in self._infos.always + self._infos.of_steps:
            if name in rows:  # after a reset no step has written any
                of_agent = name in self._of_agents
                info[name] = (rows[name][agent] if of_agent else rows[name]).tolist()
        if "ended" in rows and rows["ended"][agent]:
            r, length = rows["episode_return"][agent], rows["episode_length"][agent]
            info["episode_stats"] = {"r": float(r), "l": int(length)}
            measures = self._role_of[agent].measure_fields
            ends = at_ends(self._infos.of_ends, lambda name: rows[name][agent], measures)
            info |= {name: array.tolist() for name, array in ends.items()}
        return info

    # Moving it

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Begin a new episode; what is neither an option nor a parameter only raises a warning."""
        if isinstance(seed, list | tuple):
            raise TypeError(f"seed must be a Python int, got {seed!r}")
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(f"options must be a dict, got {options!r}")
        own = [field["name"] for field in self.simulator.instance["reset_options"]]
        known = [*own, *attributes.parameters(self.name)]
        for key in options or ():
            if key not in known:
                message = errors.unknown(f"reset option of {self.name}", key, known)
                warnings.warn(f"{message}: ignored", stacklevel=3)
        chosen = {key: value for key, value in (options or {}).items() if key in known}
        self._adopt(self.simulator.reset_arrays(resets.checked_seed(seed, 1), chosen, False))
        self._forget_results()
        self.agents = self._present()
        self._show()

    def _present(self) -> list[str]:
        """Return the agents that take part; in games of turns those that wait do."""
        if self.description.get("turns") or "agent_active" not in self._rows:
            return self.possible_agents[:]
        there = self._rows["agent_active"]
        return [agent for i, agent in enumerate(self.possible_agents) if there[i]]

    def _states(self) -> Simulator:
        return self.simulator

    def _take_over(self) -> None:
        """Show the world as it was loaded or changed."""
        try:
            self._adopt(self.simulator.observe_arrays(False))
        except errors.ResetNeeded:  # a column was written before the first reset
            return
        self._forget_results()
        # With ends="world" who has ended stays, and looks like one who was never there.
        stays = self.simulator.ends == "world"
        self.agents = self.possible_agents[:] if stays else self._present()
        if self.simulator.get("world.over").any():
            self.agents = []

    def _move(self, actions: Mapping[int, Any]) -> list[int]:
        """Step with these actions; or, where offenders end the game, only return those.

        Agents without an action here take their idle one. Callers must call `_check_strict` last.
        """
        numbers = range(len(self.possible_agents))
        rows = [self._action(agent, actions.get(agent)) for agent in numbers]
        illegal = [agent for agent in actions if self._is_illegal(agent, rows[agent])]
        if illegal and self.illegal != "replace":
            if self.illegal == "terminate":
                self._forget_results()
                return illegal
            agent = illegal[0]
            allowed = np.flatnonzero(self._mask_of(agent)).tolist()
            raise ValueError(
                f"action {rows[agent]} of {self.possible_agents[agent]} is illegal: the action "
                f"mask allows {allowed}"
            )
        self._adopt(self.simulator.step_arrays(self._by_role(rows), False))
        self._show()
        return []

    def _results(
        self, live: Mapping[int, str], offenders: Collection[int]
    ) -> tuple[dict[str, float], dict[str, bool], dict[str, bool]]:
        """Return rewards, terminations and truncations; where there are offenders, all is over."""
        if offenders:
            rewards = {a: ILLEGAL_REWARD if i in offenders else 0.0 for i, a in live.items()}
            return rewards, dict.fromkeys(rewards, True), dict.fromkeys(rewards, True)
        rows = self._rows
        return (
            {agent: float(rows["reward"][i]) for i, agent in live.items()},
            {agent: bool(rows["terminated"][i]) for i, agent in live.items()},
            {agent: bool(rows["truncated"][i]) for i, agent in live.items()},
        )

    def _by_role(self, rows: Sequence[NDArray]) -> dict[str, NDArray]:
        """Return the actions of all agents, in the order of their numbers, by role."""
        return {
            role.name: np.array([[rows[number] for number in role.numbers]])
            for role in self.simulator.roles
            if role.count
        }

    def _action(self, agent: int, action: Any) -> NDArray:
        idle = self._idle[agent]
        if action is None:
            if self._masked[agent]:  # zero where nothing is legal: nobody looks at it then
                return np.asarray(self._mask_of(agent).argmax())
            return idle
        array = action_reading.as_array(action)
        if array.size != idle.size or array.dtype.kind not in self._kinds[agent]:
            raise ValueError(
                f"action of {self.possible_agents[agent]} must be one of "
                f"{self._role_of[agent].action_space}, got {action!r}"
            )
        if array.dtype.kind == "f" and idle.dtype.kind != "f":
            raise TypeError(
                f"action of {self.possible_agents[agent]} must be an integer, got {action!r}"
            )
        # One type for all: stacked, int64 and uint64 would become float64.
        row: NDArray = array.reshape(idle.shape).astype(idle.dtype)
        return row

    def _is_illegal(self, agent: int, action: NDArray) -> bool:
        """Whether an agent takes an illegal action; numbers out of range raise later."""
        if not self._masked[agent]:
            return False
        mask = self._mask_of(agent)
        chosen = int(action)
        return bool(mask.any()) and 0 <= chosen < mask.size and not mask[chosen]

    def _adopt(self, results: Outputs) -> None:
        pairs = results._asdict().items()
        hosts = {name: _host(array) for name, array in pairs if array is not None}
        # Rows of one world stand in the order of its agents, whatever their lengths.
        kinds, rows = self.simulator.kinds, {name: array[0] for name, array in hosts.items()}
        if "state" in hosts:
            self._state = hosts["state"].flatten()
        else:
            self._state = np.concatenate(kinds.observations.rows_by_world(hosts["obs"]), 1)[0]
        for name, array in kinds.arrays.items():
            if name in hosts:
                rows[name] = array.rows_of_world(hosts[name])
        if kinds.masks is not None and self._has_mask:
            self._mask = kinds.masks.rows_of_world(hosts["action_mask"].copy())
        self._rows = rows

    def _mask_of(self, agent: int) -> NDArray:
        assert self._mask is not None  # says _has_mask
        row: NDArray = self._mask[agent]
        return row

    def _forget_results(self) -> None:
        """Drop the outputs that only a step writes, after a reset."""
        for output in self.simulator.layout.outputs:
            if output is not None and output.by_a_step:
                self._rows.pop(output.name, None)

    def _check_strict(self) -> None:
        if self._is_strict:
            self.simulator.check()

    # Looking at it

    def render(self) -> str | pictures.Picture | None:
        """Return the world as text with ANSI colours or as a picture, or print it.

        `render_mode` says which. A picture is uint8 of shape (rows, columns, 3).
        """
        if self.render_mode is None:
            modes = " or ".join(map(repr, self.metadata["render_modes"])) or "'ansi' or 'human'"
            warnings.warn(f"render() of {self.name} needs render_mode={modes}", stacklevel=2)
            return None
        self._require_reset("render")
        if self.render_mode == pictures.MODE:
            return self.simulator.render(0, **self._style.keywords())
        text = self.simulator.text()
        if self.render_mode == "ansi":
            return text
        print(console.for_stream(text, sys.stdout))
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def check(self) -> None:
        """Raise for faults since the last check, such as illegal actions that were replaced."""
        self.simulator.check()

    def close(self) -> None:
        """Release the simulator; a second call does nothing."""
        self.simulator.close()

    def _require_reset(self, call: str) -> None:
        if not self._rows:
            raise errors.ResetNeeded(f"{self.name}: call reset() before {call}()")

    def __reduce__(self) -> copies.Recipe:
        """Return a function and its arguments that make another one; refused after a reset."""
        make, simulator = partial(type(self), self.name, **self._recipe), self.simulator
        return copies.recipe(self, make, simulator.has_begun, simulator.is_closed)

    def __repr__(self) -> str:
        """Return the name and the number of agents."""
        count = len(self.possible_agents)
        return f"<{type(self).__name__} {self.name}: {count} agent{'' if count == 1 else 's'}>"


def _metadata(description: Mapping[str, Any], device: str) -> dict[str, Any]:
    return {
        "name": description["id"].lower().replace("-v", "_v"),
        "render_modes": pictures.modes(description, device, _TEXT_MODES),
        "render_fps": description.get("render_fps", 4),
        "is_parallelizable": True,
    }


def _checked_illegal(illegal: str, name: str, has_mask: bool) -> str:
    if not isinstance(illegal, str) or illegal not in ILLEGAL:
        raise ValueError(f"illegal must be 'replace', 'terminate' or 'raise', got {illegal!r}")
    if illegal != "replace" and not has_mask:
        raise ValueError(f"illegal={illegal!r}: {name} has no action mask, every action is legal")
    return illegal


def _simulator(name: str, device: str, keywords: Mapping[str, Any]) -> Simulator:
    errors.refuse(options.OF_BATCHES, keywords, "one world: use batched_parallel_env")
    errors.refuse(("roles",), keywords, "agents with rows of their own: each has its own space")
    settled: dict[str, Any] = {"roles": "split", "threads": 1, "autoreset_mode": "Disabled"}
    settled["arrays"] = "numpy" if device == "cpu" else "torch"
    return Simulator(name, 1, device=device, **settled, **keywords)


def _idle(space: Space[Any]) -> NDArray:
    """Return an action for agents that have ended; the simulator ignores it."""
    if isinstance(space, spaces.Box):
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
    return np.zeros(space.shape or (), np.int64)


def _host(array: Any) -> NDArray:
    if hasattr(array, "cpu"):
        array = array.cpu().numpy()
    host: NDArray = array
    return host
