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
  br slt i32 %read, 0, label %failed
  %now = load ptr, ptr %mode
  br eq ptr %now, null, label %on
  call void %drop(ptr %now)
  br eq ptr %now, %never, label %off
  br eq ptr %now, %always, label %on, label %other
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
  %type = load ptr, ptr %object at i8 {type_at}
  %is_tensor = icmp eq ptr %type, %tensor_type
  %is_parameter = icmp eq ptr %type, %parameter_type
  %is_one = or i1 %is_tensor, %is_parameter
  br not i1 %is_one, label %no
  %slot_bytes = ptrtoint ptr %slot to i64
  %array = load ptr, ptr %object at i8 %slot_bytes
  br not ne ptr %array, null, label %no
  %its_kind = load ptr, ptr %array at i8 {type_at}
  br not eq ptr %its_kind, %array_type, label %no
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %answer = load ptr, ptr %object at i8 %wants_bytes
  br eq ptr %answer, %never, label %yes
  br eq ptr %answer, null, label %no
  %answer_type = load ptr, ptr %answer at i8 {type_at}
  br not eq ptr %answer_type, %list_type, label %doubt
  %length = load i64, ptr %answer at i8 {head}
  br eq i64 %length, 0, label %yes, label %doubt
doubt:
  %recording = call i32 @recording(ptr %table)
  switch i32 %recording, label %no [i32 -1, label %failed i32 0, label %off i32 1, label %on]
on:
  %how = load i64, ptr %wanted
  br not uge i64 %how, 5, label %perhaps_records
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
yes:
  call void %hold(ptr %array)
  ret ptr %array
failed:
  call void %forget_error()
no:
  ret ptr null
}

define internal ptr @items_of(ptr %table, ptr %object) {
entry:
{front_loads}
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %list_type, label %tuple
  %items = load ptr, ptr %object at i8 {list_at}
  ret ptr %items
tuple:
  %inside = getelementptr i8, ptr %object, i64 {tuple_at}
  ret ptr %inside
}

define internal ptr @steady(ptr %table, ptr %object, i64 %count) {
entry:
{front_loads}
  %type = load ptr, ptr %object at i8 {type_at}
  br eq ptr %type, %list_type, label %make
  call void %hold(ptr %object)
  ret ptr %object
make:
  %tuple = call ptr %make_tuple(i64 %count)
  br eq ptr %tuple, null, label %failed
  %count_now = load i64, ptr %object at i8 {head}
  %items = call ptr @items_of(ptr %table, ptr %object)
  %places = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br not eq i64 %count_now, %count, label %changed
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
next:
  %i = phi i64 [0, %entry], [%i1, %keep]
  br not ult i64 %i, %count, label %yes
  %item = load ptr, ptr %items at ptr %i
  %array = call ptr @array_of(ptr %table, ptr %item, ptr %wanted)
  br ne ptr %array, null, label %keep, label %no
keep:
  %i1 = add i64 %i, 1
  store ptr %array, ptr %to at ptr %i
  store ptr %array, ptr %own at ptr %i
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
  br eq ptr %list, null, label %failed, label %begin
begin:
  %places = load ptr, ptr %list at i8 {list_at}
  br ne ptr %holder, null, label %compare, label %first
compare:
  %count_now = load i64, ptr %holder at i8 {head}
  %items_now = call ptr @items_of(ptr %table, ptr %holder)
  br eq i64 %count_now, %count, label %first, label %no
first:
  %items = phi ptr [%given, %begin], [%items_now, %compare]
next:
  %i = phi i64 [0, %first], [%i1, %kept]
  br not ult i64 %i, %count, label %done
  %at = mul i64 %i, %step
  %item = load ptr, ptr %items at ptr %at
  br not i1 %are_ints, label %tensor
  %type = load ptr, ptr %item at i8 {type_at}
  br not eq ptr %type, %int_type, label %no
  %number = call i64 %as_bounded(ptr %item, ptr %over)
  %beyond = load i32, ptr %over
  br eq i32 %beyond, 0, label %hold_int, label %no
hold_int:
  call void %hold(ptr %item)
  br label %kept
tensor:
  %array = call ptr @array_of(ptr %table, ptr %item, ptr %wanted)
  br ne ptr %array, null, label %kept, label %no
kept:
  %value = phi ptr [%item, %hold_int], [%array, %tensor]
  store ptr %value, ptr %places at ptr %i
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
