"""Classes of values: dataclasses that nobody changes.

Compiling makes tens of thousands of small objects, and a frozen dataclass pays for each of its
fields when it is made.  So type checkers see a frozen dataclass, and refuse every change, while at
run time it is a plain one with the same equality and hash.

What a dataclass does is written and compiled for each class, which takes longer than all else that
its module does when it is imported, and a process uses a part of it: each method is written when it
is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["value_class"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import MISSING, dataclass, fields

    _NONE = {"init": False, "repr": False, "eq": False}
    _WRITTEN = {
        "__init__": _NONE | {"init": True},
        "__repr__": _NONE | {"repr": True},
        "__eq__": _NONE | {"eq": True},
        "__hash__": _NONE | {"eq": True, "unsafe_hash": True},
    }
    """The methods, and what has `dataclass` write each of them."""

    def value_class(*, frozen, slots):
        """`dataclass(frozen=True, slots=...)` to type checkers; see above."""

        def made(cls):
            if not cls.__doc__:
                cls.__doc__ = cls.__name__  # `dataclass` would find out a signature for it
            owner = dataclass(**_NONE, slots=slots)(cls)
            for name in _WRITTEN:
                if name not in cls.__dict__:
                    setattr(owner, name, _at_first(owner, name, slots))
            return owner

        return made

    def _at_first(owner, name, slots):
        """A method that is written, and put into its place, when it is first called."""

        def method(self, *values, **named):
            written = _written(owner, name, slots)
            setattr(owner, name, written)
            return written(self, *values, **named)

        return method

    def _written(owner, name, slots):
        """What `dataclass` writes for a class with these fields and nothing else.

        The constructors are most of what a process needs, and written here: that takes a third of
        the time.
        """
        if name == "__init__" and all(map(_is_plain, fields(owner))):
            return _constructor(owner, slots)
        parts = {each.name: each for each in fields(owner)}
        parts["__annotations__"] = {each.name: each.type for each in fields(owner)}
        parts |= {"__doc__": owner.__doc__, "__module__": owner.__module__}
        if hasattr(owner, "__post_init__"):
            parts["__post_init__"] = owner.__post_init__
        like = type(owner.__name__, (), parts)  # no subclass of what the class is made of
        return getattr(dataclass(**_WRITTEN[name], slots=slots)(like), name)

    def _is_plain(field):
        """Whether a field is one by position, and its default is the same for all objects."""
        return not field.kw_only and field.default_factory is MISSING

    def _constructor(owner, slots):
        """What sets the fields from its arguments; its text has names of fields alone."""
        space, given, lines = {"__name__": owner.__module__}, ["self"], []
        for each in fields(owner):
            name, has_default = each.name, each.default is not MISSING
            space[f"default_{name}"] = each.default
            if each.init:
                given.append(f"{name}=default_{name}" if has_default else name)
                lines.append(f" self.{name} = {name}")
            elif has_default and slots:
                lines.append(f" self.{name} = default_{name}")
        if hasattr(owner, "__post_init__"):
            lines.append(" self.__post_init__()")
        text = "\n".join([f"def __init__({', '.join(given)}):", *(lines or [" pass"])])
        exec(text, space)
        made = space["__init__"]
        made.__qualname__ = f"{owner.__qualname__}.__init__"
        types = {each.name: each.type for each in fields(owner) if each.init}
        made.__annotations__ = {**types, "return": None}
        return made
