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
stand there already.  The flags are: 1 a view of the first argument comes back, 2 that is written, 4
what comes back is given as it is, 8 others look at it, 16 the first argument is a tensor, 32
several views come back, 64 a tuple of new arrays, which `namer` makes one with names, 128 gradients
are wanted of the new tensor.
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
  %tracers_place = getelementptr i8, ptr %active, i64 {head}
  %tracers = load i64, ptr %tracers_place
  %listeners_place = getelementptr i8, ptr %state, i64 24
  %listeners = load i64, ptr %listeners_place
  %heard = or i64 %tracers, %listeners
  %is_heard = icmp ne i64 %heard, 0
  br i1 %is_heard, label %slow, label %begin
begin:
  %are_named = icmp ne ptr %names, null
  br i1 %are_named, label %count_names, label %measure
count_names:
  %names_place = getelementptr i8, ptr %names, i64 {head}
  %count_named = load i64, ptr %names_place
  br label %measure
measure:
  %named = phi i64 [0, %begin], [%count_named, %count_names]
  %total = add i64 %n, %named
  %is_short = icmp ule i64 %total, {front_most}
  br i1 %is_short, label %search, label %slow
search:
  %way = call ptr @way_of(ptr %table, ptr %given, i64 %n, ptr %names, i64 %named)
  %is_none = icmp eq ptr %way, null
  br i1 %is_none, label %slow, label %prepare
prepare:
  %arguments_place = getelementptr i64, ptr %way, i64 3
  %inner_place = getelementptr i64, ptr %way, i64 4
  %template_place = getelementptr i64, ptr %way, i64 5
  %count_place = getelementptr i64, ptr %way, i64 6
  %sizes_place = getelementptr i64, ptr %way, i64 7
  %flags_place = getelementptr i64, ptr %way, i64 8
  %finisher_place = getelementptr i64, ptr %way, i64 9
  %arguments = load ptr, ptr %arguments_place
  %inner = load ptr, ptr %inner_place
  %template = load ptr, ptr %template_place
  %count = load i64, ptr %count_place
  %sizes_from = load i64, ptr %sizes_place
  %flags = load i64, ptr %flags_place
  %finisher = load ptr, ptr %finisher_place
  %told_place = getelementptr i64, ptr %way, i64 12
  %told = load ptr, ptr %told_place
  %is_untold = icmp eq ptr %told, null
  %told_or_way = select i1 %is_untold, ptr %way, ptr %told
  %told_flags_place = getelementptr i64, ptr %told_or_way, i64 1
  %told_flags = load i64, ptr %told_flags_place
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
  %has_no_sizes = icmp slt i64 %sizes_from, 0
  %stop = select i1 %has_no_sizes, i64 %total, i64 %sizes_from
  br label %copy
copy:
  %c = phi i64 [0, %prepare], [%c1, %copy_one]
  %more_constants = icmp ult i64 %c, %count
  br i1 %more_constants, label %copy_one, label %gather
copy_one:
  %constant_place = getelementptr ptr, ptr %template, i64 %c
  %constant = load ptr, ptr %constant_place
  %value_place = getelementptr ptr, ptr %values, i64 %c
  store ptr %constant, ptr %value_place
  %no_handle_place = getelementptr ptr, ptr %handles, i64 %c
  store ptr null, ptr %no_handle_place
  %c1 = add i64 %c, 1
  br label %copy
gather:
  %i = phi i64 [0, %copy], [%i1, %taken]
  %held = phi i64 [0, %copy], [%held1, %taken]
  %filled = phi i64 [%count, %copy], [%filled1, %taken]
  %more = icmp ult i64 %i, %stop
  br i1 %more, label %look, label %gathered
look:
  %words = mul i64 %i, 4
  %argument = getelementptr i64, ptr %arguments, i64 %words
  %its_place_word = getelementptr i64, ptr %argument, i64 2
  %kind = load i64, ptr %argument
  %its_place = load i64, ptr %its_place_word
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
  %handle_place = getelementptr ptr, ptr %handles, i64 %its_place
  store ptr %object, ptr %handle_place
  %is_tensor = icmp ne ptr %array, null
  br i1 %is_tensor, label %own_it, label %give_up
same:
  store ptr %object, ptr %target
  br label %taken_so
one_int:
  %times_place = getelementptr i64, ptr %argument, i64 3
  %times = load i64, ptr %times_place
  %one_list = call ptr @listed(ptr %table, ptr null, ptr %object_place, i64 %times, i64 0, \
i1 true, ptr %wanted)
  %is_int = icmp ne ptr %one_list, null
  br i1 %is_int, label %own_it, label %give_up
ints:
  %int_count_place = getelementptr i8, ptr %object, i64 {head}
  %int_count = load i64, ptr %int_count_place
  %int_list = call ptr @listed(ptr %table, ptr %object, ptr null, i64 %int_count, i64 1, i1 true, \
ptr %wanted)
  %are_ints = icmp ne ptr %int_list, null
  br i1 %are_ints, label %own_it, label %give_up
tensors:
  %item_count_place = getelementptr i8, ptr %object, i64 {head}
  %item_count = load i64, ptr %item_count_place
  %list = call ptr @listed(ptr %table, ptr %object, ptr null, i64 %item_count, i64 1, i1 false, \
ptr %wanted)
  %are_tensors = icmp ne ptr %list, null
  br i1 %are_tensors, label %own_it, label %give_up
own_it:
  %made = phi ptr [%array, %tensor], [%int_list, %ints], [%list, %tensors], [%one_list, %one_int]
  store ptr %made, ptr %target
  store ptr %made, ptr %own
  br label %taken_one
taken_one:
  br label %taken
taken_so:
  br label %taken
spread:
  %spread_items = call ptr @items_of(ptr %table, ptr %object)
  %spread_count_place = getelementptr i8, ptr %object, i64 {head}
  %spread_count = load i64, ptr %spread_count_place
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
  %held1 = phi i64 [%one_more, %taken_one], [%held, %taken_so], [%last_owned, %each]
  %filled1 = phi i64 [%filled, %taken_one], [%filled, %taken_so], [%last_filled, %each]
  %i1 = add i64 %i, 1
  br label %gather
gathered:
  br i1 %has_no_sizes, label %do_call, label %sizes
sizes:
  %sizes_words = mul i64 %sizes_from, 4
  %sizes_argument = getelementptr i64, ptr %arguments, i64 %sizes_words
  %sizes_target_word = getelementptr i64, ptr %sizes_argument, i64 2
  %sizes_at = load i64, ptr %sizes_target_word
  %sizes_items = getelementptr ptr, ptr %given, i64 %sizes_from
  %sizes_count = sub i64 %n, %sizes_from
  %sizes_list = call ptr @listed(ptr %table, ptr null, ptr %sizes_items, i64 %sizes_count, \
i64 1, i1 true, ptr %wanted)
  %are_sizes = icmp ne ptr %sizes_list, null
  br i1 %are_sizes, label %own_sizes, label %give_up
own_sizes:
  %sizes_target = getelementptr ptr, ptr %values, i64 %sizes_at
  %sizes_own = getelementptr ptr, ptr %owned, i64 %held
  store ptr %sizes_list, ptr %sizes_target
  store ptr %sizes_list, ptr %sizes_own
  %held_with_sizes = add i64 %held, 1
  br label %do_call
give_up:
  %held_then = phi i64 [%held, %tensor], [%held, %ints], [%held, %tensors], [%held, %spread], \
[%held, %each], [%held, %one_int], [%held, %sizes], [%first_held, %hold_list]
  call void @drop_all(ptr %table, ptr %owned, i64 %held_then)
  %why = load i64, ptr %wanted
  %is_recorded = icmp eq i64 %why, 2
  br i1 %is_recorded, label %who_records, label %slow
who_records:
  %recorder_place = getelementptr i64, ptr %way, i64 11
  %recorder = load ptr, ptr %recorder_place
  %recorded = call ptr %call_with(ptr %recorder, ptr %given, i64 %n, ptr %names)
  %is_missed = icmp eq ptr %recorded, %missed
  br i1 %is_missed, label %not_recorded, label %give_recorded
not_recorded:
  call void %drop(ptr %recorded)
  br label %slow
give_recorded:
  ret ptr %recorded
do_call:
  %first_held = phi i64 [%held, %gathered], [%held_with_sizes, %own_sizes]
  %how_now = load i64, ptr %wanted
  %records = icmp eq i64 %how_now, 3
  br i1 %records, label %look_for_list, label %all_there
look_for_list:
  %its_list = load ptr, ptr %of_tensors
  store ptr %handles, ptr %of_tensors
  %has_list = icmp ne ptr %its_list, null
  br i1 %has_list, label %hold_list, label %all_there
hold_list:
  %list_length = sub i64 %filled, %count
  %its_items = call ptr @steady(ptr %table, ptr %its_list, i64 %list_length)
  %are_steady = icmp ne ptr %its_items, null
  br i1 %are_steady, label %own_list, label %give_up
own_list:
  %list_own = getelementptr ptr, ptr %owned, i64 %first_held
  %first_item = getelementptr i8, ptr %its_items, i64 {tuple_at}
  store ptr %its_items, ptr %list_own
  store ptr %first_item, ptr %of_tensors
  %held_with_list = add i64 %first_held, 1
  br label %all_there
all_there:
  %all_held = phi i64 [%first_held, %do_call], [%first_held, %look_for_list], \
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
  br i1 %is_beside, label %check_whole, label %take_edges
check_whole:
  %are_places = call i1 @are_whole(ptr %its_told, ptr %list_arrays)
  br i1 %are_places, label %take_edges, label %record_there
take_edges:
  %found_edges = call ptr @edges_from(ptr %table, ptr %its_told, ptr %whose, ptr %whose_arrays)
  %are_found = icmp ne ptr %found_edges, null
  br i1 %are_found, label %whether_written, label %record_there
whether_written:
  br i1 %writes_first, label %ask_to_write, label %run
ask_to_write:
  %may_be_written = call i1 @may_write(ptr %table, ptr %its_told, ptr %handles, ptr %values, \
ptr %list_arrays)
  br i1 %may_be_written, label %keep_before, label %leave_unwritten
keep_before:
  %kept_before = call ptr @kept_before(ptr %table, ptr %its_told, ptr %handles, ptr %found_edges)
  %is_unkept = icmp eq ptr %kept_before, null
  br i1 %is_unkept, label %unkept, label %run
unkept:
  call void %drop(ptr %found_edges)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr null
leave_unwritten:
  call void %drop(ptr %found_edges)
  br label %record_there
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
  %more_owned = icmp ult i64 %m, %all_held
  br i1 %more_owned, label %compare_one, label %is_none_of_them
compare_one:
  %owned_place = getelementptr ptr, ptr %owned, i64 %m
  %one_owned = load ptr, ptr %owned_place
  %is_the_same = icmp eq ptr %one_owned, %result
  %m1 = add i64 %m, 1
  br i1 %is_the_same, label %is_one_of_them, label %differs
differs:
  br label %compare
is_one_of_them:
  br label %release
is_none_of_them:
  br label %release
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
  br i1 %is_raised, label %without_node, label %its_type
its_type:
  %its_type_place = getelementptr i8, ptr %result, i64 {type_at}
  %its_class = load ptr, ptr %its_type_place
  %is_its_array = icmp eq ptr %its_class, %array_type
  %is_made = icmp slt i64 %which, 0
  br i1 %is_its_array, label %its_newness, label %its_several
its_newness:
  br i1 %is_made, label %its_kind, label %its_own
its_own:
  %first_own_flag = and i64 %flags, 16
  %has_first_own = icmp ne i64 %first_own_flag, 0
  %is_first_own = icmp eq i64 %which, 0
  %is_itself = and i1 %has_first_own, %is_first_own
  br i1 %is_itself, label %whether_recorded, label %end_otherwise
whether_recorded:
  br i1 %writes_first, label %its_write, label %itself
its_write:
  %written_tensors = load ptr, ptr %of_tensors
  %written_arrays = load ptr, ptr %of_arrays
  %with_write = call ptr @recorded_write(ptr %table, ptr %now_told, ptr %handles, ptr %values, \
ptr %edges, ptr %result, ptr %written_tensors, ptr %written_arrays, ptr %before)
  call void %drop(ptr %before)
  call void %drop(ptr %result)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %with_write
itself:
  %own_handle = load ptr, ptr %given
  call void %hold(ptr %own_handle)
  call void %drop(ptr %result)
  br label %without_node
its_kind:
  %are_its_floats = call i1 @is_of_floats(ptr %result)
  br i1 %are_its_floats, label %with_history, label %without_history
without_history:
  br i1 %records, label %whole_numbers, label %release_now
whole_numbers:
  %its_owner_place = getelementptr i8, ptr %result, i64 {owner_at}
  %its_owner = load ptr, ptr %its_owner_place
  %is_no_view = icmp eq ptr %its_owner, null
  br i1 %is_no_view, label %new_numbers, label %end_otherwise
new_numbers:
  %numbers_made = call ptr @handle_of(ptr %table, ptr %result)
  br label %without_node
with_history:
  br i1 %records, label %with_node, label %end_otherwise
with_node:
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
  br i1 %records_several, label %their_kind, label %end_otherwise
their_kind:
  %are_floats_first = call i1 @is_first_of_floats(ptr %table, ptr %result)
  br i1 %are_floats_first, label %their_handles, label %end_otherwise
their_handles:
  %handles_made = call ptr @new_handles(ptr %table, ptr %result, ptr %first_owned)
  %are_handles = icmp ne ptr %handles_made, null
  br i1 %are_handles, label %their_names, label %end_otherwise
their_names:
  call void %drop(ptr %result)
  %their_namer_place = getelementptr i64, ptr %way, i64 10
  %their_namer = load ptr, ptr %their_namer_place
  %are_named_so = icmp ne ptr %their_namer, null
  br i1 %are_named_so, label %give_names, label %their_node
give_names:
  store ptr %handles_made, ptr %names_given
  %with_their_names = call ptr %call_with(ptr %their_namer, ptr %names_given, i64 1, ptr null)
  call void %drop(ptr %handles_made)
  %is_unnamed = icmp eq ptr %with_their_names, null
  br i1 %is_unnamed, label %without_node, label %their_node
their_node:
  %all_made = phi ptr [%handles_made, %their_names], [%with_their_names, %give_names]
  %histories = call ptr @recorded_all(ptr %table, ptr %now_told, ptr %handles, ptr %values, \
ptr %edges, ptr %all_made)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %histories
end_otherwise:
  %may_run_again = xor i1 %writes_first, true
  %runs_again = and i1 %is_listed, %may_run_again
  br i1 %runs_again, label %once_more, label %end_late
once_more:
  call void %drop(ptr %result)
  call void %drop(ptr %edges)
  br label %record_there
end_late:
  %late_place = getelementptr i64, ptr %now_told, i64 12
  %late = load i64, ptr %late_place
  %ended = call ptr @chosen(ptr %table, ptr %now_told, ptr %handles, ptr %values, i64 %late, \
ptr %result)
  call void %drop(ptr %result)
  br label %without_node
without_node:
  %instead = phi ptr [null, %recording], [%ended, %end_late], [%own_handle, %itself], \
[null, %give_names], [%numbers_made, %new_numbers]
  call void %drop(ptr %before)
  call void %drop(ptr %edges)
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  ret ptr %instead
release_now:
  call void @drop_all(ptr %table, ptr %owned, i64 %all_held)
  br i1 %is_raised, label %nothing, label %finish
nothing:
  ret ptr null
finish:
  %as_it_is = and i64 %flags, 4
  %is_as_it_is = icmp ne i64 %as_it_is, 0
  br i1 %is_as_it_is, label %give, label %kind_of_result
give:
  ret ptr %result
kind_of_result:
  %for_others = and i64 %flags, 8
  %are_others = icmp ne i64 %for_others, 0
  br i1 %are_others, label %others, label %is_it_array
is_it_array:
  %result_type_place = getelementptr i8, ptr %result, i64 {type_at}
  %result_type = load ptr, ptr %result_type_place
  %is_array = icmp eq ptr %result_type, %array_type
  br i1 %is_array, label %one_array, label %perhaps_views
perhaps_views:
  %tuple_flag = and i64 %flags, 64
  %are_new = icmp ne i64 %tuple_flag, 0
  br i1 %are_new, label %new_tuple, label %perhaps_list
new_tuple:
  %new_tensors = call ptr @new_handles(ptr %table, ptr %result, ptr %first_owned)
  %are_made = icmp ne ptr %new_tensors, null
  br i1 %are_made, label %name_them, label %others
name_them:
  call void %drop(ptr %result)
  %namer_place = getelementptr i64, ptr %way, i64 10
  %namer = load ptr, ptr %namer_place
  %have_names = icmp ne ptr %namer, null
  br i1 %have_names, label %with_names, label %without_names
without_names:
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
  br i1 %may_be_views, label %check_views, label %others
check_views:
  %are_views = call i1 @are_new_views(ptr %table, ptr %result, ptr %first_owned)
  br i1 %are_views, label %all_views, label %others
all_views:
  %the_base = load ptr, ptr %given
  %views = call ptr @view_handles(ptr %table, ptr %result, ptr %the_base)
  call void %drop(ptr %result)
  ret ptr %views
one_array:
  %is_new = icmp slt i64 %which, 0
  br i1 %is_new, label %new_array, label %known_array
known_array:
  %first_flag = and i64 %flags, 16
  %has_first = icmp ne i64 %first_flag, 0
  %is_the_first = icmp eq i64 %which, 0
  %is_first = and i1 %has_first, %is_the_first
  br i1 %is_first, label %same_tensor, label %others
same_tensor:
  %write_flag = and i64 %flags, 2
  %is_written = icmp ne i64 %write_flag, 0
  br i1 %is_written, label %count_write, label %give_first
count_write:
  %is_noted = call i1 @count_write(ptr %table, ptr %result)
  br i1 %is_noted, label %give_first, label %not_counted
not_counted:
  call void %drop(ptr %result)
  ret ptr null
give_first:
  %first_handle = load ptr, ptr %given
  call void %hold(ptr %first_handle)
  call void %drop(ptr %result)
  ret ptr %first_handle
new_array:
  %view_flag = and i64 %flags, 1
  %is_view = icmp ne i64 %view_flag, 0
  br i1 %is_view, label %new_view, label %new_tensor
new_tensor:
  %handle = call ptr @new_handle(ptr %table, ptr %result, i64 %flags)
  %is_handle = icmp ne ptr %handle, null
  br i1 %is_handle, label %give_handle, label %slow
give_handle:
  ret ptr %handle
new_view:
  %was_wanted = load i64, ptr %wanted
  %is_plain_view = icmp eq i64 %was_wanted, 0
  br i1 %is_plain_view, label %plain_view, label %others
plain_view:
  %base = load ptr, ptr %given
  %view = call ptr @one_view(ptr %table, ptr %result, ptr %base)
  ret ptr %view
others:
  store ptr %result, ptr %values
  br label %pass
pass:
  %p = phi i64 [0, %others], [%p1, %pass_one]
  %more_given = icmp ult i64 %p, %total
  br i1 %more_given, label %pass_one, label %finish_there
pass_one:
  %p1 = add i64 %p, 1
  %from_place = getelementptr ptr, ptr %given, i64 %p
  %passed = load ptr, ptr %from_place
  %to_place = getelementptr ptr, ptr %values, i64 %p1
  store ptr %passed, ptr %to_place
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
