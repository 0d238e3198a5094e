"""Families of programs over modules and classes: containers of modules, hooks, exports, states."""

from __future__ import annotations

from fuzz_families import HEADER, Family, ways

__all__ = ["CLASSES", "LAYERS"]

_LITERALS = {
    "small": ways(r"""
        0 ;; 1 ;; 2 ;; 3
    """),
    "index": ways(r"""
        0 ;; 1 ;; -1 ;; 2 ;; -3
    """),
    "slice": ways(r"""
        : ;; 1: ;; :2 ;; ::2 ;; -1:
    """),
    "int": ways(r"""
        0 ;; 1 ;; 2 ;; -3 ;; 5
    """),
    "float": ["0.5", "2.0", "-1.5"],
    "bool": ["True", "False"],
    "str": ["'a'", "'b'", "''"],
    "name": ["'one'", "'two'", "'three'"],
    "Tensor": ["torch.ones(2)", "torch.tensor([1.0, -2.0])"],
    "List[int]": ["[1, 2]", "[3]"],
}
_HEADS = ways(r"""
    if $bool$: ;; for $name$ in range($small$): #int ;; for $name$ in $List[int]$[:3]: #int ;;
    while self.count < $small$:\n    self.count += 1
""")

_LAYERS = """
@torch.jit.interface
class Scale(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass

    def weight(self, n: int) -> int:
        pass


class Twice(torch.nn.Module):
    limit: torch.jit.Final[int]

    def __init__(self, k: int):
        super().__init__()
        self.k = k
        self.limit = 3
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("passing", torch.ones(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.seen += self.limit
        return x * self.k + self.passing

    def weight(self, n: int) -> int:
        return self.k * n


class Thrice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.p = torch.nn.Parameter(torch.tensor([3.0, 3.0]))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.p

    def weight(self, n: int) -> int:
        return n + self.calls


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Twice(2)
        self.b = Twice(5)

    def forward(self, x: Tensor, times: int = 1) -> Tuple[Tensor, int]:
        for _ in range(times):
            x = self.a(x) - self.b(x)
        return x, times

    @torch.jit.export
    def only(self, n: int) -> int:
        return self.a.weight(n)


def _hook(self, input: Tuple[Tensor], output: Tensor) -> Tensor:
    return output + 1


def _before(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
    return (input[0] * 2,)


class Watched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x: Tensor) -> Tensor:
        self.total += 1
        return x - self.total


def traced():
    return torch.jit.trace(torch.nn.Linear(2, 2, bias=False), torch.ones(1, 2))


class Base(torch.nn.Module):
    scale: Scale
    table: Dict[str, Tensor]
    rows: List[Tuple[int, str]]
    maybe: Optional[Tensor]
    size: Final[int]
    __constants__ = ["odd"]

    def __init__(self):
        super().__init__()
        self.count = 0
        self.size = 4
        self.odd = (1, "x")
        self.flag = True
        self.scale = Twice(3)
        self.thrice = Thrice()
        self.pair = Pair()
        self.watched = Watched()
        self.watched.register_forward_hook(_hook)
        self.watched.register_forward_pre_hook(_before)
        self.parts = torch.nn.ModuleList([Twice(1), Twice(-2)])
        self.named = torch.nn.ModuleDict({"one": Twice(4), "two": Twice(6)})
        self.chain = torch.nn.Sequential(Twice(2), torch.nn.ReLU(), Thrice())
        self.none = None
        self.table = {"a": torch.zeros(2)}
        self.rows = [(1, "r")]
        self.maybe = None
        self.dtype = torch.float64
        self.linear = torch.nn.Linear(2, 2)
        torch.nn.init.constant_(self.linear.weight, 0.5)
        torch.nn.init.constant_(self.linear.bias, 1.0)
        self.norm = torch.nn.BatchNorm1d(2)
        self.w = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("run", torch.zeros(2))
        self.same = self.pair.a

    @property
    def level(self) -> int:
        return self.count * 10

    @level.setter
    def level(self, n: int) -> None:
        self.count = n // 10

    @staticmethod
    def plus(n: int, by: int = 2) -> int:
        return n + by

    @torch.jit.ignore
    def outside(self, n: int) -> int:
        return n * 100

    @torch.jit.unused
    def never(self, n: int) -> int:
        import os
        return len(os.listdir(".")) + n

    @torch.jit.export
    def double(self, x: Tensor) -> Tensor:
        return x * 2

    def bump(self, n: int, times: int = 1, name: str = "n") -> int:
        self.count += n * times
        return self.count + len(name)

    def swap(self) -> None:
        self.rows, self.maybe = [(self.count, "s")], self.w

    def _optional(self, n: int) -> Optional[Tensor]:
        if n > 1:
            return self.run
        return self.maybe


def helper(n: int, m: Optional[Tensor] = None) -> int:
    if m is None:
        return n
    return n + int(m.sum())


@torch.jit.ignore
def ignored(n: int) -> int:
    return n + 1000

"""
LAYERS = Family(
    header=HEADER + "from torch.jit import Final\n" + _LAYERS,
    function="class M(Base):\n    def forward(self, $head$):\n        x = torch.ones(2)\n        ",
    target="M",
    types=ways(r"""
        int ;; int ;; Tensor ;; Tensor ;; bool ;; str ;; List[int] ;; List[Tensor]
    """),
    parameters=ways(r"""
        int ;; int ;; Tensor ;; str ;; List[int] ;; bool
    """),
    ways={
        "int": ways(r"""
            self.count ;; self.size ;; self.odd[0] ;; self.level ;; self.plus($int$) ;;
            self.thrice.calls ;; self.plus($int$, by=$int$) ;; self.outside($int$) ;;
            self.bump($int$, name=$str$) ;; self.scale.weight($int$) ;; self.thrice.weight($int$) ;;
            self.pair.only($int$) ;; self.parts[0].k ;; self.parts[-1].weight($int$) ;;
            len(self.parts) ;; len(self.named) ;; len(self.chain) ;; self.chain[0].k ;;
            self.named['one'].k ;; helper($int$) ;; ignored($int$) ;; helper($int$, self.maybe) ;;
            self.pair(x, $small$)[1] ;; self.pair.a.limit ;; self.watched.total ;;
            sum([p.weight($int$) for p in self.parts]) ;;
            [m.k for m in self.named.values()][$index$] ;;
            torch.jit.wait(torch.jit.fork(helper, $int$)) ;; self.rows[$index$][0] ;;
            len(self.table) ;; int(self.run.sum()) ;; self.dtype ;; len(list(self.parts)[0:1]) ;;
            self.linear.in_features ;; self.same.k ;; int(self.norm.num_batches_tracked) ;;
            ($int$ + $int$) ;; len([n for n, _ in self.named.items()]) ;;
            self.bump($int$) ;; torch.jit.fork(self.bump, $int$).wait() ;;
            self.bump(times=2, n=$int$)
        """),
        "Tensor": ways(r"""
            self.scale($Tensor$) ;; self.thrice($Tensor$) ;; self.pair($Tensor$)[0] ;;
            self.chain($Tensor$) ;; self.watched($Tensor$) ;; self.parts[1]($Tensor$) ;;
            self.named['two']($Tensor$) ;; self.w ;; self.double($Tensor$) ;; self.run ;;
            self.table['a'] ;; self.linear($Tensor$) ;; self.linear($Tensor$.view(1, 2)) ;;
            self.norm(torch.stack([$Tensor$, x])) ;; ($Tensor$ + $Tensor$) ;;
            torch.nn.functional.relu($Tensor$) ;; self.table.get($str$, $Tensor$) ;;
            self.same($Tensor$) ;; torch.nn.functional.linear($Tensor$, self.linear.weight) ;;
            self.pair.b.seen ;; ($Tensor$ * $int$) ;; $List[Tensor]$[$index$] ;;
            torch.jit.fork(self.scale, $Tensor$).wait() ;;
            torch.jit._unwrap_optional(self._optional(2)) ;; getattr(self, 'w') ;; self.thrice.p
        """),
        "bool": ways(r"""
            self.training ;; self.flag ;; self.maybe is None ;; self.none is None ;;
            $int$ < $int$ ;; hasattr(self, 'count') ;; hasattr(self.pair, 'zzz') ;;
            $str$ in self.table ;; 'one' in self.named ;; self.w.requires_grad ;;
            isinstance(self.maybe, Tensor) ;; self.run is self.w ;; not $bool$ ;;
            self.chain.training ;; torch.jit.is_scripting() ;; self._optional($int$) is not None
        """),
        "str": ways(r"""
            self.odd[1] ;; str($int$) ;; ($str$ + $str$) ;; str(self.rows) ;;
            [k for k in self.named][0] ;; f'{$int$} {$Tensor$}' ;;
            [k for k, _ in self.named.items()][$index$] ;; str(self.table)
        """),
        "List[int]": ways(r"""
            [p.k for p in self.parts] ;; [i for i, p in enumerate(self.parts)] ;;
            [r[0] for r in self.rows] ;;
            [p.k + q.k for p, q in zip(self.parts, self.named.values())] ;; [$int$, $int$]
        """),
        "List[Tensor]": ways(r"""
            [$Tensor$, $Tensor$] ;; [m(x) for m in self.chain] ;;
            [v(x) for _, v in self.named.items()] ;; list(self.table.values()) ;;
            [p($Tensor$) for p in self.parts]
        """),
    },
    literals={**_LITERALS, "List[Tensor]": ["[torch.zeros(2)]"]},
    inputs={
        "int": ways(r"""
            0 ;; 1 ;; -2 ;; 7
        """),
        "str": ["'a'", "'zz'"],
        "List[int]": ["[]", "[4, 5]"],
        "Tensor": ["torch.tensor([1.0, -1.0])", "torch.zeros(2)"],
    },
    scope={"self.count": "int", "x": "Tensor", "self.run": "Tensor"},
    statements=ways(r"""
        self.count += $int$ ;; self.level = $int$ ;; self.level += $int$ ;; self.swap() ;;
        self.run += $Tensor$ ;; self.run = $Tensor$ ;; self.table[$str$] = $Tensor$ ;;
        self.rows.append(($int$, $str$)) ;; self.maybe = $Tensor$ ;; self.maybe = None ;;
        self.pair.a.k = $int$ ;; self.run[0] = $int$ ;; self.thrice.calls = $int$ ;;
        self.scale = self.thrice ;; self.scale = self.parts[0] ;; print($int$, $Tensor$) ;;
        for p in self.parts:\n    x = p(x) ;;
        for i, p in enumerate(self.parts):\n    x = p(x) + i ;;
        for name, m in self.named.items():\n    x = m(x) + len(name) ;;
        for m in self.chain:\n    x = m(x) ;; for k in self.named:\n    self.count += len(k) ;;
        for k, m in zip(self.named.keys(), self.parts):\n    x = m(x) ;;
        for i, (k, m) in enumerate(self.named.items()):\n    x = m(x) * i ;; x = $Tensor$ ;;
        m = self.maybe\nif m is not None:\n    x = x + m ;; assert $bool$, 'no ' + $str$ ;;
        if self.flag:\n    self.flag = False\nelse:\n    self.bump($int$) ;; self.flag = $bool$ ;;
        fut = torch.jit.fork(self.pair, $Tensor$, 2)\nx, n = torch.jit.wait(fut) ;;
        with torch.no_grad():\n    x = self.linear(x) ;; self.pair.b.seen.zero_() ;;
        print(self.rows, $str$) ;;
        if torch.jit.is_scripting():\n    self.count += 1\nelse:\n    self.never(1) ;;
        futs = [torch.jit.fork(p, $Tensor$) for p in self.parts]
        \nx = sum([f.wait() for f in futs]) ;;
        futs = torch.jit.annotate(List[torch.jit.Future[int]], [])\nfor i in range(2):
        \n    futs.append(torch.jit.fork(helper, i))\nfor f in futs:\n    self.count += f.wait()
    """),
    heads=_HEADS,
)

# ------------------------------------------------------------------------------------- classes

_CLASSES = """
class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 5


class Word(enum.Enum):
    NO = "no"
    YES = "yes"


class Rate(enum.Enum):
    LOW = 0.5
    HIGH = 2.0


class Point(NamedTuple):
    x: int
    y: float = 1.5
    tag: Optional[str] = None


class Line(NamedTuple):
    start: Point
    length: List[int]


@torch.jit.script
class Node:
    def __init__(self, value: int, items: List[int]):
        self.value = value
        self.items = items
        self.colour = Colour.RED
        self.point = Point(value)
        self.data = torch.zeros(2)
        self.notes: Dict[str, List[int]] = {}
        self.last = torch.jit.annotate(Optional[int], None)

    def add(self, n: int, times: int = 1) -> "Node":
        self.value += n * times
        self.items.append(n)
        self.last = n
        return self

    @staticmethod
    def make(n: int) -> int:
        return n * 2

    @property
    def total(self) -> int:
        return self.value + len(self.items)

    @total.setter
    def total(self, n: int) -> None:
        self.value = n

    def __enter__(self) -> "Node":
        self.value += 100
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.value -= 1

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __setitem__(self, i: int, n: int) -> None:
        self.items[i] = n

    def __contains__(self, n: int) -> bool:
        return n in self.items

    def __call__(self, n: int) -> int:
        return self.value + n

    def __eq__(self, other: "Node") -> bool:
        return self.value == other.value

    def __ne__(self, other: "Node") -> bool:
        return self.value != other.value

    def __lt__(self, other: "Node") -> bool:
        return self.value < other.value

    def __le__(self, other: "Node") -> bool:
        return self.value <= other.value

    def __gt__(self, other: "Node") -> bool:
        return self.value > other.value

    def __add__(self, other: "Node") -> "Node":
        return Node(self.value + other.value, self.items + other.items)

    def __mul__(self, n: int) -> "Node":
        return Node(self.value * n, self.items)

    def __sub__(self, other: "Node") -> int:
        return self.value - other.value

    def __neg__(self) -> "Node":
        return Node(-self.value, self.items)

    def __bool__(self) -> bool:
        return self.value > 0

    def __str__(self) -> str:
        return "Node " + str(self.value)


@torch.jit.script
class Holder:
    def __init__(self, node: Node):
        self.node = node
        self.nodes = [node]
        self.by: Dict[str, Node] = {"first": node}

    def replace(self, node: Node) -> None:
        self.node = node
        self.nodes.append(node)


def shared(n: Node, other: Node) -> bool:
    n.items.append(9)
    return len(other.items) == len(n.items)


def unpack(p: Point) -> Tuple[int, float]:
    x, y, tag = p
    return x, y

"""
_NODE_INTS = ways(r"""
    $Node$.value ;; $Node$.total ;; len($Node$) ;; $Node$[$index$] ;; $Node$($int$) ;;
    $Node$.point.x ;; ($Node$ - $Node$) ;; $Node$.add($int$).value ;;
    $Node$.add($int$, times=2).total ;; $Node$.last ;; Node.make($int$) ;; $Holder$.node.value ;;
    len($Holder$.nodes) ;; $Holder$.by['first'].value
""")
CLASSES = Family(
    header="import enum\nfrom typing import Union\n" + HEADER + _CLASSES,
    function="def f($head$):\n    n = Node(3, [1, 2])\n    h = Holder(n)\n    ",
    types=ways(r"""
        int ;; int ;; bool ;; str ;; Node ;; Holder ;; Point ;; Line ;; Colour ;; Word ;;
        List[int] ;; List[Node] ;; Union[int, str] ;; Optional[Point] ;; Rate ;;
        Tuple[int, Colour]
    """),
    parameters=ways(r"""
        int ;; str ;; List[int] ;; Colour ;; Point ;; Union[int, str] ;; Optional[int] ;; Word
    """),
    ways={
        "int": [
            *_NODE_INTS,
            *(
                "$Colour$.value",
                "$Point$.x",
                "$Point$[0]",
                "len($Point$)",
                "unpack($Point$)[0]",
            ),
            *(
                "[c1.value for c1 in Colour][$index$]",
                "$Line$.start.x",
                "$Line$.length[$index$]",
                "len($Word$.value)",
            ),
            *(
                "sorted($List[Node]$)[0].value",
                "len($List[Node]$)",
                "int($Rate$.value)",
                "($int$ + $int$)",
            ),
            *(
                "{Colour.RED: 1, Colour.BLUE: 2}[$Colour$]",
                "$Tuple[int, Colour]$[0]",
                "int($Node$.data.sum())",
            ),
            *("len($Node$.notes)", "int(unpack($Point$)[1])", "$List[Node]$[$index$].value"),
        ],
        "bool": ways(r"""
            $Node$ == $Node$ ;; $Node$ != $Node$ ;; $Node$ < $Node$ ;; $Node$ <= $Node$ ;;
            $Node$ > $Node$ ;; $int$ in $Node$ ;; $Node$ is $Node$ ;; $Node$ is not n ;;
            shared($Node$, $Node$) ;; bool($Node$) ;; $Colour$ == $Colour$ ;;
            $Colour$ is $Colour$ ;; $Colour$ != Colour.RED ;; $Word$ == Word.YES ;;
            $Colour$ in [Colour.RED, Colour.BLUE] ;; $Point$ == $Point$ ;; $Line$ == $Line$ ;;
            $int$ < $int$ ;; isinstance($Union[int, str]$, int) ;; $Optional[Point]$ is None ;;
            $Point$.tag is None ;; isinstance($Node$, Node) ;;
            $Node$.items is $Node$.items ;; not $Node$ ;; $Rate$ == Rate.LOW ;;
            $Tuple[int, Colour]$ == $Tuple[int, Colour]$ ;; $Node$.colour == $Colour$
        """),
        "str": ways(r"""
            str($Colour$) ;; $Colour$.name ;; str($Point$) ;; f'{$Colour$}' ;; str($Line$) ;;
            $Word$.value ;; str($int$) ;; ($str$ + $str$) ;; str($Tuple[int, Colour]$) ;;
             str($Node$.items) ;; [w.name for w in Word][$index$] ;;
            str([$Colour$, $Colour$]) ;; f'{$Point$.tag}' ;; str($Rate$.value)
        """),
        "Node": ways(r"""
            n ;; ($Node$ + $Node$) ;; ($Node$ * $int$) ;; -$Node$ ;; Node($int$, $List[int]$) ;;
            $Holder$.node ;; $List[Node]$[$index$] ;; $Node$.add($int$) ;;
            ($Node$ if $bool$ else $Node$) ;; $Holder$.nodes[$index$] ;; $Holder$.by['first'] ;;
            max($List[Node]$)
        """),
        "Holder": ["h", "Holder($Node$)"],
        "List[Node]": ways(r"""
            [$Node$, $Node$] ;; sorted($List[Node]$) ;; $Holder$.nodes ;;
            sorted($List[Node]$, reverse=True)
        """),
        "Point": ways(r"""
            Point($int$) ;; Point($int$, 2.5) ;; Point(y=0.5, x=$int$) ;; Point($int$, tag=$str$) ;;
            $Line$.start ;; Point($int$, $Rate$.value, $str$) ;; $Node$.point ;;
            Point(*[1, 2.0, 'q'])
        """),
        "Line": ["Line($Point$, $List[int]$)", "Line(length=$List[int]$, start=$Point$)"],
        "Colour": ways(r"""
            Colour.RED ;; Colour.BLUE ;; $Node$.colour ;; [c1 for c1 in Colour][$index$] ;;
            $Tuple[int, Colour]$[1] ;; Colour(1) ;; Colour['RED'] ;;
            ($Colour$ if $bool$ else $Colour$) ;; list(Colour)[$index$]
        """),
        "Word": ["Word.NO", "Word.YES", "[w for w in Word][$index$]"],
        "Rate": ["Rate.LOW", "Rate.HIGH"],
        "List[int]": ways(r"""
            $Node$.items ;; [$int$, $int$] ;; $Line$.length ;; [c1.value for c1 in Colour] ;;
            $Node$.items[$slice$]
        """),
        "Union[int, str]": ["$int$", "$str$"],
        "Optional[Point]": ["None", "$Point$"],
        "Tuple[int, Colour]": ["($int$, $Colour$)"],
    },
    literals={
        **_LITERALS,
        "Node": ["n"],
        "Holder": ["h"],
        "Colour": ["Colour.GREEN"],
        "List[Node]": ["[n]"],
    },
    inputs={
        "int": ways(r"""
            0 ;; 1 ;; -2 ;; 7
        """),
        "str": ["'a'", "'zz'"],
        "List[int]": ["[]", "[4, 5]"],
        "Colour": ["Colour.RED", "Colour.BLUE"],
        "Word": ["Word.YES"],
        "Point": ["Point(1)", "Point(2, 0.5, 't')"],
        "Union[int, str]": ["3", "'u'"],
        "Optional[int]": ["None", "4"],
    },
    scope={"n": "Node", "h": "Holder"},
    statements=ways(r"""
        $var:Node$.value += $int$ ;; $var:Node$.total = $int$ ;; $var:Node$.total += $int$ ;;
        $var:Node$[0] = $int$ ;; $var:Node$.items.append($int$) ;; $var:Node$.items = $List[int]$ ;;
        $var:Node$.colour = $Colour$ ;; $var:Node$.point = $Point$ ;; $var:Node$.data += $int$ ;;
        $var:Node$.data[0] = $int$ ;; n = $Node$ ;; $var:Node$.notes[$str$] = $List[int]$ ;;
        $var:Holder$.replace($Node$) ;; $var:Holder$.node = $Node$ ;;
        $var:Holder$.nodes[0].value += 1 ;; $var:Holder$.by[$str$] = $Node$ ;;
        $var:Node$ = $Node$ ;; print($Colour$, $Point$) ;;
        with $Node$ as m:\n    m.value += $int$ ;; with n:\n    n.add($int$) ;; h = $Holder$ ;;
        print($Node$.items, $str$) ;; if $Node$:\n    print(1) ;;
        for c1 in Colour:\n    print(c1, c1.value, c1.name) ;; $var:Node$.last = None ;;
        for q in $List[Node]$:\n    q.value -= 1 ;; x, y, z = $Point$\nprint(x, y, z) ;;
        print($Line$, $Tuple[int, Colour]$) ;;
        o = $Optional[Point]$\nif o is not None:\n    print(o.x, o) ;;
        b = $Node$.last\nif b is not None:\n    n.value = b ;;
        u = $Union[int, str]$\nif isinstance(u, str):\n    print(u + '!')
        \nelse:\n    print(u + 1) ;;
        $var:Node$.items[$index$] += $int$ ;; $var:Node$ += $Node$ ;;
        raise ValueError(str($Point$)) ;; assert $bool$, str($Colour$) ;;
         print($List[int]$, $Word$, $Rate$) ;;
        $var:List[Node]$.append($Node$) ;; $var:List[Node]$.sort() ;; del $var:Node$.items[0]
    """),
    heads=[
        *_HEADS[:3],
        "for $name$ in $List[Node]$[:3]: #Node",
        "for $name$ in Colour: #Colour",
        "with $Node$ as $name$: #Node",
    ],
)
