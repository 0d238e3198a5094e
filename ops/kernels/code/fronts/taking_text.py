"""The native code that takes arrays out of an eager call's arguments (see `fronts_text`).

Whatever makes an object that holds others may let the collector run, and so Python's code, which
may change a list: its items are looked for behind that (`listed`).  Items that are needed when
others may have run are those of a tuple, `steady`; neither is made of a list that changes its
length meanwhile.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TAKING"]

TAKING: Final = """
define internal i32 @recording(ptr %table) {
entry:
  %mode = alloca ptr
{front_loads}
  %read = call i32 %variable(ptr %grad_mode, ptr null, ptr %mode)
  %is_unread = icmp slt i32 %read, 0
  br i1 %is_unread, label %failed, label %known
known:
  %now = load ptr, ptr %mode
  %is_nothing = icmp eq ptr %now, null
  br i1 %is_nothing, label %on, label %said
said:
  call void %drop(ptr %now)
  %is_off = icmp eq ptr %now, %never
  br i1 %is_off, label %off, label %perhaps
perhaps:
  %is_on = icmp eq ptr %now, %always
  br i1 %is_on, label %on, label %other
on:
  ret i32 1
off:
  ret i32 0
other:
  ret i32 2
failed:
  ret i32 -1
}

define internal ptr @array_of(ptr %table, ptr %object, ptr %wanted) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_tensor = icmp eq ptr %type, %tensor_type
  %is_parameter = icmp eq ptr %type, %parameter_type
  %is_one = or i1 %is_tensor, %is_parameter
  br i1 %is_one, label %look, label %no
look:
  %slot_bytes = ptrtoint ptr %slot to i64
  %array_place = getelementptr i8, ptr %object, i64 %slot_bytes
  %array = load ptr, ptr %array_place
  %is_there = icmp ne ptr %array, null
  br i1 %is_there, label %kind, label %no
kind:
  %kind_place = getelementptr i8, ptr %array, i64 {type_at}
  %its_kind = load ptr, ptr %kind_place
  %is_array = icmp eq ptr %its_kind, %array_type
  br i1 %is_array, label %ask, label %no
ask:
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %answer_place = getelementptr i8, ptr %object, i64 %wants_bytes
  %answer = load ptr, ptr %answer_place
  %is_never = icmp eq ptr %answer, %never
  br i1 %is_never, label %yes, label %asked
asked:
  %is_unset = icmp eq ptr %answer, null
  br i1 %is_unset, label %no, label %marked
marked:
  %answer_type_place = getelementptr i8, ptr %answer, i64 {type_at}
  %answer_type = load ptr, ptr %answer_type_place
  %is_list = icmp eq ptr %answer_type, %list_type
  br i1 %is_list, label %marks, label %doubt
marks:
  %length_place = getelementptr i8, ptr %answer, i64 {head}
  %length = load i64, ptr %length_place
  %is_empty = icmp eq i64 %length, 0
  br i1 %is_empty, label %yes, label %doubt
doubt:
  %recording = call i32 @recording(ptr %table)
  switch i32 %recording, label %no [i32 -1, label %failed i32 0, label %off i32 1, label %on]
on:
  %how = load i64, ptr %wanted
  %is_idle = icmp uge i64 %how, 5
  br i1 %is_idle, label %idle, label %perhaps_records
idle:
  store i64 6, ptr %wanted
  br label %yes
perhaps_records:
  %may_record = icmp uge i64 %how, 3
  %is_plain = icmp eq ptr %answer, %always
  %records = and i1 %may_record, %is_plain
  %why = select i1 %records, i64 3, i64 2
  store i64 %why, ptr %wanted
  br i1 %records, label %yes, label %no
off:
  store i64 1, ptr %wanted
  br label %yes
yes:
  call void %hold(ptr %array)
  ret ptr %array
failed:
  call void %forget_error()
  br label %no
no:
  ret ptr null
}

define internal ptr @items_of(ptr %table, ptr %object) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_list = icmp eq ptr %type, %list_type
  br i1 %is_list, label %list, label %tuple
list:
  %items_place = getelementptr i8, ptr %object, i64 {list_at}
  %items = load ptr, ptr %items_place
  ret ptr %items
tuple:
  %inside = getelementptr i8, ptr %object, i64 {tuple_at}
  ret ptr %inside
}

define internal ptr @steady(ptr %table, ptr %object, i64 %count) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_list = icmp eq ptr %type, %list_type
  br i1 %is_list, label %make, label %itself
itself:
  call void %hold(ptr %object)
  ret ptr %object
make:
  %tuple = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %tuple, null
  br i1 %is_failed, label %failed, label %compare
compare:
  %count_place = getelementptr i8, ptr %object, i64 {head}
  %count_now = load i64, ptr %count_place
  %items = call ptr @items_of(ptr %table, ptr %object)
  %places = getelementptr i8, ptr %tuple, i64 {tuple_at}
  %is_same = icmp eq i64 %count_now, %count
  br i1 %is_same, label %keep, label %changed
keep:
  call void @keep_all(ptr %table, ptr %items, i64 %count, ptr %places)
  ret ptr %tuple
changed:
  call void %drop(ptr %tuple)
  ret ptr null
failed:
  call void %forget_error()
  ret ptr null
}

define internal i1 @spread_over(ptr %table, ptr %items, i64 %count, ptr %to, ptr %own, \
ptr %wanted) {
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %keep]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %item_place = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_place
  %array = call ptr @array_of(ptr %table, ptr %item, ptr %wanted)
  %is_there = icmp ne ptr %array, null
  br i1 %is_there, label %keep, label %no
keep:
  %i1 = add i64 %i, 1
  %place = getelementptr ptr, ptr %to, i64 %i
  %own_place = getelementptr ptr, ptr %own, i64 %i
  store ptr %array, ptr %place
  store ptr %array, ptr %own_place
  br label %next
yes:
  ret i1 true
no:
  call void @drop_all(ptr %table, ptr %own, i64 %i)
  ret i1 false
}

define internal ptr @listed(ptr %table, ptr %holder, ptr %given, i64 %count, i64 %step, \
i1 %are_ints, ptr %wanted) {
entry:
  %over = alloca i32
{front_loads}
  %list = call ptr %make_list(i64 %count)
  %is_failed = icmp eq ptr %list, null
  br i1 %is_failed, label %failed, label %begin
begin:
  %places_place = getelementptr i8, ptr %list, i64 {list_at}
  %places = load ptr, ptr %places_place
  %is_held = icmp ne ptr %holder, null
  br i1 %is_held, label %compare, label %first
compare:
  %count_place = getelementptr i8, ptr %holder, i64 {head}
  %count_now = load i64, ptr %count_place
  %items_now = call ptr @items_of(ptr %table, ptr %holder)
  %is_same = icmp eq i64 %count_now, %count
  br i1 %is_same, label %first, label %no
first:
  %items = phi ptr [%given, %begin], [%items_now, %compare]
  br label %next
next:
  %i = phi i64 [0, %first], [%i1, %kept]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %at = mul i64 %i, %step
  %item_place = getelementptr ptr, ptr %items, i64 %at
  %item = load ptr, ptr %item_place
  br i1 %are_ints, label %int, label %tensor
int:
  %type_place = getelementptr i8, ptr %item, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %bounded, label %no
bounded:
  %number = call i64 %as_bounded(ptr %item, ptr %over)
  %beyond = load i32, ptr %over
  %fits = icmp eq i32 %beyond, 0
  br i1 %fits, label %hold_int, label %no
hold_int:
  call void %hold(ptr %item)
  br label %kept
tensor:
  %array = call ptr @array_of(ptr %table, ptr %item, ptr %wanted)
  %is_one = icmp ne ptr %array, null
  br i1 %is_one, label %kept, label %no
kept:
  %value = phi ptr [%item, %hold_int], [%array, %tensor]
  %place = getelementptr ptr, ptr %places, i64 %i
  store ptr %value, ptr %place
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %list
no:
  call void %drop(ptr %list)
  ret ptr null
failed:
  call void %forget_error()
  ret ptr null
}
"""
