"""Draw an episode: `python -m gpu_envs render ID --policy trained --out episode.mp4`.

One world is played, all of its agents by one policy, and drawn after each step.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.commands import videos
from gpu_envs.core import options, pictures
from gpu_envs.core.resets import SEED_LIMIT
from gpu_envs.faces.vector import VectorEnv
from gpu_envs.known import fields, registration
from gpu_envs.players import policy_files, scripted
from gpu_envs.terminal import flags
from gpu_envs.terminal.progress import Progress

_ROWS = 720  # the least, where no size is chosen
_FPS = 25  # where the environment has no time of its own
Choose = Callable[[Any, Any], Any]  # observations, action masks or None -> actions of all agents


# ---- the command line


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.lower().partition("x")
    if not (columns.isdecimal() and rows.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT, got {text!r}")
    return int(rows), int(columns)


def _parser(described: Sequence[fields.Field]) -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs render",
        usage="python -m gpu_envs render ID --out FILE [options]",
        allow_abbrev=False,
        description="Draw an episode; the environment's own parameters are listed by "
        "`render ID -h`.",
    )
    add = parser.add_argument
    add("id", metavar="ID", help="such as CartPole-v0")
    add("--out", required=True, type=Path, metavar="FILE", help="an .mp4, .gif or .png")
    policy_files.add_option(parser, "all agents")
    add("--seed", type=int, default=0, metavar="N", help="seed of world and policy (default 0)")
    add("--world", type=int, default=0, metavar="N", help="number of the world to draw (default 0)")
    add("--steps", type=int, metavar="N", help="most steps (default: whole episode)")
    add("--step", type=int, default=0, metavar="N", help="step that a .png shows (default 0)")
    add(
        "--view",
        metavar="VIEW",
        help="perspective, top, top:<k> (with a ring around agent k), both or agent:<k>; flat "
        "worlds: top, and agent:<k> or top:<k> where they mark agents",
    )
    add("--size", type=_size, metavar="WxH", help="picture size: 1280x720 (default: a fit)")
    add(
        "--samples",
        type=int,
        default=3,
        metavar="N",
        help="samples per side of a pixel (default 3)",
    )
    add("--fps", type=float, metavar="N", help="frames a second (default: real time)")
    add("--max-episode-steps", type=int, metavar="N", help="time limit; 0: none")
    flags.add_parameters(parser, described)
    return parser


def parse(argv: Sequence[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Read the command line; return the options, and the environment's parameters."""
    chosen, own = flags.for_environment(argv, _parser)
    _check(chosen)
    return chosen, own


def _check(chosen: argparse.Namespace) -> None:
    description = registration.find(chosen.id)
    if not description.get("scene"):
        raise ValueError(pictures.lack(description))
    errors.whole(chosen.seed, "--seed", 0, SEED_LIMIT - 1)
    errors.whole(chosen.world, "--world", 0, options.WORLD_NUMBERS - 1)
    errors.whole(chosen.step, "--step", 0, options.WORLD_LIMIT)
    if chosen.steps is not None:
        errors.whole(chosen.steps, "--steps", 0, options.WORLD_LIMIT)
    if chosen.fps is None:
        chosen.fps = float(description.get("render_fps", _FPS))
    if not 0.1 <= chosen.fps <= 1000:
        raise ValueError(f"--fps must be from 0.1 to 1000, got {chosen.fps:g}")
    videos.check(chosen.out, chosen.size or (0, 0))


# ---- the episode


def random_actions(env: VectorEnv, seed: int) -> Choose:
    """Return a function that draws legal actions of all rows uniformly."""
    env.action_space.seed(seed % 2**32)
    numbers = np.random.default_rng(seed)

    def choose(_: Any, mask: Any) -> Any:
        if mask is None:
            return env.action_space.sample()
        return np.argmax(numbers.random(mask.shape) + mask, axis=-1)

    return choose


def saved_actions(env: VectorEnv, path: Path) -> Choose:
    """Return a function that takes the likeliest legal actions of a file's policies."""
    choose: Choose = policy_files.team(path, env.simulator).together()
    return choose


def scripted_actions(env: VectorEnv) -> Choose:
    """Return a function that asks the environment's scripted player."""
    choose = scripted.for_all(env.simulator)
    return lambda _, __: choose()


def _choice(env: VectorEnv, policy: str, path: Path | None, seed: int) -> Choose:
    if policy == scripted.SCRIPTED:
        return scripted_actions(env)
    return saved_actions(env, path) if path else random_actions(env, seed)


def episode(env: VectorEnv, choose: Choose, seed: int) -> Iterator[int]:
    """Play until all agents have ended; yield the number of steps made, 0 first."""
    observations, infos = env.reset(seed=seed)
    over = np.zeros(env.num_envs, bool)
    steps = 0
    yield steps
    while not over.all():
        actions = choose(observations, infos.get("action_mask"))
        observations, _, terminated, truncated, infos = env.step(actions)
        over |= terminated | truncated
        steps += 1
        yield steps


def _world(chosen: argparse.Namespace, own: dict[str, Any]) -> VectorEnv:
    return VectorEnv(
        chosen.id, 1, device="cpu", first_world=chosen.world, autoreset_mode="Disabled", **own
    )


def _last_step(env: VectorEnv, chosen: argparse.Namespace) -> int | None:
    """Return the last step to draw; None for the end of the episode."""
    limits = [n for n in (chosen.steps, env.simulator.max_episode_steps or None) if n is not None]
    if not limits:
        raise ValueError(f"{env.simulator.name} has no time limit here: pass --steps")
    return min(limits)


def _choose_size(env: VectorEnv, chosen: argparse.Namespace) -> None:
    if chosen.size is None:
        rows, columns = env.simulator.picture_size()
        larger = max(1, _ROWS // rows)
        chosen.size = (larger * rows, larger * columns)


def _draw(env: VectorEnv, chosen: argparse.Namespace) -> pictures.Picture:
    _choose_size(env, chosen)
    return env.simulator.render(0, size=chosen.size, view=chosen.view, samples=chosen.samples)


def _write_picture(env: VectorEnv, chosen: argparse.Namespace, steps: Iterator[int]) -> str:
    made = 0
    for made in steps:
        env.simulator.note(0)  # charts show every step, drawn or not
        if made == chosen.step:
            break
    else:
        raise ValueError(f"--step {chosen.step}: the episode ended after {made} steps")
    chosen.out.write_bytes(videos.png(_draw(env, chosen)))
    return f"step {made}"


def _write_film(env: VectorEnv, chosen: argparse.Namespace, steps: Iterator[int]) -> str:
    last, made = _last_step(env, chosen), 0
    first = _draw_first(env, chosen, steps)
    with (
        Progress(f"drawing {env.simulator.name}", None if last is None else last + 1) as progress,
        videos.film(chosen.out, chosen.size, chosen.fps) as add,
    ):
        add(first)
        progress.step()
        for _ in itertools.islice(steps, last):
            add(_draw(env, chosen))
            progress.step()
            made += 1
    return f"{made + 1} pictures, {(made + 1) / chosen.fps:.1f} s"


def _draw_first(
    env: VectorEnv, chosen: argparse.Namespace, steps: Iterator[int]
) -> pictures.Picture:
    """Draw before the file is opened, so that a wrong size or view leaves no file."""
    next(steps)
    return _draw(env, chosen)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        chosen, own = parse(sys.argv[1:] if argv is None else argv)
        path = policy_files.file_of(chosen.id, chosen.policy)
        with closing(_world(chosen, policy_files.parameters_of(path, chosen.id) | own)) as env:
            choose = _choice(env, chosen.policy, path, chosen.seed)
            steps = episode(env, choose, chosen.seed)
            is_picture = chosen.out.suffix.lower() == ".png"
            what = (_write_picture if is_picture else _write_film)(env, chosen, steps)
        print(f"{chosen.out}: {what}")
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
