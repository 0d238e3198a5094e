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
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %wants_place = getelementptr i8, ptr %made, i64 %wants_bytes
  call void %hold(ptr %never)
  store ptr %never, ptr %wants_place
  %base_bytes = ptrtoint ptr %base_slot to i64
  %base_place = getelementptr i8, ptr %made, i64 %base_bytes
  call void %hold(ptr %none)
  store ptr %none, ptr %base_place
  ret ptr %made
failed:
  call void %drop(ptr %array)
  ret ptr null
}

define internal ptr @new_handle(ptr %table, ptr %array, i64 %flags) {
entry:
{front_loads}
  %handle = call ptr @handle_of(ptr %table, ptr %array)
  %is_failed = icmp eq ptr %handle, null
  br i1 %is_failed, label %failed, label %made
made:
  %leaf_flag = and i64 %flags, 128
  %is_leaf = icmp ne i64 %leaf_flag, 0
  br i1 %is_leaf, label %leaf, label %give
leaf:
  %are_floats = call i1 @is_of_floats(ptr %array)
  br i1 %are_floats, label %want, label %no_leaf
want:
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %wants_place = getelementptr i8, ptr %handle, i64 %wants_bytes
  call void %hold(ptr %always)
  store ptr %always, ptr %wants_place
  call void %drop(ptr %never)
  br label %give
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
  %is_unanswered = icmp slt i32 %asked, 0
  br i1 %is_unanswered, label %bad, label %answered
answered:
  %for_inference = load ptr, ptr %memory
  call void %drop(ptr %for_inference)
  %is_so = icmp eq ptr %for_inference, %always
  %its_word = select i1 %is_so, ptr %inference_word, ptr %no_grad_word
  store ptr %its_word, ptr %word
  br label %good
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
  %of_view = getelementptr i8, ptr %view, i64 %wants_bytes
  %found = load ptr, ptr %of_base
  %is_never = icmp eq ptr %found, %never
  br i1 %is_never, label %make, label %look
make:
  %list = call ptr %make_list(i64 0)
  %is_failed = icmp eq ptr %list, null
  br i1 %is_failed, label %bad, label %give
give:
  store ptr %list, ptr %of_base
  call void %drop(ptr %never)
  br label %share
look:
  %type_place = getelementptr i8, ptr %found, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_list = icmp eq ptr %type, %list_type
  br i1 %is_list, label %share, label %good
share:
  %marks = phi ptr [%list, %give], [%found, %look]
  call void %hold(ptr %marks)
  store ptr %marks, ptr %of_view
  call void %drop(ptr %never)
  br label %good
good:
  ret i1 true
bad:
  ret i1 false
}

define internal ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode) {
entry:
{front_loads}
  %made = call ptr @handle_of(ptr %table, ptr %array)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %note
note:
  %owner_place = getelementptr i8, ptr %array, i64 {owner_at}
  %owner = load ptr, ptr %owner_place
  %is_copy = icmp eq ptr %owner, null
  br i1 %is_copy, label %good, label %view
view:
  %base_bytes = ptrtoint ptr %base_slot to i64
  %base_place = getelementptr i8, ptr %made, i64 %base_bytes
  call void %hold(ptr %base)
  store ptr %base, ptr %base_place
  call void %drop(ptr %none)
  %is_marked = call i1 @share_marks(ptr %table, ptr %made, ptr %base)
  %is_watched = icmp eq ptr %mode, null
  br i1 %is_marked, label %look, label %unset
look:
  br i1 %is_watched, label %good, label %note_mode
note_mode:
  %noted = call i32 %set_attribute(ptr %made, ptr %unwatched_name, ptr %mode)
  %is_noted = icmp eq i32 %noted, 0
  br i1 %is_noted, label %good, label %unset
good:
  ret ptr %made
unset:
  call void %drop(ptr %made)
  br label %failed
failed:
  ret ptr null
}

define internal ptr @one_view(ptr %table, ptr %array, ptr %base) {
entry:
  %word = alloca ptr
  %is_known = call i1 @mode_word(ptr %table, ptr %word)
  br i1 %is_known, label %make, label %failed
make:
  %mode = load ptr, ptr %word
  %made = call ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode)
  ret ptr %made
failed:
  ret ptr null
}

define internal ptr @view_handles(ptr %table, ptr %list, ptr %base) {
entry:
  %word = alloca ptr
{front_loads}
  %is_known = call i1 @mode_word(ptr %table, ptr %word)
  %mode = load ptr, ptr %word
  br i1 %is_known, label %begin, label %out
begin:
  %count_place = getelementptr i8, ptr %list, i64 {head}
  %count = load i64, ptr %count_place
  %items_place = getelementptr i8, ptr %list, i64 {list_at}
  %items = load ptr, ptr %items_place
  %tuple = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %tuple, null
  %inside = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br i1 %is_failed, label %out, label %next
next:
  %i = phi i64 [0, %begin], [%i1, %made]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %out
look:
  %item_place = getelementptr ptr, ptr %items, i64 %i
  %array = load ptr, ptr %item_place
  call void %hold(ptr %array)
  %handle = call ptr @view_handle(ptr %table, ptr %array, ptr %base, ptr %mode)
  %is_bad = icmp eq ptr %handle, null
  br i1 %is_bad, label %bad, label %tell
tell:
  %told = call i32 %set_attribute(ptr %handle, ptr %among_name, ptr %no_word)
  %is_told = icmp eq i32 %told, 0
  br i1 %is_told, label %made, label %untold
untold:
  call void %drop(ptr %handle)
  br label %bad
made:
  %place = getelementptr ptr, ptr %inside, i64 %i
  store ptr %handle, ptr %place
  %i1 = add i64 %i, 1
  br label %next
bad:
  call void %drop(ptr %tuple)
  br label %out
out:
  %found = phi ptr [null, %entry], [null, %begin], [%tuple, %next], [null, %bad]
  ret ptr %found
}

define internal ptr @new_handles(ptr %table, ptr %results, ptr %first) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %results, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_tuple = icmp eq ptr %type, %tuple_type
  %is_list = icmp eq ptr %type, %list_type
  %are_several = or i1 %is_tuple, %is_list
  br i1 %are_several, label %begin, label %not_these
begin:
  %count_place = getelementptr i8, ptr %results, i64 {head}
  %count = load i64, ptr %count_place
  %items = call ptr @items_of(ptr %table, ptr %results)
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
  %inside = getelementptr i8, ptr %tuple, i64 {tuple_at}
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
  %items_place = getelementptr i8, ptr %result, i64 {list_at}
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
