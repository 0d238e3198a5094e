"""A module called with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...ops.tensors.tensor import Tensor
from ..modules.module import Module

__all__ = ["call_with", "functional_call"]


def _places(module: Module) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Where the tensors lie: a tensor under several names, each with all places of it."""
    names: dict[str, tuple[dict[str, object], str]] = {}
    for path, inner in module.named_modules(remove_duplicate=False):
        for table in (inner._parameters, inner._buffers):
            for name, value in table.items():
                if value is not None:
                    names[f"{path}.{name}" if path else name] = (table, name)
    return {key: [place] for key, place in names.items()}


def _tied(places: dict[str, list[tuple[dict[str, object], str]]]) -> None:
    """Let names of one tensor stand for all its places."""
    by_tensor: dict[int, list[tuple[dict[str, object], str]]] = {}
    for found in places.values():
        table, name = found[0]
        by_tensor.setdefault(id(table[name]), []).append((table, name))
    for found in places.values():
        table, name = found[0]
        found[:] = by_tensor[id(table[name])]


@contextmanager
def _exchanged(
    module: Module, given: Mapping[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    places = _places(module)
    if strict:
        _check(module, given, set(places))
    if tie_weights:
        _tied(places)
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for key, value in given.items():
            for table, name in places.get(key, ()):
                before.append((table, name, table[name]))
                table[name] = value
        yield
    finally:
        for table, name, value in reversed(before):
            table[name] = value


def _check(module: Module, given: Mapping[str, Tensor], known: set[str]) -> None:
    unexpected, missing = sorted(set(given) - known), sorted(known - set(given))
    if unexpected or missing:
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        if unexpected:
            text += f"\n\tUnexpected key(s): {', '.join(map(repr, unexpected))}."
        if missing:
            text += f"\n\tMissing key(s): {', '.join(map(repr, missing))}."
        raise RuntimeError(text)


def call_with(
    module: Module,
    parameters_and_buffers: Any,
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with tensors by name in place of its own; several dicts count as one.

    Raises:
        RuntimeError: `strict` is set, and names are missing or unknown.
    """
    given: dict[str, Tensor] = {}
    several = isinstance(parameters_and_buffers, list | tuple)
    for some in parameters_and_buffers if several else [parameters_and_buffers]:
        given.update(some)
    positional = args if isinstance(args, tuple) else () if args is None else (args,)
    with _exchanged(module, given, tie_weights, strict):
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
    return call_with(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
