"""What `compare_opinfo.py` asks of torch and of rushlight alike: the same calls, the same notes.

A `Translator` carries values of torch to rushlight: tensors with their strides and shared memory,
dtypes, memory formats, functions by their public names, test functions with their globals
exchanged.  `note` says of a result, from either side, what is to be compared.  Needs both.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.masked
import torch.signal.windows
from torch.testing._internal.common_methods_invocations import wrapper_set_seed

import rushlight

_NAMESPACES = [
    ("", torch),
    ("nn.functional", torch.nn.functional),
    ("linalg", torch.linalg),
    ("special", torch.special),
    ("fft", torch.fft),
    ("signal.windows", torch.signal.windows),
    ("masked", torch.masked),
    ("Tensor", torch.Tensor),
    ("_C._nn", torch._C._nn),
]
_NAMED = (torch.dtype, torch.memory_format, torch.layout)


class Absent(Exception):
    """rushlight has nothing of that name."""


class Untranslated(Exception):
    """A value that only torch can hold, such as a sparse tensor."""


# --------------------------------------------------------------------------- functions


def public_name(function: Any) -> str | None:
    """Where torch's users find a function: `nn.functional.gelu`; None if nowhere."""
    for prefix, namespace in _NAMESPACES:
        for name in (getattr(function, "__name__", None), *_short_names(function)):
            if name and inspect.getattr_static(namespace, name, None) is function:
                return f"{prefix}.{name}".lstrip(".")
    return None


def _short_names(function: Any) -> Iterator[str]:
    name = getattr(function, "__name__", "")
    for prefix in ("linalg_", "special_", "fft_"):
        if name.startswith(prefix):
            yield name.removeprefix(prefix)


def attribute(path: str) -> Any:
    """`rushlight.<path>`.

    Raises:
        Absent: there is none.
    """
    found: Any = rushlight
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Absent(path) from None
    return found


def own_function(function: Any) -> Any:
    """rushlight's counterpart of a callable: by its name, or its code with other globals.

    Raises:
        Absent: there is none.
        Untranslated: it has no name.
    """
    if isinstance(function, torch._ops.OpOverload):
        packet = attribute(f"ops.{function.namespace}.{function._schema.name.split('::')[1]}")
        return getattr(packet, function._overloadname)
    if isinstance(function, torch._ops.OpOverloadPacket):
        return attribute("ops." + function._qualified_op_name.replace("::", "."))
    path = public_name(function)
    if path is not None:
        return attribute(path)
    if isinstance(function, types.FunctionType) and ".testing." in function.__module__:
        return rebound(function)
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch"):
        return attribute(f"{function.__module__.removeprefix('torch.')}.{function.__name__}")
    if getattr(function, "__module__", "") in ("_operator", "operator"):
        return function
    raise Untranslated(f"{function}")


def rebound(function: types.FunctionType) -> types.FunctionType:
    """A function of torch's tests, over rushlight."""
    return _rebound(function, {})


def _rebound(function: types.FunctionType, made: dict[Any, Any]) -> types.FunctionType:
    """The function over rushlight: what its globals and cells hold of torch is exchanged."""
    if function in made:
        return made[function]
    names = {"__builtins__": __builtins__, "__name__": function.__module__}
    code = function.__code__
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    new = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    made[function] = new
    for code in _codes(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                names[name] = _exchanged(function.__globals__[name], made)
    for old, cell in zip(function.__closure__ or (), cells, strict=True):
        cell.cell_contents = _exchanged(old.cell_contents, made)
    return new


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _exchanged(value: Any, made: dict[Any, Any]) -> Any:
    if value is torch:
        return rushlight
    if isinstance(value, types.ModuleType) and value.__name__.startswith("torch."):
        try:
            return attribute(value.__name__.removeprefix("torch."))
        except Absent:
            return value
    if value is wrapper_set_seed:
        return _seeded_call
    if isinstance(value, types.FunctionType) and ".testing." in value.__module__:
        return _rebound(value, made)
    path = public_name(value) if callable(value) else None
    return value if path is None else attribute(path)


def _seeded_call(op: Any, *args: Any, **kwargs: Any) -> Any:
    """What `wrapper_set_seed` of torch's tests does; it restores a generator of torch's."""
    rushlight.manual_seed(42)
    return op(*args, **kwargs)


# --------------------------------------------------------------------------- values


class Translator:
    """Carries the arguments of one call; tensors over the same memory stay so."""

    def __init__(self) -> None:
        self._memory: dict[int, Any] = {}
        self.pairs: list[tuple[torch.Tensor, Any]] = []

    def __call__(self, value: Any) -> Any:
        """rushlight's counterpart of a value.

        Raises:
            Untranslated: there is none.
        """
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, _NAMED):
            return attribute(str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return rushlight.device(str(value))
        if isinstance(value, torch.Size):
            return rushlight.Size(value)
        if isinstance(value, (list, tuple)):
            parts = [self(part) for part in value]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, dict):
            return {key: self(part) for key, part in value.items()}
        if isinstance(value, torch.Generator):
            return rushlight.Generator().manual_seed(value.initial_seed())
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if callable(value) and not isinstance(value, type):
            return own_function(value)
        return value

    def tensor(self, value: torch.Tensor) -> Any:
        """A tensor of the same bits, strides, and `requires_grad`, in memory of rushlight's own."""
        if value.layout != torch.strided or value.is_nested or value.is_quantized or value.is_meta:
            raise Untranslated(f"a tensor of layout {value.layout}")
        if value.ndim > 64 or value.dtype == torch.complex32:
            raise Untranslated(f"a tensor of {value.ndim} dimensions of {value.dtype}")
        for known, own in self.pairs:
            if known is value:
                return own
        plain = value.detach().resolve_conj().resolve_neg()
        memory = self._bytes(plain)
        with rushlight.no_grad():
            flat = memory.view(own_dtype(value.dtype))
            own = flat.view(plain.shape) if plain.numel() == flat.numel() else flat
            if tuple(own.stride()) != plain.stride() or own.shape != plain.shape:
                own = flat.as_strided(plain.size(), plain.stride(), plain.storage_offset())
            own = own.detach()
        if value.requires_grad:
            own.requires_grad_(True)
        if isinstance(value, torch.nn.Parameter):
            own = rushlight.nn.Parameter(own, value.requires_grad)
        self.pairs.append((value, own))
        return own

    def _bytes(self, value: torch.Tensor) -> Any:
        """The whole storage as a vector of the tensor's dtype, one for all that share it."""
        storage = value.untyped_storage()
        known = self._memory.get(storage.data_ptr()) if storage.size() else None
        if known is None:
            count = storage.size() // value.element_size()
            known = rushlight.empty(count, dtype=own_dtype(value.dtype))
            if count:
                raw = torch.frombuffer(bytearray(count * value.element_size()), dtype=torch.uint8)
                raw.copy_(torch.tensor([], dtype=torch.uint8).set_(storage)[: len(raw)])
                known._array.view(np.uint8)[...] = raw.numpy()
            self._memory[storage.data_ptr()] = known
        return known


def own_dtype(dtype: torch.dtype) -> Any:
    """rushlight's dtype of the same name."""
    return getattr(rushlight, str(dtype).removeprefix("torch."))


def tensors(value: Any) -> Iterator[Any]:
    """The tensors of either side in nested containers, in order."""
    if isinstance(value, (torch.Tensor, rushlight.Tensor)):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors(part)


# --------------------------------------------------------------------------- notes


def note(result: Any, inputs: list[Any]) -> Any:
    """What a result is, told the same way for both sides: a dict for a tensor, else a list."""
    if isinstance(result, (torch.Tensor, rushlight.Tensor)):
        return _tensor_note(result, inputs)
    if isinstance(result, (list, tuple)):
        kind = type(result).__name__
        return [kind, *(note(part, inputs) for part in result)]
    if isinstance(result, (bool, int, float, complex, str, type(None))):
        return ["number", type(result).__name__, result]
    return ["other", str(result).replace("rushlight", "torch")]


def _tensor_note(tensor: Any, inputs: list[Any]) -> dict[str, Any]:
    if isinstance(tensor, torch.Tensor) and tensor.layout != torch.strided:
        raise Untranslated(f"a result of layout {tensor.layout}")
    if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.complex32:
        raise Untranslated("a result of complex halves")
    return {
        "dtype": str(tensor.dtype),
        "shape": tuple(tensor.shape),
        "strides": tuple(tensor.stride()),
        "offset": tensor.storage_offset() if tensor.numel() else 0,
        "requires_grad": tensor.requires_grad,
        "is": [n for n, each in enumerate(inputs) if each is tensor],
        "shares": [n for n, each in enumerate(inputs) if _memory(each) == _memory(tensor) != 0],
        "values": values(tensor),
    }


def _memory(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr()


def values(tensor: Any) -> np.ndarray[Any, Any]:
    """The elements as a NumPy array; 16-bit and 8-bit floats as float32."""
    if isinstance(tensor, rushlight.Tensor):
        array = tensor.detach().resolve_conj().resolve_neg()._array
        return np.array(array.astype(np.float32) if array.dtype.isbuiltin != 1 else array)
    plain = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        plain = plain.to(torch.float32)
    return np.array(plain.contiguous().numpy(force=True))


# --------------------------------------------------------------------------- calls


def outcome(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """A call's result, or what it raised."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def seeded(world: Any, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """`outcome` with the random numbers of that side begun anew."""
    world.manual_seed(1234)
    return outcome(call)
