"""Calls that no program should make, over every public face of an environment.

A call succeeds, or raises an error of ours that says what is wrong; after a refusal the worlds are
what they were. `python tests/contract/hostile.py CALLS ID...` prints what is not so, a line each.
"""

from __future__ import annotations

import copy
import faulthandler
import linecache
import pickle
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hostile_values import Chooser

import gpu_envs
from gpu_envs.errors import ResetNeeded
from gpu_envs.known.measures import sizes

Call = Callable[[], Any]
_MEANT = (ValueError, TypeError, RuntimeError, ResetNeeded, MemoryError)
_MANY = 1000  # calls, from which on other libraries play too: they take seconds to import
_ATTRIBUTES = ("set_attr", "get_attr", "call", "set_wrapper_attr", "env_method")
# Words of Python, NumPy and pybind11 about their own objects.
_FOREIGN = re.compile(
    "object is not|object has no|unsupported operand|not supported between|is ambiguous|iteration|"
    "indices must|positional argument|cannot be interpreted|could not be broadcast|Unable to cast|"
    "incompatible function|setting an array|inhomogeneous|out of bounds|invalid literal|unhashable|"
    "could not convert|Cannot interpret|cannot reshape|not iterable|expected str|surrogates|ufunc"
)


class Face:
    """One face of an environment, its simulator, and hostile calls of it by name."""

    def __init__(self, env: Any, simulator: Any, chooser: Chooser) -> None:
        self.env, self.simulator, self.chooser = env, simulator, chooser
        self.calls: dict[str, Callable[[], Call]] = {}

    def add(self, name: str, *good: Callable[[], Any], **keywords: Callable[[], Any]) -> None:
        """Add a method with arguments that are meant, each of which may be exchanged."""
        self.calls[name] = lambda: self._drawn(name, good, keywords)

    def _drawn(self, name: str, good: Any, keywords: Any) -> Call:
        shape = (self.simulator.num_worlds, self.simulator.agents_per_world)
        given = [self.chooser.mostly(value, shape) for value in good]
        if self.chooser.random.random() < 0.02:
            given = given[:-1]
        chosen, owner = self.chooser.keywords(**keywords), self
        return lambda: getattr(owner.env, name)(*given, **chosen)


class Player:
    """Plays one environment badly.

    Args:
        name: Id of the environment.
        seed: Of the calls.
        libraries: Whether to play with torch's and JAX's arrays and Stable-Baselines3 too.
    """

    def __init__(self, name: str, seed: int = 0, *, libraries: bool = False) -> None:
        self.name, self.chooser = name, Chooser(f"{name} {seed}")
        self.libraries = ["numpy", "torch", "jax"] if libraries else ["numpy"]
        self.keywords = {**sizes(name, "small"), **sizes(name, "few")}
        self.found: list[str] = []
        self.memory = np.zeros(1 << 22, np.uint8)
        self.makers = [self.of_simulator, self.of_simulator, self.of_vector, self.of_batched]
        self.makers += [self.of_parallel]
        if gpu_envs.environments()[name].get("turns"):
            self.makers.append(self.of_turns)
        if self.alone is not None:
            self.makers.append(self.of_single)
        if libraries:
            self.makers.append(self.of_sb3)

    @property
    def alone(self) -> dict[str, Any] | None:
        """Keywords of a world of one agent; None where there is none."""
        try:
            gpu_envs.Env(self.name, **sizes(self.name, "alone")).close()
        except ValueError:
            return None
        return dict(sizes(self.name, "alone"))

    # Faces

    def form(self) -> dict[str, Any]:
        """Return keywords that are meant."""
        form: dict[str, Any] = {"device": "cpu", **self.keywords}
        choose = self.chooser.one
        form["autoreset_mode"] = choose(["SameStep", "NextStep", "Disabled"])
        form |= choose([{}, {"reuse": True}, {"strict": True}, {"outputs": ()}, {"threads": 1}])
        return form

    def of_simulator(self) -> Face:
        """Return a simulator."""
        form = self.form()
        form["arrays"] = self.chooser.one(self.libraries)
        if form["arrays"] == "jax":
            form.pop("reuse", None)
        env = gpu_envs.Simulator(self.name, 3, **form)
        face = Face(env, env, self.chooser)
        arrays = {"out": self.outs(face, False), "stream": lambda: None}
        face.add("step", self.actions(face), **arrays)
        face.add("reset", seed=lambda: 3, mask=lambda: np.ones(3, bool), options=dict, **arrays)
        face.add("observe", **arrays)
        face.add("sample_actions", lambda: None, seed=lambda: 1, out=lambda: None)
        self.add_states(face)
        face.add("by_role", lambda: np.zeros((3, env.agents_per_world)))
        face.add("text", lambda: 1, lambda: 0)
        size, view = (lambda: (8, 9)), (lambda: "top")
        face.add("render", lambda: 1, size=size, view=view, samples=lambda: 1)
        self.add_common(face, "check", "note", "picture_size", "report_illegal")
        return face

    def of_vector(self) -> Face:
        """Return a `VectorEnv`, of all agents or of one role."""
        form, roles = self.form(), gpu_envs.environments()[self.name].get("roles") or []
        if roles and self.chooser.random.random() < 0.5:
            form["role"] = self.chooser.one(roles)["name"]
        form["infos"] = self.chooser.one(["nested", "rows"])
        env = gpu_envs.VectorEnv(self.name, 3, **form)
        face = Face(env, env.simulator, self.chooser)
        outs, options = self.outs(face, True), {"reset_mask": np.array([True, False, True])}
        face.add("step", lambda: env.action_space.sample(), out=outs, stream=lambda: None)
        face.add("reset", seed=lambda: 3, options=lambda: options, out=outs)
        name = lambda: self.chooser.one(["step", "num_envs", "render_mode", "nonsense"])  # noqa: E731
        face.add("call", name)
        face.add("get_attr", name)
        face.add("set_attr", name, lambda: None)
        face.add("observe")
        self.add_states(face)
        self.add_common(face, "render", "check")
        return face

    def of_single(self) -> Face:
        """Return a single environment."""
        env = gpu_envs.Env(self.name, **(self.alone or {}))
        face = Face(env, env.simulator, self.chooser)
        face.add("step", lambda: env.action_space.sample())
        face.add("reset", seed=lambda: 3, options=dict)
        face.add("set_wrapper_attr", lambda: "render_mode", lambda: None, force=lambda: True)
        face.add("observe")
        self.add_states(face)
        self.add_common(face, "render")
        return face

    def of_sb3(self) -> Face:
        """Return the adapter for Stable-Baselines3."""
        from gpu_envs.integrations.stable_baselines3 import SB3VecEnv

        env = SB3VecEnv(self.name, 3, **self.keywords)
        face = Face(env, env.env.simulator, self.chooser)
        face.add("step", lambda: env.env.action_space.sample())
        face.add("seed", lambda: 3)
        face.add("set_options", dict)
        name = lambda: self.chooser.one(["action_masks", "num_envs", "render_mode", "x"])  # noqa: E731
        face.add("env_method", name)
        face.add("get_attr", name)
        face.add("set_attr", name, lambda: None)
        self.add_common(face, "reset", "get_images")
        return face

    def of_parallel(self) -> Face:
        """Return PettingZoo's parallel form."""
        env = gpu_envs.parallel_env(self.name, **self.keywords)
        face = Face(env, env.simulator, self.chooser)
        face.add(
            "step", lambda: {a: self.chooser.mostly(env.action_space(a).sample) for a in env.agents}
        )
        face.add("reset", lambda: 3, lambda: None)
        face.add("observe")
        self.add_states(face)
        self.add_spaces(face, env)
        return face

    def of_turns(self) -> Face:
        """Return PettingZoo's form of turns."""
        wrapped = gpu_envs.aec_env(self.name, **self.keywords)
        env = wrapped.unwrapped
        face = Face(wrapped, env.simulator, self.chooser)
        face.add("step", lambda: env.action_space(env.possible_agents[0]).sample())
        face.add("reset", lambda: 3, lambda: None)
        face.add("observe", lambda: env.possible_agents[0])
        self.add_states(face)
        self.add_spaces(face, env)
        return face

    def of_batched(self) -> Face:
        """Return the batched form of PettingZoo's names."""
        group = self.chooser.one(["role", "agent"])
        env = gpu_envs.batched_parallel_env(self.name, 3, group=group, **self.keywords)
        face = Face(env, env.simulator, self.chooser)
        keys = list(env.groups if group == "role" else env.possible_agents)
        shape = (3, self.chooser.one([1, 2, 3]))
        face.add("step", lambda: {key: self.chooser.any(shape) for key in keys}, out=dict)
        face.add("reset", seed=lambda: 3, options=dict, out=dict)
        face.add("observe")
        self.add_states(face)
        self.add_common(face, "state", "check")
        return face

    def add_states(self, face: Face) -> None:
        """Add what reads and writes the worlds."""
        columns = [column["name"] for column in face.simulator.instance["columns"]]
        face.add("get", lambda: self.chooser.one(columns))
        face.calls["set"] = lambda: self.setting(face, columns)
        face.add("save", worlds=lambda: [2, 0])
        face.add("load", lambda: self.damaged(face.env), worlds=lambda: [2, 0, 1])
        face.add("copy_worlds", lambda: [0, 2], lambda: [2, 1], reseed=lambda: True)

    def add_spaces(self, face: Face, env: Any) -> None:
        """Add what PettingZoo's forms share."""
        agent = lambda: env.possible_agents[0]  # noqa: E731
        face.add("action_space", agent)
        face.add("observation_space", agent)
        self.add_common(face, "state", "render", "check")

    def add_common(self, face: Face, *names: str) -> None:
        """Add calls that take nothing, and those of every object."""
        for name in (*names, "close"):
            face.add(name)
        face.calls["pickle"] = lambda: lambda: pickle.dumps(face.env)
        face.calls["copy"] = lambda: lambda: copy.deepcopy(face.env)
        face.calls["threads"] = lambda: lambda: self.together(face)
        face.calls["make"] = self.making

    # Calls that need more than a value

    def actions(self, face: Face) -> Callable[[], Any]:
        """Return what draws actions that are meant, in memory that may be an output's too."""
        simulator = face.simulator

        def draw() -> Any:
            actions = np.asarray(simulator.sample_actions()).copy()
            if self.chooser.random.random() < 0.7:
                return actions
            shared = self.shared(actions.shape, str(actions.dtype))
            shared[...] = actions
            return shared

        return draw

    def shared(self, shape: tuple[int, ...], kind: str) -> np.ndarray:
        """Return an array whose memory others have too."""
        count = int(np.prod(shape)) * np.dtype(kind).itemsize
        return self.memory[:count].view(kind).reshape(shape)

    def outs(self, face: Face, flat: bool) -> Callable[[], Any]:
        """Return what makes `out=`: arrays that fit, that share memory, or that do not fit."""
        written = [output for output in face.simulator.layout.outputs if output is not None]

        def make() -> dict[str, Any]:
            chosen = {}
            for output in (self.chooser.one(written) for _ in range(2)):
                shape, kind = output.view(flat), output.type
                locked = np.zeros(shape, kind)
                locked.setflags(write=False)
                fits = [np.zeros(shape, kind), self.shared(shape, kind)] * 2
                chosen[output.name] = self.chooser.one(
                    [*fits, locked, np.zeros(shape, kind, order="F"), self.chooser.any(shape)]
                )
            return chosen

        return make

    def setting(self, face: Face, columns: list[str]) -> Call:
        """Return a `set` with what a column holds, or with what it cannot hold."""
        column = self.chooser.mostly(lambda: self.chooser.one(columns))
        held: Any = np.zeros(3)
        if isinstance(column, str) and column in columns:
            held = face.simulator.get(column)
        strange = self.chooser.one(
            [np.full(np.shape(held), np.nan), "x", None, [[]], object(), 1e300]
        )
        values = self.chooser.one([held, strange, held[:1], held[..., None]])
        worlds = self.chooser.mostly(lambda: None)
        if not isinstance(worlds, list):
            return lambda: face.env.set(column, values, worlds)
        return lambda: face.env.set(column, held[: len(worlds)], worlds)

    def damaged(self, env: Any) -> bytes:
        """Return a save with one bit turned, cut short, or whole."""
        data = bytearray(env.save())
        at = self.chooser.random.randrange(len(data))
        how = self.chooser.random.randrange(4)
        if how == 0:
            return bytes(data[:at])
        if how == 1:
            data[at] ^= 1 << self.chooser.random.randrange(8)
        return bytes(data) + (b"more" if how == 2 else b"")

    def together(self, face: Face) -> None:
        """Call from three threads at once: each call is served or refused."""
        names = [n for n in face.calls if n not in ("threads", "make", "close", "pickle", "copy")]
        chosen = [self.chooser.one(names) for _ in range(3)]
        calls = [(face, name, face.calls[name](), False) for name in chosen]
        running = [threading.Thread(target=self.judged, args=call) for call in calls]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def making(self) -> Call:
        """Return the making of an environment with one or two keywords that are not meant."""
        known = [
            *gpu_envs.core.options.KEYWORDS,
            "role",
            "agent",
            "others",
            "infos",
            "render_mode",
            "render_size",
        ]
        known += [field["name"] for field in gpu_envs.environments()[self.name]["parameters"]]
        chosen = {self.chooser.one(known): self.chooser.any() for _ in range(2)}
        makers: list[Any] = [gpu_envs.Simulator, gpu_envs.VectorEnv, gpu_envs.batched_parallel_env]
        maker, worlds = self.chooser.one(makers), self.chooser.mostly(lambda: 2)
        if isinstance(worlds, int) and worlds > 1000:  # it might have the memory for these
            worlds = -worlds
        keywords = {**self.keywords, **chosen}
        return lambda: maker(self.name, worlds, **keywords).close()

    # Judging

    def judged(self, face: Face, name: str, call: Call, holds: bool = True) -> None:
        """Make a call, and note what is not as it should be."""
        simulator = face.simulator
        before = (
            simulator.save() if holds and simulator._is_ready and not simulator.is_closed else None
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
        except Exception as error:
            problem = judgement(error, name)
            if problem:
                self.note(name, problem, error)
            is_strict = "illegal and replaced" in str(error) or "replaced, first" in str(error)
            if before is not None and not is_strict and simulator.save() != before:
                self.note(name, "changed the worlds in a call that was refused", error)

    def note(self, name: str, problem: str, error: BaseException) -> None:
        """Keep a line about a call."""
        frames = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frames.filename.rpartition('/')[2]}:{frames.lineno}"
        text = f"{type(error).__name__}: {error}"[:160]
        self.found.append(f"{self.name}: {name}: {problem}: {text} at {where}")

    def play(self, count: int) -> list[str]:
        """Make `count` calls; return what is not as it should be."""
        face, before = self.begun(), self.reference()
        for number in range(count):
            if number % 40 == 39 or face.simulator.is_closed:
                face = self.begun()
            name = self.chooser.one(list(face.calls))
            if name == "close" and self.chooser.random.random() < 0.8:
                name = "reset"
            self.judged(face, name, self.drawn(face, name))
        if self.reference() != before:
            self.found.append(f"{self.name}: another simulator plays otherwise than before")
        return self.found

    def reference(self) -> bytes:
        """Return the worlds of a simulator of its own after some steps."""
        simulator = gpu_envs.Simulator(self.name, 2, device="cpu", **self.keywords)
        mask = simulator.reset(seed=1).action_mask
        for _ in range(5):
            mask = simulator.step(simulator.sample_actions(mask, seed=1)).action_mask
        saved = simulator.save()
        simulator.close()
        return saved

    def begun(self) -> Face:
        """Return a face, mostly after its first reset."""
        face = self.chooser.one(self.makers)()
        if self.chooser.random.random() < 0.9:
            face.env.reset()
        return face

    @staticmethod
    def drawn(face: Face, name: str) -> Call:
        """Return a call; drawing its arguments may need worlds that are not there yet."""
        try:
            return face.calls[name]()
        except ResetNeeded:
            return lambda: None


def judgement(error: Exception, call: str) -> str:
    """Return what is wrong with an error; "" for nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    innermost = frames[-1]
    if call in _ATTRIBUTES and isinstance(error, AttributeError | TypeError) and str(error):
        return ""
    if innermost.filename.endswith("hostile_values.py"):  # the caller's own object raised
        return ""
    if type(error) not in _MEANT:
        return f"raised {type(error).__name__}"
    if not str(error).strip():
        return "said nothing"
    if innermost.filename.endswith("hostile.py"):  # the signature of a method
        return ""
    raised = any(
        "raise" in linecache.getline(innermost.filename, number)
        for number in range((innermost.lineno or 1) - 3, (innermost.lineno or 1) + 1)
    )
    return "" if raised or not _FOREIGN.search(str(error)) else "raised from inside"


def main(count: int, names: list[str]) -> int:
    """Play environments badly, often with every library; return how many faults were found."""
    faulthandler.enable()
    found = []
    for name in names:
        print(f"playing {name}", flush=True)
        found += Player(name, libraries=count >= _MANY).play(count)
    for line in dict.fromkeys(found):
        print(ascii(line))
    print(f"{len(found)} faults")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), sys.argv[2:]), 100))
