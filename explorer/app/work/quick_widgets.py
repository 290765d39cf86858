"""Panel's widgets made in less time, with the same result.

A widget has 40 to 70 parameters. When a page is opened Panel copies each of them for each widget,
only to ask what its class says as well, asks the disk where the script of all widgets lies, twice
for each, and lists anew for each what its class sends. All that is found out once here.

Whenever Panel sets something of its own that nobody else may set, it unlocks all parameters of the
object and locks all of them again, thirty times for a move of a slider. Here those that are locked.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import param
from panel import util
from panel.config import config, panel_extension
from panel.custom import Reactive, ReactiveESM
from panel.io.state import state
from panel.reactive import Syncable
from panel.theme import Design
from panel.theme.native import Native
from panel.viewable import Child, Children, Viewable, is_viewable_param
from param import parameterized
from param._utils import MUTABLE_TYPES
from param.parameterized import Parameter, Parameterized, Undefined

_get, _put = object.__getattribute__, object.__setattr__


#: What stands in Panel's and param's place, by where it stood.
PLAIN: dict[tuple[Any, str], Any] = {}


def install() -> bool:
    """Let widgets be made so; False if they are already."""
    if PLAIN:
        return False
    for owner, name, cure in (
        (parameterized, "_instantiate_param_obj", _own_parameter),
        (ReactiveESM, "_component_resource_path", classmethod(_resource_path)),
        (ReactiveESM, "_get_children", _children),
        (ReactiveESM, "_get_properties", _properties),
        (Syncable, "_init_params", _first_values),
        (Reactive, "__init__", _begin),
        (Viewable, "_update_design", _design),
        (ReactiveESM, "select", _select),
        (panel_extension, "_apply_signatures", _apply_signatures),
        *((module, "edit_readonly", edit_readonly) for module in _where(util.edit_readonly)),
    ):
        place: Any = owner
        PLAIN[place, name] = vars(place)[name]
        setattr(place, name, cure)
    return True


def _where(panels: Any) -> list[Any]:
    """The modules of Panel and its widgets that know a function by its name."""
    ours = [each for name, each in sys.modules.items() if name.startswith("panel")]
    return [each for each in ours if vars(each).get(panels.__name__) is panels]


@contextmanager
def edit_readonly(owner: Parameterized) -> Iterator[None]:
    """Let everything of an object be set meanwhile."""
    locked = [
        (each, slot)
        for each in owner.param.objects("existing").values()
        for slot in ("readonly", "constant")
        if _get(each, slot) not in (False, Undefined)
    ]
    for each, slot in locked:
        setattr(each, slot, False)
    try:
        yield
    finally:
        for each, slot in locked:
            setattr(each, slot, True)


@lru_cache(maxsize=1024)
def _place(cls: Hashable, path: Any, compiled: Any, _below: str | None) -> str:
    plain = PLAIN[ReactiveESM, "_component_resource_path"].__func__
    return str(plain(cls, path, compiled))


def _resource_path(cls: Any, esm_path: Any, compiled: Any) -> str:
    """The address of a script, looked for once for each class and place of the server."""
    return _place(cls, esm_path, compiled, state.rel_path)


@cache
def _mutable(kind: Any) -> bool:
    return issubclass(kind, MUTABLE_TYPES)


def _own_parameter(paramobj: Parameter[Any], owner: Parameterized | None = None) -> Parameter[Any]:
    """A copy of a class's parameter for one object."""
    kind: Any = type(paramobj)
    own = kind.__new__(kind)
    for slot in kind._all_slots_:
        value = _get(paramobj, slot)
        if slot != "default" and _mutable(value.__class__):
            value = copy.copy(value)
        _put(own, slot, value)
    _put(own, "owner", owner)
    _put(own, "watchers", {})
    return own


@cache
def _sent(cls: Any) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Parameters that a class does not send to its script, those it may send, and its events."""
    params = cls.param.objects(instance=False)
    shared = Reactive.param.objects(instance=False)
    ignored = {
        name
        for name in shared
        if not issubclass(params[name].owner, ReactiveESM)
        or (
            name in Viewable.param
            and name not in ("name", "use_shadow_dom")
            and type(shared[name]) is type(params[name])
        )
    }
    dropped, kept, events = set(), [], []
    for name, each in params.items():
        if is_viewable_param(each) or cls._property_mapping.get(name, "") is None:
            dropped.add(name)
        elif (name not in ignored or name == "name") and (each.precedence or 0) >= 0:
            kept.append(name)
            if isinstance(each, param.Event):
                events.append(name)
    return frozenset(dropped), tuple(kept), tuple(events)


#: What is the same for all widgets of a class on one server.
_COMMON = (
    *("bundle", "class_name", "css_bundle", "dev", "esm"),
    *("importmap", "name", "render_policy"),
)
_common: dict[Any, dict[str, Any]] = {}


def _properties(self: Any, doc: Any) -> dict[str, Any]:
    """What a model of the widget begins with; what its class adds to that is asked for once."""
    plain = PLAIN[ReactiveESM, "_get_properties"]
    context = doc.session_context if doc else None
    served = context is not None and context.server_context is not None
    if not served or config.autoreload or getattr(self, "_debug", False):
        found: dict[str, Any] = plain(self, doc)
        return found
    cls: Any = type(self)
    key = cls, state.rel_path
    if key not in _common:
        found = plain(self, doc)
        _common[key] = {name: found[name] for name in _COMMON}
        return found
    dropped, kept, events = _sent(cls)
    # As `super()` where the plain one was written.
    found = super(ReactiveESM, self)._get_properties(doc)
    for name in dropped:
        found.pop(name, None)
    data = {name: found.pop(name) for name in kept if name in found}
    data["esm_constants"] = self._constants
    # The data model is told to Bokeh with the first widget of its class.
    more = {"_defs": [], "data": self._data_model(**data), "events": list(events)}
    return found | _common[key] | more


@cache
def _holds_views(cls: Any) -> tuple[str, ...]:
    """Parameters whose values are views of their own."""
    return tuple(
        name
        for name, each in cls.param.objects(instance=False).items()
        if is_viewable_param(each) and cls._property_mapping.get(name, "") is not None
    )


def _children(
    self: Any, _data: Any, doc: Any, root: Any, parent: Any, comm: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Models of the views in a widget, and those of them that were there before."""
    children, before = {}, []
    for name in _holds_views(self.__class__):
        value = getattr(self, name)
        children[name], old = self._get_child_model(value, doc, root, parent, comm)
        before += old
    return children, before


def _first_values(self: Syncable) -> dict[str, Any]:
    """What a view has been given, of all that it sends."""
    sent = set(self._synced_params)
    values = ((name, getattr(self, name)) for name in self.param if name in sent)
    return {name: value for name, value in values if value is not None}


#: Classes whose parameters take references; Panel says so of each of them, for each widget.
_refer: set[Any] = set()


def _begin(self: Any, refs: Any = None, **params: Any) -> None:
    """A new widget: once its class takes references, it is only made."""
    cls = type(self)
    if refs is not None or cls not in _refer:
        PLAIN[Reactive, "__init__"](self, refs, **params)
        _refer.add(cls)
        return
    super(Reactive, self).__init__(**params)


def _design(self: Any, *_: Any) -> None:
    """The looks of a view, without looking for Panel's own modules each time."""
    design = self.design
    if isinstance(design, Design):
        self._design = design
    else:
        self._design = self._instantiate_design(design or Native, config.theme)


def _select(self: Any, selector: Any = None) -> list[Any]:
    """The views in a widget that are asked for, by those of its parameters that may hold some."""
    # As `super()` where the plain one was written: its answer is not used there.
    if selector is None or (
        isinstance(self, selector) if isinstance(selector, type) else selector(self)
    ):
        selected = [self]
    else:
        selected = []
    cls: Any = type(self)
    for name, many in _parts(cls):
        value = getattr(self, name, None)
        if many:
            for child in value or []:
                selected += child.select(selector)
        elif value is not None:
            selected += value.select(selector)
    return selected


@cache
def _parts(cls: Any) -> tuple[tuple[str, bool], ...]:
    """Parameters that hold views, and whether they hold many."""
    found = cls.param.objects(instance=False).items()
    return tuple((n, isinstance(p, Children)) for n, p in found if isinstance(p, Child | Children))


_signed: list[bool] = []


def _apply_signatures(self: Any) -> None:
    """Signatures of classes for who reads them: written once, and not with each page."""
    if not _signed:
        _signed.append(True)
        PLAIN[panel_extension, "_apply_signatures"](self)
