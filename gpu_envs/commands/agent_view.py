"""Play in the terminal through the eyes of an agent that sees pictures, with actions of categories.

The world moves in real time, or a step for each key. Where an action has one head, none of whose
categories means to wait, a step is a key. All other agents choose as in any game by hand (play.py).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete

from gpu_envs.commands.action_keys import REST, Heads, Pressed
from gpu_envs.commands.episode import Choose, Episode, seen
from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.terminal import half_blocks
from gpu_envs.terminal.screen import Screen, terminal_size

TIME, KEYS = "time", "keys"  # the clock of the world
PACES = (TIME, KEYS)
_PRESS_TICKS = 3  # until a keyboard repeats takes longer, but a tap must not lead too far
_LOOK_SECONDS = 0.25  # between two looks at the size of the terminal
_TEXT_LINES = 3  # below the picture
_CONTROLS = {
    TIME: "q quits  p pauses, . steps then  with shift: one step only",
    KEYS: "q quits  . steps without a key  with shift: together with the next key",
}
_ONE_HEAD_CONTROLS = "q quits"


def has_terminal() -> bool:
    """Whether this terminal can show and play moving pictures."""
    is_dumb = os.environ.get("TERM") == "dumb"
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_dumb


def is_offered(description: Mapping[str, Any]) -> bool:
    """Whether an environment is one of pictures whose actions are categories."""
    words = [field for field in description["action"] for _ in range(_size(field))]
    return (
        bool(description.get("pictures"))
        and len(words) > 0
        and all(field["choices"] is not None for field in words)
    )


def _size(field: Mapping[str, Any]) -> int:
    size = 1
    for length in field["shape"]:
        size *= length
    return size


def resolution(description: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameter for which a picture fills the terminal in its proportions."""
    defaults = {field["name"]: field["default"] for field in description["parameters"]}
    rows, _, columns = str(defaults.get("resolution", "")).partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        return {}
    room = half_blocks.size_within(*_room(*terminal_size()), (int(rows), int(columns)))
    return {"resolution": f"{room[0]}x{room[1]}"}


def _room(lines: int, columns: int) -> tuple[int, int]:
    """Return the largest rows and columns of pixels of a picture."""
    return 2 * max(1, lines - _TEXT_LINES), max(1, columns)


def heads_of(env: ParallelEnv) -> Heads | None:
    """Return the heads of an action of several categories that have names."""
    return _heads(env, MultiDiscrete)


def _heads(env: ParallelEnv, *spaces: type) -> Heads | None:
    simulator = env.simulator
    names = simulator.action_names()
    if not names or not isinstance(simulator.single_action_space, spaces):
        return None
    return Heads(simulator.action_fields, names, simulator.action_keys())


def pressed_heads(env: ParallelEnv) -> Heads | None:
    """Return the heads that a person presses, or the only one of a plain action."""
    heads = _heads(env, Discrete, MultiDiscrete)
    return heads if heads is not None and heads.keys else None


class Live(Episode):
    """One episode of one agent, through its eyes."""

    def __init__(self, env: ParallelEnv, agent: str, choose: Choose, pace: str | None) -> None:
        super().__init__(env, choose)
        heads = pressed_heads(env)
        if heads is None:
            raise ValueError(f"the actions of {env.name} have no keys to play by")
        self._is_one = isinstance(env.simulator.single_action_space, Discrete)
        self._is_plain = self._is_one and REST not in env.simulator.action_keys()
        if self._is_plain and pace == TIME:
            raise ValueError(f"--pace time: no action of {env.name} means to wait: use --pace keys")
        self.agent, self.pace = agent, pace or (KEYS if self._is_plain else TIME)
        self.last: list[str] = []  # picture that was shown
        self._heads, self._pressed = heads, Pressed(heads, _PRESS_TICKS if self.pace == TIME else 1)
        self._colors = half_blocks.colors(sys.stdout)
        self._is_last = env.simulator.parameters.get("channels") == "last"
        self._rate = env.metadata["render_fps"]
        self._is_paused, self._single_steps = False, 0

    def play(self) -> str:
        """Play from the reset until the agent's end or `q`; return which of the two."""
        with Screen() as screen:
            move = self._by_time if self.pace == TIME else self._by_keys
            try:
                is_over = move(screen)
            except KeyboardInterrupt:
                is_over = False
        return self.ending() if is_over else "quit"

    # ---- moving; both functions return whether the agent has ended

    def _by_time(self, screen: Screen) -> bool:
        due = time.monotonic()
        while self.agent in self.env.agents:
            self._draw(screen)
            due = max(due + 1 / self._rate, time.monotonic())  # never hurries after a delay
            time.sleep(due - time.monotonic() if due > time.monotonic() else 0)
            for key in screen.keys():
                if key in ("q", ""):
                    return False
                self._command(key)
            if not self._is_paused or self._single_steps:
                self._single_steps = max(0, self._single_steps - 1)
                self._move()
        self._draw(screen)
        return True

    def _command(self, key: str) -> None:
        if key == "p":
            self._is_paused, self._single_steps = not self._is_paused, 0
        elif key == "." and self._is_paused:
            self._single_steps += 1
        else:
            self._pressed.press(key)

    def _by_keys(self, screen: Screen) -> bool:
        while self.agent in self.env.agents:
            self._draw(screen)
            for key in screen.keys(_LOOK_SECONDS):
                if key in ("q", ""):
                    return False
                waits = key == "." and not self._is_plain
                pressed = self._pressed.press(key)
                if waits or pressed == "key" or (pressed and self._is_plain):
                    self._move()
                if self.agent not in self.env.agents:
                    break
        self._draw(screen)
        return True

    def _move(self) -> None:
        actions = {a: self.chosen(a) for a in self.env.agents if a != self.agent}
        taken = self._pressed.take()
        self.step({**actions, self.agent: int(taken[0]) if self._is_one else taken})

    # ---- drawing

    def _draw(self, screen: Screen) -> None:
        lines, columns = terminal_size()
        layers = self.env.simulator.observation_fields
        observation = seen(self.observations[self.agent])
        picture = half_blocks.pixels(observation, layers, self._is_last)
        fitted = half_blocks.fitted(picture, *_room(lines, columns))
        self.last = half_blocks.lines(fitted, self._colors)
        controls = _ONE_HEAD_CONTROLS if self._is_plain else _CONTROLS[self.pace]
        texts = [self._status() + _numbers(observation), self._heads.short(), controls]
        # The last column stays free: a letter there makes some terminals go on to the next line.
        screen.show([*self.last, *(text[: columns - 1] for text in texts)])

    def _status(self) -> str:
        score, seconds = self.scores[self.agent], self.steps / self._rate
        paused = "  paused" if self._is_paused else ""
        return f"reward {score:g}  time {seconds:.1f} s  steps {self.steps}{paused}"


def _numbers(observation: Any) -> str:
    """Return what an agent is told beside a picture."""
    if not isinstance(observation, Mapping):
        return ""
    told = {name: np.asarray(row) for name, row in observation.items()}
    return "".join(
        f"  {name} {' '.join(f'{x:.2f}' for x in row)}"
        for name, row in told.items()
        if row.ndim == 1
    )
