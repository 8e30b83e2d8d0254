"""`AutoresetMode`: Gymnasium's where it has one (1.1 and newer), else an equal one of our own."""

from __future__ import annotations

import enum

try:
    from gymnasium.vector import AutoresetMode
except ImportError:

    class AutoresetMode(enum.Enum):  # type: ignore[no-redef]  # stands in for the missing one
        """The moment at which a world whose episode ended begins the next one."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


__all__ = ["AutoresetMode"]
