"""The simulator: life cycle, columns, saves, copies of worlds, faults."""

from __future__ import annotations

import ctypes
import ctypes.util
import textwrap

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import gpu_envs
from gpu_envs.core import faults

X = "cart.x"
ANGLE = "cart.angle"


def test_description_is_readable(make_simulator) -> None:
    simulator = make_simulator("Micro-v0", 3, agent_count=7, work=2)
    assert (simulator.num_worlds, simulator.agents_per_world) == (3, 7)
    assert simulator.parameters["work"] == 2
    assert simulator.device == "cpu"
    assert simulator.arrays == "numpy"
    assert simulator.autoreset_mode is AutoresetMode.SAME_STEP
    assert simulator.max_episode_steps == 200
    assert simulator.memory_bytes > 0
    assert repr(simulator) == "<Simulator Micro-v0: 3 worlds x 7 agents = 21 rows on cpu>"


def test_outputs_are_shaped_by_world_and_agent(make_simulator) -> None:
    simulator = make_simulator("Micro-v0", 3, agent_count=7, work=2)
    simulator.reset(seed=0)
    outputs = simulator.step(np.zeros((3, 7), np.int64))
    assert outputs.obs.shape == (3, 7, 4)
    assert outputs.reward.shape == outputs.terminated.shape == outputs.ended.shape == (3, 7)


def test_step_before_the_first_reset_is_refused(make_simulator) -> None:
    with pytest.raises(gpu_envs.ResetNeeded, match="call reset"):
        make_simulator().step([0, 0, 0, 0])


def test_first_reset_cannot_be_masked(make_simulator) -> None:
    with pytest.raises(gpu_envs.ResetNeeded, match="reset_mask"):
        make_simulator().reset(mask=[True, True, True, True])


def test_options_hold_for_one_reset(make_simulator) -> None:
    simulator = make_simulator()
    obs = simulator.reset(seed=0, options={"low": 0.1, "high": 0.2}).obs
    assert ((obs >= 0.1) & (obs <= 0.2)).all()
    assert (np.abs(simulator.reset().obs) <= 0.05).all()


def test_observe_repeats_the_current_observation(make_simulator) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    stepped = simulator.step([0, 1, 0, 1])
    observed = simulator.observe()
    assert (observed.obs == stepped.obs).all()
    assert observed.reward is None


def test_columns_are_copies_and_can_be_written(make_simulator) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    values = simulator.get(X)
    assert values.shape == (4, 1)
    values[...] = 9
    assert (simulator.get(X) != 9).all()
    simulator.set(X, 0.5, worlds=[1, 3])
    assert simulator.get(X)[[1, 3]].tolist() == [[0.5], [0.5]]
    simulator.set(X, np.arange(4).reshape(4, 1))
    assert simulator.get(X).ravel().tolist() == [0, 1, 2, 3]


def test_unknown_column_is_met_with_a_suggestion(make_simulator) -> None:
    simulator = make_simulator()
    for call in (lambda: simulator.get("cart.xx"), lambda: simulator.set("cart.xx", 0)):
        with pytest.raises(ValueError, match="did you mean"):
            call()


@pytest.mark.parametrize("values", [np.zeros(5), "text", np.zeros((4, 1, 2))])
def test_values_that_do_not_fit_a_column_are_refused(make_simulator, values) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    with pytest.raises(ValueError, match=r"cart\.x"):
        simulator.set(X, values)


REFUSED = [
    (
        "world.episode",
        2**32 + 5,
        r"whole, 0 to 4294967295 \(uint32\), got 4294967301 for world 0, row 0",
    ),
    ("world.episode", [[3], [2.9], [3], [3]], r"got 2\.9 for world 1, row 0"),
    ("world.episode", 2**70, r"got 1180591620717411303424 for world 0"),
    ("world.episode", [[0], [0], [-1], [0]], r"got -1 for world 2"),
    ("world.episode", float("nan"), "got nan for world 0"),
    ("world.episode", float(2**32), "got 4294967296"),
    (X, [[0], [float("nan")], [0], [0]], r"finite \(float32\), got nan for world 1, row 0"),
    (X, 1e39, r"got 1e\+39 for world 0"),
    (X, 10**400, "got 1000000"),
    (X, 1j, r"numbers \(float32\), got complex128 1j"),
    (X, "0.5", r"numbers \(float32\), got <U3"),
]


@pytest.mark.parametrize(("column", "values", "message"), REFUSED)
def test_values_that_a_column_cannot_hold_are_refused_with_their_place(
    make_simulator, column, values, message
) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    before = simulator.save()
    with pytest.raises(ValueError, match=rf"column '{column}' must be .*{message}"):
        simulator.set(column, values)
    with pytest.raises(ValueError, match="world 3, row 0"):
        simulator.set("world.episode", [[1], [2**40]], worlds=[1, 3])
    assert simulator.save() == before


BEYOND = [
    ("agents.words", 1.5, r"from 0 to 1, got 1\.5 for world 0, row 0, element 0"),
    (
        "agents.words",
        [[[0, 0, 0, 0]], [[0.5, 0, -0.5, 1]]],
        ".* got -0.5 for world 1, row 0, element 2",
    ),
]


@pytest.mark.parametrize(("column", "values", "message"), BEYOND)
def test_values_that_a_description_excludes_are_refused(
    make_simulator, column, values, message
) -> None:
    simulator = make_simulator("Micro-v0", 2, agent_count=1, work=0)
    simulator.reset(seed=0)
    before = simulator.save()
    with pytest.raises(ValueError, match=f"set: {column} must be {message}"):
        simulator.set(column, values)
    assert simulator.save() == before
    simulator.set(column, simulator.get(column))
    simulator.set(column, 1)


@pytest.mark.parametrize("values", [7, 7.0, np.uint64(7), True + 6, [[7]] * 4, np.float32(7)])
def test_whole_numbers_of_any_type_are_written(make_simulator, values) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    simulator.set("world.episode", values)
    assert (simulator.get("world.episode") == 7).all()
    simulator.set("world.episode", 2**32 - 1)
    assert (simulator.get("world.episode") == 2**32 - 1).all()


def test_reseeded_copies_part_at_the_next_draw(make_simulator) -> None:
    simulator = make_simulator(autoreset_mode="Disabled")
    simulator.reset(seed=0)
    simulator.copy_worlds([0, 0], [1, 2], reseed=True)
    obs = simulator.observe().obs
    assert (obs[0] == obs[1]).all()
    assert (obs[0] == obs[2]).all()
    fresh = simulator.reset().obs
    assert (fresh[0] != fresh[1]).any()
    assert (fresh[1] != fresh[2]).any()


def test_frozen_steps_are_counted_and_raised_by_check(make_simulator, tip_over) -> None:
    simulator = make_simulator(autoreset_mode="Disabled")
    simulator.reset(seed=0)
    tip_over(simulator, 1)
    first = simulator.step([0, 1, 0, 1])
    simulator.check()
    second = simulator.step([0, 1, 0, 1])
    assert first.terminated.ravel().tolist() == [False, True, False, False]
    assert (second.terminated == first.terminated).all()
    assert (second.obs[1] == first.obs[1]).all()
    assert second.reward.ravel().tolist() == [1, 0, 1, 1]
    with pytest.raises(gpu_envs.ResetNeeded, match=r"1 steps .*reset_mask"):
        simulator.check()
    simulator.check()  # reported once


def test_strict_raises_at_the_step(make_simulator, tip_over) -> None:
    simulator = make_simulator(autoreset_mode="Disabled", strict=True)
    simulator.reset(seed=0)
    tip_over(simulator, 1)
    simulator.step([0, 1, 0, 1])
    with pytest.raises(gpu_envs.ResetNeeded):
        simulator.step([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("report", "error", "message"),
    [
        ({"bad_actions": 2, "first_bad_world": 3, "first_bad_agent": 1}, ValueError, "world 3"),
        ({"frozen_steps": 5}, gpu_envs.ResetNeeded, "5 steps"),
        (
            {"lost_views": 2, "first_lost_world": 7, "first_lost_agent": 1},
            RuntimeError,
            "2 pictures are black.*agent 1 in world 7",
        ),
        (
            {"tables": [{"name": "contacts", "dropped": 2, "needed": 34, "capacity": 32}]},
            RuntimeError,
            "'contacts' dropped 2 rows: its capacity is 32 and 34 would suffice",
        ),
    ],
)
def test_faults_become_exceptions(report, error, message) -> None:
    none = {"bad_actions": 0, "frozen_steps": 0, "tables": []}
    faults.raise_faults(none, "Test-v0")
    with pytest.raises(error, match=message):
        faults.raise_faults(none | report, "Test-v0")


def test_stream_is_an_int_or_a_stream_object(make_simulator) -> None:
    class Stream:
        cuda_stream = 0

    simulator = make_simulator(reuse=True)
    simulator.reset(seed=0)
    simulator.step([0, 1, 0, 1], stream=0)
    simulator.step([0, 1, 0, 1], stream=Stream())
    with pytest.raises(TypeError, match="stream must be an int"):
        simulator.step([0, 1, 0, 1], stream="main")


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_sampled_actions_are_legal_and_differ_by_call(make_simulator, library) -> None:
    pytest.importorskip(library, reason=f"needs {library}")
    simulator = make_simulator("Micro-v0", 300, agent_count=5, arrays=library)
    mask = np.zeros((300, 5, 4), np.int8)
    mask[..., (1, 3)] = 1
    mask[7, 2] = 0
    drawn = [np.asarray(simulator.sample_actions(mask_of(library, mask))) for _ in range(2)]
    assert not np.array_equal(*drawn)
    assert drawn[0].shape == (300, 5) and drawn[0].dtype == np.int32
    assert drawn[0][7, 2] == 0
    others = np.delete(drawn[0].ravel(), 7 * 5 + 2)
    counts = np.bincount(others, minlength=4)
    assert counts[0] == counts[2] == 0 and abs(counts[1] - counts[3]) < 200
    free = np.bincount(np.asarray(simulator.sample_actions()).ravel(), minlength=4)
    assert free.min() > 300


def test_draws_are_those_of_seed_and_number_of_the_call(make_simulator) -> None:
    for _ in range(2):
        simulator = make_simulator("Micro-v0", 2, agent_count=3)
        drawn = [simulator.sample_actions(seed=5).ravel().tolist() for _ in range(3)]
        assert drawn == [[1, 2, 0, 1, 0, 3], [1, 1, 1, 1, 2, 1], [0, 0, 0, 0, 2, 3]]


def mask_of(library: str, mask: np.ndarray) -> object:
    if library == "torch":
        import torch

        return torch.from_numpy(mask)
    return mask


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_sampling_takes_numpys_masks_on_the_cpu(make_simulator, library) -> None:
    pytest.importorskip(library, reason=f"needs {library}")
    simulator = make_simulator("Micro-v0", 3, agent_count=2, arrays=library)
    mask = np.zeros((3, 2, 4), bool)
    mask[..., 2] = True
    mask.setflags(write=False)
    assert (np.asarray(simulator.sample_actions(mask)) == 2).all()


def test_sampling_takes_masks_of_jax(make_simulator, jax) -> None:
    simulator = make_simulator("Micro-v0", 3, agent_count=2, arrays="jax")
    mask = jax.numpy.zeros((6, 4), "int8").at[:, 3].set(1)
    assert (simulator.sample_actions(mask) == 3).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_do_not_depend_on_how_the_caller_rounds(make_simulator, threads) -> None:
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    nearest, upwards = 0, 0x800  # of x86-64
    actions = np.random.default_rng(0).integers(0, 2, (20, 600, 1))

    def run() -> list[bytes]:
        return [simulator.step(batch).obs.tobytes() for batch in actions]

    if libm.fegetround() != nearest or libm.fesetround(upwards) != 0:
        pytest.skip("rounds in another way")
    try:
        simulator = make_simulator("CartPole-v0", 600, threads=threads)
        first = simulator.reset(seed=3).obs.copy()
        found = run()
        assert libm.fegetround() == upwards
    finally:
        libm.fesetround(nearest)
    simulator.reset(seed=3)
    assert simulator.observe().obs.tobytes() == first.tobytes()
    assert run() == found


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((2,), ValueError, "world must be between 0 and 1, got 2"),
        ((2**70,), ValueError, "world must be between 0 and 1, got"),
        (("a",), TypeError, "world must be an int, got 'a'"),
        ((0.5,), TypeError, "world must be an int, got 0.5"),
        (([0],), TypeError, r"world must be an int, got \[0\]"),
        ((0, 2), ValueError, "viewer must be between -1 and 1, got 2"),
        ((0, 2**70), ValueError, "viewer must be between -1 and 1, got"),
        ((0, None), TypeError, "viewer must be an int, got None"),
    ],
)
def test_text_is_refused_by_name(make_simulator, arguments, error, message) -> None:
    simulator = make_simulator("Hanabi-v0", 2)
    simulator.reset(seed=0)
    with pytest.raises(error, match=message):
        simulator.text(*arguments)


def test_numbers_too_large_for_a_picture_are_refused(make_simulator) -> None:
    simulator = make_simulator()
    simulator.reset(seed=0)
    with pytest.raises(ValueError, match="size: rows and columns must be between 1 and"):
        simulator.render(0, size=(2**70, 9))
    with pytest.raises(TypeError, match="world must be an int, got None"):
        simulator.render(None)


STEPPING = """
    import os, sys, threading
    import numpy as np
    import gpu_envs

    actions = np.zeros((2000, 2), np.int64)
    started = threading.Barrier(5)

    def play(reuse):
        simulator = gpu_envs.Simulator(
            "Micro-v0", 2000, device="cpu", threads=1, reuse=reuse, agent_count=2, work=64
        )
        simulator.reset(seed=0)
        started.wait()
        while True:
            simulator.step(actions)

    for number in range(4):
        threading.Thread(target=play, args=(number % 2 == 0,), daemon=True).start()
    started.wait()
"""
AT_THE_END = {
    "threads step on": "",
    "a child was forked meanwhile": """
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
    """,
    "another hook steps too": """
    import atexit
    twin = gpu_envs.Simulator("CartPole-v0", 1, device="cpu")
    twin.reset(seed=0)
    atexit.register(twin.step, [0])
    """,
}


@pytest.mark.parametrize("ending", AT_THE_END)
def test_daemon_threads_in_a_step_let_the_process_end(run_python, ending) -> None:
    program = textwrap.dedent(STEPPING) + textwrap.dedent(AT_THE_END[ending])
    result = run_python(program, "-W", "ignore:.*multi-threaded.*")
    assert (result.returncode, result.stderr) == (0, "")


FORKED = """
import os, sys, threading, warnings
import gpu_envs
import numpy as np

warnings.simplefilter("ignore")
simulator = gpu_envs.Simulator("CartPole-v0", 1 << 20, device="cpu", threads=1)
simulator.reset(seed=0)
actions = np.zeros(1 << 20, np.int32)


def refusals():
    found, together = [], threading.Barrier(2)

    def play():
        together.wait()
        for _ in range(30):
            try:
                simulator.step(actions)
            except RuntimeError as problem:
                found.append(str(problem))

    players = [threading.Thread(target=play) for _ in range(2)]
    [player.start() for player in players]
    [player.join() for player in players]
    assert all("in use by another thread" in text for text in found)
    return len(found)


assert refusals()
child = os.fork()
if child == 0:
    os._exit(0 if refusals() else 7)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_threads_of_a_forked_child_do_not_use_one_simulator_at_once(run_python) -> None:
    result = run_python(FORKED)
    assert (result.returncode, result.stderr) == (0, "")
