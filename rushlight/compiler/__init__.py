"""`torch.compile` and `torch.compiler`: programs run as they are written.

rushlight compiles what is scripted; everything else is Python, and what would be compiled from
that gives the same values without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, TypeVar, overload

from ..frontend.foundations.chosen import Chosen
from ..module_names import names_of

__all__ = [
    *("allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin"),
    *("disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends"),
    *("get_default_backend", "nested_compile_region", "reset", "save_cache_artifacts"),
    *("set_default_backend", "set_enable_guard_collectives", "set_stance"),
    *("substitute_in_graph", "wrap_numpy"),
]

T = TypeVar("T")
Decorator = Callable[[T], T]


@overload
def compile(model: T, **options: object) -> T: ...
@overload
def compile(model: None = None, **options: object) -> Decorator[Any]: ...
def compile(model: object = None, **options: object) -> Any:
    """The function itself, or a module around the module; without one, a decorator.

    Modules become `torch._dynamo.OptimizedModule`, whose state dict has the names that torch
    gives it (`_orig_mod.…`).

    Args:
        fullgraph, dynamic, backend, mode, options, disable: taken; they change no value.

    Raises:
        RuntimeError: `mode` and `options` at once.
    """
    known = {"fullgraph", "dynamic", "backend", "mode", "options", "disable"}
    for name in options.keys() - known:
        raise TypeError(f"compile() got an unexpected keyword argument '{name}'")
    if options.get("mode") is not None and options.get("options") is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    return _compiled if model is None else _compiled(model)


def _compiled(function: object) -> object:
    if not isinstance(function, import_module("..nn", __name__).Module):
        return function
    made = import_module(".._dynamo.eval_frame", __name__).OptimizedModule
    is_compiled = isinstance(function, (made, import_module("..jit", __name__).ScriptModule))
    return function if is_compiled else made(function)


def _same(function: T) -> T:
    return function


def disable(fn: object = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself: it is not compiled anyway."""
    del recursive, reason
    return _same if fn is None else fn


_disable_dynamo = disable


def allow_in_graph(fn: T) -> T:
    """The function itself."""
    return fn


def assume_constant_result(fn: T) -> T:
    """The function itself, which is called each time."""
    return fn


def substitute_in_graph(original_fn: object, **options: object) -> Decorator[Any]:
    """A decorator that leaves the function as it is."""
    del original_fn, options
    return _same


def wrap_numpy(fn: T) -> T:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    """Whether `torch.compile` traces the program: it never does here."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether `torch.compile` reads the program: it never does here."""
    return False


def is_exporting() -> bool:
    """Whether `torch.export` traces the program: it never does here."""
    return False


def list_backends(exclude_tags: tuple[str, ...] = ()) -> list[str]:
    """The compilers there are to choose from: none."""
    del exclude_tags
    return []


def reset() -> None:
    """Forget what was compiled, which is nothing."""


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins, to whom nobody listens."""


@contextmanager
def _unchanged() -> Iterator[None]:
    yield


def set_stance(stance: str = "default", **options: object) -> Any:
    """How code that is not compiled yet shall be treated; it runs in any case.

    Raises:
        RuntimeError: not one of torch's stances.
    """
    del options
    known = {"default", "eager_on_recompile", "fail_on_recompile", "force_eager"}
    if stance not in known | {"aot_eager_then_compile", "eager_then_compile"}:
        raise RuntimeError(f"invalid torch.compile stance '{stance}'")
    return _unchanged()


_BACKEND: Final[Chosen[object]] = Chosen("inductor")


def get_default_backend() -> object:
    """The compiler that would be taken where none is named."""
    return _BACKEND.now


def set_default_backend(backend: object) -> None:
    """Choose it; None for torch's own."""
    _BACKEND.choose("inductor" if backend is None else backend)


def nested_compile_region(fn: object = None, **options: object) -> Any:
    """The function itself, which is compiled no more once than often."""
    del options
    return _same if fn is None else fn


def save_cache_artifacts() -> None:
    """What was compiled, as bytes: nothing was."""


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Say whether processes agree on what to compile; what was said before is returned."""
    return _COLLECTIVES.exchange(enabled)


_COLLECTIVES: Final = Chosen(False)
__getattr__ = names_of(__name__, "config")
