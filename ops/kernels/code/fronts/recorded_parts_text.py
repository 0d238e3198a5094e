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
  %view_place = getelementptr ptr, ptr %given, i64 0
  %dim_place = getelementptr ptr, ptr %given, i64 1
  %first_place = getelementptr ptr, ptr %given, i64 2
  %stop_place = getelementptr ptr, ptr %given, i64 3
  %step_place = getelementptr ptr, ptr %given, i64 4
  %dim_object = call ptr %make_int(i64 %dim)
  %one = call ptr %make_int(i64 1)
  store ptr %view, ptr %view_place
  store ptr %dim_object, ptr %dim_place
  store ptr %item, ptr %first_place
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %call_it, label %perhaps_none
perhaps_none:
  %is_none = icmp eq ptr %item, %none
  br i1 %is_none, label %call_it, label %take_bounds
take_bounds:
  %start_at = getelementptr i8, ptr %item, i64 {head}
  %stop_at = getelementptr ptr, ptr %start_at, i64 1
  %step_at = getelementptr ptr, ptr %start_at, i64 2
  %first = load ptr, ptr %start_at
  %stop = load ptr, ptr %stop_at
  %own_step = load ptr, ptr %step_at
  %has_no_step = icmp eq ptr %own_step, %none
  %step = select i1 %has_no_step, ptr %one, ptr %own_step
  store ptr %first, ptr %first_place
  store ptr %stop, ptr %stop_place
  store ptr %step, ptr %step_place
  br label %call_it
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
  %array_place = getelementptr i8, ptr %tensor, i64 %slot_bytes
  %array = load ptr, ptr %array_place
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = zext i32 %rank32 to i64
  %rest = call i64 @left_by(ptr %table, ptr %items, i64 %count, i64 %rank)
  %is_sure = icmp sge i64 %rest, 0
  br i1 %is_sure, label %begin, label %no
begin:
  call void %hold(ptr %tensor)
  br label %next
next:
  %i = phi i64 [0, %begin], [%i1, %done_one]
  %dim = phi i64 [0, %begin], [%dim_after, %done_one]
  %view = phi ptr [%tensor, %begin], [%view_after, %done_one]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %all_done
look:
  %i1 = add i64 %i, 1
  %dim1 = add i64 %dim, 1
  %place = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %place
  %type_place = getelementptr i8, ptr %item, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_whole = call i1 @is_whole_slice(ptr %table, ptr %item)
  br i1 %is_whole, label %done_one, label %perhaps_gap
perhaps_gap:
  %is_gap = icmp eq ptr %item, %ellipsis
  br i1 %is_gap, label %gap, label %step
gap:
  %dim_behind = add i64 %dim, %rest
  br label %done_one
step:
  %is_int = icmp eq ptr %type, %int_type
  %dim_left = select i1 %is_int, i64 %dim, i64 %dim1
  %made = call ptr @step_taken(ptr %table, ptr %view, ptr %item, i64 %dim, ptr %type)
  call void %drop(ptr %view)
  %is_unmade = icmp eq ptr %made, null
  br i1 %is_unmade, label %failed, label %done_one
done_one:
  %dim_after = phi i64 [%dim1, %look], [%dim_behind, %gap], [%dim_left, %step]
  %view_after = phi ptr [%view, %look], [%view, %gap], [%made, %step]
  br label %next
all_done:
  %is_same = icmp eq ptr %view, %tensor
  br i1 %is_same, label %once_more, label %give
give:
  ret ptr %view
once_more:
  store ptr %tensor, ptr %given
  %again = call ptr %call_with(ptr %alias_step, ptr %given, i64 1, ptr null)
  call void %drop(ptr %tensor)
  %is_no_alias = icmp eq ptr %again, null
  br i1 %is_no_alias, label %failed, label %give_again
give_again:
  ret ptr %again
failed:
  call void %forget_error()
  ret ptr null
no:
  ret ptr null
}
"""
