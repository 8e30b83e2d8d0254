"""Recorded games: what is kept, that it comes again to the bit, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("minari", reason="needs gpu_envs[data]")
pytest.importorskip("h5py", reason="needs gpu_envs[data]")

from gymnasium import spaces

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.known import registration
from gpu_envs.known.measures import sizes
from gpu_envs.train.data import games, minari_files, replay
from gpu_envs.train.data.minari_files import DataSet

ROOT = Path(__file__).parents[4]
NAME = "some/games-v0"


def record(*words: str, name: str = NAME) -> DataSet:
    assert main(["record", *words, "--out", name]) == 0
    return DataSet(name)


def words_of(values: dict[str, Any]) -> list[str]:
    flags = [(f"--{name.replace('_', '-')}", value) for name, value in values.items()]
    return [
        word
        for flag, value in flags
        for word in (flag, str(value).lower() if isinstance(value, bool) else str(value))
    ]


@pytest.mark.parametrize("name", sorted(registration.shipped()))
def test_games_of_every_environment_come_again_to_the_bit(name: str, capsys: Any) -> None:
    own = {**sizes(name, "small"), "max_episode_steps": 12}
    data = record(name, *words_of(own), "--episodes", "3", "--agents", "together", "--check")
    assert "all 3 games the same, bit for bit" in capsys.readouterr().out
    found = list(data.games())
    assert [game.number for game in found] == [0, 1, 2]
    assert [game.seed for game in found] == [0, 1, 2]


def test_a_changed_bit_is_found() -> None:
    data = record("CartPole-v0", "--episodes", "3")
    pairs = list(replay.again(data))
    assert not any(replay.differences(*pair) for pair in pairs)
    track = pairs[1][0].tracks["player_0"]
    track.observations[2, 1] = np.nextafter(track.observations[2, 1], np.float32(9))
    assert replay.differences(*pairs[1]) == ["player_0: observations"]


def test_an_episode_is_one_of_the_single_environment() -> None:
    data = record("CartPole-v0", "--policy", "trained", "--episodes", "3", "--gravity", "12")
    env = data.minari.recover_environment()
    with closing(env):
        assert env.unwrapped.simulator.parameters["gravity"] == 12
        storage = data.minari.storage
        for k, episode in enumerate(data.minari.iterate_episodes()):
            seed = next(storage.get_episode_metadata([k]))["seed"]
            seen, _ = env.reset(seed=seed)
            rows = [seen]
            rewards, ends = [], []
            for action in episode.actions:
                seen, reward, terminated, truncated, _ = env.step(action)
                rows.append(seen)
                rewards.append(reward)
                ends.append((terminated, truncated))
            np.testing.assert_array_equal(np.stack(rows), episode.observations)
            np.testing.assert_array_equal(rewards, episode.rewards)
            assert ends[-1] == (episode.terminations[-1], episode.truncations[-1])
            assert not np.any(ends[:-1])


def test_parameters_that_are_drawn_are_kept_with_each_game() -> None:
    data = record("CartPole-v0", "--gravity", "5..15", "--episodes", "8", "--check")
    drawn = [game.tracks["player_0"].infos["parameters"]["gravity"] for game in data.games()]
    assert all(len(set(values.tolist())) == 1 and 5 <= values[0] <= 15 for values in drawn)
    assert len({float(values[0]) for values in drawn}) == 8
    for game, values in zip(data.games(), drawn, strict=True):
        env = gpu_envs.make("CartPole-v0", gravity=gpu_envs.uniform(5, 15))
        env.reset(seed=game.seed)
        assert env.unwrapped.simulator.get("world.gravity")[0, 0] == values[0]
        env.close()


def test_games_do_not_depend_on_those_beside_them() -> None:
    one = record(
        "Hanabi-v0", "--policy", "random", "--episodes", "7", "--num-envs", "1", name="a-v0"
    )
    many = record(
        "Hanabi-v0", "--policy", "random", "--episodes", "7", "--num-envs", "3", name="b-v0"
    )
    for pair in zip(one.games(), many.games(), strict=True):
        assert not replay.differences(*pair)


def test_a_policy_plays_the_same_games_again() -> None:
    words = ("HideSeek-v0", "--policy", "trained", "--sampled", "--episodes", "4")
    one, other = record(*words, name="a-v0"), record(*words, name="b-v0")
    assert one.facts["acts"] == "sampled"
    for pair in zip(one.games(), other.games(), strict=True):
        assert not replay.differences(*pair)
    greedy = record(
        "HideSeek-v0", "--policy", "trained", "--greedy", "--episodes", "4", name="c-v0"
    )
    assert any(replay.differences(*pair) for pair in zip(one.games(), greedy.games(), strict=True))


def test_agents_have_episodes_until_their_own_ends() -> None:
    data = record("TagContinuous-v0", "--num-taggers", "2", "--num-runners", "6", "--episodes", "6")
    lengths = {}
    for game in data.games():
        for agent, track in game.tracks.items():
            ends = track.terminations | track.truncations
            assert ends[-1] and not ends[:-1].any()
            assert len(track.observations) == len(track.actions) + 1 == len(track.rewards) + 1
            lengths[game.number, agent] = len(ends)
    assert len(lengths) == 6 * 8 and len(set(lengths.values())) > 1


def test_masks_and_parts_of_rewards_are_kept() -> None:
    data = record("Hanabi-v0", "--policy", "trained", "--episodes", "3")
    for game in data.games():
        assert list(game.tracks) == ["player_0", "player_1"]
        turns = np.stack([t.infos["agent_active"][:-1] for t in game.tracks.values()])
        assert (turns.sum(0) == 1).all()
        for track in game.tracks.values():
            mask = track.infos["action_mask"]
            assert len(mask) == len(track.observations)
            assert mask[np.arange(len(track.actions)), track.actions].all()
    kitchen = record("Overcooked-v0", "--episodes", "1", name="kitchen-v0")
    track = next(kitchen.games()).tracks["player_0"]
    parts = track.infos["reward_parts"]
    np.testing.assert_array_equal(sum(parts.values()), track.rewards)


def test_together_is_what_each_is() -> None:
    words = ("Overcooked-v0", "--policy", "trained", "--sampled", "--episodes", "2")
    each, together = (
        record(*words, name="a-v0"),
        record(*words, "--agents", "together", name="b-v0"),
    )
    for pair in zip(each.games(), together.games(), strict=True):
        assert not replay.differences(*pair)
    episode = together.minari[0]
    assert episode.rewards.shape == (400, 2)
    assert isinstance(together.minari.observation_space, spaces.Dict)
    assert together.minari.observation_space.contains(
        {name: rows[0] for name, rows in episode.observations.items()}
    )


def test_roles_with_spaces_of_their_own_are_chosen() -> None:
    data = record(
        "CovidEconomy-v0", "--role", "planner", "--episodes", "2", "--max-episode-steps", "9"
    )
    assert data.minari.action_space == spaces.Discrete(21)
    assert [list(game.tracks) for game in data.games()] == [["planner_0"], ["planner_0"]]


def test_pictures_are_kept_as_they_are() -> None:
    data = record(
        "Collect-v0",
        "--resolution",
        "40x48",
        "--channels",
        "last",
        "--episodes",
        "1",
        "--max-episode-steps",
        "4",
        "--check",
    )
    seen = data.minari[0].observations
    assert seen.dtype == np.uint8 and seen.shape[1:] == (40, 48, 3) and seen.std() > 0


def test_parts_are_written_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minari_files, "PART", 1)
    data = record("CartPole-v0", "--episodes", "5", "--num-envs", "2")
    assert data.minari.total_episodes == 5
    assert [game.number for game in data.games()] == list(range(5))


def test_what_fails_leaves_nothing(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minari_files, "PART", 1)
    own, count = games.Played.games, 0

    def stop(self: Any, seeds: Any) -> Any:
        nonlocal count
        for game in own(self, seeds):
            count += 1
            if count == 3:
                raise KeyboardInterrupt
            yield game

    monkeypatch.setattr(games.Played, "games", stop)
    assert main(["record", "CartPole-v0", "--episodes", "5", "--out", NAME]) == 130
    assert count == 3 and not (datasets / NAME).exists()


def test_what_fails_at_the_end_leaves_nothing(
    datasets: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(minari_files.Writer, "_flush", full)
    assert main(["record", "CartPole-v0", "--episodes", "5", "--out", NAME]) == 2
    assert "No space left" in capsys.readouterr().err
    assert not list(datasets.glob("some/*games*"))


def test_a_name_that_somebody_took_meanwhile_is_left_alone(
    datasets: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    own = minari_files.Writer._flush

    def late(self: Any) -> None:
        own(self)
        (datasets / NAME).mkdir(parents=True, exist_ok=True)
        (datasets / NAME / "theirs").write_text("data")

    monkeypatch.setattr(minari_files.Writer, "_flush", late)
    assert main(["record", "CartPole-v0", "--episodes", "5", "--out", NAME]) == 2
    assert "exists" in capsys.readouterr().err
    assert [path.name for path in datasets.glob("some/*games*/*")] == ["theirs"]


def test_games_that_never_end_are_refused_before_memory_is_full(
    monkeypatch: pytest.MonkeyPatch, datasets: Path, capsys: Any
) -> None:
    monkeypatch.setattr(games, "MOST_BYTES", 1 << 20)
    words = ("--policy", "trained", "--episodes", "64", "--max-episode-steps", "0")
    assert main(["record", "CartPole-v0", *words, "--out", NAME]) == 2
    assert "take more than 1 MB" in capsys.readouterr().err
    assert not (datasets / NAME).exists()


def test_stopping_a_check_keeps_the_data_set(
    datasets: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(replay, "again", stop)
    assert main(["record", "CartPole-v0", "--episodes", "2", "--out", NAME, "--check"]) == 130
    assert "is kept" in capsys.readouterr().err
    assert (datasets / NAME).exists()


# ---- the page


def test_examples_of_the_page_work(capsys: Any) -> None:
    page = (ROOT / "docs" / "data_sets.md").read_text(encoding="utf-8")
    record(
        "Overcooked-v0",
        "--policy",
        "trained",
        "--sampled",
        "--episodes",
        "1",
        name="overcooked/trained-v0",
    )
    record("CartPole-v0", "--policy", "trained", "--episodes", "1", name="cartpole/trained-v0")
    for example in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        exec(example, {})
    assert "(400, 2" not in capsys.readouterr().err


# ---- what is refused


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["CartPole-v0", "--out", "some games"], "a data set is named"),
        (["CartPole-v0", "--out", "../games-v0"], "a data set is named"),
        (["CartPole-v0", "--out", ""], "a data set is named"),
        (["CartPole-v0", "--out", "games"], "a data set is named"),
        (["CartPole-v0", "--out", "x/games-v0"], "a folder of at least two"),
        (["CartPole-v0", "--out", NAME, "--greedy"], "--greedy is for policies of files"),
        (["CartPole-v0", "--out", "old-v0"], "exists"),
        (["CartPole-v9", "--out", NAME], "unknown environment"),
        (["CartPole-v0", "--out", NAME, "--episodes", "0"], "--episodes"),
        (["CartPole-v0", "--out", NAME, "--seed", "-1"], "--seed"),
        (["CartPole-v0", "--out", NAME, "--seed", str(2**63)], "--seed"),
        (["CartPole-v0", "--out", NAME, "--num-envs", "0"], "--num-envs"),
        (["CartPole-v0", "--out", NAME, "--gravity", "15..5"], "lowest value comes first"),
        (["CartPole-v0", "--out", NAME, "--gravity", "nan..5"], "gravity"),
        (["CartPole-v0", "--out", NAME, "--gravity", "5..9@0.5"], "a number or LOW..HIGH"),
        (["CartPole-v0", "--out", NAME, "--role", "cart"], "role"),
        (["CartPole-v0", "--out", NAME, "--role", "player", "--check"], "leave out --role"),
        (["CovidEconomy-v0", "--out", NAME], "spaces of their own"),
        (["CartPole-v0", "--out", NAME, "--policy", "gone.ckpt"], "does not exist"),
        (["Hanabi-v0", "--out", NAME, "--policy", "scripted"], "no scripted player"),
        (
            [
                "Flocking-v0",
                "--out",
                NAME,
                "--agent-count",
                "70000",
                "--agents",
                "together",
                "--max-episode-steps",
                "1",
            ],
            "at most 1,000 agents",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    words: list[str], says: str, datasets: Path, capsys: Any
) -> None:
    record("CartPole-v0", "--episodes", "1", name="old-v0")
    before = sorted(datasets.rglob("*"))
    assert main(["record", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and says in error, error
    assert sorted(datasets.rglob("*")) == before


def damaged(datasets: Path, how: str) -> None:
    data = datasets / NAME / "data"
    main_file, facts = data / "main_data.hdf5", data / "metadata.json"
    content = main_file.read_bytes()
    told = json.loads(facts.read_text())
    if how == "cut":
        main_file.write_bytes(content[: len(content) // 2])
    elif how == "noise":
        main_file.write_bytes(b"noise" * 99)
    elif how == "gone":
        main_file.unlink()
    elif how == "metadata cut":
        facts.write_text(facts.read_text()[:40])
    elif how == "foreign":
        del told["gpu_envs"]
        facts.write_text(json.dumps(told))
    elif how == "newer":
        told["gpu_envs"] = json.dumps({**json.loads(told["gpu_envs"]), "version": 99})
        facts.write_text(json.dumps(told))
    elif how.startswith("facts "):
        told["gpu_envs"] = how.removeprefix("facts ")
        facts.write_text(json.dumps(told))
    elif how == "shorter":
        import h5py

        with h5py.File(main_file, "a") as file:
            rewards = file["episode_0/rewards"]
            rewards.resize((len(rewards) - 1,))
    elif how == "nothing":
        shutil.rmtree(datasets / NAME)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("cut", "damaged"),
        ("noise", "damaged"),
        ("gone", "damaged"),
        ("metadata cut", "damaged"),
        ("facts [1]", "damaged"),
        ("facts 3", "damaged"),
        ('facts {"version": 1}', "damaged"),
        ('facts {"version": "1", "agents": "all"}', "damaged"),
        ("facts {", "damaged"),
        ("shorter", "damaged"),
        ("foreign", "not recorded by gpu_envs"),
        ("newer", "version 99"),
        ("nothing", "there is no data set"),
    ],
)
def test_damaged_data_sets_are_refused(how: str, says: str, datasets: Path) -> None:
    record("CartPole-v0", "--episodes", "2")
    damaged(datasets, how)
    with pytest.raises(ValueError, match=says):
        list(DataSet(NAME).games())


def test_without_the_library_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    assert main(["record", "CartPole-v0", "--out", NAME]) == 2
    error = capsys.readouterr().err
    assert "needs minari: " in error and "[data]" in error
