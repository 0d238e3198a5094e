"""Shortcuts: calls whose arguments are known by their types to fit an overload as they are.

They differ in what is given and where it goes, and are written from one text, so that each does
nothing but what its call needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ..kernels import LARGE, TRIALS
from ..memory.quiet import QUIET, enter, leave
from ..memory.versions import written
from ..table.direct import LISTENING, direct_form, has_direct_form, knows_calls
from ..table.grad_mode import GRAD_MODE
from ..table.table import Operator
from ..tensors.tape_port import MISSED, tape
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE
from .binding import NO, Converter
from .calls import finish, run, views_of
from .fronts import Given, Learn, Recording, Way, constants_among, learning_more, quiet_form

__all__ = [
    *("MISFIT", "Shortcut", "Taken", "keep_shortcut", "keep_shortcut_of_sizes"),
    "written_out",
]

Shortcut = Callable[..., object]
"""An eager call of arguments whose types are known to fit."""

Forward = Callable[..., Any]

MISFIT: Final = object()
"""What a call gives that finds an argument not to fit after all."""


class Taken(NamedTuple):
    """How an argument is taken."""

    place: int
    """Which of the operator's arguments it is."""
    way: str
    """A "tensor", "tensors" in a list or tuple, the "same" as it is, "converted", or "sizes", which
    are all that is given from there on."""
    name: str = ""
    """What it is given by; nothing by its position."""


_TEXT: Final = """
def make(_entry, _forward, _quiet, _on_arrays, _own, _kept, {constants}):
 def call({parameters}):
{read}  if ({requires}) and (_mode := _grad_mode()):
   _values, _args, _record = [{values}], [{args}], _kept[0]
   if _record is not None and _mode is True and not _ACTIVE:
    if _LISTENING:
     _made = _record(_args, _values, _forward, False)
    else:
     _made = _record(_args, _values, _quiet or _forward, {is_quiet})
    if _made is not _MISSED:
     return _made
   return _tape().taped(_entry, _values, ({handles}), _own, _args, _forward, _kept)
{compute}{finish}  return _finish(_entry, [{values}], _result, ({handles}))
 def recording({parameters}):
  _record = _kept[0]
  if _record is None:
   return _MISSED
{read_here}  return _record([{args}], [{values}], _quiet or _forward, {is_quiet})
 return call, recording
"""
_COMPUTE: Final = "  _result = {0}({1})\n"
_UNLESS_QUANTIZED: Final = "(_on_arrays if _type(_v0) is _ndarray else _forward)"
_QUIETLY: Final = """  _state = _enter(_QUIET)
  try:
 {0}  finally:
   _leave(_state)
"""
_NUMBER: Final = "  if not _ACTIVE:\n   return _result\n"
_VIEWS: Final = "  if _type(_result) is _list and not _ACTIVE:\n   return _views_of({0}, _result)\n"
_TENSOR: Final = """  if _type(_result) is _ndarray and not _ACTIVE:
   if {is_new}:
    _made = _new(_Tensor)
    _made._array, _made._requires_grad, _made._view_of = _result, False, None
{note}    return _made
{same}"""

_READ: Final = {
    "tensor": "  _v{0} = {1}._array\n",
    "tensors": "  _v{0} = _list(_map(_array_of, {1}))\n",
    "converted": "  _v{0} = _c{0}({1}, {lenient})\n",
    "sizes": "  _v{0} = _list({1})\n",
}
_CHECK: Final = "  if _v{0} is _NO:\n   return {1}\n"
_REQUIRES: Final = {
    "tensor": "{0}._requires_grad",
    "tensors": "_any(_map(_requires_grad_of, {0}))",
}
_IS_NEW: Final = {
    "tensor": "_result is not _v{0}",
    "tensors": "_all([_result is not each for each in _v{0}])",
}
_NOTE: Final = "    if _result.base is not None: _made._seen_as({0})\n"
_SAME: Final = "   if _result is _v0:\n{1}    return {0}\n"
_WRITTEN: Final = "    _written(_v0)\n"

_SPACE: Final[dict[str, Any]] = {
    **{
        "__builtins__": {},
        "__name__": __name__,
        "_type": type,
        "_list": list,
        "_any": any,
        "_all": all,
    },
    **{
        "_ACTIVE": ACTIVE,
        "_LISTENING": LISTENING,
        "_QUIET": QUIET,
        "_Tensor": Tensor,
        "_ndarray": np.ndarray,
    },
    **{"_enter": enter, "_finish": finish, "_leave": leave, "_grad_mode": GRAD_MODE.get},
    **{
        "_views_of": views_of,
        "_map": map,
        "_array_of": attrgetter("_array"),
        "_requires_grad_of": attrgetter("_requires_grad"),
        "_NO": NO,
        "_new": object.__new__,
        "_tape": tape,
        "_written": written,
        "_MISFIT": MISFIT,
        "_MISSED": MISSED,
    },
}


class _Ways(NamedTuple):
    """What the text of a call depends on beside its arguments: what is known of its operator."""

    is_view: bool
    is_in_place: bool
    only_moves: bool
    gives_list: bool
    gives_number: bool
    has_quantized: bool
    """Whether its forward asks for quantized arrays, and it has another that does not."""
    is_quiet: bool
    """Whether no element is computed, of which NumPy could warn."""


def _ways(entry: Operator, forward: Forward) -> _Ways:
    """Those of an operator that is called by a forward."""
    return _Ways(
        is_view=entry.is_view,
        is_in_place=entry.is_in_place,
        only_moves=entry.only_moves and not entry.slices,
        gives_list=entry.schema.endswith("[]"),
        gives_number=entry.gives_number,
        has_quantized=entry.quantized is not None and forward is entry.forward,
        is_quiet=entry.only_moves or entry.of_form,
    )


@cache
def _maker(
    taken: tuple[Taken, ...], count: int, ways: _Ways, is_sure: bool
) -> Callable[..., tuple[Shortcut, Shortcut]]:
    """What makes the calls of operators with that many arguments, and what records those that want
    gradients.  The text is all our own, but for names of parameters."""
    values = [f"_v{place}" for place in range(count)]
    handles = [each.name or f"_{number}" for number, each in enumerate(taken)]
    pairs = list(zip(taken, handles, strict=True))
    read = ""
    for each, handle in pairs:
        if each.way == "same":
            values[each.place] = handle
        else:
            read += _READ[each.way].format(each.place, handle, lenient=is_sure)
        if each.way == "converted" and not is_sure:
            read += _CHECK.format(each.place, "_MISFIT")
    given = {each.place for each in taken}
    constants = [f"_c{each.place}" for each in taken if each.way == "converted"]
    constants += [f"_v{place}" for place in range(count) if place not in given]
    is_first = bool(taken) and taken[0][:2] == (0, "tensor")
    args = dict(enumerate(values))
    for each, handle in pairs:
        if each.way in _REQUIRES:
            args[each.place] = handle if each.way == "tensor" else f"_list({handle})"
    text = _TEXT.format(
        args=", ".join(args.values()),
        constants=", ".join(constants),
        parameters=", ".join(f"*{h}" if each.way == "sizes" else h for each, h in pairs),
        read=read,
        read_here=read.replace("_MISFIT", "_MISSED"),
        is_quiet="True" if ways.is_quiet else "_quiet is not None",
        requires=" or ".join(_REQUIRES[e.way].format(h) for e, h in pairs if e.way in _REQUIRES)
        or "False",
        values=", ".join(values),
        handles="".join(f"{handle}, " for handle in handles),
        compute=_computing(", ".join(values), ways, is_first=is_first),
        finish=_finishing(pairs, ways, is_first=is_first),
    )
    space = dict(_SPACE)
    exec(compile(text, f"{__file__}:{'-'.join(each.way for each in taken)}", "exec"), space)
    made: Callable[..., tuple[Shortcut, Shortcut]] = space["make"]
    return made


def _computing(values: str, ways: _Ways, *, is_first: bool) -> str:
    """The lines that call the forward."""
    chosen = _UNLESS_QUANTIZED if ways.has_quantized and is_first else "_forward"
    line = _COMPUTE.format(chosen, values)
    return line if ways.is_quiet else _QUIETLY.format(line)


def _finishing(pairs: Sequence[tuple[Taken, str]], ways: _Ways, *, is_first: bool) -> str:
    """The lines that give results of the expected kinds back; what they leave has others do it."""
    if ways.gives_number:
        return _NUMBER
    first = pairs[0][1] if is_first else ""
    if ways.gives_list:
        return _VIEWS.format(first) if is_first and ways.only_moves else ""
    tensors = [each for each, _ in pairs if each.way in _IS_NEW]
    written = _WRITTEN if ways.is_in_place else ""
    return _TENSOR.format(
        is_new=" and ".join(_IS_NEW[each.way].format(each.place) for each in tensors) or "True",
        note=_NOTE.format(first) if ways.is_view and is_first else "",
        same=_SAME.format(first, written) if is_first else "",
    )


def _written_when_called(
    write: Callable[[], tuple[Shortcut, Shortcut]], late: Callable[[Shortcut], None]
) -> tuple[Shortcut, Shortcut]:
    """Both, which are written when one is first called; who keeps the first is told of the one that
    was written."""

    @cache
    def both() -> tuple[Shortcut, Shortcut]:
        found = write()
        late(found[0])
        return found

    def call(*args: object, **kwargs: object) -> object:
        return both()[0](*args, **kwargs)

    def record(*args: object, **kwargs: object) -> object:
        return both()[1](*args, **kwargs)

    return call, record


def written_out(
    entry: Operator,
    forward: Forward,
    taken: Sequence[Taken],
    converters: Sequence[Converter],
    values: Sequence[object],
    *,
    own: bool,
    is_sure: bool,
    late: Callable[[Shortcut], None] | None = None,
    is_known: bool = True,
) -> tuple[Shortcut, Recording]:
    """A call of an operator by a forward, written out, and what records such a call.  Where a front
    learns such calls that may be `late`: when there is one that it leaves, of which this is told.
    What knows calls beforehand is used for those that are recorded, unless none `is_known` yet.

    `converters` are those of what is converted, in the order it is taken in; `values` what all
    arguments are that are not taken.  If it is sure that values can be converted, some are that
    are only convertible; else the call may give `MISFIT`.
    """
    kept: list[Any] = [None]

    def write() -> tuple[Shortcut, Shortcut]:
        make = _maker(tuple(taken), len(values), _ways(entry, forward), is_sure)
        given = {each.place for each in taken}
        rest = [value for place, value in enumerate(values) if place not in given]
        quiet = quiet_form(entry) if is_known else None
        return make(entry, forward, quiet, entry.on_arrays, own, kept, *converters, *rest)

    is_now = late is None or not knows_calls()
    call, record = write() if late is None or is_now else _written_when_called(write, late)
    return call, Recording(record, kept)


def _shortcut_of_sizes(
    entry: Operator, tensors: int, values: Sequence[object]
) -> tuple[Shortcut, Recording]:
    """The shortcut for some tensors and sizes given one by one; others are the values."""
    taken = [*(Taken(place, "tensor") for place in range(tensors)), Taken(tensors, "sizes")]
    return written_out(entry, entry.forward, taken, (), values, own=False, is_sure=True)


def keep_shortcut_of_sizes(
    shortcuts: dict[tuple[type, ...], Shortcut],
    learn: Learn,
    entry: Operator,
    types: tuple[type, ...],
    tensors: int,
    values: Sequence[object],
) -> None:
    """Remember the shortcut for some tensors and sizes given one by one, whose types these are.

    Once it is used often, a front learns such calls.
    """
    later, recording = _shortcut_of_sizes(entry, tensors, values)
    left = TRIALS

    def counted(*args: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            shortcuts[types] = later
            places = [min(place, tensors) for place in range(len(args))]
            given = [Given(place, "", a, None) for place, a in zip(places, args, strict=True)]
            learn(Way(entry, given, values, tensors, recording))
        return later(*args)

    shortcuts[types] = counted


def _plainly(
    entry: Operator, converters: Sequence[Converter | None], defaults: Sequence[object]
) -> Shortcut:
    """What an operator is called by until a shortcut of its own is written out."""

    def plainly(*args: object) -> object:
        given = [
            a if convert is None else convert(a, True)
            for convert, a in zip(converters, args, strict=True)
        ]
        return run(entry, [*given, *defaults], args)

    return plainly


def keep_shortcut(
    shortcuts: dict[tuple[type, ...], Shortcut],
    learn: Learn,
    entry: Operator,
    types: tuple[type, ...],
    converters: Sequence[Converter | None],
    defaults: Sequence[object],
) -> None:
    """Remember the shortcut for arguments of some types; others are as the overload has them by
    default.

    It is written out, or that of an operator with a direct form calls it, once it is used often or
    for much; by then a front learns such calls.
    """
    tensors = [issubclass(each, Tensor) for each in types]
    is_short = tensors in ([True], [True, True])
    is_short = is_short or (tensors == [True, False] and converters[1] is None)
    taken = [
        Taken(place, "tensor" if is_tensor else "same" if convert is None else "converted")
        for place, (is_tensor, convert) in enumerate(zip(tensors, converters, strict=True))
    ]
    others = [each for is_tensor, each in zip(tensors, converters, strict=True) if not is_tensor]
    found = [each for each in others if each is not None]
    values = [*(None for _ in types), *defaults]

    def with_forward(
        forward: Forward, late: Callable[[Shortcut], None] | None
    ) -> tuple[Shortcut, Recording]:
        own = not is_short and entry.unwatched is not None
        kind = {"own": own, "is_sure": True, "is_known": late is not None}
        return written_out(entry, forward, taken, found, values, late=late, **kind)

    has_direct = has_direct_form(entry) and tensors[:1] == [True]
    plainly = _plainly(entry, converters, defaults)
    first, left = with_forward(entry.forward, None)[0] if is_short else plainly, TRIALS

    def counted(*args: Any) -> object:
        nonlocal left
        left -= 1
        if left < 0 or (has_direct and args[0]._array.size >= LARGE):
            forward = direct_form(entry) if has_direct else entry.forward
            constants = constants_among(args)  # `args` themselves would be kept

            def exchange(later: Shortcut) -> None:
                shortcuts[types] = learning_more(later, learned, constants)

            later, recording = with_forward(forward, exchange)

            def learned(args: Sequence[object], _: object) -> None:
                triples = enumerate(zip(args, converters, strict=True))
                given = [Given(place, "", a, convert) for place, (a, convert) in triples]
                learn(Way(entry, given, values, -1, recording))

            learned(args, {})
            exchange(later)
        return first(*args)

    shortcuts[types] = counted
