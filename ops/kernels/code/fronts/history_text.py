"""The native code that finds where operands came from (see `records_text`)."""

from __future__ import annotations

from typing import Final

__all__ = ["HISTORY"]

HISTORY: Final = """
define internal ptr @instance(ptr %type) {
  %makes = load ptr, ptr %type at i8 {makes_at}
  %made = call ptr %makes(ptr %type, i64 0)
  ret ptr %made
}

define internal ptr @first_of(ptr %list) {
  %items = load ptr, ptr %list at i8 {list_at}
  %first = load ptr, ptr %items
  ret ptr %first
}

define internal void @put(ptr %object, ptr %slot, ptr %value) {
  %bytes = ptrtoint ptr %slot to i64
  store ptr %value, ptr %object at i8 %bytes
  ret void
}

define internal i1 @is_of_floats(ptr %array) {
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %kind = load i8, ptr %dtype at i8 {kind_at}
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
  %type = load ptr, ptr %results at i8 {type_at}
  %is_tuple = icmp eq ptr %type, %tuple_type
  %is_list = icmp eq ptr %type, %list_type
  %are_several = or i1 %is_tuple, %is_list
  br not i1 %are_several, label %no
  %count = load i64, ptr %results at i8 {head}
  br eq i64 %count, 0, label %no
  %items = call ptr @items_of(ptr %table, ptr %results)
  %first = load ptr, ptr %items
  %kind = load ptr, ptr %first at i8 {type_at}
  br not eq ptr %kind, %array_type, label %no
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
  br not eq ptr %memory, %never, label %ask
  %used = load i64, ptr %counts at i8 {head}
  br eq i64 %used, 0, label %none_written, label %own
own:
  %base = load ptr, ptr %array at i8 {owner_at}
  br eq ptr %base, null, label %count
  %type = load ptr, ptr %base at i8 {type_at}
  br eq ptr %type, %array_type, label %deeper, label %ask
deeper:
  %below = load ptr, ptr %base at i8 {owner_at}
  br eq ptr %below, null, label %count, label %ask
count:
  %owner = phi ptr [%array, %own], [%base, %deeper]
  %number = ptrtoint ptr %owner to i64
  %key = call ptr %make_int(i64 %number)
  br eq ptr %key, null, label %failed
  %found = call ptr %item_of(ptr %counts, ptr %key)
  call void %drop(ptr %key)
  br eq ptr %found, null, label %none_written
  %items = load ptr, ptr %found at i8 {list_at}
  %times = load ptr, ptr %items at ptr 1
  %version = call i64 %as_int(ptr %times)
  ret i64 %version
ask:
  store ptr %array, ptr %asked
  %answer = call ptr %call_with(ptr %ask_version, ptr %asked, i64 1, ptr null)
  br eq ptr %answer, null, label %failed
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
  br eq ptr %mode, null, label %failed
  call void %drop(ptr %mode)
  br not eq ptr %mode, %no_word, label %left
  %before = call ptr %attribute(ptr %tensor, ptr %end_word)
  br eq ptr %before, null, label %failed
  br eq ptr %before, %none, label %make
  %found = call ptr %call(ptr %before)
  br eq ptr %found, null, label %forget
  br eq ptr %found, %none, label %again
  call void %drop(ptr %before)
  ret ptr %found
again:
  call void %drop(ptr %found)
make:
  %made = call ptr @instance(ptr %end_type)
  %edges = call ptr %make_tuple(i64 0)
  %number = call ptr %next_of(ptr %numbers)
  %no_object = icmp eq ptr %made, null
  %no_list = icmp eq ptr %edges, null
  %no_number = icmp eq ptr %number, null
  %is_short = or i1 %no_object, %no_list
  %is_shorter = or i1 %is_short, %no_number
  br i1 %is_shorter, label %forget
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
  %busy = load i64, ptr %ending at i8 {head}
  %is_idle = icmp eq i64 %busy, 0
  %is_same = icmp eq ptr %now, %before
  %is_referred = icmp ne ptr %reference, null
  %is_safe = and i1 %is_idle, %is_same
  %may_be = and i1 %is_safe, %is_referred
  br not i1 %may_be, label %refuse
  %noted = call i32 %set_attribute(ptr %tensor, ptr %end_word, ptr %reference)
  call void %drop(ptr %now)
  call void %drop(ptr %reference)
  call void %drop(ptr %before)
  br not eq i32 %noted, 0, label %unnoted
  ret ptr %made
unnoted:
  call void %drop(ptr %made)
  br label %failed
refuse:
  call void %drop(ptr %now)
  call void %drop(ptr %reference)
  call void %drop(ptr %made)
forget:
  call void %drop(ptr %before)
failed:
  call void %forget_error()
left:
  ret ptr null
}

define internal ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %array) {
entry:
  %asked = alloca ptr
{front_loads}
{book_loads}
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  %answer = load ptr, ptr %tensor at i8 %wants_bytes
  br not eq ptr %answer, %always, label %no_edge
  %base_bytes = ptrtoint ptr %base_slot to i64
  %its_base = load ptr, ptr %tensor at i8 %base_bytes
  br not ne ptr %its_base, %none, label %origin
  %memory = call ptr @first_of(ptr %memories)
  br not eq ptr %memory, %never, label %ask
  %now = call i64 @kept_version(ptr %table, ptr %book, ptr %array)
  %then_object = call ptr %attribute(ptr %tensor, ptr %version_word)
  br eq ptr %then_object, null, label %failed
  %then = call i64 %as_int(ptr %then_object)
  call void %drop(ptr %then_object)
  br eq i64 %now, %then, label %origin, label %ask
origin:
  %node = call ptr %attribute(ptr %tensor, ptr %node_word)
  br eq ptr %node, null, label %failed
  br not eq ptr %node, %none, label %made
  call void %drop(ptr %node)
  %end = call ptr @leaf_node(ptr %table, ptr %book, ptr %tensor)
  br eq ptr %end, null, label %ask, label %first_of_end
first_of_end:
  call void %hold(ptr %zero)
  br label %pair
made:
  %its_number = call ptr %attribute(ptr %tensor, ptr %number_word)
pair:
  %source = phi ptr [%end, %first_of_end], [%node, %made]
  %number = phi ptr [%zero, %first_of_end], [%its_number, %made]
  %edge = call ptr %make_tuple(i64 2)
  %no_number = icmp eq ptr %number, null
  %no_tuple = icmp eq ptr %edge, null
  %is_short = or i1 %no_number, %no_tuple
  br i1 %is_short, label %failed
  %first = getelementptr i8, ptr %edge, i64 {tuple_at}
  store ptr %source, ptr %first
  store ptr %number, ptr %first at ptr 1
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
  br i1 %is_refused, label %no
  %packing = call ptr @first_of(ptr %packings)
  %bound = call ptr @first_of(ptr %bounding)
  %was_packed = icmp ne ptr %packing, %never
  %was_bound = icmp ne ptr %bound, %never
  %is_doubtful = or i1 %was_packed, %was_bound
  br not i1 %is_doubtful, label %yes
  %answer = call ptr %call(ptr %is_plain)
  br eq ptr %answer, null, label %failed
  call void %drop(ptr %answer)
  br eq ptr %answer, %always, label %yes, label %no
yes:
  ret i1 true
failed:
  call void %forget_error()
no:
  ret i1 false
}

define internal ptr @fitting(ptr %told, ptr %values) {
entry:
next:
  %one = phi ptr [%told, %entry], [%other, %differs]
  br eq ptr %one, null, label %none
  %floats = load i64, ptr %one at i64 2
  %whole = load i64, ptr %one at i64 20
  %are_floats = call i1 @are_all(ptr %values, i64 %floats, i1 true)
  %are_whole = call i1 @are_all(ptr %values, i64 %whole, i1 false)
  %fits = and i1 %are_floats, %are_whole
  br i1 %fits, label %found, label %differs
differs:
  %other = load ptr, ptr %one at i64 21
  br label %next
found:
  ret ptr %one
none:
  ret ptr %told
}

define internal i1 @are_floats(ptr %told, ptr %values) {
  %mask = load i64, ptr %told at i64 2
  %are_so = call i1 @are_all(ptr %values, i64 %mask, i1 true)
  ret i1 %are_so
}

define internal i1 @are_all(ptr %values, i64 %mask, i1 %floats) {
entry:
next:
  %left = phi i64 [%mask, %entry], [%rest, %fits]
  br eq i64 %left, 0, label %yes
  %place = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %less = sub i64 %left, 1
  %rest = and i64 %left, %less
  %array = load ptr, ptr %values at ptr %place
  %is_float = call i1 @is_of_floats(ptr %array)
  br eq i1 %is_float, %floats, label %fits, label %no
fits:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

declare i64 @llvm.cttz.i64(i64, i1)

define internal i1 @want_nothing(ptr %table, ptr %handles, i64 %mask) {
entry:
  br eq i64 %mask, 0, label %yes, label %begin
begin:
{front_loads}
  %wants_bytes = ptrtoint ptr %wants_slot to i64
next:
  %left = phi i64 [%mask, %begin], [%rest, %look]
  br eq i64 %left, 0, label %yes, label %look
look:
  %place = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %less = sub i64 %left, 1
  %rest = and i64 %left, %less
  %tensor = load ptr, ptr %handles at ptr %place
  %wants = load ptr, ptr %tensor at i8 %wants_bytes
  br eq ptr %wants, %never, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal ptr @edges_from(ptr %table, ptr %told, ptr %handles, ptr %values) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %count = load i64, ptr %told at i64 3
  %places = load ptr, ptr %told at i64 4
  %may_be = call i1 @may_record(ptr %table, ptr %book)
  br not i1 %may_be, label %no
  %turn = call i64 @turn_of(ptr %table, ptr %book)
  %fit = call i1 @are_floats(ptr %told, ptr %values)
  br not i1 %fit, label %no
  %constants = load i64, ptr %told at i64 26
  %fixed = call i1 @want_nothing(ptr %table, ptr %handles, i64 %constants)
  br not i1 %fixed, label %no
  %edges = call ptr %make_tuple(i64 %count)
  br eq ptr %edges, null, label %failed, label %fill
fill:
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
next:
  %i = phi i64 [0, %fill], [%i1, %found]
  %some = phi i1 [false, %fill], [%some1, %found]
  br not ult i64 %i, %count, label %done
  %place = load i64, ptr %places at i64 %i
  %tensor = load ptr, ptr %handles at ptr %place
  %array = load ptr, ptr %values at ptr %place
  %edge = call ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %array)
  br eq ptr %edge, null, label %drop_list, label %found
found:
  store ptr %edge, ptr %items at ptr %i
  %is_edge = icmp ne ptr %edge, %none
  %some1 = or i1 %some, %is_edge
  %i1 = add i64 %i, 1
  br label %next
done:
  %turn_now = call i64 @turn_of(ptr %table, ptr %book)
  %is_settled = icmp eq i64 %turn_now, %turn
  %is_well = and i1 %is_settled, %some
  br not i1 %is_well, label %drop_list
  ret ptr %edges
drop_list:
  call void %drop(ptr %edges)
failed:
  call void %forget_error()
no:
  ret ptr null
}

define internal i64 @active_mask(ptr %table, ptr %told, ptr %edges) {
entry:
{front_loads}
  %count = load i64, ptr %told at i64 3
  %places = load ptr, ptr %told at i64 4
  %items = getelementptr i8, ptr %edges, i64 {tuple_at}
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  %mask = phi i64 [0, %entry], [%mask1, %look]
  br ult i64 %i, %count, label %look, label %done
look:
  %edge = load ptr, ptr %items at ptr %i
  %is_edge = icmp ne ptr %edge, %none
  %place = load i64, ptr %places at i64 %i
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
  %count = load i64, ptr %told at i64 19
next:
  %i = phi i64 [0, %entry], [%i1, %fits]
  br not ult i64 %i, %count, label %yes
  %array = load ptr, ptr %arrays at ptr %i
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
