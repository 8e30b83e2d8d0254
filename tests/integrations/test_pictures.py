"""Learners of other libraries on observations that are pictures, without a wrapper of ours."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")

SIZE = (36, 40)  # Stable-Baselines3's convolutions need 36 by 36

pytestmark = pytest.mark.usefixtures("gallery", "one_thread")


# ---- Stable-Baselines3


def learn(policy: str, **options: Any) -> Any:
    """Train for a few steps; return the model, whose environment is closed."""
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    from gpu_envs.integrations.stable_baselines3 import SB3VecEnv

    env = SB3VecEnv("Gallery-v0", 2, device="cpu", resolution=SIZE, **options)
    model = stable_baselines3.PPO(
        policy, env, n_steps=16, batch_size=32, n_epochs=1, device="cpu", seed=1
    )
    before = [part.detach().clone() for part in model.policy.parameters()]
    model.learn(128)
    moved = [not torch.equal(a, b) for a, b in zip(before, model.policy.parameters(), strict=True)]
    assert sum(moved) > len(moved) // 2
    action, _ = model.predict(env.reset())
    assert action.shape == (4,)
    env.close()
    return model


@pytest.mark.parametrize("channels", ["first", "last"])
def test_stable_baselines3_takes_colours_for_an_image(channels: str) -> None:
    preprocessing = pytest.importorskip("stable_baselines3.common.preprocessing")
    model = learn("CnnPolicy", channels=channels)
    space = model.env.observation_space
    assert preprocessing.is_image_space(space)
    assert space.shape == (3, *SIZE)  # transposed by Stable-Baselines3 where channels are last
    assert type(model.policy.features_extractor).__name__ == "NatureCNN"


def test_stable_baselines3_takes_layers_by_name() -> None:
    model = learn("MultiInputPolicy", observation="rgb+depth+segmentation")
    parts = model.policy.features_extractor.extractors
    assert type(parts["rgb"]).__name__ == "NatureCNN"
    assert type(parts["depth"]).__name__ == type(parts["segmentation"]).__name__ == "Flatten"


def test_stable_baselines3_takes_numbers_beside_a_picture() -> None:
    model = learn("MultiInputPolicy", observation="rgb+numbers")
    parts = model.policy.features_extractor.extractors
    assert list(parts) == ["gaze", "rgb", "steps"]  # by name, as Gymnasium sorts them
    assert type(parts["rgb"]).__name__ == "NatureCNN"
    learn("MlpPolicy", observation="numbers")


def test_stable_baselines3_checks_the_single_environment() -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    for observation in ("rgb", "rgb+depth", "rgb+numbers", "numbers"):
        options: dict[str, Any] = {"observation": observation, "resolution": SIZE, "visitors": 1}
        env = gymnasium.make("gpu_envs/Gallery-v0", **options)
        checker.check_env(env.unwrapped, warn=observation == "rgb")
        env.close()


# ---- TorchRL


@pytest.fixture
def torchrl_env() -> Any:
    pytest.importorskip("torchrl", reason="needs torchrl: pip install torchrl")
    from gpu_envs.integrations.torchrl import TorchRLEnv

    made = []

    def make(**options: Any) -> Any:
        made.append(TorchRLEnv("Gallery-v0", 2, resolution=SIZE, **options))
        return made[-1]

    yield make
    for env in made:
        env.close(raise_if_closed=False)


@pytest.mark.parametrize("visitors", [1, 2])
@pytest.mark.parametrize(
    "layers", ["rgb", "depth", "segmentation", "rgb+depth+segmentation", "depth+numbers", "numbers"]
)
def test_torchrl_has_specs_of_every_layer(torchrl_env, layers: str, visitors: int) -> None:
    from torchrl.envs import check_env_specs

    env = torchrl_env(observation=layers, visitors=visitors)
    check_env_specs(env)
    env.set_seed(5)
    data = env.rollout(3)
    key = ("agents", "observation") if visitors > 1 else "observation"
    seen = data[key] if layers.count("+") else {layers: data[key]}
    wanted = gpu_envs.Simulator(
        "Gallery-v0",
        2,
        device="cpu",
        observation="dict" if layers == "rgb" else layers,
        resolution=SIZE,
        visitors=visitors,
    )
    first = wanted.reset(seed=5).obs
    first = first if isinstance(first, dict) else {layers: first}
    for name, array in first.items():
        shown = seen[name][:, 0]
        assert np.array_equal(shown.reshape(array.shape).numpy(), array)
    wanted.close()


def test_torchrl_trains_a_convolution(torchrl_env) -> None:
    from tensordict.nn import TensorDictModule
    from torchrl.envs import ToTensorImage, TransformedEnv
    from torchrl.modules import MLP, ConvNet, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    env = TransformedEnv(
        torchrl_env(visitors=1, channels="last"), ToTensorImage(in_keys=["observation"])
    )

    def network(outputs: int) -> Any:
        trunk = ConvNet(3, num_cells=[8, 8], kernel_sizes=[5, 3], strides=[3, 2])
        return torch.nn.Sequential(trunk, MLP(out_features=outputs, num_cells=[16]))

    actor = ProbabilisticActor(
        TensorDictModule(network(6), ["observation"], ["logits"]),
        in_keys=["logits"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )
    critic = ValueOperator(network(1), in_keys=["observation"])
    critic(env.reset())  # its first layers are as wide as what they see
    with torch.no_grad():
        data = env.rollout(24, actor, break_when_any_done=False)
    assert data["observation"].shape == (2, 24, 3, *SIZE)
    GAE(gamma=0.99, lmbda=0.95, value_network=critic)(data)
    losses = ClipPPOLoss(actor, critic)(data.reshape(-1))
    total = sum(value for name, value in losses.items() if name.startswith("loss"))
    total.backward()
    assert all(part.grad.abs().sum() > 0 for part in actor.parameters() if part.dim() > 1)


# ---- skrl


@pytest.mark.parametrize("layers", ["rgb", "rgb+depth", "depth+numbers"])
def test_skrl_has_rows_that_its_models_give_their_shapes_back(layers: str) -> None:
    pytest.importorskip("skrl", reason="needs skrl: pip install skrl")
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.utils.spaces.torch import unflatten_tensorized_space

    torch.distributions.Distribution.set_default_validate_args(True)  # which skrl turns off
    plain = gpu_envs.VectorEnv("Gallery-v0", 2, device="cpu", observation=layers, resolution=SIZE)
    env = wrap_env(plain)
    rows, _ = env.reset()
    rows, *_ = env.step(torch.zeros(4, 1, dtype=torch.int64))
    shaped = unflatten_tensorized_space(env.observation_space, rows)
    seen = plain.simulator.observe().obs
    if layers == "rgb":
        shaped, seen = {"rgb": shaped}, {"rgb": seen}
    for name, array in seen.items():
        assert np.array_equal(shaped[name].numpy(), array.reshape(shaped[name].shape))
    env.close()
