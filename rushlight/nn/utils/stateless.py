"""A module called with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...ops.tensors.tensor import Tensor
from ...ops.tensors.tracing import current_tracer
from ..modules.module import Module
from ._named_member_accessor import swap_tensors

__all__ = ["functional_call"]


def _named(module: Module) -> dict[str, Tensor]:
    """Parameters and buffers under all their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _untied(module: Module, given: Mapping[str, object]) -> dict[str, object]:
    """What is given for one name of a tensor, given for all names of it.

    Raises:
        ValueError: different values are given for one tensor.
    """
    by_tensor: dict[int, list[str]] = {}
    for name, tensor in _named(module).items():
        by_tensor.setdefault(id(tensor), []).append(name)
    untied = dict(given)
    for names in by_tensor.values():
        values = [given[name] for name in names if name in given]
        if len(names) > 1 and values:
            if any(value is not values[0] for value in values):
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted(names)}, which are "
                    "tied. Consider using tie_weights=False"
                )
            untied.update(dict.fromkeys(names, values[0]))
    return untied


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, object],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """Have other tensors in the module; what it puts in their places comes into the dict."""
    del stack_weights  # the order in which torch puts its own back; here all go back at once
    given = parameters_and_buffers
    untied = _untied(module, given) if tie_weights else given
    if strict:
        _check(module, untied, set(_named(module)))
    before = swap_tensors(module, untied.items())
    try:
        yield
    finally:
        after = swap_tensors(module, before.items())
        given.update({name: after[name] for name in given})


def _check(module: Module, given: Mapping[str, object], known: set[str]) -> None:
    unexpected, missing = sorted(set(given) - known), sorted(known - set(given))
    if unexpected or missing:
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        if unexpected:
            text += f"\n\tUnexpected key(s): {', '.join(map(repr, unexpected))}."
        if missing:
            text += f"\n\tMissing key(s): {', '.join(map(repr, missing))}."
        raise RuntimeError(text)


def _together(dicts: object) -> dict[str, object]:
    """One dict of several.

    Raises:
        ValueError: they share names, or one is no dict.
    """
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, "
            f"but got {type(dicts)}"
        )
    if not all(isinstance(some, dict) for some in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    times = Counter(name for some in dicts for name in some)
    if repeated := [name for name, many in times.items() if many > 1]:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return {name: value for some in dicts for name, value in some.items()}


def _functional_call(
    module: Module,
    parameter_and_buffer_dicts: object,
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What calls of both names do.  What the module puts in the tensors' places comes into the one
    dict; names that it has not are attributes for the time of the call."""
    given = _together(parameter_and_buffer_dicts)
    kind = "Jitted modules" if current_tracer() is not None else module._not_stateless
    if kind:
        raise RuntimeError(f"The stateless API can't be used with {kind}")
    positional = args if isinstance(args, tuple) else () if args is None else (args,)
    with _reparametrize_module(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: object,
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The older name of `torch.func.functional_call`."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be "
        "removed in a future version of PyTorch. Please use `torch.func.functional_call` instead "
        "which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
