"""What is read next to two maps of a city: figures, summary, causes of errors, intervals."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers, answer_boxes
from explorer.app.curator.error_bars import SIMULATED
from explorer.app.curator.figures import key_figures, summary
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import counted_of_all
from explorer.app.curator.readout import Readout
from explorer.app.curator.screen import Screen
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.app.work.job import Job
from explorer.errors import InputError
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import Queries, RangeQueries, same_questions
from explorer.inspection.errors import error_split
from explorer.releases.asking import leaf_weights
from explorer.releases.overlap import cut_leaves
from explorer.releases.release import Release
from explorer.views.partition import MOST_BOXES

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
        """What both maps answer to other boxes."""
        return answer_boxes(screen.release, screen.data.matrix, boxes)

    def complete(self, screen: Screen) -> Screen:
        """The screen with both causes of its errors, where they are known."""
        return self.causes.complete(screen)

    def want(self, screen: Screen) -> None:
        """Ask for the causes where they are not."""
        self.causes.follow()

    def shows(self, screen: Screen) -> Sequence[str]:
        """Truth at the left; at the right what was chosen."""
        return "true", screen.look.right

    def figures(self, screen: Screen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen.release, screen.answers, screen.error, screen.seconds)

    def tell(self, screen: Screen) -> None:
        """The summary, and how intervals are found where they have no formula."""
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
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.summary)

    def selected(self) -> None:
        """Leaves that other rows cut are marked."""
        self.causes.follow()

    def _question(self) -> Question | None:
        """What the finder of causes is to look at."""
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
