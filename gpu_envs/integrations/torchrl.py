"""TorchRL's `EnvBase` over one simulator: TensorDicts in and out, on the device, without a copy.

With one agent per world the keys are TorchRL's plain ones. With several, what belongs to an agent
is in the group "agents", whose batch size is (worlds, agents), as in TorchRL's own environments of
many agents; or in a group for each role, with specs of its own. A world is reset for all its
agents at once, so only the root's "_reset" counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core import options, resets
from gpu_envs.core.roles import Parts, Role, as_seen
from gpu_envs.core.simulator import Simulator
from gpu_envs.integrations import padding
from gpu_envs.known import extras, registration
from gpu_envs.known.outputs import Outputs

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as problem:
    raise extras.adapter_needs("torchrl", problem) from problem

GROUP, BY_ROLE = "agents", "role"
_ENDS = ("done", "terminated", "truncated")
_FIXED = {
    "arrays": "torch",
    "autoreset_mode": "Disabled",
    "ends": "agent",
    "final_rows": "zero",
    "reuse": False,
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Agents that share a key, and specs."""

    name: str | None  # None: their keys are at the root
    role: Role | None  # None: all agents of a world
    agents: list[str]
    lead: tuple[int, ...]
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    is_masked: bool

    def key(self, name: str) -> Any:
        return (self.name, name) if self.name else name


class TorchRLEnv(EnvBase):
    """A batch of worlds of one environment, as TorchRL wants it.

    Of a world: "done", "terminated", "truncated", each (worlds, 1), and "state", (worlds, S),
    where the environment has one. Of an agent: "observation", "action", "reward" (..., 1), and
    where the environment has them "action_mask" (bool, kept in the action's spec too),
    "agent_active" (bool) and "reward_parts" by name, (..., 1), zero after a reset. In the group
    "done" and its companions stay true of an agent that left before its world ended, and an agent
    that is not there in an episode ends with its world. `group_map` has the names of a group's
    agents.

    Segmentations of pictures are int32: torch calculates with no uint16.

    A mask that allows nothing, because what the agent does is ignored, is shown as allowing all
    that its role has: a distribution needs something to choose from.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_envs: How many worlds.
        device: "cpu", "cuda" or "cuda:<n>", of the simulator and of every tensor.
        group: "agents" for one group of all agents, whose rows are padded where their spaces
            differ; "role" for a group, named as it, for each role; None for "role" where roles have
            spaces of their own, "agents" elsewhere.
        **keywords: Those of `Simulator` (`threads`, `first_world`, `max_episode_steps`, `strict`,
            `outputs`, `actions`, `observation`, `dtype`) and the environment's parameters.
    """

    def __init__(
        self,
        name: str,
        num_envs: int = 1,
        device: torch.device | str = "cpu",
        *,
        group: str | None = None,
        **keywords: Any,
    ) -> None:
        for key, value in _FIXED.items():
            if keywords.setdefault(key, value) != value:
                raise ValueError(f"{key} is always {value!r} under TorchRL, got {keywords[key]!r}")
        worlds = errors.whole(num_envs, "num_envs", 1, options.WORLD_LIMIT)
        keywords, is_by_role = _checked_group(name, group, keywords)
        simulator, self._is_hidden = _simulator(name, worlds, {**keywords, "device": str(device)})
        super().__init__(device=torch.device(simulator.device), batch_size=(worlds,))
        self.simulator, self.is_closed = simulator, False
        self._groups = _groups_of(simulator, is_by_role)
        self.group_map = {each.name: each.agents for each in self._groups if each.name}
        own = padding.choices(simulator)
        self._choices = None if own is None else torch.from_numpy(own).to(simulator.device)
        self._parts = Parts(simulator) if is_by_role else None
        self._fates: dict[str, torch.Tensor] = {}  # how the agents of groups have ended
        self._absent: torch.Tensor | None = None  # agents that are absent in this episode
        self._next_seed: int | None = None
        self._make_specs()

    def _make_specs(self) -> None:
        simulator, worlds = self.simulator, self.simulator.num_worlds
        state = simulator.layout.output("state")
        of_world = {}
        if state is not None:
            of_world["state"] = Unbounded(state.shape, dtype=getattr(torch, state.type))
        ends = {name: _flags(worlds, 1) for name in _ENDS}
        acts, observed, rewards, agents_end = [], [], [], []
        for group in self._groups:
            lead = group.lead
            acts.append({"action": _action_spec(group.action_space, lead)})
            observed.append(self._observed_specs(group, acts[-1]["action"]))
            rewards.append({"reward": Unbounded((*lead, 1))})
            agents_end.append({name: _flags(*lead, 1) for name in _ENDS} if group.name else {})
        self.action_spec = self._composite({}, acts)
        self.observation_spec = self._composite(of_world, observed)
        self.reward_spec = self._composite({}, rewards)
        self.done_spec = self._composite(ends, agents_end)

    def _observed_specs(self, group: _Group, action: Any) -> dict[str, Any]:
        simulator, lead = self.simulator, group.lead
        observed = {"observation": _observation_spec(group.observation_space, lead)}
        if group.is_masked:
            observed["action_mask"] = _flags(*lead, action.n)
        if simulator.layout.output("agent_active") is not None and not self._is_hidden:
            observed["agent_active"] = _flags(*lead)
        if simulator.layout.output("reward_parts") is not None:
            parts = {name: Unbounded((*lead, 1)) for name in self._part_names(group)}
            observed["reward_parts"] = Composite(parts, shape=lead)
        return observed

    def _part_names(self, group: _Group) -> list[str]:
        """Return the names of the parts of a group's reward."""
        role = group.role
        parts = self.simulator.reward_fields if role is None else role.reward_fields
        return [field.name for field in parts]

    def _composite(self, of_world: dict[str, Any], of_groups: list[dict[str, Any]]) -> Composite:
        whole = dict(of_world)
        for group, specs in zip(self._groups, of_groups, strict=True):
            whole |= {group.name: Composite(specs, shape=group.lead)} if group.name else specs
        return Composite(whole, shape=self.batch_size).to(self.device)

    # Methods that EnvBase calls.

    def _reset(self, tensordict: TensorDictBase | None = None, **values: Any) -> TensorDictBase:
        """Begin new episodes, in the worlds of "_reset" where it is given; `values` are options."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is not None:
            mask = mask.reshape(self.simulator.num_worlds)
        elif tensordict is not None:
            self._refuse_nested_resets(tensordict)
        seed = None
        if mask is None:
            seed, self._next_seed = self._next_seed, None
        outputs = self.simulator.reset(seed=seed, mask=mask, options=values)
        of_world: dict[str, Any] = {name: self._zeros() for name in _ENDS}
        self._begin(mask, outputs)
        of_groups = [self._observed(*pair) for pair in self._split(outputs)]
        for group, of_group in zip(self._groups, of_groups, strict=True):
            if self.simulator.layout.output("reward_parts") is not None:
                zero = torch.zeros((*group.lead, 1), device=self.device)
                names = self._part_names(group)
                of_group["reward_parts"] = {name: zero.clone() for name in names}
        return self._tensordict(self._stated(outputs) | of_world, of_groups)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Run one step of every world; those that are over rest until they are reset."""
        self._refuse_to_pause(tensordict)
        outputs = self.simulator.step(self._actions(tensordict))
        now = {"terminated": outputs.terminated, "truncated": outputs.truncated}
        if self._fates:
            self._fates = {name: self._fates[name] | flags for name, flags in now.items()}
            done = self._fates["terminated"] | self._fates["truncated"]
            done = (done if self._absent is None else done | self._absent).all(1, keepdim=True)
            # The world ended as its last agents did, not as those that left before.
            now = {name: flags.any(1, keepdim=True) & done for name, flags in now.items()}
            if self._absent is not None:
                for name, flags in now.items():
                    self._fates[name] = self._fates[name] | (self._absent & flags)
        else:
            done = outputs.terminated | outputs.truncated
        of_groups = []
        for group, part in self._split(outputs):
            of_group = self._observed(group, part)
            of_group["reward"] = part.reward.unsqueeze(-1)
            if part.reward_parts is not None:
                names = self._part_names(group)
                parts = part.reward_parts[..., : len(names)].unsqueeze(-1).unbind(-2)
                of_group["reward_parts"] = dict(zip(names, parts, strict=True))
            of_groups.append(of_group)
        return self._tensordict({**self._stated(outputs), **now, "done": done}, of_groups)

    def _set_seed(self, seed: int | None) -> None:
        """Let the next reset of all worlds begin from a seed; None takes a fresh one."""
        checked = resets.checked_seed(seed, self.simulator.num_worlds)
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

    def _split(self, outputs: Outputs) -> list[tuple[_Group, Outputs]]:
        """Return the part of each group, without an axis of agents where it has only one."""
        if self._parts is None:
            (group,) = self._groups
            return [(group, outputs if group.name else _alone(outputs))]
        return [
            (g, as_seen(self.simulator, g.role, self._parts.part(g.role.name, outputs)))
            for g in self._groups
            if g.role
        ]

    def _actions(self, tensordict: TensorDictBase) -> Any:
        given = []
        for group in self._groups:
            shape = (*group.lead, *(group.action_space.shape or ()))
            given.append(tensordict.get(group.key("action")).reshape(shape).detach())
        if self._parts is None:
            return given[0]
        return dict(zip(self.group_map, given, strict=True))

    def _observed(self, group: _Group, part: Outputs) -> dict[str, Any]:
        """Return the entries of one group that a reset and a step share."""
        of_group = {"observation": _counted(part.obs)}
        if group.is_masked:
            mask, own = part.action_mask.view(torch.bool), self._choices
            anything = ~mask.any(-1, keepdim=True)
            of_group["action_mask"] = mask | (anything if own is None else anything & own)
            spec = self.input_spec["full_action_spec"][group.key("action")]
            spec.update_mask(of_group["action_mask"].clone())
        if part.agent_active is not None and not self._is_hidden:
            of_group["agent_active"] = part.agent_active
        if group.name:
            fates = self._fates
            if group.role is not None:
                fates = {name: flags[:, group.role.at] for name, flags in fates.items()}
            done = fates["terminated"] | fates["truncated"]
            ends = {**fates, "done": done}
            of_group |= {name: flags.unsqueeze(-1) for name, flags in ends.items()}
        return of_group

    @staticmethod
    def _stated(outputs: Outputs) -> dict[str, Any]:
        return {} if outputs.state is None else {"state": outputs.state}

    def _begin(self, mask: torch.Tensor | None, outputs: Outputs) -> None:
        """Clear the ends of agents in worlds that are reset, and note which agents take part."""
        if not self.group_map:
            return
        agents = (self.simulator.num_worlds, self.simulator.agents_per_world)
        for name in _ENDS[1:]:
            if mask is None:
                self._fates[name] = torch.zeros(agents, dtype=torch.bool, device=self.device)
            else:
                self._fates[name] = self._fates[name] & ~mask[:, None]
        if outputs.agent_active is None or self.simulator.instance["turns"]:
            return
        absent = ~outputs.agent_active
        if mask is not None and self._absent is not None:
            absent = torch.where(mask[:, None], absent, self._absent)
        self._absent = absent

    def _refuse_nested_resets(self, tensordict: TensorDictBase) -> None:
        for name in self.group_map:
            if (name, "_reset") in tensordict.keys(True):
                raise ValueError(f'"_reset" must be at the root, got it only in "{name}"')

    def _refuse_to_pause(self, tensordict: TensorDictBase) -> None:
        """Refuse a "_step" that would hold a running world: rollouts hold those that are over."""
        steps = tensordict.get("_step", None)
        if steps is not None and not (steps | tensordict.get("done", steps)).all():
            raise ValueError('"_step" cannot pause worlds whose episode has not ended')

    def _zeros(self) -> torch.Tensor:
        return torch.zeros((*self.batch_size, 1), dtype=torch.bool, device=self.device)

    def _tensordict(self, of_world: dict[str, Any], of_groups: list[dict[str, Any]]) -> TensorDict:
        whole = dict(of_world)
        for group, values in zip(self._groups, of_groups, strict=True):
            if group.name:
                values = {group.name: TensorDict(values, group.lead, device=self.device)}
            whole |= values
        return TensorDict(whole, self.batch_size, device=self.device)


def _checked_group(
    name: str, group: object, keywords: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Return the keywords of the simulator, and whether there is a group for each role."""
    if group not in (None, GROUP, BY_ROLE):
        meant = errors.suggestion(group, (GROUP, BY_ROLE))
        raise ValueError(f"group must be {GROUP!r}, {BY_ROLE!r} or None, got {group!r}{meant}")
    errors.refuse(("roles",), keywords, "TorchRL: group= decides it")
    why = "TorchRL: use group='role', and a policy for each group"
    errors.refuse(("role", "others"), keywords, why)
    has_own = bool(registration.find(name).get("roles"))
    is_by_role = group == BY_ROLE or (group is None and has_own)
    return ({**keywords, "roles": "split"} if is_by_role else keywords), is_by_role


def _simulator(name: str, worlds: int, keywords: Mapping[str, Any]) -> tuple[Simulator, bool]:
    """Make a simulator that writes agent_active; return whether only for our own use."""
    simulator = Simulator(name, worlds, **keywords)
    needed, instance = "agent_active", simulator.instance
    is_told = simulator.layout.output(needed) is not None or needed not in instance["outputs"]
    if is_told or instance["turns"]:
        return simulator, False
    simulator.close()
    outputs = [*keywords["outputs"], needed]
    return Simulator(name, worlds, **{**keywords, "outputs": outputs}), True


def _groups_of(simulator: Simulator, is_by_role: bool) -> list[_Group]:
    worlds, agents = simulator.num_worlds, simulator.agents_per_world
    is_masked = simulator.layout.output("action_mask") is not None
    if is_by_role:
        return [
            _Group(
                role.name,
                role,
                list(role.agents),
                (worlds, role.count),
                role.observation_space,
                role.action_space,
                is_masked and role.has_mask,
            )
            for role in simulator.roles
            if role.count
        ]
    name, lead = (GROUP, (worlds, agents)) if agents > 1 else (None, (worlds,))
    seen, acted = simulator.single_observation_space, simulator.single_action_space
    assert seen is not None and acted is not None  # not split
    return [_Group(name, None, list(simulator.agent_names), lead, seen, acted, is_masked)]


def _alone(outputs: Outputs) -> Outputs:
    """Drop the axis of agents, of which there is one."""
    cut = {}
    for name in ("obs", "reward", "action_mask", "agent_active", "reward_parts"):
        array = getattr(outputs, name)
        if isinstance(array, dict):
            cut[name] = {key: view[:, 0] for key, view in array.items()}
        elif array is not None:
            cut[name] = array[:, 0]
    return outputs._replace(**cut)


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
