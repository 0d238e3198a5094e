"""The native side of what a look at a tensor tells: how many dimensions it has, its sizes, itself.

`looked` is called with a tensor alone, behind which an array stands, while no tracer and nobody
else hears of it; all other calls are left to `slowly`.  What it gives is said by `tells`: 1 the
number of dimensions, 2 that of elements, 3 whether they lie in one piece, 4 what the pairs of words
at `pairs`, which end in a 0, have for the dtype's address, 5 the tensor, if it lies in one piece, 6
a new tensor of the same memory, 7 its sizes, a tuple of the type `size_type`, 8 whether gradients
are wanted, where none are.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LOOKED", "LOOKED_WORDS"]

LOOKED_WORDS: Final = ("tells", "pairs", "size_type")
"""What `looked` finds behind `TABLE` and the words of fronts."""

LOOKED: Final = """
define internal ptr @shape_of(ptr %table, ptr %array) {
entry:
{looked_loads}
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = zext i32 %rank32 to i64
  %made = call ptr %make_object(ptr %size_type, i64 %rank)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %begin
begin:
  %has_hash = icmp ugt i64 {tuple_at}, {items_at}
  br i1 %has_hash, label %unknown_hash, label %fill
unknown_hash:
  %hash_place = getelementptr i8, ptr %made, i64 {items_at}
  store i64 -1, ptr %hash_place
  br label %fill
fill:
  %sizes_place = getelementptr i8, ptr %array, i64 {sizes_at}
  %sizes = load ptr, ptr %sizes_place
  %items = getelementptr i8, ptr %made, i64 {tuple_at}
  br label %next
next:
  %i = phi i64 [0, %fill], [%i1, %give]
  %more = icmp ult i64 %i, %rank
  br i1 %more, label %make, label %done
make:
  %size_place = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_place
  %number = call ptr %make_int(i64 %size)
  %is_none = icmp eq ptr %number, null
  br i1 %is_none, label %give_up, label %give
give:
  %i1 = add i64 %i, 1
  %place = getelementptr ptr, ptr %items, i64 %i
  store ptr %number, ptr %place
  br label %next
done:
  ret ptr %made
give_up:
  call void %drop(ptr %made)
  br label %failed
failed:
  ret ptr null
}

define ptr @looked(ptr %self, ptr %given, i64 %n, ptr %names) {
entry:
  %table = getelementptr i8, ptr %self, i64 {bytes_begin}
{looked_loads}
  %tracers_place = getelementptr i8, ptr %active, i64 {head}
  %tracers = load i64, ptr %tracers_place
  %listeners_place = getelementptr i8, ptr %state, i64 24
  %listeners = load i64, ptr %listeners_place
  %heard = or i64 %tracers, %listeners
  %is_heard = icmp ne i64 %heard, 0
  %is_more = icmp ne i64 %n, 1
  %are_named = icmp ne ptr %names, null
  %is_other = or i1 %is_more, %are_named
  %is_slow = or i1 %is_heard, %is_other
  br i1 %is_slow, label %slow, label %type
type:
  %tensor = load ptr, ptr %given
  %type_place = getelementptr i8, ptr %tensor, i64 {type_at}
  %its_type = load ptr, ptr %type_place
  %is_tensor = icmp eq ptr %its_type, %tensor_type
  %is_parameter = icmp eq ptr %its_type, %parameter_type
  %is_one = or i1 %is_tensor, %is_parameter
  br i1 %is_one, label %begin, label %slow
begin:
  %slot_bytes = ptrtoint ptr %slot to i64
  %array_place = getelementptr i8, ptr %tensor, i64 %slot_bytes
  %array = load ptr, ptr %array_place
  %is_there = icmp ne ptr %array, null
  br i1 %is_there, label %array_type_of, label %slow
array_type_of:
  %kind_place = getelementptr i8, ptr %array, i64 {type_at}
  %its_kind = load ptr, ptr %kind_place
  %is_array = icmp eq ptr %its_kind, %array_type
  br i1 %is_array, label %choose, label %slow
choose:
  %what = ptrtoint ptr %tells to i64
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = zext i32 %rank32 to i64
  %sizes_place = getelementptr i8, ptr %array, i64 {sizes_at}
  %sizes = load ptr, ptr %sizes_place
  %flags_place = getelementptr i8, ptr %array, i64 {flags_at}
  %flags = load i32, ptr %flags_place
  %forward = and i32 %flags, 1
  %is_whole = icmp ne i32 %forward, 0
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %dtype = load ptr, ptr %dtype_place
  switch i64 %what, label %slow [
    i64 1, label %dimensions
    i64 2, label %count
    i64 3, label %wholeness
    i64 4, label %search
    i64 5, label %itself
    i64 6, label %again
    i64 7, label %all_sizes
    i64 8, label %wanting ]
wanting:
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %wants_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %wants = load ptr, ptr %wants_place
  %wants_none = icmp eq ptr %wants, %never
  br i1 %wants_none, label %tell_never, label %perhaps_shared
perhaps_shared:
  %wants_type_place = getelementptr i8, ptr %wants, i64 {type_at}
  %wants_type = load ptr, ptr %wants_type_place
  %is_shared = icmp eq ptr %wants_type, %list_type
  br i1 %is_shared, label %perhaps_empty, label %slow
perhaps_empty:
  %histories_place = getelementptr i8, ptr %wants, i64 {head}
  %histories = load i64, ptr %histories_place
  %is_empty = icmp eq i64 %histories, 0
  br i1 %is_empty, label %tell_never, label %slow
tell_never:
  call void %hold(ptr %never)
  ret ptr %never
dimensions:
  br label %number
count:
  %d = phi i64 [0, %choose], [%d1, %times]
  %product = phi i64 [1, %choose], [%more_product, %times]
  %has = icmp ult i64 %d, %rank
  br i1 %has, label %times, label %counted
times:
  %d1 = add i64 %d, 1
  %size_place = getelementptr i64, ptr %sizes, i64 %d
  %size = load i64, ptr %size_place
  %more_product = mul i64 %product, %size
  br label %count
counted:
  br label %number
number:
  %value = phi i64 [%rank, %dimensions], [%product, %counted]
  %made = call ptr %make_int(i64 %value)
  ret ptr %made
wholeness:
  %truth = select i1 %is_whole, ptr %always, ptr %never
  call void %hold(ptr %truth)
  ret ptr %truth
search:
  %p = phi i64 [0, %choose], [%p2, %compare]
  %key_place = getelementptr ptr, ptr %pairs, i64 %p
  %key = load ptr, ptr %key_place
  %is_end = icmp eq ptr %key, null
  br i1 %is_end, label %slow, label %compare
compare:
  %p1 = add i64 %p, 1
  %p2 = add i64 %p, 2
  %is_it = icmp eq ptr %key, %dtype
  br i1 %is_it, label %found, label %search
found:
  %told_place = getelementptr ptr, ptr %pairs, i64 %p1
  %told = load ptr, ptr %told_place
  call void %hold(ptr %told)
  ret ptr %told
itself:
  br i1 %is_whole, label %give_itself, label %slow
give_itself:
  call void %hold(ptr %tensor)
  ret ptr %tensor
again:
  %view = call ptr %view_of(ptr %array, ptr null, ptr null)
  %is_no_view = icmp eq ptr %view, null
  br i1 %is_no_view, label %failed, label %give_again
give_again:
  %handle = call ptr @handle_of(ptr %table, ptr %view)
  ret ptr %handle
all_sizes:
  call void %hold(ptr %array)
  %tuple = call ptr @shape_of(ptr %table, ptr %array)
  call void %drop(ptr %array)
  ret ptr %tuple
failed:
  ret ptr null
slow:
  %slow_result = call ptr %call_with(ptr %slowly, ptr %given, i64 %n, ptr %names)
  ret ptr %slow_result
}
"""
