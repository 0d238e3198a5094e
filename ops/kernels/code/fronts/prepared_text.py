"""The native side of `prepared`: finds what is known of a call's arguments, and does it.

All is written down in 64-bit words (`prepared.py` writes them):

    state    how many entries there are, their addresses (`MOST_ENTRIES` words), a key of the sizes
             of each entry's arrays (as many words); at `SLOT_AT` which slot the last call fell into
             that was learned from, and behind that which bits of a slot's number count; then, for
             each of `SLOTS` slots, how many calls that fall into it and match no entry go to the
             function itself before the next is learned from
    entry    arguments: count, address of four words each, `kind a b c`
             results: count, address of six words each: dtype, dimensions, sizes, strides; the
             argument, or behind all that may be taken the result before it, that it is a part of,
             -1 if of none, and how many bytes behind that it begins
             runs: count, address of five words each: kernel, count, least, words, their address
             where it is said what is given back; whether runs may let go of Python's lock
    given    how many results are a tuple, none where one is given back, less than none where they
             are a list; then their numbers; -1 is the first argument, -2 the second: where the
             first one alone is given back, it shares memory with no other, since it may be written
    word     kind and value: 0 a number; or the address of 1 an argument's elements, 2 a result's
             (the low 8 bits say which, the others how many bytes behind), 3 the flag; 4 the float
             or 5 the int that an argument is; the address of 6 a counter, which begins as 0

How an argument matches stands in `matching_text`, as does which slot a call falls into.
"""

from __future__ import annotations

from typing import Final

from .matching_text import MATCHING

__all__ = [
    *("KEY_FACTOR", "MOST_ENTRIES", "MOST_RESULTS", "MOST_TAKEN", "PLACE_BITS", "PREPARED"),
    *("PREPARED_WORDS", "SLOTS", "SLOT_AT", "STATE_WORDS"),
]

MOST_ENTRIES: Final = 256
SLOTS: Final = 64
"""What calls wait by that are not known: those of one slot wait for each other.  A power of two."""
SLOT_AT: Final = 2 * MOST_ENTRIES + 1
STATE_WORDS: Final = SLOT_AT + 2 + SLOTS
MOST_RESULTS: Final = 100
MOST_TAKEN: Final = 512
"""Arguments of a call that is known."""
PLACE_BITS: Final = 12
"""A word for a part has the operand's number in so many bits, and above them the bytes it begins
behind."""
KEY_FACTOR: Final = 1_000_003
"""Of a key, which sizes of arrays are added to: most entries that do not match are told by it."""

PREPARED_WORDS: Final = ("known", "function", "learn")
"""What `prepared` is given behind `TABLE`: where the state lies, and what is called otherwise."""

PREPARED: Final = (
    MATCHING
    + """
define internal void @drop_all(ptr %table, ptr %objects, i64 %count) {
entry:
{loads}
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  %i1 = add i64 %i, 1
  br ult i64 %i, %count, label %look, label %out
look:
  %object = load ptr, ptr %objects at ptr %i
  call void %drop(ptr %object)
  br label %next
out:
  ret void
}

define internal void @keep_all(ptr %table, ptr %objects, i64 %count, ptr %places) {
entry:
{loads}
next:
  %i = phi i64 [0, %entry], [%i1, %keep]
  br ult i64 %i, %count, label %keep, label %out
keep:
  %i1 = add i64 %i, 1
  %object = load ptr, ptr %objects at ptr %i
  call void %hold(ptr %object)
  store ptr %object, ptr %places at ptr %i
  br label %next
out:
  ret void
}

define internal i64 @make_results(ptr %table, ptr %wanted, i64 %count, ptr %sources, ptr %results) {
entry:
{loads}
next:
  %i = phi i64 [0, %entry], [%i1, %made]
  br not ult i64 %i, %count, label %out
  %words = mul i64 %i, 6
  %its = getelementptr i64, ptr %wanted, i64 %words
  %number = load i64, ptr %its at i64 4
  %behind = load i64, ptr %its at i64 5
  %dtype = load ptr, ptr %its
  %rank = load i64, ptr %its at i64 1
  %depth = trunc i64 %rank to i32
  %sizes = load ptr, ptr %its at i64 2
  %strides = load ptr, ptr %its at i64 3
  call void %hold(ptr %dtype)
  br slt i64 %number, 0, label %alone, label %within
alone:
  %whole_new = call ptr %make_array(ptr %array_type, ptr %dtype, i32 %depth, ptr %sizes, \
ptr %strides, ptr null, i32 0, ptr null)
  br eq ptr %whole_new, null, label %out, label %made
within:
  %is_own = icmp uge i64 %number, {taken}
  %own = sub i64 %number, {taken}
  %own_place = getelementptr ptr, ptr %results, i64 %own
  %given_place = getelementptr ptr, ptr %sources, i64 %number
  %source_place = select i1 %is_own, ptr %own_place, ptr %given_place
  %source = load ptr, ptr %source_place
  %first = load ptr, ptr %source at i8 {head}
  %all_flags = load i32, ptr %source at i8 {flags_at}
  %flags = and i32 %all_flags, 1280
  %data = getelementptr i8, ptr %first, i64 %behind
  %part = call ptr %make_array(ptr %array_type, ptr %dtype, i32 %depth, ptr %sizes, \
ptr %strides, ptr %data, i32 %flags, ptr null)
  br eq ptr %part, null, label %out, label %base
base:
  call void %hold(ptr %source)
  %set = call i32 %set_base(ptr %part, ptr %source)
  br eq i32 %set, 0, label %made
  call void %drop(ptr %part)
  br label %out
made:
  %array = phi ptr [%whole_new, %alone], [%part, %base]
  store ptr %array, ptr %results at ptr %i
  %i1 = add i64 %i, 1
  br label %next
out:
  ret i64 %i
}

define internal i64 @view_all(ptr %table, ptr %given, i64 %n, ptr %views) {
entry:
{loads}
next:
  %i = phi i64 [0, %entry], [%i1, %kept]
  br not ult i64 %i, %n, label %out
  %object = load ptr, ptr %given at ptr %i
  %type = load ptr, ptr %object at i8 {type_at}
  br eq ptr %type, %array_type, label %view, label %hold_it
hold_it:
  call void %hold(ptr %object)
  br label %kept
view:
  %made = call ptr %view_of(ptr %object, ptr null, ptr null)
  br eq ptr %made, null, label %out, label %kept
kept:
  %mine = phi ptr [%object, %hold_it], [%made, %view]
  store ptr %mine, ptr %views at ptr %i
  %i1 = add i64 %i, 1
  br label %next
out:
  ret i64 %i
}

define internal i1 @run_one(ptr %table, ptr %run, ptr %sources, ptr %results, ptr %flag) {
entry:
  %over = alloca i32
  %counter = alloca i64
  %words = alloca [{room} x i64], align 64
  store i64 0, ptr %counter
{loads}
  %kernel = load ptr, ptr %run
  %count = load i64, ptr %run at i64 1
  %least = load i64, ptr %run at i64 2
  %size = load i64, ptr %run at i64 3
  %pairs = load ptr, ptr %run at i64 4
  %flag_word = ptrtoint ptr %flag to i64
  %counter_word = ptrtoint ptr %counter to i64
next:
  %i = phi i64 [0, %entry], [%i1, %kept]
  br ult i64 %i, %size, label %look, label %ready
look:
  %twice = mul i64 %i, 2
  %pair = getelementptr i64, ptr %pairs, i64 %twice
  %kind = load i64, ptr %pair
  %number = load i64, ptr %pair at i64 1
  switch i64 %kind, label %kept [
    i64 1, label %argument
    i64 2, label %result
    i64 3, label %flagged
    i64 4, label %float
    i64 5, label %int
    i64 6, label %counted ]
argument:
  %source = and i64 %number, {place_mask}
  %source_place = getelementptr ptr, ptr %sources, i64 %source
  br label %address
result:
  %its_result = and i64 %number, {place_mask}
  %result_place = getelementptr ptr, ptr %results, i64 %its_result
address:
  %from = phi ptr [%source_place, %argument], [%result_place, %result]
  %array = load ptr, ptr %from
  %begin = load i64, ptr %array at i8 {head}
  %behind = lshr i64 %number, {place_bits}
  %data = add i64 %begin, %behind
  br label %kept
flagged:
  br label %kept
counted:
  br label %kept
float:
  %float_object = load ptr, ptr %sources at ptr %number
  %float_word = load i64, ptr %float_object at i8 {head}
  br label %kept
int:
  %int_object = load ptr, ptr %sources at ptr %number
  %int_word = call i64 %as_bounded(ptr %int_object, ptr %over)
kept:
  %word = phi i64 [%number, %look], [%data, %address], [%flag_word, %flagged], \
[%counter_word, %counted], \
[%float_word, %float], [%int_word, %int]
  store i64 %word, ptr %words at i64 %i
  %i1 = add i64 %i, 1
  br label %next
ready:
  %done = call i1 @perform(ptr %table, ptr %kernel, ptr %words, i64 %count, i64 %least)
  ret i1 %done
}

define internal i64 @run_all(ptr %table, ptr %entry_words, ptr %sources, ptr %results) {
entry:
  %flag = alloca i64
  store i64 0, ptr %flag
  %count = load i64, ptr %entry_words at i64 4
  %runs = load ptr, ptr %entry_words at i64 5
next:
  %i = phi i64 [0, %entry], [%i1, %step]
  br ult i64 %i, %count, label %step, label %out
step:
  %words = mul i64 %i, 5
  %run = getelementptr i64, ptr %runs, i64 %words
  %is_done = call i1 @run_one(ptr %table, ptr %run, ptr %sources, ptr %results, ptr %flag)
  %i1 = add i64 %i, 1
  br i1 %is_done, label %next, label %failed
out:
  %raised = load i64, ptr %flag
  %is_raised = icmp ne i64 %raised, 0
  %answer = zext i1 %is_raised to i64
  ret i64 %answer
failed:
  ret i64 2
}

define internal ptr @give_back(ptr %table, ptr %back, ptr %given, ptr %results) {
entry:
{loads}
  %size = load i64, ptr %back
  br not eq i64 %size, 0, label %several
  %only = load i64, ptr %back at i64 1
  %is_first = icmp slt i64 %only, 0
  %result_at = getelementptr ptr, ptr %results, i64 %only
  %one_place = select i1 %is_first, ptr %given, ptr %result_at
  %one = load ptr, ptr %one_place
  call void %hold(ptr %one)
  ret ptr %one
several:
  %is_list = icmp slt i64 %size, 0
  %minus = sub i64 0, %size
  %length = select i1 %is_list, i64 %minus, i64 %size
  %tuple = call ptr %make_tuple(i64 %length)
  %items = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br eq ptr %tuple, null, label %out, label %next
next:
  %i = phi i64 [0, %several], [%i1, %next]
  %i1 = add i64 %i, 1
  %number = load i64, ptr %back at i64 %i1
  %is_argument = icmp slt i64 %number, 0
  %its_place = xor i64 %number, -1
  %argument_place = getelementptr ptr, ptr %given, i64 %its_place
  %made_place = getelementptr ptr, ptr %results, i64 %number
  %result_place = select i1 %is_argument, ptr %argument_place, ptr %made_place
  %result = load ptr, ptr %result_place
  call void %hold(ptr %result)
  store ptr %result, ptr %items at ptr %i
  br not eq i64 %i1, %length, label %next
  br not i1 %is_list, label %out
  %listed = call ptr %as_list(ptr %tuple)
  call void %drop(ptr %tuple)
  ret ptr %listed
out:
  ret ptr %tuple
}

define ptr @prepared(ptr %self, ptr %given, i64 %n) {
entry:
  %table = getelementptr i8, ptr %self, i64 {bytes_begin}
  %views = alloca [{taken} x ptr], align 64
  %results = alloca [{results} x ptr], align 64
{loads}
  %many = icmp ugt i64 %n, {taken}
  %note = load ptr, ptr %state at i8 16
  %is_noted = icmp ne ptr %note, null
  %inspectors = load i64, ptr %state at i8 32
  %is_inspected = icmp ne i64 %inspectors, 0
  %is_seen = or i1 %is_noted, %is_inspected
  br i1 %is_seen, label %plainly
  br i1 %many, label %miss
  %this = call ptr @found(ptr %table, ptr %known, ptr %given, i64 %n)
  br ne ptr %this, null, label %match, label %miss
match:
  %count = load i64, ptr %this at i64 2
  %wanted = load ptr, ptr %this at i64 3
  %back = load ptr, ptr %this at i64 6
  %lets_go = load i64, ptr %this at i64 7
  br ne i64 %lets_go, 0, label %hold_on, label %allocate
hold_on:
  %seen = call i64 @view_all(ptr %table, ptr %given, i64 %n, ptr %views)
  br eq i64 %seen, %n, label %allocate
  call void @drop_all(ptr %table, ptr %views, i64 %seen)
  ret ptr null
allocate:
  %sources = phi ptr [%given, %match], [%views, %hold_on]
  %held = phi i64 [0, %match], [%n, %hold_on]
  %made = call i64 @make_results(ptr %table, ptr %wanted, i64 %count, ptr %sources, ptr %results)
  br eq i64 %made, %count, label %work
  call void @drop_all(ptr %table, ptr %results, i64 %made)
  call void @drop_all(ptr %table, ptr %views, i64 %held)
  ret ptr null
work:
  %outcome = call i64 @run_all(ptr %table, ptr %this, ptr %sources, ptr %results)
  call void @drop_all(ptr %table, ptr %views, i64 %held)
  br not eq i64 %outcome, 0, label %bad
  %given_back = call ptr @give_back(ptr %table, ptr %back, ptr %given, ptr %results)
  call void @drop_all(ptr %table, ptr %results, i64 %count)
  ret ptr %given_back
bad:
  call void @drop_all(ptr %table, ptr %results, i64 %count)
  br not eq i64 %outcome, 2, label %plainly
  ret ptr null
miss:
  %slot_place = getelementptr i64, ptr %known, i64 {slot_at}
  %bits = load i64, ptr %slot_place at i64 1
  %its_slot = call i64 @slot_of(ptr %table, ptr %given, i64 %n)
  %slot = and i64 %its_slot, %bits
  %waits_place = getelementptr i64, ptr %slot_place, i64 2
  %wait_place = getelementptr i64, ptr %waits_place, i64 %slot
  %wait = load i64, ptr %wait_place
  br ugt i64 %wait, 0, label %later
  store i64 %slot, ptr %slot_place
  %learned = call ptr %call_with(ptr %learn, ptr %given, i64 %n, ptr null)
  ret ptr %learned
later:
  %less = sub i64 %wait, 1
  store i64 %less, ptr %wait_place
plainly:
  %answer = call ptr %call_with(ptr %function, ptr %given, i64 %n, ptr null)
  ret ptr %answer
}
"""
)
