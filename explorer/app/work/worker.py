"""Names that pages still use: a `Job` that follows settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from explorer.app.work.document import held, soon, when_loaded
from explorer.app.work.job import UNEXPECTED, Job, Superseded

__all__ = ["UNEXPECTED", "LatestWorker", "Superseded", "held", "soon", "when_loaded"]
Asked = TypeVar("Asked")
Result = TypeVar("Result")


class LatestWorker(Job[Result], Generic[Asked, Result]):
    """A `Job` that follows settings, with the arguments in another order."""

    def __init__(
        self,
        take: Callable[[], Asked],
        compute: Callable[[Asked], Result],
        publish: Callable[[Result], None],
        failed: Callable[[str], None],
        slow: Callable[[bool], None],
    ) -> None:
        super().__init__(compute, publish, failed, take=take, slow=slow)
        self.request: Any = self.ask
        self.run_now: Any = self.now
