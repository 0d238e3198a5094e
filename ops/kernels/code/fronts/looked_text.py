"""The native side of what a look at a tensor tells: how many dimensions it has, its sizes, itself.

`looked` is called with a tensor alone, behind which an array stands, while no tracer and nobody
else hears of it; all other calls are left to `slowly`.  What it gives is said by `tells`: 1 the
number of dimensions, 2 that of elements, 3 whether they lie in one piece, 4 what the pairs of words
at `pairs`, which end in a 0, have for the dtype's address, 5 the tensor, if it lies in one piece, 6
a new tensor of the same memory, 7 its sizes, a tuple of the type `size_type`, 8 whether gradients
are wanted, where none are, 9 a new tensor of the same memory, whose array is a view of a view of
the class `apart_type`.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LOOKED", "LOOKED_WORDS"]

LOOKED_WORDS: Final = ("tells", "pairs", "size_type", "apart_type")
"""What `looked` finds behind `TABLE` and the words of fronts."""

LOOKED: Final = """
define internal ptr @shape_of(ptr %table, ptr %array) {
entry:
{looked_loads}
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %made = call ptr %make_object(ptr %size_type, i64 %rank)
  br eq ptr %made, null, label %failed
  br not ugt i64 {tuple_at}, {items_at}, label %fill
  store i64 -1, ptr %made at i8 {items_at}
fill:
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %items = getelementptr i8, ptr %made, i64 {tuple_at}
next:
  %i = phi i64 [0, %fill], [%i1, %give]
  br not ult i64 %i, %rank, label %done
  %size = load i64, ptr %sizes at i64 %i
  %number = call ptr %make_int(i64 %size)
  br eq ptr %number, null, label %give_up, label %give
give:
  %i1 = add i64 %i, 1
  store ptr %number, ptr %items at ptr %i
  br label %next
done:
  ret ptr %made
give_up:
  call void %drop(ptr %made)
failed:
  ret ptr null
}

define ptr @looked(ptr %self, ptr %given, i64 %n, ptr %names) {
entry:
  %table = getelementptr i8, ptr %self, i64 {bytes_begin}
{looked_loads}
  %tracers = load i64, ptr %active at i8 {head}
  %listeners = load i64, ptr %state at i8 24
  %heard = or i64 %tracers, %listeners
  %is_heard = icmp ne i64 %heard, 0
  %is_more = icmp ne i64 %n, 1
  %are_named = icmp ne ptr %names, null
  %is_other = or i1 %is_more, %are_named
  %is_slow = or i1 %is_heard, %is_other
  br i1 %is_slow, label %slow
  %tensor = load ptr, ptr %given
  %its_type = load ptr, ptr %tensor at i8 {type_at}
  %is_tensor = icmp eq ptr %its_type, %tensor_type
  %is_parameter = icmp eq ptr %its_type, %parameter_type
  %is_one = or i1 %is_tensor, %is_parameter
  br not i1 %is_one, label %slow
  %slot_bytes = ptrtoint ptr %slot to i64
  %array = load ptr, ptr %tensor at i8 %slot_bytes
  br not ne ptr %array, null, label %slow
  %its_kind = load ptr, ptr %array at i8 {type_at}
  br eq ptr %its_kind, %array_type, label %choose, label %slow
choose:
  %what = ptrtoint ptr %tells to i64
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %flags = load i32, ptr %array at i8 {flags_at}
  %forward = and i32 %flags, 1
  %is_whole = icmp ne i32 %forward, 0
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  switch i64 %what, label %slow [
    i64 1, label %dimensions
    i64 2, label %count
    i64 3, label %wholeness
    i64 4, label %search
    i64 5, label %itself
    i64 6, label %again
    i64 7, label %all_sizes
    i64 8, label %wanting
    i64 9, label %apart ]
wanting:
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %wants = load ptr, ptr %tensor at i8 %wants_bytes
  br eq ptr %wants, %never, label %tell_never
  %wants_type = load ptr, ptr %wants at i8 {type_at}
  br not eq ptr %wants_type, %list_type, label %slow
  %histories = load i64, ptr %wants at i8 {head}
  br eq i64 %histories, 0, label %tell_never, label %slow
tell_never:
  call void %hold(ptr %never)
  ret ptr %never
dimensions:
  br label %number
count:
  %d = phi i64 [0, %choose], [%d1, %times]
  %product = phi i64 [1, %choose], [%more_product, %times]
  br ult i64 %d, %rank, label %times, label %counted
times:
  %d1 = add i64 %d, 1
  %size = load i64, ptr %sizes at i64 %d
  %more_product = mul i64 %product, %size
  br label %count
counted:
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
  %key = load ptr, ptr %pairs at ptr %p
  br eq ptr %key, null, label %slow, label %compare
compare:
  %p1 = add i64 %p, 1
  %p2 = add i64 %p, 2
  br not eq ptr %key, %dtype, label %search
  %told = load ptr, ptr %pairs at ptr %p1
  call void %hold(ptr %told)
  ret ptr %told
itself:
  br not i1 %is_whole, label %slow
  call void %hold(ptr %tensor)
  ret ptr %tensor
again:
  %view = call ptr %view_of(ptr %array, ptr null, ptr null)
  br eq ptr %view, null, label %failed
  %handle = call ptr @handle_of(ptr %table, ptr %view)
  ret ptr %handle
apart:
  %nearer = call ptr %view_of(ptr %array, ptr null, ptr %apart_type)
  br eq ptr %nearer, null, label %failed
  %further = call ptr %view_of(ptr %nearer, ptr null, ptr %apart_type)
  call void %drop(ptr %nearer)
  br eq ptr %further, null, label %failed
  %own_view = call ptr %view_of(ptr %further, ptr null, ptr %array_type)
  call void %drop(ptr %further)
  br eq ptr %own_view, null, label %failed
  %handle_apart = call ptr @handle_of(ptr %table, ptr %own_view)
  ret ptr %handle_apart
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
