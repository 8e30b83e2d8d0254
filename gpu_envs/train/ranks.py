"""The processes of one run: each one's worlds, and sums over all of them.

`torchrun --nproc-per-node=N` starts the processes and says in the environment who they are; without
it a run is one process, and nothing here does anything.
"""

from __future__ import annotations

import datetime
import os

import torch
import torch.distributed as dist
from torch import Tensor

_PATIENCE = datetime.timedelta(minutes=10)  # [s] without a message of a rank


class Ranks:
    """This process among those of the run."""

    def __init__(self, device: str) -> None:
        self.rank = int(os.environ.get("RANK", "0"))
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        wants_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
        if self.count > 1 and wants_gpu and ":" in device:
            raise ValueError("--device must be cuda with several ranks: each uses a GPU of its own")
        self.device = f"cuda:{local}" if self.count > 1 and wants_gpu else device
        self._host: dist.ProcessGroup | None = None
        if self.count > 1:
            if wants_gpu:
                torch.cuda.set_device(local)
            dist.init_process_group("nccl" if wants_gpu else "gloo", timeout=_PATIENCE)
            # Host memory needs a process group of its own beside one for GPUs.
            self._host = dist.new_group(backend="gloo") if wants_gpu else None

    @property
    def is_first(self) -> bool:
        """Whether this is the first process, which prints and writes files."""
        return self.rank == 0

    def share(self, total: int) -> tuple[int, int]:
        """Return (first, count) of this rank's part of `total` things."""
        first, end = (total * r // self.count for r in (self.rank, self.rank + 1))
        return first, end - first

    def sum(self, tensor: Tensor) -> Tensor:
        """Replace a tensor by its sum over all ranks."""
        if self.count > 1:
            dist.all_reduce(tensor)
        return tensor

    def lowest(self, number: int) -> int:
        """Return the lowest of the ranks' numbers."""
        if self.count == 1:
            return number
        value = torch.tensor(number)
        dist.all_reduce(value, dist.ReduceOp.MIN, group=self._host)
        return int(value)

    def agreed(self, number: int) -> int:
        """Return the first rank's number on all of them."""
        if self.count == 1:
            return number
        value = torch.tensor(number)
        dist.broadcast(value, 0, group=self._host)
        return int(value)

    def gather(self, data: bytes) -> list[bytes] | None:
        """Return the bytes of all ranks on the first one, None on the others."""
        if self.count == 1:
            return [data]
        sizes = torch.zeros(self.count, dtype=torch.int64)
        sizes[self.rank] = len(data)
        dist.all_reduce(sizes, group=self._host)
        mine = torch.zeros(int(sizes.max()) + 1, dtype=torch.uint8)  # an empty tensor has no view
        mine[: len(data) + 1] = torch.frombuffer(bytearray(data + b"\0"), dtype=torch.uint8)
        places = [torch.empty_like(mine) for _ in range(self.count)] if self.is_first else None
        dist.gather(mine, places, group=self._host)
        if places is None:
            return None
        return [bytes(p[:n].numpy()) for p, n in zip(places, sizes.tolist(), strict=True)]

    def close(self, *, is_clean: bool) -> None:
        """Leave the group; after a clean run all at once, since the first serves the rest."""
        if self.count > 1 and dist.is_initialized():
            if is_clean:
                dist.barrier(group=self._host)
            dist.destroy_process_group()
