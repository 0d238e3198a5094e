"""The native code of `tensor[key]` and `tensor[key] = value` for keys of index tensors (see
`parts_text`): of whole numbers, with numbers, slices and None between them, and in writing one of
bools, if what is written is the same wherever one is true.

What reads, and what writes, are those that know the calls of such operators beforehand; there is
none before calls have come often.  What fails is done again in Python, which says why.
"""

from __future__ import annotations

from typing import Final

__all__ = ["PLACES"]

PLACES: Final = """
define internal i1 @is_whole_slice(ptr %table, ptr %object) {
entry:
{parts_loads}
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %slice_type, label %no
  %first_place = getelementptr i8, ptr %object, i64 {head}
  %first = load ptr, ptr %first_place
  %stop = load ptr, ptr %first_place at ptr 1
  %step = load ptr, ptr %first_place at ptr 2
  %has_no_first = icmp eq ptr %first, %none
  %has_no_stop = icmp eq ptr %stop, %none
  %has_no_step = icmp eq ptr %step, %none
  %both = and i1 %has_no_first, %has_no_stop
  %all = and i1 %both, %has_no_step
  ret i1 %all
no:
  ret i1 false
}

define internal i1 @names_places(ptr %table, ptr %index, i1 %alone, i1 %truths) {
entry:
{parts_loads}
  %rank = load i32, ptr %index at i8 {rank_at}
  %dtype = load ptr, ptr %index at i8 {dtype_at}
  %kind = load i8, ptr %dtype at i8 {kind_at}
  %is_several = icmp sgt i32 %rank, 0
  %are_numbers = icmp eq ptr %dtype, %whole_dtype
  %are_truths = icmp eq i8 %kind, 98
  %may_be_truths = and i1 %alone, %truths
  %is_mask = and i1 %are_truths, %may_be_truths
  %is_one = or i1 %are_numbers, %is_mask
  %is_so = and i1 %is_several, %is_one
  ret i1 %is_so
}

define internal i64 @places_of(ptr %table, ptr %array, ptr %key, i1 %truths, ptr %places) {
entry:
  %alone = alloca ptr
  %length = alloca i64
  %wanted = alloca i64
{parts_loads}
  store i64 0, ptr %wanted
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %items = call ptr @items_in(ptr %table, ptr %key, ptr %alone, ptr %length)
  %count = load i64, ptr %length
  %is_alone = icmp eq ptr %items, %alone
  %is_within = icmp ule i64 %count, %rank
  %has_room = icmp ule i64 %count, {places_most}
  %fits = and i1 %is_within, %has_room
  br i1 %fits, label %next, label %nothing
next:
  %i = phi i64 [0, %entry], [%i1, %taken]
  %until = phi i64 [0, %entry], [%until1, %taken]
  br not ult i64 %i, %count, label %done
  %i1 = add i64 %i, 1
  %place = getelementptr ptr, ptr %places, i64 %i
  %object = load ptr, ptr %items at ptr %i
  %is_whole = call i1 @is_whole_slice(ptr %table, ptr %object)
  br i1 %is_whole, label %whole, label %tensor
whole:
  call void %hold(ptr %none)
  store ptr %none, ptr %place
  br label %taken
tensor:
  %index = call ptr @array_of(ptr %table, ptr %object, ptr %wanted)
  br ne ptr %index, null, label %names, label %not_these
names:
  store ptr %index, ptr %place
  %is_index = call i1 @names_places(ptr %table, ptr %index, i1 %is_alone, i1 %truths)
  br i1 %is_index, label %taken
  call void @drop_all(ptr %table, ptr %places, i64 %i1)
  ret i64 0
taken:
  %until1 = phi i64 [%until, %whole], [%i1, %names]
  br label %next
not_these:
  call void @drop_all(ptr %table, ptr %places, i64 %i)
  ret i64 0
done:
  %unused = sub i64 %count, %until
  %first_unused = getelementptr ptr, ptr %places, i64 %until
  call void @drop_all(ptr %table, ptr %first_unused, i64 %unused)
  ret i64 %until
nothing:
  ret i64 0
}

define internal ptr @mixed_of(ptr %table, ptr %array, ptr %key, ptr %places, ptr %found_count) {
entry:
  %plain = alloca [{places_room} x ptr], align 8
  %part = alloca [{part_words} x i64], align 8
  %wanted = alloca i64
{parts_loads}
  store i64 0, ptr %wanted
  %key_type = load ptr, ptr %key at i8 {type_at}
  br eq ptr %key_type, %tuple_type, label %measure, label %nothing
measure:
  %count = load i64, ptr %key at i8 {head}
  %items = getelementptr i8, ptr %key, i64 {tuple_at}
  br ule i64 %count, {places_most}, label %next, label %nothing
next:
  %i = phi i64 [0, %measure], [%i1, %taken]
  %out = phi i64 [0, %measure], [%out1, %taken]
  %until = phi i64 [0, %measure], [%until1, %taken]
  br ult i64 %i, %count, label %look, label %done
look:
  %i1 = add i64 %i, 1
  %plain_place = getelementptr ptr, ptr %plain, i64 %i
  %place = getelementptr ptr, ptr %places, i64 %out
  %object = load ptr, ptr %items at ptr %i
  store ptr %object, ptr %plain_place
  %next_out = add i64 %out, 1
  %type = load ptr, ptr %object at i8 {type_at}
  br eq ptr %type, %int_type, label %taken
  %is_slice = icmp eq ptr %type, %slice_type
  %is_new = icmp eq ptr %object, %none
  %is_dimension = or i1 %is_slice, %is_new
  br i1 %is_dimension, label %dimension, label %tensor
dimension:
  call void %hold(ptr %none)
  store ptr %none, ptr %place
  br label %taken
tensor:
  %index = call ptr @array_of(ptr %table, ptr %object, ptr %wanted)
  br ne ptr %index, null, label %names, label %not_these
names:
  store ptr %index, ptr %place
  store ptr %whole_slice, ptr %plain_place
  %is_index = call i1 @names_places(ptr %table, ptr %index, i1 false, i1 false)
  br i1 %is_index, label %taken
  call void @drop_all(ptr %table, ptr %places, i64 %next_out)
  ret ptr null
taken:
  %out1 = phi i64 [%out, %look], [%next_out, %dimension], [%next_out, %names]
  %until1 = phi i64 [%until, %look], [%until, %dimension], [%next_out, %names]
  br label %next
not_these:
  call void @drop_all(ptr %table, ptr %places, i64 %out)
  ret ptr null
done:
  br not ne i64 %until, 0, label %drop_them
  %is_part = call i1 @part_of_items(ptr %table, ptr %array, ptr %plain, i64 %count, ptr %part)
  br not i1 %is_part, label %drop_them
  %made = call ptr @view_of_part(ptr %table, ptr %array, ptr %part)
  br eq ptr %made, null, label %unmade
  %unused = sub i64 %out, %until
  %first_unused = getelementptr ptr, ptr %places, i64 %until
  call void @drop_all(ptr %table, ptr %first_unused, i64 %unused)
  store i64 %until, ptr %found_count
  ret ptr %made
unmade:
  call void %forget_error()
drop_them:
  call void @drop_all(ptr %table, ptr %places, i64 %out)
  ret ptr null
nothing:
  ret ptr null
}

define internal ptr @view_and_places(ptr %table, ptr %array, ptr %key, i1 %truths, ptr %places, \
ptr %found_count) {
entry:
{parts_loads}
  %count = call i64 @places_of(ptr %table, ptr %array, ptr %key, i1 %truths, ptr %places)
  br not ne i64 %count, 0, label %mixed
  store i64 %count, ptr %found_count
  call void %hold(ptr %array)
  ret ptr %array
mixed:
  %view = call ptr @mixed_of(ptr %table, ptr %array, ptr %key, ptr %places, ptr %found_count)
  ret ptr %view
}

define internal ptr @get_places(ptr %table, ptr %tensor, ptr %array, ptr %key) {
entry:
  %given = alloca [{places_room} x ptr], align 8
  %found_count = alloca i64
{parts_loads}
  br not ne ptr %reads, null, label %no
  %places = getelementptr ptr, ptr %given, i64 1
  %view = call ptr @view_and_places(ptr %table, ptr %array, ptr %key, i1 false, ptr %places, \
ptr %found_count)
  store ptr %view, ptr %given
  br not ne ptr %view, null, label %no
  %count = load i64, ptr %found_count
  %all = add i64 %count, 1
  %found = call ptr %call_with(ptr %reads, ptr %given, i64 %all, ptr null)
  call void @drop_all(ptr %table, ptr %given, i64 %all)
  br not eq ptr %found, null, label %kind
  call void %forget_error()
  br label %no
kind:
  %type = load ptr, ptr %found at i8 {type_at}
  br eq ptr %type, %array_type, label %handle
  call void %drop(ptr %found)
  br label %no
handle:
  %made = call ptr @one_view(ptr %table, ptr %found, ptr %tensor)
  ret ptr %made
no:
  ret ptr null
}

define internal ptr @value_at_places(ptr %table, ptr %array, ptr %value) {
entry:
  %wanted = alloca i64
  %bits = alloca i64
{parts_loads}
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %kind = load i8, ptr %dtype at i8 {kind_at}
  %width = load i64, ptr %dtype at i8 {width_at}
  %is_number = call i1 @bits_of(ptr %table, ptr %value, i8 %kind, i64 %width, ptr %bits)
  br not i1 %is_number, label %perhaps_tensor
  call void %hold(ptr %dtype)
  %made = call ptr %make_array(ptr %array_type, ptr %dtype, i32 0, ptr null, ptr null, ptr null, \
i32 0, ptr null)
  br eq ptr %made, null, label %unmade
  %data = load ptr, ptr %made at i8 {head}
  call void @put_row(ptr %data, ptr %bits, i64 1, i64 0, i64 0, i64 %width)
  ret ptr %made
unmade:
  call void %forget_error()
  ret ptr null
perhaps_tensor:
  %type = load ptr, ptr %value at i8 {type_at}
  br not eq ptr %type, %tensor_type, label %no
  store i64 0, ptr %wanted
  %source = call ptr @array_of(ptr %table, ptr %value, ptr %wanted)
  br not ne ptr %source, null, label %no
  %its_dtype = load ptr, ptr %source at i8 {dtype_at}
  br not eq ptr %dtype, %its_dtype, label %not_this
  %rank = load i32, ptr %source at i8 {rank_at}
  br eq i32 %rank, 0, label %yes
  %sizes = load ptr, ptr %source at i8 {sizes_at}
  %first = load i64, ptr %sizes
  br eq i64 %first, 1, label %not_this, label %yes
yes:
  ret ptr %source
not_this:
  call void %drop(ptr %source)
  ret ptr null
no:
  ret ptr null
}

define internal i1 @is_put(ptr %table, ptr %array, ptr %given, i64 %count) {
entry:
{parts_loads}
  %is_counted = call i1 @count_write(ptr %table, ptr %array)
  br not i1 %is_counted, label %refused
  %result = call ptr %call_with(ptr %puts, ptr %given, i64 %count, ptr null)
  br eq ptr %result, null, label %raised
  call void %drop(ptr %result)
  ret i1 true
raised:
  call void %forget_error()
  %noted = call ptr %call_with(ptr %unwritten, ptr %given, i64 1, ptr null)
  br eq ptr %noted, null, label %refused
  call void %drop(ptr %noted)
  ret i1 false
refused:
  call void %forget_error()
  ret i1 false
}

define internal i1 @set_places(ptr %table, ptr %array, ptr %key, ptr %value) {
entry:
  %given = alloca [{places_room} x ptr], align 8
  %found_count = alloca i64
{parts_loads}
  br not ne ptr %puts, null, label %no
  %source = call ptr @value_at_places(ptr %table, ptr %array, ptr %value)
  br not ne ptr %source, null, label %no
  %rank = load i32, ptr %source at i8 {rank_at}
  %is_number = icmp eq i32 %rank, 0
  %places = getelementptr ptr, ptr %given, i64 3
  store ptr %source, ptr %given at ptr 1
  store ptr %never, ptr %given at ptr 2
  %view = call ptr @view_and_places(ptr %table, ptr %array, ptr %key, i1 %is_number, \
ptr %places, ptr %found_count)
  store ptr %view, ptr %given
  br not ne ptr %view, null, label %not_here
  %count = load i64, ptr %found_count
  %all = add i64 %count, 3
  %is_put = call i1 @is_put(ptr %table, ptr %array, ptr %given, i64 %all)
  call void @drop_all(ptr %table, ptr %places, i64 %count)
  call void %drop(ptr %source)
  call void %drop(ptr %view)
  ret i1 %is_put
not_here:
  call void %drop(ptr %source)
  ret i1 false
no:
  ret i1 false
}
"""
