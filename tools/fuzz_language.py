"""Families of programs over rarer forms of the language: decorators, contexts, objects of types.

Some forms are refused by torch; then the sentences are compared.
"""

from __future__ import annotations

from fuzz_families import HEADER, TENSORS, Family, ways

__all__ = ["LANGUAGE", "METHODS"]

_DEFINED = r"""import enum
from typing import Callable, Final, Union
from torch import nn

LIMIT = 3
NAMES = ["a", "bb", "ccc"]
RATE = 0.25
TABLE = {"a": 1, "b": 2}
PAIR = (2, "two")
DTYPE = torch.float64
DEVICE = torch.device("cpu")


class Level(enum.Enum):
    LOW = 1
    HIGH = 7


class Word(enum.Enum):
    YES = "yes"
    NO = "no"


class Settings(NamedTuple):
    depth: int = 2
    name: str = "std"
    weights: Tuple[float, float] = (0.5, 1.5)


@torch.jit.script
class Row:
    def __init__(self, cells: List[int], label: str = "row"):
        self.cells = cells
        self.label = label
        self.hits = 0

    @property
    def width(self) -> int:
        return len(self.cells)

    @staticmethod
    def doubled(x: int) -> int:
        return 2 * x

    def __getitem__(self, at: int) -> int:
        self.hits += 1
        return self.cells[at]

    def __setitem__(self, at: int, value: int) -> None:
        self.cells[at] = value

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, value: int) -> bool:
        return value in self.cells

    def __lt__(self, other: "Row") -> bool:
        return self.width < other.width

    def __add__(self, other: "Row") -> "Row":
        return Row(self.cells + other.cells, self.label + other.label)

    def __mul__(self, by: int) -> "Row":
        return Row([cell * by for cell in self.cells], self.label)

    def __neg__(self) -> "Row":
        return Row([-cell for cell in self.cells], self.label)

    def __str__(self) -> str:
        return self.label + str(self.cells)

    def __int__(self) -> int:
        return self.cells[0]

    def __call__(self, x: int) -> int:
        return x + self.hits


@torch.jit.script
class Noted:
    def __init__(self, text: str):
        self.text = text
        self.log: List[str] = []

    def __enter__(self):
        self.log.append("in " + self.text)
        return self.log

    def __exit__(self, type: Any, value: Any, trace: Any):
        self.log.append("out " + self.text)
        print(self.log)


@torch.jit.ignore
def in_python(x: int) -> int:
    return x * 100


@torch.jit.unused
def never(x: int) -> int:
    return x


@torch.jit._overload
def either(x: int) -> int:  # noqa: F811
    pass


@torch.jit._overload
def either(x: str) -> int:  # noqa: F811
    pass


def either(x):  # noqa: F811
    if isinstance(x, str):
        return len(x)
    return x + 1


def twice(x: int, times: int = LIMIT, *, plus: int = 0) -> int:
    return x * times + plus


def first(xs: List[int], default: Optional[int] = None) -> Optional[int]:
    for x in xs:
        return x
    return default


def shown(x: Union[int, float, str, None]) -> str:
    if x is None:
        return "none"
    if isinstance(x, (int, float)):
        return "number " + str(x)
    return x


def early(x: int) -> str:
    if x > 5:
        return "large"
    for i in range(x):
        if i == 2:
            return "two"
    while x < 0:
        x += 3
        if x == 1:
            return "one"
    return "end"

"""
_TYPES = ways(r"""
    int ;; int ;; str ;; float ;; bool ;; List[int] ;; List[str] ;; Row ;; Settings ;;
    Dict[str, int] ;; Optional[int] ;; Level ;; Word ;; Tensor ;; List[Tuple[int, str]] ;;
    torch.dtype ;; torch.device ;; Tuple[int, str]
""")
_WAYS = {
    "int": ways(r"""
    LIMIT ;; ($int$ + LIMIT) ;; $Row$[$index$] ;; len($Row$) ;; $Row$.width ;; $Row$.hits ;;
    $Row$($int$) ;; Row.doubled($int$) ;; int($Row$) ;; in_python($int$) ;; either($int$) ;;
    either($str$) ;; twice($int$) ;; twice($int$, plus=$int$) ;; twice($int$, 2) ;;
    twice(times=$int$, x=$int$) ;; $Settings$.depth ;; $Settings$[0] ;; $Level$.value ;;
    len(NAMES) ;; PAIR[0] ;; len(PAIR[1]) ;; $Tuple[int, str]$[0] ;; $int$ if $bool$ else LIMIT ;;
    $Optional[int]$ or $int$ ;; sum($List[int]$[::2]) ;; max($List[int]$) ;;
    [x for x in $List[int]$][$index$] ;; $List[Tuple[int, str]]$[$index$][0] ;; $Tensor$.dim() ;;
    $Tensor$.size(0) ;; $Tensor$.shape[-1] ;; int($Tensor$.sum()) ;; len($Tensor$.shape) ;;
    ($int$ // $int$) ;; ($int$ % $int$) ;; ($int$ ** 2) ;; ($int$ - $int$) ;; ($int$ * $int$) ;;
    ~$int$ ;; ord($str$[0]) ;; $str$.count($str$) ;; $str$.find('b') ;; len(str($Row$.cells)) ;;
    len(set($List[int]$)) ;; len({1, 2, $int$}) ;; TABLE['a'] ;; abs($int$) ;; pow($int$, 2) ;;
    $Dict[str, int]$[$str$] ;; $Dict[str, int]$.get($str$, -1) ;; round($float$) ;;
    (lambda: 1)() ;; int($bool$) ;; (n := $int$) ;; len([*$List[int]$, 1]) ;; hash($str$) % 1
"""),
    "str": ways(r"""
    $Row$.label ;; str($Row$) ;; $Settings$.name ;; $Word$.value ;; $Word$.name ;; $Level$.name ;;
    early($int$) ;; shown($int$) ;; shown($str$) ;; shown($float$) ;; shown(None) ;; NAMES[0] ;;
    PAIR[1] ;; f'{$int$}/{$str$}' ;; f'{$int$:03d}' ;; f'{$str$!r}' ;; f'{$float$:.2f}' ;;
    f'{$Settings$.depth}{LIMIT}' ;; '{:>4}'.format($int$) ;; '{a}'.format(a=$int$) ;;
    '{1}{0}'.format($int$, $str$) ;; '%s is %d' % ($str$, $int$) ;; '%.1f' % $float$ ;;
    $str$[::-1] ;; $str$[1::2] ;; $str$[-2:] ;; $str$ * 2 ;; $str$.upper() ;; $str$.title() ;;
    $str$.replace('a', 'bb') ;; $str$.strip('a') ;; '-'.join($List[str]$) ;; str($Settings$) ;;
    $str$ + $str$ ;; str($Tuple[int, str]$) ;; str($Level$) ;; str($torch.dtype$) ;; str(RATE) ;;
    str($torch.device$) ;; $torch.device$.type ;; str($Dict[str, int]$) ;; str($Tensor$.shape) ;;
    $str$.zfill(4) ;; $str$.rjust(5, '.') ;; $str$.partition('a')[2] ;; $str$.splitlines()[0] ;;
    str($List[Tuple[int, str]]$) ;; ''.join([c for c in $str$ if c != 'a']) ;; repr($str$) ;;
    $str$ if $str$ else 'none' ;; str($Optional[int]$) ;; $str$.split('b')[-1] ;; ascii($str$)
"""),
    "float": ways(r"""
    RATE ;; ($float$ * RATE) ;; $Settings$.weights[1] ;; ($int$ / 2) ;; float($int$) ;;
    math.sqrt(4.0) ;; ($float$ - $int$) ;; $Tensor$.sum().item() * 1.0 ;; float($Tensor$.max()) ;;
    math.inf ;; -$float$ ;; min($float$, RATE) ;; sum($Settings$.weights) ;; float('-inf')
"""),
    "bool": ways(r"""
    $int$ in $Row$ ;; $Row$ < $Row$ ;; $Level$ == Level.LOW ;; $Level$ is Level.HIGH ;;
    $Word$ != $Word$ ;; isinstance($Optional[int]$, int) ;; $Optional[int]$ is None ;;
    $str$ in NAMES ;; 1 < $int$ <= LIMIT ;; not $bool$ ;; $bool$ and $bool$ ;; $bool$ or $bool$ ;;
    $str$.startswith('a') ;; $torch.dtype$ == torch.float32 ;; $torch.device$ == DEVICE ;;
    $Tensor$.dtype == DTYPE ;; hasattr($Row$, 'width') ;; $Settings$ == $Settings$ ;;
    torch.jit.is_scripting() ;; $Tuple[int, str]$ == $Tuple[int, str]$ ;; $str$ < $str$ ;;
    all([x > 0 for x in $List[int]$]) ;; any([x > 2 for x in $List[int]$]) ;; $int$ == $float$ ;;
    $Tensor$.is_cpu ;; $Tensor$.requires_grad ;; $List[int]$ == $List[int]$ ;; bool($str$) ;;
    $str$ in $Dict[str, int]$ ;; $Row$ is $Row$ ;; isinstance($Row$, Row) ;; $str$ is None ;;
    isinstance($Settings$, tuple) ;; $int$ not in (1, 2, 3) ;; type($int$) == int
"""),
    "List[int]": ways(r"""
    $Row$.cells ;; [$int$, LIMIT] ;; $List[int]$[::2] ;; $List[int]$[::-1] ;; $List[int]$[1:-1] ;;
    $List[int]$[-3::2] ;; sorted($List[int]$) ;; [x * 2 for x in $List[int]$ if x > 0] ;;
    [a + b for a, b in zip($List[int]$, $List[int]$)] ;; [i for i, x in enumerate($List[int]$)] ;;
    list(range(5, $int$, -2)) ;; [len(n) for n in NAMES] ;; list($Dict[str, int]$.values()) ;;
    [k for k, v in $List[Tuple[int, str]]$] ;; $List[int]$ + [$int$] ;; [$int$] * 2 ;;
    list(reversed($List[int]$)) ;; [x for y in [$List[int]$, [9]] for x in y] ;; list((1, 2)) ;;
    $Tensor$.tolist() ;; list($Tensor$.shape) ;; [int(c) for c in '123'] ;; list(map(int, '12'))
"""),
    "List[str]": ways(r"""
    NAMES ;; [$str$, $str$] ;; $str$.split() ;; sorted($List[str]$) ;; $List[str]$[::-1] ;;
    list($Dict[str, int]$) ;; [n.upper() for n in $List[str]$] ;; [w for w in $str$] ;;
    sorted(list($Dict[str, int]$.keys())) ;; [v for k, v in $List[Tuple[int, str]]$]
"""),
    "Row": ways(r"""
    Row($List[int]$) ;; Row($List[int]$, $str$) ;; Row(label=$str$, cells=[1]) ;; -$Row$ ;;
    ($Row$ + $Row$) ;; ($Row$ * $int$) ;; sorted([$Row$, $Row$])[0] ;; ($Row$ if $bool$ else $Row$)
"""),
    "Settings": ways(r"""
    Settings() ;; Settings($int$) ;; Settings(name=$str$) ;; Settings($int$, $str$, (1.0, RATE)) ;;
    Settings(depth=$int$, weights=(0.0, $float$)) ;; Settings(*(1, 'x'))
"""),
    "Dict[str, int]": ways(r"""
    {$str$: $int$} ;; {n: len(n) for n in $List[str]$} ;; dict($Dict[str, int]$) ;; TABLE ;;
    {s: k for k, s in $List[Tuple[int, str]]$} ;; $Dict[str, int]$.copy() ;;
    {**$Dict[str, int]$, 'z': 1} ;; dict(a=$int$, b=2) ;; dict(zip($List[str]$, $List[int]$))
"""),
    "Optional[int]": ways(r"""
    first($List[int]$) ;; first($List[int]$, $int$) ;; None ;; $int$ ;; $Dict[str, int]$.get($str$)
"""),
    "Level": ways("Level.LOW ;; Level.HIGH ;; Level(7) ;; Level['LOW']"),
    "Word": ways("Word.YES ;; Word.NO"),
    "Tuple[int, str]": ways(r"""
    ($int$, $str$) ;; PAIR ;; $List[Tuple[int, str]]$[$index$] ;; ($Settings$.depth, 'q')
"""),
    "List[Tuple[int, str]]": ways(r"""
    [($int$, $str$)] ;; list(enumerate($List[str]$)) ;; sorted($List[Tuple[int, str]]$) ;;
    [(v, k) for k, v in $Dict[str, int]$.items()] ;; list(zip($List[int]$, $List[str]$)) ;;
    sorted([(len(n), n) for n in $List[str]$], reverse=True)
"""),
    "torch.dtype": ways("DTYPE ;; torch.int32 ;; $Tensor$.dtype ;; torch.float32"),
    "torch.device": ways(
        "DEVICE ;; torch.device('cpu') ;; $Tensor$.device ;; torch.device('cpu', 0)"
    ),
    "Tensor": ways(r"""
    torch.zeros(2, dtype=$torch.dtype$) ;; $Tensor$.to($torch.dtype$) ;; $Tensor$.to(DEVICE) ;;
    torch.ones([2, 2], device=$torch.device$) ;; torch.tensor($List[int]$) ;; ($Tensor$ * RATE) ;;
    torch.tensor($float$, dtype=DTYPE) ;; $Tensor$.t() ;; $Tensor$[0] ;; $Tensor$.view(-1)[::2] ;;
    $Tensor$[..., None] ;; $Tensor$.flatten() ;; torch.full([2], $int$) ;; $Tensor$[:, -1] ;;
    torch.stack([$Tensor$, $Tensor$]) ;; $Tensor$.clone() ;; torch.cat([$Tensor$, $Tensor$]) ;;
    torch.arange($int$ % 5) ;; $Tensor$.new_zeros([1]) ;; $Tensor$.sum(dim=0, keepdim=True) ;;
    torch.zeros([2, 1], dtype=torch.int64, layout=torch.strided) ;; $Tensor$.type_as($Tensor$) ;;
    $Tensor$.expand(2, 2, 2) ;; torch.empty(0) ;; $Tensor$.masked_fill($Tensor$ > 0, $int$) ;;
    $Tensor$.unsqueeze(0).squeeze() ;; nn.functional.relu($Tensor$) ;; $Tensor$.max(dim=0)[0] ;;
    torch.jit.annotate(Tensor, $Tensor$) ;; $Tensor$.detach() ;; $Tensor$.select(0, $index$)
"""),
}
_STATEMENTS = ways(r"""
    with Noted($str$) as log:\n    log.append('x')\n    print(len(log)) ;;
    with Noted($str$):\n    print($int$)\n    if $bool$:\n        raise ValueError($str$) ;;
    with Noted('a') as l1, Noted('b') as l2:\n    print(l1, l2) ;; $var:Row$.hits += $int$ ;;
    $var:Row$.cells[$index$] -= 1 ;; $var:Row$[$index$] = $int$ ;; $var:Row$[0] += $int$ ;;
    $var:Row$.label += $str$ ;; $var:Row$.cells += [$int$] ;; $var:Row$.cells = $List[int]$ ;;
    $var:Row$.width = 3 ;; $var:Row$.missing = 3 ;; print($Row$.nothing) ;; del $var:int$ ;;
    del $var:List[int]$[0] ;; del $var:List[int]$[1:] ;; del $var:Dict[str, int]$[$str$] ;;
    $var:List[int]$[::2] = [$int$] ;; $var:List[int]$[1:2] = $List[int]$ ;; print(f'{$int$=}') ;;
    $var:List[int]$.sort(key=lambda q: -q) ;; $var:List[Tuple[int, str]]$.sort(reverse=True) ;;
    for k, v in sorted($Dict[str, int]$.items()):\n    print(k, v) ;;
    for k in $Dict[str, int]$:\n    $var:Dict[str, int]$[k] += 1 ;;
    for i, (k, v) in enumerate($List[Tuple[int, str]]$):\n    print(i, k, v) ;;
    for x in $List[int]$:\n    if x == 1:\n        break\nelse:\n    print('none') ;;
    for x, y, z in zip($List[int]$, $str$, NAMES):\n    print(x, y, z) ;; print(NAMES, LIMIT) ;;
    try:\n    print($List[int]$[$index$])\nexcept IndexError:\n    print('none') ;;
    try:\n    print($int$)\nfinally:\n    print('end') ;; global LIMIT\nLIMIT = 3 ;;
    def inner(x: int) -> int:\n    return x + 1\nprint(inner($int$)) ;; print(*$List[int]$) ;;
    a1, *b1 = $List[int]$\nprint(a1, b1) ;; a2 = b2 = $List[int]$\na2.append(1)\nprint(b2) ;;
    (a3, b3), c3 = $Tuple[int, str]$, $int$\nprint(a3, b3, c3) ;; a4, b4 = $int$, $int$\na4, b4 =
    b4, a4\nprint(a4, b4) ;; x5: Final = $int$\nprint(x5) ;; x6: Final[int] = 3\nprint(x6) ;;
    o = $Optional[int]$\nif o is not None and o > 1:\n    print(o + 1)\nelif o is None:\n
    print('no')\nelse:\n    print(o) ;;
    o = $Optional[int]$\nif not (o is None):\n    print(o - 1) ;;
    o = $Optional[int]$\nif isinstance(o, int):\n    print(o * 2) ;; assert $bool$, f'{$str$}' ;;
    o = $Optional[int]$\nif o:\n    print(o) ;; o = $Optional[int]$\nwhile o is None:\n    o = 1\n
    print(o) ;; assert $bool$, ($int$, $str$) ;; assert isinstance($Optional[int]$, int) ;;
    s = $Settings$\nd, n, w = s\nprint(d, n, w[0]) ;; $var:Settings$.depth = 1 ;; print($Level$) ;;
    s = $Settings$._replace(depth=1) ;; raise IndexError ;; raise ValueError('x') from None ;;
    raise KeyError($str$, $int$) ;; v = $Tensor$.view(-1)\nv += 1\nprint(v.sum()) ;;
    v = $Tensor$\nv[0] = $int$\nv[..., -1] *= 2\nprint(v) ;; v = $Tensor$\nv[v > 0] = 0\nprint(v) ;;
    v = $Tensor$\nv.t().add_(1)\nprint(v) ;; v = $Tensor$.clone()\nv[:, 0], v[:, 1] = v[:, 1],
    v[:, 0]\nprint(v) ;; import math ;; from math import sqrt ;; return ;; yield 1 ;;
    match $int$:\n    case 1:\n        print(1) ;; x7 = y7 = 1\nx7 += 1\nprint(x7, y7) ;; ... ;;
    while True:\n    if $bool$:\n        print('t')\n    break ;;
    print(never(1)) if $bool$ else None ;;
    q = {}\nprint(q) ;; q = []\nprint(len(q)) ;; q = set()\nprint(q) ;; print(type($int$)) ;;
    if $Level$ is Level.LOW:\n    print('low')\nelif $Word$ == Word.YES:\n    print('yes') ;;
    for l in Level:\n    print(l) ;;
    for l in [Level.LOW, Level.HIGH]:\n    print(l.name, l.value) ;;
    print($torch.dtype$) ;; print($torch.device$) ;; print(len(Word)) ;; print($Tensor$.device) ;;
    $var:int$ **= 2 ;; $var:int$ //= $int$ ;; $var:int$ >>= 1 ;; $var:int$ |= 4 ;; $var:int$ ^= 1 ;;
    $var:int$ @= 1 ;; $var:float$ /= $int$ ;; $var:str$ *= 2 ;; $var:float$ %= 2 ;;
    $var:bool$ &= $bool$ ;; $var:Tensor$ **= 2 ;; $var:Tensor$ @= $Tensor$ ;; $var:str$ %= 1 ;;
    $var:List[int]$ *= 2 ;; $var:Tensor$[0] //= 2 ;; print($str$, end='') ;; print($str$, sep='-')
""")
LANGUAGE = Family(
    header=HEADER + _DEFINED,
    types=_TYPES,
    parameters=ways(r"""
    int ;; str ;; float ;; List[int] ;; List[str] ;; Settings ;; Dict[str, int] ;; Optional[int] ;;
    Level ;; Tensor ;; List[Tuple[int, str]] ;; Tuple[int, str] ;; Word
"""),
    ways=_WAYS,
    literals={
        **TENSORS.literals,
        "int": ["0", "1", "2", "3", "-1", "LIMIT", "40"],
        "str": ["'a'", "'abc'", "''", "'b a'", "'Zz'"],
        "float": ["0.5", "-2.0", "3.0"],
        "List[int]": ["[1, 2, 3]", "[0]", "[4, -4, 2, 1]"],
        "List[str]": ["['b', 'a']", "['abc']"],
        "Row": ["Row([1, 2])", "Row([3], 'r')"],
        "Settings": ["Settings()"],
        "Dict[str, int]": ["{'a': 1, 'abc': 2}"],
        "Tuple[int, str]": ["(1, 'a')"],
        "List[Tuple[int, str]]": ["[(2, 'b'), (1, 'a')]"],
        "torch.dtype": ["torch.float32"],
        "torch.device": ["torch.device('cpu')"],
        "Tensor": ["torch.ones(2, 2)", "torch.tensor([[1, -2], [0, 5]])"],
    },
    inputs={
        "int": ["0", "1", "-2", "7"],
        "str": ["'a'", "''", "'bab'", "'x y'"],
        "float": ["0.5", "-0.0", "1e20"],
        "List[int]": ["[]", "[1, 2]", "[5, -5, 5, 0, 1]"],
        "List[str]": ["[]", "['q', 'a', 'bb']"],
        "Settings": ["Settings()", "Settings(5, 'in', (0.0, -1.0))"],
        "Dict[str, int]": ["{}", "{'a': 1, 'b': 2, '': 0}"],
        "Optional[int]": ["None", "3", "0"],
        "Level": ["Level.LOW", "Level.HIGH"],
        "Word": ["Word.YES", "Word.NO"],
        "Tensor": ["torch.ones(2, 2)", "torch.arange(4).view(2, 2)", "torch.zeros(0, 2)"],
        "List[Tuple[int, str]]": ["[]", "[(1, 'b'), (0, 'a'), (1, 'a')]"],
        "Tuple[int, str]": ["(1, 'a')"],
    },
    statements=_STATEMENTS,
    heads=ways(r"""
    if $bool$: ;; if $str$: ;; if $List[int]$: ;; for $name$ in range($int$ % 4): #int ;;
    for $name$ in range(3, $int$ % 7, -1): #int ;; for $name$ in $List[int]$[:3]: #int ;;
    for $name$ in NAMES: #str ;; for $name$ in $str$: #str ;; for $name$ in (1, LIMIT): #int ;;
    for $name$ in sorted($Dict[str, int]$.keys()): #str ;; with Noted($str$): ;;
    for $name$ in $List[Tuple[int, str]]$: #Tuple[int, str] ;; for $name$ in [Row([1])]: #Row ;;
    while $bool$ and len(NAMES) > 4: ;; with torch.no_grad(): ;; if $Optional[int]$ is not None:
"""),
)

_MODULE = r"""

class Part(nn.Module):
    scale: Final[int]

    def __init__(self, scale: int = 2):
        super().__init__()
        self.scale = scale
        self.seen = torch.jit.Attribute([], List[int])

    def forward(self, x: int, more: int = 0) -> int:
        return x * self.scale + more

    @torch.jit.export
    def remember(self, x: int) -> int:
        self.seen.append(x)
        return len(self.seen)


class Whole(nn.Module):
    __constants__ = ["limit", "label"]
    table: Dict[str, int]
    last: Optional[int]
    rows: List[Tuple[int, str]]

    def __init__(self):
        super().__init__()
        self.limit = 4
        self.label = "whole"
        self.table = {"a": 1}
        self.last = None
        self.rows = []
        self.sizes = (2, 3)
        self.level = Level.LOW
        self.kind = torch.float64
        self.place = torch.device("cpu")
        self.settings = Settings(4)
        self.parts = nn.ModuleList([Part(), Part(3)])
        self.named = nn.ModuleDict({"one": Part(1), "five": Part(5)})
        self.chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.inner = Part(7)
        self.count = 0
        self.rate = 0.5
        self.words = ["x", "y"]
        self.empty: List[int] = []
        self.register_buffer("total", torch.zeros(2))
        self.weight = nn.Parameter(torch.ones(2))
        self.none = None
        with torch.no_grad():
            self.chain[0].weight.fill_(0.5)
            self.chain[0].bias.fill_(-0.25)

    @property
    def both(self) -> int:
        return self.count + self.limit

    @both.setter
    def both(self, x: int) -> None:
        self.count = x - self.limit

    @torch.jit.ignore
    def outside(self, x: int) -> int:
        return x + 1000

    @torch.jit.unused
    def unneeded(self, x: int) -> int:
        return x

    @torch.jit.export
    def exported(self, x: int) -> int:
        self.count += x
        return self.count

    @staticmethod
    def plain(x: int, y: int = 1) -> int:
        return x - y

    def with_default(self, x: int, scale: float = 1.5, names: Optional[List[str]] = None) -> str:
        if names is None:
            names = self.words
        return str(x * scale) + ",".join(names)

    def found(self, name: str) -> Optional[int]:
        if name in self.table:
            return self.table[name]
        return None

"""
METHODS = Family(
    header=HEADER + _DEFINED + _MODULE,
    function="class M(Whole):\n    def forward(self, $head$):\n        ",
    target="M",
    types=_TYPES,
    parameters=LANGUAGE.parameters,
    ways={
        **_WAYS,
        "int": _WAYS["int"]
        + 2
        * ways(r"""
    self.both ;; self.limit ;; self.count ;; self.outside($int$) ;; self.exported($int$) ;;
    self.plain($int$) ;; self.plain($int$, y=2) ;; Whole.plain($int$) ;; self.inner($int$) ;;
    self.inner($int$, more=1) ;; self.inner.scale ;; self.inner.remember($int$) ;;
    len(self.parts) ;;
    self.parts[0]($int$) ;; self.parts[-1].scale ;; self.named['five']($int$) ;; self.sizes[1] ;;
    self.named.one($int$) ;; self.table['a'] ;; self.table.get($str$, 5) ;; self.settings.depth ;;
    self.level.value ;; len(self.words) ;; len(self.rows) ;; int(self.total.sum()) ;;
    self.parts[$index$].scale ;; len(self.empty) ;; self.missing ;; len(self.chain) ;;
    (self.unneeded($int$) if $bool$ and not $bool$ else 0) ;; self.inner.seen[$index$] ;;
    getattr(self, 'count') ;; self.parts[1].remember($int$) ;; len(list(self.named.keys()))
"""),
        "str": _WAYS["str"]
        + ways(r"""
    self.label ;; self.with_default($int$) ;; self.with_default($int$, names=$List[str]$) ;;
    self.with_default($int$, $float$) ;; self.words[$index$] ;; str(self.table) ;;
    str(self.settings) ;; str(self.sizes) ;; f'{self.count} {self.rate}' ;; str(self.last) ;;
    str(self.kind) ;; str(self.place) ;; self.level.name ;; str(self.rows)
"""),
        "bool": _WAYS["bool"]
        + ways(r"""
    self.training ;; self.last is None ;; self.level is Level.LOW ;; hasattr(self, 'count') ;;
    hasattr(self, 'nothing') ;; self.none is None ;; 'one' in self.named ;; $str$ in self.table ;;
    isinstance(self.last, int) ;; self.kind == torch.float32 ;; self.weight.requires_grad
"""),
        "List[int]": _WAYS["List[int]"]
        + ways(r"""
    self.empty ;; [p.scale for p in self.parts] ;; [p(1) for p in self.parts] ;; self.inner.seen ;;
    [m($int$) for k, m in self.named.items()] ;; list(self.sizes) ;; list(self.table.values())
"""),
        "List[str]": _WAYS["List[str]"] + ways("self.words ;; [k for k in self.named.keys()]"),
        "Optional[int]": _WAYS["Optional[int]"] + ways("self.last ;; self.found($str$)"),
        "Tensor": _WAYS["Tensor"]
        + ways(r"""
    self.total ;; self.chain($Tensor$) ;; self.chain[0]($Tensor$.float()) ;; self.chain[0].weight ;;
    (self.weight * $Tensor$) ;; self.weight.detach() ;; torch.zeros(2, dtype=self.kind) ;;
    torch.ones(1, device=self.place)
"""),
        "Settings": [*_WAYS["Settings"], "self.settings"],
        "Level": ["Level.LOW", "Level.HIGH", "self.level"],
    },
    literals=LANGUAGE.literals,
    inputs=LANGUAGE.inputs,
    scope={"self.count": "int", "self.table": "Dict[str, int]", "self.words": "List[str]"},
    statements=_STATEMENTS
    + 2
    * ways(r"""
    self.both = $int$ ;; self.both += 2 ;; self.count += $int$ ;; self.count -= self.limit ;;
    self.rate *= 0.5 ;; self.table[$str$] = $int$ ;; self.table['a'] += $int$ ;;
    self.last = $int$ ;;
    self.last = $Optional[int]$ ;; self.rows.append(($int$, $str$)) ;; self.rows.sort() ;;
    del self.table[$str$] ;; self.words += [$str$] ;; self.words[0] += 'z' ;; self.limit = 3 ;;
    self.level = $Level$ ;; self.settings = $Settings$ ;; self.sizes = ($int$, 1) ;;
    self.total += $int$ ;; self.total[0] = $float$ ;; self.total = self.total + 1 ;;
    self.total.mul_(2) ;; self.weight.data.add_(1) ;; self.weight += 1 ;; self.newly = 1 ;;
    if self.last is not None:\n    print(self.last + 1) ;; l = self.last\nif l is not None:\n
    print(l + 1) ;; assert self.last is None, 'set' ;; for p in self.parts:\n    print(p(2)) ;;
    for i, p in enumerate(self.parts):\n    print(i, p.scale) ;; for k, m in
    self.named.items():\n    print(k, m.remember(1)) ;; for m in self.named.values():\n
    self.count += m.scale ;; for p, s in zip(self.parts, self.words):\n    print(p.scale, s) ;;
    for layer in self.chain:\n    print(layer(torch.ones(2))) ;; x = self\nprint(x.count) ;;
    p = self.inner\nprint(p.scale) ;; self.inner.seen.clear() ;; self.inner.seen += [$int$] ;;
    self.empty.append($int$) ;; super().forward() ;; print(self.none) ;; self.none = 1 ;;
    print(self.parts[len(self.words)]) ;; self.exported(1) ;; print(self.unneeded(1))
"""),
    heads=LANGUAGE.heads,
)
