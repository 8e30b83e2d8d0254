"""Overcooked: what is refused, and that nothing happens to a world by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]

CRAMPED = "XXPXX\nO  2O\nX1  X\nXDXSX"

BAD_PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"layout": "no_such_kitchen"}, "neither a layout .*cramped_room.* nor a file"),
    ({"layout": ""}, "neither a layout"),
    ({"layout": "/"}, "neither a layout"),
    ({"layout": "/dev/null"}, "neither a layout"),
    ({"layout": "\n"}, "no cells"),
    ({"layout": "\r\n\r\n"}, "no cells"),
    ({"layout": "X\nX"}, "0 floor cells, player_count=2"),
    ({"layout": CRAMPED.replace("P", "\t")}, "line 1, column 3: unknown character 0x09"),
    ({"layout": CRAMPED.replace("P", "\0")}, "unknown character 0x00"),
    ({"layout": CRAMPED.replace("P", "ö")}, "line 1, column 3: unknown character 0xc3"),
    ({"layout": "XXPXX\n O12O\nXDXSX"}, "line 2, column 1: floor on the border"),
    ({"layout": CRAMPED + "\n\nXXXXX"}, "line 5 has 0 cells, line 1 has 5"),
    ({"layout": "\n\n" + CRAMPED.replace("2O", "2OO")}, "line 4 has 6 cells, line 3 has 5"),
    ({"layout": CRAMPED.replace("2", "3")}, "but no start '2'"),
    ({"layout": CRAMPED.replace("P", "X")}, "no pot"),
    ({"layout": CRAMPED.replace("D", "X")}, "no dish dispenser"),
    ({"layout": CRAMPED.replace("S", "X")}, "no serving window"),
    ({"layout": CRAMPED.replace("O", "X")}, "no onion or tomato dispenser"),
    ({"layout": "PXXXX\nO  2O\nX1  X\nXDXSX"}, "pot .* stand beside: .* line 1, column 1"),
    ({"layout": "XXPXXX\nO12XDX\nXXSX X\nXXXXXX"}, "dish dispenser .* stand beside: .* line 2"),
    ({"layout": "forced_coordination", "player_count": 1}, "stand beside: out of the reach of 1"),
    ({"layout": "\n".join(["X" * 20] * 20)}, "20 x 20 cells, at most 256"),
    ({"player_count": 3}, "2 starts, player_count=3; with extra_starts=True"),
    ({"player_count": 7, "extra_starts": True}, "6 floor cells, player_count=7"),
    ({"player_count": 7, "random_start_positions": True}, "6 floor cells, player_count=7"),
    ({"layout": CRAMPED.replace("1", " ").replace("2", " "), "player_count": 0}, "no start"),
    ({"encoding": "lossless20", "layout": "many_player"}, "onions only.* tomatoes in line 3"),
    ({"encoding": "lossless20", "player_count": 3, "extra_starts": True}, "two players"),
    ({"encoding": "lossless20", "random_start_objects": 0.1}, "random_start_objects"),
    ({"orders": "OOX"}, "orders: 'OOX' is not a recipe"),
    ({"orders": "OOOO"}, "orders: 'OOOO' is not a recipe"),
    ({"orders": "ooo"}, "orders: 'ooo' is not a recipe"),
    ({"orders": "OOO,"}, "orders: '' is not a recipe"),
    ({"orders": "OOT,OTO"}, "OOT is named twice"),
    ({"orders": "OO", "dynamics": "old"}, "fewer than three"),
    ({"layout": "many_player", "dynamics": "old"}, "orders: T has fewer than three"),
    ({"bonus_orders": "TTT"}, r"bonus_orders: TTT is not among the orders \(OOO\)"),
    ({"recipe_values": "1,2"}, "recipe_values: 2 numbers for 1 orders"),
    ({"recipe_values": "-1"}, "recipe_values: '-1' is not a whole number"),
    ({"recipe_values": "99999999999999999999999"}, "recipe_values"),
    ({"recipe_times": "256"}, "recipe_times: '256' is not a whole number from 0 to 255"),
    ({"recipe_times": "x"}, "recipe_times: 'x'"),
    ({"onion_value": 5}, "onion_value and tomato_value are given together"),
    ({"tomato_time": 5}, "onion_time and tomato_time are given together"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_with_their_reason(
    make_simulator: Make, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator("Overcooked-v0", 2, **parameters)


def test_texts_are_read_in_linear_time_and_up_to_a_limit(make_simulator: Make) -> None:
    make_simulator("Overcooked-v0", 1, layout="\n" * 60_000 + "XXPXX\nO  2O\nX1  X\nXDXSX")
    with pytest.raises(ValueError, match="a text of 70021 bytes, at most 65536 are read"):
        make_simulator("Overcooked-v0", 1, layout="\n" * 70_000 + "XXPXX\nO  2O\nX1  X\nXDX")


@pytest.mark.parametrize("path", ["a\0b", "/dev/zero", "/", "a\udc80"])
def test_what_is_no_plain_file_is_refused(make_simulator: Make, path: str) -> None:
    with pytest.raises(ValueError, match=r"neither a layout|UTF-8"):
        make_simulator("Overcooked-v0", 1, layout=path)


def test_chefs_that_were_set_on_the_border_touch_no_other_memory(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 3, cook_time=1)
    simulator.reset(seed=1)
    others = [simulator.get("cells.item")[k].copy() for k in (0, 2)]
    for cell, facing in ((0, 0), (0, 3), (19, 1), (19, 2)):
        simulator.set("chefs.cell", cell, worlds=[1])
        simulator.set("chefs.facing", facing, worlds=[1])
        simulator.set("chefs.held", 3, worlds=[1])
        simulator.step(np.array([[4, 4], [5, 5], [4, 4]]))
        simulator.step(np.array([[4, 4], [3, 0], [4, 4]]))
        for before, k in zip(others, (0, 2), strict=True):
            assert (simulator.get("cells.item")[k] == before).all()
    beyond = (("chefs.facing", 4, 3), ("chefs.cell", 20, 19), ("chefs.cell", 259, 255))
    for column, value, most in beyond:
        with pytest.raises(
            ValueError, match=rf"{column}.* {most}.* got {value} for world 1, row 0"
        ):
            simulator.set(column, value, worlds=[1])
    simulator.set("cells.item", 31, worlds=[1])
    assert "pot" in simulator.text(1)
