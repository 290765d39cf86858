"""What is read next to the maps: figures, summary, answers with error bars, causes, ledger."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import named, together
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers, answer_boxes, chips
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import counted_of_all
from explorer.app.curator.screen import Screen, key_figures, summary
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.map_parts import Tag
from explorer.app.kit.theme import CAUSES_CSS
from explorer.app.kit.words import words
from explorer.app.work.job import Job, give_up_unwanted, patient
from explorer.errors import InputError
from explorer.evaluate.simulation import Simulated, about_boxes, simulate
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import Queries, RangeQueries, same_questions
from explorer.inspection.errors import error_split
from explorer.releases.asking import leaf_weights
from explorer.releases.overlap import cut_leaves
from explorer.releases.release import Release
from explorer.views.markup import error_key, figures_strip, ledger_bar
from explorer.views.partition import MOST_BOXES

Thing = TypeVar("Thing")
Found = tuple[Release, NDArray[np.float64], Thing]


class ForBoxes(Generic[Thing]):
    """Finds something about a release and boxes in a thread, and keeps the last.

    A screen is of any page: it has a release, boxes and answers to them. Where it cannot be found
    nothing is said: the screen is as it was.

    Parameters
    ----------
    find : from a screen to what is wanted of its release and boxes, in a thread
    ready : called with the document's lock held when that of the present screen has come
    delay : seconds that a screen must stay the newest: a drag must not be slowed down
    pool : where to work
    """

    def __init__(
        self,
        find: Callable[[Any], Thing],
        ready: Callable[[], None],
        delay: float,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        self._find, self._ready = find, ready
        self._found: Found[Thing] | None = None
        self.job: Job[Found[Thing]] = Job(
            self._work, self._keep, lambda _sentence: None, delay=delay, pool=pool
        )
        self.close = self.job.close

    def want(self, screen: Any) -> None:
        """Ask about ``screen``; what was asked before is not wanted any more."""
        if len(screen.boxes) == 0 or not self.needed(screen) or self.of(screen) is not None:
            self.job.cancel()
        else:
            self.job.ask(screen)

    def needed(self, screen: Any) -> bool:
        """Whether there is anything to find."""
        return True

    def of(self, screen: Any) -> Thing | None:
        """What is known of these boxes of this release."""
        if self._found is None:
            return None
        release, boxes, result = self._found
        same = same_questions(boxes, screen.boxes)
        return result if release is screen.release and same else None

    def _work(self, screen: Any) -> Found[Thing]:
        return screen.release, screen.boxes, self._find(screen)

    def _keep(self, result: Found[Thing]) -> None:
        self._found = result
        self._ready()


#: Releases of the released map for one error bar; it is off by about a sixth of itself.
RUNS = 20
_POOL = patient(2, "error bars")
SIMULATED = words("explore")["Simulated intervals"]


class ErrorBars(ForBoxes[Simulated]):
    """Simulates error bars, for counts that are not linear in their noise: others have exact ones.

    Where that fails the bars by the linear rule stay, and stay marked as approximate.

    Parameters
    ----------
    ready : called with the document's lock held when bars of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        super().__init__(simulated, ready, delay=0.7, pool=_POOL)

    def needed(self, screen: Any) -> bool:
        return not screen.release.sd_exact

    def complete(self, screen: Any) -> Any:
        bars = self.of(screen)
        if bars is None:
            return screen
        half_width = bars.half_width() * screen.answers.scale
        return replace(screen, answers=replace(screen.answers, half_width=half_width))


class GivenBars(ErrorBars):
    """Keeps the bars that a release gives by itself: none is simulated."""

    def needed(self, screen: Any) -> bool:
        return False


def simulated(screen: Any) -> Simulated:
    """As many releases of the released map as `RUNS`, or none more once they are not wanted.

    A map of a million cells takes seconds: the next move of a slider must not wait next to them.
    """
    questions = [about_boxes(screen.release, screen.boxes)]
    return simulate(screen.release, questions, RUNS, progress=give_up_unwanted)[0]


#: Figures that say nothing of exact counts.
_RELEASED = {
    *("Leaves", "Epsilon", "Computed in", "Private", "± (95 %)"),
    *("Rounds", "A person sends, at most"),
}


class Readout(ABC):
    """Numbers and sentences about the screen, as far as they are known by now.

    Parameters
    ----------
    parts : of the page
    table : of the boxes
    """

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        self._parts, self._table = parts, table
        self.screen: Any = None
        self.strip = html_pane(styles={"flex": "1 1 300px", "align-self": "center"})
        self.ledger = html_pane(margin=(4, 0, 0, 0))
        #: What the colours of the causes of errors represent.
        self.key = html_pane(css=[CAUSES_CSS])
        self.error_bars = ErrorBars(self.numbers)

    @abstractmethod
    def ask(self, screen: Any, boxes: Any) -> BoxAnswers:
        """What both sides answer to other boxes than those of the screen."""

    @abstractmethod
    def complete(self, screen: Any) -> Any:
        """The screen with both causes of its errors, where they are known."""

    @abstractmethod
    def want(self, screen: Any) -> None:
        """Ask for the causes where they are not."""

    @abstractmethod
    def figures(self, screen: Any) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""

    @abstractmethod
    def tell(self, screen: Any) -> None:
        """Write the sentences."""

    @abstractmethod
    def shows(self, screen: Any) -> Sequence[str]:
        """What each map shows: "true", "private" or "difference"."""

    def fits(self, screen: Any) -> bool:
        """Whether the rows of the table are about this screen."""
        return screen is not None

    @abstractmethod
    def selected(self) -> None:
        """Other rows have been selected."""

    def show(self, screen: Any) -> None:
        """Another picture is on the maps."""
        self.screen = screen
        put(self.ledger, ledger_bar(screen.release.stages()))
        self.numbers()

    def knows(self, screen: Any) -> bool:
        """Whether the answers of a screen are to the boxes that are on the page."""
        same = same_questions(screen.boxes, self._parts.rectangles.queries)
        return same and self.fits(screen)

    def meet(self) -> None:
        """Answer the boxes if they are other ones, at the boxes: all that is said at once."""
        screen, boxes = self.screen, self._parts.rectangles.queries
        if self.fits(screen) and not same_questions(screen.boxes, boxes):
            self.screen = replace(screen, answers=self.ask(screen, boxes), boxes=boxes)
        if self.fits(screen):
            self.tag(self.screen)

    def numbers(self) -> None:
        """The boxes may be other ones, or more is known of their errors."""
        if not self.fits(self.screen):
            return
        self.meet()
        self.screen = screen = self.error_bars.complete(self.complete(self.screen))
        # First: a browser takes what comes in the order in which it was changed.
        self._table.show(screen.answers)
        key = error_key(clipping=screen.answers.counted is not None)
        put(self.key, key if self.truth else "")
        self._strip(screen)
        self.tell(screen)
        self.want(screen)
        self.error_bars.want(screen)

    def covered(self) -> None:
        """A panel shows something else on the maps, or no more: what is the screen's says so."""
        if self.fits(self.screen):
            self.tag(self.screen)
            self._strip(self.screen)

    def _strip(self, screen: Any) -> None:
        of = [("Of the whole release:", "")] if self._covered() else []
        figures = [
            figure for figure in self.figures(screen) if self.truth or figure[0] in _RELEASED
        ]
        put(self.strip, figures_strip([*of, *figures], "line"))

    @property
    def truth(self) -> bool:
        return self._parts.truth

    def hide_truth(self) -> None:
        """Take away all that was sent with exact counts in it; other texts come with `numbers`."""
        for pane in self.quoting:
            put(pane, "")

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (self.strip,)

    def _covered(self) -> frozenset[int]:
        maps = self._parts.maps
        return frozenset() if maps is None else maps.covered

    def tag(self, screen: Any) -> None:
        maps, names = self._parts.maps, self._parts.rectangles.names
        if maps is not None and len(names) == len(screen.answers):
            maps.say(self.chips(screen, screen.answers, names))

    def tags(self, boxes: Any, names: Sequence[str]) -> list[list[Tag]]:
        screen = self.screen
        return [] if not self.fits(screen) else self.chips(screen, self.ask(screen, boxes), names)

    def chips(self, screen: Any, answers: BoxAnswers, names: Sequence[str]) -> list[list[Tag]]:
        truth, covered, shows = self._parts.truth, self._covered(), self.shows(screen)
        tags = [
            named(names) if number in covered else chips(show, names, answers, truth)
            for number, show in enumerate(shows)
        ]
        maps = self._parts.maps
        return together(names, shows, tags) if maps is not None and maps.swiped else tags

    def close(self) -> None:
        self.error_bars.close()


Floats = NDArray[np.float64]
#: So many rows get a sentence each.
_MOST_SAID = 4


@dataclass(frozen=True, eq=False)
class Question:
    """A screen with its boxes, and the rows selected among them."""

    screen: Screen
    names: tuple[str, ...]
    selected: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Causes:
    """What was found: answers with the causes separated, and the leaves to be marked.

    ``cut`` is (k, 4) x0, y0, x1, y1 in grid units, at most `MOST_BOXES` of them, the largest.
    """

    screen: Screen
    answers: BoxAnswers
    cut: Floats
    sentence: str


def find_causes(question: Question) -> Causes:
    """Separate the two causes for every box, and sort the leaves that selected boxes touch."""
    screen, answers = question.screen, question.screen.answers
    release, tree = screen.release, screen.release.tree
    if answers.spread is None:
        split = error_split(screen.data.matrix, release, screen.boxes)
        answers = replace(answers, spread=answers.private - split.noise)
    sentences, cut_nodes = [], [np.zeros(0, dtype=np.int64)]
    rows = [row for row in question.selected if row < len(screen.boxes)]
    for row in rows:
        inside, cut = _cut(release, screen.boxes, row)
        cut_nodes.append(cut)
        bounded = answers.counted is not None
        sentences.append(_sentence(question.names[row], inside, len(cut), bounded))
    nodes = np.unique(np.concatenate(cut_nodes))
    if len(nodes) > MOST_BOXES:
        size = np.prod(tree.upper[nodes] - tree.lower[nodes], axis=1)
        nodes = nodes[np.argsort(-size, kind="stable")[:MOST_BOXES]]
        sentences.append(f"Only the {MOST_BOXES:,} largest are marked.")
    if len(rows) > _MOST_SAID:
        sentences[_MOST_SAID : len(rows)] = [f"The other {len(rows) - _MOST_SAID} are marked too."]
    boxes = release.grid.from_cells(np.stack([tree.lower[nodes], tree.upper[nodes]], axis=1))
    return Causes(screen, answers, boxes, " ".join(sentences))


def _cut(release: Release, queries: Queries, row: int) -> tuple[int, NDArray[np.int64]]:
    """How many leaves a row holds whole, and which it cuts."""
    if isinstance(queries, RangeQueries):
        shape = queries.shapes[row]
        if shape is not None:
            leaves, parts = next(leaf_weights(release, Shapes(np.array([shape]), None)))
            whole = parts >= 1
            return int(whole.sum()), leaves[~whole]
        queries = queries.boxes
    return cut_leaves(release.tree, release.grid.to_cells(queries[row])[0])


def _sentence(name: str, inside: int, cut: int, bounded: bool) -> str:
    leaves = "leaf" if inside == 1 else "leaves"
    if cut == 0:
        causes = "noise and records that are not counted" if bounded else "noise"
        return f"{name} holds {inside:,} {leaves} whole and cuts none: all its error is {causes}."
    marked = "it is marked" if cut == 1 else "they are marked"
    return f"{name} holds {inside:,} {leaves} whole and cuts {cut:,}: {marked} in green."


class CausesFinder:
    """Finds causes in a thread and shows them: marks on the maps, a sentence, two columns.

    Parameters
    ----------
    ask : what to look at now; None while there is nothing
    mark : draws leaves (k, 4) on the maps
    on_answers : takes a screen and its answers once their causes are separated
    failed : shows a sentence
    """

    def __init__(
        self,
        ask: Callable[[], Question | None],
        mark: Callable[[Floats], None],
        on_answers: Callable[[Screen, BoxAnswers], None],
        failed: Callable[[str], None],
    ) -> None:
        self._ask, self._mark, self._known = ask, mark, on_answers
        self._marked = False
        self._last: Causes | None = None
        self._hint = words("leaf")["Cut leaves"]
        self.view = html_pane(margin=(2, 0, 4, 0))
        self._say("")
        self._wanted: Question | None = None
        self.job = Job(find_causes, self._publish, failed, take=self._take)

    def complete(self, screen: Screen) -> Screen:
        """The screen with its causes separated, if they are known already, as after a zoom."""
        last = self._last
        if screen.answers.spread is not None or last is None:
            return screen
        if last.screen.release is not screen.release:
            return screen
        if not same_questions(last.screen.boxes, screen.boxes):
            return screen
        return replace(screen, answers=replace(screen.answers, spread=last.answers.spread))

    def follow(self) -> None:
        """The picture, the boxes or the selected rows have changed."""
        question = self._ask()
        if question is None:
            return
        if question.selected or self._marked or question.screen.answers.spread is None:
            self._wanted = question
            self.job.ask()

    def _take(self) -> Question:
        # Boxes that are being dragged have no screen: what was wanted before is found and dropped.
        question = self._ask() or self._wanted
        if question is None:
            raise InputError("The city is still being read: wait a moment.")
        return question

    def _publish(self, causes: Causes) -> None:
        question = self._ask()
        # Something newer is on its way; what belongs to another picture would be wrong on this.
        if question is not None and question.screen.release is causes.screen.release:
            self._show(causes, question)

    def _show(self, causes: Causes, question: Question) -> None:
        self._last = causes
        self._mark(causes.cut)
        self._marked = bool(len(causes.cut))
        self._say(causes.sentence)
        if question.screen.boxes is causes.screen.boxes and question.screen.answers.spread is None:
            self._known(causes.screen, causes.answers)

    def _say(self, sentence: str) -> None:
        text = html.escape(sentence or self._hint)
        put(self.view, f'<p class="{"" if sentence else "quiet"}" role="status">{text}</p>')


class MapReadout(Readout):
    """Numbers and sentences about two maps; parameters as of `Readout`."""

    screen: Screen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        self.summary = html_pane(margin=(4, 0))
        self.about_bars = html_pane(f'<p class="quiet">{SIMULATED}</p>')
        self.causes = CausesFinder(self._question, self._mark, self._told, parts.refuse)

    def ask(self, screen: Screen, boxes: Queries) -> BoxAnswers:
        return answer_boxes(screen.release, screen.data.matrix, boxes)

    def complete(self, screen: Screen) -> Screen:
        return self.causes.complete(screen)

    def want(self, screen: Screen) -> None:
        self.causes.follow()

    def shows(self, screen: Screen) -> Sequence[str]:
        return "true", screen.look.right

    def figures(self, screen: Screen) -> Sequence[tuple[str, str]]:
        return key_figures(screen.release, screen.answers, screen.error, screen.seconds)

    def tell(self, screen: Screen) -> None:
        release, answers = screen.release, screen.answers
        self.about_bars.visible = not answers.exact
        exact_answers, counted = None, ""
        if self.truth:
            exact_answers, counted = answers, counted_of_all(screen.data.matrix)
        sentence = html.escape(
            summary(screen.title, screen.data.title, release, exact_answers, counted)
        )
        put(self.summary, f'<p class="summary" role="status">{sentence}</p>')

    @property
    def quoting(self) -> Sequence[Any]:
        return (*super().quoting, self.summary)

    def selected(self) -> None:
        self.causes.follow()

    def _question(self) -> Question | None:
        chosen = self._parts.rectangles
        if self.screen is None or not same_questions(self.screen.boxes, chosen.queries):
            return None
        return Question(self.screen, tuple(chosen.names), tuple(chosen.selected))

    def _mark(self, leaves: NDArray[np.float64]) -> None:
        if self._parts.maps is not None:
            self._parts.maps.mark(leaves)

    def _told(self, screen: Screen, answers: BoxAnswers) -> None:
        """The answers of the boxes on screen, with both causes of their errors."""
        if self.screen is not None and self.screen.release is screen.release:
            completed = self.error_bars.complete(replace(self.screen, answers=answers))
            self.screen = completed
            self._table.show(completed.answers)
