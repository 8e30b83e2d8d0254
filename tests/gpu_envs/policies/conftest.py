"""Fixtures of the policies' tests, which are the trainer's."""

from tests.gpu_envs.train.conftest import _one_thread_and_one_seed

__all__ = ["_one_thread_and_one_seed"]
