"""PPO in TorchRL with a policy for each role, on any environment whose roles choose one category.

    python examples/torchrl_roles.py --env CovidEconomy-v0 --updates 20 --seed 0
    python examples/torchrl_roles.py --env HideSeek-v0 --actions flat --updates 20

Every role is a group of TorchRL's with specs of its own, and has a network, a loss and an optimiser
of its own here. The settings are plain ones, not tuned for any of the environments.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.data import Categorical as CategoricalSpec
from torchrl.envs import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss

from gpu_envs.integrations.torchrl import TorchRLEnv

WORLDS, STEPS, EPOCHS = 8, 64, 4
DISCOUNT, GAE_LAMBDA, LEARNING_RATE = 0.99, 0.95, 1e-3


class Learner(NamedTuple):
    """What trains one role."""

    actor: ProbabilisticActor
    loss: ClipPPOLoss
    optimiser: torch.optim.Optimizer


def network(inputs: int, outputs: int) -> nn.Module:
    """Return a network of two hidden layers over rows."""
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


def learner(env: TorchRLEnv, role: str) -> Learner:
    """Make the policy of a role, masked where the role has a mask, and what trains it."""
    seen, action = env.observation_spec[role], env.input_spec["full_action_spec"][role, "action"]
    lead = torch.Size([*env.batch_size, len(env.group_map[role])])
    if not isinstance(action, CategoricalSpec) or action.shape != lead:
        raise SystemExit(f"{role} does not choose one category; try --actions flat")
    rows = seen["observation"].shape[-1]
    logits = TensorDictModule(
        network(rows, action.n), in_keys=[(role, "observation")], out_keys=[(role, "logits")]
    )
    masked = "action_mask" in seen.keys()
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": (role, "logits")} | ({"mask": (role, "action_mask")} if masked else {}),
        out_keys=[(role, "action")],
        distribution_class=MaskedCategorical if masked else torch.distributions.Categorical,
        return_log_prob=True,
        log_prob_key=(role, "log_prob"),
    )
    critic = TensorDictModule(
        network(rows, 1), in_keys=[(role, "observation")], out_keys=[(role, "state_value")]
    )
    loss = ClipPPOLoss(
        actor.to(env.device), critic.to(env.device), entropy_coeff=0.01,
        normalize_advantage=True, normalize_advantage_exclude_dims=(-2,),
    )  # fmt: skip
    names = ("action", "reward", "done", "terminated", "advantage", "value_target")
    keys = {name: (role, name) for name in names}
    loss.set_keys(**keys, value=(role, "state_value"), sample_log_prob=(role, "log_prob"))
    loss.make_value_estimator(gamma=DISCOUNT, lmbda=GAE_LAMBDA)
    return Learner(actor, loss, torch.optim.Adam(loss.parameters(), LEARNING_RATE))


def update(one: Learner, data: TensorDictBase) -> None:
    """Improve a role's policy by what was played."""
    with torch.no_grad():
        one.loss.value_estimator(data, params=one.loss.critic_network_params)
    for _ in range(EPOCHS):
        losses = one.loss(data)
        total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
        one.optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(one.loss.parameters(), 0.5)
        one.optimiser.step()


def train(
    name: str, updates: int, seed: int, actions: str | None = None, steps: int = STEPS
) -> dict[str, list[float]]:
    """Train all roles together; the mean reward of an agent of each role, by update."""
    torch.manual_seed(seed)
    env = TorchRLEnv(name, WORLDS, group="role", actions=actions)
    env.set_seed(seed)
    learners = {role: learner(env, role) for role in env.group_map}
    policy = TensorDictSequential(*(one.actor for one in learners.values()))
    rewards: dict[str, list[float]] = {role: [] for role in learners}
    start = env.reset()
    for _ in range(updates):
        with torch.no_grad(), set_exploration_type(ExplorationType.RANDOM):
            data = env.rollout(
                steps, policy, auto_reset=False, tensordict=start, break_when_any_done=False
            )
        # The next rollout goes on where this one stopped, with new episodes where one was over.
        start = env.maybe_reset(env.step_mdp(data[:, -1]))
        for role, one in learners.items():
            rewards[role].append(float(data["next", role, "reward"].mean()))
            update(one, data)
        print("  ".join(f"{role} {each[-1]:.4f}" for role, each in rewards.items()))
    env.close()
    return rewards


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env", default="CovidEconomy-v0", help="id of the environment")
    parser.add_argument("--updates", type=int, default=20, help=f"of {WORLDS * STEPS} steps each")
    parser.add_argument("--seed", type=int, default=0, help="of networks and worlds")
    parser.add_argument("--actions", choices=["flat"], help="several categories as one number")
    options = parser.parse_args()
    train(options.env, options.updates, options.seed, options.actions)


if __name__ == "__main__":
    main()
