"""A file of TensorBoard's events, on disk with every row."""

from __future__ import annotations

import importlib
import io
import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpu_envs.train.curves import GrowingFile

_numbers = itertools.count()  # a process may begin several files within a second


class Events:
    """A file of TensorBoard's events.

    Torch's SummaryWriter writes from a thread, which a full disk ends with a traceback, and holds
    back up to two minutes of a run that is killed; only its records are used here.
    """

    def __init__(self, folder: Path, first_step: int, settings: Mapping[str, Any]) -> None:
        self._records = importlib.import_module("torch.utils.tensorboard").RecordWriter
        self._summary = importlib.import_module("torch.utils.tensorboard.summary")
        proto = "tensorboard.compat.proto"
        self._event = importlib.import_module(f"{proto}.event_pb2")
        self._value = importlib.import_module(f"{proto}.summary_pb2").Summary
        place = f"{int(time.time()):010}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
        self._first_step = first_step
        self.file = GrowingFile(folder / f"events.out.tfevents.{place}")
        self._keep(file_version="brain.Event:2")
        # Older files in the folder are void from this step on.
        start = self._event.SessionLog(status=self._event.SessionLog.START)
        self._keep(session_log=start, step=first_step)
        lines = [f"| {name} | {value} |" for name, value in settings.items()]
        table = "\n".join(["| setting | value |", "|-|-|", *lines])
        self._keep(summary=self._summary.text("settings", table), step=first_step)

    def _keep(self, **fields: Any) -> None:
        stream = io.BytesIO()
        event = self._event.Event(wall_time=time.time(), **fields)
        self._records(stream).write(event.SerializeToString())
        self.file.waiting.append(stream.getvalue())

    def row(self, steps: int, values: Mapping[str, float]) -> None:
        """Add one update's values."""
        parts = [self._value.Value(tag=name, simple_value=v) for name, v in values.items()]
        self._keep(summary=self._value(value=parts), step=steps)
        self.flush()

    def text(self, name: str, text: str) -> None:
        """Add a text in Markdown."""
        self._keep(summary=self._summary.text(name, text), step=self._first_step)
        self.flush()

    def flush(self) -> None:
        """Write the events that wait; OSError if that fails."""
        self.file.flush()
