"""Threads, forks and interrupts: every simulator stays whole, and everybody else goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np

from tests.gpu_envs.witness import undisturbed, witness  # noqa: F401 - fixtures


def test_two_simulators_in_two_threads_agree_with_one_thread(make_simulator) -> None:
    simulators = [make_simulator("Micro-v0", 64, agent_count=4, work=32) for _ in range(3)]
    actions = np.random.default_rng(0).integers(0, 4, (200, 64, 4))
    hashes: dict[int, bytes] = {}

    def play(index: int) -> None:
        simulators[index].reset(seed=6)
        hashes[index] = b"".join(simulators[index].step(a).obs.tobytes() for a in actions)

    threads = [threading.Thread(target=play, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    play(2)
    assert hashes[0] == hashes[1] == hashes[2]


def test_one_simulator_in_two_threads_is_an_error_and_stays_whole(make_simulator) -> None:
    heavy = {"agent_count": 100, "work": 20000}
    simulator, twin = (make_simulator("Micro-v0", 16, **heavy) for _ in range(2))
    actions = np.zeros((16, 100), np.int64)
    simulator.reset(seed=0)
    twin.reset(seed=0)
    refused: list[str] = []
    done = 0

    def step() -> None:
        nonlocal done
        for _ in range(4):
            try:
                simulator.step(actions)
                done += 1
            except RuntimeError as problem:
                refused.append(str(problem))

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused
    assert all("in use by another thread" in message for message in refused)
    for _ in range(done):
        twin.step(actions)
    assert (simulator.observe().obs == twin.observe().obs).all()


FORK = """
    import os, numpy as np, gpu_envs
    def make():
        s = gpu_envs.Simulator("Micro-v0", 256, device="cpu", threads=2, agent_count=4, work=64)
        s.reset(seed=1)
        return s
    def course(s, steps):
        return b"".join(s.step(np.zeros((256, 4), np.int64)).obs.tobytes() for _ in range(steps))
    expected = course(make(), 10)
    inherited = make()
    first = course(inherited, 5)
    pid = os.fork()
    rest = course(inherited, 5)  # the same simulator goes on in both processes
    own = course(make(), 10)
    good = first + rest == expected and own == expected
    if pid == 0:
        os._exit(0 if good else 3)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print("child", status, "parent", good)
"""


def test_simulators_go_on_in_both_processes_after_a_fork(run_python) -> None:
    result = run_python(textwrap.dedent(FORK))
    assert result.stdout.strip() == "child 0 parent True", result.stderr


INTERRUPT = """
    import signal
    import numpy as np, gpu_envs
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    s, twin = (gpu_envs.Simulator("Micro-v0", 64, device="cpu", work=20000) for _ in range(2))
    actions = np.zeros((64, 5), np.int64)
    s.reset(seed=1)
    s.step(actions)
    done = 1
    try:
        print("running", flush=True)
        for _ in range(100000):
            s.step(actions)
            done += 1
    except KeyboardInterrupt:
        pass
    steps = int(s.get("world.step")[0, 0])
    episode = int(s.get("world.episode")[0, 0])
    taken = episode * 200 + steps
    assert taken - done in (0, 1), (taken, done)  # the interrupted step is whole or was not begun
    twin.reset(seed=1)
    for _ in range(taken):
        twin.step(actions)
    print((twin.step(actions).obs == s.step(actions).obs).all(), flush=True)
"""


def test_interrupt_is_delivered_between_steps_with_valid_state() -> None:
    program = [sys.executable, "-c", textwrap.dedent(INTERRUPT)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "running"
        process.send_signal(signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    assert output.strip() == "True"
    assert process.returncode == 0
