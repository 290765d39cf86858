"""What a reader of untrusted files may use, and how Linux holds it to that."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: Whether readers can be held to limits here: by `fork`, passed sockets and /proc.
SUPPORTED = sys.platform == "linux"

#: Bytes in a page of memory, where there is such a thing.
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Limits:
    """What reading one file may take.

    Parameters
    ----------
    cpu : seconds of all its processors together
    memory : bytes beyond what a reader has before it sees the file
    wall : seconds from the request to the answer
    """

    cpu: int = 20
    memory: int = 1_500_000_000
    wall: float = 60.0

    def facts(self) -> dict[str, Any]:
        """As plain values, to be sent."""
        return asdict(self)


LIMITS = Limits()


def impose(limits: Limits) -> None:
    """Hold the present process to limits, for good. On Linux."""
    import resource

    # The first is a signal, which ends the process; the second cannot be outlived.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 1))
    # What may be written to: address space that is only reserved, as allocators do, is not counted.
    max_bytes = held_bytes("VmData") + limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))
    # A crash leaves no copy of anybody's points.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def held_bytes(what: str, pid: int | str = "self") -> int:
    """A line of what Linux says of a process's memory, such as VmHWM, the most it has held."""
    with suppress(OSError), Path(f"/proc/{pid}/status").open(encoding="ascii") as status:
        for line in status:
            if line.startswith(what):
                return int(line.split()[1]) * 1024
    return 0


def own_bytes(pid: int) -> int:
    """Bytes of memory that a process shares with no other file, 0 where there is none any more."""
    with suppress(OSError), Path(f"/proc/{pid}/statm").open() as facts:
        _size, resident, shared, *_ = facts.read().split()
        return (int(resident) - int(shared)) * _PAGE
    return 0
