"""The native code that makes the tensors of an eager call's results (see `fronts_text`)."""

from __future__ import annotations

from typing import Final

__all__ = ["HANDLES"]

HANDLES: Final = """
define internal ptr @handle_of(ptr %table, ptr %array) {
entry:
{front_loads}
  %made = call ptr %make_object(ptr %tensor_type, i64 0)
  br eq ptr %made, null, label %failed
  %slot_bytes = ptrtoint ptr %slot to i64
  store ptr %array, ptr %made at i8 %slot_bytes
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  call void %hold(ptr %never)
  store ptr %never, ptr %made at i8 %wants_bytes
  %base_bytes = ptrtoint ptr %base_slot to i64
  call void %hold(ptr %none)
  store ptr %none, ptr %made at i8 %base_bytes
  ret ptr %made
failed:
  call void %drop(ptr %array)
  ret ptr null
}

define internal ptr @new_handle(ptr %table, ptr %array, i64 %flags) {
entry:
{front_loads}
  %handle = call ptr @handle_of(ptr %table, ptr %array)
  br eq ptr %handle, null, label %failed
  %leaf_flag = and i64 %flags, 128
  br not ne i64 %leaf_flag, 0, label %give
  %are_floats = call i1 @is_of_floats(ptr %array)
  br not i1 %are_floats, label %no_leaf
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  call void %hold(ptr %always)
  store ptr %always, ptr %handle at i8 %wants_bytes
  call void %drop(ptr %never)
give:
  ret ptr %handle
no_leaf:
  call void %drop(ptr %handle)
  ret ptr null
failed:
  call void %forget_error()
  ret ptr null
}

define internal i1 @mode_word(ptr %table, ptr %word) {
entry:
  %memory = alloca ptr
{front_loads}
  store ptr null, ptr %word
  %recording = call i32 @recording(ptr %table)
  switch i32 %recording, label %good [i32 -1, label %bad i32 0, label %off]
off:
  %asked = call i32 %variable(ptr %inference_mode, ptr %never, ptr %memory)
  br slt i32 %asked, 0, label %bad
  %for_inference = load ptr, ptr %memory
  call void %drop(ptr %for_inference)
  %is_so = icmp eq ptr %for_inference, %always
  %its_word = select i1 %is_so, ptr %inference_word, ptr %no_grad_word
  store ptr %its_word, ptr %word
good:
  ret i1 true
bad:
  ret i1 false
}

define internal i1 @share_marks(ptr %table, ptr %view, ptr %base) {
entry:
{front_loads}
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %of_base = getelementptr i8, ptr %base, i64 %wants_bytes
  %found = load ptr, ptr %of_base
  br not eq ptr %found, %never, label %look
  %list = call ptr %make_list(i64 0)
  br eq ptr %list, null, label %bad, label %give
give:
  store ptr %list, ptr %of_base
  call void %drop(ptr %never)
  br label %share
look:
  %type = load ptr, ptr %found at i8 {type_at}
  br eq ptr %type, %list_type, label %share, label %good
share:
  %marks = phi ptr [%list, %give], [%found, %look]
  call void %hold(ptr %marks)
  store ptr %marks, ptr %view at i8 %wants_bytes
  call void %drop(ptr %never)
good:
  ret i1 true
bad:
  ret i1 false
}

define internal ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode) {
entry:
{front_loads}
  %made = call ptr @handle_of(ptr %table, ptr %array)
  br eq ptr %made, null, label %failed
  %owner = load ptr, ptr %array at i8 {owner_at}
  br eq ptr %owner, null, label %good
  %base_bytes = ptrtoint ptr %base_slot to i64
  call void %hold(ptr %base)
  store ptr %base, ptr %made at i8 %base_bytes
  call void %drop(ptr %none)
  %is_marked = call i1 @share_marks(ptr %table, ptr %made, ptr %base)
  %is_watched = icmp eq ptr %mode, null
  br not i1 %is_marked, label %unset
  br i1 %is_watched, label %good
  %noted = call i32 %set_attribute(ptr %made, ptr %unwatched_name, ptr %mode)
  br eq i32 %noted, 0, label %good, label %unset
good:
  ret ptr %made
unset:
  call void %drop(ptr %made)
failed:
  ret ptr null
}

define internal ptr @one_view(ptr %table, ptr %array, ptr %base) {
entry:
  %word = alloca ptr
  %is_known = call i1 @mode_word(ptr %table, ptr %word)
  br not i1 %is_known, label %failed
  %mode = load ptr, ptr %word
  %made = call ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode)
  ret ptr %made
failed:
  ret ptr null
}

define internal ptr @view_handles(ptr %table, ptr %list, ptr %base, i1 %are_slices) {
entry:
  %word = alloca ptr
{front_loads}
  %is_known = call i1 @mode_word(ptr %table, ptr %word)
  %mode = load ptr, ptr %word
  br i1 %is_known, label %begin, label %out
begin:
  %count = load i64, ptr %list at i8 {head}
  %items = load ptr, ptr %list at i8 {list_at}
  %tuple = call ptr %make_tuple(i64 %count)
  %inside = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br eq ptr %tuple, null, label %out, label %next
next:
  %i = phi i64 [0, %begin], [%i1, %made]
  br not ult i64 %i, %count, label %out
  %array = load ptr, ptr %items at ptr %i
  call void %hold(ptr %array)
  %handle = call ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode)
  br eq ptr %handle, null, label %bad
  br i1 %are_slices, label %made
  %told = call i32 %set_attribute(ptr %handle, ptr %among_name, ptr %no_word)
  br eq i32 %told, 0, label %made
  call void %drop(ptr %handle)
  br label %bad
made:
  store ptr %handle, ptr %inside at ptr %i
  %i1 = add i64 %i, 1
  br label %next
bad:
  call void %drop(ptr %tuple)
out:
  %found = phi ptr [null, %entry], [null, %begin], [%tuple, %next], [null, %bad]
  ret ptr %found
}

define internal ptr @new_handles(ptr %table, ptr %results, ptr %first) {
entry:
{front_loads}
  %type = load ptr, ptr %results at i8 {type_at}
  %is_tuple = icmp eq ptr %type, %tuple_type
  %is_list = icmp eq ptr %type, %list_type
  %are_several = or i1 %is_tuple, %is_list
  br i1 %are_several, label %begin, label %not_these
begin:
  %count = load i64, ptr %results at i8 {head}
  %items = call ptr @items_of(ptr %table, ptr %results)
check:
  %j = phi i64 [0, %begin], [%j1, %fits]
  br not ult i64 %j, %count, label %make
  %checked = load ptr, ptr %items at ptr %j
  %kind = load ptr, ptr %checked at i8 {type_at}
  %is_array = icmp eq ptr %kind, %array_type
  %is_other = icmp ne ptr %checked, %first
  %is_new = and i1 %is_array, %is_other
  %j1 = add i64 %j, 1
  br i1 %is_new, label %fits, label %not_these
fits:
  br label %check
make:
  %tuple = call ptr %make_tuple(i64 %count)
  %inside = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br eq ptr %tuple, null, label %failed, label %next
next:
  %i = phi i64 [0, %make], [%i1, %made]
  br not ult i64 %i, %count, label %done
  %array = load ptr, ptr %items at ptr %i
  call void %hold(ptr %array)
  %handle = call ptr @handle_of(ptr %table, ptr %array)
  br eq ptr %handle, null, label %bad, label %made
made:
  store ptr %handle, ptr %inside at ptr %i
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
bad:
  call void %drop(ptr %tuple)
failed:
  call void %forget_error()
not_these:
  ret ptr null
}

define internal i1 @are_new_views(ptr %table, ptr %result, ptr %first) {
entry:
{front_loads}
  %type = load ptr, ptr %result at i8 {type_at}
  br eq ptr %type, %list_type, label %begin, label %no
begin:
  %count = load i64, ptr %result at i8 {head}
  %items = load ptr, ptr %result at i8 {list_at}
next:
  %i = phi i64 [0, %begin], [%i1, %fits]
  br not ult i64 %i, %count, label %yes
  %item = load ptr, ptr %items at ptr %i
  %kind = load ptr, ptr %item at i8 {type_at}
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
