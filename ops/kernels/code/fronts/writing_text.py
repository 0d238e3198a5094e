"""The native code that records eager calls which write their first argument (see `records_text`).

Such a call is left to Python, before it has run, unless what its node keeps is sure to be as it
will be read: nothing of what was written over, nothing that shares memory with it, and no leaf.
Of views there are those of a tensor that is none, with nothing said of how they were made.
"""

from __future__ import annotations

from typing import Final

__all__ = ["WRITING"]

WRITING: Final = """
define internal ptr @plain_owner(ptr %table, ptr %array) {
entry:
{front_loads}
  %base_place = getelementptr i8, ptr %array, i64 {owner_at}
  %base = load ptr, ptr %base_place
  %is_own = icmp eq ptr %base, null
  br i1 %is_own, label %own, label %kind
own:
  ret ptr %array
kind:
  %type_place = getelementptr i8, ptr %base, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %deeper, label %unclear
deeper:
  %deeper_place = getelementptr i8, ptr %base, i64 {owner_at}
  %below = load ptr, ptr %deeper_place
  %is_last = icmp eq ptr %below, null
  br i1 %is_last, label %last, label %unclear
last:
  ret ptr %base
unclear:
  ret ptr null
}

define internal i1 @is_apart(ptr %table, ptr %array, ptr %owner) {
  %its = call ptr @plain_owner(ptr %table, ptr %array)
  %is_clear = icmp ne ptr %its, null
  %is_other = icmp ne ptr %its, %owner
  %is_so = and i1 %is_clear, %is_other
  ret i1 %is_so
}

define internal i1 @says(ptr %table, ptr %tensor, ptr %name, ptr %object) {
entry:
{front_loads}
  %found = call ptr %attribute(ptr %tensor, ptr %name)
  %is_unknown = icmp eq ptr %found, null
  br i1 %is_unknown, label %failed, label %compare
compare:
  call void %drop(ptr %found)
  %is_it = icmp eq ptr %found, %object
  ret i1 %is_it
failed:
  call void %forget_error()
  ret i1 false
}

define internal i1 @has_history(ptr %table, ptr %book, ptr %tensor) {
entry:
{front_loads}
{book_loads}
  %is_leaf = call i1 @says(ptr %table, ptr %tensor, ptr %node_word, ptr %none)
  %is_kept = call i1 @says(ptr %table, ptr %tensor, ptr %retains_word, ptr %never)
  %comes = xor i1 %is_leaf, true
  %is_so = and i1 %comes, %is_kept
  ret i1 %is_so
}

define internal i1 @is_free_view(ptr %table, ptr %tensor) {
entry:
{front_loads}
  %is_watched = call i1 @says(ptr %table, ptr %tensor, ptr %unwatched_name, ptr %no_word)
  %is_alone = call i1 @says(ptr %table, ptr %tensor, ptr %among_name, ptr %none)
  %is_so = and i1 %is_watched, %is_alone
  ret i1 %is_so
}

define internal i1 @may_write_view(ptr %table, ptr %book, ptr %tensor, ptr %base, ptr %owner) {
entry:
{front_loads}
{book_loads}
  %type_place = getelementptr i8, ptr %base, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_tensor = icmp eq ptr %type, %tensor_type
  br i1 %is_tensor, label %look, label %no
look:
  %base_bytes = ptrtoint ptr %base_slot to i64
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %slot_bytes = ptrtoint ptr %slot to i64
  %deeper_place = getelementptr i8, ptr %base, i64 %base_bytes
  %wants_place = getelementptr i8, ptr %base, i64 %wants_bytes
  %own_wants_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %array_place = getelementptr i8, ptr %base, i64 %slot_bytes
  %deeper = load ptr, ptr %deeper_place
  %wants = load ptr, ptr %wants_place
  %own_wants = load ptr, ptr %own_wants_place
  %array = load ptr, ptr %array_place
  %its_owner = call ptr @plain_owner(ptr %table, ptr %array)
  %is_root = icmp eq ptr %deeper, %none
  %is_wanted = icmp eq ptr %wants, %always
  %are_wanted = icmp eq ptr %own_wants, %wants
  %is_same = icmp eq ptr %its_owner, %owner
  %first_two = and i1 %is_root, %is_wanted
  %other_two = and i1 %are_wanted, %is_same
  %fits = and i1 %first_two, %other_two
  br i1 %fits, label %ask, label %no
ask:
  %is_made = call i1 @has_history(ptr %table, ptr %book, ptr %base)
  br i1 %is_made, label %ask_view, label %no
ask_view:
  %is_free = call i1 @is_free_view(ptr %table, ptr %tensor)
  br i1 %is_free, label %ask_base, label %no
ask_base:
  %is_free_base = call i1 @is_free_view(ptr %table, ptr %base)
  ret i1 %is_free_base
no:
  ret i1 false
}

define internal i1 @may_write(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %arrays) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %tensor = load ptr, ptr %handles
  %array = load ptr, ptr %values
  %arguments_place = getelementptr i64, ptr %told, i64 6
  %arguments = load ptr, ptr %arguments_place
  %memory = call ptr @first_of(ptr %memories)
  %is_usual = icmp eq ptr %memory, %never
  %watched_place = getelementptr i8, ptr %watched, i64 {head}
  %watching = load i64, ptr %watched_place
  %is_unwatched = icmp eq i64 %watching, 0
  %are_floats = call i1 @is_of_floats(ptr %array)
  %owner = call ptr @plain_owner(ptr %table, ptr %array)
  %is_owned = icmp ne ptr %owner, null
  %first_two = and i1 %is_usual, %is_unwatched
  %next_two = and i1 %are_floats, %is_owned
  %four = and i1 %first_two, %next_two
  br i1 %four, label %others, label %no
others:
  %count_place = getelementptr i64, ptr %told, i64 5
  %count = load i64, ptr %count_place
  %flags_place = getelementptr i64, ptr %told, i64 1
  %flags = load i64, ptr %flags_place
  %list_flag = and i64 %flags, 32
  %is_listed = icmp ne i64 %list_flag, 0
  %list_word = getelementptr i64, ptr %told, i64 16
  %list_at = load i64, ptr %list_word
  br label %next
next:
  %i = phi i64 [1, %others], [%i1, %fits]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %lists
look:
  %i1 = add i64 %i, 1
  %at = mul i64 %i, 4
  %words = getelementptr i64, ptr %arguments, i64 %at
  %mask = load i64, ptr %words
  %is_kept = icmp sgt i64 %mask, 0
  br i1 %is_kept, label %compare, label %fits
compare:
  %is_behind = icmp ugt i64 %i, %list_at
  %is_moved = and i1 %is_behind, %is_listed
  %less = zext i1 %is_moved to i64
  %its_at = sub i64 %i, %less
  %its_place = getelementptr ptr, ptr %values, i64 %its_at
  %its_array = load ptr, ptr %its_place
  %is_apart = call i1 @is_apart(ptr %table, ptr %its_array, ptr %owner)
  br i1 %is_apart, label %fits, label %no
fits:
  br label %next
lists:
  %length_place = getelementptr i64, ptr %told, i64 19
  %length = load i64, ptr %length_place
  %in_list = select i1 %is_listed, i64 %length, i64 0
  br label %next_listed
next_listed:
  %j = phi i64 [0, %lists], [%j1, %look_listed]
  %more_listed = icmp ult i64 %j, %in_list
  br i1 %more_listed, label %look_listed, label %whose
look_listed:
  %j1 = add i64 %j, 1
  %listed_place = getelementptr ptr, ptr %arrays, i64 %j
  %listed = load ptr, ptr %listed_place
  %is_listed_apart = call i1 @is_apart(ptr %table, ptr %listed, ptr %owner)
  br i1 %is_listed_apart, label %next_listed, label %no
whose:
  %is_unkept = call i1 @says(ptr %table, ptr %tensor, ptr %retains_word, ptr %never)
  %base_bytes = ptrtoint ptr %base_slot to i64
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %base_place = getelementptr i8, ptr %tensor, i64 %base_bytes
  %wants_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %base = load ptr, ptr %base_place
  %wants = load ptr, ptr %wants_place
  br i1 %is_unkept, label %whether_view, label %no
whether_view:
  %is_root = icmp eq ptr %base, %none
  br i1 %is_root, label %root, label %view
root:
  %is_leaf = call i1 @says(ptr %table, ptr %tensor, ptr %node_word, ptr %none)
  %unless_leaf = select i1 %is_leaf, ptr %never, ptr %always
  %is_told_so = icmp eq ptr %wants, %unless_leaf
  ret i1 %is_told_so
view:
  %may = call i1 @may_write_view(ptr %table, ptr %book, ptr %tensor, ptr %base, ptr %owner)
  ret i1 %may
no:
  ret i1 false
}

define internal i1 @is_read_of(ptr %table, ptr %told, ptr %edges) {
entry:
  %arguments_place = getelementptr i64, ptr %told, i64 6
  %arguments = load ptr, ptr %arguments_place
  %mask = load i64, ptr %arguments
  %smooth = call i64 @active_mask(ptr %table, ptr %told, ptr %edges)
  %needs = and i64 %mask, %smooth
  %is_some = icmp ne i64 %needs, 0
  %is_tensor = icmp sge i64 %mask, 0
  %is_so = and i1 %is_some, %is_tensor
  ret i1 %is_so
}

define internal ptr @kept_before(ptr %table, ptr %told, ptr %handles, ptr %edges) {
entry:
  %given = alloca ptr
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %tensor = load ptr, ptr %handles
  %is_read = call i1 @is_read_of(ptr %table, ptr %told, ptr %edges)
  br i1 %is_read, label %copy, label %itself
copy:
  store ptr %tensor, ptr %given
  %made = call ptr %call_with(ptr %copy_before, ptr %given, i64 1, ptr null)
  ret ptr %made
itself:
  call void %hold(ptr %tensor)
  ret ptr %tensor
}

define internal ptr @lies_of(ptr %table, ptr %base, ptr %view) {
entry:
{front_loads}
  %tuple = call ptr %make_tuple(i64 7)
  %is_failed = icmp eq ptr %tuple, null
  br i1 %is_failed, label %done, label %fill
fill:
  %base_place = getelementptr i8, ptr %base, i64 {head}
  %view_place = getelementptr i8, ptr %view, i64 {head}
  %base_address = load i64, ptr %base_place
  %view_address = load i64, ptr %view_place
  %distance = sub i64 %view_address, %base_address
  %begin = call ptr %make_int(i64 %distance)
  %dtype_place = getelementptr i8, ptr %base, i64 {dtype_at}
  %kind_place = getelementptr i8, ptr %view, i64 {dtype_at}
  %dtype = load ptr, ptr %dtype_place
  %kind = load ptr, ptr %kind_place
  call void %hold(ptr %dtype)
  call void %hold(ptr %kind)
  %shape = call ptr @numbers_of(ptr %table, ptr %base, i64 {sizes_at})
  %strides = call ptr @numbers_of(ptr %table, ptr %base, i64 {strides_at})
  %sizes = call ptr @numbers_of(ptr %table, ptr %view, i64 {sizes_at})
  %steps = call ptr @numbers_of(ptr %table, ptr %view, i64 {strides_at})
  %first = getelementptr i8, ptr %tuple, i64 {tuple_at}
  %second = getelementptr ptr, ptr %first, i64 1
  %third = getelementptr ptr, ptr %first, i64 2
  %fourth = getelementptr ptr, ptr %first, i64 3
  %fifth = getelementptr ptr, ptr %first, i64 4
  %sixth = getelementptr ptr, ptr %first, i64 5
  %seventh = getelementptr ptr, ptr %first, i64 6
  store ptr %begin, ptr %first
  store ptr %dtype, ptr %second
  store ptr %shape, ptr %third
  store ptr %strides, ptr %fourth
  store ptr %kind, ptr %fifth
  store ptr %sizes, ptr %sixth
  store ptr %steps, ptr %seventh
  br label %done
done:
  ret ptr %tuple
}

define internal ptr @edges_of_part(ptr %table, ptr %edges, ptr %edge, ptr %own) {
entry:
{front_loads}
  %count_place = getelementptr i8, ptr %edges, i64 {head}
  %count = load i64, ptr %count_place
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
  %is_other = icmp eq ptr %own, %none
  br i1 %is_other, label %more_room, label %exchange
exchange:
  %place = call i64 %as_int(ptr %own)
  %own_place = getelementptr ptr, ptr %items, i64 %place
  %before = load ptr, ptr %own_place
  call void %hold(ptr %edge)
  store ptr %edge, ptr %own_place
  call void %drop(ptr %before)
  br label %make
more_room:
  %larger = add i64 %count, 1
  br label %make
make:
  %its_own = phi i64 [%place, %exchange], [-1, %more_room]
  %room = phi i64 [%count, %exchange], [%larger, %more_room]
  %made = call ptr %make_tuple(i64 %room)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %done, label %begin
begin:
  %first = getelementptr i8, ptr %made, i64 {tuple_at}
  call void %hold(ptr %edge)
  store ptr %edge, ptr %first
  br label %next
next:
  %i = phi i64 [0, %begin], [%i1, %taken]
  %to = phi i64 [1, %begin], [%to1, %taken]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %i1 = add i64 %i, 1
  %is_own = icmp eq i64 %i, %its_own
  br i1 %is_own, label %taken, label %take
take:
  %from_place = getelementptr ptr, ptr %items, i64 %i
  %one = load ptr, ptr %from_place
  %to_place = getelementptr ptr, ptr %first, i64 %to
  call void %hold(ptr %one)
  store ptr %one, ptr %to_place
  %after = add i64 %to, 1
  br label %taken
taken:
  %to1 = phi i64 [%to, %look], [%after, %take]
  br label %next
done:
  ret ptr %made
}

define internal ptr @node_of_part(ptr %table, ptr %told, ptr %tensor, ptr %base, ptr %inner) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %slot_bytes = ptrtoint ptr %slot to i64
  %array_place = getelementptr i8, ptr %tensor, i64 %slot_bytes
  %base_array_place = getelementptr i8, ptr %base, i64 %slot_bytes
  %array = load ptr, ptr %array_place
  %base_array = load ptr, ptr %base_array_place
  %own_place = getelementptr i64, ptr %told, i64 25
  %own = load ptr, ptr %own_place
  %edges_bytes = ptrtoint ptr %n_edges to i64
  %edges_place = getelementptr i8, ptr %inner, i64 %edges_bytes
  %inner_edges = load ptr, ptr %edges_place
  %results_bytes = ptrtoint ptr %n_results to i64
  %results_place = getelementptr i8, ptr %inner, i64 %results_bytes
  %results = load ptr, ptr %results_place
  %kept_place = getelementptr i8, ptr %results, i64 {head}
  %kept = load i64, ptr %kept_place
  %edge = call ptr @edge_from(ptr %table, ptr %book, ptr %base, ptr %base_array)
  %is_lost = icmp eq ptr %edge, null
  br i1 %is_lost, label %failed, label %make
make:
  %made = call ptr @instance(ptr %part_type)
  %is_unmade = icmp eq ptr %made, null
  br i1 %is_unmade, label %drop_edge, label %fill
fill:
  %edges = call ptr @edges_of_part(ptr %table, ptr %inner_edges, ptr %edge, ptr %own)
  %lies = call ptr @lies_of(ptr %table, ptr %base_array, ptr %array)
  %number = call ptr %next_of(ptr %numbers)
  call void %drop(ptr %edge)
  call void %hold(ptr %none)
  call void %hold(ptr %no_bounds)
  call void %hold(ptr %inner)
  call void %hold(ptr %own)
  call void @put(ptr %made, ptr %n_edges, ptr %edges)
  call void @put(ptr %made, ptr %w_lies, ptr %lies)
  call void @put(ptr %made, ptr %n_sequence, ptr %number)
  call void @put(ptr %made, ptr %n_attached, ptr %none)
  call void @put(ptr %made, ptr %n_bounds, ptr %no_bounds)
  call void @put(ptr %made, ptr %w_inner, ptr %inner)
  call void @put(ptr %made, ptr %w_own, ptr %own)
  %has_results = icmp ne i64 %kept, 0
  br i1 %has_results, label %refer_to, label %whether_whole
refer_to:
  %reference = call ptr %refer(ptr %made, ptr null)
  call void @put(ptr %inner, ptr %n_writes_for, ptr %reference)
  br label %whether_whole
whether_whole:
  %no_edges = icmp eq ptr %edges, null
  %no_lies = icmp eq ptr %lies, null
  %is_short = or i1 %no_edges, %no_lies
  br i1 %is_short, label %drop_made, label %done
done:
  ret ptr %made
drop_made:
  call void %drop(ptr %made)
  br label %failed
drop_edge:
  call void %drop(ptr %edge)
  br label %failed
failed:
  ret ptr null
}

define internal i1 @be_history(ptr %table, ptr %book, ptr %tensor, ptr %node) {
{front_loads}
{book_loads}
  %set = call i32 %set_attribute(ptr %tensor, ptr %node_word, ptr %node)
  %first = call i32 %set_attribute(ptr %tensor, ptr %number_word, ptr %zero)
  %both = or i32 %set, %first
  %is_set = icmp eq i32 %both, 0
  ret i1 %is_set
}

define internal i1 @give_history(ptr %table, ptr %told, ptr %tensor, ptr %node) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %base_bytes = ptrtoint ptr %base_slot to i64
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %base_place = getelementptr i8, ptr %tensor, i64 %base_bytes
  %wants_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %base = load ptr, ptr %base_place
  %is_root = icmp eq ptr %base, %none
  br i1 %is_root, label %root, label %view
root:
  %wanted = load ptr, ptr %wants_place
  call void %hold(ptr %always)
  store ptr %always, ptr %wants_place
  call void %drop(ptr %wanted)
  %is_set = call i1 @be_history(ptr %table, ptr %book, ptr %tensor, ptr %node)
  ret i1 %is_set
view:
  %whole = call ptr @node_of_part(ptr %table, ptr %told, ptr %tensor, ptr %base, ptr %node)
  %is_failed = icmp eq ptr %whole, null
  br i1 %is_failed, label %failed, label %well
well:
  %is_told = call i1 @be_history(ptr %table, ptr %book, ptr %base, ptr %whole)
  call void %drop(ptr %whole)
  %outdated = call i32 %set_attribute(ptr %tensor, ptr %version_word, ptr %behind)
  %is_outdated = icmp eq i32 %outdated, 0
  %are_told = and i1 %is_told, %is_outdated
  ret i1 %are_told
failed:
  ret i1 false
}

define internal i1 @count_write(ptr %table, ptr %array) {
entry:
  %given = alloca ptr
{front_loads}
  %watched_place = getelementptr i8, ptr %watched, i64 {head}
  %watching = load i64, ptr %watched_place
  %is_unwatched = icmp eq i64 %watching, 0
  br i1 %is_unwatched, label %whose, label %ask
whose:
  %owner = call ptr @plain_owner(ptr %table, ptr %array)
  %number = ptrtoint ptr %owner to i64
  %key = call ptr %make_int(i64 %number)
  %is_short = icmp eq ptr %key, null
  br i1 %is_short, label %failed, label %find
find:
  %found = call ptr %item_of(ptr %counts, ptr %key)
  call void %drop(ptr %key)
  %is_first = icmp eq ptr %found, null
  br i1 %is_first, label %ask, label %counted
counted:
  %items_place = getelementptr i8, ptr %found, i64 {list_at}
  %items = load ptr, ptr %items_place
  %times_place = getelementptr ptr, ptr %items, i64 1
  %last_place = getelementptr ptr, ptr %items, i64 2
  %mode_place = getelementptr ptr, ptr %items, i64 3
  %mode = load ptr, ptr %mode_place
  %is_usual = icmp eq ptr %mode, %never
  br i1 %is_usual, label %more, label %ask
more:
  %times = load ptr, ptr %times_place
  %times_word = call i64 %as_int(ptr %times)
  %once_more = add i64 %times_word, 1
  %times_now = call ptr %make_int(i64 %once_more)
  %now = call ptr %next_of(ptr %clock)
  %last = load ptr, ptr %last_place
  store ptr %times_now, ptr %times_place
  store ptr %now, ptr %last_place
  call void %drop(ptr %times)
  call void %drop(ptr %last)
  ret i1 true
ask:
  store ptr %array, ptr %given
  %noted = call ptr %call_with(ptr %written, ptr %given, i64 1, ptr null)
  %is_refused = icmp eq ptr %noted, null
  br i1 %is_refused, label %failed, label %well
well:
  call void %drop(ptr %noted)
  ret i1 true
failed:
  ret i1 false
}

define internal ptr @recorded_write(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
ptr %result, ptr %tensors, ptr %arrays, ptr %before) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %tensor = load ptr, ptr %handles
  %is_counted = call i1 @count_write(ptr %table, ptr %result)
  br i1 %is_counted, label %make, label %drop_edges
make:
  %slot_bytes = ptrtoint ptr %slot to i64
  %before_place = getelementptr i8, ptr %before, i64 %slot_bytes
  %before_array = load ptr, ptr %before_place
  store ptr %before, ptr %handles
  store ptr %before_array, ptr %values
  %smooth = call i64 @active_mask(ptr %table, ptr %told, ptr %edges)
  %node = call ptr @new_node(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
i64 %smooth, ptr %tensors, ptr %arrays)
  %is_none = icmp eq ptr %node, null
  br i1 %is_none, label %failed, label %results
results:
  %kept = call ptr @kept_results(ptr %table, ptr %told, ptr %tensor, ptr %result, i64 %smooth)
  %is_unkept = icmp eq ptr %kept, null
  br i1 %is_unkept, label %drop_node, label %tell
tell:
  call void @put(ptr %node, ptr %n_results, ptr %kept)
  %is_told = call i1 @give_history(ptr %table, ptr %told, ptr %tensor, ptr %node)
  br i1 %is_told, label %done, label %drop_node
done:
  call void %drop(ptr %node)
  call void %hold(ptr %tensor)
  ret ptr %tensor
drop_node:
  call void %drop(ptr %node)
  br label %failed
drop_edges:
  call void %drop(ptr %edges)
  br label %failed
failed:
  ret ptr null
}
"""
