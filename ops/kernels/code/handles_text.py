"""The native code that makes the tensors of an eager call's results (see `fronts_text`)."""

from __future__ import annotations

from typing import Final

__all__ = ["HANDLES"]

HANDLES: Final = """
define internal ptr @handle_of(ptr %table, ptr %array) {
entry:
{front_loads}
  %made = call ptr %make_object(ptr %tensor_type, i64 0)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %fill
fill:
  %slot_bytes = ptrtoint ptr %slot to i64
  %array_place = getelementptr i8, ptr %made, i64 %slot_bytes
  store ptr %array, ptr %array_place
  ret ptr %made
failed:
  call void %drop(ptr %array)
  ret ptr null
}

define internal ptr @view_handle(ptr %table, ptr %array, ptr %base) {
entry:
{front_loads}
  %made = call ptr @handle_of(ptr %table, ptr %array)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %note
note:
  %set = call i32 %set_attribute(ptr %made, ptr %view_of_name, ptr %base)
  %is_set = icmp eq i32 %set, 0
  br i1 %is_set, label %good, label %unset
good:
  ret ptr %made
unset:
  call void %drop(ptr %made)
  br label %failed
failed:
  ret ptr null
}

define internal ptr @view_handles(ptr %table, ptr %list, ptr %base) {
entry:
{front_loads}
  %count_place = getelementptr i8, ptr %list, i64 {head}
  %count = load i64, ptr %count_place
  %items_place = getelementptr i8, ptr %list, i64 {items_at}
  %items = load ptr, ptr %items_place
  %tuple = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %tuple, null
  %inside = getelementptr i8, ptr %tuple, i64 {items_at}
  br i1 %is_failed, label %out, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %made]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %out
look:
  %item_place = getelementptr ptr, ptr %items, i64 %i
  %array = load ptr, ptr %item_place
  call void %hold(ptr %array)
  %handle = call ptr @view_handle(ptr %table, ptr %array, ptr %base)
  %is_bad = icmp eq ptr %handle, null
  br i1 %is_bad, label %bad, label %made
made:
  %place = getelementptr ptr, ptr %inside, i64 %i
  store ptr %handle, ptr %place
  %i1 = add i64 %i, 1
  br label %next
bad:
  call void %drop(ptr %tuple)
  br label %out
out:
  %found = phi ptr [null, %entry], [%tuple, %next], [null, %bad]
  ret ptr %found
}

define internal ptr @new_handles(ptr %table, ptr %results, ptr %first) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %results, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_tuple = icmp eq ptr %type, %tuple_type
  br i1 %is_tuple, label %begin, label %not_these
begin:
  %count_place = getelementptr i8, ptr %results, i64 {head}
  %count = load i64, ptr %count_place
  %items = getelementptr i8, ptr %results, i64 {items_at}
  br label %check
check:
  %j = phi i64 [0, %begin], [%j1, %fits]
  %more_to_check = icmp ult i64 %j, %count
  br i1 %more_to_check, label %check_one, label %make
check_one:
  %checked_place = getelementptr ptr, ptr %items, i64 %j
  %checked = load ptr, ptr %checked_place
  %kind_place = getelementptr i8, ptr %checked, i64 {type_at}
  %kind = load ptr, ptr %kind_place
  %is_array = icmp eq ptr %kind, %array_type
  %is_other = icmp ne ptr %checked, %first
  %is_new = and i1 %is_array, %is_other
  %j1 = add i64 %j, 1
  br i1 %is_new, label %fits, label %not_these
fits:
  br label %check
make:
  %tuple = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %tuple, null
  %inside = getelementptr i8, ptr %tuple, i64 {items_at}
  br i1 %is_failed, label %failed, label %next
next:
  %i = phi i64 [0, %make], [%i1, %made]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %item_place = getelementptr ptr, ptr %items, i64 %i
  %array = load ptr, ptr %item_place
  call void %hold(ptr %array)
  %handle = call ptr @handle_of(ptr %table, ptr %array)
  %is_bad = icmp eq ptr %handle, null
  br i1 %is_bad, label %bad, label %made
made:
  %place = getelementptr ptr, ptr %inside, i64 %i
  store ptr %handle, ptr %place
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
bad:
  call void %drop(ptr %tuple)
  br label %failed
failed:
  call void %forget_error()
  br label %not_these
not_these:
  ret ptr null
}

define internal i1 @are_new_views(ptr %table, ptr %result, ptr %first) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %result, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_list = icmp eq ptr %type, %list_type
  br i1 %is_list, label %begin, label %no
begin:
  %count_place = getelementptr i8, ptr %result, i64 {head}
  %count = load i64, ptr %count_place
  %items_place = getelementptr i8, ptr %result, i64 {items_at}
  %items = load ptr, ptr %items_place
  br label %next
next:
  %i = phi i64 [0, %begin], [%i1, %fits]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %item_place = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_place
  %kind_place = getelementptr i8, ptr %item, i64 {type_at}
  %kind = load ptr, ptr %kind_place
  %is_array = icmp eq ptr %kind, %array_type
  %is_new = icmp ne ptr %item, %first
  %is_well = and i1 %is_array, %is_new
  br i1 %is_well, label %fits, label %no
fits:
  %i1 = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}
"""
