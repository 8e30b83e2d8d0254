"""SokobanGrid: the bank of levels, solutions played out, levels of one's own, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.envs.sokoban_levels import (
    ACTIONS,
    GRADES,
    SPLITS,
    WAYS,
    bank,
    counts,
    fewest_pushes,
    part,
    solutions,
    text_of,
    walk,
)

LEAST = {"easy": (0, 8), "medium": (9, 19), "hard": (20, 1023)}
FULL = """##########
#        #
# @$.    #
#  $.    #
#  $.    #
#  $.    #
#        #
#        #
#        #
##########
"""


def _images(cells: np.ndarray) -> list[np.ndarray]:
    """Return levels turned and mirrored in all ways."""
    turned = [np.rot90(cells, k, (1, 2)) for k in range(4)]
    return [np.ascontiguousarray(level) for each in turned for level in (each, each[:, :, ::-1])]


# ---- the bank


def test_bank_is_complete() -> None:
    cells, pushes = bank()
    sizes = [sum(counts()[split, grade] for grade in GRADES) for split in SPLITS]
    assert sizes == [100_000, 1000, 1000]
    assert [counts()[split, "hard"] for split in SPLITS] == [20_000, 200, 200]
    for split in SPLITS:
        for grade, (low, high) in LEAST.items():
            there = pushes[part(split, grade)]
            assert low <= there.min()
            assert there.max() <= high
    found = {number: (cells == number).sum((1, 2)) for number in range(2, 7)}
    assert (found[4] == 4).all()
    assert not found[3].any()
    assert (found[2] + found[6] == 4).all()  # a player may begin on a goal
    assert (found[5] + found[6] == 1).all()


def test_no_two_levels_are_alike_in_any_split() -> None:
    cells, _ = bank()
    images = np.stack([image.reshape(len(cells), -1) for image in _images(cells)])
    as_bytes = images.view(np.dtype((np.void, 100)))[:, :, 0]
    least = [min(row.tobytes() for row in column) for column in as_bytes.T]
    assert len(set(least)) == len(cells)


def test_pushes_of_a_sample_are_the_fewest() -> None:
    cells, pushes = bank()
    for grade, count in {"easy": 20, "medium": 6}.items():
        for k in range(*part("test", grade).indices(len(cells))[:2], 300 // count):
            assert fewest_pushes(cells[k]) == pushes[k]


def test_solutions_are_played_to_the_last_digit(make_simulator: Any) -> None:
    cells, pushes = bank()
    chosen = [range(len(cells))[part("test", grade)][::4][:67] for grade in GRADES]
    for grade, numbers in zip(GRADES, chosen, strict=True):
        first = part("test", grade).start
        for k, solution in zip(numbers, solutions(cells[list(numbers)]), strict=True):
            assert len(solution) == pushes[k]
            _play(make_simulator, grade, k - first, cells[k], solution)


def _play(
    make_simulator: Any, grade: str, level: int, cells: np.ndarray, solution: list[Any]
) -> None:
    simulator = make_simulator(
        "SokobanGrid-v0",
        1,
        split="test",
        difficulty=grade,
        max_episode_steps=0,
        autoreset_mode="Disabled",
    )
    outputs = simulator.reset(seed=1, options={"level": level, "symmetry": 0})
    shown = np.asarray(outputs.obs)[0, 0]
    assert np.array_equal(shown, cells)
    total, steps = 0.0, 0
    for box, letter in solution:
        at = tuple(np.argwhere(shown >= 5)[0].tolist())
        rows, columns = WAYS[letter]
        for action in [*walk(shown, at, (box[0] - rows, box[1] - columns)), ACTIONS.index(letter)]:
            assert not outputs.terminated.any()
            outputs = simulator.step(np.array([[action]]))
            total += float(outputs.reward[0, 0])
            steps += 1
        shown = np.asarray(outputs.obs)[0, 0].copy()
    assert outputs.terminated.all()
    assert outputs.true_objective[0, 0] == 1
    assert total == pytest.approx(4 + 10 - 0.1 * steps, abs=1e-3)
    simulator.close()


# ---- what episodes draw


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("difficulty", ["any", *GRADES])
def test_episodes_play_the_levels_that_were_chosen(make_simulator, split, difficulty) -> None:
    simulator = make_simulator(
        "SokobanGrid-v0", 500, split=split, difficulty=difficulty, symmetries=False
    )
    shown = np.asarray(simulator.reset(seed=2).obs)[:, 0]
    levels = simulator.get("player.level").ravel()
    grades = GRADES if difficulty == "any" else [difficulty]
    cells = np.concatenate([bank()[0][part(split, grade)] for grade in grades])
    assert np.array_equal(shown, cells[levels])
    assert levels.max() > 0.9 * len(cells)
    assert len(np.unique(levels)) > 150


def test_each_image_is_as_likely(make_simulator) -> None:
    simulator = make_simulator("SokobanGrid-v0", 8000, difficulty="easy")
    simulator.reset(seed=3)
    drawn = np.bincount(simulator.get("player.symmetry").ravel(), minlength=8)
    assert ((drawn > 880) & (drawn < 1120)).all()


def test_images_are_turned_and_mirrored(make_simulator) -> None:
    simulator = make_simulator("SokobanGrid-v0", 1, split="test")
    shown = {
        np.asarray(simulator.reset(seed=1, options={"level": 5, "symmetry": k}).obs).tobytes()
        for k in range(8)
    }
    level = bank()[0][part("test", "easy")][5:6].astype(np.uint8)
    assert shown == {image.tobytes() for image in _images(level)}


@pytest.mark.parametrize(("low", "high"), [(0, 4), (5, 6), (7, 12), (19, 20), (30, 33)])
def test_a_range_of_pushes_is_played(make_simulator, low: int, high: int) -> None:
    simulator = make_simulator("SokobanGrid-v0", 2000, pushes_low=low, pushes_high=high)
    simulator.reset(seed=2)
    every = np.sort(bank()[1][:100_000])
    within = every[(every >= low) & (every <= high)]
    played = every[simulator.get("player.level").ravel()]
    assert set(played) == set(within)
    share = (within == within.min()).mean()
    assert (played == within.min()).mean() == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize(
    ("difficulty", "low", "high", "played"),
    [("any", 0, 3, 4), ("easy", 9, 30, 8), ("hard", 0, 3, 20), ("any", 1000, 1023, 49)],
)
def test_where_no_level_has_so_many_pushes_the_nearest_are_played(
    make_simulator, difficulty: str, low: int, high: int, played: int
) -> None:
    simulator = make_simulator(
        "SokobanGrid-v0", 200, difficulty=difficulty, pushes_low=low, pushes_high=high
    )
    simulator.reset(seed=2)
    grades = GRADES if difficulty == "any" else [difficulty]
    pushes = np.concatenate([bank()[1][part("train", grade)] for grade in grades])
    levels = simulator.get("player.level").ravel()
    assert set(pushes[levels]) == {played}
    assert len(np.unique(levels)) > min((pushes == played).sum(), 100) // 2


def test_pushes_differ_by_world_from_the_next_episode_on(make_simulator) -> None:
    simulator = make_simulator("SokobanGrid-v0", 300, varies=("pushes_low", "pushes_high"))
    simulator.reset(seed=2)
    before = simulator.get("player.level").copy()
    wanted = np.arange(300) % 16 + 4
    simulator.set_parameters(pushes_low=wanted, pushes_high=wanted)
    assert np.array_equal(simulator.get("player.level"), before)
    simulator.reset(seed=3)
    every = np.sort(bank()[1][:100_000])
    assert np.array_equal(every[simulator.get("player.level").ravel()], wanted)
    with pytest.raises(ValueError, match="pushes_low is above pushes_high"):
        simulator.set_parameters(pushes_low=9, pushes_high=8)


# ---- observations


def test_planes_around_the_player_are_those_of_the_board(make_simulator) -> None:
    around, board = (
        make_simulator("SokobanGrid-v0", 100, encoding=encoding, difficulty="easy")
        for encoding in ("around", "planes")
    )
    near, far = around.reset(seed=4).obs, board.reset(seed=4).obs
    rng, seen = np.random.default_rng(5), set()
    for _ in range(100):
        for shown, planes in zip(np.asarray(near)[:, 0], np.asarray(far)[:, 0], strict=True):
            row, column = np.argwhere(planes[:, :, 3])[0].tolist()
            wide = np.zeros((24, 24, 3), np.uint8)
            wide[:, :, 0] = 1
            wide[7:17, 7:17] = planes[:, :, :3]
            assert np.array_equal(shown, wide[row : row + 15, column : column + 15])
            seen.add((row, column))
        actions = rng.integers(0, 4, (100, 1))
        near, far = around.step(actions).obs, board.step(actions).obs
    assert len(seen) == 64


# ---- levels of one's own


def test_levels_from_a_file_are_those_of_the_text(make_simulator, tmp_path: Path) -> None:
    cells = bank()[0][:3]
    text = "".join(f"; {k}\r\n" + text_of(level) for k, level in enumerate(cells))
    (tmp_path / "levels.txt").write_text(text)
    for given in (text, str(tmp_path / "levels.txt")):
        simulator = make_simulator("SokobanGrid-v0", 1, levels=given, symmetries=False)
        for k, level in enumerate(cells):
            shown = simulator.reset(seed=1, options={"level": k}).obs
            assert np.array_equal(np.asarray(shown)[0, 0], level)
        last = simulator.reset(seed=1, options={"level": 1000}).obs
        assert np.array_equal(np.asarray(last)[0, 0], cells[-1])


def test_boxes_and_players_may_begin_on_goals(make_simulator) -> None:
    lines = FULL.splitlines()
    lines[2], lines[5] = "# +$     #", "#  *     #"
    text = "\n".join([*lines, ""])
    simulator = make_simulator("SokobanGrid-v0", 1, levels=text, symmetries=False)
    shown = np.asarray(simulator.reset(seed=1).obs)[0, 0]
    assert shown[2, 2] == 6
    assert shown[5, 3] == 3


def test_a_save_does_not_load_where_the_levels_are_others(make_simulator, tmp_path: Path) -> None:
    path = tmp_path / "levels.txt"
    path.write_text(FULL)
    saved = make_simulator("SokobanGrid-v0", 2, levels=str(path))
    saved.reset(seed=1)
    data = saved.save()
    make_simulator("SokobanGrid-v0", 2, levels=str(path)).load(data)
    path.write_text(FULL.replace("# @$.", "#@ $."))
    with pytest.raises(ValueError, match="assets"):
        make_simulator("SokobanGrid-v0", 2, levels=str(path)).load(data)


WRONG = {
    "an empty text": "\n\n",
    "a short row": FULL.replace("#  $.    #", "#  $.   #", 1),
    "a long row": FULL.replace("#  $.    #", "#  $.     #", 1),
    "an open border": FULL.replace("#  $.    #", "#  $.     ", 1),
    "an open roof": FULL.replace("##########", "#### #####", 1),
    "a strange mark": FULL.replace("#        #", "#   o    #", 1),
    "a tab": FULL.replace("#        #", "#\t       #", 1),
    "two players": FULL.replace("#        #", "#   @    #", 1),
    "no player": FULL.replace("@", " "),
    "five boxes": FULL.replace("#        #", "#   $    #", 1),
    "three boxes": FULL.replace("$", " ", 1),
    "five goals": FULL.replace("#        #", "#   .    #", 1),
    "three goals": FULL.replace(".", " ", 1),
    "nine rows": FULL.replace("#        #\n", "", 1),
    "eleven rows": FULL + "##########\n",
    "two levels that touch": FULL + FULL,
    "bytes": "\x00\xff\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_wrong_levels_are_refused_with_their_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.txt").write_text(text, encoding="latin-1")
    for given in (text, str(tmp_path / "wrong.txt")):
        with pytest.raises(ValueError, match=r"line \d+: |has no levels"):
            gpu_envs.Simulator("SokobanGrid-v0", 1, device="cpu", levels=given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": "no/such/file.txt"}, "'no/such/file.txt' is missing"),
        ({"levels": "/"}, "file"),
        ({"levels": FULL, "split": "valid"}, "leave them out beside levels"),
        ({"levels": FULL, "difficulty": "hard"}, "leave them out beside levels"),
        ({"levels": FULL, "pushes_low": 1}, "leave them out beside levels"),
        ({"levels": FULL, "pushes_high": 8}, "leave them out beside levels"),
        ({"pushes_low": 5, "pushes_high": 4}, "pushes_low is above pushes_high"),
        ({"pushes_low": -1}, "pushes_low"),
        ({"pushes_high": 1024}, "pushes_high"),
        ({"levels": 3}, "levels"),
        ({"split": "training"}, "split"),
        ({"difficulty": "harder"}, "difficulty"),
        ({"encoding": "pixels"}, "encoding"),
        ({"symmetries": 2}, "symmetries"),
        ({"step_reward": 1e9}, "step_reward"),
        ({"goal_reward": float("nan")}, "goal_reward"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        gpu_envs.Simulator("SokobanGrid-v0", 1, device="cpu", **options)


@pytest.mark.parametrize(
    "options", [{"level": -2}, {"level": 2**31}, {"symmetry": 8}, {"symmetry": -2}, {"level": 0.5}]
)
def test_wrong_reset_options_are_refused(make_simulator, options: dict[str, Any]) -> None:
    simulator = make_simulator("SokobanGrid-v0", 1)
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        simulator.reset(seed=1, options=options)


def test_random_bytes_never_harm(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    marks = np.array(list("# .$@*+;\n\r#####"))
    for _ in range(300):
        text = "".join(random.choice(marks, random.integers(1, 300)))
        try:
            simulator = gpu_envs.Simulator("SokobanGrid-v0", 1, device="cpu", levels=text + "\n")
        except ValueError:
            continue
        simulator.reset(seed=1)
        simulator.step(np.zeros((1, 1), np.int64))
