"""Which games belong to a suite, and what is said of all of them: read from their data.

A game names its suites in its measures; `NAME.suite.json` among the headers is about a suite: its
text, and presets, which are parameters of a training in any of its games.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_envs import errors
from gpu_envs.building import manifest, places
from gpu_envs.known import measures, registration

Description = Mapping[str, Any]

_PRESET = {"doc!": str, "parameters!": {"*": (bool, int, float, str)}}
FORM = {"doc!": str, "presets": {"*": _PRESET}}  # of a suite's file


def members() -> dict[str, list[str]]:
    """Return the ids of the games of each suite, by its name."""
    found: dict[str, list[str]] = {}
    for game in registration.environments():
        with contextlib.suppress(ValueError):  # damaged data are refused where they are used
            for name in measures.suites_of(game):
                found.setdefault(name, []).append(game)
    return found


def games_of(name: object) -> list[str]:
    """Return the ids of a suite's games."""
    known = members()
    if not isinstance(name, str) or name not in known:
        raise ValueError(errors.unknown("suite", name, known))
    return known[name]


def is_suite(name: object) -> bool:
    """Whether a name is that of a suite."""
    return isinstance(name, str) and name in members()


def about(name: str) -> Description:
    """Return what is said of a suite; nothing where it has no file."""
    file = places.kernels() / "envs" / f"{name}.suite.json"
    if not file.exists() and not manifest.lists(file):
        return {}
    try:
        held: Description = json.loads(manifest.read(file))
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{file} is not JSON: {problem}") from None
    measures.check(held, str(file), FORM)
    return held


def presets_of(name: str) -> dict[str, Description]:
    """Return the presets of a suite, or of the suites to which a game belongs, by name."""
    own = [name] if is_suite(name) else measures.suites_of(name)
    return {key: preset for suite in own for key, preset in about(suite).get("presets", {}).items()}


def own_id(name: str, game: str) -> str:
    """Return `game` where it is one of a suite of this name, else the name."""
    return game if is_suite(name) and game in games_of(name) else name


def described(name: str) -> Description:
    """Return the description of an environment, or of a suite as if it were one.

    The parameters of a suite are those that all of its games have, with the same bounds. The
    default of one is its first game's; its text says where others have another.
    """
    if not is_suite(name):
        return registration.find(name)
    each = [registration.find(game) for game in games_of(name)]
    return {
        "id": name,
        "doc": about(name).get("doc", f"{len(each)} games in one batch."),
        "agents": each[0]["agents"],
        "max_episode_steps": 0,
        "reward_threshold": None,
        "parameters": common_parameters(each),
        "reset_options": [],
    }


def own_defaults(name: str) -> set[str]:
    """Return the parameters of a suite whose games have defaults of their own."""
    if not is_suite(name):
        return set()
    each = [registration.find(game)["parameters"] for game in games_of(name)]
    defaults: dict[str, list[Any]] = {}
    for field in (field for fields in each for field in fields):
        defaults.setdefault(field["name"], []).append(field["default"])
    return {name for name, values in defaults.items() if any(v != values[0] for v in values)}


def common_parameters(each: Sequence[Description]) -> list[Any]:
    """Return the fields of parameters that all descriptions have in common."""
    others = [{field["name"]: field for field in one["parameters"]} for one in each[1:]]
    found = []
    for field in each[0]["parameters"]:
        alike = [own.get(field["name"], {}) for own in others]
        if any(_form(other) != _form(field) for other in alike):
            continue
        is_own = any(other["default"] != field["default"] for other in alike)
        doc = f"{field['doc']}; games have defaults of their own" if is_own else field["doc"]
        found.append({**field, "doc": doc})
    return found


def _form(field: Any) -> Any:
    own = ("doc", "default")
    return field and {key: value for key, value in field.items() if key not in own}


def training_of(name: str) -> dict[str, Any]:
    """Return the data of training: of a suite what its games have in common, measures by game."""
    if not is_suite(name):
        return dict(measures.measures_of(name)["training"])
    games = {game: measures.measures_of(game)["training"] for game in games_of(name)}
    each = list(games.values())
    shared = {
        part: _shared([training.get(part, {}) for training in each])
        for part in ("defaults", "parameters")
    }
    own = [
        {**facts, "what": f"{facts['what']} in {game}", "game": game}
        for game, training in games.items()
        for facts in [{"what": "return", "measure": "mean return"}, *training.get("measures", ())]
        if "role" not in facts
    ]
    return {**shared, "measures": own}


def _shared(each: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries that are equal in all."""
    first, *rest = each
    return {
        key: value
        for key, value in first.items()
        if all(key in one and one[key] == value for one in rest)
    }
