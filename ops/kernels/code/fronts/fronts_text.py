"""The native side of eager calls: takes arguments apart, calls the operator, makes the tensor.

What `ops/eager/fronts.py` writes down is found by the types of a call's arguments, in 64-bit words:

    ways     how many there are, then their addresses
    way      how many arguments come by position, how many by name, the address of those names; the
             address of four words for each argument, `kind a place length`; what is called; the
             address of what its arguments are but for those that are given, and their number; from
             which argument on there are sizes, -1 if from none; flags; who finishes the call;
             `namer`; who records such a call where gradients are wanted, or gives `missed`; what
             native code is told to do so itself (see `records_text`), 0 where it cannot

An argument of `kind` 0 is a tensor; 1 has the type a, 2 is the object a; 3 is a list or tuple, as a
says, of so many ints, 4 of tensors, 5 too, whose arrays come behind all others, 6 an int that
becomes a list; its array, itself, or the list becomes the argument at `place`, but those of kind 2
stand there already.  The flags are: 1 a view of the first argument comes back, 2 what stands at
place 0 is written, 4 what comes back is given as it is, 8 others look at it, 16 the argument at
place 0 is a tensor, 32 several views come back, 64 a tuple of new arrays, which `namer` makes one
with names, 128 gradients are wanted of the new tensor, 256 each view is one by itself.
Whatever is not as a way says is left to `slowly`, which has the arguments as they came.
"""

from __future__ import annotations

from typing import Final

from .handles_text import HANDLES
from .records_text import RECORDS
from .taking_text import TAKING
from .ways_text import WAYS
from .writing_text import WRITING

__all__ = ["FRONT", "FRONT_WORDS", "MOST_GIVEN"]

MOST_GIVEN: Final = 12
"""Arguments of a call that is taken apart here."""

FRONT_WORDS: Final = (
    *("ways", "slowly", "active", "tensor_type", "parameter_type", "slot", "wants_slot", "never"),
    *("grad_mode", "written", "base_slot", "missed", "always", "inference_mode"),
    *("unwatched_name", "no_grad_word", "inference_word", "among_name", "no_word"),
    *("counts", "clock", "watched"),
)
"""What `front` is given behind `TABLE`: where the ways lie; what does other calls; the list of
tracers; the classes of tensors, where in them their array lies, and what says whether they want
gradients, and the object that says no; the variable that says whether gradients are recorded; what
counts writes; where in tensors what they are a view of lies; what is given where a call was not
recorded; the mode in which all calls are; the variable that says whether memory is for inference;
the name of the mode of a view that was made while nothing was recorded, and both words for it; the
name of what made one of several views, and the word where that is not known; the counts of writes,
and what counts all of them; a list that is empty unless writes are watched."""

FRONT: Final = (
    WAYS
    + HANDLES
    + RECORDS
    + WRITING
    + TAKING
    + """
define ptr @front(ptr %self, ptr %given, i64 %n, ptr %names) {
entry:
  %table = getelementptr i8, ptr %self, i64 {bytes_begin}
  %values = alloca [{front_room} x ptr], align 64
  %owned = alloca [{front_room} x ptr], align 64
  %handles = alloca [{handles_room} x ptr], align 64
  %wanted = alloca i64
  %of_tensors = alloca ptr
  %of_arrays = alloca ptr
  %names_given = alloca ptr
{front_loads}
  %tracers = load i64, ptr %active at i8 {head}
  %listeners = load i64, ptr %state at i8 24
  %heard = or i64 %tracers, %listeners
  br ne i64 %heard, 0, label %slow, label %begin
begin:
  br ne ptr %names, null, label %count_names, label %measure
count_names:
  %count_named = load i64, ptr %names at i8 {head}
measure:
  %named = phi i64 [0, %begin], [%count_named, %count_names]
  %total = add i64 %n, %named
  br not ule i64 %total, {front_most}, label %slow
  %way = call ptr @way_of(ptr %table, ptr %given, i64 %n, ptr %names, i64 %named)
  br eq ptr %way, null, label %slow, label %prepare
prepare:
  %arguments = load ptr, ptr %way at i64 3
  %inner = load ptr, ptr %way at i64 4
  %template = load ptr, ptr %way at i64 5
  %count = load i64, ptr %way at i64 6
  %sizes_from = load i64, ptr %way at i64 7
  %flags = load i64, ptr %way at i64 8
  %finisher = load ptr, ptr %way at i64 9
  %told = load ptr, ptr %way at i64 12
  %is_untold = icmp eq ptr %told, null
  %told_or_way = select i1 %is_untold, ptr %way, ptr %told
  %told_flags = load i64, ptr %told_or_way at i64 1
  %idle_flags = and i64 %told_flags, 12
  %is_idle = icmp ne i64 %idle_flags, 0
  %write_flag_of_told = and i64 %told_flags, 64
  %is_told_of_writes = icmp ne i64 %write_flag_of_told, 0
  %has_told = xor i1 %is_untold, true
  %writes_first = and i1 %is_told_of_writes, %has_told
  %if_told = select i1 %is_idle, i64 5, i64 4
  %how_wanted = select i1 %is_untold, i64 0, i64 %if_told
  store i64 %how_wanted, ptr %wanted
  %list_flag = and i64 %told_flags, 16
  %is_of_list = icmp ne i64 %list_flag, 0
  %list_flags = and i64 %told_flags, 48
  %is_listed = icmp ne i64 %list_flags, 0
  store ptr null, ptr %of_tensors
  store ptr %values, ptr %of_arrays
copy:
  %c = phi i64 [0, %prepare], [%c1, %copy_one]
  br ult i64 %c, %count, label %copy_one, label %gather
copy_one:
  %constant = load ptr, ptr %template at ptr %c
  store ptr %constant, ptr %values at ptr %c
  store ptr null, ptr %handles at ptr %c
  %c1 = add i64 %c, 1
  br label %copy
gather:
  %i = phi i64 [0, %copy], [%i1, %taken], [%n, %own_sizes]
  %held = phi i64 [0, %copy], [%held1, %taken], [%held_with_sizes, %own_sizes]
  %filled = phi i64 [%count, %copy], [%filled1, %taken], [%filled, %own_sizes]
  br eq i64 %i, %sizes_from, label %sizes
  br not ult i64 %i, %total, label %do_call
  %words = mul i64 %i, 4
  %argument = getelementptr i64, ptr %arguments, i64 %words
  %kind = load i64, ptr %argument
  %its_place = load i64, ptr %argument at i64 2
  %object_place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %object_place
  %target = getelementptr ptr, ptr %values, i64 %its_place
  %own = getelementptr ptr, ptr %owned, i64 %held
  %one_more = add i64 %held, 1
  switch i64 %kind, label %taken_so [
    i64 0, label %tensor
    i64 1, label %same
    i64 3, label %ints
    i64 6, label %one_int
    i64 4, label %tensors
    i64 5, label %spread ]
tensor:
  %array = call ptr @array_of(ptr %table, ptr %object, ptr %wanted)
  store ptr %object, ptr %handles at ptr %its_place
  br ne ptr %array, null, label %own_it, label %give_up
same:
  store ptr %object, ptr %target
  br label %taken_so
one_int:
  %times = load i64, ptr %argument at i64 3
  %one_list = call ptr @listed(ptr %table, ptr null, ptr %object_place, i64 %times, i64 0, \
i1 true, ptr %wanted)
  br ne ptr %one_list, null, label %own_it, label %give_up
ints:
  %int_count = load i64, ptr %object at i8 {head}
  %int_list = call ptr @listed(ptr %table, ptr %object, ptr null, i64 %int_count, i64 1, i1 true, \
ptr %wanted)
  br ne ptr %int_list, null, label %own_it, label %give_up
tensors:
  %item_count = load i64, ptr %object at i8 {head}
  %list = call ptr @listed(ptr %table, ptr %object, ptr null, i64 %item_count, i64 1, i1 false, \
ptr %wanted)
  br ne ptr %list, null, label %own_it, label %give_up
own_it:
  %made = phi ptr [%array, %tensor], [%int_list, %ints], [%list, %tensors], [%one_list, %one_int]
  store ptr %made, ptr %target
  store ptr %made, ptr %own
  br label %taken
taken_so:
  br label %taken
spread:
  %spread_items = call ptr @items_of(ptr %table, ptr %object)
  %spread_count = load i64, ptr %object at i8 {head}
  %last_owned = add i64 %held, %spread_count
  %with_list = add i64 %last_owned, 1
  %last_filled = add i64 %filled, %spread_count
  %owned_fits = icmp ult i64 %with_list, {front_room}
  %filled_fits = icmp ult i64 %last_filled, {front_room}
  %both_fit = and i1 %owned_fits, %filled_fits
  %first_filled = getelementptr ptr, ptr %values, i64 %filled
  store ptr %object, ptr %of_tensors
  store ptr %first_filled, ptr %of_arrays
  br i1 %both_fit, label %each, label %give_up
each:
  %are_arrays = call i1 @spread_over(ptr %table, ptr %spread_items, i64 %spread_count, \
ptr %first_filled, ptr %own, ptr %wanted)
  br i1 %are_arrays, label %taken, label %give_up
taken:
  %held1 = phi i64 [%one_more, %own_it], [%held, %taken_so], [%last_owned, %each]
  %filled1 = phi i64 [%filled, %own_it], [%filled, %taken_so], [%last_filled, %each]
  %i1 = add i64 %i, 1
  br label %gather
sizes:
  %sizes_words = mul i64 %sizes_from, 4
  %sizes_argument = getelementptr i64, ptr %arguments, i64 %sizes_words
  %sizes_at = load i64, ptr %sizes_argument at i64 2
  %sizes_items = getelementptr ptr, ptr %given, i64 %sizes_from
  %sizes_count = sub i64 %n, %sizes_from
  %sizes_list = call ptr @listed(ptr %table, ptr null, ptr %sizes_items, i64 %sizes_count, \
i64 1, i1 true, ptr %wanted)
  br ne ptr %sizes_list, null, label %own_sizes, label %give_up
own_sizes:
  store ptr %sizes_list, ptr %values at ptr %sizes_at
  store ptr %sizes_list, ptr %owned at ptr %held
  %held_with_sizes = add i64 %held, 1
  br label %gather
give_up:
  %held_then = phi i64 [%held, %tensor], [%held, %ints], [%held, %tensors], [%held, %spread], \
[%held, %each], [%held, %one_int], [%held, %sizes], [%held, %hold_list]
  call void @drop_all(ptr %table, ptr %owned, i64 %held_then)
  %why = load i64, ptr %wanted
  br eq i64 %why, 2, label %who_records, label %slow
who_records:
  %recorder = load ptr, ptr %way at i64 11
  %recorded = call ptr %call_with(ptr %recorder, ptr %given, i64 %n, ptr %names)
  br not eq ptr %recorded, %missed, label %give_recorded
  call void %drop(ptr %recorded)
  br label %slow
give_recorded:
  ret ptr %recorded
do_call:
  %how_now = load i64, ptr %wanted
  %records = icmp eq i64 %how_now, 3
  br i1 %records, label %look_for_list, label %all_there
look_for_list:
  %its_list = load ptr, ptr %of_tensors
  store ptr %handles, ptr %of_tensors
  br ne ptr %its_list, null, label %hold_list, label %all_there
hold_list:
  %list_length = sub i64 %filled, %count
  %its_items = call ptr @steady(ptr %table, ptr %its_list, i64 %list_length)
  br ne ptr %its_items, null, label %own_list, label %give_up
own_list:
  %first_item = getelementptr i8, ptr %its_items, i64 {tuple_at}
  store ptr %its_items, ptr %owned at ptr %held
  store ptr %first_item, ptr %of_tensors
  %held_with_list = add i64 %held, 1
all_there:
  %all_held = phi i64 [%held, %do_call], [%held, %look_for_list], \
[%held_with_list, %own_list]
  br i1 %records, label %find_edges, label %watch_not
watch_not:
  %is_off = icmp eq i64 %how_now, 1
  %is_silent = icmp eq i64 %how_now, 6
  %is_asked_for = or i1 %is_off, %is_silent
  %of_views = select i1 %is_asked_for, i64 1, i64 0
  store i64 %of_views, ptr %wanted
  br label %run
find_edges:
  %list_tensors = load ptr, ptr %of_tensors
  %list_arrays = load ptr, ptr %of_arrays
  %whose = select i1 %is_of_list, ptr %list_tensors, ptr %handles
  %whose_arrays = select i1 %is_of_list, ptr %list_arrays, ptr %values
  %its_told = call ptr @fitting(ptr %told, ptr %whose_arrays)
  %is_beside = xor i1 %is_listed, %is_of_list
  br not i1 %is_beside, label %take_edges
  %are_places = call i1 @are_whole(ptr %its_told, ptr %list_arrays)
  br i1 %are_places, label %take_edges, label %record_there
take_edges:
  %found_edges = call ptr @edges_from(ptr %table, ptr %its_told, ptr %whose, ptr %whose_arrays)
  br ne ptr %found_edges, null, label %whether_written, label %record_there
whether_written:
  br not i1 %writes_first, label %run
  %may_be_written = call i1 @may_write(ptr %table, ptr %its_told, ptr %handles, ptr %values, \
ptr %list_arrays)
  br i1 %may_be_written, label %keep_before, label %leave_unwritten
keep_before:
  %kept_before = call ptr @kept_before(ptr %table, ptr %its_told, ptr %handles, ptr %found_edges)
  br not eq ptr %kept_before, null, label %run
  call void %drop(ptr %found_edges)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr null
leave_unwritten:
  call void %drop(ptr %found_edges)
record_there:
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  br label %who_records
run:
  %now_told = phi ptr [%told, %watch_not], [%its_told, %whether_written], \
[%its_told, %keep_before]
  %edges = phi ptr [null, %watch_not], [%found_edges, %whether_written], \
[%found_edges, %keep_before]
  %before = phi ptr [null, %watch_not], [null, %whether_written], [%kept_before, %keep_before]
  %result = call ptr %call_with(ptr %inner, ptr %values, i64 %filled, ptr null)
  %is_raised = icmp eq ptr %result, null
  br i1 %is_raised, label %release, label %compare
compare:
  %m = phi i64 [0, %run], [%m1, %differs]
  br not ult i64 %m, %all_held, label %is_none_of_them
  %one_owned = load ptr, ptr %owned at ptr %m
  %m1 = add i64 %m, 1
  br eq ptr %one_owned, %result, label %is_one_of_them, label %differs
differs:
  br label %compare
is_one_of_them:
  br label %release
is_none_of_them:
release:
  %which = phi i64 [-1, %run], [%m, %is_one_of_them], [-1, %is_none_of_them]
  %first_owned = load ptr, ptr %owned
  %silence_flag = and i64 %told_flags, 4
  %may_be_silent = icmp ne i64 %silence_flag, 0
  %is_unsure = icmp eq i64 %how_now, 6
  %looks_again = and i1 %may_be_silent, %is_unsure
  %has_history = or i1 %records, %looks_again
  br i1 %has_history, label %recording, label %release_now
recording:
  br i1 %is_raised, label %without_node
  %its_class = load ptr, ptr %result at i8 {type_at}
  %is_made = icmp slt i64 %which, 0
  br not eq ptr %its_class, %array_type, label %its_several
  br i1 %is_made, label %its_kind
  %first_own_flag = and i64 %flags, 16
  %has_first_own = icmp ne i64 %first_own_flag, 0
  %own_first = load ptr, ptr %values
  %is_first_own = icmp eq ptr %own_first, %result
  %is_itself = and i1 %has_first_own, %is_first_own
  br not i1 %is_itself, label %end_otherwise
  br not i1 %writes_first, label %itself
  %written_tensors = load ptr, ptr %of_tensors
  %written_arrays = load ptr, ptr %of_arrays
  %with_write = call ptr @recorded_write(ptr %table, ptr %now_told, ptr %handles, ptr %values, \
ptr %edges, ptr %result, ptr %written_tensors, ptr %written_arrays, ptr %before)
  call void %drop(ptr %before)
  call void %drop(ptr %result)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %with_write
itself:
  %own_handle = load ptr, ptr %handles
  call void %hold(ptr %own_handle)
  call void %drop(ptr %result)
  br label %without_node
its_kind:
  %are_its_floats = call i1 @is_of_floats(ptr %result)
  br i1 %are_its_floats, label %with_history
  br not i1 %records, label %release_now
  %its_owner = load ptr, ptr %result at i8 {owner_at}
  br eq ptr %its_owner, null, label %new_numbers, label %end_otherwise
new_numbers:
  %numbers_made = call ptr @handle_of(ptr %table, ptr %result)
  br label %without_node
with_history:
  br not i1 %records, label %end_otherwise
  %own_tensors = load ptr, ptr %of_tensors
  %own_arrays = load ptr, ptr %of_arrays
  %history = call ptr @recorded(ptr %table, ptr %now_told, ptr %handles, ptr %values, ptr %edges, \
ptr %result, ptr %own_tensors, ptr %own_arrays)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %history
its_several:
  %several_here = and i64 %told_flags, 2
  %gives_several = icmp ne i64 %several_here, 0
  %records_several = and i1 %gives_several, %records
  br not i1 %records_several, label %end_otherwise
  %are_floats_first = call i1 @is_first_of_floats(ptr %table, ptr %result)
  br not i1 %are_floats_first, label %end_otherwise
  %handles_made = call ptr @new_handles(ptr %table, ptr %result, ptr %first_owned)
  br ne ptr %handles_made, null, label %their_names, label %end_otherwise
their_names:
  call void %drop(ptr %result)
  %their_namer = load ptr, ptr %way at i64 10
  br ne ptr %their_namer, null, label %give_names, label %their_node
give_names:
  store ptr %handles_made, ptr %names_given
  %with_their_names = call ptr %call_with(ptr %their_namer, ptr %names_given, i64 1, ptr null)
  call void %drop(ptr %handles_made)
  br eq ptr %with_their_names, null, label %without_node, label %their_node
their_node:
  %all_made = phi ptr [%handles_made, %their_names], [%with_their_names, %give_names]
  %histories = call ptr @recorded_all(ptr %table, ptr %now_told, ptr %handles, ptr %values, \
ptr %edges, ptr %all_made)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %histories
end_otherwise:
  %may_run_again = xor i1 %writes_first, true
  %runs_again = and i1 %is_listed, %may_run_again
  br not i1 %runs_again, label %end_late
  call void %drop(ptr %result)
  call void %drop(ptr %edges)
  br label %record_there
end_late:
  %late = load i64, ptr %now_told at i64 12
  %ended = call ptr @chosen(ptr %table, ptr %now_told, ptr %handles, ptr %values, i64 %late, \
ptr %result)
  call void %drop(ptr %result)
without_node:
  %instead = phi ptr [null, %recording], [%ended, %end_late], [%own_handle, %itself], \
[null, %give_names], [%numbers_made, %new_numbers]
  call void %drop(ptr %before)
  call void %drop(ptr %edges)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %instead
release_now:
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  br not i1 %is_raised, label %finish
  ret ptr null
finish:
  %as_it_is = and i64 %flags, 4
  br not ne i64 %as_it_is, 0, label %kind_of_result
  ret ptr %result
kind_of_result:
  %for_others = and i64 %flags, 8
  br ne i64 %for_others, 0, label %others
  %result_type = load ptr, ptr %result at i8 {type_at}
  br eq ptr %result_type, %array_type, label %one_array
  %tuple_flag = and i64 %flags, 64
  br not ne i64 %tuple_flag, 0, label %perhaps_list
  %new_tensors = call ptr @new_handles(ptr %table, ptr %result, ptr %first_owned)
  br not ne ptr %new_tensors, null, label %others
  call void %drop(ptr %result)
  %namer = load ptr, ptr %way at i64 10
  br ne ptr %namer, null, label %with_names
  ret ptr %new_tensors
with_names:
  store ptr %new_tensors, ptr %values
  %named_tensors = call ptr %call_with(ptr %namer, ptr %values, i64 1, ptr null)
  call void %drop(ptr %new_tensors)
  ret ptr %named_tensors
perhaps_list:
  %several_flag = and i64 %flags, 32
  %are_several = icmp ne i64 %several_flag, 0
  %its_wanted = load i64, ptr %wanted
  %is_unwatched = icmp eq i64 %its_wanted, 0
  %may_be_views = and i1 %are_several, %is_unwatched
  br not i1 %may_be_views, label %others
  %are_views = call i1 @are_new_views(ptr %table, ptr %result, ptr %first_owned)
  br not i1 %are_views, label %others
  %the_base = load ptr, ptr %given
  %slices_flag = and i64 %flags, 256
  %are_slices = icmp ne i64 %slices_flag, 0
  %views = call ptr @view_handles(ptr %table, ptr %result, ptr %the_base, i1 %are_slices)
  call void %drop(ptr %result)
  ret ptr %views
one_array:
  br slt i64 %which, 0, label %new_array
  %first_flag = and i64 %flags, 16
  %has_first = icmp ne i64 %first_flag, 0
  %first_value = load ptr, ptr %values
  %is_the_first = icmp eq ptr %first_value, %result
  %is_first = and i1 %has_first, %is_the_first
  br not i1 %is_first, label %others
  %write_flag = and i64 %flags, 2
  br not ne i64 %write_flag, 0, label %give_first
  %is_noted = call i1 @count_write(ptr %table, ptr %result)
  br i1 %is_noted, label %give_first
  call void %drop(ptr %result)
  ret ptr null
give_first:
  %first_handle = load ptr, ptr %handles
  call void %hold(ptr %first_handle)
  call void %drop(ptr %result)
  ret ptr %first_handle
new_array:
  %view_flag = and i64 %flags, 1
  br ne i64 %view_flag, 0, label %new_view
  %handle = call ptr @new_handle(ptr %table, ptr %result, i64 %flags)
  br not ne ptr %handle, null, label %slow
  ret ptr %handle
new_view:
  %was_wanted = load i64, ptr %wanted
  br not eq i64 %was_wanted, 0, label %others
  %base = load ptr, ptr %given
  %view = call ptr @one_view(ptr %table, ptr %result, ptr %base)
  ret ptr %view
others:
  store ptr %result, ptr %values
pass:
  %p = phi i64 [0, %others], [%p1, %pass_one]
  br ult i64 %p, %total, label %pass_one, label %finish_there
pass_one:
  %p1 = add i64 %p, 1
  %passed = load ptr, ptr %given at ptr %p
  store ptr %passed, ptr %values at ptr %p1
  br label %pass
finish_there:
  %with_result = add i64 %n, 1
  %finished = call ptr %call_with(ptr %finisher, ptr %values, i64 %with_result, ptr %names)
  call void %drop(ptr %result)
  ret ptr %finished
slow:
  %slow_result = call ptr %call_with(ptr %slowly, ptr %given, i64 %n, ptr %names)
  ret ptr %slow_result
}
"""
)
