"""The native code that finds the way of an eager call (see `fronts_text`) by its arguments."""

from __future__ import annotations

from typing import Final

__all__ = ["WAYS"]

WAYS: Final = """
define internal i1 @is_way(ptr %table, ptr %way, ptr %given, i64 %n, ptr %names, i64 %named) {
entry:
{front_loads}
  %its_n = load i64, ptr %way
  %its_named = load i64, ptr %way at i64 1
  %its_names = load ptr, ptr %way at i64 2
  %arguments = load ptr, ptr %way at i64 3
  %as_many = icmp eq i64 %its_n, %n
  %as_named = icmp eq i64 %its_named, %named
  %are_as_many = and i1 %as_many, %as_named
  %total = add i64 %n, %named
  br i1 %are_as_many, label %next_name, label %no
next_name:
  %j = phi i64 [0, %entry], [%j1, %same_name]
  br not ult i64 %j, %named, label %next
  %inside = getelementptr i8, ptr %names, i64 {tuple_at}
  %its = load ptr, ptr %inside at ptr %j
  %wanted_name = load ptr, ptr %its_names at ptr %j
  br eq ptr %its, %wanted_name, label %same_name, label %no
same_name:
  %j1 = add i64 %j, 1
  br label %next_name
next:
  %i = phi i64 [0, %next_name], [%i1, %fits]
  br not ult i64 %i, %total, label %yes
  %words = mul i64 %i, 4
  %argument = getelementptr i64, ptr %arguments, i64 %words
  %kind = load i64, ptr %argument
  %a = load ptr, ptr %argument at i64 1
  %length = load i64, ptr %argument at i64 3
  %object = load ptr, ptr %given at ptr %i
  %type = load ptr, ptr %object at i8 {type_at}
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
  br eq ptr %object, %a, label %fits, label %no
several:
  br not i1 %is_type, label %no
  %size = load i64, ptr %object at i8 {head}
  br eq i64 %size, %length, label %fits, label %no
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
next:
  %w = phi i64 [0, %entry], [%w1, %other]
  br not ult i64 %w, %count, label %not_one
  %w1 = add i64 %w, 1
  %way = load ptr, ptr %ways at ptr %w1
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
