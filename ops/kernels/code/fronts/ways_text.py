"""The native code that finds the way of an eager call (see `fronts_text`) by its arguments."""

from __future__ import annotations

from typing import Final

__all__ = ["WAYS"]

WAYS: Final = """
define internal i1 @is_way(ptr %table, ptr %way, ptr %given, i64 %n, ptr %names, i64 %named) {
entry:
{front_loads}
  %named_place = getelementptr i64, ptr %way, i64 1
  %names_place = getelementptr i64, ptr %way, i64 2
  %arguments_place = getelementptr i64, ptr %way, i64 3
  %its_n = load i64, ptr %way
  %its_named = load i64, ptr %named_place
  %its_names = load ptr, ptr %names_place
  %arguments = load ptr, ptr %arguments_place
  %as_many = icmp eq i64 %its_n, %n
  %as_named = icmp eq i64 %its_named, %named
  %are_as_many = and i1 %as_many, %as_named
  %total = add i64 %n, %named
  br i1 %are_as_many, label %next_name, label %no
next_name:
  %j = phi i64 [0, %entry], [%j1, %same_name]
  %more_names = icmp ult i64 %j, %named
  br i1 %more_names, label %name, label %next
name:
  %inside = getelementptr i8, ptr %names, i64 {tuple_at}
  %name_place = getelementptr ptr, ptr %inside, i64 %j
  %its_name_place = getelementptr ptr, ptr %its_names, i64 %j
  %its = load ptr, ptr %name_place
  %wanted_name = load ptr, ptr %its_name_place
  %is_same = icmp eq ptr %its, %wanted_name
  br i1 %is_same, label %same_name, label %no
same_name:
  %j1 = add i64 %j, 1
  br label %next_name
next:
  %i = phi i64 [0, %next_name], [%i1, %fits]
  %more = icmp ult i64 %i, %total
  br i1 %more, label %look, label %yes
look:
  %words = mul i64 %i, 4
  %argument = getelementptr i64, ptr %arguments, i64 %words
  %a_place = getelementptr i64, ptr %argument, i64 1
  %length_place = getelementptr i64, ptr %argument, i64 3
  %kind = load i64, ptr %argument
  %a = load ptr, ptr %a_place
  %length = load i64, ptr %length_place
  %object_place = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %object_place
  %type_place = getelementptr i8, ptr %object, i64 {type_at}
  %type = load ptr, ptr %type_place
  %is_type = icmp eq ptr %type, %a
  switch i64 %kind, label %several [
    i64 0, label %tensor
    i64 1, label %of_type
    i64 6, label %of_type
    i64 2, label %itself ]
tensor:
  %is_tensor = icmp eq ptr %type, %tensor_type
  %is_parameter = icmp eq ptr %type, %parameter_type
  %is_one = or i1 %is_tensor, %is_parameter
  br i1 %is_one, label %fits, label %no
of_type:
  br i1 %is_type, label %fits, label %no
itself:
  %is_it = icmp eq ptr %object, %a
  br i1 %is_it, label %fits, label %no
several:
  br i1 %is_type, label %measure, label %no
measure:
  %size_place = getelementptr i8, ptr %object, i64 {head}
  %size = load i64, ptr %size_place
  %is_as_long = icmp eq i64 %size, %length
  br i1 %is_as_long, label %fits, label %no
fits:
  %i1 = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

define internal ptr @way_of(ptr %table, ptr %given, i64 %n, ptr %names, i64 %named) {
entry:
{front_loads}
  %count = load i64, ptr %ways
  br label %next
next:
  %w = phi i64 [0, %entry], [%w1, %other]
  %more = icmp ult i64 %w, %count
  br i1 %more, label %look, label %not_one
look:
  %w1 = add i64 %w, 1
  %place = getelementptr ptr, ptr %ways, i64 %w1
  %way = load ptr, ptr %place
  %is = call i1 @is_way(ptr %table, ptr %way, ptr %given, i64 %n, ptr %names, i64 %named)
  br i1 %is, label %found, label %other
other:
  br label %next
found:
  ret ptr %way
not_one:
  ret ptr null
}
"""
