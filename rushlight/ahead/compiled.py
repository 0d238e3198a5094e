"""Compiling an archive's module: from its `forward` and examples of the arguments to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..interpreter.running.evaluating import CONTEXT
from ..ir.functions.define import graph_of
from ..ir.functions.inline import inline
from ..jit.freezing import freeze
from ..nn.modules.module import Module
from ..ops.table.direct import knows_calls
from ..ops.table.grad_mode import no_grad
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.types.types import TENSOR, Type
from .c_files import (
    Face,
    c_names,
    example_of_tensors,
    example_of_texts,
    header_text,
    sizes_declared,
)
from .emit import object_file
from .known import CannotCompile
from .program import Program, place_constants, plan
from .sizes import Described, Size, combinations, sizes_of
from .texts import text_program
from .walk import program_of
from .writing import Pool

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


def compile_module(module: Module, arguments: Sequence[object], name: str, source: str) -> Compiled:
    """Compile the `forward` of a scripted module for arguments like the given ones.

    Args:
        module: a scripted, traced or loaded module.
        arguments: a `Described` or an array for each argument.  The function takes sizes that are
            between bounds.
        name: the function's name in C.
        source: what the header calls the program.

    Raises:
        CannotCompile: something has no form ahead of time.
    """
    if not knows_calls():
        raise CannotCompile("compiling ahead of time needs llvmlite, and Linux on x86-64")
    signature = _forward(module).signature
    if not any(_has_tensors(each.type) for each in (*signature.arguments[1:], *signature.returns)):
        return _of_texts(module, arguments, name, source)
    if getattr(module, "training", False):
        module = module.eval()
    if hasattr(module, "training"):
        module = freeze(module)
    pool, sizes = Pool(), sizes_of(arguments)
    programs = _programs(module, arguments, sizes, name, pool)
    workspace, constants = max(map(plan, programs)), place_constants(pool.constants.values())
    if max(workspace, constants) > _LARGEST:
        raise CannotCompile("the weights, or the memory of a call, are beyond 2 GB")
    for size in sizes:
        pool.failures.append(size.refusal)
    face = Face(programs, sizes, arguments)
    return Compiled(
        object_file(programs, sizes, pool, name, constants),
        header_text(
            name,
            source,
            face.parameters(name),
            workspace,
            _ABOUT.format(name=name),
            sizes_declared(face, name),
        ),
        example_of_tensors(face, name),
        workspace,
        constants,
    )


_ABOUT: Final = """Gives 0, or the number of a failure, which {name}_failure has a text for.
 * Elements lie in C's order. Threads may call it at the same time, each with a workspace of its
 * own."""


def _programs(
    module: Module, arguments: Sequence[object], sizes: Sequence[Size], name: str, pool: Pool
) -> list[Program]:
    """The programs for all values of the sizes."""
    function = _forward(module)
    graph = inline(graph_of(function), "forward", CONTEXT)
    given, defaults = _parameters(function.signature, arguments)
    texts = [*(size.name for size in sizes), *(parameter.name for parameter in given)]
    names = c_names(texts, name)
    if names[: len(sizes)] != texts[: len(sizes)]:
        raise CannotCompile(f"`{texts[0]}` cannot be the name of a size")
    programs = []
    for values in combinations(sizes):
        examples = [
            each.example(values) if isinstance(each, Described) else each for each in arguments
        ]
        with no_grad(), np.errstate(all="ignore"):
            try:
                program = program_of(
                    graph, module._c, examples, names[len(sizes) :], defaults, pool
                )
            except CannotCompile as error:
                where = ", ".join(f"{size.name} = {value}" for size, value in values.items())
                raise CannotCompile(f"for {where}: {error}" if where else str(error)) from None
        programs.append(program)
        _check_results(program, programs[0])
    return programs


def _check_results(program: Program, first: Program) -> None:
    """Results of all sizes have the same dtypes and numbers of dimensions."""
    kinds = [[(each.letter, len(each.shape)) for each in p.outputs] for p in (program, first)]
    if kinds[0] != kinds[1]:
        raise CannotCompile("dtypes or numbers of dimensions of results depend on the sizes")


def _forward(module: Module) -> Function:
    found: Function | None = module._c.cls.method("forward")
    if found is None:
        raise CannotCompile("there is no method `forward`")
    return found


def _has_tensors(type: Type) -> bool:
    return type == TENSOR or any(map(_has_tensors, type.contained))


def _parameters(
    signature: Signature, arguments: Sequence[object]
) -> tuple[Sequence[Argument], list[object]]:
    """The parameters that are given, and the values of the others."""
    parameters = signature.arguments[1:]
    given, rest = parameters[: len(arguments)], parameters[len(arguments) :]
    missing = [f"`{each.name}`" for each in rest if not each.has_default]
    if missing:
        raise CannotCompile(f"there is no --input for the argument {', '.join(missing)}")
    if len(parameters) < len(arguments):
        names = ", ".join(f"`{each.name}`" for each in parameters)
        raise CannotCompile(f"forward takes {names} alone, but there are {len(arguments)} --input")
    for parameter in given:
        if parameter.type != TENSOR:
            raise CannotCompile(
                f"the argument `{parameter.name}` is no tensor but {parameter.type.annotation_str}"
            )
    return given, [each.default for each in rest]


def _of_texts(module: Module, arguments: Sequence[object], name: str, source: str) -> Compiled:
    if arguments:
        raise CannotCompile("forward takes no tensors, so it needs no --input")
    made = text_program(_forward(module), module._c, name)
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
