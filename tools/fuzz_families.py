"""What the programs of each family may say, for tools/fuzz_grammar.py."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import fuzz_flow
import fuzz_objects

__all__ = ["FAMILIES", "HEADER", "TENSORS", "Family", "Ways", "ways"]

Ways = dict[str, list[str]]

HEADER = """import cmath
import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple
from torch import Tensor
"""


@dataclass
class Family:
    """Tables of ways: expressions by type, statements, heads of blocks; and inputs."""

    types: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    ways: Ways = field(default_factory=dict)
    literals: Ways = field(default_factory=dict)
    inputs: Ways = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    header: str = HEADER
    function: str = "def f($head$):\n    "
    target: str = "f"
    scope: dict[str, str] = field(default_factory=dict)
    make: Callable[[random.Random], tuple[str, list[str]]] | None = None


def ways(text: str) -> list[str]:
    """The ways in a text: between double semicolons; `\\n` ends a line of one."""
    joined = re.sub(r"\s*\n\s*", " ", text)
    return [way.strip().replace("\\n", "\n") for way in joined.split(";;")]


def _each(*templates: str, of: str) -> list[str]:
    return [t.replace("@", word) for word in of.split() for t in templates]


INTS = ["0", "1", "2", "3", "-1", "-2", "7", "10", "64", "255", "-100"]
LARGE = ["9223372036854775807", "4611686018427387904", "9007199254740993", "-9223372036854775807"]
FLOATS = ["0.5", "2.0", "-1.5", "0.1", "3.0", "-0.0", "1e10", "1e-3", "2.5", "-7.25"]
WILD = ["float('inf')", "float('nan')", "-float('inf')", "1e308", "1e30", "9007199254740992.0"]
WORDS = ["''", "'a'", "'abc'", "'Hello World'", "'a,b,,c'", "'  x y\\t\\n'", "'12'", "'-3.5'"]
ODD = [
    "'\u00e9t\u00e9'",
    "'\u65e5\u672c'",
    "'a\\nb\\r\\nc'",
    "'{}'",
    "'%d'",
    "'aXbXc'",
    "'TITLE case'",
]
ODD += ["'\\x00z'", "'0x1f'", "'\u00df'", "'a\\'b\"'", "'\\\\n'", "'mississippi'", "'1e5'"]

_COMPARED = "< <= > >= == !="
_CONDITIONS = ["($bool$ and $bool$)", "($bool$ or $bool$)", "not $bool$"]
_HEADS = [
    "if $bool$:",
    "if $int$ > $int$:",
    "for $name$ in range($small$): #int",
    "for $name$ in range($int$ % 5, -2, -2): #int",
]
_BASE: Ways = {
    "small": ["0", "1", "2", "3", "4"],
    "index": ["0", "1", "-1", "2", "-2", "5"],
    "slice": [":", "1:", ":2", "-2:", ":-1", "::2", "1:3", "5:", "-9:2", "2:1", "1::3", ":-5"],
    "bool": ["True", "False"],
    "int": INTS,
    "float": FLOATS,
    "str": WORDS,
}
_REVERSED = ["::-1", "3:0:-1", "-1:-4:-2", ":1:-1"]

# ------------------------------------------------------------------------------------- numbers

_MATHS = (
    "sqrt exp log log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf "
    "erfc expm1 gamma lgamma degrees radians fabs"
)
NUMBERS = Family(
    types=["int", "int", "float", "float", "bool", "complex", "str", "List[int]", "List[float]"],
    parameters=["int", "int", "float", "float", "bool", "complex", "List[int]", "List[float]"],
    ways={
        "int": [
            *_each("($int$ @ $int$)", of="+ - * + - * // % & | ^ << >>"),
            *("-$int$", "~$int$", "abs($int$)", "int($float$)", "int($bool$)", "int($str$)"),
            *_each("@($int$, $int$)", of="min max math.gcd"),
            *_each("math.@($float$)", of="floor ceil"),
            *("$int$ ** $small$", "pow($int$, $small$)", "math.factorial($small$)"),
            *("sum($List[int]$)", "max($List[int]$)", "min($List[int]$)", "len($List[int]$)"),
            *("($int$ if $bool$ else $int$)", "math.frexp($float$)[1]", "round($int$)"),
            *("divmod($int$, $int$)[0]", "divmod($int$, $int$)[1]", "hash($int$)", "hash($float$)"),
            *("$List[int]$[$index$]", "$List[int]$.count($int$)"),
            *("int($str$)", "($bool$ + $int$)", "-$bool$", "$int$ ** -1", "len($str$)"),
            *("max($int$, $int$, $int$)", "math.floor($int$)", "int(torch.tensor($float$))"),
        ],
        "float": [
            *_each("($float$ @ $float$)", of="+ - * / // %"),
            *_each("($int$ @ $float$)", "($float$ @ $int$)", of="+ - * / // %"),
            *("($int$ / $int$)", "-$float$", "abs($float$)", "float($int$)", "float($bool$)"),
            *_each("@($float$, $float$)", "@($int$, $float$)", "@($float$, $int$)", of="min max"),
            *_each("math.@($float$)", of=_MATHS),
            *_each("math.@($int$)", of="sqrt exp log sin cos atan fabs"),
            *_each(
                "math.@($float$, $float$)", "math.@($int$, $float$)", of="pow atan2 copysign fmod"
            ),
            *("$float$ ** $float$", "$int$ ** $float$", "$float$ ** $int$", "float($str$)"),
            *(
                "math.ldexp($float$, $small$)",
                "math.modf($float$)[0]",
                "math.remainder($float$, 2.0)",
            ),
            *("round($float$)", "sum($List[float]$)", "max($List[float]$)", "min($List[float]$)"),
            *("divmod($float$, $float$)[1]", "divmod($int$, $float$)[0]", "math.frexp($float$)[0]"),
            *("abs($complex$)", "math.hypot($float$, 3.0)", "cmath.phase($complex$)"),
            *("$complex$.real", "$complex$.imag", "float(torch.tensor($float$))", "float($str$)"),
            *("$int$ % $float$", "divmod($float$, $float$)[0]", "min($float$, $float$, 1.5)"),
            *("($float$ if $bool$ else $float$)", "math.log($float$, $float$)", "math.pi"),
        ],
        "complex": [
            *_each("($complex$ @ $complex$)", "($complex$ @ $float$)", of="+ - * /"),
            *_each("($int$ @ $complex$)", of="+ - *"),
            *("complex($float$, $float$)", "complex($int$, $float$)", "-$complex$"),
            *("complex($int$, 0)", "$complex$ ** $complex$", "$complex$ ** $float$"),
            *("$float$ ** $complex$", "($float$ - $complex$)", "($float$ * $complex$)"),
            *_each("cmath.@($complex$)", of="exp log sqrt sin cos tan sinh cosh tanh acos asin"),
        ],
        "bool": [
            *_each("$int$ @ $int$", "$float$ @ $float$", "$int$ @ $float$", of=_COMPARED),
            *_each("$float$ @ $int$", of=_COMPARED),
            *("$complex$ == $complex$", "$complex$ != $float$", "bool($int$)", "bool($float$)"),
            *_each("math.@($float$)", of="isnan isinf isfinite"),
            *(
                "$int$ in $List[int]$",
                "$float$ in $List[float]$",
                "$int$ is $int$",
                "$bool$ == $bool$",
            ),
            *(
                "$float$ is $float$",
                "$int$ is not $int$",
                "0 < $int$ <= $int$ < 9",
                "$bool$ != $bool$",
            ),
            *("($bool$ ^ $bool$)", "($bool$ & $bool$)", "($bool$ | $bool$)", *_CONDITIONS),
            *(
                "$List[float]$ == $List[float]$",
                "$List[int]$ != $List[int]$",
                "any([$bool$, $bool$])",
            ),
        ],
        "str": [
            *("str($int$)", "str($float$)", "str($bool$)", "str($complex$)", "hex($int$)"),
            *("oct($int$)", "bin($int$)", "f'{$float$}'", "f'{$int$} {$bool$}'", "'%s' % $float$"),
            *(
                "'%d' % $int$",
                "'{}'.format($float$)",
                "'%f %g' % ($float$, $float$)",
                "'%e' % $float$",
            ),
            *(
                "str($List[float]$)",
                "chr($small$ + 70)",
                "'%i|%x' % ($int$, $int$)",
                "'%.3f' % $float$",
                "'%d|%i' % ($float$, $float$)",
                "'%f|%E|%F' % ($int$, $float$, $float$)",
                "'%c' % ($int$ % 128)",
                "f'{$complex$}|{$List[int]$}'",
                "'{}|{}'.format($List[float]$, $complex$)",
                "str($float$ == $int$) + str(-$float$)",
                "str(torch.tensor($float$).item())",
                "str(($float$, $int$, $bool$))",
            ),
        ],
        "List[int]": [
            *(
                "[$int$, $int$]",
                "sorted($List[int]$)",
                "$List[int]$[$slice$]",
                "$List[int]$ + [$int$]",
            ),
            *(
                "[x + $int$ for x in $List[int]$]",
                "list(range($small$, $int$ % 7))",
                "[$int$] * $small$",
            ),
        ],
        "List[float]": [
            *(
                "[$float$, $float$, $float$]",
                "$List[float]$[$slice$]",
                "[x * $float$ for x in $List[float]$]",
            ),
            *("[float(x) for x in $List[int]$]", "$List[float]$ + $List[float]$"),
        ],
    },
    literals={
        **_BASE,
        "int": [*INTS, *LARGE],
        "float": [*FLOATS, *WILD],
        "complex": ["1j", "complex(1.5, -2.0)", "complex(0.0, 0.0)", "2 + 3j"],
        "str": ["'12'", "'-3.5'", "'1e3'", "' 7'", "'x'", "'nan'"],
        "List[int]": ["[1, 2, 3]", "[5, -1]", "[0]"],
        "List[float]": ["[0.5, 1.5]", "[float('nan'), 1.0]", "[-0.0, 0.0, 2.5]"],
    },
    inputs={
        "int": ["0", "1", "-7", "3", "2**53 + 1", "2**63 - 1", "-2**63", "12"],
        "float": [
            "0.0",
            "-0.0",
            "1.5",
            "-2.5",
            "float('nan')",
            "float('inf')",
            "1e300",
            "0.1",
            "2.0**53",
        ],
        "complex": ["1j", "complex(-1.5, 2.0)", "0j", "complex(float('inf'), 1)"],
        "List[int]": ["[]", "[3, 1, 2]", "[2**62, 2**62]", "[-5, 5, 0, 0]"],
        "List[float]": ["[]", "[1.0, -1.0]", "[float('nan'), 2.0]", "[0.1] * 3"],
    },
    statements=[
        *_each("$var:int$ @= $int$", of="+ - *"),
        *_each("$var:float$ @= $float$", of="+ - * /"),
        *("$var:complex$ *= $complex$", "$var:int$ = $int$", "$var:float$ = $float$"),
        *(
            "print($int$, $float$, $bool$)",
            "print($complex$, $str$)",
            "$var:List[int]$.append($int$)",
        ),
        *("$var:List[float]$.sort()", "$var:float$ += $int$", "$var:List[int]$[$index$] = $int$"),
        "assert $bool$, 'no ' + $str$",
    ],
    heads=_HEADS,
)

# ------------------------------------------------------------------------------------- strings

_IS = "isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle"
_IS += " isupper"
STRINGS = Family(
    types=["str", "str", "str", "int", "bool", "List[str]", "List[str]", "Dict[str, int]"],
    parameters=["str", "str", "str", "int", "List[str]", "float"],
    ways={
        "str": [
            *("($str$ + $str$)", "$str$[$index$]", "$str$[$slice$]", "str($int$)", "str($float$)"),
            *_each("$str$.@()", of="upper lower capitalize title swapcase strip lstrip rstrip"),
            *_each("$str$.@($str$)", of="strip lstrip rstrip"),
            *(
                "$str$.replace($str$, $str$)",
                "$str$.replace($str$, $str$, $small$)",
                "$str$.zfill($int$ % 12)",
            ),
            *_each("$str$.@($int$ % 12)", "$str$.@($int$ % 9, '*')", of="center ljust rjust"),
            *("$str$.join($List[str]$)", "$str$.expandtabs()", "$str$.expandtabs($small$)"),
            *(
                "f'{$str$}|{$int$}'",
                "f'{$bool$}{$float$}'",
                "'{} {}'.format($str$, $int$)",
                "'{}'.format($List[str]$)",
            ),
            *(
                "'%s-%s' % ($str$, $int$)",
                "'%d%%' % $int$",
                "'%s' % $str$",
                "str($List[str]$)",
                "str($bool$)",
            ),
            *(
                "$List[str]$[$index$]",
                "chr($int$ % 128)",
                "$str$.partition($str$)[0]",
                "$str$.rpartition($str$)[2]",
            ),
            *(
                "($str$ if $bool$ else $str$)",
                "str($Dict[str, int]$)",
                "$str$.format($str$)",
                "$str$ % $str$",
            ),
            *(
                "$str$.partition($str$)[1]",
                "'%c' % $str$",
                "'%5d' % $int$",
                "'%f %e' % ($float$, $int$)",
            ),
            *_each("$str$.@($int$ % 9, $str$)", of="center ljust rjust"),
            *("$str$[$index$:$index$]", "$str$[::$index$]", "$str$[$index$:$index$:-1]"),
            *(
                "'{}{}'.format($List[str]$, $Dict[str, int]$)",
                "str(($str$, $int$))",
                "min($List[str]$)",
            ),
            *("max($List[str]$)", "','.join(sorted($List[str]$))", "str($str$.partition($str$))"),
        ],
        "int": [
            *(
                "len($str$)",
                "$str$.find($str$)",
                "$str$.rfind($str$)",
                "$str$.count($str$)",
                "$str$.index($str$)",
            ),
            *(
                "$str$.find($str$, $index$)",
                "$str$.find($str$, $index$, $index$)",
                "$str$.count($str$, 1, $index$)",
            ),
            *(
                "$str$.rfind($str$, 0, $index$)",
                "$str$.rindex($str$)",
                "ord($str$)",
                "ord($str$[$index$])",
            ),
            *(
                "int($str$)",
                "int(float($str$))",
                "len($List[str]$)",
                "($int$ + $int$)",
                "hash($str$) % 1000",
            ),
            *(
                "$List[str]$.index($str$)",
                "$List[str]$.count($str$)",
                "$Dict[str, int]$.get($str$, 7)",
            ),
        ],
        "float": ["float($str$)", "float($int$)"],
        "bool": [
            *(
                "$str$ in $str$",
                "$str$ not in $str$",
                "$str$ in $List[str]$",
                "$str$ in $Dict[str, int]$",
            ),
            *_each("$str$ @ $str$", of=_COMPARED),
            *_each("$str$.@()", of=_IS),
            *(
                "$str$.startswith($str$)",
                "$str$.endswith($str$)",
                "$str$.startswith($str$, $index$)",
            ),
            *("$str$.endswith($str$, 1, $index$)", "$int$ < $int$", "bool($int$)", *_CONDITIONS),
            *("$List[str]$ == $List[str]$", "$List[str]$ != $List[str]$", "any([$bool$, $bool$])"),
        ],
        "List[str]": [
            *(
                "$str$.split()",
                "$str$.split($sep$)",
                "$str$.split($sep$, $small$)",
                "$str$.rsplit($sep$)",
                "$str$.split(None, $small$)",
                "$str$.split(' ')",
                "[$str$ for _ in range($small$) if $bool$]",
            ),
            *(
                "$str$.rsplit($sep$, $small$)",
                "$str$.splitlines()",
                "$str$.splitlines(True)",
                "list($str$)",
            ),
            *(
                "[$str$, $str$]",
                "sorted($List[str]$)",
                "$List[str]$[$slice$]",
                "$List[str]$ + $List[str]$",
            ),
            *(
                "[c + $str$ for c in $str$]",
                "[w.upper() for w in $List[str]$]",
                "list($Dict[str, int]$.keys())",
            ),
        ],
        "Dict[str, int]": ["{$str$: $int$, $str$: $int$}", "{w: len(w) for w in $List[str]$}"],
    },
    literals={
        **_BASE,
        "slice": [*_BASE["slice"], *_REVERSED],
        "sep": [
            "','",
            "' '",
            "'a'",
            "'l'",
            "'bc'",
            "'\\u00e9'",
            "'ss'",
        ],  # torch has no end with ''
        "str": [*WORDS, *WORDS, *ODD, "' '", "','", "'X'", "'b'", "'l'"],
        "List[str]": ["['p']", "['b', 'a', 'B']", "['', ' ']"],
        "Dict[str, int]": ["{'a': 1}", "{'k': 2, 'abc': 3}"],
    },
    inputs={
        "str": [
            *WORDS,
            *ODD,
            "'aaa'",
            "'x' * 30",
            "'\U0001f600'",
            "'\\u01c5 \\u00ad'",
            "'nan'",
            "' 12 '",
        ],
        "int": ["0", "3", "-4", "17"],
        "float": ["0.5", "-0.0", "1e20", "1e-7", "100.0", "float('nan')", "123456789.0"],
        "List[str]": ["[]", "['a', 'bc', 'a']", "['\u00e9', 'Z', '']"],
    },
    statements=[
        *("$var:str$ += $str$", "$var:str$ = $str$", "print($str$, $List[str]$)", "print($str$)"),
        *(
            "$var:List[str]$.append($str$)",
            "$var:List[str]$.sort()",
            "$var:Dict[str, int]$[$str$] = $int$",
        ),
        *(
            "$var:List[str]$.remove($str$)",
            "$var:List[str]$.insert($index$, $str$)",
            "$var:int$ += $int$",
        ),
        *(
            "print($float$, $Dict[str, int]$)",
            "assert $bool$, $str$",
            "$var:List[str]$.extend($List[str]$)",
        ),
    ],
    heads=[*_HEADS, "for $name$ in $str$: #str", "for $name$ in $List[str]$: #str"],
)

# ---------------------------------------------------------------------------------- containers

_LISTS = ("int", "str", "float")
_LIST_WAYS: Ways = {
    f"List[{t}]": [
        *(f"[${t}$, ${t}$]", f"[${t}$]", f"$List[{t}]$[$slice$]", f"($List[{t}]$ + $List[{t}]$)"),
        *(
            f"sorted($List[{t}]$)",
            f"list($List[{t}]$)",
            f"$List[{t}]$.copy()",
            f"$List[{t}]$ * $small$",
            f"$List[{t}]$ * $index$",
            f"$index$ * $List[{t}]$",
            f"sorted($List[{t}]$, reverse=True)",
            f"[x for x in $List[{t}]$ if x != ${t}$]",
            f"[y for x in [$List[{t}]$, $List[{t}]$] for y in x]",
        ),
        *(f"[x for x in $List[{t}]$ ]", f"($List[{t}]$ if $bool$ else $List[{t}]$)"),
        f"[${t}$ for x in $List[int]$]",
    ]
    for t in _LISTS
}
_LIST_STATEMENTS = [
    statement.replace("T$", f"{t}$").replace("[T]", f"[{t}]")
    for t in _LISTS
    for statement in (
        *("$var:List[T]$.append($T$)", "$var:List[T]$.insert($index$, $T$)", "$var:List[T]$.pop()"),
        *("$var:List[T]$.pop($index$)", "$var:List[T]$.remove($T$)", "$var:List[T]$.reverse()"),
        *(
            "$var:List[T]$.sort()",
            "$var:List[T]$.sort(reverse=True)",
            "$var:List[T]$.extend($List[T]$)",
        ),
        *("$var:List[T]$.clear()", "del $var:List[T]$[$index$]", "$var:List[T]$[$index$] = $T$"),
        *("$var:List[T]$[$slice$] = $List[T]$", "del $var:List[T]$[$slice$]"),
        "print(sorted($List[T]$, reverse=True), $T$ in $List[T]$)",
        *(
            "$var:List[T]$ += $List[T]$",
            "$var:List[T]$ = $List[T]$",
        ),
        *(
            "$var:List[T]$[$index$] += $T$",
            "$var:List[T]$ *= $small$",
        ),
    )
]
_DICTS = (("str", "int"), ("int", "float"), ("int", "List[int]"), ("float", "int"))
_DICT_WAYS: Ways = {
    f"Dict[{k}, {v}]": [
        *(f"{{${k}$: ${v}$}}", f"{{${k}$: ${v}$, ${k}$: ${v}$}}", f"$Dict[{k}, {v}]$.copy()"),
        *(f"{{k: v for k, v in $Dict[{k}, {v}]$.items()}}", f"dict($Dict[{k}, {v}]$)"),
        *(f"{{x: ${v}$ for x in $List[{k}]$}}", f"dict([(${k}$, ${v}$)])"),
    ]
    for k, v in _DICTS
}
_DICT_STATEMENTS = [
    statement.replace("K, V", f"{k}, {v}").replace("$K$", f"${k}$").replace("$V$", f"${v}$")
    for k, v in _DICTS
    for statement in (
        *("$var:Dict[K, V]$[$K$] = $V$", "$var:Dict[K, V]$.pop($K$)", "$var:Dict[K, V]$.popitem()"),
        *("$var:Dict[K, V]$.update($Dict[K, V]$)", "$var:Dict[K, V]$.setdefault($K$, $V$)"),
        *(
            "$var:Dict[K, V]$.clear()",
            "del $var:Dict[K, V]$[$K$]",
            "$var:Dict[K, V]$ = $Dict[K, V]$",
        ),
        "print($Dict[K, V]$, len($Dict[K, V]$))",
        "$var:Dict[K, V]$[$K$] = $var:Dict[K, V]$[$K$]",
        "for k in list($Dict[K, V]$.keys()):\n    del $var:Dict[K, V]$[k]\n    break",
        "print([k for k in $Dict[K, V]$], list($Dict[K, V]$.items()), $K$ in $Dict[K, V]$)",
    )
]
_POINT = """
class Point(NamedTuple):
    x: int
    y: List[int]
    z: str = "p"

"""
CONTAINERS = Family(
    header=HEADER + _POINT,
    types=[
        *("int", "str", "bool", *(f"List[{t}]" for t in _LISTS), *_DICT_WAYS, "List[List[int]]"),
        *(
            "Tuple[int, str]",
            "Optional[int]",
            "Optional[List[int]]",
            "Point",
            "List[Tuple[int, str]]",
        ),
    ],
    parameters=[
        *(
            "int",
            "str",
            "List[int]",
            "List[str]",
            "List[float]",
            "Dict[str, int]",
            "Dict[int, float]",
        ),
        *("List[List[int]]", "Tuple[int, str]", "Optional[int]", "Dict[int, List[int]]", "Point"),
    ],
    ways={
        **_LIST_WAYS,
        **_DICT_WAYS,
        "int": [
            *(
                "len($List[int]$)",
                "$List[int]$[$index$]",
                "$Dict[str, int]$[$str$]",
                "sum($List[int]$)",
            ),
            *(
                "$Tuple[int, str]$[0]",
                "$Point$.x",
                "$Point$[0]",
                "$List[int]$.index($int$)",
                "max($List[int]$)",
            ),
            *(
                "$List[int]$.count($int$)",
                "$List[List[int]]$[$index$][$index$]",
                "len($Dict[str, int]$)",
            ),
            *(
                "$Dict[str, int]$.get($str$, $int$)",
                "$Dict[str, int]$.pop($str$, $int$)",
                "($int$ + $int$)",
            ),
            *(
                "$List[int]$.pop()",
                "$List[Tuple[int, str]]$[$index$][0]",
                "$Dict[float, int]$.get($float$, 3)",
            ),
            *(
                "min($List[int]$)",
                "len($List[List[int]]$)",
                "len($Tuple[int, str]$)",
                "$Point$.y[$index$]",
                "$Dict[str, int]$.setdefault($str$, $int$)",
            ),
        ],
        "str": [
            *(
                "$List[str]$[$index$]",
                "$Tuple[int, str]$[1]",
                "$Point$.z",
                "str($List[int]$)",
                "str($List[str]$)",
            ),
            *(
                "str($Dict[str, int]$)",
                "str($Tuple[int, str]$)",
                "str($Point$)",
                "str($Dict[int, float]$)",
            ),
            *(
                "'-'.join($List[str]$)",
                "str($List[List[int]]$)",
                "str($Optional[int]$)",
                "str($List[float]$)",
            ),
            *(
                "$List[Tuple[int, str]]$[$index$][1]",
                "str($Dict[int, List[int]]$)",
                "f'{$List[float]$}'",
            ),
        ],
        "float": [
            "$List[float]$[$index$]",
            "$Dict[int, float]$[$int$]",
            "sum($List[float]$)",
            "max($List[float]$)",
        ],
        "bool": [
            *(
                "$int$ in $List[int]$",
                "$str$ in $Dict[str, int]$",
                "$float$ in $List[float]$",
                "$int$ < $int$",
            ),
            *_each("$List[@]$ == $List[@]$", "$List[@]$ != $List[@]$", of="int str float"),
            *(
                "$List[int]$ is $List[int]$",
                "$List[int]$ is not $List[int]$",
                "len($List[str]$) > 1",
            ),
            *(
                "$Optional[int]$ is None",
                "$Optional[int]$ is not None",
                "$float$ in $Dict[float, int]$",
            ),
            *(
                "$str$ == $str$",
                "$str$ in $List[str]$",
                "$int$ not in $Dict[int, float]$",
                *_CONDITIONS,
            ),
            *(
                "$List[List[int]]$[$index$] is $List[int]$",
                "list($Dict[int, List[int]]$.values())[0] is $Dict[int, List[int]]$[$int$]",
            ),
        ],
        "List[int]": [
            *_LIST_WAYS["List[int]"],
            *(
                "list(range($small$))",
                "[i for i, x in enumerate($List[str]$)]",
                "list($Dict[str, int]$.values())",
            ),
            *(
                "$List[List[int]]$[$index$]",
                "$Point$.y",
                "[a * b for a, b in zip($List[int]$, $List[int]$)]",
            ),
            *(
                "$Dict[int, List[int]]$[$int$]",
                "list($Dict[int, float]$.keys())",
                "[x for y in $List[List[int]]$ for x in y]",
            ),
        ],
        "List[str]": [
            *_LIST_WAYS["List[str]"],
            "list($Dict[str, int]$.keys())",
            "list($Dict[str, int]$)",
        ],
        "List[List[int]]": [
            *(
                "[$List[int]$, $List[int]$]",
                "$List[List[int]]$[$slice$]",
                "[[x, $int$] for x in $List[int]$]",
            ),
            *(
                "list($Dict[int, List[int]]$.values())",
                "$List[List[int]]$ + [$List[int]$]",
                "$List[List[int]]$.copy()",
            ),
        ],
        "Tuple[int, str]": ["($int$, $str$)", "$List[Tuple[int, str]]$[$index$]"],
        "List[Tuple[int, str]]": [
            *(
                "[$Tuple[int, str]$]",
                "list(enumerate($List[str]$))",
                "list(zip($List[int]$, $List[str]$))",
            ),
            *("sorted($List[Tuple[int, str]]$)", "[(v, k) for k, v in $Dict[str, int]$.items()]"),
        ],
        "Optional[int]": ["$Dict[str, int]$.get($str$)", "None", "$int$"],
        "Optional[List[int]]": ["None", "$List[int]$", "$Dict[int, List[int]]$.get($int$)"],
        "Point": [
            "Point($int$, $List[int]$)",
            "Point($int$, $List[int]$, $str$)",
            "Point(y=$List[int]$, x=$int$)",
        ],
    },
    literals={
        **_BASE,
        "slice": [*_BASE["slice"], *_REVERSED],
        "float": [*FLOATS, "float('nan')"],
        "List[int]": ["[1, 2, 3]", "[4]", "[3, 3, 1]"],
        "List[float]": ["[0.5]", "[2.0, -1.5, 0.1]"],
        "List[str]": ["['b', 'a']", "['abc']"],
        "Dict[str, int]": ["{'a': 1, 'abc': 2}", "{'': 5}"],
        "Dict[int, float]": ["{1: 0.5, 2: -1.5}"],
        "Dict[int, List[int]]": ["{1: [1], 2: [2, 2]}"],
        "Dict[float, int]": ["{0.5: 1, 2.0: 2}"],
        "List[List[int]]": ["[[1], [2, 3]]"],
        "List[Tuple[int, str]]": ["[(2, 'b'), (1, 'a')]"],
    },
    inputs={
        "int": ["0", "1", "2", "-1"],
        "str": ["'a'", "'abc'", "''"],
        "List[int]": ["[]", "[1, 2, 3]", "[5, 5, -1, 0]"],
        "List[str]": ["[]", "['b', 'a', 'abc']"],
        "List[float]": ["[]", "[0.5, float('nan')]", "[3.0, -1.0, 2.0]"],
        "Dict[str, int]": ["{}", "{'a': 1, 'b': 2}", "{'abc': 7, 'a': 0, '': 3}"],
        "Dict[int, float]": ["{}", "{2: 0.5, 1: 1.5, 0: -1.0}"],
        "Dict[int, List[int]]": ["{1: [1, 2], 0: []}", "{2: [9]}"],
        "List[List[int]]": ["[]", "[[1, 2], [], [3]]"],
        "Tuple[int, str]": ["(1, 'a')"],
        "Optional[int]": ["None", "3"],
        "Point": ["Point(1, [1, 2])", "Point(2, [], 'q')"],
    },
    statements=[
        *_LIST_STATEMENTS,
        *_DICT_STATEMENTS,
        *(
            "$var:List[List[int]]$.append($List[int]$)",
            "$var:List[List[int]]$[$index$].append($int$)",
        ),
        *(
            "$var:List[List[int]]$[$index$] = $List[int]$",
            "$var:Point$.y.append($int$)",
            "$var:List[List[int]]$.pop()",
        ),
        *(
            "$var:Dict[int, List[int]]$[$int$].append($int$)",
            "o = $Optional[int]$\nif o is not None and o > $int$:\n    print(o + 1)",
            "assert $Optional[int]$ is not None, 'none ' + $str$",
            "x, y = $Tuple[int, str]$\nprint(y, x)",
            "x, y = $List[int]$\nprint(x - y)",
            "raise ValueError($str$)",
            "print($List[int]$, $Tuple[int, str]$)",
        ),
        *(
            "$var:Dict[str, int]$[$str$] += $int$",
            "print($Point$, $List[str]$)",
            "$var:List[Tuple[int, str]]$.sort()",
        ),
        *(
            "$var:Optional[int]$ = $Optional[int]$",
            "if $var:Optional[List[int]]$ is not None:\n    print(1)",
        ),
    ],
    heads=[
        *_HEADS,
        *(
            "for $name$ in $List[int]$: #int",
            "for $name$ in $List[str]$: #str",
            "for $name$ in $Dict[str, int]$: #str",
        ),
        *(
            "for $name$, _u in $Dict[int, float]$.items(): #int",
            "for $name$ in $Dict[int, float]$.values(): #float",
        ),
        *(
            "for _u, $name$ in enumerate($List[str]$): #str",
            "for $name$ in $List[List[int]]$: #List[int]",
        ),
        *("for $name$, _u in zip($List[int]$, $List[str]$): #int", "if len($List[int]$) > 1:"),
    ],
)

# ------------------------------------------------------------------------------------- tensors

_DTYPES = "float32 float64 int64 int32 uint8 bool float16 int8 int16"
TENSORS = Family(
    types=[
        "Tensor",
        "Tensor",
        "Tensor",
        "Tensor",
        "int",
        "float",
        "bool",
        "str",
        "List[int]",
        "List[Tensor]",
    ],
    parameters=["Tensor", "Tensor", "Tensor", "int", "float", "List[int]", "bool"],
    ways={
        "Tensor": [
            *_each("($Tensor$ @ $Tensor$)", "($Tensor$ @ $scalar$)", of="+ - * / // % + - *"),
            *_each("($scalar$ @ $Tensor$)", of="+ - * /"),
            *_each("($Tensor$ @ $Tensor$)", "($Tensor$ @ $scalar$)", of=_COMPARED),
            *_each("torch.@($Tensor$)", of="abs neg sign relu floor ceil trunc round sqrt exp"),
            *_each("$Tensor$.@()", of="sum mean max min prod any all argmax argmin std var median"),
            *_each("$Tensor$.@(0)", of="sum mean any all argmax cumsum cumprod flip"),
            *_each("$Tensor$.@($dim$)", of="sum argmax cumsum unsqueeze squeeze"),
            *_each("$Tensor$.@(-1, keepdim=True)", of="sum mean amax amin argmin all"),
            *_each("$Tensor$.to(torch.@)", of=_DTYPES),
            *_each("torch.tensor($List[int]$, dtype=torch.@)", of=_DTYPES),
            *_each("torch.@(2, 3)", "torch.@([2, 3], dtype=torch.int64)", of="ones zeros"),
            *_each(
                "$Tensor$.@()",
                of="t float long bool clone int double contiguous detach flatten half",
            ),
            *(
                "$Tensor$[$index$]",
                "$Tensor$[$slice$]",
                "$Tensor$[:, $index$]",
                "$Tensor$[..., $slice$]",
            ),
            *(
                "$Tensor$[None]",
                "$Tensor$[$Tensor$ > 0]",
                "$Tensor$[$List[int]$]",
                "$Tensor$[$index$, $slice$]",
            ),
            *(
                "torch.tensor($int$)",
                "torch.tensor($float$)",
                "torch.tensor($bool$)",
                "torch.arange($small$)",
            ),
            *(
                "torch.arange($float$, 3.0)",
                "torch.full([2, 2], $scalar$)",
                "torch.linspace(0, $float$, 4)",
            ),
            *(
                "torch.cat([$Tensor$, $Tensor$])",
                "torch.stack([$Tensor$, $Tensor$], $dim$)",
                "torch.where($Tensor$ > 0, $Tensor$, $Tensor$)",
            ),
            *(
                "$Tensor$.view(-1)",
                "$Tensor$.reshape($List[int]$)",
                "$Tensor$.reshape(-1)",
                "$Tensor$.transpose(0, $dim$)",
            ),
            *(
                "$Tensor$.expand(2, 2, 3)",
                "$Tensor$.permute(1, 0)",
                "$Tensor$.clamp($scalar$, 2)",
                "$Tensor$.repeat(2, 1)",
            ),
            *(
                "$Tensor$ ** $scalar$",
                "$Tensor$ ** 2",
                "torch.maximum($Tensor$, $Tensor$)",
                "$Tensor$ @ $Tensor$.t()",
            ),
            *(
                "-$Tensor$",
                "~($Tensor$ > 0)",
                "$Tensor$.masked_fill($Tensor$ > 1, $scalar$)",
                "$Tensor$.sort(-1)[0]",
            ),
            *(
                "$Tensor$.topk(1)[1]",
                "$Tensor$.max(0)[0]",
                "$Tensor$.min($dim$)[1]",
                "$List[Tensor]$[$index$]",
            ),
            *(
                "torch.add($Tensor$, $Tensor$, alpha=$scalar$)",
                "$Tensor$.chunk(2)[0]",
                "$Tensor$.index_select(0, torch.tensor([0, 1]))",
            ),
            *(
                "torch.zeros_like($Tensor$)",
                "torch.ones_like($Tensor$, dtype=torch.int32)",
                "$Tensor$.new_zeros([2])",
            ),
            *(
                "$Tensor$.gather(0, torch.zeros(1, 3, dtype=torch.int64))",
                "$Tensor$.nonzero()",
                "torch.eye($small$)",
            ),
            *(
                "$Tensor$.diagonal()",
                "$Tensor$.tril()",
                "$Tensor$.roll(1, 0)",
                "$Tensor$.unique()",
                "torch.outer($Tensor$.view(-1), $Tensor$.view(-1))",
            ),
            *(
                "$Tensor$.type_as($Tensor$)",
                "($Tensor$ & $Tensor$)",
                "($Tensor$ << 1)",
                "torch.logical_xor($Tensor$, $Tensor$)",
            ),
            *(
                "$Tensor$.narrow(0, 0, $small$)",
                "$Tensor$.select($dim$, $index$)",
                "torch.bitwise_not($Tensor$)",
            ),
        ],
        "scalar": ["$int$", "$float$", "$bool$", "$Tensor$.item()"],
        "int": [
            *(
                "int($Tensor$.sum())",
                "$Tensor$.size($dim$)",
                "$Tensor$.dim()",
                "$Tensor$.numel()",
                "len($Tensor$)",
            ),
            *(
                "int($Tensor$)",
                "$Tensor$.shape[$index$]",
                "$Tensor$.stride($dim$)",
                "($int$ + $int$)",
                "$Tensor$.storage_offset()",
            ),
        ],
        "float": [
            "float($Tensor$.sum())",
            "float($Tensor$)",
            "($float$ * $float$)",
            "float($int$)",
        ],
        "bool": [
            *(
                "bool($Tensor$.any())",
                "bool($Tensor$)",
                "$Tensor$.is_floating_point()",
                "$Tensor$.is_contiguous()",
            ),
            *(
                "$Tensor$.dtype == torch.float32",
                "torch.equal($Tensor$, $Tensor$)",
                "$Tensor$ is $Tensor$",
                "$int$ < $int$",
            ),
            *(
                "torch.allclose($Tensor$, $Tensor$)",
                "$Tensor$.shape == $Tensor$.shape",
                "$Tensor$.is_complex()",
                *_CONDITIONS,
            ),
        ],
        "str": [
            "str($Tensor$)",
            "f'{$Tensor$}'",
            "str($Tensor$.shape)",
            "'{}'.format($Tensor$)",
            "str($List[Tensor]$)",
            "str($Tensor$.dtype)",
        ],
        "List[int]": ["$Tensor$.shape", "list($Tensor$.size())", "[$int$, $int$]", "[0, 1]"],
        "List[Tensor]": [
            "[$Tensor$, $Tensor$]",
            "$Tensor$.split(1)",
            "$Tensor$.unbind(0)",
            "list(torch.chunk($Tensor$, 2))",
        ],
    },
    literals={
        **_BASE,
        "index": ["0", "-1", "1", "2"],
        "dim": ["0", "1", "-1", "0", "2"],
        "scalar": ["2", "0.5", "-1", "True"],
        "Tensor": [
            "torch.ones(2, 3)",
            "torch.tensor([[1, -2, 3], [0, 5, 6]])",
            "torch.tensor([0.5, -1.5, 2.0])",
        ],
        "List[int]": ["[0, 1]", "[2, 3]", "[-1]"],
        "List[Tensor]": ["[torch.ones(2, 3), torch.zeros(3)]"],
    },
    inputs={
        "Tensor": [
            *(
                "torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]])",
                "torch.arange(6).view(2, 3)",
                "torch.tensor(2.5)",
            ),
            *(
                "torch.tensor([True, False, True])",
                "torch.ones(2, 3, dtype=torch.float64)",
                "torch.tensor([1, 2, 3], dtype=torch.uint8)",
            ),
            *(
                "torch.zeros(0, 3)",
                "torch.tensor([1.0, float('nan'), float('inf')])",
                "torch.tensor(-3)",
                "torch.arange(4, dtype=torch.int32)",
            ),
            "torch.tensor([[2.0, 1.0], [0.0, -1.0], [4.0, 4.0]]).t()",
        ],
        "int": ["0", "1", "-2"],
        "float": ["0.5", "-2.0"],
        "List[int]": ["[2, 3]", "[6]", "[0, 1]"],
    },
    statements=[
        *(
            "$var:Tensor$[$index$] = $scalar$",
            "$var:Tensor$[:, $index$] = $Tensor$",
            "$var:Tensor$[$slice$] = $Tensor$",
        ),
        *_each("$var:Tensor$ @= $scalar$", "$var:Tensor$ @= $Tensor$", of="+ - *"),
        *(
            "$var:Tensor$[$var:Tensor$ > 0] = $scalar$",
            "$var:Tensor$.add_($scalar$)",
            "$var:Tensor$.mul_($Tensor$)",
        ),
        *(
            "$var:Tensor$.zero_()",
            "$var:Tensor$.fill_($scalar$)",
            "$var:Tensor$.copy_($Tensor$)",
            "$var:Tensor$.view(-1)[0] = 7",
        ),
        *(
            "$var:Tensor$ = $Tensor$",
            "print($Tensor$)",
            "print($Tensor$, $int$, $List[int]$)",
            "$var:Tensor$[0] += $scalar$",
        ),
        *(
            "$var:Tensor$.clamp_(min=$scalar$)",
            "$var:Tensor$.t_()",
            "$var:Tensor$ /= $scalar$",
            "$var:List[Tensor]$.append($Tensor$)",
        ),
        *(
            "$var:Tensor$[$List[int]$] = $scalar$",
            "$var:Tensor$.masked_fill_($Tensor$ > 0, 1)",
            "$var:Tensor$[..., 0] = $float$",
        ),
    ],
    heads=[
        *_HEADS,
        "for $name$ in $Tensor$: #Tensor",
        "for $name$ in $List[Tensor]$: #Tensor",
        "if $Tensor$.sum() > 0:",
    ],
)

# ------------------------------------------------------------------------------------- objects

_MODULE = """
class Kind(enum.Enum):
    A = 1
    B = 2


class Failure(Exception):
    pass


@torch.jit.script
class Stack:
    def __init__(self, limit: int):
        self.items: List[int] = []
        self.limit = limit
        self.names: Dict[str, int] = {}

    def push(self, x: int) -> int:
        if len(self.items) >= self.limit:
            raise ValueError("full " + str(x))
        self.items.append(x)
        return len(self.items)

    def pop(self) -> int:
        return self.items.pop()

    @property
    def top(self) -> int:
        return self.items[-1]

    @top.setter
    def top(self, x: int) -> None:
        self.items[-1] = x

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __setitem__(self, i: int, x: int) -> None:
        self.items[i] = x

    def __contains__(self, x: int) -> bool:
        return x in self.items

    def __eq__(self, other: "Stack") -> bool:
        return self.items == other.items

    def __lt__(self, other: "Stack") -> bool:
        return len(self.items) < len(other.items)

    def __add__(self, other: "Stack") -> "Stack":
        made = Stack(self.limit)
        for x in self.items:
            made.push(x)
        for x in other.items:
            made.push(x)
        return made


class Inner(torch.nn.Module):
    seen: List[int]

    def __init__(self, k: int):
        super().__init__()
        self.k = k
        self.seen = []
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x: int) -> int:
        self.seen.append(x)
        self.total += x
        return x * self.k


class Model(torch.nn.Module):
    names: Dict[str, int]
    best: Optional[int]

    def __init__(self):
        super().__init__()
        self.count = 0
        self.rate = 0.5
        self.items = [3, 1, 2]
        self.names = {"a": 1}
        self.best = None
        self.inner = Inner(2)
        self.parts = torch.nn.ModuleList([Inner(3), Inner(-1)])
        self.weight = torch.nn.Parameter(torch.ones(2))

    @property
    def double(self) -> int:
        return self.count * 2

    def bump(self, n: int, times: int = 1) -> int:
        self.count += n * times
        return self.count

    def check(self, n: int) -> int:
        if n > 5:
            raise Failure("large " + str(n))
        if n < -5:
            raise IndexError("small")
        assert n != 4, "four"
        return n

"""
MODULES = Family(
    header="import enum\n" + HEADER + _MODULE,
    function="class M(Model):\n    def forward(self, $head$):\n        s = Stack(4)\n        ",
    target="M",
    types=[
        "int",
        "int",
        "bool",
        "str",
        "List[int]",
        "Stack",
        "Optional[int]",
        "Kind",
        "List[Stack]",
    ],
    parameters=["int", "int", "List[int]", "str", "Kind", "Optional[int]"],
    ways={
        "int": [
            *(
                "self.count",
                "self.double",
                "self.bump($int$)",
                "self.bump($int$, times=$small$)",
                "self.inner($int$)",
            ),
            *(
                "self.parts[0]($int$)",
                "self.parts[1].k",
                "self.check($int$)",
                "len(self.items)",
                "self.items[$index$]",
            ),
            *(
                "$Stack$.push($int$)",
                "$Stack$.pop()",
                "$Stack$.top",
                "len($Stack$)",
                "$Stack$[$index$]",
                "$Stack$.limit",
            ),
            *(
                "($int$ + $int$)",
                "($int$ * $int$)",
                "$Kind$.value",
                "self.names.get($str$, $int$)",
                "len(self.inner.seen)",
            ),
            *(
                "int(self.inner.total.sum())",
                "int(self.weight.sum())",
                "self.names[$str$]",
                "sorted($List[Stack]$)[0].limit",
            ),
        ],
        "bool": [
            *(
                "$Stack$ == $Stack$",
                "$Stack$ < $Stack$",
                "$int$ in $Stack$",
                "$Kind$ == $Kind$",
                "$Kind$ is Kind.A",
            ),
            *(
                "self.best is None",
                "$int$ < $int$",
                "$str$ in self.names",
                "$Stack$ is $Stack$",
                "$Optional[int]$ is None",
            ),
            *(
                "isinstance($Optional[int]$, int)",
                "hasattr(self, 'count')",
                "self.training",
                "$Kind$ != Kind.B",
                *_CONDITIONS,
            ),
        ],
        "str": [
            "str($int$)",
            "$str$ + $str$",
            "str(self.items)",
            "$Kind$.name",
            "str(self.names)",
            "f'{$int$} {$Optional[int]$}'",
        ],
        "List[int]": [
            "self.items",
            "$Stack$.items",
            "[$int$, $int$]",
            "self.inner.seen",
            "[p.k for p in self.parts]",
            "self.items[$slice$]",
        ],
        "Stack": [
            "Stack($small$)",
            "($Stack$ + $Stack$)",
            "$List[Stack]$[$index$]",
            "($Stack$ if $bool$ else $Stack$)",
        ],
        "List[Stack]": ["[$Stack$, $Stack$]", "sorted($List[Stack]$)"],
        "Optional[int]": ["self.best", "None", "$int$"],
    },
    literals={
        **_BASE,
        "int": ["0", "1", "2", "-3", "4", "6"],
        "Stack": ["s"],
        "Kind": ["Kind.A", "Kind.B"],
        "List[int]": ["[1, 2]"],
        "List[Stack]": ["[s, Stack(2)]"],
        "str": ["'a'", "'b'", "''"],
    },
    inputs={
        "int": ["0", "1", "-2", "7"],
        "List[int]": ["[]", "[4, 5]"],
        "str": ["'a'", "'zz'"],
        "Optional[int]": ["None", "2"],
    },
    scope={"self.count": "int", "self.items": "List[int]", "self.best": "Optional[int]"},
    statements=[
        *(
            "self.count += $int$",
            "self.items.append($int$)",
            "self.names[$str$] = $int$",
            "self.best = $Optional[int]$",
        ),
        *(
            "self.items = $List[int]$",
            "self.rate *= 2",
            "$var:Stack$.top = $int$",
            "$var:Stack$.top += $int$",
        ),
        *(
            "$var:Stack$[$index$] = $int$",
            "$var:Stack$.limit += 1",
            "$var:Stack$.names[$str$] = $int$",
            "s.push($int$)",
        ),
        *(
            "self.inner.k = $int$",
            "self.parts[0].seen.append($int$)",
            "print($Stack$.items, self.count)",
            "s = $Stack$",
        ),
        *(
            "self.inner.total = torch.full([2], $int$ * 1.0)",
            "self.items[$index$] += $int$",
            "print($str$, $Optional[int]$)",
        ),
        *(
            "for p in self.parts:\n    self.count += p($int$)",
            "if self.best is not None:\n    self.count += self.best",
        ),
        *(
            "raise Failure($str$)",
            "raise ValueError('v')",
            "assert $bool$, $str$",
            "self.inner.seen.clear()",
        ),
        *(
            "b = self.best\nif b is not None:\n    self.count -= b\nelse:\n    self.best = $int$",
            "$var:Kind$ = $Kind$",
        ),
    ],
    heads=[
        *_HEADS,
        "for $name$ in self.items[:3]: #int",
        "for $name$ in $List[int]$[:4]: #int",
        "for $name$ in $List[Stack]$: #Stack",
    ],
)


def _flow(rng: random.Random) -> tuple[str, list[str]]:
    """A function of the older generator, which knows more of control flow, and what it calls."""
    known: list[fuzz_flow.Function] = []
    texts = []
    for number in range(3):
        made, text = fuzz_flow.function(rng, f"f{number}", known)
        known.append(made)
        texts.append(text)
    texts.append(f"target_function = f{number}")
    calls = []
    for _ in range(3):
        values = [rng.choice(fuzz_flow.INPUTS[t]) for _, t in made.parameters]
        calls.append(f"({''.join(f'{v}, ' for v in values)})")
    return "\n\n\n".join(texts), calls


def _objects(rng: random.Random) -> tuple[str, list[str]]:
    text, calls = fuzz_objects.object_function(rng, "target_function")
    return text, calls


FAMILIES: dict[str, Family] = {
    "strings": STRINGS,
    "numbers": NUMBERS,
    "containers": CONTAINERS,
    "tensors": TENSORS,
    "modules": MODULES,
    "flow": Family(make=_flow, target="target_function"),
    "objects": Family(
        header=f"{fuzz_objects.IMPORTS}{HEADER}\n{fuzz_objects.DEFINITIONS}",
        make=_objects,
        target="target_function",
    ),
}
