"""What is known of an operator stands in its declaration; what else names operators is listed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import rushlight.ops
from rushlight.ops.table.table import TABLE

ROOT = Path(rushlight.ops.__file__).resolve().parent.parent
NAMES = {name.partition("::")[2] for name in TABLE.names()}
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
        rushlight/foreach.py: _METHODS _ONE _ONLY_NEW
        rushlight/fx/_purity.py: _RANDOM
        rushlight/masked/maskedtensor/binary.py: BINARY_NAMES INPLACE_BINARY_NAMES
        rushlight/masked/maskedtensor/passthrough.py: _MADE_OF_THEM _NAMES
        rushlight/masked/maskedtensor/reductions.py: REDUCE_NAMES
        rushlight/masked/maskedtensor/unary.py: INPLACE_UNARY_NAMES UNARY_NAMES
        rushlight/masked/maskedtensor/unary.py: UNARY_NAMES_UNSUPPORTED
        rushlight/nn/init.py: _GAINS
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
    """,
    "forms that are joined to operators by name, from a file of their own": """
        interpreter/code/steps.py: _TOLD_MORE
        ir/tracing/trace_arguments.py: _CHANGES DECOMPOSED
        ops/batching/families.py: _DIMS _PRODUCTS
        ops/gradients/calls/symbols.py: _TURNED
        ops/gradients/formulas/quantize.py: _WITH_MASK
        rushlight/ao/quantization/graph_form/roles.py: ROLES _PASSED
        rushlight/ao/quantization/graph_form/rounding.py: _KEPT
    """,
    "what one pass rewrites, or one reader looks for": """
        ir/passes/arithmetic.py: NEUTRAL
        ir/passes/constant_propagation.py: _COMPARISONS
        ir/passes/fold_frozen.py: _CONVOLUTIONS
        ir/tracing/tracing.py: _READERS
        ops/meta/calls.py: _COPIES
    """,
}
"""The tables there are, by what they are and by file.  What is known of an operator itself is no
such thing: it is a field of its record."""


def files() -> Iterator[tuple[str, ast.Module]]:
    """The product's files outside the families of operators."""
    rooms = [ROOT / "ops" / room for room in NOT_FAMILIES]
    parts = [ROOT / part for part in ("frontend", "typecheck", "ir", "interpreter")]
    for folder in (*parts, *rooms, ROOT / "rushlight"):
        for file in sorted(folder.rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            linked = folder.name == "rushlight" and file.resolve() != file
            if not linked and not name.startswith(TEXTS):
                yield name, ast.parse(file.read_text(encoding="utf-8"))


def operators_named(value: ast.expr) -> set[str]:
    """The operators whose names are words of the strings in an expression; schemas aside."""
    strings = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
    texts = (text for text in strings if isinstance(text, str) and "->" not in text)
    return {word for text in texts for word in WORD.findall(text)} & NAMES


def tables() -> Iterator[tuple[str, str]]:
    """The module-level variables that name at least four operators, with their files."""
    for file, tree in files():
        for node in tree.body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            named = ast.unparse(target)
            is_sentence = isinstance(node.value, ast.Constant) and "\n" not in str(node.value.value)
            if named == "__all__" or is_sentence:
                continue
            if len(operators_named(node.value)) >= 4:
                yield file, named


def test_what_is_known_of_operators_stands_with_their_declarations() -> None:
    lines = (line.strip() for text in ALLOWED.values() for line in text.strip().splitlines())
    split = (line.split(": ") for line in lines)
    assert set(tables()) == {(file, name) for file, names in split for name in names.split()}
