"""The native code that makes what nodes keep of operands (see `records_text`)."""

from __future__ import annotations

from typing import Final

__all__ = ["KEPT"]

KEPT: Final = """
define internal ptr @sizes_of(ptr %table, ptr %array) {
  %found = call ptr @numbers_of(ptr %table, ptr %array, i64 {sizes_at})
  ret ptr %found
}

define internal ptr @numbers_of(ptr %table, ptr %array, i64 %where) {
entry:
{front_loads}
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = sext i32 %rank32 to i64
  %sizes_place = getelementptr i8, ptr %array, i64 %where
  %sizes = load ptr, ptr %sizes_place
  %tuple = call ptr %make_tuple(i64 %rank)
  %is_failed = icmp eq ptr %tuple, null
  %items = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br i1 %is_failed, label %done, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %fill]
  %more = icmp ult i64 %i, %rank
  br i1 %more, label %fill, label %done
fill:
  %size_place = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_place
  %number = call ptr %make_int(i64 %size)
  %item = getelementptr ptr, ptr %items, i64 %i
  store ptr %number, ptr %item
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
}

define internal ptr @shapes_of(ptr %table, ptr %told, ptr %values) {
entry:
{front_loads}
  %count_place = getelementptr i64, ptr %told, i64 3
  %places_place = getelementptr i64, ptr %told, i64 4
  %count = load i64, ptr %count_place
  %places = load ptr, ptr %places_place
  %twice = mul i64 %count, 2
  %tuple = call ptr %make_tuple(i64 %twice)
  %is_failed = icmp eq ptr %tuple, null
  %items = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br i1 %is_failed, label %done, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %fill]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %fill, label %done
fill:
  %place_place = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %place_place
  %array_place = getelementptr ptr, ptr %values, i64 %place
  %array = load ptr, ptr %array_place
  %sizes = call ptr @sizes_of(ptr %table, ptr %array)
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %dtype = load ptr, ptr %dtype_place
  call void %hold(ptr %dtype)
  %at = mul i64 %i, 2
  %first = getelementptr ptr, ptr %items, i64 %at
  %second = getelementptr ptr, ptr %first, i64 1
  store ptr %sizes, ptr %first
  store ptr %dtype, ptr %second
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
}

define internal ptr @known_shapes(ptr %table, ptr %told, ptr %values, ptr %place_of_class) {
entry:
  %key = alloca [{shapes_room} x i64]
{front_loads}
  %count_place = getelementptr i64, ptr %told, i64 3
  %places_place = getelementptr i64, ptr %told, i64 4
  %keys_place = getelementptr i64, ptr %told, i64 22
  %known_place = getelementptr i64, ptr %told, i64 23
  %count = load i64, ptr %count_place
  %places = load ptr, ptr %places_place
  %keys = load ptr, ptr %keys_place
  %known = load ptr, ptr %known_place
  %known_items_place = getelementptr i8, ptr %known, i64 {list_at}
  %known_items = load ptr, ptr %known_items_place
  store ptr null, ptr %place_of_class
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %end_of_sizes]
  %word = phi i64 [0, %entry], [%last, %end_of_sizes]
  %mix = phi i64 [0, %entry], [%mixed, %end_of_sizes]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %find
look:
  %place_place = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %place_place
  %array_place = getelementptr ptr, ptr %values, i64 %place
  %array = load ptr, ptr %array_place
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %dtype = load i64, ptr %dtype_place
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank32 = load i32, ptr %rank_place
  %rank = sext i32 %rank32 to i64
  %sizes_place = getelementptr i8, ptr %array, i64 {sizes_at}
  %sizes = load ptr, ptr %sizes_place
  %is_usual = icmp ule i64 %rank, {shapes_rank}
  br i1 %is_usual, label %note, label %make_alone
note:
  %dtype_word = getelementptr i64, ptr %key, i64 %word
  store i64 %dtype, ptr %dtype_word
  %word1 = add i64 %word, 1
  %rank_word = getelementptr i64, ptr %key, i64 %word1
  store i64 %rank, ptr %rank_word
  %word2 = add i64 %word, 2
  %with_dtype = xor i64 %mix, %dtype
  %with_rank = add i64 %with_dtype, %rank
  br label %size
size:
  %j = phi i64 [0, %note], [%j1, %put_size]
  %at = phi i64 [%word2, %note], [%at1, %put_size]
  %sum = phi i64 [%with_rank, %note], [%sum1, %put_size]
  %has_more = icmp ult i64 %j, %rank
  br i1 %has_more, label %put_size, label %end_of_sizes
put_size:
  %one_place = getelementptr i64, ptr %sizes, i64 %j
  %one = load i64, ptr %one_place
  %size_word = getelementptr i64, ptr %key, i64 %at
  store i64 %one, ptr %size_word
  %with_size = xor i64 %sum, %one
  %sum1 = mul i64 %with_size, {factor}
  %j1 = add i64 %j, 1
  %at1 = add i64 %at, 1
  br label %size
end_of_sizes:
  %last = phi i64 [%at, %size]
  %mixed = mul i64 %sum, {factor}
  %i1 = add i64 %i, 1
  br label %next
find:
  %which = lshr i64 %mix, {shapes_shift}
  %room = mul i64 %count, {shapes_words}
  %begins = mul i64 %which, %room
  %stored = getelementptr i64, ptr %keys, i64 %begins
  %item_place = getelementptr ptr, ptr %known_items, i64 %which
  %class_place = getelementptr ptr, ptr %item_place, i64 {shapes_many}
  store ptr %class_place, ptr %place_of_class
  %item = load ptr, ptr %item_place
  %is_empty = icmp eq ptr %item, %none
  br i1 %is_empty, label %make, label %compare
compare:
  %k = phi i64 [0, %find], [%k1, %same_word]
  %is_all = icmp uge i64 %k, %word
  br i1 %is_all, label %found, label %compare_word
compare_word:
  %mine_place = getelementptr i64, ptr %key, i64 %k
  %its_place = getelementptr i64, ptr %stored, i64 %k
  %mine = load i64, ptr %mine_place
  %its = load i64, ptr %its_place
  %is_same = icmp eq i64 %mine, %its
  br i1 %is_same, label %same_word, label %make
same_word:
  %k1 = add i64 %k, 1
  br label %compare
found:
  call void %hold(ptr %item)
  ret ptr %item
make:
  %made = call ptr @shapes_of(ptr %table, ptr %told, ptr %values)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %done, label %keep
keep:
  %m = phi i64 [0, %make], [%m1, %keep_word]
  %is_kept = icmp uge i64 %m, %word
  br i1 %is_kept, label %exchange, label %keep_word
keep_word:
  %from = getelementptr i64, ptr %key, i64 %m
  %to = getelementptr i64, ptr %stored, i64 %m
  %kept = load i64, ptr %from
  store i64 %kept, ptr %to
  %m1 = add i64 %m, 1
  br label %keep
exchange:
  call void %hold(ptr %made)
  store ptr %made, ptr %item_place
  call void %drop(ptr %item)
  %old_class = load ptr, ptr %class_place
  call void %hold(ptr %none)
  store ptr %none, ptr %class_place
  call void %drop(ptr %old_class)
  br label %done
done:
  ret ptr %made
make_alone:
  %alone = call ptr @shapes_of(ptr %table, ptr %told, ptr %values)
  ret ptr %alone
}

define internal ptr @saved(ptr %table, ptr %book, ptr %array, ptr %handle, ptr %edge, ptr %number, \
i64 %version) {
entry:
{front_loads}
{book_loads}
  %made = call ptr @instance(ptr %saved_type)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %fill
fill:
  %times = call ptr %make_int(i64 %version)
  call void %hold(ptr %array)
  call void %hold(ptr %handle)
  call void %hold(ptr %number)
  call void %hold(ptr %none)
  call void @put(ptr %made, ptr %s_array, ptr %array)
  call void @put(ptr %made, ptr %s_handle, ptr %handle)
  call void @put(ptr %made, ptr %s_edge, ptr %edge)
  call void @put(ptr %made, ptr %s_number, ptr %number)
  call void @put(ptr %made, ptr %s_packed, ptr %none)
  call void @put(ptr %made, ptr %s_version, ptr %times)
  ret ptr %made
failed:
  call void %drop(ptr %edge)
  ret ptr null
}

define internal ptr @described(ptr %table, ptr %book, ptr %array, i64 %is_laid, ptr %known) {
entry:
  %asked = alloca ptr
{front_loads}
{book_loads}
  %rank_place = getelementptr i8, ptr %array, i64 {rank_at}
  %rank = load i32, ptr %rank_place
  %is_matrix = icmp eq i32 %rank, 2
  %is_asked = icmp ne i64 %is_laid, 0
  %is_of_interest = and i1 %is_matrix, %is_asked
  br i1 %is_of_interest, label %step, label %make
step:
  %strides_place = getelementptr i8, ptr %array, i64 {strides_at}
  %strides = load ptr, ptr %strides_place
  %down = load i64, ptr %strides
  %is_short = icmp ule i64 %down, 16
  %its_sizes_place = getelementptr i8, ptr %array, i64 {sizes_at}
  %its_sizes = load ptr, ptr %its_sizes_place
  %columns_place = getelementptr i64, ptr %its_sizes, i64 1
  %columns = load i64, ptr %columns_place
  %flags_place = getelementptr i8, ptr %array, i64 {flags_at}
  %flags = load i32, ptr %flags_place
  %by_rows = and i32 %flags, 1
  %lies_by_rows = icmp ne i32 %by_rows, 0
  %has_several = icmp ugt i64 %columns, 1
  %cannot_be = and i1 %lies_by_rows, %has_several
  %could_be = xor i1 %cannot_be, true
  %may_be = and i1 %is_short, %could_be
  br i1 %may_be, label %ask, label %make
ask:
  store ptr %array, ptr %asked
  %answer = call ptr %call_with(ptr %describe, ptr %asked, i64 1, ptr null)
  ret ptr %answer
make:
  %made = call ptr @instance(ptr %meta_type)
  %is_failed = icmp eq ptr %made, null
  br i1 %is_failed, label %failed, label %begin
begin:
  %is_unknown = icmp eq ptr %known, null
  br i1 %is_unknown, label %read, label %take
take:
  call void %hold(ptr %known)
  br label %fill
read:
  %read_sizes = call ptr @sizes_of(ptr %table, ptr %array)
  br label %fill
fill:
  %sizes = phi ptr [%known, %take], [%read_sizes, %read]
  %dtype_place = getelementptr i8, ptr %array, i64 {dtype_at}
  %dtype = load ptr, ptr %dtype_place
  call void %hold(ptr %dtype)
  call void %hold(ptr %never)
  call void @put(ptr %made, ptr %m_sizes, ptr %sizes)
  call void @put(ptr %made, ptr %m_kind, ptr %dtype)
  call void @put(ptr %made, ptr %m_columns, ptr %never)
  ret ptr %made
failed:
  ret ptr null
}

define internal ptr @kept_argument(ptr %table, ptr %told, ptr %words, ptr %tensor, ptr %value, \
ptr %edges, i64 %smooth, ptr %shapes) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %mask = load i64, ptr %words
  %sized_place = getelementptr i64, ptr %words, i64 1
  %laid_place = getelementptr i64, ptr %words, i64 2
  %is_sized = load i64, ptr %sized_place
  %is_laid = load i64, ptr %laid_place
  %is_other = icmp eq i64 %mask, -1
  br i1 %is_other, label %itself, label %tensors
itself:
  call void %hold(ptr %value)
  ret ptr %value
tensors:
  %of = and i64 %mask, %smooth
  %is_kept = icmp ne i64 %of, 0
  br i1 %is_kept, label %keep, label %forget
keep:
  %end_place = getelementptr i64, ptr %words, i64 3
  %end = load i64, ptr %end_place
  %is_end = icmp sge i64 %end, 0
  br i1 %is_end, label %known_edge, label %find_edge
known_edge:
  %all_edges = getelementptr i8, ptr %edges, i64 {tuple_at}
  %edge_place = getelementptr ptr, ptr %all_edges, i64 %end
  %its_edge = load ptr, ptr %edge_place
  call void %hold(ptr %its_edge)
  br label %version
find_edge:
  %found_edge = call ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %value)
  %is_lost = icmp eq ptr %found_edge, null
  br i1 %is_lost, label %failed, label %version
version:
  %edge = phi ptr [%its_edge, %known_edge], [%found_edge, %find_edge]
  %times = call i64 @kept_version(ptr %table, ptr %book, ptr %value)
  %is_refused = icmp slt i64 %times, 0
  br i1 %is_refused, label %drop_edge, label %make
drop_edge:
  call void %drop(ptr %edge)
  br label %failed
make:
  %made = call ptr @saved(ptr %table, ptr %book, ptr %value, ptr %tensor, ptr %edge, ptr %none, \
i64 %times)
  ret ptr %made
forget:
  %describes = icmp ne i64 %is_sized, 0
  br i1 %describes, label %sizes, label %nothing
sizes:
  %number_place = getelementptr i64, ptr %words, i64 3
  %number = load i64, ptr %number_place
  %has_number = icmp sge i64 %number, 0
  br i1 %has_number, label %of_end, label %describe_it
of_end:
  %shapes_items = getelementptr i8, ptr %shapes, i64 {tuple_at}
  %twice = mul i64 %number, 2
  %its_shape_place = getelementptr ptr, ptr %shapes_items, i64 %twice
  %its_shape = load ptr, ptr %its_shape_place
  br label %describe_it
describe_it:
  %known_sizes = phi ptr [null, %sizes], [%its_shape, %of_end]
  %about = call ptr @described(ptr %table, ptr %book, ptr %value, i64 %is_laid, ptr %known_sizes)
  ret ptr %about
nothing:
  call void %hold(ptr %unread)
  ret ptr %unread
failed:
  ret ptr null
}

define internal ptr @kept_list(ptr %table, ptr %told, ptr %tensors, ptr %arrays, ptr %edges, \
i64 %smooth, i1 %are_ends, ptr %shapes) {
entry:
  %book = load ptr, ptr %told
  %words = alloca [4 x i64]
{front_loads}
  %count_place = getelementptr i64, ptr %told, i64 19
  %keeps_place = getelementptr i64, ptr %told, i64 17
  %count = load i64, ptr %count_place
  %keeps = load i64, ptr %keeps_place
  %sized_place = getelementptr i64, ptr %words, i64 1
  %laid_place = getelementptr i64, ptr %words, i64 2
  %end_place = getelementptr i64, ptr %words, i64 3
  store i64 %keeps, ptr %words
  store i64 1, ptr %sized_place
  store i64 0, ptr %laid_place
  %list = call ptr %make_list(i64 %count)
  %is_failed = icmp eq ptr %list, null
  br i1 %is_failed, label %failed, label %begin
begin:
  %items_place = getelementptr i8, ptr %list, i64 {list_at}
  %items = load ptr, ptr %items_place
  br label %next
next:
  %i = phi i64 [0, %begin], [%i1, %keep]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %end = select i1 %are_ends, i64 %i, i64 -1
  store i64 %end, ptr %end_place
  %tensor_place = getelementptr ptr, ptr %tensors, i64 %i
  %array_place = getelementptr ptr, ptr %arrays, i64 %i
  %tensor = load ptr, ptr %tensor_place
  %array = load ptr, ptr %array_place
  %kept = call ptr @kept_argument(ptr %table, ptr %told, ptr %words, ptr %tensor, ptr %array, \
ptr %edges, i64 %smooth, ptr %shapes)
  %is_lost = icmp eq ptr %kept, null
  br i1 %is_lost, label %lost, label %keep
keep:
  %item = getelementptr ptr, ptr %items, i64 %i
  store ptr %kept, ptr %item
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %list
lost:
  call void %drop(ptr %list)
  br label %failed
failed:
  ret ptr null
}

define internal ptr @kept_arguments(ptr %table, ptr %told, ptr %handles, ptr %values, \
ptr %edges, i64 %smooth, ptr %tensors, ptr %arrays, ptr %shapes) {
entry:
{front_loads}
  %flags_place = getelementptr i64, ptr %told, i64 1
  %flags = load i64, ptr %flags_place
  %list_flag = and i64 %flags, 16
  %are_ends = icmp ne i64 %list_flag, 0
  %list_flags = and i64 %flags, 48
  %is_listed = icmp ne i64 %list_flags, 0
  %its_smooth = select i1 %are_ends, i64 1, i64 %smooth
  %its_at_place = getelementptr i64, ptr %told, i64 16
  %its_at = load i64, ptr %its_at_place
  %list_place = select i1 %is_listed, i64 %its_at, i64 -1
  %count_place = getelementptr i64, ptr %told, i64 5
  %words_place = getelementptr i64, ptr %told, i64 6
  %count = load i64, ptr %count_place
  %words = load ptr, ptr %words_place
  %list = call ptr %make_tuple(i64 %count)
  %is_failed = icmp eq ptr %list, null
  br i1 %is_failed, label %failed, label %begin
begin:
  %items = getelementptr i8, ptr %list, i64 {tuple_at}
  br label %next
next:
  %i = phi i64 [0, %begin], [%i1, %keep]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %is_the_list = icmp eq i64 %i, %list_place
  br i1 %is_the_list, label %the_list, label %other
the_list:
  %kept_tensors = call ptr @kept_list(ptr %table, ptr %told, ptr %tensors, ptr %arrays, \
ptr %edges, i64 %its_smooth, i1 %are_ends, ptr %shapes)
  br label %known
other:
  %is_behind = icmp ugt i64 %i, %list_place
  %less = sub i64 %i, 1
  %its_place = select i1 %is_behind, i64 %less, i64 %i
  %at = mul i64 %i, 4
  %its_words = getelementptr i64, ptr %words, i64 %at
  %tensor_place = getelementptr ptr, ptr %handles, i64 %its_place
  %value_place = getelementptr ptr, ptr %values, i64 %its_place
  %tensor = load ptr, ptr %tensor_place
  %value = load ptr, ptr %value_place
  %kept_one = call ptr @kept_argument(ptr %table, ptr %told, ptr %its_words, ptr %tensor, \
ptr %value, ptr %edges, i64 %smooth, ptr %shapes)
  br label %known
known:
  %kept = phi ptr [%kept_tensors, %the_list], [%kept_one, %other]
  %is_lost = icmp eq ptr %kept, null
  br i1 %is_lost, label %lost, label %keep
keep:
  %item = getelementptr ptr, ptr %items, i64 %i
  store ptr %kept, ptr %item
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %list
lost:
  call void %drop(ptr %list)
  br label %failed
failed:
  ret ptr null
}
"""
