"""Differences from torch that tools/fuzz_programs.py meets and that are meant, and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["LOOSER", "explained", "loosened"]

Found = Any
"""Results as JSON, as tools/fuzz_worker.py writes them."""

DEVIATIONS: tuple[tuple[str, str, str], ...] = (
    (
        r"complex|\dj",
        r"torch.*pop\(\) called on empty stack",
        "torch compares complex and whole numbers with an operator that it does not have",
    ),
    (
        r"(\w+) \+= \(*\1\b|(\w+)\.extend\(\(*\2\b|(v\d+) = (v\d+)\n(?:.*\n)*? *\4 \+= \3\b",
        r"torch.*(NoneType|raises)",
        "torch reads freed memory where a list is extended by itself",
    ),
    (
        r"fork\((self\.|p\b)",
        r"^(frozen|prepared)\n  torch +[^\n]*(Couldn't find method|does not have an attribute)",
        "torch freezes what a task is given without its methods and attributes",
    ),
    (
        r"\] [-+*]?= |index_put_|scatter_\(|index_add_\(",
        r"torch.*(index (-?\d+) is out of bounds |index out of range in self).*rushlight.*\1",
        "torch has written the elements before an index that is none; here nothing is written",
    ),
    (
        r"\.(div|floor_divide|remainder|fmod)_\(",
        r"torch[^\n]*ZeroDivisionError.*rushlight[^\n]*ZeroDivisionError",
        "torch has written the elements before a division by zero; here nothing is written",
    ),
    (
        r"masked_scatter_\(",
        r"torch.*Number of elements of source < number of ones in mask.*rushlight.*Number of elem",
        "torch has written the elements before it finds too few; here nothing is written",
    ),
    (
        r"\[",
        r"torch.*index -?\d+ (is out of bounds for dimension \d+ with size \d+).*"
        r"rushlight.*index -?\d+ \1",
        "which of several indices that are none torch names depends on the way it walks through "
        "them in memory",
    ),
    (
        r"(?m)^ +for .*\n(?: {8}.*\n)*? {8,}(?:.*, )?(\w+)(?: = |, .* = )(?:.*\n)*? {4}\1 [-+*/]= ",
        r"torch +{\"out\".*rushlight +{\"raises\"",
        "torch drops what is written at last to a variable that a loop may have replaced",
    ),
    (
        r"embedding_bag\(",
        r"torch.*Expected i < index_size to be true.*rushlight.*Index \d+ of input takes value",
        "torch's kernel does not tell which index of a bag is none",
    ),
    (
        r"unflatten\(",
        r"torch.*frame #.*rushlight.*Dimension specified as",
        "torch tells the frames of its C++",
    ),
    (
        r"\\r|\\x",
        r"^loaded.*torch refuses.*ill formed octal",
        "torch does not read in its archives what it writes for a carriage return",
    ),
    (
        r"@staticmethod|\bWhole\.plain\(",
        r"torch.*attribute lookup is not defined on python value of type 'type'",
        "torch knows static methods of a class of modules only once one of those was scripted",
    ),
    (
        r"\b(set|frozenset|super|type)\(",
        r"rushlight.*(Python builtin <built-in function (set|super|type)>|"
        r"python value of type 'type')",
        "torch takes a class of Python's for a function of tensors, which would run in Python",
    ),
    (
        r"\.set_\(",
        r"rushlight.*Could not set tensor of type",
        "torch's script reads the memory as another dtype, and beyond its end; Python may not",
    ),
    (
        r"\b\d+e1[0-6]\b|\b\d{11,19}\b",
        r"^loaded\n  torch refuses",
        "torch's archives say 10000000000 for 1e10, which is a whole number when it is read",
    ),
    (
        r"",
        r"torch.*UnicodeDecodeError",
        "torch cannot tell an error whose text ends within a character",
    ),
    (
        r"\bsorted\(|\.sort\(\)",
        r"torch.*are not sortable.*rushlight.*are not sortable",
        "torch names the declared types of what is in a tuple, here are those of the values",
    ),
    (
        r"\b(\w+)\.(masked_scatter_|addmm_|index_copy_|put_)\([^\n]*\b\1\b",
        r'torch.*"tensor".*rushlight.*"tensor"',
        "torch reads what it has just written where an operand is what is written into",
    ),
    (
        r"as_strided\(|for (\w+) in (\w+):\n(?:.*\n)*?.*\b\2 [-+*/|&]?= \1\b",
        r'torch.*"tensor".*rushlight.*"tensor"',
        "torch reads what it has just written where elements share their memory",
    ),
    (
        r"\bm\)* in [^\n]*\n(?:[^\n]*\n)*? *m = self\.",
        r"^scripted\n  torch +(refuses|\{\"refused)",
        "torch still reads the module where a name that stood for one has been assigned to",
    ),
    (
        r"self\.\w+ = [^\n]*(self\.w\b|'w'|self\.thrice\.p|\bv\d+)",
        r"^(frozen|prepared).*rushlight.*(leaf Variable|requires_grad)",
        "torch freezes a parameter that an attribute is set to, and then writes into the constant",
    ),
    (
        r"requires_grad_\(\)",
        r"torch .*\"out\".*rushlight.*leaf Variable",
        "torch leaves out what is written into a tensor that nobody sees, and does not check it",
    ),
    (
        r"no_grad\(\)",
        r"torch[^\n]*A view was created in no_grad mode[^\n]*\n  rushlight +\{\"out\"",
        "torch writes with gradients into no view made without them, even of what needs none; here "
        "gradients follow it",
    ),
    (
        r"(?:for|while) [^\n]*:\n(?: {8}[^\n]*\n)*? {8,}([a-e]) [-+*/|&]?= [^\n]*\n"
        r"(?:[^\n]*\n)*?"
        r" {4,}\1(?:\.\w+_\(|\[[^\n]*\] [-+*/|&]?= | [-+*/|&]= )",
        r"^\w+\n  torch +\{\"out\"",
        "torch takes what a loop leaves for what its rounds made, even where it has none, and "
        "drops what is then written into the argument",
    ),
    (
        r"divmod\(",
        r"torch .*\"out\".*rushlight.*ZeroDivisionError: \w+ divmod",
        "torch leaves out a division whose result nobody uses",
    ),
    (
        r"expand",
        r"expand\(CPU\w+Type.*expand\(torch\.\w+Tensor",
        "what Python calls the class of a tensor is told of scripts too",
    ),
    (
        r"topk\([^\n]*\[1\]",
        r'torch .*"tensor".*rushlight.*"tensor"',
        "which of equal elements `topk` takes is not said",
    ),
    (
        r"storage_offset\(",
        r'^\w+\n  torch +\{"out".*\n  rushlight +\{"out"',
        "NumPy does not keep where a tensor without elements begins",
    ),
    (
        r"\[[^\n]*\] = ",
        r"torch.*indexing result of shape \[(.*?)\].*rushlight.*of shape \[[01], \1\]",
        "what a mask without dimensions adds in front torch tells in Python, and not in scripts, "
        "where values that fit end in an assertion",
    ),
    (
        r"linalg\.(solve|inv)\(",
        r"(torch|rushlight).*the (input )?matrix is singular",
        "whether a matrix that is singular but for rounding is singular is a matter of rounding",
    ),
    (
        r"linalg\.(cond|pinv|inv|slogdet)\(|\.(pinverse|inverse|logdet)\(|svdvals|matrix_rank",
        r'torch.*"tensor".*rushlight.*"tensor"',
        "the inverse, or the determinant, of a matrix that is singular but for rounding is made of "
        "rounding",
    ),
    (
        r"matrix_power\(",
        r"torch[^\n]*the input matrix is singular|rushlight[^\n]*the input matrix is singular",
        "whether a matrix that is singular but for rounding is singular is a matter of rounding",
    ),
    (
        r"linalg\.det\(",
        r'torch.*"tensor".*rushlight.*"tensor"',
        "the determinant of a matrix that is singular but for rounding is made of rounding",
    ),
    (
        r"\.item\(\)",
        r"^loaded\n  torch refuses[^\n]*expected ident but found ','",
        "torch does not read in its archives how it writes a union with a number that was read",
    ),
    (
        r"\breversed\(",
        r"torch[^\n]*reversed\(Tensor 0\) -> Tensor 0",
        "torch takes `reversed` for a function of tensors, which would run in Python",
    ),
    (
        r"cmath\.",
        r"torch[^\n]*(INTERNAL ASSERT FAILED|The specifier %)|"
        r"annotated as having type [^\n]*float[^\n]* but is actually of type [^\n]*complex",
        "a complex number divided by a float is a float by torch's schema, which its value is not",
    ),
    (
        r"\*\* -1\b",
        r"rushlight.*value cannot be converted to type int without overflow",
        "torch takes an int to a negative power, which is a float, for an int",
    ),
)
"""A pattern for the program's text, one for the difference, and the reason."""


def explained(source: str, told: str) -> str:
    """Why a difference is meant; empty if it is not."""
    for program, difference, reason in DEVIATIONS:
        if re.search(program, source) and re.search(difference, told, re.DOTALL):
            return reason
    return ""


def loosened(found: Found, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Found:
    """Results in which each record is replaced, the inner ones first."""
    if isinstance(found, dict):
        return change({key: loosened(value, change) for key, value in found.items()})
    return [loosened(each, change) for each in found] if isinstance(found, list) else found


def _without_small_steps(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("t") != "tensor" or not value["stride"]:
        return value
    pairs = zip(value["stride"], value["shape"], strict=True)
    return {**value, "stride": [step for step, count in pairs if count > 1]}


def _rounded(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("t") != "float":
        return value
    return {"t": "float", "v": f"{float(''.join(value['v'])):.5g}"}


def _unsigned(value: dict[str, Any]) -> dict[str, Any]:
    texts = {k: v for k, v in value.items() if isinstance(v, str) and "nan" in v}
    bare = {k: re.sub(r"[ -]+(?=nan)|^ +| +$", "", v, flags=re.M) for k, v in texts.items()}
    return {**value, **bare}


def _with_positive_zeros(value: dict[str, Any]) -> dict[str, Any]:
    if not str(value.get("dtype")).startswith("complex"):
        return value
    return {**value, "v": re.sub(r"(?<![\d.])-0(?=[-+j])|[-+]0(?=j)", "0", value["v"])}


def _as_after_waiting(value: dict[str, Any]) -> dict[str, Any]:
    raised = value.get("raises")
    if not isinstance(raised, list) or raised[0] != "Error":
        return value
    return {**value, "raises": ["RuntimeError", *raised[1:]]}


def _beside_largest(value: dict[str, Any]) -> dict[str, Any]:
    """Elements in parts of the largest one."""
    if value.get("t") != "tensor" or not re.fullmatch(r"[-+.\de ]*\.[-+.\de ]*", value["v"]):
        return value
    elements = [float(text) for text in value["v"].split()]
    largest = max(map(abs, elements)) or 1.0
    return {**value, "v": " ".join(f"{each / largest + 0.0:.4f}" for each in elements)}


LOOSER: tuple[tuple[str, str, Callable[[dict[str, Any]], dict[str, Any]], str], ...] = (
    (
        "",
        "",
        _without_small_steps,
        "a dimension of one element has no stride of its own in NumPy",
    ),
    (
        r"sum\(|item\(|mean\(|norm\(|float\(",
        "",
        _rounded,
        "a number that was read from a float32 tensor, whose last bits differ",
    ),
    (
        r"conv|linear|bilinear|@|mm\(|linalg|fft|einsum|cumsum|interpolate|_norm\(|matmul|pool",
        "",
        _beside_largest,
        "a sum of elements that cancel each other, whose last bits differ",
    ),
    (
        r"wait\(",
        r"torch[^\n]*\"RuntimeError\"[^\n]*\n  rushlight[^\n]*\"Error\"",
        _as_after_waiting,
        "torch gives what a script raises another class once the script has waited for "
        "a task that was not done",
    ),
    (
        r"neg|-",
        r"complex",
        _with_positive_zeros,
        "torch's wide instructions negate a complex zero otherwise than the few elements left over",
    ),
    ("", "", _unsigned, "whether a NaN has a sign depends on the instructions of the processor"),
)
"""A pattern for the program's text, one for the difference, what to compare instead of a record of
a result, and the reason why a difference that is gone then is meant."""
