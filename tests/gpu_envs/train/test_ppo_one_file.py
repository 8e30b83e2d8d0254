"""The example that is one file learns, from masks, turns and several agents too."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs gpu_envs[train]")

FILE = Path(__file__).parents[3] / "examples" / "ppo_one_file.py"


@pytest.fixture(scope="module")
def ppo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ppo_one_file", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_solves_cartpole_within_a_minute() -> None:
    begin = time.monotonic()
    said = subprocess.run(
        [sys.executable, str(FILE), "CartPole-v0", "--device", "cpu"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert float(said[-1].rpartition(" ")[2]) >= 475
    assert time.monotonic() - begin < 60


def test_players_who_take_turns_learn_what_the_mask_allows(
    ppo: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "Hanabi-v0 preset=very_small keep_score=true --device cpu --num-envs 128"
    options += " --entropy 0.03 --learning-rate 1e-3 --minibatch 2048 --epochs 4"
    ppo.main([*options.split(), "--total-steps", "250000"])
    means = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().out.splitlines()]
    assert means[-1] > 1.7  # random play, legal: 0.9
    assert means[-1] > means[0] + 0.5


def test_several_agents_without_a_mask_are_rows(ppo: ModuleType) -> None:
    options = "TagGrid-v0 num_taggers=4 grid_length=20 --device cpu --num-envs 16 --total-steps"
    assert -100 < ppo.main([*options.split(), "20000", "--goal", "inf"]) < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Flocking-v0"], "Flocking-v0: this file knows Discrete actions alone"),
        (["CartPole-v0", "gravity"], "write NAME=VALUE, not 'gravity'"),
    ],
)
def test_what_it_cannot_do_is_said(
    ppo: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as problem:
        ppo.main([*arguments, "--device", "cpu"])
    assert message in str(problem.value) + capsys.readouterr().err


def test_advantages_are_the_discounted_sums_of_surprises(ppo: ModuleType) -> None:
    """As GAE is defined, by double loops; the fourth step of the first row ends an episode."""
    generator = torch.Generator().manual_seed(4)
    rewards, values = torch.rand((2, 7, 3), generator=generator, dtype=torch.float64)
    after = torch.rand(3, generator=generator, dtype=torch.float64)
    dones = torch.zeros((7, 3), dtype=torch.float64)
    dones[3, 0] = dones[6, 2] = 1
    found = ppo.advantages(rewards, values, dones, after, 0.9, 0.8)
    behind = torch.cat((values[1:], after[None]))
    surprises = rewards + 0.9 * (1 - dones) * behind - values
    for row in range(3):
        for t in range(7):
            ends = [k for k in range(t, 7) if dones[k, row]]
            last = ends[0] if ends else 6
            expected = sum((0.9 * 0.8) ** (k - t) * surprises[k, row] for k in range(t, last + 1))
            assert float(found[t, row]) == pytest.approx(float(expected))


def test_it_stays_short() -> None:
    assert len(FILE.read_text().splitlines()) <= 250
