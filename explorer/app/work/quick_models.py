"""Bokeh's models made, walked and written in a third of the time, with the same result.

Opening a page makes some 600 models of 30 to 60 properties each, and walks through them 60 times.
Of what Bokeh does then, most comes to nothing: it tells a model's watchers of each first value,
when there are none yet; it makes, checks and wraps an empty list or table for each property that
nobody has set; it asks each property for models whose default can hold none, and each one for its
value that is not sent because it is the default. All this follows from the class, and is found out
once for each. ``tests/app/work/test_quick_models.py`` holds that a document stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.bases import Property
from bokeh.core.property.descriptors import (
    DataSpecPropertyDescriptor,
    PropertyDescriptor,
    UnsetValueError,
)
from bokeh.core.property.singletons import Intrinsic, Undefined
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.model import model as model_module
from bokeh.model import util as model_util
from bokeh.model.model import Model
from bokeh.util.dataclasses import entries
from panel.io import document as panel_document

#: Values that hold no model and that nobody can change.
_FIXED = (type(None), bool, int, float, str)
_SCALARS = frozenset(_FIXED)
_NOTHING: Any = object()
#: Descriptors that put one value.
_PLAIN = (PropertyDescriptor, DataSpecPropertyDescriptor)


class Kind:
    """What is true of all models of one class.

    Attributes
    ----------
    plain : properties whose first value is put as it is
    mutable : those of them whose default is made anew for each model
    made : what a model must have from its beginning: models that are defaults
    walked : properties that may hold models, and whether their default holds none
    sent : all properties in order, and whether it is a fault that one has no value
    """

    def __init__(self, cls: type[HasProps]) -> None:
        names = {name: cls.lookup(name) for name in cls.properties(_with_props=True)}
        # Another name of a property has no value of its own.
        found = {n: d for n, d in names.items() if isinstance(d, PropertyDescriptor)}
        self.plain = {n: d for n, d in found.items() if type(d) in _PLAIN}
        self.mutable: set[str] = set()
        self.made: list[Any] = []
        silent: set[str] = set()
        required: set[str] = set()
        for name, descriptor in found.items():
            default = descriptor.property.themed_default(cls, name, None)
            if default is Undefined:
                required.add(name)
            elif isinstance(default, PropertyValueContainer):
                if not default and name in self.plain:
                    silent.add(name)
            elif isinstance(default, _FIXED):
                silent.add(name)
            if _is_unstable(cls, descriptor):
                self.mutable.add(name)
                if not (isinstance(default, PropertyValueContainer) and name in self.plain):
                    self.made.append(descriptor)
        self.walked = [(n, n in silent) for n in cls.properties_with_refs() if n in found]
        self.sent = [(name, d, name in required) for name, d in found.items()]


_kinds: dict[type[HasProps], Kind] = {}


def kind_of(cls: type[HasProps]) -> Kind:
    """What is true of all models of a class, found out once."""
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = Kind(cls)
    return kind


def _is_unstable(cls: type[HasProps], descriptor: PropertyDescriptor[Any]) -> bool:
    overridden = cls._overridden_defaults().get(descriptor.name)
    return descriptor.property._may_have_unstable_default() or descriptor.is_unstable(overridden)


#: What stands in Bokeh's place, by where it stood.
PLAIN: dict[tuple[Any, str], Any] = {}


def install() -> bool:
    """Let Bokeh work so; False if it does already."""
    if PLAIN:
        return False
    for owner, name, cure in (
        (HasProps, "__init__", _begin),
        (HasProps, "apply_theme", _apply_theme),
        (HasProps, "query_properties_with_values", _properties),
        (HasProps, "themed_values", _themed_values),
        (Property, "matches", _matches),
        (model_module, "visit_value_and_its_immediate_references", _visit),
        (model_util, "visit_immediate_value_references", _visit_below),
        (model_util, "visit_value_and_its_immediate_references", _visit),
        (panel_document, "visit_immediate_value_references", _visit_below),
    ):
        place: Any = owner
        PLAIN[place, name] = getattr(place, name)
        setattr(place, name, cure)
    return True


def _begin(self: HasProps, **properties: Any) -> None:
    """A new model: nobody watches it yet, so nobody is told."""
    super(HasProps, self).__init__()
    values: dict[str, Any] = {}
    own = self.__dict__
    own["_property_values"] = values
    own["_unstable_default_values"] = {}
    own["_unstable_themed_values"] = {}
    kind = kind_of(type(self))
    for name, value in properties.items():
        if value is Undefined or value is Intrinsic:
            continue
        descriptor = kind.plain.get(name)
        if descriptor is None:
            setattr(self, name, value)
            continue
        ready = descriptor.property.prepare_value(self, name, value)
        if name in kind.mutable:
            if not ready and isinstance(ready, PropertyValueContainer):
                # It may be the default, which is not sent.
                setattr(self, name, value)
                continue
        elif descriptor.property.matches(ready, descriptor.instance_default(self)):
            continue
        descriptor._set_value(self, ready)
    for descriptor in kind.made:
        if descriptor.name not in properties:
            descriptor._get(self)
    self._initialized = True


def _themed_values(self: HasProps) -> dict[str, Any] | None:
    """What a theme says; without a search through the class for what is not there."""
    found: dict[str, Any] | None = self.__dict__.get("__themed_values__")
    return found


def _apply_theme(self: HasProps, property_values: dict[str, Any]) -> None:
    """Looks of a theme; most models have none, and had none before."""
    if property_values or "__themed_values__" in self.__dict__:
        PLAIN[HasProps, "apply_theme"](self, property_values)


def _properties(
    self: HasProps,
    query: Callable[[PropertyDescriptor[Any]], bool],
    *,
    include_defaults: bool = True,
    include_undefined: bool = False,
) -> dict[str, Any]:
    """Names and values of properties; of those that nobody has set only what must be sent."""
    if include_defaults or _themed_values(self):
        plain = PLAIN[HasProps, "query_properties_with_values"]
        found: dict[str, Any] = plain(
            self, query, include_defaults=include_defaults, include_undefined=include_undefined
        )
        return found
    result: dict[str, Any] = {}
    values, defaults = self._property_values, self._unstable_default_values
    for name, descriptor, required in kind_of(type(self)).sent:
        if name not in values:
            default = defaults.get(name, _NOTHING)
            if default is _NOTHING and not required:
                continue
            if isinstance(default, PropertyValueContainer):
                continue
        if not query(descriptor):
            continue
        try:
            result[name] = descriptor.get_value(self)
        except UnsetValueError:
            if not include_undefined:
                raise
            result[name] = Undefined
    return result


def _matches(self: Property[Any], new: Any, old: Any) -> bool:
    """Whether two values are the same; plain ones are not looked at for arrays and tables."""
    if type(new) in _SCALARS and type(old) in _SCALARS:
        return bool(new == old)
    return bool(PLAIN[Property, "matches"](self, new, old))


def _visit_below(value: Any, visitor: Callable[[Model], None]) -> None:
    """Visit the models that a model holds itself."""
    if not isinstance(value, HasProps):
        _visit(value, visitor)
        return
    values, themed = value._property_values, _themed_values(value)
    for name, silent in kind_of(type(value)).walked:
        child = values.get(name, _NOTHING)
        if child is _NOTHING:
            if silent and themed is None:
                continue
            child = getattr(value, name)
        _visit(child, visitor)


def _visit(value: Any, visitor: Callable[[Model], None]) -> None:
    """Visit the models in lists and tables, and a model itself."""
    kind = type(value)
    if kind in _SCALARS:
        return
    if issubclass(kind, list | tuple):
        for each in value:
            if type(each) not in _SCALARS:
                _visit(each, visitor)
    elif issubclass(kind, dict):
        for key, each in value.items():
            if type(key) not in _SCALARS:
                _visit(key, visitor)
            if type(each) not in _SCALARS:
                _visit(each, visitor)
    elif issubclass(kind, Model):
        visitor(value)
    elif issubclass(kind, HasProps):
        _visit_below(value, visitor)
    elif is_dataclass(value):
        for _, each in entries(value):
            _visit(each, visitor)
