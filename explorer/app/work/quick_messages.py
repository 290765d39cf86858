"""Messages to a browser written in less time, with the same result.

For each message Bokeh writes down a reference to every model of the page, which is a fifth of what
the event loop does for a move of a slider, and the message mentions two or three of them. Each
value is asked in turn for what it might be, when most are texts and numbers that stand as they are.
"""

from __future__ import annotations

from base64 import b64encode
from gzip import compress
from typing import Any

from bokeh.core.serialization import Ref, Serializer
from bokeh.document import Document
from bokeh.model.model import Model
from bokeh.protocol.messages.patch_doc import patch_doc

#: Whole numbers on either side of 0 up to which a browser's numbers are exact.
_EXACT = 2**53 - 1
#: Bytes up to which an array stands in the message: beside it, it takes two frames of its own.
_FEW = 4096
#: How hard they are packed, from 1 to 9.
_FAST = 1
#: What stands in Bokeh's place, by where it stood.
PLAIN: dict[tuple[Any, str], Any] = {}


def install() -> bool:
    """Let messages be written so; False if they are already."""
    if PLAIN:
        return False
    for owner, name, cure in (
        (Serializer, "encode", _encode),
        (patch_doc, "create", classmethod(_create)),
    ):
        place: Any = owner
        PLAIN[place, name] = vars(place)[name]
        setattr(place, name, cure)
    return True


class Writer(Serializer):
    """Writes changes of a document: what the browser has already is only referred to."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        models = document.models
        self._held, self._new = models._models, models._new_models

    def get_ref(self, obj: Any) -> Ref | None:
        """The reference to a model that the browser has, or that was written before."""
        found: Ref | None = self._references.get(id(obj))
        if found is None and isinstance(obj, Model) and self._has(obj):
            found = self._references[id(obj)] = obj.ref
        return found

    def has_ref(self, obj: Any) -> bool:
        """Whether there is such a reference."""
        return self.get_ref(obj) is not None

    def _encode_bytes(self, obj: bytes | memoryview) -> Any:
        """Bytes beside the message, or packed in it where they are few."""
        if memoryview(obj).nbytes > _FEW:
            return super()._encode_bytes(obj)
        packed = compress(bytes(obj), _FAST, mtime=1)
        return {"type": "bytes", "data": b64encode(packed).decode()}

    def _has(self, model: Model) -> bool:
        return self._held.get(model.id) is model and model not in self._new


def _create(cls: type[patch_doc], events: list[Any], **metadata: Any) -> Any:
    """A message of changes, all of one document."""
    documents = {event.document for event in events}
    if len(documents) != 1:
        return PLAIN[patch_doc, "create"].__func__(cls, events, **metadata)
    [document] = documents
    writer = Writer(document)
    content: Any = {"events": writer.encode(events)}
    document.models.flush_synced(lambda model: not writer.has_ref(model))
    message = cls(cls.create_header(), metadata, content)
    message.add_buffers(*writer.buffers)
    return message


def _encode(self: Serializer, obj: Any) -> Any:
    """A value as it is sent; most are."""
    kind = type(obj)
    if kind is str or kind is bool or obj is None:
        return obj
    if kind is int and -_EXACT < obj < _EXACT:
        return obj
    return PLAIN[Serializer, "encode"](self, obj)
