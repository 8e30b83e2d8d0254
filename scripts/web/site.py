"""Build the site: pages by Sphinx, and environments that live on them: `make docs`.

The pages are those of `docs/`. A page of an environment begins with its live world and ends with
what it describes; an environment without a page of its own gets one. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.web import live

ROOT = live.ROOT
DOCS = ROOT / "docs"
CLIENT = ROOT / "client"
_SECTION = re.compile(r"^## (\S+-v\d+): (.+)$")
_CURVE = re.compile(r"^!\[(.*)\]\((curves/\S+)\)")
_AHEAD = re.compile(r'\s*<link rel="(?:next|prev)"[^>]*>')
_IMPORT = re.compile(r'^(?:import|export) [^;]*?"(\..*?)";', re.MULTILINE)
_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
# Pages take nothing from elsewhere. WebAssembly may be compiled; nothing else becomes code. Furo
# has a few scripts within its pages, which are named by their hashes.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {hashes}; connect-src 'self'; "
    "worker-src 'self'; img-src 'self' blob: data:; media-src 'self'; style-src 'self' "
    "'unsafe-inline'; font-src 'self'; base-uri 'none'; form-action 'self'"
)


# ---- what an environment describes, as text


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines, ""] if lines else []


def _range(field: dict[str, Any]) -> str:
    low, high = field.get("low"), field.get("high")
    if field.get("names"):
        return ", ".join(field["names"])
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


def _rows(fields: Iterable[dict[str, Any]]) -> Iterator[Sequence[object]]:
    for field in fields:
        kind = field["type"] + "".join(f"[{extent}]" for extent in field["shape"])
        unit = f" [{field['unit']}]" if field.get("unit") else ""
        yield f"`{field['name']}`", kind, _range(field), f"{field['doc']}{unit}"


def _settings(fields: Sequence[dict[str, Any]]) -> list[str]:
    rows = (
        (name, kind, f"`{field['default']}`", values, doc)
        for field, (name, kind, values, doc) in zip(fields, _rows(fields), strict=True)
    )
    return _table(("name", "type", "default", "values", "what it is"), rows)


def _described(entry: dict[str, Any]) -> list[str]:
    """Return an environment's description as sections."""
    steps = entry["max_episode_steps"] or "no limit of steps"
    threshold = entry["reward_threshold"]
    lines = [f"## What {entry['id']} describes", ""]
    facts = [
        ("agents of a world", entry["agents"]),
        ("steps of an episode, at most", steps),
        ("steps a second, as it is watched", entry.get("render_fps", "")),
        ("return at which it counts as solved", "" if threshold is None else f"{threshold:g}"),
        ("version", "v0, the first"),
    ]
    lines += _table(("", ""), [row for row in facts if row[1] != ""])
    head = ("name", "type", "values", "what it is")
    if entry["parameters"]:
        lines += ["### Parameters", "", *_settings(entry["parameters"])]
    if entry["reset_options"]:
        lines += ["### Options of the reset", "", *_settings(entry["reset_options"])]
    for role in entry.get("roles") or [entry | {"name": ""}]:
        of = f" of each {role['name']}" if role["name"] else ""
        lines += [f"### Actions{of}", "", *_table(head, _rows(role["action"]))]
        lines += [f"### Observation{of}", "", *_table(head, _rows(role["observation"]))]
    if entry.get("reward_parts"):
        rows = [(f"`{part['name']}`", part["doc"]) for part in entry["reward_parts"]]
        lines += ["### Parts of the reward", "", *_table(("name", "what it is"), rows)]
    return lines


def _curves(name: str, up: str) -> list[str]:
    """Return the training curves of an environment, with links to how they came about."""
    lines: list[str] = []
    section = ""
    for line in (DOCS / "learning.md").read_text(encoding="utf-8").splitlines():
        if found := _SECTION.match(line):
            section = found[2] if found[1] == name else ""
            anchor = re.sub(r"[^a-z0-9 _-]", "", line[3:].lower()).replace(" ", "-")
        elif section and (curve := _CURVE.match(line)):
            lines += [f"![{curve[1]}]({up}{curve[2]})", ""]
            lines += [
                f"{section.capitalize()}: [command and numbers]({up}learning.md#{anchor}).",
                "",
            ]
    return [f"## What is learned in {name}", "", *lines] if lines else []


def _world(name: str, poster: str, up: str) -> list[str]:
    return [
        "```{raw} html",
        f'<div data-environment="{name}">',
        f'<img src="{up}{poster}" alt="A world of {name}" width="640">',
        "<noscript><p>Without JavaScript this is a picture of the environment.</p></noscript>",
        "</div>",
        "```",
        "",
    ]


def _try(name: str, up: str) -> list[str]:
    how = f"[install]({up}install.md)"
    text = f"Train agents on it, and list its parameters, actions and rewards ({how}):"
    lines = ["```sh", f"scripts/train {name}", f"python -m gpu_envs info {name}", "```", ""]
    return [text, "", *lines]


# ---- the sources of all pages


def _environment_pages(source: Path, posters: dict[str, str]) -> list[str]:
    """Write the pages of environments, those with a poster live, and return the pages' names."""
    pages = []
    for stem, entry in live.described():
        name, page = entry["id"], live.page_of(stem, entry["id"])
        pages.append(page)
        file = source / f"{page}.md"
        is_own = file.exists()
        up = "../" * (page.count("/") - 1)  # to docs/
        head = _world(name, posters[name], f"../{up}") if name in posters else []
        tail = [*_curves(name, up), *_described(entry)]
        if is_own:
            title, _, rest = file.read_text(encoding="utf-8").partition("\n")
            lines = [title, "", entry["doc"], "", *head, *_try(name, up), rest, "", *tail]
        else:
            lines = [f"# {name}", "", entry["doc"], "", *head, *_try(name, up), *tail]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines), encoding="utf-8")
    return pages


def _results(source: Path) -> None:
    """Copy the measured files, and list them on the page that explains them."""
    folder = source / "benchmarks" / "results"
    shutil.copytree(ROOT / "benchmarks" / "results", folder)
    lines = [""]
    for page in sorted(folder.glob("*.md")):
        if page.name == "README.md":
            continue
        text = page.read_text(encoding="utf-8")
        lines.append(f"- [{text.splitlines()[0].removeprefix('# ')}]({page.name})")
        page.write_text(f"---\norphan: true\n---\n\n{text}", encoding="utf-8")
    with (folder / "README.md").open("a", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))


def assemble(source: Path, environments: Sequence[dict[str, Any]]) -> None:
    """Write the sources of the pages into an empty folder."""
    shutil.copytree(DOCS, source / "docs")
    pages = _environment_pages(source, {one["id"]: one["poster"] for one in environments})
    index = (source / "docs" / "site" / "index.md").read_text(encoding="utf-8")
    (source / "index.md").write_text(index.replace("{environments}", "\n" + "\n".join(pages)))
    shutil.move(source / "docs" / "site" / "conf.py", source / "conf.py")
    (source / "docs" / "site" / "index.md").unlink()
    _results(source)


# ---- what a browser gets


def imported(first: Path) -> list[Path]:
    """Return a module of the client and all that it imports, nearest first."""
    found = [first]
    for path in found:  # which grows meanwhile
        names = _IMPORT.findall(path.read_text(encoding="utf-8"))
        found += [
            one for one in ((path.parent / name).resolve() for name in names) if one not in found
        ]
    return found


def _preloads(up: str) -> list[str]:
    """Return links by which a browser loads at once what it would find one after the other."""
    lines = [f'<link rel="preload" as="fetch" crossorigin href="{up}environments.json">']
    for path in imported(CLIENT / "page" / "start.js"):
        address = f"{up}client/{path.relative_to(CLIENT).as_posix()}"
        lines.append(f'<link rel="modulepreload" href="{address}">')
    return lines


def _head(text: str, up: str) -> list[str]:
    """Return what the head of a page gets: the client, and a policy that keeps other hosts out."""
    digests = [hashlib.sha256(one.encode()).digest() for one in _SCRIPT.findall(text)]
    hashes = sorted({f"'sha256-{base64.b64encode(one).decode()}'" for one in digests})
    policy = html.escape(_POLICY.format(hashes=" ".join(hashes)), quote=False)
    lines = [
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<link rel="icon" href="data:,">',
    ]
    if "data-gallery" in text or "data-environment" in text:
        lines += [
            *_preloads(up),
            f'<link rel="stylesheet" href="{up}client/page/style.css">',
            f'<script src="{up}client/page/served.js" defer></script>',
            f'<script type="module" async src="{up}client/page/start.js"></script>',
        ]
    return lines


def finish(out: Path) -> None:
    """Add to the head of each page what Sphinx does not know of."""
    for page in sorted(out.rglob("*.html")):
        # Firefox fetches the next page ahead, which the policy refuses and the console then shows.
        text = _AHEAD.sub("", page.read_text(encoding="utf-8"))
        added = _head(text, "../" * (len(page.relative_to(out).parts) - 1))
        text = text.replace("<head>", "\n    ".join(["<head>", *added]), 1)
        text = text.replace("<img ", '<img loading="lazy" ')
        page.write_text(text, encoding="utf-8")
    (out / ".nojekyll").touch()


def build(out: Path, names: Sequence[str] = (), builder: str = "html") -> int:
    """Build the site; an earlier one is replaced once the new one is complete."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site-") as scratch:
        folder, source, made = (Path(scratch) / name for name in ("live", "source", "site"))
        folder.mkdir()
        environments = live.make(folder, names)
        assemble(source, environments)
        words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
        status = subprocess.run([*words, str(source), str(made)], cwd=ROOT, check=False).returncode
        if status or builder != "html":
            return status
        shutil.copytree(folder, made, dirs_exist_ok=True)
        finish(made)
        shutil.rmtree(made / ".doctrees", ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        os.replace(made, out)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {len(environments)} environments, {size / 1e6:.1f} MB")
    return 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Build the site with its live environments.")
    add = parser.add_argument
    add("--out", type=Path, default=ROOT / "build" / "site", help="folder of the site")
    add("--links", action="store_true", help="check links to other sites instead")
    add("names", nargs="*", metavar="ID", help="environments that live there; default: all")
    chosen = parser.parse_args()
    return build(chosen.out, chosen.names, "linkcheck" if chosen.links else "html")


if __name__ == "__main__":
    sys.exit(main())
