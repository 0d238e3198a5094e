"""`Module`: a tree of parameters, buffers and further modules with a `forward`.

Registration follows torch: a parameter, buffer or module that is assigned to an attribute goes to
one of the dicts `_parameters`, `_buffers` and `_modules`, which scripting and saving read.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from ...frontend.diagnostics.exceptions import trim_traceback
from ...ops.tensors.tensor import Parameter, Tensor
from ...ops.tensors.tracing import ACTIVE
from .. import backward_hooks, hooks
from .. import state as states
from ..backward_hooks import add_backward_hook
from ..backward_hooks import register_module_backward_hook as register_module_backward_hook
from ..backward_hooks import (
    register_module_full_backward_hook as register_module_full_backward_hook,
)
from ..backward_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from ..conversion import Conversions
from ..hooks import (
    Hook,
    RemovableHandle,
    add_hook,
    call_with_hooks,
    has_hooks,
    run_forward,
)
from ..hooks import WrappedHook as _WrappedHook
from ..hooks import register_module_forward_hook as register_module_forward_hook
from ..hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from ..members import Members
from ..parameter import Buffer
from ..registration import REGISTRATION_HOOKS, check_name, replaced, type_name
from ..registration import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from ..registration import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from ..registration import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)

__all__ = ["Module"]

_EXTRA_STATE_KEY_SUFFIX = states.EXTRA_STATE
_IncompatibleKeys = states.IncompatibleKeys
_global_parameter_registration_hooks = REGISTRATION_HOOKS["parameter"]
_global_buffer_registration_hooks = REGISTRATION_HOOKS["buffer"]
_global_module_registration_hooks = REGISTRATION_HOOKS["module"]

Self = TypeVar("Self", bound="Module")
Item = TypeVar("Item")
Given = ParamSpec("Given")
Result = TypeVar("Result", covariant=True)

_HOOK_TABLES = (
    *("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs"),
    *("_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"),
    *("_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks"),
    "_load_state_dict_post_hooks",
)


class HasForward(Protocol[Given, Result]):
    """A module, to type checkers that look at a call of it."""

    @property
    def forward(self) -> Callable[Given, Result]:
        """What a call runs."""


def _forward_unimplemented(self: Module, *input: object) -> None:
    """What a module computes; every class that is called defines this.

    Raises:
        NotImplementedError: this class does not.
    """
    name = type(self).__name__
    raise NotImplementedError(f'Module [{name}] is missing the required "forward" function')


class Module(Members, Conversions):
    """Base class of everything with parameters.  Subclasses call `super().__init__()` first."""

    dump_patches: bool = False
    call_super_init: bool = False
    """Whether `__init__` hands its arguments on to the next class, for multiple inheritance."""

    _version: int = 1
    _not_stateless: str = ""
    """What modules are called that cannot be called with other tensors than their own."""

    training: bool
    if TYPE_CHECKING:  # `Members` knows no modules; packages read annotations with names of theirs
        _modules: dict[str, Module | None]
        _state_dict_hooks: OrderedDict[int, Hook]
        _state_dict_pre_hooks: OrderedDict[int, Hook]
        _load_state_dict_pre_hooks: OrderedDict[int, Hook]

        forward: Callable[..., Any]

        def named_modules(
            self, memo: set[object] | None = None, prefix: str = "", remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Module]]: ...
        def modules(self, remove_duplicate: bool = True) -> Iterator[Module]: ...
        def named_children(self) -> Iterator[tuple[str, Module]]: ...
        def children(self) -> Iterator[Module]: ...
        def get_submodule(self, target: str) -> Module: ...
    else:
        forward = _forward_unimplemented

    def __init__(self, *args: object, **kwargs: object) -> None:
        if not self.call_super_init:
            _refuse(self, args, kwargs)
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        for table in _HOOK_TABLES:
            own[table] = OrderedDict()
        own["_is_full_backward_hook"] = None
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        for table in _HOOK_TABLES:  # objects pickled by older versions lack some
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # -- attributes ----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        found = own.get("_parameters")
        if found is not None and name in found:
            return found[name]
        found = own.get("_modules")
        if found is not None and name in found:
            return found[name]
        found = own.get("_buffers")
        if found is not None and name in found:
            return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            _need(self, "_parameters", "parameters")
            _forget(self, name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(_wrong(value, "parameter", name, "torch.nn.Parameter"))
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            _need(self, "_modules", "module")
            _forget(self, name, "_parameters", "_buffers")
            own["_modules"][name] = replaced("module", self, name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(_wrong(value, "child module", name, "torch.nn.Module"))
            own["_modules"][name] = None
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            _set_buffer(self, name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                self.__dict__["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        tables = (self._parameters, self._modules, self._buffers)
        names = chain(dir(type(self)), self.__dict__, *tables)
        return sorted({name for name in names if not name[:1].isdigit()})

    # -- registration --------------------------------------------------------------------------

    def register_parameter(self, name: str, param: object) -> None:
        """Add a parameter, or a place for one.

        Raises:
            TypeError: the name is no string, or `param` neither a Parameter nor None.
            KeyError: the name is empty, holds a dot or is taken.
        """
        _need(self, "_parameters", "parameter")
        check_name(self, name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            given = f"cannot assign '{type_name(param)}' object to parameter '{name}'"
            raise TypeError(f"{given} (torch.nn.Parameter or None required)")
        self._parameters[name] = replaced("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: object, persistent: bool = True) -> None:
        """Add a tensor that is state but not trained; only persistent ones are saved.

        Raises:
            TypeError: the name is no string, or `tensor` neither a Tensor nor None.
            KeyError: the name is empty, holds a dot or is taken.
        """
        _need(self, "_buffers", "buffer")
        check_name(self, name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            given = f"cannot assign '{type_name(tensor)}' object to buffer '{name}'"
            raise TypeError(f"{given} (torch Tensor or None required)")
        self._buffers[name] = replaced("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child, or a place for one.

        Raises:
            TypeError: the name is no string, or `module` neither a Module nor None.
            KeyError: the name is empty, holds a dot or is taken.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        _need(self, "_modules", "module")
        check_name(self, name, "module", self._modules)
        self._modules[name] = replaced("module", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    # -- mode -----------------------------------------------------------------------------------

    def train(self: Self, mode: bool = True) -> Self:
        """Set training mode here and below.

        Raises:
            ValueError: `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Leave training mode here and below."""
        return self.train(False)

    def apply(self: Self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` on every module below, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # -- state dicts ---------------------------------------------------------------------------

    get_extra_state = states.get_extra_state
    set_extra_state = states.set_extra_state

    def state_dict(
        self,
        *args: Any,
        destination: states.StateDict | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> states.StateDict:
        """Parameters and persistent buffers by dotted name, detached unless `keep_vars`.

        The dict's `_metadata` says the version of every module in it.  Positional arguments are an
        older way to give the others, in their order.
        """
        if args:
            given: tuple[object, ...] = destination, prefix, keep_vars
            destination, prefix, keep_vars = tuple(args) + given[len(args) :]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for before in self._state_dict_pre_hooks.values():
            before(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                child.state_dict(destination=destination, prefix=below, keep_vars=keep_vars)
        for after in self._state_dict_hooks.values():
            changed = after(self, destination, prefix, metadata)
            if changed is not None:
                if getattr(after, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = changed
        return destination

    def _save_to_state_dict(
        self, destination: states.StateDict, prefix: str, keep_vars: bool
    ) -> None:
        """Put this module's own state, without its children's, into `destination`."""
        states.save_own(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, object], strict: bool = True, assign: bool = False
    ) -> states.IncompatibleKeys:
        """Copy values into parameters and buffers by name (or put them there, if `assign`).

        Raises:
            TypeError: `state_dict` is not a mapping.
            RuntimeError: shapes differ, or keys are missing or left over and `strict` is set.
        """
        return states.load_all(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self,
        state_dict: states.StateDict,
        prefix: str,
        local_metadata: states.Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this module's own state, without its children's, from `state_dict`."""
        found = (missing_keys, unexpected_keys, error_msgs)
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, *found)
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        lists = (missing_keys, unexpected_keys if strict else [], error_msgs)
        states.load_own(self, state_dict, prefix, assign, *lists)

    # -- calling and hooks ---------------------------------------------------------------------

    def _call_impl(self, *args: object, **kwargs: object) -> Any:
        try:
            if has_hooks(self):
                return call_with_hooks(self, args, kwargs)
            if ACTIVE:
                return run_forward(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except BaseException as error:
            trim_traceback(error)
            raise

    _wrapped_call_impl = _call_impl
    """The second name by which packages call a module from a `__call__` of their own."""

    if TYPE_CHECKING:  # a call takes and gives what `forward` does

        def __call__(
            self: HasForward[Given, Result], *args: Given.args, **kwargs: Given.kwargs
        ) -> Result: ...

    else:
        __call__ = _call_impl

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns replaces the arguments."""
        flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return add_hook(self._forward_pre_hooks, hook, *flags, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after `forward`; what it returns replaces the result.

        With `always_call` it is called even if `forward` raises, with None for the result.
        """
        flags = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            flags.append(self._forward_hooks_always_called)
        return add_hook(self._forward_hooks, hook, *flags, prepend=prepend)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` reads this module."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As `register_state_dict_post_hook`; what it returns replaces the state dict.

        Raises:
            RuntimeError: the hook was registered as one that returns nothing.
        """
        if getattr(hook, "_from_public_api", False):
            only = "Cannot register the same function as the state dict post hook"
            raise RuntimeError(
                f"{only} that was previously registered via register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, ...)` with the arguments of `_load_from_state_dict` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        """Call `hook` with the arguments of `_load_from_state_dict`, the module first if asked."""
        return add_hook(
            self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None)
        )

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the arguments are
        known; what it returns replaces them.

        Raises:
            RuntimeError: the module has hooks of the old kind.
        """
        return add_backward_hook(self, hook, full=True, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients of the arguments are computed;
        what it returns replaces those of the results."""
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The old kind of `register_full_backward_hook`: sees the last operator's gradients.

        Raises:
            RuntimeError: the module has full hooks.
        """
        return add_backward_hook(self, hook, full=False)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the two lists."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    # -- text ----------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the module's own text."""
        return ""

    def _repr_html_(self) -> str:
        """What notebooks show: the layers with their parameters, inner ones folded away."""
        notebook = import_module("...pictures.notebook", __package__)
        text: str = notebook.module_html(self)
        return text

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        children = [f"({n}): {_addindent(repr(m), 2)}" for n, m in self._modules.items()]
        if not children and len(extra_lines) <= 1:
            return f"{self._get_name()}({extra})"
        return "\n  ".join([f"{self._get_name()}(", *extra_lines, *children]) + "\n)"


def _refuse(module: Module, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
    """`Module.__init__` takes no arguments; say so under the name of the user's class."""
    method = f"{type(module).__name__}.__init__()"
    for name in kwargs:
        raise TypeError(f"{method} got an unexpected keyword argument '{name}'")
    if args:
        given = len(args) + 1
        raise TypeError(f"{method} takes 1 positional argument but {given} were given")


def _set_buffer(module: Module, name: str, value: object) -> None:
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(_wrong(value, "buffer", name, "torch.nn.Buffer, torch.Tensor"))
    if isinstance(value, Buffer):
        _need(module, "_buffers", "buffer")
        _forget(module, name, "_parameters", "_modules")
        # Users' own methods need not know of the argument where it says what holds anyway.
        module.register_buffer(name, value, *(() if value.persistent else (False,)))
    else:
        module._buffers[name] = replaced("buffer", module, name, value)


def _need(module: Module, table: str, what: str) -> None:
    if table not in module.__dict__:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")


def _forget(module: Module, name: str, *tables: str) -> None:
    """Drop a name from the object's dict and from the given tables."""
    module.__dict__.pop(name, None)
    for table in tables:
        module.__dict__[table].pop(name, None)
    module.__dict__["_non_persistent_buffers_set"].discard(name)


def _wrong(value: object, what: str, name: str, wanted: str) -> str:
    return f"cannot assign '{type_name(value)}' as {what} '{name}' ({wanted} or None expected)"


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first moved in."""
    return s_.replace("\n", "\n" + " " * numSpaces)


class _HooksOfAll(ModuleType):
    """This module with the tables of hooks for all modules, which programs read and exchange."""


def _kept_in(keeper: ModuleType, name: str) -> property:
    return property(lambda _: getattr(keeper, name), lambda _, table: setattr(keeper, name, table))


for _keeper in (backward_hooks, hooks):
    for _name in vars(_keeper):
        if _name.startswith("_global_"):
            setattr(_HooksOfAll, _name, _kept_in(_keeper, _name))
sys.modules[__name__].__class__ = _HooksOfAll
