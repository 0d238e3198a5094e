"""What is known of an operator stands in its declaration; what else names operators is listed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import rushlight.ops
from rushlight.ir.graphs.kinds import KINDS
from rushlight.ops.table.table import TABLE

ROOT = Path(rushlight.ops.__file__).resolve().parent.parent
NAMES = {name.partition("::")[2] for name in TABLE.names()}
QUALIFIED = set(TABLE.names()) - set(KINDS)
WORD = re.compile(r"(?:\b(?:aten|prim|quantized)::)?(\w+)")

NOT_FAMILIES = """
    table memory eager tensors gradients batching dispatching meta nested_tensors sparse_tensors
""".split()
"""The rooms of `ops` that are about operators of others."""

TEXTS = (
    "rushlight/cli/",  # commands and schemas
    "frontend/diagnostics/codes",
    "frontend/syntax/unsupported.py",
    "interpreter/code/instructions.py",
    "ops/gradients/recording/recording.py",
    "ops/memory/counting_code.py",
    "ops/sparse_tensors/resizing.py",
    "rushlight/profiling/flame.py",
    "typecheck/scopes/advice.py",
)
"""Sentences, instructions, LLVM's text and pages, whose words are operators' names by chance;
archives and what is read of them (`serialization`) name operators as others write them, too."""

ALLOWED = {
    "Python's signs, functions, types and members, and what they stand for": """
        typecheck/definitions/signs.py: BETWEEN COMPARING
        typecheck/scopes/annotations.py: TYPE_NAMES
        typecheck/expressions/operators.py: _TENSOR_PROPERTIES
        typecheck/trees/sugar.py: MAGIC
        typecheck/calls/special_forms.py: OPERATORS_BY_NAME CASTS_BY_NAME
        ops/eager/binding.py: _TYPE_NAMES
        ops/eager/looks.py: _PROPERTIES _STEPS
        ops/tensors/tracing.py: READINGS
        ops/batching/batched.py: _OF_VALUE
        ops/gradients/recording/heard_members.py: MEMBERS
        ops/gradients/calls/symbols.py: _FACTS
        ops/meta/tensors.py: _FORM
        rushlight/ao/quantization/fx/prepare.py: _NO_TENSORS
        rushlight/jit/builtin_functions.py: _RENAMED _MATH _CMATH _SPECIAL
        rushlight/jit/scripted_objects.py: _FORWARDED
        rushlight/masked/maskedtensor/conversions.py: _ASKED
    """,
    "names that torch gives lists of, which programs read or ask for by a word": """
        ops/nested_tensors/calls.py: _SINGLE _PAIRS
        ops/sparse_tensors/products.py: _REDUCTIONS
        rushlight/__init__.py: _FUNCTIONAL
        rushlight/absent_devices.py: _ANSWERS
        rushlight/ao/quantization/backend_config/native.py: _FROM_0 _SHARING
        rushlight/fx/_purity.py: _RANDOM
        rushlight/masked/maskedtensor/binary.py: BINARY_NAMES INPLACE_BINARY_NAMES
        rushlight/masked/maskedtensor/passthrough.py: _MADE_OF_THEM _NAMES
        rushlight/masked/maskedtensor/reductions.py: REDUCE_NAMES
        rushlight/masked/maskedtensor/unary.py: INPLACE_UNARY_NAMES UNARY_NAMES
        rushlight/masked/maskedtensor/unary.py: UNARY_NAMES_UNSUPPORTED
        rushlight/nn/init.py: _GAINS
        rushlight/starred.py: _LEFT_OUT
    """,
    "which operators torch's passes of these names take": """
        ir/passes/activations.py: _KEEP_DTYPE
        ir/passes/differentiable_groups.py: _DIFFERENTIATED
    """,
    "what torch calls the nodes of gradients": """
        ops/gradients/table/names.py: _PLAIN _REDUCED
    """,
    "operators of other formats": """
        rushlight/onnx/meanings/pointwise.py: _FUNCTIONS
        rushlight/onnx/meanings/shapes.py: _REDUCTIONS
    """,
    "words of native code and of kernels, and kinds, by chance": """
        interpreter/native/emitter.py: HEADERS
        interpreter/native/expressions.py: _ARITHMETIC _COMPARED
        interpreter/plans/chains.py: _JOINING
        ir/graphs/kinds.py: _KINDS
        ops/table/words.py: _OF_DIVISOR
    """,
    "forms that are joined to operators by name, from a file of their own": """
        rushlight/ao/quantization/graph_form/roles.py: ROLES
    """,
}
"""The tables there are, by what they are and by file.  What is known of an operator itself is no
such thing: it is a field of its record."""


ASKED = {
    "what the checker writes for Python's signs, or warns of": """
        typecheck/relations/literals.py: aten::neg
        typecheck/reports/other_types.py: aten::div
        typecheck/scopes/lint.py: aten::wait
        ir/lowering/lower_expressions.py: aten::Delete aten::bitwise_not aten::neg prim::Print
    """,
    "what passes rewrite, and what keeps them from it": """
        ir/aliases/alias_db.py: aten::manual_seed aten::warn prim::Print
        ir/passes/arithmetic.py: aten::add aten::eq aten::mul aten::ne aten::sub
        ir/passes/batched_products.py: aten::add aten::mm
        ir/passes/differentiable_groups.py: aten::dropout aten::expand aten::reshape aten::view
        ir/passes/fewer_operators.py: aten::__is__ aten::__isnot__ aten::add aten::add_
        ir/passes/fewer_operators.py: aten::addmm aten::detach aten::expand aten::matmul
        ir/passes/fewer_operators.py: aten::mm aten::relu aten::relu_ aten::t
        ir/passes/fold_frozen.py: aten::add aten::linear aten::mul
        ir/passes/inline_tasks.py: aten::wait
        ir/passes/known_containers.py: aten::__getitem__ aten::add aten::len aten::slice
        ir/passes/mutation.py: aten::_set_item aten::append aten::fill_ aten::insert
        ir/passes/mutation.py: aten::normal_ aten::zero_
        ir/passes/normalize.py: aten::__is__ aten::__isnot__ aten::rsub
        ir/passes/peephole.py: aten::Float aten::Int aten::ScalarImplicit aten::__is__
        ir/passes/peephole.py: aten::__isnot__ aten::eq aten::ne prim::NumToTensor
        ir/passes/refinement.py: aten::__not__ aten::eq aten::len aten::ne
        ir/passes/shape_peephole.py: aten::conv1d aten::conv2d aten::conv3d aten::dim
        ir/passes/shape_peephole.py: aten::expand aten::is_complex aten::is_floating_point
        ir/passes/shape_peephole.py: aten::len aten::size aten::t aten::type_as prim::dtype
        ir/passes/shape_peephole.py: prim::is_cuda
        ir/passes/sizes_as_numbers.py: aten::Int aten::IntImplicit aten::ScalarImplicit
        ir/passes/sizes_as_numbers.py: aten::add aten::div aten::floor_divide
        ir/passes/sizes_as_numbers.py: aten::len aten::mul aten::size
        ir/passes/sizes_as_numbers.py: aten::sub prim::NumToTensor
        ir/passes/transposed_linear.py: aten::linear
        ir/passes/warnings.py: aten::warn
    """,
    "what traces write in another way": """
        ir/tracing/trace_outplace.py: aten::copy_
        ir/tracing/tracing.py: aten::dim aten::numel
    """,
    "what plans and native code do in a row, and what ends it": """
        interpreter/code/steps.py: aten::einsum.sublist
        interpreter/native/islands.py: aten::__getitem__ aten::tensor
        interpreter/plans/given.py: aten::__contains__ aten::__getitem__
        interpreter/plans/lifting.py: aten::__getitem__ aten::tensor
        interpreter/plans/number_writes.py: aten::copy_ aten::tensor prim::device prim::dtype
        interpreter/plans/plan.py: aten::set_grad_enabled
        interpreter/running/conditions.py: aten::__is__ aten::__isnot__ aten::len
        interpreter/running/traits.py: aten::device
        interpreter/running/writes.py: aten::__getitem__ aten::_unwrap_optional aten::items
        interpreter/running/writes.py: aten::values
    """,
    "what modes, gradients and other tensors treat apart": """
        ops/gradients/recording/listening.py: aten::dim aten::numel aten::size
        ops/batching/batched.py: aten::batch_norm
        ops/dispatching/modes.py: aten::_local_scalar_dense
        rushlight/_subclasses/fake_tensor.py: aten::_local_scalar_dense aten::lift_fresh
        ops/meta/calls.py: aten::cpu aten::to aten::to.other
        ops/sparse_tensors/calls.py: aten::conj_physical_ aten::neg_ aten::negative_ aten::zeros
    """,
    "operators of other formats, graphs for quantization and programs compiled ahead": """
        rushlight/_C/propagation.py: aten::cpu aten::cuda aten::expand_as aten::reshape_as
        rushlight/_C/propagation.py: aten::type_as aten::view_as
        rushlight/ahead/texts.py: aten::warn prim::Print
        rushlight/ahead/walk.py: aten::Bool.Tensor aten::Float.Tensor aten::Int.Tensor
        rushlight/ahead/walk.py: aten::__is__ aten::is_leaf aten::item aten::select.int
        rushlight/ahead/walk.py: prim::requires_grad
        rushlight/ao/quantization/graph_form/exchange.py: aten::__getitem__ aten::cat
        rushlight/ao/quantization/graph_form/exchange.py: aten::dequantize
        rushlight/ao/quantization/graph_form/exchange.py: aten::quantize_per_channel
        rushlight/ao/quantization/graph_form/exchange.py: aten::quantize_per_tensor aten::relu
        rushlight/ao/quantization/graph_form/exchange.py: aten::relu_
        rushlight/ao/quantization/graph_form/observe.py: aten::add aten::mul aten::relu
        rushlight/ao/quantization/graph_form/observe.py: aten::relu_
        rushlight/ao/quantization/graph_form/roles.py: aten::add aten::batch_norm aten::cat
        rushlight/ao/quantization/graph_form/roles.py: aten::celu aten::elu aten::group_norm
        rushlight/ao/quantization/graph_form/roles.py: aten::hardsigmoid aten::hardswish
        rushlight/ao/quantization/graph_form/roles.py: aten::instance_norm aten::layer_norm
        rushlight/ao/quantization/graph_form/roles.py: aten::linear aten::mul aten::sigmoid
        rushlight/ao/quantization/graph_form/roles.py: aten::tanh
        rushlight/ao/quantization/graph_form/rounding.py: aten::dequantize
    """,
}
"""The files that ask which operator they meet, and for which ones; who calls an operator by name
asks nothing.  What is true of an operator wherever it stands is asked of its record instead."""


class Named(NamedTuple):
    """What a file says of operators; its tree is not kept."""

    tables: list[str]
    """The module-level variables that name at least four."""

    asked: set[str]
    """Those that code compares what it meets with, or looks for."""


@cache
def files() -> dict[str, Named]:
    """The product's files outside the families of operators."""
    found = {}
    rooms = [ROOT / "ops" / room for room in NOT_FAMILIES]
    parts = [ROOT / part for part in ("frontend", "typecheck", "ir", "interpreter")]
    for folder in (*parts, *rooms, ROOT / "rushlight"):
        for file in sorted(folder.rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            linked = folder.name == "rushlight" and file.resolve() != file
            if not linked and not name.startswith(TEXTS):
                text = file.read_text(encoding="utf-8")
                tree = ast.parse(text)
                found[name] = Named(list(tables(tree)), set(asked(tree) if "::" in text else ()))
    return found


def asked(tree: ast.Module) -> Iterator[str]:
    """The operators that code compares what it meets with, or looks for in a small collection."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (n for each in (node.left, *node.comparators) for n in names_in(each))
        elif isinstance(node, ast.MatchValue):
            yield from names_in(node.value)
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            value = statement.value
            wraps = isinstance(value, ast.Call) and ast.unparse(value.func) in ("frozenset", "set")
            held = value.args[0] if wraps and value.args else value
            yield from [] if isinstance(held, ast.Constant) else names_in(held)


def names_in(value: ast.expr) -> list[str]:
    """The qualified names that an expression is, or that a display of strings holds."""
    parts = [value]
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        parts = value.elts
    elif isinstance(value, ast.Dict):
        parts = [each for each in value.keys if each is not None]
    elif not isinstance(value, ast.Constant):
        return []
    strings = [each.value for each in parts if isinstance(each, ast.Constant)]
    return [n for n in strings if isinstance(n, str) and n.partition(".")[0] in QUALIFIED]


def operators_named(value: ast.expr) -> set[str]:
    """The operators whose names are words of the strings in an expression; schemas aside."""
    strings = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
    texts = (text for text in strings if isinstance(text, str) and "->" not in text)
    return {word for text in texts for word in WORD.findall(text)} & NAMES


def tables(tree: ast.Module) -> Iterator[str]:
    """The module-level variables that name at least four operators."""
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        named = ast.unparse(target)
        is_sentence = isinstance(node.value, ast.Constant) and "\n" not in str(node.value.value)
        if named == "__all__" or is_sentence:
            continue
        if len(operators_named(node.value)) >= 4:
            yield named


def test_what_is_known_of_operators_stands_with_their_declarations() -> None:
    lines = (line.strip() for text in ALLOWED.values() for line in text.strip().splitlines())
    split = (line.split(": ") for line in lines)
    found = {(file, name) for file, named in files().items() for name in named.tables}
    assert found == {(file, name) for file, names in split for name in names.split()}


def test_only_these_files_ask_which_operator_they_meet() -> None:
    lines = (line.strip() for text in ASKED.values() for line in text.strip().splitlines())
    allowed: dict[str, set[str]] = {}
    for line in lines:
        file, names = line.split(": ")
        allowed.setdefault(file, set()).update(names.split())
    found = {file: named.asked for file, named in files().items() if named.asked}
    assert found == allowed
