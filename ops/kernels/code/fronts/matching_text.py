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
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %look, label %no
look:
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
  br i1 %is_real, label %real, label %int
int:
  %is_whole = call i1 @whole(ptr %table, ptr %object, i64 %value)
  ret i1 %is_whole
real:
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %word, label %no
word:
  %value_place = getelementptr i8, ptr %object, i64 {head}
  %own = load i64, ptr %value_place
  %is_equal = icmp eq i64 %own, %value
  ret i1 %is_equal
no:
  ret i1 false
}

define internal i1 @equal_words(ptr %one, ptr %other, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %same]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %one_place = getelementptr i64, ptr %one, i64 %i
  %other_place = getelementptr i64, ptr %other, i64 %i
  %a = load i64, ptr %one_place
  %b = load i64, ptr %other_place
  %equal = icmp eq i64 %a, %b
  br i1 %equal, label %same, label %no
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
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %own = load i64, ptr %dtype_place
  %is_of = icmp eq i64 %own, %dtype
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %own_rank = load i32, ptr %rank_place
  %wide = zext i32 %own_rank to i64
  %is_as_deep = icmp eq i64 %wide, %rank
  %flags_place = getelementptr i8, ptr %array, i64 {flags_at}
  %flags = load i32, ptr %flags_place
  %aligned = and i32 %flags, 256
  %is_aligned = icmp ne i32 %aligned, 0
  %two = and i1 %is_of, %is_as_deep
  %three = and i1 %two, %is_aligned
  br i1 %three, label %sizes, label %no
sizes:
  %sizes_place = getelementptr i8, ptr %array, i64 {sizes_at}
  %own_sizes = load ptr, ptr %sizes_place
  %alike = call i1 @equal_words(ptr %own_sizes, ptr %wanted, i64 %rank)
  br i1 %alike, label %strides, label %no
strides:
  %strides_place = getelementptr i8, ptr %array, i64 {strides_at}
  %own_strides = load ptr, ptr %strides_place
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
  %a_place = getelementptr i64, ptr %wanted, i64 1
  %b_place = getelementptr i64, ptr %wanted, i64 2
  %c_place = getelementptr i64, ptr %wanted, i64 3
  %kind = load i64, ptr %wanted
  %a = load i64, ptr %a_place
  %b = load i64, ptr %b_place
  %b_address = load ptr, ptr %b_place
  %c = load ptr, ptr %c_place
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
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
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %in_array, label %no
in_array:
  %lies = call i1 @lies(ptr %object, i64 %a, i64 %b, ptr %c)
  ret i1 %lies
int:
  %is_whole = call i1 @whole(ptr %table, ptr %object, i64 %a)
  ret i1 %is_whole
float:
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %word, label %no
word:
  %value = load i64, ptr %value_place
  %is_equal = icmp eq i64 %value, %a
  ret i1 %is_equal
list:
  %is_list = icmp eq ptr %type, %list_type
  br i1 %is_list, label %length, label %no
length:
  %count = load i64, ptr %value_place
  %is_as_long = icmp eq i64 %count, %a
  br i1 %is_as_long, label %items, label %no
items:
  %items_place = getelementptr i8, ptr %object, i64 {list_at}
  %listed = load ptr, ptr %items_place
  br label %compare
tuple:
  %is_tuple = icmp eq ptr %type, %tuple_type
  br i1 %is_tuple, label %size, label %no
size:
  %tuple_count = load i64, ptr %value_place
  %is_as_large = icmp eq i64 %tuple_count, %a
  %inside = getelementptr i8, ptr %object, i64 {tuple_at}
  br i1 %is_as_large, label %compare, label %no
compare:
  %first = phi ptr [%listed, %items], [%inside, %size]
  %of_floats = icmp ne ptr %c, null
  br label %next
next:
  %i = phi i64 [0, %compare], [%i1, %same]
  %more = icmp ult i64 %i, %a
  br i1 %more, label %look, label %yes
look:
  %item_place = getelementptr ptr, ptr %first, i64 %i
  %item = load ptr, ptr %item_place
  %number_place = getelementptr i64, ptr %b_address, i64 %i
  %number = load i64, ptr %number_place
  %equal = call i1 @number(ptr %table, ptr %item, i64 %number, i1 %of_floats)
  br i1 %equal, label %same, label %no
same:
  %i1 = add i64 %i, 1
  br label %next
again:
  %other_place = getelementptr ptr, ptr %given, i64 %a
  %other = load ptr, ptr %other_place
  %is_other = icmp eq ptr %object, %other
  ret i1 %is_other
any_int:
  %is_any_int = icmp eq ptr %type, %int_type
  br i1 %is_any_int, label %bounded, label %no
bounded:
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
  %flags_place = getelementptr i8, ptr %first, i64 {flags_at}
  %flags = load i32, ptr %flags_place
  %writeable = and i32 %flags, 1024
  %may_write = icmp ne i32 %writeable, 0
  %low_place = getelementptr i8, ptr %first, i64 {head}
  %low = load i64, ptr %low_place
  %own_rank_place = getelementptr i64, ptr %wanted, i64 2
  %own_rank = load i64, ptr %own_rank_place
  %own_words_place = getelementptr i64, ptr %wanted, i64 3
  %own_words = load ptr, ptr %own_words_place
  %own_at = mul i64 %own_rank, 2
  %own_span_place = getelementptr i64, ptr %own_words, i64 %own_at
  %own_span = load i64, ptr %own_span_place
  %high = add i64 %low, %own_span
  br i1 %may_write, label %next, label %no
next:
  %i = phi i64 [1, %entry], [%i1, %passed]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %yes
look:
  %i1 = add i64 %i, 1
  %words_at = mul i64 %i, 4
  %its = getelementptr i64, ptr %wanted, i64 %words_at
  %kind = load i64, ptr %its
  %is_array = icmp eq i64 %kind, 1
  br i1 %is_array, label %compare, label %passed
compare:
  %object_place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %object_place
  %data_place = getelementptr i8, ptr %object, i64 {head}
  %data = load i64, ptr %data_place
  %rank_place = getelementptr i64, ptr %its, i64 2
  %rank = load i64, ptr %rank_place
  %sizes_place = getelementptr i64, ptr %its, i64 3
  %sizes = load ptr, ptr %sizes_place
  %at = mul i64 %rank, 2
  %span_place = getelementptr i64, ptr %sizes, i64 %at
  %span = load i64, ptr %span_place
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
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %look], [%i1, %size]
  %key = phi i64 [0, %entry], [%key, %look], [%sum, %size]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %out
look:
  %place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %place
  %i1 = add i64 %i, 1
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %array, label %next
array:
  %rank_place = getelementptr i8, ptr %object, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = zext i32 %rank32 to i64
  %sizes_place = getelementptr i8, ptr %object, i64 {sizes_at}
  %sizes = load ptr, ptr %sizes_place
  br label %size
size:
  %d = phi i64 [0, %array], [%d1, %add]
  %sum = phi i64 [%key, %array], [%more_sum, %add]
  %has = icmp ult i64 %d, %rank
  br i1 %has, label %add, label %next
add:
  %d1 = add i64 %d, 1
  %its_place = getelementptr i64, ptr %sizes, i64 %d
  %its = load i64, ptr %its_place
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
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %mix]
  %key = phi i64 [%sizes, %entry], [%mixed, %mix]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %out
look:
  %place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %place
  %i1 = add i64 %i, 1
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %type_word = ptrtoint ptr %type to i64
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %array, label %other
array:
  %dtype_place = getelementptr i8, ptr %object, i64 {dtype_at}
  %dtype = load i64, ptr %dtype_place
  br label %mix
other:
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %int, label %no_int
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
  br label %mix
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
  br label %next
next:
  %e = phi i64 [0, %entry], [%e1, %compare], [%e1, %other]
  %more = icmp ult i64 %e, %entries
  br i1 %more, label %compare, label %none
compare:
  %e1 = add i64 %e, 1
  %key_place = getelementptr i64, ptr %keys, i64 %e
  %its_key = load i64, ptr %key_place
  %may_be = icmp eq i64 %its_key, %key
  br i1 %may_be, label %look, label %next
look:
  %place = getelementptr ptr, ptr %known, i64 %e1
  %this = load ptr, ptr %place
  %count = load i64, ptr %this
  %as_many = icmp eq i64 %count, %n
  %wanted_place = getelementptr i64, ptr %this, i64 1
  %wanted = load ptr, ptr %wanted_place
  br i1 %as_many, label %check, label %other
check:
  %i = phi i64 [0, %look], [%i1, %fits]
  %all = icmp eq i64 %i, %n
  br i1 %all, label %match, label %argument
argument:
  %object_place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %object_place
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
  %back_place = getelementptr i64, ptr %this, i64 6
  %back = load ptr, ptr %back_place
  %only_place = getelementptr i64, ptr %back, i64 1
  %only = load i64, ptr %only_place
  %back_count = load i64, ptr %back
  %is_one = icmp eq i64 %back_count, 0
  %is_first = icmp slt i64 %only, 0
  %is_written = and i1 %is_one, %is_first
  br i1 %is_written, label %written, label %is_found
written:
  %is_apart = call i1 @apart(ptr %table, ptr %given, ptr %wanted, i64 %n)
  br i1 %is_apart, label %is_found, label %none
is_found:
  ret ptr %this
none:
  ret ptr null
}
"""
