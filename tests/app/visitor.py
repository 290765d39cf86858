"""A document whose visitor may go away, as a server would make and end it, without a server."""

from types import SimpleNamespace

from bokeh.document import Document


class Visitor(Document):
    """Does what is to be done in the next tick at once, or never where it is ``stuck``."""

    def __init__(self, *, stuck: bool = False) -> None:
        super().__init__()
        request = SimpleNamespace(arguments={}, headers={}, cookies={})
        self.context = SimpleNamespace(destroyed=False, request=request)
        self._session_context = lambda: self.context
        self.stuck, self.asked = stuck, 0

    def add_next_tick_callback(self, callback):
        """Note that something is to be done, and do it."""
        self.asked += 1
        if not self.stuck:
            callback()

    def leave(self) -> None:
        """End the session: Bokeh takes the document apart, and then calls who wants to know."""
        wants_to_know = list(self.session_destroyed_callbacks)
        self.on_change(id)
        self.context.destroyed = True
        self.destroy(id)
        for callback in wants_to_know:
            callback(self.context)
