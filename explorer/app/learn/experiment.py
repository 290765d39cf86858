"""What the experiments of lessons share: settings, a city, work next to the page, an end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import panel as pn

from explorer.app.curator.data import CityData
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import Controls, actions, button
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.later import when_loaded
from explorer.app.kit.prose import chart_pane, column, finding, pane, quiet, side_by_side
from explorer.app.kit.words import words
from explorer.app.work.cache import Shelf
from explorer.app.work.job import Job, Run, Superseded, patient
from explorer.errors import InputError
from explorer.evaluate.runs import processors
from explorer.teaching.journeys import Journeys, journeys
from explorer.teaching.previews import Cancelled
from explorer.teaching.settings import Settings
from explorer.trips.matrix import TripMatrix
from explorer.views.figures import legend
from explorer.views.tables import progress

PREVIEW = "Everything here is a preview: repeatable noise, not private, nothing is booked."
#: All lessons of a server share a few threads: many visitors wait in turn.
_POOL = patient(processors(), "lesson", 4)
_JOURNEYS: Shelf[Journeys] = Shelf(3)
_COUNTS: Shelf[TripMatrix] = Shelf(8)


class Experiment(ABC):
    """The interactive part of a lesson.

    Parameters
    ----------
    settings : Settings
        What the lesson begins with; the widgets change it.
    refused : shows a sentence
    phone : whether the page is on a phone
    """

    #: Heading above it.
    title: ClassVar[str] = ""
    #: Settings that a result does not depend on.
    APART: ClassVar[Sequence[str]] = ()

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self.settings, self.refused, self.phone = settings, refused, phone
        self.controls = Controls(settings, refused)
        self.data: CityData | None = None
        self.said = pane(margin=(4, 0, 6, 0))
        self.view = column()
        self._chosen_on: list[Where] = []
        self.build()
        others = [name for name in settings.settings() if name not in self.APART]
        settings.param.watch(lambda *_: self.changed(), others)

    @abstractmethod
    def build(self) -> None:
        """Make the widgets and fill `view`."""

    @abstractmethod
    def begin(self) -> None:
        """Begin anew: the city, or a setting that a result depends on, is another."""

    @abstractmethod
    def close(self) -> None:
        """Stop whatever runs: the lesson or the visit has ended."""

    def use(self, data: CityData) -> None:
        """Take a city; called once before anything else, and when another is chosen."""
        self.data = data
        for picker in self._chosen_on:
            picker.use(data)
        self.begin()

    def changed(self) -> None:
        """Begin anew once there is a city."""
        if self.data is not None:
            self.begin()

    def choose(self, *, box: bool = False, place: bool = False) -> Where:
        """A map to choose a box, a place or both on; it follows the city."""
        where = Where(self.settings, self.refused, box=box, place=place, phone=self.phone)
        self._chosen_on.append(where)
        return where

    def say(self, sentence: str) -> None:
        """Put the finding in words."""
        put(self.said, finding(sentence))

    def lay_out(self, left: Any, controls: Sequence[Sequence[Any]], right: Sequence[Any]) -> None:
        """A map at the left if there is one, rows of controls above, at the right what comes out.

        ``left`` is None where there is no map.
        """
        out = column(*right, flex="3 1 360px")
        body = side_by_side(*([] if left is None else [left]), out, gap="0 8px")
        head = pane(f"<h3>{self.title}</h3><p>{PREVIEW}</p>", margin=(0, 0, 4, 0))
        rows = [ui.wrapping(*row, margin=(0, 0, 6, 0)) for row in controls]
        self.view.objects = [head, *rows, body]

    def ready(self) -> CityData:
        """The city; an InputError while it is still being read."""
        if self.data is None:
            raise InputError("The city is still being read: try again in a moment.")
        return self.data

    def button(self, text: str, clicked: Callable[[], None], *, strong: bool = False) -> Any:
        """A button; what it cannot do is said."""

        def guarded() -> None:
            try:
                clicked()
            except InputError as error:
                self.refused(str(error))

        return button(text, guarded, strong=strong)


class LiveExperiment(Experiment):
    """An experiment that looks anew, in a thread, whenever its city or a setting is another."""

    #: From what `asked` gives to a result that knows its ``data``; it must not touch the page.
    look: ClassVar[Callable[..., Any]]
    #: Charts and maps that are not to be seen before there is a result.
    pictures: Sequence[Any] = ()

    @cached_property
    def worker(self) -> Job[Any]:
        """What looks, one request after the other."""
        return Job(lambda request: self.look(*request), self._show, self.refused, take=self.asked)

    @abstractmethod
    def show(self, result: Any) -> None:
        """Show what `look` found."""

    def asked(self) -> tuple[Any, ...]:
        """What is to be looked at: the city, the settings as they are, and perhaps more."""
        return self.ready(), self.settings.copy()

    def lay_out(self, left: Any, controls: Sequence[Sequence[Any]], right: Sequence[Any]) -> None:
        """As every experiment, without its pictures."""
        self._see(False)
        super().lay_out(left, controls, right)

    def begin(self) -> None:
        """Look anew."""
        when_loaded(self.worker.ask)

    def close(self) -> None:
        """Stop looking."""
        self.worker.close()

    def _see(self, visible: bool) -> None:
        for picture in self.pictures:
            picture.visible = visible

    def _show(self, result: Any) -> None:
        # Another city may have been chosen while this one was looked at.
        if result.data is self.data:
            self._see(True)
            self.show(result)


class ExamplesExperiment(LiveExperiment):
    """A live experiment at one of many examples, with one of many draws of noise."""

    #: What the button calls another example.
    ANOTHER: ClassVar[str] = ""
    #: What is said while a city is counted.
    COUNTING: ClassVar[str] = "The trips are being counted."
    _example = _seed = 0

    def buttons(self) -> tuple[Any, Any]:
        """For another example, and for other noise on the same."""
        return (
            self.button(self.ANOTHER, self.another, strong=True),
            self.button("New noise", self.again),
        )

    def asked(self) -> tuple[Any, ...]:
        """City, settings, number of the example, seed of the noise."""
        return *super().asked(), self._example, self._seed

    def use(self, data: CityData) -> None:
        """Count the city."""
        self.say(self.COUNTING)
        super().use(data)

    def another(self) -> None:
        """Look at another example."""
        self._example += 1
        self.changed()

    def again(self) -> None:
        """Draw other noise."""
        self._seed += 1
        self.changed()


class Running:
    """Long work of a lesson: a `Job` with its progress in words and a button to cancel.

    The newest takes the place of the one before. Work takes a function that it reports its progress
    to, and a flag that is set once its result is not wanted.

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
        self.cancel_button = button("Cancel", self.cancel)
        self.status = pane(margin=(6, 0, 0, 0))
        self._show()

    def _show(self) -> None:
        phase = self.job.phase
        self.cancel_button.disabled = not self.job.busy
        if self.job.busy:
            part, left = self.job.progress
            done = round(100 * part)
            text = f"{done} %" if left is None else f"{done} %, about {left:,.0f} s left"
            text = "Waiting for its turn …" if phase == "waiting" else text
            put(self.status, progress(self._name, done, 100, text))
            return
        text = {
            "cancelled": "Cancelled; nothing was changed.",
            "failed": "Not finished.",
            "finished": "Finished. These are previews, compared with the truth.",
        }.get(phase, "")
        put(self.status, f'<p class="quiet" role="status">{text}</p>')


def _work(work: Callable[..., Any], run: Run) -> Any:
    try:
        return work(run.tell, run.cancelled)
    except Cancelled as error:
        raise Superseded from error


class StartedExperiment(Experiment):
    """An experiment that shows a sentence until a button starts it, and then what came out."""

    #: What is under way, for the progress bar.
    WORK: ClassVar[str]
    #: The chart with its legend, which `build` makes; not to be seen without a result.
    plot: Any

    @cached_property
    def running(self) -> Running:
        """The work under way."""
        return Running(self.show, self.refused, self.WORK)

    def run_buttons(self, *buttons: Any) -> Any:
        """Buttons that start work, and the one that cancels it."""
        return actions(*buttons, self.running.cancel_button)

    def lay_results_out(
        self, left: Any, controls: Sequence[Sequence[Any]], *between: Any, plot: Any
    ) -> None:
        """Lay out progress, finding, chart, whatever is ``between``, figures, table."""
        self.plot, self.figures, self.twin = plot, pane(), pane()
        self.plot.visible = False
        head = self.running.status, self.said, self.plot
        self.lay_out(left, controls, [*head, *between, self.figures, self.twin])

    @abstractmethod
    def show(self, result: Any) -> None:
        """Show what the work found."""

    @abstractmethod
    def before(self) -> str:
        """The sentence while there is no result."""

    def begin(self) -> None:
        """Forget the result, and what is under way."""
        self.running.reset()
        self.plot.visible = False
        put(self.figures, "")
        put(self.twin, "")
        self.say(self.before())

    def close(self) -> None:
        """Stop what is under way."""
        self.running.close()

    def result(self, sentence: str, figures: str, twin: str) -> None:
        """Show the chart, the finding in words, a strip of figures and a table, as HTML."""
        self.say(sentence)
        self.plot.visible = True
        put(self.figures, figures)
        put(self.twin, twin)


def explained(entries: Sequence[tuple[str, str, str]], *figures: Any, margin: Any = 0) -> Any:
    """Charts below what their colours represent: entries of a `legend`."""
    return column(pane(legend(entries), margin=margin), *map(chart_pane, figures))


def square_pane(figure: Any) -> Any:
    """A square map that is as wide as its place."""
    return pn.pane.Bokeh(figure, sizing_mode="scale_width", aspect_ratio=1, margin=0)


def map_column(*objects: Any) -> Any:
    """Maps one below the other at the left of what they show."""
    styles = {"flex": "1 1 260px", "max-width": "300px"}
    return column(*objects, margin=(0, 20, 8, 0), styles=styles)


def journeys_of(city: str) -> Journeys:
    """Trips of a city by its key, or those that are in for them."""
    return _JOURNEYS.get(city, lambda: journeys(city))


def counts_of(city: str, places: int, cells: int) -> TripMatrix:
    """Those trips counted on as many cells to a side, in as many places as they have."""
    journeys = journeys_of(city)
    places = min(places, journeys.most)
    return _COUNTS.get((city, places, cells), lambda: journeys.on(places, cells))


def notes_of(journeys: Journeys, places: int) -> str:
    """What is not as it was asked for, as HTML; empty if all is."""
    text = words("learn")
    parts = [text["Trips of another city"]] if journeys.stand_in else []
    if places > journeys.most:
        parts.append(text["No stop"])
    return quiet(" ".join(parts)) if parts else ""
