"""docs/cookbook.md: thirty questions, whose lines run by themselves and assert what they show.

A question's blocks run in the order of the page, in a folder of their own. Commands are cut short
as those of all pages (`tests/pages/shell.py`).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.pages import shell
from tests.pages.blocks import ROOT, Block, all_blocks

PAGE = "docs/cookbook.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^## (.*)$", TEXT, re.M)
LONGEST = 16  # lines of a recipe with something in them
# What blocks with these words need.
LIBRARIES = {
    r"\bimport jax\b": "jax",
    r"\bminari\b|\bgpu_envs record\b": "minari",
    r"\bonnxruntime\b": "onnxruntime",
    r"--to onnx": "onnxscript",
    r"\baec_env\b": "pettingzoo",
    r"--out \w+\.mp4": "imageio_ffmpeg",
    r"\bstable_baselines3\b": "stable_baselines3",
    r"\btensorboard\b": "tensorboard",
    r"torch|\btrained\b|scripts/train|-m gpu_envs (train|evaluate)": "torch",
}


def blocks_of(question: str) -> list[Block]:
    return [b for b in all_blocks() if b.page == PAGE and b.section == question]


def test_page_has_thirty_questions() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) == 30
    assert all(re.fullmatch(r"(How|Why|What|Which|Where|Can) .*\?", one) for one in QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answer_has_sentences_some_lines_and_a_link(question: str) -> None:
    answer = TEXT.partition(f"\n## {question}\n")[2].partition("\n## ")[0]
    assert re.match(r"\n[\w`]", answer), "sentences come first"
    assert re.search(r"^More: \[[^]]+\]\(\w+(/\w+)?\.md", answer, re.M), "the whole story"
    for block in blocks_of(question):
        assert not block.why
        assert sum(map(bool, block.text.splitlines())) <= LONGEST


def test_most_answers_are_python() -> None:
    assert sum(any(b.language == "python" for b in blocks_of(q)) for q in QUESTIONS) >= 22


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_lines_run(question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = blocks_of(question)
    assert blocks
    for words, library in LIBRARIES.items():
        if any(re.search(words, block.text) for block in blocks):
            pytest.importorskip(library, reason=f"needs {library}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    commands = [block for block in blocks if block.language == "sh"]
    assert not commands or shell.follow(commands, tmp_path)  # they make what Python reads
    for block in blocks:
        if block.language == "python":
            tree = ast.parse(block.text)
            assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), block.place
            exec(compile(tree, block.place, "exec"), {})
