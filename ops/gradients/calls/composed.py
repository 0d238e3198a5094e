"""The way back through an operator that is computed by others, written for arguments of some sizes.

What the others are is heard when such a call comes for the third time, as if it were a call of
scripted code (`call_shapes`).  From then on one function runs those whose results are needed again,
and walks back through them (`call_back`).  The first time its gradients are compared with those of
the operators, since formulas may look at elements without an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...eager.calls import tensors_in
from ...memory.dtype import Array, of_numpy
from ...memory.quiet import QUIET, enter, leave
from ...table.grad_mode import enable_grad
from ...tensors.tensor import Tensor
from ..nodes.autograd import WALKING, Edge, edge_of
from ..nodes.bound import Bound
from ..nodes.fitting import fit
from ..recording.listening import listening
from .back import back_of
from .replay import runs_for, write_runs
from .shapes import CallShape, NotJoined, shape_of
from .texts import Text

__all__ = ["composed"]

BEFORE: Final = 2
"""Calls on arguments of the same sizes that go operator by operator."""
MOST: Final = 64
"""Kinds of arguments that are known of one operator."""

Place = tuple[str, int | None]
"""An argument, by its name, and which one of a list it is."""
Grads = list[Tensor | None]
Plain = Callable[[], Grads]


class _Known:
    """What was written for arguments of a kind, or how often they came; `way` is None for good
    where nothing can be written."""

    def __init__(self) -> None:
        self.count = 0
        self.way: Callable[[Sequence[Array], Sequence[Tensor | None]], Grads] | None = None
        self.is_proved = False
        self.is_refused = False


def composed(
    bound: Bound,
    values: Mapping[str, object],
    asked: Sequence[Place | None],
    grads: Sequence[Tensor | None],
    plainly: Plain,
) -> Grads:
    """The gradients of the arguments that are asked for; `plainly` finds them by operators."""
    kinds = bound.composed
    try:
        kind = tuple([_kind(each) for each in values.values()])
        key = kind, tuple(asked), tuple([None if g is None else _kind(g) for g in grads])
        known = kinds.get(key)
    except TypeError:  # an argument that has no hash
        return plainly()
    if known is None:
        if len(kinds) >= MOST:
            return plainly()
        known = kinds[key] = _Known()
    if known.way is None and not known.is_refused:
        known.count += 1
        if known.count > BEFORE:
            known.way = _written(bound, values, asked, grads)
            known.is_refused = known.way is None
    way = known.way
    if way is None:
        return plainly()
    given = [each._array for each in tensors_in([*values.values()])]
    state, leads = enter(QUIET), WALKING.leads
    WALKING.leads = None  # which are nodes of this walk: none that the way makes is among them
    try:
        found = way(given, grads)
    finally:
        WALKING.leads = leads
        leave(state)
    if known.is_proved:
        return found
    wanted = plainly()
    if all(map(_are_near, found, wanted)):
        known.is_proved = True
    else:
        known.way, known.is_refused = None, True
    return wanted


def _kind(value: object) -> Any:
    if isinstance(value, Tensor):
        return type(value), value._array.shape, value._array.dtype
    if isinstance(value, (list, tuple)):
        return tuple([_kind(each) for each in value])
    return type(value), value


def _are_near(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two gradients are the same but for rounding."""
    if one is None or other is None:
        return one is other
    if one._array.shape != other._array.shape or one._array.dtype is not other._array.dtype:
        return False
    return bool(one.allclose(other, 1e-4, 1e-6, True))


def _written(
    bound: Bound,
    values: Mapping[str, object],
    asked: Sequence[Place | None],
    grads: Sequence[Tensor | None],
) -> Any:
    """What gives the gradients, of the arrays of all tensors and the gradients of the results; None
    where it cannot be said."""
    fresh: dict[Place, Tensor] = {}

    def renewed(value: object, name: str, inner: int | None) -> object:
        if type(value) is list and inner is None:
            return [renewed(each, name, at) for at, each in enumerate(value)]
        if not isinstance(value, Tensor):
            return value
        # What was computed stays itself: formulas may know more of it than its elements.
        array = value._array if name == "result" else value._array.view()
        made = fresh[name, inner] = Tensor._of(array, (name, inner) in asked)
        return made

    given = {name: renewed(value, name, None) for name, value in values.items()}
    assert bound.row is not None
    assert bound.row.composite is not None
    with listening() as heard, enable_grad():
        outcome = bound.row.composite(**given)
    if heard is None or not heard.is_complete:
        return None
    smooth = [each for each in tensors_in(outcome) if each._array.dtype.kind not in "biu"]
    places = [at for at, grad in enumerate(grads) if grad is not None]
    if any(at >= len(smooth) or edge_of(smooth[at]) is None for at in places):
        return None
    own = {id(each._array): each for each in fresh.values()}

    def edge(array: Array) -> Edge | None:
        found = own.get(id(array))
        return None if found is None else edge_of(found)

    outward = [smooth[at]._array for at in places]
    try:
        shape = shape_of(heard.steps, outward, edge, 1)
    except NotJoined:
        return None
    return _function(shape, shape.numbers_of(heard.steps), fresh, places, asked)


def _function(
    shape: CallShape,
    numbers: Mapping[int, int],
    fresh: Mapping[Place, Tensor],
    places: Sequence[int],
    asked: Sequence[Place | None],
) -> Any:
    given = {
        numbers[id(each._array)]: at
        for at, each in enumerate(fresh.values())
        if id(each._array) in numbers
    }
    steps = runs_for(shape, shape.saved, given)
    if steps is None or len(set(shape.outward)) < len(shape.outward):
        return None
    text = Text("def gradients(given, gs):")
    for number, at in given.items():
        text.add(1, f"v{number} = given[{at}]")
    write_runs(text, shape, steps)
    beyond = len(shape.outward) - len(places)  # what views that went out are of
    back = back_of(shape, (True,) * len(shape.edges), [True] * len(places) + [False] * beyond)
    text.space["fit"] = fit
    gs = []
    for at, number in zip(places, shape.outward, strict=False):
        value = shape.values[number]
        gs.append(f"fit(gs[{at}], {value.shape!r}, {text.name(of_numpy(value.dtype))})")
    saved = "".join(f"v{n}, " for n in shape.saved)
    text.add(1, f"found = {text.name(back)}(({saved}), [{', '.join(gs)}])")
    results = []
    for place in asked:
        number = -1 if place is None else numbers.get(id(fresh[place]._array), -1)
        is_found = number in shape.edges
        results.append(f"found[{shape.edges.index(number)}]" if is_found else "None")
    text.add(1, f"return [{', '.join(results)}]")
    return text.function("gradients")
