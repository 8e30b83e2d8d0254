"""Files whose weights are NaN or infinite are refused, by the name of the file and the tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch

from gpu_envs import VectorEnv, __main__
from gpu_envs.policies import checkpoint
from gpu_envs.train import run
from tests.gpu_envs.train.fresh import write

SMALL = ("CartPole-v0", "--num-envs", "4", "--rollout", "8", "--hidden", "4", "--epochs", "1")
SMALL += ("--evaluation-episodes", "2", "--goal", "inf", "--tensorboard", "false")


def spoil(tensors: dict[str, Any], value: float) -> str:
    """Put a value into the first float tensor and return its name."""
    name = next(n for n, x in tensors.items() if torch.is_tensor(x) and x.is_floating_point())
    tensors[name] = tensors[name].clone()
    tensors[name].view(-1)[0] = value
    return name


def spoil_file(path: Path, value: float) -> str:
    """Put a value into the first weight of a policy file and return its name."""
    tree = checkpoint.load(path)
    owner = next(iter(tree["policies"]))
    name = spoil(tree["policies"][owner], value)
    checkpoint.save(path, tree)
    return f"{owner}/{name}"


def play(path: Path) -> int:
    return __main__.main(["play", "CartPole-v0", "--policy", str(path)])


def render(path: Path) -> int:
    words = ["render", "CartPole-v0", "--policy", str(path), "--out", str(path.with_name("x.png"))]
    return __main__.main(words)


def evaluate(path: Path) -> int:
    return __main__.main(["evaluate", str(path), "--episodes", "2"])


def compete(path: Path) -> int:
    sound = write(path.with_name("sound.ckpt"), "CartPole-v0")
    return __main__.main(["evaluate", str(sound), "--against", str(path), "--episodes", "2"])


def begin_with(path: Path) -> int:
    return run.main([*SMALL, "--init", str(path), "--out", str(path.parent / "run")])


@pytest.mark.parametrize("use", [evaluate, compete, play, render, begin_with])
@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_policy_file_with_a_weight_that_is_no_finite_number_is_refused(
    use: Callable[[Path], int], value: float, tmp_path: Path, capsys: Any
) -> None:
    path = write(tmp_path / "bad.ckpt", "CartPole-v0")
    name = spoil_file(path, value)
    assert use(path) != 0
    err = capsys.readouterr().err
    assert f"bad.ckpt: 'policy/{name}' has 1 of " in err and err.count("\n") == 1


def test_others_refuse_it_too(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.ckpt", "TagGrid-v0")
    name = spoil_file(path, math.nan)
    with pytest.raises(ValueError, match=rf"bad\.ckpt: 'policy/{name}' has 1 of"):
        VectorEnv("TagGrid-v0", 1, role="tagger", others=str(path))


@pytest.mark.parametrize("part", ["policy", "optimiser", "past"])
def test_a_run_does_not_go_on_from_it(part: str, tmp_path: Path, capsys: Any) -> None:
    words = ["TagGrid-v0", *SMALL[1:], "--policies", "role", "--past-worlds", "0.5"]
    words += ["--past-every", "1", "--out", str(tmp_path)]
    assert run.main([*words, "--total-steps", "320"]) == 0
    path = tmp_path / "checkpoint.ckpt"
    tree = checkpoint.load(path)
    learner = tree["state"]["learners"][0]
    found = learner[part] if part != "past" else learner[part][0]
    name = spoil(found, math.inf)
    checkpoint.save(path, tree)
    capsys.readouterr()
    assert run.main([*words, "--total-steps", "640", "--resume"]) == 2
    err = capsys.readouterr().err
    assert "checkpoint.ckpt: 'policy/" in err and f"/{name}' has 1 of" in err
