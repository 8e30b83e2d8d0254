"""The trainer as a user meets it: what it learns, writes and says."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs matplotlib")
pytest.importorskip("rich", reason="needs rich")

import torch as t

from gpu_envs import VectorEnv, environments, play
from gpu_envs.train import ppo


@pytest.fixture(autouse=True)
def _keep_threads() -> Any:
    before = t.get_num_threads()
    yield
    t.set_num_threads(before)


def run(folder: Path, *arguments: str) -> list[dict[str, str]]:
    """Train on the CPU and return the lines of the curve."""
    assert ppo.main([*arguments, "--device", "cpu", "--out", str(folder)]) == 0
    head, *lines = (folder / "curve.csv").read_text().splitlines()
    return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


def test_a_short_run_learns_and_writes_its_results(tmp_path: Path) -> None:
    curve = run(tmp_path / "new" / "folder", "CartPole-v0", "--total-steps", "20480")
    assert len(curve) == 5
    assert float(curve[0]["training"]) < 40  # a random policy's is about 22
    assert float(curve[-1]["evaluation"]) > 100
    assert (tmp_path / "new/folder/curve.png").read_bytes().startswith(b"\x89PNG")

    policy, facts = ppo.load(tmp_path / "new/folder/checkpoint.pt")
    assert facts["env"] == "CartPole-v0"
    assert facts["evaluation"] == pytest.approx(float(curve[-1]["evaluation"]))
    env = VectorEnv("CartPole-v0", 100, device="cpu", arrays="torch", reuse=True)
    env.reset(seed=123)
    assert ppo.evaluate(env, policy) > 100
    env.close()


def test_the_same_seed_gives_the_same_curve_and_another_a_different_one(tmp_path: Path) -> None:
    def evaluation(number: int, seed: str) -> str:
        options = ("CartPole-v0", "--seed", seed, "--total-steps", "4096")
        return run(tmp_path / str(number), *options)[-1]["evaluation"]

    first = evaluation(1, "7")
    assert evaluation(2, "7") == first
    assert evaluation(3, "8") != first


def test_every_agent_is_a_learner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve = run(tmp_path, "gpu_envs/Micro-v0", "--num-envs", "4", "--total-steps", "5120")
    assert "20 learners" in capsys.readouterr().out
    # Four rollouts of 64 steps; episodes of 200 steps end in the last of them alone.
    assert [row["training"] == "" for row in curve] == [True, True, True, False]
    assert [row["steps"] for row in curve] == ["1280", "2560", "3840", "5120"]


needs_hanabi = pytest.mark.skipif(
    "Hanabi-v0" not in environments(), reason="Hanabi-v0 is not registered"
)


@needs_hanabi
def test_games_with_masks_are_trained_by_legal_moves_and_played_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[VectorEnv] = []
    monkeypatch.setattr(
        ppo, "VectorEnv", lambda *a, **k: made.append(VectorEnv(*a, **k)) or made[-1]
    )
    options = ("Hanabi-v0", "--num-envs", "16", "--total-steps", "4096")
    curve = run(tmp_path, *options)
    assert len(curve) == 2 and curve[-1]["evaluation"] != ""
    for env in made:
        env.check()  # no illegal action was ever chosen
    monkeypatch.setattr(sys, "stdin", io.StringIO("5\n" * 3))
    assert play.main(["Hanabi-v0", "--opponent", str(tmp_path / "checkpoint.pt")]) == 0
    assert "player_1: " in capsys.readouterr().out


def test_illegal_actions_have_no_probability_and_none_is_still_a_distribution() -> None:
    policy, obs = ppo.Policy(6, 4), t.ones((3, 2, 3), dtype=t.uint8)
    mask = t.tensor([[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=t.int8)
    log_probs, _ = policy(obs, mask)
    chances = log_probs.exp()
    assert (chances[:2][mask[:2] == 0] == 0).all() and chances[1, 3] == 1
    assert t.allclose(chances.sum(-1), t.ones(3))
    assert t.equal(policy(obs, t.ones_like(mask))[0], policy(obs)[0])


@needs_hanabi
def test_masks_of_a_rollout_belong_to_its_observations() -> None:
    env = VectorEnv("Hanabi-v0", 3, device="cpu", arrays="torch")
    policy = ppo.Policy(658, 21)
    rollout = rollout_of(env, policy)
    for _ in range(2):
        assert rollout.mask is not None
        legal = rollout.mask[:-1].gather(-1, rollout.action.unsqueeze(-1))
        assert (legal == 1).all()
        last = rollout.mask[-1].clone()
        rollout.collect(env, policy)
        assert t.equal(rollout.mask[0], last)
    env.check()
    env.close()


def test_time_limit_ends_the_run_with_an_evaluation(tmp_path: Path) -> None:
    curve = run(tmp_path, "CartPole-v0", "--time-limit", "1e-9")
    assert len(curve) == 1 and curve[0]["evaluation"] != ""


def rollout_of(env: VectorEnv, policy: ppo.Policy) -> ppo.Rollout:
    rollout = ppo.Rollout(*env.reset(seed=3))
    rollout.collect(env, policy)
    return rollout


def test_advantages_equal_a_plain_reference_and_bootstrap_what_was_cut_short() -> None:
    env = VectorEnv("CartPole-v0", 8, device="cpu", arrays="torch", max_episode_steps=15)
    t.manual_seed(0)
    policy = ppo.Policy(4, 2)
    rollout = rollout_of(env, policy)
    arrays = {name: array.clone() for name, array in rollout.arrays.items()}
    assert (arrays["truncated"] & ~arrays["terminated"]).any() and arrays["terminated"].any()
    found = rollout.advantages(policy)
    with t.no_grad():
        for row in range(8):
            following, total = float(policy(rollout.obs[-1])[1][row]), 0.0
            for step in reversed(range(ppo.ROLLOUT)):
                if arrays["terminated"][step, row]:
                    following, total = 0.0, 0.0
                elif arrays["truncated"][step, row]:
                    following = float(policy(arrays["final_obs"][step, row : row + 1])[1])
                    total = 0.0
                value = float(rollout.value[step, row])
                surprise = float(arrays["reward"][step, row]) + ppo.GAMMA * following - value
                total = surprise + ppo.GAMMA * ppo.LAMBDA * total
                assert float(found[step, row]) == pytest.approx(total, abs=1e-4)
                following = value
    env.close()


def test_rollouts_continue_each_other() -> None:
    env = VectorEnv("CartPole-v0", 4, device="cpu", arrays="torch")
    policy = ppo.Policy(4, 2)
    rollout = rollout_of(env, policy)
    last = rollout.obs[-1].clone()
    rollout.collect(env, policy)
    assert t.equal(rollout.obs[0], last)
    env.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["required", "env"]),
        (["CartPol-v0"], ["'CartPol-v0'", "did you mean 'CartPole-v0'?", "Micro-v0"]),
        (["CartPole-v0", "--num-env", "4"], ["'--num-env'", "did you mean '--num-envs'?"]),
        (["CartPole-v0", "--num-envs", "0"], ["--num-envs", "at least 1", "got 0"]),
        (["CartPole-v0", "--num-envs", "few"], ["--num-envs", "number", "'few'"]),
        (["CartPole-v0", "--seed", "-1"], ["--seed", "at least 0", "got -1"]),
        (["CartPole-v0", "--seed", str(2**64)], ["--seed", "between 0 and", str(2**64)]),
        (["CartPole-v0", "--time-limit", "nan"], ["--time-limit", "at least 0", "nan"]),
        (["CartPole-v0", "--device", "gpu"], ["device", "'cpu'", "'gpu'"]),
        (["CartPole-v0", "--out", "/dev/null/x"], ["/dev/null/x"]),
    ],
)
def test_errors_are_one_line_that_names_the_cause(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: object = ppo.main(arguments)
    except SystemExit as leaving:
        status = leaving.code
    line = capsys.readouterr().err
    assert status == 2
    assert line.startswith("error: ") and line.count("\n") == 1
    assert all(word in line for word in words), line


def test_help_lists_every_option_and_missing_packages_are_named() -> None:
    command = [sys.executable, "-m", "gpu_envs.train", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for option in ("--num-envs", "--seed", "--total-steps", "--time-limit", "--device", "--out"):
        assert option in shown
    program = (
        "import runpy, sys; sys.modules['rich.console'] = sys.modules['rich'] = None\n"
        "runpy.run_module('gpu_envs.train', run_name='__main__')"
    )
    missing = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert missing.returncode == 1
    assert missing.stderr == "error: training needs rich: pip install 'gpu_envs[train]'\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_cartpole_is_solved_in_two_minutes(tmp_path: Path, seed: str) -> None:
    curve = run(tmp_path, "CartPole-v0", "--seed", seed)
    assert float(curve[-1]["evaluation"]) >= 475
    assert float(curve[-1]["seconds"]) < 120
