"""Fill a folder with what the site's environments need to live.

Modules, trained policies, recorded cases, a picture of each, and the client; `site.py` adds pages.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpu_envs.building import labels, places, upkeep, wasm

ROOT = Path(__file__).resolve().parents[2]
CASES = 3  # recorded cases of an environment that a page runs
POSTER_STEPS = (40, 12, 0)  # the first one that an episode reaches is drawn
_LAYERS = ("simulator", "policies", "page")


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the stem and description of each id."""
    for stem in places.environments():
        for entry in json.loads((places.CATALOGUE / f"{stem}.json").read_text(encoding="utf-8")):
            yield stem, entry


def page_of(stem: str, name: str) -> str:
    """Return the page of an environment: its hand-written one, or one that is made."""
    own = ROOT / "docs" / f"{stem}.md"
    return f"docs/{stem}" if own.exists() else f"docs/environments/{name}"


def _put(data: bytes, out: Path, name: str) -> dict[str, Any]:
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return {"url": name, "digest": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def module_of(stem: str) -> bytes:
    """Return a module without the builder's label, which names sources that no page has."""
    return labels.content(places.module_file(stem, places.WASM))


def _data(stem: str, out: Path) -> list[dict[str, Any]]:
    folders = places.data_folders(places.environments()[stem])
    found = {path.name: path for folder in reversed(folders) for path in sorted(folder.iterdir())}
    return [
        {"name": name, **_put(path.read_bytes(), out, f"data/{stem}/{name}")}
        for name, path in found.items()
        if path.is_file()
    ]


def cases_of(stem: str, name: str) -> list[str]:
    """Return the recorded cases of an id that run quickest."""
    file = ROOT / "tests" / "golden" / f"{stem}.txt"
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [
        [part.strip() for part in line.split("|")] for line in lines if line[:1] not in ("", "#")
    ]
    own = sorted((int(row[3]) * int(row[4]), k) for k, row in enumerate(rows) if row[0] == name)
    return [" | ".join(rows[k]) for _, k in own[:CASES]]


def _poster(name: str, checkpoint: Path | None, out: Path) -> str:
    file = out / "posters" / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    player = ["--policy", str(checkpoint or "random"), "--seed", "1"]
    for step in POSTER_STEPS:
        words = ["render", name, "--out", str(file), "--step", str(step), *player]
        done = subprocess.run(
            [sys.executable, "-m", "gpu_envs", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return f"posters/{name}.png"
    raise RuntimeError(f"{name} could not be drawn: {done.stderr.strip()}")


def _environment(stem: str, entry: dict[str, Any], out: Path) -> dict[str, Any]:
    name = entry["id"]
    checkpoint = ROOT / "trained" / f"{name}.ckpt"
    trained = checkpoint if checkpoint.exists() else None
    policies = []
    if trained:
        file = _put(trained.read_bytes(), out, f"policies/{name}.ckpt")
        policies.append({"name": "trained", "file": file})
    return {
        "id": name,
        "doc": entry["doc"],
        "page": f"{page_of(stem, name)}.html",
        "poster": _poster(name, trained, out),
        "module": _put(module_of(stem), out, f"modules/{stem}.wasm"),
        "data": _data(stem, out),
        "policies": policies,
        "golden": cases_of(stem, name),
        "described": {key: entry[key] for key in ("parameters", "reset_options", "agents")},
    }


def _licences(out: Path) -> None:
    lib = wasm.zig().lib
    parts = [f"{name}\n\n{(lib / path).read_text()}" for name, path in wasm.LICENCES.items()]
    parts.insert(0, f"gpu_envs\n\n{(ROOT / 'LICENSE').read_text(encoding='utf-8')}")
    for path in sorted(places.kernels().glob("envs/*/data/*.md")):
        parts.append(f"{path.parents[1].name}\n\n{path.read_text(encoding='utf-8')}")
    text = f"\n\n{'-' * 78}\n\n".join(parts)
    (out / "licences.txt").write_text(text, encoding="utf-8")


def make(out: Path, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Fill an empty folder; without names with every environment."""
    chosen = [(stem, entry) for stem, entry in described() if not names or entry["id"] in names]
    upkeep.ensure(places.WASM, sorted({stem for stem, _ in chosen}), exact=True)
    for layer in _LAYERS:
        shutil.copytree(ROOT / "client" / layer, out / "client" / layer)
    environments = [_environment(stem, entry, out) for stem, entry in chosen]
    (out / "environments.json").write_text(json.dumps(environments), encoding="utf-8")
    _licences(out)
    return environments
