"""Checks of the environment's own parameters, which it describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_envs import errors
from gpu_envs.core import own_values
from gpu_envs.core.options import KEYWORDS
from gpu_envs.known.fields import Value, checked_values
from gpu_envs.known.fields import read as read_fields

_ONE_AGENT = "and gymnasium.Env has one agent: use gymnasium.make_vec"


def checked_parameters(
    description: Mapping[str, Any], given: Mapping[str, object]
) -> dict[str, Value]:
    """Check the environment's own parameters; a misspelt keyword is met with the closest one."""
    fields = read_fields(description["parameters"])
    names = [field.name for field in fields]
    for name in given:
        if name not in names:
            known = dict.fromkeys([*names, *KEYWORDS])
            raise TypeError(errors.unexpected(description["id"], name, known))
    return checked_values(fields, given, f"parameter of {description['id']}", TypeError)


def for_one_agent(description: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """Check parameters of a world with one agent: no count of agents is changed in silence.

    The description's "agents" is a sum of numbers and of parameters that count agents; a negative
    value of one leaves it open, so that only the environment knows what it will be.
    """
    common, own = own_values.split(read_fields(description["parameters"]), given)
    checked = checked_parameters(description, common) | own
    agents = str(description["agents"])
    terms = agents.split(" + ")
    counts = [field for field in read_fields(description["parameters"]) if field.name in terms]
    known = {field.name: checked.get(field.name, field.default) for field in counts}
    numbers = [known.get(term, term) for term in terms]
    if all(int(n) >= 0 for n in numbers) and sum(int(n) for n in numbers) == 1:
        return checked
    alone = _of_one_agent(terms, {field.name: field.low for field in counts})
    who = f"{description['id']} has {agents} agents per world"
    if len(terms) == 1 and agents in checked:
        who = f"{agents} is {checked[agents]}"
    instead = f"{_ONE_AGENT} or gpu_envs.parallel_env"
    raise ValueError(f"{who}, {instead}" + (f", or pass {alone}" if alone else ""))


def _of_one_agent(terms: Sequence[str], lows: Mapping[str, float | None]) -> str:
    """Return the parameters that leave one agent, as they would be typed; "" if there are none."""
    least = [max(int(lows[t] or 0), 0) if t in lows else int(t) for t in terms]
    if sum(least) == 0:
        least[-1] = 1
    pairs = [f"{t}={n}" for t, n in zip(terms, least, strict=True) if t in lows]
    return " and ".join(pairs) if sum(least) == 1 else ""
