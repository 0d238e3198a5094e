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
  %base = load ptr, ptr %array at i8 {owner_at}
  br not eq ptr %base, null, label %kind
  ret ptr %array
kind:
  %type = load ptr, ptr %base at i8 {type_at}
  br not eq ptr %type, %array_type, label %unclear
  %below = load ptr, ptr %base at i8 {owner_at}
  br not eq ptr %below, null, label %unclear
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
  br eq ptr %found, null, label %failed
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
  %type = load ptr, ptr %base at i8 {type_at}
  br not eq ptr %type, %tensor_type, label %no
  %base_bytes = ptrtoint ptr %base_slot to i64
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %slot_bytes = ptrtoint ptr %slot to i64
  %deeper = load ptr, ptr %base at i8 %base_bytes
  %wants = load ptr, ptr %base at i8 %wants_bytes
  %own_wants = load ptr, ptr %tensor at i8 %wants_bytes
  %array = load ptr, ptr %base at i8 %slot_bytes
  %its_owner = call ptr @plain_owner(ptr %table, ptr %array)
  %is_root = icmp eq ptr %deeper, %none
  %is_wanted = icmp eq ptr %wants, %always
  %are_wanted = icmp eq ptr %own_wants, %wants
  %is_same = icmp eq ptr %its_owner, %owner
  %first_two = and i1 %is_root, %is_wanted
  %other_two = and i1 %are_wanted, %is_same
  %fits = and i1 %first_two, %other_two
  br not i1 %fits, label %no
  %is_made = call i1 @has_history(ptr %table, ptr %book, ptr %base)
  br not i1 %is_made, label %no
  %is_free = call i1 @is_free_view(ptr %table, ptr %tensor)
  br not i1 %is_free, label %no
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
  %arguments = load ptr, ptr %told at i64 6
  %memory = call ptr @first_of(ptr %memories)
  %is_usual = icmp eq ptr %memory, %never
  %watching = load i64, ptr %watched at i8 {head}
  %is_unwatched = icmp eq i64 %watching, 0
  %are_floats = call i1 @is_of_floats(ptr %array)
  %owner = call ptr @plain_owner(ptr %table, ptr %array)
  %is_owned = icmp ne ptr %owner, null
  %first_two = and i1 %is_usual, %is_unwatched
  %next_two = and i1 %are_floats, %is_owned
  %four = and i1 %first_two, %next_two
  br i1 %four, label %others, label %no
others:
  %count = load i64, ptr %told at i64 5
  %flags = load i64, ptr %told at i64 1
  %list_flag = and i64 %flags, 32
  %is_listed = icmp ne i64 %list_flag, 0
  %list_at = load i64, ptr %told at i64 16
next:
  %i = phi i64 [1, %others], [%i1, %fits]
  br not ult i64 %i, %count, label %lists
  %i1 = add i64 %i, 1
  %at = mul i64 %i, 4
  %mask = load i64, ptr %arguments at i64 %at
  br not sgt i64 %mask, 0, label %fits
  %is_behind = icmp ugt i64 %i, %list_at
  %is_moved = and i1 %is_behind, %is_listed
  %less = zext i1 %is_moved to i64
  %its_at = sub i64 %i, %less
  %its_array = load ptr, ptr %values at ptr %its_at
  %is_apart = call i1 @is_apart(ptr %table, ptr %its_array, ptr %owner)
  br i1 %is_apart, label %fits, label %no
fits:
  br label %next
lists:
  %length = load i64, ptr %told at i64 19
  %in_list = select i1 %is_listed, i64 %length, i64 0
next_listed:
  %j = phi i64 [0, %lists], [%j1, %look_listed]
  br ult i64 %j, %in_list, label %look_listed, label %whose
look_listed:
  %j1 = add i64 %j, 1
  %listed = load ptr, ptr %arrays at ptr %j
  %is_listed_apart = call i1 @is_apart(ptr %table, ptr %listed, ptr %owner)
  br i1 %is_listed_apart, label %next_listed, label %no
whose:
  %is_unkept = call i1 @says(ptr %table, ptr %tensor, ptr %retains_word, ptr %never)
  %base_bytes = ptrtoint ptr %base_slot to i64
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %base = load ptr, ptr %tensor at i8 %base_bytes
  %wants = load ptr, ptr %tensor at i8 %wants_bytes
  br not i1 %is_unkept, label %no
  br not eq ptr %base, %none, label %view
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
  %arguments = load ptr, ptr %told at i64 6
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
  br not i1 %is_read, label %itself
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
  br eq ptr %tuple, null, label %done
  %base_address = load i64, ptr %base at i8 {head}
  %view_address = load i64, ptr %view at i8 {head}
  %distance = sub i64 %view_address, %base_address
  %begin = call ptr %make_int(i64 %distance)
  %dtype = load ptr, ptr %base at i8 {dtype_at}
  %kind = load ptr, ptr %view at i8 {dtype_at}
  call void %hold(ptr %dtype)
  call void %hold(ptr %kind)
  %shape = call ptr @numbers_of(ptr %table, ptr %base, i64 {sizes_at})
  %strides = call ptr @numbers_of(ptr %table, ptr %base, i64 {strides_at})
  %sizes = call ptr @numbers_of(ptr %table, ptr %view, i64 {sizes_at})
  %steps = call ptr @numbers_of(ptr %table, ptr %view, i64 {strides_at})
  %first = getelementptr i8, ptr %tuple, i64 {tuple_at}
  store ptr %begin, ptr %first
  store ptr %dtype, ptr %first at ptr 1
  store ptr %shape, ptr %first at ptr 2
  store ptr %strides, ptr %first at ptr 3
  store ptr %kind, ptr %first at ptr 4
  store ptr %sizes, ptr %first at ptr 5
  store ptr %steps, ptr %first at ptr 6
done:
  ret ptr %tuple
}

define internal ptr @edges_of_part(ptr %table, ptr %edges, ptr %edge, ptr %own) {
entry:
{front_loads}
  %count = load i64, ptr %edges at i8 {head}
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
  br eq ptr %own, %none, label %more_room, label %exchange
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
make:
  %its_own = phi i64 [%place, %exchange], [-1, %more_room]
  %room = phi i64 [%count, %exchange], [%larger, %more_room]
  %made = call ptr %make_tuple(i64 %room)
  br eq ptr %made, null, label %done, label %begin
begin:
  %first = getelementptr i8, ptr %made, i64 {tuple_at}
  call void %hold(ptr %edge)
  store ptr %edge, ptr %first
next:
  %i = phi i64 [0, %begin], [%i1, %taken]
  %to = phi i64 [1, %begin], [%to1, %taken]
  br ult i64 %i, %count, label %look, label %done
look:
  %i1 = add i64 %i, 1
  br eq i64 %i, %its_own, label %taken, label %take
take:
  %one = load ptr, ptr %items at ptr %i
  call void %hold(ptr %one)
  store ptr %one, ptr %first at ptr %to
  %after = add i64 %to, 1
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
  %array = load ptr, ptr %tensor at i8 %slot_bytes
  %base_array = load ptr, ptr %base at i8 %slot_bytes
  %own = load ptr, ptr %told at i64 25
  %edges_bytes = ptrtoint ptr %n_edges to i64
  %inner_edges = load ptr, ptr %inner at i8 %edges_bytes
  %results_bytes = ptrtoint ptr %n_results to i64
  %results = load ptr, ptr %inner at i8 %results_bytes
  %kept = load i64, ptr %results at i8 {head}
  %edge = call ptr @edge_from(ptr %table, ptr %book, ptr %base, ptr %base_array)
  br eq ptr %edge, null, label %failed
  %made = call ptr @instance(ptr %part_type)
  br eq ptr %made, null, label %drop_edge
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
  br not ne i64 %kept, 0, label %whether_whole
  %reference = call ptr %refer(ptr %made, ptr null)
  call void @put(ptr %inner, ptr %n_writes_for, ptr %reference)
whether_whole:
  %no_edges = icmp eq ptr %edges, null
  %no_lies = icmp eq ptr %lies, null
  %is_short = or i1 %no_edges, %no_lies
  br i1 %is_short, label %drop_made
  ret ptr %made
drop_made:
  call void %drop(ptr %made)
  br label %failed
drop_edge:
  call void %drop(ptr %edge)
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
  %wants_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %base = load ptr, ptr %tensor at i8 %base_bytes
  br not eq ptr %base, %none, label %view
  %wanted = load ptr, ptr %wants_place
  call void %hold(ptr %always)
  store ptr %always, ptr %wants_place
  call void %drop(ptr %wanted)
  %is_set = call i1 @be_history(ptr %table, ptr %book, ptr %tensor, ptr %node)
  ret i1 %is_set
view:
  %whole = call ptr @node_of_part(ptr %table, ptr %told, ptr %tensor, ptr %base, ptr %node)
  br eq ptr %whole, null, label %failed
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
  %watching = load i64, ptr %watched at i8 {head}
  br not eq i64 %watching, 0, label %ask
  %owner = call ptr @plain_owner(ptr %table, ptr %array)
  %number = ptrtoint ptr %owner to i64
  %key = call ptr %make_int(i64 %number)
  br eq ptr %key, null, label %failed
  %found = call ptr %item_of(ptr %counts, ptr %key)
  call void %drop(ptr %key)
  br eq ptr %found, null, label %ask
  %items = load ptr, ptr %found at i8 {list_at}
  %times_place = getelementptr ptr, ptr %items, i64 1
  %last_place = getelementptr ptr, ptr %items, i64 2
  %mode = load ptr, ptr %items at ptr 3
  br not eq ptr %mode, %never, label %ask
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
  br eq ptr %noted, null, label %failed
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
  br not i1 %is_counted, label %drop_edges
  %slot_bytes = ptrtoint ptr %slot to i64
  %before_array = load ptr, ptr %before at i8 %slot_bytes
  store ptr %before, ptr %handles
  store ptr %before_array, ptr %values
  %smooth = call i64 @active_mask(ptr %table, ptr %told, ptr %edges)
  %node = call ptr @new_node(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
i64 %smooth, ptr %tensors, ptr %arrays)
  br eq ptr %node, null, label %failed
  %kept = call ptr @kept_results(ptr %table, ptr %told, ptr %tensor, ptr %result, i64 %smooth)
  br eq ptr %kept, null, label %drop_node
  call void @put(ptr %node, ptr %n_results, ptr %kept)
  %is_told = call i1 @give_history(ptr %table, ptr %told, ptr %tensor, ptr %node)
  br not i1 %is_told, label %drop_node
  call void %drop(ptr %node)
  call void %hold(ptr %tensor)
  ret ptr %tensor
drop_node:
  call void %drop(ptr %node)
  br label %failed
drop_edges:
  call void %drop(ptr %edges)
failed:
  ret ptr null
}
"""
