"""A page without its content, the same for all, and its content once a browser has come for it.

An address is often asked for by who never shows the page: link previews, other programs, a flood.
They get the page's frame, which was made once, and a token; nothing of it stays here. The content
is made when a websocket brings the token. The frame opens one before anything else, and closes it
when it is answered: so the content is made while the browser still reads its scripts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from bokeh.protocol.exceptions import ProtocolError
from bokeh.server.callbacks import NextTickCallback
from bokeh.util.token import (
    generate_jwt_token,
    generate_session_id,
    get_session_id,
    get_token_payload,
)
from panel.config import config
from panel.io.resources import LOCAL_DIST, Resources, patch_model_css
from panel.io.server import (
    DocHandler,
    _set_request_route_context,
    server_html_page_for_session,
)
from panel.io.state import set_curdoc, state
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import authenticated

from explorer.app.kit.remembered import COOKIE, read
from explorer.app.work.sessions import refuse_brought
from explorer.grid.allowance import Buckets
from explorer.serving.entrance import A_SECOND, AT_ONCE

#: Where a frame has the token of its visitor.
_TOKEN = "{{the token}}"
_KNOCK = f"""<script>
(() => {{
  const at = new URL(window.location.href)
  at.protocol = at.protocol.replace("http", "ws")
  at.pathname = at.pathname.replace(/\\/$/, "") + "/ws"
  at.search = at.hash = ""
  try {{
    const knock = new WebSocket(at, ["bokeh", "{_TOKEN}"])
    knock.onmessage = () => knock.close()
  }} catch (_) {{}}
}})()
</script>"""
#: Arguments of an address that may put other things on a page.
_ASKED = ("class", "lesson", "s", "story")
#: Panel's names of the themes, by whether it is dark.
_STYLES = {True: "dark", False: "default"}
#: Frames that are kept: pages, themes, what is asked for.
_MOST = 200


class Shell(DocHandler):
    """Answers with the frame of a page."""

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """The frame with a new token; the first of its kind is made with a page's content."""
        refuse_brought(self)
        kept = self.application.settings.setdefault("explorer_frames", {})
        page, dark, more = self.request.path.rstrip("/"), *_looks(self)
        frame = kept.get((page, dark, more))
        if frame is None:
            await super().get(*args, **kwargs)
            if self.get_status() != 200:
                return
            written: list[bytes] = self._write_buffer
            text = b"".join(written).decode("utf-8")
            if len(kept) < _MOST:
                for theme, each in (await self._in_both_themes(dark, text)).items():
                    kept[page, theme, more] = each
            return
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "text/html")
        _set_request_route_context(self, *args, **kwargs)
        app = self.application
        token = generate_jwt_token(
            generate_session_id(secret_key=app.secret_key, signed=app.sign_sessions),
            secret_key=app.secret_key,
            signed=app.sign_sessions,
            expiration=app.session_token_expiration,
            extra_payload=self._generate_token_payload(),
        )
        self.write(frame.replace(_TOKEN, token))

    async def _in_both_themes(self, dark: bool, text: str) -> dict[bool, str]:
        """Frames for dark and light windows, of an answer in one of them."""
        token = _token_in(text)
        if not token:
            return {}
        found = {dark: text}
        context = self.application_context
        doc = context.get_session(get_session_id(token)).document
        paints = doc.template_variables.get("paints")
        if paints:
            with set_curdoc(doc):
                before = config.theme
                config.theme = _STYLES[not dark]
                other = self._written(doc, token)
                config.theme = before
            for one in (paints, {theme: f"/theme/{name}.css" for theme, name in _STYLES.items()}):
                other = other.replace(one[dark], one[not dark])
            found[not dark] = other
        return {
            theme: each.replace(token, _TOKEN).replace("<head>", f"<head>{_KNOCK}", 1)
            for theme, each in found.items()
        }

    def _written(self, doc: Any, token: str) -> str:
        session = SimpleNamespace(document=doc, token=token)
        return str(
            server_html_page_for_session(
                session,
                resources=Resources.from_bokeh(self.application.resources()),
                title=doc.title,
                token=token,
                template=doc.template,
                template_variables=doc.template_variables,
            )
        )


def prime(server: Any, pages: Mapping[str, str]) -> None:
    """Make the frames of pages before anybody asks for them; nothing else of it stays.

    Parameters
    ----------
    server : of Bokeh, not yet started
    pages : keys of pages by their addresses, such as "explore"; "/" has one of them, too
    """
    loop = server.io_loop
    work = partial(_prime, server._tornado, pages)
    if loop.asyncio_loop.is_running():
        loop.add_callback(work)
    else:
        loop.run_sync(work)


async def _prime(application: Any, pages: Mapping[str, str]) -> None:
    kept = application.settings.setdefault("explorer_frames", {})
    made: dict[str, str] = {}
    for address, page in pages.items():
        route = "/" + address.strip("/")
        if page in made:
            for which, *key in [*kept]:
                if which == made[page]:
                    kept[route.rstrip("/"), *key] = kept[which, *key]
            continue
        made[page] = route.rstrip("/")
        context = application._applications[route]
        asked: Any = RequestStartLine("GET", route, "HTTP/1.1"), _Nobody()
        host = HTTPHeaders({"Host": "localhost"})
        request = HTTPServerRequest(start_line=asked[0], connection=asked[1], headers=host)
        more = {"application_context": context, "bokeh_websocket_path": f"{route}/ws"}
        handler: Any = Shell(application, request, **more)
        await handler.get()
        token = _token_in(b"".join(handler._write_buffer).decode("utf-8"))
        if token:
            session = context.get_session(get_session_id(token))
            await context._discard_session(session, lambda _session: True)


class _Nobody:
    """The connection of a request that nobody made."""

    context = SimpleNamespace(remote_ip="", protocol="http")

    def set_close_callback(self, callback: Any) -> None:
        """Nobody leaves."""


def _looks(handler: Shell) -> tuple[bool, tuple[bool, ...]]:
    """What a frame depends on besides its page: theme, what is asked for. A phone has the same."""
    asked = handler.get_argument("theme", "")
    cookie = handler.get_cookie(COOKIE) or ""
    dark = asked == "dark" if asked in ("default", "light", "dark") else None
    if dark is None:
        dark = read(cookie).get("theme") != "light"
    return dark, tuple(bool(handler.get_argument(name, "")) for name in _ASKED)


def _token_in(text: str) -> str:
    _, found, rest = text.partition('"token":"')
    return rest.partition('"')[0] if found else ""


def build_late(context: Any, full: Callable[[str], bool]) -> None:
    """Let the content of a page be made when a websocket comes, a few a second for one address.

    Parameters
    ----------
    context : of a page, of Bokeh
    full : whether there are so many visitors that nobody else from an address can have a page
    """
    plain = context.create_session_if_needed
    opened = Buckets(A_SECOND, AT_ONCE)

    async def create(session_id: Any, request: Any = None, token: str | None = None) -> Any:
        known = session_id in context._sessions or session_id in context._pending_sessions
        # What is built while a page is asked for was let in there.
        late = request is not None and request.headers.get("Upgrade", "").lower() == "websocket"
        if known or not late:
            return await plain(session_id, request, token)
        address = request.remote_ip or ""
        wait = opened[address].take()
        if wait > 0:
            await asyncio.sleep(min(wait, 20.0))
        if session_id not in context._sessions and full(address):
            raise ProtocolError("There are too many visitors")
        # As if the page itself had been asked for.
        arguments = get_token_payload(token).get("arguments", {}) if token else {}
        request.path = request.path.removesuffix("/ws") or "/"
        request.uri = request.path + ("?" + urlencode(arguments, doseq=True) if arguments else "")
        session = await plain(session_id, request, token)
        _dress(session.document)
        await _settled(session.document)
        return session

    context.create_session_if_needed = create


async def _settled(doc: Any) -> None:
    """Wait for what a page puts off to the next turn: a browser gets it with the content.

    Sent as a change it would overtake the content that the browser asks for.
    """
    quiet = 0
    for _ in range(50):
        await asyncio.sleep(0.02)
        waits = any(isinstance(each, NextTickCallback) for each in doc.session_callbacks)
        quiet = 0 if waits else quiet + 1
        if quiet == 2:
            return


def _dress(doc: Any) -> None:
    """Let the styles of a document come from this server, as a page that is asked for does it."""
    with set_curdoc(doc):
        below = f"{state.rel_path}/{LOCAL_DIST}" if state.rel_path else LOCAL_DIST
        doc._template_variables.update(theme_name=config.theme, dist_url=below)
        for root in doc.roots:
            patch_model_css(root, dist_url=below)
