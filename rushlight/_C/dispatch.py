"""The keys that torch dispatches by: names that libraries of operators register kernels for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from enum import Enum
from typing import Any

from ..ops.eager.open_operators import below_autograd
from ..ops.table.autocast import autocast_state, set_autocast_state
from ..ops.tensors.dispatched import undispatched
from ..ops.tensors.overriding import STATE

__all__ = [
    *("DispatchKey", "DispatchKeySet", "Tag", "_AutoDispatchBelowAutograd"),
    *("_DisableFuncTorch", "_DisableTorchDispatch", "_ExcludeDispatchKeyGuard"),
]

_BACKENDS = "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 " \
    "PrivateUse3 Meta".split()  # fmt: skip
_FAMILIES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
_ALONE = """Undefined CompositeExplicitAutogradNonFunctional CompositeExplicitAutograd
CompositeImplicitAutogradNestedTensor CompositeImplicitAutograd AutogradNestedTensor AutogradOther
Autograd Conjugate ZeroTensor Negative BackendSelect ADInplaceOrView PythonTLSSnapshot Python
FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode FuncTorchBatchedDecomposition
FuncTorchBatched FuncTorchVmapMode FuncTorchGradWrapper PythonDispatcher PreDispatch Functionalize
AutocastCPU AutocastMPS AutocastXPU AutocastHPU AutocastIPU AutocastCUDA AutocastPrivateUse1 Dense
Quantized Sparse SparseCsr NestedTensor AutogradFunctionality""".split()
_TAGS = """core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout
generated inplace inplace_view maybe_aliasing_or_mutating needs_contiguous_strides
needs_exact_strides needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out
out_variant pointwise pt2_compliant_tag reduction view_copy""".split()


_KEYS = [*_ALONE, *(family + backend for family in _FAMILIES for backend in _BACKENDS)]


class _Named(Enum):
    """Prints as torch's enumerations do."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_named: Any = _Named
DispatchKey: Any = _named("DispatchKey", _KEYS, module=__name__)
Tag: Any = _named("Tag", _TAGS, module=__name__)
DispatchKey.__doc__ = "What torch's dispatcher chooses kernels by; names alone here."
Tag.__doc__ = "What is said of an operator, as `torch.library` takes it."


class _DisableTorchDispatch:
    """A block in which no mode and no class is asked for operators, below gradients."""

    def __enter__(self) -> None:
        below = STATE.below
        with ExitStack() as entered:
            if below is not None:
                entered.enter_context(below.apart(len(below.stack)))
            entered.enter_context(undispatched())
            self._apart = entered.pop_all()

    def __exit__(self, *raised: Any) -> None:
        self._apart.close()


class _DisableFuncTorch:
    """A block outside the levels of `torch.func`.

    Tensors know their levels themselves, so a call on plain ones is outside of them anyway.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: Any) -> None:
        pass


class DispatchKeySet:
    """Some keys, joined by `|`."""

    def __init__(self, *keys: Any) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys - other._keys))

    def __iter__(self) -> Iterator[object]:
        return iter(self._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def has(self, key: object) -> bool:
        """Whether a key is among them."""
        return key in self._keys

    def add(self, key: object) -> DispatchKeySet:
        """These and one more."""
        return DispatchKeySet(*self._keys, key)

    def remove(self, key: object) -> DispatchKeySet:
        """These without one."""
        return DispatchKeySet(*(self._keys - {key}))

    def __repr__(self) -> str:
        order = {name: place for place, name in enumerate(DispatchKey.__members__)}
        names = sorted((key.name for key in self._keys), key=lambda name: order[name])
        return f"DispatchKeySet({', '.join(names)})"


class _ExcludeDispatchKeyGuard:
    """A block in which the kernels of some keys are not called; those for autocast matter here."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self._keys = keys

    def __enter__(self) -> None:
        self._before = autocast_state()
        if self._keys.has(DispatchKey.AutocastCPU):
            set_autocast_state(self._before.switched("cpu", False))

    def __exit__(self, *raised: Any) -> None:
        set_autocast_state(self._before)


class _AutoDispatchBelowAutograd:
    """A block in which operators run their own kernels, and record nothing."""

    def __enter__(self) -> None:
        self._block = below_autograd()
        self._block.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._block.__exit__(*raised)
