"""The native side of `tensor[key]` and `tensor[key] = value`.

`MEMBERS` of the class of tensors are done by native functions, whose table lies where
`know_parts` was told.  A key of numbers, slices that step forwards, None and `...` is a *part*, in
64-bit words: where its elements begin, how many dimensions it has, then the sizes of these, then
the bytes between their elements.  All other keys, what fails, tensors behind which no array stands,
writes to those that want gradients, and values that a part cannot just take are left to Python,
with the arguments as they came.
"""

from __future__ import annotations

from typing import Final

from .looked_text import LOOKED_WORDS
from .recorded_parts_text import RECORDED_PARTS_WORDS

__all__ = ["MEMBERS", "PARTS", "PARTS_WORDS", "SIZE_MEMBERS", "member_name", "members_text"]

MEMBERS: Final = {
    **{"__getitem__": ("get_part", "get_slowly"), "__setitem__": ("set_part", "set_slowly")},
    **{"item": ("tell_element", "element_slowly"), "__bool__": ("tell_truth", "truth_slowly")},
    **{"__float__": ("tell_float", "float_slowly"), "__int__": ("tell_int", "int_slowly")},
    **{"size": ("tell_size", "size_slowly"), "stride": ("tell_stride", "stride_slowly")},
    "__len__": ("tell_length", "length_slowly"),
}
"""The members of the class of tensors, by name: the native function, and the word of what does its
calls in Python."""

SIZE_MEMBERS: Final = {"__getitem__": ("get_size", "get_size_slowly")}
"""The same of the class of a tensor's sizes."""

PARTS_WORDS: Final = (
    *LOOKED_WORDS,
    *(slowly for _, slowly in SIZE_MEMBERS.values()),
    *(slowly for _, slowly in MEMBERS.values()),
    *("slice_type", "ellipsis", "whole_dtype", "whole_slice", "unwritten"),
    *RECORDED_PARTS_WORDS,
    *("reads", "puts"),
)
"""What they find behind `TABLE` and the words of fronts, the first as `looked` does: what does
other calls; types and an object
that keys are made of; the dtype of index tensors; what reads by these, and writes, once calls came
often, and what takes back that a write was counted."""

_MEMBER: Final = """
define ptr @{name}(ptr %self, ptr %given, i64 %count_given, ptr %names) {
entry:
  %table = load ptr, ptr @parts_table
{parts_loads}
  %n = and i64 %count_given, 9223372036854775807
  br not ne i64 %n, 0, label %not_there
  %tensor = load ptr, ptr %given
  %others = getelementptr ptr, ptr %given, i64 1
  %count = sub i64 %n, 1
  %result = call ptr @{native}(ptr %tensor, ptr %others, i64 %count, ptr %names)
  ret ptr %result
not_there:
  %refused = call ptr %call_with(ptr %{slowly}, ptr %given, i64 0, ptr %names)
  ret ptr %refused
}
"""
"""The object itself lies in front of the arguments that the native function gets."""


def member_name(native: str) -> str:
    """The name of what objects of `NativeMember` are called by, of a native function."""
    return f"{native}_member"


def members_text() -> str:
    """The functions of these names, which take the object first among what is given."""
    return "".join(
        _MEMBER.replace("{name}", member_name(native))
        .replace("{native}", native)
        .replace("{slowly}", slowly)
        for native, slowly in (*MEMBERS.values(), *SIZE_MEMBERS.values())
    )


PARTS: Final = """
define ptr @bind_member(ptr %self, ptr %object, ptr %owner) {
entry:
  %table = load ptr, ptr @parts_table
{parts_loads}
  br not eq ptr %object, null, label %bound
  %function = load ptr, ptr %self at i8 {list_at}
  call void %hold(ptr %function)
  ret ptr %function
bound:
  %method = call ptr %bind(ptr %self, ptr %object)
  ret ptr %method
}

@parts_table = internal global ptr null

define void @know_parts(ptr %table) {
  store ptr %table, ptr @parts_table
  ret void
}

define internal i1 @number_of(ptr %table, ptr %object, ptr %to) {
entry:
  %over = alloca i32
{parts_loads}
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %int_type, label %no
  %number = call i64 %as_bounded(ptr %object, ptr %over)
  %beyond = load i32, ptr %over
  store i64 %number, ptr %to
  %fits = icmp eq i32 %beyond, 0
  ret i1 %fits
no:
  ret i1 false
}

define internal i1 @bound_of(ptr %table, ptr %object, i64 %size, i64 %otherwise, ptr %to) {
entry:
{parts_loads}
  br not eq ptr %object, %none, label %said
  store i64 %otherwise, ptr %to
  ret i1 true
said:
  %is_number = call i1 @number_of(ptr %table, ptr %object, ptr %to)
  br not i1 %is_number, label %no
  %number = load i64, ptr %to
  %is_behind = icmp slt i64 %number, 0
  %added = select i1 %is_behind, i64 %size, i64 0
  %from_front = add i64 %number, %added
  %is_before = icmp slt i64 %from_front, 0
  %at_least = select i1 %is_before, i64 0, i64 %from_front
  %is_beyond = icmp sgt i64 %at_least, %size
  %bound = select i1 %is_beyond, i64 %size, i64 %at_least
  store i64 %bound, ptr %to
  ret i1 true
no:
  ret i1 false
}

define internal i1 @sliced(ptr %table, ptr %slice, i64 %size, i64 %stride, ptr %part) {
entry:
  %begin = alloca i64
  %end = alloca i64
  %by = alloca i64
{parts_loads}
  %start_place = getelementptr i8, ptr %slice, i64 {head}
  %start_part = load ptr, ptr %start_place
  %stop = load ptr, ptr %start_place at ptr 1
  %step = load ptr, ptr %start_place at ptr 2
  store i64 1, ptr %by
  br eq ptr %step, %none, label %bounds
  %is_number = call i1 @number_of(ptr %table, ptr %step, ptr %by)
  br i1 %is_number, label %bounds, label %no
bounds:
  %steps = load i64, ptr %by
  %is_forward = icmp sgt i64 %steps, 0
  %is_bounded = call i1 @bound_of(ptr %table, ptr %start_part, i64 %size, i64 0, ptr %begin)
  %is_ended = call i1 @bound_of(ptr %table, ptr %stop, i64 %size, i64 %size, ptr %end)
  %are_bounds = and i1 %is_bounded, %is_ended
  %is_sure = and i1 %are_bounds, %is_forward
  br not i1 %is_sure, label %no
  %first = load i64, ptr %begin
  %behind = load i64, ptr %end
  %length = sub i64 %behind, %first
  %is_some = icmp sgt i64 %length, 0
  %before_last = sub i64 %length, 1
  %more = sdiv i64 %before_last, %steps
  %all = add i64 %more, 1
  %taken = select i1 %is_some, i64 %all, i64 0
  %begins_at = select i1 %is_some, i64 %first, i64 0
  %goes_by = select i1 %is_some, i64 %steps, i64 1
  %distance = mul i64 %begins_at, %stride
  %apart = mul i64 %goes_by, %stride
  %data_before = load i64, ptr %part
  %data = add i64 %data_before, %distance
  store i64 %data, ptr %part
  call void @add_dimension(ptr %part, i64 %taken, i64 %apart)
  ret i1 true
no:
  ret i1 false
}

define internal void @add_dimension(ptr %part, i64 %size, i64 %stride) {
  %rank_place = getelementptr i64, ptr %part, i64 1
  %rank = load i64, ptr %rank_place
  %size_at = add i64 %rank, 2
  %stride_at = add i64 %size_at, {part_most}
  store i64 %size, ptr %part at i64 %size_at
  store i64 %stride, ptr %part at i64 %stride_at
  %more = add i64 %rank, 1
  store i64 %more, ptr %rank_place
  ret void
}

define internal i64 @taken_by(ptr %table, ptr %items, i64 %count, ptr %gaps) {
entry:
{parts_loads}
  store i64 0, ptr %gaps
next:
  %i = phi i64 [0, %entry], [%i1, %known]
  %dims = phi i64 [0, %entry], [%dims1, %known]
  br ult i64 %i, %count, label %look, label %done
look:
  %i1 = add i64 %i, 1
  %object = load ptr, ptr %items at ptr %i
  %type = load ptr, ptr %object at i8 {type_at}
  %is_int = icmp eq ptr %type, %int_type
  %is_slice = icmp eq ptr %type, %slice_type
  %is_dimension = or i1 %is_int, %is_slice
  br i1 %is_dimension, label %known, label %others
others:
  br eq ptr %object, %none, label %known
  br eq ptr %object, %ellipsis, label %count_gap, label %unknown
count_gap:
  %before = load i64, ptr %gaps
  %gaps_now = add i64 %before, 1
  store i64 %gaps_now, ptr %gaps
known:
  %own = phi i64 [1, %look], [0, %others], [0, %count_gap]
  %dims1 = add i64 %dims, %own
  br label %next
done:
  ret i64 %dims
unknown:
  ret i64 -1
}

define internal ptr @items_in(ptr %table, ptr %key, ptr %alone, ptr %count) {
entry:
{parts_loads}
  %type = load ptr, ptr %key at i8 {type_at}
  br eq ptr %type, %tuple_type, label %several
  store ptr %key, ptr %alone
  store i64 1, ptr %count
  ret ptr %alone
several:
  %length = load i64, ptr %key at i8 {head}
  %inside = getelementptr i8, ptr %key, i64 {tuple_at}
  store i64 %length, ptr %count
  ret ptr %inside
}

define internal i64 @left_by(ptr %table, ptr %items, i64 %count, i64 %rank) {
entry:
  %gaps = alloca i64
  %taken = call i64 @taken_by(ptr %table, ptr %items, i64 %count, ptr %gaps)
  %is_known = icmp sge i64 %taken, 0
  %is_within = icmp sle i64 %taken, %rank
  %gap_count = load i64, ptr %gaps
  %has_one_gap = icmp ule i64 %gap_count, 1
  %both = and i1 %is_known, %is_within
  %is_sure = and i1 %both, %has_one_gap
  %rest = sub i64 %rank, %taken
  %left = select i1 %is_sure, i64 %rest, i64 -1
  ret i64 %left
}

define internal i1 @part_of(ptr %table, ptr %array, ptr %key, ptr %part) {
entry:
  %alone = alloca ptr
  %length = alloca i64
  %items = call ptr @items_in(ptr %table, ptr %key, ptr %alone, ptr %length)
  %count = load i64, ptr %length
  %is_part = call i1 @part_of_items(ptr %table, ptr %array, ptr %items, i64 %count, ptr %part)
  ret i1 %is_part
}

define internal i1 @part_of_items(ptr %table, ptr %array, ptr %items, i64 %count, ptr %part) {
entry:
  %number = alloca i64
{parts_loads}
  %data = load i64, ptr %array at i8 {head}
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %strides = load ptr, ptr %array at i8 {strides_at}
  store i64 %data, ptr %part
  store i64 0, ptr %part at i64 1
  %room = add i64 %rank, %count
  br ule i64 %room, {part_most}, label %dimensions, label %no
dimensions:
  %rest = call i64 @left_by(ptr %table, ptr %items, i64 %count, i64 %rank)
  br sge i64 %rest, 0, label %next, label %no
next:
  %i = phi i64 [0, %dimensions], [%i1, %done_one]
  %d = phi i64 [0, %dimensions], [%d_after, %done_one]
  br not ult i64 %i, %count, label %whatever_is_left
  %i1 = add i64 %i, 1
  %object = load ptr, ptr %items at ptr %i
  %d1 = add i64 %d, 1
  %size_place = getelementptr i64, ptr %sizes, i64 %d
  %stride_place = getelementptr i64, ptr %strides, i64 %d
  %type = load ptr, ptr %object at i8 {type_at}
  br not eq ptr %type, %int_type, label %perhaps_slice
  %is_number = call i1 @number_of(ptr %table, ptr %object, ptr %number)
  br not i1 %is_number, label %no
  %given = load i64, ptr %number
  %size = load i64, ptr %size_place
  %stride = load i64, ptr %stride_place
  %is_behind = icmp slt i64 %given, 0
  %added = select i1 %is_behind, i64 %size, i64 0
  %at = add i64 %given, %added
  br ult i64 %at, %size, label %move, label %no
move:
  %distance = mul i64 %at, %stride
  %data_before = load i64, ptr %part
  %data_now = add i64 %data_before, %distance
  store i64 %data_now, ptr %part
  br label %done_one
perhaps_slice:
  br eq ptr %type, %slice_type, label %slice, label %perhaps_none
slice:
  %size_now = load i64, ptr %size_place
  %stride_now = load i64, ptr %stride_place
  %is_cut = call i1 @sliced(ptr %table, ptr %object, i64 %size_now, i64 %stride_now, ptr %part)
  br i1 %is_cut, label %done_one, label %no
perhaps_none:
  br eq ptr %object, %none, label %new, label %gap
new:
  call void @add_dimension(ptr %part, i64 1, i64 0)
  br label %done_one
gap:
  call void @add_dimensions(ptr %part, ptr %size_place, ptr %stride_place, i64 %rest)
  %d_behind = add i64 %d, %rest
done_one:
  %d_after = phi i64 [%d1, %move], [%d1, %slice], [%d, %new], [%d_behind, %gap]
  br label %next
whatever_is_left:
  %left = sub i64 %rank, %d
  %sizes_left = getelementptr i64, ptr %sizes, i64 %d
  %strides_left = getelementptr i64, ptr %strides, i64 %d
  call void @add_dimensions(ptr %part, ptr %sizes_left, ptr %strides_left, i64 %left)
  ret i1 true
no:
  ret i1 false
}

define internal void @add_dimensions(ptr %part, ptr %sizes, ptr %strides, i64 %count) {
entry:
next:
  %i = phi i64 [0, %entry], [%i1, %add]
  br ult i64 %i, %count, label %add, label %done
add:
  %i1 = add i64 %i, 1
  %size = load i64, ptr %sizes at i64 %i
  %stride = load i64, ptr %strides at i64 %i
  call void @add_dimension(ptr %part, i64 %size, i64 %stride)
  br label %next
done:
  ret void
}

define internal ptr @all_given(ptr %given, i64 %n, ptr %names, ptr %who) {
  %table = load ptr, ptr @parts_table
{parts_loads}
  %all = getelementptr ptr, ptr %given, i64 -1
  %count = add i64 %n, 1
  %result = call ptr %call_with(ptr %who, ptr %all, i64 %count, ptr %names)
  ret ptr %result
}

define internal i1 @is_usual(ptr %table, i64 %n, i64 %wanted, ptr %names) {
{parts_loads}
  %tracers = load i64, ptr %active at i8 {head}
  %listeners = load i64, ptr %state at i8 24
  %heard = or i64 %tracers, %listeners
  %is_unheard = icmp eq i64 %heard, 0
  %are_as_many = icmp eq i64 %n, %wanted
  %are_unnamed = icmp eq ptr %names, null
  %both = and i1 %is_unheard, %are_as_many
  %all = and i1 %both, %are_unnamed
  ret i1 %all
}

define internal ptr @view_of_part(ptr %table, ptr %array, ptr %part) {
entry:
{parts_loads}
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %all_flags = load i32, ptr %array at i8 {flags_at}
  %flags = and i32 %all_flags, 1280
  %data = load ptr, ptr %part
  %rank = load i64, ptr %part at i64 1
  %depth = trunc i64 %rank to i32
  %sizes = getelementptr i64, ptr %part, i64 2
  %strides = getelementptr i64, ptr %sizes, i64 {part_most}
  call void %hold(ptr %dtype)
  %view = call ptr %make_array(ptr %array_type, ptr %dtype, i32 %depth, ptr %sizes, \
ptr %strides, ptr %data, i32 %flags, ptr null)
  br eq ptr %view, null, label %failed
  call void %hold(ptr %array)
  %set = call i32 %set_base(ptr %view, ptr %array)
  br not eq i32 %set, 0, label %unset
  ret ptr %view
unset:
  call void %drop(ptr %view)
failed:
  ret ptr null
}

define internal ptr @get_part(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %part = alloca [{part_words} x i64], align 8
  %wanted = alloca i64
  %table = load ptr, ptr @parts_table
{parts_loads}
  %is_usual = call i1 @is_usual(ptr %table, i64 %n, i64 1, ptr %names)
  br not i1 %is_usual, label %slow
  store i64 0, ptr %wanted
  %array = call ptr @array_of(ptr %table, ptr %tensor, ptr %wanted)
  %how = load i64, ptr %wanted
  br ne ptr %array, null, label %find
  br not eq i64 %how, 2, label %slow
  %key_given = load ptr, ptr %given
  %recorded = call ptr @recorded_part(ptr %table, ptr %tensor, ptr %key_given)
  br not ne ptr %recorded, null, label %slow
  ret ptr %recorded
find:
  br not eq i64 %how, 0, label %not_here
  %key = load ptr, ptr %given
  %is_part = call i1 @part_of(ptr %table, ptr %array, ptr %key, ptr %part)
  br i1 %is_part, label %make
  %read = call ptr @get_places(ptr %table, ptr %tensor, ptr %array, ptr %key)
  br not ne ptr %read, null, label %not_here
  call void %drop(ptr %array)
  ret ptr %read
make:
  %view = call ptr @view_of_part(ptr %table, ptr %array, ptr %part)
  call void %drop(ptr %array)
  br eq ptr %view, null, label %failed
  %made = call ptr @one_view(ptr %table, ptr %view, ptr %tensor)
  ret ptr %made
failed:
  ret ptr null
not_here:
  call void %drop(ptr %array)
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, ptr %get_slowly)
  ret ptr %slow_result
}
"""
