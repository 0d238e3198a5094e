"""The numbers that scripts, schemas and archives know dtypes by."""

from __future__ import annotations

from typing import Final

__all__ = ["NUMBERS", "OLD_NAMES"]

_IN_ORDER: Final = """
uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8
quint8 qint32 bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2
float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz uint16 uint32 uint64 uint1 uint2 uint3 uint4 uint5
uint6 uint7 int1 int2 int3 int4 int5 int6 int7 float8_e8m0fnu float4_e2m1fn_x2
"""
NUMBERS: Final = {name: number for number, name in enumerate(_IN_ORDER.split())}
"""The number of each dtype, by its name."""

OLD_NAMES: Final = {
    **{"half": "float16", "float": "float32", "double": "float64"},
    **{"short": "int16", "int": "int32", "long": "int64"},
    **{"chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128"},
}
"""Second names of dtypes."""
