"""Why boxes err, as far as it takes longer than the maps: computed after they have been sent."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.answers import BoxAnswers
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
