"""The native code that finds where operands came from (see `records_text`)."""

from __future__ import annotations

from typing import Final

__all__ = ["HISTORY"]

HISTORY: Final = """
define internal ptr @instance(ptr %type) {
  %makes_place = getelementptr i8, ptr %type, i64 {makes_at}
  %makes = load ptr, ptr %makes_place
  %made = call ptr %makes(ptr %type, i64 0)
  ret ptr %made
}

define internal ptr @first_of(ptr %list) {
  %items_place = getelementptr i8, ptr %list, i64 {list_at}
  %items = load ptr, ptr %items_place
  %first = load ptr, ptr %items
  ret ptr %first
}

define internal void @put(ptr %object, ptr %slot, ptr %value) {
  %bytes = ptrtoint ptr %slot to i64
  %place = getelementptr i8, ptr %object, i64 %bytes
  store ptr %value, ptr %place
  ret void
}

define internal i1 @is_of_floats(ptr %array) {
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %dtype = load ptr, ptr %dtype_place
  %kind_place = getelementptr i8, ptr %dtype, i64 {kind_at}
  %kind = load i8, ptr %kind_place
  %is_bool = icmp eq i8 %kind, 98
  %is_int = icmp eq i8 %kind, 105
  %is_unsigned = icmp eq i8 %kind, 117
  %is_signed = or i1 %is_bool, %is_int
  %is_whole = or i1 %is_signed, %is_unsigned
  %is_other = xor i1 %is_whole, true
  ret i1 %is_other
}

define internal i1 @is_first_of_floats(ptr %table, ptr %results) {
entry:
{front_loads}
  %type_place = getelementptr i8, ptr %results, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_tuple = icmp eq ptr %type, %tuple_type
  %is_list = icmp eq ptr %type, %list_type
  %are_several = or i1 %is_tuple, %is_list
  br i1 %are_several, label %measure, label %no
measure:
  %count_place = getelementptr i8, ptr %results, i64 {head}
  %count = load i64, ptr %count_place
  %is_empty = icmp eq i64 %count, 0
  br i1 %is_empty, label %no, label %look
look:
  %items = call ptr @items_of(ptr %table, ptr %results)
  %first = load ptr, ptr %items
  %kind_place = getelementptr i8, ptr %first, i64 {type_at}
  %kind = load ptr, ptr %kind_place
  %is_array = icmp eq ptr %kind, %array_type
  br i1 %is_array, label %ask, label %no
ask:
  %are_floats = call i1 @is_of_floats(ptr %first)
  ret i1 %are_floats
no:
  ret i1 false
}

define internal i64 @kept_version(ptr %table, ptr %book, ptr %array) {
entry:
  %asked = alloca ptr
{front_loads}
{book_loads}
  %memory = call ptr @first_of(ptr %memories)
  %is_usual = icmp eq ptr %memory, %never
  br i1 %is_usual, label %look, label %ask
look:
  %used_place = getelementptr i8, ptr %counts, i64 {head}
  %used = load i64, ptr %used_place
  %is_empty = icmp eq i64 %used, 0
  br i1 %is_empty, label %none_written, label %own
own:
  %base_place = getelementptr i8, ptr %array, i64 {owner_at}
  %base = load ptr, ptr %base_place
  %is_own = icmp eq ptr %base, null
  br i1 %is_own, label %count, label %kind
kind:
  %type_place = getelementptr i8, ptr %base, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %deeper, label %ask
deeper:
  %deeper_place = getelementptr i8, ptr %base, i64 {owner_at}
  %below = load ptr, ptr %deeper_place
  %is_last = icmp eq ptr %below, null
  br i1 %is_last, label %count, label %ask
count:
  %owner = phi ptr [%array, %own], [%base, %deeper]
  %number = ptrtoint ptr %owner to i64
  %key = call ptr %make_int(i64 %number)
  %is_failed = icmp eq ptr %key, null
  br i1 %is_failed, label %failed, label %find
find:
  %found = call ptr %item_of(ptr %counts, ptr %key)
  call void %drop(ptr %key)
  %is_none = icmp eq ptr %found, null
  br i1 %is_none, label %none_written, label %counted
counted:
  %items_place = getelementptr i8, ptr %found, i64 {list_at}
  %items = load ptr, ptr %items_place
  %times_place = getelementptr ptr, ptr %items, i64 1
  %times = load ptr, ptr %times_place
  %version = call i64 %as_int(ptr %times)
  ret i64 %version
ask:
  store ptr %array, ptr %asked
  %answer = call ptr %call_with(ptr %ask_version, ptr %asked, i64 1, ptr null)
  %is_raised = icmp eq ptr %answer, null
  br i1 %is_raised, label %failed, label %answered
answered:
  %said = call i64 %as_int(ptr %answer)
  call void %drop(ptr %answer)
  ret i64 %said
none_written:
  ret i64 0
failed:
  ret i64 -1
}

define internal ptr @leaf_node(ptr %table, ptr %book, ptr %tensor) {
entry:
{front_loads}
{book_loads}
  %mode = call ptr %attribute(ptr %tensor, ptr %unwatched_name)
  %is_unknown = icmp eq ptr %mode, null
  br i1 %is_unknown, label %failed, label %compare
compare:
  call void %drop(ptr %mode)
  %is_watched = icmp eq ptr %mode, %no_word
  br i1 %is_watched, label %known, label %left
known:
  %before = call ptr %attribute(ptr %tensor, ptr %end_word)
  %is_lost = icmp eq ptr %before, null
  br i1 %is_lost, label %failed, label %look
look:
  %is_first = icmp eq ptr %before, %none
  br i1 %is_first, label %make, label %ask
ask:
  %found = call ptr %call(ptr %before)
  %is_failed = icmp eq ptr %found, null
  br i1 %is_failed, label %forget, label %asked
asked:
  %is_gone = icmp eq ptr %found, %none
  br i1 %is_gone, label %again, label %old
old:
  call void %drop(ptr %before)
  ret ptr %found
again:
  call void %drop(ptr %found)
  br label %make
make:
  %made = call ptr @instance(ptr %end_type)
  %edges = call ptr %make_tuple(i64 0)
  %number = call ptr %next_of(ptr %numbers)
  %no_object = icmp eq ptr %made, null
  %no_list = icmp eq ptr %edges, null
  %no_number = icmp eq ptr %number, null
  %is_short = or i1 %no_object, %no_list
  %is_shorter = or i1 %is_short, %no_number
  br i1 %is_shorter, label %forget, label %fill
fill:
  %newest = call i64 %as_int(ptr %number)
  call void %drop(ptr %number)
  %latest = ptrtoint ptr %soon to i64
  %sooner = sub i64 %latest, %newest
  %sequence = call ptr %make_int(i64 %sooner)
  call void %hold(ptr %none)
  call void %hold(ptr %no_bounds)
  call void %hold(ptr %tensor)
  call void @put(ptr %made, ptr %n_edges, ptr %edges)
  call void @put(ptr %made, ptr %n_attached, ptr %none)
  call void @put(ptr %made, ptr %n_bounds, ptr %no_bounds)
  call void @put(ptr %made, ptr %n_sequence, ptr %sequence)
  call void @put(ptr %made, ptr %e_variable, ptr %tensor)
  %reference = call ptr %refer(ptr %made, ptr null)
  %now = call ptr %attribute(ptr %tensor, ptr %end_word)
  %busy_place = getelementptr i8, ptr %ending, i64 {head}
  %busy = load i64, ptr %busy_place
  %is_idle = icmp eq i64 %busy, 0
  %is_same = icmp eq ptr %now, %before
  %is_referred = icmp ne ptr %reference, null
  %is_safe = and i1 %is_idle, %is_same
  %may_be = and i1 %is_safe, %is_referred
  br i1 %may_be, label %note, label %refuse
note:
  %noted = call i32 %set_attribute(ptr %tensor, ptr %end_word, ptr %reference)
  call void %drop(ptr %now)
  call void %drop(ptr %reference)
  call void %drop(ptr %before)
  %is_noted = icmp eq i32 %noted, 0
  br i1 %is_noted, label %new, label %unnoted
new:
  ret ptr %made
unnoted:
  call void %drop(ptr %made)
  br label %failed
refuse:
  call void %drop(ptr %now)
  call void %drop(ptr %reference)
  call void %drop(ptr %made)
  br label %forget
forget:
  call void %drop(ptr %before)
  br label %failed
failed:
  call void %forget_error()
  br label %left
left:
  ret ptr null
}

define internal ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %array) {
entry:
  %asked = alloca ptr
{front_loads}
{book_loads}
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %answer_place = getelementptr i8, ptr %tensor, i64 %wants_bytes
  %answer = load ptr, ptr %answer_place
  %is_wanted = icmp eq ptr %answer, %always
  br i1 %is_wanted, label %base, label %no_edge
base:
  %base_bytes = ptrtoint ptr %base_slot to i64
  %base_place = getelementptr i8, ptr %tensor, i64 %base_bytes
  %its_base = load ptr, ptr %base_place
  %is_view = icmp ne ptr %its_base, %none
  br i1 %is_view, label %view, label %origin
view:
  %memory = call ptr @first_of(ptr %memories)
  %is_usual = icmp eq ptr %memory, %never
  br i1 %is_usual, label %compare, label %ask
compare:
  %now = call i64 @kept_version(ptr %table, ptr %book, ptr %array)
  %then_object = call ptr %attribute(ptr %tensor, ptr %version_word)
  %is_unknown = icmp eq ptr %then_object, null
  br i1 %is_unknown, label %failed, label %known
known:
  %then = call i64 %as_int(ptr %then_object)
  call void %drop(ptr %then_object)
  %is_same = icmp eq i64 %now, %then
  br i1 %is_same, label %origin, label %ask
origin:
  %node = call ptr %attribute(ptr %tensor, ptr %node_word)
  %is_lost = icmp eq ptr %node, null
  br i1 %is_lost, label %failed, label %whose
whose:
  %is_leaf = icmp eq ptr %node, %none
  br i1 %is_leaf, label %leaf, label %made
leaf:
  call void %drop(ptr %node)
  %end = call ptr @leaf_node(ptr %table, ptr %book, ptr %tensor)
  %is_unmade = icmp eq ptr %end, null
  br i1 %is_unmade, label %ask, label %first_of_end
first_of_end:
  call void %hold(ptr %zero)
  br label %pair
made:
  %its_number = call ptr %attribute(ptr %tensor, ptr %number_word)
  br label %pair
pair:
  %source = phi ptr [%end, %first_of_end], [%node, %made]
  %number = phi ptr [%zero, %first_of_end], [%its_number, %made]
  %edge = call ptr %make_tuple(i64 2)
  %no_number = icmp eq ptr %number, null
  %no_tuple = icmp eq ptr %edge, null
  %is_short = or i1 %no_number, %no_tuple
  br i1 %is_short, label %failed, label %fill
fill:
  %first = getelementptr i8, ptr %edge, i64 {tuple_at}
  %second = getelementptr ptr, ptr %first, i64 1
  store ptr %source, ptr %first
  store ptr %number, ptr %second
  ret ptr %edge
ask:
  store ptr %tensor, ptr %asked
  %found = call ptr %call_with(ptr %ask_edge, ptr %asked, i64 1, ptr null)
  ret ptr %found
no_edge:
  call void %hold(ptr %none)
  ret ptr %none
failed:
  ret ptr null
}

define internal i64 @turn_of(ptr %table, ptr %book) {
{front_loads}
{book_loads}
  %turn = call ptr @first_of(ptr %turns)
  %number = call i64 %as_int(ptr %turn)
  ret i64 %number
}

define internal i1 @may_record(ptr %table, ptr %book) {
entry:
{front_loads}
{book_loads}
  %turn = call i64 @turn_of(ptr %table, ptr %book)
  %odd = and i64 %turn, 1
  %is_odd = icmp ne i64 %odd, 0
  %anomaly = call ptr @first_of(ptr %anomalies)
  %is_anomaly = icmp ne ptr %anomaly, %never
  %is_refused = or i1 %is_odd, %is_anomaly
  br i1 %is_refused, label %no, label %hooks
hooks:
  %packing = call ptr @first_of(ptr %packings)
  %bound = call ptr @first_of(ptr %bounding)
  %was_packed = icmp ne ptr %packing, %never
  %was_bound = icmp ne ptr %bound, %never
  %is_doubtful = or i1 %was_packed, %was_bound
  br i1 %is_doubtful, label %ask, label %yes
ask:
  %answer = call ptr %call(ptr %is_plain)
  %is_failed = icmp eq ptr %answer, null
  br i1 %is_failed, label %failed, label %told
told:
  call void %drop(ptr %answer)
  %is_so = icmp eq ptr %answer, %always
  br i1 %is_so, label %yes, label %no
yes:
  ret i1 true
failed:
  call void %forget_error()
  br label %no
no:
  ret i1 false
}

define internal ptr @fitting(ptr %told, ptr %values) {
entry:
  br label %next
next:
  %one = phi ptr [%told, %entry], [%other, %differs]
  %is_none = icmp eq ptr %one, null
  br i1 %is_none, label %none, label %look
look:
  %floats_place = getelementptr i64, ptr %one, i64 2
  %whole_place = getelementptr i64, ptr %one, i64 20
  %floats = load i64, ptr %floats_place
  %whole = load i64, ptr %whole_place
  %are_floats = call i1 @are_all(ptr %values, i64 %floats, i1 true)
  %are_whole = call i1 @are_all(ptr %values, i64 %whole, i1 false)
  %fits = and i1 %are_floats, %are_whole
  br i1 %fits, label %found, label %differs
differs:
  %other_place = getelementptr i64, ptr %one, i64 21
  %other = load ptr, ptr %other_place
  br label %next
found:
  ret ptr %one
none:
  ret ptr %told
}

define internal i1 @are_floats(ptr %told, ptr %values) {
  %mask_place = getelementptr i64, ptr %told, i64 2
  %mask = load i64, ptr %mask_place
  %are_so = call i1 @are_all(ptr %values, i64 %mask, i1 true)
  ret i1 %are_so
}

define internal i1 @are_all(ptr %values, i64 %mask, i1 %floats) {
entry:
  br label %next
next:
  %left = phi i64 [%mask, %entry], [%rest, %fits]
  %is_done = icmp eq i64 %left, 0
  br i1 %is_done, label %yes, label %look
look:
  %place = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %less = sub i64 %left, 1
  %rest = and i64 %left, %less
  %array_place = getelementptr ptr, ptr %values, i64 %place
  %array = load ptr, ptr %array_place
  %is_float = call i1 @is_of_floats(ptr %array)
  %is_so = icmp eq i1 %is_float, %floats
  br i1 %is_so, label %fits, label %no
fits:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

declare i64 @llvm.cttz.i64(i64, i1)

define internal ptr @edges_from(ptr %table, ptr %told, ptr %handles, ptr %values) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %count_place = getelementptr i64, ptr %told, i64 3
  %places_place = getelementptr i64, ptr %told, i64 4
  %count = load i64, ptr %count_place
  %places = load ptr, ptr %places_place
  %may_be = call i1 @may_record(ptr %table, ptr %book)
  br i1 %may_be, label %check, label %no
check:
  %turn = call i64 @turn_of(ptr %table, ptr %book)
  %fit = call i1 @are_floats(ptr %told, ptr %values)
  br i1 %fit, label %begin, label %no
begin:
  %edges = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %edges, null
  br i1 %is_failed, label %failed, label %fill
fill:
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
  br label %next
next:
  %i = phi i64 [0, %fill], [%i1, %found]
  %some = phi i1 [false, %fill], [%some1, %found]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %place_place = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %place_place
  %tensor_place = getelementptr ptr, ptr %handles, i64 %place
  %array_place = getelementptr ptr, ptr %values, i64 %place
  %tensor = load ptr, ptr %tensor_place
  %array = load ptr, ptr %array_place
  %edge = call ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %array)
  %is_lost = icmp eq ptr %edge, null
  br i1 %is_lost, label %drop_list, label %found
found:
  %item = getelementptr ptr, ptr %items, i64 %i
  store ptr %edge, ptr %item
  %is_edge = icmp ne ptr %edge, %none
  %some1 = or i1 %some, %is_edge
  %i1 = add i64 %i, 1
  br label %next
done:
  %turn_now = call i64 @turn_of(ptr %table, ptr %book)
  %is_settled = icmp eq i64 %turn_now, %turn
  %is_well = and i1 %is_settled, %some
  br i1 %is_well, label %yes, label %drop_list
yes:
  ret ptr %edges
drop_list:
  call void %drop(ptr %edges)
  br label %failed
failed:
  call void %forget_error()
  br label %no
no:
  ret ptr null
}

define internal i64 @active_mask(ptr %table, ptr %told, ptr %edges) {
entry:
{front_loads}
  %count_place = getelementptr i64, ptr %told, i64 3
  %places_place = getelementptr i64, ptr %told, i64 4
  %count = load i64, ptr %count_place
  %places = load ptr, ptr %places_place
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  %mask = phi i64 [0, %entry], [%mask1, %look]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %item = getelementptr ptr, ptr %items, i64 %i
  %edge = load ptr, ptr %item
  %is_edge = icmp ne ptr %edge, %none
  %place_place = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %place_place
  %bit = shl i64 1, %place
  %adds = select i1 %is_edge, i64 %bit, i64 0
  %mask1 = or i64 %mask, %adds
  %i1 = add i64 %i, 1
  br label %next
done:
  ret i64 %mask
}

define internal i1 @are_whole(ptr %told, ptr %arrays) {
entry:
  %count_place = getelementptr i64, ptr %told, i64 19
  %count = load i64, ptr %count_place
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %fits]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %array_place = getelementptr ptr, ptr %arrays, i64 %i
  %array = load ptr, ptr %array_place
  %is_float = call i1 @is_of_floats(ptr %array)
  br i1 %is_float, label %no, label %fits
fits:
  %i1 = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}
"""
