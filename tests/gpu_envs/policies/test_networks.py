"""Networks on observations made by hand: fields, images, entities, memory, gradients, scales."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from gymnasium import spaces

from gpu_envs import Simulator, VectorEnv, environments
from gpu_envs.policies.distributions import Distribution, of_space
from gpu_envs.policies.layered import Layered
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy, Scale
from gpu_envs.policies.options import PolicyOptions
from gpu_envs.train.config import Config

CPU = torch.device("cpu")
FLAT = RowShape(("place", "speed", "legs"), ((2,), (), (2, 2)), 1.0)
IMAGE = RowShape(("planes", "time"), ((5, 4, 3), (2,)), 1.0)
PHOTO = RowShape(("pixels",), ((64, 64, 3),), 255.0)
CROWD = RowShape(("own", "others", "walls"), ((3,), (4, 5), (2, 3)), 1.0)
SHAPES = {"mlp": FLAT, "cnn": IMAGE, "attention": CROWD}


def policy(shape: RowShape, space: Any = None, **choices: Any) -> Policy:
    actions = of_space(space or spaces.Discrete(3), CPU)
    return Policy(shape, actions, Config(env="Game-v0", hidden="8,8", **choices))


def rows(shape: RowShape, count: int = 6) -> torch.Tensor:
    if shape.divisor != 1:
        return torch.randint(0, 256, (count, sum(shape.sizes)), dtype=torch.uint8)
    return torch.randn(count, sum(shape.sizes))


def fields_of(shape: RowShape, flat: torch.Tensor) -> dict[str, torch.Tensor]:
    parts = flat.split(shape.sizes, -1)
    return {
        name: part.reshape(*flat.shape[:-1], *size)
        for name, size, part in zip(shape.names, shape.shapes, parts, strict=True)
    }


# ---- fields


@pytest.mark.parametrize("shape", [FLAT, IMAGE, PHOTO, CROWD], ids=lambda s: s.names[0])
def test_a_dict_of_fields_equals_the_flat_row_bit_for_bit(shape: RowShape) -> None:
    flat = rows(shape)
    named = fields_of(shape, flat)
    assert torch.equal(shape.flat(named, 1), shape.flat(flat, 1))
    # In any order, and with a time axis.
    shuffled = dict(reversed(list(named.items())))
    assert torch.equal(shape.flat(shuffled, 1), shape.flat(flat, 1))
    many = flat.unflatten(0, (2, 3))
    named = fields_of(shape, many)
    assert torch.equal(shape.flat(named, 2), shape.flat(many, 2))
    assert shape.flat(many, 2).shape == (2, 3, sum(shape.sizes))


@pytest.mark.parametrize("encoder", ["mlp", "cnn", "attention"])
def test_a_policy_takes_dicts_and_rows_of_any_shape_alike(encoder: str) -> None:
    shape = SHAPES[encoder]
    made, flat = policy(shape, encoder=encoder), rows(shape)
    outputs, value, memory = made(flat)
    assert outputs.shape == (6, 3) and value.shape == (6,) and memory is None
    for given in (fields_of(shape, flat), flat.unflatten(-1, (1, -1))):
        again = made(given)
        assert torch.equal(again[0], outputs) and torch.equal(again[1], value)


def test_pixels_are_divided_and_other_bytes_are_not() -> None:
    ones = torch.full((2, 64 * 64 * 3), 255, dtype=torch.uint8)
    assert torch.equal(PHOTO.flat(ones, 1), torch.ones(2, 64 * 64 * 3))
    counts = RowShape(("counts",), ((3,),), 1.0)
    assert counts.flat(torch.tensor([[0, 20, 255]], dtype=torch.uint8), 1).tolist() == [
        [0, 20, 255]
    ]


@pytest.mark.parametrize("name", environments())
def test_shapes_are_those_of_the_environments_rows(name: str) -> None:
    simulator = Simulator(name, 2, device="cpu")
    for role in simulator.roles:
        shape, space = RowShape.of(simulator, role.kind), role.observation_space
        layers = space.values() if isinstance(space, spaces.Dict) else [space]
        assert sum(shape.sizes) == sum(math.prod(layer.shape or ()) for layer in layers)
        if isinstance(space, spaces.Dict):
            assert shape.divisor == 1.0  # each layer has a scale of its own
            continue
        is_byte = space.dtype == "uint8"
        pixels = is_byte and int(space.high.max()) == 255  # type: ignore[attr-defined]
        assert shape.divisor == (255.0 if pixels else 1.0)
    simulator.close()


@pytest.mark.parametrize("parameters", [{}, {"player_count": 4}, {"preset": "very_small"}], ids=str)
def test_fields_of_a_real_game_equal_its_flat_row(parameters: dict[str, Any]) -> None:
    seen = []
    for kind in ("flat", "dict"):
        env = VectorEnv(
            "Hanabi-v0", 3, device="cpu", arrays="torch", observation=kind, **parameters
        )
        shape = RowShape.of(env.simulator)
        seen.append(shape.flat(env.reset(seed=1)[0], 1).clone())
        env.close()
    assert torch.equal(*seen)


# ---- what encoders need


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        ("cnn", ["--encoder cnn", "three axes", "place (2,), speed scalar, legs (2, 2)"]),
        ("attention", ["--encoder attention", "two axes", "pixels (64, 64, 3)"]),
        ("patches", ["--encoder patches", "a picture", "place (2,), speed scalar, legs (2, 2)"]),
        ("residual", ["--encoder residual", "a picture", "place (2,), speed scalar, legs (2, 2)"]),
    ],
)
def test_a_missing_field_is_said_with_what_there_is(encoder: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match="needs a") as found:
        policy(PHOTO if encoder == "attention" else FLAT, encoder=encoder)
    assert all(word in str(found.value) for word in words), found.value


@pytest.mark.parametrize(
    "size", [(1, 1, 1), (3, 9, 2), (35, 50, 1), (36, 36, 3), (36, 90, 1), (64, 64, 3), (84, 84, 4)]
)
def test_images_of_any_size_are_seen(size: tuple[int, int, int]) -> None:
    shape = RowShape(("image",), (size,), 1.0)
    made = policy(shape, encoder="cnn", share=True)
    given = rows(shape, 2)
    outputs, value, _ = made(given)
    assert outputs.shape == (2, 3) and torch.isfinite(outputs).all() and torch.isfinite(value).all()


@pytest.mark.parametrize("encoder", ["patches", "residual", "cnn"])
@pytest.mark.parametrize("size", [(4, 4), (5, 19), (18, 32), (36, 64), (72, 128)])
def test_pictures_are_seen_alike_with_channels_first_and_last(
    size: tuple[int, int], encoder: str
) -> None:
    last = RowShape(("rgb",), ((*size, 3),), 255.0)
    first = RowShape(("rgb",), ((3, *size),), 255.0, channels_first=True)
    made, turned = policy(last, encoder=encoder), policy(first, encoder=encoder)
    turned.load_state_dict(made.state_dict())
    given = torch.randint(0, 256, (5, *size, 3), dtype=torch.uint8)
    outputs, value, _ = made(given)
    assert outputs.shape == (5, 3) and torch.isfinite(outputs).all() and torch.isfinite(value).all()
    again = turned(given.movedim(-1, 1).contiguous())
    assert torch.allclose(again[0], outputs, atol=1e-5)
    assert torch.allclose(again[1], value, atol=1e-5)
    # What a picture has is seen: another one is judged otherwise.
    assert not torch.allclose(made(255 - given)[1], value, atol=1e-4)


def test_who_is_blind_sees_no_difference() -> None:
    made = policy(FLAT, blind=True)
    one, two = (made(rows(FLAT)) for _ in range(2))
    assert torch.equal(one[0], two[0]) and torch.equal(one[1], two[1])
    assert not torch.equal(policy(FLAT)(rows(FLAT))[1], policy(FLAT)(rows(FLAT))[1])


@pytest.mark.parametrize("encoder", ["patches", "residual"])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (3, 40), (5, 6), (18, 32), (19, 33), (21, 90)])
def test_every_pixel_is_seen(size: tuple[int, int], encoder: str) -> None:
    """At the lowest rows a voxel game shows the time, and an agent what it stands before."""
    shape = RowShape(("rgb",), ((*size, 3),), 255.0)
    made: Any = policy(shape, encoder=encoder).encoder
    x = torch.rand(16, math.prod(size) * 3, requires_grad=True)
    made(x).square().sum().backward()
    assert x.grad is not None
    assert (x.grad.abs().sum(0) > 0).all(), x.grad.view(-1, *size, 3).abs().sum((0, 3))


def test_residual_blocks_add_to_what_they_saw() -> None:
    """With blocks of zeros a stage is a convolution and the greatest of its neighbourhoods."""
    shape = RowShape(("rgb",), ((18, 32, 3),), 255.0)
    made: Any = policy(shape, encoder="residual", activation="relu").encoder
    x = torch.rand(2, 18, 32, 3)
    with torch.no_grad():
        expected = x.movedim(-1, 1)
        for stage in made.stages:
            for layer in stage.outer:
                layer.weight.zero_()
            expected = torch.nn.functional.max_pool2d(stage.first(expected), 3, 2, 1)
        expected = made.last(torch.relu(expected).movedim(1, -1).flatten(1))
        assert len(made.stages) == 3 and all(len(stage.outer) == 2 for stage in made.stages)
        assert torch.allclose(made(x.flatten(1)), expected, atol=1e-6)
        stage.outer[1].bias.fill_(1.0)
        assert not torch.allclose(made(x.flatten(1)), expected, atol=1e-2)


@pytest.mark.parametrize("encoder", ["patches", "residual"])
def test_all_of_a_pictures_encoder_learns(encoder: str) -> None:
    shape = RowShape(("rgb",), ((18, 32, 3),), 255.0)
    made = policy(shape, encoder=encoder, activation="relu", share=True)
    outputs, value, _ = made(rows(shape, 32))
    (outputs.square().sum() + value.square().sum()).backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None and bool((weight.grad != 0).any()), name


def test_convolutions_see_height_width_and_channels_in_place() -> None:
    """A first layer that passes on one pixel's channel shows that pixel and no other."""
    made = policy(IMAGE, encoder="cnn", activation="relu")
    conv = made.encoder.stacks[0][0]  # type: ignore[index, union-attr]
    with torch.no_grad():
        conv.weight.zero_()
        conv.weight[0, 2, 1, 1] = 1.0  # the middle of the kernel, on channel 2
    given = torch.zeros(1, 62)
    given[0, (3 * 4 + 1) * 3 + 2] = 5.0  # row 3, column 1, channel 2
    seen = []
    conv.register_forward_hook(lambda *a: seen.append(a[2].detach()))
    made(given)
    assert seen[0].shape == (1, 32, 5, 4)
    assert seen[0].nonzero().tolist() == [[0, 0, 3, 1]] and float(seen[0].max()) == 5.0


def test_photos_of_bytes_equal_the_same_photos_of_fractions() -> None:
    made, fractions = policy(PHOTO, encoder="cnn"), RowShape(("pixels",), ((64, 64, 3),), 1.0)
    given = rows(PHOTO, 2)
    expected = made(given)
    made.shape = fractions
    found = made(given.float() / 255)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])


def test_numbers_beside_images_and_entities_are_seen() -> None:
    for encoder, place in (("cnn", -1), ("attention", 0)):
        shape = SHAPES[encoder]
        made, given = policy(shape, encoder=encoder), rows(shape, 1)
        other = given.clone()
        other[0, place] += 1
        assert not torch.equal(made(other)[0], made(given)[0])


# ---- entities


def crowd(own: torch.Tensor, others: torch.Tensor, walls: torch.Tensor) -> torch.Tensor:
    return torch.cat((own, others.flatten(1), walls.flatten(1)), -1)


def test_the_order_of_entities_does_not_matter() -> None:
    made = policy(CROWD, encoder="attention")
    own, others, walls = torch.randn(6, 3), torch.randn(6, 4, 5), torch.randn(6, 2, 3)
    others[:, 2] = 0
    expected = made(crowd(own, others, walls))
    for order in ([3, 2, 1, 0], [1, 0, 2, 3], [2, 3, 0, 1]):
        found = made(crowd(own, others[:, order], walls.flip(1)))
        for one, other in zip(found[:2], expected[:2], strict=True):
            assert torch.allclose(one, other, atol=1e-6)
    assert not torch.allclose(made(crowd(own.flip(0), others, walls))[0], expected[0], atol=1e-4)


def test_entities_that_are_all_zero_are_not_there() -> None:
    """Four places of which two are empty equal two places, with the same weights."""
    small = RowShape(("own", "others"), ((3,), (2, 5)), 1.0)
    large = RowShape(("own", "others"), ((3,), (4, 5)), 1.0)
    few, many = policy(small, encoder="attention"), policy(large, encoder="attention")
    many.load_state_dict(few.state_dict())
    own, others, empty = torch.randn(6, 3), torch.randn(6, 2, 5), torch.zeros(6, 2, 5)
    expected = few(torch.cat((own, others.flatten(1)), -1))
    for places in ((others, empty), (empty, others), (empty[:, :1], others, empty[:, :1])):
        found = many(torch.cat((own, torch.cat(places, 1).flatten(1)), -1))
        for one, other in zip(found[:2], expected[:2], strict=True):
            assert torch.allclose(one, other, atol=1e-6)
    present = others.clone()
    present[:, 0] = 0  # one less is seen
    assert not torch.allclose(
        few(torch.cat((own, present.flatten(1)), -1))[0], expected[0], atol=1e-4
    )


def test_nobody_there_is_no_trouble() -> None:
    for shape in (CROWD, RowShape(("others",), ((4, 5),), 1.0)):
        made = policy(shape, encoder="attention")
        outputs, value, _ = made(torch.zeros(3, sum(shape.sizes)))
        (outputs.sum() + value.sum()).backward()
        assert torch.isfinite(outputs).all() and torch.isfinite(value).all()
        assert all(p.grad is None or torch.isfinite(p.grad).all() for p in made.parameters())


# ---- memory


@pytest.mark.parametrize("encoder", ["mlp", "cnn", "attention"])
@pytest.mark.parametrize("norm", [False, True])
def test_a_sequence_equals_its_steps_with_memory_lost_where_episodes_begin(
    encoder: str, norm: bool
) -> None:
    shape, steps, count = SHAPES[encoder], 7, 4
    made = policy(shape, encoder=encoder, memory=5, memory_norm=norm)
    obs = rows(shape, steps * count).unflatten(0, (steps, count))
    begins = torch.zeros(steps, count, dtype=torch.bool)
    begins[3, 1] = begins[0, 2] = begins[6, 3] = begins[5, 1] = True
    memory = start = torch.randn(count, 5)
    found = made.sequence(obs, start, begins)
    for step in range(steps):
        memory = memory.masked_fill(begins[step].unsqueeze(-1), 0)
        outputs, value, memory = made.plain(obs[step], memory)
        assert torch.allclose(found[0][step], outputs, atol=1e-5)
        assert torch.allclose(found[1][step], value, atol=1e-5)


def test_memory_carries_what_was_seen_and_begins_carry_nothing() -> None:
    made = policy(FLAT, memory=5)
    obs = rows(FLAT, 6).unflatten(0, (3, 2))
    begins = torch.zeros(3, 2, dtype=torch.bool)
    begins[2, 0] = True
    other = obs.clone()
    other[0] += 1
    one, two = (made.sequence(o, torch.zeros(2, 5), begins)[1] for o in (obs, other))
    assert one[2, 0] == two[2, 0] and one[2, 1] != two[2, 1]


def test_there_is_no_norm_without_a_memory() -> None:
    with pytest.raises(ValueError, match="--memory-norm needs --memory"):
        policy(FLAT, memory_norm=True)


def test_a_normed_memory_takes_in_and_gives_numbers_of_one_size() -> None:
    made = policy(FLAT, memory=5, memory_norm=True)
    taken: list[torch.Tensor] = []
    made.cell.register_forward_pre_hook(lambda _, inputs: taken.append(inputs[0]))
    given: list[torch.Tensor] = []
    made.actor.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    with torch.no_grad():
        made.encoder.layers[-1].weight.mul_(100)  # type: ignore[union-attr, operator, index]
        _, _, memory = made.plain(rows(FLAT, 50))
    for part in (*taken, *given):
        assert part.mean(-1).abs().max() < 1e-4 and (part.std(-1) < 1.3).all()
    assert memory is not None and memory.std(-1).max() < 1.2  # what is kept is the cell's own


def test_gradients_flow_through_memory_to_its_beginning_alone() -> None:
    made = policy(FLAT, memory=5)
    obs = rows(FLAT, 8).unflatten(0, (4, 2)).requires_grad_()
    begins = torch.zeros(4, 2, dtype=torch.bool)
    begins[2, 0] = True
    made.sequence(obs, torch.zeros(2, 5), begins)[1][3].sum().backward()
    assert obs.grad is not None
    seen = obs.grad.abs().sum(-1) > 0
    assert seen.tolist() == [[False, True], [False, True], [True, True], [True, True]]


# ---- heads


SPACES = (spaces.Discrete(4), spaces.MultiDiscrete([2, 3]), spaces.Box(-1, 1, (2,), "float32"))


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("encoder", ["mlp", "cnn", "attention"])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"share": True},
        {"memory": 6},
        {"memory": 6, "memory_norm": True},
        {"activation": "relu"},
    ],
    ids=str,
)
def test_every_parameter_gets_a_gradient(space: Any, encoder: str, choices: dict[str, Any]) -> None:
    shape = SHAPES[encoder]
    made = policy(shape, space, encoder=encoder, **choices)
    actions: Distribution = made.actions
    memory = torch.randn(6, made.memory_size) if made.memory_size else None
    outputs, value, _ = made(rows(shape), None, memory)
    assert outputs.shape == (6, actions.outputs)
    action = actions.sample(outputs, torch.rand(6, actions.draws)).detach()
    loss = actions.log_prob(outputs, action).sum() + actions.entropy(outputs).sum()
    (loss + value.square().sum()).backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None and (parameter.grad != 0).any(), name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("encoder", ["mlp", "cnn", "attention"])
def test_actor_and_critic_share_only_what_they_should(encoder: str) -> None:
    shape = SHAPES[encoder]
    for choices, is_shared in (({}, False), ({"share": True}, True), ({"memory": 4}, True)):
        made = policy(shape, encoder=encoder, **choices)
        made(rows(shape))[1].sum().backward()
        reached = any(p.grad is not None for p in made.encoder.parameters())
        assert reached == is_shared
        assert (made.critic_encoder is None) == is_shared


@pytest.mark.parametrize("encoder", ["mlp", "cnn", "attention"])
@pytest.mark.parametrize("memory", [0, 4])
def test_no_rows_are_no_trouble(encoder: str, memory: int) -> None:
    """A rank may have no rows that an earlier policy plays."""
    shape = SHAPES[encoder]
    made = policy(shape, encoder=encoder, memory=memory)
    before = torch.zeros(0, memory) if memory else None
    outputs, value, after = made(rows(shape, 0), None, before)
    assert outputs.shape == (0, 3) and value.shape == (0,)
    assert after is None if not memory else after is not None and after.shape == (0, 4)


def test_the_first_policy_is_nearly_uniform_and_the_first_values_small() -> None:
    for encoder, shape in SHAPES.items():
        made = policy(shape, encoder=encoder)
        outputs, value, _ = made(rows(shape, 100))
        assert (outputs.exp() - 1 / 3).abs().max() < 0.05, encoder
        assert value.abs().max() < 1.5, encoder


def test_masks_reach_the_outputs() -> None:
    made = policy(FLAT)
    mask = torch.tensor([[1, 0, 1]] * 6, dtype=torch.int8)
    assert (made(rows(FLAT), mask)[0].exp()[:, 1] == 0).all()


# ---- the critic's units


def sums_of(numbers: torch.Tensor) -> torch.Tensor:
    n = numbers.double()
    return torch.stack((torch.tensor(float(len(n)), dtype=torch.float64), n.sum(), (n * n).sum()))


def test_a_scale_takes_the_moments_of_its_first_targets() -> None:
    scale, targets = Scale(), 3 * torch.randn(10_000) - 7
    scale.update(sums_of(targets), 0.99)
    assert float(scale.mean) == pytest.approx(float(targets.mean()), rel=1e-5)
    assert float(scale.deviation) == pytest.approx(float(targets.std()), rel=1e-3)


def test_a_scale_follows_and_forgets() -> None:
    scale = Scale()
    for k in range(3):
        scale.update(sums_of(torch.tensor([float(k), float(k)])), 0.5)
    # Weights 1/4, 1/2, 1 of 0, 1, 2, however many targets each had.
    mean = (0 / 4 + 1 / 2 + 2) / 1.75
    assert float(scale.mean) == pytest.approx(mean)
    assert float(scale.deviation) == pytest.approx(math.sqrt((1 / 2 + 4) / 1.75 - mean**2))
    scale.update(sums_of(torch.zeros(0)), 0.5)  # an update without samples changes nothing
    assert float(scale.mean) == pytest.approx(mean)


def test_equal_targets_are_no_division_by_zero() -> None:
    scale = Scale()
    scale.update(sums_of(torch.full((100,), 1e4)), 0.99)
    assert float(scale.deviation) == pytest.approx(0.01) and float(scale.mean) == pytest.approx(1e4)


def test_values_come_in_units_of_rewards_and_scales_are_saved() -> None:
    made, given = policy(FLAT), rows(FLAT)
    made.scale.update(sums_of(torch.tensor([10.0, 30.0])), 0.99)
    assert torch.allclose(made.value(given), made(given)[1] * 10 + 20, atol=1e-5)
    other = policy(FLAT)
    other.load_state_dict(made.state_dict())
    assert torch.equal(other.value(given), made.value(given))


@pytest.mark.usefixtures("gallery")
def test_one_layer_of_a_picture_is_bytes(make_simulator) -> None:
    options: dict[str, Any] = {"arrays": "torch", "resolution": (8, 9)}
    simulator = make_simulator("Gallery-v0", 2, **options)
    shape = RowShape.of(simulator)
    assert (shape.names, shape.shapes, shape.divisor) == (("rgb",), ((3, 8, 9),), 255.0)
    rows = shape.flat(simulator.reset(seed=1).obs, 2)
    assert rows.shape == (2, 2, 3 * 8 * 9)
    assert 0 < rows.max() <= 1


@pytest.mark.usefixtures("gallery")
def test_layers_and_numbers_are_one_row(make_simulator) -> None:
    options: dict[str, Any] = {"arrays": "torch", "resolution": (8, 9)}
    simulator = make_simulator("Gallery-v0", 2, observation="rgb+depth+numbers", **options)
    shape = RowShape.of(simulator)
    assert shape.names == ("rgb", "depth", "gaze", "steps")
    assert shape.shapes == ((3, 8, 9), (1, 8, 9), (2,), ())
    assert (shape.pictures, shape.seen, shape.scales) == (2, 288, (255.0, 1.0, 1.0, 1.0))
    seen = simulator.reset(seed=1).obs
    parts = [seen["rgb"] / 255, seen["depth"], seen["gaze"], seen["steps"]]
    rows = shape.flat(Layered(seen), 2)
    assert torch.equal(rows, torch.cat([part.flatten(2) for part in parts], -1))
    assert torch.equal(rows, shape.flat(seen, 2))  # a plain dictionary by field too
    named = make_simulator("Gallery-v0", 2, **{**options, "observation": "dict"})
    assert torch.equal(RowShape.of(named).flat(named.reset(seed=1).obs, 2), rows[..., :216])


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize("encoder", ["patches", "residual", "cnn"])
def test_encoders_take_layers_and_numbers(make_simulator, encoder: str, channels: str) -> None:
    options: dict[str, Any] = {"arrays": "torch", "resolution": (12, 16), "channels": channels}
    simulator = make_simulator("Gallery-v0", 2, observation="rgb+depth+numbers", **options)
    shape = RowShape.of(simulator)
    torch.manual_seed(1)
    actions = of_space(simulator.single_action_space, torch.device("cpu"))
    policy = Policy(shape, actions, PolicyOptions(env="", encoder=encoder))
    seen = simulator.reset(seed=1).obs
    rows = Layered({name: part.flatten(0, 1) for name, part in seen.items()})
    before = policy.plain(rows)[0]
    for name, part in rows.parts.items():  # each of them matters
        changed = Layered({**rows.parts, name: torch.flip(part, [0]) + 1})
        assert not torch.allclose(policy.plain(changed)[0], before), name
    blind = Policy(shape, actions, PolicyOptions(env="", encoder=encoder, blind=True))
    before = blind.plain(rows)[0]
    for name, part in rows.parts.items():  # numbers can still be read
        changed = Layered({**rows.parts, name: torch.flip(part, [0]) + 1})
        is_seen = name in ("gaze", "steps")
        assert torch.equal(blind.plain(changed)[0], before) != is_seen, name
