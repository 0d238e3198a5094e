"""`torch.jit.mobile`: archives of the lite interpreter."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..frontend.diagnostics.exceptions import ScriptError, trimmed
from ..interpreter.failures.errors import Failure, is_from_outside, script_error
from ..interpreter.running.calling import call
from ..interpreter.values.actions import ScriptRaise
from ..interpreter.values.objects import ScriptObject
from ..interpreter.values.outward import outward
from ..map_location import check_location
from ..ops.tensors.tensor import Tensor
from ..serialization.archives.load import load_archive
from ..serialization.files.limits import DEFAULT_LIMITS, Limits
from ..serialization.mobile.compile import NEWEST_WRITTEN, OLDEST_WRITTEN
from ..serialization.mobile.info import mobile_extra_files, mobile_operators, mobile_types_used
from ..serialization.mobile.load import MobileModule, load_mobile, mobile_version
from ..serialization.mobile.save import save_mobile_to_buffer
from ..typecheck.definitions.functions import Function
from ..typecheck.types.types import ANY
from .module import RecursiveScriptModule, wrap

__all__ = [
    "LiteScriptModule",
    "OperatorInfo",
    "_backport_for_mobile",
    "_backport_for_mobile_to_buffer",
    "_export_operator_list",
    "_get_mobile_model_contained_types",
    "_get_model_bytecode_version",
    "_get_model_ops_and_info",
    "_load_for_lite_interpreter",
]

File = str | Path | IO[bytes]


_MISFITS = (AttributeError, LookupError, TypeError, ValueError)
"""What the conversion of a result raises if a damaged file declares another type for it."""


class LiteScriptModule:
    """A module of the lite interpreter: instructions instead of source text.

    `graph`, `inlined_graph` and `code` show what the instructions of `forward` were decoded to;
    `scripted()` is the same module as `torch.jit` has it.
    """

    def __init__(self, module: MobileModule) -> None:
        self._c = module

    def __call__(self, *args: object) -> Any:
        """Run `forward`; arguments are given by position."""
        return self.run_method("forward", *args)

    def forward(self, *args: object) -> Any:
        """Run `forward`."""
        return self.run_method("forward", *args)

    def find_method(self, method_name: str) -> bool:
        """Whether there is a method of that name."""
        return method_name in self._c.root.cls.methods

    def run_method(self, method_name: str, *args: object) -> Any:
        """Run a method.

        Raises:
            RuntimeError: there is no such method, an argument is missing or wrong, or the program
                failed.
        """
        with trimmed():
            root = self._c.root
            method = root.cls.methods.get(method_name)
            if method is None:
                raise RuntimeError(f"Method '{method_name}' is not defined.")
            try:
                return call(method, args, None, root, self._error)
            except _MISFITS as error:
                if is_from_outside(error):
                    raise
                wrong = f"{method_name}() gives back a value that is not of its type: {error}"
            raise RuntimeError(wrong)

    def _error(self, failure: Failure, function: Function) -> Exception:
        """The exception for a failure: the lite interpreter's text, and the diagnostics."""
        error, cause = script_error(failure, function), failure.cause
        if isinstance(cause, Warning):  # which a filter has made an exception
            return error
        made: Any
        if isinstance(cause, ScriptRaise):
            made = ScriptError(cause.message)
        else:
            kind = "KeyError: " if isinstance(cause, KeyError) else ""
            text = cause.args[0] if isinstance(cause, KeyError) and cause.args else cause
            cls = NotImplementedError if isinstance(cause, NotImplementedError) else RuntimeError
            made = cls(f"{kind}{text}{self._c.failure_place(failure)}")
        made.diagnostics = getattr(error, "diagnostics", [])
        return made  # type: ignore[no-any-return]

    def scripted(self) -> RecursiveScriptModule:
        """The module as `torch.jit.load` gives one: it can be called, looked into, frozen, trained
        and saved, and shares its tensors with this one."""
        self._c.methods.define_all()
        made = wrap(self._c.root)
        assert isinstance(made, RecursiveScriptModule)
        return made

    def method_names(self) -> list[str]:
        """The names of the root's methods."""
        return list(self._c.root.cls.methods)

    def __getattr__(self, name: str) -> Any:
        root: ScriptObject = self.__dict__["_c"].root
        if name in root.cls.attributes:
            found = root.slots[root.cls.slot(name)]
            if isinstance(found, ScriptObject):  # which is then a module like any other
                self._c.methods.define_all()
            return outward(ANY)(found)
        if name in root.cls.methods:
            return lambda *args: self.run_method(name, *args)
        if name in ("graph", "inlined_graph", "code"):
            return getattr(self.scripted(), name)
        raise AttributeError(f"'LiteScriptModule' object has no attribute '{name}'")

    def parameters(self) -> list[Tensor]:
        """The tensors of the module and its submodules, each once."""
        return [tensor for _, tensor in _tensors(self._c.root, "", set())]

    def named_parameters(self) -> list[tuple[str, Tensor]]:
        """The same with their names."""
        return list(_tensors(self._c.root, "", set()))


def _tensors(owner: ScriptObject, prefix: str, seen: set[int]) -> list[tuple[str, Tensor]]:
    found: list[tuple[str, Tensor]] = []
    for name, slot in zip(owner.cls.attributes, owner.slots, strict=False):
        if isinstance(slot, Tensor) and id(slot) not in seen:
            seen.add(id(slot))
            found.append((prefix + name, slot))
        elif isinstance(slot, ScriptObject):
            found += _tensors(slot, f"{prefix}{name}.", seen)
    return found


def _load_for_lite_interpreter(
    f: File,
    map_location: object = None,
    _extra_files: dict[str, object] | None = None,
    *,
    trust: str = "full",
    limits: Limits = DEFAULT_LIMITS,
) -> LiteScriptModule:
    """Open an archive of the lite interpreter: a path, or a file object opened for reading.

    `trust` and `limits` are as `torch.jit.load` takes them.

    Raises:
        RuntimeError: it is no such archive (the message says what it is), is damaged, or uses
            operators that do not exist here (all are named).
        ValueError: there is no such file, or no such trust.
    """
    if trust not in ("full", "none"):
        raise ValueError(f'trust is "full" or "none", not {trust!r}')
    with trimmed():
        _check_path(f)
        check_location(map_location)
        return LiteScriptModule(load_mobile(f, _extra_files, limits, trusted=trust != "none"))


def _get_model_bytecode_version(f_input: File) -> int:
    """The version of the bytecode in an archive.

    Raises: as `_load_for_lite_interpreter`.
    """
    with trimmed():
        _check_path(f_input)
        return mobile_version(f_input)


@dataclass(frozen=True)
class OperatorInfo:
    """What a file says of an operator: how many arguments its code pushes, None if nothing."""

    num_schema_args: int | None


def _get_model_ops_and_info(f_input: File) -> dict[str, OperatorInfo]:
    """The operators that a mobile file calls, by name; raises as `_load_for_lite_interpreter`."""
    with trimmed():
        _check_path(f_input)
        found = mobile_operators(f_input)
        return {name: OperatorInfo(count) for name, count in found.items()}


def _get_mobile_model_contained_types(f_input: File) -> set[str]:
    """The words of the types that a mobile file's instructions refer to, as `{"List", "int"}`.

    Raises: as `_load_for_lite_interpreter`.
    """
    with trimmed():
        _check_path(f_input)
        return mobile_types_used(f_input)


def _export_operator_list(module: LiteScriptModule) -> set[str]:
    """The names, with overloads, of the operators that any method of a module calls."""
    codes = module._c.codes.values()
    return {operator.full_name for code in codes for operator in code.operators}


def _backport_for_mobile(f_input: File, f_output: str | Path, to_version: int) -> bool:
    """Write a mobile file anew with bytecode of an earlier version.

    Returns:
        Whether that version is one to which there is a way; if not, nothing is written.

    Raises: as `_load_for_lite_interpreter`; also if the file holds no code files.
    """
    with trimmed():
        _check_path(f_input)
        made = _backported(f_input, to_version)
        if made is not None:
            Path(f_output).write_bytes(made)
        return made is not None


def _backport_for_mobile_to_buffer(f_input: File, to_version: int) -> bytes:
    """The bytes of a mobile file with bytecode of an earlier version.

    Raises:
        RuntimeError: as `_backport_for_mobile`, or if there is no way to that version.
    """
    with trimmed():
        _check_path(f_input)
        made = _backported(f_input, to_version)
        if made is None:
            raise RuntimeError(f"there is no way to bytecode of version {to_version}")
        return made


def _backported(f_input: File, to_version: int) -> bytes | None:
    data = Path(f_input).read_bytes() if isinstance(f_input, str | Path) else f_input.read()
    newest = min(mobile_version(data) - 1, NEWEST_WRITTEN)
    if not OLDEST_WRITTEN <= to_version <= newest:
        return None
    extra: dict[str, Any] = dict.fromkeys(mobile_extra_files(data), b"")
    return save_mobile_to_buffer(load_archive(data, extra), extra, to_version)


def _check_path(f: File) -> None:
    if isinstance(f, str | os.PathLike):
        if not Path(f).exists():
            raise ValueError(f"The provided filename {f} does not exist")
        if Path(f).is_dir():
            raise ValueError(f"The provided filename {f} is a directory")
