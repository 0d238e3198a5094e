"""Operators by their kernels, called without a detour.

What a call of an operator makes is found out by its forward, once for operands of some dtypes,
sizes and strides.  The next such calls are done by the kernels that it ran, or, of a pointwise
operator, by that of its formula, if it gives the same bits.  Where the compiler is needed for that,
it runs in a thread, and the forward does the work meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...frontend.foundations.beside import Beside
from ..kernels import ALWAYS, LARGE, NEAREST, family
from ..memory.determinism import DETERMINISM
from ..memory.dtype import Array
from .formula import Formula, Part, letter_of, meeting, moved
from .listed import Listed, by_elements, listed
from .promotion import result_dtype
from .record import Operator
from .table import TABLE
from .words import in_words, parts_of_pair

if TYPE_CHECKING:
    from ..kernels.code.calls.into import KnownInto, Writing
    from ..kernels.code.calls.prepared import Explain, Known, Look

__all__ = [
    *(
        "LISTENING",
        "NAMES",
        "direct_call",
        "direct_calls",
        "direct_form",
        "direct_form_around",
        "explained",
        "formula_for",
        "formulas_of",
        "form_of",
        "into_form",
        "last_compiled",
    ),
    *("Note", "Way"),
    *("has_direct_form", "listen", "is_compiling", "is_dense", "is_same", "is_settled", "is_there"),
    *("known_calls", "knows_calls", "note_of", "notes_of", "notes_of_parts"),
]

Note = tuple[object, ...]
"""The arguments of a call of `run`, in `kernels/code/calls/run.py`."""

Way = Callable[..., list[Note] | None]
"""Tells of arguments and their result the runs of kernels that give it; None if there are none."""

_MOST_PARTS: Final = 128
"""Parts of a result that are computed one by one."""

_FEW: Final = 1 << 10
"""Elements of which NumPy's way costs more than what short rows lose."""
_MOST: Final = 2000
"""Kernels that a process compiles for this, of some 5 kB each; nothing frees them."""

_NATIVE: Final[dict[Operator, Known]] = {}
_FORMS: Final[list[Known]] = []
"""What native code looks at, as long as the process lives."""
_KNOWN: Final[dict[Operator, Callable[..., object]]] = {}
NAMES: Final[dict[int, str]] = {}
"""The operators by the identity of what does their calls natively, for who listens to calls."""


def is_compiling(since: object = None) -> bool:
    """Whether kernels that were asked for are being compiled, or one was `since` a time, which is
    what `last_compiled` gave then."""
    is_under_way = bool(_KERNELS.under_way)
    return is_under_way or since not in (None, _KERNELS.under_way.ended)


def last_compiled() -> object:
    """Another object after each kernel that was asked for and has been compiled."""
    return _KERNELS.under_way.ended


def direct_form(entry: Operator) -> Callable[..., object]:
    """The forward of an operator that has formulas, or what does its calls natively."""
    known = _KNOWN.get(entry)
    if known is None:
        native = _native(entry)
        if native is None:
            return entry.forward
        form = listed(entry)
        known = native.call if form is None else form.put_together(native.call)
        NAMES[id(native.call)] = entry.name
        _KNOWN[entry] = known
    return known


def _native(entry: Operator) -> Known | None:
    """What knows the calls of an operator; None where there is no native code."""
    found = _NATIVE.get(entry)
    if found is None and knows_calls():
        function = by_elements(entry)
        made: Known = family("calls.prepared").Known(
            function,
            _explain(entry),
            writes=entry.is_in_place,
            gives_parts=entry.views_by_form,
            gives_unfilled=entry.undefined,
            fill=None if entry.random else _notes_of_constant,
        )
        found = _NATIVE.setdefault(entry, made)  # one alone is kept, whoever else makes one
    return found


def direct_form_around(
    entry: Operator, wrap: Callable[[Callable[..., object]], Callable[..., object]]
) -> tuple[Callable[..., object], Listed | None] | None:
    """What does the calls of an operator natively, others by wrapped functions, and how it takes
    lists of tensors; None where there is no native code."""
    native = _native(entry)
    return None if native is None else (native.around(wrap), listed(entry))


def into_form(entry: Operator, writing: Writing) -> KnownInto | None:
    """What knows calls that put results of an operator into an array, as `writing` does; None where
    they cannot be known."""
    first = by_first_name(entry)
    if not (knows_calls() and has_direct_form(entry)) or first.undefined:
        return None
    is_by_element = first.parts is None and bool(formulas_of(entry))
    made: KnownInto = family("calls.into").KnownInto(
        writing, _explain(entry), by_element=is_by_element
    )
    _FORMS.append(made)
    return made


def form_of(
    entry: Operator,
    forward: Callable[..., object],
    become: Callable[[Sequence[Any]], Sequence[object]],
) -> Known | None:
    """What knows calls of an operator by its forward with what arguments `become`, where new arrays
    among that cannot be written; None where they cannot be known."""
    if not (knows_calls() and has_direct_form(entry)):
        return None
    explain = _explain(entry)

    def told(values: Sequence[Any], result: Any) -> list[Note] | None:
        return None if explain is None else explain(become(values), result)

    made: Known = family("calls.prepared").Known(
        lambda *values: forward(*become(values)), None if explain is None else told
    )
    _FORMS.append(made)
    return made


def direct_call(entry: Operator) -> Callable[..., object] | None:
    """What does the calls of an operator natively, with lists of tensors as `listed` has them; None
    where there is no native code."""
    native = _native(entry)
    return None if native is None else native.call


def direct_calls(entry: Operator, cool: Callable[[], object]) -> Known | None:
    """The same for one place in a program: an object whose `call` it is, which the caller keeps.

    A list of tensors is given to it as `Listed.written` says.  `cool` is called when that does not
    pay.  None where there is no native code.
    """
    return known_calls(by_elements(entry), cool, _explain(entry), writes=entry.is_in_place)


def known_calls(
    function: Callable[..., object],
    cool: Callable[[], object],
    explain: Explain | None = None,
    *,
    writes: bool = False,
    waiting: Callable[..., object] | None = None,
    look: Look | None = None,
) -> Known | None:
    """The same of a function (see `Known` in `kernels/code/calls/prepared.py`)."""
    if not knows_calls():
        return None
    known: Known = family("calls.prepared").Known(
        function, explain, cool, writes=writes, waiting=waiting, look=look
    )
    return known


def knows_calls() -> bool:
    """Whether there is native code that knows calls beforehand."""
    module = family("calls.prepared")
    return module is not None and module.CREW is not None


LISTENING: Final[list[bool]] = []
"""Not empty while somebody listens to what Python calls."""


def listen(count: int, *, inspects: bool = False) -> None:
    """So many more, or less, listen to what Python calls, and shall hear of operators; also what
    these are given and make, if one `inspects` that."""
    LISTENING[:] = [True] * (len(LISTENING) + count)
    if knows_calls():
        family("calls.prepared").CREW.listen(count, inspects=inspects)


def has_direct_form(entry: Operator) -> bool:
    """Whether native code may learn what calls of an operator do."""
    first = by_first_name(entry)
    is_told = bool(formulas_of(first)) or first.parts is not None
    return is_told or first.prepared or first.undefined


def by_first_name(entry: Operator) -> Operator:
    """The operator that one of a second name stands for, which says more; any other itself."""
    first = TABLE.first_name(entry.name)
    if first == entry.name:
        return entry
    known = TABLE.operator(first + entry.full_name.removeprefix(entry.name))
    is_same = known is not None and known.schema.removeprefix(first) == entry.schema.removeprefix(
        entry.name
    )
    return known if known is not None and is_same else entry


def formulas_of(entry: Operator) -> tuple[Formula, ...]:
    """The formulas of an operator, or of the one that gives what it writes in place."""
    entry = by_first_name(entry)
    if entry.formula or not entry.is_in_place:
        return entry.formula
    name, dot, overload = entry.full_name.partition(".")
    plain = TABLE.operator(name.removesuffix("_") + dot + overload)
    return () if plain is None or plain.is_in_place else plain.formula


def _explain(entry: Operator) -> Way | None:
    """How it is told; None where it is seen."""
    first = by_first_name(entry)
    if first.undefined:
        return _notes_of_unfilled
    if first.parts is not None:
        return partial(notes_of_parts, first)
    formulas = formulas_of(entry)
    return partial(explained, entry, formulas) if formulas else None


def _notes_of_unfilled(*_: object) -> list[Note] | None:
    """The runs of kernels that fill what holds anything: there are none; None while all that is new
    is filled."""
    return None if DETERMINISM.fills else []


def _notes_of_constant(result: Array) -> list[Note] | None:
    """The run of a kernel that makes a result which is always the same; None if there is none."""
    arrays = family("elementwise.arrays")
    if arrays is None or result.size > _FEW:
        return None
    constant = result.copy()
    constant.flags.writeable = False
    return notes_of(arrays, [moved(constant, result)])


def explained(
    entry: Operator, formulas: Sequence[Formula], values: Sequence[object], result: Array
) -> list[Note] | None:
    """The run of a kernel that gives the result; None if there is none."""
    arrays = family("elementwise.arrays")
    if arrays is None or type(result) is not np.ndarray or not result.size:
        return None
    letter, formula = arrays.LETTERS[result.dtype], formula_for(formulas, values)
    if formula is None:
        return None
    taken = [values[place] for place in formula.operands]
    if not letter:
        whole = Part([(formula.name, "", tuple(range(len(taken))))], taken, result)
        is_new = not entry.is_in_place
        return notes_of(arrays, (is_new and parts_of_pair(formula.name, taken, result)) or [whole])
    if entry.is_in_place and not _stays(formula, taken, result):
        return None
    joins = meeting(arrays, formula, taken, letter)
    if result.size < LARGE and letter == joins and letter in "feE":
        formula = formula._replace(name=NEAREST.get(formula.name, formula.name))
    if not is_same(arrays, formula, joins, result):
        return None
    steps = [(formula.name, joins, tuple(range(len(taken))))]
    free = [
        place if type(each) in (int, float) and not formula.checks else None
        for place, each in zip(formula.operands, taken, strict=True)
    ]
    note = note_of(arrays, Part(steps, taken, result), free)
    return None if note is None else [note]


def notes_of_parts(
    entry: Operator, values: Sequence[object], result: Array, *, at_any_cost: bool = False
) -> list[Note] | None:
    """The runs of kernels that move elements; None if there are none."""
    arrays = family("elementwise.arrays")
    if arrays is None or type(result) is not np.ndarray or not result.size:
        return None
    assert entry.parts is not None
    form = listed(entry)
    if form is not None:
        values = form.arguments(values)
    parts = entry.parts(result, *values)
    is_much = len(parts) > _MOST_PARTS and not at_any_cost
    if not parts or is_much:
        return None
    return notes_of(arrays, parts, at_any_cost=at_any_cost)


def notes_of(
    arrays: ModuleType, parts: Sequence[Part], *, at_any_cost: bool = False
) -> list[Note] | None:
    """The runs of kernels that compute parts of a result; None if one of them has none."""
    notes = [note_of(arrays, part, at_any_cost=at_any_cost) for part in parts if part.target.size]
    known = [note for note in notes if note is not None]
    return known if len(known) == len(notes) else None


def note_of(
    arrays: ModuleType, part: Part, free: Sequence[int | None] = (), *, at_any_cost: bool = False
) -> Note | None:
    """The run of a kernel that computes a part of a result; None if there is none.

    The operands that are `free` are numbers, whatever the argument at that place is.  A kernel that
    is not at hand, or has many short rows, is only taken `at_any_cost`.
    """
    part = in_words(part)
    target, operands = part.target, part.operands
    shape, own = target.shape, arrays.LETTERS[target.dtype]
    letters = "".join(letter_of(arrays, each) for each in operands)
    if not own or len(letters) < len(operands):
        return None
    seen = tuple(_lies(arrays, each, shape) for each in operands)
    stepped = None if is_dense(target) else (target.itemsize, target.strides)
    way = arrays.way_of(shape, target.strides, seen, stepped)
    steps = tuple(arrays.Step(name, letter or own, places) for name, letter, places in part.steps)
    expression = arrays.Expression(letters, steps, ((len(steps) - 1, own),))
    is_worth = way.is_quick or target.size <= _FEW
    if not at_any_cost and not (is_worth and is_there(arrays, (expression, way.places, way.rank))):
        return None
    kernel = arrays.expression_kernel(expression, way.places, way.rank)
    given = family("calls.entries").Given
    taken = [
        each if place is None else given(place)
        for place, each in zip(free or [None] * len(operands), operands, strict=True)
    ]
    return (kernel, way.size, way.least, way.geometry, *taken, target)


def is_same(arrays: ModuleType, formula: Formula, joins: str, result: Array) -> bool:
    """Whether a formula that computes in a dtype, if in any, has the bits of a forward's result:
    some forwards are exact or compute by it always, others from a certain size on."""
    letter = arrays.LETTERS[result.dtype]
    is_always = formula.name in ALWAYS and joins == letter and letter in "fdeE"
    is_always = is_always or (formula.name in NEAREST and joins == letter == "d")
    is_always = is_always or formula.name in NEAREST.values()
    is_large = result.size >= LARGE
    return bool(joins) and (is_large or is_always or arrays.FORMULAS[formula.name].is_exact)


def is_settled(formula: Formula, joins: str, operands: Sequence[object]) -> bool:
    """Whether a formula would compute in the same dtype whatever the default one were.

    Casts and copies are told in which one.
    """
    return formula.name == "same" or joins not in ("f", "d", "e", "E") or _brings(joins, operands)


def is_dense(array: Array) -> bool:
    """Whether an array lies in one piece, in whatever order."""
    reach = array.itemsize
    for step, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size > 1:
            if step != reach:
                return False
            reach *= size
    return True


def _brings(letter: str, operands: Sequence[object]) -> bool:
    """Whether an operand has the dtype by itself: else it may come from the default dtype."""
    arrays = [each for each in operands if type(each) is np.ndarray]
    deep = [each for each in arrays if each.ndim] or arrays
    return any(each.dtype.char == letter for each in deep)


def _stays(formula: Formula, operands: Sequence[Any], result: Array) -> bool:
    """Whether what is written in place is computed in its own dtype, if in the operands'."""
    takes_old = formula.meets == "result" and 0 in formula.operands
    return not takes_old or result_dtype(operands) == result.dtype


def formula_for(formulas: Sequence[Formula], values: Sequence[object]) -> Formula | None:
    for each in formulas:
        wanted = each.at.items()
        if all(type(values[at]) is type(one) and values[at] == one for at, one in wanted):
            return each
    return None


def _lies(arrays: ModuleType, value: object, shape: tuple[int, ...]) -> tuple[int, object] | None:
    """How an operand lies, as `way_of` is told."""
    if type(value) is not np.ndarray:
        return None
    return value.itemsize, arrays.spread_strides(value.shape, value.strides, shape)


class _Kernels:
    """The kernels that are compiled for this, by what `expression_kernel` is asked for."""

    def __init__(self) -> None:
        self.made: set[object] = set()
        self.refused: set[object] = set()
        """What could not be compiled, and is not tried again."""
        self.under_way: Beside[object] = Beside("rushlight-compiling", awaited=False)

    def begin(self, arrays: ModuleType, wanted: tuple[object, str, int]) -> None:
        """Have one compiled, unless that is done already, fails, or would be one too many."""
        is_new = wanted not in self.under_way and wanted not in self.refused
        if is_new and len(self.made) + len(self.under_way) < _MOST:
            self.under_way.begin(wanted, partial(self._make, arrays, wanted))

    def _make(self, arrays: ModuleType, wanted: tuple[object, str, int]) -> None:
        try:
            arrays.expression_kernel(*wanted)
            self.made.add(wanted)
        except (OSError, RuntimeError):  # no memory of ours may be executed, or no compiler
            self.refused.add(wanted)


_KERNELS: Final = _Kernels()


def is_there(arrays: ModuleType, wanted: tuple[object, str, int]) -> bool:
    """Whether a kernel need not be compiled; if it need, that begins."""
    if wanted in _KERNELS.made or arrays.is_at_hand(*wanted):
        return True
    _KERNELS.begin(arrays, wanted)
    return False
