"""The native side of calling an eager function: what Python finds as its `__call__`.

The object that is called (see `memory/native_class.py`) holds two others: in its first slot an
array of the words of `TABLE` and those of `CALLED_WORDS`, and at `quickly_at` what does its calls,
which gets the arguments as they came.  An error that comes of it is given to `failed`, with the
object and the arguments behind it, which raises it, or another one, or knows how to go on.  A tuple
holds all that: there may be more arguments than a stack has room for.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CALLED", "CALLED_WORDS"]

CALLED_WORDS: Final = ("quickly_at", "failed")
"""What `called` finds behind `TABLE`: where in the object lies what does its calls, and what is
told of errors."""

CALLED: Final = """
define ptr @called(ptr %self, ptr %given, i64 %count_given, ptr %names) {
entry:
  %n = and i64 %count_given, 9223372036854775807
  %raised = alloca ptr
  %its_class = alloca ptr
  %trace = alloca ptr
  %words = load ptr, ptr %self at i8 {calling_at}
  br not ne ptr %words, null, label %nothing
  %table = load ptr, ptr %words at i8 {head}
{called_loads}
  %place_bytes = ptrtoint ptr %quickly_at to i64
  %quickly = load ptr, ptr %self at i8 %place_bytes
  br ne ptr %quickly, null, label %call_it
  call void %set_error(ptr %type_error, ptr @message)
  ret ptr null
call_it:
  call void %hold(ptr %quickly)
  %result = call ptr %call_with(ptr %quickly, ptr %given, i64 %n, ptr %names)
  call void %drop(ptr %quickly)
  br not ne ptr %result, null, label %bad
  ret ptr %result
bad:
  call void %fetch_error(ptr %its_class, ptr %raised, ptr %trace)
  call void %normalize_error(ptr %its_class, ptr %raised, ptr %trace)
  %its_kind = load ptr, ptr %its_class
  %its_error = load ptr, ptr %raised
  %its_trace = load ptr, ptr %trace
  call void %drop(ptr %its_kind)
  br not ne ptr %its_trace, null, label %count_names
  %is_given = call i32 %set_trace(ptr %its_error, ptr %its_trace)
  call void %drop(ptr %its_trace)
count_names:
  br ne ptr %names, null, label %named, label %gather
named:
  %count_named = load i64, ptr %names at i8 {head}
gather:
  %behind = phi i64 [0, %count_names], [%count_named, %named]
  %all = add i64 %n, %behind
  %room = add i64 %all, 2
  %held = call ptr %make_tuple(i64 %room)
  br not eq ptr %held, null, label %begin_telling
  call void %drop(ptr %its_error)
  ret ptr null
begin_telling:
  %told = getelementptr i8, ptr %held, i64 {tuple_at}
  store ptr %its_error, ptr %told
  call void %hold(ptr %self)
  store ptr %self, ptr %told at ptr 1
  %behind_self = getelementptr ptr, ptr %told, i64 2
  call void @keep_all(ptr %table, ptr %given, i64 %all, ptr %behind_self)
  %count = add i64 %n, 2
  %answer = call ptr %call_with(ptr %failed, ptr %told, i64 %count, ptr %names)
  call void %drop(ptr %held)
  ret ptr %answer
nothing:
  ret ptr null
}
"""
