"""Overcooked's layouts: any valid one plays, any broken one is refused, files are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.envs.kitchens import (
    CRAMPED,
    MARKS,
    STEPS,
    Make,
    check_encoding,
    lively,
)

# ---- layouts of any shape


def random_layout(random: np.random.Generator, players: int) -> str:
    """A closed room with floor in one piece, all that cooking needs, and starts."""
    while True:
        width, height = random.integers(4, 12, 2)
        grid = np.full((height, width), "X")
        floor = [(int(random.integers(1, height - 1)), int(random.integers(1, width - 1)))]
        for _ in range(int(random.integers(players + 1, width * height))):
            y, x = floor[random.integers(len(floor))]
            dy, dx = STEPS[random.integers(4)]
            if 0 < y + dy < height - 1 and 0 < x + dx < width - 1:
                floor.append((y + dy, x + dx))
        floor = sorted(set(floor))
        for cell in floor:
            grid[cell] = " "
        beside = sorted({(y + dy, x + dx) for y, x in floor for dx, dy in STEPS} - set(floor))
        if len(floor) < players or len(beside) < 5:
            continue
        random.shuffle(beside)
        wanted = ["P", "D", "S", "OT"[random.integers(2)]]
        extra = random.choice(list("PDSOTXX"), size=random.integers(0, len(beside) - 3))
        for cell, mark in zip(beside, [*wanted, *extra], strict=False):
            grid[cell] = mark
        for k, index in enumerate(random.permutation(len(floor))[:players]):
            grid[floor[index]] = MARKS[k]
        return "\n".join("".join(row) for row in grid)


@pytest.mark.parametrize("seed", range(40))
def test_any_valid_layout_plays(make_simulator: Make, seed: int) -> None:
    random = np.random.default_rng(seed)
    players = int(random.integers(1, 7))
    simulator = make_simulator(
        "Overcooked-v0",
        3,
        layout=random_layout(random, players),
        player_count=int(random.choice([0, players])),
        dynamics=str(random.choice(["new", "old"])),
        cook_time=int(random.integers(0, 30)),
        max_episode_steps=int(random.choice([0, 45, 300])),
    )
    outputs = simulator.reset(seed=seed)
    for _ in range(60):
        check_encoding(simulator, outputs.obs)
        outputs = simulator.step(lively(random, (3, players)))


def spoil(random: np.random.Generator, text: str, players: int) -> tuple[str, str]:
    """A layout with one defect, and what the message says of it."""
    lines = [list(line) for line in text.split("\n")]
    kind = random.choice(["ragged", "letter", "border", "start", "gap", "twice", "missing"])
    y, x = int(random.integers(len(lines))), int(random.integers(len(lines[0])))
    inside = next((b, a) for b, row in enumerate(lines) for a, c in enumerate(row) if c == "1")
    if kind == "ragged":
        lines[max(y, 1)].append("X")
        message = f"line {max(y, 1) + 1} has {len(lines[0]) + 1} cells"
    elif kind == "letter":
        lines[y][x] = str(random.choice(list("xzuQ?Z")))
        message = f"line {y + 1}, column {x + 1}: unknown character"
    elif kind == "border":
        lines[0][x] = " "
        message = f"line 1, column {x + 1}: floor on the border"
    elif kind == "start":
        lines[y][0] = "1"
        message = f"line {y + 1}, column 1: a start on the border"
    elif kind == "gap":
        lines[inside[0]][inside[1]] = MARKS[players + 1]
        message = "players are numbered without gaps"
    elif kind == "twice":
        lines = [["1" if c == " " else c for c in row] for row in lines]
        lines[inside[0]][inside[1]] = "1"
        message = "a second start '1'" if sum(r.count("1") for r in lines) > 1 else ""
    else:
        gone = str(random.choice(list("PDS")))
        lines = [["X" if c == gone else c for c in row] for row in lines]
        message = f"layout: no {({'P': 'pot', 'D': 'dish', 'S': 'serving'})[gone]}"
    return "\n".join("".join(row) for row in lines), message


@pytest.mark.parametrize("seed", range(60))
def test_any_broken_layout_is_refused_by_its_defect(make_simulator: Make, seed: int) -> None:
    random = np.random.default_rng(1000 + seed)
    text, message = spoil(random, random_layout(random, 2), 2)
    if not message:
        pytest.skip("no room for a second start")
    with pytest.raises(ValueError) as problem:
        make_simulator("Overcooked-v0", 1, layout=text)
    assert message in str(problem.value), text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("trailing", [0, 1, 3])
def test_layout_files_are_read_whatever_their_line_ends(
    make_simulator: Make, tmp_path: Path, end: str, trailing: int
) -> None:
    file = tmp_path / "kitchen.layout"
    file.write_bytes((CRAMPED.replace("\n", end) + end * trailing).encode())
    simulator = make_simulator("Overcooked-v0", 2, layout=str(file), orders="OOO")
    named = make_simulator("Overcooked-v0", 2)
    assert (simulator.reset(seed=0).obs == named.reset(seed=0).obs).all()
    file.unlink()  # a save does not need it
    assert str(simulator.parameters["layout"]).split() == CRAMPED.split()
