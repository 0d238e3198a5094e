"""The native code that finds what is known of a call's arguments (see `prepared_text`).

An argument matches by `kind`: 0 it is the object a; 1 an array of dtype a, with b dimensions whose
sizes and strides lie at c, and behind them the bytes it reaches over; 2 an int, 3 a float, equal to
a; 4 a list of a ints, or, if c is 1, of floats, which lie at b; 5 it is argument a once more; 6 any
int of 64 bits, 7 any float; 8 a tuple, as 4.

The slot that a call falls into follows from the sizes and dtypes of its arrays, from ints near 0,
and from which objects others are, but not from the values of floats, lists and tuples, which may be
others each time.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MATCHING"]

MATCHING: Final = """
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
define internal i1 @whole(ptr %table, ptr %object, i64 %value) {
entry:
  %over = alloca i32
{loads}
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %int_type, label %no
  %number = call i64 %as_bounded(ptr %object, ptr %over)
  %beyond = load i32, ptr %over
  %fits = icmp eq i32 %beyond, 0
  %equal = icmp eq i64 %number, %value
  %both = and i1 %fits, %equal
  ret i1 %both
no:
  ret i1 false
}

define internal i1 @number(ptr %table, ptr %object, i64 %value, i1 %is_real) {
entry:
{loads}
  br i1 %is_real, label %real
  %is_whole = call i1 @whole(ptr %table, ptr %object, i64 %value)
  ret i1 %is_whole
real:
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %float_type, label %no
  %own = load i64, ptr %object at i8 {head}
  %is_equal = icmp eq i64 %own, %value
  ret i1 %is_equal
no:
  ret i1 false
}

define internal i1 @equal_words(ptr %one, ptr %other, i64 %count) {
entry:
next:
  %i = phi i64 [0, %entry], [%i1, %same]
  br not ult i64 %i, %count, label %yes
  %a = load i64, ptr %one at i64 %i
  %b = load i64, ptr %other at i64 %i
  br eq i64 %a, %b, label %same, label %no
same:
  %i1 = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @lies(ptr %array, i64 %dtype, i64 %rank, ptr %wanted) {
entry:
  %own = load i64, ptr %array at i8 {dtype_at}
  %is_of = icmp eq i64 %own, %dtype
  %own_rank = load i32, ptr %array at i8 {rank_at}
  %wide = zext i32 %own_rank to i64
  %is_as_deep = icmp eq i64 %wide, %rank
  %flags = load i32, ptr %array at i8 {flags_at}
  %aligned = and i32 %flags, 256
  %is_aligned = icmp ne i32 %aligned, 0
  %two = and i1 %is_of, %is_as_deep
  %three = and i1 %two, %is_aligned
  br not i1 %three, label %no
  %own_sizes = load ptr, ptr %array at i8 {sizes_at}
  %alike = call i1 @equal_words(ptr %own_sizes, ptr %wanted, i64 %rank)
  br not i1 %alike, label %no
  %own_strides = load ptr, ptr %array at i8 {strides_at}
  %wanted_strides = getelementptr i64, ptr %wanted, i64 %rank
  %all = call i1 @equal_words(ptr %own_strides, ptr %wanted_strides, i64 %rank)
  ret i1 %all
no:
  ret i1 false
}

define internal i1 @alike(ptr %table, ptr %object, ptr %wanted, ptr %given) {
entry:
  %over = alloca i32
{loads}
  %b_place = getelementptr i64, ptr %wanted, i64 2
  %kind = load i64, ptr %wanted
  %a = load i64, ptr %wanted at i64 1
  %b = load i64, ptr %b_place
  %b_address = load ptr, ptr %b_place
  %c = load ptr, ptr %wanted at i64 3
  %type = load ptr, ptr %object at i8 {type_at}
  %value_place = getelementptr i8, ptr %object, i64 {head}
  switch i64 %kind, label %no [
    i64 0, label %object_itself
    i64 1, label %array
    i64 2, label %int
    i64 3, label %float
    i64 4, label %list
    i64 5, label %again
    i64 6, label %any_int
    i64 7, label %any_float
    i64 8, label %tuple ]
object_itself:
  %address = ptrtoint ptr %object to i64
  %is_it = icmp eq i64 %address, %a
  ret i1 %is_it
array:
  br not eq ptr %type, %array_type, label %no
  %lies = call i1 @lies(ptr %object, i64 %a, i64 %b, ptr %c)
  ret i1 %lies
int:
  %is_whole = call i1 @whole(ptr %table, ptr %object, i64 %a)
  ret i1 %is_whole
float:
  br not eq ptr %type, %float_type, label %no
  %value = load i64, ptr %value_place
  %is_equal = icmp eq i64 %value, %a
  ret i1 %is_equal
list:
  br not eq ptr %type, %list_type, label %no
  %count = load i64, ptr %value_place
  br eq i64 %count, %a, label %items, label %no
items:
  %listed = load ptr, ptr %object at i8 {list_at}
  br label %compare
tuple:
  br eq ptr %type, %tuple_type, label %size, label %no
size:
  %tuple_count = load i64, ptr %value_place
  %inside = getelementptr i8, ptr %object, i64 {tuple_at}
  br eq i64 %tuple_count, %a, label %compare, label %no
compare:
  %first = phi ptr [%listed, %items], [%inside, %size]
  %of_floats = icmp ne ptr %c, null
next:
  %i = phi i64 [0, %compare], [%i1, %same]
  br not ult i64 %i, %a, label %yes
  %item = load ptr, ptr %first at ptr %i
  %number = load i64, ptr %b_address at i64 %i
  %equal = call i1 @number(ptr %table, ptr %item, i64 %number, i1 %of_floats)
  br i1 %equal, label %same, label %no
same:
  %i1 = add i64 %i, 1
  br label %next
again:
  %other = load ptr, ptr %given at ptr %a
  %is_other = icmp eq ptr %object, %other
  ret i1 %is_other
any_int:
  br not eq ptr %type, %int_type, label %no
  %seen = call i64 %as_bounded(ptr %object, ptr %over)
  %beyond = load i32, ptr %over
  %in_64 = icmp eq i32 %beyond, 0
  ret i1 %in_64
any_float:
  %is_any_float = icmp eq ptr %type, %float_type
  ret i1 %is_any_float
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @apart(ptr %table, ptr %given, ptr %wanted, i64 %n) {
entry:
  %first = load ptr, ptr %given
  %flags = load i32, ptr %first at i8 {flags_at}
  %writeable = and i32 %flags, 1024
  %low = load i64, ptr %first at i8 {head}
  %own_rank = load i64, ptr %wanted at i64 2
  %own_words = load ptr, ptr %wanted at i64 3
  %own_at = mul i64 %own_rank, 2
  %own_span = load i64, ptr %own_words at i64 %own_at
  %high = add i64 %low, %own_span
  br ne i32 %writeable, 0, label %next, label %no
next:
  %i = phi i64 [1, %entry], [%i1, %passed]
  br not ult i64 %i, %n, label %yes
  %i1 = add i64 %i, 1
  %words_at = mul i64 %i, 4
  %its = getelementptr i64, ptr %wanted, i64 %words_at
  %kind = load i64, ptr %its
  br not eq i64 %kind, 1, label %passed
  %object = load ptr, ptr %given at ptr %i
  %data = load i64, ptr %object at i8 {head}
  %rank = load i64, ptr %its at i64 2
  %sizes = load ptr, ptr %its at i64 3
  %at = mul i64 %rank, 2
  %span = load i64, ptr %sizes at i64 %at
  %end = add i64 %data, %span
  %is_below = icmp ule i64 %end, %low
  %is_above = icmp uge i64 %data, %high
  %is_apart = or i1 %is_below, %is_above
  br i1 %is_apart, label %passed, label %no
passed:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i64 @key_of(ptr %table, ptr %given, i64 %n) {
entry:
{loads}
next:
  %i = phi i64 [0, %entry], [%i1, %look], [%i1, %size]
  %key = phi i64 [0, %entry], [%key, %look], [%sum, %size]
  br ult i64 %i, %n, label %look, label %out
look:
  %object = load ptr, ptr %given at ptr %i
  %i1 = add i64 %i, 1
  %type = load ptr, ptr %object at i8 {type_at}
  br eq ptr %type, %array_type, label %array, label %next
array:
  %rank32 = load i32, ptr %object at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %object at i8 {sizes_at}
size:
  %d = phi i64 [0, %array], [%d1, %add]
  %sum = phi i64 [%key, %array], [%more_sum, %add]
  br ult i64 %d, %rank, label %add, label %next
add:
  %d1 = add i64 %d, 1
  %its = load i64, ptr %sizes at i64 %d
  %times = mul i64 %sum, {factor}
  %more_sum = add i64 %times, %its
  br label %size
out:
  ret i64 %key
}

define internal i64 @slot_of(ptr %table, ptr %given, i64 %n) {
entry:
  %over = alloca i32
{loads}
  %sizes = call i64 @key_of(ptr %table, ptr %given, i64 %n)
next:
  %i = phi i64 [0, %entry], [%i1, %mix]
  %key = phi i64 [%sizes, %entry], [%mixed, %mix]
  br not ult i64 %i, %n, label %out
  %object = load ptr, ptr %given at ptr %i
  %i1 = add i64 %i, 1
  %type = load ptr, ptr %object at i8 {type_at}
  %type_word = ptrtoint ptr %type to i64
  br eq ptr %type, %array_type, label %array, label %other
array:
  %dtype = load i64, ptr %object at i8 {dtype_at}
  br label %mix
other:
  br eq ptr %type, %int_type, label %int, label %no_int
int:
  %number = call i64 %as_bounded(ptr %object, ptr %over)
  %above = call i64 @llvm.smax.i64(i64 %number, i64 -8)
  %bounded = call i64 @llvm.smin.i64(i64 %above, i64 8)
  br label %mix
no_int:
  %is_float = icmp eq ptr %type, %float_type
  %is_list = icmp eq ptr %type, %list_type
  %is_tuple = icmp eq ptr %type, %tuple_type
  %either = or i1 %is_list, %is_tuple
  %is_any = or i1 %is_float, %either
  %itself = ptrtoint ptr %object to i64
  %object_word = select i1 %is_any, i64 %type_word, i64 %itself
mix:
  %word = phi i64 [%dtype, %array], [%bounded, %int], [%object_word, %no_int]
  %times = mul i64 %key, {factor}
  %mixed = add i64 %times, %word
  br label %next
out:
  %spread = mul i64 %key, -7046029254386353131
  %slot = lshr i64 %spread, 48
  ret i64 %slot
}

define internal ptr @found(ptr %table, ptr %known, ptr %given, i64 %n) {
entry:
  %entries = load i64, ptr %known
  %key = call i64 @key_of(ptr %table, ptr %given, i64 %n)
  %keys = getelementptr i64, ptr %known, i64 {keys_at}
next:
  %e = phi i64 [0, %entry], [%e1, %compare], [%e1, %other]
  br ult i64 %e, %entries, label %compare, label %none
compare:
  %e1 = add i64 %e, 1
  %its_key = load i64, ptr %keys at i64 %e
  br eq i64 %its_key, %key, label %look, label %next
look:
  %this = load ptr, ptr %known at ptr %e1
  %count = load i64, ptr %this
  %wanted = load ptr, ptr %this at i64 1
  br eq i64 %count, %n, label %check, label %other
check:
  %i = phi i64 [0, %look], [%i1, %fits]
  br eq i64 %i, %n, label %match
  %object = load ptr, ptr %given at ptr %i
  %words = mul i64 %i, 4
  %its = getelementptr i64, ptr %wanted, i64 %words
  %is = call i1 @alike(ptr %table, ptr %object, ptr %its, ptr %given)
  br i1 %is, label %fits, label %other
fits:
  %i1 = add i64 %i, 1
  br label %check
other:
  br label %next
match:
  %back = load ptr, ptr %this at i64 6
  %only = load i64, ptr %back at i64 1
  %back_count = load i64, ptr %back
  %is_one = icmp eq i64 %back_count, 0
  %is_first = icmp slt i64 %only, 0
  %is_written = and i1 %is_one, %is_first
  br not i1 %is_written, label %is_found
  %is_apart = call i1 @apart(ptr %table, ptr %given, ptr %wanted, i64 %n)
  br i1 %is_apart, label %is_found, label %other
is_found:
  ret ptr %this
none:
  ret ptr null
}
"""
