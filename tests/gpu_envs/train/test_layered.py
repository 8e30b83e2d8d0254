"""Training on several layers of a picture and on numbers beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

import gpu_envs
from gpu_envs.policies.layered import Layered, joined
from gpu_envs.train import match, ppo, run, worlds
from gpu_envs.train.config import make
from gpu_envs.train.ranks import Ranks

pytestmark = pytest.mark.usefixtures("gallery")

ENV, LAYERS = "Gallery-v0", "rgb+depth+numbers"
SMALL: dict[str, Any] = {"num_envs": 6, "rollout": 8, "minibatch": 32, "epochs": 1}
PICTURE: dict[str, Any] = {"observation": LAYERS, "resolution": "8x12", "visitors": 2}


def trainer(**choices: Any) -> ppo.Trainer:
    own = {"hidden": "8", "encoder": "patches", **SMALL, **choices}
    config = make(ENV, **own, parameters=PICTURE)
    batch = worlds.for_training(config, "cpu", config.num_envs)
    made = ppo.Trainer(config, batch, Ranks("cpu"), print)
    made.start()
    return made


def test_parts_are_indexed_together() -> None:
    rows = Layered({"a": t.arange(24.0).view(4, 3, 2), "b": t.arange(12.0).view(4, 3)})
    assert len(rows) == 4
    assert t.equal(rows[1, [0, 2]].parts["b"], t.tensor([3.0, 5.0]))
    assert rows[1:].flatten(0, 1).index_select(0, t.tensor([0, 8])).parts["a"].shape == (2, 2)
    rows[0] = rows[3]
    assert t.equal(rows.parts["a"][0], rows.parts["a"][3])
    assert [len(part) for part in rows] == [3, 3, 3, 3]
    assert t.equal(joined([rows[0], rows[1]]).parts["b"], rows.parts["b"][:2].flatten())


def test_a_rollout_holds_what_the_simulator_shows() -> None:
    made = trainer()
    made.iterate()
    rollout = made.rollout
    other = gpu_envs.Simulator(ENV, 6, device="cpu", **PICTURE)
    seen = other.reset(seed=made.config.seed).obs
    for step in range(rollout.length + 1):
        for name, part in rollout.obs[step].parts.items():
            assert np.array_equal(part.numpy(), seen[name].reshape(part.shape)), (step, name)
        if step < rollout.length:
            seen = other.step(rollout.taken[step].view(6, 2).numpy().astype(np.int32)).obs
    other.close()
    made.env.close()


@pytest.mark.parametrize("choices", [{}, {"memory": 8}, {"novelty": 0.1}, {"share": True}])
def test_it_learns_and_resumes_to_the_bit(choices: dict[str, Any]) -> None:
    first, second = trainer(**choices), trainer(**choices)
    first.iterate()
    second.load(first.state())
    for made in (first, second):
        made.iterate()
    state, other = first.learners[0].policy.state_dict(), second.learners[0].policy.state_dict()
    assert all(t.equal(state[name], other[name]) for name in state)
    first.env.close(), second.env.close()


def test_a_run_is_evaluated_and_its_file_plays(tmp_path: Path, capsys) -> None:
    out = tmp_path / "run"
    words = [ENV, "--out", str(out), "--device", "cpu", "--tensorboard", "false"]
    words += ["--num-envs", "4", "--rollout", "16", "--total-steps", "512", "--hidden", "8"]
    words += ["--encoder", "patches", "--observation", LAYERS, "--resolution", "8x12"]
    assert run.main(words) == 0
    assert match.main([str(out / "checkpoint.ckpt"), "--episodes", "4"]) == 0
    assert "FILE" in capsys.readouterr().out
    env = gpu_envs.make_vec(ENV, 3, agent="player_0", others=out / "checkpoint.ckpt", **PICTURE)
    seen, _ = env.reset(seed=1)
    assert set(seen) == {"rgb", "depth", "gaze", "steps"} and len(seen["rgb"]) == 3
    for _ in range(25):
        seen = env.step(env.action_space.sample())[0]
    assert np.isfinite(seen["gaze"]).all() and seen["rgb"].any()
    env.close()
