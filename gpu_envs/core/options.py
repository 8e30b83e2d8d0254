"""Checks of what a simulator is made from: keyword arguments and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_envs import errors
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.known.fields import Value, checked_values
from gpu_envs.known.fields import read as read_fields

KEYWORDS = (
    "device",
    "arrays",
    "threads",
    "first_world",
    "autoreset_mode",
    "ends",
    "max_episode_steps",
    "strict",
    "reuse",
    "outputs",
    "actions",
    "observation",
    "dtype",
    "final_rows",
    "roles",
)
WORLD_LIMIT = 2**31 - 64  # of one simulator; the native code counts worlds in 32 bits
WORLD_NUMBERS = 2**32  # a world's number is one word of every random draw
_STEP_LIMIT = 2**31 - 1
_ONE_AGENT = "and gymnasium.Env has one agent: use gymnasium.make_vec"


def autoreset(mode: object) -> AutoresetMode:
    """Accept a member of Gymnasium's `AutoresetMode` or exactly the value of one."""
    if isinstance(mode, AutoresetMode):
        return mode
    for member in AutoresetMode:
        if isinstance(mode, str) and member.value == mode:
            return member
    values = [member.value for member in AutoresetMode]
    listed = ", ".join(map(repr, values))
    raise ValueError(
        f"autoreset_mode must be a member of AutoresetMode or one of {listed}, got {mode!r}"
        f"{errors.suggestion(mode, values)}"
    )


def step_limit(steps: object, argument: str = "max_episode_steps") -> int:
    """Return the native form of `max_episode_steps`: -1 for the environment's own limit."""
    return -1 if steps is None else errors.whole(steps, argument, 0, _STEP_LIMIT)


def thread_limit(threads: object) -> int:
    """Return the native form of `threads`: 0 for as many as the process may use."""
    return 0 if threads is None else errors.whole(threads, "threads", 1, 4096)


def action_form(actions: object) -> str:
    """Check `actions`, which the environment may yet refuse; "own" for None."""
    if actions is not None and (not isinstance(actions, str) or actions != "flat"):
        raise ValueError(f"actions must be None or 'flat', got {actions!r}")
    return "own" if actions is None else "flat"


def observation_form(
    description: Mapping[str, Any], observation: object
) -> tuple[str, dict[str, object]]:
    """Check `observation`, unless it names the layers of pictures, which the environment reads.

    Returns:
        "flat" or "dict", and the parameters of the environment that it stands for.
    """
    if isinstance(observation, str) and observation in ("flat", "dict"):
        return observation, {}
    if description.get("pictures"):
        return "flat", {"observation": observation}
    shown = f"observation must be 'flat' or 'dict', got {observation!r}"
    if isinstance(observation, str):
        shown += f": the observations of {description['id']} are no pictures"
    raise ValueError(shown)


def element_type(dtype: object, observation: str, description: Mapping[str, Any]) -> str:
    """Check `dtype`, which the environment may yet refuse; "own" for None."""
    if dtype is None:
        return "own"
    if description.get("pictures"):
        name = description["id"]
        raise ValueError(
            f"dtype must be None, got {dtype!r}: each layer of {name}'s pictures has its own"
        )
    name = getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
    if name not in ("uint8", "float32", "bits"):
        raise ValueError(f"dtype must be None, 'uint8', 'float32' or 'bits', got {dtype!r}")
    if name == "bits" and observation == "dict":
        raise ValueError("dtype='bits' packs all fields into one row: use observation='flat'")
    return name


def rows_kept(final_rows: object) -> str:
    """Check `final_rows`."""
    if not isinstance(final_rows, str) or final_rows not in ("zero", "keep"):
        raise ValueError(f"final_rows must be 'zero' or 'keep', got {final_rows!r}")
    return final_rows


def ends_form(ends: object) -> str:
    """Check `ends`."""
    if not isinstance(ends, str) or ends not in ("agent", "world"):
        raise ValueError(f"ends must be 'agent' or 'world', got {ends!r}")
    return ends


def parameters(description: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Value]:
    """Check the environment's own parameters; a misspelt keyword is met with the closest one."""
    fields = read_fields(description["parameters"])
    names = [field.name for field in fields]
    for name in given:
        if name not in names:
            known = dict.fromkeys([*names, *KEYWORDS])
            raise TypeError(errors.unexpected(description["id"], name, known))
    return checked_values(fields, given, f"parameter of {description['id']}", TypeError)


def for_one_agent(description: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Value]:
    """Check parameters of a world with one agent: no count of agents is changed in silence.

    The description's "agents" is a sum of numbers and of parameters that count agents; a negative
    value of one leaves it open, so that only the environment knows what it will be.
    """
    checked = parameters(description, given)
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


def stream_handle(stream: Any) -> int:
    """Return the handle of a stream: an int, or an object of torch or CuPy."""
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    return errors.whole(stream, "stream", 0, 2**64 - 1)
