"""Pictures: what the interfaces return, the command line, and the files that it writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.commands import videos
from gpu_envs.core import pictures
from gpu_envs.known import extras

NAME = "CartPole-v0"
SMALL = (32, 48)
FLAT = "Flocking-v0"


def _simulator(worlds: int = 1) -> gpu_envs.Simulator:
    simulator = gpu_envs.Simulator(NAME, worlds, device="cpu")
    simulator.reset(seed=3)
    return simulator


def _is_picture(frame: Any, size: tuple[int, int]) -> bool:
    return type(frame) is np.ndarray and frame.dtype == np.uint8 and frame.shape == (*size, 3)


# Interfaces


def test_simulator_draws_each_world() -> None:
    simulator = _simulator(3)
    drawn = [simulator.render(world, size=SMALL) for world in range(3)]
    assert all(_is_picture(frame, SMALL) for frame in drawn)
    assert np.ptp(drawn[0]) > 100
    assert np.array_equal(drawn[1], simulator.render(1, size=SMALL))
    simulator.set("cart.x", [[2.0]], worlds=[1])
    assert not np.array_equal(drawn[1], simulator.render(1, size=SMALL))
    assert np.array_equal(drawn[2], simulator.render(2, size=SMALL))


def test_what_was_drawn_before_changes_no_picture() -> None:
    busy = _simulator(2)
    for world, x in ((1, 0.1), (1, 0.1), (1, 0.4), (0, 0.4), (1, -2.0)):
        alone = _simulator(2)
        for simulator in (busy, alone):
            simulator.set("cart.x", [[x]], worlds=[world])
            simulator.set("cart.angle", [[0.1]], worlds=[world])
        for view in ("perspective", "perspective", "top"):
            drawn = busy.render(world, size=(90, 160), view=view)
            assert np.array_equal(drawn, alone.render(world, size=(90, 160), view=view))


def test_cart_appears_where_it_is() -> None:
    simulator = _simulator()
    columns = []
    for x in (-2.0, 0.0, 2.0):
        simulator.set("cart.x", x)
        red, _, blue = np.moveaxis(simulator.render(size=(90, 160)).astype(int), -1, 0)
        columns.append(np.mean(np.nonzero(blue > red + 60)[1]) / 160)
    assert columns[0] < 0.3 < 0.45 < columns[1] < 0.55 < 0.7 < columns[2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 5}, TypeError, r"size must be \(rows, columns\), got 5"),
        ({"size": (1, 2, 3)}, TypeError, r"size must be \(rows, columns\)"),
        ({"size": (4, 64)}, ValueError, "size must be from 8 to 8192 rows and columns, got 4 x 64"),
        ({"size": (100000, 9)}, ValueError, "size must be from 8 to 8192 .*, got 100000 x 9"),
        ({"size": "big"}, TypeError, r"size must be \(rows, columns\), got 'big'"),
        ({"samples": 0}, ValueError, "samples must be between 1 and 8, got 0"),
        ({"samples": 9}, ValueError, "samples must be"),
        ({"view": "below"}, ValueError, "view must be 'perspective', 'top', 'both'"),
        ({"view": "agent:0"}, ValueError, "this scene has 0 agents to look with"),
        ({"world": 1}, ValueError, "world must be between 0 and 0"),
    ],
)
def test_bad_options_are_refused(options, error, message) -> None:
    with pytest.raises(error, match=message):
        _simulator().render(**options)


def test_environments_without_a_scene_say_so(troupe: str) -> None:
    simulator = gpu_envs.Simulator(troupe, 1, device="cpu")
    with pytest.raises(gpu_envs.errors.ResetNeeded):
        simulator.render()
    simulator.reset(seed=0)
    with pytest.raises(ValueError, match="Troupe-v0 has no pictures"):
        simulator.render()
    with pytest.raises(
        ValueError,
        match=r"Troupe-v0 has no pictures; render_mode of Tr.* must be one of: None; got",
    ):
        gpu_envs.make_vec(troupe, 2, render_mode="rgb_array")


def test_text_and_picture_are_modes_of_every_grid() -> None:
    for name in ("Overcooked-v0", "TagGrid-v0"):
        env = gpu_envs.make_vec(name, 2, device="cpu", render_mode="ansi")
        assert env.metadata["render_modes"] == ["ansi", "rgb_array"]
        env.reset(seed=1)
        texts = env.render()
        assert type(texts) is tuple and len(texts) == env.num_envs
        assert texts[0] == texts[env.agents_per_world - 1] == env.simulator.text(0)
        assert texts[-1] == env.simulator.text(1)
        drawn = gpu_envs.make_vec(name, 1, device="cpu", render_mode="rgb_array", render_size=SMALL)
        drawn.reset(seed=1)
        assert all(_is_picture(frame, SMALL) for frame in drawn.render())


def test_single_shows_its_text() -> None:
    env = gpu_envs.make("Overcooked-v0", player_count=1, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.unwrapped.simulator.text()


def test_games_without_pictures_name_what_they_have() -> None:
    said = pictures.lack({"id": "Chess-v0", "text": True})
    assert said == "Chess-v0 has no pictures, but is text: `python -m gpu_envs play Chess-v0`"


@pytest.mark.parametrize("make", [gpu_envs.make_vec, gpu_envs.parallel_env, gpu_envs.aec_env])
def test_who_has_no_pictures_or_no_text_says_so(make, troupe: str) -> None:
    with pytest.raises(ValueError, match=r"^Troupe-v0 has no pictures; .* None; got 'rgb"):
        make(troupe, render_mode="rgb_array")
    with pytest.raises(ValueError, match=r"^Troupe-v0 has no text; .* None; got 'ansi'"):
        make(troupe, render_mode="ansi")


def test_mirror_shows_a_world_of_another_simulator() -> None:
    """As for a GPU, whose worlds host code cannot look into."""
    simulator = _simulator(5)
    mirror = pictures.Mirror(
        NAME, simulator.parameters, simulator.max_episode_steps, simulator.instance["layout"]
    )
    for world in (4, 1):
        nothing = np.empty((0, 0), np.float32)
        mirrored = mirror.show(simulator._native, world).render(0, *SMALL, "", 2, nothing)
        assert np.array_equal(mirrored, simulator.render(world, size=SMALL))
    mirror.close()


@pytest.mark.parametrize("varies", [(), ("length",)])
def test_mirror_has_the_parameters_of_the_worlds_now(varies) -> None:
    simulator = gpu_envs.Simulator(NAME, 3, device="cpu", varies=varies)
    simulator.reset(seed=3)

    def drawn() -> Any:
        return [simulator.render(world, size=SMALL) for world in range(3)]

    simulator.device = "cuda:0"  # worlds that host code cannot look into
    before = drawn()
    simulator.set_parameters(length=[0.2, 0.9, 2] if varies else 0.9)
    after = drawn()
    simulator.device = "cpu"
    assert np.array_equal(after, drawn()) and not np.array_equal(after, before)
    simulator.close()


@pytest.mark.gpu
def test_worlds_of_a_gpu_are_drawn(on_gpu: Any) -> None:
    gpu = gpu_envs.Simulator(NAME, 5, device="cuda", arrays=on_gpu.name)
    cpu = gpu_envs.Simulator(NAME, 5, device="cpu")
    gpu.reset(seed=3)
    cpu.reset(seed=3)
    assert np.array_equal(gpu.render(4, size=SMALL), cpu.render(4, size=SMALL))
    gpu.close()


def test_vector_returns_a_picture_per_row() -> None:
    env = gpu_envs.make_vec(NAME, 3, device="cpu", render_mode="rgb_array", render_size=SMALL)
    assert env.metadata["render_modes"] == ["ansi", "rgb_array"]
    assert env.metadata["render_fps"] == 50
    env.reset(seed=3)
    frames = env.render()
    assert type(frames) is tuple and len(frames) == env.num_envs == 3
    assert all(_is_picture(frame, SMALL) for frame in frames)
    assert np.array_equal(frames[2], _simulator(3).render(2, size=SMALL))
    assert gpu_envs.make_vec(NAME, 2, device="cpu").render() is None


def test_single_follows_gymnasium() -> None:
    env = gymnasium.make(f"gpu_envs/{NAME}", render_mode="rgb_array", render_size=SMALL)
    env.reset(seed=3)
    assert _is_picture(env.render(), SMALL)
    assert env.unwrapped.metadata == {"render_modes": ["ansi", "rgb_array"], "render_fps": 50}


def test_parallel_draws_its_world() -> None:
    env = gpu_envs.parallel_env(NAME, render_mode="rgb_array", render_size=SMALL, render_view="top")
    assert env.metadata["render_modes"] == ["ansi", "human", "rgb_array"]
    env.reset(seed=3)
    assert np.array_equal(env.render(), _simulator().render(size=SMALL, view="top"))


@pytest.mark.parametrize("keywords", [{"render_size": 3}, {"render_view": 3}])
@pytest.mark.parametrize("make", [gpu_envs.make_vec, gpu_envs.make, gpu_envs.parallel_env])
def test_keywords_are_checked_at_once(make, keywords) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(keywords))} must be"):
        make(NAME, **keywords)


# Files


def _frames(path: Path) -> tuple[int, tuple[int, int]]:
    reader = pytest.importorskip("imageio_ffmpeg").read_frames(str(path))
    meta = next(reader)
    return sum(1 for _ in reader), meta["size"]


def test_mp4_has_a_picture_per_step(tmp_path, capsys) -> None:
    pytest.importorskip("imageio_ffmpeg")
    out = tmp_path / "episode.mp4"
    arguments = ["--size", "64x48", "--steps", "7", "--seed", "3", "--out", str(out)]
    assert main(["render", NAME, *arguments]) == 0
    assert capsys.readouterr().out == f"{out}: 8 pictures, 0.2 s\n"
    assert _frames(out) == (8, (64, 48))


def test_film_ends_with_the_episode(tmp_path, capsys) -> None:
    pytest.importorskip("imageio_ffmpeg")
    out = tmp_path / "episode.mp4"
    limit = ["--max-episode-steps", "3", "--sutton-barto-reward", "true"]
    assert main(["render", NAME, "--size", "64x48", "--out", str(out), *limit]) == 0
    assert _frames(out)[0] == 4


def test_gif_and_png_show_what_the_simulator_draws(tmp_path) -> None:
    image = pytest.importorskip("PIL.Image")
    common = ["render", NAME, "--seed", "3", "--size", "48x32", "--samples", "2", "--out"]
    assert main([*common, str(tmp_path / "a.gif"), "--steps", "4"]) == 0
    with image.open(tmp_path / "a.gif") as film:
        assert (film.n_frames, film.size) == (5, (48, 32))
    assert main([*common, str(tmp_path / "a.png")]) == 0
    with image.open(tmp_path / "a.png") as picture:
        assert np.array_equal(np.asarray(picture), _simulator().render(size=SMALL))


def test_flat_worlds_are_films_of_their_own_shape(tmp_path, capsys) -> None:
    image = pytest.importorskip("PIL.Image")
    out = tmp_path / "swarm.gif"
    arguments = ["render", FLAT, "--agent-count", "300", "--steps", "3", "--out", str(out)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{out}: 4 pictures, 0.2 s\n"
    with image.open(out) as film:
        assert (film.n_frames, film.size) == (4, (720, 720))
    first = out.read_bytes()
    assert main(arguments) == 0
    assert out.read_bytes() == first
    assert main([*arguments, "--seed", "1"]) == 0
    assert out.read_bytes() != first


def test_flat_worlds_have_one_view(tmp_path, capsys) -> None:
    out = tmp_path / "a.png"
    common = ["render", FLAT, "--agent-count", "9", "--out", str(out), "--view"]
    assert main([*common, "both"]) == 2
    error = capsys.readouterr().err
    assert "this scene is flat and seen from above ('top') alone, got 'both'" in error
    assert not out.exists()
    assert main([*common, "top"]) == 0


def test_flat_worlds_are_rgb_arrays() -> None:
    env = gpu_envs.make_vec(FLAT, 2, device="cpu", agent_count=3, render_mode="rgb_array")
    env.reset(seed=3)
    frames = env.render()
    assert len(frames) == env.num_envs == 6
    assert all(_is_picture(frame, (720, 720)) for frame in frames)
    assert frames[0] is frames[2] and not np.array_equal(frames[0], frames[3])


def test_png_shows_the_step_and_world_asked_for(tmp_path) -> None:
    out = tmp_path / "a.png"
    common = ["render", NAME, "--seed", "3", "--size", "48x32", "--samples", "2"]
    assert main([*common, "--world", "2", "--out", str(out)]) == 0
    assert out.read_bytes() == videos.png(_simulator(3).render(2, size=SMALL))
    first = out.read_bytes()
    assert main([*common, "--world", "2", "--step", "3", "--out", str(out)]) == 0
    assert out.read_bytes() != first


def test_saved_policy_acts(tmp_path, capsys) -> None:
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("gpu_envs.train.evaluate", reason="needs gpu_envs[train]")
    from tests.gpu_envs.train import fresh

    path, out = fresh.write(tmp_path / "best.ckpt", NAME, memory=8), tmp_path / "a.png"
    common = ["render", NAME, "--size", "48x32", "--policy", str(path), "--out", str(out)]
    assert main([*common, "--step", "5"]) == 0
    first = out.read_bytes()
    assert main([*common, "--step", "5"]) == 0
    assert out.read_bytes() == first
    assert main([*common, "--step", "0"]) == 0
    assert out.read_bytes() != first


def test_library_that_is_missing_names_the_extra(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert main(["render", NAME, "--out", str(tmp_path / "a.mp4")]) == 2
    assert extras.command("render") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPol-v0", "--out", "a.png"], "did you mean 'CartPole-v0'"),
        ([NAME, "--out", "a.avi"], "--out must end in .mp4, .gif, .png, got 'a.avi'"),
        ([NAME, "--out", "nowhere/a.png"], "there is no folder 'nowhere'"),
        ([NAME, "--out", "a.mp4", "--size", "65x48"], "the size of an .mp4 must be even"),
        ([NAME, "--out", "a.png", "--view", "below"], "view must be 'perspective'"),
        ([NAME, "--out", "a.png", "--step", "900"], "the episode ended after"),
        ([NAME, "--out", "a.gif", "--max-episode-steps", "0", "--fps", "0"], "--fps must be from"),
        (
            [NAME, "--out", "a.png", "--policy", "no.ckpt"],
            "--policy: the file 'no.ckpt' does not exist",
        ),
        ([NAME, "--out", "a.png", "--seed", "-1"], "--seed must be"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(
    tmp_path, monkeypatch, capsys, arguments, message
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_pictures_leaves_no_file(tmp_path, monkeypatch, capsys, troupe: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", troupe, "--out", "a.png"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {troupe} has no pictures")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], [NAME], ["--out", "a.png"], [NAME, "--size", "9"]])
def test_wrong_usage_exits(capsys, arguments) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["render", *arguments])
    assert caught.value.code == 2
