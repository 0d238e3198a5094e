"""The native code of `tensor[key]` where gradients are wanted, for a key that names a part (see
`parts_text`): a step for each number, slice and None, by the eager function of an operator, which
records it.

What fails is done again in Python, which says why.
"""

from __future__ import annotations

from typing import Final

__all__ = ["RECORDED_PARTS", "RECORDED_PARTS_WORDS"]

RECORDED_PARTS_WORDS: Final = ("select_step", "slice_step", "unsqueeze_step", "alias_step")
"""The eager functions that take these steps, and what gives a tensor that none was taken from once
more."""

RECORDED_PARTS: Final = """
define internal ptr @step_taken(ptr %table, ptr %view, ptr %item, i64 %dim, ptr %type) {
entry:
  %given = alloca [5 x ptr], align 8
{parts_loads}
  %first_place = getelementptr ptr, ptr %given, i64 2
  %dim_object = call ptr %make_int(i64 %dim)
  %one = call ptr %make_int(i64 1)
  store ptr %view, ptr %given at ptr 0
  store ptr %dim_object, ptr %given at ptr 1
  store ptr %item, ptr %first_place
  br eq ptr %type, %int_type, label %call_it, label %perhaps_none
perhaps_none:
  br eq ptr %item, %none, label %call_it, label %take_bounds
take_bounds:
  %start_at = getelementptr i8, ptr %item, i64 {head}
  %first = load ptr, ptr %start_at
  %stop = load ptr, ptr %start_at at ptr 1
  %own_step = load ptr, ptr %start_at at ptr 2
  %has_no_step = icmp eq ptr %own_step, %none
  %step = select i1 %has_no_step, ptr %one, ptr %own_step
  store ptr %first, ptr %first_place
  store ptr %stop, ptr %given at ptr 3
  store ptr %step, ptr %given at ptr 4
call_it:
  %who = phi ptr [%select_step, %entry], [%unsqueeze_step, %perhaps_none], \
[%slice_step, %take_bounds]
  %count = phi i64 [3, %entry], [2, %perhaps_none], [5, %take_bounds]
  %made = call ptr %call_with(ptr %who, ptr %given, i64 %count, ptr null)
  call void %drop(ptr %dim_object)
  call void %drop(ptr %one)
  ret ptr %made
}

define internal ptr @recorded_part(ptr %table, ptr %tensor, ptr %key) {
entry:
  %alone = alloca ptr
  %length = alloca i64
  %given = alloca ptr
{parts_loads}
  %items = call ptr @items_in(ptr %table, ptr %key, ptr %alone, ptr %length)
  %count = load i64, ptr %length
  %slot_bytes = ptrtoint ptr %slot to i64
  %array = load ptr, ptr %tensor at i8 %slot_bytes
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %rest = call i64 @left_by(ptr %table, ptr %items, i64 %count, i64 %rank)
  br sge i64 %rest, 0, label %begin, label %no
begin:
  call void %hold(ptr %tensor)
next:
  %i = phi i64 [0, %begin], [%i1, %done_one]
  %dim = phi i64 [0, %begin], [%dim_after, %done_one]
  %view = phi ptr [%tensor, %begin], [%view_after, %done_one]
  br ult i64 %i, %count, label %look, label %all_done
look:
  %i1 = add i64 %i, 1
  %dim1 = add i64 %dim, 1
  %item = load ptr, ptr %items at ptr %i
  %type = load ptr, ptr %item at i8 {type_at}
  %is_whole = call i1 @is_whole_slice(ptr %table, ptr %item)
  br i1 %is_whole, label %done_one
  br eq ptr %item, %ellipsis, label %gap, label %step
gap:
  %dim_behind = add i64 %dim, %rest
  br label %done_one
step:
  %is_int = icmp eq ptr %type, %int_type
  %dim_left = select i1 %is_int, i64 %dim, i64 %dim1
  %made = call ptr @step_taken(ptr %table, ptr %view, ptr %item, i64 %dim, ptr %type)
  call void %drop(ptr %view)
  br eq ptr %made, null, label %failed, label %done_one
done_one:
  %dim_after = phi i64 [%dim1, %look], [%dim_behind, %gap], [%dim_left, %step]
  %view_after = phi ptr [%view, %look], [%view, %gap], [%made, %step]
  br label %next
all_done:
  br eq ptr %view, %tensor, label %once_more
  ret ptr %view
once_more:
  store ptr %tensor, ptr %given
  %again = call ptr %call_with(ptr %alias_step, ptr %given, i64 1, ptr null)
  call void %drop(ptr %tensor)
  br eq ptr %again, null, label %failed
  ret ptr %again
failed:
  call void %forget_error()
  ret ptr null
no:
  ret ptr null
}
"""
