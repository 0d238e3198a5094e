"""What `Module` says about the modules, parameters and buffers in it, by dotted names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..ops.tensors.tensor import Parameter, Tensor
from .handles import Hook

__all__ = ["Members"]

Item = TypeVar("Item")


class Members:
    """The part of `Module` that walks the tree."""

    if TYPE_CHECKING:  # what every module has; `Module` says and makes it
        _modules: Mapping[str, Members | None]
        _parameters: dict[str, Parameter | None]
        _buffers: dict[str, Tensor | None]
        _non_persistent_buffers_set: set[str]
        _backward_pre_hooks: OrderedDict[int, Hook]
        _backward_hooks: OrderedDict[int, Hook]
        _is_full_backward_hook: bool | None
        _forward_hooks: OrderedDict[int, Hook]
        _forward_hooks_with_kwargs: OrderedDict[int, bool]
        _forward_hooks_always_called: OrderedDict[int, bool]
        _forward_pre_hooks: OrderedDict[int, Hook]
        _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
        _load_state_dict_post_hooks: OrderedDict[int, Hook]
        forward: Callable[..., Any]

        def get_extra_state(self) -> object: ...
        def set_extra_state(self, state: object) -> None: ...

        _load_from_state_dict: Callable[..., None]

    def named_modules(
        self, memo: set[object] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Members]]:
        """This module and all below it, depth first, with dotted names; each once by default."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, below, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Members]:
        """This module and all below it."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Members]]:
        """The modules directly below this one, each once."""
        return _once(((n, m) for n, m in self._modules.items() if m is not None), True)

    def children(self) -> Iterator[Members]:
        """The modules directly below this one, each once."""
        return (module for _, module in self.named_children())

    def _named_members(
        self,
        get_members: Callable[[Members], Iterable[tuple[str, Item | None]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Item]]:
        modules: Iterable[tuple[str, Members]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        members = (
            (f"{path}.{name}" if path else name, member)
            for path, module in modules
            for name, member in get_members(module)
            if member is not None
        )
        return _once(members, remove_duplicate)

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with dotted names; a shared one once, under its first name."""

        def own(module: Members) -> Iterable[tuple[str, Parameter | None]]:
            return module._parameters.items()

        return self._named_members(own, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with dotted names; a shared one once, under its first name."""

        def own(module: Members) -> Iterable[tuple[str, Tensor | None]]:
            return module._buffers.items()

        return self._named_members(own, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Members:
        """The module of a dotted name; `""` is this one.

        Raises:
            AttributeError: there is none of that name, or it is something else.
        """
        module = self
        for name in target.split(".") if target else ():
            found = _named(module, name)
            if not isinstance(found, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = found
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name.

        Raises:
            AttributeError: there is none of that name, or it is something else.
        """
        path, _, name = target.rpartition(".")
        found = _named(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name; None where one is registered as None.

        Raises:
            AttributeError: there is none of that name, or it is something else.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        _named(module, name)
        buffers: Mapping[str, Any] = module._buffers
        if name not in buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        found: Tensor = buffers[name]
        return found

    def set_submodule(self, target: str, module: Members, strict: bool = False) -> None:
        """Put a module in the place of a dotted name.

        With `strict` there must be a module there already.

        Raises:
            ValueError: the name is empty, or `module` is no Module.
            AttributeError: a module on the way does not exist, or something else has the name.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(_named(parent, name), Members):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)


def _named(module: object, name: str) -> object:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)


def _once(named: Iterable[tuple[str, Item]], remove_duplicate: bool) -> Iterator[tuple[str, Item]]:
    """The pairs whose second part, compared by identity, has not come yet."""
    seen: set[int] = set()
    for name, item in named:
        if not remove_duplicate or id(item) not in seen:
            seen.add(id(item))
            yield name, item
