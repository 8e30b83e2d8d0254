"""Every described number of every environment refuses what it cannot be, by its name.

Parameters (of the package, and of the native modules beneath it), reset options, actions and
columns: a value below, one above, NaN, and values of another type. Files of single environments
hold only what no description says: relations between parameters, layouts, sentinels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known import native
from gpu_envs.known.measures import sizes
from tests.contract.playing import REGISTERED, every_environment

NAN, INF = math.nan, math.inf
WORLDS, TOUCHED = 3, 1

Refused = tuple[Any, type[Exception], str]  # value, error, what the message says behind the name
Make = Callable[..., gpu_envs.Simulator]


def _beside(low: float | None, high: float | None, kind: str) -> Iterator[float]:
    """Yield the nearest number below a range and the one above, where there are such numbers."""
    for bound, end in ((low, -INF), (high, INF)):
        if bound is None:
            continue
        if kind.startswith("float"):
            of_type = np.dtype(kind).type
            yield float(np.nextafter(of_type(bound), of_type(end)))
        else:
            yield int(bound) + (1 if end > 0 else -1)


def _of_number(field: dict[str, Any]) -> Iterator[Refused]:
    low, high, kind = field["low"], field["high"], field["type"]
    between = f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
    ends = [end for end, bound in ((-INF, low), (INF, high)) if bound is not None]
    is_float = kind.startswith("float")
    for value in [*_beside(low, high, kind), *(ends if is_float else [])]:
        yield value, ValueError, f"must be in {between}, got {value!r}"
    yield NAN, *((ValueError, "must be a number") if is_float else (TypeError, "must be an int"))
    if not is_float:
        yield (low or 0) + 0.5, TypeError, "must be an int, got "
    # Arrays are values by world, where a parameter may differ by world.
    arrays = () if field.get("by_world") else ([1], np.array([3.0, 4.0]))
    for value in ("three", None, True, *arrays, 1j):
        yield value, TypeError, f"must be a number ({kind}), got "


def _of_choice(field: dict[str, Any]) -> Iterator[Refused]:
    listed = ", ".join(map(repr, field["names"]))
    for value in ("no such name", -1, len(field["names"])):
        yield value, ValueError, f"must be one of {listed}, got {value!r}"
    for value in (None, True, 0.5, NAN):
        yield value, (ValueError if value is True else TypeError), f"must be one of {listed}, got "


def refused(field: dict[str, Any]) -> list[Refused]:
    """Return values that a field cannot be."""
    if field.get("names"):
        return list(_of_choice(field))
    if field["type"] == "string":
        return [(value, TypeError, "must be a str") for value in (3, NAN, None, b"3", ["3"])]
    if field["type"] == "bool":
        return [(value, TypeError, "must be a bool, got ") for value in (2, -1, 0.5, NAN, "yes")]
    return list(_of_number(field))


def _refuses(call: Callable[[], Any], error: type[Exception], *said: str) -> None:
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert all(part in text for part in said), f"{said} are not said: {text}"


@every_environment
def test_every_parameter_refuses_what_it_cannot_be(name: str) -> None:
    for field in REGISTERED[name]["parameters"]:
        for value, error, message in refused(field):
            given: dict[str, Any] = {field["name"]: value}
            _refuses(
                lambda given=given: gpu_envs.Simulator(name, 2, device="cpu", **given),
                error,
                f"parameter '{field['name']}' {message}",
            )


@every_environment
def test_a_misspelt_name_is_answered_with_one_that_there_is(
    name: str, make_simulator: Make
) -> None:
    described = REGISTERED[name]
    for field in described["parameters"]:
        wrong = f"{field['name']}s"
        _refuses(
            lambda wrong=wrong: gpu_envs.Simulator(name, 2, device="cpu", **{wrong: 1}),
            TypeError,
            f"{name} got an unexpected keyword argument '{wrong}'; did you mean '",
        )
    simulator = make_simulator(name, WORLDS, **sizes(name, "few"))
    for known in ("reset_mask", *(field["name"] for field in described["reset_options"])):
        _refuses(
            lambda known=known: simulator.reset(options={f"{known}s": 1}),
            ValueError,
            f"unknown reset option '{known}s'; did you mean '{known}'",
        )


@every_environment
def test_native_modules_refuse_numbers_beside_the_range_of_a_parameter(name: str) -> None:
    """They are called without the package's checks by scripts and by whoever embeds them."""
    target = native.cpu_target()
    module, files = native.at(target, name), native.data_files(target, name)
    for field in REGISTERED[name]["parameters"]:
        if field["type"] in ("string", "bool"):
            continue
        for value in (*_beside(field["low"], field["high"], field["type"]), NAN):
            given = {field["name"]: value}
            with pytest.raises((ValueError, TypeError), match=f"parameter '{field['name']}' must"):
                module.Simulator(name, 1, parameters=given, data_files=files)


@every_environment
def test_every_reset_option_refuses_what_it_cannot_be(name: str, make_simulator: Make) -> None:
    simulator = make_simulator(name, WORLDS, **sizes(name, "few"))
    simulator.reset(seed=1)
    before = simulator.save()
    for field in REGISTERED[name]["reset_options"]:
        for value, error, message in refused(field):
            options = {field["name"]: value}
            _refuses(
                lambda options=options: simulator.reset(options=options),
                error,
                f"reset option '{field['name']}' {message}",
            )
    assert simulator.save() == before


def _actors(simulator: gpu_envs.Simulator) -> list[dict[str, Any]]:
    """Return roles, or all agents as one of them: their first agent, count and action."""
    own = {"name": "", "first": 0, "count": simulator.agents_per_world}
    roles: list[dict[str, Any]] = REGISTERED[simulator.name].get("roles") or []
    return roles or [own | {"action": simulator.instance["action"]}]


def _first(actor: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return the number 0 for each component of each agent of an actor."""
    components, kind = len(actor["action"]), actor["action"][0]["type"].replace("int32", "int64")
    is_one_number = components == 1 and kind == "int64"
    return np.zeros((WORLDS, actor["count"], *([] if is_one_number else [components])), kind)


def _wrong(actor: dict[str, Any], good: Any) -> Iterator[tuple[Any, list[str]]]:
    """Yield actions with one number that cannot be, of the actor's last agent, and what is said."""
    several = len(actor["action"]) > 1
    for component, field in enumerate(actor["action"]):
        beside = list(_beside(field["low"], field["high"], field["type"]))
        assert len(beside) == 2, field
        for value in beside + ([NAN, INF] if field["type"].startswith("float") else [2**31 - 1]):
            wrong = good.copy()
            wrong.reshape(WORLDS, actor["count"], -1)[TOUCHED, -1, component] = value
            said = [f"world {TOUCHED}, ", f"_{actor['count'] - 1}:" if actor["name"] else "agent "]
            yield wrong, [*said, f"component {component}" if several else ""]


@every_environment
def test_every_action_refuses_what_it_cannot_be(name: str, make_simulator: Make) -> None:
    """One number of the last agent in one world of three; all others are good."""
    split = {"roles": "split"} if REGISTERED[name].get("roles") else {}
    simulator = make_simulator(name, WORLDS, **sizes(name, "few"), **split)
    simulator.reset(seed=1)
    before = simulator.save()
    actors = _actors(simulator)
    drawn = {actor["name"]: _first(actor) for actor in actors}
    for actor in actors:
        for wrong, said in _wrong(actor, drawn[actor["name"]]):
            given = drawn | {actor["name"]: wrong} if split else wrong
            _refuses(lambda given=given: simulator.step(given), ValueError, "actions", *said)
        good = drawn[actor["name"]]
        strange = ["ahead", None, good[:1], good[..., None], good[..., :-1], good.astype(complex)]
        for given in strange:
            whole = drawn | {actor["name"]: given} if split else given
            _refuses(lambda whole=whole: simulator.step(whole), (TypeError, ValueError), "actions")
    assert simulator.save() == before


@every_environment
def test_every_column_refuses_what_it_cannot_hold(name: str, make_simulator: Make) -> None:
    simulator = make_simulator(name, WORLDS, **sizes(name, "few"))
    simulator.reset(seed=1)
    before = simulator.save()
    for column in simulator.instance["columns"]:
        held = simulator.get(column["name"])
        is_float = held.dtype.kind == "f"
        wrong: list[Any] = ["here"] + [NAN, INF] * is_float
        if column["low"] is not None and held.dtype.kind != "b":
            limits = None if is_float else np.iinfo(held.dtype)
            beside = _beside(column["low"], column["high"], str(held.dtype))
            wrong += [b for b in beside if limits is None or limits.min <= b <= limits.max]
        for value in wrong:
            _refuses(
                lambda column=column, value=value: simulator.set(column["name"], value, [TOUCHED]),
                (ValueError, TypeError),
                column["name"],
            )
    assert simulator.save() == before
