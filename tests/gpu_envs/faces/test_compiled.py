"""`VectorEnv.compiled`: order, resets, actions, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
import torch

import gpu_envs
from gpu_envs.errors import ResetNeeded
from tests.gpu_envs.faces.compile_cases import (
    EAGER,
    NAME,
    Make,
    actions_of,
    by_inductor,
    environments,
    refused,
)


@pytest.fixture
def make() -> Iterator[Make]:
    with environments() as made:
        yield made


def compiled(function: Any) -> Any:
    return torch.compile(function, **EAGER)


# ---- order, and what it is under


def test_a_rollout_with_a_policy_is_the_loop(make: Make) -> None:
    plain, env = make(), make()
    token, _, step = env.compiled()
    torch.manual_seed(1)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def rollout(token: Any, obs: Any) -> Any:
        seen, rewards = [], []
        for _ in range(3):
            seen.append(obs)
            actions = policy(obs).argmax(-1)
            token, (obs, reward, _, _, infos) = step(token, actions)
            rewards.append(reward)
        return token, obs, torch.stack(seen), torch.stack(rewards), infos

    run = by_inductor(rollout)
    obs, _ = plain.observe()
    for _ in range(4):
        own, after, seen, rewards, infos = run(token, obs)
        assert own is token
        for k in range(3):
            assert torch.equal(seen[k], obs)
            obs, reward, _, _, told = plain.step(policy(obs).argmax(-1))
            assert torch.equal(rewards[k], reward)
        assert torch.equal(after, obs) and infos.keys() == told.keys()
        assert torch.equal(infos["episode_stats"]["l"], told["episode_stats"]["l"])
    assert token[1] == 12
    assert env.simulator.save() == plain.simulator.save()


@pytest.mark.parametrize("make_program", [compiled, by_inductor])
def test_calls_whose_results_nobody_uses_are_neither_dropped_nor_merged(
    make: Make, make_program: Any
) -> None:
    plain, env = make(), make()
    token, reset, step = env.compiled()
    row = actions_of(1)[0]

    def run(token: Any) -> None:
        for _ in range(3):
            step(token, row)
        reset(token)
        reset(token)
        step(token, row)

    make_program(run)(token)
    for _ in range(3):
        plain.step(row)
    plain.reset()
    plain.reset()
    plain.step(row)
    assert token[1] == 6
    assert env.simulator.save() == plain.simulator.save()


def test_the_order_is_that_of_the_program(make: Make) -> None:
    plain, env = make(), make()
    token, reset, step = env.compiled()
    actions = actions_of(6)

    @compiled
    def run(token: Any) -> Any:
        token, (last, *_) = step(token, actions[5])
        token, (first, _) = reset(token, seed=3)
        for row in (4, 0, 2):
            token, (obs, *_) = step(token, actions[row])
        return last, first, obs

    last, first, obs = run(token)
    assert torch.equal(last, plain.step(actions[5])[0])
    assert torch.equal(first, plain.reset(seed=3)[0])
    for row in (4, 0, 2):
        own = plain.step(actions[row])[0]
    assert torch.equal(obs, own)


def test_calls_outside_of_programs_are_the_same(make: Make) -> None:
    plain, env = make(), make()
    token, reset, step = env.compiled()
    for row in actions_of(5):
        token, (obs, *_) = step(token, row)
        assert torch.equal(obs, plain.step(row)[0])
    token, (obs, infos) = reset(token)
    assert torch.equal(obs, plain.reset()[0]) and infos == {}


def test_results_are_those_of_one_call_each(make: Make) -> None:
    token, _, step = make().compiled()
    _, (first, *_) = step(token, actions_of(1)[0])
    kept = first.clone()
    _, (second, *_) = step(token, actions_of(1)[0])
    assert torch.equal(first, kept) and first.data_ptr() != second.data_ptr()


def test_two_environments_in_one_program(make: Make) -> None:
    one, other = make(), make(7)
    plain = make(), make(7)
    first, _, step = one.compiled()
    second, _, other_step = other.compiled()
    actions, more = actions_of(4), actions_of(4, 7)

    @compiled
    def run(first: Any, second: Any) -> Any:
        for k in range(4):
            first, _ = step(first, actions[k])
            second, _ = other_step(second, more[k])

    run(first, second)
    assert first[1] == second[1] == 4
    for k in range(4):
        plain[0].step(actions[k])
        plain[1].step(more[k])
    assert one.simulator.save() == plain[0].simulator.save()
    assert other.simulator.save() == plain[1].simulator.save()


def test_programs_are_shared_by_environments_alike(make: Make) -> None:
    one, other = make(), make()
    seen = []

    def backend(graph: Any, _: Any) -> Any:
        seen.append(graph)
        return graph.forward

    step = torch.compile(one.compiled()[2], fullgraph=True, backend=backend)
    for env in (one, other):
        step(env.compiled()[0], actions_of(1)[0])
    assert len(seen) == 1
    assert one.simulator.save() == other.simulator.save()


def test_a_program_learns_through_its_policy(make: Make) -> None:
    token, _, step = make().compiled()
    policy = torch.nn.Linear(4, 2)

    @compiled
    def loss(token: Any, obs: Any) -> Any:
        total = torch.zeros(())
        for _ in range(3):
            chances = policy(obs).log_softmax(-1)
            actions = chances.argmax(-1)
            token, (obs, reward, *_) = step(token, actions)
            total = total - (chances.gather(1, actions[:, None])[:, 0] * reward).sum()
        return total

    loss(token, torch.ones(4, 4)).backward()
    assert token[1] == 3  # the backward pass repeats no step
    assert policy.weight.grad is not None and policy.weight.grad.abs().sum() > 0


def test_inference_mode_and_after_it(make: Make) -> None:
    env = make()
    row = actions_of(1)[0]
    with torch.inference_mode():
        token, _, step = env.compiled()
        step(token, row)
    step(token, row)
    assert token[1] == 2


def test_the_package_needs_no_torch(run_python) -> None:
    program = """
import sys, gpu_envs
env = gpu_envs.make_vec("CartPole-v0", 2, device="cpu")
env.reset(seed=1)
try: env.compiled()
except ValueError as problem: print(problem)
assert "torch" not in sys.modules
"""
    ran = run_python(program)
    assert "pass arrays='torch' to make_vec" in ran.stdout, ran.stderr


@pytest.mark.parametrize("call", ["step", "reset"])
def test_torch_finds_the_operators_sound(make: Make, monkeypatch, call: str) -> None:
    from gpu_envs.faces import compiled as module

    env = make(3)
    save = env.simulator.save()
    token, _, step = env.compiled()
    calls, worlds = step.__self__, step.__self__.worlds
    # It runs an operator many times with the same arguments, from the same state.
    monkeypatch.setattr(
        module.Worlds, "require_turn", lambda *_: env.simulator.load(save), raising=True
    )
    if call == "step":
        given = (token, actions_of(1, 3)[0], worlds.key)
        torch.library.opcheck(calls._step_call, given)
        return
    for drawn, mask in ((None, None), (torch.tensor(2), None), (None, torch.ones(3).bool())):
        given = (token, [7, 0] if drawn is None else None, False, drawn, mask, worlds.key)
        torch.library.opcheck(calls._reset_call, given)


# ---- resets


@pytest.mark.parametrize("seed", [7, [1, 2, 3, 2**64 - 1], None], ids=["one", "each", "none"])
@pytest.mark.parametrize("mask", [None, [True, False, False, True]], ids=["all", "some"])
def test_resets_by_seed_and_mask(make: Make, seed: Any, mask: Any) -> None:
    plain, env = make(), make()
    token, reset, step = env.compiled()
    row = actions_of(1)[0]
    step(token, row)
    plain.step(row)
    marks = None if mask is None else torch.tensor(mask)
    _, (obs, _) = compiled(lambda t, m: reset(t, seed=seed, mask=m))(token, marks)
    options = {} if mask is None else {"reset_mask": np.array(mask)}
    assert torch.equal(obs, plain.reset(seed=seed, options=options)[0])
    assert env.simulator.save() == plain.simulator.save()


@pytest.mark.parametrize("seed", [7, [1, 2, 3, 2**40]], ids=["one", "each"])
def test_seeds_may_be_tensors(make: Make, seed: Any) -> None:
    plain, env = make(), make()
    token, reset, _ = env.compiled()
    _, (obs, _) = compiled(lambda t, s: reset(t, seed=s + 0))(token, torch.tensor(seed))
    assert torch.equal(obs, plain.reset(seed=seed)[0])
    assert env.simulator.save() == plain.simulator.save()


def test_integers_that_change_make_two_programs(make: Make) -> None:
    plain, env = make(), make()
    token, reset, _ = env.compiled()
    seen = []

    def backend(graph: Any, _: Any) -> Any:
        seen.append(graph)
        return graph.forward

    run = torch.compile(lambda t, s: reset(t, seed=s), fullgraph=True, backend=backend)
    for seed in range(5, 25):
        run(token, seed)
    plain.reset(seed=24)
    assert len(seen) <= 2
    assert env.simulator.save() == plain.simulator.save()
    for bad in (-1, -(2**40)):
        refused(lambda bad=bad: run(token, bad), r"seed must be in \[0, 2\*\*64\), got -")


@pytest.mark.parametrize("seed", [2**31, 2**32 + 7, 2**63, 2**64 - 1])
def test_seeds_have_64_bits(make: Make, seed: int) -> None:
    plain, env = make(), make()
    token, reset, _ = env.compiled()
    plain.reset(seed=seed)
    for call in (reset, compiled(reset)):
        call(token, seed=seed)
        assert env.simulator.save() == plain.simulator.save()


def test_one_world_takes_an_integer_or_a_list_of_one(make: Make) -> None:
    plain, env = make(1, first_world=3), make(1, first_world=3)
    token, reset, _ = env.compiled()
    for seed in (9, [9]):
        plain.reset(seed=seed)
        for given in (seed, torch.tensor(seed)):
            reset(token, seed=given)
            assert env.simulator.save() == plain.simulator.save()


def test_a_mask_by_row(make: Make) -> None:
    plain, env = make(2, "Overcooked-v0"), make(2, "Overcooked-v0")
    token, reset, _ = env.compiled()
    mask = torch.tensor([True, True, False, False])
    reset(token, seed=2, mask=mask)
    plain.reset(seed=2, options={"reset_mask": mask})
    assert env.simulator.save() == plain.simulator.save()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 1.5}, "seed must be a Python int"),
        ({"seed": [1, 2]}, "seed must have one entry per world"),
        ({"seed": -1}, r"seed must be in \[0, 2\*\*64\)"),
        ({"seed": 2**64}, r"seed must be in \[0, 2\*\*64\)"),
        ({"seed": torch.tensor(-1)}, r"seed must be in \[0, 2\*\*64\)"),
        ({"seed": torch.zeros(())}, "seed must be an integer, or 4 of them"),
        ({"seed": torch.zeros(3, dtype=torch.int32)}, r"got torch.int32 of shape \(3,\)"),
        ({"mask": torch.zeros(4, dtype=torch.int32)}, r"mask must be bool of shape \(4,\)"),
        ({"mask": torch.zeros(3, dtype=torch.bool)}, r"mask must be bool .* of shape \(3,\)"),
    ],
)
def test_bad_resets_are_refused(make: Make, given: Any, message: str) -> None:
    env = make()
    token, reset, _ = env.compiled()
    before = env.simulator.save()
    with pytest.raises((TypeError, ValueError), match=message):
        reset(token, **given)
    if isinstance(given.get("seed", given.get("mask")), torch.Tensor):
        refused(lambda: compiled(lambda t: reset(t, **given))(token), message)
    assert env.simulator.save() == before
    reset(token)


# ---- actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (torch.zeros(4), r"actions must be int64 of shape \(4,\)"),
        (torch.zeros(5, dtype=torch.int64), r"got torch.int64 of shape \(5,\)"),
        (torch.zeros((4, 1, 1), dtype=torch.int64), r"got torch.int64 of shape \(4, 1, 1\)"),
        (torch.zeros(4, dtype=torch.complex64), "got torch.complex64"),
    ],
)
def test_actions_of_other_shapes_are_refused(make: Make, actions: Any, message: str) -> None:
    token, _, step = make().compiled()
    for call in (step, compiled(step)):
        refused(lambda call=call: call(token, actions), message)
    step(token, actions_of(1)[0])


@pytest.mark.parametrize("bad", [-1, 2, 2**31 - 1, 2**32, 2**63 - 1])
def test_a_bad_action_is_an_error_and_moves_no_world(make: Make, bad: int) -> None:
    env = make()
    token, _, step = env.compiled()
    before = env.simulator.save()
    for call in (step, compiled(step)):
        refused(lambda call=call: call(token, torch.tensor([0, 1, bad, 0])), "world 2, agent 0")
        assert env.simulator.save() == before
    step(token, actions_of(1)[0])


def test_a_bad_action_midway_ends_a_program(make: Make) -> None:
    plain, env = make(), make()
    token, _, step = env.compiled()

    @compiled
    def run(token: Any, actions: Any) -> Any:
        for k in range(4):
            token, _ = step(token, actions[k])
        return token

    actions = actions_of(4)
    actions[2, 1] = 9
    refused(lambda: run(token, actions), "world 1, agent 0: 9")
    for k in range(2):
        plain.step(actions[k])
    assert env.simulator.save() == plain.simulator.save()
    token, _, _ = env.compiled()
    assert run(token, actions_of(4))[1] == 6


@pytest.mark.parametrize(
    "kind", [torch.uint8, torch.int8, torch.int16, torch.bool, torch.int32, torch.int64]
)
def test_integers_of_any_size_are_actions(make: Make, kind: Any) -> None:
    plain, env = make(), make()
    token, _, step = env.compiled()
    row = actions_of(1)[0]
    _, (obs, *_) = compiled(step)(token, row.to(kind))
    assert torch.equal(obs, plain.step(row)[0])


def test_actions_that_are_strided_lists_or_numpys(make: Make) -> None:
    plain, env = make(), make()
    token, _, step = env.compiled()
    wide = actions_of(4)
    for given in (wide[:, 1], wide[0].tolist(), wide[1].numpy(), wide[2][:, None]):
        _, (obs, *_) = step(token, given)
        assert torch.equal(obs, plain.step(given)[0])


def test_numbers_are_actions_where_they_are(make: Make) -> None:
    name = "CartPoleContinuous-v0"
    plain, env = make(4, name), make(4, name)
    token, _, step = env.compiled()
    row = torch.linspace(-1, 1, 4)[:, None]
    for given in (row, row.double(), row.bfloat16()):
        _, (obs, *_) = compiled(step)(token, given)
        assert torch.equal(obs, plain.step(given)[0])
    refused(lambda: step(token, torch.zeros(4, 1).long()), r"must be float32 of shape \(4, 1\)")


def test_a_gradient_is_refused(make: Make) -> None:
    token, _, step = make(4, "CartPoleContinuous-v0").compiled()
    force = torch.zeros(4, 1, requires_grad=True)
    for call in (step, compiled(step), compiled(lambda t, x: step(t, x * 2))):
        refused(lambda call=call: call(token, force), r"no gradient: pass actions\.detach")
    with torch.no_grad():
        step(token, force)
    step(token, force.detach())


# ---- what is not offered


@pytest.mark.parametrize("program", [lambda f: f, compiled])
def test_a_checkpoint_may_not_run_steps_again(make: Make, program: Any) -> None:
    env = make()
    token, _, step = env.compiled()
    policy = torch.nn.Linear(4, 2)

    def loss(token: Any, obs: Any) -> Any:
        chances = policy(obs).log_softmax(-1)
        _, (seen, *_) = step(token, chances.argmax(-1))
        return (policy(seen).log_softmax(-1) * chances).sum()

    def checkpointed(token: Any, obs: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(loss, token, obs, use_reentrant=False)

    found = program(checkpointed)(token, env.observe()[0])
    steps = int(token[1])
    refused(found.backward, "a backward pass would run this step a second time")
    assert env.compiled()[0][1] == steps


def test_a_memory_budget_may_not_run_steps_again(make: Make) -> None:
    env = make()
    token, _, step = env.compiled()
    policy = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    @compiled
    def loss(token: Any, obs: Any) -> Any:
        total = torch.zeros(())
        for _ in range(4):
            chances = policy(obs).log_softmax(-1)
            token, (obs, reward, *_) = step(token, chances.argmax(-1))
            total = total - (chances[:, 0] * reward).sum()
        return total

    with torch._functorch.config.patch(activation_memory_budget=0.0):
        found = loss(token, env.observe()[0])
        refused(found.backward, "activation_memory_budget")
    assert env.compiled()[0][1] == token[1]


def test_threads_that_ask_at_once_define_an_operator_once(run_python) -> None:
    result = run_python(ASKING)
    assert (result.returncode, result.stderr) == (0, "")


ASKING = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import gpu_envs
import torch  # or else they import it in turns

sys.setswitchinterval(1e-6)
envs = [gpu_envs.make_vec("CartPole-v0", 2, device="cpu", arrays="torch") for _ in range(8)]
together = threading.Barrier(len(envs))


def ask(env):
    env.reset(seed=1)
    together.wait()
    env.compiled()


with ThreadPoolExecutor(len(envs)) as threads:
    list(threads.map(ask, envs))
"""


def test_vmap_is_refused_by_name(make: Make) -> None:
    token, reset, step = make().compiled()
    rows, seeds = actions_of(2), torch.arange(2)
    with pytest.raises(NotImplementedError, match=r"torch\.vmap of a step of CartPole-v0"):
        torch.vmap(lambda row: step(token, row))(rows)
    with pytest.raises(NotImplementedError, match=r"torch\.vmap of a reset of CartPole-v0"):
        torch.vmap(lambda seed: reset(token, seed=seed))(seeds)
    run = compiled(lambda rows: torch.vmap(lambda row: step(token, row))(rows))
    refused(lambda: run(rows), r"vmap of a step")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("HideSeek-v0", {"role": "hider", "others": "random"}, r"without role=, agent= and others"),
        ("HideSeek-v0", {"role": "hider", "others": lambda *_: 0}, "players are in Python"),
        (NAME, {"strict": True}, "needs strict=False"),
        (NAME, {"arrays": "numpy"}, "needs arrays='torch', and this .* arrays='numpy'"),
    ],
)
def test_other_environments_are_refused(
    make: Make, name: str, options: dict[str, Any], message: str
) -> None:
    env = make(2, name, **options)
    with pytest.raises(ValueError, match=message):
        env.compiled()


def test_a_first_reset_comes_before(make: Make) -> None:
    env = gpu_envs.make_vec(NAME, 2, device="cpu", arrays="torch")
    with pytest.raises(ResetNeeded, match="reset"):
        env.compiled()
    env.close()


def test_an_old_torch_is_named(make: Make, monkeypatch) -> None:
    env = make()
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    with pytest.raises(ImportError, match=r"needs torch 2\.4 or newer, and this is 2\.3\.1"):
        env.compiled()


def test_faces_with_infos_of_their_own_refuse(make: Make) -> None:
    from gpu_envs.integrations import cleanrl

    env = cleanrl.VectorEnv(NAME, 2, device="cpu", arrays="torch")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="has its own step"):
        env.compiled()
    env.close()
