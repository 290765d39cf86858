"""All answers of a class as CSV, for a spreadsheet after the lesson."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from explorer.teaching.classroom import Asked

COLUMNS = (
    *("question", "city", "mechanism", "epsilon", "box_west", "box_south", "box_east"),
    *("box_north", "unit", "exact_count", "participant", "answer", "noise_sd", "kind"),
)


def answers_csv(history: Iterable[Asked]) -> str:
    """One line for each answer; a question that no one answered has one line without an answer.

    It holds exact counts. Seeds stay out: who knows one can draw the same noise and subtract it.

    Parameters
    ----------
    history : what `ClassRoom.history` gives

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, entry in enumerate(history, start=1):
        question = entry.question
        edges = [float(edge) for edge in question.rectangle]
        head = [number, question.city, question.mechanism, question.epsilon, *edges]
        head += [question.grid.unit, question.true]
        for who, value, sd in entry.answers:
            writer.writerow([*head, who, value, sd, "preview"])
        if not entry.answers:
            writer.writerow([*head, "", "", "", ""])
    return text.getvalue()
