"""Long work of a lesson: a `Job` with progress in words and a button to cancel.

All lessons of this server share a few threads, so that many visitors wait in turn
instead of slowing everything down together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane
from explorer.app.work.job import Job, Run, Superseded, patient
from explorer.evaluate.runs import Flag, processors
from explorer.teaching.previews import Cancelled, Progress
from explorer.views.tables import progress

#: What a lesson hands over: it reports how far it is, looks at a flag, and returns its result.
Work = Callable[[Progress, Flag], Any]
_POOL = patient(processors(), "lesson", 4)


class Running:
    """One long computation at a time; the newest takes the place of the one before.

    Parameters
    ----------
    done : shows a result, with the document's lock held
    refused : shows a sentence when the work could not be done
    name : what is under way, for the progress bar
    """

    def __init__(
        self, done: Callable[[Any], None], refused: Callable[[str], None], name: str
    ) -> None:
        self._name = name
        self.job: Job[Any] = Job(_work, done, refused, changed=self._show, pool=_POOL)
        self.start, self.cancel = self.job.ask, self.job.cancel
        self.reset, self.close = self.job.reset, self.job.close
        self.cancel_button = ui.Button(
            label="Cancel",
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 0),
            disabled=True,
            on_click=lambda _event: self.cancel(),
        )
        self.status = pane(margin=(6, 0, 0, 0))
        self._show()

    @property
    def running(self) -> bool:
        """Whether work is under way or waits for its turn."""
        return self.job.busy

    def _show(self) -> None:
        self.cancel_button.disabled = not self.running
        if self.running:
            part, left = self.job.progress
            done = round(100 * part)
            text = f"{done} %" if left is None else f"{done} %, about {left:,.0f} s left"
            if self.job.phase == "waiting":
                text = "Waiting for its turn …"
            put(self.status, progress(self._name, done, 100, text))
            return
        text = {
            "cancelled": "Cancelled; nothing was changed.",
            "failed": "Not finished.",
            "finished": "Finished. These are previews, compared with the truth.",
        }.get(self.job.phase, "")
        put(self.status, f'<p class="quiet" role="status">{text}</p>')


def _work(work: Work, run: Run) -> Any:
    try:
        return work(run.tell, run.cancelled)
    except Cancelled as error:
        raise Superseded from error
