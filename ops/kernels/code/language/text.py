"""Code of native functions, written as LLVM's text.

    body = Code(target)
    x = body.load(FLOATS, address)
    body.store(x * x + 1.0, result)

Values know their kind, and the code they belong to, so that formulas are written as in Python.
Each operation is exactly one of IEEE 754's: nothing is fused or reordered that is not written so,
thus equal formulas give equal bits wherever they stand.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .target import Target

__all__ = [
    *("BYTE", "DOUBLE", "FLOAT", "FLOATS", "INT32", "INT64", "LANES", "POINTER"),
    *("Code", "Kind", "Number", "Value", "Variable"),
]

LANES: Final = 16
"""Elements of a vector; LLVM takes several registers for one where they are shorter."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of LLVM's: a number, or a vector of `lanes` of them; whole ones may be `unsigned`."""

    element: str
    lanes: int = 0
    unsigned: bool = False

    def __str__(self) -> str:
        return f"<{self.lanes} x {self.element}>" if self.lanes else self.element

    @property
    def is_real(self) -> bool:
        return self.element in ("float", "double")

    @property
    def suffix(self) -> str:
        """How the names of LLVM's intrinsic functions say it."""
        element = {"float": "f32", "double": "f64"}.get(self.element, self.element)
        return f"v{self.lanes}{element}" if self.lanes else element

    def of(self, element: str) -> Kind:
        """As many of another type; bools have no sign."""
        return Kind(element, self.lanes, element == "i1")

    def of_lanes(self, lanes: int) -> Kind:
        """A vector of so many; one number if there are none."""
        return Kind(self.element, lanes, self.unsigned)

    def literal(self, number: float) -> str:
        """How a constant is written."""
        if self.element == "float":
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        word = _hexadecimal(number) if self.is_real else str(int(number))
        if not self.lanes:
            return word
        return "<" + ", ".join([f"{self.element} {word}"] * self.lanes) + ">"


def _hexadecimal(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


FLOAT: Final = Kind("float")
FLOATS: Final = Kind("float", LANES)
DOUBLE: Final = Kind("double")
BYTE: Final = Kind("i8")
INT32: Final = Kind("i32")
INT64: Final = Kind("i64")
POINTER: Final = Kind("ptr")


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value of the code: the result of an instruction, an argument or a constant."""

    code: Code
    kind: Kind
    name: str

    def __add__(self, other: Number) -> Value:
        return self._with("fadd", "add", other)

    def __radd__(self, other: Number) -> Value:
        return self + other

    def __sub__(self, other: Number) -> Value:
        return self._with("fsub", "sub", other)

    def __rsub__(self, other: Number) -> Value:
        return self.taken(other) - self

    def __mul__(self, other: Number) -> Value:
        return self._with("fmul", "mul", other)

    def __rmul__(self, other: Number) -> Value:
        return self * other

    def __truediv__(self, other: Number) -> Value:
        return self._with("fdiv", "sdiv", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.taken(other) / self

    def __neg__(self) -> Value:
        if not self.kind.is_real:
            return self.taken(0) - self
        return self.code.let(self.kind, f"fneg {self.kind} {self.name}")

    def __and__(self, other: Number) -> Value:
        return self._with("and", "and", other)

    def __or__(self, other: Number) -> Value:
        return self._with("or", "or", other)

    def __lshift__(self, other: Number) -> Value:
        return self._with("shl", "shl", other)

    def __xor__(self, other: Number) -> Value:
        return self._with("xor", "xor", other)

    def __rshift__(self, other: Number) -> Value:
        shift = "lshr" if self.kind.unsigned else "ashr"
        return self._with(shift, shift, other)

    def unsigned_shift(self, count: int) -> Value:
        """Shifted to the right; zeros come in."""
        return self._with("lshr", "lshr", count)

    def __lt__(self, other: Number) -> Value:
        return self._compared("olt", "slt", other)

    def __gt__(self, other: Number) -> Value:
        return self._compared("ogt", "sgt", other)

    def __le__(self, other: Number) -> Value:
        return self._compared("ole", "sle", other)

    def __ge__(self, other: Number) -> Value:
        return self._compared("oge", "sge", other)

    def is_nan(self) -> Value:
        """Whether it is no number; false for whole numbers."""
        if not self.kind.is_real:
            return self.code.constant(self.kind.of("i1"), 0)
        text = f"fcmp uno {self.kind} {self.name}, {self.name}"
        return self.code.let(self.kind.of("i1"), text)

    def equals(self, other: Number) -> Value:
        """Whether it is equal; false for NaN."""
        return self._compared("oeq", "eq", other)

    def differs(self, other: Number) -> Value:
        """Whether it is not equal; true for NaN."""
        return self._compared("une", "ne", other)

    def below(self, other: Number) -> Value:
        """Whether a whole number is from 0 to another, which it is not."""
        text = f"icmp ult {self.kind} {self.name}, {self.taken(other).name}"
        return self.code.let(self.kind.of("i1"), text)

    def bits(self, kind: Kind) -> Value:
        """The same bits as another kind of the same size."""
        return self.code.let(kind, f"bitcast {self.kind} {self.name} to {kind}")

    def converted(self, instruction: str, kind: Kind) -> Value:
        """By an instruction of LLVM's that converts: `sitofp`, `zext`, `fptrunc`."""
        return self.code.let(kind, f"{instruction} {self.kind} {self.name} to {kind}")

    def taken(self, other: Number) -> Value:
        """A number as a value of this kind."""
        return other if isinstance(other, Value) else self.code.constant(self.kind, other)

    def _with(self, real: str, whole: str, other: Number) -> Value:
        instruction = real if self.kind.is_real else whole
        text = f"{instruction} {self.kind} {self.name}, {self.taken(other).name}"
        return self.code.let(self.kind, text)

    def _compared(self, real: str, whole: str, other: Number) -> Value:
        if self.kind.unsigned and whole.startswith("s"):
            whole = f"u{whole[1:]}"
        instruction = f"fcmp {real}" if self.kind.is_real else f"icmp {whole}"
        text = f"{instruction} {self.kind} {self.name}, {self.taken(other).name}"
        return self.code.let(self.kind.of("i1"), text)


Number = Value | float | int


class Variable:
    """What changes while loops run; a register in the end."""

    def __init__(self, code: Code, kind: Kind, place: str) -> None:
        self._code = code
        self._kind = kind
        self._place = place

    @property
    def now(self) -> Value:
        """Its value here."""
        return self._code.let(self._kind, f"load {self._kind}, ptr {self._place}")

    def set(self, value: Value) -> None:
        """Give it another value."""
        self._code.say(f"store {self._kind} {value.name}, ptr {self._place}")


class Code:
    """The body of a native function, and what it needs declared."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._places: list[str] = []
        self._lines: list[str] = []
        self._declared: set[str] = set()
        self._count = 0
        self._counts: dict[str, Value] = {}

    # ------------------------------------------------------------------------------- values

    def say(self, line: str) -> None:
        """An instruction without a result."""
        self._lines.append(f"  {line}")

    def let(self, kind: Kind, text: str) -> Value:
        """The result of an instruction."""
        name = self._name("v")
        self.say(f"{name} = {text}")
        return Value(self, kind, name)

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def argument(self, kind: Kind, name: str) -> Value:
        """An argument of the function."""
        return Value(self, kind, f"%{name}")

    def constant(self, kind: Kind, number: float) -> Value:
        """A number, or a vector of it."""
        return Value(self, kind, kind.literal(number))

    def spread(self, value: Value, lanes: int = LANES) -> Value:
        """A vector of one number."""
        kind = value.kind.of_lanes(lanes)
        one = self.let(kind, f"insertelement {kind} poison, {value.kind} {value.name}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.let(kind, f"shufflevector {kind} {one.name}, {kind} poison, {zeros}")

    def any_of(self, mask: Value) -> Value:
        """Whether a mask is true for some element."""
        return self.call(f"llvm.vector.reduce.or.{mask.kind.suffix}", mask.kind.of_lanes(0), [mask])

    def alone(self, value: Value) -> Value:
        """The number that a vector of one, or another one first, holds."""
        return self.let(value.kind.of_lanes(0), f"extractelement {value.kind} {value.name}, i32 0")

    def shuffled(self, one: Value, other: Value, places: Sequence[int]) -> Value:
        """A vector of elements of two, which are counted through."""
        kind = one.kind.of_lanes(len(places))
        order = ", ".join(f"i32 {place}" for place in places)
        pair = f"{one.kind} {one.name}, {other.kind} {other.name}"
        return self.let(kind, f"shufflevector {pair}, <{len(places)} x i32> <{order}>")

    def choose(self, mask: Value, yes: Number, no: Number) -> Value:
        """`yes` where the mask is true, else `no`; one of them is a value."""
        known = yes if isinstance(yes, Value) else no
        assert isinstance(known, Value)
        kind = known.kind
        taken = [
            each if isinstance(each, Value) else self.constant(kind, each) for each in (yes, no)
        ]
        one, other = (f"{kind} {each.name}" for each in taken)
        return self.let(kind, f"select {mask.kind} {mask.name}, {one}, {other}")

    def lesser(self, one: Value, other: Value) -> Value:
        """The lesser of two numbers."""
        return self.choose(one < other, one, other)

    def split(self, number: Value, by: Value) -> tuple[Value, Value]:
        """Quotient and remainder of whole numbers that are not negative."""
        quotient = number / by
        return quotient, number - quotient * by

    def multiply_add(self, a: Value, b: Number, c: Number) -> Value:
        """`a * b + c`, rounded once where the CPU can; everywhere on it then."""
        if not self.target.has_fma:
            return a * b + c
        kind = a.kind
        taken = [
            each if isinstance(each, Value) else self.constant(kind, each) for each in (a, b, c)
        ]
        return self.call(f"llvm.fma.{kind.suffix}", kind, taken)

    def add_pairs(self, a: Value, b: Value, c: Value) -> Value:
        """`c` and the products of the two bfloat16 that each word of a and of b holds."""
        kind, count = c.kind, c.kind.lanes
        if self.target.has_pairs and kind == FLOATS:
            pairs = Kind("bfloat", 2 * count)
            given = [c, a.bits(pairs), b.bits(pairs)]
            return self.call("llvm.x86.avx512bf16.dpbf16ps.512", kind, given)
        words = [each.bits(INT32.of_lanes(count)) for each in (a, b)]
        low = [(each << 16).bits(kind) for each in words]
        high = [(each & -65536).bits(kind) for each in words]
        return self.multiply_add(high[0], high[1], self.multiply_add(low[0], low[1], c))

    def scaled(self, value: Value, power: Value) -> Value:
        """`value * 2**power`, rounded once; the power is a whole float32 from -150 to 150."""
        kind, whole = value.kind, INT32.of_lanes(value.kind.lanes)
        if self.target.has_scaling and kind == FLOATS:
            name = "llvm.x86.avx512.mask.scalef.ps.512"
            all_of_them = Value(self, Kind("i16"), "-1")
            given = [value, power, value, all_of_them, Value(self, INT32, "4")]
            return self.call(name, kind, given)
        exponent = power.converted("fptosi", whole)
        half = exponent >> 1  # in two factors, each of which is a normal number
        for part in (half, exponent - half):
            value = value * ((part + 127) << 23).bits(kind)
        return value

    def absolute(self, value: Value) -> Value:
        """Without its sign; the lowest whole number stays as it is."""
        if not value.kind.is_real:
            return value if value.kind.unsigned else self.choose(value < 0, -value, value)
        return self.call(f"llvm.fabs.{value.kind.suffix}", value.kind, [value])

    def call(self, name: str, kind: Kind, values: Sequence[Value]) -> Value:
        """The result of another function, declared on the way."""
        return self.let(kind, self._call(name, str(kind), values))

    def _call(self, name: str, kind: str, values: Sequence[Value]) -> str:
        kinds = ", ".join(str(value.kind) for value in values)
        self._declared.add(f"declare {kind} @{name}({kinds})")
        given = ", ".join(f"{value.kind} {value.name}" for value in values)
        return f"call {kind} @{name}({given})"

    def prefetch(self, address: Value) -> None:
        """Have a line of memory brought near, if there is such."""
        how = [Value(self, INT32, word) for word in ("0", "3", "1")]
        self.say(self._call("llvm.prefetch.p0", "void", [address, *how]))

    # ------------------------------------------------------------------------------- memory

    def at(self, address: Value, index: Number, element: Kind) -> Value:
        """The address of an element."""
        place = index.name if isinstance(index, Value) else str(index)
        return self.let(POINTER, f"getelementptr {element}, ptr {address.name}, i64 {place}")

    def aligned(self, address: Value) -> Value:
        """The next address where a line of memory begins."""
        number = self.let(INT64, f"ptrtoint ptr {address.name} to i64")
        return self.at(address, -number & 63, BYTE)

    def load(self, kind: Kind, address: Value) -> Value:
        """What lies at an address, however that is aligned."""
        return self.let(kind, f"load {kind}, ptr {address.name}, align {_ALIGNED[kind.element]}")

    def store(self, value: Value, address: Value) -> None:
        """Write to an address."""
        aligned = _ALIGNED[value.kind.element]
        self.say(f"store {value.kind} {value.name}, ptr {address.name}, align {aligned}")

    def first(self, count: Value, lanes: int = LANES) -> Value:
        """A mask of that many elements of a vector; none if it is negative, all if it is large."""
        most = self.choose(count > lanes, lanes, count).converted("trunc", INT32)
        mask = self.order(INT32.of_lanes(lanes)) < self.spread(most, lanes)
        self._counts[mask.name] = most
        return mask

    def load_if(
        self, kind: Kind, address: Value, mask: Value | None, otherwise: float = 0.0
    ) -> Value:
        """Where the mask is true what lies at an address, else a number; no more is touched."""
        if mask is None:
            return self.load(kind, address)
        aligned = Value(self, INT32, str(_ALIGNED[kind.element]))
        given = [address, aligned, mask, self.constant(kind, otherwise)]
        return self.call(f"llvm.masked.load.{kind.suffix}.p0", kind, given)

    def gathered(self, kind: Kind, address: Value, offsets: Value, mask: Value | None) -> Value:
        """A vector of what lies so many bytes behind an address, where the mask is true."""
        lanes = kind.lanes
        places = Kind("ptr", lanes)
        text = f"getelementptr i8, ptr {address.name}, {offsets.kind} {offsets.name}"
        chosen = mask or self.constant(Kind("i1", lanes), 1)
        aligned = Value(self, INT32, str(_ALIGNED[kind.element]))
        given = [self.let(places, text), aligned, chosen, self.constant(kind, 0)]
        return self.call(f"llvm.masked.gather.{kind.suffix}.v{lanes}p0", kind, given)

    def scattered(self, value: Value, address: Value, offsets: Value, mask: Value | None) -> None:
        """Write each element so many bytes behind an address, where the mask is true."""
        lanes = value.kind.lanes
        text = f"getelementptr i8, ptr {address.name}, {offsets.kind} {offsets.name}"
        places = self.let(Kind("ptr", lanes), text)
        chosen = mask or self.constant(Kind("i1", lanes), 1)
        name = f"llvm.masked.scatter.{value.kind.suffix}.v{lanes}p0"
        aligned = Value(self, INT32, str(_ALIGNED[value.kind.element]))
        self.say(self._call(name, "void", [value, places, aligned, chosen]))

    def replaced(self, value: Value, lane: int, one: Value) -> Value:
        """A vector with another number at one place."""
        text = f"insertelement {value.kind} {value.name}, {one.kind} {one.name}, i32 {lane}"
        return self.let(value.kind, text)

    def chosen(self, lanes: Sequence[bool]) -> Value:
        """A mask that is known beforehand."""
        kind = Kind("i1", len(lanes))
        return Value(self, kind, f"<{', '.join(f'i1 {each:d}' for each in lanes)}>")

    def backwards(self, value: Value) -> Value:
        """A vector's elements, the last one first."""
        return self.shuffled(value, value, range(value.kind.lanes)[::-1])

    def order(self, kind: Kind) -> Value:
        """The vector 0, 1, 2 and so on."""
        places = (f"{kind.element} {lane}" for lane in range(kind.lanes))
        return Value(self, kind, f"<{', '.join(places)}>")

    def store_if(self, value: Value, address: Value, mask: Value | None) -> None:
        """Write the elements for which the mask is true; all if there is none."""
        if mask is None:
            return self.store(value, address)
        count = self._counts.get(mask.name)
        if count is not None and not self.target.has_scaling:
            return self._store_first(value, address, count)
        name = f"llvm.masked.store.{value.kind.suffix}.p0"
        aligned = Value(self, INT32, str(_ALIGNED[value.kind.element]))
        self.say(self._call(name, "void", [value, address, aligned, mask]))

    def _store_first(self, value: Value, address: Value, count: Value) -> None:
        """Write so many elements, at most all, in halves; stores under masks are slow there."""
        lanes = value.kind.lanes
        with self.when(count.equals(lanes)):
            self.store(value, address)
        with self.when(count.below(lanes)):  # none that is negative
            place, left = self.variable(address), value
            while lanes > 1:
                lanes //= 2
                low, high = (
                    self.shuffled(left, left, range(first, first + lanes)) for first in (0, lanes)
                )
                is_long = (count & lanes).differs(0)
                rest = self.variable(low)
                with self.when(is_long):
                    self.store(low, place.now)
                    place.set(self.at(place.now, lanes, value.kind.of_lanes(0)))
                    rest.set(high)
                left = rest.now

    def room(self, kind: Kind, count: int = 1) -> Value:
        """The address of memory for so many, which lasts as long as the call."""
        name = self._name("m")
        self._places.append(f"  {name} = alloca {kind}, i64 {count}, align 64")
        return Value(self, POINTER, name)

    def variable(self, value: Value) -> Variable:
        """A variable that begins with a value."""
        made = Variable(self, value.kind, self.room(value.kind).name)
        made.set(value)
        return made

    # ---------------------------------------------------------------------------- control flow

    @contextmanager
    def counted(self, start: Value, stop: Value, step: Number = 1) -> Iterator[Value]:
        """A loop whose body sees `start`, `start + step` and so on, below `stop`."""
        label = self._name("l")[1:]
        at = self.variable(start)
        self._begin(f"{label}test")
        now = at.now
        inside = now < stop
        self.say(f"br i1 {inside.name}, label %{label}body, label %{label}end")
        self._lines.append(f"{label}body:")
        yield now
        at.set(now + step)
        self.say(f"br label %{label}test")
        self._lines.append(f"{label}end:")

    @contextmanager
    def repeated(self, condition: Callable[[], Value]) -> Iterator[None]:
        """A loop that goes on while a condition is true."""
        label = self._name("r")[1:]
        self._begin(f"{label}test")
        self.say(f"br i1 {condition().name}, label %{label}body, label %{label}end")
        self._lines.append(f"{label}body:")
        yield
        self.say(f"br label %{label}test")
        self._lines.append(f"{label}end:")

    def units(self) -> AbstractContextManager[Value]:
        """A loop over the range of a call: from the kernel's argument `start` on, below `stop`."""
        return self.counted(self.argument(INT64, "start"), self.argument(INT64, "stop"))

    @contextmanager
    def handed_out(self, turn: Value, count: Value, backwards: Value) -> Iterator[Value]:
        """A loop over the numbers below `count` that no thread has taken yet.

        `turn` is the address of a word that threads share: how many of the first ones are taken,
        and, in the upper half, how many of the last ones, which those take that go `backwards`.
        """
        label = self._name("t")[1:]
        step = self.choose(backwards, self.constant(INT64, 1 << 32), 1)
        self._begin(f"{label}next")
        now = self.let(INT64, f"atomicrmw add ptr {turn.name}, i64 {step.name} monotonic")
        first, last = now & 0xFFFFFFFF, now.unsigned_shift(32)
        inside = first + last < count
        self.say(f"br i1 {inside.name}, label %{label}body, label %{label}end")
        self._lines.append(f"{label}body:")
        yield self.choose(backwards, count - 1 - last, first)
        self.say(f"br label %{label}next")
        self._lines.append(f"{label}end:")

    def vectors(
        self,
        start: Value,
        stop: Value,
        beside: int,
        visit: Callable[[list[Value], Value | None], None],
    ) -> None:
        """Visit the vectors of a range, several side by side, by the indices they begin at.

        The last one comes with a mask if the range ends within it.
        """
        step, count = beside * LANES, stop - start
        many, whole = start + (count & -step), start + (count & -LANES)
        with self.counted(start, many, step) as at:
            visit([at + place * LANES for place in range(beside)], None)
        if beside > 1:
            with self.counted(many, whole, LANES) as at:
                visit([at], None)
        with self.when(whole < stop):
            visit([whole], self.first(stop - whole))

    @contextmanager
    def when(self, condition: Value, *, rarely: bool = False) -> Iterator[None]:
        """What is done only if a condition is true; one that rarely is stays a branch."""
        label = self._name("w")[1:]
        weights = ", !prof !0" if rarely else ""
        self.say(f"br i1 {condition.name}, label %{label}do, label %{label}end{weights}")
        self._lines.append(f"{label}do:")
        yield
        self._begin(f"{label}end")

    def _begin(self, label: str) -> None:
        self.say(f"br label %{label}")
        self._lines.append(f"{label}:")

    def kernel(self, name: str, arguments: Sequence[tuple[Kind, str]]) -> str:
        """The text of the kernel that this is the body of.

        It has arguments `start` and `stop`, a range of the work; the others come as words of 64
        bits each, one after the other in memory.
        """
        taken = (
            line
            for index, (kind, word) in enumerate(arguments)
            for line in (
                f"  %{word}.place = getelementptr i64, ptr %words, i64 {index}",
                f"  %{word} = load {kind}, ptr %{word}.place",
            )
        )
        return "\n".join(
            [
                *sorted(self._declared),
                f"define void @{name}(ptr %words, i64 %start, i64 %stop) #0 {{",
                *taken,
                *self._places,
                *self._lines,
                "  ret void",
                "}",
                'attributes #0 = { nounwind "no-builtins" }',
                '!0 = !{!"branch_weights", i32 1, i32 10000}',
                "",
            ]
        )


_ALIGNED: Final = {
    "i1": 1,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "float": 4,
    "i64": 8,
    "double": 8,
    "ptr": 8,
}
