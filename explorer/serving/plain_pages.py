"""Small pages that need no session: one sentence, or a form."""

from __future__ import annotations

import html

from tornado.web import RequestHandler

_STYLE = "font: 18px/1.5 system-ui, sans-serif; margin: 4em auto; max-width: 32em; padding: 0 1em"


def plain_page(title: str, sentence: str, more: str = "", head: str = "") -> str:
    """A page of a title and a sentence, both plain text; ``more`` and ``head`` are HTML."""
    text = f"<h1>{html.escape(title)}</h1><p>{html.escape(sentence)}</p>" if sentence else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{head}'
        f"<title>{html.escape(title)}</title>"
        f'<body style="{_STYLE}">{text or f"<h1>{html.escape(title)}</h1>"}{more}</body></html>'
    )


class Refused(RequestHandler):
    """Answers any request with a status and one sentence; a websocket, too."""

    def initialize(self, status: int, title: str, sentence: str) -> None:
        """Keep what is to be said."""
        self._said = (status, title, sentence)

    def prepare(self) -> None:
        """Answer any method."""
        status, title, sentence = self._said
        self.set_status(status)
        self.finish(plain_page(title, sentence))
