"""TorchRL's `EnvBase` over one simulator: TensorDicts in and out, on the device, without a copy.

With one agent per world the keys are TorchRL's plain ones. With several, what belongs to an agent
is in the group "agents", whose batch size is (worlds, agents), as in TorchRL's own environments of
many agents. A world begins anew for all its agents at once, so only the root's "_reset" counts.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from gpu_envs import errors, extras, options, resets
from gpu_envs.layout import Outputs
from gpu_envs.simulator import Simulator

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("torchrl", problem) from problem

GROUP = "agents"
_ENDS = ("done", "terminated", "truncated")
_FIXED = {
    "arrays": "torch",
    "autoreset_mode": "Disabled",
    "final_rows": "zero",
    "reuse": False,
}


class TorchRLEnv(EnvBase):
    """A batch of worlds of one environment, as TorchRL wants it.

    Of a world: "done", "terminated", "truncated", each (worlds, 1), and "state", (worlds, S),
    where the environment has one. Of an agent: "observation", "action", "reward" (..., 1), and
    where the environment has them "action_mask" (bool, kept in the action's spec too),
    "agent_active" (bool) and "reward_parts" by name, (..., 1), zero after a reset. In the group
    "done" and its companions stay true of an agent that left before its world ended.

    Segmentations of pictures are int32: torch calculates with no uint16.

    A mask that allows nothing, because what the agent does is ignored, is shown as allowing all:
    a distribution needs something to choose from.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        device: "cpu", "cuda" or "cuda:<n>", of the simulator and of every tensor.
        **keywords: Those of `Simulator` (`threads`, `first_world`, `max_episode_steps`, `strict`,
            `outputs`, `actions`, `observation`, `dtype`) and the environment's parameters.
    """

    def __init__(
        self, name: str, num_envs: int = 1, device: torch.device | str = "cpu", **keywords: Any
    ) -> None:
        for key, value in _FIXED.items():
            if keywords.setdefault(key, value) != value:
                raise ValueError(f"{key} is always {value!r} under TorchRL, got {keywords[key]!r}")
        worlds = errors.whole(num_envs, "num_envs", 1, options.WORLD_LIMIT)
        simulator = Simulator(name, worlds, device=str(device), **keywords)
        super().__init__(device=torch.device(simulator.device), batch_size=(worlds,))
        self.simulator, self.is_closed = simulator, False
        agents = simulator.agents_per_world
        self._group = GROUP if agents > 1 else None
        self._lead = (worlds, agents) if self._group else (worlds,)
        self._action_key = (GROUP, "action") if self._group else "action"
        self._action_shape = (*self._lead, *(simulator.single_action_space.shape or ()))
        self._masked = simulator.layout.of("action_mask") is not None
        self._fates: dict[str, torch.Tensor] = {}  # how the agents of the group have ended
        self._next_seed: int | None = None
        self._make_specs()

    def _make_specs(self) -> None:
        simulator, lead, worlds = self.simulator, self._lead, self._lead[0]
        action = _action_spec(simulator.single_action_space, lead)
        observed = {"observation": _observation_spec(simulator.single_observation_space, lead)}
        if self._masked:
            observed["action_mask"] = _flags(*lead, action.n)
        if simulator.layout.of("agent_active") is not None:
            observed["agent_active"] = _flags(*lead)
        if simulator.layout.of("reward_parts") is not None:
            parts = {name: Unbounded((*lead, 1)) for name in simulator.reward_parts}
            observed["reward_parts"] = Composite(parts, shape=lead)
        state = simulator.layout.of("state")
        of_world = {}
        if state is not None:
            of_world["state"] = Unbounded(state.shape, dtype=getattr(torch, state.type))
        ends = {name: _flags(worlds, 1) for name in _ENDS}
        agents_end = {name: _flags(*lead, 1) for name in _ENDS} if self._group else {}
        self.action_spec = self._composite({}, {"action": action})
        self.observation_spec = self._composite(of_world, observed)
        self.reward_spec = self._composite({}, {"reward": Unbounded((*lead, 1))})
        self.done_spec = self._composite(ends, agents_end)

    def _composite(self, of_world: dict[str, Any], of_agent: dict[str, Any]) -> Composite:
        if self._group:
            of_agent = {self._group: Composite(of_agent, shape=self._lead)}
        return Composite({**of_world, **of_agent}, shape=self._lead[:1]).to(self.device)

    # What EnvBase calls.

    def _reset(self, tensordict: TensorDictBase | None = None, **values: Any) -> TensorDictBase:
        """Begin new episodes, in the worlds of "_reset" where it is given; `values` are options."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is not None:
            mask = mask.reshape(self._lead[0])
        elif self._group and tensordict is not None and (GROUP, "_reset") in tensordict.keys(True):
            raise ValueError(f'"_reset" must be at the root, got it in "{GROUP}" alone')
        seed = None
        if mask is None:
            seed, self._next_seed = self._next_seed, None
        outputs = self.simulator.reset(seed=seed, mask=mask, options=values)
        of_world, of_agent = self._observed(outputs)
        if "reward_parts" in self._agent_keys():
            zero = self._zeros(*self._lead, 1, dtype=torch.float32)
            of_agent["reward_parts"] = {name: zero.clone() for name in self.simulator.reward_parts}
        for name in _ENDS:
            of_world[name] = self._zeros(self._lead[0], 1)
        if self._group:
            self._forget_fates(mask)
            of_agent |= self._agents_end()
        return self._tensordict(of_world, of_agent)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Run one step of every world; those that are over rest until they are reset."""
        self._refuse_to_pause(tensordict)
        actions = tensordict.get(self._action_key).reshape(self._action_shape)
        outputs = self.simulator.step(actions.detach())
        of_world, of_agent = self._observed(outputs)
        of_agent["reward"] = self._agents(outputs.reward).unsqueeze(-1)
        if outputs.reward_parts is not None:
            parts = self._agents(outputs.reward_parts).unsqueeze(-1).unbind(-2)
            of_agent["reward_parts"] = dict(zip(self.simulator.reward_parts, parts, strict=True))
        now = {"terminated": outputs.terminated, "truncated": outputs.truncated}
        if self._group:
            self._fates = {name: self._fates[name] | flags for name, flags in now.items()}
            of_agent |= self._agents_end()
            done = of_agent["done"].all(1)
            # How the world ended is how its last agents did, not those that left before.
            now = {name: flags.any(1, keepdim=True) & done for name, flags in now.items()}
        else:
            done = outputs.terminated | outputs.truncated
        return self._tensordict({**of_world, **now, "done": done}, of_agent)

    def _set_seed(self, seed: int | None) -> None:
        """Let the next reset of all worlds begin from a seed; None takes a fresh one."""
        checked = resets.checked_seed(seed, self._lead[0])
        self._next_seed = resets.fresh_seed() if checked is None else seed

    def to(self, device: torch.device | str) -> TorchRLEnv:
        """Return this environment where it is on that device already; it cannot move."""
        wanted = torch.device(device)
        if wanted.type != self.device.type or wanted.index not in (None, self.device.index):
            raise ValueError(
                f"{self.simulator.name} runs on {self.device} and cannot move to {wanted}: make "
                f"another one with device={str(wanted)!r}"
            )
        return self

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Release the simulator; a second call does nothing."""
        super().close(raise_if_closed=raise_if_closed)
        self.simulator.close()

    # Helpers.

    def _observed(self, outputs: Outputs) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a reset and a step have in common, of the world and of its agents."""
        of_agent = {"observation": _counted(self._agents(outputs.obs))}
        if self._masked:
            mask = self._agents(outputs.action_mask).view(torch.bool)
            of_agent["action_mask"] = mask | ~mask.any(-1, keepdim=True)
            spec = self.input_spec["full_action_spec"][self._action_key]
            spec.update_mask(of_agent["action_mask"].clone())
        if outputs.agent_active is not None:
            of_agent["agent_active"] = self._agents(outputs.agent_active)
        return {} if outputs.state is None else {"state": outputs.state}, of_agent

    def _agents(self, array: Any) -> Any:
        """Drop the axis of agents where there is one alone."""
        if self._group:
            return array
        if isinstance(array, dict):
            return {name: view[:, 0] for name, view in array.items()}
        return array[:, 0]

    def _agent_keys(self) -> Any:
        spec = self.observation_spec
        return (spec[self._group] if self._group else spec).keys()

    def _forget_fates(self, mask: torch.Tensor | None) -> None:
        for name in _ENDS[1:]:
            if mask is None:
                self._fates[name] = self._zeros(*self._lead)
            else:
                self._fates[name] = self._fates[name] & ~mask[:, None]

    def _agents_end(self) -> dict[str, torch.Tensor]:
        done = self._fates["terminated"] | self._fates["truncated"]
        return {name: flags.unsqueeze(-1) for name, flags in {**self._fates, "done": done}.items()}

    def _refuse_to_pause(self, tensordict: TensorDictBase) -> None:
        """Refuse a "_step" that would hold a running world: rollouts hold those that are over."""
        steps = tensordict.get("_step", None)
        if steps is not None and not (steps | tensordict.get("done", steps)).all():
            raise ValueError('"_step" cannot hold back worlds that have not ended')

    def _zeros(self, *shape: int, dtype: torch.dtype = torch.bool) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _tensordict(self, of_world: dict[str, Any], of_agent: dict[str, Any]) -> TensorDict:
        if self._group:
            of_agent = {self._group: TensorDict(of_agent, self._lead, device=self.device)}
        return TensorDict({**of_world, **of_agent}, self._lead[:1], device=self.device)


def _counted(observation: Any) -> Any:
    """Return uint16 as int32: torch, and with it every transform, calculates with no uint16."""
    if isinstance(observation, dict):
        return {name: _counted(part) for name, part in observation.items()}
    return observation.int() if observation.dtype is torch.uint16 else observation


def _flags(*shape: int) -> Categorical:
    return Categorical(2, shape, dtype=torch.bool)


def _observation_spec(space: spaces.Space[Any], lead: tuple[int, ...]) -> Any:
    if isinstance(space, spaces.Dict):
        parts = {name: _observation_spec(part, lead) for name, part in space.items()}
        return Composite(parts, shape=lead)
    assert isinstance(space, spaces.Box)
    dtype = getattr(torch, str(space.dtype))
    if not (space.is_bounded("both")):
        return Unbounded((*lead, *space.shape), dtype=dtype)
    low, high = (_counted(torch.from_numpy(bound)) for bound in (space.low, space.high))
    dtype = low.dtype
    return Bounded(low, high, space.shape, dtype=dtype).expand(*lead, *space.shape)


def _action_spec(space: spaces.Space[Any], lead: tuple[int, ...]) -> Any:
    if isinstance(space, spaces.Discrete):
        return Categorical(int(space.n), lead, dtype=torch.int64)
    if isinstance(space, spaces.MultiDiscrete):
        counts = [int(count) for count in space.nvec]
        return MultiCategorical(counts, (*lead, len(counts)), dtype=torch.int64)
    assert isinstance(space, spaces.Box)
    shape = space.shape or (1,)  # TorchRL's networks and distributions end in an axis of numbers
    low, high = (torch.from_numpy(bound.reshape(shape)) for bound in (space.low, space.high))
    spec = Bounded(low, high, shape, dtype=getattr(torch, str(space.dtype)))
    return spec.expand(*lead, *shape)
