"""Readers that misbehave, each in its own way; they are run apart."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from explorer import InputError


def repeat(content: bytes, *more: Any) -> dict[str, Any]:
    return {"size": len(content), "more": list(more), "x": np.arange(3.0), "pid": os.getpid()}


def refuse(content: bytes) -> None:
    raise InputError(f"This is {content.decode()}; give another.")


def fail(content: bytes) -> None:
    raise KeyError(content.decode())


def spin(_content: bytes) -> None:
    while True:
        pass


def sleep(content: bytes) -> None:
    Path(content.decode()).write_text(str(os.getpid()))
    time.sleep(600)


def hoard(_content: bytes) -> int:
    return len([np.ones(2**20) for _ in range(10**6)])


def hoard_and_say_damaged(_content: bytes) -> None:
    try:
        hoard(b"")
    except MemoryError as error:
        raise InputError("It may be damaged.") from error


def crash(_content: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(_content: bytes) -> None:
    os._exit(0)


def answer_with_objects(_content: bytes) -> Any:
    return {"x": np.array([InputError("a"), None], dtype=object)}


def drivers(_content: bytes) -> list[str]:
    import pyogrio

    return sorted(pyogrio.list_drivers())
