"""Describes one environment in text: what `python -m gpu_envs info ID` prints.

Resolved defaults, profile by profile, come from the native code, where that is built: an
environment may compute a default, in a way that its description does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu_envs.core import layout
from gpu_envs.known import fields, native, registration
from gpu_envs.terminal import console

_SECTIONS = (
    ("parameters", "Parameters"),
    ("action", "Action"),
    ("observation", "Observation"),
    ("state", "State"),
    ("reset_options", "Reset options"),
    ("columns", "Columns (get and set)"),
)
# When a change of a parameter that may differ by world acts.
_WHEN = {"step": "from the next step on", "reset": "from the next episode on"}
_WORLDS = 64  # worlds of the batch whose rows are counted
_MOST_RUNS = 8  # of agents' names that a line tells
Values = dict[str, fields.Value]


def text(name: str) -> str:
    """Return the description of an environment, which need not be made for it."""
    entry = native.described(name)
    is_built = native.is_built(entry["id"])
    return "\n".join([*_head(entry, is_built), *_body(entry, is_built)])


def _head(entry: Mapping[str, Any], is_built: bool) -> Iterator[str]:
    yield f"{registration.NAMESPACE}/{entry['id']}\n"
    yield entry["doc"].strip()
    agents = str(entry["agents"])
    count = int(agents) if agents.isdecimal() else 0
    outline = native.outline(entry["id"], {}) if is_built else {}
    if outline and not count:
        count = outline["agents_per_world"]
        agents += f", {count} by default"
    yield f"\nAgents per world: {agents}"
    if outline and count > 1:
        yield f"Agents: {_runs(outline['agent_names'])}"
    if count:
        size = layout.size_in_words(_WORLDS, count)
        yield f"A batch of {_WORLDS} worlds (num_envs={_WORLDS}): {size}"
    yield f"Time limit: {entry['max_episode_steps'] or 'none'}"
    if entry["reward_threshold"] is not None:
        yield f"Reward threshold: {entry['reward_threshold']:g}"


def _runs(names: Sequence[str]) -> str:
    """Return names between commas; those whose numbers follow each other as first to last."""
    runs: list[list[str]] = []
    for name in names:
        if runs and name == _following(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    said = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs]
    more = [f"and {len(said) - _MOST_RUNS} more"] if len(said) > _MOST_RUNS else []
    return ", ".join(said[:_MOST_RUNS] + more)


def _following(name: str) -> str:
    kind, _, number = name.rpartition("_")
    return f"{kind}_{int(number) + 1}" if number.isdecimal() else ""


def _body(entry: Mapping[str, Any], is_built: bool) -> Iterator[str]:
    for key, title in _SECTIONS:
        described = fields.read(entry.get(key, ()))
        if described:
            yield f"\n{title}:"
            yield from _field_lines(described)
        if key == "parameters" and described:
            yield from _outcomes(entry["id"], described, is_built)
        if key == "observation":
            yield from _of_roles(entry.get("roles", ()))


def _of_roles(roles: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines on the actions and observations of roles that have spaces of their own."""
    for role in roles:
        for key in ("action", "observation"):
            yield f"\n{key.capitalize()} of a {role['name']}:"
            yield from _field_lines(fields.read(role[key]))


def _field_lines(described: Sequence[fields.Field]) -> list[str]:
    width = max(len(field.name) for field in described)
    kinds = [_kind(field) for field in described]
    kind_width = max(map(len, kinds))
    lines = []
    for field, kind in zip(described, kinds, strict=True):
        unit = f" [{field.unit}]" if field.unit else ""
        default = "" if field.default is None else f"; default {field.default_text()}"
        when = f"; by world, {_WHEN[field.by_world]}" if field.by_world else ""
        values = f"{field.bounds()}{unit}{default}{when}"
        lines.append(
            f"  {field.name:<{width}}  {kind:<{kind_width}}  {values}  {field.doc}".rstrip()
        )
    return lines


def _kind(field: fields.Field) -> str:
    shape = "x".join(map(str, field.shape))
    return field.type + (f"[{shape}]" if shape else "")


# ---- resolved defaults


def _values(name: str, described: Sequence[fields.Field], **parameters: fields.Value) -> Values:
    return fields.shortened(described, native.outline(name, parameters)["values"])


def _outcomes(name: str, described: Sequence[fields.Field], is_built: bool) -> Iterator[str]:
    """Tables of the parameters whose resolved value differs from the declared default."""
    if not is_built:
        if any(_is_left_open(field) for field in described):
            yield f"\nWhat defaults come to is shown once it is built: {_build_command(name)}"
        return
    declared = fields.shortened(described, {field.name: field.default for field in described})
    usual = _values(name, described)
    is_told = False
    for field in described:
        columns = _by_choice(name, described, field) if field.names else {}
        varied = _rows(described, declared, columns, but=field.name)
        if any(len(set(row)) > 1 for row in varied.values()):
            is_told = True
            yield f"\nDefaults by {field.name}:"
            yield from _table(varied, list(columns))
    rows = _rows(described, declared, {"": usual}, but="")
    if rows and not is_told:
        yield "\nDefaults come to:"
        yield from _table(rows, [])


def _is_left_open(field: fields.Field) -> bool:
    """Whether a default stands for a computed one: a number below all sensible values."""
    is_number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
    return is_number and field.default == field.low == -1


def _build_command(name: str) -> str:
    return f"python -m gpu_envs build {registration.home(name).stem}"


def _by_choice(
    name: str, described: Sequence[fields.Field], field: fields.Field
) -> dict[str, Values]:
    """All values for each choice of one parameter; a choice that needs others has no column."""
    found = {}
    for choice in field.names:
        try:
            values = _values(name, described, **{field.name: choice})
        except (ValueError, RuntimeError):
            continue
        if values[field.name] == choice:  # else it stands for another
            found[choice] = values
    return found


def _rows(
    described: Sequence[fields.Field], declared: Values, columns: Mapping[str, Values], but: str
) -> dict[str, list[str]]:
    """Values by parameter, a text for each column, where one is not the declared default."""
    found = {}
    for field in described:
        values = [column[field.name] for column in columns.values()]
        if field.name != but and any(value != declared[field.name] for value in values):
            unit = f" [{field.unit}]" if field.unit else ""
            found[field.name + unit] = [fields.spelt(value) for value in values]
    return found


def _table(rows: Mapping[str, Sequence[str]], header: Sequence[str]) -> Iterator[str]:
    lines = [("", *header)] if header else []
    lines += [(label, *row) for label, row in rows.items()]
    yield from (f"  {line}".rstrip() for line in console.aligned(lines))
