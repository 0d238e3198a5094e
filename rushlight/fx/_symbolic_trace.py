"""`torch.fx._symbolic_trace`: running a function on proxies to get its graph."""

from __future__ import annotations

import copy
import inspect
import math
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Self, cast

from .._C import ScriptObject
from ..frontend.foundations.loaded_names import loaded_name
from ..frontend.foundations.locks import DEFINING
from ..jit.special_names import _assert
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..ops.random_numbers.random import Generator
from ..ops.tensors.tensor import Tensor
from ..utils import _pytree as pytree
from ._codegen import _PyTreeCodeGen, _PyTreeInfo
from ._lazy_graph_module import _make_graph_module
from ._patching import Patcher, autowrap, is_tracing, patch_wrapped, register_wrapped, tracing
from ._patching import _find_proxy as _find_proxy
from ._patching import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from ._patching import _wrapped_methods_to_patch as _wrapped_methods_to_patch
from .graph import Graph
from .graph_module import TRACER, GraphModule
from .node import Argument
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TraceError, TracerBase

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]

_OWN: Final = f"{__name__.partition('.')[0]}."
_proxyable_classes: Final[dict[type, None]] = {}
_constant_attribute_types: Final = (Tensor, ScriptObject, Generator)
ConcreteArgs = dict[str, object] | tuple[object, ...] | None


class PHBase:
    """In `concrete_args`: what is here stays an input."""

    def __repr__(self) -> str:
        return "PH"


class PHWithMeta(PHBase):
    """An input whose node gets this object's attributes."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


PH = PHBase()


class ProxyableClassMeta(type):
    """The class of classes whose construction from proxies becomes a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, object]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        instance: object = cast(Any, cls).__new__(cls, *args, **kwargs)
        if not is_tracing():
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


def _assert_is_none(value: object, msg: str) -> None:
    assert value is None, msg


def is_fx_tracing() -> bool:
    """Whether a tracer is at work."""
    return is_tracing()


def is_fx_symbolic_tracing() -> bool:
    """Whether a tracer is at work."""
    return is_tracing()


# ----------------------------------------------------------------------------------- Tracer


class Tracer(TracerBase):
    """Makes the graph of a module or function by running it on proxies.

    Args:
        autowrap_modules: modules whose functions become nodes: `math`.
        autowrap_functions: further functions that do.
        param_shapes_constant: the shapes of parameters are what they are now.
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType] = (math,),
        autowrap_functions: tuple[Callable[..., object], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_functions = {id(f): f for f in autowrap_functions}
        for module in autowrap_modules:
            public = (f for name, f in vars(module).items() if not name.startswith("_"))
            self._autowrap_functions |= {id(f): f for f in public if callable(f)}
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        for module in self._autowrap_search:
            memo[id(module)] = module  # Python's modules have no copies
        made = object.__new__(type(self))
        memo[id(self)] = made
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made

    # -- arguments -----------------------------------------------------------------------------

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that the traced module has no attribute of: the prefix and a number."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a: object) -> Argument:
        """A value as the argument of a node; tensors and parameters are read from the module.

        Raises:
            NameError: a parameter is not the module's.
            NotImplementedError: a node cannot hold values of this type.
        """
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, tuple) and hasattr(a, "_fields"):
            made = tuple(self.create_arg(each) for each in a)
            return self.create_node("call_function", type(a), made, {})
        if isinstance(a, _constant_attribute_types):
            return self.create_node("get_attr", self._constant_name(a), (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _constant_name(self, value: object) -> str:
        """The attribute of the traced module that holds a value; a new one if none does."""
        found: str | None = self.tensor_attrs.get(value)
        if found is None:
            if isinstance(value, Tensor):
                prefix = "_tensor_constant"
            else:
                prefix = "_opaque_obj" if isinstance(value, Generator) else "_torchbind_obj"
            found = self.get_fresh_qualname(prefix)
            self.tensor_attrs[value] = found
            setattr(self.root, found, value)
        return found

    # -- modules -------------------------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of the module is one node; torch's own are, but for Sequential, and
        compiled ones."""
        from ..jit import ScriptModule
        from ..nn.modules.container import Sequential

        del module_qualified_name
        module = type(m).__module__
        own = module.startswith((f"{__name__.partition('.')[0]}.nn", "torch.nn"))
        return (own and not isinstance(m, Sequential)) or isinstance(m, ScriptModule)

    def path_of_module(self, mod: Module) -> str:
        """The name of a module below the traced one.

        Raises:
            NameError: it is not there.
        """
        if self.submodule_paths is not None:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, below in self.root.named_modules():
            if mod is below:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(
        self,
        m: Module,
        forward: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Any:
        """What a call of a module below becomes: a node, or the nodes of its own code."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = f"{scope.module_path}@{calls}" if calls else scope.module_path
            self.module_stack[key] = (scope.module_path, scope.module_type)
            self.num_calls[path] = calls + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val: object, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What reading an attribute of a module gives: for parameters a proxy."""
        del attr
        if isinstance(attr_val, Parameter):
            found = self._read(attr_val, self.root.named_parameters(), parameter_proxy_cache)
            if found is not None:
                return found
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self._read(attr_val, self.root.named_buffers(), parameter_proxy_cache)
            if found is not None:
                return found
        return attr_val

    def _read(
        self, value: Tensor, named: Iterable[tuple[str, Tensor]], cache: dict[str, Proxy]
    ) -> Proxy | None:
        for name, each in named:
            if each is not value:
                continue
            if name not in cache:
                options: dict[str, Any] = {}
                if self.param_shapes_constant and isinstance(value, Parameter):
                    makes = inspect.signature(self.create_proxy).parameters
                    if "proxy_factory_fn" in makes:  # subclasses of before need not take it
                        known = partial(ParameterProxy, self, name=name, param=value)
                        options["proxy_factory_fn"] = known
                cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
            return cache[name]
        return None

    # -- tracing -------------------------------------------------------------------------------

    def create_args_for_root(
        self,
        root_fn: Callable[..., object],
        is_module: bool,
        concrete_args: ConcreteArgs = None,
    ) -> tuple[Any, list[Any]]:
        """Inputs for a function's parameters, and the function that takes them.

        Raises:
            AssertionError: it is no function of Python.
            RuntimeError: a method has no `self`, or a tuple of concrete values another length
                than the parameters.
        """
        function = inspect.unwrap(root_fn)
        if not hasattr(function, "__code__"):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        code = function.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:total])
        args: list[object] = []
        first = 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            first = 1
            args.append(self.root)
        several = len(concrete_args) if isinstance(concrete_args, tuple) else 0
        if several and total == 1 and code.co_flags & inspect.CO_VARARGS:
            inputs = [self._placeholder(f"input_{i}", ()) for i in range(several)]
            return root_fn, [*args, *inputs]
        concrete = _by_name(concrete_args, names[first:])
        defaults = inspect.signature(function).parameters
        args += [self._input(name, defaults[name].default, concrete) for name in names[first:]]
        if any(not _is_flat(concrete.get(name)) for name in names[first:]):
            return self._of_containers(root_fn, args, names)
        after = total
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag:
                args.append(self._placeholder(f"{stars}{code.co_varnames[after]}", ()))
                after += 1
        if root_fn is not function:
            return _undecorated(root_fn, code), args
        return _with_stars(function, code, len(args)), args

    def _placeholder(self, name: str, default: tuple[object, ...]) -> Proxy:
        kind = self._annotations.get(name)
        return self.create_proxy("placeholder", name, default, {}, type_expr=kind)

    def _input(self, name: str, default: object, concrete: Mapping[str, object]) -> object:
        """What the function gets for a parameter."""
        given = () if default is inspect.Parameter.empty else (default,)
        if name not in concrete:
            return self._placeholder(name, given)
        return _Specialized(self, name, given).of(concrete[name])

    def _of_containers(
        self, function: Callable[..., object], args: Sequence[object], names: list[str]
    ) -> tuple[object, list[object]]:
        """The function of leaves, and these: some arguments hold several inputs."""
        own = args[:1] if args and args[0] is self.root else []
        flat, spec = pytree.tree_flatten(tuple(args))
        below = flat
        if own:
            spec = pytree.TreeSpec(tuple, None, spec.children_specs[1:])
            below = flat[1:]
        codegen = _PyTreeCodeGen(_PyTreeInfo(names[-len(args) + len(own) :], spec, None))
        self.graph._codegen = codegen

        def of_leaves(*leaves: object) -> object:
            result = function(*own, *pytree.tree_unflatten(leaves[len(own) :], spec))
            values, out_spec = pytree.tree_flatten(result)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return values

        return of_leaves, [*own, *below]

    def trace(
        self,
        root: Module | Callable[..., object],
        concrete_args: dict[str, object] | None = None,
    ) -> Graph:
        """The graph of a module's `forward`, or of a function.

        Meanwhile other threads may call modules, but trace and script only afterwards.

        Args:
            concrete_args: values of parameters that stay as they are; where one is a container,
                `PH` in it stands for an input.

        Raises:
            TraceError: the code depends on values that are inputs.
            NameError: it calls a module or uses a parameter that is not below `root`.
        """
        function = self._begin(root)
        self._annotations = _annotations(function)
        called, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        with DEFINING, Patcher() as patcher, tracing():
            self._patch(patcher, function)
            result = self.create_arg(called(*args))
            kind = self._annotations.get("return")
            self.create_node("output", "output", (result,), {}, type_expr=kind)
        self.submodule_paths = None
        return self.graph

    def _begin(self, root: Module | Callable[..., object]) -> Callable[..., object]:
        """Take hold of what is traced."""
        function = root
        self.root = root if isinstance(root, Module) else Module()
        if isinstance(root, Module):
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in "
                    f"{type(root).__name__}"
                )
            function = getattr(type(root), self.traced_func_name)
            self.root_module_name = type(root).__name__
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        if hasattr(function, "__code__"):
            code = function.__code__
            self.graph._co_fields = {
                "co_name": code.co_name,
                "co_filename": code.co_filename,
                "co_firstlineno": code.co_firstlineno,
            }
        self.tensor_attrs = _tensors_below(self.root)
        return function

    def _patch(self, patcher: Patcher, function: Callable[..., object]) -> None:
        from ..jit import RecursiveScriptModule

        cache: dict[str, Proxy] = {}
        read = Module.__getattr__

        def traced(call: Callable[..., object]) -> Callable[..., object]:
            def called(module: Module, *args: object, **kwargs: object) -> object:
                if not is_tracing():  # another thread: the class is that of all
                    return call(module, *args, **kwargs)

                def forward(*args: object, **kwargs: object) -> Any:
                    return call(module, *args, **kwargs)

                scope = getattr(getattr(module, "forward", None), "__globals__", {})
                autowrap(patcher, scope, self._autowrap_functions)
                return self.call_module(module, forward, args, kwargs)

            return called

        def attribute(module: Module, name: str) -> object:
            found = read(module, name)
            return self.getattr(name, found, cache) if is_tracing() else found

        patcher.patch_method(Module, "__getattr__", attribute)
        for kind in (Module, RecursiveScriptModule):  # which has a call of its own
            patcher.patch_method(kind, "__call__", traced(cast(Any, kind).__call__))
        patch_wrapped(patcher)
        names = getattr(inspect.unwrap(function), "__globals__", {})
        autowrap(patcher, names, self._autowrap_functions)
        for module in self._autowrap_search:
            autowrap(patcher, vars(module), self._autowrap_functions)


TRACER.install(Tracer)


class _Specialized:
    """Inputs in the place of one parameter with a concrete value."""

    def __init__(self, tracer: Tracer, name: str, default: tuple[object, ...]) -> None:
        self._tracer = tracer
        self._name = name
        self._default = default
        self._count = 0

    def of(self, value: object) -> object:
        """The value with its `PH` replaced by inputs; all else is checked when the graph runs."""
        return pytree.tree_map(self._leaf, value)

    def _leaf(self, value: object) -> object:
        self._count += 1
        made = self._tracer._placeholder(f"{self._name}_{self._count}", self._default)
        if isinstance(value, PHBase):
            for key, said in vars(value).items():
                if not hasattr(made.node, key):
                    setattr(made.node, key, said)
            return made
        if type(value) is bool or isinstance(value, (int, float, str)):
            self._check(_assert, cast(Any, made) == value, str(value))
        elif value is None:
            self._check(_assert_is_none, made, "None")
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {self._name} to "
                "specialized function. It is up to the user to make sure that your inputs match "
                "the inputs you specialized the function with.",
                stacklevel=6,
            )
        return value

    def _check(self, function: Callable[..., object], given: Proxy, value: str) -> None:
        said = f"{self._name} has been specialized to have value {value} but got another value"
        self._tracer.create_proxy("call_function", function, (given, said), {})


def _by_name(concrete_args: ConcreteArgs, names: list[str]) -> dict[str, object]:
    if not isinstance(concrete_args, tuple):
        return concrete_args or {}
    if len(names) != len(concrete_args):
        raise RuntimeError(
            f"Tracing expected {len(names)} arguments but got {len(concrete_args)} concrete "
            "arguments"
        )
    return dict(zip(names, concrete_args, strict=True))


def _is_flat(value: object) -> bool:
    return bool(pytree.tree_structure(value).is_leaf())


def _annotations(function: object) -> dict[str, object]:
    """A function's annotations; in our own files these are texts, and told as what they mean."""
    found = dict(getattr(function, "__annotations__", {}))
    names = getattr(function, "__globals__", {})
    if loaded_name(names).startswith(_OWN):
        for name, text in found.items():
            try:
                found[name] = eval(text, names) if isinstance(text, str) else text
            except NameError:  # a name for type checkers alone
                continue
    return found


def _undecorated(decorated: Callable[..., object], code: CodeType) -> Callable[..., object]:
    """A function whose decorator is traced with it, called with the parameters in their order.

    Raises:
        TraceError: it takes `*args` or `**kwargs`, of which a decorator makes what it likes.
    """
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        raise TraceError(
            f"{code.co_name}() has a decorator and takes *args or **kwargs: trace the function "
            "that it decorates (inspect.unwrap)"
        )
    positional, count = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    keywords = code.co_varnames[positional:count]

    def called(*args: object) -> object:
        return decorated(*args[:positional], **dict(zip(keywords, args[positional:], strict=True)))

    return called


def _with_stars(function: Callable[..., object], code: CodeType, count: int) -> object:
    """The function, called with its parameters in the order of its code, stars last."""
    positional = code.co_argcount
    keywords = code.co_varnames[positional : positional + code.co_kwonlyargcount]
    if not keywords and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return function
    # What `*args` and `**kwargs` are bound to are proxies, which a call cannot spread: a copy of
    # the function has them as plain parameters.
    starless = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    plain = code.replace(co_argcount=count, co_kwonlyargcount=0, co_flags=starless)
    made = FunctionType(
        plain, function.__globals__, function.__name__, closure=function.__closure__
    )
    return made


def _tensors_below(root: Module) -> dict[object, str]:
    """The names of the tensors that a module and those below hold as plain attributes."""
    found: dict[object, str] = {}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, _constant_attribute_types):
                found[value] = f"{path}.{name}" if path else name
    return found


# --------------------------------------------------------------------------------- public


def wrap(fn_or_name: str | Callable[..., object]) -> str | Callable[..., Any]:
    """Have calls of a function of this module become nodes; a decorator, or given the name.

    Raises:
        RuntimeError: it is given something else.
        NotImplementedError: it is not called at the top level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    current = inspect.currentframe()
    frame = current.f_back if current is not None else None
    if frame is None or frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    register_wrapped(frame.f_globals, name)
    return fn_or_name


def symbolic_trace(
    root: Module | Callable[..., object], concrete_args: dict[str, object] | None = None
) -> GraphModule:
    """The graph of a module or function, as a module that computes it.

    Args:
        concrete_args: values of parameters that stay as they are; where one is a container, `PH`
            in it stands for an input.

    Raises:
        TraceError: the code depends on values that are inputs.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


register_wrapped(globals(), "_assert_is_none")
