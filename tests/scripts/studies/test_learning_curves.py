"""Pictures of learning curves: legend, labels and lines, and where they lie."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from scripts.studies import learning_curves as drawn
from scripts.studies.learning_curves import Line

ROOT = Path(__file__).resolve().parents[3]
PICTURES = sorted((ROOT / "docs" / "curves").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
LINES = [
    Line("hiders, seed 1", [(0, -5), (1e6, 30), (2e6, 31)], 0, 0),
    Line("seekers, seed 1", [(0, 5), (1e6, -30), (2e6, -31)], 0, 1),
    Line("hiders, seed 2 (again)", [(1e6, 0), (3e6, 12)], 1, 0),
]
LEVELS = {"random": 1.5, "to be reached": 40.0}

Element = ElementTree.Element


def tree(levels: dict[str, float] = LEVELS, of: str = "") -> Element:
    return ElementTree.fromstring(drawn.picture("X-v0 & more", LINES, levels, of))


def texts(svg: Element) -> list[str]:
    return [text.text or "" for text in svg.iter(f"{SVG}text")]


def strokes(svg: Element) -> list[Element]:
    """Return the lines that are no grid and no frame: of curves, levels, and the legend."""
    return [path for path in svg.iter(f"{SVG}path") if path.get("stroke-width", "") in ("2", "1.6")]


def points(path: Element) -> list[tuple[float, float]]:
    """Return the points of a line, or those at which markers are."""
    numbers = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d") or "")
    return [(float(x), float(y)) for x, y in numbers]


def rows(svg: Element) -> tuple[list[Element], float]:
    """Return the texts of the legend, and the top of the plot."""
    frame = next(p for p in svg.iter(f"{SVG}path") if re.search(r"V.*H", p.get("d") or ""))
    top = points(frame)[0][1]
    return [t for t in svg.iter(f"{SVG}text") if float(t.get("y", "inf")) < top], top


def test_the_legend_names_seeds_sides_and_levels() -> None:
    found, _ = rows(tree())
    wanted = ["hiders, seed 1", "seekers, seed 1", "hiders, seed 2 (again)"]
    assert [text.text for text in found] == [*wanted, "random", "to be reached"]
    found, _ = rows(tree(of="hiders"))
    assert [text.text for text in found][3:] == ["hiders, random", "hiders, to be reached"]
    found, _ = rows(tree({}))
    assert [text.text for text in found] == wanted


def test_axes_say_what_they_measure() -> None:
    found = texts(tree())
    assert {"agent steps", "mean return of an episode", "1 M", "3 M", "-20", "40"} <= set(found)


def test_lines_differ_without_their_colours() -> None:
    svg = tree()
    looks = [(path.get("stroke-width"), path.get("stroke-dasharray")) for path in strokes(svg)]
    of_levels, of_lines, of_legend = looks[:2], looks[2:5], looks[5:]
    assert of_legend == of_lines + of_levels  # which shows what is drawn
    shapes = [path.get("d", "").split("M")[-1] for path in svg.iter() if path.get("fill") != "none"]
    shapes = [re.sub(r"^[\d.]+ [\d.]+", "", shape) for shape in shapes if shape.endswith("z")]
    one, other = drawn._MARKERS[:2]
    assert shapes == [one, one, other] * 2
    assert len(set(of_levels + of_lines[:2])) == 4  # two sides of a seed, and two levels
    assert of_lines[0] == of_lines[2]  # a side's two seeds, which have markers of their own


def test_lines_go_through_their_values() -> None:
    svg = tree()
    level, bar, hiders, seekers, again = (points(path) for path in strokes(svg)[:5])
    assert [x for x, _ in seekers] == [x for x, _ in hiders] and again[0][0] == hiders[1][0]
    at = {y: place for line, own in zip(LINES, (hiders, seekers, again), strict=True)
          for (_, y), (_, place) in zip(line.points, own, strict=True)}  # fmt: skip
    scale = (at[-31] - at[31]) / 62
    assert scale > 0  # more is further up
    assert all(place == pytest.approx(at[0] - y * scale, abs=0.2) for y, place in at.items())
    assert level[0][1] == pytest.approx(at[0] - 1.5 * scale, abs=0.2)
    assert bar[0][1] == bar[1][1] == pytest.approx(at[0] - 40 * scale, abs=0.2)


def test_what_never_changes_is_a_line_too() -> None:
    svg = ElementTree.fromstring(drawn.picture("X", [Line("seed 1", [(0, 0), (1, 0)])], {}))
    assert "0" in texts(svg) and len({y for _, y in points(strokes(svg)[0])}) == 1


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_legend_is_above_the_plot_and_all_is_within_the_picture(path: Path) -> None:
    svg = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    _, _, width, height = map(float, svg.get("viewBox", "").split())
    found, top = rows(svg)
    assert any(re.search(r"\bseed \d", text.text or "") for text in found)
    size = float(svg.get("font-size", ""))
    ends: dict[float, float] = {}
    for text in found:  # in order of their rows, from left to right
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        assert y + 0.3 * size < top and x > ends.get(y, 0) + 20  # with its line before it
        ends[y] = x + 0.62 * size * len(text.text or "")
        assert ends[y] < width
    lines = strokes(svg)
    samples = len(found)
    for line in lines[:-samples]:
        assert all(0 < x < width and top <= y < height - 2 * size for x, y in points(line))
    for line in lines[-samples:]:
        assert all(0 < x < width and 0 < y < top for x, y in points(line))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_text_and_lines_for_all_readers(path: Path) -> None:
    content = path.read_text(encoding="utf-8")
    svg = ElementTree.fromstring(content)
    assert {part.tag.removeprefix(SVG) for part in svg.iter()} == {
        "svg", "title", "desc", "rect", "path", "text",
    }  # fmt: skip
    assert svg[0].tag == f"{SVG}title" and svg[1].tag == f"{SVG}desc" and svg.get("role") == "img"
    found, _ = rows(svg)
    assert all(f"{text.text}: " in (svg[1].text or "") for text in found)
    assert "href" not in content and "url(" not in content
    assert svg.get("font-family", "").endswith("sans-serif")
    assert float(svg.get("font-size", "")) >= 12 and len(content) < 30_000
