"""State dicts: what a module's parameters and buffers are worth, by name.

The functions work on one module at a time; `Module.state_dict` and `Module.load_state_dict` walk
the tree.  Keys and error texts are torch's.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Parameter, Tensor
from .members import Members
from .parameter import is_lazy
from .replacement import REPLACEMENT, swap_tensors

__all__ = [
    "EXTRA_STATE",
    "IncompatibleKeys",
    "Metadata",
    "StateDict",
    "get_extra_state",
    "load_all",
    "load_own",
    "own_state",
    "save_own",
    "set_extra_state",
]

StateDict: TypeAlias = dict[str, Any]
"""Tensors by dotted names, and what modules keep beside them."""
Metadata: TypeAlias = dict[str, Any]
"""What is noted of a module's state: its version, and what hooks add."""

EXTRA_STATE = "_extra_state"
"""The key of what `Module.get_extra_state` gives."""


_HOOK_RESULT = (
    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
    "values, if incompatible_keys need to be modified, it should be done inplace."
)


_COPIED_TO_META = (
    "copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
    "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
    "to their corresponding key in the module instead of copying them in place?)"
)


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` did not find, and what it had no place for."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self.missing_keys, self.unexpected_keys
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"

    __str__ = __repr__


def own_state(module: Members) -> Iterator[tuple[str, Tensor]]:
    """The module's own parameters and persistent buffers that are not None."""
    yield from ((n, p) for n, p in module._parameters.items() if p is not None)
    skipped = module._non_persistent_buffers_set
    yield from ((n, b) for n, b in module._buffers.items() if b is not None and n not in skipped)


def get_extra_state(module: Members) -> object:
    """What goes into the state dict beside tensors; a class may override this.

    Raises:
        RuntimeError: the class does not override it.
    """
    raise RuntimeError(
        f"{type(module).__name__} has no extra state: get_extra_state is not defined"
    )


def set_extra_state(module: Members, state: object) -> None:
    """Take back what `get_extra_state` gave; a class that overrides that overrides this.

    Raises:
        RuntimeError: the class does not override it.
    """
    raise RuntimeError(
        f"{type(module).__name__} takes no extra state: set_extra_state is not defined"
    )


def save_own(module: Members, destination: dict[str, object], prefix: str, keep_vars: bool) -> None:
    """Put the module's own state into `destination`."""
    for name, tensor in own_state(module):
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if type(module).get_extra_state is not get_extra_state:
        destination[prefix + EXTRA_STATE] = module.get_extra_state()


def load_all(
    module: Members, given: Mapping[str, object], strict: bool, assign: bool
) -> IncompatibleKeys:
    """Let every module of the tree take its own state from `given`.

    Raises:
        TypeError: `given` is not a mapping.
        RuntimeError: shapes differ, or keys are missing or left over and `strict` is set.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    found = IncompatibleKeys([], [])
    errors: list[str] = []
    state = OrderedDict(given)
    metadata = getattr(given, "_metadata", None)
    if metadata is not None:
        state._metadata = metadata  # type: ignore[attr-defined]
    _load_below(module, state, "", metadata or {}, assign, found, errors)
    if strict:
        words = ("Missing", found.missing_keys), ("Unexpected", found.unexpected_keys)
        errors = [*(_listed(word, keys) for word, keys in words if keys), *errors]
    if errors:
        lines = "\n\t".join(errors)
        name = type(module).__name__
        raise RuntimeError(f"Error(s) in loading state_dict for {name}:\n\t{lines}")
    return found


def _load_below(
    module: Members,
    state: StateDict,
    prefix: str,
    metadata: Mapping[str, Mapping[str, object]],
    assign: bool,
    found: IncompatibleKeys,
    errors: list[str],
) -> None:
    """Let a module and those below it take their own; each is given what its prefix begins."""
    local = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(state, prefix, local, True, *found, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {key: value for key, value in state.items() if key.startswith(below)}
            _load_below(child, part, below, metadata, assign, found, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, found) is not None:
            raise AssertionError(_HOOK_RESULT)


def _listed(word: str, keys: list[str]) -> str:
    listed = ", ".join(f'"{key}"' for key in keys)
    return f"{word} key(s) in state_dict: {listed}. "


def load_own(
    module: Members,
    state: Mapping[str, object],
    prefix: str,
    assign: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    """Take the module's own state from `state`; what does not fit goes to the three lists."""
    own = dict(own_state(module))
    for name, tensor in own.items():
        key = prefix + name
        if key in state:
            _load_tensor(module, name, key, tensor, state[key], assign, errors)
        else:
            missing.append(key)
    _load_extra_state(module, state, prefix + EXTRA_STATE, missing, unexpected)
    for key in state:
        if key.startswith(prefix) and key != prefix + EXTRA_STATE:
            first, dot, _ = key[len(prefix) :].partition(".")
            if first not in (module._modules if dot else own):
                unexpected.append(key)


def _load_extra_state(
    module: Members,
    state: Mapping[str, object],
    key: str,
    missing: list[str],
    unexpected: list[str],
) -> None:
    if type(module).set_extra_state is not set_extra_state:
        if key in state:
            module.set_extra_state(state[key])
        else:
            missing.append(key)
    elif key in state:
        unexpected.append(key)


def _load_tensor(
    module: Members,
    name: str,
    key: str,
    tensor: Tensor,
    given: object,
    assign: bool,
    errors: list[str],
) -> None:
    """Copy `given` into `tensor`, or put it in its place if `assign`."""
    if not isinstance(given, Tensor):
        errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    if not is_lazy(tensor):
        if tensor.dim() == 0 and given.dim() == 1 and given.shape[0] == 1:
            given = given[0]  # written so by versions of torch that had no 0-dim tensors
        if tensor.shape != given.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from "
                f"checkpoint, the shape in current model is {tensor.shape}."
            )
            return
    if tensor.is_meta and not given.is_meta and not assign:
        warnings.warn(f"for {key}: {_COPIED_TO_META}", stacklevel=2)
    try:
        if REPLACEMENT.swap:
            _swap(tensor, given, assign)
        elif assign:
            setattr(module, name, _like(tensor, given))
        else:
            with no_grad():
                tensor.copy_(given)
    except Exception as error:  # reported with the other keys' faults
        action = "swapping" if REPLACEMENT.swap else "copying"
        errors.append(
            f'While {action} the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.size()} and whose dimensions in the checkpoint are {given.size()}, "
            f"an exception occurred : {error.args}."
        )


def _like(tensor: Tensor, given: Tensor) -> Tensor:
    """`given` as a parameter that requires a gradient as `tensor` does, if that is one."""
    if not isinstance(tensor, Parameter):
        return given
    if not isinstance(given, Parameter):
        return Parameter(given, requires_grad=tensor.requires_grad)
    return given.requires_grad_(tensor.requires_grad)


def _swap(tensor: Tensor, given: Tensor, assign: bool) -> None:
    """Let `tensor` be what its class makes of `given`, and stay the same object.

    Raises:
        RuntimeError: its `module_load` gives back one of the two.
    """
    with no_grad():
        loaded: Tensor = tensor.module_load(given, assign=assign)
    if loaded is tensor or loaded is given:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() the result if returning "
            "one of the inputs in module_load"
        )
    swap_tensors(tensor, _like(tensor, loaded))
