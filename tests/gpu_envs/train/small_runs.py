"""Runs that take seconds: options of one whose roles learn apart, and a rank of a small world."""

from __future__ import annotations

from gpu_envs.train.ranks import Ranks

BY_ROLE = (
    "--num-envs",
    "8",
    "--rollout",
    "16",
    "--minibatch",
    "64",
    "--epochs",
    "2",
    "--goal",
    "inf",
)
BY_ROLE += ("--device", "cpu", "--evaluation-share", "0", "--evaluation-episodes", "4")
BY_ROLE += ("--tensorboard", "false", "--policies", "role")


class Half(Ranks):
    """One of two processes."""

    def __init__(self, first: int, count: int) -> None:
        super().__init__("cpu")
        self.part = first, count

    def share(self, total: int) -> tuple[int, int]:
        return self.part
