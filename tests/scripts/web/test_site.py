"""Pages of the site: what is made of descriptions, and what a browser may do with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.web import live, site

ENTRIES = {entry["id"]: (stem, entry) for stem, entry in live.described()}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of all pages, of which that of CartPole-v0 lives."""
    folder = tmp_path_factory.mktemp("site") / "source"
    site.assemble(folder, [{"id": "CartPole-v0", "poster": "posters/CartPole-v0.png"}])
    return folder


@pytest.mark.parametrize("name", ENTRIES)
def test_every_environment_has_a_page_with_its_description(sources: Path, name: str) -> None:
    stem, entry = ENTRIES[name]
    page = live.page_of(stem, name)
    text = (sources / f"{page}.md").read_text()
    for parameter in entry["parameters"]:
        assert f"| `{parameter['name']}` |" in text
    assert ("data-environment" in text) == (name == "CartPole-v0")
    assert f"\n{page}\n" in (sources / "index.md").read_text()
    assert text.count(f"## What {name} describes") == 1


def test_curves_are_beside_the_environment_and_lead_to_their_commands(sources: Path) -> None:
    text = (sources / "docs" / "hide_seek.md").read_text()
    assert "(curves/seekers.svg)" in text and "(learning.md#hideseek-v0-seekers)" in text
    cart = (sources / "docs" / "environments" / "CartPole-v0.md").read_text()
    assert "(../curves/cartpole.svg)" in cart and "curves/cartpole64.svg" not in cart


def test_measured_files_are_listed_on_one_page(sources: Path) -> None:
    folder = sources / "benchmarks" / "results"
    listed = re.findall(r"^- \[.*\]\((.*)\)$", (folder / "README.md").read_text(), re.MULTILINE)
    pages = {path.name for path in (site.ROOT / "benchmarks" / "results").glob("*.md")}
    assert len(listed) == len(set(listed)) and set(listed) == pages - {"README.md"}
    assert all(
        (folder / name).read_text().startswith("---\norphan: true\n---\n") for name in listed
    )


def test_a_cell_cannot_end_its_column() -> None:
    assert site._table(("a",), [("x | y\nz",)])[2] == "| x \\| y z |"


def test_recorded_cases_of_a_page_are_the_quickest() -> None:
    for name, (stem, _) in ENTRIES.items():
        found = live.cases_of(stem, name)
        assert 1 <= len(found) <= live.CASES
        assert all(line.split(" | ")[0] == name for line in found)


def test_a_page_keeps_other_hosts_out_and_names_its_own_scripts(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "a.html"
    ahead = '<link rel="next" title="B" href="b.html" />'
    body = '<body><script>f()</script><div data-environment="x">'
    page.write_text(f"<html><head>{ahead}</head>{body}")
    site.finish(tmp_path)
    text = page.read_text()
    assert ahead not in text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1] and "'wasm-unsafe-eval'" in policy[1]
    # printf 'f()' | openssl dgst -sha256 -binary | base64
    assert "'sha256-+9PbTdnW5xLoCqqg9GVvUuKGkxmHqVfZhVRXSEyjDMI='" in policy[1] or (
        policy[1].count("'sha256-") == 1
    )
    assert "unsafe-eval" not in policy[1].replace("wasm-unsafe-eval", "")
    assert 'src="../client/page/start.js"' in text
    assert (tmp_path / ".nojekyll").exists()


def test_a_page_names_all_modules_that_it_imports(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "live.html"
    page.parent.mkdir()
    page.write_text('<html><head></head><body><div data-environment="x">')
    site.finish(tmp_path)
    links = re.findall(r'<link rel="modulepreload" href="([^"]*)">', page.read_text())
    places = [(page.parent / link).resolve() for link in links]
    named = [site.CLIENT / path.relative_to(tmp_path.resolve() / "client") for path in places]
    assert sorted(named) == sorted(site.imported(site.CLIENT / "page" / "start.js"))


def test_modules_that_are_imported_are_found_through_all_forms(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { x } from "./b.js";\nimport "./c.js";\n')
    (tmp_path / "b.js").write_text('export {\n  x,\n} from "./c.js";\nconst s = "./none.js";\n')
    (tmp_path / "c.js").write_text('import {\n  y,\n  z,\n} from "./a.js";\n')
    names = [path.name for path in site.imported(tmp_path / "a.js")]
    assert names == ["a.js", "b.js", "c.js"]
