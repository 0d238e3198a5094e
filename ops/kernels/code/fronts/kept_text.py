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
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = sext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 %where
  %tuple = call ptr %make_tuple(i64 %rank)
  %items = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br eq ptr %tuple, null, label %done, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %fill]
  br ult i64 %i, %rank, label %fill, label %done
fill:
  %size = load i64, ptr %sizes at i64 %i
  %number = call ptr %make_int(i64 %size)
  store ptr %number, ptr %items at ptr %i
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
}

define internal ptr @shapes_of(ptr %table, ptr %told, ptr %values) {
entry:
{front_loads}
  %count = load i64, ptr %told at i64 3
  %places = load ptr, ptr %told at i64 4
  %twice = mul i64 %count, 2
  %tuple = call ptr %make_tuple(i64 %twice)
  %items = getelementptr i8, ptr %tuple, i64 {tuple_at}
  br eq ptr %tuple, null, label %done, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %fill]
  br ult i64 %i, %count, label %fill, label %done
fill:
  %place = load i64, ptr %places at i64 %i
  %array = load ptr, ptr %values at ptr %place
  %sizes = call ptr @sizes_of(ptr %table, ptr %array)
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  call void %hold(ptr %dtype)
  %at = mul i64 %i, 2
  %first = getelementptr ptr, ptr %items, i64 %at
  store ptr %sizes, ptr %first
  store ptr %dtype, ptr %first at ptr 1
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %tuple
}

define internal ptr @known_shapes(ptr %table, ptr %told, ptr %values, ptr %place_of_class) {
entry:
  %key = alloca [{shapes_room} x i64]
{front_loads}
  %count = load i64, ptr %told at i64 3
  %places = load ptr, ptr %told at i64 4
  %keys = load ptr, ptr %told at i64 22
  %known = load ptr, ptr %told at i64 23
  %known_items = load ptr, ptr %known at i8 {list_at}
  store ptr null, ptr %place_of_class
next:
  %i = phi i64 [0, %entry], [%i1, %end_of_sizes]
  %word = phi i64 [0, %entry], [%last, %end_of_sizes]
  %mix = phi i64 [0, %entry], [%mixed, %end_of_sizes]
  br not ult i64 %i, %count, label %find
  %place = load i64, ptr %places at i64 %i
  %array = load ptr, ptr %values at ptr %place
  %dtype = load i64, ptr %array at i8 {dtype_at}
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = sext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  br ule i64 %rank, {shapes_rank}, label %note, label %make_alone
note:
  store i64 %dtype, ptr %key at i64 %word
  %word1 = add i64 %word, 1
  store i64 %rank, ptr %key at i64 %word1
  %word2 = add i64 %word, 2
  %with_dtype = xor i64 %mix, %dtype
  %with_rank = add i64 %with_dtype, %rank
size:
  %j = phi i64 [0, %note], [%j1, %put_size]
  %at = phi i64 [%word2, %note], [%at1, %put_size]
  %sum = phi i64 [%with_rank, %note], [%sum1, %put_size]
  br ult i64 %j, %rank, label %put_size, label %end_of_sizes
put_size:
  %one = load i64, ptr %sizes at i64 %j
  store i64 %one, ptr %key at i64 %at
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
  br eq ptr %item, %none, label %make, label %compare
compare:
  %k = phi i64 [0, %find], [%k1, %same_word]
  br uge i64 %k, %word, label %found
  %mine = load i64, ptr %key at i64 %k
  %its = load i64, ptr %stored at i64 %k
  br eq i64 %mine, %its, label %same_word, label %make
same_word:
  %k1 = add i64 %k, 1
  br label %compare
found:
  call void %hold(ptr %item)
  ret ptr %item
make:
  %made = call ptr @shapes_of(ptr %table, ptr %told, ptr %values)
  br eq ptr %made, null, label %done, label %keep
keep:
  %m = phi i64 [0, %make], [%m1, %keep_word]
  br uge i64 %m, %word, label %exchange, label %keep_word
keep_word:
  %kept = load i64, ptr %key at i64 %m
  store i64 %kept, ptr %stored at i64 %m
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
  br eq ptr %made, null, label %failed
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
  %rank = load i32, ptr %array at i8 {rank_at}
  %is_matrix = icmp eq i32 %rank, 2
  %is_asked = icmp ne i64 %is_laid, 0
  %is_of_interest = and i1 %is_matrix, %is_asked
  br not i1 %is_of_interest, label %make
  %strides = load ptr, ptr %array at i8 {strides_at}
  %down = load i64, ptr %strides
  %is_short = icmp ule i64 %down, 16
  %its_sizes = load ptr, ptr %array at i8 {sizes_at}
  %columns = load i64, ptr %its_sizes at i64 1
  %flags = load i32, ptr %array at i8 {flags_at}
  %by_rows = and i32 %flags, 1
  %lies_by_rows = icmp ne i32 %by_rows, 0
  %has_several = icmp ugt i64 %columns, 1
  %cannot_be = and i1 %lies_by_rows, %has_several
  %could_be = xor i1 %cannot_be, true
  %may_be = and i1 %is_short, %could_be
  br not i1 %may_be, label %make
  store ptr %array, ptr %asked
  %answer = call ptr %call_with(ptr %describe, ptr %asked, i64 1, ptr null)
  ret ptr %answer
make:
  %made = call ptr @instance(ptr %meta_type)
  br eq ptr %made, null, label %failed
  br eq ptr %known, null, label %read, label %take
take:
  call void %hold(ptr %known)
  br label %fill
read:
  %read_sizes = call ptr @sizes_of(ptr %table, ptr %array)
fill:
  %sizes = phi ptr [%known, %take], [%read_sizes, %read]
  %dtype = load ptr, ptr %array at i8 {dtype_at}
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
  %is_sized = load i64, ptr %words at i64 1
  %is_laid = load i64, ptr %words at i64 2
  br not eq i64 %mask, -1, label %tensors
  call void %hold(ptr %value)
  ret ptr %value
tensors:
  %of = and i64 %mask, %smooth
  br not ne i64 %of, 0, label %forget
  %end = load i64, ptr %words at i64 3
  br sge i64 %end, 0, label %known_edge, label %find_edge
known_edge:
  %all_edges = getelementptr i8, ptr %edges, i64 {tuple_at}
  %its_edge = load ptr, ptr %all_edges at ptr %end
  call void %hold(ptr %its_edge)
  br label %version
find_edge:
  %found_edge = call ptr @edge_from(ptr %table, ptr %book, ptr %tensor, ptr %value)
  br eq ptr %found_edge, null, label %failed, label %version
version:
  %edge = phi ptr [%its_edge, %known_edge], [%found_edge, %find_edge]
  %times = call i64 @kept_version(ptr %table, ptr %book, ptr %value)
  br not slt i64 %times, 0, label %make
  call void %drop(ptr %edge)
  br label %failed
make:
  %made = call ptr @saved(ptr %table, ptr %book, ptr %value, ptr %tensor, ptr %edge, ptr %none, \
i64 %times)
  ret ptr %made
forget:
  br ne i64 %is_sized, 0, label %sizes, label %nothing
sizes:
  %number = load i64, ptr %words at i64 3
  br sge i64 %number, 0, label %of_end, label %describe_it
of_end:
  %shapes_items = getelementptr i8, ptr %shapes, i64 {tuple_at}
  %twice = mul i64 %number, 2
  %its_shape = load ptr, ptr %shapes_items at ptr %twice
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
  %count = load i64, ptr %told at i64 19
  %keeps = load i64, ptr %told at i64 17
  store i64 %keeps, ptr %words
  store i64 1, ptr %words at i64 1
  store i64 0, ptr %words at i64 2
  %list = call ptr %make_list(i64 %count)
  br eq ptr %list, null, label %failed, label %begin
begin:
  %items = load ptr, ptr %list at i8 {list_at}
next:
  %i = phi i64 [0, %begin], [%i1, %keep]
  br not ult i64 %i, %count, label %done
  %end = select i1 %are_ends, i64 %i, i64 -1
  store i64 %end, ptr %words at i64 3
  %tensor = load ptr, ptr %tensors at ptr %i
  %array = load ptr, ptr %arrays at ptr %i
  %kept = call ptr @kept_argument(ptr %table, ptr %told, ptr %words, ptr %tensor, ptr %array, \
ptr %edges, i64 %smooth, ptr %shapes)
  br eq ptr %kept, null, label %lost, label %keep
keep:
  store ptr %kept, ptr %items at ptr %i
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %list
lost:
  call void %drop(ptr %list)
failed:
  ret ptr null
}

define internal ptr @kept_arguments(ptr %table, ptr %told, ptr %handles, ptr %values, \
ptr %edges, i64 %smooth, ptr %tensors, ptr %arrays, ptr %shapes) {
entry:
{front_loads}
  %flags = load i64, ptr %told at i64 1
  %list_flag = and i64 %flags, 16
  %are_ends = icmp ne i64 %list_flag, 0
  %list_flags = and i64 %flags, 48
  %is_listed = icmp ne i64 %list_flags, 0
  %its_smooth = select i1 %are_ends, i64 1, i64 %smooth
  %its_at = load i64, ptr %told at i64 16
  %list_place = select i1 %is_listed, i64 %its_at, i64 -1
  %count = load i64, ptr %told at i64 5
  %words = load ptr, ptr %told at i64 6
  %list = call ptr %make_tuple(i64 %count)
  br eq ptr %list, null, label %failed, label %begin
begin:
  %items = getelementptr i8, ptr %list, i64 {tuple_at}
next:
  %i = phi i64 [0, %begin], [%i1, %keep]
  br not ult i64 %i, %count, label %done
  br eq i64 %i, %list_place, label %the_list, label %other
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
  %tensor = load ptr, ptr %handles at ptr %its_place
  %value = load ptr, ptr %values at ptr %its_place
  %kept_one = call ptr @kept_argument(ptr %table, ptr %told, ptr %its_words, ptr %tensor, \
ptr %value, ptr %edges, i64 %smooth, ptr %shapes)
known:
  %kept = phi ptr [%kept_tensors, %the_list], [%kept_one, %other]
  br eq ptr %kept, null, label %lost, label %keep
keep:
  store ptr %kept, ptr %items at ptr %i
  %i1 = add i64 %i, 1
  br label %next
done:
  ret ptr %list
lost:
  call void %drop(ptr %list)
failed:
  ret ptr null
}
"""
