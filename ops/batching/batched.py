"""A tensor that stands for each of the slices of another one along its first dimension.

Functions are asked through `__torch_function__`: a family of operators runs on all slices at once,
functions written in Python run their own text, and everything else runs slice by slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import FunctionType
from typing import Any, Final, NoReturn, TypeGuard

from ..eager import asking as asking  # it gives this class its members
from ..eager import methods
from ..eager.aten import aten
from ..eager.dispatch import EagerFunction, eager_function
from ..eager.methods import is_sign
from ..memory.errors import OnSlices
from ..random_numbers.random import default_generator
from ..table.table import TABLE
from ..tensors.overriding import PLAIN, STATE, asks_itself
from ..tensors.tensor import Tensor
from .families import family_of, is_random, replaces, sizes_depend_on_data
from .gradients import grad_of_batched
from .opened import Level, NotTogetherError, Opened
from .rules import RULES
from .views import PROPERTIES, indexed

__all__ = [
    *("RANDOM", "Batched", "for_all", "level_of", "slices_of", "stacked"),
]


class Batched(Tensor):
    """Each slice of `_value` along its first dimension; functions see one of them."""

    __slots__ = ("_level", "_value")
    _level: Level
    _value: Tensor

    @classmethod
    def over(cls, value: Tensor, level: Level) -> Batched:
        """What stands for the slices of a tensor."""
        made = object.__new__(cls)
        made._value, made._level = value, level
        made._requires_grad, made._view_of = False, None
        return made

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]
        raise OnSlices(_NO_ARRAY)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """The function for every slice."""
        level = level_of((args, kwargs or {}))
        assert level is not None
        return for_all(level, func, args, kwargs or {})

    def __repr__(self) -> str:
        inner = repr(self._value).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={self._level.number}, bdim=0, value=\n    {inner}\n)"


_NO_ARRAY: Final = "vmap: the memory of a tensor that stands for several is asked for"
_ITEM: Final = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
_CONTROL: Final = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
RANDOM: Final = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
_SAME_OF_OTHERS: Final = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
_METHODS: Final = vars(methods)
"""What stands beside methods written in Python, whose `__module__` is a name for users."""

_READS: Final = frozenset(
    "item tolist numpy __array__ __float__ __int__ __index__ __complex__".split()
)


def _refuse_reading(name: str) -> None:
    if name in _READS:
        raise RuntimeError(_ITEM)
    if name in ("__bool__", "is_nonzero", "__contains__"):
        raise RuntimeError(_CONTROL)


# --------------------------------------------------------------------------- all at once


def _levels(value: object) -> list[Level]:
    """The levels of the tensors in a structure."""
    if type(value) is Batched:
        return [value._level]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [level for each in value for level in _levels(each)]


def level_of(value: object) -> Level | None:
    """The innermost level of the tensors in a structure."""
    return max(_levels(value), key=lambda level: level.number, default=None)


def for_all(
    level: Level, func: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, object]
) -> object:
    """What a function gives for all slices of a level, the innermost among its arguments."""
    name = getattr(func, "__name__", "")
    _refuse_reading(name)
    if name == "grad" and getattr(func, "__module__", "").endswith("autograd"):
        return grad_of_batched(level, Batched, func, args, kwargs)
    if isinstance(func, EagerFunction):
        return _operator(level, func, args, kwargs)
    if name == "__repr__":
        return Batched.__repr__(args[0])
    if name == "__hash__":
        return id(args[0])
    if (turn := PROPERTIES.get(_read_property(func))) and name == "__get__":
        return _viewed(level, turn, func, args, kwargs)
    if name == "__getitem__":
        _refuse_masks(args[1])
        picked = _picked(level, args[0], args[1])
        if picked is not None:
            return picked
        return _viewed(level, indexed, func, args, kwargs)
    if name == "detach_":
        args[0]._value = args[0]._value.detach()
        return args[0]
    if name in ("requires_grad_", "__set__") or _read_property(func) in _OF_VALUE:
        return _of_value(level, func, args, kwargs)
    if asks_itself(func):
        STATE.skips += 1
        return func(*args, **kwargs)
    if isinstance(func, FunctionType) and func.__globals__ is _METHODS:
        if is_sign(name) and type(args[1]) not in PLAIN:
            STATE.skips += 1  # it asks about its second operand, which is why it was asked
        return func(*args, **kwargs)
    return _one_by_one(level, func, args, kwargs)


def _refuse_masks(key: object) -> None:
    """See that no slice is read by a mask of its own, as each would have other sizes."""
    for each in key if isinstance(key, tuple) else (key,):
        if type(each) is Batched and each.dtype.name in ("bool", "uint8"):
            raise RuntimeError(
                "vmap: We do not support batching operators that can support dynamic shape. "
                "Attempting to batch over indexing with a boolean mask."
            )


def _picked(level: Level, value: Tensor, key: object) -> Tensor | None:
    """Parts by numbers that each slice has tensors of for itself; None by other keys."""
    keys = key if isinstance(key, tuple) else (key,)
    picks = [each._value for each in keys if _is_at(each, level)]
    is_known = level.count and len(picks) == len(keys) and len({each.dim() for each in picks}) == 1
    if not is_known or any(each.dtype.kind not in "iu" for each in picks):
        return None
    if not _is_at(value, level):
        return None if level_of(value) is not None else Batched.over(value[tuple(picks)], level)
    if len(picks) >= value._value.dim():
        return None
    rows = aten.arange(level.count).reshape([level.count, *[1] * (picks[0].dim() - 1)])
    return Batched.over(value._value[(rows, *picks)], level)


def _viewed(
    level: Level,
    view: Callable[..., Tensor],
    func: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """A view of each slice; slice by slice where it is none of them all."""
    rest = args[1:] if view is indexed else ()
    try:
        return Batched.over(view(_opened_at(args[0], level), *rest), level)
    except NotTogetherError:
        return _one_by_one(level, func, args, kwargs)


def _opened_at(value: object, level: Level) -> Tensor:
    if not _is_at(value, level):
        raise NotTogetherError
    return value._value


_OF_VALUE: Final = ("data", "real", "imag", "requires_grad", "grad_fn", "is_leaf", "grad")


def _read_property(func: object) -> str:
    owner = getattr(func, "__self__", None)
    return owner.fget.__name__ if isinstance(owner, property) and owner.fget is not None else ""


def _of_value(
    level: Level, func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """A function of what the tensor stands for, which all slices share."""
    bare = [each._value if _is_at(each, level) else each for each in args]
    owner = getattr(func, "__self__", None)
    if isinstance(owner, property) and owner.fget is not None:
        name = owner.fget.__name__
        is_set = func.__name__ == "__set__"
        if name == "data":
            how = "mutating directly with `.data`" if is_set else "accessing `data`"
            raise RuntimeError(f"{how} under vmap transform is not allowed{'.' * is_set}")
        if is_set:
            setattr(bare[0], name, bare[1])
            return None
        return _joined(getattr(bare[0], name), level)
    getattr(bare[0], func.__name__)(*bare[1:], **kwargs)
    return args[0]


def _joined(value: object, level: Level) -> object:
    return Batched.over(value, level) if isinstance(value, Tensor) else value


def _is_at(value: object, level: Level) -> TypeGuard[Batched]:
    return type(value) is Batched and value._level is level


def _operator(
    level: Level, func: EagerFunction, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    name = func.operator_name
    if name == "aten::batch_norm":
        _refuse_writing_statistics(level, *args, **kwargs)
    if kwargs.get("out", func) is None:
        kwargs = {key: each for key, each in kwargs.items() if key != "out"}
    if is_random(name) and not _drops_nothing(name, args, kwargs):
        return _drawn(level, func, args, kwargs)
    if sizes_depend_on_data(name, args, kwargs):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            f"to vmap over {name}. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    if replaces(name):
        return _become(level, name, args, kwargs)
    return _by_rule(level, func, args, kwargs)


def _by_rule(
    level: Level, func: EagerFunction, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """An operator on all slices at once if there is a rule for it, and slice by slice if not."""
    rule = RULES.get(family_of(func.operator_name))
    if rule is None or "out" in kwargs:
        return _one_by_one(level, func, args, kwargs)
    bare = [_opened(each, level) for each in args]
    named = {key: _opened(each, level) for key, each in kwargs.items()}
    try:
        result = rule(func, bare, named)
    except NotTogetherError:
        return _one_by_one(level, func, args, kwargs)
    if args and result is getattr(args[0], "_value", None):
        return args[0]
    return _wrapped(result, level)


def _become(level: Level, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """A tensor that becomes a view of itself, in all slices.

    Raises:
        NotImplementedError: it shall have other memory.
    """
    twin = name.removesuffix("_")
    if twin == name or not TABLE.operators(twin) or not _is_at(args[0], level):
        raise NotImplementedError(f"vmap: {name} of a tensor that stands for slices")
    made = _operator(level, eager_function(twin), args, kwargs)
    args[0]._value = made._value  # type: ignore[attr-defined]
    return args[0]


def _drops_nothing(name: str, args: Sequence[object], kwargs: dict[str, object]) -> bool:
    """Whether it is a dropout that leaves all as it is."""
    share = args[1] if len(args) > 1 else kwargs.get("p")
    training = args[2] if len(args) > 2 else kwargs.get("training", True)
    return training is False or (
        name.endswith("dropout") and isinstance(share, (int, float)) and share == 0
    )


def _refuse_writing_statistics(
    level: Level,
    input: object,
    weight: object = None,
    bias: object = None,
    running_mean: object = None,
    running_var: object = None,
    training: object = False,
    *rest: object,
    **others: object,
) -> None:
    """Running statistics that slices share cannot follow each of them."""
    shared = any(
        isinstance(each, Tensor) and not _is_at(each, level) for each in (running_mean, running_var)
    )
    if training and shared and _is_at(input, level):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched.\nIf you are using a module and do not "
            "need eval mode, please set `track_running_stats` to be False.If you are using a "
            "prebuilt module and do not need eval mode, please see the functorch website for "
            "resources on how to patch your module to work with vmap"
        )


def _opened(value: object, level: Level) -> object:
    """A value as rules take it: `(tensor,)` for one that stands for slices."""
    if _is_at(value, level):
        return Opened((value._value,))
    if isinstance(value, (list, tuple)) and level_of(value) is level:
        return [_opened(each, level) for each in value]
    return value


def _wrapped(result: object, level: Level) -> object:
    if isinstance(result, Tensor):
        return Batched.over(result, level)
    if isinstance(result, (tuple, list)):
        return type(result)(_wrapped(each, level) for each in result)
    return result


# --------------------------------------------------------------------------- one by one


def slices_of(value: object, level: Level, place: int) -> Any:
    """A structure of arguments with the slices of that number in the place of tensors."""
    if _is_at(value, level):
        whole = value._value
        return whole.select(0, place) if level.count else whole.new_zeros(whole.shape[1:])
    if isinstance(value, (list, tuple)) and _levels(value):
        return type(value)(slices_of(each, level, place) for each in value)
    if isinstance(value, dict):
        return {key: slices_of(each, level, place) for key, each in value.items()}
    return value


def _holds_tensors(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_tensors, value))
    return isinstance(value, Tensor)


def stacked(results: Sequence[object], level: Level) -> object:
    """Results of slices as one that stands for them."""
    first = results[0]
    if isinstance(first, Tensor):
        joined = aten.stack(list(results))
        return Batched.over(joined if level.count else joined[:0], level)
    if isinstance(first, (list, tuple)) and _holds_tensors(first):
        parts = [stacked(row, level) for row in zip(*results, strict=True)]
        return type(first)(parts)
    return first


def _one_by_one(
    level: Level, func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    name = getattr(func, "__name__", "")
    writes = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
    if writes and not _is_at(args[0], level):
        raise RuntimeError(_writes_to_one(name))
    read = _read_property(func) if name == "__get__" else ""
    if read:  # slices may stand for slices of a level further out, which are asked in their turn
        func = attrgetter(read)
        args = args[:1]
    results = []
    for place in range(level.count or 1):
        made = _of_slice(func, slices_of(args, level, place), slices_of(kwargs, level, place))
        results.append(made)
        if not _holds_tensors(made) and not writes:
            return made
    return args[0] if writes else stacked(results, level)


def _of_slice(
    func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """What a function gives for one slice, which may stand for slices of a level further out."""
    outer = level_of((args, kwargs)) if isinstance(func, FunctionType) else None
    return func(*args, **kwargs) if outer is None else for_all(outer, func, args, kwargs)


def _writes_to_one(name: str) -> str:
    return (
        f"vmap: aten::{name}(self, *extra_args) is not possible because there exists a Tensor "
        "`other` in extra_args that has more elements than `self`. This happened due to `other` "
        "being vmapped over but `self` not being vmapped over in a vmap. Please try to use "
        "out-of-place operators instead."
    )


def _drawn(
    level: Level, func: EagerFunction, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """An operator that draws random numbers: for each slice others, or for all the same.

    Raises:
        RuntimeError: random numbers are not allowed, or those that shall be the same depend on
            what differs between slices.
    """
    if level.randomness == "error":
        raise RuntimeError(RANDOM)
    if level.randomness == "different":
        return _by_rule(level, func, args, kwargs)
    asks_form = func.__name__.endswith(("_like", "dropout", "dropout_"))
    fills = func.__name__.endswith("_") and level_of((args[1:], kwargs)) is not level
    if not asks_form and not fills:
        raise RuntimeError(_SAME_OF_OTHERS)
    before = default_generator.place()

    def again(*args: object, **kwargs: object) -> object:
        default_generator.return_to(before)
        return func(*args, **kwargs)

    again.__name__ = func.__name__
    return _one_by_one(level, again, args, kwargs)
