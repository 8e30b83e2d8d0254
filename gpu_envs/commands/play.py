"""Play an environment by hand in the terminal: `python -m gpu_envs play Hanabi-v0`.

Everything shown comes from the simulator: the world as one agent knows it (or, without such a text,
its observation by fields), the legal actions with their names, and rewards. The other agents choose
at random among the legal actions or follow a saved policy. A person types numbers, names or keys of
actions, one per line; on a terminal, single keys where the environment has them. Where agents see
pictures, or an action takes more than a key, a terminal shows pictures (agent_view.py).
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Space

from gpu_envs import errors
from gpu_envs.commands import agent_view
from gpu_envs.commands.action_keys import spelt
from gpu_envs.commands.agent_view import Live
from gpu_envs.commands.episode import Choose, Episode, seen
from gpu_envs.commands.player_views import ObservedView
from gpu_envs.core.roles import Role
from gpu_envs.core.spaces import FieldViews
from gpu_envs.faces.agent_spaces import role_of_each_agent
from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.known import fields, native
from gpu_envs.players import policy_files, scripted
from gpu_envs.terminal import console, flags

_HELP = "Type {what} and Enter; q quits, ? shows this."
_KEY_HELP = "Press {what}; q quits, ? shows this."
_SPACE = spelt(" ")
_MOST_SCORES = 16  # shown one by one


class Quit(Exception):
    """The player quits."""


# ---- the command line


def _parser(described: Sequence[fields.Field]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_envs play",
        usage="python -m gpu_envs play ID [options]",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        description="Play an environment by hand; its own parameters are listed by `play ID -h`.",
    )
    add = parser.add_argument
    add("id", metavar="ID", help="such as CartPole-v0")
    add("--seed", type=int, default=None, metavar="N", help="seed of world and random opponents")
    add(
        "--agent",
        default="0",
        metavar="K|all",
        help="agent that you play: a number, or all (default 0)",
    )
    policy_files.add_option(parser, "the others", "--opponent")
    add("--max-episode-steps", type=int, metavar="N", help="time limit of the episode; 0: none")
    add(
        "--option",
        action="append",
        default=[],
        dest="reset_options",
        metavar="NAME=VALUE",
        help="reset option, such as a level by hand: layout=...; may be repeated",
    )
    add(
        "--pace",
        choices=agent_view.PACES,
        default=None,
        help="pace of a world that is shown in pictures: real time (the default), or keys, one "
        "step per key (the only one where no action means to wait)",
    )
    add(
        "--view",
        default=None,
        metavar="eyes|VIEW|text",
        help="what a terminal shows: the picture that the agent observes, a view of `render` such "
        "as top, perspective or agent:0, or the world's text (default: eyes, or else from above "
        "where an action takes more than one key, or else text)",
    )
    flags.add_parameters(parser, described)
    return parser


# ---- agents that are not played by hand


def random_policy(env: ParallelEnv, seed: int | None) -> Choose:
    """Return a function that draws legal actions uniformly."""
    simulator = env.simulator
    if simulator.kinds.is_one and not any(role.has_mask for role in simulator.roles):
        number = secrets.randbits(64) if seed is None else seed
        return _of_all(env, lambda: _by_agent(env, simulator.sample_actions(seed=number)[0]))
    for number, space in enumerate(env.action_spaces.values()):
        space.seed(None if seed is None else seed % 2**32 + number)
    return lambda agent, _, mask: env.action_space(agent).sample(mask)


def saved_policy(env: ParallelEnv, path: Path) -> Choose:
    """Return a function that takes the likeliest legal actions of a file's policies."""
    simulator = env.simulator
    team = policy_files.team(path, simulator)
    is_plain = simulator.kinds.is_one and all(role.views is None for role in simulator.roles)
    if is_plain and not env.description.get("turns"):  # who waits keeps its memory
        together = team.together()

        def choose() -> dict[str, Any]:
            outputs = simulator.observe_arrays(True)
            return _by_agent(env, together(outputs.obs, outputs.action_mask))

        return _of_all(env, choose)
    players = team.players()
    seats = {agent: number for number, agent in enumerate(env.possible_agents)}
    return lambda agent, observation, mask: players[seats[agent]](observation, mask)


def scripted_policy(env: ParallelEnv) -> Choose:
    """Return a function that asks the environment's scripted player."""
    play = scripted.for_all(env.simulator)

    def choose() -> dict[str, Any]:
        actions = play()
        found: dict[str, Any] = {}
        for role in env.simulator.roles:
            if role.count:
                found |= zip(role.agents, map(_plain, actions[role.name][0]), strict=True)
        return found

    return _of_all(env, choose)


def _of_all(env: ParallelEnv, choose: Callable[[], dict[str, Any]]) -> Choose:
    """Return a function that chooses for all agents at the first question of a step."""
    actions: dict[str, Any] = {}
    asked: list[str] | None = None

    def answer(agent: str, _: Any, __: Any) -> Any:
        nonlocal actions, asked
        if asked is not env.agents:  # every step makes another list
            actions, asked = choose(), env.agents
        return actions[agent]

    return answer


def _by_agent(env: ParallelEnv, rows: Any) -> dict[str, Any]:
    return dict(zip(env.possible_agents, map(_plain, rows), strict=True))


def _plain(action: Any) -> Any:
    """Return an action in the form of its space."""
    return action if action.shape else int(action)


def _choice(env: ParallelEnv, policy: str, path: Path | None, seed: int | None) -> Choose:
    if policy == scripted.SCRIPTED:
        return scripted_policy(env)
    return saved_policy(env, path) if path else random_policy(env, seed)


# ---- texts and input


class Menu:
    """Names and keys of the actions of a role."""

    def __init__(self, env: ParallelEnv, role: Role) -> None:
        self.space: Space[Any] = role.action_space
        one = env.simulator.kinds.is_one
        # Names are of all roles, as many as the role with most actions has.
        most = None if one else int(self.space.n) if isinstance(self.space, Discrete) else 0
        self.names = env.simulator.action_names()[:most]
        keys = env.simulator.action_keys()[:most]
        self.keys = {key: action for action, key in enumerate(keys) if key not in ("", "q", "?")}
        self._fields = role.action_fields
        self._heads = agent_view.heads_of(env)
        if self._heads is not None:  # whose keys are no actions by themselves
            self.keys = {}
        self.reads_keys = bool(self.keys) and sys.stdin.isatty()

    def lines(self, mask: Any) -> list[str]:
        """Return the legal actions, or, where there are no numbers to choose, the fields."""
        if self._heads is not None:
            return self._heads.lines()
        if not isinstance(self.space, Discrete):
            return [f"{f.name}: {f.bounds()} {f.unit} {f.doc}".strip() for f in self._fields]
        legal = range(int(self.space.n)) if mask is None else np.flatnonzero(mask).tolist()
        if not self.names:
            return [f"{legal[0]} to {legal[-1]}: {self._fields[0].doc}"]
        key_of = {action: _SPACE if key == " " else key for key, action in self.keys.items()}
        keys = [f"  ({key_of[action]})" if action in key_of else "" for action in legal]
        return [f"{a:>4}  {self.names[a]}{key}" for a, key in zip(legal, keys, strict=True)]

    def help(self) -> str:
        """Return the text that asks for an action."""
        if not isinstance(self.space, Discrete):
            count = int(np.prod(self.space.shape or ()))
            what = "a number" if count == 1 else f"{count} numbers"
            if self._heads is not None:
                what += ", or names or keys with commas between,"
            return _HELP.format(what=what)
        if self.reads_keys:
            return _KEY_HELP.format(what="the key or the digit of an action")
        ways = ["the number", *(["name"] if self.names else []), *(["key"] if self.keys else [])]
        return _HELP.format(what=f"{' or '.join(ways)} of an action")

    def action(self, typed: str, mask: Any) -> Any:
        """Return the action that was typed; ValueError for another text."""
        key = next((k for k in (typed, typed.strip()) if k in self.keys), None)
        if key is None and typed.strip() == _SPACE:
            key = " "
        if key in self.keys:
            chosen: Any = self.keys[key]
        elif self._heads is None and typed.strip() in self.names:
            chosen = self.names.index(typed.strip())
        elif isinstance(self.space, Discrete):
            chosen = int(typed) if typed.strip().isdecimal() else -1
        else:
            chosen = self._numbers(typed)
            if chosen is None and self._heads is not None:
                chosen = self._heads.read(typed)
        if chosen is None or chosen not in self.space:
            raise ValueError(f"{typed.strip()!r} is not an action{self._wanted()}")
        if mask is not None and not mask[chosen]:
            raise ValueError(f"{self._named(chosen)} is not legal now")
        return chosen

    def _wanted(self) -> str:
        size = int(np.prod(self.space.shape or ()))
        also = "" if self._heads is None else ", or names or keys with commas between,"
        return f": {size} numbers{also} are wanted" if size > 1 else ""

    def _numbers(self, typed: str) -> Any:
        try:
            numbers = np.array([float(word) for word in typed.replace(",", " ").split()])
            cast = numbers.astype(self.space.dtype)
            return cast.reshape(self.space.shape) if np.allclose(cast, numbers) else None
        except ValueError:
            return None

    def _named(self, action: Any) -> str:
        return self.names[action] if self.names else str(action)

    def told(self, action: Any) -> str:
        """Return an action in the words for other players."""
        return self._named(action) if isinstance(self.space, Discrete) else str(action)


def show(text: str = "") -> None:
    """Print, with colours where they are wanted."""
    print(console.for_stream(text, sys.stdout), flush=True)


def described(role: Role, observation: Any) -> str:
    """Return an observation by its named fields."""
    described = role.fields
    views = observation  # of several layers
    if not isinstance(observation, dict):
        views = FieldViews(described, observation.shape)(observation)
    width = max(len(field.name) for field in described)
    lines = []
    for field in described:
        value = np.asarray(views[field.name]).reshape(field.shape)
        shown = np.array2string(value, precision=4)
        lines.append(f"{field.name:<{width}}  {shown} {field.unit}".rstrip())
    return "\n".join(lines)


def _read(by_key: bool, prompt: str) -> str:
    print(prompt, end="", flush=True)
    if by_key:
        key = console.read_key()
        print()
        return key or "q"
    line = sys.stdin.readline()
    if not line:
        print()
        return "q"
    if not sys.stdin.isatty():
        print(line.rstrip("\n"))
    return line.rstrip("\r\n")


# ---- the game


class Game(Episode):
    """One episode at one keyboard."""

    def __init__(self, env: ParallelEnv, people: Sequence[str], choose: Choose) -> None:
        super().__init__(env, choose)
        self.people = people
        menus = {role.name: Menu(env, role) for role in env.simulator.roles}
        each = role_of_each_agent(env.simulator)
        self.roles = dict(zip(env.possible_agents, each, strict=True))
        self.menus = {agent: menus[role.name] for agent, role in self.roles.items()}
        self.menu = self.menus[people[0]]
        self._news: list[str] = []  # since a person's last choice
        self._is_told = False

    def play(self) -> str:
        """Play from the reset until the end, the last person's end or `q`; return the reason."""
        env = self.env
        show(self.menu.help())
        while set(env.agents) & set(self.people):
            try:
                actions = {
                    agent: self._action(agent)
                    for agent in env.agents
                    if self.infos[agent].get("agent_active", True)
                }
            except (Quit, KeyboardInterrupt):
                return "quit"
            self._note(actions, self.step(actions))
        self._draw(None, self.observations)
        return self.ending()

    def _action(self, agent: str) -> Any:
        if agent not in self.people:
            return self.chosen(agent)
        mask = self.infos[agent].get("action_mask")
        self.menu = self.menus[agent]
        self._draw(agent, {agent: self.observations[agent]})
        show("\n".join(self.menu.lines(mask)))
        while True:
            typed = _read(self.menu.reads_keys, f"{agent}> ")
            if typed.strip() == "q":
                raise Quit
            if typed.strip() == "?":
                show("\n".join([self.menu.help(), *self.menu.lines(mask)]))
            elif not typed.strip() and typed not in self.menu.keys:
                show("\n".join(self.menu.lines(mask)))
            else:
                try:
                    return self.menu.action(typed, mask)
                except ValueError as problem:
                    show(str(problem))

    def _draw(self, agent: str | None, observations: Mapping[str, Any]) -> None:
        """Show the knowledge of an agent; None: everything."""
        env = self.env
        if sys.stdout.isatty() and (self.menu.reads_keys or len(self.people) > 1):
            print("\x1b[H\x1b[2J", end="")
        if self._news:
            show("\n" + "\n".join(self._news))
        self._is_told = True
        text = env.simulator.text(0, -1 if agent is None else env.possible_agents.index(agent))
        if not text:
            shown = {agent: observations[agent]} if agent else observations
            text = "\n\n".join(
                (f"{name}:\n" if len(shown) > 1 else "")
                + described(self.roles[name], seen(observation))
                for name, observation in shown.items()
            )
        show("\n" + text.rstrip("\n"))

    def _note(self, actions: Mapping[str, Any], rewards: Mapping[str, float]) -> None:
        if self._is_told:
            self._news, self._is_told = [], False
        infos = self.infos
        paid = {a: {"reward": r, **infos[a].get("reward_parts", {})} for a, r in rewards.items()}
        shared = _shared(list(paid.values()))
        for agent, amounts in paid.items():
            words = [self.menus[agent].told(actions[agent])] if agent in actions else []
            words += [
                f"{k} {amount:+g}" for k, amount in amounts.items() if amount != shared.get(k, 0)
            ]
            if words:
                self._news.append(f"{agent}: {', '.join(words)}")
        if shared:
            self._news.append(f"all: {', '.join(f'{k} {x:+g}' for k, x in shared.items())}")


def _shared(amounts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the reward that all of several agents share."""
    if len(amounts) < 2:
        return {}
    first, *others = amounts
    return {k: x for k, x in first.items() if x and all(other[k] == x for other in others)}


def _people(env: ParallelEnv, chosen: str) -> list[str]:
    if chosen == "all":
        return env.possible_agents
    count = len(env.possible_agents)
    if not chosen.isdecimal() or int(chosen) >= count:
        raise ValueError(f"--agent must be all or a number below {count}, got {chosen!r}")
    return [env.possible_agents[int(chosen)]]


def _told(scores: Mapping[str, float], people: Collection[str]) -> str:
    """The score of every agent; in a crowd, of the people, and the mean of all."""
    shown = scores if len(scores) <= _MOST_SCORES else {a: scores[a] for a in people}
    told = ", ".join(f"{agent} {score:g}" for agent, score in shown.items())
    mean = sum(scores.values()) / len(scores)
    return told if shown is scores else f"{told}; mean of all {len(scores):,}: {mean:g}"


def _reset_options(pairs: Sequence[str], described: Sequence[fields.Field]) -> dict[str, Any]:
    """Parse options typed as NAME=VALUE."""
    known = {field.name: field for field in described}
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--option must be NAME=VALUE, got {pair!r}")
        if name not in known:
            raise ValueError(errors.unknown("reset option", name, known))
        try:
            options[name] = flags.reader(known[name])(value)
        except (ValueError, argparse.ArgumentTypeError) as problem:
            raise ValueError(f"--option {name}: {problem}") from problem
    return options


def _check_screen(chosen: argparse.Namespace) -> None:
    """Refuse options of pictures without a terminal that shows some."""
    if agent_view.has_terminal():
        return
    if chosen.pace == agent_view.TIME:
        raise ValueError("--pace time needs a terminal, for pictures that move")
    if chosen.view not in (None, agent_view.TEXT):
        raise ValueError(f"--view {chosen.view} needs a terminal")


def _hint(env: ParallelEnv, policy: str) -> str:
    """Return how to play with trained agents, where there are some and none were chosen."""
    is_random = policy == policy_files.RANDOM and len(env.possible_agents) > 1
    has_trained = is_random and policy_files.has_trained(env.name)
    return "  others: random, --opponent trained" if has_trained else ""


def _game(env: ParallelEnv, chosen: argparse.Namespace, choose: Choose) -> Live | Game:
    """Return the game: in pictures where the terminal and the environment have them."""
    people, is_asked = chosen.people, (chosen.view, chosen.pace) != (None, None)
    view = None
    if agent_view.has_terminal():
        view = agent_view.view_of(env, people[0], chosen.view, chosen.pace)
    if view is not None and chosen.agent == "all":
        if is_asked or isinstance(view, ObservedView):
            raise ValueError("--agent all: a terminal shows what one agent sees: choose a number")
        view = None
    if view is None:
        return Game(env, people, choose)
    return Live(env, people[0], choose, view, chosen.pace, _hint(env, chosen.policy))


def _made(argv: Sequence[str]) -> tuple[argparse.Namespace, Live | Game]:
    """Return the options, and the game after its reset."""
    chosen, own = flags.for_environment(argv, _parser)
    if chosen.seed is not None:
        errors.whole(chosen.seed, "--seed", 0, 2**64 - 1)
    _check_screen(chosen)
    description = native.described(chosen.id)
    chosen.reset_options = _reset_options(
        chosen.reset_options, fields.read(description["reset_options"])
    )
    path = policy_files.file_of(chosen.id, chosen.policy)
    parameters = policy_files.parameters_of(path, chosen.id) | own
    sees = chosen.view in (None, agent_view.EYES) and agent_view.is_offered(description)
    if sees and agent_view.has_terminal() and path is None:
        # A policy needs pictures of the size it was trained with.
        parameters = agent_view.resolution(description) | parameters
    env = ParallelEnv(chosen.id, **parameters)
    chosen.people = _people(env, chosen.agent)
    choose = _choice(env, chosen.policy, path, chosen.seed)
    game = _game(env, chosen, choose)
    game.begin(chosen.seed, chosen.reset_options)
    return chosen, game


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        chosen, game = _made(sys.argv[1:] if argv is None else argv)
        people = chosen.people
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    how = game.play()
    if isinstance(game, Live):  # the last picture stays above the scores
        show("\n".join(game.last))
    how = f"{how} after {game.steps} steps{game.outcome(people)}"
    show(f"{how}; rewards in all: {_told(game.scores, people)}")
    game.env.close()
    return 0
