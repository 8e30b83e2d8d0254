"""`agent=`: one ego among partners, in any environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gpu_envs
from gpu_envs.players import ego_rows

WORLDS = 4
MODES = ["SameStep", "NextStep", "Disabled"]
GAMES: dict[str, dict[str, Any]] = {
    "Hanabi-v0": {"preset": "very_small", "player_count": 3},
    "Overcooked-v0": {"max_episode_steps": 20},
}
every_mode = pytest.mark.parametrize("mode", MODES)
Made = Callable[..., gpu_envs.VectorEnv]
Policies = Callable[[str], list[Path]]


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Policies]:
    """Return two files of policies of a game: the first remembers, and both differ."""
    torch = pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.players.test_other_players import _loosen
    from tests.gpu_envs.train import fresh

    folder = tmp_path_factory.mktemp("policies")

    def made(name: str) -> list[Path]:
        paths = [folder / f"{name}-{memory}.ckpt" for memory in (5, 0)]
        for path, memory in zip(paths, (5, 0), strict=True):
            if not path.exists():
                parameters = {k: v for k, v in GAMES[name].items() if k != "max_episode_steps"}
                fresh.write(path, name, parameters, hidden="8", memory=memory)
                _loosen(path)
        return paths

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more would slow down small networks
    yield made
    torch.set_num_threads(threads)


def _choice(mask: Any, step: int, world: int, choices: int) -> int:
    """Return the ego's action: a legal one, drawn from step and world alone."""
    legal = np.arange(choices) if mask is None else np.flatnonzero(mask)
    number: int = np.random.default_rng([step, world]).choice(legal)
    return number


def _played(env: gpu_envs.VectorEnv, steps: int, seed: int = 3, first: int = 0) -> list[Any]:
    """Return what each step of the ego returns, in SameStep, with what was seen before it."""
    obs, infos = env.reset(seed=seed)
    seen = []
    for step in range(steps):
        masks = infos.get("action_mask", [None] * env.num_envs)
        choices = env.single_action_space.n
        actions = [_choice(m, step, first + w, choices) for w, m in enumerate(masks)]
        before = np.array(obs)
        obs, reward, terminated, truncated, infos = env.step(actions)
        over = np.array(terminated | truncated)
        rows = [before, np.array(actions), np.array(reward), over]
        if "final_obs" in infos:
            stats = infos["episode_stats"]
            rows += [np.array(infos["final_obs"]), np.array(stats["r"]), np.array(stats["l"])]
        seen.append(rows)
    return seen


class ByHand:
    """The same game in a simulator of one world, whose players are asked one by one."""

    def __init__(self, name: str, ego: int, files: dict[int, Path], world: int, **options) -> None:
        from gpu_envs.policies.teams import Team

        self.simulator = gpu_envs.Simulator(name, 1, device="cpu", first_world=world, **options)
        self.ego, self.world, self.earned = ego, world, np.float32(0)
        self.teams = {n: Team.load(path, self.simulator) for n, path in files.items()}

    def play(self, steps: int) -> list[Any]:
        self.outputs = self.simulator.reset(seed=3)
        self._begin()
        self._wait()
        return [self._step(step) for step in range(steps)]

    def _begin(self) -> None:
        """Let the players forget the last episode."""
        self.players = {number: team.players()[number] for number, team in self.teams.items()}

    def _mask(self, agent: int) -> Any:
        masks = self.outputs.action_mask
        return None if masks is None else np.array(masks[0, agent])

    def _move(self, own: int) -> bool:
        """Let all move; return whether the episode ended."""
        moves = {n: play(self.outputs.obs[0, n], self._mask(n)) for n, play in self.players.items()}
        actions = [own if n == self.ego else moves[n] for n in range(len(moves) + 1)]
        self.outputs = self.simulator.step([actions])
        self.earned += self.outputs.reward[0, self.ego]
        over = bool(self.outputs.ended[0, self.ego])
        if over:
            self._begin()
        return over

    def _is_on_turn(self) -> bool:
        return bool(self.outputs.agent_active[0, self.ego])

    def _wait(self) -> None:
        while not self._is_on_turn():
            if self._move(int(self._mask(self.ego).argmax())):
                self.earned = np.float32(0)  # an episode without a turn of the ego

    def _step(self, step: int) -> list[Any]:
        before, ego = self.outputs.obs[0, self.ego], self.ego
        choices = int(self.simulator.single_action_space.n)
        own = _choice(self._mask(ego), step, self.world, choices)
        over = self._move(own)
        while not over and not self._is_on_turn():
            over = self._move(int(self._mask(ego).argmax()))
        end, reward, self.earned = self.outputs, self.earned, np.float32(0)
        if over:
            self._wait()
        final = end.final_obs[0, ego]
        stats = end.episode_return[0, ego], end.episode_length[0, ego]
        return [before, own, reward, over, final, *stats]


@pytest.mark.parametrize(
    ("name", "ego"),
    [("Hanabi-v0", 0), ("Hanabi-v0", 2), ("Overcooked-v0", 0), ("Overcooked-v0", 1)],
)
def test_ego_among_frozen_policies_is_the_game_played_by_hand(
    make_vec: Made, policies: Policies, name: str, ego: int
) -> None:
    options, files = GAMES[name], policies(name)
    names = gpu_envs.Simulator(name, 1, device="cpu", **options).agent_names
    theirs = [n for n in range(len(names)) if n != ego]
    chosen = {n: files[k] for k, n in enumerate(theirs)}
    others = {names[n]: path for n, path in chosen.items()}
    env = make_vec(name, WORLDS, agent=names[ego], others=others, **options)
    steps = 50
    seen, ends, sums = _played(env, steps), 0, 0.0
    for world in range(WORLDS):
        alone = ByHand(name, ego, chosen, world, ends="world", **options).play(steps)
        for mine, yours in zip(seen, alone, strict=True):
            for many, one in zip(mine, yours, strict=True):
                assert np.array_equal(many[world], one)
            ends += int(yours[3])
            sums += abs(float(yours[2]))
    assert ends > WORLDS
    assert sums or name == "Overcooked-v0"


@every_mode
@pytest.mark.parametrize("agent", ["player_0", "player_2", "drawn"])
def test_rewards_of_steps_are_the_return_and_every_row_acts(
    make_vec: Made, mode: str, agent: str
) -> None:
    """Cards are played at once, so that partners score before the ego's first turn."""

    def play_a_card(role: str, obs: Any, mask: Any) -> Any:
        return np.where(mask[..., 1] > 0, 1, mask.argmax(-1))  # the second is the first to play

    options = {**GAMES["Hanabi-v0"], "autoreset_mode": mode, "keep_score": True}
    env = make_vec("Hanabi-v0", 8, agent=agent, others=play_a_card, **options)
    _, infos = env.reset(seed=5)
    total, ends, waits = np.zeros(8), 0, np.zeros(8, bool)
    for _ in range(40):
        assert (infos["agent_active"] != 0)[~waits].all()
        actions = infos["action_mask"].argmax(-1)
        _, reward, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        assert not reward[waits].any() and not over[waits].any()  # the step of a reset in NextStep
        total += reward
        assert np.array_equal(infos["_episode_stats"], over)
        assert np.array_equal(infos["episode_stats"]["r"][over], total[over])
        total[over], ends = 0, ends + int(over.sum())
        waits = over if mode == "NextStep" else waits
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
            infos = env.observe()[1]
    assert ends > 20
    env.check()


@pytest.mark.parametrize("agent", ["player_1", "drawn"])
def test_modes_play_the_same_episodes(make_vec: Made, policies: Policies, agent: str) -> None:
    """A step of a reset in NextStep is one more; else rows are those of SameStep."""
    lines = {}
    for mode in MODES:
        others = [*policies("Hanabi-v0"), "noop"]  # chance counts the step of a reset too
        options = {**GAMES["Hanabi-v0"], "autoreset_mode": mode}
        env = make_vec("Hanabi-v0", WORLDS, agent=agent, others=others, **options)
        obs, infos = env.reset(seed=5)
        line: list[list[Any]] = [[] for _ in range(WORLDS)]
        waits = np.zeros(WORLDS, bool)
        for _ in range(60):
            rows = infos["action_mask"].argmax(-1)
            before = np.array(obs)
            obs, reward, terminated, truncated, infos = env.step(rows)
            over = terminated | truncated
            for world in np.flatnonzero(~waits):
                line[world].append((before[world].tobytes(), reward[world], over[world]))
            waits = over if mode == "NextStep" else waits
            if mode == "Disabled" and over.any():
                env.reset(options={"reset_mask": over})
                obs, infos = env.observe()
        lines[mode] = line
    for world in range(WORLDS):
        shortest = min(len(lines[mode][world]) for mode in MODES)
        assert shortest > 30
        assert len({str(lines[mode][world][:shortest]) for mode in MODES}) == 1


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_halves_are_whole_steps(make_vec: Made, policies: Policies, mode: str) -> None:
    others = [policies("Hanabi-v0")[0], "random"]
    options = {**GAMES["Hanabi-v0"], "autoreset_mode": mode, "agent": "drawn", "others": others}
    whole, some = (make_vec("Hanabi-v0", WORLDS, **options) for _ in range(2))
    some.reset(seed=4)
    infos = whole.reset(seed=4)[1]
    random = np.random.default_rng(0)
    for _ in range(40):
        actions = infos["action_mask"].argmax(-1)
        *expected, infos = whole.step(actions)
        first = random.random(WORLDS) < 0.5
        for stepped in (first, ~first):
            found = some.step(np.where(stepped, actions, -1), worlds=stepped)
            for mine, yours in zip(found[:4], expected, strict=True):
                assert np.array_equal(mine[stepped], yours[stepped])
            assert not found[1][~stepped].any()
    assert whole.save() == some.save()


@pytest.mark.parametrize("arrays", ["torch", "jax"])
def test_rows_are_of_the_library_that_was_asked_for(make_vec: Made, arrays: str) -> None:
    pytest.importorskip(arrays)
    options = {**GAMES["Hanabi-v0"], "agent": "drawn", "others": ["random", "noop"]}
    played = [
        _played(make_vec("Hanabi-v0", WORLDS, arrays=library, **options), 30)
        for library in ("numpy", arrays)
    ]
    _assert_same(*played)
    env = make_vec("Hanabi-v0", WORLDS, arrays=arrays, **options)
    _, infos = env.reset(seed=0)
    obs, reward, terminated, _, infos = env.step(np.asarray(infos["action_mask"]).argmax(-1))
    kinds = {type(array) for array in (obs, reward, terminated, infos["final_obs"])}
    assert len(kinds) == 1


def _assert_same(left: list[Any], right: list[Any]) -> None:
    for mine, yours in zip(left, right, strict=True):
        for one, other in zip(mine, yours, strict=True):
            assert np.array_equal(one, other)


def test_reused_arrays_hold_the_same(make_vec: Made) -> None:
    options = {**GAMES["Hanabi-v0"], "agent": "drawn", "others": ["random", "noop"]}
    plays = [_played(make_vec("Hanabi-v0", WORLDS, reuse=r, **options), 30) for r in (False, True)]
    _assert_same(*plays)


# Seats and pools


def _moves(env: gpu_envs.VectorEnv) -> list[np.ndarray]:
    """Keep the actions of all agents, (worlds, agents), from now on."""
    taken: list[np.ndarray] = []
    step_arrays = env.simulator.step_arrays

    def watched(actions: Any, *rest: Any) -> Any:
        taken.append(np.array(actions))
        return step_arrays(actions, *rest)

    env.simulator.step_arrays = watched  # type: ignore[method-assign]
    return taken


def _always(number: int) -> Callable[..., Any]:
    return lambda role, obs, mask: np.full(obs.shape[:2], number)


POOL = [_always(number) for number in range(1, 5)]
TAG: dict[str, Any] = {"num_taggers": 2, "max_episode_steps": 5}


def _draws(env: gpu_envs.VectorEnv, steps: int, seed: Any = 3) -> np.ndarray:
    """Return the moves of all agents, (steps, worlds, agents), where the ego stays."""
    taken = _moves(env)
    env.reset(seed=seed)
    for _ in range(steps):
        env.step(np.zeros(env.num_envs, int))
    return np.array(taken)


def test_each_world_draws_a_partner_and_a_seat_for_each_episode(make_vec: Made) -> None:
    env = make_vec("TagGrid-v0", 60, agent="drawn", others=POOL, **TAG)
    taken = _draws(env, 100).reshape(20, 5, 60, 3)
    assert (taken == taken[:, :1]).all()  # all 20 episodes have 5 steps
    seats = (taken[:, 0] == 0).argmax(-1)
    assert ((taken[:, 0] == 0).sum(-1) == 1).all()
    partners = taken[:, 0].max(-1)
    assert ((taken[:, 0] == partners[..., None]).sum(-1) == 2).all()  # one for the whole team
    for drawn, count in ((seats, 3), (partners - 1, 4)):
        shares = np.bincount(drawn.ravel(), minlength=count) / drawn.size
        assert (np.abs(shares - 1 / count) < 0.06).all()
        assert len(np.unique(drawn, axis=0)) == 20
        assert len(np.unique(drawn, axis=1)[0]) > 1
    together = np.histogram2d(seats.ravel(), partners.ravel(), (3, 4))[0] / seats.size
    assert (np.abs(together - 1 / 12) < 0.04).all()


@every_mode
@pytest.mark.parametrize("agent", ["drawn", "tagger_1"])
def test_draws_depend_on_seed_world_and_episode_alone(
    make_vec: Made, mode: str, agent: str
) -> None:
    options = {"agent": agent, "others": POOL, "autoreset_mode": mode, **TAG}
    batch = make_vec("TagGrid-v0", 6, **options)
    steps = 4 if mode == "Disabled" else 30
    taken = _draws(batch, steps)
    assert np.array_equal(_draws(make_vec("TagGrid-v0", 6, **options), steps), taken)
    assert not np.array_equal(_draws(make_vec("TagGrid-v0", 6, **options), steps, 4), taken)
    alone = make_vec("TagGrid-v0", 1, first_world=4, **options)
    assert np.array_equal(_draws(alone, steps)[:, 0], taken[:, 4])
    listed = _draws(make_vec("TagGrid-v0", 3, **options), steps, [3, 9, 3])
    assert np.array_equal(listed[:, 0], taken[:, 0]) and np.array_equal(listed[:, 2], taken[:, 0])
    if mode == "Disabled":
        again = _moves(batch)
        only = np.arange(6) == 2
        batch.reset(options={"reset_mask": only})
        batch.step(np.zeros(6, int))
        assert np.array_equal(again[-1][~only], taken[-1][~only])
        sames = make_vec("TagGrid-v0", 6, **{**options, "autoreset_mode": "SameStep"})
        assert np.array_equal(again[-1][2], _draws(sames, 6)[5, 2])  # its second episode


@pytest.mark.parametrize("name", GAMES)
def test_a_world_of_a_batch_is_the_world_alone(
    make_vec: Made, policies: Policies, name: str
) -> None:
    """Alone a member of the pool plays in no world at times, and forgets all the same."""
    options = {**GAMES[name], "agent": "drawn", "others": [*policies(name), "random"]}
    if name == "Overcooked-v0":
        options["max_episode_steps"] = 4
    steps, batch = 60, _played(make_vec(name, 8, **options), 60)
    for world in (0, 5):
        alone = _played(make_vec(name, 1, first_world=world, **options), steps, first=world)
        for many, one in zip(batch, alone, strict=True):
            for rows, row in zip(many, one, strict=True):
                assert np.array_equal(rows[world], row[0])


def test_pools_by_agent_are_drawn_one_by_one(make_vec: Made) -> None:
    pool = [lambda obs, mask, k=k: np.full(obs.shape[:2], k) for k in range(1, 5)]
    others = {"tagger_1": pool, "runner": pool}
    env = make_vec("TagGrid-v0", 60, agent="tagger_0", others=others, **TAG)
    taken = _draws(env, 3)
    assert 0.1 < (taken[:, :, 1] == taken[:, :, 2]).mean() < 0.45


def test_rows_are_those_of_the_seat(make_vec: Made) -> None:
    env = make_vec("TagGrid-v0", 8, agent="drawn", others="noop", **TAG)
    twin = make_vec("TagGrid-v0", 8, **TAG)
    seats = (_draws(make_vec("TagGrid-v0", 8, agent="drawn", others=POOL, **TAG), 30) == 0).argmax(
        -1
    )
    obs, whole = env.reset(seed=3)[0], twin.reset(seed=3)[0]
    at = np.arange(8)
    for step in range(29):
        assert np.array_equal(obs, whole.reshape(8, 3, -1)[at, seats[step]])
        actions = np.random.default_rng(step).integers(0, 5, 8)
        full = np.zeros((8, 3), int)
        full[at, seats[step]] = actions
        obs, *mine, infos = env.step(actions)
        whole, *yours, more = twin.step(full.ravel())
        for one, other in zip(mine, yours, strict=True):
            assert np.array_equal(one, other.reshape(8, 3)[at, seats[step]])
        final = more["final_obs"].reshape(8, 3, -1)[at, seats[step]]
        assert np.array_equal(infos["final_obs"], final)


# The state of worlds


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "turns": ("Hanabi-v0", {"agent": "player_1", **GAMES["Hanabi-v0"]}),
    "turns and seats": ("Hanabi-v0", {"agent": "drawn", **GAMES["Hanabi-v0"]}),
    "kitchen": ("Overcooked-v0", {"agent": "drawn", **GAMES["Overcooked-v0"]}),
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def make(make_vec: Made, policies: Policies) -> Made:
    def made(case: str, worlds: int = WORLDS, **more: Any) -> gpu_envs.VectorEnv:
        name, options = CASES[case]
        others = [*policies(name), "random"]
        return make_vec(name, worlds, **{"others": others, **options, **more})

    return made


def _future(env: gpu_envs.VectorEnv, steps: range, mode: str) -> list[Any]:
    seen, infos = [], env.observe()[1]
    for step in steps:
        masks = infos.get("action_mask", [None] * env.num_envs)
        actions = [_choice(mask, step, 0, env.single_action_space.n) for mask in masks]
        *results, infos = env.step(actions)
        seen.append([np.array(array) for array in results])
        over = np.array(results[2] | results[3])
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
            infos = env.observe()[1]
    return seen


@every_case
@every_mode
@pytest.mark.parametrize("after", [3, 14])
def test_a_save_has_the_partners_future(make: Made, case: str, mode: str, after: int) -> None:
    first, second = make(case, autoreset_mode=mode), make(case, autoreset_mode=mode)
    first.reset(seed=4)
    _future(first, range(after), mode)
    data, steps = first.save(), range(after, after + 25)
    expected = _future(first, steps, mode)
    first.load(data)
    _assert_same(_future(first, steps, mode), expected)
    second.load(data)  # was never reset
    _assert_same(_future(second, steps, mode), expected)
    assert second.save() == first.save()


@every_case
@every_mode
def test_a_fork_has_the_partners_of_its_source(make: Made, case: str, mode: str) -> None:
    env = make(case, autoreset_mode=mode)
    env.reset(seed=4)
    _future(env, range(7), mode)
    env.copy_worlds(1, [0, 3])
    for results in _future(env, range(25), mode):
        for array in results:
            assert np.array_equal(array[[0, 3]], array[[1, 1]])


@every_case
def test_a_world_takes_its_partners_into_any_batch(make: Made, case: str) -> None:
    alone, batch = make(case, 1, first_world=2), make(case)
    alone.reset(seed=4)
    _future(alone, range(5), "SameStep")
    batch.reset(seed=8)
    _future(batch, range(3), "SameStep")
    batch.load(alone.save(), worlds=[0, 2])
    batch.load(batch.save(worlds=[2]), worlds=[3])
    steps = range(5, 30)
    ones, many = _future(alone, steps, "SameStep"), _future(batch, steps, "SameStep")
    for one, rows in zip(ones, many, strict=True):
        for mine, yours in zip(one, rows, strict=True):
            for world in (0, 2, 3):
                assert np.array_equal(mine[0], yours[world])


def test_partners_change_at_resets_alone_also_in_reseeded_forks(make_vec: Made) -> None:
    env = make_vec("TagGrid-v0", 8, agent="tagger_0", others=POOL, num_taggers=2)
    taken = _moves(env)
    env.reset(seed=3)
    env.step(np.zeros(8, int))
    env.copy_worlds(1, [0, 2, 3, 4, 5, 6, 7], reseed=True)
    env.step(np.zeros(8, int))
    assert (taken[-1] == taken[0][1]).all()
    env.reset()
    env.step(np.zeros(8, int))
    assert len(np.unique(taken[-1][:, 1])) > 1


def test_a_simulators_save_goes_on_at_the_egos_turn(make_vec: Made) -> None:
    def hint(role: str, obs: Any, mask: Any) -> Any:
        return mask.shape[-1] - 1 - mask[..., ::-1].argmax(-1)  # the last that is legal

    options: dict[str, Any] = {"player_count": 3}
    whole = gpu_envs.Simulator("Hanabi-v0", WORLDS, device="cpu", ends="world", **options)
    outputs = whole.reset(seed=2)
    outputs = whole.step(hint("", None, outputs.action_mask))
    env = make_vec("Hanabi-v0", WORLDS, agent="player_0", others=hint, **options)
    env.load(whole.save())
    obs, infos = env.observe()
    assert infos["agent_active"].all()
    for _ in range(2):
        outputs = whole.step(hint("", None, outputs.action_mask))
    assert np.array_equal(obs, outputs.obs[:, 0])
    whole.close()


def test_episodes_without_a_turn_of_the_ego_are_passed_over(make_vec: Made, monkeypatch) -> None:
    options = {**GAMES["Hanabi-v0"], "max_episode_steps": 1, "others": "random"}
    for mode in MODES:
        never = make_vec("Hanabi-v0", 2, agent="player_1", autoreset_mode=mode, **options)
        monkeypatch.setattr(ego_rows, "_MOST_PASSED", 5)
        with pytest.raises(RuntimeError, match=r"agent='player_1' of Hanabi-v0 has no turn: 5 ep"):
            never.reset(seed=1)
        monkeypatch.undo()
        env = make_vec("Hanabi-v0", 2, agent="drawn", autoreset_mode=mode, **options)
        _, infos = env.reset(seed=1)
        for step in range(12):
            assert infos["agent_active"].all()
            *_, truncated, infos = env.step(infos["action_mask"].argmax(-1))
            if mode == "NextStep" and step % 2:
                assert not truncated.any()
                continue
            assert truncated.all() and (infos["episode_stats"]["l"] == 1).all()
            if mode == "Disabled":
                _, infos = env.reset()
            elif mode == "NextStep":
                infos["agent_active"][:] = 1
        assert (env.get("world.episode") > 6).all()


# One world


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("agent", [1, "drawn"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of bounds that are infinite
def test_single_environment_is_the_batch_of_one_world(
    make_vec: Made, policies: Policies, name: str, agent: Any
) -> None:
    options = {**GAMES[name], "others": policies(name)}
    if agent != "drawn":
        agent = gpu_envs.Simulator(name, 1, device="cpu", **GAMES[name]).agent_names[agent]
    env = gpu_envs.Env(name, agent=agent, **options)
    batch = make_vec(name, 1, agent=agent, autoreset_mode="Disabled", **options)
    for _ in range(3):
        shown = [env.reset(seed=4), batch.reset(seed=4)]
        for step in range(40):
            assert np.array_equal(shown[0][0], shown[1][0][0])
            mask = shown[0][-1].get("action_mask")
            action = _choice(mask, step, 0, batch.single_action_space.n)
            one, many = env.step(action), batch.step([action])
            assert [one[k] for k in (1, 2, 3)] == [many[k][0] for k in (1, 2, 3)]
            shown = [one, many]
            if one[2] or one[3]:
                assert one[-1]["episode_stats"]["l"] == many[-1]["episode_stats"]["l"][0]
                break
    if name == "Overcooked-v0":  # whose actions are all legal
        check_env(env, skip_render_check=True)
    env.close()


def test_one_agent_alone_needs_no_partner(make_vec: Made) -> None:
    name = gpu_envs.Simulator("CartPole-v0", 1, device="cpu").agent_names[0]
    env, twin = make_vec("CartPole-v0", 3, agent=name), make_vec("CartPole-v0", 3)
    assert np.array_equal(env.reset(seed=1)[0], twin.reset(seed=1)[0])
    assert np.array_equal(env.step([0, 1, 0])[0], twin.step([0, 1, 0])[0])


def test_spec_makes_the_same_again() -> None:
    env = gymnasium.make_vec(
        "gpu_envs/TagGrid-v0", num_envs=2, agent="drawn", others=["noop", "random"]
    )
    one = gpu_envs.make("TagGrid-v0", agent="runner_0", others="noop")
    assert one.reset(seed=1)[0].shape == env.unwrapped.single_observation_space.shape
    one.close()
    again = gymnasium.make_vec(env.spec)
    assert again.unwrapped.agent_names == env.unwrapped.agent_names == ["drawn"]
    assert (
        repr(again.unwrapped)
        == "<VectorEnv TagGrid-v0 as drawn: 2 worlds x 1 agent = 2 rows on cpu>"
    )
    env.close()
    again.close()
