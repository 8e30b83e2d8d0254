"""Small trees for the scripts that look at a whole one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scripts.house import sources


@pytest.fixture
def plant(tmp_path: Path) -> Callable[[Mapping[str, str]], sources.Tree]:
    """Writes files below a temporary folder and reads the tree."""

    def write(files: Mapping[str, str]) -> sources.Tree:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return sources.read_tree(tmp_path)

    return write
