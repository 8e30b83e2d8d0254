"""Registers the environments with PettingZoo's registry, which exists since PettingZoo 1.27.

`import gpu_envs` neither needs nor loads PettingZoo (whose import changes environment variables of
SDL): a finder waits for its first import and registers then, by strings. Ids are those that
Gymnasium has: `gpu_envs/<Name>-v0`, and `<Name>-v0` too where nobody else has it.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gpu_envs.known import registration

_ENTRY_POINTS = {
    "parallel": "gpu_envs.faces.parallel:parallel_env",
    "aec": "gpu_envs.faces.turns:aec_env",
}


def register_all() -> None:
    """Register now if PettingZoo is loaded, else at its import."""
    loaded = sys.modules.get("pettingzoo")
    if loaded is not None:
        _try_to_register_with(loaded)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _register_with(pettingzoo: ModuleType) -> None:
    register: Any = getattr(pettingzoo, "register", None)
    if register is None:
        return
    for kind, entry_point in _ENTRY_POINTS.items():
        known = getattr(pettingzoo, f"{kind}_registry")
        for name, description in registration.environments().items():
            for full_name in (f"{registration.NAMESPACE}/{name}", name):
                if full_name not in known:
                    register(kind, full_name, entry_point, kwargs={"name": description["id"]})


def _try_to_register_with(pettingzoo: ModuleType) -> None:
    """Register, or warn: an import of PettingZoo must not fail because of this package."""
    try:
        _register_with(pettingzoo)
    except Exception as problem:  # whatever another version of its registry may say
        message = f"gpu_envs could not register with PettingZoo's registry: {problem!r}"
        warnings.warn(message, stacklevel=2)


class _Finder:  # no base class: importlib.abc would be an eighth of this package's import
    """Finds PettingZoo by the other finders, and adds the registration to its loader; then leaves.

    It stays while PettingZoo is only looked for, as `importlib.util.find_spec` does.
    """

    def __init__(self) -> None:
        self._is_asking_others = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "pettingzoo" or self._is_asking_others:
            return None
        self._is_asking_others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_asking_others = False
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            del loader.exec_module  # the class's own is visible again
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _try_to_register_with(module)

        loader.exec_module = load_and_register
        return spec
