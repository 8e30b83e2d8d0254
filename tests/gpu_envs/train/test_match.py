"""The command `evaluate`: who has which seat, what it prints and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import numpy as np
import torch

from gpu_envs import VectorEnv, __main__
from gpu_envs.policies import checkpoint, teams
from gpu_envs.train import evaluate, match, worlds
from gpu_envs.train.config import make
from tests.gpu_envs.train.fresh import played, write

# ---- files


def output(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    try:
        status: Any = match.main([str(a) for a in arguments])
    except SystemExit as leaving:
        status = leaving.code
    found = capsys.readouterr()
    return status, found.out, found.err


def rows_of(text: str) -> list[str]:
    """Return title and table, without the notes below an empty line."""
    return text.partition("\n\n")[0].splitlines()


def table(text: str) -> dict[str, list[float]]:
    _, head, *lines = rows_of(text)
    assert {len(line) for line in lines} == {len(head)}  # columns end below each other
    width = head.index("mean return") - 2
    return {
        line[:width].strip(): [float(n) for n in line[width:].split()]
        for line in lines
        if line.strip()
    }


def test_policies_come_back_as_they_were_saved(tmp_path: Path) -> None:
    path = write(tmp_path / "p", "CartPole-v0", memory=5)
    env = worlds.for_evaluation(make("CartPole-v0"), "cpu", 4)
    one, two = (teams.Team.load(path, env.simulator) for _ in range(2))
    assert one.facts["score"] == 1.0 and one.of_agent == [0]
    returns = [played(env, team.policies)[0] for team in (one, two)]
    assert torch.equal(*returns)
    assert not any(p.requires_grad for p in one.policies[0].parameters())
    env.close()


def test_a_player_alone_does_what_its_team_does_in_a_batch(tmp_path: Path) -> None:
    path = write(tmp_path / "p", "CartPole-v0", memory=5)
    env = worlds.for_evaluation(make("CartPole-v0"), "cpu", 1)
    team = teams.Team.load(path, env.simulator)
    (player,) = team.players()
    _, length = played(env, team.policies, seed=4)
    obs, _ = env.reset(seed=4)
    for step in range(1, 501):  # noqa: B007  # looked at behind the loop
        action = player(obs[0].numpy().copy(), None)
        assert isinstance(action, int)
        obs, _, terminated, truncated, _ = env.step([action])
        if terminated or truncated:
            break
    assert step == int(length)
    env.close()


@pytest.mark.parametrize("policies", ["shared", "role", "agent"])
def test_agents_are_played_by_their_own_policies(tmp_path: Path, policies: str) -> None:
    path = write(tmp_path / "p", "Micro-v0", policies=policies)
    env = worlds.for_evaluation(make("Micro-v0"), "cpu", 2)
    team = teams.Team.load(path, env.simulator)
    assert team.of_agent == ([0, 1, 2, 3, 4] if policies == "agent" else [0] * 5)
    assert len(team.policies) == len(set(team.of_agent)) and len(team.players()) == 5
    rows = evaluate.rows_of(team.of_agent, 2, "cpu")
    assert rows.tolist() == team.of_agent * 2
    env.close()


@pytest.mark.parametrize("policies", ["shared", "agent"])
def test_agents_together_do_what_each_does_alone(tmp_path: Path, policies: str) -> None:
    path = write(tmp_path / "p", "Micro-v0", policies=policies, memory=5)
    env = VectorEnv("Micro-v0", 1, device="cpu", arrays="numpy")
    team = teams.Team.load(path, env.simulator)
    team.of_agent[2] = teams.NOBODY
    together, players = team.together(), team.players()
    obs, infos = env.reset(seed=4)
    for _ in range(6):
        masks = infos.get("action_mask")
        alone = [
            player(row, None if masks is None else masks[k])
            for k, (player, row) in enumerate(zip(players, obs, strict=True))
        ]
        actions = together(obs, masks)
        assert np.array_equal(actions, alone)
        obs, _, _, _, infos = env.step(actions)
    env.close()


def test_a_run_is_evaluated_like_its_best_policies(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    pytest.importorskip("rich", reason="needs rich")
    from gpu_envs.train.run import main

    options = "--num-envs 4 --rollout 16 --total-steps 128 --evaluation-episodes 4 --hidden 4"
    options += " --learning-rate 0"
    given = [*options.split(), "--device", "cpu", "--out", str(tmp_path), "--tensorboard", "false"]
    assert main(["CartPole-v0", *given]) == 0
    capsys.readouterr()
    found = []
    for name in ("best.ckpt", "checkpoint.ckpt"):
        status, out, _ = output(capsys, tmp_path / name, "--episodes", 5)
        assert status == 0
        found.append(table(out)["FILE"])
    assert found[0] == found[1]  # nothing is learned: the first policy is the last


# ---- what is printed


def test_numbers_of_a_line_are_those_of_worlds() -> None:
    returns = torch.tensor([[1.0, 3.0], [5.0, 5.0], [0.0, 1.0], [9.0, 9.0]])  # 2, 5, 0.5, 9
    lengths = torch.tensor([[10, 10], [20, 20], [30, 31], [40, 40]], dtype=torch.int32)
    label, *numbers = match._row("x", returns, lengths)
    scores = torch.tensor([2.0, 5.0, 0.5, 9.0], dtype=torch.float64)
    error = float(scores.std()) / 2
    expected = [4.125, error, 3.5, 0.5, 9.0]
    assert label == "x" and numbers[:-1] == [f"{n:.3f}" for n in expected]
    assert numbers[-1] == f"{(10 + 20 + 30.5 + 40) / 4:.1f}"
    assert match._row("x", returns[:1], lengths[:1])[2] == "0.000"  # one world has no spread


def test_a_table_of_one_file(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    status, out, err = output(capsys, path, "--episodes", 20, "--device", "cpu")
    assert (status, err) == (0, "")
    title, head = out.splitlines()[:2]
    assert title == "CartPole-v0: 20 episodes on cpu, likeliest actions, seed 1"
    assert head.split() == [
        "who",
        "plays",
        "mean",
        "return",
        *"error median least most length".split(),
    ]
    mean, error, median, least, most, length = table(out)["FILE"]
    assert least <= median <= most and least <= mean <= most and error > 0
    assert mean == pytest.approx(length, abs=0.06)  # a reward of one for each step
    assert max(map(len, out.splitlines())) <= 80


def test_parameters_can_be_given(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    status, out, _ = output(capsys, path, "--episodes", 3, "--sutton-barto-reward", "true")
    assert status == 0 and table(out)["FILE"][0] == -1
    again = output(capsys, path, "--episodes", 3, "--sampled", "--seed", 2)[1]
    assert "3 episodes on cpu, sampled actions, seed 2" in again


def test_two_files_of_one_agent_are_compared(tmp_path: Path, capsys: Any) -> None:
    one = write(tmp_path / "one", "CartPole-v0")
    two = write(tmp_path / "two", "CartPole-v0", memory=3, hidden="8,8")
    status, out, err = output(capsys, one, "--against", two, "--episodes", 4)
    assert (status, err) == (0, "")
    both = table(out)
    assert list(both) == ["FILE", "other FILE"]
    assert both["other FILE"] == table(output(capsys, two, "--episodes", 4)[1])["FILE"]


def test_two_files_change_seats(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every agent's return says whose it was: 1 FILE's, 0 the other's."""
    one = write(tmp_path / "one", "Micro-v0", policies="agent")
    two = write(tmp_path / "two", "Micro-v0", memory=3)
    seatings = []

    def play(env: Any, policies: Any, of_row: Any, **_: Any) -> Any:
        owners = torch.tensor([p.memory_size == 0 for p in policies])
        returns = owners[of_row].float().view(env.num_worlds, env.agents_per_world)
        seatings.append(returns[0].int().tolist())
        assert torch.equal(returns[0], returns[1])
        if len(policies) == 6:  # FILE's five and the other's one
            assert all(of_row[k] == k for k in range(5) if returns[0, k])
        return returns, returns.int()

    monkeypatch.setattr(evaluate, "play", play)
    status, out, _ = output(capsys, one, "--against", two, "--episodes", 2)
    assert status == 0
    assert seatings[:2] == [[1] * 5, [0] * 5]
    assert seatings[2:] == [[int(a == k) for a in range(5)] for k in range(5)]
    lines = rows_of(out)[4:]
    names = [line[: line.index("  ", 4)].strip() for line in lines]
    assert names == [
        text
        for k in range(5)
        for text in (f"FILE as player_{k}", "other FILE as the other 4 agents")
    ]
    assert [line.split()[-6] for line in lines] == ["1.000", "0.000"] * 5


def test_a_match_of_two_real_files(tmp_path: Path, capsys: Any) -> None:
    one = write(tmp_path / "one", "Overcooked-v0")
    two = write(tmp_path / "two", "Overcooked-v0", encoder="cnn", policies="agent")
    status, out, err = output(capsys, one, "--against", two, "--episodes", 1)
    assert (status, err) == (0, "")
    assert "Overcooked-v0: 1 episode on cpu" in out
    assert [line.strip()[:16] for line in rows_of(out)[4:]] == [
        "FILE as player_0", "other FILE as th", "FILE as player_1", "other FILE as th",
    ]  # fmt: skip


def test_the_environments_own_measure_is_a_column_of_each_match(
    tmp_path: Path, capsys: Any
) -> None:
    path = write(tmp_path / "p", "TagGrid-v0", policies="role")
    status, out, err = output(capsys, path, "--against", "random", "--episodes", 3)
    assert (status, err) == (0, "")
    head, *lines = rows_of(out)[1:]
    assert head.endswith("length  tagged")
    ends = [line[head.index("tagged") :].strip() for line in lines]
    assert [len(end) for end in ends] == [5, 0] * 4
    assert all(0 <= float(end) <= 1 for end in ends if end)


# ---- what is refused


def one_line(found: tuple[int, str, str], *words: str) -> None:
    status, out, err = found
    assert status == 2 and out == ""
    assert err.startswith("error: ") and err.count("\n") == 1, err
    assert all(word in err for word in words), err


def test_files_that_do_not_fit_are_named(tmp_path: Path, capsys: Any) -> None:
    cartpole, micro = write(tmp_path / "c", "CartPole-v0"), write(tmp_path / "m", "Micro-v0")
    pair = (cartpole, "--against", micro, "--episodes", 2)
    one_line(output(capsys, *pair), str(micro), "'Micro-v0'", "'CartPole-v0'")
    one_line(output(capsys, micro, "--agent-count", 3), "agents 5, expected 3")
    one_line(output(capsys, micro, "--agent-count", 0), "agent_count", "got 0")


def test_files_of_another_size_are_named(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "o", "Overcooked-v0")
    found = output(capsys, path, "--layout", "asymmetric_advantages", "--episodes", 1)
    one_line(found, str(path), "observation", "[5, 4, 26]", "[9, 5, 26]")


def test_files_that_hold_no_policies_are_named(tmp_path: Path, capsys: Any) -> None:
    one_line(output(capsys, tmp_path / "none.ckpt"), "none.ckpt", "does not exist")
    one_line(output(capsys, tmp_path), "is a folder")
    text = tmp_path / "text"
    text.write_text("hello")
    one_line(output(capsys, text), str(text), "not a checkpoint of gpu_envs")
    foreign = tmp_path / "foreign"
    checkpoint.save(foreign, {"weights": torch.zeros(2)})
    one_line(output(capsys, foreign), str(foreign), "no policies of the trainer")
    torch.save({"a": torch.zeros(2)}, tmp_path / "torch")
    one_line(output(capsys, tmp_path / "torch"), "torch", "not a checkpoint of gpu_envs")
    path = write(tmp_path / "p", "CartPole-v0")
    path.write_bytes(path.read_bytes()[:-100])
    one_line(output(capsys, path), str(path), "damaged")


def test_a_policy_file_names_no_option_that_a_policy_can_do_without(tmp_path: Path) -> None:
    kept = checkpoint.load(write(tmp_path / "p", "CartPole-v0"))["config"]
    assert {"env", "encoder", "hidden", "memory", "policies", "parameters"} <= kept.keys()
    assert not {"epochs", "device", "graphs", "rollout", "wandb"} & kept.keys()


def test_files_of_another_version_are_named(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    tree = checkpoint.load(path)
    tree["config"]["magic"] = 3
    checkpoint.save(path, tree)
    one_line(output(capsys, path), str(path), "magic", "the gpu_envs that saved it")
    del tree["config"]["magic"]
    tree["config"]["env"] = "CartPole-v9"
    checkpoint.save(path, tree)
    one_line(output(capsys, path), "'CartPole-v9'", "did you mean")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--episodes", "0"], ["--episodes must be between 1 and", "got 0"]),
        (["--episodes", "few"], ["--episodes", "'few'"]),
        (["--seed", "-1"], ["--seed must be between 0 and", "got -1"]),
        (["--seed", str(2**64)], ["--seed", str(2**64)]),
        (["--device", "gpu"], ["device", "'gpu'"]),
        (["--episode", "3"], ["--episode"]),
        (["--sutton-barto-reward", "maybe"], ["--sutton-barto-reward", "true or false", "'maybe'"]),
        (["--against"], ["--against", "argument"]),
        (["more"], ["more"]),
    ],
)
def test_nonsense_is_one_line(
    tmp_path: Path, capsys: Any, arguments: list[str], words: list[str]
) -> None:
    one_line(output(capsys, write(tmp_path / "p", "CartPole-v0"), *arguments), *words)


def test_the_file_comes_first(capsys: Any) -> None:
    one_line(output(capsys), "FILE")
    one_line(output(capsys, "--episodes", "5", "p.ckpt"), "the ID or the FILE comes first")


def test_an_id_is_played_by_a_file_or_by_chance(tmp_path: Path, capsys: Any) -> None:
    path, few = write(tmp_path / "p", "CartPole-v0"), ("--episodes", 4)
    expected = output(capsys, path, *few)
    assert output(capsys, "CartPole-v0", "--policy", path, *few) == expected
    status, out, _ = output(capsys, "gpu_envs/CartPole-v0", *few, "--against", path)
    assert status == 0
    assert list(table(out)) == ["random", "FILE"]
    assert table(out)["FILE"] == table(expected[1])["FILE"]


def test_a_file_and_a_policy_exclude_each_other(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    one_line(output(capsys, path, "--policy", path), "--policy needs an ID", str(path))
    one_line(output(capsys, "Micro-v0", "--policy", path), "'CartPole-v0', expected 'Micro-v0'")


def test_a_range_of_a_parameter_is_refused(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        match.main(["CartPole-v0", "--mass", "2..4"])
    line = "error: argument --mass: must be one value, got '2..4': no range is taken here\n"
    assert capsys.readouterr().err == line


def test_help_lists_options_and_the_environments_parameters(tmp_path: Path, capsys: Any) -> None:
    status, out, _ = output(capsys, write(tmp_path / "p", "CartPole-v0"), "-h")
    assert status == 0
    for option in ("--against", "--episodes", "--seed", "--sampled", "--device", "--velocities"):
        assert option in out
    status, out, _ = output(capsys, "--help")
    assert status == 0 and "--against" in out


def test_the_package_has_the_command(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    assert __main__.main(["evaluate", str(path), "--episodes", "2"]) == 0
    assert "CartPole-v0: 2 episodes" in capsys.readouterr().out


def test_a_run_with_options_of_another_version_is_named(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    tree = checkpoint.load(path)
    tree["config"] |= {"total_steps": 1, "bogus_option": 2}
    checkpoint.save(path, tree)
    one_line(output(capsys, path), str(path), "bogus_option", "use the gpu_envs that saved it")
