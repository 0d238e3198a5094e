"""Operators over numbers as LLVM's instructions."""

from __future__ import annotations

from typing import Final

__all__ = ["CONVERSIONS", "OUTSIDE", "SCALARS", "WHOLE", "WRAPPED", "functions", "kind_of_number"]

WHOLE: Final = "rushlight.whole"
OUTSIDE: Final = "rushlight.outside"
WRAPPED: Final = "rushlight.wrapped"


def functions() -> list[str]:
    """LLVM's functions that forms call.

    `fptosi` means nothing outside of its range: the interpreter gives the lowest number there, for
    NaN too, and refuses elements of tensors.  An index that counts from the end becomes one from
    the front.
    """
    return [
        f"define internal i1 @{OUTSIDE}(double %x) {{",
        "  %is_above = fcmp oge double %x, 0xC3E0000000000000",  # -2**63
        "  %is_below = fcmp olt double %x, 0x43E0000000000000",
        "  %fits = and i1 %is_above, %is_below",
        "  %outside = xor i1 %fits, true",
        "  ret i1 %outside",
        "}",
        f"define internal i64 @{WHOLE}(double %x) {{",
        f"  %outside = call i1 @{OUTSIDE}(double %x)",
        "  %cut = fptosi double %x to i64",
        "  %whole = select i1 %outside, i64 -9223372036854775808, i64 %cut",
        "  ret i64 %whole",
        "}",
        f"define internal i64 @{WRAPPED}(i64 %index, i64 %size) {{",
        "  %is_behind = icmp slt i64 %index, 0",
        "  %further = add i64 %index, %size",
        "  %place = select i1 %is_behind, i64 %further, i64 %index",
        "  ret i64 %place",
        "}",
    ]


def _scalars() -> dict[str, tuple[str, str, str]]:
    found = {}
    for name, word in (("add", "add"), ("sub", "sub"), ("mul", "mul")):
        found[f"aten::{name}.int"] = (f"{word} i64 {{0}}, {{1}}", "i64", "i64")
        found[f"aten::{name}.float"] = (f"f{word} double {{0}}, {{1}}", "double", "double")
        for mixed in ("int_float", "float_int"):
            found[f"aten::{name}.{mixed}"] = found[f"aten::{name}.float"]
    found["aten::div.float"] = ("fdiv double {0}, {1}", "double", "double")
    found["aten::div.int"] = found["aten::div.float"]
    found["aten::neg.int"] = ("sub i64 0, {0}", "i64", "i64")
    found["aten::neg.float"] = ("fneg double {0}", "double", "double")
    for word in ("lt", "gt", "le", "ge", "eq", "ne"):
        name, whole = word, word if word in ("eq", "ne") else f"s{word}"
        real = "une" if word == "ne" else f"o{word}"
        found[f"aten::{name}.int"] = (f"icmp {whole} i64 {{0}}, {{1}}", "i64", "i1")
        found[f"aten::{name}.float"] = (f"fcmp {real} double {{0}}, {{1}}", "double", "i1")
        for mixed in ("int_float", "float_int"):
            found[f"aten::{name}.{mixed}"] = found[f"aten::{name}.float"]
    for name, word in (("eq", "eq"), ("ne", "ne")):
        found[f"aten::{name}.bool"] = (f"icmp {word} i1 {{0}}, {{1}}", "i1", "i1")
    found["aten::__and__.bool"] = ("and i1 {0}, {1}", "i1", "i1")
    found["aten::__or__.bool"] = ("or i1 {0}, {1}", "i1", "i1")
    found["aten::__xor__.bool"] = ("xor i1 {0}, {1}", "i1", "i1")
    found["aten::__not__"] = ("xor i1 {0}, true", "i1", "i1")
    found["aten::Int.float"] = (f"call i64 @{WHOLE}(double {{0}})", "double", "i64")
    found["aten::Int.bool"] = ("zext i1 {0} to i64", "i1", "i64")
    found["aten::Int.int"] = ("add i64 {0}, 0", "i64", "i64")
    found["aten::Float.int"] = ("sitofp i64 {0} to double", "i64", "double")
    found["aten::Float.bool"] = ("uitofp i1 {0} to double", "i1", "double")
    found["aten::Float.Scalar"] = ("fadd double {0}, -0.0", "double", "double")
    found["aten::Bool.int"] = ("icmp ne i64 {0}, 0", "i64", "i1")
    found["aten::Bool.float"] = ("fcmp une double {0}, 0.0", "double", "i1")
    found["aten::sqrt.int"] = found["aten::sqrt.float"] = (
        "call double @llvm.sqrt.f64(double {0})",
        "double",
        "double",
    )
    for name, word in (("prim::min", "smin"), ("prim::max", "smax")):
        found[f"{name}.int"] = (f"call i64 @llvm.{word}.i64(i64 {{0}}, i64 {{1}})", "i64", "i64")
    return found


SCALARS: Final = _scalars()
"""By the operator's full name: the instruction, the kind of its operands, and of its result."""

CONVERSIONS: Final = {
    ("i64", "double"): "sitofp i64 {0} to double",
    ("i1", "double"): "uitofp i1 {0} to double",
    ("i1", "i64"): "zext i1 {0} to i64",
}


def kind_of_number(number: object) -> str:
    """LLVM's kind of a number of Python's; "" for anything else."""
    if isinstance(number, bool):
        return "i1"
    return "i64" if isinstance(number, int) else "double" if isinstance(number, float) else ""
