"""Every block of a page in Python, C++ or the shell is run, cut short, or marked with why not."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from tests.pages import compiled, shell
from tests.pages.blocks import MARK, PAGES, ROOT, Block, all_blocks, blocks_in

MOST_MARKED = 0.15
TESTS = {
    "python": "test_examples_run",
    "cpp": "test_fragments_compile",
    "sh": "test_commands_run",
}
# Pages whose blocks a test of their own runs: one that starts each block, or each step, afresh.
ELSEWHERE = {
    ("docs/cookbook.md", "python"): "tests/test_cookbook.py",
    ("docs/cookbook.md", "sh"): "tests/test_cookbook.py",
    ("docs/data_sets.md", "python"): "tests/gpu_envs/train/data_sets/test_record.py",
    ("docs/first_environment.md", "cpp"): "tests/test_first_environment.py",
    ("docs/first_environment.md", "python"): "tests/test_first_environment.py",
    ("docs/first_environment.md", "sh"): "tests/test_first_environment.py",
    ("docs/policies.md", "python"): "tests/gpu_envs/commands/test_export.py",
    ("docs/roles.md", "python"): "tests/gpu_envs/test_roles_page.py",
}
# What is long in an example, and what stands in its place.
CUT = {
    r"\.learn\(100_000\)": ".learn(100)",
    r'PPO\("MlpPolicy", ': 'PPO("MlpPolicy", n_steps=16, env=',
    r"4096 \* 320": "4096 * 32",
}
# Pages whose commands or examples take long.
SLOW = ("docs/learning.md", "docs/web.md", "docs/integrations/")
# What blocks with these words need.
LIBRARIES = {
    r"--out \w+\.mp4": "imageio_ffmpeg",
    r"--target wasm": "ziglang",
    r"\bskrl": "skrl",
    r"\bstable_baselines3": "stable_baselines3",
    r"\btorchrl": "torchrl",
    r"torch|\.ckpt|trained|scripts/train|-m gpu_envs (train|evaluate)": "torch",
}


def runner_of(block: Block) -> str:
    """Return the name of the test that runs a block; "": none."""
    if block.why:
        return ""
    return ELSEWHERE.get((block.page, block.language), TESTS.get(block.language, ""))


def parameters(test: str, by_section: bool) -> list[Any]:
    """Return the blocks that a test runs, those together that are run in one folder."""
    groups = defaultdict(list)
    for block in all_blocks():
        if runner_of(block) == test:
            groups[block.page, block.section if by_section else ""].append(block)
    return [
        pytest.param(
            blocks,
            id=" ".join(place).strip(),
            marks=[pytest.mark.slow] if place[0].startswith(SLOW) else [],
        )
        for place, blocks in groups.items()
    ]


# ---- what is run


def need_libraries(blocks: list[Block]) -> None:
    for words, library in LIBRARIES.items():
        if any(re.search(words, block.text) for block in blocks):
            pytest.importorskip(library, reason=f"needs {library}")


@pytest.mark.parametrize("blocks", parameters("test_examples_run", by_section=False))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_examples_run(blocks: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_libraries(blocks)
    shell.make_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("moviepy", "moviepy.video.io.ImageSequenceClip"):  # encodes films, nothing else
        monkeypatch.setitem(sys.modules, name, MagicMock())
    space: dict[str, object] = {}
    for block in blocks:
        text = block.text
        for pattern, other in CUT.items():
            text = re.sub(pattern, other, text)
        exec(compile(text, block.place, "exec"), space)


@pytest.mark.parametrize("blocks", parameters("test_commands_run", by_section=True))
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_commands_run(blocks: list[Block], tmp_path: Path) -> None:
    need_libraries(blocks)
    assert shell.follow(blocks, tmp_path)


def fragments() -> list[Block]:
    return [b for b in all_blocks() if runner_of(b) == "test_fragments_compile"]


def test_fragments_compile(tmp_path: Path) -> None:
    source = tmp_path / "fragments.cpp"
    frames = compiled.FRAMES.read_text(encoding="utf-8")
    source.write_text(compiled.filled(frames, fragments()), encoding="utf-8")
    assert not compiled.problems_of(source)


# ---- that none is forgotten


def test_few_blocks_are_marked() -> None:
    marked = [block for block in all_blocks() if block.why]
    reasons = "\n".join(f"{block.place}: {block.why}" for block in marked)
    assert len(marked) <= MOST_MARKED * len(all_blocks()), reasons


def test_every_block_is_run_or_marked() -> None:
    assert [b.place for b in all_blocks() if not b.why and not runner_of(b)] == []


def marks_in(text: str) -> int:
    return len(re.findall(r"^ *<!-- *not run", text, re.M))


def test_every_mark_belongs_to_a_block() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        marked = [block for block in blocks_in(text, page.name) if block.why]
        assert marks_in(text) == len(marked), page


def test_marks_are_comments_to_markdown() -> None:
    markdown = pytest.importorskip("markdown_it", reason="needs gpu_envs[web]").MarkdownIt()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = [token for token in markdown.parse(text) if token.type == "html_block"]
        assert marks_in(text) == sum(bool(MARK.fullmatch(one.content.strip())) for one in found)


def test_pages_that_are_run_elsewhere_are_named_there() -> None:
    for place, test in ELSEWHERE.items():
        assert Path(place[0]).name in (ROOT / test).read_text(encoding="utf-8")
        assert place in {(block.page, block.language) for block in all_blocks()}


# ---- what finds, compiles and runs them

PAGE = """# Title

<!-- not run: needs a GPU -->
```python
never()
```

## Next

- an item
  ```sh
  echo
  ```
"""


def test_blocks_are_found_with_section_line_and_mark() -> None:
    assert list(blocks_in(PAGE, "a.md")) == [
        Block("a.md", "Title", 4, "python", "never()\n", "needs a GPU"),
        Block("a.md", "Next", 11, "sh", "echo\n", ""),
    ]


def test_block_of_an_unknown_language_is_run_by_none() -> None:
    assert not runner_of(Block("a.md", "", 1, "julia", "", ""))


def test_fragment_that_is_wrong_or_has_no_place_is_found(tmp_path: Path) -> None:
    frames = "// >>> a.md 1.1\nint b;\n// >>> a.md 1.2\n"
    right = Block("a.md", "", 1, "cpp", "int a;\n  ...  // more\nint c;\n", "")
    assert compiled.filled(frames, [right]) == "int a;\nint b;\nint c;\n"
    with pytest.raises(AssertionError):
        compiled.filled(frames.partition("int")[0], [right])
    source = tmp_path / "wrong.cpp"
    source.write_text("int a = b;\n", encoding="utf-8")
    assert "was not declared" in compiled.problems_of(source)


@pytest.mark.parametrize(
    "text",
    [
        "scripts/gone\n",
        "python -m gpu_envs lists\n",
        "python gone.py\n",
        "false\n",
        "echo $gone\n",
        "pip install gpu_envs[gone]\n",
    ],
)
def test_wrong_command_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, FileNotFoundError)):
        shell.follow([Block("a.md", "", 1, "sh", text, "")], tmp_path)


def test_block_is_read_by_bash_and_cut_short(tmp_path: Path) -> None:
    text = 'more="--seed 3"\npython -m gpu_envs evaluate X \\\n  $more # as ever\n'
    assert list(shell.calls_of(text, tmp_path)) == [
        ["-m", "gpu_envs", "evaluate", "X", "--seed", "3", "--episodes", "1"]
    ]
