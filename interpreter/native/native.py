"""Native code for functions over numbers and lists of numbers, once they have proved to be hot.

What a function spends in its plan is added up; past a limit numba compiles it, in a thread of its
own, and plans go on until that is done.  Native code that cannot finish a call (an operator would
fail, a list is empty) gives up without having touched anything outside, and the plan does the call.

The environment variable `RUSHLIGHT_NATIVE` set to `off` switches this off; `now` compiles
everything at its first call.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from functools import cache
from importlib.util import find_spec
from itertools import accumulate, chain, count
from time import perf_counter
from typing import Any, Final

import numpy as np

from ...frontend.locks import after_fork, fork_safe_lock
from ...frontend.started import started
from ...typecheck.types import BOOL, FLOAT, INT, Type
from ..code.code import Code
from ..failures.errors import is_from_outside
from ..plans.compiling import NATIVE_VARIABLE
from ..plans.plan import Plan
from .kinds import Kind
from .source import DONE, FAILED, STOPPED, NativeSource, write_native

__all__ = ["NATIVE_VARIABLE", "Native", "native_of"]

MOST: Final = 300
"""Functions that become native in a process: LLVM keeps about 0.2 MB of each for ever."""

SPENT: Final = 0.2
"""Seconds in its plan that make a function hot: less than compiling it takes."""

LONGEST: Final = 400
"""Instructions; longer code would take numba too long."""

MISSES: Final = 8
"""Calls that native code may give up before it is given up itself."""

TRIALS: Final = 5
"""Calls with lists that are timed: to hand lists over may cost more than the plan does."""

REFUSALS: Final = (ArithmeticError, MemoryError, TypeError, ValueError)
"""What native code raises for numbers beyond 64 bits or without memory: the plan knows what to say.
Anything else comes from the handler of a signal."""

ROUNDS: Final = 20_000_000
"""Rounds of loops after which a call is long: some hundredths of a second."""

_DTYPES: Final[dict[Type, type[np.generic]]] = {INT: np.int64, FLOAT: np.float64, BOOL: np.bool_}


def native_of(code: Code, arguments: Sequence[Type]) -> Native | None:
    """What makes native code of a code when it is hot; None if there never will be any."""
    mode = os.environ.get(NATIVE_VARIABLE, "").lower()
    if mode == "off" or not code.has_loop or len(code.instructions) > LONGEST:
        return None
    if not all(map(_is_number, arguments)):
        return None
    if any("Tensor" in entry.schema for entry in code.operators):
        return None
    return Native(code, arguments, 0.0 if mode == "now" else SPENT)


def _is_number(type: Type) -> bool:
    while type.list_of is not None:
        type = type.list_of
    return type in (INT, FLOAT, BOOL)


class _Stage(Enum):
    """How calls are done, and what is on the way."""

    COLD = auto()
    """In the plan; what they take is added up."""

    PLAN = auto()
    """In the plan: native code is being compiled, or does not pay."""

    TRIAL = auto()
    """Natively, and timed: it has to be quicker than the plan was."""

    HOT = auto()
    """Natively."""


class Native:
    """The native code of a code, to be."""

    def __init__(self, code: Code, arguments: Sequence[Type], limit: float) -> None:
        self._code = code
        self._arguments = arguments
        self._limit = limit
        self._spent = 0.0
        self._calls = 0
        self._misses = 0
        self._trials = 0
        self._stage = _Stage.COLD
        self._is_long = False
        self._run: Callable[..., tuple[int, Any]] = _unready
        self._convert: list[Callable[[Any], Any]] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether calls run natively now."""
        return self._stage in (_Stage.TRIAL, _Stage.HOT)

    def call(self, plan: Plan, values: Sequence[object]) -> Any:
        """The result on machine values."""
        if self._stage is _Stage.COLD and not self._limit:
            self._begin()
        if self._stage is _Stage.HOT:
            status, result = self._run_natively(values)
            if status == DONE:
                return result
            self._misses += 1
            if self._misses >= MISSES and self._limit:
                self._give_up()
        elif self._stage is _Stage.COLD:
            return self._timed(plan, values)
        elif self._stage is _Stage.TRIAL:
            return self._tried(plan, values)
        return plan.run(*values)

    def _give_up(self) -> None:
        self._stage, self._run = _Stage.PLAN, _unready

    def _run_natively(self, values: Sequence[object]) -> Any:
        """The status and the result; what takes long runs in a thread beside this one.

        Native code looks at no signals: Python's handlers run here, while this thread waits.
        """
        run = self._run
        try:
            if self._convert is not None:
                values = self._given(values)
            if not self._is_long:
                found = run(ROUNDS, _NEVER, *values)
                if found[0] != STOPPED:
                    return found
        except REFUSALS as error:
            if is_from_outside(error):
                raise
            return FAILED, None
        began = perf_counter()
        found = _beside(run, values)
        self._is_long = perf_counter() - began > 0.001
        return found

    def _given(self, values: Sequence[object]) -> list[object]:
        assert self._convert is not None
        return [change(value) for change, value in zip(self._convert, values, strict=True)]

    def _timed(self, plan: Plan, values: Sequence[object]) -> object:
        began = perf_counter()
        result = plan.run(*values)
        self._spent += perf_counter() - began
        self._calls += 1
        if self._spent >= self._limit:
            self._begin()
        return result

    def _tried(self, plan: Plan, values: Sequence[object]) -> Any:
        """A call that is timed; if none of a few pays, plans go on."""
        began = perf_counter()
        status, result = self._run_natively(values)
        if status == DONE and perf_counter() - began < self._spent / max(1, self._calls):
            if self._stage is _Stage.TRIAL:  # another thread may have given it up meanwhile
                self._stage = _Stage.HOT
            return result
        self._trials += 1
        if self._trials >= TRIALS:
            self._give_up()
        return result if status == DONE else plan.run(*values)

    # ------------------------------------------------------------------ compiling

    def _begin(self) -> None:
        """Compile, in a thread of its own unless it is to be done now."""
        with _BEGINNING:
            if self._stage is not _Stage.COLD:
                return
            self._stage = _Stage.PLAN
        source = write_native(self._code, self._arguments)
        if source is None or find_spec("numba") is None or next(_BEGUN) > MOST:
            return
        if not self._limit:
            self._compile(source)
            return
        thread = threading.Thread(
            target=self._compile, args=(source,), name="rushlight-native", daemon=False
        )
        _UNDER_WAY.append(self)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down
            _UNDER_WAY.remove(self)

    def _compile(self, source: NativeSource) -> None:
        try:
            run = compile_native(source)
        except Exception:
            if not self._limit:  # whoever asks for it now wants to know
                raise
        else:
            if source.takes_lists:
                self._convert = [_change(kind) for kind in source.arguments]
            self._run = run
            tried = source.takes_lists and self._limit
            self._stage = _Stage.TRIAL if tried else _Stage.HOT
        finally:
            if self in _UNDER_WAY:
                _UNDER_WAY.remove(self)


def _unready(*given: object) -> tuple[int, object]:
    """What stands for native code that is not there: the plan does the call."""
    return FAILED, None


_BEGINNING: Final = fork_safe_lock()
_BEGUN: Final = count(1)
_UNDER_WAY: Final[list[Native]] = []
"""What threads are compiling."""


def _begin_anew() -> None:
    """In a forked child, where those threads are not."""
    for native in _UNDER_WAY:
        native._stage = _Stage.COLD
    _UNDER_WAY.clear()


after_fork(_begin_anew)


_ZERO: Final = np.zeros(1, np.int64)
_NEVER: Final = _ZERO.ctypes.data
"""The address of a number that stays 0."""


def _beside(run: Callable[..., object], values: Sequence[object]) -> Any:
    """What native code gives in a thread of its own, which ends when this one is interrupted.

    In a child that a signal's handler forked that thread is not, and there it begins anew.
    """
    stop, found = np.zeros(1, np.int64), list[Any]()
    try:
        while not found:
            done = threading.Lock()  # an Event has a lock inside, which a fork might find taken
            done.acquire()
            thread = _begun(run, values, stop, found, done)
            if thread is None:
                return _refusing(run, _NEVER, values)
            while not done.acquire(timeout=0.05) and thread.is_alive():
                pass
    finally:
        stop[0] = 1
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _begun(
    run: Callable[..., object], values: Sequence[object], stop: Any, found: list[object], done: Any
) -> threading.Thread | None:
    """A thread that runs native code; None if there are no more, or Python is shutting down."""

    def work() -> None:
        try:
            found.append(_refusing(run, stop.ctypes.data, values))
        except BaseException as error:
            found.append(error)
        finally:
            done.release()

    return started("rushlight-hot", work)


def _refusing(run: Callable[..., object], stop: int, values: Sequence[object]) -> object:
    try:
        return run(1 << 62, stop, *values)
    except REFUSALS as error:
        if is_from_outside(error):
            raise
        return FAILED, None


def _change(kind: Kind) -> Callable[[Any], object]:
    """What makes of a machine value of a kind what native code takes."""
    if kind.is_scalar:
        return _same
    dtype = _DTYPES[_number_of(kind).type]
    if kind.is_rows:
        return lambda rows: (
            np.array(list(chain.from_iterable(rows)), dtype),
            np.array([0, *accumulate(map(len, rows))], np.int64),
        )
    return lambda values: np.array(values, dtype)


def _same(value: object) -> object:
    return value


def _number_of(kind: Kind) -> Kind:
    """What lies innermost in lists."""
    return _number_of(kind.element) if kind.is_list else kind


def compile_native(source: NativeSource) -> Callable[..., tuple[int, object]]:
    """The function of a source: gives how it ended, and the result.

    Its first arguments are how many rounds of loops may run, and the address of a number: what is
    not 0 there stops it.

    Raises:
        Exception: numba does not take it, or the C library lacks a function.
    """
    import numba

    space: dict[str, Any] = {"math": math, **_libm(source.libm)}
    space.update(int64=numba.int64, uint64=numba.uint64)
    for name, value in source.constants.items():
        space[name] = np.array(value) if isinstance(value, list) else value
    with _frugally():
        for function in source.functions:
            space[function.__name__] = _compiled_along(function)
        exec(compile(source.text, "<native>", "exec"), space)
        space["stopped"] = _stopped()
        signature = (*(numba.int64,) * 2, *(_numba_type(kind) for kind in source.arguments))
        make = numba.jit([signature], nopython=True, error_model="numpy", nogil=True)
        made: Callable[..., tuple[int, Any]] = make(space["native"])
        return made


@cache
def _stopped() -> object:
    """A function for native code: the number at an address, read anew each time."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def stopped(context: object, address: object) -> object:
        def generate(context: object, builder: Any, signature: object, given: Any) -> object:
            pointer = builder.inttoptr(given[0], ir.IntType(64).as_pointer())
            return builder.load_atomic(pointer, "monotonic", 8)

        return types.int64(types.int64), generate

    return intrinsic(stopped)


@cache
def _compiled_along(function: Callable[..., object]) -> object:
    """A function that native code calls, compiled once for all that do."""
    import numba

    return numba.njit(function, error_model="numpy", nogil=True)


class _NoPasses:
    def run(self, function: object, builder: object) -> bool:
        """Leave a function as it is."""
        return False


@contextmanager
def _frugally() -> Iterator[None]:
    """Have numba leave out its passes over single functions, each of which costs 0.7 MB for ever.

    The passes over whole modules, which come after them, do the same again.
    """
    from numba.core import config
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock:  # nobody else compiles meanwhile
        codegen = cpu_target.target_context.codegen()
        replaced = hasattr(codegen, _PASSES) and not getattr(config, "LLVM_PASS_TIMINGS", False)
        if replaced:
            setattr(codegen, _PASSES, lambda **options: (_NoPasses(), None))
        try:
            yield
        finally:
            if replaced:
                delattr(codegen, _PASSES)


_PASSES: Final = "_function_pass_manager"


def _numba_type(kind: Kind) -> object:
    from numba import types

    numbers: dict[Type, Any] = {INT: types.int64, FLOAT: types.float64, BOOL: types.boolean}
    element = numbers[_number_of(kind).type]
    if kind.is_scalar:
        return element
    array = types.Array(element, 1, "C")
    if not kind.is_rows:
        return array
    return types.Tuple((array, types.int64[::1]))  # type: ignore[no-untyped-call]


def _libm(names: set[str]) -> dict[str, object]:
    """Functions of the C library: numba's own may round otherwise."""
    found: dict[str, object] = {}
    if names:
        import ctypes

        library = ctypes.CDLL(None)
        for name in sorted(names):
            function = getattr(library, name)
            function.restype = ctypes.c_double
            function.argtypes = [ctypes.c_double] * (2 if name == "pow" else 1)
            found[f"m_{name}"] = function
    return found
