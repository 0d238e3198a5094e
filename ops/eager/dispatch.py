"""Eager functions: Python arguments in, the right overload's forward, tensors out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import MethodType
from typing import Any, Final

from ...frontend.diagnostics.exceptions import trim_traceback
from ...frontend.foundations.chosen import Chosen
from ..memory.dtype import STRIDED
from ..memory.errors import Elsewhere
from ..memory.native_class import call_unbound
from ..memory.overlap import check_out
from ..memory.unforeseen import told
from ..table.direct import LISTENING
from ..table.faces import Face, face_of
from ..table.grad_mode import is_recording
from ..table.out_forms import check_dtype_of_out, no_gradients
from ..table.table import TABLE, Operator
from ..tensors.dispatched import check_dispatched
from ..tensors.overriding import PLAIN, STATE, ask, askers
from ..tensors.tensor import PLAIN_TENSORS, Parameter, Tensor
from ..tensors.tracing import ACTIVE, paused
from .binding import Form, Mismatch, takes_numbers, wrong_keyword
from .callables import Called, call_class_by, call_natively
from .calls import any_requires_grad, run
from .elsewhere import Run, elsewhere
from .fronts import Front, Way, front_of
from .into_calls import IntoCalls
from .new_leaves import LeafCalls, as_leaf, plain_keywords
from .number_operands import as_operands, number_first
from .observers import OBSERVERS, Observer
from .old_signatures import without_numbers_between
from .out_tensors import check_dtypes_of_out, check_factory_dtype, check_factory_place, write_out
from .out_traces import note_written
from .overloads import gives_list, is_for_python
from .python_forms import refusal
from .recipes import Key, Recipe, keep, key_of
from .shortcuts import MISFIT, Shortcut, keep_shortcut, keep_shortcut_of_sizes

__all__ = [
    *(
        "AS_TORCH",
        "EagerFunction",
        "EagerMethod",
        "eager_function",
        "forget",
    ),
    "make_function",
]

_USUAL: Final = run
_LEAVES: Final = frozenset({Tensor, Parameter, int, float, bool, complex, type(None)})
_SPACES: Final = ("fft", "linalg", "special")
_FRONTS: Final[list[Front]] = []
"""All there are, also those that another thread's took the place of: calls of them may go on."""
_NUMBERS: Final = frozenset({int, float})
_NO_TENSORS: Final[tuple[object, ...]] = ()
_Call = tuple[tuple[object, ...], dict[str, object]]


# --------------------------------------------------------------------------- functions


@cache
def _face(operator_name: str) -> Face:
    """Where Python finds an operator."""
    return face_of(operator_name.removeprefix("aten::"), TABLE.operators(operator_name))


AS_TORCH: Final = Chosen(False)
"""Whether functions say the modules of torch that have them."""


class _Home(str):
    """The module of the class of eager functions; they themselves say that of theirs."""

    __slots__ = ()

    def __get__(self, instance: EagerFunction | None, owner: object = None) -> str:
        return str(self) if instance is None or not AS_TORCH.now else instance.home


class EagerFunction(Called):
    """`torch.<name>`: calls the overload of an operator that the arguments fit.

    `operator_name` is the operator's, `aten::tanh`.
    """

    __slots__ = (
        *("__name__", "__qualname__", "_as_method", "_forms", "operator_name", "shortcuts"),
        *("front", "intos", "leaves", "recipes"),
    )

    __module__ = _Home(__name__)

    def __init_subclass__(cls) -> None:
        cls.__module__ = _Home(__name__)

    def __init__(self, operator_name: str, name: str, as_method: bool) -> None:
        self.operator_name = operator_name
        self.__name__ = self.__qualname__ = name
        self._as_method = as_method
        self._forms: list[Form] | None = None
        self.shortcuts: dict[tuple[type, ...], Shortcut] = {}
        self.recipes: dict[Key, Recipe] = {}
        self.front: Front | None = None
        self.leaves: LeafCalls | None = None
        self.intos: IntoCalls | None = None
        super().__init__(self._by_types)

    @property
    def is_method(self) -> bool:
        """Whether it is a method of Tensor."""
        return self._as_method

    @property
    def forms(self) -> list[Form]:
        """The overloads, in the order they are tried."""
        if self._forms is None:
            found = filter(is_for_python, TABLE.operators(self.operator_name))
            entries = sorted(found, key=lambda entry: not entry.first_in_python)
            self._forms = [Form(entry, self.__name__, self._as_method) for entry in entries]
        return self._forms

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        described: str = import_module(".descriptions", __package__).description(
            TABLE.operators(self.operator_name), self.forms[0].entry if self.forms else None
        )
        return described

    @property
    def __signature__(self) -> object:
        """Asked for by `inspect.signature`; with several overloads there is none.

        Raises:
            ValueError: always; who asks is used to it from functions that are not Python's.
        """
        raise ValueError(f"no signature found for builtin {self!r}")

    @property
    def home(self) -> str:
        """The module of torch that has it.

        Raises:
            AttributeError: it is a method, which says none there.
        """
        if self._as_method:
            raise AttributeError("'method_descriptor' object has no attribute '__module__'")
        space = self.public_name.split(".")[1:-1]
        return f"torch._C._{space[0]}" if space else "torch"

    @property
    def public_name(self) -> str:
        """What torch calls it where a class does not know it."""
        if self._as_method:
            return f"torch.Tensor.{self.__name__}"
        if _face(self.operator_name) in ("function", "both"):
            return f"torch.{self.__name__}"
        space = self.__name__.partition("_")[0]
        return f"torch.{space if space in _SPACES else 'nn'}.{self.__name__}"

    def elsewhere(
        self, place: Elsewhere, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """Does a call that met a tensor behind which no array stands in the room of its kind."""
        return elsewhere(
            place.kind,
            self.operator_name,
            args,
            kwargs,
            lambda run: self._choose(args, kwargs, None, run),
        )

    def told(self, error: Exception) -> Exception:
        """What the caller gets of an error: in our words, without the frames of operators."""
        found = told(error, self.operator_name)
        trim_traceback(found)
        return found

    def _by_types(self, *args: object, **kwargs: object) -> object:
        if not kwargs:
            count = len(args)
            if count == 1:  # written out, which takes half as long as to map
                short = self.shortcuts.get((type(args[0]),))
            elif count == 2:
                short = self.shortcuts.get((type(args[0]), type(args[1])))
            else:
                short = self.shortcuts.get(tuple(map(type, args)))
            if short is not None:
                return short(*args)
        elif "requires_grad" in kwargs and not (ACTIVE or LISTENING):
            leaf = self._new_leaf(args, kwargs)
            if leaf is not None:
                return leaf
        key = key_of(args, kwargs)
        if key is not None:
            recipe = self.recipes.get(key)
            if recipe is not None:
                result = recipe.call(*args, **kwargs)
                if result is not MISFIT:
                    return result
        return self._choose(args, kwargs, key)

    def _new_leaf(self, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """What a call with `requires_grad` gives, where that is made of numbers alone, and is
        another operator's to look at; None of other calls."""
        rest = plain_keywords(args, kwargs)
        if rest is None or not self._gives_leaves:
            return None
        try:
            made = self._quickly(*args, **rest)
        except TypeError:
            return None  # which is told of all that was given
        if self.leaves is None:
            self.leaves = LeafCalls(self._match, self._learn)
        found = as_leaf(made) if kwargs["requires_grad"] else made
        self.leaves.count(args, kwargs, rest)
        return found

    def _learn(self, way: Way) -> None:
        """Have native code take such calls apart from now on."""
        front = self.front or front_of(self._by_types)
        if front is not None:
            if front is not self.front:
                _FRONTS.append(front)
            front.add(way)
            self.front = front
            call_natively()
            self.quicken(front.call)

    def before_observed(self, call: Callable[[], object]) -> None:
        """Call a function before an observer of this is first on: from then on calls may not go by
        shortcuts alone."""

    def choose(self, args: tuple[object, ...], kwargs: dict[str, object], run: Run) -> Any:
        """Choose the overload that arguments fit, and have it run in a way of its own."""
        return self._choose(args, kwargs, None, run)

    def _choose(
        self,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        key: Key | None,
        run: Run = run,
    ) -> object:
        if key is None:
            asked = askers(args, kwargs)
            if asked is not None:
                return ask(self, asked, args, kwargs, self.public_name)
            check_dispatched(args, kwargs)
        given = args, kwargs
        kwargs, out, requires_grad = self._without_out(kwargs)
        if isinstance(out, Tensor):
            self._compute_in(out, kwargs)
        if len(args) == 2 and takes_numbers(self.__name__) and self.__name__ != "result_type":
            name = "" if kwargs.get("rounding_mode") else self.__name__
            operands = as_operands(name, *args)
            types = type(args[0]), type(args[1])
            if types[0] in _NUMBERS and types[1] in PLAIN_TENSORS and given[1] == {} and key:
                self.shortcuts[types] = number_first(name, self, self._match, self._learn)
                return self(*operands)
            if operands[0] is not args[0]:
                key = None
            args = operands
        is_into = out is not _NO_TENSORS and out is not None
        if requires_grad and not is_into and run is _USUAL:
            with suppress(TypeError):  # which is told below, of all that was given
                return as_leaf(self(*args, **kwargs))
        own_key = key_of(args, kwargs) if is_into and key is None else key
        found = self._as_before(args, kwargs, own_key) if is_into else None
        is_new = found is None
        found = found or self._match(args, kwargs)
        if found is None:
            return self._in_old_form(args, kwargs, out, given)
        form, values, lenient = found
        if own_key is not None and is_new and not lenient:
            keep(self.recipes, own_key, Recipe(form, args, kwargs, values, self._learn))
        if not kwargs and not is_into and _LEAVES.issuperset(map(type, args)):
            self._remember(form, args, values)
        for target in (out,) if isinstance(out, Tensor) else out or ():
            check_out(form.entry.out_overlap, target._array, values)
        handles = [*args, *kwargs.values()]
        if ACTIVE and out is not None and out is not _NO_TENSORS:
            with paused() as tracer:  # which hears of the form with `out`
                result = run(form.entry, values, handles)
        else:
            tracer, result = None, run(form.entry, values, handles)
        if not is_into:
            return as_leaf(result) if requires_grad else result
        written_out = self._written(form.entry, result, out, values)
        if ACTIVE:
            note_written(tracer, form.entry, values, handles, out, result)
        if requires_grad and isinstance(out, Tensor):
            out._want_gradients(True)
        if type(out) is Tensor and run is _USUAL and not (lenient or ACTIVE or LISTENING):
            self._count_into(*given)
        return None if gives_list(form.entry) else written_out

    def _written(
        self, entry: Operator, result: object, out: Any, values: Sequence[object]
    ) -> object:
        """What is given back of a result that was put into `out`.

        Raises:
            RuntimeError: gradients are wanted of it, or it does not fit.
        """
        if any_requires_grad([result, out]) and is_recording():
            raise no_gradients(self.__name__)
        check_dtypes_of_out(entry, result, out)
        return write_out(entry, result, out, values)

    def _in_old_form(
        self, args: tuple[object, ...], kwargs: dict[str, object], out: object, given: _Call
    ) -> object:
        """What a call gives that has a number between tensors, as old signatures do.

        Raises:
            TypeError: it is no such call either; the sentence is about all that was `given`.
        """
        old = without_numbers_between(self.__name__, args, kwargs)
        if old is None:
            if args and isinstance(args[0], Tensor):
                _ = args[0]._array  # it may have none, which says where to go on
            raise self._refusal(*given)
        return self(*old[0], **old[1], **({"out": out} if isinstance(out, Tensor) else {}))

    def _without_out(self, kwargs: dict[str, Any]) -> tuple[dict[str, object], Any, bool | None]:
        """Keywords without the two that are arguments of no overload, and these: `out`, which a
        method has not, and `requires_grad` of what makes leaves.

        Raises:
            TypeError: one of these is no such thing.
        """
        if not kwargs:
            return kwargs, _NO_TENSORS, False
        left = dict(kwargs)
        out: Any = _NO_TENSORS
        requires_grad: bool | None = False
        if not self._as_method:
            out = left.pop("out", None)
            if not isinstance(out, (Tensor, tuple, list, type(None))):
                raise wrong_keyword(self.__name__, "out", "Tensor", out)
        if "requires_grad" in left and self._gives_leaves:
            requires_grad = left.pop("requires_grad")
            if not isinstance(requires_grad, (bool, type(None))):
                raise wrong_keyword(self.__name__, "requires_grad", "bool", requires_grad)
        return left, out, requires_grad

    def _count_into(self, args: Sequence[object], kwargs: dict[str, object]) -> None:
        """Note a call with `out`, which a front learns when it comes often."""
        if self.intos is None:
            self.intos = IntoCalls(self._match, self._learn)
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        self.intos.count(args, kwargs, rest)

    def _as_before(
        self, args: Sequence[object], kwargs: dict[str, object], key: Key | None
    ) -> tuple[Form, list[object], bool] | None:
        """What `_match` gives for arguments of which there is a recipe; None for others."""
        recipe = None if key is None else self.recipes.get(key)
        values = None if recipe is None else recipe.values(args, kwargs)
        return None if recipe is None or values is None else (recipe.form, values, False)

    def _compute_in(self, out: Tensor, kwargs: dict[str, Any]) -> None:
        """Give the function the dtype of `out=` to compute in, if it is one that does."""
        demand, own = self.forms[0].entry.out_dtype.demand if self.forms else "", out.dtype
        if demand == "made":
            check_factory_dtype(kwargs.setdefault("dtype", own), own)
            check_factory_place(kwargs.get("layout"), kwargs.get("device"), out)
        elif demand == "computed":
            check_dtype_of_out(own, kwargs.setdefault("dtype", own) or own)

    @property
    def _gives_leaves(self) -> bool:
        """Whether results are new memory that may want gradients, which `requires_grad` says."""
        return any(form.entry.makes_memory for form in self.forms)

    def _match(
        self, args: Sequence[object], kwargs: dict[str, object]
    ) -> tuple[Form, list[object], bool] | None:
        """The first overload that fits, strictly or else after conversion, and its values."""
        for lenient in (False, True):
            for form in self.forms:
                try:
                    return form, form.bind(args, kwargs, lenient), lenient
                except Mismatch:
                    pass
        return None

    def _refusal(self, args: Sequence[object], kwargs: dict[str, object]) -> TypeError:
        if not self.forms:
            return TypeError(f"{self.__name__}() cannot be called on tensors")
        if self._as_method and args and not isinstance(args[0], Tensor):
            return self._not_of(args[0])
        own = args[1:] if self._as_method else args
        return TypeError(refusal(self.operator_name, self.__name__, self.forms, own, kwargs))

    def _not_of(self, instance: object) -> TypeError:
        """What a caller gets whose object has the method of tensors, but is none."""
        return TypeError(
            f"descriptor '{self.__name__}' for 'torch._C.TensorBase' objects doesn't apply to "
            f"a '{type(instance).__name__}' object"
        )

    def _remember(self, form: Form, args: Sequence[object], values: list[object]) -> None:
        """Keep what was found out about arguments of these types, if their count says it all."""
        types = tuple(map(type, args))
        if form.spread is not None:
            before, sizes = types[: form.spread], set(types[form.spread :])
            if sizes == {int} and all(issubclass(each, Tensor) for each in before):
                keep_shortcut_of_sizes(
                    self.shortcuts, self._learn, form.entry, types, len(before), values
                )
            return
        if len(args) > form.positional:
            return
        if any(isinstance(a, Tensor) and values[i] is not a._array for i, a in enumerate(args)):
            return  # a tensor that stands for a number is converted each time
        converters = [
            form.converters[i] if type(a) is not type(values[i]) else None
            for i, a in enumerate(args)
        ]
        defaults = values[len(args) :]
        if not any(isinstance(default, list) for default in defaults):
            learn = self._learn
            keep_shortcut(self.shortcuts, learn, form.entry, types, converters, defaults)

    def __repr__(self) -> str:
        return f"<built-in method {self.__name__}>"

    def __reduce__(self) -> tuple[object, ...]:
        if self._as_method:
            return getattr, (Tensor, self.__name__)
        return eager_function, (self.operator_name,)


class EagerMethod(EagerFunction):
    """`torch.Tensor.<name>`: a function that is bound to the tensors whose class has it, also where
    that is another class, or under another name."""

    __slots__ = ()
    __doc__ = vars(EagerFunction)["__doc__"]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        call_unbound(cls)

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self
        if not isinstance(instance, Tensor):
            raise self._not_of(instance)
        return MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<method '{self.__name__}' of 'torch._C.TensorBase' objects>"


call_unbound(EagerMethod)


class _LazyFunction(EagerFunction):
    """An operator that gives a view of such tensors as its record says, in which elements are
    computed when they are read."""

    __slots__ = ()
    __doc__ = vars(EagerFunction)["__doc__"]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        given = args[0] if args else kwargs.get("self")
        if not self._is_lazy_of(given):
            return EagerFunction.__call__(self, *args, **kwargs)
        return elsewhere(
            "conjugate",
            self.operator_name,
            args,
            kwargs,
            lambda run: self._choose(args, kwargs, None, run),
        )

    def _is_lazy_of(self, given: object) -> bool:
        if type(given) is Tensor and given._array.dtype.kind == "f" and not self._of_all:
            return False  # nearly always
        if not isinstance(given, Tensor) or ACTIVE or STATE.below is not None:
            return False
        if type(given) not in PLAIN or given.layout is not STRIDED:
            return False
        return given.dtype.is_complex or self._of_all

    @property
    def _of_all(self) -> bool:
        return self.forms[0].entry.lazily == "all"


class _LazyMethod(_LazyFunction, EagerMethod):
    """The same as a method."""

    __slots__ = ()
    __doc__ = vars(EagerFunction)["__doc__"]


def _observed(observer: Observer, base: type[EagerFunction]) -> type[EagerFunction]:
    """The class of the functions, or methods, that an observer has to do with.

    They are called as others are until it is first on.
    """

    class Observed(base):  # type: ignore[misc, valid-type]
        __slots__ = ()
        __doc__ = vars(EagerFunction)["__doc__"]

        def before_observed(self, call: Callable[[], object]) -> None:
            if Observed.__call__ is observed:
                call()
            observer.first.add(call)

    def observed(self: EagerFunction, *args: object, **kwargs: object) -> object:
        args, kwargs = observer.ready(self.operator_name, args, kwargs)
        return EagerFunction.__call__(self, *args, **kwargs)

    observer.first.add(lambda: call_class_by(Observed, observed))
    return Observed


_KINDS: Final = (EagerFunction, EagerMethod)
_OBSERVED: Final = [
    (observer, [_observed(observer, kind) for kind in _KINDS]) for observer in OBSERVERS
]


def make_function(operator_name: str, *, as_method: bool = False) -> EagerFunction:
    """A new eager function of an operator, `aten::tanh`."""
    if TABLE.said(operator_name, lambda entry: entry.lazily):
        lazy = (_LazyFunction, _LazyMethod)[as_method]
        return lazy(operator_name, operator_name.partition("::")[2], as_method)
    concerned = (kinds for observer, kinds in _OBSERVED if observer.concerns(operator_name))
    cls = next(concerned, _KINDS)[as_method]
    return cls(operator_name, operator_name.partition("::")[2], as_method)


_FUNCTIONS: Final[dict[str, EagerFunction]] = {}


def eager_function(name: str) -> EagerFunction:
    """The eager function of an operator, `aten::tanh`; always the same object.

    Raises:
        KeyError: there is no such operator.
    """
    found = _FUNCTIONS.get(name)
    if found is None:
        if TABLE.operators(name):
            found = make_function(name)
        elif name in TABLE.left_out:
            found = _LeftOut(name, name.partition("::")[2], as_method=False)
        else:
            raise KeyError(name)
        found = _FUNCTIONS.setdefault(name, found)  # another thread may have made one meanwhile
    return found


class _LeftOut(EagerFunction):
    """An operator that a bundle of part of the library does not have."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"{self.operator_name} was left out of this bundle")


def forget(name: str) -> None:
    """Have the eager function of an operator made anew: its overloads have changed."""
    _FUNCTIONS.pop(name, None)
