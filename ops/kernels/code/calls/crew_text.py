"""The code that shares work among threads, and calls kernels from Python.

A job lies in memory of its own:

    0    the generation of the work, times 2**32, and which pieces nobody has begun: the number of
         the first one, and 2**16 times that of the one behind the last one
    64   how many pieces are done
    128  how many threads sleep
    192  kernel, arguments, count, pieces; 224 whether there is a job; 232 whether to end

Pieces are taken by exchanging the first word, so a thread that comes late takes none of another
job: the generation has changed.  Who asks takes the first ones, others the last ones, so that of
two threads each mostly has the same part of one array after the other: where cores share no cache,
what another one has written costs more than the work.  Threads without work look for some for a
while, then sleep on the generation (futex(2), x86-64 Linux).  What ends threads changes the
generation and no piece, so that work which is under way goes on.

Python calls `run(kernel, count, least, arguments...)`, a function of the kind METH_FASTCALL.  Whole
numbers, floats and arrays, which give the address of their elements, become 64-bit words; a kernel
is called with their address and a range: `kernel(arguments, start, stop)`.
"""

from __future__ import annotations

from typing import Final

from ..fronts.called_text import CALLED, CALLED_WORDS
from ..fronts.fronts_text import FRONT, FRONT_WORDS, MOST_GIVEN
from ..fronts.looked_text import LOOKED, LOOKED_WORDS
from ..fronts.parts_text import PARTS, PARTS_WORDS, members_text
from ..fronts.places_text import PLACES
from ..fronts.prepared_text import (
    KEY_FACTOR,
    MOST_ENTRIES,
    MOST_RESULTS,
    MOST_TAKEN,
    PLACE_BITS,
    PREPARED,
    PREPARED_WORDS,
    SLOT_AT,
)
from ..fronts.put_text import PUT
from ..fronts.recorded_parts_text import RECORDED_PARTS
from ..fronts.records_text import BOOK, SHAPES_BITS, SHAPES_WORDS
from ..fronts.told_text import TOLD
from ..language.short_forms import spelled_out

__all__ = ["JOB_SIZE", "MAKES_AT", "MOST_ARGUMENTS", "SPINS", "TABLE", "crew_text"]

JOB_SIZE: Final = 256
SPINS: Final = 6000
"""How often a thread looks for work before it sleeps: some 100 us, since waking it takes as long; a
network's kernels come sooner one after the other."""
_POLITE: Final = 512
"""How often it looks, a power of two, until it lets others have its core, if some want it."""
MOST_ARGUMENTS: Final = 24
MAKES_AT: Final = 304
"""Where a class has what makes its objects (`calls/pools.py` looks whether that is so)."""
_PART_MOST: Final = 32
"""Dimensions of a tensor and parts of a key that name a part of it."""
_PART_ELEMENTS: Final = 1024
"""So many elements are written one by one; of more, what NumPy does by vectors saves more."""
_PIECES: Final = 4
"""Pieces a thread, so that none waits long for another."""
_MOST_PIECES: Final = 1 << 15

TABLE: Final = (
    *("array_type", "int_type", "float_type", "list_type", "tuple_type", "none", "type_error"),
    *("as_int", "as_bounded", "error", "set_error", "let_go", "take_back", "hold", "drop"),
    *("call", "call_with", "make_array", "make_tuple", "view_of", "start", "state"),
    *("as_list", "make_list", "set_base", "attribute", "set_attribute", "variable", "make_object"),
    *("forget_error", "make_int", "item_of", "next_of"),
    *("fetch_error", "normalize_error", "set_trace", "refer", "make_float", "bind"),
)
"""What the words are that `run` is given as bytes: addresses of Python's and NumPy's types, objects
and functions; `start` makes threads, `state` is where the job's address and their number lie, and
who is told of calls of `run`."""

_CREW: Final = """
define internal void @piece(ptr %job, i64 %index) {
  %done = getelementptr i8, ptr %job, i64 64
  %kernel = load ptr, ptr %job at i8 192
  %words = load ptr, ptr %job at i8 200
  %count = load i64, ptr %job at i8 208
  %pieces = load i64, ptr %job at i8 216
  %next = add i64 %index, 1
  %before = mul i64 %count, %index
  %after = mul i64 %count, %next
  %start = udiv i64 %before, %pieces
  %stop = udiv i64 %after, %pieces
  call void %kernel(ptr %words, i64 %start, i64 %stop)
  %was = atomicrmw add ptr %done, i64 1 release
  ret void
}

define internal i1 @is_left(i64 %word) {
  %first = and i64 %word, 65535
  %high = lshr i64 %word, 16
  %behind = and i64 %high, 65535
  %some = icmp ne i64 %first, %behind
  ret i1 %some
}

define internal i1 @take(ptr %job, i1 %forwards) {
entry:
  %step = select i1 %forwards, i64 1, i64 -65536
look:
  %word = load atomic i64, ptr %job acquire, align 8
  %some = call i1 @is_left(i64 %word)
  br not i1 %some, label %nothing
  %less = add i64 %word, %step
  %pair = cmpxchg ptr %job, i64 %word, i64 %less acq_rel acquire
  %mine = extractvalue { i64, i1 } %pair, 1
  br not i1 %mine, label %look
  %first = and i64 %word, 65535
  %high = lshr i64 %less, 16
  %last = and i64 %high, 65535
  %index = select i1 %forwards, i64 %first, i64 %last
  call void @piece(ptr %job, i64 %index)
  ret i1 true
nothing:
  ret i1 false
}

define void @work(ptr %job, i64 %spins) {
entry:
  %sleepers = getelementptr i8, ptr %job, i64 128
  %ending = getelementptr i8, ptr %job, i64 232
again:
  %some = call i1 @take(ptr %job, i1 false)
  br i1 %some, label %again
  %word = load atomic i64, ptr %job acquire, align 8
  %end = load atomic i32, ptr %ending acquire, align 4
  br ne i32 %end, 0, label %out, label %check
check:
  %more = call i1 @is_left(i64 %word)
  br i1 %more, label %again, label %spin
spin:
  %k = phi i64 [0, %check], [%k1, %polite], [%k1, %give_way]
  %now = load atomic i64, ptr %job acquire, align 8
  br ne i64 %now, %word, label %again
  call void asm sideeffect "pause", "~{memory}"()
  %k1 = add i64 %k, 1
  %beyond = and i64 %k1, {polite}
  %is_round = icmp eq i64 %beyond, 0
  br ult i64 %k1, %spins, label %polite, label %tired
polite:
  br i1 %is_round, label %give_way, label %spin
give_way:
  %r0 = call i64 asm sideeffect "syscall", "={rax},{rax},~{rcx},~{r11},~{memory}"(i64 24)
  br label %spin
tired:
  %o1 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %last = load atomic i64, ptr %job seq_cst, align 8
  br ne i64 %last, %word, label %awake
  %generation = lshr i64 %word, 32
  %place = getelementptr i8, ptr %job, i64 4
  %r = call i64 asm sideeffect "syscall", \
"={rax},{rax},{rdi},{rsi},{rdx},{r10},~{rcx},~{r11},~{memory}"\
(i64 202, ptr %place, i64 128, i64 %generation, i64 0)
awake:
  %o2 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %again
out:
  ret void
}

define internal void @wake(ptr %job) {
entry:
  %sleepers = getelementptr i8, ptr %job, i64 128
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  br not ne i32 %asleep, 0, label %out
  %place = getelementptr i8, ptr %job, i64 4
  %r = call i64 asm sideeffect "syscall", \
"={rax},{rax},{rdi},{rsi},{rdx},~{rcx},~{r11},~{memory}"\
(i64 202, ptr %place, i64 129, i64 2147483647)
out:
  ret void
}

define void @end(ptr %job) {
  %ending = getelementptr i8, ptr %job, i64 232
  store atomic i32 1, ptr %ending seq_cst, align 4
  %was = atomicrmw add ptr %job, i64 4294967296 seq_cst
  call void @wake(ptr %job)
  ret void
}

define internal void @share(ptr %job, ptr %kernel, ptr %words, i64 %count, i64 %pieces) {
entry:
  %busy = getelementptr i8, ptr %job, i64 224
  %pair = cmpxchg ptr %busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %pair, 1
  br i1 %free, label %mine
  call void %kernel(ptr %words, i64 0, i64 %count)
  ret void
mine:
  %done = getelementptr i8, ptr %job, i64 64
  store ptr %kernel, ptr %job at i8 192
  store ptr %words, ptr %job at i8 200
  store i64 %count, ptr %job at i8 208
  store i64 %pieces, ptr %job at i8 216
  store atomic i64 0, ptr %done monotonic, align 8
  %word = load atomic i64, ptr %job monotonic, align 8
  %generation = lshr i64 %word, 32
  %next = add i64 %generation, 1
  %high = shl i64 %next, 32
  %behind = shl i64 %pieces, 16
  %new = or i64 %high, %behind
  store atomic i64 %new, ptr %job seq_cst, align 8
  call void @wake(ptr %job)
help:
  %some = call i1 @take(ptr %job, i1 true)
  br i1 %some, label %help, label %join
join:
  %k = phi i64 [0, %help], [%k1, %wait], [0, %yield]
  %made = load atomic i64, ptr %done acquire, align 8
  br eq i64 %made, %pieces, label %out, label %wait
wait:
  call void asm sideeffect "pause", "~{memory}"()
  %k1 = add i64 %k, 1
  br ult i64 %k1, 2000, label %join, label %yield
yield:
  %r = call i64 asm sideeffect "syscall", "={rax},{rax},~{rcx},~{r11},~{memory}"(i64 24)
  br label %join
out:
  store atomic i32 0, ptr %busy release, align 4
  ret void
}
"""

_PERFORM: Final = """
define internal i1 @perform(ptr %table, ptr %kernel, ptr %arguments, i64 %count, i64 %least) {
entry:
  %parts = udiv i64 %count, %least
  br not eq i64 %parts, 0, label %long
  call void %kernel(ptr %arguments, i64 0, i64 %count)
  ret i1 true
long:
{loads}
  %threads = load i64, ptr %state at i8 8
  %several = icmp ugt i64 %threads, 1
  %divides = icmp ugt i64 %parts, 1
  %pays = and i1 %several, %divides
  br i1 %pays, label %crew, label %single
crew:
  %job = load ptr, ptr %state
  br ne ptr %job, null, label %together
  %begun = call ptr %call(ptr %start)
  br not eq ptr %begun, null, label %begun_well
  ret i1 false
begun_well:
  call void %drop(ptr %begun)
  %job_now = load ptr, ptr %state
  br ne ptr %job_now, null, label %together, label %single
together:
  %this = phi ptr [%job, %crew], [%job_now, %begun_well]
  %is_many = icmp ugt i64 %threads, {most_threads}
  %sharing = select i1 %is_many, i64 {most_threads}, i64 %threads
  %wanted = mul i64 %sharing, {pieces}
  %fewer = icmp ult i64 %parts, %wanted
  %cut = select i1 %fewer, i64 %parts, i64 %wanted
  %held = call ptr %let_go()
  call void @share(ptr %this, ptr %kernel, ptr %arguments, i64 %count, i64 %cut)
  call void %take_back(ptr %held)
  ret i1 true
single:
  %kept_state = call ptr %let_go()
  call void %kernel(ptr %arguments, i64 0, i64 %count)
  call void %take_back(ptr %kept_state)
  ret i1 true
}
"""

_RUN: Final = """
@message = private constant [53 x i8] c"kernels take ints, floats and arrays, 24 at the most\\00"

define ptr @run(ptr %self, ptr %given, i64 %n) {
entry:
  %words = alloca [{room} x i64], align 64
  %table = getelementptr i8, ptr %self, i64 {bytes_begin}
{loads}
  %most = icmp ule i64 %n, {room}
  %least_given = icmp uge i64 %n, 3
  %fits = and i1 %most, %least_given
  br i1 %fits, label %next, label %wrong
next:
  %i = phi i64 [0, %entry], [%i1, %kept]
  br not ult i64 %i, %n, label %ready
  %object = load ptr, ptr %given at ptr %i
  %type = load ptr, ptr %object at i8 {type_at}
  %is_array = icmp eq ptr %type, %array_type
  %is_float = icmp eq ptr %type, %float_type
  %is_direct = or i1 %is_array, %is_float
  br i1 %is_direct, label %direct, label %other
direct:
  %seen = load i64, ptr %object at i8 {head}
  br label %kept
other:
  br eq ptr %type, %int_type, label %whole, label %wrong
whole:
  %number = call i64 %as_int(ptr %object)
  br eq i64 %number, -1, label %doubt, label %kept
doubt:
  %raised = call ptr %error()
  br ne ptr %raised, null, label %failed, label %kept
kept:
  %word = phi i64 [%seen, %direct], [%number, %whole], [%number, %doubt]
  store i64 %word, ptr %words at i64 %i
  %i1 = add i64 %i, 1
  br label %next
wrong:
  call void %set_error(ptr %type_error, ptr @message)
failed:
  ret ptr null
ready:
  %kernel = load ptr, ptr %words
  %arguments = getelementptr i64, ptr %words, i64 3
  %count = load i64, ptr %words at i64 1
  %least = load i64, ptr %words at i64 2
  %is_done = call i1 @perform(ptr %table, ptr %kernel, ptr %arguments, i64 %count, i64 %least)
  br not i1 %is_done, label %failed
  %note = load ptr, ptr %state at i8 16
  br not ne ptr %note, null, label %done
  %answer = call ptr %call_with(ptr %note, ptr %given, i64 %n, ptr null)
  br eq ptr %answer, null, label %failed
  call void %drop(ptr %answer)
done:
  call void %hold(ptr %none)
  ret ptr %none
}
"""


def _numbers() -> dict[str, int | str]:
    """What the text has in braces that is the same everywhere."""
    return {
        "room": MOST_ARGUMENTS + 3,
        "front_most": MOST_GIVEN,
        "front_room": MOST_ARGUMENTS + 3,
        "results": MOST_RESULTS,
        "taken": MOST_TAKEN,
        "place_bits": PLACE_BITS,
        "place_mask": (1 << PLACE_BITS) - 1,
        "keys_at": MOST_ENTRIES + 1,
        "slot_at": SLOT_AT,
        "factor": KEY_FACTOR,
        "pieces": _PIECES,
        "most_threads": _MOST_PIECES // _PIECES,
        "polite": _POLITE - 1,
        "loads": _loads(PREPARED_WORDS),
        "front_loads": _loads(FRONT_WORDS),
        "called_loads": _loads(CALLED_WORDS),
        "looked_loads": _loads((*FRONT_WORDS, *LOOKED_WORDS)),
        "parts_loads": _loads((*FRONT_WORDS, *PARTS_WORDS)),
        "part_most": _PART_MOST,
        "part_words": 2 + 2 * _PART_MOST,
        "part_elements": _PART_ELEMENTS,
        "places_most": MOST_ARGUMENTS - 4,
        "places_room": MOST_ARGUMENTS,
        "book_loads": _loaded("book", BOOK),
        "handles_room": MOST_ARGUMENTS + 4,
        "makes_at": MAKES_AT,
        "shapes_room": MOST_ARGUMENTS * SHAPES_WORDS,
        "shapes_words": SHAPES_WORDS,
        "shapes_rank": SHAPES_WORDS - 2,
        "shapes_shift": 64 - SHAPES_BITS,
        "shapes_many": 1 << SHAPES_BITS,
    }


def _places(head: int, bytes_begin: int, tuple_begin: int) -> dict[str, int]:
    """Where in Python's objects lies what the text reads."""
    return {
        "bytes_begin": bytes_begin,
        "type_at": head - 8,
        "head": head,
        "calling_at": head + 8,
        "list_at": head + 8,
        "tuple_at": tuple_begin,
        "rank_at": head + 8,
        "sizes_at": head + 16,
        "strides_at": head + 24,
        "owner_at": head + 32,
        "dtype_at": head + 40,
        "flags_at": head + 48,
        "width_at": head + 24,
        "items_at": head + 8,
        "kind_at": head + 8,
    }


def crew_text(head: int, bytes_begin: int, tuple_begin: int) -> str:
    """The module: `work`, which threads run until `end`, and what Python calls: `run`, `prepared`,
    `front`, `called`, `looked`, `know_parts` and members of tensors.

    `head` is the size of what every Python object begins with, whose last word is its type;
    `bytes_begin` is where the bytes of a bytes object lie in it, `tuple_begin` the items of a
    tuple.
    """
    values = {**_numbers(), **_places(head, bytes_begin, tuple_begin)}
    text = _CREW + _PERFORM + _RUN + PREPARED + FRONT + CALLED + LOOKED
    text += PARTS + PUT + PLACES + RECORDED_PARTS + TOLD + members_text()
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return spelled_out(text)


def _loads(own: tuple[str, ...]) -> str:
    """The lines that load the words of the table; LLVM leaves out what is not used."""
    return _loaded("table", (*TABLE, *own))


def _loaded(table: str, names: tuple[str, ...]) -> str:
    places = enumerate(names)
    return "\n".join(f"  %{name} = load ptr, ptr %{table} at ptr {place}" for place, name in places)
