"""The options of a simulator: one dataclass, in which each has its default, its text and its check.

`Simulator` takes them as keywords, and the faces of libraries pass on those that they do not settle
themselves; all of their help texts come from here. `parameters` has what environments add.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gpu_envs import errors
from gpu_envs.core import layout, libraries
from gpu_envs.core.autoreset import AutoresetMode

WORLD_LIMIT = 2**31 - 64  # of one simulator; the native code counts worlds in 32 bits
WORLD_NUMBERS = 2**32  # a world's number is one word of every random draw
_STEP_LIMIT = 2**31 - 1
_PLACE = re.compile(r"^( +)\(options\): .*\n", re.MULTILINE)

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class Case:
    """What the check of an option may depend on."""

    machine: str  # "cpu" or "cuda"
    description: Mapping[str, Any]  # of the environment
    num_worlds: int
    given: Options


Check = Callable[[Any, Case], Any]

# Checks: each takes what the caller gave and returns what the simulator works with.


def _as_given(value: Any, case: Case) -> Any:
    return value


def _array_library(arrays: Any, case: Case) -> str:
    return libraries.library(arrays, case.machine)


def _thread_limit(threads: object, case: Case) -> int:
    """Return the native form of `threads`: 0 for as many as the process may use."""
    return 0 if threads is None else errors.whole(threads, "threads", 1, 4096)


def _first_world(number: object, case: Case) -> int:
    return errors.whole(number, "first_world", 0, WORLD_NUMBERS - case.num_worlds)


def _level(number: object, argument: str) -> int:
    return errors.whole(number, argument, 0, WORLD_NUMBERS - 1)


def _autoreset(mode: object, case: Case) -> str:
    """Accept a member of Gymnasium's `AutoresetMode` or exactly the value of one."""
    if isinstance(mode, AutoresetMode):
        return mode.value
    values = [member.value for member in AutoresetMode]
    if isinstance(mode, str) and mode in values:
        return mode
    listed = ", ".join(map(repr, values))
    raise ValueError(
        f"autoreset_mode must be a member of AutoresetMode or one of {listed}, got {mode!r}"
        f"{errors.suggestion(mode, values)}"
    )


def step_limit(steps: object, argument: str = "max_episode_steps") -> int:
    """Return the native form of `max_episode_steps`: -1 for the environment's own limit."""
    return -1 if steps is None else errors.whole(steps, argument, 0, _STEP_LIMIT)


def _reused(reuse: object, case: Case) -> bool:
    is_reused = errors.flag(reuse, "reuse")
    if is_reused and case.given.arrays == "jax":
        raise ValueError("reuse=True is not possible with arrays='jax': its arrays are immutable")
    return is_reused


def _action_form(actions: object, case: Case) -> str:
    """Check `actions`, which the environment may yet refuse; "own" for None."""
    if actions is not None and (not isinstance(actions, str) or actions != "flat"):
        raise ValueError(f"actions must be None or 'flat', got {actions!r}")
    return "own" if actions is None else "flat"


def _is_form(observation: object) -> bool:
    return isinstance(observation, str) and observation in ("flat", "dict")


def picture_layers(observation: object) -> dict[str, object]:
    """Return the parameter of the environment that `observation` stands for, if it names layers."""
    return {} if _is_form(observation) else {"observation": observation}


def _observation_form(observation: Any, case: Case) -> str:
    """Return "flat" or "dict"; layers of pictures are flat, and the environment reads them."""
    if _is_form(observation):
        return str(observation)
    if case.description.get("pictures"):
        return "flat"
    shown = f"observation must be 'flat' or 'dict', got {observation!r}"
    if isinstance(observation, str):
        shown += f": the observations of {case.description['id']} are no pictures"
    raise ValueError(shown)


def _element_type(dtype: object, case: Case) -> str:
    """Check `dtype`, which the environment may yet refuse; "own" for None."""
    if dtype is None:
        return "own"
    if case.description.get("pictures"):
        name = case.description["id"]
        raise ValueError(
            f"dtype must be None, got {dtype!r}: each layer of {name}'s pictures has its own"
        )
    name = getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
    if name not in ("uint8", "float32", "bits"):
        raise ValueError(f"dtype must be None, 'uint8', 'float32' or 'bits', got {dtype!r}")
    if name == "bits" and case.given.observation == "dict":
        raise ValueError("dtype='bits' packs all fields into one row: use observation='flat'")
    return name


def _role_rows(roles: object, case: Case) -> str:
    """Check `roles`; both forms are the same where all agents are of one kind."""
    forms = ("padded", "split")
    if not isinstance(roles, str) or roles not in forms:
        meant = errors.suggestion(roles, forms)
        raise ValueError(f"roles must be 'padded' or 'split', got {roles!r}{meant}")
    own, environment = case.description.get("roles"), case.description["id"]
    if not own or roles == "split":
        return "split" if own else "own"
    instead = "use roles='split', role=, or gpu_envs.parallel_env"
    if not case.description.get("can_pad", True):
        raise ValueError(
            f"rows of {environment} cannot be padded, since those of its roles differ in kind: "
            f"{instead}"
        )
    lacking = [role["name"] for role in own if role["choices"] is None]
    if lacking:
        raise ValueError(
            f"rows of {environment} cannot be padded, since an action of {' or '.join(lacking)} is "
            f"not one category: {instead}"
        )
    return "padded"


def _names(varies: object) -> tuple[str, ...]:
    """Check names of parameters, which the environment may yet refuse."""
    if isinstance(varies, str) or not isinstance(varies, Sequence):
        what = errors.shown(varies)
        raise TypeError(f"varies must be a list of names of parameters, got {what}")
    for name in varies:
        if not isinstance(name, str):
            raise TypeError(f"varies must have names of parameters, got {errors.shown(name)}")
    return tuple(varies)


def _one_of(argument: str, first: str, second: str) -> Check:
    def check(value: object, case: Case) -> str:
        if not isinstance(value, str) or value not in (first, second):
            raise ValueError(f"{argument} must be {first!r} or {second!r}, got {value!r}")
        return value

    return check


def _option(default: Any, doc: str, check: Check, *, of_batch: bool = False) -> Any:
    """Return a field of `Options`.

    Args:
        default: Its value where the caller says nothing.
        doc: Its text in the help.
        check: Refuses a bad value; returns what the simulator works with.
        of_batch: Whether interfaces to one world settle it themselves.
    """
    return dataclasses.field(
        default=default, metadata={"doc": doc, "check": check, "of_batch": of_batch}
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a simulator is made with, beside its environment, worlds and parameters."""

    device: str = _option(
        "auto",
        '"auto", "cpu", "cuda" or "cuda:<n>"; auto takes a GPU when there is one.',
        _as_given,  # `native.prepare` checks it, before there is a description
    )
    arrays: str | None = _option(
        None,
        '"numpy", "torch", "cupy" or "jax"; default numpy on the CPU, torch on a GPU.',
        _array_library,
        of_batch=True,
    )
    threads: int | None = _option(
        None,
        "At most this many threads (CPU); default all that the process may use.",
        _thread_limit,
        of_batch=True,
    )
    first_world: int = _option(
        0,
        "Number of the first world, for batches spread over processes: same seed, other "
        "`first_world`.",
        _first_world,
    )
    level_count: int = _option(
        0,
        "Number of fixed levels: each episode draws one of them and begins as it does; 0 for no "
        "limit. Level k begins as world k does after `reset(seed=0)`, whatever the seed.",
        lambda number, case: _level(number, "level_count"),
    )
    first_level: int = _option(
        0,
        "Number of the first of the `level_count` levels: others than those of training show how "
        "well a policy generalises.",
        lambda number, case: _level(number, "first_level"),
    )
    autoreset_mode: AutoresetMode | str = _option(  # noqa: RUF009 - it returns a field
        "SameStep",
        '"SameStep", "NextStep", "Disabled", or the member of Gymnasium\'s `AutoresetMode`.',
        _autoreset,
        of_batch=True,
    )
    ends: str = _option(
        "agent",
        'When an agent that ends before its world is flagged. "agent": in the step of its own end, '
        'with last observation and statistics, and not again. "world": when its world is over, in '
        "one step with all other agents; then an agent that had ended before, or was absent from "
        "the episode, is terminated, and statistics count all steps of the world (none for an "
        "absent agent). An agent that has ended shows zeros and reward 0 in both.",
        _one_of("ends", "agent", "world"),
    )
    max_episode_steps: int | None = _option(
        None,
        "Time limit of an episode; None for the environment's own limit, 0 for none.",
        lambda steps, case: step_limit(steps),
    )
    varies: Sequence[str] = _option(
        (),
        "Names of parameters of which each world has a value of its own, to be set later "
        "(`set_parameters`); those that are given as an array or a range are among them.",
        lambda varies, case: _names(varies),
    )
    strict: bool = _option(
        False,
        "Raise the errors of `check` after each step; on a GPU this waits for it.",
        lambda strict, case: errors.flag(strict, "strict"),
    )
    reuse: bool = _option(
        False,
        "Write every step into the same arrays, valid until the next call and not to be written by "
        "the caller: their `ended` tells the next step which rows of `final_obs` to clear, unless "
        "an `out=` ever took one of the two.",
        _reused,
        of_batch=True,
    )
    outputs: Sequence[str] | None = _option(
        None,
        "Names of the optional outputs to write; default all but two, which are written only where "
        "they are named: `parameters`, those of each world that may differ by world, in the order "
        "of their description, and `final_state`, the states of those worlds (SameStep) in which "
        "an agent's episode ended in this step, from before the next one began.",
        lambda outputs, case: layout.checked_names(outputs),
        of_batch=True,
    )
    actions: str | None = _option(
        None,
        '"flat" makes one category, a `Discrete`, of an action of several: a number for each '
        "combination, in which the last field is the quickest to change.",
        _action_form,
    )
    observation: str = _option(
        "flat",
        '"flat" for one array per agent, "dict" for views of its fields. Where they are pictures, '
        'also layers joined by +, as "rgb+depth", and "numbers" where some stand beside them: of '
        'several, or with "dict", they come as a dict by layer.',
        _observation_form,
    )
    dtype: str | None = _option(
        None,
        'Element type of the observations, where the environment has more than one: "uint8", '
        '"float32", or "bits" for eight booleans a byte, the first in the lowest bit.',
        _element_type,
    )
    final_rows: str = _option(
        "zero",
        "What the rows of `final_obs` and `final_state` hold in which no episode ended: "
        '"zero", or "keep" for what was in memory before, NaN perhaps, so that no step writes '
        "them; `reset` and `observe` clear them all.",
        _one_of("final_rows", "zero", "keep"),
        of_batch=True,
    )
    roles: str = _option(
        "padded",
        'Where agents are of several kinds whose spaces differ: "padded" for rows of all agents, '
        "each as long as the longest, with an action mask for what is not a role's own; "
        '"split" for one array of all roles, one after the other, each with rows of its own '
        "length: `by_role` has its parts, and `step` takes actions by role.",
        _role_rows,
    )

    def checked(self, machine: str, description: Mapping[str, Any], worlds: int) -> dict[str, Any]:
        """Return every option in the form that the simulator works with; refuse a bad one.

        Args:
            machine: "cpu" or "cuda".
            description: What the environment says of itself.
            worlds: How many there will be.
        """
        case = Case(machine, description, worlds, self)
        return {f.name: f.metadata["check"](getattr(self, f.name), case) for f in _FIELDS}


_FIELDS = dataclasses.fields(Options)
KEYWORDS = tuple(field.name for field in _FIELDS)
OF_BATCHES = tuple(field.name for field in _FIELDS if field.metadata["of_batch"])
# What the native constructor reads, by the same names (known_options in bindings/options.hpp).
NATIVE = tuple(
    name for name in KEYWORDS if name not in ("device", "arrays", "strict", "reuse", "observation")
)


def among(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among named values, as among the arguments of a constructor."""
    return {name: names[name] for name in KEYWORDS}


def documented(but: Collection[str] = ()) -> Callable[[Class], Class]:
    """Return a decorator that writes the texts of the options into the docstring of a class.

    They take the place of the line that begins with "(options):".

    Args:
        but: Names of those that the class does not take, or that it describes itself.
    """
    texts = {f.name: f.metadata["doc"] for f in _FIELDS if f.name not in but}

    def write(owner: Class) -> Class:
        if owner.__doc__ is not None:  # as python -OO leaves it
            owner.__doc__ = _PLACE.sub(lambda found: _paragraphs(texts, found[1]), owner.__doc__)
        return owner

    return write


def _paragraphs(texts: Mapping[str, str], indent: str) -> str:
    further = indent + "    "
    return "".join(
        textwrap.fill(f"{name}: {text}", 100, initial_indent=indent, subsequent_indent=further)
        + "\n"
        for name, text in texts.items()
    )
