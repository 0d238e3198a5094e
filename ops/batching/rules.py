"""The rules by which families of operators run on all slices at once.

A rule takes an eager function and its arguments, where `(tensor,)` is a tensor whose first
dimension is that of the slices, and gives results with that dimension in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Never, TypeGuard

from ..eager.aten import aten
from ..eager.binding import Form
from ..eager.dispatch import EagerFunction
from ..memory.dtype import DType
from ..tensors.tensor import Tensor
from .along import ALONG, behind
from .families import Family
from .leading import LEADING, aligned, at_rank, rank_of
from .opened import NotTogetherError, Opened, Rule
from .samples import class_losses, convolutions, count_of, for_each, losses, samples, whole_of
from .views import VIEWS, squeezed

__all__ = ["RULES"]


def _is_open(value: object) -> TypeGuard[Opened]:
    return type(value) is Opened


def _slice_sizes(value: Tensor | Opened) -> list[int]:
    return list(value[0].shape[1:] if isinstance(value, Opened) else value.shape)


def _is_tensor(value: object) -> TypeGuard[Tensor | Opened]:
    return _is_open(value) or isinstance(value, Tensor)


def _elements(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Operands are aligned behind the slices, and broadcast as ever."""
    tensors = [each for each in (*args, *kwargs.values()) if _is_tensor(each)]
    ranks = [rank_of(each) for each in tensors]
    dtypes = {whole_of(each).dtype for each in tensors}
    if (len(dtypes) > 1 and 0 in ranks) or any(isinstance(each, list) for each in args):
        raise NotTogetherError
    writes = func.__name__.endswith("_") and not func.__name__.startswith("__")
    if writes and (not _is_open(args[0]) or max(ranks) > ranks[0]):
        raise NotTogetherError
    rank = max(ranks)
    named = {key: aligned(each, rank) for key, each in kwargs.items()}
    return func(*[aligned(each, rank) for each in args], **named)


# --------------------------------------------------------------------------- dimensions

_ONE_DIM: Final = ("dim", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim")
_MANY: Final = ("dims", "source", "destination")


def _dims(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Dimensions that arguments name, as a form says, are counted behind the slices'."""
    return _along_dims(func, args, kwargs, of_all=False)


def _folds(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """The same, where all dimensions of a slice are meant if none is named."""
    return _along_dims(func, args, kwargs, of_all=True)


def _along_dims(
    func: EagerFunction, args: list[Any], kwargs: dict[str, Any], *, of_all: bool
) -> object:
    is_of_pair = len(args) == 2 and all(map(_is_tensor, args)) and not kwargs
    if is_of_pair and any("other" in form.names[:2] for form in func.forms):
        return _elements(func, args, kwargs)
    if not args or not _is_open(args[0]):
        raise NotTogetherError
    if func.__name__ == "squeeze" and len(args) == 1 and not kwargs:
        return squeezed(args[0][0])
    rank = rank_of(args[0]) + (func.__name__ == "unsqueeze")  # which counts the new one
    if not rank:
        raise NotTogetherError
    form = next((form for form in func.forms if _fits(form, args, kwargs)), None)
    if form is None:
        raise NotTogetherError
    spread = form.spread is not None and len(args) > form.spread + 1
    args = [*args[: form.spread], args[form.spread :]] if spread else args
    given = dict(zip(form.names, args, strict=False)) | kwargs
    found = {name: each[0] if _is_open(each) else each for name, each in given.items()}
    known = [name for name in form.names if name in (*_ONE_DIM, *_MANY)]
    if not known and of_all:
        form, known = _with_dims(func, form, found), ["dim"]
    if not known:
        return _in_one_row(func, form.names[0], found)
    for name, argument in zip(form.names, form.arguments, strict=True):
        if name not in known:
            continue
        default = argument.default if argument.has_default else None
        value = found.get(name, default)
        takes_several = "[]" in str(argument.type)
        if value is None and not takes_several and name == "dim":
            return _in_one_row(func, form.names[0], found)
        if value is None or (isinstance(value, (list, tuple)) and not value):
            if not (of_all and takes_several and (value is None) == (default is None)):
                raise NotTogetherError
            value = list(range(rank))
        is_list = takes_several and not isinstance(value, (list, tuple))
        value = [value] if is_list else value
        is_several = isinstance(value, (list, tuple))
        found[name] = [behind(each, rank) for each in value] if is_several else behind(value, rank)
        if func.__name__ == "permute":
            found[name] = [0, *found[name]]
    self = found.pop(form.names[0])
    return func(self, **found)


def _in_one_row(func: EagerFunction, first: str, given: dict[str, Any]) -> object:
    """What is of all elements of a slice, where no dimension is named, of them in a row."""
    if given.get("keepdim") or all(form.names[1:2] != ["dim"] for form in func.forms):
        raise NotTogetherError
    rest = {name: each for name, each in given.items() if name not in (first, "dim", "keepdim")}
    made = func(given[first].flatten(1), 1, **rest)
    return made[0] if isinstance(made, tuple) else made


def _with_dims(func: EagerFunction, form: Form, given: dict[str, object]) -> Form:
    """The form of a fold that takes several dimensions, and all that another one takes, whose
    defaults are added to what is given."""
    for each in func.forms:
        kinds = {name: str(a.type) for name, a in zip(each.names, each.arguments, strict=True)}
        if "[]" in kinds.get("dim", "") and kinds.keys() > {*form.names[1:]}:
            for name, argument in zip(form.names, form.arguments, strict=True):
                if argument.has_default:
                    given.setdefault(name, argument.default)
            return each
    raise NotTogetherError


def _fits(form: Form, args: list[object], kwargs: dict[str, object]) -> bool:
    """Whether a form may be the one that arguments mean: all others than the tensor are plain."""
    if len(args) > form.positional and form.spread is None:
        return False
    if any(key not in form.names for key in kwargs):
        return False
    for name, each in zip(form.names[1:], args[1:], strict=False):
        place = form.names.index(name)
        kind = str(form.arguments[place].type)
        if _is_tensor(each) or isinstance(each, str) or kind == "Tensor" or "Dimname" in kind:
            return False
        if isinstance(each, bool) != (kind.rstrip("?") == "bool"):
            return False
        if isinstance(each, (list, tuple)) and "[" not in kind:
            return False
    required = [a for a in form.arguments if not a.has_default and not a.keyword_only]
    count = len(args) + sum(key in form.names for key in kwargs)
    return count >= len(required) or form.spread is not None


# --------------------------------------------------------------------------- sizes, products


def _sizes(func: EagerFunction, args: list[Any], kwargs: Mapping[str, object]) -> object:
    """Views of given sizes, behind the number of slices, or of the sizes of all."""
    if len(args) == 1 and isinstance(args[0], list):
        rank = max(map(rank_of, args[0]))
        return func([aligned(each, rank) for each in args[0]])
    if not _is_open(args[0]) or kwargs or not args[1:]:
        raise NotTogetherError
    name = func.__name__
    whole = args[0][0]
    if name.endswith("_as"):
        name, like = name.removesuffix("_as"), args[1]
        sizes = _slice_sizes(like)
    else:
        sizes = list(args[1]) if isinstance(args[1], (list, tuple)) else args[1:]
    if name == "view" and len(sizes) == 1 and isinstance(sizes[0], DType) and rank_of(args[0]):
        return whole.view(*sizes)
    if any(type(size) is not int for size in sizes) or (-1 in sizes and not whole.numel()):
        raise NotTogetherError
    if name in ("expand", "broadcast_to"):
        whole = at_rank(args[0], len(sizes))
    return getattr(whole, name)([whole.shape[0], *sizes])


def _views(func: EagerFunction, args: Sequence[object], kwargs: dict[str, object]) -> object:
    """What a view of each slice is of them all."""
    if not _is_open(args[0]) or any(map(_is_tensor, args[1:])):
        raise NotTogetherError
    return VIEWS[func.__name__](args[0][0], *args[1:], **kwargs)


def _refused(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> Never:
    raise RuntimeError(
        f"Error: aten::{func.__name__} requires special handling, and does not yet have a batching "
        "rule. Feel free to file a github issue!"
    )


def _products(func: EagerFunction, args: list[Any], kwargs: Mapping[str, object]) -> object:
    """Products of matrices broadcast; vectors are matrices of one row or column."""
    if (kwargs and func.__name__ != "addmm") or not all(map(_is_tensor, args)):
        raise NotTogetherError
    name, ranks = func.__name__, [rank_of(each) for each in args]
    if name == "linear" and len(args) == 2 and _is_open(args[0]) and not _is_open(args[1]):
        return func(args[0][0], args[1])
    if name == "linear" and len(args) == 3 and not _is_open(args[1]) and not _is_open(args[2]):
        return func(args[0][0], *args[1:])
    if name == "linear" and ranks[0] in (1, 2) and ranks[1] == 2:
        return _linear(args, ranks)
    if name in ("mm", "bmm"):
        fits = ranks == [2 + (name == "bmm")] * 2
        if not fits or (name == "bmm" and _slice_sizes(args[0])[0] != _slice_sizes(args[1])[0]):
            raise NotTogetherError
    if name in ("mm", "bmm") or (name == "matmul" and min(ranks) >= 2):
        return _matmul(*(aligned(each, max(ranks)) for each in args))
    if name == "addmm" and ranks[1:] == [2, 2] and ranks[0] in (1, 2):
        count = count_of(args)
        first, *pair = (for_each(each, count) for each in args)
        first = first.unsqueeze(1) if ranks[0] == 1 else first
        return aten.baddbmm(first, *pair, **kwargs)
    if name in ("outer", "ger") and ranks == [1, 1]:
        return whole_of(args[0]).unsqueeze(-1) * whole_of(args[1]).unsqueeze(-2)
    if name in ("mv", "matmul") and ranks == [2, 1]:
        return _matmul(whole_of(args[0]), whole_of(args[1]).unsqueeze(-1)).squeeze(-1)
    if name in ("dot", "inner", "matmul") and ranks == [1, 1]:
        return (whole_of(args[0]) * whole_of(args[1])).sum(-1)
    if name == "matmul" and ranks == [1, 2]:
        return _matmul(whole_of(args[0]).unsqueeze(-2), whole_of(args[1])).squeeze(-2)
    raise NotTogetherError


def _linear(args: list[Any], ranks: list[int]) -> object:
    weight = whole_of(args[1]).transpose(-1, -2)
    rows = whole_of(args[0])
    rows = rows.unsqueeze(-2) if ranks[0] == 1 else rows
    made = _matmul(rows, weight)
    made = made.squeeze(-2) if ranks[0] == 1 else made
    return made if len(args) < 3 else made + aligned(args[2], ranks[0])


_matmul: Final = aten.matmul

RULES: Final[dict[Family, Rule]] = {
    **{
        "elements": _elements,
        "dims": _dims,
        "folds": _folds,
        "sizes": _sizes,
        "views": _views,
        "products": _products,
        "refused": _refused,
    },
    **{"samples": samples, "convolutions": convolutions, "losses": losses},
    **{"classes": class_losses, **ALONG, **LEADING},
}
"""The rule of each family."""
