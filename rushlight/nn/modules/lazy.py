"""Modules whose sizes follow from the first input they see."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]

if TYPE_CHECKING:
    from .module import Module

    _Base = Module
else:
    _Base = object


class LazyModuleMixin(_Base):
    """Put before a module class, whose parameters are then uninitialized until the first call.

    `initialize_parameters` gives them their sizes; after that the object is one of the class
    `cls_to_become`.
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters sizes and values, from the arguments of the first call.

        Raises:
            NotImplementedError: this class does not say how.
        """
        name = type(self).__name__
        raise NotImplementedError(f"initialize_parameters is not implemented for {name}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no size yet."""
        tables = self._parameters.values(), self._buffers.values()
        return any(is_lazy(tensor) for tensor in itertools.chain(*tables))

    def _save_to_state_dict(
        self, destination: dict[str, object], prefix: str, keep_vars: bool
    ) -> None:
        skipped = self._non_persistent_buffers_set
        own = itertools.chain(
            self._parameters.items(), ((n, b) for n, b in self._buffers.items() if n not in skipped)
        )
        for name, tensor in own:
            if tensor is not None:
                kept = is_lazy(tensor) or keep_vars
                destination[prefix + name] = tensor if kept else tensor.detach()

    def _lazy_load_hook(self, state_dict: Mapping[str, Any], prefix: str, *_: object) -> None:
        """Give uninitialized tensors the sizes of those that will be loaded into them."""
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(tensor) and not is_lazy(given):
                tensor.materialize(given.shape)  # type: ignore[union-attr]

    def _infer_parameters(
        self, module: Module, args: tuple[object, ...], kwargs: dict[str, object] | None = None
    ) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
