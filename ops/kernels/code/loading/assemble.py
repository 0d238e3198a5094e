"""LLVM's text -> an object file, by llvmlite; and objects into memory, where we have no loader."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Literal

import llvmlite.binding as llvm

from ..language.target import Target

__all__ = ["Care", "assembled", "placed"]

Care = Literal["little", "usual", "ordered", "much"]
"""How much of it a compiler takes: a draft is made in about a third of the time and runs in about
twice.  Programs, which branch, call and read single numbers all the time, run in half of the usual
time or less after all that LLVM does for such, which takes about four times as long; the loops of
kernels are written as they are to run.  Those whose sums fill the registers are to be ordered as
they are written, too: LLVM would read all that they need first, and have no place for it."""


@cache
def _native() -> object:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    # Windows' own form of objects cannot be loaded into memory by LLVM
    return llvm.get_process_triple() + ("-elf" if sys.platform == "win32" else "")


@cache
def _machine(cpu: str, features: str, triple: str, level: int) -> Any:
    here = _native()
    if triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    if not cpu:
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_triple(triple or here).create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small"
    )


def assembled(text: str, target: Target, care: Care = "usual") -> bytes:
    """The object file of a module.

    Raises:
        RuntimeError: LLVM takes it for wrong.
    """
    machine = _machine(target.cpu, target.features, target.triple, 0 if care == "little" else 2)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    if care == "much":
        _pass_all(module, machine)
    else:
        _pass_usual(module, machine, is_draft=care == "little")
    with _told(care):
        made: bytes = machine.emit_object(module)
    return made


def _pass_usual(module: llvm.ModuleRef, machine: object, *, is_draft: bool) -> None:
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    if not is_draft:
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_loop_rotate_pass()
        passes.add_new_gvn_pass()
    passes.add_global_dead_code_eliminate_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes.run(module, llvm.create_pass_builder(machine, options))


def _pass_all(module: llvm.ModuleRef, machine: object) -> None:
    """What LLVM has for programs, but vectors: their loops are short, and wait for memory."""
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


_TRIED: Final = range(20, 23)
"""Versions of LLVM that know the options below; one that does not would end the process."""


@contextmanager
def _told(care: Care) -> Iterator[None]:
    """Have loops keep the addresses that they were written with, and their order if that is asked.

    To look for better ones ("loop strength reduction") takes half of the time of long kernels and
    programs, which get larger by it and no quicker.  Who else has LLVM make code in this process
    finds it as it was.
    """
    if llvm.llvm_version_info[0] not in _TRIED:
        yield
        return
    options = {"-disable-lsr=true": "-disable-lsr=false"}
    if care == "ordered":
        options["-enable-misched=false"] = "-enable-misched=true"
    for option in options:
        llvm.set_option("", option)
    try:
        yield
    finally:
        for option in options.values():
            llvm.set_option("", option)


_ENGINES: list[object] = []
"""What keeps the memory of placed objects."""


def placed(data: bytes, names: tuple[str, ...]) -> dict[str, int]:
    """The addresses of an object's functions, put into memory by LLVM.

    Raises:
        RuntimeError: it is no object of this system.
    """
    machine = llvm.Target.from_triple(_native()).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _ENGINES.append(engine)
    return {name: engine.get_function_address(name) for name in names}
