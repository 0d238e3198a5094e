"""Parameters that are functions of others: `module.weight` is computed when it is read.

Scripted modules of this kind are refused when they run, as in torch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...frontend.foundations.locks import fork_safe_lock
from ...module_names import names_of
from ...ops.table.grad_mode import no_grad
from ...ops.tensors.tensor import Parameter, Tensor
from ...ops.tensors.tracing import current_tracer
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..sizes import is_scripting

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_TENSORS_WANTED = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."


_cache_enabled = 0
"""How many blocks of `cached` are entered; packages enter some by this name (bitsandbytes)."""

_cache: dict[tuple[int, str], tuple[Module, Tensor]] = {}
"""The tensors that were computed there."""

_COUNTING = fork_safe_lock()


@contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once."""
    _count_blocks(1)
    try:
        yield
    finally:
        _count_blocks(-1)


def _count_blocks(more: int) -> None:
    global _cache, _cache_enabled
    with _COUNTING:
        _cache_enabled += more
        if not _cache_enabled:
            _cache = {}


class ParametrizationList(ModuleList):
    """The functions of one tensor, in order, and what the first of them is given.

    That is `original`, or `original0`, `original1`, ... if the inverse of the first function gives
    several tensors.
    """

    original: Tensor
    unsafe: bool

    def __init__(
        self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False
    ) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new: object = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with suppress(NotImplementedError):  # it has none for this value
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(f"{_TENSORS_WANTED} Got {type(new).__name__}")
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            if original.dtype is not new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\n"
                    f"right_inverse(original).dtype: {new.dtype}"
                )
            if new is not original and isinstance(original, Parameter):
                original.data = new.detach()
                new = original
            _register(self, "original", new)
        else:
            for number, tensor in enumerate(new):
                if not isinstance(tensor, Tensor):
                    raise ValueError(
                        f"{_TENSORS_WANTED} Got element {number} of the sequence with type "
                        f"{type(tensor).__name__}."
                    )
                kept = tensor
                if isinstance(original, Parameter) and not isinstance(tensor, Parameter):
                    kept = Parameter(tensor.detach(), original.requires_grad)
                _register(self, f"original{number}", kept)

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{number}") for number in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the functions give `value`."""
        new = value.detach()
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            with no_grad():
                new = module.right_inverse(new)
        self._check_inverse(new)
        for place, tensor in zip(self._originals(), [new] if self.is_tensor else new, strict=True):
            if place.dtype is not tensor.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {tensor.dtype} while "
                    f"`original` has dtype {place.dtype}"
                )
            place.data = tensor.detach()

    def _check_inverse(self, new: object) -> None:
        """See that the inverse gives as many tensors as there are originals."""
        if self.is_tensor:
            if not isinstance(new, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(new).__name__}"
                )
            return
        if not isinstance(new, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}."
            )
        if len(new) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(new)}."
            )
        for number, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {number} of type {type(tensor).__name__}."
                )

    def forward(self) -> Tensor:
        """The tensor itself."""
        if is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        first, *rest = list(self)
        result: Tensor = first(*self._originals())
        for module in rest:
            result = module(result)
        return result


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrized tensor, or the one of that name is."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def type_before_parametrizations(module: Module) -> type:
    """The class a module had before anything of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def _parametrized_class(module: Module) -> None:
    """Give a module a class of its own, which properties can be put on."""
    cls = type(module)

    def getstate(self: object) -> object:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    def deepcopy(self: object, memo: dict[int, object]) -> object:
        made = self.__new__(self.__class__)
        memo[id(self)] = made
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        made.__class__ = type(f"Parametrized{cls.__name__}", (cls,), dict(vars(type(self))))
        return made

    members = {"__getstate__": getstate, "__deepcopy__": deepcopy}
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _add_property(module: Module, name: str) -> None:
    def read(self: Any) -> Tensor:
        if is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        functions = self.parametrizations[name]
        if not _cache_enabled:
            result: Tensor = functions()
            return result
        if current_tracer() is not None:
            raise RuntimeError("Cannot trace a model while caching parametrizations.")
        key = id(self), name  # the module is kept, so that no other gets its number
        if key not in _cache:
            _cache[key] = self, functions()
        return _cache[key][1]

    def write(self: Any, value: Tensor) -> None:
        if is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer be what `parametrization` makes of it.

    Raises:
        ValueError: the module has no such tensor, or, unless `unsafe`, the result has another
            shape or dtype.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions: ParametrizationList = module.parametrizations[tensor_name]
        if not unsafe:
            _check_appended(module, tensor_name, parametrization)
        functions.append(parametrization)
        functions.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    original: Tensor = getattr(module, tensor_name)
    before = original.detach()  # the inverse may give the parameter other contents
    functions = ParametrizationList([parametrization], original, unsafe=unsafe)
    if not unsafe:
        result: object = functions()
        if not isinstance(result, Tensor):
            raise ValueError(
                f"A parametrization must return a tensor. Got {type(result).__name__}."
            )
        _check_kept(
            "Registering a parametrization may not change the {} of the tensor, unless `unsafe` "
            "flag is enabled.\n",
            ("unparametrized {}: {}\n", before),
            ("parametrized {}: {}", result),
        )
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _parametrized_class(module)
        module.parametrizations = ModuleDict()
    _add_property(module, tensor_name)
    module.parametrizations[tensor_name] = functions
    return module


def _check_appended(module: Module, name: str, parametrization: Module) -> None:
    """See that one more parametrization keeps what the tensor is, and its inverse as well."""
    before = getattr(module, name)
    result = parametrization(before)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    ending = ", unless the `unsafe` flag is enabled.\n"
    _check_kept(
        f"Registering a parametrization may not change the {{}} of the tensor{ending}",
        (f"module.{name}.{{}}: {{}}\n", before),
        (f"parametrization(module.{name}).{{}}: {{}}", result),
    )
    if not hasattr(parametrization, "right_inverse"):
        return
    inverse = parametrization.right_inverse(result)
    if not isinstance(inverse, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}"
        )
    _check_kept(
        "The tensor returned by parametrization.right_inverse must have the same {} as module."
        f"{name}{ending}",
        (f"module.{name}.{{}}: {{}}\n", before),
        ("returned {}: {}", inverse),
    )


def _check_kept(sentence: str, *tensors: tuple[str, Tensor]) -> None:
    """See that two tensors are alike in dtype and shape; each comes with its line of the error."""
    (_, first), (_, second) = tensors
    for what in ("dtype", "shape"):
        if getattr(first, what) != getattr(second, what):
            lines = "".join(line.format(what, getattr(tensor, what)) for line, tensor in tensors)
            raise ValueError(sentence.format(what) + lines)


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one: what it is now, or what it was computed from.

    Raises:
        ValueError: it is not parametrized, or several tensors would have to be left.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions: ParametrizationList = module.parametrizations[tensor_name]
    if leave_parametrized:
        value = functions().detach()
        kept: Tensor = functions._originals()[0]
        if functions.is_tensor and isinstance(kept, Parameter):
            kept.data = value  # the parameter there was before
        else:
            kept = Parameter(value, kept.requires_grad) if isinstance(kept, Parameter) else value
    elif functions.is_tensor:
        kept = functions.original
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, kept)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give a module the parametrizations of another one, and the values they work on."""
    if not is_parametrized(from_module):
        return to_module
    names = [tensor_name] if tensor_name is not None else list(from_module.parametrizations)
    for name in names:
        source: ParametrizationList = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for function in source:
            register_parametrization(to_module, name, function)
        target: ParametrizationList = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
            continue
        for number in range(source.ntensors):
            setattr(target, f"original{number}", getattr(source, f"original{number}"))
    return to_module


__getattr__ = names_of(__name__)
