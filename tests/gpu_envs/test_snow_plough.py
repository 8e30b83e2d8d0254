"""The guide's example: built as any header of one's own, solved by a policy, and shown bare."""

from __future__ import annotations

import textwrap
from pathlib import Path

HEADER = Path(__file__).parents[2] / "examples" / "snow_plough" / "snow_plough.hpp"
PLAY = textwrap.dedent("""
    import gymnasium, numpy as np
    import gpu_envs

    def towards_snow(view):
        snow, plough = view.reshape(2, 8, 8)
        (y, x), cells = np.argwhere(plough)[0], np.argwhere(snow)
        if not len(cells):
            return 0
        to_y, to_x = cells[np.abs(cells - (y, x)).sum(axis=1).argmin()]
        return 0 if to_y < y else 1 if to_y > y else 2 if to_x < x else 3

    for name, policy in (("looks", towards_snow), ("stays", lambda view: 0)):
        env = gymnasium.make_vec("gpu_envs/SnowPlough-v0", num_envs=50, device="cpu", snowfall=0.05)
        obs, infos = env.reset(seed=3)
        first = obs[:, :64].sum()
        assert (obs[:, 64:].sum(axis=1) == 1).all()
        paid = over = 0
        for step in range(200):
            obs, reward, terminated, truncated, infos = env.step([policy(row) for row in obs])
            paid += reward.sum()
            over += terminated.sum()
        print(name, int(over), paid > first)
    env = gymnasium.make("gpu_envs/SnowPlough-v0", device="cpu", render_mode="rgb_array")
    env.reset(seed=0)
    print(env.render().shape)
    print(env.unwrapped.simulator.text(0))
""")


def test_example_is_built_as_a_header_of_ones_own_and_can_be_solved(package) -> None:
    done = package.command("build", str(HEADER))
    assert done.returncode == 0, done.stderr
    played = package.run(PLAY)
    assert played.returncode == 0, played.stderr
    looks, stays, *shown = played.stdout.splitlines()
    name, solved, paid = looks.split()
    assert name == "looks"
    assert int(solved) >= 50
    assert paid == "True"
    assert stays.split()[1:] == ["0", "False"]
    assert any("P" in line and len(line) == 8 for line in shown)


UNDESCRIBED = textwrap.dedent("""
    import re
    import gymnasium
    import gpu_envs

    env = gymnasium.make("gpu_envs/BarePlough-v0", device="cpu", render_mode="rgb_array")
    assert {"ansi", "rgb_array"} <= set(env.metadata["render_modes"])
    env.reset(seed=0)
    look = env.unwrapped.simulator
    text = re.sub(r"\\x1b\\[[0-9;]*m", "", look.text(0))
    *rows, legend = text.splitlines()
    snow = look.get("square.lies").reshape(8, 8)
    x, y = int(look.get("driver.x")[0, 0]), int(look.get("driver.y")[0, 0])
    wanted = [["#" if lies else "." for lies in row] for row in snow]
    wanted[y][x] = "D"
    assert rows == ["".join(row) for row in wanted], text
    assert legend == "# square.lies  D driver"
    picture = env.render()
    side = picture.shape[0] // 8
    middle = picture[side // 2 :: side, side // 2 :: side].astype(int)
    assert picture.shape[0] == picture.shape[1]
    other = [(r, c) for r in range(8) for c in range(8) if (r, c) != (y, x)]
    kinds = {bool(snow[cell]): tuple(middle[cell]) for cell in other}
    assert kinds[True] != kinds[False]
    assert all(tuple(middle[cell]) == kinds[bool(snow[cell])] for cell in other)
    assert tuple(middle[y, x]) not in kinds.values()
""")


def test_grid_that_describes_no_text_and_no_picture_has_both(package, tmp_path: Path) -> None:
    bare = HEADER.read_text().replace("SnowPlough-v0", "BarePlough-v0")
    bare = bare.replace("\n      .text = &text,\n      .scene = &scene};", "};")
    assert "&scene" not in bare
    (tmp_path / "bare_plough.hpp").write_text(bare.replace("snow_plough", "bare_plough"))
    done = package.command("build", str(tmp_path / "bare_plough.hpp"))
    assert done.returncode == 0, done.stderr
    seen = package.run(UNDESCRIBED)
    assert seen.returncode == 0, seen.stderr
