"""How a bug is switched on for a while, and what an audit says of a bug that does not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

BROKEN = "the run fails: (Attribute|Type|Name|Import|Key|Index)Error"
"""What is said of a bug that does not fit the code any more: it was not planted."""

#: An owner, a name, and what replaces it: a value, or a function whose first argument is the
#: original; or something that returns a context manager.
Plant = tuple[Any, str, Any] | Callable[[], AbstractContextManager[Any]]


def wrapped(owner: Any, name: str, wrong: Any) -> AbstractContextManager[Any]:
    right = getattr(owner, name)
    if not callable(wrong):
        return patch.object(owner, name, wrong)
    return patch.object(owner, name, lambda *asked, **named: wrong(right, *asked, **named))


@contextmanager
def planted(*plants: Plant) -> Iterator[None]:
    with ExitStack() as stack:
        for plant in plants:
            stack.enter_context(wrapped(*plant) if isinstance(plant, tuple) else plant())
        yield
