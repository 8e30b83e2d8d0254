"""Play in the terminal by pictures: through the eyes of an agent that sees some, or from above.

The world moves in real time, or a step for each key. Where an action has one head, none of whose
categories means to wait, a step is a key. All other agents choose as in any game by hand (play.py);
player_views.py has the pictures.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from gymnasium.spaces import Box, Discrete, MultiDiscrete

from gpu_envs.commands.action_keys import REST, Heads, Pressed
from gpu_envs.commands.episode import Choose, Episode, seen
from gpu_envs.commands.player_views import DrawnView, ObservedView, PlayerView
from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.terminal import half_blocks
from gpu_envs.terminal.screen import Screen, terminal_size

TIME, KEYS = "time", "keys"  # the clock of the world
PACES = (TIME, KEYS)
EYES, TEXT = "eyes", "text"  # what is shown, beside the views of `render`
_PRESS_TICKS = 3  # until a keyboard repeats takes longer, but a tap must not lead too far
_LOOK_SECONDS = 0.25  # between two looks at the size of the terminal
_TEXT_LINES = 3  # below the picture, beside those of the view
_CONTROLS = {
    TIME: "q quits  p pauses, . steps  shift: one step",
    KEYS: "q quits  . steps  shift: with the next key",
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
    """Return the heads of an action of several categories, or of numbers, that have names."""
    return _heads(env, MultiDiscrete, Box)


def _heads(env: ParallelEnv, *spaces: type) -> Heads | None:
    simulator = env.simulator
    names = simulator.action_names()
    is_one = simulator.kinds.is_one  # agents of other kinds may have other actions
    if not names or not is_one or not isinstance(simulator.single_action_space, spaces):
        return None
    return Heads(simulator.action_fields, names, simulator.action_keys())


def pressed_heads(env: ParallelEnv) -> Heads | None:
    """Return the heads that a person presses, or the only one of a plain action."""
    heads = _heads(env, Discrete, MultiDiscrete, Box)
    return heads if heads is not None and heads.keys else None


def view_of(
    env: ParallelEnv, agent: str, wanted: str | None, pace: str | None
) -> PlayerView | None:
    """Return what the player of an agent is shown on a terminal; None for texts in lines.

    Without a wish that is the picture that the agent observes; or else the world from above, where
    an action has several heads or is a number, so that it takes more than a key to choose one.

    Args:
        env: The world.
        agent: The agent that is played.
        wanted: EYES, TEXT or a view of `render`; None for no wish.
        pace: A pace that needs a picture, or None.
    """
    if wanted == TEXT:
        return None
    observes = is_offered(env.description) and bool(env.simulator.instance.get("pictures"))
    heads = pressed_heads(env)
    if wanted == EYES and not observes:
        raise ValueError(f"--view eyes: what agents of {env.name} observe here is not a picture")
    if heads is None:
        if wanted is None and pace != TIME:
            return None
        raise ValueError(f"the actions of {env.name} have no keys to play by")
    if observes and wanted in (None, EYES):
        return ObservedView(env)
    is_simple = isinstance(env.simulator.single_action_space, Discrete)
    if wanted is None and pace != TIME and (is_simple or not env.simulator.instance["scene"]):
        return None
    return DrawnView(env, agent, wanted)


class Live(Episode):
    """One episode of one agent, in pictures.

    Args:
        env: The world.
        agent: The agent that is played.
        choose: Chooses the actions of the others.
        view: What is shown.
        pace: TIME or KEYS; None for the first that the actions allow.
        hint: What to tell of the others, in the last line.
    """

    def __init__(
        self,
        env: ParallelEnv,
        agent: str,
        choose: Choose,
        view: PlayerView,
        pace: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(env, choose)
        heads = pressed_heads(env)
        if heads is None:
            raise ValueError(f"the actions of {env.name} have no keys to play by")
        self._view, self._hint = view, hint
        self._space = env.simulator.single_action_space
        self._is_one = isinstance(self._space, Discrete)
        self._is_plain = self._is_one and REST not in env.simulator.action_keys()
        if self._is_plain and pace == TIME:
            raise ValueError(f"--pace time: no action of {env.name} means to wait: use --pace keys")
        self.agent, self.pace = agent, pace or (KEYS if self._is_plain else TIME)
        self.last: list[str] = []  # picture that was shown
        self._heads, self._pressed = heads, Pressed(heads, _PRESS_TICKS if self.pace == TIME else 1)
        self._colors = half_blocks.colors(sys.stdout)
        self._rate = env.metadata["render_fps"]
        self._is_paused, self._single_steps = False, 0
        self._reward = 0.0  # of the last step

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Reset the world and look at it."""
        super().begin(seed, options)
        self._view.begin()

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
        own = int(taken[0]) if self._is_one else taken.reshape(self._space.shape)
        self._reward = self.step({**actions, self.agent: own})[self.agent]

    # ---- drawing

    def _draw(self, screen: Screen) -> None:
        lines, columns = terminal_size()
        observation = seen(self.observations[self.agent])
        room = _room(lines - self._view.line_count, columns)
        self.last = half_blocks.lines(self._view.picture(observation, *room), self._colors)
        controls = _ONE_HEAD_CONTROLS if self._is_plain else _CONTROLS[self.pace]
        # The last column stays free: a letter there makes some terminals go on to the next line.
        width = columns - 1
        texts = [
            self._view.title() + self._status() + self._view.facts(observation),
            *self._view.lines(),
            self._heads.short(width),
            controls + self._hint,
        ]
        screen.show([*self.last, *(text[:width] for text in texts)])

    def _status(self) -> str:
        score, seconds = self.scores[self.agent], self.steps / self._rate
        now = f" ({self._reward:+.3g} now)" if self._reward else ""
        paused = "  paused" if self._is_paused else ""
        return f"reward {score:.6g}{now}  time {seconds:.1f} s  steps {self.steps}{paused}"
