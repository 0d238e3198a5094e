"""Compiling an archive's module: from its `forward` and examples of the arguments to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..interpreter.running.evaluating import CONTEXT
from ..ir.inline import inline
from ..jit.freezing import freeze
from ..ops.kernels import family
from ..ops.table.grad_mode import no_grad
from ..typecheck.schema import Argument, Signature
from ..typecheck.types import TENSOR, Type
from .c_files import c_names, example_of_tensors, example_of_texts, header_text, parameters_of
from .emit import object_file
from .known import CannotCompile
from .program import plan
from .texts import text_program
from .walk import program_of

__all__ = ["Compiled", "compile_module"]


_LARGEST: Final = (1 << 31) - (1 << 26)
"""Bytes that code can reach in an object."""


@dataclass(frozen=True)
class Compiled:
    """The files of a compiled program, and the bytes of its workspace and constants."""

    object: bytes
    header: str
    example: str
    workspace: int
    constants: int


def compile_module(module: Any, examples: Sequence[object], name: str, source: str) -> Compiled:
    """Compile the `forward` of a scripted module for arguments like the examples.

    Args:
        module: a scripted, traced or loaded module.
        examples: an array for each argument.
        name: the function's name in C.
        source: what the header calls the program.

    Raises:
        CannotCompile: something has no form ahead of time.
    """
    if family("prepared") is None:
        raise CannotCompile("compiling ahead of time needs llvmlite")
    signature = module._c.cls.method("forward").signature
    if not any(_has_tensors(each.type) for each in (*signature.arguments[1:], *signature.returns)):
        return _of_texts(module, examples, name, source)
    if getattr(module, "training", False):
        module = module.eval()
    if hasattr(module, "training"):
        module = freeze(module)
    graph = inline(module._c.cls.method("forward").graph, "forward", CONTEXT)
    given, defaults = _parameters(signature, examples)
    names = c_names([parameter.name for parameter in given], name)
    with no_grad(), np.errstate(all="ignore"):
        program = program_of(graph, module._c, examples, names, defaults)
    workspace, constants = plan(program)
    if max(workspace, constants) > _LARGEST:
        raise CannotCompile("the weights, or the memory of a call, are beyond 2 GB")
    about = (
        f"Gives 0, or the number of a failure, which {name}_failure has a text for. Elements lie in"
    )
    about += (
        "\n * C's order. Threads may call it at the same time, each with a workspace of its own."
    )
    return Compiled(
        object_file(program, name, constants),
        header_text(name, source, parameters_of(program), workspace, about),
        example_of_tensors(program, name),
        workspace,
        constants,
    )


def _has_tensors(type: Type) -> bool:
    return type == TENSOR or any(map(_has_tensors, type.contained))


def _parameters(
    signature: Signature, examples: Sequence[object]
) -> tuple[Sequence[Argument], list[object]]:
    """The parameters that are given, and the values of the others."""
    parameters = signature.arguments[1:]
    given, rest = parameters[: len(examples)], parameters[len(examples) :]
    if len(parameters) < len(examples) or not all(each.has_default for each in rest):
        raise CannotCompile(f"forward takes {len(parameters)} arguments, not {len(examples)}")
    for parameter in given:
        if parameter.type != TENSOR:
            raise CannotCompile(
                f"the argument `{parameter.name}` is no tensor but {parameter.type.annotation_str}"
            )
    return given, [each.default for each in rest]


def _of_texts(module: Any, examples: Sequence[object], name: str, source: str) -> Compiled:
    if examples:
        raise CannotCompile("forward takes no tensors, so it needs no --input")
    made = text_program(module._c.cls.method("forward"), module._c, name)
    parameters = [each for group in (*made.inputs, *made.outputs) for each in group]
    about = "Gives 0; 1 if an operator fails or the program raises; 2 if there is too little room,"
    about += "\n * where sizes say how much is needed. Threads may call it at the same time."
    return Compiled(
        made.object,
        header_text(name, source, parameters, None, about),
        example_of_texts(made.inputs, made.outputs, name),
        0,
        made.constants,
    )
