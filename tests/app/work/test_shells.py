"""The frame of a page is made once, for all visitors; asking for it makes nothing of a page."""

import re

import panel as pn
import pytest

from explorer.app import serve
from explorer.app.work.doors import sessions, visitors
from explorer.app.work.shells import prime
from tests.app.test_server import Running, application, token_of

#: What is another one in each frame: tokens, ids of models and of what they stand in.
_OWN = re.compile(r"\bp\d+\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")
PHONE = "Mozilla/5.0 (Linux; Android 14) Mobile"
PATHS = {"class": "classroom", "learn": "learn"}


def plain(page) -> str:
    return _OWN.sub("", page.body.decode().replace(token_of(page), ""))


@pytest.fixture(scope="module")
def running():
    one = Running()
    yield one
    one.stop()


def test_a_fresh_server_answers_without_a_session(running) -> None:
    server = running.server
    running.application.settings.pop("explorer_frames", None)
    prime(server, {"class": "classroom", "learn": "learn", "/": "learn"})
    assert sessions(server) == 0, "nothing stays of the pages that were made for their frames"

    async def visit() -> None:
        tokens = set()
        for path in ("", *PATHS):
            for theme in ("", "?theme=dark", "?theme=light"):
                for agent in ("Mozilla/5.0", PHONE):
                    page = await running.get(path + theme, **{"User-Agent": agent})
                    assert page.code == 200
                    tokens.add(token_of(page))
        assert len(tokens) == 18, "each visitor has an own token"
        assert sessions(server) == 0
        assert '"ACK"' in await running.document(tokens.pop(), "class/")
        assert visitors(server) == ["127.0.0.1"]

    # An address opens a few pages at once.
    from explorer.serving import entrance

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entrance.Entrance, "admits", lambda *_: True)
        running.do(visit)


def test_a_page_that_was_made_elsewhere_leaves_the_theme_of_others(running, monkeypatch) -> None:
    """Without a document a theme is that of the whole process."""
    monkeypatch.setattr(pn.config, "_theme_", "dark")
    running.application.settings.pop("explorer_frames", None)

    async def visit() -> None:
        assert "/theme/default.css" in plain(await running.get("learn?theme=light"))

    running.do(visit)


@pytest.mark.parametrize("path", PATHS)
def test_the_frame_of_the_other_theme_is_as_if_made_in_it(running, path) -> None:
    frames = running.application.settings.setdefault("explorer_frames", {})

    async def visit() -> None:
        found = {}
        for first, other in (("dark", "light"), ("light", "dark")):
            frames.clear()
            await running.get(f"{path}?theme={first}")
            # Made beside the first one, and without another session.
            there = sessions(running.server)
            found[first, other] = plain(await running.get(f"{path}?theme={other}"))
            found[first, first] = plain(await running.get(f"{path}?theme={first}"))
            assert sessions(running.server) == there
        assert found["dark", "light"] == found["light", "light"]
        assert found["light", "dark"] == found["dark", "dark"]
        assert found["dark", "dark"] != found["light", "light"]

    running.do(visit)


def test_a_warm_server_begins_with_its_frames(monkeypatch) -> None:
    monkeypatch.setattr("explorer.app.server.warm_up", lambda *_, **__: 0.0)
    said = []
    server = serve("madeup", 0, False, start=False, warm=True, say=said.append, class_only=True)
    try:
        frames = application(server).settings["explorer_frames"]
        assert {page for page, *_ in frames} == {"", "/class"}
        assert len(frames) == 4
        assert frames["", True, (False,) * 4] == frames["/class", True, (False,) * 4]
    finally:
        server.stop()


def test_garbage_is_not_looked_for_in_what_a_warm_server_began_with(monkeypatch) -> None:
    done: list[str] = []
    module = "explorer.app.server"
    monkeypatch.setattr(f"{module}.warm_up", lambda *_, **__: 0.0)
    monkeypatch.setattr("explorer.app.work.leaving.gc.freeze", lambda: done.append("frozen"))
    monkeypatch.setattr(f"{module}.run_until_told", lambda *_: done.append("run"))
    for warm in (False, True):
        more = {"class_only": True, "warm": warm, "say": len}
        serve("madeup", 0, False, **more).stop()
    assert done == ["run", "frozen", "run"]
