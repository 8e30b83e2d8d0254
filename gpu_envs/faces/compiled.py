"""Steps and resets inside `torch.compile`: what `VectorEnv.compiled` returns.

A call is an operator of torch: a form that says types and shapes while a program is traced, and
Python that runs when the program does. Compilers drop, merge and reorder operators that change
nothing, so each call changes a token, which holds the number of the simulator in this process and
the count of its calls. What makes infos of results is traced too: torch 2.4 knows no `|` of dicts.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from gpu_envs.core import resets
from gpu_envs.core.action_forms import ActionForm
from gpu_envs.core.layout import Output
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import OUTPUTS, Outputs

OLDEST = (2, 4)  # of torch: the first with register_fake
# Inductor keeps programs on disk by the names of operators: other arguments need other names.
_ARGUMENTS = {
    "step": "Tensor(a!) token, Tensor actions, str form",
    "reset": "Tensor(a!) token, SymInt[]? words, bool each, Tensor? drawn, Tensor? mask, str form",
}
_TAGS = ("pt2_compliant_tag", "cudagraph_unsafe")  # a replay would not run what is in Python
_WORD = 2**32  # seeds have 64 bits, one more than integers of a program
_library: Any = torch.library.Library("gpu_envs", "FRAGMENT")  # type: ignore[no-untyped-call]

Told = Callable[[Outputs], Any]
Tensor = torch.Tensor
# Name, shape, strides and type of each output.
Laid = tuple[tuple[str, tuple[int, ...], tuple[int, ...], torch.dtype], ...]


@dataclass(frozen=True)
class Form:
    """What tracing has to know of an environment; it holds no worlds."""

    name: str
    device: torch.device
    worlds: int
    agents: int
    actions: ActionForm
    of_step: Laid
    of_reset: Laid

    @property
    def key(self) -> str:
        """The form in a program's text; equal in all processes, which may share programs."""
        digest = hashlib.blake2b(repr(self).encode(), digest_size=8).hexdigest()
        return f"{self.name} x {self.worlds}, {digest}"

    def require_token(self, call: str, token: Tensor) -> None:
        """Refuse a tensor that no `compiled()` returned."""
        if token.dtype is not torch.int64 or token.shape != (2,) or token.device.type != "cpu":
            got = f"{token.dtype} of shape {tuple(token.shape)} on {token.device}"
            raise TypeError(
                f"{call}: a token is two int64 on the CPU, as env.compiled() returns it, got {got}"
            )

    def require_actions(self, actions: Tensor) -> None:
        """Refuse actions of another type, shape or device, and those that want a gradient."""
        form, kind = self.actions, actions.dtype
        is_bool = kind is torch.bool
        is_known = kind.is_floating_point == form.is_float and is_bool <= form.takes_bools
        if not is_known or kind.is_complex or tuple(actions.shape) not in form.shapes:
            wanted = f"{form.dtype} of shape {' or '.join(map(str, dict.fromkeys(form.shapes)))}"
            got = f"{kind} of shape {tuple(actions.shape)}"
            raise TypeError(f"step: actions must be {wanted} ({form.rows}), got {got}")
        if actions.device != self.device:
            raise ValueError(f"step: actions must be on {self.device}, got {actions.device}")
        if actions.requires_grad and torch.is_grad_enabled():
            raise TypeError("step: worlds have no gradient: pass actions.detach()")

    def require_reset(self, drawn: Tensor | None, mask: Tensor | None) -> None:
        """Refuse seeds and a mask of another type or shape."""
        if drawn is not None:
            kind, shape = drawn.dtype, tuple(drawn.shape)
            is_whole = not (kind.is_floating_point or kind.is_complex or kind is torch.bool)
            if not is_whole or shape not in ((), (self.worlds,)):
                what = f"an integer, or {self.worlds} of them, one per world"
                raise TypeError(f"reset: seed must be {what}, got {kind} of shape {shape}")
        if mask is None:
            return
        shape = tuple(mask.shape)
        if mask.dtype is not torch.bool or shape not in ((self.worlds,), self.rows):
            wanted = f"bool of shape ({self.worlds},), or {self.rows} by row"
            raise TypeError(f"reset: mask must be {wanted}, got {mask.dtype} of shape {shape}")

    @property
    def rows(self) -> tuple[int]:
        """Shape of an array with one element per row."""
        return (self.worlds * self.agents,)

    def empty(self, laid: Laid) -> tuple[Tensor, ...]:
        """Allocate the outputs of a call, each by itself: those of an operator share no memory."""
        empty, device = torch.empty_strided, self.device  # in two thirds of the time of torch.empty
        return tuple([empty(shape, by, dtype=kind, device=device) for _, shape, by, kind in laid])


class Worlds:
    """The worlds of one simulator as operators find them; they do not keep it alive.

    Args:
        simulator: Of all agents, with torch's arrays.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = weakref.ref(simulator)
        of_step = simulator.written
        of_reset = [output for output in of_step if not output.by_a_step]
        self.form = Form(
            simulator.name,
            torch.device(simulator.device),
            simulator.num_worlds,
            simulator.agents_per_world,
            simulator.kinds.action_form,
            _laid(of_step),
            _laid(of_reset),
        )
        self.key = self.form.key
        self.step_names = tuple(output.name for output in of_step)
        self.reset_names = tuple(output.name for output in of_reset)
        self._places = [self.step_names.index(n) if n in self.step_names else -1 for n in OUTPUTS]
        self._last = -1  # how many calls there were after the last one of ours
        _forms[self.key] = self.form

    @property
    def simulator(self) -> Simulator:
        """The simulator, whose user this is."""
        found = self._simulator()
        assert found is not None
        return found

    def token(self) -> Tensor:
        """Return the token of the worlds as they are now."""
        number, calls = self.simulator.open_session("compiled")
        _known[number] = self
        with torch.inference_mode(False):  # or else it could not be changed outside that mode
            return torch.tensor([number, calls], dtype=torch.int64, device="cpu")

    def step(self, actions: Tensor) -> tuple[Tensor, ...]:
        """Step now."""
        self.form.require_actions(actions)
        results = self.form.empty(self.form.of_step)
        found = (*results, None)
        self.simulator.step_into(actions, [found[place] for place in self._places])
        return results

    def reset(self, seed: resets.Seeds, mask: Tensor | None) -> tuple[Tensor, ...]:
        """Reset now."""
        results = self.form.empty(self.form.of_reset)
        options = {} if mask is None else {"reset_mask": mask}
        out = dict(zip(self.reset_names, results, strict=True))
        self.simulator.reset_arrays(seed, options, True, out)
        return results

    def require_turn(self, call: str, number: int, calls: int) -> None:
        """Refuse a call that is not the next one."""
        found, now = self.simulator.open_session("compiled")
        if found != number:  # made in the parent of this process
            raise _unknown(call)
        if calls == now:
            return
        if now != self._last:
            raise RuntimeError(
                f"{call}: the worlds were stepped or changed elsewhere after this token was "
                "returned: env.compiled() returns a new one"
            )
        raise RuntimeError(
            f"{call}: this token is a copy from before the last call: pass on the one that the "
            "last call returned, or call env.compiled() for a new one"
        )

    def count(self, calls: int) -> None:
        """Note how many calls there were after one of ours."""
        self._last = calls


_operators: dict[tuple[str, int], Any] = {}
_defining = threading.Lock()
_forms: dict[str, Form] = {}  # by key
_all: weakref.WeakKeyDictionary[Simulator, Worlds] = weakref.WeakKeyDictionary()
_known: weakref.WeakValueDictionary[int, Worlds] = weakref.WeakValueDictionary()  # by number


class Compiled:
    """The two calls of one environment.

    Args:
        simulator: Of all agents, with torch's arrays.
        told: Makes of the outputs of a step what a step returns.
        begun: Makes of those of a reset what a reset returns.
    """

    def __init__(self, simulator: Simulator, told: Told, begun: Told) -> None:
        _refuse(simulator)
        if simulator not in _all:
            _all[simulator] = Worlds(simulator)
        self._told, self._begun = told, begun
        self.worlds = worlds = _all[simulator]
        self.token = worlds.token
        self._step_call = _operator("step", len(worlds.step_names))
        self._reset_call = _operator("reset", len(worlds.reset_names))

    def step(self, token: Tensor, actions: Any) -> tuple[Tensor, Any]:
        """Run one step of every world.

        Args:
            token: What the call before returned; this call changes it.
            actions: One per row.

        Returns:
            The token, and what the environment's own `step` returns.
        """
        given = actions if isinstance(actions, Tensor) else torch.as_tensor(actions)
        found = self._step_call(token, given, self.worlds.key)
        return token, self._told(_named(self.worlds.step_names, found))

    def reset(self, token: Tensor, *, seed: Any = None, mask: Any = None) -> tuple[Tensor, Any]:
        """Begin new episodes in all worlds, or in some.

        Args:
            token: As in `step`.
            seed: An integer for the batch, or one per world; None continues the random streams.
            mask: A bool per world or row; None for all worlds.

        Returns:
            The token, and what the environment's own `reset` returns.
        """
        words, each, drawn = None, False, None
        if isinstance(seed, Tensor):
            drawn = seed
        elif seed is not None:
            if not torch.compiler.is_compiling():  # where an integer may be unknown
                resets.checked_seed(seed, self.worlds.form.worlds)
            each = not isinstance(seed, int)
            seeds = seed if each else [seed]
            words = [word for one in seeds for word in (one % _WORD, one // _WORD)]
        marks = torch.as_tensor(mask) if mask is not None else None
        found = self._reset_call(token, words, each, drawn, marks, self.worlds.key)
        return token, self._begun(_named(self.worlds.reset_names, found))


class _Visit:
    """The worlds of a token for the length of a call, which is counted where it succeeds."""

    def __init__(self, call: str, token: Tensor, key: str) -> None:
        if torch._C._current_graph_task_id() != -1:
            raise RuntimeError(
                f"{call}: a backward pass would run this {call} a second time: keep it out of "
                "torch.utils.checkpoint, and leave activation_memory_budget at 1"
            )
        _form(key).require_token(call, token)
        self._words = token.numpy()
        number, self._calls = self._words.tolist()
        found = _known.get(number)
        if found is None:
            raise _unknown(call)
        if found.key != key:
            raise ValueError(f"{call}: the token is of another environment: {found.key}, not {key}")
        found.require_turn(call, number, self._calls)
        self.worlds = found

    def finish(self) -> None:
        self._words[1] = self._calls + 1
        self.worlds.count(self._calls + 1)


def _run_step(token: Tensor, actions: Tensor, form: str) -> Any:
    visit = _Visit("step", token, form)
    results = visit.worlds.step(actions)
    visit.finish()
    return _returned(results)


def _run_reset(
    token: Tensor,
    words: Sequence[int] | None,
    each: bool,
    drawn: Tensor | None,
    mask: Tensor | None,
    form: str,
) -> Any:
    visit = _Visit("reset", token, form)
    visit.worlds.form.require_reset(drawn, mask)
    seed: Any = None
    if drawn is not None:
        seed = drawn.tolist()
    elif words is not None:
        own = [low + high * _WORD for low, high in zip(words[::2], words[1::2], strict=True)]
        seed = own if each else own[0]
    results = visit.worlds.reset(seed, mask)
    visit.finish()
    return _returned(results)


def _trace_step(token: Tensor, actions: Tensor, form: str) -> Any:
    own = _form(form)
    own.require_token("step", token)
    own.require_actions(actions)
    return _returned(own.empty(own.of_step))


def _trace_reset(
    token: Tensor,
    words: Sequence[int] | None,
    each: bool,
    drawn: Tensor | None,
    mask: Tensor | None,
    form: str,
) -> Any:
    own = _form(form)
    own.require_token("reset", token)
    own.require_reset(drawn, mask)
    return _returned(own.empty(own.of_reset))


def _refuse_batched(call: str, *given: Any) -> NoReturn:
    raise NotImplementedError(
        f"torch.vmap of a {call} of {_form(given[-1]).name}: it is one of a batch already, of as "
        "many worlds as num_envs= says"
    )


_RUN: dict[str, Callable[..., Any]] = {"step": _run_step, "reset": _run_reset}
_TRACE: dict[str, Callable[..., Any]] = {"step": _trace_step, "reset": _trace_reset}


def _operator(call: str, count: int) -> Any:
    """Return an operator for a number of results: one that returns a list cannot change a token."""
    with _defining:
        if (call, count) not in _operators:
            _operators[call, count] = _defined(call, count)
        return _operators[call, count]


def _defined(call: str, count: int) -> Any:
    name, overload = f"{call}.of_{count}", f"of_{count}"
    results = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    tags = tuple(getattr(torch.Tag, tag) for tag in _TAGS if hasattr(torch.Tag, tag))
    _library.define(f"{name}({_ARGUMENTS[call]}) -> {results}", tags=tags)
    for machine in ("CPU", "CUDA"):
        _library.impl(name, _RUN[call], machine)
    _library.impl(name, functools.partial(_refuse_batched, call), "FuncTorchBatched")
    torch.library.register_fake(f"gpu_envs::{name}", _TRACE[call], lib=_library)
    return getattr(getattr(torch.ops.gpu_envs, call), overload)


def _returned(results: tuple[Tensor, ...]) -> Any:
    """Return results as an operator does: a single one without a tuple around it."""
    return results if len(results) > 1 else results[0]


def _named(names: tuple[str, ...], found: Any) -> Outputs:
    results = found if len(names) > 1 else (found,)
    return Outputs(**dict(zip(names, results, strict=True)))


def _laid(outputs: Sequence[Output]) -> Laid:
    found = []
    for output in outputs:
        strides = torch.empty(output.rows, device="meta").stride()
        found.append((output.name, output.rows, strides, getattr(torch, output.type)))
    return tuple(found)


def _form(key: str) -> Form:
    found = _forms.get(key)
    if found is None:
        raise ValueError(f"no environment of this process was {key}: call env.compiled() first")
    return found


def _unknown(call: str) -> ValueError:
    return ValueError(
        f"{call}: no environment of this process has this token: env.compiled() returns the first "
        "one"
    )


def _refuse(simulator: Simulator) -> None:
    """Refuse an old torch, and simulators that may fail after a step."""
    if tuple(map(int, torch.__version__.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ImportError(
            f"compiled() needs torch {oldest} or newer, and this is {torch.__version__}"
        )
    if simulator.strict:
        raise ValueError("compiled() needs strict=False: strict=True checks after each step")
