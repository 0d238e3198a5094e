"""The ways of pruning: hooks that make a parameter times its mask anew before every call.

The parameter `name` becomes `name_orig`, its mask the buffer `name_mask`, and `name` their product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..modules.module import Module
from .pruning_amounts import (
    Amount,
    check_amount,
    count_of,
    count_slices,
    norm_of_slices,
    without,
    without_slices,
)

__all__ = [
    "Amount",
    "hook_of",
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
]

_ones_like: Callable[..., Tensor] = eager_function("aten::ones_like")
_rand: Callable[..., Tensor] = eager_function("aten::rand")
_rand_like: Callable[..., Tensor] = eager_function("aten::rand_like")


class BasePruningMethod(ABC):
    """The hook that makes the pruned parameter anew; its kinds say which elements stay."""

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: object) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for scores `t` of what `default_mask` has kept so far."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter of the module with zeros where its mask has them."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, orig = getattr(module, name + "_mask"), getattr(module, name + "_orig")
        kept: Tensor = mask.to(dtype=orig.dtype) * orig
        return kept

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: object,
        importance_scores: Tensor | None = None,
        **kwargs: object,
    ) -> BasePruningMethod:
        """Prune the parameter `name` of the module (more, if it is pruned); the hook.

        Args:
            module: whose parameter it is.
            name: its name.
            args: how much, and what else the method takes.
            importance_scores: what decides, of the parameter's shape; None: the parameter itself.

        Raises:
            AssertionError: the scores have another shape.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        key, before = hook_of(module, name)
        fresh = before is None
        if before is not None:
            earlier = before if isinstance(before, PruningContainer) else [before]
            method = PruningContainer(*earlier, method)
        orig = getattr(module, name)  # what earlier methods took counts as zero
        if importance_scores is None:
            importance_scores = orig
        elif importance_scores.shape != orig.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}, got {importance_scores.shape} vs {orig.shape}"
            )
        old = None if fresh else getattr(module, name + "_mask")
        old = _ones_like(orig).detach() if old is None else old.detach().clone()
        mask = method.compute_mask(importance_scores, default_mask=old)
        if fresh:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
        else:
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """The tensor with zeros where the method puts them; no module is changed.

        Raises:
            AssertionError: the scores have another shape.
        """
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, "
                f"got {importance_scores.shape} vs {t.shape}"
            )
        kept = _ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=kept)

    def remove(self, module: Module) -> None:
        """Make the pruned parameter a parameter again, its zeros in it."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        assert isinstance(orig, Tensor)
        orig.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


def hook_of(module: Module, name: str) -> tuple[Any, BasePruningMethod | None]:
    """The hook that prunes this parameter, after its key; None if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None, None


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter: each chooses among what those before it have kept."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add one.

        Raises:
            TypeError: it is no pruning method.
            ValueError: it is for another parameter.
        """
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What the newest method keeps of what the others have kept.

        Raises:
            ValueError: its `PRUNING_TYPE` is none of unstructured, structured and global.
        """
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        chosen = _still_there(method, t, mask)
        part = method.compute_mask(t[chosen], default_mask=mask[chosen])
        result = mask.clone()
        result[chosen] = part.to(dtype=mask.dtype)
        return result


def _still_there(method: Any, t: Tensor, mask: Tensor) -> object:
    """The elements, or slices, from which the method chooses."""
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        return mask == 1
    if kind == "global":
        return slice(None)
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    dim = method.dim % t.dim()
    left = mask.sum([d for d in range(t.dim()) if d != dim]) != 0
    return (*[slice(None)] * dim, left)


class Identity(BasePruningMethod):
    """Keeps everything; for its names alone."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> BasePruningMethod:  # type: ignore[override]
        """Put the hook on the module."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Takes single elements by chance; `amount` is a share (float) or a number (int)."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Amount) -> None:
        check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with `amount` elements fewer."""
        count = count_of(self.amount, t.numel())
        return without(default_mask, _rand_like(t), count, largest=True)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Amount) -> BasePruningMethod:  # type: ignore[override]
        """Put the hook on the module."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Takes the single elements nearest to zero; `amount` is a share (float) or a number (int)."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Amount) -> None:
        check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with `amount` elements fewer."""
        count = count_of(self.amount, t.numel())
        return without(default_mask, t.abs(), count, largest=False)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """Put the hook on the module."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Takes whole slices along `dim` by chance."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        check_amount(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with `amount` slices fewer."""
        count = count_slices(t, self.amount, self.dim)
        scores = _rand([t.shape[self.dim]])
        return without_slices(default_mask, scores, t.shape[self.dim] - count, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Amount, dim: int = -1
    ) -> BasePruningMethod:
        """Put the hook on the module."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Takes the whole slices along `dim` whose norm (of order `n`) is least."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: float | str, dim: int = -1) -> None:
        check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with `amount` slices fewer.

        Raises:
            IndexError: there is no such dimension.
        """
        count = count_slices(t, self.amount, self.dim)
        scores = norm_of_slices(t.detach(), self.n, self.dim)
        return without_slices(default_mask, scores, t.shape[self.dim] - count, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Module,
        name: str,
        amount: Amount,
        n: float | str,
        dim: int,
        importance_scores: Tensor | None = None,
    ) -> BasePruningMethod:
        """Put the hook on the module."""
        scores = importance_scores
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=scores)


class CustomFromMask(BasePruningMethod):
    """Keeps what a mask of one's own keeps."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask where one's own has ones.

        Raises:
            AssertionError: the shapes are not alike.
        """
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match "
                f"self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        """Put the hook on the module."""
        return super().apply(module, name, mask=mask)
