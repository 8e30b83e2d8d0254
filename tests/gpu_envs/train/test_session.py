"""A training run as its user meets it: results, interruptions, resuming, and what goes wrong."""

from __future__ import annotations

import csv
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs import __main__, environments
from gpu_envs.known import extras
from gpu_envs.policies import checkpoint
from gpu_envs.train import curves, evaluate, ppo, run
from gpu_envs.train import session as sessions

SMALL = ("--num-envs", "16", "--rollout", "16", "--minibatch", "64", "--epochs", "2")
SMALL += ("--evaluation-episodes", "10", "--goal", "inf")

UNTIL_THE_END = ("--evaluation-every", "0", "--evaluation-share", "0")  # no evaluation between


def train(folder: Path, *arguments: str) -> list[dict[str, str]]:
    """Train on the CPU and return the lines of the curve."""
    assert run.main([*arguments, "--device", "cpu", "--out", str(folder)]) == 0
    with (folder / "curve.csv").open() as file:
        return list(csv.DictReader(file))


def learned(folder: Path) -> dict[str, Any]:
    return checkpoint.load(folder / "checkpoint.ckpt")["state"]


def same(left: Any, right: Any) -> bool:
    """Compare trees bit for bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return t.equal(left, right) if isinstance(left, t.Tensor) else left == right


# ---- what a run leaves


def test_a_short_run_learns_and_writes_its_results(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    curve = train(folder, "CartPole-v0", "--total-steps", "20480", "--goal", "inf")
    assert len(curve) == 21
    assert curve[0]["steps"] == "0" and curve[0]["charts/episodic_return"] == ""
    assert float(curve[0]["evaluation/return"]) < 150  # of untrained play
    assert float(curve[1]["charts/episodic_return"]) < 40  # a random policy's is about 22
    assert float(curve[-1]["evaluation/return"]) > 100
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    best = checkpoint.load(folder / "best.ckpt")
    assert best["config"]["env"] == "CartPole-v0"
    scores = [float(row["evaluation/return"]) for row in curve if row["evaluation/return"]]
    assert best["score"] == pytest.approx(max(scores))


def test_cartpole_is_learned_to_195(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curves, "apart", lambda *_: (1.0, 9.0))
    for goal, is_hinted in (("195", False), ("inf", True)):
        most = "200000" if goal == "195" else "1024"
        curve = train(tmp_path, "CartPole-v0", "--goal", goal, "--total-steps", most)
        assert ("--sampled-evaluation draws" in capsys.readouterr().out) is is_hinted
        assert is_hinted or float(curve[-1]["evaluation/return"]) >= 195


@pytest.mark.parametrize("env", environments())
def test_every_environment_is_trained_with_its_defaults(env: str, tmp_path: Path) -> None:
    options = ("--num-envs", "4", "--rollout", "8", "--total-steps", "64", "--goal", "inf")
    options += ("--decisions", "all")  # so short a rollout may have no two choices of anybody
    options += ("--evaluation-episodes", "1")  # a whole one, of pictures or of a thousand agents
    curve = train(tmp_path, env, *options, "--hidden", "16")
    reached = [row for name, row in curve[-1].items() if name.startswith("evaluation/return")]
    assert reached and "" not in reached
    losses = [float(loss) for name, loss in curve[-1].items() if name.endswith("value_loss")]
    assert losses and all(loss >= 0 for loss in losses)


def test_the_same_seed_gives_the_same_run_and_another_a_different_one(tmp_path: Path) -> None:
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        train(tmp_path / name, "CartPole-v0", *SMALL, "--seed", seed, "--total-steps", "1024")
    assert same(learned(tmp_path / "a"), learned(tmp_path / "b"))
    assert not same(learned(tmp_path / "a"), learned(tmp_path / "c"))


def test_time_limit_ends_the_run_with_an_evaluation(tmp_path: Path) -> None:
    curve = train(tmp_path, "CartPole-v0", *SMALL, "--time-limit", "1e-9")
    assert [row["evaluation/return"] != "" for row in curve] == [True, True]


def test_time_for_the_last_update_and_evaluation_is_kept_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]

    def lasting(seconds: float, function: Any) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            now[0] += seconds
            return function(*arguments, **keywords)

        return call

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(ppo.Trainer, "iterate", lasting(1.0, ppo.Trainer.iterate))
    monkeypatch.setattr(evaluate, "play", lasting(4.0, evaluate.play))
    options = ("--time-limit", "20", *UNTIL_THE_END)
    curve = train(tmp_path, "CartPole-v0", *SMALL, *options)
    assert [float(row["seconds"]) for row in curve] == [4, *range(5, 15), 19]
    assert [row["evaluation/return"] != "" for row in curve] == [True, *[False] * 10, True]


def test_when_evaluations_are_held_changes_nothing_of_what_is_learned(tmp_path: Path) -> None:
    options, often = ("--total-steps", "1024", "--memory", "4"), ("--evaluation-every", "1")
    for name, chosen, count in (("often", often, 5), ("seldom", UNTIL_THE_END, 2)):
        curve = train(tmp_path / name, "CartPole-v0", *SMALL, *options, *chosen)
        assert len([row for row in curve if row["evaluation/return"]]) == count
    assert same(learned(tmp_path / "often"), learned(tmp_path / "seldom"))


def test_a_goal_that_is_reached_before_the_first_update_ends_the_run(tmp_path: Path) -> None:
    curve = train(tmp_path, "CartPole-v0", *SMALL, "--goal", "1")
    assert [row["steps"] for row in curve] == ["0"]
    kept = checkpoint.load(tmp_path / "checkpoint.ckpt")
    assert kept["best"] == kept["score"] >= 1 and kept["state"]["steps"] == 0


def test_a_goal_before_a_parameter_has_arrived_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("CartPole-v0", *SMALL, "--length", "0.4..0.6@0.5")
    train(tmp_path, *options, "--goal", "1")
    said = "parameters moved: --length 0.4..0.6@0.5 has come to 0.4; --resume --goal inf goes on"
    assert said in capsys.readouterr().out
    train(tmp_path, "CartPole-v0", "--resume", "--goal", "inf")
    assert "parameters moved" not in capsys.readouterr().out


def test_a_run_says_what_it_does_and_where_the_time_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(
        tmp_path,
        "Overcooked-v0",
        *SMALL,
        "--total-steps",
        "1024",
        "--layout",
        "forced_coordination",
    )
    shown = capsys.readouterr().out
    assert "Overcooked-v0, seed 1: 16 worlds of 2 agents on cpu; 1 policy" in shown
    assert "--rollout 16 --epochs 2 --minibatch 64" in shown
    assert "--layout forced_coordination" in shown
    for share in ("simulation", "inference", "learning", "evaluation"):
        assert f"{share} " in shown


def test_evaluation_has_parameters_and_worlds_of_its_own(tmp_path: Path) -> None:
    options = ("--total-steps", "512", "--evaluate-with", "shaping_factor=0")
    config, _ = run.configure("Overcooked-v0", {"num_envs": 4, "out": str(tmp_path)})
    session = sessions.Session(config, None)
    assert session.trials.env.simulator.parameters["shaping_factor"] == 0
    assert session.env.simulator.parameters["shaping_factor"] == 1
    assert session.trials.env.simulator.instance["num_worlds"] == 100
    identity = session.env.simulator.get("world.identity").ravel()
    session.trials.env.reset(seed=1)
    tested = session.trials.env.simulator.get("world.identity").ravel()
    assert not set(identity.tolist()) & set(tested.tolist())
    train(tmp_path, "Overcooked-v0", *SMALL, *options)


# ---- stopping and going on


@pytest.mark.parametrize(
    "arguments",
    [
        ("CartPole-v0",),
        ("CartPole-v0", "--memory", "8", "--optimizer", "lamb", "--normalize-values", "--stagger"),
        ("CartPole-v0", "--novelty", "0.1"),
        (
            *("Hanabi-v0", "--preset", "very_small", "--past-worlds", "0.5", "--past-every", "2"),
            *("--entropy-end", "0.03"),  # what changes over a run depends on its length
        ),
        (
            *("Hanabi-v0", "--preset", "small", "--other-play", "--memory", "8,second=4"),
            *("--policies", "first=player_0,player_2;second=player_1", "--player-count", "3"),
            *("--share", "false", "--entropy-end", "0.03", "--past-worlds", "0.5"),
        ),
    ],
)
def test_a_resumed_run_equals_the_uninterrupted_one(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    steps = 16 * 16 * 6
    options = (*arguments, *SMALL, "--evaluation-every", "2", "--schedule", "constant")
    whole = train(tmp_path / "whole", *options, "--total-steps", str(steps))
    train(tmp_path / "parts", *options, "--total-steps", str(steps // 2))
    found = train(
        tmp_path / "parts", arguments[0], "--total-steps", str(steps), "--resume", "--goal", "inf"
    )
    assert same(learned(tmp_path / "whole"), learned(tmp_path / "parts"))
    assert [row["steps"] for row in found] == [row["steps"] for row in whole]
    assert [row["steps"] for row in found].count("0") == 1
    clocks = ("seconds", "charts/SPS", "time/")
    own = [n for n in whole[0] if not n.startswith(clocks)]
    # An evaluation ends each part: the first part's is one more.
    assert [[row[n] for n in own if not n.startswith("evaluation")] for row in found] == [
        [row[n] for n in own if not n.startswith("evaluation")] for row in whole
    ]


def test_a_run_begins_with_the_policies_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(tmp_path / "a", "CartPole-v0", *SMALL, "--total-steps", "512")
    file, out = str(tmp_path / "a" / "checkpoint.ckpt"), str(tmp_path / "b")
    config, _ = run.configure("CartPole-v0", {"init": file, "out": out})
    session = sessions.Session(config, None)
    kept = learned(tmp_path / "a")["learners"][0]["policy"]
    found = session.trainer.learners[0].policy.state_dict()
    assert all(t.equal(kept[name], found[name]) for name in kept)
    assert session.trainer.steps == 0
    assert "another kind or size" in refused(
        capsys, "CartPole-v0", "--init", file, "--hidden", "32", "--out", out
    )
    assert "'CartPole-v0'" in refused(capsys, "Overcooked-v0", "--init", file, "--out", out)
    assert "does not exist" in refused(capsys, "CartPole-v0", "--init", "none", "--out", out)


def test_an_earlier_run_in_the_folder_is_set_aside(tmp_path: Path) -> None:
    train(tmp_path, "CartPole-v0", *SMALL, "--total-steps", "512")
    train(tmp_path, "CartPole-v0", *SMALL, "--total-steps", "256")
    assert learned(tmp_path)["steps"] == 256
    assert checkpoint.load(tmp_path / "old_checkpoint.ckpt")["state"]["steps"] == 512
    assert (tmp_path / "old_best.ckpt").exists() and (tmp_path / "old_curve.csv").exists()


def test_a_ladder_keeps_policies_that_can_be_played(tmp_path: Path) -> None:
    options = ("CartPole-v0", *SMALL, "--ladder-every", "500", "--schedule", "constant")
    train(tmp_path / "whole", *options, "--total-steps", "1536")  # six updates
    names = [f"{steps:012}.ckpt" for steps in (500, 1000, 1500)]
    assert sorted(path.name for path in (tmp_path / "whole/ladder").iterdir()) == names
    train(tmp_path / "parts", *options, "--total-steps", "768")
    train(tmp_path / "parts", "CartPole-v0", "--total-steps", "1536", "--resume", "--goal", "inf")
    for name in names:
        one, other = (
            checkpoint.load(tmp_path / run / "ladder" / name) for run in ("whole", "parts")
        )
        assert same(one["policies"], other["policies"])
    assert checkpoint.load(tmp_path / "whole/ladder" / names[1])["steps"] == 1024
    more = ("CartPole-v0", "--total-steps", "1792", "--resume", "--ladder-every", "250")
    train(tmp_path / "parts", *more, "--goal", "inf")  # a rung may be asked for later
    assert (tmp_path / "parts/ladder" / f"{1750:012}.ckpt").exists()
    train(tmp_path / "whole", *options, "--total-steps", "512")
    assert len([*(tmp_path / "whole/old_ladder").iterdir()]) == 3
    assert len([*(tmp_path / "whole/ladder").iterdir()]) == 1


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gpu_envs.train", *arguments, "--out", str(folder)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, "--device", "cpu"], **pipes)


def wait_for(condition: Any, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def updates(folder: Path) -> int:
    path = folder / "curve.csv"
    return len(path.read_text().splitlines()) - 1 if path.is_file() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    tmp_path: Path, number: signal.Signals
) -> None:
    options = ("CartPole-v0", *SMALL, *UNTIL_THE_END, "--total-steps", "100_000_000")
    process = start(tmp_path / "parts", *options, "--schedule", "constant")
    wait_for(lambda: updates(tmp_path / "parts") >= 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "interrupted; --resume goes on from here" in out
    done = learned(tmp_path / "parts")["steps"]
    end = str(done + 16 * 16 * 3)
    train(tmp_path / "parts", "CartPole-v0", "--resume", "--total-steps", end)
    train(tmp_path / "whole", *options[:-1], end, "--schedule", "constant")
    assert same(learned(tmp_path / "whole"), learned(tmp_path / "parts"))


def test_whenever_a_run_is_killed_its_checkpoint_is_whole(tmp_path: Path) -> None:
    options = ("CartPole-v0", *SMALL, "--checkpoint-seconds", "0", "--total-steps", "100_000_000")
    process = start(tmp_path, *options)
    wait_for(lambda: updates(tmp_path) >= 5)
    process.kill()
    process.communicate()
    steps = learned(tmp_path)["steps"]
    assert steps > 0
    train(tmp_path, "CartPole-v0", "--resume", "--total-steps", str(steps + 256))


def test_a_second_signal_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, _ = run.configure("CartPole-v0", {"out": str(tmp_path)})
    session = sessions.Session(config, None)
    session._interrupted(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        session._interrupted(signal.SIGINT, None)


# ---- what goes wrong


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        status: object = run.main(list(arguments))
    except SystemExit as leaving:
        status = leaving.code
    line = capsys.readouterr().err
    assert status == 2, line
    assert line.startswith("error: ") and line.count("\n") == 1, line
    return line


def test_only_what_fits_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, here = str(tmp_path), ("--resume", "--out", str(tmp_path))
    line = refused(capsys, "CartPole-v0", *here)
    assert "checkpoint.ckpt: does not exist" in line
    train(tmp_path, "CartPole-v0", *SMALL, "--total-steps", "512")
    assert "'CartPole-v0'" in refused(capsys, "Hanabi-v0", *here)
    line = refused(capsys, "CartPole-v0", *here, "--hidden", "32")
    assert "--hidden" in line and "'64,64'" in line and "'32'" in line
    line = refused(capsys, "CartPole-v0", *here, "--sutton-barto-reward", "true")
    assert "was saved for --sutton-barto-reward False, expected True" in line
    path = tmp_path / "checkpoint.ckpt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert "damaged" in refused(capsys, "CartPole-v0", "--resume", "--out", out)
    path.write_bytes(data[: len(data) // 2])
    assert str(path) in refused(capsys, "CartPole-v0", "--resume", "--out", out)


def test_ranges_of_a_resumed_run_are_the_saved_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("--mass", "0.5..2", "--force", "9", "--length", "0.4..0.6@1")
    train(tmp_path, "CartPole-v0", *SMALL, *own, "--total-steps", "512")
    kept = learned(tmp_path)
    here = ("--resume", "--out", str(tmp_path))
    for given, line in (
        (("--mass", "50..100"), "--mass '0.5..2', expected '50..100'"),
        (("--mass", "0.5..2@0.5"), "--mass '0.5..2', expected '0.5..2@0.5'"),
        (("--mass", "2"), "--mass '0.5..2', expected 2.0"),
        (("--force", "5..9"), "--force 9.0, expected '5..9'"),
        (("--gravity", "5..9"), "--gravity 9.8, expected '5..9'"),
        (("--gravity", "5"), "--gravity 9.8, expected 5.0"),
        ((*own, "--length", "0.4..0.6"), "--length '0.4..0.6@1', expected '0.4..0.6'"),
    ):
        assert f"was saved for {line}" in refused(capsys, "CartPole-v0", *here, *given)
    assert same(kept, learned(tmp_path))
    for steps, given in ((768, ()), (1024, ("--mass", "0.50..2.0", "--gravity", "9.8"))):
        train(tmp_path, "CartPole-v0", "--resume", "--total-steps", str(steps), *given)
        config = checkpoint.load(tmp_path / "checkpoint.ckpt")["config"]
        assert config["varying"] == {"mass": "0.5..2", "length": "0.4..0.6@1"}
        assert config["parameters"] == {"force": 9.0}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o500)
    assert str(tmp_path) in refused(capsys, "CartPole-v0", "--out", str(tmp_path / "x"))


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_reduced_precision_is_refused_where_it_only_costs(
    precision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["CartPole-v0", "--device", "cpu", "--precision", precision, "--out", str(tmp_path)]
    assert run.main(words) != 0
    assert f"--precision {precision} needs a GPU" in capsys.readouterr().err


def test_a_full_disk_costs_neither_the_run_nor_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save, calls = checkpoint.save, []

    def full(path: Path, tree: dict[str, Any]) -> None:
        calls.append(path.name)
        if len(calls) > 3:
            problem = OSError(errno.ENOSPC, "No space left on device", str(path))
            raise checkpoint.CheckpointError(f"{path}: {problem.strerror}")
        save(path, tree)

    monkeypatch.setattr(checkpoint, "save", full)
    options = ("--checkpoint-seconds", "0", "--total-steps", "1536", "--evaluation-every", "2")
    curve = train(tmp_path, "CartPole-v0", *SMALL, *options)
    assert len(curve) == 7 and len(calls) > 4
    assert "warning: " in capsys.readouterr().out
    assert 0 < learned(tmp_path)["steps"] < 1536


@pytest.mark.parametrize("command", ["gpu_envs.train", "gpu_envs train"])
def test_help_lists_options_and_missing_packages_are_named(command: str) -> None:
    module, *words = command.split()
    hide = "import runpy, sys; sys.modules['rich.console'] = sys.modules['rich'] = None\n"
    hide += "sys.modules['torch'] = None\n" * ("gpu_envs" == module)
    arguments = [sys.executable, "-c", f"{hide}runpy.run_module({module!r}, run_name='__main__')"]
    words += ["Overcooked-v0"]
    shown = subprocess.run([*arguments, *words, "--help"], capture_output=True, text=True)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("usage: python -m gpu_envs train ENV [options]\n")
    for option in ("--num-envs", "--seed", "--total-steps", "--resume", "--layout", "--memory"):
        assert option in shown.stdout
    missing = subprocess.run([*arguments, *words], capture_output=True, text=True)
    assert missing.returncode == 1
    library = "torch" if module == "gpu_envs" else "rich"
    assert missing.stderr == f"error: {extras.needs('training', library, 'train')}\n"


def test_the_package_has_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("CartPole-v0", *SMALL, "--total-steps", "256", "--device", "cpu")
    assert __main__.main(["train", *words, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "best.ckpt").exists() and "256 steps in " in capsys.readouterr().out


# ---- what it reaches


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2", "3", "4", "5"])
def test_cartpole_is_solved_in_half_a_minute(tmp_path: Path, seed: str) -> None:
    curve = train(tmp_path, "CartPole-v0", "--seed", seed)
    assert float(curve[-1]["evaluation/return"]) >= 475
    assert float(curve[-1]["seconds"]) < 30
    assert int(curve[-1]["steps"]) <= 500_000


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", ["new", "old"])
def test_overcooked_is_learned(tmp_path: Path, dynamics: str) -> None:
    options = ("--dynamics", dynamics, "--goal", "180", "--time-limit", "1800")
    curve = train(tmp_path, "Overcooked-v0", *options)
    assert float(curve[-1]["evaluation/return"]) >= 180
