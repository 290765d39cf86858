"""Whose page is being made: the address, as limits count it, and the name of who signed in."""

from __future__ import annotations

from typing import Any

import panel as pn


def own_address() -> str:
    """Where the visitor of the page that is being made is; "" without a server."""
    return str(asked_by(pn.state.curdoc, "remote_ip") or "")


def own_name() -> str:
    """The name by which this visitor has signed in; "" for none."""
    return str(asked_by(pn.state.curdoc, "signed_in_name") or "")


def asked_by(document: Any, attribute: str) -> object:
    """Something of the request that a page answers; None without a request."""
    context = document.session_context if document is not None else None
    return getattr(getattr(context, "request", None), attribute, None)
