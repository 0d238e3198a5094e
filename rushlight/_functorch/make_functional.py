"""Modules as functions, the older way: what `functional_call` and `stack_module_state` replaced."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..nn.utils.stateless import _functional_call
from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]


def create_names_map(
    named: dict[str, Tensor], tied_named: dict[str, Tensor]
) -> dict[str, list[str]]:
    """All names of each tensor, by the first."""
    first = {id(tensor): name for name, tensor in named.items()}
    names: dict[str, list[str]] = {name: [] for name in named}
    for name, tensor in tied_named.items():
        names[first[id(tensor)]].append(name)
    return names


def _without_data(model: Module) -> Module:
    """A copy of a module whose tensors have no memory; what is tied stays tied."""
    tensors: list[Tensor] = [*model.parameters(), *model.buffers()]
    bare: Module = copy.deepcopy(model, {id(tensor): _on_meta(tensor) for tensor in tensors})
    return bare


def _on_meta(tensor: Tensor) -> Tensor:
    made: Tensor = eager_function("aten::empty_like")(tensor, device="meta")
    return Parameter(made, tensor.requires_grad) if isinstance(tensor, Parameter) else made


class _Stateless(Module):
    """A module without state, called with what belongs under its names."""

    stateless_model: Module

    def _call(
        self,
        names: dict[str, list[str]],
        given: Iterable[Tensor],
        args: object,
        kwargs: Mapping[str, object],
    ) -> Any:
        """Call the module with one tensor for all names of each; too few leave names alone."""
        pairs = zip(names.values(), given, strict=False)
        tensors = {name: tensor for tied, tensor in pairs for name in tied}
        return _functional_call(self.stateless_model, tensors, args, kwargs, tie_weights=False)


class FunctionalModule(_Stateless):
    """What `make_functional` gives: called with parameters, then with the inputs."""

    def __init__(
        self, stateless_model: Module, param_names: tuple[str, ...], names_map: dict[str, list[str]]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    @classmethod
    def _create_from(
        cls, model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[Self, tuple[Tensor, ...]]:
        named, names = _parameters(model)
        made = cls(_without_data(model), tuple(named), names)
        return made, _taken_out(named.values(), disable_autograd_tracking)

    def forward(self, params: Iterable[Tensor], *args: object, **kwargs: object) -> Any:
        return self._call(self.names_map, params, args, kwargs)


class FunctionalModuleWithBuffers(_Stateless):
    """What `make_functional_with_buffers` gives: called with parameters, buffers and inputs."""

    def __init__(
        self,
        stateless_model: Module,
        param_names: tuple[str, ...],
        buffer_names: tuple[str, ...],
        param_names_map: dict[str, list[str]],
        buffer_names_map: dict[str, list[str]],
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    @classmethod
    def _create_from(
        cls, model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[Self, tuple[Tensor, ...], tuple[Tensor, ...]]:
        named, names = _parameters(model)
        buffers = dict(model.named_buffers())
        buffer_names = create_names_map(buffers, dict(model.named_buffers(remove_duplicate=False)))
        made = cls(_without_data(model), tuple(named), tuple(buffers), names, buffer_names)
        parameters = _taken_out(named.values(), disable_autograd_tracking)
        return made, parameters, tuple(copy.deepcopy(list(buffers.values())))

    def forward(
        self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: object, **kwargs: object
    ) -> Any:
        return self._call(self.all_names_map, [*params, *buffers], args, kwargs)


def _parameters(model: Module) -> tuple[dict[str, Tensor], dict[str, list[str]]]:
    named: dict[str, Tensor] = dict(model.named_parameters())
    return named, create_names_map(named, dict(model.named_parameters(remove_duplicate=False)))


def _taken_out(parameters: Iterable[Tensor], without_gradients: bool) -> tuple[Tensor, ...]:
    copies = copy.deepcopy(list(parameters))
    if without_gradients:
        for each in copies:
            each.requires_grad_(False)
    return tuple(copies)


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """A function of a module's parameters and inputs, and copies of the parameters.

    Args:
        model: a module without buffers; it stays as it is.
        disable_autograd_tracking: whether the copies want no gradients.

    Raises:
        RuntimeError: the module has buffers.
    """
    if len(list(model.buffers())):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A function of a module's parameters, buffers and inputs, and copies of both.

    Args:
        model: a module; it stays as it is.
        disable_autograd_tracking: whether the copies of parameters want no gradients.
    """
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """One function for modules of one kind, with their parameters and buffers stacked.

    Raises:
        RuntimeError: there are none, or they differ in kind or in mode.
    """
    begin = "combine_state_for_ensemble: Expected"
    if len(models) == 0:
        raise RuntimeError(f"{begin} at least one model, got 0.")
    if len({each.training for each in models}) > 1:
        raise RuntimeError(f"{begin} all models to have the same training/eval mode.")
    if any(type(each) is not type(models[0]) for each in models):
        raise RuntimeError(f"{begin} all models to be of the same class.")
    parts = [make_functional_with_buffers(each) for each in models]
    function = parts[0][0]
    return function, _stacked([part[1] for part in parts]), _stacked([part[2] for part in parts])


def _stacked(states: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    stack = eager_function("aten::stack")
    return tuple(stack([each.detach() for each in column]) for column in zip(*states, strict=True))
